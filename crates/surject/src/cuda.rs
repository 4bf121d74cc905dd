//! Programs on an NVIDIA GPU: their plans, with PTX that is made in this process, and the devices they run on.

use crate::Failure;
use std::collections::HashMap;
use surject_codegen::kernels::schedule::Schedules;
use surject_cuda::{Device, DeviceError, DeviceName, Host, Interpreter, Plan, Pooled, RunError, Session};
use surject_gpu::program::{Planned, planned};
use surject_gpu::{Gpu, compile};
use surject_ir::{Buffer, Program};
use surject_mlir::{CompileOptions, Executable};

/// A plan on a device.
pub type CudaSession = Session<Pooled<Box<dyn Device>>>;

/// The machine whose kernels a device runs: that of a name, else the newest that the device knows.
pub fn machine(device: &dyn Device, name: Option<&str>) -> Result<Gpu, Failure> {
    let names = || Gpu::names().collect::<Vec<&str>>().join(", ");
    match name {
        Some(name) => Gpu::named(name).ok_or_else(|| {
            Failure::bad_input(format!("`{name}` is no GPU; `cuda` needs one of {}", names()))
        }),
        None => {
            let info = device.info();
            let found = info.architecture(Gpu::names()).and_then(Gpu::named);
            found.ok_or_else(|| {
                Failure::unsupported(DeviceError::Architecture {
                    name: info.name.clone(),
                    capability: info.capability,
                    known: names(),
                })
            })
        }
    }
}

/// The machine whose kernels the device of a name runs.
pub fn gpu(device: DeviceName, name: Option<&str>) -> Result<Gpu, Failure> {
    machine(&*device.open().map_err(Failure::unsupported)?, name)
}

/// The plan of a function for a GPU, with its PTX.
pub fn plan(program: &Program, function: &str, gpu: &Gpu, given: &Schedules) -> Result<Plan, Failure> {
    let Planned { mut plan, module } =
        planned(program, function, gpu, given).map_err(Failure::unsupported)?;
    if !plan.kernels.is_empty() {
        plan.ptx = ptx(&module, gpu.name)?;
    }
    Ok(plan)
}

/// The PTX of a module of kernels.
pub fn ptx(module: &str, architecture: &str) -> Result<String, Failure> {
    let lowered = surject_mlir::gpu::lowered(module, &compile::passes(architecture));
    compile::extract(&lowered.map_err(Failure::unsupported)?).map_err(Failure::unsupported)
}

/// A function of a program on a device.
pub fn start(
    program: &Program,
    function: &str,
    device: DeviceName,
    machine_name: Option<&str>,
    given: &Schedules,
) -> Result<CudaSession, Failure> {
    let device = device.open().map_err(Failure::unsupported)?;
    let gpu = machine(&*device, machine_name)?;
    let plan = plan(program, function, &gpu, given)?;
    Session::with_host(Pooled::new(device), plan, Box::<Native>::default()).map_err(failed)
}

/// Steps of the host as native code, compiled when they first run; what has none is interpreted.
#[derive(Default)]
struct Native(HashMap<u32, Option<Executable>>);

impl Host for Native {
    fn run(&mut self, number: u32, program: &Program, args: &[Buffer]) -> Result<Vec<Buffer>, String> {
        let compiled = self.0.entry(number).or_insert_with(|| {
            let function = program.main()?;
            surject_mlir::compile(program, &function.name, &CompileOptions::default()).ok()
        });
        match compiled {
            Some(executable) => executable.run(args).map_err(|error| error.to_string()),
            None => Interpreter.run(number, program, args),
        }
    }
}

/// Wrong arguments are bad input; what a device does not do is not supported.
pub fn failed(error: RunError) -> Failure {
    match error {
        RunError::Count { .. } | RunError::Type { .. } => Failure::bad_input(error),
        _ => Failure::unsupported(error),
    }
}
