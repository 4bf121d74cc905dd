//! The scalar semantics: what every operation does to one element.
//!
//! This is the definition that the reference interpreter runs and that constant folding and rule checking ask.
//!
//! * `f32` and `f64` are computed in their own precision; `f16` and `bf16` are computed in `f32` and rounded
//!   once to nearest even; `c64` is computed with `f64` parts, `c128` in its own precision.
//! * Integers wrap. Division by zero gives all bits set, remainder by zero the dividend; the most negative
//!   integer divided by −1 stays, with remainder 0. Shift amounts are read as unsigned numbers.
//! * A float converted to an integer is truncated towards zero and saturates; NaN gives 0 (as XLA on CPU).
//!   Anything converted to `i1` is `≠ 0`. A complex number converted to a real type gives its real part.
//!
//! `None` means that the operation is not defined for the element types, exactly where
//! [`UnaryOp::result`] and [`BinaryOp::result`] say so. Nothing here panics.

mod complex;
mod float;

use crate::{AccOp, BinaryOp, DType, Scalar, UnaryOp};
use half::{bf16, f16};
use num_complex::Complex;
use std::cmp::Ordering;

/// A unary operation.
pub fn unary(op: UnaryOp, x: Scalar) -> Option<Scalar> {
    use UnaryOp::*;
    let result = op.result(x.dtype())?;
    Some(match x.dtype() {
        DType::F32 if result == DType::F32 => of_f32(float::unary(op, f32_of(x))),
        d if d.is_float() => match op {
            IsFinite => Scalar::bool(x.as_f64().is_finite()),
            Neg => Scalar::from_bits(d, x.bits() ^ sign_bit(d)),
            Abs => Scalar::from_bits(d, x.bits() & !sign_bit(d)),
            Real => x,
            _ if d == DType::F64 => Scalar::from_f64(d, float::unary(op, x.as_f64())),
            _ => round_f32(d, float::unary(op, x.as_f64() as f32)),
        },
        d if d.is_complex() => match op {
            Abs => Scalar::from_f64(result, complex::abs(x.as_complex())),
            Real => Scalar::from_bits(result, x.bits()),
            Imag => Scalar::from_bits(result, x.bits() >> result.bits()),
            _ => Scalar::from_complex(d, complex::unary(op, x.as_complex())),
        },
        d => {
            let value = x.as_i128()?;
            let bits = d.bits();
            Scalar::from_i128(
                d,
                match op {
                    Neg => -value,
                    Abs => value.abs(),
                    Sign => value.signum(),
                    Popcount => x.bits().count_ones().into(),
                    CountLeadingZeros => (x.bits().leading_zeros() - (128 - bits)).into(),
                    Not if d.is_bool() => (value == 0).into(),
                    Not => !value,
                    _ => return None,
                },
            )
        }
    })
}

/// A binary operation.
pub fn binary(op: BinaryOp, x: Scalar, y: Scalar) -> Option<Scalar> {
    let dtype = x.dtype();
    let result = op.result(dtype, y.dtype())?;
    if op == BinaryOp::Complex {
        return Some(Scalar::from_bits(result, x.bits() | y.bits() << dtype.bits()));
    }
    if op == BinaryOp::NextAfter {
        return Some(next_after(x, y));
    }
    match dtype {
        DType::F32 if op.is_comparison() => Some(Scalar::bool(float::compare(op, f32_of(x), f32_of(y))?)),
        DType::F32 => Some(of_f32(float::binary(op, f32_of(x), f32_of(y))?)),
        d if d.is_float() && op.is_comparison() => {
            Some(Scalar::bool(float::compare(op, x.as_f64(), y.as_f64())?))
        }
        DType::F64 => Some(Scalar::from_f64(dtype, float::binary(op, x.as_f64(), y.as_f64())?)),
        d if d.is_float() => Some(round_f32(d, float::binary(op, x.as_f64() as f32, y.as_f64() as f32)?)),
        d if d.is_complex() => {
            let (a, b) = (x.as_complex(), y.as_complex());
            match op {
                BinaryOp::Eq => Some(Scalar::bool(a == b)),
                BinaryOp::Ne => Some(Scalar::bool(a != b)),
                // What is chosen is an operand, bit for bit.
                BinaryOp::Max | BinaryOp::Min => Some(if complex::first_wins(op, a, b) { x } else { y }),
                // In the type of the parts, which overflow as they do in compiled code.
                BinaryOp::Mul if d == DType::C64 => {
                    let part = |z: Complex<f64>| Complex::new(z.re as f32, z.im as f32);
                    let z = part(a) * part(b);
                    Some(Scalar::from_complex(d, Complex::new(z.re.into(), z.im.into())))
                }
                _ => Some(Scalar::from_complex(d, complex::binary(op, a, b)?)),
            }
        }
        _ => integer(op, x, y),
    }
}

