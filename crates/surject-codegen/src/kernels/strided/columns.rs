//! Columns of rows, a row in each lane: how they are put together of runs, and taken apart.

use super::Writer;
use surject_kernel::Value;

/// Rows up to this length are put together of the vectors that a block of them consists of; longer ones are loaded one by one.
const DIRECT: i64 = 8;

/// Bytes that are loaded at once where vectors are put together of chunks, and transposed within them. Chunks of this size join
/// a vector as they are loaded, and shuffles inside them are the cheapest there are.
const CHUNK: usize = 16;

/// Rows of which the columns are wanted: as many as there are lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    /// Elements from row to row; negative where the next one lies before.
    pub(super) stride: i64,
    /// Elements of a row from the first column to the last.
    pub(super) reach: i64,
    pub(super) lanes: usize,
}

/// An element of one of several vectors.
#[derive(Clone, Copy)]
pub(super) struct ElementOf {
    pub(super) vector: usize,
    pub(super) element: usize,
}

/// The vectors that all rows of a register lie in, loaded.
pub(super) struct Block {
    pub(super) vectors: Vec<Value>,
    /// The first element of each vector, from the first one of the block on.
    starts: Vec<i64>,
    /// The first element of the block, from the first row on.
    begin: i64,
    lanes: i64,
}

impl Block {
    /// Where an element is, counted from the first row on.
    pub(super) fn place(&self, element: i64) -> ElementOf {
        let element = element - self.begin;
        let vector = (element / self.lanes).min(self.starts.len() as i64 - 1) as usize;
        ElementOf { vector, element: (element - self.starts[vector]) as usize }
    }
}

/// The steps of a transposition in which a block is rotated by one bit of its positions.
#[derive(Clone, Copy)]
enum Turn {
    /// The upper half of the block goes between the elements of the lower one.
    Together,
    /// Every second element goes to the upper half.
    Apart,
}

impl Rows {
    /// Are so many columns loaded faster by runs than element by element?
    pub(super) fn loads(&self, columns: i64) -> bool {
        let lanes = self.lanes as i64;
        // A column of a block needs an operation for each of its vectors.
        let block = self.is_block() && self.block() / lanes * (columns + 1) <= lanes * columns;
        block || columns > 1 && 2 * columns >= self.reach.min(lanes)
    }

    /// Are columns without a hole stored faster by runs than element by element?
    pub(super) fn stores(&self) -> bool {
        self.reach > 1
    }

    /// The elements from the first one to the last.
    pub(super) fn block(&self) -> i64 {
        (self.lanes as i64 - 1).saturating_mul(self.stride.abs()).saturating_add(self.reach)
    }

    /// Behind the last element in memory, from the first row on.
    fn end(&self) -> i64 {
        if self.stride > 0 { self.block() } else { self.reach }
    }

    /// The first element of the block, from the first row on.
    pub(super) fn begin(&self) -> i64 {
        self.stride.min(0) * (self.lanes as i64 - 1)
    }

    /// Are the rows so short that what lies between them does not matter?
    pub(super) fn is_block(&self) -> bool {
        (1..=DIRECT).contains(&self.stride.abs())
    }

    /// The elements of a row that one vector has.
    fn width(&self) -> i64 {
        (self.reach as u64).next_power_of_two().min(self.lanes as u64) as i64
    }

    /// Shuffles that pick all columns from a block as it lies in memory.
    fn picked(&self) -> i64 {
        (self.stride.abs() - 1) * self.reach
    }

    /// Shuffles that put rows together and transpose them.
    fn transposing(&self) -> i64 {
        (self.lanes as i64 - self.width()) + self.width() * i64::from(self.width().ilog2())
    }

    /// The elements of a chunk, if chunks put vectors together and rows hold one.
    fn chunk(&self, bytes: usize) -> Option<usize> {
        let size = CHUNK / bytes.max(1);
        let fits = size > 1 && self.lanes > size && self.lanes.is_multiple_of(size);
        (fits && self.reach > size as i64).then_some(size)
    }
}

