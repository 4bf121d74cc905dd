//! `surject run`: runs a program, and compares or shows its results.

use super::kernels::Scheduling;
use super::tensor;
use crate::cuda::CudaSession;
use crate::pipeline::{
    Backend, OptimiseOptions, Runner, StageTimes, machine_named, native, optimise, processor_named, scheduled,
};
use crate::progress::stage;
use crate::specialise::{module_for, size_values, types_of, with_computed_sizes};
use crate::tensor_source::TensorProgram;
use crate::{Failure, Source, SourceKind};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use surject_codegen::kernels::machine::Machine;
use surject_codegen::{Measured, Which};
use surject_cuda::{DeviceName, LaunchTime};
use surject_ir::bind::is_symbolic;
use surject_ir::{Buffer, Function, Program, TensorType};
use surject_rules::Exactness;
use surject_runtime::{Subnormals, compare, npy};

/// Arguments of `surject run`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The program: StableHLO text, a module of the Surject dialect, `.program`, or tensor source (`.sj`).
    program: PathBuf,
    /// The inputs, in order (`NAME.bf16.npy` holds bfloat16 bit patterns as uint16).
    #[arg(short, long = "input", value_name = "IN.npy", num_args = 1..)]
    input: Vec<PathBuf>,
    /// The expected outputs, in order; exit status 1 when one differs.
    #[arg(long, value_name = "OUT.npy", num_args = 1..)]
    expect: Vec<PathBuf>,
    /// What runs the program.
    #[arg(long, value_enum, default_value = "cpu")]
    backend: Backend,
    /// The machine whose kernels the back end `kernel` runs: `generic` (without it), `host`, `avx2`, `avx512`, `amx`, `sm_80`, `sm_90a` or
    /// `sm_100`;
    /// for the back end `cuda` a GPU, without it that of the device; for `cpu` with `--schedule` a CPU, without it the one
    /// that is like this processor; for `code` a processor (`generic`, `avx2`, `avx512`), without it this one.
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    /// The GPU of the back end `cuda`: its number, or `simulated`, an interpreter of PTX that says whether results are right
    /// and nothing of time.
    #[arg(long, value_name = "N|simulated", default_value_t)]
    device: DeviceName,
    /// Schedules for the kernels of the back ends `cpu`, `code`, `kernel` and `cuda`: what `surject opt --emit schedule` prints, edited.
    #[arg(long, value_name = "FILE")]
    schedule: Option<PathBuf>,
    /// Compile the program with the kernels of the back end `kernel` for this processor instead of interpreting them; the
    /// machine is a CPU.
    #[arg(long)]
    native: bool,
    /// The relative tolerance of a comparison.
    #[arg(long, default_value_t = 1e-5)]
    rtol: f64,
    /// The absolute tolerance of a comparison.
    #[arg(long, default_value_t = 1e-6)]
    atol: f64,
    /// Write the outputs to this folder as out0.npy, out1.npy, ….
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Run the program as it was imported, without rewriting.
    #[arg(long)]
    no_opt: bool,
    /// How far results may differ from those of the program as it stands: `exact`, `reassociates`, `rounds` or `overflows`.
    #[arg(long, value_name = "CLASS", default_value = "reassociates")]
    exactness: Exactness,
    /// Rewrite rules to use beside the laws.
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,
    /// Passes of MLIR to run on the module of the dialect before the e-graph, such as `canonicalize,cse`.
    #[arg(long, value_name = "PASSES")]
    mlir_passes: Option<String>,
    /// The function to run.
    #[arg(long, value_name = "NAME")]
    func: Option<String>,
    /// Run so often, and take the results of the last run: a GPU records what it has done, and replays it from the second run
    /// on.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Run for at least one second and print compile and run times.
    #[arg(long)]
    time: bool,
    /// Run for at least one second and print the plan: kernel by kernel, what it was estimated to
    /// take and what it took. With `--backend cuda`: the steps with their memory, and what every launch takes by itself.
    #[arg(long)]
    profile: bool,
    /// What compiled code does with subnormal numbers: `keep`, as IEEE 754 says, or `flush` them to zero, as XLA does.
    #[arg(long, value_name = "keep|flush", default_value_t)]
    subnormals: Subnormals,
    #[command(flatten)]
    tensor: tensor::TensorArguments,
}

