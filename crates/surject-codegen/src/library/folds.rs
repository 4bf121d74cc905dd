//! Folds with a scalar function: reductions of several tensors.
//!
//! Where neighbouring outputs fill vectors they are reduced in lanes (`in_lanes`). Where there are few outputs, long lines
//! are first cut into parts, which are outputs of their own, and what these were reduced to is reduced one output after the
//! other ([`reduce_each`]).

mod in_lanes;

use crate::CodegenError;
use crate::code::Value;
use crate::expression::dag::{Buf, Dag, NodeId, buf};
use crate::library::folds::in_lanes::{Results, reduce_lanes};
use crate::library::{Call, Writer, region, strides};
use crate::lower::emit::{At, ScopeId};
use crate::lower::kernel::Kernel;
use crate::machine::elem::Type;
use surject_index::Space;
use surject_ir::{DType, FieldKind, Function, Scalar, StatementKind, TensorType, Var};

/// Joins parts of several values into one list.
pub(super) fn flat(values: &[Vec<Value>]) -> Vec<Value> {
    values.iter().flatten().cloned().collect()
}

/// The reverse of [`flat`].
pub(super) fn grouped(values: &[Value], dtypes: &[DType]) -> Vec<Vec<Value>> {
    let mut rest = values.iter().cloned();
    dtypes.iter().map(|d| rest.by_ref().take(if d.is_complex() { 2 } else { 1 }).collect()).collect()
}

