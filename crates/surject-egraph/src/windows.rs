//! Windows over several axes, one axis after the other: the largest element of a square is the largest of those of its
//! columns, and a column is in as many squares as overlap.
//!
//! `acc ⊕ over j, k, m, n at [j, k]: x[s j + m, t k + n]` becomes a stored `y = acc ⊕ over j, w, m at [j, w]: x[s j + m, w]`
//! and `acc ⊕ over j, k, n at [j, k]: y[j, t k + n]`. With windows of `m × n` places that is `m + n` terms for each of
//! them where windows lie close, and along the second axis, where neighbours are hard to load if it is the last one in
//! memory, it is `n`.
//!
//! As with [`factors`](crate::factors), what is stored otherwise is decided before.

use crate::EgraphError;
use crate::factors::{kept, replaced};
use crate::live::nested;
use std::collections::HashMap;
use surject_index::{Affine, Extent, Fill, IndexMap, Space};
use surject_ir::{AccOp, Block, DType, FieldId, FieldKind, Function, Scalar, Statement, StatementKind, Var};

/// Fewer terms are not worth another kernel.
const TERMS: i64 = 50_000;

/// Takes the windows of a function apart, those of sums of floats only if `sums` may be made in parts; gives the number
/// of such sums.
pub(crate) fn take_apart(function: &mut Function, sums: bool) -> Result<usize, EgraphError> {
    let mut body = std::mem::take(&mut function.body);
    let done = block(function, &mut body, sums);
    function.body = body;
    done
}

fn block(f: &mut Function, block: &mut Block, sums: bool) -> Result<usize, EgraphError> {
    let mut count = 0;
    let mut statements = Vec::with_capacity(block.statements.len());
    for mut statement in std::mem::take(&mut block.statements) {
        for inner in nested(&mut statement) {
            count += self::block(f, inner, sums)?;
        }
        // The last of these is the one that is looked at: what it is taken apart into comes before it.
        let mut open = vec![statement];
        while let Some(mut next) = open.pop() {
            if let StatementKind::Store { field, .. } = &mut next.kind
                && let Some(first) = apart(f, field, sums)?
            {
                count += usize::from(reassociates(f, first.1));
                let kind = StatementKind::Store { target: first.0, field: first.1 };
                let first = Statement { kind, origin: next.origin.clone() };
                open.extend([next, first]);
                continue;
            }
            statements.push(next);
        }
    }
    block.statements = statements;
    Ok(count)
}

/// Is it a sum of floats, which another order changes?
fn reassociates(f: &Function, id: FieldId) -> bool {
    f.fields[id].dtype.is_float() && matches!(f.fields[id].kind, FieldKind::Acc { op: AccOp::Add, .. })
}

/// Takes one of the windows in a stored field apart: gives what is stored first.
fn apart(f: &mut Function, field: &mut FieldId, sums: bool) -> Result<Option<(Var, FieldId)>, EgraphError> {
    let mut open = vec![*field];
    let mut seen = Vec::new();
    while let Some(id) = open.pop() {
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        match &f.fields[id].kind {
            FieldKind::Acc { .. } if reassociates(f, id) && !sums => {}
            FieldKind::Acc { .. } => {
                let Some(windows) = Windows::of(f, id) else { continue };
                let first = windows.first(f)?;
                let target = f.var_for("window", first);
                let tensor = f.tensor(target);
                let second = windows.second(f, tensor)?;
                *field = replaced(f, *field, &HashMap::from([(id, second)])).map_err(output)?;
                return Ok(Some((target, first)));
            }
            FieldKind::Read { .. } => {}
            kind => open.extend(kind.children()),
        }
    }
    Ok(None)
}

fn output(error: impl std::fmt::Display) -> EgraphError {
    EgraphError::Output(error.to_string())
}

/// An accumulation over windows, and the axis along which they are left for later.
struct Windows {
    op: AccOp,
    fill: Scalar,
    /// What the windows run over, and how.
    of: FieldId,
    read: IndexMap,
    /// Which axis of the loops each axis of the result is; the others have one position.
    places: Vec<Option<usize>>,
    space: Space,
    /// The axis of the operand, that of the result, the loop over windows and the loop along them.
    along: Axis,
}

