//! Windows that select an element each, to which an element of another tensor is sent.
//!
//! Windows whose numbers differ along an axis on which windows do not overlap never send to the same element: those
//! axes are shared among tasks. Along the others windows run in order. Where windows are no wider than one element
//! along the last axis, or lie there one behind the other and never meet, neighbours are the lanes of vectors; other
//! windows choose in lanes and send one by one ([`chosen`](super::chosen)).

use crate::CodegenError;
use crate::code::{Op, Value};
use crate::expression::dag::Dag;
use crate::library::chosen::{self, Line};
use crate::library::folds::{flat, initial};
use crate::library::windows::{position, sizes_of};
use crate::library::{Call, Loop, Writer, region, strides};
use crate::lower::emit::{At, Bounds, ScopeId, Val};
use crate::lower::kernel::Kernel;
use crate::lower::register_transpose::{LONGEST, Rows};
use crate::lower::vectors::Lanes;
use crate::machine::elem::{Elem, Type};
use surject_ir::{DType, Window};

/// Windows that are selected side by side.
const LANES: usize = 16;

/// Do windows with different numbers on an axis never meet?
fn separate(window: &Window, axis: usize) -> bool {
    let reach = (window.sizes[axis] as i64 - 1).saturating_mul(window.window_dilations[axis] as i64) + 1;
    window.strides[axis] as i64 >= reach
}

/// Is every element of an axis of the operand in a window?
fn covered(window: &Window, axis: usize, extent: i64, windows: i64) -> bool {
    let (stride, size) = (window.strides[axis] as i64, window.sizes[axis] as i64);
    let (low, dense) = (window.padding[axis].0, window.window_dilations[axis] == 1 || size == 1);
    let end = (windows - 1).saturating_mul(stride).saturating_add(size - low);
    window.base_dilations[axis] == 1 && dense && stride <= size && low >= 0 && windows > 0 && end >= extent
}

/// Does an axis run through the operand as it is, a window an element?
pub(super) fn plain(window: &Window, axis: usize) -> bool {
    let one = [window.sizes[axis], window.strides[axis], window.base_dilations[axis]] == [1, 1, 1];
    one && window.padding[axis].0 == 0
}

/// The length of windows that lie one behind the other along an axis, all of them inside the operand.
fn behind(window: &Window, axis: usize, extent: i64, windows: i64) -> Option<i64> {
    let (size, dense) = (window.sizes[axis] as i64, window.window_dilations[axis] == 1);
    let steps = window.strides[axis] as i64 == size && window.base_dilations[axis] == 1;
    let inside = window.padding[axis].0 == 0 && windows.checked_mul(size).is_some_and(|end| end <= extent);
    (dense && steps && inside && (2..=LONGEST).contains(&size)).then_some(size)
}

/// The kernels of a selection: the target is filled, where windows leave elements out or share them, and then
/// every window joins its element.
pub fn select_and_scatter(call: &Call<'_>, window: &Window) -> Result<Vec<Kernel>, CodegenError> {
    let (target, source) = (call.target()?, call.arg(1)?);
    let (dtype, shape, out) = (call.dtype(target), call.sizes(target)?, call.sizes(source)?);
    let rank = shape.len();
    let alone = (0..rank).all(|a| separate(window, a));
    let some = rank > 0 && out[rank - 1] >= 4 && !dtype.is_complex();
    let step = match some {
        true if plain(window, rank - 1) && out.last() == shape.last() => Some(1),
        true if alone => behind(window, rank - 1, shape[rank - 1], out[rank - 1]),
        _ => None,
    };
    let mut kernels = Vec::new();
    let all = alone && (0..rank).all(|a| covered(window, a, shape[a], out[a]));
    if !all || step.is_none() {
        kernels.push(fill(call)?);
    }
    if !out.contains(&0) {
        kernels.push(match (step, Line::of(window, &shape, &out, dtype)) {
            (Some(step), _) => in_lanes(call, window, step)?,
            (None, Some(line)) => chosen::in_lanes(call, window, &line)?,
            (None, None) => one_by_one(call, window)?,
        });
    }
    Ok(kernels)
}

