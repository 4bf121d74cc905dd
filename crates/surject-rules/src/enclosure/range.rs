//! Intervals of reals.

use surject_ir::{BinaryOp, DType, Scalar, UnaryOp, eval};

/// How a type of floats rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    /// The largest relative error of one rounding.
    pub unit: f64,
    /// The smallest positive number.
    pub tiny: f64,
    /// The bits of a mantissa.
    pub digits: i32,
}

impl Format {
    /// Of a type of floats, or of the parts of complex numbers.
    pub fn of(dtype: DType) -> Format {
        // A little more than half a unit, for what is lost in the computation of the ends.
        let (digits, tiny) = match dtype.part() {
            DType::F16 => (11, 0.5f64.powi(24)),
            DType::BF16 => (8, 0.5f64.powi(133)),
            DType::F32 => (24, 0.5f64.powi(149)),
            _ => (53, 5e-324),
        };
        let slack = if digits == 53 { 2.0 } else { 1.001 };
        Format { unit: 0.5f64.powi(digits) * slack, tiny: tiny * slack.ceil(), digits }
    }
}

/// An interval; its ends may be infinite. A NaN, or a point of infinity, is an interval whose ends are that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub lo: f64,
    pub hi: f64,
}

impl Range {
    pub const ALL: Range = Range { lo: f64::NEG_INFINITY, hi: f64::INFINITY };

    pub fn point(value: f64) -> Range {
        Range { lo: value, hi: value }
    }

    /// Between the least and the largest of these numbers; everything, when one is NaN.
    fn of(ends: &[f64]) -> Range {
        if ends.iter().any(|e| e.is_nan()) {
            return Range::ALL;
        }
        let lo = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let hi = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Range { lo, hi }
    }

    /// One value, possibly infinite or NaN.
    pub fn is_point(self) -> bool {
        self.lo == self.hi || self.lo.is_nan()
    }

    pub fn is_bounded(self) -> bool {
        self.lo.is_finite() && self.hi.is_finite()
    }

    pub fn hull(self, other: Range) -> Range {
        Range::of(&[self.lo, self.hi, other.lo, other.hi])
    }

    pub fn meets(self, other: Range) -> bool {
        !(self.hi < other.lo || other.hi < self.lo)
    }

    pub fn contains(self, value: f64) -> bool {
        self.lo <= value && value <= self.hi
    }

    /// Is the order of any two numbers of these intervals the same?
    pub fn is_decided(self, other: Range) -> bool {
        self.is_point() && other.is_point() || !self.meets(other)
    }

    /// The numbers that those of the interval may be rounded to, `times` times.
    pub fn widen(self, format: &Format, times: f64) -> Range {
        let step = |x: f64| x.abs() * format.unit * times + format.tiny;
        Range { lo: self.lo - step(self.lo), hi: self.hi + step(self.hi) }
    }
}

/// Is a number of the rule what it says, such as 2, 0.5 or 12345, rather than rounded from what is meant?
pub(super) fn is_short(value: Scalar) -> bool {
    let x = value.as_f64();
    if x == 0.0 || !x.is_finite() {
        return true;
    }
    let bits = x.to_bits() & ((1 << 52) - 1);
    let used = if bits == 0 { 1 } else { 53 - bits.trailing_zeros() as i32 };
    used <= (Format::of(value.dtype()).digits - 4).max(6) || x.fract() == 0.0 && x.abs() < 1e15
}

/// An operation on numbers of 64 bits.
fn apply(op: UnaryOp, x: f64) -> f64 {
    eval::unary(op, Scalar::from_f64(DType::F64, x)).map_or(f64::NAN, Scalar::as_f64)
}

fn apply2(op: BinaryOp, x: f64, y: f64) -> f64 {
    let (x, y) = (Scalar::from_f64(DType::F64, x), Scalar::from_f64(DType::F64, y));
    eval::binary(op, x, y).map_or(f64::NAN, Scalar::as_f64)
}

/// The domain of a function over the reals.
fn domain(op: UnaryOp) -> Range {
    use UnaryOp::*;
    let (lo, hi) = match op {
        Log | Sqrt | Rsqrt => (0.0, f64::INFINITY),
        Log1p => (-1.0, f64::INFINITY),
        Acosh => (1.0, f64::INFINITY),
        Asin | Acos | Atanh | ErfInv => (-1.0, 1.0),
        _ => return Range::ALL,
    };
    Range { lo, hi }
}

