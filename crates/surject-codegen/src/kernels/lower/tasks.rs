//! Points that tasks of a CPU share: so many one after the other are a task.

use super::{Lowered, Lowering};
use crate::CodegenError;
use surject_kernel::{Affine, Level, LoopKind};

/// The loops of tasks that are open, and the place in a box that each of their iterations has.
pub(super) struct Tasks {
    pub(super) digits: Vec<Affine>,
    loops: usize,
}

impl Lowering<'_> {
    /// Opens tasks of so many places in a box of these sizes, the last size running fastest: they divide the box.
    pub(super) fn open_tasks(&mut self, sizes: &[i64], each: i64) -> Lowered<Tasks> {
        let overflow = || CodegenError::overflow("tasks");
        let count = sizes.iter().try_fold(1i64, |n, &s| n.checked_mul(s)).ok_or_else(overflow)?;
        let (mut number, mut loops) = (Affine::from(0), 0);
        if count > each {
            let (task, _) = self.b.open_for(0, count / each, 1, LoopKind::Parallel(Level::Task), &[]);
            (number, loops) = (Affine::from(task).times(each).ok_or_else(overflow)?, 1);
        }
        if each > 1 {
            let (own, _) = self.b.open_for(0, each, 1, LoopKind::Serial, &[]);
            (number, loops) = (number.plus(&own.into(), 1).ok_or_else(overflow)?, loops + 1);
        }
        Ok(Tasks { digits: self.digits(&number, sizes), loops })
    }

    /// Closes them.
    pub(super) fn close_tasks(&mut self, tasks: Tasks) {
        (0..tasks.loops).for_each(|_| _ = self.b.close_for(&[]));
    }
}
