//! What a chain takes: its phases follow each other in a block, and the tensors between them are not moved. By tiles of
//! scores the phases of every tile do, and what is brought for one comes while another runs.
//!
//! Nobody has measured one. The figures are those of products by tiles, and of what is counted.

use super::LAUNCH;
use super::contraction::{self, of_rows, shared_bytes};
use crate::Gpu;
use surject_codegen::kernels::chain::{Chain, ChainTiles, ScoreSize, Scores};
use surject_codegen::kernels::contraction::Share;
use surject_codegen::kernels::expression::Tensor;

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
/// So many warps take twice as long where all of them sum products.
const FEW_WARPS_OF_TILES: f64 = 1.0;
/// Registers of a multiprocessor.
const REGISTERS: f64 = 65_536.0;

/// Is a mask the same in every run, so that it is known to leave something out?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    /// It is made of literals, and is taken to be a causal one.
    Literal,
    /// It depends on arguments and may leave out nothing; or there is none.
    Other,
}

/// The bytes of shared memory of a block.
pub(crate) fn shared(chain: &Chain, tiles: &ChainTiles) -> Result<f64, String> {
    if tiles.scores == Scores::Tile {
        return shared_by_tiles(chain, tiles);
    }
    let columns = chain.scores().columns;
    let bytes = chain.window_bytes();
    let windows = bytes.scores + bytes.weights;
    let mut bytes = (tiles.rows * columns) as f64 * windows as f64;
    for (expression, tiles) in chain.products().into_iter().flatten().zip(chain.tiles(tiles)?) {
        bytes += shared_bytes(expression, &tiles);
        // What says which tiles are summed.
        bytes += 16.0 * (columns / tiles.tile[2].min(tiles.tile[1])).max(1) as f64 + 16.0;
    }
    Ok(bytes)
}

