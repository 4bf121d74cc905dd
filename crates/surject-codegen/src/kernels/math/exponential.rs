//! Exponentials and what is made of them, in either precision.

use crate::kernels::math::formula::{Exponent, F};

/// `(e^r − 1 − r) / r²` on `|r| ≤ ln 2 / 2`, to 2^-28 and 2^-54 of `e^r`.
const EXP: [f64; 5] = [
    0.0013814540078688283,
    0.008368745212750328,
    0.04166839079296645,
    0.16666520398167856,
    0.4999999343206673,
];

const EXP_DOUBLE: [f64; 10] = [
    2.511797967479442e-08,
    2.7631413501249605e-07,
    2.755721592954415e-06,
    2.4801489591514816e-05,
    0.00019841269917795736,
    0.0013888888947330134,
    0.008333333333307016,
    0.04166666666651433,
    0.166666666666667,
    0.5000000000000013,
];

/// The logarithm of 2 in two parts, the first of so few digits that products with `n` are exact, for `f32`.
pub const LN_2: [f64; 2] = [0.693_359_375, -2.121_944_400_546_905_8e-4];

/// The same for `f64`.
pub const LN_2_DOUBLE: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];

/// Those of the type of a float.
fn ln_2(x: F<'_>) -> [f64; 2] {
    if x.is_double() { LN_2_DOUBLE } else { LN_2 }
}

/// `n` and `r` with `x = n ln 2 + r` and `|r| ≤ ln 2 / 2`, for arguments of which an exponential is finite.
pub fn reduce<'p>(x: F<'p>) -> (Exponent<'p>, F<'p>) {
    let (n, [most, rest]) = (x.exponent(std::f64::consts::LOG2_E), ln_2(x));
    (n, n.float.fma(-rest, n.float.fma(-most, x)))
}

/// `(e^r − 1 − r) / r²` where [`reduce`] leaves `r`.
fn quotient<'p>(r: F<'p>) -> F<'p> {
    if r.is_double() { r.poly(&EXP_DOUBLE) } else { r.poly(&EXP) }
}

/// `e^r − 1 − r` where [`reduce`] leaves `r`: the quotient by a square, and the square.
pub fn beyond_linear<'p>(r: F<'p>) -> (F<'p>, F<'p>) {
    (quotient(r), r * r)
}

/// `n` and `e^r − 1` with `e^(−x²) = 2^n e^r`. What the square lost is put right: it is an exponent.
pub fn of_square<'p>(x: F<'p>) -> (Exponent<'p>, F<'p>) {
    let square = x * x;
    let lost = x.fma(x, -square);
    let (n, r) = reduce(-square);
    let r = r - lost;
    let (p, z) = beyond_linear(r);
    (n, p.fma(z, r))
}

/// `e^r` where [`reduce`] leaves `r`.
pub fn rest<'p>(r: F<'p>) -> F<'p> {
    quotient(r).fma(r, 1.0).fma(r, 1.0)
}

/// `y · 2^n`, where `2^n` alone may be subnormal or too large.
pub fn scale<'p>(y: F<'p>, n: Exponent<'p>) -> F<'p> {
    y.scaled(n.float).unwrap_or_else(|| n.powers().into_iter().fold(y, |y, power| y * power))
}

