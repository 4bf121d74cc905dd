//! Surject: a tensor-compiler research framework.
//!
//! This crate ties the others together: a [`Source`] gives a program, [`optimise`] rewrites it, and a [`Runner`] runs
//! it on a [`Backend`]. The `surject` command is a thin layer over these.

pub mod archive;
pub mod bench;
mod cache_folder;
mod calibrate;
pub mod cli;
pub mod cuda;
mod failure;
pub mod infer;
mod pipeline;
pub mod progress;
mod source;
mod specialise;
pub mod tensor_source;

pub use failure::{Failure, Status};
pub use pipeline::{
    Backend, OptimiseOptions, Runner, StageTimes, machine_named, optimise, processor_named, scheduled,
    through_dialect,
};
pub use source::{Source, SourceKind};
pub use specialise::{Specialised, types_of};
pub use surject_tensor::{assign, op};

pub use surject_egraph as egraph;
pub use surject_index as index;
pub use surject_ir as ir;
pub use surject_lift as lift;
pub use surject_mlir as mlir;
pub use surject_notation as notation;
pub use surject_rules as rules;
pub use surject_runtime as runtime;
pub use surject_shape as shape;
pub use surject_stablehlo as stablehlo;
pub use surject_tensor as tensor;
