//! Why a program has no StableHLO text, and where.

use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// A place in a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportPlace {
    /// The function.
    pub function: String,
    /// The variables that the statement defines, separated by commas; empty outside statements.
    pub statement: String,
    /// Where the statement came from, if it is known.
    pub origin: Option<Arc<str>>,
}

impl fmt::Display for ExportPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in the function `{}`", self.function)?;
        if !self.statement.is_empty() {
            write!(f, ", at the definition of `{}`", self.statement)?;
        }
        match &self.origin {
            Some(origin) => write!(f, " ({origin})"),
            None => Ok(()),
        }
    }
}

/// Why a program is not exported.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExportError {
    /// The program is valid, but this part of it has no StableHLO form.
    #[error("`{operation}` cannot be written as StableHLO {place}: {detail}")]
    Unsupported {
        /// The operation.
        operation: String,
        /// What about it has no form.
        detail: String,
        /// Where it stands.
        place: ExportPlace,
    },
    /// The program is not valid, or the exporter made a module that its own verifier refuses; both are mistakes to
    /// report, never text to hand on.
    #[error("the exported module is not valid {place}: {message}")]
    Malformed {
        /// What the check says.
        message: String,
        /// Where, as far as it is known.
        place: ExportPlace,
    },
}

impl ExportError {
    /// Where the error is.
    pub fn place(&self) -> &ExportPlace {
        match self {
            ExportError::Unsupported { place, .. } | ExportError::Malformed { place, .. } => place,
        }
    }
}
