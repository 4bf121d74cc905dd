//! Updates that are lines: neighbours in the updates go to neighbours in the targets, and are joined in vectors.

use super::Scatter;
use super::in_order::Destination;
use crate::kernels::expression::Tensor;
use crate::kernels::library::points::{Maker, elements};
use crate::kernels::library::vectors::{Vectors, overflow, pieces, vector_at};
use crate::kernels::library::{Kernels, Lowered};
use surject_ir::Var;
use surject_kernel::{Access, Affine, LoopKind, Place, Type, Value};

/// Elements of a piece of a line are a multiple of these, but for the last piece.
const PIECE: i64 = 16;

/// The least elements of a piece: of shorter ones tasks would often write to the same line of the caches. (Two halves of lines of 100
/// elements take twice as long as whole ones.)
const LEAST_PIECE: i64 = 80;

/// Bytes of updates that are worth several tasks.
const LEAST_SHARED: i64 = 1 << 18;

/// Vectors of the elements of a line: those of narrow elements fill so many bytes.
const LANES: i64 = 16;
const VECTOR_BYTES: i64 = 64;

/// Lines of so many elements are written out, in vectors of so many lanes: the next update may be of the same line, and wide vectors
/// that were just stored are slow to load.
const MOST_WRITTEN_OUT: i64 = 64;
const LANES_WRITTEN_OUT: i64 = 8;

/// The least elements of a line that is worth keeping in registers for several updates.
const LEAST_KEPT: i64 = 8;

/// The line that every update is; it has one element where updates go element by element.
#[derive(Clone, Debug)]
pub(super) struct Line {
    elements: i64,
    /// The most lanes of a vector.
    widest: i64,
    /// How many tasks have a piece of every line each; the last one has what is left of it too.
    pub(super) tasks: i64,
    /// The elements of a piece.
    piece: i64,
    /// Where the piece begins.
    pub(super) first: Affine,
    /// The task, where there are several.
    task: Option<Value>,
}

impl Line {
    /// The line that the axes of updates are from one of them on, for so many threads.
    pub(super) fn of(
        kernels: &Kernels<'_>,
        scatter: &Scatter<'_>,
        from: usize,
        threads: i64,
    ) -> Lowered<Line> {
        let count = elements(&scatter.update_shape[from..])?;
        let sizes =
            scatter.updates.iter().map(|&update| kernels.call.function.ty(update).dtype.size() as i64);
        let bytes = elements(&scatter.update_shape)?.saturating_mul(sizes.max().unwrap_or(1));
        let tasks = if bytes > LEAST_SHARED { threads.min(count / LEAST_PIECE).max(1) } else { 1 };
        let piece = if tasks > 1 { count / tasks / PIECE * PIECE } else { count };
        let mut line = Line {
            elements: count,
            widest: kernels.vector_lanes(),
            tasks,
            piece,
            first: 0.into(),
            task: None,
        };
        if line.is_written_out() {
            line.widest = line.widest.min(LANES_WRITTEN_OUT);
        }
        Ok(line)
    }

    /// Makes it the piece of a task.
    pub(super) fn of_task(&mut self, task: Value) -> Lowered<()> {
        self.first = Affine::from(task).times(self.piece).ok_or_else(overflow)?;
        self.task = Some(task);
        Ok(())
    }

    /// Do updates go element by element?
    pub(super) fn is_element(&self) -> bool {
        self.elements == 1
    }

    /// Is it short enough to be written out, many times?
    pub(super) fn is_written_out(&self) -> bool {
        self.tasks == 1 && self.elements <= MOST_WRITTEN_OUT
    }

    /// Is it worth looking whether updates go to the same line?
    pub(super) fn is_worth_looking(&self) -> bool {
        self.is_written_out() && self.elements >= LEAST_KEPT
    }

    /// The elements of it that a task has.
    pub(super) fn longest(&self) -> i64 {
        self.elements / self.tasks
    }

