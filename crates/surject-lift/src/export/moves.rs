//! Reads along maps: the shortest chain of slice, reshape, reverse, transpose, broadcast and pad; a gather where
//! positions overlap.

use super::plan::{Number, number, whole_axis};
use super::state::{Result, over};
use super::writer::{Writer, element};
use surject_index::{Affine, Fill, Guard, IndexMap, Space};
use surject_ir::{DType, Scalar};
use surject_stablehlo::{Attribute, GatherDims, ValueId};

impl Writer<'_, '_> {
    /// `read map value`
    pub(super) fn read(&mut self, map: &IndexMap, value: ValueId, dtype: DType) -> Result<ValueId> {
        if map.is_total() {
            return self.read_total(map, value);
        }
        let fill = self.splat(&[], Scalar::from_bits(dtype, map.fill().map_or(0, |f| f.0)))?;
        self.read_or(map, value, fill)
    }

    /// A read along a map, with a scalar where a guard fails.
    pub(super) fn read_or(&mut self, map: &IndexMap, value: ValueId, fill: ValueId) -> Result<ValueId> {
        let shape = self.st.sizes(map.domain())?;
        if map.guards().iter().any(|g| g.bound.as_const() == Some(0)) {
            return self.broadcast(fill, &[], &shape);
        }
        // Axes that neither components nor guards use are broadcast at the end.
        // (axes of extent 1 stay, so that the tensor's axes of extent 1 find their places).
        let free = map.free_axes();
        let active: Vec<usize> = (0..shape.len()).filter(|a| !free.contains(a) || shape[*a] == 1).collect();
        let inner = over(map, &active);
        let inner = self.st.ok(inner)?;
        let made = self.read_partial(&inner, value, fill)?;
        self.broadcast(made, &active, &shape)
    }

    fn read_partial(&mut self, map: &IndexMap, value: ValueId, fill: ValueId) -> Result<ValueId> {
        let rank = map.domain().rank();
        let sizes = self.st.sizes(map.domain())?;
        // Guards of one axis each: pad a read from the box where they hold.
        let mut low = vec![0; rank];
        let mut high = sizes.clone();
        let mut coupled: Vec<Guard> = Vec::new();
        for guard in map.guards() {
            let mut used = guard.expr.used_axes();
            match (used.next(), used.next(), guard.bound.as_const()) {
                (Some(a), None, Some(bound)) if guard.expr.coeffs[a] == 1 => {
                    low[a] = low[a].max(-guard.expr.offset);
                    high[a] = high[a].min(bound as i64 - guard.expr.offset);
                }
                (_, _, Some(_)) => coupled.push(guard.clone()),
                _ => return Err(self.st.unsupported("read", format!("the symbolic guard of {map}"))),
            }
        }
        if (0..rank).any(|a| low[a] >= high[a]) {
            return self.broadcast(fill, &[], &sizes);
        }
        let shift = |e: &Affine| {
            let moved = e.coeffs.iter().zip(&low).map(|(c, l)| c * l).sum::<i64>();
            Affine { coeffs: e.coeffs.clone(), offset: e.offset + moved }
        };
        let inside: Vec<i64> = (0..rank).map(|a| high[a] - low[a]).collect();
        let space = Space::of(&inside.iter().map(|n| n.unsigned_abs()).collect::<Vec<_>>());
        let components: Vec<Affine> = map.components().iter().map(shift).collect();
        let guards: Vec<Guard> =
            coupled.iter().map(|g| Guard { expr: shift(&g.expr), bound: g.bound.clone() }).collect();
        let inner = IndexMap::partial(space, map.codomain().clone(), components, guards, Fill(0));
        let inner = self.st.ok(inner)?;
        let made = match inner.is_total() {
            true => self.read_total(&inner, value)?,
            false => self.read_coupled(&inner, value, fill)?,
        };
        let after: Vec<i64> = (0..rank).map(|a| sizes[a] - high[a]).collect();
        self.pad(made, fill, &low, &after, &vec![0; rank])
    }

