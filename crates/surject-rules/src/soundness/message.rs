//! What is said of a rule that is not sound.

use super::{Counterexample, Survey, Trial, compare, shrink, survey, trial};
use crate::ast::{Exactness, Flags, Rule};
use crate::error::RuleError;
use surject_ir::{Buffer, DType, Scalar};

/// The elements of a tensor that are shown.
const SHOWN: usize = 16;

/// The sides of the rule differ.
pub(super) fn unsound(rule: &Rule, found: Counterexample) -> RuleError {
    let smallest = shrink::smallest(rule, found);
    let dtype = smallest.instance.function.fields[smallest.instance.left].dtype;
    let how = match rule.class {
        _ if smallest.worst.is_some() => "differ in nearly every digit",
        Exactness::Exact => "differ",
        _ => "differ by more than rounding",
    };
    let message = format!("the rule `{}` is not sound: its sides {how} in {dtype}", rule.name);
    let error = RuleError::new("SJ0220", rule.name_span, message).with_note(counterexample(rule, &smallest));
    match remedy(rule) {
        Some(help) => error.with_help(help),
        None => error,
    }
}

/// The class of the rule says more than is true.
pub(super) fn rests_on_functions(rule: &Rule) -> RuleError {
    let message = format!(
        "the rule `{}` is not sound as `{}`: its sides are equal by what functions are, not by the order of sums and products",
        rule.name, rule.class
    );
    let error = RuleError::new("SJ0220", rule.name_span, message);
    match remedy(rule) {
        Some(help) => error.with_help(help),
        None => error,
    }
}

/// No instance of the rule was found.
pub(super) fn unchecked(rule: &Rule) -> RuleError {
    let message = format!("no instance of the rule `{}` was found, so it is not checked", rule.name);
    RuleError::new("SJ0221", rule.name_span, message).with_help(
        "its conditions exclude each other, or no operation and element type fit all of it, or no values stay within its flags",
    )
}

fn counterexample(rule: &Rule, found: &Counterexample) -> String {
    let instance = &found.instance;
    let mut lines: Vec<String> = instance.meanings.clone();
    for (&param, value) in instance.function.params.iter().zip(&instance.args) {
        let ty = instance.function.ty(param);
        lines.push(format!("?{}: {ty} = {}", instance.function.name_of(param), elements(value)));
    }
    let difference = match (found.worst, trial(rule, instance)) {
        (_, Trial::Differs(difference)) => Some(difference),
        (Some(at), _) => compare::at(rule, instance, at),
        _ => None,
    };
    if let Some(difference) = difference {
        let place = match difference.position.is_empty() {
            true => String::new(),
            false => format!(" at {:?}", difference.position),
        };
        lines.push(format!("left{place}: {}", element(difference.left)));
        lines.push(format!("right{place}: {}", element(difference.right)));
    }
    lines.join("\n")
}

fn elements(buffer: &Buffer) -> String {
    let mut words: Vec<String> = (0..buffer.len().min(SHOWN)).map(|i| element(buffer.get(i))).collect();
    if buffer.len() > SHOWN {
        words.push(format!("… ({} elements)", buffer.len()));
    }
    if words.is_empty() { "nothing".to_string() } else { words.join(", ") }
}

fn element(value: Scalar) -> String {
    let real = |dtype: DType, x: f64| match dtype {
        DType::F32 | DType::C64 => format!("{:?}", x as f32),
        _ => format!("{x:?}"),
    };
    match value.dtype() {
        DType::I1 => value.is_true().to_string(),
        d if d.is_complex() => {
            let z = value.as_complex();
            format!("({}, {})", real(d, z.re), real(d, z.im))
        }
        d if d.is_float() => real(d, value.as_f64()),
        _ => value.as_i128().unwrap_or_default().to_string(),
    }
}

/// What would make the rule true, if a flag or another class does.
fn remedy(rule: &Rule) -> Option<String> {
    let with = |class: Exactness, flags: Flags| {
        let mut other = rule.clone();
        other.class = class;
        other.flags.zero_sign |= flags.zero_sign;
        other.flags.finite |= flags.finite;
        other.flags.no_overflow |= flags.no_overflow;
        let changed = other.class != rule.class || other.flags != rule.flags;
        let Ok(Survey::Sound(found)) = (if changed { survey(&other) } else { return None }) else {
            return None;
        };
        let words = format!("{} {}", other.class, other.flags);
        let except: Vec<String> = found.unsound.iter().map(ToString::to_string).collect();
        let except =
            if except.is_empty() { String::new() } else { format!(", but not for {}", except.join(" or ")) };
        Some(format!("it holds as `{}`{except}", words.trim_end()))
    };
    let mut tried: Vec<(Exactness, Flags)> = Vec::new();
    let flags = |zero_sign, finite, no_overflow| Flags { zero_sign, finite, no_overflow };
    let more = [flags(true, false, false), flags(false, true, false), flags(true, true, false)];
    tried.extend(more.map(|f| (rule.class, f)));
    tried.push((rule.class, flags(false, true, true)));
    for class in [Exactness::Reassociates, Exactness::Rounds] {
        if class >= rule.class {
            let more = [flags(false, false, false), flags(false, true, false), flags(false, true, true)];
            tried.extend(more.map(|f| (class, f)));
        }
    }
    tried.into_iter().find_map(|(class, flags)| with(class, flags))
}
