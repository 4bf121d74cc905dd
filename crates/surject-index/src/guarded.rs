//! The domain of a guarded map, as a box and the conditions that remain.

use crate::{Guard, IndexMap};

/// The points where the single-axis guards hold, a box `lo ≤ p < lo + size`, and the other guards.
#[derive(Clone, Debug)]
pub(crate) struct GuardedBox {
    /// The first position of each axis.
    pub lo: Vec<i64>,
    /// The number of positions of each axis.
    pub size: Vec<i64>,
    /// The guards that speak of several axes.
    pub rest: Vec<Guard>,
}

impl GuardedBox {
    /// Is it certain that no point is left?
    pub(crate) fn is_empty(&self) -> bool {
        self.size.contains(&0)
    }

    /// The number of points of the box, if it fits.
    pub(crate) fn points(&self) -> Option<u64> {
        if self.is_empty() {
            return Some(0);
        }
        self.size.iter().try_fold(1u64, |n, &s| n.checked_mul(s.unsigned_abs()))
    }
}

impl IndexMap {
    /// The guarded domain. `None` when an extent or a bound is symbolic.
    pub(crate) fn guarded_box(&self) -> Option<GuardedBox> {
        let mut size = self.domain().sizes()?;
        let mut lo = vec![0; size.len()];
        let mut rest = Vec::new();
        for guard in self.guards() {
            let bound = i64::try_from(guard.bound.as_const()?).ok()?;
            let mut used = guard.expr.used_axes();
            match (used.next(), used.next()) {
                // In normal form a constant guard is unsatisfiable.
                (None, _) => size.fill(0),
                (Some(axis), None) => {
                    // Normal form: the coefficient is 1. Where it is not (overflow), the guard stays.
                    if guard.expr.coeffs[axis] != 1 {
                        rest.push(guard.clone());
                        continue;
                    }
                    let first = guard.expr.offset.checked_neg()?.max(lo[axis]);
                    let end = bound.checked_sub(guard.expr.offset)?.min(lo[axis].checked_add(size[axis])?);
                    lo[axis] = if first < end { first } else { 0 };
                    size[axis] = end.saturating_sub(first).max(0);
                }
                _ => rest.push(guard.clone()),
            }
        }
        // Rank 0 has no axis to be empty on: an unsatisfiable guard stays a guard.
        if size.is_empty() {
            rest = self.guards().to_vec();
        }
        Some(GuardedBox { lo, size, rest })
    }
}