    /// Guards that couple axes. Those that bound one component each pad the tensor; the others choose between the
    /// tensor, read at clamped positions, and the fill.
    fn read_coupled(&mut self, map: &IndexMap, value: ValueId, fill: ValueId) -> Result<ValueId> {
        let own = self.shape(value);
        let mut rest = Vec::new();
        let mut allowed: Vec<Option<(i64, i64)>> = vec![None; own.len()];
        for guard in map.guards() {
            let place = map.components().iter().position(|c| proportional(c, &guard.expr).is_some());
            let range = place.and_then(|j| {
                let component = &map.components()[j];
                let factor = proportional(component, &guard.expr)?;
                let bound = i64::try_from(guard.bound.as_const()?).ok()?;
                let at = |e: i64| factor.checked_mul(e - guard.expr.offset)?.checked_add(component.offset);
                let (x, y) = (at(0)?, at(bound - 1)?);
                Some((j, (x.min(y).max(0), x.max(y).min(own[j] - 1))))
            });
            match range {
                Some((j, (first, last))) if allowed[j].is_none() => allowed[j] = Some((first, last)),
                _ => rest.push(guard.clone()),
            }
        }
        let ranges: Option<Vec<(i64, i64)>> =
            map.components().iter().map(|c| c.range(map.domain())).collect();
        if rest.is_empty()
            && let Some(ranges) = ranges
            && allowed.iter().flatten().all(|(first, last)| first <= last)
        {
            // The part of every axis that is read, padded to what the component reaches.
            let rank = own.len();
            let (mut starts, mut counts) = (vec![0; rank], own.clone());
            let (mut low, mut high) = (vec![0; rank], vec![0; rank]);
            for j in 0..rank {
                if let Some((first, last)) = allowed[j] {
                    (starts[j], counts[j]) = (first, last - first + 1);
                    low[j] = (first - ranges[j].0).max(0);
                    high[j] = (ranges[j].1 - last).max(0);
                }
            }
            let part = self.slice(value, &starts, &vec![1; rank], &counts)?;
            let padded = self.pad(part, fill, &low, &high, &vec![0; rank])?;
            let sizes = self.shape(padded);
            let components = map
                .components()
                .iter()
                .enumerate()
                .map(|(j, c)| Affine { coeffs: c.coeffs.clone(), offset: c.offset - starts[j] + low[j] })
                .collect();
            let codomain = Space::of(&sizes.iter().map(|n| n.unsigned_abs()).collect::<Vec<_>>());
            if let Ok(total) = IndexMap::total(map.domain().clone(), codomain, components) {
                return self.read_total(&total, padded);
            }
        }
        let sizes = self.st.sizes(map.domain())?;
        let unguarded =
            IndexMap::total(map.domain().clone(), map.codomain().clone(), map.components().to_vec());
        let read = match unguarded {
            Ok(total) => self.read_total(&total, value)?,
            Err(_) => self.gather(map, value)?,
        };
        let mut holds: Option<ValueId> = None;
        for guard in map.guards() {
            let Some(bound) = guard.bound.as_const() else {
                return Err(self.st.unsupported("read", format!("the symbolic guard of {map}")));
            };
            let number = self.affine(&guard.expr, &sizes, DType::I64)?;
            let zero = self.splat(&sizes, Scalar::zero(DType::I64))?;
            let end = self.splat(&sizes, Scalar::from_i128(DType::I64, i128::from(bound)))?;
            let above = self.compare("GE", DType::I64, number, zero)?;
            let below = self.compare("LT", DType::I64, number, end)?;
            let both = self.same("stablehlo.and", &[above, below])?;
            holds = Some(match holds {
                Some(so_far) => self.same("stablehlo.and", &[so_far, both])?,
                None => both,
            });
        }
        let Some(holds) = holds else {
            return Ok(read);
        };
        let outside = self.broadcast(fill, &[], &sizes)?;
        let ty = self.b.ty(read).clone();
        self.typed("stablehlo.select", &[holds, read, outside], ty)
    }