/// Runs the subcommand.
pub fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    check_scheduling(arguments)?;
    if arguments.backend == Backend::Spec {
        return execute_spec(arguments, out);
    }
    let mut times = StageTimes::default();
    let source = Source::load(&arguments.program)?;
    let prepared = match kept(arguments, &source, &mut times) {
        Some(prepared) => prepared,
        None => prepare(arguments, &source, &mut times)?,
    };
    let Prepared { tensor, inputs, names, mut runner } = prepared;
    let (mut results, first) = stage("running", || runner.run(&inputs)).into_pair()?;
    let compile = times.total();
    times.note("first run", first);
    for _ in 1..arguments.runs {
        results = runner.run(&inputs)?;
    }
    if let Runner::Cuda(session) = &runner {
        for why in session.refused() {
            eprintln!("warning: the device does not record these calls, and does them one by one: {why}");
        }
    }
    if let Some(folder) = &arguments.out {
        let outputs = tensor.as_ref().map_or(results.len(), |t| t.lowered.outputs.len());
        save(folder, &results[..outputs.min(results.len())])?;
        if let Some(tensor) = &tensor {
            tensor::save_state(tensor, folder, &results)?;
        }
    }
    let differing = if arguments.expect.is_empty() {
        if arguments.out.is_none() && !arguments.time && !arguments.profile {
            for (name, result) in names.iter().zip(&results) {
                super::print(out, format_args!("{name} {result:?}\n"))?;
            }
        }
        0
    } else {
        let outputs = tensor.as_ref().map_or(results.len(), |t| t.lowered.outputs.len());
        let compared = if arguments.expect.len() == outputs { &results[..outputs] } else { &results };
        report(arguments, compared, out)?
    };
    if arguments.time {
        let stages: Vec<String> = times.0.iter().map(|(name, t)| format!("{name} {t:.2}")).collect();
        super::print(out, format_args!("stages_ms: {}\n", stages.join(", ")))?;
        let (median, min) = measure(&mut runner, &inputs, &mut results)?;
        super::print(
            out,
            format_args!("time: compile_ms {compile:.2} median_ms {median:.4} min_ms {min:.4}\n"),
        )?;
        if let Runner::Cuda(session) = &mut runner {
            super::print(out, format_args!("{}", on_device(session)))?;
        }
    }
    if arguments.profile {
        profile(&mut runner, &inputs, &mut results, out)?;
    }
    match differing {
        0 => Ok(()),
        n => Err(Failure::difference(format!("{n} of {} outputs differ", arguments.expect.len()))),
    }
}

/// Runs StableHLO as it stands, operation by operation.
fn execute_spec(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let compiled = arguments.profile
        || arguments.subnormals == Subnormals::Flush
        || arguments.mlir_passes.is_some()
        || arguments.runs > 1
        || !arguments.rules.is_empty();
    if compiled {
        return Err(Failure::bad_input(
            "the back end `spec` runs programs as they stand: no rules, passes, profiles, further runs or flushed numbers",
        ));
    }
    let source = Source::load(&arguments.program)?;
    arguments.tensor.refuse(&source.name)?;
    let prepared = super::spec::prepare(&source, arguments.func.as_deref(), &arguments.input)?;
    let results = super::spec::run(&source, &prepared)?;
    if let Some(folder) = &arguments.out {
        save(folder, &results)?;
    }
    let mut differing = 0;
    if !arguments.expect.is_empty() {
        differing = report(arguments, &results, out)?;
    } else if arguments.out.is_none() && !arguments.time {
        for (i, result) in results.iter().enumerate() {
            super::print(out, format_args!("out{i} {result:?}\n"))?;
        }
    }
    if arguments.time {
        let (median, min) = timed(|| super::spec::run(&source, &prepared).map(drop))?;
        super::print(out, format_args!("time: compile_ms 0.00 median_ms {median:.4} min_ms {min:.4}\n"))?;
    }
    match differing {
        0 => Ok(()),
        n => Err(Failure::difference(format!("{n} of {} outputs differ", arguments.expect.len()))),
    }
}