/// Fills the target with the initial value.
fn fill(call: &Call<'_>) -> Result<Kernel, CodegenError> {
    const PIECE: i64 = 1024;
    let dag = Dag::default();
    let mut w = Writer::new(call, &dag);
    let target = call.target()?;
    let (dtype, total) = (call.dtype(target), call.sizes(target)?.iter().product::<i64>());
    let init = initial(&mut w, call, 2, &[dtype])?.swap_remove(0);
    let (to, root) = (w.pointer(target)?, w.root());
    let bytes = total.saturating_mul(dtype.size() as i64);
    let (open, digits, tasks) = w.share(call, &[(total + PIECE - 1) / PIECE], bytes);
    let lanes = if dtype.is_complex() { 1 } else { LANES };
    let main = total - total % lanes as i64;
    let piece = w.em.int(PIECE);
    let low = w.arith(open.scope, "arith.muli", digits[0], piece);
    let high = w.add(open.scope, low, piece);
    for (lanes, from, end) in [(lanes, 0, main), (1, main, total)] {
        if from == end {
            continue;
        }
        let (first, last) = (w.em.int(from), w.em.int(end));
        let first = w.arith(open.scope, "arith.maxsi", low, first);
        let last = w.arith(open.scope, "arith.minsi", high, last);
        let inner = w.em.open(open.scope, Vec::new(), None);
        let iv = w.em.name();
        if lanes == 1 {
            w.store(inner, to, dtype, iv, &init);
        } else {
            let value = Val { ssa: init[0], lanes: 1 };
            let value = w.em.spread(&value, Elem::of(dtype), At { scope: root, lanes });
            w.store_lanes(At { scope: inner, lanes }, (to, iv), (dtype, value), (1, None));
        }
        let bounds = Bounds { low: first, high: last, step: w.em.int(lanes as i64) };
        w.em.close_loop(inner, iv, &bounds, &[]);
    }
    w.close(vec![open], &[], &[], Vec::new());
    call.finish(w, tasks, format!("fill tasks {tasks}"))
}

impl Writer<'_> {
    /// Loads neighbours into the active lanes, as a vector of register type.
    fn load_lanes(&mut self, scope: ScopeId, from: (Value, Value), dtype: DType, part: Lanes) -> Value {
        let mask = self.em.active_lanes(part);
        self.lanes_where(At { scope, lanes: part.lanes }, from, dtype, (1, mask))
    }

    /// The loops over the numbers of windows: the share of a task in the axes on which windows are apart, then the
    /// others in order. Axes that `out` does not have are left out. Gives the loops, the numbers and the tasks.
    pub(super) fn windows(
        &mut self,
        call: &Call<'_>,
        window: &Window,
        out: &[i64],
        work: i64,
    ) -> (Vec<Loop>, Vec<Value>, i64) {
        let (shared, ordered): (Vec<usize>, Vec<usize>) =
            (0..out.len()).partition(|&axis| separate(window, axis));
        let sizes = |axes: &[usize]| axes.iter().map(|&a| out[a]).collect::<Vec<i64>>();
        let (open, digits, tasks) = self.share(call, &sizes(&shared), work);
        let nest = self.nest(open.scope, &sizes(&ordered));
        let mut number = vec![Value::NONE; out.len()];
        shared.iter().zip(digits).for_each(|(&axis, digit)| number[axis] = digit);
        ordered.iter().zip(&nest).for_each(|(&axis, l)| number[axis].clone_from(&l.iv));
        let mut loops = vec![open];
        loops.extend(nest);
        (loops, number, tasks)
    }
}

/// What all windows of a kernel have in common.
struct Selection<'a> {
    window: &'a Window,
    shape: Vec<i64>,
    select: region::Inlined,
    scatter: region::Inlined,
    init: Value,
    /// The operand, the source and the target.
    pointers: [Value; 3],
    dtype: DType,
    /// Does no other window send to the same elements?
    alone: bool,
    /// From a window to the next along the last axis, which is also their length there.
    step: i64,
}

