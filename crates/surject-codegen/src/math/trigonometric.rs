//! Sine, cosine and tangent, and their inverses.
//!
//! An angle is reduced with π/2, or π, in two or three parts, which is exact enough up to [`BOUND_SHORT`] in `f32`, and
//! in `f64` up to [`BOUND`] for a result in single precision and up to [`BOUND_DOUBLE`] for one in double precision;
//! what is beyond is left to the next of these, and at last to the functions of the run time.

use super::formula::{B, F, N};
use std::f64::consts::{FRAC_1_PI, FRAC_2_PI, FRAC_PI_2, PI};

/// The largest angles whose reduction is right in all bits.
pub const BOUND: f64 = 1_073_741_824.0;
/// As [`BOUND`], in double precision.
pub const BOUND_DOUBLE: f64 = 1_048_576.0;

/// The largest angles whose reduction in `f32` is right.
pub const BOUND_SHORT: f64 = 100_000.0;

/// π/2 in three parts.
const HALF_PI: [f64; 3] = [FRAC_PI_2, 6.123_233_995_736_766e-17, -1.497_384_904_859_169_8e-33];

/// `(sin x / x − 1) / x²` and `(cos x − 1) / x²` in `x²` for `|x| ≤ π/4`, to 2^-37 and 2^-34.
const SIN: [f64; 4] =
    [2.7183042280285263e-06, -0.0001983933408301882, 0.008333329383582349, -0.16666666641606986];
const COS: [f64; 4] =
    [2.439036904929597e-05, -0.001388676294811948, 0.04166662329842092, -0.49999999724888716];

/// `(sin x / x − 1) / x²` without its first term and `(cos x − 1 + x²/2) / x⁴`, to 2^-68 and 2^-75.
const SIN_DOUBLE: [f64; 6] = [
    -7.578748170849496e-13,
    1.6058367623912905e-10,
    -2.505210491925885e-08,
    2.7557319214219272e-06,
    -0.00019841269841255123,
    0.008333333333333323,
];
const COS_DOUBLE: [f64; 7] = [
    4.73812237829689e-14,
    -1.1470293563546427e-11,
    2.0876754368793155e-09,
    -2.75573192153876e-07,
    2.4801587301571523e-05,
    -0.0013888888888888874,
    0.041666666666666664,
];

/// The quadrant, and sine and cosine of the angle in it.
fn quadrant<'p>(x: F<'p>, double: bool) -> (N<'p>, F<'p>, F<'p>) {
    let (n, q) = x.nearest(FRAC_2_PI);
    let r = n.fma(-HALF_PI[0], x);
    if !double {
        let r = n.fma(-HALF_PI[1], r);
        let z = r * r;
        return (q, r * z.fma(z.poly(&SIN), 1.0), z.fma(z.poly(&COS), 1.0));
    }
    // The angle as the sum of two numbers.
    let t = n * HALF_PI[1];
    let lost = n.fma(HALF_PI[1], -t);
    let high = r - t;
    let low = n.fma(-HALF_PI[2], ((r - high) - t) - lost);
    let z = high * high;
    let v = z * high;
    let sin = high - (v.fma(1.0 / 6.0, z.fma(low.fma(0.5, -(v * z.poly(&SIN_DOUBLE))), -low)));
    let half = z * 0.5;
    let one = z.number(1.0);
    let w = one - half;
    let cos = w + (((one - w) - half) + z.fma(z * z.poly(&COS_DOUBLE), -(high * low)));
    (q, sin, cos)
}

/// π in three parts of an `f32`, none of them negative: so zero keeps its sign.
const PI_SHORT: [f64; 3] = [3.141592502593994, 1.5099578831723193e-07, 1.078060505991553e-14];

/// `(sin x / x − 1) / x²` in `x²` for `|x| ≤ π/2`, to 2^-27; rounded as it is here, no sine is above 1.
const SIN_SHORT: [f64; 4] =
    [2.605655936349649e-06, -0.00019809568766504526, 0.008333065547049046, -0.16666659712791443];

/// The sine of an angle of at most π/2, negative after an odd number of half turns.
fn half_turn<'p>(r: F<'p>, turns: N<'p>) -> F<'p> {
    let z = r * r;
    let sine = (z * r).fma(z.poly(&SIN_SHORT), r);
    // The sign is that of the angle, which it has at −0 too.
    sine.with_sign((r.bits() ^ turns.shl(31)).as_bits())
}

/// The sine of an `f32`, and where the angle is too large for it. One polynomial serves every quadrant, as the angle is
/// reduced by whole half turns. The first product is of integers and a part of few digits, so its difference is exact.
pub fn sin_short(x: F<'_>) -> (F<'_>, B<'_>) {
    let (n, turns) = x.nearest(FRAC_1_PI);
    let r = PI_SHORT.iter().fold(x, |r, &part| n.fma(-part, r));
    (half_turn(r, turns), x.abs().gt(BOUND_SHORT))
}

