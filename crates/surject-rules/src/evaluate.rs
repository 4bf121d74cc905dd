//! The values of fields, point by point and in the plainest way: what both sides of a rule are compared by.

use std::collections::HashMap;
use surject_ir::{AccOp, BinaryOp, Buffer, DType, FieldId, FieldKind, Function, Scalar, UnaryOp, Var, eval};

/// The values of a field in row-major order, and what happened on the way to them.
#[derive(Clone, Debug)]
pub(crate) struct Evaluated {
    pub values: Vec<Scalar>,
    /// Was every computed value finite, here and below?
    pub finite: bool,
    /// Was no integer operation out of the range of its type, here and below?
    pub in_range: bool,
}

/// The values of these fields and of all below them. `None` when an operation is undefined or a space has no
/// known size.
pub(crate) fn evaluate(
    function: &Function,
    roots: &[FieldId],
    args: &[Buffer],
) -> Option<HashMap<FieldId, Evaluated>> {
    let tensors: HashMap<Var, &Buffer> = function.params.iter().copied().zip(args).collect();
    let fields = &function.fields;
    let mut done: HashMap<FieldId, Evaluated> = HashMap::new();
    for id in fields.reachable(roots) {
        let field = &fields[id];
        let points = usize::try_from(field.space.points()?).ok()?;
        let of = |id: &FieldId| done.get(id).map(|e| &e.values);
        let mut in_range = true;
        let mut computed = true;
        let values: Vec<Scalar> = match &field.kind {
            FieldKind::Tensor(var) => {
                computed = false;
                let buffer = tensors.get(var)?;
                (0..buffer.len()).map(|i| buffer.get(i)).collect()
            }
            FieldKind::Const(value) => {
                computed = false;
                vec![*value; points]
            }
            FieldKind::Index { axis } => {
                let index = |p: Vec<i64>| Scalar::from_i128(field.dtype, p[*axis].into());
                field.space.iter_points()?.map(index).collect()
            }
            FieldKind::Read { map, of: x } => {
                computed = false;
                let x = of(x)?;
                let sizes = map.codomain().sizes()?;
                let fill = map.fill().map(|f| Scalar::from_bits(field.dtype, f.0));
                let value = |p: Vec<i64>| match map.apply(&p) {
                    Some(at) => x.get(offset(&sizes, &at)?).copied(),
                    None => fill,
                };
                map.domain().iter_points()?.map(value).collect::<Option<_>>()?
            }
            FieldKind::Acc { op, map, of: x } => {
                let x = of(x)?;
                let sizes = map.codomain().sizes()?;
                let wide = accumulator(*op, field.dtype);
                let mut result = vec![op.neutral(wide); points];
                for (p, &value) in map.domain().iter_points()?.zip(x) {
                    let at = offset(&sizes, &map.apply(&p)?)?;
                    let slot = result.get_mut(at)?;
                    let value = eval::convert(wide, value);
                    in_range &= op.binary().is_none_or(|op| binary_in_range(op, *slot, value));
                    *slot = eval::acc(*op, *slot, value)?;
                }
                result.into_iter().map(|v| eval::convert(field.dtype, v)).collect()
            }
            FieldKind::Unary { op, x } => {
                let x = of(x)?;
                in_range = x.iter().all(|&x| unary_in_range(*op, x));
                x.iter().map(|&x| eval::unary(*op, x)).collect::<Option<_>>()?
            }
            FieldKind::Binary { op, x, y } => {
                let pairs = || of(x).into_iter().flatten().zip(of(y).into_iter().flatten());
                in_range = pairs().all(|(&x, &y)| binary_in_range(*op, x, y));
                pairs().map(|(&x, &y)| eval::binary(*op, x, y)).collect::<Option<_>>()?
            }
            FieldKind::Select { cond, on_true, on_false } => {
                let (c, t, f) = (of(cond)?, of(on_true)?, of(on_false)?);
                c.iter().zip(t.iter().zip(f)).map(|(c, (t, f))| if c.is_true() { *t } else { *f }).collect()
            }
            FieldKind::Convert { x } => of(x)?.iter().map(|&x| eval::convert(field.dtype, x)).collect(),
            FieldKind::Bitcast { x } => {
                of(x)?.iter().map(|&x| eval::bitcast(field.dtype, x)).collect::<Option<_>>()?
            }
            FieldKind::ReducePrecision { exponent, mantissa, x } => of(x)?
                .iter()
                .map(|&x| eval::reduce_precision(*exponent, *mantissa, x))
                .collect::<Option<_>>()?,
        };
        if values.len() != points {
            return None;
        }
        let below = || field.kind.children().filter_map(|c| done.get(&c));
        let finite = below().all(|e| e.finite) && (!computed || values.iter().all(|&v| is_finite(v)));
        let in_range = in_range && below().all(|e| e.in_range);
        done.insert(id, Evaluated { values, finite, in_range });
    }
    Some(done)
}

/// The row-major offset of a position.
fn offset(sizes: &[i64], at: &[i64]) -> Option<usize> {
    usize::try_from(sizes.iter().zip(at).fold(0, |offset, (n, i)| offset * n + i)).ok()
}

/// Is it a finite number, or no float at all?
pub(crate) fn is_finite(value: Scalar) -> bool {
    let dtype = value.dtype();
    !(dtype.is_float() || dtype.is_complex()) || value.as_complex().is_finite()
}

/// The type that the interpreter accumulates in.
fn accumulator(op: AccOp, dtype: DType) -> DType {
    match (op, dtype) {
        (AccOp::Add | AccOp::Mul, DType::F16 | DType::BF16) => DType::F32,
        _ => dtype,
    }
}

/// Does the integer type hold the value?
fn holds(dtype: DType, value: Option<i128>) -> bool {
    value.is_some_and(|v| dtype.holds(v))
}

fn unary_in_range(op: UnaryOp, x: Scalar) -> bool {
    match (op, x.as_i128()) {
        (UnaryOp::Neg | UnaryOp::Abs, Some(v)) if x.dtype().is_int() => {
            holds(x.dtype(), Some(if op == UnaryOp::Neg { -v } else { v.abs() }))
        }
        _ => true,
    }
}

fn binary_in_range(op: BinaryOp, x: Scalar, y: Scalar) -> bool {
    let (Some(a), Some(b), true) = (x.as_i128(), y.as_i128(), x.dtype().is_int()) else { return true };
    match op {
        BinaryOp::Add => holds(x.dtype(), a.checked_add(b)),
        BinaryOp::Sub => holds(x.dtype(), a.checked_sub(b)),
        BinaryOp::Mul => holds(x.dtype(), a.checked_mul(b)),
        _ => true,
    }
}

#[cfg(test)]
mod tests;
