//! Operations that stay library calls: data-dependent indices, sorting, transforms, linear algebra.

use super::cx::{Cx, accumulator};
use super::state::Result;
use super::types;
use surject_index::{Extent, Fact, Relation};
use surject_ir::{DType, FftKind, GatherDims, LibOp, ScatterDims, Transpose};

/// Axis numbers that only have to fit; the operation's rules about them are the verifier's and `LibOp::infer`'s.
fn positions(cx: &Cx<'_, '_>, list: &[i64], what: &str) -> Result<Vec<usize>> {
    // No tensor has this many axes, so positions below it are positions.
    list.iter().map(|&a| types::axis(cx.op, a, 1 << 16, what)).collect()
}

fn sizes(cx: &Cx<'_, '_>, list: &[i64], rank: usize, what: &str) -> Result<Vec<u64>> {
    let list = types::counted(cx.op, list.to_vec(), rank, what)?;
    types::at_least(cx.op, &list, 0, what)?;
    Ok(list.iter().map(|n| n.unsigned_abs()).collect())
}

/// The sizes of the slices of `gather` (an attribute) and of `dynamic_gather` (an operand).
pub(super) fn slice_sizes(cx: &mut Cx<'_, '_>) -> Result<Vec<Extent>> {
    let rank = cx.operand_type(0)?.space.rank();
    if cx.op.name == "stablehlo.dynamic_gather" {
        let list = cx.sizes_of(2, "slice_sizes")?;
        return types::counted(cx.op, list, rank, "slice_sizes");
    }
    let list = sizes(cx, cx.attr(cx.op.ints("slice_sizes"))?, rank, "slice_sizes")?;
    Ok(list.into_iter().map(Extent::Const).collect())
}

/// What is sliced must fit: a run checks it where the sizes do not say so.
fn fits(cx: &mut Cx<'_, '_>, sizes: &[Extent], field: &str) -> Result<()> {
    let own = cx.operand_type(0)?.space;
    for (axis, (size, extent)) in sizes.iter().zip(own.extents()).enumerate() {
        // In a module without a `?` the verifier of StableHLO has asked.
        if size != extent && cx.lift.sizes.dynamic {
            let fact = Fact::new(size.clone(), Relation::Le, extent.clone());
            cx.lift.require(cx.op, &format!("{field}[{axis}]"), fact)?;
        }
    }
    Ok(())
}

/// `stablehlo.gather` and `dynamic_gather`
pub(super) fn gather(cx: &mut Cx<'_, '_>) -> Result<()> {
    let dims = cx.attr(cx.op.gather_dims())?;
    let list = slice_sizes(cx)?;
    fits(cx, &list, "slice_sizes")?;
    let dims = GatherDims {
        offset_dims: positions(cx, &dims.offset_dims, "offset_dims")?,
        collapsed_slice_dims: positions(cx, &dims.collapsed_slice_dims, "collapsed_slice_dims")?,
        operand_batching_dims: positions(cx, &dims.operand_batching_dims, "operand_batching_dims")?,
        start_indices_batching_dims: positions(
            cx,
            &dims.start_indices_batching_dims,
            "start_indices_batching_dims",
        )?,
        start_index_map: positions(cx, &dims.start_index_map, "start_index_map")?,
        index_vector_dim: positions(cx, &[dims.index_vector_dim], "index_vector_dim")?[0],
    };
    let indices_are_sorted = cx.attr(cx.op.flag("indices_are_sorted"))?;
    let args = cx.vars(0, 2)?;
    cx.library(LibOp::gather(dims, list, indices_are_sorted), args, Vec::new())
}

