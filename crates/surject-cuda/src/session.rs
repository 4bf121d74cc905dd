//! A plan on a device.

mod error;
mod steps;
mod times;

use crate::order::{Order, Orders};
use crate::plan::MOST_STREAMS;
use crate::{
    Device, DeviceError, Event, Memory, Module, Place, Plan, PlanError, Recording, Scope, Stream, TensorId,
    View, memory,
};
pub use error::RunError;
use std::collections::HashMap;
use surject_ir::{Buffer, Program, Scalar, interp};
pub use times::LaunchTime;

/// What computes the steps of the host.
pub trait Host: Send {
    /// Runs the only function of a program, the one of this number in its plan. An error says what is wrong.
    fn run(&mut self, number: u32, program: &Program, args: &[Buffer]) -> Result<Vec<Buffer>, String>;
}

/// The reference interpreter of programs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interpreter;

impl Host for Interpreter {
    fn run(&mut self, _: u32, program: &Program, args: &[Buffer]) -> Result<Vec<Buffer>, String> {
        let name = program.main().map_or("main", |f| f.name.as_str());
        interp::run(program, name, args).map_err(|error| error.to_string())
    }
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Kernels that were launched one by one.
    pub launches: u64,
    /// Calls of libraries.
    pub calls: u64,
    /// Recordings that were replayed.
    pub replays: u64,
    /// Steps of the host.
    pub host: u64,
    /// Bytes that went to the host before the results do: for its steps, and scalars that decide.
    pub to_host: u64,
    /// Bytes that came from the host after the arguments did.
    pub from_host: u64,
}

/// A plan on a device, with all the memory that it needs.
pub struct Session<D: Device> {
    device: D,
    plan: Plan,
    host: Box<dyn Host>,
    module: Option<Module>,
    arena: Memory,
    arguments: Vec<Memory>,
    constants: Vec<Memory>,
    /// Which steps are done on which stream, and what they wait for there.
    orders: Orders,
    /// The events of these orders.
    events: Vec<Event>,
    transfers: Transfers,
    /// The stream that is selected.
    stream: u32,
    /// Sections that have been done in so many rounds, by number, and their recordings once they have been done again.
    recordings: HashMap<(usize, u64), Recorded>,
    counts: Counts,
    /// Why the device has not recorded sections with calls.
    refused: Vec<String>,
    /// What the device was asked for last since it was waited for.
    last: Option<Last>,
    /// Is every kernel waited for, so that errors name it?
    careful: bool,
}

/// What has become of a section.
#[derive(Clone, Copy, Debug)]
enum Recorded {
    /// It was done step by step, and is recorded next.
    Done,
    /// It was recorded.
    As(Recording),
    /// The device does not record its calls.
    Refused,
}

/// What a device is asked for that may fail later.
#[derive(Clone, Copy, Debug)]
enum Last {
    /// A kernel, by number.
    Kernel(u32),
    /// A call of a library, by number.
    Call(u32),
}

/// Events of what goes between the host and the device beside the steps; none where there is one stream.
#[derive(Debug, Default)]
struct Transfers {
    /// The arguments are there.
    arguments: Vec<Event>,
    /// The results are made.
    results: Vec<Event>,
    /// All steps are done.
    steps: Option<Event>,
}

/// The environment variable with the number of streams, where another one than that of the plan is wanted.
const STREAMS: &str = "SURJECT_CUDA_STREAMS";

/// The number of streams that the environment asks for.
fn streams() -> Result<Option<u32>, PlanError> {
    let Some(text) = std::env::var_os(STREAMS).filter(|text| !text.is_empty()) else { return Ok(None) };
    let number = text.to_str().and_then(|text| text.parse().ok()).filter(|n| (1..=MOST_STREAMS).contains(n));
    match number {
        Some(number) => Ok(Some(number)),
        None => Err(PlanError(format!("{STREAMS} is a number from 1 to {MOST_STREAMS}, not {text:?}"))),
    }
}

impl<D: Device> Session<D> {
    /// Loads a plan. With the environment variable `SURJECT_CUDA_SYNC` every kernel is waited for, so that an error that
    /// the device reports late names the kernel that made it; with `SURJECT_CUDA_STREAMS` there are so many streams, and not
    /// as many as the plan says.
    pub fn new(device: D, plan: Plan) -> Result<Session<D>, RunError> {
        Session::with_host(device, plan, Box::new(Interpreter))
    }

    /// As [`Session::new`], and what computes the steps of the host.
    pub fn with_host(mut device: D, mut plan: Plan, host: Box<dyn Host>) -> Result<Session<D>, RunError> {
        plan.check()?;
        if let Some(streams) = streams()?.filter(|&streams| streams != plan.streams) {
            plan.streams = streams;
            memory::place(&mut plan)?;
        }
        crate::settle(&mut plan, &mut device)?;
        let orders = Orders::of(&plan);
        let mut session = Session {
            device,
            plan,
            host,
            module: None,
            arena: Memory(0),
            arguments: Vec::new(),
            constants: Vec::new(),
            orders,
            events: Vec::new(),
            transfers: Transfers::default(),
            stream: 0,
            recordings: HashMap::new(),
            counts: Counts::default(),
            refused: Vec::new(),
            last: None,
            careful: std::env::var_os("SURJECT_CUDA_SYNC").is_some_and(|v| !v.is_empty()),
        };
        session.load()?;
        Ok(session)
    }

