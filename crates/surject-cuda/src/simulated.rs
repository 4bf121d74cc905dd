//! A device that interprets PTX: what plans run on where there is no GPU.
//!
//! It is for tests and dry runs: it says whether results are right, and nothing of time.

mod libraries;

use crate::call::{Call, Library};
use crate::{Device, DeviceError, DeviceInfo, Mark, Memory, Module, Recording, Shape, View};
use std::collections::HashMap;
use surject_ptx::{Arg, Buffer, Grid};

/// Bytes, and which of them anything has written.
#[derive(Debug, Default)]
struct Bytes {
    bytes: Vec<u8>,
    written: Vec<bool>,
}

/// What is recorded.
#[derive(Debug)]
enum Command {
    Launch(Module, String, Shape, Vec<View>),
    Copy(View, View),
}

/// What a device is asked for, which may be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Memory.
    Allocate,
    /// Bytes of the host onto the device.
    Upload,
    /// Bytes of the device to the host.
    Download,
    /// A copy on the device.
    Copy,
    /// Loading PTX.
    Load,
    /// A launch.
    Launch,
    /// Making ready for a call of a library.
    Prepare,
    /// A call of a library.
    Call,
    /// Waiting.
    Synchronise,
    /// The end of a recording.
    Recorded,
    /// A recording that is replayed.
    Replay,
}

/// A failure to come.
#[derive(Debug)]
struct Fault {
    operation: Operation,
    /// How many of these operations succeed before.
    after: usize,
    error: DeviceError,
}

/// A device without a machine. Reads of what nothing has written, accesses outside of a tensor, tensors that overlap, and
/// memory that is used after it was given back are errors.
#[derive(Debug)]
pub struct Simulated {
    info: DeviceInfo,
    memory: HashMap<u64, Bytes>,
    modules: HashMap<u64, surject_ptx::Module>,
    recordings: HashMap<u64, Vec<Command>>,
    /// The recording that goes on.
    recording: Option<Vec<Command>>,
    next: u64,
    faults: Vec<Fault>,
    /// The libraries that it does not have.
    pub missing: Vec<Library>,
    /// Calls of libraries so far.
    pub calls: usize,
    /// Bytes that it has to give.
    pub left: u64,
    /// Launches so far.
    pub launches: usize,
}

impl Simulated {
    /// A device with so many bytes of memory, and the compute capability of an H100.
    pub fn new(left: u64) -> Simulated {
        Simulated {
            info: DeviceInfo {
                name: "simulated".into(),
                capability: (9, 0),
                memory: left,
                multiprocessors: 1,
                shared: 227 << 10,
                driver: (12, 0),
            },
            memory: HashMap::new(),
            modules: HashMap::new(),
            recordings: HashMap::new(),
            recording: None,
            next: 0,
            faults: Vec::new(),
            missing: Vec::new(),
            calls: 0,
            left,
            launches: 0,
        }
    }

    /// How many memories, modules and recordings are held.
    pub fn held(&self) -> [usize; 3] {
        [self.memory.len(), self.modules.len(), self.recordings.len()]
    }

    /// Makes an operation fail, and all of its kind behind it, when so many have succeeded from here on.
    pub fn fail(&mut self, operation: Operation, after: usize, error: DeviceError) {
        self.faults.push(Fault { operation, after, error });
    }

