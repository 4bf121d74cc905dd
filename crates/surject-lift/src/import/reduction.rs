//! Reductions: accumulations where the body is one operator, library calls otherwise.

use super::cx::{Cx, accumulator, fill};
use super::movement;
use super::pointwise;
use super::single;
use super::sizes::integer;
use super::state::{Lifter, Result};
use super::types;
use surject_index::{Affine, Extent, IndexMap, Space};
use surject_ir::{AccOp, DType, FieldId, LibOp, Scalar, Window};
use surject_stablehlo as hlo;
use surject_stablehlo::WindowAttrs;

/// The operator of an operation that may be the whole body of a reduction.
fn operator(name: &str) -> Option<AccOp> {
    Some(match name {
        "stablehlo.add" => AccOp::Add,
        "stablehlo.multiply" => AccOp::Mul,
        "stablehlo.maximum" => AccOp::Max,
        "stablehlo.minimum" => AccOp::Min,
        "stablehlo.and" => AccOp::And,
        "stablehlo.or" => AccOp::Or,
        "stablehlo.xor" => AccOp::Xor,
        _ => return None,
    })
}

/// The operators of a body that joins n accumulators (the first n parameters) with n elements each on its own:
/// result i is one operator of parameters i and n + i, in either order. A body that only calls such a body is one.
fn operators(lift: &Lifter<'_>, region: &hlo::Region) -> Option<Vec<AccOp>> {
    let params: Vec<hlo::ValueId> = region.params.iter().map(|p| p.0).collect();
    let mut region = region;
    // Calls are followed while they forward the parameters as they are; a chain of them is short in any program
    // that does not recurse.
    for _ in 0..8 {
        let own: Vec<hlo::ValueId> = region.params.iter().map(|p| p.0).collect();
        let (last, ops) = region.ops.split_last()?;
        if let [call] = ops
            && call.name == "func.call"
            && call.operands[..] == own[..]
            && last.operands == call.results
        {
            region = &lift.module.function(call.callee().ok()?)?.body;
            continue;
        }
        let n = params.len() / 2;
        if params.len() != 2 * n || last.operands.len() != n || own.len() != params.len() || ops.len() != n {
            return None;
        }
        return (0..n)
            .map(|i| {
                let op = ops.iter().find(|op| op.results[..] == [last.operands[i]])?;
                let forward = matches!(op.operands[..], [a, b] if [a, b] == [own[i], own[n + i]] || [b, a] == [own[i], own[n + i]]);
                let ty = lift.module.ty(own[i]);
                let same = lift.module.ty(own[n + i]) == ty && lift.module.ty(last.operands[i]) == ty;
                // A product of complex numbers is not one of their parts.
                let complex = ty.as_tensor().is_some_and(|t| t.element.is_complex());
                operator(&op.name).filter(|&op| forward && same && !(complex && op == AccOp::Mul))
            })
            .collect();
    }
    None
}

/// The inputs and initial values of a reduction, converted to the element types of the body.
struct Operands {
    inputs: Vec<FieldId>,
    inits: Vec<FieldId>,
    dtypes: Vec<DType>,
}

/// The body of the operation.
fn body<'m>(cx: &Cx<'_, 'm>) -> Result<&'m hlo::Region> {
    cx.op.regions.first().ok_or_else(|| cx.invalid("no body"))
}

/// The first `count` operands: inputs and as many initial values.
fn operands(cx: &mut Cx<'_, '_>, region: &hlo::Region, count: usize) -> Result<Operands> {
    cx.operands(count.max(2))?;
    let n = count / 2;
    if count != 2 * n || cx.op.results.len() != n {
        return Err(cx.invalid(format!("{count} operands for {} results", cx.op.results.len())));
    }
    if region.params.len() != count {
        return Err(cx.invalid(format!("a body of {} parameters for {count} operands", region.params.len())));
    }
    let mut all = Operands { inputs: Vec::new(), inits: Vec::new(), dtypes: Vec::new() };
    for i in 0..n {
        let (x, init) = (cx.field(i)?, cx.field(n + i)?);
        let (space, first) = (cx.space(x), cx.space(*all.inputs.first().unwrap_or(&x)));
        let static_sizes = space.sizes().is_some() && first.sizes().is_some();
        if cx.space(init).rank() != 0 || space.rank() != first.rank() || static_sizes && space != first {
            return Err(cx.invalid("inputs must have one shape and initial values rank 0"));
        }
        for (axis, (a, b)) in space.extents().iter().zip(first.extents()).enumerate() {
            cx.lift.require_same(cx.op, &format!("dimension {axis} of operand {i}"), a, b)?;
        }
        let accumulator = types::tensor(cx.op, &region.params[i].1)?;
        let element = types::tensor(cx.op, &region.params[n + i].1)?;
        if accumulator != element || accumulator.space.rank() != 0 {
            return Err(cx.unsupported("a body whose accumulators and elements differ in type"));
        }
        all.inputs.push(cx.convert(element.dtype, x));
        all.inits.push(cx.convert(element.dtype, init));
        all.dtypes.push(element.dtype);
    }
    Ok(all)
}

