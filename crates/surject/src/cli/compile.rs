//! `surject compile`: writes a program as an archive that runs without a compiler.

use crate::archive::{self, Target};
use crate::pipeline::{OptimiseOptions, optimise};
use crate::progress::stage;
use crate::{Failure, Source};
use std::io::Write;
use std::path::PathBuf;
use surject_ir::bind::is_symbolic;
use surject_rules::Exactness;

/// Arguments of `surject compile`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The program: StableHLO text, a module of the Surject dialect, `.program`, or tensor source (`.sj`).
    program: PathBuf,
    /// The archive to write.
    #[arg(short, long, value_name = "OUT.sjx")]
    output: PathBuf,
    /// What it is for: `cuda:sm_80`, `cuda:sm_90`, `cuda:sm_90a` or `cuda:sm_100`; `cpu:host`, processors with all that this one has;
    /// `cpu:generic`, `cpu:avx2` or `cpu:avx512`, all processors with that (`avx2` is level 3 of x86-64, `avx512` level 4 and
    /// products of `bf16`).
    #[arg(long, value_name = "TARGET")]
    target: Target,
    /// Schedules for the kernels of a target `cuda`: what `surject opt --emit schedule` prints, edited.
    #[arg(long, value_name = "FILE")]
    schedule: Option<PathBuf>,
    /// Compile the program as it was imported, without rewriting.
    #[arg(long)]
    no_opt: bool,
    /// How far results may differ from those of the program as it stands: `exact`, `reassociates`, `rounds` or `overflows`.
    #[arg(long, value_name = "CLASS", default_value = "reassociates")]
    exactness: Exactness,
    /// Rewrite rules to use beside the laws.
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,
    /// The function to compile.
    #[arg(long, value_name = "NAME")]
    func: Option<String>,
}

/// Runs the subcommand.
pub fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    if arguments.schedule.is_some() && !matches!(arguments.target, Target::Cuda(_)) {
        return Err(Failure::bad_input(
            "an archive for a processor takes no schedules; --schedule needs `cuda:…`",
        ));
    }
    let source = Source::load(&arguments.program)?;
    let (program, _) = stage("reading", || source.program(None));
    let mut program = program?;
    let name = super::function_name(&program, arguments.func.as_deref(), &source.name)?;
    if program.function(&name).is_some_and(is_symbolic) {
        let message = format!(
            "{}: `{name}` has symbolic sizes, and an archive is for given ones\n  = help: `surject refine` makes a program \
             for given types",
            source.name
        );
        return Err(Failure::unsupported(message));
    }
    if !arguments.no_opt {
        let options = OptimiseOptions {
            rules: arguments.rules.clone(),
            exactness: arguments.exactness,
            ..OptimiseOptions::default()
        };
        let (optimised, _) = stage("optimising", || optimise(&program, &options));
        program = optimised?.program;
    }
    let given = match (program.function(&name), &arguments.target) {
        (Some(function), Target::Cuda(gpu)) => {
            super::schedules(arguments.schedule.as_deref(), function, || Ok(Box::new(gpu.clone())))?
        }
        _ => surject_codegen::kernels::schedule::Schedules::default(),
    };
    let (archive, _) = stage("compiling", || archive::compile(&program, &name, &arguments.target, &given));
    let bytes = archive?.to_bytes().map_err(Failure::unsupported)?;
    super::write(&arguments.output, &bytes)?;
    super::print(out, format_args!("{}: {} bytes\n", arguments.output.display(), bytes.len()))
}
