//! Emits stores that go past the caches, and rows from line to line of memory ([`crate::schedule::non_temporal`]).

use crate::CodegenError;
use crate::code::{Block, Op, Value};
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::Dag;
use crate::expression::output::Output;
use crate::lower::emit::{At, Bounds, Emitter, ScopeId, Val};
use crate::lower::prefetch::prefetch;
use crate::lower::row::Row;
use crate::lower::units::{TaskRange, clip};
use crate::machine::elem::{Elem, Type};
use crate::schedule::non_temporal::{LEAST, LINE, begin_alike, is_long, size};
use crate::schedule::prefetch::PrefetchHint;
use std::ops::Range;
use surject_kernel::Temporality;

/// Bytes between an end of a row and the one that is prefetched meanwhile.
const AHEAD: i64 = 4096;

impl Emitter<'_> {
    /// Stores a whole vector, past the caches if results go there and it does not lie across lines.
    pub(crate) fn put(&mut self, vector: Value, to: Value, (elem, lanes): (Elem, usize), scope: ScopeId) {
        let (ty, size) = (elem.ty(lanes), elem.size());
        let near = Op::aligned_store(vector, to, ty, size);
        let line = (lanes * size).min(LINE as usize);
        if !self.streams || line < LEAST || !line.is_power_of_two() {
            return self.run(scope, near);
        }
        let offset = self.within_line(to, line as i64, scope);
        let zero = self.int(0);
        let whole = self.compare(scope, "eq", offset, zero);
        let temporality = Temporality::NonTemporal;
        let past = Op::Store { value: vector, pointer: to, ty, alignment: Some(line), temporality };
        let [then, otherwise] = [past, near].map(Block::of);
        self.run(scope, Op::If { condition: whole, then, otherwise });
    }

    /// Where in a line, or a part of so many bytes, an address is.
    pub(crate) fn within_line(&mut self, pointer: Value, line: i64, scope: ScopeId) -> Value {
        let address = self.op(scope, Op::cast("llvm.ptrtoint", pointer, Type::Pointer, Type::I64));
        let within = self.int(line - 1);
        self.arith(scope, "arith.andi", address, within)
    }

    /// Ends a kernel whose results go past the caches: whoever is told that it has run finds them in memory.
    pub(crate) fn fence(&mut self) {
        if self.streams {
            self.run(self.root(), Op::intrinsic("llvm.x86.sse.sfence", [], None));
        }
    }
}

/// An end of a part of a row.
#[derive(Clone, Copy)]
enum End {
    First,
    Last,
}

/// A part of a line of results.
#[derive(Clone, Copy)]
struct Part {
    /// The first element of the loop, and the one behind its last.
    start: i64,
    end: i64,
    /// The elements of a line of a cache.
    line: i64,
}