/// Refuses what only the back end `kernel` makes use of.
fn check_scheduling(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.backend != Backend::Cuda && arguments.device != DeviceName::default() {
        return Err(Failure::bad_input("a device runs plans of GPUs; --device needs `--backend cuda`"));
    }
    if arguments.native && arguments.backend != Backend::Kernel {
        return Err(Failure::bad_input(
            "all kernels are those of a machine with --native; it needs `--backend kernel`",
        ));
    }
    match arguments.backend {
        Backend::Kernel | Backend::Cuda | Backend::Code => Ok(()),
        // Compiled code takes the kernels that have schedules.
        Backend::Cpu if arguments.schedule.is_some() => Ok(()),
        backend => {
            let (other, needed) = match backend {
                Backend::Cpu => (
                    "compiled code is that of this processor",
                    "`--schedule`, `--backend kernel` or `--backend cuda`",
                ),
                _ => (
                    "an interpreter of programs has no kernels",
                    "`--backend cpu`, `--backend kernel` or `--backend cuda`",
                ),
            };
            super::kernels::refuse_scheduling(&arguments.machine, &arguments.schedule, other, needed)
        }
    }
}

/// A program that is ready to run.
struct Prepared {
    tensor: Option<TensorProgram>,
    inputs: Vec<Buffer>,
    /// The names of the results.
    names: Vec<String>,
    runner: Runner,
}

/// Where the user has a cache on disk, through it. `None` where there is none, or where something is wrong, which
/// [`prepare`] then says.
fn kept(arguments: &Arguments, source: &Source, times: &mut StageTimes) -> Option<Prepared> {
    let cache = std::env::var_os("SURJECT_CACHE").is_some_and(|v| !v.is_empty());
    let usual = arguments.exactness == OptimiseOptions::default().exactness;
    let plain = !arguments.no_opt
        && arguments.rules.is_empty()
        && arguments.mlir_passes.is_none()
        && arguments.schedule.is_none()
        && usual
        && !arguments.profile;
    if !cache || !plain || arguments.backend != Backend::Cpu || source.kind != SourceKind::StableHlo {
        return None;
    }
    let dynamic = source.may_be_dynamic();
    let mut given = None;
    if dynamic {
        given = Some(arguments.input.iter().map(npy::read).collect::<Result<Vec<Buffer>, _>>().ok()?);
        // Sizes that data gives are those of this call alone.
        if source.may_truncate()
            && let Some(module) = source.stablehlo().ok()?
            && with_computed_sizes(source, &module, arguments.func.as_deref()).is_some()
        {
            return None;
        }
    }
    let make = || {
        let _context = surject_mlir::dialect::prepare();
        let program = match &given {
            Some(given) => match source.stablehlo()? {
                Some(module) => module_for(source, &module, arguments.func.as_deref(), given)?,
                None => return Err(Failure::bad_input("no module")),
            },
            None => read(arguments, source)?.1,
        };
        let name = super::function_name(&program, arguments.func.as_deref(), &source.name)?;
        Ok((optimise(&program, &OptimiseOptions::default())?.program, name))
    };
    arguments.tensor.refuse(&source.name).ok()?;
    let subnormals = arguments.subnormals;
    let options = surject_mlir::CompileOptions { subnormals, ..Default::default() };
    // What is compiled is for these types, and for the values of the scalars that sizes depend on.
    let mut sizes = String::new();
    if let Some(given) = &given {
        let values = size_values(source, arguments.func.as_deref(), given).ok()?;
        let values: Vec<String> = values.iter().map(|(i, bits)| format!("{i}={bits}")).collect();
        let types: Vec<String> = types_of(given).iter().map(TensorType::to_string).collect();
        sizes = format!("{} {}", types.join(" "), values.join(" "));
    }
    let start = || Runner::cached(source, arguments.func.as_deref(), &sizes, &options, make);
    let (runner, time) = stage("starting", start).into_pair().ok()?;
    let Runner::Cpu(executable) = &runner else { return None };
    if executable.params().len() != arguments.input.len() {
        return None;
    }
    let inputs = arguments.input.iter().zip(executable.params()).map(|(path, ty)| load(path, ty, "").ok());
    let inputs = inputs.collect::<Option<Vec<Buffer>>>()?;
    let names = (0..executable.results().len()).map(|i| format!("out{i}")).collect();
    times.note("start", time);
    Some(Prepared { tensor: None, inputs, names, runner })
}

