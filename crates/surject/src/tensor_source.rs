//! Programs of tensors as text: from `.sj` to a graph and to a program.

use crate::{Failure, Status};
use std::collections::HashSet;
use surject_notation::NotationError;
use surject_notation::source::{Item, ItemKind, Source};
use surject_tensor::{LowerOptions, Lowered, Session, TensorError, TensorErrorKind};

/// Reads a text. A declaration of results may stand before what it names.
///
/// # Errors
/// A mistake of notation, with line and caret.
pub fn parse(name: &str, text: &str) -> Result<Source, Failure> {
    Source::parse(text).map(outputs_last).map_err(|e| notation_failure(&e, name, text))
}

/// A mistake of notation as the command ends with it.
pub fn notation_failure(error: &NotationError, name: &str, text: &str) -> Failure {
    Failure { status: Status::BadInput, message: error.render(name, text) }
}

/// Moves declarations of results behind what they name.
pub(crate) fn outputs_last(source: Source) -> Source {
    let mut known = HashSet::new();
    let (mut items, mut late): (Vec<Item>, Vec<Item>) = (Vec::new(), Vec::new());
    for item in source.items {
        match &item.kind {
            ItemKind::Input { name, .. } | ItemKind::Index { name, .. } | ItemKind::Let { name, .. } => {
                known.insert(name.text.clone());
            }
            ItemKind::Cut { names, .. } => known.extend(names.iter().map(|name| name.text.clone())),
            ItemKind::Output(names) if names.iter().any(|n| !known.contains(&n.text)) => {
                late.push(item);
                continue;
            }
            _ => {}
        }
        items.push(item);
    }
    items.extend(late);
    Source { items }
}

/// A text that became a program.
pub struct TensorProgram {
    /// The evaluation of the text.
    pub session: Session,
    /// The program: functions `main` and `init`.
    pub lowered: Lowered,
}

/// Makes the program of a text.
///
/// # Errors
/// A mistake of notation, of names or arguments, with line and caret; shapes that do not fit; what cannot be lowered.
pub fn lower(name: &str, text: &str) -> Result<TensorProgram, Failure> {
    let source = parse(name, text)?;
    let mut session = Session::new(name, text);
    let lowered =
        session.run(&source).and_then(|()| surject_tensor::lower(session.graph(), &LowerOptions::default()));
    match lowered {
        Ok(lowered) => Ok(TensorProgram { session, lowered }),
        Err(error) => Err(failure(&session, &error)),
    }
}

/// An error of a tensor program as the command ends with it.
pub fn failure(session: &Session, error: &TensorError) -> Failure {
    let status = match error.kind {
        _ if error.is_shape_error() => Status::Shape,
        TensorErrorKind::Unsupported => Status::Unsupported,
        _ => Status::BadInput,
    };
    Failure { status, message: session.render(error) }
}
