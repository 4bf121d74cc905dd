//! The algebra of symbolic sizes (seed 002; reference/extents.md, sections 1 and 3).
//!
//! [`normal`] writes an extent as a polynomial over sizes, floor divisions and maxima; [`facts`] holds what is known
//! of sizes and answers questions in three values; [`prove`] searches for proofs by case splits and hands what is left
//! to [`claim`], a linear program that [`simplex`] solves exactly. [`kind`] is the calculus of what is guaranteed.

mod claim;
mod contract;
mod facts;
mod given;
mod kind;
mod local;
mod normal;
mod poly;
mod prove;
mod range;
mod sample;
mod simplex;
mod text;

pub use contract::{Evidence, Strengthening, strengthenings};
pub use facts::{
    Fact, Facts, NoQuotient, NormalForm, Relation, UnsatisfiableFacts, questions_of_this_thread,
};
pub use kind::{Clash, Meeting, Observed, UnsupportedDynamicShape};
pub use local::UnresolvableExtent;
