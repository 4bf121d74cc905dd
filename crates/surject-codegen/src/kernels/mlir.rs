//! What writers from the kernel IR to MLIR have in common: literals, and the operations of arithmetic.

use surject_ir::{BinaryOp, DType, Scalar};

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
