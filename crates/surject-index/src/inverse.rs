//! Inverses on the image, and factoring one map through another.

use crate::{Fill, IndexMap};

impl IndexMap {
    /// The affine inverse of an injective map on its image: `codomain → domain`, guarded where a position is
    /// outside the image (there a read yields `fill`). `None` when the map is not proven injective or its
    /// inverse is not affine (a stride has a divisibility condition, mixed radix needs division).
    pub fn inverse(&self, fill: Fill) -> Option<IndexMap> {
        let _ = fill;
        None
    }

    /// A map `K` with `self = K ∘ over` (first `over`, then `K`), where `over` is total and surjective.
    pub fn through(&self, over: &IndexMap) -> Option<IndexMap> {
        let _ = over;
        None
    }
}
