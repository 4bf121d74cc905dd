//! Which function of single elements an elementwise operation is. Tensors and the regions of reductions, sorts and the
//! like use the same functions.

use super::super::error::{Error, Result};
use super::super::number::{C, Class, Elements, Int, Scalar, class, settle, total_key};
use super::convert::{Convert, Precision};
use super::{complex, inverse, real, special};
use crate::float;
use crate::module::Op;
use crate::types::ElementType;

/// A function of up to three elements, and the type that its result is rounded to.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) function: Function,
    pub(crate) result: ElementType,
}

#[derive(Clone, Debug)]
pub(crate) enum Function {
    F1(fn(f64) -> f64),
    F2(fn(f64, f64) -> f64),
    FloatTest(fn(f64) -> bool),
    FloatCompare(fn(f64, f64) -> bool),
    I1(fn(i64, Int) -> i64, Int),
    I2(fn(i64, i64, Int) -> i64, Int),
    IntCompare(fn(i64, i64, Int) -> bool, Int),
    C1(fn(C) -> C),
    C2(fn(C, C) -> C),
    CF(fn(C) -> f64),
    ComplexCompare(fn(C, C) -> bool),
    /// A complex number of two parts.
    Complex,
    Convert(Convert),
    Precision(Precision, ElementType),
    NextAfter(ElementType),
    Select,
    Clamp(Box<(Function, Function)>),
}

impl Kernel {
    /// The function of single elements; its arguments are of the types that it was made for.
    pub(crate) fn apply(&self, args: &[Scalar]) -> Scalar {
        settle(&self.result, self.function.apply(args))
    }

    /// The function on every element. A single element stands for as many as the others have.
    pub(crate) fn map(&self, args: &[Elements], n: usize) -> Elements {
        use Elements as E;
        let f = match (&self.function, args) {
            (Function::F1(f), [E::F(a)]) => return E::F(a.iter().map(|x| f(*x)).collect()),
            (Function::F2(f), [E::F(a), E::F(b)]) if a.len() == n && b.len() == n => {
                return E::F(a.iter().zip(b).map(|(x, y)| f(*x, *y)).collect());
            }
            (Function::FloatCompare(f), [E::F(a), E::F(b)]) if a.len() == n && b.len() == n => {
                return E::I(a.iter().zip(b).map(|(x, y)| f(*x, *y).into()).collect());
            }
            (Function::I1(f, t), [E::I(a)]) => return E::I(a.iter().map(|x| f(*x, *t)).collect()),
            (Function::I2(f, t), [E::I(a), E::I(b)]) if a.len() == n && b.len() == n => {
                return E::I(a.iter().zip(b).map(|(x, y)| f(*x, *y, *t)).collect());
            }
            (Function::IntCompare(f, t), [E::I(a), E::I(b)]) if a.len() == n && b.len() == n => {
                return E::I(a.iter().zip(b).map(|(x, y)| f(*x, *y, *t).into()).collect());
            }
            (Function::C2(f), [E::C(a), E::C(b)]) if a.len() == n && b.len() == n => {
                return E::C(a.iter().zip(b).map(|(x, y)| f(*x, *y)).collect());
            }
            (f, _) => f,
        };
        let mut row = Vec::with_capacity(args.len());
        let mut result = match class(&self.result) {
            Ok(Class::F) => E::F(Vec::with_capacity(n)),
            Ok(Class::C) => E::C(Vec::with_capacity(n)),
            _ => E::I(Vec::with_capacity(n)),
        };
        for i in 0..n {
            row.clear();
            row.extend(args.iter().map(|arg| arg.at(i)));
            match (&mut result, f.apply(&row)) {
                (E::I(out), v) => out.push(v.int()),
                (E::F(out), v) => out.push(v.float()),
                (E::C(out), v) => out.push(v.complex()),
            }
        }
        result
    }
}

