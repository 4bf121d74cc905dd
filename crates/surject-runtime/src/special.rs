//! The scalar functions that `libm` does not have; [`crate::math`] exports them.

// Coefficients stand as they were published.
#![allow(clippy::excessive_precision)]

use std::f64::consts::{PI, SQRT_2};

/// The inverse of the hyperbolic cosine. That of `libm` is finite for some arguments below 1.
pub(crate) fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

/// `1 / (1 + e^-x)`, without overflow on either side. Towards 1 what is missing from it is rounded once: `1 + e^-x` would
/// be 1 where the result is not.
pub(crate) fn logistic(x: f64) -> f64 {
    let e = libm::exp(-x.abs());
    let q = e / (1.0 + e);
    if x >= 0.0 { 1.0 - q } else { q }
}

/// `1 - erf(x)`. That of `libm` makes a subnormal number on the way to a subnormal result: there the asymptotic series
/// (Abramowitz and Stegun 7.1.23) stands for it, whose first terms left out are below 1e-17 of it.
pub(crate) fn erfc(x: f64) -> f64 {
    if !(26.0..28.0).contains(&x) {
        return libm::erfc(x);
    }
    let square = x * x;
    let lost = libm::fma(x, x, -square);
    let root = libm::exp(-0.5 * square);
    let r = 0.5 / square;
    // 1 − 1/(2x²) + 1·3/(2x²)² − …
    let series = [13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0].iter().fold(1.0, |sum, k| 1.0 - k * r * sum);
    root * (root * (series * (1.0 - lost) / (x * PI.sqrt())))
}

/// The inverse of the error function: the normal quantile of M. J. Wichura, Algorithm AS 241 (PPND16),
/// *Applied Statistics* 37 (1988), at `(1 + x) / 2`, divided by the root of 2.
pub(crate) fn erf_inv(x: f64) -> f64 {
    if x.is_nan() || x.abs() > 1.0 {
        return f64::NAN;
    }
    if x.abs() == 1.0 {
        return f64::INFINITY.copysign(x);
    }
    let q = 0.5 * x;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        return q * ratio(r, &CENTRE) / SQRT_2;
    }
    // The tail probability; the subtraction is exact, because |x| is at least 1/2.
    let r = libm::sqrt(-libm::log(0.5 * (1.0 - x.abs())));
    let quantile = if r <= 5.0 { ratio(r - 1.6, &MIDDLE) } else { ratio(r - 5.0, &TAIL) };
    (quantile / SQRT_2).copysign(x)
}

/// Numerator and denominator, lowest power first.
type Rational = ([f64; 8], [f64; 8]);

fn ratio(x: f64, (numerator, denominator): &Rational) -> f64 {
    let value = |p: &[f64]| p.iter().rev().fold(0.0, |sum, c| sum * x + c);
    value(numerator) / value(denominator)
}

#[rustfmt::skip]
const CENTRE: Rational = (
    [3.387_132_872_796_366_608, 1.331_416_678_917_843_774_5e2, 1.971_590_950_306_551_442_7e3,
     1.373_169_376_550_946_112_5e4, 4.592_195_393_154_987_145_7e4, 6.726_577_092_700_870_085_3e4,
     3.343_057_558_358_812_810_5e4, 2.509_080_928_730_122_672_7e3],
    [1.0, 4.231_333_070_160_091_125_2e1, 6.871_870_074_920_579_083e2, 5.394_196_021_424_751_107_7e3,
     2.121_379_430_158_659_586_7e4, 3.930_789_580_009_271_061e4, 2.872_908_573_572_194_267_4e4,
     5.226_495_278_852_854_561e3],
);
#[rustfmt::skip]
const MIDDLE: Rational = (
    [1.423_437_110_749_683_577_34, 4.630_337_846_156_545_295_9, 5.769_497_221_460_691_405_5,
     3.647_848_324_763_204_605_04, 1.270_458_252_452_368_382_58, 2.417_807_251_774_506_117_7e-1,
     2.272_384_498_926_918_458_33e-2, 7.745_450_142_783_414_076_4e-4],
    [1.0, 2.053_191_626_637_758_821_87, 1.676_384_830_183_803_849_4, 6.897_673_349_851_000_045_5e-1,
     1.481_039_764_274_800_745_9e-1, 1.519_866_656_361_645_719_66e-2, 5.475_938_084_995_344_946e-4,
     1.050_750_071_644_416_843_24e-9],
);
#[rustfmt::skip]
const TAIL: Rational = (
    [6.657_904_643_501_103_777_2, 5.463_784_911_164_114_369_9, 1.784_826_539_917_291_335_8,
     2.965_605_718_285_048_912_3e-1, 2.653_218_952_657_612_309_3e-2, 1.242_660_947_388_078_438_6e-3,
     2.711_555_568_743_487_578_15e-5, 2.010_334_399_292_288_132_65e-7],
    [1.0, 5.998_322_065_558_879_376_9e-1, 1.369_298_809_227_358_053_1e-1, 1.487_536_129_085_061_485_25e-2,
     7.868_691_311_456_132_591e-4, 1.846_318_317_510_054_681_8e-5, 1.421_511_758_316_445_888_7e-7,
     2.044_263_103_389_939_785_64e-15],
);

