//! Shape inference.

pub mod constraint;
pub mod dim;
pub mod error;
pub mod origin;
pub mod row;
pub mod shape;
pub mod solver;
pub mod template;
pub mod text;

pub use constraint::{Constraint, Elems, Kernel, Role};
pub use dim::{Basis, BasisClash, Dim, DimTerm, DimVar, fuse};
pub use error::{ShapeError, ShapeErrorKind};
pub use origin::{Origin, Place};
pub use row::{GroundRow, Row, RowVar};
pub use shape::{Data, GroundShape, Shape};
pub use solver::Solver;
pub use template::{Axis, Instance, Template, TemplateRow, TemplateShape};
pub use text::{Bindings, Problem, Solution, SyntaxError, solve_text};
