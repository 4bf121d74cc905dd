//! `stablehlo.custom_call`: annotations, operations of older dialects called by name, checks, and the LAPACK
//! routines that jax calls for Cholesky factors and triangular systems.

use super::cx::Cx;
use super::state::Result;
use super::{chlo, control, elementwise, pointwise, reduction, size_ops, types};
use crate::error::LiftError;
use surject_index::{Affine, Extent, IndexMap, Space};
use surject_ir::{AccOp, BinaryOp, DType, FieldId, LibOp, TensorType, Transpose};
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

pub(super) fn lift(cx: &mut Cx<'_, '_>) -> Result<()> {
    let target = cx.attr(cx.op.string("call_target_name"))?;
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
            let k = cx.numbers_of(1, "k")?.first().copied().unwrap_or(-1);
            chlo::top_k(cx, k, true)
        }
        "mhlo.topk" => top_k(cx),
        "ApproxTopK" => approx_top_k(cx),
        "lapack_spotrf_ffi" | "lapack_dpotrf_ffi" => potrf(cx),
        "lapack_strsm_ffi" | "lapack_dtrsm_ffi" => trsm(cx),
        _ => Err(cx.unsupported(format!("the target `{target}`"))),
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
                None => match pointwise::SymbolicWindow::of(cx)?.and_then(|w| w.shape(cx, &shape)) {
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
        "lapack_spotrf_ffi" | "lapack_dpotrf_ffi" => {
            let mut shape = own(cx, 0)?;
            if result == 1 {
                shape.truncate(shape.len().saturating_sub(2));
            }
            shape
        }
        "lapack_strsm_ffi" | "lapack_dtrsm_ffi" => own(cx, 1)?,
        _ => return Ok(None),
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

/// The flags of a LAPACK call, which are letters.
fn flag(cx: &Cx<'_, '_>, name: &str, letters: &str) -> Result<char> {
    let from = |key: &str| match cx.op.attributes.get(key) {
        Some(Attribute::Dict(dict)) => dict.get(name).and_then(Attribute::as_i64),
        _ => None,
    };
    let value = from("mhlo.backend_config").or_else(|| from("backend_config"));
    let letter = value.and_then(|v| u8::try_from(v).ok()).map(char::from);
    letter.filter(|&c| letters.contains(c)).ok_or_else(|| {
        let given = value.map_or(String::from("missing"), |v| v.to_string());
        cx.unsupported(format!(
            "the flag `{name}`, which is {given} (one of the letters {letters} is supported)"
        ))
    })
}

/// A matrix operand, real and in the column-major layout that LAPACK reads. In another layout the routine would
/// see the transposed matrix.
fn matrix(cx: &Cx<'_, '_>, i: usize) -> Result<TensorType> {
    let ty = cx.operand_type(i)?;
    let rank = ty.space.rank();
    if !ty.dtype.is_float() || rank < 2 {
        return Err(cx.unsupported(format!("an operand of type {ty}")));
    }
    let layout = match cx.op.attributes.get("operand_layouts") {
        Some(Attribute::Array(layouts)) => match layouts.get(i) {
            Some(Attribute::Dense(minor_to_major)) => minor_to_major.to_i64s(),
            _ => None,
        },
        _ => None,
    };
    let column_major = [rank as i64 - 2, rank as i64 - 1];
    if layout.is_none_or(|l| l.get(..2) != Some(&column_major)) {
        return Err(cx.unsupported(format!("operand {i} not in column-major layout")));
    }
    Ok(ty)
}

/// `potrf`: the factor in one triangle, the other triangle as it was. The second result is 0 for each matrix
/// that has a factor and 1 for the others (LAPACK says which minor fails; jax asks only whether it is 0).
fn potrf(cx: &mut Cx<'_, '_>) -> Result<()> {
    let lower = flag(cx, "uplo", "LU")? == 'L';
    let ty = matrix(cx, 0)?;
    let rank = ty.space.rank();
    let a = cx.var(0)?;
    // Only one triangle is read, as the matrix is taken to be symmetric.
    let factor = cx.call(LibOp::Cholesky { lower }, vec![a], Vec::new())?[0];
    let (a, factor) = (cx.lift.function.tensor(a), cx.lift.function.tensor(factor));
    let inside = triangle(cx, &ty.space, lower)?;
    let field = cx.select(inside, factor, a)?;
    cx.store(0, field)?;
    // A matrix without a factor has NaN on its diagonal.
    let batch: Vec<usize> = (0..rank - 2).collect();
    let own = cx.space(factor);
    let size = own.extent(rank - 1).clone();
    let points = own.select(&batch).product(&Space::new([size]));
    let mut components: Vec<usize> = batch.clone();
    components.extend([rank - 2, rank - 2]);
    let components = components.iter().map(|&a| Affine::axis(rank - 1, a)).collect();
    let map = cx.total(points.clone(), own, components)?;
    let diagonal = cx.read(map, factor)?;
    let broken = cx.binary(BinaryOp::Ne, diagonal, diagonal)?;
    let onto = IndexMap::projection(&points, &batch);
    let broken = cx.acc(AccOp::Or, onto, broken)?;
    let info = cx.convert(DType::I32, broken);
    cx.store(1, info)
}

/// `true` in the lower (or upper) triangle, diagonal included.
fn triangle(cx: &mut Cx<'_, '_>, space: &Space, lower: bool) -> Result<FieldId> {
    let rank = space.rank();
    let (row, column) = (cx.index(space, rank - 2, DType::I64)?, cx.index(space, rank - 1, DType::I64)?);
    cx.binary(if lower { BinaryOp::Ge } else { BinaryOp::Le }, row, column)
}

/// `trsm`
fn trsm(cx: &mut Cx<'_, '_>) -> Result<()> {
    let left_side = flag(cx, "side", "LR")? == 'L';
    let lower = flag(cx, "uplo", "LU")? == 'L';
    let unit_diagonal = flag(cx, "diag", "NU")? == 'U';
    let transpose = match flag(cx, "trans_x", "NTC")? {
        'N' => Transpose::No,
        'T' => Transpose::Transpose,
        _ => Transpose::Adjoint,
    };
    matrix(cx, 0)?;
    matrix(cx, 1)?;
    let args = cx.vars(0, 2)?;
    cx.library(LibOp::TriangularSolve { left_side, lower, unit_diagonal, transpose }, args, Vec::new())
}
