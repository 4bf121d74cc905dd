//! Folds with a scalar function: reductions of several tensors.

use crate::CodegenError;
use crate::expression::dag::{Buf, Dag, NodeId, buf};
use crate::library::{Call, Writer, region, strides};
use crate::lower::condition::REGISTER;
use crate::lower::contraction::merge_vectors::interleave;
use crate::lower::emit::{At, Bounds, Carried, ScopeId, Val};
use crate::lower::outer_vector::Rows;
use crate::lower::row::Kernel;
use crate::machine::elem::Elem;
use crate::schedule::outer_vector::LONGEST;
use surject_index::Space;
use surject_ir::{DType, FieldKind, Function, Scalar, StatementKind, TensorType, Var};

/// Joins parts of several values into one list.
pub(super) fn flat(values: &[Vec<String>]) -> Vec<String> {
    values.iter().flatten().cloned().collect()
}

/// The reverse of [`flat`].
pub(super) fn grouped(values: &[String], dtypes: &[DType]) -> Vec<Vec<String>> {
    let mut rest = values.iter().cloned();
    dtypes.iter().map(|d| rest.by_ref().take(if d.is_complex() { 2 } else { 1 }).collect()).collect()
}

/// The initial values, loaded once.
pub(super) fn initial(
    w: &mut Writer<'_>,
    call: &Call<'_>,
    n: usize,
    dtypes: &[DType],
) -> Result<Vec<Vec<String>>, CodegenError> {
    let (root, zero) = (w.root(), w.em.int(0));
    let mut inits = Vec::new();
    for (i, &dtype) in dtypes.iter().enumerate() {
        let pointer = w.pointer(call.arg(n + i)?)?;
        inits.push(w.load(root, &pointer, dtype, &zero));
    }
    Ok(inits)
}

/// What is reduced, with as few axes as tell apart what is kept, what is reduced, and what is a position; none is of one
/// element but a position.
#[derive(Clone, Default)]
struct Reduced {
    shape: Vec<i64>,
    axes: Vec<usize>,
    /// Which of these axes an axis of the operands is.
    place_of: Vec<usize>,
    /// How far apart elements lie along the axes.
    own: Vec<i64>,
    /// Is the axis that is reduced, with the one before it, one of the operands, whose positions are numbers of its
    /// elements?
    cut: bool,
    /// Is the last axis kept, but too short for lanes? They lie along the one that is kept before it.
    beside: bool,
}

/// Parts of lines for every thread, in registers full of them.
const PARTS: i64 = 2;

impl Reduced {
    fn of(call: &Call<'_>, axes: &[usize]) -> Result<Reduced, CodegenError> {
        let all = call.sizes(call.arg(0)?)?;
        let alone = |axis: usize| call.positions.iter().any(|p| *p.1 == axis && call.args.contains(p.0));
        let mut now = Reduced::default();
        let mut before: Option<usize> = None;
        for (axis, &extent) in all.iter().enumerate() {
            if extent == 1 && !alone(axis) {
                now.place_of.push(now.shape.len().saturating_sub(1));
                continue;
            }
            let alike = before
                .is_some_and(|b| axes.contains(&axis) == axes.contains(&b) && !alone(axis) && !alone(b));
            match now.shape.last_mut() {
                Some(last) if alike => *last *= extent,
                _ => {
                    if axes.contains(&axis) {
                        now.axes.push(now.shape.len());
                    }
                    now.shape.push(extent);
                }
            }
            now.place_of.push(now.shape.len() - 1);
            before = Some(axis);
        }
        now.own = strides(&now.shape);
        Ok(now)
    }

    fn kept(&self) -> Vec<usize> {
        (0..self.shape.len()).filter(|a| !self.axes.contains(a)).collect()
    }

    /// How many elements of the last axis are reduced beside each other in every lane.
    fn inner_points(&self) -> i64 {
        if self.beside { self.shape[self.shape.len() - 1] } else { 1 }
    }

