//! The values of fields, point by point and in the plainest way: what both sides of a rule are compared by.

use crate::places::places;
use std::collections::HashMap;
use surject_ir::{AccOp, BinaryOp, Buffer, DType, FieldId, FieldKind, Function, Scalar, UnaryOp, Var, eval};

/// The values of a field in row-major order, and what happened on the way to each of them.
#[derive(Clone, Debug)]
pub(crate) struct Evaluated {
    pub values: Vec<Scalar>,
    pub events: Vec<Events>,
}

/// What happened on the way to a value: at the value itself or at any that it is computed from. Of a `select` the
/// condition counts and the operand that is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Events(u8);

impl Events {
    /// A computed value is infinite or NaN.
    pub const NOT_FINITE: Events = Events(1);
    /// A sum, difference, product, quotient or power of finite numbers is out of the range of its type.
    pub const OVERFLOW: Events = Events(2);
    /// A product, quotient or power of numbers that are not zero is zero.
    pub const UNDERFLOW: Events = Events(4);
    /// Another function, or a conversion, of a finite number is out of the range of its type.
    pub const FUNCTION: Events = Events(8);
    /// An integer operation is out of the range of its type, and wraps.
    pub const WRAPPED: Events = Events(16);
    /// An exponential of a finite number is zero.
    pub const VANISHED: Events = Events(32);

    /// Did one of these happen?
    pub fn any(self, of: Events) -> bool {
        self.0 & of.0 != 0
    }

    pub fn and(self, other: Events) -> Events {
        Events(self.0 | other.0)
    }

    fn when(condition: bool, event: Events) -> Events {
        if condition { event } else { Events::default() }
    }
}

/// What functions such as `exp` and `sqrt` are taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Functions {
    /// What they are.
    Known,
    /// Others near to them, each smooth and of the same sign: what holds for them too does not rest on what the
    /// functions are.
    Any,
}

impl Functions {
    fn unary(self, op: UnaryOp, x: Scalar, value: Scalar) -> Scalar {
        use UnaryOp::*;
        match op {
            Neg | Abs | Sign | Floor | Ceil | RoundEven | RoundAway | IsFinite | Real | Imag => value,
            _ => self.other(f64::from(op as u8), x.as_f64(), value),
        }
    }

    fn binary(self, op: BinaryOp, x: Scalar, y: Scalar, value: Scalar) -> Scalar {
        match op {
            BinaryOp::Pow => self.other(0.1, x.as_f64() + 0.6 * y.as_f64(), value),
            BinaryOp::Atan2 => self.other(0.2, x.as_f64() + 0.6 * y.as_f64(), value),
            _ => value,
        }
    }

    fn other(self, op: f64, x: f64, value: Scalar) -> Scalar {
        if self == Functions::Known || !value.dtype().is_float() {
            return value;
        }
        Scalar::from_f64(value.dtype(), value.as_f64() * (1.0 + 0.01 * (1.7 * x + op).sin()))
    }
}

