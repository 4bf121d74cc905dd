//! Enclosures: a set that holds the value of a field over the reals and every value that rounding may give
//! instead, for each point.
//!
//! They start as the elements of the arguments. Every operation takes the image of its operands and widens it by
//! the rounding error of its element type, unless the operation is seen to be exact. So a cancellation is as wide
//! as the terms that cancel, an exact computation has no width, and the size of a sum elsewhere plays no part. Two
//! sides that are equal over the reals have enclosures that meet.
//!
//! Overflow is not in an enclosure: `e^200` is `7e86` also for `f32`. What overflowed is seen in
//! [`Events`](crate::evaluate::Events).

mod ball;
mod range;

pub(crate) use ball::Ball;
pub(crate) use range::{Format, Range};

use crate::evaluate::{Evaluated, accumulator};
use crate::places::places;
use std::collections::HashMap;
use surject_ir::{AccOp, BinaryOp, DType, FieldId, FieldKind, Function, Scalar, UnaryOp, eval};

/// What is known of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Enclosure {
    /// A truth value or an integer that no rounding can change.
    Known,
    /// A truth value or an integer that depends on how something is rounded.
    Unsure,
    /// A float.
    Real(Range),
    /// A complex number.
    Complex(Ball),
}

impl Enclosure {
    /// An element that is given.
    pub fn of(value: Scalar) -> Enclosure {
        match value.dtype() {
            d if d.is_float() => Enclosure::Real(Range::point(value.as_f64())),
            d if d.is_complex() => Enclosure::Complex(Ball::point(value.as_complex())),
            _ => Enclosure::Known,
        }
    }

    /// Nothing is known.
    fn unsure(dtype: DType) -> Enclosure {
        match dtype {
            d if d.is_float() => Enclosure::Real(Range::ALL),
            d if d.is_complex() => Enclosure::Complex(Ball::ALL),
            _ => Enclosure::Unsure,
        }
    }

    /// Both are possible.
    fn or(self, other: Enclosure, dtype: DType) -> Enclosure {
        match (self, other) {
            (Enclosure::Real(a), Enclosure::Real(b)) => Enclosure::Real(a.hull(b)),
            _ => Enclosure::unsure(dtype),
        }
    }
}

/// The enclosures of these fields and of all below them, whose values are known. `None` when a space has no known
/// size.
pub(crate) fn enclose(
    function: &Function,
    roots: &[FieldId],
    values: &HashMap<FieldId, Evaluated>,
) -> Option<HashMap<FieldId, Vec<Enclosure>>> {
    let fields = &function.fields;
    let mut done: HashMap<FieldId, Vec<Enclosure>> = HashMap::new();
    for id in fields.reachable(roots) {
        let field = &fields[id];
        let computed = &values.get(&id)?.values;
        let of = |id: &FieldId| done.get(id);
        let result = match &field.kind {
            FieldKind::Tensor(_) | FieldKind::Const(_) | FieldKind::Index { .. } => {
                computed.iter().map(|&v| Enclosure::of(v)).collect()
            }
            FieldKind::Read { map, of: x } => {
                let x = of(x)?;
                let one = |(place, &value): (Option<usize>, &Scalar)| match place {
                    Some(at) => x.get(at).copied(),
                    None => Some(Enclosure::of(value)),
                };
                places(map)?.into_iter().zip(computed).map(one).collect::<Option<_>>()?
            }
            FieldKind::Acc { op, map, of: child } => {
                let terms = values.get(child)?.values.iter().zip(of(child)?);
                accumulate(*op, field.dtype, places(map)?, terms, computed)?
            }
            FieldKind::Unary { op, x } => {
                let (x, operands) = (of(x)?, &values.get(x)?.values);
                (0..x.len()).map(|i| unary(*op, x[i], operands[i], computed[i])).collect()
            }
            FieldKind::Binary { op, x, y } => {
                let (a, b) = (&values.get(x)?.values, &values.get(y)?.values);
                let constant = |id: &FieldId| matches!(fields[*id].kind, FieldKind::Const(_));
                let (literal_x, literal_y) = (constant(x), constant(y));
                let (x, y) = (of(x)?, of(y)?);
                let one = |i: usize| {
                    let x = if literal_x { literal(*op, x[i], a[i]) } else { x[i] };
                    let y = if literal_y { literal(*op, y[i], b[i]) } else { y[i] };
                    binary(*op, x, y, (a[i], b[i]), computed[i])
                };
                (0..a.len()).map(one).collect()
            }
            FieldKind::Select { cond, on_true, on_false } => {
                let conditions = &values.get(cond)?.values;
                let (c, t, f) = (of(cond)?, of(on_true)?, of(on_false)?);
                let one = |i: usize| match c[i] {
                    Enclosure::Known if conditions[i].is_true() => t[i],
                    Enclosure::Known => f[i],
                    _ => t[i].or(f[i], field.dtype),
                };
                (0..c.len()).map(one).collect()
            }
            FieldKind::Convert { x } => {
                let (x, operands) = (of(x)?, &values.get(x)?.values);
                (0..x.len()).map(|i| convert(field.dtype, x[i], operands[i], computed[i])).collect()
            }
            FieldKind::Bitcast { x } => {
                of(x)?.iter().zip(computed).map(|(x, &value)| discrete(*x, value)).collect()
            }
            FieldKind::ReducePrecision { mantissa, x, .. } => {
                let unit = 0.5f64.powi(*mantissa as i32);
                let one = |(x, &value): (&Enclosure, &Scalar)| match x {
                    Enclosure::Real(r) if !r.is_point() => {
                        let wide = r.widen(&Format { unit, ..Format::of(field.dtype) }, 1.0);
                        Enclosure::Real(wide.hull(Range::point(value.as_f64())))
                    }
                    _ => discrete(*x, value),
                };
                of(x)?.iter().zip(computed).map(one).collect()
            }
        };
        done.insert(id, result);
    }
    Some(done)
}

