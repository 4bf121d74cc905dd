//! Logarithms and what is made of them, in either precision.

use crate::kernels::math::formula::{B, F};
use crate::kernels::math::{exponential, pieces};
use std::f64::consts::{FRAC_1_SQRT_2, LN_2};

/// `(log(1 + m) − m + m²/2) / m³` on `[√½ − 1, √2 − 1)` (Cephes, S. Moshier).
const LOG: [f64; 9] = [
    7.037_683_629_2e-2,
    -1.151_461_031_0e-1,
    1.167_699_874_0e-1,
    -1.242_014_084_6e-1,
    1.424_932_278_7e-1,
    -1.666_805_766_5e-1,
    2.000_071_476_5e-1,
    -2.499_999_399_3e-1,
    3.333_333_117_4e-1,
];

/// `(2 atanh(s) / s − 2) / s²` in `s²`, for `|s| ≤ (√2 − 1) / (√2 + 1)`.
const ATANH: [f64; 7] = [
    0.14796105302655924,
    0.153140358633918,
    0.18183564864929133,
    0.22222198563532622,
    0.2857142874247429,
    0.39999999999414326,
    0.6666666666666734,
];

/// `n` and `m` with `x = 2^n m` and `m` in `[√½, √2)`, for positive normal `x`; `n` as a float.
pub fn split_normal(x: F<'_>) -> (F<'_>, F<'_>) {
    let (offset, mantissa) = if x.is_double() {
        (FRAC_1_SQRT_2.to_bits() as i64, 52)
    } else {
        (i64::from((FRAC_1_SQRT_2 as f32).to_bits()), 23)
    };
    let bits = x.bits();
    // The exponent of x / √½.
    let power = (bits - offset).halve(mantissa);
    (power.to_float(), (bits - power.shl(mantissa)).as_bits())
}

/// As [`split_normal`], for positive finite `x`, subnormal ones included.
pub fn split(x: F<'_>) -> (F<'_>, F<'_>) {
    let (smallest, up) =
        if x.is_double() { (f64::MIN_POSITIVE, 52.0f64) } else { (f32::MIN_POSITIVE.into(), 23.0) };
    let tiny = x.lt(smallest);
    let (n, m) = split_normal(tiny.pick(x * up.exp2(), x));
    (tiny.pick(n - up, n), m)
}

/// 0 → −∞, negative → NaN, +∞ and NaN → themselves.
fn with_ends<'p>(x: F<'p>, y: F<'p>) -> F<'p> {
    let y = x.lt(f64::INFINITY).pick(y, x);
    let y = x.equal(0.0).pick(x.number(f64::NEG_INFINITY), y);
    x.lt(0.0).pick(x.number(f64::NAN), y)
}

/// `n ln 2 + log(1 + f) + c` of an `f64`, given `s = f / (f + 2)`; `c` is small.
pub fn log_double<'p>(n: F<'p>, f: F<'p>, s: F<'p>, c: Option<F<'p>>) -> F<'p> {
    let t = s * s;
    let half = f * f * 0.5;
    let tail = n * exponential::LN_2_DOUBLE[1];
    let tail = c.map_or(tail, |c| tail + c);
    let sum = s.fma(t.poly(&ATANH).fma(t, half), tail);
    n.fma(exponential::LN_2_DOUBLE[0], f - (half - sum))
}

/// `log x + c` for a small correction `c` of a positive finite `x`, if there is one.
fn log_and<'p>(x: F<'p>, c: Option<F<'p>>) -> F<'p> {
    let (n, m) = split(x);
    let f = m - 1.0;
    if x.is_double() { log_double(n, f, f / (f + 2.0), c) } else { log_of(n, f, c) }
}

/// `n ln 2 + log(1 + f) + c` of an `f32`; `c` is small.
fn log_of<'p>(n: F<'p>, f: F<'p>, c: Option<F<'p>>) -> F<'p> {
    let z = f * f;
    let p = n.fma(exponential::LN_2[1], f.poly(&LOG) * f * z);
    let p = c.map_or(p, |c| p + c);
    let p = z.fma(-0.5, p);
    n.fma(exponential::LN_2[0], f + p)
}

/// The natural logarithm of a normal number, and where `x` is none.
pub fn log_normal(x: F<'_>) -> (F<'_>, B<'_>) {
    let (n, m) = split_normal(x);
    (log_of(n, m - 1.0, None), pieces::is_outside(x, 128))
}

