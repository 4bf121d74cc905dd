//! From text to runnable in a fresh process: the first time, and again with the kernels that the first left on disk.

use super::run::Start;
use super::{Arguments, measure};
use crate::Failure;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Milliseconds from text to runnable in this process.
pub fn once(path: &Path) -> Result<f64, Failure> {
    let start = Instant::now();
    let runner = measure::start(path)?;
    let spent = start.elapsed().as_secs_f64() * 1e3;
    drop(runner);
    Ok(spent)
}

/// The least time of some cold starts and of some warm ones, each in a process of its own.
pub fn measure(name: &str, path: &Path, arguments: &Arguments) -> Result<Start, Failure> {
    let folder = std::env::temp_dir().join(format!("surject-start-{}", std::process::id()));
    let mut start = Start { name: name.to_string(), cold_ms: f64::INFINITY, warm_ms: f64::INFINITY };
    for _ in 0..arguments.rounds.max(1) {
        let _ = std::fs::remove_dir_all(&folder);
        start.cold_ms = start.cold_ms.min(child(path, &folder, arguments)?);
        start.warm_ms = start.warm_ms.min(child(path, &folder, arguments)?);
    }
    let _ = std::fs::remove_dir_all(&folder);
    Ok(start)
}

fn child(path: &Path, cache: &Path, arguments: &Arguments) -> Result<f64, Failure> {
    let failed =
        |e: &dyn std::fmt::Display| Failure::bad_input(format!("a start of {}: {e}", path.display()));
    let mut command = Command::new(std::env::current_exe().map_err(|e| failed(&e))?);
    command.args(["bench", "--once"]).arg(path).env("SURJECT_CACHE", cache);
    if let Some(threads) = arguments.threads {
        command.args(["--threads", &threads.to_string()]);
    }
    let output = command.output().map_err(|e| failed(&e))?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().map_err(|_| failed(&String::from_utf8_lossy(&output.stderr).trim()))
}
