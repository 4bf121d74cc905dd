//! Inverses on the image, and factoring one map through another (laws *collapse* and *push-pull* of DESIGN.md
//! section 2).

use crate::rows::{Row, echelon, solve};
use crate::{Affine, Extent, Fill, Guard, IndexMap};

impl IndexMap {
    /// The affine inverse of an injective map on its image: `codomain → domain`, guarded where a position is
    /// outside the image (there a read yields `fill`). For every position `d`, `inverse.apply(d) = Some(p)`
    /// exactly when `self.apply(p) = Some(d)`.
    ///
    /// `None` when the map has no affine inverse on its image: it is not injective, or a stride has a
    /// divisibility condition, or mixed radix needs division. Symbolic extents are fine: what is needed is an
    /// integer left inverse of the coefficients.
    ///
    /// A component `Fixed(c)` becomes the guard `d = c`; an axis of extent 1, or one that a guard pins to a
    /// single position, becomes a constant; the guards of the map are pulled back.
    pub fn inverse(&self, fill: Fill) -> Option<IndexMap> {
        let rank = self.codomain().rank();
        self.inverse_parts()
            .and_then(|(components, mut guards)| {
                for g in self.guards() {
                    guards
                        .push(Guard { expr: g.expr.substitute(&components, rank)?, bound: g.bound.clone() });
                }
                let (from, to) = (self.codomain().clone(), self.domain().clone());
                IndexMap::partial(from, to, components, guards, fill).ok()
            })
            .or_else(|| self.empty_inverse(fill))
    }

    /// The components of the inverse and the equations that positions of the image satisfy.
    fn inverse_parts(&self) -> Option<(Vec<Affine>, Vec<Guard>)> {
        let rank = self.codomain().rank();
        let mut pinned: Vec<Option<i64>> =
            self.domain().extents().iter().map(|e| (e.as_const() == Some(1)).then_some(0)).collect();
        if !self.is_total()
            && let Some(guarded) = self.guarded_box()
        {
            for (axis, pin) in pinned.iter_mut().enumerate() {
                if guarded.size[axis] == 1 {
                    *pin = Some(guarded.lo[axis]);
                }
            }
        }
        let active: Vec<usize> = (0..pinned.len()).filter(|&a| pinned[a].is_none()).collect();
        let mut rows = Vec::with_capacity(rank);
        for (position, component) in self.components().iter().enumerate() {
            let mut offset = component.offset;
            for (c, pin) in component.coeffs.iter().zip(&pinned) {
                offset = offset.checked_add(c.checked_mul(pin.unwrap_or(0))?)?;
            }
            let lhs = active.iter().map(|&a| component.coeffs[a]).collect();
            rows.push(Row { lhs, rhs: Affine::strided(rank, position, 1, offset.checked_neg()?) });
        }
        if rows.len() < active.len() {
            return None;
        }
        solve(&mut rows)?;
        let mut components: Vec<Affine> =
            pinned.iter().map(|pin| Affine::fixed(rank, pin.unwrap_or(0))).collect();
        for (row, &axis) in rows.iter().zip(&active) {
            components[axis] = row.rhs.clone();
        }
        let guards =
            rows[active.len()..].iter().map(|r| Guard { expr: r.rhs.clone(), bound: Extent::Const(1) });
        Some((components, guards.collect()))
    }

    /// The inverse of a map without points: guarded out everywhere.
    fn empty_inverse(&self, fill: Fill) -> Option<IndexMap> {
        let never = |g: &Guard| g.bound.as_const() == Some(0);
        if !self.domain().is_empty() && !self.guards().iter().any(never) {
            return None;
        }
        let rank = self.codomain().rank();
        let components = vec![Affine::fixed(rank, 0); self.domain().rank()];
        let guard = Guard { expr: Affine::fixed(rank, 0), bound: Extent::Const(0) };
        let (from, to) = (self.codomain().clone(), self.domain().clone());
        IndexMap::partial(from, to, components, vec![guard], fill).ok()
    }

    /// A map `K` with `self = K ∘ over` (first `over`, then `K`), where both are total and `over` is proven
    /// surjective: then `K` is the only one. A projection along symbolic axes is accepted too (where such an
    /// axis is empty the equation holds of no point). `None` when `self` separates points that `over` does not,
    /// or `K` is not affine.
    pub fn through(&self, over: &IndexMap) -> Option<IndexMap> {
        if self.domain() != over.domain() || !self.is_total() || !over.is_total() {
            return None;
        }
        if over.is_identity() {
            return Some(self.clone());
        }
        if over.is_projection().is_none() && !over.surjective().is_yes() {
            return None;
        }
        let rank = over.codomain().rank();
        let components = match self.factor(over) {
            Some(components) => components,
            // Both ends are empty: any components will do.
            None if over.codomain().is_empty() => vec![Affine::fixed(rank, 0); self.codomain().rank()],
            None => return None,
        };
        IndexMap::total(over.codomain().clone(), self.codomain().clone(), components).ok()
    }

    /// The components of `self` as integer combinations of those of `over`.
    fn factor(&self, over: &IndexMap) -> Option<Vec<Affine>> {
        let rank = over.codomain().rank();
        let mut rows = Vec::with_capacity(rank);
        for (position, component) in over.components().iter().enumerate() {
            let rhs = Affine::strided(rank, position, 1, component.offset.checked_neg()?);
            rows.push(Row { lhs: component.coeffs.clone(), rhs });
        }
        let pivots = echelon(&mut rows)?;
        let factor = |component: &Affine| {
            let mut left = Row { lhs: component.coeffs.clone(), rhs: Affine::fixed(rank, 0) };
            for &(row, column) in &pivots {
                let (value, pivot) = (left.lhs[column], rows[row].lhs[column]);
                if value % pivot != 0 {
                    return None;
                }
                if value != 0 {
                    left.reduce(&rows[row], value / pivot)?;
                }
            }
            if left.lhs.iter().any(|&c| c != 0) {
                return None;
            }
            // The reductions left `0 · p = -K`.
            Affine::fixed(rank, component.offset).add_scaled(&left.rhs, -1)
        };
        self.components().iter().map(factor).collect()
    }
}
