//! What a kernel is.
//!
//! * `kernel` is what all kernels are; `rows` and `columns` are those that a machine makes once it is decided what runs together,
//!   `recipe` says how their work can be cut, `in_place` which operands may have the memory of results.
//! * `math` has the formulas of functions, and `divide` inverses of divisors: the passes of the kernel IR write them.

pub(crate) mod columns;
pub(crate) mod divide;
pub(crate) mod in_place;
pub(crate) mod kernel;
pub(crate) mod math;
pub(crate) mod recipe;
pub(crate) mod rows;
