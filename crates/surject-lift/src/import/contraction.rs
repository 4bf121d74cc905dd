//! Contractions: sums of products over a product space, the axes of the result first, the summed axes behind.

use super::cx::{Cx, accumulator, fill};
use super::movement;
use super::pointwise;
use super::sizes::{integer, number};
use super::state::Result;
use super::types;
use crate::error::LiftError;
use surject_index::{Affine, Extent, IndexMap, Space};
use surject_ir::{AccOp, BinaryOp, DType, FieldId, Scalar};
use surject_stablehlo::{ConvAttrs, DotAlgorithm, ElementType};

/// The element type in which a sum of products is computed: the result's if the operands fit in it, else the widest
/// operand's; 16-bit floats are computed in `f32`. The precision and algorithm that the operation asks for are at
/// most this exact, so they are met; what asks for tf32 gets it.
fn sum_type(result: DType, operands: [DType; 2]) -> DType {
    let rank = |d: DType| (d.is_complex(), d.is_float(), d.bits());
    let fits = |d: DType| rank(d) <= rank(result);
    let dtype = if operands.into_iter().all(fits) {
        result
    } else {
        let [a, b] = operands;
        if rank(a) >= rank(b) { a } else { b }
    };
    accumulator(dtype)
}

/// Stores `acc + to_result (read to_lhs lhs · read to_rhs rhs)` as result 0.
fn product_sum(
    cx: &mut Cx<'_, '_>,
    (lhs, to_lhs): (FieldId, IndexMap),
    (rhs, to_rhs): (FieldId, IndexMap),
    to_result: IndexMap,
) -> Result<()> {
    let ty = cx.result_type(0)?;
    let dtype = sum_type(ty.dtype, [cx.dtype(lhs), cx.dtype(rhs)]);
    let (lhs, rhs) = (cx.convert(dtype, lhs), cx.convert(dtype, rhs));
    let (lhs, rhs) = (cx.read(to_lhs, lhs)?, cx.read(to_rhs, rhs)?);
    let product = cx.binary(BinaryOp::Mul, lhs, rhs)?;
    let projection = to_result.is_projection().is_some();
    let sum = cx.acc(AccOp::Add, to_result, product)?;
    let sum = if projection || dtype == ty.dtype { sum } else { cx.temp(sum) };
    let field = cx.convert(ty.dtype, sum);
    cx.store(0, field)
}

/// `stablehlo.dot_general`
pub(super) fn dot_general(cx: &mut Cx<'_, '_>) -> Result<()> {
    let dims = cx.attr(cx.op.dot_dims())?;
    let (left, right) = (cx.operand_type(0)?.space.rank(), cx.operand_type(1)?.space.rank());
    let batch = [
        types::axes(cx.op, &dims.batch_lhs, left, "lhs_batching_dimensions")?,
        types::axes(cx.op, &dims.batch_rhs, right, "rhs_batching_dimensions")?,
    ];
    let contract = [
        types::axes(cx.op, &dims.contract_lhs, left, "lhs_contracting_dimensions")?,
        types::axes(cx.op, &dims.contract_rhs, right, "rhs_contracting_dimensions")?,
    ];
    let rounding = match cx.op.dot_algorithm().is_some_and(asks_for_tf32) {
        true => Rounding::Tf32,
        false => Rounding::None,
    };
    contract_axes(cx, batch, contract, rounding)
}

/// How operands are rounded before they are multiplied.
#[derive(Clone, Copy)]
enum Rounding {
    None,
    /// Those of `f32` to 10 bits of mantissa.
    Tf32,
}

/// Does an algorithm ask for one product of operands that are rounded to tf32, summed in `f32`? With more products it asks
/// for about what `f32` gives.
fn asks_for_tf32(algorithm: &DotAlgorithm) -> bool {
    let operands = [&algorithm.lhs_precision_type, &algorithm.rhs_precision_type];
    operands.into_iter().all(|ty| *ty == ElementType::TF32)
        && algorithm.accumulation_type == ElementType::F32
        && [algorithm.lhs_component_count, algorithm.rhs_component_count, algorithm.num_primitive_operations]
            == [1; 3]
}

