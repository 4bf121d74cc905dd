//! Select-and-scatter on a CPU: windows that are neighbours select in the lanes of vectors.
//!
//! Windows never meet along an axis where they are no wider than the step from one to the next: tasks share those axes. Along the
//! others they run in order, so that every element is joined with what is sent to it in the order of windows. Where neighbours
//! never meet, what they select is joined in lanes too: each element of a window gets the joined value where it is the one that is
//! selected. Where neighbours may select the same element, the places that lanes select go through memory, and are joined one by
//! one: what takes long is to select.

use super::points::{Maker, elements};
use super::vectors::{element_at, overflow};
use super::windows::{Elements, signed};
use super::{Kernels, Lowered};
use crate::CodegenError;
use crate::expression::gather::strides;
use crate::kernels::expression::Tensor;
use std::ops::Range;
use surject_ir::{BinaryOp, DType, Scalar, UnaryOp, Var, Window};
use surject_kernel::{Access, Affine, Guard, LoopKind, Mem, Place, Space, Type, Value};

/// Elements of a window that are selected from without a loop, in lanes and one by one.
const WRITTEN_OUT: [i64; 2] = [48, 16];

/// The longest windows along the lanes whose elements are transposed in registers.
const LONGEST: i64 = 24;

/// The fewest windows that lie in lanes.
const FEWEST: i64 = 4;

/// How what is selected is joined with what is sent to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joined {
    /// In lanes.
    InLanes,
    /// One window after the other.
    OneByOne,
}

/// Windows that are neighbours along an axis, in lanes. Along the axes inside of it, the operand has `beside` elements, each of
/// which is in a window of its own.
#[derive(Clone)]
struct Line {
    axis: usize,
    beside: i64,
    /// The windows along the axis of which all elements along it exist.
    inside: Range<i64>,
    joined: Joined,
}

/// Windows that are done at the same time.
struct Side<'a> {
    /// The number of the first one along each axis.
    number: &'a [Affine],
    /// The axis along which lanes are neighbours, and how many lanes there are.
    axis: usize,
    lanes: i64,
    /// The elements beside, which are selected from at the same time.
    beside: i64,
    /// The lanes that have a window.
    exist: Vec<Guard>,
}

/// What a window has selected.
struct Selected {
    /// Has it an element at all?
    found: Value,
    /// Where the element lies behind the first one of the window.
    place: Value,
}

/// The windows of a call.
struct Selection<'a> {
    window: &'a Window,
    operand: Var,
    source: Var,
    init: Var,
    target: Var,
    dtype: DType,
    /// The sizes of the operand and of the result, of the source, and of a window.
    shape: Vec<i64>,
    windows: Vec<i64>,
    sizes: Vec<i64>,
    /// The distances of neighbours along each axis, in the operand and in the source.
    steps: Vec<i64>,
    source_steps: Vec<i64>,
}

