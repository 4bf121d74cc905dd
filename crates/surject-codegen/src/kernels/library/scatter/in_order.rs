//! Scatters on machines of few tasks: updates are joined in the order of their elements, which takes as many steps as there are
//! updates.
//!
//! Tasks share the work in one of two ways. Of long lines every task has a piece of each, so every element still gets its updates
//! in order ([`Line::tasks`]). Of many updates that are accumulated into few elements every task has a share, and elements of its own
//! ([`super::copies`]).

use super::Scatter;
use super::copies::OwnUpdates;
use super::lines::Line;
use crate::expression::gather::strides;
use crate::kernels::expression::Tensor;
use crate::kernels::library::moves::batch_axis;
use crate::kernels::library::points::{Maker, elements};
use crate::kernels::library::vectors::{element_at, overflow};
use crate::kernels::library::{Kernels, Lowered};
use crate::kernels::machine::FarBytes;
use surject_ir::{BinaryOp, DType, Scalar, Var};
use surject_kernel::{Access, Affine, Guard, Level, LoopKind, Mem, Place, Type, Value, Wanted};

/// Updates of a batch that are written out, one after the other. A processor predicts by the address of an instruction whether a
/// load depends on a store before it. With one instruction for all updates this prediction is often wrong.
pub(super) const RUN: i64 = 8;

/// Copies of more bytes are shared among the tasks of several threads.
const SHARED_COPY: i64 = 1 << 18;

/// Bytes between an update and the one that is prefetched meanwhile, and the most updates in between.
const AHEAD: i64 = 4096;
const MOST_AHEAD: i64 = 128;

/// A loop over the updates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    /// The axis of the updates that it numbers; with it those before it that are one axis with it.
    axis: usize,
    pub(super) count: i64,
    /// The axis of the inputs that it runs along; `None`: it runs over the batch.
    window: Option<usize>,
}

/// How the updates of a scatter are joined in order.
pub(super) struct InOrder<'a> {
    pub(super) scatter: &'a Scatter<'a>,
    /// The loops over the updates, the outermost first. Axes behind them are a line.
    pub(super) loops: Vec<Loop>,
    pub(super) line: Line,
    /// From which size on targets are prefetched.
    far: FarBytes,
    /// Distances between neighbours along the axes.
    of_target: Vec<i64>,
    of_update: Vec<i64>,
}

/// The elements that updates are joined to: a target, or a part of a temporary.
pub(super) struct Destination {
    pub(super) mem: Mem,
    pub(super) first: Affine,
}

/// Where an update goes.
pub(super) struct Located {
    /// The position in the target, by axis.
    position: Vec<Affine>,
    /// The parts of it that indices name.
    named: Vec<Value>,
    /// The element of the updates.
    pub(super) update: Affine,
}