/// `stablehlo.torch_index_select`: a gather of one position along `dim`, the leading `batch_dims` axes in step.
pub(super) fn torch_index_select(cx: &mut Cx<'_, '_>) -> Result<()> {
    let (own, index) = (cx.operand_type(0)?.space, cx.operand_type(1)?.space);
    let dim = types::axis(cx.op, cx.attr(cx.op.int("dim"))?, own.rank(), "dim")?;
    let batch = types::axis(cx.op, cx.attr(cx.op.int("batch_dims"))?, dim + 1, "batch_dims")?;
    if batch > index.rank() {
        return Err(cx.invalid("batch_dims is larger than the rank of the indices"));
    }
    let behind = dim + index.rank() - batch;
    let size = |a: usize| match a < batch || a == dim {
        true => Ok(1),
        false => cx.lift.constant_size(cx.op, &format!("dimension {a}"), own.extent(a)),
    };
    let slice_sizes = (0..own.rank()).map(size).collect::<Result<Vec<u64>>>()?;
    let dims = GatherDims {
        offset_dims: (batch..dim).chain(behind..behind + own.rank() - dim - 1).collect(),
        collapsed_slice_dims: vec![dim],
        operand_batching_dims: (0..batch).collect(),
        start_indices_batching_dims: (0..batch).collect(),
        start_index_map: vec![dim],
        index_vector_dim: index.rank(),
    };
    let args = cx.vars(0, 2)?;
    cx.library(LibOp::Gather { dims, slice_sizes, indices_are_sorted: false }, args, Vec::new())
}

/// `stablehlo.scatter`
pub(super) fn scatter(cx: &mut Cx<'_, '_>) -> Result<()> {
    let dims = cx.attr(cx.op.scatter_dims())?;
    let dims = ScatterDims {
        update_window_dims: positions(cx, &dims.update_window_dims, "update_window_dims")?,
        inserted_window_dims: positions(cx, &dims.inserted_window_dims, "inserted_window_dims")?,
        input_batching_dims: positions(cx, &dims.input_batching_dims, "input_batching_dims")?,
        scatter_indices_batching_dims: positions(
            cx,
            &dims.scatter_indices_batching_dims,
            "scatter_indices_batching_dims",
        )?,
        scatter_dims_to_operand_dims: positions(
            cx,
            &dims.scatter_dims_to_operand_dims,
            "scatter_dims_to_operand_dims",
        )?,
        index_vector_dim: positions(cx, &[dims.index_vector_dim], "index_vector_dim")?[0],
    };
    let count = cx.operands(3)?;
    if count % 2 == 0 || cx.op.results.len() != count / 2 {
        return Err(cx.invalid(format!("{count} operands for {} results", cx.op.results.len())));
    }
    let op = LibOp::Scatter {
        dims,
        indices_are_sorted: cx.attr(cx.op.flag("indices_are_sorted"))?,
        unique_indices: cx.attr(cx.op.flag("unique_indices"))?,
    };
    let region = cx.scalar_region(0)?;
    // The body may join in a wider type than that of the operand or of the updates.
    let joined: Vec<DType> = region.params.iter().map(|&p| cx.lift.function.ty(p).dtype).collect();
    let n = count / 2;
    let mut args = Vec::new();
    for i in 0..count {
        let dtype = if i < n { joined.get(i) } else { i.checked_sub(n + 1).and_then(|u| joined.get(n + u)) };
        args.push(match dtype {
            Some(&dtype) if cx.operand_type(i)?.dtype != dtype => cx.converted(i, dtype)?,
            _ => cx.var(i)?,
        });
    }
    cx.library(op, args, vec![region])
}

/// `stablehlo.dynamic_slice`
pub(super) fn dynamic_slice(cx: &mut Cx<'_, '_>) -> Result<()> {
    let count = cx.operands(1)?;
    let rank = cx.operand_type(0)?.space.rank();
    if count != rank + 1 {
        return Err(cx.invalid(format!("{} start indices for a tensor of rank {rank}", count - 1)));
    }
    let sizes = sizes(cx, cx.attr(cx.op.ints("slice_sizes"))?, rank, "slice_sizes")?;
    let extents: Vec<Extent> = sizes.iter().map(|&n| Extent::Const(n)).collect();
    fits(cx, &extents, "slice_sizes")?;
    let args = cx.vars(0, count)?;
    cx.library(LibOp::DynamicSlice { sizes }, args, Vec::new())
}

