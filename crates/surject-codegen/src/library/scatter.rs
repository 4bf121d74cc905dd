//! Updates joined to positions that are known at run time.
//!
//! On several threads updates are shared in one of two ways: long lines are cut, and every task has a piece of all of them
//! ([`tasks_of_lines`]); or the updates are cut, and every task accumulates into a tensor of its own ([`Copies`]).

use crate::code::Prefetched;
use crate::code::{Op, TASK, Value};
use crate::expression::address::Lin;
use crate::expression::dag::{Buf, Dag, Node, buf};
use crate::expression::output::Output;
use crate::library::indexed::component;
use crate::library::{Call, Loop, Writer, region, strides};
use crate::lower::emit::{At, Bounds, ScopeId};
use crate::lower::kernel::Kernel;
use crate::lower::rows;
use crate::lower::units::share_of_task;
use crate::machine::elem::{Elem, Type};
use crate::schedule::{self, gathered_lines};
use crate::{CodegenError, Target};
use surject_index::Space;
use surject_ir::{AccOp, DType, ScatterDims, TensorType, Var};

/// The kernels of a scatter, and the type of the temporary `own` if they have it.
pub fn scatter(
    call: &Call<'_>,
    dims: &ScatterDims,
    shared: &[bool],
    (target, own): (&Target, Buf),
) -> Result<(Vec<Kernel>, Option<TensorType>), CodegenError> {
    let n = call.targets.len();
    let (dag, join) = region::inline(call, call.region(0)?, Dag::default())?;
    let updates = Updates::of(call, dims, n)?;
    let copied: Vec<usize> = (0..n).filter(|&i| !shared.get(i).copied().unwrap_or(false)).collect();
    // Lines: the last axes of the updates are those of the operand, all of them, so lines go whole or not at all.
    let rank = updates.update_shape.len();
    let complex = call.args[..n].iter().any(|&v| call.dtype(v).is_complex());
    let whole = if complex { 0 } else { updates.whole_axes() };
    let lines = whole > 0 && rank > whole;
    let axes = updates.shape.len();
    let extent = if lines { updates.shape[axes - whole..].iter().product() } else { 1 };
    // All axes in order, as updates are applied.
    let nest = if lines { rank - whole } else { rank };
    let bytes =
        updates.update_shape.iter().product::<i64>().saturating_mul(call.dtype(call.target()?).size() as i64);
    let pieces = if lines && copied.is_empty() { tasks_of_lines(call, extent, bytes) } else { 1 };
    let copies = call.region(0)?.accumulation(call.function).and_then(|op| Copies::of(call, &updates, op));
    let copies = copies.filter(|_| pieces == 1);
    let mut w = Writer::with(call, &dag, copies.iter().map(|_| own));
    let to = call.targets.iter().map(|&target| w.pointer(target)).collect::<Result<_, _>>()?;
    let mut scatter = Scatter { call, n, join: &join, updates, lines, extent, nest, pieces, to };
    let (tasks, how) = match &copies {
        Some(copies) => {
            let first = if copied.is_empty() { First::IsOperand } else { First::Copies };
            copies.write(&mut w, &mut scatter, own, first)?;
            (copies.tasks, " into copies,")
        }
        None => {
            let root = w.root();
            for &i in &copied {
                scatter.copy(&mut w, root, i)?;
            }
            scatter.all(&mut w, None)?;
            (pieces, "")
        }
    };
    let lines = if lines { " of lines" } else { "" };
    let kind = if copied.is_empty() { " in place" } else { "" };
    let mut kernel = call.finish(w, tasks, format!("scatter{lines}{kind}{how} tasks {tasks}"))?;
    let Some(copies) = copies else { return Ok((vec![kernel], None)) };
    kernel.writes.push(own);
    Ok((vec![kernel, copies.joined(call, own, target)?], Some(copies.ty())))
}