impl<'a> InOrder<'a> {
    /// The order of a scatter that has updates, on so many threads.
    fn of(kernels: &Kernels<'_>, scatter: &'a Scatter<'a>, threads: i64) -> Lowered<InOrder<'a>> {
        let of_target = strides(&scatter.shape).ok_or_else(overflow)?;
        let of_update = strides(&scatter.update_shape).ok_or_else(overflow)?;
        let rank = scatter.update_shape.len();
        let axes = rank - scatter.whole_axes();
        let line = Line::of(kernels, scatter, axes, threads)?;
        let mut loops: Vec<Loop> = Vec::new();
        for (axis, &count) in scatter.update_shape.iter().enumerate().take(axes) {
            let of_window = scatter.dims.update_window_dims.iter().position(|&d| d == axis);
            let window = of_window.map(|i| scatter.window_dims[i]);
            match loops.last_mut() {
                Some(before) if scatter.is_one_axis(before.axis, axis) => {
                    let count = before.count.checked_mul(count).ok_or_else(overflow)?;
                    *before = Loop { axis, count, window };
                }
                _ => loops.push(Loop { axis, count, window }),
            }
        }
        loops.retain(|l| l.count != 1);
        Ok(InOrder { scatter, loops, line, far: kernels.machine.far_bytes(), of_target, of_update })
    }

    /// In numbers of how many updates the outermost loop is shared.
    pub(super) fn unit(&self) -> i64 {
        if self.loops.len() == 1 && self.runs(0) { RUN } else { 1 }
    }

    /// Are the updates of a loop written out some at a time? Longer lines have more than enough to do for each.
    fn runs(&self, depth: usize) -> bool {
        depth + 1 == self.loops.len() && self.loops[depth].window.is_none() && self.line.is_written_out()
    }

    /// Joins all updates, or a share of those of the outermost loop.
    pub(super) fn join_all(
        &self,
        maker: &mut Maker<'_>,
        to: &[Destination],
        share: Option<&OwnUpdates>,
    ) -> Lowered<()> {
        let mut number = vec![Affine::from(0); self.scatter.update_shape.len()];
        self.join_from(maker, to, 0, &mut number, share)
    }

    /// Joins the updates of the loops from a depth on, where those around it have these numbers.
    fn join_from(
        &self,
        maker: &mut Maker<'_>,
        to: &[Destination],
        depth: usize,
        number: &mut [Affine],
        share: Option<&OwnUpdates>,
    ) -> Lowered<()> {
        let rest = &self.loops[depth..];
        let Some(l) = rest.first().filter(|_| rest.iter().any(|l| l.window.is_none())) else {
            return self.join_window(maker, to, rest, number);
        };
        if self.runs(depth) {
            return self.join_runs(maker, to, number, l, share);
        }
        let (low, high) = match share {
            Some(share) => (share.low.clone(), share.high.clone()),
            None => (0.into(), l.count.into()),
        };
        let (own, _) = maker.b.open_for(low, high, 1, LoopKind::Serial, &[]);
        number[l.axis] = own.into();
        self.join_from(maker, to, depth + 1, number, None)?;
        maker.b.close_for(&[]);
        Ok(())
    }

    /// Joins the window of a batch position: the loops along it are left. What does not depend on these is looked at before them.
    fn join_window(
        &self,
        maker: &mut Maker<'_>,
        to: &[Destination],
        along: &[Loop],
        number: &[Affine],
    ) -> Lowered<()> {
        let mut located = self.locate(maker, number)?;
        let (inside, outside): (Vec<usize>, Vec<usize>) =
            (0..self.scatter.shape.len()).partition(|&axis| along.iter().any(|l| l.window == Some(axis)));
        let opened = self.open_inside(maker, &located, &outside);
        if along.is_empty() {
            self.prefetch(maker, to, number)?;
        }
        for l in along {
            let (own, _) = maker.b.open_for(0, l.count, 1, LoopKind::Serial, &[]);
            if let Some(axis) = l.window {
                let position = &mut located.position[axis];
                *position = position.plus(&own.into(), 1).ok_or_else(overflow)?;
            }
            let update = located.update.plus(&own.into(), self.of_update[l.axis]);
            located.update = update.ok_or_else(overflow)?;
        }
        let opened_inside = self.open_inside(maker, &located, &inside);
        let at = self.target(&located)?;
        self.line.join(maker, self.scatter, (to, &at), &[located.update])?;
        close(maker, opened_inside);
        along.iter().for_each(|_| _ = maker.b.close_for(&[]));
        close(maker, opened);
        Ok(())
    }

    /// Joins the updates of the innermost loop, some written out at a time, and then what is left.
    fn join_runs(
        &self,
        maker: &mut Maker<'_>,
        to: &[Destination],
        number: &mut [Affine],
        l: &Loop,
        share: Option<&OwnUpdates>,
    ) -> Lowered<()> {
        let whole = l.count / RUN;
        let (low, high) = match share {
            Some(share) => (share.low.clone(), share.high.clone()),
            None => (0.into(), whole.into()),
        };
        if whole > 0 {
            let (run, _) = maker.b.open_for(low, high, 1, LoopKind::Serial, &[]);
            let mut numbers = Vec::new();
            for u in 0..RUN {
                number[l.axis] = Affine::from(u).plus(&run.into(), RUN).ok_or_else(overflow)?;
                numbers.push(number.to_vec());
            }
            self.join_run(maker, to, &numbers)?;
            maker.b.close_for(&[]);
        }
        if l.count % RUN == 0 {
            return Ok(());
        }
        if let Some(share) = share {
            maker.b.open_if(share.is_last);
        }
        let (own, _) = maker.b.open_for(whole * RUN, l.count, 1, LoopKind::Serial, &[]);
        number[l.axis] = own.into();
        self.join_window(maker, to, &[], number)?;
        maker.b.close_for(&[]);
        close(maker, share.is_some());
        Ok(())
    }

    /// Joins updates that are written out. Where all of them go to one line, as those of sorted indices often do, that line stays in
    /// registers.
    fn join_run(&self, maker: &mut Maker<'_>, to: &[Destination], numbers: &[Vec<Affine>]) -> Lowered<()> {
        let (Some(first), true) = (numbers.first(), self.line.is_worth_looking() && self.may_meet(numbers))
        else {
            return numbers.iter().try_for_each(|number| self.join_window(maker, to, &[], number));
        };
        let all: Vec<usize> = (0..self.scatter.shape.len()).collect();
        let mut located = Vec::new();
        for number in numbers {
            self.prefetch(maker, to, number)?;
            located.push(self.locate(maker, number)?);
        }
        let start = self.locate(maker, first)?;
        let guards = self.guards(maker, &start, &all);
        let mut same = if guards.is_empty() { None } else { Some(maker.b.holds(guards, 1)) };
        for other in located.iter().skip(1) {
            for (&x, &y) in start.named.iter().zip(&other.named) {
                let equal = maker.compare(BinaryOp::Eq, x, y);
                same = Some(same.map_or(equal, |before| maker.and(before, equal)));
            }
        }
        let updates: Vec<Affine> = located.iter().map(|l| l.update.clone()).collect();
        let at = self.target(&start)?;
        // Without indices all updates go to the same place.
        let Some(same) = same else { return self.line.join(maker, self.scatter, (to, &at), &updates) };
        maker.b.open_if(same);
        self.line.join(maker, self.scatter, (to, &at), &updates)?;
        maker.b.open_else(&[]);
        for one in &located {
            let opened = self.open_inside(maker, one, &all);
            self.line.join(
                maker,
                self.scatter,
                (to, &self.target(one)?),
                std::slice::from_ref(&one.update),
            )?;
            close(maker, opened);
        }
        maker.b.close_if(&[]);
        Ok(())
    }

    /// Can updates with these numbers go to the same place? Not if an axis of the batch is one of the inputs.
    fn may_meet(&self, numbers: &[Vec<Affine>]) -> bool {
        let scatter = self.scatter;
        let batching = scatter.dims.scatter_indices_batching_dims.iter();
        let mut axes = batching.map(|&d| scatter.batch_dims[batch_axis(d, scatter.dims.index_vector_dim)]);
        axes.all(|axis| numbers.windows(2).all(|pair| pair[0][axis] == pair[1][axis]))
    }

    /// Where the update with these numbers goes.
    pub(super) fn locate(&self, maker: &mut Maker<'_>, number: &[Affine]) -> Lowered<Located> {
        let Scatter { dims, shape, batch_dims, .. } = self.scatter;
        let mut position = vec![Affine::from(0); shape.len()];
        let mut named = Vec::new();
        for (d, &axis) in dims.scatter_dims_to_operand_dims.iter().enumerate() {
            let start = self.scatter.index(maker, number, d)?;
            // Where a position is added to it, what is far outside must stay outside.
            let start = match self.scatter.window(axis) {
                1 => start,
                window => maker.clamped(start, -window, shape[axis]),
            };
            let start = maker.b.convert(start, DType::I64);
            named.push(start);
            position[axis] = start.into();
        }
        for (&axis, &d) in dims.input_batching_dims.iter().zip(&dims.scatter_indices_batching_dims) {
            position[axis] = number[batch_dims[batch_axis(d, dims.index_vector_dim)]].clone();
        }
        for (&axis, &d) in self.scatter.window_dims.iter().zip(&dims.update_window_dims) {
            position[axis] = position[axis].plus(&number[d], 1).ok_or_else(overflow)?;
        }
        let update = element_at(number, &self.of_update)?;
        Ok(Located { position, named, update })
    }

    /// The element of a target.
    pub(super) fn target(&self, located: &Located) -> Lowered<Affine> {
        element_at(&located.position, &self.of_target)
    }

    /// What must hold of a position along these axes.
    fn guards(&self, maker: &Maker<'_>, located: &Located, axes: &[usize]) -> Vec<Guard> {
        let guard = |&axis: &usize| Guard {
            expr: located.position[axis].clone(),
            bound: self.scatter.shape[axis].into(),
        };
        axes.iter().map(guard).filter(|guard| maker.b.is_known(guard, 1) != Some(true)).collect()
    }

    /// Opens what runs where a position is inside along these axes; says whether anything had to be opened.
    fn open_inside(&self, maker: &mut Maker<'_>, located: &Located, axes: &[usize]) -> bool {
        let guards = self.guards(maker, located, axes);
        let opens = !guards.is_empty();
        if opens {
            let inside = maker.b.holds(guards, 1);
            maker.b.open_if(inside);
        }
        opens
    }

    /// Prefetches what an update some numbers later goes to, where that is far away: nothing but the indices says where that is.
    fn prefetch(&self, maker: &mut Maker<'_>, to: &[Destination], number: &[Affine]) -> Lowered<()> {
        let Some(l) = self.loops.last() else { return Ok(()) };
        let piece = self.line.longest();
        for destination in to {
            let size = maker.b.memory_type(destination.mem).size() as i64;
            let all = elements(&self.scatter.shape)?.saturating_mul(size);
            let bytes = piece.saturating_mul(size);
            let later = ((AHEAD - 1) / bytes.max(1) + 1).min(MOST_AHEAD);
            let least = if self.line.is_element() { self.far.of_elements } else { self.far.of_lines };
            if all <= least || l.count < 2 * later {
                continue;
            }
            let next = number[l.axis].plus(&later.into(), 1).ok_or_else(overflow)?;
            let next = maker.b.index(next, Type::index());
            let last = maker.b.splat(Scalar::from_i128(DType::I64, (l.count - 1).into()), 1);
            let next = maker.b.binary(BinaryOp::Min, next, last);
            let mut number = number.to_vec();
            number[l.axis] = next.into();
            let located = self.locate(maker, &number)?;
            let at = self.target(&located)?.plus(&destination.first, 1);
            let at = at.and_then(|at| at.plus(&self.line.first, 1)).ok_or_else(overflow)?;
            maker.prefetch(destination.mem, &at, bytes.min(AHEAD) / size, Wanted::Soon)?;
        }
        Ok(())
    }
}

/// Closes what runs under a condition, if that was opened.
fn close(maker: &mut Maker<'_>, opened: bool) {
    if opened {
        maker.b.close_if(&[]);
    }
}

impl Scatter<'_> {
    /// How many of the last axes of the updates are the last axes of the inputs, whole, wherever an update goes.
    fn whole_axes(&self) -> usize {
        let Scatter { dims, shape, update_shape, window_dims, .. } = self;
        let windows = dims.update_window_dims.iter().rev().zip(window_dims.iter().rev());
        let axes = (0..update_shape.len()).rev().zip((0..shape.len()).rev());
        let whole = windows.zip(axes).take_while(|&((&own, &axis), last)| {
            (own, axis) == last
                && update_shape[own] == shape[axis]
                && !dims.scatter_dims_to_operand_dims.contains(&axis)
        });
        whole.count()
    }

