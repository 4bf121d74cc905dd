//! What a sum of products by tiles takes: arithmetic and reads of shared memory, which follow each other in a warp, or what
//! the caches give, on the multiprocessor that has the most blocks. The figures are those of an H200: 150 tiles of five products.

use super::{CACHE, LAUNCH, Model};
use crate::Gpu;
use surject_codegen::kernels::contraction::{Feed, GROUP, GROUP_ROWS, Share, SubTile, Tiles};
use surject_codegen::kernels::expression::Expression;

/// Bytes that a multiprocessor reads from shared memory in a cycle.
const SHARED: f64 = 128.0;
/// Bytes that a thread reads from it at once.
const WIDEST: f64 = 16.0;
/// Bytes that it gets in boxes in a cycle: they cost no thread an instruction, so what the second level of caches gives is the
/// limit. NVIDIA says 5120 bytes in a cycle of that of an A100, and nothing of later ones; taken for the 132 multiprocessors of
/// an H100 until a device says otherwise.
const BOXES: f64 = 5120.0 / 132.0;
/// Bytes at multiples of which operands of four warps begin.
const LINES: f64 = 1024.0;
/// Operations on integers that a multiprocessor does in a cycle (CUDA C++ Programming Guide, "Arithmetic Instructions").
const INTEGERS: f64 = 64.0;
/// How much longer bytes are read one by one for the units than 16 at once.
const BYTES: f64 = 4.0;
/// Operations that round an element to tf32.
const ROUNDING: f64 = 6.0;
/// Bytes of shared memory that every block has beside its own (CUDA C++ Programming Guide, "Compute Capability 8.x").
const OF_SYSTEM: f64 = 1024.0;
/// Registers of a multiprocessor.
const REGISTERS: f64 = 65_536.0;
/// Registers of a thread beside its sums.
const OTHER_REGISTERS: f64 = 56.0;
/// Parts of a multiprocessor, each with units of its own.
const UNITS: f64 = 4.0;
/// Cycles from a turn to the next: a barrier, and what is stored and loaded around it. Other blocks hide them, and so do
/// copies in the background.
const TURN: f64 = 350.0;
const TURN_IN_BACKGROUND: f64 = 50.0;
/// Cycles in which the units of four warps are empty between two turns, whose products are waited for: as long as one
/// instruction takes to go through.
const DRAIN: f64 = 64.0;
/// Cycles before the first product of a block and behind its last one.
const ENDS: f64 = 1500.0;

/// Bytes of an element of the factors in shared memory.
fn factor_bytes(expression: &Expression, tiles: &Tiles) -> f64 {
    match tiles.share {
        Share::Thread(_) | Share::Grid { .. } => expression.element_bytes() as f64,
        Share::Warp(_) | Share::Warps(_) | Share::Group(_) => {
            expression.matrix_units().map_or(2, |dtype| dtype.size()) as f64
        }
    }
}

/// Stages of shared memory that are filled while another one is summed, that one included.
fn stages(tiles: &Tiles) -> f64 {
    match tiles.share {
        Share::Thread(_) => 2.0,
        Share::Grid { .. } => 3.0,
        Share::Warp(_) | Share::Warps(_) => 3.0,
        Share::Group(_) => 4.0,
    }
}

/// The bytes of shared memory of a block, with what rows are apart.
pub(crate) fn shared_bytes(expression: &Expression, tiles: &Tiles) -> f64 {
    let bytes = factor_bytes(expression, tiles);
    let [m, n, k] = tiles.tile.map(|size| size as f64);
    if matches!(tiles.share, Share::Group(_)) {
        // Parts of lines are exchanged instead; before the first line, and behind the barriers, there may be a gap.
        return stages(tiles) * bytes * (m + n) * k + 2.0 * LINES;
    }
    let pad = WIDEST / bytes;
    stages(tiles) * bytes * ((m + n) * (k + pad)).max(k * (m + n + 2.0 * pad))
}

/// The products that matrix units sum in a second: those of 8 bits are twice as many as those of 16, and those of tf32 half
/// as many.
fn peak(gpu: &Gpu, bytes: f64) -> f64 {
    if bytes > 4.0 { gpu.doubles } else { gpu.products * 2.0 / bytes }
}

/// The seconds of the products of an expression at the peak of the units that have its types.
pub(super) fn arithmetic(gpu: &Gpu, expression: &Expression) -> f64 {
    let extent = |name: &String| expression.find(name).map_or(1.0, |l| l.extent as f64);
    let points: f64 = expression.loops().iter().map(|l| l.extent as f64).product();
    let sums: f64 = expression.reductions().iter().flat_map(|r| &r.loops).map(extent).product();
    let peak = match expression.matrix_units() {
        Some(dtype) => peak(gpu, dtype.size() as f64),
        None => gpu.rate,
    };
    points * sums / peak
}

