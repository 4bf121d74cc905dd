//! Points whose loads lie along another loop than results.
//!
//! Tiles are squares of vectors where loops are long enough; where vectors are half a line, they are a line wide, if that pays.
//! What the caches do not hold goes past them in whole lines: directly, or through a stage where rows begin inside of lines.

use super::forms::of_a_task;
use super::non_temporal::{LINE, PAST, begin_alike};
use super::work;
use crate::Cpu;
use surject_codegen::kernels::expression::{AccessInfo, Expression};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::schedule::{Directive, Schedule, fits};
use surject_codegen::kernels::transpose::{Pieces, TransposeTile, Transposers};

/// Tiles of points, of which vectors are loaded along one loop and stored along another.
pub struct Transposes(pub Cpu);

impl Transposes {
    pub(crate) const NAME: &'static str = "transposes";
}

/// So many times what the second cache holds are moved where what is loaded next is prefetched; and where vectors are half a line,
/// which take longer to load it (a Zen 3 takes 1.1 to 1.4 times as long with less).
const AHEAD: f64 = 0.5;
const AHEAD_OF_HALVES: f64 = 4.0;

/// The fewest rows and columns that a tile is worth, and the most that it has but for those of several loops.
const LEAST: i64 = 4;
const WIDEST: i64 = 16;

/// Lines of a row that are stored one after the other, before the next row.
const GROUP: i64 = 4;

/// Rows of tiles of a piece.
const STRIP: i64 = 16;

/// Tasks of a thread, where there is so much to do.
const TASKS: i64 = 8;

/// Operations of an element that is transposed: those of its vector, and its share of the exchanges.
const EACH: f64 = 2.0;

/// The least power of two that is not below a number of two or more.
fn power(n: i64) -> i64 {
    1 << (i64::BITS - (n - 1).leading_zeros())
}

/// The side of a tile along a loop: what is little more than a vector has one tile, of which some is left out.
fn side(extent: i64, lanes: i64) -> Option<i64> {
    match extent {
        ..LEAST => None,
        _ if extent < (2 * lanes).min(WIDEST) => Some(power(extent)),
        _ => Some(lanes.min(WIDEST)),
    }
}

/// How many rows there are for tiles, which go on where a row of what is loaded is short, and how many a tile has.
fn rows(expression: &Expression, loops: &[String; 2], lanes: i64) -> Option<[i64; 2]> {
    let full = lanes.min(WIDEST);
    let rows = match expression.rows_of_tile(loops, full) {
        rows if rows < full => expression.rows_of_tile(loops, 2 * full),
        rows => rows,
    };
    let goes_on = expression.find(&loops[1]).is_some_and(|l| l.extent < rows);
    let of_tile = if goes_on && rows >= LEAST { power(rows) } else { side(rows, lanes)? };
    Some([rows, of_tile])
}

impl Strategy for Transposes {
    fn name(&self) -> &'static str {
        Transposes::NAME
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let lanes = self.0.lanes(expression)?;
        let points: f64 = expression.loops().iter().map(|l| l.extent as f64).product();
        let mut best: Option<Proposal> = None;
        let pairs = expression.transpositions().into_iter().map(|loops| (loops, false));
        let between = expression.transpositions_between(lanes).into_iter().map(|loops| (loops, true));
        for (loops, is_between) in pairs.chain(between) {
            let Some(tile) = self.tile(expression, loops, lanes, is_between) else { continue };
            // Vectors of few columns, or of some apart, are put together of more parts.
            let apart =
                |a: &AccessInfo| Some(a.stride(&tile.loops[1]).abs()).filter(|&by| !a.stored && by > 0);
            let apart = expression.accesses().iter().filter_map(apart).min().unwrap_or(1);
            let down = expression.rows_of_tile(&tile.loops, tile.tile[1]).min(tile.tile[1]);
            let size = tile.tile[0].min(2 * down) as f64 / apart as f64;
            let schedule = Schedule { directives: vec![Directive::Transpose(tile)] };
            let Ok(()) = fits(expression, &schedule) else { continue };
            let cost = (work(expression) + EACH * points) / size;
            if best.as_ref().is_none_or(|b| cost < b.cost) {
                best = Some(Proposal { schedule, cost });
            }
        }
        best.ok_or_else(|| "no loads lie along another loop than results, or points meet".into())
    }
}

