//! A reduction of many outputs in vectors: neighbouring outputs are the lanes, and each of them is joined in the order of
//! its elements.
//!
//! The lanes lie along the last axis that is kept, or along the one before a short one, whose elements are then joined side
//! by side (`inner_points`). A loop runs over the innermost reduced axis, some elements of it at a time (a [`Piece`]): first
//! their terms are loaded, for all operands, and then they are joined one after the other.

use crate::CodegenError;
use crate::code::Value;
use crate::expression::dag::{Buf, NodeId, buf};
use crate::library::folds::{Join, Reduced, flat, initial};
use crate::library::lanes::Positions;
use crate::library::{Call, Writer, strides};
use crate::lower::condition::REGISTER;
use crate::lower::emit::{At, Bounds, Carried, ScopeId, Val};
use crate::lower::kernel::Kernel;
use crate::lower::register_transpose::{LONGEST, Rows};
use crate::lower::vectors::interleave;
use crate::machine::elem::{Elem, Type};
use surject_ir::DType;

/// Bytes of outputs that are reduced side by side where they lie next to each other: pieces of rows, of which the processor reads
/// whole lines in order, and chains of comparisons that do not wait for each other. Of 1024 x 1024 `f32` it is 1.1 to 1.3
/// times as fast as a register at a time (Sapphire Rapids).
const MANY: i64 = 256;

/// Lines of neighbours that are joined at once.
const LINES: i64 = 4;

/// Where the results go, and how they are carried until then.
#[derive(Clone, Copy)]
pub(super) struct Results<'a> {
    /// The memory of each result; `None`: nobody reads it, and it is not written.
    pub(super) to: &'a [Option<Buf>],
    /// The type in which each is carried ([`super::narrowed`]).
    pub(super) held: &'a [DType],
}

/// Elements `low..high` of the innermost reduced axis, `step` of which are loaded at once.
struct Piece {
    step: i64,
    low: i64,
    high: i64,
    /// Is a step as long as what blocks leave of a line? Then it is loaded as one matrix of columns.
    is_rest: bool,
}

/// How a reduction is done in lanes.
struct InLanes<'a> {
    call: &'a Call<'a>,
    reduced: &'a Reduced,
    results: Results<'a>,
    join: Join<'a>,
    /// What is known of the operands of every element but the first ([`super::ascending`]).
    ascending: &'a [(NodeId, bool)],
    /// The types of the results.
    dtypes: Vec<DType>,
    /// The types of the vectors that loops carry.
    types: Vec<Type>,
    /// The kept axes that are not reduced side by side, and their extents.
    kept: Vec<usize>,
    out: Vec<i64>,
    /// The axis that lanes lie along.
    last: usize,
    /// The innermost reduced axis.
    inner_axis: usize,
    /// How many elements are joined side by side in every lane.
    inner_points: i64,
    /// Outputs side by side.
    lanes: usize,
    /// Lanes that the scalar function is applied to at once.
    width: usize,
    /// Do the elements of one output lie next to each other, and those of its neighbours not? Then square blocks are loaded and
    /// transposed: loads that take one element of each line touch every line again for every element.
    square: bool,
}