/// The cosine of an `f32`; see [`sin_short`]. It is the sine of what the angle is from the next zero of the cosine.
pub fn cos_short(x: F<'_>) -> (F<'_>, B<'_>) {
    let (n, turns) = x.fma(FRAC_1_PI, -0.5).nearest(1.0);
    let r = PI_SHORT.iter().fold(-x, |r, &part| (n + 0.5).fma(part, r));
    (half_turn(r, turns), x.abs().gt(BOUND_SHORT))
}

fn odd(q: N<'_>) -> B<'_> {
    (q & 1).is_zero()
}

/// Flips the sign in the quadrants 2 and 3.
fn signed<'p>(x: F<'p>, q: N<'p>) -> F<'p> {
    let last = if x.is_double() { 62 } else { 30 };
    (x.bits() ^ (q & 2).shl(last)).as_bits()
}

/// The sine of an `f64`; with `double` in all of its bits, else to 2^-34.
pub fn sin(x: F<'_>, double: bool) -> F<'_> {
    let (q, sin, cos) = quadrant(x, double);
    let y = signed(odd(q).pick(sin, cos), q);
    if double { x.equal(0.0).pick(x, y) } else { y }
}

/// The cosine; see [`sin`].
pub fn cos(x: F<'_>, double: bool) -> F<'_> {
    let (q, sin, cos) = quadrant(x, double);
    signed(odd(q).pick(cos, sin), q + 1)
}

/// The tangent; see [`sin`].
pub fn tan(x: F<'_>, double: bool) -> F<'_> {
    let (q, sin, cos) = quadrant(x, double);
    let even = odd(q);
    let y = even.pick(sin, -cos) / even.pick(cos, sin);
    if double { x.equal(0.0).pick(x, y) } else { y }
}

/// `(atan x / x − 1) / x²` in `x²` on `[0, 1]`, to 2^-25.
const ATAN: [f64; 8] = [
    0.00292064604621939,
    -0.01636774392433122,
    0.04321156315752516,
    -0.07552189279692487,
    0.10665993050034163,
    -0.1421105241361586,
    0.19993772488060835,
    -0.33333152721645065,
];

/// What an `f32` loses of π/2.
const FRAC_PI_2_LOST: f64 = -4.371139000186241e-08;

/// The arc tangent of an `f32` of at most 1.
fn slope(quotient: F<'_>) -> F<'_> {
    let z = quotient * quotient;
    (z * quotient).fma(z.poly(&ATAN), quotient)
}

/// The arc tangent of an `f32`.
pub fn atan(x: F<'_>) -> F<'_> {
    let size = x.abs();
    let (one, steep) = (x.number(1.0), size.gt(1.0));
    // Of a steep one the angle to the other axis, which is subtracted.
    let a = slope(steep.pick(-one, size) / steep.pick(size, one));
    steep.pick((a + FRAC_PI_2_LOST) + FRAC_PI_2, a).with_sign(x)
}

/// The angle of a point, of `f32`.
pub fn atan2<'p>(y: F<'p>, x: F<'p>) -> F<'p> {
    let (rise, run) = (y.abs(), x.abs());
    let (one, steep) = (x.number(1.0), rise.gt(run));
    let (small, large) = (steep.pick(run, rise), steep.pick(rise, run));
    // 0/0 and ∞/∞ are the angles of points on the axis and on the diagonal.
    let quotient = rise.equal(run).pick(rise.equal(0.0).pick(rise, one), small / large);
    let a = slope(quotient);
    let a = steep.pick((x.number(FRAC_PI_2_LOST) - a) + FRAC_PI_2, a);
    let left = one.with_sign(x).lt(0.0);
    let a = left.pick((x.number(2.0 * FRAC_PI_2_LOST) - a) + PI, a).with_sign(y);
    x.unordered(y).pick(x + y, a)
}

/// `asin x / x` in `x²` on `[0, ½]`, to 2^-36.
const ASIN: [f64; 8] = [
    0.034965903088091825,
    0.007212132644205831,
    0.024715267447574824,
    0.030091624803833306,
    0.04466208226886539,
    0.07499938022782679,
    0.1666666742413292,
    0.999999999984848,
];

/// For `|x| ≤ ½` the arc sine, beyond it half of the arc cosine; and which.
fn arc<'p>(size: F<'p>) -> (F<'p>, B<'p>) {
    let far = size.gt(0.5);
    let half = size.fma(-0.5, 0.5);
    let square = far.pick(half, size * size);
    let a = far.pick(half.sqrt(), size);
    (a * square.poly(&ASIN), far)
}

/// The arc sine of an `f64`, to 2^-34; NaN beyond ±1.
pub fn asin(x: F<'_>) -> F<'_> {
    let (a, far) = arc(x.abs());
    far.pick(a.fma(-2.0, FRAC_PI_2), a).with_sign(x)
}

/// The arc cosine of an `f64`, to 2^-34; NaN beyond ±1.
pub fn acos(x: F<'_>) -> F<'_> {
    let (a, far) = arc(x.abs());
    let twice = a + a;
    let far_value = x.lt(0.0).pick(a.number(PI) - twice, twice);
    far.pick(far_value, a.number(FRAC_PI_2) - a.with_sign(x))
}
