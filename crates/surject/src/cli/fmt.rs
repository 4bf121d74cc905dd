//! `surject fmt`: StableHLO text as JAX prints it.

use super::split::{is_separator, parts};
use crate::{Failure, Status};
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `surject fmt`.
///
/// A printed file has no comments, no locations and no aliases, and its values are numbered anew. A file with comments
/// (other than the lines `// -----` between modules) is written back only with `--discard-comments`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The files, which are written back.
    #[arg(required = true, value_name = "FILE.mlir")]
    files: Vec<PathBuf>,
    /// Write nothing; fail with status 1 where a file is not as it would be printed.
    #[arg(long)]
    check: bool,
    /// Print to standard output and leave the files as they are.
    #[arg(long, conflicts_with = "check")]
    stdout: bool,
    /// The generic form.
    #[arg(long)]
    generic: bool,
    /// Write back files with comments too, without the comments.
    #[arg(long)]
    discard_comments: bool,
}

/// Runs the subcommand.
pub fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let mut different = Vec::new();
    for path in &arguments.files {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|e| Failure::bad_input(format!("{name}: {e}")))?;
        if surject_stablehlo::artifact::is_artifact(&bytes) {
            return Err(Failure::bad_input(format!(
                "{name}: an artifact has no text to format\n  = help: `surject convert {name} OUT.mlir` writes its text"
            )));
        }
        let printed = printed(&name, &bytes, arguments.generic)?;
        if arguments.stdout {
            super::print(out, format_args!("{printed}"))?;
        } else if printed.as_bytes() != bytes {
            if arguments.check {
                different.push(name);
                continue;
            }
            if !arguments.discard_comments && has_comments(&bytes) {
                return Err(Failure::bad_input(format!(
                    "{name}: the file has comments, which would be lost\n  \
                     = help: `--stdout` prints it, `--discard-comments` writes it back without them"
                )));
            }
            std::fs::write(path, printed).map_err(|e| Failure::bad_input(format!("{name}: {e}")))?;
        }
    }
    match different.is_empty() {
        true => Ok(()),
        false => Err(Failure {
            status: Status::Difference,
            message: format!("not as printed: {}", different.join(", ")),
        }),
    }
}

/// A file as it is printed, module by module.
fn printed(name: &str, bytes: &[u8], generic: bool) -> Result<String, Failure> {
    let mut out = String::new();
    for (i, (start, part)) in parts(bytes).into_iter().enumerate() {
        if i > 0 {
            out.push_str("\n// -----\n\n");
        }
        if part.trim_ascii().is_empty() {
            continue;
        }
        let module = surject_stablehlo::parse(part).map_err(|mut error| {
            error.span.start += start;
            error.span.end += start;
            Failure::diagnosed(&error, name, bytes)
        })?;
        out.push_str(&match generic {
            true => surject_stablehlo::print_generic(&module),
            false => surject_stablehlo::print(&module),
        });
    }
    Ok(out)
}

/// Whether a line holds a comment other than the line between modules.
fn has_comments(bytes: &[u8]) -> bool {
    bytes.split(|b| *b == b'\n').any(|line| {
        let mut quoted = false;
        let comment = line.windows(2).any(|pair| {
            quoted ^= pair[0] == b'"';
            !quoted && pair == b"//"
        });
        comment && !is_separator(line)
    })
}
