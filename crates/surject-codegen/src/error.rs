//! Why a program cannot be compiled.

use surject_ir::Var;
use thiserror::Error;

/// Why a program cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CodegenError {
    /// There is no function of this name.
    #[error("the program has no function `{0}`")]
    NoFunction(String),
    /// A valid program with something that is not supported.
    #[error("{what} is not supported in compiled code{}", place(origin))]
    Unsupported {
        /// What it is: the operation and, where it matters, the element type.
        what: String,
        /// Where it came from.
        origin: Option<String>,
    },
    /// The program breaks a rule of [`surject_ir::verify()`].
    #[error("the program is not well formed: {what}{}", place(origin))]
    Malformed {
        /// What is wrong.
        what: String,
        /// Where it came from.
        origin: Option<String>,
    },
    /// A size or an address does not fit in 64 bits.
    #[error("the size of {what} does not fit in 64 bits")]
    Overflow {
        /// Of what.
        what: String,
    },
}

fn place(origin: &Option<String>) -> String {
    origin.as_ref().map_or_else(String::new, |o| format!(" (at {o})"))
}

impl CodegenError {
    /// The same error with its place, if it has none yet.
    pub(crate) fn at(mut self, place: Option<&str>) -> CodegenError {
        if let CodegenError::Unsupported { origin, .. } | CodegenError::Malformed { origin, .. } = &mut self
            && origin.is_none()
        {
            *origin = place.map(str::to_string);
        }
        self
    }

    pub(crate) fn unsupported(what: impl Into<String>) -> CodegenError {
        CodegenError::Unsupported { what: what.into(), origin: None }
    }

    pub(crate) fn malformed(what: impl Into<String>) -> CodegenError {
        CodegenError::Malformed { what: what.into(), origin: None }
    }

    pub(crate) fn overflow(what: impl Into<String>) -> CodegenError {
        CodegenError::Overflow { what: what.into() }
    }

    pub(crate) fn undefined(var: Var) -> CodegenError {
        CodegenError::malformed(format!("variable {} is used before it is defined", var.0))
    }
}