/// Joins two partial results of an accumulation. For `set` the later one stays.
pub fn acc(op: AccOp, x: Scalar, y: Scalar) -> Option<Scalar> {
    match op.binary() {
        Some(op) => binary(op, x, y),
        None => (x.dtype() == y.dtype()).then_some(y),
    }
}

/// The value as another element type, as StableHLO's `convert`.
pub fn convert(to: DType, x: Scalar) -> Scalar {
    let from = x.dtype();
    if from == to {
        return x;
    }
    if to.is_bool() {
        return Scalar::bool(if from.is_float() || from.is_complex() {
            let z = x.as_complex();
            z.re != 0.0 || z.im != 0.0
        } else {
            x.bits() != 0
        });
    }
    let narrow = matches!(to, DType::F16 | DType::BF16);
    match x.as_i128() {
        Some(value) if narrow => {
            let near = value as f32;
            // `near as i128` saturates nowhere: 64-bit integers are far inside the range of f32.
            round_f32(to, to_odd(near, (near as i128).cmp(&value)))
        }
        Some(value) => Scalar::from_i128(to, value),
        None if narrow => {
            let near = x.as_f64() as f32;
            let side = f64::from(near).partial_cmp(&x.as_f64()).unwrap_or(Ordering::Equal);
            round_f32(to, to_odd(near, side))
        }
        None if to.is_complex() => Scalar::from_complex(to, x.as_complex()),
        None => Scalar::from_f64(to, x.as_f64()),
    }
}

/// The bits as another element type of the same width.
pub fn bitcast(to: DType, x: Scalar) -> Option<Scalar> {
    (to.bits() == x.dtype().bits()).then(|| Scalar::from_bits(to, x.bits()))
}

/// A float rounded (to nearest even) to this many mantissa bits and clamped to what this many exponent bits
/// reach: larger values become infinite, smaller ones zero, there are no subnormals. NaN stays, also where
/// there is no mantissa bit to say so, as in XLA.
pub fn reduce_precision(exponent: u32, mantissa: u32, x: Scalar) -> Option<Scalar> {
    let dtype = x.dtype();
    let (exponent_bits, mantissa_bits) = float_format(dtype)?;
    if exponent == 0 {
        return None;
    }
    let sign = x.bits() & sign_bit(dtype);
    let infinity = ((1u128 << exponent_bits) - 1) << mantissa_bits;
    let mut bits = x.bits() ^ sign;
    if bits > infinity {
        return Some(x);
    }
    if mantissa < mantissa_bits {
        let last = 1u128 << (mantissa_bits - mantissa);
        let odd = (bits & last != 0) as u128;
        bits = (bits + (last >> 1) - 1 + odd) & !(last - 1);
    }
    if exponent < exponent_bits {
        let bias = (1u128 << (exponent_bits - 1)) - 1;
        let reach = (1u128 << (exponent - 1)) - 1;
        let power = bits >> mantissa_bits;
        if power > bias + reach {
            bits = infinity;
        } else if power <= bias - reach {
            bits = 0;
        }
    }
    Some(Scalar::from_bits(dtype, bits | sign))
}

/// The bits of the exponent and of the mantissa of a float type.
fn float_format(dtype: DType) -> Option<(u32, u32)> {
    Some(match dtype {
        DType::F16 => (5, 10),
        DType::BF16 => (8, 7),
        DType::F32 => (8, 23),
        DType::F64 => (11, 52),
        _ => return None,
    })
}

fn sign_bit(float: DType) -> u128 {
    1 << (float.bits() - 1)
}

fn f32_of(x: Scalar) -> f32 {
    f32::from_bits(x.bits() as u32)
}

