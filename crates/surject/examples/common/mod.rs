//! What the examples share: from the text of a network to something that runs.

#![allow(dead_code, reason = "each example uses its part")]

pub mod digits;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use surject::ir::{Program, TensorType, interp};
use surject::runtime::{Buffer, DType, Scalar};
use surject::{Backend, OptimiseOptions, Runner, StageTimes};
use surject_tensor::{LowerOptions, Lowered, Session, lower};
use surject_train::{Layout, Params, State, Stepper, TrainError};

/// What can go wrong in an example.
pub type Failed = Box<dyn Error>;

/// The options of every example.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    /// Where everything random comes from.
    #[arg(long, default_value_t = 0)]
    pub seed: u32,
    /// The folder for plots, figures and parameters; it is made if it is not there.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// What runs the programs.
    #[arg(long, default_value = "cpu")]
    pub backend: Backend,
}

/// Makes the folder of a run.
pub fn prepare(options: &Options) -> Result<&Path, Failed> {
    let out = options.out.as_path();
    std::fs::create_dir_all(out).map_err(|e| format!("{}: {e}", out.display()))?;
    Ok(out)
}

/// Runs an example and reports how it ended.
pub fn conclude(result: Result<(), Failed>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// A step that a [`Runner`] runs.
pub type Step = Box<dyn FnMut(&[Buffer], &mut Vec<Buffer>) -> Result<(), surject::Failure>>;

/// A program, compiled, and what its arguments and results are.
pub struct Compiled {
    runner: Runner,
    lowered: Lowered,
    /// How long it took to compile, in milliseconds.
    pub compile_ms: f64,
}

/// Compiles a text: infers its shapes, optimises its assignments, makes machine code. The text is left as `file` in the
/// folder of the run, for `surject infer` and `surject opt`; errors point into it.
pub fn compile(file: &str, text: &str, options: &Options) -> Result<Compiled, Failed> {
    let path = options.out.join(file);
    std::fs::write(&path, text)?;
    let mut session = Session::new(&path.display().to_string(), text);
    session.run_text().map_err(|e| session.render(&e))?;
    let settings = LowerOptions { seed: options.seed, name: file.to_string(), ..LowerOptions::default() };
    let lowered = lower(session.graph(), &settings).map_err(|e| session.render(&e))?;
    surject::ir::verify(&lowered.program)?;
    let start = Instant::now();
    // The first values are computed once and need no machine code.
    let main = lowered.program.functions.iter().filter(|f| f.name == "main").cloned().collect();
    let mut program = Program { name: lowered.program.name.clone(), functions: main };
    if options.backend == Backend::Cpu {
        program = surject::optimise(&program, &OptimiseOptions::default())?.program;
    }
    let runner = Runner::new(program, "main", options.backend, &mut StageTimes::default())?;
    Ok(Compiled { runner, lowered, compile_ms: start.elapsed().as_secs_f64() * 1e3 })
}

impl Compiled {
    /// The first values of the state, drawn from the seed.
    pub fn first_values(&self, seed: u32) -> Result<Params, Failed> {
        let seed = Buffer::splat(Scalar::from_i128(DType::U32, i128::from(seed)), &[]);
        let values = interp::run(&self.lowered.program, "init", &[seed])?;
        let mut params = Params::new();
        for (port, value) in self.lowered.state.iter().zip(values) {
            params.insert(&port.label, value)?;
        }
        Ok(params)
    }

    /// The names of the state.
    pub fn state(&self) -> impl Iterator<Item = &str> {
        self.lowered.state.iter().map(|port| port.label.as_str())
    }

    /// The sizes of an input, as they were inferred.
    pub fn input_shape(&self, index: usize) -> Option<Vec<usize>> {
        Some(shape_of(&self.lowered.inputs.get(index)?.ty))
    }

    /// Something that runs the program, with its state taken from `params`. Inputs are zeros at first.
    pub fn stepper(self, params: &Params) -> Result<Stepper<Step>, TrainError> {
        let Compiled { mut runner, lowered, .. } = self;
        let given = lowered.inputs.len() + lowered.indices.len();
        let outputs = lowered.outputs.len();
        let state = lowered.state.iter().enumerate().map(|(k, port)| {
            let update = lowered.updates.iter().position(|u| *u == k);
            State { name: port.label.clone(), argument: given + k, result: update.map(|u| outputs + u) }
        });
        let layout =
            Layout { inputs: (0..given).collect(), state: state.collect(), outputs: (0..outputs).collect() };
        let ports = lowered.inputs.iter().chain(&lowered.indices);
        let inputs = ports.map(|port| Buffer::zeros(port.ty.dtype, &shape_of(&port.ty))).collect();
        let step = move |args: &[Buffer], results: &mut Vec<Buffer>| {
            if results.is_empty() {
                *results = runner.run(args)?;
                return Ok(());
            }
            runner.run_into(args, results)
        };
        Stepper::new(Box::new(step) as Step, layout, inputs, params)
    }
}

/// The sizes of a type. Those of a lowered graph are numbers.
fn shape_of(ty: &TensorType) -> Vec<usize> {
    ty.space.sizes().unwrap_or_default().iter().map(|n| *n as usize).collect()
}

/// Runs a step for so many seconds, and at least ten times; prints how long it takes.
pub fn time(stepper: &mut Stepper<Step>, compile_ms: f64, seconds: f64) -> Result<(), Failed> {
    (0..5).try_for_each(|_| stepper.step())?;
    let mut times = Vec::new();
    let begin = Instant::now();
    while times.len() < 10 || begin.elapsed().as_secs_f64() < seconds {
        let start = Instant::now();
        stepper.step()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let (median, min) = (times[times.len() / 2], times[0]);
    println!("time: compile_ms {compile_ms:.1} median_ms {median:.4} min_ms {min:.4}");
    Ok(())
}

/// The place of the highest score.
pub fn highest(scores: &[f32]) -> usize {
    scores.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(k, _)| k)
}

/// The logarithm of the probability that scores give to a class.
pub fn log_probability(scores: &[f32], class: usize) -> f64 {
    let highest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f64 = scores.iter().map(|s| f64::from(s - highest).exp()).sum();
    f64::from(scores[class] - highest) - total.ln()
}
