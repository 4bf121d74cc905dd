//! The instructions of scalar operations.

use surject_codegen::kernels::counts::Work;
use surject_ir::{BinaryOp, DType, UnaryOp};

/// Instructions of an access: it and its address.
const ACCESS: f64 = 3.0;

/// The instructions of an operation, counted in the PTX that its formula becomes.
pub(super) fn weight(work: &Work) -> f64 {
    match *work {
        Work::Access => ACCESS,
        Work::Plain => 1.0,
        Work::Join(dtype) => wide(dtype),
        Work::Unary(op, dtype) => function(op) * wide(dtype),
        Work::Binary(op, dtype) => {
            let each = match op {
                BinaryOp::Div if dtype.is_float() => 10.0,
                BinaryOp::Div | BinaryOp::Rem => 25.0,
                BinaryOp::Max | BinaryOp::Min => 2.0,
                BinaryOp::Pow => 90.0,
                BinaryOp::Atan2 => 45.0,
                BinaryOp::NextAfter => 15.0,
                _ => 1.0,
            };
            each * wide(dtype)
        }
    }
}

/// There are half as many units for `f64` as for `f32`, and words of 64 bits are two.
fn wide(dtype: DType) -> f64 {
    if dtype.size() == 8 { 2.0 } else { 1.0 }
}

fn function(op: UnaryOp) -> f64 {
    match op {
        UnaryOp::Exp | UnaryOp::Logistic => 18.0,
        UnaryOp::Sqrt | UnaryOp::Rsqrt => 10.0,
        UnaryOp::Log => 25.0,
        UnaryOp::Expm1 | UnaryOp::Log1p | UnaryOp::Tanh | UnaryOp::Sinh | UnaryOp::Cosh => 30.0,
        UnaryOp::Sin | UnaryOp::Cos | UnaryOp::Tan | UnaryOp::Cbrt => 35.0,
        UnaryOp::Asin | UnaryOp::Acos | UnaryOp::Atan => 35.0,
        UnaryOp::Asinh | UnaryOp::Acosh | UnaryOp::Atanh => 50.0,
        UnaryOp::Erf | UnaryOp::Erfc | UnaryOp::ErfInv => 45.0,
        UnaryOp::Lgamma => 200.0,
        UnaryOp::Digamma => 110.0,
        _ => 1.0,
    }
}
