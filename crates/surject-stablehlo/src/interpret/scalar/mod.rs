//! Functions of single elements: which one an operation is, and what it computes.

pub(crate) mod complex;
pub(crate) mod convert;
pub(crate) mod inverse;
pub(crate) mod kernel;
pub(crate) mod real;
pub(crate) mod special;
