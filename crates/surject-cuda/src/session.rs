//! A plan on a device.

mod times;

use crate::{Device, DeviceError, Memory, Module, Place, Plan, PlanError, Recording, Step, TensorId, View};
use std::collections::HashMap;
use surject_ir::{Buffer, Program, Scalar, interp};
pub use times::LaunchTime;

/// Why a plan does not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The plan is none.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A wrong number of arguments.
    #[error("there are {found} arguments where {expected} are needed")]
    Count {
        /// How many there are.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// An argument of another type.
    #[error("argument {index} is {found} where {expected} is needed")]
    Type {
        /// Which one, from 0.
        index: usize,
        /// Its type.
        found: String,
        /// The type needed.
        expected: String,
    },
    /// The device fails, outside of any kernel.
    #[error("{what}: {error}")]
    Device {
        /// What was done.
        what: String,
        /// What went wrong.
        error: DeviceError,
    },
    /// A kernel fails.
    #[error("kernel `{kernel}`, of the assignment `{assignment}`: {error}")]
    Kernel {
        /// The kernel.
        kernel: String,
        /// The assignment that it computes.
        assignment: String,
        /// What went wrong.
        error: DeviceError,
    },
    /// A call of a library fails.
    #[error("`{call}`, of the assignment `{assignment}`: {error}")]
    Call {
        /// The call.
        call: String,
        /// The variable that it is for.
        assignment: String,
        /// What went wrong.
        error: DeviceError,
    },
    /// What the host computes fails.
    #[error("`{operation}` on the host: {error}")]
    Host {
        /// What it is.
        operation: String,
        /// What went wrong.
        error: String,
    },
    /// A result does not fit in the memory of the host.
    #[error("the result `{0}` does not fit in memory")]
    Memory(String),
}

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
    /// Launches and copies next to each other that have been done, and their recording once they have been done again.
    recordings: HashMap<Straight, Option<Recording>>,
    counts: Counts,
    /// What the device was asked for last since it was waited for.
    last: Option<Last>,
    /// Is every kernel waited for, so that errors name it?
    careful: bool,
}

/// What a device is asked for that may fail later.
#[derive(Clone, Copy, Debug)]
enum Last {
    /// A kernel, by number.
    Kernel(u32),
    /// A call of a library, by number.
    Call(u32),
}

/// Launches and copies next to each other: the address of the first, how many steps, and how many rounds of them.
type Straight = (*const Step, usize, u64);

// SAFETY: the addresses are those of steps of the plan, which moves with the session and whose steps never change; they
// are only compared.
unsafe impl<D: Device + Send> Send for Session<D> {}

/// Fewer launches and copies are done one by one.
const RECORDED: u64 = 3;
/// The most launches and copies of a recording.
const RECORDING: u64 = 4096;

/// How many launches and copies steps are, all rounds of their loops; `None` where the host has a part in them.
fn straight(steps: &[Step]) -> Option<u64> {
    steps.iter().try_fold(0u64, |sum, step| {
        let here = match step {
            Step::Launch { .. } | Step::Copy { .. } => 1,
            Step::Repeat { count, body } => count.saturating_mul(straight(body)?),
            // Libraries wait for the device where they please, which no recording allows.
            Step::Call { .. }
            | Step::Either { .. }
            | Step::Host { .. }
            | Step::While { .. }
            | Step::Choose { .. } => return None,
        };
        Some(sum.saturating_add(here))
    })
}

/// The kernel that steps launch last.
fn last_launch(steps: &[Step]) -> Option<Last> {
    steps.iter().rev().find_map(|step| match step {
        Step::Launch { kernel, .. } => Some(Last::Kernel(*kernel)),
        Step::Repeat { body, .. } => last_launch(body),
        _ => None,
    })
}

impl<D: Device> Session<D> {
    /// Loads a plan. With the environment variable `SURJECT_CUDA_SYNC` every kernel is waited for, so that an error that
    /// the device reports late names the kernel that made it.
    pub fn new(device: D, plan: Plan) -> Result<Session<D>, RunError> {
        Session::with_host(device, plan, Box::new(Interpreter))
    }

