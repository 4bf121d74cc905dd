//! Kernels that compute their results point by point, in rows. What they compute is decided here; a machine makes them once it
//! is decided what runs together (`program/rows_of_ir.rs`).

use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Dag, NodeId};
use crate::expression::output::{Output, buffers};
use crate::normalise::pulled::Pulled;
use crate::planned::in_place;
use crate::planned::kernel::{Kernel, written};
use crate::planned::recipe::Recipe;
use crate::schedule::RowSchedule;
use std::sync::Arc;

/// A kernel whose work may be cut along the loops of `free`.
pub(crate) fn whole(dag: Dag, outputs: Vec<Output>, schedule: RowSchedule, free: LoopSet) -> Kernel {
    let kernel = alone(dag.clone(), outputs.clone(), &schedule);
    Kernel { recipe: Some(Arc::new(Recipe::Row { dag, outputs, schedule, free })), ..kernel }
}

/// A kernel of which no part runs together with others.
pub(crate) fn alone(dag: Dag, outputs: Vec<Output>, schedule: &RowSchedule) -> Kernel {
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    let buffers = buffers(&dag, &written(&outputs), &roots);
    let last = schedule.order.last().copied();
    Kernel {
        cycles: if last.is_some() { schedule.cycles } else { 0.0 },
        in_place: in_place::operands(&dag, &outputs, None, last),
        copies: in_place::copies(&dag, &outputs),
        rows: Some(Arc::new(points(&dag, &outputs))),
        ..Kernel::plain(Vec::new(), 1, buffers, written(&outputs), String::new())
    }
}

/// An expression over the loops that its points have.
pub(crate) fn points(dag: &Dag, outputs: &[Output]) -> Pulled {
    let mut points = LoopSet::default();
    for output in outputs {
        points = points.union(output.address.loops()).union(dag[output.root].deps);
    }
    let mut outer: Vec<LoopId> = points.loops().collect();
    outer.sort_by_key(|&l| (std::cmp::Reverse(outputs[0].address.coeff(l).abs()), l));
    Pulled { dag: dag.clone(), outer, outputs: outputs.to_vec() }
}
