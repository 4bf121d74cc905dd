//! Elementwise operations and constants: pointwise fields.

use super::complex;
use super::cx::Cx;
use super::state::{Result, Value, bits_type};
use super::types::{self, Literal};
use surject_ir::{BinaryOp, DType, FieldId, LibOp, Scalar, StatementKind, UnaryOp};

/// The operator of a unary operation (of StableHLO, CHLO, or `mhlo.*` called by name).
pub(super) fn unary_op(short: &str) -> Option<UnaryOp> {
    use UnaryOp::*;
    Some(match short {
        "abs" => Abs,
        "acos" => Acos,
        "acosh" => Acosh,
        "asin" => Asin,
        "asinh" => Asinh,
        "atan" => Atan,
        "atanh" => Atanh,
        "cbrt" => Cbrt,
        "ceil" => Ceil,
        "cosh" => Cosh,
        "cosine" => Cos,
        "count_leading_zeros" => CountLeadingZeros,
        "digamma" => Digamma,
        "erf" => Erf,
        "erf_inv" => ErfInv,
        "erfc" => Erfc,
        "exponential" => Exp,
        "exponential_minus_one" => Expm1,
        "floor" => Floor,
        "imag" => Imag,
        "is_finite" => IsFinite,
        "lgamma" => Lgamma,
        "log" => Log,
        "log_plus_one" => Log1p,
        "logistic" => Logistic,
        "negate" => Neg,
        "not" => Not,
        "popcnt" => Popcount,
        "real" => Real,
        "round_nearest_afz" => RoundAway,
        "round_nearest_even" => RoundEven,
        "rsqrt" => Rsqrt,
        "sign" => Sign,
        "sine" => Sin,
        "sinh" => Sinh,
        "sqrt" => Sqrt,
        "tan" => Tan,
        "tanh" => Tanh,
        _ => return None,
    })
}

/// The operator of a binary operation.
pub(super) fn binary_op(short: &str) -> Option<BinaryOp> {
    use BinaryOp::*;
    Some(match short {
        "add" => Add,
        "and" => And,
        "atan2" => Atan2,
        "complex" => Complex,
        "divide" => Div,
        "maximum" => Max,
        "minimum" => Min,
        "multiply" => Mul,
        "next_after" => NextAfter,
        "or" => Or,
        "power" => Pow,
        "remainder" => Rem,
        "shift_left" => Shl,
        "shift_right_arithmetic" => ShrArith,
        "shift_right_logical" => ShrLogical,
        "subtract" => Sub,
        "xor" => Xor,
        _ => return None,
    })
}

