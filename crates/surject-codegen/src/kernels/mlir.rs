//! What writers from the kernel IR to MLIR have in common: types, literals, the operations of arithmetic, and text with
//! its loops and branches ([`KernelWriter`]).

mod writer;

use surject_ir::{BinaryOp, DType, Scalar};
pub use writer::{Bounds, Done, KernelWriter, Text, WriteError};

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

/// So many lanes of an element; one is a scalar.
pub fn lanes_of(element: &str, lanes: usize) -> String {
    if lanes == 1 { element.to_string() } else { format!("vector<{lanes}x{element}>") }
}

/// An element as MLIR writes it: floats as their bits, integers as the value of a signed one.
pub fn literal(value: Scalar) -> String {
    let dtype = value.dtype();
    match dtype {
        DType::I1 => if value.is_true() { "true" } else { "false" }.into(),
        _ if dtype.is_float() => {
            let digits = dtype.size() * 2;
            format!("0x{:0digits$X}", value.bits())
        }
        _ => {
            let unused = 128 - dtype.bits();
            (((value.bits() << unused) as i128) >> unused).to_string()
        }
    }
}

/// The operation of `arith` that a binary operation is, of those that [`super::legal`] leaves; that of comparisons with
/// its predicate. `None`: it is not arithmetic on these elements.
pub fn binary(op: BinaryOp, dtype: DType) -> Option<&'static str> {
    use BinaryOp::*;
    if dtype.is_float() {
        let wide = matches!(dtype, DType::F32 | DType::F64);
        return Some(match op {
            Add if wide => "arith.addf",
            Sub if wide => "arith.subf",
            Mul if wide => "arith.mulf",
            Div if wide => "arith.divf",
            Max if wide => "arith.maximumf",
            Min if wide => "arith.minimumf",
            Eq => "arith.cmpf oeq,",
            Ne => "arith.cmpf une,",
            Lt => "arith.cmpf olt,",
            Le => "arith.cmpf ole,",
            Gt => "arith.cmpf ogt,",
            Ge => "arith.cmpf oge,",
            _ => return None,
        });
    }
    let signed = dtype.is_signed_int();
    let pick = |s: &'static str, u: &'static str| if signed { s } else { u };
    Some(match op {
        Add => "arith.addi",
        Sub => "arith.subi",
        Mul => "arith.muli",
        Div => pick("arith.divsi", "arith.divui"),
        Rem => pick("arith.remsi", "arith.remui"),
        Max => pick("arith.maxsi", "arith.maxui"),
        Min => pick("arith.minsi", "arith.minui"),
        And => "arith.andi",
        Or => "arith.ori",
        Xor => "arith.xori",
        Shl => "arith.shli",
        ShrArith => "arith.shrsi",
        ShrLogical => "arith.shrui",
        Eq => "arith.cmpi eq,",
        Ne => "arith.cmpi ne,",
        Lt => pick("arith.cmpi slt,", "arith.cmpi ult,"),
        Le => pick("arith.cmpi sle,", "arith.cmpi ule,"),
        Gt => pick("arith.cmpi sgt,", "arith.cmpi ugt,"),
        Ge => pick("arith.cmpi sge,", "arith.cmpi uge,"),
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
