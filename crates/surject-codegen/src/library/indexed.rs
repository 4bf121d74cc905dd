//! Moves to and from positions that are known at run time.

use super::{Call, Loop, Writer, region, strides};
use crate::CodegenError;
use crate::ahead::{Ask, prefetch};
use crate::dag::Dag;
use crate::emit::{At, Bounds, Elem, ScopeId};
use crate::row::Kernel;
use crate::stream::LINE;
use surject_ir::{DType, GatherDims, ScatterDims, Var};

/// So many bytes of what is read next are asked for ahead; what comes behind them is then known to be read too.
const AHEAD: i64 = 512;

/// A move of a box of elements.
struct Move<'a> {
    extents: &'a [i64],
    from: (&'a str, &'a str, &'a [i64]),
    to: (&'a str, &'a str, &'a [i64]),
    dtype: DType,
}

impl Move<'_> {
    /// How many outer axes are left, and the elements of one copy: the trailing axes that are contiguous on both sides.
    fn run(&self) -> (usize, i64) {
        let (mut outer, mut run) = (self.extents.len(), 1i64);
        while outer > 0 {
            let axis = outer - 1;
            let same = self.from.2[axis] == run && self.to.2[axis] == run;
            if !same && self.extents[axis] != 1 {
                break;
            }
            run *= self.extents[axis];
            outer = axis;
        }
        (outer, run)
    }
}

impl Writer<'_> {
    /// Moves a box: pointers, addresses of its first element and strides on both sides. The trailing axes that are
    /// contiguous on both sides are one copy.
    fn move_box(&mut self, scope: ScopeId, step: &Move<'_>) {
        let size = step.dtype.size() as i64;
        let (outer, run) = step.run();
        let loops = self.nest(scope, &step.extents[..outer]);
        let inner = loops.last().map_or(scope, |l| l.scope);
        let (mut from, mut to) = (step.from.1.to_string(), step.to.1.to_string());
        for (axis, l) in loops.iter().enumerate() {
            from = self.scaled(inner, &from, &l.iv, step.from.2[axis]);
            to = self.scaled(inner, &to, &l.iv, step.to.2[axis]);
        }
        let bytes = self.em.int(size);
        let [from, to] = [(step.from.0, from), (step.to.0, to)].map(|(pointer, address)| {
            let offset = self.arith(inner, "arith.muli", &address, &bytes);
            self.element(inner, pointer, &offset, Elem::I8)
        });
        if run == 1 && size <= 8 {
            let ty = format!("i{}", size * 8);
            let value =
                self.em.op(inner, &format!("llvm.load {from} {{alignment = 1 : i64}} : !llvm.ptr -> {ty}"));
            self.em
                .line(inner, &format!("llvm.store {value}, {to} {{alignment = 1 : i64}} : {ty}, !llvm.ptr"));
        } else {
            self.copy(inner, &to, &from, run * size);
        }
        self.close(loops, &[], &[], Vec::new());
    }

    /// The clamped starts of a slice of these sizes, from scalar operands.
    fn clamped(
        &mut self,
        call: &Call<'_>,
        starts: &[Var],
        shape: &[i64],
        size: &[i64],
    ) -> Result<Vec<String>, CodegenError> {
        let root = self.root();
        let mut result = Vec::new();
        for (axis, &start) in starts.iter().enumerate().take(shape.len()) {
            let (pointer, zero) = (self.pointer(start)?, self.em.int(0));
            let value = self.index(root, &pointer, call.dtype(start), &zero)?;
            result.push(self.clamp(root, &value, shape[axis] - size[axis]));
        }
        if result.len() < shape.len() {
            return Err(CodegenError::malformed("a slice with too few starts"));
        }
        Ok(result)
    }
}

pub fn dynamic_slice(call: &Call<'_>) -> Result<Kernel, CodegenError> {
    let dag = Dag::default();
    let mut w = Writer::new(call, &dag);
    let (operand, target) = (call.arg(0)?, call.target()?);
    let (shape, sizes) = (call.sizes(operand)?, call.sizes(target)?);
    let starts = w.clamped(call, &call.args[1..], &shape, &sizes)?;
    let root = w.root();
    let base = w.address(root, &starts, &strides(&shape));
    let (from, to, zero) = (w.pointer(operand)?, w.pointer(target)?, w.em.int(0));
    let step = Move {
        extents: &sizes,
        from: (&from, &base, &strides(&shape)),
        to: (&to, &zero, &strides(&sizes)),
        dtype: call.dtype(target),
    };
    w.move_box(root, &step);
    call.finish(w, 1, "dynamic_slice".into())
}

