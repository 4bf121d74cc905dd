//! Both sides of an instance, evaluated and compared as closely as the class and the flags of the rule say.

use crate::ast::{Exactness, Rule};
use crate::enclosure::{Enclosure, Range, enclose};
use crate::evaluate::{Evaluated, Events, Functions, evaluate, is_finite};
use crate::instance::Instance;
use surject_ir::{DType, Scalar};

/// What one instance says.
#[derive(Clone, Debug, PartialEq)]
pub enum Trial {
    /// The sides agree wherever they have to.
    Agrees,
    /// There is no point to compare at, or flags of the rule exclude all of them.
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

/// What is said of one position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Same,
    Excluded,
    Differs,
}

/// One side at one position.
#[derive(Clone, Copy)]
struct Cell {
    value: Scalar,
    events: Events,
    /// For classes other than exact.
    enclosure: Enclosure,
}

/// Both sides, evaluated.
struct Sides {
    left: Vec<Cell>,
    right: Vec<Cell>,
}

fn sides(rule: &Rule, instance: &Instance) -> Option<Sides> {
    let roots = [instance.left, instance.right];
    let mut values = evaluate(&instance.function, &roots, &instance.args, Functions::Known)?;
    let enclosures = match rule.class {
        Exactness::Exact => None,
        _ => Some(enclose(&instance.function, &roots, &values)?),
    };
    let both_are_one = instance.left == instance.right;
    let mut side = |id| {
        let Evaluated { values, events } =
            if both_are_one { values.get(&id).cloned()? } else { values.remove(&id)? };
        let known = enclosures.as_ref().and_then(|e| e.get(&id));
        let enclosure = |i: usize| known.map_or(Enclosure::Known, |e| e[i]);
        let cell = |(i, (value, events))| Cell { value, events, enclosure: enclosure(i) };
        Some(values.into_iter().zip(events).enumerate().map(cell).collect())
    };
    Some(Sides { left: side(instance.left)?, right: side(instance.right)? })
}

/// Evaluates both sides of an instance and compares them as the class and the flags of the rule say.
pub fn trial(rule: &Rule, instance: &Instance) -> Trial {
    let Some(sides) = sides(rule, instance) else { return Trial::Skipped };
    let mut compared = false;
    for (at, (&left, &right)) in sides.left.iter().zip(&sides.right).enumerate() {
        match judge_both(rule, left, right) {
            Verdict::Same => compared = true,
            Verdict::Excluded => {}
            Verdict::Differs => {
                let points = instance.function.fields[instance.left].space.iter_points();
                let position = points.and_then(|mut p| p.nth(at)).unwrap_or_default();
                return Trial::Differs(Difference { position, left: left.value, right: right.value });
            }
        }
    }
    if compared { Trial::Agrees } else { Trial::Skipped }
}

/// Is no position of the instance excluded by a flag of the rule?
pub fn counts_everywhere(rule: &Rule, instance: &Instance) -> bool {
    let counted = |(l, r): (&Cell, &Cell)| judge_both(rule, *l, *r) != Verdict::Excluded;
    sides(rule, instance).is_some_and(|s| !s.left.is_empty() && s.left.iter().zip(&s.right).all(counted))
}

/// The position where the right side is worst, if it loses nearly every digit where the left side keeps them: at most
/// of the positions its enclosure is wide and that of the left side is not.
pub(super) fn loses_digits(rule: &Rule, instance: &Instance) -> Option<usize> {
    let digits = digits(rule, instance)?;
    digits.worst.filter(|_| digits.lost > 9 * digits.kept && digits.lost >= 8)
}

/// The position where the right side has the largest error, among those where it has few digits and the left side
/// many.
pub(super) fn worst(rule: &Rule, instance: &Instance) -> Option<usize> {
    digits(rule, instance)?.worst
}

/// Do the sides agree only because of what the functions of the rule are, not for others in their place? Asked on
/// ordinary numbers of 64 bits.
pub(super) fn rests_on_functions(instance: &Instance) -> bool {
    let roots = [instance.left, instance.right];
    let Some(values) = evaluate(&instance.function, &roots, &instance.args, Functions::Any) else {
        return false;
    };
    let (Some(left), Some(right)) = (values.get(&instance.left), values.get(&instance.right)) else {
        return false;
    };
    let (mut all, mut apart) = (0usize, 0usize);
    for (&a, &b) in left.values.iter().zip(&right.values) {
        let (x, y) = (a.as_f64(), b.as_f64());
        if a.dtype() == DType::F64 && x.is_finite() && y.is_finite() {
            all += 1;
            apart += usize::from((x - y).abs() > 1e-6 * x.abs().max(y.abs()));
        }
    }
    all >= 8 && 2 * apart > all
}

/// Both values at a position.
pub(super) fn at(rule: &Rule, instance: &Instance, at: usize) -> Option<Difference> {
    let sides = sides(rule, instance)?;
    let position = instance.function.fields[instance.left].space.iter_points()?.nth(at)?;
    Some(Difference { position, left: sides.left.get(at)?.value, right: sides.right.get(at)?.value })
}

