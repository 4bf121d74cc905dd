//! Special functions of real numbers that `libm` lacks. Each says how exact it is; floats of 32 bits and fewer are
//! rounded once from these.

use std::f64::consts::{PI, SQRT_2};

/// The inverse of the hyperbolic cosine; NaN below 1.
pub(crate) fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

/// The inverse of the error function, by Halley's method on `erf` near zero and on the logarithm of `erfc` in the
/// tails. Relative error at most some 1e-15.
pub(crate) fn erf_inv(x: f64) -> f64 {
    let a = x.abs();
    if a.is_nan() || a > 1.0 {
        return f64::NAN;
    }
    if a == 1.0 || x == 0.0 {
        return if a == 1.0 { f64::INFINITY.copysign(x) } else { x };
    }
    let slope = 2.0 / PI.sqrt();
    if a < 1e-8 {
        return x / slope;
    }
    // A first guess (S. Winitzki) with an error below 2e-3.
    let tail = 1.0 - a;
    let l = if a < 0.5 { libm::log1p(-a * a) } else { (tail * (1.0 + a)).ln() };
    let c = 2.0 / (PI * 0.147) + 0.5 * l;
    let mut y = ((c * c - l / 0.147).sqrt() - c).sqrt();
    for _ in 0..4 {
        // f = erf(y) - a, of which f'' = -2 y f'.
        let error = if a < 0.5 { libm::erf(y) - a } else { tail - libm::erfc(y) };
        let step = error / (slope * (-y * y).exp());
        let step = step / (1.0 + y * step);
        y -= step;
        if step.abs() <= 1e-17 * y {
            break;
        }
    }
    y.copysign(x)
}

/// The derivative of the logarithm of the gamma function; NaN at its poles. Reflection below 1/2, recurrence up to 10, then the
/// asymptotic series (Abramowitz and Stegun 6.3.7, 6.3.5, 6.3.18).
pub(crate) fn digamma(x: f64) -> f64 {
    if x.is_nan() || x == f64::NEG_INFINITY || (x <= 0.0 && x == x.floor()) {
        return f64::NAN;
    }
    if x < 0.5 {
        // Of the fraction of x alone, so that the angle is exact far from 0.
        let fraction = x - x.round();
        return digamma(1.0 - x) - PI / libm::tan(PI * fraction);
    }
    let (mut y, mut sum) = (x, 0.0);
    while y < 10.0 {
        sum -= 1.0 / y;
        y += 1.0;
    }
    let r = 1.0 / (y * y);
    // B(2k) / 2k
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
    sum + y.ln() - 0.5 / y - series
}

/// `B(2j) / (2j)!` for j = 1, 2, …: the coefficients of the Euler–Maclaurin formula.
const BERNOULLI: [f64; 12] = [
    1.0 / 12.0,
    -1.0 / 720.0,
    1.0 / 30240.0,
    -1.0 / 1_209_600.0,
    1.0 / 47_900_160.0,
    -691.0 / 1_307_674_368_000.0,
    1.0 / 74_724_249_600.0,
    -3617.0 / 10_670_622_842_880_000.0,
    43867.0 / 5_109_094_217_170_944_000.0,
    -174_611.0 / 802_857_662_698_291_200_000.0,
    77683.0 / 14_101_100_039_391_805_440_000.0,
    -236_364_091.0 / 1_693_824_136_731_743_669_452_800_000.0,
];

/// The Hurwitz zeta function, the sum of `(q + k)^-x`: some terms, then the Euler–Maclaurin formula for the rest. Infinite at
/// `x = 1`, NaN below it; for `q <= 0` a pole at the integers, NaN where `x` is no integer.
pub(crate) fn zeta(x: f64, q: f64) -> f64 {
    if x.is_nan() || q.is_nan() || x < 1.0 {
        return f64::NAN;
    }
    if x == 1.0 {
        return f64::INFINITY;
    }
    if q <= 0.0 {
        if q == q.floor() {
            return if x == x.floor() && x % 2.0 == 0.0 { f64::INFINITY } else { f64::NAN };
        }
        if x != x.floor() {
            return f64::NAN;
        }
    }
    // Terms of a negative base first, as many as there are, then ten more.
    let terms = if q < 0.0 { (-q).ceil().min(1e6) as usize + 10 } else { 10 };
    let mut sum = 0.0;
    let mut a = q;
    for _ in 0..terms {
        sum += libm::pow(a, -x);
        a += 1.0;
    }
    let power = libm::pow(a, -x);
    let mut factor = a / (x - 1.0) + 0.5;
    // x (x+1) … (x+2j-2) a^(1-2j), term by term.
    let mut rising = x / a;
    for (j, coefficient) in BERNOULLI.iter().enumerate() {
        factor += coefficient * rising;
        let j = j as f64;
        rising *= (x + 2.0 * j + 1.0) * (x + 2.0 * j + 2.0) / (a * a);
    }
    let tail = power * factor;
    if tail.is_nan() { sum } else { sum + tail }
}

/// `(-1)^(n+1) n! zeta(n + 1, x)`, the digamma function for `n = 0`; NaN where `n` is negative or no integer.
pub(crate) fn polygamma(n: f64, x: f64) -> f64 {
    if n == 0.0 {
        return digamma(x);
    }
    if n.is_nan() || n < 0.0 || n != n.floor() {
        return f64::NAN;
    }
    let magnitude = if n <= 170.0 {
        libm::tgamma(n + 1.0) * zeta(n + 1.0, x)
    } else {
        libm::exp(libm::lgamma(n + 1.0)) * zeta(n + 1.0, x)
    };
    if n % 2.0 == 0.0 { -magnitude } else { magnitude }
}

/// `e^-|x| I1(x)`: the power series (all of whose terms have one sign) up to 30, the asymptotic series beyond.
pub(crate) fn bessel_i1e(x: f64) -> f64 {
    let a = x.abs();
    if a.is_nan() || a == 0.0 {
        return x;
    }
    let value = if a <= 30.0 {
        let quarter = a * a / 4.0;
        let series = (1..=75).rev().fold(1.0, |s, k| 1.0 + quarter / (f64::from(k) * f64::from(k + 1)) * s);
        a / 2.0 * series * libm::exp(-a)
    } else {
        let tail = (1..=22).rev().fold(1.0, |s, k| {
            let odd = f64::from(2 * k - 1);
            1.0 - (4.0 - odd * odd) / (8.0 * f64::from(k)) / a * s
        });
        tail / (2.0 * PI * a).sqrt()
    };
    value.copysign(x)
}

/// A number of the normal distribution from one of the interval (0, 1).
pub(crate) fn quantile(u: f64) -> f64 {
    SQRT_2 * erf_inv(2.0 * u - 1.0)
}
