//! `custom_call @shape_assertion`: a condition on shapes that JAX leaves to whoever makes a program static.

use super::fold::Ints;
use crate::diagnostic::{Diagnostic, codes};
use crate::module::Op;

/// Whether an operation is an assertion.
pub(super) fn is_assertion(op: &Op) -> bool {
    op.string("call_target_name") == Ok("shape_assertion")
}

/// Whether the assertion is known to hold; an error where it is known to fail.
pub(super) fn holds(op: &Op, operands: &[Option<&Ints>]) -> Result<bool, Diagnostic> {
    let Some(Some(condition)) = operands.first() else { return Ok(false) };
    match condition.single() {
        Some(0) => {}
        Some(_) => return Ok(true),
        None => return Ok(false),
    }
    let inputs: Vec<Option<i128>> = operands[1..].iter().map(|v| v.and_then(Ints::single)).collect();
    let message = op.string("error_message").unwrap_or("a shape assertion fails");
    Err(Diagnostic::new(codes::SHAPE_ASSERTION, op.span, format(message, &inputs)))
}

/// The message with `{0}`, `{1}` and so on replaced by values. What stands behind a number in the braces (width and
/// format) is not needed for integers; `{{` is a brace.
fn format(message: &str, inputs: &[Option<i128>]) -> String {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if let Some(tail) = after.strip_prefix('{') {
            out.push('{');
            rest = tail;
            continue;
        }
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let index = after[..digits].parse::<usize>().ok();
        let end = after.find('}').filter(|_| after[digits..].starts_with([',', ':', '}']));
        match (index.and_then(|i| inputs.get(i)), end) {
            (Some(Some(value)), Some(end)) => {
                out.push_str(&value.to_string());
                rest = &after[end + 1..];
            }
            _ => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::format;

    #[test]
    fn values_stand_in_the_message() {
        let inputs = [Some(7), Some(-1), None];
        assert_eq!(format("b = {0}, c = {1,5:d}", &inputs), "b = 7, c = -1");
        assert_eq!(format("{{0} and {2} {9} {x", &inputs), "{0} and {2} {9} {x");
    }
}
