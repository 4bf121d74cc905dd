//! `surject solve`: solves a bare constraint problem over shapes.

use crate::{Failure, Status};
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `surject solve`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The constraint problem.
    #[arg(value_name = "FILE.con")]
    file: PathBuf,
    /// Print the solution as JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand: the principal solution before closing, and the closed one.
pub fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let name = arguments.file.display().to_string();
    let text =
        std::fs::read_to_string(&arguments.file).map_err(|e| Failure::bad_input(format!("{name}: {e}")))?;
    let solution = surject_shape::solve_text(&name, &text).map_err(Failure::bad_input)?;
    if arguments.json {
        super::print(out, format_args!("{}\n", solution.to_json()))?;
    } else if solution.is_solved() {
        super::print(out, format_args!("{solution}"))?;
    }
    match &solution.outcome {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure { status: Status::Shape, message: error.to_string() }),
    }
}
