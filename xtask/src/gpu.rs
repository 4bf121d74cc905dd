//! The bundle for a machine with an NVIDIA GPU, and the page that its figures become.

mod bundle;
mod report;

use crate::shell::Outcome;
use clap::Subcommand;
use std::path::PathBuf;

/// What is made for, or of, a machine with a GPU.
#[derive(Subcommand)]
pub enum Task {
    /// Packs the compiler, the runner, the suite and all cases into one archive, in which `gpu.sh` does everything.
    Bundle(bundle::Arguments),
    /// Writes `papers/gpu` from the JSON that `gpu.sh` wrote.
    Report {
        /// The JSON.
        file: PathBuf,
        /// The folder of the page, instead of `papers/gpu`.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// Runs one.
pub fn run(task: &Task) -> Outcome {
    match task {
        Task::Bundle(arguments) => bundle::run(arguments),
        Task::Report { file, out } => report::run(file, out.as_deref()),
    }
}
