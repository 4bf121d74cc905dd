//! The first decision: injective (DESIGN.md section 2; algorithm: `reference/egraph.md` section 7).

use crate::guarded::GuardedBox;
use crate::lattice::{Search, collision};
use crate::{Extent, Facts, IndexMap, Space, Verdict};
use std::collections::HashMap;

/// The largest number of points that a decision enumerates as its last resort.
pub(crate) const ENUMERATED: u64 = 1 << 20;

/// Why a map is injective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InjectiveProof {
    /// The domain has at most one point.
    SinglePoint,
    /// No nonzero difference of two loop points is in the kernel of the components.
    NoCollision,
}

/// Two different loop points with the same position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    /// One point.
    pub first: Vec<i64>,
    /// The other.
    pub second: Vec<i64>,
}

impl IndexMap {
    /// Do different points (of the guarded domain) have different positions?
    ///
    /// Exact for constant extents: a total map collides exactly when a nonzero difference of two points is in
    /// the kernel of the components. With guards on single axes the domain is a smaller box and the same holds;
    /// with guards on several axes a *no* shows two points that satisfy them, found by shifting the collision or
    /// by enumerating up to 2^20 points. *Unknown* is left when a search exceeds its budget.
    ///
    /// With symbolic extents *yes* means for all sizes, and *no* that two points collide at the least sizes that
    /// the expressions allow (which is rare: the least value of an input's size is 0).
    pub fn injective(&self) -> Verdict<InjectiveProof, Collision> {
        self.injective_given(&Facts::default())
    }

    /// As [`IndexMap::injective`], for sizes that satisfy these facts.
    pub fn injective_given(&self, facts: &Facts) -> Verdict<InjectiveProof, Collision> {
        match self.guarded_box() {
            Some(guarded) => self.injective_over(&guarded),
            None => self.injective_symbolic(facts),
        }
    }

    fn rows(&self) -> Vec<Vec<i64>> {
        self.components().iter().map(|c| c.coeffs.clone()).collect()
    }

    fn injective_over(&self, guarded: &GuardedBox) -> Verdict<InjectiveProof, Collision> {
        if guarded.points().is_some_and(|n| n <= 1) {
            return Verdict::Yes(InjectiveProof::SinglePoint);
        }
        let reach: Vec<Option<i64>> = guarded.size.iter().map(|&n| Some(n - 1)).collect();
        let difference = match collision(self.rows(), &reach) {
            Search::None => return Verdict::Yes(InjectiveProof::NoCollision),
            Search::Found(difference) => Some(difference),
            Search::GaveUp => None,
        };
        if let Some(difference) = &difference
            && let Some(found) = self.place(difference, guarded)
        {
            return Verdict::No(found);
        }
        // A guard on several axes may exclude the collision, or the search gave up: count.
        self.injective_by_enumeration(guarded)
    }

    /// Two points of the guarded domain with this difference, if they are found near a corner.
    fn place(&self, difference: &[i64], guarded: &GuardedBox) -> Option<Collision> {
        let corner = |high: bool| {
            let first: Vec<i64> = (0..difference.len())
                .map(|axis| {
                    let (lo, size, d) = (guarded.lo[axis], guarded.size[axis], difference[axis]);
                    // The interval of starts such that both ends are in the box.
                    let (least, most) = (lo + (-d).max(0), lo + size - 1 - d.max(0));
                    if high { most } else { least }
                })
                .collect();
            let second: Vec<i64> = first.iter().zip(difference).map(|(p, d)| p + d).collect();
            Collision { first, second }
        };
        [corner(false), corner(true)].into_iter().find(|c| self.verify(c))
    }

    /// Is this a collision indeed?
    fn verify(&self, collision: &Collision) -> bool {
        let (first, second) = (self.apply(&collision.first), self.apply(&collision.second));
        collision.first != collision.second && first.is_some() && first == second
    }

    fn injective_by_enumeration(&self, guarded: &GuardedBox) -> Verdict<InjectiveProof, Collision> {
        if guarded.points().is_none_or(|n| n > ENUMERATED) {
            return Verdict::Unknown;
        }
        let mut seen: HashMap<Vec<i64>, Vec<i64>> = HashMap::new();
        for point in guarded.iter() {
            if let Some(position) = self.apply(&point)
                && let Some(first) = seen.insert(position, point.clone())
            {
                return Verdict::No(Collision { first, second: point });
            }
        }
        Verdict::Yes(if seen.len() <= 1 { InjectiveProof::SinglePoint } else { InjectiveProof::NoCollision })
    }

    fn injective_symbolic(&self, facts: &Facts) -> Verdict<InjectiveProof, Collision> {
        if self.domain().is_empty() {
            return Verdict::Yes(InjectiveProof::SinglePoint);
        }
        // A symbolic size is at most its upper bound; without one, and beyond `i64`, it is unbounded.
        let reach = |e: &Extent| i64::try_from(facts.bounds(e).1?.max(1)).ok().map(|n| n - 1);
        let reach: Vec<Option<i64>> = self.domain().extents().iter().map(reach).collect();
        if collision(self.rows(), &reach) == Search::None {
            return Verdict::Yes(InjectiveProof::NoCollision);
        }
        // At the least sizes there must be a collision for a no. Guards with symbolic bounds stay undecided.
        if !self.is_total() {
            return Verdict::Unknown;
        }
        let least = |e: &Extent| i64::try_from(facts.bounds(e).0.unwrap_or(0).max(0)).unwrap_or(i64::MAX);
        let least: Vec<i64> = self.domain().extents().iter().map(least).collect();
        if least.contains(&0) {
            return Verdict::Unknown;
        }
        let reach: Vec<Option<i64>> = least.iter().map(|&n| Some(n - 1)).collect();
        let guarded = GuardedBox { lo: vec![0; least.len()], size: least, rest: Vec::new() };
        match collision(self.rows(), &reach) {
            Search::Found(difference) => {
                self.place(&difference, &guarded).map_or(Verdict::Unknown, Verdict::No)
            }
            _ => Verdict::Unknown,
        }
    }

    /// Injective, surjective and total: a mere renaming of positions.
    pub fn bijective(&self) -> Verdict {
        self.bijective_given(&Facts::default())
    }

    /// As [`IndexMap::bijective`], for sizes that satisfy these facts.
    pub fn bijective_given(&self, facts: &Facts) -> Verdict {
        if !self.is_total() {
            return Verdict::No(());
        }
        match (self.injective_given(facts).plain(), self.surjective_given(facts).plain()) {
            (Verdict::Yes(()), Verdict::Yes(())) => Verdict::Yes(()),
            (Verdict::No(()), _) | (_, Verdict::No(())) => Verdict::No(()),
            _ => Verdict::Unknown,
        }
    }
}

impl GuardedBox {
    /// The points of the box.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Vec<i64>> + '_ {
        let sizes: Vec<u64> = self.size.iter().map(|n| n.unsigned_abs()).collect();
        let points = Space::of(&sizes).iter_points().into_iter().flatten();
        points.map(|mut p| {
            p.iter_mut().zip(&self.lo).for_each(|(x, lo)| *x += lo);
            p
        })
    }
}
