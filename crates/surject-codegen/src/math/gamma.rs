//! The logarithm of the gamma function and its derivative, of an `f32` that was widened.

use super::formula::F;
use super::logarithm;
use std::f64::consts::PI;

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

/// The logarithm of the absolute value of the gamma function.
pub fn lgamma(x: F<'_>) -> F<'_> {
    let reflected = x.lt(0.5);
    // Beyond this bound an `f32` is infinite.
    let z = reflected.pick(x.number(1.0) - x, x).not_above(4e37);
    let [numerator, denominator] = LANCZOS.map(|p| z.poly(&p));
    let t = z + 6.5;
    let core = (z - 0.5) * logarithm::log(t) - t;
    // Γ(x) Γ(1 − x) = π / sin(π x)
    let u = fraction(x);
    let sine = ((u * u).poly(&SIN) * u).abs();
    let above = reflected.pick(denominator * PI, numerator);
    let below = reflected.pick(numerator * sine, denominator);
    let log = logarithm::log(above / below);
    let y = log + reflected.pick(-core, core);
    let y = (x.equal(1.0) | x.equal(2.0)).pick(x.number(0.0), y);
    // At minus infinity there is no fraction.
    x.equal(f64::NEG_INFINITY).pick(x.number(f64::INFINITY), y)
}

/// `1/z + 1/(z + 1) + … + 1/(z + 9)` as one fraction: numerator and denominator.
#[rustfmt::skip]
const RECURRENCE: ([f64; 10], [f64; 11]) = (
    [10.0, 405.0, 6960.0, 66150.0, 379638.0, 1346625.0, 2894720.0, 3518100.0, 2053152.0, 362880.0],
    [1.0, 45.0, 870.0, 9450.0, 63273.0, 269325.0, 723680.0, 1172700.0, 1026576.0, 362880.0, 0.0],
);

/// `log y − 1/(2y) − ψ(y)` in `1/y²`, without its first factor: the Bernoulli numbers `B(2k) / 2k`.
const SERIES: [f64; 7] =
    [1.0 / 12.0, -691.0 / 32760.0, 1.0 / 132.0, -1.0 / 240.0, 1.0 / 252.0, -1.0 / 120.0, 1.0 / 12.0];

/// The derivative of [`lgamma`]; NaN at its poles.
pub fn digamma(x: F<'_>) -> F<'_> {
    let reflected = x.lt(0.5);
    let z = reflected.pick(x.number(1.0) - x, x);
    // Far out the fraction is nothing beside the logarithm, but its parts would be infinite.
    let near = z.not_above(1e20);
    let below = near.poly(&RECURRENCE.0) / near.poly(&RECURRENCE.1);
    let y = z + 10.0;
    let part = y.number(1.0) / y;
    let r = part * part;
    let value = logarithm::log(y) - part.fma(0.5, r.fma(r.poly(&SERIES), below));
    // ψ(x) = ψ(1 − x) − π / tan(π x)
    let u = fraction(x);
    let square = u * u;
    let turn = square.poly(&COS) * PI / (square.poly(&SIN) * u);
    let pole = u.equal(0.0) & x.lt(0.5);
    let y = reflected.pick(value - turn, value);
    pole.pick(x.number(f64::NAN), y)
}
