//! What is transposed in blocks, and how large they are.

use crate::Target;
use crate::expression::address::{Lin, LoopId, LoopSet};
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::machine::elem::Elem;
use crate::schedule::non_temporal::{LINE, begin_alike};
use crate::schedule::{NEAR, Schedule, fit};

/// Blocks of rows that are done one after the other before the next columns, at most.
pub(crate) const STRIP: i64 = 16;

/// Rows are few where there are more than so many times as many.
pub(crate) const FEW: i64 = 32;

/// What moves from and to tensors of more than so many times the cache of a thread comes from far away: it is prefetched
/// a block ahead, as no machine foresees the lines of a block.
pub(crate) const FAR: i64 = 8;

/// Rows that are written further apart than this, in bytes, to a tensor that is far away: no machine foresees their next
/// lines either.
pub(crate) const PAGE: i64 = 4096;

/// Lines of memory so far apart, or a multiple of it, meet in one place of a cache.
const ALIAS: i64 = 512;

/// Do rows so many bytes apart meet in one place of a cache?
pub(crate) fn meet(distance: i64) -> bool {
    distance % ALIAS == 0
}

/// The places that lines so many bytes apart have in so many bytes of a cache, or of a way of it.
pub(crate) fn places(bytes: i64, distance: i64) -> i64 {
    bytes.checked_shr(distance.trailing_zeros()).unwrap_or(0).max(1)
}

/// How many bytes apart a node has what it loads, or stores, along a loop.
pub(crate) fn bytes_apart(dag: &Dag, node: NodeId, address: &Lin, l: LoopId) -> i64 {
    address.coeff(l).saturating_mul(Elem::in_memory(dag[node].dtype).size() as i64)
}

/// What is transposed in blocks.
#[derive(Clone, Debug)]
pub struct BlockTranspose {
    /// Loops that loads run along as if they were one, outermost first. Where the loads go they need not be.
    pub along: Vec<LoopId>,
    /// The loads.
    pub loads: Vec<NodeId>,
    /// How many rows a block has.
    pub rows: usize,
}

/// The bytes of the largest element that is read or written.
fn moved(dag: &Dag, output: &Output) -> usize {
    let nodes = dag.reachable(&[output.root]).into_iter();
    let moved = nodes.filter(|&n| n == output.root || matches!(dag[n].node, Node::Load { .. }));
    moved.map(|n| Elem::in_memory(dag[n].dtype).size()).max().unwrap_or(4)
}

/// Turns a schedule to blocks where loads would be gathered otherwise.
pub(crate) fn turn(dag: &Dag, outputs: &[Output], schedule: &mut Schedule, target: &Target) {
    let [output] = outputs else { return };
    let nodes = dag.reachable(&[output.root]);
    let widest = nodes.iter().map(|&n| Elem::of(dag[n].dtype).size()).max().unwrap_or(4);
    let moved = moved(dag, output);
    // As many as fill a register, where arithmetic does not need too many registers for them.
    let lanes = (target.vector_bytes / moved).min(2 * target.vector_bytes / widest).min(32);
    let unit = schedule.order.iter().copied().find(|&l| output.address.coeff(l) == 1);
    let Some(last) = unit.filter(|&l| lanes > 1 && dag.extent(l) > 1 && output.join.is_none()) else {
        return;
    };
    // What runs along some loops, the last of them fastest.
    let run = |along: &[LoopId]| -> Vec<NodeId> {
        let runs = |address: &Lin| {
            let mut distance = 1;
            along.iter().rev().all(|&l| {
                let fits = address.coeff(l) == distance;
                distance *= dag.extent(l);
                fits
            })
        };
        let transposed = nodes.iter().copied().filter(|&n| match &dag[n].node {
            Node::Load { address, guards, .. } => {
                guards.is_empty() && runs(address) && !(0..=NEAR).contains(&address.coeff(last).abs())
            }
            _ => false,
        });
        transposed.collect()
    };
    let least = lanes.min(8) as i64;
    // A loop that is too short goes on with those that loads run along from where it ends.
    let transposed = |u: LoopId| -> Option<BlockTranspose> {
        let (mut along, mut loads, mut length) = (vec![u], run(&[u]), dag.extent(u));
        while length < least {
            let around = schedule.order.iter().filter(|&l| *l != last && !along.contains(l));
            let longer = around.map(|&l| [&[l], &along[..]].concat()).map(|a| (run(&a), a));
            (loads, along) =
                longer.filter(|longer| !longer.0.is_empty()).max_by_key(|longer| longer.0.len())?;
            length *= dag.extent(along[0]);
        }
        (!loads.is_empty()).then(|| BlockTranspose { along, loads, rows: fit(lanes, length) })
    };
    // One that counts several needs a number of its own.
    let least_alone = if dag.extents.len() < LoopSet::LIMIT { 2 } else { least };
    let candidates = schedule.order.iter().copied().filter(|&u| u != last && dag.extent(u) >= least_alone);
    let best =
        candidates.filter_map(transposed).max_by_key(|t| (t.loads.len(), std::cmp::Reverse(t.along.len())));
    // A kernel with reductions inside is not about moving elements.
    let reduces = nodes.iter().any(|&n| matches!(dag[n].node, Node::Reduce { .. }));
    if let Some(transposed) = best.filter(|_| !reduces) {
        schedule.order.retain(|&k| !transposed.along.contains(&k) && k != last);
        schedule.order.extend(transposed.along.iter().copied().chain([last]));
        schedule.lanes = transposed.rows;
        schedule.block_transpose = Some(transposed);
    }
}

