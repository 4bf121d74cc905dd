//! Times programs as they are compiled beside kernels that are chosen otherwise: by schedules of a file, or each assignment by itself
//! (`--backend kernel --native`).
//!
//! ```sh
//! cargo run -p surject --example kernels_speed -- FOLDER [PREFIX …] [--rounds N] [--seconds S] [--threads N] [--alone] [--machine NAME] [--schedule FILE]
//! ```
//!
//! `FOLDER` has a folder for each program, as `benches/suite.py` writes them. Both ways run in one process, in alternating
//! rounds, on one thread where nothing else is said; the least time of each counts. A line for each program: its group, both
//! times in microseconds, the speed of the second way as a share of the first, and the largest difference of a result, as
//! a share of the largest result. Then the geometric mean of every group, and of all. With `--alone` each kernel is that of an
//! assignment or a library operation by itself; with `--schedule` kernels have the schedules of a file, as `surject opt --emit
//! schedule` prints them; with `--machine` code is that of another processor, which this one can run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use surject::ir::Buffer;
use surject::mlir::CompileOptions;
use surject::{
    Backend, Failure, OptimiseOptions, Runner, Source, StageTimes, bench, optimise, processor_named,
    scheduled,
};
use surject_codegen::Target;
use surject_codegen::kernels::native::Which;
use surject_codegen::kernels::schedule::Schedules;
use surject_cpu::Cpu;

/// What the command line says.
struct Options {
    folder: PathBuf,
    prefixes: Vec<String>,
    rounds: usize,
    seconds: f64,
    threads: usize,
    which: Which,
    machine: Option<String>,
    schedules: Schedules,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        folder: PathBuf::new(),
        prefixes: Vec::new(),
        rounds: 5,
        seconds: 0.05,
        threads: 1,
        which: Which::Chosen,
        machine: None,
        schedules: Schedules::default(),
    };
    let mut words = std::env::args().skip(1);
    let mut folder = None;
    while let Some(word) = words.next() {
        let mut number = || {
            let value = words.next().ok_or_else(|| format!("`{word}` needs a number"))?;
            value.parse::<f64>().map_err(|_| format!("`{value}` is no number"))
        };
        match word.as_str() {
            "--rounds" => options.rounds = number()? as usize,
            "--seconds" => options.seconds = number()?,
            "--threads" => options.threads = number()? as usize,
            "--machine" => options.machine = words.next(),
            "--schedule" => {
                let file = words.next().ok_or("`--schedule` needs a file")?;
                let text = std::fs::read_to_string(&file).map_err(|e| format!("{file}: {e}"))?;
                options.schedules = text.parse().map_err(|e| format!("{file}: {e}"))?;
            }
            "--alone" => options.which = Which::All,
            _ if folder.is_none() => folder = Some(PathBuf::from(word)),
            _ => options.prefixes.push(word),
        }
    }
    options.folder = folder.ok_or("which folder has the programs?")?;
    Ok(options)
}

/// What kind of program it is, by its name.
fn group(name: &str) -> &'static str {
    let groups: [(&str, &[&str]); 5] = [
        ("scans", &["cum"]),
        ("transpositions", &["transpose", "nchw_", "nhwc_", "image_", "moves"]),
        ("products", &["matmul", "einsum", "conv", "attention", "block_", "mlp_", "lenet", "lstm"]),
        ("sorts, scatters", &["sort", "scatter", "segment", "embedding_gradient", "max_pool_gradient"]),
        ("others", &[""]),
    ];
    let of = |prefixes: &[&str]| prefixes.iter().any(|p| name.starts_with(p));
    groups.into_iter().find(|g| of(g.1)).map_or("others", |g| g.0)
}

/// A program by both ways, and the least time of each.
struct Both {
    runners: [Runner; 2],
    inputs: Vec<Buffer>,
    results: [Vec<Buffer>; 2],
    least: [f64; 2],
}

