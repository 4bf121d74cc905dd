//! Kernels of a program before the machine makes them.
//!
//! `kernel` is what all kernels are; `rows` and `columns` are those that a machine makes once it is decided what runs together,
//! `recipe` says how their work can be cut, `in_place` which operands may have the memory of results.

pub(crate) mod columns;
pub(crate) mod in_place;
pub(crate) mod kernel;
pub(crate) mod recipe;
pub(crate) mod rows;
