//! Which pointwise operations an upstream dialect has, with the same meaning for the element type.
//!
//! A row is missing where the meaning differs: integer division, remainder and shifts are defined for every operand
//! here and not upstream; *add* and *mul* of `i1` are *or* and *and*; the absolute value of the least integer; unsigned
//! elements (upstream integers are signless) and complex ones (upstream `complex` has no tensors). Those are
//! `surject.unary` and `surject.binary`. An operator and a class of types determine the upstream operation and the other
//! way round, so nothing is lost on the way back.

use std::collections::HashSet;
use std::sync::LazyLock;
use surject_ir::{BinaryOp, DType, UnaryOp};

/// Classes of element types that upstream operations distinguish.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Float,
    Signed,
    Bool,
    Other,
}

fn class(dtype: DType) -> Class {
    match dtype {
        d if d.is_float() => Class::Float,
        d if d.is_signed_int() => Class::Signed,
        d if d.is_bool() => Class::Bool,
        _ => Class::Other,
    }
}

/// The upstream operation for a unary operator on this element type.
pub(super) fn upstream_unary(op: UnaryOp, dtype: DType) -> Option<&'static str> {
    use UnaryOp::*;
    match (op, class(dtype)) {
        (Popcount, Class::Signed) => Some("math.ctpop"),
        (CountLeadingZeros, Class::Signed) => Some("math.ctlz"),
        (_, Class::Float) => Some(match op {
            Neg => "arith.negf",
            Abs => "math.absf",
            Exp => "math.exp",
            Expm1 => "math.expm1",
            Log => "math.log",
            Log1p => "math.log1p",
            Sqrt => "math.sqrt",
            Rsqrt => "math.rsqrt",
            Cbrt => "math.cbrt",
            Sin => "math.sin",
            Cos => "math.cos",
            Tan => "math.tan",
            Tanh => "math.tanh",
            Acos => "math.acos",
            Acosh => "math.acosh",
            Asin => "math.asin",
            Asinh => "math.asinh",
            Atan => "math.atan",
            Atanh => "math.atanh",
            Cosh => "math.cosh",
            Sinh => "math.sinh",
            Erf => "math.erf",
            Erfc => "math.erfc",
            Floor => "math.floor",
            Ceil => "math.ceil",
            RoundEven => "math.roundeven",
            RoundAway => "math.round",
            IsFinite => "math.isfinite",
            _ => return None,
        }),
        _ => None,
    }
}

/// The upstream operation for a binary operator on this element type, with the predicate of a comparison.
pub(super) fn upstream_binary(op: BinaryOp, dtype: DType) -> Option<(&'static str, Option<i64>)> {
    use BinaryOp::*;
    let plain = |name| Some((name, None));
    match (op, class(dtype)) {
        (Add, Class::Float) => plain("arith.addf"),
        (Sub, Class::Float) => plain("arith.subf"),
        (Mul, Class::Float) => plain("arith.mulf"),
        (Div, Class::Float) => plain("arith.divf"),
        (Rem, Class::Float) => plain("arith.remf"),
        (Max, Class::Float) => plain("arith.maximumf"),
        (Min, Class::Float) => plain("arith.minimumf"),
        (Pow, Class::Float) => plain("math.powf"),
        (Atan2, Class::Float) => plain("math.atan2"),
        (Add, Class::Signed) => plain("arith.addi"),
        (Sub, Class::Signed) => plain("arith.subi"),
        (Mul, Class::Signed) => plain("arith.muli"),
        (Max, Class::Signed) => plain("arith.maxsi"),
        (Min, Class::Signed) => plain("arith.minsi"),
        (And, Class::Signed | Class::Bool) => plain("arith.andi"),
        (Or, Class::Signed | Class::Bool) => plain("arith.ori"),
        (Xor, Class::Signed | Class::Bool) => plain("arith.xori"),
        (op, Class::Float) => Some((
            "arith.cmpf",
            Some(match op {
                // oeq, une, olt, ole, ogt, oge
                Eq => 1,
                Ne => 13,
                Lt => 4,
                Le => 5,
                Gt => 2,
                Ge => 3,
                _ => return None,
            }),
        )),
        (op, Class::Signed) => Some((
            "arith.cmpi",
            Some(match op {
                // eq, ne, slt, sle, sgt, sge
                Eq => 0,
                Ne => 1,
                Lt => 2,
                Le => 3,
                Gt => 4,
                Ge => 5,
                _ => return None,
            }),
        )),
        (Eq, Class::Bool) => Some(("arith.cmpi", Some(0))),
        (Ne, Class::Bool) => Some(("arith.cmpi", Some(1))),
        _ => None,
    }
}

/// The unary operator that an upstream operation is on this element type.
pub(super) fn unary_of(name: &str, dtype: DType) -> Option<UnaryOp> {
    UnaryOp::ALL.iter().copied().find(|&op| upstream_unary(op, dtype) == Some(name))
}

/// The binary operator that an upstream operation is on this element type.
pub(super) fn binary_of(name: &str, predicate: Option<i64>, dtype: DType) -> Option<BinaryOp> {
    BinaryOp::ALL.iter().copied().find(|&op| upstream_binary(op, dtype) == Some((name, predicate)))
}

/// Is it an operation that [`upstream_unary`] gives for some element type?
pub(super) fn is_upstream_unary(name: &str) -> bool {
    static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        UnaryOp::ALL
            .iter()
            .flat_map(|&op| DType::ALL.into_iter().filter_map(move |d| upstream_unary(op, d)))
            .collect()
    });
    NAMES.contains(name)
}

/// Is it an operation that [`upstream_binary`] gives for some element type?
pub(super) fn is_upstream_binary(name: &str) -> bool {
    static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        BinaryOp::ALL
            .iter()
            .flat_map(|&op| DType::ALL.into_iter().filter_map(move |d| upstream_binary(op, d)))
            .map(|(name, _)| name)
            .collect()
    });
    NAMES.contains(name)
}

/// The word for an accumulation operator in `kind`.
pub(super) fn kind(op: surject_ir::AccOp) -> &'static str {
    use surject_ir::AccOp::*;
    match op {
        Add => "add",
        Mul => "mul",
        Max => "max",
        Min => "min",
        And => "and",
        Or => "or",
        Xor => "xor",
        Set => "set",
    }
}

/// The accumulation operator of a `kind`.
pub(super) fn acc_of(word: &str) -> Option<surject_ir::AccOp> {
    surject_ir::AccOp::ALL.iter().copied().find(|&op| kind(op) == word)
}
