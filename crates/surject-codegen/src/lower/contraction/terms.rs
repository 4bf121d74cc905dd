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
use crate::expression::dag::{Node, NodeId};
use crate::lower::contraction::Tiles;
use crate::lower::contraction::tile::{Ends, Inner};
use crate::lower::emit::{At, Bounds, Carried, Emitter, ScopeId, Val};
use crate::lower::prefetch::prefetch;
use crate::machine::elem::Elem;
use crate::schedule::blocks;
use crate::schedule::contraction::sizes;
use crate::schedule::contraction::terms::together;
use crate::schedule::contraction::windows::Reads;
use crate::schedule::prefetch::Ask;
use surject_ir::AccOp;

/// Terms whose columns are in one vector.
#[derive(Clone, Copy)]
pub(crate) struct Group {
    /// How many.
    pub(crate) terms: i64,
    /// All terms of the innermost loop.
    pub(crate) count: i64,
    /// Elements from the columns of one term to those of the next.
    pub(crate) apart: i64,
    /// Lanes of the vector.
    lanes: usize,
}

/// A loop over the sum.
struct Level {
    /// How often it runs.
    count: String,
    /// How far the rows move with every step.
    by: i64,
    /// The same of the columns; `None`: they go on where the loop inside ended.
    columns: Option<i64>,
    /// So many steps are a block, and the loop runs from block to block.
    block: Option<i64>,
    /// Do the sums begin anew with this loop, and are added to the tile in memory when it ends?
    anew: bool,
}

/// A tile while it is summed.
struct Tile<'a> {
    inner: Inner<'a>,
    op: AccOp,
    body: NodeId,
    /// The lanes of the vectors of columns.
    all: Vec<usize>,
}