/// Lifts the operation if it is elementwise (constants included).
pub(super) fn lift(cx: &mut Cx<'_, '_>) -> Result<bool> {
    let Some((dialect, short)) = cx.op.name.split_once('.') else {
        return Ok(false);
    };
    match (dialect, short) {
        ("stablehlo" | "chlo", "constant") => constant(cx)?,
        ("stablehlo", "convert") => convert(cx)?,
        ("stablehlo", "compare") => {
            let (x, y) = (cx.field(0)?, cx.field(1)?);
            let field = comparison(cx, x, y)?;
            cx.store(0, field)?;
        }
        ("stablehlo", "select") => select(cx)?,
        ("stablehlo", "clamp") => clamp(cx)?,
        ("stablehlo", "reduce_precision") => reduce_precision(cx)?,
        ("stablehlo", "bitcast_convert") => bitcast_convert(cx)?,
        ("stablehlo" | "chlo", _) => {
            if let Some(op) = unary_op(short) {
                let x = cx.field(0)?;
                let complex = match dialect == "chlo" && cx.dtype(x).is_complex() {
                    true => complex::function(cx, short, x)?,
                    false => None,
                };
                let field = match complex {
                    Some(field) => field,
                    None => cx.unary(op, x)?,
                };
                cx.store(0, field)?;
            } else if let Some(op) = binary_op(short) {
                let (x, y) = (cx.field(0)?, cx.field(1)?);
                let field = cx.binary(op, x, y)?;
                cx.store(0, field)?;
            } else {
                return Ok(false);
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn constant(cx: &mut Cx<'_, '_>) -> Result<()> {
    let value = cx.attr(cx.op.dense("value"))?;
    let ty = cx.result_type(0)?;
    // Inside a `map` body the constant is a scalar and the result type is that of the whole space.
    let literal_ty = match &cx.lift.mapped {
        Some(_) => surject_ir::TensorType::scalar(ty.dtype),
        None => ty.clone(),
    };
    match types::literal(cx.op, value, &literal_ty)? {
        Literal::Splat(scalar) => cx.bind(0, Value::Splat(ty.space, scalar)),
        Literal::Dense(value) => {
            let target = cx.lift.new_var(cx.lift.module.name_of(cx.op.results[0]), ty);
            cx.lift.push(cx.op, StatementKind::Constant { target, value });
            cx.bind(0, Value::Var(target))
        }
    }
}

fn convert(cx: &mut Cx<'_, '_>) -> Result<()> {
    let x = cx.field(0)?;
    let to = cx.result_type(0)?.dtype;
    let field = cx.convert(to, x);
    cx.store(0, field)
}

/// The comparison that the operation's attributes ask for.
pub(super) fn comparison(cx: &mut Cx<'_, '_>, x: FieldId, y: FieldId) -> Result<FieldId> {
    let op = match cx.attr(cx.op.compare_direction())? {
        "EQ" => BinaryOp::Eq,
        "NE" => BinaryOp::Ne,
        "LT" => BinaryOp::Lt,
        "LE" => BinaryOp::Le,
        "GT" => BinaryOp::Gt,
        "GE" => BinaryOp::Ge,
        other => return Err(cx.invalid(format!("the comparison direction {other}"))),
    };
    if cx.op.compare_type() == Some("TOTALORDER") {
        return total_order(cx, op, x, y);
    }
    cx.binary(op, x, y)
}

/// A comparison in IEEE total order: −NaN < −∞ < … < −0 < +0 < … < +∞ < NaN, which is the order of integer
/// keys made of the bits.
pub(super) fn total_order(cx: &mut Cx<'_, '_>, op: BinaryOp, x: FieldId, y: FieldId) -> Result<FieldId> {
    let Some(int) = bits_type(cx.dtype(x)) else {
        return cx.binary(op, x, y);
    };
    let (x, y) = (order_key(cx, int, x)?, order_key(cx, int, y)?);
    cx.binary(op, x, y)
}

/// The bits of a float as a signed integer, all but the sign flipped where the sign is set.
fn order_key(cx: &mut Cx<'_, '_>, int: DType, x: FieldId) -> Result<FieldId> {
    let space = cx.space(x);
    let bits = cx.bitcast(int, x)?;
    let last = cx.constant(&space, Scalar::from_i128(int, i128::from(int.bits()) - 1));
    let one = cx.constant(&space, Scalar::one(int));
    let signs = cx.binary(BinaryOp::ShrArith, bits, last)?;
    let mask = cx.binary(BinaryOp::ShrLogical, signs, one)?;
    cx.binary(BinaryOp::Xor, bits, mask)
}

/// An operand that may have rank 0 where the others have the space of operand `like`.
fn spread(cx: &mut Cx<'_, '_>, i: usize, like: FieldId) -> Result<FieldId> {
    let field = cx.field(i)?;
    let space = cx.space(like);
    if cx.space(field).rank() == 0 && space.rank() != 0 { cx.broadcast(field, &space) } else { Ok(field) }
}

fn select(cx: &mut Cx<'_, '_>) -> Result<()> {
    let on_true = cx.field(1)?;
    let on_false = cx.field(2)?;
    let cond = spread(cx, 0, on_true)?;
    let field = cx.select(cond, on_true, on_false)?;
    cx.store(0, field)
}

fn clamp(cx: &mut Cx<'_, '_>) -> Result<()> {
    let x = cx.field(1)?;
    let (low, high) = (spread(cx, 0, x)?, spread(cx, 2, x)?);
    let x = cx.binary(BinaryOp::Max, x, low)?;
    let field = cx.binary(BinaryOp::Min, x, high)?;
    cx.store(0, field)
}

fn reduce_precision(cx: &mut Cx<'_, '_>) -> Result<()> {
    let bits = |name: &str| {
        let value = cx.attr(cx.op.int(name))?;
        u32::try_from(value).map_err(|_| cx.invalid(format!("{name} = {value}")))
    };
    let (exponent, mantissa) = (bits("exponent_bits")?, bits("mantissa_bits")?);
    if exponent == 0 {
        return Err(cx.invalid("exponent_bits must be at least 1"));
    }
    let x = cx.field(0)?;
    let field = cx.lift.function.fields.reduce_precision(exponent, mantissa, x);
    let field = cx.typed(field)?;
    cx.store(0, field)
}

fn bitcast_convert(cx: &mut Cx<'_, '_>) -> Result<()> {
    let (from, to) = (cx.operand_type(0)?.dtype, cx.result_type(0)?.dtype);
    if from == to || from.bits() == to.bits() && !from.is_complex() && !to.is_complex() {
        let x = cx.field(0)?;
        let field = cx.bitcast(to, x)?;
        return cx.store(0, field);
    }
    if from.is_complex() || to.is_complex() || from.is_bool() || to.is_bool() || cx.lift.mapped.is_some() {
        return Err(cx.unsupported(format!("the bits of {from} as {to}")));
    }
    let x = cx.var(0)?;
    cx.library(LibOp::BitcastReshape { to }, vec![x], Vec::new())
}
