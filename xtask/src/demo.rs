//! The demo: a program without shapes, and a transformer block from JAX through every stage.

use crate::setup;
use crate::shell::{self, Outcome, cargo, program, root};
use std::path::Path;

/// Builds the command and shows what it does with one real program.
pub fn run() -> Outcome {
    setup::packages()?;
    shell::run(&mut cargo(&["build", "--release", "--package", "surject", "--bin", "surject"]))?;
    // Relative to the root, where every command runs: what is shown can be typed again.
    let case = Path::new("tests/programs/transformer_block");
    let file = case.join("program.mlir").to_string_lossy().into_owned();
    let surject = target_directory().join("release/surject");
    let step = |title: &str, args: &[&str]| {
        println!("\n== {title}");
        run_in(&surject, args)
    };
    step("what is installed", &["doctor"])?;
    without_shapes(&surject)?;
    println!("\n== the program as JAX exported it: StableHLO ({file})");
    let text = std::fs::read_to_string(root().join(&file)).map_err(|e| format!("{file}: {e}"))?;
    text.lines().take(12).for_each(|line| println!("{}", line.chars().take(150).collect::<String>()));
    println!("    … {} lines", text.lines().count());
    step("what the e-graph did", &["opt", &file, "--stats"])?;
    step("the assignments after rewriting", &["opt", &file, "--emit", "program"])?;
    step("the same in the MLIR dialect", &["opt", &file, "--emit", "dialect"])?;
    step("the kernels they become", &["opt", &file, "--emit", "plan"])?;
    let inputs = numbered(case, "in")?;
    let outputs = numbered(case, "out")?;
    let with = |backend: &'static str| {
        let mut args = vec!["run", &file, "--backend", backend, "--rtol", "1e-5", "--atol", "1e-5"];
        inputs.iter().for_each(|i| args.extend(["-i", i]));
        outputs.iter().for_each(|o| args.extend(["--expect", o]));
        args.into_iter().map(str::to_string).collect::<Vec<_>>()
    };
    let interp = with("interp");
    step(
        "the reference interpreter against JAX's results",
        &interp.iter().map(String::as_str).collect::<Vec<_>>(),
    )?;
    let mut cpu = with("cpu");
    cpu.push("--time".to_string());
    step(
        "native code through MLIR against JAX's results",
        &cpu.iter().map(String::as_str).collect::<Vec<_>>(),
    )
}

/// One page about a program without shapes: its text, what was inferred, its loops, and what it computes.
fn without_shapes(surject: &Path) -> Outcome {
    let file = "tests/infer/conv_dense.sj";
    let step = |title: &str, args: &[&str]| {
        println!("\n== {title}");
        run_in(surject, args)
    };
    println!("\n== a program without shapes ({file})");
    let text = std::fs::read_to_string(root().join(file)).map_err(|e| format!("{file}: {e}"))?;
    print!("{text}");
    step("what is inferred, and from what: shapes, constraints, loops", &["infer", file])?;
    step("a program of assignments", &["opt", file, "--no-opt", "--emit", "program"])?;
    step("after rewriting: the loops that run", &["opt", file, "--emit", "program"])?;
    let image = "tests/infer/conv_dense.npy";
    let run = |backend| ["run", file, "-i", image, "--seed", "1", "--backend", backend];
    step("its result, interpreted", &run("interp"))?;
    step("its result, compiled", &run("cpu"))
}

fn run_in(surject: &Path, args: &[&str]) -> Outcome {
    shell::run(&mut program(surject, args))
}

/// Where cargo puts its results.
fn target_directory() -> std::path::PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into)
}

/// The files `in0.npy`, `in1.npy`, … of a case, in order.
fn numbered(case: &Path, stem: &str) -> Outcome<Vec<String>> {
    let mut files = Vec::new();
    loop {
        let candidates = [format!("{stem}{}.npy", files.len()), format!("{stem}{}.bf16.npy", files.len())];
        match candidates.iter().map(|c| case.join(c)).find(|p| root().join(p).exists()) {
            Some(path) => files.push(path.to_string_lossy().into_owned()),
            None if files.is_empty() => return Err(format!("{} has no {stem}0.npy", case.display())),
            None => return Ok(files),
        }
    }
}
