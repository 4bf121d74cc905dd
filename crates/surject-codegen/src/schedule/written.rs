//! What kernels write, in bytes, and whether that leaves the caches of a thread.

use crate::Target;
use crate::expression::dag::Dag;
use crate::expression::output::Output;
use crate::machine::elem::Elem;

/// Bytes of a line of memory.
pub(crate) const LINE: i64 = 64;

/// The bytes of the elements that a kernel writes.
pub(crate) fn written(dag: &Dag, outputs: &[Output]) -> f64 {
    outputs.iter().map(|o| dag.points(o.address.loops()) * size(dag, o) as f64).sum()
}

/// Do results leave the nearest caches, and are vectors lines, so that each that lies across two is stored twice?
pub(crate) fn leaves(dag: &Dag, outputs: &[Output], target: &Target) -> bool {
    let least = target.thresholds.leaving_l2_shares * target.l2_share_bytes as f64;
    written(dag, outputs) >= least && target.vector_bytes as i64 == LINE
}

pub(crate) fn size(dag: &Dag, output: &Output) -> i64 {
    Elem::in_memory(dag[output.root].dtype).size() as i64
}
