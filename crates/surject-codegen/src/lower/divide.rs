//! Division without an instruction for it: of integers, of which machines divide one at a time, by constants, and by
//! what many quotients share.

use crate::code::{Op, Value};
use crate::lower::emit::{At, Emitter};
use crate::machine::elem::Elem;
use surject_ir::{BinaryOp, DType, Scalar};

/// How far a reciprocal is kept below the true one, so that no quotient is too large: more than what it, its factors
/// and its product are wrong by together.
const BELOW: f64 = 1.0 / 2_097_152.0;

impl Emitter<'_> {
    /// The quotient of integers, or what is left, in lanes, where there is one: the divisor is not zero.
    pub(crate) fn divide_lanes(&mut self, at: At, op: BinaryOp, dtype: DType, x: Value, y: Value) -> Value {
        let (e, signed) = (Elem::of(dtype), dtype.is_signed_int());
        if e == Elem::I64 {
            return self.divide_long(at, op, dtype, x, y);
        }
        if e != Elem::I32 {
            return self.divide_narrow(at, op, dtype, x, y);
        }
        let (mut a, mut b, mut sign) = (x, y, None);
        if signed {
            let zero = self.integer(at, e, 0);
            [a, b] = [x, y].map(|v| {
                let negated = self.bin(at, "arith.subi", zero, v, e);
                self.bin(at, "arith.maxsi", v, negated, e)
            });
            let signs = if op == BinaryOp::Div { self.bin(at, "arith.xori", x, y, e) } else { x };
            let last = self.integer(at, e, 31);
            sign = Some(self.bin(at, "arith.shrsi", signs, last, e));
        }
        let result = self.divide_words(at, op, a, b);
        let Some(sign) = sign else { return result };
        let negated = self.bin(at, "arith.xori", result, sign, e);
        self.bin(at, "arith.subi", negated, sign, e)
    }

    /// Of numbers of 32 bits without a sign: a quotient in `f32` is right in its first twenty bits and not too large, that
    /// of what it leaves gives the other ones up to one, and a comparison the last.
    fn divide_words(&mut self, at: At, op: BinaryOp, a: Value, b: Value) -> Value {
        let (e, f) = (Elem::I32, Elem::F32);
        let divisor = self.cast(at, "arith.uitofp", b, e, f);
        let below = self.float(at, f, 1.0 - BELOW);
        let inverse = self.bin(at, "arith.divf", below, divisor, f);
        let mut rest = a;
        let mut parts = Vec::new();
        for _ in 0..2 {
            let float = self.cast(at, "arith.uitofp", rest, e, f);
            let quotient = self.bin(at, "arith.mulf", float, inverse, f);
            let quotient = self.cast(at, "arith.fptoui", quotient, f, e);
            let product = self.bin(at, "arith.muli", quotient, b, e);
            rest = self.bin(at, "arith.subi", rest, product, e);
            parts.push(quotient);
        }
        let less = self.bin(at, "arith.subi", rest, b, e);
        let one_more = self.cmpi(at, "uge", rest, b, e);
        if op == BinaryOp::Rem {
            return self.select(at, one_more, less, rest, e);
        }
        let sum = self.bin(at, "arith.addi", parts[0], parts[1], e);
        let one = self.integer(at, e, 1);
        let next = self.bin(at, "arith.addi", sum, one, e);
        self.select(at, one_more, next, sum, e)
    }

    /// Of 64 bits: in `f64` where both numbers are exact there. A quotient that is no integer then is farther from one
    /// than it is rounded.
    fn divide_long(&mut self, at: At, op: BinaryOp, dtype: DType, x: Value, y: Value) -> Value {
        let (e, f, signed) = (Elem::I64, Elem::F64, dtype.is_signed_int());
        let pick = |s: &'static str, u: &'static str| if signed { s } else { u };
        let (lowest, count) = if signed { (1i64 << 52, 1 << 53) } else { (0, 1 << 53) };
        let (lowest, count) = (self.integer(at, e, lowest), self.integer(at, e, count));
        let [far_x, far_y] = [x, y].map(|v| {
            let above = self.bin(at, "arith.addi", v, lowest, e);
            self.cmpi(at, "uge", above, count, e)
        });
        let far = self.bin(at, "arith.ori", far_x, far_y, Elem::I1);
        let [a, b] = [x, y].map(|v| self.cast(at, pick("arith.sitofp", "arith.uitofp"), v, e, f));
        let quotient = self.bin(at, "arith.divf", a, b, f);
        let mut near = self.cast(at, pick("arith.fptosi", "arith.fptoui"), quotient, f, e);
        if op == BinaryOp::Rem {
            let product = self.bin(at, "arith.muli", near, y, e);
            near = self.bin(at, "arith.subi", x, product, e);
        }
        let name = match op {
            BinaryOp::Div => pick("arith.divsi", "arith.divui"),
            _ => pick("arith.remsi", "arith.remui"),
        };
        self.branch_where(at, far, near, e, |em, at| em.bin(at, name, x, y, e))
    }

    /// Of fewer bits: half of one more than the dividend lies so far from every integer that the quotient in `f32`, cut
    /// off, is the right one.
    fn divide_narrow(&mut self, at: At, op: BinaryOp, dtype: DType, x: Value, y: Value) -> Value {
        let (e, i, f) = (Elem::of(dtype), Elem::I32, Elem::F32);
        let signed = dtype.is_signed_int();
        let longer = if signed { "arith.extsi" } else { "arith.extui" };
        let [a, b] = [x, y].map(|v| {
            let word = self.cast(at, longer, v, e, i);
            self.cast(at, "arith.sitofp", word, i, f)
        });
        let quotient = self.bin(at, "arith.divf", a, b, f);
        let quotient = self.cast(at, "arith.fptosi", quotient, f, i);
        let quotient = self.cast(at, "arith.trunci", quotient, i, e);
        if op == BinaryOp::Div {
            return quotient;
        }
        let product = self.bin(at, "arith.muli", quotient, y, e);
        self.bin(at, "arith.subi", x, product, e)
    }

    /// The quotient of an `f32` that was an integer of at most 16 bits by a constant: a product with the inverse, in two
    /// parts, if that is the quotient of all of these.
    pub(crate) fn divide_by(&mut self, at: At, integer: DType, x: Value, by: Scalar) -> Option<Value> {
        let parts = inverse_parts(integer, by.as_f64() as f32)?;
        let parts = parts.map(|part| self.float(at, Elem::F32, part.into()));
        Some(self.times_parts(at, Elem::F32, x, &parts))
    }

    /// The product with an inverse in two parts, the larger first.
    fn times_parts(&mut self, at: At, elem: Elem, x: Value, [high, low]: &[Value; 2]) -> Value {
        let less = self.bin(at, "arith.mulf", x, *low, elem);
        self.op(at.scope, Op::same("math.fma", [x, *high, less], elem.ty(at.lanes)))
    }
}

