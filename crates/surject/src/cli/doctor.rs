//! `surject doctor`: what is installed, what is missing, and how to get it.

use crate::Failure;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use surject_cuda::{Device, DeviceError, DeviceName, Driver, Library};
use surject_gpu::Gpu;
use surject_mlir::pipelines::{Kind, Pipeline};

/// Arguments of `surject doctor`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Measure this machine and write the constants of the optimiser's cost model to a file.
    #[arg(long, value_name = "FILE")]
    calibrate: Option<PathBuf>,
    /// Measure a GPU and write what it does at most, beside what the machine model says, to a file of JSON.
    #[arg(long, value_name = "FILE", conflicts_with = "calibrate")]
    gpu: Option<PathBuf>,
    /// The number of that GPU.
    #[arg(long, value_name = "N", default_value_t, requires = "gpu")]
    device: DeviceName,
    /// Print the pass pipelines of compiled code, as `mlir-opt` takes them, instead.
    #[arg(long, conflicts_with = "calibrate")]
    pipelines: bool,
}

/// Runs the subcommand. What is missing is a line, not a failure: the command itself works without it.
pub fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some(path) = &arguments.calibrate {
        return calibrate(path, out);
    }
    if let Some(path) = &arguments.gpu {
        return calibrate_gpu(arguments.device, path, out);
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
    match Driver::count() {
        Err(error) => line("CUDA driver", Err(first_line(&error.to_string())))?,
        Ok(0) => line("GPU", Err(first_line(&DeviceError::NoDevice.to_string())))?,
        Ok(count) => {
            for number in 0..count {
                line(&format!("GPU {number}"), gpu(number))?;
            }
        }
    }
    for library in Library::ALL {
        line(&library.to_string(), cuda_library(library))?;
    }
    line("ptxas", tool("ptxas", "cargo xtask setup (assembles PTX in tests; a driver does so itself)"))?;
    line("nvdisasm", tool("nvdisasm", "pip install nvidia-cuda-nvdisasm (`surject opt --emit sass`)"))
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

/// Measures a GPU.
fn calibrate_gpu(name: DeviceName, path: &std::path::Path, out: &mut dyn Write) -> Result<(), Failure> {
    let mut device = name.open().map_err(Failure::unsupported)?;
    let gpu = crate::cuda::machine(&*device, None)?;
    let measured = surject_cuda::probe::measure(&mut *device).map_err(Failure::unsupported)?;
    let info = device.info();
    let json = serde_json::json!({
        "schema": 1,
        "device": info.name,
        "capability": info.capability,
        "multiprocessors": info.multiprocessors,
        "memory_bytes": info.memory,
        "driver": info.driver,
        "measured": measured,
        "model": {
            "name": gpu.name,
            "copy_bytes_per_second": gpu.bandwidth,
            "f32_flops": 2.0 * gpu.rate,
            "bf16_flops": 2.0 * gpu.products,
        },
    });
    super::write(path, format!("{json:#}\n"))?;
    super::print(out, format_args!("{json:#}\n"))
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

/// What the driver says of a GPU, and whose kernels it runs.
fn gpu(number: i32) -> Result<String, String> {
    let driver = Driver::numbered(number).map_err(|e| first_line(&e.to_string()))?;
    let info = driver.info();
    let ((major, minor), (cuda, point)) = (info.capability, info.driver);
    let kernels = match info.architecture(Gpu::names()) {
        Some(name) => format!("kernels of {name}"),
        None => "no kernels are made for it".into(),
    };
    Ok(format!(
        "{}: compute capability {major}.{minor}, {} multiprocessors, {} MiB, {} KiB of shared memory a block; driver for \
         CUDA {cuda}.{point}; {kernels}",
        info.name,
        info.multiprocessors,
        info.memory >> 20,
        info.shared >> 10
    ))
}

/// Whether programs on a GPU call a library, and what they do without it.
fn cuda_library(library: Library) -> Result<String, String> {
    let what = match library {
        Library::Cublas => "triangular systems",
        Library::Cufft => "Fourier transforms",
        Library::Cusolver => "factorisations",
    };
    match Driver::library(library) {
        Ok(()) => Ok(format!("{what} on a GPU")),
        Err(error) => Err(format!("{what} of programs on a GPU stay with the host: {error}")),
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_string()
}