/// Windows side by side along the last axis.
fn in_lanes(call: &Call<'_>, window: &Window, step: i64) -> Result<Kernel, CodegenError> {
    let (dag, select) = region::inline(call, call.region(0)?, Dag::default())?;
    let (dag, scatter) = region::inline(call, call.region(1)?, dag)?;
    let mut w = Writer::new(call, &dag);
    let (operand, source, target) = (call.arg(0)?, call.arg(1)?, call.target()?);
    let (dtype, shape, out) = (call.dtype(target), call.sizes(operand)?, call.sizes(source)?);
    let (extents, alone) = (sizes_of(window), (0..shape.len()).all(|a| separate(window, a)));
    let init = initial(&mut w, call, 2, &[dtype])?.swap_remove(0).swap_remove(0);
    let pointers = [w.pointer(operand)?, w.pointer(source)?, w.pointer(target)?];
    let work = out.iter().chain(&extents).product::<i64>().saturating_mul(4);
    let Some((&line, around)) = out.split_last() else {
        return Err(CodegenError::malformed("windows of rank 0 in lanes"));
    };
    let (loops, mut number, tasks) = w.windows(call, window, around, work);
    let scope = loops.last().map_or(w.root(), |l| l.scope);
    let selection = Selection { window, shape, select, scatter, init, pointers, dtype, alone, step };
    number.push(Value::NONE);
    let main = line - line % LANES as i64;
    let rest = (line - main) as usize;
    let most = 1 << (line.unsigned_abs() as usize).min(LANES).ilog2();
    // Windows that are alone may be done twice: the last ones of a line are as many as the others.
    let parts = match step {
        1 => [(0..main, Lanes::all(LANES)), (main..line, Lanes::holding(rest))],
        _ => [(0..line, Lanes::all(most)), (line..line, Lanes::holding(0))],
    };
    for (range, part) in parts {
        if range.is_empty() {
            continue;
        }
        let inner = w.em.open(scope, Vec::new(), None);
        let iv = w.em.name();
        let mut first = iv;
        if step > 1 {
            let last = w.em.int(line - part.lanes as i64);
            first = w.arith(inner, "arith.minsi", iv, last);
        }
        if let Some(last) = number.last_mut() {
            *last = first;
        }
        let address = w.address(inner, &number, &strides(&out));
        let addend = w.load_lanes(inner, (selection.pointers[1], address), dtype, part);
        selection.windows(&mut w, inner, &number, addend, part)?;
        let bounds = Bounds {
            low: w.em.int(range.start),
            high: w.em.int(range.end),
            step: w.em.int(part.lanes as i64),
        };
        w.em.close_loop(inner, iv, &bounds, &[]);
    }
    w.close(loops, &[], &[], Vec::new());
    call.finish(w, tasks, format!("select_and_scatter {extents:?} in lanes, tasks {tasks}"))
}

