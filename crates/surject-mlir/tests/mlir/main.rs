//! The tests of this crate, in one binary because every binary links MLIR.

mod dialect;
mod executable;
mod jit;
mod pipelines;
