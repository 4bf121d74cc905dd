//! Scans, and points whose loads lie along another loop than results.

use super::work;
use crate::Cpu;
use surject_codegen::kernels::expression::{Expression, LoopInfo};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::running::{Running, Scanners};
use surject_codegen::kernels::schedule::{Directive, Schedule, fits};
use surject_codegen::kernels::transpose::{TransposeTile, Transposers};

/// Vectors that are scanned beside each other: a step does not wait for that of the next one.
const BESIDE: i64 = 4;

/// How many of some parts a task has, where so many operations are worth one: it divides them.
fn of_a_task(cpu: &Cpu, parts: i64, operations: f64) -> i64 {
    let needed = (cpu.task_operations / (operations / parts.max(1) as f64).max(1.0)).ceil() as i64;
    (needed.max(1)..=parts / 2).find(|each| parts % each == 0).unwrap_or(parts.max(1))
}

/// Lines are scanned in order: their vectors one after the other, or lines that are neighbours in lanes.
pub struct Scans(pub Cpu);

impl Strategy for Scans {
    fn name(&self) -> &'static str {
        "scans"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let (along, length) = expression.scanned().ok_or("the expression is no scan")?;
        let loops = expression.loops();
        let lanes = self.0.lanes(expression).unwrap_or(1);
        let points: f64 = loops.iter().map(|l| l.extent as f64).product();
        let lines = (points / length.max(1) as f64) as i64;
        let next = |name: &str, by: i64| {
            let strides = expression.strides(name);
            let mut stored = strides.iter().filter(|s| s.stored).peekable();
            stored.peek().is_some() && stored.all(|s| s.elements.abs() == by)
        };
        let is_across = |l: &&LoopInfo| l.parallel && l.name != along && l.extent > 1 && next(&l.name, 1);
        let (across, lanes) = match loops.iter().find(is_across) {
            _ if lanes == 1 => (None, 1),
            Some(l) => {
                let wide = [lanes * BESIDE, lanes * 2].into_iter().find(|wide| l.extent % wide == 0);
                (Some(l), wide.unwrap_or(lanes).min(64))
            }
            None => (None, lanes),
        };
        let parts = match across {
            Some(l) => lines / l.extent * ((l.extent + lanes - 1) / lanes),
            None => lines,
        };
        let operations = points * BESIDE as f64;
        let by = Scanners::Lanes { lanes, lines: of_a_task(&self.0, parts, operations) };
        let running = Running { along, across: across.map(|l| l.name.clone()), by };
        let schedule = Schedule { directives: vec![Directive::Scan(running)] };
        fits(expression, &schedule).map_err(|error| error.to_string())?;
        Ok(Proposal { schedule, cost: operations / lanes as f64 })
    }
}

/// Squares of points, of which vectors are loaded along one loop and stored along another.
pub struct Transposes(pub Cpu);

impl Transposes {
    pub(crate) const NAME: &'static str = "transposes";
}

impl Strategy for Transposes {
    fn name(&self) -> &'static str {
        Transposes::NAME
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        /// Operations of an element that is transposed: those of its vector, and its share of the exchanges.
        const EACH: f64 = 2.0;
        let lanes = self.0.lanes(expression)?;
        let extent = |name: &String| expression.find(name).map_or(1, |l| l.extent);
        let points: f64 = expression.loops().iter().map(|l| l.extent as f64).product();
        let mut best: Option<Proposal> = None;
        for loops in expression.transpositions() {
            let least = loops.iter().map(extent).min().unwrap_or(1);
            let Some(size) = [16, 8, 4].into_iter().find(|&size| size <= lanes && size <= least) else {
                continue;
            };
            let [along, across] = [&loops[0], &loops[1]].map(|name| (extent(name) + size - 1) / size);
            let others = points / (extent(&loops[0]) * extent(&loops[1])) as f64;
            let tiles = along * across * others as i64;
            let tile = TransposeTile {
                loops,
                tile: [size, size],
                by: Transposers::Tiles(of_a_task(&self.0, tiles, EACH * points)),
            };
            let directives = vec![Directive::Transpose(tile)];
            let schedule = Schedule { directives };
            let Ok(()) = fits(expression, &schedule) else { continue };
            let cost = (work(expression) + EACH * points) / size as f64;
            if best.as_ref().is_none_or(|b| cost < b.cost) {
                best = Some(Proposal { schedule, cost });
            }
        }
        best.ok_or_else(|| "no loads lie along another loop than results, or points meet".into())
    }
}
