//! Discs of complex numbers.

use super::{Enclosure, Format, Range};
use num_complex::Complex;
use surject_ir::{BinaryOp, DType, Scalar, UnaryOp, eval};

/// A disc. With an infinite radius nothing is known; a NaN or an infinite centre is the value itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ball {
    pub at: Complex<f64>,
    pub radius: f64,
}

impl Ball {
    pub const ALL: Ball = Ball { at: Complex::new(0.0, 0.0), radius: f64::INFINITY };

    pub fn point(at: Complex<f64>) -> Ball {
        Ball { at, radius: 0.0 }
    }

    pub fn of_parts(re: Range, im: Range) -> Ball {
        if re.is_point() && im.is_point() {
            return Ball::point(Complex::new(re.lo, im.lo));
        }
        let middle = |r: Range| r.lo / 2.0 + r.hi / 2.0;
        let half = |r: Range| if r.is_point() { 0.0 } else { r.hi / 2.0 - r.lo / 2.0 };
        Ball { at: Complex::new(middle(re), middle(im)), radius: half(re).hypot(half(im)) }.checked()
    }

    pub fn is_point(self) -> bool {
        self.radius == 0.0
    }

    pub fn meets(self, other: Ball) -> bool {
        let distance = (self.at - other.at).norm();
        distance <= self.radius + other.radius || distance.is_nan()
    }

    fn checked(self) -> Ball {
        if self.at.is_finite() && !self.radius.is_nan() { self } else { Ball::ALL }
    }
}

fn wide(z: Complex<f64>) -> Scalar {
    Scalar::from_complex(DType::C128, z)
}

/// A unary operation. `value` is what it computes for `operand`.
pub(super) fn unary(op: UnaryOp, x: Ball, operand: Scalar, value: Scalar) -> Enclosure {
    use UnaryOp::*;
    let format = Format::of(value.dtype());
    let real = |middle: f64| {
        let range = Range { lo: middle - x.radius, hi: middle + x.radius };
        Enclosure::Real(if x.is_point() { Range::point(middle) } else { range })
    };
    match op {
        Real => return real(x.at.re),
        Imag => return real(x.at.im),
        Neg => return Enclosure::Complex(Ball { at: -x.at, radius: x.radius }),
        _ => {}
    }
    let f = |z: Complex<f64>| eval::unary(op, wide(z));
    if value.dtype().is_float() {
        // The modulus.
        let Some(middle) = f(x.at) else { return Enclosure::Real(Range::ALL) };
        let middle = middle.as_f64();
        let exact = x.is_point() && (x.at.re == 0.0 || x.at.im == 0.0 || !middle.is_finite());
        let range = Range { lo: (middle - x.radius).max(0.0), hi: middle + x.radius };
        return Enclosure::Real(if exact { Range::point(middle) } else { range.widen(&format, 4.0) });
    }
    if !x.at.is_finite() {
        let same = x.is_point() && operand.as_complex().is_finite() == x.at.is_finite();
        return Enclosure::Complex(if same { Ball::point(value.as_complex()) } else { Ball::ALL });
    }
    let Some(at) = f(x.at).map(Scalar::as_complex) else { return Enclosure::Complex(Ball::ALL) };
    // The slope, from points as far away as the disc reaches and further.
    let reach = x.radius.max(1e-7 * x.at.norm()).max(1e-150);
    let steps = [Complex::new(reach, 0.0), Complex::new(-reach, 0.0), Complex::new(0.0, reach)];
    let slope = steps.iter().filter_map(|&s| Some((f(x.at + s)?.as_complex() - at).norm() / reach));
    let slope = slope.fold(0.0, f64::max);
    let spread = if x.is_point() { 0.0 } else { 4.0 * slope * x.radius };
    let own = 32.0 * format.unit * (at.norm() + slope.min(1e3) * x.at.norm()) + format.tiny;
    Enclosure::Complex(Ball { at, radius: spread + own }.checked())
}

/// A binary operation. `value` is what it computes.
pub(super) fn binary(op: BinaryOp, x: Ball, y: Ball, operands: (Scalar, Scalar), value: Scalar) -> Ball {
    use BinaryOp::*;
    let format = Format::of(value.dtype());
    if x.is_point() && y.is_point() && !(x.at.is_finite() && y.at.is_finite()) {
        return Ball::point(value.as_complex());
    }
    let (a, b) = (x.at.norm(), y.at.norm());
    let Some(at) = eval::binary(op, wide(x.at), wide(y.at)).map(Scalar::as_complex) else { return Ball::ALL };
    let radius = match op {
        Add | Sub => x.radius + y.radius + 2.0 * format.unit * at.norm(),
        Mul => a * y.radius + b * x.radius + x.radius * y.radius + 8.0 * format.unit * a * b,
        Div if y.radius < b / 2.0 => {
            let relative = 2.0 * (y.radius / b) + 16.0 * format.unit;
            2.0 * x.radius / b + at.norm() * relative
        }
        // One of the operands, which is certain where their real parts are.
        Max | Min => {
            let certain = x.is_point() && y.is_point() || (x.at.re - y.at.re).abs() > x.radius + y.radius;
            if certain { x.radius.max(y.radius) } else { f64::INFINITY }
        }
        Pow | Atan2 if x.is_point() && y.is_point() => {
            let (base, exponent) = (operands.0.as_complex(), operands.1.as_complex());
            64.0 * format.unit * at.norm() * (1.0 + exponent.norm() * (1.0 + base.norm().ln().abs()))
        }
        _ => f64::INFINITY,
    };
    Ball { at, radius: radius + if radius > 0.0 { format.tiny } else { 0.0 } }.checked()
}
