//! What code generation knows of the machine: its registers, caches and instructions, and the types of values in registers.
//!
//! The lowest layer: it uses no other.

pub(crate) mod target;
pub(crate) mod thresholds;

/// Types of values in registers and in memory.
pub(crate) mod elem {
    pub(crate) use surject_code::{Elem, Type};
}

/// Every offset is a multiple of this: the alignment of any vector, and no line is shared by two buffers.
pub const ALIGN: u64 = 64;
