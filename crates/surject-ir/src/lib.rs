//! The hub of Surject: a [`Program`] of assignments. A front end only has to produce one, a back end only has
//! to consume one.
//!
//! # Semantics
//!
//! A **field** over a space `P` is a scalar expression with the indices of `P` free. A **tensor** over `D` is a
//! field over `D` that happens to be stored. Two operators connect spaces:
//!
//! * **read** (pull back): `(read M t)(p) = t(M(p))`; where a guard of `M` fails the value is the fill of `M`.
//! * **acc** (push forward): `(acc ⊕ M f)(d) = ⨁ { f(p) : M(p) = d }`. It always starts from the neutral
//!   element of `⊕` ([`AccOp::neutral`]), which is `+0.0` for sums of floats: a sum is never `-0.0`, an empty one is `+0.0`; accumulating into something is the pointwise `i ⊕ acc ⊕ M f`. The
//!   order of the terms is not defined, except that the reference interpreter takes the points `p` in row-major
//!   order. With `set` and a bijective `M` there is nothing to accumulate: the values just move.
//!
//! Everything else is pointwise: the value at `p` is computed from the values of the operands at `p`, with the
//! StableHLO semantics of the element type ([`UnaryOp`], [`BinaryOp`]).
//!
//! Sums and products of `f16` and `bf16` are accumulated in `f32` and rounded once. [`eval`] is the definition of
//! the pointwise operations, [`interp`] that of programs; [`verify()`] says which programs are well formed, and
//! [`print()`] and [`parse()`] are their text form.
//!
//! A **statement** stores a field into a new variable (the *assignment* of the seeds: its product space is the
//! space of the accumulated field), calls a library operation, or is control flow. Variables are defined once.

pub mod bind;
mod error;
pub mod eval;
mod field;
pub mod interp;
mod library;
pub mod literal;
mod named;
mod op;
pub mod parse;
pub mod print;
mod program;
pub mod range;
mod sharding;
mod size_field;
mod sizes;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod truncate;
pub mod uses;
pub mod verify;

pub use bind::{BindError, bind, bind_with};
pub use error::TypeError;
pub use field::{Field, FieldId, FieldKind, Fields};
pub use library::{Attr, FftKind, GatherDims, LibOp, LibOpError, Routine, ScatterDims, Transpose, Window};
pub use op::{AccOp, BinaryOp, UnaryOp};
pub use parse::{ParseError, parse};
pub use print::print;
pub use program::{
    Block, Function, Program, Region, RegionType, Statement, StatementKind, TensorType, Var, VarInfo,
};
pub use sharding::{DeviceOp, ShardedDim, Sharding, axis_parts};
pub use sizes::{
    Call, GuardError, SizeContract, SizeGuarantees, SizeGuard, SizeValue, Violation, metadata,
    pass_violations,
};
pub use truncate::{ComputedSizes, Truncation, size_of_scalar};
pub use verify::{VerifyError, verify};

/// Element types and values, re-exported so that a user of programs needs one import.
pub use surject_runtime::{Buffer, DType, Scalar};
