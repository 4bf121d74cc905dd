//! What compiled code is made of: values, operations, functions and modules as MLIR has them. This crate links no MLIR.
//!
//! An [`Op`] is an operation of the dialects `arith`, `math`, `vector`, `scf` and `llvm` with values as its operands; what it
//! may be is all that code generation uses. [`Module::text`] writes what `mlir-opt` reads; who links MLIR builds the same
//! operations from a [`Module`] without any text. [`interpret`] runs modules, and finds what they must not do.

mod builder;
mod elem;
mod function;
pub mod interpret;
mod literal;
mod module;
mod op;
mod print;
mod saturation;
mod value;

pub use builder::Builder;
pub use elem::{Elem, Type};
pub use function::{Declaration, Function, Symbol, called};
pub use literal::{Elements, Literal};
pub use module::{Item, Linkage, Module};
pub use op::{Block, Carry, Index, Op, Prefetched, Statement};
pub use saturation::Saturation;
pub use surject_kernel::Temporality;
pub use value::{HIGH, LOW, POINTERS, TASK, Value, WORKER};
