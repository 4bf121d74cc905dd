//! The normal form of extents (reference/extents.md, section 3.2): a polynomial over sizes, floor divisions and
//! maxima. Two expressions with one normal form have one value wherever both are defined; the converse is a matter
//! of proof.
//!
//! A minimum is written by a maximum, `min(x, y) = x + y - max(x, y)`, so that the laws that join the two hold by
//! themselves. `mod` and `ceildiv` are written by floor division.

use super::poly::{Checked, Monomial, Poly, TooLarge, gcd, without};
use super::range::Range;
use crate::{Extent, ExtentExpr};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(crate) type Size = Poly<Atom>;

/// What a normal form is a polynomial over.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Atom {
    /// The size of an axis, the value of a scalar, or a declared size.
    Leaf(Arc<ExtentExpr>),
    /// The quotient that a divisibility fact says is an integer.
    Quotient(u32),
    /// `⌊x / d⌋`
    FloorDiv(Arc<(Size, Size)>),
    /// The largest of at least two.
    Max(Arc<[Size]>),
}

/// With more maxima in one expression, its range is that of its parts.
const MAX_MAXIMA: usize = 3;
/// More operands of a maximum than this are not flattened into one.
const MAX_OPERANDS: usize = 12;

impl Atom {
    /// Adds the atom and everything inside it.
    pub(crate) fn collect(&self, into: &mut BTreeSet<Atom>) {
        if !into.insert(self.clone()) {
            return;
        }
        match self {
            Atom::Leaf(_) | Atom::Quotient(_) => {}
            Atom::FloorDiv(parts) => [&parts.0, &parts.1].iter().for_each(|p| collect(p, into)),
            Atom::Max(operands) => operands.iter().for_each(|p| collect(p, into)),
        }
    }

    /// A symbol, which has no parts.
    pub(crate) fn is_symbol(&self) -> bool {
        matches!(self, Atom::Leaf(_) | Atom::Quotient(_))
    }
}

/// Adds the atoms of a polynomial and everything inside them.
pub(crate) fn collect(size: &Size, into: &mut BTreeSet<Atom>) {
    size.variables().iter().for_each(|atom| atom.collect(into));
}

/// Every atom of a polynomial, those inside others included.
pub(crate) fn atoms(size: &Size) -> BTreeSet<Atom> {
    let mut all = BTreeSet::new();
    collect(size, &mut all);
    all
}

/// What normal forms may use: ranges of atoms, and sizes that equal an expression of others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    pub(crate) ranges: BTreeMap<Atom, Range>,
    pub(crate) solved: BTreeMap<Atom, Size>,
}

impl Context {
    /// The normal form of an extent.
    pub(crate) fn normal(&self, extent: &Extent) -> Checked<Size> {
        let expr = match extent {
            Extent::Const(value) => return Ok(Poly::constant((*value).into())),
            Extent::Expr(expr) => expr,
        };
        let both = |a: &Extent, b: &Extent| Ok::<_, TooLarge>((self.normal(a)?, self.normal(b)?));
        match &**expr {
            ExtentExpr::Symbol(_) | ExtentExpr::InputAxis { .. } | ExtentExpr::RuntimeScalar { .. } => {
                let atom = Atom::Leaf(expr.clone());
                Ok(self.solved.get(&atom).cloned().unwrap_or_else(|| Poly::variable(atom)))
            }
            ExtentExpr::Add(a, b) => both(a, b).and_then(|(a, b)| a.add(&b)),
            ExtentExpr::Sub(a, b) => both(a, b).and_then(|(a, b)| a.sub(&b)),
            ExtentExpr::Mul(a, b) => both(a, b).and_then(|(a, b)| self.product(&a, &b)),
            ExtentExpr::FloorDiv(a, b) => both(a, b).and_then(|(a, b)| self.floor_div(a, b)),
            ExtentExpr::Max(a, b) => both(a, b).and_then(|(a, b)| self.maximum(vec![a, b])),
            ExtentExpr::Min(a, b) => {
                let (a, b) = both(a, b)?;
                self.maximum(vec![a.scale(-1)?, b.scale(-1)?])?.scale(-1)
            }
        }
    }

    /// The normal form with every atom replaced, from the symbols upward.
    pub(crate) fn replaced(&self, size: &Size, by: &dyn Fn(&Atom) -> Option<Size>) -> Checked<Size> {
        let mut sum = Poly::constant(0);
        for (monomial, coefficient) in size.terms() {
            let mut product = Poly::constant(*coefficient);
            for atom in monomial {
                let atom = match (by(atom), atom) {
                    (Some(size), _) => size,
                    (None, Atom::Leaf(_) | Atom::Quotient(_)) => Poly::variable(atom.clone()),
                    (None, Atom::FloorDiv(parts)) => {
                        self.floor_div(self.replaced(&parts.0, by)?, self.replaced(&parts.1, by)?)?
                    }
                    (None, Atom::Max(operands)) => {
                        let operands = operands.iter().map(|o| self.replaced(o, by));
                        self.maximum(operands.collect::<Checked<_>>()?)?
                    }
                };
                product = self.product(&product, &atom)?;
            }
            sum = sum.add(&product)?;
        }
        Ok(sum)
    }

