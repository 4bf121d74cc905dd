//! Which units of work a task has, and where they are in boxes.

use crate::code::{TASK, Value};
use crate::lower::emit::{Emitter, ScopeId};

/// The first unit of `%task` and that of the next one, of so many units for all tasks.
pub(crate) fn share_of_task(em: &mut Emitter<'_>, total: i64, tasks: i64) -> [Value; 2] {
    let root = em.root();
    let (one, tasks, total) = (em.int(1), em.int(tasks), em.int(total));
    let next = em.arith(root, "arith.addi", TASK, one);
    [TASK, next].map(|task| {
        let scaled = em.arith(root, "arith.muli", task, total);
        em.arith(root, "arith.divui", scaled, tasks)
    })
}

/// The digits of a number in a box of these extents, the last one fastest.
pub(crate) fn digits_of(em: &mut Emitter<'_>, scope: ScopeId, extents: &[i64], number: Value) -> Vec<Value> {
    let mut digits = vec![Value::NONE; extents.len()];
    let mut rest = number;
    for (i, &extent) in extents.iter().enumerate().rev() {
        if i == 0 {
            digits[0] = rest;
            break;
        }
        let extent = em.int(extent);
        digits[i] = em.arith(scope, "arith.remui", rest, extent);
        rest = em.arith(scope, "arith.divui", rest, extent);
    }
    digits
}