impl Row<'_> {
    /// Is a part of the last loop done from line to line?
    pub(crate) fn is_shifted(&self, em: &Emitter<'_>, l: LoopId, start: i64, end: i64) -> bool {
        let Some(least) = self.schedule.shift else { return false };
        let alike = self.is_of_lines(em.dag, l, start, if em.streams { end } else { start });
        em.streams == self.schedule.streams && !alike && is_long(em.dag, self.outputs, end - start, least)
    }

    /// Do these parts of a row go past the caches? Not if one of them, larger than a line, has to go through them: its
    /// lines are fetched while the others wait, up to three times as long as if all went through.
    pub(crate) fn goes_past(&self, dag: &Dag, l: LoopId, parts: &[Range<i64>]) -> bool {
        let little = |part: &Range<i64>| {
            self.outputs.iter().all(|o| (part.end - part.start).saturating_mul(size(dag, o)) <= LINE)
        };
        let fits = |part: &Range<i64>| match self.schedule.shift {
            Some(least) => is_long(dag, self.outputs, part.end - part.start, least),
            None => false,
        };
        let of_lines = |part: &Range<i64>| self.is_of_lines(dag, l, part.start, part.end);
        parts.len() == 1 || parts.iter().all(|part| little(part) || fits(part) || of_lines(part))
    }

    /// Does a part of every row begin and end with a line?
    pub(crate) fn is_of_lines(&self, dag: &Dag, l: LoopId, start: i64, end: i64) -> bool {
        let whole = |o: &Output, at: i64| {
            at.saturating_mul(o.address.coeff(l)).saturating_mul(size(dag, o)) % LINE == 0
        };
        begin_alike(dag, self.outputs, l) && self.outputs.iter().all(|o| whole(o, start) && whole(o, end))
    }

    /// A part of the last loop from line to line of the first output. Its ends are vectors too, of which only the
    /// elements that belong there are stored.
    pub(crate) fn shifted(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        l: LoopId,
        range: &TaskRange,
        Range { start, end }: Range<i64>,
    ) -> Result<(), CodegenError> {
        let [output, ..] = self.outputs else {
            return Err(CodegenError::malformed("a kernel without an output"));
        };
        let elem = Elem::in_memory(em.dag[output.root].dtype);
        let line = LINE / elem.size() as i64;
        let Bounds { low, high, .. } = clip(em, scope, range, start..end, 1);
        let pointer = em.pointer(output.to)?;
        let [to, last] =
            [&low, &high].map(|at| em.corner(pointer, (&output.address, elem), vec![(l, *at)], scope));
        // The lines that are stored in part are there when the others are stored, which would wait for them.
        let size = elem.size() as i64;
        let around =
            self.schedule.order.iter().rev().nth(1).map_or(0, |&around| output.address.coeff(around));
        let offset = if around > 0 { (AHEAD / (around * size) + 1) * around } else { 0 };
        prefetch(em, scope, (last, offset - 1), elem, PrefetchHint::Write);
        if !self.is_of_lines(em.dag, l, start, start) {
            prefetch(em, scope, (to, offset), elem, PrefetchHint::Write);
        }
        let within = em.within_line(to, LINE, scope);
        let (all, size) = (em.int(LINE), em.int(size));
        let bytes = em.arith(scope, "arith.subi", all, within);
        let bytes = em.arith(scope, "arith.remui", bytes, all);
        let head = em.arith(scope, "arith.divui", bytes, size);
        let head = em.arith(scope, "arith.addi", low, head);
        let first = em.arith(scope, "arith.minsi", head, high);
        self.end(em, scope, l, (low, first), Part { start, end, line }, End::First)?;
        let mut from = first;
        // Past the caches goes no part of a line: what is left of the last one goes through them.
        let whole = (self.schedule.lanes as i64).max(if em.streams { line } else { 1 });
        for lanes in std::iter::once(whole).chain((whole > line).then_some(line)) {
            let step = em.int(lanes);
            let left = em.arith(scope, "arith.subi", high, from);
            let rest = em.arith(scope, "arith.remsi", left, step);
            let stop = em.arith(scope, "arith.subi", high, rest);
            let (inner, iv) = em.open_loop(scope, l, lanes as usize);
            em.limit(inner, l, start, end);
            self.point(em, inner)?;
            em.close_loop(inner, iv, &Bounds { low: from, high: stop, step }, &[]);
            from = stop;
        }
        self.end(em, scope, l, (from, high), Part { start, end, line }, End::Last)
    }

    /// The elements `from..to` of the last loop, fewer than a line has: a vector of which the others do not exist.
    fn end(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        l: LoopId,
        (from, to): (Value, Value),
        Part { start, end, line }: Part,
        which: End,
    ) -> Result<(), CodegenError> {
        let some = em.compare(scope, "slt", from, to);
        let lanes = line as usize;
        // The vector is one line: what it would store nothing of is not fetched.
        let (begin, bound, holds) = match which {
            End::First => {
                let line = em.int(line);
                (em.arith(scope, "arith.subi", to, line), from, "sge")
            }
            End::Last => (from, to, "slt"),
        };
        let part = em.open(scope, vec![(l, begin)], Some((l, lanes)));
        em.limit(part, l, start, end);
        let at = At { scope: part, lanes };
        let numbers = em.lin_vector(&Lin::var(l), Elem::I64, at);
        let bound = em.spread(&Val { ssa: bound, lanes: 1 }, Elem::I64, at);
        let there = em.cmpi(At { scope: part, lanes }, holds, numbers, bound, Elem::I64);
        em.exist(part, there);
        self.point(em, part)?;
        em.close_if(part, some);
        Ok(())
    }
}
