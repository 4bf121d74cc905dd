//! Scans.

use crate::Cpu;
use surject_codegen::kernels::expression::{Expression, LoopInfo};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::running::{LineScan, Running, Scanned, Scanners};
use surject_codegen::kernels::schedule::{Directive, Schedule, fits};

/// How many of some parts a task has, where so many operations are worth one: it divides them.
pub(super) fn of_a_task(cpu: &Cpu, parts: i64, operations: f64) -> i64 {
    let needed = (cpu.task_operations / (operations / parts.max(1) as f64).max(1.0)).ceil() as i64;
    (needed.max(1)..=parts / 2).find(|each| parts % each == 0).unwrap_or(parts.max(1))
}

/// How many of some parts a task has, where so many operations are worth one: all tasks but the last have as much to do.
fn shared(cpu: &Cpu, parts: i64, operations: f64) -> i64 {
    /// The most tasks of a thread.
    const MOST: i64 = 8;
    let threads = cpu.threads.max(1) as i64;
    let most = (operations / cpu.task_operations) as i64;
    let tasks = parts.min(most).clamp(1, MOST * threads);
    let tasks = if tasks > threads { tasks / threads * threads } else { tasks };
    (parts.max(1) - 1) / tasks + 1
}

/// Lines are scanned in order: their vectors one after the other, or lines that are neighbours in lanes.
pub struct Scans(pub Cpu);

impl Scans {
    /// Operations of a step of a line: it waits for the one before it.
    const STEP: f64 = 6.0;
    /// Values of a step up to which steps are short, and vectors across lines as wide as so many bytes, which memory likes; of
    /// others they have so many registers.
    const FEW: usize = 16;
    const WIDE: i64 = 1024;
    const BESIDE: i64 = 2;
    /// The most lanes of a vector.
    const LANES: i64 = 256;
    /// The fewest elements of a line in lanes.
    const LONG: i64 = 8;

    /// The lanes across this many lines: of several registers, whose steps do not wait for each other and whose elements are
    /// longer runs of memory, but as few as leave every thread some.
    fn across(&self, scanned: &Scanned, lines: i64, tasks: i64) -> i64 {
        let register = self.register(scanned);
        let wide = match scanned.values <= Self::FEW {
            true => Self::WIDE / scanned.bytes.max(1) as i64,
            false => Self::BESIDE * register,
        };
        let most = wide.max(register).min(Self::LANES).min(lines).max(1);
        let lanes = 1 << most.ilog2();
        let threads = tasks.min(self.0.threads as i64);
        let each = |lanes: &i64| *lanes <= register || (lines + lanes - 1) / lanes >= threads;
        std::iter::successors(Some(lanes), |lanes| Some(lanes / 2)).find(each).unwrap_or(lanes)
    }

    /// The elements of a register.
    fn register(&self, scanned: &Scanned) -> i64 {
        (self.0.vector_bytes / scanned.bytes.max(2)).max(1) as i64
    }
}

impl Strategy for Scans {
    fn name(&self) -> &'static str {
        "scans"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let scanned = expression.scanned().ok_or("the expression is no scan")?;
        let loops = expression.loops();
        let points: f64 = loops.iter().map(|l| l.extent as f64).product();
        let lines = (points / scanned.length.max(1) as f64) as i64;
        let next = |name: &str| {
            let strides = expression.strides(name);
            let mut stored = strides.iter().filter(|s| s.stored).peekable();
            stored.peek().is_some() && stored.all(|s| s.elements == 1)
        };
        let register = self.register(&scanned);
        let is_across =
            |l: &&LoopInfo| l.parallel && l.name != scanned.along && l.extent > 1 && next(&l.name);
        let across = loops.iter().find(is_across).filter(|_| register > 1);
        let most = (points * Self::STEP / self.0.task_operations) as i64;
        let (lanes, steps, parts, cost) = match across {
            Some(l) => {
                let others = lines / l.extent.max(1);
                let lanes = self.across(&scanned, l.extent, most / others.max(1));
                let parts = others * ((l.extent + lanes - 1) / lanes);
                (lanes, scanned.length, parts, Self::STEP / lanes.min(2 * register) as f64)
            }
            // Functions are worth lanes even where elements lie apart.
            None if scanned.length >= Self::LONG && (next(&scanned.along) || expression.has_formulas()) => {
                let lanes = (scanned.length as u64).next_power_of_two().min(register as u64) as i64;
                let joins = 8.0 + 2.0 * f64::from(lanes.ilog2());
                (lanes, scanned.length / lanes, lines, joins / lanes as f64)
            }
            None => (1, scanned.length, lines, Self::STEP),
        };
        let keys = scanned.compares_floats && self.0.compares_as_integers(scanned.bytes);
        let cost = cost * points;
        let lines = shared(&self.0, parts, points * Self::STEP);
        let by = Scanners::Lanes(LineScan { lanes, lines, block: scanned.block(steps), keys });
        let running = Running { along: scanned.along, across: across.map(|l| l.name.clone()), by };
        let schedule = Schedule { directives: vec![Directive::Scan(running)] };
        fits(expression, &schedule).map_err(|error| error.to_string())?;
        Ok(Proposal { schedule, cost })
    }
}
