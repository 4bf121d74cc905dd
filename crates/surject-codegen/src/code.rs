//! Code of kernels: values, operations and functions of MLIR, before any of it is text.

mod literal;
mod value;

pub(crate) use literal::{Elements, Literal};
pub(crate) use value::{HIGH, LOW, POINTERS, TASK, Value, WORKER};
