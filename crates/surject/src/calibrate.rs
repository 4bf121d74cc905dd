//! The constants of the optimiser's cost model, measured on this machine with our own generated code.

use crate::Failure;
use std::time::{Duration, Instant};
use surject_egraph::CostModel;
use surject_ir::Buffer;
use surject_mlir::{CompileOptions, Executable};
use surject_runtime::{DType, Scalar};

/// Elements of the tensor on which operations are timed: it stays in the second-level cache.
const CACHED: usize = 1 << 15;
/// Elements of the tensor that is copied: far more than any cache holds.
const LARGE: usize = 1 << 25;
/// Operations in a chain; the loads and stores around them cancel out in a difference.
const CHAIN: usize = 8;

/// Measures what an element of an operation, a byte, and the start of a kernel cost, in units of one element of a
/// vectorised addition.
pub fn measure() -> Result<CostModel, Failure> {
    let bare = time(CACHED, "x[i]")?;
    // Each chain keeps its values in a range where the operation does its usual work.
    let per_element = |step: &str| -> Result<f64, Failure> {
        let chain = (0..CHAIN).fold("x[i]".to_string(), |inner, _| step.replace('@', &inner));
        Ok((time(CACHED, &chain)? - bare).max(1e-12) / (CHAIN * CACHED) as f64)
    };
    let unit = per_element("(@ + 1.5f32)")?;
    let divide = per_element("(2.0f32 / @)")?;
    let exp = per_element("exp(neg(@))")?;
    let tanh = per_element("tanh(@)")?;
    let byte = time(LARGE, "x[i]")? / (2 * 4 * LARGE) as f64;
    let launch = (kernels(1 + CHAIN)? - kernels(1)?).max(0.0) / CHAIN as f64;
    let relative = |seconds: f64| (100.0 * seconds / unit).round() / 100.0;
    Ok(CostModel {
        byte: relative(byte),
        launch: relative(launch),
        divide: relative(divide),
        exp: relative(exp),
        tanh: relative(tanh),
        ..CostModel::default()
    })
}

/// Seconds that a kernel `y[i] = expression` takes over a vector of this length.
fn time(length: usize, expression: &str) -> Result<f64, Failure> {
    run(length, &format!("(y) {{\n  y : f32[{length}] =: over i<{length}: {expression}\n}}\n"))
}

/// Seconds that so many kernels of a few elements take, each of another number of them, or they would be one.
fn kernels(count: usize) -> Result<f64, Failure> {
    let names: Vec<String> = (1..=count).map(|n| format!("y{n}")).collect();
    let fields = (1..=count).map(|n| format!("  y{n} : f32[{n}] =: over i<{n}: neg(x[i])\n"));
    run(count, &format!("({}) {{\n{}}}\n", names.join(", "), fields.collect::<String>()))
}

/// Seconds that a function of a vector `x` of this length takes, whose results and body are given.
fn run(length: usize, body: &str) -> Result<f64, Failure> {
    let program =
        surject_ir::parse(&format!("func main(x: f32[{length}]) -> {body}")).map_err(Failure::bad_input)?;
    let executable: Executable =
        surject_mlir::compile(&program, "main", &CompileOptions::default()).map_err(Failure::unsupported)?;
    let x = Buffer::splat(Scalar::from_f64(DType::F32, 0.75), &[length]);
    let mut results = executable.result_buffers();
    minimum(|| executable.run_into(&[&x], &mut results).map_err(Failure::bad_input))
}

/// The smallest time of a run, in seconds, over a fifth of a second and at least five runs.
fn minimum(mut run: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    let (mut best, mut runs) = (f64::INFINITY, 0);
    let end = Instant::now() + Duration::from_millis(200);
    while runs < 5 || Instant::now() < end {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed().as_secs_f64());
        runs += 1;
    }
    Ok(best)
}