/// `stablehlo.reduce`
pub(super) fn reduce(cx: &mut Cx<'_, '_>) -> Result<()> {
    let (region, count) = (body(cx)?, cx.op.operands.len());
    let all = operands(cx, region, count)?;
    let space = cx.space(all.inputs[0]);
    let mut axes = cx.axes("dimensions", space.rank())?;
    axes.sort_unstable();
    // A sum that starts from -0.0 is no accumulation, which starts from +0.0.
    let negative = |op: AccOp, i: usize| {
        let zero = |value: Scalar| op.absorbs(value) && value != op.neutral(all.dtypes[i]);
        cx.const_of(all.inits[i]).is_some_and(zero)
    };
    let plain = |ops: &Vec<AccOp>| !ops.iter().enumerate().any(|(i, &op)| negative(op, i)) || axes.is_empty();
    let Some(ops) = operators(cx.lift, region).filter(plain) else {
        return by_function(cx, region, &all, LibOp::Reduce { axes });
    };
    // The product space: the axes of the result, then those that are reduced.
    let kept: Vec<usize> = (0..space.rank()).filter(|a| !axes.contains(a)).collect();
    let order: Vec<usize> = kept.iter().chain(&axes).copied().collect();
    let product = space.select(&order);
    let mut places = vec![0; space.rank()];
    order.iter().enumerate().for_each(|(place, &axis)| places[axis] = place);
    let to_input = IndexMap::projection(&product, &places);
    let to_result = IndexMap::projection(&product, &(0..kept.len()).collect::<Vec<_>>());
    for (i, op) in ops.into_iter().enumerate() {
        let x = cx.read(to_input.clone(), all.inputs[i])?;
        let field = if axes.is_empty() {
            joined(cx, op, all.inits[i], x)?
        } else {
            cx.accumulate_from(op, all.inits[i], to_result.clone(), x)?
        };
        cx.store(i, field)?;
    }
    Ok(())
}

/// A library operation with the function of the body.
fn by_function<'m>(cx: &mut Cx<'_, 'm>, region: &'m hlo::Region, all: &Operands, op: LibOp) -> Result<()> {
    let region = cx.lift.region(cx.op, region, None)?;
    let operands = all.inputs.iter().chain(&all.inits);
    let Some(wide) = single::in_single(cx, &region)? else {
        let args = operands.map(|&f| cx.stored(f)).collect();
        return cx.library(op, args, vec![region]);
    };
    let args = operands.map(|&f| {
        let field = cx.convert(accumulator(cx.dtype(f)), f);
        cx.stored(field)
    });
    let args = args.collect();
    for (i, target) in cx.call(op, args, vec![wide])?.into_iter().enumerate() {
        let field = cx.lift.function.tensor(target);
        let field = cx.convert(all.dtypes[i], field);
        cx.store(i, field)?;
    }
    Ok(())
}

/// `init ⊕ x`, and `x` where that is the same bit for bit.
fn joined(cx: &mut Cx<'_, '_>, op: AccOp, init: FieldId, x: FieldId) -> Result<FieldId> {
    let neutral = cx.const_of(init) == Some(op.exact_neutral(cx.dtype(x)));
    match op.binary().filter(|_| !neutral) {
        Some(join) => {
            let space = cx.space(x);
            let init = cx.broadcast(init, &space)?;
            cx.binary(join, init, x)
        }
        None => Ok(x),
    }
}

/// The window of an operation, one entry per axis of a tensor of this rank.
pub(super) fn window(cx: &Cx<'_, '_>, rank: usize) -> Result<WindowAttrs> {
    let window = cx.attr(cx.op.window())?;
    checked(cx, window, rank)
}

fn checked(cx: &Cx<'_, '_>, window: WindowAttrs, rank: usize) -> Result<WindowAttrs> {
    for (count, what) in [
        (window.dimensions.len(), "window_dimensions"),
        (window.strides.len(), "window_strides"),
        (window.base_dilations.len(), "base_dilations"),
        (window.window_dilations.len(), "window_dilations"),
        (window.padding.len(), "padding"),
    ] {
        if count != rank {
            return Err(cx.invalid(format!("{what} has {count} entries where {rank} are needed")));
        }
    }
    for (list, what) in [
        (&window.strides, "window_strides"),
        (&window.base_dilations, "base_dilations"),
        (&window.window_dilations, "window_dilations"),
    ] {
        types::at_least(cx.op, list, 1, what)?;
    }
    // A window over an axis that is empty may be, where its size is computed.
    let least = i64::from(cx.op.name != "stablehlo.custom_call");
    types::at_least(cx.op, &window.dimensions, least, "window_dimensions")?;
    Ok(window)
}

