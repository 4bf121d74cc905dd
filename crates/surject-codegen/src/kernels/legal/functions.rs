//! Functions of floats by the formulas of compiled code (`kernels::math`), in operations of the kernel IR.
//!
//! The formulas write to a paper; here it is a list of statements. Where a machine takes entries of tables by one instruction,
//! those by tables are used, in vectors of as many lanes as a table has entries. Where a formula serves for nearly every argument, the rest has a branch of its own, which a vector takes where any of its
//! lanes needs it; angles that are too large for every reduction are reduced with more digits of 2/π (`angle`).

use super::{Arithmetic, angle, float, runtime_function};
use crate::code;
use crate::kernels::math::formula::{F, Paper, Pen};
use crate::kernels::math::{self, Method};
use crate::machine::elem::{self, Elem};
use surject_ir::{AccOp, BinaryOp, DType, Scalar, UnaryOp};
use surject_kernel::rewrite::Lines;
use surject_kernel::{Op, Type, Value};

/// Statements as what a formula is written to.
struct Sheet<'a, 'k>(&'a mut Lines<'k>);

fn dtype(e: Elem) -> DType {
    match e {
        Elem::I1 => DType::I1,
        Elem::I8 => DType::I8,
        Elem::I16 => DType::I16,
        Elem::I32 => DType::I32,
        Elem::I64 => DType::I64,
        Elem::F16 => DType::F16,
        Elem::F32 => DType::F32,
        Elem::F64 => DType::F64,
    }
}

fn elem(dtype: DType) -> Elem {
    if dtype == DType::F64 { Elem::F64 } else { Elem::F32 }
}

/// A value of the kernel as formulas see it.
fn outside(value: Value) -> code::Value {
    code::Value::numbered(value.0)
}

/// A value of a formula as the kernel sees it.
fn inside(value: code::Value) -> Value {
    Value(value.number() as u32)
}

