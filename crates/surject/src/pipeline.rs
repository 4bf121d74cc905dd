//! From a program to its results: optimise, choose a back end, run.

use crate::cache_folder;
use crate::cuda::{self, CudaSession};
use crate::progress::stage;
use crate::{Failure, Source};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use surject_codegen::kernels::machine::Machine;
use surject_codegen::kernels::run;
use surject_codegen::kernels::schedule::Schedules;
use surject_codegen::{Scheduled, Target, Which};
use surject_cuda::DeviceName;
use surject_egraph::{CostModel, EgraphError, Optimised, Options};
use surject_ir::{Buffer, Program};
use surject_rules::Exactness;

/// What runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Backend {
    /// StableHLO, operation by operation, as the specification says.
    Spec,
    /// The reference interpreter of programs.
    Interp,
    /// Native code for this machine's processor.
    Cpu,
    /// The interpreter of compiled code, for any processor (`--machine`): accesses out of bounds and races are errors.
    Code,
    /// Native code for an NVIDIA GPU.
    Cuda,
    /// The interpreter of kernels: the kernels of a machine (`--machine`), without that machine.
    Kernel,
}

/// What the optimiser may do.
#[derive(Clone, Debug)]
pub struct OptimiseOptions {
    /// Rule files of the user.
    pub rules: Vec<PathBuf>,
    /// Laws and rules that are taken away, by name.
    pub without: Vec<String>,
    /// The highest exactness class allowed.
    pub exactness: Exactness,
    /// Are proofs wanted?
    pub explain: bool,
    /// Is a picture of the e-graph wanted?
    pub dot: bool,
    /// Passes of MLIR that run on the module of the dialect before the e-graph, as `canonicalize,cse`.
    pub mlir_passes: Option<String>,
}

impl Default for OptimiseOptions {
    fn default() -> OptimiseOptions {
        OptimiseOptions {
            rules: Vec::new(),
            without: Vec::new(),
            exactness: Exactness::Reassociates,
            explain: false,
            dot: false,
            mlir_passes: None,
        }
    }
}

/// How long each stage took, in milliseconds.
#[derive(Clone, Debug, Default)]
pub struct StageTimes(pub Vec<(&'static str, f64)>);

impl StageTimes {
    /// Notes the time of a stage.
    pub fn note(&mut self, name: &'static str, milliseconds: f64) {
        self.0.push((name, milliseconds));
    }

    /// The sum over the stages.
    pub fn total(&self) -> f64 {
        self.0.iter().map(|(_, t)| t).sum()
    }
}

/// The program that passes of MLIR make of the module of another: the module is built, verified, and read. Without passes
/// the program that comes back is the one that went in. A program with symbolic extents has no module: without passes it
/// stays as it is until its sizes are known.
pub fn through_dialect<'p>(program: &'p Program, passes: Option<&str>) -> Result<Cow<'p, Program>, Failure> {
    if passes.is_none() && !surject_mlir::dialect::has_module(program) {
        return Ok(Cow::Borrowed(program));
    }
    let passed = surject_mlir::dialect::through(program, passes.unwrap_or_default());
    let passed = passed.map_err(|error| match error.stage {
        surject_mlir::Stage::Passes => Failure::bad_input(format!("--mlir-passes: {error}")),
        _ => Failure::unsupported(error),
    })?;
    Ok(Cow::Owned(passed))
}

/// Optimises a program: equality saturation reads its module of the dialect, after the passes of MLIR where there are any,
/// and writes a module again. Without passes that module says what the program says, and saturation does not wait for it: it
/// is built and verified on another thread.
pub fn optimise(program: &Program, options: &OptimiseOptions) -> Result<Optimised, Failure> {
    let passed = match options.mlir_passes.as_deref() {
        Some(passes) => through_dialect(program, Some(passes))?,
        None => Cow::Borrowed(program),
    };
    let program = &*passed;
    let mut files = Vec::new();
    let mut texts = Vec::new();
    for path in &options.rules {
        // Whether they are sound is asked where they are used, and only of those that may run.
        let (file, text) = read_rules(path)?;
        texts.push((file.name.clone(), text));
        files.push(file);
    }
    let options = Options {
        rules: files,
        without: options.without.clone(),
        exactness: options.exactness,
        explain: options.explain,
        dot: options.dot,
        cost: cost_model()?,
        ..Options::default()
    };
    let saturated = || {
        surject_egraph::optimise(program, &options).map_err(|error| match &error {
            EgraphError::Rules { file, error: inner } => match texts.iter().find(|(name, _)| name == file) {
                Some((name, text)) => Failure::bad_input(inner.render(name, text)),
                None => Failure::bad_input(error),
            },
            _ => Failure::bad_input(error),
        })
    };
    let mut optimised = match passed {
        Cow::Owned(_) => saturated()?,
        Cow::Borrowed(_) => beside_dialect(program, saturated)?,
    };
    for (rule, why) in &optimised.report.refused {
        eprintln!("warning: the rule `{rule}` does not run: {why}");
    }
    if cfg!(debug_assertions) {
        keeps_contract("the optimiser", program, &optimised.program)?;
    }
    if let Cow::Owned(written) = through_dialect(&optimised.program, None)? {
        optimised.program = written;
    }
    Ok(optimised)
}