/// The window of `custom_call @stablehlo.dynamic_reduce_window`, whose numbers are the operands behind the initial values.
pub(super) fn dynamic_window(cx: &mut Cx<'_, '_>, rank: usize) -> Result<WindowAttrs> {
    let first = 2 * cx.op.results.len();
    let mut numbers = |i: usize, name: &str| cx.numbers_of(first + i, name);
    let (dimensions, strides) = (numbers(0, "window_dimensions")?, numbers(1, "window_strides")?);
    let base_dilations = numbers(2, "base_dilations")?;
    let window_dilations = numbers(3, "window_dilations")?;
    let padding = numbers(4, "padding")?;
    let padding = padding.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    checked(cx, WindowAttrs { dimensions, strides, base_dilations, window_dilations, padding }, rank)
}

/// The shape of what the windows of a tensor of this shape give.
pub(super) fn window_shape(cx: &Cx<'_, '_>, shape: &[Extent], window: &WindowAttrs) -> Result<Vec<Extent>> {
    let overflows = || cx.invalid("a window that overflows");
    let one = |axis: usize| {
        let (low, high) = window.padding[axis];
        let inner = cx.lift.spread(&shape[axis], window.base_dilations[axis]);
        let edges = i128::from(low) + i128::from(high);
        let padded = cx.lift.plus(&inner, &integer(edges).ok_or_else(overflows)?);
        let reach = (i128::from(window.dimensions[axis]) - 1) * i128::from(window.window_dilations[axis]) + 1;
        let reach = integer(reach.max(0)).ok_or_else(overflows)?;
        Ok(cx.lift.windows(&padded, &reach, window.strides[axis]))
    };
    (0..shape.len()).map(one).collect()
}

fn library_window(window: &WindowAttrs) -> Window {
    let unsigned = |list: &[i64]| list.iter().map(|n| n.unsigned_abs()).collect();
    Window {
        sizes: unsigned(&window.dimensions),
        strides: unsigned(&window.strides),
        base_dilations: unsigned(&window.base_dilations),
        window_dilations: unsigned(&window.window_dilations),
        padding: window.padding.clone(),
    }
}

/// `stablehlo.reduce_window`
pub(super) fn reduce_window(cx: &mut Cx<'_, '_>) -> Result<()> {
    let (region, count) = (body(cx)?, cx.op.operands.len());
    let all = operands(cx, region, count)?;
    let window = window(cx, cx.space(all.inputs[0]).rank())?;
    windowed(cx, region, &all, &window)
}

/// `custom_call @stablehlo.dynamic_reduce_window`: the body is a function.
pub(super) fn dynamic_reduce_window<'m>(cx: &mut Cx<'_, 'm>, region: &'m hlo::Region) -> Result<()> {
    let count = 2 * cx.op.results.len();
    let all = operands(cx, region, count)?;
    let space = cx.space(all.inputs[0]);
    if let Some(window) = pointwise::numbers(cx, space.rank())? {
        return windowed(cx, region, &all, &window);
    }
    // The sizes of the window are those of an axis.
    let window = pointwise::SymbolicWindow::of(cx, space.rank())?;
    let simple = operators(cx.lift, region).filter(|ops| repeat(cx, ops, &all));
    let result = cx.result_type(0)?.space;
    let Some(ops) = simple else { return folded(cx, region, all, &window, &result) };
    for (i, op) in ops.into_iter().enumerate() {
        let result = cx.result_type(i)?.space;
        let field = pointwise::windowed(cx, op, (all.inputs[i], all.inits[i]), &window, &result)?;
        cx.store(i, field)?;
    }
    Ok(())
}

/// Windows of symbolic sizes with a function of its own: their elements are laid out, and each window is folded. Padding and
/// holes hold the initial value.
fn folded<'m>(
    cx: &mut Cx<'_, 'm>,
    region: &'m hlo::Region,
    all: Operands,
    window: &pointwise::SymbolicWindow,
    result: &Space,
) -> Result<()> {
    let product = window.product(result);
    let mut inputs = Vec::with_capacity(all.inputs.len());
    for (&x, &init) in all.inputs.iter().zip(&all.inits) {
        let outside = cx.broadcast(init, &product)?;
        inputs.push(pointwise::in_windows(cx, x, outside, window, &product)?);
    }
    let axes = (result.rank()..product.rank()).collect();
    by_function(cx, region, &Operands { inputs, ..all }, LibOp::Reduce { axes })
}