pub fn dynamic_update_slice(call: &Call<'_>, in_place: bool) -> Result<Kernel, CodegenError> {
    let dag = Dag::default();
    let mut w = Writer::new(call, &dag);
    let (operand, update, target) = (call.arg(0)?, call.arg(1)?, call.target()?);
    let (shape, sizes, dtype) = (call.sizes(operand)?, call.sizes(update)?, call.dtype(target));
    let starts = w.clamped(call, &call.args[2..], &shape, &sizes)?;
    let root = w.root();
    let (old, from, to, zero) = (w.pointer(operand)?, w.pointer(update)?, w.pointer(target)?, w.em.int(0));
    if !in_place {
        w.copy(root, &to, &old, shape.iter().product::<i64>() * dtype.size() as i64);
    }
    if !sizes.contains(&0) {
        let base = w.address(root, &starts, &strides(&shape));
        let step = Move {
            extents: &sizes,
            from: (&from, &zero, &strides(&sizes)),
            to: (&to, &base, &strides(&shape)),
            dtype,
        };
        w.move_box(root, &step);
    }
    let kind = if in_place { "dynamic_update_slice in place" } else { "dynamic_update_slice" };
    call.finish(w, 1, kind.into())
}

/// The address of a component of an index vector: batch digits with the component put in its place.
fn component(
    w: &mut Writer<'_>,
    scope: ScopeId,
    batch: &[String],
    d: usize,
    vector_dim: usize,
    shape: &[i64],
) -> String {
    let mut position = batch.to_vec();
    if vector_dim < shape.len() {
        let d = w.em.int(d as i64);
        position.insert(vector_dim.min(position.len()), d);
    }
    w.address(scope, &position, &strides(shape))
}

/// The positions of index vectors, with as few axes as tell them apart: axes side by side in the indices and in the
/// result are one.
struct Batches {
    extents: Vec<i64>,
    /// How far apart index vectors lie along these axes.
    of_index: Vec<i64>,
    /// How far apart slices lie.
    of_result: Vec<i64>,
    /// How far apart the components of an index vector lie.
    of_component: i64,
    /// Which of the axes an axis of the indices is, the components not counted.
    place_of: Vec<usize>,
}

impl Batches {
    fn of(dims: &GatherDims, indices: &[i64], result: &[i64]) -> Batches {
        let (mut apart, out) = (strides(indices), strides(result));
        let mut extents = indices.to_vec();
        let mut of_component = 0;
        if dims.index_vector_dim < indices.len() {
            of_component = apart.remove(dims.index_vector_dim);
            extents.remove(dims.index_vector_dim);
        }
        let batch = (0..result.len()).filter(|d| !dims.offset_dims.contains(d));
        let is_read = |axis: usize| {
            let d = axis + usize::from(axis >= dims.index_vector_dim);
            dims.start_indices_batching_dims.contains(&d)
        };
        let mut all = Batches {
            extents: Vec::new(),
            of_index: Vec::new(),
            of_result: Vec::new(),
            of_component,
            place_of: Vec::new(),
        };
        for (axis, d) in batch.enumerate() {
            let (extent, of_index, of_result) = (extents[axis], apart[axis], out[d]);
            let beside = all.extents.len().checked_sub(1).filter(|&last| {
                !is_read(axis - 1)
                    && !is_read(axis)
                    && all.of_index[last] == of_index * extent
                    && all.of_result[last] == of_result * extent
            });
            if let Some(last) = beside {
                all.extents[last] *= extent;
                (all.of_index[last], all.of_result[last]) = (of_index, of_result);
            } else {
                all.extents.push(extent);
                all.of_index.push(of_index);
                all.of_result.push(of_result);
            }
            all.place_of.push(all.extents.len() - 1);
        }
        all
    }
}

