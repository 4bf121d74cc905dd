//! The routines of LAPACK that tensor programs call, on one matrix of complex `f64` at a time.
//!
//! [`Routine`] says which operands a routine takes, of which types and sizes its results are, and computes them. Matrices are
//! row by row. Results are those of LAPACK up to the signs and phases that it leaves open; who calls rounds them to the type
//! of the program. Real matrices give real results.

mod complex;
mod factor;
mod routine;

pub use complex::{div, sqrt};
pub use routine::{Kind, Operand, ResultType, Routine, Size};

/// The numbers that all routines compute with.
pub type C = num_complex::Complex<f64>;
