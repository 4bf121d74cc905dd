//! Verifies files of modules separated by `// -----` lines: `ok` or the first message for each.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut failed = false;
    for path in std::env::args().skip(1) {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("{path}: {error}");
                return ExitCode::FAILURE;
            }
        };
        for (i, piece) in text.split("// -----").enumerate() {
            match surject_stablehlo::parse_and_verify(piece) {
                Ok(_) => println!("{path}: {i}: ok"),
                Err(error) => {
                    failed = true;
                    let line = error.to_string();
                    println!("{path}: {i}: {}", line.lines().next().unwrap_or_default());
                }
            }
        }
    }
    ExitCode::from(if failed { 2 } else { 0 })
}
