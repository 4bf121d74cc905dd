//! The second decision: surjective (DESIGN.md section 2; algorithm: `reference/egraph.md` section 7).

use crate::decide::ENUMERATED;
use crate::guarded::GuardedBox;
use crate::lattice::{Search, collision};
use crate::{Component, Facts, IndexMap, Verdict};
use std::collections::HashSet;

/// A position that no loop point reaches, where one was found; otherwise a count shows that one exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncovered {
    /// The position.
    pub position: Option<Vec<i64>>,
}

impl Uncovered {
    const COUNTED: Uncovered = Uncovered { position: None };

    /// Position `value` on one axis and 0 on the others.
    fn at(rank: usize, axis: usize, value: i64) -> Uncovered {
        let mut position = vec![0; rank];
        position[axis] = value;
        Uncovered { position: Some(position) }
    }
}

/// Components that share axes with each other and with no other component.
pub(crate) struct Group {
    /// Positions of the components.
    pub components: Vec<usize>,
    /// The axes of the domain that they use.
    pub axes: Vec<usize>,
}

impl IndexMap {
    /// Is every position of the codomain reached (from a point of the guarded domain)?
    ///
    /// Exact for constant extents as long as coupled components (or guards on several axes) span at most 2^20
    /// points or a count decides; *unknown* beyond. An empty codomain is covered; an empty domain covers nothing
    /// else. With symbolic extents whole axes are decided, and axes left out when they have a point for certain.
    pub fn surjective(&self) -> Verdict<(), Uncovered> {
        self.surjective_given(&Facts::default())
    }

    /// As [`IndexMap::surjective`], for sizes that satisfy these facts. An axis that is reduced away covers its target
    /// only where it has a point: `[n] → []` needs `n >= 1`.
    pub fn surjective_given(&self, facts: &Facts) -> Verdict<(), Uncovered> {
        if self.codomain().is_empty() {
            return Verdict::Yes(());
        }
        match (self.guarded_box(), self.codomain().sizes()) {
            (Some(guarded), Some(sizes)) => self.surjective_over(&guarded, &sizes),
            _ => self.surjective_symbolic(facts),
        }
    }

    fn surjective_over(&self, guarded: &GuardedBox, sizes: &[i64]) -> Verdict<(), Uncovered> {
        let rank = sizes.len();
        if guarded.is_empty() {
            return Verdict::No(Uncovered { position: Some(vec![0; rank]) });
        }
        let mut ranges = Vec::with_capacity(rank);
        for (axis, (component, &size)) in self.components().iter().zip(sizes).enumerate() {
            // The range over the box; a guard on several axes can only make it smaller.
            let Some((low, high)) = guarded.range(&component.coeffs, component.offset) else {
                return Verdict::Unknown;
            };
            if low > 0 {
                return Verdict::No(Uncovered::at(rank, axis, 0));
            }
            if high < i128::from(size) - 1 {
                return Verdict::No(Uncovered::at(rank, axis, size - 1));
            }
            ranges.push((low, high));
        }
        if !guarded.rest.is_empty() {
            return self.surjective_by_enumeration(guarded, sizes);
        }
        let mut result = Verdict::Yes(());
        for group in self.groups() {
            match self.group_surjective(&group, guarded, sizes) {
                Verdict::Yes(()) => {}
                Verdict::No(uncovered) => return Verdict::No(uncovered),
                Verdict::Unknown => result = Verdict::Unknown,
            }
        }
        result
    }

