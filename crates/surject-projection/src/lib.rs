//! Projection inference: the product space and the index maps of one operation, from its shape constraints.
//!
//! Knowing sizes is not enough to write loops: two axes of one size may have nothing to do with each other. The constraints
//! of an operation say which axes do, so they are read a second time, as an equivalence ([`System`] has the six rules),
//! and solved ([`System::solve`]). The result is [`Projections`]: a product space, and for each tensor the map from its
//! points to positions. Nobody says what is reduced: a reduction is a loop that the result's map does not mention.
//!
//! ```
//! use std::collections::BTreeMap;
//! use surject_projection::derive;
//! use surject_shape::{Dim, GroundRow, GroundShape, Logic};
//!
//! let row = |size: u64| GroundRow { trail: vec![Dim::new(size)], ..GroundRow::default() };
//! let shape = |i: u64, o: u64| GroundShape { input: row(i), output: row(o), ..GroundShape::default() };
//! // c = a * b, the function a : 5->3 after b : 4->5
//! let record = derive(&Logic::Compose, &[shape(5, 3), shape(4, 5)], &shape(4, 3), &BTreeMap::new())?;
//! assert_eq!(record.to_string(), "\
//! product space {o:3, i:4, k:5}
//! lhs [o, i]
//! rhs1 [o, k]
//! rhs2 [k, i]
//! reductions {k}
//! ");
//! assert!(record.surjective()?.is_yes() && record.injective()?.is_no());
//! # Ok::<(), surject_projection::ProjectionError>(())
//! ```
//!
//! # Strides, kernels and margins
//!
//! A strided axis is at `stride·over + dilation·kernel + offset`. A padded kernel starts half of its *span* earlier, where
//! the span counts the positions between its ends: `e = (k-1)·dilation + 1`, `left = ⌊e/2⌋`. So a kernel of 3 reads
//! `oh+kh-1` and one of 2 reads `oh+kh-1` as well; with dilation 2 a kernel of 3 reads `oh+2*kh-2`.
//!
//! How far an index may leave its axis is not taken from a rule but from the range of the index ([`Access::before`],
//! [`Access::after`]). A read outside of the tensor yields a fill, which has to be the neutral element of the accumulation;
//! a write outside goes to cells of its own, which are cut off ([`Access::push`]). A window without padding that has an
//! offset overhangs by it, since its axis is as large as the windows without the offset: the positions it overhangs by are
//! treated like padding. Nothing is ever read out of range.
//!
//! # Symbolic sizes
//!
//! Sizes may be symbolic ([`derive_given`]). What the maps are asked (injective, surjective) is answered in three values, and
//! *unknown* acts as *no*; [`lacking`] gives the facts that would make it *yes*. A component of a concatenation that starts
//! at a symbolic position is accessed through a window of its own ([`Access::window`]).
//!
//! # Concatenation
//!
//! The components of a concatenated axis run one after the other, so they are one factor of the product space; concatenations
//! that have components in common are coupled and share their factor. [`Projections::pieces`] gives the boxes of loops that
//! arise, one for each selection of active components that means something.

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
pub use pieces::{Piece, injective, lacking, surjective};
pub use projections::{Factor, Index, Loop, LoopId, Part, Projections};

use std::collections::BTreeMap;
use std::sync::Arc;
use surject_index::{Extent, Facts};
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

/// As [`derive`](fn@derive), where sizes may be symbolic and satisfy these facts (seed 002; reference/extents.md, section 4.5). An axis
/// whose size is not certainly one iterates, and sizes that are not certainly equal do not share a loop.
///
/// # Errors
/// As there, and what the facts do not decide, with the fact that would.
pub fn derive_given(
    logic: &Logic,
    operands: &[GroundShape],
    result: &GroundShape,
    sizes: &BTreeMap<String, Extent>,
    facts: &Arc<Facts>,
) -> Result<Projections, ProjectionError> {
    System::given(logic, operands, result, sizes, facts)?.solve()
}
