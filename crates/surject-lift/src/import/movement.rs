//! Data movement: reads through maps, total or guarded, and accumulations along strided maps.

use super::cx::{Cx, fill};
use super::state::{Result, Value};
use super::types;
use surject_index::{Affine, IndexMap, ReshapeStep, Space};
use surject_ir::{AccOp, BinaryOp, DType, FieldId, Scalar, TensorType, UnaryOp};

/// `stablehlo.iota`: an index as a value.
pub(super) fn iota(cx: &mut Cx<'_, '_>) -> Result<()> {
    let ty = cx.result_type(0)?;
    let axis = types::axis(cx.op, cx.attr(cx.op.int("iota_dimension"))?, ty.space.rank(), "iota_dimension")?;
    let index = cx.index(&ty.space, axis, ty.dtype.part())?;
    let field = cx.convert(ty.dtype, index);
    cx.store(0, field)
}

/// `stablehlo.get_dimension_size`: shapes are known, so it is a constant.
pub(super) fn get_dimension_size(cx: &mut Cx<'_, '_>) -> Result<()> {
    let own = cx.operand_type(0)?.space;
    let axis = types::axis(cx.op, cx.attr(cx.op.int("dimension"))?, own.rank(), "dimension")?;
    let ty = cx.result_type(0)?;
    let size = own.extent(axis).as_const().unwrap_or(0);
    if ty != TensorType::scalar(DType::I32) || i32::try_from(size).is_err() {
        return Err(cx.invalid(format!("the extent {size} as {ty}")));
    }
    cx.bind(0, Value::Splat(ty.space, Scalar::from_i128(DType::I32, size.into())))
}

/// Result 0 is operand 0 read through a total map.
fn read(cx: &mut Cx<'_, '_>, map: IndexMap) -> Result<()> {
    let x = cx.field(0)?;
    let field = cx.read(map, x)?;
    cx.store(0, field)
}

/// The map of a broadcast. An axis of the operand has the extent of its axis of the result, or extent 1.
pub(super) fn broadcast_map(cx: &Cx<'_, '_>, space: &Space, own: &Space, dims: &[usize]) -> Result<IndexMap> {
    for (extent, &dim) in own.extents().iter().zip(dims) {
        if extent.as_const() != Some(1) && dim < space.rank() && extent != space.extent(dim) {
            return Err(cx.invalid(format!("the extent {extent} is broadcast to {}", space.extent(dim))));
        }
    }
    cx.map(IndexMap::broadcast_in_dim(space, own, dims))
}

/// `stablehlo.broadcast_in_dim`
pub(super) fn broadcast_in_dim(cx: &mut Cx<'_, '_>) -> Result<()> {
    let space = cx.result_type(0)?.space;
    let own = cx.operand_type(0)?.space;
    let dims = cx.axes("broadcast_dimensions", space.rank())?;
    let map = broadcast_map(cx, &space, &own, &dims)?;
    read(cx, map)
}

/// `stablehlo.broadcast`: new axes in front.
pub(super) fn broadcast(cx: &mut Cx<'_, '_>) -> Result<()> {
    let space = cx.result_type(0)?.space;
    let own = cx.operand_type(0)?.space;
    let Some(new) = space.rank().checked_sub(own.rank()) else {
        return Err(cx.invalid("the result has a lower rank than the operand"));
    };
    let dims: Vec<usize> = (new..space.rank()).collect();
    let map = broadcast_map(cx, &space, &own, &dims)?;
    read(cx, map)
}

/// `stablehlo.transpose`
pub(super) fn transpose(cx: &mut Cx<'_, '_>) -> Result<()> {
    let own = cx.operand_type(0)?.space;
    let permutation = cx.axes("permutation", own.rank())?;
    let permutation = types::counted(cx.op, permutation, own.rank(), "permutation")?;
    let space = own.select(&permutation);
    // Axis `permutation[k]` of the operand is axis `k` of the result.
    let mut inverse = vec![0; own.rank()];
    permutation.iter().enumerate().for_each(|(k, &axis)| inverse[axis] = k);
    read(cx, IndexMap::projection(&space, &inverse))
}

/// `stablehlo.reverse`
pub(super) fn reverse(cx: &mut Cx<'_, '_>) -> Result<()> {
    let own = cx.operand_type(0)?.space;
    let axes = cx.axes("dimensions", own.rank())?;
    let map = cx.map(IndexMap::reverse(&own, &axes))?;
    read(cx, map)
}

