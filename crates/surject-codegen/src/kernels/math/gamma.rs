//! The logarithm of the gamma function and its derivative, of an `f32` that was widened.

use crate::kernels::math::formula::{B, F};
use crate::kernels::math::logarithm;
use std::f64::consts::PI;

/// log π
const LN_PI: f64 = 1.1447298858494002;

/// The sum of C. Lanczos for `g = 7` and nine terms, as one fraction: numerator and denominator.
const LANCZOS: [[f64; 9]; 2] = [NUMERATOR, [1.0, 28.0, 322.0, 1960.0, 6769.0, 13132.0, 13068.0, 5040.0, 0.0]];

/// The numerator, times the root of 2π.
const NUMERATOR: [f64; 9] = [
    2.506628274630524,
    131.49354157337686,
    3017.564847168611,
    39566.827664428136,
    324225.4954741218,
    1700220.1441767719,
    5571934.910626382,
    10433559.178127712,
    8546756.818814375,
];

/// `sin(π u) / u` in `u²` for `|u| ≤ ½`, to 2^-50, and `cos(π u)`.
const SIN: [f64; 8] = [
    -2.113362735205297e-05,
    0.0004659870158043378,
    -0.0073703643265304155,
    0.08214587881631043,
    -0.599264528825224,
    2.5501640398618677,
    -5.1677127800497855,
    3.1415926535897927,
];

const COS: [f64; 9] = [
    4.149564353942586e-06,
    -0.00010456655338748738,
    0.0019295562724817132,
    -0.025806888737002202,
    0.23533063012953284,
    -1.335262768843447,
    4.058712126416497,
    -4.934802200544676,
    1.0,
];

/// The fraction of a number, from −½ to ½.
fn fraction(x: F<'_>) -> F<'_> {
    x - (x + 0.5).floor()
}

/// The arguments that are mirrored: Γ(x) Γ(1 − x) = π / sin(π x).
pub fn is_mirrored(x: F<'_>) -> B<'_> {
    x.at_most(0.0)
}

/// What stands for `x` where that is mirrored.
fn mirrored(x: F<'_>) -> F<'_> {
    is_mirrored(x).pick(x.number(1.0) - x, x)
}

/// `sin(π x)`, where `u` is the fraction of `x`, but for its sign.
fn sine(u: F<'_>) -> F<'_> {
    (u * u).poly(&SIN) * u
}

/// The logarithm of the absolute value of the gamma function of what is positive, or of `1 − x`.
pub fn lgamma(x: F<'_>) -> F<'_> {
    // Beyond this bound an `f32` is infinite.
    let z = mirrored(x).not_above(4e37);
    let [above, below] = LANCZOS.map(|p| z.poly(&p));
    // Two quotients by one division: that of the sum, and what the logarithm of t needs.
    let t = z + 6.5;
    let (n, m) = logarithm::split_normal(t);
    let f = m - 1.0;
    let beside = f + 2.0;
    let inverse = x.number(1.0) / (below * beside);
    let log_t = logarithm::log_double(n, f, f * (below * inverse), None);
    let (n, m) = logarithm::split_normal(above * (beside * inverse));
    let f = m - 1.0;
    let log = logarithm::log_double(n, f, f / (f + 2.0), None);
    let y = (z - 0.5).fma(log_t, log - t);
    (x.equal(1.0) | x.equal(2.0)).pick(x.number(0.0), y)
}

/// The logarithm of the absolute value of the gamma function of what is mirrored, given that of `1 − x`.
pub fn lgamma_mirrored<'p>(x: F<'p>, y: F<'p>) -> F<'p> {
    let sine = sine(fraction(x)).abs();
    let (n, m) = logarithm::split_normal(sine);
    let f = m - 1.0;
    let log = logarithm::log_double(n, f, f / (f + 2.0), None);
    // At minus infinity there is no fraction.
    let pole = sine.equal(0.0) | x.equal(f64::NEG_INFINITY);
    let value = (x.number(LN_PI) - log) - y;
    is_mirrored(x).pick(pole.pick(x.number(f64::INFINITY), value), y)
}

/// `1/z + 1/(z + 1) + … + 1/(z + 5)` as one fraction: numerator and denominator.
const RECURRENCE: ([f64; 6], [f64; 7]) =
    ([6.0, 75.0, 340.0, 675.0, 548.0, 120.0], [1.0, 15.0, 85.0, 225.0, 274.0, 120.0, 0.0]);

/// `log y − 1/(2y) − ψ(y)` in `1/y²`, without its first factor: the Bernoulli numbers `B(2k) / 2k`.
const SERIES: [f64; 8] = [
    -3617.0 / 8160.0,
    1.0 / 12.0,
    -691.0 / 32760.0,
    1.0 / 132.0,
    -1.0 / 240.0,
    1.0 / 252.0,
    -1.0 / 120.0,
    1.0 / 12.0,
];

/// The derivative of [`lgamma`], of what is positive or of `1 − x`.
pub fn digamma(x: F<'_>) -> F<'_> {
    let z = mirrored(x);
    // Far out the fraction is nothing beside the logarithm, but its parts would be infinite.
    let near = z.not_above(1e20);
    let (above, below) = (near.poly(&RECURRENCE.0), near.poly(&RECURRENCE.1));
    let y = z + 6.0;
    let (n, m) = logarithm::split_normal(y);
    let f = m - 1.0;
    let beside = f + 2.0;
    // Three quotients by one division.
    let left = below * y;
    let inverse = x.number(1.0) / (left * beside);
    let by_left = inverse * beside;
    let part = by_left * below;
    let r = part * part;
    let sum = part.fma(0.5, r.fma(r.poly(&SERIES), above * (by_left * y)));
    let value = logarithm::log_double(n, f, f * (inverse * left), None) - sum;
    x.equal(f64::INFINITY).pick(x, value)
}

/// The derivative of [`lgamma`] of what is mirrored, given that of `1 − x`: ψ(x) = ψ(1 − x) − π / tan(π x). NaN at its
/// poles.
pub fn digamma_mirrored<'p>(x: F<'p>, y: F<'p>) -> F<'p> {
    let u = fraction(x);
    let value = y - (u * u).poly(&COS) * PI / sine(u);
    is_mirrored(x).pick(u.equal(0.0).pick(x.number(f64::NAN), value), y)
}