    /// The axis that lanes lie along.
    fn in_lanes(&self) -> Option<usize> {
        self.kept().iter().rev().nth(self.beside.into()).copied()
    }

    /// With lanes along the axis before the last one, if this is kept, lies inside one that is reduced, and is no longer.
    fn beside(mut self, longest: i64) -> Reduced {
        if let (&[.., line, short], Some(&axis)) = (&self.shape[..], self.axes.last()) {
            self.beside = axis + 2 == self.shape.len() && line > 1 && short <= longest;
        }
        self
    }

    /// The outputs that lie beside each other, of how many.
    fn outputs(&self) -> (i64, i64) {
        let all = self.kept().iter().map(|&axis| self.shape[axis]).product();
        (self.in_lanes().map_or(1, |axis| self.shape[axis]), all)
    }

    /// The number of an element along an axis of the operands, and by how much it grows from lane to lane.
    fn number(&self, w: &mut Writer<'_>, scope: ScopeId, axis: usize, position: &[String]) -> (String, i64) {
        let place = self.place_of[axis];
        if self.cut && self.axes.contains(&place) {
            let length = self.shape[place];
            return (w.scaled(scope, &position[place], &position[place - 1], length), length);
        }
        (position[place].clone(), i64::from(self.in_lanes() == Some(place)))
    }

    /// A reduction of few long lines as one of many parts of them, all of the same length; the ends of the lines are left.
    fn cut(&self, call: &Call<'_>) -> Option<Reduced> {
        /// Parts of fewer elements are not made for that alone.
        const SHORT: i64 = 256;
        let (&[at], inner_points) = (&self.axes[..], self.inner_points()) else { return None };
        let (kept, inner) = (&self.shape[..at], &self.shape[at + 1..]);
        if inner.iter().product::<i64>() != inner_points {
            return None;
        }
        let line = self.shape[at];
        let lines = kept.iter().product::<i64>().max(1);
        let registers = (PARTS * call.threads as i64 / lines).min(line / (call.lanes * SHORT)).max(1);
        let parts = call.lanes * registers;
        let size = call.dtype(call.arg(0).ok()?).size() as i64;
        let mut length = line / parts;
        // Lines that are a page apart meet in one place of a cache.
        if (length * inner_points * size) % 4096 == 0 {
            length -= call.lanes;
        }
        (length >= call.lanes).then(|| Reduced {
            shape: [kept, &[parts, length], inner].concat(),
            axes: vec![at + 1],
            place_of: self.place_of.iter().map(|&p| if p >= at { p + 1 } else { p }).collect(),
            own: [&self.own[..at], &[length * inner_points], &self.own[at..]].concat(),
            cut: true,
            beside: self.beside,
        })
    }
}

/// What parts of lines were reduced to.
struct Parts {
    /// The extents of what they were reduced to.
    shape: Vec<i64>,
    /// The one of these axes along which those of a line lie.
    axis: usize,
    /// The elements of a line that they hold together.
    length: i64,
    /// The first of as many temporaries as there are results.
    own: Buf,
}

impl Parts {
    fn buf(&self, i: usize) -> Buf {
        Buf(self.own.0 + i as u32)
    }
}

