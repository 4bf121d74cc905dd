//! Why a module cannot be lifted, and where.

use std::sync::Arc;
use surject_index::{Fact, UnsupportedDynamicShape};
use surject_stablehlo::{Diagnostic, Op, Span};
use thiserror::Error;

/// A place in the source of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The operation (or the function's name) in the text.
    pub span: Span,
    /// The location that the text itself gives (`loc(…)`), if any.
    pub location: Option<Arc<str>>,
}

/// Why a module does not become a program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LiftError {
    /// The module may be valid, but this part of it is not supported.
    #[error("`{op}` is not supported here: {detail}")]
    Unsupported {
        /// The operation.
        op: String,
        /// What about it is not supported.
        detail: String,
        /// Where it stands.
        place: Place,
    },
    /// The module is not valid.
    #[error("`{op}` is not valid: {detail}")]
    Invalid {
        /// The operation.
        op: String,
        /// What is wrong.
        detail: String,
        /// Where it stands.
        place: Place,
    },
    /// A size is known less well than the operation needs (seed 002).
    #[error("{shape}{}", decided(.fact))]
    Dynamic {
        /// The operation, its field, and what is known of it.
        shape: Box<UnsupportedDynamicShape>,
        /// The fact about the sizes of arguments that would decide it, where there is one.
        fact: Option<Box<Fact>>,
        /// Where the operation stands.
        place: Place,
    },
    /// The sizes of a call are not those that the operation needs.
    #[error("`{op}` needs `{fact}` for {field}{}", said(.message))]
    Sizes {
        /// The operation.
        op: String,
        /// The part of it that has the size.
        field: String,
        /// What does not hold.
        fact: Box<Fact>,
        /// What the program says about it.
        message: Option<Box<str>>,
        /// Where the operation stands.
        place: Place,
    },
    /// A function calls itself, directly or through others; calls are inlined, so there is no program for it.
    #[error("the function `@{function}` calls itself, and recursion is not supported")]
    Recursion {
        /// The function.
        function: String,
        /// The call that closes the circle.
        place: Place,
    },
    /// The function asked for does not exist.
    #[error("there is no function `@{name}`{}", listing(.known))]
    NoFunction {
        /// The name asked for; empty if the module has no function at all.
        name: String,
        /// The functions there are.
        known: Vec<String>,
    },
}

fn listing(names: &[String]) -> String {
    if names.is_empty() {
        return String::from(" (the module has none)");
    }
    format!(" (there is {})", names.iter().map(|n| format!("`@{n}`")).collect::<Vec<_>>().join(", "))
}

fn decided(fact: &Option<Box<Fact>>) -> String {
    fact.as_ref().map_or(String::new(), |f| format!("; the fact `{f}` would decide it"))
}

fn said(message: &Option<Box<str>>) -> String {
    message.as_ref().map_or(String::new(), |m| format!(": {m}"))
}

/// The meaning of each error code of this crate.
pub mod codes {
    /// A valid construct that is not supported.
    pub const UNSUPPORTED: &str = "SJ0301";
    /// An operation that is not valid.
    pub const INVALID: &str = "SJ0302";
    /// A recursive function.
    pub const RECURSION: &str = "SJ0303";
    /// A function that does not exist.
    pub const NO_FUNCTION: &str = "SJ0304";
    /// A size that is not known well enough.
    pub const DYNAMIC: &str = "SJ0305";
    /// Sizes that the program does not allow.
    pub const SIZES: &str = "SJ0306";
}

impl LiftError {
    pub(crate) fn unsupported(op: &Op, detail: impl Into<String>) -> LiftError {
        LiftError::Unsupported { op: op.name.to_string(), detail: detail.into(), place: Place::of(op) }
    }

    pub(crate) fn invalid(op: &Op, detail: impl Into<String>) -> LiftError {
        LiftError::Invalid { op: op.name.to_string(), detail: detail.into(), place: Place::of(op) }
    }

    /// The exit status of a command that ends with this error: 3 where support is missing, 2 for bad input.
    pub fn exit_status(&self) -> u8 {
        match self {
            LiftError::Unsupported { .. } | LiftError::Dynamic { .. } | LiftError::Recursion { .. } => 3,
            LiftError::Invalid { .. } | LiftError::Sizes { .. } | LiftError::NoFunction { .. } => 2,
        }
    }

    /// Where the error is, if it is at a place.
    pub fn place(&self) -> Option<&Place> {
        match self {
            LiftError::Unsupported { place, .. }
            | LiftError::Invalid { place, .. }
            | LiftError::Dynamic { place, .. }
            | LiftError::Sizes { place, .. }
            | LiftError::Recursion { place, .. } => Some(place),
            LiftError::NoFunction { .. } => None,
        }
    }

    /// The same error as a diagnostic that renders with the source line and a caret.
    pub fn diagnostic(&self) -> Diagnostic {
        let code = match self {
            LiftError::Unsupported { .. } => codes::UNSUPPORTED,
            LiftError::Invalid { .. } => codes::INVALID,
            LiftError::Recursion { .. } => codes::RECURSION,
            LiftError::NoFunction { .. } => codes::NO_FUNCTION,
            LiftError::Dynamic { .. } => codes::DYNAMIC,
            LiftError::Sizes { .. } => codes::SIZES,
        };
        let place = self.place().cloned().unwrap_or_default();
        let diagnostic = Diagnostic::new(code, place.span, self.to_string());
        match place.location {
            Some(location) => diagnostic.help(format!("the program says that it comes from {location}")),
            None => diagnostic,
        }
    }
}

impl Place {
    pub(crate) fn of(op: &Op) -> Place {
        Place { span: op.span, location: op.location.clone() }
    }
}
