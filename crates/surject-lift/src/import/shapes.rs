//! The shapes of results whose declared types have a `?`: what the operands say, as exact expressions.

use super::cx::Cx;
use super::sizes::Sizes;
use super::state::Result;
use super::types;
use crate::error::{LiftError, Place};
use surject_index::{Extent, Fact, Observed, Relation, UnsupportedDynamicShape};
use surject_ir::TensorType;
use surject_stablehlo::{Attribute, Dim};

type Shape = Vec<Extent>;

/// Infers the types of results that are declared with a `?`, for [`Cx::result_type`].
pub(super) fn infer(cx: &mut Cx<'_, '_>) -> Result<()> {
    let declared = |i: usize| cx.lift.module.tensor(cx.op.results[i]);
    let is_dynamic = |i: usize| declared(i).is_some_and(|t| t.shape.contains(&Dim::Dynamic));
    if !(0..cx.op.results.len()).any(is_dynamic) || later(&cx.op.name) {
        return Ok(());
    }
    for i in 0..cx.op.results.len() {
        let Some(declared) = cx.lift.module.tensor(cx.op.results[i]) else { continue };
        if !declared.shape.contains(&Dim::Dynamic) {
            continue;
        }
        let dtype = types::dynamic(cx.op, declared)?;
        let found = match shape(cx, i)? {
            Some(found) => found,
            None => {
                let axis = declared.shape.iter().position(|d| *d == Dim::Dynamic).unwrap_or(0);
                let shape = UnsupportedDynamicShape {
                    primitive: cx.op.name.to_string(),
                    field: format!("dimension {axis} of result {i}"),
                    needed: "the exact size",
                    observed: Observed::Unknown,
                };
                let place = Place::of(cx.op);
                return Err(LiftError::Dynamic { shape: Box::new(shape), fact: None, place });
            }
        };
        let space = cx.lift.claim(cx.op, &format!("result {i}"), declared, found)?;
        cx.lift.sizes.types.insert(cx.op.results[i], TensorType::new(dtype, space));
    }
    Ok(())
}

/// Operations whose results get their types when their regions or callees are lifted.
fn later(name: &str) -> bool {
    matches!(
        name,
        "func.call"
            | "stablehlo.composite"
            | "stablehlo.if"
            | "stablehlo.case"
            | "stablehlo.while"
            | "stablehlo.get_tuple_element"
            | "stablehlo.optimization_barrier"
    )
}

/// The operands of an elementwise operation have one shape.
pub(super) fn agree(cx: &mut Cx<'_, '_>) -> Result<()> {
    let Some(name) = cx.op.name.strip_prefix("stablehlo.") else { return Ok(()) };
    let elementwise = super::elementwise::binary_op(name).is_some()
        || matches!(name, "compare" | "select" | "clamp" | "sort" | "map");
    if !elementwise {
        return Ok(());
    }
    let types = (0..cx.op.operands.len()).map(|i| cx.operand_type(i)).collect::<Result<Vec<_>>>()?;
    // The condition of a choice and the bounds of a clamp may have rank 0.
    let main = if matches!(name, "select" | "clamp") { 1 } else { 0 };
    let Some(first) = types.get(main).map(|t| t.space.clone()) else { return Ok(()) };
    for (i, ty) in types.iter().enumerate() {
        if ty.space.rank() != first.rank() {
            continue;
        }
        for axis in 0..first.rank() {
            let field = format!("dimension {axis} of operand {i}");
            cx.lift.require_same(cx.op, &field, ty.space.extent(axis), first.extent(axis))?;
        }
    }
    Ok(())
}

