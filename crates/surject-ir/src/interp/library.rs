//! Library operations: gathers, scatters, slices at run time, sorting, folds, and what the runtime has kernels
//! for. Index arithmetic is that of the StableHLO specification.

use super::{InterpError, Machine, first, splat};
use crate::{Buffer, DType, FftKind, GatherDims, LibOp, Region, ScatterDims, Transpose};
use std::sync::Arc;
use surject_index::Extent;
use surject_runtime::library as kernels;

/// The points of a box in row-major order, without allocating for each.
pub(super) struct Odometer {
    shape: Vec<usize>,
    pub(super) at: Vec<usize>,
    more: bool,
}

impl Odometer {
    pub(super) fn new(shape: &[usize]) -> Odometer {
        Odometer { shape: shape.to_vec(), at: vec![0; shape.len()], more: !shape.contains(&0) }
    }

    /// Is there a current point?
    pub(super) fn more(&self) -> bool {
        self.more
    }

    /// Goes to the next point.
    pub(super) fn step(&mut self) {
        match (0..self.shape.len()).rev().find(|&a| self.at[a] + 1 < self.shape[a]) {
            Some(axis) => {
                self.at[axis] += 1;
                self.at[axis + 1..].fill(0);
            }
            None => self.more = false,
        }
    }
}

/// The row-major number of a position.
pub(super) fn offset(shape: &[usize], position: &[usize]) -> usize {
    shape.iter().zip(position).fold(0, |n, (&d, &p)| n * d + p)
}

/// A tensor of zeros of this shape.
pub(super) fn zeros(dtype: DType, shape: &[usize]) -> Result<Buffer, InterpError> {
    splat(crate::Scalar::zero(dtype), &shape.iter().map(|&n| n as i64).collect::<Vec<_>>())
}

fn as_usize(sizes: &[u64]) -> Vec<usize> {
    sizes.iter().map(|&n| n as usize).collect()
}

