//! Movements whose positions are no affine maps with constant coefficients: a reshape that merges axes of symbolic sizes,
//! slices of symbolic sizes, windows as wide as an axis. The position in every axis is computed as data, and a gather of
//! single elements reads there.

use super::cx::{Cx, fill};
use super::reduction;
use super::state::Result;
use surject_index::{Affine, Extent, IndexMap, Space};
use surject_ir::{AccOp, BinaryOp, DType, FieldId, GatherDims, LibOp, Scalar};
use surject_stablehlo::WindowAttrs;

/// A size at every point of a space.
fn size(cx: &mut Cx<'_, '_>, extent: &Extent, space: &Space) -> Result<FieldId> {
    let field = cx.lift.size_field(cx.op, extent)?;
    let field = if cx.const_of(field).is_some() { field } else { cx.temp(field) };
    cx.broadcast(field, space)
}

/// `x` at a position of every point of a space: one integer for each axis of `x`, inside it.
fn at(cx: &mut Cx<'_, '_>, x: FieldId, space: &Space, positions: Vec<FieldId>) -> Result<FieldId> {
    let own = cx.space(x);
    let rank = own.rank();
    if rank == 0 {
        return cx.broadcast(x, space);
    }
    // A gather reads one element of every axis, also where there is nothing to read: axes that may be empty get one more.
    let may_be_empty = |e: &Extent| !cx.lift.sizes.facts.is_positive(e).is_yes();
    let mut x = x;
    if own.extents().iter().any(may_be_empty) {
        let longer =
            |e: &Extent| if may_be_empty(e) { cx.lift.plus(e, &Extent::Const(1)) } else { e.clone() };
        let longer = Space::new(own.extents().iter().map(longer).collect::<Vec<_>>());
        let components = (0..rank).map(|a| Affine::axis(rank, a)).collect();
        let zero = fill(Scalar::zero(cx.dtype(x)));
        let map = cx.map(IndexMap::partial(longer, own, components, Vec::new(), zero))?;
        x = cx.read(map, x)?;
    }
    let around = space.product(&Space::of(&[rank as u64]));
    let drop_last = IndexMap::projection(&around, &(0..space.rank()).collect::<Vec<_>>());
    let which = cx.index(&around, space.rank(), DType::I64)?;
    let mut all: Option<FieldId> = None;
    for (axis, position) in positions.into_iter().enumerate() {
        let position = cx.temp(position);
        let position = cx.read(drop_last.clone(), position)?;
        all = Some(match all {
            None => position,
            Some(rest) => {
                let here = cx.constant(&around, Scalar::from_i128(DType::I64, axis as i128));
                let here = cx.binary(BinaryOp::Eq, which, here)?;
                cx.select(here, position, rest)?
            }
        });
    }
    let Some(indices) = all else { return Err(cx.invalid("a position without axes")) };
    let dims = GatherDims {
        collapsed_slice_dims: (0..rank).collect(),
        start_index_map: (0..rank).collect(),
        index_vector_dim: space.rank(),
        ..GatherDims::default()
    };
    let args = vec![cx.stored(x), cx.stored(indices)];
    let gather = LibOp::Gather { dims, slice_sizes: vec![1; rank], indices_are_sorted: false };
    let result = cx.call(gather, args, Vec::new())?[0];
    Ok(cx.lift.function.tensor(result))
}

/// A field with its points in row-major order under another shape of as many elements.
pub(super) fn reshaped(cx: &mut Cx<'_, '_>, x: FieldId, space: &Space) -> Result<FieldId> {
    let own = cx.space(x);
    // The number of a point, then its positions from the last axis on.
    let mut number = cx.constant(space, Scalar::zero(DType::I64));
    for axis in 0..space.rank() {
        let extent = size(cx, space.extent(axis), space)?;
        let index = cx.index(space, axis, DType::I64)?;
        let before = cx.binary(BinaryOp::Mul, number, extent)?;
        number = cx.binary(BinaryOp::Add, before, index)?;
    }
    let mut positions = Vec::new();
    for axis in (0..own.rank()).rev() {
        let extent = size(cx, own.extent(axis), space)?;
        positions.insert(0, cx.binary(BinaryOp::Rem, number, extent)?);
        number = cx.binary(BinaryOp::Div, number, extent)?;
    }
    at(cx, x, space, positions)
}

