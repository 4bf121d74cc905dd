//! From an expression and its schedule to the code of a kernel: operations of `llvm`, `scf`, `arith`, `math` and `vector`.
//!
//! * `emit` holds scopes, names and constants. A value is written into the outermost scope that binds the loops it depends
//!   on, so no pass looks for invariants.
//! * `value` evaluates nodes, `pointwise` and `math` operations on scalars and vectors, `access` loads and stores.
//! * `kernel` is what a kernel is. `rows` writes one point by point, by `row`; the other files write the forms that a schedule names, each beside the file of
//!   the same name in `schedule`, which decides.
//! * `recipe` keeps what a kernel was made from, so that fusion can cut its work; `range` writes the kernel of a part of it.

pub(crate) mod access;
pub(crate) mod bulk;
pub(crate) mod columns;
pub(crate) mod condition;
pub(crate) mod constants;
pub(crate) mod divide;
pub(crate) mod emit;
pub(crate) mod gathered_lines;
pub(crate) mod halves;
pub(crate) mod in_place;
pub(crate) mod kernel;
pub(crate) mod keys;
pub(crate) mod math;
pub(crate) mod non_temporal;
pub(crate) mod pointwise;
pub(crate) mod positions;
pub(crate) mod prefetch;
pub(crate) mod range;
pub(crate) mod recipe;
pub(crate) mod reduce;
pub(crate) mod register_transpose;
pub(crate) mod row;
pub(crate) mod rows;
pub(crate) mod tail;
pub(crate) mod units;
pub(crate) mod unswitch;
pub(crate) mod value;
pub(crate) mod vectors;