/// `log(1 + x)` where that is a normal number, and where it is none.
pub fn log1p_normal(x: F<'_>) -> (F<'_>, B<'_>) {
    let (u, lost) = one_more(x);
    let (n, m) = split_normal(u);
    let y = log_of(n, m - 1.0, Some(lost / u));
    // Keeps −0.
    (x.equal(0.0).pick(x, y), pieces::is_outside(u, 127))
}

/// The natural logarithm.
pub fn log(x: F<'_>) -> F<'_> {
    with_ends(x, log_and(x, None))
}

/// `1 + x`, and what it lost.
pub fn one_more(x: F<'_>) -> (F<'_>, F<'_>) {
    let u = x + 1.0;
    let part = u - 1.0;
    (u, (x.number(1.0) - (u - part)) + (x - part))
}

/// `log(1 + x)`, with what `1 + x` lost.
pub fn log1p(x: F<'_>) -> F<'_> {
    let (u, lost) = one_more(x);
    let y = with_ends(u, log_and(u, Some(lost / u)));
    // Keeps −0.
    x.equal(0.0).pick(x, y)
}

/// `log₂(1 + f) / f` on `[√½ − 1, √2 − 1)`, to 2^-38.
const LOG2: [f64; 14] = [
    -0.06973906191561222,
    0.1325122336865192,
    -0.13462952623327526,
    0.13027560430713095,
    -0.14249858582604705,
    0.16021666347180288,
    -0.18043675520760133,
    0.2061071234996477,
    -0.2404464333973941,
    0.28853879571287155,
    -0.36067379314033476,
    0.4808983488030289,
    -0.7213475203275349,
    1.4426950408865742,
];

/// `log₂ x` of a positive normal `f64`, to 2^-38.
pub fn log2_short(x: F<'_>) -> F<'_> {
    let (n, m) = split_normal(x);
    let f = m - 1.0;
    f.fma(f.poly(&LOG2), n)
}

/// Below this the inverse hyperbolic functions of an `f32` are their argument.
const TINY: f64 = 1.0 / 8192.0;

/// `asinh x` of an `f32` that was widened.
pub fn asinh_short(x: F<'_>) -> F<'_> {
    let size = x.abs();
    let y = log2_short(size + size.fma(size, 1.0).sqrt()) * LN_2;
    let y = size.lt(TINY).pick(size, y);
    size.lt(f64::INFINITY).pick(y, size).with_sign(x)
}

/// `acosh x` of an `f32` that was widened; NaN below 1.
pub fn acosh_short(x: F<'_>) -> F<'_> {
    let y = log2_short(x + ((x - 1.0) * (x + 1.0)).sqrt()) * LN_2;
    let y = x.lt(f64::INFINITY).pick(y, x);
    x.lt(1.0).pick(x.number(f64::NAN), y)
}

/// `atanh x` of an `f32` that was widened; NaN beyond ±1.
pub fn atanh_short(x: F<'_>) -> F<'_> {
    let size = x.abs();
    let y = log2_short((size + 1.0) / (size.number(1.0) - size)) * (0.5 * LN_2);
    let y = size.lt(TINY).pick(size, y);
    let y = size.lt(1.0).pick(y, f64::NAN);
    size.equal(1.0).pick(x.number(f64::INFINITY), y).with_sign(x)
}

/// `asinh x` of an `f64`.
pub fn asinh(x: F<'_>) -> F<'_> {
    let size = x.abs();
    // Far out log(2x), where the square would be infinite.
    let near = size.not_above(1e9);
    let square = near * near;
    let small = near + square / ((square + 1.0).sqrt() + 1.0);
    let far = size.gt(1e9);
    let y = log1p(far.pick(size - 1.0, small));
    (y + far.pick(x.number(LN_2), 0.0)).with_sign(x)
}

/// `acosh x` of an `f64`; NaN below 1.
pub fn acosh(x: F<'_>) -> F<'_> {
    let t = x - 1.0;
    let far = x.gt(1e9);
    let small = t + (t * (t + 2.0)).sqrt();
    let y = log1p(far.pick(t, small)) + far.pick(x.number(LN_2), 0.0);
    x.lt(1.0).pick(x.number(f64::NAN), y)
}

/// `atanh x` of an `f64`.
pub fn atanh(x: F<'_>) -> F<'_> {
    let size = x.abs();
    (log1p((size + size) / (size.number(1.0) - size)) * 0.5).with_sign(x)
}
