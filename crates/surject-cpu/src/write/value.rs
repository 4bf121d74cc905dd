//! Operations that depend on their operands alone.

use super::{Done, Writer, element, of};
use surject_codegen::code::{self, Declaration, Elem, Elements, Literal, Op, Symbol, Type};
use surject_codegen::kernels::legal::runtime_function;
use surject_codegen::kernels::mlir::{Arithmetic, binary};
use surject_ir::{AccOp, BinaryOp, DType, Scalar, UnaryOp};
use surject_kernel::{Op as KernelOp, Type as KernelType, Value};

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
                if matches!(own.dtype, DType::F32 | DType::F64) && *op == BinaryOp::Rem && own.lanes == 1 {
                    return Ok(self.called(format!("surject_fmod_{}", own.dtype), &sides, of(own)));
                }
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
            KernelOp::Convert(x) if ty.dtype == DType::BF16 && self.short_nans.contains(x) => {
                self.halved_as_number(self.value(*x)?, ty.lanes)
            }
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
            KernelOp::Lookup(low, high, at) => self.lookup([*low, *high], *at)?,
            KernelOp::Scale(x, n) => self.scaled(*x, *n)?,
            // What is not a truth is joined by other operations.
            KernelOp::ReduceLanes(AccOp::Or, x) if self.ty(*x).dtype == DType::I1 => {
                let (vector, own) = (self.value(*x)?, self.ty(*x));
                match own.lanes {
                    1 => vector,
                    _ => self.b.op(Op::Reduction { kind: "or", vector, ty: of(own) }),
                }
            }
            _ => return Err("an operation that is not written for a CPU".into()),
        })
    }

    /// Entries of a table of sixteen, or of two of them: one instruction of AVX-512.
    fn lookup(&mut self, [low, high]: [Value; 2], at: Value) -> Done<code::Value> {
        let (table, numbers) = (self.ty(low), self.ty(at));
        let fits =
            table == KernelType::vector(DType::F32, 16) && numbers.lanes == 16 && numbers.dtype.size() == 4;
        if !fits {
            return Err(format!(
                "a lookup of {numbers} in {table}: of 16 lanes of 32 bits in `f32x16` there is one"
            ));
        }
        let [own, entry] = [(self.value(low)?, of(table)), (self.value(at)?, of(numbers))];
        Ok(self.b.op(match low == high {
            true => Op::intrinsic("llvm.x86.avx512.permvar.sf.512", [own, entry], Some(of(table))),
            false => {
                let operands = [own, entry, (self.value(high)?, of(table))];
                Op::intrinsic("llvm.x86.avx512.vpermi2var.ps.512", operands, Some(of(table)))
            }
        }))
    }

    /// A register of floats times powers of two: one instruction of AVX-512.
    fn scaled(&mut self, x: Value, n: Value) -> Done<code::Value> {
        let own = self.ty(x);
        let bits = own.lanes * own.dtype.size() * 8;
        if ![128, 256, 512].contains(&bits) {
            return Err(format!(
                "{own} is scaled: of registers of 128, 256 and 512 bits there is an instruction"
            ));
        }
        let (y, n) = ((self.value(x)?, of(own)), (self.value(n)?, of(own)));
        // All lanes; and rounded as everything is, which the widest form has to be told.
        let mask = if own.lanes == 16 { (Elem::I16, 0xffff) } else { (Elem::I8, 0xff) };
        let mut operands = vec![y, n, y];
        for (elem, value) in [Some(mask), (bits == 512).then_some((Elem::I32, 4))].into_iter().flatten() {
            operands.push((self.b.splat(elem, value, 1), elem.ty(1)));
        }
        let name = if own.dtype == DType::F64 { "pd" } else { "ps" };
        let name = format!("llvm.x86.avx512.mask.scalef.{name}.{bits}");
        Ok(self.b.op(Op::intrinsic(name, operands, Some(of(own)))))
    }

    /// What a function of the runtime makes of values of a type.
    fn called(&mut self, name: String, values: &[code::Value], ty: Type) -> code::Value {
        let parameters = vec![ty; values.len()];
        self.calls.insert(Declaration { name: name.clone(), parameters, result: Some(ty) });
        let values: Vec<(code::Value, Type)> = values.iter().map(|&value| (value, ty)).collect();
        self.b.op(Op::call(Symbol::Named(name), values, Some(ty)))
    }

    fn unary(&mut self, op: UnaryOp, x: Value) -> Done<code::Value> {
        let (value, ty) = (self.value(x)?, self.ty(x));
        if let Some(name) = runtime_function(op, ty.dtype).filter(|_| ty.lanes == 1) {
            return Ok(self.called(name, &[value], of(ty)));
        }
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
