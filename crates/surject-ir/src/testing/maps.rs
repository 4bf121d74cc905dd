//! Random index maps.

use super::Generator;
use crate::Scalar;
use surject_index::{Affine, Extent, Fill, IndexMap, Space};

impl Generator<'_> {
    fn is_small(&self, space: &Space) -> bool {
        space.rank() <= 5 && space.points().is_some_and(|n| n <= self.max_points())
    }

    /// A permutation of the axes, perhaps with some of them reversed.
    pub(super) fn permutation(&mut self, space: &Space) -> Option<IndexMap> {
        let order = self.rng.order(space.rank());
        let permuted = IndexMap::projection(space, &order);
        let axes: Vec<usize> = (0..space.rank()).filter(|_| self.rng.chance(1, 3)).collect();
        let reversed = IndexMap::reverse(permuted.codomain(), &axes).ok()?;
        permuted.then(&reversed).ok()
    }

    /// A map to read a field of this space through, from a space of its own making.
    pub(super) fn read_map(&mut self, of: &Space, fill: Scalar) -> Option<IndexMap> {
        let sizes: Vec<u64> = of.extents().iter().map(|e| e.as_const().unwrap_or(0)).collect();
        let rank = of.rank();
        let map = match self.rng.below(6) {
            0 => {
                let order = self.rng.order(rank);
                let mut back = vec![0; rank];
                order.iter().enumerate().for_each(|(i, &a)| back[a] = i);
                Some(IndexMap::projection(&of.select(&order), &back))
            }
            1 => {
                // Broadcast: new axes among the old ones.
                let mut extents: Vec<(Option<usize>, Extent)> =
                    (0..rank).map(|a| (Some(a), of.extent(a).clone())).collect();
                for _ in 0..1 + self.rng.below(2) {
                    let at = self.rng.below(extents.len() + 1);
                    let size = self.size();
                    extents.insert(at, (None, Extent::Const(size)));
                }
                let domain = Space::new(extents.iter().map(|(_, e)| e.clone()).collect::<Vec<_>>());
                let axes: Vec<usize> =
                    (0..rank).filter_map(|a| extents.iter().position(|(o, _)| *o == Some(a))).collect();
                Some(IndexMap::projection(&domain, &axes))
            }
            2 => {
                // Slice, also backwards and with steps.
                let (mut counts, mut starts, mut strides) = (Vec::new(), Vec::new(), Vec::new());
                for &n in &sizes {
                    let stride = 1 + self.rng.below(2) as u64;
                    let start = self.rng.below(n as usize) as u64;
                    let most = if n == 0 { 0 } else { (n - 1 - start) / stride + 1 };
                    let count = if most == 0 { 0 } else { 1 + self.rng.below(most as usize) as u64 };
                    let backwards = count > 0 && self.rng.chance(1, 3);
                    let last = start + stride * count.saturating_sub(1);
                    counts.push(count);
                    starts.push(if backwards { last } else { start } as i64);
                    strides.push(if backwards { -(stride as i64) } else { stride as i64 });
                }
                IndexMap::slice(&counts, &starts, &strides, of).ok()
            }
            3 => {
                // Pad.
                let low: Vec<i64> = (0..rank).map(|_| self.rng.below(3) as i64 - 1).collect();
                let padded: Vec<u64> = sizes
                    .iter()
                    .zip(&low)
                    .map(|(&n, &l)| (n as i64 + l + self.rng.below(3) as i64).max(0) as u64)
                    .collect();
                let components = (0..rank).map(|a| Affine::strided(rank, a, 1, -low[a])).collect();
                IndexMap::partial(Space::of(&padded), of.clone(), components, vec![], Fill(fill.bits())).ok()
            }
            4 => {
                // Split an axis.
                let axis = (0..rank).find(|&a| matches!(sizes[a], 4 | 6))?;
                let mut domain = sizes.clone();
                domain[axis] = 2;
                domain.insert(axis + 1, sizes[axis] / 2);
                let components = (0..rank).map(|a| match a.cmp(&axis) {
                    std::cmp::Ordering::Less => Affine::axis(rank + 1, a),
                    std::cmp::Ordering::Greater => Affine::axis(rank + 1, a + 1),
                    std::cmp::Ordering::Equal => {
                        let mut split = Affine::axis(rank + 1, a + 1);
                        split.coeffs[a] = (sizes[axis] / 2) as i64;
                        split
                    }
                });
                IndexMap::total(Space::of(&domain), of.clone(), components.collect()).ok()
            }
            _ => {
                let domain = self.space();
                self.read_map_from(&domain, of, fill)
            }
        };
        map.filter(|m| self.is_small(m.domain()))
    }

    /// A map between two given spaces, partial where it has to be.
    pub(super) fn read_map_from(&mut self, domain: &Space, of: &Space, fill: Scalar) -> Option<IndexMap> {
        let component = |g: &mut Self, extent: &Extent| {
            let fitting: Vec<usize> = (0..domain.rank()).filter(|&a| domain.extent(a) == extent).collect();
            if !fitting.is_empty() && g.rng.chance(2, 3) {
                return Affine::axis(domain.rank(), *g.rng.pick(&fitting));
            }
            let mut form = Affine::fixed(domain.rank(), g.rng.below(5) as i64 - 2);
            for _ in 0..g.rng.below(3) {
                if domain.rank() > 0 {
                    let axis = g.rng.below(domain.rank());
                    form.coeffs[axis] = *g.rng.pick(&[1, 1, -1, 2, -2]);
                }
            }
            form
        };
        let components = of.extents().iter().map(|e| component(self, e)).collect();
        IndexMap::partial(domain.clone(), of.clone(), components, vec![], Fill(fill.bits())).ok()
    }

    /// A total map to a space that its image fits in.
    pub(super) fn acc_map(&mut self, from: &Space) -> Option<IndexMap> {
        let rank = from.rank();
        if self.rng.chance(1, 2) {
            // Leave axes out: a reduction.
            let order = self.rng.order(rank);
            let kept: Vec<usize> = order.into_iter().filter(|_| self.rng.chance(1, 2)).collect();
            return Some(IndexMap::projection(from, &kept));
        }
        if self.rng.chance(1, 4) {
            return IndexMap::linearise(from).ok();
        }
        // Any forms: strides, windows, diagonals, constants.
        let (mut components, mut sizes) = (Vec::new(), Vec::new());
        for _ in 0..1 + self.rng.below(3) {
            let mut form = Affine::fixed(rank, 0);
            for _ in 0..1 + self.rng.below(2) {
                if rank > 0 {
                    let axis = self.rng.below(rank);
                    form.coeffs[axis] = *self.rng.pick(&[1, 1, 1, -1, 2, 3]);
                }
            }
            let (low, high) = form.range(from).unwrap_or((0, 1));
            let (before, after) = (self.rng.below(4) as i64 / 2, self.rng.below(4) as i64 / 2);
            form.offset = before - low;
            sizes.push((high - low + 1 + before + after) as u64);
            components.push(form);
        }
        IndexMap::total(from.clone(), Space::of(&sizes), components)
            .ok()
            .filter(|m| self.is_small(m.codomain()))
    }
}
