//! Facts in normal form, solved where an equality gives a size by others.

use super::normal::{Atom, Context, Size, atoms};
use super::poly::{Checked, Poly, TooLarge};
use super::range::Range;
use crate::ExtentExpr;
use std::collections::BTreeSet;

/// What is known: inequalities and equalities in normal form, and the context that follows from them.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    pub(super) context: Context,
    /// Each of these is at least 0.
    pub(super) nonnegative: Vec<Size>,
    /// Each of these is 0.
    pub(super) zero: Vec<Size>,
    /// None of these is 0.
    pub(super) nonzero: Vec<Size>,
    /// The number of quotients that divisibility facts brought in.
    pub(super) quotients: u32,
}

/// The facts cannot all hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contradiction;

/// A fact on its way into [`Given`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Raw {
    Zero(Size),
    Nonnegative(Size),
    /// The first divides the second.
    Divides(Size, Size),
    Nonzero(Size),
}

/// Facts that solve or bound one another settle in a few rounds; more are cut off, which only loses knowledge.
const ROUNDS: usize = 24;

impl Given {
    /// What these facts give together with those known.
    pub(super) fn with(&self, facts: impl IntoIterator<Item = Raw>) -> Result<Given, Contradiction> {
        let mut given = self.clone();
        let mut pending: Vec<Raw> = facts.into_iter().collect();
        pending.extend(std::mem::take(&mut given.nonnegative).into_iter().map(Raw::Nonnegative));
        pending.extend(std::mem::take(&mut given.zero).into_iter().map(Raw::Zero));
        pending.extend(std::mem::take(&mut given.nonzero).into_iter().map(Raw::Nonzero));
        for round in 0.. {
            pending.sort();
            pending.dedup();
            let (mut kept, mut changed) = (Vec::new(), false);
            for raw in pending {
                match given.learn(raw)? {
                    Learned::Nothing => {}
                    Learned::Kept(raw) => kept.push(raw),
                    Learned::Changed(more) => {
                        kept.extend(more);
                        changed = true;
                    }
                }
            }
            pending = kept;
            if !changed || round >= ROUNDS {
                break;
            }
        }
        for raw in pending {
            match raw {
                Raw::Zero(size) => given.zero.push(size),
                Raw::Nonnegative(size) => given.nonnegative.push(size),
                Raw::Nonzero(size) => given.nonzero.push(size),
                Raw::Divides(..) => {}
            }
        }
        Ok(given)
    }

    /// Brings a fact up to date and takes from it what the context can hold. What is too large is forgotten.
    fn learn(&mut self, raw: Raw) -> Result<Learned, Contradiction> {
        let up_to_date = |size: &Size| self.context.renormalised(size);
        let raw = match &raw {
            Raw::Zero(size) => up_to_date(size).map(Raw::Zero),
            Raw::Nonnegative(size) => up_to_date(size).map(Raw::Nonnegative),
            Raw::Nonzero(size) => up_to_date(size).map(Raw::Nonzero),
            Raw::Divides(d, size) => up_to_date(d).and_then(|d| Ok(Raw::Divides(d, up_to_date(size)?))),
        };
        match raw {
            Err(TooLarge) => Ok(Learned::Nothing),
            Ok(Raw::Zero(size)) => self.learn_zero(size),
            Ok(Raw::Nonnegative(size)) => self.learn_nonnegative(size),
            Ok(Raw::Divides(d, size)) => self.learn_divides(d, size),
            Ok(Raw::Nonzero(size)) => match size.as_const() {
                Some(0) => Err(Contradiction),
                Some(_) => Ok(Learned::Nothing),
                // A value that is not its own bound is beyond it.
                None => {
                    let range = self.context.range(&size);
                    let more = match () {
                        () if range.low == 0 => size.plus(-1),
                        () if range.high == 0 => size.scale(-1).and_then(|s| s.plus(-1)),
                        () => return Ok(Learned::Kept(Raw::Nonzero(size))),
                    };
                    Ok(more.map_or(Learned::Nothing, |m| Learned::Changed(vec![Raw::Nonnegative(m)])))
                }
            },
        }
    }

