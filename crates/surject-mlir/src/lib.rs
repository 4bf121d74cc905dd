//! The Surject dialect, lowering through MLIR and just-in-time compilation. The only crate that links MLIR.
//!
//! Nothing of MLIR or LLVM is printed to standard error: what they have to say becomes an [`MlirError`].

pub mod dialect;
mod error;
pub mod jit;
mod llvm;
mod raw;
mod session;
mod symbols;

pub use error::{MlirError, Place, Stage};