impl Writer<'_> {
    /// Loads all that lies between the first and the last element of the rows of a register. The last vector ends with it.
    pub(super) fn load_block(&mut self) -> Block {
        let Rows { lanes, .. } = self.rows;
        let (starts, begin) = (starts(self.rows.block(), lanes as i64), self.rows.begin());
        let vectors = starts.iter().map(|&start| self.load(begin + start, lanes, lanes)).collect();
        Block { vectors, starts, begin, lanes: lanes as i64 }
    }

    /// Loads the columns of the rows of a register, from the first to the last.
    pub(super) fn load_columns(&mut self) -> Vec<Value> {
        let rows = self.rows;
        let count = rows.lanes as i64;
        if rows.is_block() && rows.picked() <= rows.transposing() || rows.reach == 1 {
            let block = self.load_block();
            let element = |lane: i64, column: i64| block.place(lane * rows.stride + column);
            let places = |column: i64| (0..count).map(|lane| element(lane, column)).collect::<Vec<_>>();
            return (0..rows.reach).map(|column| self.collect(&block.vectors, &places(column))).collect();
        }
        // Whole vectors of rows would mostly lie across two lines of memory.
        let bytes = self.common.ty.dtype.size();
        if let Some(size) = rows.chunk(bytes).filter(|_| 4 * rows.reach <= 3 * count) {
            return self.chunked(size);
        }
        let mut columns = Vec::new();
        let mut from = 0;
        while from < rows.reach {
            let some = (rows.reach - from).min(count);
            let width = (some as usize).next_power_of_two().max(2);
            let line = |line: i64| {
                let start = line * rows.stride + from;
                let there = if start + width as i64 <= rows.end() { width } else { some as usize };
                (start, there)
            };
            // What is not there is that of no column.
            let lines: Vec<Value> =
                (0..count).map(line).map(|(start, there)| self.load(start, width, there)).collect();
            if width == rows.lanes {
                columns.extend(self.square(lines).into_iter().take(some as usize));
                from += some;
                continue;
            }
            let vectors = self.joined(lines, width);
            let (high, low) = (rows.lanes.trailing_zeros(), width.trailing_zeros());
            columns.extend(self.rotated_bits(vectors, high, low).into_iter().take(some as usize));
            from += some;
        }
        columns
    }

    /// The columns, from chunks of so many elements of each row. The last chunk of a row ends with it.
    fn chunked(&mut self, size: usize) -> Vec<Value> {
        let rows = self.rows;
        let (mut columns, width) = (Vec::new(), size as i64);
        while (columns.len() as i64) < rows.reach {
            let known = columns.len() as i64;
            let from = known.min(rows.reach - width);
            let mut lines: Vec<Value> = Vec::with_capacity(size);
            for r in 0..size {
                let parts = (r..rows.lanes).step_by(size);
                let parts: Vec<Value> =
                    parts.map(|line| self.load(line as i64 * rows.stride + from, size, size)).collect();
                lines.extend(self.joined(parts, size));
            }
            let transposed = self.interleaved(lines, size);
            columns.extend(transposed.into_iter().skip((known - from) as usize));
        }
        columns
    }

    /// As many lines as a chunk has elements, transposed chunk by chunk.
    fn interleaved(&mut self, lines: Vec<Value>, size: usize) -> Vec<Value> {
        let (mut lines, lanes) = (lines, self.rows.lanes);
        // Interleaving the halves of a list as often as it can be halved transposes it.
        let mut step = 1;
        while step < size {
            let mut next = Vec::with_capacity(size);
            for i in 0..size / 2 {
                for half in [0, size / 2] {
                    let order = (0..lanes / size)
                        .flat_map(|q| (0..size / 2).map(move |j| q * size + half + j))
                        .flat_map(|lane| [lane, lanes + lane])
                        .collect();
                    next.push(self.pick(lines[i], lines[i + size / 2], order));
                }
            }
            lines = next;
            step *= 2;
        }
        lines
    }

    /// Stores the columns of the rows of a register, which have no holes between them.
    pub(super) fn store_columns(&mut self, columns: &[Value]) {
        let rows = self.rows;
        let lanes = rows.lanes;
        if rows.reach == rows.stride && rows.is_block() {
            for (k, vector) in self.runs(columns).into_iter().enumerate() {
                self.store((k * lanes) as i64, vector, lanes);
            }
            return;
        }
        for (chunk, some) in columns.chunks(lanes).enumerate() {
            let width = some.len().next_power_of_two().max(2);
            let mut vectors = some.to_vec();
            vectors.resize(width, some[some.len() - 1]);
            let (high, low) = (width.trailing_zeros(), lanes.trailing_zeros());
            let rotated = match width == lanes {
                true => self.square(vectors),
                false => self.rotated_bits(vectors, high, low),
            };
            for line in 0..lanes {
                let (vector, offset) = (rotated[line * width / lanes], line * width % lanes);
                let part = self.part(vector, offset, width);
                let start = line as i64 * rows.stride + (chunk * lanes) as i64;
                self.store(start, part, some.len());
            }
        }
    }

    /// The elements of some columns as rows, one behind the other.
    pub(super) fn runs(&mut self, columns: &[Value]) -> Vec<Value> {
        let (count, lanes) = (columns.len(), self.rows.lanes);
        let place = |e: usize| ElementOf { vector: e % count, element: e / count };
        let places = |k: usize| (k * lanes..(k + 1) * lanes).map(place).collect::<Vec<_>>();
        (0..count).map(|k| self.collect(columns, &places(k))).collect()
    }

    /// As many vectors as they have lanes, transposed: first inside of chunks of 16 bytes, then chunks as a whole, by shuffles
    /// that need no table of lanes.
    fn square(&mut self, mut vectors: Vec<Value>) -> Vec<Value> {
        let lanes = self.rows.lanes;
        let size = (CHUNK / self.common.ty.dtype.size().max(1)).clamp(1, lanes);
        let [inside, all] = [size, lanes].map(|n| n.trailing_zeros());
        for step in 0..all {
            let bit = 1 << step;
            let half = |second: usize| -> Vec<usize> {
                let place = |lane: usize| -> usize {
                    if step < inside {
                        // Blocks of both, one by one, of this half of each chunk.
                        let (chunk, at) = (lane / size * size, lane % size);
                        let (block, within) = (at / bit, at % bit);
                        let from = chunk + second * size / 2 + block / 2 * bit + within;
                        from + block % 2 * lanes
                    } else {
                        // Every second chunk of the one, then of the other.
                        let (chunk, at, chunks) = (lane / size, lane % size, lanes / size);
                        let from = 2 * (chunk % (chunks / 2)) + second;
                        from * size + at + chunk / (chunks / 2) * lanes
                    }
                };
                (0..lanes).map(place).collect()
            };
            for i in (0..lanes).filter(|i| i & bit == 0) {
                let pair = (vectors[i], vectors[i + bit]);
                vectors[i] = self.pick(pair.0, pair.1, half(0));
                vectors[i + bit] = self.pick(pair.0, pair.1, half(1));
            }
        }
        // Inside of chunks the halves were told apart from the largest to the smallest.
        let place = |column: usize| {
            let low =
                (0..inside).filter(|k| column >> k & 1 == 1).map(|k| 1 << (inside - 1 - k)).sum::<usize>();
            column / size * size + low
        };
        (0..lanes).map(|column| vectors[place(column)]).collect()
    }

    /// A vector whose lanes are elements of several vectors.
    pub(super) fn collect(&mut self, vectors: &[Value], places: &[ElementOf]) -> Value {
        let lanes = self.rows.lanes;
        let mut used: Vec<usize> = places.iter().map(|p| p.vector).collect();
        used.sort_unstable();
        used.dedup();
        let first = used.first().copied().unwrap_or(0);
        let mut sum = vectors[first];
        let others = if used.len() > 1 { &used[1..] } else { &used[..] };
        for (step, &next) in others.iter().enumerate() {
            let order = places.iter().enumerate();
            let order = order.map(|(lane, &ElementOf { vector, element })| match vector {
                v if v == next && v != first => lanes + element,
                v if v == first && step == 0 => element,
                _ => lane,
            });
            sum = self.pick(sum, vectors[next], order.collect());
        }
        sum
    }

    /// Rows put together to whole vectors, in order.
    fn joined(&mut self, lines: Vec<Value>, width: usize) -> Vec<Value> {
        let (mut parts, mut width) = (lines, width);
        while width < self.rows.lanes {
            let pairs: Vec<(Value, Value)> = parts.chunks_exact(2).map(|p| (p[0], p[1])).collect();
            parts = pairs.into_iter().map(|(a, b)| self.pick(a, b, (0..2 * width).collect())).collect();
            width *= 2;
        }
        parts
    }

    /// A block whose positions have so many high and low bits, with the two exchanged.
    fn rotated_bits(&mut self, vectors: Vec<Value>, high: u32, low: u32) -> Vec<Value> {
        let (mut vectors, lanes) = (vectors, self.rows.lanes);
        // Positions are rotated to the left by their high bits, or to the right by their low ones.
        let (turn, steps) = if high <= low { (Turn::Together, high) } else { (Turn::Apart, low) };
        let half = vectors.len() / 2;
        for _ in 0..steps {
            let mut next = vectors.clone();
            if half == 0 {
                let order = match turn {
                    Turn::Together => (0..lanes).map(|i| i / 2 + i % 2 * lanes / 2).collect(),
                    Turn::Apart => (0..lanes).map(|i| i * 2 % lanes + i * 2 / lanes).collect(),
                };
                next[0] = self.pick(vectors[0], vectors[0], order);
            }
            for i in 0..half {
                let (pair, places) = match turn {
                    Turn::Together => ((vectors[i], vectors[i + half]), [2 * i, 2 * i + 1]),
                    Turn::Apart => ((vectors[2 * i], vectors[2 * i + 1]), [i, i + half]),
                };
                for (part, place) in places.into_iter().enumerate() {
                    let order = match turn {
                        Turn::Together => {
                            (0..lanes).map(|k| part * lanes / 2 + k / 2 + k % 2 * lanes).collect()
                        }
                        Turn::Apart => (0..lanes).map(|k| 2 * k + part).collect(),
                    };
                    next[place] = self.pick(pair.0, pair.1, order);
                }
            }
            vectors = next;
        }
        vectors
    }
}

/// Where the vectors of so many lanes of a block begin; the last one ends with it.
fn starts(block: i64, lanes: i64) -> Vec<i64> {
    (0..(block + lanes - 1) / lanes).map(|k| (k * lanes).min(block - lanes)).collect()
}
