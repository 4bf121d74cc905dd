//! `surject convert`: StableHLO between text, the generic form of text, and portable artifacts.

use crate::Failure;
use std::io::Write;
use std::path::{Path, PathBuf};
use surject_stablehlo::Module;
use surject_stablehlo::artifact::{self, Version};

/// Arguments of `surject convert`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// What is read: text in either form, a portable artifact, or a file that `jax.export` saved.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// What is written: an artifact where the name ends in `.mlirbc` or `.bc`, else text; `-` for standard output.
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// The version of StableHLO for whose readers an artifact is written, for example `1.0.0`; without it, 1.0.0 or the
    /// first later one that has what the program uses.
    #[arg(long, value_name = "V", value_parser = version)]
    target_version: Option<Version>,
    /// Text in the generic form, which MLIR reads without knowing the dialects.
    #[arg(long)]
    generic: bool,
}

/// A version on the command line.
pub(super) fn version(text: &str) -> Result<Version, String> {
    text.parse().map_err(|e: surject_stablehlo::Diagnostic| {
        format!("{} ({})", e.message, e.expected.unwrap_or_default())
    })
}

/// Runs the subcommand.
pub fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let (module, name, bytes) = read(&arguments.input)?;
    let written = written(&module, &arguments.output, arguments.target_version, arguments.generic)
        .map_err(|d| Failure::diagnosed(&d, &name, &bytes))?;
    save(&written, &arguments.output, out)
}

/// The module of a file, the name of the file, its bytes. The module is read, not verified.
pub(super) fn read(path: &Path) -> Result<(Module, String, Vec<u8>), Failure> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|e| Failure::bad_input(format!("{name}: {e}")))?;
    let module = surject_stablehlo::parse(&bytes).map_err(|d| Failure::diagnosed(&d, &name, &bytes))?;
    Ok((module, name, bytes))
}

/// Whether a name is that of an artifact.
pub(super) fn names_artifact(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "mlirbc" || e == "bc")
}

/// The module in the form that the name of the output asks for.
pub(super) fn written(
    module: &Module,
    output: &Path,
    version: Option<Version>,
    generic: bool,
) -> Result<Vec<u8>, surject_stablehlo::Diagnostic> {
    if names_artifact(output) || (version.is_some() && !generic) {
        return artifact::write(module, version);
    }
    let text = match generic {
        true => surject_stablehlo::print_generic(module),
        false => surject_stablehlo::print(module),
    };
    Ok(text.into_bytes())
}

/// Writes to a file, or to the output of the command for `-`.
pub(super) fn save(bytes: &[u8], output: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    if output.as_os_str() == "-" {
        return match out.write_all(bytes) {
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            result => result.map_err(|e| Failure::bad_input(format!("the output cannot be written: {e}"))),
        };
    }
    super::write(output, bytes)
}
