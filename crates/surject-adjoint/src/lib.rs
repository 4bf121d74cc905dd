//! Reverse-mode differentiation of programs by the adjoint law (DESIGN.md section 2): the gradient of `read M` is
//! `acc + M`, and the other way round. What is between the two is pointwise, one row an operation in a table.
//!
//! [`gradient`] takes a function of a [`Program`](surject_ir::Program) and gives a program with a function of the
//! same name that yields its results and their derivatives. The forward statements stay in order; behind them the
//! reverse sweep visits every stored field from its root to the tensors it reads. [`Gradients`] keeps the gradients of a
//! function with symbolic sizes from call to call.
//!
//! ```
//! use surject_adjoint::{Options, gradient};
//!
//! let program = surject_ir::parse(
//!     "func main(a: f32[4,5], b: f32[5,6], c: f32[4,6]) -> (s) {
//!        let p : f32[4,6] =:+ over i<4, j<5, k<6 at [i,k]: a[i,j] * b[j,k]
//!        s : f32[] =:+ over i<4, k<6 at []: p * c[i,k]
//!      }",
//! )?;
//! let derived = gradient(&program, "main", &Options::default())?;
//! assert_eq!(derived.functions[0].body.results.len(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Conventions
//!
//! * **Equal extrema.** Where several elements equal a maximum, [`Ties`] says who gets the gradient.
//! * **Steps.** `floor`, `sign`, comparisons, conversions to integers and `next_after` have the derivative zero.
//! * **Rounding.** The derivative of `reduce_precision` and of conversions between floats is that of the identity,
//!   rounded as the value is.
//! * **Bits.** A float read as an integer has no derivative. Where a derivative would have to pass through the bits
//!   of a float (`bitcast` to an integer and back) the program is refused.
//! * **Complex numbers** follow JAX: cotangents are transposed, not conjugated, so the gradient of a real function
//!   of `z = x + iy` is `∂f/∂x − i ∂f/∂y`.
//! * **Zero times infinity.** What overflows on the way does not make NaN of a derivative that has a finite limit:
//!   exponentials pass on `c · y` instead of `c`, masks are laid over products that may be singular, and a function
//!   that saturates absorbs what has overflowed. What a mathematical limit does not decide (`√x · √x` at 0) is NaN.
//! * **Loops.** Where the number of iterations follows from constants of the program the carried values that the
//!   reverse sweep needs are kept, one slice an iteration. Where it depends on data [`Options::checkpoints`] of them
//!   are, and those between are run again.
//! * **Other bodies.** Reductions and windows with a body of their own (`logaddexp`) are differentiated as the loop
//!   over their elements, in row-major order.
//! * **Padding.** Where the gradient of a convolution reads outside the cotangent it takes zero times the kernel, as
//!   the convolution itself takes zero times the kernel outside its operand: an infinite weight gives NaN there.
//! * **Linear algebra.** `cholesky` and `triangular_solve` read one triangle; the other one has the gradient zero.

#![warn(missing_docs)]

mod activity;
mod build;
mod checkpoints;
mod control;
mod copy;
mod error;
mod field;
mod fold;
mod gradient;
mod immune;
mod kept;
mod library;
mod loops;
mod options;
mod pointwise;
mod push;
mod relative;
mod sizes;
mod solve;
mod special;
mod spread;
mod sweep;
mod tidy;
mod trips;

pub use error::{AdjointError, codes};
pub use gradient::gradient;
pub use kept::{GradientError, Gradients};
pub use options::{Mode, Options, Ties};
