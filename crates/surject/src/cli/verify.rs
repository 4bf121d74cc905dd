//! `surject verify`: all mistakes of files of StableHLO.

use super::split::{is_blank, parts};
use crate::Failure;
use std::io::Write;
use std::path::PathBuf;
use surject_stablehlo::Diagnostic;

/// Arguments of `surject verify`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The files.
    #[arg(required = true, value_name = "FILE.mlir")]
    files: Vec<PathBuf>,
    /// What holds anyway: a file may hold several modules, separated by lines `// -----`; each is verified on its own.
    #[arg(long = "split-input-file", visible_alias = "split-input", hide = true)]
    split: bool,
}

/// Runs the subcommand: one line for each file without mistakes; the mistakes of the others are the failure, and what programs of
/// this kind never hold is one of them.
pub fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let mut messages = Vec::new();
    for path in &arguments.files {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|e| Failure::bad_input(format!("{name}: {e}")))?;
        // An artifact may hold such a line in a string.
        let whole = surject_stablehlo::artifact::is_artifact(&bytes);
        let parts = if whole { vec![(0, bytes.as_slice())] } else { parts(&bytes) };
        let mut mistakes = Vec::new();
        for (start, part) in &parts {
            mistakes.extend(mistakes_of(part).into_iter().map(|d| shifted(d, *start)));
        }
        if mistakes.is_empty() {
            super::print(out, format_args!("{name}: valid\n"))?;
        }
        messages.extend(mistakes.iter().map(|d| d.render(&name, &bytes)));
    }
    match messages.len() {
        0 => Ok(()),
        1 => Err(Failure::bad_input(messages.concat())),
        count => Err(Failure::bad_input(format!("{}{count} mistakes", messages.concat()))),
    }
}

/// The mistakes of one module. A part that holds nothing but comments is an empty module.
fn mistakes_of(part: &[u8]) -> Vec<Diagnostic> {
    if is_blank(part) { Vec::new() } else { surject_stablehlo::check(part) }
}

/// The mistake at its place in the whole file.
fn shifted(mut mistake: Diagnostic, by: usize) -> Diagnostic {
    mistake.span.start += by;
    mistake.span.end += by;
    mistake
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "// first\nfunc.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {\n  return %a : tensor<2xf32>\n}\n// -----\n\
        func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = stablehlo.abs %a : (tensor<2xf32>) -> tensor<3xf32>\n  \
        %1 = stablehlo.add %a, %b : tensor<2xf32>\n  return %a : tensor<2xf32>\n}\n// -----\n// nothing\n";

    #[test]
    fn parts_are_verified_on_their_own_and_keep_their_lines() {
        let parts = parts(TWO.as_bytes());
        assert_eq!(parts.len(), 3);
        let mistakes: Vec<Diagnostic> = parts
            .iter()
            .flat_map(|(at, part)| mistakes_of(part).into_iter().map(|d| shifted(d, *at)))
            .collect();
        let lines: Vec<usize> = mistakes.iter().map(|d| d.span.line_col(TWO).0).collect();
        assert_eq!(lines, [7, 8]);
        assert!(mistakes[1].message.contains("'%b'"));
    }

    #[test]
    fn files_are_valid_or_fail_with_status_2() {
        let folder = std::env::temp_dir().join(format!("surject-verify-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (good, bad) = (folder.join("good.mlir"), folder.join("bad.mlir"));
        std::fs::write(&good, "module {\n}\n").unwrap();
        std::fs::write(&bad, TWO).unwrap();
        let mut out = Vec::new();
        execute(&Arguments { files: vec![good.clone()], split: false }, &mut out).unwrap();
        assert!(String::from_utf8(out).unwrap().ends_with("good.mlir: valid\n"));
        let failure =
            execute(&Arguments { files: vec![good, bad], split: false }, &mut Vec::new()).unwrap_err();
        assert_eq!(failure.status, crate::Status::BadInput);
        assert!(
            failure.message.contains("bad.mlir:8:") && failure.message.ends_with("2 mistakes"),
            "{}",
            failure.message
        );
        std::fs::remove_dir_all(folder).unwrap();
    }
}
