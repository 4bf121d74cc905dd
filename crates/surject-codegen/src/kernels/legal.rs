//! Kernels for machines that have arithmetic and nothing more: no functions of floats, no 16-bit floats but in memory,
//! no integer operations that are defined for every operand.
//!
//! What is left of the operations on values, with the meaning that they have in the kernel IR:
//!
//! * of `f32` and `f64`: `neg`, `abs`, `sqrt`, `floor`, `ceil`, `round_even`, `add`, `sub`, `mul`, `div`, `max`, `min`,
//!   `fma` and comparisons, each rounded once;
//! * of integers: `add`, `sub`, `mul`, `max`, `min`, `and`, `or`, `xor` and comparisons; `div` and `rem` of what neither
//!   is zero nor overflows; shifts by less than the width; `popcount` and `clz` of 32 and 64 bits;
//! * of `i1`: `and`, `or`, `xor`, `eq` and `ne`;
//! * `select`, bit casts, and conversions: between integers, between floats and integers of 32 and 64 bits, from every
//!   float to `f32`, from `f32` to every float, and between `f32` and `f64`;
//! * lanes are moved, and not joined but by `or` of `i1`, where a machine has vectors of these;
//! * `lookup` of sixteen lanes and `scale` of a register, where a machine has instructions for them;
//! * functions of one `f32` or `f64` and `rem` of two, of one lane, where a machine calls those of the runtime.
//!
//! 16-bit floats are computed in `f32` and rounded once, as the interpreter does. Functions come from the formulas that
//! compiled code for CPUs has ([`functions`]).

mod angle;
mod float;
pub mod functions;
mod integer;

use std::collections::HashMap;
use surject_ir::{AccOp, BinaryOp, DType, Scalar, UnaryOp};
use surject_kernel::rewrite::{Lines, rewrite};
use surject_kernel::{Kernel, Op, Statement, Type, Value, print_statement};

/// An operation that has no form in arithmetic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel `{kernel}`: `{op}` of {dtype} has no formula\n  in `{statement}`")]
pub struct Illegal {
    /// The name of the kernel.
    pub kernel: String,
    /// The operation.
    pub op: String,
    /// The type of its operands.
    pub dtype: DType,
    /// The statement.
    pub statement: String,
}

/// What the arithmetic of a machine has beside that of every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arithmetic {
    /// Of a table of how many entries does each lane of a vector take one by one instruction? Sixteen say that it also scales
    /// floats by powers of two.
    pub lane_permute_width: usize,
    /// Does it join the truths of a vector by one instruction?
    pub has_truth_vectors: bool,
    /// Does it convert floats to integers of 8 and 16 bits, the nearest there are?
    pub has_narrow_conversions: bool,
    /// Does it call the functions of one float that the runtime has ([`runtime_function`])? They do what formulas leave.
    pub has_functions: bool,
}

/// The function of the runtime that computes an operation of one float, if there is one.
pub fn runtime_function(op: UnaryOp, dtype: DType) -> Option<String> {
    use UnaryOp::*;
    let has = matches!(dtype, DType::F32 | DType::F64)
        && matches!(
            op,
            Exp | Expm1
                | Log
                | Log1p
                | Logistic
                | Cbrt
                | Sin
                | Cos
                | Tan
                | Tanh
                | Acos
                | Acosh
                | Asin
                | Asinh
                | Atan
                | Atanh
                | Cosh
                | Sinh
                | Erf
                | Erfc
                | ErfInv
                | Lgamma
                | Digamma
        );
    has.then(|| format!("surject_{}_{dtype}", op.name()))
}

/// An operation without a formula: its name, and the type of its operands.
type Missing = (String, DType);

/// The kernel in operations of such a machine. Its results are the same but for functions of floats, which are as near
/// as those of compiled code, and the order in which lanes are joined: from the first to the last.
pub fn legal(kernel: &Kernel) -> Result<Kernel, Illegal> {
    legal_for(kernel, Arithmetic::default())
}

/// The same for a machine with some more arithmetic.
pub fn legal_for(kernel: &Kernel, arithmetic: Arithmetic) -> Result<Kernel, Illegal> {
    let name = kernel.name.clone();
    let mut constants: HashMap<Value, Scalar> = HashMap::new();
    rewrite(kernel.clone(), &mut |lines, statement| {
        let constant = match &statement.op {
            Op::Splat(value) => Some(*value),
            Op::Broadcast(x) => constants.get(x).copied(),
            _ => None,
        };
        constants.extend(statement.results.first().copied().zip(constant));
        // An amount that is known to be less than the width needs no care.
        if let Op::Binary(op @ (BinaryOp::Shl | BinaryOp::ShrArith | BinaryOp::ShrLogical), x, y) =
            statement.op
            && let Some(amount) = constants.get(&y)
            && amount.as_i128().is_some_and(|n| (0..lines.ty(x).dtype.bits().into()).contains(&n))
        {
            return Ok(Some(integer::shift_by(lines, op, x, y)));
        }
        value(lines, arithmetic, statement).map_err(|(op, dtype)| Illegal {
            kernel: name.clone(),
            op,
            dtype,
            statement: print_statement(lines.kernel(), statement),
        })
    })
}

