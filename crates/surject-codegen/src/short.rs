//! Short rows: as many at a time as there are lanes, a column of them in each vector.
//!
//! A row of ten elements fills no vector, and its sum is mostly the joining of lanes. So rows lie in lanes: a block of
//! rows is loaded as it lies in memory, or row by row, and transposed in registers; all loops along a row are written
//! out, and what is stored along a row is transposed back.

use crate::Target;
use crate::address::{Guard, Lin, LoopId, LoopSet};
use crate::dag::{Dag, Node, NodeId};
use crate::emit::{At, Elem, Emitter, ScopeId};
use crate::schedule::{Output, node_cost};

/// The longest row.
pub(crate) const LONGEST: i64 = 24;

/// The longest row of which a function is evaluated that vectors are for: with rows in lanes it has as many arguments.
/// Rows that are put together of columns may be as long: element by element all of them would be looked at.
const LONGEST_WITH_FUNCTION: i64 = 64;

/// The longest row of which a function is evaluated for elements, of what is reduced too: one reduction waits for
/// another. And the part of the vectors of a longer one that elements may fill.
const LONGEST_CHAIN: f64 = 40.0;
const FULL: f64 = 0.8;

/// The longest row of which windows are reduced: element by element of a longer one few vectors are partly empty.
const LONGEST_OF_WINDOWS: i64 = 36;

/// Rows up to this length are put together of the vectors that a block consists of; longer ones are loaded one by one.
const DIRECT: i64 = 8;

/// Blocks of rows that are worth the code.
const FEWEST: i64 = 16;

/// A kernel over short rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    /// The loop over rows, which is done in lanes.
    pub row: LoopId,
    /// The loop along the rows of the output or, where each column of it lies by itself, over the columns.
    pub column: Option<LoopId>,
    /// Do the columns of the output lie by themselves?
    pub apart: bool,
    /// The lanes.
    pub lanes: usize,
}

impl Short {
    /// Are blocks of rows stored as the whole vectors that they consist of?
    pub(crate) fn stores_blocks(&self, dag: &Dag) -> bool {
        !self.apart && self.column.is_some_and(|column| dag.extent(column) <= DIRECT)
    }

    /// The rows of an output: those that lie one behind the other, or those of what is loaded.
    fn of(dag: &Dag, output: &Output, order: &[LoopId], (nodes, longest): (&[NodeId], i64)) -> Option<Short> {
        let unit = order.iter().copied().find(|&l| output.address.coeff(l) == 1)?;
        if dag.extent(unit) <= longest
            && let Some(row) = order.iter().copied().find(|&l| output.address.coeff(l) == dag.extent(unit))
        {
            return Some(Short { row, column: Some(unit), apart: false, lanes: 1 });
        }
        let column = nodes.iter().find_map(|&n| match &dag[n].node {
            Node::Load { address, .. } if (2..=longest).contains(&address.coeff(unit)) => {
                order.iter().copied().find(|&l| {
                    address.coeff(l) == 1 && dag.extent(l) > 1 && dag.extent(l) <= address.coeff(unit)
                })
            }
            _ => None,
        });
        Some(Short { row: unit, column, apart: true, lanes: 1 })
    }
}