/// A field with some axes reversed.
pub(super) fn reversed(cx: &mut Cx<'_, '_>, x: FieldId, axes: &[usize]) -> Result<FieldId> {
    let own = cx.space(x);
    let mut positions = Vec::new();
    for axis in 0..own.rank() {
        let index = cx.index(&own, axis, DType::I64)?;
        positions.push(match axes.contains(&axis) {
            false => index,
            true => {
                let last = cx.lift.minus(own.extent(axis), &Extent::Const(1));
                let last = size(cx, &last, &own)?;
                cx.binary(BinaryOp::Sub, last, index)?
            }
        });
    }
    at(cx, x, &own, positions)
}

/// The elements `starts + strides * p` of the points `p` of a space.
pub(super) fn sliced(
    cx: &mut Cx<'_, '_>,
    x: FieldId,
    space: &Space,
    starts: &[Extent],
    strides: &[i64],
) -> Result<FieldId> {
    let mut positions = Vec::new();
    for axis in 0..space.rank() {
        let index = cx.index(space, axis, DType::I64)?;
        let stride = cx.constant(space, Scalar::from_i128(DType::I64, strides[axis].into()));
        let steps = cx.binary(BinaryOp::Mul, index, stride)?;
        let start = size(cx, &starts[axis], space)?;
        positions.push(cx.binary(BinaryOp::Add, start, steps)?);
    }
    at(cx, x, space, positions)
}

/// What a window with symbolic sizes or paddings gives: `op` over the elements of each window that are inside.
pub(super) fn windowed(
    cx: &mut Cx<'_, '_>,
    op: AccOp,
    (x, init): (FieldId, FieldId),
    window: &SymbolicWindow,
    result: &Space,
) -> Result<FieldId> {
    let product = window.product(result);
    let neutral = cx.constant(&product, op.neutral(cx.dtype(x)));
    let value = in_windows(cx, x, neutral, window, &product)?;
    let to_result = IndexMap::projection(&product, &(0..result.rank()).collect::<Vec<_>>());
    cx.accumulate_from(op, init, to_result, value)
}

/// The element of `x` at every place of every window, and `outside` where there is none: in the padding and in the holes of a
/// dilated base.
pub(super) fn in_windows(
    cx: &mut Cx<'_, '_>,
    x: FieldId,
    outside: FieldId,
    window: &SymbolicWindow,
    product: &Space,
) -> Result<FieldId> {
    let own = cx.space(x);
    let rank = own.rank();
    let integer = |value: i64| Scalar::from_i128(DType::I64, value.into());
    let zero = cx.constant(product, integer(0));
    let mut positions = Vec::new();
    let mut inside = cx.constant(product, Scalar::bool(true));
    for axis in 0..rank {
        let mut scaled = |along: usize, by: i64| {
            let index = cx.index(product, along, DType::I64)?;
            let by = cx.constant(product, integer(by));
            cx.binary(BinaryOp::Mul, index, by)
        };
        let (at, within) =
            (scaled(axis, window.strides[axis])?, scaled(rank + axis, window.window_dilations[axis])?);
        let low = size(cx, &window.low[axis], product)?;
        let position = cx.binary(BinaryOp::Add, at, within)?;
        let mut position = cx.binary(BinaryOp::Sub, position, low)?;
        let above = cx.binary(BinaryOp::Ge, position, zero)?;
        inside = cx.binary(BinaryOp::And, inside, above)?;
        if window.base_dilations[axis] != 1 {
            let base = cx.constant(product, integer(window.base_dilations[axis]));
            let gap = cx.binary(BinaryOp::Rem, position, base)?;
            let filled = cx.binary(BinaryOp::Eq, gap, zero)?;
            inside = cx.binary(BinaryOp::And, inside, filled)?;
            position = cx.binary(BinaryOp::Div, position, base)?;
        }
        let end = size(cx, own.extent(axis), product)?;
        let below = cx.binary(BinaryOp::Lt, position, end)?;
        inside = cx.binary(BinaryOp::And, inside, below)?;
        positions.push(position);
    }
    let value = at(cx, x, product, positions)?;
    cx.select(inside, value, outside)
}