/// The kernel of a reduction in lanes.
pub(super) fn reduce_lanes(
    call: &Call<'_>,
    reduced: &Reduced,
    results: Results<'_>,
    join: Join<'_>,
    ascending: &[(NodeId, bool)],
) -> Result<Kernel, CodegenError> {
    let plan = InLanes::new(call, reduced, results, join, ascending)?;
    let (shape, axes, out, types) = (&reduced.shape, &reduced.axes, &plan.out, &plan.types);
    let extents: Vec<i64> = axes.iter().map(|&a| shape[a]).collect();
    let (Some(&length), Some((&length_in, outer))) = (out.last(), extents.split_last()) else {
        return Err(CodegenError::malformed("a reduction over nothing in lanes"));
    };
    let others = results.to.iter().flatten().copied();
    let others = others.filter(|b| !call.written.iter().any(|&t| buf(t) == *b));
    let mut w = Writer::with(call, join.dag, others);
    let inits = plan.initial(&mut w)?;
    // The last vector of a line ends with it: some outputs are computed twice.
    let (mut blocks, beside) = (out.clone(), plan.lanes as i64);
    if let Some(count) = blocks.last_mut() {
        *count = (length + beside - 1) / beside;
    }
    let work = shape.iter().product::<i64>().saturating_mul(8 * call.targets.len() as i64);
    let (open, mut digits, tasks) = w.share(call, &blocks, work);
    let mut own_lanes = None;
    if let Some(digit) = digits.last_mut() {
        let at = At { scope: open.scope, lanes: plan.lanes };
        (*digit, own_lanes) = w.block_of(*digit, length, beside, at);
    }
    let (loops, state) = w.carrying(open.scope, outer, types);
    let around = loops.last().map_or(open.scope, |l| l.scope);
    let mut state = if outer.is_empty() { inits.clone() } else { state };
    let mut position = vec![Value::NONE; shape.len()];
    plan.kept.iter().zip(&digits).for_each(|(&a, digit)| position[a].clone_from(digit));
    axes.iter().zip(&loops).for_each(|(&a, l)| position[a].clone_from(&l.iv));
    for piece in plan.pieces(length_in).into_iter().filter(|p| p.low < p.high) {
        state = plan.piece(&mut w, around, position.clone(), &piece, state)?;
    }
    let finished = w.close(loops, &inits, types, state);
    let address = w.address(open.scope, &digits, &strides(out));
    plan.store(&mut w, open.scope, address, &finished, own_lanes)?;
    w.close(vec![open], &[], &[], Vec::new());
    let inner_points = plan.inner_points;
    let lines = if reduced.beside { format!(", {inner_points} side by side") } else { String::new() };
    call.finish(w, tasks, format!("reduce {shape:?} over {axes:?} in lanes{lines}, tasks {tasks}"))
}