    fn load(&mut self) -> Result<(), RunError> {
        let doing = |what: &str| {
            let what = what.to_string();
            move |error| RunError::Device { what, error }
        };
        let arena = self.plan.arena_bytes;
        self.arena = self.device.allocate(arena).map_err(doing("memory for intermediate tensors"))?;
        for &param in &self.plan.params {
            let tensor = self.plan.tensor(param);
            let what = format!("memory for the argument `{}`", tensor.name);
            let memory = self.device.allocate(tensor.bytes().unwrap_or(0)).map_err(doing(&what))?;
            self.arguments.push(memory);
        }
        for constant in &self.plan.constants {
            let bytes = constant.bytes().len() as u64;
            let memory = self.device.allocate(bytes).map_err(doing("memory for a constant"))?;
            self.constants.push(memory);
            let view = View { memory, offset: 0, bytes };
            self.device.upload(view, constant.bytes()).map_err(doing("copying a constant"))?;
        }
        if !self.plan.kernels.is_empty() {
            let loaded = self.device.load(&self.plan.ptx);
            self.module = Some(loaded.map_err(|error| {
                // The driver does not say which kernel it is that it does not like, unless its words do.
                let named = self.plan.kernels.iter().find(|k| error.to_string().contains(&k.name));
                match (named, &self.plan.kernels[..]) {
                    (Some(kernel), _) | (None, [kernel]) => RunError::Kernel {
                        kernel: kernel.name.clone(),
                        assignment: kernel.assignment.clone(),
                        error,
                    },
                    _ => RunError::Device { what: format!("the kernels of `{}`", self.plan.name), error },
                }
            })?);
        }
        self.make_events().map_err(doing("events of streams"))?;
        let (init, order) = (std::mem::take(&mut self.plan.init), std::mem::take(&mut self.orders.init));
        let done = self.list(&init, &order, 0);
        (self.plan.init, self.orders.init) = (init, order);
        done
    }

