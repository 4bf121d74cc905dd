//! Updates of few elements that tasks share: the first one accumulates its share into the target, every other one into a copy of its
//! own, and the copies are joined with the target afterwards.
//!
//! An update of an element waits for the one before it, and the more updates of few elements are on their way, the more often one
//! does. So nothing is gained where tasks share the elements instead.

use super::in_order::{Destination, InOrder};
use crate::CodegenError;
use crate::kernels::expression::Tensor;
use crate::kernels::library::moves::parts_shape;
use crate::kernels::library::points::{Maker, elements};
use crate::kernels::library::vectors::{Vectors, overflow, pieces, vector_at};
use crate::kernels::library::{Kernels, Lowered};
use surject_index::Space;
use surject_ir::{AccOp, BinaryOp, DType, Scalar, TensorType, Var};
use surject_kernel::{Access, Affine, Level, LoopKind, Place, Type, Value};

/// Fewer elements of updates are not worth a second task.
const LEAST_SHARED: i64 = 16_384;

/// More tasks have more copies to join than they are worth.
const MOST_TASKS: i64 = 8;

/// A copy begins at a multiple of so many elements.
const ALIGNED: i64 = 16;

/// Copies of the target that tasks accumulate into: all but the first one, which has the target.
pub(super) struct Copies {
    tasks: i64,
    op: AccOp,
    /// From one copy to the next, in elements.
    stride: i64,
}

/// The part of the outermost loop over updates that a task has.
pub(super) struct OwnUpdates {
    pub(super) low: Affine,
    pub(super) high: Affine,
    /// Has it the last update?
    pub(super) is_last: Value,
}

impl Kernels<'_> {
    /// The copies that tasks of so many threads accumulate into. `None`: the updates are not shared in this way. They are where their
    /// order makes no difference but in rounding, and there are many more of them than elements.
    pub(super) fn copies(&self, order: &InOrder<'_>, threads: i64) -> Lowered<Option<Copies>> {
        let Some(op) = order.scatter.join.accumulation(self.call.function) else { return Ok(None) };
        let (&[target], Some(first)) = (self.call.targets, order.loops.first()) else { return Ok(None) };
        let dtype = self.call.function.ty(target).dtype;
        if dtype.is_complex() {
            return Ok(None);
        }
        let (many, count) = (elements(&order.scatter.update_shape)?, elements(&order.scatter.shape)?);
        let tasks = threads.min(MOST_TASKS).min(first.count);
        let exact = dtype.is_int() || matches!(dtype, DType::F32 | DType::F64);
        let worth = tasks > 1 && many >= LEAST_SHARED && count.saturating_mul(2 * tasks) <= many;
        let stride = (count + ALIGNED - 1) / ALIGNED * ALIGNED;
        Ok((exact && worth && order.line.tasks == 1).then_some(Copies { tasks, op, stride }))
    }

    /// Accumulates the updates into the target and its copies, and joins these.
    pub(super) fn scatter_into_copies(&mut self, order: &InOrder<'_>, copies: &Copies) -> Lowered<()> {
        let &Copies { tasks, op, stride } = copies;
        let (&[target], &[input]) = (self.call.targets, order.scatter.inputs) else {
            return Err(CodegenError::malformed("copies of several targets"));
        };
        let dtype = self.call.function.ty(target).dtype;
        let size = u64::try_from((tasks - 1).saturating_mul(stride)).map_err(|_| overflow())?;
        let own = self.temporary(TensorType::new(dtype, Space::of(&[size])));
        let (lanes, is_in_place) = (self.vector_lanes(), self.call.is_in_place(0));
        self.launch(|maker| {
            let (task, _) = maker.b.open_for(0, tasks, 1, LoopKind::Parallel(Level::Task), &[]);
            let share = order.share(maker, task, tasks)?;
            let is_first = maker.is_task(task, 0)?;
            maker.b.open_if(is_first);
            if !is_in_place {
                maker.copy((target, input), lanes)?;
            }
            let mem = maker.memory(Tensor::Var(target), Access::ReadWrite)?;
            order.join_all(maker, &[Destination { mem, first: 0.into() }], Some(&share))?;
            maker.b.open_else(&[]);
            let first = Affine::from(task).plus(&1.into(), -1).and_then(|copy| copy.times(stride));
            let first = first.ok_or_else(overflow)?;
            let mem = maker.memory(own, Access::ReadWrite)?;
            maker.each_vector(stride, lanes, |maker, at, lanes| {
                let neutral = maker.b.splat(op.exact_neutral(dtype), lanes as usize);
                let at = at.plus(&first, 1).ok_or_else(overflow)?;
                maker.b.store(Place::new(mem, at), neutral);
                Ok(())
            })?;
            order.join_all(maker, &[Destination { mem, first }], Some(&share))?;
            maker.b.close_if(&[]);
            Ok(())
        })?;
        self.joined(target, op, (own, tasks - 1, stride))
    }
}

impl InOrder<'_> {
    /// The share of the updates that a task has: whole runs, but for the last one.
    fn share(&self, maker: &mut Maker<'_>, task: Value, tasks: i64) -> Lowered<OwnUpdates> {
        let count = self.loops.first().map_or(1, |l| l.count) / self.unit();
        let each = (count + tasks - 1) / tasks;
        let low = Affine::from(task).times(each).ok_or_else(overflow)?;
        let mut high = low.plus(&each.into(), 1).ok_or_else(overflow)?;
        if each * tasks != count {
            let most = maker.b.splat(Scalar::from_i128(DType::I64, count.into()), 1);
            let end = maker.b.index(high, Type::index());
            high = maker.b.binary(BinaryOp::Min, end, most).into();
        }
        Ok(OwnUpdates { low, high, is_last: maker.is_task(task, tasks - 1)? })
    }
}

impl Maker<'_> {
    /// Does something for vectors that cover so many elements.
    fn each_vector(
        &mut self,
        count: i64,
        widest: i64,
        body: impl Fn(&mut Self, &Affine, i64) -> Lowered<()>,
    ) -> Lowered<()> {
        for Vectors { lanes, first, count } in pieces(count, widest) {
            let high = first + count * lanes;
            let (element, _) = self.b.open_for(first, high, lanes, LoopKind::Serial, &[]);
            body(self, &vector_at(element.into(), lanes)?, lanes)?;
            self.b.close_for(&[]);
        }
        Ok(())
    }

    /// Copies a tensor to where another one is.
    pub(super) fn copy(&mut self, (to, from): (Var, Var), widest: i64) -> Lowered<()> {
        let count = elements(&parts_shape(self, Tensor::Var(from))?)?;
        let from = self.memory(Tensor::Var(from), Access::Read)?;
        let to = self.memory(Tensor::Var(to), Access::ReadWrite)?;
        self.each_vector(count, widest, |maker, at, lanes| {
            let ty = Type::vector(maker.b.memory_type(from), lanes as usize);
            let value = maker.b.load(Place::new(from, at.clone()), ty);
            maker.b.store(Place::new(to, at.clone()), value);
            Ok(())
        })
    }
}