/// The values of these fields and of all below them. `None` when an operation is undefined or a space has no
/// known size.
pub(crate) fn evaluate(
    function: &Function,
    roots: &[FieldId],
    args: &[Buffer],
    functions: Functions,
) -> Option<HashMap<FieldId, Evaluated>> {
    let tensors: HashMap<Var, &Buffer> = function.params.iter().copied().zip(args).collect();
    let fields = &function.fields;
    let mut done: HashMap<FieldId, Evaluated> = HashMap::new();
    for id in fields.reachable(roots) {
        let field = &fields[id];
        let points = usize::try_from(field.space.points()?).ok()?;
        let of = |id: &FieldId| done.get(id);
        let given = |values: Vec<Scalar>| Evaluated { events: vec![Events::default(); values.len()], values };
        let evaluated = match &field.kind {
            FieldKind::Tensor(var) => {
                let buffer = tensors.get(var)?;
                given((0..buffer.len()).map(|i| buffer.get(i)).collect())
            }
            FieldKind::Const(value) => given(vec![*value; points]),
            FieldKind::Index { axis } => {
                let index = |p: Vec<i64>| Scalar::from_i128(field.dtype, p[*axis].into());
                given(field.space.iter_points()?.map(index).collect())
            }
            FieldKind::Read { map, of: x } => {
                let x = of(x)?;
                let fill = map.fill().map(|f| Scalar::from_bits(field.dtype, f.0));
                let value = |at: Option<usize>| match at {
                    Some(at) => Some((*x.values.get(at)?, *x.events.get(at)?)),
                    None => Some((fill?, Events::default())),
                };
                let pairs: Option<Vec<_>> = places(map)?.into_iter().map(value).collect();
                let (values, events) = pairs?.into_iter().unzip();
                Evaluated { values, events }
            }
            FieldKind::Acc { op, map, of: x } => {
                let x = of(x)?;
                let wide = accumulator(*op, field.dtype);
                let mut values = vec![op.neutral(wide); points];
                let mut events = vec![Events::default(); points];
                for (at, (&value, &event)) in places(map)?.into_iter().zip(x.values.iter().zip(&x.events)) {
                    let at = at?;
                    let (slot, seen) = (values.get_mut(at)?, events.get_mut(at)?);
                    let value = eval::convert(wide, value);
                    let next = eval::acc(*op, *slot, value)?;
                    let step = op.binary().map_or(Events::default(), |op| of_binary(op, *slot, value, next));
                    *seen = seen.and(event).and(step);
                    *slot = next;
                }
                for (value, seen) in values.iter_mut().zip(&mut events) {
                    let narrow = eval::convert(field.dtype, *value);
                    let lost = is_finite(*value) && !is_finite(narrow);
                    *seen = seen.and(Events::when(lost, Events::OVERFLOW)).and(of_value(narrow));
                    *value = narrow;
                }
                Evaluated { values, events }
            }
            FieldKind::Unary { op, x } => pointwise(of(x)?, |x| {
                let value = functions.unary(*op, x, eval::unary(*op, x)?);
                Some((value, of_unary(*op, x, value)))
            })?,
            FieldKind::Binary { op, x, y } => {
                let (x, y) = (of(x)?, of(y)?);
                let mut result = Evaluated { values: Vec::with_capacity(points), events: Vec::new() };
                for (i, (&a, &b)) in x.values.iter().zip(&y.values).enumerate() {
                    let value = functions.binary(*op, a, b, eval::binary(*op, a, b)?);
                    let event = of_binary(*op, a, b, value).and(of_value(value));
                    result.values.push(value);
                    result.events.push(event.and(x.events[i]).and(y.events[i]));
                }
                result
            }
            FieldKind::Select { cond, on_true, on_false } => {
                let (c, t, f) = (of(cond)?, of(on_true)?, of(on_false)?);
                let choose = |i: usize| {
                    let taken = if c.values[i].is_true() { t } else { f };
                    (taken.values[i], taken.events[i].and(c.events[i]))
                };
                let (values, events) = (0..points).map(choose).unzip();
                Evaluated { values, events }
            }
            FieldKind::Convert { x } => pointwise(of(x)?, |x| {
                let value = eval::convert(field.dtype, x);
                Some((value, lost(x, value)))
            })?,
            FieldKind::Bitcast { x } => {
                pointwise(of(x)?, |x| Some((eval::bitcast(field.dtype, x)?, Events::default())))?
            }
            FieldKind::ReducePrecision { exponent, mantissa, x } => pointwise(of(x)?, |x| {
                let value = eval::reduce_precision(*exponent, *mantissa, x)?;
                Some((value, lost(x, value)))
            })?,
        };
        if evaluated.values.len() != points {
            return None;
        }
        done.insert(id, evaluated);
    }
    Some(done)
}

fn pointwise(x: &Evaluated, f: impl Fn(Scalar) -> Option<(Scalar, Events)>) -> Option<Evaluated> {
    let one = |(&value, &before): (&Scalar, &Events)| {
        let (value, event) = f(value)?;
        Some((value, before.and(event).and(of_value(value))))
    };
    let pairs: Option<Vec<_>> = x.values.iter().zip(&x.events).map(one).collect();
    let (values, events) = pairs?.into_iter().unzip();
    Some(Evaluated { values, events })
}

