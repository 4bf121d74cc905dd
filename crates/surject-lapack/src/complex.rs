//! Division and roots of complex numbers without overflow on the way, with the infinities and signed zeros of C's Annex G.

use crate::C;

/// Division by Smith's method.
pub fn div(x: C, y: C) -> C {
    let q = if y.re.abs() >= y.im.abs() {
        let ratio = y.im / y.re;
        let den = y.re + y.im * ratio;
        C::new((x.re + x.im * ratio) / den, (x.im - x.re * ratio) / den)
    } else {
        let ratio = y.re / y.im;
        let den = y.re * ratio + y.im;
        C::new((x.re * ratio + x.im) / den, (x.im * ratio - x.re) / den)
    };
    if !(q.re.is_nan() && q.im.is_nan()) {
        return q;
    }
    // An infinite part counts as ±1, a finite one as ±0.
    let unit = |v: f64| if v.is_infinite() { 1f64 } else { 0.0 }.copysign(v);
    let finite = |z: C| z.re.is_finite() && z.im.is_finite();
    let infinite = |z: C| z.re.is_infinite() || z.im.is_infinite();
    if y.re == 0.0 && y.im == 0.0 && !(x.re.is_nan() && x.im.is_nan()) {
        let infinity = f64::INFINITY.copysign(y.re);
        return C::new(infinity * x.re, infinity * x.im);
    }
    if infinite(x) && finite(y) {
        let (a, b) = (unit(x.re), unit(x.im));
        return C::new(f64::INFINITY * (a * y.re + b * y.im), f64::INFINITY * (b * y.re - a * y.im));
    }
    if infinite(y) && finite(x) {
        let (c, d) = (unit(y.re), unit(y.im));
        return C::new(0.0 * (x.re * c + x.im * d), 0.0 * (x.im * c - x.re * d));
    }
    q
}

/// The root with a real part that is not negative.
pub fn sqrt(z: C) -> C {
    if z.re == 0.0 && z.im == 0.0 {
        return C::new(0.0, z.im);
    }
    if z.im.is_infinite() {
        return C::new(f64::INFINITY, z.im);
    }
    if z.re.is_infinite() {
        let other = if z.im.is_nan() { f64::NAN } else { 0.0 };
        return if z.re > 0.0 {
            C::new(z.re, other.copysign(z.im))
        } else {
            C::new(other, f64::INFINITY.copysign(z.im))
        };
    }
    // Scaled by a power of 4 so that the modulus neither overflows nor loses bits.
    let size = z.re.abs().max(z.im.abs());
    let scale = if size > 1e300 {
        0.0625
    } else if size < 1e-290 {
        2f64.powi(108)
    } else {
        1.0
    };
    let (re, im) = (z.re * scale, z.im * scale);
    let root = ((libm::hypot(re, im) + re.abs()) / 2.0).sqrt();
    let other = im.abs() / (2.0 * root);
    let unscale = 1.0 / scale.sqrt();
    if z.re >= 0.0 {
        C::new(root * unscale, (other * unscale).copysign(z.im))
    } else {
        C::new(other * unscale, (root * unscale).copysign(z.im))
    }
}