/// Rows that a thread or a warp sums.
fn own_rows(tiles: &Tiles) -> i64 {
    match tiles.share {
        Share::Thread(SubTile { rows: own, columns: _ })
        | Share::Grid { own: SubTile { rows: own, columns: _ }, .. }
        | Share::Warp(own) => own,
        Share::Warps(SubTile { rows: own, columns: _ }) => own,
        Share::Group(_) => GROUP_ROWS,
    }
}

/// The sums of a thread, in elements.
fn sums_of_thread(tiles: &Tiles) -> f64 {
    let across = match tiles.share {
        Share::Grid { across, .. } => across,
        _ => 32,
    };
    (own_rows(tiles) * tiles.tile[1] / tiles.warps_across()) as f64 / across as f64
}

/// Does a group multiply while another one waits? Those that no barrier of the block holds together do.
fn hides(tiles: &Tiles) -> bool {
    tiles.share == Share::Group(Feed::Boxes) && tiles.warps() > GROUP
}

/// Operations of a term and its sum: one, where that is a product.
fn operations_of_term(expression: &Expression, terms: f64) -> f64 {
    let is_product = expression.product().is_some_and(|p| !p.rows.is_empty() && !p.columns.is_empty());
    if is_product { 1.0 } else { (expression.operations() / terms.max(1.0) - 1.0).max(1.0) }
}

/// What a tile is summed of.
struct Summed {
    /// The bytes of an element.
    bytes: f64,
    /// The operations of a term.
    each: f64,
    /// How much longer units of a warp read rows than as many bytes next to each other.
    rows: f64,
}

impl Summed {
    fn of(expression: &Expression, tiles: &Tiles, each: f64) -> Summed {
        let bytes = factor_bytes(expression, tiles);
        // Bytes of rows that are neighbours are loaded one by one.
        let [rows, _, terms] = &tiles.loops;
        let rows_once = bytes > 1.0 || expression.left_lies_by_terms(terms, rows);
        let rows = if rows_once { 1.0 } else { BYTES };
        Summed { bytes, each, rows }
    }
}

/// Cycles of a turn, beside those between turns, where a multiprocessor runs so many blocks.
fn turn(gpu: &Gpu, tiles: &Tiles, summed: &Summed, at_once: f64) -> f64 {
    let (bytes, each) = (summed.bytes, summed.each);
    let [m, n, k] = tiles.tile.map(|size| size as f64);
    let (products, warps, own) = (m * n * k, tiles.warps() as f64, own_rows(tiles) as f64);
    let of_one = |rate: f64| products / (rate / gpu.clock / gpu.multiprocessors as f64);
    let (arithmetic, shared) = match tiles.share {
        Share::Thread(_) | Share::Grid { .. } => {
            let cycles = reads(tiles, own, n, bytes);
            let scalar = if bytes > 4.0 { gpu.rate / 2.0 } else { gpu.rate };
            (each * of_one(scalar), warps * k * cycles)
        }
        Share::Warp(_) | Share::Warps(_) => {
            let across = tiles.warps_across() as f64;
            // Every warp rounds what it reads, where that is tf32.
            let rounded =
                if bytes == 4.0 { warps * k * (own + n / across) * ROUNDING / INTEGERS } else { 0.0 };
            (
                of_one(peak(gpu, bytes)) + rounded,
                warps * k * bytes * (summed.rows * own + n / across) / SHARED,
            )
        }
        // The units read shared memory themselves while they multiply: 64 rows and all columns for each four warps.
        Share::Group(_) => {
            let read = m / 64.0 * (64.0 + n) * k * bytes / SHARED;
            let drain = if hides(tiles) { 0.0 } else { DRAIN };
            let fed = if tiles.share == Share::Group(Feed::Boxes) { BOXES } else { CACHE };
            return (of_one(gpu.group_products).max(read) + drain).max((m + n) * k * bytes / fed);
        }
    };
    // A warp has a part of the units.
    let idle = (UNITS / (warps * at_once)).max(1.0);
    (arithmetic * idle + shared).max((m + n) * k * bytes / CACHE)
}

