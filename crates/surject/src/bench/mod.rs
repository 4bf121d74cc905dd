//! `surject bench`: times programs, alone or against a peer, in alternating blocks of one run.

mod ceilings;
mod peer;
mod report;
mod work;

use crate::pipeline::{Backend, OptimiseOptions, Runner, StageTimes, optimise};
use crate::{Failure, Source};
use peer::Peer;
use report::Row;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use surject_ir::{Buffer, DType, Function, Scalar, TensorType};
use surject_runtime::{compare, npy, pool};

/// Arguments of `surject bench`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Programs, or folders that have a `program.mlir`, or folders of such folders. Inputs are the `inN.npy` beside the
    /// program, and noise where there is none.
    #[arg(required = true)]
    programs: Vec<PathBuf>,
    /// The peer that is timed in the same run, and whose results must be the same.
    #[arg(long, value_enum)]
    against: Option<Against>,
    /// How many threads both sides use; both are pinned to as many processors. All when it is not given.
    #[arg(long)]
    threads: Option<usize>,
    /// How many alternating rounds.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// How long each side runs in a round.
    #[arg(long, default_value_t = 0.2)]
    seconds: f64,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// A peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Against {
    /// XLA through `jaxlib`, in a Python process: `SURJECT_PYTHON`, else `.venv/bin/python`, else `python3`.
    Xla,
}

/// Runs the subcommand.
pub fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let programs = programs(&arguments.programs)?;
    if let Some(threads) = arguments.threads {
        peer::pin(threads.max(1));
        pool::set_threads(threads);
    }
    let mut peer = match arguments.against {
        Some(Against::Xla) => Some(Peer::xla(arguments.threads)?),
        None => None,
    };
    let flops = ceilings::flops()?;
    let mut rows: Vec<Row> = Vec::new();
    if !arguments.json {
        crate::cli::print(out, format_args!("{}", report::head(pool::threads(), flops)))?;
    }
    for (name, path) in programs {
        let row = bench(&name, &path, arguments, peer.as_mut(), flops)
            .unwrap_or_else(|failure| Row::failed(name, failure.message));
        if !arguments.json {
            crate::cli::print(out, format_args!("{row}\n"))?;
        }
        rows.push(row);
    }
    let text = if arguments.json { report::json(&rows) } else { report::summary(&rows) };
    crate::cli::print(out, format_args!("{text}"))?;
    match rows.iter().filter(|r| r.error.is_some()).count() {
        0 => Ok(()),
        n => Err(Failure::difference(format!("{n} of {} programs were not timed", rows.len()))),
    }
}

/// The programs that some paths name, with short names.
fn programs(paths: &[PathBuf]) -> Result<Vec<(String, PathBuf)>, Failure> {
    let stem = |p: &Path| p.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let mut found = Vec::new();
    for path in paths {
        if !path.is_dir() {
            found.push((stem(path), path.clone()));
            continue;
        }
        if path.join("program.mlir").exists() {
            found.push((stem(path), path.join("program.mlir")));
            continue;
        }
        let read = |e| Failure::bad_input(format!("{}: {e}", path.display()));
        let mut inner: Vec<PathBuf> =
            std::fs::read_dir(path).map_err(read)?.filter_map(|e| Some(e.ok()?.path())).collect();
        inner.retain(|p| p.join("program.mlir").exists());
        inner.sort();
        if inner.is_empty() {
            return Err(Failure::bad_input(format!("{}: no program.mlir in it or below", path.display())));
        }
        found.extend(inner.into_iter().map(|p| (stem(&p), p.join("program.mlir"))));
    }
    Ok(found)
}

