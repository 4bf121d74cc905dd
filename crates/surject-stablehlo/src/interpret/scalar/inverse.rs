//! Inverse trigonometric and hyperbolic functions of complex numbers, after W. Kahan, *Branch cuts for complex elementary
//! functions* (1987): no formula subtracts near numbers, signed zeros say on which side of a cut an argument lies.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LN_2};

use super::super::number::C;
use super::complex::sqrt;

const NAN: C = C::new(f64::NAN, f64::NAN);

fn nan(z: C) -> bool {
    z.re.is_nan() || z.im.is_nan()
}

fn infinite(z: C) -> bool {
    z.re.is_infinite() || z.im.is_infinite()
}

/// `1 - z`
fn below(z: C) -> C {
    C::new(1.0 - z.re, -z.im)
}

/// `1 + z`
fn above(z: C) -> C {
    C::new(1.0 + z.re, z.im)
}

/// The logarithm of twice the modulus: what the real parts of inverses grow like.
fn growth(z: C) -> f64 {
    if infinite(z) {
        return f64::INFINITY;
    }
    let (x, y) = (z.re.abs().max(z.im.abs()), z.re.abs().min(z.im.abs()));
    let ratio = y / x;
    LN_2 + libm::log(x) + 0.5 * libm::log1p(ratio * ratio)
}

/// Past this the formulas of large arguments are exact.
const LARGE: f64 = 1e150;

fn large(z: C) -> bool {
    z.re.abs() > LARGE || z.im.abs() > LARGE
}

pub(crate) fn asin(z: C) -> C {
    if nan(z) {
        return asin_nan(z);
    }
    if large(z) {
        let re = libm::atan2(z.re.abs(), z.im.abs());
        return C::new(re.copysign(z.re), growth(z).copysign(z.im));
    }
    let (s, t) = (sqrt(below(z)), sqrt(above(z)));
    let re = libm::atan2(z.re, (s * t).re);
    // The imaginary part of the conjugate of s, times t.
    let im = libm::asinh(s.re * t.im - s.im * t.re);
    C::new(re.abs().copysign(z.re), im.abs().copysign(z.im))
}

/// What `asin` and `acos` are made of: `asin z` has the real part `atan2(x, u)` and the imaginary part `v` with the sign of `y`,
/// for `u + iv` of `x + iy`.
pub(crate) fn asin_acos_kernel(z: C) -> C {
    let u = match () {
        () if nan(z) => f64::NAN,
        () if large(z) => z.im.abs(),
        () => (sqrt(below(z)) * sqrt(above(z))).re,
    };
    C::new(u, asin(z).im.abs())
}

/// C's Annex G for `asinh` turned by a quarter.
fn asin_nan(z: C) -> C {
    if z.im.is_infinite() {
        return C::new(f64::NAN, z.im);
    }
    if z.re.is_infinite() {
        return C::new(f64::NAN, z.re);
    }
    if z.re == 0.0 { C::new(z.re, f64::NAN) } else { NAN }
}

pub(crate) fn acos(z: C) -> C {
    if nan(z) {
        return match z {
            _ if z.re.is_infinite() => C::new(f64::NAN, -z.re),
            _ if z.im.is_infinite() => C::new(f64::NAN, -z.im),
            _ if z.re == 0.0 => C::new(FRAC_PI_2, f64::NAN),
            _ => NAN,
        };
    }
    if large(z) {
        let re = libm::atan2(z.im.abs(), z.re);
        return C::new(re, growth(z).copysign(-z.im));
    }
    let (s, t) = (sqrt(below(z)), sqrt(above(z)));
    let re = 2.0 * libm::atan2(s.re, t.re);
    let im = libm::asinh(t.re * s.im - t.im * s.re);
    C::new(re, im.abs().copysign(-z.im))
}

/// `-i asin iz`
pub(crate) fn asinh(z: C) -> C {
    let w = asin(C::new(-z.im, z.re));
    C::new(w.im, -w.re)
}

pub(crate) fn acosh(z: C) -> C {
    if nan(z) {
        return match z {
            _ if infinite(z) => C::new(f64::INFINITY, f64::NAN),
            _ if z.re == 0.0 => C::new(f64::NAN, FRAC_PI_2),
            _ => NAN,
        };
    }
    if large(z) {
        return C::new(growth(z), libm::atan2(z.im, z.re));
    }
    let (s, t) = (sqrt(C::new(z.re - 1.0, z.im)), sqrt(C::new(z.re + 1.0, z.im)));
    // The real part of the conjugate of s, times t.
    let re = libm::asinh(s.re * t.re + s.im * t.im);
    C::new(re, 2.0 * libm::atan2(s.im, t.re))
}

/// `-i atanh iz`
pub(crate) fn atan(z: C) -> C {
    let w = atanh(C::new(-z.im, z.re));
    C::new(w.im, -w.re)
}

pub(crate) fn atanh(z: C) -> C {
    let (x, y) = (z.re.abs(), z.im.abs());
    let signed = |re: f64, im: f64| C::new(re.copysign(z.re), im.copysign(z.im));
    if nan(z) {
        return match z {
            _ if z.im.is_infinite() => signed(0.0, FRAC_PI_2),
            _ if z.re.is_infinite() || z.re == 0.0 => C::new(0f64.copysign(z.re), f64::NAN),
            _ => NAN,
        };
    }
    if infinite(z) {
        return signed(0.0, FRAC_PI_2);
    }
    if large(z) {
        // The real part of the inverse, by its larger part.
        let re =
            if x > y { 1.0 / x / (1.0 + (y / x) * (y / x)) } else { x / y / y / (1.0 + (x / y) * (x / y)) };
        return signed(re, FRAC_PI_2);
    }
    if x == 1.0 {
        if y == 0.0 {
            return signed(f64::INFINITY, 0.0);
        }
        if y < 1e-150 {
            // ln(sqrt(2 / y)); the angle is a quarter of pi.
            return signed(0.5 * (LN_2 - libm::log(y)), FRAC_PI_4);
        }
        return signed(0.25 * libm::log1p(4.0 / y / y), 0.5 * libm::atan2(2.0, -y));
    }
    let tiny = if y < 1e-150 { 0.0 } else { y * y };
    let re = 0.25 * libm::log1p(4.0 * x / ((1.0 - x) * (1.0 - x) + tiny));
    let im = 0.5 * libm::atan2(2.0 * y, (1.0 - x) * (1.0 + x) - tiny);
    signed(re, im)
}
