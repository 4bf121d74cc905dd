//! Soundness by interpretation: both sides of a rule are evaluated on random instances and compared as closely as
//! the class of the rule says.
//!
//! * `exact`: bit for bit (any NaN equals any NaN, and zeros of both signs under `zero-sign`), in every kind of
//!   element type that the rule can have.
//! * `reassociates`, `rounds`: floats and complex numbers in 64 bits up to 1e-9 of the largest magnitude on the
//!   way; integers exactly. These classes speak of real numbers, so a rule is refused when it fails for floats;
//!   other kinds of element types for which it fails are reported in [`Soundness::unsound`], and a rule must not
//!   fire there.
//!
//! Under `finite` an instance counts only if every value the left side computes is finite (for `<=>`, one of the
//! two sides); under `no-overflow` only if its integer operations stay in range.

mod message;
mod shrink;

use crate::ast::{Exactness, Rule};
use crate::error::RuleError;
use crate::evaluate::{Evaluated, evaluate, is_finite};
use crate::instance::{Instance, Size, TypeClass, draw};
use crate::lower::Lowered;
use surject_ir::{DType, Scalar};

/// The instances that a rule of ordinary length is checked on; a longer one on fewer, in the same time.
const INSTANCES: usize = 1500;

/// The patterns of a rule of ordinary length.
const ORDINARY: usize = 32;

/// The random seeds that are tried to find one instance.
const SEEDS: u64 = 8;

/// The relative difference that rounding may make in 64-bit floats.
const TOLERANCE: f64 = 1e-9;

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

/// What one instance says.
#[derive(Clone, Debug, PartialEq)]
pub enum Trial {
    /// The sides agree.
    Agrees,
    /// There is no point to compare at, or a flag of the rule excludes these values.
    Skipped,
    /// The sides differ.
    Differs(Difference),
}

/// The first position where two sides differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The position.
    pub position: Vec<i64>,
    /// The value of the left side.
    pub left: Scalar,
    /// The value of the right side.
    pub right: Scalar,
}

/// Interprets a rule that has passed [`crate::check_static`] on random instances.
///
/// Fails with `SJ0220` and a small counterexample when the sides differ, and with `SJ0221` when no instance was
/// found, so that nothing is known.
pub fn verify(rule: &Rule) -> Result<Soundness, RuleError> {
    match survey(rule)? {
        Survey::Sound(soundness) => Ok(soundness),
        Survey::Unsound(instance) => Err(message::unsound(rule, *instance)),
    }
}

/// What the instances of a rule say.
enum Survey {
    Sound(Soundness),
    Unsound(Box<Instance>),
}

fn survey(rule: &Rule) -> Result<Survey, RuleError> {
    let lowered = Lowered::new(rule)?;
    let mut soundness = Soundness::default();
    let mut counts = [0usize; TypeClass::ALL.len()];
    let mut failures: [Option<Box<Instance>>; TypeClass::ALL.len()] = [const { None }; TypeClass::ALL.len()];
    let length = rule.left.size() + rule.right.size();
    let instances = INSTANCES * ORDINARY / length.max(ORDINARY);
    for seed in 0..SEEDS * instances as u64 {
        if soundness.agreed >= instances {
            break;
        }
        let Some(instance) = draw(&lowered, seed, Size::of(seed)) else { continue };
        let class = instance.class as usize;
        if failures[class].is_some() {
            continue;
        }
        match trial(rule, &instance) {
            Trial::Agrees => {
                soundness.agreed += 1;
                counts[class] += 1;
            }
            Trial::Skipped => soundness.skipped += 1,
            Trial::Differs(_) => {
                failures[class] = Some(Box::new(instance));
                // Every rule holds for floats; of several counterexamples this one is the plainest.
                if class == TypeClass::Float as usize {
                    break;
                }
            }
        }
    }
    // An exact rule holds for every type it can have, the others for floats if they can have them.
    let float = TypeClass::Float as usize;
    let all = rule.class == Exactness::Exact || counts[float] == 0 || failures[float].is_some();
    if all && let Some(failure) = failures.iter_mut().find_map(Option::take) {
        return Ok(Survey::Unsound(failure));
    }
    if soundness.agreed == 0 {
        return Err(message::unchecked(rule));
    }
    for class in TypeClass::ALL {
        if failures[class as usize].is_some() {
            soundness.unsound.push(class);
        } else if counts[class as usize] > 0 {
            soundness.sound.push(class);
        }
    }
    Ok(Survey::Sound(soundness))
}

