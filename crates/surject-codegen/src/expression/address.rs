//! Affine addresses over the loops of a kernel.
//!
//! Where an [`IndexMap`](surject_index::IndexMap) speaks of the axes of a space, an address speaks of the loops
//! that are open at a point of a kernel, and names only those that it uses.

use surject_ir::FieldId;

/// A loop of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoopId(pub u8);

/// A set of loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LoopSet(u128);

impl LoopSet {
    /// The most loops a kernel can have.
    pub const LIMIT: usize = 128;

    /// The loops of both sets.
    pub fn union(self, other: LoopSet) -> LoopSet {
        LoopSet(self.0 | other.0)
    }

    /// The loops of `self` that are not in `other`.
    pub fn minus(self, other: LoopSet) -> LoopSet {
        LoopSet(self.0 & !other.0)
    }

    /// The loops that both sets have.
    pub fn only(self, other: LoopSet) -> LoopSet {
        LoopSet(self.0 & other.0)
    }

    /// Is the loop in the set?
    pub fn contains(self, l: LoopId) -> bool {
        self.0 >> l.0 & 1 == 1
    }

    /// The loops, in order.
    pub fn loops(self) -> impl Iterator<Item = LoopId> {
        (0..LoopSet::LIMIT as u8).map(LoopId).filter(move |&l| self.contains(l))
    }

    /// How many of the loops around a value that depends on these it stands in: it is computed inside the last one that
    /// it depends on.
    pub fn depth(self, around: &[LoopId]) -> usize {
        around.iter().rposition(|&l| self.contains(l)).map_or(0, |d| d + 1)
    }

    /// Have the sets a loop in common?
    pub fn meets(self, other: LoopSet) -> bool {
        self.0 & other.0 != 0
    }
}

impl FromIterator<LoopId> for LoopSet {
    fn from_iter<T: IntoIterator<Item = LoopId>>(loops: T) -> LoopSet {
        LoopSet(loops.into_iter().fold(0, |set, l| set | 1 << l.0))
    }
}

/// `Σ c_l · l + o` over loops. Terms are sorted by loop and have nonzero coefficients.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lin {
    /// Loop and coefficient.
    pub terms: Vec<(LoopId, i64)>,
    /// The constant term.
    pub offset: i64,
}

/// The condition `0 ≤ expr < bound`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Guard {
    /// The expression.
    pub expr: Lin,
    /// The bound.
    pub bound: i64,
}

impl Lin {
    /// A constant.
    pub fn constant(offset: i64) -> Lin {
        Lin { terms: Vec::new(), offset }
    }

    /// One loop.
    pub fn var(l: LoopId) -> Lin {
        Lin { terms: vec![(l, 1)], offset: 0 }
    }

    /// The coefficient of a loop.
    pub fn coeff(&self, l: LoopId) -> i64 {
        self.terms.iter().find(|t| t.0 == l).map_or(0, |t| t.1)
    }

    /// The loops it uses.
    pub fn loops(&self) -> LoopSet {
        self.terms.iter().map(|t| t.0).collect()
    }

    /// `self + factor * other`; `None` on overflow.
    pub fn plus(&self, other: &Lin, factor: i64) -> Option<Lin> {
        let mut result = Lin::constant(self.offset.checked_add(other.offset.checked_mul(factor)?)?);
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let term = match (a.peek(), b.peek()) {
                (None, None) => return Some(result),
                (Some(x), Some(y)) if x.0 == y.0 => {
                    let term = (x.0, x.1.checked_add(y.1.checked_mul(factor)?)?);
                    a.next();
                    b.next();
                    term
                }
                (Some(x), y) if y.is_none_or(|y| x.0 < y.0) => {
                    let term = **x;
                    a.next();
                    term
                }
                (_, Some(y)) => {
                    let term = (y.0, y.1.checked_mul(factor)?);
                    b.next();
                    term
                }
                (Some(_), None) => return Some(result),
            };
            if term.1 != 0 {
                result.terms.push(term);
            }
        }
    }

    /// `factor * self`; `None` on overflow.
    pub fn times(&self, factor: i64) -> Option<Lin> {
        Lin::default().plus(self, factor)
    }

    /// The expression with a loop replaced; `None` on overflow.
    pub fn substitute(&self, l: LoopId, by: &Lin) -> Option<Lin> {
        let c = self.coeff(l);
        if c == 0 {
            return Some(self.clone());
        }
        let mut rest = self.clone();
        rest.terms.retain(|t| t.0 != l);
        rest.plus(by, c)
    }

    /// The smallest and the largest value, where loops run over these (positive) extents.
    pub fn range(&self, extents: &[i64]) -> Option<Interval> {
        let (mut low, mut high) = (self.offset, self.offset);
        for &(l, c) in &self.terms {
            let reach = c.checked_mul(extents.get(l.0 as usize)?.checked_sub(1)?)?;
            if reach < 0 {
                low = low.checked_add(reach)?;
            } else {
                high = high.checked_add(reach)?;
            }
        }
        Some(Interval { low, high })
    }
}

/// The integers from the least to the greatest of some, both among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The least.
    pub low: i64,
    /// The greatest.
    pub high: i64,
}

/// What is known of a guard before the loops run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardFact {
    /// It holds at every point.
    Always,
    /// It holds at no point.
    Never,
    /// It depends on the point.
    Sometimes,
}

impl Guard {
    /// Does the guard hold, where loops run over these extents?
    pub fn fact(&self, extents: &[i64]) -> GuardFact {
        match self.expr.range(extents) {
            Some(Interval { low, high }) if low >= 0 && high < self.bound => GuardFact::Always,
            Some(Interval { low, high }) if high < 0 || low >= self.bound => GuardFact::Never,
            _ => GuardFact::Sometimes,
        }
    }
}

/// Where a field is evaluated: a position per axis of its space, and where that position exists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Access {
    pub(crate) components: Vec<Lin>,
    pub(crate) guards: Vec<Guard>,
}

/// A field, and the number of where it is evaluated.
pub(crate) type Point = (FieldId, usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_cancel_and_stay_sorted() {
        let (i, j) = (Lin::var(LoopId(0)), Lin::var(LoopId(3)));
        let sum = j.plus(&i, 8).unwrap();
        assert_eq!(sum.terms, vec![(LoopId(0), 8), (LoopId(3), 1)]);
        assert_eq!(sum.plus(&i, -8).unwrap(), j);
        assert_eq!(sum.substitute(LoopId(0), &j).unwrap().terms, vec![(LoopId(3), 9)]);
        assert_eq!(sum.range(&[4, 0, 0, 8]), Some(Interval { low: 0, high: 31 }));
    }

    #[test]
    fn guards_are_decided_where_they_can_be() {
        let guard = |offset, bound| Guard { expr: Lin { terms: vec![(LoopId(0), 1)], offset }, bound };
        assert_eq!(guard(0, 4).fact(&[4]), GuardFact::Always);
        assert_eq!(guard(-1, 4).fact(&[4]), GuardFact::Sometimes);
        assert_eq!(guard(4, 4).fact(&[4]), GuardFact::Never);
    }
}