/// `x` at the positions `components - less` of the points of a space, and zero where these are outside.
pub(super) fn inside(
    cx: &mut Cx<'_, '_>,
    x: FieldId,
    space: &Space,
    components: &[Affine],
    less: &[Extent],
) -> Result<FieldId> {
    let own = cx.space(x);
    let integer = |value: i64| Scalar::from_i128(DType::I64, value.into());
    let zero = cx.constant(space, integer(0));
    let mut positions = Vec::new();
    let mut inside = cx.constant(space, Scalar::bool(true));
    for (axis, component) in components.iter().enumerate() {
        let mut position = cx.constant(space, integer(component.offset));
        for (along, &coefficient) in component.coeffs.iter().enumerate().filter(|(_, c)| **c != 0) {
            let index = cx.index(space, along, DType::I64)?;
            let coefficient = cx.constant(space, integer(coefficient));
            let term = cx.binary(BinaryOp::Mul, index, coefficient)?;
            position = cx.binary(BinaryOp::Add, position, term)?;
        }
        let less = size(cx, &less[axis], space)?;
        position = cx.binary(BinaryOp::Sub, position, less)?;
        let end = size(cx, own.extent(axis), space)?;
        let above = cx.binary(BinaryOp::Ge, position, zero)?;
        let below = cx.binary(BinaryOp::Lt, position, end)?;
        let here = cx.binary(BinaryOp::And, above, below)?;
        inside = cx.binary(BinaryOp::And, inside, here)?;
        positions.push(position);
    }
    let value = at(cx, x, space, positions)?;
    let nothing = cx.constant(space, Scalar::zero(cx.dtype(x)));
    cx.select(inside, value, nothing)
}

/// A window whose sizes and paddings may be symbolic.
pub(super) struct SymbolicWindow {
    pub(super) dimensions: Vec<Extent>,
    pub(super) strides: Vec<i64>,
    pub(super) base_dilations: Vec<i64>,
    pub(super) window_dilations: Vec<i64>,
    pub(super) low: Vec<Extent>,
    pub(super) high: Vec<Extent>,
}

impl SymbolicWindow {
    /// The window of `custom_call @stablehlo.dynamic_reduce_window` over a tensor of this rank.
    pub(super) fn of(cx: &mut Cx<'_, '_>, rank: usize) -> Result<SymbolicWindow> {
        let first = 2 * cx.op.results.len();
        let dimensions = cx.sizes_of(first, "window_dimensions")?;
        let strides = cx.numbers_of(first + 1, "window_strides")?;
        let base_dilations = cx.numbers_of(first + 2, "base_dilations")?;
        let window_dilations = cx.numbers_of(first + 3, "window_dilations")?;
        let padding = cx.integers_of(first + 4, "padding")?;
        let (low, high): (Vec<Extent>, Vec<Extent>) =
            padding.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).unzip();
        let counts = [dimensions.len(), low.len(), high.len()].into_iter();
        let numbers = [&strides, &base_dilations, &window_dilations];
        if !counts.chain(numbers.map(Vec::len)).all(|count| count == rank) {
            return Err(cx.invalid(format!("a window of other axes than the {rank} of its operand")));
        }
        if numbers.into_iter().flatten().any(|&n| n < 1) {
            return Err(cx.invalid("a stride or a dilation below 1"));
        }
        Ok(SymbolicWindow { dimensions, strides, base_dilations, window_dilations, low, high })
    }

    /// The points of the result, and for each those of its window.
    pub(super) fn product(&self, result: &Space) -> Space {
        result.product(&Space::new(self.dimensions.iter().cloned()))
    }

    /// The shape of what the windows of a tensor of this shape give.
    pub(super) fn shape(&self, cx: &Cx<'_, '_>, shape: &[Extent]) -> Option<Vec<Extent>> {
        let one = |axis: usize| {
            let edges = cx.lift.plus(self.low.get(axis)?, self.high.get(axis)?);
            let inner = cx.lift.spread(&shape[axis], *self.base_dilations.get(axis)?);
            let padded = cx.lift.plus(&inner, &edges);
            let gaps = cx.lift.minus(self.dimensions.get(axis)?, &Extent::Const(1));
            let dilation = Extent::Const(self.window_dilations.get(axis)?.unsigned_abs());
            let reach = cx.lift.plus(&cx.lift.times(&gaps, &dilation), &Extent::Const(1));
            Some(cx.lift.windows(&padded, &reach, *self.strides.get(axis)?))
        };
        (0..shape.len()).map(one).collect()
    }
}

/// The same window with numbers, if it has only these.
pub(super) fn numbers(cx: &mut Cx<'_, '_>, rank: usize) -> Result<Option<WindowAttrs>> {
    let first = 2 * cx.op.results.len();
    for i in 0..5 {
        let Some(known) = cx.known(first + i)? else { continue };
        if known.elements.iter().any(|e| super::sizes::number(e).is_none()) {
            return Ok(None);
        }
    }
    reduction::dynamic_window(cx, rank).map(Some)
}
