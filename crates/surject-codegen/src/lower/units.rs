//! Opens the loops over the units of work of a task ([`crate::schedule::units`]).

use crate::expression::address::LoopId;
use crate::lower::emit::{Bounds, Emitter, ScopeId};
use crate::schedule::units::{Share, Units};

/// An open loop, to be closed: scope, variable, bounds.
pub(crate) type Open = (ScopeId, String, Bounds);

/// Opens the loop over units and the loops of `outer` that units do not decode. Gives them, and the range of the
/// piece of the loop that comes after.
pub(crate) fn open_outer(
    em: &mut Emitter<'_>,
    units: &Units,
    outer: &[LoopId],
) -> (Vec<Open>, (Option<String>, Option<String>)) {
    let mut closing: Vec<Open> = Vec::new();
    let mut range = (None, None);
    let (mut scope, mut inner) = (em.root(), outer);
    if units.tasks > 1 || units.share == Share::Range {
        let (bounds, unit_scope, iv) = open_units(em, units);
        closing.push((unit_scope, iv.clone(), bounds));
        scope = unit_scope;
        let mut rest = iv;
        if units.pieces > 1 {
            let (count, length) = (em.int(units.pieces), em.int(units.piece));
            let piece = em.op(scope, &format!("arith.remui {rest}, {count} : i64"));
            rest = em.op(scope, &format!("arith.divui {rest}, {count} : i64"));
            let low = em.op(scope, &format!("arith.muli {piece}, {length} : i64"));
            let end = em.op(scope, &format!("arith.addi {low}, {length} : i64"));
            range = (Some(low), Some(end));
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
        closing.push((inside, iv, bounds));
        scope = inside;
    }
    (closing, range)
}

/// The first unit of `%task` and that of the next one, of so many units for all tasks.
pub(crate) fn share_of_task(em: &mut Emitter<'_>, total: i64, tasks: i64) -> [String; 2] {
    let root = em.root();
    let (one, tasks, total) = (em.int(1), em.int(tasks), em.int(total));
    let next = em.op(root, &format!("arith.addi %task, {one} : i64"));
    ["%task", next.as_str()].map(|task| {
        let scaled = em.op(root, &format!("arith.muli {task}, {total} : i64"));
        em.op(root, &format!("arith.divui {scaled}, {tasks} : i64"))
    })
}

/// Opens the loop over the units of a run: those of a range, or from `task · total / tasks` up to the start of the
/// next task.
fn open_units(em: &mut Emitter<'_>, units: &Units) -> (Bounds, ScopeId, String) {
    let root = em.root();
    let one = em.int(1);
    let [low, high] = match units.share {
        Share::Range => ["%low".to_string(), "%high".to_string()],
        Share::Task => share_of_task(em, units.total, units.tasks),
    };
    let scope = em.open(root, Vec::new(), None);
    let iv = em.name();
    (Bounds { low, high, step: one }, scope, iv)
}

/// Binds loops to the digits of a number, the last loop running fastest.
pub fn decode(em: &mut Emitter<'_>, scope: ScopeId, loops: &[LoopId], number: String) {
    let mut rest = number;
    for (i, &l) in loops.iter().enumerate().rev() {
        if i == 0 {
            em.bind(scope, l, rest.clone());
            break;
        }
        let extent = em.int(em.dag.extent(l));
        let digit = em.op(scope, &format!("arith.remui {rest}, {extent} : i64"));
        rest = em.op(scope, &format!("arith.divui {rest}, {extent} : i64"));
        em.bind(scope, l, digit);
    }
}

/// The bounds of a loop over `span`, within the range of the task: the part of the span that is the task's own.
pub(crate) fn clip(
    em: &mut Emitter<'_>,
    scope: ScopeId,
    range: &(Option<String>, Option<String>),
    span: (i64, i64),
    step: i64,
) -> Bounds {
    let low = match &range.0 {
        Some(start) if span.0 == 0 => start.clone(),
        Some(start) => {
            let low = em.int(span.0);
            em.op(scope, &format!("arith.maxsi {start}, {low} : i64"))
        }
        None => em.int(span.0),
    };
    let end = em.int(span.1);
    let high = match &range.1 {
        Some(stop) => em.op(scope, &format!("arith.minsi {stop}, {end} : i64")),
        None => end,
    };
    Bounds { low, high, step: em.int(step) }
}
