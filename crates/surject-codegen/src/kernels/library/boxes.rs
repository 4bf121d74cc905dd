//! Moves of boxes of elements from tensor to tensor on machines of tasks, run by run in vectors.

use super::points::{Maker, elements};
use super::vectors::{Vectors, overflow, pieces, vector_at};
use super::{Kernels, Lowered};
use crate::kernels::expression::Tensor;
use surject_kernel::{Access, Affine, LoopKind, Place, Type};

/// Bytes that are loaded before they are stored.
const STEP: i64 = 256;

/// One side of a move: the elements from one to the next along each axis of the box.
pub(super) struct Side {
    pub(super) tensor: Tensor,
    pub(super) strides: Vec<i64>,
}

/// A move of a box of elements.
pub(super) struct BoxMove {
    pub(super) extents: Vec<i64>,
    pub(super) from: Side,
    pub(super) to: Side,
}

/// Where a box begins on both sides.
#[derive(Clone)]
pub(super) struct Begin {
    pub(super) from: Affine,
    pub(super) to: Affine,
}

impl Begin {
    /// So many elements further along an axis.
    fn further(self, by: &Affine, moves: &BoxMove, axis: usize) -> Lowered<Begin> {
        let plus = |at: Affine, stride: i64| at.plus(by, stride).ok_or_else(overflow);
        Ok(Begin {
            from: plus(self.from, moves.from.strides[axis])?,
            to: plus(self.to, moves.to.strides[axis])?,
        })
    }
}

impl BoxMove {
    /// The same with its runs as the last axis: what lies side by side in both tensors.
    fn in_runs(mut self) -> BoxMove {
        let mut run = 1;
        while let Some(axis) = self.extents.len().checked_sub(1) {
            let is_next = self.from.strides[axis] == run && self.to.strides[axis] == run;
            if !is_next && self.extents[axis] != 1 {
                break;
            }
            run *= self.extents[axis];
            self.extents.pop();
            self.from.strides.truncate(axis);
            self.to.strides.truncate(axis);
        }
        self.extents.push(run);
        self.from.strides.push(1);
        self.to.strides.push(1);
        self
    }
}

impl Kernels<'_> {
    /// The lanes in which elements are moved: those of several vectors.
    fn lanes_of_move(&self, moves: &BoxMove, size: i64) -> i64 {
        let bytes = if self.machine.vector_bytes() > 0 { STEP } else { 1 };
        let all = moves.extents.iter().product::<i64>().max(1);
        (bytes / size).clamp(1, 1 << all.ilog2())
    }

    /// The kernel of a move, which tasks share: some of the outermost axes, or parts of the one run that there is.
    pub(super) fn moved(
        &mut self,
        moves: BoxMove,
        begin: impl FnOnce(&mut Maker<'_>) -> Lowered<Begin>,
    ) -> Lowered<()> {
        /// Parts for every thread, at least, where there are so many.
        const PARTS: i64 = 8;
        let moves = moves.in_runs();
        let size =
            Maker::new(self.call, &self.temporaries, String::new()).ty(moves.to.tensor)?.dtype.part().size();
        let lanes = self.lanes_of_move(&moves, size as i64);
        let (&run, outer) = moves.extents.split_last().ok_or_else(overflow)?;
        let bytes = elements(&moves.extents)?.saturating_mul(size as i64);
        let tasks = self.tasks(bytes, i64::MAX);
        if elements(outer)? == 1 && tasks > 1 && run >= tasks * lanes {
            return self.of_tasks(tasks, |maker, share| {
                let first = begin(maker)?;
                let axis = outer.len();
                let vector = maker.open_share(share, run / lanes)?;
                let at = vector.times(lanes).ok_or_else(overflow)?;
                maker.move_vector(&moves, first.clone().further(&at, &moves, axis)?, lanes)?;
                maker.b.close_for(&[]);
                if run % lanes > 0 {
                    // The last task has what is left of the run.
                    let is_last = maker.is_task(share.task, tasks - 1)?;
                    maker.b.open_if(is_last);
                    let place = first.further(&(run - run % lanes).into(), &moves, axis)?;
                    maker.move_run(&moves, place, run % lanes, lanes)?;
                    maker.b.close_if(&[]);
                }
                Ok(())
            });
        }
        let enough = |axes: &usize| outer[..*axes].iter().product::<i64>() >= PARTS * self.threads();
        let shared = (0..outer.len()).find(enough).unwrap_or(outer.len());
        let count: i64 = outer[..shared].iter().product();
        self.of_tasks(tasks.min(count), |maker, share| {
            let mut place = begin(maker)?;
            let own = maker.open_share(share, count)?;
            for (axis, digit) in maker.digits(own, &outer[..shared])?.into_iter().enumerate() {
                place = place.further(&digit, &moves, axis)?;
            }
            maker.move_box(&moves, shared, place, lanes)
        })
    }
}

impl Maker<'_> {
    /// Moves a box from an axis on, which begins at a place, in vectors of at most so many lanes. The box is one of runs.
    fn move_box(&mut self, moves: &BoxMove, axis: usize, mut place: Begin, lanes: i64) -> Lowered<()> {
        let last = moves.extents.len() - 1;
        for axis in axis..last {
            let (own, _) = self.b.open_for(0, moves.extents[axis], 1, LoopKind::Serial, &[]);
            place = place.further(&own.into(), moves, axis)?;
        }
        self.move_run(moves, place, moves.extents[last], lanes)?;
        for _ in axis..last {
            self.b.close_for(&[]);
        }
        Ok(())
    }

    /// Moves a box inside of the loops that are open.
    pub(super) fn move_part(&mut self, moves: BoxMove, place: Begin, lanes: i64) -> Lowered<()> {
        self.move_box(&moves.in_runs(), 0, place, lanes)
    }

    /// Moves so many elements of a run.
    fn move_run(&mut self, moves: &BoxMove, place: Begin, count: i64, lanes: i64) -> Lowered<()> {
        let axis = moves.extents.len() - 1;
        for Vectors { lanes, first, count } in pieces(count, lanes) {
            let (vector, _) = self.b.open_for(0, count, 1, LoopKind::Serial, &[]);
            let at = Affine::from(vector).times(lanes).and_then(|at| at.plus(&first.into(), 1));
            let at = at.ok_or_else(overflow)?;
            let place = place.clone().further(&at, moves, axis)?;
            self.move_vector(moves, place, lanes)?;
            self.b.close_for(&[]);
        }
        Ok(())
    }

    fn move_vector(&mut self, moves: &BoxMove, place: Begin, lanes: i64) -> Lowered<()> {
        let (from, to) =
            (self.memory(moves.from.tensor, Access::Read)?, self.memory(moves.to.tensor, Access::Write)?);
        let ty = Type::vector(self.b.memory_type(from), lanes as usize);
        let [from, to] = [(from, place.from), (to, place.to)]
            .map(|(mem, at)| vector_at(at, lanes).map(|at| Place::new(mem, at)));
        let value = self.b.load(from?, ty);
        self.b.store(to?, value);
        Ok(())
    }
}
