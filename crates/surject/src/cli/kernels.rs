//! Kernels of the kernel IR and their schedules, as the command shows and reads them.

use crate::Failure;
use crate::pipeline::machine_named;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use surject_codegen::kernels::legal::legal_for;
use surject_codegen::kernels::machine::Machine;
use surject_codegen::kernels::native::Native;
use surject_codegen::kernels::run::{self, assignments, calls, expressions};
use surject_codegen::kernels::schedule::{ScheduleError, Schedules, Span};
use surject_cuda::Step;
use surject_gpu::Gpu;
use surject_gpu::program::chains;
use surject_ir::{Function, Program};
use surject_kernel::Kernel;

/// What is shown of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Their schedules, as [`schedules`] reads them, and what lost.
    Schedules,
    /// Their text.
    Kernels,
    /// The same as MLIR for a CPU.
    Cpu,
    /// The same as MLIR for a GPU.
    Gpu,
    /// The same as PTX.
    Ptx,
    /// The same as instructions of the GPU.
    Sass,
}

/// How kernels are scheduled: by whose strategies, and the schedules that the user gives.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scheduling<'a> {
    /// The name of the machine, if the user gives one.
    pub(super) named: Option<&'a str>,
    /// A file of schedules.
    pub(super) file: Option<&'a Path>,
}

impl<'a> Scheduling<'a> {
    /// The name of the machine; that of one without vectors if the user gives none.
    pub(super) fn machine(&self) -> &'a str {
        self.named.unwrap_or("generic")
    }

    /// Are plans those of a GPU? With a machine they are, unless a schedule makes kernels of compiled code.
    pub(super) fn is_gpu(&self) -> bool {
        let is_cpu = |name| surject_cpu::Cpu::named(name).is_some();
        self.named.is_some_and(|name| self.file.is_none() || !is_cpu(name))
    }
}

/// The plan of a function for a GPU.
pub(super) fn plan(
    program: &Program,
    function: &str,
    scheduling: &Scheduling<'_>,
    name: &str,
) -> Result<String, Failure> {
    let gpu = Gpu::named(scheduling.machine()).ok_or_else(|| {
        let all: Vec<&str> = Gpu::names().collect();
        let machine = scheduling.machine();
        Failure::unsupported(format!(
            "`{machine}` is no GPU; plans with a machine are those of {}",
            all.join(", ")
        ))
    })?;
    let found = program.function(function).cloned().unwrap_or_default();
    let given = schedules(scheduling.file, &found, || Ok(Box::new(gpu.clone())))?;
    let planned = surject_gpu::program::planned(program, function, &gpu, &given);
    planned.map(|p| p.plan.to_string()).map_err(|error| Failure::unsupported(format!("{name}: {error}")))
}

/// Refuses the options of kernels where something else is made, of which `other` says whose it is.
pub(super) fn refuse_scheduling(
    machine: &Option<String>,
    schedule: &Option<PathBuf>,
    other: &str,
    needed: &str,
) -> Result<(), Failure> {
    let option = match (schedule, machine) {
        (Some(_), _) => "schedules are those of kernels; --schedule".to_string(),
        (None, Some(_)) => format!("{other}; --machine"),
        (None, None) => return Ok(()),
    };
    Err(Failure::bad_input(format!("{option} needs {needed}")))
}

/// The kernels of a function for a machine.
pub(super) fn show(
    function: &Function,
    scheduling: &Scheduling<'_>,
    shown: Shown,
    name: &str,
) -> Result<String, Failure> {
    let machine = machine_named(scheduling.machine())?;
    let given = schedules(scheduling.file, function, || machine_named(scheduling.machine()))?;
    let refused = |error: &dyn std::fmt::Display| Failure::unsupported(format!("{name}: {error}"));
    let (mut text, mut all) = (String::new(), Vec::new());
    for (variable, field) in assignments(function) {
        let made = run::kernels(function, field, &*machine, &variable, &given);
        for made in made.map_err(|error| refused(&error))?.kernels {
            let kernel = made.launch.kernel;
            let _ = writeln!(text, "kernel {}\n{}", kernel.name, made.choice);
            all.push(kernel);
        }
    }
    for (variable, call) in calls(function) {
        let made = call.kernels(&*machine, &variable).map_err(|error| refused(&error))?;
        for launch in made.launches {
            let _ = writeln!(
                text,
                "// kernel {}: a part of `{}`, point by point",
                launch.kernel.name,
                call.op.name()
            );
            all.push(launch.kernel);
        }
    }
    match shown {
        Shown::Schedules => {
            let gpu = Gpu::named(scheduling.machine());
            let said = gpu.map(|gpu| {
                let mut lines = chains::described(function, &gpu, &given);
                let depth = surject_gpu::program::depth(function, &gpu, &given);
                lines.push(format!("// reductions that follow each other: {depth}"));
                lines.extend(launched(function, &gpu, &given));
                lines
            });
            Ok(said.into_iter().flatten().fold(text, |text, line| text + &line + "\n"))
        }
        _ => written(&all, shown, scheduling.machine(), name),
    }
}

/// The kernels that a plan launches, as comments: those of a loop once, none of what is done before the first run.
fn launched(function: &Function, gpu: &Gpu, given: &Schedules) -> Vec<String> {
    let program = Program { name: function.name.clone(), functions: vec![function.clone()] };
    match surject_gpu::program::planned(&program, &function.name, gpu, given) {
        Ok(planned) => {
            let plan = &planned.plan;
            let name = |(_, step): (usize, &Step)| match step {
                Step::Launch { kernel, .. } => plan.kernels.get(*kernel as usize).map(|k| k.name.clone()),
                _ => None,
            };
            plan.walk().into_iter().filter_map(name).map(|name| format!("// launch {name}")).collect()
        }
        Err(error) => vec![format!("// no plan: {error}")],
    }
}

