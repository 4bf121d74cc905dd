//! Windows that overlap, side by side: each lane selects in a window of its own, and what they selected is sent to one
//! after the other.
//!
//! Neighbours may select the same element, so nothing can be joined to it in lanes. But it is finding an element that
//! takes long, not sending to it: a window of nine elements is nine comparisons, and one sum.

use crate::CodegenError;
use crate::code::{Op, Value};
use crate::expression::dag::Dag;
use crate::library::folds::flat;
use crate::library::select::{Single, plain};
use crate::library::windows::{position, sizes_of};
use crate::library::{Call, Writer, region, strides};
use crate::lower::emit::{At, Bounds, ScopeId, Val};
use crate::lower::kernel::Kernel;
use crate::lower::register_transpose::{LONGEST, Rows};
use crate::machine::elem::{Elem, Type};
use std::ops::Range;
use surject_ir::{DType, Window};

/// Windows that are selected in side by side.
const LANES: i64 = 16;

/// Elements along a window that are written out.
const WRITTEN: i64 = 48;

/// Windows one behind the other along an axis. The axes behind it run through the operand as it is: so many of its
/// elements lie beside each other.
pub(super) struct Line {
    axis: usize,
    beside: i64,
    /// The windows all of whose elements along the axis exist: the first one, and the one after the last.
    inside: Range<i64>,
    lanes: usize,
    /// Does every window have elements?
    found: bool,
}

/// Along an axis, the windows all of whose elements exist: the first one, and the one after the last.
fn inside(window: &Window, axis: usize, extent: i64, windows: i64) -> Option<Range<i64>> {
    let (stride, low) = (window.strides[axis] as i64, window.padding[axis].0);
    let reach = (window.sizes[axis] as i64 - 1).checked_mul(window.window_dilations[axis] as i64)?;
    if window.base_dilations[axis] != 1 || stride < 1 || windows.checked_mul(stride).is_none() {
        return None;
    }
    let first = low.checked_add(stride - 1)?.div_euclid(stride).clamp(0, windows);
    let last = extent.checked_sub(1)?.checked_sub(reach)?.checked_add(low)?.div_euclid(stride);
    Some(first..last.checked_add(1)?.clamp(first, windows))
}

impl Line {
    /// The line of windows that runs along the memory of the operand, if it is long enough.
    pub(super) fn of(window: &Window, shape: &[i64], out: &[i64], dtype: DType) -> Option<Line> {
        let as_it_is = |a: usize| plain(window, a) && out[a] == shape[a];
        let axis = (0..shape.len()).rev().find(|&a| !as_it_is(a))?;
        let beside = shape[axis + 1..].iter().product::<i64>();
        let ends = inside(window, axis, shape[axis], out[axis])?;
        let most = (ends.end - ends.start).min(LANES);
        // The address of an element is a lane of its own.
        let addresses = shape.iter().try_fold(1i64, |n, &e| n.checked_mul(e)).is_some_and(|n| n < 1 << 31);
        let written = (window.sizes[axis] as i64).checked_mul(beside).is_some_and(|n| n <= WRITTEN);
        if dtype.is_complex() || most < 4 || !addresses || !written || window.sizes.contains(&0) {
            return None;
        }
        let lanes = 1usize << most.ilog2();
        let found =
            (0..shape.len()).all(|a| a == axis || inside(window, a, shape[a], out[a]) == Some(0..out[a]));
        Some(Line { axis, beside, inside: ends, lanes, found })
    }
}

