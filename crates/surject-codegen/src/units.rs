//! How the work of a kernel is cut: into units, which tasks share, and pieces of the last loop.

use crate::Target;
use crate::address::{LoopId, LoopSet};
use crate::dag::{Dag, Node, NodeId};
use crate::emit::{Bounds, Emitter, ScopeId};
use crate::schedule::{Output, Schedule};

/// Cycles below which a task is not worth handing to another thread: about 20 µs.
const TASK_CYCLES: f64 = 60_000.0;

/// Which units a run of a kernel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// Those of `%task`.
    Task,
    /// Those from `%low` to `%high`.
    Range,
}

/// How the units of work are cut.
pub(crate) struct Units {
    /// Loops that are decoded from the number of a unit.
    pub(crate) prefix: Vec<LoopId>,
    /// Pieces of the last loop, and their length.
    pub(crate) pieces: i64,
    pub(crate) piece: i64,
    pub(crate) tasks: i64,
    pub(crate) total: i64,
    pub(crate) share: Share,
}

impl Units {
    /// All of it as one task.
    pub(crate) const WHOLE: Units =
        Units { prefix: Vec::new(), pieces: 1, piece: 0, tasks: 1, total: 1, share: Share::Task };
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
    pub(crate) const ROWS: Grain = Grain { tasks: 4, cycles: TASK_CYCLES, piece: 1 };
}

/// Of the loops that tasks may be cut along, those outside of all long reductions, if these alone give every thread as much
/// to do: a task that is cut further in evaluates such a reduction again.
pub(crate) fn outside(
    dag: &Dag,
    outputs: &[Output],
    schedule: &Schedule,
    target: &Target,
    free: LoopSet,
) -> LoopSet {
    /// Of the loops inside, what a reduction must take to be long.
    const LONG: f64 = 0.25;
    /// More rows for every thread need not be as many for each.
    const ROWS: f64 = 4.0;
    let points = |loops: &[LoopId]| loops.iter().map(|&l| dag.extent(l) as f64).product::<f64>();
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    let long = dag.reachable(&roots, true).into_iter().filter_map(|n| {
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
    schedule: &Schedule,
    target: &Target,
    (free, grain): (LoopSet, &Grain),
) -> Units {
    let cycles = if target.eager { f64::INFINITY } else { schedule.cycles };
    let Some((&last, outer)) = order.split_last() else { return Units::WHOLE };
    // Nothing, and less than two of the usual tasks, are not handed out.
    let empty = order.iter().any(|&l| dag.extent(l) == 0);
    if empty || cycles < 2.0 * TASK_CYCLES || target.threads <= 1 {
        return Units::WHOLE;
    }
    let tasks = (cycles / grain.cycles).floor().min((grain.tasks * target.threads) as f64) as i64;
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
    let (mut pieces, mut piece) = (1, dag.extent(last));
    // Loops that may not be cut run inside a piece.
    let rest_runs_inside = outer[prefix.len()..].iter().all(|&l| !free.contains(l));
    let free = free.contains(last) && schedule.braid.as_ref().is_none_or(|b| b.cuts.is_empty());
    if rest_runs_inside && total < tasks && free {
        let lanes = schedule.lanes as i64;
        // Every piece runs through all rows: narrow pieces would touch every page once for each of them.
        let repeats = outer.len() > prefix.len();
        let most = if repeats { tasks.min(target.threads as i64) } else { tasks };
        let long = (dag.extent(last) + grain.piece - 1) / grain.piece;
        let wanted = ((most + total - 1) / total).min((long + threads - 1) / threads * threads);
        (pieces, piece) = cut(dag.extent(last), wanted, lanes, threads / total);
        total *= pieces;
    }
    // No task has twice as much to do as another.
    let tasks = if grain.piece > 1 && total < 2 * tasks { total } else { tasks.min(total) };
    Units { prefix, pieces, piece, tasks: tasks.max(1), total, share: Share::Task }
}

/// Cuts a loop into about so many pieces of whole vectors, so that the one of `threads` that has most has little more
/// than the others. Gives the number of pieces and their length.
fn cut(extent: i64, wanted: i64, lanes: i64, threads: i64) -> (i64, i64) {
    let vectors = (extent + lanes - 1) / lanes;
    let short = (vectors / wanted).max(1);
    let pieces = |piece: i64| (vectors + piece - 1) / piece;
    let longest = |piece: i64| (pieces(piece) + threads.max(1) - 1) / threads.max(1) * piece;
    let piece = if longest(short + 1) <= longest(short) { short + 1 } else { short };
    (pieces(piece), piece * lanes)
}

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