    /// Are two neighbouring axes of the updates like one: of the batch, next to each other in the indices too, and no axes of the
    /// inputs?
    fn is_one_axis(&self, x: usize, y: usize) -> bool {
        let at = |axis: usize| self.batch_dims.iter().position(|&d| d == axis);
        let (Some(first), Some(second)) = (at(x), at(y)) else { return false };
        let along = self.dims.index_vector_dim;
        let is_batching = |batch: usize| {
            let of = |&d: &usize| batch_axis(d, along) == batch;
            self.dims.scatter_indices_batching_dims.iter().any(of)
        };
        y == x + 1 && second != along && !is_batching(first) && !is_batching(second)
    }

    /// A component of the index of the update with these numbers.
    fn index(&self, maker: &mut Maker<'_>, number: &[Affine], component: usize) -> Lowered<Value> {
        let shape = maker.shape(self.indices)?;
        let mut position: Vec<Affine> = self.batch_dims.iter().map(|&d| number[d].clone()).collect();
        // Where the index vector has no axis of its own, every index is a vector of one component.
        let along = self.dims.index_vector_dim;
        if along < shape.len() {
            position.insert(along, (component as i64).into());
        }
        let at = element_at(&position, &strides(&shape).ok_or_else(overflow)?)?;
        let mem = maker.memory(self.indices, Access::Read)?;
        let ty = Type::scalar(maker.ty(self.indices)?.dtype);
        Ok(maker.b.load(Place::new(mem, at), ty))
    }
}

