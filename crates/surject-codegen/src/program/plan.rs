//! The decisions of a lowering, as text.

use crate::CodegenError;
use crate::expression::dag::Buf;
use crate::planned::kernel::Form;
use crate::program::lowered::{Lowered, Step};
use crate::program::memory::{Memory, Place, bytes};
use crate::schedule::BYTES_A_CYCLE;
use std::fmt;
use surject_ir::Function;

/// What runs, in order, and the memory it needs. `Display` prints one line a kernel; with `#` the form of each stands
/// below it, and the forms that were refused, with the reasons.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The kernels and the control flow around them, in order.
    pub lines: Vec<(usize, KernelPlan)>,
    /// The size of the arena.
    pub arena_bytes: u64,
}

/// One run of a kernel, or one line of control flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelPlan {
    /// `kernel_3`, `copy`, `while`, `do`, `if`, `branch`; `load` before what runs once, `run` after it.
    pub name: String,
    /// What is written, and where it lies.
    pub writes: Vec<String>,
    /// What is read.
    pub reads: Vec<String>,
    /// Bytes of everything read and written.
    pub bytes: u64,
    /// An estimate of the time of a run in microseconds; 0 for control flow.
    pub estimate: f64,
    /// The runs that were measured and the microseconds of one, where a profile was taken.
    pub measured: Option<(u64, f64)>,
    /// The kind of the kernel, its loops and reductions.
    pub summary: String,
    /// The form of the kernel, and those that were refused.
    pub form: Form,
    /// Where it came from.
    pub origin: Option<String>,
}

/// The clock of estimates, in cycles a microsecond: a round number near to that of machines of today. What counts in
/// an estimate is how it compares with the others of a plan.
const CYCLES: f64 = 3_000.0;

/// What a profile measured of a run of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// How often it ran.
    pub runs: u64,
    /// The nanoseconds of all of them.
    pub nanoseconds: u64,
}

impl Plan {
    /// Adds what a profile measured of each run of a kernel, in the order of the lines.
    pub fn measure(&mut self, profile: &[Measured]) {
        let kernels = self.lines.iter_mut().map(|l| &mut l.1).filter(|l| l.is_run());
        for (line, &Measured { runs, nanoseconds }) in kernels.zip(profile) {
            line.measured = (runs > 0).then(|| (runs, nanoseconds as f64 / runs as f64 / 1e3));
        }
    }
}

impl Form {
    /// Writes one line for the form and one for each that was refused.
    fn write(&self, f: &mut fmt::Formatter<'_>, indent: usize) -> fmt::Result {
        if !self.name.is_empty() {
            writeln!(f, "{:indent$}form: {}", "", self.name)?;
        }
        self.refused.iter().try_for_each(|(name, reason)| writeln!(f, "{:indent$}no {name}: {reason}", ""))
    }
}

impl KernelPlan {
    /// Is it a run of a kernel?
    pub fn is_run(&self) -> bool {
        self.name.starts_with("kernel_")
    }
}

/// Describes a lowering for so many threads.
pub fn plan(
    function: &Function,
    lowered: &Lowered,
    memory: &Memory,
    threads: usize,
) -> Result<Plan, CodegenError> {
    let mut writer = Writer { function, lowered, memory, threads, lines: Vec::new() };
    if !lowered.init.is_empty() {
        writer.line(0, "load");
        writer.steps(&lowered.init, 1)?;
        writer.line(0, "run");
    }
    writer.steps(&lowered.steps, 0)?;
    for (from, to) in &memory.copies {
        let name = writer.name(*from);
        let line = KernelPlan {
            name: "copy".into(),
            writes: vec![format!("result {to}")],
            reads: vec![name],
            ..KernelPlan::default()
        };
        writer.lines.push((0, line));
    }
    Ok(Plan { lines: writer.lines, arena_bytes: memory.arena_bytes })
}

struct Writer<'a> {
    function: &'a Function,
    lowered: &'a Lowered,
    memory: &'a Memory,
    threads: usize,
    lines: Vec<(usize, KernelPlan)>,
}