impl Both {
    fn new(
        path: &Path,
        Options { which, machine, threads, schedules, .. }: &Options,
    ) -> Result<Both, Failure> {
        let source = Source::load(path)?;
        let program = source.program(None)?;
        let program = optimise(&program, &OptimiseOptions::default())?.program;
        let missing = || Failure::bad_input("a program has a function");
        let function = program.functions.first().ok_or_else(missing)?.clone();
        let inputs = bench::inputs(&function, path.parent())?;
        let compile = |otherwise: bool| {
            let mut options = CompileOptions::default();
            let machine = machine.as_deref();
            if machine.is_some() {
                options.target = Target { threads: *threads, ..processor_named(machine)? };
            }
            let (schedules, which) =
                if otherwise { (schedules.clone(), *which) } else { (Schedules::default(), Which::Chosen) };
            let mut scheduled = scheduled(machine, schedules, which)?;
            if let Some(cpu) = machine.and_then(Cpu::named) {
                scheduled.machine = Arc::new(Cpu { threads: *threads, ..cpu }.on(&Target::host()));
            }
            options.lower.scheduled = Some(scheduled);
            let times = &mut StageTimes::default();
            Runner::with(program.clone(), &function.name, Backend::Cpu, &options, times)
        };
        let mut runners = [compile(false)?, compile(true)?];
        let results = [runners[0].run(&inputs)?, runners[1].run(&inputs)?];
        Ok(Both { runners, inputs, results, least: [f64::INFINITY; 2] })
    }

    /// Runs each way for so many seconds.
    fn round(&mut self, seconds: f64) -> Result<(), Failure> {
        for (side, runner) in self.runners.iter_mut().enumerate() {
            let begin = Instant::now();
            while begin.elapsed().as_secs_f64() < seconds {
                let start = Instant::now();
                runner.run_into(&self.inputs, &mut self.results[side])?;
                self.least[side] = self.least[side].min(start.elapsed().as_secs_f64());
            }
        }
        Ok(())
    }

    /// The largest difference of a result, as a share of the largest result.
    fn difference(&self) -> f64 {
        let [first, second] = &self.results;
        let mut worst: f64 = 0.0;
        for (a, b) in first.iter().zip(second) {
            let values =
                |buffer: &Buffer| -> Vec<f64> { (0..buffer.len()).map(|i| buffer.get(i).as_f64()).collect() };
            let (a, b) = (values(a), values(b));
            let size = a.iter().filter(|x| x.is_finite()).fold(1e-30, |m: f64, x| m.max(x.abs()));
            let apart = a.iter().zip(&b).filter(|(x, y)| x != y && !(x.is_nan() && y.is_nan()));
            worst = apart.fold(worst, |m, (x, y)| m.max((x - y).abs() / size));
        }
        worst
    }
}

fn main() -> Result<(), String> {
    let options = options()?;
    surject::runtime::pool::set_threads(options.threads);
    let entries = std::fs::read_dir(&options.folder).map_err(|e| e.to_string())?;
    let mut folders: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    folders.sort();
    let mut shares: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for folder in folders {
        let name = folder.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
        let wanted =
            options.prefixes.is_empty() || options.prefixes.iter().any(|p| name.starts_with(p.as_str()));
        if !wanted || !folder.join("program.mlir").exists() {
            continue;
        }
        let timed = Both::new(&folder.join("program.mlir"), &options).and_then(|mut both| {
            (0..options.rounds).try_for_each(|_| both.round(options.seconds))?;
            Ok(both)
        });
        match timed {
            Ok(both) => {
                let [first, second] = both.least.map(|seconds| seconds * 1e6);
                let share = first / second;
                let (group, apart) = (group(&name), both.difference());
                println!("{name:36} {group:16} {first:12.1} {second:12.1} {share:8.3} {apart:9.1e}");
                shares.entry(group).or_default().push(share);
                shares.entry("all").or_default().push(share);
            }
            Err(failure) => println!("{name:36} not timed: {}", failure.message),
        }
    }
    for (group, shares) in shares {
        let mean = (shares.iter().map(|s| s.ln()).sum::<f64>() / shares.len() as f64).exp();
        println!("{group}: {mean:.3} over {}", shares.len());
    }
    Ok(())
}
