//! Operations on complex numbers with `f64` parts.

use crate::{BinaryOp, UnaryOp};
use num_complex::Complex;
use surject_lapack::{div, sqrt};
use surject_runtime::math;

type C = Complex<f64>;

const ONE: C = C::new(1.0, 0.0);

/// The modulus, without overflow on the way.
pub(super) fn abs(z: C) -> f64 {
    math::hypot(z.re, z.im)
}

/// A unary operation whose result is complex.
pub(super) fn unary(op: UnaryOp, z: C) -> C {
    use UnaryOp::*;
    match op {
        Neg => -z,
        Sign => sign(z),
        Exp => exp(z),
        Expm1 => expm1(z),
        Log => log(z),
        Log1p => log1p(z),
        Logistic => logistic(z),
        Sqrt => sqrt(z),
        // 1 − 0i: the root of what lies above the axis has its inverse below it.
        Rsqrt => div(C::new(1.0, -0.0), sqrt(z)),
        Sin => sin(z),
        Cos => cos(z),
        // tan z = −i tanh iz
        Tan => {
            let t = tanh(C::new(-z.im, z.re));
            C::new(t.im, -t.re)
        }
        Tanh => tanh(z),
        // Not defined for complex numbers, or not complex valued; the type rules keep them away.
        _ => C::new(f64::NAN, f64::NAN),
    }
}

/// A binary operation whose result is complex.
pub(super) fn binary(op: BinaryOp, x: C, y: C) -> Option<C> {
    Some(match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x * y,
        BinaryOp::Div => div(x, y),
        BinaryOp::Pow => pow(x, y),
        // atan2(y, x) = −i ln((x + iy) / √(x² + y²)), with the first operand as y.
        BinaryOp::Atan2 => {
            let quotient = div(C::new(y.re - x.im, y.im + x.re), sqrt(y * y + x * x));
            let l = log(quotient);
            C::new(l.im, -l.re)
        }
        _ => return None,
    })
}

/// Is the first operand the maximum (or minimum), in lexicographic order? An operand with a NaN part wins.
pub(super) fn first_wins(op: BinaryOp, x: C, y: C) -> bool {
    let nan = |z: C| z.re.is_nan() || z.im.is_nan();
    if nan(x) || nan(y) {
        return nan(x);
    }
    let above = x.re > y.re || (x.re == y.re && x.im >= y.im);
    let below = x.re < y.re || (x.re == y.re && x.im <= y.im);
    if op == BinaryOp::Max { above } else { below }
}

fn sign(z: C) -> C {
    // Not so large that the modulus overflows.
    let z = if z.re.abs().max(z.im.abs()) > 1e300 { z * 0.25 } else { z };
    let r = abs(z);
    if r == 0.0 || r.is_nan() {
        return if r == 0.0 { z } else { C::new(f64::NAN, f64::NAN) };
    }
    C::new(z.re / r, z.im / r)
}

/// `r · (cos t, sin t)`; a real argument stays real also where `r` is infinite.
fn polar(r: f64, t: f64) -> C {
    if t == 0.0 {
        return C::new(r, t);
    }
    C::new(r * math::cos(t), r * math::sin(t))
}

fn exp(z: C) -> C {
    if z.re.is_infinite() && !z.im.is_finite() {
        return if z.re < 0.0 { C::new(0.0, 0.0) } else { C::new(z.re, f64::NAN) };
    }
    // Half the exponent twice where e^re alone would overflow while the product does not.
    if z.re > 709.0 && z.re < 1420.0 {
        let half = polar(math::exp(z.re / 2.0), z.im);
        let factor = math::exp(z.re / 2.0);
        return C::new(half.re * factor, if half.im == 0.0 { half.im } else { half.im * factor });
    }
    polar(math::exp(z.re), z.im)
}

fn expm1(z: C) -> C {
    if z.im == 0.0 {
        return C::new(math::expm1(z.re), z.im);
    }
    let e = exp(z);
    // Where 1 or the exponential is nothing beside the other.
    if z.re.abs() > 40.0 {
        return C::new(e.re - 1.0, e.im);
    }
    // e^a cos b − 1 = (e^a − 1) cos b − 2 sin²(b/2)
    let s = math::sin(z.im / 2.0);
    C::new(math::expm1(z.re) * math::cos(z.im) - 2.0 * s * s, e.im)
}

