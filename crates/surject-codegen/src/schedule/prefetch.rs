//! What comes from memory is prefetched.
//!
//! A processor prefetches by itself what is read in order, but stops where a page ends and begins anew behind it, and the
//! rows of a normalisation are pages of their own. Where a kernel reads a tensor that the nearest caches do not hold, it
//! prefetches what it reads some iterations later: far enough that memory answers in time, and not so far that it is gone
//! again. Of several passes over a row the one that computes most prefetches the next row, and memory and arithmetic go on
//! at the same time. (Sapphire Rapids, 64 MiB, one thread: the root of a mean square 11.3 to 7.6 ms, softmax 12.3 to 9.5.)
//! Not every processor is worth it ([`Target::prefetches`]): a Zen 4 takes 4.3 ms for that root, and 3.0 if it is left alone.
//! But where the rows of a tensor are read from their ends, it loses its way with every row: they are prefetched one row
//! ahead, from their starts, and reversed rows of 0.5 to 32 KiB take 0.35 to 0.65 of the time. And where it comes back to a
//! row several times, memory rests until it begins the next: rows further on are prefetched into the second cache, but
//! never while results go past the caches, which takes 1.3 times as long as without. The chain of kernels that is the
//! gradient of a normalisation prefetches after its results and takes 0.6 to 0.8 of the time, and so does a
//! softmax of rows of 16 KiB.
//!
//! A Zen 5 gains from prefetches 8 KiB ahead ([`Target::prefetches_far`]). One thread does, wherever it reads one tensor in order
//! from memory: maxima of rows and matrices times vectors take 0.65 to 0.85 of the time, what computes element by element
//! 0.85 to 1, the passes of a normalisation 0.55 to 0.95. It does not with several tensors at a time (sums of two: 1.05 to
//! 1.2), nor with rows that begin with a line in a tensor that the last cache holds (1.05 to 1.2). Of several threads only
//! passes over the same rows do, 0.7 to 0.95; others take up to 1.2, since memory has enough to do.
//!
//! So do passes over the same rows on a Zen 3 ([`Target::prefetches_rows`]), on one thread and on two: layer norms of 1 to 8 KiB a
//! row take 0.7 to 0.9 of the time. The next row is prefetched where much is computed even if rows are short (softmax of 2
//! to 8 KiB 0.55 to 0.8), and in chains for the next one, not for one 8 KiB further on (0.8 to 0.9), by what computes most,
//! though that may store past the caches (gradients of norms of 1 to 16 KiB a row 0.75 to 1, of 4084 bytes up to 1.2).
//!
//! What it stores through the caches it prefetches as well: 32 MiB of zeros are there 1.5 times as fast. Not for the tiles
//! of products, which compute for longer than their lines take (0.9 to 1), nor for blocks of short rows (0.8 to 1.05).

use crate::Target;
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::machine::elem::Elem;
use crate::schedule::node_cost;
use crate::schedule::written::LINE;
use std::collections::HashMap;
use surject_ir::AccOp;

/// Bytes that are under way.
pub(crate) const AHEAD: i64 = 1024;

/// Bytes that lie between what is read and what is prefetched on a processor that reads ahead by itself, and the longest row
/// that it needs no help with.
pub(crate) const FAR_AHEAD: i64 = 8 << 10;

/// The longest row that stays in the nearest cache until it is read.
const ROW: i64 = 24 << 10;

/// The bytes of rows that are worth it where several threads read.
const SHARED: std::ops::RangeInclusive<i64> = 1 << 10..=8 << 10;

/// The bytes of a row that is read from its end, if it is prefetched: of shorter ones the next is near, and in longer ones a
/// processor finds the direction by itself.
pub(crate) const REVERSED: std::ops::RangeInclusive<i64> = 512..=32 << 10;

/// When what is prefetched is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// [`AHEAD`] bytes later.
    Soon,
    /// [`FAR_AHEAD`] bytes later.
    Later,
    /// When the loop around the row is so many rows further: while there is much to compute, memory brings them.
    Rows(i64),
    /// With the next row, where rows are read from their ends: in the order in which they lie in memory.
    Reversed,
}

/// What a kernel prefetches, by the reduction that it is loaded for, tensor and address; and whether a window reads it more
/// than once.
pub(crate) type PrefetchedLoads = HashMap<(Option<NodeId>, Buf, Lin), (When, bool)>;

