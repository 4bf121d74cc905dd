//! Why a program cannot be differentiated, and where.

use std::sync::Arc;
use surject_index::{Fact, UnsupportedDynamicShape};
use surject_ir::VerifyError;
use thiserror::Error;

/// Why a program cannot be differentiated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AdjointError {
    /// A derivative would have to flow through something that has no rule.
    #[error(
        "{}error[{}]: `{op}` cannot be differentiated{}: {detail}",
        place(.origin),
        codes::UNSUPPORTED,
        defines(.variable)
    )]
    Unsupported {
        /// The operation.
        op: String,
        /// What stands in the way.
        detail: String,
        /// The variable that it defines.
        variable: String,
        /// The place that the statement came from, where known.
        origin: Option<Arc<str>>,
    },
    /// A size is known less well than a derivative needs (seed 002, "AD Contract"): matched by type, never by its text.
    #[error(
        "{}error[{}]: the derivative of {shape}{}{}",
        place(.origin),
        codes::DYNAMIC,
        defines(.variable),
        decided(.fact)
    )]
    Dynamic {
        /// The operation, its part that needs the size, and what is known of it.
        shape: Box<UnsupportedDynamicShape>,
        /// The fact about the sizes of arguments that would decide it, where there is one.
        fact: Option<Box<Fact>>,
        /// The variable that the operation defines.
        variable: String,
        /// The place that the statement came from, where known.
        origin: Option<Arc<str>>,
    },
    /// The program has no such function.
    #[error("error[{}]: there is no function `{name}`{}", codes::NO_FUNCTION, listing(.known))]
    NoFunction {
        /// The name asked for.
        name: String,
        /// The functions there are.
        known: Vec<String>,
    },
    /// The parameters or the result asked for cannot be differentiated, or there is no only one.
    #[error("error[{}]: {detail}", codes::SELECTION)]
    Selection {
        /// What is wrong with them.
        detail: String,
    },
    /// The program is not well formed.
    #[error("error[{code}]: {0}", code = codes::INVALID)]
    Invalid(#[from] VerifyError),
}

/// The meaning of each error code of this crate.
pub mod codes {
    /// An operation without a rule.
    pub const UNSUPPORTED: &str = "SJ0601";
    /// A function that does not exist.
    pub const NO_FUNCTION: &str = "SJ0602";
    /// Parameters or a result that cannot be chosen.
    pub const SELECTION: &str = "SJ0603";
    /// A size that is not known well enough.
    pub const DYNAMIC: &str = "SJ0604";
    /// A program that is not well formed.
    pub const INVALID: &str = "SJ0605";
}

impl AdjointError {
    /// The stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            AdjointError::Unsupported { .. } => codes::UNSUPPORTED,
            AdjointError::Dynamic { .. } => codes::DYNAMIC,
            AdjointError::NoFunction { .. } => codes::NO_FUNCTION,
            AdjointError::Selection { .. } => codes::SELECTION,
            AdjointError::Invalid(_) => codes::INVALID,
        }
    }

    /// The place that the error is about, where known.
    pub fn origin(&self) -> Option<&str> {
        match self {
            AdjointError::Unsupported { origin, .. } | AdjointError::Dynamic { origin, .. } => {
                origin.as_deref()
            }
            _ => None,
        }
    }

    /// The exit status of a command that ends with this error: 3 where support is missing, 2 for bad input.
    pub fn exit_status(&self) -> u8 {
        match self {
            AdjointError::Unsupported { .. } | AdjointError::Dynamic { .. } => 3,
            AdjointError::NoFunction { .. } | AdjointError::Selection { .. } | AdjointError::Invalid(_) => 2,
        }
    }
}

fn place(origin: &Option<Arc<str>>) -> String {
    origin.as_ref().map(|o| format!("{o}: ")).unwrap_or_default()
}

fn defines(variable: &str) -> String {
    if variable.is_empty() { String::new() } else { format!(" (it defines `{variable}`)") }
}

fn decided(fact: &Option<Box<Fact>>) -> String {
    match fact {
        Some(fact) => format!("; `{fact}` would decide it: state it after `where`"),
        None => String::new(),
    }
}

fn listing(names: &[String]) -> String {
    if names.is_empty() {
        return String::from(" (the program has none)");
    }
    format!(" (there is {})", names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "))
}
