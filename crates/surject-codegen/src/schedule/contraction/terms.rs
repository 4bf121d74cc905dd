//! How many terms of a sum share a vector of columns.

use crate::Target;

/// How many terms with so many columns a vector holds, if that is worth it: of the largest vectors no more than one is
/// multiplied in a cycle, and of those of half the lanes two.
pub(crate) fn together(columns: i64, lanes: usize, target: &Target) -> Option<i64> {
    let terms = lanes as i64 / columns.max(1);
    (terms >= if target.vector_bytes > 32 { 4 } else { 2 }).then_some(terms)
}
