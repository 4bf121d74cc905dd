//! Code of kernels: values, operations and functions as MLIR has them, and their text.
//!
//! An [`Op`] is an operation of the dialects `arith`, `math`, `vector`, `scf` and `llvm` with values as its operands; what it
//! may be is all that code generation uses. [`print`] writes it as MLIR reads it.

mod literal;
mod op;
pub(crate) mod print;
mod value;

pub(crate) use literal::{Elements, Literal};
pub(crate) use op::{
    Block, Carry, Declaration, Function, Index, Op, Prefetched, Statement, Symbol, called, symbols,
};
pub(crate) use value::{HIGH, LOW, POINTERS, TASK, Value, WORKER};
