//! Polynomials with integer coefficients. Arithmetic is checked: what does not fit is [`TooLarge`], never wrapped.

use std::collections::{BTreeMap, BTreeSet};

/// A product of variables, sorted, with repetition. The empty one is 1.
pub(crate) type Monomial<V> = Vec<V>;

/// A coefficient does not fit in `i128`, or the polynomial has too many or too high terms to work with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

pub(crate) type Checked<T> = Result<T, TooLarge>;

const MAX_TERMS: usize = 256;
const MAX_DEGREE: usize = 24;

/// A sum of monomials with coefficients other than zero, in the order of degree and variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Poly<V> {
    terms: Vec<(Monomial<V>, i128)>,
}

pub(crate) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    // Only the magnitude of `i128::MIN` does not fit; 1 is then a common divisor too.
    i128::try_from(a).unwrap_or(1)
}

impl<V: Ord + Clone> Poly<V> {
    pub(crate) fn constant(value: i128) -> Poly<V> {
        Poly { terms: if value == 0 { Vec::new() } else { vec![(Vec::new(), value)] } }
    }

    pub(crate) fn variable(variable: V) -> Poly<V> {
        Poly { terms: vec![(vec![variable], 1)] }
    }

    /// The sum of these terms.
    pub(crate) fn of(terms: impl IntoIterator<Item = (Monomial<V>, i128)>) -> Checked<Poly<V>> {
        let mut sum: BTreeMap<(usize, Monomial<V>), i128> = BTreeMap::new();
        for (mut monomial, coefficient) in terms {
            monomial.sort();
            if monomial.len() > MAX_DEGREE {
                return Err(TooLarge);
            }
            let slot = sum.entry((monomial.len(), monomial)).or_insert(0);
            *slot = slot.checked_add(coefficient).ok_or(TooLarge)?;
        }
        let terms: Vec<_> = sum.into_iter().filter(|(_, c)| *c != 0).map(|((_, m), c)| (m, c)).collect();
        // Without the smallest number every coefficient has its negative.
        let fits = terms.len() <= MAX_TERMS && terms.iter().all(|(_, c)| *c != i128::MIN);
        if fits { Ok(Poly { terms }) } else { Err(TooLarge) }
    }

