//! CHLO: implicit broadcasting, and functions that expand to formulas.
//!
//! `scan` is a loop and `ragged_dot` are products before they come here.

use super::cx::Cx;
use super::elementwise;
use super::movement;
use super::special;
use super::state::{Result, Value};
use super::types;
use surject_index::{Extent, Fact, Relation, Space};
use surject_ir::{BinaryOp, DType, FieldId, LibOp, Scalar, TensorType, UnaryOp};
use surject_stablehlo::Attribute;

/// Lifts an elementwise CHLO operation that is no operator of programs. `false` if it is none of these.
pub(super) fn elementwise(cx: &mut Cx<'_, '_>) -> Result<bool> {
    let Some(short) = cx.op.name.strip_prefix("chlo.") else {
        return Ok(false);
    };
    if let Some(plain) = short.strip_prefix("broadcast_") {
        broadcast(cx, plain)?;
        return Ok(true);
    }
    if short == "_asin_acos_kernel" {
        let z = cx.field(0)?;
        let made = match cx.dtype(z).is_complex() {
            true => super::complex::function(cx, short, z)?,
            false => None,
        };
        let field = made.ok_or_else(|| cx.unsupported("an operand that is not complex"))?;
        cx.store(0, field)?;
        return Ok(true);
    }
    if short == "constant_like" {
        constant_like(cx)?;
        return Ok(true);
    }
    let x = match short {
        "square" | "conj" | "is_inf" | "is_pos_inf" | "is_neg_inf" | "bessel_i1e" | "mulhi" | "polygamma"
        | "zeta" => cx.field(0)?,
        _ => return Ok(false),
    };
    let field = match short {
        "square" => cx.binary(BinaryOp::Mul, x, x)?,
        "conj" => conj(cx, x)?,
        "is_inf" => {
            let magnitude = cx.unary(UnaryOp::Abs, x)?;
            is_value(cx, magnitude, f64::INFINITY)?
        }
        "is_pos_inf" => is_value(cx, x, f64::INFINITY)?,
        "is_neg_inf" => is_value(cx, x, f64::NEG_INFINITY)?,
        "bessel_i1e" => special::in_f32(cx, &[x], |cx, xs| special::bessel_i1e(cx, xs[0]))?,
        _ => {
            let y = cx.field(1)?;
            match short {
                "mulhi" => special::mulhi(cx, x, y)?,
                "polygamma" => special::in_f32(cx, &[x, y], |cx, xs| special::polygamma(cx, xs[0], xs[1]))?,
                _ => special::in_f32(cx, &[x, y], |cx, xs| special::zeta(cx, xs[0], xs[1]))?,
            }
        }
    };
    cx.store(0, field)?;
    Ok(true)
}

/// `chlo.broadcast_*`: operands of lower rank are aligned at `broadcast_dimensions`, else at the end, and extents
/// of 1 are repeated.
fn broadcast(cx: &mut Cx<'_, '_>, plain: &str) -> Result<()> {
    let count = if plain == "select" { 3 } else { 2 };
    cx.operands(count)?;
    let space = cx.result_type(0)?.space;
    let mut args = Vec::new();
    for i in 0..count {
        let field = cx.field(i)?;
        args.push(align(cx, field, &space)?);
    }
    let field = match plain {
        "compare" => elementwise::comparison(cx, args[0], args[1])?,
        "select" => cx.select(args[0], args[1], args[2])?,
        "polygamma" => special::in_f32(cx, &args, |cx, xs| special::polygamma(cx, xs[0], xs[1]))?,
        "zeta" => special::in_f32(cx, &args, |cx, xs| special::zeta(cx, xs[0], xs[1]))?,
        _ => match elementwise::binary_op(plain) {
            Some(op) => cx.binary(op, args[0], args[1])?,
            None => return Err(cx.unsupported("no such operation")),
        },
    };
    cx.store(0, field)
}

/// A field at every point of the space of a broadcast.
fn align(cx: &mut Cx<'_, '_>, field: FieldId, space: &Space) -> Result<FieldId> {
    let own = cx.space(field);
    if own == *space {
        return Ok(field);
    }
    if own.rank() > space.rank() {
        return Err(cx.invalid(format!("an operand of shape {own} for a result of shape {space}")));
    }
    let trailing: Vec<usize> = (space.rank() - own.rank()..space.rank()).collect();
    let given = match cx.op.attributes.get("broadcast_dimensions") {
        Some(Attribute::I64s(dims)) if own.rank() < space.rank() && dims.len() == own.rank() => {
            Some(types::axes(cx.op, dims, space.rank(), "broadcast_dimensions")?)
        }
        _ => None,
    };
    let map = movement::broadcast_map(cx, space, &own, &given.unwrap_or(trailing))?;
    cx.read(map, field)
}

