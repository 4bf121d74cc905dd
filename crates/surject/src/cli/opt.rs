//! `surject opt`: optimises a program and writes it in any of its forms.

use super::kernels::{self, Scheduling, Shown};
use crate::pipeline::{OptimiseOptions, native, optimise, scheduled, through_dialect};
use crate::progress::stage;
use crate::{Failure, Source, SourceKind};
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use surject_codegen::Which;
use surject_codegen::kernels::machine::Machine;
use surject_ir::Program;
use surject_mlir::Target;
use surject_mlir::jit::JitOptions;
use surject_mlir::pipelines::Pipeline;
use surject_rules::Exactness;

/// Arguments of `surject opt`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The program: StableHLO text, a module of the Surject dialect, or `.program`; or what a later stage printed: kernels
    /// (`.kernel`), explicit MLIR.
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
    /// The form of the result; `stablehlo` without it.
    #[arg(long, value_enum, conflicts_with = "stop_after")]
    emit: Option<Form>,
    /// Stop after a stage and write what it makes, which `surject opt` reads again.
    #[arg(long, value_enum, value_name = "STAGE")]
    stop_after: Option<Stage>,
    /// Passes of MLIR to run on the module of the dialect before the e-graph, such as `canonicalize,cse`.
    #[arg(long, value_name = "PASSES")]
    mlir_passes: Option<String>,
    /// The machine of the forms `schedule`, `kernel`, `gpu`, `ptx` and `sass`: `generic` (without it), `host` (a CPU that is like this
    /// processor), `avx2`, `avx512`, `amx`, `sm_80`, `sm_90`, `sm_90a` or `sm_100`.
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    /// Schedules for the forms `schedule`, `kernel`, `gpu`, `ptx` and `sass`: what `--emit schedule` prints, edited. In the
    /// forms `plan`, `mlir`, `llvm-dialect`, `llvm` and `asm` the kernels that have one are those of the kernel IR.
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
    /// What the code generator decided, kernel by kernel; for a GPU (`--machine`) the steps and the memory of a run.
    Plan,
    /// The plan of this processor, the form of each kernel, and why it has none of those that are tried before.
    Forms,
    /// How the kernels of the kernel IR are scheduled for a machine (`--machine`), and which schedules lost.
    Schedule,
    /// The kernels of the kernel IR for a machine (`--machine`).
    Kernel,
    /// Upstream MLIR as the code generator emits it: `llvm.func` with scf, arith, math and vector operations.
    #[value(alias = "linalg")]
    Mlir,
    /// The same after the passes to the `llvm` dialect.
    LlvmDialect,
    /// LLVM IR.
    Llvm,
    /// Assembly of this machine.
    Asm,
    /// The kernels of the kernel IR as MLIR for a CPU (`--machine generic`, `host`, `avx2`, `avx512` or `amx`).
    Cpu,
    /// The kernels of the kernel IR as MLIR for an NVIDIA GPU (`--machine sm_80` or `sm_90a`).
    Gpu,
    /// The same as PTX, by `mlir-opt`.
    Ptx,
    /// The instructions of the GPU, by NVIDIA's `ptxas` and `nvdisasm`.
    Sass,
}

/// The stages of a compilation, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Stage {
    /// The module of the Surject dialect, after `--mlir-passes` and before the e-graph.
    Dialect,
    /// The module of the Surject dialect that the e-graph gives.
    Egraph,
    /// The schedules of the kernels, for `--machine`.
    Schedule,
    /// The kernels of the kernel IR, for `--machine`.
    Kernel,
    /// Explicit MLIR for this processor.
    Mlir,
}

impl Stage {
    fn form(self) -> Form {
        match self {
            Stage::Dialect | Stage::Egraph => Form::Dialect,
            Stage::Schedule => Form::Schedule,
            Stage::Kernel => Form::Kernel,
            Stage::Mlir => Form::Mlir,
        }
    }
}

