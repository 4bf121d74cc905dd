//! Emits rows that are interleaved in vectors ([`crate::schedule::interleave`]): chunks are loaded once for a block of rows,
//! and shuffles pick the lanes.

use crate::CodegenError;
use crate::code::{Elements, Op, Value};
use crate::expression::address::{Guard, GuardFact, Interval, Lin};
use crate::expression::dag::Node;
use crate::lower::emit::{At, Emitter, ScopeId, Val};
use crate::lower::outer_vector::{ElementOf, Rows};
use crate::lower::row::Row;
use crate::lower::units::{TaskRange, clip};
use crate::machine::elem::Elem;
use crate::schedule::interleave::{Interleave, Interleaved, Leaf};
use std::ops::Range;
use surject_ir::DType;

/// What a leaf has ready for the vectors of a block.
enum Ready {
    /// Vectors of so many elements in memory, where each begins, and what holds a lane's element.
    Chunks { scope: ScopeId, vectors: Vec<Value>, width: usize, starts: Vec<i64> },
    /// Nothing that counts.
    Nothing,
    /// It is made vector by vector.
    Pattern,
}

impl Row<'_> {
    /// The loop over short rows: whole blocks, then the rows that are left.
    pub(crate) fn interleave(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (interleave, interleaved): (&Interleave, &Interleaved),
        range: &TaskRange,
        parts: Vec<Range<i64>>,
    ) -> Result<(), CodegenError> {
        for Range { start, end } in parts {
            let main = end - (end - start) % interleave.rows;
            for (low, high, rows) in [(start, main, interleave.rows), (main, end, end - main)] {
                if low == high {
                    continue;
                }
                let bounds = clip(em, scope, range, low..high, rows);
                let (inner, iv) = em.open_loop(scope, interleave.row, 1);
                em.limit(inner, interleave.row, start, end);
                self.interleaved_block(em, inner, (interleave, interleaved), (iv, rows))?;
                em.close_loop(inner, iv, &bounds, &[]);
            }
        }
        Ok(())
    }

    /// A block of rows, vector by vector.
    fn interleaved_block(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (interleave, interleaved): (&Interleave, &Interleaved),
        (first, rows): (Value, i64),
    ) -> Result<(), CodegenError> {
        let mut ready = Vec::new();
        for (_, leaf) in &interleaved.leaves {
            ready.push(em.ready(scope, interleave, leaf, rows)?);
        }
        let width = em.int(interleave.width);
        let base = em.arith(scope, "arith.muli", first, width);
        let row = Row { outputs: &interleaved.outputs, schedule: self.schedule, interleaved: None };
        let (mut at, all) = (0, rows * interleave.width);
        while at < all {
            let Piece { lanes, active } = piece(all - at, interleave.lanes as i64);
            let offset = em.int(at);
            let place = em.arith(scope, "arith.addi", base, offset);
            let part = em.open(scope, vec![(interleaved.run, place)], Some((interleaved.run, lanes)));
            em.activate(part, active, lanes);
            for ((node, leaf), ready) in interleaved.leaves.iter().zip(&ready) {
                let ssa = em.lanes_of(part, interleave, (leaf, ready), at, at + active as i64, lanes)?;
                em.seed(part, *node, Val { ssa, lanes });
            }
            row.point(em, part)?;
            em.close_plain(part);
            at += active as i64;
        }
        Ok(())
    }
}

/// A vector of a block.
struct Piece {
    lanes: usize,
    /// The lanes that have elements.
    active: usize,
}

/// The next vector of so many elements that are left.
fn piece(left: i64, lanes: i64) -> Piece {
    if left >= lanes {
        return Piece { lanes: lanes as usize, active: lanes as usize };
    }
    let whole = 1 << left.ilog2();
    // Two vectors that are full are better than one that is not.
    let full = left.count_ones() <= 2 && whole > 1 && left - whole != 1;
    let lanes = if full { whole } else { (left as u64).next_power_of_two().max(2) as i64 };
    Piece { lanes: lanes as usize, active: left.min(lanes) as usize }
}

