//! One program: compiled, compared with the peers, and timed in turn with them.

use super::ceilings::{self, Mover};
use super::machine::Busy;
use super::peer::{self, Peer};
use super::report::{Memory, PeerTimes, Row, Times};
use super::{Arguments, device, programs, work};
use crate::pipeline::{Backend, OptimiseOptions, Runner, StageTimes, native, optimise, scheduled};
use crate::{Failure, Source};
use std::path::{Path, PathBuf};
use std::time::Instant;
use surject_codegen::Which;
use surject_cuda::Device;
use surject_cuda::probe::Copier;
use surject_ir::{Buffer, Function, Program, TensorType};
use surject_rules::Exactness;
use surject_runtime::Subnormals;

/// The peers of a run.
pub struct Session<'a> {
    arguments: &'a Arguments,
    peers: Vec<(Peer, String)>,
    /// Operations a second of multiply-adds, the most that was measured so far.
    pub flops: f64,
    /// Where the peers find the arguments of a program.
    folder: PathBuf,
}

/// A peer whose run takes longer, in milliseconds, is timed once.
const SLOW: f64 = 1e3;

/// A side of a comparison: this one, a peer, or what moves as many bytes.
enum Side<'a> {
    Own { runner: &'a mut Runner, inputs: &'a [Buffer], results: &'a mut Vec<Buffer> },
    Peer { peer: &'a mut Peer, times: &'a mut PeerTimes },
    Limit(&'a mut Limit),
}

/// What moves as many bytes as a program, and its least time so far, in seconds.
struct Limit {
    mover: Moves,
    least: f64,
}

/// Who moves them.
enum Moves {
    Host(Mover),
    Device(Copier<Box<dyn Device>>),
}

impl Moves {
    /// The least seconds of what is done within so many.
    fn time(&mut self, seconds: f64) -> Result<f64, Failure> {
        match self {
            Moves::Host(mover) => mover.time(seconds),
            Moves::Device(copier) => copier.time(seconds).map_err(Failure::unsupported),
        }
    }
}

impl<'a> Session<'a> {
    /// Starts the peers.
    pub fn new(arguments: &'a Arguments, flops: f64) -> Result<Session<'a>, Failure> {
        let peers: Result<_, _> =
            arguments.against.iter().map(|&against| Peer::start(against, arguments.threads)).collect();
        let folder = std::env::temp_dir().join(format!("surject-bench-{}-inputs", std::process::id()));
        Ok(Session { arguments, peers: peers?, flops, folder })
    }

    /// The versions of the peers.
    pub fn versions(&self) -> Vec<(String, String)> {
        self.peers.iter().map(|(peer, version)| (peer.name().to_string(), version.clone())).collect()
    }

    /// Times one program.
    pub fn measure(&mut self, name: &str, path: &Path) -> Result<Row, Failure> {
        // No kernel is found again because an earlier program has it too.
        surject_mlir::jit::forget();
        let start = Instant::now();
        let Arguments { backend, device, exactness, .. } = *self.arguments;
        let (mut runner, function) = match backend {
            Backend::Cuda => device::prepare(path, device, exactness, self.arguments.schedule.as_deref())?,
            _ => prepare(path, self.arguments.subnormals(), exactness, self.arguments.schedule.as_deref())?,
        };
        let mut row = Row::new(name, start.elapsed().as_secs_f64() * 1e3);
        let inputs = programs::inputs(&function, path.parent())?;
        let mut results = runner.run(&inputs)?;
        row.memory = memory(&function, &runner);
        row.peers = self.load(path, &inputs, &results)?;
        let work = work::of(&function);
        let mover = match backend {
            Backend::Cuda => Moves::Device(device::copier(device, work.reads + work.writes)?),
            _ => Moves::Host(Mover::new(work.reads, work.writes)?),
        };
        let mut limit = Limit { mover, least: f64::INFINITY };
        let own = (&mut runner, inputs.as_slice(), &mut results);
        let samples = self.rounds(own, &mut row.peers, Some(&mut limit))?;
        row.times = Times::of(&samples);
        // Other work on the machine can only lower what is measured, so the most counts.
        if backend != Backend::Cuda {
            self.flops = self.flops.max(ceilings::flops()?);
        }
        row.least = [work.flops / self.flops, limit.least];
        for peer in &mut row.peers {
            peer.times = Times::of(&std::mem::take(&mut peer.samples));
        }
        if self.arguments.busy {
            let busy = Busy::start()?;
            let own = (&mut runner, inputs.as_slice(), &mut results);
            let samples = self.rounds(own, &mut row.peers, None)?;
            drop(busy);
            row.busy = Some(Times::of(&samples));
            for peer in row.peers.iter_mut().filter(|p| p.error.is_none() && !p.slow) {
                peer.busy = Some(Times::of(&std::mem::take(&mut peer.samples)));
            }
        }
        if let Runner::Cuda(session) = &mut runner {
            row.launches = device::launches(session)?;
        }
        Ok(row)
    }

    /// Lets every peer compile the program, and compares results. The first peer whose results are the same confirms
    /// ours; another that differs from them is listed. Where none does, a difference is an error.
    fn load(
        &mut self,
        path: &Path,
        inputs: &[Buffer],
        results: &[Buffer],
    ) -> Result<Vec<PeerTimes>, Failure> {
        let mut list = Vec::new();
        if self.peers.is_empty() {
            return Ok(list);
        }
        peer::write_inputs(&self.folder, inputs)?;
        let (mut confirmed, mut differs) = (false, None);
        for (peer, _) in &mut self.peers {
            let mut entry = PeerTimes { name: peer.name().to_string(), ..PeerTimes::default() };
            match peer.load(path, &self.folder) {
                Ok(loaded) => {
                    entry.compile_ms = loaded.compile_ms;
                    entry.setting = loaded.setting;
                    entry.memory = loaded.memory;
                    entry.error = programs::difference(results, &loaded.results);
                    if loaded.run_ms > SLOW {
                        entry.samples.push(loaded.run_ms);
                        entry.slow = true;
                    }
                    confirmed |= entry.error.is_none();
                    differs = differs.or_else(|| entry.error.clone());
                }
                Err(message) => entry.error = Some(message),
            }
            list.push(entry);
        }
        match differs {
            Some(message) if !confirmed => Err(Failure::difference(message)),
            _ => Ok(list),
        }
    }

    /// Our samples over all rounds; those of the peers go to their entries. Who is first changes from round to round. The
    /// limit is measured in between: how fast memory is changes from second to second.
    fn rounds(
        &mut self,
        (runner, inputs, results): (&mut Runner, &[Buffer], &mut Vec<Buffer>),
        entries: &mut [PeerTimes],
        mut limit: Option<&mut Limit>,
    ) -> Result<Vec<f64>, Failure> {
        let seconds = self.arguments.seconds;
        let mut own = Vec::new();
        for round in 0..self.arguments.rounds.max(1) {
            let mut sides = vec![Side::Own { runner: &mut *runner, inputs, results: &mut *results }];
            for ((peer, _), times) in self.peers.iter_mut().zip(entries.iter_mut()) {
                if times.error.is_none() && !times.slow {
                    sides.push(Side::Peer { peer, times });
                }
            }
            sides.extend(limit.as_deref_mut().map(Side::Limit));
            let turn = round % sides.len();
            sides.rotate_left(turn);
            for side in sides {
                match side {
                    Side::Own { runner, inputs, results } => {
                        own.extend(block(runner, inputs, results, seconds)?);
                    }
                    Side::Peer { peer, times } => match peer.time(seconds) {
                        Ok(samples) => times.samples.extend(samples),
                        Err(message) => times.error = Some(message),
                    },
                    Side::Limit(limit) => limit.least = limit.least.min(limit.mover.time(seconds)?),
                }
            }
        }
        Ok(own)
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// From text to runnable; by the schedules of a file, where there is one.
fn prepare(
    path: &Path,
    subnormals: Subnormals,
    exactness: Exactness,
    schedule: Option<&Path>,
) -> Result<(Runner, Function), Failure> {
    let _context = surject_mlir::dialect::prepare();
    let source = Source::load(path)?;
    let (program, main) = optimised(&source, exactness)?;
    let function = program.function(&main).cloned().unwrap_or_default();
    let mut options = surject_mlir::CompileOptions { subnormals, ..Default::default() };
    if schedule.is_some() {
        let schedules = crate::cli::schedules(schedule, &function, || Ok(Box::new(native(None)?)))?;
        options.lower.scheduled = Some(scheduled(None, schedules, Which::Chosen)?);
    }
    let runner = Runner::with(program, &main, Backend::Cpu, &options, &mut StageTimes::default())?;
    Ok((runner, function))
}

/// From text to runnable, through the cache on disk if there is one.
pub fn start(path: &Path) -> Result<Runner, Failure> {
    let source = Source::load(path)?;
    Runner::cached(&source, None, "", &surject_mlir::CompileOptions::default(), || {
        let _context = surject_mlir::dialect::prepare();
        optimised(&source, OptimiseOptions::default().exactness)
    })
}

/// The program of a source, optimised, and its function.
pub fn optimised(source: &Source, exactness: Exactness) -> Result<(Program, String), Failure> {
    let program = source.program(None)?;
    let main = program.main().map(|f| f.name.clone());
    let main = main.ok_or_else(|| Failure::bad_input(format!("{}: no function", source.name)))?;
    let options = OptimiseOptions { exactness, ..OptimiseOptions::default() };
    Ok((optimise(&program, &options)?.program, main))
}

/// Samples of our side, in milliseconds: for so long, and at least three unless that takes four times as long.
fn block(
    runner: &mut Runner,
    inputs: &[Buffer],
    results: &mut Vec<Buffer>,
    seconds: f64,
) -> Result<Vec<f64>, Failure> {
    let (mut samples, begin) = (Vec::new(), Instant::now());
    loop {
        if let Runner::Cuda(session) = runner {
            samples.push(device::sample(session)?);
        } else {
            let start = Instant::now();
            runner.run_into(inputs, results)?;
            samples.push(start.elapsed().as_secs_f64() * 1e3);
        }
        let spent = begin.elapsed().as_secs_f64();
        if spent >= seconds && (samples.len() >= 3 || spent >= 4.0 * seconds) {
            return Ok(samples);
        }
    }
}

/// The memory that a run holds.
fn memory(function: &Function, runner: &Runner) -> Memory {
    let size = |ty: &TensorType| ty.space.points().unwrap_or(0) * ty.dtype.size() as u64;
    let (arena, constants) = match runner {
        Runner::Cpu(executable) => (executable.arena_bytes(), executable.constant_bytes()),
        Runner::Interp { .. } | Runner::Code(_) | Runner::Kernel { .. } => (0, 0),
        Runner::Cuda(session) => (session.plan().arena_bytes, session.plan().constant_bytes()),
    };
    Memory {
        arguments: function.params.iter().map(|&p| size(function.ty(p))).sum(),
        results: function.result_types().iter().map(size).sum(),
        arena,
        constants,
    }
}