    /// The components, grouped by the axes they share. The image of a box is the product over the groups.
    pub(crate) fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for (position, component) in self.components().iter().enumerate() {
            let mut group = Group { components: vec![position], axes: component.used_axes().collect() };
            for other in groups.extract_if(.., |g| g.axes.iter().any(|a| component.coeffs[*a] != 0)) {
                group.components.extend(other.components);
                group.axes.extend(other.axes);
            }
            group.axes.sort_unstable();
            group.axes.dedup();
            groups.push(group);
        }
        groups
    }

    /// Does a group cover its axes of the codomain? The ranges of its components are known to.
    fn group_surjective(&self, group: &Group, guarded: &GuardedBox, sizes: &[i64]) -> Verdict<(), Uncovered> {
        if let &[position] = group.components.as_slice() {
            let component = &self.components()[position];
            let terms = group.axes.iter().map(|&a| (component.coeffs[a], guarded.size[a]));
            return match first_gap(terms) {
                None => Verdict::Yes(()),
                Some(gap) => Verdict::No(Uncovered::at(sizes.len(), position, gap)),
            };
        }
        let product = |mut factors: Box<dyn Iterator<Item = i64> + '_>| {
            factors.try_fold(1u128, |n, f| n.checked_mul(f.unsigned_abs().into()))
        };
        let targets = product(Box::new(group.components.iter().map(|&c| sizes[c])));
        let points = product(Box::new(group.axes.iter().map(|&a| guarded.size[a])));
        match (points, targets) {
            (Some(points), Some(targets)) if points < targets => Verdict::No(Uncovered::COUNTED),
            (Some(points), Some(targets)) if points == targets => {
                let rows = group
                    .components
                    .iter()
                    .map(|&c| group.axes.iter().map(|&a| self.components()[c].coeffs[a]).collect::<Vec<_>>());
                let reach: Vec<Option<i64>> = group.axes.iter().map(|&a| Some(guarded.size[a] - 1)).collect();
                match collision(rows.collect(), &reach) {
                    Search::None => Verdict::Yes(()),
                    Search::Found(_) => Verdict::No(Uncovered::COUNTED),
                    Search::GaveUp => self.count(group, guarded, points, targets),
                }
            }
            (Some(points), Some(targets)) => self.count(group, guarded, points, targets),
            _ => Verdict::Unknown,
        }
    }

    /// Counts the image of a group.
    fn count(
        &self,
        group: &Group,
        guarded: &GuardedBox,
        points: u128,
        targets: u128,
    ) -> Verdict<(), Uncovered> {
        if points > ENUMERATED.into() {
            return Verdict::Unknown;
        }
        let part = GuardedBox {
            lo: group.axes.iter().map(|&a| guarded.lo[a]).collect(),
            size: group.axes.iter().map(|&a| guarded.size[a]).collect(),
            rest: Vec::new(),
        };
        let mut image: HashSet<Vec<i128>> = HashSet::new();
        for point in part.iter() {
            let value = |&c: &usize| {
                let component = &self.components()[c];
                let terms = group.axes.iter().zip(&point);
                terms.fold(i128::from(component.offset), |sum, (&a, &p)| {
                    sum.saturating_add(i128::from(component.coeffs[a]) * i128::from(p))
                })
            };
            image.insert(group.components.iter().map(value).collect());
        }
        if image.len() as u128 == targets { Verdict::Yes(()) } else { Verdict::No(Uncovered::COUNTED) }
    }

    fn surjective_by_enumeration(&self, guarded: &GuardedBox, sizes: &[i64]) -> Verdict<(), Uncovered> {
        let targets = sizes.iter().try_fold(1u64, |n, &s| n.checked_mul(s.unsigned_abs()));
        match (guarded.points(), targets) {
            (Some(points), Some(targets)) if points < targets => Verdict::No(Uncovered::COUNTED),
            (Some(_), None) => Verdict::No(Uncovered::COUNTED),
            (Some(points), Some(targets)) if points <= ENUMERATED => {
                let image: HashSet<Vec<i64>> = guarded.iter().filter_map(|p| self.apply(&p)).collect();
                if image.len() as u64 == targets { Verdict::Yes(()) } else { Verdict::No(Uncovered::COUNTED) }
            }
            _ => Verdict::Unknown,
        }
    }

    /// Whole symbolic axes, and the rest decided as it is.
    fn surjective_symbolic(&self, facts: &Facts) -> Verdict<(), Uncovered> {
        if !self.is_total() {
            return Verdict::Unknown;
        }
        // Where the codomain has a point for certain, an empty domain or an uncovered group is a no.
        let inhabited = self.codomain().extents().iter().all(|e| facts.is_positive(e).is_yes());
        let no = |uncovered| if inhabited { Verdict::No(uncovered) } else { Verdict::Unknown };
        if self.domain().is_empty() {
            return no(Uncovered { position: Some(vec![0; self.codomain().rank()]) });
        }
        let mut used = vec![false; self.domain().rank()];
        let mut result = Verdict::Yes(());
        for group in self.groups() {
            for &axis in &group.axes {
                used[axis] = true;
            }
            let axes = self.domain().select(&group.axes).sizes();
            let targets = self.codomain().select(&group.components).sizes();
            if let (Some(_), Some(_)) = (axes, targets) {
                match self.constant_group(&group) {
                    Verdict::Yes(()) => continue,
                    Verdict::No(uncovered) => return no(uncovered),
                    Verdict::Unknown => result = Verdict::Unknown,
                }
                continue;
            }
            // One whole axis, or a linearisation of a symbolic outermost axis.
            if let &[position] = group.components.as_slice()
                && self.whole_axis(position, facts)
            {
                continue;
            }
            result = Verdict::Unknown;
        }
        // An axis that is left out may be empty.
        let left_out = |axis: usize| !used[axis] && !facts.is_positive(self.domain().extent(axis)).is_yes();
        if (0..used.len()).any(left_out) { Verdict::Unknown } else { result }
    }

    /// A group whose sizes are known, decided on its own.
    fn constant_group(&self, group: &Group) -> Verdict<(), Uncovered> {
        let components = group.components.iter().map(|&c| {
            let component = &self.components()[c];
            crate::Affine {
                coeffs: group.axes.iter().map(|&a| component.coeffs[a]).collect(),
                offset: component.offset,
            }
        });
        let domain = self.domain().select(&group.axes);
        let codomain = self.codomain().select(&group.components);
        let part = IndexMap::assemble(domain, codomain, components.collect(), Vec::new(), None);
        match part.surjective() {
            Verdict::No(Uncovered { position: Some(position) }) => {
                let mut whole = vec![0; self.codomain().rank()];
                for (&axis, value) in group.components.iter().zip(position) {
                    whole[axis] = value;
                }
                Verdict::No(Uncovered { position: Some(whole) })
            }
            verdict => verdict,
        }
    }

    /// Is a component an axis of the extent of its codomain axis, or the linearisation of several of which the
    /// outermost is symbolic?
    fn whole_axis(&self, position: usize, facts: &Facts) -> bool {
        let (component, extent) = (&self.components()[position], self.codomain().extent(position));
        match component.component() {
            Component::Iter(axis) => facts.same(self.domain().extent(axis), extent).is_yes(),
            Component::Affine(form) if form.offset == 0 => {
                let mut symbolic = form.used_axes().filter(|&a| self.domain().extent(a).as_const().is_none());
                let (Some(axis), None) = (symbolic.next(), symbolic.next()) else { return false };
                let stride = form.coeffs[axis];
                let inner = || form.used_axes().filter(|&a| a != axis);
                let terms = inner().filter_map(|a| {
                    let size = self.domain().extent(a).as_const().and_then(|n| i64::try_from(n).ok())?;
                    Some((form.coeffs[a], size))
                });
                let reach = inner().try_fold(0i64, |sum, a| {
                    let size = self.domain().extent(a).as_const().and_then(|n| i64::try_from(n).ok())?;
                    sum.checked_add(form.coeffs[a].checked_mul(size.checked_sub(1)?)?)
                });
                let Ok(factor) = u64::try_from(stride) else { return false };
                let whole =
                    crate::Extent::product(self.domain().extent(axis).clone(), crate::Extent::Const(factor));
                inner().all(|a| form.coeffs[a] > 0)
                    && first_gap(terms).is_none()
                    && reach == Some(stride - 1)
                    && facts.same(&whole, extent).is_yes()
            }
            _ => false,
        }
    }
}