/// `stablehlo.slice`
pub(super) fn slice(cx: &mut Cx<'_, '_>) -> Result<()> {
    let own = cx.operand_type(0)?.space;
    let rank = own.rank();
    let starts = cx.ints("start_indices", rank)?;
    let limits = cx.ints("limit_indices", rank)?;
    let strides = cx.ints("strides", rank)?;
    types::at_least(cx.op, &starts, 0, "start_indices")?;
    types::at_least(cx.op, &strides, 1, "strides")?;
    let mut sizes = Vec::new();
    for axis in 0..rank {
        let extent = own.extent(axis).as_const().unwrap_or(0);
        let (start, limit) = (starts[axis], limits[axis]);
        if limit < start || limit as u64 > extent {
            return Err(cx.invalid(format!("the range {start}:{limit} of an axis of extent {extent}")));
        }
        sizes.push((limit.abs_diff(start)).div_ceil(strides[axis].unsigned_abs()));
    }
    let map = cx.map(IndexMap::slice(&sizes, &starts, &strides, &own))?;
    read(cx, map)
}

/// `stablehlo.reshape`
pub(super) fn reshape(cx: &mut Cx<'_, '_>) -> Result<()> {
    let x = cx.field(0)?;
    let space = cx.result_type(0)?.space;
    let field = reshaped(cx, x, &space)?;
    cx.store(0, field)
}

/// A field with its points in row-major order under another shape: reads where axes are split, moves (`acc set`)
/// where they are merged.
pub(super) fn reshaped(cx: &mut Cx<'_, '_>, x: FieldId, space: &Space) -> Result<FieldId> {
    let own = cx.space(x);
    if own == *space {
        return Ok(x);
    }
    if own.points() != space.points() {
        return Err(cx.invalid(format!("{own} and {space} have different numbers of elements")));
    }
    if let Some(scalar) = cx.const_of(x) {
        return Ok(cx.constant(space, scalar));
    }
    if space.is_empty() {
        let zero = Scalar::zero(cx.dtype(x));
        return Ok(cx.constant(space, zero));
    }
    let Some(plan) = IndexMap::reshape(&own, space) else {
        return Err(cx.unsupported(format!("{own} as {space}")));
    };
    let mut field = x;
    let mut moved = false;
    for step in plan.steps() {
        field = match step {
            ReshapeStep::Read(map) => {
                // A move below a read cannot be recomputed where it is read: it is stored.
                let from = if moved { cx.temp(field) } else { field };
                cx.read(map, from)?
            }
            ReshapeStep::Set(map) => {
                moved = true;
                cx.acc(AccOp::Set, map, field)?
            }
        };
    }
    Ok(field)
}

/// `stablehlo.concatenate`: the sum of pieces that are what adding leaves as it is outside their part.
pub(super) fn concatenate(cx: &mut Cx<'_, '_>) -> Result<()> {
    let count = cx.operands(1)?;
    let ty = cx.result_type(0)?;
    let rank = ty.space.rank();
    let axis = types::axis(cx.op, cx.attr(cx.op.int("dimension"))?, rank, "dimension")?;
    let op = if ty.dtype.is_bool() { AccOp::Or } else { AccOp::Add };
    let join = if ty.dtype.is_bool() { BinaryOp::Or } else { BinaryOp::Add };
    let outside = fill(op.exact_neutral(ty.dtype));
    let mut offset = 0i64;
    let mut whole: Option<FieldId> = None;
    for i in 0..count {
        let own = cx.operand_type(i)?;
        let fits = |a: usize| a == axis || own.space.extent(a) == ty.space.extent(a);
        if own.space.rank() != rank || own.dtype != ty.dtype || !(0..rank).all(fits) {
            return Err(cx.invalid(format!("operand {i} of type {own} in a result of type {ty}")));
        }
        let size = own.space.extent(axis).as_const().unwrap_or(0) as i64;
        let start = offset;
        offset += size;
        if size == 0 {
            continue;
        }
        let shift = |a: usize| Affine::strided(rank, a, 1, if a == axis { -start } else { 0 });
        let components = (0..rank).map(shift).collect();
        let map = IndexMap::partial(ty.space.clone(), own.space, components, Vec::new(), outside);
        let map = cx.map(map)?;
        let x = cx.field(i)?;
        let piece = cx.read(map, x)?;
        whole = Some(match whole {
            Some(so_far) => cx.binary(join, so_far, piece)?,
            None => piece,
        });
    }
    if ty.space.extent(axis).as_const() != u64::try_from(offset).ok() {
        return Err(cx.invalid(format!("the operands have {offset} positions in total, the result is {ty}")));
    }
    match whole {
        Some(field) => cx.store(0, field),
        None => cx.bind(0, Value::Splat(ty.space, Scalar::zero(ty.dtype))),
    }
}

