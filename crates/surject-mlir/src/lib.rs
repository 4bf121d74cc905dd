//! The Surject dialect, lowering through MLIR and just-in-time compilation. The only crate that links MLIR.
//!
//! Nothing of MLIR or LLVM is printed to standard error: what they have to say becomes an [`MlirError`].

mod cache;
mod code;
pub mod dialect;
mod error;
mod executable;
pub mod gpu;
mod guard;
mod idle;
pub mod jit;
mod lanes;
mod llvm;
mod masks;
pub mod pipelines;
mod processor;
mod raw;
mod session;
mod stored;
mod symbols;

pub use error::{MlirError, Place, Stage};
pub use executable::{
    Argument, CompileError, CompileOptions, Executable, RunError, compile, compile_cached, objects,
};
pub use processor::{Level, Processor};

/// What the code generator may assume of the machine, and what it decided.
pub use surject_codegen::{Part, Plan, Target};
