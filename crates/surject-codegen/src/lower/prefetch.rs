//! Emits prefetches ([`crate::schedule::prefetch`]).

use crate::code::{Op, Prefetched, Value};
use crate::expression::address::{Guard, GuardFact, Lin, LoopId};
use crate::expression::dag::{Buf, NodeId};
use crate::lower::emit::{At, Emitter, ScopeId};
use crate::machine::elem::Elem;
use crate::schedule::non_temporal::LINE;
use crate::schedule::prefetch::{BYTES, Move, PrefetchHint, REVERSED, When, elements_ahead};
use std::ops::Range;

impl Emitter<'_> {
    /// Prefetches what a load will read, if that is far away.
    pub(crate) fn prefetch_load(
        &mut self,
        (buf, pointer): (Buf, Value),
        (address, guards): (&Lin, &[Guard]),
        elem: Elem,
        at: At,
    ) {
        let there = |g: &Guard| self.fact(g, at.scope) == GuardFact::Always;
        if !guards.iter().all(there) {
            return;
        }
        let of = |pass: Option<NodeId>| self.far.get(&(pass, buf, address.clone()));
        let when = if self.passes.is_empty() {
            of(None)
        } else {
            self.passes.iter().find_map(|&pass| of(Some(pass)))
        };
        let Some(&(when, again)) = when.filter(|w| self.prefetches || w.0 != When::Soon) else { return };
        // The last of a window is what nothing has read before.
        let last = |&(l, c): &(LoopId, i64)| match self.fixed(l, at.scope) {
            Some(value) => value == if c < 0 { 0 } else { self.dag.extent(l) - 1 },
            None => true,
        };
        let known = address.terms.iter().any(|t| self.fixed(t.0, at.scope).is_some());
        if again && !(known && address.terms.iter().all(last)) {
            return;
        }
        let what = if self.prefetches || !matches!(when, When::Rows(_)) {
            PrefetchHint::Now
        } else {
            PrefetchHint::Soon
        };
        self.prefetch_address(pointer, (address, when, what), elem, at);
    }

    /// Is this what the reduction at hand reads from far away?
    pub(crate) fn is_far(&self, address: &Lin) -> bool {
        self.far.keys().any(|(pass, _, at)| at == address && pass.is_some_and(|p| self.passes.contains(&p)))
    }

    /// Prefetches what will be stored, if that is far away and goes through the caches: a line that is not there is
    /// fetched before it is stored into.
    pub(crate) fn prefetch_store(&mut self, (buf, pointer): (Buf, Value), address: &Lin, elem: Elem, at: At) {
        if self.prefetches && !self.streams && self.far_stores.contains(&buf) {
            self.prefetch_address(pointer, (address, When::Soon, PrefetchHint::Write), elem, at);
        }
    }

    fn prefetch_address(
        &mut self,
        pointer: Value,
        (address, when, what): (&Lin, When, PrefetchHint),
        elem: Elem,
        at: At,
    ) {
        let size = elem.size() as i64;
        let lane = self.vector_loop(at.scope, address.loops()).map(|v| v.0);
        let stride = |address: &Lin| lane.map_or(0, |l| address.coeff(l));
        let width = stride(address).abs().checked_mul((at.lanes as i64 - 1) * size);
        let Some(bytes) = width.map(|b| b + size).filter(|bytes| BYTES.contains(bytes)) else { return };
        let later = match when {
            When::Reversed => self.reversed(address, bytes, size, at),
            _ => self.later(address, bytes, size, when, at).map(|offset| (address.clone(), offset)),
        };
        let Some((address, offset)) = later else { return };
        let (base, stride) = (self.lin(&address, at.scope), stride(&address));
        let base = self.element(pointer, base, elem, at.scope);
        for line in 0..(bytes + LINE - 1) / LINE {
            let Some(offset) = offset.checked_add(stride.signum() * line * LINE / size) else { return };
            prefetch(self, at.scope, (base, offset), elem, what);
        }
    }

    /// Where what is read now would be in the next row, if that were read from its start, and how far on that is.
    fn reversed(&self, address: &Lin, bytes: i64, size: i64, at: At) -> Option<(Lin, i64)> {
        let (mut run, mut reversed) = (bytes, address.clone());
        for (l, step) in self.turns(at.scope) {
            let c = address.coeff(l);
            let jump = c.checked_mul(step)?;
            if c == 0 {
                continue;
            }
            if reversed != *address && REVERSED.contains(&run) {
                return Some((reversed, jump));
            }
            if jump.checked_mul(size)?.abs() > run {
                return None;
            }
            if c < 0 {
                let Range { start, end } = self.span(l, at.scope);
                let ends = c.checked_mul(start.checked_add(end - 1)?)?;
                reversed = reversed.plus(&Lin::constant(ends), 1)?.plus(&Lin::var(l), c.checked_mul(-2)?)?;
            }
            run = run.max(c.abs().checked_mul(self.dag.extent(l))?.checked_mul(size)?);
        }
        None
    }

    /// How many elements further on an address is when so many bytes have been read: along the loops in which it moves,
    /// innermost first, as long as they have that many iterations.
    fn later(&self, address: &Lin, bytes: i64, size: i64, when: When, at: At) -> Option<i64> {
        let turns = self.turns(at.scope);
        let moves =
            turns.map(|(l, step)| Move { stride: address.coeff(l), step, extent: self.dag.extent(l) });
        elements_ahead(moves, (bytes, size), when, self.prefetches_next_row)
    }
}

/// Prefetches the memory so many elements after an address, to be written or read, into the first or the second cache.
pub(crate) fn prefetch(
    em: &mut Emitter<'_>,
    scope: ScopeId,
    (base, offset): (Value, i64),
    elem: Elem,
    what: PrefetchHint,
) {
    let offset = em.int(offset);
    let at = em.element(base, offset, elem, scope);
    let prefetched = match what {
        PrefetchHint::Write => Prefetched::Written(3),
        PrefetchHint::Now => Prefetched::Read(3),
        PrefetchHint::Soon => Prefetched::Read(2),
    };
    em.run(scope, Op::Prefetch(at, prefetched));
}
