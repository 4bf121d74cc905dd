//! `surject check`: runs every function of a file that checks itself with `check.expect_*` operations.

use crate::pipeline::{Backend, OptimiseOptions, Runner, StageTimes, optimise};
use crate::{Failure, Source, Status};
use std::io::Write;
use std::path::PathBuf;
use surject_codegen::kernels::schedule::Schedules;
use surject_cuda::DeviceName;
use surject_lift::{CheckOutcome, CheckedFunction, import_checks};
use surject_rules::Exactness;

/// Arguments of `surject check`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The files.
    #[arg(required = true, value_name = "FILE.mlir")]
    files: Vec<PathBuf>,
    /// What runs the functions: `spec`, which runs every operation of the dialects, unless they are to be rewritten first.
    #[arg(long, value_enum)]
    backend: Option<Backend>,
    /// The GPU of the back end `cuda`: its number, or `simulated`, an interpreter of PTX.
    #[arg(long, value_name = "N|simulated", default_value_t)]
    device: DeviceName,
    /// Rewrite the programs first. Without it they run as they were imported: a check is about semantics, and the
    /// laws may sum in another order.
    #[arg(long)]
    opt: bool,
    /// How far results may differ from those of the program as it stands: `exact`, `reassociates`, `rounds` or `overflows`.
    #[arg(long, requires = "opt", value_name = "CLASS", default_value = "reassociates")]
    exactness: Exactness,
}

/// Runs the subcommand: one line a function, and a closing line with the counts.
pub fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let backend = arguments.backend.unwrap_or(if arguments.opt { Backend::Interp } else { Backend::Spec });
    if backend == Backend::Spec && arguments.opt {
        return Err(Failure::bad_input("the back end `spec` runs programs as they stand, without `--opt`"));
    }
    if backend == Backend::Cuda {
        // Without the device no function runs, and that is no outcome of any.
        arguments.device.open().map_err(Failure::unsupported)?;
    }
    let (mut counts, mut unread) = ([0; 3], Vec::new());
    for path in &arguments.files {
        for source in super::split::sources(&Source::load(path)?)? {
            // A module that cannot be read does not keep the others of the file from running.
            let checked = match outcomes(&source, backend, arguments) {
                Ok(checked) => checked,
                Err(failure) => {
                    unread.push(failure);
                    continue;
                }
            };
            for (name, outcome) in checked {
                let (kind, line) = match &outcome {
                    Outcome::Passed => (0, String::from("passed")),
                    Outcome::Failed(problem) => (1, format!("FAILED: {problem}")),
                    Outcome::Unsupported(what) => (2, format!("unsupported: {what}")),
                };
                counts[kind] += 1;
                super::print(out, format_args!("{}: @{name}: {line}\n", source.name))?;
            }
        }
    }
    let [passed, failed, unsupported] = counts;
    super::print(out, format_args!("{passed} passed, {failed} failed, {unsupported} unsupported\n"))?;
    match unread.len() {
        0 if counts == [0; 3] => Err(Failure::bad_input(
            "nothing is checked: no function has an operation `check.expect_…`\n  = help: `surject run PROGRAM --expect FILE.npy` compares \
             results with those of a file",
        )),
        0 if failed == 0 => Ok(()),
        0 => Err(Failure::difference("")),
        1 => Err(unread.remove(0)),
        _ => Err(Failure::bad_input(unread.into_iter().map(|f| f.message).collect::<Vec<_>>().join("\n"))),
    }
}

/// What came of a function that checks itself.
enum Outcome {
    Passed,
    Failed(String),
    Unsupported(String),
}

/// The functions of a module that check themselves, and what came of each.
fn outcomes(
    source: &Source,
    backend: Backend,
    arguments: &Arguments,
) -> Result<Vec<(String, Outcome)>, Failure> {
    let Some(module) = source.stablehlo()? else {
        return Err(Failure::bad_input(format!("{}: only StableHLO text has check operations", source.name)));
    };
    // A function takes one line of the report, without the line of the source.
    let refused = |failure: Failure| {
        let first = failure.message.lines().next().unwrap_or_default().to_string();
        match failure.status {
            Status::Unsupported => Outcome::Unsupported(first),
            _ => Outcome::Failed(first),
        }
    };
    if backend == Backend::Spec {
        let functions = super::spec::checks(source, &module).into_iter();
        return Ok(functions
            .map(|(name, result)| (name, result.map_or_else(refused, |()| Outcome::Passed)))
            .collect());
    }
    let functions = import_checks(&module, &source.import_options()).map_err(|e| source.lift_failure(&e))?;
    let outcome = |function: &CheckedFunction| match run(function, backend, arguments) {
        Ok(None) => Outcome::Passed,
        Ok(Some(problem)) => Outcome::Failed(problem),
        Err(failure) => refused(failure),
    };
    Ok(functions
        .into_iter()
        .map(|(name, function)| match function {
            Ok(function) => (name, outcome(&function)),
            Err(error) => (name, refused(source.lift_failure(&error))),
        })
        .collect())
}

/// The first check that does not hold.
fn run(
    function: &CheckedFunction,
    backend: Backend,
    arguments: &Arguments,
) -> Result<Option<String>, Failure> {
    let mut program = function.program.clone();
    if arguments.opt {
        let options = OptimiseOptions { exactness: arguments.exactness, ..OptimiseOptions::default() };
        program = optimise(&program, &options)?.program;
    }
    let name = super::function_name(&program, None, "")?;
    let times = &mut StageTimes::default();
    let mut runner = match backend {
        Backend::Cuda => Runner::cuda(&program, &name, arguments.device, None, &Schedules::default(), times)?,
        backend => Runner::new(program, &name, backend, times)?,
    };
    let results = runner.run(&[])?;
    for check in &function.checks {
        if let CheckOutcome::Failed { reason } = check.evaluate(&results) {
            return Ok(Some(reason));
        }
    }
    Ok(None)
}
