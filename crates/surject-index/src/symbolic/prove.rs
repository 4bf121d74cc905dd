//! Proofs that an expression is never negative (reference/extents.md, section 3.3).
//!
//! A goal `g ≥ 0` over the integers is proven by refuting `g ≤ -1`: with the facts, the definitions of floor divisions
//! and maxima and products of these it has no rational solution ([`Claim`]). Where that does not succeed, the proof
//! splits into cases that together are exhaustive: which operand of a maximum is the largest, whether a variable is
//! at its lower bound, which remainder a variable leaves. Every step replaces the goal by goals that imply it. The
//! search is bounded; what it does not find stays undecided.

use super::claim::Claim;
use super::given::{Given, Raw};
use super::normal::{Atom, Size, atoms};
use super::poly::{Poly, gcd};
use super::range::Range;
use super::sample::Sample;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The number of linear programs that one question may solve.
const BUDGET: u32 = 64;
/// Case splits inside one another.
const DEPTH: u32 = 5;
/// Remainders modulo numbers up to this are tried one by one.
const MAX_MODULUS: i128 = 12;
/// The values of a variable with fewer values than this are tried one by one.
const MAX_VALUES: i128 = 8;

/// Assignments tried and kept in a case of a proof.
const SAMPLED_IN_CASES: Sample = 60;
const KEPT_IN_CASES: usize = 8;

/// What a proof may use: facts, and assignments that satisfy them.
#[derive(Clone)]
pub(super) struct Case {
    given: Rc<Given>,
    samples: Rc<[Sample]>,
    /// May the facts contradict each other? Then a range tells nothing, but a proof does.
    is_split: bool,
}

pub(super) struct Prover {
    budget: Cell<u32>,
}

impl Case {
    pub(super) fn new(given: &Given, samples: &[Sample]) -> Case {
        Case { given: Rc::new(given.clone()), samples: samples.into(), is_split: false }
    }

    /// A case of a proof, with samples of its own.
    fn split(given: Given) -> Case {
        let samples = given.samples(SAMPLED_IN_CASES, KEPT_IN_CASES).into();
        Case { given: Rc::new(given), samples, is_split: true }
    }

    fn refutes(&self, holds: impl Fn(i128) -> bool, goal: &Size) -> bool {
        self.samples.iter().filter_map(|&s| self.given.value(goal, s)).any(|value| !holds(value))
    }

    /// The case with more facts; none where they contradict what is known.
    fn with(&self, facts: Vec<Raw>) -> Option<Case> {
        Some(Case::split(self.given.with(facts).ok()?))
    }

    /// The case in which an atom has this value and facts hold, with the goal in it.
    fn replacing(&self, atom: &Atom, value: &Size, goal: &Size, facts: &[Size]) -> Replaced {
        let context = &self.given.context;
        let by = |a: &Atom| (a == atom).then(|| value.clone());
        let replaced = |size: &Size| context.replaced(size, &by);
        let mut given =
            Given { context: context.clone(), quotients: self.given.quotients, ..Given::default() };
        given.context.ranges.remove(atom);
        let mut raw = Vec::new();
        let mut put = |sizes: &[Size], make: fn(Size) -> Raw| {
            sizes.iter().try_for_each(|s| replaced(s).map(|s| raw.push(make(s))))
        };
        let collected = put(&self.given.nonnegative, Raw::Nonnegative)
            .and_then(|()| put(&self.given.zero, Raw::Zero))
            .and_then(|()| put(&self.given.nonzero, Raw::Nonzero))
            .and_then(|()| put(facts, Raw::Nonnegative));
        let (Ok(()), Ok(goal)) = (collected, replaced(goal)) else { return Replaced::Failed };
        match given.with(raw) {
            Err(_) => Replaced::Impossible,
            Ok(given) => match given.context.renormalised(&goal) {
                Ok(goal) => Replaced::Case(Case::split(given), goal),
                Err(_) => Replaced::Failed,
            },
        }
    }
}

enum Replaced {
    Case(Case, Size),
    /// No run is in this case.
    Impossible,
    /// A number does not fit.
    Failed,
}

impl Prover {
    /// A proof of a contradiction between the facts.
    pub(super) fn contradiction(&self, given: &Given) -> bool {
        let case = Case { given: Rc::new(given.clone()), samples: [].into(), is_split: true };
        self.nonnegative(&case, &Poly::constant(-1))
    }

    pub(super) fn new() -> Prover {
        Prover { budget: Cell::new(BUDGET) }
    }

    /// Is `goal ≥ 0` proven?
    pub(super) fn nonnegative(&self, case: &Case, goal: &Size) -> bool {
        self.holds(case, goal, DEPTH, &Prover::nonnegative_at_once)
    }

    /// Is `goal ≠ 0` proven?
    pub(super) fn nonzero(&self, case: &Case, goal: &Size) -> bool {
        self.holds(case, goal, DEPTH, &|prover, case, goal, depth| {
            if goal.content() > 0 && goal.constant_term() % goal.content() != 0
                || case.given.nonzero.iter().any(|n| n == goal || goal.scale(-1).as_ref() == Ok(n))
            {
                return true;
            }
            let above =
                |goal: &Size| goal.plus(-1).is_ok_and(|g| prover.nonnegative_at_once(case, &g, depth));
            above(goal) || goal.scale(-1).is_ok_and(|g| above(&g))
        })
    }