impl Kernels<'_> {
    /// Copies the inputs, and joins the updates in the order of their elements.
    pub(super) fn scatter_in_order(&mut self, scatter: &Scatter<'_>) -> Lowered<()> {
        let count = elements(&scatter.shape)?;
        let pairs = self.call.targets.iter().zip(scatter.inputs).enumerate();
        let copied: Vec<(Var, Var)> =
            pairs.filter(|(i, _)| !self.call.is_in_place(*i)).map(|(_, (&to, &from))| (to, from)).collect();
        if count == 0 || elements(&scatter.update_shape)? == 0 {
            return self.copied(&copied);
        }
        let threads = self.threads();
        let order = InOrder::of(self, scatter, threads)?;
        if let Some(copies) = self.copies(&order, threads)? {
            return self.scatter_into_copies(&order, &copies);
        }
        let bytes =
            |&(to, _): &(Var, Var)| count.saturating_mul(self.call.function.ty(to).dtype.size() as i64);
        let is_shared = order.line.tasks > 1 || threads > 1 && copied.iter().any(|p| bytes(p) > SHARED_COPY);
        if is_shared {
            self.copied(&copied)?;
        }
        let (targets, lanes) = (self.call.targets, self.vector_lanes());
        self.launch(|maker| {
            let mut order = order;
            let tasks = order.line.tasks;
            if tasks > 1 {
                let (task, _) = maker.b.open_for(0, tasks, 1, LoopKind::Parallel(Level::Task), &[]);
                order.line.of_task(task)?;
            }
            let within = copied.iter().filter(|_| !is_shared);
            within.copied().try_for_each(|pair| maker.copy(pair, lanes))?;
            let mut to = Vec::new();
            for &target in targets {
                let mem = maker.memory(Tensor::Var(target), Access::ReadWrite)?;
                to.push(Destination { mem, first: 0.into() });
            }
            order.join_all(maker, &to, None)
        })
    }
}
