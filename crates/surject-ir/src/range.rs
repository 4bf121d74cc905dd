//! What is known of the values of a field: bounds and signs, by abstract interpretation.
//!
//! A [`Range`] says of every value of a field: a finite one lies between two bounds, and whether infinities and `-0.0`
//! may occur. Nothing is said of NaN, which may always occur among floats. A range is *sound*: what it excludes never
//! happens, for no arguments. So a pass acts on what is excluded (*yes*) and on nothing else; *may* is *unknown*.
//!
//! Bounds are powers of two, zero, or the ends of the element type: outwards, so that the rounding of the functions of
//! compiled code is inside, and few, so that an analysis in cycles ends.
//!
//! ```
//! use surject_ir::{BinaryOp, DType, UnaryOp, range::Range};
//!
//! let any = Range::any(DType::F32);
//! let e = Range::unary(UnaryOp::Exp, DType::F32, any);
//! assert!(e.low == 0.0 && !e.negative_zero);
//! let square = Range::square(DType::F32, any);
//! assert!(!Range::binary(BinaryOp::Add, DType::F32, any, square).negative_zero);
//! ```

mod fields;

pub use fields::{Ranges, terms};

use crate::{AccOp, BinaryOp, Scalar, UnaryOp};
use surject_runtime::DType;

/// What the values of a field may be. Of complex numbers it speaks of both parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Every finite value is at least this.
    pub low: f64,
    /// Every finite value is at most this.
    pub high: f64,
    /// May a value be `-inf`?
    pub below: bool,
    /// May a value be `+inf`?
    pub above: bool,
    /// May a value be `-0.0`?
    pub negative_zero: bool,
}

/// Bounds are never NaN.
impl Eq for Range {}

/// The largest finite value of a type, and the smallest normal one above zero; of complex numbers, of their parts.
fn ends(dtype: DType) -> (f64, f64) {
    match dtype.part() {
        DType::F16 => (65504.0, 2f64.powi(-14)),
        DType::BF16 => (3.3895313892515355e38, 2f64.powi(-126)),
        DType::F32 => (f64::from(f32::MAX), 2f64.powi(-126)),
        DType::F64 => (f64::MAX, f64::MIN_POSITIVE),
        DType::I1 => (1.0, 1.0),
        d if d.is_unsigned_int() => (2f64.powi(d.bits() as i32), 1.0),
        d => (2f64.powi(d.bits() as i32 - 1), 1.0),
    }
}

/// The least power of two that is at least `x > 0`.
fn up(x: f64) -> f64 {
    if x <= f64::MIN_POSITIVE {
        return f64::MIN_POSITIVE;
    }
    let whole = f64::from_bits(x.to_bits() & !((1 << 52) - 1));
    if whole == x { x } else { whole * 2.0 }
}

/// The largest power of two that is at most `x > 0`, or 0.
fn down(x: f64) -> f64 {
    if x < f64::MIN_POSITIVE { 0.0 } else { f64::from_bits(x.to_bits() & !((1 << 52) - 1)) }
}

impl Range {
    /// Any value of the type.
    pub fn any(dtype: DType) -> Range {
        let (max, _) = ends(dtype);
        let inexact = dtype.is_float() || dtype.is_complex();
        let low = if dtype.is_unsigned_int() || dtype.is_bool() { 0.0 } else { -max };
        Range { low, high: max, below: inexact, above: inexact, negative_zero: inexact }
    }

    /// One value.
    pub fn of(value: Scalar) -> Range {
        let dtype = value.dtype();
        if dtype.is_complex() {
            let z = value.as_complex();
            let zero = |x: f64| x == 0.0 && x.is_sign_negative();
            return Range { negative_zero: zero(z.re) || zero(z.im), ..Range::any(dtype) };
        }
        let x = value.as_f64();
        let range = Range {
            low: x,
            high: x,
            below: x == f64::NEG_INFINITY,
            above: x == f64::INFINITY,
            negative_zero: dtype.is_float() && x == 0.0 && x.is_sign_negative(),
        };
        if x.is_finite() { range.outwards(dtype) } else { Range { low: 0.0, high: 0.0, ..range } }
    }

    /// Values that are at least zero and never `-0.0`.
    fn is_positive(self) -> bool {
        self.low >= 0.0 && !self.negative_zero && !self.below
    }

    /// Is no value negative, no `-0.0` among them?
    pub fn never_negative(self) -> bool {
        self.is_positive()
    }

