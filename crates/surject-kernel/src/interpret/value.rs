//! Values of an agent, and operations that depend on them alone.

use super::FaultKind;
use super::agent::{Agent, Lanes};
use super::run::Done;
use crate::{Affine, Guard, Op, Type, Value};
use surject_ir::{AccOp, DType, Scalar, eval};

/// A copy of a value.
pub(super) fn copy(agent: &Agent, value: Value) -> Lanes {
    agent.known(value).cloned().unwrap_or(Lanes::One(Scalar::zero(DType::I64)))
}

pub(super) fn index(value: i64) -> Lanes {
    Lanes::One(Scalar::from_i128(DType::I64, value.into()))
}

pub(super) fn affine(agent: &Agent, affine: &Affine, lane: usize) -> Done<i64> {
    affine.at(lane, &|v| agent.index(v)).ok_or(FaultKind::Overflow)
}

pub(super) fn holds(agent: &Agent, guards: &[Guard], lane: usize) -> Done<bool> {
    for guard in guards {
        let at = affine(agent, &guard.expr, lane)?;
        if at < 0 || at >= affine(agent, &guard.bound, lane)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The value of an operation that does nothing else, where it and its operands have one lane; `None`: it is another one.
pub(super) fn pure_one(agent: &Agent, op: &Op, ty: Type) -> Done<Option<Scalar>> {
    if ty.lanes != 1 {
        return Ok(None);
    }
    let one = |value: &Value| match agent.known(*value) {
        Some(Lanes::One(one)) => Ok(*one),
        _ => Err(FaultKind::Undefined),
    };
    let found = match op {
        Op::Splat(value) => Some(*value),
        Op::Index(expr) => Some(Scalar::from_i128(ty.dtype, affine(agent, expr, 0)?.into())),
        Op::Holds(guards) => Some(Scalar::bool(holds(agent, guards, 0)?)),
        Op::Unary(op, x) => eval::unary(*op, one(x)?),
        Op::Binary(op, x, y) => eval::binary(*op, one(x)?, one(y)?),
        Op::Fma(x, y, z) => Some(fma(one(x)?, one(y)?, one(z)?)),
        Op::Select(c, x, y) => Some(if one(c)?.is_true() { one(x)? } else { one(y)? }),
        Op::Convert(x) => Some(eval::convert(ty.dtype, one(x)?)),
        Op::Bitcast(x) => eval::bitcast(ty.dtype, one(x)?),
        _ => return Ok(None),
    };
    found.map(Some).ok_or(FaultKind::Undefined)
}

/// The lanes of an operation that does nothing else.
/// It is long because it is flat: one arm an operation.
pub(super) fn pure(agent: &Agent, op: &Op, ty: Type) -> Done<Vec<Scalar>> {
    let lanes = |value: &Value| agent.lanes(*value);
    let each = |x: &Value, f: &dyn Fn(Scalar) -> Option<Scalar>| -> Option<Vec<Scalar>> {
        lanes(x).iter().map(|&x| f(x)).collect()
    };
    let found = match op {
        Op::Splat(value) => Some(vec![*value; ty.lanes]),
        Op::Constant(values) => Some(values.clone()),
        Op::Index(expr) => {
            let mut values = Vec::with_capacity(ty.lanes);
            for lane in 0..ty.lanes {
                values.push(Scalar::from_i128(ty.dtype, affine(agent, expr, lane)?.into()));
            }
            Some(values)
        }
        Op::Holds(guards) => {
            let mut values = Vec::with_capacity(ty.lanes);
            for lane in 0..ty.lanes {
                values.push(Scalar::bool(holds(agent, guards, lane)?));
            }
            Some(values)
        }
        Op::Unary(op, x) => each(x, &|x| eval::unary(*op, x)),
        Op::Binary(op, x, y) => {
            lanes(x).iter().zip(lanes(y)).map(|(&x, &y)| eval::binary(*op, x, y)).collect()
        }
        Op::Fma(x, y, z) => {
            let terms = lanes(x).iter().zip(lanes(y)).zip(lanes(z));
            Some(terms.map(|((&x, &y), &z)| fma(x, y, z)).collect())
        }
        Op::Select(c, x, y) => {
            let sides = lanes(c).iter().zip(lanes(x)).zip(lanes(y));
            Some(sides.map(|((c, &x), &y)| if c.is_true() { x } else { y }).collect())
        }
        Op::Convert(x) => each(x, &|x| Some(eval::convert(ty.dtype, x))),
        Op::Bitcast(x) => each(x, &|x| eval::bitcast(ty.dtype, x)),
        Op::ReducePrecision(exponent, mantissa, x) => {
            each(x, &|x| eval::reduce_precision(*exponent, *mantissa, x))
        }
        Op::Broadcast(x) => lanes(x).first().map(|&x| vec![x; ty.lanes]),
        Op::Shuffle(x, y, order) => {
            let both: Vec<Scalar> = lanes(x).iter().chain(lanes(y)).copied().collect();
            order.iter().map(|&lane| both.get(lane).copied()).collect()
        }
        Op::Extract(x, lane) => lanes(x).get(*lane).map(|&x| vec![x]),
        Op::Insert(x, lane, scalar) => {
            let mut values = lanes(x).to_vec();
            match (values.get_mut(*lane), lanes(scalar).first()) {
                (Some(place), Some(&scalar)) => {
                    *place = scalar;
                    Some(values)
                }
                _ => None,
            }
        }
        Op::Lookup(x, y, at) => {
            let table: Vec<Scalar> = lanes(x).iter().chain(lanes(y)).copied().collect();
            // A power of two of lanes: the lowest bits number them, whatever the sign says.
            let entry =
                |at: &Scalar| table.get(at.as_i128().unwrap_or(0) as usize & (table.len() - 1)).copied();
            lanes(at).iter().map(entry).collect()
        }
        Op::Scale(x, n) => Some(lanes(x).iter().zip(lanes(n)).map(|(&x, &n)| scale(x, n)).collect()),
        Op::ReduceLanes(op, x) => reduce_lanes(*op, lanes(x)).map(|joined| vec![joined]),
        _ => None,
    };
    found.ok_or(FaultKind::Undefined)
}

/// Lanes joined half by half, and then those that are left.
fn reduce_lanes(op: AccOp, lanes: &[Scalar]) -> Option<Scalar> {
    let mut all = lanes.to_vec();
    for half in crate::halves(all.len()) {
        let rest = all.split_off(half);
        for (sum, x) in all.iter_mut().zip(rest) {
            *sum = eval::acc(op, *sum, x)?;
        }
    }
    let mut all = all.into_iter();
    let first = all.next()?;
    all.try_fold(first, |sum, x| eval::acc(op, sum, x))
}

/// `x * y + z`, rounded once.
fn fma(x: Scalar, y: Scalar, z: Scalar) -> Scalar {
    let [a, b, c] = [x, y, z].map(Scalar::as_f64);
    match x.dtype() {
        DType::F64 => Scalar::from_f64(DType::F64, a.mul_add(b, c)),
        dtype => Scalar::from_f64(dtype, f64::from((a as f32).mul_add(b as f32, c as f32))),
    }
}

/// `x` times two to the power of `n`, rounded once.
fn scale(x: Scalar, n: Scalar) -> Scalar {
    let (value, n) = (x.as_f64(), n.as_f64().floor());
    let scaled = match x.dtype() {
        DType::F64 => {
            // What is rounded is rounded by the last product.
            let first =
                if n < 0.0 { (n + 1022.0).clamp(-1022.0, 0.0) } else { (n - 1023.0).clamp(0.0, 1023.0) };
            value * first.exp2() * (n - first).clamp(-1022.0, 1023.0).exp2()
        }
        // Exact, and rounded to fewer bits below.
        _ => value * n.clamp(-800.0, 800.0).exp2(),
    };
    Scalar::from_f64(x.dtype(), scaled)
}

/// The operations on floats that a statement without memory is.
pub(super) fn flops(op: &Op, lanes: &[Scalar], agent: &Agent) -> u64 {
    let floats = if lanes.first().is_some_and(|l| l.dtype().is_float()) { lanes.len() as u64 } else { 0 };
    match op {
        Op::Unary(..) | Op::Binary(..) | Op::Scale(..) => floats,
        Op::Fma(..) => 2 * floats,
        Op::ReduceLanes(_, x) => floats * (agent.lanes(*x).len() as u64).saturating_sub(1),
        _ => 0,
    }
}
