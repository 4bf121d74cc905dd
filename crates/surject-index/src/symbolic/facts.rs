//! Facts about sizes, and questions under them.

use super::given::{Contradiction, Given, Raw};
use super::normal::{Context, Size};
use super::poly::{Checked, Poly, TooLarge};
use super::prove::{Case, Prover};
use super::sample::Sample;
use crate::{Extent, Verdict};
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use thiserror::Error;

thread_local! {
    static QUESTIONS: Cell<u64> = const { Cell::new(0) };
}

/// How many questions about sizes this thread has asked, of any facts, that went beyond the equality of two integers
/// ([`Facts::comparisons`]). Work on a static program asks none.
pub fn questions_of_this_thread() -> u64 {
    QUESTIONS.get()
}

/// How two sizes are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Relation {
    /// `left == right`
    Eq,
    /// `left != right`
    Ne,
    /// `left <= right`
    Le,
    /// `left < right`
    Lt,
    /// `left` divides `right`: `mod(right, left) == 0`
    Divides,
}

/// A statement about two sizes: a fact that holds in every admissible run, or a guard that a run checks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fact {
    /// The left side.
    pub left: Extent,
    /// How the sides are related.
    pub relation: Relation,
    /// The right side.
    pub right: Extent,
}

/// Facts that no run satisfies.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no sizes satisfy all of: {}", .0.iter().map(Fact::to_string).collect::<Vec<_>>().join(", "))]
pub struct UnsatisfiableFacts(pub Vec<Fact>);

/// Why a size is no quotient of others.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoQuotient {
    /// The other axes may have no element; then every size fits.
    #[error("the size is not determined unless `{0}`")]
    Underdetermined(Fact),
    /// The other axes do not divide the number of elements.
    #[error("the sizes do not divide: `{0}` never holds")]
    NotDivisible(Fact),
    /// They may divide it or not.
    #[error("the sizes may not divide: `{0}` would decide it")]
    Undecided(Fact),
}

/// What holds of sizes in every admissible run (the `Γ` of reference/extents.md). Without facts every size is an
/// integer of at least 0.
///
/// ```
/// use surject_index::{Extent, Facts, Relation, Verdict};
///
/// let facts: Facts = "n >= 1, mod(n, 2) == 0".parse()?;
/// let (half, n): (Extent, Extent) = ("2*floordiv(n, 2)".parse()?, "n".parse()?);
/// assert!(facts.compare(&half, Relation::Eq, &n).is_yes());
/// assert_eq!(Facts::default().compare(&half, Relation::Eq, &n), Verdict::Unknown);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Facts {
    facts: Vec<Fact>,
    given: Given,
    samples: OnceLock<Vec<Sample>>,
    comparisons: AtomicU64,
}

const SAMPLED: Sample = 400;
const SAMPLES: usize = 24;

impl Fact {
    /// The statement that `left` and `right` are so related. That a remainder is 0 is a divisibility.
    pub fn new(left: Extent, relation: Relation, right: Extent) -> Fact {
        if relation == Relation::Eq
            && right == Extent::Const(0)
            && let Some((dividend, divisor)) = left.as_remainder()
        {
            let (left, right) = (divisor.clone(), dividend.clone());
            return Fact { left, relation: Relation::Divides, right };
        }
        Fact { left, relation, right }
    }

    /// The fact in normal form, and that its divisors are at least 1: what holds is defined.
    fn raw(&self) -> Vec<Raw> {
        let mut divisors = Vec::new();
        for side in [&self.left, &self.right] {
            if let Extent::Expr(expr) = side {
                expr.divisors(&mut divisors);
            }
        }
        let positive = |divisor: &Extent| Context::default().normal(divisor)?.plus(-1).map(Raw::Nonnegative);
        // A fact with numbers that do not fit is no help in proofs.
        divisors.iter().map(positive).chain([self.statement()]).filter_map(Result::ok).collect()
    }

    fn statement(&self) -> Checked<Raw> {
        let context = Context::default();
        let (left, right) = (context.normal(&self.left)?, context.normal(&self.right)?);
        Ok(match self.relation {
            Relation::Eq => Raw::Zero(right.sub(&left)?),
            Relation::Ne => Raw::Nonzero(right.sub(&left)?),
            Relation::Le => Raw::Nonnegative(right.sub(&left)?),
            Relation::Lt => Raw::Nonnegative(right.sub(&left)?.plus(-1)?),
            Relation::Divides => Raw::Divides(left, right),
        })
    }
}

impl Facts {
    /// These facts. Their order does not matter.
    ///
    /// # Errors
    /// The facts, where it is certain that they contradict each other.
    pub fn of(facts: impl IntoIterator<Item = Fact>) -> Result<Facts, UnsatisfiableFacts> {
        let mut facts: Vec<Fact> = facts.into_iter().collect();
        facts.sort();
        facts.dedup();
        let raw = facts.iter().flat_map(Fact::raw);
        match Given::default().with(raw) {
            Err(Contradiction) => Err(UnsatisfiableFacts(facts)),
            Ok(given) => {
                let facts = Facts { facts, given, ..Facts::default() };
                if facts.samples().is_empty() && Prover::new().contradiction(&facts.given) {
                    return Err(UnsatisfiableFacts(facts.facts));
                }
                Ok(facts)
            }
        }
    }

