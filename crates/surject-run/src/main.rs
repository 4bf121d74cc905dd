//! The `surject-run` command: runs a compiled program on arrays from files.

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use surject_cuda::RunError;
use surject_run::{Archive, Buffer, DeviceName, Loaded, RunnerError};
use surject_runtime::{compare, npy};

/// Runs a program that `surject compile` has made, and compares, shows or times it.
#[derive(Parser)]
#[command(name = "surject-run", version)]
struct Arguments {
    /// The archive.
    program: PathBuf,
    /// The inputs, in order (`NAME.bf16.npy` holds bfloat16 bit patterns as uint16).
    #[arg(short, long = "input", value_name = "IN.npy", num_args = 1..)]
    input: Vec<PathBuf>,
    /// The expected outputs, in order; exit status 1 when one differs.
    #[arg(long, value_name = "OUT.npy", num_args = 1..)]
    expect: Vec<PathBuf>,
    /// Write the outputs to this folder as out0.npy, out1.npy, ….
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The GPU of a program for one: its number, or `simulated`, an interpreter of PTX.
    #[arg(long, value_name = "N|simulated", default_value_t)]
    device: DeviceName,
    /// The relative tolerance of a comparison.
    #[arg(long, default_value_t = 1e-5)]
    rtol: f64,
    /// The absolute tolerance of a comparison.
    #[arg(long, default_value_t = 1e-6)]
    atol: f64,
    /// Run for at least one second and print the times of whole runs, copies to a device and back included.
    #[arg(long)]
    time: bool,
    /// Print the types of the program and run nothing.
    #[arg(long)]
    types: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(differing) => {
            eprintln!("surject-run: {differing} outputs differ");
            ExitCode::from(1)
        }
        Err((status, message)) => {
            eprintln!("surject-run: {message}");
            ExitCode::from(status)
        }
    }
}

/// How many outputs differ; or the exit status and what is wrong.
fn run(arguments: &Arguments) -> Result<usize, (u8, String)> {
    let bad = |message: String| (2, message);
    let refused = |error: RunnerError| match error {
        RunnerError::Archive(_) | RunnerError::Run(RunError::Count { .. } | RunError::Type { .. }) => {
            (2, error.to_string())
        }
        _ => (3, error.to_string()),
    };
    let archive = Archive::read(&arguments.program).map_err(|e| refused(e.into()))?;
    if arguments.types {
        for (word, ports) in [("in", archive.params()), ("out", archive.results())] {
            ports.iter().enumerate().for_each(|(i, port)| println!("{word}{i} {port}"));
        }
        return Ok(0);
    }
    let mut program = Loaded::new(archive, arguments.device).map_err(refused)?;
    let load = |path: &PathBuf| npy::read(path).map_err(|e| bad(e.to_string()));
    let inputs = arguments.input.iter().map(load).collect::<Result<Vec<Buffer>, _>>()?;
    let results = program.run(&inputs).map_err(refused)?;
    if let Some(folder) = &arguments.out {
        std::fs::create_dir_all(folder).map_err(|e| bad(format!("{}: {e}", folder.display())))?;
        for (i, result) in results.iter().enumerate() {
            let file = folder.join(npy::file_name(&format!("out{i}"), result.dtype()));
            npy::write(file, result).map_err(|e| bad(e.to_string()))?;
        }
    }
    let mut differing = 0;
    if !arguments.expect.is_empty() {
        if arguments.expect.len() != results.len() {
            let (found, given) = (results.len(), arguments.expect.len());
            return Err(bad(format!("the program has {found} outputs, {given} expected ones given")));
        }
        for (i, (path, result)) in arguments.expect.iter().zip(&results).enumerate() {
            let report = compare::compare(result, &load(path)?, arguments.rtol, arguments.atol);
            differing += usize::from(!report.passed());
            println!("out{i} {} {report}", if report.passed() { "ok" } else { "DIFFERS" });
        }
    } else if arguments.out.is_none() && !arguments.time {
        results.iter().enumerate().for_each(|(i, result)| println!("out{i} {result:?}"));
    }
    if arguments.time {
        let mut samples = Vec::new();
        let end = Instant::now() + Duration::from_secs(1);
        while samples.len() < 10 || Instant::now() < end {
            let start = Instant::now();
            program.run(&inputs).map_err(refused)?;
            samples.push(start.elapsed().as_secs_f64() * 1e3);
        }
        samples.sort_by(f64::total_cmp);
        println!("time: median_ms {:.4} min_ms {:.4}", samples[samples.len() / 2], samples[0]);
    }
    Ok(differing)
}
