//! `surject refine`: a program with dynamic shapes made static.

use super::convert::{read, save, version, written};
use crate::Failure;
use std::io::Write;
use std::path::PathBuf;
use surject_stablehlo::artifact::Version;

/// Arguments of `surject refine`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The program: text, a portable artifact, or a file that `jax.export` saved.
    program: PathBuf,
    /// Types of the arguments of its entry function, for example `tensor<4x8xf32>, tensor<8xf32>`.
    #[arg(long, value_name = "TYPES")]
    args: String,
    /// Where to write the result: an artifact where the name ends in `.mlirbc` or `.bc`, else text; `-` for standard
    /// output.
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    output: PathBuf,
    /// The version of StableHLO for whose readers an artifact is written.
    #[arg(long, value_name = "V", value_parser = version)]
    target_version: Option<Version>,
}

/// Runs the subcommand.
pub fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let (module, name, bytes) = read(&arguments.program)?;
    if let Err(errors) = surject_stablehlo::verify(&module) {
        let messages: String = errors.iter().map(|d| d.render(&name, &bytes)).collect();
        return Err(Failure::bad_input(messages));
    }
    let types = surject_stablehlo::refine::parse_types(&arguments.args)
        .map_err(|d| Failure::diagnosed(&d, "--args", arguments.args.as_bytes()))?;
    let refined =
        surject_stablehlo::refine(&module, &types).map_err(|d| Failure::diagnosed(&d, &name, &bytes))?;
    let written = written(&refined, &arguments.output, arguments.target_version, false)
        .map_err(|d| Failure::diagnosed(&d, &name, &bytes))?;
    save(&written, &arguments.output, out)
}
