//! Errors of the notation: what is wrong, where, what was expected, and what to do.

use crate::Span;
use thiserror::Error;

/// What is wrong with a text. Each has a code, and each code a section in `docs/errors/notation.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotationErrorKind {
    /// The text ends where more is needed.
    EndsTooEarly,
    /// Something stands where the grammar allows something else.
    Unexpected,
    /// A character that the notation does not have.
    UnknownCharacter,
    /// Nested deeper than [`crate::source::MAX_NESTING`].
    TooDeep,
    /// A number that does not fit, or is zero where it must not be.
    Number,
    /// The rows of a shape are not written as `batch|input->output`.
    KindOrder,
    /// A row with two row variables.
    TwoRowVariables,
    /// One name for a dimension variable and a row variable.
    DimAndRow,
    /// A spec with another number of operands than its operation.
    Arity,
    /// An affine axis that is none of `stride*over+offset+dilation*kernel`.
    Affine,
    /// A concatenation whose components are not plain.
    Concat,
    /// A captured name that the spec does not have.
    Capture,
    /// A convolved axis without a padding mark where nothing else decides.
    Padding,
    /// An assignment whose outermost operator does not say how its axes meet.
    NoLogic,
    /// A `~logic` that does not fit the operator of its assignment.
    Logic,
    /// The left side of an assignment is not a tensor that can be assigned.
    Target,
    /// A literal whose parts have different shapes.
    Ragged,
    /// An inline definition with an unknown or repeated part.
    InlineDefinition,
    /// One name twice in a list of names.
    Twice,
    /// Operators that need parentheses, or an exponent that is not a number.
    Operators,
    /// A slot or a part of a tensor that there is not.
    NoSuchPart,
}

impl NotationErrorKind {
    /// The stable code.
    pub fn code(self) -> &'static str {
        use NotationErrorKind::*;
        match self {
            EndsTooEarly => "SJ0501",
            Unexpected => "SJ0502",
            UnknownCharacter => "SJ0503",
            TooDeep => "SJ0504",
            Number => "SJ0505",
            KindOrder => "SJ0506",
            TwoRowVariables => "SJ0507",
            DimAndRow => "SJ0508",
            Arity => "SJ0509",
            Affine => "SJ0510",
            Concat => "SJ0511",
            Capture => "SJ0512",
            Padding => "SJ0513",
            NoLogic => "SJ0514",
            Logic => "SJ0515",
            Target => "SJ0516",
            Ragged => "SJ0517",
            InlineDefinition => "SJ0518",
            Twice => "SJ0519",
            Operators => "SJ0520",
            NoSuchPart => "SJ0521",
        }
    }
}

/// A mistake in a spec or a source, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("error[{}]: {message}", .kind.code())]
pub struct NotationError {
    /// Which mistake.
    pub kind: NotationErrorKind,
    /// What is wrong, in words.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What the grammar allows at this place; empty where the mistake is not one of grammar.
    pub expected: Vec<&'static str>,
    /// What to do about it.
    pub help: Option<String>,
}

impl NotationError {
    /// A mistake at a place.
    pub fn new(kind: NotationErrorKind, span: Span, message: impl Into<String>) -> NotationError {
        NotationError { kind, message: message.into(), span, expected: Vec::new(), help: None }
    }

    /// The same with what was expected.
    pub fn expecting(mut self, expected: &[&'static str]) -> NotationError {
        self.expected = expected.to_vec();
        self
    }

    /// The same with advice.
    pub fn with_help(mut self, help: impl Into<String>) -> NotationError {
        self.help = Some(help.into());
        self
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// The mistake in a text that stands `by` bytes into another.
    pub fn shifted(mut self, by: usize) -> NotationError {
        self.span = self.span.shifted(by);
        self
    }

    /// The line and the column of the place, both from one.
    pub fn position(&self, source: &str) -> (usize, usize) {
        self.span.position(source)
    }

    /// The message with file, line, column, the line itself, a caret, what was expected and advice.
    pub fn render(&self, file: &str, source: &str) -> String {
        let expected = match self.expected.is_empty() {
            true => None,
            false => Some(format!("expected: {}", self.expected.join(", "))),
        };
        let help = self.help.as_ref().map(|help| format!("help: {help}"));
        let notes: Vec<String> = expected.into_iter().chain(help).collect();
        self.span.excerpt(file, source, &self.to_string(), &notes)
    }
}