/// Kernels in a form that is not their schedules.
pub(super) fn written(
    kernels: &[Kernel],
    shown: Shown,
    machine: &str,
    name: &str,
) -> Result<String, Failure> {
    if matches!(shown, Shown::Schedules | Shown::Kernels) {
        return Ok(kernels.iter().map(|kernel| format!("{kernel}\n")).collect());
    }
    let gpu = surject_gpu::Gpu::named(machine);
    if shown == Shown::Cpu && gpu.is_some() {
        let all: Vec<&str> = surject_cpu::Cpu::ALL.iter().map(|cpu| cpu.name).collect();
        return Err(Failure::unsupported(format!(
            "`{machine}` is a GPU, which the form `cpu` is not for; say `--machine` and one of {}, or `--emit gpu`",
            all.join(", ")
        )));
    }
    if shown != Shown::Cpu && gpu.is_none() {
        let all: Vec<&str> = surject_gpu::Gpu::names().collect();
        return Err(Failure::unsupported(format!(
            "`{machine}` is no GPU, which the forms `gpu`, `ptx` and `sass` are for; say `--machine` and one of {}",
            all.join(", ")
        )));
    }
    let refused = |error: &dyn std::fmt::Display| Failure::unsupported(format!("{name}: {error}"));
    let own = surject_cpu::Cpu::named(machine).map(|cpu| cpu.arithmetic()).unwrap_or_default();
    let arithmetic = kernels.iter().map(|kernel| legal_for(kernel, own));
    let arithmetic: Vec<Kernel> = arithmetic.collect::<Result<_, _>>().map_err(|error| refused(&error))?;
    if shown == Shown::Cpu {
        let missing = || Failure::bad_input(format!("there is no CPU `{machine}`"));
        let cpu = surject_cpu::Cpu::named(machine).ok_or_else(missing)?;
        let module = surject_cpu::write::module(&cpu, &arithmetic).map_err(|error| refused(&error))?;
        return Ok(module.text());
    }
    let written: Result<Vec<_>, _> = arithmetic.iter().map(surject_gpu::write::write).collect();
    let module = surject_gpu::write::module(&written.map_err(|error| refused(&error))?);
    match shown {
        Shown::Gpu => Ok(module),
        _ => {
            let ptx = crate::cuda::ptx(&module, machine)
                .map_err(|failure| Failure { message: format!("{name}: {failure}"), ..failure })?;
            if shown == Shown::Ptx {
                return Ok(ptx);
            }
            surject_gpu::sass::sass(&ptx, machine).map_err(|error| refused(&error))
        }
    }
}

/// The schedules of a file, which must fit the kernels of a function and the machine that they are made for; none without a file.
pub(crate) fn schedules(
    path: Option<&Path>,
    function: &Function,
    machine: impl FnOnce() -> Result<Box<dyn Machine>, Failure>,
) -> Result<Schedules, Failure> {
    let Some(path) = path else { return Ok(Schedules::default()) };
    let machine = machine()?;
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|e| Failure::bad_input(format!("{name}: {e}")))?;
    let text = String::from_utf8_lossy(&bytes);
    let pointed = |error: ScheduleError| match error.span {
        Some(span) => Failure::bad_input(pointed(&name, &text, &span, &error.message)),
        None => Failure::bad_input(format!("{name}: {}", error.message)),
    };
    if let Err(error) = std::str::from_utf8(&bytes) {
        let (before, byte) = (&bytes[..error.valid_up_to()], bytes[error.valid_up_to()]);
        let line = before.rsplit(|&b| b == b'\n').next().unwrap_or_default();
        let column = 1 + String::from_utf8_lossy(line).chars().count();
        let line = 1 + before.iter().filter(|&&b| b == b'\n').count();
        let message = format!(
            "the byte `\u{fffd}` (0x{byte:02x}) is not UTF-8; schedules are text, as `--emit schedule` prints it"
        );
        return Err(pointed(ScheduleError {
            span: Some(Span { line, columns: column..column + 1 }),
            message,
        }));
    }
    let schedules: Schedules = text.parse().map_err(pointed)?;
    schedules.check_for(&*machine).map_err(pointed)?;
    let expressions = expressions(function).map_err(Failure::unsupported)?;
    let by_name: HashMap<&str, _> = expressions.iter().map(|(name, e)| (name.as_str(), e)).collect();
    schedules.check(|name| by_name.get(name).copied()).map_err(pointed)?;
    Ok(schedules)
}

/// A message about words of a text, with their line and a caret below the first of them.
fn pointed(name: &str, text: &str, Span { line: number, columns }: &Span, message: &str) -> String {
    let line = text.lines().nth(number - 1).unwrap_or("");
    // So that text on which there is no line to print stays short.
    let shown = |c: &char| *c == '\t' || !c.is_control();
    let column = line.chars().take(columns.start - 1).filter(shown).count();
    let line: String =
        line.chars().filter(shown).map(|c| if c == '\t' { ' ' } else { c }).take(160).collect();
    format!("{name}:{number}:{}: {message}\n  {line}\n  {}^", columns.start, " ".repeat(column))
}
