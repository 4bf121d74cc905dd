//! A device that interprets PTX: what plans run on where there is no GPU.
//!
//! It is for tests and dry runs: it says whether results are right, and nothing of time. What its streams do is not
//! ordered but by events and by what the host waits for: accesses to the same bytes that nothing orders are errors
//! ([`queues`]), and where a seed is given, commands are done late and in an order that it decides.

mod libraries;
mod queues;
mod tape;

use crate::call::{Call, Library};
use crate::{
    Device, DeviceError, DeviceInfo, Event, Mark, Memory, Module, Recording, Scope, Shape, Stream, View,
};
use queues::{Accesses, Kind, Moment, Pending, Queues};
use std::collections::HashMap;
use std::ops::Range;
use surject_ptx::{Arg, Buffer, Grid};
use tape::{Recorded, Tape};

/// Bytes, which of them anything has written, and who has used them.
#[derive(Debug, Default)]
struct Bytes {
    bytes: Vec<u8>,
    written: Vec<bool>,
    accesses: Accesses,
}

/// What waits in a stream.
#[derive(Clone, Debug)]
enum Command {
    Upload(View, Vec<u8>),
    Launch(Module, String, Shape, Vec<View>),
    Copy(View, View),
    Call(Call, Vec<View>),
    /// An event, and how often it was signalled then.
    Signal(u64, u64),
    Wait(u64, u64),
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
    /// Another stream.
    Select,
    /// A new event.
    Event,
    /// A signal of an event.
    Signal,
    /// A stream that waits for an event.
    Wait,
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
/// memory that is used after it was given back are errors; so are accesses that nothing orders.
#[derive(Debug)]
pub struct Simulated {
    info: DeviceInfo,
    memory: HashMap<u64, Bytes>,
    modules: HashMap<u64, surject_ptx::Module>,
    recordings: HashMap<u64, Recorded>,
    /// The recording that goes on.
    recording: Option<Tape>,
    queues: Queues,
    /// The queue of each stream.
    streams: HashMap<u32, usize>,
    /// The stream that is selected.
    stream: u32,
    next: u64,
    faults: Vec<Fault>,
    /// The libraries that it does not have.
    pub missing: Vec<Library>,
    /// The libraries whose calls it does not record.
    pub unrecorded: Vec<Library>,
    /// Calls of libraries so far.
    pub calls: usize,
    /// Bytes that it has to give.
    pub left: u64,
    /// Launches so far.
    pub launches: usize,
    /// Waits for events so far.
    pub waits: usize,
    /// The wait that is left out, by its number from 0: what it would have ordered is an error then.
    pub without_wait: Option<usize>,
}

impl Simulated {
    /// A device with so many bytes of memory, and the compute capability of an H100.
    pub fn new(left: u64) -> Simulated {
        Simulated::with(left, None)
    }

    /// The same, whose commands are done when somebody waits for them or by chance before, in an order that the seed decides.
    pub fn shuffled(left: u64, seed: u64) -> Simulated {
        Simulated::with(left, Some(seed))
    }

    fn with(left: u64, seed: Option<u64>) -> Simulated {
        let mut queues = Queues::new(seed);
        let streams = HashMap::from([(0, queues.add())]);
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
            queues,
            streams,
            stream: 0,
            next: 0,
            faults: Vec::new(),
            missing: Vec::new(),
            unrecorded: Vec::new(),
            calls: 0,
            left,
            launches: 0,
            waits: 0,
            without_wait: None,
        }
    }

    /// How many memories, modules and recordings are held.
    pub fn held(&self) -> [usize; 3] {
        [self.memory.len(), self.modules.len(), self.recordings.len()]
    }