fn of_f32(value: f32) -> Scalar {
    Scalar::from_bits(DType::F32, value.to_bits().into())
}

/// Rounds an `f32` to `f16` or `bf16`.
fn round_f32(dtype: DType, value: f32) -> Scalar {
    let bits =
        if dtype == DType::F16 { f16::from_f32(value).to_bits() } else { bf16::from_f32(value).to_bits() };
    Scalar::from_bits(dtype, bits.into())
}

/// The float beside the exact value with an odd last bit, given the nearest float and how it compares to the
/// exact value. Rounding it once more rounds as if the exact value were rounded.
fn to_odd(near: f32, side: Ordering) -> f32 {
    let bits = near.to_bits();
    if side == Ordering::Equal || near.is_nan() || bits & 1 == 1 {
        return near;
    }
    // The even one was chosen: the odd one is its neighbour on the other side of the exact value.
    let away = (side == Ordering::Less) == (near >= 0.0 && near.is_sign_positive());
    match near.to_bits() << 1 {
        // Zero has no neighbour towards zero; the exact value has the sign of zero or is below f32's range.
        0 => f32::from_bits(bits | 1),
        _ if away => f32::from_bits(bits + 1),
        _ => f32::from_bits(bits - 1),
    }
}

/// The neighbour of `x` in the direction of `y`; `y` when they are equal, NaN when one is NaN.
fn next_after(x: Scalar, y: Scalar) -> Scalar {
    let (a, b) = (x.as_f64(), y.as_f64());
    if a.is_nan() {
        return x;
    }
    if b.is_nan() || a == b {
        return y;
    }
    let sign = sign_bit(x.dtype());
    let bits = if a == 0.0 {
        1 | (y.bits() & sign)
    } else if (a < b) == (a > 0.0) {
        // Away from zero: the bits of a float grow with its magnitude.
        x.bits() + 1
    } else {
        x.bits() - 1
    };
    Scalar::from_bits(x.dtype(), bits)
}

/// Binary operations on integers and `i1`.
fn integer(op: BinaryOp, x: Scalar, y: Scalar) -> Option<Scalar> {
    use BinaryOp::*;
    let dtype = x.dtype();
    let (a, b) = (x.as_i128()?, y.as_i128()?);
    let truth = match op {
        Eq => a == b,
        Ne => a != b,
        Lt => a < b,
        Le => a <= b,
        Gt => a > b,
        Ge => a >= b,
        _ => {
            let logical = dtype.is_bool();
            let width = dtype.bits();
            // Amounts beyond the width, also the negative ones, shift everything out.
            let amount = u32::try_from(y.bits()).ok().filter(|&n| n < width);
            return Some(Scalar::from_i128(
                dtype,
                match op {
                    Add | Max if logical => a | b,
                    Mul | Min if logical => a & b,
                    Add => a + b,
                    Sub => a - b,
                    // Two 64-bit unsigned factors may pass 2¹²⁷; the low bits are right all the same.
                    Mul => a.wrapping_mul(b),
                    Div if b == 0 => -1,
                    Div => a / b,
                    Rem if b == 0 => a,
                    Rem => a % b,
                    Max => a.max(b),
                    Min => a.min(b),
                    Pow => power(a, b),
                    And => a & b,
                    Or => a | b,
                    Xor => a ^ b,
                    Shl => amount.map_or(0, |n| a.wrapping_shl(n)),
                    // The highest bit counts as the sign, of unsigned numbers as well.
                    ShrArith => (a << (128 - width)) >> (128 - width + amount.unwrap_or(width - 1)),
                    ShrLogical => amount.map_or(0, |n| (x.bits() >> n) as i128),
                    _ => return None,
                },
            ));
        }
    };
    Some(Scalar::bool(truth))
}

/// `base ^ exponent` modulo 2¹²⁸.
fn power(base: i128, exponent: i128) -> i128 {
    if exponent < 0 {
        return match base {
            1 => 1,
            -1 if exponent % 2 == 0 => 1,
            -1 => -1,
            _ => 0,
        };
    }
    let (mut result, mut square, mut rest) = (1i128, base, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        rest >>= 1;
    }
    result
}

#[cfg(test)]
mod tests;