/// Are the rows of a kernel short, and is something reduced along them, or are they put together or taken apart?
pub(crate) fn find(dag: &Dag, outputs: &[Output], order: &[LoopId], target: &Target) -> Option<Short> {
    /// What is written out may cost so much, in cycles of one lane.
    const MOST: f64 = 4_000.0;
    /// A function costs no less.
    const FUNCTION: f64 = 15.0;
    let [output] = outputs else { return None };
    let nodes = dag.reachable(&[output.root], true);
    // Is a function of what is reduced evaluated, of nothing else or where vectors are for others of its arguments?
    let long = |n: NodeId| {
        let function = matches!(dag[n].node, Node::Unary(..)) && node_cost(dag, n) >= FUNCTION;
        function
            && dag.reachable(&[n], false).iter().any(|&r| match &dag[r].node {
                Node::Reduce { loops, .. } => {
                    let alone = dag[n].deps.minus(dag[r].deps) == LoopSet::default();
                    let row = loops.iter().map(|&l| dag.extent(l) as f64).product::<f64>();
                    let full = row / (target.lanes_bytes / Elem::of(dag[n].dtype).size()) as f64;
                    alone || row <= LONGEST_CHAIN || full / full.ceil() <= FULL
                }
                _ => false,
            })
    };
    // A condition on the column is decided where the column is written out.
    let decided =
        |column: LoopId| nodes.iter().flat_map(|&n| dag[n].node.guards()).any(|g| g.expr.coeff(column) != 0);
    let longest = if nodes.iter().any(|&n| long(n)) { LONGEST_WITH_FUNCTION } else { LONGEST };
    let short = Short::of(dag, output, order, (&nodes, LONGEST_WITH_FUNCTION))
        .filter(|short| !short.apart && short.column.is_some_and(decided))
        .or_else(|| Short::of(dag, output, order, (&nodes, longest)))?;
    let longest = if short.column.is_some_and(decided) { longest.max(LONGEST_OF_WINDOWS) } else { longest };
    if nodes.iter().any(|&n| matches!(dag[n].node, Node::Gather { .. })) {
        return None;
    }
    let row = short.row;
    let size = nodes.iter().map(|&n| Elem::of(dag[n].dtype).size()).max().unwrap_or(4);
    let lanes = target.lanes_bytes / size;
    if output.join.is_some() || lanes < 4 || dag.extent(row) < FEWEST * lanes as i64 {
        return None;
    }
    // The loops along a row: those of reductions, and that of the output.
    let mut along: LoopSet = short.column.into_iter().collect();
    let mut reduces = false;
    for &n in &nodes {
        if let Node::Reduce { loops, .. } = &dag[n].node
            && dag[n].deps.contains(row)
        {
            let points = loops.iter().try_fold(1i64, |p, &l| p.checked_mul(dag.extent(l)))?;
            if points > longest {
                return None;
            }
            along = along.union(loops.iter().copied().collect());
            reduces = true;
        }
    }
    let (mut rows, mut cost) = (false, 0.0);
    for &n in &nodes {
        if let Node::Load { address, guards, .. } = &dag[n].node
            && address.coeff(row) != 0
        {
            let stride = address.coeff(row);
            // What is only moved may leave its row nowhere, whatever guards say: other ways do that as fast.
            let guards_of_row = if reduces { guards.as_slice() } else { &[] };
            let ends = (stride > 1).then(|| reached(dag, (address, guards_of_row), (stride, along)));
            let inside = ends.is_none_or(|ends| {
                ends.is_some_and(|(low, high)| reduces || low.div_euclid(stride) == high.div_euclid(stride))
            });
            if guards.iter().any(|g| g.expr.coeff(row) != 0) || !(1..=longest).contains(&stride) || !inside {
                return None;
            }
            rows |= stride > 1;
        }
        let written: f64 =
            along.loops().filter(|&l| dag[n].deps.contains(l)).map(|l| dag.extent(l) as f64).product();
        cost += written * node_cost(dag, n).max(1.0);
    }
    let moved = short.column.is_some_and(|column| dag.extent(column) <= DIRECT || decided(column));
    let worth = if reduces { rows } else { moved && (rows || !short.apart) };
    (worth && cost <= MOST).then_some(Short { lanes, ..short })
}

/// The part of a row of so many elements that is loaded for an address: the least and the largest place that loops give
/// which are written out, where its guards hold. All of a block of rows is loaded, so nothing may be said of other places;
/// a guard on such loops and on others says too little.
fn reached(
    dag: &Dag,
    (address, guards): (&Lin, &[Guard]),
    (stride, along): (i64, LoopSet),
) -> Option<(i64, i64)> {
    /// More combinations are not looked at.
    const MOST: f64 = 4096.0;
    let place = |lin: &Lin, values: &[(LoopId, i64)]| {
        values.iter().try_fold(lin.offset, |sum, &(l, v)| lin.coeff(l).checked_mul(v)?.checked_add(sum))
    };
    let own: Vec<&Guard> = guards.iter().filter(|g| g.expr.loops().meets(along)).collect();
    if own.iter().any(|g| g.expr.loops().minus(along) != LoopSet::default()) {
        return None;
    }
    let used = own.iter().fold(address.loops(), |set, g| set.union(g.expr.loops())).only(along);
    if dag.points(used) > MOST {
        return None;
    }
    let mut ends: Option<(i64, i64)> = None;
    for values in every(dag, &used.loops().collect::<Vec<_>>()) {
        let inside = |g: &&Guard| place(&g.expr, &values).is_some_and(|v| (0..g.bound).contains(&v));
        if own.iter().all(inside) {
            let at = place(address, &values)?;
            ends = Some(ends.map_or((at, at), |(low, high)| (low.min(at), high.max(at))));
        }
    }
    ends.filter(|(low, high)| high.checked_sub(*low).is_some_and(|reach| reach < stride))
}