    /// How many events are held.
    pub fn events(&self) -> usize {
        self.queues.events()
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

    /// Notes an access to a part of a view, which has to be ordered with all others.
    fn touch(
        &mut self,
        what: &str,
        view: View,
        part: Range<usize>,
        kind: Kind,
        at: &Moment,
    ) -> Result<(), DeviceError> {
        if part.is_empty() {
            return Ok(());
        }
        let (memory, whole) = self.bytes(view)?;
        let range = whole.start + part.start..whole.start + part.end;
        memory.accesses.add(what, range, kind, at)
    }

    /// What is asked for waits in the stream, or is recorded.
    fn ask(&mut self, command: Command) -> Result<(), DeviceError> {
        if let Some(tape) = &mut self.recording {
            let scope = match &command {
                Command::Signal(event, _) | Command::Wait(event, _) => Some(self.queues.scope(*event)?),
                _ => None,
            };
            return tape.record(self.stream, command, scope);
        }
        let queue = self.streams[&self.stream];
        self.ask_in(queue, command)
    }

    fn ask_in(&mut self, queue: usize, command: Command) -> Result<(), DeviceError> {
        self.queues.ask(queue, command)?;
        while let Some(pending) = self.queues.at_once() {
            self.execute(pending)?;
        }
        Ok(())
    }

    /// Does what waits in a queue, or in all of them.
    fn finish(&mut self, queue: Option<usize>) -> Result<(), DeviceError> {
        loop {
            match self.queues.until(queue) {
                Ok(Some(pending)) => self.execute(pending)?,
                Ok(None) => break,
                Err(error) => {
                    self.queues.clear();
                    return Err(error);
                }
            }
        }
        self.queues.waited(queue);
        Ok(())
    }

    fn execute(&mut self, pending: Pending) -> Result<(), DeviceError> {
        let Pending { command, moment: at } = &pending;
        let done = match command {
            Command::Upload(to, bytes) => self.do_upload(*to, bytes, at),
            Command::Launch(module, kernel, shape, args) => self.do_launch(*module, kernel, shape, args, at),
            Command::Copy(from, to) => self.do_copy(*from, *to, at),
            Command::Call(call, tensors) => self.do_call(call, tensors, at),
            Command::Signal(event, count) => {
                self.queues.reached(*event, *count);
                Ok(())
            }
            Command::Wait(..) => Ok(()),
        };
        if done.is_err() {
            self.queues.clear();
        }
        done
    }

    fn do_upload(&mut self, to: View, bytes: &[u8], at: &Moment) -> Result<(), DeviceError> {
        self.touch("a copy from the host", to, 0..bytes.len(), Kind::Writes, at)?;
        let (memory, range) = self.bytes(to)?;
        memory.bytes[range.clone()].copy_from_slice(bytes);
        memory.written[range].fill(true);
        Ok(())
    }

    fn do_copy(&mut self, from: View, to: View, at: &Moment) -> Result<(), DeviceError> {
        if from.bytes != to.bytes {
            return Err(DeviceError::Lost("a copy between sizes".into()));
        }
        self.touch("a copy", from, 0..from.bytes as usize, Kind::Reads, at)?;
        self.touch("a copy", to, 0..to.bytes as usize, Kind::Writes, at)?;
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
        at: &Moment,
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
            if twice && !buffers[i].stored().is_empty() {
                return Err(DeviceError::Lost(format!(
                    "`{kernel}` writes to what is two of its arguments: {view:?}"
                )));
            }
        }
        self.launches += 1;
        let what = format!("`{kernel}`");
        for (&view, buffer) in args.iter().zip(&buffers) {
            self.touch(&what, view, buffer.loaded(), Kind::Reads, at)?;
            self.touch(&what, view, buffer.stored(), Kind::Writes, at)?;
        }
        for (&view, buffer) in args.iter().zip(&buffers).filter(|(_, buffer)| !buffer.stored().is_empty()) {
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
        let (bytes, written) = (vec![0xcd; count], vec![false; count]);
        self.memory.insert(number, Bytes { bytes, written, accesses: Accesses::default() });
        Ok(Memory(number))
    }

    /// Waits for all streams, as a driver does.
    fn free(&mut self, memory: Memory) {
        let _ = self.finish(None);
        if let Some(freed) = self.memory.remove(&memory.0) {
            self.left += freed.bytes.len() as u64;
        }
    }

    fn select(&mut self, stream: Stream) -> Result<(), DeviceError> {
        self.fault(Operation::Select)?;
        self.streams.entry(stream.0).or_insert_with(|| self.queues.add());
        self.stream = stream.0;
        Ok(())
    }

    fn event(&mut self, scope: Scope) -> Result<Event, DeviceError> {
        self.fault(Operation::Event)?;
        let number = self.number();
        self.queues.add_event(number, scope);
        Ok(Event(number))
    }

    fn signal(&mut self, event: Event) -> Result<(), DeviceError> {
        self.fault(Operation::Signal)?;
        self.ask(Command::Signal(event.0, 0))
    }

    fn wait(&mut self, event: Event) -> Result<(), DeviceError> {
        self.fault(Operation::Wait)?;
        self.waits += 1;
        match self.without_wait == Some(self.waits - 1) {
            true => Ok(()),
            false => self.ask(Command::Wait(event.0, 0)),
        }
    }

    fn drop_event(&mut self, event: Event) {
        self.queues.remove_event(event.0);
    }

    fn upload(&mut self, to: View, bytes: &[u8]) -> Result<(), DeviceError> {
        self.fault(Operation::Upload)?;
        if self.recording.is_some() {
            return Err(DeviceError::Lost("bytes of the host in a recording".into()));
        }
        self.bytes(to)?;
        self.ask(Command::Upload(to, bytes.to_vec()))
    }

    fn download(&mut self, from: View, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.fault(Operation::Download)?;
        if self.recording.is_some() {
            return Err(DeviceError::Lost("the host waits in a recording".into()));
        }
        self.finish(Some(self.streams[&self.stream]))?;
        let at = self.queues.host_reads();
        self.touch("the host", from, 0..from.bytes as usize, Kind::Reads, &at)?;
        let (memory, range) = self.bytes(from)?;
        if !memory.written[range.clone()].iter().all(|&w| w) {
            return Err(DeviceError::Lost(format!("{from:?} was never written")));
        }
        bytes.copy_from_slice(&memory.bytes[range]);
        Ok(())
    }

    fn copy(&mut self, from: View, to: View) -> Result<(), DeviceError> {
        self.fault(Operation::Copy)?;
        self.ask(Command::Copy(from, to))
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
        self.ask(Command::Launch(module, kernel.into(), shape.clone(), args.to_vec()))
    }

    fn prepare(&mut self, call: &Call) -> Result<u64, DeviceError> {
        self.fault(Operation::Prepare)?;
        self.ready(call)?;
        Ok(libraries::WORKSPACE)
    }

    fn call(&mut self, call: &Call, tensors: &[View]) -> Result<(), DeviceError> {
        self.fault(Operation::Call)?;
        if self.recording.is_some() {
            if !call.is_recordable() {
                return Err(DeviceError::Lost(format!("{call} waits for the device in a recording")));
            }
            let library = call.library();
            if self.unrecorded.contains(&library) {
                let reason = "it is not recorded".to_string();
                return Err(DeviceError::Library { library, call: call.to_string(), reason });
            }
        }
        self.ask(Command::Call(call.clone(), tensors.to_vec()))
    }

    fn synchronise(&mut self) -> Result<(), DeviceError> {
        self.fault(Operation::Synchronise)?;
        self.finish(None)
    }

    fn mark(&mut self) -> Result<Mark, DeviceError> {
        Ok(Mark(self.launches as u64))
    }

    /// There is no time here.
    fn elapsed(&mut self, _: Mark, _: Mark) -> Result<f64, DeviceError> {
        Err(DeviceError::Driver { call: "elapsed", reason: "a simulated device has no time".into() })
    }

    fn record(&mut self) -> Result<(), DeviceError> {
        self.recording = Some(Tape::new(self.stream));
        Ok(())
    }

    fn recorded(&mut self) -> Result<Recording, DeviceError> {
        let tape = self.recording.take().ok_or_else(none)?;
        self.fault(Operation::Recorded)?;
        let next = &mut self.next;
        let recorded = tape.end(&mut self.queues, || {
            *next += 1;
            *next
        })?;
        let number = self.number();
        self.recordings.insert(number, recorded);
        Ok(Recording(number))
    }

    fn replay(&mut self, recording: Recording) -> Result<(), DeviceError> {
        self.fault(Operation::Replay)?;
        let recorded = self.recordings.remove(&recording.0).ok_or_else(none)?;
        let done = self.do_replay(&recorded);
        self.recordings.insert(recording.0, recorded);
        done
    }

    fn forget(&mut self, recording: Recording) {
        if let Some(recorded) = self.recordings.remove(&recording.0) {
            recorded.events.into_iter().for_each(|event| self.queues.remove_event(event));
        }
    }
}

impl Simulated {
    /// Begins behind what the stream has to do, and ends before what it gets next.
    fn do_replay(&mut self, recorded: &Recorded) -> Result<(), DeviceError> {
        let own = self.streams[&self.stream];
        self.ask_in(own, Command::Signal(recorded.start, 0))?;
        for &(queue, _) in &recorded.queues {
            self.ask_in(queue, Command::Wait(recorded.start, 0))?;
        }
        for (queue, command) in &recorded.commands {
            self.ask_in(*queue, command.clone())?;
        }
        for &(queue, end) in &recorded.queues {
            self.ask_in(queue, Command::Signal(end, 0))?;
            self.ask_in(own, Command::Wait(end, 0))?;
        }
        Ok(())
    }
}
