//! Emits prefetches of the lines that gathers choose ([`crate::schedule::gathered_lines`]).

use crate::CodegenError;
use crate::code::{Op, Value};
use crate::expression::address::{Interval, Lin, LoopId};
use crate::expression::dag::{Buf, NodeId};
use crate::lower::emit::{At, Emitter, ScopeId};
use crate::lower::prefetch::prefetch;
use crate::machine::elem::Elem;
use crate::schedule::gathered_lines::{AHEAD, Chosen, ELEMENTS, LONG, later};
use crate::schedule::non_temporal::LINE;
use crate::schedule::prefetch::PrefetchHint;

/// Prefetches a line of so many bytes, as far as a page goes.
pub(crate) fn prefetch_bytes(
    em: &mut Emitter<'_>,
    scope: ScopeId,
    (start, bytes): (Value, i64),
    elem: Elem,
    what: PrefetchHint,
) {
    let prefetched = bytes.min(AHEAD);
    // A line of so many bytes ends where one of memory does, or has elements in one more.
    let ends = if prefetched % LINE == 0 || LINE % prefetched == 0 { None } else { Some(prefetched - 1) };
    for byte in (0..prefetched).step_by(LINE as usize).chain(ends) {
        prefetch(em, scope, (start, byte / elem.size() as i64), elem, what);
    }
}

impl Emitter<'_> {
    /// Prefetches the line that is chosen some positions later, where `offset` says which one is read here.
    pub(crate) fn prefetch_line(
        &mut self,
        (buf, pointer): (Buf, Value),
        (address, offset): (&Lin, NodeId),
        elem: Elem,
        at: At,
    ) -> Result<(), CodegenError> {
        let deps = self.dag[offset].deps;
        let home = self.home(at.scope, deps);
        let open = |_: &&Chosen| !self.prefetched_lines.contains(&(buf, offset, home));
        let chosen = self.lines.get(&(buf, offset)).filter(open);
        let Some(&Chosen { what, distance }) = chosen else { return Ok(()) };
        if self.lanes(home, deps) > 1 {
            return match distance {
                Some(distance) => self.prefetch_elements(pointer, (address, offset, distance), elem, at),
                None => Ok(()),
            };
        }
        if home == at.scope {
            return Ok(());
        }
        // The part of the address that is known, and what is read from there on.
        let (mut start, mut inner) = (address.clone(), address.clone());
        start.terms.retain(|t| self.is_bound(home, t.0));
        inner.terms.retain(|t| !self.is_bound(home, t.0));
        inner.offset = 0;
        let Some(Interval { low, high }) = inner.range(&self.dag.extents) else { return Ok(()) };
        let (size, span) = (elem.size() as i64, high - low + 1);
        if low < 0 || span as f64 > 2.0 * self.dag.points(inner.loops()) {
            return Ok(());
        }
        let bytes = span.saturating_mul(size);
        let Some((l, later)) = self.further(offset, home, bytes) else { return Ok(()) };
        let there = self.further_on(home, l, later, 1);
        let next = self.open(home, vec![(l, there)], None);
        let place = self.value(offset, next)?.ssa;
        let place = self.as_place(place, Elem::of(self.dag[offset].dtype), next);
        let start = self.lin(&start, next);
        let start = self.arith(next, "arith.addi", start, place);
        let start = self.element(pointer, start, elem, next);
        // Few short lines are under way to the first cache at the same time.
        let what = if bytes < LINE { PrefetchHint::Soon } else { what };
        prefetch_bytes(self, next, (start, bytes), elem, what);
        self.close_plain(next);
        self.prefetched_lines.insert((buf, offset, home));
        Ok(())
    }

    /// Prefetches the elements that lanes choose some positions later, each by itself. Not where all of them are near to
    /// those that are chosen here, as they are in sorted order.
    fn prefetch_elements(
        &mut self,
        pointer: Value,
        (address, offset, distance): (&Lin, NodeId, i64),
        elem: Elem,
        at: At,
    ) -> Result<(), CodegenError> {
        let At { scope, lanes } = at;
        let deps = self.dag[offset].deps;
        let Some((l, _)) = self.vector_loop(scope, deps).filter(|v| v.1 == lanes) else { return Ok(()) };
        // Not for what is left of a loop.
        if self.dag.extent(l) < LONG / 2 * ELEMENTS || self.mask(scope, deps).is_some() {
            return Ok(());
        }
        let there = self.further_on(scope, l, ELEMENTS, lanes);
        let next = self.open(scope, vec![(l, there)], Some((l, lanes)));
        let (own, further_on_at, places) = (at, At { scope: next, lanes }, Elem::of(self.dag[offset].dtype));
        let (here, there) = (self.value(offset, scope)?, self.value(offset, next)?);
        let (here, there) = (self.spread(&here, places, own), self.spread(&there, places, further_on_at));
        let moved = self.bin(further_on_at, "arith.subi", there, here, places);
        let [low, span] = [distance, 2 * distance].map(|n| self.constant(places, n as u64, lanes));
        let moved = self.bin(further_on_at, "arith.addi", moved, low, places);
        let far = self.cmpi(further_on_at, "ugt", moved, span, places);
        let any = self.op(next, Op::Reduction { kind: "or", vector: far, ty: Elem::I1.ty(lanes) });
        let prefetched = self.open(next, Vec::new(), None);
        let there = self.chosen_places(there, (address, places), At { scope: prefetched, lanes });
        let first = self.lin(address, next);
        let first = self.element(pointer, first, elem, prefetched);
        for place in self.each_lane(there, places, At { scope: prefetched, lanes }) {
            let element = self.element(first, place, elem, prefetched);
            prefetch(self, prefetched, (element, 0), elem, PrefetchHint::Soon);
        }
        self.close_if(prefetched, any);
        self.close_plain(next);
        Ok(())
    }

    /// So many positions further on in a loop, or the last of them that has as many lanes.
    fn further_on(&mut self, scope: ScopeId, l: LoopId, later: i64, lanes: usize) -> Value {
        let (step, last) = (self.int(later), self.int(self.dag.extent(l) - lanes as i64));
        let here = self.lin(&Lin::var(l), scope);
        let there = self.arith(scope, "arith.addi", here, step);
        self.arith(scope, "arith.minsi", there, last)
    }

    /// The loop along which lines of so many bytes are chosen until a page is under way, and how many positions that takes.
    /// What is beyond the end of a loop is prefetched by nobody, so it is long, if there is such a one.
    fn further(&self, offset: NodeId, home: ScopeId, bytes: i64) -> Option<(LoopId, i64)> {
        let deps = self.dag[offset].deps;
        let (mut run, mut short) = (bytes.max(1), None);
        for (l, _) in self.turns(home).filter(|turn| deps.contains(turn.0)) {
            let (extent, later) = (self.dag.extent(l), later(run));
            if extent >= LONG * later {
                return Some((l, later));
            }
            short = short.or((extent >= 2 * later).then_some((l, later)));
            run = run.saturating_mul(extent);
        }
        short
    }
}