/// The kernels of a reduction, and the types of the temporaries that they have from `own` on.
pub fn reduce(
    call: &Call<'_>,
    axes: &[usize],
    own: Buf,
) -> Result<(Vec<Kernel>, Vec<TensorType>), CodegenError> {
    let (dag, join) = region::inline(call, call.region(0)?, Dag::default())?;
    let real = |&v: &Var| !call.dtype(v).is_complex() && call.dtype(v).size() <= 8;
    let reduced = Reduced::of(call, axes)?;
    let in_lanes = !reduced.axes.is_empty() && call.targets.iter().all(real);
    let chooses = in_lanes && join.chooses(&dag);
    let lined = reduced.clone().beside(call.lanes - 1);
    let (beside, all) = lined.outputs();
    // One register of outputs beside each other, and few of those, are less than parts of the lines.
    let few = beside == call.lanes && all < beside * PARTS * call.threads as i64;
    // What is chosen may be compared with the initial values more than once.
    let cut = (chooses && (few || beside < call.lanes)).then(|| reduced.clone().beside(call.lanes).cut(call));
    let Some(cut) = cut.flatten() else {
        if !in_lanes || beside < call.lanes {
            return Ok((vec![reduce_each(call, &reduced, None, (&dag, &join))?], Vec::new()));
        }
        let to: Vec<Option<Buf>> =
            call.targets.iter().map(|t| call.written.contains(t).then_some(buf(*t))).collect();
        let ascending = ascending(call, &dag, &join, axes)?;
        let (dag, held) = narrowed(call, dag, &join)?;
        return Ok((vec![reduce_lanes(call, &lined, (&to, &held), &ascending, (&dag, &join))?], Vec::new()));
    };
    let &[line] = &cut.axes[..] else {
        return Err(CodegenError::malformed("lines along several axes that are cut"));
    };
    let length = cut.shape[line - 1] * cut.shape[line];
    let shape = [&cut.shape[..line], &cut.shape[line + 1..]].concat();
    let extents: Vec<u64> = shape.iter().map(|&n| n as u64).collect();
    let parts = Parts { shape, axis: line - 1, length, own };
    let types = call.targets.iter().map(|&t| TensorType::new(call.dtype(t), Space::of(&extents))).collect();
    let to: Vec<Buf> = (0..call.targets.len()).map(|i| parts.buf(i)).collect();
    let places: Vec<Option<Buf>> = to.iter().copied().map(Some).collect();
    let alone = Call { written: Vec::new(), ..call.clone() };
    let ascending = ascending(call, &dag, &join, axes)?;
    let (narrow, held) = narrowed(call, dag.clone(), &join)?;
    let mut first = reduce_lanes(&alone, &cut, (&places, &held), &ascending, (&narrow, &join))?;
    first.writes = to;
    Ok((vec![first, reduce_each(call, &reduced, Some(&parts), (&dag, &join))?], types))
}

/// A reduction of one output after the other: of all elements, or of what parts of a line were reduced to and of its end.
fn reduce_each(
    call: &Call<'_>,
    reduced: &Reduced,
    parts: Option<&Parts>,
    (dag, join): (&Dag, &region::Inlined),
) -> Result<Kernel, CodegenError> {
    let n = call.targets.len();
    let (shape, axes) = (&reduced.shape, &reduced.axes);
    let mut w = Writer::with(call, dag, parts.iter().flat_map(|p| (0..n).map(|i| p.buf(i))));
    let dtypes: Vec<DType> = call.targets.iter().map(|&t| call.dtype(t)).collect();
    let types: Vec<String> = dtypes.iter().flat_map(|&d| w.part_types(d)).collect();
    let mut inits = initial(&mut w, call, n, &dtypes)?;
    let kept = reduced.kept();
    let out: Vec<i64> = kept.iter().map(|&a| shape[a]).collect();
    let work = shape.iter().product::<i64>().saturating_mul(8 * n as i64);
    let (open, digits, tasks) = w.share(call, &out, if parts.is_some() { 0 } else { work });
    let to = w.address(open.scope, &digits, &strides(&out));
    if let Some(parts) = parts {
        let (loops, state) = w.carrying(open.scope, &[parts.shape[parts.axis]], &types);
        let inner = loops.last().map_or(open.scope, |l| l.scope);
        let mut position = digits.clone();
        position.insert(parts.axis, loops.last().map(|l| l.iv.clone()).unwrap_or_default());
        let address = w.address(inner, &position, &strides(&parts.shape));
        let mut args = grouped(&state, &dtypes);
        for (i, &dtype) in dtypes.iter().enumerate() {
            let pointer = w.em.pointer(parts.buf(i))?;
            args.push(w.load(inner, &pointer, dtype, &address));
        }
        let results = flat(&join.apply(&mut w, inner, &args)?);
        inits = grouped(&w.close(loops, &flat(&inits), &types, results), &dtypes);
    }
    let extents: Vec<i64> = axes.iter().map(|&a| shape[a]).collect();
    let (mut loops, state) = w.carrying(open.scope, &extents, &types);
    if let (Some(parts), Some(line)) = (parts, loops.last_mut()) {
        line.bounds.low = w.em.int(parts.length);
    }
    let next = if axes.is_empty() { flat(&inits) } else { state };
    let inner = loops.last().map_or(open.scope, |l| l.scope);
    let mut position = vec![String::new(); shape.len()];
    kept.iter().zip(&digits).for_each(|(&a, digit)| position[a].clone_from(digit));
    axes.iter().zip(&loops).for_each(|(&a, l)| position[a].clone_from(&l.iv));
    let address = w.address(inner, &position, &reduced.own);
    let mut args = grouped(&next, &dtypes);
    for (i, &dtype) in dtypes.iter().enumerate() {
        if let Some(&axis) = call.positions.get(&call.arg(i)?) {
            let number = reduced.number(&mut w, inner, axis, &position).0;
            args.push(vec![w.em.convert(At { scope: inner, lanes: 1 }, DType::I64, dtype, &number)]);
            continue;
        }
        let pointer = w.pointer(call.arg(i)?)?;
        args.push(w.load(inner, &pointer, dtype, &address));
    }
    let results = flat(&join.apply(&mut w, inner, &args)?);
    let results = w.close(loops, &flat(&inits), &types, results);
    for (&target, value) in call.targets.iter().zip(grouped(&results, &dtypes)) {
        if call.written.contains(&target) {
            let pointer = w.pointer(target)?;
            w.store(open.scope, &pointer, call.dtype(target), &to, &value);
        }
    }
    w.close(vec![open], &[], &[], Vec::new());
    let of = if parts.is_some() { " of parts" } else { "" };
    call.finish(w, tasks, format!("reduce {shape:?} over {axes:?}{of} tasks {tasks}"))
}

