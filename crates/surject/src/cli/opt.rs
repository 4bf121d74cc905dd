//! `surject opt`: optimises a program and writes it in any of its forms.

use super::kernels::{self, Scheduling, Shown};
use crate::pipeline::{OptimiseOptions, optimise};
use crate::progress::stage;
use crate::{Failure, Source};
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use surject_ir::Program;
use surject_mlir::Target;
use surject_mlir::jit::JitOptions;
use surject_rules::Exactness;

/// Arguments of `surject opt`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The program: StableHLO text, a module of the Surject dialect, or `.program`.
    program: PathBuf,
    /// Where to write the result; standard output when neither a file nor a report is asked for.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Rewrite rules to use beside the laws.
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,
    /// A law or rule to take away, by name.
    #[arg(long, value_name = "LAW")]
    without: Vec<String>,
    /// The form of the result.
    #[arg(long, value_enum, default_value = "stablehlo")]
    emit: Form,
    /// The machine of the forms `schedule`, `kernel`, `gpu` and `ptx`: `generic`, `avx2`, `avx512`, `sm_80` or `sm_90a`.
    #[arg(long, value_name = "NAME", default_value = "generic")]
    machine: String,
    /// Schedules for the forms `schedule`, `kernel`, `gpu` and `ptx`: what `--emit schedule` prints, edited.
    #[arg(long, value_name = "FILE")]
    schedule: Option<PathBuf>,
    /// Print why each stored class is equal to what it came from.
    #[arg(long)]
    explain: bool,
    /// Write the e-graph as a picture (needs Graphviz; a `.dot` file does not).
    #[arg(long, value_name = "OUT.svg")]
    egraph: Option<PathBuf>,
    /// Print assignments, buffers, bytes and operations before and after, and what each law did.
    #[arg(long)]
    stats: bool,
    /// How far results may differ from those of the program as it stands: `exact`, `reassociates`, `rounds` or `overflows`.
    #[arg(long, value_name = "CLASS", default_value = "reassociates")]
    exactness: Exactness,
    /// Leave the program as it was imported.
    #[arg(long)]
    no_opt: bool,
}

/// The forms a program can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Form {
    /// StableHLO text.
    Stablehlo,
    /// A StableHLO portable artifact.
    StablehloBytecode,
    /// The text form of assignments.
    Program,
    /// A module of the Surject dialect.
    Dialect,
    /// What the code generator decided, kernel by kernel.
    Plan,
    /// How the kernels of the kernel IR are scheduled for a machine (`--machine`), and which schedules lost.
    Schedule,
    /// The kernels of the kernel IR for a machine (`--machine`).
    Kernel,
    /// Upstream MLIR as the code generator emits it: `llvm.func` with scf, arith, math and vector operations.
    #[value(alias = "linalg")]
    Mlir,
    /// LLVM IR.
    Llvm,
    /// Assembly of this machine.
    Asm,
    /// The kernels of the kernel IR as MLIR for an NVIDIA GPU (`--machine sm_80` or `sm_90a`).
    Gpu,
    /// The same as PTX, by `mlir-opt`.
    Ptx,
}