pub fn gather(call: &Call<'_>, dims: &GatherDims, slice: &[u64]) -> Result<Kernel, CodegenError> {
    let (operand, indices, target) = (call.arg(0)?, call.arg(1)?, call.target()?);
    let dag = Dag::default();
    let mut w = Writer::new(call, &dag);
    let (shape, index_shape, sizes) = (call.sizes(operand)?, call.sizes(indices)?, call.sizes(target)?);
    let slice: Vec<i64> = slice.iter().map(|&n| n as i64).collect();
    let (own, out) = (strides(&shape), strides(&sizes));
    let kept: Vec<usize> = (0..shape.len())
        .filter(|d| !dims.collapsed_slice_dims.contains(d) && !dims.operand_batching_dims.contains(d))
        .collect();
    let batches = Batches::of(dims, &index_shape, &sizes);
    let bytes = sizes.iter().product::<i64>() * call.dtype(target).size() as i64;
    let (open, batch, tasks) = w.share(call, &batches.extents, bytes);
    let scope = open.scope;
    let (from, to, index) = (w.pointer(operand)?, w.pointer(target)?, w.pointer(indices)?);
    // Where the slice of these batch positions begins.
    let start = |w: &mut Writer<'_>, batch: &[String]| -> Result<String, CodegenError> {
        let mut base = w.em.int(0);
        let vector = w.address(scope, batch, &batches.of_index);
        for (d, &axis) in dims.start_index_map.iter().enumerate() {
            let component = w.em.int(d as i64 * batches.of_component);
            let address = w.add(scope, &vector, &component);
            let start = w.index(scope, &index, call.dtype(indices), &address)?;
            let start = w.clamp(scope, &start, shape[axis] - slice[axis]);
            base = w.scaled(scope, &base, &start, own[axis]);
        }
        for (&axis, &d) in dims.operand_batching_dims.iter().zip(&dims.start_indices_batching_dims) {
            let digit = &batch[batches.place_of[d - usize::from(d >= dims.index_vector_dim)]];
            base = w.scaled(scope, &base, digit, own[axis]);
        }
        Ok(base)
    };
    let base = start(&mut w, &batch)?;
    let first = w.address(scope, &batch, &batches.of_result);
    let extents: Vec<i64> = kept.iter().map(|&d| slice[d]).collect();
    let from_strides: Vec<i64> = kept.iter().map(|&d| own[d]).collect();
    let to_strides: Vec<i64> = dims.offset_dims.iter().map(|&d| out[d]).collect();
    let step = Move {
        extents: &extents,
        from: (&from, &base, &from_strides),
        to: (&to, &first, &to_strides),
        dtype: call.dtype(target),
    };
    let size = step.dtype.size() as i64;
    let line = step.run().1.saturating_mul(size);
    if line >= LINE && shape.iter().product::<i64>().saturating_mul(size) > call.far {
        // Nothing but the indices says where memory is read next.
        let (ahead, last) =
            (w.em.int((AHEAD / line).max(1)), w.em.int(batches.extents.iter().product::<i64>() - 1));
        let next = w.add(scope, &open.iv, &ahead);
        let next = w.arith(scope, "arith.minsi", &next, &last);
        let batch = w.digits(scope, &next, &batches.extents);
        let next = start(&mut w, &batch)?;
        let bytes = w.em.int(size);
        let next = w.arith(scope, "arith.muli", &next, &bytes);
        let next = w.element(scope, &from, &next, Elem::I8);
        for byte in (0..line.min(AHEAD)).step_by(LINE as usize) {
            prefetch(&mut w.em, scope, (&next, byte), Elem::I8, Ask::Now);
        }
    }
    w.move_box(scope, &step);
    w.close(vec![open], &[], &[], Vec::new());
    call.finish(w, tasks, format!("gather tasks {tasks}"))
}

