//! Vectors of several lines as one in which their elements alternate.

use crate::code::Value;
use crate::lower::emit::{Emitter, ScopeId};
use crate::machine::elem::Elem;

/// Transposes rows of `lanes` elements, a power of two of them and no more than `lanes`: the result, read as one
/// sequence, has the first elements of all rows, then the second ones, and so on. Each round merges pairs of
/// sequences element by element, so one is left after as many rounds as the number of rows has bits.
pub fn interleave(
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