/// The kernel of windows along a line: what lies inside is selected in lanes, at both ends windows go one by one.
pub(super) fn in_lanes(call: &Call<'_>, window: &Window, line: &Line) -> Result<Kernel, CodegenError> {
    let (dag, select) = region::inline(call, call.region(0)?, Dag::default())?;
    let (dag, scatter) = region::inline(call, call.region(1)?, dag)?;
    let mut w = Writer::new(call, &dag);
    let single = Single::new(&mut w, call, window, (select, scatter))?;
    let (extents, count, beside) = (sizes_of(window), single.out[line.axis], line.beside);
    let work = single.out.iter().product::<i64>().saturating_mul(extents.iter().product::<i64>() + 8);
    let (loops, mut number, tasks) = w.windows(call, window, &single.out[..line.axis], work);
    let scope = loops.last().map_or(w.root(), |l| l.scope);
    let (root, room) = (w.root(), w.em.int(beside * line.lanes as i64));
    let places = Op::Alloca { count: room, of: Elem::I32.ty(1), alignment: Some(64) };
    let places = w.em.op(root, places);
    let zero = w.em.int(0);
    number.resize(single.out.len(), zero);
    let Range { start: first, end } = line.inside;
    for (from, to) in [(0, first), (first, end), (end, count)] {
        if from == to {
            continue;
        }
        let (inner, iv) = (w.em.open(scope, Vec::new(), None), w.em.name());
        let mut step = 1;
        if (from, to) == (first, end) {
            step = line.lanes as i64;
            // The last windows are as many as the others: those that have been sent are selected in again.
            let last = w.em.int(end - step);
            let start = w.arith(inner, "arith.minsi", iv, last);
            let sent = w.arith(inner, "arith.subi", iv, start);
            number[line.axis] = start;
            let lanes = Lanes { single: &single, line, places };
            lanes.select(&mut w, inner, &number)?;
            lanes.send(&mut w, inner, &number, sent)?;
        } else {
            number[line.axis].clone_from(&iv);
            let around = w.nest(inner, &single.out[line.axis + 1..]);
            let each = around.last().map_or(inner, |l| l.scope);
            let mut numbers = number[..=line.axis].to_vec();
            numbers.extend(around.iter().map(|l| l.iv));
            single.window(&mut w, each, &numbers)?;
            w.close(around, &[], &[], Vec::new());
        }
        let bounds = Bounds { low: w.em.int(from), high: w.em.int(to), step: w.em.int(step) };
        w.em.close_loop(inner, iv, &bounds, &[]);
    }
    w.close(loops, &[], &[], Vec::new());
    call.finish(w, tasks, format!("select_and_scatter {extents:?} selected in lanes, tasks {tasks}"))
}

/// Windows side by side.
struct Lanes<'a> {
    single: &'a Single<'a>,
    line: &'a Line,
    /// Where the addresses of what is selected lie: for every element beside, those of all windows. The address is that
    /// of the first window; below zero there is none.
    places: Value,
}

