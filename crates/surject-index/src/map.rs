//! Index maps: affine components, guards and a fill, in normal form.
//!
//! A map `M : P → D` sends loop points to positions of a tensor. A *partial* map has affine guards
//! `0 ≤ g(p) < n`; where one fails, a read yields the fill instead of an element. Guards compose with the
//! components, which components and a fill alone do not.

use crate::{Affine, Component, Extent, Fact, Facts, Relation, Space, Verdict, axis_names};
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// The bits of the value a partial read has outside its guards, as the element type of the field defines them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fill(pub u128);

/// The condition `0 ≤ expr < bound` on a point of the domain.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Guard {
    /// The expression.
    pub expr: Affine,
    /// The bound.
    pub bound: Extent,
}

/// An index map in normal form. Cloning shares it.
///
/// Invariants:
/// * one component per axis of the codomain, one coefficient per axis of the domain;
/// * the coefficient of an axis of extent 1 is 0;
/// * where every guard holds, every component lies inside the codomain;
/// * guards that the box implies are dropped, the others are reduced to a canonical form and sorted;
/// * there is a fill exactly when there is a guard.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IndexMap(Arc<MapData>);

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct MapData {
    domain: Space,
    codomain: Space,
    components: Vec<Affine>,
    guards: Vec<Guard>,
    fill: Option<Fill>,
}

/// Why components do not form an index map.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MapError {
    /// Wrong number of components or coefficients.
    #[error("the map has {found} {what} where {expected} are needed")]
    Arity {
        /// `components` or `coefficients`.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// A component may leave the codomain.
    #[error("component {axis} (`{component}`) is not proven to stay inside the extent {extent}{}", needs(.missing))]
    OutOfRange {
        /// The axis of the codomain.
        axis: usize,
        /// The component.
        component: String,
        /// The extent of that axis.
        extent: Extent,
        /// The fact about sizes that would prove it, where it depends on them.
        missing: Option<Fact>,
    },
    /// Two partial maps with different fills have no composite.
    #[error("the fills of the two maps differ")]
    FillsDiffer,
    /// The codomain of the first map is not the domain of the second.
    #[error("the first map ends in {first}, the second starts from {second}")]
    SpacesDiffer {
        /// The codomain of the first map.
        first: Space,
        /// The domain of the second map.
        second: Space,
    },
    /// A coefficient does not fit in 64 bits.
    #[error("a coefficient of the map overflows")]
    Overflow,
    /// A coefficient would be symbolic.
    #[error("the coefficient of axis {axis} would be the symbolic size {stride}")]
    SymbolicStride {
        /// The axis of the domain.
        axis: usize,
        /// The coefficient.
        stride: Extent,
    },
}

fn needs(missing: &Option<Fact>) -> String {
    missing.as_ref().map(|fact| format!("; that needs `{fact}`")).unwrap_or_default()
}

impl IndexMap {
    /// A total map. Every component must be proven to stay inside the codomain, whatever the symbolic sizes are.
    pub fn total(domain: Space, codomain: Space, components: Vec<Affine>) -> Result<IndexMap, MapError> {
        IndexMap::total_given(domain, codomain, components, &Facts::default())
    }

    /// A total map in a program whose sizes satisfy these facts.
    pub fn total_given(
        domain: Space,
        codomain: Space,
        components: Vec<Affine>,
        facts: &Facts,
    ) -> Result<IndexMap, MapError> {
        check_arity(&domain, &codomain, &components)?;
        for (axis, component) in components.iter().enumerate() {
            if domain.is_empty() {
                continue;
            }
            if let Err(missing) = inside(component, &domain, codomain.extent(axis), facts) {
                return Err(MapError::OutOfRange {
                    axis,
                    component: component.display(&axis_names(domain.rank())).to_string(),
                    extent: codomain.extent(axis).clone(),
                    missing,
                });
            }
        }
        Ok(IndexMap::normal(domain, codomain, components, Vec::new(), None))
    }

    /// Is it proven that every component of a total map stays inside the codomain, for sizes that satisfy the facts?
    pub fn stays_inside_given(&self, facts: &Facts) -> bool {
        self.is_total()
            && (self.domain().is_empty()
                || self
                    .components()
                    .iter()
                    .zip(self.codomain().extents())
                    .all(|(component, extent)| inside(component, self.domain(), extent, facts).is_ok()))
    }

