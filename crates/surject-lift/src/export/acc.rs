//! Plans of accumulations. What an accumulation is follows from its map and from the axes that its body depends
//! on: a contraction, a convolution, a window, a reduction, a move of elements, or (as the last resort) a scatter.

use super::plan::{How, Plan, number};
use super::state::{Result, State, kept_axes};
use surject_index::{Affine, Extent, Fill, IndexMap, Space};
use surject_ir::{AccOp, BinaryOp, DType, FieldId, FieldKind, Scalar};

/// An accumulation along a projection.
pub(super) struct Projected<'a> {
    pub(super) op: AccOp,
    /// The space of the result.
    pub(super) result: &'a Space,
    /// For every axis of the result the axis of the body; `None` for axes of extent 1.
    pub(super) kept: &'a [Option<usize>],
    /// Which axes of the body are kept.
    pub(super) is_kept: &'a [bool],
    pub(super) body: FieldId,
}

impl Projected<'_> {
    /// How the result reads a tensor whose axes are these axes of the body: those that the tensor lacks repeat it.
    pub(super) fn then(&self, order: &[usize], space: &Space) -> Option<IndexMap> {
        let rank = self.result.rank();
        let component = |a: &usize| match self.kept.iter().position(|k| *k == Some(*a)) {
            Some(j) => Affine::axis(rank, j),
            None => Affine::fixed(rank, 0),
        };
        let components = order.iter().map(component).collect();
        IndexMap::total(self.result.clone(), space.clone(), components).ok()
    }

    /// The same for a tensor with one axis a group of axes of `space`, the most significant first.
    pub(super) fn then_grouped(&self, space: &Space, groups: &[Vec<usize>]) -> Option<IndexMap> {
        let rank = self.result.rank();
        let mut components = Vec::new();
        let mut extents = Vec::new();
        for group in groups {
            let mut component = Affine::fixed(rank, 0);
            let mut weight = 1i64;
            for &a in group.iter().rev() {
                let place = self.kept.iter().position(|k| *k == Some(a))?;
                component.coeffs[place] = weight;
                weight = weight.checked_mul(i64::try_from(space.extent(a).as_const()?).ok()?)?;
            }
            components.push(component);
            extents.push(Extent::Const(weight.unsigned_abs()));
        }
        IndexMap::total(self.result.clone(), Space::new(extents), components).ok()
    }

    /// The kept axes in the order of the result.
    pub(super) fn order(&self) -> Vec<usize> {
        self.kept.iter().copied().flatten().collect()
    }
}

/// Does `x ⊕ x = x` hold?
pub(super) fn idempotent(op: AccOp, dtype: DType) -> bool {
    matches!(op, AccOp::Max | AccOp::Min | AccOp::And | AccOp::Or)
        || dtype.is_bool() && matches!(op, AccOp::Add | AccOp::Mul)
}

impl State {
    pub(super) fn plan_acc(&mut self, id: FieldId, op: AccOp, map: &IndexMap, of: FieldId) -> Result<Plan> {
        let dtype = self.dtype(id);
        if map.domain().is_empty() {
            return Ok(Plan::new(How::Splat(op.neutral(dtype)), []));
        }
        match kept_axes(map) {
            Some(kept) => {
                let mut is_kept = vec![false; map.domain().rank()];
                kept.iter().flatten().for_each(|&a| is_kept[a] = true);
                let acc = Projected { op, result: map.codomain(), kept: &kept, is_kept: &is_kept, body: of };
                self.plan_projected(&acc)
            }
            None => self.plan_push(op, map, of),
        }
    }

