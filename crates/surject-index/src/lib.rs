//! Extents, index spaces and index maps: the lowest layer of Surject. It knows nothing of element types,
//! programs or MLIR.
//!
//! An [`IndexMap`] sends the points of a loop space to positions of a tensor. Whether it is *injective* decides
//! if an accumulation collapses to a plain write; whether it is *surjective* decides if the target must be
//! cleared. Both decisions are exact for constant extents and otherwise three-valued ([`Verdict`]).

mod affine;
mod build;
mod cover;
mod decide;
mod extent;
mod fibre;
mod guarded;
mod image;
mod inverse;
mod lattice;
mod map;
mod parse;
mod reshape;
mod rows;
mod solve;
mod space;
mod verdict;

pub use affine::{Affine, Component, axis_names};
pub use cover::Uncovered;
pub use decide::{Collision, InjectiveProof};
pub use extent::{Extent, ExtentEnv, ExtentError, ExtentExpr, ScalarSemantics, ShapeExtent};
pub use fibre::FibreProduct;
pub use image::Progression;
pub use map::{Fill, Guard, IndexMap, MapError};
pub use parse::ParseError;
pub use reshape::{ReshapePlan, ReshapeStep};
pub use space::{Points, Space};
pub use verdict::Verdict;
