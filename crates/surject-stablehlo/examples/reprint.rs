//! Reads, checks and prints a file again: `reprint [--generic] FILE`. Exit status 2, with the message, if it is wrong.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let generic = arguments.iter().any(|a| a == "--generic");
    let Some(path) = arguments.iter().find(|a| !a.starts_with("--")) else {
        eprintln!("usage: reprint [--generic] FILE");
        return ExitCode::from(2);
    };
    let source = match std::fs::read(path) {
        Ok(source) => source,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::from(2);
        }
    };
    match surject_stablehlo::parse_and_verify(&source) {
        Ok(module) if generic => print!("{}", surject_stablehlo::print_generic(&module)),
        Ok(module) => print!("{}", surject_stablehlo::print(&module)),
        Err(error) => {
            eprint!("{}", error.render(path, &source));
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