/// A scatter and how it is done.
struct Scatter<'a> {
    call: &'a Call<'a>,
    /// How many operands it has.
    n: usize,
    join: &'a region::Inlined,
    updates: Updates<'a>,
    /// Do updates go line by line, and how long are the lines?
    lines: bool,
    extent: i64,
    /// How many of the first axes of the updates have a loop.
    nest: usize,
    /// The tasks that have a piece of every line.
    pieces: i64,
    /// Where the results are.
    to: Vec<Value>,
}

impl Scatter<'_> {
    /// Copies an operand to where its result is.
    fn copy(&self, w: &mut Writer<'_>, scope: ScopeId, i: usize) -> Result<(), CodegenError> {
        let from = w.pointer(self.call.arg(i)?)?;
        let bytes =
            self.updates.shape.iter().product::<i64>() * self.call.dtype(self.call.targets[i]).size() as i64;
        w.copy(scope, self.to[i], from, bytes);
        Ok(())
    }

    /// All updates, in order; of the first axis those from a number to another, if they are given.
    fn all(&self, w: &mut Writer<'_>, some: Option<[Value; 2]>) -> Result<(), CodegenError> {
        let root = w.root();
        let count = self.updates.update_shape.first().copied().unwrap_or(1);
        let [mut low, high] = some.unwrap_or_else(|| [0, count].map(|n| w.em.int(n)));
        if self.nest == 1 && (!self.lines || self.pieces == 1 && self.extent <= MOST_WRITTEN_OUT) {
            let step = w.em.int(RUN);
            let many = w.arith(root, "arith.subi", high, low);
            let rest = w.arith(root, "arith.remui", many, step);
            let whole = w.arith(root, "arith.subi", high, rest);
            self.runs(w, Bounds { low, high: whole, step })?;
            low = whole;
        }
        let mut loops = w.nest(root, &self.updates.update_shape[..self.nest]);
        if let Some(first) = loops.first_mut() {
            (first.bounds.low, first.bounds.high) = (low, high);
        }
        self.update(w, &loops)?;
        w.close(loops, &[], &[], Vec::new());
        Ok(())
    }

    /// The update that the open loops say. What depends on the batch alone is computed where that is known.
    fn update(&self, w: &mut Writer<'_>, loops: &[Loop]) -> Result<(), CodegenError> {
        let root = w.root();
        let known = self.updates.batch_dims.iter().max().map_or(root, |&a| loops[a].scope);
        let inner = loops.last().map_or(root, |l| l.scope);
        let number: Vec<Value> = loops.iter().map(|l| l.iv).collect();
        let element = w.address(inner, &number, &strides(&self.updates.update_shape));
        self.update_at(w, (known, inner), (&number, element))
    }

    /// The update with these numbers, whose first element is at a place.
    fn update_at(
        &self,
        w: &mut Writer<'_>,
        (known, inner): (ScopeId, ScopeId),
        (number, element): (&[Value], Value),
    ) -> Result<(), CodegenError> {
        let Scatter { call, n, join, updates, .. } = self;
        let (position, inside) = updates.place(w, call, (known, inner), number)?;
        let body = w.em.open(inner, Vec::new(), None);
        let address = w.address(body, &position, &strides(&updates.shape));
        self.prefetch_target(w, body, number)?;
        if self.lines {
            self.join_lines(w, body, (address, &[element]))?;
            w.em.close_if(body, inside);
            return Ok(());
        }
        let mut args = Vec::new();
        for (&target, to) in call.targets.iter().zip(&self.to) {
            args.push(w.load(body, *to, call.dtype(target), address));
        }
        for &update in &call.args[n + 1..] {
            let pointer = w.pointer(update)?;
            args.push(w.load(body, pointer, call.dtype(update), element));
        }
        let results = join.apply(w, body, &args)?;
        for ((&target, to), value) in call.targets.iter().zip(&self.to).zip(&results) {
            w.store(body, *to, call.dtype(target), address, value);
        }
        w.em.close_if(body, inside);
        Ok(())
    }

    /// Prefetches what an update some numbers later goes to, an element or a piece of a line, where that is far away: nothing
    /// but the indices says where.
    fn prefetch_target(
        &self,
        w: &mut Writer<'_>,
        scope: ScopeId,
        number: &[Value],
    ) -> Result<(), CodegenError> {
        let Scatter { call, updates, .. } = self;
        let Some((last, rest)) = number.split_last() else { return Ok(()) };
        let count = updates.update_shape[rest.len()];
        for (&target, to) in call.targets.iter().zip(&self.to) {
            let size = call.dtype(target).size() as i64;
            let bytes = if self.lines { self.extent / self.pieces * size } else { size };
            let far = updates.shape.iter().product::<i64>().saturating_mul(size);
            let later = gathered_lines::later(bytes);
            let least = if self.lines { call.far.of_lines } else { call.far.of_elements };
            if far <= least || count < 2 * later {
                continue;
            }
            let (offset, most) = (w.em.int(later), w.em.int(count - 1));
            let next = w.add(scope, *last, offset);
            let next = w.arith(scope, "arith.minsi", next, most);
            let next = [rest, &[next]].concat();
            let (position, _) = updates.place(w, call, (scope, scope), &next)?;
            let first = w.address(scope, &position, &strides(&updates.shape));
            let low = self.piece(w)[0];
            let first = w.add(scope, first, low);
            let size = w.em.int(size);
            let first = w.arith(scope, "arith.muli", first, size);
            let place = w.element(scope, *to, first, Elem::I8);
            crate::lower::prefetch::prefetch_bytes(
                &mut w.em,
                scope,
                (place, bytes),
                Elem::I8,
                Prefetched::Read(2),
            );
        }
        Ok(())
    }

    /// Where the piece of a line begins that the task has, and where it ends.
    fn piece(&self, w: &mut Writer<'_>) -> [Value; 2] {
        let (extent, tasks, root) = (self.extent, self.pieces, w.root());
        let all = w.em.int(extent);
        if tasks == 1 {
            return [w.em.int(0), all];
        }
        let [length, last] = [(extent / tasks / LANES).max(1) * LANES, tasks - 1].map(|n| w.em.int(n));
        let low = w.arith(root, "arith.muli", TASK, length);
        let end = w.add(root, low, length);
        let at = At { scope: root, lanes: 1 };
        let whole = w.em.cmpi(at, "eq", TASK, last, Elem::I64);
        let high = w.em.select(at, whole, all, end, Elem::I64);
        [low, high]
    }

    /// Is it worth looking whether updates side by side go to one line?
    fn looks(&self) -> bool {
        self.lines && RUN_LINES.contains(&self.extent)
    }

    /// Updates some at a time, each of one element or a short line: a processor foresees by the place of a load in the
    /// code which store it waits for, and one place for all of them waits too often. Where all of them go to one line, as
    /// those of sorted indices do, that line stays in registers.
    fn runs(&self, w: &mut Writer<'_>, bounds: Bounds) -> Result<(), CodegenError> {
        let Scatter { call, updates, .. } = self;
        let root = w.root();
        let (scope, iv) = (w.em.open(root, Vec::new(), None), w.em.name());
        let stride = strides(&updates.update_shape);
        let first = w.address(scope, std::slice::from_ref(&iv), &stride);
        let mut numbers = Vec::new();
        for u in 0..RUN {
            let (offset, further) = (w.em.int(u), w.em.int(u * stride[0]));
            numbers.push(([w.add(scope, iv, offset)], w.add(scope, first, further)));
        }
        if !self.looks() {
            for (number, element) in &numbers {
                self.update_at(w, (scope, scope), (number, *element))?;
            }
            w.em.close_loop(scope, iv, &bounds, &[]);
            return Ok(());
        }
        let at = At { scope, lanes: 1 };
        let mut places = Vec::new();
        for (number, element) in numbers {
            self.prefetch_target(w, scope, &number)?;
            let (position, inside) = updates.place(w, call, (scope, scope), &number)?;
            let address = w.address(scope, &position, &strides(&updates.shape));
            places.push((address, element, inside));
        }
        let mut one = places[0].2;
        for (address, _, inside) in &places[1..] {
            let same = w.em.cmpi(at, "eq", *address, places[0].0, Elem::I64);
            let same = w.em.bin(at, "arith.andi", same, *inside, Elem::I1);
            one = w.em.bin(at, "arith.andi", one, same, Elem::I1);
        }
        let together = w.em.open(scope, Vec::new(), None);
        let elements: Vec<Value> = places.iter().map(|p| p.1).collect();
        self.join_lines(w, together, (places[0].0, &elements))?;
        w.em.close_if(together, one);
        let several = w.em.open(scope, Vec::new(), None);
        for (address, element, inside) in &places {
            let body = w.em.open(several, Vec::new(), None);
            self.join_lines(w, body, (*address, std::slice::from_ref(element)))?;
            w.em.close_if(body, *inside);
        }
        w.em.close_unless(several, one);
        w.em.close_loop(scope, iv, &bounds, &[]);
        Ok(())
    }

    /// Joins lines of updates to a line of the operands, in lanes. Every task has a piece of all lines, so each element
    /// gets its updates in order.
    fn join_lines(
        &self,
        w: &mut Writer<'_>,
        scope: ScopeId,
        (address, elements): (Value, &[Value]),
    ) -> Result<(), CodegenError> {
        let (call, extent, tasks) = (self.call, self.extent, self.pieces);
        let root = w.root();
        let widest = call.targets.iter().map(|&v| Elem::of(call.dtype(v)).size() as i64).max().unwrap_or(4);
        let wide = LANES.max(BYTES / widest);
        if tasks == 1 && extent <= MOST_WRITTEN_OUT {
            // Short lines are written out, in vectors of ever fewer lanes. The next line may be the same one: what is
            // stored is loaded again at once, which wide vectors are slow at.
            const HALF: i64 = LANES / 2;
            let mut first = 0;
            while first < extent {
                let lanes = HALF.min(1 << (extent - first).ilog2());
                let inner = w.em.open(scope, Vec::new(), None);
                let offset = w.em.int(first);
                self.join_at(w, inner, (address, elements, offset), lanes as usize)?;
                w.em.close_plain(inner);
                first += lanes;
            }
            return Ok(());
        }
        // Whole vectors as far as they go, then ever narrower ones.
        let [mut from, high] = self.piece(w);
        for lanes in std::iter::successors(Some(wide), |&lanes| (lanes > 1).then_some(lanes / 2)) {
            // Pieces are of whole vectors, but for what is left of the line.
            if lanes < LANES && extent & lanes == 0 {
                continue;
            }
            let (step, length) = (w.em.int(lanes), w.arith(root, "arith.subi", high, from));
            let rest = w.arith(root, "arith.remui", length, step);
            let to = w.arith(root, "arith.subi", high, rest);
            let inner = w.em.open(scope, Vec::new(), None);
            let iv = w.em.name();
            self.join_at(w, inner, (address, elements, iv), lanes as usize)?;
            let bounds = Bounds { low: from, high: to, step };
            w.em.close_loop(inner, iv, &bounds, &[]);
            from = to;
        }
        Ok(())
    }

    /// Joins some neighbours of lines, from so many elements on.
    fn join_at(
        &self,
        w: &mut Writer<'_>,
        inner: ScopeId,
        (address, elements, offset): (Value, &[Value], Value),
        lanes: usize,
    ) -> Result<(), CodegenError> {
        let Scatter { call, n, join, .. } = self;
        let place = |w: &mut Writer<'_>, (pointer, dtype): (Value, DType), at: Value| {
            let memory = Elem::in_memory(dtype);
            (w.element(inner, pointer, at, memory), memory)
        };
        let here = At { scope: inner, lanes };
        let load = |w: &mut Writer<'_>, from: (Value, DType), at: Value| {
            let (place, memory) = place(w, from, at);
            let (ty, size) = (memory.ty(lanes), memory.size());
            let raw = w.em.op(inner, Op::aligned_load(place, ty, size));
            vec![w.em.widen(from.1, raw, here)]
        };
        let old = w.add(inner, address, offset);
        let mut values = Vec::new();
        for (&target, to) in call.targets.iter().zip(&self.to) {
            values.push(load(w, (*to, call.dtype(target)), old));
        }
        for element in elements {
            let new = w.add(inner, *element, offset);
            for &update in &call.args[n + 1..] {
                let from = w.pointer(update)?;
                values.push(load(w, (from, call.dtype(update)), new));
            }
            values = join.apply_lanes(w, inner, &values, lanes)?;
        }
        for ((&target, to), value) in call.targets.iter().zip(&self.to).zip(&values) {
            let value = w.em.narrow(call.dtype(target), value.first().cloned().unwrap_or_default(), here);
            let (place, memory) = place(w, (*to, call.dtype(target)), old);
            let (ty, size) = (memory.ty(lanes), memory.size());
            w.em.run(inner, Op::aligned_store(value, place, ty, size));
        }
        Ok(())
    }
}

