//! Rounding to floats of 16 bits, which are computed in `f32`.

use crate::code::{Op, Value};
use crate::lower::emit::{At, Emitter};
use crate::machine::elem::Elem;
use surject_ir::DType;

/// Words of the widest register.
const WORDS: usize = 16;

/// The payload that a NaN may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payload {
    /// One that fills its lower half too.
    Any,
    /// One whose lower half is empty: arithmetic on halves, and what is made of it, gives a NaN that it was given, or the
    /// machine's own.
    Upper,
}

impl Emitter<'_> {
    /// Rounds the value of a 16-bit float, computed in `f32`, to that type.
    pub fn round_half(&mut self, at: At, dtype: DType, x: Value) -> Value {
        self.round_half_of(at, dtype, x, Payload::Any)
    }

    /// As [`Emitter::round_half`], of a value whose NaNs have such payloads.
    pub(crate) fn round_half_of(&mut self, at: At, dtype: DType, x: Value, payload: Payload) -> Value {
        match dtype {
            DType::F16 => {
                let half = self.cast(at, "arith.truncf", x, Elem::F32, Elem::F16);
                self.cast(at, "arith.extf", half, Elem::F16, Elem::F32)
            }
            DType::BF16 => {
                let i = Elem::I32;
                let bits = self.cast(at, "arith.bitcast", x, Elem::F32, i);
                let sum = self.above_half(at, bits);
                let chosen = if payload == Payload::Any {
                    // A NaN keeps its upper bits and becomes quiet, so that rounding cannot make it infinite.
                    let quiet = self.integer(at, i, 0x0040_0000);
                    let nan = self.bin(at, "arith.ori", bits, quiet, i);
                    let is_nan = self.cmpf(at, "uno", x, x, Elem::F32);
                    self.select(at, is_nan, nan, sum, i)
                } else {
                    sum
                };
                let mask = self.integer(at, i, -0x10000);
                let kept = self.bin(at, "arith.andi", chosen, mask, i);
                self.cast(at, "arith.bitcast", kept, i, Elem::F32)
            }
            _ => x,
        }
    }

    /// The bits of an `f32`, raised so that cutting off their lower half rounds to nearest, ties to even: by `0x7fff`,
    /// and by the bit that will be the last.
    fn above_half(&mut self, at: At, bits: Value) -> Value {
        let i = Elem::I32;
        if self.tables >= WORDS && at.lanes.is_multiple_of(WORDS) {
            // That bit, in an upper half, and a one in the lower half: an instruction multiplies them with 1 and 0x7fff and
            // adds both products.
            let (last, one) = (self.integer(at, i, 0x1_0000), self.integer(at, i, 1));
            let last = self.bin(at, "arith.andi", bits, last, i);
            let pairs = self.bin(at, "arith.ori", last, one, i);
            let by = self.integer(At { lanes: WORDS, ..at }, i, 0x1_7fff);
            let (words, halves) = (i.ty(WORDS), Elem::I16.ty(2 * WORDS));
            let mut parts = Vec::new();
            for first in (0..at.lanes).step_by(WORDS) {
                let [x, y] = [self.some_lanes(at.scope, pairs, (i, at.lanes), first, WORDS), by]
                    .map(|v| self.op(at.scope, Op::cast("vector.bitcast", v, words, halves)));
                let operands = [(x, halves), (y, halves)];
                let multiplied = Op::intrinsic("llvm.x86.avx512.pmaddw.d.512", operands, Some(words));
                parts.push(self.op(at.scope, multiplied));
            }
            let bias = self.of_parts(at.scope, parts, i, WORDS);
            return self.bin(at, "arith.addi", bits, bias, i);
        }
        let (sixteen, one) = (self.integer(at, i, 16), self.integer(at, i, 1));
        let high = self.bin(at, "arith.shrui", bits, sixteen, i);
        let odd = self.bin(at, "arith.andi", high, one, i);
        let almost = self.integer(at, i, 0x7fff);
        let bias = self.bin(at, "arith.addi", odd, almost, i);
        self.bin(at, "arith.addi", bits, bias, i)
    }
}
