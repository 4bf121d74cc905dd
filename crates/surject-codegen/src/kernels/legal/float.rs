//! Operations on `f32` and `f64` by those that are rounded once, and by their bits.

use super::{Arithmetic, Missing, functions};
use surject_ir::{BinaryOp, DType, Scalar, UnaryOp};
use surject_kernel::rewrite::Lines;
use surject_kernel::{Affine, Type, Value};

/// The unsigned integer of the width of a float.
pub(super) fn bits_of(dtype: DType) -> DType {
    match dtype {
        DType::F64 => DType::U64,
        DType::F32 => DType::U32,
        _ => DType::U16,
    }
}

/// How the bits of a float are divided.
struct Format {
    exponent_bits: u32,
    mantissa_bits: u32,
}

fn format(dtype: DType) -> Format {
    let (exponent_bits, mantissa_bits) = match dtype {
        DType::F64 => (11, 52),
        DType::F32 => (8, 23),
        DType::BF16 => (8, 7),
        _ => (5, 10),
    };
    Format { exponent_bits, mantissa_bits }
}

/// A number with the sign of another.
pub(super) fn with_sign(lines: &mut Lines<'_>, x: Value, sign: Value) -> Value {
    let dtype = lines.ty(x).dtype;
    let (a, b) = (lines.bitcast(x, bits_of(dtype)), lines.bitcast(sign, bits_of(dtype)));
    let last = dtype.bits() - 1;
    let (top, rest) = (lines.integer(1 << last, a), lines.integer((1 << last) - 1, a));
    let (a, b) = (lines.binary(BinaryOp::And, a, rest), lines.binary(BinaryOp::And, b, top));
    let bits = lines.binary(BinaryOp::Or, a, b);
    lines.bitcast(bits, dtype)
}

pub(super) fn unary(
    lines: &mut Lines<'_>,
    arithmetic: Arithmetic,
    op: UnaryOp,
    x: Value,
) -> Result<Value, Missing> {
    use UnaryOp::*;
    Ok(match op {
        Neg | Abs | Sqrt | Floor | Ceil | RoundEven => lines.unary(op, x),
        Real => x,
        Imag => lines.float(0.0, x),
        Sign => {
            let (zero, one, less) = (lines.float(0.0, x), lines.float(1.0, x), lines.float(-1.0, x));
            let (above, below) = (lines.binary(BinaryOp::Gt, x, zero), lines.binary(BinaryOp::Lt, x, zero));
            let y = lines.select(below, less, x);
            lines.select(above, one, y)
        }
        IsFinite => {
            let (size, end) = (lines.unary(Abs, x), lines.float(f64::INFINITY, x));
            lines.binary(BinaryOp::Lt, size, end)
        }
        RoundAway => {
            let size = lines.unary(Abs, x);
            let whole = lines.unary(Floor, size);
            let rest = lines.binary(BinaryOp::Sub, size, whole);
            let half = lines.float(0.5, x);
            let up = lines.binary(BinaryOp::Ge, rest, half);
            let one = lines.float(1.0, x);
            let next = lines.binary(BinaryOp::Add, whole, one);
            let y = lines.select(up, next, whole);
            with_sign(lines, y, x)
        }
        Rsqrt => {
            let (root, one) = (lines.unary(Sqrt, x), lines.float(1.0, x));
            lines.binary(BinaryOp::Div, one, root)
        }
        _ => functions::unary(lines, arithmetic, op, x).ok_or_else(|| (op.to_string(), lines.ty(x).dtype))?,
    })
}

pub(super) fn binary(
    lines: &mut Lines<'_>,
    arithmetic: Arithmetic,
    op: BinaryOp,
    x: Value,
    y: Value,
) -> Result<Value, Missing> {
    use BinaryOp::*;
    Ok(match op {
        Add | Sub | Mul | Div | Max | Min | Eq | Ne | Lt | Le | Gt | Ge => lines.binary(op, x, y),
        Pow | Atan2 => functions::binary(lines, arithmetic, op, x, y),
        Rem => remainder(lines, arithmetic, x, y),
        _ => return Err((op.to_string(), lines.ty(x).dtype)),
    })
}