    fn fault(&mut self, operation: Operation) -> Result<(), DeviceError> {
        for fault in self.faults.iter_mut().filter(|fault| fault.operation == operation) {
            match fault.after.checked_sub(1) {
                Some(after) => fault.after = after,
                None => return Err(fault.error.clone()),
            }
        }
        Ok(())
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn bytes(&mut self, view: View) -> Result<(&mut Bytes, std::ops::Range<usize>), DeviceError> {
        let lost = |what: &str| DeviceError::Lost(format!("{what}: {view:?}"));
        let memory = self.memory.get_mut(&view.memory.0).ok_or_else(|| lost("memory that is not there"))?;
        let range = view.offset as usize..(view.offset + view.bytes) as usize;
        if range.end > memory.bytes.len() {
            return Err(lost("outside of memory"));
        }
        Ok((memory, range))
    }

    fn do_copy(&mut self, from: View, to: View) -> Result<(), DeviceError> {
        if from.bytes != to.bytes {
            return Err(DeviceError::Lost("a copy between sizes".into()));
        }
        let (memory, range) = self.bytes(from)?;
        let (bytes, written) = (memory.bytes[range.clone()].to_vec(), memory.written[range].to_vec());
        let (memory, range) = self.bytes(to)?;
        memory.bytes[range.clone()].copy_from_slice(&bytes);
        memory.written[range].copy_from_slice(&written);
        Ok(())
    }

    fn do_launch(
        &mut self,
        module: Module,
        kernel: &str,
        shape: &Shape,
        args: &[View],
    ) -> Result<(), DeviceError> {
        let mut buffers = Vec::new();
        for (i, &view) in args.iter().enumerate() {
            for other in &args[..i] {
                let apart =
                    view.offset + view.bytes <= other.offset || other.offset + other.bytes <= view.offset;
                if view.memory == other.memory && !apart && view != *other && view.bytes.min(other.bytes) > 0
                {
                    return Err(DeviceError::Lost(format!(
                        "tensors of `{kernel}` overlap: {view:?}, {other:?}"
                    )));
                }
            }
            if view.offset % 256 != 0 {
                return Err(DeviceError::Lost(format!("{view:?} is not aligned")));
            }
            let (memory, range) = self.bytes(view)?;
            buffers.push(Buffer::partly(&memory.bytes[range.clone()], &memory.written[range]));
        }
        let before = buffers.clone();
        let module = self.modules.get(&module.0).ok_or_else(|| DeviceError::NoKernel(kernel.into()))?;
        let grid = Grid { blocks: shape.blocks, threads: shape.threads, shared: shape.shared as usize };
        let maps = shape.maps.iter().map(|map| {
            Arg::Map(surject_ptx::TensorMap {
                buffer: map.tensor as usize,
                extents: map.extents.clone(),
                strides: map.strides.clone(),
                sizes: map.sizes.clone(),
                swizzled: map.swizzled,
            })
        });
        let numbers: Vec<Arg> = (0..buffers.len()).map(Arg::Buffer).chain(maps).collect();
        surject_ptx::run(module, kernel, &grid, &numbers, &mut buffers)
            .map_err(|error| DeviceError::Lost(error.to_string()))?;
        // One tensor may be two arguments where it is only read.
        for (i, view) in args.iter().enumerate() {
            let twice = args.iter().enumerate().any(|(j, other)| j != i && other == view);
            if twice && buffers[i] != before[i] {
                return Err(DeviceError::Lost(format!(
                    "`{kernel}` writes to what is two of its arguments: {view:?}"
                )));
            }
        }
        self.launches += 1;
        for (&view, buffer) in args.iter().zip(&buffers) {
            let (memory, range) = self.bytes(view)?;
            memory.bytes[range.clone()].copy_from_slice(buffer.bytes());
            memory.written[range].copy_from_slice(buffer.written());
        }
        Ok(())
    }
}

fn none() -> DeviceError {
    DeviceError::Lost("there is no such recording".into())
}

impl Device for Simulated {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn allocate(&mut self, bytes: u64) -> Result<Memory, DeviceError> {
        self.fault(Operation::Allocate)?;
        if bytes > self.left {
            return Err(DeviceError::OutOfMemory { bytes, free: Some(self.left) });
        }
        self.left -= bytes;
        let number = self.number();
        let count = bytes as usize;
        self.memory.insert(number, Bytes { bytes: vec![0xcd; count], written: vec![false; count] });
        Ok(Memory(number))
    }

    fn free(&mut self, memory: Memory) {
        if let Some(freed) = self.memory.remove(&memory.0) {
            self.left += freed.bytes.len() as u64;
        }
    }