/// Runs the subcommand.
pub fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let source = Source::load(&arguments.program)?;
    let asked = arguments.stop_after.map(Stage::form).or(arguments.emit);
    let (form, output) = (asked.unwrap_or(Form::Stablehlo), arguments.output.as_deref());
    check_scheduling(arguments, form)?;
    if matches!(source.kind, SourceKind::Kernels | SourceKind::ExplicitMlir) {
        return super::write_or_print(output, &later_stage(&source, asked, arguments)?, out);
    }
    let _context = surject_mlir::dialect::prepare();
    // Machines of one device have no use for shardings.
    let written = matches!(form, Form::Stablehlo | Form::StablehloBytecode | Form::Program | Form::Dialect);
    let (program, _) = stage("reading", || match written {
        true => source.sharded_program(None),
        false => source.program(None),
    });
    let mut program = program?;
    let mut report = None;
    if arguments.no_opt || arguments.stop_after == Some(Stage::Dialect) {
        program = through_dialect(&program, arguments.mlir_passes.as_deref())?.into_owned();
    } else {
        let options = OptimiseOptions {
            rules: arguments.rules.clone(),
            without: arguments.without.clone(),
            exactness: arguments.exactness,
            explain: arguments.explain,
            dot: arguments.egraph.is_some(),
            mlir_passes: arguments.mlir_passes.clone(),
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
    let scheduling = Scheduling { named: arguments.machine.as_deref(), file: arguments.schedule.as_deref() };
    if form == Form::StablehloBytecode {
        return write_artifact(arguments, &program, &source.name);
    }
    super::write_or_print(output, &emit(&program, form, &scheduling, &source.name)?, out)
}

/// Writes the program as a portable artifact of StableHLO.
fn write_artifact(arguments: &Arguments, program: &Program, name: &str) -> Result<(), Failure> {
    let output = arguments.output.as_deref().ok_or_else(|| {
        Failure::bad_input("an artifact is no text\n  = help: name its file with `--output OUT.mlirbc`")
    })?;
    let text = emit(program, Form::Stablehlo, &Scheduling::default(), name)?;
    let artifact = surject_stablehlo::parse(&text)
        .and_then(|module| surject_stablehlo::artifact::write(&module, None))
        .map_err(|d| Failure::unsupported(d.render(name, &text)))?;
    super::write(output, artifact)
}

/// Refuses what only forms of kernels make use of.
fn check_scheduling(arguments: &Arguments, form: Form) -> Result<(), Failure> {
    let (other, needed) = match form {
        // A plan is that of this processor, or with a machine that of a GPU.
        Form::Schedule | Form::Kernel | Form::Cpu | Form::Gpu | Form::Ptx | Form::Sass | Form::Plan => {
            return Ok(());
        }
        Form::Forms if arguments.schedule.is_some() => return Ok(()),
        Form::Forms => ("forms of kernels are those of this processor", "`--emit schedule`"),
        // Compiled code takes the kernels that have schedules.
        Form::Mlir | Form::LlvmDialect | Form::Llvm | Form::Asm if arguments.schedule.is_some() => {
            return Ok(());
        }
        Form::Mlir | Form::LlvmDialect | Form::Llvm | Form::Asm => {
            ("compiled code is that of this processor", "`--schedule`, or another form")
        }
        Form::Stablehlo | Form::StablehloBytecode | Form::Program | Form::Dialect => {
            ("a program is that of no machine", "`--emit schedule` or a later form")
        }
    };
    kernels::refuse_scheduling(&arguments.machine, &arguments.schedule, other, needed)
}

/// Takes what a stage behind the program printed to a later form; without one it is checked and printed again.
fn later_stage(source: &Source, form: Option<Form>, arguments: &Arguments) -> Result<String, Failure> {
    let (name, text) = (&source.name, source.text()?);
    let over = |option: &str| {
        let message = format!("{name}: {option} is for a stage that comes before this file's");
        Err(Failure::bad_input(message))
    };
    if arguments.mlir_passes.is_some() {
        return over("--mlir-passes");
    }
    if arguments.schedule.is_some() {
        return over("--schedule");
    }
    let bad = |e: &dyn fmt::Display| Failure::bad_input(format!("{name}: {e}"));
    let refused = |what: &str, forms: &str| {
        Err(Failure::unsupported(format!("{name}: this is {what}; from here, --emit gives {forms}")))
    };
    if source.kind == SourceKind::Kernels {
        let shown = match form {
            None | Some(Form::Kernel) => Shown::Kernels,
            Some(Form::Cpu) => Shown::Cpu,
            Some(Form::Gpu) => Shown::Gpu,
            Some(Form::Ptx) => Shown::Ptx,
            Some(Form::Sass) => Shown::Sass,
            Some(_) => return refused("a file of kernels", "kernel, cpu, gpu, ptx and sass"),
        };
        let all = surject_kernel::parse(text).map_err(|e| Failure::bad_input(format!("{name}:{e}")))?;
        all.iter().try_for_each(surject_kernel::verify).map_err(|e| bad(&e))?;
        let machine = Scheduling { named: arguments.machine.as_deref(), file: None }.machine();
        return kernels::written(&all, shown, machine, name);
    }
    match form {
        None | Some(Form::Mlir) => surject_mlir::jit::checked(text).map_err(|e| bad(&e)),
        Some(Form::LlvmDialect) => surject_mlir::jit::llvm_dialect(text).map_err(|e| bad(&e)),
        Some(Form::Llvm) => surject_mlir::jit::llvm_ir(text).map_err(|e| bad(&e)),
        Some(Form::Asm) => assembly(text).map_err(|e| bad(&e)),
        Some(_) => refused("explicit MLIR", "mlir, llvm-dialect, llvm and asm"),
    }
}

/// The assembly of a module for this machine.
fn assembly(text: &str) -> Result<String, surject_mlir::MlirError> {
    let options = JitOptions { dump: true, ..JitOptions::default() };
    Ok(surject_mlir::jit::compile(text, &options)?.assembly.unwrap_or_default())
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
        let found = program.function(&function).cloned().unwrap_or_default();
        let machine = || Ok(Box::new(native(scheduling.named)?) as Box<dyn Machine>);
        let given = kernels::schedules(scheduling.file, &found, machine)?;
        let scheduled = Some(scheduled(scheduling.named, given, Which::Chosen)?);
        let options = surject_codegen::Options { scheduled, ..Default::default() };
        surject_codegen::lower(program, &function, &Target::host(), &options).map_err(|e| fail(&e))
    };
    match form {
        Form::Stablehlo => surject_lift::export(program).map_err(|e| fail(&e)),
        Form::Program => Ok(surject_ir::print(program)),
        Form::Dialect => surject_mlir::dialect::print(program).map_err(|e| fail(&e)),
        Form::Plan if scheduling.is_gpu() => {
            let function = super::function_name(program, None, name)?;
            kernels::plan(program, &function, scheduling, name)
        }
        Form::Plan => lowered().map(|l| l.plan.to_string()),
        Form::Forms => lowered().map(|l| format!("{:#}", l.plan)),
        Form::Mlir => {
            let text = lowered()?.text;
            Ok(format!("// {}\n{text}", Pipeline::of(&text).command()))
        }
        Form::LlvmDialect => surject_mlir::jit::llvm_dialect(&lowered()?.text).map_err(|e| fail(&e)),
        Form::Llvm => surject_mlir::jit::llvm_ir(&lowered()?.text).map_err(|e| fail(&e)),
        Form::Asm => assembly(&lowered()?.text).map_err(|e| fail(&e)),
        Form::Schedule | Form::Kernel | Form::Cpu | Form::Gpu | Form::Ptx | Form::Sass => {
            let function = super::function_name(program, None, name)?;
            let function = program.function(&function).cloned().unwrap_or_default();
            let shown = match form {
                Form::Kernel => Shown::Kernels,
                Form::Cpu => Shown::Cpu,
                Form::Gpu => Shown::Gpu,
                Form::Ptx => Shown::Ptx,
                Form::Sass => Shown::Sass,
                _ => Shown::Schedules,
            };
            kernels::show(&function, scheduling, shown, name)
        }
        Form::StablehloBytecode => Err(Failure::unsupported(
            "an artifact is no text; stablehlo, program, dialect, plan, forms, schedule, kernel, cpu, gpu, ptx, sass, mlir, llvm-dialect, llvm and asm are",
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
