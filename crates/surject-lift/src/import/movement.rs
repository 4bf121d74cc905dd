//! Data movement: reads through maps, total or guarded, and accumulations along strided maps.

use super::cx::{Cx, fill};
use super::pointwise;
use super::sizes::{integer, number};
use super::state::{Result, Value};
use super::types;
use surject_index::{Affine, Extent, Fact, IndexMap, Relation, ReshapeStep, Space};
use surject_ir::{AccOp, BinaryOp, DType, FieldId, LibOp, Scalar, TensorType, UnaryOp, Var};

/// `stablehlo.iota`: an index as a value.
pub(super) fn iota(cx: &mut Cx<'_, '_>) -> Result<()> {
    let ty = cx.result_type(0)?;
    let axis = types::axis(cx.op, cx.attr(cx.op.int("iota_dimension"))?, ty.space.rank(), "iota_dimension")?;
    let index = cx.index(&ty.space, axis, ty.dtype.part())?;
    let field = cx.convert(ty.dtype, index);
    cx.store(0, field)
}

/// `stablehlo.get_dimension_size` in a module without `?`: a constant.
pub(super) fn get_dimension_size(cx: &mut Cx<'_, '_>) -> Result<()> {
    let own = cx.operand_type(0)?.space;
    let axis = types::axis(cx.op, cx.attr(cx.op.int("dimension"))?, own.rank(), "dimension")?;
    let ty = cx.result_type(0)?;
    let size = cx.lift.constant_size(cx.op, "the dimension", own.extent(axis))?;
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

/// The map of a broadcast. An axis of the operand has the extent of its axis of the result, or extent 1: a symbolic
/// extent is not taken to be 1 (reference/extents.md, section 4.3).
pub(super) fn broadcast_map(
    cx: &mut Cx<'_, '_>,
    space: &Space,
    own: &Space,
    dims: &[usize],
) -> Result<IndexMap> {
    for (axis, (extent, &dim)) in own.extents().iter().zip(dims).enumerate() {
        if extent.as_const() == Some(1) || dim >= space.rank() || extent == space.extent(dim) {
            continue;
        }
        let wanted = space.extent(dim).clone();
        if extent.as_const().is_some() && wanted.as_const().is_some() {
            return Err(cx.invalid(format!("the extent {extent} is broadcast to {wanted}")));
        }
        cx.lift.require_same(cx.op, &format!("dimension {axis} of the operand"), extent, &wanted)?;
    }
    let map = IndexMap::broadcast_in_dim_given(space, own, dims, &cx.lift.sizes.facts);
    cx.map(map)
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
    if axes.iter().any(|&axis| own.extent(axis).as_const().is_none()) {
        // The last position of the axis would be the offset of its index.
        let x = cx.field(0)?;
        let field = pointwise::reversed(cx, x, &axes)?;
        return cx.store(0, field);
    }
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
        let extent = own.extent(axis);
        let (start, limit) = (starts[axis], limits[axis]);
        if limit < start || extent.as_const().is_some_and(|n| limit as u64 > n) {
            return Err(cx.invalid(format!("the range {start}:{limit} of an axis of extent {extent}")));
        }
        if extent.as_const().is_none() {
            let fact = Fact::new(Extent::Const(limit.unsigned_abs()), Relation::Le, extent.clone());
            cx.lift.require(cx.op, &format!("limit_indices[{axis}]"), fact)?;
        }
        sizes.push(Extent::Const((limit.abs_diff(start)).div_ceil(strides[axis].unsigned_abs())));
    }
    let map = cx.slice_map(Space::new(sizes), &starts, &strides, &own)?;
    read(cx, map)
}