/// The shape of a result, where the operation is one whose shape is known from its operands.
fn shape(cx: &mut Cx<'_, '_>, result: usize) -> Result<Option<Shape>> {
    let own =
        |cx: &Cx<'_, '_>, i: usize| Ok::<Shape, LiftError>(cx.operand_type(i)?.space.extents().to_vec());
    let Some((dialect, name)) = cx.op.name.split_once('.') else { return Ok(None) };
    if dialect == "chlo" {
        return chlo(cx, name, result);
    }
    if super::elementwise::unary_op(name).is_some() || super::elementwise::binary_op(name).is_some() {
        return own(cx, 0).map(Some);
    }
    Ok(Some(match name {
        "convert"
        | "compare"
        | "reduce_precision"
        | "reverse"
        | "cholesky"
        | "map"
        | "select_and_scatter"
        | "dynamic_update_slice"
        | "batch_norm_inference" => own(cx, 0)?,
        "scatter" | "sort" => own(cx, result)?,
        "select" | "clamp" | "triangular_solve" => own(cx, 1)?,
        "bitcast_convert" => {
            let (from, to) = (cx.operand_type(0)?, cx.lift.module.tensor(cx.op.results[0]));
            if to.map(|t| t.rank()) != Some(from.space.rank()) {
                return Ok(None);
            }
            own(cx, 0)?
        }
        "dynamic_iota" => cx.sizes_of(0, "output_shape")?,
        "dynamic_reshape" => cx.sizes_of(1, "output_shape")?,
        "dynamic_broadcast_in_dim" => cx.sizes_of(1, "output_dimensions")?,
        "reshape" => return reshape(cx),
        "broadcast_in_dim" => {
            let shape = own(cx, 0)?;
            let dims = cx.attr(cx.op.ints("broadcast_dimensions"))?.to_vec();
            return spread_declared(cx, |axis| {
                let from = dims.iter().position(|&d| usize::try_from(d) == Ok(axis))?;
                shape.get(from).filter(|e| e.as_const() != Some(1)).cloned()
            });
        }
        "broadcast" => {
            let shape = own(cx, 0)?;
            let rank = cx.lift.module.tensor(cx.op.results[0]).map_or(0, |t| t.rank());
            let before = rank.saturating_sub(shape.len());
            return spread_declared(cx, |axis| shape.get(axis.checked_sub(before)?).cloned());
        }
        "transpose" => {
            let shape = own(cx, 0)?;
            let order = cx.axes("permutation", shape.len())?;
            order.iter().map(|&a| shape[a].clone()).collect()
        }
        "slice" => {
            let (shape, rank) = (own(cx, 0)?, cx.operand_type(0)?.space.rank());
            let (starts, limits) = (cx.ints("start_indices", rank)?, cx.ints("limit_indices", rank)?);
            let strides = cx.ints("strides", rank)?;
            let size = |a: usize| limits[a].saturating_sub(starts[a]).max(0).unsigned_abs();
            let count = |a: usize| size(a).div_ceil(strides[a].max(1).unsigned_abs());
            (0..shape.len()).map(|a| Extent::Const(count(a))).collect()
        }
        "real_dynamic_slice" => {
            let (starts, limits) = (cx.integers_of(1, "start_indices")?, cx.integers_of(2, "limit_indices")?);
            let strides = cx.numbers_of(3, "strides")?;
            let rank = cx.operand_type(0)?.space.rank();
            if [starts.len(), limits.len(), strides.len()] != [rank; 3] {
                return Err(cx.invalid("it needs a start, a limit and a stride for each dimension"));
            }
            let mut sizes = Vec::new();
            for axis in 0..rank {
                let length = cx.lift.minus(&limits[axis], &starts[axis]);
                let stride = strides[axis].max(1);
                let rest = cx.lift.plus(&length, &Extent::Const(stride.unsigned_abs() - 1));
                let size = cx.lift.floor(&rest, stride);
                sizes.push(exact(cx, &format!("limit_indices[{axis}] - start_indices[{axis}]"), size)?);
            }
            sizes
        }
        "set_dimension_size" => {
            let mut shape = own(cx, 0)?;
            let axis = cx.attr(cx.op.int("dimension"))?;
            let axis = types::axis(cx.op, axis, shape.len(), "dimension")?;
            let size = cx.sizes_of(1, "size")?;
            shape[axis] = size.first().cloned().unwrap_or(Extent::Const(0));
            shape
        }
        "concatenate" => {
            let mut shape = own(cx, 0)?;
            let axis = types::axis(cx.op, cx.attr(cx.op.int("dimension"))?, shape.len(), "dimension")?;
            for i in 1..cx.op.operands.len() {
                let next = own(cx, i)?;
                let Some(size) = next.get(axis) else { return Ok(None) };
                shape[axis] = cx.lift.plus(&shape[axis], size);
            }
            shape
        }
        "pad" | "dynamic_pad" => {
            let shape = own(cx, 0)?;
            let padding = super::movement::Padding::of(cx, shape.len())?;
            let mut sizes = Vec::new();
            for (axis, extent) in shape.iter().enumerate() {
                let inner = cx.lift.spread(extent, padding.interior[axis].saturating_add(1));
                let edges = cx.lift.plus(&padding.low[axis], &padding.high[axis]);
                let size = cx.lift.plus(&inner, &edges);
                sizes.push(exact(cx, &format!("the padded dimension {axis}"), size)?);
            }
            sizes
        }
        "gather" | "dynamic_gather" => return gather(cx),
        "reduce" => {
            let shape = own(cx, 0)?;
            let axes = cx.axes("dimensions", shape.len())?;
            (0..shape.len()).filter(|a| !axes.contains(a)).map(|a| shape[a].clone()).collect()
        }
        "reduce_window" => {
            let shape = own(cx, 0)?;
            let window = super::reduction::window(cx, shape.len())?;
            super::reduction::window_shape(cx, &shape, &window)?
        }
        "dot_general" => {
            let (left, right) = (own(cx, 0)?, own(cx, 1)?);
            let dims = cx.attr(cx.op.dot_dims())?;
            let pick = |shape: &[Extent], axes: &[i64]| -> Shape {
                axes.iter().filter_map(|&a| shape.get(usize::try_from(a).ok()?).cloned()).collect()
            };
            let free = |shape: &[Extent], used: [&[i64]; 2]| -> Shape {
                let is_used = |a: usize| used.iter().any(|list| list.contains(&(a as i64)));
                (0..shape.len()).filter(|&a| !is_used(a)).map(|a| shape[a].clone()).collect()
            };
            let mut result = pick(&left, &dims.batch_lhs);
            result.extend(free(&left, [&dims.batch_lhs, &dims.contract_lhs]));
            result.extend(free(&right, [&dims.batch_rhs, &dims.contract_rhs]));
            result
        }
        "dot" => {
            let (left, right) = (own(cx, 0)?, own(cx, 1)?);
            let left = left.split_last().map_or(&[][..], |(_, rest)| rest);
            left.iter().chain(right.iter().skip(1)).cloned().collect()
        }
        "convolution" | "dynamic_conv" => super::contraction::convolution_shape(cx)?,
        "fft" => {
            let mut shape = own(cx, 0)?;
            let lengths = cx.attr(cx.op.ints("fft_length"))?;
            let last = lengths.last().copied().unwrap_or(0).max(0).unsigned_abs();
            if let Some(extent) = shape.last_mut() {
                match cx.attr(cx.op.enumeration("fft_type"))? {
                    "RFFT" => *extent = Extent::Const(last / 2 + 1),
                    "IRFFT" => *extent = Extent::Const(last),
                    _ => {}
                }
            }
            shape
        }
        "batch_norm_training" | "batch_norm_grad" => {
            let shape = own(cx, 0)?;
            let axis = cx.attr(cx.op.int("feature_index"))?;
            let axis = types::axis(cx.op, axis, shape.len(), "feature_index")?;
            if result == 0 { shape } else { vec![shape[axis].clone()] }
        }
        "custom_call" => return super::custom_call::shape(cx, result),
        _ => return Ok(None),
    }))
}