    /// These facts and one more.
    ///
    /// # Errors
    /// As [`Facts::of`].
    pub fn and(&self, fact: Fact) -> Result<Facts, UnsatisfiableFacts> {
        Facts::of(self.facts.iter().cloned().chain([fact]))
    }

    /// The facts, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &Fact> {
        self.facts.iter()
    }

    /// Is nothing known but that sizes are not negative?
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// How many questions went beyond the equality of two integers. A static program asks none.
    pub fn comparisons(&self) -> u64 {
        self.comparisons.load(Ordering::Relaxed)
    }

    /// Does the relation hold in every run that satisfies the facts and in which both sides are defined, or in none?
    ///
    /// The answer is independent of the order of the facts. *Unknown* is a normal answer: the relation depends on the
    /// run, or the bounded search for a proof found none, or numbers do not fit in `i128`.
    pub fn compare(&self, left: &Extent, relation: Relation, right: &Extent) -> Verdict {
        if let (Extent::Const(a), Extent::Const(b)) = (left, right) {
            return match relation {
                Relation::Eq => a == b,
                Relation::Ne => a != b,
                Relation::Le => a <= b,
                Relation::Lt => a < b,
                Relation::Divides => b.checked_rem(*a).map_or(*b == 0, |rest| rest == 0),
            }
            .into();
        }
        self.comparisons.fetch_add(1, Ordering::Relaxed);
        QUESTIONS.set(QUESTIONS.get() + 1);
        self.decide(left, relation, right).unwrap_or(Verdict::Unknown)
    }

    /// Does the fact hold?
    pub fn holds(&self, fact: &Fact) -> Verdict {
        self.compare(&fact.left, fact.relation, &fact.right)
    }

    /// Have both the same value?
    pub fn same(&self, a: &Extent, b: &Extent) -> Verdict {
        self.compare(a, Relation::Eq, b)
    }

    /// Is the size at least 1?
    pub fn is_positive(&self, extent: &Extent) -> Verdict {
        self.compare(&Extent::Const(1), Relation::Le, extent)
    }

    /// Has the expression a value that is a size: is every divisor at least 1 and the value not negative?
    pub fn is_size(&self, extent: &Extent) -> Verdict {
        let Extent::Expr(expr) = extent else { return Verdict::Yes(()) };
        let mut divisors = Vec::new();
        expr.divisors(&mut divisors);
        let answers = divisors.iter().map(|divisor| self.is_positive(divisor)).chain([self.compare(
            &Extent::Const(0),
            Relation::Le,
            extent,
        )]);
        answers.fold(Verdict::Yes(()), |all, one| match (all, one) {
            (Verdict::No(()), _) | (_, Verdict::No(())) => Verdict::No(()),
            (Verdict::Yes(()), Verdict::Yes(())) => Verdict::Yes(()),
            _ => Verdict::Unknown,
        })
    }

    /// The size `v` with `v*factor == total`: of the one axis that is not known where the number of elements is.
    ///
    /// # Errors
    /// The fact that is missing: that the factor is at least 1, without which the size is not determined, or that it
    /// divides the total.
    pub fn quotient(&self, total: &Extent, factor: &Extent) -> Result<Extent, NoQuotient> {
        let positive = Fact::new(Extent::Const(1), Relation::Le, factor.clone());
        if !self.holds(&positive).is_yes() {
            return Err(NoQuotient::Underdetermined(self.residual(&positive)));
        }
        let divides = Fact::new(factor.clone(), Relation::Divides, total.clone());
        match self.holds(&divides) {
            Verdict::Yes(()) => {
                let quotient = Extent::floor_div(total.clone(), factor.clone());
                let written = self.normal(&quotient).and_then(|normal| normal.to_extent());
                Ok(written.filter(|w| w.nodes() < quotient.nodes()).unwrap_or(quotient))
            }
            Verdict::No(()) => Err(NoQuotient::NotDivisible(divides)),
            Verdict::Unknown => Err(NoQuotient::Undecided(divides)),
        }
    }

    /// What is left to know for a fact: the fact with what is known put in, like terms collected and common factors
    /// divided out. This is the fact that decides an undecided question.
    pub fn residual(&self, fact: &Fact) -> Fact {
        self.simpler(fact).ok().flatten().unwrap_or_else(|| fact.clone())
    }

    fn simpler(&self, fact: &Fact) -> Checked<Option<Fact>> {
        let context = &self.given.context;
        let (left, right) = (context.normal(&fact.left)?, context.normal(&fact.right)?);
        let (relation, mut difference) = match fact.relation {
            Relation::Eq | Relation::Ne => (fact.relation, right.sub(&left)?),
            Relation::Le => (Relation::Le, right.sub(&left)?.tightened()),
            Relation::Lt => (Relation::Le, right.sub(&left)?.plus(-1)?.tightened()),
            Relation::Divides => return Ok(None),
        };
        let content = difference.content_with_constant();
        if content > 1 {
            difference = difference.divided(content);
        }
        let part = |sign: i128| {
            let terms = difference.terms().iter().filter(|(_, c)| c.signum() == sign);
            Poly::of(terms.map(|(m, c)| (m.clone(), c.abs())))
        };
        let (negative, positive) = (part(-1)?, part(1)?);
        let both = super::text::extent(&negative).zip(super::text::extent(&positive));
        Ok(both.map(|(negative, positive)| Fact::new(negative, relation, positive)))
    }

    /// The greatest lower and the least upper bound that the ranges of the parts give.
    pub fn bounds(&self, extent: &Extent) -> (Option<i128>, Option<i128>) {
        match self.given.context.normal(extent) {
            Ok(size) => {
                let range = self.given.context.range(&size);
                (range.lower(), range.upper())
            }
            Err(TooLarge) => (None, None),
        }
    }

    /// The normal form under the facts: equal normal forms mean equal values where both are defined.
    pub fn normal(&self, extent: &Extent) -> Option<NormalForm> {
        self.given.context.normal(extent).ok().map(NormalForm)
    }

    fn samples(&self) -> &[Sample] {
        self.samples.get_or_init(|| self.given.samples(SAMPLED, SAMPLES))
    }

    fn decide(&self, left: &Extent, relation: Relation, right: &Extent) -> Checked<Verdict> {
        let context = &self.given.context;
        let (left, right) = (context.normal(left)?, context.normal(right)?);
        let question = Question { facts: self, prover: Prover::new(), case: OnceLock::new() };
        let opposite = |verdict: Verdict| match verdict {
            Verdict::Yes(()) => Verdict::No(()),
            Verdict::No(()) => Verdict::Yes(()),
            Verdict::Unknown => Verdict::Unknown,
        };
        Ok(match relation {
            Relation::Eq => question.is_zero(&right.sub(&left)?)?,
            Relation::Ne => opposite(question.is_zero(&right.sub(&left)?)?),
            Relation::Le => question.is_nonnegative(&right.sub(&left)?)?,
            Relation::Lt => question.is_nonnegative(&right.sub(&left)?.plus(-1)?)?,
            Relation::Divides => {
                if right.is_zero() || right.exact_quotient(&left).is_some() {
                    return Ok(Verdict::Yes(()));
                }
                let quotient = context.floor_div(right.clone(), left.clone())?;
                question.is_zero(&right.sub(&context.product(&left, &quotient)?)?)?
            }
        })
    }
}

