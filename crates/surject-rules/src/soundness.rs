//! Soundness by interpretation: both sides of a rule are evaluated on instances and compared as closely as the class
//! of the rule says. What classes and flags mean stands at the top of the crate.
//!
//! First come instances that are meant to fail ([`plans`]): the numbers of the rule, their neighbours, every
//! magnitude, every element type, long axes; then random ones, in map notation all. Both are the same in every run.

mod compare;
mod message;
mod shrink;

pub use compare::{Difference, Trial, counts_everywhere, trial};

use crate::ast::{Exactness, Rule};
use crate::error::RuleError;
use crate::instance::{Instance, Size, TypeClass, Values, draw, plans};
use crate::lower::Lowered;
use surject_ir::DType;

/// The random instances that a rule of ordinary length in map notation is checked on; a longer one on fewer, in the
/// same time.
const INSTANCES: usize = 1500;

/// Those of a rule in index notation, beside the directed ones.
const MORE: usize = 150;

/// The patterns of a rule of ordinary length.
const ORDINARY: usize = 32;

/// The random seeds that are tried to find one instance.
const SEEDS: u64 = 8;

/// What interpretation says of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Soundness {
    /// How many instances with at least one point agreed.
    pub agreed: usize,
    /// How many instances did not count, because of a flag.
    pub skipped: usize,
    /// The kinds of element types for which instances agreed and none differed: the rule may fire there.
    pub sound: Vec<TypeClass>,
    /// The kinds for which the sides differ: the rule must not fire there. Empty for rules of class `exact`.
    pub unsound: Vec<TypeClass>,
}

impl Soundness {
    /// May the rule fire on fields of this element type? Conditions of type `i1` beside fields of another type do
    /// not count.
    pub fn admits(&self, dtype: DType) -> bool {
        self.sound.contains(&TypeClass::of(dtype))
    }
}

/// Interprets a rule that has passed [`crate::check_static`] on random instances.
///
/// Fails with `SJ0220` and a small counterexample when the sides differ, and with `SJ0221` when no instance was
/// found, so that nothing is known.
pub fn verify(rule: &Rule) -> Result<Soundness, RuleError> {
    match survey(rule)? {
        Survey::Sound(soundness) => Ok(soundness),
        Survey::Unsound(instance) => Err(message::unsound(rule, *instance)),
        Survey::RestsOnFunctions => Err(message::rests_on_functions(rule)),
    }
}

/// What the instances of a rule say.
enum Survey {
    Sound(Soundness),
    Unsound(Box<Counterexample>),
    /// The sides are equal by what functions are; the class says that they are by the order of sums and products.
    RestsOnFunctions,
}

/// An instance that shows that a rule is not sound.
struct Counterexample {
    instance: Instance,
    /// The position of the result, where the right side loses every digit instead of being wrong.
    worst: Option<usize>,
}

/// What has been seen so far.
struct Surveyor<'r> {
    rule: &'r Rule,
    soundness: Soundness,
    counts: [usize; TypeClass::ALL.len()],
    failures: [Option<Box<Counterexample>>; TypeClass::ALL.len()],
}

impl Surveyor<'_> {
    /// Does it take no more instances? Every rule holds for floats; of several counterexamples one of these is the
    /// plainest.
    fn see(&mut self, instance: Instance, ordinary: bool) -> bool {
        let class = instance.class as usize;
        if self.failures[class].is_some() {
            return false;
        }
        let failure = match trial(self.rule, &instance) {
            Trial::Agrees => {
                self.soundness.agreed += 1;
                self.counts[class] += 1;
                let loses = ordinary && self.rule.class != Exactness::Exact;
                let worst = if loses { compare::loses_digits(self.rule, &instance) } else { None };
                worst.map(|worst| Counterexample { instance, worst: Some(worst) })
            }
            Trial::Skipped => {
                self.soundness.skipped += 1;
                None
            }
            Trial::Differs(_) => Some(Counterexample { instance, worst: None }),
        };
        let Some(failure) = failure else { return false };
        self.failures[class] = Some(Box::new(failure));
        class == TypeClass::Float as usize
    }

    fn has_failed(&self) -> bool {
        self.failures.iter().any(Option::is_some)
    }

    fn finish(mut self) -> Result<Survey, RuleError> {
        // An exact rule holds for every type it can have, the others for floats if they can have them.
        let float = TypeClass::Float as usize;
        let exact = self.rule.class == Exactness::Exact;
        let all = exact || self.counts[float] == 0 || self.failures[float].is_some();
        let first = if self.failures[float].is_some() { float } else { 0 };
        let order = [first].into_iter().chain(0..self.failures.len());
        if all && let Some(failure) = order.into_iter().find_map(|c| self.failures[c].take()) {
            return Ok(Survey::Unsound(failure));
        }
        if self.soundness.agreed == 0 {
            return Err(message::unchecked(self.rule));
        }
        for class in TypeClass::ALL {
            if self.failures[class as usize].is_some() {
                self.soundness.unsound.push(class);
            } else if self.counts[class as usize] > 0 {
                self.soundness.sound.push(class);
            }
        }
        Ok(Survey::Sound(self.soundness))
    }
}

fn survey(rule: &Rule) -> Result<Survey, RuleError> {
    let lowered = Lowered::new(rule)?;
    let mut surveyor = Surveyor {
        rule,
        soundness: Soundness::default(),
        counts: [0; TypeClass::ALL.len()],
        failures: [const { None }; TypeClass::ALL.len()],
    };
    let mut rests_on_functions = false;
    for plan in plans(&lowered) {
        let Some(instance) = plan.instance(&lowered) else { continue };
        if plan.ordinary && rule.class == Exactness::Reassociates {
            rests_on_functions |= compare::rests_on_functions(&instance);
        }
        if surveyor.see(instance, plan.ordinary) {
            return surveyor.finish();
        }
    }
    if rests_on_functions {
        return Ok(Survey::RestsOnFunctions);
    }
    if rule.class == Exactness::Exact && surveyor.has_failed() {
        return surveyor.finish();
    }
    let length = rule.left.size() + rule.right.size();
    let most = if rule.is_map_notation() { INSTANCES } else { MORE } * ORDINARY / length.max(ORDINARY);
    let directed = surveyor.soundness.agreed;
    for seed in 0..SEEDS * most as u64 {
        if surveyor.soundness.agreed - directed >= most {
            break;
        }
        let Some(instance) = draw(&lowered, seed, Size::wide(seed), Values::Wide) else { continue };
        if surveyor.see(instance, false) {
            break;
        }
    }
    surveyor.finish()
}
