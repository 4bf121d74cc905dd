//! `surject grad`: the program of a derivative, in any of the forms of a program.

use super::kernels::Scheduling;
use super::opt::{Form, emit};
use crate::progress::stage;
use crate::{Failure, Source};
use std::io::Write;
use std::path::PathBuf;
use surject_adjoint::{AdjointError, Mode, Options, Ties};

/// Arguments of `surject grad`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The program: StableHLO text, a module of the Surject dialect, or `.program`.
    program: PathBuf,
    /// The parameters whose gradients are wanted, by position from 0; without it all floating and complex ones.
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    wrt: Option<Vec<usize>>,
    /// The floating scalar result that is differentiated, by position from 0; needed where there are several.
    #[arg(long, value_name = "N")]
    of: Option<usize>,
    /// Take cotangents of all floating and complex results as further parameters, instead of 1 at one result.
    #[arg(long, conflicts_with = "of")]
    vjp: bool,
    /// Who gets the gradient of an extremum that several elements equal; with `jax` also what `abs` has at 0.
    #[arg(long, value_enum, default_value = "split")]
    ties: TieRule,
    /// Yield the gradients alone, without the results of the program before them.
    #[arg(long)]
    no_results: bool,
    /// The function to differentiate.
    #[arg(long, value_name = "NAME")]
    func: Option<String>,
    /// Where to write the result; standard output without it.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// The form of the result.
    #[arg(long, value_enum, default_value = "stablehlo")]
    emit: Form,
}

/// The conventions for equal extrema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum TieRule {
    /// All of them, in equal parts (as JAX for reductions and `maximum`).
    Split,
    /// All of them, each the whole of it.
    All,
    /// The first one (as XLA for windows).
    First,
    /// What JAX gives: equal parts for reductions and `maximum`, the first one for windows, none for `clamp` at a bound
    /// and `relu` at 0, and 1 for `abs` at 0. `relu` is a `maximum` in a function `@relu`, as JAX exports it.
    Jax,
}

/// Runs the subcommand.
pub fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let source = Source::load(&arguments.program)?;
    let (program, _) = stage("reading", || source.program(arguments.func.as_deref()));
    let program = program?;
    let name = super::function_name(&program, arguments.func.as_deref(), &source.name)?;
    let options = Options {
        parameters: arguments.wrt.clone(),
        mode: if arguments.vjp { Mode::Vjp } else { Mode::Gradient(arguments.of) },
        ties: match arguments.ties {
            TieRule::Split => Ties::Split,
            TieRule::All => Ties::All,
            TieRule::First => Ties::First,
            TieRule::Jax => Ties::Jax,
        },
        primals: !arguments.no_results,
        ..Options::default()
    };
    let (derived, _) = stage("differentiating", || surject_adjoint::gradient(&program, &name, &options));
    let derived = derived.map_err(|e| failure(&source.name, &e))?;
    let text = emit(&derived, arguments.emit, &Scheduling::default(), &source.name)?;
    super::write_or_print(arguments.output.as_deref(), &text, out)
}

/// A refusal with the file, and what can be done where that is a choice of options.
fn failure(file: &str, error: &AdjointError) -> Failure {
    // A place in the source names the file already.
    let message = match error.origin() {
        Some(_) => error.to_string(),
        None => format!("{file}: {error}"),
    };
    let help = match error {
        AdjointError::Selection { .. } => {
            "\n  = help: `--of N` chooses a result, `--wrt N,..` parameters; `--vjp` takes cotangents of all results"
        }
        _ => "",
    };
    let message = format!("{message}{help}");
    if error.exit_status() == 3 { Failure::unsupported(message) } else { Failure::bad_input(message) }
}