/// All values of some loops.
fn every(dag: &Dag, loops: &[LoopId]) -> Vec<Vec<(LoopId, i64)>> {
    let mut all: Vec<Vec<(LoopId, i64)>> = vec![Vec::new()];
    for &l in loops {
        let values = 0..dag.extent(l);
        all = all
            .iter()
            .flat_map(|before| values.clone().map(move |v| before.iter().copied().chain([(l, v)]).collect()))
            .collect();
    }
    all
}

/// Memory from an element on: its address, the elements from a row to the next, how many of them count in a row, and
/// their type.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) first: &'a str,
    pub(crate) stride: i64,
    pub(crate) reach: i64,
    pub(crate) elem: Elem,
}

/// Shuffles that pick columns from a block as it lies in memory.
fn picked(rows: &Rows<'_>) -> i64 {
    (rows.stride - 1) * rows.reach
}

/// Bytes that are loaded at once where vectors are put together of chunks, and transposed within them. Chunks of this
/// size join a vector as they are loaded, and shuffles inside them are the cheapest there are.
pub(crate) const CHUNK: usize = 16;

/// The elements of a chunk, if chunks put vectors of so many lanes together and rows hold one.
fn chunk(rows: &Rows<'_>, lanes: usize) -> Option<usize> {
    let size = CHUNK / rows.elem.size();
    (size > 1 && lanes > size && lanes.is_multiple_of(size) && rows.reach > size as i64).then_some(size)
}

/// Shuffles that put rows together and transpose them.
fn turned(rows: &Rows<'_>, lanes: i64) -> i64 {
    let width = (rows.reach.unsigned_abs().next_power_of_two() as i64).min(lanes);
    (lanes - width) + width * i64::from(width.ilog2())
}

/// The steps of a transposition in which a block is turned by one bit of its positions.
#[derive(Clone, Copy)]
enum Turn {
    /// The upper half of the block goes between the elements of the lower one.
    Together,
    /// Every second element goes to the upper half.
    Apart,
}

