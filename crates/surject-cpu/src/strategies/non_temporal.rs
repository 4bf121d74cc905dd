//! Results that the caches do not hold go past them: a store into a line that no cache has fetches the line first, for nothing
//! if all of it is stored.

use crate::Cpu;
use surject_codegen::kernels::expression::{AccessInfo, Expression};

/// From which part of the last cache on results go past it: something else is always there.
pub(super) const PAST: f64 = 0.75;

/// The bytes of a line of the caches.
pub(crate) const LINE: i64 = 64;

/// Are more results stored than the last cache holds, with as much that is read?
pub(crate) fn is_worth(cpu: &Cpu, expression: &Expression) -> bool {
    /// A part of the results that does not count.
    const LITTLE: f64 = 1.0 / 16.0;
    /// So many times what the last cache holds may be written where nothing is read.
    const ABSORBED: f64 = 2.25;
    let accesses = expression.accesses();
    let bytes = |a: &AccessInfo| a.elements * a.bytes as f64;
    let written: f64 = accesses.iter().filter(|a| a.stored).map(bytes).sum();
    let reads = expression.gathers() || accesses.iter().any(|a| !a.stored && bytes(a) > LITTLE * written);
    let cache = cpu.last_cache as f64;
    let absorbed = cpu.has_asymmetric_writes && cpu.threads > 1 && written <= ABSORBED * cache && !reads;
    let moved = if reads { 2.0 * written } else { written };
    cpu.has_non_temporal_stores && moved >= PAST * cache && !absorbed
}

/// Are the results whole lines, where those along some loops are runs of this many elements?
pub(crate) fn fills_lines(expression: &Expression, along: &[&str], run: i64) -> bool {
    let accesses = expression.accesses();
    let whole = |a: &AccessInfo| run.saturating_mul(a.bytes as i64) % LINE == 0;
    accesses.iter().filter(|a| a.stored).all(whole) && begin_alike(&accesses, along)
}

/// Do runs of results along some loops all begin at the same place of a line?
pub(super) fn begin_alike(accesses: &[AccessInfo], along: &[&str]) -> bool {
    accesses.iter().filter(|a| a.stored).all(|a| {
        let mut others = a.strides.iter().filter(|(name, _)| !along.contains(&name.as_str()));
        others.all(|(_, stride)| stride.saturating_mul(a.bytes as i64) % LINE == 0)
    })
}