/// A field rounded to nearest even as an algorithm asks.
fn rounded(cx: &mut Cx<'_, '_>, field: FieldId, rounding: Rounding) -> Result<FieldId> {
    match rounding {
        Rounding::Tf32 if cx.dtype(field) == DType::F32 => {
            let rounded = cx.lift.function.fields.reduce_precision(8, 10, field);
            cx.typed(rounded)
        }
        Rounding::Tf32 | Rounding::None => Ok(field),
    }
}

/// `stablehlo.dot`: the last axis of the left operand with the first one of the right operand.
pub(super) fn dot(cx: &mut Cx<'_, '_>) -> Result<()> {
    let (left, right) = (cx.operand_type(0)?.space.rank(), cx.operand_type(1)?.space.rank());
    if !(1..=2).contains(&left) || !(1..=2).contains(&right) {
        return Err(cx.invalid("the operands must be vectors or matrices"));
    }
    contract_axes(cx, [Vec::new(), Vec::new()], [vec![left - 1], vec![0]], Rounding::None)
}

fn contract_axes(
    cx: &mut Cx<'_, '_>,
    batch: [Vec<usize>; 2],
    contract: [Vec<usize>; 2],
    rounding: Rounding,
) -> Result<()> {
    let (lhs, rhs) = (cx.field(0)?, cx.field(1)?);
    let (lhs, rhs) = (rounded(cx, lhs, rounding)?, rounded(cx, rhs, rounding)?);
    let spaces = [cx.space(lhs), cx.space(rhs)];
    if batch[0].len() != batch[1].len() || contract[0].len() != contract[1].len() {
        return Err(cx.invalid("the operands have different numbers of batching or contracting dimensions"));
    }
    for side in 0..2 {
        if batch[side].iter().any(|a| contract[side].contains(a)) {
            return Err(cx.invalid("a dimension is both batching and contracting"));
        }
    }
    // Axes of the product space: batch, free of the left, free of the right, contracted.
    let mut extents: Vec<Extent> = batch[0].iter().map(|&a| spaces[0].extent(a).clone()).collect();
    let mut places = [vec![usize::MAX; spaces[0].rank()], vec![usize::MAX; spaces[1].rank()]];
    for side in 0..2 {
        batch[side].iter().enumerate().for_each(|(place, &axis)| places[side][axis] = place);
        for (axis, place) in places[side].iter_mut().enumerate() {
            if !batch[side].contains(&axis) && !contract[side].contains(&axis) {
                *place = extents.len();
                extents.push(spaces[side].extent(axis).clone());
            }
        }
    }
    let kept = extents.len();
    for side in 0..2 {
        contract[side].iter().enumerate().for_each(|(i, &axis)| places[side][axis] = kept + i);
    }
    extents.extend(contract[0].iter().map(|&a| spaces[0].extent(a).clone()));
    let product = Space::new(extents);
    let mut maps = Vec::new();
    for side in 0..2 {
        let components = places[side].iter().map(|&p| Affine::axis(product.rank(), p)).collect();
        let wrong = || "dimensions of different extents are batched or contracted together".to_string();
        for (axis, &p) in places[side].iter().enumerate() {
            let field = format!("dimension {axis} of operand {side}");
            fit(cx, &field, product.extent(p), spaces[side].extent(axis), wrong)?;
        }
        maps.push(cx.total(product.clone(), spaces[side].clone(), components)?);
    }
    let to_result = IndexMap::projection(&product, &(0..kept).collect::<Vec<_>>());
    let to_rhs = maps.pop().unwrap_or_else(|| to_result.clone());
    let to_lhs = maps.pop().unwrap_or_else(|| to_result.clone());
    product_sum(cx, (lhs, to_lhs), (rhs, to_rhs), to_result)
}