    /// A map that yields `fill` where a guard fails. A component that is not proven to stay inside the
    /// codomain gets a guard of its own, so the result is always safe to read through.
    pub fn partial(
        domain: Space,
        codomain: Space,
        components: Vec<Affine>,
        mut guards: Vec<Guard>,
        fill: Fill,
    ) -> Result<IndexMap, MapError> {
        check_arity(&domain, &codomain, &components)?;
        if let Some(g) = guards.iter().find(|g| g.expr.rank() != domain.rank()) {
            let found = g.expr.rank();
            return Err(MapError::Arity { what: "coefficients", found, expected: domain.rank() });
        }
        for (axis, component) in components.iter().enumerate() {
            let extent = codomain.extent(axis);
            let implied = inside(component, &domain, extent, &Facts::default()).is_ok()
                || guards.iter().any(|g| g.expr == *component && g.bound == *extent);
            if !implied {
                guards.push(Guard { expr: component.clone(), bound: extent.clone() });
            }
        }
        Ok(IndexMap::normal(domain, codomain, components, guards, Some(fill)))
    }

    /// A map from parts that are known to satisfy the range invariant.
    pub(crate) fn assemble(
        domain: Space,
        codomain: Space,
        components: Vec<Affine>,
        guards: Vec<Guard>,
        fill: Option<Fill>,
    ) -> IndexMap {
        IndexMap::normal(domain, codomain, components, guards, fill)
    }

    /// Brings parts that satisfy the range invariant into normal form.
    fn normal(
        domain: Space,
        codomain: Space,
        mut components: Vec<Affine>,
        mut guards: Vec<Guard>,
        fill: Option<Fill>,
    ) -> IndexMap {
        for expr in components.iter_mut().chain(guards.iter_mut().map(|g| &mut g.expr)) {
            for (c, extent) in expr.coeffs.iter_mut().zip(domain.extents()) {
                if extent.as_const() == Some(1) {
                    *c = 0;
                }
            }
        }
        // A space without points has no point outside a guard.
        let guards = if domain.is_empty() { Vec::new() } else { normal_guards(&domain, guards) };
        let fill = if guards.is_empty() { None } else { fill };
        IndexMap(Arc::new(MapData { domain, codomain, components, guards, fill }))
    }

    /// The identity of a space.
    pub fn identity(space: &Space) -> IndexMap {
        IndexMap::projection(space, &(0..space.rank()).collect::<Vec<_>>())
    }

    /// The map onto some axes of a space, in the order given: `p ↦ (p[axes[0]], p[axes[1]], …)`.
    /// A permutation of all axes is a transposition, leaving axes out is what a reduction writes through.
    pub fn projection(domain: &Space, axes: &[usize]) -> IndexMap {
        let components = axes.iter().map(|&a| Affine::axis(domain.rank(), a)).collect();
        IndexMap::normal(domain.clone(), domain.select(axes), components, Vec::new(), None)
    }

    /// The space the map starts from.
    pub fn domain(&self) -> &Space {
        &self.0.domain
    }

    /// The space the map ends in.
    pub fn codomain(&self) -> &Space {
        &self.0.codomain
    }

    /// One affine expression per axis of the codomain.
    pub fn components(&self) -> &[Affine] {
        &self.0.components
    }

    /// The guards; empty for a total map.
    pub fn guards(&self) -> &[Guard] {
        &self.0.guards
    }

    /// The bits of the value outside the guards; present exactly when there are guards.
    pub fn fill(&self) -> Option<Fill> {
        self.0.fill
    }

    /// Is every point of the domain mapped?
    pub fn is_total(&self) -> bool {
        self.0.guards.is_empty()
    }

    /// Is it the identity of its domain?
    pub fn is_identity(&self) -> bool {
        self.is_total()
            && self.domain() == self.codomain()
            && self.components().iter().enumerate().all(|(axis, c)| {
                c.component() == Component::Iter(axis)
                    || (c.component() == Component::Fixed(0)
                        && self.domain().extent(axis).as_const() == Some(1))
            })
    }

    /// The same map with another fill; a total map is unchanged.
    pub fn with_fill(&self, fill: Fill) -> IndexMap {
        let mut data = (*self.0).clone();
        data.fill = data.fill.map(|_| fill);
        IndexMap(Arc::new(data))
    }