/// `stablehlo.real_dynamic_slice`: a slice whose starts, limits and strides are operands. Where it starts may depend on
/// data, how large it is may not.
pub(super) fn real_dynamic_slice(cx: &mut Cx<'_, '_>) -> Result<()> {
    let own = cx.operand_type(0)?.space;
    let space = cx.result_type(0)?.space;
    let (starts, limits) = (cx.integers_of(1, "start_indices")?, cx.integers_of(2, "limit_indices")?);
    let strides = cx.numbers_of(3, "strides")?;
    types::at_least(cx.op, &strides, 1, "strides")?;
    if [starts.len(), limits.len(), strides.len(), space.rank()] != [own.rank(); 4] {
        return Err(cx.invalid("it needs a start, a limit and a stride for each dimension"));
    }
    let numbers: Option<Vec<i64>> =
        starts.iter().map(|e| number(e).and_then(|v| i64::try_from(v).ok())).collect();
    let Some(numbers) = numbers else {
        return moved_slice(cx, &own, &space, &starts, &strides);
    };
    types::at_least(cx.op, &numbers, 0, "start_indices")?;
    for (axis, (limit, extent)) in limits.iter().zip(own.extents()).enumerate() {
        let fact = Fact::new(limit.clone(), Relation::Le, extent.clone());
        cx.lift.require(cx.op, &format!("limit_indices[{axis}]"), fact)?;
    }
    let map = cx.slice_map(space, &numbers, &strides, &own)?;
    read(cx, map)
}

/// A slice at positions that are computed.
fn moved_slice(
    cx: &mut Cx<'_, '_>,
    own: &Space,
    space: &Space,
    starts: &[Extent],
    strides: &[i64],
) -> Result<()> {
    let mut sizes = Vec::new();
    for (axis, extent) in space.extents().iter().enumerate() {
        sizes.extend(extent.as_const());
        let fact = Fact::new(extent.clone(), Relation::Le, own.extent(axis).clone());
        cx.lift.require(cx.op, &format!("the sliced dimension {axis}"), fact)?;
    }
    if sizes.len() < space.rank() || strides.iter().any(|&s| s != 1) {
        let x = cx.field(0)?;
        let field = pointwise::sliced(cx, x, space, starts, strides)?;
        return cx.store(0, field);
    }
    let mut args = vec![cx.var(0)?];
    args.extend(start_vars(cx, starts)?);
    let result = cx.call(LibOp::DynamicSlice { sizes }, args, Vec::new())?[0];
    let field = cx.lift.function.tensor(result);
    cx.store(0, field)
}

/// Positions as scalars.
fn start_vars(cx: &mut Cx<'_, '_>, starts: &[Extent]) -> Result<Vec<Var>> {
    let mut vars = Vec::new();
    for start in starts {
        let field = cx.lift.size_field(cx.op, start)?;
        vars.push(cx.stored(field));
    }
    Ok(vars)
}