/// Updates that are looked at together.
const RUN: i64 = 8;

/// Lines of so many elements are worth looking: of shorter ones little is kept, and longer ones are not written out.
const RUN_LINES: std::ops::RangeInclusive<i64> = 8..=MOST_WRITTEN_OUT;

/// Lanes of the vectors of a line; of narrow elements there are as many as a register of so many bytes has.
const LANES: i64 = 16;

const BYTES: i64 = 64;

/// Lines up to this length are written out.
const MOST_WRITTEN_OUT: i64 = 64;

/// The tasks that share lines, a piece of every line each. Of shorter lines the threads would take each other's part of
/// memory away too often: two shared lines of 100 elements take twice as long.
fn tasks_of_lines(call: &Call<'_>, extent: i64, bytes: i64) -> i64 {
    let shared = call.threads > 1 && bytes > 1 << 18 && extent >= 10 * LANES;
    if shared { call.threads as i64 } else { 1 }
}

/// Tasks that accumulate a share of the updates each: the first one into the result, every other one into a tensor of its
/// own, which are joined to the result at the end.
///
/// An update of an element waits for the one before it, and the more updates of few elements are on their way, the more
/// often one does. So nothing is gained where tasks share the elements instead.
struct Copies {
    tasks: i64,
    op: AccOp,
    dtype: DType,
    elements: i64,
    /// From one copy to the next, in elements.
    stride: i64,
}