#[derive(Clone, Copy)]
struct Axis {
    operand: usize,
    result: usize,
    window: usize,
    element: usize,
    stride: i64,
    dilation: i64,
    offset: i64,
}

/// Can terms be joined in any order, and the parts of a sum be stored as it is?
fn splits(op: AccOp, dtype: DType) -> bool {
    match op {
        AccOp::Max | AccOp::Min => !dtype.is_complex(),
        AccOp::And | AccOp::Or => true,
        AccOp::Add => dtype.is_int() || matches!(dtype, DType::F32 | DType::F64),
        _ => false,
    }
}

impl Windows {
    /// The windows of an accumulation, if they are worth being taken apart.
    fn of(f: &Function, id: FieldId) -> Option<Windows> {
        let FieldKind::Acc { op, map, of } = &f.fields[id].kind else { return None };
        let FieldKind::Read { map: read, of } = &f.fields[*of].kind else { return None };
        let (dtype, space) = (f.fields[id].dtype, map.codomain().clone());
        let fill = read.fill().map_or(op.neutral(dtype), |fill| Scalar::from_bits(dtype, fill.0));
        let once = *op != AccOp::Add || fill == op.neutral(dtype) || fill == Scalar::zero(dtype);
        if !splits(*op, dtype) || !once || !is_stored(f, *of) || read.domain().is_empty() {
            return None;
        }
        let places = kept(map)?;
        // Outside is only where a component is.
        let implied = |g: &surject_index::Guard| {
            let mut own = read.components().iter().zip(read.codomain().extents());
            own.any(|(component, extent)| g.expr == *component && g.bound == *extent)
        };
        if !read.guards().iter().all(implied) {
            return None;
        }
        let axes = (0..read.codomain().rank()).filter_map(|operand| axis(read, &places, operand));
        let along = axes.max_by_key(|a| a.result)?;
        let windows = Windows { op: *op, fill, of: *of, read: read.clone(), places, space, along };
        windows.is_worth_it(dtype).then_some(windows)
    }

    /// Is the work less along one axis after the other? In cycles of a vector.
    fn is_worth_it(&self, dtype: DType) -> bool {
        /// What comes last among so many elements fills vectors by itself.
        const VECTOR: i64 = 16;
        let (Some(loops), Some(result), Some(operand)) =
            (self.read.domain().sizes(), self.space.sizes(), self.read.codomain().sizes())
        else {
            return false;
        };
        let product = |sizes: &[i64]| sizes.iter().fold(1i64, |n, &s| n.saturating_mul(s));
        let Axis { operand: from, result: to, element, stride, .. } = self.along;
        let (terms, points, length) = (product(&loops), product(&result), loops[element]);
        let others = (terms / points.max(1) / length.max(1)) as f64;
        if terms < TERMS || others < 2.0 {
            return false;
        }
        // The largest of two floats is some instructions, and what lies apart along vectors is put together.
        let join = if dtype.is_float() && self.op != AccOp::Add { 4.0 } else { 1.0 };
        let beside = product(&result[to + 1..]);
        let load = match stride.saturating_mul(beside) {
            _ if beside >= VECTOR => 1.0,
            1 => 1.5,
            apart => 4.0 * apart as f64,
        };
        let more = operand[from] as f64 / result[to] as f64;
        let length = length as f64;
        let at_once = others * length * (load + join);
        let apart = more * others * (1.0 + join) + length * (load + join) + 3.0;
        apart < 0.75 * at_once
    }

