//! What a kernel is, and the operations that kernels of library operations, chains and the host are written with.
//!
//! * `kernel` is what a kernel is; `rows` and `columns` are those that a machine makes once it is decided what runs together,
//!   `recipe` says how their work can be cut, `in_place` which operands may have the memory of results.
//! * `emit` holds scopes, names and constants. A value is written into the outermost scope that binds the loops it depends
//!   on, so no pass looks for invariants.
//! * `value` evaluates nodes, `pointwise` and `math` operations on scalars and vectors, `access` loads and stores; the formulas of
//!   `math` are those of the kernel IR, too.

pub(crate) mod access;
pub(crate) mod columns;
pub(crate) mod condition;
pub(crate) mod constants;
pub(crate) mod divide;
pub(crate) mod emit;
pub(crate) mod halves;
pub(crate) mod in_place;
pub(crate) mod kernel;
pub(crate) mod math;
pub(crate) mod pointwise;
pub(crate) mod positions;
pub(crate) mod prefetch;
pub(crate) mod recipe;
pub(crate) mod register_transpose;
pub(crate) mod rows;
pub(crate) mod units;
pub(crate) mod value;
pub(crate) mod vectors;