/// `stablehlo.dynamic_update_slice`
pub(super) fn dynamic_update_slice(cx: &mut Cx<'_, '_>) -> Result<()> {
    let count = cx.operands(2)?;
    let rank = cx.operand_type(0)?.space.rank();
    if count != rank + 2 {
        return Err(cx.invalid(format!("{} start indices for a tensor of rank {rank}", count - 2)));
    }
    let args = cx.vars(0, count)?;
    cx.library(LibOp::DynamicUpdateSlice, args, Vec::new())
}

/// `stablehlo.sort`
pub(super) fn sort(cx: &mut Cx<'_, '_>) -> Result<()> {
    let count = cx.operands(1)?;
    let rank = cx.operand_type(0)?.space.rank();
    let axis = cx.attr(cx.op.int("dimension"))?;
    // A negative axis counts from the end.
    let axis = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
    let axis = types::axis(cx.op, axis, rank, "dimension")?;
    let stable = cx.attr(cx.op.flag("is_stable"))?;
    let args = cx.vars(0, count)?;
    let comparator = cx.scalar_region(0)?;
    cx.library(LibOp::Sort { axis, stable }, args, vec![comparator])
}

/// `stablehlo.fft`
pub(super) fn fft(cx: &mut Cx<'_, '_>) -> Result<()> {
    let kind = match cx.attr(cx.op.enumeration("fft_type"))? {
        "FFT" => FftKind::Fft,
        "IFFT" => FftKind::Ifft,
        "RFFT" => FftKind::Rfft,
        "IRFFT" => FftKind::Irfft,
        other => return Err(cx.invalid(format!("the transform {other}"))),
    };
    let lengths = cx.attr(cx.op.ints("fft_length"))?;
    let lengths = sizes(cx, lengths, lengths.len(), "fft_length")?;
    let args = cx.vars(0, 1)?;
    cx.library(LibOp::Fft { kind, lengths }, args, Vec::new())
}

/// `stablehlo.cholesky`
pub(super) fn cholesky(cx: &mut Cx<'_, '_>) -> Result<()> {
    let lower = cx.attr(cx.op.flag("lower"))?;
    in_linear_algebra(cx, LibOp::Cholesky { lower }, 1)
}

/// `stablehlo.triangular_solve`
pub(super) fn triangular_solve(cx: &mut Cx<'_, '_>) -> Result<()> {
    let transpose = match cx.attr(cx.op.enumeration("transpose_a"))? {
        "NO_TRANSPOSE" => Transpose::No,
        "TRANSPOSE" => Transpose::Transpose,
        "ADJOINT" => Transpose::Adjoint,
        other => return Err(cx.invalid(format!("the transposition {other}"))),
    };
    let op = LibOp::TriangularSolve {
        left_side: cx.attr(cx.op.flag("left_side"))?,
        lower: cx.attr(cx.op.flag("lower"))?,
        unit_diagonal: cx.attr(cx.op.flag("unit_diagonal"))?,
        transpose,
    };
    in_linear_algebra(cx, op, 2)
}

/// An operation of linear algebra on the first operands; floats of 16 bits are computed in 32 bits and rounded once.
fn in_linear_algebra(cx: &mut Cx<'_, '_>, op: LibOp, count: usize) -> Result<()> {
    let dtype = cx.operand_type(0)?.dtype;
    let wide = accumulator(dtype);
    if wide == dtype {
        let args = cx.vars(0, count)?;
        return cx.library(op, args, Vec::new());
    }
    let args = (0..count).map(|i| cx.converted(i, wide)).collect::<Result<Vec<_>>>()?;
    let result = cx.call(op, args, Vec::new())?[0];
    let field = cx.lift.function.tensor(result);
    let field = cx.convert(dtype, field);
    cx.store(0, field)
}