/// A size that must not depend on data, nor be negative.
fn exact(cx: &mut Cx<'_, '_>, field: &str, size: Extent) -> Result<Extent> {
    if super::sizes::depends_on_data(std::slice::from_ref(&size)) {
        return Err(cx.lift.undecided(cx.op, field, &size, None));
    }
    if size.as_const().is_none() {
        let fact = Fact::new(Extent::Const(0), Relation::Le, size.clone());
        cx.lift.require(cx.op, field, fact)?;
    }
    Ok(size)
}

/// The declared sizes, and those that `at` gives for a `?`.
fn spread_declared(cx: &Cx<'_, '_>, at: impl Fn(usize) -> Option<Extent>) -> Result<Option<Shape>> {
    let Some(declared) = cx.lift.module.tensor(cx.op.results[0]) else { return Ok(None) };
    let size = |(axis, dim): (usize, &Dim)| match dim {
        Dim::Static(n) => Some(Extent::Const(n.unsigned_abs())),
        Dim::Dynamic => at(axis),
    };
    Ok(declared.shape.iter().enumerate().map(size).collect())
}

/// One size of a reshape may be left to the number of elements.
fn reshape(cx: &mut Cx<'_, '_>) -> Result<Option<Shape>> {
    let own = cx.operand_type(0)?.space;
    let Some(declared) = cx.lift.module.tensor(cx.op.results[0]) else { return Ok(None) };
    let unknown: Vec<usize> = (0..declared.rank()).filter(|&a| declared.shape[a] == Dim::Dynamic).collect();
    let [unknown] = unknown[..] else { return Ok(None) };
    let mut total = Extent::Const(1);
    for extent in own.extents() {
        total = cx.lift.times(&total, extent);
    }
    let mut others = Extent::Const(1);
    for dim in &declared.shape {
        if let Dim::Static(n) = dim {
            others = cx.lift.times(&others, &Extent::Const(n.unsigned_abs()));
        }
    }
    let field = format!("dimension {unknown} of the result");
    let size = match cx.lift.sizes.facts.quotient(&total, &others) {
        Ok(size) => size,
        Err(surject_index::NoQuotient::Undecided(fact)) => {
            cx.lift.require(cx.op, &field, fact)?;
            match cx.lift.sizes.facts.quotient(&total, &others) {
                Ok(size) => size,
                Err(_) => return Ok(None),
            }
        }
        Err(error) => return Err(cx.invalid(error.to_string())),
    };
    spread_declared(cx, |_| Some(size.clone()))
}