pub fn scatter(call: &Call<'_>, dims: &ScatterDims, shared: &[bool]) -> Result<Kernel, CodegenError> {
    let n = call.targets.len();
    let (dag, join) = region::inline(call, call.region(0)?, Dag::default())?;
    let mut w = Writer::new(call, &dag);
    let root = w.root();
    for (i, &target) in call.targets.iter().enumerate() {
        if !shared.get(i).copied().unwrap_or(false) {
            let (to, from) = (w.pointer(target)?, w.pointer(call.arg(i)?)?);
            let bytes = call.sizes(target)?.iter().product::<i64>() * call.dtype(target).size() as i64;
            w.copy(root, &to, &from, bytes);
        }
    }
    let updates = Updates::of(call, dims, n)?;
    let (shape, update_shape) = (&updates.shape, &updates.update_shape);
    let batch_dims = &updates.batch_dims;
    // Lines: the last axes of the updates are those of the operand, all of them, so lines go whole or not at all.
    let rank = update_shape.len();
    let whole =
        if call.args[..n].iter().any(|&v| call.dtype(v).is_complex()) { 0 } else { updates.whole_axes() };
    let lines = whole > 0 && rank > whole;
    // All axes in order, as updates are applied; what depends on the batch alone is computed once it is known.
    let nest = if lines { &update_shape[..rank - whole] } else { &update_shape[..] };
    let copies = !(0..n).all(|i| shared.get(i).copied().unwrap_or(false));
    let kind = if copies { "" } else { " in place" };
    let extent = shape[shape.len() - whole..].iter().product();
    let bytes = update_shape.iter().product::<i64>().saturating_mul(call.dtype(call.target()?).size() as i64);
    let tasks = tasks_of_lines(call, (extent, bytes), copies);
    let mut from = 0;
    if let (true, 1, &[count]) = (lines && RUN_LINES.contains(&extent), tasks, nest) {
        from = count - count % RUN;
        runs(&mut w, call, (n, &join), &updates, (from, extent))?;
    }
    let mut loops = w.nest(root, nest);
    if let Some(l) = loops.first_mut().filter(|_| from > 0) {
        l.bounds.low = w.em.int(from);
    }
    let scope_after = |axes: &[usize]| axes.iter().max().map_or(root, |&a| loops[a].scope);
    let known = scope_after(batch_dims);
    let inner = loops.last().map_or(root, |l| l.scope);
    let number: Vec<String> = loops.iter().map(|l| l.iv.clone()).collect();
    let (position, inside) = updates.place(&mut w, call, (known, inner), &number)?;
    let body = w.em.open(inner, Vec::new(), None);
    let address = w.address(body, &position, &strides(shape));
    let element = w.address(body, &number, &strides(update_shape));
    if lines {
        join_lines(&mut w, call, (n, &join), body, (&address, &[element]), extent, tasks)?;
        w.em.close_if(body, &inside);
        w.close(loops as Vec<Loop>, &[], &[], Vec::new());
        return call.finish(w, tasks, format!("scatter of lines{kind} tasks {tasks}"));
    }
    let mut args = Vec::new();
    for &target in call.targets {
        let pointer = w.pointer(target)?;
        args.push(w.load(body, &pointer, call.dtype(target), &address));
    }
    for i in 0..n {
        let update = call.arg(n + 1 + i)?;
        let pointer = w.pointer(update)?;
        args.push(w.load(body, &pointer, call.dtype(update), &element));
    }
    let results = join.apply(&mut w, body, &args)?;
    for (&target, value) in call.targets.iter().zip(&results) {
        let pointer = w.pointer(target)?;
        w.store(body, &pointer, call.dtype(target), &address, value);
    }
    w.em.close_if(body, &inside);
    w.close(loops as Vec<Loop>, &[], &[], Vec::new());
    call.finish(w, 1, format!("scatter{kind}"))
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
        number: &[String],
    ) -> Result<(Vec<String>, String), CodegenError> {
        let Updates { dims, shape, .. } = self;
        let batch: Vec<String> = self.batch_dims.iter().map(|&d| number[d].clone()).collect();
        let index = w.pointer(self.indices)?;
        let mut position = vec![w.em.int(0); shape.len()];
        for (d, &axis) in dims.scatter_dims_to_operand_dims.iter().enumerate() {
            let address = component(w, known, &batch, d, dims.index_vector_dim, &self.index_shape);
            position[axis] = w.index(known, &index, call.dtype(self.indices), &address)?;
        }
        for (&axis, &d) in dims.input_batching_dims.iter().zip(&dims.scatter_indices_batching_dims) {
            position[axis] = batch[d - usize::from(d >= dims.index_vector_dim)].clone();
        }
        // A start beyond every position stays beyond it, also where adding to it would overflow.
        let most = shape.iter().copied().max().unwrap_or(0);
        for &axis in &dims.scatter_dims_to_operand_dims {
            let far = w.em.int(most);
            position[axis] = w.arith(known, "arith.minsi", &position[axis].clone(), &far);
        }
        for (&axis, &d) in self.window_dims.iter().zip(&dims.update_window_dims) {
            if let Some(ahead) = number.get(d) {
                position[axis] = w.add(inner, &position[axis].clone(), ahead);
            }
        }
        let mut inside: Option<String> = None;
        for (value, &extent) in position.iter().zip(shape) {
            let holds = w.below(inner, value, extent);
            inside = Some(match inside {
                None => holds,
                Some(other) => {
                    w.em.bin(At { scope: inner, lanes: 1 }, "arith.andi", &other, &holds, Elem::I1)
                }
            });
        }
        let inside = inside.unwrap_or_else(|| w.em.constant(Elem::I1, 1, 1));
        Ok((position, inside))
    }
}

