//! Accesses: the index map of one tensor over the space of one piece.

use crate::equation::tidy;
use std::sync::Arc;
use surject_index::{Affine, Extent, Fact, Facts, Fill, IndexMap, Relation, Space};

/// Where a tensor is read or written, over the space of a piece.
///
/// Axes whose position is given from outside ([`crate::Index::External`]) are left out: the tensor is taken as already
/// sliced. A component may leave its axis, by padding and by windows that overhang; `before` and `after` say how far, from
/// the actual range of the component: positions from `-before` up to `extent + after` (exclusive) are met.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    space: Space,
    components: Vec<Affine>,
    extents: Vec<Extent>,
    before: Vec<u64>,
    after: Vec<Extent>,
    window: Option<Window>,
    facts: Arc<Facts>,
    /// Where a size is symbolic: the maps of [`Access::push`], since whether they exist depends on the facts.
    push: Option<(IndexMap, IndexMap)>,
}

/// The part of a tensor that is accessed, where its position is a symbolic size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// The first position along each axis.
    pub starts: Vec<Extent>,
    /// The sizes of the whole tensor.
    pub whole: Vec<Extent>,
}

/// Why there is no access.
pub(crate) enum NoAccess {
    /// A position does not fit in 64 bits.
    TooLarge,
    /// How far an axis is left below 0 is no number.
    SymbolicMargin(Extent),
    /// A fact about sizes is missing.
    Undecided(Box<Fact>),
}

impl Access {
    /// An access by these components.
    pub(crate) fn new(
        space: Space,
        components: Vec<Affine>,
        extents: Vec<Extent>,
        window: Option<Window>,
        facts: Arc<Facts>,
    ) -> Result<Access, NoAccess> {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (component, extent) in components.iter().zip(&extents) {
            if space.is_empty() {
                before.push(0);
                after.push(Extent::Const(0));
                continue;
            }
            let used = component.used_axes().map(|axis| space.extent(axis));
            let numbers = used.chain([extent]).all(|e| e.as_const().is_some());
            let (left, right) = match extent.as_const().filter(|_| numbers) {
                Some(extent) => component
                    .range(&space)
                    .and_then(|range| margins(range, extent))
                    .ok_or(NoAccess::TooLarge)?,
                None => symbolic_margins(component, &space, extent, &facts)?,
            };
            before.push(left);
            after.push(right);
        }
        let mut access = Access { space, components, extents, before, after, window, facts, push: None };
        if access.is_symbolic() {
            access.push = Some(access.symbolic_push().map_err(NoAccess::Undecided)?);
        }
        Ok(access)
    }

    fn is_symbolic(&self) -> bool {
        self.space.extents().iter().chain(&self.extents).any(|e| e.as_const().is_none())
    }

    /// The space of the piece.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// One expression an axis, over the space of the piece.
    pub fn components(&self) -> &[Affine] {
        &self.components
    }

    /// The sizes of the axes; of the window, if there is one.
    pub fn extents(&self) -> &[Extent] {
        &self.extents
    }

    /// The part of the tensor that is accessed, if it is not the whole. Everything else here speaks of this part.
    pub fn window(&self) -> Option<&Window> {
        self.window.as_ref()
    }

    /// What is known of symbolic sizes.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// How far each component goes below 0.
    pub fn before(&self) -> &[u64] {
        &self.before
    }

    /// How far each component goes beyond the end of its axis.
    pub fn after(&self) -> &[Extent] {
        &self.after
    }

    /// Is it certain that no component leaves its axis?
    pub fn is_total(&self) -> bool {
        self.before.iter().all(|margin| *margin == 0)
            && self.after.iter().all(|margin| margin.as_const() == Some(0))
    }

    /// The map that a read goes along; `fill` is the value outside of the tensor, and total maps have none.
    pub fn read_map(&self, fill: Fill) -> IndexMap {
        let codomain = Space::new(self.extents.iter().cloned());
        let parts = || (self.space.clone(), codomain.clone(), self.components.clone());
        if self.is_symbolic() && self.is_total() {
            let (domain, codomain, components) = parts();
            if let Ok(map) = IndexMap::total_given(domain, codomain, components, &self.facts) {
                return map;
            }
        }
        let (domain, codomain, components) = parts();
        IndexMap::partial(domain, codomain, components, Vec::new(), fill)
            .expect("an access has one component an axis and one coefficient a loop")
    }

