//! Sliding windows in maps: a component `stride · o + dilation · k + offset` with `o` kept and `k` reduced, and the
//! guard that stands for padding. Plans of `reduce_window`.

use super::acc::Projected;
use super::plan::{How, Plan, number};
use super::state::{Result, State, digits};
use surject_index::{Affine, Extent, Fill, Guard, IndexMap, Space};
use surject_ir::{AccOp, FieldId, FieldKind, Scalar, Window};

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
    /// The distance of the elements of the tensor that is read; 1 unless it is made of one with fewer elements.
    pub(super) base_dilation: i64,
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

/// An axis of a tensor that has been prepared for windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    /// An axis of the body.
    Plain(usize),
    /// The axis of a window.
    Window(usize),
    /// An axis of extent 1.
    Unit,
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
        let windows_only =
            |g: &Guard| g.expr.used_axes().any(|a| pairs.iter().any(|p| p.kept == a || p.reduced == a));
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
    let base_dilation = 1;
    Some(Pair {
        kept,
        reduced,
        place,
        stride,
        dilation,
        reversed,
        low,
        high,
        base_dilation,
        first,
        count,
        flipped,
    })
}

impl State {
    /// The tensor that a map with windows reads, over the axes of its plain components and one axis a window. A
    /// tensor whose elements were moved apart (with the neutral element of `op` between them) is read before that;
    /// the windows then have a base dilation.
    pub(super) fn prepare(
        &mut self,
        windows: &mut Windows,
        map: &IndexMap,
        x: FieldId,
        op: AccOp,
    ) -> Result<Option<(FieldId, Vec<Axis>)>> {
        let domain = map.domain();
        let (x, target) = match self.undilated(windows, x, op) {
            Some(close) => (close, self.space(close)),
            None => (x, map.codomain().clone()),
        };
        let mut axes: Vec<Axis> = Vec::new();
        let mut extents: Vec<Extent> = Vec::new();
        for (place, component) in map.components().iter().enumerate() {
            if let Some(i) = windows.pairs.iter().position(|p| p.place == place) {
                axes.push(Axis::Window(i));
                let pair = &windows.pairs[i];
                let count = (pair.count - 1) / pair.base_dilation + 1;
                extents.push(Extent::Const(count.unsigned_abs()));
                continue;
            }
            let digits = digits(component);
            if digits.is_empty() && target.extent(place).as_const() == Some(1) {
                axes.push(Axis::Unit);
                extents.push(Extent::Const(1));
            }
            for a in digits {
                if !axes.contains(&Axis::Plain(a)) {
                    axes.push(Axis::Plain(a));
                    extents.push(domain.extent(a).clone());
                }
            }
        }
        for a in windows.rest.iter().flat_map(|g| g.expr.used_axes().collect::<Vec<_>>()) {
            if !axes.contains(&Axis::Plain(a)) {
                axes.push(Axis::Plain(a));
                extents.push(domain.extent(a).clone());
            }
        }
        let rank = axes.len();
        let over = |expr: &Affine| {
            let coeff = |axis: &Axis| if let Axis::Plain(a) = axis { expr.coeffs[*a] } else { 0 };
            Affine { coeffs: axes.iter().map(coeff).collect(), offset: expr.offset }
        };
        let component = |(place, component): (usize, &Affine)| {
            let pair = windows.pairs.iter().position(|p| p.place == place);
            let found = pair.and_then(|i| Some((i, axes.iter().position(|a| *a == Axis::Window(i))?)));
            match found {
                Some((i, axis)) => {
                    let pair = &windows.pairs[i];
                    let (stride, start) =
                        if pair.flipped { (-1, pair.first + pair.count - 1) } else { (1, pair.first) };
                    Affine::strided(rank, axis, stride, start)
                }
                None => over(component),
            }
        };
        let components: Vec<Affine> = map.components().iter().enumerate().map(component).collect();
        let guards =
            windows.rest.iter().map(|g| Guard { expr: over(&g.expr), bound: g.bound.clone() }).collect();
        let fill = map.fill().unwrap_or(Fill(0));
        let Ok(map) = IndexMap::partial(Space::new(extents), target, components, guards, fill) else {
            return Ok(None);
        };
        Ok(Some((self.read(map, x)?, axes)))
    }