/// `e^x`
pub fn exp(x: F<'_>) -> F<'_> {
    // Beyond these bounds the result is infinite or zero, and the scaling gives that: at the lower one by factors that
    // are zero, as a product that is too small for a normal number takes machines long.
    let x = if x.is_double() { x.clamp(-1418.0, 710.0) } else { x.clamp(-176.0, 90.0) };
    let (n, r) = reduce(x);
    scale(rest(r), n)
}

/// `e^x − 1`
pub fn expm1(original: F<'_>) -> F<'_> {
    // Beyond the upper bound the result is infinite; at the bound 2^n stays finite.
    let (x, tiny) = if original.is_double() {
        (original.clamp(-40.0, 709.9), 2f64.powi(-55))
    } else {
        (original.clamp(-20.0, 88.8), 2f64.powi(-26))
    };
    let (n, r) = reduce(x);
    let (p, square) = beyond_linear(r);
    let q = p.fma(square, r);
    // 2^n q + (2^n − 1), halved on the way so that 2^128 does not occur. Towards −1 it is 2^n q + 2^n, less 1 at last:
    // 2^n − 1 would have lost what is missing there.
    let half = (n.integer() - 1).power_of_two();
    let low = x.lt(-1.0);
    let y = half.fma(q, half - low.pick(half.number(0.0), 0.5)).fma(2.0, low.pick(half.number(-1.0), 0.0));
    // Keeps −0 and what is subnormal.
    original.abs().lt(tiny).pick(original, y)
}

/// `1 / (1 + e^-x)`, by `e^-|x| / (1 + e^-|x|)`: the exponential is never infinite.
pub fn logistic(x: F<'_>) -> F<'_> {
    let e = exp(-x.abs());
    let d = e + 1.0;
    let q = e / d;
    // What the sum lost counts where it is near 1.
    let q = (-q).fma(e - (d - 1.0), q);
    x.lt(0.0).pick(q, q.number(1.0) - q)
}

/// The hyperbolic tangent.
pub fn tanh(x: F<'_>) -> F<'_> {
    // Beyond the bounds the result is 1.
    let size = x.abs().not_above(if x.is_double() { 19.5 } else { 9.1 });
    // (1 − s e^2r) / (1 + s e^2r) with a power of two s and the rest r of −|x|, from (e^2r − 1) / 2. The divisor is not made
    // from the dividend, which has been rounded. Towards 1 it is 1 − 2 s e^2r / (1 + s e^2r): what is missing from 1 is
    // rounded once, and not first.
    let ((n, integer), [most, rest]) = (size.nearest(-2.0 * std::f64::consts::LOG2_E), ln_2(x));
    let r = n.fma(-0.5 * rest, n.fma(-0.5 * most, -size));
    let p = if x.is_double() { r.poly(&EXP_OF_TWICE_DOUBLE) } else { r.poly(&EXP_OF_TWICE) };
    let (half, s) = (p.fma(r * r, r), integer.power_of_two());
    let high = size.gt(1.0);
    let dividend = s.fma(half, s.fma(0.5, high.pick(s.number(0.0), -0.5)));
    let quotient = dividend / s.fma(half, s.fma(0.5, 0.5));
    let (factor, one) = (high.pick(s.number(-2.0), -1.0), high.pick(s.number(1.0), 0.0));
    quotient.fma(factor, one).with_sign(x)
}

/// [`EXP`] for `e^2r`, halved.
const EXP_OF_TWICE: [f64; 5] = of_twice(EXP);

const EXP_OF_TWICE_DOUBLE: [f64; 10] = of_twice(EXP_DOUBLE);

/// Twice a polynomial in twice its argument.
const fn of_twice<const N: usize>(mut coefficients: [f64; N]) -> [f64; N] {
    let (mut i, mut power) = (N, 2.0);
    while i > 0 {
        i -= 1;
        coefficients[i] *= power;
        power *= 2.0;
    }
    coefficients
}

/// `(sinh x / x − 1) / x²` in `x²` for `|x| < 1`: its series.
const SINH: [f64; 5] = [1.0 / 39_916_800.0, 1.0 / 362_880.0, 1.0 / 5_040.0, 1.0 / 120.0, 1.0 / 6.0];

/// Half of `e^|x|` and of its inverse, of an `f32` that was widened, to 2^-29: beyond the bound both functions are
/// infinite. The even and the odd powers of what is left of the exponent serve for both.
fn half_exps(size: F<'_>) -> (F<'_>, F<'_>) {
    let (r, n) = {
        let x = size.not_above(130.0) * std::f64::consts::LOG2_E;
        let (whole, n) = x.nearest(1.0);
        (x - whole, n)
    };
    let z = r * r;
    let [a6, a5, a4, a3, a2, a1, a0] = crate::kernels::math::power::EXP2;
    let (even, odd) = (z.poly(&[a6, a4, a2, a0]), z.poly(&[a5, a3, a1]) * r);
    ((even + odd) * (n - 1).power_of_two(), (even - odd) * (n.number(-1) - n).power_of_two())
}

/// The hyperbolic sine of an `f32` that was widened.
pub fn sinh_short(x: F<'_>) -> F<'_> {
    let (size, z) = (x.abs(), x * x);
    let (half, inverse) = half_exps(size);
    let far = half - inverse;
    let near = size * (z.poly(&SINH)).fma(z, 1.0);
    size.lt(1.0).pick(near, far).with_sign(x)
}

/// `(cosh r − 1) / r²` and `(sinh r / r − 1) / r²` in `r²` for `|r| ≤ ln 2 / 2`, to 2^-34 and 2^-26.
const COSH_SHORT: [f64; 3] = [0.001394626071795379, 0.041666266647471334, 0.5000000079264253];

const SINH_SHORT: [f64; 2] = [0.008366603384124807, 0.16666542843262716];

/// The hyperbolic cosine of an `f32`.
pub fn cosh_short(x: F<'_>) -> F<'_> {
    // Beyond the bound the result is infinite.
    let size = x.abs().not_above(89.5);
    let (n, r) = reduce(size);
    // cosh(n ln 2 + r) = (a + b) cosh r + (a − b) sinh r with a = 2^n / 2 and b = 2^-n / 2; what is
    // lost of the sums counts little. All is halved once more, as a may be too large.
    let a = (n.integer() - 2).power_of_two();
    let b = size.lt(60.0).pick((n.integer().number(-2) - n.integer()).power_of_two(), 0.0);
    let (sum, difference) = (a + b, a - b);
    let z = r * r;
    let (even, odd) = (z * z.poly(&COSH_SHORT), (z * r).fma(z.poly(&SINH_SHORT), r));
    let half = a + (difference.fma(odd, sum * even) + b);
    half + half
}

/// The hyperbolic sine of an `f64`.
pub fn sinh(x: F<'_>) -> F<'_> {
    let size = x.abs();
    // Of half the argument: where e^|x| is too large, half of it may not be.
    let root = exp(size * 0.5);
    let large = root * 0.5 * root;
    let e = expm1(size.not_above(40.0));
    let small = (e + e / (e + 1.0)) * 0.5;
    size.gt(40.0).pick(large, small).with_sign(x)
}

/// The hyperbolic cosine of an `f64`.
pub fn cosh(x: F<'_>) -> F<'_> {
    let size = x.abs();
    let root = exp(size * 0.5);
    let large = root * 0.5 * root;
    let e = exp(size.not_above(40.0)) * 0.5;
    size.gt(40.0).pick(large, e + e.number(0.25) / e)
}
