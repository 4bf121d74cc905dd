//! Why a run failed.

use crate::verify::VerifyError;
use crate::{TensorType, Var};
use std::sync::Arc;
use surject_index::ExtentError;
use surject_runtime::library::LibraryError;
use thiserror::Error;

/// Why a run failed.
#[derive(Clone, Debug, Error)]
pub enum InterpError {
    /// There is no function of this name.
    #[error("the program has no function `{0}`")]
    NoFunction(String),
    /// The program is not well formed.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// The wrong number of arguments.
    #[error("the function takes {expected} arguments; {found} were given")]
    Arguments {
        /// How many it takes.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// An argument of another type.
    #[error("the argument `{name}` is {found} where {expected} is needed")]
    Argument {
        /// The parameter.
        name: String,
        /// Its type.
        expected: TensorType,
        /// Element type and shape of the argument.
        found: String,
    },
    /// Sizes that do not satisfy a guard.
    #[error(transparent)]
    Guard(#[from] Box<crate::GuardError>),
    /// A symbolic size has no value.
    #[error(transparent)]
    Extent(#[from] ExtentError),
    /// A tensor or a loop that is too large to interpret.
    #[error("{0} is too large for the interpreter")]
    TooLarge(String),
    /// More iterations of loops than allowed.
    #[error("the loops ran for more than {0} iterations")]
    IterationLimit(u64),
    /// A library operation that this interpreter does not have for these element types.
    #[error("`{op}` is not supported here: {reason}")]
    Unsupported {
        /// The operation.
        op: &'static str,
        /// What is missing.
        reason: String,
    },
    /// Whoever evaluates the assignments in place of the interpreter failed.
    #[error("{0}")]
    Assignment(String),
    /// A library kernel refused its arguments.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// A variable without a value; never happens in a verified program.
    #[error("variable {} has no value", .0.0)]
    Undefined(Var),
    /// What is against a rule of well formed programs; never happens in a verified program.
    #[error("malformed program: {0}")]
    Malformed(String),
    /// Any of these, in a statement of known origin.
    #[error("{origin}: {error}")]
    At {
        /// Where the statement came from.
        origin: Arc<str>,
        /// What went wrong.
        error: Box<InterpError>,
    },
}

impl InterpError {
    /// Adds the innermost origin that is known.
    pub(super) fn at(self, origin: &Option<Arc<str>>) -> InterpError {
        match (origin, self) {
            (Some(origin), error) if !matches!(error, InterpError::At { .. }) => {
                InterpError::At { origin: origin.clone(), error: Box::new(error) }
            }
            (_, error) => error,
        }
    }
}