/// The same of every lane on its own.
pub(super) fn each_lane(
    lines: &mut Lines<'_>,
    args: &[Value],
    known: Value,
    mut f: impl FnMut(&mut Lines<'_>, &[Value], Value) -> Value,
) -> Value {
    let mut result = known;
    for lane in 0..lines.ty(known).lanes {
        let own: Vec<Value> = args.iter().map(|&a| lines.extract(a, lane)).collect();
        let one = lines.extract(known, lane);
        let value = f(lines, &own, one);
        result = lines.insert(result, lane, value);
    }
    result
}

/// The exact remainder of a division, with the sign of the dividend: that of whole numbers, a few digits of the quotient
/// at a time.
fn remainder(lines: &mut Lines<'_>, arithmetic: Arithmetic, x: Value, y: Value) -> Value {
    let ty = lines.ty(x);
    // Every `f32` is a normal `f64`.
    let (wide_x, wide_y) = (lines.convert(x, DType::F64), lines.convert(y, DType::F64));
    let (known, beyond) = functions::remainder(lines, wide_x, wide_y);
    if arithmetic.has_functions {
        let rest = functions::branch_where(lines, arithmetic, beyond, known, |lines| {
            each_lane(lines, &[wide_x, wide_y], known, |lines, args, _| {
                lines.binary(BinaryOp::Rem, args[0], args[1])
            })
        });
        return lines.convert(rest, ty.dtype);
    }
    let long = each_lane(lines, &[wide_x, wide_y, beyond], known, |lines, args, known| {
        let &[x, y, beyond] = args else { return known };
        lines.branch(beyond, Type::scalar(DType::F64), |lines| long_remainder(lines, x, y), |_| known)
    });
    lines.convert(long, ty.dtype)
}

/// The remainder of scalars.
fn long_remainder(lines: &mut Lines<'_>, x: Value, y: Value) -> Value {
    let (size, by) = (lines.unary(UnaryOp::Abs, x), lines.unary(UnaryOp::Abs, y));
    let (mx, ex) = whole(lines, size);
    let (my, ey) = whole(lines, by);
    // NaN where there is no remainder; a divisor of zero is replaced, so that nothing is undefined on the way.
    let (zero, infinity) = (lines.float(0.0, x), lines.float(f64::INFINITY, x));
    let (none, one) = (lines.integer(0, my), lines.integer(1, my));
    let is_none = lines.binary(BinaryOp::Eq, my, none);
    let my = lines.select(is_none, one, my);
    // mx 2^ex and my 2^ey: `ex − ey` more binary digits of the quotient, eight at a time.
    let digits = lines.binary(BinaryOp::Sub, ex, ey);
    let (no, eight, seven) = (lines.integer(0, digits), lines.integer(8, digits), lines.integer(7, digits));
    let digits = lines.binary(BinaryOp::Max, digits, no);
    let rounded = lines.binary(BinaryOp::Add, digits, seven);
    let steps = lines.binary(BinaryOp::Div, rounded, eight);
    // The first step takes what is over.
    let over = {
        let whole = lines.binary(BinaryOp::Mul, steps, eight);
        let less = lines.binary(BinaryOp::Sub, whole, digits);
        let less = lines.bitcast(less, DType::U64);
        let eight = lines.integer(8, less);
        lines.binary(BinaryOp::Sub, eight, less)
    };
    let some = lines.binary(BinaryOp::Gt, digits, no);
    let first = lines.select(some, over, none);
    let rest = lines.binary(BinaryOp::Rem, mx, my);
    let rest = lines.binary(BinaryOp::Shl, rest, first);
    let rest = lines.binary(BinaryOp::Rem, rest, my);
    let one_less = lines.integer(1, steps);
    let left = lines.binary(BinaryOp::Sub, steps, one_less);
    let rest = lines.repeat(Affine::from(left), rest, |lines, rest| {
        let eight = lines.integer(8, rest);
        let rest = lines.binary(BinaryOp::Shl, rest, eight);
        lines.binary(BinaryOp::Rem, rest, my)
    });
    // rest 2^ey, which is exact: by two powers, of which each is a normal number.
    let rest = lines.convert(rest, DType::F64);
    let half = {
        let one = lines.integer(1, ey);
        lines.binary(BinaryOp::ShrArith, ey, one)
    };
    let other = lines.binary(BinaryOp::Sub, ey, half);
    let mut value = rest;
    for power in [half, other] {
        let bias = lines.integer(1023, power);
        let exponent = lines.binary(BinaryOp::Add, power, bias);
        let place = lines.integer(52, exponent);
        let bits = lines.binary(BinaryOp::Shl, exponent, place);
        let power = lines.bitcast(bits, DType::F64);
        value = lines.binary(BinaryOp::Mul, value, power);
    }
    let smaller = lines.binary(BinaryOp::Lt, size, by);
    let value = lines.select(smaller, size, value);
    let value = with_sign(lines, value, x);
    let nan = lines.float(f64::NAN, x);
    let by_zero = lines.binary(BinaryOp::Eq, by, zero);
    let endless = lines.binary(BinaryOp::Eq, size, infinity);
    let value = lines.select(by_zero, nan, value);
    let value = lines.select(endless, nan, value);
    let (odd_x, odd_y) = (lines.binary(BinaryOp::Ne, x, x), lines.binary(BinaryOp::Ne, y, y));
    let value = lines.select(odd_y, y, value);
    lines.select(odd_x, x, value)
}

/// A finite `f64` that is not negative as a whole number (`u64`) and the power of two (`i64`) by which it is multiplied.
fn whole(lines: &mut Lines<'_>, x: Value) -> (Value, Value) {
    let bits = lines.bitcast(x, DType::I64);
    let mantissa = lines.integer((1 << 52) - 1, bits);
    let place = lines.integer(52, bits);
    let exponent = lines.binary(BinaryOp::ShrLogical, bits, place);
    let own = lines.binary(BinaryOp::And, bits, mantissa);
    let zero = lines.integer(0, bits);
    let subnormal = lines.binary(BinaryOp::Eq, exponent, zero);
    let one = lines.integer(1, exponent);
    let exponent = lines.select(subnormal, one, exponent);
    let first = lines.integer(1 << 52, own);
    let normal = lines.binary(BinaryOp::Or, own, first);
    let number = lines.select(subnormal, own, normal);
    let bias = lines.integer(1075, exponent);
    (lines.bitcast(number, DType::U64), lines.binary(BinaryOp::Sub, exponent, bias))
}

/// The neighbour in a direction, by the bits.
pub(super) fn next_after(lines: &mut Lines<'_>, x: Value, y: Value) -> Value {
    let ty = lines.ty(x);
    let word = bits_of(ty.dtype);
    let (a, b) = (lines.bitcast(x, word), lines.bitcast(y, word));
    let compared = if ty.dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let (p, q) = (lines.convert(x, compared), lines.convert(y, compared));
    let zero = lines.float(0.0, p);
    let (one, sign) = (lines.integer(1, a), lines.integer(1 << (ty.dtype.bits() - 1), a));
    let up = lines.binary(BinaryOp::Add, a, one);
    let down = lines.binary(BinaryOp::Sub, a, one);
    let rises = lines.binary(BinaryOp::Lt, p, q);
    let positive = lines.binary(BinaryOp::Gt, p, zero);
    let other = lines.binary(BinaryOp::Xor, rises, positive);
    let next = lines.select(other, down, up);
    let own = lines.binary(BinaryOp::And, b, sign);
    let smallest = lines.binary(BinaryOp::Or, own, one);
    let is_zero = lines.binary(BinaryOp::Eq, p, zero);
    let next = lines.select(is_zero, smallest, next);
    let same = lines.binary(BinaryOp::Eq, p, q);
    let (odd_x, odd_y) = (lines.binary(BinaryOp::Ne, p, p), lines.binary(BinaryOp::Ne, q, q));
    let stays = lines.binary(BinaryOp::Or, same, odd_y);
    let next = lines.select(stays, b, next);
    let next = lines.select(odd_x, a, next);
    lines.bitcast(next, ty.dtype)
}

/// An `f64` as the `f32` beside it whose last bit is odd, or as itself: rounding that once more rounds the number itself.
pub(super) fn to_odd(lines: &mut Lines<'_>, x: Value) -> Value {
    let near = lines.convert(x, DType::F32);
    let back = lines.convert(near, DType::F64);
    let bits = lines.bitcast(near, DType::U32);
    let (zero, one) = (lines.integer(0, bits), lines.integer(1, bits));
    let last = lines.binary(BinaryOp::And, bits, one);
    let even = lines.binary(BinaryOp::Eq, last, zero);
    let other = lines.binary(BinaryOp::Ne, back, x);
    let number = lines.binary(BinaryOp::Eq, x, x);
    // Of magnitudes: rounded down, the odd one is the next; rounded up, the one before.
    let (size, exact) = (lines.unary(UnaryOp::Abs, back), lines.unary(UnaryOp::Abs, x));
    let below = lines.binary(BinaryOp::Lt, size, exact);
    let (up, down) = (lines.binary(BinaryOp::Add, bits, one), lines.binary(BinaryOp::Sub, bits, one));
    let odd = lines.select(below, up, down);
    let moves = lines.binary(BinaryOp::And, even, other);
    let moves = lines.binary(BinaryOp::And, moves, number);
    let bits = lines.select(moves, odd, bits);
    lines.bitcast(bits, DType::F32)
}

/// A float rounded to fewer bits; see [`surject_ir::eval::reduce_precision`].
pub(super) fn reduce_precision(lines: &mut Lines<'_>, exponent: u32, mantissa: u32, x: Value) -> Value {
    let ty = lines.ty(x);
    let Format { exponent_bits, mantissa_bits } = format(ty.dtype);
    let all = lines.bitcast(x, bits_of(ty.dtype));
    let number = |lines: &mut Lines<'_>, value: u128| {
        let dtype = lines.ty(all).dtype;
        lines.splat(Scalar::from_bits(dtype, value), lines.ty(all).lanes)
    };
    let top = 1u128 << (ty.dtype.bits() - 1);
    let infinity = ((1u128 << exponent_bits) - 1) << mantissa_bits;
    let (sign_bit, rest) = (number(lines, top), number(lines, top - 1));
    let sign = lines.binary(BinaryOp::And, all, sign_bit);
    let size = lines.binary(BinaryOp::And, all, rest);
    let end = number(lines, infinity);
    let odd = lines.binary(BinaryOp::Gt, size, end);
    let mut bits = size;
    if mantissa < mantissa_bits {
        let last = 1u128 << (mantissa_bits - mantissa);
        let place = number(lines, (mantissa_bits - mantissa).into());
        let one = number(lines, 1);
        // Half of the last place, less one where the last digit is even.
        let shifted = lines.binary(BinaryOp::ShrLogical, bits, place);
        let digit = lines.binary(BinaryOp::And, shifted, one);
        let half = number(lines, (last >> 1) - 1);
        let more = lines.binary(BinaryOp::Add, half, digit);
        let sum = lines.binary(BinaryOp::Add, bits, more);
        let kept = number(lines, !(last - 1));
        bits = lines.binary(BinaryOp::And, sum, kept);
    }
    if exponent < exponent_bits {
        let bias = (1u128 << (exponent_bits - 1)) - 1;
        let reach = (1u128 << (exponent - 1)) - 1;
        let place = number(lines, mantissa_bits.into());
        let power = lines.binary(BinaryOp::ShrLogical, bits, place);
        let (high, low, none) = (number(lines, bias + reach), number(lines, bias - reach), number(lines, 0));
        let above = lines.binary(BinaryOp::Gt, power, high);
        let below = lines.binary(BinaryOp::Le, power, low);
        bits = lines.select(below, none, bits);
        bits = lines.select(above, end, bits);
    }
    let bits = lines.select(odd, size, bits);
    let bits = lines.binary(BinaryOp::Or, bits, sign);
    lines.bitcast(bits, ty.dtype)
}
