//! The `surject` command: one module per subcommand.

mod bind;
mod check;
mod compile;
mod convert;
mod doctor;
mod fmt;
mod grad;
mod kernels;
mod opt;
mod refine;
mod rules;
mod run;
mod solve;
mod spec;
mod split;
mod tensor;
mod verify;

pub(crate) use kernels::schedules;

use crate::Failure;
use clap::{Parser, Subcommand};
use std::fmt::Arguments as Text;
use std::io::Write;
use std::path::Path;
use surject_ir::Program;

/// A tensor compiler for research: StableHLO in, assignments and rewrite rules inside, native code out.
#[derive(Debug, Parser)]
#[command(name = "surject", version, about, disable_help_subcommand = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs a program and compares or shows its results.
    Run(run::Arguments),
    /// Compiles a program into an archive that `surject-run` runs without a compiler.
    Compile(compile::Arguments),
    /// Optimises a program and writes it in any of its forms.
    Opt(opt::Arguments),
    /// Differentiates a program and writes the gradient in any of its forms.
    ///
    /// StableHLO does not say everything that JAX knows of derivatives. `stop_gradient` leaves no trace: derivatives flow
    /// through what it held back. Make that an argument of the program, and leave it out of `--wrt`. `custom_jvp` and
    /// `custom_vjp` leave the formula alone, which is differentiated; `relu` and `relu6` are known by the name of their
    /// function (with `--ties jax`), `sigmoid`, `softplus` and `logaddexp` by the formula.
    Grad(grad::Arguments),
    /// Runs every function of files with check.expect_* operations.
    Check(check::Arguments),
    /// Reads and verifies files of StableHLO, text or artifacts; all mistakes of a file.
    Verify(verify::Arguments),
    /// Converts StableHLO between text, the generic form of text, and portable artifacts.
    Convert(convert::Arguments),
    /// Prints StableHLO text as JAX does, in place.
    Fmt(fmt::Arguments),
    /// Makes a StableHLO program with dynamic shapes static for given argument types.
    Refine(refine::Arguments),
    /// Lists, checks or explains a file of rewrite rules.
    Rules(rules::Arguments),
    /// Shows the shapes, constraints, loops and assignments of a tensor program.
    Infer(crate::infer::Arguments),
    /// Solves a bare constraint problem over shapes.
    Solve(solve::Arguments),
    /// Times programs, alone or against a peer.
    Bench(crate::bench::Arguments),
    /// Says what is installed, what is missing, and how to get it.
    Doctor(doctor::Arguments),
}

impl Arguments {
    /// What a command needs of its process before it starts; this may start the process again with the same words.
    pub fn settle(&self) {
        if let Command::Bench(a) = &self.command {
            a.settle();
        }
    }
}

/// Runs the command line; what it says goes to `out`.
pub fn execute(arguments: Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    match arguments.command {
        Command::Run(a) => run::execute(&a, out),
        Command::Compile(a) => compile::execute(&a, out),
        Command::Opt(a) => opt::execute(&a, out),
        Command::Grad(a) => grad::execute(&a, out),
        Command::Check(a) => check::execute(&a, out),
        Command::Verify(a) => verify::execute(&a, out),
        Command::Convert(a) => convert::execute(&a, out),
        Command::Fmt(a) => fmt::execute(&a, out),
        Command::Refine(a) => refine::execute(&a, out),
        Command::Rules(a) => rules::execute(&a, out),
        Command::Infer(a) => crate::infer::execute(&a, out),
        Command::Solve(a) => solve::execute(&a, out),
        Command::Bench(a) => crate::bench::execute(&a, out),
        Command::Doctor(a) => doctor::execute(&a, out),
    }
}

/// Writes to the output of the command.
pub(crate) fn print(out: &mut dyn Write, text: Text<'_>) -> Result<(), Failure> {
    match out.write_fmt(text) {
        // A reader that has seen enough (`| head`) is no failure.
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|e| Failure::bad_input(format!("the output cannot be written: {e}"))),
    }
}

/// Writes a file.
fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|e| Failure::bad_input(format!("{}: {e}", path.display())))
}

/// Writes text to a file, or to the output of the command where none is named.
fn write_or_print(path: Option<&Path>, text: &str, out: &mut dyn Write) -> Result<(), Failure> {
    match path {
        Some(path) => write(path, text),
        None => print(out, format_args!("{text}")),
    }
}

/// The function a command works on: the one named, else the program's main function.
fn function_name(program: &Program, wanted: Option<&str>, file: &str) -> Result<String, Failure> {
    let found = match wanted {
        Some(name) => program.function(name),
        None => program.main(),
    };
    found.map(|f| f.name.clone()).ok_or_else(|| {
        let known: Vec<&str> = program.functions.iter().map(|f| f.name.as_str()).collect();
        Failure::bad_input(match wanted {
            Some(name) => format!("{file}: there is no function `{name}` (there is {})", known.join(", ")),
            None => format!("{file}: the program has no function"),
        })
    })
}