    /// The normal form under what is solved.
    pub(crate) fn renormalised(&self, size: &Size) -> Checked<Size> {
        self.replaced(size, &|atom| self.solved.get(atom).cloned())
    }

    /// `x·y`. The square of the larger of two is written without: `(m - a)·(m - b) = 0`.
    pub(crate) fn product(&self, x: &Size, y: &Size) -> Checked<Size> {
        let mut product = x.mul(y)?;
        loop {
            let square = product.terms().iter().find_map(|(monomial, coefficient)| {
                let at = monomial.windows(2).position(|w| w[0] == w[1] && is_binary(&w[0]))?;
                let mut rest = monomial.clone();
                rest.drain(at..at + 2);
                Some((monomial[at].clone(), Poly::of([(rest, *coefficient)]), monomial.clone(), *coefficient))
            });
            let Some((atom, rest, monomial, coefficient)) = square else { return Ok(product) };
            let Atom::Max(operands) = &atom else { return Ok(product) };
            let (a, b) = (&operands[0], &operands[1]);
            let linear = a.add(b)?.mul(&Poly::variable(atom.clone()))?.sub(&a.mul(b)?)?;
            let without = product.sub(&Poly::of([(monomial, coefficient)])?)?;
            product = without.add(&rest?.mul(&linear)?)?;
        }
    }

    /// `⌊x / d⌋`. Nothing is cancelled unless the divisor is known to be at least 1; nothing divided is nothing wherever
    /// it is defined.
    pub(crate) fn floor_div(&self, x: Size, d: Size) -> Checked<Size> {
        if x.is_zero() {
            return Ok(x);
        }
        let opaque = |x: Size, d: Size| Ok(Poly::variable(Atom::FloorDiv(Arc::new((x, d)))));
        match d.as_const() {
            Some(divisor) if divisor >= 1 => return self.by_constant(x, divisor),
            Some(_) => return opaque(x, d),
            None if !self.is_nonnegative(&d.plus(-1)?) => return opaque(x, d),
            None => {}
        }
        if let Some(quotient) = x.exact_quotient(&d) {
            return Ok(quotient);
        }
        let (quotient, mut rest) = self.multiples(&x, &d)?;
        let mut divisor = d;
        let positive = |atom: &Atom| self.atom_range(atom).low >= 1;
        let mut common: Monomial<Atom> = rest.common_factor();
        let mut of_divisor = divisor.common_factor();
        common.retain(|atom| match of_divisor.iter().position(|a| a == atom) {
            Some(at) if positive(atom) => {
                of_divisor.remove(at);
                true
            }
            _ => false,
        });
        let content = gcd(rest.content_with_constant(), divisor.content_with_constant());
        if content > 1 {
            (rest, divisor) = (rest.divided(content), divisor.divided(content));
        }
        if let (false, Some(r), Some(d)) =
            (common.is_empty(), rest.without_factor(&common), divisor.without_factor(&common))
        {
            (rest, divisor) = (r, d);
        }
        if divisor.as_const().is_some() {
            return quotient.add(&self.floor_div(rest, divisor)?);
        }
        let below = divisor.plus(-1)?.sub(&rest)?;
        if self.is_nonnegative(&rest) && self.is_nonnegative(&below) {
            return Ok(quotient);
        }
        quotient.add(&opaque(rest, divisor)?)
    }

    /// `x = quotient·d + rest` for a divisor of one term.
    fn multiples(&self, x: &Size, d: &Size) -> Checked<(Size, Size)> {
        let [(lead, coefficient)] = d.terms() else { return Ok((Poly::constant(0), x.clone())) };
        let (mut quotient, mut rest) = (Vec::new(), Vec::new());
        for (monomial, c) in x.terms() {
            match without(monomial, lead) {
                Some(factor) => {
                    quotient.push((factor, c.div_euclid(*coefficient)));
                    rest.push((monomial.clone(), c.rem_euclid(*coefficient)));
                }
                None => rest.push((monomial.clone(), *c)),
            }
        }
        Ok((Poly::of(quotient)?, Poly::of(rest)?))
    }

