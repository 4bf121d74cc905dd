//! Results that do not fit in the caches go past them.
//!
//! A store into a line that no cache has fetches the line first, for nothing if all of it is stored. Where a kernel of
//! the row emitter stores more than the caches hold, it stores whole lines past them: of a copy of 64 MiB that saves a
//! third of the traffic, and a block that is transposed waits for no line that it ends in. (Tiles of products compute for
//! longer than they store, and gain nothing from it.) A line that is stored in part goes through the caches, so rows are
//! done from line to line where they do not all begin with one.
//!
//! So are rows that leave the nearest caches alone, of kernels that do little but move them: a vector that lies across two
//! lines is stored twice. It goes 1.1 to 1.7 times as fast with rows of 250 to 1000 elements (Sapphire Rapids).

use crate::Target;
use crate::expression::address::LoopId;
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::machine::elem::Elem;
use crate::schedule::Schedule;

/// Bytes of a line of memory.
pub(crate) const LINE: i64 = 64;

/// The least bytes of a store that goes past the caches.
pub(crate) const LEAST: usize = 16;

/// The bytes of the elements that a kernel writes.
pub(crate) fn written(dag: &Dag, outputs: &[Output]) -> f64 {
    outputs.iter().map(|o| dag.points(o.address.loops()) * size(dag, o) as f64).sum()
}

/// Is more written than the caches hold, each element once, with as much that is read? Something else is always there: what
/// fills more than three quarters of them comes from memory again. Copies in whole lines do not wait for that where the last
/// cache is distant ([`Target::mesh_llc`]).
fn is_worth(dag: &Dag, outputs: &[Output], last: LoopId, target: &Target) -> bool {
    let once = outputs.iter().all(|o| o.join.is_none());
    let written = written(dag, outputs);
    let copies = reads(dag, outputs, written);
    let moved = if copies { 2.0 * written } else { written };
    let limits = &target.thresholds;
    let mut most = limits.llc_part * target.llc_bytes as f64;
    if copies && target.mesh_llc && begin_alike(dag, outputs, last) {
        most = most.min(limits.mesh_l2_caches * (target.threads * target.l2_bytes()) as f64);
    }
    target.has_non_temporal_stores && once && moved >= most
}

/// Is nothing read that counts, by several threads, and does the last cache take in enough of what is written? The other
/// way, by which lines are fetched, is then free ([`Target::asymmetric_writes`]).
fn is_absorbed(dag: &Dag, outputs: &[Output], target: &Target) -> bool {
    /// So many times what the last cache holds.
    const MOST: f64 = 2.25;
    let written = written(dag, outputs);
    let fits = written <= MOST * target.llc_bytes as f64;
    target.asymmetric_writes && target.threads > 1 && fits && !reads(dag, outputs, written)
}

/// Is anything read that counts beside so many bytes?
fn reads(dag: &Dag, outputs: &[Output], bytes: f64) -> bool {
    /// A part of them that does not count.
    const LITTLE: f64 = 1.0 / 16.0;
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    dag.all_reachable(&roots).into_iter().any(|n| match &dag[n].node {
        Node::Load { address, .. } => {
            dag.points(address.loops()) * Elem::in_memory(dag[n].dtype).size() as f64 > LITTLE * bytes
        }
        Node::Gather { .. } => true,
        _ => false,
    })
}

/// Does a kernel of the row emitter with this schedule store past the caches?
pub(crate) fn decide(dag: &Dag, outputs: &[Output], schedule: &mut Schedule, target: &Target) {
    let Some(&last) = schedule.order.last().filter(|&&l| is_worth(dag, outputs, l, target)) else { return };
    let least = target.thresholds.lines_past_caches;
    let long = is_long(dag, outputs, dag.extent(last), least.row_bytes);
    let along = outputs.iter().all(|o| o.address.coeff(last) == 1) && schedule.lanes > 1;
    let stores_lines =
        along && (long || begin_alike(dag, outputs, last) || fill_lines(dag, outputs, &schedule.order));
    schedule.streams = stores_lines && !is_absorbed(dag, outputs, target);
    schedule.shift = (stores_lines && long).then_some(least.part_bytes);
}

/// Rows of a kernel that does little but move them: where they leave the nearest caches at all, parts that begin between
/// lines are done from line to line as well.
pub(crate) fn near(dag: &Dag, outputs: &[Output], schedule: &Schedule, target: &Target) -> Option<i64> {
    let &last = schedule.order.last().filter(|_| schedule.is_plain() && schedule.lanes > 1)?;
    let along = outputs.iter().all(|o| o.join.is_none() && o.address.coeff(last) == 1);
    let least = target.thresholds.lines_in_caches;
    let long = is_long(dag, outputs, dag.extent(last), least.row_bytes);
    (leaves(dag, outputs, target) && along && long).then_some(least.part_bytes)
}

/// Do results leave the nearest caches, and are vectors lines, so that each that lies across two is stored twice?
pub(crate) fn leaves(dag: &Dag, outputs: &[Output], target: &Target) -> bool {
    let least = target.thresholds.leaving_l2_shares * target.l2_share_bytes as f64;
    written(dag, outputs) >= least && target.vector_bytes as i64 == LINE
}

/// Do all rows along a loop begin at the same place of a line?
pub(crate) fn begin_alike(dag: &Dag, outputs: &[Output], along: LoopId) -> bool {
    outputs.iter().all(|o| {
        let whole = |elements: i64| elements.checked_mul(size(dag, o)).is_some_and(|bytes| bytes % LINE == 0);
        let mut others = o.address.terms.iter().filter(|t| t.0 != along);
        others.all(|t| whole(t.1)) && whole(o.address.offset)
    })
}

/// Are rows parts of lines, the next one behind each? A processor puts such parts together before they leave.
fn fill_lines(dag: &Dag, outputs: &[Output], order: &[LoopId]) -> bool {
    let [.., before, last] = order else { return false };
    outputs.iter().all(|o| {
        let (length, bytes) = (dag.extent(*last), size(dag, o));
        let row = length.saturating_mul(bytes);
        let part = row >= LEAST as i64 && row <= LINE && LINE % row == 0;
        part && o.address.coeff(*before) == length && o.address.offset.saturating_mul(bytes) % row == 0
    })
}

pub(crate) fn size(dag: &Dag, output: &Output) -> i64 {
    Elem::in_memory(dag[output.root].dtype).size() as i64
}

pub(crate) fn is_long(dag: &Dag, outputs: &[Output], count: i64, least: i64) -> bool {
    outputs.iter().all(|o| count.saturating_mul(size(dag, o)) >= least)
}