/// Cycles in which a warp reads the rows and columns of a term: threads of a warp read 16 bytes of rows at once, the same
/// along the columns, and 16 bytes of columns, the same along the rows. What they read at once takes a cycle at least.
fn reads(tiles: &Tiles, own: f64, columns: f64, bytes: f64) -> f64 {
    let Share::Grid { across, .. } = tiles.share else {
        return own * bytes / WIDEST + columns * bytes / SHARED;
    };
    let (across, at_once) = (across as f64, |threads: f64| (threads * WIDEST / SHARED).max(1.0));
    own * bytes / WIDEST * at_once(32.0 / across) + columns / across * bytes / WIDEST * at_once(across)
}

/// What a block of some rows takes.
pub(super) struct OfRows {
    /// The cycles in which it sums all columns.
    pub(super) cycles: f64,
    /// The registers of a thread.
    pub(super) registers: f64,
}

/// A block of some rows that sums all columns; `at_once` blocks of a multiprocessor hide what is between turns.
pub(super) fn of_rows(gpu: &Gpu, expression: &Expression, tiles: &Tiles, at_once: f64) -> OfRows {
    let extent = |name: &str| expression.find(name).map_or(1.0, |l| l.extent as f64);
    let bytes = factor_bytes(expression, tiles);
    let reductions = expression.reductions();
    let sums = reductions.iter().flat_map(|r| &r.loops).map(|name| extent(name)).product::<f64>();
    let [_, n, k] = tiles.tile.map(|size| size as f64);
    let terms = extent(&tiles.loops[2]);
    let turns = sums / terms * (terms / k).ceil() * (extent(&tiles.loops[1]) / n).ceil();
    let registers = sums_of_thread(tiles) * (bytes / 4.0).max(1.0) + OTHER_REGISTERS;
    // Rows that are not summed in stages wait for every turn.
    let cycles = turns * (turn(gpu, tiles, &Summed::of(expression, tiles, 1.0), at_once) + TURN / at_once);
    OfRows { cycles, registers }
}

/// The time of an expression by tiles.
pub(super) fn model(gpu: &Gpu, expression: &Expression, tiles: &Tiles) -> Model {
    let extent = |name: &str| expression.find(name).map_or(1.0, |l| l.extent as f64);
    let points: f64 = expression.loops().iter().map(|l| l.extent as f64).product();
    let reductions = expression.reductions();
    let sums = reductions.iter().flat_map(|r| &r.loops).map(|name| extent(name)).product::<f64>();
    let rows: f64 = tiles.rows().map(extent).product();
    let [_, columns, terms] = tiles.loops.each_ref().map(|name| extent(name));
    let [m, n, k] = tiles.tile.map(|size| size as f64);
    let blocks = points / (rows * columns) * (rows / m).ceil() * (columns / n).ceil();
    let turns = sums / terms * (terms / k).ceil();
    let warps = tiles.warps() as f64;
    let threads = 32.0 * warps;
    let bytes = factor_bytes(expression, tiles);
    // Of scalar operations on f64 there are half as many.
    let scalar = if bytes > 4.0 { gpu.rate / 2.0 } else { gpu.rate };
    let between = match tiles.share {
        Share::Thread(_) => TURN,
        Share::Group(_) if hides(tiles) => 0.0,
        Share::Grid { .. } if !expression.copies_tiles(tiles) => TURN,
        Share::Grid { .. } | Share::Warp(_) | Share::Warps(_) | Share::Group(_) => TURN_IN_BACKGROUND,
    };
    // Blocks of the multiprocessor that has the most, and how many it runs at once.
    let most = (blocks / gpu.multiprocessors as f64).ceil();
    let words = (bytes / 4.0).max(1.0);
    let by_registers = REGISTERS / ((sums_of_thread(tiles) * words + OTHER_REGISTERS) * threads);
    let by_shared = gpu.shared as f64 / (shared_bytes(expression, tiles) + OF_SYSTEM);
    let at_once = by_registers.min(by_shared).floor().clamp(1.0, most);
    let each = operations_of_term(expression, points * sums);
    let turn = turn(gpu, tiles, &Summed::of(expression, tiles, each), at_once) + between / at_once;
    let cycles = most * turns * turn + ENDS * (most / at_once).ceil();
    let needed: f64 = expression.traffic().iter().map(|t| t.bytes).sum();
    let memory = needed / gpu.bandwidth;
    let peak = match tiles.share {
        Share::Thread(_) | Share::Grid { .. } => scalar,
        Share::Warp(_) | Share::Warps(_) => peak(gpu, bytes),
        Share::Group(_) => gpu.group_products,
    };
    let arithmetic = each * points * sums / peak;
    let seconds = LAUNCH + (cycles / gpu.clock).max(memory);
    let busy = blocks / (most * gpu.multiprocessors as f64);
    Model { seconds, memory, arithmetic, coalescing: 1.0, busy }
}
