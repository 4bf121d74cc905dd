//! The interpreter: runs a kernel with the semantics of every level, and finds what a machine would not report.
//!
//! It knows no machine but for a few numbers ([`Options`]) with which it counts. Agents of one level run one after the
//! other between the places where they wait for each other, in an order that can be chosen; whether two of them access
//! an element at the same time does not depend on that order, but on what orders the accesses: a common outer agent that
//! runs one loop after another, or a barrier.

mod agent;
mod code;
mod count;
mod memory;
mod phases;
mod run;
mod statement;
mod value;
mod wait;

pub use count::{Counts, Traffic};
pub use memory::Tensor;

use crate::Kernel;
use std::fmt;

/// In which order agents run that may run in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By their numbers.
    #[default]
    Forward,
    /// The last one first.
    Backward,
    /// As a random number generator with this seed says.
    Shuffled(u64),
}

/// How a kernel is run, and what is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The order of agents.
    pub order: Order,
    /// Threads of a block that are a warp, where no loop over warps says so.
    pub warp: usize,
    /// The bytes that global memory transfers at once.
    pub sector: usize,
    /// The banks of shared memory.
    pub banks: usize,
    /// The bytes of a word of a bank.
    pub word: usize,
    /// Steps after which a run is given up: a step is a statement, an element that it computes or copies, a product of
    /// elements, or the beginning of an iteration of a parallel loop.
    pub steps: u64,
    /// The most bytes of memory that a run makes, all allocations together.
    pub bytes: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            order: Order::Forward,
            warp: 32,
            sector: 32,
            banks: 32,
            word: 4,
            steps: 10_000_000_000,
            bytes: 1 << 32,
        }
    }
}

/// What went wrong in a run, where, and who did it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The name of the kernel.
    pub kernel: String,
    /// The statement; its values have the numbers of the kernel that was run.
    pub statement: Option<String>,
    /// Such as `block 3, thread 7`; empty outside of parallel loops.
    pub agent: String,
    /// What went wrong.
    pub kind: FaultKind,
}

/// What can go wrong in a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// An access outside of a memory.
    #[error("element {element} of `{memory}`, which has {elements}")]
    OutOfBounds {
        /// The memory.
        memory: String,
        /// The element.
        element: i128,
        /// How many there are.
        elements: usize,
    },
    /// A read of what nothing wrote.
    #[error("element {element} of `{memory}` is read before anything is written there")]
    Unwritten {
        /// The memory.
        memory: String,
        /// The element.
        element: usize,
    },
    /// Two accesses to an element, one of them a write, that nothing orders.
    #[error("a race on element {element} of `{memory}` with {other}")]
    Race {
        /// The memory.
        memory: String,
        /// The element.
        element: usize,
        /// Who else accesses it.
        other: String,
    },
    /// Agents that wait for others that do not come.
    #[error("not all threads of the {group} are here: {missing}")]
    Divergence {
        /// Whom they wait for.
        group: String,
        /// Who is missing.
        missing: String,
    },
    /// A phase of a barrier that gets what it does not wait for, or waits for what does not come.
    #[error("the barrier `{barrier}` {what}")]
    Phase {
        /// The barrier.
        barrier: String,
        /// What is wrong.
        what: String,
    },
    /// Copies in the background that nobody waits for.
    #[error("it ends while copies in the background are under way")]
    Copies,
    /// An address or a bound that does not fit in 64 bits.
    #[error("an address does not fit in 64 bits")]
    Overflow,
    /// An operation that has no meaning for its operands.
    #[error("the operation is not defined for its operands")]
    Undefined,
    /// The run took too long.
    #[error("the run was given up after {0} steps")]
    Steps(u64),
    /// The run takes too much memory.
    #[error("the kernel makes more than {0} bytes of memory")]
    Memory(usize),
    /// Sizes or tensors that are not those of the kernel.
    #[error("{0}")]
    Arguments(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`: {}", self.kernel, self.kind)?;
        if !self.agent.is_empty() {
            write!(f, " ({})", self.agent)?;
        }
        self.statement.as_ref().map_or(Ok(()), |statement| write!(f, "\n  in `{statement}`"))
    }
}

impl std::error::Error for Fault {}

/// Runs a kernel, which [`crate::verify()`] must accept, on sizes and tensors: those of its parameters, in order.
///
/// ```
/// use surject_ir::{DType, Scalar};
/// use surject_kernel::{interpret, parse};
///
/// let text = "kernel double(%0: size, x: read f32[%0], y: write f32[%0]) {
///   for %1 = 0 to %0 parallel(task) {
///     %2 = load x[%1] : f32
///     %3 = add %2, %2 : f32
///     store %3, y[%1]
///   }
/// }";
/// let kernels = parse(text).unwrap();
/// let elements = [1.0, 2.5].map(|v| Scalar::from_f64(DType::F32, v));
/// let mut tensors = [interpret::Tensor::of(&elements), interpret::Tensor::unwritten(DType::F32, 2)];
/// let counts = interpret::run(&kernels[0], &[2], &mut tensors, &Default::default()).unwrap();
/// assert_eq!(tensors[1].get(1), Some(Scalar::from_f64(DType::F32, 5.0)));
/// assert_eq!((counts.flops, counts.global.loaded, counts.global.stored), (2, 8, 8));
/// ```
pub fn run(
    kernel: &Kernel,
    sizes: &[i64],
    tensors: &mut [Tensor],
    options: &Options,
) -> Result<Counts, Box<Fault>> {
    run::run(kernel, sizes, tensors, options)
}