/// The element of an index vector, as a number that fits.
fn index_at(indices: &Buffer, at: usize) -> i64 {
    let value = indices.get(at).as_i128().unwrap_or(0);
    value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

impl Machine<'_> {
    /// Calls a library operation. The operands are those of a verified statement.
    pub(super) fn call(
        &mut self,
        op: &LibOp,
        args: &[Arc<Buffer>],
        regions: &[Region],
    ) -> Result<Vec<Buffer>, InterpError> {
        let few = || InterpError::Malformed(format!("`{}` has too few operands", op.name()));
        let arg = |i: usize| args.get(i).map(|b| &**b).ok_or_else(few);
        let region = |i: usize| regions.get(i).ok_or_else(few);
        match op {
            LibOp::Gather { dims, slice_sizes, .. } => {
                gather(arg(0)?, arg(1)?, dims, &as_usize(slice_sizes)).map(|b| vec![b])
            }
            LibOp::GatherDynamicSliceSizes { dims, slice_sizes, .. } => {
                let sizes = slice_sizes.iter().map(Extent::as_const).collect::<Option<Vec<u64>>>();
                let unknown = || InterpError::Malformed("a slice of unknown size".into());
                gather(arg(0)?, arg(1)?, dims, &as_usize(&sizes.ok_or_else(unknown)?)).map(|b| vec![b])
            }
            // It needs the sizes of the function; see `truncate.rs`.
            LibOp::DynamicTruncate { .. } => {
                Err(InterpError::Malformed("a truncation outside of a function".into()))
            }
            LibOp::Scatter { dims, .. } => self.scatter(dims, args, region(0)?),
            LibOp::DynamicSlice { sizes } => {
                dynamic_slice(arg(0)?, &args[1..], &as_usize(sizes)).map(|b| vec![b])
            }
            LibOp::DynamicUpdateSlice => {
                arg(1)?;
                dynamic_update_slice(arg(0)?, arg(1)?, &args[2..]).map(|b| vec![b])
            }
            LibOp::Sort { axis, .. } => self.sort(args, *axis, region(0)?),
            LibOp::Reduce { axes } => self.reduce(axes, args, region(0)?),
            LibOp::ReduceWindow { window } => self.reduce_window(window, args, region(0)?),
            LibOp::SelectAndScatter { window } => {
                let init = first(arg(2)?).ok_or_else(few)?;
                self.select_and_scatter(window, arg(0)?, arg(1)?, init, region(0)?, region(1)?)
                    .map(|b| vec![b])
            }
            LibOp::BitcastReshape { to } => {
                let x = arg(0)?;
                let mut shape = x.shape().to_vec();
                let (from_size, to_size) = (x.dtype().size(), to.size());
                if to_size > from_size {
                    shape.pop();
                } else if to_size < from_size {
                    shape.push(from_size / to_size);
                }
                let result = Buffer::from_bytes(*to, &shape, x.bytes());
                let wrong = || InterpError::Malformed("the bytes of a bitcast do not fit".into());
                result.map(|b| vec![b]).ok_or_else(wrong)
            }
            LibOp::Fft { kind, lengths } => {
                let kind = match kind {
                    FftKind::Fft => kernels::FftKind::Fft,
                    FftKind::Ifft => kernels::FftKind::Ifft,
                    FftKind::Rfft => kernels::FftKind::Rfft,
                    FftKind::Irfft => kernels::FftKind::Irfft,
                };
                Ok(vec![kernels::fft(arg(0)?, kind, &as_usize(lengths))?])
            }
            LibOp::Cholesky { lower } => Ok(vec![kernels::cholesky(arg(0)?, *lower)?]),
            LibOp::TriangularSolve { left_side, lower, unit_diagonal, transpose } => {
                let transpose_a = match transpose {
                    Transpose::No => kernels::TransposeA::NoTranspose,
                    Transpose::Transpose => kernels::TransposeA::Transpose,
                    Transpose::Adjoint => kernels::TransposeA::Adjoint,
                };
                let system = kernels::TriangularSolve {
                    left_side: *left_side,
                    lower: *lower,
                    unit_diagonal: *unit_diagonal,
                    transpose_a,
                };
                Ok(vec![kernels::triangular_solve(arg(0)?, arg(1)?, system)?])
            }
            LibOp::Constraint { .. } => Ok(vec![arg(0)?.clone()]),
            LibOp::Devices { .. } => Err(InterpError::Unsupported {
                op: "devices",
                reason: "what several devices do together; import the program for one device".into(),
            }),
            LibOp::Lapack { routine } => {
                let args: Vec<&Buffer> = args.iter().map(|b| &**b).collect();
                Ok(kernels::lapack(*routine, &args)?)
            }
        }
    }

    fn sort(&mut self, args: &[Arc<Buffer>], axis: usize, less: &Region) -> Result<Vec<Buffer>, InterpError> {
        let operands: Vec<Buffer> = args.iter().map(|a| Buffer::clone(a)).collect();
        let mut failed = None;
        let mut compare = |pair: &[&[u8]]| {
            if failed.is_some() {
                return false;
            }
            let scalar = |(i, bytes): (usize, &&[u8])| crate::Scalar::from_bytes(args[i / 2].dtype(), bytes);
            let pair: Vec<crate::Scalar> = pair.iter().enumerate().map(scalar).collect();
            self.question(less, &pair).unwrap_or_else(|error| {
                failed = Some(error);
                false
            })
        };
        let sorted = kernels::sort(&operands, axis, &mut compare)?;
        failed.map_or(Ok(sorted), Err)
    }

    fn scatter(
        &mut self,
        dims: &ScatterDims,
        args: &[Arc<Buffer>],
        join: &Region,
    ) -> Result<Vec<Buffer>, InterpError> {
        let n = args.len() / 2;
        let mut results: Vec<Buffer> = args[..n].iter().map(|b| Buffer::clone(b)).collect();
        let (indices, updates) = (&args[n], &args[n + 1..]);
        let (shape, update_shape) = (results[0].shape().to_vec(), updates[0].shape().to_vec());
        let scatter_dims: Vec<usize> =
            (0..update_shape.len()).filter(|d| !dims.update_window_dims.contains(d)).collect();
        let window_dims: Vec<usize> = (0..shape.len())
            .filter(|d| !dims.inserted_window_dims.contains(d) && !dims.input_batching_dims.contains(d))
            .collect();
        let mut points = Odometer::new(&update_shape);
        let mut element = 0;
        while points.more() {
            let batch: Vec<usize> = scatter_dims.iter().map(|&d| points.at[d]).collect();
            let mut position = vec![0i64; shape.len()];
            for (d, &operand_dim) in dims.scatter_dims_to_operand_dims.iter().enumerate() {
                position[operand_dim] = start_index(indices, &batch, dims.index_vector_dim, d);
            }
            for (&input, &scatter) in dims.input_batching_dims.iter().zip(&dims.scatter_indices_batching_dims)
            {
                position[input] = batch[scatter - (scatter >= dims.index_vector_dim) as usize] as i64;
            }
            for (&operand_dim, &d) in window_dims.iter().zip(&dims.update_window_dims) {
                position[operand_dim] = position[operand_dim].saturating_add(points.at[d] as i64);
            }
            if position.iter().zip(&shape).all(|(&p, &n)| p >= 0 && (p as u64) < n as u64) {
                let position: Vec<usize> = position.iter().map(|&p| p as usize).collect();
                let at = offset(&shape, &position);
                let old = results.iter().map(|r| r.get(at));
                let elements: Vec<_> = old.chain(updates.iter().map(|u| u.get(element))).collect();
                let new = self.scalars(join, &elements)?;
                results.iter_mut().zip(new).for_each(|(r, v)| r.set(at, v));
            }
            element += 1;
            points.step();
        }
        Ok(results)
    }

    fn reduce(
        &mut self,
        axes: &[usize],
        args: &[Arc<Buffer>],
        join: &Region,
    ) -> Result<Vec<Buffer>, InterpError> {
        let n = args.len() / 2;
        let shape = args[0].shape().to_vec();
        let kept: Vec<usize> = (0..shape.len()).filter(|a| !axes.contains(a)).collect();
        let out: Vec<usize> = kept.iter().map(|&a| shape[a]).collect();
        let missing = || InterpError::Malformed("an initial value is empty".into());
        let inits = args[n..].iter().map(|b| first(b).ok_or_else(missing)).collect::<Result<Vec<_>, _>>()?;
        let sizes: Vec<i64> = out.iter().map(|&n| n as i64).collect();
        let mut results = inits.iter().map(|&i| splat(i, &sizes)).collect::<Result<Vec<_>, _>>()?;
        let mut points = Odometer::new(&shape);
        let mut element = 0;
        while points.more() {
            let at = kept.iter().zip(&out).fold(0, |n, (&a, &d)| n * d + points.at[a]);
            let old = results.iter().map(|r| r.get(at));
            let elements: Vec<_> = old.chain(args[..n].iter().map(|a| a.get(element))).collect();
            let new = self.scalars(join, &elements)?;
            results.iter_mut().zip(new).for_each(|(r, v)| r.set(at, v));
            element += 1;
            points.step();
        }
        Ok(results)
    }
}