/// Bytes of outputs that are reduced side by side where they lie next to each other: pieces of rows, of which the processor reads
/// whole lines in order, and chains of comparisons that do not wait for each other. Of 1024 x 1024 `f32` it is 1.1 to 1.3
/// times as fast as a register at a time (Sapphire Rapids).
const MANY: i64 = 256;

/// Lines of neighbours that are joined at once.
const LINES: i64 = 4;

/// A reduction of many outputs: neighbours along their last axis, or along the one before a short one, are the lanes of
/// vectors, and each of them is joined in the order of its elements. `to` is where the results go that are written, `held` in which types they are carried.
fn reduce_lanes(
    call: &Call<'_>,
    reduced: &Reduced,
    (to, held): (&[Option<Buf>], &[DType]),
    ascending: &[(NodeId, bool)],
    (dag, join): (&Dag, &region::Inlined),
) -> Result<Kernel, CodegenError> {
    let n = call.targets.len();
    let others = to.iter().flatten().copied().filter(|b| !call.written.iter().any(|&t| buf(t) == *b));
    let mut w = Writer::with(call, dag, others);
    let (shape, axes, own, inner_points) =
        (&reduced.shape, &reduced.axes, &reduced.own, reduced.inner_points());
    let mut kept = reduced.kept();
    kept.truncate(kept.len() - usize::from(reduced.beside));
    let out: Vec<i64> = kept.iter().map(|&a| shape[a]).collect();
    let (Some(&last), Some(&length)) = (kept.last(), out.last()) else {
        return Err(CodegenError::malformed("a reduction to nothing in lanes"));
    };
    let widest = held.iter().map(|&d| Elem::of(d).size()).max().unwrap_or(1);
    let many = MANY / widest as i64;
    let count = |beside: i64| out.iter().product::<i64>() / length.max(1) * ((length + beside - 1) / beside);
    let mut beside = call.lanes;
    while own[last] == 1 && 2 * beside <= many.min(length) {
        let (now, next) = (count(beside), count(2 * beside));
        // What lies in two blocks is computed twice.
        if next < call.threads as i64 || 16 * next > 9 * now {
            break;
        }
        beside *= 2;
    }
    let lanes = beside as usize;
    // A register at a time, where truths would be packed otherwise ([`crate::condition`]).
    let alike = held.iter().all(|&d| Elem::of(d).size() == widest);
    let packed = call.lanes as usize == REGISTER / size_of::<f32>();
    let width = if packed && alike { lanes.min(REGISTER / widest) } else { lanes };
    let dtypes: Vec<DType> = call.targets.iter().map(|&t| call.dtype(t)).collect();
    // What is reduced side by side is carried one after the other.
    let of_each = |one: Vec<String>| vec![one; inner_points as usize].concat();
    let types: Vec<String> = of_each(held.iter().map(|&d| Elem::of(d).ty(lanes)).collect());
    let root = w.root();
    let init = initial(&mut w, call, n, &dtypes)?
        .into_iter()
        .zip(dtypes.iter().zip(held))
        .map(|(mut parts, (&own, &held))| {
            let ssa = w.em.convert(At { scope: root, lanes: 1 }, own, held, &parts.swap_remove(0));
            w.em.spread(&Val { ssa, lanes: 1 }, Elem::of(held), At { scope: root, lanes })
        })
        .collect();
    let inits = of_each(init);
    // The last vector of a line ends with it: some outputs are computed twice.
    let mut blocks = out.clone();
    if let Some(count) = blocks.last_mut() {
        *count = (length + beside - 1) / beside;
    }
    let work = shape.iter().product::<i64>().saturating_mul(8 * n as i64);
    let (open, mut digits, tasks) = w.share(call, &blocks, work);
    let mut own_lanes = None;
    if let Some(digit) = digits.last_mut() {
        let at = At { scope: open.scope, lanes };
        (*digit, own_lanes) = w.block_of(digit, (length, beside), at);
    }
    let extents: Vec<i64> = axes.iter().map(|&a| shape[a]).collect();
    let Some((&length_in, outer)) = extents.split_last() else {
        return Err(CodegenError::malformed("a reduction over nothing in lanes"));
    };
    let (loops, state) = w.carrying(open.scope, outer, &types);
    let around = loops.last().map_or(open.scope, |l| l.scope);
    let mut state = if outer.is_empty() { inits.clone() } else { state };
    // Where the elements of one output lie next to each other, square blocks are loaded and transposed: loads that
    // take one element of each line touch every line again for every element. Positions are not loaded.
    let inner_axis = axes.last().copied().unwrap_or(0);
    let square = own[inner_axis] == inner_points && own[last] != 1;
    let block = if square && !reduced.beside {
        call.lanes
    } else {
        // Of a block nothing is known of the first element only.
        let most = if square { (LONGEST / inner_points).max(1) } else { LINES };
        let blocks = (length_in + most - 1) / most;
        (length_in + blocks - 1) / blocks.max(1)
    };
    let short = square && !reduced.beside && length_in <= LONGEST;
    let main = if short { 0 } else { length_in - length_in % block.max(1) };
    // What is left of a line is one block.
    let rest = (length_in - main).max(1);
    for (step, low, high) in [(block, 0, main), (rest, main, length_in)] {
        if low == high {
            continue;
        }
        let inner = w.em.open(around, Vec::new(), None);
        let iv = w.em.name();
        let mut position = vec![String::new(); shape.len()];
        kept.iter().zip(&digits).for_each(|(&a, digit)| position[a].clone_from(digit));
        axes.iter().zip(&loops).for_each(|(&a, l)| position[a].clone_from(&l.iv));
        position[inner_axis].clone_from(&iv);
        if reduced.beside {
            position[inner_axis + 1] = w.em.int(0);
        }
        let address = w.address(inner, &position, own);
        let names: Vec<String> = types.iter().map(|_| w.em.name()).collect();
        // Of every operand the elements that are joined, line after line.
        let mut terms: Vec<Vec<String>> = Vec::new();
        for (i, &dtype) in dtypes.iter().enumerate() {
            if let Some(&axis) = call.positions.get(&call.arg(i)?) {
                // What runs along the reduced axis is one number for all lanes, what runs along the last one is not.
                let different = if reduced.place_of[axis] == inner_axis { step } else { 1 };
                let mut of_lines = Vec::new();
                for k in 0..inner_points {
                    if reduced.beside {
                        position[inner_axis + 1] = w.em.int(k);
                    }
                    let (first, apart) = reduced.number(&mut w, inner, axis, &position);
                    of_lines.push(w.positions_of(inner, &first, held[i], (different, step), apart, lanes));
                }
                terms.push(
                    (0..step as usize).flat_map(|k| of_lines.iter().map(move |l| l[k].clone())).collect(),
                );
                continue;
            }
            let pointer = w.pointer(call.arg(i)?)?;
            terms.push(if !square || step * inner_points == 1 {
                let mut lines = Vec::new();
                for line in 0..step {
                    let ahead = w.em.int(line * own[inner_axis]);
                    let at = w.add(inner, &address, &ahead);
                    lines.push(w.lanes_of(inner, (&pointer, &at), dtype, own[last], lanes));
                }
                lines
            } else if step == rest || reduced.beside {
                let elem = Elem::in_memory(dtype);
                let first = w.element(inner, &pointer, &address, elem);
                let rows = Rows { first: &first, stride: own[last], reach: step * inner_points, elem };
                let at = At { scope: inner, lanes };
                let columns = w.em.columns(&rows, at);
                columns.into_iter().map(|column| w.em.widen(dtype, column, at)).collect()
            } else {
                let mut lines = Vec::new();
                for line in 0..call.lanes {
                    let ahead = w.em.int(line * own[last]);
                    let at = w.add(inner, &address, &ahead);
                    lines.push(w.lanes_of(inner, (&pointer, &at), dtype, 1, lanes));
                }
                interleave(&mut w.em, inner, lines, Elem::of(dtype), lanes)
            });
        }
        let mut next: Vec<Vec<String>> = names.chunks(n).map(<[String]>::to_vec).collect();
        for k in 0..terms.first().map_or(0, Vec::len) {
            let (line, place) = (k / inner_points as usize, k % inner_points as usize);
            let args = next[place].iter().cloned().chain(terms.iter().map(|t| t[k].clone()));
            let args: Vec<String> = args.collect();
            // Of the first element nothing is known: it may be the initial value.
            let known = if line > 0 { ascending } else { &[] };
            let mut parts: Vec<Vec<String>> = vec![Vec::new(); n];
            for first in (0..lanes).step_by(width) {
                let some = args
                    .iter()
                    .zip(held.iter().cycle())
                    .map(|(v, &d)| vec![w.em.some_lanes(inner, v, (Elem::of(d), lanes), (first, width))]);
                let some: Vec<Vec<String>> = some.collect();
                let results = flat(&join.apply_knowing(&mut w, inner, &some, width, known)?);
                parts.iter_mut().zip(results).for_each(|(all, one)| all.push(one));
            }
            let whole = parts.into_iter().zip(held);
            next[place] = whole.map(|(p, &d)| w.em.of_parts(inner, p, Elem::of(d), width)).collect();
        }
        let next = next.concat();
        let carried: Vec<Carried> = (0..types.len())
            .map(|i| Carried {
                name: names[i].clone(),
                init: state[i].clone(),
                ty: types[i].clone(),
                next: next[i].clone(),
            })
            .collect();
        let bounds = Bounds { low: w.em.int(low), high: w.em.int(high), step: w.em.int(step) };
        state = w.em.close_loop(inner, &iv, &bounds, &carried);
    }
    let results = w.close(loops, &inits, &types, state);
    // The results of what is reduced together lie side by side: those of all lanes are one piece of memory, which is stored
    // as a whole; what two of them share is the same in both. Elsewhere it is stored once.
    let address = w.address(open.scope, &digits, &strides(&out));
    let zero = w.em.int(0);
    let address = w.scaled(open.scope, &zero, &address, inner_points);
    let whole = At { scope: open.scope, lanes: lanes * inner_points as usize };
    for (i, (place, (&dtype, &held))) in to.iter().zip(dtypes.iter().zip(held)).enumerate() {
        let Some(place) = *place else { continue };
        let pointer = w.em.pointer(place)?;
        let of_lanes: Vec<String> = results.iter().skip(i).step_by(n).cloned().collect();
        let value = w.side_by_side(open.scope, of_lanes, (Elem::of(held), lanes));
        let value = if held == dtype { value } else { w.em.doubled(&value, whole) };
        let mask = own_lanes.as_deref().filter(|_| !reduced.beside);
        w.store_lanes(whole, (&pointer, &address), (dtype, &value), (1, mask));
    }
    w.close(vec![open], &[], &[], Vec::new());
    let lines = if reduced.beside { format!(", {inner_points} side by side") } else { String::new() };
    call.finish(w, tasks, format!("reduce {shape:?} over {axes:?} in lanes{lines}, tasks {tasks}"))
}

