//! What writers from the kernel IR to MLIR have in common: types, the operations of arithmetic, and what has no form.

use std::fmt;
use surject_ir::{BinaryOp, DType};

/// Why a kernel has no form for a machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel `{kernel}`: {message}{}", statement.as_ref().map_or(String::new(), |s| format!("\n  in `{s}`")))]
pub struct WriteError {
    /// The name of the kernel.
    pub kernel: String,
    /// The statement, where one is to blame.
    pub statement: Option<String>,
    /// What has no form.
    pub message: String,
}

/// A result, or what went wrong; the writer adds where.
pub type Done<T> = Result<T, String>;

/// The MLIR type of elements in registers.
pub fn element(dtype: DType) -> &'static str {
    match dtype {
        DType::I1 => "i1",
        DType::I8 | DType::U8 => "i8",
        DType::I16 | DType::U16 => "i16",
        DType::I32 | DType::U32 => "i32",
        DType::I64 | DType::U64 => "i64",
        DType::F16 => "f16",
        DType::BF16 => "bf16",
        DType::F32 | DType::C64 => "f32",
        DType::F64 | DType::C128 => "f64",
    }
}

/// An operation of `arith` on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Its result has the type of its operands.
    Same(&'static str),
    /// Its result is a truth.
    Compare {
        /// `arith.cmpi` or `arith.cmpf`.
        name: &'static str,
        /// Such as `slt`.
        predicate: &'static str,
    },
}

/// As MLIR writes it, in front of its operands.
impl fmt::Display for Arithmetic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arithmetic::Same(name) => f.write_str(name),
            Arithmetic::Compare { name, predicate } => write!(f, "{name} {predicate},"),
        }
    }
}

/// The operation of `arith` that a binary operation is, of those that [`super::legal`] leaves. `None`: it is not arithmetic
/// on these elements.
pub fn binary(op: BinaryOp, dtype: DType) -> Option<Arithmetic> {
    use BinaryOp::*;
    if dtype.is_float() {
        let same = |name| matches!(dtype, DType::F32 | DType::F64).then_some(Arithmetic::Same(name));
        let compare = |predicate| Some(Arithmetic::Compare { name: "arith.cmpf", predicate });
        return match op {
            Add => same("arith.addf"),
            Sub => same("arith.subf"),
            Mul => same("arith.mulf"),
            Div => same("arith.divf"),
            Max => same("arith.maximumf"),
            Min => same("arith.minimumf"),
            Eq => compare("oeq"),
            Ne => compare("une"),
            Lt => compare("olt"),
            Le => compare("ole"),
            Gt => compare("ogt"),
            Ge => compare("oge"),
            _ => None,
        };
    }
    let pick = |s: &'static str, u: &'static str| if dtype.is_signed_int() { s } else { u };
    let compare = |predicate| Arithmetic::Compare { name: "arith.cmpi", predicate };
    Some(match op {
        Add => Arithmetic::Same("arith.addi"),
        Sub => Arithmetic::Same("arith.subi"),
        Mul => Arithmetic::Same("arith.muli"),
        Div => Arithmetic::Same(pick("arith.divsi", "arith.divui")),
        Rem => Arithmetic::Same(pick("arith.remsi", "arith.remui")),
        Max => Arithmetic::Same(pick("arith.maxsi", "arith.maxui")),
        Min => Arithmetic::Same(pick("arith.minsi", "arith.minui")),
        And => Arithmetic::Same("arith.andi"),
        Or => Arithmetic::Same("arith.ori"),
        Xor => Arithmetic::Same("arith.xori"),
        Shl => Arithmetic::Same("arith.shli"),
        ShrArith => Arithmetic::Same("arith.shrsi"),
        ShrLogical => Arithmetic::Same("arith.shrui"),
        Eq => compare("eq"),
        Ne => compare("ne"),
        Lt => compare(pick("slt", "ult")),
        Le => compare(pick("sle", "ule")),
        Gt => compare(pick("sgt", "ugt")),
        Ge => compare(pick("sge", "uge")),
        _ => return None,
    })
}

/// The operation of `arith` that converts one element type to another, of those that [`super::legal`] leaves. `None`: the
/// types are the same to MLIR, or the conversion saturates and is an intrinsic function.
pub fn cast(from: DType, to: DType) -> Option<&'static str> {
    if element(from) == element(to) {
        return None;
    }
    Some(match (from.is_float(), to.is_float()) {
        (true, true) if from.size() < to.size() => "arith.extf",
        (true, true) => "arith.truncf",
        (true, false) => return None,
        (false, true) if from.is_signed_int() => "arith.sitofp",
        (false, true) => "arith.uitofp",
        _ if from.bits() > to.bits() => "arith.trunci",
        _ if from.is_signed_int() => "arith.extsi",
        _ => "arith.extui",
    })
}