/// Is it a finite number, or no float at all?
pub(crate) fn is_finite(value: Scalar) -> bool {
    match value.dtype() {
        d if d.is_float() => value.as_f64().is_finite(),
        d if d.is_complex() => value.as_complex().is_finite(),
        _ => true,
    }
}

/// The type that the interpreter accumulates in.
pub(crate) fn accumulator(op: AccOp, dtype: DType) -> DType {
    match (op, dtype) {
        (AccOp::Add | AccOp::Mul, DType::F16 | DType::BF16) => DType::F32,
        _ => dtype,
    }
}

fn of_value(value: Scalar) -> Events {
    Events::when(!is_finite(value), Events::NOT_FINITE)
}

/// A finite number that a conversion makes infinite.
fn lost(x: Scalar, value: Scalar) -> Events {
    Events::when(is_finite(x) && !is_finite(value), Events::FUNCTION)
}

/// Does the integer type hold the value?
fn holds(dtype: DType, value: Option<i128>) -> bool {
    value.is_some_and(|v| dtype.holds(v))
}

fn of_unary(op: UnaryOp, x: Scalar, value: Scalar) -> Events {
    use UnaryOp::*;
    match op {
        Neg | Abs if x.dtype().is_int() => {
            let exact = x.as_i128().map(|v| if op == Neg { -v } else { v.abs() });
            Events::when(!holds(x.dtype(), exact), Events::WRAPPED)
        }
        // What has a pole is infinite there; these are not.
        Exp | Expm1 | Sinh | Cosh | Lgamma if !is_finite(value) => {
            Events::when(is_finite(x) && x.as_f64().abs() > 2.0, Events::FUNCTION)
        }
        Exp | Logistic | Erfc => Events::when(is_finite(x) && is_zero(value), Events::VANISHED),
        _ => Events::default(),
    }
}

fn of_binary(op: BinaryOp, x: Scalar, y: Scalar, value: Scalar) -> Events {
    use BinaryOp::*;
    let dtype = x.dtype();
    if dtype.is_int() {
        let (Some(a), Some(b)) = (x.as_i128(), y.as_i128()) else { return Events::default() };
        let exact = match op {
            Add => a.checked_add(b),
            Sub => a.checked_sub(b),
            Mul => a.checked_mul(b),
            Div if b == -1 => a.checked_neg(),
            Shl => u32::try_from(b).ok().filter(|&b| b < dtype.bits()).and_then(|b| a.checked_mul(1 << b)),
            Pow => return Events::when(!power_holds(dtype, a, b), Events::WRAPPED),
            _ => return Events::default(),
        };
        return Events::when(!holds(dtype, exact), Events::WRAPPED);
    }
    if !(dtype.is_float() || dtype.is_complex()) || !matches!(op, Add | Sub | Mul | Div | Pow) {
        return Events::default();
    }
    if is_finite(value) {
        let gone =
            matches!(op, Mul | Div | Pow) && is_zero(value) && !is_zero(x) && (op == Pow || !is_zero(y));
        return Events::when(gone && is_finite(y) && is_finite(x), Events::UNDERFLOW);
    }
    let pole = match op {
        Div => is_zero(y),
        // NaN where the base is negative, infinite where it is zero.
        Pow => is_zero(x) || value.as_complex().is_nan(),
        _ => false,
    };
    Events::when(is_finite(x) && is_finite(y) && !pole, Events::OVERFLOW)
}

fn is_zero(value: Scalar) -> bool {
    match value.dtype() {
        d if d.is_float() => value.as_f64() == 0.0,
        d if d.is_complex() => {
            let z = value.as_complex();
            z.re == 0.0 && z.im == 0.0
        }
        _ => value.bits() == 0,
    }
}

/// Is the power of two integers in the range of the type?
fn power_holds(dtype: DType, base: i128, exponent: i128) -> bool {
    if exponent < 0 || matches!(base, -1..=1) {
        return true;
    }
    // A base of at least 2 leaves every type after 64 steps.
    let exponent = exponent.min(64) as u32;
    holds(dtype, base.checked_pow(exponent))
}

#[cfg(test)]
mod tests;
