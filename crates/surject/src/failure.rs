//! How a command ends when it does not succeed.

use std::fmt;
use surject_stablehlo::Diagnostic;
use surject_stablehlo::diagnostic::codes;

/// A message for a person and the exit status that goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure it is.
    pub status: Status,
    /// The whole message: for bad input with file, line, column, the line, a caret, and what was expected.
    pub message: String,
}

/// The exit statuses of the `surject` command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// A result differs from the expected one.
    Difference = 1,
    /// Bad usage or bad input.
    BadInput = 2,
    /// A valid program with something that is not supported.
    Unsupported = 3,
    /// A shape error.
    Shape = 4,
}

impl Failure {
    /// Bad usage or bad input.
    pub fn bad_input(message: impl fmt::Display) -> Failure {
        Failure { status: Status::BadInput, message: message.to_string() }
    }

    /// A valid program with something that is not supported.
    pub fn unsupported(message: impl fmt::Display) -> Failure {
        Failure { status: Status::Unsupported, message: message.to_string() }
    }

    /// What is wrong with the text of a file. What MLIR allows and programs never hold may well be valid.
    pub fn diagnosed(error: &Diagnostic, file: &str, bytes: &[u8]) -> Failure {
        let message = error.render(file, bytes);
        match error.code {
            codes::UNSUPPORTED => Failure::unsupported(message),
            _ => Failure::bad_input(message),
        }
    }

    /// A result that differs.
    pub fn difference(message: impl fmt::Display) -> Failure {
        Failure { status: Status::Difference, message: message.to_string() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message.trim_end())
    }
}

impl std::error::Error for Failure {}
