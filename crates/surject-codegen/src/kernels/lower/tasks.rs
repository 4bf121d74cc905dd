//! Points that tasks of a CPU share: so many one after the other are a task.

use super::{Lowered, Lowering};
use crate::CodegenError;
use surject_ir::BinaryOp;
use surject_kernel::{Affine, Level, LoopKind, Value};

/// The loops of tasks that are open, and the place in a box that each of their iterations has.
pub(super) struct Tasks {
    pub(super) digits: Vec<Affine>,
    loops: usize,
}

fn overflow() -> CodegenError {
    CodegenError::overflow("tasks")
}

impl Lowering<'_> {
    /// Opens tasks of so many places in a box of these sizes, the last size running fastest; the last task has what is left.
    pub(super) fn open_tasks(&mut self, sizes: &[i64], each: i64) -> Lowered<Tasks> {
        let count = sizes.iter().try_fold(1i64, |n, &s| n.checked_mul(s)).ok_or_else(overflow)?;
        let (mut number, mut loops) = (Affine::from(0), 0);
        if count > each {
            let tasks = (count - 1) / each + 1;
            let (task, _) = self.b.open_for(0, tasks, 1, LoopKind::Parallel(Level::Task), &[]);
            (number, loops) = (Affine::from(task).times(each).ok_or_else(overflow)?, 1);
        }
        if each > 1 && count > 1 {
            let size = self.at_most(each.min(count), (&number, count))?;
            let (own, _) = self.b.open_for(0, size, 1, LoopKind::Serial, &[]);
            (number, loops) = (number.plus(&own.into(), 1).ok_or_else(overflow)?, loops + 1);
        }
        Ok(Tasks { digits: self.digits(&number, sizes), loops })
    }

    /// So many, or as many as there are from the first on.
    pub(super) fn at_most(&mut self, most: i64, (first, all): (&Affine, i64)) -> Lowered<Affine> {
        if all % most == 0 {
            return Ok(most.into());
        }
        let left = Affine::from(all).plus(first, -1).ok_or_else(overflow)?;
        Ok(self.lesser(&left, &most.into()).into())
    }

    /// The lesser of two numbers.
    pub(super) fn lesser(&mut self, one: &Affine, other: &Affine) -> Value {
        let (one, other) = (self.number(one), self.number(other));
        self.b.binary(BinaryOp::Min, one, other)
    }

    /// Closes them.
    pub(super) fn close_tasks(&mut self, tasks: Tasks) {
        (0..tasks.loops).for_each(|_| _ = self.b.close_for(&[]));
    }
}
