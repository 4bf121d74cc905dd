//! Sliding windows in maps: a component `stride · o + dilation · k + offset` with `o` kept and `k` reduced, and the
//! guard that stands for padding. Plans of `reduce_window`.

use super::acc::Projected;
use super::plan::{How, Plan, number};
use super::state::{Result, State, digits};
use surject_index::{Affine, Extent, Fill, Guard, IndexMap, Space};
use surject_ir::{FieldId, Window};

/// One sliding window.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    /// The axis along which the window moves.
    pub(super) kept: usize,
    /// The axis inside the window.
    pub(super) reduced: usize,
    /// The axis of the tensor that is read.
    place: usize,
    pub(super) stride: i64,
    pub(super) dilation: i64,
    /// Does the window's axis run against the tensor's?
    pub(super) reversed: bool,
    pub(super) low: i64,
    pub(super) high: i64,
    /// The part of the tensor's axis that is read.
    first: i64,
    count: i64,
    /// Is the tensor's axis read backwards?
    flipped: bool,
}

/// The windows of a map, and its other guards.
pub(super) struct Windows {
    pub(super) pairs: Vec<Pair>,
    rest: Vec<Guard>,
}

/// The axes of a tensor that has been prepared for windows.
pub(super) struct Prepared {
    /// The axis of the body that each axis is; `None` for the axis of a window.
    pub(super) plain: Vec<Option<usize>>,
    /// The axis of each window.
    pub(super) windows: Vec<usize>,
}

impl Windows {
    /// The windows of a map; `None` if there are none or a guard couples axes in another way. Components that only
    /// split an axis into digits are windows where a proper window stands beside them or there are several.
    pub(super) fn find(
        map: &IndexMap,
        is_kept: &[bool],
        fits: &dyn Fn(usize, usize) -> bool,
    ) -> Option<Windows> {
        let sizes = map.domain().sizes()?;
        let mut guards = map.guards().to_vec();
        let mut pairs = Vec::new();
        let mut proper = 0;
        for (place, component) in map.components().iter().enumerate() {
            let axes = digits(component);
            let &[a, b] = axes.as_slice() else {
                continue;
            };
            let (kept, reduced) = if is_kept[a] { (a, b) } else { (b, a) };
            let alone = |axis: usize| map.components().iter().filter(|c| c.coeffs[axis] != 0).count() == 1;
            if !is_kept[kept] || is_kept[reduced] || !alone(a) || !alone(b) || !fits(kept, reduced) {
                continue;
            }
            let extent = i64::try_from(map.codomain().extent(place).as_const()?).ok()?;
            let guard = guards.iter().position(|g| multiple(component, &g.expr).is_some());
            let (mut first, mut last) = (0, extent - 1);
            if let Some(guard) = guard.map(|g| guards.remove(g)) {
                let factor = multiple(component, &guard.expr)?;
                let bound = i64::try_from(guard.bound.as_const()?).ok()?;
                let end = |e: i64| {
                    factor.checked_mul(e.checked_sub(guard.expr.offset)?)?.checked_add(component.offset)
                };
                let (x, y) = (end(0)?, end(bound.checked_sub(1)?)?);
                (first, last) = (first.max(x.min(y)), last.min(x.max(y)));
            }
            if first > last {
                return None;
            }
            if number(component, &sizes).is_none() || (first, last) != (0, extent - 1) {
                proper += 1;
            }
            pairs.push(pair(component, (kept, reduced), place, &sizes, (first, last))?);
        }
        let windows_only = |g: &Guard| {
            g.expr.used_axes().any(|a| pairs.iter().any(|p| p.kept == a || p.reduced == a))
        };
        if pairs.is_empty() || proper == 0 && pairs.len() < 2 || guards.iter().any(windows_only) {
            return None;
        }
        Some(Windows { pairs, rest: guards })
    }
}

/// `component = factor · guard` up to offsets.
fn multiple(component: &Affine, guard: &Affine) -> Option<i64> {
    let axis = guard.used_axes().next()?;
    let factor = component.coeffs[axis] / guard.coeffs[axis];
    let same = |(c, g): (&i64, &i64)| g.checked_mul(factor) == Some(*c);
    (factor != 0 && component.coeffs.iter().zip(&guard.coeffs).all(same)).then_some(factor)
}

fn pair(
    component: &Affine,
    (kept, reduced): (usize, usize),
    place: usize,
    sizes: &[i64],
    (first, last): (i64, i64),
) -> Option<Pair> {
    // The position counted from the first (or, against the axis, from the last) element that is read.
    let flipped = component.coeffs[kept] < 0;
    let sign = if flipped { -1 } else { 1 };
    let stride = component.coeffs[kept].checked_mul(sign)?;
    let mut dilation = component.coeffs[reduced].checked_mul(sign)?;
    let mut offset =
        if flipped { last.checked_sub(component.offset)? } else { component.offset.checked_sub(first)? };
    let reversed = dilation < 0;
    if reversed {
        offset = offset.checked_add(dilation.checked_mul(sizes[reduced] - 1)?)?;
        dilation = dilation.checked_neg()?;
    }
    let count = last - first + 1;
    let low = offset.checked_neg()?;
    let reach = dilation.checked_mul(sizes[reduced] - 1)?.checked_add(1)?;
    let needed = stride.checked_mul(sizes[kept] - 1)?.checked_add(reach)?;
    let high = needed.checked_sub(count)?.checked_sub(low)?;
    Some(Pair { kept, reduced, place, stride, dilation, reversed, low, high, first, count, flipped })
}

