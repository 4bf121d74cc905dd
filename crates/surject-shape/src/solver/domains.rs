//! The sizes that sums, scales and numbers of elements leave to open variables: intervals, or a few sizes by name where a
//! bound leaves two (`v ⊑ 3` is one or three) or a number its divisors.
//!
//! What is ruled out here is ruled out: nothing is chosen. Facts are kept for a whole group of equations.

use super::linear::{Linear, gcd};
use std::collections::BTreeMap;

/// Sets of sizes are kept up to this many.
const NAMED: usize = 64;
/// So many combinations of the sizes of the other variables are looked at.
const COMBINATIONS: usize = 512;
/// Divisors are listed of numbers up to this.
const DIVISORS: u64 = 1 << 24;
/// Rounds of narrowing. What is not found within them is not ruled out.
const ROUNDS: usize = 24;

/// Sizes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Domain {
    pub(super) least: u64,
    /// `u64::MAX` is no limit.
    pub(super) most: u64,
    /// The sizes one by one, ascending.
    pub(super) named: Option<Vec<u64>>,
}

/// No size is left.
pub(super) struct Empty;

impl Domain {
    pub(super) fn interval(least: u64, most: u64) -> Domain {
        Domain { least, most, named: None }
    }

    pub(super) fn of(mut sizes: Vec<u64>) -> Domain {
        sizes.sort_unstable();
        sizes.dedup();
        let (least, most) = (sizes.first().copied().unwrap_or(1), sizes.last().copied().unwrap_or(0));
        Domain { least, most, named: Some(sizes) }
    }

    pub(super) fn without_zero(&mut self) -> Result<bool, Empty> {
        self.within(1, u64::MAX)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.least > self.most
    }

    /// The only size that is left.
    pub(super) fn single(&self) -> Option<u64> {
        (self.least == self.most).then_some(self.least)
    }

    pub(super) fn contains(&self, size: u64) -> bool {
        match &self.named {
            Some(sizes) => sizes.binary_search(&size).is_ok(),
            None => (self.least..=self.most).contains(&size),
        }
    }

    /// The sizes, ascending, at most so many.
    pub(super) fn sizes(&self, limit: usize) -> Vec<u64> {
        match &self.named {
            Some(sizes) => sizes.iter().copied().take(limit).collect(),
            None => (self.least..=self.most).take(limit).collect(),
        }
    }

    fn few(&self) -> Option<Vec<u64>> {
        match &self.named {
            Some(sizes) => Some(sizes.clone()),
            None if self.most.checked_sub(self.least)? < NAMED as u64 => {
                Some((self.least..=self.most).collect())
            }
            None => None,
        }
    }

    fn retain(&mut self, keep: impl Fn(u64) -> bool) -> Result<bool, Empty> {
        let Some(sizes) = self.few() else { return Ok(false) };
        let kept: Vec<u64> = sizes.iter().copied().filter(|s| keep(*s)).collect();
        let changed = kept.len() < sizes.len();
        if kept.is_empty() {
            return Err(Empty);
        }
        if changed || self.named.is_some() {
            *self = Domain::of(kept);
        }
        Ok(changed)
    }

    /// Only sizes from `least` to `most`.
    fn within(&mut self, least: u64, most: u64) -> Result<bool, Empty> {
        if least <= self.least && most >= self.most {
            return Ok(false);
        }
        if self.named.is_some() {
            return self.retain(|s| (least..=most).contains(&s));
        }
        self.least = self.least.max(least);
        self.most = self.most.min(most);
        if self.is_empty() { Err(Empty) } else { Ok(true) }
    }
}

/// `Π factor = number` or, where rows are open, `Π factor` divides it.
#[derive(Clone, Debug)]
pub(super) struct Product {
    /// The variables, each as often as it occurs.
    pub(super) factors: BTreeMap<u32, u32>,
    /// What is known of the product.
    pub(super) known: u64,
    pub(super) number: u64,
    /// The number is a multiple of this variable.
    pub(super) times: Option<u32>,
    /// Open rows stand for the rest.
    pub(super) divides: bool,
}

