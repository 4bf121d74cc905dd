//! A program as steps of a device.

mod print;

use crate::call::Use;
use crate::stored::{dtype, program};
use crate::{Call, Shape};
use serde::{Deserialize, Serialize};
use surject_ir::{Buffer, DType, Program};

/// A tensor of a plan, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TensorId(pub u32);

/// Where a tensor lies on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Place {
    /// In the arena, from this byte on.
    Arena(u64),
    /// It is an argument, by number.
    Argument(u32),
    /// It is a constant, by number.
    Constant(u32),
}

/// A tensor of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tensor {
    /// Its name: that of the variable, or of what it is for.
    pub name: String,
    /// The type of its elements.
    #[serde(with = "dtype")]
    pub dtype: DType,
    /// Its sizes.
    pub shape: Vec<usize>,
    /// Where it lies.
    pub place: Place,
}

impl Tensor {
    /// Does it lie in the arena?
    pub(crate) fn is_of_arena(&self) -> bool {
        matches!(self.place, Place::Arena(_))
    }

    /// Its bytes; `None` where they do not fit in 63 bits.
    pub fn bytes(&self) -> Option<u64> {
        let count = self.shape.iter().try_fold(1u64, |n, &size| n.checked_mul(size as u64))?;
        count.checked_mul(self.dtype.size() as u64).filter(|&bytes| i64::try_from(bytes).is_ok())
    }
}

/// A kernel of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// Its name in the PTX.
    pub name: String,
    /// The assignment that it computes, or the first of several.
    pub assignment: String,
    /// How it is launched.
    pub shape: Shape,
    /// What it does with its tensors, in order.
    pub tensors: Vec<Use>,
    /// The microseconds that the machine model says, where it has a model of the kernel.
    #[serde(default)]
    pub us: Option<f64>,
}

/// What the host computes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostStep {
    /// What it is, such as `sort`.
    pub operation: String,
    /// Why the device does not, where that is not said by what it is.
    pub reason: Option<String>,
    /// Its only function; the parameters are the inputs, the results the outputs.
    #[serde(with = "program")]
    pub program: Program,
}

/// A call of a library of the device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallStep {
    /// The call.
    pub call: Call,
    /// The variable that it is for.
    pub assignment: String,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// A kernel, by number, on its tensors.
    Launch {
        /// The kernel.
        kernel: u32,
        /// Its tensors, in order.
        tensors: Vec<TensorId>,
    },
    /// Copies a tensor on the device.
    Copy {
        /// From here.
        from: TensorId,
        /// To one of the same type.
        to: TensorId,
    },
    /// A call of a library of the device, by number.
    Call {
        /// The call.
        call: u32,
        /// Its operands, in order, and its workspace.
        tensors: Vec<TensorId>,
    },
    /// One of two forms of the same: which one, the device says when the plan is loaded ([`crate::settle()`]).
    Either {
        /// Where the device has all libraries that these steps call.
        device: Vec<Step>,
        /// Otherwise.
        host: Vec<Step>,
    },
    /// The host computes: the inputs are copied there, and the outputs back.
    Host {
        /// Its program, by number.
        program: u32,
        /// The inputs, in order.
        inputs: Vec<TensorId>,
        /// The outputs, in order.
        outputs: Vec<TensorId>,
    },
    /// While a truth on the device, which `condition` computes, holds.
    While {
        /// Steps before each test.
        condition: Vec<Step>,
        /// The truth, which is copied to the host.
        test: TensorId,
        /// Steps after a test that holds.
        body: Vec<Step>,
    },
    /// So many rounds, which the host knows before.
    Repeat {
        /// How many, at least one.
        count: u64,
        /// The steps of a round.
        body: Vec<Step>,
    },
    /// One of several, by a number on the device; the last one where there is none of that number.
    Choose {
        /// An `i32`, which is copied to the host.
        index: TensorId,
        /// At least one list of steps.
        branches: Vec<Vec<Step>>,
    },
}

/// The streams that a plan uses where nobody says how many.
pub const STREAMS: u32 = 4;

/// More are refused.
pub const MOST_STREAMS: u32 = 16;

fn one() -> u32 {
    1
}

/// A program for a device. Its constants and its code are no part of its serialised form: they are bytes, which whoever
/// stores a plan stores beside it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// The architecture that its kernels are for, such as `sm_80`.
    pub architecture: String,
    /// Its tensors.
    pub tensors: Vec<Tensor>,
    /// The arguments, in order.
    pub params: Vec<TensorId>,
    /// The results, in order.
    pub results: Vec<TensorId>,
    /// The kernels.
    pub kernels: Vec<Kernel>,
    /// The calls of libraries.
    #[serde(default)]
    pub calls: Vec<CallStep>,
    /// What the host computes.
    pub host: Vec<HostStep>,
    /// Steps that are done once, when the plan is loaded: what they write stays as it is.
    pub init: Vec<Step>,
    /// The steps of a run, in order.
    pub steps: Vec<Step>,
    /// Literals, which are copied to the device once.
    #[serde(skip)]
    pub constants: Vec<Buffer>,
    /// Bytes of the arena, which holds all that is neither an argument nor a constant.
    pub arena_bytes: u64,
    /// The most streams that its steps are done on, at least one.
    #[serde(default = "one")]
    pub streams: u32,
    /// The code of the kernels.
    #[serde(skip)]
    pub ptx: String,
}