/// `stablehlo.einsum` and `unary_einsum`: one loop a letter. A letter that an operand repeats reads its diagonal.
pub(super) fn einsum(cx: &mut Cx<'_, '_>) -> Result<()> {
    let config = cx.attr(cx.op.string("einsum_config"))?;
    let config: String = config.chars().filter(|c| !c.is_whitespace()).collect();
    let Some((operands, result)) = config.split_once("->") else {
        return Err(cx.unsupported("an einsum without `->`"));
    };
    let operands: Vec<&str> = operands.split(',').collect();
    let letters_only = |s: &str| s.chars().all(|c| c.is_ascii_alphabetic());
    if !letters_only(result) || !operands.iter().all(|s| letters_only(s)) {
        return Err(cx.unsupported(format!("the einsum `{config}` (only letters are supported)")));
    }
    if operands.len() != cx.op.operands.len() {
        return Err(cx.invalid(format!("the einsum `{config}` for {} operands", cx.op.operands.len())));
    }
    let fields = (0..operands.len()).map(|i| cx.field(i)).collect::<Result<Vec<_>>>()?;
    let mut loops: Vec<char> = Vec::new();
    for c in result.chars().chain(operands.iter().flat_map(|s| s.chars())) {
        if !loops.contains(&c) {
            loops.push(c);
        }
    }
    if result.chars().enumerate().any(|(i, c)| loops.get(i) != Some(&c)) {
        return Err(cx.invalid(format!("the result of the einsum `{config}` repeats a letter")));
    }
    let mut extents: Vec<Option<Extent>> = vec![None; loops.len()];
    for (&field, letters) in fields.iter().zip(&operands) {
        let space = cx.space(field);
        if space.rank() != letters.len() {
            return Err(cx.invalid(format!("an operand of shape {space} for `{letters}`")));
        }
        for (c, extent) in letters.chars().zip(space.extents()) {
            let place = loops.iter().position(|&l| l == c).unwrap_or_default();
            if extents[place].get_or_insert_with(|| extent.clone()) != extent {
                return Err(cx.invalid(format!("`{c}` has two extents in the einsum `{config}`")));
            }
        }
    }
    let Some(extents) = extents.into_iter().collect::<Option<Vec<_>>>() else {
        return Err(cx.invalid(format!("the result of the einsum `{config}` has a letter of its own")));
    };
    let product = Space::new(extents);
    let mut reads = Vec::new();
    for (&field, letters) in fields.iter().zip(&operands) {
        let place = |c| loops.iter().position(|&l| l == c).unwrap_or_default();
        let components = letters.chars().map(|c| Affine::axis(product.rank(), place(c))).collect();
        let map = cx.total(product.clone(), cx.space(field), components)?;
        reads.push((field, map));
    }
    let to_result = IndexMap::projection(&product, &(0..result.len()).collect::<Vec<_>>());
    let mut reads = reads.into_iter();
    match (reads.next(), reads.next()) {
        (Some(lhs), Some(rhs)) => product_sum(cx, lhs, rhs, to_result),
        (Some((x, map)), None) => {
            let x = cx.read(map, x)?;
            let field = if to_result.is_identity() { x } else { cx.accumulate(AccOp::Add, to_result, x)? };
            cx.store(0, field)
        }
        _ => Err(cx.invalid("no operand")),
    }
}

/// Splits an extent into groups.
fn grouped(cx: &Cx<'_, '_>, extent: &Extent, groups: i64, what: &str) -> Result<Extent> {
    if groups == 1 {
        return Ok(extent.clone());
    }
    let size = cx.lift.constant_size(cx.op, what, extent)?;
    match u64::try_from(groups).ok().filter(|&g| g >= 1 && size % g == 0) {
        Some(count) => Ok(Extent::Const(size / count)),
        None => Err(cx.invalid(format!("{what} of {size} in {groups} groups"))),
    }
}

/// The positions before and behind the input along each spatial dimension.
type Edges = Vec<(Extent, Extent)>;