/// Does something with a program while its module of the dialect is built and verified.
fn beside_dialect<T>(program: &Program, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let verify = || match surject_mlir::dialect::has_module(program) {
        true => surject_mlir::dialect::verify(program).map_err(Failure::unsupported),
        false => Ok(()),
    };
    std::thread::scope(|scope| {
        let module = std::thread::Builder::new().spawn_scoped(scope, verify);
        let done = work();
        match module {
            Ok(module) => module.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?,
            // The system refuses a thread.
            Err(_) => verify()?,
        }
        done
    })
}

/// Checks the contract of passes (seed 002): what a pass made of a function with symbolic sizes says no more about them than
/// was known before, and every guard is still checked. Functions of constant sizes have nothing to be asked.
fn keeps_contract(pass: &str, before: &Program, after: &Program) -> Result<(), Failure> {
    for old in before.functions.iter().filter(|f| surject_ir::bind::is_symbolic(f)) {
        let Some(new) = after.function(&old.name) else { continue };
        let found = surject_ir::pass_violations(old, new).map_err(Failure::bad_input)?;
        if let Some(violation) = found.first() {
            return Err(Failure::unsupported(format!("{pass} broke the contract of passes: {violation}")));
        }
    }
    Ok(())
}

/// The constants of the cost model: those of the file that `SURJECT_COST` names, else the built-in ones.
fn cost_model() -> Result<CostModel, Failure> {
    let Some(path) = std::env::var_os("SURJECT_COST") else { return Ok(CostModel::default()) };
    let name = path.to_string_lossy().into_owned();
    let text = std::fs::read_to_string(&path)
        .map_err(|e| Failure::bad_input(format!("SURJECT_COST={name}: {e}")))?;
    CostModel::parse(&text).map_err(|e| Failure::bad_input(format!("SURJECT_COST={name}: {e}")))
}

/// Reads and checks a rule file: grammar, scope, spaces and types, and soundness by interpretation.
pub fn load_rules(path: &std::path::Path) -> Result<surject_rules::RuleFile, Failure> {
    let (mut file, text) = read_rules(path)?;
    surject_rules::check(&mut file).map_err(|e| Failure::bad_input(e.render(&file.name, &text)))?;
    Ok(file)
}

/// Reads a rule file and checks all but soundness; also its text, for messages.
fn read_rules(path: &std::path::Path) -> Result<(surject_rules::RuleFile, String), Failure> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| Failure::bad_input(format!("{name}: {e}")))?;
    let render = |e: surject_rules::RuleError| Failure::bad_input(e.render(&name, &text));
    let file = surject_rules::parse(&name, &text).map_err(render)?;
    surject_rules::check_static(&file).map_err(render)?;
    Ok((file, text))
}

/// Why there is no native code: there is no program, or it does not compile.
enum Start {
    Made(Failure),
    Compiled(surject_mlir::CompileError),
}

impl From<surject_mlir::CompileError> for Start {
    fn from(error: surject_mlir::CompileError) -> Start {
        Start::Compiled(error)
    }
}

/// The name of the CPU that is like this processor.
const HOST: &str = "host";

/// The names of the machines that kernels can be made for.
pub fn machine_names() -> Vec<&'static str> {
    let cpus = surject_cpu::Cpu::ALL.into_iter().map(|cpu| cpu.name);
    std::iter::once(HOST).chain(cpus).chain(surject_gpu::Gpu::names()).collect()
}