impl Sheet<'_, '_> {
    /// An operation of a formula.
    fn operation(&mut self, operation: &code::Op) -> Option<Value> {
        let lines = &mut *self.0;
        match operation {
            code::Op::Same { name, operands, .. } => {
                let operands: Vec<Value> = operands.iter().copied().map(inside).collect();
                same(lines, name, &operands)
            }
            code::Op::Select { condition: (c, _), values, .. } => {
                let [a, b] = values.map(inside);
                Some(lines.select(inside(*c), a, b))
            }
            code::Op::Compare { predicate, sides, .. } => compared(lines, predicate, sides.map(inside)),
            code::Op::Cast { name, value, to, .. } => {
                let (value, elem::Type::Lanes(to, _)) = (inside(*value), *to) else { return None };
                match *name {
                    "arith.bitcast" => Some(lines.bitcast(value, dtype(to))),
                    "arith.extf" | "arith.truncf" | "arith.fptosi" | "arith.sitofp" => {
                        Some(lines.convert(value, dtype(to)))
                    }
                    _ => None,
                }
            }
            code::Op::Intrinsic { name, operands, .. } => {
                let operands: Vec<Value> = operands.iter().map(|o| inside(o.0)).collect();
                match (&name[..], &operands[..]) {
                    ("llvm.x86.avx512.permvar.sf.512", &[table, at]) => Some(lines.lookup(table, table, at)),
                    ("llvm.x86.avx512.vpermi2var.ps.512", &[low, at, high]) => {
                        Some(lines.lookup(low, high, at))
                    }
                    (name, &[x, n, ..]) if name.starts_with("llvm.x86.avx512.mask.scalef.") => {
                        Some(lines.scale(x, n))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// An operation on values of one type, which its result has too.
fn same(lines: &mut Lines<'_>, name: &str, operands: &[Value]) -> Option<Value> {
    Some(match (name, operands) {
        ("math.fma", &[a, b, c]) => lines.fma(a, b, c),
        ("math.copysign", &[a, b]) => float::with_sign(lines, a, b),
        ("arith.negf", &[a]) => lines.unary(UnaryOp::Neg, a),
        ("math.absf", &[a]) => lines.unary(UnaryOp::Abs, a),
        ("math.sqrt", &[a]) => lines.unary(UnaryOp::Sqrt, a),
        ("math.floor", &[a]) => lines.unary(UnaryOp::Floor, a),
        (name, &[a, b]) => {
            let op = match name {
                "arith.addf" | "arith.addi" => BinaryOp::Add,
                "arith.subf" | "arith.subi" => BinaryOp::Sub,
                "arith.mulf" => BinaryOp::Mul,
                "arith.divf" => BinaryOp::Div,
                "arith.andi" => BinaryOp::And,
                "arith.ori" => BinaryOp::Or,
                "arith.xori" => BinaryOp::Xor,
                "arith.shli" => BinaryOp::Shl,
                "arith.shrui" => BinaryOp::ShrLogical,
                "arith.shrsi" => BinaryOp::ShrArith,
                _ => return None,
            };
            lines.binary(op, a, b)
        }
        _ => return None,
    })
}

/// A comparison of floats or of integers.
fn compared(lines: &mut Lines<'_>, predicate: &str, [a, b]: [Value; 2]) -> Option<Value> {
    let op = match predicate {
        "uno" => {
            let (a, b) = (lines.binary(BinaryOp::Ne, a, a), lines.binary(BinaryOp::Ne, b, b));
            return Some(lines.binary(BinaryOp::Or, a, b));
        }
        "ult" => {
            let word = if lines.ty(a).dtype == DType::I64 { DType::U64 } else { DType::U32 };
            let (a, b) = (lines.bitcast(a, word), lines.bitcast(b, word));
            return Some(lines.binary(BinaryOp::Lt, a, b));
        }
        "olt" => BinaryOp::Lt,
        "ogt" => BinaryOp::Gt,
        "ole" => BinaryOp::Le,
        "oeq" | "eq" => BinaryOp::Eq,
        "une" => BinaryOp::Ne,
        _ => return None,
    };
    Some(lines.binary(op, a, b))
}

impl Paper for Sheet<'_, '_> {
    fn write(&mut self, operation: code::Op) -> code::Value {
        match self.operation(&operation) {
            Some(value) => outside(value),
            // Formulas use what stands above and nothing else; a value without a number stops the verifier.
            None => code::Value::NONE,
        }
    }

    fn literal(&mut self, e: Elem, bits: u64, lanes: usize) -> code::Value {
        outside(self.0.splat(Scalar::from_bits(dtype(e), bits.into()), lanes))
    }

    fn list(&mut self, values: &[f32]) -> code::Value {
        let values: Vec<Scalar> = values.iter().map(|&v| Scalar::from_f64(DType::F32, v.into())).collect();
        let ty = Type::vector(DType::F32, values.len());
        outside(self.0.push(Op::Constant(values), ty))
    }

    fn part(&mut self, value: code::Value, all: usize, first: usize, lanes: usize) -> code::Value {
        if lanes == all { value } else { outside(self.0.lanes(inside(value), first, lanes)) }
    }

    fn join(&mut self, parts: Vec<code::Value>) -> code::Value {
        let parts: Vec<Value> = parts.into_iter().map(inside).collect();
        outside(joined(self.0, &parts))
    }
}

/// The lanes of values of one type, one after the other.
fn joined(lines: &mut Lines<'_>, parts: &[Value]) -> Value {
    match parts {
        &[whole] => whole,
        parts => {
            // A power of two of parts, of which neighbours are joined first.
            let pairs: Vec<Value> =
                parts.chunks(2).map(|pair| lines.beside(pair[0], *pair.last().unwrap_or(&pair[0]))).collect();
            joined(lines, &pairs)
        }
    }
}

/// Does something with parts of at most so many lanes, one after the other.
fn in_parts(
    lines: &mut Lines<'_>,
    args: &[Value],
    most: usize,
    mut f: impl FnMut(&mut Lines<'_>, &[Value]) -> Value,
) -> Value {
    let all = lines.ty(args[0]).lanes;
    if all <= most || !(all / most).is_power_of_two() || !all.is_multiple_of(most) {
        return f(lines, args);
    }
    let mut parts = Vec::new();
    for first in (0..all).step_by(most) {
        let args: Vec<Value> = args.iter().map(|&a| lines.lanes(a, first, most)).collect();
        parts.push(f(lines, &args));
    }
    joined(lines, &parts)
}

/// What a formula gives, on a machine with tables of so many entries.
fn formula<const N: usize>(
    lines: &mut Lines<'_>,
    tables: usize,
    args: &[Value],
    write: impl for<'p> FnOnce(&[F<'p>]) -> [code::Value; N],
) -> [Value; N] {
    let lanes = lines.ty(args[0]).lanes;
    let elems: Vec<Elem> = args.iter().map(|&a| elem(lines.ty(a).dtype)).collect();
    let mut sheet = Sheet(lines);
    let pen = Pen::on(&mut sheet, lanes, tables);
    let args: Vec<F<'_>> = args.iter().zip(elems).map(|(a, e)| pen.value(outside(*a), e)).collect();
    write(&args).map(inside)
}

/// A value that is known, or where a condition holds in any lane another one in all of them.
pub(super) fn branch_where(
    lines: &mut Lines<'_>,
    arithmetic: Arithmetic,
    condition: Value,
    known: Value,
    other: impl FnOnce(&mut Lines<'_>) -> Value,
) -> Value {
    let ty = lines.ty(known);
    let any = match arithmetic.has_truth_vectors && ty.lanes > 1 {
        true => lines.push(Op::ReduceLanes(AccOp::Or, condition), Type::scalar(DType::I1)),
        false => {
            let mut any = lines.extract(condition, 0);
            for lane in 1..ty.lanes {
                let next = lines.extract(condition, lane);
                any = lines.binary(BinaryOp::Or, any, next);
            }
            any
        }
    };
    lines.branch(any, ty, other, |_| known)
}

/// The tables of which as many lanes as a value has, or parts of them, take entries.
fn tables(lines: &Lines<'_>, arithmetic: Arithmetic, x: Value) -> usize {
    let (own, entries) = (lines.ty(x).lanes, arithmetic.lane_permute_width);
    if own >= entries && own.is_power_of_two() { entries } else { 0 }
}

/// A function of `f32` or `f64`; `None`: it has no formula.
pub fn unary(lines: &mut Lines<'_>, arithmetic: Arithmetic, op: UnaryOp, x: Value) -> Option<Value> {
    let (tables, dtype) = (tables(lines, arithmetic, x), lines.ty(x).dtype);
    let Some(method) = Method::of(op, elem(dtype), tables) else {
        let has = arithmetic.has_functions && runtime_function(op, dtype).is_some();
        return has.then(|| called(lines, op, x));
    };
    let Some(short) = method.short else { return Some(by_method(lines, arithmetic, &method, op, x)) };
    let most = if short.pieces > 0 { short.pieces } else { usize::MAX };
    Some(in_parts(lines, &[x], most, |lines, args| {
        let &[x] = args else { return args[0] };
        let [value, beyond] = formula(lines, tables, &[x], |x| {
            let (value, beyond) = (short.formula)(x[0]);
            [value.ssa(), beyond.ssa()]
        });
        branch_where(lines, arithmetic, beyond, value, |lines| by_method(lines, arithmetic, &method, op, x))
    }))
}

/// A function of each lane, by the runtime.
fn called(lines: &mut Lines<'_>, op: UnaryOp, x: Value) -> Value {
    float::each_lane(lines, &[x], x, |lines, args, _| lines.unary(op, args[0]))
}

fn by_method(lines: &mut Lines<'_>, arithmetic: Arithmetic, method: &Method, op: UnaryOp, x: Value) -> Value {
    let most = match method {
        m if m.pieces > 0 => m.pieces,
        m if m.wide => math::DOUBLE_LANES,
        _ => usize::MAX,
    };
    in_parts(lines, &[x], most, |lines, args| part_by_method(lines, arithmetic, method, op, args[0]))
}

/// The value of a method in as many lanes as it has at most.
fn part_by_method(
    lines: &mut Lines<'_>,
    arithmetic: Arithmetic,
    method: &Method,
    op: UnaryOp,
    x: Value,
) -> Value {
    let (dtype, tables) = (lines.ty(x).dtype, tables(lines, arithmetic, x));
    let own = if method.wide { lines.convert(x, DType::F64) } else { x };
    let [mut value] = formula(lines, tables, &[own], |x| [(method.formula)(x[0]).ssa()]);
    if let Some(mirror) = method.mirror {
        let [applies] = formula(lines, tables, &[own], |x| [(mirror.applies)(x[0]).ssa()]);
        value = branch_where(lines, arithmetic, applies, value, |lines| {
            formula(lines, tables, &[own, value], |args| [(mirror.formula)(args[0], args[1]).ssa()])[0]
        });
    }
    let value = lines.convert(value, dtype);
    let Some(bound) = method.bound else { return value };
    let [beyond] = formula(lines, tables, &[x], |x| {
        let size = x[0].abs();
        [(size.gt(bound) & size.lt(f64::INFINITY)).ssa()]
    });
    // Of each lane by itself, where any is.
    branch_where(lines, arithmetic, beyond, value, |lines| {
        if arithmetic.has_functions && runtime_function(op, dtype).is_some() {
            return called(lines, op, x);
        }
        float::each_lane(lines, &[x, beyond], value, |lines, args, known| {
            let &[x, beyond] = args else { return known };
            let ty = Type::scalar(dtype);
            lines.branch(beyond, ty, |lines| angle::of_large(lines, op, x), |_| known)
        })
    })
}

/// The value of a formula of one `f64`, or `f32`.
pub(super) fn of_one(lines: &mut Lines<'_>, x: Value, f: impl for<'p> Fn(F<'p>) -> F<'p>) -> Value {
    formula(lines, 0, &[x], |x| [f(x[0]).ssa()])[0]
}

/// `x^y` or the angle of the point `(y, x)`.
pub fn binary(lines: &mut Lines<'_>, arithmetic: Arithmetic, op: BinaryOp, x: Value, y: Value) -> Value {
    let (dtype, entries) = (lines.ty(x).dtype, tables(lines, arithmetic, x));
    if op == BinaryOp::Pow && dtype == DType::F32 && entries >= math::table::PIECES {
        return in_parts(lines, &[x, y], math::table::PIECES, |lines, args| {
            let [value, beyond] = formula(lines, entries, args, |args| {
                let (value, beyond) = math::pieces::pow(args[0], args[1]);
                [value.ssa(), beyond.ssa()]
            });
            branch_where(lines, arithmetic, beyond, value, |lines| {
                of_two(lines, entries, op, args[0], args[1])
            })
        });
    }
    let most = if math::of_two(op, elem(dtype)).1 { math::DOUBLE_LANES } else { usize::MAX };
    in_parts(lines, &[x, y], most, |lines, args| of_two(lines, entries, op, args[0], args[1]))
}

fn of_two(lines: &mut Lines<'_>, tables: usize, op: BinaryOp, x: Value, y: Value) -> Value {
    let dtype = lines.ty(x).dtype;
    let (of_two, wide) = math::of_two(op, elem(dtype));
    let [x, y] = if wide { [x, y].map(|v| lines.convert(v, DType::F64)) } else { [x, y] };
    let [value] = formula(lines, tables, &[x, y], |args| [of_two(args[0], args[1]).ssa()]);
    lines.convert(value, dtype)
}

/// The remainder of a division of `f64`, and where it is not this.
pub(super) fn remainder(lines: &mut Lines<'_>, x: Value, y: Value) -> (Value, Value) {
    let [rest, beyond] = formula(lines, 0, &[x, y], |args| {
        let (rest, beyond) = math::remainder::remainder(args[0], args[1]);
        [rest.ssa(), beyond.ssa()]
    });
    (rest, beyond)
}
