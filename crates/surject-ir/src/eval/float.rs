//! Operations on `f32` and `f64`, with the functions that compiled code calls too.

use crate::{BinaryOp, UnaryOp};

/// The two float types that are computed in.
pub(super) trait Float: Copy + PartialOrd {
    fn unary(self, op: UnaryOp) -> Self;
    fn arithmetic(self, op: BinaryOp, y: Self) -> Option<Self>;
    fn is_nan(self) -> bool;
    fn is_negative(self) -> bool;
}

/// A unary operation whose result is a float. `IsFinite` has no result here.
pub(super) fn unary<F: Float>(op: UnaryOp, x: F) -> F {
    x.unary(op)
}

/// A binary operation whose result is a float.
pub(super) fn binary<F: Float>(op: BinaryOp, x: F, y: F) -> Option<F> {
    match op {
        BinaryOp::Max | BinaryOp::Min => Some(choose(op == BinaryOp::Max, x, y)),
        _ => x.arithmetic(op, y),
    }
}

/// The larger or the smaller: NaN wins, and −0 is less than +0.
fn choose<F: Float>(larger: bool, x: F, y: F) -> F {
    if x.is_nan() {
        return x;
    }
    if y.is_nan() {
        return y;
    }
    let below = x < y || (x == y && x.is_negative());
    if below == larger { y } else { x }
}

/// A comparison, as IEEE 754 has it: every one with a NaN is false, except `Ne`.
pub(super) fn compare<F: Float>(op: BinaryOp, x: F, y: F) -> Option<bool> {
    Some(match op {
        BinaryOp::Eq => x == y,
        BinaryOp::Ne => x != y,
        BinaryOp::Lt => x < y,
        BinaryOp::Le => x <= y,
        BinaryOp::Gt => x > y,
        BinaryOp::Ge => x >= y,
        _ => return None,
    })
}

macro_rules! float {
    ($float:ident, $math:path) => {
        impl Float for $float {
            fn unary(self, op: UnaryOp) -> $float {
                use $math as math;
                let x = self;
                match op {
                    UnaryOp::Neg => -x,
                    UnaryOp::Abs => x.abs(),
                    UnaryOp::Sign if x > 0.0 => 1.0,
                    UnaryOp::Sign if x < 0.0 => -1.0,
                    UnaryOp::Sign | UnaryOp::Real => x,
                    UnaryOp::Imag => 0.0,
                    UnaryOp::Exp => math::exp(x),
                    UnaryOp::Expm1 => math::expm1(x),
                    UnaryOp::Log => math::log(x),
                    UnaryOp::Log1p => math::log1p(x),
                    UnaryOp::Logistic => math::logistic(x),
                    UnaryOp::Sqrt => x.sqrt(),
                    UnaryOp::Rsqrt => 1.0 / x.sqrt(),
                    UnaryOp::Cbrt => math::cbrt(x),
                    UnaryOp::Sin => math::sin(x),
                    UnaryOp::Cos => math::cos(x),
                    UnaryOp::Tan => math::tan(x),
                    UnaryOp::Tanh => math::tanh(x),
                    UnaryOp::Acos => math::acos(x),
                    UnaryOp::Acosh => math::acosh(x),
                    UnaryOp::Asin => math::asin(x),
                    UnaryOp::Asinh => math::asinh(x),
                    UnaryOp::Atan => math::atan(x),
                    UnaryOp::Atanh => math::atanh(x),
                    UnaryOp::Cosh => math::cosh(x),
                    UnaryOp::Sinh => math::sinh(x),
                    UnaryOp::Erf => math::erf(x),
                    UnaryOp::Erfc => math::erfc(x),
                    UnaryOp::ErfInv => math::erf_inv(x),
                    UnaryOp::Lgamma => math::lgamma(x),
                    UnaryOp::Digamma => math::digamma(x),
                    UnaryOp::Floor => x.floor(),
                    UnaryOp::Ceil => x.ceil(),
                    UnaryOp::RoundEven => x.round_ties_even(),
                    UnaryOp::RoundAway => x.round(),
                    // Not float valued or not defined for floats; the type rules keep them away.
                    UnaryOp::IsFinite | UnaryOp::Not | UnaryOp::Popcount | UnaryOp::CountLeadingZeros => {
                        $float::NAN
                    }
                }
            }

            fn arithmetic(self, op: BinaryOp, y: $float) -> Option<$float> {
                use $math as math;
                let x = self;
                Some(match op {
                    BinaryOp::Add => x + y,
                    BinaryOp::Sub => x - y,
                    BinaryOp::Mul => x * y,
                    BinaryOp::Div => x / y,
                    BinaryOp::Rem => x % y,
                    BinaryOp::Pow => math::pow(x, y),
                    BinaryOp::Atan2 => math::atan2(x, y),
                    _ => return None,
                })
            }

            fn is_nan(self) -> bool {
                $float::is_nan(self)
            }

            fn is_negative(self) -> bool {
                self.is_sign_negative()
            }
        }
    };
}

float!(f32, surject_runtime::math::single);
float!(f64, surject_runtime::math);
