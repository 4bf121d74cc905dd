//! The project's own commands: `cargo xtask {setup,demo,test,bench,peers,compare,xla,fuzz,gpu,programs}`. They install what
//! is missing, so that a fresh Debian machine needs nothing but cargo and root (or sudo) for the packages.

mod compare;
mod demo;
mod gpu;
mod setup;
mod shell;
mod test;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Set-up, demo, tests and benches of Surject.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Installs MLIR 22 and what else the build needs.
    Setup,
    /// Builds Surject, infers and runs a program without shapes, and takes a transformer block from JAX through every
    /// stage.
    Demo,
    /// Formatting, lints, every test, documentation, and the cross-check against XLA.
    Test {
        /// Leave the cross-check against XLA out (it installs JAX into `.venv`).
        #[arg(long)]
        no_xla: bool,
    },
    /// The criterion benches, then the side-by-side run against XLA.
    Bench {
        /// Only the side-by-side run.
        #[arg(long)]
        xla_only: bool,
        /// Workloads to run side by side; all when none is named.
        workloads: Vec<String>,
    },
    /// Installs the peers of `surject bench`, XLA and IREE, into `.venv`.
    Peers {
        /// PyTorch too, which takes 5 GB: what PyPI has for Linux is built for CUDA.
        #[arg(long)]
        torch: bool,
    },
    /// Times the suite against XLA and IREE, and writes `papers/xla-comparison` again.
    Compare(compare::Arguments),
    /// Exports every public program, lets XLA run it, and compares.
    Xla,
    /// Runs random JAX programs on XLA, the interpreter and the CPU, and compares.
    Fuzz {
        /// Which programs: FROM..TO.
        seeds: String,
    },
    /// The bundle for a machine with an NVIDIA GPU, and the page of its figures.
    #[command(subcommand)]
    Gpu(gpu::Task),
    /// Makes the example programs of `tests/programs` again, with JAX.
    Programs,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Setup => setup::packages().and_then(|()| setup::assembler()),
        Task::Demo => demo::run(),
        Task::Test { no_xla } => test::everything(!no_xla),
        Task::Bench { xla_only, workloads } => test::bench(!xla_only, &workloads),
        Task::Peers { torch } => {
            setup::peers().and_then(|python| if torch { setup::torch(&python) } else { Ok(()) })
        }
        Task::Compare(arguments) => compare::run(&arguments),
        Task::Xla => test::xla(),
        Task::Fuzz { seeds } => test::fuzz(&seeds),
        Task::Gpu(task) => gpu::run(&task),
        Task::Programs => test::programs(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
