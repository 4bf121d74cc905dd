//! What a sum of products by tiles takes: the slowest of the arithmetic, shared memory and the caches of the
//! multiprocessor that has the most blocks.

use super::{LAUNCH, Model};
use crate::Gpu;
use surject_codegen::kernels::contraction::{Share, Tiles};
use surject_codegen::kernels::expression::Expression;

/// Bytes that a multiprocessor reads from shared memory in a cycle.
const SHARED: f64 = 128.0;
/// Bytes that a thread reads from it at once.
const WIDEST: f64 = 16.0;
/// Bytes that a multiprocessor gets from the caches in a cycle.
const CACHE: f64 = 40.0;
/// Registers of a multiprocessor.
const REGISTERS: f64 = 65_536.0;
/// Registers of a thread beside its sums.
const OTHER_REGISTERS: f64 = 56.0;
/// Warps of a multiprocessor that hide what one of them waits for.
const HIDING: f64 = 8.0;
/// Cycles from a turn to the next that nothing hides: a barrier, and what is stored and loaded around it.
const TURN: f64 = 40.0;
/// Cycles before the first product of a block and behind its last one.
const ENDS: f64 = 1500.0;

/// The time of an expression by tiles.
pub(super) fn model(gpu: &Gpu, expression: &Expression, tiles: &Tiles) -> Model {
    let extent = |name: &str| expression.find(name).map_or(1.0, |l| l.extent as f64);
    let points: f64 = expression.loops().iter().map(|l| l.extent as f64).product();
    let reductions = expression.reductions();
    let sums = reductions.iter().flat_map(|r| &r.loops).map(|name| extent(name)).product::<f64>();
    let [rows, columns, terms] = tiles.loops.each_ref().map(|name| extent(name));
    let [m, n, k] = tiles.tile.map(|size| size as f64);
    let blocks = points / (rows * columns) * (rows / m).ceil() * (columns / n).ceil();
    let turns = sums / terms * (terms / k).ceil();
    let warps = tiles.warps() as f64;
    let threads = 32.0 * warps;
    let bytes = expression.element_bytes() as f64;
    let per_multiprocessor = gpu.rate / gpu.clock / gpu.multiprocessors as f64;
    // Cycles of a turn.
    let products = m * n * k;
    let (arithmetic, shared, own_sums) = match tiles.share {
        Share::Thread([own, _]) => {
            // All threads of a warp read the same 16 bytes of rows in a cycle, and columns of their own.
            let cycles = own as f64 * bytes / WIDEST + n * bytes / SHARED;
            (products / per_multiprocessor, warps * k * cycles, own as f64 * n / 32.0)
        }
        Share::Warp(own) => {
            let rate = gpu.products / gpu.clock / gpu.multiprocessors as f64;
            let shared = warps * k * 2.0 * (own as f64 + n);
            (products / rate, shared / SHARED, own as f64 * n / 32.0)
        }
    };
    let brought = (m + n) * k * bytes / CACHE;
    let turn = arithmetic.max(shared).max(brought) + TURN;
    // Blocks of the multiprocessor that has the most, and how many it runs at once.
    let most = (blocks / gpu.multiprocessors as f64).ceil();
    let registers = REGISTERS / ((own_sums + OTHER_REGISTERS) * threads);
    let at_once = registers.floor().clamp(1.0, most);
    let hidden = (at_once * warps / HIDING).min(1.0);
    let cycles = most * turns * turn / hidden + ENDS * (most / at_once).ceil();
    let needed: f64 = expression.traffic().iter().map(|t| t.1).sum();
    let memory = needed / gpu.bandwidth;
    let peak = if matches!(tiles.share, Share::Warp(_)) { gpu.products } else { gpu.rate };
    let arithmetic = points * sums / peak;
    let seconds = LAUNCH + (cycles / gpu.clock).max(memory);
    let busy = blocks / (most * gpu.multiprocessors as f64) * hidden;
    Model { seconds, memory, arithmetic, coalescing: 1.0, busy }
}
