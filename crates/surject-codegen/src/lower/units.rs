//! Opens the loops over the units of work of a task ([`crate::schedule::units`]).

use crate::code::{HIGH, LOW, TASK, Value};
use crate::expression::address::LoopId;
use crate::lower::emit::{Bounds, Emitter, ScopeId};
use crate::schedule::units::{Share, Units};
use std::ops::Range;

/// An open loop, to be closed.
pub(crate) struct Open {
    pub(crate) scope: ScopeId,
    pub(crate) iv: Value,
    pub(crate) bounds: Bounds,
}

/// The ends of a task's part of a loop; `None`: that of the loop.
#[derive(Clone, Default)]
pub(crate) struct TaskRange {
    pub(crate) low: Option<Value>,
    pub(crate) high: Option<Value>,
}

/// Closes loops that stand in each other, outermost first.
pub(crate) fn close_all(em: &mut Emitter<'_>, mut open: Vec<Open>) {
    while let Some(Open { scope, iv, bounds }) = open.pop() {
        em.close_loop(scope, iv, &bounds, &[]);
    }
}

/// Opens the loop over units and the loops of `outer` that units do not decode. Gives them, and the range of the
/// piece of the loop that comes after.
pub(crate) fn open_outer(em: &mut Emitter<'_>, units: &Units, outer: &[LoopId]) -> (Vec<Open>, TaskRange) {
    let mut closing: Vec<Open> = Vec::new();
    let mut range = TaskRange::default();
    let (mut scope, mut inner) = (em.root(), outer);
    if units.tasks > 1 || units.share == Share::Range {
        let (bounds, unit_scope, iv) = open_units(em, units);
        closing.push(Open { scope: unit_scope, iv, bounds });
        scope = unit_scope;
        let mut rest = iv;
        if units.pieces > 1 {
            let (count, length) = (em.int(units.pieces), em.int(units.piece));
            let piece = em.arith(scope, "arith.remui", rest, count);
            rest = em.arith(scope, "arith.divui", rest, count);
            let low = em.arith(scope, "arith.muli", piece, length);
            let end = em.arith(scope, "arith.addi", low, length);
            range = TaskRange { low: Some(low), high: Some(end) };
        }
        decode(em, scope, &units.prefix, rest);
        if let Some(&last) = units.prefix.last() {
            em.turn(scope, (last, 1));
        }
        inner = &outer[units.prefix.len()..];
    }
    for &l in inner {
        let bounds = em.whole(0, em.dag.extent(l), 1);
        let (inside, iv) = em.open_loop(scope, l, 1);
        closing.push(Open { scope: inside, iv, bounds });
        scope = inside;
    }
    (closing, range)
}

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

/// Opens the loop over the units of a run: those of a range, or from `task · total / tasks` up to the start of the
/// next task.
fn open_units(em: &mut Emitter<'_>, units: &Units) -> (Bounds, ScopeId, Value) {
    let root = em.root();
    let one = em.int(1);
    let [low, high] = match units.share {
        Share::Range => [LOW, HIGH],
        Share::Task => share_of_task(em, units.total, units.tasks),
    };
    let scope = em.open(root, Vec::new(), None);
    let iv = em.name();
    (Bounds { low, high, step: one }, scope, iv)
}

/// Binds loops to the digits of a number, the last loop running fastest.
pub fn decode(em: &mut Emitter<'_>, scope: ScopeId, loops: &[LoopId], number: Value) {
    for (&l, digit) in loops.iter().zip(digits(em, scope, loops, number)) {
        em.bind(scope, l, digit);
    }
}

/// The digits of a number, the last loop fastest.
pub fn digits(em: &mut Emitter<'_>, scope: ScopeId, loops: &[LoopId], number: Value) -> Vec<Value> {
    let extents: Vec<i64> = loops.iter().map(|&l| em.dag.extent(l)).collect();
    digits_of(em, scope, &extents, number)
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

/// The bounds of a loop over `span`, within the range of the task: the part of the span that is the task's own.
pub(crate) fn clip(
    em: &mut Emitter<'_>,
    scope: ScopeId,
    range: &TaskRange,
    span: Range<i64>,
    step: i64,
) -> Bounds {
    let low = match &range.low {
        Some(start) if span.start == 0 => *start,
        Some(start) => {
            let low = em.int(span.start);
            em.arith(scope, "arith.maxsi", *start, low)
        }
        None => em.int(span.start),
    };
    let end = em.int(span.end);
    let high = match &range.high {
        Some(stop) => em.arith(scope, "arith.minsi", *stop, end),
        None => end,
    };
    Bounds { low, high, step: em.int(step) }
}
