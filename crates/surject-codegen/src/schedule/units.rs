//! How the work of a kernel is cut: into units, which tasks share, and pieces of the last loop.

use crate::Target;
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::schedule::RowSchedule;

/// How the units of work are cut.
pub(crate) struct Units {
    /// Loops that are decoded from the number of a unit.
    pub(crate) prefix: Vec<LoopId>,
    /// Pieces of the last loop.
    pub(crate) pieces: i64,
    pub(crate) tasks: i64,
    pub(crate) total: i64,
}

impl Units {
    /// All of it as one task.
    pub(crate) const WHOLE: Units = Units { prefix: Vec::new(), pieces: 1, tasks: 1, total: 1 };
}

/// How fine work is divided.
pub(crate) struct Grain {
    /// Tasks for each thread, at most.
    pub(crate) tasks: usize,
    /// Cycles of a task.
    pub(crate) cycles: f64,
    /// The least length of a piece.
    pub(crate) piece: i64,
}

impl Grain {
    /// Rows that are worked through: more tasks, which start with what is in no cache, made them slower.
    pub(crate) fn rows(target: &Target) -> Grain {
        Grain { tasks: 4, cycles: target.thresholds.task_cycles, piece: 1 }
    }
}

/// Of the loops that tasks may be cut along, those outside of all long reductions, if these alone give every thread as much
/// to do: a task that is cut further in evaluates such a reduction again.
pub(crate) fn outside(
    dag: &Dag,
    outputs: &[Output],
    schedule: &RowSchedule,
    target: &Target,
    free: LoopSet,
) -> LoopSet {
    /// Of the loops inside, what a reduction must take to be long.
    const LONG: f64 = 0.25;
    /// More rows for every thread need not be as many for each.
    const ROWS: f64 = 4.0;
    let points = |loops: &[LoopId]| loops.iter().map(|&l| dag.extent(l) as f64).product::<f64>();
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    let long = dag.all_reachable(&roots).into_iter().filter_map(|n| {
        let Node::Reduce { loops, .. } = &dag[n].node else { return None };
        let depth = dag[n].deps.depth(&schedule.order);
        (points(loops) >= LONG * points(&schedule.order[depth..])).then_some(depth)
    });
    let Some(depth) = long.min() else { return free };
    let (rows, threads) = (points(&schedule.order[..depth]), target.threads as f64);
    let even = rows >= threads && (rows % threads == 0.0 || rows >= ROWS * threads);
    if even { free.only(schedule.order[..depth].iter().copied().collect()) } else { free }
}

/// Cuts the loops of `order`, the last of them into pieces.
pub(crate) fn units(
    dag: &Dag,
    order: &[LoopId],
    schedule: &RowSchedule,
    target: &Target,
    (free, grain): (LoopSet, &Grain),
) -> Units {
    let Some((&last, outer)) = order.split_last() else { return Units::WHOLE };
    // Nothing, and less than two of the usual tasks, are not handed out.
    let empty = order.iter().any(|&l| dag.extent(l) == 0);
    if empty || schedule.cycles < 2.0 * target.thresholds.task_cycles || target.threads <= 1 {
        return Units::WHOLE;
    }
    let tasks = (schedule.cycles / grain.cycles).floor().min((grain.tasks * target.threads) as f64) as i64;
    // Every thread has as much to do.
    let threads = target.threads as i64;
    let tasks = (tasks + threads - 1) / threads * threads;
    let mut prefix = Vec::new();
    let mut total = 1i64;
    for &l in outer {
        if total >= 4 * tasks || !free.contains(l) {
            break;
        }
        prefix.push(l);
        total = total.saturating_mul(dag.extent(l));
    }
    let mut pieces = 1;
    // Loops that may not be cut run inside a piece.
    let rest_runs_inside = outer[prefix.len()..].iter().all(|&l| !free.contains(l));
    if rest_runs_inside && total < tasks && free.contains(last) {
        let lanes = schedule.lanes as i64;
        // Every piece runs through all rows: narrow pieces would touch every page once for each of them.
        let repeats = outer.len() > prefix.len();
        let most = if repeats { tasks.min(target.threads as i64) } else { tasks };
        let long = (dag.extent(last) + grain.piece - 1) / grain.piece;
        let wanted = ((most + total - 1) / total).min((long + threads - 1) / threads * threads);
        pieces = cut(dag.extent(last), wanted, lanes, threads / total);
        total *= pieces;
    }
    // No task has twice as much to do as another.
    let tasks = if grain.piece > 1 && total < 2 * tasks { total } else { tasks.min(total) };
    Units { prefix, pieces, tasks: tasks.max(1), total }
}

/// Cuts a loop into about so many pieces of whole vectors, so that the one of `threads` that has most has little more
/// than the others.
fn cut(extent: i64, wanted: i64, lanes: i64, threads: i64) -> i64 {
    let vectors = (extent + lanes - 1) / lanes;
    let short = (vectors / wanted).max(1);
    let pieces = |piece: i64| (vectors + piece - 1) / piece;
    let longest = |piece: i64| (pieces(piece) + threads.max(1) - 1) / threads.max(1) * piece;
    let piece = if longest(short + 1) <= longest(short) { short + 1 } else { short };
    pieces(piece)
}
