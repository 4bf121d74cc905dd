//! Gathers and slices at positions that are known at run time: elements are moved, and complex ones as two.

use super::boxes::{Begin, BoxMove, Side};
use super::points::{Maker, elements};
use super::vectors::overflow;
use super::{Kernels, Lowered};
use crate::CodegenError;
use crate::expression::gather::strides;
use crate::kernels::expression::Tensor;
use surject_ir::{BinaryOp, GatherDims, Var};
use surject_kernel::{Affine, Value};

/// The sizes of a tensor, with an axis for the two parts of complex numbers.
pub(super) fn parts_shape(maker: &Maker<'_>, tensor: Tensor) -> Lowered<Vec<i64>> {
    let mut shape = maker.shape(tensor)?;
    if maker.ty(tensor)?.dtype.is_complex() {
        shape.push(2);
    }
    Ok(shape)
}

/// Component `d` of the index vector of a batch position, moved to the nearest from `low` to `high`.
pub(super) fn start_index(
    maker: &mut Maker<'_>,
    indices: Tensor,
    batch: &[Value],
    index_vector_dim: usize,
    d: usize,
    low: i64,
    high: i64,
) -> Lowered<Value> {
    let shape = maker.shape(indices)?;
    let mut position = batch.to_vec();
    // Where the index vector has no axis of its own, every index is a vector of one component.
    if index_vector_dim < shape.len() {
        let d = maker.int(d as i64);
        position.insert(index_vector_dim, d);
    }
    let at = maker.ravel(&position, &shape);
    let start = maker.read(indices, at)?;
    Ok(maker.clamped(start, low, high))
}

/// The axis of a batch position that an axis of the indices is.
pub(super) fn batch_axis(axis: usize, index_vector_dim: usize) -> usize {
    axis - usize::from(axis >= index_vector_dim)
}

