//! What a sum of products by tiles takes: arithmetic and reads of shared memory, which follow each other in a warp, or what
//! the caches give, on the multiprocessor that has the most blocks. The figures are those of an H200: 150 tiles of five products.

use super::{LAUNCH, Model};
use crate::Gpu;
use surject_codegen::kernels::contraction::{Share, Tiles};
use surject_codegen::kernels::expression::Expression;

/// Bytes that a multiprocessor reads from shared memory in a cycle.
const SHARED: f64 = 128.0;
/// Bytes that a thread reads from it at once.
const WIDEST: f64 = 16.0;
/// Bytes that a multiprocessor gets from the caches in a cycle.
const CACHE: f64 = 20.0;
/// Registers of a multiprocessor.
const REGISTERS: f64 = 65_536.0;
/// Registers of a thread beside its sums.
const OTHER_REGISTERS: f64 = 56.0;
/// Cycles from a turn to the next: a barrier, and what is stored and loaded around it. Other blocks hide them, and so do
/// copies in the background.
const TURN: f64 = 350.0;
const TURN_IN_BACKGROUND: f64 = 50.0;
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
    // Matrix units multiply elements of 16 bits.
    let bytes = match tiles.share {
        Share::Thread(_) => expression.element_bytes() as f64,
        Share::Warp(_) => 2.0,
    };
    let per_multiprocessor = gpu.rate / gpu.clock / gpu.multiprocessors as f64;
    // Cycles of a turn.
    let products = m * n * k;
    let (arithmetic, shared, stages, own) = match tiles.share {
        Share::Thread([own, _]) => {
            // All threads of a warp read the same 16 bytes of rows in a cycle, and columns of their own.
            let cycles = own as f64 * bytes / WIDEST + n * bytes / SHARED;
            (products / per_multiprocessor, warps * k * cycles, 2.0, own)
        }
        Share::Warp(own) => {
            let rate = gpu.products / gpu.clock / gpu.multiprocessors as f64;
            (products / rate, warps * k * 2.0 * (own as f64 + n) / SHARED, 3.0, own)
        }
    };
    let between = if matches!(tiles.share, Share::Warp(_)) { TURN_IN_BACKGROUND } else { TURN };
    // Blocks of the multiprocessor that has the most, and how many it runs at once.
    let most = (blocks / gpu.multiprocessors as f64).ceil();
    let by_registers = REGISTERS / ((own as f64 * n / 32.0 + OTHER_REGISTERS) * threads);
    let by_shared = gpu.shared as f64 / (stages * (m + n) * k * bytes);
    let at_once = by_registers.min(by_shared).floor().clamp(1.0, most);
    let brought = (m + n) * k * bytes / CACHE;
    let turn = (arithmetic + shared).max(brought) + between / at_once;
    let cycles = most * turns * turn + ENDS * (most / at_once).ceil();
    let needed: f64 = expression.traffic().iter().map(|t| t.1).sum();
    let memory = needed / gpu.bandwidth;
    let peak = if matches!(tiles.share, Share::Warp(_)) { gpu.products } else { gpu.rate };
    let arithmetic = points * sums / peak;
    let seconds = LAUNCH + (cycles / gpu.clock).max(memory);
    let busy = blocks / (most * gpu.multiprocessors as f64);
    Model { seconds, memory, arithmetic, coalescing: 1.0, busy }
}