/// A constant with the type of the operand.
fn constant_like(cx: &mut Cx<'_, '_>) -> Result<()> {
    let ty = cx.result_type(0)?;
    let value = cx.attr(cx.op.attribute("value"))?;
    let scalar = match value {
        Attribute::Int { value, .. } => Scalar::from_i128(ty.dtype, *value),
        Attribute::Bool(value) => Scalar::from_i128(ty.dtype, i128::from(*value)),
        Attribute::Float { .. } => match value.as_f64() {
            Some(value) if ty.dtype.is_float() || ty.dtype.is_complex() => Scalar::from_f64(ty.dtype, value),
            _ => return Err(cx.invalid("the value does not fit the type of the operand")),
        },
        other => return Err(cx.unsupported(format!("{} as the value", other.describe()))),
    };
    cx.bind(0, Value::Splat(ty.space, scalar))
}

fn conj(cx: &mut Cx<'_, '_>, x: FieldId) -> Result<FieldId> {
    if !cx.dtype(x).is_complex() {
        return Ok(x);
    }
    let (re, im) = (cx.unary(UnaryOp::Real, x)?, cx.unary(UnaryOp::Imag, x)?);
    let im = cx.unary(UnaryOp::Neg, im)?;
    cx.binary(BinaryOp::Complex, re, im)
}

fn is_value(cx: &mut Cx<'_, '_>, x: FieldId, value: f64) -> Result<FieldId> {
    if !cx.dtype(x).is_float() {
        return Err(cx.unsupported(format!("an operand of type {}", cx.dtype(x))));
    }
    let value = cx.number(x, value);
    cx.binary(BinaryOp::Eq, x, value)
}

/// As [`top_elements`], where `k` is a number of the text.
pub(super) fn top_k(cx: &mut Cx<'_, '_>, k: i64, largest: bool) -> Result<()> {
    let k = u64::try_from(k).map_err(|_| cx.invalid(format!("k = {k} is negative")))?;
    top_elements(cx, Extent::Const(k), largest)
}

/// The `k` largest elements along the last axis and their positions: a stable descending sort in total order
/// (NaN first, the earlier of equal elements first), then a slice.
pub(super) fn top_elements(cx: &mut Cx<'_, '_>, k: Extent, largest: bool) -> Result<()> {
    let ty = cx.operand_type(0)?;
    let Some(axis) = ty.space.rank().checked_sub(1) else {
        return Err(cx.invalid("an operand of rank 0"));
    };
    let last = ty.space.extent(axis).clone();
    match (k.as_const(), last.as_const()) {
        (Some(k), Some(n)) if k > n => {
            return Err(cx.invalid(format!("k = {k} for an axis of extent {last}")));
        }
        (Some(_), Some(_)) => {}
        _ => cx.lift.require(cx.op, "k", Fact::new(k.clone(), Relation::Le, last))?,
    }
    if ty.dtype.is_complex() {
        return Err(cx.unsupported("complex elements have no order"));
    }
    let x = cx.var(0)?;
    let index = cx.index(&ty.space, axis, DType::I32)?;
    let positions = cx.lift.new_var("", cx.field_type(index));
    cx.lift.push(cx.op, surject_ir::StatementKind::Store { target: positions, field: index });
    let order = if largest { BinaryOp::Gt } else { BinaryOp::Lt };
    let comparator = comparator(cx, order, ty.dtype)?;
    let sort = LibOp::Sort { axis, stable: true };
    let sorted = cx.call(sort, vec![x, positions], vec![comparator])?;
    let mut kept = ty.space.extents().to_vec();
    kept[axis] = k;
    let (starts, strides) = (vec![0; kept.len()], vec![1; kept.len()]);
    for (i, var) in sorted.into_iter().enumerate() {
        let map = cx.slice_map(Space::new(kept.clone()), &starts, &strides, &ty.space)?;
        let of = cx.lift.function.tensor(var);
        let field = cx.read(map, of)?;
        let wanted = cx.result_type(i)?.dtype;
        let field = cx.convert(wanted, field);
        cx.store(i, field)?;
    }
    Ok(())
}

/// The comparator of a sort of keys and `i32` positions by the keys.
fn comparator(cx: &mut Cx<'_, '_>, order: BinaryOp, keys: DType) -> Result<surject_ir::Region> {
    let mut param = |name: &str, dtype| cx.lift.new_var(name, TensorType::scalar(dtype));
    let params = vec![param("a", keys), param("b", keys), param("p", DType::I32), param("q", DType::I32)];
    let (a, b) = (cx.lift.function.tensor(params[0]), cx.lift.function.tensor(params[1]));
    let field = elementwise::total_order(cx, order, a, b)?;
    let less = cx.lift.new_var("", TensorType::scalar(DType::I1));
    let kind = surject_ir::StatementKind::Store { target: less, field };
    let body = surject_ir::Block { statements: vec![surject_ir::Statement::new(kind)], results: vec![less] };
    Ok(surject_ir::Region { params, body })
}
