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
    /// What runs the functions.
    #[arg(long, value_enum, default_value = "interp")]
    backend: Backend,
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
    if arguments.backend == Backend::Spec {
        if arguments.opt {
            return Err(Failure::bad_input(
                "the back end `spec` runs programs as they stand, without `--opt`",
            ));
        }
        return super::spec::check(&arguments.files, out);
    }
    let (mut passed, mut failed, mut unsupported) = (0, 0, 0);
    for path in &arguments.files {
        let source = Source::load(path)?;
        let Some(module) = source.stablehlo()? else {
            return Err(Failure::bad_input(format!(
                "{}: only StableHLO text has check operations",
                source.name
            )));
        };
        let functions =
            import_checks(&module, &source.import_options()).map_err(|e| source.lift_failure(&e))?;
        for (name, function) in functions {
            let outcome = function.map_err(|e| source.lift_failure(&e)).and_then(|f| run(&f, arguments));
            let line = match outcome {
                Ok(None) => {
                    passed += 1;
                    "passed".to_string()
                }
                Ok(Some(problem)) => {
                    failed += 1;
                    format!("FAILED: {problem}")
                }
                Err(failure) if failure.status == Status::Unsupported => {
                    unsupported += 1;
                    format!("unsupported: {}", first_line(&failure))
                }
                Err(failure) => {
                    failed += 1;
                    format!("FAILED: {}", first_line(&failure))
                }
            };
            super::print(out, format_args!("{}: @{name}: {line}\n", source.name))?;
        }
    }
    super::print(out, format_args!("{passed} passed, {failed} failed, {unsupported} unsupported\n"))?;
    match failed {
        0 => Ok(()),
        _ => Err(Failure::difference("")),
    }
}

/// What failed, without the source line: a function takes one line of the report.
fn first_line(failure: &Failure) -> &str {
    failure.message.lines().next().unwrap_or_default()
}

/// The first check that does not hold.
fn run(function: &CheckedFunction, arguments: &Arguments) -> Result<Option<String>, Failure> {
    let mut program = function.program.clone();
    if arguments.opt {
        let options = OptimiseOptions { exactness: arguments.exactness, ..OptimiseOptions::default() };
        program = optimise(&program, &options)?.program;
    }
    let name = super::function_name(&program, None, "")?;
    let times = &mut StageTimes::default();
    let mut runner = match arguments.backend {
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