fn gather(cx: &mut Cx<'_, '_>) -> Result<Option<Shape>> {
    let indices = cx.operand_type(1)?.space;
    let sizes = super::library::slice_sizes(cx)?;
    let dims = cx.attr(cx.op.gather_dims())?;
    let rank = sizes.len();
    let dropped = |a: &usize| {
        let a = *a as i64;
        dims.collapsed_slice_dims.contains(&a) || dims.operand_batching_dims.contains(&a)
    };
    let mut slice = (0..rank).filter(|a| !dropped(a)).map(|a| sizes[a].clone());
    let vector = dims.index_vector_dim;
    let batch = (0..indices.rank()).filter(|&a| i64::try_from(a) != Ok(vector));
    let mut batch = batch.map(|a| indices.extent(a).clone());
    let count = cx.lift.module.tensor(cx.op.results[0]).map_or(0, |t| t.rank());
    let next = |a: usize| {
        if dims.offset_dims.contains(&(a as i64)) { slice.next() } else { batch.next() }
    };
    Ok((0..count).map(next).collect())
}

fn chlo(cx: &mut Cx<'_, '_>, name: &str, result: usize) -> Result<Option<Shape>> {
    if name == "top_k" {
        let mut shape = cx.operand_type(0)?.space.extents().to_vec();
        let k = cx.attr(cx.op.int("k"))?;
        if let Some(last) = shape.last_mut() {
            *last = Extent::Const(k.max(0).unsigned_abs());
        }
        return Ok(Some(shape));
    }
    if !name.starts_with("broadcast_") {
        return Ok((result == 0).then_some(cx.operand_type(0)?.space.extents().to_vec()));
    }
    // Operands are aligned at the end; an extent that may be 1 is not taken to be repeated.
    let rank = cx.lift.module.tensor(cx.op.results[0]).map_or(0, |t| t.rank());
    let mut shapes = Vec::new();
    for i in 0..cx.op.operands.len() {
        let own = cx.operand_type(i)?.space.extents().to_vec();
        let dims = match cx.op.attributes.get("broadcast_dimensions") {
            Some(Attribute::I64s(dims)) if own.len() < rank && dims.len() == own.len() => dims.to_vec(),
            _ => (rank.saturating_sub(own.len())..rank).map(|a| a as i64).collect(),
        };
        shapes.push((own, dims));
    }
    spread_declared(cx, |axis| {
        let all = shapes
            .iter()
            .filter_map(|(own, dims)| own.get(dims.iter().position(|&d| usize::try_from(d) == Ok(axis))?));
        let mut repeated = None;
        for extent in all {
            match extent.as_const() {
                Some(1) => repeated = Some(extent.clone()),
                _ => return Some(extent.clone()),
            }
        }
        repeated
    })
}

impl Sizes {
    /// Takes an operation its sizes or positions as operands, where shapes may be constant?
    pub(crate) fn are_operands(module: &surject_stablehlo::Module) -> bool {
        fn among(region: &surject_stablehlo::Region) -> bool {
            region.ops.iter().any(|op| {
                let sized = matches!(
                    op.short_name(),
                    "dynamic_pad"
                        | "dynamic_gather"
                        | "dynamic_conv"
                        | "dynamic_reshape"
                        | "dynamic_iota"
                        | "dynamic_broadcast_in_dim"
                        | "real_dynamic_slice"
                        | "set_dimension_size"
                );
                sized || op.regions.iter().any(among)
            })
        }
        module.functions.iter().any(|f| among(&f.body))
    }

    /// Has any value of the module a `?`?
    pub(crate) fn are_dynamic(module: &surject_stablehlo::Module) -> bool {
        let dynamic =
            |ty: &surject_stablehlo::Type| ty.as_tensor().is_some_and(|t| t.shape.contains(&Dim::Dynamic));
        module.values.iter().any(|v| dynamic(&v.ty))
    }
}