/// What is known of a group of variables.
#[derive(Default)]
pub(super) struct System {
    pub(super) equations: Vec<Linear>,
    pub(super) products: Vec<Product>,
    /// The first is one, or it is the second.
    pub(super) below: Vec<(u32, u32)>,
}

/// In groups up to this, every size of a variable that has no more than a few is tried.
const PROBED: usize = 10;
const TRIED: usize = 4;

impl System {
    /// Narrows the domains of the variables.
    pub(super) fn narrow(&self, domains: &mut BTreeMap<u32, Domain>) -> Result<(), Empty> {
        self.rounds(domains)?;
        if domains.len() > PROBED {
            return Ok(());
        }
        let variables: Vec<u32> = domains.keys().copied().collect();
        for var in variables {
            let Some(sizes) = domains[&var].few().filter(|s| (2..=TRIED).contains(&s.len())) else {
                continue;
            };
            let fits = |size: &u64| {
                let mut with = domains.clone();
                with.insert(var, Domain::of(vec![*size]));
                self.rounds(&mut with).is_ok()
            };
            let kept: Vec<u64> = sizes.iter().copied().filter(fits).collect();
            if kept.is_empty() {
                return Err(Empty);
            }
            if kept.len() < sizes.len() {
                domains.insert(var, Domain::of(kept));
                self.rounds(domains)?;
            }
        }
        Ok(())
    }

    fn rounds(&self, domains: &mut BTreeMap<u32, Domain>) -> Result<(), Empty> {
        for _ in 0..ROUNDS {
            let mut changed = false;
            for equation in &self.equations {
                changed |= by_interval(equation, domains)?;
                changed |= by_combination(equation, domains)?;
            }
            for product in &self.products {
                changed |= by_divisors(product, domains)?;
            }
            for (sub, sup) in &self.below {
                if let Some(met) = self.met(*sub, *sup)
                    && let Some(domain) = domains.get_mut(sub)
                {
                    let kept = [1, met].into_iter().filter(|size| domain.contains(*size)).collect();
                    let kept = Domain::of(kept);
                    if kept.is_empty() {
                        return Err(Empty);
                    }
                    changed |= kept != *domain;
                    *domain = kept;
                }
                changed |= by_order(*sub, *sup, domains)?;
            }
            if !changed {
                break;
            }
        }
        Ok(())
    }
}

impl System {
    /// The only size that two axes can have if they are one, where an equation says so: one, if there is none.
    fn met(&self, a: u32, b: u32) -> Option<u64> {
        self.equations.iter().find_map(|equation| {
            let mut terms = equation.terms.clone();
            let of_a = terms.remove(&a)?;
            *terms.get_mut(&b)? += of_a;
            terms.retain(|_, coefficient| *coefficient != 0);
            let constant = equation.constant;
            match terms.first_key_value() {
                None => (constant != 0).then_some(1),
                Some((var, c))
                    if terms.len() == 1 && (*var == b || constant % c != 0 || constant / c < 1) =>
                {
                    let size = u64::try_from(constant / c).unwrap_or(1);
                    Some(if constant % c == 0 { size.max(1) } else { 1 })
                }
                Some(_) => {
                    // Of sizes of at least one, or of at least none.
                    let least = if equation.full { terms.values().sum() } else { 0 };
                    let positive = terms.values().all(|c| *c > 0) && constant < least;
                    let negative = terms.values().all(|c| *c < 0) && constant > least;
                    (positive || negative).then_some(1)
                }
            }
        })
    }
}

fn by_order(sub: u32, sup: u32, domains: &mut BTreeMap<u32, Domain>) -> Result<bool, Empty> {
    let (Some(below), Some(above)) = (domains.get(&sub).cloned(), domains.get(&sup).cloned()) else {
        return Ok(false);
    };
    let mut changed = false;
    if let Some(domain) = domains.get_mut(&sub) {
        changed |= domain.retain(|size| size == 1 || above.contains(size))?;
    }
    if !below.contains(1)
        && let Some(domain) = domains.get_mut(&sup)
    {
        changed |= domain.within(below.least, below.most)?;
        changed |= domain.retain(|size| below.contains(size))?;
    }
    Ok(changed)
}

