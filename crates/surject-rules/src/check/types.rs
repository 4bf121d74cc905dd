//! Element types: is there an element type for every pattern, the same on both sides?

use crate::ast::{PatternKind, Span};
use crate::error::RuleError;
use crate::lower::{Lowered, Term};
use crate::typing::{Constraint, Typing};

pub(super) fn check(lowered: &Lowered<'_>) -> Result<(), RuleError> {
    // The left side alone, then with the right side beside it, then as one field: so the message says which.
    let mut typing = lowered.typing.clone();
    let right = typing.constraints.split_off(lowered.left_constraints);
    narrow(lowered, &mut typing)?;
    typing.constraints.extend(right);
    narrow(lowered, &mut typing)?;
    let (left_types, right_types) = (typing.types[lowered.left.ty], typing.types[lowered.right.ty]);
    typing.constraints.push(Constraint::Same(lowered.left.ty, lowered.right.ty));
    if typing.propagate().is_err() {
        let message = format!("the left side has elements of {left_types}, the right side of {right_types}");
        return Err(RuleError::new("SJ0219", lowered.rule.right.span, message)
            .with_help("both sides of a rule are one field, so they have one element type"));
    }
    Ok(())
}

fn narrow(lowered: &Lowered<'_>, typing: &mut Typing) -> Result<(), RuleError> {
    let before = typing.clone();
    let Err(at) = typing.propagate() else { return Ok(()) };
    let span = lowered.origins[at];
    let Some(message) = describe(lowered, span, &before) else {
        return Err(RuleError::new(
            "SJ0219",
            span,
            "no element type that the left side allows satisfies this",
        ));
    };
    Err(RuleError::new("SJ0219", span, message).with_help(
        "comparisons give `i1`, `select` takes an `i1` condition, other operations take operands of one type",
    ))
}

/// What the pattern at a place asks of its operands.
fn describe(lowered: &Lowered<'_>, span: Span, before: &Typing) -> Option<String> {
    let term = [&lowered.left, &lowered.right].into_iter().find_map(|t| find(t, span))?;
    let name = match &term.pattern.kind {
        PatternKind::Apply { op, .. } => format!("`{op}`"),
        PatternKind::Reduce { .. } | PatternKind::Acc { .. } => "the accumulation".to_string(),
        _ => return None,
    };
    let mut alone = before.clone();
    // What each operand is by itself, without the pattern that joins them.
    alone.constraints = alone
        .constraints
        .iter()
        .zip(&lowered.origins)
        .filter(|(_, origin)| **origin != span)
        .map(|(c, _)| *c)
        .collect();
    let operands: Vec<String> = match alone.propagate() {
        Ok(()) => term.args.iter().map(|a| format!("`{}` of {}", a.pattern, alone.types[a.ty])).collect(),
        Err(_) => term.args.iter().map(|a| format!("`{}`", a.pattern)).collect(),
    };
    Some(format!("{name} has no element type for {}", operands.join(", ")))
}

fn find<'t, 'a>(term: &'t Term<'a>, span: Span) -> Option<&'t Term<'a>> {
    if term.pattern.span == span {
        return Some(term);
    }
    term.args.iter().find_map(|a| find(a, span))
}