/// `stablehlo.pad`: a guarded read; interior padding spreads the operand first.
pub(super) fn pad(cx: &mut Cx<'_, '_>) -> Result<()> {
    let own = cx.operand_type(0)?;
    let rank = own.space.rank();
    let (low, high) = (cx.ints("edge_padding_low", rank)?, cx.ints("edge_padding_high", rank)?);
    let interior = cx.ints("interior_padding", rank)?;
    types::at_least(cx.op, &interior, 0, "interior_padding")?;
    let ty = cx.result_type(0)?;
    let x = cx.field(0)?;
    let padding = cx.field(1)?;
    if cx.space(padding).rank() != 0 || cx.dtype(padding) != own.dtype || ty.space.rank() != rank {
        return Err(cx.invalid("the padding value must be a scalar of the operand's element type"));
    }
    let steps: Vec<i64> = interior.iter().map(|&n| n.saturating_add(1)).collect();
    let inner = spread_space(cx, &own.space, &steps)?;
    for axis in 0..rank {
        let extent = |s: &Space| s.extent(axis).as_const().map_or(0, i128::from);
        let wanted = extent(&inner) + i128::from(low[axis]) + i128::from(high[axis]);
        if wanted != extent(&ty.space) {
            return Err(cx.invalid(format!("dimension {axis} gets {wanted} positions, the result is {ty}")));
        }
    }
    let Some(shifts) = low.iter().map(|&n| n.checked_neg()).collect::<Option<Vec<i64>>>() else {
        return Err(cx.invalid("an edge padding that overflows"));
    };
    let components: Vec<Affine> = (0..rank).map(|a| Affine::strided(rank, a, 1, shifts[a])).collect();
    let guarded =
        |fill| IndexMap::partial(ty.space.clone(), inner.clone(), components.clone(), Vec::new(), fill);
    let dilated = inner != own.space;
    let hole = spread_op(own.dtype).neutral(own.dtype);
    let value = cx.const_of(padding);
    let field = match value {
        // The pad value is a fill, and so are the holes.
        Some(value) if !dilated || value == hole && !own.dtype.is_complex() => {
            let inside = if dilated { apart(cx, x, &steps)? } else { x };
            let map = cx.map(guarded(fill(value)))?;
            cx.read(map, inside)?
        }
        _ => {
            // `true` at the elements, `false` in the holes and outside.
            let yes = cx.constant(&own.space, Scalar::bool(true));
            let (inside, here) = match dilated {
                true => (apart(cx, x, &steps)?, spread(cx, yes, AccOp::Or, &steps)?),
                false => (x, yes),
            };
            let map = cx.map(guarded(fill(Scalar::zero(own.dtype))))?;
            if map.is_total() && !dilated {
                cx.read(map, inside)?
            } else {
                let inside = cx.read(map, inside)?;
                let map = cx.map(guarded(fill(Scalar::bool(false))))?;
                let here = cx.read(map, here)?;
                let outside = cx.broadcast(padding, &ty.space)?;
                cx.select(here, inside, outside)?
            }
        }
    };
    cx.store(0, field)
}

/// The operator along which elements of a type are spread, such that joining them to what it starts from keeps every bit: a
/// sum of floats would lose the sign of a zero.
fn spread_op(dtype: DType) -> AccOp {
    match dtype {
        d if d.is_bool() => AccOp::Or,
        d if d.is_float() || d.is_complex() => AccOp::Max,
        _ => AccOp::Add,
    }
}

/// A field with its elements `steps` apart, every bit as it is; what is between is for nobody to see. Complex numbers go
/// part by part: the larger of two of them is not that of their parts.
fn apart(cx: &mut Cx<'_, '_>, x: FieldId, steps: &[i64]) -> Result<FieldId> {
    let dtype = cx.dtype(x);
    if !dtype.is_complex() {
        return spread(cx, x, spread_op(dtype), steps);
    }
    let re = cx.unary(UnaryOp::Real, x)?;
    let im = cx.unary(UnaryOp::Imag, x)?;
    let re = spread(cx, re, AccOp::Max, steps)?;
    let im = spread(cx, im, AccOp::Max, steps)?;
    cx.binary(BinaryOp::Complex, re, im)
}

/// The space of a tensor whose elements stand `steps` apart.
pub(super) fn spread_space(cx: &Cx<'_, '_>, space: &Space, steps: &[i64]) -> Result<Space> {
    let size = |(axis, &step): (usize, &i64)| {
        let extent = space.extent(axis).as_const().unwrap_or(0);
        if extent == 0 || step == 1 {
            return Some(extent);
        }
        (extent - 1).checked_mul(u64::try_from(step).ok()?)?.checked_add(1).filter(|&n| n < 1 << 46)
    };
    let sizes = steps.iter().enumerate().map(size).collect::<Option<Vec<u64>>>();
    sizes.map(|s| Space::of(&s)).ok_or_else(|| cx.invalid("a dilation that overflows"))
}

/// A field with its elements `steps` apart and the neutral element of `op` between them, stored.
pub(super) fn spread(cx: &mut Cx<'_, '_>, x: FieldId, op: AccOp, steps: &[i64]) -> Result<FieldId> {
    let own = cx.space(x);
    let space = spread_space(cx, &own, steps)?;
    if space == own {
        return Ok(x);
    }
    let rank = own.rank();
    let components = (0..rank).map(|a| Affine::strided(rank, a, steps[a], 0)).collect();
    let map = cx.map(IndexMap::total(own, space, components))?;
    let field = cx.acc(op, map, x)?;
    Ok(cx.temp(field))
}