/// The initial values, loaded once.
pub(super) fn initial(
    w: &mut Writer<'_>,
    call: &Call<'_>,
    n: usize,
    dtypes: &[DType],
) -> Result<Vec<Vec<Value>>, CodegenError> {
    let (root, zero) = (w.root(), w.em.int(0));
    let mut inits = Vec::new();
    for (i, &dtype) in dtypes.iter().enumerate() {
        let pointer = w.pointer(call.arg(n + i)?)?;
        inits.push(w.load(root, pointer, dtype, zero));
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

/// How many outputs there are: beside each other along the axis of the lanes, and in all.
struct Outputs {
    beside: i64,
    all: i64,
}

/// The number of the element of the first lane, and by how much it grows from lane to lane.
struct Number {
    first: Value,
    stride: i64,
}

/// The scalar function that joins two elements, and the graph of its operations.
#[derive(Clone, Copy)]
struct Join<'a> {
    dag: &'a Dag,
    function: &'a region::Inlined,
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

    fn outputs(&self) -> Outputs {
        Outputs {
            beside: self.in_lanes().map_or(1, |axis| self.shape[axis]),
            all: self.kept().iter().map(|&axis| self.shape[axis]).product(),
        }
    }

    /// The number of an element along an axis of the operands.
    fn number(&self, w: &mut Writer<'_>, scope: ScopeId, axis: usize, position: &[Value]) -> Number {
        let place = self.place_of[axis];
        if self.cut && self.axes.contains(&place) {
            let length = self.shape[place];
            let first = w.scaled(scope, position[place], position[place - 1], length);
            return Number { first, stride: length };
        }
        Number { first: position[place], stride: i64::from(self.in_lanes() == Some(place)) }
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
    let Outputs { beside, all } = lined.outputs();
    // One register of outputs beside each other, and few of those, are less than parts of the lines.
    let few = beside == call.lanes && all < beside * PARTS * call.threads as i64;
    // What is chosen may be compared with the initial values more than once.
    let cut = (chooses && (few || beside < call.lanes)).then(|| reduced.clone().beside(call.lanes).cut(call));
    let Some(cut) = cut.flatten() else {
        if !in_lanes || beside < call.lanes {
            let join = Join { dag: &dag, function: &join };
            return Ok((vec![reduce_each(call, &reduced, None, join)?], Vec::new()));
        }
        let to: Vec<Option<Buf>> =
            call.targets.iter().map(|t| call.written.contains(t).then_some(buf(*t))).collect();
        let ascending = ascending(call, &dag, &join, axes)?;
        let (dag, held) = narrowed(call, dag, &join)?;
        let (results, join) = (Results { to: &to, held: &held }, Join { dag: &dag, function: &join });
        return Ok((vec![reduce_lanes(call, &lined, results, join, &ascending)?], Vec::new()));
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
    let (results, narrow) = (Results { to: &places, held: &held }, Join { dag: &narrow, function: &join });
    let mut first = reduce_lanes(&alone, &cut, results, narrow, &ascending)?;
    first.writes = to;
    let join = Join { dag: &dag, function: &join };
    Ok((vec![first, reduce_each(call, &reduced, Some(&parts), join)?], types))
}

/// A reduction of one output after the other: of all elements, or of what parts of a line were reduced to and of its end.
fn reduce_each(
    call: &Call<'_>,
    reduced: &Reduced,
    parts: Option<&Parts>,
    join: Join<'_>,
) -> Result<Kernel, CodegenError> {
    let n = call.targets.len();
    let (shape, axes) = (&reduced.shape, &reduced.axes);
    let mut w = Writer::with(call, join.dag, parts.iter().flat_map(|p| (0..n).map(|i| p.buf(i))));
    let dtypes: Vec<DType> = call.targets.iter().map(|&t| call.dtype(t)).collect();
    let types: Vec<Type> = dtypes.iter().flat_map(|&d| w.part_types(d)).collect();
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
        position.insert(parts.axis, loops.last().map(|l| l.iv).unwrap_or_default());
        let address = w.address(inner, &position, &strides(&parts.shape));
        let mut args = grouped(&state, &dtypes);
        for (i, &dtype) in dtypes.iter().enumerate() {
            let pointer = w.em.pointer(parts.buf(i))?;
            args.push(w.load(inner, pointer, dtype, address));
        }
        let results = flat(&join.function.apply(&mut w, inner, &args)?);
        inits = grouped(&w.close(loops, &flat(&inits), &types, results), &dtypes);
    }
    let extents: Vec<i64> = axes.iter().map(|&a| shape[a]).collect();
    let (mut loops, state) = w.carrying(open.scope, &extents, &types);
    if let (Some(parts), Some(line)) = (parts, loops.last_mut()) {
        line.bounds.low = w.em.int(parts.length);
    }
    let next = if axes.is_empty() { flat(&inits) } else { state };
    let inner = loops.last().map_or(open.scope, |l| l.scope);
    let mut position = vec![Value::NONE; shape.len()];
    kept.iter().zip(&digits).for_each(|(&a, digit)| position[a].clone_from(digit));
    axes.iter().zip(&loops).for_each(|(&a, l)| position[a].clone_from(&l.iv));
    let address = w.address(inner, &position, &reduced.own);
    let mut args = grouped(&next, &dtypes);
    for (i, &dtype) in dtypes.iter().enumerate() {
        if let Some(&axis) = call.positions.get(&call.arg(i)?) {
            let number = reduced.number(&mut w, inner, axis, &position).first;
            args.push(vec![w.em.convert(At { scope: inner, lanes: 1 }, DType::I64, dtype, number)]);
            continue;
        }
        let pointer = w.pointer(call.arg(i)?)?;
        args.push(w.load(inner, pointer, dtype, address));
    }
    let results = flat(&join.function.apply(&mut w, inner, &args)?);
    let results = w.close(loops, &flat(&inits), &types, results);
    for (&target, value) in call.targets.iter().zip(grouped(&results, &dtypes)) {
        if call.written.contains(&target) {
            let pointer = w.pointer(target)?;
            w.store(open.scope, pointer, call.dtype(target), to, &value);
        }
    }
    w.close(vec![open], &[], &[], Vec::new());
    let of = if parts.is_some() { " of parts" } else { "" };
    call.finish(w, tasks, format!("reduce {shape:?} over {axes:?}{of} tasks {tasks}"))
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