    /// A read along a total map.
    fn read_total(&mut self, map: &IndexMap, value: ValueId) -> Result<ValueId> {
        let sizes = self.st.sizes(map.domain())?;
        let own = self.shape(value);
        let numbers: Option<Vec<Number>> = map.components().iter().map(|c| number(c, &sizes)).collect();
        let mut seen = vec![false; sizes.len()];
        let once = |n: &Number, seen: &mut Vec<bool>| {
            n.digits.iter().all(|d| !std::mem::replace(&mut seen[d.axis], true))
        };
        let numbers = numbers.filter(|list| list.iter().all(|n| once(n, &mut seen)));
        let Some(numbers) = numbers else {
            let used: Vec<usize> =
                (0..sizes.len()).filter(|&a| map.components().iter().any(|c| c.coeffs[a] != 0)).collect();
            let inner = over(map, &used);
            let inner = self.st.ok(inner)?;
            let made = self.gather(&inner, value)?;
            return self.broadcast(made, &used, &sizes);
        };

        // Every axis cut to the positions of its number; a number with unused positions at its end may run past the
        // axis, which is then padded with anything.
        let rank = own.len();
        let (mut starts, mut strides) = (vec![0; rank], vec![1; rank]);
        let (mut counts, mut missing) = (vec![1; rank], vec![0; rank]);
        for (j, n) in numbers.iter().enumerate() {
            let positions = n.positions().ok_or_else(|| self.st.malformed("a number without end"))?;
            let available = (own[j] - 1 - n.low) / n.step + 1;
            (starts[j], strides[j]) = (n.low, n.step);
            counts[j] = positions.min(available);
            missing[j] = positions - counts[j];
        }
        let part = self.slice(value, &starts, &strides, &counts)?;
        let part = if missing.iter().all(|&n| n == 0) {
            part
        } else {
            let zero = self.splat(&[], Scalar::zero(self.dtype_of(part)?))?;
            self.pad(part, zero, &vec![0; rank], &missing, &vec![0; rank])?
        };

        let digits: Vec<_> = numbers.iter().flat_map(|n| n.digits.clone()).collect();
        let increasing = digits.windows(2).all(|w| w[0].axis < w[1].axis);
        let whole = numbers.iter().all(|n| n.digits.len() <= 1);
        if increasing && whole {
            let axes: Vec<Option<usize>> = numbers.iter().map(|n| n.digits.first().map(|d| d.axis)).collect();
            if let Some(dims) = spare(&axes, sizes.len()) {
                let falls: Vec<usize> =
                    (0..rank).filter(|&j| numbers[j].digits.first().is_some_and(|d| d.falls)).collect();
                let turned = self.reverse(part, &falls)?;
                return self.broadcast(turned, &dims, &sizes);
            }
        }
        let radices: Vec<i64> = digits.iter().map(|d| d.radix).collect();
        let split = self.reshape(part, &radices)?;
        let cut: Vec<i64> = digits.iter().map(|d| d.size).collect();
        let split = self.slice(split, &vec![0; cut.len()], &vec![1; cut.len()], &cut)?;
        let falls: Vec<usize> = (0..digits.len()).filter(|&i| digits[i].falls).collect();
        let split = self.reverse(split, &falls)?;
        let mut order: Vec<usize> = (0..digits.len()).collect();
        order.sort_by_key(|&i| digits[i].axis);
        let moved = self.transpose(split, &order)?;
        let dims: Vec<usize> = order.iter().map(|&i| digits[i].axis).collect();
        self.broadcast(moved, &dims, &sizes)
    }

    /// An affine expression over a shape, as numbers.
    pub(super) fn affine(&mut self, expr: &Affine, sizes: &[i64], dtype: DType) -> Result<ValueId> {
        let mut sum: Option<ValueId> = None;
        for axis in expr.used_axes() {
            let mut term = self.iota(sizes, element(dtype), axis)?;
            let c = expr.coeffs[axis];
            if c != 1 {
                let factor = self.splat(sizes, Scalar::from_i128(dtype, i128::from(c)))?;
                term = self.same("stablehlo.multiply", &[term, factor])?;
            }
            sum = Some(match sum {
                Some(so_far) => self.same("stablehlo.add", &[so_far, term])?,
                None => term,
            });
        }
        let offset = Scalar::from_i128(dtype, i128::from(expr.offset));
        match sum {
            Some(sum) if expr.offset == 0 => Ok(sum),
            Some(sum) => {
                let offset = self.splat(sizes, offset)?;
                self.same("stablehlo.add", &[sum, offset])
            }
            None => self.splat(sizes, offset),
        }
    }