    fn learn_zero(&mut self, size: Size) -> Result<Learned, Contradiction> {
        let content = size.content();
        if content == 0 {
            return if size.is_zero() { Ok(Learned::Nothing) } else { Err(Contradiction) };
        }
        if size.constant_term() % content != 0 {
            return Err(Contradiction);
        }
        let size = size.divided(content);
        if let Some((divisor, dividend)) = remainder(&size) {
            return match dividend {
                Some(dividend) => Ok(Learned::Changed(vec![Raw::Divides(divisor, dividend)])),
                None => Err(Contradiction),
            };
        }
        let Some((atom, value)) = solution(&size) else { return Ok(Learned::Kept(Raw::Zero(size))) };
        let range = self.context.atom_range(&atom);
        let low = range.lower().map(|low| value.plus(low.checked_neg().ok_or(TooLarge)?));
        let high = range.upper().map(|high| Poly::constant(high).sub(&value));
        let bounds = [low, high].into_iter().flatten().flatten().map(Raw::Nonnegative).collect();
        if self.solve(atom, value).is_err() {
            return Ok(Learned::Kept(Raw::Zero(size)));
        }
        Ok(Learned::Changed(bounds))
    }

    /// Remembers `atom = value`, in what is solved already too.
    fn solve(&mut self, atom: Atom, value: Size) -> Checked<()> {
        let context = &self.context;
        let by = |a: &Atom| (*a == atom).then(|| value.clone());
        let solved = context.solved.iter().map(|(a, v)| Ok((a.clone(), context.replaced(v, &by)?)));
        let mut solved: std::collections::BTreeMap<_, _> = solved.collect::<Checked<_>>()?;
        solved.insert(atom, value);
        self.context.solved = solved;
        Ok(())
    }

    fn learn_nonnegative(&mut self, size: Size) -> Result<Learned, Contradiction> {
        let size = size.tightened();
        if let Some(value) = size.as_const() {
            return if value < 0 { Err(Contradiction) } else { Ok(Learned::Nothing) };
        }
        if self.context.range(&size).high < 0 {
            return Err(Contradiction);
        }
        let bound = size.constant_term();
        let variable = |c: i128| size.plus(-bound).and_then(|s| s.scale(c)).ok()?.as_variable().cloned();
        let (atom, known) = match (variable(1), variable(-1)) {
            (Some(atom), _) => (atom, Range { low: -bound, high: Range::ALL.high }),
            (_, Some(atom)) => (atom, Range { low: Range::ALL.low, high: bound }),
            _ => return Ok(Learned::Kept(Raw::Nonnegative(size))),
        };
        let before = self.context.atom_range(&atom);
        let after = before.and(known);
        if after.low > after.high {
            return Err(Contradiction);
        }
        if after == before {
            return Ok(Learned::Kept(Raw::Nonnegative(size)));
        }
        self.context.ranges.insert(atom.clone(), after);
        let mut more = vec![Raw::Nonnegative(size)];
        if after.low == after.high && atom.is_symbol() {
            more.extend(Poly::variable(atom).plus(-after.low).map(Raw::Zero));
        }
        Ok(Learned::Changed(more))
    }