    fn by_constant(&self, x: Size, d: i128) -> Checked<Size> {
        let constant = |x: &Size, d: i128| {
            let range = self.range(x);
            let (low, high) = (range.lower()?.div_euclid(d), range.upper()?.div_euclid(d));
            (low == high).then_some(low)
        };
        if let Some(value) = constant(&x, d) {
            return Ok(Poly::constant(value));
        }
        let quotient = Poly::of(x.terms().iter().map(|(m, c)| (m.clone(), c.div_euclid(d))))?;
        let rest = Poly::of(x.terms().iter().map(|(m, c)| (m.clone(), c.rem_euclid(d))))?;
        let content = gcd(rest.content(), d);
        let floor = |(m, c): &(Monomial<Atom>, i128)| (m.clone(), c.div_euclid(content.max(1)));
        let (rest, d) = (Poly::of(rest.terms().iter().map(floor))?, d / content.max(1));
        if let Some(value) = constant(&rest, d) {
            return quotient.plus(value);
        }
        // ⌊(⌊y / m⌋ + k) / d⌋ = ⌊(y + k·m) / (m·d)⌋
        let offset = rest.constant_term();
        if let Some(Atom::FloorDiv(parts)) = rest.plus(-offset)?.as_variable()
            && let Some(m) = parts.1.as_const().filter(|&m| m >= 1)
        {
            let y = parts.0.plus(offset.checked_mul(m).ok_or(TooLarge)?)?;
            return quotient.add(&self.by_constant(y, m.checked_mul(d).ok_or(TooLarge)?)?);
        }
        quotient.add(&Poly::variable(Atom::FloorDiv(Arc::new((rest, Poly::constant(d))))))
    }

    /// The largest of these.
    pub(crate) fn maximum(&self, operands: Vec<Size>) -> Checked<Size> {
        let mut operands = self.undominated(flattened(operands)?)?;
        if let [only] = &operands[..] {
            return Ok(only.clone());
        }
        // What every operand has is pulled out: of each monomial the smallest coefficient, then common factors.
        let monomials: BTreeSet<Monomial<Atom>> =
            operands.iter().flat_map(|o| o.terms().iter().map(|(m, _)| m.clone())).collect();
        let smallest = |m: &Monomial<Atom>| operands.iter().map(|o| o.coefficient(m)).min().unwrap_or(0);
        let base = Poly::of(monomials.iter().map(|m| (m.clone(), smallest(m))))?;
        operands = operands.iter().map(|o| o.sub(&base)).collect::<Checked<_>>()?;
        let content = operands.iter().fold(0, |g, o| gcd(g, o.content_with_constant())).max(1);
        operands = operands.iter().map(|o| o.divided(content)).collect();
        let common = self.common_nonnegative(&operands);
        if !common.is_empty() {
            // The operand zero has every factor.
            let divided = |o: &Size| if o.is_zero() { Some(o.clone()) } else { o.without_factor(&common) };
            operands = operands.iter().map(divided).collect::<Option<_>>().ok_or(TooLarge)?;
        }
        operands.sort();
        let count = operands.len();
        let operands = self.undominated(operands)?;
        let atom = match &operands[..] {
            [only] => only.clone(),
            _ if operands.len() < count => self.maximum(operands)?,
            _ => Poly::variable(Atom::Max(operands.into())),
        };
        base.add(&self.product(&Poly::of([(common, content)])?, &atom)?)
    }

    /// The operands without those that another one is never below.
    fn undominated(&self, mut operands: Vec<Size>) -> Checked<Vec<Size>> {
        let mut i = 0;
        while i < operands.len() {
            let mut dominated = false;
            for (j, other) in operands.iter().enumerate() {
                dominated |= i != j && self.is_nonnegative(&other.sub(&operands[i])?);
            }
            if dominated {
                operands.remove(i);
            } else {
                i += 1;
            }
        }
        Ok(operands)
    }

    fn common_nonnegative(&self, operands: &[Size]) -> Monomial<Atom> {
        let mut factors = operands.iter().filter(|o| !o.is_zero()).map(Size::common_factor);
        let mut common = factors.next().unwrap_or_default();
        common.retain(|atom| self.atom_range(atom).low >= 0);
        for mut factor in factors {
            common.retain(|atom| match factor.iter().position(|a| a == atom) {
                Some(at) => {
                    factor.remove(at);
                    true
                }
                None => false,
            });
        }
        common
    }

    /// The values an atom can have, as far as its parts tell.
    pub(crate) fn atom_range(&self, atom: &Atom) -> Range {
        let own = match atom {
            Atom::Leaf(_) => Range::NONNEGATIVE,
            Atom::Quotient(_) => Range::ALL,
            Atom::FloorDiv(parts) => match self.range(&parts.1) {
                divisor if divisor.low >= 1 => self.range(&parts.0).floor_div(divisor),
                _ => Range::ALL,
            },
            Atom::Max(operands) => {
                let ranges = operands.iter().map(|o| self.range(o));
                ranges.reduce(Range::maximum).unwrap_or(Range::ALL)
            }
        };
        self.ranges.get(atom).map_or(own, |known| own.and(*known))
    }

