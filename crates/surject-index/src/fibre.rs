//! Fibre products: the pairs of points on which two maps agree, where they form a box.

use crate::{IndexMap, Space};

/// The fibre product of `N : Q → D` and `M : P → D`: a box `R` whose points are the pairs `(q, p)` with
/// `N(q) = M(p)`, each exactly once. The base change `read N (acc ⊕ M f) = acc ⊕ to_q (read to_p f)` holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FibreProduct {
    /// The space of the pairs.
    pub space: Space,
    /// `R → Q`, the first map's domain.
    pub to_q: IndexMap,
    /// `R → P`, the second map's domain.
    pub to_p: IndexMap,
}

impl IndexMap {
    /// The fibre product of `self = N : Q → D` with `m : P → D`, both total; `None` where the pairs are not
    /// proven to form an affine box. When `N` only renames or repeats axes, the axes of `R` are those of `Q`
    /// in order, followed by the axes of `P` that `M` leaves free.
    pub fn fibre_product(&self, m: &IndexMap) -> Option<FibreProduct> {
        let _ = m;
        None
    }
}