/// `stablehlo.set_dimension_size`: the first positions of a dimension. What lies behind them is for nobody to see.
pub(super) fn set_dimension_size(cx: &mut Cx<'_, '_>) -> Result<()> {
    let own = cx.operand_type(0)?.space;
    let axis = types::axis(cx.op, cx.attr(cx.op.int("dimension"))?, own.rank(), "dimension")?;
    let size = cx.sizes_of(1, "size")?.first().cloned().unwrap_or(Extent::Const(0));
    let fact = Fact::new(size.clone(), Relation::Le, own.extent(axis).clone());
    cx.lift.require(cx.op, "size", fact)?;
    let mut extents = own.extents().to_vec();
    extents[axis] = size;
    let map = cx.slice_map(Space::new(extents), &vec![0; own.rank()], &vec![1; own.rank()], &own)?;
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
    let symbolic = own.sizes().is_none() || space.sizes().is_none();
    if symbolic {
        let elements = |cx: &Cx<'_, '_>, space: &Space| {
            space.extents().iter().fold(Extent::Const(1), |n, e| cx.lift.times(&n, e))
        };
        let (from, to) = (elements(cx, &own), elements(cx, space));
        cx.lift.require_same(cx.op, "the number of elements", &from, &to)?;
    } else if own.points() != space.points() {
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
        // An index of a merged axis has the sizes of those behind as its coefficients.
        return match symbolic {
            true => pointwise::reshaped(cx, x, space),
            false => Err(cx.unsupported(format!("{own} as {space}"))),
        };
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
    let mut offset = Extent::Const(0);
    let mut offsets = Vec::new();
    for i in 0..count {
        let own = cx.operand_type(i)?;
        if own.space.rank() != rank || own.dtype != ty.dtype {
            return Err(cx.invalid(format!("operand {i} of type {own} in a result of type {ty}")));
        }
        for a in (0..rank).filter(|&a| a != axis) {
            let (found, wanted) = (own.space.extent(a), ty.space.extent(a));
            if found != wanted && found.as_const().is_some() && wanted.as_const().is_some() {
                return Err(cx.invalid(format!("operand {i} of type {own} in a result of type {ty}")));
            }
            cx.lift.require_same(cx.op, &format!("dimension {a} of operand {i}"), found, wanted)?;
        }
        let size = own.space.extent(axis).clone();
        offsets.push(offset.clone());
        offset = cx.lift.plus(&offset, &size);
    }
    let whole_size = ty.space.extent(axis);
    if offset != *whole_size && offset.as_const().is_some() && whole_size.as_const().is_some() {
        return Err(cx.invalid(format!("the operands have {offset} positions in total, the result is {ty}")));
    }
    cx.lift.require_same(cx.op, "the number of positions", &offset, whole_size)?;
    if offsets.iter().any(|o| o.as_const().is_none()) {
        return place_after(cx, &ty, axis, &offsets);
    }
    let mut whole: Option<FieldId> = None;
    for (i, offset) in offsets.iter().enumerate() {
        let own = cx.operand_type(i)?;
        if own.space.extent(axis).as_const() == Some(0) {
            continue;
        }
        let start = offset.as_const().and_then(|n| i64::try_from(n).ok());
        let start = start.ok_or_else(|| cx.invalid("a concatenation that overflows"))?;
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
    match whole {
        Some(field) => cx.store(0, field),
        None => cx.bind(0, Value::Splat(ty.space, Scalar::zero(ty.dtype))),
    }
}

/// Pieces at positions that are symbolic: each is written over what stands there.
fn place_after(cx: &mut Cx<'_, '_>, ty: &TensorType, axis: usize, offsets: &[Extent]) -> Result<()> {
    let zeros = cx.constant(&ty.space, Scalar::zero(ty.dtype));
    let mut whole = cx.stored(zeros);
    for (i, offset) in offsets.iter().enumerate() {
        let starts: Vec<Extent> =
            (0..ty.space.rank()).map(|a| if a == axis { offset.clone() } else { Extent::Const(0) }).collect();
        let piece = cx.var(i)?;
        let mut args = vec![whole, piece];
        args.extend(start_vars(cx, &starts)?);
        whole = cx.call(LibOp::DynamicUpdateSlice, args, Vec::new())?[0];
    }
    let field = cx.lift.function.tensor(whole);
    cx.store(0, field)
}

/// How many elements `pad` and `dynamic_pad` put before, behind and between those of each dimension; fewer than none take
/// elements away.
pub(super) struct Padding {
    pub(super) low: Vec<Extent>,
    pub(super) high: Vec<Extent>,
    pub(super) interior: Vec<i64>,
}

impl Padding {
    pub(super) fn of(cx: &mut Cx<'_, '_>, rank: usize) -> Result<Padding> {
        let dynamic = cx.op.name == "stablehlo.dynamic_pad";
        let mut edge = |i: usize, name: &str| match dynamic {
            true => types::counted(cx.op, cx.integers_of(i, name)?, rank, name),
            false => {
                let numbers = cx.ints(name, rank)?;
                Ok(numbers.iter().filter_map(|&n| integer(n.into())).collect())
            }
        };
        let (low, high) = (edge(2, "edge_padding_low")?, edge(3, "edge_padding_high")?);
        let interior = match dynamic {
            true => types::counted(cx.op, cx.numbers_of(4, "interior_padding")?, rank, "interior_padding")?,
            false => cx.ints("interior_padding", rank)?,
        };
        types::at_least(cx.op, &interior, 0, "interior_padding")?;
        Ok(Padding { low, high, interior })
    }

    /// The elements before those of each dimension, as numbers.
    fn low_numbers(&self) -> Option<Vec<i64>> {
        self.low.iter().map(|e| number(e).and_then(|v| i64::try_from(v).ok())).collect()
    }
}

/// `stablehlo.pad` and `dynamic_pad`: a guarded read; interior padding spreads the operand first.
pub(super) fn pad(cx: &mut Cx<'_, '_>) -> Result<()> {
    let own = cx.operand_type(0)?;
    let rank = own.space.rank();
    let amounts = Padding::of(cx, rank)?;
    let ty = cx.result_type(0)?;
    let x = cx.field(0)?;
    let padding = cx.field(1)?;
    if cx.space(padding).rank() != 0 || cx.dtype(padding) != own.dtype || ty.space.rank() != rank {
        return Err(cx.invalid("the padding value must be a scalar of the operand's element type"));
    }
    let steps: Vec<i64> = amounts.interior.iter().map(|&n| n.saturating_add(1)).collect();
    let inner = spread_space(cx, &own.space, &steps)?;
    for axis in 0..rank {
        let edges = cx.lift.plus(&amounts.low[axis], &amounts.high[axis]);
        let (wanted, found) = (cx.lift.plus(inner.extent(axis), &edges), ty.space.extent(axis).clone());
        if wanted != found && number(&wanted).is_some() && found.as_const().is_some() {
            return Err(cx.invalid(format!("dimension {axis} gets {wanted} positions, the result is {ty}")));
        }
        cx.lift.require_same(cx.op, &format!("the padded dimension {axis}"), &wanted, &found)?;
    }
    let Some(low) = amounts.low_numbers() else {
        return pad_after(cx, &ty, padding, &amounts);
    };
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

/// Padding before the elements that is symbolic: the operand is written over the padding.
fn pad_after(cx: &mut Cx<'_, '_>, ty: &TensorType, padding: FieldId, amounts: &Padding) -> Result<()> {
    for axis in 0..ty.space.rank() {
        for (edge, name) in [(&amounts.low, "edge_padding_low"), (&amounts.high, "edge_padding_high")] {
            let field = format!("{name}[{axis}]");
            let fact = Fact::new(Extent::Const(0), Relation::Le, edge[axis].clone());
            cx.lift.require(cx.op, &field, fact)?;
        }
        if amounts.interior[axis] != 0 {
            let field = format!("edge_padding_low[{axis}]");
            return Err(cx.lift.undecided(cx.op, &field, &amounts.low[axis], None));
        }
    }
    let around = cx.broadcast(padding, &ty.space)?;
    let mut args = vec![cx.stored(around), cx.var(0)?];
    args.extend(start_vars(cx, &amounts.low)?);
    let result = cx.call(LibOp::DynamicUpdateSlice, args, Vec::new())?[0];
    let field = cx.lift.function.tensor(result);
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
        let extent = space.extent(axis);
        let Some(size) = extent.as_const() else { return Some(cx.lift.spread(extent, step)) };
        if size == 0 || step == 1 {
            return Some(extent.clone());
        }
        let all = (size - 1).checked_mul(u64::try_from(step).ok()?)?.checked_add(1);
        all.filter(|&n| n < 1 << 46).map(Extent::Const)
    };
    let sizes = steps.iter().enumerate().map(size).collect::<Option<Vec<Extent>>>();
    sizes.map(Space::new).ok_or_else(|| cx.invalid("a dilation that overflows"))
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
    let map = cx.total(own, space, components)?;
    let field = cx.acc(op, map, x)?;
    Ok(cx.temp(field))
}
