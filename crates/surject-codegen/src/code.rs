//! Code of kernels: values, operations, functions and modules as MLIR has them.
//!
//! An [`Op`] is an operation of the dialects `arith`, `math`, `vector`, `scf` and `llvm` with values as its operands; what it
//! may be is all that code generation uses. [`Module::text`] writes what `mlir-opt` reads; who links MLIR builds the same
//! operations from a [`Module`] without any text.

mod builder;
mod function;
mod literal;
mod module;
mod op;
pub(crate) mod print;
mod value;

pub use crate::machine::elem::{Elem, Type};
pub use builder::Builder;
pub(crate) use function::{Declaration, called};
pub use function::{Function, Symbol};
pub use literal::{Elements, Literal};
pub use module::{Item, Linkage, Module};
pub use op::{Block, Carry, Index, Op, Prefetched, Statement};
pub use surject_kernel::Temporality;
pub use value::Value;
pub(crate) use value::{HIGH, LOW, POINTERS, TASK, WORKER};
