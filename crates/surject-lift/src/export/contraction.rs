//! Plans of sums of products: `dot_general`, and `convolution` where a factor is read through windows.

use super::acc::Projected;
use super::plan::{How, Plan, Precision, merging};
use super::state::{Result, State};
use super::window::{Axis, Windows};
use surject_index::IndexMap;
use surject_ir::{AccOp, BinaryOp, DType, FieldId, FieldKind, Scalar};
use surject_stablehlo::{ConvAttrs, ConvDims, DotDims};

impl State {
    /// The factors of a product, reads of products included.
    fn factors(&mut self, f: FieldId) -> Result<Option<(FieldId, FieldId)>> {
        match self.field(f).kind.clone() {
            FieldKind::Binary { op: BinaryOp::Mul, x, y } => Ok(Some((x, y))),
            FieldKind::Read { map, of } if map.is_total() => match self.field(of).kind {
                FieldKind::Binary { op: BinaryOp::Mul, x, y } => {
                    Ok(Some((self.read(map.clone(), x)?, self.read(map, y)?)))
                }
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    pub(super) fn plan_product(&mut self, acc: &Projected<'_>) -> Result<Option<Plan>> {
        let Some((x, y)) = self.factors(acc.body)? else {
            return Ok(None);
        };
        for (input, kernel) in [(x, y), (y, x)] {
            if let Some(plan) = self.plan_convolution(acc, input, kernel)? {
                return Ok(Some(plan));
            }
        }
        if let Some(plan) = self.plan_dot(acc, x, y)? {
            return Ok(Some(plan));
        }
        // Other ways to see the product as two factors: all factors that depend on no more axes than one of them,
        // and the others.
        let mut factors = vec![x, y];
        while factors.len() < 16 {
            let split = factors.iter().enumerate().find_map(|(i, &f)| match self.field(f).kind {
                FieldKind::Binary { op: BinaryOp::Mul, x, y } => Some((i, x, y)),
                _ => None,
            });
            let Some((i, x, y)) = split else {
                break;
            };
            factors.splice(i..=i, [x, y]);
        }
        if factors.len() < 3 {
            return Ok(None);
        }
        for seed in 0..factors.len() {
            let wide = self.deps(factors[seed]);
            let (mut inside, mut outside) = (None, None);
            for &f in &factors {
                let deps = self.deps(f);
                let side =
                    if deps.iter().zip(&wide).all(|(d, w)| !d || *w) { &mut inside } else { &mut outside };
                *side = Some(match *side {
                    Some(so_far) => self.binary(BinaryOp::Mul, so_far, f)?,
                    None => f,
                });
            }
            if let (Some(x), Some(y)) = (inside, outside)
                && let Some(plan) = self.plan_dot(acc, x, y)?
            {
                return Ok(Some(plan));
            }
        }
        Ok(None)
    }

    /// `dot_general`, if some axis is in both factors and summed, and some axis is free in one of them.
    fn plan_dot(&mut self, acc: &Projected<'_>, x: FieldId, y: FieldId) -> Result<Option<Plan>> {
        let space = self.space(acc.body);
        let (dx, dy) = (self.deps(x), self.deps(y));
        let kept = acc.order();
        let is = |a: usize, in_x: bool, in_y: bool| dx[a] == in_x && dy[a] == in_y;
        let summed: Vec<usize> = (0..space.rank()).filter(|&a| !acc.is_kept[a] && (dx[a] || dy[a])).collect();
        let free = kept.iter().any(|&a| is(a, true, false) || is(a, false, true));
        if !free || !summed.iter().any(|&a| is(a, true, true)) {
            return Ok(None);
        }
        let batch: Vec<usize> = kept.iter().copied().filter(|&a| is(a, true, true)).collect();
        let mut sides = Vec::new();
        for (f, deps) in [(x, &dx), (y, &dy)] {
            let mut order = self.natural_order(f);
            // A summed axis of the other factor alone repeats this one.
            order.extend(summed.iter().copied().filter(|&a| !deps[a]));
            if !self.can_leave_out(f, &order) {
                return Ok(None);
            }
            let loose: Vec<usize> =
                order.iter().copied().filter(|a| acc.is_kept[*a] && !batch.contains(a)).collect();
            sides.push((self.over(f, &order)?, order, loose));
        }
        // The order of the factors in which the result needs no transposition, if there is one.
        let result = |first: &[usize], second: &[usize]| -> Vec<usize> {
            batch.iter().chain(first).chain(second).copied().collect()
        };
        let wanted: Vec<usize> = kept.iter().copied().filter(|&a| dx[a] || dy[a]).collect();
        if result(&sides[0].2, &sides[1].2) != wanted && result(&sides[1].2, &sides[0].2) == wanted {
            sides.swap(0, 1);
        }
        let order = result(&sides[0].2, &sides[1].2);
        let places = |order: &[usize], axes: &[usize]| -> Vec<i64> {
            axes.iter().filter_map(|a| order.iter().position(|o| o == a)).map(|p| p as i64).collect()
        };
        let dims = DotDims {
            batch_lhs: places(&sides[0].1, &batch),
            batch_rhs: places(&sides[1].1, &batch),
            contract_lhs: places(&sides[0].1, &summed),
            contract_rhs: places(&sides[1].1, &summed),
        };
        let Some(then) = acc.then(&order, &space.select(&order)) else {
            return Ok(None);
        };
        let (x, y) = (sides[0].0, sides[1].0);
        let (operands, precision) = match (self.before_tf32(x)?, self.before_tf32(y)?) {
            (Some(x), Some(y)) => ([x, y], Precision::Tf32),
            _ => (self.narrow(x, y), Precision::Highest),
        };
        Ok(Some(Plan::new(How::Dot { dims, precision, then }, operands)))
    }

    /// Integer factors that were widened may be multiplied as they were: the operation sums in the type of its result,
    /// in which the products are those of the wide factors. (Floats are not: a back end that multiplies 16-bit floats
    /// need not have a product of these with a wider result.)
    fn narrow(&self, x: FieldId, y: FieldId) -> [FieldId; 2] {
        let source = |f: FieldId| match self.field(f).kind {
            FieldKind::Convert { x } => {
                let (from, to) = (self.dtype(x), self.dtype(f));
                let integers = from.is_signed_int() && to.is_signed_int()
                    || from.is_unsigned_int() && to.is_unsigned_int();
                (integers && from.bits() < to.bits()).then_some(x)
            }
            _ => None,
        };
        match (source(x), source(y)) {
            (Some(a), Some(b)) if self.dtype(a) == self.dtype(b) => [a, b],
            _ => [x, y],
        }
    }

    /// A sum of products of 16-bit floats, taken in 32 bits and rounded to the type of its factors: the product in
    /// that type, which is what back ends have.
    pub(super) fn plan_rounded(&mut self, x: FieldId, dtype: DType) -> Result<Option<Plan>> {
        let short = matches!(dtype, DType::F16 | DType::BF16) && self.dtype(x) == DType::F32;
        if !short || !matches!(self.field(x).kind, FieldKind::Acc { op: AccOp::Add, .. }) {
            return Ok(None);
        }
        let plan = self.plan(x)?;
        let (How::Dot { .. } | How::Convolution { .. }, &[a, b]) = (&plan.how, plan.operands.as_slice())
        else {
            return Ok(None);
        };
        let (Some(a), Some(b)) = (self.unwidened(a, dtype)?, self.unwidened(b, dtype)?) else {
            return Ok(None);
        };
        Ok(Some(Plan::new(plan.how.clone(), [a, b])))
    }

    /// The field in the type that it was widened from.
    fn unwidened(&mut self, f: FieldId, dtype: DType) -> Result<Option<FieldId>> {
        self.before(f, |state, kind| match kind {
            FieldKind::Convert { x } if state.dtype(*x) == dtype => Some(*x),
            _ => None,
        })
    }

    /// The field of `f32` as it was before it was rounded to tf32.
    fn before_tf32(&mut self, f: FieldId) -> Result<Option<FieldId>> {
        self.before(f, |state, kind| match kind {
            FieldKind::ReducePrecision { exponent: 8, mantissa: 10, x } if state.dtype(*x) == DType::F32 => {
                Some(*x)
            }
            _ => None,
        })
    }

    /// The field as it was before an operation that keeps zero, which `operand` looks for below movements.
    fn before(
        &mut self,
        f: FieldId,
        operand: impl Fn(&State, &FieldKind) -> Option<FieldId>,
    ) -> Result<Option<FieldId>> {
        let mut moves = Vec::new();
        let mut inner = f;
        let mut found = loop {
            let kind = self.field(inner).kind.clone();
            if let Some(x) = operand(self, &kind) {
                break x;
            }
            match kind {
                FieldKind::Read { map, of } if map.fill().is_none_or(|fill| fill.0 == 0) => {
                    moves.push((None, map));
                    inner = of;
                }
                FieldKind::Acc { op: AccOp::Set, map, of } => {
                    moves.push((Some(AccOp::Set), map));
                    inner = of;
                }
                _ => return Ok(None),
            }
        };
        for (op, map) in moves.into_iter().rev() {
            found = match op {
                Some(op) => {
                    let moved = self.function.fields.acc(op, map, found);
                    self.ok(moved)?
                }
                None => self.read(map, found)?,
            };
        }
        Ok(Some(found))
    }

    /// `convolution`, if `input` is read through windows that slide along kept axes, and `kernel` has the other axes
    /// of the windows.
    fn plan_convolution(
        &mut self,
        acc: &Projected<'_>,
        input: FieldId,
        kernel: FieldId,
    ) -> Result<Option<Plan>> {
        let Some((map, x)) = self.hoist(input)? else {
            return Ok(None);
        };
        let (dx, dk) = (self.deps(input), self.deps(kernel));
        let zero = Scalar::zero(self.dtype(input));
        let padding_is_zero = |fill: Scalar| fill == zero || fill.as_complex() == zero.as_complex();
        let fill = map.fill().map(|f| Scalar::from_bits(self.dtype(input), f.0));
        if fill.is_some_and(|f| !padding_is_zero(f)) {
            return Ok(None);
        }
        let fits = |kept: usize, reduced: usize| !dk[kept] && dk[reduced];
        let Some(mut windows) = Windows::find(&map, acc.is_kept, &fits) else {
            return Ok(None);
        };
        let space = self.space(acc.body);
        // The roles of the other axes.
        let (mut batch, mut group, mut feature, mut output) = (vec![], vec![], vec![], vec![]);
        for a in acc.order() {
            match (dx[a], dk[a]) {
                _ if windows.pairs.iter().any(|p| p.kept == a) => {}
                (true, false) => batch.push(a),
                (true, true) => group.push(a),
                (false, true) => output.push(a),
                (false, false) => {}
            }
        }
        for a in (0..space.rank()).filter(|&a| !acc.is_kept[a]) {
            match (dx[a], dk[a]) {
                _ if windows.pairs.iter().any(|p| p.reduced == a) => {}
                (true, true) => feature.push(a),
                (false, false) => {}
                _ => return Ok(None),
            }
        }
        let Some((prepared, axes)) = self.prepare(&mut windows, &map, x, AccOp::Add)? else {
            return Ok(None);
        };
        // Input: batch, features, one axis a window. Groups stand before the features, or before the batch where
        // the tensor has them there.
        let find = |a: &usize| axes.iter().position(|p| *p == Axis::Plain(*a));
        let places = |list: &[usize]| list.iter().map(find).collect::<Option<Vec<usize>>>();
        let (Some(mut batch_at), Some(mut feature_at), Some(group_at)) =
            (places(&batch), places(&feature), places(&group))
        else {
            return Ok(None);
        };
        let before = |list: &[usize]| {
            let joined: Vec<usize> = group_at.iter().chain(list).copied().collect();
            !list.is_empty() && joined.windows(2).all(|w| w[0] + 1 == w[1])
        };
        let batch_groups = !group.is_empty() && before(&batch_at) && !before(&feature_at);
        let grouped = if batch_groups { &mut batch_at } else { &mut feature_at };
        *grouped = group_at.iter().chain(grouped.iter()).copied().collect();
        let mut groups = vec![batch_at, feature_at];
        for i in 0..windows.pairs.len() {
            groups.push(axes.iter().position(|a| *a == Axis::Window(i)).into_iter().collect());
        }
        let units = (0..axes.len()).filter(|&i| axes[i] == Axis::Unit);
        for (group, unit) in groups.iter_mut().filter(|g| g.is_empty()).zip(units) {
            group.push(unit);
        }
        let Some((input, input_dims)) = self.laid_out(prepared, groups)? else {
            return Ok(None);
        };
        // Kernel: input features, output features (by group), one axis a window.
        let order = self.natural_order(kernel);
        let kernel = self.over(kernel, &order)?;
        let kernel = self.turned(kernel, &order, &mut windows)?;
        let find = |a: &usize| order.iter().position(|o| o == a);
        let places = |list: &[usize]| list.iter().map(find).collect::<Option<Vec<usize>>>();
        let outputs: Vec<usize> = group.iter().chain(&output).copied().collect();
        let window_axes: Vec<usize> = windows.pairs.iter().map(|p| p.reduced).collect();
        let (Some(feature_at), Some(output_at), Some(window_at)) =
            (places(&feature), places(&outputs), places(&window_axes))
        else {
            return Ok(None);
        };
        let mut groups = vec![feature_at, output_at];
        groups.extend(window_at.into_iter().map(|at| vec![at]));
        let Some((kernel, kernel_dims)) = self.laid_out(kernel, groups)? else {
            return Ok(None);
        };
        // Result: batch, output features (by group), the kept axes of the windows, in the order of the result.
        let mut parts = vec![batch.clone(), outputs];
        parts.extend(windows.pairs.iter().map(|p| vec![p.kept]));
        let at = |list: &Vec<usize>| {
            let own = list.iter().filter_map(|&a| acc.kept.iter().position(|k| *k == Some(a))).min();
            own.or_else(|| acc.kept.iter().position(Option::is_none)).unwrap_or(usize::MAX)
        };
        let mut sorted: Vec<usize> = (0..parts.len()).collect();
        sorted.sort_by_key(|&i| at(&parts[i]));
        let mut output_dims = vec![0i64; parts.len()];
        sorted.iter().enumerate().for_each(|(place, &i)| output_dims[i] = place as i64);
        let sorted: Vec<Vec<usize>> = sorted.iter().map(|&i| parts[i].clone()).collect();
        let Some(then) = acc.then_grouped(&space, &sorted) else {
            return Ok(None);
        };
        let count = |list: &[usize]| space.select(list).points().and_then(|n| i64::try_from(n).ok());
        let Some(groups) = count(&group) else {
            return Ok(None);
        };
        let conv = ConvAttrs {
            dims: ConvDims {
                input_batch: input_dims[0],
                input_feature: input_dims[1],
                input_spatial: input_dims[2..].to_vec(),
                kernel_input_feature: kernel_dims[0],
                kernel_output_feature: kernel_dims[1],
                kernel_spatial: kernel_dims[2..].to_vec(),
                output_batch: output_dims[0],
                output_feature: output_dims[1],
                output_spatial: output_dims[2..].to_vec(),
            },
            strides: windows.pairs.iter().map(|p| p.stride).collect(),
            padding: windows.pairs.iter().map(|p| (p.low, p.high)).collect(),
            lhs_dilation: windows.pairs.iter().map(|p| p.base_dilation).collect(),
            rhs_dilation: windows.pairs.iter().map(|p| p.dilation).collect(),
            reversal: windows.pairs.iter().map(|p| p.reversed).collect(),
            feature_group_count: if batch_groups { 1 } else { groups },
            batch_group_count: if batch_groups { groups } else { 1 },
        };
        Ok(Some(Plan::new(How::Convolution { conv: Box::new(conv), then }, [input, kernel])))
    }

    /// A kernel that is read backwards along the axis of a window is taken as it stands, and the window turned round.
    fn turned(&mut self, kernel: FieldId, order: &[usize], windows: &mut Windows) -> Result<FieldId> {
        let Some((map, _)) = self.hoist(kernel)? else {
            return Ok(kernel);
        };
        let mut axes = Vec::new();
        for pair in &mut windows.pairs {
            let axis = order.iter().position(|&a| a == pair.reduced);
            let falls = |&a: &usize| map.components().iter().any(|c| c.coeffs[a] < 0);
            if let Some(axis) = axis.filter(falls) {
                pair.reversed = !pair.reversed;
                axes.push(axis);
            }
        }
        let reverse = IndexMap::reverse(&self.space(kernel), &axes);
        let reverse = self.ok(reverse)?;
        self.rebuild(kernel, &reverse)
    }

    /// The field with each group of axes as one axis, groups in the order in which their first axes stand; and the
    /// place of each group. An empty group becomes an axis of extent 1 at the end.
    fn laid_out(&mut self, f: FieldId, groups: Vec<Vec<usize>>) -> Result<Option<(FieldId, Vec<i64>)>> {
        let mut sorted: Vec<usize> = (0..groups.len()).collect();
        sorted.sort_by_key(|&i| groups[i].iter().min().copied().unwrap_or(usize::MAX));
        let mut places = vec![0i64; groups.len()];
        sorted.iter().enumerate().for_each(|(place, &i)| places[i] = place as i64);
        let ordered: Vec<Vec<usize>> = sorted.iter().map(|&i| groups[i].clone()).collect();
        let space = self.space(f);
        let Some(map) = merging(&space, &ordered) else {
            return Ok(None);
        };
        if map.is_identity() {
            return Ok(Some((f, places)));
        }
        let merged = self.function.fields.acc(AccOp::Set, map, f);
        Ok(merged.ok().map(|m| (m, places)))
    }
}
