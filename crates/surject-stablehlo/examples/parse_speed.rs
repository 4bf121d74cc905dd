//! Prints how fast text is read: `cargo run --release --example parse_speed [file.mlir]`.
//!
//! Without a file, a generated program of 20 MB of operations, and one of 100 MB that is mostly a blob.

use std::fmt::Write;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if let Some(path) = std::env::args().nth(1) {
        let text = std::fs::read_to_string(&path)?;
        return measure(&path, &text);
    }
    measure("operations", &operations(20_000_000))?;
    measure("blob", &blob(100_000_000))
}

/// Best of several readings; verification and printing once each.
fn measure(what: &str, text: &str) -> Result<(), Box<dyn std::error::Error>> {
    let megabytes = text.len() as f64 / 1e6;
    let rate = |seconds: f64| megabytes / seconds;
    let mut best = f64::INFINITY;
    let mut module = None;
    for _ in 0..5 {
        let start = Instant::now();
        let read = surject_stablehlo::parse(text).map_err(|e| e.render(what, text))?;
        best = best.min(start.elapsed().as_secs_f64());
        module = Some(read);
    }
    let Some(module) = module else { return Ok(()) };
    let start = Instant::now();
    surject_stablehlo::verify(&module).map_err(|errors| errors[0].render(what, text))?;
    let verify = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let printed = surject_stablehlo::print(&module);
    let print = start.elapsed().as_secs_f64();
    println!(
        "{what}: {megabytes:.1} MB, read {:.0} MB/s, verify {:.0} MB/s, print {:.0} MB/s ({} bytes)",
        rate(best),
        rate(verify),
        rate(print),
        printed.len()
    );
    Ok(())
}

/// Functions of common operations.
fn operations(size: usize) -> String {
    let mut out = String::with_capacity(size + 4096);
    out.push_str("module @speed attributes {mhlo.num_partitions = 1 : i32} {\n");
    let mut function = 0;
    while out.len() < size {
        _ = writeln!(
            out,
            "  func.func private @f{function}(%arg0: tensor<32x64xf32>, %arg1: tensor<64x64xf32>) -> tensor<32x64xf32> {{"
        );
        out.push_str("    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>\n");
        let mut last = "arg0".to_string();
        for i in (0..1000).step_by(5) {
            _ = writeln!(
                out,
                "    %{i} = stablehlo.dot_general %{last}, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>"
            );
            _ = writeln!(out, "    %{} = stablehlo.add %{i}, %{last} : tensor<32x64xf32>", i + 1);
            _ = writeln!(
                out,
                "    %{} = stablehlo.reduce(%{} init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>",
                i + 2,
                i + 1
            );
            _ = writeln!(
                out,
                "    %{} = stablehlo.broadcast_in_dim %{}, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>",
                i + 3,
                i + 2
            );
            _ = writeln!(out, "    %{} = stablehlo.tanh %{} : tensor<32x64xf32>", i + 4, i + 3);
            last = (i + 4).to_string();
        }
        _ = writeln!(out, "    return %{last} : tensor<32x64xf32>\n  }}");
        function += 1;
    }
    out.push_str("}\n");
    out
}

/// One constant of many elements.
fn blob(size: usize) -> String {
    let elements = size / 8;
    let mut out = String::with_capacity(size + 4096);
    out.push_str("func.func @main() -> tensor<");
    _ = write!(out, "{elements}xf32> {{\n  %cst = stablehlo.constant dense<\"0x");
    for i in 0..elements {
        _ = write!(out, "{:08X}", (i as u32).wrapping_mul(2_654_435_761));
    }
    _ = writeln!(out, "\"> : tensor<{elements}xf32>\n  return %cst : tensor<{elements}xf32>\n}}");
    out
}
