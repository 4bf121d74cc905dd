//! The loop over the sum of a tile, whose elements are in registers.
//!
//! A vector holds columns, and each element of a row is multiplied with all of them. Where there are so few columns that
//! most lanes would be empty, and the elements of a row lie one behind the other along the sum, a vector holds the columns
//! of several terms ([`Group`]), and as many elements of a row are spread over it. What has come together in the lanes
//! of a column is added at the end. (Zen 4, `f32`: windows of 576 terms by 2 columns are 2.8 times as fast, windows by 3 or
//! 4 columns 1.3 to 1.8 times.)
//!
//! Long sums of floats are made in blocks ([`crate::schedule::blocks`]): the registers begin anew with every block, and what they
//! have by its end is added to the tile in memory.

use crate::CodegenError;
use crate::code::{Index, Op, Value};
use crate::expression::dag::{Node, NodeId};
use crate::lower::contraction::Tiles;
use crate::lower::contraction::tile::{Ends, Inner};
use crate::lower::emit::{At, Bounds, Carried, Emitter, ScopeId, Val};
use crate::lower::prefetch::prefetch;
use crate::lower::vectors::Lanes;
use crate::machine::elem::Type;
use crate::schedule::blocks;
use crate::schedule::contraction::sizes;
use crate::schedule::contraction::terms::together;
use crate::schedule::contraction::windows::{Reads, Terms};
use crate::schedule::prefetch::PrefetchHint;
use surject_ir::AccOp;

/// Terms whose columns are in one vector.
#[derive(Clone, Copy)]
pub(crate) struct Group {
    /// How many.
    pub(crate) terms: i64,
    /// All terms of the innermost loop.
    pub(crate) count: i64,
    /// Elements from the columns of one term to those of the next.
    pub(crate) stride: i64,
    /// Lanes of the vector.
    lanes: usize,
}

/// A loop over the sum.
struct Level {
    /// How often it runs.
    count: Value,
    /// How far the rows move with every step.
    by: i64,
    /// The same of the columns; `None`: they go on where the loop inside ended.
    columns: Option<i64>,
    /// So many steps are a block, and the loop runs from block to block.
    block: Option<i64>,
    /// Do the sums begin anew with this loop, and are added to the tile in memory when it ends?
    anew: bool,
}

/// A loop over the sum that is open.
struct OpenLevel {
    scope: ScopeId,
    /// The number of the step.
    number: Value,
    /// What it carries: the sums, if it has them, and then the places of rows and columns.
    names: Vec<Value>,
    count: Value,
}

/// A tile while it is summed.
struct Tile<'a> {
    inner: Inner<'a>,
    ends: Ends,
    op: AccOp,
    body: NodeId,
    /// The lanes of the vectors of columns.
    all: Vec<usize>,
    group: Option<Group>,
    /// The types of the sums of a row and what they begin with.
    types: Vec<Type>,
    zeros: Vec<Value>,
    /// Where the rows begin from the first one on, where they lie one behind the other.
    ahead_of_row: Vec<Value>,
}

impl Tile<'_> {
    /// The number of sums.
    fn sums(&self) -> usize {
        self.inner.high * self.all.len()
    }
}

/// Where terms are read: rows at `a`, columns at `b`.
#[derive(Clone, Copy)]
struct From {
    a: Value,
    b: Value,
}

/// What becomes of what a tile in memory has, when sums are stored there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flush {
    /// They take its place.
    Set,
    /// They are added to it.
    Add,
}

