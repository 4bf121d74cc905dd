//! Functions of integers and real floats.

use super::super::number::Int;

pub(crate) fn sign(x: f64) -> f64 {
    if x.is_nan() || x == 0.0 { x } else { 1f64.copysign(x) }
}

/// The larger one; NaN where one is NaN, and `+0` of zeros of both signs.
pub(crate) fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    if a == b { if a.is_sign_negative() { b } else { a } } else { a.max(b) }
}

/// The smaller one; NaN where one is NaN, and `-0` of zeros of both signs.
pub(crate) fn minimum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    if a == b { if a.is_sign_negative() { a } else { b } } else { a.min(b) }
}

/// `1 / (1 + e^-x)`, without overflow on either side; near 1 what is missing from it is rounded once.
pub(crate) fn logistic(x: f64) -> f64 {
    let e = libm::exp(-x.abs());
    let q = e / (1.0 + e);
    if x >= 0.0 { 1.0 - q } else { q }
}

pub(crate) fn rsqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}

pub(crate) fn int_abs(a: i64, t: Int) -> i64 {
    if t.signed { a.wrapping_abs() } else { a }
}

pub(crate) fn int_sign(a: i64, t: Int) -> i64 {
    if t.signed { a.signum() } else { i64::from(a != 0) }
}

pub(crate) fn leading_zeros(a: i64, t: Int) -> i64 {
    let bits = a as u64 & (u64::MAX >> (64 - t.bits));
    i64::from(bits.leading_zeros() + t.bits - 64)
}

pub(crate) fn ones(a: i64, t: Int) -> i64 {
    (a as u64 & (u64::MAX >> (64 - t.bits))).count_ones().into()
}

/// By zero all bits are set; `min / -1` wraps.
pub(crate) fn int_div(a: i64, b: i64, t: Int) -> i64 {
    match (b, t.signed) {
        (0, _) => -1,
        (_, true) => a.wrapping_div(b),
        (_, false) => (a as u64 / b as u64) as i64,
    }
}

/// By zero the dividend; otherwise with its sign.
pub(crate) fn int_rem(a: i64, b: i64, t: Int) -> i64 {
    match (b, t.signed) {
        (0, _) => a,
        (_, true) => a.wrapping_rem(b),
        (_, false) => (a as u64 % b as u64) as i64,
    }
}

/// Powers wrap. Those of negative exponents are cut to integers: only ±1 has some.
pub(crate) fn int_pow(a: i64, b: i64, t: Int) -> i64 {
    if t.signed && b < 0 {
        return match a {
            1 => 1,
            -1 => 1 - 2 * (b & 1),
            _ => 0,
        };
    }
    let (mut base, mut exponent, mut result) = (a, b as u64, 1i64);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    result
}

/// The amount as a number without a sign, if it is below the width.
fn amount(b: i64, t: Int) -> Option<u32> {
    (0..i64::from(t.bits)).contains(&b).then_some(b as u32)
}

pub(crate) fn shift_left(a: i64, b: i64, t: Int) -> i64 {
    amount(b, t).map_or(0, |n| a << n)
}

pub(crate) fn shift_right_logical(a: i64, b: i64, t: Int) -> i64 {
    let bits = a as u64 & (u64::MAX >> (64 - t.bits));
    amount(b, t).map_or(0, |n| (bits >> n) as i64)
}

/// The sign bit, that of types without a sign too, is what comes in.
pub(crate) fn shift_right_arithmetic(a: i64, b: i64, t: Int) -> i64 {
    let signed = Int { signed: true, ..t }.wrap(a);
    signed >> amount(b, t).unwrap_or(t.bits - 1)
}

/// The high half of the product.
pub(crate) fn int_mulhi(a: i64, b: i64, t: Int) -> i64 {
    (t.wide(a).wrapping_mul(t.wide(b)) >> t.bits) as i64
}

pub(crate) fn int_max(a: i64, b: i64, t: Int) -> i64 {
    if t.less(a, b) { b } else { a }
}

pub(crate) fn int_min(a: i64, b: i64, t: Int) -> i64 {
    if t.less(b, a) { b } else { a }
}