impl Function {
    fn apply(&self, args: &[Scalar]) -> Scalar {
        let bool = |b: bool| Scalar::I(i64::from(b));
        match self {
            Function::F1(f) => Scalar::F(f(args[0].float())),
            Function::F2(f) => Scalar::F(f(args[0].float(), args[1].float())),
            Function::FloatTest(f) => bool(f(args[0].float())),
            Function::FloatCompare(f) => bool(f(args[0].float(), args[1].float())),
            Function::I1(f, t) => Scalar::I(f(args[0].int(), *t)),
            Function::I2(f, t) => Scalar::I(f(args[0].int(), args[1].int(), *t)),
            Function::IntCompare(f, t) => bool(f(args[0].int(), args[1].int(), *t)),
            Function::C1(f) => Scalar::C(f(args[0].complex())),
            Function::C2(f) => Scalar::C(f(args[0].complex(), args[1].complex())),
            Function::CF(f) => Scalar::F(f(args[0].complex())),
            Function::ComplexCompare(f) => bool(f(args[0].complex(), args[1].complex())),
            Function::Complex => Scalar::C(C::new(args[0].float(), args[1].float())),

            Function::Convert(convert) => convert.apply(args[0]),
            Function::Precision(precision, element) => {
                let bits = float::encode(element, args[0].float()).unwrap_or(0);
                Scalar::F(float::decode(element, precision.bits(bits)).unwrap_or(f64::NAN))
            }
            Function::NextAfter(element) => Scalar::F(next_after(element, args[0].float(), args[1].float())),
            Function::Select => args[if args[0].int() != 0 { 1 } else { 2 }],
            Function::Clamp(bounds) => {
                let raised = bounds.0.apply(&[args[0], args[1]]);
                bounds.1.apply(&[raised, args[2]])
            }
        }
    }
}

/// The next value of the type towards another.
fn next_after(element: &ElementType, x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if x == y {
        return y;
    }
    let (Some(bits), Some(width)) = (float::encode(element, x), element.bits()) else { return f64::NAN };
    let sign = 1u64 << (width - 1);
    let next = match (x == 0.0, (x > 0.0) == (y > x)) {
        (true, _) => 1 | if y < 0.0 { sign } else { 0 },
        (false, true) => bits + 1,
        (false, false) => bits - 1,
    };
    float::decode(element, next).unwrap_or(f64::NAN)
}

/// The function of an elementwise operation on elements of the given types, as for quantized types their expressed
/// types; none if the operation is none of these. The name goes without its dialect and `broadcast_`.
pub(crate) fn kernel(
    name: &str,
    op: &Op,
    operands: &[ElementType],
    result: &ElementType,
) -> Result<Option<Kernel>> {
    let done = |function: Function| Ok(Some(Kernel { function, result: result.clone() }));
    let Some(first) = operands.first() else { return Ok(None) };
    match (name, operands.len()) {
        ("convert", 1) => return done(Function::Convert(Convert::new(first, result)?)),
        ("select", 3) => return done(Function::Select),
        ("reduce_precision", 1) => {
            let precision = Precision::new(first, op.int("exponent_bits")?, op.int("mantissa_bits")?)?;
            return done(Function::Precision(precision, first.clone()));
        }
        ("complex", 2) => return done(Function::Complex),
        ("next_after", 2) => return done(Function::NextAfter(first.clone())),
        ("compare", 2) => {
            let total = op.compare_type() == Some("TOTALORDER");
            return match compare(op.compare_direction()?, total, first)? {
                Some(function) => done(function),
                None => Err(Error::unsupported(format!("an order of {first}"))),
            };
        }
        ("clamp", 3) => {
            let side = |name| by_name(name, first);
            return match (side("maximum")?, side("minimum")?) {
                (Some(low), Some(high)) => done(Function::Clamp(Box::new((low, high)))),
                _ => Ok(None),
            };
        }
        _ => {}
    }
    let Some(function) = by_name(name, first)? else { return Ok(None) };
    let arity = match function {
        Function::F2(_) | Function::FloatCompare(_) | Function::I2(..) | Function::IntCompare(..) => 2,
        Function::C2(_) | Function::ComplexCompare(_) => 2,
        _ => 1,
    };
    if arity != operands.len() {
        return Ok(None);
    }
    done(function)
}

fn by_name(name: &str, element: &ElementType) -> Result<Option<Function>> {
    Ok(match class(element)? {
        Class::F => float_function(name),
        Class::C => complex_function(name),
        Class::I => Int::of(element).and_then(|int| int_function(name, int)),
    })
}

