//! What a schedule of loops takes: traffic of memory and of the caches, requests of warps, instructions, and what a thread
//! waits for, each by itself; the kernel takes the longest of them.

use super::weights::weight;
use super::{LAUNCH, Model, contraction, from_caches};
use crate::Gpu;
use surject_codegen::kernels::counts::{AccessCount, Counts, Units};
use surject_codegen::kernels::expression::Expression;
use surject_codegen::kernels::schedule::Schedule;

/// Bytes that the nearest cache finds at once.
const LINE: i64 = 128;
/// Bytes that a thread accesses at once at most.
const WIDEST: i64 = 16;
/// Bytes that one multiprocessor gets from the caches in a cycle at most.
const OF_ONE: f64 = 64.0;
/// Bytes of the cache of all multiprocessors: the least of the machines here.
const SHARED_CACHE: f64 = 40e6;
/// Blocks that a multiprocessor runs at once.
const BLOCKS: f64 = 32.0;
/// What is so many times smaller than the nearest cache stays there.
const STAYS: f64 = 8.0;
/// The cycles from a load to its use: from the cache of all multiprocessors, from memory where that is too small, and from
/// the nearest cache.
const FAR: f64 = 450.0;
const FARTHEST: f64 = 900.0;
const NEAR: f64 = 40.0;
/// The cycles in which the threads of a warp join what they have, and those in which warps do.
const JOIN: f64 = 150.0;
const JOIN_WARPS: f64 = 250.0;
/// Iterations of a loop whose loads are under way at once: loops are unrolled so often.
const UNROLLED: f64 = 4.0;
/// Cycles between dependent instructions of a thread.
const DEPENDENT: f64 = 4.0;

/// The time of a schedule of loops.
pub(super) fn model(gpu: &Gpu, expression: &Expression, schedule: &Schedule) -> Model {
    let needed: f64 = expression.traffic().iter().map(|t| t.bytes).sum();
    let memory = needed / gpu.bandwidth;
    // A product and its sum are one operation; matrix units may be faster.
    let operations = expression.operations() / gpu.rate;
    let arithmetic = match expression.product() {
        Some(_) if expression.matrix_units().is_some() => contraction::arithmetic(gpu, expression),
        Some(_) => operations - contraction::arithmetic(gpu, expression).min(operations / 2.0),
        None => operations,
    };
    let units = Units { warp: gpu.warp, sector: gpu.sector, line: LINE, widest: WIDEST };
    let Ok(Some(counts)) = expression.counts(schedule, units, &weight) else {
        // What does not fit its expression is never chosen.
        return Model { seconds: f64::INFINITY, memory, arithmetic, coalescing: 0.0, busy: 0.0 };
    };
    let Counts { blocks, threads, accesses, operations, joins } = &counts;
    let multiprocessors = gpu.multiprocessors as f64;
    // The multiprocessor that has the most blocks decides.
    let most = (blocks / multiprocessors).ceil().max(1.0);
    let uneven = most * multiprocessors / blocks.max(1.0);
    let warps = ((threads + gpu.warp - 1) / gpu.warp) as f64;
    let resident = (gpu.warps as f64 / warps).floor().clamp(1.0, BLOCKS).min(most);
    let held = holds(gpu, accesses, resident * warps);
    let sectors: f64 = accesses.iter().map(|a| fetched(gpu, a, *blocks, held)).sum();
    let bytes = sectors * gpu.sector as f64;
    let cycles_of_cache = (bytes / from_caches(gpu)).max(bytes / blocks.max(1.0) * most / OF_ONE);
    let requests: f64 = accesses.iter().map(|a| a.requests * a.lines).sum();
    let cycles_of_requests = requests / multiprocessors * uneven;
    let lanes = gpu.rate / gpu.clock / multiprocessors;
    let in_order = operations / blocks.max(1.0) / (warps * gpu.warp as f64) * DEPENDENT;
    let cycles_of_operations =
        (operations / multiprocessors / lanes * uneven).max(in_order * (most / resident).ceil());
    let far = if needed > SHARED_CACHE { FARTHEST } else { FAR };
    let waits = waited(gpu, &counts, held, far) + JOIN * joins[0] + JOIN_WARPS * joins[1];
    let cycles = cycles_of_cache
        .max(cycles_of_requests)
        .max(cycles_of_operations)
        .max(waits * (most / resident).ceil());
    let seconds = LAUNCH + memory.max(cycles / gpu.clock);
    let sector = gpu.sector as f64;
    // What every block needs of the sectors that it touches: that blocks read the same is no matter of how.
    let useful: f64 =
        accesses.iter().map(|a| (a.needed * blocks).min(fetched(gpu, a, *blocks, held) * sector)).sum();
    let coalescing = if bytes > 0.0 { useful / bytes } else { 1.0 };
    Model { seconds, memory, arithmetic, coalescing, busy: 1.0 / uneven }
}

/// Does the nearest cache hold what its warps touch until they touch it again?
fn holds(gpu: &Gpu, accesses: &[AccessCount], warps: f64) -> bool {
    let touched: f64 = accesses.iter().filter(|a| !a.stored).map(|a| a.sectors).sum();
    touched * warps * gpu.sector as f64 * 2.0 <= gpu.shared as f64
}

/// The sectors that come from the caches of all multiprocessors, or go there. What is small stays in the nearest cache from
/// block to block.
fn fetched(gpu: &Gpu, access: &AccessCount, blocks: f64, held: bool) -> f64 {
    let touched = access.requests * access.sectors;
    if access.stored {
        return touched;
    }
    let stays = access.of_all * gpu.sector as f64 * STAYS <= gpu.shared as f64;
    let of_machine = access.of_all * blocks.min(gpu.multiprocessors as f64);
    let once = if stays { of_machine } else { f64::INFINITY };
    let of_blocks = if held { access.of_block * blocks } else { f64::INFINITY };
    touched.min(of_blocks).min(once)
}

/// The cycles that a thread waits for what it loads: the accesses of a phase are under way at the same time.
fn waited(gpu: &Gpu, counts: &Counts, held: bool, distance: f64) -> f64 {
    let mut phases: Vec<f64> = Vec::new();
    for access in counts.accesses.iter().filter(|a| !a.stored) {
        let touched = (access.requests * access.sectors).max(1.0);
        let far = fetched(gpu, access, counts.blocks, held) / touched;
        let turns = (access.turns / UNROLLED).ceil();
        let cycles = distance.max(turns * (far * distance + (1.0 - far) * NEAR));
        if phases.len() <= access.phase {
            phases.resize(access.phase + 1, 0.0);
        }
        phases[access.phase] = phases[access.phase].max(cycles);
    }
    phases.iter().sum()
}