impl Writer<'_> {
    fn name(&self, buf: Buf) -> String {
        let place = match self.memory.places.get(&self.lowered.memory(buf)) {
            Some(Place::Arg(i)) => format!("@arg{i}"),
            Some(Place::Result(i)) => format!("@result{i}"),
            Some(Place::Constant(i)) => format!("@constant{i}"),
            Some(Place::Arena(offset)) => format!("@{offset}"),
            Some(&Place::Lent(lent, offset)) => {
                let result = self.memory.lent.get(lent).map_or(0, |l| l.result);
                format!("@result{result}+{offset}")
            }
            None => String::new(),
        };
        let vars = self.function.vars.len();
        match self.function.vars.get(buf.0 as usize) {
            Some(var) => format!("{}{place}", var.name),
            None => format!("temporary{}{place}", buf.0 as usize - vars),
        }
    }

    fn line(&mut self, depth: usize, name: &str) {
        self.lines.push((depth, KernelPlan { name: name.to_string(), ..KernelPlan::default() }));
    }

    fn steps(&mut self, steps: &[Step], depth: usize) -> Result<(), CodegenError> {
        for step in steps {
            match step {
                Step::Run { kernel, buffers, writes, origin, .. } => {
                    let mut total = 0;
                    for buf in buffers {
                        total += bytes(&self.lowered.types[buf.0 as usize])?;
                    }
                    let names = |w: &Writer<'_>, written: bool| -> Vec<String> {
                        buffers.iter().filter(|b| writes.contains(b) == written).map(|&b| w.name(b)).collect()
                    };
                    let made = &self.lowered.kernels[*kernel];
                    let cycles = if made.cycles > 0.0 { made.cycles } else { total as f64 / BYTES_A_CYCLE };
                    let shared = made.tasks.min(self.threads as i64).max(1) as f64;
                    let line = KernelPlan {
                        estimate: cycles / shared / CYCLES,
                        measured: None,
                        name: format!("kernel_{kernel}"),
                        writes: names(self, true),
                        reads: names(self, false),
                        bytes: total,
                        summary: made.summary.clone(),
                        form: made.form.clone(),
                        origin: origin.as_ref().map(|o| o.to_string()),
                    };
                    self.lines.push((depth, line));
                }
                Step::Copy { from, to } => {
                    let line = KernelPlan {
                        name: "copy".into(),
                        writes: vec![self.name(*to)],
                        reads: vec![self.name(*from)],
                        bytes: bytes(&self.lowered.types[from.0 as usize])?,
                        ..KernelPlan::default()
                    };
                    if self.lowered.memory(*from) != self.lowered.memory(*to) {
                        self.lines.push((depth, line));
                    }
                }
                Step::While { condition, body, swaps, .. } => {
                    self.line(depth, "while");
                    self.steps(condition, depth + 1)?;
                    self.line(depth, "do");
                    self.steps(body, depth + 1)?;
                    for &(value, next) in swaps {
                        let text = format!("swap: {} {}", self.name(value), self.name(next));
                        self.line(depth + 1, &text);
                    }
                }
                Step::If { branches, .. } => {
                    self.line(depth, "if");
                    for branch in branches {
                        self.line(depth, "branch");
                        self.steps(branch, depth + 1)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, line) in &self.lines {
            write!(f, "{:width$}{}", "", line.name, width = 2 * depth)?;
            if !line.writes.is_empty() {
                write!(f, ": {} <- {}", line.writes.join(", "), line.reads.join(", "))?;
            }
            if !line.summary.is_empty() {
                write!(f, "  {}", line.summary)?;
            }
            if line.bytes > 0 {
                write!(f, "  {} B", line.bytes)?;
            }
            if line.is_run() {
                write!(f, "  ~{} us", rounded(line.estimate))?;
            }
            if let Some((runs, time)) = line.measured {
                write!(f, ", measured {} us", rounded(time))?;
                if runs > 1 {
                    write!(f, " in {runs} runs")?;
                }
            }
            if let Some(origin) = &line.origin {
                write!(f, "  ({origin})")?;
            }
            writeln!(f)?;
            if f.alternate() {
                line.form.write(f, 2 * depth + 2)?;
            }
        }
        writeln!(f, "arena {} B", self.arena_bytes)
    }
}

/// Microseconds with two digits that count.
fn rounded(time: f64) -> String {
    match time {
        t if t >= 10.0 => format!("{t:.0}"),
        t if t >= 1.0 => format!("{t:.1}"),
        t => format!("{t:.2}"),
    }
}