/// Times one program.
fn bench(
    name: &str,
    path: &Path,
    arguments: &Arguments,
    peer: Option<&mut Peer>,
    flops: f64,
) -> Result<Row, Failure> {
    let start = Instant::now();
    let source = Source::load(path)?;
    let program = source.program(None)?;
    let main = program.main().map(|f| f.name.clone());
    let main = main.ok_or_else(|| Failure::bad_input(format!("{}: no function", source.name)))?;
    let program = optimise(&program, &OptimiseOptions::default())?.program;
    let function = program.function(&main).cloned().unwrap_or_default();
    let work = work::of(&function);
    let mut runner = Runner::new(program, &main, Backend::Cpu, &mut StageTimes::default())?;
    let compile = start.elapsed().as_secs_f64() * 1e3;
    let inputs = inputs(&function, path.parent())?;
    let mut results = runner.run(&inputs)?;
    let mut row = Row::new(name, compile);
    let bandwidth = ceilings::bandwidth(work.bytes)?;
    let mut ours = Vec::new();
    let Some(peer) = peer else {
        for _ in 0..arguments.rounds.max(1) {
            ours.extend(block(&mut runner, &inputs, &mut results, arguments.seconds)?);
        }
        row.ours(&ours, &work, flops, bandwidth);
        return Ok(row);
    };
    let (peer_compile, expected) = peer.load(path, &inputs)?;
    row.peer_compile_ms = Some(peer_compile);
    check(&results, &expected)?;
    let mut theirs = Vec::new();
    for _ in 0..arguments.rounds.max(1) {
        ours.extend(block(&mut runner, &inputs, &mut results, arguments.seconds)?);
        theirs.extend(peer.time(arguments.seconds)?);
    }
    row.ours(&ours, &work, flops, bandwidth);
    row.theirs(&theirs);
    Ok(row)
}

/// Samples of one side, in milliseconds.
fn block(
    runner: &mut Runner,
    inputs: &[Buffer],
    results: &mut Vec<Buffer>,
    seconds: f64,
) -> Result<Vec<f64>, Failure> {
    let (mut samples, begin) = (Vec::new(), Instant::now());
    while samples.len() < 3 || begin.elapsed().as_secs_f64() < seconds {
        let start = Instant::now();
        runner.run_into(inputs, results)?;
        samples.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(samples)
}

/// The inputs: files beside the program, else noise.
fn inputs(function: &Function, folder: Option<&Path>) -> Result<Vec<Buffer>, Failure> {
    let mut inputs = Vec::new();
    for (i, &param) in function.params.iter().enumerate() {
        let ty = function.ty(param);
        let file = folder.map(|f| f.join(npy::file_name(&format!("in{i}"), ty.dtype))).filter(|f| f.exists());
        inputs.push(match file {
            Some(file) => npy::read(&file).map_err(Failure::bad_input)?,
            None => noise(ty, i as u64 + 1),
        });
    }
    Ok(inputs)
}

/// Nearly normal numbers; small whole ones of integer types.
fn noise(ty: &TensorType, seed: u64) -> Buffer {
    let shape: Vec<usize> = ty.space.sizes().unwrap_or_default().iter().map(|&n| n as usize).collect();
    let mut buffer = Buffer::zeros(ty.dtype, &shape);
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    for i in 0..buffer.len() {
        // The sum of four uniform numbers has a third of the variance of one.
        let sum = next() + next() + next() + next() - 2.0;
        let value = match ty.dtype {
            DType::I1 => Scalar::bool(sum > 0.0),
            d if d.is_int() => Scalar::from_i128(d, (sum.abs() * 4.0) as i128),
            d => Scalar::from_f64(d, sum * 3f64.sqrt()),
        };
        buffer.set(i, value);
    }
    buffer
}

/// Are the results those of the peer?
fn check(results: &[Buffer], expected: &[Buffer]) -> Result<(), Failure> {
    if results.len() != expected.len() {
        let message = format!("{} results, {} of the peer", results.len(), expected.len());
        return Err(Failure::difference(message));
    }
    for (i, (found, wanted)) in results.iter().zip(expected).enumerate() {
        let half = matches!(found.dtype(), DType::BF16 | DType::F16);
        let scale = (0..wanted.len()).map(|k| wanted.get(k).as_f64().abs()).filter(|v| v.is_finite());
        let scale = if found.dtype().is_float() { scale.fold(0.0, f64::max) } else { 0.0 };
        let relative = if half { 2e-2 } else { 1e-4 };
        let report = compare::compare(found, wanted, relative, relative * 0.3 * scale);
        if !report.passed() {
            return Err(Failure::difference(format!("result {i} differs: {report}")));
        }
    }
    Ok(())
}