impl State {
    /// The tensor that a map with windows reads, over the axes of its plain components and one axis a window.
    pub(super) fn prepare(
        &mut self,
        windows: &Windows,
        map: &IndexMap,
        x: FieldId,
    ) -> Result<Option<(FieldId, Prepared)>> {
        let domain = map.domain();
        let mut axes = Prepared { plain: Vec::new(), windows: vec![0; windows.pairs.len()] };
        let mut extents: Vec<Extent> = Vec::new();
        for (place, component) in map.components().iter().enumerate() {
            if let Some(i) = windows.pairs.iter().position(|p| p.place == place) {
                axes.windows[i] = axes.plain.len();
                axes.plain.push(None);
                extents.push(Extent::Const(windows.pairs[i].count.unsigned_abs()));
                continue;
            }
            for a in digits(component) {
                if !axes.plain.contains(&Some(a)) {
                    axes.plain.push(Some(a));
                    extents.push(domain.extent(a).clone());
                }
            }
        }
        for a in windows.rest.iter().flat_map(|g| g.expr.used_axes().collect::<Vec<_>>()) {
            if !axes.plain.contains(&Some(a)) {
                axes.plain.push(Some(a));
                extents.push(domain.extent(a).clone());
            }
        }
        let rank = axes.plain.len();
        let over = |expr: &Affine| {
            let coeffs = axes.plain.iter().map(|p| p.map_or(0, |a| expr.coeffs[a])).collect();
            Affine { coeffs, offset: expr.offset }
        };
        let component = |(place, component): (usize, &Affine)| {
            match windows.pairs.iter().position(|p| p.place == place) {
                Some(i) => {
                    let pair = &windows.pairs[i];
                    let (stride, start) =
                        if pair.flipped { (-1, pair.first + pair.count - 1) } else { (1, pair.first) };
                    Affine::strided(rank, axes.windows[i], stride, start)
                }
                None => over(component),
            }
        };
        let components: Vec<Affine> = map.components().iter().enumerate().map(component).collect();
        let guards =
            windows.rest.iter().map(|g| Guard { expr: over(&g.expr), bound: g.bound.clone() }).collect();
        let space = Space::new(extents);
        let fill = map.fill().unwrap_or(Fill(0));
        let Ok(map) = IndexMap::partial(space, map.codomain().clone(), components, guards, fill) else {
            return Ok(None);
        };
        Ok(Some((self.read(map, x)?, axes)))
    }

    /// `reduce_window`, if the body is one read through windows.
    pub(super) fn plan_window(&mut self, acc: &Projected<'_>) -> Result<Option<Plan>> {
        let Some((map, x)) = self.hoist(acc.body)? else {
            return Ok(None);
        };
        let neutral = acc.op.neutral(self.dtype(acc.body));
        if map.fill().is_some_and(|f| f.0 != neutral.bits()) {
            return Ok(None);
        }
        let Some(windows) = Windows::find(&map, acc.is_kept, &|_, _| true) else {
            return Ok(None);
        };
        let Some((mut tensor, mut axes)) = self.prepare(&windows, &map, x)? else {
            return Ok(None);
        };
        // Axes that are reduced without a window go first.
        let stays = |p: &Option<usize>| p.is_none_or(|a| acc.is_kept[a]);
        if !axes.plain.iter().all(stays) {
            let left: Vec<usize> = (0..axes.plain.len()).filter(|&i| stays(&axes.plain[i])).collect();
            let projection = IndexMap::projection(&self.space(tensor), &left);
            let reduced = self.function.fields.acc(acc.op, projection, tensor);
            tensor = self.ok(reduced)?;
            axes.windows =
                axes.windows.iter().filter_map(|w| left.iter().position(|l| l == w)).collect();
            axes.plain = left.iter().map(|&i| axes.plain[i]).collect();
        }
        let rank = axes.plain.len();
        let domain = map.domain().sizes().unwrap_or_default();
        let mut window = Window {
            sizes: vec![1; rank],
            strides: vec![1; rank],
            base_dilations: vec![1; rank],
            window_dilations: vec![1; rank],
            padding: vec![(0, 0); rank],
        };
        let mut order: Vec<usize> = axes.plain.iter().map(|p| p.unwrap_or(0)).collect();
        for (pair, &at) in windows.pairs.iter().zip(&axes.windows) {
            order[at] = pair.kept;
            window.sizes[at] = domain[pair.reduced].unsigned_abs();
            window.strides[at] = pair.stride.unsigned_abs();
            window.window_dilations[at] = pair.dilation.unsigned_abs();
            window.padding[at] = (pair.low, pair.high);
        }
        let space = self.space(acc.body).select(&order);
        let Some(then) = acc.then(&order, &space) else {
            return Ok(None);
        };
        let init = self.constant(&Space::scalar(), neutral);
        let how = How::ReduceWindow { op: acc.op, window: Box::new(window), then };
        Ok(Some(Plan::new(how, [tensor, init])))
    }
}
