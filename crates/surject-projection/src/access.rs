//! Accesses: the index map of one tensor over the space of one piece.

use surject_index::{Affine, Fill, IndexMap, Space};

/// Where a tensor is read or written, over the space of a piece.
///
/// Axes whose position is given from outside ([`crate::Index::External`]) are left out: the tensor is taken as already
/// sliced. A component may leave its axis, by padding and by windows that overhang; `before` and `after` say how far, from
/// the actual range of the component: positions from `-before` up to `extent + after` (exclusive) are met.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    space: Space,
    components: Vec<Affine>,
    extents: Vec<u64>,
    before: Vec<u64>,
    after: Vec<u64>,
}

impl Access {
    /// An access by these components. `None` where a position does not fit in 64 bits.
    pub(crate) fn new(space: Space, components: Vec<Affine>, extents: Vec<u64>) -> Option<Access> {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (component, &extent) in components.iter().zip(&extents) {
            let extent = i64::try_from(extent).ok()?;
            if space.is_empty() {
                before.push(0);
                after.push(0);
                continue;
            }
            let (low, high) = component.range(&space)?;
            let left = low.checked_neg()?.max(0);
            let right = high.checked_add(1)?.checked_sub(extent)?.max(0);
            // The padded axis has to fit, too.
            left.checked_add(extent)?.checked_add(right)?;
            before.push(left.unsigned_abs());
            after.push(right.unsigned_abs());
        }
        Some(Access { space, components, extents, before, after })
    }

    /// The space of the piece.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// One expression an axis, over the space of the piece.
    pub fn components(&self) -> &[Affine] {
        &self.components
    }

    /// The sizes of the axes.
    pub fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// How far each component goes below 0.
    pub fn before(&self) -> &[u64] {
        &self.before
    }

    /// How far each component goes beyond the end of its axis.
    pub fn after(&self) -> &[u64] {
        &self.after
    }

    /// Does no component leave its axis?
    pub fn is_total(&self) -> bool {
        self.before.iter().chain(&self.after).all(|margin| *margin == 0)
    }

    /// The map that a read goes along; `fill` is the value outside of the tensor, and total maps have none.
    pub fn read_map(&self, fill: Fill) -> IndexMap {
        let codomain = Space::of(&self.extents);
        IndexMap::partial(self.space.clone(), codomain, self.components.clone(), Vec::new(), fill)
            .expect("an access has one component an axis and one coefficient a loop")
    }

    /// The maps that an accumulation goes along: the total map into the padded tensor, which has the margins as cells of
    /// its own, and the slice that takes the tensor out of it. Where nothing leaves, the slice is the identity.
    pub fn push(&self) -> (IndexMap, IndexMap) {
        let margins = self.before.iter().zip(&self.after);
        let padded: Vec<u64> = self.extents.iter().zip(margins).map(|(n, (b, a))| b + n + a).collect();
        let padded = Space::of(&padded);
        // The margins fit: `new` has checked it.
        let starts: Vec<i64> = self.before.iter().map(|b| *b as i64).collect();
        let shifted = self.components.iter().zip(&starts);
        let shifted =
            shifted.map(|(c, b)| Affine { coeffs: c.coeffs.clone(), offset: c.offset + b }).collect();
        let push = IndexMap::total(self.space.clone(), padded.clone(), shifted)
            .expect("the margins cover the range of every component");
        let slice = IndexMap::slice(&self.extents, &starts, &vec![1; starts.len()], &padded)
            .expect("the tensor lies inside its margins");
        (push, slice)
    }
}