/// The derivative of `log gamma`: reflection below 1/2, recurrence up to 10, then the asymptotic series
/// (Abramowitz and Stegun 6.3.7, 6.3.5, 6.3.18).
pub(crate) fn digamma(x: f64) -> f64 {
    if x.is_nan() || x == f64::NEG_INFINITY || (x <= 0.0 && x == libm::floor(x)) {
        return f64::NAN;
    }
    if x < 0.5 {
        // The fraction of x, so that the angle is exact far from 0.
        let fraction = x - libm::round(x);
        return digamma(1.0 - x) - PI / libm::tan(PI * fraction);
    }
    let (mut y, mut sum) = (x, 0.0);
    while y < 10.0 {
        sum -= 1.0 / y;
        y += 1.0;
    }
    let r = 1.0 / (y * y);
    // B(2k) / 2k.
    const SERIES: [f64; 8] = [
        1.0 / 12.0,
        -1.0 / 120.0,
        1.0 / 252.0,
        -1.0 / 240.0,
        1.0 / 132.0,
        -691.0 / 32760.0,
        1.0 / 12.0,
        -3617.0 / 8160.0,
    ];
    let series = r * SERIES.iter().rev().fold(0.0, |s, c| s * r + c);
    sum + libm::log(y) - 0.5 / y - series
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both round the distance from 1 once, and subnormal results once. References with 60 digits.
    #[test]
    fn limits_are_rounded_once() {
        assert_eq!(logistic(36.7368005696771), 1.0 - f64::EPSILON / 2.0);
        assert_eq!((logistic(37.4), logistic(37.5)), (1.0 - f64::EPSILON / 2.0, 1.0));
        assert_eq!((logistic(f64::INFINITY), logistic(f64::NEG_INFINITY)), (1.0, 0.0));
        // 1 − q, where q is a quarter to a half.
        assert_eq!(logistic(0.0), 0.5);
        // 0.4906 of the smallest subnormal number.
        assert_eq!(erfc(27.226364135742184), 0.0);
        assert_eq!(erfc(27.2), 1e-323);
        for i in 0..200 {
            let x = 26.0 + f64::from(i) * 0.002;
            assert!((erfc(x) / libm::erfc(x) - 1.0).abs() < 4e-16, "{x}");
        }
    }

    #[test]
    fn erf_inv_inverts_erf() {
        // Through the better conditioned of erf and erfc, in relative error of x.
        for i in 1..2000 {
            let y = i as f64 * 0.00291; // up to 5.8
            let x = libm::erf(y);
            if x >= 1.0 {
                break;
            }
            let z = erf_inv(x);
            // erf at y has slope 2/sqrt(pi) e^(-y^2): half a unit in the last place of x moves y by this.
            let slope = 2.0 / PI.sqrt() * (-y * y).exp();
            let bound = 1e-14 * y + 1.2e-16 * x / slope * 2.0;
            assert!((z - y).abs() <= bound, "{y} {z}");
            assert_eq!(erf_inv(-x), -z);
        }
        // Newton on the series of erf with 60 digits, at the values of these `f64`.
        for (x, y) in [
            (0.5, 0.476_936_276_204_469_873_381),
            (1e-10, 8.862_269_254_527_580_459e-11),
            (0.9, 1.163_087_153_676_674_162_8),
            (0.999, 2.326_753_765_513_524_493_9),
        ] {
            let z = erf_inv(x);
            assert!((z - y).abs() <= 4e-16 * y, "{x} {z} {y}");
        }
        // The tails, through erfc: its relative error is 2 z^2 times that of z.
        for k in 3..=53 {
            let tail = (-k as f64).exp2();
            let z = erf_inv(1.0 - tail);
            assert!((libm::erfc(z) / tail - 1.0).abs() <= 2.0 * z * z * 1e-15 + 1e-15, "{k} {z}");
        }
        assert_eq!(erf_inv(0.0), 0.0);
        assert_eq!(erf_inv(1.0), f64::INFINITY);
        assert_eq!(erf_inv(-1.0), f64::NEG_INFINITY);
        assert!(erf_inv(1.1).is_nan() && erf_inv(f64::NAN).is_nan());
        assert!(erf_inv(1e-310) > 0.0);
    }

    #[test]
    fn digamma_at_known_points() {
        const EULER: f64 = 0.577_215_664_901_532_860_6;
        for (x, y) in [
            (1.0, -EULER),
            (2.0, 1.0 - EULER),
            (0.5, -EULER - 2.0 * 2f64.ln()),
            (0.25, -EULER - PI / 2.0 - 3.0 * 2f64.ln()),
            (-0.5, 2.0 - EULER - 2.0 * 2f64.ln()),
            (10.5, (0..10).map(|k| 1.0 / (k as f64 + 0.5)).sum::<f64>() - EULER - 2.0 * 2f64.ln()),
        ] {
            let z = digamma(x);
            assert!((z - y).abs() <= 2e-15 * y.abs().max(1.0), "{x} {z} {y}");
        }
        assert!(digamma(0.0).is_nan() && digamma(-3.0).is_nan() && digamma(f64::NEG_INFINITY).is_nan());
        assert_eq!(digamma(f64::INFINITY), f64::INFINITY);
    }

    #[test]
    fn acosh_is_not_defined_below_one() {
        assert!([0.5, -1.0, -8192.0, f64::NEG_INFINITY, f64::NAN].iter().all(|&x| acosh(x).is_nan()));
        assert_eq!((acosh(1.0), acosh(f64::INFINITY)), (0.0, f64::INFINITY));
    }

    #[test]
    fn logistic_saturates() {
        assert_eq!((logistic(0.0), logistic(800.0), logistic(-800.0)), (0.5, 1.0, 0.0));
        assert!(logistic(-700.0) > 0.0 && logistic(f64::NAN).is_nan());
    }
}