/// The program of a StableHLO module with `?` for the types of the files, and what these hold.
fn for_files(arguments: &Arguments, source: &Source) -> Result<Option<(Program, Vec<Buffer>)>, Failure> {
    if !source.may_be_dynamic() {
        return Ok(None);
    }
    let Some(module) = source.stablehlo()?.filter(surject_lift::is_dynamic) else { return Ok(None) };
    arguments.tensor.refuse(&source.name)?;
    let inputs: Vec<Buffer> = arguments
        .input
        .iter()
        .map(|path| npy::read(path).map_err(Failure::bad_input))
        .collect::<Result<_, _>>()?;
    let program = module_for(source, &module, arguments.func.as_deref(), &inputs)?;
    Ok(Some((program, inputs)))
}

/// Reads, optimises and compiles.
fn prepare(arguments: &Arguments, source: &Source, times: &mut StageTimes) -> Result<Prepared, Failure> {
    let _context = (!arguments.no_opt).then(surject_mlir::dialect::prepare);
    let (read, time) = stage("reading", || match for_files(arguments, source)? {
        Some((program, inputs)) => Ok((None, program, Some(inputs))),
        None => read(arguments, source).map(|(tensor, program)| (tensor, program, None)),
    })
    .into_pair()?;
    let (tensor, mut program, given) = read;
    times.note("read", time);
    let name = super::function_name(&program, arguments.func.as_deref(), &source.name)?;
    // Symbolic sizes are bound first: what is optimised, compiled and run is the program of this call.
    let bound = match program.function(&name) {
        Some(function) if tensor.is_none() && is_symbolic(function) => {
            if function.params.len() != arguments.input.len() {
                load_inputs(function, &arguments.input)?;
            }
            Some(super::bind::bound(source, function, &arguments.input)?)
        }
        Some(function) if is_symbolic(function) => match &tensor {
            Some(tensor) => {
                Some(arguments.tensor.bound(tensor, &program, arguments.backend, &arguments.input, source)?)
            }
            None => None,
        },
        _ => None,
    };
    let bound = bound.map(|(bound, inputs)| {
        program = bound;
        inputs
    });
    if !arguments.no_opt {
        let options = OptimiseOptions {
            rules: arguments.rules.clone(),
            exactness: arguments.exactness,
            mlir_passes: arguments.mlir_passes.clone(),
            ..OptimiseOptions::default()
        };
        let (optimised, time) = stage("optimising", || optimise(&program, &options)).into_pair()?;
        program = optimised.program;
        times.note("optimise", time);
    }
    let inputs = match (&tensor, bound.or(given)) {
        (Some(_), Some(inputs)) => inputs,
        (Some(tensor), _) => {
            arguments.tensor.arguments(tensor, &program, arguments.backend, &arguments.input)?
        }
        (None, Some(inputs)) => inputs,
        (None, None) => load_inputs(&program.function(&name).cloned().unwrap_or_default(), &arguments.input)?,
    };
    let function = program.function(&name).cloned().unwrap_or_default();
    let names = match &tensor {
        Some(tensor) => tensor::result_names(tensor),
        None => (0..function.body.results.len()).map(|i| format!("out{i}")).collect(),
    };
    if arguments.profile && !matches!(arguments.backend, Backend::Cpu | Backend::Cuda) && !arguments.native {
        return Err(Failure::bad_input(
            "--profile measures compiled code; it needs `--backend cpu`, `--backend cuda`, or `--backend kernel --native`",
        ));
    }
    let subnormals = arguments.subnormals;
    if subnormals == Subnormals::Flush && arguments.backend != Backend::Cpu {
        return Err(Failure::bad_input(
            "compiled code can flush subnormal numbers; it needs `--backend cpu`",
        ));
    }
    let mut options = surject_mlir::CompileOptions { subnormals, ..Default::default() };
    options.lower.profile = arguments.profile;
    let machine = arguments.machine.as_deref();
    let which = match arguments.backend {
        Backend::Kernel if arguments.native => Some(Which::All),
        Backend::Cpu | Backend::Code => Some(Which::Chosen),
        _ => None,
    };
    if arguments.backend == Backend::Code {
        options.target = processor_named(machine)?;
    }
    let made_for = || -> Result<Box<dyn Machine>, Failure> {
        Ok(match (which, arguments.backend) {
            (None, Backend::Cuda) => Box::new(crate::cuda::gpu(arguments.device, machine)?),
            (None, _) => machine_named(Scheduling { named: machine, file: None }.machine())?,
            (Some(_), _) => Box::new(native(machine)?),
        })
    };
    let schedules = super::kernels::schedules(arguments.schedule.as_deref(), &function, made_for)?;
    let runner = match (which, arguments.backend) {
        (Some(which), backend) => {
            options.lower.scheduled = Some(scheduled(machine, schedules, which)?);
            let backend = if backend == Backend::Kernel { Backend::Cpu } else { backend };
            Runner::with(program, &name, backend, &options, times)?
        }
        (None, Backend::Kernel) => {
            let scheduling = Scheduling { named: machine, file: None };
            Runner::kernels(program, &name, scheduling.machine(), schedules)?
        }
        (None, Backend::Cuda) => Runner::cuda(&program, &name, arguments.device, machine, &schedules, times)?,
        (None, backend) => Runner::with(program, &name, backend, &options, times)?,
    };
    Ok(Prepared { tensor, inputs, names, runner })
}

