//! Operations that depend on their operands alone.

use super::{Done, Writer, element, of};
use surject_codegen::code::{self, Elem, Elements, Literal, Op, Type};
use surject_codegen::kernels::mlir::{Arithmetic, binary, cast};
use surject_ir::{DType, Scalar, UnaryOp};
use surject_kernel::{Op as KernelOp, Value};

impl Writer<'_> {
    /// A constant in so many lanes.
    fn scalar(&mut self, value: Scalar, lanes: usize) -> code::Value {
        self.b.splat(element(value.dtype()), value.bits() as u64, lanes)
    }

    /// The value of an operation without effects.
    pub(super) fn pure(&mut self, op: &KernelOp, ty: surject_kernel::Type) -> Done<code::Value> {
        Ok(match op {
            KernelOp::Splat(value) => self.scalar(*value, ty.lanes),
            KernelOp::Constant(values) => {
                let bits = values.iter().map(|v| v.bits() as u64).collect();
                self.b.constant(Literal::new(element(ty.dtype), Elements::Each(bits)))
            }
            KernelOp::Index(affine) => {
                let at = self.affine_lanes(affine, ty.lanes)?;
                match ty.dtype.size() {
                    8 => at,
                    _ => self.b.op(Op::cast("arith.trunci", at, Elem::I64.ty(ty.lanes), of(ty))),
                }
            }
            KernelOp::Holds(guards) => {
                let condition = self.guards(guards, ty.lanes)?;
                self.truths(condition, ty.lanes)
            }
            KernelOp::Unary(op, x) => self.unary(*op, *x)?,
            KernelOp::Binary(op, x, y) => {
                let (sides, own) = ([self.value(*x)?, self.value(*y)?], self.ty(*x));
                let refused = || format!("`{op}` of {}, which is not arithmetic", own.dtype);
                let found = binary(*op, own.dtype).filter(|_| own.dtype != DType::BF16);
                self.b.op(match found.ok_or_else(refused)? {
                    Arithmetic::Same(name) => Op::same(name, sides, of(own)),
                    Arithmetic::Compare { name, predicate } => {
                        Op::Compare { name, predicate, sides, ty: of(own) }
                    }
                })
            }
            KernelOp::Fma(x, y, z) => {
                let operands = self.values(&[*x, *y, *z])?;
                self.b.op(Op::same("math.fma", operands, of(ty)))
            }
            KernelOp::Select(c, x, y) => {
                let condition = (self.value(*c)?, of(self.ty(*c)));
                let values = [self.value(*x)?, self.value(*y)?];
                self.b.op(Op::Select { condition, values, ty: of(ty) })
            }
            _ => return self.moved(op, ty),
        })
    }

    /// Operations that give values another type, or move lanes.
    fn moved(&mut self, op: &KernelOp, ty: surject_kernel::Type) -> Done<code::Value> {
        Ok(match op {
            KernelOp::Convert(x) => self.converted(self.value(*x)?, self.ty(*x), ty.dtype)?,
            KernelOp::Bitcast(x) => {
                let (value, from) = (self.value(*x)?, of(self.ty(*x)));
                match from == of(ty) {
                    true => value,
                    false => self.b.op(Op::cast("arith.bitcast", value, from, of(ty))),
                }
            }
            KernelOp::Broadcast(x) => self.broadcast(self.value(*x)?, element(ty.dtype).ty(1), ty.lanes),
            KernelOp::Shuffle(x, y, order) => {
                let (sides, own) = ([self.value(*x)?, self.value(*y)?], self.ty(*x));
                match (own.lanes, &order[..]) {
                    // One lane is no vector.
                    (1, &[one]) => sides[one.min(1)],
                    (1, _) => {
                        let all: Vec<code::Value> = order.iter().map(|&i| sides[i.min(1)]).collect();
                        self.b.op(Op::FromElements(all, of(ty)))
                    }
                    (lanes, &[one]) => {
                        let (side, lane) = (sides[usize::from(one >= lanes)], one % lanes);
                        self.b.op(Op::Extract { vector: side, lane, ty: of(own) })
                    }
                    _ => {
                        let order = order.iter().map(|&i| i as i64).collect();
                        self.b.op(Op::Shuffle { sides, order, ty: of(own) })
                    }
                }
            }
            KernelOp::Extract(x, lane) => {
                let (vector, own) = (self.value(*x)?, self.ty(*x));
                match own.lanes {
                    1 => vector,
                    _ => self.b.op(Op::Extract { vector, lane: *lane, ty: of(own) }),
                }
            }
            KernelOp::Insert(x, lane, scalar) => {
                let (vector, value) = (self.value(*x)?, self.value(*scalar)?);
                match ty.lanes {
                    1 => value,
                    _ => self.b.op(Op::Insert { value, vector, lane: *lane, ty: of(ty) }),
                }
            }
            _ => return Err("an operation that is not written for a CPU".into()),
        })
    }

    fn unary(&mut self, op: UnaryOp, x: Value) -> Done<code::Value> {
        let (value, ty) = (self.value(x)?, self.ty(x));
        let wide = matches!(ty.dtype, DType::F32 | DType::F64);
        let operation = match op {
            UnaryOp::Neg if wide => "arith.negf",
            UnaryOp::Abs if wide => "math.absf",
            UnaryOp::Sqrt if wide => "math.sqrt",
            UnaryOp::Floor if wide => "math.floor",
            UnaryOp::Ceil if wide => "math.ceil",
            UnaryOp::RoundEven if wide => "math.roundeven",
            UnaryOp::Popcount if !ty.dtype.is_float() => "math.ctpop",
            UnaryOp::CountLeadingZeros if !ty.dtype.is_float() => "math.ctlz",
            op => return Err(format!("`{op}` of {}, which is not arithmetic", ty.dtype)),
        };
        Ok(self.b.op(Op::same(operation, [value], of(ty))))
    }

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
        let [sixteen, one, below, quiet] =
            [16, 1, 0x7fff, 0x40].map(|number| self.b.splat(Elem::I32, number, lanes));
        let bits = self.b.op(Op::cast("arith.bitcast", value, floats, words));
        let mut word = |name, a, b| self.b.op(Op::same(name, [a, b], words));
        let upper = word("arith.shrui", bits, sixteen);
        let odd = word("arith.andi", upper, one);
        let up = word("arith.addi", bits, below);
        let up = word("arith.addi", up, odd);
        let rounded = word("arith.shrui", up, sixteen);
        let nan = word("arith.ori", upper, quiet);
        let sides = [value, value];
        let is_nan = self.b.op(Op::Compare { name: "arith.cmpf", predicate: "uno", sides, ty: floats });
        let condition = (is_nan, Type::truths(floats));
        let chosen = self.b.op(Op::Select { condition, values: [nan, rounded], ty: words });
        self.b.op(Op::cast("arith.trunci", chosen, words, Elem::I16.ty(lanes)))
    }
}
