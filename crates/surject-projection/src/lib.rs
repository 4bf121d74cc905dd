//! Projection inference: the product space and the index maps of one operation, from its shape constraints.

mod access;
mod classes;
mod equation;
mod error;
mod loops;
mod pieces;
mod projections;
mod solve;

pub use access::Access;
pub use equation::{AxisId, Equation, Pin, System, Window};
pub use error::{Kind, Place, ProjectionError, Slot};
pub use pieces::{Piece, injective, surjective};
pub use projections::{Factor, Index, Loop, LoopId, Part, Projections};

use std::collections::BTreeMap;
use surject_shape::{GroundShape, Logic};

/// The product space and the index maps of one operation.
///
/// `sizes` are the globally solved sizes of the labels of its spec; they are needed for labels that no axis carries,
/// such as the window of a pooling `2*oh+wh, c => oh, c`.
///
/// # Errors
/// A conflict; see [`ProjectionError`].
pub fn derive(
    logic: &Logic,
    operands: &[GroundShape],
    result: &GroundShape,
    sizes: &BTreeMap<String, u64>,
) -> Result<Projections, ProjectionError> {
    System::new(logic, operands, result, sizes)?.solve()
}