/// Lines that one place of the nearest cache has room for, where registers are half a line.
const WAYS: i64 = 8;

/// Elements of fewer bytes are narrow: a block of whole lines of them takes more registers than there are.
const NARROW: usize = 4;

/// Rows of so many bytes at most are short: a tile has little to gather for them.
const SHORT: i64 = 256;

/// Makes blocks of whole lines where registers are narrower and all rows begin alike: a line is then stored at once, and
/// not again in its other half when the next columns come.
///
/// Where registers hold the lines of as many columns, those are read at once, too. Where they do not, a column is read half a
/// line at a time. But columns that meet in few places of the nearest cache push each other out of it before the other halves
/// are read. Then lines are read at once too, though registers do not hold them; in the caches that pays only for rows that
/// are pages apart themselves. Past the caches such rows are stored by a tile instead, several lines of each at a time, and so
/// are rows of several lines where elements are narrow: blocks of whole lines take 1.1 to 2.4 times as long.
pub(crate) fn shape(dag: &Dag, outputs: &[Output], schedule: &mut Schedule, target: &Target) {
    let (Some(transposed), [output], Some(&last)) =
        (&mut schedule.block_transpose, outputs, schedule.order.last())
    else {
        return;
    };
    let moved = moved(dag, output);
    let (line, lanes) = (LINE as usize / moved, target.vector_bytes / moved);
    let halves = target.has_half_line_vectors() && transposed.rows == lanes;
    if !halves || dag.extent(last) < line as i64 || !begin_alike(dag, outputs, last) {
        return;
    }
    let size = |n: NodeId| Elem::in_memory(dag[n].dtype).size();
    let meet = transposed.loads.iter().any(|&n| match &dag[n].node {
        Node::Load { address, .. } => line as i64 > WAYS * places(PAGE, bytes_apart(dag, n, address, last)),
        _ => true,
    });
    let pages =
        transposed.along.iter().all(|&l| bytes_apart(dag, output.root, &output.address, l) % PAGE == 0);
    let fits = line * line * moved <= target.vector_registers * target.vector_bytes;
    let narrow = transposed.loads.iter().any(|&n| size(n) < NARROW) || size(output.root) < NARROW;
    let short = dag.extent(last).saturating_mul(size(output.root) as i64) <= SHORT;
    let pays = if schedule.streams { !pages && (!narrow || short) } else { !meet || pages };
    if fits || pays {
        schedule.lanes = line;
    }
    if fits || pays && meet {
        transposed.rows = fit(line, transposed.along.iter().map(|&l| dag.extent(l)).product());
    }
}