    /// The joined elements of windows along all other axes.
    fn first(&self, f: &mut Function) -> Result<FieldId, EgraphError> {
        let Axis { operand, result, window, element, .. } = self.along;
        let wide = self.read.codomain().extent(operand).clone();
        let domain = self.read.domain();
        let rank = domain.rank() - 1;
        let of = |axis: usize| if axis > element { axis - 1 } else { axis };
        let extent = |a: usize| if a == window { wide.clone() } else { domain.extent(a).clone() };
        let loops = Space::new((0..=rank).filter(|&a| a != element).map(extent));
        let component = |(axis, affine): (usize, &Affine)| {
            if axis == operand {
                return Affine::axis(rank, of(window));
            }
            let mut new = affine.clone();
            new.coeffs.remove(element);
            new
        };
        let components = self.read.components().iter().enumerate().map(component).collect();
        let codomain = self.read.codomain().clone();
        let fill = Fill(self.fill.bits());
        let read =
            IndexMap::partial(loops.clone(), codomain, components, Vec::new(), fill).map_err(output)?;
        let value = f.fields.read(read, self.of).map_err(output)?;
        let place = |p: &Option<usize>| p.map_or(Affine::fixed(rank, 0), |a| Affine::axis(rank, of(a)));
        let map = IndexMap::total(loops, self.columns(result, wide), self.places.iter().map(place).collect())
            .map_err(output)?;
        f.fields.acc(self.op, map, value).map_err(output)
    }

    /// The space of the result with another extent.
    fn columns(&self, axis: usize, wide: Extent) -> Space {
        let extents = self.space.extents().iter().enumerate();
        Space::new(extents.map(|(a, e)| if a == axis { wide.clone() } else { e.clone() }))
    }

    /// Those along the last one.
    fn second(&self, f: &mut Function, first: FieldId) -> Result<FieldId, EgraphError> {
        let Axis { result, element, stride, dilation, offset, .. } = self.along;
        let rank = self.space.rank();
        let length = self.read.domain().extent(element).clone();
        let loops = Space::new(self.space.extents().iter().cloned().chain([length]));
        let component = |axis: usize| {
            let mut affine = Affine::axis(rank + 1, axis);
            if axis == result {
                affine = Affine::strided(rank + 1, axis, stride, offset);
                affine.coeffs[rank] = dilation;
            }
            affine
        };
        let columns = f.fields[first].space.clone();
        let components = (0..rank).map(component).collect();
        let fill = Fill(self.fill.bits());
        let read = IndexMap::partial(loops.clone(), columns, components, Vec::new(), fill).map_err(output)?;
        let value = f.fields.read(read, first).map_err(output)?;
        let axes: Vec<usize> = (0..rank).collect();
        f.fields.acc(self.op, IndexMap::projection(&loops, &axes), value).map_err(output)
    }
}

/// Is a field what is in memory, or made of that point by point?
fn is_stored(f: &Function, id: FieldId) -> bool {
    let reached = f.fields.reachable(&[id]);
    let plain = |id: &FieldId| {
        !matches!(
            f.fields[*id].kind,
            FieldKind::Acc { .. } | FieldKind::Read { .. } | FieldKind::Index { .. }
        )
    };
    reached.iter().all(plain) && reached.iter().any(|id| matches!(f.fields[*id].kind, FieldKind::Tensor(_)))
}

/// The axis of an operand along which windows run, if nothing else does.
fn axis(read: &IndexMap, places: &[Option<usize>], operand: usize) -> Option<Axis> {
    let component = &read.components()[operand];
    let used: Vec<usize> = component.used_axes().collect();
    let &[a, b] = used.as_slice() else { return None };
    let place = |axis: usize| places.iter().position(|&p| p == Some(axis));
    let (window, element, result) = match (place(a), place(b)) {
        (Some(result), None) => (a, b, result),
        (None, Some(result)) => (b, a, result),
        _ => return None,
    };
    let alone = |axis: usize| {
        let mut others = read.components().iter().enumerate().filter(|(o, _)| *o != operand);
        others.all(|(_, c)| c.coeffs[axis] == 0)
    };
    let (stride, dilation) = (component.coeffs[window], component.coeffs[element]);
    (alone(window) && alone(element) && stride > 0).then_some(Axis {
        operand,
        result,
        window,
        element,
        stride,
        dilation,
        offset: component.offset,
    })
}