impl Selection<'_> {
    /// Selects in some windows side by side, then joins what is sent to each of their elements.
    fn windows(
        &self,
        w: &mut Writer<'_>,
        scope: ScopeId,
        number: &[Value],
        addend: Value,
        part: Lanes,
    ) -> Result<(), CodegenError> {
        let (e, lanes) = (Elem::of(self.dtype), part.lanes);
        let extents = sizes_of(self.window);
        let [operand, _, target] = &self.pointers;
        let init = Val { ssa: self.init, lanes: 1 };
        let root = w.root();
        let init = w.em.spread(&init, e, At { scope: root, lanes });
        // Found something, the number of the element selected so far, and its value.
        let before = vec![w.em.constant(Elem::I1, 0, lanes), w.em.constant(Elem::I32, u64::MAX, lanes), init];
        let types = [Elem::I1.ty(lanes), Elem::I32.ty(lanes), e.ty(lanes)];
        let around = &extents[..extents.len() - 1];
        let (loops, state) = w.carrying(scope, around, &types);
        let inner = loops.last().map_or(scope, |l| l.scope);
        // The first element of a window along the last axis, and the others of it.
        let mut element: Vec<Value> = loops.iter().map(|l| l.iv).chain([w.em.int(0)]).collect();
        let (address, inside) = position(w, inner, self.window, &self.shape, number, &element);
        let at = At { scope: inner, lanes };
        let yes = w.em.constant(Elem::I1, 1, lanes);
        let inside = w.em.spread(&Val { ssa: inside, lanes: 1 }, Elem::I1, at);
        let mut next = if loops.is_empty() { before.clone() } else { state };
        for (n, value) in self.load(w, inner, (*operand, address), part).into_iter().enumerate() {
            let keep = flat(&self.select.apply_lanes(w, inner, &[vec![next[2]], vec![value]], lanes)?);
            let keep =
                keep.first().ok_or_else(|| CodegenError::malformed("a selection without an answer"))?;
            let held = w.em.bin(at, "arith.andi", next[0], *keep, Elem::I1);
            let open = w.em.bin(at, "arith.xori", held, yes, Elem::I1);
            let replace = w.em.bin(at, "arith.andi", open, inside, Elem::I1);
            let number_here = self.count(w, inner, &mut element, n, lanes);
            next = vec![
                w.em.bin(at, "arith.ori", next[0], inside, Elem::I1),
                w.em.select(at, replace, number_here, next[1], Elem::I32),
                w.em.select(at, replace, value, next[2], e),
            ];
        }
        let chosen = w.close(loops, &before, &types, next);
        // Every element of the windows, with what is sent to it.
        let loops = w.nest(scope, around);
        let inner = loops.last().map_or(scope, |l| l.scope);
        let mut element: Vec<Value> = loops.iter().map(|l| l.iv).chain([w.em.int(0)]).collect();
        let (address, inside) = position(w, inner, self.window, &self.shape, number, &element);
        let body = w.em.open(inner, Vec::new(), None);
        let at = At { scope: body, lanes };
        let old = if self.alone { init } else { w.load_lanes(body, (*target, address), self.dtype, part) };
        let joined = flat(&self.scatter.apply_lanes(w, body, &[vec![old], vec![addend]], lanes)?);
        let joined = joined.first().ok_or_else(|| CodegenError::malformed("a scatter without a value"))?;
        let mut values = Vec::new();
        for n in 0..self.step as usize {
            let number_here = self.count(w, body, &mut element, n, lanes);
            let here = w.em.cmpi(at, "eq", chosen[1], number_here, Elem::I32);
            values.push(w.em.select(at, here, *joined, old, e));
        }
        self.store(w, body, (*target, address), values, part);
        w.em.close_if(body, inside);
        w.close(loops, &[], &[], Vec::new());
        Ok(())
    }

    /// The elements of windows side by side along the last axis: those that are first, second, and so on.
    fn load(
        &self,
        w: &mut Writer<'_>,
        scope: ScopeId,
        (pointer, address): (Value, Value),
        part: Lanes,
    ) -> Vec<Value> {
        if self.step == 1 {
            return vec![w.load_lanes(scope, (pointer, address), self.dtype, part)];
        }
        let (elem, at) = (Elem::in_memory(self.dtype), At { scope, lanes: part.lanes });
        let first = w.element(scope, pointer, address, elem);
        let rows = Rows { first, stride: self.step, reach: self.step, elem };
        let columns = w.em.columns(&rows, at);
        columns.into_iter().map(|column| w.em.widen(self.dtype, column, at)).collect()
    }

    /// Stores what [`Selection::load`] loads.
    fn store(
        &self,
        w: &mut Writer<'_>,
        scope: ScopeId,
        (pointer, address): (Value, Value),
        mut values: Vec<Value>,
        part: Lanes,
    ) {
        if self.step == 1 {
            let value = values.pop().unwrap_or_default();
            let mask = w.em.active_lanes(part);
            let at = At { scope, lanes: part.lanes };
            return w.store_lanes(at, (pointer, address), (self.dtype, value), (1, mask));
        }
        let (elem, at) = (Elem::in_memory(self.dtype), At { scope, lanes: part.lanes });
        let first = w.element(scope, pointer, address, elem);
        let columns: Vec<Value> = values.into_iter().map(|v| w.em.narrow(self.dtype, v, at)).collect();
        w.em.store_columns(first, &columns, elem, at);
    }

    /// The number of an element in its window, in every lane: so many along the last axis from the first.
    fn count(
        &self,
        w: &mut Writer<'_>,
        scope: ScopeId,
        element: &mut [Value],
        n: usize,
        lanes: usize,
    ) -> Value {
        if let Some(last) = element.last_mut() {
            *last = w.em.int(n as i64);
        }
        let number = w.address(scope, element, &strides(&sizes_of(self.window)));
        let ssa = w.em.op(scope, Op::cast("arith.trunci", number, Type::I64, Elem::I32.ty(1)));
        w.em.spread(&Val { ssa, lanes: 1 }, Elem::I32, At { scope, lanes })
    }
}

/// A window by itself: the element selected so far is its address and its value.
pub(super) struct Single<'a> {
    pub(super) window: &'a Window,
    pub(super) shape: Vec<i64>,
    pub(super) out: Vec<i64>,
    pub(super) select: region::Inlined,
    pub(super) scatter: region::Inlined,
    pub(super) init: Vec<Value>,
    /// The operand, the source and the target.
    pub(super) pointers: [Value; 3],
    pub(super) dtype: DType,
}

