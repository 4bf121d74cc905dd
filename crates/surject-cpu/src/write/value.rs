//! Operations that depend on their operands alone.

use super::{Condition, Done, KernelWriter, Writer, element, lanes_of};
use surject_codegen::kernels::mlir::{binary, literal};
use surject_ir::{DType, Scalar, UnaryOp};
use surject_kernel::{Op, Type, Value};

/// An element as MLIR writes it; a `bf16` is its bits.
fn written(value: Scalar) -> String {
    match value.dtype() {
        DType::BF16 => (value.bits() as u16 as i16).to_string(),
        _ => literal(value),
    }
}

impl Writer<'_> {
    /// A scalar constant.
    pub(super) fn scalar(&mut self, value: Scalar) -> String {
        self.constant(&written(value), element(value.dtype()))
    }

    /// The value of an operation without effects.
    pub(super) fn pure(&mut self, op: &Op, ty: Type) -> Done<String> {
        let result = Self::mlir(ty);
        Ok(match op {
            Op::Splat(value) if ty.lanes == 1 => self.scalar(*value),
            Op::Splat(value) => self.constant(&format!("dense<{}>", written(*value)), &result),
            Op::Constant(values) if ty.lanes == 1 => self.scalar(values[0]),
            Op::Constant(values) => {
                let values: Vec<String> = values.iter().map(|&v| written(v)).collect();
                self.constant(&format!("dense<[{}]>", values.join(", ")), &result)
            }
            Op::Index(affine) => {
                let at = match ty.lanes {
                    1 => self.affine(affine, 0)?,
                    lanes => self.affine_lanes(affine, lanes)?,
                };
                match ty.dtype.size() {
                    8 => at,
                    _ => self.op(&format!("arith.trunci {at} : {} to {result}", lanes_of("i64", ty.lanes))),
                }
            }
            Op::Holds(guards) => {
                let condition = self.guards(guards, ty.lanes)?;
                match condition {
                    Condition::Uniform(holds) if ty.lanes == 1 => holds,
                    other => self.truths(other, ty.lanes),
                }
            }
            Op::Unary(op, x) => self.unary(*op, *x)?,
            Op::Binary(op, x, y) => {
                let [a, b] = [self.name(*x)?, self.name(*y)?];
                let own = self.ty(*x);
                let name = binary(*op, own.dtype).filter(|_| own.dtype != DType::BF16);
                let refused = || format!("`{op}` of {}, which is not arithmetic", own.dtype);
                self.op(&format!("{} {a}, {b} : {}", name.ok_or_else(refused)?, Self::mlir(own)))
            }
            Op::Fma(x, y, z) => {
                let [x, y, z] = [self.name(*x)?, self.name(*y)?, self.name(*z)?];
                self.op(&format!("math.fma {x}, {y}, {z} : {result}"))
            }
            Op::Select(c, x, y) => {
                let across = self.ty(*c).lanes;
                let [c, x, y] = [self.name(*c)?, self.name(*x)?, self.name(*y)?];
                let condition =
                    if across == 1 { String::new() } else { format!("{}, ", lanes_of("i1", across)) };
                self.op(&format!("arith.select {c}, {x}, {y} : {condition}{result}"))
            }
            _ => return self.moved(op, ty),
        })
    }

    /// Operations that give values another type, or move lanes.
    fn moved(&mut self, op: &Op, ty: Type) -> Done<String> {
        let (result, one) = (Self::mlir(ty), element(ty.dtype));
        Ok(match op {
            Op::Convert(x) => {
                let (name, from) = (self.name(*x)?, self.ty(*x));
                self.converted(&name, from, ty.dtype)?
            }
            Op::Bitcast(x) => {
                let (name, from) = (self.name(*x)?, Self::mlir(self.ty(*x)));
                if from == result {
                    return Ok(name);
                }
                self.op(&format!("arith.bitcast {name} : {from} to {result}"))
            }
            Op::Broadcast(x) => {
                let name = self.name(*x)?;
                self.broadcast(&name, one, ty.lanes)
            }
            Op::Shuffle(x, y, order) => {
                let own = self.ty(*x);
                let [a, b] = [self.name(*x)?, self.name(*y)?];
                let [a, b] = match own.lanes {
                    1 => [a, b].map(|v| self.op(&format!("vector.broadcast {v} : {one} to vector<1x{one}>"))),
                    _ => [a, b],
                };
                let from = format!("vector<{}x{one}>", own.lanes);
                let list: Vec<String> = order.iter().map(usize::to_string).collect();
                let all = self.op(&format!("vector.shuffle {a}, {b} [{}] : {from}, {from}", list.join(", ")));
                match ty.lanes {
                    1 => self.op(&format!("vector.extract {all}[0] : {one} from vector<1x{one}>")),
                    _ => all,
                }
            }
            Op::Extract(x, lane) => {
                let (name, from) = (self.name(*x)?, self.ty(*x));
                match from.lanes {
                    1 => name,
                    _ => self.op(&format!("vector.extract {name}[{lane}] : {one} from {}", Self::mlir(from))),
                }
            }
            Op::Insert(x, lane, scalar) => {
                let (name, scalar) = (self.name(*x)?, self.name(*scalar)?);
                match ty.lanes {
                    1 => scalar,
                    _ => self.op(&format!("vector.insert {scalar}, {name}[{lane}] : {one} into {result}")),
                }
            }
            _ => return Err("an operation that is not written for a CPU".into()),
        })
    }

    fn unary(&mut self, op: UnaryOp, x: Value) -> Done<String> {
        let (name, ty) = (self.name(x)?, self.ty(x));
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
        Ok(self.op(&format!("{operation} {name} : {}", Self::mlir(ty))))
    }

    /// A value as another element type.
    pub(super) fn converted(&mut self, name: &str, from: Type, to: DType) -> Done<String> {
        match (from.dtype, to) {
            (DType::BF16, DType::F32) => Ok(self.widened(name, from.lanes)),
            (DType::F32, DType::BF16) => Ok(self.halved(name, from.lanes)),
            (a, b) if a != b && (a == DType::BF16 || b == DType::BF16) => {
                Err(format!("a conversion of {a} to {b}, which is not arithmetic"))
            }
            _ => Ok(self.cast(name, from, to)),
        }
    }

    /// An integer in every lane.
    fn number(&mut self, value: i32, lanes: usize) -> String {
        match lanes {
            1 => self.constant(&value.to_string(), "i32"),
            _ => self.constant(&format!("dense<{value}>"), &lanes_of("i32", lanes)),
        }
    }

    /// The bits of `bf16` as `f32`.
    fn widened(&mut self, name: &str, lanes: usize) -> String {
        let (halves, words, floats) =
            (lanes_of("i16", lanes), lanes_of("i32", lanes), lanes_of("f32", lanes));
        let bits = self.op(&format!("arith.extui {name} : {halves} to {words}"));
        let sixteen = self.number(16, lanes);
        let bits = self.op(&format!("arith.shli {bits}, {sixteen} : {words}"));
        self.op(&format!("arith.bitcast {bits} : {words} to {floats}"))
    }

    /// An `f32` as the bits of the nearest `bf16`, of two the even one. A NaN stays a NaN, with the upper bits that it had.
    fn halved(&mut self, name: &str, lanes: usize) -> String {
        let (halves, words, floats) =
            (lanes_of("i16", lanes), lanes_of("i32", lanes), lanes_of("f32", lanes));
        let bits = self.op(&format!("arith.bitcast {name} : {floats} to {words}"));
        let (sixteen, one) = (self.number(16, lanes), self.number(1, lanes));
        let (below, quiet) = (self.number(0x7fff, lanes), self.number(0x40, lanes));
        let upper = self.op(&format!("arith.shrui {bits}, {sixteen} : {words}"));
        let odd = self.op(&format!("arith.andi {upper}, {one} : {words}"));
        let up = self.op(&format!("arith.addi {bits}, {below} : {words}"));
        let up = self.op(&format!("arith.addi {up}, {odd} : {words}"));
        let rounded = self.op(&format!("arith.shrui {up}, {sixteen} : {words}"));
        let nan = self.op(&format!("arith.ori {upper}, {quiet} : {words}"));
        let is_nan = self.op(&format!("arith.cmpf uno, {name}, {name} : {floats}"));
        let truths = if lanes == 1 { String::new() } else { format!("{}, ", lanes_of("i1", lanes)) };
        let chosen = self.op(&format!("arith.select {is_nan}, {nan}, {rounded} : {truths}{words}"));
        self.op(&format!("arith.trunci {chosen} : {words} to {halves}"))
    }
}
