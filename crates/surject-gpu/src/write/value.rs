//! Operations that depend on their operands alone.

use super::text::literal;
use super::{Done, KernelWriter, Writer, element, lanes_of};
use surject_codegen::kernels::mlir::binary;
use surject_ir::{BinaryOp, DType, Scalar, UnaryOp};
use surject_kernel::{Affine, Guard, Op, Type, Value};

impl Writer<'_> {
    /// A scalar constant.
    pub(super) fn scalar(&mut self, value: Scalar) -> String {
        self.constant(&literal(value), element(value.dtype()))
    }

    /// The lanes of a value put together.
    pub(super) fn joined(&mut self, parts: &[String], element: &str) -> String {
        if let [one] = parts {
            return one.clone();
        }
        let ty = lanes_of(element, parts.len());
        let mut whole = self.op(&format!("llvm.mlir.poison : {ty}"));
        for (i, part) in parts.iter().enumerate() {
            let at = self.constant(&i.to_string(), "i32");
            whole = self.op(&format!("llvm.insertelement {part}, {whole}[{at} : i32] : {ty}"));
        }
        whole
    }

    /// A lane of a value.
    pub(super) fn lane(&mut self, name: &str, ty: Type, lane: usize) -> String {
        self.lane_of(name, element(ty.dtype), ty.lanes, lane)
    }

    pub(super) fn lane_of(&mut self, name: &str, element: &str, lanes: usize, lane: usize) -> String {
        if lanes == 1 {
            return name.to_string();
        }
        let at = self.constant(&lane.to_string(), "i32");
        self.op(&format!("llvm.extractelement {name}[{at} : i32] : {}", lanes_of(element, lanes)))
    }

    /// The value of an operation without effects.
    pub(super) fn pure(&mut self, op: &Op, ty: Type) -> Done<String> {
        let result = Self::mlir(ty);
        Ok(match op {
            Op::Splat(value) if ty.lanes == 1 => self.scalar(*value),
            Op::Splat(value) => self.constant(&format!("dense<{}>", literal(*value)), &result),
            Op::Constant(values) if ty.lanes == 1 => self.scalar(values[0]),
            Op::Constant(values) => {
                let values: Vec<String> = values.iter().map(|&v| literal(v)).collect();
                self.constant(&format!("dense<[{}]>", values.join(", ")), &result)
            }
            Op::Index(affine) => self.index_lanes(affine, ty)?,
            Op::Holds(guards) => self.guard_lanes(guards, ty)?,
            Op::Unary(op, x) => self.unary(*op, *x)?,
            Op::Binary(op, x, y) => self.binary(*op, *x, *y)?,
            Op::Fma(x, y, z) => {
                let [x, y, z] = [self.name(*x)?, self.name(*y)?, self.name(*z)?];
                self.op(&format!("llvm.intr.fma({x}, {y}, {z}) : ({result}, {result}, {result}) -> {result}"))
            }
            Op::Select(c, x, y) => {
                let [c, x, y] = [self.name(*c)?, self.name(*x)?, self.name(*y)?];
                let condition = if ty.lanes == 1 { "".into() } else { format!("vector<{}xi1>, ", ty.lanes) };
                self.op(&format!("arith.select {c}, {x}, {y} : {condition}{result}"))
            }
            Op::Convert(x) => {
                let (name, from) = (self.name(*x)?, self.ty(*x));
                self.cast(&name, from, ty.dtype)
            }
            Op::Bitcast(x) => {
                let (name, from) = (self.name(*x)?, Self::mlir(self.ty(*x)));
                if from == result {
                    return Ok(name);
                }
                self.op(&format!("arith.bitcast {name} : {from} to {result}"))
            }
            op => self.of_lanes(op, ty)?,
        })
    }

    fn index_lanes(&mut self, affine: &Affine, ty: Type) -> Done<String> {
        let mut lanes = Vec::new();
        for lane in 0..ty.lanes {
            let at = self.affine(affine, lane)?;
            lanes.push(match ty.dtype.size() {
                8 => at,
                _ => self.op(&format!("arith.trunci {at} : i64 to {}", element(ty.dtype))),
            });
        }
        Ok(self.joined(&lanes, element(ty.dtype)))
    }

    fn guard_lanes(&mut self, guards: &[Guard], ty: Type) -> Done<String> {
        let mut lanes = Vec::new();
        for lane in 0..ty.lanes {
            lanes.push(match self.guards(guards, lane)? {
                Some(holds) => holds,
                None => self.scalar(Scalar::bool(true)),
            });
        }
        Ok(self.joined(&lanes, "i1"))
    }

    /// The value of an operation that moves lanes.
    fn of_lanes(&mut self, op: &Op, ty: Type) -> Done<String> {
        Ok(match op {
            Op::Broadcast(x) => {
                let name = self.name(*x)?;
                self.joined(&vec![name; ty.lanes], element(ty.dtype))
            }
            Op::Shuffle(x, y, order) => {
                let (a, b) = (self.ty(*x), self.ty(*y));
                let (x, y) = (self.name(*x)?, self.name(*y)?);
                let mut lanes = Vec::new();
                for &lane in order {
                    lanes.push(match lane.checked_sub(a.lanes) {
                        None => self.lane(&x, a, lane),
                        Some(lane) => self.lane(&y, b, lane),
                    });
                }
                self.joined(&lanes, element(ty.dtype))
            }
            Op::Extract(x, lane) => {
                let (name, from) = (self.name(*x)?, self.ty(*x));
                self.lane(&name, from, *lane)
            }
            Op::Insert(x, lane, scalar) => {
                let (name, scalar) = (self.name(*x)?, self.name(*scalar)?);
                if ty.lanes == 1 {
                    return Ok(scalar);
                }
                let at = self.constant(&lane.to_string(), "i32");
                self.op(&format!("llvm.insertelement {scalar}, {name}[{at} : i32] : {}", Self::mlir(ty)))
            }
            _ => return Err("an operation that is not written for a GPU".into()),
        })
    }

    fn unary(&mut self, op: UnaryOp, x: Value) -> Done<String> {
        let (name, ty) = (self.name(x)?, self.ty(x));
        let t = Self::mlir(ty);
        let intrinsic = match (op, ty.dtype) {
            (UnaryOp::Neg, d) if d.is_float() => return Ok(self.op(&format!("arith.negf {name} : {t}"))),
            (UnaryOp::Abs, DType::F32 | DType::F64) => "fabs",
            (UnaryOp::Sqrt, DType::F32 | DType::F64) => "sqrt",
            (UnaryOp::Floor, DType::F32 | DType::F64) => "floor",
            (UnaryOp::Ceil, DType::F32 | DType::F64) => "ceil",
            (UnaryOp::RoundEven, DType::F32 | DType::F64) => "roundeven",
            (UnaryOp::Popcount, d) if d.size() >= 4 => "ctpop",
            (UnaryOp::CountLeadingZeros, d) if d.size() >= 4 => {
                return Ok(self
                    .op(&format!("\"llvm.intr.ctlz\"({name}) <{{is_zero_poison = false}}> : ({t}) -> {t}")));
            }
            (op, dtype) => return Err(format!("`{op}` of {dtype}, which is not arithmetic")),
        };
        Ok(self.op(&format!("llvm.intr.{intrinsic}({name}) : ({t}) -> {t}")))
    }

    fn binary(&mut self, op: BinaryOp, x: Value, y: Value) -> Done<String> {
        let [a, b] = [self.name(x)?, self.name(y)?];
        let ty = self.ty(x);
        self.arithmetic(op, &a, &b, ty)
    }

    /// A binary operation on values that have no number in the kernel.
    pub(super) fn arithmetic(&mut self, op: BinaryOp, a: &str, b: &str, ty: Type) -> Done<String> {
        let name =
            binary(op, ty.dtype).ok_or_else(|| format!("`{op}` of {}, which is not arithmetic", ty.dtype))?;
        Ok(self.op(&format!("{name} {a}, {b} : {}", Self::mlir(ty))))
    }
}
