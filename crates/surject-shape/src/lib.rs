//! Shape inference: broadcasting is an order, and shapes are what solves its constraints.
//!
//! A [`Dim`] is a size with a basis, or the claim-free unit, which broadcasts to everything; a written `1` does not. A
//! [`Row`] is two flanks of axes around a marker, the place where it grows. A [`Shape`] is three rows, `batch|input->output`.
//! Operations give constraints: equations where axes have to be the same ones, inequalities `sub ⊑ sup` where the
//! left side may broadcast ([`Constraint`]; the helpers on [`Solver`] in [`operation`] and [`shape`] emit them). The
//! [`Solver`] binds what the constraints force while they are added; closing then commits the rest, leaves upwards to
//! their bounds and everything else downwards.
//!
//! This crate knows nothing of notation for tensor programs, of loops, and of data. It owns one text form, the bare
//! constraint problem ([`text`]).
//!
//! ```
//! use std::sync::Arc;
//! use surject_shape::{Dim, Origin, Role, Shape, Solver};
//!
//! let mut solver = Solver::new();
//! let x = Shape::closed(&[Dim::new(10)], &[], &[Dim::new(2)]);
//! let weight = solver.fresh_parameter();
//! solver.terminal(&weight, Role::Param, &Arc::new(Origin::operation("weight")))?;
//!
//! // hidden = weight * x, and hidden + a bias of 16
//! let (hidden, sum) = (solver.fresh_shape(), solver.fresh_shape());
//! let bias = Shape::closed(&[], &[], &[Dim::new(16)]);
//! solver.compose(&weight, &x, &hidden, &Arc::new(Origin::operation("weight * x")))?;
//! solver.pointwise(&[&hidden, &bias], &sum, &Arc::new(Origin::operation("weight * x + bias")))?;
//!
//! solver.close()?;
//! assert_eq!(solver.ground_shape(&weight).map(|s| s.to_string()).as_deref(), Some("2->16"));
//! # Ok::<(), surject_shape::ShapeError>(())
//! ```
//!
//! Two things are worth knowing before one reads the solver:
//!
//! * The two flanks of a row are independent under `⊑`: `l₁·⋄·r₁ ⊑ l₂·⋄·r₂` holds when `l₁` fits a prefix of `l₂` and
//!   `r₁` a suffix of `r₂`. Only equations, which are blind to the marker, couple them.
//! * Over dimensions alone, propagation decides satisfiability: setting every open axis to the unit is a solution. What can
//!   fail after propagation is arithmetic (sums, strides, numbers of elements) and the overlap of shifted row equations.
//!   Sums and strides are linear and are solved; what closing chooses beyond that it can take back, a bounded number of
//!   times. An error that depends on such a choice says so.

pub mod constraint;
pub mod dim;
pub mod error;
pub mod operation;
pub mod origin;
mod renumber;
pub mod row;
pub mod shape;
pub mod solver;
pub mod template;
pub mod text;

pub use constraint::{Constraint, Elems, Kernel, Role};
pub use dim::{Basis, BasisClash, Dim, DimTerm, DimVar, Symbolic, fuse};
pub use error::{ShapeError, ShapeErrorKind};
pub use operation::{Elaboration, Logic};
pub use origin::{Named, Origin, Place, Subject};
pub use row::{GroundRow, Row, RowVar};
pub use shape::{Data, GroundShape, Shape};
pub use solver::Solver;
pub use template::{Axis, Instance, Template, TemplateRow, TemplateShape};
pub use text::{Bindings, Problem, Solution, SyntaxError, solve_text};
