//! Operations on integers and truths that are defined for every operand, by those that are not.

use surject_ir::{BinaryOp, DType, Scalar, UnaryOp};
use surject_kernel::Value;
use surject_kernel::rewrite::Lines;

/// The least and the greatest value of an integer type.
pub(super) fn ends(dtype: DType) -> (i128, i128) {
    let bits = dtype.bits();
    match dtype.is_signed_int() {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    }
}

fn unsigned(dtype: DType) -> DType {
    match dtype {
        DType::I8 => DType::U8,
        DType::I16 => DType::U16,
        DType::I32 => DType::U32,
        DType::I64 => DType::U64,
        other => other,
    }
}

fn signed(dtype: DType) -> DType {
    match dtype {
        DType::U8 => DType::I8,
        DType::U16 => DType::I16,
        DType::U32 => DType::I32,
        DType::U64 => DType::I64,
        other => other,
    }
}

pub(super) fn unary(lines: &mut Lines<'_>, op: UnaryOp, x: Value) -> Option<Value> {
    let dtype = lines.ty(x).dtype;
    let zero = lines.integer(0, x);
    Some(match op {
        UnaryOp::Not => {
            let all = lines.splat(Scalar::from_bits(dtype, u128::MAX), lines.ty(x).lanes);
            lines.binary(BinaryOp::Xor, x, all)
        }
        _ if dtype.is_bool() => return None,
        UnaryOp::Neg => lines.binary(BinaryOp::Sub, zero, x),
        UnaryOp::Abs => {
            let other = lines.binary(BinaryOp::Sub, zero, x);
            let negative = lines.binary(BinaryOp::Lt, x, zero);
            lines.select(negative, other, x)
        }
        UnaryOp::Sign => {
            let (one, less) = (lines.integer(1, x), lines.integer(-1, x));
            let positive = lines.binary(BinaryOp::Gt, x, zero);
            let y = lines.select(positive, one, zero);
            if dtype.is_unsigned_int() {
                return Some(y);
            }
            let negative = lines.binary(BinaryOp::Lt, x, zero);
            lines.select(negative, less, y)
        }
        UnaryOp::Popcount | UnaryOp::CountLeadingZeros if dtype.size() < 4 => {
            let bits = lines.bitcast(x, unsigned(dtype));
            let wide = lines.convert(bits, DType::U32);
            let count = lines.unary(op, wide);
            let more = lines.integer(32 - i128::from(dtype.bits()), count);
            let count = match op {
                UnaryOp::Popcount => count,
                _ => lines.binary(BinaryOp::Sub, count, more),
            };
            lines.convert(count, dtype)
        }
        UnaryOp::Popcount | UnaryOp::CountLeadingZeros => lines.unary(op, x),
        _ => return None,
    })
}

pub(super) fn binary(lines: &mut Lines<'_>, op: BinaryOp, x: Value, y: Value) -> Option<Value> {
    use BinaryOp::*;
    let dtype = lines.ty(x).dtype;
    if dtype.is_bool() {
        let yes = lines.splat(Scalar::bool(true), lines.ty(x).lanes);
        return Some(match op {
            Add | Max => lines.binary(Or, x, y),
            Mul | Min => lines.binary(And, x, y),
            And | Or | Xor | Eq | Ne => lines.binary(op, x, y),
            // false < true
            Lt | Ge => {
                let other = lines.binary(Xor, x, yes);
                if op == Ge {
                    let other = lines.binary(Xor, y, yes);
                    return Some(lines.binary(Or, x, other));
                }
                lines.binary(And, other, y)
            }
            Gt | Le => return binary(lines, if op == Gt { Lt } else { Ge }, y, x),
            _ => return None,
        });
    }
    Some(match op {
        Div | Rem => divide(lines, op, x, y),
        Shl | ShrArith | ShrLogical => shift(lines, op, x, y),
        Pow => power(lines, x, y),
        Add | Sub | Mul | Max | Min | And | Or | Xor | Eq | Ne | Lt | Le | Gt | Ge => lines.binary(op, x, y),
        _ => return None,
    })
}

/// By zero: all bits set, the dividend as the remainder. By −1: nothing overflows.
fn divide(lines: &mut Lines<'_>, op: BinaryOp, x: Value, y: Value) -> Value {
    let dtype = lines.ty(x).dtype;
    let (zero, one, all) = (lines.integer(0, x), lines.integer(1, x), lines.integer(-1, x));
    let by_zero = lines.binary(BinaryOp::Eq, y, zero);
    let by_less = lines.binary(BinaryOp::Eq, y, all);
    let mut divisor = lines.select(by_zero, one, y);
    if dtype.is_signed_int() {
        divisor = lines.select(by_less, one, divisor);
    }
    let mut z = lines.binary(op, x, divisor);
    if op == BinaryOp::Div && dtype.is_signed_int() {
        let negated = lines.binary(BinaryOp::Sub, zero, x);
        z = lines.select(by_less, negated, z);
    }
    lines.select(by_zero, if op == BinaryOp::Div { all } else { x }, z)
}