impl<'a> Single<'a> {
    /// What all windows have in common, in a writer over the graph of the two functions.
    pub(super) fn new(
        w: &mut Writer<'_>,
        call: &Call<'_>,
        window: &'a Window,
        (select, scatter): (region::Inlined, region::Inlined),
    ) -> Result<Single<'a>, CodegenError> {
        let (operand, source, target) = (call.arg(0)?, call.arg(1)?, call.target()?);
        let (dtype, shape, out) = (call.dtype(target), call.sizes(operand)?, call.sizes(source)?);
        let init = initial(w, call, 2, &[dtype])?.swap_remove(0);
        let pointers = [w.pointer(operand)?, w.pointer(source)?, w.pointer(target)?];
        Ok(Single { window, shape, out, select, scatter, init, pointers, dtype })
    }

    /// Selects in the window of a number, and joins what is sent to the element.
    pub(super) fn window(
        &self,
        w: &mut Writer<'_>,
        scope: ScopeId,
        number: &[Value],
    ) -> Result<(), CodegenError> {
        let (dtype, extents, [operand, source, target]) = (self.dtype, sizes_of(self.window), &self.pointers);
        let mut types = vec![Type::I1, Type::I64];
        types.extend(w.part_types(dtype));
        let (zero, no) = (w.em.int(0), w.em.constant(Elem::I1, 0, 1));
        let mut before = vec![no, zero];
        before.extend(self.init.iter().cloned());
        let (loops, state) = w.carrying(scope, &extents, &types);
        let state = if extents.is_empty() { before.clone() } else { state };
        let inner = loops.last().map_or(scope, |l| l.scope);
        let element: Vec<Value> = loops.iter().map(|l| l.iv).collect();
        let (address, inside) = position(w, inner, self.window, &self.shape, number, &element);
        let value = w.load(inner, *operand, dtype, address);
        let keep = self.select.apply(w, inner, &[state[2..].to_vec(), value.clone()])?;
        let keep = keep.first().and_then(|k| k.first()).cloned();
        let keep = keep.ok_or_else(|| CodegenError::malformed("a selection without an answer"))?;
        let at = At { scope: inner, lanes: 1 };
        let yes = w.em.constant(Elem::I1, 1, 1);
        let held = w.em.bin(at, "arith.andi", state[0], keep, Elem::I1);
        let open = w.em.bin(at, "arith.xori", held, yes, Elem::I1);
        let replace = w.em.bin(at, "arith.andi", open, inside, Elem::I1);
        let mut next = vec![
            w.em.bin(at, "arith.ori", state[0], inside, Elem::I1),
            w.em.select(at, replace, address, state[1], Elem::I64),
        ];
        for (value, old) in value.iter().zip(&state[2..]) {
            next.push(w.em.select(at, replace, *value, *old, Elem::of(dtype)));
        }
        let chosen = w.close(loops, &before, &types, next);
        let body = w.em.open(scope, Vec::new(), None);
        let from = w.address(body, number, &strides(&self.out));
        let addend = w.load(body, *source, dtype, from);
        self.send(w, body, *target, chosen[1], addend)?;
        w.em.close_if(body, chosen[0]);
        Ok(())
    }

    /// Joins a value to an element of the target.
    pub(super) fn send(
        &self,
        w: &mut Writer<'_>,
        scope: ScopeId,
        target: Value,
        address: Value,
        addend: Vec<Value>,
    ) -> Result<(), CodegenError> {
        let old = w.load(scope, target, self.dtype, address);
        let joined = self.scatter.apply(w, scope, &[old, addend])?;
        if let Some(value) = joined.first() {
            w.store(scope, target, self.dtype, address, value);
        }
        Ok(())
    }
}

/// One window after the other.
fn one_by_one(call: &Call<'_>, window: &Window) -> Result<Kernel, CodegenError> {
    let (dag, select) = region::inline(call, call.region(0)?, Dag::default())?;
    let (dag, scatter) = region::inline(call, call.region(1)?, dag)?;
    let mut w = Writer::new(call, &dag);
    let single = Single::new(&mut w, call, window, (select, scatter))?;
    let extents = sizes_of(window);
    let work = single.out.iter().chain(&extents).product::<i64>().saturating_mul(16);
    let (windows, number, tasks) = w.windows(call, window, &single.out, work);
    let scope = windows.last().map_or(w.root(), |l| l.scope);
    single.window(&mut w, scope, &number)?;
    w.close(windows, &[], &[], Vec::new());
    call.finish(w, tasks, format!("select_and_scatter {extents:?} tasks {tasks}"))
}