impl Selection<'_> {
    /// Do windows with different numbers along an axis never meet?
    fn are_separate(&self, axis: usize) -> bool {
        self.window.strides[axis] as i64 >= self.sizes[axis]
    }

    /// Is every window an element along an axis, and every element a window?
    fn is_plain(&self, axis: usize) -> bool {
        let is_one = self.sizes[axis] == 1 && self.window.strides[axis] == 1;
        is_one && self.window.padding[axis].0 == 0 && self.windows[axis] == self.shape[axis]
    }

    /// Is every element along an axis in a window?
    fn covers(&self, axis: usize) -> bool {
        let (stride, low) = (self.window.strides[axis] as i64, self.window.padding[axis].0);
        let end = (self.windows[axis] - 1).saturating_mul(stride).saturating_add(self.sizes[axis] - low);
        stride <= self.sizes[axis] && low >= 0 && end >= self.shape[axis]
    }

    /// The windows along an axis of which all elements along it exist.
    fn inside(&self, axis: usize) -> Range<i64> {
        let (stride, low) = (self.window.strides[axis] as i64, self.window.padding[axis].0);
        let windows = self.windows[axis];
        let first = low.saturating_add(stride - 1).div_euclid(stride).clamp(0, windows);
        let last = (self.shape[axis] - self.sizes[axis]).saturating_add(low).div_euclid(stride);
        first..(last + 1).clamp(first, windows)
    }

    /// Are all elements of all windows along an axis in the operand?
    fn is_inside(&self, axis: usize) -> bool {
        self.inside(axis) == (0..self.windows[axis])
    }

    /// The line of windows that lie in lanes, if there is one.
    fn line(&self) -> Option<Line> {
        let rank = self.shape.len();
        let last = rank.checked_sub(1)?;
        if self.dtype.is_complex() {
            return None;
        }
        // Places are counted in 32 bits.
        let total = self.shape.iter().try_fold(1i64, |n, &size| n.checked_mul(size));
        if total.is_none_or(|n| n >= 1 << 31) || self.windows.contains(&0) || self.sizes.contains(&0) {
            return None;
        }
        let windows = self.windows[last];
        let behind = (2..=LONGEST).contains(&self.sizes[last])
            && self.window.strides[last] as i64 == self.sizes[last]
            && (0..rank).all(|a| self.are_separate(a))
            && self.is_inside(last);
        if windows >= FEWEST && (self.is_plain(last) || behind) {
            return Some(Line { axis: last, beside: 1, inside: 0..windows, joined: Joined::InLanes });
        }
        let axis = (0..rank).rev().find(|&a| !self.is_plain(a))?;
        let beside = self.shape[axis + 1..].iter().product::<i64>();
        let inside = self.inside(axis);
        let is_short = self.sizes[axis].checked_mul(beside).is_some_and(|n| n <= WRITTEN_OUT[0]);
        let fits = is_short && inside.end - inside.start >= FEWEST;
        fits.then_some(Line { axis, beside, inside, joined: Joined::OneByOne })
    }

    /// Where an element of windows lies along an axis.
    fn along(&self, axis: usize, number: &Affine, element: &Affine) -> Option<Affine> {
        let first = number.times(self.window.strides[axis] as i64)?;
        first.plus(element, 1)?.plus(&self.window.padding[axis].0.into(), -1)
    }

    /// How far an element of a window lies behind the first one.
    fn behind_first(&self, element: &[Affine]) -> Lowered<Affine> {
        element_at(element, &self.steps)
    }

    /// Where the first element of the windows of a side lies in the operand, whether it exists or not.
    fn first(&self, side: &Side<'_>) -> Option<Affine> {
        let mut first = Affine::from(0);
        for (axis, number) in side.number.iter().enumerate() {
            first = first.plus(&self.along(axis, number, &0.into())?, self.steps[axis])?;
        }
        match side.lanes {
            1 => Some(first),
            _ => first.plus(&Affine::lane(self.window.strides[side.axis] as i64), self.steps[side.axis]),
        }
    }

    /// Where an element of the windows of a side exists: lanes differ only along an axis on which all elements exist.
    fn exists(&self, side: &Side<'_>, element: &[Affine]) -> Lowered<Vec<Guard>> {
        let mut guards = Vec::new();
        for (axis, (number, element)) in side.number.iter().zip(element).enumerate() {
            if !self.is_inside(axis) && (axis != side.axis || side.lanes == 1) {
                let expr = self.along(axis, number, element).ok_or_else(overflow)?;
                guards.push(Guard { expr, bound: self.shape[axis].into() });
            }
        }
        Ok(guards)
    }
}