/// The processor of this name that code can be made for; this one without a name.
pub fn processor_named(name: Option<&str>) -> Result<Target, Failure> {
    let Some(name) = name else { return Ok(Target::host()) };
    let all = Target::NAMES.join(", ");
    let missing = || Failure::bad_input(format!("there is no processor `{name}`; there are {all}"));
    Target::named(name).ok_or_else(missing)
}

/// The machine of this name that kernels can be made for.
pub fn machine_named(name: &str) -> Result<Box<dyn Machine>, Failure> {
    if let Some(cpu) = cpu_named(name) {
        return Ok(Box::new(cpu));
    }
    if let Some(gpu) = surject_gpu::Gpu::named(name) {
        return Ok(Box::new(gpu));
    }
    let all = machine_names().join(", ");
    Err(Failure::bad_input(format!("there is no machine `{name}`; there are {all}")))
}

/// The CPU of this name.
fn cpu_named(name: &str) -> Option<surject_cpu::Cpu> {
    match name {
        HOST => Some(surject_cpu::Cpu::like(&Target::host())),
        _ => surject_cpu::Cpu::named(name),
    }
}

/// The kernels of compiled code that the kernel IR makes: with the strategies of this CPU, or else of the one that is like
/// this processor.
pub fn scheduled(machine: Option<&str>, schedules: Schedules, which: Which) -> Result<Scheduled, Failure> {
    Ok(Scheduled { machine: Arc::new(native(machine)?), schedules: Arc::new(schedules), which })
}

/// The CPU whose kernels are those of compiled code: this one, or else the one that is like this processor.
pub fn native(machine: Option<&str>) -> Result<surject_cpu::Cpu, Failure> {
    let host = Target::host();
    let cpu = match machine {
        Some(name) => cpu_named(name).ok_or_else(|| {
            let all: Vec<&str> = surject_cpu::Cpu::ALL.iter().map(|cpu| cpu.name).collect();
            let all = all.join(", ");
            Failure::bad_input(format!(
                "`{name}` is no CPU, which compiled code needs; there are {HOST}, {all}"
            ))
        })?,
        None => surject_cpu::Cpu::like(&host),
    };
    if let Some(what) = cpu.lacks(&host) {
        return Err(Failure::unsupported(format!("this processor has no {what}, which `{}` has", cpu.name)));
    }
    Ok(cpu.on(&host))
}

/// A function of a program, ready to run on a back end.
pub enum Runner {
    /// On the reference interpreter.
    Interp {
        /// The program.
        program: Program,
        /// The function that is run.
        function: String,
    },
    /// As native code.
    Cpu(Box<surject_mlir::Executable>),
    /// The code of a processor, interpreted.
    Code(Box<surject_codegen::LoweredModule>),
    /// On the interpreter of kernels.
    Kernel {
        /// The program.
        program: Program,
        /// The function that is run.
        function: String,
        /// The machine whose kernels are run.
        machine: Box<dyn Machine>,
        /// Schedules that the user gives.
        schedules: Schedules,
    },
    /// On an NVIDIA GPU.
    Cuda(Box<CudaSession>),
}

impl Runner {
    /// Prepares a function for a back end; `times` gets the stages of the compilation.
    pub fn new(
        program: Program,
        function: &str,
        backend: Backend,
        times: &mut StageTimes,
    ) -> Result<Runner, Failure> {
        Runner::with(program, function, backend, &surject_mlir::CompileOptions::default(), times)
    }

    /// As [`Runner::new`], with options for native code.
    pub fn with(
        program: Program,
        function: &str,
        backend: Backend,
        options: &surject_mlir::CompileOptions,
        times: &mut StageTimes,
    ) -> Result<Runner, Failure> {
        match backend {
            Backend::Interp => Ok(Runner::Interp { program, function: function.to_string() }),
            Backend::Cpu => {
                let (executable, time) =
                    stage("compiling", || surject_mlir::compile(&program, function, options));
                let executable = executable.map_err(Failure::unsupported)?;
                let spent = executable.times();
                let milliseconds = |d: std::time::Duration| d.as_secs_f64() * 1e3;
                times.note("lower", time - milliseconds(spent.total()));
                times.note("mlir parse", milliseconds(spent.parse));
                times.note("mlir passes", milliseconds(spent.passes));
                times.note("llvm", milliseconds(spent.optimize + spent.codegen + spent.link));
                Ok(Runner::Cpu(Box::new(executable)))
            }
            Backend::Code => {
                let lowered = surject_codegen::lower(&program, function, &options.target, &options.lower);
                Ok(Runner::Code(Box::new(lowered.map_err(Failure::unsupported)?)))
            }
            Backend::Kernel => Runner::kernels(program, function, "generic", Schedules::default()),
            Backend::Spec => Err(Failure::unsupported(
                "the back end `spec` runs StableHLO as it stands; `interp` runs every program on the reference interpreter",
            )),
            Backend::Cuda => {
                Runner::cuda(&program, function, DeviceName::default(), None, &Schedules::default(), times)
            }
        }
    }

