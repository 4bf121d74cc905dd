//! Reductions with a function of their own in lanes: neighbouring elements of the result are the lanes of vectors, and each
//! joins its terms in row-major order.

use super::in_order::overflow;
use super::points::{Maker, elements, known};
use super::reduce::Reduction;
use super::{Kernels, Lowered};
use crate::expression::gather::strides;
use crate::kernels::expression::Tensor;
use crate::kernels::machine::Spread;
use surject_ir::{DType, FieldKind, Var};
use surject_kernel::{Access, Affine, Level, LoopKind, Place, Type, Value};

/// Vectors that are reduced side by side: comparisons of one do not wait for those of another.
const BESIDE: i64 = 4;

/// The most lanes of a vector.
const MOST: i64 = 64;

/// Elements of the result that are lanes: the axis along which they are neighbours, how many of it, from which one on.
#[derive(Clone, Copy)]
pub(super) struct Lanes {
    axis: usize,
    lanes: i64,
    first: i64,
    blocks: i64,
}

/// Where an element lies, whose place is known by axis.
fn address(shape: &[i64], position: &[Affine]) -> Option<Affine> {
    let mut all = strides(shape)?.into_iter().zip(position);
    all.try_fold(Affine::from(0), |sum, (stride, place)| sum.plus(place, stride))
}

impl Kernels<'_> {
    /// How the elements of a result lie in vectors, in one kernel each: blocks of several vectors, then of one, then of what is
    /// left. `None`: they have none.
    pub(super) fn lanes_of(&self, reduction: &Reduction<'_>) -> Option<Vec<Lanes>> {
        let Spread::Tasks { .. } = self.machine.spread() else { return None };
        let widest = self.call.targets.iter().map(|&t| self.call.function.ty(t).dtype.size()).max()?;
        let lanes = (self.machine.vector_bytes() / widest.max(1)) as i64;
        let &axis = reduction.kept.last()?;
        let extent = reduction.shape[axis];
        if lanes < 2 || extent < lanes || elements(&reduction.shape).ok()? == 0 {
            return None;
        }
        let mut found = Vec::new();
        let mut first = 0;
        for lanes in [(lanes * BESIDE).min(MOST), lanes, lanes / 2, lanes / 4, 1] {
            let blocks = if lanes > 0 { (extent - first) / lanes } else { 0 };
            if blocks > 0 {
                found.push(Lanes { axis, lanes, first, blocks });
                first += blocks * lanes;
            }
        }
        Some(found)
    }

    /// The kernel of a reduction whose elements are lanes.
    pub(super) fn reduce_in_lanes(&mut self, reduction: &Reduction<'_>, by: Lanes) -> Lowered<()> {
        let targets = self.call.targets;
        let outer: Vec<usize> = reduction.kept.iter().copied().filter(|&a| a != by.axis).collect();
        let mut sizes: Vec<i64> = outer.iter().map(|&a| reduction.shape[a]).collect();
        sizes.push(by.blocks);
        let vectors = elements(&sizes)?;
        let terms = elements(&reduction.sizes(&reduction.reduced))?;
        let name = format!("{}_{}", self.name, self.launches.len());
        let mut maker = Maker::new(self.call, &self.temporaries, name);
        let number = maker.open_vectors(self.machine.spread(), vectors, terms * by.lanes)?;
        let place = maker.unravel(number, &sizes);
        let mut position = vec![Affine::from(0); reduction.shape.len()];
        for (&axis, &at) in outer.iter().zip(&place) {
            position[axis] = maker.wide_position(at);
        }
        let block = place.last().copied().ok_or_else(overflow)?;
        let first = maker.wide_position(block).times(by.lanes).and_then(|p| p.plus(&by.first.into(), 1));
        let lane = if by.lanes > 1 { Affine::lane(1) } else { Affine::from(0) };
        position[by.axis] = first.and_then(|p| p.plus(&lane, 1)).ok_or_else(overflow)?;
        let lanes = by.lanes as usize;
        let inits = reduction.inits(&mut maker)?;
        let mut carried: Vec<Value> = inits.into_iter().map(|v| maker.b.broadcast(v, lanes)).collect();
        for &axis in &reduction.reduced {
            let (at, inside) = maker.b.open_for(0, reduction.shape[axis], 1, LoopKind::Serial, &carried);
            position[axis] = at.into();
            carried = inside;
        }
        let mut arguments = carried;
        for &operand in reduction.operands {
            arguments.push(maker.vector(operand, &position, &reduction.shape, lanes)?);
        }
        let mut values = maker.apply(reduction.join, &arguments)?;
        for _ in &reduction.reduced {
            values = maker.b.close_for(&values);
        }
        let kept: Vec<Affine> = reduction.kept.iter().map(|&a| position[a].clone()).collect();
        let at = address(&reduction.sizes(&reduction.kept), &kept).ok_or_else(overflow)?;
        for (&target, value) in targets.iter().zip(values) {
            let mem = maker.memory(Tensor::Var(target), Access::Write)?;
            maker.b.store(Place::new(mem, at.clone()), value);
        }
        self.launches.push(maker.finish());
        Ok(())
    }
}

impl Maker<'_> {
    /// Opens tasks of vectors, each of which has so many operations.
    pub(super) fn open_vectors(&mut self, spread: Spread, vectors: i64, operations: i64) -> Lowered<Value> {
        let Spread::Tasks { points } = spread else { return self.open_points(spread, vectors) };
        /// Operations of a task, for each point that it would have.
        const EACH: i64 = 16;
        let needed = (points.saturating_mul(EACH) / operations.max(1)).max(1);
        let of_a_task = (needed..=vectors / 2).find(|each| vectors % each == 0).unwrap_or(vectors);
        let (task, _) = self.b.open_for(0, vectors / of_a_task, 1, LoopKind::Parallel(Level::Task), &[]);
        let (own, _) = self.b.open_for(0, of_a_task, 1, LoopKind::Serial, &[]);
        let at = Affine::from(own).plus(&task.into(), of_a_task).ok_or_else(overflow)?;
        Ok(self.position(at))
    }

    /// A position as a part of an address.
    pub(super) fn wide_position(&mut self, at: Value) -> Affine {
        self.b.convert(at, DType::I64).into()
    }

    /// The elements of an operand in lanes, computed where that is a matter of their position.
    fn vector(&mut self, operand: Var, position: &[Affine], shape: &[i64], lanes: usize) -> Lowered<Value> {
        let dtype = self.call.function.ty(operand).dtype;
        match known(self.call.function, operand) {
            Some(&FieldKind::Const(value)) => Ok(self.b.splat(value, lanes)),
            Some(&FieldKind::Index { axis }) => {
                let integer = if dtype.is_int() { dtype } else { DType::I64 };
                let at = self.b.index(position[axis].clone(), Type::vector(integer, lanes));
                Ok(self.b.convert(at, dtype))
            }
            _ => {
                let mem = self.memory(Tensor::Var(operand), Access::Read)?;
                let at = address(shape, position).ok_or_else(overflow)?;
                Ok(self.b.load(Place::new(mem, at), Type::vector(dtype, lanes)))
            }
        }
    }
}