/// How a kernel prefetches a tensor: [`When::Soon`] leaves open what suits; `None`: not at all.
pub(crate) type PrefetchWhen<'a> = &'a dyn Fn(Buf) -> Option<When>;

/// A load of something far away, as one of the passes over it has it.
struct Load {
    /// The reduction whose terms it is for.
    pass: Option<NodeId>,
    buf: Buf,
    address: Lin,
    size: i64,
    /// The loop that its elements lie side by side along.
    along: Option<LoopId>,
    /// What an element costs in this pass.
    cost: f64,
    /// Does a window read an element more than once?
    again: bool,
}

impl Load {
    /// Is it of something that no cache holds, some of whose elements are read from the last to the first?
    fn is_reversed(&self, dag: &Dag, target: &Target) -> bool {
        let bytes = dag.points(self.address.loops()) * self.size as f64;
        let far = target.thresholds.reversed_llcs * target.llc_bytes as f64;
        bytes > far && self.along.is_some() && self.address.terms.iter().any(|t| t.1 < 0)
    }

    /// Are these two passes over the same row?
    fn shares_row(&self, other: &Load) -> bool {
        self.pass != other.pass && self.is_of_row(other)
    }

    /// Do they read the same row?
    fn is_of_row(&self, other: &Load) -> bool {
        let row = |load: &Load| {
            let mut lin = load.address.clone();
            lin.terms.retain(|t| Some(t.0) != load.along);
            lin
        };
        self.buf == other.buf && row(self) == row(other)
    }

    /// The bytes of a row.
    fn row(&self, dag: &Dag) -> i64 {
        self.along.map_or(0, |l| dag.extent(l)).saturating_mul(self.size)
    }

    /// Is it read in order from memory, so that it is prefetched for a processor that reads ahead by itself as well?
    fn is_later(&self, dag: &Dag, all: &[Load], streams: bool, target: &Target) -> bool {
        let Some(along) = self.along.filter(|_| target.prefetches_far || target.prefetches_rows) else {
            return false;
        };
        if all.iter().any(|other| other.pass == self.pass && !self.is_of_row(other)) {
            return false;
        }
        let last = target.thresholds.prefetched_llcs * target.llc_bytes as f64;
        let bytes = dag.points(self.address.loops()) * self.size as f64;
        let (row, beyond) = (self.row(dag), bytes > last);
        // The beginnings of other rows are lines that were read.
        let (odd, passes) = (row % LINE != 0, all.iter().any(|other| self.shares_row(other)));
        // What several threads read at the same time comes as fast as it can, but for what waits between passes; what a
        // Zen 3 reads once comes so to one thread.
        if (target.threads > 1 || target.prefetches_rows) && !(passes && beyond && SHARED.contains(&row)) {
            return false;
        }
        let Some(pass) = self.pass else { return beyond || streams || passes && 2.0 * bytes > last };
        let Node::Reduce { op, loops, .. } = &dag[pass].node else { return false };
        let sum = *op == AccOp::Add && self.cost <= 1.0 && !passes;
        let from_cache =
            2.0 * bytes > last && (passes && row <= FAR_AHEAD || odd && row >= *REVERSED.start());
        loops.contains(&along) && row <= ROW && if sum { beyond && odd } else { beyond || from_cache }
    }

    /// Is what this reads read anyway, soon before or after?
    fn is_close(&self, other: &Load) -> bool {
        let distance = other.address.offset.saturating_sub(self.address.offset);
        let few = |stride: i64| distance % stride == 0 && distance / stride <= 8;
        let soon = distance.saturating_mul(self.size) <= AHEAD
            || self.address.terms.iter().any(|t| few(t.1.abs().max(1)));
        (self.pass, self.buf) == (other.pass, other.buf)
            && self.address.terms == other.address.terms
            && distance > 0
            && soon
    }
}