/// Fewer elements of updates are not worth a second task.
const LEAST_SHARED: i64 = 16_384;

/// Where the tensor of the first task has the operand from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    /// It copies it.
    Copies,
    /// It is in the same memory.
    IsOperand,
}

/// More copies are more to join than they are worth.
const MOST_COPIES: i64 = 8;

impl Copies {
    /// `None`: the updates are not shared in this way. They are where an order of their own makes no difference but in
    /// rounding, and there are many more of them than elements.
    fn of(call: &Call<'_>, updates: &Updates<'_>, op: AccOp) -> Option<Copies> {
        let (&[target], dtype) = (call.targets, call.dtype(*call.targets.first()?)) else { return None };
        let many = updates.update_shape.iter().product::<i64>();
        let elements = updates.shape.iter().product::<i64>();
        let tasks = (call.threads as i64).min(MOST_COPIES).min(*updates.update_shape.first()?);
        let exact = dtype.is_int() || dtype.is_bool() || matches!(dtype, DType::F32 | DType::F64);
        let worth = tasks > 1 && many >= LEAST_SHARED && 2 * tasks * elements <= many;
        let own = Elem::of(call.dtype(target)) == Elem::in_memory(dtype);
        let stride = (elements + LANES - 1) / LANES * LANES;
        (exact && worth && own).then_some(Copies { tasks, op, dtype, elements, stride })
    }

