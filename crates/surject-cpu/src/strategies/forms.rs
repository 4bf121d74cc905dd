//! Scans.

use crate::Cpu;
use surject_codegen::kernels::expression::{Expression, LoopInfo};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::running::{Running, Scanners};
use surject_codegen::kernels::schedule::{Directive, Schedule, fits};

/// Vectors that are scanned beside each other: a step does not wait for that of the next one.
const BESIDE: i64 = 4;

/// How many of some parts a task has, where so many operations are worth one: it divides them.
pub(super) fn of_a_task(cpu: &Cpu, parts: i64, operations: f64) -> i64 {
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
