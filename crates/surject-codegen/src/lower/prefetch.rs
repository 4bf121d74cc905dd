//! Emits prefetches.

use crate::code::{Op, Prefetched, Value};
use crate::lower::emit::{Emitter, ScopeId};
use crate::machine::elem::Elem;
use crate::schedule::gathered_lines::AHEAD;
use crate::schedule::written::LINE;

/// Prefetches a line of so many bytes into a cache, as far as a page goes.
pub(crate) fn prefetch_bytes(
    em: &mut Emitter<'_>,
    scope: ScopeId,
    (start, bytes): (Value, i64),
    elem: Elem,
    into: Prefetched,
) {
    let prefetched = bytes.min(AHEAD);
    // A line of so many bytes ends where one of memory does, or has elements in one more.
    let ends = if prefetched % LINE == 0 || LINE % prefetched == 0 { None } else { Some(prefetched - 1) };
    for byte in (0..prefetched).step_by(LINE as usize).chain(ends) {
        let offset = em.int(byte / elem.size() as i64);
        let at = em.element(start, offset, elem, scope);
        em.run(scope, Op::Prefetch(at, into));
    }
}
