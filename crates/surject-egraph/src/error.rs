//! What can go wrong.

use surject_ir::{TypeError, Violation};
use surject_rules::RuleError;
use thiserror::Error;

/// Why a program cannot be optimised.
#[derive(Debug, Error)]
pub enum EgraphError {
    /// The program given is not valid.
    #[error("the program is not valid: {0}")]
    Invalid(String),
    /// A rule equates fields of different spaces or types.
    #[error("rule `{rule}` equates two fields that differ: {what}")]
    Clash {
        /// The rule.
        rule: String,
        /// The two types.
        what: String,
    },
    /// A rule file has an error.
    #[error("{file}: {error}")]
    Rules {
        /// The file.
        file: String,
        /// The error.
        error: Box<RuleError>,
    },
    /// A rule in a form that cannot be run.
    #[error("rule `{rule}` cannot be run: {why}")]
    Unsupported {
        /// The rule.
        rule: String,
        /// Why.
        why: String,
    },
    /// A law named in `without` does not exist.
    #[error("there is no law or rule named `{name}`{}", crate::laws::suggestion(near))]
    UnknownLaw {
        /// The name.
        name: String,
        /// The names that are near to it.
        near: Vec<String>,
    },
    /// A calibration file is malformed.
    #[error("line {line} of the cost model: {what}")]
    CostModel {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// A plan could not be turned back into a program; the place names the function.
    #[error("the plan of `{place}` cannot be written as a program: {what}")]
    Rebuild {
        /// The function.
        place: String,
        /// Why.
        what: String,
    },
    /// A pass says more about sizes than was known before it.
    #[error("the pass `{pass}` broke the contract of passes on `{function}`: {violation}")]
    Contract {
        /// The pass.
        pass: &'static str,
        /// The function.
        function: String,
        /// What it says without evidence.
        violation: Box<Violation>,
    },
    /// The program that was built does not pass the verifier.
    #[error("the optimised program is not valid: {0}")]
    Output(String),
}

impl EgraphError {
    /// A failure to rebuild because of a type error.
    pub(crate) fn types(place: &str, error: TypeError) -> EgraphError {
        EgraphError::Rebuild { place: place.to_string(), what: error.to_string() }
    }
}
