//! What is known of the NaNs of `f32` values.

use super::Writer;
use surject_ir::{BinaryOp, DType, Scalar, UnaryOp};
use surject_kernel::{Op, Type, Value};

impl Writer<'_> {
    /// Has every NaN that the result of an operation can be an empty lower half? Rounded to `bf16` as a number, it stays a NaN.
    ///
    /// So it is with what becomes of `bf16` by arithmetic: its NaNs are those of an operand, made quiet, or the processor's own,
    /// of which only upper bits are set. Nothing is known of what a loop carries.
    pub(super) fn has_short_nans(&self, op: &Op, ty: Type) -> bool {
        if ty.dtype != DType::F32 {
            return false;
        }
        let all = |values: &[Value]| values.iter().all(|value| self.short_nans.contains(value));
        match op {
            Op::Splat(value) => is_number(*value),
            Op::Constant(values) => values.iter().all(|&value| is_number(value)),
            Op::Convert(x) => {
                let from = self.ty(*x).dtype;
                from == DType::BF16 || from.is_int() || from == DType::I1
            }
            Op::Unary(UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Sqrt, x) => all(&[*x]),
            Op::Unary(UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::RoundEven, x) => all(&[*x]),
            Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div, x, y) => all(&[*x, *y]),
            Op::Binary(BinaryOp::Max | BinaryOp::Min, x, y) => all(&[*x, *y]),
            Op::Fma(x, y, z) => all(&[*x, *y, *z]),
            Op::Select(_, x, y) | Op::Shuffle(x, y, _) | Op::Insert(x, _, y) => all(&[*x, *y]),
            Op::Broadcast(x) | Op::Extract(x, _) => all(&[*x]),
            _ => false,
        }
    }
}

fn is_number(value: Scalar) -> bool {
    !value.as_f64().is_nan()
}