    /// The position of a point, or `None` where a guard fails. The extents of guards must be constant.
    pub fn apply(&self, point: &[i64]) -> Option<Vec<i64>> {
        let holds = |g: &Guard| {
            let value = g.expr.eval(point);
            value >= 0 && g.bound.as_const().is_some_and(|n| (value as u64) < n)
        };
        self.guards().iter().all(holds).then(|| self.components().iter().map(|c| c.eval(point)).collect())
    }

    /// The composite `next ∘ self`, first `self`, then `next`: `read self (read next t) = read (self.then(next)) t`.
    /// Where both are partial their fills must agree bit for bit.
    pub fn then(&self, next: &IndexMap) -> Result<IndexMap, MapError> {
        if self.codomain() != next.domain() {
            return Err(MapError::SpacesDiffer {
                first: self.codomain().clone(),
                second: next.domain().clone(),
            });
        }
        let fill = match (self.fill(), next.fill()) {
            (Some(a), Some(b)) if a != b => return Err(MapError::FillsDiffer),
            (a, b) => a.or(b),
        };
        let rank = self.domain().rank();
        let pull = |e: &Affine| e.substitute(self.components(), rank).ok_or(MapError::Overflow);
        let components = next.components().iter().map(pull).collect::<Result<Vec<_>, _>>()?;
        let mut guards = self.guards().to_vec();
        for g in next.guards() {
            guards.push(Guard { expr: pull(&g.expr)?, bound: g.bound.clone() });
        }
        Ok(IndexMap::normal(self.domain().clone(), next.codomain().clone(), components, guards, fill))
    }
}

fn check_arity(domain: &Space, codomain: &Space, components: &[Affine]) -> Result<(), MapError> {
    if components.len() != codomain.rank() {
        let (found, expected) = (components.len(), codomain.rank());
        return Err(MapError::Arity { what: "components", found, expected });
    }
    match components.iter().find(|c| c.rank() != domain.rank()) {
        Some(c) => Err(MapError::Arity { what: "coefficients", found: c.rank(), expected: domain.rank() }),
        None => Ok(()),
    }
}

/// Is `0 ≤ expr < extent` proven over the whole box? The fact that is missing, where it depends on symbolic sizes.
fn inside(expr: &Affine, domain: &Space, extent: &Extent, facts: &Facts) -> Result<(), Option<Fact>> {
    if let Component::Iter(axis) = expr.component()
        && domain.extent(axis) == extent
    {
        return Ok(());
    }
    match (expr.range(domain), extent.as_const()) {
        (Some((low, high)), Some(n)) if low >= 0 && (high as u64) < n => Ok(()),
        (Some(_), Some(_)) => Err(None),
        _ if domain.sizes().is_some() && extent.as_const().is_some() => Err(None),
        _ => inside_symbolic(expr, domain, extent, facts),
    }
}

/// As [`inside`], for symbolic sizes. Where there is a point, every axis of the domain has one.
fn inside_symbolic(
    expr: &Affine,
    domain: &Space,
    extent: &Extent,
    facts: &Facts,
) -> Result<(), Option<Fact>> {
    // A product of constants that does not fit is no size.
    if facts.normal(extent).and_then(|n| n.as_const()).is_some_and(|n| u64::try_from(n).is_err()) {
        return Err(None);
    }
    let inhabited = domain.extents().iter().filter(|e| e.as_const().is_none());
    let inhabited = inhabited.map(|e| Fact::new(Extent::Const(1), Relation::Le, e.clone()));
    let Ok(facts) = Facts::of(facts.iter().cloned().chain(inhabited)) else {
        // No point satisfies them.
        return Ok(());
    };
    // The largest value is offset + Σ c·(n - 1) over the positive c, the smallest one that over the negative c. What
    // would be negative stands on the other side.
    let offset = |positive: bool| {
        Extent::Const(if (expr.offset >= 0) == positive { expr.offset.unsigned_abs() } else { 0 })
    };
    let (mut sums, mut counts) = ([offset(true), offset(false)], [offset(false), offset(true)]);
    for (&c, n) in expr.coeffs.iter().zip(domain.extents()).filter(|(c, _)| **c != 0) {
        let side = usize::from(c < 0);
        let factor = Extent::Const(c.unsigned_abs());
        sums[side] = Extent::sum(sums[side].clone(), Extent::product(factor.clone(), n.clone()));
        counts[side] = Extent::sum(counts[side].clone(), factor);
    }
    let [high, low] = sums;
    let [above, below] = counts;
    for needed in [
        Fact::new(high, Relation::Lt, Extent::sum(extent.clone(), above)),
        Fact::new(low, Relation::Le, below),
    ] {
        match facts.holds(&needed) {
            Verdict::Yes(()) => {}
            Verdict::No(()) => return Err(None),
            Verdict::Unknown => return Err(Some(facts.residual(&needed))),
        }
    }
    Ok(())
}

