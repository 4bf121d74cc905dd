//! Errors of tensor programs.

use std::fmt;
use surject_notation::{NotationError, Span};
use surject_projection::ProjectionError;
use surject_shape::{Place, ShapeError};

/// What is wrong with a tensor program. Each has a code, and each code a section in `docs/errors/tensor.md`.
#[derive(Clone, Debug, PartialEq)]
pub enum TensorErrorKind {
    /// A mistake of notation.
    Notation(Box<NotationError>),
    /// The shapes do not fit.
    Shape(Box<ShapeError>),
    /// The loops do not fit.
    Projection(Box<ProjectionError>),
    /// A name that nothing introduces.
    Unknown,
    /// A value of another sort is needed.
    Sort,
    /// Arguments that a function or an operator does not take.
    Arguments,
    /// An operator whose assignments cannot be read.
    Operator,
    /// A size that is not known where it is needed.
    Size,
    /// A gradient that no backward pass computes.
    NoGradient,
    /// A tensor that is read before anything writes it.
    Unwritten,
    /// An accumulation that is not defined for values that meet.
    Accumulation,
    /// An operation that has no assignments for this element type.
    Unsupported,
    /// Calls nested too deep.
    TooDeep,
    /// One name for two tensors.
    Twice,
    /// A file that cannot be read as values.
    File,
}

impl TensorErrorKind {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            TensorErrorKind::Notation(e) => e.code(),
            TensorErrorKind::Shape(e) => e.code(),
            TensorErrorKind::Projection(e) => e.code(),
            TensorErrorKind::Unknown => "SJ0541",
            TensorErrorKind::Sort => "SJ0542",
            TensorErrorKind::Arguments => "SJ0543",
            TensorErrorKind::Operator => "SJ0544",
            TensorErrorKind::Size => "SJ0545",
            TensorErrorKind::NoGradient => "SJ0546",
            TensorErrorKind::Unwritten => "SJ0547",
            TensorErrorKind::Accumulation => "SJ0548",
            TensorErrorKind::Unsupported => "SJ0549",
            TensorErrorKind::TooDeep => "SJ0550",
            TensorErrorKind::Twice => "SJ0551",
            TensorErrorKind::File => "SJ0552",
        }
    }
}

/// An error of a tensor program: what, where, and what to do.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorError {
    /// What is wrong.
    pub kind: TensorErrorKind,
    /// In words; empty where the kind carries an error with words of its own.
    pub message: String,
    /// The bytes of the text it is about, where it is about a text.
    pub span: Option<Span>,
    /// The place in the source, where known.
    pub place: Option<Place>,
    /// What to do.
    pub help: Option<String>,
    /// What surrounds it, where something does.
    pub context: Option<Box<Context>>,
}

/// What surrounds an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// What else there is to know, such as the shapes of the tensors it is about.
    pub notes: Vec<String>,
    /// The functions it happened in, innermost first, and where they were called.
    pub calls: Vec<(String, Option<Place>)>,
}

impl TensorError {
    /// An error without a place.
    pub fn new(kind: TensorErrorKind, message: impl Into<String>) -> TensorError {
        TensorError { kind, message: message.into(), span: None, place: None, help: None, context: None }
    }

    /// The same with advice.
    pub fn with_help(mut self, help: impl Into<String>) -> TensorError {
        self.help = Some(help.into());
        self
    }

    /// The same with the bytes of the text it is about, if it has none yet.
    pub fn spanning(mut self, span: Span) -> TensorError {
        self.span.get_or_insert(span);
        self
    }

    /// The same with a place, if it has none yet.
    pub fn at(mut self, place: Option<Place>) -> TensorError {
        if self.place.is_none() {
            self.place = place;
        }
        self
    }

    /// What surrounds it.
    pub fn context_mut(&mut self) -> &mut Context {
        self.context.get_or_insert_default()
    }

    /// What else there is to know.
    pub fn notes(&self) -> &[String] {
        self.context.as_ref().map_or(&[], |context| &context.notes)
    }

    /// The functions it happened in, innermost first, and where they were called.
    pub fn calls(&self) -> &[(String, Option<Place>)] {
        self.context.as_ref().map_or(&[], |context| &context.calls)
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Whether the shapes or the loops of the program do not fit (exit status 4 of the command).
    pub fn is_shape_error(&self) -> bool {
        matches!(self.kind, TensorErrorKind::Shape(_) | TensorErrorKind::Projection(_))
    }
}

impl From<NotationError> for TensorError {
    fn from(e: NotationError) -> TensorError {
        let span = e.span;
        TensorError::new(TensorErrorKind::Notation(Box::new(e)), "").spanning(span)
    }
}

impl From<ShapeError> for TensorError {
    fn from(e: ShapeError) -> TensorError {
        let place = e.labels.iter().find_map(|o| o.place.clone());
        TensorError::new(TensorErrorKind::Shape(Box::new(e)), "").at(place)
    }
}

impl From<ProjectionError> for TensorError {
    fn from(e: ProjectionError) -> TensorError {
        TensorError::new(TensorErrorKind::Projection(Box::new(e)), "")
    }
}

impl fmt::Display for TensorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        match &self.kind {
            TensorErrorKind::Notation(e) => write!(f, "{e}")?,
            TensorErrorKind::Shape(e) => write!(f, "{e}")?,
            TensorErrorKind::Projection(e) => write!(f, "{e}")?,
            kind => write!(f, "error[{}]: {}", kind.code(), self.message)?,
        }
        for note in self.notes() {
            write!(f, "\n  note: {note}")?;
        }
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for TensorError {}
