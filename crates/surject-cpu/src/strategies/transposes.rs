//! Points whose loads lie along another loop than results.

use super::forms::of_a_task;
use super::work;
use crate::Cpu;
use surject_codegen::kernels::expression::{AccessInfo, Expression};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::schedule::{Directive, Schedule, fits};
use surject_codegen::kernels::transpose::{Pieces, TransposeTile, Transposers};

/// The bytes of a line of the caches.
const LINE: i64 = 64;

/// Tiles of points, of which vectors are loaded along one loop and stored along another.
pub struct Transposes(pub Cpu);

impl Transposes {
    pub(crate) const NAME: &'static str = "transposes";
}

/// From which part of the last cache on what is moved goes past the caches: something else is always there.
const PAST: f64 = 0.75;

/// From which part of the second cache on what is loaded next is prefetched.
const AHEAD: f64 = 0.5;

/// Lines of a row that are stored one after the other, before the next row.
const GROUP: i64 = 4;

/// Rows of tiles of a piece.
const STRIP: i64 = 16;

/// Tasks of a thread, where there is so much to do.
const TASKS: i64 = 8;

/// Operations of an element that is transposed: those of its vector, and its share of the exchanges.
const EACH: f64 = 2.0;

impl Strategy for Transposes {
    fn name(&self) -> &'static str {
        Transposes::NAME
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let lanes = self.0.lanes(expression)?;
        let points: f64 = expression.loops().iter().map(|l| l.extent as f64).product();
        let mut best: Option<Proposal> = None;
        for loops in expression.transpositions() {
            let Some(tile) = self.tile(expression, loops, lanes) else { continue };
            let size = tile.tile[1].min(tile.tile[0]);
            let schedule = Schedule { directives: vec![Directive::Transpose(tile)] };
            let Ok(()) = fits(expression, &schedule) else { continue };
            let cost = (work(expression) + EACH * points) / size as f64;
            if best.as_ref().is_none_or(|b| cost < b.cost) {
                best = Some(Proposal { schedule, cost });
            }
        }
        best.ok_or_else(|| "no loads lie along another loop than results, or points meet".into())
    }
}

impl Transposes {
    /// The tiles of two loops, that along which results lie first.
    fn tile(&self, expression: &Expression, loops: [String; 2], lanes: i64) -> Option<TransposeTile> {
        let cpu = &self.0;
        let [columns, rows] = [&loops[0], &loops[1]].map(|name| expression.find(name).map_or(1, |l| l.extent));
        let accesses = expression.accesses();
        let bytes = accesses.iter().map(|a| a.bytes as i64).max().unwrap_or(4);
        let side = [16, 8, 4].into_iter().find(|&side| side <= lanes && side <= rows && side <= columns)?;
        let over = |n: i64, by: i64| (n + by - 1) / by;
        let [wide, high] = [columns, rows].map(|n| over(n, side));
        let moved: f64 = accesses.iter().map(|a| a.elements * a.bytes as f64).sum();
        let past = cpu.has_non_temporal_stores && moved >= PAST * cpu.last_cache as f64;
        let staged = past && !(side * bytes >= LINE && begin_alike(&accesses, &loops[0]));
        let ahead = moved >= AHEAD * cpu.second_cache as f64;
        let group = (GROUP * LINE / (side * bytes)).max(1);
        let group = if staged { group } else { group.min(wide) };
        let points: f64 = expression.loops().iter().map(|l| l.extent as f64).product();
        let others = (points / (columns * rows) as f64) as i64;
        // What is staged is done in whole rows, of which each task has some.
        let down = if staged { STRIP } else { 2 * STRIP };
        let down = if past { down } else { STRIP }.min(high);
        let pieces = others * over(high, down);
        let tasks = ((EACH * points / cpu.task_operations) as i64).clamp(1, TASKS * cpu.threads as i64);
        let right = if staged { wide } else { over(wide, over(tasks, pieces)) };
        let right = over(right, group) * group;
        let each = of_a_task(cpu, pieces * over(wide, right), EACH * points);
        let mut pieces = Pieces { tiles: [down, right], group, each, staged, ahead, past };
        if let Ok(text) = std::env::var("SJ_T") { let w: Vec<&str> = text.split_whitespace().collect(); let n = |i: usize| w[i].parse::<i64>().unwrap(); let (d, g) = (n(0), n(1)); let d = d.min(high); pieces = Pieces { tiles: [d, over(wide, g) * g], group: g, each: 1, staged: w.contains(&"staged"), ahead: w.contains(&"ahead"), past: w.contains(&"past") }; }
        Some(TransposeTile { loops, tile: [side, side], by: Transposers::Tasks(pieces) })
    }
}

/// Do rows of results along a loop all begin at the same place of a line?
fn begin_alike(accesses: &[AccessInfo], along: &str) -> bool {
    let stored = accesses.iter().filter(|a| a.stored);
    stored.flat_map(|a| a.strides.iter().map(move |s| (a, s))).all(|(access, (name, stride))| {
        name == along || stride * access.bytes as i64 % LINE == 0
    })
}