    /// Joins the lines of updates, in order, to the line of the targets that begins at an element.
    pub(super) fn join(
        &self,
        maker: &mut Maker<'_>,
        scatter: &Scatter<'_>,
        (to, at): (&[Destination], &Affine),
        updates: &[Affine],
    ) -> Lowered<()> {
        for vectors in pieces(self.piece, self.widest) {
            self.join_vectors(maker, scatter, (to, at), updates, (&self.first, vectors))?;
        }
        let rest = self.elements - self.tasks * self.piece;
        let Some(task) = self.task.filter(|_| rest > 0) else { return Ok(()) };
        let is_last = maker.is_task(task, self.tasks - 1)?;
        maker.b.open_if(is_last);
        for vectors in pieces(rest, self.widest) {
            let first = Affine::from(self.tasks * self.piece);
            self.join_vectors(maker, scatter, (to, at), updates, (&first, vectors))?;
        }
        maker.b.close_if(&[]);
        Ok(())
    }

    /// Joins some vectors of lines, which begin behind an element of them.
    fn join_vectors(
        &self,
        maker: &mut Maker<'_>,
        scatter: &Scatter<'_>,
        (to, at): (&[Destination], &Affine),
        updates: &[Affine],
        (behind, Vectors { lanes, first, count }): (&Affine, Vectors),
    ) -> Lowered<()> {
        let first = behind.plus(&first.into(), 1).ok_or_else(overflow)?;
        let join = |maker: &mut Maker<'_>, element: &Affine| -> Lowered<()> {
            let first = first.plus(element, 1).ok_or_else(overflow)?;
            let from = |at: &Affine| at.plus(&first, 1).ok_or_else(overflow);
            let updates = updates.iter().map(from).collect::<Lowered<Vec<Affine>>>()?;
            join_vector(maker, scatter, (to, &from(at)?), &updates, lanes)
        };
        if count == 1 || self.is_written_out() {
            return (0..count).try_for_each(|vector| join(maker, &(vector * lanes).into()));
        }
        // The variable counts elements: all addresses are indexed by it.
        let (element, _) = maker.b.open_for(0, count * lanes, lanes, LoopKind::Serial, &[]);
        join(maker, &element.into())?;
        maker.b.close_for(&[]);
        Ok(())
    }
}

/// Joins a vector of each of some updates, in order, to the vector of the targets that begins at an element.
fn join_vector(
    maker: &mut Maker<'_>,
    scatter: &Scatter<'_>,
    (to, at): (&[Destination], &Affine),
    updates: &[Affine],
    lanes: i64,
) -> Lowered<()> {
    let mut places = Vec::new();
    let mut values = Vec::new();
    for (destination, &input) in to.iter().zip(scatter.inputs) {
        let at = at.plus(&destination.first, 1).ok_or_else(overflow)?;
        let ty = Type::vector(maker.b.memory_type(destination.mem), lanes as usize);
        for part in maker.parts(input) {
            let place = Place::new(destination.mem, vector_at(part.of(&at)?, lanes)?);
            values.push(maker.b.load(place.clone(), ty));
            places.push(place);
        }
    }
    for at in updates {
        for &update in scatter.updates {
            let mem = maker.memory(Tensor::Var(update), Access::Read)?;
            let ty = Type::vector(maker.b.memory_type(mem), lanes as usize);
            for part in maker.parts(update) {
                let place = Place::new(mem, vector_at(part.of(at)?, lanes)?);
                values.push(maker.b.load(place, ty));
            }
        }
        values = maker.apply(scatter.join, &values)?;
    }
    for (place, value) in places.into_iter().zip(values) {
        let value = maker.b.broadcast(value, lanes as usize);
        maker.b.store(place, value);
    }
    Ok(())
}

impl Kernels<'_> {
    /// The lanes of the vectors in which lines are copied and joined.
    pub(super) fn vector_lanes(&self) -> i64 {
        let is_complex = |&target: &Var| self.call.function.ty(target).dtype.is_complex();
        if self.machine.vector_bytes() == 0 || self.call.targets.iter().any(is_complex) {
            return 1;
        }
        let sizes = self.call.targets.iter().map(|&target| self.call.function.ty(target).dtype.size() as i64);
        // Floats of 16 bits are computed in 32.
        let halves = self.call.targets.iter().any(|&target| self.call.function.ty(target).dtype.is_float());
        let size = sizes.max().unwrap_or(1).max(if halves { 4 } else { 1 });
        LANES.max(VECTOR_BYTES / size)
    }
}
