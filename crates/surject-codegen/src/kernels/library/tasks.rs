//! Tasks of a CPU: how many share a kernel, and which numbers each of them goes through.

use super::points::{Maker, elements};
use super::vectors::overflow;
use super::{Kernels, Lowered};
use crate::kernels::machine::Spread;
use surject_ir::BinaryOp;
use surject_kernel::{Affine, Guard, Level, LoopKind, Type, Value};

/// A range of numbers below `count` for each of some tasks.
#[derive(Clone, Copy)]
pub(super) struct Share {
    pub(super) task: Value,
    pub(super) tasks: i64,
}

impl Kernels<'_> {
    /// The threads that share tasks.
    pub(super) fn threads(&self) -> i64 {
        match self.machine.spread() {
            Spread::Tasks { threads, .. } => threads.max(1),
            Spread::Threads { .. } => 1,
        }
    }

    /// How many tasks share so many bytes of work, which has so many parts.
    pub(super) fn tasks(&self, bytes: i64, parts: i64) -> i64 {
        /// The bytes that are worth a task, and the most tasks of a thread: more than one, since threads are interrupted.
        const BYTES: i64 = 1 << 16;
        const EACH: i64 = 4;
        match self.threads() {
            1 => 1,
            threads => (bytes / BYTES).min(EACH.saturating_mul(threads)).min(parts).max(1),
        }
    }

    /// Makes one more kernel, of so many tasks.
    pub(super) fn of_tasks(
        &mut self,
        tasks: i64,
        body: impl FnOnce(&mut Maker<'_>, Share) -> Lowered<()>,
    ) -> Lowered<()> {
        self.launch(|maker| {
            let (task, _) = maker.b.open_for(0, tasks, 1, LoopKind::Parallel(Level::Task), &[]);
            body(maker, Share { task, tasks })
        })
    }

    /// Makes one more kernel, over so many points with so many operations each.
    pub(super) fn shared_kernel(
        &mut self,
        points: i64,
        operations: i64,
        body: impl FnOnce(&mut Maker<'_>, Affine) -> Lowered<()>,
    ) -> Lowered<()> {
        /// The bytes that are worth as much as an operation.
        const BYTES: i64 = 8;
        let tasks = self.tasks(points.saturating_mul(operations).saturating_mul(BYTES), points);
        self.of_tasks(tasks, |maker, share| {
            let point = maker.open_share(share, points)?;
            body(maker, point)
        })
    }
}

impl Maker<'_> {
    /// Has a task this number?
    pub(super) fn is_task(&mut self, task: Value, number: i64) -> Lowered<Value> {
        let behind = Affine::from(task).plus(&number.into(), -1).ok_or_else(overflow)?;
        Ok(self.b.holds(vec![Guard { expr: behind, bound: 1.into() }], 1))
    }

    /// Opens the loop over the numbers below `count` that a task has: as many as any other task, or one more.
    pub(super) fn open_share(&mut self, Share { task, tasks }: Share, count: i64) -> Lowered<Affine> {
        if count % tasks == 0 {
            let each = count / tasks;
            let (own, _) = self.b.open_for(0, each, 1, LoopKind::Serial, &[]);
            return Affine::from(own).plus(&task.into(), each).ok_or_else(overflow);
        }
        let mut bounds = Vec::new();
        for number in [Affine::from(task), Affine::from(task).plus(&1.into(), 1).ok_or_else(overflow)?] {
            let scaled = self.b.index(number.times(count).ok_or_else(overflow)?, Type::index());
            let tasks = self.b.splat(surject_ir::Scalar::from_i128(surject_ir::DType::I64, tasks.into()), 1);
            bounds.push(self.b.binary(BinaryOp::Div, scaled, tasks));
        }
        let (number, _) = self.b.open_for(bounds[0], bounds[1], 1, LoopKind::Serial, &[]);
        Ok(number.into())
    }

    /// The position with this row-major number in a box.
    pub(super) fn digits(&mut self, number: Affine, sizes: &[i64]) -> Lowered<Vec<Affine>> {
        let wide = sizes.iter().filter(|&&size| size != 1).count();
        if wide <= 1 {
            return Ok(sizes.iter().map(|&size| if size == 1 { 0.into() } else { number.clone() }).collect());
        }
        // What is below the size of a tensor fits into a position.
        elements(sizes)?;
        let number = self.position(number);
        let digits = self.unravel(number, sizes);
        Ok(digits.into_iter().map(|digit| self.wide_position(digit)).collect())
    }
}