impl Selection<'_> {
    /// The elements of the windows of a side.
    fn elements(&self, side: &Side<'_>) -> Elements<'_> {
        let most = WRITTEN_OUT[usize::from(side.lanes == 1)];
        let mut count = side.beside;
        let mut unrolled = self.sizes.len();
        while let Some(&size) = unrolled.checked_sub(1).map(|axis| &self.sizes[axis]) {
            count = count.saturating_mul(size);
            if count > most {
                break;
            }
            unrolled -= 1;
        }
        Elements { sizes: &self.sizes, unrolled }
    }

    /// Has every window of a side an element?
    fn has_elements(&self, side: &Side<'_>) -> bool {
        let in_lanes = |axis: usize| axis == side.axis && side.lanes > 1;
        (0..self.shape.len()).all(|axis| self.sizes[axis] > 0 && (in_lanes(axis) || self.is_inside(axis)))
    }

    /// Selects in the windows of a side; gives what is selected of each element beside.
    fn select(&self, maker: &mut Maker<'_>, side: &Side<'_>) -> Lowered<Vec<Selected>> {
        let (regions, lanes) = (maker.call.regions, side.lanes as usize);
        let from = maker.memory(Tensor::Var(self.operand), Access::Read)?;
        let no = maker.b.splat(Scalar::bool(false), lanes);
        let nowhere = maker.b.splat(Scalar::from_i128(DType::I32, -1), lanes);
        let parts = maker.parts(self.operand);
        let nothing = maker.b.splat(Scalar::zero(self.dtype.part()), lanes);
        // Of each element beside: has it an element, where does it lie, and its parts.
        let carried = 2 + parts.len();
        let own = [no, nowhere].into_iter().chain(parts.iter().map(|_| nothing)).collect::<Vec<_>>();
        let state = own.repeat(side.beside as usize);
        let first = self.first(side).ok_or_else(overflow)?;
        let state = self.elements(side).each(maker, state, &mut |maker, element, mut state| {
            let mut guards = self.exists(side, element)?;
            let exists = match guards.is_empty() {
                true => maker.b.splat(Scalar::bool(true), lanes),
                false => {
                    let exists = maker.b.holds(guards.clone(), 1);
                    maker.b.broadcast(exists, lanes)
                }
            };
            guards.extend(side.exist.iter().cloned());
            let behind = self.behind_first(element)?;
            for (beside, own) in state.chunks_exact_mut(carried).enumerate() {
                let behind = behind.plus(&(beside as i64).into(), 1).ok_or_else(overflow)?;
                let at = first.plus(&behind, 1).ok_or_else(overflow)?;
                let mut values = Vec::new();
                for part in &parts {
                    let place = Place { guards: guards.clone(), ..Place::new(from, part.of(&at)?) };
                    values.push(maker.b.load(place, Type::vector(part.dtype, lanes)));
                }
                let keep = maker.apply(&regions[0], &[&own[2..], &values].concat())?;
                let keep = keep.first().copied().ok_or_else(no_result)?;
                let keep = maker.b.broadcast(keep, lanes);
                let keep = maker.and(own[0], keep);
                let other = maker.b.unary(UnaryOp::Not, keep);
                let replaces = maker.and(other, exists);
                let behind = maker.b.index(behind, Type::scalar(DType::I32));
                let behind = maker.b.broadcast(behind, lanes);
                own[0] = maker.b.binary(BinaryOp::Or, own[0], exists);
                own[1] = maker.b.select(replaces, behind, own[1]);
                for (own, value) in own[2..].iter_mut().zip(values) {
                    *own = maker.b.select(replaces, value, *own);
                }
            }
            Ok(state)
        })?;
        let selected = state.chunks_exact(carried);
        Ok(selected.map(|own| Selected { found: own[0], place: own[1] }).collect())
    }

    /// Where the elements of the source of a side are.
    fn sent(&self, maker: &mut Maker<'_>, side: &Side<'_>) -> Lowered<Place> {
        let mem = maker.memory(Tensor::Var(self.source), Access::Read)?;
        let at = element_at(side.number, &self.source_steps)?;
        let lane = if side.lanes > 1 { Affine::lane(self.source_steps[side.axis]) } else { 0.into() };
        let at = at.plus(&lane, 1).ok_or_else(overflow)?;
        Ok(Place { guards: side.exist.clone(), ..Place::new(mem, at) })
    }

    /// Joins a vector or a scalar with what is sent to it.
    fn join(&self, maker: &mut Maker<'_>, old: Value, sent: Value) -> Lowered<Value> {
        let regions = maker.call.regions;
        let joined = maker.apply(&regions[1], &[old, sent])?;
        let joined = joined.first().copied().ok_or_else(no_result)?;
        let lanes = maker.b.ty(old).lanes;
        Ok(maker.b.broadcast(joined, lanes))
    }

    /// Joins what the lanes of a side select with what is sent to it, where no two lanes select the same element. Where the windows
    /// are `alone`, no other one has their elements, which all are written.
    fn join_in_lanes(&self, maker: &mut Maker<'_>, side: &Side<'_>, alone: bool) -> Lowered<()> {
        let lanes = side.lanes as usize;
        let ty = Type::vector(self.dtype, lanes);
        let place = self.sent(maker, side)?;
        let sent = maker.b.load(place, ty);
        let selected = self.select(maker, side)?.swap_remove(0).place;
        let init = match alone {
            true => {
                let mem = maker.memory(Tensor::Var(self.init), Access::Read)?;
                let init = maker.b.load(Place::new(mem, 0), Type::scalar(self.dtype));
                Some(maker.b.broadcast(init, lanes))
            }
            false => None,
        };
        let to = maker.memory(Tensor::Var(self.target), Access::ReadWrite)?;
        let first = self.first(side).ok_or_else(overflow)?;
        let written = self.elements(side).each(maker, Vec::new(), &mut |maker, element, state| {
            let exists = self.exists(side, element)?;
            let is_inside = exists.is_empty();
            if !is_inside {
                let exists = maker.b.holds(exists, 1);
                maker.b.open_if(exists);
            }
            let behind = self.behind_first(element)?;
            let at = first.plus(&behind, 1).ok_or_else(overflow)?;
            let place = Place { guards: side.exist.clone(), ..Place::new(to, at) };
            let old = match init {
                Some(init) => init,
                None => maker.b.load(place.clone(), ty),
            };
            let joined = self.join(maker, old, sent)?;
            let behind = maker.b.index(behind, Type::scalar(DType::I32));
            let behind = maker.b.broadcast(behind, lanes);
            let is_here = maker.compare(BinaryOp::Eq, selected, behind);
            let value = maker.b.select(is_here, joined, old);
            maker.b.store(place, value);
            if !is_inside {
                maker.b.close_if(&[]);
            }
            Ok(state)
        });
        written.map(drop)
    }

    /// Joins the element of the target at a place with what is sent to it.
    fn join_one(&self, maker: &mut Maker<'_>, place: Place, sent: Place) -> Lowered<()> {
        let mut arguments = Vec::new();
        let mut places = Vec::new();
        for part in maker.parts(self.target) {
            let offset = place.offset.map(|offset| maker.scaled_by(offset, part.count));
            let place = Place { at: part.of(&place.at)?, offset, ..place.clone() };
            arguments.push(maker.b.load(place.clone(), Type::scalar(part.dtype)));
            places.push(place);
        }
        for part in maker.parts(self.source) {
            let sent = Place { at: part.of(&sent.at)?, ..sent.clone() };
            arguments.push(maker.b.load(sent, Type::scalar(part.dtype)));
        }
        let joined = maker.apply(&maker.call.regions[1], &arguments)?;
        places.into_iter().zip(joined).for_each(|(place, value)| maker.b.store(place, value));
        Ok(())
    }

    /// A window by itself.
    fn one(&self, maker: &mut Maker<'_>, number: &[Affine]) -> Lowered<()> {
        let side = Side { number, axis: 0, lanes: 1, beside: 1, exist: Vec::new() };
        let Selected { found, place } = self.select(maker, &side)?.swap_remove(0);
        let to = maker.memory(Tensor::Var(self.target), Access::ReadWrite)?;
        let first = self.first(&side).ok_or_else(overflow)?;
        let sent = self.sent(maker, &side)?;
        let place = Place { offset: Some(place), ..Place::new(to, first) };
        if self.has_elements(&side) {
            return self.join_one(maker, place, sent);
        }
        maker.b.open_if(found);
        self.join_one(maker, place, sent)?;
        maker.b.close_if(&[]);
        Ok(())
    }

    /// Windows of a line from a number on: selects in lanes, keeps the places in memory, and joins what is sent to each but for the
    /// first ones, so many of which have been done.
    fn join_from_memory(
        &self,
        maker: &mut Maker<'_>,
        (side, places): (&Side<'_>, Mem),
        done: Affine,
    ) -> Lowered<()> {
        let lanes = side.lanes;
        let selected = self.select(maker, side)?;
        for (beside, Selected { place, .. }) in selected.into_iter().enumerate() {
            let at = Affine::lane(1).plus(&(beside as i64 * lanes).into(), 1).ok_or_else(overflow)?;
            maker.b.store(Place::new(places, at), place);
        }
        let to = maker.memory(Tensor::Var(self.target), Access::ReadWrite)?;
        // The lanes of the addresses are iterations here.
        let iterated = |mut at: Affine, lane: Value| {
            let step = std::mem::take(&mut at.lane);
            at.plus(&lane.into(), step).ok_or_else(overflow)
        };
        let first = self.first(side).ok_or_else(overflow)?;
        let sent = self.sent(maker, side)?;
        let (lane, _) = maker.b.open_for(done, lanes, 1, LoopKind::Serial, &[]);
        let (first, from) = (iterated(first, lane)?, iterated(sent.at.clone(), lane)?);
        for beside in 0..side.beside {
            let kept = Affine::from(lane).plus(&(beside * lanes).into(), 1).ok_or_else(overflow)?;
            let kept = maker.b.load(Place::new(places, kept), Type::scalar(DType::I32));
            let place = Place { offset: Some(kept), ..Place::new(to, first.clone()) };
            let from = from.plus(&beside.into(), 1).ok_or_else(overflow)?;
            let sent = Place { at: from, ..sent.clone() };
            if self.has_elements(side) {
                self.join_one(maker, place, sent)?;
                continue;
            }
            let nowhere = maker.b.splat(Scalar::from_i128(DType::I32, -1), 1);
            let found = maker.compare(BinaryOp::Ne, kept, nowhere);
            maker.b.open_if(found);
            self.join_one(maker, place, sent)?;
            maker.b.close_if(&[]);
        }
        maker.b.close_for(&[]);
        Ok(())
    }

    /// The windows of a line that never meet, in lanes.
    fn line_in_lanes(
        &self,
        maker: &mut Maker<'_>,
        axis: usize,
        number: &mut [Affine],
        widest: i64,
    ) -> Lowered<()> {
        let windows = self.windows[axis];
        let alone = (0..self.shape.len()).all(|a| self.are_separate(a));
        if self.sizes[axis] > 1 {
            // Windows that are alone may be done twice.
            let lanes = 1 << windows.min(widest).ilog2();
            let (at, _) = maker.open_vectors_between(0..windows, lanes)?;
            number[axis] = at;
            let side = Side { number, axis, lanes, beside: 1, exist: Vec::new() };
            self.join_in_lanes(maker, &side, alone)?;
            maker.b.close_for(&[]);
            return Ok(());
        }
        let main = windows - windows % widest;
        if main > 0 {
            let (at, _) = maker.b.open_for(0, main, widest, LoopKind::Serial, &[]);
            number[axis] = at.into();
            let side = Side { number, axis, lanes: widest, beside: 1, exist: Vec::new() };
            self.join_in_lanes(maker, &side, alone)?;
            maker.b.close_for(&[]);
        }
        let rest = windows - main;
        if rest > 0 {
            number[axis] = main.into();
            let lanes = (rest as u64).next_power_of_two() as i64;
            let expr = if lanes == 1 { Affine::from(0) } else { Affine::lane(1) };
            let exist = if rest == lanes { Vec::new() } else { vec![Guard { expr, bound: rest.into() }] };
            self.join_in_lanes(maker, &Side { number, axis, lanes, beside: 1, exist }, alone)?;
        }
        Ok(())
    }

    /// The windows of a line that may meet: those with elements outside of the operand along the line are done one by one.
    fn line_one_by_one(
        &self,
        maker: &mut Maker<'_>,
        line: &Line,
        number: &mut [Affine],
        widest: i64,
    ) -> Lowered<()> {
        let &Line { axis, beside, ref inside, .. } = line;
        let lanes = 1 << (inside.end - inside.start).min(widest).ilog2();
        let places = maker.b.alloc("places", DType::I32, beside * lanes, Space::Stack);
        for ends in [0..inside.start, inside.clone(), inside.end..self.windows[axis]] {
            if ends.is_empty() {
                continue;
            }
            if ends == *inside {
                let (at, done) = maker.open_vectors_between(ends, lanes)?;
                number[axis] = at;
                let side = Side { number, axis, lanes, beside, exist: Vec::new() };
                self.join_from_memory(maker, (&side, places), done)?;
            } else {
                number[axis] = maker.b.open_for(ends.start, ends.end, 1, LoopKind::Serial, &[]).0.into();
                let inner = axis + 1..self.shape.len();
                for axis in inner.clone() {
                    let (at, _) = maker.b.open_for(0, self.windows[axis], 1, LoopKind::Serial, &[]);
                    number[axis] = at.into();
                }
                self.one(maker, number)?;
                for axis in inner {
                    maker.b.close_for(&[]);
                    number[axis] = 0.into();
                }
            }
            maker.b.close_for(&[]);
        }
        Ok(())
    }
}

fn no_result() -> CodegenError {
    CodegenError::malformed("a scalar function without a result")
}

impl Maker<'_> {
    /// Opens a loop over vectors of so many numbers. The last one ends with the last number: gives the first number of the vector, and
    /// how many of its first numbers the vector before it has too.
    fn open_vectors_between(&mut self, range: Range<i64>, lanes: i64) -> Lowered<(Affine, Affine)> {
        let (at, _) = self.b.open_for(range.start, range.end, lanes, LoopKind::Serial, &[]);
        if (range.end - range.start) % lanes == 0 {
            return Ok((at.into(), 0.into()));
        }
        let (own, last) =
            (self.b.index(at, Type::index()), Scalar::from_i128(DType::I64, (range.end - lanes).into()));
        let last = self.b.splat(last, 1);
        let first = Affine::from(self.b.binary(BinaryOp::Min, own, last));
        let done = Affine::from(at).plus(&first, -1).ok_or_else(overflow)?;
        Ok((first, done))
    }
}