pub(crate) fn compare(direction: &str, total: bool, element: &ElementType) -> Result<Option<Function>> {
    Ok(Some(match (class(element)?, direction) {
        (Class::F, "EQ") if total => Function::FloatCompare(|a, b| total_key(a) == total_key(b)),
        (Class::F, "NE") if total => Function::FloatCompare(|a, b| total_key(a) != total_key(b)),
        (Class::F, "LT") if total => Function::FloatCompare(|a, b| total_key(a) < total_key(b)),
        (Class::F, "LE") if total => Function::FloatCompare(|a, b| total_key(a) <= total_key(b)),
        (Class::F, "GT") if total => Function::FloatCompare(|a, b| total_key(a) > total_key(b)),
        (Class::F, "GE") if total => Function::FloatCompare(|a, b| total_key(a) >= total_key(b)),
        (Class::F, "EQ") => Function::FloatCompare(|a, b| a == b),
        (Class::F, "NE") => Function::FloatCompare(|a, b| a != b),
        (Class::F, "LT") => Function::FloatCompare(|a, b| a < b),
        (Class::F, "LE") => Function::FloatCompare(|a, b| a <= b),
        (Class::F, "GT") => Function::FloatCompare(|a, b| a > b),
        (Class::F, "GE") => Function::FloatCompare(|a, b| a >= b),
        (Class::C, "EQ") => Function::ComplexCompare(complex::equal),
        (Class::C, "NE") => Function::ComplexCompare(complex::unequal),
        (Class::C, _) => return Ok(None),
        (Class::I, direction) => {
            let Some(int) = Int::of(element) else { return Ok(None) };
            let function: fn(i64, i64, Int) -> bool = match direction {
                "EQ" => |a, b, _| a == b,
                "NE" => |a, b, _| a != b,
                "LT" => |a, b, t| t.less(a, b),
                "LE" => |a, b, t| !t.less(b, a),
                "GT" => |a, b, t| t.less(b, a),
                "GE" => |a, b, t| !t.less(a, b),
                _ => return Ok(None),
            };
            Function::IntCompare(function, int)
        }
        _ => return Ok(None),
    }))
}

fn float_function(name: &str) -> Option<Function> {
    Some(match name {
        "abs" => Function::F1(f64::abs),
        "negate" => Function::F1(|x| -x),
        "cbrt" => Function::F1(libm::cbrt),
        "ceil" => Function::F1(f64::ceil),
        "floor" => Function::F1(f64::floor),
        "round_nearest_afz" => Function::F1(f64::round),
        "round_nearest_even" => Function::F1(f64::round_ties_even),
        "cosine" => Function::F1(libm::cos),
        "sine" => Function::F1(libm::sin),
        "tan" => Function::F1(libm::tan),
        "tanh" => Function::F1(libm::tanh),
        "exponential" => Function::F1(libm::exp),
        "exponential_minus_one" => Function::F1(libm::expm1),
        "log" => Function::F1(libm::log),
        "log_plus_one" => Function::F1(libm::log1p),
        "logistic" => Function::F1(real::logistic),
        "rsqrt" => Function::F1(real::rsqrt),
        "sqrt" => Function::F1(f64::sqrt),
        "sign" => Function::F1(real::sign),
        "real" | "conj" => Function::F1(|x| x),
        "imag" => Function::F1(|_| 0.0),
        "is_finite" => Function::FloatTest(f64::is_finite),
        "is_inf" => Function::FloatTest(f64::is_infinite),
        "is_pos_inf" => Function::FloatTest(|x| x == f64::INFINITY),
        "is_neg_inf" => Function::FloatTest(|x| x == f64::NEG_INFINITY),
        "acos" => Function::F1(libm::acos),
        "acosh" => Function::F1(special::acosh),
        "asin" => Function::F1(libm::asin),
        "asinh" => Function::F1(libm::asinh),
        "atan" => Function::F1(libm::atan),
        "atanh" => Function::F1(libm::atanh),
        "cosh" => Function::F1(libm::cosh),
        "sinh" => Function::F1(libm::sinh),
        "erf" => Function::F1(libm::erf),
        "erfc" => Function::F1(libm::erfc),
        "erf_inv" => Function::F1(special::erf_inv),
        "lgamma" => Function::F1(libm::lgamma),
        "digamma" => Function::F1(special::digamma),
        "bessel_i1e" => Function::F1(special::bessel_i1e),
        "square" => Function::F1(|x| x * x),
        "add" => Function::F2(|x, y| x + y),
        "subtract" => Function::F2(|x, y| x - y),
        "multiply" => Function::F2(|x, y| x * y),
        "divide" => Function::F2(|x, y| x / y),
        "remainder" => Function::F2(libm::fmod),
        "power" => Function::F2(libm::pow),
        "atan2" => Function::F2(libm::atan2),
        "maximum" => Function::F2(real::maximum),
        "minimum" => Function::F2(real::minimum),
        "zeta" => Function::F2(special::zeta),
        "polygamma" => Function::F2(special::polygamma),
        _ => return None,
    })
}

