//! The largest or smallest of floats, found as integers.
//!
//! The larger of two floats is NaN if one is, and of two zeros the one without a sign: that is half a dozen instructions. The
//! bits of a float are a number with a sign and an absolute value; as a two's complement such numbers are in the order of the
//! floats, and what is not a number lies beyond both ends. Moved by the count of these, the ones of both signs come to lie at
//! that end where they win.

use surject_ir::{AccOp, BinaryOp, DType, Scalar};
use surject_kernel::{Builder, Op, Value};

/// Keys of floats of one type, such that the largest or the smallest of them is wanted.
#[derive(Clone, Copy)]
pub(super) struct Keys {
    float: DType,
    max: bool,
}

/// The floats of one sign that are not finite.
struct NotFinite {
    /// The bits of infinity.
    infinity: i128,
    /// How many are not a number.
    nans: i128,
}

impl Keys {
    /// The keys with which a reduction is done, if it is one of the largest or the smallest float.
    pub(super) fn of(op: AccOp, float: DType) -> Option<Keys> {
        let max = match op {
            AccOp::Max => true,
            AccOp::Min => false,
            _ => return None,
        };
        float.is_float().then_some(Keys { float, max })
    }

    /// The type of a key.
    pub(super) fn dtype(self) -> DType {
        match self.float {
            DType::F64 => DType::I64,
            DType::F32 => DType::I32,
            _ => DType::I16,
        }
    }

    /// The bits of infinity, and how many floats of one sign are not a number.
    fn not_finite(self) -> NotFinite {
        let mantissa = match self.float {
            DType::F64 => 52,
            DType::F32 => 23,
            DType::BF16 => 7,
            _ => 10,
        };
        let sign = 1i128 << (self.float.bits() - 1);
        NotFinite { infinity: sign - (1 << mantissa), nans: (1 << mantissa) - 1 }
    }

    fn number(self, b: &mut Builder, value: i128, like: Value) -> Value {
        let lanes = b.ty(like).lanes;
        b.splat(Scalar::from_i128(self.dtype(), value), lanes)
    }

    /// The bits of the absolute value where the sign is set, and the number itself.
    fn turn(self, b: &mut Builder, bits: Value) -> Value {
        let last = self.number(b, i128::from(self.float.bits()) - 1, bits);
        let sign = b.binary(BinaryOp::ShrArith, bits, last);
        let size = self.number(b, (1i128 << (self.float.bits() - 1)) - 1, bits);
        let flip = b.binary(BinaryOp::And, sign, size);
        b.binary(BinaryOp::Xor, bits, flip)
    }

    /// The key of a float.
    pub(super) fn key(self, b: &mut Builder, x: Value) -> Value {
        let ty = b.ty(x).with(self.dtype());
        let bits = b.pure(Op::Bitcast(x), ty);
        let number = self.turn(b, bits);
        let count = self.number(b, self.not_finite().nans, bits);
        b.binary(if self.max { BinaryOp::Sub } else { BinaryOp::Add }, number, count)
    }

    /// The float of a key.
    pub(super) fn value(self, b: &mut Builder, key: Value) -> Value {
        let count = self.number(b, self.not_finite().nans, key);
        let number = b.binary(if self.max { BinaryOp::Add } else { BinaryOp::Sub }, key, count);
        let bits = self.turn(b, number);
        let ty = b.ty(bits).with(self.float);
        b.pure(Op::Bitcast(bits), ty)
    }

    /// The key of the infinity that never wins.
    pub(super) fn neutral(self) -> Scalar {
        let NotFinite { infinity, nans: count } = self.not_finite();
        // The number of the negative infinity is the complement of that of the positive one, with its sign.
        let key = if self.max { !infinity - count } else { infinity + count };
        Scalar::from_i128(self.dtype(), key)
    }
}
