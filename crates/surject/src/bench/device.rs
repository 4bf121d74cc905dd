//! Our side on a GPU: what it can do at most, and how a program is timed there.

use super::measure;
use crate::cuda::{CudaSession, failed};
use crate::pipeline::{Runner, StageTimes};
use crate::{Failure, Source};
use std::path::Path;
use std::time::Instant;
use surject_cuda::probe::{self, Copier};
use surject_cuda::{Device, DeviceName};
use surject_ir::Function;
use surject_rules::Exactness;

/// Operations a second of multiply-adds of `f32`, and the name of the device.
pub fn ceiling(name: DeviceName) -> Result<(f64, String), Failure> {
    let mut device = name.open().map_err(Failure::unsupported)?;
    let measured = probe::measure(&mut *device).map_err(Failure::unsupported)?;
    Ok((measured.f32_flops, device.info().name.clone()))
}

/// What copies as many bytes as a program moves.
pub fn copier(name: DeviceName, bytes: f64) -> Result<Copier<Box<dyn Device>>, Failure> {
    let device = name.open().map_err(Failure::unsupported)?;
    Copier::new(device, (bytes / 2.0).ceil() as u64).map_err(Failure::unsupported)
}

/// From text to runnable; by the schedules of a file, where there is one.
pub fn prepare(
    path: &Path,
    device: DeviceName,
    exactness: Exactness,
    schedule: Option<&Path>,
) -> Result<(Runner, Function), Failure> {
    let source = Source::load(path)?;
    let (program, main) = measure::optimised(&source, exactness)?;
    let function = program.function(&main).cloned().unwrap_or_default();
    let schedules =
        crate::cli::schedules(schedule, &function, || Ok(Box::new(crate::cuda::gpu(device, None)?)))?;
    let times = &mut StageTimes::default();
    let runner = Runner::cuda(&program, &main, device, None, &schedules, times)?;
    Ok((runner, function))
}

/// A run on arguments that are on the device, to its end: milliseconds.
pub fn sample(session: &mut CudaSession) -> Result<f64, Failure> {
    let start = Instant::now();
    session.go().and_then(|()| session.wait()).map_err(failed)?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

/// The kernels in the order of their launches, with the microseconds that each launch takes by itself.
pub fn launches(session: &mut CudaSession) -> Result<Vec<(String, f64)>, Failure> {
    let times = session.launch_times().map_err(failed)?;
    let kernels = &session.plan().kernels;
    Ok(times.iter().map(|time| (kernels[time.kernel as usize].name.clone(), time.us)).collect())
}
