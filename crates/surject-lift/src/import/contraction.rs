//! Contractions: sums of products over a product space, the axes of the result first, the summed axes behind.

use super::cx::{Cx, accumulator, fill};
use super::movement;
use super::state::Result;
use super::types;
use surject_index::{Affine, Extent, IndexMap, Space};
use surject_ir::{AccOp, BinaryOp, DType, FieldId, Scalar, TensorType};

/// The element type in which a sum of products is computed: the result's if the operands fit in it, else the widest
/// operand's; 16-bit floats are computed in `f32`. The precision and algorithm that the operation asks for are at
/// most this exact, so they are met.
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
    contract_axes(cx, batch, contract)
}

/// `stablehlo.dot`: the last axis of the left operand with the first one of the right operand.
pub(super) fn dot(cx: &mut Cx<'_, '_>) -> Result<()> {
    let (left, right) = (cx.operand_type(0)?.space.rank(), cx.operand_type(1)?.space.rank());
    if !(1..=2).contains(&left) || !(1..=2).contains(&right) {
        return Err(cx.invalid("the operands must be vectors or matrices"));
    }
    contract_axes(cx, [Vec::new(), Vec::new()], [vec![left - 1], vec![0]])
}

fn contract_axes(cx: &mut Cx<'_, '_>, batch: [Vec<usize>; 2], contract: [Vec<usize>; 2]) -> Result<()> {
    let (lhs, rhs) = (cx.field(0)?, cx.field(1)?);
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
        let map = IndexMap::total(product.clone(), spaces[side].clone(), components);
        maps.push(cx.map(map)?);
        let same = |&p: &usize, axis: usize| product.extent(p) == spaces[side].extent(axis);
        if !places[side].iter().enumerate().all(|(axis, p)| same(p, axis)) {
            return Err(cx.invalid("dimensions of different extents are batched or contracted together"));
        }
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
        let map = cx.map(IndexMap::total(product.clone(), cx.space(field), components))?;
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
fn grouped(cx: &Cx<'_, '_>, extent: i64, groups: i64, what: &str) -> Result<i64> {
    if groups < 1 || extent % groups != 0 {
        return Err(cx.invalid(format!("{what} of {extent} in {groups} groups")));
    }
    Ok(extent / groups)
}

/// `stablehlo.convolution`: loops over batch, groups, output features and output positions, then kernel positions
/// and input features. The input is read at `stride·o + dilation·k − low`, and is zero outside.
///
/// Groups split channels affinely: the output feature is `group · size + f`, so is the input feature (feature
/// groups) or the input batch (batch groups). A dilated input is spread first.
pub(super) fn convolution(cx: &mut Cx<'_, '_>) -> Result<()> {
    let conv = cx.attr(cx.op.conv())?;
    let dims = &conv.dims;
    let (input, kernel) = (cx.field(0)?, cx.field(1)?);
    let ty = cx.result_type(0)?;
    let window = dims.input_spatial.len();
    let rank = window + 2;
    let axes = |a: i64, b: i64, spatial: &[i64], ty: &TensorType, what: &str| {
        let all: Vec<i64> = [a, b].into_iter().chain(spatial.iter().copied()).collect();
        let all = types::counted(cx.op, all, rank, what)?;
        if ty.space.rank() != rank {
            return Err(cx.invalid(format!("{what} has type {ty}, its dimensions are {rank}")));
        }
        types::axes(cx.op, &all, rank, what)
    };
    // Batch or feature axes first, the spatial ones behind.
    let x_axes =
        axes(dims.input_batch, dims.input_feature, &dims.input_spatial, &cx.field_type(input), "input")?;
    let k_axes = axes(
        dims.kernel_input_feature,
        dims.kernel_output_feature,
        &dims.kernel_spatial,
        &cx.field_type(kernel),
        "kernel",
    )?;
    let y_axes = axes(dims.output_batch, dims.output_feature, &dims.output_spatial, &ty, "output")?;
    for (list, what) in [
        (conv.strides.len(), "window_strides"),
        (conv.padding.len(), "padding"),
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

    // The input with its elements apart.
    let mut steps = vec![1; rank];
    (0..window).for_each(|i| steps[x_axes[2 + i]] = conv.lhs_dilation[i]);
    let input = movement::spread(cx, input, AccOp::Add, &steps)?;

    let sizes = |space: &Space| space.sizes().unwrap_or_default();
    let (xs, ks, ys) = (sizes(&cx.space(input)), sizes(&cx.space(kernel)), sizes(&ty.space));
    let (fg, bg) = (conv.feature_group_count, conv.batch_group_count);
    let groups = fg.max(bg);
    if fg > 1 && bg > 1 {
        return Err(cx.invalid("both feature groups and batch groups"));
    }
    let features = grouped(cx, xs[x_axes[1]], fg, "an input feature dimension")?;
    let batch = grouped(cx, xs[x_axes[0]], bg, "an input batch dimension")?;
    let outputs = grouped(cx, ks[k_axes[1]], groups, "a kernel output feature dimension")?;
    if ks[k_axes[0]] != features || ys[y_axes[1]] != ks[k_axes[1]] || ys[y_axes[0]] != batch {
        return Err(cx.invalid("the features or batches of input, kernel and output do not fit together"));
    }
    for i in 0..window {
        let (low, high) = conv.padding[i];
        let size =
            |n: i64, dilation: i64| if n == 0 { 0 } else { (i128::from(n) - 1) * i128::from(dilation) + 1 };
        let padded = i128::from(xs[x_axes[2 + i]]) + i128::from(low) + i128::from(high);
        let reach = size(ks[k_axes[2 + i]], conv.rhs_dilation[i]);
        let count = if padded < reach || padded <= 0 {
            0
        } else {
            (padded - reach) / i128::from(conv.strides[i]) + 1
        };
        if count != i128::from(ys[y_axes[2 + i]]) {
            let found = ys[y_axes[2 + i]];
            return Err(
                cx.invalid(format!("spatial dimension {i} of the output has {found} positions for {count}"))
            );
        }
    }

    // The loops: the axes of the output in order, its feature axis split where there are groups; then the window
    // and the input features.
    let mut loops: Vec<u64> = Vec::new();
    let mut place = vec![0; rank];
    let mut group = None;
    for axis in 0..rank {
        if axis == y_axes[1] && groups > 1 {
            group = Some(loops.len());
            loops.push(groups as u64);
            place[axis] = loops.len();
            loops.push(outputs as u64);
        } else {
            place[axis] = loops.len();
            loops.push(ys[axis] as u64);
        }
    }
    let window_at = loops.len();
    loops.extend((0..window).map(|i| ks[k_axes[2 + i]] as u64));
    let feature_at = loops.len();
    loops.push(features as u64);
    let product = Space::of(&loops);
    let total = loops.len();

    // `group · size + axis`
    let split = |axis: usize, size: i64| {
        let mut expr = Affine::axis(total, axis);
        if let Some(group) = group {
            expr.coeffs[group] = size;
        }
        expr
    };
    let mut to_result = vec![Affine::fixed(total, 0); rank];
    (0..rank).for_each(|axis| to_result[axis] = Affine::axis(total, place[axis]));
    to_result[y_axes[1]] = split(place[y_axes[1]], outputs);
    let mut to_kernel = vec![Affine::fixed(total, 0); rank];
    to_kernel[k_axes[0]] = Affine::axis(total, feature_at);
    to_kernel[k_axes[1]] = to_result[y_axes[1]].clone();
    let mut to_input = vec![Affine::fixed(total, 0); rank];
    to_input[x_axes[0]] = split(place[y_axes[0]], if bg > 1 { batch } else { 0 });
    to_input[x_axes[1]] = split(feature_at, if fg > 1 { features } else { 0 });
    for i in 0..window {
        let axis = window_at + i;
        to_kernel[k_axes[2 + i]] = match conv.reversal[i] {
            true => Affine::strided(total, axis, -1, (ks[k_axes[2 + i]] - 1).max(0)),
            false => Affine::axis(total, axis),
        };
        let low = conv.padding[i].0.checked_neg().ok_or_else(|| cx.invalid("a padding that overflows"))?;
        let mut at = Affine::strided(total, place[y_axes[2 + i]], conv.strides[i], low);
        at.coeffs[axis] = conv.rhs_dilation[i];
        to_input[x_axes[2 + i]] = at;
    }
    let zero = Scalar::zero(sum_type(ty.dtype, [cx.dtype(input), cx.dtype(kernel)]));
    let to_input =
        cx.map(IndexMap::partial(product.clone(), cx.space(input), to_input, Vec::new(), fill(zero)))?;
    let to_kernel = cx.map(IndexMap::total(product.clone(), cx.space(kernel), to_kernel))?;
    let to_result = cx.map(IndexMap::total(product, ty.space.clone(), to_result))?;
    product_sum(cx, (input, to_input), (kernel, to_kernel), to_result)
}