/// At how many positions the right side keeps its digits, and loses them, where the left side has them.
struct Digits {
    kept: usize,
    lost: usize,
    worst: Option<usize>,
}

fn digits(rule: &Rule, instance: &Instance) -> Option<Digits> {
    let sides = sides(rule, instance)?;
    let mut digits = Digits { kept: 0, lost: 0, worst: None };
    let mut largest = KEPT;
    let narrow = |r: Range| r.is_bounded() && r.hi - r.lo <= KEPT * r.lo.abs().max(r.hi.abs());
    for (at, (left, right)) in sides.left.iter().zip(&sides.right).enumerate() {
        let (Enclosure::Real(a), Enclosure::Real(b)) = (left.enclosure, right.enclosure) else { continue };
        if !narrow(a) || judge(rule, *left, *right) == Verdict::Excluded {
            continue;
        }
        if narrow(b) {
            digits.kept += 1;
            continue;
        }
        digits.lost += 1;
        let (x, y) = (left.value.as_f64(), right.value.as_f64());
        let error = (x - y).abs() / x.abs();
        if error > largest {
            (largest, digits.worst) = (error, Some(at));
        }
    }
    Some(digits)
}

/// The relative error that leaves few digits.
const KEPT: f64 = 1e-3;

/// For a rule in both directions each side is once the one that is matched.
fn judge_both(rule: &Rule, left: Cell, right: Cell) -> Verdict {
    let forward = judge(rule, left, right);
    if !rule.both_ways || forward == Verdict::Differs {
        return forward;
    }
    match judge(rule, right, left) {
        Verdict::Excluded => forward,
        verdict => verdict,
    }
}

/// Is what replaces a matched value right, where the flags of the rule ask for that?
fn judge(rule: &Rule, matched: Cell, other: Cell) -> Verdict {
    let flags = rule.flags;
    let out_of_range = Events::OVERFLOW.and(Events::FUNCTION);
    if flags.finite && matched.events.any(Events::NOT_FINITE) {
        return Verdict::Excluded;
    }
    let gone = Events::UNDERFLOW.and(Events::VANISHED);
    let wrapped =
        matched.events.any(Events::WRAPPED.and(out_of_range)) || other.events.any(out_of_range.and(gone));
    if flags.no_overflow && wrapped {
        return Verdict::Excluded;
    }
    let (a, b) = (matched.value, other.value);
    if same(a, b, flags.zero_sign) {
        return Verdict::Same;
    }
    if rule.class == Exactness::Exact {
        return Verdict::Differs;
    }
    // Sums and products in another order, or rounded otherwise, may leave the range where the others do not.
    let range = |cell: Cell, event: Events| cell.events.any(event) && !cell.events.any(Events::FUNCTION);
    let overflows = range(matched, Events::OVERFLOW) || range(other, Events::OVERFLOW);
    if overflows && !other.events.any(Events::FUNCTION) {
        return Verdict::Excluded;
    }
    if !is_finite(a) || !is_finite(b) {
        let gone = range(matched, Events::UNDERFLOW) || range(other, Events::UNDERFLOW);
        return match () {
            _ if gone => Verdict::Excluded,
            _ if rounded_alike(a, b) => Verdict::Same,
            _ => Verdict::Differs,
        };
    }
    match (matched.enclosure, other.enclosure) {
        (Enclosure::Known, Enclosure::Known) => Verdict::Differs,
        (Enclosure::Real(x), Enclosure::Real(y)) => {
            let right = x.meets(y) && (y.contains(b.as_f64()) || !x.contains(a.as_f64()));
            if right { Verdict::Same } else { Verdict::Differs }
        }
        (Enclosure::Complex(x), Enclosure::Complex(y)) => {
            if x.meets(y) {
                Verdict::Same
            } else {
                Verdict::Differs
            }
        }
        _ => Verdict::Excluded,
    }
}

/// Complex numbers with an infinite or NaN part: parts that are finite may be rounded.
fn rounded_alike(a: Scalar, b: Scalar) -> bool {
    let near = |(x, y): (&Scalar, &Scalar)| {
        let (p, q) = (x.as_f64(), y.as_f64());
        p == q || p.is_nan() && q.is_nan() || (p - q).abs() <= 1e-5 * p.abs().max(q.abs()).max(1e-3)
    };
    a.dtype().is_complex() && parts(a).iter().zip(&parts(b)).all(near)
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

/// The same bits; any NaN is any other, also a complex number with one, and zeros are where their sign is waived.
fn same(a: Scalar, b: Scalar, zero_sign: bool) -> bool {
    if a.bits() == b.bits() && a.dtype() == b.dtype() {
        return true;
    }
    let dtype: DType = a.dtype();
    if dtype != b.dtype() || !(dtype.is_float() || dtype.is_complex()) {
        return false;
    }
    let alike = |(a, b): (&Scalar, &Scalar)| {
        let (x, y) = (a.as_f64(), b.as_f64());
        a.bits() == b.bits() || x.is_nan() && y.is_nan() || zero_sign && x == 0.0 && y == 0.0
    };
    a.as_complex().is_nan() && b.as_complex().is_nan() || parts(a).iter().zip(&parts(b)).all(alike)
}
