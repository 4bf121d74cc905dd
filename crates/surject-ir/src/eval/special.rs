//! Functions that no library at hand has: the inverse of the error function and the digamma function.

use std::f64::consts::PI;

/// The inverse of the error function: ±∞ at ±1, NaN outside.
pub(super) fn erf_inv(x: f64) -> f64 {
    let a = x.abs();
    if x.is_nan() || a > 1.0 {
        return f64::NAN;
    }
    if a == 1.0 {
        return f64::INFINITY.copysign(x);
    }
    if a < 1e-9 {
        // The next term of the series is below half an ulp.
        return x * (PI.sqrt() / 2.0);
    }
    // A start that is right to two digits or better, by inverting erfc(z) ≈ exp(-z²) / (z √π) in the tail and
    // Winitzki's approximation elsewhere.
    let rest = 1.0 - a;
    let mut z = if rest < 1e-4 {
        let l = -libm::log(rest);
        (l - 0.5 * libm::log(PI * l)).sqrt()
    } else {
        let (l, c) = (libm::log(rest * (1.0 + a)), 0.147);
        let b = 2.0 / (PI * c) + l / 2.0;
        ((b * b - l / c).sqrt() - b).sqrt()
    };
    // Halley's method triples the digits; the residual is taken where it is not a difference of near ones.
    for _ in 0..3 {
        let residual = if a < 0.5 { libm::erf(z) - a } else { rest - libm::erfc(z) };
        let u = residual / (2.0 / PI.sqrt() * libm::exp(-z * z));
        z -= u / (1.0 + z * u);
    }
    z.copysign(x)
}

/// The derivative of the logarithm of the gamma function; NaN at its poles 0, −1, −2, ….
pub(super) fn digamma(x: f64) -> f64 {
    if x.is_nan() || (x <= 0.0 && x == x.floor()) {
        return f64::NAN;
    }
    if x < 0.5 {
        // ψ(x) = ψ(1 − x) − π / tan(πx), with the argument of the tangent brought near zero first.
        let fraction = x - x.round();
        return digamma_positive(1.0 - x) - PI / libm::tan(PI * fraction);
    }
    digamma_positive(x)
}

/// `ψ(x)` for `x ≥ 1/2`: upwards by `ψ(x) = ψ(x + 1) − 1/x`, then the asymptotic series.
fn digamma_positive(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 12.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    if x.is_infinite() {
        return x;
    }
    let w = 1.0 / (x * x);
    // Bernoulli numbers B₂ₙ / 2n.
    let series = w
        * (1.0 / 12.0
            - w * (1.0 / 120.0
                - w * (1.0 / 252.0
                    - w * (1.0 / 240.0 - w * (1.0 / 132.0 - w * (691.0 / 32760.0 - w / 12.0))))));
    sum + libm::log(x) - 0.5 / x - series
}