    /// As [`Session::new`], and what computes the steps of the host.
    pub fn with_host(mut device: D, mut plan: Plan, host: Box<dyn Host>) -> Result<Session<D>, RunError> {
        plan.check()?;
        crate::settle(&mut plan, &mut device)?;
        let mut session = Session {
            device,
            plan,
            host,
            module: None,
            arena: Memory(0),
            arguments: Vec::new(),
            constants: Vec::new(),
            recordings: HashMap::new(),
            counts: Counts::default(),
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
        let init = std::mem::take(&mut self.plan.init);
        let done = self.steps(&init);
        self.plan.init = init;
        done
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

    /// Runs the plan.
    pub fn run(&mut self, args: &[Buffer]) -> Result<Vec<Buffer>, RunError> {
        self.upload(args)?;
        self.go()?;
        self.results()
    }

    /// Copies arguments to the device, where they stay.
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
        for (index, arg) in args.iter().enumerate() {
            let view = View { memory: self.arguments[index], offset: 0, bytes: arg.bytes().len() as u64 };
            self.device
                .upload(view, arg.bytes())
                .map_err(|error| RunError::Device { what: format!("copying argument {index}"), error })?;
        }
        Ok(())
    }

    /// Does the steps on the arguments that are there, and does not wait for the last of them.
    pub fn go(&mut self) -> Result<(), RunError> {
        let steps = std::mem::take(&mut self.plan.steps);
        let done = self.steps(&steps);
        self.plan.steps = steps;
        done
    }

    /// Waits for the steps.
    pub fn wait(&mut self) -> Result<(), RunError> {
        let waited = self.device.synchronise().map_err(|error| self.late(error, "waiting"));
        self.last = None;
        waited
    }

    /// Waits for the steps, and copies the results to the host.
    pub fn results(&mut self) -> Result<Vec<Buffer>, RunError> {
        let ids = self.plan.results.clone();
        ids.into_iter().map(|id| self.download(id)).collect()
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

    fn steps(&mut self, steps: &[Step]) -> Result<(), RunError> {
        let mut at = 0;
        while at < steps.len() {
            // As many as one recording holds.
            let (mut end, mut nodes) = (at, 0);
            while let Some(more) = steps.get(end).and_then(|step| straight(std::slice::from_ref(step))) {
                nodes = more.saturating_add(nodes);
                if nodes > RECORDING {
                    break;
                }
                end += 1;
            }
            if end > at {
                self.straight(&steps[at..end], 1)?;
                at = end;
                continue;
            }
            match &steps[at] {
                Step::Launch { .. } | Step::Copy { .. } => {}
                Step::Call { call, tensors } => self.call(*call, tensors)?,
                Step::Either { .. } => {
                    return Err(PlanError("a step of which it is not settled who does it".into()).into());
                }
                Step::Host { program, inputs, outputs } => self.host(*program, inputs, outputs)?,
                Step::While { condition, test, body } => loop {
                    self.steps(condition)?;
                    if !self.scalar(*test)?.is_some_and(Scalar::is_true) {
                        break;
                    }
                    self.steps(body)?;
                },
                Step::Repeat { count, body } => self.rounds(*count, body)?,
                Step::Choose { index, branches } => {
                    let number = self.scalar(*index)?.and_then(Scalar::as_i128).unwrap_or(-1);
                    let chosen =
                        usize::try_from(number).ok().and_then(|n| branches.get(n)).or(branches.last());
                    if let Some(branch) = chosen {
                        self.steps(branch)?;
                    }
                }
            }
            at += 1;
        }
        Ok(())
    }

    /// The rounds of a loop that are more than one recording holds.
    fn rounds(&mut self, count: u64, body: &[Step]) -> Result<(), RunError> {
        match straight(body) {
            Some(0) => Ok(()),
            Some(nodes) if nodes <= RECORDING => {
                let together = (RECORDING / nodes).min(count);
                (0..count / together).try_for_each(|_| self.straight(body, together))?;
                match count % together {
                    0 => Ok(()),
                    rest => self.straight(body, rest),
                }
            }
            _ => (0..count).try_for_each(|_| self.steps(body)),
        }
    }

    /// So many rounds of launches and copies next to each other. The first time they are done one by one, which loads what is
    /// loaded late; then they are recorded, and replayed from there on.
    fn straight(&mut self, steps: &[Step], rounds: u64) -> Result<(), RunError> {
        let key = (steps.as_ptr(), steps.len(), rounds);
        let nodes = straight(steps).unwrap_or(0).saturating_mul(rounds);
        let all = |session: &mut Self| {
            (0..rounds).try_for_each(|_| steps.iter().try_for_each(|step| session.simple(step)))
        };
        let is_first = !self.recordings.contains_key(&key);
        if nodes < RECORDED || is_first || self.careful {
            self.recordings.entry(key).or_default();
            return all(self);
        }
        let recording = match self.recordings.get(&key) {
            Some(&Some(recording)) => recording,
            _ => {
                let recording = self.recorded(all)?;
                self.recordings.insert(key, Some(recording));
                recording
            }
        };
        self.counts.replays += 1;
        self.last = last_launch(steps).or(self.last);
        self.device.replay(recording).map_err(|error| self.late(error, "replaying kernels"))
    }

    /// A recording of what is asked for; where that fails, none is left.
    fn recorded(
        &mut self,
        asked: impl FnOnce(&mut Self) -> Result<(), RunError>,
    ) -> Result<Recording, RunError> {
        let doing = |error| RunError::Device { what: "recording kernels".into(), error };
        self.device.record().map_err(doing)?;
        let done = asked(self);
        let recording = self.device.recorded();
        if let (Err(_), Ok(recording)) = (&done, &recording) {
            self.device.forget(*recording);
        }
        done?;
        recording.map_err(doing)
    }

    fn simple(&mut self, step: &Step) -> Result<(), RunError> {
        match step {
            Step::Launch { kernel: number, tensors } => {
                let views: Vec<View> = tensors.iter().map(|&t| self.view(t)).collect();
                let kernel = &self.plan.kernels[*number as usize];
                let failed = |error| RunError::Kernel {
                    kernel: kernel.name.clone(),
                    assignment: kernel.assignment.clone(),
                    error,
                };
                let module = self.module.ok_or_else(|| failed(DeviceError::NoKernel(kernel.name.clone())))?;
                self.counts.launches += 1;
                self.device.launch(module, &kernel.name, &kernel.shape, &views).map_err(failed)?;
                if self.careful {
                    self.device.synchronise().map_err(failed)?;
                }
                self.last = Some(Last::Kernel(*number));
                Ok(())
            }
            Step::Copy { from, to } => {
                let (source, target) = (self.view(*from), self.view(*to));
                self.device.copy(source, target).map_err(|error| {
                    let what = format!("copying `{}`", self.plan.tensor(*from).name);
                    self.late(error, &what)
                })
            }
            Step::Repeat { count, body } => {
                (0..*count).try_for_each(|_| body.iter().try_for_each(|step| self.simple(step)))
            }
            // `straight` says that there are none here.
            Step::Call { .. }
            | Step::Either { .. }
            | Step::Host { .. }
            | Step::While { .. }
            | Step::Choose { .. } => Ok(()),
        }
    }

    fn call(&mut self, number: u32, tensors: &[TensorId]) -> Result<(), RunError> {
        let views: Vec<View> = tensors.iter().map(|&t| self.view(t)).collect();
        let step = &self.plan.calls[number as usize];
        let failed =
            |error| RunError::Call { call: step.call.name(), assignment: step.assignment.clone(), error };
        self.counts.calls += 1;
        self.device.call(&step.call, &views).map_err(failed)?;
        if self.careful {
            self.device.synchronise().map_err(failed)?;
        }
        self.last = Some(Last::Call(number));
        Ok(())
    }

    fn host(&mut self, program: u32, inputs: &[TensorId], outputs: &[TensorId]) -> Result<(), RunError> {
        let args = inputs.iter().map(|&id| self.download(id)).collect::<Result<Vec<Buffer>, RunError>>()?;
        self.counts.host += 1;
        self.counts.to_host += args.iter().map(|b| b.bytes().len() as u64).sum::<u64>();
        let step = &self.plan.host[program as usize];
        let failed = |error| RunError::Host { operation: step.operation.clone(), error };
        let results = self.host.run(program, &step.program, &args).map_err(failed)?;
        for (&id, result) in outputs.iter().zip(&results) {
            let view = self.view(id);
            let tensor = self.plan.tensor(id);
            if tensor.dtype != result.dtype() || tensor.shape != result.shape() {
                let what = format!("`{}` on the host gives another type than {tensor}", step.operation);
                return Err(PlanError(what).into());
            }
            self.counts.from_host += view.bytes;
            self.device.upload(view, result.bytes()).map_err(|error| RunError::Device {
                what: format!("copying `{}` to the device", tensor.name),
                error,
            })?;
        }
        Ok(())
    }
}

impl<D: Device> Drop for Session<D> {
    fn drop(&mut self) {
        for recording in self.recordings.drain().filter_map(|(_, r)| r) {
            self.device.forget(recording);
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
