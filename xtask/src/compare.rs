//! The comparison with XLA and IREE: the suite is written, timed in every way that the paper shows, and the paper written.

use crate::setup;
use crate::shell::{self, Outcome, cargo, program, root};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Arguments of `cargo xtask compare`.
#[derive(clap::Args)]
pub struct Arguments {
    /// How many alternating rounds.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How long each side runs in a round.
    #[arg(long, default_value_t = 0.05)]
    seconds: f64,
    /// Do not time again what the last run has timed: `all`, `one`, `large`, `starts`.
    #[arg(long, value_delimiter = ',')]
    keep: Vec<String>,
    /// Only workloads whose names begin so; all when none is given.
    workloads: Vec<String>,
}

/// Programs whose first and second start are compared: small ones, large ones, one with a loop.
const STARTS: [&str; 9] = [
    "matmul_1024",
    "softmax",
    "conv3x3",
    "attention",
    "lstm",
    "lenet_step",
    "mlp_step_32",
    "block_step_512",
    "decoder12_step",
];

/// Runs all of it.
pub fn run(arguments: &Arguments) -> Outcome {
    let begin = Instant::now();
    setup::packages()?;
    let python = setup::peers()?;
    cargo_run(&["build", "--release", "--package", "surject", "--bin", "surject"])?;
    cargo_run(&["build", "--package", "surject-papers", "--bin", "xla-comparison"])?;
    write_suite(&python)?;
    let (suite, large) = (root().join("target/suite"), root().join("target/large"));
    let folder = root().join("target/comparison");
    let cache = folder.join("peers");
    // What the peers compiled for one run serves the others of this comparison, and no later one.
    let _ = std::fs::remove_dir_all(&cache);
    std::fs::create_dir_all(&cache).map_err(|e| format!("{}: {e}", cache.display()))?;
    let all = std::thread::available_parallelism().map_or(1, usize::from).to_string();
    let chosen = |folder: &Path, names: &[&str]| -> Vec<PathBuf> {
        let wanted = |name: &String| {
            (names.is_empty() || names.contains(&name.as_str()))
                && (arguments.workloads.is_empty() || arguments.workloads.iter().any(|w| name.starts_with(w)))
        };
        workloads(folder).into_iter().filter(wanted).map(|name| folder.join(name)).collect()
    };
    let (rounds, seconds) = (arguments.rounds.to_string(), arguments.seconds.to_string());
    let against = ["--against", "xla,iree", "--rounds", &rounds, "--seconds", &seconds];
    let runs: [(&str, Vec<PathBuf>, Vec<&str>); 4] = [
        ("all", chosen(&suite, &[]), [&["--threads", all.as_str(), "--busy"][..], &against].concat()),
        ("one", chosen(&suite, &[]), [&["--threads", "1"][..], &against].concat()),
        ("large", chosen(&large, &[]), [&["--threads", all.as_str()][..], &against].concat()),
        ("starts", chosen(&suite, &STARTS), vec!["--starts", "--rounds", "2"]),
    ];
    let mut files = Vec::new();
    for (name, programs, words) in &runs {
        let file = folder.join(format!("{name}.json"));
        let kept = arguments.keep.iter().any(|k| k == name) && file.exists();
        if !kept && !programs.is_empty() {
            let _ = std::fs::remove_file(&file);
            let mut command = Command::new(target().join("release/surject"));
            command.arg("bench").args(programs).args(words);
            command.arg("--out").arg(&file).current_dir(root());
            command.env("SURJECT_PYTHON", &python).env("SURJECT_BENCH_CACHE", &cache);
            eprintln!("{name}: {} programs, {} s since the start", programs.len(), begin.elapsed().as_secs());
            let status = command.status().map_err(|e| format!("surject bench: {e}"))?;
            if !status.success() {
                eprintln!("{name}: ended with {status}; the page lists what was not timed");
            }
        }
        if file.exists() {
            files.push(file);
        }
    }
    let mut command = Command::new(target().join("debug/xla-comparison"));
    shell::run(command.args(&files).current_dir(root()))?;
    eprintln!("papers/xla-comparison is written; {} s in all", begin.elapsed().as_secs());
    Ok(())
}

fn cargo_run(args: &[&str]) -> Outcome {
    shell::run(&mut cargo(args))
}

/// Writes the programs where `suite.py` is newer than they are.
fn write_suite(python: &Path) -> Outcome {
    let stamp = root().join("target/suite.written");
    let modified = |path: &Path| std::fs::metadata(path).and_then(|m| m.modified()).ok();
    if modified(&stamp) < modified(&root().join("benches/suite.py")) {
        shell::run(&mut program(python, &["benches/suite.py"]))?;
        std::fs::write(&stamp, "").map_err(|e| format!("{}: {e}", stamp.display()))?;
    }
    Ok(())
}

/// The names of the workloads, in order.
fn workloads(suite: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(suite).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter(|e| e.path().join("program.mlir").exists())
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into)
}
