//! Operations that depend on their operands alone.

use super::{Done, Writer, element, of};
use surject_codegen::code::{self, Elem, Elements, Literal, Op};
use surject_codegen::kernels::mlir::{Arithmetic, binary};
use surject_ir::{DType, Scalar, UnaryOp};
use surject_kernel::{Op as KernelOp, Value};

impl Writer<'_> {
    /// A constant in so many lanes.
    pub(super) fn scalar(&mut self, value: Scalar, lanes: usize) -> code::Value {
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
}
