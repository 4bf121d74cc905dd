//! `surject bench`: times programs, alone or against peers, in alternating blocks of one run.

mod ceilings;
mod device;
mod machine;
mod measure;
mod peer;
mod programs;
pub mod report;
pub mod run;
mod start;
mod work;

use crate::Failure;
use crate::pipeline::Backend;
use measure::Session;
use report::Row;
use run::Run;
use std::io::Write;
use std::path::PathBuf;
use surject_cuda::DeviceName;
use surject_rules::Exactness;
use surject_runtime::{Subnormals, pool};

pub use peer::Against;
pub use programs::inputs;

/// Arguments of `surject bench`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Programs, or folders that have a `program.mlir`, or folders of such folders, or how the names of workloads of the
    /// suite begin (`matmul`; the suite is in `target/suite`, or where `SURJECT_SUITE` says). Inputs are the `inN.npy`
    /// beside the program, and noise where there is none.
    #[arg(required_unless_present = "spin")]
    programs: Vec<PathBuf>,
    /// The peers that are timed in the same run, and whose results must be the same.
    #[arg(long, value_enum, value_delimiter = ',')]
    against: Vec<Against>,
    /// What runs our side: `cpu`, or `cuda`. On a GPU, arguments and results stay on the device: a sample is the launches,
    /// and the wait for the last of them.
    #[arg(long, value_enum, default_value = "cpu", conflicts_with_all = ["busy", "starts"])]
    backend: Backend,
    /// The number of the GPU of the back end `cuda`.
    #[arg(long, value_name = "N", default_value_t)]
    device: DeviceName,
    /// Schedules for the kernels of our side: what `surject opt --emit schedule --machine host` prints, or that of a GPU for the back end
    /// `cuda`, edited. They must fit every program that is timed.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["busy", "starts"])]
    schedule: Option<PathBuf>,
    /// How many threads every side uses; all are pinned to as many processors. All when it is not given.
    #[arg(long)]
    threads: Option<usize>,
    /// How many alternating rounds.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// How long each side runs in a round.
    #[arg(long, default_value_t = 0.2)]
    seconds: f64,
    /// Time every program again while another process keeps one processor busy.
    #[arg(long)]
    busy: bool,
    /// Time from text to runnable in fresh processes instead, with an empty disk cache and with a full one.
    #[arg(long, conflicts_with_all = ["against", "busy"])]
    starts: bool,
    /// What our side does with subnormal numbers, `keep` or `flush`. The peers flush them, and all sides of a comparison
    /// do the same: `flush` against peers, `keep` without any, unless it is said here.
    #[arg(long, value_name = "keep|flush")]
    subnormals: Option<Subnormals>,
    /// How far results may differ from those of the program as it stands: `exact`, `reassociates`, `rounds` or `overflows`.
    #[arg(long, conflicts_with = "starts", value_name = "CLASS", default_value = "reassociates")]
    exactness: Exactness,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Write JSON to this file too, again after every program.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Keep a processor busy until the input ends: what `--busy` starts.
    #[arg(long, hide = true)]
    spin: bool,
    /// Compile the program and print the milliseconds: what `--starts` starts.
    #[arg(long, hide = true)]
    once: bool,
}

impl Arguments {
    /// What our side does with subnormal numbers.
    fn subnormals(&self) -> Subnormals {
        let like_peers = if self.against.is_empty() { Subnormals::Keep } else { Subnormals::Flush };
        self.subnormals.unwrap_or(like_peers)
    }

    /// Starts this process again with the settings of the heap that the peers get, where it has others: all sides of a
    /// comparison then get memory from the system in the same way.
    pub fn settle(&self) {
        if !self.against.is_empty() {
            machine::settle_heap();
        }
    }
}

/// Runs the subcommand.
pub fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    check_backend(arguments)?;
    if let Some(threads) = arguments.threads {
        machine::pin(threads.max(1));
        pool::set_threads(threads);
    }
    if arguments.spin {
        machine::spin();
        return Ok(());
    }
    let programs = programs::find(&arguments.programs)?;
    if arguments.once {
        for (_, path) in programs {
            crate::cli::print(out, format_args!("{}\n", start::once(&path)?))?;
        }
        return Ok(());
    }
    let (flops, device) = match arguments.backend {
        Backend::Cuda => device::ceiling(arguments.device).map(|(flops, name)| (flops, Some(name)))?,
        _ => (ceilings::flops()?, None),
    };
    let mut run = Run::new(pool::threads(), arguments.rounds, arguments.seconds, flops);
    run.subnormals = arguments.subnormals();
    run.device = device;
    if arguments.starts {
        return starts(&programs, &mut run, arguments, out);
    }
    let mut session = Session::new(arguments, flops)?;
    run.versions = session.versions();
    let names: Vec<&str> = arguments.against.iter().map(|a| a.name()).collect();
    if !arguments.json {
        crate::cli::print(out, format_args!("{}", run::head(&run, &names, arguments.busy)))?;
    }
    for (name, path) in programs {
        let row = session.measure(&name, &path).unwrap_or_else(|failure| Row::failed(name, failure.message));
        if !arguments.json {
            crate::cli::print(out, format_args!("{}", row.line(&names)))?;
            // A long run is watched through a pipe.
            let _ = out.flush();
        }
        run.rows.push(row);
        run.flops = session.flops;
        save(&mut run, arguments)?;
    }
    let text = if arguments.json { run.json() } else { run::summary(&run.rows, &names) };
    crate::cli::print(out, format_args!("{text}"))?;
    match run.rows.iter().filter(|r| r.error.is_some()).count() {
        0 => Ok(()),
        n => Err(Failure::difference(format!("{n} of {} programs were not timed", run.rows.len()))),
    }
}

/// Refuses back ends that are not timed.
fn check_backend(arguments: &Arguments) -> Result<(), Failure> {
    match (arguments.backend, arguments.device) {
        (Backend::Cpu, _) => Ok(()),
        (Backend::Cuda, DeviceName::Simulated) => Err(Failure::unsupported(
            "a simulated device has no time; `surject run --device simulated` checks results",
        )),
        (Backend::Cuda, DeviceName::Number(_)) => Ok(()),
        _ => Err(Failure::bad_input("compiled code is timed: `--backend cpu` or `--backend cuda`")),
    }
}

/// Cold and warm starts of programs.
fn starts(
    programs: &[(String, PathBuf)],
    run: &mut Run,
    arguments: &Arguments,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if !arguments.json {
        crate::cli::print(out, format_args!("{}", run::starts_head()))?;
    }
    for (name, path) in programs {
        let start = start::measure(name, path, arguments)?;
        if !arguments.json {
            crate::cli::print(out, format_args!("{start}"))?;
        }
        run.starts.push(start);
        save(run, arguments)?;
    }
    if arguments.json { crate::cli::print(out, format_args!("{}", run.json())) } else { Ok(()) }
}

/// Writes what there is so far, so that a run that is cut off leaves what it measured.
fn save(run: &mut Run, arguments: &Arguments) -> Result<(), Failure> {
    let Some(path) = &arguments.out else { return Ok(()) };
    run.note_load();
    std::fs::write(path, run.json()).map_err(|e| Failure::bad_input(format!("{}: {e}", path.display())))
}