/// Does joining initial values several times give what joining them once gives?
fn repeat(cx: &Cx<'_, '_>, ops: &[AccOp], all: &Operands) -> bool {
    ops.iter().enumerate().all(|(i, &op)| repeats(cx, op, all.inits[i], all.dtypes[i]))
}

fn windowed<'m>(
    cx: &mut Cx<'_, 'm>,
    region: &'m hlo::Region,
    all: &Operands,
    window: &WindowAttrs,
) -> Result<()> {
    let rank = cx.space(all.inputs[0]).rank();
    let ops = operators(cx.lift, region);
    // Padding and holes hold the initial value. They may be left out where joining it again changes nothing.
    let simple = ops.filter(|ops| repeat(cx, ops, all));
    let Some(ops) = simple else {
        return by_function(cx, region, all, LibOp::ReduceWindow { window: library_window(window) });
    };
    for (i, op) in ops.into_iter().enumerate() {
        let result = window_shape(cx, cx.space(all.inputs[i]).extents(), window)?;
        let input = movement::spread(cx, all.inputs[i], op, &window.base_dilations)?;
        let own = cx.space(input);
        let ty = cx.result_type(i)?;
        let space = Space::new(result.clone());
        if space != ty.space && space.sizes().is_some() && ty.space.sizes().is_some() {
            return Err(cx.invalid(format!("the windows give {space}, result {i} is {ty}")));
        }
        let loops = window.dimensions.iter().map(|n| Extent::Const(n.unsigned_abs()));
        let product = Space::new(result.into_iter().chain(loops));
        let mut components = Vec::new();
        for axis in 0..rank {
            let low =
                window.padding[axis].0.checked_neg().ok_or_else(|| cx.invalid("a padding that overflows"))?;
            let mut at = Affine::strided(2 * rank, axis, window.strides[axis], low);
            at.coeffs[rank + axis] = window.window_dilations[axis];
            components.push(at);
        }
        let outside = fill(op.neutral(all.dtypes[i]));
        let map = cx.map(IndexMap::partial(product.clone(), own, components, Vec::new(), outside))?;
        let x = cx.read(map, input)?;
        let to_result = IndexMap::projection(&product, &(0..rank).collect::<Vec<_>>());
        let field = cx.accumulate_from(op, all.inits[i], to_result, x)?;
        cx.store(i, field)?;
    }
    Ok(())
}

/// Does joining the initial value several times give what joining it once gives?
fn repeats(cx: &Cx<'_, '_>, op: AccOp, init: FieldId, dtype: DType) -> bool {
    let idempotent = matches!(op, AccOp::Max | AccOp::Min | AccOp::And | AccOp::Or)
        || dtype.is_bool() && matches!(op, AccOp::Add | AccOp::Mul);
    idempotent
        || cx.const_of(init).is_some_and(|value| {
            let zero = Scalar::zero(dtype);
            value == op.neutral(dtype) || op == AccOp::Add && value == zero
        })
}

/// Is every number of one type a number of the other, so that a conversion there and back changes none?
fn holds(wide: DType, own: DType) -> bool {
    match (wide.is_float(), own.is_float()) {
        _ if wide == own => true,
        (true, true) => own.bits() < wide.bits(),
        (false, false) => !wide.is_complex() && !own.is_complex() && own.bits() <= wide.bits(),
        _ => false,
    }
}

/// `stablehlo.select_and_scatter`
pub(super) fn select_and_scatter(cx: &mut Cx<'_, '_>) -> Result<()> {
    let rank = cx.operand_type(0)?.space.rank();
    let window = library_window(&window(cx, rank)?);
    let scatter = cx.scalar_region(1)?;
    let Some(&joined) = scatter.params.first() else {
        return Err(cx.invalid("a body without parameters"));
    };
    // The body may join in a wider type than that of the operand. What is selected is then as wide, which changes no
    // number, and is narrowed again for the body that selects.
    let (own, joined) = (cx.operand_type(0)?.dtype, cx.lift.function.ty(joined).dtype);
    if !holds(joined, own) {
        return Err(cx.unsupported(format!("elements of type {own} selected from as {joined}")));
    }
    let select = match own == joined {
        true => cx.scalar_region(0)?,
        false => match cx.op.regions.first() {
            Some(region) => cx.lift.region_of(cx.op, region, joined)?,
            None => return Err(cx.invalid("no body")),
        },
    };
    let mut args = Vec::new();
    for i in 0..3 {
        args.push(match cx.operand_type(i)?.dtype == joined {
            true => cx.var(i)?,
            false => cx.converted(i, joined)?,
        });
    }
    cx.library(LibOp::SelectAndScatter { window }, args, vec![select, scatter])
}