impl Kernels<'_> {
    /// The target begins with the initial value where a window leaves an element out, or shares it; then every window joins the element
    /// that it selects.
    pub(super) fn select_and_scatter_in_order(&mut self, window: &Window) -> Lowered<()> {
        let [operand, source, init] = [0, 1, 2].map(|i| self.call.args[i]);
        let target = self.call.targets[0];
        let (shape, windows) = (self.shape(operand)?, self.shape(source)?);
        let (steps, source_steps) =
            (strides(&shape).ok_or_else(overflow)?, strides(&windows).ok_or_else(overflow)?);
        let sizes = signed(&window.sizes);
        let dtype = self.call.function.ty(target).dtype;
        let selection = Selection {
            window,
            operand,
            source,
            init,
            target,
            dtype,
            shape,
            windows,
            sizes,
            steps,
            source_steps,
        };
        let (rank, widest) = (selection.shape.len(), self.widest());
        let line = selection.line().filter(|_| widest >= FEWEST);
        let is_covered = (0..rank).all(|a| selection.are_separate(a) && selection.covers(a));
        if !is_covered || line.as_ref().is_none_or(|line| line.joined != Joined::InLanes) {
            self.filled(target, init)?;
        }
        if elements(&selection.windows)? == 0 || elements(&selection.shape)? == 0 {
            return Ok(());
        }
        let outer = line.as_ref().map_or(rank, |line| line.axis);
        let (shared, ordered): (Vec<usize>, Vec<usize>) =
            (0..outer).partition(|&axis| selection.are_separate(axis));
        let shares: Vec<i64> = shared.iter().map(|&axis| selection.windows[axis]).collect();
        let each = selection.sizes.iter().fold(1i64, |n, &size| n.saturating_mul(size));
        let each = if line.is_some() { each.saturating_mul(4) } else { each.saturating_mul(16) };
        let count = elements(&shares)?;
        let tasks = self.tasks(elements(&selection.windows)?.saturating_mul(each), count);
        self.of_tasks(tasks, |maker, share| {
            let mine = maker.open_share(share, count)?;
            let digits = maker.digits(mine, &shares)?;
            let mut number = vec![Affine::from(0); rank];
            shared.into_iter().zip(digits).for_each(|(axis, digit)| number[axis] = digit);
            for axis in ordered {
                let (at, _) = maker.b.open_for(0, selection.windows[axis], 1, LoopKind::Serial, &[]);
                number[axis] = at.into();
            }
            match line {
                None => selection.one(maker, &number),
                Some(Line { axis, joined: Joined::InLanes, .. }) => {
                    selection.line_in_lanes(maker, axis, &mut number, widest)
                }
                Some(line) => selection.line_one_by_one(maker, &line, &mut number, widest),
            }
        })
    }
}
