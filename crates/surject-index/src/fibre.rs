//! Fibre products: the pairs of points on which two maps agree, where they form a box (laws *pull-push* and
//! *inline* of DESIGN.md section 2; algorithm: `reference/egraph.md` section 8).

use crate::solve::{Solutions, solve};
use crate::{Affine, Component, Extent, IndexMap, Space};

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
    /// proven to form an affine box.
    ///
    /// When `M` is a projection onto whole axes (distinct `Iter` components, axes of extent 1 aside), which is
    /// what an accumulation writes through, it always succeeds, for every `N`, symbolic extents included. The
    /// axes of `R` are then exactly those of `Q` in order, followed by the axes of `P` that `M` leaves free (those
    /// of extent 1 left out), so `to_q` is the projection onto the first axes. Otherwise the axes of `R` are what
    /// is left of the axes of `Q`, in order, then what is left of those of `P`.
    ///
    /// Two maps that never agree have the empty fibre product: an axis of extent 0.
    pub fn fibre_product(&self, m: &IndexMap) -> Option<FibreProduct> {
        if self.codomain() != m.codomain() || !self.is_total() || !m.is_total() {
            return None;
        }
        self.along_projection(m).or_else(|| self.along_box(m)).or_else(|| self.reading_projection(m))
    }

    /// The case of a projection `M`: its axes are replaced by the components of `N`.
    fn along_projection(&self, m: &IndexMap) -> Option<FibreProduct> {
        let rank = self.domain().rank();
        let mut source: Vec<Option<&Affine>> = vec![None; m.domain().rank()];
        for ((n, component), extent) in
            self.components().iter().zip(m.components()).zip(m.codomain().extents())
        {
            match component.component() {
                Component::Iter(axis) if source[axis].is_none() && m.domain().extent(axis) == extent => {
                    source[axis] = Some(n)
                }
                // Both are 0 there.
                Component::Fixed(_) if extent.as_const() == Some(1) => {}
                // Both are the same constant.
                Component::Fixed(c) if n.component() == Component::Fixed(c) => {}
                _ => return None,
            }
        }
        let free: Vec<usize> = (0..source.len())
            .filter(|&a| source[a].is_none() && m.domain().extent(a).as_const() != Some(1))
            .collect();
        let space = self.domain().product(&m.domain().select(&free));
        let component = |(axis, source): (usize, &Option<&Affine>)| match source {
            Some(n) => n.embed(0, free.len()),
            None => match free.iter().position(|&a| a == axis) {
                Some(place) => Affine::axis(space.rank(), rank + place),
                None => Affine::fixed(space.rank(), 0),
            },
        };
        let to_p = source.iter().enumerate().map(component).collect();
        // The components of a total N are in the range of D, so they are in that of P's axes.
        let to_p = IndexMap::assemble(space.clone(), m.domain().clone(), to_p, Vec::new(), None);
        let to_q = IndexMap::projection(&space, &(0..rank).collect::<Vec<_>>());
        Some(FibreProduct { space, to_q, to_p })
    }

    /// The general case, by the equations `N(q) = M(p)` over `Q × P`.
    fn along_box(&self, m: &IndexMap) -> Option<FibreProduct> {
        let (q, p) = (self.domain(), m.domain());
        let space = q.product(p);
        if space.is_empty() {
            let to_q = IndexMap::projection(&space, &(0..q.rank()).collect::<Vec<_>>());
            let to_p = IndexMap::projection(&space, &(q.rank()..space.rank()).collect::<Vec<_>>());
            return Some(FibreProduct { space, to_q, to_p });
        }
        let mut equations = Vec::with_capacity(m.components().len());
        for (n, c) in self.components().iter().zip(m.components()) {
            equations.push(n.embed(0, p.rank()).add_scaled(&c.embed(q.rank(), 0), -1)?);
        }
        match solve(&space, q.rank(), equations) {
            Solutions::Box { space, variables } => {
                let (to_q, to_p) = variables.split_at(q.rank());
                let to_q = IndexMap::total(space.clone(), q.clone(), to_q.to_vec()).ok()?;
                let to_p = IndexMap::total(space.clone(), p.clone(), to_p.to_vec()).ok()?;
                Some(FibreProduct { space, to_q, to_p })
            }
            Solutions::Empty => {
                // The axes of Q, the first of them without a point.
                let mut extents = q.extents().to_vec();
                match extents.first_mut() {
                    Some(first) => *first = Extent::Const(0),
                    None => extents.push(Extent::Const(0)),
                }
                let space = Space::new(extents);
                let axes = (0..q.rank()).map(|a| Affine::axis(space.rank(), a)).collect();
                let to_q = IndexMap::total(space.clone(), q.clone(), axes).ok()?;
                let zeros = vec![Affine::fixed(space.rank(), 0); p.rank()];
                let to_p = IndexMap::total(space.clone(), p.clone(), zeros).ok()?;
                Some(FibreProduct { space, to_q, to_p })
            }
            Solutions::Unknown => None,
        }
    }

    /// The case of a projection `N` and a map `M` that the general case cannot follow (symbolic extents).
    fn reading_projection(&self, m: &IndexMap) -> Option<FibreProduct> {
        let swapped = m.along_projection(self)?;
        Some(FibreProduct { space: swapped.space, to_q: swapped.to_p, to_p: swapped.to_q })
    }
}
