//! The functions of the library, read once for all sessions.

use super::text::Text;
use crate::error::TensorError;
use crate::prelude;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};
use surject_notation::source::{self, ItemKind, Source};

/// A function of the library and the text it stands in.
#[derive(Clone)]
pub(super) struct LibraryFunction {
    pub(super) function: Arc<source::Function>,
    pub(super) text: Arc<Text>,
}

#[derive(Default)]
struct Library {
    functions: HashMap<String, LibraryFunction>,
    names: BTreeSet<String>,
}

fn read() -> Result<Library, TensorError> {
    let mut library = Library::default();
    for (file, text) in prelude::TEXTS {
        let shared = Arc::new(Text::new(file, text, true));
        for item in Source::parse(text)?.items {
            match item.kind {
                ItemKind::Function(function) => {
                    let name = function.name.text.clone();
                    let function = LibraryFunction { function: Arc::new(function), text: shared.clone() };
                    library.names.insert(name.clone());
                    library.functions.insert(name, function);
                }
                ItemKind::Operation(operation) => {
                    library.names.insert(operation.name.text);
                }
                // The library has nothing that acts.
                _ => {}
            }
        }
    }
    Ok(library)
}

fn library() -> &'static Result<Library, TensorError> {
    static LIBRARY: OnceLock<Result<Library, TensorError>> = OnceLock::new();
    LIBRARY.get_or_init(read)
}

/// The function of a name.
pub(super) fn function(name: &str) -> Result<Option<LibraryFunction>, TensorError> {
    match library() {
        Ok(library) => Ok(library.functions.get(name).cloned()),
        Err(error) => Err(error.clone()),
    }
}

/// The names of functions and operators.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    library().as_ref().into_iter().flat_map(|library| library.names.iter().map(String::as_str))
}