    /// The values of expressions as vectors behind the axes of a shape; the plain values for one expression.
    pub(super) fn positions(&mut self, exprs: &[&Affine], sizes: &[i64], wide: bool) -> Result<ValueId> {
        let dtype = if wide { DType::I64 } else { DType::I32 };
        if let [one] = exprs {
            return self.affine(one, sizes, dtype);
        }
        let mut shape = sizes.to_vec();
        shape.push(1);
        let mut parts = Vec::new();
        for expr in exprs {
            let expr = expr.embed(0, 1);
            parts.push(self.affine(&expr, &shape, dtype)?);
        }
        self.concatenate(&parts, sizes.len())
    }

    /// The components of a map at every point, as positions to gather from; guards are left aside (a gather clamps).
    /// Every axis of the domain is used by a component or a guard.
    fn gather(&mut self, map: &IndexMap, value: ValueId) -> Result<ValueId> {
        let sizes = self.st.sizes(map.domain())?;
        let own = self.shape(value);
        // Axes that are taken whole need no positions.
        let whole: Vec<Option<usize>> = (0..own.len())
            .map(|j| {
                whole_axis(map, j)
                    .filter(|&a| map.components().iter().filter(|c| c.coeffs[a] != 0).count() == 1)
            })
            .collect();
        let slices: Vec<usize> = whole.iter().copied().flatten().collect();
        let increasing = slices.windows(2).all(|w| w[0] < w[1]);
        let hard: Vec<usize> = (0..own.len()).filter(|&j| whole[j].is_none()).collect();
        if hard.is_empty() {
            return Err(self.st.malformed("a gather without positions"));
        }
        let batch: Vec<usize> = (0..sizes.len()).filter(|a| !slices.contains(a)).collect();
        let batch_sizes: Vec<i64> = batch.iter().map(|&a| sizes[a]).collect();
        let exprs: Vec<Affine> = hard
            .iter()
            .map(|&j| {
                let c = &map.components()[j];
                Affine { coeffs: batch.iter().map(|&a| c.coeffs[a]).collect(), offset: c.offset }
            })
            .collect();
        let reach = |e: &Affine| {
            let space = Space::new(batch.iter().map(|&a| map.domain().extent(a).clone()));
            e.range(&space).is_none_or(|(l, h)| l < -(1 << 30) || h > 1 << 30)
        };
        let wide = exprs.iter().any(reach);
        let indices = self.positions(&exprs.iter().collect::<Vec<_>>(), &batch_sizes, wide)?;
        // The axes of the result: in order if the whole axes are, else those last.
        let (offset_dims, order): (Vec<usize>, Vec<usize>) = match increasing {
            true => (slices.clone(), (0..sizes.len()).collect()),
            false => {
                let order: Vec<usize> = batch.iter().chain(&slices).copied().collect();
                ((batch.len()..sizes.len()).collect(), order)
            }
        };
        let shape: Vec<i64> = order.iter().map(|&a| sizes[a]).collect();
        let signed = |list: &[usize]| list.iter().map(|&a| a as i64).collect::<Vec<i64>>();
        let dims = GatherDims {
            offset_dims: signed(&offset_dims),
            collapsed_slice_dims: signed(&hard),
            start_index_map: signed(&hard),
            index_vector_dim: batch.len() as i64,
            ..GatherDims::default()
        };
        let slice_sizes: Vec<i64> =
            (0..own.len()).map(|j| if whole[j].is_some() { own[j] } else { 1 }).collect();
        let ty = self.like(value, &shape);
        let built = self
            .op("stablehlo.gather")
            .operands([value, indices])
            .attr("dimension_numbers", Attribute::Gather(Box::new(dims)))
            .ints("slice_sizes", slice_sizes)
            .attr("indices_are_sorted", Attribute::Bool(false))
            .result(ty)
            .value();
        let made = self.done(built)?;
        let mut back = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &axis)| back[axis] = place);
        self.transpose(made, &back)
    }

    /// The axes of a value in another order, some reversed, then under another shape.
    pub(super) fn merge(
        &mut self,
        value: ValueId,
        order: &[usize],
        reversed: &[usize],
        shape: &[i64],
    ) -> Result<ValueId> {
        let moved = self.transpose(value, order)?;
        let turned = self.reverse(moved, reversed)?;
        self.reshape(turned, shape)
    }

    /// The elements apart along a map whose components use one axis each, `hole` elsewhere.
    pub(super) fn spread(&mut self, map: &IndexMap, value: ValueId, hole: ValueId) -> Result<ValueId> {
        let own = self.shape(value);
        let target = self.st.sizes(map.codomain())?;
        let rank = own.len();
        let uses: Vec<Option<usize>> = map.components().iter().map(|c| c.used_axes().next()).collect();
        let falls: Vec<usize> =
            (0..rank).filter(|&a| map.components().iter().any(|c| c.coeffs[a] < 0)).collect();
        let turned = self.reverse(value, &falls)?;
        // The axes in the order of the target; positions that are fixed become axes of extent 1.
        let mut order: Vec<usize> = uses.iter().copied().flatten().collect();
        let shape: Vec<i64> = uses.iter().map(|u| u.map_or(1, |a| own[a])).collect();
        order.extend((0..rank).filter(|a| !uses.contains(&Some(*a))));
        let moved = self.transpose(turned, &order)?;
        let moved = self.reshape(moved, &shape)?;
        let (mut low, mut high, mut interior) = (Vec::new(), Vec::new(), Vec::new());
        for (j, component) in map.components().iter().enumerate() {
            let step = uses[j].map_or(1, |a| component.coeffs[a].abs());
            let first = match uses[j] {
                Some(a) if component.coeffs[a] < 0 => component.offset + component.coeffs[a] * (own[a] - 1),
                _ => component.offset,
            };
            low.push(first);
            high.push(target[j] - first - ((shape[j] - 1) * step + 1));
            interior.push(step - 1);
        }
        self.pad(moved, hole, &low, &high, &interior)
    }

    pub(super) fn dtype_of(&self, value: ValueId) -> Result<DType> {
        let found = self.element(value);
        DType::ALL
            .into_iter()
            .find(|&d| element(d) == found)
            .ok_or_else(|| self.st.malformed(format!("a value of element type {}", found.keyword())))
    }

    /// The index type of a tensor of this shape.
    pub(super) fn is_wide(&self, sizes: &[i64]) -> bool {
        sizes.iter().any(|&n| n > 1 << 30)
    }
}

/// `component = factor · guard` up to offsets.
fn proportional(component: &Affine, guard: &Affine) -> Option<i64> {
    let axis = guard.used_axes().next()?;
    let factor = component.coeffs[axis] / guard.coeffs[axis];
    let same = |(c, g): (&i64, &i64)| g.checked_mul(factor) == Some(*c);
    (factor != 0 && component.coeffs.iter().zip(&guard.coeffs).all(same)).then_some(factor)
}

/// A place among the axes of the result for every axis of extent 1, between those of its neighbours.
fn spare(axes: &[Option<usize>], rank: usize) -> Option<Vec<usize>> {
    let mut dims = Vec::new();
    let mut next = 0;
    for (i, axis) in axes.iter().enumerate() {
        let place = axis.unwrap_or(next);
        let limit = axes[i..].iter().flatten().next().copied().unwrap_or(rank);
        if place < next || axis.is_none() && place >= limit {
            return None;
        }
        dims.push(place);
        next = place + 1;
    }
    dims.iter().all(|&d| d < rank).then_some(dims)
}
