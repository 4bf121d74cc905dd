//! Elementary functions of complex numbers, with the infinities and signed zeros of C's Annex G.

use super::super::number::C;
pub(crate) use surject_lapack::{div, sqrt};

const ONE: C = C::new(1.0, 0.0);

/// The modulus, without overflow on the way.
pub(crate) fn abs(z: C) -> f64 {
    libm::hypot(z.re, z.im)
}

pub(crate) fn neg(z: C) -> C {
    -z
}

pub(crate) fn conj(z: C) -> C {
    z.conj()
}

pub(crate) fn square(z: C) -> C {
    mul(z, z)
}

pub(crate) fn add(x: C, y: C) -> C {
    x + y
}

pub(crate) fn sub(x: C, y: C) -> C {
    x - y
}

pub(crate) fn mul(x: C, y: C) -> C {
    x * y
}

/// The larger in the order of real, then of imaginary parts; an operand with a NaN part wins.
pub(crate) fn maximum(x: C, y: C) -> C {
    if nan(x) || nan(y) {
        return if nan(x) { x } else { y };
    }
    if x.re > y.re || (x.re == y.re && x.im >= y.im) { x } else { y }
}

/// The smaller in the order of real, then of imaginary parts; an operand with a NaN part wins.
pub(crate) fn minimum(x: C, y: C) -> C {
    if nan(x) || nan(y) {
        return if nan(x) { x } else { y };
    }
    if x.re < y.re || (x.re == y.re && x.im <= y.im) { x } else { y }
}

fn nan(z: C) -> bool {
    z.re.is_nan() || z.im.is_nan()
}

pub(crate) fn sign(z: C) -> C {
    // Not so large that the modulus overflows.
    let z = if z.re.abs().max(z.im.abs()) > 1e300 { z * 0.25 } else { z };
    let r = abs(z);
    if r == 0.0 || r.is_nan() {
        return if r == 0.0 { z } else { C::new(f64::NAN, f64::NAN) };
    }
    C::new(z.re / r, z.im / r)
}

/// `r (cos t, sin t)`; a real argument stays real also where `r` is infinite.
fn polar(r: f64, t: f64) -> C {
    if t == 0.0 {
        return C::new(r, t);
    }
    C::new(r * libm::cos(t), r * libm::sin(t))
}

pub(crate) fn exp(z: C) -> C {
    if z.re.is_infinite() && !z.im.is_finite() {
        return if z.re < 0.0 { C::new(0.0, 0.0) } else { C::new(z.re, f64::NAN) };
    }
    // Half the exponent twice where e^re alone would overflow while the product does not.
    if z.re > 709.0 && z.re < 1420.0 {
        let half = polar(libm::exp(z.re / 2.0), z.im);
        let factor = libm::exp(z.re / 2.0);
        return C::new(half.re * factor, if half.im == 0.0 { half.im } else { half.im * factor });
    }
    polar(libm::exp(z.re), z.im)
}

pub(crate) fn expm1(z: C) -> C {
    if z.im == 0.0 {
        return C::new(libm::expm1(z.re), z.im);
    }
    let e = exp(z);
    // Where 1 or the exponential is nothing beside the other.
    if z.re.abs() > 40.0 {
        return C::new(e.re - 1.0, e.im);
    }
    // e^a cos b - 1 = (e^a - 1) cos b - 2 sin^2(b/2)
    let s = libm::sin(z.im / 2.0);
    C::new(libm::expm1(z.re) * libm::cos(z.im) - 2.0 * s * s, e.im)
}

/// By an exponential that is at most 1, so that nothing overflows.
pub(crate) fn logistic(z: C) -> C {
    if z.im == 0.0 {
        return C::new(super::real::logistic(z.re), z.im);
    }
    let left = z.re < 0.0;
    let e = exp(if left { z } else { -z });
    div(if left { e } else { ONE }, ONE + e)
}

/// A sum and what rounding took from it.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// `a + x² + y²` with about twice the digits until the end.
fn sum_of_squares(a: f64, x: f64, y: f64) -> f64 {
    let (p, q) = (x * x, y * y);
    let lost = libm::fma(x, x, -p) + libm::fma(y, y, -q);
    let (first, one) = two_sum(a, p);
    let (second, two) = two_sum(first, q);
    second + (one + two + lost)
}

/// The logarithm of the modulus.
fn log_modulus(z: C) -> f64 {
    if z.re.is_infinite() || z.im.is_infinite() {
        return f64::INFINITY;
    }
    if nan(z) {
        return f64::NAN;
    }
    let (x, y) = (z.re.abs().max(z.im.abs()), z.re.abs().min(z.im.abs()));
    if (0.5..2.0).contains(&x) {
        // Near the unit circle it is a difference of near numbers.
        return 0.5 * libm::log1p(sum_of_squares(-1.0, x, y));
    }
    // The modulus of what is nearly the largest number is none.
    let ratio = if x == 0.0 { 0.0 } else { y / x };
    libm::log(x) + 0.5 * libm::log1p(ratio * ratio)
}

pub(crate) fn log(z: C) -> C {
    C::new(log_modulus(z), libm::atan2(z.im, z.re))
}