/// One question: what is known, and the work it may cost.
struct Question<'a> {
    facts: &'a Facts,
    prover: Prover,
    case: OnceLock<Case>,
}

impl Question<'_> {
    fn case(&self) -> &Case {
        self.case.get_or_init(|| Case::new(&self.facts.given, self.facts.samples()))
    }

    fn values(&self, size: &Size) -> impl Iterator<Item = i128> {
        self.facts.samples().iter().filter_map(|&sample| self.facts.given.value(size, sample))
    }

    fn is_nonnegative(&self, size: &Size) -> Checked<Verdict> {
        let below = size.scale(-1)?.plus(-1)?;
        let all = |holds: fn(i128) -> bool| self.values(size).all(holds);
        if all(|value| value >= 0) && self.prover.nonnegative(self.case(), size) {
            return Ok(Verdict::Yes(()));
        }
        let is_below = all(|value| value < 0) && self.prover.nonnegative(self.case(), &below);
        Ok(if is_below { Verdict::No(()) } else { Verdict::Unknown })
    }

    fn is_zero(&self, size: &Size) -> Checked<Verdict> {
        if let Some(value) = size.as_const() {
            return Ok((value == 0).into());
        }
        let negative = size.scale(-1)?;
        let values: Vec<i128> = self.values(size).collect();
        if values.iter().all(|&value| value == 0)
            && self.prover.nonnegative(self.case(), size)
            && self.prover.nonnegative(self.case(), &negative)
        {
            return Ok(Verdict::Yes(()));
        }
        let differs = !values.contains(&0) && self.prover.nonzero(self.case(), size);
        Ok(if differs { Verdict::No(()) } else { Verdict::Unknown })
    }
}

/// The normal form of an extent: a polynomial over sizes, floor divisions and maxima. See [`Facts::normal`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NormalForm(Size);

impl NormalForm {
    /// The integer, if the form is one.
    pub fn as_const(&self) -> Option<i128> {
        self.0.as_const()
    }

    /// An expression of this form. None where a quotient stands in it that only a fact speaks of.
    pub fn to_extent(&self) -> Option<Extent> {
        super::text::extent(&self.0)
    }
}

impl Clone for Facts {
    fn clone(&self) -> Facts {
        Facts {
            facts: self.facts.clone(),
            given: self.given.clone(),
            samples: self.samples.clone(),
            comparisons: AtomicU64::new(self.comparisons()),
        }
    }
}

impl PartialEq for Facts {
    fn eq(&self, other: &Facts) -> bool {
        self.facts == other.facts
    }
}

impl Eq for Facts {}
