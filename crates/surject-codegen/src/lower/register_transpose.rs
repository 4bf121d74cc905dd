//! Transposes blocks of rows in registers: as many rows as there are lanes are loaded as they lie in memory, or row by row, and
//! shuffles make vectors of their columns; columns are stored as rows the same way.

use crate::code::{Op, Value};
use crate::lower::emit::{At, Emitter, ScopeId};
use crate::lower::vectors::Lanes;
use crate::machine::elem::Elem;

/// The longest rows that are worth the shuffles.
pub(crate) const LONGEST: i64 = 24;

/// Rows up to this length are put together of the vectors that a block consists of; longer ones are loaded one by one.
const DIRECT: i64 = 8;

/// Memory from an element on: its address, the elements from a row to the next, how many of them count in a row, and
/// their type.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    pub(crate) first: Value,
    pub(crate) stride: i64,
    pub(crate) reach: i64,
    pub(crate) elem: Elem,
}

/// Shuffles that pick columns from a block as it lies in memory.
fn picked(rows: &Rows) -> i64 {
    (rows.stride - 1) * rows.reach
}

/// Bytes that are loaded at once where vectors are put together of chunks, and transposed within them. Chunks of this
/// size join a vector as they are loaded, and shuffles inside them are the cheapest there are.
pub(crate) const CHUNK: usize = 16;

/// The elements of a chunk, if chunks put vectors of so many lanes together and rows hold one.
fn chunk(rows: &Rows, lanes: usize) -> Option<usize> {
    let size = CHUNK / rows.elem.size();
    (size > 1 && lanes > size && lanes.is_multiple_of(size) && rows.reach > size as i64).then_some(size)
}

/// Shuffles that put rows together and transpose them.
fn transposing(rows: &Rows, lanes: i64) -> i64 {
    let width = (rows.reach.unsigned_abs().next_power_of_two() as i64).min(lanes);
    (lanes - width) + width * i64::from(width.ilog2())
}

/// The steps of a transposition in which a block is rotated by one bit of its positions.
#[derive(Clone, Copy)]
enum Turn {
    /// The upper half of the block goes between the elements of the lower one.
    Together,
    /// Every second element goes to the upper half.
    Apart,
}

/// An element of one of several vectors.
#[derive(Clone, Copy)]
struct ElementOf {
    vector: usize,
    element: usize,
}