pub(crate) fn log1p(z: C) -> C {
    if z.re.abs() < 0.5 && z.im.abs() < 1.0 {
        let re = 0.5 * libm::log1p(sum_of_squares(2.0 * z.re, z.re, z.im));
        return C::new(re, libm::atan2(z.im, 1.0 + z.re));
    }
    log(C::new(1.0 + z.re, z.im))
}

/// `1 - 0i` over the root: the root of what lies above the axis has its inverse below it.
pub(crate) fn rsqrt(z: C) -> C {
    div(C::new(1.0, -0.0), sqrt(z))
}

/// The root of the third order with the argument of a third.
pub(crate) fn cbrt(z: C) -> C {
    if z.im == 0.0 && z.re >= 0.0 {
        return C::new(libm::cbrt(z.re), z.im);
    }
    polar(libm::cbrt(abs(z)), libm::atan2(z.im, z.re) / 3.0)
}

/// `a cosh y` or `a sinh y`, given the function, where that may overflow and the product does not.
fn grown(a: f64, y: f64, function: fn(f64) -> f64) -> f64 {
    if y.abs() < 709.0 {
        return a * function(y);
    }
    let e = libm::exp(y.abs() / 2.0);
    a * (0.5 * e) * e * function(y).signum()
}

/// A part is zero where the argument makes it so, whatever the other factor is; of an angle that is no number an infinite
/// modulus leads to an infinite part.
pub(crate) fn sin(z: C) -> C {
    let re = if z.re == 0.0 { z.re } else { grown(libm::sin(z.re), z.im, libm::cosh) };
    let keeps = !z.re.is_finite() && (z.im == 0.0 || z.im.is_infinite());
    C::new(re, if keeps { z.im } else { grown(libm::cos(z.re), z.im, libm::sinh) })
}

pub(crate) fn cos(z: C) -> C {
    let endless = !z.re.is_finite();
    let re = match endless && z.im.is_infinite() {
        true => f64::INFINITY,
        false => grown(libm::cos(z.re), z.im, libm::cosh),
    };
    let im = match z.re == 0.0 || (endless && z.im == 0.0) {
        true => 0f64.copysign(z.re) * 1f64.copysign(z.im),
        false => grown(libm::sin(z.re), z.im, libm::sinh),
    };
    C::new(re, -im)
}

/// `-i sin iz`
pub(crate) fn sinh(z: C) -> C {
    let s = sin(C::new(-z.im, z.re));
    C::new(s.im, -s.re)
}

/// `cos iz`
pub(crate) fn cosh(z: C) -> C {
    cos(C::new(-z.im, z.re))
}

/// `-i tanh iz`
pub(crate) fn tan(z: C) -> C {
    let t = tanh(C::new(-z.im, z.re));
    C::new(t.im, -t.re)
}

pub(crate) fn tanh(z: C) -> C {
    if z.re.is_infinite() {
        let im = if z.im.is_finite() { libm::sin(z.im) * libm::cos(z.im) } else { z.im };
        return C::new(1f64.copysign(z.re), 0f64.copysign(im));
    }
    if !z.im.is_finite() {
        return C::new(if z.re == 0.0 { z.re } else { f64::NAN }, f64::NAN);
    }
    if z.re.abs() > 22.0 {
        // Within half an ulp of ±1; the imaginary part is 4 sin b cos b e^(-2|a|).
        let im = 4.0 * libm::sin(z.im) * libm::cos(z.im) * libm::exp(-2.0 * z.re.abs());
        return C::new(1f64.copysign(z.re), im);
    }
    // With t = tan b and s = sinh a: (s sqrt(1+s²) (1+t²) + i t) / (1 + (1+t²) s²)
    let (t, s) = (libm::tan(z.im), libm::sinh(z.re));
    let beta = 1.0 + t * t;
    let den = 1.0 + beta * s * s;
    C::new(beta * (1.0 + s * s).sqrt() * s / den, if t == 0.0 { t } else { t / den })
}

/// `-i ln((x + iy) / sqrt(x² + y²))`, with the first operand as `y`.
pub(crate) fn atan2(y: C, x: C) -> C {
    let quotient = div(C::new(x.re - y.im, x.im + y.re), sqrt(x * x + y * y));
    let l = log(quotient);
    C::new(l.im, -l.re)
}

/// What XLA says of zeros and infinities; powers of other numbers that are not finite, and by such, are not known.
pub(crate) fn pow(x: C, y: C) -> C {
    if (y.re == 0.0 && y.im == 0.0) || (x.re == 1.0 && x.im == 0.0) {
        return ONE;
    }
    let finite = |z: C| z.re.is_finite() && z.im.is_finite();
    let unknown = C::new(f64::NAN, f64::NAN);
    if x.im == 0.0 && y.im == 0.0 && (x.re == 0.0 || x.re == f64::INFINITY) {
        // The limit on the real axis, but for the pole at zero, of which no direction is known.
        return if y.re > 0.0 {
            C::new(x.re.abs(), 0.0)
        } else if y.re < 0.0 && x.re > 0.0 {
            C::new(0.0, 0.0)
        } else {
            unknown
        };
    }
    if !finite(x) || !finite(y) || (x.re == 0.0 && x.im == 0.0) {
        return unknown;
    }
    exp(y * log(x))
}

pub(crate) fn equal(x: C, y: C) -> bool {
    x.re == y.re && x.im == y.im
}

pub(crate) fn unequal(x: C, y: C) -> bool {
    !equal(x, y)
}
