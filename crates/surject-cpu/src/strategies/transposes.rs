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
        let b = [16, 8, 4].into_iter().find(|&b| b <= lanes && b <= rows && b <= columns)?;
        let line = LINE / bytes;
        let a = if cpu.vector_bytes as i64 * 2 == LINE && b == lanes && columns >= line { line } else { b };
        let over = |n: i64, by: i64| (n + by - 1) / by;
        let (mut a, mut b) = (a, b);
        if let Ok(text) = std::env::var("SJ_AB") {
            let words: Vec<&str> = text.split_whitespace().collect();
            (a, b) = (words[0].parse().ok()?, words[1].parse().ok()?);
        }
        let [wide, high] = [over(columns, a), over(rows, b)];
        let moved: f64 = accesses.iter().map(|a| a.elements * a.bytes as f64).sum();
        let past = cpu.has_non_temporal_stores && moved >= 0.75 * cpu.last_cache as f64;
        let whole = |a: &AccessInfo| {
            let others = a.strides.iter().filter(|s| s.0 != loops[0]);
            !a.stored || others.clone().all(|s| s.1 * a.bytes as i64 % LINE == 0)
        };
        let alike = accesses.iter().all(whole);
        let points: f64 = expression.loops().iter().map(|l| l.extent as f64).product();
        let others = (points / (columns * rows) as f64) as i64;
        let tasks = ((EACH * points / cpu.task_operations) as i64).clamp(1, 8 * cpu.threads as i64);
        let mut pieces = match (past, alike) {
            (true, true) => Pieces { tiles: [32, wide], group: 4, each: 1, staged: false, ahead: true, past },
            (true, false) => {
                let group = (4 * line / a).max(1);
                Pieces { tiles: [32, wide], group, each: 1, staged: true, ahead: true, past }
            }
            (false, _) => Pieces { tiles: [16, wide], group: 1, each: 1, staged: false, ahead: false, past },
        };
        if let Ok(text) = std::env::var("SJ_T") {
            let words: Vec<&str> = text.split_whitespace().collect();
            pieces = Pieces {
                tiles: [words[0].parse().ok()?, wide],
                group: words[1].parse().ok()?,
                each: 1,
                staged: words.contains(&"staged"),
                ahead: words.contains(&"ahead"),
                past: words.contains(&"past"),
            };
        }
        pieces.tiles[0] = pieces.tiles[0].min(high);
        pieces.group = pieces.group.min(wide);
        let beside = others * over(high, pieces.tiles[0]);
        if !pieces.staged && beside < tasks {
            pieces.tiles[1] = over(wide, over(tasks, beside));
        }
        pieces.tiles[1] = over(pieces.tiles[1], pieces.group) * pieces.group;
        let all = beside * over(wide, pieces.tiles[1]);
        pieces.each = of_a_task(cpu, all, EACH * points);
        Some(TransposeTile { loops, tile: [a, b], by: Transposers::Tasks(pieces) })
    }
}
