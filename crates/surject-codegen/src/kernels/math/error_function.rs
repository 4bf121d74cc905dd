//! The error function and its complement, and for `f32` its inverse.

use crate::kernels::math::formula::F;
use crate::kernels::math::{exponential, logarithm};

/// `erf x / x − 1` in `x²` on `[0, SEAM]`, to 2^-27.
const NEAR: [f64; 7] =
    [7.02192847e-05, -0.000774854387, 0.00515750237, -0.0268371068, 0.112831771, -0.376125902, 0.128379166];
/// The eighth root of `1 − erf x` in `x − SEAM` on `[SEAM, END]`, to 2^-31.5 of the error function and 2^-13 of what is
/// missing from 1.
const EIGHTH_ROOT: [f64; 9] = [
    -5.258047622191953e-06,
    4.6521810872945935e-05,
    1.0491065950191114e-05,
    -0.0013102957746014,
    0.0020793566945940256,
    0.019482441246509552,
    -0.03575270250439644,
    -0.26803329586982727,
    0.7718443274497986,
];

/// There that root is nearly an `f32`.
const SEAM: f64 = 1.08203125;

/// The last `f32` before the result is 1.
const END: f64 = 3.919205665588379;

const SIGN: i64 = 1 << 31;

/// The error function of an `f32`. Nothing is divided and no exponential is needed: a root of what is missing from 1 is
/// so smooth that one polynomial does for it, and what its powers lose is small beside 1.
pub fn erf(x: F<'_>) -> F<'_> {
    let size = x.abs();
    let near = size.fma((x * x).poly(&NEAR), size);
    let beyond = size - SEAM;
    let root = beyond.poly(&EIGHTH_ROOT);
    let fourth = root * root;
    let square = fourth * fourth;
    let far = (-square).fma(square, 1.0);
    let far = size.gt(END).pick(size.number(1.0), far);
    // The sign of what is beyond the seam chooses, and the sign of the argument has a place that is free: both spare an
    // operation.
    let y = beyond.bits().below(SIGN).pick(far, near);
    (y.bits() | (x.bits() & SIGN)).as_bits()
}

/// `(x + 2) e^(x²) (1 − erf x)` in `(x − 2) / (x + 2)` on `[0, 10.2]`, to 2^-28, without the constant, and that.
const SCALED: [f64; 10] = [
    6.985808507739792e-05,
    4.764857452271576e-05,
    -0.0005925835807306749,
    -0.0008326996950826844,
    0.0030624406719961957,
    0.006476070877175271,
    -0.021505664945452738,
    -0.03644180572400672,
    0.27947176570044896,
    -0.6871606963466759,
];

const MIDDLE: f64 = 1.0215827087440552;

/// `1 − erf x` of an `f32`, to four units in the last place.
pub fn erfc(x: F<'_>) -> F<'_> {
    // Beyond this bound an `f32` is zero.
    let size = x.abs().not_above(10.2);
    // A quotient, and what is lost of it: by the divisor, by the dividend, and by itself.
    let divisor = size + 2.0;
    let inverse = size.number(1.0) / divisor;
    let t = (size - 2.0) * inverse;
    let slope = t.poly(&SCALED);
    let dividend = slope.fma(t, MIDDLE);
    let quotient = dividend * inverse;
    let lost = slope.fma(t, size.number(MIDDLE) - dividend);
    let lost = (-quotient).fma(size - (divisor - 2.0), (-quotient).fma(divisor, dividend)) + lost;
    let (n, more) = exponential::of_square(size);
    let y = exponential::scale(quotient.fma(more, lost * inverse) + quotient, n);
    x.lt(0.0).pick(x.number(2.0) - y, y)
}

/// `erf x / x − 1` in `x²` for `|x| < 0.75`, to 2^-58.
const NEAR_DOUBLE: [f64; 13] = [
    7.272605667746851e-11,
    -1.1958368091524506e-09,
    1.4776618764400006e-08,
    -1.636401288305236e-07,
    1.6462039947573494e-06,
    -1.4925648277963885e-05,
    0.00012055332941926721,
    -0.0008548327022938597,
    0.00522397762543796,
    -0.026866170645131044,
    0.11283791670955125,
    -0.37612638903183754,
    0.1283791670955126,
];

/// `(1 + 2x) e^(x²) (1 − erf x)` in `(x − 4) / (x + 4)` on `[0.74, 27.3]`, to 2^-60.
const SCALED_DOUBLE: [f64; 22] = [
    -8.516224053935589e-09,
    -1.3305911635750061e-08,
    1.0050995836296975e-07,
    6.968701516296552e-08,
    -8.166809788000362e-07,
    2.9677094067011963e-07,
    5.704878966008267e-06,
    -1.1223116262050169e-05,
    -2.4397497048225733e-05,
    0.0001506219287456474,
    -0.00019925708661766494,
    -0.00075777332583395,
    0.0050319700346858984,
    -0.016197734054476384,
    0.037167515532533654,
    -0.06633036581237989,
    0.09373283499858685,
    -0.10103906603630083,
    0.06809705425468748,
    0.015379652102619726,
    -0.13962111684056247,
    1.2329951186255526,
];

/// The error function of an `f64`.
pub fn erf_double(x: F<'_>) -> F<'_> {
    let size = x.abs();
    let near = x.fma((x * x).poly(&NEAR_DOUBLE), x);
    // Beyond 6 the result is 1.
    let far = (size.number(1.0) - far_double(size.not_above(6.0))).with_sign(x);
    size.lt(0.75).pick(near, far)
}

/// `1 − erf x` of an `f64`.
pub fn erfc_double(x: F<'_>) -> F<'_> {
    let size = x.abs();
    let near = x.number(1.0) - x.fma((x * x).poly(&NEAR_DOUBLE), x);
    // Beyond this bound the result is zero.
    let y = far_double(size.not_above(27.3));
    let far = x.lt(0.0).pick(x.number(2.0) - y, y);
    size.lt(0.75).pick(near, far)
}

/// `1 − erf x` on `[0.74, 27.3]`.
fn far_double(x: F<'_>) -> F<'_> {
    let t = (x - 4.0) / (x + 4.0);
    let (n, more) = exponential::of_square(x);
    let g = t.poly(&SCALED_DOUBLE) / x.fma(2.0, 1.0);
    exponential::scale(g.fma(more, g), n)
}

/// The polynomials of M. Giles, "Approximating the erfinv function": near zero, and towards the ends.
const INVERSE: [[f64; 9]; 2] = [
    [
        2.810_226_36e-8,
        3.432_739_39e-7,
        -3.523_387_7e-6,
        -4.391_506_54e-6,
        2.185_808_7e-4,
        -1.253_725_03e-3,
        -4.177_681_64e-3,
        2.466_407_27e-1,
        1.501_409_41,
    ],
    [
        -2.002_142_57e-4,
        1.009_505_58e-4,
        1.349_343_22e-3,
        -3.673_428_44e-3,
        5.739_507_73e-3,
        -7.622_461_3e-3,
        9.438_870_47e-3,
        1.001_674_06,
        2.832_976_82,
    ],
];

/// The inverse of the error function.
pub fn erf_inv(x: F<'_>) -> F<'_> {
    // (1 − |x|) (1 + |x|): near the ends 1 − x² would have lost what counts.
    let size = x.abs();
    let w = -logarithm::log((size.number(1.0) - size) * (size + 1.0));
    let a = (w - 2.5).poly(&INVERSE[0]);
    let b = (w.sqrt() - 3.0).poly(&INVERSE[1]);
    let y = w.lt(5.0).pick(a, b) * x;
    // At the ends the polynomial is not infinite.
    size.equal(1.0).pick(x * f64::INFINITY, y)
}