/// The inverse of a divisor that is not far from 1, in two parts, the larger first; where it is no power of two, for `f32` alone.
pub(crate) fn inverse_of_constant(by: f64, elem: Elem) -> Option<[f64; 2]> {
    let usual = (2f64.powi(-60)..=2f64.powi(60)).contains(&by.abs());
    let parts = parts_towards_zero(by);
    (usual && (elem == Elem::F32 || parts[1] == 0.0)).then_some(parts)
}

/// The inverse of a number as a sum of floats of its sign: in `f32` rounded towards zero, and what is missing to it.
fn parts_towards_zero(by: f64) -> [f64; 2] {
    let inverse = 1.0 / by;
    let near = inverse as f32;
    let over = f64::from(near).abs() > inverse.abs();
    let high = f64::from(if over { f32::from_bits(near.to_bits() - 1) } else { near });
    [high, inverse - high]
}

/// The inverse of a divisor as a sum, if products with it are the quotients of every integer of a type.
pub(crate) fn inverse_parts(integer: DType, by: f32) -> Option<[f32; 2]> {
    if !integer.is_int() || integer.bits() > 16 || !by.is_normal() {
        return None;
    }
    let inverse = 1.0 / f64::from(by);
    let high = inverse as f32;
    let low = (inverse - f64::from(high)) as f32;
    let (first, last) = if integer.is_signed_int() {
        (-(1i32 << (integer.bits() - 1)), (1i32 << (integer.bits() - 1)) - 1)
    } else {
        (0, (1i32 << integer.bits()) - 1)
    };
    let same = |n: i32| {
        let x = n as f32;
        x.mul_add(high, x * low).to_bits() == (x / by).to_bits()
    };
    (first..=last).all(same).then_some([high, low])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quotients by the parts of an inverse are the rounded ones or, seldom, neighbours of them.
    #[test]
    fn parts_of_inverses() {
        let (mut all, mut wrong) = (0, 0);
        for by in [3.0f32, 255.0, 0.1, 784.0, -7.5, 1e-9, 1e9, 0.3333] {
            let [high, low] = parts_towards_zero(f64::from(by)).map(|p| p as f32);
            assert!(high * by > 0.0 && low * by >= 0.0);
            assert_eq!((f32::INFINITY.mul_add(high, f32::INFINITY * low)), f32::INFINITY / by);
            for i in 0..40_000u32 {
                let x = f32::from_bits(0x3000_0000 + i * 13_001);
                let (found, true_one) = (x.mul_add(high, x * low), x / by);
                all += 1;
                wrong += u32::from(found != true_one);
                assert!(found.to_bits().abs_diff(true_one.to_bits()) <= 1, "{x} / {by}");
            }
        }
        assert!(wrong * 1000 < all, "{wrong} of {all}");
        assert_eq!(parts_towards_zero(8.0), [0.125, 0.0]);
    }

    #[test]
    fn inverses() {
        // Nothing that is no quotient is taken for one: what is refused is divided.
        let given = |by| inverse_parts(DType::U8, by).is_some();
        assert!(given(255.0) && given(3.0) && given(127.5) && given(0.25));
        assert!(!given(0.0) && !given(f32::NAN) && !given(f32::INFINITY) && !given(1e-40));
        assert!(inverse_parts(DType::I16, 32767.0).is_some());
        assert!(inverse_parts(DType::I32, 3.0).is_none() && inverse_parts(DType::F32, 3.0).is_none());
    }
}