/// Evaluates both sides of an instance and compares them as the class and the flags of the rule say.
pub fn trial(rule: &Rule, instance: &Instance) -> Trial {
    let roots = [instance.left, instance.right];
    let Some(values) = evaluate(&instance.function, &roots, &instance.args) else { return Trial::Skipped };
    let (Some(left), Some(right)) = (values.get(&instance.left), values.get(&instance.right)) else {
        return Trial::Skipped;
    };
    let counts = |side: &Evaluated| {
        let given = instance.args.iter().all(|b| (0..b.len()).all(|i| is_finite(b.get(i))));
        let finite = !rule.flags.finite || side.finite;
        finite && (!rule.flags.no_overflow || side.in_range && (side.finite || !given))
    };
    if !(counts(left) || rule.both_ways && counts(right)) || left.values.is_empty() {
        return Trial::Skipped;
    }
    let scale = values.values().flat_map(|e| &e.values).map(|&v| magnitude(v)).fold(1.0, f64::max);
    let same = |(a, b): (&Scalar, &Scalar)| agree(rule, *a, *b, scale);
    match left.values.iter().zip(&right.values).position(|pair| !same(pair)) {
        None => Trial::Agrees,
        Some(at) => {
            let points = instance.function.fields[instance.left].space.iter_points();
            let position = points.and_then(|mut p| p.nth(at)).unwrap_or_default();
            Trial::Differs(Difference { position, left: left.values[at], right: right.values[at] })
        }
    }
}

/// The size of a finite number, otherwise 0.
fn magnitude(value: Scalar) -> f64 {
    let dtype = value.dtype();
    let size = if dtype.is_float() || dtype.is_complex() { value.as_complex().norm() } else { 0.0 };
    if size.is_finite() { size } else { 0.0 }
}

/// The parts of a number that are compared: one, or two of a complex number.
fn parts(value: Scalar) -> Vec<Scalar> {
    let dtype = value.dtype();
    let part = dtype.part();
    match part == dtype {
        true => vec![value],
        false => {
            vec![Scalar::from_bits(part, value.bits()), Scalar::from_bits(part, value.bits() >> part.bits())]
        }
    }
}

fn agree(rule: &Rule, a: Scalar, b: Scalar, scale: f64) -> bool {
    let pairs = || parts(a).into_iter().zip(parts(b));
    a.dtype() == b.dtype() && pairs().all(|(a, b)| agree_part(rule, a, b, scale))
}

fn agree_part(rule: &Rule, a: Scalar, b: Scalar, scale: f64) -> bool {
    if a.bits() == b.bits() {
        return true;
    }
    if !a.dtype().is_float() {
        return false;
    }
    let (x, y) = (a.as_f64(), b.as_f64());
    if x.is_nan() || y.is_nan() {
        return x.is_nan() && y.is_nan();
    }
    match rule.class {
        Exactness::Exact => x == y && (x != 0.0 || rule.flags.zero_sign),
        _ if x.is_infinite() || y.is_infinite() => x == y,
        _ => {
            // Sums that are not of 64 bits stand for parts of conversions: their own precision counts.
            let unit = match a.dtype() {
                DType::F64 => TOLERANCE,
                DType::F32 => 1e-5,
                _ => 1e-1,
            };
            (x - y).abs() <= unit * scale
        }
    }
}