/// The program; of tensor source also what its arguments and results are, unless another function is asked for.
fn read(arguments: &Arguments, source: &Source) -> Result<(Option<TensorProgram>, Program), Failure> {
    let main = arguments.func.as_deref().is_none_or(|name| name == "main");
    if source.kind == SourceKind::Tensor && main {
        let tensor = source.tensor()?;
        let program = tensor.lowered.program.clone();
        return Ok((Some(tensor), program));
    }
    arguments.tensor.refuse(&source.name)?;
    Ok((None, source.program(arguments.func.as_deref())?))
}

/// Splits a timed result.
trait IntoPair<T> {
    fn into_pair(self) -> Result<(T, f64), Failure>;
}

impl<T> IntoPair<T> for (Result<T, Failure>, f64) {
    fn into_pair(self) -> Result<(T, f64), Failure> {
        self.0.map(|value| (value, self.1))
    }
}

/// Reads the inputs and checks them against the parameters.
fn load_inputs(function: &Function, paths: &[PathBuf]) -> Result<Vec<Buffer>, Failure> {
    let wanted: Vec<&TensorType> = function.params.iter().map(|&p| function.ty(p)).collect();
    if wanted.len() != paths.len() {
        let list: Vec<String> =
            function.params.iter().map(|&p| format!("{}: {}", function.name_of(p), function.ty(p))).collect();
        return Err(Failure::bad_input(format!(
            "`{}` takes {} inputs ({}), {} given\n  = help: give each with `-i FILE.npy`, in this order",
            function.name,
            wanted.len(),
            list.join(", "),
            paths.len()
        )));
    }
    let mut inputs = Vec::new();
    for ((path, ty), &param) in paths.iter().zip(wanted).zip(&function.params) {
        inputs.push(load(path, ty, function.name_of(param))?);
    }
    Ok(inputs)
}

/// Reads a file and checks it against the parameter it is for.
pub(super) fn load(path: &Path, ty: &TensorType, name: &str) -> Result<Buffer, Failure> {
    let buffer = npy::read(path).map_err(Failure::bad_input)?;
    let shape: Vec<u64> = buffer.shape().iter().map(|&n| n as u64).collect();
    let found = TensorType::new(buffer.dtype(), surject_index::Space::of(&shape));
    if found != *ty {
        return Err(Failure::bad_input(format!(
            "{}: the input `{name}` is {ty}, the file holds {found}",
            path.display()
        )));
    }
    Ok(buffer)
}

fn save(folder: &Path, results: &[Buffer]) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|e| Failure::bad_input(format!("{}: {e}", folder.display())))?;
    for (i, result) in results.iter().enumerate() {
        npy::write(folder.join(npy::file_name(&format!("out{i}"), result.dtype())), result)
            .map_err(Failure::bad_input)?;
    }
    Ok(())
}

