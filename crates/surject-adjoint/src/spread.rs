//! Strided windows as windows of step 1 over a cotangent that is spread: `s·o + k` is `o' + k` with `o' = s·o`, and
//! what stands between is zero. So the gradient of a strided convolution is a convolution of step 1, as that of a
//! dense one is, and not a push.

use crate::solve;
use crate::sweep::{Result, Sweep};
use surject_index::{Affine, Component, Extent, Guard, IndexMap, Space};
use surject_ir::{BinaryOp, FieldId, FieldKind};

/// An axis of the product space that is replaced by one of step 1.
struct Step {
    axis: usize,
    stride: i64,
    /// The axis of the cotangent that it runs along.
    along: usize,
}

impl Sweep {
    /// For a product `g` of a cotangent and a factor: another map and product with the same push, whose points can be
    /// solved for. `None` where there is no step, or an axis with one is used for more than the cotangent.
    pub(crate) fn spread(&mut self, map: &IndexMap, g: FieldId) -> Result<Option<(IndexMap, FieldId)>> {
        let FieldKind::Binary { op: BinaryOp::Mul, x, y } = self.f.fields[g].kind else { return Ok(None) };
        let (FieldKind::Read { map: to_x, of: cotangent }, FieldKind::Read { map: to_y, of: factor }) =
            (self.f.fields[x].kind.clone(), self.f.fields[y].kind.clone())
        else {
            return Ok(None);
        };
        let Some((steps, dense)) = dense(map, &to_x, &to_y, self.nothing(self.dtype(g))) else {
            return Ok(None);
        };
        if solve::solutions(&dense, self.nothing(self.dtype(g))).is_none() {
            return Ok(None);
        }
        let own = self.space(cotangent);
        let rank = own.rank();
        let stride = |b: usize| steps.iter().find(|s| s.along == b).map_or(1, |s| s.stride);
        let extents = own.extents().iter().enumerate().map(|(b, e)| widened(e, stride(b)));
        let Some(extents) = extents.collect::<Option<Vec<Extent>>>() else { return Ok(None) };
        let spread_space = Space::new(extents);
        let apart = (0..rank).map(|b| Affine::strided(rank, b, stride(b), 0)).collect();
        let apart = self.mapped(IndexMap::total(own, spread_space.clone(), apart))?;
        let spread = self.sum_along(apart, cotangent)?;
        let spread = self.stored_field(&self.part_name(), spread);
        let onto = |space: Space, map: &IndexMap| {
            IndexMap::total(dense.domain().clone(), space, map.components().to_vec())
        };
        let (to_x, to_y) = (onto(spread_space, &to_x), onto(self.space(factor), &to_y));
        let (to_x, to_y) = (self.mapped(to_x)?, self.mapped(to_y)?);
        let (x, y) = (self.read(to_x, spread)?, self.read(to_y, factor)?);
        let product = self.binary(BinaryOp::Mul, x, y)?;
        Ok(Some((dense, product)))
    }
}

/// The extent that positions `stride` apart take.
fn widened(extent: &Extent, stride: i64) -> Option<Extent> {
    if stride == 1 {
        return Some(extent.clone());
    }
    let n = extent.as_const()?.checked_sub(1)?;
    Some(Extent::Const(n.checked_mul(stride.unsigned_abs())?.checked_add(1)?))
}

/// The steps of a map, and the map without them.
fn dense(
    map: &IndexMap,
    to_x: &IndexMap,
    to_y: &IndexMap,
    fill: surject_index::Fill,
) -> Option<(Vec<Step>, IndexMap)> {
    if !to_x.is_total() || !to_y.is_total() {
        return None;
    }
    let domain = map.domain();
    let mut steps = Vec::new();
    for (j, component) in map.components().iter().enumerate() {
        // A component of one axis is no window: its push is a spread already.
        if component.used_axes().count() < 2 || !component.coeffs.iter().any(|c| c.abs() == 1) {
            continue;
        }
        for axis in component.used_axes().filter(|&a| component.coeffs[a].abs() > 1) {
            let stride = component.coeffs[axis].checked_abs()?;
            let elsewhere = map.components().iter().enumerate().any(|(k, c)| k != j && c.coeffs[axis] != 0);
            let guards = map.guards().iter().all(|g| g.expr.coeffs[axis] % stride == 0);
            let in_factor = to_y.components().iter().any(|c| c.coeffs[axis] != 0);
            let uses: Vec<usize> =
                (0..to_x.components().len()).filter(|&b| to_x.components()[b].coeffs[axis] != 0).collect();
            let &[along] = uses.as_slice() else { return None };
            let whole = to_x.components()[along].component() == Component::Iter(axis)
                && to_x.codomain().extent(along) == domain.extent(axis);
            if elsewhere || !guards || in_factor || !whole {
                return None;
            }
            steps.push(Step { axis, stride, along });
        }
    }
    if steps.is_empty() {
        return None;
    }
    let mut extents = domain.extents().to_vec();
    for step in &steps {
        extents[step.axis] = widened(&extents[step.axis], step.stride)?;
    }
    let divided = |e: &Affine| {
        let mut e = e.clone();
        steps.iter().for_each(|s| e.coeffs[s.axis] /= s.stride);
        e
    };
    let components = map.components().iter().map(divided).collect();
    let guards =
        map.guards().iter().map(|g| Guard { expr: divided(&g.expr), bound: g.bound.clone() }).collect();
    let dense =
        IndexMap::partial(Space::new(extents), map.codomain().clone(), components, guards, fill).ok()?;
    Some((steps, dense))
}