    /// The tensors of all tasks but the first.
    fn ty(&self) -> TensorType {
        TensorType::new(self.dtype, Space::of(&[((self.tasks - 1) * self.stride).unsigned_abs()]))
    }

    /// The kernel of a task: its tensor is filled with the neutral element, or is that of the operand, and its share of
    /// the updates is accumulated.
    fn write(
        &self,
        w: &mut Writer<'_>,
        scatter: &mut Scatter<'_>,
        own: Buf,
        task: First,
    ) -> Result<(), CodegenError> {
        let root = w.root();
        let at = At { scope: root, lanes: 1 };
        let (zero, one) = (w.em.int(0), w.em.int(1));
        let first = w.em.cmpi(at, "eq", TASK, zero, Elem::I64);
        let operand = w.em.open(root, Vec::new(), None);
        if task == First::Copies {
            scatter.copy(w, operand, 0)?;
        }
        w.em.close_if(operand, first);
        let before = w.arith(root, "arith.subi", TASK, one);
        let start = w.scaled(root, zero, before, self.stride);
        let (elem, pointer) = (Elem::in_memory(self.dtype), w.em.pointer(own)?);
        let copy = w.element(root, pointer, start, elem);
        let fill = w.em.open(root, Vec::new(), None);
        let (each, iv) = (w.em.open(fill, Vec::new(), None), w.em.name());
        let neutral = w.em.constant(elem, self.op.neutral(self.dtype).bits() as u64, LANES as usize);
        let place = w.element(each, copy, iv, elem);
        w.em.put(neutral, place, (elem, LANES as usize), each);
        let bounds = Bounds { low: zero, high: w.em.int(self.stride), step: w.em.int(LANES) };
        w.em.close_loop(each, iv, &bounds, &[]);
        w.em.close_unless(fill, first);
        let (condition, values) = ((first, Type::I1), [scatter.to[0], copy]);
        scatter.to[0] = w.em.op(root, Op::Select { condition, values, ty: Type::Pointer });
        let share = share_of_task(&mut w.em, scatter.updates.update_shape[0], self.tasks);
        scatter.all(w, Some(share))
    }