impl<'a> InLanes<'a> {
    fn new(
        call: &'a Call<'a>,
        reduced: &'a Reduced,
        results: Results<'a>,
        join: Join<'a>,
        ascending: &'a [(NodeId, bool)],
    ) -> Result<InLanes<'a>, CodegenError> {
        let (shape, own, inner_points) = (&reduced.shape, &reduced.own, reduced.inner_points());
        let mut kept = reduced.kept();
        kept.truncate(kept.len() - usize::from(reduced.beside));
        let out: Vec<i64> = kept.iter().map(|&a| shape[a]).collect();
        let Some(&last) = kept.last() else {
            return Err(CodegenError::malformed("a reduction to nothing in lanes"));
        };
        let widest = results.held.iter().map(|&d| Elem::of(d).size()).max().unwrap_or(1);
        let lanes = match own[last] {
            1 => neighbours(call, &out, MANY / widest as i64),
            _ => call.lanes,
        } as usize;
        // A register at a time, where truths would be packed otherwise ([`crate::condition`]).
        let alike = results.held.iter().all(|&d| Elem::of(d).size() == widest);
        let packed = call.lanes as usize == REGISTER / size_of::<f32>();
        let width = if packed && alike { lanes.min(REGISTER / widest) } else { lanes };
        let inner_axis = reduced.axes.last().copied().unwrap_or(0);
        // What is reduced side by side is carried one after the other.
        let one: Vec<Type> = results.held.iter().map(|&d| Elem::of(d).ty(lanes)).collect();
        Ok(InLanes {
            call,
            reduced,
            results,
            join,
            ascending,
            dtypes: call.targets.iter().map(|&t| call.dtype(t)).collect(),
            types: vec![one; inner_points as usize].concat(),
            kept,
            out,
            last,
            inner_axis,
            inner_points,
            lanes,
            width,
            square: own[inner_axis] == inner_points && own[last] != 1,
        })
    }

    /// The initial values in all lanes, once for each element that is joined side by side.
    fn initial(&self, w: &mut Writer<'_>) -> Result<Vec<Value>, CodegenError> {
        let (root, lanes) = (w.root(), self.lanes);
        let one: Vec<Value> = initial(w, self.call, self.dtypes.len(), &self.dtypes)?
            .into_iter()
            .zip(self.dtypes.iter().zip(self.results.held))
            .map(|(mut parts, (&own, &held))| {
                let ssa = w.em.convert(At { scope: root, lanes: 1 }, own, held, parts.swap_remove(0));
                w.em.spread(&Val { ssa, lanes: 1 }, Elem::of(held), At { scope: root, lanes })
            })
            .collect();
        Ok(vec![one; self.inner_points as usize].concat())
    }

    /// The blocks of a line of so many elements, and what is left of it, which is one block.
    fn pieces(&self, length_in: i64) -> [Piece; 2] {
        let block = if self.square && !self.reduced.beside {
            self.call.lanes
        } else {
            // Of a block nothing is known of the first element only.
            let most = if self.square { (LONGEST / self.inner_points).max(1) } else { LINES };
            let blocks = (length_in + most - 1) / most;
            (length_in + blocks - 1) / blocks.max(1)
        };
        let short = self.square && !self.reduced.beside && length_in <= LONGEST;
        let main = if short { 0 } else { length_in - length_in % block.max(1) };
        let rest = (length_in - main).max(1);
        [
            Piece { step: block, low: 0, high: main, is_rest: block == rest },
            Piece { step: rest, low: main, high: length_in, is_rest: true },
        ]
    }

    /// The loop over a piece of a line, from a state to the one after it. `position` has all axes but those inside.
    fn piece(
        &self,
        w: &mut Writer<'_>,
        around: ScopeId,
        mut position: Vec<Value>,
        piece: &Piece,
        state: Vec<Value>,
    ) -> Result<Vec<Value>, CodegenError> {
        let inner = w.em.open(around, Vec::new(), None);
        let iv = w.em.name();
        position[self.inner_axis].clone_from(&iv);
        if self.reduced.beside {
            position[self.inner_axis + 1] = w.em.int(0);
        }
        let address = w.address(inner, &position, &self.reduced.own);
        let names: Vec<Value> = self.types.iter().map(|_| w.em.name()).collect();
        // Of every operand the elements that are joined, line after line.
        let mut terms: Vec<Vec<Value>> = Vec::new();
        for operand in 0..self.dtypes.len() {
            terms.push(match self.call.positions.get(&self.call.arg(operand)?) {
                Some(&axis) => self.numbers(w, inner, operand, (axis, &mut position), piece),
                None => self.elements(w, inner, operand, address, piece)?,
            });
        }
        let next = self.joined(w, inner, &names, &terms)?;
        let carried: Vec<Carried> = (names.into_iter().zip(state))
            .zip(self.types.iter().zip(next))
            .map(|((name, init), (ty, next))| Carried { name, init, ty: *ty, next })
            .collect();
        let bounds =
            Bounds { low: w.em.int(piece.low), high: w.em.int(piece.high), step: w.em.int(piece.step) };
        Ok(w.em.close_loop(inner, iv, &bounds, &carried))
    }

    /// The terms of an operand that is the positions along an axis: nothing is loaded.
    fn numbers(
        &self,
        w: &mut Writer<'_>,
        inner: ScopeId,
        operand: usize,
        (axis, position): (usize, &mut [Value]),
        piece: &Piece,
    ) -> Vec<Value> {
        // What runs along the reduced axis is one number for all lanes, what runs along the last one is not.
        let different = self.reduced.place_of[axis] == self.inner_axis;
        let mut of_lines = Vec::new();
        for k in 0..self.inner_points {
            if self.reduced.beside {
                position[self.inner_axis + 1] = w.em.int(k);
            }
            let number = self.reduced.number(w, inner, axis, position);
            let held = self.results.held[operand];
            let positions = Positions { terms: piece.step, different, stride: number.stride };
            of_lines.push(w.positions_of(inner, number.first, held, positions, self.lanes));
        }
        (0..piece.step as usize).flat_map(|k| of_lines.iter().map(move |l| l[k])).collect()
    }

    /// The terms of an operand that is in memory, from an address on: vector by vector, as the columns of short rows, or as square
    /// blocks that are transposed.
    fn elements(
        &self,
        w: &mut Writer<'_>,
        inner: ScopeId,
        operand: usize,
        address: Value,
        piece: &Piece,
    ) -> Result<Vec<Value>, CodegenError> {
        let (dtype, own, lanes) = (self.dtypes[operand], &self.reduced.own, self.lanes);
        let pointer = w.pointer(self.call.arg(operand)?)?;
        // So many vectors, from one to the next `offset` elements, from one lane to the next `stride`.
        let vectors = |w: &mut Writer<'_>, count: i64, offset: i64, stride: i64| -> Vec<Value> {
            let mut vectors = Vec::new();
            for line in 0..count {
                let offset = w.em.int(line * offset);
                let at = w.add(inner, address, offset);
                vectors.push(w.lanes_of(inner, (pointer, at), dtype, stride, lanes));
            }
            vectors
        };
        if !self.square || piece.step * self.inner_points == 1 {
            return Ok(vectors(w, piece.step, own[self.inner_axis], own[self.last]));
        }
        if piece.is_rest || self.reduced.beside {
            let elem = Elem::in_memory(dtype);
            let first = w.element(inner, pointer, address, elem);
            let reach = piece.step * self.inner_points;
            let rows = Rows { first, stride: own[self.last], reach, elem };
            let at = At { scope: inner, lanes };
            let columns = w.em.columns(&rows, at);
            return Ok(columns.into_iter().map(|column| w.em.widen(dtype, column, at)).collect());
        }
        let lines = vectors(w, self.call.lanes, own[self.last], 1);
        Ok(interleave(&mut w.em, inner, lines, Elem::of(dtype), lanes))
    }

    /// The carried values with terms joined to them, one after the other.
    fn joined(
        &self,
        w: &mut Writer<'_>,
        inner: ScopeId,
        names: &[Value],
        terms: &[Vec<Value>],
    ) -> Result<Vec<Value>, CodegenError> {
        let (n, held, lanes, width) = (self.dtypes.len(), self.results.held, self.lanes, self.width);
        let mut next: Vec<Vec<Value>> = names.chunks(n).map(<[Value]>::to_vec).collect();
        for k in 0..terms.first().map_or(0, Vec::len) {
            let (line, place) = (k / self.inner_points as usize, k % self.inner_points as usize);
            let args = next[place].iter().cloned().chain(terms.iter().map(|t| t[k]));
            let args: Vec<Value> = args.collect();
            // Of the first element nothing is known: it may be the initial value.
            let known = if line > 0 { self.ascending } else { &[] };
            let mut parts: Vec<Vec<Value>> = vec![Vec::new(); n];
            for first in (0..lanes).step_by(width) {
                let some = args
                    .iter()
                    .zip(held.iter().cycle())
                    .map(|(v, &d)| vec![w.em.some_lanes(inner, *v, (Elem::of(d), lanes), first, width)]);
                let some: Vec<Vec<Value>> = some.collect();
                let results = flat(&self.join.function.apply_knowing(w, inner, &some, width, known)?);
                parts.iter_mut().zip(results).for_each(|(all, one)| all.push(one));
            }
            let whole = parts.into_iter().zip(held);
            next[place] = whole.map(|(p, &d)| w.em.of_parts(inner, p, Elem::of(d), width)).collect();
        }
        Ok(next.concat())
    }

    /// Stores the results of the outputs at an address. The results of what is reduced together lie side by side: those of all
    /// lanes are one piece of memory, which is stored as a whole; what two of them share is the same in both. Elsewhere only
    /// the lanes of `own_lanes` are stored, so that each output is stored once.
    fn store(
        &self,
        w: &mut Writer<'_>,
        scope: ScopeId,
        address: Value,
        results: &[Value],
        own_lanes: Option<Value>,
    ) -> Result<(), CodegenError> {
        let (n, lanes) = (self.dtypes.len(), self.lanes);
        let zero = w.em.int(0);
        let address = w.scaled(scope, zero, address, self.inner_points);
        let whole = At { scope, lanes: lanes * self.inner_points as usize };
        let types = self.dtypes.iter().zip(self.results.held);
        for (i, (place, (&dtype, &held))) in self.results.to.iter().zip(types).enumerate() {
            let Some(place) = *place else { continue };
            let pointer = w.em.pointer(place)?;
            let of_lanes: Vec<Value> = results.iter().skip(i).step_by(n).cloned().collect();
            let value = w.side_by_side(scope, of_lanes, (Elem::of(held), lanes));
            let value = if held == dtype { value } else { w.em.doubled(value, whole) };
            let mask = own_lanes.filter(|_| !self.reduced.beside);
            w.store_lanes(whole, (pointer, address), (dtype, value), (1, mask));
        }
        Ok(())
    }
}

/// How many outputs are reduced side by side, of `many` at most, where those of the last of these extents lie next to each
/// other.
fn neighbours(call: &Call<'_>, out: &[i64], many: i64) -> i64 {
    let length = out.last().copied().unwrap_or(1);
    let count = |beside: i64| out.iter().product::<i64>() / length.max(1) * ((length + beside - 1) / beside);
    let mut beside = call.lanes;
    while 2 * beside <= many.min(length) {
        let (now, next) = (count(beside), count(2 * beside));
        // What lies in two blocks is computed twice.
        if next < call.threads as i64 || 16 * next > 9 * now {
            break;
        }
        beside *= 2;
    }
    beside
}
