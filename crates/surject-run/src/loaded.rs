//! A compiled program in this process.

use crate::archive::{Archive, ArchiveError, Port};
use crate::cpu::CpuProgram;
use std::path::Path;
use surject_cuda::{Device, DeviceError, DeviceName, Plan, Pooled, RunError, Session, TensorId};
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
        match archive {
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
                let (params, results) = (ports(&plan, &plan.params), ports(&plan, &plan.results));
                let session = Session::new(Pooled::new(device), *plan)?;
                Ok(Loaded { params, results, code: Code::Cuda(Box::new(session)) })
            }
            Archive::Cpu(image) => {
                let program = CpuProgram::new(*image)?;
                let (params, results) = (program.params().to_vec(), program.results().to_vec());
                Ok(Loaded { params, results, code: Code::Cpu(Box::new(program)) })
            }
        }
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

fn ports(plan: &Plan, ids: &[TensorId]) -> Vec<Port> {
    ids.iter().map(|&id| plan.tensor(id)).map(|t| Port::new(t.dtype, &t.shape)).collect()
}