    /// The kernel that joins what the tasks have accumulated to the result.
    fn joined(&self, call: &Call<'_>, own: Buf, target: &Target) -> Result<Kernel, CodegenError> {
        let mut dag = Dag::default();
        let l =
            dag.add_loop(self.elements).ok_or_else(|| CodegenError::malformed("a graph without a loop"))?;
        let mut parts = Vec::new();
        for task in 0..self.tasks - 1 {
            let address = Lin::var(l).plus(&Lin::constant(task * self.stride), 1);
            let address = address.ok_or_else(|| CodegenError::malformed("copies beyond all memory"))?;
            parts.push(dag.add(Node::Load { buf: own, address, guards: Vec::new() }, self.dtype));
        }
        let operation =
            self.op.binary().ok_or_else(|| CodegenError::malformed("copies that are not joined"))?;
        let sum = parts.into_iter().reduce(|x, y| dag.binary(operation, x, y));
        let root = sum.ok_or_else(|| CodegenError::malformed("no copies"))?;
        let outputs =
            vec![Output { to: buf(call.target()?), address: Lin::var(l), root, join: Some(self.op) }];
        let schedule = schedule::choose(&dag, &outputs, &[l], target);
        Ok(rows::whole(dag, outputs, schedule, [l].into_iter().collect()))
    }
}