/// The scalar function and the types in which it carries its results: positions that it only compares with each other and
/// chooses, beside values of at most four bytes, as `i32`, so that a vector holds as many of them as of the others.
fn narrowed(
    call: &Call<'_>,
    mut dag: Dag,
    join: &region::Inlined,
) -> Result<(Dag, Vec<DType>), CodegenError> {
    let n = call.targets.len();
    let types: Vec<DType> = call.targets.iter().map(|&t| call.dtype(t)).collect();
    let (mut held, mut values) = (types.clone(), Vec::new());
    for (i, &dtype) in types.iter().enumerate().filter(|(_, d)| d.size() > DType::I32.size()) {
        let (arg, init) = (call.arg(i)?, call.arg(n + i)?);
        let holds = |value: i128| value >= 0 && DType::I32.holds(value);
        let last = match call.positions.get(&arg) {
            Some(&axis) => call.sizes(arg)?[axis] - 1,
            None => return Ok((dag, types)),
        };
        let fits = dtype.is_int() && dtype.holds(last) && holds(last.into());
        let first = literal(call.function, init).and_then(Scalar::as_i128);
        let ordered = join.only_ordered(&dag, i).filter(|_| fits && first.is_some_and(holds));
        let Some(ordered) = ordered else { return Ok((dag, types)) };
        held[i] = DType::I32;
        values.extend(ordered);
    }
    values.into_iter().for_each(|node| dag.retype(node, DType::I32));
    Ok((dag, held))
}