    /// Prepares a function for the interpreter of kernels, with those of this machine, by these schedules where there are
    /// any.
    pub fn kernels(
        program: Program,
        function: &str,
        machine: &str,
        schedules: Schedules,
    ) -> Result<Runner, Failure> {
        let machine = machine_named(machine)?;
        Ok(Runner::Kernel { program, function: function.to_string(), machine, schedules })
    }

    /// Prepares a function for a GPU: for the machine of a name, or else what the device is; by these schedules where there
    /// are any.
    pub fn cuda(
        program: &Program,
        function: &str,
        device: DeviceName,
        machine: Option<&str>,
        schedules: &Schedules,
        times: &mut StageTimes,
    ) -> Result<Runner, Failure> {
        let (session, time) =
            stage("compiling", || cuda::start(program, function, device, machine, schedules));
        times.note("compile", time);
        Ok(Runner::Cuda(Box::new(session?)))
    }

    /// Native code of a function of a source, which `make` imports and optimises: from the cache on disk if the user
    /// has one and it is there. `make` depends on nothing but the source, the name of the function, the sizes of the call
    /// (empty where the source says them) and the cost model.
    pub fn cached(
        source: &Source,
        function: Option<&str>,
        sizes: &str,
        options: &surject_mlir::CompileOptions,
        make: impl FnOnce() -> Result<(Program, String), Failure>,
    ) -> Result<Runner, Failure> {
        let cost = match std::env::var_os("SURJECT_COST") {
            Some(path) => std::fs::read_to_string(path).unwrap_or_default(),
            None => String::new(),
        };
        let text = String::from_utf8_lossy(&source.bytes);
        let key = format!("{:?} {:?} {function:?} {sizes}\n{cost}\n{text}", source.kind, source.name);
        let mut is_made = false;
        let executable = surject_mlir::compile_cached(&key, options, || {
            is_made = true;
            make().map_err(Start::Made)
        });
        if let (true, Some(folder)) = (is_made, cache_folder::folder()) {
            cache_folder::keep_few(&folder);
        }
        executable.map(|e| Runner::Cpu(Box::new(e))).map_err(|error| match error {
            Start::Made(failure) => failure,
            Start::Compiled(error) => Failure::unsupported(error),
        })
    }

    /// Runs the function once.
    pub fn run(&mut self, args: &[Buffer]) -> Result<Vec<Buffer>, Failure> {
        match self {
            Runner::Interp { program, function } => {
                surject_ir::interp::run(program, function, args).map_err(Failure::unsupported)
            }
            Runner::Cpu(executable) => executable.run(args).map_err(Failure::bad_input),
            Runner::Code(lowered) => {
                lowered.interpret(args, Default::default()).map_err(Failure::unsupported)
            }
            Runner::Kernel { program, function, machine, schedules } => {
                let options = surject_kernel::interpret::Options::default();
                let run = run::run(program, function, args, &**machine, &options, schedules);
                run.map(|r| r.0).map_err(Failure::unsupported)
            }
            Runner::Cuda(session) => session.run(args).map_err(cuda::failed),
        }
    }

    /// Runs the function into buffers of an earlier run, for timing.
    pub fn run_into(&mut self, args: &[Buffer], results: &mut Vec<Buffer>) -> Result<(), Failure> {
        match self {
            Runner::Interp { .. } | Runner::Code(_) | Runner::Kernel { .. } | Runner::Cuda(_) => {
                *results = self.run(args)?;
                Ok(())
            }
            Runner::Cpu(executable) => {
                let args: Vec<&Buffer> = args.iter().collect();
                executable.run_into(&args, results).map_err(Failure::bad_input)
            }
        }
    }
}
