//! Operations on `f32` and `f64`.

use super::special;
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
    ($float:ident, $($function:ident = $name:ident),*) => {
        impl Float for $float {
            fn unary(self, op: UnaryOp) -> $float {
                $(#[allow(unused_imports)] use libm::$name as $function;)*
                let x = self;
                match op {
                    UnaryOp::Neg => -x,
                    UnaryOp::Abs => x.abs(),
                    UnaryOp::Sign if x > 0.0 => 1.0,
                    UnaryOp::Sign if x < 0.0 => -1.0,
                    UnaryOp::Sign | UnaryOp::Real => x,
                    UnaryOp::Imag => 0.0,
                    UnaryOp::Exp => exp(x),
                    UnaryOp::Expm1 => expm1(x),
                    UnaryOp::Log => log(x),
                    UnaryOp::Log1p => log1p(x),
                    UnaryOp::Logistic => 1.0 / (1.0 + exp(-x)),
                    UnaryOp::Sqrt => x.sqrt(),
                    UnaryOp::Rsqrt => 1.0 / x.sqrt(),
                    UnaryOp::Cbrt => cbrt(x),
                    UnaryOp::Sin => sin(x),
                    UnaryOp::Cos => cos(x),
                    UnaryOp::Tan => tan(x),
                    UnaryOp::Tanh => tanh(x),
                    UnaryOp::Acos => acos(x),
                    UnaryOp::Acosh => acosh(x),
                    UnaryOp::Asin => asin(x),
                    UnaryOp::Asinh => asinh(x),
                    UnaryOp::Atan => atan(x),
                    UnaryOp::Atanh => atanh(x),
                    UnaryOp::Cosh => cosh(x),
                    UnaryOp::Sinh => sinh(x),
                    UnaryOp::Erf => erf(x),
                    UnaryOp::Erfc => erfc(x),
                    UnaryOp::ErfInv => special::erf_inv(x.into()) as $float,
                    UnaryOp::Lgamma => lgamma(x),
                    UnaryOp::Digamma => special::digamma(x.into()) as $float,
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
                $(#[allow(unused_imports)] use libm::$name as $function;)*
                let x = self;
                Some(match op {
                    BinaryOp::Add => x + y,
                    BinaryOp::Sub => x - y,
                    BinaryOp::Mul => x * y,
                    BinaryOp::Div => x / y,
                    BinaryOp::Rem => x % y,
                    BinaryOp::Pow => pow(x, y),
                    BinaryOp::Atan2 => atan2(x, y),
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

float!(
    f32,
    exp = expf,
    expm1 = expm1f,
    log = logf,
    log1p = log1pf,
    cbrt = cbrtf,
    sin = sinf,
    cos = cosf,
    tan = tanf,
    tanh = tanhf,
    acos = acosf,
    acosh = acoshf,
    asin = asinf,
    asinh = asinhf,
    atan = atanf,
    atanh = atanhf,
    cosh = coshf,
    sinh = sinhf,
    erf = erff,
    erfc = erfcf,
    lgamma = lgammaf,
    pow = powf,
    atan2 = atan2f
);
float!(
    f64,
    exp = exp,
    expm1 = expm1,
    log = log,
    log1p = log1p,
    cbrt = cbrt,
    sin = sin,
    cos = cos,
    tan = tan,
    tanh = tanh,
    acos = acos,
    acosh = acosh,
    asin = asin,
    asinh = asinh,
    atan = atan,
    atanh = atanh,
    cosh = cosh,
    sinh = sinh,
    erf = erf,
    erfc = erfc,
    lgamma = lgamma,
    pow = pow,
    atan2 = atan2
);