/// Updates that are looked at together.
const RUN: i64 = 8;
/// Lines of so many elements are worth looking: of shorter ones little is kept, and longer ones are not written out.
const RUN_LINES: std::ops::RangeInclusive<i64> = 8..=MOST_WRITTEN_OUT;

/// The first updates of short lines, some at a time: where all of them go to one line, as those of sorted indices do,
/// that line stays in registers. Each would wait for what the one before it stored.
fn runs(
    w: &mut Writer<'_>,
    call: &Call<'_>,
    (n, join): (usize, &region::Inlined),
    updates: &Updates<'_>,
    (count, extent): (i64, i64),
) -> Result<(), CodegenError> {
    let root = w.root();
    let open = w.open(root, count);
    let at = At { scope: open.scope, lanes: 1 };
    let stride = strides(&updates.update_shape);
    let mut places = Vec::new();
    for u in 0..RUN {
        let ahead = w.em.int(u);
        let number = [w.add(open.scope, &open.iv, &ahead)];
        let (position, inside) = updates.place(w, call, (open.scope, open.scope), &number)?;
        let address = w.address(open.scope, &position, &strides(&updates.shape));
        let element = w.address(open.scope, &number, &stride);
        places.push((address, element, inside));
    }
    let mut one = places[0].2.clone();
    for (address, _, inside) in &places[1..] {
        let same = w.em.cmpi(at, "eq", address, &places[0].0, Elem::I64);
        let same = w.em.bin(at, "arith.andi", &same, inside, Elem::I1);
        one = w.em.bin(at, "arith.andi", &one, &same, Elem::I1);
    }
    let together = w.em.open(open.scope, Vec::new(), None);
    let elements: Vec<String> = places.iter().map(|p| p.1.clone()).collect();
    join_lines(w, call, (n, join), together, (&places[0].0, &elements), extent, 1)?;
    w.em.close_if(together, &one);
    let apart = w.em.open(open.scope, Vec::new(), None);
    for (address, element, inside) in &places {
        let body = w.em.open(apart, Vec::new(), None);
        join_lines(w, call, (n, join), body, (address, std::slice::from_ref(element)), extent, 1)?;
        w.em.close_if(body, inside);
    }
    w.em.close_unless(apart, &one);
    let bounds = Bounds { step: w.em.int(RUN), ..open.bounds.clone() };
    w.close(vec![Loop { bounds, ..open }], &[], &[], Vec::new());
    Ok(())
}

/// Lanes of the vectors of a line; of narrow elements there are as many as a register of so many bytes has.
const LANES: i64 = 16;
const BYTES: i64 = 64;

/// The tasks that share lines, a piece of every line each. Where the kernel copies the operands first, it is one task.
fn tasks_of_lines(call: &Call<'_>, (extent, bytes): (i64, i64), copies: bool) -> i64 {
    let shared = call.threads > 1 && bytes > 1 << 18 && extent >= 4 * LANES && !copies;
    if shared { call.threads as i64 } else { 1 }
}