/// The sum of the least and of the greatest that each term can be; `None` is without a limit.
fn by_interval(equation: &Linear, domains: &mut BTreeMap<u32, Domain>) -> Result<bool, Empty> {
    if equation.terms.is_empty() {
        return if equation.constant == 0 { Ok(false) } else { Err(Empty) };
    }
    let all = equation.terms.values().fold(0, |g, c| gcd(g, *c));
    if equation.constant % all != 0 {
        return Err(Empty);
    }
    let size = |n: u64| if n == u64::MAX { None } else { Some(i128::from(n)) };
    let mut changed = false;
    let vars: Vec<(u32, i128)> = equation.terms.iter().map(|(v, c)| (*v, *c)).collect();
    for (var, coefficient) in &vars {
        let (mut low, mut high) = (Some(0i128), Some(0i128));
        let mut others = 0;
        for (other, c) in vars.iter().filter(|(v, _)| v != var) {
            let domain = &domains[other];
            let (a, b) = if *c > 0 {
                (size(domain.least), size(domain.most))
            } else {
                (size(domain.most), size(domain.least))
            };
            let add = |sum: Option<i128>, n: Option<i128>| sum?.checked_add(n?.checked_mul(*c)?);
            (low, high) = (add(low, a), add(high, b));
            others = gcd(others, *c);
        }
        // coefficient·var lies between constant − high and constant − low.
        let (from, to) = (
            high.and_then(|h| equation.constant.checked_sub(h)),
            low.and_then(|l| equation.constant.checked_sub(l)),
        );
        let (least, most) = if *coefficient > 0 {
            (from.map(|f| ceil(f, *coefficient)), to.map(|t| floor(t, *coefficient)))
        } else {
            (to.map(|t| ceil(t, *coefficient)), from.map(|f| floor(f, *coefficient)))
        };
        let least = least.map_or(0, |l| u64::try_from(l.max(0)).unwrap_or(u64::MAX - 1));
        let most = match most {
            Some(m) if m < 0 => return Err(Empty),
            Some(m) => u64::try_from(m).unwrap_or(u64::MAX),
            None => u64::MAX,
        };
        let Some(domain) = domains.get_mut(var) else { continue };
        changed |= domain.within(least, most)?;
        let (c, constant) = (*coefficient, equation.constant);
        changed |= domain.retain(|s| {
            c.checked_mul(i128::from(s)).is_none_or(|t| {
                let rest = constant - t;
                if others == 0 { rest == 0 } else { rest % others == 0 }
            })
        })?;
    }
    Ok(changed)
}

fn floor(a: i128, b: i128) -> i128 {
    let q = a / b;
    if a % b != 0 && (a < 0) != (b < 0) { q - 1 } else { q }
}

fn ceil(a: i128, b: i128) -> i128 {
    -floor(-a, b)
}

/// Every sum of the sizes of variables with few sizes; `None` where these are too many.
fn sums(terms: &[(u32, i128)], domains: &BTreeMap<u32, Domain>) -> Option<Vec<i128>> {
    let mut all = vec![0i128];
    for (var, coefficient) in terms {
        let sizes = domains[var].few()?;
        if all.len() * sizes.len() > COMBINATIONS {
            return None;
        }
        let next = all.iter().flat_map(|sum| {
            sizes.iter().map(move |s| sum.checked_add(coefficient.checked_mul(i128::from(*s))?))
        });
        all = next.collect::<Option<_>>()?;
    }
    Some(all)
}

/// Where all variables but one have few sizes, those of the other are what is left.
fn by_combination(equation: &Linear, domains: &mut BTreeMap<u32, Domain>) -> Result<bool, Empty> {
    let vars: Vec<(u32, i128)> = equation.terms.iter().map(|(v, c)| (*v, *c)).collect();
    let mut changed = false;
    for (var, coefficient) in &vars {
        let others: Vec<(u32, i128)> = vars.iter().copied().filter(|(v, _)| v != var).collect();
        let Some(sums) = sums(&others, domains) else { continue };
        let rest = sums.iter().map(|s| equation.constant - s).filter(|r| r % coefficient == 0);
        let sizes = rest.filter_map(|r| u64::try_from(r / coefficient).ok());
        let Some(domain) = domains.get_mut(var) else { continue };
        let kept: Vec<u64> = sizes.filter(|s| domain.contains(*s)).collect();
        if kept.is_empty() {
            return Err(Empty);
        }
        let new = Domain::of(kept);
        if new.named.as_ref().is_some_and(|n| n.len() <= NAMED) && new != *domain {
            *domain = new;
            changed = true;
        }
    }
    Ok(changed)
}