fn value(
    lines: &mut Lines<'_>,
    arithmetic: Arithmetic,
    statement: &Statement,
) -> Result<Option<Value>, Missing> {
    let result = statement.results.first().map_or(Type::index(), |&v| lines.ty(v));
    Ok(match &statement.op {
        Op::Unary(op, x) => Some(unary(lines, arithmetic, *op, *x)?),
        Op::Binary(op, x, y) => Some(binary(lines, arithmetic, *op, *x, *y)?),
        Op::Convert(x) => Some(convert(lines, arithmetic, *x, result.dtype)),
        Op::ReducePrecision(exponent, mantissa, x) => {
            Some(float::reduce_precision(lines, *exponent, *mantissa, *x))
        }
        Op::ReduceLanes(AccOp::Or, x) if arithmetic.has_truth_vectors && lines.ty(*x).dtype == DType::I1 => {
            None
        }
        Op::ReduceLanes(op, x) => {
            let join = op.binary().ok_or_else(|| (op.to_string(), result.dtype))?;
            let mut all = *x;
            for half in surject_kernel::halves(lines.ty(*x).lanes) {
                let [low, high] = [0, half].map(|from| lines.lanes(all, from, half));
                all = binary(lines, arithmetic, join, low, high)?;
            }
            let mut sum = lines.extract(all, 0);
            for lane in 1..lines.ty(all).lanes {
                let next = lines.extract(all, lane);
                sum = binary(lines, arithmetic, join, sum, next)?;
            }
            Some(sum)
        }
        _ => None,
    })
}

fn is_narrow(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}

fn unary(lines: &mut Lines<'_>, arithmetic: Arithmetic, op: UnaryOp, x: Value) -> Result<Value, Missing> {
    let dtype = lines.ty(x).dtype;
    match dtype {
        _ if is_narrow(dtype) => match op {
            UnaryOp::Neg | UnaryOp::Abs => {
                let bits = lines.bitcast(x, DType::U16);
                let (op, by) =
                    if op == UnaryOp::Neg { (BinaryOp::Xor, 0x8000) } else { (BinaryOp::And, 0x7fff) };
                let by = lines.integer(by, bits);
                let bits = lines.binary(op, bits, by);
                Ok(lines.bitcast(bits, dtype))
            }
            UnaryOp::Real => Ok(x),
            _ => {
                let wide = lines.convert(x, DType::F32);
                let y = unary(lines, arithmetic, op, wide)?;
                Ok(if lines.ty(y).dtype == DType::F32 { lines.convert(y, dtype) } else { y })
            }
        },
        DType::F32 | DType::F64 => float::unary(lines, arithmetic, op, x),
        _ => integer::unary(lines, op, x).ok_or_else(|| (op.to_string(), dtype)),
    }
}

fn binary(
    lines: &mut Lines<'_>,
    arithmetic: Arithmetic,
    op: BinaryOp,
    x: Value,
    y: Value,
) -> Result<Value, Missing> {
    let dtype = lines.ty(x).dtype;
    match dtype {
        _ if dtype.is_float() && op == BinaryOp::NextAfter => Ok(float::next_after(lines, x, y)),
        _ if is_narrow(dtype) => {
            let [x, y] = [x, y].map(|v| lines.convert(v, DType::F32));
            let z = binary(lines, arithmetic, op, x, y)?;
            Ok(if lines.ty(z).dtype == DType::F32 { lines.convert(z, dtype) } else { z })
        }
        DType::F32 | DType::F64 => float::binary(lines, arithmetic, op, x, y),
        _ => integer::binary(lines, op, x, y).ok_or_else(|| (op.to_string(), dtype)),
    }
}

/// A value as another element type.
fn convert(lines: &mut Lines<'_>, arithmetic: Arithmetic, x: Value, to: DType) -> Value {
    let from = lines.ty(x).dtype;
    if from == to {
        return x;
    }
    if is_narrow(from) {
        let wide = lines.convert(x, DType::F32);
        return convert(lines, arithmetic, wide, to);
    }
    match (from, to) {
        (_, DType::I1) => {
            let zero = lines.splat(Scalar::zero(from), lines.ty(x).lanes);
            lines.binary(BinaryOp::Ne, x, zero)
        }
        (DType::I1, _) => {
            let byte = lines.convert(x, DType::U8);
            convert(lines, arithmetic, byte, to)
        }
        // Through more bits than twice those of the result, or to an odd last bit: so nothing is rounded twice.
        (DType::F64, DType::F16 | DType::BF16) => {
            let near = float::to_odd(lines, x);
            lines.convert(near, to)
        }
        (DType::I64 | DType::U64, DType::F16 | DType::BF16) => {
            let wide = integer::sticky(lines, x);
            let wide = lines.convert(wide, DType::F64);
            convert(lines, arithmetic, wide, to)
        }
        (_, DType::F16 | DType::BF16) if from.is_int() => {
            let wide = wide_integer(from);
            let wide = lines.convert(x, wide);
            let wide = lines.convert(wide, DType::F64);
            convert(lines, arithmetic, wide, to)
        }
        (_, DType::F32 | DType::F64) if from.is_int() => {
            let wide = wide_integer(from);
            let wide = lines.convert(x, wide);
            lines.convert(wide, to)
        }
        (DType::F32 | DType::F64, _)
            if to.is_int() && to.size() < 4 && !arithmetic.has_narrow_conversions =>
        {
            let wide = lines.convert(x, wide_integer(to));
            let (low, high) = integer::ends(to);
            let (low, high) = (lines.integer(low, wide), lines.integer(high, wide));
            let wide = lines.binary(BinaryOp::Min, wide, high);
            let wide = lines.binary(BinaryOp::Max, wide, low);
            lines.convert(wide, to)
        }
        _ => lines.convert(x, to),
    }
}

/// The type of 32 or 64 bits that has all values of an integer type.
fn wide_integer(dtype: DType) -> DType {
    match dtype {
        DType::I8 | DType::I16 => DType::I32,
        DType::U8 | DType::U16 => DType::U32,
        other => other,
    }
}