/// The time in seconds, or why the chain does not fit the machine.
pub(crate) fn seconds(gpu: &Gpu, chain: &Chain, tiles: &ChainTiles, mask: Mask) -> Result<f64, String> {
    let shared = shared(chain, tiles)?;
    if shared > gpu.shared as f64 {
        return Err(format!("{shared} bytes of shared memory for a block, which has {} at most", gpu.shared));
    }
    if tiles.scores == Scores::Tile {
        return seconds_by_tiles(gpu, chain, (tiles, mask), shared);
    }
    let ScoreSize { rows, columns } = chain.scores();
    let cut = chain.tiles(tiles)?;
    let threads = 32.0 * cut.first().map_or(1, |c| c.warps()) as f64;
    let products = || chain.products().into_iter().flatten().zip(&cut);
    let registers = products().map(|(e, c)| of_rows(gpu, e, c, 1.0).registers).fold(64.0, f64::max);
    let blocks = rows as f64 / tiles.rows as f64;
    let most = (blocks / gpu.multiprocessors as f64).ceil();
    let at_once =
        (gpu.shared as f64 / shared).min(REGISTERS / (registers * threads)).floor().clamp(1.0, most);
    let left = if chain.is_masked() { MASKED } else { 1.0 };
    let summed: f64 = products().map(|(e, c)| left * of_rows(gpu, e, c, at_once).cycles).sum();
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

/// The time in seconds of sums of products as kernels of their own, of which a mask throws some away.
pub(crate) fn masked(seconds: f64) -> f64 {
    LAUNCH + MASKED * (seconds - LAUNCH)
}

/// The seconds that a machine needs for a chain at least: for operations, without those that a mask is taken to leave out,
/// or for the traffic of what is not between its expressions.
pub(crate) fn needs(gpu: &Gpu, chain: &Chain, leaves_out: bool) -> f64 {
    let (mut operations, mut traffic) = (0.0, 0.0);
    let expressions = chain.expressions();
    for (number, expression) in expressions.iter().enumerate() {
        let is_last = number + 1 == expressions.len();
        let outside = |tensor: Tensor| match tensor {
            Tensor::Target => is_last,
            Tensor::Var(var) => !chain.between().contains(&var),
            Tensor::Temporary(_) => false,
        };
        traffic += expression.traffic().iter().filter(|t| outside(t.tensor)).map(|t| t.bytes).sum::<f64>();
        let left = if leaves_out { MASKED } else { 1.0 };
        operations += left
            * match number {
                1 => expression.operations() / gpu.rate,
                _ => contraction::arithmetic(gpu, expression),
            };
    }
    operations.max(traffic / gpu.bandwidth)
}

/// Cycles between the tiles of a block: as between the turns of a product, of which it has two.
const TILE: f64 = 700.0;
/// Instructions of a score: 18 of its exponential (counted in PTX), the others of its mask, maximum, difference and sum.
const WEIGHED: f64 = 27.0;
/// The most registers that a thread should have by the model, which knows not all of them.
const MOST_REGISTERS: f64 = 224.0;
/// Bytes of padding of a row in shared memory.
const PADDING: f64 = 16.0;

/// Bytes of an element that is multiplied.
fn factor_bytes(chain: &Chain, share: Share) -> f64 {
    let first = chain.products()[0];
    match share {
        Share::Thread(_) | Share::Grid { .. } => first.map_or(4, |e| e.element_bytes()) as f64,
        Share::Warp(_) | Share::Warps(_) | Share::Group(_) => {
            first.and_then(|e| e.matrix_units()).map_or(2, |dtype| dtype.size()) as f64
        }
    }
}

/// Both factors of the scores, the values and the weights; and scores, where matrix units sum them.
fn shared_by_tiles(chain: &Chain, tiles: &ChainTiles) -> Result<f64, String> {
    let bytes = factor_bytes(chain, tiles.shares[0]);
    let ([columns, terms], [head, _]) = (tiles.tiles[0].map(|n| n as f64), tiles.tiles[1].map(|n| n as f64));
    let rows = tiles.rows as f64;
    let row = |elements: f64| elements * bytes + PADDING;
    let factors = (rows + columns) * row(terms).max(row(0.0) + terms * bytes)
        + columns * row(head)
        + rows * row(columns);
    let scores = match tiles.shares[0] {
        Share::Thread(_) | Share::Grid { .. } => 0.0,
        Share::Warp(_) | Share::Warps(_) | Share::Group(_) => {
            rows * (4.0 * columns.max(head) + PADDING + 20.0)
        }
    };
    let listed = 16.0 * (chain.scores().columns as f64 / columns).ceil() + 512.0;
    Ok(factors + scores + listed)
}

fn seconds_by_tiles(
    gpu: &Gpu,
    chain: &Chain,
    (tiles, mask): (&ChainTiles, Mask),
    shared: f64,
) -> Result<f64, String> {
    let ScoreSize { rows, columns } = chain.scores();
    let [rows, columns] = [rows, columns].map(|n| n as f64);
    let cut = chain.tiles(tiles)?;
    let warps = cut.first().map_or(1, |c| c.warps()) as f64;
    let own = tiles.rows as f64 / warps;
    let [of_scores, of_sums] = [tiles.tiles[0][0], tiles.tiles[1][0]].map(|n| own * n as f64 / 32.0);
    let registers = match tiles.shares[0] {
        Share::Thread(_) | Share::Grid { .. } => of_scores + of_sums + 3.0 * own + 96.0,
        Share::Warp(_) | Share::Warps(_) | Share::Group(_) => of_scores + of_sums + 64.0,
    };
    if registers > MOST_REGISTERS {
        return Err(format!("{registers} registers of a thread"));
    }
    let blocks = rows / tiles.rows as f64;
    let most = (blocks / gpu.multiprocessors as f64).ceil();
    let by_registers = REGISTERS / (registers * 32.0 * warps);
    let at_once = (gpu.shared as f64 / shared).min(by_registers).floor();
    if at_once < 1.0 {
        return Err(format!("{registers} registers of {warps} warps"));
    }
    let at_once = at_once.min(most);
    // What a mask leaves out makes some blocks shorter than others: one that is alone decides.
    let leaves_out = chain.left_out().is_some();
    let left = if leaves_out && mask == Mask::Literal && most > 1.0 { MASKED } else { 1.0 };
    let products = || chain.products().into_iter().flatten().zip(&cut);
    let summed: f64 = products().map(|(e, c)| of_rows(gpu, e, c, f64::INFINITY).cycles).sum();
    let lanes = gpu.rate / gpu.clock / gpu.multiprocessors as f64;
    // A weight is stored; by matrix units a score goes through shared memory before.
    let bytes = if matches!(tiles.shares[0], Share::Warp(_)) { 12.0 } else { 4.0 };
    let weighed = tiles.rows as f64 * columns * (WEIGHED / lanes + bytes / SHARED);
    let turns = (columns / tiles.tiles[0][0] as f64).ceil();
    let waits = 1.0 + FEW_WARPS / (warps * at_once);
    // Products are those of measured tiles, which have more warps; nobody has measured how what follows them waits.
    let of_products = 1.0 + FEW_WARPS_OF_TILES / (warps * at_once);
    let cycles =
        most * (left * (summed * of_products + weighed * waits + turns * TILE / at_once) + PHASES / at_once);
    let finite = if leaves_out { LAUNCH } else { 0.0 };
    Ok(LAUNCH + finite + cycles / gpu.clock)
}