fn complex_function(name: &str) -> Option<Function> {
    Some(match name {
        "abs" => Function::CF(complex::abs),
        "real" => Function::CF(|z| z.re),
        "imag" => Function::CF(|z| z.im),
        "negate" => Function::C1(complex::neg),
        "sign" => Function::C1(complex::sign),
        "cbrt" => Function::C1(complex::cbrt),
        "exponential" => Function::C1(complex::exp),
        "exponential_minus_one" => Function::C1(complex::expm1),
        "log" => Function::C1(complex::log),
        "log_plus_one" => Function::C1(complex::log1p),
        "logistic" => Function::C1(complex::logistic),
        "sqrt" => Function::C1(complex::sqrt),
        "rsqrt" => Function::C1(complex::rsqrt),
        "sine" => Function::C1(complex::sin),
        "cosine" => Function::C1(complex::cos),
        "tan" => Function::C1(complex::tan),
        "tanh" => Function::C1(complex::tanh),
        "sinh" => Function::C1(complex::sinh),
        "cosh" => Function::C1(complex::cosh),
        "asin" => Function::C1(inverse::asin),
        "acos" => Function::C1(inverse::acos),
        "atan" => Function::C1(inverse::atan),
        "_asin_acos_kernel" => Function::C1(inverse::asin_acos_kernel),
        "asinh" => Function::C1(inverse::asinh),
        "acosh" => Function::C1(inverse::acosh),
        "atanh" => Function::C1(inverse::atanh),
        "square" => Function::C1(complex::square),
        "conj" => Function::C1(complex::conj),
        "add" => Function::C2(complex::add),
        "subtract" => Function::C2(complex::sub),
        "multiply" => Function::C2(complex::mul),
        "divide" => Function::C2(complex::div),
        "power" => Function::C2(complex::pow),
        "atan2" => Function::C2(complex::atan2),
        "maximum" => Function::C2(complex::maximum),
        "minimum" => Function::C2(complex::minimum),
        _ => return None,
    })
}

fn int_function(name: &str, int: Int) -> Option<Function> {
    let logic = int.bits == 1;
    let two: fn(i64, i64, Int) -> i64 = match name {
        "add" if logic => |a, b, _| a | b,
        "subtract" if logic => |a, b, _| a ^ b,
        "add" => |a, b, _| a.wrapping_add(b),
        "subtract" => |a, b, _| a.wrapping_sub(b),
        "multiply" => |a, b, _| a.wrapping_mul(b),
        "divide" => real::int_div,
        "remainder" => real::int_rem,
        "power" => real::int_pow,
        "maximum" => real::int_max,
        "minimum" => real::int_min,
        "and" => |a, b, _| a & b,
        "or" => |a, b, _| a | b,
        "xor" => |a, b, _| a ^ b,
        "shift_left" => real::shift_left,
        "shift_right_logical" => real::shift_right_logical,
        "shift_right_arithmetic" => real::shift_right_arithmetic,
        "mulhi" => real::int_mulhi,
        _ => {
            let one: fn(i64, Int) -> i64 = match name {
                "abs" => real::int_abs,
                "sign" => real::int_sign,
                "negate" => |a, _| a.wrapping_neg(),
                "not" => |a, _| !a,
                "popcnt" => real::ones,
                "count_leading_zeros" => real::leading_zeros,
                "square" => |a, _| a.wrapping_mul(a),
                "real" | "conj" => |a, _| a,
                _ => return None,
            };
            return Some(Function::I1(one, int));
        }
    };
    Some(Function::I2(two, int))
}