impl Tiles<'_> {
    /// How many terms are in a vector, if there are several.
    pub(crate) fn group(&self, inner: &Inner<'_>) -> Option<Group> {
        let (s, c) = (&self.sizes, self.c);
        let &Terms { count, stride: 1 } = inner.reads.filter(|_| c.grouped)?.nest.last()? else {
            return None;
        };
        let stride = self.between_terms(inner.active);
        let lanes = self.target.vector_bytes / s.elem.size();
        let terms = together(stride, lanes, self.target)?;
        let next = stride == inner.active || self.in_place.is_none();
        // Beside the sums there are the columns, an element of a row, and how that is spread.
        let fits = inner.high + 3 <= self.target.vector_registers;
        let holds = inner.terms.is_none() && next && fits && count >= terms;
        holds.then_some(Group { terms, count, stride, lanes })
    }

    /// The sums of all terms, from the tile in memory or from nothing, into the tile in memory.
    pub(crate) fn terms(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        ends: Ends,
        inner: Inner<'_>,
    ) -> Result<(), CodegenError> {
        let mut t = self.summed(em, ends, inner)?;
        // The same columns in the next pass: what lies between is less than a cache holds.
        let distance = inner.terms.map(|_| self.times(em, scope, ends.stride, self.sizes.pass));
        let levels = self.levels(em, (&t.inner, t.group), ends.count);
        let in_blocks = levels.iter().any(|l| l.anew);
        if in_blocks {
            self.clear(em, scope, &t);
        }
        if inner.count.is_none() && inner.reads.is_some_and(|r| r.are_dense(inner.high)) {
            let rows = (0..inner.high).map(|row| self.times(em, scope, ends.count, row as i64));
            t.ahead_of_row = rows.collect();
        }
        let open = self.open_levels(em, scope, &levels, &t);
        let Some(OpenLevel { scope: innermost, names, .. }) = open.last() else {
            return Err(CodegenError::malformed("a contraction that sums nothing"));
        };
        let (sums, places) = names.split_at(t.sums());
        let from = From { a: places[0], b: places[1] };
        if let Some(distance) = distance {
            let (size, next) = (self.sizes.elem.size(), self.offset(em, *innermost, from.b, distance));
            for line in (0..t.all.iter().sum()).step_by(64 / size) {
                prefetch(em, *innermost, (next, line as i64), self.sizes.elem, PrefetchHint::Soon);
            }
        }
        let next = match t.group {
            Some(group) => self.add_group(em, *innermost, from, sums, (&t, group, group.terms)),
            None => self.add_term(em, *innermost, from, sums, &t)?,
        };
        let next = self.close_levels(em, scope, (&levels, &open), &t, next)?;
        match inner.terms {
            _ if in_blocks => Ok(()),
            Some(_) => self.flush(em, scope, &t, &next, Flush::Add),
            None => self.flush(em, scope, &t, &next, Flush::Set),
        }
    }

    /// A tile that is to be summed: its vectors, and what its sums begin with.
    fn summed<'a>(
        &self,
        em: &mut Emitter<'_>,
        ends: Ends,
        inner: Inner<'a>,
    ) -> Result<Tile<'a>, CodegenError> {
        let Node::Reduce { op, body, .. } = self.dag[self.c.node].node else {
            return Err(CodegenError::malformed("a contraction that reduces nothing"));
        };
        // Vectors beyond the last column are not computed, and the last one has no more lanes than it takes.
        let all = sizes::vectors(inner.active, self.c.tile.lanes);
        let group = self.group(&inner);
        let lanes: Vec<usize> = group.map_or(all.clone(), |g| vec![g.lanes]);
        let types: Vec<Type> = lanes.iter().map(|&lanes| self.sizes.elem.ty(lanes)).collect();
        let neutral = op.neutral(self.dag[self.c.node].dtype);
        let zeros: Vec<Value> = lanes.iter().map(|&lanes| em.scalar(neutral, lanes)).collect();
        Ok(Tile { inner, ends, op, body, all, group, types, zeros, ahead_of_row: Vec::new() })
    }

    /// The places of the sums in the tile in memory.
    fn places(&self, em: &mut Emitter<'_>, scope: ScopeId, t: &Tile<'_>) -> Vec<Value> {
        let (vectors, most) = (t.all.len(), self.c.tile.lanes);
        let mut places = Vec::new();
        let mut row = t.ends.tile;
        for i in 0..t.sums() {
            if i > 0 && i % vectors == 0 {
                row = self.offset(em, scope, row, t.ends.pitch);
            }
            let distance = i % vectors * most;
            places.push(self.pointer_at(em, scope, row, distance as i64));
        }
        places
    }

    /// Stores a sum of so many lanes in the tile in memory.
    fn store_sum(&self, em: &mut Emitter<'_>, at: At, sum: Value, to: Value) {
        let (ty, size) = (self.sizes.elem.ty(at.lanes), self.sizes.elem.size());
        em.run(at.scope, Op::aligned_store(sum, to, ty, size));
    }

    /// A tile in memory of no terms, for blocks to be added to.
    fn clear(&self, em: &mut Emitter<'_>, scope: ScopeId, t: &Tile<'_>) {
        let neutral = t.op.neutral(self.dag[self.c.node].dtype);
        for (i, to) in self.places(em, scope, t).iter().enumerate() {
            let at = At { scope, lanes: t.all[i % t.all.len()] };
            let none = em.scalar(neutral, at.lanes);
            self.store_sum(em, at, none, *to);
        }
    }

    /// What the registers have, into the tile in memory.
    fn flush(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        t: &Tile<'_>,
        sums: &[Value],
        how: Flush,
    ) -> Result<(), CodegenError> {
        let (elem, dtype) = (self.sizes.elem, self.dag[self.c.node].dtype);
        for (i, (sum, to)) in sums.iter().zip(self.places(em, scope, t)).enumerate() {
            let at = At { scope, lanes: t.all[i % t.all.len()] };
            let mut sum = t.group.map_or(*sum, |group| self.joined(em, scope, *sum, (group, t.all[0])));
            if how == Flush::Add {
                let (ty, size) = (elem.ty(at.lanes), elem.size());
                let before = em.op(scope, Op::aligned_load(to, ty, size));
                sum = em.join_values(t.op, dtype, before, sum, at)?;
            }
            self.store_sum(em, at, sum, to);
        }
        Ok(())
    }

    /// Opens the loops over the sum. Loops outside of those that begin anew carry no sums.
    fn open_levels(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        levels: &[Level],
        t: &Tile<'_>,
    ) -> Vec<OpenLevel> {
        let first = levels.iter().position(|l| l.anew).unwrap_or(0);
        let mut open: Vec<OpenLevel> = Vec::new();
        for (depth, level) in levels.iter().enumerate() {
            let outer = open.last().map_or(scope, |o| o.scope);
            let number = em.name();
            let sums = if depth < first { 0 } else { t.sums() };
            let names = (0..sums + 2).map(|_| em.name()).collect();
            let count = match (depth.checked_sub(1).map(|d| &levels[d]), open.last()) {
                // Of the last block of a loop there may be less.
                (Some(Level { block: Some(block), count: all, .. }), Some(o)) => {
                    let block = em.int(*block);
                    let left = em.arith(outer, "arith.subi", *all, o.number);
                    em.arith(outer, "arith.minsi", left, block)
                }
                _ => level.count,
            };
            open.push(OpenLevel { scope: em.open(outer, Vec::new(), None), number, names, count });
        }
        open
    }

    /// Closes the loops over the sum, with the sums that the innermost one ends with, and gives those of all terms. Where sums
    /// begin anew with a loop, what it has made of them is added to the tile in memory.
    fn close_levels(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (levels, open): (&[Level], &[OpenLevel]),
        t: &Tile<'_>,
        mut next: Vec<Value>,
    ) -> Result<Vec<Value>, CodegenError> {
        // The columns go on where they are; the rows of an outer loop go on from where they began.
        let on = match t.group {
            Some(group) => em.int(group.terms * group.stride),
            None => t.ends.stride,
        };
        let Some(inside) = open.last() else { return Ok(next) };
        let mut columns_then = self.offset(em, inside.scope, inside.names[inside.names.len() - 1], on);
        for (depth, (level, own)) in levels.iter().zip(open).enumerate().rev() {
            let carries = own.names.len() - 2;
            let by = em.int(level.by);
            next.push(self.offset(em, own.scope, own.names[carries], by));
            next.push(columns_then);
            let outside = depth.checked_sub(1).map(|d| &open[d]);
            let sums = self.close_level(em, (level, own, outside), t, next);
            next = sums[..carries].to_vec();
            columns_then = sums[carries + 1];
            let outer = outside.map_or(scope, |o| o.scope);
            if let Some(group) = t.group.filter(|g| depth + 1 == levels.len() && g.count % g.terms > 0) {
                let rest = group.count % group.terms;
                let from = From { a: sums[carries], b: columns_then };
                next = self.add_group(em, outer, from, &next, (t, group, rest));
                let on = em.int(rest * group.stride);
                columns_then = self.offset(em, outer, columns_then, on);
            }
            if level.anew {
                self.flush(em, outer, t, &next, Flush::Add)?;
                next.clear();
            }
            let by = depth.checked_sub(1).and_then(|outer| levels[outer].columns);
            if let (Some(by), Some(o)) = (by, outside) {
                let by = em.int(by);
                columns_then = self.offset(em, outer, o.names[o.names.len() - 1], by);
            }
        }
        Ok(next)
    }

    /// Closes one of the loops over the sum, inside of another or of none. Sums come from the loop around, if that has them;
    /// so do the places of rows and columns.
    fn close_level(
        &self,
        em: &mut Emitter<'_>,
        (level, own, outside): (&Level, &OpenLevel, Option<&OpenLevel>),
        t: &Tile<'_>,
        next: Vec<Value>,
    ) -> Vec<Value> {
        let (carries, vectors) = (own.names.len() - 2, t.all.len());
        let mut inits: Vec<Value> = match outside {
            Some(o) if !level.anew => o.names[..carries].to_vec(),
            _ => (0..carries).map(|i| t.zeros[i % vectors]).collect(),
        };
        inits.extend(match outside {
            Some(o) => o.names[o.names.len() - 2..].to_vec(),
            None => vec![t.ends.rows, t.ends.columns],
        });
        let carried: Vec<Carried> = (own.names.iter().zip(inits).zip(next).enumerate())
            .map(|(i, ((name, init), next))| {
                let ty = if i < carries { t.types[i % vectors] } else { Type::Pointer };
                Carried { name: *name, init, ty, next }
            })
            .collect();
        let (low, step) = (em.int(0), em.int(level.block.unwrap_or(1)));
        let bounds = Bounds { low, high: own.count, step };
        em.close_loop(own.scope, own.number, &bounds, &carried)
    }

    /// How long sums are cut into blocks: for each loop over the sum, outermost first. `None`: they are not.
    fn in_blocks(&self, inner: &Inner<'_>, group: Option<Group>) -> Option<Vec<blocks::Level>> {
        let (s, dtype) = (&self.sizes, self.dag[self.c.node].dtype);
        let Node::Reduce { op, .. } = self.dag[self.c.node].node else { return None };
        // What is added to a tile in memory, some terms at a time, is in blocks as it is.
        if !blocks::round(op, dtype) || inner.terms.is_some() {
            return None;
        }
        let steps: Vec<i64> = match inner.reads {
            Some(Reads { nest, .. }) => {
                let last = nest.len().saturating_sub(1);
                let of_group = |i, n: i64| group.filter(|_| i == last).map_or(n, |g| g.count / g.terms);
                nest.iter().enumerate().map(|(i, n)| of_group(i, n.count)).collect()
            }
            None => vec![s.sum],
        };
        let levels = blocks::in_memory(&steps);
        // The last terms of a group come after its loop.
        let of_group = group.is_some() && levels.last().is_some_and(|l| !l.blocks.is_empty());
        (!of_group && levels.iter().any(|l| *l != blocks::Level::default())).then_some(levels)
    }

    /// Words that tell a function whose sums are made so from others.
    pub(crate) fn name_of_blocks(&self, inner: &Inner<'_>) -> String {
        let mut name = String::new();
        for level in self.in_blocks(inner, self.group(inner)).unwrap_or_default() {
            match level.blocks.first() {
                Some(size) => name.push_str(&format!("_b{size}")),
                None => name.push_str(if level.anew { "_b" } else { "_n" }),
            }
        }
        name
    }

    /// The loops over the sum, outermost first.
    fn levels(
        &self,
        em: &mut Emitter<'_>,
        (inner, group): (&Inner<'_>, Option<Group>),
        count: Value,
    ) -> Vec<Level> {
        let mut levels: Vec<Level> = match inner.reads {
            Some(Reads { nest, columns, .. }) => {
                let counts = nest.iter().enumerate();
                let level = |(i, &Terms { count: n, stride }): (usize, &Terms)| {
                    let (count, by) = match (i + 1 == nest.len(), group) {
                        (true, Some(g)) => (em.int(g.count / g.terms), g.terms),
                        (true, None) => (count, stride),
                        (false, _) => (em.int(n), stride),
                    };
                    Level { count, by, columns: columns.get(i).copied(), block: None, anew: false }
                };
                counts.map(level).collect()
            }
            None => {
                let (count, by) = (count, inner.high as i64);
                vec![Level { count, by, columns: None, block: None, anew: false }]
            }
        };
        let Some(in_blocks) = self.in_blocks(inner, group) else { return levels };
        for (at, own) in in_blocks.iter().enumerate().rev() {
            levels[at].anew = own.anew;
            if let Some(size) = own.blocks.first() {
                let Level { count, by, columns, anew, .. } = &levels[at];
                let (by, columns) = (by * size, columns.map(|by| by * size));
                let blocks = Level { count: *count, by, columns, block: Some(*size), anew: *anew };
                levels[at].anew = true;
                levels.insert(at, blocks);
            }
        }
        levels
    }

    /// Elements at a pointer, of which only those of active lanes exist.
    fn first_of(&self, em: &mut Emitter<'_>, scope: ScopeId, from: Value, part: Lanes) -> Value {
        let (elem, size) = (self.sizes.elem, self.sizes.elem.size());
        let ty = elem.ty(part.lanes);
        if part.active == part.lanes {
            return em.op(scope, Op::aligned_load(from, ty, size));
        }
        let (mask, none) = (em.first_lanes(part.active, part.lanes), em.constant(elem, 0, part.lanes));
        em.op(scope, Op::MaskedLoad { pointer: from, mask, other: none, ty, alignment: size })
    }

    /// The element of a known number behind a pointer.
    fn pointer_at(&self, em: &mut Emitter<'_>, scope: ScopeId, pointer: Value, number: i64) -> Value {
        let of = self.sizes.elem.ty(1);
        em.op(scope, Op::Element { pointer, index: Index::Number(number), of })
    }

    /// Where the elements of a row are.
    fn of_row(&self, em: &mut Emitter<'_>, scope: ScopeId, a: Value, (row, t): (usize, &Tile<'_>)) -> Value {
        match t.ahead_of_row.get(row) {
            Some(place) => self.offset(em, scope, a, *place),
            None => {
                let step = t.inner.reads.map_or(1, |r| r.step);
                self.pointer_at(em, scope, a, row as i64 * step)
            }
        }
    }

    /// The sums with a term.
    fn add_term(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        From { a, b }: From,
        sums: &[Value],
        t: &Tile<'_>,
    ) -> Result<Vec<Value>, CodegenError> {
        let (s, c, one) = (&self.sizes, self.c, self.sizes.elem.ty(1));
        let (most, vectors) = (c.tile.lanes, t.all.len());
        let types: Vec<Type> = t.all.iter().map(|&lanes| s.elem.ty(lanes)).collect();
        let mut vector = Vec::new();
        for (v, &lanes) in t.all.iter().enumerate() {
            let exist = usize::try_from(t.inner.active).unwrap_or(0).saturating_sub(v * most).min(lanes);
            let from = self.pointer_at(em, scope, b, (v * most) as i64);
            vector.push(self.first_of(em, scope, from, Lanes { active: exist, lanes }));
        }
        let mut next: Vec<Value> = vec![Value::NONE; sums.len()];
        for row in 0..t.inner.high {
            let from = self.of_row(em, scope, a, (row, t));
            let single = em.op(scope, Op::load(from, one));
            let wide = em.op(scope, Op::cast("vector.broadcast", single, one, types[0]));
            // The last vector may have fewer lanes. It goes first: after the others it would be made where the element of
            // the row lies, which is free then, and all sums would move from register to register.
            for (v, (column, ty)) in vector.iter().zip(&types).enumerate().rev() {
                let (lanes, at) = (t.all[v], row * vectors + v);
                let value = match lanes == t.all[0] {
                    true => wide,
                    false => em.op(scope, Op::First { vector: wide, from: types[0], to: *ty }),
                };
                let into = &sums[at];
                if let Some(pairs) = c.pairs {
                    let factors = (value, *column);
                    next[at] = if t.inner.exact {
                        pairs.multiply_add_exactly(em, scope, factors, *into, lanes)
                    } else {
                        pairs.multiply_add(em, scope, factors, *into, lanes)?
                    };
                    continue;
                }
                if t.op == AccOp::Add && self.is_product(t.body) {
                    next[at] = self.multiply_add(em, scope, (value, *column), *into, lanes);
                    continue;
                }
                // The values of this row and these columns are known here; the rest of the term is arithmetic.
                let part = em.open(scope, vec![(c.lane, Value::NONE)], Some((c.lane, lanes)));
                em.seed(part, c.factors[0], Val { ssa: value, lanes });
                em.seed(part, c.factors[1], Val { ssa: *column, lanes });
                let dtype = self.dag[c.node].dtype;
                next[at] = em.join_term(t.op, t.body, dtype, *into, At { scope: part, lanes })?;
                em.close_plain(part);
            }
        }
        Ok(next)
    }

    /// A sum with a product: in the same order whatever the order in the term, it is the same function.
    fn multiply_add(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (value, column): (Value, Value),
        into: Value,
        lanes: usize,
    ) -> Value {
        let (elem, ty) = (self.sizes.elem, self.sizes.elem.ty(lanes));
        if elem != elem.int() {
            return em.op(scope, Op::same("math.fma", [value, column, into], ty));
        }
        let product = em.op(scope, Op::same("arith.muli", [value, column], ty));
        em.op(scope, Op::same("arith.addi", [into, product], ty))
    }

    /// The sums with so many terms of a group. What does not exist is zero.
    fn add_group(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        From { a, b }: From,
        sums: &[Value],
        (t, group, terms): (&Tile<'_>, Group, i64),
    ) -> Vec<Value> {
        let elem = self.sizes.elem;
        let active = Lanes { active: (terms * group.stride) as usize, lanes: group.lanes };
        let columns = self.first_of(em, scope, b, active);
        let width = (group.terms as usize).next_power_of_two();
        let lane = |lane: usize| (lane as i64 / group.stride).min(group.terms - 1);
        let spread: Vec<i64> = (0..group.lanes).map(lane).collect();
        let mut next = Vec::new();
        for (row, sum) in sums.iter().enumerate() {
            let from = self.of_row(em, scope, a, (row, t));
            let some = self.first_of(em, scope, from, Lanes { active: terms as usize, lanes: width });
            let value = em.shuffled((some, some), &spread, (elem, width), scope);
            next.push(self.multiply_add(em, scope, (value, columns), *sum, group.lanes));
        }
        next
    }

    /// The sums of the columns of all terms of a group, as a vector of columns.
    fn joined(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        sum: Value,
        (group, lanes): (Group, usize),
    ) -> Value {
        let elem = self.sizes.elem;
        let add = if elem == elem.int() { "arith.addi" } else { "arith.addf" };
        let mut joined: Option<Value> = None;
        for term in 0..group.terms {
            let lane = |lane: usize| (term * group.stride + lane as i64).min(group.lanes as i64 - 1);
            let columns: Vec<i64> = (0..lanes).map(lane).collect();
            let part = em.shuffled((sum, sum), &columns, (elem, group.lanes), scope);
            joined = Some(match joined {
                Some(before) => em.bin(At { scope, lanes }, add, before, part, elem),
                None => part,
            });
        }
        joined.unwrap_or(sum)
    }
}