impl Emitter<'_> {
    /// The loop over short rows: loads of elements of the rows are those of blocks.
    pub(crate) fn short_rows(&mut self, row: Option<LoopId>) {
        self.short = row;
    }

    /// A column of a block of rows, if an address is one where rows are done in lanes.
    pub(crate) fn column(
        &mut self,
        pointer: &str,
        (address, guards): (&Lin, &[Guard]),
        elem: Elem,
        at: At,
    ) -> Option<String> {
        let row = self.short?;
        let stride = address.coeff(row);
        if !(2..=LONGEST_WITH_FUNCTION).contains(&stride) {
            return None;
        }
        let loops = guards.iter().fold(address.loops(), |set, g| set.union(g.expr.loops()));
        let known: Vec<(LoopId, i64)> =
            loops.loops().filter_map(|l| Some((l, self.fixed(l, at.scope)?))).collect();
        let known_loops: LoopSet = known.iter().map(|k| k.0).collect();
        let (first, last) = self.reached_once(address, guards, (stride, known_loops))?;
        let mut base = address.clone();
        base.terms.retain(|t| !known_loops.contains(t.0));
        base.offset = first;
        let place = known.iter().map(|&(l, value)| address.coeff(l) * value).sum::<i64>() + address.offset;
        let (column, reach) = (usize::try_from(place - first).ok()?, last - first + 1);
        let home = self.home(at.scope, base.loops());
        let key = (pointer.to_string(), base.clone(), reach);
        if let Some(columns) = self.known_columns(home, &key) {
            return columns.get(column).cloned();
        }
        let place = self.lin(&base, home);
        let first = self.element(pointer, &place, elem, home);
        let rows = Rows { first: &first, stride, reach, elem };
        let columns = self.columns(&rows, At { scope: home, lanes: at.lanes });
        let found = columns.get(column).cloned();
        self.keep_columns(home, key, columns);
        found
    }

    /// As [`reached`], looked at once.
    fn reached_once(&mut self, address: &Lin, guards: &[Guard], of: (i64, LoopSet)) -> Option<(i64, i64)> {
        let key = (address.clone(), guards.to_vec(), of.1);
        if let Some(known) = self.reached.get(&key) {
            return *known;
        }
        let found = reached(self.dag, (address, guards), of);
        self.reached.insert(key, found);
        found
    }

    /// Elements of two vectors.
    pub(crate) fn pick(
        &mut self,
        (a, b): (&str, &str),
        lanes: usize,
        order: &[usize],
        elem: Elem,
        at: At,
    ) -> String {
        let list: Vec<String> = order.iter().map(|i| i.to_string()).collect();
        let ty = elem.ty(lanes);
        self.op(at.scope, &format!("vector.shuffle {a}, {b} [{}] : {ty}, {ty}", list.join(", ")))
    }

    /// A vector whose lanes are elements of several vectors: for each lane the number of the vector and of the element.
    pub(crate) fn collect(
        &mut self,
        vectors: &[String],
        places: &[(usize, usize)],
        elem: Elem,
        at: At,
    ) -> String {
        let lanes = at.lanes;
        let mut used: Vec<usize> = places.iter().map(|p| p.0).collect();
        used.sort_unstable();
        used.dedup();
        let first = used.first().copied().unwrap_or(0);
        let mut done = vec![first];
        let mut sum = vectors[first].clone();
        let others = if used.len() > 1 { &used[1..] } else { &used[..] };
        for (step, &next) in others.iter().enumerate() {
            let order: Vec<usize> = places
                .iter()
                .enumerate()
                .map(|(lane, &(vector, element))| match vector {
                    v if v == next && v != first => lanes + element,
                    v if done.contains(&v) && step == 0 => element,
                    _ => lane,
                })
                .collect();
            sum = self.pick((&sum, &vectors[next]), lanes, &order, elem, at);
            done.push(next);
        }
        sum
    }

    /// The columns of as many rows as there are lanes.
    pub(crate) fn columns(&mut self, rows: &Rows<'_>, at: At) -> Vec<String> {
        let count = at.lanes as i64;
        if rows.stride <= DIRECT && picked(rows) <= turned(rows, count) {
            // The block as it lies in memory; its last vector ends with it.
            let total = (count - 1) * rows.stride + rows.reach;
            let starts: Vec<i64> =
                (0..(total + count - 1) / count).map(|k| (k * count).min(total - count)).collect();
            let vectors: Vec<String> =
                starts.iter().map(|&s| self.part(rows, s, at.lanes, at.lanes, at)).collect();
            return (0..rows.reach)
                .map(|column| {
                    let places: Vec<(usize, usize)> = (0..count)
                        .map(|lane| {
                            let element = lane * rows.stride + column;
                            let k = (element / count).min(starts.len() as i64 - 1) as usize;
                            (k, (element - starts[k]) as usize)
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
            let lines: Vec<String> = (0..count)
                .map(|line| {
                    let start = line * rows.stride + from;
                    let there = if start + width as i64 <= end { width } else { some as usize };
                    self.part(rows, start, width, there, at)
                })
                .collect();
            let vectors = self.joined(lines, width, rows.elem, at);
            let (high, low) = (at.lanes.trailing_zeros(), width.trailing_zeros());
            let turned = self.turned_bits(vectors, (high, low), rows.elem, at);
            columns.extend(turned.into_iter().take(some as usize));
            from += some;
        }
        columns
    }

    /// As [`Emitter::columns`], from chunks of so many elements of each row. The last chunk of a row ends with it.
    fn chunked(&mut self, rows: &Rows<'_>, size: usize, at: At) -> Vec<String> {
        let (mut columns, width) = (Vec::new(), size as i64);
        while (columns.len() as i64) < rows.reach {
            let known = columns.len() as i64;
            let from = known.min(rows.reach - width);
            let chunks: Vec<String> = (0..at.lanes as i64)
                .map(|line| self.part(rows, line * rows.stride + from, size, size, at))
                .collect();
            let turned = self.turned_chunks(chunks, (size, at.lanes), rows.elem, at.scope);
            columns.extend(turned.into_iter().skip((known - from) as usize));
        }
        columns
    }

    /// Columns of lines of which each is a chunk of so many elements: vectors are put together of the chunks of every
    /// `size`-th line, and transposed chunk by chunk.
    pub(crate) fn turned_chunks(
        &mut self,
        chunks: Vec<String>,
        (size, lanes): (usize, usize),
        elem: Elem,
        scope: ScopeId,
    ) -> Vec<String> {
        let at = At { scope, lanes };
        let mut lines: Vec<String> = Vec::with_capacity(size);
        for r in 0..size {
            let parts = chunks.iter().skip(r).step_by(size).cloned().collect();
            lines.extend(self.joined(parts, size, elem, at));
        }
        self.interleaved(lines, (size, lanes), elem, at)
    }

    /// As many lines as a chunk has elements, transposed chunk by chunk.
    pub(crate) fn interleaved(
        &mut self,
        lines: Vec<String>,
        (size, lanes): (usize, usize),
        elem: Elem,
        at: At,
    ) -> Vec<String> {
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
                    let pair = (lines[i].as_str(), lines[i + size / 2].as_str());
                    next.push(self.pick(pair, lanes, &order, elem, at));
                }
            }
            lines = next;
            step *= 2;
        }
        lines
    }

    /// Stores columns as the rows of a block, which lie one behind the other.
    pub(crate) fn store_columns(&mut self, first: &str, columns: &[String], elem: Elem, at: At) {
        let (length, lanes) = (columns.len(), at.lanes);
        if length as i64 <= DIRECT {
            for k in 0..length {
                let places: Vec<(usize, usize)> =
                    (k * lanes..(k + 1) * lanes).map(|e| (e % length, e / length)).collect();
                let vector = self.collect(columns, &places, elem, at);
                self.store_part(first, (k * lanes) as i64, &vector, (lanes, lanes), elem, at);
            }
            return;
        }
        for (chunk, some) in columns.chunks(lanes).enumerate() {
            let width = some.len().next_power_of_two();
            let mut vectors = some.to_vec();
            vectors.resize(width, some[some.len() - 1].clone());
            let (high, low) = (width.trailing_zeros(), lanes.trailing_zeros());
            let turned = self.turned_bits(vectors, (high, low), elem, at);
            for line in 0..lanes {
                let (vector, offset) = (&turned[line * width / lanes], line * width % lanes);
                let part = self.some_lanes(at.scope, vector, (elem, lanes), (offset, width));
                let ahead = (line * length + chunk * lanes) as i64;
                self.store_part(first, ahead, &part, (width, some.len()), elem, at);
            }
        }
    }

    /// So many elements from one on, of which the first exist.
    pub(crate) fn part(&mut self, rows: &Rows<'_>, ahead: i64, width: usize, there: usize, at: At) -> String {
        let (elem, ahead) = (rows.elem, self.int(ahead));
        let from = self.element(rows.first, &ahead, elem, at.scope);
        let mask = (there < width).then(|| self.first_lanes(there, width));
        self.neighbours(&from, mask.as_deref(), (elem, width), at.scope)
    }

    /// Stores the first elements of a vector.
    fn store_part(
        &mut self,
        first: &str,
        ahead: i64,
        vector: &str,
        (width, there): (usize, usize),
        elem: Elem,
        at: At,
    ) {
        let ahead = self.int(ahead);
        let to = self.element(first, &ahead, elem, at.scope);
        let (ty, size) = (elem.ty(width), elem.size());
        if there == width {
            return self.put(vector, &to, (elem, width), at.scope);
        }
        let mask = self.first_lanes(there, width);
        self.line(
            at.scope,
            &format!(
                "llvm.intr.masked.store {vector}, {to}, {mask} {{alignment = {size} : i32}} : {ty}, {} into !llvm.ptr",
                Elem::I1.ty(width)
            ),
        );
    }

    /// Rows put together to whole vectors, in order.
    pub(crate) fn joined(&mut self, lines: Vec<String>, width: usize, elem: Elem, at: At) -> Vec<String> {
        let (mut parts, mut width) = (lines, width);
        if width == 1 {
            let pairs: Vec<(String, String)> =
                parts.chunks_exact(2).map(|p| (p[0].clone(), p[1].clone())).collect();
            let ty = elem.ty(2);
            parts = pairs
                .iter()
                .map(|(a, b)| self.op(at.scope, &format!("vector.from_elements {a}, {b} : {ty}")))
                .collect();
            width = 2;
        }
        while width < at.lanes {
            let order: Vec<usize> = (0..2 * width).collect();
            let pairs: Vec<(String, String)> =
                parts.chunks_exact(2).map(|p| (p[0].clone(), p[1].clone())).collect();
            parts = pairs.iter().map(|(a, b)| self.pick((a, b), width, &order, elem, at)).collect();
            width *= 2;
        }
        parts
    }

    /// A block whose positions have so many high and low bits, with the two exchanged.
    fn turned_bits(
        &mut self,
        vectors: Vec<String>,
        (high, low): (u32, u32),
        elem: Elem,
        at: At,
    ) -> Vec<String> {
        let (mut vectors, lanes) = (vectors, at.lanes);
        // Positions are turned to the left by their high bits, or to the right by their low ones.
        let (turn, steps) = if high <= low { (Turn::Together, high) } else { (Turn::Apart, low) };
        let half = vectors.len() / 2;
        for _ in 0..steps {
            let mut next = vec![String::new(); vectors.len()];
            if half == 0 {
                let (from, to) = (&vectors[0], &mut next[0]);
                let order: Vec<usize> = match turn {
                    Turn::Together => (0..lanes).map(|i| i / 2 + i % 2 * lanes / 2).collect(),
                    Turn::Apart => (0..lanes).map(|i| i * 2 % lanes + i * 2 / lanes).collect(),
                };
                *to = self.pick((from, from), lanes, &order, elem, at);
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
                    next[place] = self.pick((pair.0, pair.1), lanes, &order, elem, at);
                }
            }
            vectors = next;
        }
        vectors
    }

    /// Opens a scope in which a loop has one value.
    pub(crate) fn open_at(&mut self, parent: ScopeId, values: &[(LoopId, i64)]) -> ScopeId {
        let binds = values.iter().map(|&(l, value)| (l, self.int(value))).collect();
        let scope = self.open(parent, binds, None);
        self.fix(scope, values);
        scope
    }

    /// Every position of some loops, the last running fastest.
    pub(crate) fn every(&self, loops: &[LoopId]) -> Vec<Vec<(LoopId, i64)>> {
        every(self.dag, loops)
    }

    /// Is a node one whose loops are written out here?
    pub(crate) fn is_written_out(&self, node: NodeId) -> bool {
        self.short.is_some_and(|row| self.dag[node].deps.contains(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_guards_leave_of_a_row_is_loaded() {
        let mut dag = Dag::default();
        let [i, j, k, m] = [100, 8, 3, 5].map(|extent| dag.add_loop(extent).unwrap());
        let known: LoopSet = [j, k].into_iter().collect();
        let lin = |terms: &[(LoopId, i64)], offset| Lin { terms: terms.to_vec(), offset };
        let of = |address: &Lin, guards: &[Guard]| reached(&dag, (address, guards), (8, known));
        let window = lin(&[(i, 8), (j, 1), (k, 1)], -1);
        let inside = Guard { expr: lin(&[(j, 1), (k, 1)], -1), bound: 8 };
        // One element on either side of a row is not there.
        assert_eq!((of(&window, &[]), of(&window, std::slice::from_ref(&inside))), (None, Some((0, 7))));
        let rolled = lin(&[(i, 8), (j, 1)], -1);
        assert_eq!(of(&rolled, &[Guard { expr: lin(&[(j, 1)], -1), bound: 7 }]), Some((0, 6)));
        // Nothing is known of the others where a guard speaks of a loop that runs.
        assert_eq!(of(&window, &[Guard { expr: lin(&[(j, 1), (m, 1)], 0), bound: 8 }]), None);
        assert_eq!(of(&window, &[inside, Guard { expr: lin(&[(m, 1)], 0), bound: 3 }]), Some((0, 7)));
        // A condition that never holds.
        assert_eq!(of(&rolled, &[Guard { expr: lin(&[(j, 1)], 8), bound: 3 }]), None);
    }
}