/// What a kernel loads from far away, once for what lies close behind each other.
pub(crate) fn far(
    dag: &Dag,
    (roots, streams): (&[NodeId], bool),
    target: &Target,
    when: PrefetchWhen<'_>,
) -> PrefetchedLoads {
    /// An element costs so much that memory brings another one meanwhile.
    const MUCH: f64 = 12.0;
    let loads = loads(dag, roots, target, when);
    let prefetches = |load: &Load| target.prefetches_next_row() || load.pass.is_some() || !streams;
    let cost = |load: &Load| if prefetches(load) { load.cost } else { 0.0 };
    let mut prefetched = PrefetchedLoads::new();
    for load in &loads {
        let length = load.row(dag);
        let passes = || loads.iter().filter(|other| load.shares_row(other));
        let most = passes().map(cost).fold(0.0, f64::max);
        let least = if target.prefetches_next_row() { AHEAD } else { FAR_AHEAD };
        let near = (least + 1..=ROW).contains(&length) && passes().next().is_some();
        let when = match when(load.buf) {
            Some(When::Soon) if !target.prefetches && load.is_reversed(dag, target) => When::Reversed,
            Some(When::Soon) if near && most.max(cost(load)) >= MUCH => When::Rows(1),
            Some(When::Soon) if load.is_later(dag, &loads, streams, target) => When::Later,
            Some(when) => when,
            None => continue,
        };
        // Whole rows are prefetched in the pass that computes most.
        let elsewhere = match when {
            When::Soon | When::Later => false,
            When::Rows(_) => !prefetches(load) || cost(load) < most,
            When::Reversed => passes().any(|other| other.cost > load.cost),
        };
        if elsewhere {
            continue;
        }
        if !loads.iter().any(|other| load.is_close(other)) {
            prefetched.insert((load.pass, load.buf, load.address.clone()), (when, load.again));
        }
    }
    prefetched
}

/// Everything that is loaded from far away, once for every pass over it.
fn loads(dag: &Dag, roots: &[NodeId], target: &Target, when: PrefetchWhen<'_>) -> Vec<Load> {
    let near = target.thresholds.prefetched_l2_shares * target.l2_share_bytes as f64;
    let inside = dag.all_reachable(roots).into_iter().filter_map(|n| match dag[n].node {
        Node::Reduce { body, .. } => Some((Some(n), vec![body])),
        _ => None,
    });
    let mut loads: Vec<Load> = Vec::new();
    for (pass, roots) in inside.chain([(None, roots.to_vec())]) {
        let nodes = dag.reachable(&roots);
        for &id in &nodes {
            let Node::Load { buf, address, .. } = &dag[id].node else { continue };
            let size = Elem::in_memory(dag[id].dtype).size() as i64;
            if *buf == Buf::OWN || when(*buf).is_none() || dag.points(address.loops()) * size as f64 <= near {
                continue;
            }
            let along = address.terms.iter().find(|t| t.1.abs() == 1).map(|t| t.0);
            let inside = nodes.iter().filter(|&&n| along.is_some_and(|l| dag[n].deps.contains(l)));
            let cost = inside.map(|&n| node_cost(dag, n)).sum();
            let range = address.range(&dag.extents);
            let again = range.is_none_or(|r| dag.points(address.loops()) > (r.high - r.low + 1) as f64);
            loads.push(Load { pass, buf: *buf, address: address.clone(), size, along, cost, again });
        }
    }
    loads
}

/// How an address moves with a loop: the elements from one position to the next, the positions of an iteration, and all of them.
#[derive(Clone, Copy)]
pub(crate) struct Move {
    pub(crate) stride: i64,
    pub(crate) step: i64,
    pub(crate) extent: i64,
}

/// How many elements further on an address is when it is read as much later as `when` says, of which so many bytes are read at
/// once: along the loops in which it moves, innermost first, as long as they have that many iterations. `None`: there is no such
/// loop, or another order.
pub(crate) fn elements_ahead(
    moves: impl Iterator<Item = Move>,
    (bytes, size): (i64, i64),
    when: When,
    prefetches_next_row: bool,
) -> Option<i64> {
    let mut run = bytes.max(1);
    let far = if when == When::Later { FAR_AHEAD } else { AHEAD };
    for Move { stride, step, extent } in moves {
        if stride == 0 || matches!(when, When::Rows(_)) && stride.abs() == 1 {
            continue;
        }
        if let When::Rows(rows) = when {
            let rows = stride.checked_mul(rows)?;
            let times =
                if prefetches_next_row { 1 } else { FAR_AHEAD / rows.checked_mul(size)?.abs().max(1) };
            return rows.checked_mul(times.max(1));
        }
        let jump = stride.checked_mul(step)?;
        if jump.checked_mul(size)?.abs() <= run {
            run = run.max(stride.abs().checked_mul(extent)?.checked_mul(size)?);
            if run >= 2 * far {
                return Some(stride.signum() * far / size);
            }
        } else {
            let times = (far + run - 1) / run;
            if extent / step >= 2 * times {
                return jump.checked_mul(times);
            }
        }
    }
    None
}