    pub(crate) fn terms(&self) -> &[(Monomial<V>, i128)] {
        &self.terms
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    pub(crate) fn as_const(&self) -> Option<i128> {
        match &self.terms[..] {
            [] => Some(0),
            [(monomial, value)] if monomial.is_empty() => Some(*value),
            _ => None,
        }
    }

    pub(crate) fn constant_term(&self) -> i128 {
        self.coefficient(&[])
    }

    pub(crate) fn coefficient(&self, monomial: &[V]) -> i128 {
        self.terms.iter().find(|(m, _)| m == monomial).map_or(0, |(_, c)| *c)
    }

    /// `variable + offset`
    pub(crate) fn shifted(variable: V, offset: i128) -> Poly<V> {
        let constant = (offset != 0).then_some((Vec::new(), offset));
        Poly { terms: constant.into_iter().chain([(vec![variable], 1)]).collect() }
    }

    /// The only variable, if the polynomial is one variable.
    pub(crate) fn as_variable(&self) -> Option<&V> {
        match &self.terms[..] {
            [(monomial, 1)] if monomial.len() == 1 => monomial.first(),
            _ => None,
        }
    }

    pub(crate) fn degree(&self) -> usize {
        self.terms.last().map_or(0, |(m, _)| m.len())
    }

    /// The variables of this polynomial itself, not those inside them.
    pub(crate) fn variables(&self) -> BTreeSet<V> {
        self.terms.iter().flat_map(|(m, _)| m.iter().cloned()).collect()
    }

    pub(crate) fn add(&self, other: &Poly<V>) -> Checked<Poly<V>> {
        Poly::of(self.terms.iter().chain(&other.terms).cloned())
    }

    pub(crate) fn sub(&self, other: &Poly<V>) -> Checked<Poly<V>> {
        self.add(&other.scale(-1)?)
    }

    /// `self + value`
    pub(crate) fn plus(&self, value: i128) -> Checked<Poly<V>> {
        self.add(&Poly::constant(value))
    }

    pub(crate) fn scale(&self, factor: i128) -> Checked<Poly<V>> {
        let scaled = |(m, c): &(Monomial<V>, i128)| Ok((m.clone(), c.checked_mul(factor).ok_or(TooLarge)?));
        Poly::of(self.terms.iter().map(scaled).collect::<Checked<Vec<_>>>()?)
    }

    pub(crate) fn mul(&self, other: &Poly<V>) -> Checked<Poly<V>> {
        if self.terms.len() * other.terms.len() > 4 * MAX_TERMS {
            return Err(TooLarge);
        }
        let mut terms = Vec::new();
        for (m, c) in &self.terms {
            for (n, d) in &other.terms {
                terms.push(([&m[..], &n[..]].concat(), c.checked_mul(*d).ok_or(TooLarge)?));
            }
        }
        Poly::of(terms)
    }

    /// The greatest common divisor of all coefficients but the constant; 0 for a constant.
    pub(crate) fn content(&self) -> i128 {
        self.terms.iter().filter(|(m, _)| !m.is_empty()).fold(0, |g, (_, c)| gcd(g, *c))
    }

    /// The greatest common divisor of all coefficients.
    pub(crate) fn content_with_constant(&self) -> i128 {
        gcd(self.content(), self.constant_term())
    }

    /// Every coefficient divided by a common divisor.
    pub(crate) fn divided(&self, divisor: i128) -> Poly<V> {
        Poly { terms: self.terms.iter().map(|(m, c)| (m.clone(), c / divisor)).collect() }
    }

    /// The strongest integer consequence of `self ≥ 0` with the same left side: `2x - 1 ≥ 0` becomes `x - 1 ≥ 0`.
    pub(crate) fn tightened(&self) -> Poly<V> {
        let content = self.content();
        if content <= 1 {
            return self.clone();
        }
        let floor = |c: i128| c.div_euclid(content);
        let terms = self.terms.iter().map(|(m, c)| (m.clone(), floor(*c))).filter(|(_, c)| *c != 0);
        Poly { terms: terms.collect() }
    }

    /// Every variable replaced by what `f` gives for it.
    pub(crate) fn substituted<W: Ord + Clone>(&self, f: impl Fn(&V) -> Poly<W>) -> Checked<Poly<W>> {
        let mut sum = Poly::constant(0);
        for (monomial, coefficient) in &self.terms {
            let mut product = Poly::constant(*coefficient);
            for variable in monomial {
                product = product.mul(&f(variable))?;
            }
            sum = sum.add(&product)?;
        }
        Ok(sum)
    }

    /// The quotient, if the division has no remainder.
    pub(crate) fn exact_quotient(&self, divisor: &Poly<V>) -> Option<Poly<V>> {
        let (lead, coefficient) = divisor.terms.last()?;
        let (mut rest, mut quotient) = (self.clone(), Vec::new());
        // The leading monomial of the rest falls in the order of degree and variables with every step.
        while let Some((monomial, c)) = rest.terms.last().cloned() {
            let factor = without(&monomial, lead)?;
            if c % coefficient != 0 || quotient.len() > MAX_TERMS {
                return None;
            }
            let term = Poly { terms: vec![(factor, c / coefficient)] };
            rest = rest.sub(&divisor.mul(&term).ok()?).ok()?;
            if rest.coefficient(&monomial) != 0 {
                return None;
            }
            quotient.extend(term.terms);
        }
        Poly::of(quotient).ok()
    }

    /// The variables, with repetition, that every monomial has.
    pub(crate) fn common_factor(&self) -> Monomial<V> {
        let mut monomials = self.terms.iter().map(|(m, _)| m);
        let Some(first) = monomials.next() else { return Vec::new() };
        let mut common = first.clone();
        for monomial in monomials {
            let mut rest = monomial.clone();
            common.retain(|v| match rest.iter().position(|w| w == v) {
                Some(at) => {
                    rest.remove(at);
                    true
                }
                None => false,
            });
        }
        common
    }

    /// Every monomial without these variables, which each must have.
    pub(crate) fn without_factor(&self, factor: &[V]) -> Option<Poly<V>> {
        let terms: Option<Vec<_>> = self.terms.iter().map(|(m, c)| Some((without(m, factor)?, *c))).collect();
        Poly::of(terms?).ok()
    }
}

/// The monomial without these variables, if it has them.
pub(crate) fn without<V: Ord + Clone>(monomial: &[V], factor: &[V]) -> Option<Monomial<V>> {
    let mut rest = monomial.to_vec();
    for variable in factor {
        let at = rest.iter().position(|w| w == variable)?;
        rest.remove(at);
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poly(terms: &[(&str, i128)]) -> Poly<char> {
        Poly::of(terms.iter().map(|(m, c)| (m.chars().collect(), *c))).unwrap()
    }

    #[test]
    fn products_collect_like_terms() {
        let sum = poly(&[("a", 1), ("b", 1)]);
        assert_eq!(sum.mul(&sum).unwrap(), poly(&[("aa", 1), ("ab", 2), ("bb", 1)]));
        assert_eq!(sum.sub(&sum).unwrap(), Poly::constant(0));
    }

    #[test]
    fn division_is_exact_or_nothing() {
        let (x, y) = (poly(&[("a", 2), ("", 1)]), poly(&[("ab", 3), ("b", -1)]));
        assert_eq!(x.mul(&y).unwrap().exact_quotient(&x), Some(y.clone()));
        assert_eq!(x.mul(&y).unwrap().plus(1).unwrap().exact_quotient(&x), None);
        assert_eq!(x.exact_quotient(&poly(&[("a", 4)])), None);
    }

    #[test]
    fn integer_inequalities_are_tightened() {
        assert_eq!(poly(&[("a", 2), ("", -1)]).tightened(), poly(&[("a", 1), ("", -1)]));
        assert_eq!(poly(&[("a", -2), ("", 1)]).tightened(), poly(&[("a", -1)]));
    }

    #[test]
    fn overflow_is_an_error() {
        let large = Poly::<char>::constant(i128::MAX);
        assert_eq!(large.plus(1), Err(TooLarge));
        assert_eq!(large.scale(2), Err(TooLarge));
        assert_eq!(Poly::<char>::constant(i128::MIN).scale(-1), Err(TooLarge));
        assert_eq!(large.mul(&large), Err(TooLarge));
    }
}