/// The attributes of a convolution, whose lists fit the rank. The padding of `dynamic_conv` is its third operand; where it is
/// symbolic, the one of the attributes is empty.
fn attributes(cx: &mut Cx<'_, '_>) -> Result<(ConvAttrs, Edges)> {
    let edges: Edges = match cx.op.name == "stablehlo.dynamic_conv" {
        true => {
            let all = cx.integers_of(2, "padding")?;
            all.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
        }
        false => {
            let pairs = cx.attr(cx.op.pairs("padding"))?;
            pairs.iter().filter_map(|&(l, h)| Some((integer(l.into())?, integer(h.into())?))).collect()
        }
    };
    for (i, (low, high)) in edges.iter().enumerate() {
        for edge in [low, high] {
            if super::sizes::depends_on_data(std::slice::from_ref(edge)) {
                return Err(cx.lift.undecided(cx.op, &format!("padding[{i}]"), edge, None));
            }
        }
    }
    let small = |e: &Extent| number(e).and_then(|n| i64::try_from(n).ok());
    let padding: Option<Vec<(i64, i64)>> = edges.iter().map(|(l, h)| Some((small(l)?, small(h)?))).collect();
    let padding = padding.unwrap_or_default();
    let op = cx.op;
    let conv = ConvAttrs {
        dims: cx.attr(op.conv_dims())?.clone(),
        strides: cx.attr(op.ints("window_strides"))?.to_vec(),
        padding,
        lhs_dilation: cx.attr(op.ints("lhs_dilation"))?.to_vec(),
        rhs_dilation: cx.attr(op.ints("rhs_dilation"))?.to_vec(),
        reversal: cx.attr(op.bools("window_reversal"))?.to_vec(),
        feature_group_count: cx.attr(op.int("feature_group_count"))?,
        batch_group_count: cx.attr(op.int("batch_group_count"))?,
    };
    let window = conv.dims.input_spatial.len();
    for (list, what) in [
        (conv.strides.len(), "window_strides"),
        (edges.len(), "padding"),
        (conv.lhs_dilation.len(), "lhs_dilation"),
        (conv.rhs_dilation.len(), "rhs_dilation"),
        (conv.reversal.len(), "window_reversal"),
    ] {
        if list != window {
            return Err(cx.invalid(format!("{what} has {list} entries where {window} are needed")));
        }
    }
    types::at_least(cx.op, &conv.strides, 1, "window_strides")?;
    types::at_least(cx.op, &conv.lhs_dilation, 1, "lhs_dilation")?;
    types::at_least(cx.op, &conv.rhs_dilation, 1, "rhs_dilation")?;
    Ok((conv, edges))
}

/// The axes of an operand or of the result: batch or feature axes first, the spatial ones behind.
fn conv_axes(
    cx: &Cx<'_, '_>,
    a: i64,
    b: i64,
    spatial: &[i64],
    rank: usize,
    what: &str,
) -> Result<Vec<usize>> {
    let all: Vec<i64> = [a, b].into_iter().chain(spatial.iter().copied()).collect();
    let count = spatial.len() + 2;
    if rank != count {
        return Err(cx.invalid(format!("{what} has {rank} dimensions where {count} are needed")));
    }
    types::axes(cx.op, &all, count, what)
}

/// The axes of input, kernel and output.
fn all_axes(cx: &Cx<'_, '_>, conv: &ConvAttrs, output: usize) -> Result<[Vec<usize>; 3]> {
    let dims = &conv.dims;
    let rank = |i: usize| Ok::<usize, LiftError>(cx.operand_type(i)?.space.rank());
    let (input, kernel) = (rank(0)?, rank(1)?);
    let (feature, out) = (dims.kernel_input_feature, dims.kernel_output_feature);
    Ok([
        conv_axes(cx, dims.input_batch, dims.input_feature, &dims.input_spatial, input, "input")?,
        conv_axes(cx, feature, out, &dims.kernel_spatial, kernel, "kernel")?,
        conv_axes(cx, dims.output_batch, dims.output_feature, &dims.output_spatial, output, "output")?,
    ])
}

/// How many positions the windows have along a spatial dimension of the input, its elements already apart.
fn positions(
    cx: &Cx<'_, '_>,
    (conv, edges): (&ConvAttrs, &Edges),
    i: usize,
    input: &Extent,
    kernel: &Extent,
) -> Extent {
    let (low, high) = &edges[i];
    let padded = cx.lift.plus(input, &cx.lift.plus(low, high));
    let reach = cx.lift.spread(kernel, conv.rhs_dilation[i]);
    // Nothing is left where all is cut away.
    if number(&padded).is_some_and(|n| n <= 0) {
        return Extent::Const(0);
    }
    cx.lift.windows(&padded, &reach, conv.strides[i])
}