/// Why a plan is none: it was damaged, or made by somebody else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the plan is not consistent: {0}")]
pub struct PlanError(pub String);

/// Are loops and choices nested deeper than this, the plan is refused: nothing here recurses further.
const DEPTH: usize = 200;

impl Plan {
    /// A tensor; the number is one of the plan.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.0 as usize]
    }

    /// Bytes on the device while it runs: the arena, arguments, constants.
    pub fn peak_bytes(&self) -> u64 {
        let params = self.params.iter().filter_map(|&p| self.tensor(p).bytes());
        params.chain([self.constant_bytes()]).fold(self.arena_bytes, u64::saturating_add)
    }

    /// Bytes of its constants.
    pub fn constant_bytes(&self) -> u64 {
        self.constants.iter().map(|c| c.bytes().len() as u64).sum()
    }

    /// All steps, those of loops and choices behind them, with their depth.
    pub fn walk(&self) -> Vec<(usize, &Step)> {
        let mut all = Vec::new();
        walk(&self.steps, 0, &mut all);
        all
    }

    /// Is it decided which libraries it uses?
    pub fn is_settled(&self) -> bool {
        let mut all = Vec::new();
        walk(&self.init, 0, &mut all);
        walk(&self.steps, 0, &mut all);
        !all.iter().any(|(_, step)| matches!(step, Step::Either { .. }))
    }

    /// Is every number one that there is, and every tensor inside of what it lies in? What the PTX and the programs of
    /// the host do is not looked at.
    pub fn check(&self) -> Result<(), PlanError> {
        let wrong = |what: String| Err(PlanError(what));
        for (i, tensor) in self.tensors.iter().enumerate() {
            let Some(bytes) = tensor.bytes() else {
                return wrong(format!("`{}` is too large", tensor.name));
            };
            let inside = match tensor.place {
                Place::Arena(at) => {
                    at % 256 == 0 && at.checked_add(bytes).is_some_and(|end| end <= self.arena_bytes)
                }
                Place::Argument(n) => self.params.get(n as usize).is_some_and(|p| p.0 as usize == i),
                Place::Constant(n) => self
                    .constants
                    .get(n as usize)
                    .is_some_and(|c| c.dtype() == tensor.dtype && c.shape() == tensor.shape),
            };
            if !inside {
                return wrong(format!("`{}` lies nowhere", tensor.name));
            }
        }
        let known = |id: &TensorId| (id.0 as usize) < self.tensors.len();
        if !self.params.iter().chain(&self.results).all(known) {
            return wrong("an argument or a result that is no tensor".into());
        }
        for (n, param) in self.params.iter().enumerate() {
            if self.tensor(*param).place != Place::Argument(n as u32) {
                return wrong(format!("argument {n} lies elsewhere"));
            }
        }
        for kernel in &self.kernels {
            let [x, y, z] = kernel.shape.blocks;
            let fits =
                x > 0 && x <= i32::MAX as u32 && (1..=65_535).contains(&y) && (1..=65_535).contains(&z);
            if !fits || !(1..=1024).contains(&kernel.shape.threads) {
                return wrong(format!("kernel `{}` has a grid that no device has", kernel.name));
            }
        }
        if !(1..=MOST_STREAMS).contains(&self.streams) {
            return wrong(format!("{} streams, where 1 to {MOST_STREAMS} are meant", self.streams));
        }
        self.check_steps(&self.init, 0)?;
        self.check_steps(&self.steps, 0)
    }

    fn check_steps(&self, steps: &[Step], depth: usize) -> Result<(), PlanError> {
        let wrong = |what: &str| Err(PlanError(what.to_string()));
        if depth > DEPTH {
            return wrong("steps are nested too deeply");
        }
        let known = |ids: &[TensorId]| self.known(ids);
        let same = |a: TensorId, b: TensorId| {
            let (a, b) = (self.tensor(a), self.tensor(b));
            a.bytes() == b.bytes()
        };
        let scalar = |id: TensorId, dtype| self.tensor(id).dtype == dtype && self.tensor(id).shape.is_empty();
        for step in steps {
            match step {
                Step::Launch { kernel, tensors } => {
                    self.check_launch(*kernel, tensors)?;
                }
                Step::Copy { from, to } => {
                    if !known(&[*from, *to]) || !same(*from, *to) {
                        return wrong("a copy between tensors of different sizes");
                    }
                    if !matches!(self.tensor(*to).place, Place::Arena(_)) {
                        return wrong("a copy over an argument or a constant");
                    }
                }
                Step::Call { call, tensors } => {
                    let call = self.calls.get(*call as usize).filter(|_| known(tensors));
                    let Some(call) = call else {
                        return wrong("a call of a library, or with tensors, that there are not");
                    };
                    self.check_call(&call.call, tensors)?;
                }
                Step::Either { device, host } => {
                    self.check_steps(device, depth + 1)?;
                    self.check_steps(host, depth + 1)?;
                }
                Step::Host { program, inputs, outputs } => {
                    let function = self.host.get(*program as usize).and_then(|h| h.program.main());
                    let Some(function) = function.filter(|_| known(inputs) && known(outputs)) else {
                        return wrong("a step of the host, or with tensors that there are not");
                    };
                    if function.params.len() != inputs.len() || function.body.results.len() != outputs.len() {
                        return wrong("a step of the host with other inputs or outputs than its program");
                    }
                }
                Step::While { condition, test, body } => {
                    if !known(&[*test]) || !scalar(*test, DType::I1) {
                        return wrong("a loop whose condition is no truth");
                    }
                    self.check_steps(condition, depth + 1)?;
                    self.check_steps(body, depth + 1)?;
                }
                Step::Repeat { count, body } => {
                    if *count == 0 {
                        return wrong("a loop without rounds");
                    }
                    self.check_steps(body, depth + 1)?;
                }
                Step::Choose { index, branches } => {
                    if !known(&[*index]) || !scalar(*index, DType::I32) || branches.is_empty() {
                        return wrong("a choice without a number or without branches");
                    }
                    for branch in branches {
                        self.check_steps(branch, depth + 1)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn known(&self, ids: &[TensorId]) -> bool {
        ids.iter().all(|id| (id.0 as usize) < self.tensors.len())
    }

    /// Has a launch tensors as its kernel wants them?
    fn check_launch(&self, kernel: u32, tensors: &[TensorId]) -> Result<(), PlanError> {
        let wrong = |what: &str| Err(PlanError(what.to_string()));
        let uses = self.kernels.get(kernel as usize).map(|k| &k.tensors);
        let Some(uses) = uses.filter(|uses| uses.len() == tensors.len() && self.known(tensors)) else {
            return wrong("a launch of a kernel or with tensors that there are not");
        };
        let kept = |(&id, &usage): (&TensorId, &Use)| usage != Use::Read && !self.tensor(id).is_of_arena();
        if tensors.iter().zip(uses).any(kept) {
            return wrong("a launch that writes over an argument or a constant");
        }
        for map in &self.kernels[kernel as usize].shape.maps {
            let bytes = tensors.get(map.tensor as usize).and_then(|&id| self.tensor(id).bytes());
            let fits = bytes.ok_or("a map of no tensor".to_string()).and_then(|b| map.check(b));
            fits.map_err(PlanError)?;
        }
        Ok(())
    }

    /// Has every operand of a call its size, and lies what is written where it may be?
    fn check_call(&self, call: &Call, tensors: &[TensorId]) -> Result<(), PlanError> {
        let operands = call.operands().map_err(|why| PlanError(format!("`{}`: {why}", call.name())))?;
        let wrong = |what: &str| Err(PlanError(format!("`{}` {what}", call.name())));
        if tensors.len() != operands.len() + 1 {
            return wrong("with too many or too few operands");
        }
        for (&id, operand) in tensors.iter().zip(&operands) {
            let tensor = self.tensor(id);
            let bytes = operand.elements * call.batch * operand.dtype.size() as u64;
            if tensor.dtype != operand.dtype || tensor.bytes() != Some(bytes) {
                return wrong("with an operand of another type");
            }
            if operand.usage != Use::Read && !tensor.is_of_arena() {
                return wrong("overwrites an argument or a constant");
            }
        }
        let workspace = tensors.last().map(|&id| self.tensor(id));
        match workspace.is_some_and(|w| w.dtype == DType::U8 && w.is_of_arena()) {
            true => Ok(()),
            false => wrong("without a workspace"),
        }
    }
}

fn walk<'p>(steps: &'p [Step], depth: usize, all: &mut Vec<(usize, &'p Step)>) {
    for step in steps {
        all.push((depth, step));
        match step {
            Step::While { condition, body, .. } => {
                walk(condition, depth + 1, all);
                walk(body, depth + 1, all);
            }
            Step::Repeat { body, .. } => walk(body, depth + 1, all),
            Step::Choose { branches, .. } => branches.iter().for_each(|b| walk(b, depth + 1, all)),
            Step::Either { device, host } => {
                walk(device, depth + 1, all);
                walk(host, depth + 1, all);
            }
            Step::Launch { .. } | Step::Copy { .. } | Step::Call { .. } | Step::Host { .. } => {}
        }
    }
}