    fn make_events(&mut self) -> Result<(), DeviceError> {
        for _ in 0..self.orders.events {
            self.events.push(self.device.event(Scope::Inside)?);
        }
        if self.plan.streams > 1 {
            for _ in &self.plan.params {
                self.transfers.arguments.push(self.device.event(Scope::Across)?);
            }
            for _ in &self.plan.results {
                self.transfers.results.push(self.device.event(Scope::Across)?);
            }
            self.transfers.steps = Some(self.device.event(Scope::Across)?);
        }
        Ok(())
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The device.
    pub fn device(&mut self) -> &mut D {
        &mut self.device
    }

    /// What all runs did.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Why the device does not record some calls of libraries: they are called in every run, and the kernels around them are
    /// launched.
    pub fn refused(&self) -> &[String] {
        &self.refused
    }

    /// Runs the plan.
    pub fn run(&mut self, args: &[Buffer]) -> Result<Vec<Buffer>, RunError> {
        self.upload(args)?;
        self.go()?;
        self.results()
    }

    /// Copies arguments to the device, where they stay: beside what it does, but behind the steps that were asked for.
    pub fn upload(&mut self, args: &[Buffer]) -> Result<(), RunError> {
        if args.len() != self.plan.params.len() {
            return Err(RunError::Count { found: args.len(), expected: self.plan.params.len() });
        }
        for (index, (&param, arg)) in self.plan.params.iter().zip(args).enumerate() {
            let tensor = self.plan.tensor(param);
            if tensor.dtype != arg.dtype() || tensor.shape != arg.shape() {
                let sizes: Vec<String> = arg.shape().iter().map(usize::to_string).collect();
                let found = format!("{}[{}]", arg.dtype(), sizes.join(","));
                return Err(RunError::Type { index, found, expected: tensor.to_string() });
            }
        }
        let copied = self.uploads(args);
        copied.and(self.on(0))
    }

    fn uploads(&mut self, args: &[Buffer]) -> Result<(), RunError> {
        if let Some(before) = self.transfers.steps {
            self.on(self.plan.streams)?;
            self.wait_for(before)?;
        }
        for (index, arg) in args.iter().enumerate() {
            let view = View { memory: self.arguments[index], offset: 0, bytes: arg.bytes().len() as u64 };
            self.device
                .upload(view, arg.bytes())
                .map_err(|error| self.late(error, &format!("copying argument {index}")))?;
            if let Some(&event) = self.transfers.arguments.get(index) {
                self.signal(event)?;
            }
        }
        Ok(())
    }

    /// Does the steps on the arguments that are there, and does not wait for the last of them.
    pub fn go(&mut self) -> Result<(), RunError> {
        let (steps, order) = (std::mem::take(&mut self.plan.steps), std::mem::take(&mut self.orders.steps));
        let done = self.list(&steps, &order, 0);
        (self.plan.steps, self.orders.steps) = (steps, order);
        done?;
        self.transfers.steps.map_or(Ok(()), |event| self.signal(event))
    }

    /// Waits for the steps.
    pub fn wait(&mut self) -> Result<(), RunError> {
        let waited = self.device.synchronise().map_err(|error| self.late(error, "waiting"));
        self.last = None;
        waited
    }

    /// Copies the results to the host, each when it is made.
    pub fn results(&mut self) -> Result<Vec<Buffer>, RunError> {
        let copied = self.downloads();
        let back = self.on(0);
        copied.and_then(|results| back.map(|()| results))
    }

    fn downloads(&mut self) -> Result<Vec<Buffer>, RunError> {
        let ids = self.plan.results.clone();
        let mut results = Vec::with_capacity(ids.len());
        for (number, id) in ids.into_iter().enumerate() {
            if let Some(&made) = self.transfers.results.get(number) {
                self.on(self.plan.streams + 1)?;
                self.wait_for(made)?;
            }
            results.push(self.download(id)?);
        }
        Ok(results)
    }

    /// What is asked for from here on goes to a stream.
    fn on(&mut self, stream: u32) -> Result<(), RunError> {
        if self.stream != stream {
            let selected = self.device.select(Stream(stream));
            selected.map_err(|error| self.late(error, &format!("stream {stream}")))?;
            self.stream = stream;
        }
        Ok(())
    }

    fn signal(&mut self, event: Event) -> Result<(), RunError> {
        self.device.signal(event).map_err(|error| self.late(error, "an event of a stream"))
    }

    fn wait_for(&mut self, event: Event) -> Result<(), RunError> {
        self.device.wait(event).map_err(|error| self.late(error, "a stream that waits for an event"))
    }

    fn view(&self, id: TensorId) -> View {
        let tensor = self.plan.tensor(id);
        let bytes = tensor.bytes().unwrap_or(0);
        let (memory, offset) = match tensor.place {
            Place::Arena(at) => (self.arena, at),
            Place::Argument(n) => (self.arguments[n as usize], 0),
            Place::Constant(n) => (self.constants[n as usize], 0),
        };
        View { memory, offset, bytes }
    }

    /// An error that the device reports when it is waited for is that of a kernel before, if there is one.
    fn late(&self, error: DeviceError, what: &str) -> RunError {
        let named = |name: String| match self.careful {
            true => name,
            false => format!("{name} or one before it (SURJECT_CUDA_SYNC=1 finds it)"),
        };
        match (self.last, &error) {
            (Some(Last::Kernel(kernel)), DeviceError::Lost(_)) => {
                let kernel = &self.plan.kernels[kernel as usize];
                let assignment = kernel.assignment.clone();
                RunError::Kernel { kernel: named(kernel.name.clone()), assignment, error }
            }
            (Some(Last::Call(call)), DeviceError::Lost(_)) => {
                let step = &self.plan.calls[call as usize];
                let assignment = step.assignment.clone();
                RunError::Call { call: named(step.call.name()), assignment, error }
            }
            _ => RunError::Device { what: what.to_string(), error },
        }
    }

    fn download(&mut self, id: TensorId) -> Result<Buffer, RunError> {
        let (view, tensor) = (self.view(id), self.plan.tensor(id));
        let mut buffer = Buffer::try_unwritten(tensor.dtype, &tensor.shape)
            .ok_or_else(|| RunError::Memory(tensor.name.clone()))?;
        let found = self.device.download(view, buffer.bytes_mut());
        found.map_err(|error| {
            self.late(error, &format!("copying `{}` to the host", self.plan.tensor(id).name))
        })?;
        self.last = None;
        Ok(buffer)
    }

    /// The value of a scalar of the device.
    fn scalar(&mut self, id: TensorId) -> Result<Option<Scalar>, RunError> {
        let buffer = self.download(id)?;
        self.counts.to_host += buffer.bytes().len() as u64;
        Ok((!buffer.is_empty()).then(|| buffer.get(0)))
    }
}

impl<D: Device> Drop for Session<D> {
    /// Waits for the device, whose memory may be somebody else's afterwards.
    fn drop(&mut self) {
        let _ = self.device.synchronise();
        let _ = self.device.select(Stream(0));
        for (_, recorded) in self.recordings.drain() {
            if let Recorded::As(recording) = recorded {
                self.device.forget(recording);
            }
        }
        let Transfers { arguments, results, steps } = std::mem::take(&mut self.transfers);
        for event in self.events.drain(..).chain(arguments).chain(results).chain(steps) {
            self.device.drop_event(event);
        }
        if let Some(module) = self.module.take() {
            self.device.unload(module);
        }
        let all = std::iter::once(self.arena).chain(self.arguments.drain(..)).chain(self.constants.drain(..));
        for memory in all.filter(|m| m.0 != 0).collect::<Vec<Memory>>() {
            self.device.free(memory);
        }
    }
}