    /// The values a polynomial can have, as far as its parts tell.
    pub(crate) fn range(&self, size: &Size) -> Range {
        let monomial = |m: &Monomial<Atom>| {
            m.chunk_by(|a, b| a == b)
                .fold(Range::exactly(1), |r, same| r.times(self.atom_range(&same[0]).power(same.len())))
        };
        let terms = size.terms().iter().map(|(m, c)| monomial(m).times(Range::exactly(*c)));
        let by_parts = terms.fold(Range::exactly(0), Range::plus);
        let maxima = size.variables().iter().filter(|a| matches!(a, Atom::Max(_))).count();
        let refined = size.terms().iter().filter_map(|(m, c)| match &m[..] {
            [Atom::FloorDiv(_)] => self.by_remainder(size, m, *c),
            // Each one multiplies the work.
            [atom @ Atom::Max(_)] if maxima <= MAX_MAXIMA => self.by_operand(size, atom, *c),
            _ => None,
        });
        refined.fold(by_parts, Range::and)
    }

    /// The range of an expression with `c` times a maximum, which is one of its operands and at least each of them.
    fn by_operand(&self, size: &Size, atom: &Atom, c: i128) -> Option<Range> {
        let Atom::Max(operands) = atom else { return None };
        let rest = size.sub(&Poly::of([(vec![atom.clone()], c)]).ok()?).ok()?;
        if rest.variables().contains(atom) {
            return None;
        }
        let with = |operand: &Size| Some(self.range(&rest.add(&operand.scale(c).ok()?).ok()?));
        let ranges = operands.iter().map(with).collect::<Option<Vec<Range>>>()?;
        let low = ranges.iter().map(|r| r.low);
        let high = ranges.iter().map(|r| r.high);
        Some(if c > 0 {
            Range { low: low.max()?, high: high.max()? }
        } else {
            Range { low: low.min()?, high: high.min()? }
        })
    }

    /// The range of an expression with `c·⌊x / d⌋` in which `d` divides `c`: that is `c/d` times `x` less a remainder.
    fn by_remainder(&self, size: &Size, monomial: &[Atom], c: i128) -> Option<Range> {
        let [Atom::FloorDiv(parts)] = monomial else { return None };
        let d = parts.1.as_const().filter(|&d| d >= 1 && c % d == 0)?;
        let rest = size.sub(&Poly::of([(monomial.to_vec(), c)]).ok()?).ok()?;
        let without = rest.add(&parts.0.scale(c / d).ok()?).ok()?;
        let remainder = Range { low: 0, high: d - 1 }.times(Range::exactly(-(c / d)));
        // A remainder of what is constant in it would be sought again and again.
        let is_simpler = without.terms().len() < size.terms().len();
        is_simpler.then(|| self.range(&without).plus(remainder))
    }

    /// Is it plain that the value is never negative? By its range, or because no coefficient is negative once every
    /// variable is written as its lower bound and what is above it.
    pub(crate) fn is_nonnegative(&self, size: &Size) -> bool {
        if self.range(size).low >= 0 {
            return true;
        }
        let lows: BTreeMap<Atom, i128> = size
            .variables()
            .into_iter()
            .filter_map(|a| self.atom_range(&a).lower().map(|low| (a, low)))
            .collect();
        let shifted =
            size.substituted(|atom| Poly::shifted(atom.clone(), lows.get(atom).copied().unwrap_or(0)));
        shifted.is_ok_and(|p| p.terms().iter().all(|(m, c)| *c > 0 && m.iter().all(|a| lows.contains_key(a))))
    }
}

fn is_binary(atom: &Atom) -> bool {
    matches!(atom, Atom::Max(operands) if operands.len() == 2)
}

/// The operands of a maximum of maxima.
fn flattened(mut queue: Vec<Size>) -> Checked<Vec<Size>> {
    let mut flat = BTreeSet::new();
    while let Some(operand) = queue.pop() {
        let inner = operand.terms().iter().find_map(|(monomial, c)| match &monomial[..] {
            [Atom::Max(inner)] if *c > 0 => Some((monomial[0].clone(), inner.clone(), *c)),
            _ => None,
        });
        match inner {
            Some((atom, inner, c)) if queue.len() + flat.len() + inner.len() <= MAX_OPERANDS => {
                let rest = operand.sub(&Poly::variable(atom).scale(c)?)?;
                for part in inner.iter() {
                    queue.push(rest.add(&part.scale(c)?)?);
                }
            }
            _ => {
                flat.insert(operand);
            }
        }
    }
    Ok(flat.into_iter().collect())
}