/// Canonical guards: first coefficient positive, common factor divided out, intervals of one linear form
/// intersected and clipped to what the box allows, those implied by the box dropped, sorted.
fn normal_guards(domain: &Space, guards: Vec<Guard>) -> Vec<Guard> {
    let mut intervals: Vec<(Vec<i64>, i64, i64)> = Vec::new();
    let mut result: Vec<Guard> = Vec::new();
    for guard in guards {
        match interval(domain, &guard) {
            Some((linear, low, high)) => match intervals.iter_mut().find(|(l, _, _)| *l == linear) {
                Some((_, lo, hi)) => (*lo, *hi) = ((*lo).max(low), (*hi).min(high)),
                None => intervals.push((linear, low, high)),
            },
            // A bound or an extent is symbolic: the guard stays as it is.
            None if inside(&guard.expr, domain, &guard.bound, &Facts::default()).is_ok() => {}
            None => result.push(guard),
        }
    }
    for (coeffs, low, high) in intervals {
        let linear = Affine { coeffs, offset: 0 };
        let (low, high) = match linear.range(domain) {
            Some((min, max)) if low <= min && max <= high => continue,
            Some((min, max)) => (low.max(min), high.min(max)),
            None => (low, high),
        };
        let bound = if low <= high { high.abs_diff(low) + 1 } else { 0 };
        if bound == 0 {
            // An unsatisfiable guard has one form, whatever it came from and whatever stands beside it.
            return vec![Guard { expr: Affine::fixed(domain.rank(), 0), bound: Extent::Const(0) }];
        }
        let expr = Affine { coeffs: linear.coeffs, offset: -low };
        result.push(Guard { expr, bound: Extent::Const(bound) });
    }
    result.sort();
    result.dedup();
    result
}

/// A guard as `low ≤ Σ c·s ≤ high` with coprime coefficients, the first of them positive.
fn interval(domain: &Space, guard: &Guard) -> Option<(Vec<i64>, i64, i64)> {
    let bound = i64::try_from(guard.bound.as_const()?).ok()?;
    domain.sizes()?;
    let expr = &guard.expr;
    let (mut low, mut high) =
        (0i64.checked_sub(expr.offset)?, bound.checked_sub(1)?.checked_sub(expr.offset)?);
    let factor = expr.coeffs.iter().fold(0u64, |g, &c| gcd(g, c.unsigned_abs()));
    let mut coeffs = expr.coeffs.clone();
    if factor > 1 {
        let factor = i64::try_from(factor).ok()?;
        coeffs.iter_mut().for_each(|c| *c /= factor);
        // ⌈low / factor⌉ and ⌊high / factor⌋
        low = low.div_euclid(factor) + (low.rem_euclid(factor) != 0) as i64;
        high = high.div_euclid(factor);
    }
    if coeffs.iter().find(|&&c| c != 0).is_some_and(|&c| c < 0) {
        coeffs = coeffs.into_iter().map(i64::checked_neg).collect::<Option<_>>()?;
        (low, high) = (high.checked_neg()?, low.checked_neg()?);
    }
    Some((coeffs, low, high))
}

/// The greatest common divisor; `gcd(0, n) = n`.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl fmt::Display for IndexMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = axis_names(self.domain().rank());
        f.write_str("(")?;
        for (i, (name, extent)) in names.iter().zip(self.domain().extents()).enumerate() {
            write!(f, "{}{name}<{extent}", if i > 0 { ", " } else { "" })?;
        }
        f.write_str(") -> [")?;
        for (i, c) in self.components().iter().enumerate() {
            write!(f, "{}{}", if i > 0 { ", " } else { "" }, c.display(&names))?;
        }
        write!(f, "] in {}", self.codomain())?;
        for (i, g) in self.guards().iter().enumerate() {
            let word = if i == 0 { " where" } else { " and" };
            write!(f, "{word} 0 <= {} < {}", g.expr.display(&names), g.bound)?;
        }
        match self.fill() {
            Some(fill) => write!(f, " else {:#x}", fill.0),
            None => Ok(()),
        }
    }
}
