//! The library that every program has, in the notation of the seeds: operators, layers, optimisers.

use crate::error::{TensorError, TensorErrorKind};
use crate::operator::Operator;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use surject_notation::source::{ItemKind, Source};

/// The texts of the library, with their names.
pub const TEXTS: [(&str, &str); 3] = [
    ("operators.sj", include_str!("../prelude/operators.sj")),
    ("nn.sj", include_str!("../prelude/nn.sj")),
    ("optim.sj", include_str!("../prelude/optim.sj")),
];

type Operators = HashMap<String, Arc<Operator>>;

fn operators() -> &'static Result<Operators, TensorError> {
    static OPERATORS: OnceLock<Result<Operators, TensorError>> = OnceLock::new();
    OPERATORS.get_or_init(|| {
        let mut found = Operators::new();
        for (_, text) in TEXTS {
            for item in &Source::parse(text)?.items {
                if let ItemKind::Operation(operation) = &item.kind {
                    let operator = Operator::of_item(operation)?;
                    found.insert(operator.name.clone(), operator.shared());
                }
            }
        }
        Ok(found)
    })
}

/// The operator of a name.
///
/// # Errors
/// There is none.
pub fn operator(name: &str) -> Result<Arc<Operator>, TensorError> {
    match operators() {
        Err(error) => Err(error.clone()),
        Ok(known) => known.get(name).cloned().ok_or_else(|| {
            TensorError::new(TensorErrorKind::Unknown, format!("there is no operator `{name}`"))
        }),
    }
}