impl GuardedBox {
    /// The range of an affine expression over the box, which has points.
    pub(crate) fn range(&self, coeffs: &[i64], offset: i64) -> Option<(i128, i128)> {
        let (mut low, mut high) = (i128::from(offset), i128::from(offset));
        for ((&c, &lo), &size) in coeffs.iter().zip(&self.lo).zip(&self.size) {
            let base = i128::from(c) * i128::from(lo);
            let reach = i128::from(c) * i128::from(size - 1);
            low = low.checked_add(base)?.checked_add(reach.min(0))?;
            high = high.checked_add(base)?.checked_add(reach.max(0))?;
        }
        Some((low, high))
    }
}

/// The sums `Σ |c|·x` with `0 ≤ x < n` are exactly `0 ..= Σ |c|·(n-1)` when, in ascending order of `|c|`, no
/// coefficient exceeds what the ones before reach by more than 1. The first number that is missing otherwise.
pub(crate) fn first_gap(terms: impl Iterator<Item = (i64, i64)>) -> Option<i64> {
    let mut terms: Vec<(u64, i64)> =
        terms.map(|(c, n)| (c.unsigned_abs(), n)).filter(|&(c, n)| c != 0 && n > 1).collect();
    terms.sort_unstable();
    let mut reach = 0u128;
    for (c, n) in terms {
        if u128::from(c) > reach + 1 {
            return i64::try_from(reach + 1).ok().or(Some(i64::MAX));
        }
        reach = reach.saturating_add(u128::from(c) * u128::from((n - 1).unsigned_abs()));
    }
    None
}
