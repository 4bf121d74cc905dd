//! Sizes that satisfy the facts, to see at once that a claim has no proof. A sample never decides a claim by itself.

use super::given::Given;
use super::normal::{Atom, Size};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The number of an assignment of sizes to all symbols.
pub(super) type Sample = u32;

impl Given {
    /// Assignments that satisfy the facts.
    pub(super) fn samples(&self, tried: Sample, kept: usize) -> Vec<Sample> {
        let satisfies = |sample: &Sample| {
            let value = |size: &Size| self.value(size, *sample);
            self.nonnegative.iter().all(|s| value(s).is_some_and(|v| v >= 0))
                && self.zero.iter().all(|s| value(s) == Some(0))
                && self.nonzero.iter().all(|s| value(s).is_some_and(|v| v != 0))
        };
        (0..tried).filter(satisfies).take(kept).collect()
    }

    /// The value of an expression for one assignment, where it is defined and fits.
    pub(super) fn value(&self, size: &Size, sample: Sample) -> Option<i128> {
        let mut sum = 0i128;
        for (monomial, coefficient) in size.terms() {
            let mut product = *coefficient;
            for atom in monomial {
                product = product.checked_mul(self.atom_value(atom, sample)?)?;
            }
            sum = sum.checked_add(product)?;
        }
        Some(sum)
    }

    fn atom_value(&self, atom: &Atom, sample: Sample) -> Option<i128> {
        match atom {
            Atom::FloorDiv(parts) => {
                let (x, d) = (self.value(&parts.0, sample)?, self.value(&parts.1, sample)?);
                (d >= 1).then(|| x.div_euclid(d))
            }
            Atom::Max(operands) => {
                let values = operands.iter().map(|o| self.value(o, sample));
                values.collect::<Option<Vec<i128>>>()?.into_iter().max()
            }
            Atom::Leaf(_) | Atom::Quotient(_) => {
                let range = self.context.atom_range(atom);
                let step = match sample {
                    0..3 => i128::from(sample),
                    _ => {
                        let mut hasher = DefaultHasher::new();
                        (atom, sample).hash(&mut hasher);
                        [0, 1, 0, 2, 3, 1, 5, 4, 7, 2, 9, 16, 6, 1, 3, 40][hasher.finish() as usize % 16]
                    }
                };
                let low = range.lower().unwrap_or_else(|| range.high.min(4).saturating_sub(7));
                Some(low.saturating_add(step).min(range.high))
            }
        }
    }
}