impl Tiles<'_> {
    /// How many terms are in a vector, if there are several.
    pub(crate) fn group(&self, inner: &Inner<'_>) -> Option<Group> {
        let (s, c) = (&self.sizes, self.c);
        let &(count, 1) = inner.reads.filter(|_| c.grouped)?.nest.last()? else { return None };
        let apart = self.between_terms(inner.active);
        let lanes = self.target.vector_bytes / s.elem.size();
        let terms = together(apart, lanes, self.target)?;
        let next = apart == inner.active || self.in_place.is_none();
        // Beside the sums there are the columns, an element of a row, and how that is spread.
        let fits = inner.high + 3 <= self.target.vector_registers;
        let holds = inner.terms.is_none() && next && fits && count >= terms;
        holds.then_some(Group { terms, count, apart, lanes })
    }

    /// The sums of all terms, from the tile in memory or from nothing, into the tile in memory.
    pub(crate) fn terms(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        Ends { rows, columns, stride, count, tile, apart }: Ends<'_>,
        inner: Inner<'_>,
    ) -> Result<(), CodegenError> {
        let (s, c, high) = (&self.sizes, self.c, inner.high);
        let most = c.tile.0;
        let Node::Reduce { op, body, .. } = self.dag[c.node].node else {
            return Err(CodegenError::malformed("a contraction that reduces nothing"));
        };
        // Vectors beyond the last column are not computed, and the last one has no more lanes than it takes.
        let t = Tile { inner, op, body, all: sizes::vectors(inner.active, most) };
        let (vectors, name, size) = (t.all.len(), s.elem.name(), s.elem.size());
        let group = self.group(&inner);
        let lanes: Vec<usize> = group.map_or(t.all.clone(), |g| vec![g.lanes]);
        let types: Vec<String> = lanes.iter().map(|&lanes| s.elem.ty(lanes)).collect();
        let dtype = self.dag[c.node].dtype;
        let zeros: Vec<String> = lanes.iter().map(|&lanes| em.scalar(op.neutral(dtype), lanes)).collect();
        let places = |em: &mut Emitter<'_>, scope: ScopeId| -> Vec<String> {
            let mut places = Vec::new();
            let mut row = tile.to_string();
            for i in 0..high * vectors {
                if i > 0 && i % vectors == 0 {
                    row = self.offset(em, scope, &row, apart);
                }
                let ahead = i % vectors * most;
                places.push(em.op(
                    scope,
                    &format!("llvm.getelementptr {row}[{ahead}] : (!llvm.ptr) -> !llvm.ptr, {name}"),
                ));
            }
            places
        };
        let store = |em: &mut Emitter<'_>, scope: ScopeId, i: usize, sum: &str, to: &str| {
            let ty = s.elem.ty(t.all[i % vectors]);
            em.line(scope, &format!("llvm.store {sum}, {to} {{alignment = {size} : i64}} : {ty}, !llvm.ptr"));
        };
        // What the registers have, into the tile in memory.
        let flush = |em: &mut Emitter<'_>, scope: ScopeId, sums: &[String], adds: bool| {
            for (i, (sum, to)) in sums.iter().zip(places(em, scope)).enumerate() {
                let at = At { scope, lanes: t.all[i % vectors] };
                let mut sum =
                    group.map_or(sum.clone(), |group| self.joined(em, scope, sum, (group, t.all[0])));
                if adds {
                    let ty = s.elem.ty(at.lanes);
                    let load = format!("llvm.load {to} {{alignment = {size} : i64}} : !llvm.ptr -> {ty}");
                    let before = em.op(scope, &load);
                    sum = em.join_values(op, dtype, &before, &sum, at)?;
                }
                store(em, scope, i, &sum, &to);
            }
            Ok::<_, CodegenError>(())
        };
        // The same columns in the next pass: what lies between is less than a cache holds.
        let ahead = inner.terms.map(|_| self.times(em, scope, stride, s.pass));
        let levels = self.levels(em, (&t.inner, group), count);
        let in_blocks = levels.iter().any(|l| l.anew);
        let adds = in_blocks || inner.terms.is_some();
        if in_blocks {
            for (i, to) in places(em, scope).iter().enumerate() {
                let none = em.scalar(op.neutral(dtype), t.all[i % vectors]);
                store(em, scope, i, &none, to);
            }
        }
        let dense = inner.reads.is_some_and(|r| r.are_dense(high));
        let ahead_of_row: Vec<String> = if dense {
            (0..high).map(|row| self.times(em, scope, count, row as i64)).collect()
        } else {
            Vec::new()
        };
        // Loops outside of those that begin anew carry no sums.
        let first = levels.iter().position(|l| l.anew).unwrap_or(0);
        let carries = |depth: usize| if depth < first { 0 } else { high * vectors };
        struct Open {
            scope: ScopeId,
            number: String,
            names: Vec<String>,
            count: String,
        }
        let mut open: Vec<Open> = Vec::new();
        for (depth, level) in levels.iter().enumerate() {
            let outer = open.last().map_or(scope, |o| o.scope);
            let number = em.name();
            let names = (0..carries(depth) + 2).map(|_| em.name()).collect();
            let count = match (depth.checked_sub(1).map(|d| &levels[d]), open.last()) {
                // Of the last block of a loop there may be less.
                (Some(Level { block: Some(block), count: all, .. }), Some(o)) => {
                    let block = em.int(*block);
                    let left = em.op(outer, &format!("arith.subi {all}, {} : i64", o.number));
                    em.op(outer, &format!("arith.minsi {left}, {block} : i64"))
                }
                _ => level.count.clone(),
            };
            open.push(Open { scope: em.open(outer, Vec::new(), None), number, names, count });
        }
        let Some(Open { scope: innermost, names, .. }) = open.last() else {
            return Err(CodegenError::malformed("a contraction that sums nothing"));
        };
        let (innermost, names) = (*innermost, names.clone());
        let (sums, ends) = names.split_at(high * vectors);
        let [a, b] = [0, 1].map(|i| ends[i].clone());
        if let Some(ahead) = ahead {
            let next = self.offset(em, innermost, &b, &ahead);
            for line in (0..t.all.iter().sum()).step_by(64 / size) {
                prefetch(em, innermost, (&next, line as i64), s.elem, Ask::Soon);
            }
        }
        let mut next = match group {
            Some(group) => {
                self.add_group(em, innermost, (&a, &b), (sums, &ahead_of_row), (&t, group, group.terms))
            }
            None => self.add_term(em, innermost, (&a, &b), (sums, &ahead_of_row), &t)?,
        };
        // The columns go on where they are; the rows of an outer loop go on from where they began.
        let on = match group {
            Some(group) => em.int(group.terms * group.apart),
            None => stride.to_string(),
        };
        let mut columns_then = self.offset(em, innermost, &b, &on);
        let pointer = "!llvm.ptr".to_string();
        for (depth, level) in levels.iter().enumerate().rev() {
            let Open { scope: own, number, names, count } = &open[depth];
            let carries = carries(depth);
            let by = em.int(level.by);
            let rows_then = self.offset(em, *own, &names[carries], &by);
            let outside = depth.checked_sub(1).map(|d| &open[d]);
            // Sums come from the loop around, if that has them; so do the places of rows and columns.
            let mut inits: Vec<String> = match outside {
                Some(o) if !level.anew => o.names[..carries].to_vec(),
                _ => (0..carries).map(|i| zeros[i % vectors].clone()).collect(),
            };
            inits.extend(match outside {
                Some(o) => o.names[o.names.len() - 2..].to_vec(),
                None => vec![rows.to_string(), columns.to_string()],
            });
            next.extend([rows_then, columns_then.clone()]);
            let carried = names.iter().zip(inits).zip(std::mem::take(&mut next)).enumerate();
            let carried: Vec<Carried> = carried
                .map(|(i, ((name, init), next))| Carried {
                    name: name.clone(),
                    init,
                    ty: if i < carries { types[i % vectors].clone() } else { pointer.clone() },
                    next,
                })
                .collect();
            let bounds =
                Bounds { low: em.int(0), high: count.clone(), step: em.int(level.block.unwrap_or(1)) };
            let sums = em.close_loop(*own, number, &bounds, &carried);
            next = sums[..carries].to_vec();
            columns_then = sums[carries + 1].clone();
            let outer = outside.map_or(scope, |o| o.scope);
            if let Some(group) = group.filter(|g| depth + 1 == levels.len() && g.count % g.terms > 0) {
                let rest = group.count % group.terms;
                let from = (sums[carries].as_str(), columns_then.as_str());
                next = self.add_group(em, outer, from, (&next, &ahead_of_row), (&t, group, rest));
                let on = em.int(rest * group.apart);
                columns_then = self.offset(em, outer, &columns_then, &on);
            }
            if level.anew {
                flush(em, outer, &next, true)?;
                next.clear();
            }
            let by = depth.checked_sub(1).and_then(|outer| levels[outer].columns);
            if let (Some(by), Some(o)) = (by, outside) {
                let by = em.int(by);
                columns_then = self.offset(em, outer, &o.names[o.names.len() - 1], &by);
            }
        }
        if in_blocks { Ok(()) } else { flush(em, scope, &next, adds) }
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
                nest.iter().enumerate().map(|(i, n)| of_group(i, n.0)).collect()
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
        count: &str,
    ) -> Vec<Level> {
        let mut levels: Vec<Level> = match inner.reads {
            Some(Reads { nest, columns, .. }) => {
                let counts = nest.iter().enumerate();
                let level = |(i, &(n, stride)): (usize, &(i64, i64))| {
                    let (count, by) = match (i + 1 == nest.len(), group) {
                        (true, Some(g)) => (em.int(g.count / g.terms), g.terms),
                        (true, None) => (count.to_string(), stride),
                        (false, _) => (em.int(n), stride),
                    };
                    Level { count, by, columns: columns.get(i).copied(), block: None, anew: false }
                };
                counts.map(level).collect()
            }
            None => {
                let (count, by) = (count.to_string(), inner.high as i64);
                vec![Level { count, by, columns: None, block: None, anew: false }]
            }
        };
        let Some(in_blocks) = self.in_blocks(inner, group) else { return levels };
        for (at, own) in in_blocks.iter().enumerate().rev() {
            levels[at].anew = own.anew;
            if let Some(size) = own.blocks.first() {
                let Level { count, by, columns, anew, .. } = &levels[at];
                let (by, columns) = (by * size, columns.map(|by| by * size));
                let blocks = Level { count: count.clone(), by, columns, block: Some(*size), anew: *anew };
                levels[at].anew = true;
                levels.insert(at, blocks);
            }
        }
        levels
    }

    /// Elements at a pointer, of which only the first exist.
    fn first_of(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        from: &str,
        (exist, lanes): (usize, usize),
    ) -> String {
        let (elem, size) = (self.sizes.elem, self.sizes.elem.size());
        let ty = elem.ty(lanes);
        if exist == lanes {
            let load = format!("llvm.load {from} {{alignment = {size} : i64}} : !llvm.ptr -> {ty}");
            return em.op(scope, &load);
        }
        let (mask, none) = (em.first_lanes(exist, lanes), em.constant(elem, 0, lanes));
        let load = format!(
            "llvm.intr.masked.load {from}, {mask}, {none} {{alignment = {size} : i32}} : (!llvm.ptr, {}, {ty}) -> {ty}",
            Elem::I1.ty(lanes)
        );
        em.op(scope, &load)
    }

    /// Where the elements of a row are.
    fn of_row(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        a: &str,
        (row, reads): (usize, Option<&Reads>),
        ahead_of_row: &[String],
    ) -> String {
        match ahead_of_row.get(row) {
            Some(place) => self.offset(em, scope, a, place),
            None => {
                let (place, name) = (row as i64 * reads.map_or(1, |r| r.step), self.sizes.elem.name());
                em.op(scope, &format!("llvm.getelementptr {a}[{place}] : (!llvm.ptr) -> !llvm.ptr, {name}"))
            }
        }
    }

    /// The sums with a term: rows at `a`, columns at `b`.
    fn add_term(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (a, b): (&str, &str),
        (sums, ahead_of_row): (&[String], &[String]),
        t: &Tile<'_>,
    ) -> Result<Vec<String>, CodegenError> {
        let (s, c, name) = (&self.sizes, self.c, self.sizes.elem.name());
        let (most, vectors) = (c.tile.0, t.all.len());
        let types: Vec<String> = t.all.iter().map(|&lanes| s.elem.ty(lanes)).collect();
        let mut vector = Vec::new();
        for (v, &lanes) in t.all.iter().enumerate() {
            let exist = usize::try_from(t.inner.active).unwrap_or(0).saturating_sub(v * most).min(lanes);
            let from = em.op(
                scope,
                &format!("llvm.getelementptr {b}[{}] : (!llvm.ptr) -> !llvm.ptr, {name}", v * most),
            );
            vector.push(self.first_of(em, scope, &from, (exist, lanes)));
        }
        let mut next: Vec<String> = vec![String::new(); sums.len()];
        for row in 0..t.inner.high {
            let from = self.of_row(em, scope, a, (row, t.inner.reads), ahead_of_row);
            let single = em.op(scope, &format!("llvm.load {from} : !llvm.ptr -> {name}"));
            let wide = em.op(scope, &format!("vector.broadcast {single} : {name} to {}", types[0]));
            // The last vector may have fewer lanes. It goes first: after the others it would be made where the element of
            // the row lies, which is free then, and all sums would move from register to register.
            for (v, (column, ty)) in vector.iter().zip(&types).enumerate().rev() {
                let (lanes, at) = (t.all[v], row * vectors + v);
                let value = match lanes == t.all[0] {
                    true => wide.clone(),
                    false => em.op(
                        scope,
                        &format!(
                            "vector.extract_strided_slice {wide} {{offsets = [0], sizes = [{lanes}], strides = [1]}} : {} to {ty}",
                            types[0]
                        ),
                    ),
                };
                let into = &sums[at];
                if let Some(pairs) = c.pairs {
                    let factors = (value.as_str(), column.as_str());
                    next[at] = if t.inner.exact {
                        pairs.multiply_add_exactly(em, scope, factors, into, lanes)
                    } else {
                        pairs.multiply_add(em, scope, factors, into, lanes)?
                    };
                    continue;
                }
                if t.op == AccOp::Add && self.is_product(t.body) {
                    next[at] = self.multiply_add(em, scope, (&value, column), into, lanes);
                    continue;
                }
                // The values of this row and these columns are known here; the rest of the term is arithmetic.
                let part = em.open(scope, vec![(c.lane, String::new())], Some((c.lane, lanes)));
                em.seed(part, c.factors[0], Val { ssa: value.clone(), lanes });
                em.seed(part, c.factors[1], Val { ssa: column.clone(), lanes });
                let dtype = self.dag[c.node].dtype;
                next[at] = em.join_term(t.op, t.body, dtype, into, At { scope: part, lanes })?;
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
        (value, column): (&str, &str),
        into: &str,
        lanes: usize,
    ) -> String {
        let (elem, ty) = (self.sizes.elem, self.sizes.elem.ty(lanes));
        if elem != elem.int() {
            return em.op(scope, &format!("math.fma {value}, {column}, {into} : {ty}"));
        }
        let product = em.op(scope, &format!("arith.muli {value}, {column} : {ty}"));
        em.op(scope, &format!("arith.addi {into}, {product} : {ty}"))
    }

    /// The sums with so many terms of a group: rows at `a`, columns at `b`. What does not exist is zero.
    fn add_group(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (a, b): (&str, &str),
        (sums, ahead_of_row): (&[String], &[String]),
        (t, group, terms): (&Tile<'_>, Group, i64),
    ) -> Vec<String> {
        let elem = self.sizes.elem;
        let columns = self.first_of(em, scope, b, ((terms * group.apart) as usize, group.lanes));
        let width = (group.terms as usize).next_power_of_two();
        let narrow = elem.ty(width);
        let lane = |lane: usize| (lane as i64 / group.apart).min(group.terms - 1).to_string();
        let spread = (0..group.lanes).map(lane).collect::<Vec<_>>().join(", ");
        let mut next = Vec::new();
        for (row, sum) in sums.iter().enumerate() {
            let from = self.of_row(em, scope, a, (row, t.inner.reads), ahead_of_row);
            let some = self.first_of(em, scope, &from, (terms as usize, width));
            let value =
                em.op(scope, &format!("vector.shuffle {some}, {some} [{spread}] : {narrow}, {narrow}"));
            next.push(self.multiply_add(em, scope, (&value, &columns), sum, group.lanes));
        }
        next
    }

    /// The sums of the columns of all terms of a group, as a vector of columns.
    fn joined(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        sum: &str,
        (group, lanes): (Group, usize),
    ) -> String {
        let elem = self.sizes.elem;
        let (wide, ty) = (elem.ty(group.lanes), elem.ty(lanes));
        let add = if elem == elem.int() { "arith.addi" } else { "arith.addf" };
        let mut joined: Option<String> = None;
        for term in 0..group.terms {
            let lane =
                |lane: usize| (term * group.apart + lane as i64).min(group.lanes as i64 - 1).to_string();
            let list = (0..lanes).map(lane).collect::<Vec<_>>().join(", ");
            let part = em.op(scope, &format!("vector.shuffle {sum}, {sum} [{list}] : {wide}, {wide}"));
            joined = Some(match joined {
                Some(before) => em.op(scope, &format!("{add} {before}, {part} : {ty}")),
                None => part,
            });
        }
        joined.unwrap_or_else(|| sum.to_string())
    }
}
