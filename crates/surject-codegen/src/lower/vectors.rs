//! Parts of vectors, and vectors of parts: shuffles, which have an operation of their own further down.

use crate::code::{Op, Value};
use crate::lower::emit::{Emitter, ScopeId};
use crate::machine::elem::Elem;

/// A vector of so many lanes, of which the first are active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lanes {
    pub(crate) active: usize,
    pub(crate) lanes: usize,
}

impl Lanes {
    /// All lanes are active.
    pub(crate) fn all(lanes: usize) -> Lanes {
        Lanes { active: lanes, lanes }
    }

    /// The least vector that has so many lanes: two or more, a power of two.
    pub(crate) fn holding(active: usize) -> Lanes {
        Lanes { active, lanes: active.next_power_of_two().max(2) }
    }
}

impl Emitter<'_> {
    /// The mask of the active lanes, where not all are.
    pub(crate) fn active_lanes(&mut self, Lanes { active, lanes }: Lanes) -> Option<Value> {
        (active < lanes).then(|| self.first_lanes(active, lanes))
    }

    /// `width` lanes of a vector of `lanes`, from `first` on; a scalar if it is one.
    pub fn some_lanes(
        &mut self,
        scope: ScopeId,
        value: Value,
        (e, lanes): (Elem, usize),
        first: usize,
        width: usize,
    ) -> Value {
        if width == lanes {
            return value;
        }
        if width == 1 {
            return self.op(scope, Op::Extract { vector: value, lane: first, ty: e.ty(lanes) });
        }
        let order: Vec<i64> = (first..first + width).map(|i| i as i64).collect();
        self.shuffled((value, value), &order, (e, lanes), scope)
    }

    /// A vector of parts of so many lanes each, two or more; their number is a power of two.
    pub fn of_parts(&mut self, scope: ScopeId, mut parts: Vec<Value>, e: Elem, mut lanes: usize) -> Value {
        while parts.len() > 1 {
            let order: Vec<i64> = (0..2 * lanes as i64).collect();
            let pairs = parts.chunks(2).map(|pair| match pair {
                [low, high] => self.shuffled((*low, *high), &order, (e, lanes), scope),
                _ => pair[0],
            });
            (parts, lanes) = (pairs.collect(), 2 * lanes);
        }
        parts[0]
    }
}

/// Transposes rows of `lanes` elements, a power of two of them and no more than `lanes`: the result, read as one
/// sequence, has the first elements of all rows, then the second ones, and so on. Each round merges pairs of
/// sequences element by element, so one is left after as many rounds as the number of rows has bits.
pub(crate) fn interleave(
    em: &mut Emitter<'_>,
    scope: ScopeId,
    rows: Vec<Value>,
    elem: Elem,
    lanes: usize,
) -> Vec<Value> {
    let mut sequences: Vec<Vec<Value>> = rows.into_iter().map(|row| vec![row]).collect();
    let half = |start: usize| -> Vec<i64> {
        (0..lanes).map(|i| (start + i / 2 + if i % 2 == 0 { 0 } else { lanes }) as i64).collect()
    };
    let halves = [half(0), half(lanes / 2)];
    while sequences.len() > 1 {
        let high = sequences.split_off(sequences.len() / 2);
        for (low, high) in sequences.iter_mut().zip(high) {
            let mut merged = Vec::new();
            for (a, b) in low.iter().zip(&high) {
                for mask in &halves {
                    merged.push(em.shuffled((*a, *b), mask, (elem, lanes), scope));
                }
            }
            *low = merged;
        }
    }
    sequences.pop().unwrap_or_default()
}