    fn upload(&mut self, to: View, bytes: &[u8]) -> Result<(), DeviceError> {
        self.fault(Operation::Upload)?;
        if self.recording.is_some() {
            return Err(DeviceError::Lost("bytes of the host in a recording".into()));
        }
        let (memory, range) = self.bytes(to)?;
        memory.bytes[range.clone()].copy_from_slice(bytes);
        memory.written[range].fill(true);
        Ok(())
    }

    fn download(&mut self, from: View, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.fault(Operation::Download)?;
        if self.recording.is_some() {
            return Err(DeviceError::Lost("the host waits in a recording".into()));
        }
        let (memory, range) = self.bytes(from)?;
        if !memory.written[range.clone()].iter().all(|&w| w) {
            return Err(DeviceError::Lost(format!("{from:?} was never written")));
        }
        bytes.copy_from_slice(&memory.bytes[range]);
        Ok(())
    }

    fn copy(&mut self, from: View, to: View) -> Result<(), DeviceError> {
        self.fault(Operation::Copy)?;
        match &mut self.recording {
            Some(commands) => {
                commands.push(Command::Copy(from, to));
                Ok(())
            }
            None => self.do_copy(from, to),
        }
    }

    fn load(&mut self, ptx: &str) -> Result<Module, DeviceError> {
        self.fault(Operation::Load)?;
        let module = surject_ptx::parse(ptx).map_err(|error| DeviceError::Load(error.to_string()))?;
        let number = self.number();
        self.modules.insert(number, module);
        Ok(Module(number))
    }

    fn unload(&mut self, module: Module) {
        self.modules.remove(&module.0);
    }

    fn launch(
        &mut self,
        module: Module,
        kernel: &str,
        shape: &Shape,
        args: &[View],
    ) -> Result<(), DeviceError> {
        self.fault(Operation::Launch)?;
        match &mut self.recording {
            Some(commands) => {
                commands.push(Command::Launch(module, kernel.into(), shape.clone(), args.to_vec()));
                Ok(())
            }
            None => self.do_launch(module, kernel, shape, args),
        }
    }

    fn prepare(&mut self, call: &Call) -> Result<u64, DeviceError> {
        self.fault(Operation::Prepare)?;
        self.ready(call)?;
        Ok(libraries::WORKSPACE)
    }

    fn call(&mut self, call: &Call, tensors: &[View]) -> Result<(), DeviceError> {
        self.fault(Operation::Call)?;
        if self.recording.is_some() {
            return Err(DeviceError::Lost("a call of a library in a recording".into()));
        }
        self.do_call(call, tensors)
    }

    fn synchronise(&mut self) -> Result<(), DeviceError> {
        self.fault(Operation::Synchronise)
    }

    fn mark(&mut self) -> Result<Mark, DeviceError> {
        Ok(Mark(self.launches as u64))
    }

    /// There is no time here.
    fn elapsed(&mut self, _: Mark, _: Mark) -> Result<f64, DeviceError> {
        Err(DeviceError::Driver { call: "elapsed", reason: "a simulated device has no time".into() })
    }

    fn record(&mut self) -> Result<(), DeviceError> {
        self.recording = Some(Vec::new());
        Ok(())
    }

    fn recorded(&mut self) -> Result<Recording, DeviceError> {
        let commands = self.recording.take().ok_or_else(none)?;
        self.fault(Operation::Recorded)?;
        let number = self.number();
        self.recordings.insert(number, commands);
        Ok(Recording(number))
    }

    fn replay(&mut self, recording: Recording) -> Result<(), DeviceError> {
        self.fault(Operation::Replay)?;
        let commands = self.recordings.remove(&recording.0).ok_or_else(none)?;
        let done = commands.iter().try_for_each(|command| match command {
            Command::Launch(module, kernel, shape, args) => self.do_launch(*module, kernel, shape, args),
            Command::Copy(from, to) => self.do_copy(*from, *to),
        });
        self.recordings.insert(recording.0, commands);
        done
    }

    fn forget(&mut self, recording: Recording) {
        self.recordings.remove(&recording.0);
    }
}