impl Emitter<'_> {
    /// Elements of two vectors.
    pub(crate) fn pick(
        &mut self,
        (a, b): (Value, Value),
        lanes: usize,
        order: &[usize],
        elem: Elem,
        at: At,
    ) -> Value {
        let order = order.iter().map(|&i| i as i64).collect();
        self.op(at.scope, Op::Shuffle { sides: [a, b], order, ty: elem.ty(lanes) })
    }

    /// A vector whose lanes are elements of several vectors.
    fn collect(&mut self, vectors: &[Value], places: &[ElementOf], elem: Elem, at: At) -> Value {
        let lanes = at.lanes;
        let mut used: Vec<usize> = places.iter().map(|p| p.vector).collect();
        used.sort_unstable();
        used.dedup();
        let first = used.first().copied().unwrap_or(0);
        let mut done = vec![first];
        let mut sum = vectors[first];
        let others = if used.len() > 1 { &used[1..] } else { &used[..] };
        for (step, &next) in others.iter().enumerate() {
            let order: Vec<usize> = places
                .iter()
                .enumerate()
                .map(|(lane, &ElementOf { vector, element })| match vector {
                    v if v == next && v != first => lanes + element,
                    v if done.contains(&v) && step == 0 => element,
                    _ => lane,
                })
                .collect();
            sum = self.pick((sum, vectors[next]), lanes, &order, elem, at);
            done.push(next);
        }
        sum
    }

    /// The columns of as many rows as there are lanes.
    pub(crate) fn columns(&mut self, rows: &Rows, at: At) -> Vec<Value> {
        let count = at.lanes as i64;
        if rows.stride <= DIRECT && picked(rows) <= transposing(rows, count) {
            // The block as it lies in memory; its last vector ends with it.
            let total = (count - 1) * rows.stride + rows.reach;
            let starts: Vec<i64> =
                (0..(total + count - 1) / count).map(|k| (k * count).min(total - count)).collect();
            let vectors: Vec<Value> =
                starts.iter().map(|&s| self.part(rows, s, at.lanes, at.lanes, at)).collect();
            return (0..rows.reach)
                .map(|column| {
                    let places: Vec<ElementOf> = (0..count)
                        .map(|lane| {
                            let element = lane * rows.stride + column;
                            let vector = (element / count).min(starts.len() as i64 - 1) as usize;
                            ElementOf { vector, element: (element - starts[vector]) as usize }
                        })
                        .collect();
                    self.collect(&vectors, &places, rows.elem, at)
                })
                .collect();
        }
        if let Some(size) = chunk(rows, at.lanes) {
            return self.chunked(rows, size, at);
        }
        let mut columns = Vec::new();
        let mut from = 0;
        while from < rows.reach {
            let some = (rows.reach - from).min(count);
            let width = (some as usize).next_power_of_two();
            let end = (count - 1) * rows.stride + rows.reach;
            let lines: Vec<Value> = (0..count)
                .map(|line| {
                    let start = line * rows.stride + from;
                    let there = if start + width as i64 <= end { width } else { some as usize };
                    self.part(rows, start, width, there, at)
                })
                .collect();
            let vectors = self.joined(lines, width, rows.elem, at);
            let (high, low) = (at.lanes.trailing_zeros(), width.trailing_zeros());
            let rotated = self.rotated_bits(vectors, high, low, rows.elem, at);
            columns.extend(rotated.into_iter().take(some as usize));
            from += some;
        }
        columns
    }

    /// As [`Emitter::columns`], from chunks of so many elements of each row. The last chunk of a row ends with it.
    fn chunked(&mut self, rows: &Rows, size: usize, at: At) -> Vec<Value> {
        let (mut columns, width) = (Vec::new(), size as i64);
        while (columns.len() as i64) < rows.reach {
            let known = columns.len() as i64;
            let from = known.min(rows.reach - width);
            let chunks: Vec<Value> = (0..at.lanes as i64)
                .map(|line| self.part(rows, line * rows.stride + from, size, size, at))
                .collect();
            let transposed = self.transposed_chunks(chunks, size, at.lanes, rows.elem, at.scope);
            columns.extend(transposed.into_iter().skip((known - from) as usize));
        }
        columns
    }

    /// Columns of lines of which each is a chunk of so many elements: vectors are put together of the chunks of every
    /// `size`-th line, and transposed chunk by chunk.
    pub(crate) fn transposed_chunks(
        &mut self,
        chunks: Vec<Value>,
        size: usize,
        lanes: usize,
        elem: Elem,
        scope: ScopeId,
    ) -> Vec<Value> {
        let at = At { scope, lanes };
        let mut lines: Vec<Value> = Vec::with_capacity(size);
        for r in 0..size {
            let parts = chunks.iter().skip(r).step_by(size).cloned().collect();
            lines.extend(self.joined(parts, size, elem, at));
        }
        self.interleaved(lines, size, lanes, elem, at)
    }

    /// As many lines as a chunk has elements, transposed chunk by chunk.
    pub(crate) fn interleaved(
        &mut self,
        lines: Vec<Value>,
        size: usize,
        lanes: usize,
        elem: Elem,
        at: At,
    ) -> Vec<Value> {
        let mut lines = lines;
        // Interleaving the halves of a list as often as it can be halved transposes it.
        let mut step = 1;
        while step < size {
            let mut next = Vec::with_capacity(size);
            for i in 0..size / 2 {
                for half in [0, size / 2] {
                    let order: Vec<usize> = (0..lanes / size)
                        .flat_map(|q| (0..size / 2).map(move |j| q * size + half + j))
                        .flat_map(|lane| [lane, lanes + lane])
                        .collect();
                    let pair = (lines[i], lines[i + size / 2]);
                    next.push(self.pick(pair, lanes, &order, elem, at));
                }
            }
            lines = next;
            step *= 2;
        }
        lines
    }

    /// Stores columns as the rows of a block, which lie one behind the other.
    pub(crate) fn store_columns(&mut self, first: Value, columns: &[Value], elem: Elem, at: At) {
        let (length, lanes) = (columns.len(), at.lanes);
        if length as i64 <= DIRECT {
            for k in 0..length {
                let place = |e: usize| ElementOf { vector: e % length, element: e / length };
                let places: Vec<ElementOf> = (k * lanes..(k + 1) * lanes).map(place).collect();
                let vector = self.collect(columns, &places, elem, at);
                self.store_part(first, (k * lanes) as i64, vector, Lanes::all(lanes), elem, at);
            }
            return;
        }
        for (chunk, some) in columns.chunks(lanes).enumerate() {
            let width = some.len().next_power_of_two();
            let mut vectors = some.to_vec();
            vectors.resize(width, some[some.len() - 1]);
            let (high, low) = (width.trailing_zeros(), lanes.trailing_zeros());
            let rotated = self.rotated_bits(vectors, high, low, elem, at);
            for line in 0..lanes {
                let (vector, offset) = (&rotated[line * width / lanes], line * width % lanes);
                let part = self.some_lanes(at.scope, *vector, (elem, lanes), offset, width);
                let distance = (line * length + chunk * lanes) as i64;
                self.store_part(first, distance, part, Lanes { active: some.len(), lanes: width }, elem, at);
            }
        }
    }

    /// So many elements from one on, of which the first exist.
    fn part(&mut self, rows: &Rows, distance: i64, width: usize, there: usize, at: At) -> Value {
        let (elem, distance) = (rows.elem, self.int(distance));
        let from = self.element(rows.first, distance, elem, at.scope);
        let mask = (there < width).then(|| self.first_lanes(there, width));
        self.neighbours(from, mask, (elem, width), at.scope)
    }

    /// Stores the active lanes of a vector.
    fn store_part(&mut self, first: Value, distance: i64, vector: Value, part: Lanes, elem: Elem, at: At) {
        let distance = self.int(distance);
        let to = self.element(first, distance, elem, at.scope);
        let (ty, size) = (elem.ty(part.lanes), elem.size());
        if part.active == part.lanes {
            return self.put(vector, to, (elem, part.lanes), at.scope);
        }
        let mask = self.first_lanes(part.active, part.lanes);
        self.run(at.scope, Op::MaskedStore { value: vector, pointer: to, mask, ty, alignment: size });
    }

    /// Rows put together to whole vectors, in order.
    pub(crate) fn joined(&mut self, lines: Vec<Value>, width: usize, elem: Elem, at: At) -> Vec<Value> {
        let (mut parts, mut width) = (lines, width);
        if width == 1 {
            let pairs: Vec<(Value, Value)> = parts.chunks_exact(2).map(|p| (p[0], p[1])).collect();
            let ty = elem.ty(2);
            parts =
                pairs.iter().map(|(a, b)| self.op(at.scope, Op::FromElements(vec![*a, *b], ty))).collect();
            width = 2;
        }
        while width < at.lanes {
            let order: Vec<usize> = (0..2 * width).collect();
            let pairs: Vec<(Value, Value)> = parts.chunks_exact(2).map(|p| (p[0], p[1])).collect();
            parts = pairs.iter().map(|(a, b)| self.pick((*a, *b), width, &order, elem, at)).collect();
            width *= 2;
        }
        parts
    }

    /// A block whose positions have so many high and low bits, with the two exchanged.
    fn rotated_bits(&mut self, vectors: Vec<Value>, high: u32, low: u32, elem: Elem, at: At) -> Vec<Value> {
        let (mut vectors, lanes) = (vectors, at.lanes);
        // Positions are rotated to the left by their high bits, or to the right by their low ones.
        let (turn, steps) = if high <= low { (Turn::Together, high) } else { (Turn::Apart, low) };
        let half = vectors.len() / 2;
        for _ in 0..steps {
            let mut next = vec![Value::NONE; vectors.len()];
            if half == 0 {
                let (from, to) = (&vectors[0], &mut next[0]);
                let order: Vec<usize> = match turn {
                    Turn::Together => (0..lanes).map(|i| i / 2 + i % 2 * lanes / 2).collect(),
                    Turn::Apart => (0..lanes).map(|i| i * 2 % lanes + i * 2 / lanes).collect(),
                };
                *to = self.pick((*from, *from), lanes, &order, elem, at);
            }
            for i in 0..half {
                let (pair, places) = match turn {
                    Turn::Together => ((&vectors[i], &vectors[i + half]), [2 * i, 2 * i + 1]),
                    Turn::Apart => ((&vectors[2 * i], &vectors[2 * i + 1]), [i, i + half]),
                };
                for (part, place) in places.into_iter().enumerate() {
                    let order: Vec<usize> = match turn {
                        Turn::Together => {
                            (0..lanes).map(|k| part * lanes / 2 + k / 2 + k % 2 * lanes).collect()
                        }
                        Turn::Apart => (0..lanes).map(|k| 2 * k + part).collect(),
                    };
                    next[place] = self.pick((*pair.0, *pair.1), lanes, &order, elem, at);
                }
            }
            vectors = next;
        }
        vectors
    }
}