    /// The tensor that `x` holds with its elements apart along axes of windows, if the windows see all of it. The
    /// base dilations of the windows are set.
    fn undilated(&self, windows: &mut Windows, x: FieldId, op: AccOp) -> Option<FieldId> {
        let x = self.resolved(x);
        let FieldKind::Acc { op: spread, map, of } = &self.field(x).kind else {
            return None;
        };
        let dtype = self.dtype(x);
        if spread.neutral(dtype) != op.neutral(dtype) || map.components().len() != map.domain().rank() {
            return None;
        }
        let mut steps = Vec::new();
        for (axis, component) in map.components().iter().enumerate() {
            let extent = i64::try_from(map.codomain().extent(axis).as_const()?).ok()?;
            let own = i64::try_from(map.domain().extent(axis).as_const()?).ok()?;
            if own == 1 && extent == 1 {
                continue;
            }
            let step = component.coeffs[axis];
            let alone = component.used_axes().count() == 1 && component.offset == 0;
            if !alone || step < 1 || extent != (own - 1).checked_mul(step)?.checked_add(1)? {
                return None;
            }
            if step > 1 {
                let pair = windows.pairs.iter().position(|p| p.place == axis)?;
                let seen = &windows.pairs[pair];
                if seen.flipped || seen.first != 0 || seen.count != extent {
                    return None;
                }
                steps.push((pair, step));
            }
        }
        for (pair, step) in steps {
            windows.pairs[pair].base_dilation = step;
        }
        Some(*of)
    }

    /// `reduce_window`, if the body is one read through windows.
    pub(super) fn plan_window(&mut self, acc: &Projected<'_>) -> Result<Option<Plan>> {
        let Some((map, x)) = self.hoist(acc.body)? else {
            return Ok(None);
        };
        // Padding and holes hold the initial value.
        let dtype = self.dtype(acc.body);
        if map.fill().is_some_and(|f| !acc.op.absorbs(Scalar::from_bits(dtype, f.0))) {
            return Ok(None);
        }
        let Some(mut windows) = Windows::find(&map, acc.is_kept, &|_, _| true) else {
            return Ok(None);
        };
        let Some((mut tensor, mut axes)) = self.prepare(&mut windows, &map, x, acc.op)? else {
            return Ok(None);
        };
        // Axes that are reduced without a window go first.
        let stays = |axis: &Axis| !matches!(axis, Axis::Plain(a) if !acc.is_kept[*a]);
        if !axes.iter().all(stays) {
            let left: Vec<usize> = (0..axes.len()).filter(|&i| stays(&axes[i])).collect();
            let projection = IndexMap::projection(&self.space(tensor), &left);
            let reduced = self.function.fields.acc(acc.op, projection, tensor);
            tensor = self.ok(reduced)?;
            axes.retain(stays);
        }
        let rank = axes.len();
        let Some(domain) = map.domain().sizes() else { return Ok(None) };
        let mut window = Window {
            sizes: vec![1; rank],
            strides: vec![1; rank],
            base_dilations: vec![1; rank],
            window_dilations: vec![1; rank],
            padding: vec![(0, 0); rank],
        };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (at, axis) in axes.iter().enumerate() {
            match *axis {
                Axis::Plain(a) => groups.push(vec![a]),
                Axis::Unit => groups.push(Vec::new()),
                Axis::Window(i) => {
                    let pair = &windows.pairs[i];
                    groups.push(vec![pair.kept]);
                    window.sizes[at] = domain[pair.reduced].unsigned_abs();
                    window.strides[at] = pair.stride.unsigned_abs();
                    window.base_dilations[at] = pair.base_dilation.unsigned_abs();
                    window.window_dilations[at] = pair.dilation.unsigned_abs();
                    window.padding[at] = (pair.low, pair.high);
                }
            }
        }
        let Some(then) = acc.then_grouped(&self.space(acc.body), &groups) else {
            return Ok(None);
        };
        let init = self.constant(&Space::scalar(), acc.op.neutral(dtype));
        let how = How::ReduceWindow { op: acc.op, window: Box::new(window), then };
        Ok(Some(Plan::new(how, [tensor, init])))
    }
}