    fn plan_projected(&mut self, acc: &Projected<'_>) -> Result<Plan> {
        let body = acc.body;
        let space = self.space(body);
        let deps = self.deps(body);
        let reduced: Vec<usize> =
            (0..space.rank()).filter(|&a| !acc.is_kept[a] && space.extent(a).as_const() != Some(1)).collect();
        if reduced.is_empty() {
            // Every position gets one element.
            let order: Vec<usize> = (0..space.rank()).collect();
            let map = acc.then(&order, &space).ok_or_else(|| self.malformed("a permutation is no map"))?;
            let moved = self.read(map, body)?;
            return Ok(Plan::alias(self.started(acc.op, moved)?));
        }
        if reduced.iter().any(|&a| !deps[a]) {
            return self.plan_repeated(acc, &deps, &reduced);
        }
        if acc.op == AccOp::Add
            && !self.dtype(body).is_bool()
            && let Some(plan) = self.plan_product(acc)?
        {
            return Ok(plan);
        }
        if let Some(plan) = self.plan_window(acc)? {
            return Ok(plan);
        }
        let order = self.natural_order(body);
        if !self.can_leave_out(body, &order) {
            return self.reduction(acc, body, &(0..space.rank()).collect::<Vec<_>>());
        }
        let operand = self.over(body, &order)?;
        self.reduction(acc, operand, &order)
    }

    /// A reduction of a field over some axes of the body.
    fn reduction(&mut self, acc: &Projected<'_>, operand: FieldId, order: &[usize]) -> Result<Plan> {
        let init = self.constant(&Space::scalar(), acc.op.neutral(self.dtype(operand)));
        let axes = (0..order.len()).filter(|&i| !acc.is_kept[order[i]]).collect();
        let left: Vec<usize> = order.iter().copied().filter(|&a| acc.is_kept[a]).collect();
        let space = self.space(acc.body).select(&left);
        let then = acc.then(&left, &space).ok_or_else(|| self.malformed("a reduction without a shape"))?;
        Ok(Plan::new(How::Reduce { op: acc.op, axes, then }, [operand, init]))
    }

    /// Some reduced axes do not matter to the body: the rest is accumulated first, then joined with itself as often
    /// as those axes have positions.
    fn plan_repeated(&mut self, acc: &Projected<'_>, deps: &[bool], reduced: &[usize]) -> Result<Plan> {
        let space = self.space(acc.body);
        let (live, dead): (Vec<usize>, Vec<usize>) = reduced.iter().partition(|&&a| deps[a]);
        let kept = acc.order();
        let order: Vec<usize> = kept.iter().chain(&live).copied().collect();
        // Nothing is joined along an axis that is empty.
        let positive = dead.iter().all(|&a| self.is_positive(space.extent(a)));
        if !self.can_leave_out(acc.body, &order) && !matches!(self.field(acc.body).kind, FieldKind::Const(_))
        {
            return self.reduction(acc, acc.body, &(0..space.rank()).collect::<Vec<_>>());
        }
        let body = self.over(acc.body, &order)?;
        let inner = match live.is_empty() {
            true => body,
            false => {
                let own = self.space(body);
                let projection = IndexMap::projection(&own, &(0..kept.len()).collect::<Vec<_>>());
                let inner = self.function.fields.acc(acc.op, projection, body);
                self.ok(inner)?
            }
        };
        let own = self.space(inner);
        let dtype = self.dtype(inner);
        let then = acc.then(&kept, &own).ok_or_else(|| self.malformed("a reduction without a shape"))?;
        let count = space.select(&dead).points();
        if idempotent(acc.op, dtype) && positive {
            return Ok(Plan::alias(self.read(then, inner)?));
        }
        if acc.op == AccOp::Add
            && dtype.is_int()
            && let Some(count) = count
        {
            let count = self.constant(&own, Scalar::from_i128(dtype, i128::from(count)));
            let times = self.binary(BinaryOp::Mul, inner, count)?;
            return Ok(Plan::alias(self.read(then, times)?));
        }
        if acc.op == AccOp::Add && dtype.is_int() {
            let extents = dead.iter().map(|&a| space.extent(a).clone()).collect();
            return Ok(Plan::new(How::Times { extents, then }, [inner]));
        }
        // The repetitions stand behind the kept axes.
        let order: Vec<usize> = kept.iter().chain(&dead).copied().collect();
        let repeated = space.select(&order);
        let repeat = IndexMap::projection(&repeated, &(0..kept.len()).collect::<Vec<_>>());
        let operand = self.read(repeat, inner)?;
        self.reduction(acc, operand, &order)
    }