/// Prints one line an output; how many differ.
fn report(arguments: &Arguments, results: &[Buffer], out: &mut dyn Write) -> Result<usize, Failure> {
    if arguments.expect.len() != results.len() {
        return Err(Failure::bad_input(format!(
            "the program has {} outputs, {} expected ones given",
            results.len(),
            arguments.expect.len()
        )));
    }
    let mut differing = 0;
    for (i, (path, result)) in arguments.expect.iter().zip(results).enumerate() {
        let expected = npy::read(path).map_err(Failure::bad_input)?;
        let report = compare::compare(result, &expected, arguments.rtol, arguments.atol);
        differing += usize::from(!report.passed());
        let word = if report.passed() { "ok" } else { "DIFFERS" };
        super::print(out, format_args!("out{i} {word} {report}\n"))?;
    }
    Ok(differing)
}

/// Prints what every kernel took, with the plan where there is one, over at least one second and ten runs.
fn profile(
    runner: &mut Runner,
    inputs: &[Buffer],
    results: &mut Vec<Buffer>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if let Runner::Cuda(session) = runner {
        return launches(session, out);
    }
    let counts = |runner: &Runner| match runner {
        Runner::Cpu(executable) => executable.profile().unwrap_or_default(),
        Runner::Interp { .. } | Runner::Code(_) | Runner::Kernel { .. } | Runner::Cuda(_) => Vec::new(),
    };
    // The first run met cold memory.
    let before = counts(runner);
    measure(runner, inputs, results)?;
    let spent = |(after, before): (&(u64, u64), &(u64, u64))| Measured {
        runs: after.0 - before.0,
        nanoseconds: after.1 - before.1,
    };
    let spent: Vec<Measured> = counts(runner).iter().zip(&before).map(spent).collect();
    if let Runner::Cpu(executable) = runner {
        let mut plan = executable.plan().clone();
        plan.measure(&spent);
        super::print(out, format_args!("{plan}"))?;
    }
    Ok(())
}

/// Prints the plan as it runs on a device, and what every launch takes there, the longest first; or why that is not known.
fn launches(session: &mut CudaSession, out: &mut dyn Write) -> Result<(), Failure> {
    super::print(out, format_args!("{}", session.plan()))?;
    let mut times = match session.launch_times() {
        Ok(times) => times,
        Err(error) => return super::print(out, format_args!("launches: unmeasured: {error}\n")),
    };
    times.sort_by(|a, b| b.us.total_cmp(&a.us));
    for LaunchTime { kernel, us } in times {
        let kernel = &session.plan().kernels[kernel as usize];
        let [x, y, z] = kernel.shape.blocks;
        let blocks = u64::from(x) * u64::from(y) * u64::from(z);
        let line =
            format_args!("{us:>10.2} us  {} on {blocks} blocks of {}\n", kernel.name, kernel.shape.threads);
        super::print(out, line)?;
    }
    Ok(())
}

/// Median and minimum of the time of a run, in milliseconds, over at least one second and ten runs.
fn measure(runner: &mut Runner, inputs: &[Buffer], results: &mut Vec<Buffer>) -> Result<(f64, f64), Failure> {
    timed(|| runner.run_into(inputs, results).map(drop))
}

/// The least of the times that a device says of launches with arguments on it, of ten runs; or why there is none.
fn on_device(session: &mut CudaSession) -> String {
    let times: Result<Vec<f64>, _> = (0..10).map(|_| session.timed()).collect();
    match times {
        Ok(times) => format!("device: min_ms {:.4}\n", times.into_iter().fold(f64::INFINITY, f64::min)),
        Err(error) => format!("device: unmeasured: {error}\n"),
    }
}

fn timed(mut run: impl FnMut() -> Result<(), Failure>) -> Result<(f64, f64), Failure> {
    let mut samples = Vec::new();
    let end = Instant::now() + Duration::from_secs(1);
    while samples.len() < 10 || Instant::now() < end {
        let start = Instant::now();
        run()?;
        samples.push(start.elapsed().as_secs_f64() * 1e3);
    }
    samples.sort_by(f64::total_cmp);
    Ok((samples[samples.len() / 2], samples[0]))
}
