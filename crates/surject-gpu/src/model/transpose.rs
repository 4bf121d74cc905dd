//! What points by tiles take, whose loads go through shared memory.

use super::{LAUNCH, Model, from_caches};
use crate::Gpu;
use surject_codegen::kernels::expression::Expression;
use surject_codegen::kernels::transpose::{TransposeTile, Transposers};

/// The cycles from a load to its use, and around the barrier between loads and stores.
const LATENCY: f64 = 700.0;
const BARRIER: f64 = 200.0;
/// Instructions of an element: it is loaded, stored in shared memory, read there and stored.
const INSTRUCTIONS: f64 = 16.0;

/// The time of points by tiles.
pub(super) fn model(gpu: &Gpu, expression: &Expression, tile: &TransposeTile) -> Model {
    let extent = |name: &String| expression.find(name).map_or(1.0, |l| l.extent as f64);
    let points: f64 = expression.loops().iter().map(|l| l.extent as f64).product();
    let mut blocks = points;
    for (name, by) in tile.loops.iter().zip(tile.tile) {
        blocks *= (extent(name) / by as f64).ceil() / extent(name);
    }
    // Tasks of a CPU are no threads of a GPU: each would be a block of one.
    let threads = match tile.by {
        Transposers::Warps(warps) => (32 * warps) as f64,
        Transposers::Tasks(_) => 1.0,
    };
    let needed: f64 = expression.traffic().iter().map(|t| t.bytes).sum();
    let coalescing = coalescing(gpu, expression, tile);
    let memory = needed / gpu.bandwidth;
    let operations = expression.operations();
    let arithmetic = operations / gpu.rate;
    let elements = blocks * (tile.tile[0] * tile.tile[1]) as f64;
    let most = (blocks / gpu.multiprocessors as f64).ceil() * gpu.multiprocessors as f64;
    let computed = (operations + elements * INSTRUCTIONS) / gpu.rate * most / blocks.max(1.0);
    let cached = needed / coalescing / (from_caches(gpu) * gpu.clock);
    // Each thread loads all of its elements before it stores the first.
    let waves = (blocks * threads / gpu.threads()).ceil().max(1.0);
    let waited = waves * (LATENCY + BARRIER) / gpu.clock;
    let seconds = LAUNCH + memory.max(cached).max(computed).max(waited);
    Model { seconds, memory, arithmetic, coalescing, busy: blocks / most }
}

/// The bytes that are needed over those of the sectors that warps touch. What does not depend on the loop along which the
/// threads of a warp are neighbours is one element for all of them.
fn coalescing(gpu: &Gpu, expression: &Expression, tile: &TransposeTile) -> f64 {
    let short = (tile.tile[0] < gpu.warp).then_some(tile.tile[0]);
    let (mut needed, mut touched) = (0.0, 0.0);
    for access in expression.accesses() {
        let [along, across] = tile.loops.each_ref().map(|name| access.stride(name).abs());
        let mut stride = along;
        match short {
            // Few neighbours, and behind them those along the other loop.
            Some(few) if access.stored && stride == 1 && across != few => stride = across / few.max(1),
            _ if !access.stored && across != 0 && across < stride => stride = across,
            _ => {}
        }
        let bytes = access.elements * access.bytes as f64;
        let most = (gpu.sector / (access.bytes as i64).max(1)).max(1);
        needed += bytes;
        touched += bytes * stride.clamp(1, most) as f64;
    }
    if touched > 0.0 { needed / touched } else { 1.0 }
}
