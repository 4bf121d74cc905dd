//! Sine, cosine and tangent, and their inverses.
//!
//! An angle is reduced with π/2, or π, in two or three parts, which is exact enough up to [`BOUND_SHORT`] in `f32`, and
//! in `f64` up to [`BOUND`] for a result in single precision and up to [`BOUND_DOUBLE`] for one in double precision;
//! what is beyond is left to the next of these, and at last to the functions of the run time.

use crate::kernels::math::formula::{B, F, N};
use std::f64::consts::{FRAC_1_PI, FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, PI};

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

/// How exact a result is that is computed in `f64`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    /// Enough for an `f32`.
    Single,
    Double,
}

/// The quadrant, and sine and cosine of the angle in it.
fn quadrant<'p>(x: F<'p>, precision: Precision) -> (N<'p>, F<'p>, F<'p>) {
    let (n, q) = x.nearest(FRAC_2_PI);
    let r = n.fma(-HALF_PI[0], x);
    if precision == Precision::Single {
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

/// The sine of an `f64`: in double precision in all of its bits, in single precision to 2^-34.
pub fn sin(x: F<'_>, precision: Precision) -> F<'_> {
    let (q, sin, cos) = quadrant(x, precision);
    let y = signed(odd(q).pick(sin, cos), q);
    if precision == Precision::Double { x.equal(0.0).pick(x, y) } else { y }
}

/// The cosine; see [`sin`].
pub fn cos(x: F<'_>, precision: Precision) -> F<'_> {
    let (q, sin, cos) = quadrant(x, precision);
    signed(odd(q).pick(cos, sin), q + 1)
}

/// The tangent; see [`sin`].
pub fn tan(x: F<'_>, precision: Precision) -> F<'_> {
    let (q, sin, cos) = quadrant(x, precision);
    let even = odd(q);
    let y = even.pick(sin, -cos) / even.pick(cos, sin);
    if precision == Precision::Double { x.equal(0.0).pick(x, y) } else { y }
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
    let y = steep.pick((a + FRAC_PI_2_LOST) + FRAC_PI_2, a);
    // A rounded sum would get there one number late.
    size.gt(VERTICAL).pick(x.number(FRAC_PI_2), y).with_sign(x)
}

/// The last `f32` whose arc tangent is not π/2.
const VERTICAL: f64 = 62_919_772.0;

/// As [`ATAN`], in `x²` on `[0, ½]`, to 2^-57.
const ATAN_DOUBLE: [f64; 12] = [
    0.010131637668127122,
    -0.027457374246212116,
    0.041879903591768915,
    -0.05122570804734455,
    0.05858434930678624,
    -0.06663832196212063,
    0.0769207618928286,
    -0.09090896402104029,
    0.11111110666476669,
    -0.14285714276558667,
    0.19999999999905288,
    -0.33333333333332993,
];

/// The angle of a slope of at most 1, `small / large`, of `f64`. Their sum must not be too large for a number.
fn slope_double<'p>(small: F<'p>, large: F<'p>) -> F<'p> {
    // Beyond a half it is π/4 and the angle to the diagonal, of a slope from −1/3 to 0, whose numerator is exact.
    let beyond = small.gt(large * 0.5);
    let quotient = beyond.pick(small - large, small) / beyond.pick(small + large, large);
    let z = quotient * quotient;
    let a = (z * quotient).fma(z.poly(&ATAN_DOUBLE), quotient);
    beyond.pick((a + HALF_PI[1] / 2.0) + FRAC_PI_4, a)
}

/// The arc tangent of an `f64`.
pub fn atan_double(x: F<'_>) -> F<'_> {
    let size = x.abs();
    let (one, steep) = (x.number(1.0), size.gt(1.0));
    let a = slope_double(steep.pick(one, size), steep.pick(size, one));
    steep.pick((x.number(HALF_PI[1]) - a) + FRAC_PI_2, a).with_sign(x)
}

/// The angle of a point, given that of a slope of at most 1 and what is lost of π/2.
fn of_point<'p>(y: F<'p>, x: F<'p>, slope: impl Fn(F<'p>, F<'p>) -> F<'p>, lost: f64) -> F<'p> {
    let (rise, run) = (y.abs(), x.abs());
    let (one, steep, same) = (x.number(1.0), rise.gt(run), rise.equal(run));
    // 0/0 and ∞/∞ are the slopes of points on the axis and on the diagonal.
    let small = same.pick(rise.equal(0.0).pick(rise, one), steep.pick(run, rise));
    let large = same.pick(one, steep.pick(rise, run));
    let (a, left) = (slope(small, large), one.with_sign(x).lt(0.0));
    let away = left.pick(-a, a);
    let flat = left.pick((away + 2.0 * lost) + PI, away);
    let angle = steep.pick((x.number(lost) - away) + FRAC_PI_2, flat).with_sign(y);
    x.unordered(y).pick(x + y, angle)
}

/// The angle of a point, of `f32`.
pub fn atan2<'p>(y: F<'p>, x: F<'p>) -> F<'p> {
    of_point(y, x, |small, large| slope(small / large), FRAC_PI_2_LOST)
}

/// The angle of a point, of `f64`.
pub fn atan2_double<'p>(y: F<'p>, x: F<'p>) -> F<'p> {
    let slope = |small: F<'p>, large: F<'p>| {
        // A sum of the two may be too large for a number.
        let scale = large.gt(2f64.powi(1022)).pick(x.number(0.25), 1.0);
        slope_double(small * scale, large * scale)
    };
    of_point(y, x, slope, HALF_PI[1])
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

/// `(asin x / x − 1) / x²` in `x²` on `[0, ½]`, to 2^-59.
const ASIN_DOUBLE: [f64; 13] = [
    0.0326779370805076,
    -0.02107901866182302,
    0.021764762734523962,
    0.0036825012318528402,
    0.010786678988591418,
    0.011397747793813074,
    0.013980965106935334,
    0.017351599766329905,
    0.02237221567974071,
    0.030381942682876206,
    0.044642857175137274,
    0.07499999999970244,
    0.16666666666666763,
];

/// For `|x| ≤ ½` the arc sine, beyond it half of the arc cosine; and which.
fn arc<'p>(size: F<'p>, precision: Precision) -> (F<'p>, B<'p>) {
    let far = size.gt(0.5);
    let half = size.fma(-0.5, 0.5);
    let square = far.pick(half, size * size);
    let a = far.pick(half.sqrt(), size);
    (
        if precision == Precision::Double {
            (a * square).fma(square.poly(&ASIN_DOUBLE), a)
        } else {
            a * square.poly(&ASIN)
        },
        far,
    )
}

/// The arc sine of an `f64`: in double precision in all of its bits, in single precision to 2^-34; NaN beyond ±1.
pub fn asin(x: F<'_>, precision: Precision) -> F<'_> {
    let (a, far) = arc(x.abs(), precision);
    far.pick(a.fma(-2.0, HALF_PI[1]) + FRAC_PI_2, a).with_sign(x)
}

/// The arc cosine; see [`asin`].
pub fn acos(x: F<'_>, precision: Precision) -> F<'_> {
    let (a, far) = arc(x.abs(), precision);
    let far_value = x.lt(0.0).pick(a.fma(-2.0, 2.0 * HALF_PI[1]) + PI, a + a);
    far.pick(far_value, (a.number(HALF_PI[1]) - a.with_sign(x)) + FRAC_PI_2)
}
