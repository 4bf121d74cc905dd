//! Angles of any size: the product with 2/π in whole numbers, of which only the digits that count are computed
//! (M. Payne and R. Hanek, "Radian reduction for trigonometric functions").

use super::functions;
use crate::kernels::math::trigonometric;
use std::f64::consts::FRAC_PI_2;
use surject_ir::{BinaryOp, DType, UnaryOp};
use surject_kernel::Value;
use surject_kernel::rewrite::Lines;

/// The binary digits of 2/π behind the point, 32 a word: as many as the largest `f64` needs.
#[rustfmt::skip]
const TWO_BY_PI: [u32; 40] = [
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d,
];

/// π/2, and what an `f64` lacks of it.
const HALF_PI: [f64; 2] = [FRAC_PI_2, 6.123_233_995_736_766e-17];

/// Words of the product: 2 for the angle and more than 64 for digits that may cancel.
const WORDS: usize = 6;

/// Sine, cosine or tangent of a finite scalar of at least 2^20.
pub(super) fn of_large(lines: &mut Lines<'_>, op: UnaryOp, x: Value) -> Value {
    let dtype = lines.ty(x).dtype;
    let x = lines.convert(x, DType::F64);
    let (quadrant, angle, rest) = reduce(lines, x);
    let sin = functions::of_one(lines, angle, |x| trigonometric::sin(x, trigonometric::Precision::Double));
    let cos = functions::of_one(lines, angle, |x| trigonometric::cos(x, trigonometric::Precision::Double));
    // What the angle lost is so small that the first term of a series does.
    let (minus, one) = (lines.unary(UnaryOp::Neg, rest), lines.integer(1, quadrant));
    let (sin, cos) = (lines.fma(cos, rest, sin), lines.fma(sin, minus, cos));
    let no = lines.integer(0, quadrant);
    let last = lines.binary(BinaryOp::And, quadrant, one);
    let odd = lines.binary(BinaryOp::Ne, last, no);
    let turned = |lines: &mut Lines<'_>, value: Value, quadrant: Value| {
        let two = lines.integer(2, quadrant);
        let half = lines.binary(BinaryOp::And, quadrant, two);
        let behind = lines.binary(BinaryOp::Ne, half, no);
        let minus = lines.unary(UnaryOp::Neg, value);
        lines.select(behind, minus, value)
    };
    let value = match op {
        UnaryOp::Sin => {
            let value = lines.select(odd, cos, sin);
            turned(lines, value, quadrant)
        }
        UnaryOp::Cos => {
            let value = lines.select(odd, sin, cos);
            let next = lines.binary(BinaryOp::Add, quadrant, one);
            turned(lines, value, next)
        }
        _ => {
            let minus = lines.unary(UnaryOp::Neg, cos);
            let above = lines.select(odd, minus, sin);
            let below = lines.select(odd, sin, cos);
            lines.binary(BinaryOp::Div, above, below)
        }
    };
    lines.convert(value, dtype)
}

/// The quadrant (`u64`; its last two bits count), and the angle in it as the sum of two numbers.
fn reduce(lines: &mut Lines<'_>, x: Value) -> (Value, Value, Value) {
    use BinaryOp::*;
    let bits = lines.bitcast(x, DType::U64);
    // |x| = m 2^e, where m has 53 bits.
    let exponent = shifted(lines, ShrLogical, bits, 52);
    let exponent = shifted(lines, And, exponent, 0x7ff);
    let m = shifted(lines, And, bits, (1 << 52) - 1);
    let m = shifted(lines, Or, m, 1 << 52);
    let digits = digits(lines, exponent, m);
    let product = product(lines, m, &digits);
    // Two digits are the quadrant; the rest is a fraction, from −½ to ½ where it is taken from the next quadrant.
    let quadrant = shifted(lines, ShrLogical, product[0], 30);
    let fraction = fraction(lines, &product);
    let top = shifted(lines, ShrLogical, fraction[0], 31);
    let quadrant = lines.binary(Add, quadrant, top);
    let (angle, rest) = times_half_pi(lines, &fraction);
    // Of a negative angle everything is negative.
    let zero = lines.float(0.0, x);
    let negative = lines.binary(Lt, x, zero);
    let none = lines.integer(0, quadrant);
    let other = lines.binary(Sub, none, quadrant);
    let quadrant = lines.select(negative, other, quadrant);
    let (minus_angle, minus_rest) = (lines.unary(UnaryOp::Neg, angle), lines.unary(UnaryOp::Neg, rest));
    (quadrant, lines.select(negative, minus_angle, angle), lines.select(negative, minus_rest, rest))
}

/// An operation on a value and a number, such as a shift.
fn shifted(lines: &mut Lines<'_>, op: BinaryOp, value: Value, by: i128) -> Value {
    let by = lines.integer(by, value);
    lines.binary(op, value, by)
}