/// Amounts are read as unsigned numbers; those of the width or more shift everything out.
fn shift(lines: &mut Lines<'_>, op: BinaryOp, x: Value, y: Value) -> Value {
    let dtype = lines.ty(x).dtype;
    let amount = lines.bitcast(y, unsigned(dtype));
    let width = lines.integer(dtype.bits().into(), amount);
    let last = lines.integer((dtype.bits() - 1).into(), amount);
    let inside = lines.binary(BinaryOp::Lt, amount, width);
    if op == BinaryOp::ShrArith {
        let amount = lines.select(inside, amount, last);
        // The highest bit is the sign, of unsigned numbers too.
        let (x, amount) = (lines.bitcast(x, signed(dtype)), lines.bitcast(amount, signed(dtype)));
        let y = lines.binary(op, x, amount);
        return lines.bitcast(y, dtype);
    }
    // A choice behind the shift is left out by LLVM for GPUs, whose instructions give 0 for the width and more; but they
    // read 32 bits of the amount.
    let bits = lines.bitcast(x, unsigned(dtype));
    let zero = lines.integer(0, bits);
    let bits = lines.select(inside, bits, zero);
    let amount = lines.binary(BinaryOp::And, amount, last);
    let y = lines.binary(op, bits, amount);
    lines.bitcast(y, dtype)
}

/// A shift by less than the width.
pub(super) fn shift_by(lines: &mut Lines<'_>, op: BinaryOp, x: Value, amount: Value) -> Value {
    let dtype = lines.ty(x).dtype;
    let own = if op == BinaryOp::ShrArith { signed(dtype) } else { unsigned(dtype) };
    let (x, amount) = (lines.bitcast(x, own), lines.bitcast(amount, own));
    let y = lines.binary(op, x, amount);
    lines.bitcast(y, dtype)
}

/// By squares; a negative exponent gives 0, or ±1 for the bases ±1.
fn power(lines: &mut Lines<'_>, x: Value, y: Value) -> Value {
    let dtype = lines.ty(x).dtype;
    let (zero, one, all) = (lines.integer(0, x), lines.integer(1, x), lines.integer(-1, x));
    let rest = lines.bitcast(y, unsigned(dtype));
    let (no, first) = (lines.integer(0, rest), lines.integer(1, rest));
    let (mut result, mut square) = (one, x);
    for bit in 0..dtype.bits() {
        let at = lines.integer(bit.into(), rest);
        let shifted = lines.binary(BinaryOp::ShrLogical, rest, at);
        let last = lines.binary(BinaryOp::And, shifted, first);
        let set = lines.binary(BinaryOp::Ne, last, no);
        let more = lines.binary(BinaryOp::Mul, result, square);
        result = lines.select(set, more, result);
        square = lines.binary(BinaryOp::Mul, square, square);
    }
    if dtype.is_unsigned_int() {
        return result;
    }
    let last = lines.binary(BinaryOp::And, y, one);
    let odd = lines.binary(BinaryOp::Eq, last, one);
    let of_less = lines.select(odd, all, one);
    let is_one = lines.binary(BinaryOp::Eq, x, one);
    let is_less = lines.binary(BinaryOp::Eq, x, all);
    let inverse = lines.select(is_less, of_less, zero);
    let inverse = lines.select(is_one, one, inverse);
    let negative = lines.binary(BinaryOp::Lt, y, zero);
    lines.select(negative, inverse, result)
}

/// A number of 64 bits whose last eleven bits are zero but for one that says whether they were: rounding it to a float of
/// at most 40 bits rounds the number itself.
pub(super) fn sticky(lines: &mut Lines<'_>, x: Value) -> Value {
    let (low, zero) = (lines.integer(0x7ff, x), lines.integer(0, x));
    let (bit, rest) = (lines.integer(0x800, x), lines.integer(!0x7ff, x));
    // Small numbers are exact in an `f64`.
    let size = match lines.ty(x).dtype {
        DType::I64 => {
            let other = lines.binary(BinaryOp::Sub, zero, x);
            let negative = lines.binary(BinaryOp::Lt, x, zero);
            let size = lines.select(negative, other, x);
            lines.bitcast(size, DType::U64)
        }
        _ => x,
    };
    let bound = lines.integer(1 << 53, size);
    let small = lines.binary(BinaryOp::Lt, size, bound);
    let last = lines.binary(BinaryOp::And, x, low);
    let exact = lines.binary(BinaryOp::Eq, last, zero);
    let more = lines.select(exact, zero, bit);
    let high = lines.binary(BinaryOp::And, x, rest);
    let large = lines.binary(BinaryOp::Or, high, more);
    lines.select(small, x, large)
}