/// The divisors of a number; none where it is large.
fn divisors(number: u64) -> Option<Vec<u64>> {
    if number == 0 || number > DIVISORS {
        return None;
    }
    let mut all = Vec::new();
    let mut d = 1;
    while d * d <= number {
        if number.is_multiple_of(d) {
            all.extend([d, number / d]);
        }
        d += 1;
    }
    Some(all)
}

fn by_divisors(product: &Product, domains: &mut BTreeMap<u32, Domain>) -> Result<bool, Empty> {
    let times = match product.times {
        None => Some(1),
        Some(var) => domains[&var].single(),
    };
    let Some(number) = times.and_then(|t| t.checked_mul(product.number)) else {
        return by_factors(product, domains);
    };
    if product.known == 0 || !number.is_multiple_of(product.known) {
        return Err(Empty);
    }
    let left = number / product.known;
    let mut changed = false;
    let vars: Vec<(u32, u32)> = product.factors.iter().map(|(v, n)| (*v, *n)).collect();
    for (var, power) in &vars {
        let domain = &domains[var];
        if domain.few().is_none()
            && let Some(all) = divisors(left)
        {
            let kept: Vec<u64> = all.into_iter().filter(|d| domain.contains(*d)).collect();
            if kept.is_empty() {
                return Err(Empty);
            }
            if kept.len() <= NAMED {
                domains.insert(*var, Domain::of(kept));
                changed = true;
            }
        }
        // What the others can be together.
        let mut others: Option<Vec<u64>> = Some(vec![1]);
        for (other, n) in vars.iter().filter(|(v, _)| v != var) {
            others = others.and_then(|all| {
                let sizes = domains[other].few()?;
                let all: Vec<u64> = all
                    .iter()
                    .flat_map(|p| sizes.iter().filter_map(move |s| p.checked_mul(s.checked_pow(*n)?)))
                    .filter(|p| *p > 0 && left.is_multiple_of(*p))
                    .collect();
                (all.len() <= COMBINATIONS).then_some(all)
            });
        }
        let Some(domain) = domains.get_mut(var) else { continue };
        changed |= domain.within(1, left)?;
        changed |= domain.retain(|s| {
            let Some(own) = s.checked_pow(*power) else { return false };
            own > 0
                && left.is_multiple_of(own)
                && (product.divides || others.as_ref().is_none_or(|o| o.contains(&(left / own))))
        })?;
    }
    if vars.is_empty() && !product.divides && left != 1 {
        return Err(Empty);
    }
    Ok(changed)
}

/// The multiple from its factors, where these have few sizes.
fn by_factors(product: &Product, domains: &mut BTreeMap<u32, Domain>) -> Result<bool, Empty> {
    let (Some(var), false) = (product.times, product.divides) else { return Ok(false) };
    if product.factors.contains_key(&var) {
        return Ok(false);
    }
    let mut all = vec![product.known];
    for (factor, power) in &product.factors {
        let Some(sizes) = domains[factor].few() else { return Ok(false) };
        all = all
            .iter()
            .flat_map(|p| sizes.iter().filter_map(move |s| p.checked_mul(s.checked_pow(*power)?)))
            .collect();
        if all.len() > COMBINATIONS {
            return Ok(false);
        }
    }
    let Some(domain) = domains.get_mut(&var) else { return Ok(false) };
    let sizes = all.iter().filter(|p| p.is_multiple_of(product.number)).map(|p| p / product.number);
    let kept: Vec<u64> = sizes.filter(|s| domain.contains(*s)).collect();
    if kept.is_empty() {
        return Err(Empty);
    }
    let new = Domain::of(kept);
    if new.named.as_ref().is_some_and(|n| n.len() <= NAMED) && new != *domain {
        *domain = new;
        return Ok(true);
    }
    Ok(false)
}