/// Joins lines of updates to a line of the operands, in lanes. Every task has a piece of all lines, so each element
/// gets its updates in order.
fn join_lines(
    w: &mut Writer<'_>,
    call: &Call<'_>,
    (n, join): (usize, &region::Inlined),
    scope: ScopeId,
    (address, elements): (&str, &[String]),
    extent: i64,
    tasks: i64,
) -> Result<(), CodegenError> {
    let root = w.root();
    let widest = call.targets.iter().map(|&v| Elem::of(call.dtype(v)).size() as i64).max().unwrap_or(4);
    let wide = LANES.max(BYTES / widest);
    let piece = (extent / tasks / LANES).max(1) * LANES;
    let bound = |w: &mut Writer<'_>, number: i64| w.em.int(number);
    let (mut low, mut high) = (bound(w, 0), bound(w, extent));
    if tasks > 1 {
        let (length, last, all) = (bound(w, piece), bound(w, tasks - 1), bound(w, extent));
        low = w.arith(root, "arith.muli", "%task", &length);
        let end = w.add(root, &low, &length);
        let at = crate::emit::At { scope: root, lanes: 1 };
        let whole = w.em.cmpi(at, "eq", "%task", &last, Elem::I64);
        high = w.em.select(at, &whole, &all, &end, Elem::I64);
    }
    if tasks == 1 && extent <= MOST_WRITTEN_OUT {
        // Short lines are written out, in vectors of ever fewer lanes. The next line may be the same one: what is
        // stored is loaded again at once, which wide vectors are slow at.
        const HALF: i64 = LANES / 2;
        let mut first = 0;
        while first < extent {
            let lanes = HALF.min(1 << (extent - first).ilog2());
            let inner = w.em.open(scope, Vec::new(), None);
            let ahead = w.em.int(first);
            join_at(w, call, (n, join), inner, (address, elements, &ahead), lanes as usize)?;
            w.em.close_plain(inner);
            first += lanes;
        }
        return Ok(());
    }
    // Whole vectors as far as they go, then ever narrower ones.
    let mut from = low;
    let mut steps = vec![wide, LANES, 1];
    steps.dedup();
    for lanes in steps {
        let (step, length) = (bound(w, lanes), w.arith(root, "arith.subi", &high, &from));
        let rest = w.arith(root, "arith.remui", &length, &step);
        let to = w.arith(root, "arith.subi", &high, &rest);
        let inner = w.em.open(scope, Vec::new(), None);
        let iv = w.em.name();
        join_at(w, call, (n, join), inner, (address, elements, &iv), lanes as usize)?;
        let bounds = Bounds { low: from, high: to.clone(), step };
        w.em.close_loop(inner, &iv, &bounds, &[]);
        from = to;
    }
    Ok(())
}

/// Lines up to this length are written out.
const MOST_WRITTEN_OUT: i64 = 64;

/// Joins some neighbours of lines, from so many elements on.
fn join_at(
    w: &mut Writer<'_>,
    call: &Call<'_>,
    (n, join): (usize, &region::Inlined),
    inner: ScopeId,
    (address, elements, ahead): (&str, &[String], &str),
    lanes: usize,
) -> Result<(), CodegenError> {
    let place = |w: &mut Writer<'_>, var: Var, at: &str| -> Result<(String, Elem), CodegenError> {
        let (memory, pointer) = (Elem::in_memory(call.dtype(var)), w.pointer(var)?);
        Ok((w.element(inner, &pointer, at, memory), memory))
    };
    let here = At { scope: inner, lanes };
    let load = |w: &mut Writer<'_>, var: Var, at: &str| -> Result<Vec<String>, CodegenError> {
        let (place, memory) = place(w, var, at)?;
        let (ty, size) = (memory.ty(lanes), memory.size());
        let load = format!("llvm.load {place} {{alignment = {size} : i64}} : !llvm.ptr -> {ty}");
        let raw = w.em.op(inner, &load);
        Ok(vec![w.em.widen(call.dtype(var), raw, here)])
    };
    let old = w.add(inner, address, ahead);
    let mut values = Vec::new();
    for &target in call.targets {
        values.push(load(w, target, &old)?);
    }
    for element in elements {
        let new = w.add(inner, element, ahead);
        for &update in &call.args[n + 1..] {
            values.push(load(w, update, &new)?);
        }
        values = join.apply_lanes(w, inner, &values, lanes)?;
    }
    for (&target, value) in call.targets.iter().zip(&values) {
        let value = w.em.narrow(call.dtype(target), value.first().cloned().unwrap_or_default(), here);
        let (place, memory) = place(w, target, &old)?;
        let (ty, size) = (memory.ty(lanes), memory.size());
        let store = format!("llvm.store {value}, {place} {{alignment = {size} : i64}} : {ty}, !llvm.ptr");
        w.em.line(inner, &store);
    }
    Ok(())
}
