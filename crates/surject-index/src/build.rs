//! Ready-made maps for importers and exporters, and small questions about maps (DESIGN.md section 2: broadcast,
//! transpose, slice, reverse and stride are reads along such maps).

use crate::{Affine, Component, Extent, Facts, Guard, IndexMap, MapError, Space, axis_names};

impl IndexMap {
    /// `p ↦ starts + strides · p` from a box of these sizes: what a slice reads.
    pub fn slice(
        sizes: &[u64],
        starts: &[i64],
        strides: &[i64],
        codomain: &Space,
    ) -> Result<IndexMap, MapError> {
        let rank = sizes.len();
        for (found, what) in [(starts.len(), "starts"), (strides.len(), "strides")] {
            if found != rank {
                return Err(MapError::Arity { what, found, expected: rank });
            }
        }
        let components =
            (0..rank).map(|axis| Affine::strided(rank, axis, strides[axis], starts[axis])).collect();
        IndexMap::total(Space::of(sizes), codomain.clone(), components)
    }

    /// The map of a space to itself that reverses some axes. Their sizes must be known.
    pub fn reverse(space: &Space, axes: &[usize]) -> Result<IndexMap, MapError> {
        let rank = space.rank();
        if let Some(&axis) = axes.iter().find(|&&a| a >= rank) {
            return Err(MapError::Arity { what: "axes", found: axis + 1, expected: rank });
        }
        let component = |axis: usize| {
            if !axes.contains(&axis) {
                return Ok(Affine::axis(rank, axis));
            }
            let size = space.extent(axis).as_const().and_then(|n| i64::try_from(n).ok());
            let size = size.ok_or_else(|| MapError::OutOfRange {
                axis,
                component: format!("{} - 1 - {}", space.extent(axis), axis_names(rank)[axis]),
                extent: space.extent(axis).clone(),
                missing: None,
            })?;
            Ok(Affine::strided(rank, axis, -1, size - 1))
        };
        let components = (0..rank).map(component).collect::<Result<_, MapError>>()?;
        IndexMap::total(space.clone(), space.clone(), components)
    }

    /// The map that StableHLO's `broadcast_in_dim` reads its operand along: axis `a` of the operand is axis
    /// `dims[a]` of the result, and an operand axis of extent 1 is read at 0.
    pub fn broadcast_in_dim(out: &Space, operand: &Space, dims: &[usize]) -> Result<IndexMap, MapError> {
        IndexMap::broadcast_in_dim_given(out, operand, dims, &Facts::default())
    }

    /// As [`IndexMap::broadcast_in_dim`], in a program whose sizes satisfy these facts.
    pub fn broadcast_in_dim_given(
        out: &Space,
        operand: &Space,
        dims: &[usize],
        facts: &Facts,
    ) -> Result<IndexMap, MapError> {
        if dims.len() != operand.rank() {
            return Err(MapError::Arity { what: "dimensions", found: dims.len(), expected: operand.rank() });
        }
        if let Some(&axis) = dims.iter().find(|&&a| a >= out.rank()) {
            return Err(MapError::Arity { what: "axes", found: axis + 1, expected: out.rank() });
        }
        let component = |(extent, &dim): (&Extent, &usize)| match extent.as_const() {
            Some(1) => Affine::fixed(out.rank(), 0),
            _ => Affine::axis(out.rank(), dim),
        };
        let components = operand.extents().iter().zip(dims).map(component).collect();
        IndexMap::total_given(out.clone(), operand.clone(), components, facts)
    }

    /// The row-major linearisation `P → [N]`. Only the outermost axis that is not of extent 1 may be symbolic.
    pub fn linearise(space: &Space) -> Result<IndexMap, MapError> {
        let rank = space.rank();
        let mut form = Affine::fixed(rank, 0);
        // The number of positions so far, and the same as a coefficient, while it is known.
        let (mut count, mut stride) = (Extent::Const(1), Some(1i64));
        for axis in (0..rank).rev() {
            let extent = space.extent(axis);
            if extent.as_const() == Some(1) {
                continue;
            }
            form.coeffs[axis] = stride.ok_or_else(|| match count.as_const() {
                None => MapError::SymbolicStride { axis, stride: count.clone() },
                Some(_) => MapError::Overflow,
            })?;
            stride = match (stride, extent.as_const()) {
                _ if space.is_empty() => Some(0),
                (Some(s), Some(n)) => i64::try_from(n).ok().and_then(|n| s.checked_mul(n)),
                _ => None,
            };
            count = if count.as_const() == Some(1) {
                extent.clone()
            } else {
                Extent::product(extent.clone(), count)
            };
        }
        if space.is_empty() {
            count = Extent::Const(0);
        }
        IndexMap::total(space.clone(), Space::new([count]), vec![form])
    }

