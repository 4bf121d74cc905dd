//! `stablehlo.custom_call`: annotations, operations of older dialects called by name, checks, and the routines of LAPACK.

use super::cx::Cx;
use super::state::Result;
use super::{chlo, control, elementwise, lapack, pointwise, reduction, sharding, size_ops, types};
use crate::error::LiftError;
use surject_index::{Extent, Space};
use surject_ir::LibOp;
use surject_stablehlo::{Attribute, Region};

/// Targets that only annotate: their results are their operands.
const ANNOTATIONS: &[&str] = &[
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "LayoutConstraint",
    "annotate_device_placement",
    "xla.sdy.FuncResultSharding",
    "xla.sdy.GlobalToLocalShape",
    "xla.sdy.LocalToGlobalShape",
    "MoveToHost",
    "MoveToDevice",
];

/// Those that say where tensors lie, and which part of them a device sees.
const DIVIDES: &[&str] = &["Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"];

pub(super) fn lift(cx: &mut Cx<'_, '_>) -> Result<()> {
    let target = cx.attr(cx.op.string("call_target_name"))?;
    if cx.lift.sharded && DIVIDES.contains(&target) && cx.lift.module.processes() != 1 {
        return sharding::kept(cx);
    }
    if ANNOTATIONS.contains(&target) {
        return annotation(cx, target);
    }
    if let Some(check) = target.strip_prefix("check.") {
        return crate::check::custom_call(cx, check);
    }
    if let Some(op) = target.strip_prefix("mhlo.").and_then(elementwise::unary_op) {
        let x = cx.field(0)?;
        let field = cx.unary(op, x)?;
        return cx.store(0, field);
    }
    match target {
        "shape_assertion" => size_ops::assertion(cx),
        // What stands in it keeps shapes from being refined; the first operand is the value.
        "stablehlo.shape_refinement_operand_wrapper" => {
            let value = cx.value(0)?;
            control::bind_all(cx, vec![value])
        }
        "stablehlo.dynamic_reduce_window" => {
            let body = called(cx)?;
            reduction::dynamic_reduce_window(cx, body)
        }
        "stablehlo.dynamic_top_k" => {
            let Some(k) = cx.sizes_of(1, "k")?.into_iter().next() else { return Err(cx.invalid("no `k`")) };
            chlo::top_elements(cx, k, true)
        }
        "mhlo.topk" => top_k(cx),
        "ApproxTopK" => approx_top_k(cx),
        _ => match lapack::lift(cx, target) {
            Some(lifted) => lifted,
            None => Err(cx.unsupported(format!("the target `{target}`"))),
        },
    }
}

/// The function that stands for a region of a custom call.
fn called<'m>(cx: &Cx<'_, 'm>) -> Result<&'m Region> {
    let name = match cx.op.attributes.get("called_computations") {
        Some(Attribute::Array(called)) => match called.as_slice() {
            [Attribute::Symbol(path)] => path.last(),
            _ => None,
        },
        _ => None,
    };
    let module = cx.lift.module;
    let function = name.and_then(|name| module.function(name));
    function.map(|f| &f.body).ok_or_else(|| cx.unsupported("a call without the function it needs"))
}

/// The shape of a result with a `?`.
pub(super) fn shape(cx: &mut Cx<'_, '_>, result: usize) -> Result<Option<Vec<Extent>>> {
    let target = cx.attr(cx.op.string("call_target_name"))?;
    let own = |cx: &Cx<'_, '_>, i: usize| Ok::<_, LiftError>(cx.operand_type(i)?.space.extents().to_vec());
    let unary = target.strip_prefix("mhlo.").and_then(elementwise::unary_op).is_some();
    Ok(Some(match target {
        _ if ANNOTATIONS.contains(&target) => own(cx, result)?,
        _ if unary => own(cx, 0)?,
        "stablehlo.shape_refinement_operand_wrapper" => own(cx, 0)?,
        "stablehlo.dynamic_reduce_window" => {
            let shape = own(cx, 0)?;
            match pointwise::numbers(cx, shape.len())? {
                Some(window) => reduction::window_shape(cx, &shape, &window)?,
                None => match pointwise::SymbolicWindow::of(cx, shape.len())?.shape(cx, &shape) {
                    Some(shape) => shape,
                    None => return Ok(None),
                },
            }
        }
        "stablehlo.dynamic_top_k" => {
            let mut shape = own(cx, 0)?;
            let k = cx.sizes_of(1, "k")?;
            if let (Some(last), Some(k)) = (shape.last_mut(), k.first()) {
                *last = k.clone();
            }
            shape
        }
        _ => match lapack::shape(cx, target, result)? {
            Some(shape) => shape,
            None => return Ok(None),
        },
    }))
}

/// One device holds all: where the types agree, nothing happens.
fn annotation(cx: &mut Cx<'_, '_>, target: &str) -> Result<()> {
    let ty = |&id| cx.lift.module.ty(id);
    let (from, to): (Vec<_>, Vec<_>) =
        (cx.op.operands.iter().map(ty).collect(), cx.op.results.iter().map(ty).collect());
    if from != to && !cx.lift.sizes.dynamic {
        return Err(
            cx.unsupported(format!("the target `{target}` with results of other types than its operands"))
        );
    }
    control::identity(cx)
}

/// `mhlo.topk {k, largest}`
fn top_k(cx: &mut Cx<'_, '_>) -> Result<()> {
    let Some(Attribute::Dict(given)) = cx.op.attributes.get("mhlo.attributes") else {
        return Err(cx.invalid("`mhlo.topk` without `mhlo.attributes`"));
    };
    let Some(k) = given.get("k").and_then(Attribute::as_i64) else {
        return Err(cx.invalid("`mhlo.topk` without `k`"));
    };
    let largest = !matches!(given.get("largest"), Some(Attribute::Bool(false)));
    chlo::top_k(cx, k, largest)
}

/// `ApproxTopK`: the elements that come first in the order of a comparator. It may miss some of them; here it misses
/// none. The operands are keys and what goes with them, then an initial value of each; the results say how many are kept.
fn approx_top_k(cx: &mut Cx<'_, '_>) -> Result<()> {
    let op = cx.op;
    let n = op.results.len();
    if cx.operands(2)? != 2 * n {
        return Err(cx.unsupported(format!("{} operands for {n} results", op.operands.len())));
    }
    let comparator = called(cx)?;
    let config = ["mhlo.backend_config", "backend_config"].into_iter().find_map(|key| {
        let Some(Attribute::Dict(dict)) = op.attributes.get(key) else { return None };
        dict.get("reduction_dim").and_then(Attribute::as_i64)
    });
    let Some(axis) = config else {
        return Err(cx.unsupported("a call without `reduction_dim`"));
    };
    let space = cx.operand_type(0)?.space;
    let rank = space.rank();
    let axis = types::axis(op, if axis < 0 { axis + rank as i64 } else { axis }, rank, "reduction_dim")?;
    let mut kept = space.extents().to_vec();
    kept[axis] = cx.result_type(0)?.space.extents().get(axis).cloned().unwrap_or(Extent::Const(0));
    let args = cx.vars(0, n)?;
    let comparator = cx.lift.region(op, comparator, None)?;
    let sorted = cx.call(LibOp::Sort { axis, stable: true }, args, vec![comparator])?;
    for (i, var) in sorted.into_iter().enumerate() {
        let map = cx.slice_map(Space::new(kept.clone()), &vec![0; rank], &vec![1; rank], &space)?;
        let of = cx.lift.function.tensor(var);
        let field = cx.read(map, of)?;
        cx.store(i, field)?;
    }
    Ok(())
}
