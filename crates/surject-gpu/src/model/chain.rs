//! What a chain takes: its phases follow each other in a block, and the tensors between them are not moved.
//!
//! Nobody has measured one. The figures are those of products by tiles, and of what is counted.

use super::LAUNCH;
use super::contraction::{of_rows, shared_bytes};
use crate::Gpu;
use surject_codegen::kernels::chain::{Chain, ChainTiles};

/// Bytes that a multiprocessor reads from shared memory in a cycle.
const SHARED: f64 = 128.0;
/// How often an element of a row is read or written in shared memory.
const ACCESSES: f64 = 4.0;
/// Cycles of a block before its first product and between its phases.
const PHASES: f64 = 4000.0;
/// The part of the products that a mask leaves: that of a causal one, whose tiles on the diagonal are whole.
const MASKED: f64 = 0.6;
/// So many warps of a multiprocessor take twice as long as if nothing waited.
const FEW_WARPS: f64 = 3.0;
/// Registers of a multiprocessor.
const REGISTERS: f64 = 65_536.0;

/// The bytes of shared memory of a block.
pub(crate) fn shared(chain: &Chain, tiles: &ChainTiles) -> Result<f64, String> {
    let [_, columns] = chain.sizes();
    let windows: usize = chain.window_bytes().iter().sum();
    let mut bytes = (tiles.rows * columns) as f64 * windows as f64;
    for (expression, tiles) in chain.products().into_iter().flatten().zip(chain.tiles(tiles)?) {
        bytes += shared_bytes(expression, &tiles);
        // What says which tiles are summed.
        bytes += 16.0 * (columns / tiles.tile[2].min(tiles.tile[1])).max(1) as f64 + 16.0;
    }
    Ok(bytes)
}

/// The time in seconds, or why the chain does not fit the machine.
pub(crate) fn seconds(gpu: &Gpu, chain: &Chain, tiles: &ChainTiles) -> Result<f64, String> {
    let shared = shared(chain, tiles)?;
    if shared > gpu.shared as f64 {
        return Err(format!("{shared} bytes of shared memory for a block, which has {} at most", gpu.shared));
    }
    let [rows, columns] = chain.sizes();
    let cut = chain.tiles(tiles)?;
    let threads = 32.0 * cut.first().map_or(1, |c| c.warps()) as f64;
    let products = || chain.products().into_iter().flatten().zip(&cut);
    let registers = products().map(|(e, c)| of_rows(gpu, e, c, 1.0).1).fold(64.0, f64::max);
    let blocks = rows as f64 / tiles.rows as f64;
    let most = (blocks / gpu.multiprocessors as f64).ceil();
    let at_once =
        (gpu.shared as f64 / shared).min(REGISTERS / (registers * threads)).floor().clamp(1.0, most);
    let left = if chain.is_masked() { MASKED } else { 1.0 };
    let summed: f64 = products().map(|(e, c)| left * of_rows(gpu, e, c, at_once).0).sum();
    // Rows: every operation by a thread, and reads of shared memory.
    let elements = (tiles.rows * columns) as f64;
    let lanes = gpu.rate / gpu.clock / gpu.multiprocessors as f64;
    let operations = chain.expressions()[1].operations() / (rows * columns) as f64;
    let middle = elements * (operations * FUNCTION / lanes + ACCESSES * 4.0 / SHARED);
    // Few warps hide little of what each waits for.
    let waits = 1.0 + FEW_WARPS / (threads / 32.0 * at_once);
    let cycles = most * ((summed + middle) * waits + PHASES / at_once);
    let finite = if chain.is_masked() { LAUNCH } else { 0.0 };
    Ok(LAUNCH + finite + cycles / gpu.clock)
}

/// Instructions of an operation of a row: exponentials are many.
const FUNCTION: f64 = 4.0;