    /// The maps that an accumulation goes along: the total map into the padded tensor, which has the margins as cells of
    /// its own, and the slice that takes the tensor out of it. Where nothing leaves, the slice is the identity.
    pub fn push(&self) -> (IndexMap, IndexMap) {
        if let Some(maps) = &self.push {
            return maps.clone();
        }
        let sizes: Vec<u64> = self.extents.iter().filter_map(Extent::as_const).collect();
        let padded = self.padded();
        // The margins fit: `new` has checked it.
        let starts: Vec<i64> = self.before.iter().map(|b| *b as i64).collect();
        let push = IndexMap::total(self.space.clone(), padded.clone(), self.shifted())
            .expect("the margins cover the range of every component");
        let slice = IndexMap::slice(&sizes, &starts, &vec![1; starts.len()], &padded)
            .expect("the tensor lies inside its margins");
        (push, slice)
    }

    fn padded(&self) -> Space {
        let margins = self.before.iter().zip(&self.after);
        let padded = self.extents.iter().zip(margins).map(|(n, (before, after))| {
            let sum = Extent::sum(Extent::sum(n.clone(), Extent::Const(*before)), after.clone());
            tidy(&self.facts, sum)
        });
        Space::new(padded)
    }

    fn shifted(&self) -> Vec<Affine> {
        let shifted = self.components.iter().zip(&self.before);
        shifted.map(|(c, b)| Affine { coeffs: c.coeffs.clone(), offset: c.offset + *b as i64 }).collect()
    }

    fn symbolic_push(&self) -> Result<(IndexMap, IndexMap), Box<Fact>> {
        let padded = self.padded();
        let rank = self.extents.len();
        let missing = |error: surject_index::MapError| match error {
            surject_index::MapError::OutOfRange { missing: Some(fact), .. } => Box::new(fact),
            // What no fact would help never arises from margins.
            _ => Box::new(Fact::new(Extent::Const(1), Relation::Le, Extent::Const(0))),
        };
        let push = IndexMap::total_given(self.space.clone(), padded.clone(), self.shifted(), &self.facts)
            .map_err(missing)?;
        let back = (0..rank).map(|axis| Affine::strided(rank, axis, 1, self.before[axis] as i64)).collect();
        let from = Space::new(self.extents.iter().cloned());
        let slice = IndexMap::total_given(from, padded, back, &self.facts).map_err(missing)?;
        Ok((push, slice))
    }
}

/// How far a range of positions leaves an axis on both sides.
fn margins((low, high): (i64, i64), extent: u64) -> Option<(u64, Extent)> {
    let extent = i64::try_from(extent).ok()?;
    let left = low.checked_neg()?.max(0);
    let right = high.checked_add(1)?.checked_sub(extent)?.max(0);
    // The padded axis has to fit, too.
    left.checked_add(extent)?.checked_add(right)?;
    Some((left.unsigned_abs(), Extent::Const(right.unsigned_abs())))
}

/// The same where a size is symbolic. A loop may turn out to have no position: then nothing is met, and any margin is right.
fn symbolic_margins(
    component: &Affine,
    space: &Space,
    extent: &Extent,
    facts: &Facts,
) -> Result<(u64, Extent), NoAccess> {
    // What the terms of either sign add at most.
    let reach = |negative: bool| {
        component.coeffs.iter().zip(space.extents()).filter(|(c, _)| **c != 0 && (**c < 0) == negative).fold(
            Extent::Const(0),
            |sum, (c, size)| {
                let last = Extent::difference(size.clone(), Extent::Const(1));
                Extent::sum(sum, Extent::product(c.unsigned_abs().into(), last))
            },
        )
    };
    let plus = |sum: Extent, by: i64| match by < 0 {
        true => Extent::difference(sum, by.unsigned_abs().into()),
        false => Extent::sum(sum, by.unsigned_abs().into()),
    };
    let margin = |beyond: Extent| {
        let none = Extent::Const(0);
        if facts.compare(&beyond, Relation::Le, &none).is_yes() {
            return none;
        }
        match facts.compare(&none, Relation::Le, &beyond).is_yes() {
            true => tidy(facts, beyond),
            false => tidy(facts, Extent::max(beyond, none)),
        }
    };
    let below = component.offset.checked_neg().ok_or(NoAccess::TooLarge)?;
    let left = margin(plus(reach(true), below));
    let last = component.offset.checked_add(1).ok_or(NoAccess::TooLarge)?;
    let right = margin(Extent::difference(plus(reach(false), last), extent.clone()));
    match left.as_const() {
        Some(left) => Ok((left, right)),
        None => Err(NoAccess::SymbolicMargin(left)),
    }
}