impl Transposes {
    /// The tiles of two loops, that along which results lie first, perhaps with others of few iterations between them.
    fn tile(
        &self,
        expression: &Expression,
        loops: [String; 2],
        lanes: i64,
        is_between: bool,
    ) -> Option<TransposeTile> {
        let cpu = &self.0;
        let accesses = expression.accesses();
        let bytes = accesses.iter().map(|a| a.bytes as i64).max().unwrap_or(4);
        let columns = expression.find(&loops[0]).map_or(1, |l| l.extent);
        let ([rows, below], side) = (rows(expression, &loops, lanes)?, side(columns, lanes)?);
        let moved: f64 = accesses.iter().map(|a| a.elements * a.bytes as f64).sum();
        let past = cpu.has_non_temporal_stores && !is_between && moved >= PAST * cpu.last_cache as f64;
        let alike = begin_alike(&accesses, &[&loops[0]]);
        let halves = 2 * cpu.vector_bytes as i64 == LINE
            && [side, below] == [lanes; 2]
            && columns >= LINE / bytes
            && alike;
        let [a, b] = match halves {
            true => {
                let row = past.then_some(columns * bytes);
                self.of_lines(&accesses, &loops, [lanes, LINE / bytes], row)
            }
            // Bytes have tiles of fewer rows than a vector has lanes, but whole lines past the caches.
            false if past && alike && lanes > WIDEST && columns >= LINE / bytes => [LINE / bytes, below],
            false => [side, below],
        };
        let over = |n: i64, by: i64| (n + by - 1) / by;
        let [wide, high] = [over(columns, a), over(rows, b)];
        let staged = past && !(a * bytes >= LINE && alike);
        let many = if 2 * cpu.vector_bytes as i64 == LINE { AHEAD_OF_HALVES } else { AHEAD };
        let ahead = moved >= many * cpu.second_cache as f64;
        let lines = match (past, halves) {
            (true, _) if !staged => self.lines_past(&accesses, &loops),
            // The other halves of lines are read next.
            (false, true) => {
                if b < a {
                    1
                } else {
                    2
                }
            }
            _ => GROUP,
        };
        let group = (lines * LINE / (a * bytes)).max(1);
        let group = if staged { group } else { group.min(wide) };
        let points: f64 = expression.loops().iter().map(|l| l.extent as f64).product();
        // Results of few neighbours lie inside of tiles.
        let stored = accesses.iter().filter(|a| a.stored).map(|a| a.stride(&loops[0]));
        let between = stored.max().filter(|_| is_between).unwrap_or(1);
        let others = (points / (columns * rows * between) as f64) as i64;
        // What is staged is done in whole rows, of which each task has some.
        let down = if staged { STRIP } else { 2 * STRIP };
        let down = if past { down } else { STRIP }.min(high);
        // Strips are about as long as each other: a short one touches as many lines of memory.
        let down = over(high, over(high, down));
        let pieces = others * over(high, down);
        let tasks = ((EACH * points / cpu.task_operations) as i64).clamp(1, TASKS * cpu.threads as i64);
        let right = match staged {
            true => wide,
            // What is loaded of short rows shares lines with what lies beside.
            false if rows * bytes < LINE => group,
            false => over(wide, over(tasks, pieces)),
        };
        let right = over(right, group) * group;
        let each = of_a_task(cpu, pieces * over(wide, right), EACH * points);
        let pieces = Pieces { tiles: [down, right], group, each, staged, ahead, past };
        Some(TransposeTile { loops, tile: [a, b], by: Transposers::Tasks(pieces) })
    }
}

impl Transposes {
    /// How many lines of a row of results are stored past the caches one after the other.
    ///
    /// Memory has parts that work at the same time, and which of them has a line is in its address: rows that are a multiple
    /// of 256 bytes or more apart are written by few of them, unless each is written in several lines. But larger groups leave
    /// the cache before they are read where columns meet in few places of it, or where two tiles share a line.
    fn lines_past(&self, accesses: &[AccessInfo], [along, across]: &[String; 2]) -> i64 {
        /// Rows are written by few parts of memory if they begin a multiple of so many bytes apart, and by very few if of so
        /// many.
        const APART: [i64; 2] = [256, 1024];
        /// Columns so many bytes apart are read as one sequence already.
        const NEAR: i64 = 2048;
        /// Places of a cache that columns meet in are few if they are less.
        const PLACES: i64 = 8;
        let apart = |a: &AccessInfo, name: &str| a.stride(name) * a.bytes as i64;
        let small = |a: &AccessInfo| {
            let bytes = apart(a, along).abs();
            let places = (self.0.second_cache as i64).checked_shr(bytes.trailing_zeros()).unwrap_or(0);
            bytes % LINE != 0 || bytes <= NEAR || places < PLACES
        };
        let meet = |by: i64| accesses.iter().filter(|a| a.stored).all(|a| apart(a, across) % by == 0);
        match APART.map(meet) {
            [false, _] => 1,
            [true, true] if !accesses.iter().filter(|a| !a.stored && a.stride(across) == 1).any(small) => {
                GROUP
            }
            _ => 2,
        }
    }

    /// The sides of a tile where vectors are half a line and rows begin alike: of whole lines, which are then stored at once,
    /// and not again in their other half when the next columns come.
    ///
    /// Where registers hold the lines of as many columns, those are read at once, too. Where they do not, a column is read
    /// half a line at a time. But columns that meet in few places of the nearest cache push each other out of it before the
    /// other halves are read. Then lines are read at once too, though registers do not hold them; in the caches that pays only
    /// for rows that are pages apart themselves. Past the caches, where rows have so many bytes, such rows leave from a stage
    /// instead.
    fn of_lines(
        &self,
        accesses: &[AccessInfo],
        [along, across]: &[String; 2],
        [lanes, line]: [i64; 2],
        past: Option<i64>,
    ) -> [i64; 2] {
        /// Lines that one place of the nearest cache has room for, and the bytes from one place to itself.
        const WAYS: i64 = 8;
        const PAGE: i64 = 4096;
        /// Elements of fewer bytes are narrow: a tile of whole lines of them takes more registers than there are. A stage has
        /// little to gather for rows of so many bytes at most.
        const NARROW: usize = 4;
        const SHORT: i64 = 256;
        let apart = |a: &AccessInfo, name: &str| a.stride(name) * a.bytes as i64;
        let places = |bytes: i64| PAGE.checked_shr(bytes.trailing_zeros()).unwrap_or(0).max(1);
        let turned = accesses.iter().filter(|a| !a.stored && a.stride(across) == 1);
        let meet = turned.clone().any(|a| line > WAYS * places(apart(a, along)));
        let pages = accesses.iter().filter(|a| a.stored).all(|a| apart(a, across) % PAGE == 0);
        let cpu = &self.0;
        let fits = line * LINE <= cpu.vector_registers * cpu.vector_bytes as i64;
        let narrow = accesses.iter().any(|a| a.bytes < NARROW);
        let pays = match past {
            Some(row) => !pages && (!narrow || row <= SHORT),
            None => !meet || pages,
        };
        let columns = if fits || pays { line } else { lanes };
        [columns, if fits || pays && meet { line } else { lanes }]
    }
}