    fn learn_divides(&mut self, divisor: Size, dividend: Size) -> Result<Learned, Contradiction> {
        if let Some(d) = divisor.as_const() {
            let content = dividend.content_with_constant();
            if d == 0 {
                return Ok(Learned::Changed(vec![Raw::Zero(dividend)]));
            }
            if content % d == 0 {
                return Ok(Learned::Nothing);
            }
            if dividend.content() % d == 0 {
                return Err(Contradiction);
            }
        } else if dividend.exact_quotient(&divisor).is_some() {
            return Ok(Learned::Nothing);
        }
        let quotient = Atom::Quotient(self.quotients);
        self.quotients += 1;
        if self.context.is_nonnegative(&divisor) && self.context.is_nonnegative(&dividend) {
            self.context.ranges.insert(quotient.clone(), Range::NONNEGATIVE);
        }
        let product = divisor.mul(&Poly::variable(quotient)).and_then(|product| dividend.sub(&product));
        Ok(product.map_or(Learned::Nothing, |zero| Learned::Changed(vec![Raw::Zero(zero)])))
    }

    /// The facts that share atoms with these, directly or by other facts.
    pub(super) fn relevant(&self, involved: &mut BTreeSet<Atom>) -> (Vec<&Size>, Vec<&Size>) {
        let all = self.nonnegative.iter().map(|s| (s, false)).chain(self.zero.iter().map(|s| (s, true)));
        let mut rest: Vec<(&Size, bool, BTreeSet<Atom>)> = all.map(|(s, zero)| (s, zero, atoms(s))).collect();
        let (mut nonnegative, mut zero) = (Vec::new(), Vec::new());
        loop {
            let before = rest.len();
            rest.retain(|(size, is_zero, atoms)| {
                if atoms.is_disjoint(involved) {
                    return true;
                }
                involved.extend(atoms.iter().cloned());
                if *is_zero {
                    zero.push(*size)
                } else {
                    nonnegative.push(*size)
                }
                false
            });
            if rest.len() == before {
                return (nonnegative, zero);
            }
        }
    }
}

enum Learned {
    /// It says nothing (any more).
    Nothing,
    /// It stays as it is now.
    Kept(Raw),
    /// The context knows more; these facts remain.
    Changed(Vec<Raw>),
}

/// A symbol that the equation `size = 0` gives by an expression without it.
fn solution(size: &Size) -> Option<(Atom, Size)> {
    let candidates = size.terms().iter().filter_map(|(monomial, c)| match &monomial[..] {
        [atom] if atom.is_symbol() && c.abs() == 1 => Some((atom.clone(), *c)),
        _ => None,
    });
    let solved = candidates.filter_map(|(atom, c)| {
        let rest = size.sub(&Poly::variable(atom.clone()).scale(c).ok()?).ok()?;
        let value = rest.scale(-c).ok()?;
        (!atoms(&value).contains(&atom)).then_some((atom, value))
    });
    // A quotient stays, so that what it divides is seen as a multiple; and an expression that takes nothing away is the
    // better one. The choice must not hang on names.
    solved.min_by_key(|(atom, value)| {
        let negative = value.terms().iter().filter(|(_, c)| *c < 0).count();
        // A declared size stays, so that messages speak of it.
        let kind = match atom {
            Atom::Leaf(leaf) => match &**leaf {
                ExtentExpr::InputAxis { .. } => 0,
                ExtentExpr::RuntimeScalar { .. } => 1,
                _ => 2,
            },
            _ => 3,
        };
        (kind == 3, negative, kind)
    })
}

/// The equation `y mod d = k`, as `d` and `y - k`; none for the latter where `k` is no remainder.
fn remainder(size: &Size) -> Option<(Size, Option<Size>)> {
    size.terms().iter().find_map(|(monomial, c)| {
        let [Atom::FloorDiv(parts)] = &monomial[..] else { return None };
        let divisor = parts.1.as_const().filter(|d| c.abs() == *d)?;
        // With the sign that makes it y - d·⌊y/d⌋ - k.
        let oriented = size.scale(-c.signum()).ok()?;
        let quotient = Poly::of([(monomial.clone(), -divisor)]).ok()?;
        let k = parts.0.sub(&oriented.sub(&quotient).ok()?).ok()?.as_const()?;
        let dividend = (0..divisor).contains(&k).then(|| parts.0.plus(-k).ok()).flatten();
        Some((parts.1.clone(), dividend))
    })
}