/// Runs the subcommand.
pub fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let source = Source::load(&arguments.program)?;
    let (program, _) = stage("reading", || source.program(None));
    let mut program = program?;
    let mut report = None;
    if !arguments.no_opt {
        let options = OptimiseOptions {
            rules: arguments.rules.clone(),
            without: arguments.without.clone(),
            exactness: arguments.exactness,
            explain: arguments.explain,
            dot: arguments.egraph.is_some(),
        };
        let (optimised, _) = stage("optimising", || optimise(&program, &options));
        let optimised = optimised?;
        program = optimised.program;
        report = Some(optimised.report);
    }
    if let Some(report) = &report {
        if arguments.stats {
            super::print(out, format_args!("{report}"))?;
        }
        if arguments.explain {
            for text in report.blocks.iter().flat_map(|b| &b.explanations) {
                super::print(out, format_args!("{text}\n"))?;
            }
        }
        if let Some(path) = &arguments.egraph {
            let graphs: Vec<&str> = report.blocks.iter().filter_map(|b| b.dot.as_deref()).collect();
            write_picture(path, &graphs.join("\n"))?;
        }
    }
    let reported = arguments.stats || arguments.explain || arguments.egraph.is_some();
    if arguments.output.is_none() && reported {
        return Ok(());
    }
    let of_kernels = matches!(arguments.emit, Form::Schedule | Form::Kernel | Form::Gpu | Form::Ptx);
    if arguments.schedule.is_some() && !of_kernels {
        let message =
            "schedules are those of kernels; --schedule needs `--emit schedule`, `kernel`, `gpu` or `ptx`";
        return Err(Failure::bad_input(message));
    }
    let scheduling = Scheduling { machine: &arguments.machine, file: arguments.schedule.as_deref() };
    let text = emit(&program, arguments.emit, &scheduling, &source.name)?;
    match &arguments.output {
        Some(path) => {
            std::fs::write(path, text).map_err(|e| Failure::bad_input(format!("{}: {e}", path.display())))
        }
        None => super::print(out, format_args!("{text}")),
    }
}

/// The program in one of its forms.
pub(super) fn emit(
    program: &Program,
    form: Form,
    scheduling: &Scheduling<'_>,
    name: &str,
) -> Result<String, Failure> {
    let fail = |e: &dyn fmt::Display| Failure::unsupported(format!("{name}: {e}"));
    let lowered = || {
        let function = super::function_name(program, None, name)?;
        surject_codegen::lower(program, &function, &Target::host()).map_err(|e| fail(&e))
    };
    match form {
        Form::Stablehlo => surject_lift::export(program).map_err(|e| fail(&e)),
        Form::Program => Ok(surject_ir::print(program)),
        Form::Dialect => surject_mlir::dialect::print(program).map_err(|e| fail(&e)),
        Form::Plan => lowered().map(|l| l.plan.to_string()),
        Form::Mlir => lowered().map(|l| l.text),
        Form::Llvm => surject_mlir::jit::llvm_ir(&lowered()?.text).map_err(|e| fail(&e)),
        Form::Asm => {
            let options = JitOptions { dump: true, ..JitOptions::default() };
            let module = surject_mlir::jit::compile(&lowered()?.text, &options).map_err(|e| fail(&e))?;
            Ok(module.assembly.unwrap_or_default())
        }
        Form::Schedule | Form::Kernel | Form::Gpu | Form::Ptx => {
            let function = super::function_name(program, None, name)?;
            let function = program.function(&function).cloned().unwrap_or_default();
            let shown = match form {
                Form::Kernel => Shown::Kernels,
                Form::Gpu => Shown::Gpu,
                Form::Ptx => Shown::Ptx,
                _ => Shown::Schedules,
            };
            kernels::show(&function, scheduling, shown, name)
        }
        Form::StablehloBytecode => Err(Failure::unsupported(
            "this form is not available; stablehlo, program, dialect, plan, schedule, kernel, gpu, ptx, mlir, llvm and \
             asm are",
        )),
    }
}

/// Writes a graph: as DOT, or as SVG through Graphviz.
fn write_picture(path: &Path, dot: &str) -> Result<(), Failure> {
    let fail = |e: std::io::Error| Failure::bad_input(format!("{}: {e}", path.display()));
    if path.extension().is_some_and(|e| e == "dot") {
        return std::fs::write(path, dot).map_err(fail);
    }
    let missing = |e: std::io::Error| {
        Failure::unsupported(format!(
            "{}: a picture needs Graphviz (`apt-get install graphviz`), and `dot` could not be run: {e}\n  \
             = help: write the graph itself with `--egraph OUT.dot`",
            path.display()
        ))
    };
    let mut child = std::process::Command::new("dot")
        .args(["-Tsvg", "-o"])
        .arg(path)
        .stdin(std::process::Stdio::piped())
        .spawn()
        .map_err(missing)?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(dot.as_bytes()).map_err(fail)?;
    }
    match child.wait().map_err(fail)? {
        status if status.success() => Ok(()),
        status => Err(Failure::unsupported(format!("{}: `dot` ended with {status}", path.display()))),
    }
}