/// What is known of the comparisons of positions, in a reduction along one axis, from the second element of it on:
/// positions along that axis only grow, and start with one that is not above the first.
fn ascending(
    call: &Call<'_>,
    dag: &Dag,
    join: &region::Inlined,
    axes: &[usize],
) -> Result<Vec<(NodeId, bool)>, CodegenError> {
    let &[axis] = axes else { return Ok(Vec::new()) };
    let n = call.targets.len();
    let mut known = Vec::new();
    for i in 0..n {
        let (arg, init) = (call.arg(i)?, call.arg(n + i)?);
        let dtype = call.dtype(arg);
        let last = call.sizes(arg)?[axis] - 1;
        let holds = dtype.holds(last);
        let before = literal(call.function, init).and_then(Scalar::as_i128);
        let along = call.positions.get(&arg) == Some(&axis);
        if along && dtype.is_int() && holds && before.is_some_and(|first| first <= 0) {
            known.extend(join.while_ascending(dag, i));
        }
    }
    Ok(known)
}

/// The literal that a variable is.
fn literal(function: &Function, var: Var) -> Option<Scalar> {
    function.body.statements.iter().find_map(|statement| match &statement.kind {
        &StatementKind::Store { target, field } if target == var => match function.fields[field].kind {
            FieldKind::Const(value) => Some(value),
            _ => None,
        },
        StatementKind::Constant { target, value } if *target == var && value.len() == 1 => Some(value.get(0)),
        _ => None,
    })
}
