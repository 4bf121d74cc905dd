//! An MLIR context with every dialect, whose diagnostics become values.

use crate::{MlirError, Place, Stage};
use melior::Context;
use melior::diagnostic::{Diagnostic, DiagnosticSeverity};
use melior::dialect::DialectRegistry;
use melior::ir::operation::OperationLike;
use melior::ir::{Location, Module};
use melior::utility::{register_all_dialects, register_all_llvm_translations, register_all_passes};
use std::cell::RefCell;
use std::rc::Rc;

/// A context for one module text.
///
/// MLIR prints a diagnostic to standard error only where no handler takes it. The handler attached here takes
/// every one, so nothing is printed; [`Session::error`] turns what was collected into an [`MlirError`].
pub(crate) struct Session {
    context: Context,
    collected: Rc<RefCell<Vec<Collected>>>,
}

/// A diagnostic as it arrived: line and column count from 1.
struct Collected {
    message: String,
    position: Option<(usize, usize)>,
}

impl Session {
    /// A context that knows every upstream dialect and pass, and translation to LLVM IR.
    pub(crate) fn new() -> Session {
        // The passes are registered in the process, once; dialects in each context.
        register_all_passes();
        let registry = DialectRegistry::new();
        register_all_dialects(&registry);
        // Compilations run side by side on the threads of the caller; a context starts none of its own.
        let context = Context::new_with_registry(&registry, false);
        register_all_llvm_translations(&context);
        let collected = Rc::new(RefCell::new(Vec::new()));
        let sink = collected.clone();
        context.attach_diagnostic_handler(move |diagnostic| {
            collect(&diagnostic, &mut sink.borrow_mut());
            true
        });
        Session { context, collected }
    }

    /// The context.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Parses and verifies a module.
    pub(crate) fn parse(&self, text: &str) -> Result<Module<'_>, MlirError> {
        // MLIR reads up to a null byte.
        if let Some(offset) = text.bytes().position(|b| b == 0) {
            let before = &text[..offset];
            let line = 1 + before.bytes().filter(|&b| b == b'\n').count();
            let column = 1 + before.chars().rev().take_while(|&c| c != '\n').count();
            let mut error = MlirError::new(Stage::Parse, "the text holds a null byte");
            error.place = Place::of(text, line, column);
            return Err(error);
        }
        let module = Module::parse(&self.context, text).ok_or_else(|| self.error(Stage::Parse, text))?;
        if !module.as_operation().verify() {
            return Err(self.error(Stage::Parse, text));
        }
        self.collected.borrow_mut().clear();
        Ok(module)
    }

    /// What was collected since the last error, as one error with places in `text`.
    pub(crate) fn error(&self, stage: Stage, text: &str) -> MlirError {
        let mut collected = self.collected.take().into_iter();
        let Some(first) = collected.next() else {
            return MlirError::new(stage, "MLIR failed without a diagnostic");
        };
        let place = first.position.and_then(|(line, column)| Place::of(text, line, column));
        let notes = collected.map(|c| match c.position {
            Some((line, _)) => format!("line {line}: {}", c.message),
            None => c.message,
        });
        MlirError { stage, message: first.message, place, notes: notes.collect() }
    }
}

/// Files an error or a note; warnings and remarks are dropped.
fn collect(diagnostic: &Diagnostic<'_>, into: &mut Vec<Collected>) {
    if matches!(diagnostic.severity(), DiagnosticSeverity::Error | DiagnosticSeverity::Note) {
        into.push(Collected {
            message: diagnostic.to_string(),
            position: position(diagnostic.location(), 8),
        });
        for note in 0..diagnostic.note_count() {
            if let Ok(note) = diagnostic.note(note) {
                collect(&note, into);
            }
        }
    }
}

/// The line and column of a location, looking at most `depth` levels into named, fused and call-site locations.
fn position(location: Location<'_>, depth: u32) -> Option<(usize, usize)> {
    let depth = depth.checked_sub(1)?;
    if location.is_file_line_col_range() {
        Some((location.file_line_col_range_start_line(), location.file_line_col_range_start_column()))
    } else if location.is_call_site() {
        position(location.call_site_callee(), depth)
    } else if location.is_name() {
        position(location.name_child_location(), depth)
    } else if location.is_fused() {
        (0..location.fused_num_locations()).find_map(|i| position(location.fused_location(i), depth))
    } else {
        None
    }
}
