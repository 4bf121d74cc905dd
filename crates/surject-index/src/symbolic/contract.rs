//! The contract of passes (seed 002, "Compiler Pass Contract"): a pass may forget, and may strengthen a statement about
//! a size only with evidence.

use super::facts::{Fact, Facts};
use crate::{ShapeExtent, Verdict};
use std::collections::BTreeMap;
use std::fmt;

/// A statement about an axis that a pass made stronger without evidence, or that contradicts what was known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strengthening {
    /// The value.
    pub value: String,
    /// The axis; none where the rank changed.
    pub axis: Option<usize>,
    /// What was known before the pass.
    pub before: Vec<ShapeExtent>,
    /// What the pass claims.
    pub after: Vec<ShapeExtent>,
}

/// What a pass shows for a stronger statement: the guard it recorded for an axis of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The value.
    pub value: String,
    /// The axis.
    pub axis: usize,
    /// What a run checks.
    pub guard: Fact,
}

impl fmt::Display for Strengthening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |extents: &[ShapeExtent]| {
            let texts: Vec<String> = extents.iter().map(ShapeExtent::to_string).collect();
            format!("[{}]", texts.join(", "))
        };
        match self.axis {
            Some(axis) => write!(
                f,
                "axis {axis} of `{}` was `{}` and became `{}` without evidence",
                self.value, self.before[axis], self.after[axis]
            ),
            None => write!(
                f,
                "the rank of `{}` changed: it was {} and became {}",
                self.value,
                list(&self.before),
                list(&self.after)
            ),
        }
    }
}

/// The statements about the values that survive a pass which say more after it than before it, and more than the
/// facts and the evidence give. Empty for a pass that keeps the contract.
///
/// What the facts imply counts as no strengthening: a bound that a fact proves tight may become exact.
pub fn strengthenings(
    before: &BTreeMap<String, Vec<ShapeExtent>>,
    after: &BTreeMap<String, Vec<ShapeExtent>>,
    facts: &Facts,
    evidence: &[Evidence],
) -> Vec<Strengthening> {
    let mut found = Vec::new();
    for (value, after) in after {
        let Some(before) = before.get(value) else { continue };
        let report =
            |axis| Strengthening { value: value.clone(), axis, before: before.clone(), after: after.clone() };
        if before.len() != after.len() {
            found.push(report(None));
            continue;
        }
        for (axis, (old, new)) in before.iter().zip(after).enumerate() {
            let shown: Vec<Fact> = evidence
                .iter()
                .filter(|e| e.value == *value && e.axis == axis)
                .map(|e| e.guard.clone())
                .collect();
            let is_kept =
                if shown.is_empty() { old.implies(new, facts) } else { given(old, new, facts, shown) };
            if !is_kept.is_yes() {
                found.push(report(Some(axis)));
            }
        }
    }
    found
}

/// Does the old statement imply the new one under the guards? A guard that speaks of the new size is evidence of a
/// statement about a size that was a bound or unknown: it is what a run checks.
fn given(old: &ShapeExtent, new: &ShapeExtent, facts: &Facts, shown: Vec<Fact>) -> Verdict {
    let names_it =
        new.bound().is_some_and(|size| shown.iter().any(|guard| guard.left == *size || guard.right == *size));
    match Facts::of(facts.iter().cloned().chain(shown)) {
        // Facts that no run satisfies are no evidence.
        Err(_) => Verdict::Unknown,
        Ok(facts) => match old.implies(new, &facts) {
            Verdict::Unknown if names_it && !old.is_exact() => Verdict::Yes(()),
            verdict => verdict,
        },
    }
}
