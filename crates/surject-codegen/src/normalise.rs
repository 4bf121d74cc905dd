//! Equal forms of an expression with fewer or simpler loops.
//!
//! `merge` joins loops, `alternating` makes one kernel of two phases whose elements alternate, `periodic` writes out what
//! repeats beside short rows, `all_sums` makes sums of holes once.

pub(crate) mod all_sums;
pub(crate) mod alternating;
pub(crate) mod merge;
pub(crate) mod periodic;
pub(crate) mod pulled;