/// The shape of the result of a convolution.
pub(super) fn convolution_shape(cx: &mut Cx<'_, '_>) -> Result<Vec<Extent>> {
    let (conv, edges) = attributes(cx)?;
    let (input, kernel) = (cx.operand_type(0)?.space, cx.operand_type(1)?.space);
    let [x_axes, k_axes, y_axes] = all_axes(cx, &conv, conv.dims.output_spatial.len() + 2)?;
    let mut shape = vec![Extent::Const(0); y_axes.len()];
    shape[y_axes[0]] =
        grouped(cx, input.extent(x_axes[0]), conv.batch_group_count, "an input batch dimension")?;
    shape[y_axes[1]] = kernel.extent(k_axes[1]).clone();
    for i in 0..conv.dims.input_spatial.len() {
        let inner = cx.lift.spread(input.extent(x_axes[2 + i]), conv.lhs_dilation[i]);
        shape[y_axes[2 + i]] = positions(cx, (&conv, &edges), i, &inner, kernel.extent(k_axes[2 + i]));
    }
    Ok(shape)
}

/// Two sizes that a convolution takes to be one.
fn fit(cx: &mut Cx<'_, '_>, field: &str, a: &Extent, b: &Extent, wrong: impl Fn() -> String) -> Result<()> {
    if a != b && a.as_const().is_some() && b.as_const().is_some() {
        return Err(cx.invalid(wrong()));
    }
    cx.lift.require_same(cx.op, field, a, b)
}