    /// The largest absolute value of a finite one.
    pub fn size(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// The smallest absolute value, infinities aside.
    pub fn least(self) -> f64 {
        if self.low > 0.0 {
            self.low
        } else if self.high < 0.0 {
            -self.high
        } else {
            0.0
        }
    }

    /// Bounds on the grid, within the type; what lies beyond it is infinite.
    fn outwards(self, dtype: DType) -> Range {
        let (max, tiny) = ends(dtype);
        let inexact = dtype.is_float() || dtype.is_complex();
        let mut range = self;
        // Integers wrap beyond their ends, and large ones are not exact as they are counted here.
        let whole = (max / 2.0).min(2f64.powi(50));
        let wraps = !inexact && !dtype.is_bool() && range.low.abs().max(range.high.abs()) > whole;
        if range.low.is_nan() || range.high.is_nan() || wraps {
            return Range::any(dtype);
        }
        if !inexact && dtype.is_unsigned_int() && range.low < 0.0 {
            return Range::any(dtype);
        }
        range.above |= inexact && range.high > max;
        range.below |= inexact && range.low < -max;
        // What is smaller than a normal number may be rounded to zero.
        let low = |x: f64| match x {
            x if x > 0.0 && x < tiny => 0.0,
            x if x > 0.0 => down(x),
            x if x < 0.0 => -up(-x),
            _ => 0.0,
        };
        range.low = low(range.low).clamp(-max, max);
        range.high = (-low(-range.high)).clamp(-max, max);
        range
    }

    /// Values of either range.
    pub fn or(self, other: Range) -> Range {
        Range {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            below: self.below || other.below,
            above: self.above || other.above,
            negative_zero: self.negative_zero || other.negative_zero,
        }
    }

    /// Values that are in both ranges: two things are known of one field.
    pub fn and(self, other: Range) -> Range {
        let both = Range {
            low: self.low.max(other.low),
            high: self.high.min(other.high),
            below: self.below && other.below,
            above: self.above && other.above,
            negative_zero: self.negative_zero && other.negative_zero,
        };
        // No finite value at all: one of the two is kept.
        if both.low > both.high { Range { low: self.low, high: self.high, ..both } } else { both }
    }

    /// The values of a unary operation on operands of this type.
    pub fn unary(op: UnaryOp, dtype: DType, x: Range) -> Range {
        use UnaryOp::*;
        let Some(result) = op.result(dtype) else { return Range::any(dtype) };
        let any = Range::any(result);
        if dtype.is_complex() {
            return match op {
                Real | Imag | Neg | Sign => Range { negative_zero: x.negative_zero || op != Real, ..any },
                Abs => Range { low: 0.0, below: false, negative_zero: false, ..any },
                _ => any,
            };
        }
        if !dtype.is_float() {
            return match op {
                Popcount | CountLeadingZeros => {
                    Range { low: 0.0, high: f64::from(dtype.bits()), ..any }.outwards(result)
                }
                Abs if x.low >= 0.0 => x,
                _ => any,
            };
        }
        let has_zero = x.low <= 0.0 && x.high >= 0.0;
        let unit = |low: f64, high: f64, negative_zero: bool| Range {
            low,
            high,
            below: false,
            above: false,
            negative_zero,
        };
        // An odd function whose values have the sign of the operand, no larger than this.
        let odd = |most: f64| {
            let (low, high) =
                (if x.low >= 0.0 { 0.0 } else { -most }, if x.high <= 0.0 { 0.0 } else { most });
            let (low, high) = (if x.below { -most } else { low }, if x.above { most } else { high });
            unit(low, high, !x.is_positive())
        };
        let range = match op {
            Neg => {
                Range { low: -x.high, high: -x.low, below: x.above, above: x.below, negative_zero: has_zero }
            }
            Abs => Range {
                low: x.least(),
                high: x.size(),
                below: false,
                above: x.below || x.above,
                negative_zero: false,
            },
            Exp => {
                let low = if x.below { 0.0 } else { x.low.exp() };
                Range { low, high: x.high.exp(), below: false, above: x.above, negative_zero: false }
            }
            Expm1 => Range {
                low: -1.0,
                high: x.high.exp_m1().max(0.0),
                below: false,
                above: x.above,
                negative_zero: !x.is_positive(),
            },
            Logistic => unit(0.0, 1.0, false),
            Tanh | Erf | Sign => odd(1.0),
            Atan => odd(2.0),
            Asin => odd(2.0),
            Acos => unit(0.0, 4.0, false),
            Sin | Cos => unit(-1.0, 1.0, true),
            Erfc => unit(0.0, 2.0, false),
            Sqrt => Range {
                low: x.low.max(0.0).sqrt(),
                high: x.high.max(0.0).sqrt(),
                below: false,
                above: x.above,
                negative_zero: x.negative_zero,
            },
            Rsqrt => {
                let open = x.low <= 0.0;
                Range {
                    low: if x.above { 0.0 } else { 1.0 / x.high.max(f64::MIN_POSITIVE).sqrt() },
                    high: if open { any.high } else { 1.0 / x.low.sqrt() },
                    below: x.negative_zero,
                    above: open,
                    negative_zero: false,
                }
            }
            Cosh => Range { low: 1.0, below: false, negative_zero: false, ..any },
            Sinh | Asinh | Cbrt => {
                let both = Range { below: x.below || op == Sinh, above: x.above || op == Sinh, ..any };
                if x.is_positive() {
                    Range { low: 0.0, below: false, negative_zero: false, ..both }
                } else {
                    both
                }
            }
            Floor | Ceil | RoundEven | RoundAway => {
                Range { low: x.low.floor(), high: x.high.ceil(), negative_zero: !x.is_positive(), ..x }
            }
            Real => x,
            Imag => unit(0.0, 0.0, false),
            _ => any,
        };
        range.outwards(result)
    }

    /// The values of `x · x`, of one and the same operand.
    pub fn square(dtype: DType, x: Range) -> Range {
        if !dtype.is_float() {
            return Range::binary(BinaryOp::Mul, dtype, x, x);
        }
        let (low, high) = (x.least(), x.size());
        let above = x.below || x.above;
        Range { low: low * low, high: high * high, below: false, above, negative_zero: false }.outwards(dtype)
    }

    /// The values of a binary operation on operands of this type.
    pub fn binary(op: BinaryOp, dtype: DType, x: Range, y: Range) -> Range {
        use BinaryOp::*;
        let Some(result) = op.result(dtype, dtype) else { return Range::any(dtype) };
        let any = Range::any(result);
        if op.is_comparison() {
            return any;
        }
        if dtype.is_complex() || op == Complex {
            let negative_zero = match op {
                Add => x.negative_zero && y.negative_zero,
                Complex => x.negative_zero || y.negative_zero,
                _ => true,
            };
            return Range { negative_zero, ..any };
        }
        let inexact = dtype.is_float();
        let positive = x.is_positive() && y.is_positive();
        let infinite = x.below || x.above || y.below || y.above;
        let hull = |all: [f64; 4]| {
            let low = all.iter().copied().fold(f64::INFINITY, f64::min);
            (low, all.iter().copied().fold(f64::NEG_INFINITY, f64::max))
        };
        let range = match op {
            Add if !dtype.is_bool() => Range {
                low: x.low + y.low,
                high: x.high + y.high,
                below: x.below || y.below,
                above: x.above || y.above,
                negative_zero: inexact && x.negative_zero && y.negative_zero,
            },
            Sub => Range {
                low: x.low - y.high,
                high: x.high - y.low,
                below: x.below || y.above,
                above: x.above || y.below,
                // Only of -0 and +0.
                negative_zero: inexact && x.negative_zero && y.low <= 0.0 && y.high >= 0.0,
            },
            Mul if !dtype.is_bool() => {
                let (low, high) = hull([x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high]);
                Range {
                    low,
                    high,
                    below: infinite && !positive,
                    above: infinite,
                    negative_zero: inexact && !positive,
                }
            }
            Div if inexact && y.least() > 0.0 => {
                let (low, high) = hull([x.low / y.low, x.low / y.high, x.high / y.low, x.high / y.high]);
                let zero = y.below || y.above;
                Range {
                    low: if zero { low.min(0.0) } else { low },
                    high: if zero { high.max(0.0) } else { high },
                    below: (x.below || x.above) && !positive,
                    above: x.below || x.above,
                    negative_zero: !positive,
                }
            }
            Div if positive && inexact => Range { low: 0.0, below: false, negative_zero: false, ..any },
            Max if inexact => {
                let low = match (x.below, y.below) {
                    (true, true) => x.low.min(y.low),
                    (true, false) => y.low,
                    (false, true) => x.low,
                    (false, false) => x.low.max(y.low),
                };
                Range {
                    low,
                    high: x.high.max(y.high),
                    below: x.below && y.below,
                    above: x.above || y.above,
                    negative_zero: (x.negative_zero || y.negative_zero)
                        && !x.is_positive()
                        && !y.is_positive(),
                }
            }
            Min if inexact => {
                let high = match (x.above, y.above) {
                    (true, true) => x.high.max(y.high),
                    (true, false) => y.high,
                    (false, true) => x.high,
                    (false, false) => x.high.min(y.high),
                };
                Range {
                    low: x.low.min(y.low),
                    high,
                    below: x.below || y.below,
                    above: x.above && y.above,
                    negative_zero: x.negative_zero || y.negative_zero,
                }
            }
            Max if dtype.is_int() => Range { low: x.low.max(y.low), high: x.high.max(y.high), ..any },
            Min if dtype.is_int() => Range { low: x.low.min(y.low), high: x.high.min(y.high), ..any },
            Rem if inexact => Range {
                low: if x.is_positive() { 0.0 } else { x.low.min(0.0) },
                high: x.high.max(0.0),
                below: false,
                above: false,
                negative_zero: !x.is_positive(),
            },
            Pow if inexact && x.is_positive() => {
                Range { low: 0.0, below: false, negative_zero: false, ..any }
            }
            Atan2 => Range { low: -4.0, high: 4.0, below: false, above: false, negative_zero: true },
            And if dtype.is_int() && x.low >= 0.0 && y.low >= 0.0 => {
                Range { low: 0.0, high: x.high.min(y.high), ..any }
            }
            _ => any,
        };
        range.outwards(result)
    }

    /// The values of a conversion.
    pub fn convert(from: DType, to: DType, x: Range) -> Range {
        let any = Range::any(to);
        if to.is_bool() || from.is_complex() || to.is_complex() {
            let zero = if to.is_complex() { x.negative_zero } else { any.negative_zero };
            return Range { negative_zero: zero, ..any };
        }
        if to.is_float() {
            // A negative number that is too small for the type is a negative zero.
            let negative_zero = x.negative_zero || from.is_float() && x.low < 0.0;
            return Range { negative_zero, ..x }.outwards(to);
        }
        // What an integer type does not hold is cut off at its ends, or wraps; NaN is 0.
        let (max, _) = ends(to);
        let inside = x.low >= any.low && x.high < max && !x.below && !x.above;
        if !inside {
            return any;
        }
        Range { low: x.low.min(0.0), high: x.high.max(0.0), ..any }.outwards(to)
    }

    /// The values of an accumulation with fibres of at most so many points (`None`: unknown). Is there a term for every
    /// position (`onto`)?
    pub fn acc(op: AccOp, dtype: DType, x: Range, terms: Option<u64>, onto: bool) -> Range {
        let any = Range::any(dtype);
        let inexact = dtype.is_float();
        match op {
            AccOp::Add if inexact || dtype.is_complex() => {
                let n = terms.map_or(f64::INFINITY, |n| n as f64);
                // 0 · inf: an unknown number of zeros.
                let times = |bound: f64| if bound == 0.0 { 0.0 } else { bound * n };
                let (low, high) = (times(x.low.min(0.0)), times(x.high.max(0.0)));
                let low = if onto && x.low > 0.0 { x.low } else { low };
                Range { low, high, below: x.below, above: x.above, negative_zero: false }.outwards(dtype)
            }
            AccOp::Max | AccOp::Min if inexact => {
                let (below, above) = match op {
                    AccOp::Max => (x.below || !onto, x.above),
                    _ => (x.below, x.above || !onto),
                };
                Range { below, above, ..x }
            }
            AccOp::Set => x,
            AccOp::Mul if inexact && x.is_positive() => {
                Range { low: 0.0, below: false, negative_zero: false, ..any }
            }
            _ => any,
        }
    }

    /// The indices of an axis with so many positions (`None`: unknown).
    pub fn index(dtype: DType, positions: Option<u64>) -> Range {
        let any = Range::any(dtype);
        let high = positions.map_or(any.high, |n| n.saturating_sub(1) as f64);
        Range { low: 0.0, high, below: false, negative_zero: false, above: false }.outwards(dtype)
    }

    /// Is `e ⊕ x = x` bit for bit, for the value `e` that an accumulation with this operator starts from and every value
    /// `x` of this range?
    pub fn starts_as(self, op: AccOp, dtype: DType) -> bool {
        match op {
            AccOp::Set => true,
            AccOp::Add if dtype.is_float() || dtype.is_complex() => !self.negative_zero,
            // 1 · z has a NaN where z is infinite.
            _ => !dtype.is_complex(),
        }
    }

    /// May a factor `g` leave a sum of `f · g` (or `f / g`, with `below`) whose fibres have at most so many points, without
    /// a finite sum becoming infinite, NaN or zero by more than rounding, and, where no product overflows, without NaN
    /// becoming anything else?
    ///
    /// The sum of `f` alone must stay finite where that of the products does. It does if it is no larger than that
    /// (`|g| ≥ 1`), or if so many values `f` cannot overflow. Terms `f` that are not finite do no harm: then neither sum is.
    /// A factor must be finite and a divisor not zero: `0 · ∞` and `0 / 0` are NaN among the terms, and the sum of `f` may be
    /// another number than zero.
    pub fn leaves(f: Range, g: Range, below: bool, dtype: DType, terms: Option<u64>) -> bool {
        if !dtype.is_float() {
            return !dtype.is_complex();
        }
        let (max, _) = ends(dtype);
        let infinite = g.above || g.below;
        let bounded = terms.is_some_and(|n| n as f64 * f.size() <= max / 4.0);
        if below {
            g.least() > 0.0 && (bounded || g.size() <= 1.0 && !infinite)
        } else {
            !infinite && (bounded || g.least() >= 1.0)
        }
    }
}
