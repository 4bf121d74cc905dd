//! Compiled programs of Surject, run without a compiler: nothing here links MLIR or LLVM.
//!
//! `surject compile PROGRAM -o PROGRAM.sjx --target cuda:sm_90a` (or `cpu:host`, `cpu:avx2`, …) writes an [`Archive`]: a plan with PTX
//! and constants for a GPU, or a shared library with constants for a processor. [`Loaded`] runs it; so do the command
//! `surject-run` and, from other languages, the C interface of [`c`] (`include/surject.h`).

mod archive;
pub mod c;
mod cpu;
mod loaded;

pub use archive::{Archive, ArchiveError, Image, Port};
pub use cpu::features;
pub use loaded::{Loaded, RunnerError};
pub use surject_cuda::DeviceName;
pub use surject_runtime::{Buffer, DType};