    /// A map that is no projection. What it does not use is reduced first; what is left moves elements, where that
    /// can be said by an operation, and is a scatter otherwise.
    fn plan_push(&mut self, op: AccOp, map: &IndexMap, of: FieldId) -> Result<Plan> {
        let space = map.domain().clone();
        // Axes of extent 1 stay, so that the result of the reduction has them where they were.
        let used: Vec<usize> = (0..space.rank())
            .filter(|&a| {
                space.extent(a).as_const() == Some(1) || map.components().iter().any(|c| c.coeffs[a] != 0)
            })
            .collect();
        if used.len() < space.rank() {
            let inner = self.function.fields.acc(op, IndexMap::projection(&space, &used), of);
            let inner = self.ok(inner)?;
            let components = map
                .components()
                .iter()
                .map(|c| Affine { coeffs: used.iter().map(|&a| c.coeffs[a]).collect(), offset: c.offset })
                .collect();
            let outer = self.total(space.select(&used), map.codomain().clone(), components);
            let outer = self.ok(outer)?;
            let outer = self.function.fields.acc(op, outer, inner);
            return Ok(Plan::alias(self.ok(outer)?));
        }
        let neutral = op.neutral(self.dtype(of));
        let of = self.started(op, of)?;
        if let Some(how) = self.merge(map)? {
            return Ok(Plan::new(how, [of]));
        }
        if let Some(inverse) = map.inverse(Fill(neutral.bits())) {
            return Ok(Plan::alias(self.read(inverse, of)?));
        }
        if spreads(map) && !self.symbolic {
            return Ok(Plan::new(How::Spread(map.clone(), neutral), [of]));
        }
        Ok(Plan::new(How::Scatter(op, map.clone()), [of]))
    }

    /// A value joined to what an accumulation starts from: itself, but for a sum of what may be `-0.0`, which is `+0.0`.
    fn started(&mut self, op: AccOp, x: FieldId) -> Result<FieldId> {
        let dtype = self.dtype(x);
        if op != AccOp::Add || self.range(x).starts_as(op, dtype) {
            return Ok(x);
        }
        let space = self.space(x);
        let zero = self.constant(&space, op.neutral(dtype));
        self.binary(BinaryOp::Add, x, zero)
    }

    /// A bijection that merges axes in mixed radix.
    fn merge(&self, map: &IndexMap) -> Result<Option<How>> {
        let (Some(sizes), Some(target)) = (map.domain().sizes(), map.codomain().sizes()) else {
            return Ok(None);
        };
        let mut order = Vec::new();
        let mut reversed = Vec::new();
        for (component, &extent) in map.components().iter().zip(&target) {
            let Some(number) = number(component, &sizes).filter(|n| n.fills(extent)) else {
                return Ok(None);
            };
            for digit in &number.digits {
                if order.contains(&digit.axis) {
                    return Ok(None);
                }
                if digit.falls {
                    reversed.push(order.len());
                }
                order.push(digit.axis);
            }
        }
        let rest: Vec<usize> = (0..sizes.len()).filter(|a| !order.contains(a)).collect();
        if rest.iter().any(|&a| sizes[a] != 1) {
            return Ok(None);
        }
        // Axes of extent 1 may stand anywhere: keep them where they are if the others are in order.
        if order.windows(2).all(|w| w[0] < w[1]) {
            let places: Vec<usize> = reversed.iter().map(|&i| order[i]).collect();
            return Ok(Some(How::Merge { order: (0..sizes.len()).collect(), reversed: places }));
        }
        order.extend(rest);
        Ok(Some(How::Merge { order, reversed }))
    }
}

/// Does every component use at most one axis, and every axis stand in one component?
pub(super) fn spreads(map: &IndexMap) -> bool {
    let mut seen = vec![false; map.domain().rank()];
    map.components().iter().all(|c| {
        let mut used = c.used_axes();
        match (used.next(), used.next()) {
            (None, _) => true,
            (Some(a), None) => !std::mem::replace(&mut seen[a], true),
            _ => false,
        }
    })
}