    /// Proves a property of a goal, at once or in cases.
    fn holds(
        &self,
        case: &Case,
        goal: &Size,
        depth: u32,
        at_once: &dyn Fn(&Prover, &Case, &Size, u32) -> bool,
    ) -> bool {
        if at_once(self, case, goal, depth) {
            return true;
        }
        if depth == 0 || self.budget.get() == 0 {
            return false;
        }
        let mut involved = atoms(goal);
        case.given.relevant(&mut involved);
        let prove = |replaced: Replaced| match replaced {
            Replaced::Impossible => true,
            Replaced::Failed => false,
            Replaced::Case(case, goal) => self.holds(&case, &goal, depth - 1, at_once),
        };
        // A maximum is one of its operands. The innermost one first: it may be an operand of another.
        let inner = |atom: &&Atom| matches!(atom, Atom::Max(o) if !o.iter().flat_map(atoms).any(|a| matches!(a, Atom::Max(_))));
        if let Some(atom @ Atom::Max(operands)) = involved.iter().find(inner) {
            return operands.iter().all(|largest| {
                let above: Result<Vec<Size>, _> = operands.iter().map(|o| largest.sub(o)).collect();
                above.is_ok_and(|above| prove(case.replacing(atom, largest, goal, &above)))
            });
        }
        // A variable with few values has one of them.
        for atom in involved.iter().filter(|a| a.is_symbol()) {
            let range = case.given.context.atom_range(atom);
            let (Some(low), Some(high)) = (range.lower(), range.upper()) else { continue };
            if high.checked_sub(low).is_some_and(|count| count < MAX_VALUES)
                && (low..=high).all(|v| prove(case.replacing(atom, &Poly::constant(v), goal, &[])))
            {
                return true;
            }
        }
        // A variable in a product is at its lower bound, or beyond.
        for atom in involved.iter().filter(|a| a.is_symbol()) {
            let product = |(m, _): &(Vec<Atom>, i128)| m.len() >= 2 && m.contains(atom);
            let Some(low) = case.given.context.atom_range(atom).lower() else { continue };
            if !goal.terms().iter().any(product) {
                continue;
            }
            let Ok(beyond) = Poly::variable(atom.clone()).plus(-low - 1) else { continue };
            let above = case.with(vec![Raw::Nonnegative(beyond)]);
            let above = above.and_then(|case| Some((case.given.context.renormalised(goal).ok()?, case)));
            if prove(case.replacing(atom, &Poly::constant(low), goal, &[]))
                && above.is_none_or(|(goal, case)| self.holds(&case, &goal, depth - 1, at_once))
            {
                return true;
            }
        }
        // A variable leaves one of few remainders.
        involved.iter().filter(|a| a.is_symbol()).any(|atom| {
            let Some(modulus) = modulus(atom, &involved) else { return false };
            (0..modulus).all(|remainder| {
                let quotient = Atom::Quotient(case.given.quotients);
                let mut with_quotient = case.clone();
                Rc::make_mut(&mut with_quotient.given).quotients += 1;
                let known = case.given.context.atom_range(atom);
                let end = |end: Option<i128>| end.and_then(|e| e.checked_sub(remainder));
                let range = Range {
                    low: end(known.lower()).map_or(Range::ALL.low, |low| -((-low).div_euclid(modulus))),
                    high: end(known.upper()).map_or(Range::ALL.high, |high| high.div_euclid(modulus)),
                };
                Rc::make_mut(&mut with_quotient.given).context.ranges.insert(quotient.clone(), range);
                let value = Poly::variable(quotient).scale(modulus).and_then(|v| v.plus(remainder));
                value.is_ok_and(|value| prove(with_quotient.replacing(atom, &value, goal, &[])))
            })
        })
    }

    fn nonnegative_at_once(&self, case: &Case, goal: &Size, depth: u32) -> bool {
        if let Some(value) = goal.as_const()
            && (value >= 0 || !case.is_split)
        {
            return value >= 0;
        }
        let range = case.given.context.range(goal);
        if range.low >= 0 || case.given.context.is_nonnegative(goal) {
            return true;
        }
        if range.high < 0 && !case.is_split || case.refutes(|value| value >= 0, goal) {
            return false;
        }
        let left = self.budget.get();
        if left == 0 {
            return false;
        }
        self.budget.set(left - 1);
        let is_nonnegative = |size: &Size| {
            let is_plain = case.given.context.is_nonnegative(size);
            is_plain || depth > 1 && self.nonnegative_at_once(case, size, depth.min(3) - 2)
        };
        Claim::new(&case.given, goal, case.is_split, &is_nonnegative).is_some_and(|claim| claim.refuted())
    }
}

/// The least common multiple of the constants that divide expressions with this atom.
fn modulus(atom: &Atom, involved: &BTreeSet<Atom>) -> Option<i128> {
    let divisors = involved.iter().filter_map(|a| match a {
        Atom::FloorDiv(parts) if parts.0.variables().contains(atom) => parts.1.as_const(),
        _ => None,
    });
    let multiple = divisors.fold(1i128, |l, d| if d < 1 { l } else { (l / gcd(l, d)).saturating_mul(d) });
    (2..=MAX_MODULUS).contains(&multiple).then_some(multiple)
}