impl Emitter<'_> {
    /// Loads what the vectors of a block of so many rows are put together of.
    fn ready(
        &mut self,
        scope: ScopeId,
        interleave: &Interleave,
        leaf: &Leaf,
        rows: i64,
    ) -> Result<Ready, CodegenError> {
        let Leaf::Load(load) = leaf else { return Ok(Ready::Pattern) };
        let Node::Load { buf, address, guards } = &self.dag[*load].node else { return Err(malformed()) };
        let (_, others) = interleave.sorted(guards).ok_or_else(malformed)?;
        let mut first = interleave.outside(address);
        if address.coeff(interleave.row) != 0 {
            first =
                first.plus(&Lin::var(interleave.row), address.coeff(interleave.row)).ok_or_else(malformed)?;
        }
        // What is known of a condition is asked where the vectors are loaded: further in more may be known.
        let deps = others.iter().fold(first.loops(), |deps, g| deps.union(g.expr.loops()));
        let home = self.home(scope, deps);
        let facts: Vec<GuardFact> = others.iter().map(|g| self.fact(g, home)).collect();
        let reach = interleave.reach(self.dag, address, guards, rows).ok_or_else(malformed)?;
        let Some(Interval { low, high }) = reach.filter(|_| !facts.contains(&GuardFact::Never)) else {
            return Ok(Ready::Nothing);
        };
        let open = others.into_iter().zip(facts).filter(|(_, fact)| *fact == GuardFact::Sometimes);
        let open: Vec<Guard> = open.map(|(guard, _)| guard).collect();
        let elem = Elem::in_memory(self.dag[*load].dtype);
        let (pointer, mut place) = (self.pointer(*buf)?, self.lin(&first, home));
        if !open.is_empty() {
            // Where none of it is there, what is loaded begins with the tensor ([`Emitter::held_inside`]).
            let at = At { scope: home, lanes: 1 };
            let (holds, start) = (self.predicate(&open, at).ssa, self.int(-low));
            place = self.select(at, holds, place, start, Elem::I64);
        }
        let first = self.element(pointer, place, elem, home);
        // The last vector ends with the last element.
        let count = high - low + 1;
        let width = (interleave.lanes as i64).min((count as u64).next_power_of_two().max(2) as i64);
        let starts: Vec<i64> =
            (0..(count + width - 1) / width).map(|k| (k * width).min((count - width).max(0))).collect();
        let rows = Rows { first, stride: 1, reach: count, elem };
        let mut vectors = Vec::new();
        for start in &starts {
            let there = count.min(width) as usize;
            let at = At { scope: home, lanes: width as usize };
            vectors.push(if open.is_empty() {
                self.part(&rows, low + start, width as usize, there, at)
            } else {
                self.part_inside(&rows, low + start, there, &open, at)
            });
        }
        let starts = starts.iter().map(|s| low + s).collect();
        Ok(Ready::Chunks { scope: home, vectors, width: width as usize, starts })
    }

    /// A part of what lies in memory, where conditions hold that are the same for all lanes.
    fn part_inside(&mut self, rows: &Rows, offset: i64, there: usize, guards: &[Guard], at: At) -> Value {
        let holds = self.predicate(guards, At { lanes: 1, ..at });
        let mut mask = self.spread(&holds, Elem::I1, at);
        if there < at.lanes {
            let first = self.first_lanes(there, at.lanes);
            mask = self.op(at.scope, Op::same("arith.andi", [mask, first], Elem::I1.ty(at.lanes)));
        }
        let offset = self.int(offset);
        let from = self.element(rows.first, offset, rows.elem, at.scope);
        self.neighbours(from, Some(mask), (rows.elem, at.lanes), at.scope)
    }

    /// A leaf at the points `from..to` of a run, in so many lanes.
    fn lanes_of(
        &mut self,
        scope: ScopeId,
        interleave: &Interleave,
        (leaf, ready): (&Leaf, &Ready),
        from: i64,
        to: i64,
        lanes: usize,
    ) -> Result<Value, CodegenError> {
        let number = |lane: usize| (from + lane as i64).min(to - 1);
        match leaf {
            Leaf::Inside(guards) => {
                let none = Lin::default();
                let inside = |lane| interleave.contribution(self.dag, &none, guards, number(lane)).is_some();
                let list = (0..lanes).map(|lane| inside(lane).into()).collect();
                Ok(self.literal(Elem::I1, Elements::Each(list)))
            }
            Leaf::Index(node) => {
                let (dtype, dag) = (self.dag[*node].dtype, self.dag);
                let Node::Index(lin) = &dag[*node].node else { return Err(malformed()) };
                let small = lin.range(&dag.extents).is_some_and(Interval::is_of_i32);
                let narrow = dtype.is_int() && dtype.size() <= 4;
                let between = if small { DType::I32 } else { DType::I64 };
                let elem = Elem::of(if narrow { dtype } else { between });
                let mut first = lin.clone();
                first.terms.retain(|t| !interleave.along.contains(&t.0));
                let list: Vec<i64> = (0..lanes)
                    .filter_map(|lane| interleave.contribution(dag, lin, &[], number(lane)))
                    .collect();
                let offset = self.numbers(elem, &list);
                let base = self.lin_vector(&first, elem, At { scope, lanes: 1 });
                let at = At { scope, lanes };
                let base = self.spread(&Val { ssa: base, lanes: 1 }, elem, at);
                let all = self.op(scope, Op::same("arith.addi", [base, offset], elem.ty(lanes)));
                Ok(if narrow { all } else { self.convert(at, between, dtype, all) })
            }
            Leaf::Load(node) => {
                let dtype = self.dag[*node].dtype;
                let Ready::Chunks { scope: home, vectors, width, starts } = ready else {
                    return Ok(self.constant(Elem::of(dtype), 0, lanes));
                };
                let dag = self.dag;
                let Node::Load { address, guards, .. } = &dag[*node].node else { return Err(malformed()) };
                let (inside, _) = interleave.sorted(guards).ok_or_else(malformed)?;
                let place = |lane: usize| {
                    let position = interleave.contribution(dag, address, &inside, number(lane))?;
                    let vector = starts.iter().rposition(|&start| start <= position)?;
                    Some(ElementOf { vector, element: (position - starts[vector]) as usize })
                };
                let places: Vec<Option<ElementOf>> = (0..lanes).map(place).collect();
                let at = At { scope: *home, lanes };
                let raw = self.picked(vectors, *width, &places, Elem::in_memory(dtype), at);
                Ok(self.widen(dtype, raw, at))
            }
        }
    }

    /// Lanes that are elements of vectors of so many; lanes without a place may hold anything.
    fn picked(
        &mut self,
        vectors: &[Value],
        width: usize,
        places: &[Option<ElementOf>],
        elem: Elem,
        at: At,
    ) -> Value {
        let Some(any) = places.iter().copied().flatten().next() else {
            return self.constant(elem, 0, at.lanes);
        };
        let mut all: Vec<ElementOf> = places.iter().map(|p| p.unwrap_or(any)).collect();
        if all.iter().all(|p| p.vector == any.vector) {
            let order: Vec<i64> = all.iter().map(|p| p.element as i64).collect();
            if width == at.lanes && order.iter().enumerate().all(|(i, &e)| i as i64 == e) {
                return vectors[any.vector];
            }
            return self.shuffled(
                (vectors[any.vector], vectors[any.vector]),
                &order,
                (elem, width),
                at.scope,
            );
        }
        all.resize(width.max(at.lanes), any);
        let wide = self.collect(vectors, &all, elem, At { lanes: width, ..at });
        if width == at.lanes {
            return wide;
        }
        let order: Vec<i64> = (0..at.lanes as i64).collect();
        self.shuffled((wide, wide), &order, (elem, width), at.scope)
    }
}

fn malformed() -> CodegenError {
    CodegenError::malformed("short rows of something that is not loaded")
}
