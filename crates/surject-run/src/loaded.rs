//! A compiled program in this process.

use crate::archive::{Archive, ArchiveError, Port};
use crate::cpu::CpuProgram;
use std::path::Path;
use surject_cuda::{Device, DeviceError, DeviceName, Pooled, RunError, Session};
use surject_runtime::Buffer;

/// Why a program does not run.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// The archive.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// There is no such device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The device does not run it.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The code is for another machine.
    #[error("{0}\n  = help: compile the program for this machine: `surject compile --target cpu:host`")]
    Machine(String),
    /// The code cannot be loaded.
    #[error("the code cannot be loaded: {0}")]
    Code(String),
    /// There is not so much memory.
    #[error("{what} of {bytes} bytes does not fit in memory")]
    Memory {
        /// For what.
        what: String,
        /// How many.
        bytes: u64,
    },
}

/// A compiled program that is ready to run.
pub struct Loaded {
    params: Vec<Port>,
    results: Vec<Port>,
    code: Code,
}

enum Code {
    Cuda(Box<Session<Pooled<Box<dyn Device>>>>),
    Cpu(Box<CpuProgram>),
}

impl Loaded {
    /// Loads the program of a file; one for a GPU onto this device.
    pub fn open(path: &Path, device: DeviceName) -> Result<Loaded, RunnerError> {
        Loaded::new(Archive::read(path)?, device)
    }

    /// Loads a program; one for a GPU onto this device.
    pub fn new(archive: Archive, device: DeviceName) -> Result<Loaded, RunnerError> {
        let (params, results) = (archive.params(), archive.results());
        let code = match archive {
            Archive::Cuda(plan) => {
                let device = device.open()?;
                let info = device.info();
                if info.architecture([plan.architecture.as_str()]).is_none() {
                    return Err(RunnerError::Device(DeviceError::Architecture {
                        name: info.name.clone(),
                        capability: info.capability,
                        known: plan.architecture.clone(),
                    }));
                }
                Code::Cuda(Box::new(Session::new(Pooled::new(device), *plan)?))
            }
            Archive::Cpu(image) => Code::Cpu(Box::new(CpuProgram::new(*image)?)),
        };
        Ok(Loaded { params, results, code })
    }

    /// The types of the arguments.
    pub fn params(&self) -> &[Port] {
        &self.params
    }

    /// The types of the results.
    pub fn results(&self) -> &[Port] {
        &self.results
    }

    /// Runs the program.
    pub fn run(&mut self, args: &[Buffer]) -> Result<Vec<Buffer>, RunnerError> {
        if args.len() != self.params.len() {
            return Err(RunError::Count { found: args.len(), expected: self.params.len() }.into());
        }
        for (index, (port, arg)) in self.params.iter().zip(args).enumerate() {
            let found = Port::new(arg.dtype(), arg.shape());
            if found != *port {
                let (found, expected) = (found.to_string(), port.to_string());
                return Err(RunError::Type { index, found, expected }.into());
            }
        }
        match &mut self.code {
            Code::Cuda(session) => Ok(session.run(args)?),
            Code::Cpu(program) => program.run(args),
        }
    }
}
