//! Integers in place of floats, where only their order counts.
//!
//! The larger of two floats is NaN if one is, and of two zeros the one without a sign: that is no instruction, but half a
//! dozen. The bits of a float are a number with a sign and an absolute value; as a two's complement such numbers are in
//! the order of the floats, and what is not a number lies beyond both ends. Moved by the count of these, the ones of
//! both signs come to lie at that end where they win. So the largest of many is found by one comparison of integers each.

use crate::code::Value;
use crate::lower::emit::{At, Emitter};
use crate::machine::elem::Elem;
use surject_ir::{AccOp, DType};

/// Keys of floats of one width, such that the largest or the smallest of them is wanted.
#[derive(Clone, Copy)]
pub(crate) struct Keys {
    /// What is compared: of a `bf16` its own sixteen bits, though it is computed with in `f32`.
    float: Float,
    max: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Float {
    Brain,
    Single,
    Double,
}

/// The keys that an accumulation is done with, if it is one of the largest or the smallest float.
pub(crate) fn of(op: AccOp, dtype: DType) -> Option<Keys> {
    let max = match op {
        AccOp::Max => true,
        AccOp::Min => false,
        _ => return None,
    };
    let float = match dtype {
        DType::BF16 => Float::Brain,
        DType::F64 => Float::Double,
        _ if dtype.is_float() => Float::Single,
        _ => return None,
    };
    Some(Keys { float, max })
}

/// The floats of one sign that are not finite.
struct NotFinite {
    /// The bits of infinity.
    infinity: i64,
    /// How many are not a number.
    nans: i64,
}

impl Keys {
    /// The type of a key.
    pub(crate) fn elem(self) -> Elem {
        match self.float {
            Float::Brain => Elem::I16,
            Float::Single => Elem::I32,
            Float::Double => Elem::I64,
        }
    }

    fn not_finite(self) -> NotFinite {
        let (infinity, nans) = match self.float {
            Float::Brain => (0x7f80, (1 << 7) - 1),
            Float::Single => (0x7f80_0000, (1 << 23) - 1),
            Float::Double => (0x7ff0_0000_0000_0000, (1 << 52) - 1),
        };
        NotFinite { infinity, nans }
    }

    /// The bits of the absolute value where the sign is set, and the number itself.
    fn turn(self, em: &mut Emitter<'_>, bits: Value, at: At) -> Value {
        let e = self.elem();
        let last = em.integer(at, e, i64::from(e.bits()) - 1);
        let sign = em.bin(at, "arith.shrsi", bits, last, e);
        let size = em.integer(at, e, i64::MAX >> (64 - e.bits()));
        let flip = em.bin(at, "arith.andi", sign, size, e);
        em.bin(at, "arith.xori", bits, flip, e)
    }

    /// The key of a float.
    pub(crate) fn key(self, em: &mut Emitter<'_>, x: Value, at: At) -> Value {
        let e = self.elem();
        let bits = match self.float {
            Float::Brain => em.narrow(DType::BF16, x, at),
            Float::Single => em.cast(at, "arith.bitcast", x, Elem::F32, e),
            Float::Double => em.cast(at, "arith.bitcast", x, Elem::F64, e),
        };
        let number = self.turn(em, bits, at);
        let count = em.integer(at, e, self.not_finite().nans);
        em.bin(at, if self.max { "arith.subi" } else { "arith.addi" }, number, count, e)
    }

    /// The float of a key.
    pub(crate) fn value(self, em: &mut Emitter<'_>, key: Value, at: At) -> Value {
        let e = self.elem();
        let count = em.integer(at, e, self.not_finite().nans);
        let number = em.bin(at, if self.max { "arith.addi" } else { "arith.subi" }, key, count, e);
        let bits = self.turn(em, number, at);
        match self.float {
            Float::Brain => em.widen(DType::BF16, bits, at),
            Float::Single => em.cast(at, "arith.bitcast", bits, e, Elem::F32),
            Float::Double => em.cast(at, "arith.bitcast", bits, e, Elem::F64),
        }
    }

    /// The key that wins.
    pub(crate) fn join(self, em: &mut Emitter<'_>, x: Value, y: Value, at: At) -> Value {
        em.bin(at, if self.max { "arith.maxsi" } else { "arith.minsi" }, x, y, self.elem())
    }

    /// The key of the infinity that never wins.
    pub(crate) fn neutral(self, em: &mut Emitter<'_>, lanes: usize) -> Value {
        let NotFinite { infinity, nans: count } = self.not_finite();
        // The number of the negative infinity is the complement of that of the positive one, with its sign.
        let key = if self.max { !infinity - count } else { infinity + count };
        em.constant(self.elem(), key as u64, lanes)
    }
}