/// A unary operation with a float for a result. `value` is what it computes.
pub(super) fn unary(op: UnaryOp, x: Range, value: Scalar) -> Range {
    use UnaryOp::*;
    let format = Format::of(value.dtype());
    // Functions are computed in 64 bits or rounded from there; those of 64 bits are good to a few units.
    let times = match op {
        Neg | Abs | Sign | Floor | Ceil | RoundEven | RoundAway => 0.0,
        Sqrt => 1.0,
        _ if format.digits == 53 => 16.0,
        _ => 2.0,
    };
    if x.is_point() {
        let result = if x.is_bounded() { apply(op, x.lo) } else { value.as_f64() };
        // More than numbers of 64 bits hold.
        if result.is_infinite() && x.is_bounded() && matches!(op, Exp | Expm1 | Sinh | Cosh) {
            let (lo, hi) = if result > 0.0 { (f64::MAX, result) } else { (result, f64::MIN) };
            return Range { lo, hi };
        }
        let exact = times == 0.0 || x.lo == 0.0 && result == 0.0 || !result.is_finite();
        let exact = exact || op == Sqrt && result * result == x.lo && result == value.as_f64();
        // `e⁰ = 1`, `ln 1 = 0`, `logistic 0 = 1/2`: no other value here is that round.
        let round = matches!(x.lo.abs(), 0.0 | 1.0) && matches!(result.abs(), 0.0 | 0.5 | 1.0);
        let exact = exact || round && result == value.as_f64();
        return if exact { Range::point(result) } else { Range::point(result).widen(&format, times) };
    }
    let inside = domain(op);
    let (lo, hi) = (x.lo.max(inside.lo), x.hi.min(inside.hi));
    if lo > hi {
        return Range::point(f64::NAN);
    }
    let (a, b) = (apply(op, lo), apply(op, hi));
    let image = match op {
        Neg | Exp | Expm1 | Log | Log1p | Logistic | Sqrt | Rsqrt | Cbrt | Tanh | Acos | Asin | Acosh
        | Asinh | Atan | Atanh | Sinh | Erf | Erfc | ErfInv | Sign | Floor | Ceil | RoundEven | RoundAway => {
            Range::of(&[a, b])
        }
        Abs | Cosh => {
            let ends = Range::of(&[a, b]);
            if lo < 0.0 && hi > 0.0 { ends.hull(Range::point(apply(op, 0.0))) } else { ends }
        }
        // No faster than their operand, and never beyond 1.
        Sin | Cos => {
            let slope = Range { lo: a - (hi - lo), hi: a + (hi - lo) };
            Range { lo: slope.lo.max(-1.0), hi: slope.hi.min(1.0) }
        }
        // Near a point that is not a pole they are as good as straight.
        _ if hi - lo <= 1e-2 * lo.abs().min(1.0) => {
            let ends = Range::of(&[a, b, apply(op, lo / 2.0 + hi / 2.0)]);
            let slack = ends.hi - ends.lo;
            Range { lo: ends.lo - slack, hi: ends.hi + slack }
        }
        _ => Range::ALL,
    };
    if times == 0.0 { image } else { image.widen(&format, times) }
}

/// Is the rounded result the exact one?
fn is_exact(op: BinaryOp, x: f64, y: f64, result: f64) -> bool {
    match op {
        BinaryOp::Add | BinaryOp::Sub => {
            let y = if op == BinaryOp::Sub { -y } else { y };
            // The error of a sum is itself a float.
            let part = result - x;
            (x - (result - part)) + (y - part) == 0.0
        }
        BinaryOp::Mul => x == 0.0 || y == 0.0 || result.abs() > 1e-280 && x.mul_add(y, -result) == 0.0,
        BinaryOp::Div => x == 0.0 || x.abs() > 1e-280 && result.mul_add(y, -x) == 0.0,
        _ => false,
    }
}

/// A binary operation with a float for a result. `value` is what it computes.
pub(super) fn binary(op: BinaryOp, x: Range, y: Range, value: Scalar) -> Range {
    use BinaryOp::*;
    let format = Format::of(value.dtype());
    let ends = |f: &dyn Fn(f64, f64) -> f64| {
        Range::of(&[f(x.lo, y.lo), f(x.lo, y.hi), f(x.hi, y.lo), f(x.hi, y.hi)])
    };
    match op {
        Max if !x.lo.is_nan() && !y.lo.is_nan() => {
            return Range { lo: x.lo.max(y.lo), hi: x.hi.max(y.hi) };
        }
        Min if !x.lo.is_nan() && !y.lo.is_nan() => {
            return Range { lo: x.lo.min(y.lo), hi: x.hi.min(y.hi) };
        }
        _ => {}
    }
    if x.is_point() && y.is_point() {
        let computed = value.as_f64();
        if !x.is_bounded() || !y.is_bounded() || matches!(op, Rem | NextAfter) {
            return Range::point(computed);
        }
        let result = apply2(op, x.lo, y.lo);
        let trivial = op == Pow && (matches!(y.lo, 0.0 | 1.0) || x.lo == 1.0);
        if !result.is_finite() || result == computed && (trivial || is_exact(op, x.lo, y.lo, result)) {
            return Range::point(result);
        }
        let times = if op == Pow || op == Atan2 { 16.0 } else { 1.0 };
        return Range::point(result).widen(&format, times);
    }
    if !x.is_bounded() || !y.is_bounded() {
        return Range::ALL;
    }
    let image = match op {
        Add => Range { lo: x.lo + y.lo, hi: x.hi + y.hi },
        Sub => Range { lo: x.lo - y.hi, hi: x.hi - y.lo },
        Mul => ends(&|a, b| a * b),
        Div if y.lo > 0.0 || y.hi < 0.0 => ends(&|a, b| a / b),
        Pow if x.lo > 0.0 => ends(&|a, b| apply2(op, a, b)).widen(&format, 16.0),
        Pow if y.is_point() && y.lo.fract() == 0.0 && y.lo >= 0.0 => {
            let corners = ends(&|a, b| apply2(op, a, b)).widen(&format, 16.0);
            let zero = x.contains(0.0) && y.lo > 0.0;
            if zero { corners.hull(Range::point(0.0)) } else { corners }
        }
        Atan2 if y.lo > 0.0 || x.lo > 0.0 || x.hi < 0.0 => {
            ends(&|a, b| apply2(op, a, b)).widen(&format, 16.0)
        }
        NextAfter => x.widen(&format, 4.0),
        _ => Range::ALL,
    };
    image.widen(&format, 1.0)
}