/// Component `d` of the index vector of a batch position.
fn start_index(indices: &Buffer, batch: &[usize], index_vector_dim: usize, d: usize) -> i64 {
    let mut position = batch.to_vec();
    // Where the index vector has no axis of its own, every index is a vector of one component.
    if index_vector_dim < indices.shape().len() {
        position.insert(index_vector_dim, d);
    }
    index_at(indices, offset(indices.shape(), &position))
}

fn gather(
    operand: &Buffer,
    indices: &Buffer,
    dims: &GatherDims,
    slice: &[usize],
) -> Result<Buffer, InterpError> {
    let mut batch_sizes = indices.shape().to_vec();
    if dims.index_vector_dim < batch_sizes.len() {
        batch_sizes.remove(dims.index_vector_dim);
    }
    let slice_dims: Vec<usize> = (0..operand.shape().len())
        .filter(|d| !dims.collapsed_slice_dims.contains(d) && !dims.operand_batching_dims.contains(d))
        .collect();
    let rank = batch_sizes.len() + slice_dims.len();
    let batch_dims: Vec<usize> = (0..rank).filter(|d| !dims.offset_dims.contains(d)).collect();
    let mut shape = vec![0; rank];
    batch_dims.iter().zip(&batch_sizes).for_each(|(&d, &n)| shape[d] = n);
    dims.offset_dims.iter().zip(&slice_dims).for_each(|(&d, &s)| shape[d] = slice[s]);
    let mut result = zeros(operand.dtype(), &shape)?;
    let mut points = Odometer::new(&shape);
    let mut element = 0;
    while points.more() {
        let batch: Vec<usize> = batch_dims.iter().map(|&d| points.at[d]).collect();
        let mut position = vec![0usize; operand.shape().len()];
        for (d, &operand_dim) in dims.start_index_map.iter().enumerate() {
            let last = operand.shape()[operand_dim].saturating_sub(slice[operand_dim]);
            position[operand_dim] =
                start_index(indices, &batch, dims.index_vector_dim, d).clamp(0, last as i64) as usize;
        }
        for (&operand_dim, &d) in dims.operand_batching_dims.iter().zip(&dims.start_indices_batching_dims) {
            position[operand_dim] = batch[d - (d >= dims.index_vector_dim) as usize];
        }
        for (&d, &s) in dims.offset_dims.iter().zip(&slice_dims) {
            position[s] += points.at[d];
        }
        result.set(element, operand.get(offset(operand.shape(), &position)));
        element += 1;
        points.step();
    }
    Ok(result)
}

