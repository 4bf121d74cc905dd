//! What code may not do.

use crate::Value;
use thiserror::Error;

/// What code does that it may not, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{kind}{}{}", in_function(.function), in_statement(.statement))]
pub struct Fault {
    /// What.
    pub kind: FaultKind,
    /// In which function.
    pub function: Option<String>,
    /// In which statement: its first line.
    pub statement: Option<String>,
}

fn in_function(function: &Option<String>) -> String {
    function.as_ref().map_or(String::new(), |name| format!("\n  in `{name}`"))
}

fn in_statement(statement: &Option<String>) -> String {
    statement.as_ref().map_or(String::new(), |text| format!(": {text}"))
}

/// What code may not do, and what the interpreter cannot.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FaultKind {
    /// An access outside of all memory.
    #[error("{bytes} bytes at {place}, which is out of bounds")]
    OutOfBounds {
        /// The address, as far as it is known whose it is.
        place: String,
        /// How many.
        bytes: usize,
    },
    /// An address that is not aligned as the code says.
    #[error("an address of {place} that is no multiple of {alignment}")]
    Misaligned {
        /// The address.
        place: String,
        /// What it must be a multiple of.
        alignment: usize,
    },
    /// Two tasks that may run at the same time touch a byte, and one of them writes it.
    #[error("a race: two workers touch {place}, and one of them writes")]
    Race {
        /// The byte.
        place: String,
    },
    /// A division by zero, or the one quotient that is too large.
    #[error("a division by zero, or one that overflows")]
    Division,
    /// A value that nothing defines.
    #[error("{0} is used where it is not defined")]
    Undefined(Value),
    /// A function that is not there.
    #[error("there is no function `{0}`")]
    NoFunction(String),
    /// An operation or an instruction without a meaning here.
    #[error("the interpreter does not know {0}")]
    Unknown(String),
}

impl Fault {
    pub(super) fn new(kind: FaultKind) -> Fault {
        Fault { kind, function: None, statement: None }
    }

    /// Does the interpreter lack something, where the code may be right?
    pub fn is_limit(&self) -> bool {
        matches!(self.kind, FaultKind::Unknown(_))
    }
}
