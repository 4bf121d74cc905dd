//! The `surject` command.

use clap::Parser;
use std::process::ExitCode;
use surject::cli;

fn main() -> ExitCode {
    // clap ends with status 2 on bad usage, as every other bad input does.
    let arguments = cli::Arguments::parse();
    arguments.settle();
    match cli::execute(arguments, &mut std::io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.message.is_empty() {
                eprintln!("{failure}");
            }
            ExitCode::from(failure.status as u8)
        }
    }
}