/// The start of a slice of this size, moved so that the slice lies inside.
fn clamped_starts(shape: &[usize], starts: &[Arc<Buffer>], size: &[usize]) -> Vec<usize> {
    let start = |axis: usize| {
        let last = shape[axis].saturating_sub(size[axis]);
        starts.get(axis).filter(|s| !s.is_empty()).map_or(0, |s| index_at(s, 0)).clamp(0, last as i64)
            as usize
    };
    (0..shape.len()).map(start).collect()
}

fn dynamic_slice(operand: &Buffer, starts: &[Arc<Buffer>], sizes: &[usize]) -> Result<Buffer, InterpError> {
    let starts = clamped_starts(operand.shape(), starts, sizes);
    let mut result = zeros(operand.dtype(), sizes)?;
    let mut points = Odometer::new(sizes);
    let mut element = 0;
    while points.more() {
        let position: Vec<usize> = starts.iter().zip(&points.at).map(|(s, p)| s + p).collect();
        result.set(element, operand.get(offset(operand.shape(), &position)));
        element += 1;
        points.step();
    }
    Ok(result)
}

fn dynamic_update_slice(
    operand: &Buffer,
    update: &Buffer,
    starts: &[Arc<Buffer>],
) -> Result<Buffer, InterpError> {
    let starts = clamped_starts(operand.shape(), starts, update.shape());
    let mut result = operand.clone();
    let mut points = Odometer::new(update.shape());
    let mut element = 0;
    while points.more() {
        let position: Vec<usize> = starts.iter().zip(&points.at).map(|(s, p)| s + p).collect();
        result.set(offset(operand.shape(), &position), update.get(element));
        element += 1;
        points.step();
    }
    Ok(result)
}