impl Lanes<'_> {
    /// From a window to the next.
    fn stride(&self) -> i64 {
        (self.single.window.strides[self.line.axis] as i64).saturating_mul(self.line.beside)
    }

    /// Selects in the windows from a number on, and keeps the addresses.
    fn select(&self, w: &mut Writer<'_>, scope: ScopeId, number: &[Value]) -> Result<(), CodegenError> {
        let Single { window, shape, select, dtype, .. } = self.single;
        let (axis, beside, lanes) = (self.line.axis, self.line.beside as usize, self.line.lanes);
        let (e, root) = (Elem::of(*dtype), w.root());
        let init = Val { ssa: self.single.init[0], lanes: 1 };
        let init = w.em.spread(&init, e, At { scope: root, lanes });
        let (no, nowhere) = (w.em.constant(Elem::I1, 0, lanes), w.em.constant(Elem::I32, u64::MAX, lanes));
        let types: Vec<Type> =
            (0..beside).flat_map(|_| [Elem::I1.ty(lanes), Elem::I32.ty(lanes), e.ty(lanes)]).collect();
        let before: Vec<Value> = (0..beside).flat_map(|_| [no, nowhere, init]).collect();
        let around = sizes_of(window)[..axis].to_vec();
        let (loops, state) = w.carrying(scope, &around, &types);
        let mut state = if loops.is_empty() { before.clone() } else { state };
        let inner = loops.last().map_or(scope, |l| l.scope);
        let zero = w.em.int(0);
        let mut element: Vec<Value> = loops.iter().map(|l| l.iv).collect();
        element.resize(shape.len(), zero);
        let (address, inside) = position(w, inner, window, shape, number, &element);
        let at = At { scope: inner, lanes };
        let yes = w.em.constant(Elem::I1, 1, lanes);
        let inside = w.em.spread(&Val { ssa: inside, lanes: 1 }, Elem::I1, at);
        for (offset, value) in self.elements(w, inner, address) {
            let own = offset as usize % beside * 3;
            let args = [vec![state[own + 2]], vec![value]];
            let keep = flat(&select.apply_lanes(w, inner, &args, lanes)?);
            let keep =
                keep.first().ok_or_else(|| CodegenError::malformed("a selection without an answer"))?;
            let held = w.em.bin(at, "arith.andi", state[own], *keep, Elem::I1);
            let open = w.em.bin(at, "arith.xori", held, yes, Elem::I1);
            let replace = w.em.bin(at, "arith.andi", open, inside, Elem::I1);
            let offset = w.em.int(offset);
            let place = w.add(inner, address, offset);
            let ssa = w.em.op(inner, Op::cast("arith.trunci", place, Type::I64, Elem::I32.ty(1)));
            let place = w.em.spread(&Val { ssa, lanes: 1 }, Elem::I32, at);
            state[own] = w.em.bin(at, "arith.ori", state[own], inside, Elem::I1);
            state[own + 1] = w.em.select(at, replace, place, state[own + 1], Elem::I32);
            state[own + 2] = w.em.select(at, replace, value, state[own + 2], e);
        }
        let selected = w.close(loops, &before, &types, state);
        for (n, place) in selected.iter().skip(1).step_by(3).enumerate() {
            let room = w.em.int((n * lanes) as i64);
            let to = w.element(scope, self.places, room, Elem::I32);
            w.em.put(*place, to, (Elem::I32, lanes), scope);
        }
        Ok(())
    }

    /// The elements of windows along the line, in the order of windows: how far they lie behind the first one of the
    /// first window, and their values in all windows.
    fn elements(&self, w: &mut Writer<'_>, scope: ScopeId, address: Value) -> Vec<(i64, Value)> {
        let Single { window, pointers: [operand, ..], dtype, .. } = self.single;
        let (axis, beside, stride) = (self.line.axis, self.line.beside, self.stride());
        let (elem, at) = (Elem::in_memory(*dtype), At { scope, lanes: self.line.lanes });
        let dilation = (window.window_dilations[axis] as i64).saturating_mul(beside);
        let all: Vec<i64> =
            (0..window.sizes[axis] as i64).flat_map(|n| (0..beside).map(move |c| n * dilation + c)).collect();
        let mut values = Vec::with_capacity(all.len());
        let mut known: Vec<(i64, Vec<Value>)> = Vec::new();
        for &offset in &all {
            if !(2..=LONGEST).contains(&stride) {
                let offset = w.em.int(offset);
                let place = w.add(scope, address, offset);
                values.push(w.lanes_of(scope, (*operand, place), *dtype, stride, at.lanes));
                continue;
            }
            // What lies between two windows is a row, and the elements of windows are its columns.
            let (row, column) = (offset / stride, (offset % stride) as usize);
            if known.iter().all(|k| k.0 != row) {
                let last = all.iter().filter(|&&a| a / stride == row).map(|a| a % stride).max();
                let start = w.em.int(row * stride);
                let start = w.add(scope, address, start);
                let first = w.element(scope, *operand, start, elem);
                let rows = Rows { first, stride, reach: last.unwrap_or(0) + 1, elem };
                known.push((row, w.em.columns(&rows, at)));
            }
            let found = known.iter().find(|k| k.0 == row).and_then(|k| k.1.get(column)).cloned();
            values.push(w.em.widen(*dtype, found.unwrap_or_default(), at));
        }
        all.into_iter().zip(values).collect()
    }

    /// Sends to what was selected, but for so many windows that have been done.
    fn send(
        &self,
        w: &mut Writer<'_>,
        scope: ScopeId,
        number: &[Value],
        sent: Value,
    ) -> Result<(), CodegenError> {
        let [_, source, target] = &self.single.pointers;
        let from = w.address(scope, number, &strides(&self.single.out));
        let (inner, iv) = (w.em.open(scope, Vec::new(), None), w.em.name());
        let further = w.scaled(inner, from, iv, self.line.beside);
        for beside in 0..self.line.beside {
            let body = w.em.open(inner, Vec::new(), None);
            let lanes = self.line.lanes as i64;
            let offset = w.em.int(beside * lanes);
            let kept = w.add(inner, iv, offset);
            let kept = w.element(inner, self.places, kept, Elem::I32);
            let place = w.em.op(inner, Op::load(kept, Elem::I32.ty(1)));
            let place = w.em.op(inner, Op::cast("arith.extsi", place, Elem::I32.ty(1), Type::I64));
            let offset = w.em.int(beside);
            let address = w.add(body, further, offset);
            let addend = w.load(body, *source, self.single.dtype, address);
            let to = w.scaled(body, place, iv, self.stride());
            self.single.send(w, body, *target, to, addend)?;
            if self.line.found {
                w.em.close_plain(body);
            } else {
                let zero = w.em.int(0);
                let is = w.em.cmpi(At { scope: inner, lanes: 1 }, "sge", place, zero, Elem::I64);
                w.em.close_if(body, is);
            }
        }
        let bounds = Bounds { low: sent, high: w.em.int(self.line.lanes as i64), step: w.em.int(1) };
        w.em.close_loop(inner, iv, &bounds, &[]);
        Ok(())
    }
}