    /// The map on the sub-range `start .. start + count` of an axis of the domain, counted from 0 again.
    pub fn restrict(&self, axis: usize, start: u64, count: u64) -> Result<IndexMap, MapError> {
        let rank = self.domain().rank();
        if axis >= rank {
            return Err(MapError::Arity { what: "axes", found: axis + 1, expected: rank });
        }
        let extent = self.domain().extent(axis);
        let inside =
            matches!((start.checked_add(count), extent.as_const()), (Some(end), Some(n)) if end <= n);
        let offset = i64::try_from(start).ok().filter(|_| inside);
        let offset = offset.ok_or_else(|| MapError::OutOfRange {
            axis,
            component: format!("{start}..{start}+{count}"),
            extent: extent.clone(),
            missing: None,
        })?;
        let mut extents = self.domain().extents().to_vec();
        extents[axis] = Extent::Const(count);
        let inner: Vec<Affine> =
            (0..rank).map(|a| Affine::strided(rank, a, 1, if a == axis { offset } else { 0 })).collect();
        let embed = IndexMap::assemble(Space::new(extents), self.domain().clone(), inner, Vec::new(), None);
        embed.then(self)
    }

    /// The product `(p, q) ↦ (self(p), other(q))`. Where both are partial their fills must agree bit for bit.
    pub fn product(&self, other: &IndexMap) -> Result<IndexMap, MapError> {
        let (before, after) = (self.domain().rank(), other.domain().rank());
        let left = |e: &Affine| e.embed(0, after);
        let right = |e: &Affine| e.embed(before, 0);
        let guard = |g: &Guard, lift: &dyn Fn(&Affine) -> Affine| Guard {
            expr: lift(&g.expr),
            bound: g.bound.clone(),
        };
        let fill = match (self.fill(), other.fill()) {
            (Some(a), Some(b)) if a != b => return Err(MapError::FillsDiffer),
            (a, b) => a.or(b),
        };
        let components = self.components().iter().map(left).chain(other.components().iter().map(right));
        let guards = self.guards().iter().map(|g| guard(g, &left));
        let guards = guards.chain(other.guards().iter().map(|g| guard(g, &right)));
        Ok(IndexMap::assemble(
            self.domain().product(other.domain()),
            self.codomain().product(other.codomain()),
            components.collect(),
            guards.collect(),
            fill,
        ))
    }

    /// The axes of the domain that no component and no guard uses.
    pub fn free_axes(&self) -> Vec<usize> {
        let exprs = || self.components().iter().chain(self.guards().iter().map(|g| &g.expr));
        (0..self.domain().rank()).filter(|&axis| exprs().all(|e| e.coeffs[axis] == 0)).collect()
    }

    /// The axes that the components are, when the map is total, every component is a whole axis of the domain
    /// (of the same extent) and no axis occurs twice. Codomain axes of extent 1 have no axis to be: a map with
    /// one is a projection only if the unit axis of the domain is found at the same place in the order.
    pub fn is_projection(&self) -> Option<Vec<usize>> {
        if !self.is_total() {
            return None;
        }
        let mut axes: Vec<usize> = Vec::with_capacity(self.codomain().rank());
        for (component, extent) in self.components().iter().zip(self.codomain().extents()) {
            let axis = match component.component() {
                Component::Iter(axis) => axis,
                // The coefficient of an axis of extent 1 is 0 in normal form: take the first unit axis after
                // the last one taken, so that identities and increasing projections are recognised.
                Component::Fixed(0) if extent.as_const() == Some(1) => {
                    let from = axes.last().map_or(0, |a| a + 1);
                    let unit =
                        |&a: &usize| self.domain().extent(a).as_const() == Some(1) && !axes.contains(&a);
                    let rank = self.domain().rank();
                    (from..rank).find(unit).or_else(|| (0..from.min(rank)).find(unit))?
                }
                _ => return None,
            };
            if axes.contains(&axis) || self.domain().extent(axis) != extent {
                return None;
            }
            axes.push(axis);
        }
        Some(axes)
    }
}