/// The updates of a scatter.
struct Updates<'a> {
    dims: &'a ScatterDims,
    indices: Var,
    shape: Vec<i64>,
    index_shape: Vec<i64>,
    update_shape: Vec<i64>,
    /// The axes of the updates that number them.
    batch_dims: Vec<usize>,
    /// The axes of the operand along which an update lies.
    window_dims: Vec<usize>,
}

impl<'a> Updates<'a> {
    fn of(call: &Call<'_>, dims: &'a ScatterDims, n: usize) -> Result<Updates<'a>, CodegenError> {
        let indices = call.arg(n)?;
        let (shape, index_shape) = (call.sizes(call.arg(0)?)?, call.sizes(indices)?);
        let update_shape = call.sizes(call.arg(n + 1)?)?;
        let batch_dims = (0..update_shape.len()).filter(|d| !dims.update_window_dims.contains(d)).collect();
        let window_dims = (0..shape.len())
            .filter(|d| !dims.inserted_window_dims.contains(d) && !dims.input_batching_dims.contains(d))
            .collect();
        Ok(Updates { dims, indices, shape, index_shape, update_shape, batch_dims, window_dims })
    }

    /// How many of the last axes of the updates are the last axes of the operand, whole, wherever an update goes.
    fn whole_axes(&self) -> usize {
        let Updates { dims, shape, update_shape, window_dims, .. } = self;
        let windows = dims.update_window_dims.iter().rev().zip(window_dims.iter().rev());
        let axes = (0..update_shape.len()).rev().zip((0..shape.len()).rev());
        let whole = windows.zip(axes).take_while(|&((&own, &axis), last)| {
            (own, axis) == last
                && update_shape[own] == shape[axis]
                && !dims.scatter_dims_to_operand_dims.contains(&axis)
        });
        whole.count()
    }

    /// Where the element with these numbers goes in the operand, and whether it is there: what depends on the batch
    /// alone is computed where that is `known`. The last numbers may be missing, and count as 0.
    fn place(
        &self,
        w: &mut Writer<'_>,
        call: &Call<'_>,
        (known, inner): (ScopeId, ScopeId),
        number: &[Value],
    ) -> Result<(Vec<Value>, Value), CodegenError> {
        let Updates { dims, shape, .. } = self;
        let batch: Vec<Value> = self.batch_dims.iter().map(|&d| number[d]).collect();
        let index = w.pointer(self.indices)?;
        let mut position = vec![w.em.int(0); shape.len()];
        for (d, &axis) in dims.scatter_dims_to_operand_dims.iter().enumerate() {
            let address = component(w, known, &batch, d, dims.index_vector_dim, &self.index_shape);
            position[axis] = w.index(known, index, call.dtype(self.indices), address)?;
        }
        for (&axis, &d) in dims.input_batching_dims.iter().zip(&dims.scatter_indices_batching_dims) {
            position[axis] = batch[d - usize::from(d >= dims.index_vector_dim)];
        }
        let most = shape.iter().copied().max().unwrap_or(0);
        for (&axis, &d) in self.window_dims.iter().zip(&dims.update_window_dims) {
            let Some(offset) = number.get(d) else { continue };
            if dims.scatter_dims_to_operand_dims.contains(&axis) {
                // A start beyond every position stays beyond it, also where adding to it would overflow.
                let far = w.em.int(most);
                position[axis] = w.arith(known, "arith.minsi", position[axis], far);
            }
            position[axis] = w.add(inner, position[axis], *offset);
        }
        let mut inside: Option<Value> = None;
        for (value, &extent) in position.iter().zip(shape) {
            let holds = w.below(inner, *value, extent);
            inside = Some(match inside {
                None => holds,
                Some(other) => w.em.bin(At { scope: inner, lanes: 1 }, "arith.andi", other, holds, Elem::I1),
            });
        }
        let inside = inside.unwrap_or_else(|| w.em.constant(Elem::I1, 1, 1));
        Ok((position, inside))
    }
}
