//! Where along a loop conditions begin to hold and end to: there a loop may be cut, so that inside a part they are known.

use crate::expression::address::{Guard, Interval, LoopId};
use crate::expression::dag::Dag;
use std::ops::Range;

/// Where along a loop a condition begins to hold for all values of the others, and ends to.
pub(crate) fn always(guard: &Guard, l: LoopId, dag: &Dag) -> Option<Range<i64>> {
    let c = guard.expr.coeff(l);
    let Interval { low, high } = others(guard, l, dag)?;
    Some(match c {
        0 => return None,
        1.. => {
            let end = guard.bound.checked_sub(high)?;
            low.checked_neg()?.checked_add(c - 1)?.div_euclid(c)..(end - 1).div_euclid(c) + 1
        }
        _ => high.checked_sub(guard.bound)?.div_euclid(-c) + 1..low.div_euclid(-c) + 1,
    })
}

/// The least and the most that a condition has beside its part of a loop.
fn others(guard: &Guard, l: LoopId, dag: &Dag) -> Option<Interval> {
    let mut others = guard.expr.clone();
    others.terms.retain(|t| t.0 != l);
    others.range(&dag.extents)
}

/// The same, where the loop is worth being cut there.
pub(crate) fn holds(guard: &Guard, l: LoopId, dag: &Dag) -> Option<Range<i64>> {
    let part = always(guard, l, dag)?;
    let Interval { low, high } = others(guard, l, dag)?;
    // A window is inside most of the time or it is not worth the code.
    let most = 2 * (part.end.min(dag.extent(l)) - part.start.max(0)) > dag.extent(l);
    (low == high || most).then_some(part)
}
