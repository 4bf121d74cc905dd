//! Types of values, levels of parallelism, and levels of memory.

use std::fmt;
use std::str::FromStr;
use surject_ir::{DType, named};

/// The type of a value: an element type, and how many lanes of it, up to [`Type::MOST_LANES`]; one lane is a scalar.
///
/// No value has a complex type: a complex number is two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Type {
    /// The type of an element.
    pub dtype: DType,
    /// How many elements, at least one.
    pub lanes: usize,
}

impl Type {
    /// The most lanes of a value: many more than any machine has.
    pub const MOST_LANES: usize = 1 << 16;

    /// One element.
    pub fn scalar(dtype: DType) -> Type {
        Type { dtype, lanes: 1 }
    }

    /// A vector.
    pub fn vector(dtype: DType, lanes: usize) -> Type {
        Type { dtype, lanes }
    }

    /// The type of sizes, loop variables and addresses.
    pub fn index() -> Type {
        Type::scalar(DType::I64)
    }

    /// The same number of lanes of another element type.
    pub fn with(self, dtype: DType) -> Type {
        Type { dtype, ..self }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lanes {
            1 => write!(f, "{}", self.dtype),
            lanes => write!(f, "{}x{lanes}", self.dtype),
        }
    }
}

impl FromStr for Type {
    type Err = ();

    fn from_str(text: &str) -> Result<Type, ()> {
        let (dtype, lanes) = match text.split_once('x') {
            Some((dtype, lanes)) => (dtype, lanes.parse().map_err(|_| ())?),
            None => (text, 1),
        };
        let dtype: DType = dtype.parse().map_err(|_| ())?;
        if dtype.is_complex() || lanes == 0 { Err(()) } else { Ok(Type { dtype, lanes }) }
    }
}

named! {
    /// Who runs the iterations of a parallel loop. Outer levels come first; a loop of an inner level stands inside of
    /// one of an outer level. Tasks stand alone: they are a CPU's, the other levels a GPU's.
    Level {
        /// A task of a CPU: the threads of a pool take tasks in any order.
        Task = "task",
        /// A block of threads (CUDA: thread block; AMD: work-group).
        Block = "block",
        /// A warp of a block (AMD: wavefront).
        Warp = "warp",
        /// A thread: of the warp around it, or else of the block.
        Thread = "thread",
    }
}

named! {
    /// Where memory lies, and so who sees it.
    Space {
        /// Parameters of the kernel: everybody sees them.
        Global = "global",
        /// Scratch memory of the CPU thread that runs a task. What an earlier task left there is undefined.
        Worker = "worker",
        /// Memory of a block, which all of its threads see.
        Shared = "shared",
        /// Memory of whoever allocates it, addressed at run time.
        Stack = "stack",
        /// Registers of whoever allocates them: every address is known when the kernel is compiled.
        Register = "register",
    }
}

named! {
    /// What a kernel does to a parameter.
    Access {
        /// It only reads it.
        Read = "read",
        /// It only writes it; what it held before is undefined.
        Write = "write",
        /// It reads what was there, or what it wrote.
        ReadWrite = "readwrite",
    }
}

impl Access {
    /// May the kernel load from it?
    pub fn reads(self) -> bool {
        self != Access::Write
    }

    /// May the kernel store to it?
    pub fn writes(self) -> bool {
        self != Access::Read
    }
}
