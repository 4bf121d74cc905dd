//! Extents, index spaces and index maps: the lowest layer of Surject (DESIGN.md section 2; seed 002 for extents). It
//! knows nothing of element types, programs or MLIR.
//!
//! An [`IndexMap`] sends the points of a loop space to positions of a tensor. Whether it is *injective* decides
//! if an accumulation collapses to a plain write; whether it is *surjective* decides if the target must be
//! cleared. Both decisions are exact for constant extents within stated budgets and otherwise three-valued
//! ([`Verdict`]). What the laws of the algebra need of maps is here too:
//!
//! | law | question |
//! |---|---|
//! | read-read, acc-acc | [`IndexMap::then`] |
//! | collapse | [`IndexMap::injective`], [`IndexMap::inverse`] |
//! | to-set, no-clear | [`IndexMap::bijective`], [`IndexMap::surjective`] |
//! | push-pull, factor | [`IndexMap::through`] |
//! | pull-push, inline | [`IndexMap::fibre_product`] |
//! | reshape | [`IndexMap::reshape`] |
//!
//! ```
//! use surject_index::{Fill, IndexMap, Space, Verdict};
//!
//! let window: IndexMap = "(o<4, d<3) -> [2*o + d] in [9]".parse()?;
//! let Verdict::No(collision) = window.injective() else { panic!("windows overlap") };
//! assert_eq!(window.apply(&collision.first), window.apply(&collision.second));
//! assert!(window.surjective().is_yes());
//!
//! let transpose = IndexMap::projection(&Space::of(&[4, 5]), &[1, 0]);
//! assert_eq!(transpose.inverse(Fill(0)).unwrap().to_string(), "(i<5, j<4) -> [j, i] in [4,5]");
//! # Ok::<(), surject_index::ParseError>(())
//! ```

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
mod symbolic;
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
pub use symbolic::{
    Clash, Evidence, Fact, Facts, Meeting, NoQuotient, NormalForm, Observed, Relation, Strengthening,
    UnresolvableExtent, UnsatisfiableFacts, UnsupportedDynamicShape, questions_of_this_thread,
    strengthenings,
};
pub use verdict::Verdict;
