//! Values.

use std::fmt;

/// A value of a function: a parameter, or the result of an operation. Each is defined once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(u32);

impl Value {
    /// The value of this number.
    pub const fn numbered(number: u32) -> Value {
        Value(number)
    }

    /// Its number in its function.
    pub fn number(self) -> usize {
        self.0 as usize
    }
}

impl Value {
    /// No value: what nothing may use. MLIR refuses its name.
    pub const NONE: Value = Value(u32::MAX);
}

impl Default for Value {
    fn default() -> Value {
        Value::NONE
    }
}

/// The task of a kernel that runs.
pub const TASK: Value = Value(0);

/// The thread that runs it.
pub const WORKER: Value = Value(1);

/// The addresses of the tensors of a kernel.
pub const POINTERS: Value = Value(2);

/// The first part of a kernel that computes a range of its parts.
pub const LOW: Value = Value(0);

/// The end of that range.
pub const HIGH: Value = Value(1);

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}
