//! Values as other element types.

use super::{Done, Writer, element, of};
use surject_codegen::code::{self, Elem, Op, Saturation, Type};
use surject_codegen::kernels::mlir::cast;
use surject_ir::{DType, Scalar};

impl Writer<'_> {
    /// A value as another element type.
    pub(super) fn converted(
        &mut self,
        value: code::Value,
        from: surject_kernel::Type,
        to: DType,
    ) -> Done<code::Value> {
        let (own, wanted) = (of(from), of(from.with(to)));
        match (from.dtype, to) {
            (DType::BF16, DType::F32) => return Ok(self.widened(value, from.lanes)),
            (DType::F32, DType::BF16) => return Ok(self.halved(value, from.lanes)),
            (a, b) if a != b && (a == DType::BF16 || b == DType::BF16) => {
                return Err(format!("a conversion of {a} to {b}, which is not arithmetic"));
            }
            _ => {}
        }
        Ok(match cast(from.dtype, to) {
            Some(operation) => self.b.op(Op::cast(operation, value, own, wanted)),
            None if own == wanted => value,
            None if from.lanes > 1 && matches!(from.dtype, DType::F32 | DType::F64) => {
                self.saturated(value, from, to)
            }
            None => {
                // Saturates; NaN gives 0.
                let lanes =
                    |e: Elem| if from.lanes == 1 { e.to_string() } else { format!("v{}{e}", from.lanes) };
                let kind = if to.is_signed_int() { "fptosi" } else { "fptoui" };
                let (integer, float) = (lanes(element(to)), lanes(element(from.dtype)));
                let name = format!("llvm.{kind}.sat.{integer}.{float}");
                self.b.op(Op::intrinsic(name, [(value, own)], Some(wanted)))
            }
        })
    }

    /// The bits of `bf16` as `f32`.
    fn widened(&mut self, value: code::Value, lanes: usize) -> code::Value {
        let (words, floats) = (Elem::I32.ty(lanes), Elem::F32.ty(lanes));
        let bits = self.b.op(Op::cast("arith.extui", value, Elem::I16.ty(lanes), words));
        let sixteen = self.b.splat(Elem::I32, 16, lanes);
        let bits = self.b.op(Op::same("arith.shli", [bits, sixteen], words));
        self.b.op(Op::cast("arith.bitcast", bits, words, floats))
    }

    /// An `f32` as the bits of the nearest `bf16`, of two the even one. A NaN stays a NaN, with the upper bits that it had.
    fn halved(&mut self, value: code::Value, lanes: usize) -> code::Value {
        let (words, floats) = (Elem::I32.ty(lanes), Elem::F32.ty(lanes));
        let rounded = self.nearest(value, lanes);
        let bits = self.b.op(Op::cast("arith.bitcast", value, floats, words));
        let [sixteen, quiet] = [16, 0x40].map(|number| self.b.splat(Elem::I32, number, lanes));
        let upper = self.b.op(Op::same("arith.shrui", [bits, sixteen], words));
        let nan = self.b.op(Op::same("arith.ori", [upper, quiet], words));
        let sides = [value, value];
        let is_nan = self.b.op(Op::Compare { name: "arith.cmpf", predicate: "uno", sides, ty: floats });
        let condition = (is_nan, Type::truths(floats));
        let chosen = self.b.op(Op::Select { condition, values: [nan, rounded], ty: words });
        self.b.op(Op::cast("arith.trunci", chosen, words, Elem::I16.ty(lanes)))
    }

    /// The same of a value whose NaNs have an empty lower half.
    pub(super) fn halved_as_number(&mut self, value: code::Value, lanes: usize) -> code::Value {
        let rounded = self.nearest(value, lanes);
        self.b.op(Op::cast("arith.trunci", rounded, Elem::I32.ty(lanes), Elem::I16.ty(lanes)))
    }

    /// The upper half of an `f32`, rounded to nearest, of two to the even one, in the lower half of a word. Of a NaN whose lower
    /// half is not empty it may be an infinity.
    fn nearest(&mut self, value: code::Value, lanes: usize) -> code::Value {
        let (words, floats) = (Elem::I32.ty(lanes), Elem::F32.ty(lanes));
        let [sixteen, one, below] = [16, 1, 0x7fff].map(|number| self.b.splat(Elem::I32, number, lanes));
        let bits = self.b.op(Op::cast("arith.bitcast", value, floats, words));
        let mut word = |name, a, b| self.b.op(Op::same(name, [a, b], words));
        let upper = word("arith.shrui", bits, sixteen);
        let odd = word("arith.andi", upper, one);
        let up = word("arith.addi", bits, below);
        let up = word("arith.addi", up, odd);
        word("arith.shrui", up, sixteen)
    }

    /// Floats in lanes as integers: towards zero, the nearest integer there is, and 0 for what is not a number. LLVM's
    /// conversion that saturates goes lane by lane; so the argument is brought to where that of the machine says the same.
    fn saturated(&mut self, value: code::Value, from: surject_kernel::Type, to: DType) -> code::Value {
        let (integers, lanes, signed) = (element(to), from.lanes, to.is_signed_int());
        let Saturation { low, last, end, is_coarse, largest } =
            Saturation::of(element(from.dtype), integers, signed);
        let [low, last, end, zero] =
            [low, last, end, 0.0].map(|x| self.scalar(Scalar::from_f64(from.dtype, x), lanes));
        // Where the least integer is 0, the comparison with it does this for what is not a number.
        let value = if signed { self.where_float(from, ("ord", value, value), [value, zero]) } else { value };
        let value = self.where_float(from, ("ogt", value, low), [value, low]);
        let inside = self.where_float(from, ("olt", value, last), [value, last]);
        // Narrow integers by way of wider ones that machines convert to.
        let wide = if integers.bits() < 32 { Elem::I32 } else { integers };
        let name = if signed || integers.bits() < 32 { "arith.fptosi" } else { "arith.fptoui" };
        let mut result = self.b.op(Op::cast(name, inside, of(from), wide.ty(lanes)));
        if wide != integers {
            result = self.b.op(Op::cast("arith.trunci", result, wide.ty(lanes), integers.ty(lanes)));
        }
        if !is_coarse {
            return result;
        }
        let largest = self.b.splat(integers, largest, lanes);
        let beyond = Op::Compare { name: "arith.cmpf", predicate: "oge", sides: [value, end], ty: of(from) };
        let condition = (self.b.op(beyond), Type::truths(of(from)));
        self.b.op(Op::Select { condition, values: [largest, result], ty: integers.ty(lanes) })
    }

    /// One of two floats, the first where a comparison holds.
    fn where_float(
        &mut self,
        ty: surject_kernel::Type,
        (predicate, x, y): (&'static str, code::Value, code::Value),
        values: [code::Value; 2],
    ) -> code::Value {
        let compare = Op::Compare { name: "arith.cmpf", predicate, sides: [x, y], ty: of(ty) };
        let condition = (self.b.op(compare), Type::truths(of(ty)));
        self.b.op(Op::Select { condition, values, ty: of(ty) })
    }
}