impl Kernels<'_> {
    fn operand(&self, i: usize) -> Lowered<Tensor> {
        let arg = self.call.args.get(i).copied().map(Tensor::Var);
        arg.ok_or_else(|| CodegenError::malformed(format!("`{}` has too few operands", self.call.op.name())))
    }

    pub(super) fn sizes(&self, tensor: Tensor) -> Lowered<Vec<i64>> {
        parts_shape(&Maker::new(self.call, &self.temporaries, String::new()), tensor)
    }

    /// The sizes of a variable.
    pub(super) fn shape(&self, var: Var) -> Lowered<Vec<i64>> {
        Maker::new(self.call, &self.temporaries, String::new()).shape(Tensor::Var(var))
    }

    pub(super) fn gather(&mut self, dims: &GatherDims, slice: &[u64]) -> Lowered<()> {
        let (operand, indices) = (self.operand(0)?, self.operand(1)?);
        let target = Tensor::Var(self.call.targets[0]);
        let (shape, from) = (self.sizes(target)?, self.sizes(operand)?);
        let rank = slice.len();
        if self.has_tasks() {
            return self.gather_boxes(dims, slice);
        }
        let slice_dims: Vec<usize> = (0..rank)
            .filter(|d| !dims.collapsed_slice_dims.contains(d) && !dims.operand_batching_dims.contains(d))
            .collect();
        self.kernel(elements(&shape)?, |maker, point| {
            let at = maker.unravel(point, &shape);
            // Behind the axes of the result come the parts of complex numbers.
            let axes = shape.len() - (from.len() - rank);
            let batch: Vec<Value> =
                (0..axes).filter(|d| !dims.offset_dims.contains(d)).map(|d| at[d]).collect();
            let zero = maker.int(0);
            let mut position = vec![zero; rank];
            for (d, &axis) in dims.start_index_map.iter().enumerate() {
                let last = (from[axis] - slice[axis] as i64).max(0);
                position[axis] = start_index(maker, indices, &batch, dims.index_vector_dim, d, 0, last)?;
            }
            for (&axis, &d) in dims.operand_batching_dims.iter().zip(&dims.start_indices_batching_dims) {
                position[axis] = batch[batch_axis(d, dims.index_vector_dim)];
            }
            for (&d, &axis) in dims.offset_dims.iter().zip(&slice_dims) {
                position[axis] = maker.add(position[axis], at[d]);
            }
            position.extend(&at[axes..]);
            let number = maker.ravel(&position, &from);
            let value = maker.read(operand, number)?;
            maker.write(target, point, value)
        })
    }

    /// A gather on a machine of tasks: a box for each index.
    fn gather_boxes(&mut self, dims: &GatherDims, slice: &[u64]) -> Lowered<()> {
        let (operand, indices) = (self.operand(0)?, self.operand(1)?);
        let target = Tensor::Var(self.call.targets[0]);
        let (shape, from) = (self.sizes(target)?, self.sizes(operand)?);
        let (own, out) = (strides(&from).ok_or_else(overflow)?, strides(&shape).ok_or_else(overflow)?);
        let rank = slice.len();
        let axes = shape.len() - (from.len() - rank);
        let batch_dims: Vec<usize> = (0..axes).filter(|d| !dims.offset_dims.contains(d)).collect();
        let batch: Vec<i64> = batch_dims.iter().map(|&d| shape[d]).collect();
        // Behind the axes come the parts of complex numbers.
        let kept = (0..rank)
            .filter(|d| !dims.collapsed_slice_dims.contains(d) && !dims.operand_batching_dims.contains(d))
            .chain(rank..from.len());
        let kept: Vec<usize> = kept.collect();
        let extents = kept.iter().map(|&d| slice.get(d).map_or(from[d], |&n| n as i64)).collect();
        let into = dims.offset_dims.iter().copied().chain(axes..shape.len());
        let step = BoxMove {
            extents,
            from: Side { tensor: operand, strides: kept.iter().map(|&d| own[d]).collect() },
            to: Side { tensor: target, strides: into.map(|d| out[d]).collect() },
        };
        let (count, each) = (elements(&batch)?, elements(&step.extents)?);
        if count == 0 || each == 0 {
            return Ok(());
        }
        let lanes = self.widest();
        self.shared_kernel(count, each, |maker, number| {
            let number = maker.position(number);
            let at = maker.unravel(number, &batch);
            let mut place = Begin { from: 0.into(), to: 0.into() };
            for (d, &axis) in dims.start_index_map.iter().enumerate() {
                let last = (from[axis] - slice[axis] as i64).max(0);
                let start = start_index(maker, indices, &at, dims.index_vector_dim, d, 0, last)?;
                let start = maker.wide_position(start);
                place.from = place.from.plus(&start, own[axis]).ok_or_else(overflow)?;
            }
            for (&axis, &d) in dims.operand_batching_dims.iter().zip(&dims.start_indices_batching_dims) {
                let digit = maker.wide_position(at[batch_axis(d, dims.index_vector_dim)]);
                place.from = place.from.plus(&digit, own[axis]).ok_or_else(overflow)?;
            }
            for (&d, &digit) in batch_dims.iter().zip(&at) {
                let digit = maker.wide_position(digit);
                place.to = place.to.plus(&digit, out[d]).ok_or_else(overflow)?;
            }
            maker.move_part(step, place, lanes)
        })
    }

    /// The kernel of a move of a slice that begins where scalar operands say, of a tensor of these sizes, from there or to there.
    fn move_slice(&mut self, step: BoxMove, sizes: &[i64], starts: &[Var], way: Way) -> Lowered<()> {
        if step.extents.contains(&0) {
            return Ok(());
        }
        let last: Vec<i64> = sizes.iter().zip(&step.extents).map(|(all, part)| all - part).collect();
        let own = strides(sizes).ok_or_else(overflow)?;
        self.moved(step, |maker| {
            let mut first = Affine::from(0);
            for (axis, &start) in starts.iter().enumerate() {
                let start = clamped_start(maker, start, last[axis])?;
                let start = maker.wide_position(start);
                first = first.plus(&start, own[axis]).ok_or_else(overflow)?;
            }
            Ok(match way {
                Way::FromThere => Begin { from: first, to: 0.into() },
                Way::ToThere => Begin { from: 0.into(), to: first },
            })
        })
    }

    pub(super) fn dynamic_slice(&mut self) -> Lowered<()> {
        let operand = self.operand(0)?;
        let target = Tensor::Var(self.call.targets[0]);
        let starts = &self.call.args[1..];
        let (shape, from) = (self.sizes(target)?, self.sizes(operand)?);
        if self.has_tasks() {
            let step = BoxMove {
                from: Side { tensor: operand, strides: strides(&from).ok_or_else(overflow)? },
                to: Side { tensor: target, strides: strides(&shape).ok_or_else(overflow)? },
                extents: shape,
            };
            return self.move_slice(step, &from, starts, Way::FromThere);
        }
        self.kernel(elements(&shape)?, |maker, point| {
            let mut position = maker.unravel(point, &shape);
            for (axis, &start) in starts.iter().enumerate() {
                let start = clamped_start(maker, start, from[axis] - shape[axis])?;
                position[axis] = maker.add(position[axis], start);
            }
            let number = maker.ravel(&position, &from);
            let value = maker.read(operand, number)?;
            maker.write(target, point, value)
        })
    }

    /// Writes the update into a target that is a copy of the operand.
    pub(super) fn update_of_copy(&mut self) -> Lowered<()> {
        let update = self.operand(1)?;
        let target = Tensor::Var(self.call.targets[0]);
        let starts = &self.call.args[2..];
        let (shape, part) = (self.sizes(target)?, self.sizes(update)?);
        if self.has_tasks() {
            let step = BoxMove {
                from: Side { tensor: update, strides: strides(&part).ok_or_else(overflow)? },
                to: Side { tensor: target, strides: strides(&shape).ok_or_else(overflow)? },
                extents: part,
            };
            return self.move_slice(step, &shape, starts, Way::ToThere);
        }
        self.kernel(elements(&part)?, |maker, point| {
            let mut position = maker.unravel(point, &part);
            for (axis, &start) in starts.iter().enumerate() {
                let start = clamped_start(maker, start, shape[axis] - part[axis])?;
                position[axis] = maker.add(position[axis], start);
            }
            let number = maker.ravel(&position, &shape);
            let value = maker.read(update, point)?;
            maker.write(target, number, value)
        })
    }

    pub(super) fn dynamic_update_slice(&mut self) -> Lowered<()> {
        let (operand, update) = (self.operand(0)?, self.operand(1)?);
        let target = Tensor::Var(self.call.targets[0]);
        let starts = &self.call.args[2..];
        let (shape, part) = (self.sizes(target)?, self.sizes(update)?);
        if self.has_tasks() {
            let all = strides(&shape).ok_or_else(overflow)?;
            let copy = BoxMove {
                from: Side { tensor: operand, strides: all.clone() },
                to: Side { tensor: target, strides: all },
                extents: shape,
            };
            if !copy.extents.contains(&0) {
                self.moved(copy, |_| Ok(Begin { from: 0.into(), to: 0.into() }))?;
            }
            return self.update_of_copy();
        }
        let is_empty = elements(&part)? == 0;
        self.kernel(elements(&shape)?, |maker, point| {
            let old = maker.read(operand, point)?;
            if is_empty {
                return maker.write(target, point, old);
            }
            let mut position = maker.unravel(point, &shape);
            let mut inside = None;
            for (axis, &start) in starts.iter().enumerate() {
                let start = clamped_start(maker, start, shape[axis] - part[axis])?;
                position[axis] = maker.sub(position[axis], start);
                let (low, high) = (maker.int(0), maker.int(part[axis]));
                let here = maker.within(position[axis], low, high);
                inside = Some(match inside {
                    Some(before) => maker.and(before, here),
                    None => here,
                });
            }
            let number = maker.ravel(&position, &part);
            let value = match inside {
                Some(inside) => {
                    let new = maker.read_if(inside, update, number)?;
                    maker.b.select(inside, new, old)
                }
                None => maker.read(update, number)?,
            };
            maker.write(target, point, value)
        })
    }
}

/// Which side of a move begins where operands say.
enum Way {
    FromThere,
    ToThere,
}

/// Where a slice begins along an axis.
fn clamped_start(maker: &mut Maker<'_>, start: Var, last: i64) -> Lowered<Value> {
    let zero = maker.int(0);
    let start = maker.read(Tensor::Var(start), zero)?;
    Ok(maker.clamped(start, 0, last.max(0)))
}

/// Do all of these hold? `None` of none.
pub(super) fn all(maker: &mut Maker<'_>, conditions: Vec<Value>) -> Option<Value> {
    conditions.into_iter().reduce(|x, y| maker.b.binary(BinaryOp::And, x, y))
}