/// The digits of 2/π that count for a number with this exponent and these bits: those from the one on that has the weight 2
/// in m 2^e 2/π, number e − 1, counted from 1. An angle of 2^20 has e = −32, so 64 zeros stand before the digits.
fn digits(lines: &mut Lines<'_>, exponent: Value, m: Value) -> Vec<Value> {
    use BinaryOp::*;
    let first = shifted(lines, Sub, exponent, 1075 + 2 - 64);
    let word = shifted(lines, ShrLogical, first, 5);
    let by = shifted(lines, And, first, 31);
    // The words from that one on.
    let mut words = Vec::new();
    for i in 0..=WORDS {
        let mut found = lines.integer(0, m);
        for at in 0..=32 {
            let Some(entry) = (at + i).checked_sub(2) else { continue };
            let entry = TWO_BY_PI.get(entry).copied().unwrap_or(0);
            let number = lines.integer(at as i128, word);
            let here = lines.binary(Eq, word, number);
            let entry = lines.integer(entry.into(), m);
            found = lines.select(here, entry, found);
        }
        words.push(found);
    }
    // Shifted to begin with that digit.
    let thirty_two = lines.integer(32, by);
    let back = lines.binary(Sub, thirty_two, by);
    let pairs = words.windows(2);
    let shifted_pair = |pair: &[Value]| {
        let high = lines.binary(Shl, pair[0], by);
        let low = lines.binary(ShrLogical, pair[1], back);
        let both = lines.binary(Or, high, low);
        shifted(lines, And, both, 0xffff_ffff)
    };
    pairs.map(shifted_pair).collect()
}

/// The product of `m` and some digits, whose first digits are too large to count.
fn product(lines: &mut Lines<'_>, m: Value, digits: &[Value]) -> [Value; WORDS] {
    use BinaryOp::*;
    let parts = [shifted(lines, And, m, 0xffff_ffff), shifted(lines, ShrLogical, m, 32)];
    let mut product = [lines.integer(0, m); WORDS];
    for (i, &part) in parts.iter().enumerate() {
        let mut carry = lines.integer(0, m);
        // Words from the last one on.
        for (j, &digit) in digits.iter().rev().enumerate() {
            let Some(at) = WORDS.checked_sub(1 + i + j) else { break };
            let term = lines.binary(Mul, part, digit);
            let sum = lines.binary(Add, product[at], carry);
            let sum = lines.binary(Add, sum, term);
            product[at] = shifted(lines, And, sum, 0xffff_ffff);
            carry = shifted(lines, ShrLogical, sum, 32);
        }
    }
    product
}

/// What follows the first two digits of a product.
fn fraction(lines: &mut Lines<'_>, product: &[Value; WORDS]) -> Vec<Value> {
    use BinaryOp::*;
    let word = |i: usize| {
        let high = shifted(lines, Shl, product[i], 2);
        let both = match product.get(i + 1) {
            Some(&next) => {
                let low = shifted(lines, ShrLogical, next, 30);
                lines.binary(Or, high, low)
            }
            None => high,
        };
        shifted(lines, And, both, 0xffff_ffff)
    };
    (0..WORDS).map(word).collect()
}

/// A fraction from −½ to ½ times π/2, and what that lost.
fn times_half_pi(lines: &mut Lines<'_>, fraction: &[Value]) -> (Value, Value) {
    use BinaryOp::*;
    // The first word with its sign; each word is an exact number.
    let mut numbers = Vec::new();
    for (i, &word) in fraction.iter().enumerate() {
        let mut word = lines.bitcast(word, DType::I64);
        if i == 0 {
            let high = shifted(lines, Shl, word, 32);
            word = shifted(lines, ShrArith, high, 32);
        }
        let number = lines.convert(word, DType::F64);
        let weight = lines.float((-32.0 * (i as f64 + 1.0)).exp2(), number);
        numbers.push(lines.binary(Mul, number, weight));
    }
    let (a, b) = sum(lines, numbers[0], numbers[1]);
    let (c, d) = sum(lines, b, numbers[2]);
    let (high, lost) = sum(lines, a, c);
    let low = lines.binary(Add, d, numbers[3]);
    let low = lines.binary(Add, lost, low);
    let low = lines.binary(Add, low, numbers[4]);
    let (half, more) = (lines.float(HALF_PI[0], high), lines.float(HALF_PI[1], high));
    let angle = lines.binary(Mul, high, half);
    let minus = lines.unary(UnaryOp::Neg, angle);
    let rest = lines.fma(high, half, minus);
    let rest = lines.fma(high, more, rest);
    (angle, lines.fma(low, half, rest))
}

/// The sum with what was lost.
fn sum(lines: &mut Lines<'_>, a: Value, b: Value) -> (Value, Value) {
    use BinaryOp::{Add, Sub};
    let s = lines.binary(Add, a, b);
    let part = lines.binary(Sub, s, a);
    let own = lines.binary(Sub, s, part);
    let (a, b) = (lines.binary(Sub, a, own), lines.binary(Sub, b, part));
    (s, lines.binary(Add, a, b))
}
