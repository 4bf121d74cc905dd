//! Emits tiles that visit only a part of their space ([`crate::schedule::contraction::triangle`]).

use crate::CodegenError;
use crate::code::{Op, Value};
use crate::expression::dag::NodeId;
use crate::expression::stored_tail::Side;
use crate::expression::tail::{Edge, Tail};
use crate::lower::contraction::panels::{From, OpenTile, Part, Pass};
use crate::lower::contraction::{Tiles, direct};
use crate::lower::emit::{At, Bounds, Carried, Emitter, ScopeId};
use crate::machine::elem::{Elem, Type};
use crate::schedule::contraction::triangle::row_digit;
use surject_ir::Scalar;

/// What the tiles of some rows need: the names of numbers.
pub(crate) struct Needed {
    /// The columns that depend on the sum: from the first to before the second.
    columns: Option<[Value; 2]>,
    /// The terms that count where the other factor is finite, likewise.
    terms: Option<[Value; 2]>,
}

impl Tiles<'_> {
    /// Do packed columns say whether they are finite?
    pub(crate) fn has_marks(&self) -> bool {
        self.c.triangle.has_marks(self.dag[self.c.node].dtype)
    }

    /// Can tiles leave out terms: are those of the columns known to be finite, or not floats, and do terms lie in one loop?
    pub(crate) fn can_skip_terms(&self) -> bool {
        let marked = self.has_marks() && self.in_place.is_none() && !self.fresh;
        let exact = !self.dag[self.c.node].dtype.is_float();
        let nested = self.in_place.as_ref().is_some_and(|p| p.nested.is_some());
        let plain = self.windows.as_ref().is_none_or(|w| w.always && w.reads.nest.len() == 1);
        !self.c.triangle.terms.is_empty() && (marked || exact) && plain && !nested
    }

    /// What the tiles of the rows from `row_iv` on need; `None`: everything.
    pub(crate) fn needed(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        part: &Part<'_>,
        row_iv: Value,
    ) -> Result<Option<Needed>, CodegenError> {
        let (s, triangle) = (&self.sizes, &self.c.triangle);
        let skips_terms = self.can_skip_terms();
        if triangle.columns.is_empty() && !skips_terms {
            return Ok(None);
        }
        let distance = self.times(em, scope, row_iv, s.high);
        let first = em.arith(scope, "arith.addi", part.first_row, distance);
        let (high, one) = (em.int(s.high), em.int(1));
        let end = em.arith(scope, "arith.addi", first, high);
        let all = em.arith(scope, "arith.addi", part.first_row, part.here);
        let end = em.arith(scope, "arith.minsi", end, all);
        let last = em.arith(scope, "arith.subi", end, one);
        let rows = [first, last];
        let columns = (!triangle.columns.is_empty())
            .then(|| self.bounds(em, scope, &rows, (&triangle.columns, self.dag.extent(self.c.lane))));
        let terms = match skips_terms {
            true => Some(self.terms_of_rows(em, scope, &rows)?),
            false => None,
        };
        Ok(Some(Needed { columns, terms }))
    }

    /// Where what tails leave of a loop begins and ends, for all rows from the first of these to the last.
    fn bounds(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        rows: &[Value; 2],
        (tails, extent): (&[Tail], i64),
    ) -> [Value; 2] {
        let mut bounds = [em.int(0), em.int(extent)];
        for tail in tails {
            let edge = self.edge(em, scope, rows, (&tail.edge, tail.side, extent));
            bounds[usize::from(tail.side == Side::After)] = edge;
        }
        bounds
    }

    /// Where the tail that all these rows share begins, or ends, between 0 and the extent of the loop.
    fn edge(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        [first, last]: &[Value; 2],
        (edge, side, extent): (&Edge, Side, i64),
    ) -> Value {
        let own = row_digit(self.c, edge);
        let (mut sum, mut together) = (em.int(edge.offset), None);
        for digit in &edge.digits {
            let modulus = em.int(digit.modulus);
            let whole = digit.modulus == self.dag.extent(digit.l);
            let at = if own == Some(*digit) {
                let [low, high] = [first, last].map(|row| match whole && self.c.rows.len() == 1 {
                    true => *row,
                    false => {
                        let all = em.int(self.dag.extent(digit.l));
                        let row = em.arith(scope, "arith.remui", *row, all);
                        em.arith(scope, "arith.remui", row, modulus)
                    }
                });
                let rows = em.arith(scope, "arith.subi", *last, *first);
                let digits = em.arith(scope, "arith.subi", high, low);
                together = Some(em.compare(scope, "eq", rows, digits));
                // The tail of all rows is that of the row where it is the shortest.
                if (digit.coeff > 0) == (side == Side::After) { high } else { low }
            } else {
                em.digit(scope, digit)
            };
            let term = self.times(em, scope, at, digit.coeff);
            sum = em.arith(scope, "arith.addi", sum, term);
        }
        let (zero, all) = (em.int(0), em.int(extent));
        sum = em.arith(scope, "arith.maxsi", sum, zero);
        sum = em.arith(scope, "arith.minsi", sum, all);
        // Rows on both sides of a step of the loop around share no tail.
        match together {
            Some(together) => {
                let none = if side == Side::After { all } else { zero };
                em.pick_number(scope, together, sum, none)
            }
            None => sum,
        }
    }

    /// The terms that count for some rows: in the tails outside the factor of the rows is zero.
    fn terms_of_rows(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        rows: &[Value; 2],
    ) -> Result<[Value; 2], CodegenError> {
        /// Whole lines of columns.
        const STEP: i64 = 16;
        let s = &self.sizes;
        let mut bounds = [em.int(0), em.int(s.sum)];
        let step = em.int(STEP);
        for tail in &self.c.triangle.terms {
            let after = tail.side == Side::After;
            let edge = self.edge(em, scope, rows, (&tail.edge, tail.side, s.sum));
            let (none, up) = (bounds[usize::from(after)], em.int(if after { STEP - 1 } else { 0 }));
            let edge = em.arith(scope, "arith.addi", edge, up);
            let edge = em.arith(scope, "arith.divui", edge, step);
            let edge = em.arith(scope, "arith.muli", edge, step);
            // A position in the tail, which all rows have if there is one.
            let (predicate, back) = if after { ("slt", 0) } else { ("sgt", 1) };
            let some = em.compare(scope, predicate, edge, none);
            let back = em.int(back);
            let at = em.arith(scope, "arith.subi", edge, back);
            let bound = match tail.value.is_some_and(|value| value == Scalar::zero(value.dtype())) {
                true => em.pick_number(scope, some, edge, none),
                false => {
                    let looking = em.open(scope, Vec::new(), None);
                    let zeros = self.are_zero(em, looking, rows, at)?;
                    let bound = em.pick_number(looking, zeros, edge, none);
                    em.close_either(looking, some, Type::I64, bound, none)
                }
            };
            bounds[usize::from(after)] = bound;
        }
        Ok(bounds)
    }

    /// Is the factor of the rows zero at a position of the sum, in all rows from the first of these to the last?
    fn are_zero(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        [first, last]: &[Value; 2],
        at: Value,
    ) -> Result<Value, CodegenError> {
        let factor: NodeId = self.c.factors[0];
        let (row, iv) = (em.open(scope, Vec::new(), None), em.name());
        let digit = self.bind_rows(em, row, iv);
        if let Some(&last) = self.c.rows.last() {
            em.bind(row, last, digit);
        }
        for &l in &self.c.sum {
            let at = if self.dag.extent(l) > 1 { at } else { em.int(0) };
            em.bind(row, l, at);
        }
        let value = em.value(factor, row)?.ssa;
        let elem = Elem::of(self.dag[factor].dtype);
        let zero = em.scalar(Scalar::zero(self.dag[factor].dtype), 1);
        let holds = em.equal(row, value, zero, elem);
        let (name, yes) = (em.name(), em.constant(Elem::I1, 1, 1));
        let next = em.bin(At { scope: row, lanes: 1 }, "arith.andi", name, holds, Elem::I1);
        let one = em.int(1);
        let end = em.arith(scope, "arith.addi", *last, one);
        let carried = [Carried { name, init: yes, ty: Type::I1, next }];
        let bounds = Bounds { low: *first, high: end, step: one };
        Ok(em.close_loop(row, iv, &bounds, &carried).swap_remove(0))
    }

    /// The sums of a tile, of which only some may be needed.
    pub(crate) fn needed_sums(
        &self,
        em: &mut Emitter<'_>,
        at: &OpenTile,
        needed: &Needed,
        from: &From,
        to: &direct::Target,
    ) -> Result<(), CodegenError> {
        let part = em.open(at.column, Vec::new(), None);
        let inside = at.inside(part);
        match &needed.terms {
            Some(terms) => {
                let (from, count) = self.terms_that_count(em, part, terms, from);
                self.sums(em, &inside, (Pass::Whole, Some(count)), &from, to)?;
            }
            None => self.sums(em, &inside, (Pass::Whole, None), from, to)?,
        }
        let Some([first, end]) = &needed.columns else {
            em.close_plain(part);
            return Ok(());
        };
        let scope = at.column;
        let base = self.times(em, scope, at.panel, self.sizes.width);
        let width = em.int(self.sizes.width);
        let behind = em.arith(scope, "arith.addi", base, width);
        let low = em.compare(scope, "slt", base, *end);
        let high = em.compare(scope, "sgt", behind, *first);
        let holds = em.bin(At { scope, lanes: 1 }, "arith.andi", low, high, Elem::I1);
        em.close_if(part, holds);
        Ok(())
    }

    /// Where the terms that count begin, and how many there are.
    fn terms_that_count(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        [low, high]: &[Value; 2],
        from: &From,
    ) -> (From, Value) {
        let s = &self.sizes;
        let (mut low, mut high) = (*low, *high);
        let stride = self.in_place.as_ref().map_or(s.width, |p| p.stride);
        if self.has_marks() {
            let finite = self.is_finite(em, scope, from.columns);
            let (none, all) = (em.int(0), em.int(s.sum));
            low = em.pick_number(scope, finite, low, none);
            high = em.pick_number(scope, finite, high, all);
        }
        let behind = self.times(em, scope, low, stride);
        let columns = self.offset(em, scope, from.columns, behind);
        let behind = self.times(em, scope, low, s.high);
        let rows = self.offset(em, scope, from.rows, behind);
        let place = from.place.as_ref().zip(self.windows.as_ref()).map(|(place, windows)| {
            let by = windows.reads.nest.last().map_or(0, |terms| terms.stride);
            let behind = self.times(em, scope, low, by);
            place.beginning(self.offset(em, scope, place.from, behind))
        });
        let count = em.arith(scope, "arith.subi", high, low);
        (From { rows, columns, place }, count)
    }

    /// What a panel of columns says behind its end: zero where all it holds is finite.
    fn mark(&self, em: &mut Emitter<'_>, scope: ScopeId, panel: Value) -> Value {
        let behind = em.int(self.sizes.sum * self.sizes.width);
        self.offset(em, scope, panel, behind)
    }

    fn is_finite(&self, em: &mut Emitter<'_>, scope: ScopeId, panel: Value) -> Value {
        let elem = self.sizes.elem;
        let mark = self.mark(em, scope, panel);
        let value = em.op(scope, Op::load(mark, elem.ty(1)));
        let zero = em.scalar(Scalar::zero(self.dag[self.c.node].dtype), 1);
        em.cmpf(At { scope, lanes: 1 }, "oeq", value, zero, elem)
    }

    /// Marks packed panels with these numbers, the first of which lies at `to`: zero times each of their elements, summed.
    pub(crate) fn mark_panels(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (from, until): (Value, Value),
        to: Value,
    ) -> Result<(), CodegenError> {
        let (s, lanes) = (&self.sizes, self.c.tile.lanes);
        let (ty, size) = (s.elem.ty(lanes), s.elem.size());
        let (panel, iv) = (em.open(scope, Vec::new(), None), em.name());
        let number = em.arith(panel, "arith.subi", iv, from);
        let start = self.times(em, panel, number, s.column_panel());
        let place = self.offset(em, panel, to, start);
        let (inner, position) = (em.open(panel, Vec::new(), None), em.name());
        let at = self.offset(em, inner, place, position);
        let value = em.op(inner, Op::aligned_load(at, ty, size));
        let zero = em.scalar(Scalar::zero(self.dag[self.c.node].dtype), lanes);
        let name = em.name();
        let next = em.op(inner, Op::same("math.fma", [value, zero, name], ty));
        let bounds = em.whole(0, s.sum * s.width, lanes as i64);
        let carried = [Carried { name, init: zero, ty, next }];
        let sum = em.close_loop(inner, position, &bounds, &carried).swap_remove(0);
        let at = At { scope: panel, lanes };
        let sum = em.horizontal(surject_ir::AccOp::Add, self.dag[self.c.node].dtype, sum, at)?;
        let mark = self.mark(em, panel, place);
        em.run(panel, Op::store(sum, mark, s.elem.ty(1)));
        let bounds = Bounds { low: from, high: until, step: em.int(1) };
        em.close_loop(panel, iv, &bounds, &[]);
        Ok(())
    }
}