/// By an exponential that is at most 1, so that nothing overflows.
fn logistic(z: C) -> C {
    if z.im == 0.0 {
        return C::new(math::logistic(z.re), z.im);
    }
    let left = z.re < 0.0;
    let e = exp(if left { z } else { -z });
    div(if left { e } else { ONE }, ONE + e)
}

/// The logarithm of the modulus.
fn log_modulus(z: C) -> f64 {
    if z.re.is_infinite() || z.im.is_infinite() {
        return f64::INFINITY;
    }
    if z.re.is_nan() || z.im.is_nan() {
        return f64::NAN;
    }
    let (x, y) = (z.re.abs().max(z.im.abs()), z.re.abs().min(z.im.abs()));
    if (0.5..2.0).contains(&x) {
        // Near the unit circle it is a difference of near numbers.
        return 0.5 * math::log1p((x - 1.0) * (x + 1.0) + y * y);
    }
    // The modulus of what is nearly the largest number is none.
    let ratio = if x == 0.0 { 0.0 } else { y / x };
    math::log(x) + 0.5 * math::log1p(ratio * ratio)
}

fn log(z: C) -> C {
    C::new(log_modulus(z), math::atan2(z.im, z.re))
}

fn log1p(z: C) -> C {
    if z.re.abs() < 0.5 && z.im.abs() < 1.0 {
        let re = 0.5 * math::log1p(z.re * (2.0 + z.re) + z.im * z.im);
        return C::new(re, math::atan2(z.im, 1.0 + z.re));
    }
    log(C::new(1.0 + z.re, z.im))
}

/// `a cosh y` or `a sinh y`, given the function, where that may overflow and the product does not.
fn grown(a: f64, y: f64, function: fn(f64) -> f64) -> f64 {
    if y.abs() < 709.0 {
        return a * function(y);
    }
    let e = math::exp(y.abs() / 2.0);
    a * (0.5 * e) * e * function(y).signum()
}

/// A part is zero where the argument makes it so, whatever the other factor is; of an angle that is no number an infinite
/// modulus leads to an infinite part (C's Annex G).
fn sin(z: C) -> C {
    let re = if z.re == 0.0 { z.re } else { grown(math::sin(z.re), z.im, math::cosh) };
    let keeps = !z.re.is_finite() && (z.im == 0.0 || z.im.is_infinite());
    C::new(re, if keeps { z.im } else { grown(math::cos(z.re), z.im, math::sinh) })
}

fn cos(z: C) -> C {
    let endless = !z.re.is_finite();
    let re = match endless && z.im.is_infinite() {
        true => f64::INFINITY,
        false => grown(math::cos(z.re), z.im, math::cosh),
    };
    let im = match z.re == 0.0 || (endless && z.im == 0.0) {
        true => 0f64.copysign(z.re) * 1f64.copysign(z.im),
        false => grown(math::sin(z.re), z.im, math::sinh),
    };
    C::new(re, -im)
}

fn tanh(z: C) -> C {
    if z.re.is_infinite() {
        let im = if z.im.is_finite() { math::sin(z.im) * math::cos(z.im) } else { z.im };
        return C::new(1f64.copysign(z.re), 0f64.copysign(im));
    }
    if !z.im.is_finite() {
        return C::new(if z.re == 0.0 { z.re } else { f64::NAN }, f64::NAN);
    }
    if z.re.abs() > 22.0 {
        // Within half an ulp of ±1; the imaginary part is 4 sin b cos b e^(−2|a|).
        let im = 4.0 * math::sin(z.im) * math::cos(z.im) * math::exp(-2.0 * z.re.abs());
        return C::new(1f64.copysign(z.re), im);
    }
    // With t = tan b and s = sinh a: (s·√(1+s²)·(1+t²) + i t) / (1 + (1+t²) s²)
    let (t, s) = (math::tan(z.im), math::sinh(z.re));
    let beta = 1.0 + t * t;
    let den = 1.0 + beta * s * s;
    C::new(beta * (1.0 + s * s).sqrt() * s / den, if t == 0.0 { t } else { t / den })
}

/// What XLA says of zeros and infinities; powers of other numbers that are not finite, and by such, are not known.
fn pow(x: C, y: C) -> C {
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
