//! `surject doctor`: what is installed, what is missing, and how to get it.

use crate::Failure;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use surject_mlir::pipelines::{Kind, Pipeline};

/// Arguments of `surject doctor`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Measure this machine and write the constants of the optimiser's cost model to a file.
    #[arg(long, value_name = "FILE")]
    calibrate: Option<PathBuf>,
    /// Print the pass pipelines of compiled code, as `mlir-opt` takes them, instead.
    #[arg(long, conflicts_with = "calibrate")]
    pipelines: bool,
}

/// Runs the subcommand. What is missing is a line, not a failure: the command itself works without it.
pub fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some(path) = &arguments.calibrate {
        return calibrate(path, out);
    }
    if arguments.pipelines {
        return pipelines(out);
    }
    let mut line = |name: &str, state: Result<String, String>| {
        let (mark, text) = match &state {
            Ok(found) => ("ok", found),
            Err(help) => ("missing", help),
        };
        super::print(out, format_args!("{name:<18} {mark:<8} {text}\n"))
    };
    line("surject", Ok(env!("CARGO_PKG_VERSION").to_string()))?;
    line("MLIR", Ok("22 (linked in)".to_string()))?;
    line("processor", Ok(processor()))?;
    line("threads", Ok(surject_runtime::pool::threads().to_string()))?;
    line("mlir-opt", tool("mlir-opt-22", "apt-get install mlir-22-tools (checks modules of the dialect)"))?;
    line("graphviz", tool("dot", "apt-get install graphviz (pictures of e-graphs)"))?;
    line("python3", tool("python3", "apt-get install python3 python3-venv (the XLA cross-check)"))?;
    line("CUDA driver", cuda())
}

/// The pass pipelines, for `mlir-opt`.
fn pipelines(out: &mut dyn Write) -> Result<(), Failure> {
    super::print(
        out,
        format_args!(
            "# `surject opt PROGRAM --emit mlir` begins with the pipeline of its module;\n\
             # `surject opt PROGRAM --emit llvm-dialect` prints what it makes.\n"
        ),
    )?;
    for pipeline in Pipeline::all() {
        let when = match pipeline.kind {
            Kind::Direct => {
                "a module of nothing but llvm, scf, arith, and operations of vector and math with one in LLVM;\n\
                 # filter-dialects leaves out those that the module does not use"
            }
            Kind::General => "any other module",
        };
        super::print(out, format_args!("\n# {when}\n{}\n", pipeline.command()))?;
    }
    Ok(())
}

/// Measures the constants of the cost model.
fn calibrate(path: &std::path::Path, out: &mut dyn Write) -> Result<(), Failure> {
    let model = crate::calibrate::measure()?;
    std::fs::write(path, model.to_string())
        .map_err(|e| Failure::bad_input(format!("{}: {e}", path.display())))?;
    super::print(
        out,
        format_args!("{model}written to {}; use it with SURJECT_COST={}\n", path.display(), path.display()),
    )
}

/// What the code generator takes from this machine.
fn processor() -> String {
    let target = surject_mlir::Target::host();
    let caches = [target.l1_bytes, target.l2_share_bytes, target.llc_share_bytes].map(|n| n / 1024);
    format!(
        "vectors of {} bits, {} vector registers; a thread counts on {} KiB of cache, then {}, then {}",
        target.vector_bytes * 8,
        target.vector_registers,
        caches[0],
        caches[1],
        caches[2]
    )
}

/// The first line a tool prints for `--version`.
fn tool(name: &str, help: &str) -> Result<String, String> {
    let output = Command::new(name).arg("--version").output().map_err(|_| help.to_string())?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    Ok(text.lines().find(|l| l.contains(|c: char| c.is_ascii_digit())).unwrap_or("found").trim().to_string())
}

fn cuda() -> Result<String, String> {
    let output = Command::new("nvidia-smi").args(["--query-gpu=name", "--format=csv,noheader"]).output();
    match output {
        Ok(o) if o.status.success() => Ok(String::from_utf8_lossy(&o.stdout).trim().to_string()),
        _ => Err("no NVIDIA driver found; only needed for the back end `cuda`".to_string()),
    }
}