/// The terms of each position joined in the order of the interpreter.
fn accumulate<'v>(
    op: AccOp,
    dtype: DType,
    places: Vec<Option<usize>>,
    terms: impl Iterator<Item = (&'v Scalar, &'v Enclosure)>,
    computed: &[Scalar],
) -> Option<Vec<Enclosure>> {
    let wide = accumulator(op, dtype);
    let neutral = op.neutral(wide);
    let mut sums = vec![neutral; computed.len()];
    let mut result = vec![Enclosure::of(neutral); computed.len()];
    for (place, (&value, &term)) in places.into_iter().zip(terms) {
        let at = place?;
        let (sum, total) = (sums.get_mut(at)?, result.get_mut(at)?);
        let value = eval::convert(wide, value);
        let next = eval::acc(op, *sum, value)?;
        *total = match op.binary() {
            Some(op) => binary(op, *total, term, (*sum, value), next),
            None => term,
        };
        *sum = next;
    }
    if wide != dtype {
        let narrow = |(total, (&sum, &value)): (Enclosure, _)| convert(dtype, total, sum, value);
        result = result.into_iter().zip(sums.iter().zip(computed)).map(narrow).collect();
    }
    Some(result)
}

/// An operation that gives one value for one value and says nothing of those nearby.
fn discrete(x: Enclosure, value: Scalar) -> Enclosure {
    let certain = match x {
        Enclosure::Known => true,
        Enclosure::Unsure => false,
        Enclosure::Real(r) => r.is_point(),
        Enclosure::Complex(b) => b.is_point(),
    };
    if certain { Enclosure::of(value) } else { Enclosure::unsure(value.dtype()) }
}

fn unary(op: UnaryOp, x: Enclosure, operand: Scalar, value: Scalar) -> Enclosure {
    let known = |certain: bool| if certain { Enclosure::Known } else { Enclosure::Unsure };
    match (op, x) {
        (UnaryOp::IsFinite, Enclosure::Real(r)) => known(r.is_point() || r.is_bounded()),
        (UnaryOp::Real, Enclosure::Real(_)) => x,
        (UnaryOp::Imag, Enclosure::Real(_)) => Enclosure::of(value),
        (_, Enclosure::Real(r)) => Enclosure::Real(range::unary(op, r, value)),
        (_, Enclosure::Complex(b)) => ball::unary(op, b, operand, value),
        (_, Enclosure::Known | Enclosure::Unsure) => discrete(x, value),
    }
}

fn binary(op: BinaryOp, x: Enclosure, y: Enclosure, operands: (Scalar, Scalar), value: Scalar) -> Enclosure {
    match (x, y) {
        (Enclosure::Known, Enclosure::Known) => Enclosure::of(value),
        (Enclosure::Real(a), Enclosure::Real(b)) if op.is_comparison() => {
            if a.is_decided(b) {
                Enclosure::Known
            } else {
                Enclosure::Unsure
            }
        }
        (Enclosure::Real(a), Enclosure::Real(b)) if op == BinaryOp::Complex => {
            Enclosure::Complex(Ball::of_parts(a, b))
        }
        (Enclosure::Real(a), Enclosure::Real(b)) => Enclosure::Real(range::binary(op, a, b, value)),
        (Enclosure::Complex(a), Enclosure::Complex(b)) if op.is_comparison() => {
            if a.is_point() && b.is_point() || !a.meets(b) { Enclosure::Known } else { Enclosure::Unsure }
        }
        (Enclosure::Complex(a), Enclosure::Complex(b)) => {
            Enclosure::Complex(ball::binary(op, a, b, operands, value))
        }
        _ => Enclosure::unsure(value.dtype()),
    }
}

/// A number of the rule: what a computation takes it for is a real number that it may be rounded from (0.1). A
/// choice or a comparison takes it as it is.
fn literal(op: BinaryOp, x: Enclosure, value: Scalar) -> Enclosure {
    let computes = !op.is_comparison() && !matches!(op, BinaryOp::Max | BinaryOp::Min);
    match x {
        Enclosure::Real(r) if computes && !range::is_short(value) => {
            Enclosure::Real(r.widen(&Format::of(value.dtype()), 1.0))
        }
        _ => x,
    }
}

fn convert(to: DType, x: Enclosure, operand: Scalar, value: Scalar) -> Enclosure {
    match x {
        Enclosure::Real(r) if to.is_float() => {
            let exact = r.is_point() && value.as_f64() == operand.as_f64();
            Enclosure::Real(if exact { r } else { r.widen(&Format::of(to), 1.0) })
        }
        Enclosure::Real(r) if to.is_bool() => {
            let certain = r.is_point() || r.lo > 0.0 || r.hi < 0.0;
            if certain { Enclosure::Known } else { Enclosure::Unsure }
        }
        Enclosure::Real(r) if !to.is_complex() => {
            if r.is_point() || r.lo.trunc() == r.hi.trunc() {
                Enclosure::Known
            } else {
                Enclosure::Unsure
            }
        }
        Enclosure::Known if to.is_float() => {
            let format = Format::of(to);
            let exact = operand.as_i128() == Some(value.as_f64() as i128);
            let point = Range::point(value.as_f64());
            Enclosure::Real(if exact { point } else { point.widen(&format, 1.0) })
        }
        _ => discrete(x, value),
    }
}

#[cfg(test)]
mod tests;
