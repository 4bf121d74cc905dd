//! How fast a module is read and printed: `speed TASK FILE.mlir FILE.mlirbc SECONDS`, where the task is `read text`, `print text`,
//! `read artifact` or `write artifact`. Prints the least time in seconds, and the peak of memory of reading as a multiple of the
//! text. `benches/reading.py` runs it beside MLIR.

use std::time::{Duration, Instant};

use surject_stablehlo::{artifact, parse, parse_and_verify, print};

/// A field of what the system says of this process, in bytes; 0 where it does not.
fn memory(field: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    let kilobytes = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) * 1024.0
}

/// The least time of a run; what a run gives is dropped outside of the time.
fn least<T>(seconds: f64, mut work: impl FnMut() -> T) -> f64 {
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let mut least = f64::INFINITY;
    loop {
        let start = Instant::now();
        let made = work();
        least = least.min(start.elapsed().as_secs_f64());
        drop(made);
        if Instant::now() > end {
            return least;
        }
    }
}

const SMALL: &str = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  %1 = stablehlo.reshape %0 : (tensor<2xf32>) -> tensor<2x1xf32>
  %2 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
  %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [1] : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  return %x : tensor<2xf32>
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [task, text, artifact, seconds] = arguments.as_slice() else {
        return Err("speed TASK FILE.mlir FILE.mlirbc SECONDS".into());
    };
    let (text, bytes, seconds) = (std::fs::read(text)?, std::fs::read(artifact)?, seconds.parse()?);
    // The code itself is no memory of a program: a small one brings it in.
    parse_and_verify(SMALL).map_err(|d| d.render("a small program", SMALL.as_bytes()))?;
    let before = memory("VmRSS") - text.len() as f64;
    let module = parse_and_verify(&text).map_err(|d| d.render("the text", &text))?;
    let peak = (memory("VmHWM") - before) / text.len() as f64;
    let time = match task.as_str() {
        "read text" => least(seconds, || parse_and_verify(&text)),
        "print text" => least(seconds, || print(&module)),
        "read artifact" => least(seconds, || parse(&bytes)),
        "write artifact" => least(seconds, || artifact::write(&module, None)),
        other => return Err(format!("there is no task `{other}`").into()),
    };
    println!("{time} {peak}");
    Ok(())
}
