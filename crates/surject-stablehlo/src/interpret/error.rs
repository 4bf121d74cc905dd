//! What ends a run before its results.

use std::fmt;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Span, codes};
use crate::module::Op;

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Why a run ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The interpreter does not have the operation, the target of a call, or this use of it.
    Unsupported,
    /// Operands, attributes or arguments that the operation does not allow; in dynamic programs also sizes that turn out
    /// not to fit.
    Invalid,
    /// A [limit](super::Limits) was reached.
    Limit,
    /// A `check` operation found another value than expected.
    Check,
    /// A `shape_assertion` does not hold.
    Assertion,
    /// Processes wait for each other and for nothing else, or a queue is empty that nothing fills.
    Deadlock,
}

/// An error of a run: the operation, its place, and what is wrong.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    inner: Box<Inner>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    op: Option<String>,
    span: Span,
    location: Option<Arc<str>>,
    message: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        let message = message.into();
        Error { inner: Box::new(Inner { kind, op: None, span: Span::default(), location: None, message }) }
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Unsupported, message)
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Invalid, message)
    }

    /// The error as one of the operation; that of an operation inside it stays.
    pub(crate) fn at(mut self, op: &Op) -> Error {
        if self.inner.op.is_none() {
            self.inner.op = Some(match op.string("call_target_name") {
                Ok(target) if op.short_name() == "custom_call" => format!("{} @{target}", op.name),
                _ => op.name.to_string(),
            });
            self.inner.span = op.span;
            self.inner.location = op.location.clone();
        }
        self
    }

    /// Why the run ended.
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    /// Name of the operation, with the target of a call; none where the arguments or the function are wrong.
    pub fn op(&self) -> Option<&str> {
        self.inner.op.as_deref()
    }

    /// Where the operation stands in the source.
    pub fn span(&self) -> Span {
        self.inner.span
    }

    /// Text of the location that the source gives to the operation.
    pub fn location(&self) -> Option<&str> {
        self.inner.location.as_deref()
    }

    /// What is wrong, without the operation and its place.
    pub fn message(&self) -> &str {
        &self.inner.message
    }

    /// The error in the form that those of the reader and the verifier have: it can be rendered with the source line.
    pub fn diagnostic(&self) -> Diagnostic {
        let code = match self.inner.kind {
            ErrorKind::Unsupported => codes::RUN_UNSUPPORTED,
            ErrorKind::Invalid => codes::RUN_INVALID,
            ErrorKind::Limit => codes::RUN_LIMIT,
            ErrorKind::Check | ErrorKind::Assertion => codes::RUN_CHECK,
            ErrorKind::Deadlock => codes::RUN_DEADLOCK,
        };
        let mut message = match &self.inner.op {
            Some(op) => format!("'{op}': {}", self.inner.message),
            None => self.inner.message.clone(),
        };
        if let Some(location) = &self.inner.location {
            message.push_str(&format!(" [{location}]"));
        }
        Diagnostic::new(code, self.inner.span, message)
    }
}

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Error {
        let mut message = diagnostic.message;
        if let Some(expected) = diagnostic.expected {
            message.push_str(&format!("; expected {expected}"));
        }
        Error::invalid(message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(op) = &self.inner.op {
            write!(f, "'{op}' ")?;
            match &self.inner.location {
                Some(location) => write!(f, "at {location}: ")?,
                None => write!(f, "at bytes {}: ", self.inner.span)?,
            }
        }
        f.write_str(&self.inner.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.inner.kind)
    }
}
