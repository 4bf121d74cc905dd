//! A function as steps, kernels and buffers.

use crate::expression::dag::Buf;
use crate::planned::kernel::{Code, Kernel};
use std::collections::HashMap;
use std::sync::Arc;
use surject_ir::{Buffer, TensorType};

/// A step of the host function.
#[derive(Clone, Debug)]
pub enum Step {
    /// Runs a kernel (a position in [`Lowered::kernels`]) on these buffers.
    Run {
        /// The kernel.
        kernel: usize,
        /// The buffers at its pointers.
        buffers: Vec<Buf>,
        /// Those it writes: outputs, and what is its own.
        writes: Vec<Buf>,
        /// Pairs of which the first may have the memory of the second: what is read only where that is written, and
        /// before.
        in_place: Vec<(Buf, Buf)>,
        /// Does it do nothing but copy what it reads?
        copies: bool,
        /// Where it comes from.
        origin: Option<Arc<str>>,
    },
    /// Copies a buffer.
    Copy {
        /// From.
        from: Buf,
        /// To.
        to: Buf,
    },
    /// Runs `condition` and, while `flag` holds after it, `body`.
    While {
        /// The steps of the condition.
        condition: Vec<Step>,
        /// An `i1`.
        flag: Buf,
        /// The steps of the body.
        body: Vec<Step>,
        /// Memories that change places after every iteration: that of a value the loop carries, and that of its next
        /// value. After the loop the value is where it was before.
        swaps: Vec<(Buf, Buf)>,
    },
    /// Runs the branch with this number, the last one if there is none.
    If {
        /// An `i32`.
        index: Buf,
        /// The branches.
        branches: Vec<Vec<Step>>,
    },
}

impl Step {
    /// Tells what the step reads (`false`) and writes (`true`), control flow all that is in it.
    pub fn touch(&self, f: &mut dyn FnMut(Buf, bool)) {
        match self {
            Step::Run { buffers, writes, .. } => buffers.iter().for_each(|&b| f(b, writes.contains(&b))),
            Step::Copy { from, to } => {
                f(*from, false);
                f(*to, true);
            }
            Step::While { condition, flag, body, .. } => {
                f(*flag, false);
                condition.iter().chain(body).for_each(|s| s.touch(f));
            }
            Step::If { index, branches } => {
                f(*index, false);
                branches.iter().flatten().for_each(|s| s.touch(f));
            }
        }
    }
}

/// A function as steps, kernels and buffers.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The kernels, each distinct code once.
    pub kernels: Vec<Kernel>,
    /// The steps that run once, when the module is loaded; what they write is kept.
    pub init: Vec<Step>,
    /// The steps.
    pub steps: Vec<Step>,
    /// The types of the buffers: variables, then temporaries.
    pub types: Vec<TensorType>,
    /// The literals, and the buffers they are.
    pub constants: Vec<(Buf, Arc<Buffer>)>,
    /// The buffer whose memory each buffer has; itself for most.
    pub(super) alias: Vec<Buf>,
}

impl Lowered {
    /// Numbers the kernels in the order in which they first run, each distinct code once; drops those that do not.
    pub fn renumber(&mut self) {
        let old = std::mem::take(&mut self.kernels);
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        let mut distinct: HashMap<Code<'_>, usize> = HashMap::new();
        let mut steps = std::mem::take(&mut self.steps);
        let mut place = |kernel: &mut usize| {
            let number = *numbers.entry(*kernel).or_insert_with(|| {
                let kernel = &old[*kernel];
                *distinct.entry(kernel.code()).or_insert_with(|| {
                    self.kernels.push(kernel.clone());
                    self.kernels.len() - 1
                })
            });
            *kernel = number;
        };
        each_run(&mut self.init, &mut place);
        each_run(&mut steps, &mut place);
        self.steps = steps;
    }

    /// The buffer whose memory this buffer has.
    pub fn memory(&self, of: Buf) -> Buf {
        root(&self.alias, of)
    }

    /// Gives two memories to one of them.
    pub fn join(&mut self, from: Buf, to: Buf) {
        let (from, to) = (self.memory(from), self.memory(to));
        self.alias[from.0 as usize] = to;
    }
}

/// Follows aliases to the buffer that owns the memory.
pub(super) fn root(alias: &[Buf], mut of: Buf) -> Buf {
    while let Some(&next) = alias.get(of.0 as usize)
        && next != of
    {
        of = next;
    }
    of
}

/// Shows the kernel of every run, in order.
fn each_run(steps: &mut [Step], f: &mut dyn FnMut(&mut usize)) {
    for step in steps {
        match step {
            Step::Run { kernel, .. } => f(kernel),
            Step::Copy { .. } => {}
            Step::While { condition, body, .. } => {
                each_run(condition, f);
                each_run(body, f);
            }
            Step::If { branches, .. } => branches.iter_mut().for_each(|b| each_run(b, f)),
        }
    }
}