/// `stablehlo.convolution` and `dynamic_conv`: loops over batch, groups, output features and output positions, then
/// kernel positions and input features. The input is read at `stride·o + dilation·k − low`, and is zero outside.
///
/// Groups split channels affinely: the output feature is `group · size + f`, so is the input feature (feature
/// groups) or the input batch (batch groups). A dilated input is spread first.
pub(super) fn convolution(cx: &mut Cx<'_, '_>) -> Result<()> {
    let (conv, edges) = attributes(cx)?;
    let (input, kernel) = (cx.field(0)?, cx.field(1)?);
    let ty = cx.result_type(0)?;
    let window = conv.dims.input_spatial.len();
    let rank = window + 2;
    let [x_axes, k_axes, y_axes] = all_axes(cx, &conv, ty.space.rank())?;

    // The input with its elements apart.
    let mut steps = vec![1; rank];
    (0..window).for_each(|i| steps[x_axes[2 + i]] = conv.lhs_dilation[i]);
    let input = movement::spread(cx, input, AccOp::Add, &steps)?;

    let (xs, ks, ys) = (cx.space(input), cx.space(kernel), ty.space.clone());
    let (fg, bg) = (conv.feature_group_count, conv.batch_group_count);
    let groups = fg.max(bg);
    if fg > 1 && bg > 1 {
        return Err(cx.invalid("both feature groups and batch groups"));
    }
    let features = grouped(cx, xs.extent(x_axes[1]), fg, "an input feature dimension")?;
    let batch = grouped(cx, xs.extent(x_axes[0]), bg, "an input batch dimension")?;
    let outputs = grouped(cx, ks.extent(k_axes[1]), groups, "a kernel output feature dimension")?;
    let together = || "the features or batches of input, kernel and output do not fit together".to_string();
    fit(cx, "the input features", ks.extent(k_axes[0]), &features, together)?;
    fit(cx, "the output features", ys.extent(y_axes[1]), ks.extent(k_axes[1]), together)?;
    fit(cx, "the batch", ys.extent(y_axes[0]), &batch, together)?;
    for i in 0..window {
        let count = positions(cx, (&conv, &edges), i, xs.extent(x_axes[2 + i]), ks.extent(k_axes[2 + i]));
        let found = ys.extent(y_axes[2 + i]);
        let wrong = || format!("spatial dimension {i} of the output has {found} positions for {count}");
        fit(cx, &format!("spatial dimension {i} of the output"), &count, found, wrong)?;
    }

    // The loops: the axes of the output in order, its feature axis split where there are groups; then the window
    // and the input features.
    let mut loops: Vec<Extent> = Vec::new();
    let mut place = Vec::new();
    let mut group = None;
    for (axis, extent) in ys.extents().iter().enumerate() {
        let grouped = axis == y_axes[1] && groups > 1;
        if grouped {
            group = Some(loops.len());
            loops.push(Extent::Const(groups.unsigned_abs()));
        }
        place.push(loops.len());
        loops.push(if grouped { outputs.clone() } else { extent.clone() });
    }
    let window_at = loops.len();
    loops.extend((0..window).map(|i| ks.extent(k_axes[2 + i]).clone()));
    let feature_at = loops.len();
    loops.push(features.clone());
    let product = Space::new(loops);
    let total = product.rank();

    // `group · size + axis`
    let stride = |size: &Extent| match group {
        None => Ok(0),
        Some(_) => {
            let size = cx.lift.constant_size(cx.op, "a group of features or batches", size)?;
            i64::try_from(size).map_err(|_| cx.invalid("a group that overflows"))
        }
    };
    let split = |axis: usize, size: i64| {
        let mut expr = Affine::axis(total, axis);
        if let Some(group) = group {
            expr.coeffs[group] = size;
        }
        expr
    };
    let mut to_result = vec![Affine::fixed(total, 0); rank];
    (0..rank).for_each(|axis| to_result[axis] = Affine::axis(total, place[axis]));
    // Where there are groups, these sizes are constants.
    to_result[y_axes[1]] = split(place[y_axes[1]], stride(&outputs)?);
    let mut to_kernel = vec![Affine::fixed(total, 0); rank];
    to_kernel[k_axes[0]] = Affine::axis(total, feature_at);
    to_kernel[k_axes[1]] = to_result[y_axes[1]].clone();
    let mut to_input = vec![Affine::fixed(total, 0); rank];
    to_input[x_axes[0]] = split(place[y_axes[0]], if bg > 1 { stride(&batch)? } else { 0 });
    to_input[x_axes[1]] = split(feature_at, if fg > 1 { stride(&features)? } else { 0 });
    for i in 0..window {
        let axis = window_at + i;
        let reach = ks.extent(k_axes[2 + i]);
        to_kernel[k_axes[2 + i]] = match conv.reversal[i] {
            true => {
                let size = cx.lift.constant_size(cx.op, "a reversed kernel dimension", reach)?;
                Affine::strided(total, axis, -1, i64::try_from(size).unwrap_or(i64::MAX).max(1) - 1)
            }
            false => Affine::axis(total, axis),
        };
        // A symbolic padding is taken away from the position later.
        let low = conv.padding.get(i).map_or(Some(0), |p| p.0.checked_neg());
        let low = low.ok_or_else(|| cx.invalid("a padding that overflows"))?;
        let mut at = Affine::strided(total, place[y_axes[2 + i]], conv.strides[i], low);
        at.coeffs[axis] = conv.rhs_dilation[i];
        to_input[x_axes[2 + i]] = at;
    }
    let zero = Scalar::zero(sum_type(ty.dtype, [cx.dtype(input), cx.dtype(kernel)]));
    let (input, to_input) = if conv.padding.len() == window {
        let own = cx.space(input);
        let map = IndexMap::partial(product.clone(), own, to_input, Vec::new(), fill(zero));
        (input, cx.map(map)?)
    } else {
        let mut less = vec![Extent::Const(0); rank];
        (0..window).for_each(|i| less[x_axes[2 + i]] = edges[i].0.clone());
        let inside = pointwise::inside(cx, input, &product, &to_input, &less)?;
        (cx.temp(inside), IndexMap::identity(&product))
    };
    let to_kernel = cx.total(product.clone(), cx.space(kernel), to_kernel)?;
    let to_result = cx.total(product, ty.space.clone(), to_result)?;
    product_sum(cx, (input, to_input), (kernel, to_kernel), to_result)
}
