//! An MLIR context with every dialect, whose diagnostics become values.

use crate::idle::Idle;
use crate::{MlirError, Place, Stage, guard, raw};
use melior::Context;
use melior::dialect::DialectRegistry;
use melior::ir::operation::OperationLike;
use melior::ir::{Location, Module};
use melior::pass::PassManager;
use melior::utility::{
    parse_pass_pipeline, register_all_dialects, register_all_llvm_translations, register_all_passes,
};
use mlir_sys::{
    MlirDiagnostic, MlirDiagnosticSeverity_MlirDiagnosticError, MlirDiagnosticSeverity_MlirDiagnosticNote,
    MlirDialectHandle, MlirLogicalResult, mlirContextAttachDiagnosticHandler, mlirDiagnosticGetLocation,
    mlirDiagnosticGetNote, mlirDiagnosticGetNumNotes, mlirDiagnosticGetSeverity,
    mlirDialectHandleLoadDialect, mlirIdentifierStr,
};
use std::cell::RefCell;
use std::ffi::c_void;

/// A context for one module text.
///
/// MLIR prints a diagnostic to standard error only where no handler takes it. The handler attached here takes
/// every one, so nothing is printed; [`Session::error`] turns what was collected into an [`MlirError`].
pub(crate) struct Session {
    /// Passes that have run, by their text: what they match is prepared when they first do. Dropped before the context.
    managers: RefCell<Vec<(String, PassManager<'static>)>>,
    context: Context,
    /// Boxed: the handler holds its address.
    collected: Box<RefCell<Vec<Collected>>>,
    /// Bytes of text that it has read for compilations before.
    read: usize,
}

// SAFETY: a context without threads of its own belongs to no thread; one uses it at a time.
unsafe impl Send for Session {}

/// A context that has read more than so many bytes is not kept: it never forgets a type or a constant.
const MOST: usize = 4 << 20;

/// Contexts of compilations that have ended.
static SESSIONS: Idle<Session> = Idle::new();

/// A diagnostic as it arrived: line and column count from 1.
struct Collected {
    message: String,
    position: Option<(usize, usize)>,
    origin: Option<String>,
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
        Session::of(context)
    }

    /// A context that knows the dialects of these handles and no other, and runs no pass: it is made in less than half of
    /// the time.
    pub(crate) fn of_dialects(handles: &[MlirDialectHandle]) -> Session {
        let context = Context::new_with_threading(false);
        for &handle in handles {
            // SAFETY: the context is alive; handles are constants of MLIR.
            unsafe { mlirDialectHandleLoadDialect(handle, context.to_raw()) };
        }
        Session::of(context)
    }

    fn of(context: Context) -> Session {
        let collected = Box::<RefCell<Vec<Collected>>>::default();
        // SAFETY: the handler's data outlives the context: fields are dropped in order of declaration.
        unsafe {
            let data = (&raw const *collected).cast_mut().cast();
            mlirContextAttachDiagnosticHandler(context.to_raw(), Some(handle), data, None);
        }
        Session { managers: RefCell::default(), context, collected, read: 0 }
    }

    /// As [`Session::new`], or one that was kept.
    pub(crate) fn kept() -> Session {
        SESSIONS.take(|_| true).unwrap_or_else(Session::new)
    }

    /// Leaves it to another compilation, after one of so many bytes of text that went well and loaded no dialect that
    /// others may do without: what a context has loaded is asked for its patterns by every pass.
    pub(crate) fn keep(self, bytes: usize) {
        self.keep_in(&SESSIONS, bytes);
    }

    /// Leaves it to others of its kind, after work on so many bytes of text that went well.
    pub(crate) fn keep_in(mut self, kind: &Idle<Session>, bytes: usize) {
        self.read += bytes;
        if self.read <= MOST {
            kind.give(self);
        }
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Verifies a module that was built in this context.
    pub(crate) fn verify(&self, module: &Module<'_>) -> Result<(), MlirError> {
        if module.as_operation().verify() {
            self.collected.borrow_mut().clear();
            Ok(())
        } else {
            Err(self.error(Stage::Dialect, ""))
        }
    }

    /// Parses and verifies a module.
    pub(crate) fn parse(&self, text: &str) -> Result<Module<'_>, MlirError> {
        guard::check(text)?;
        // The parser verifies what it has read.
        let module = Module::parse(&self.context, text).ok_or_else(|| self.error(Stage::Parse, text))?;
        self.collected.borrow_mut().clear();
        Ok(module)
    }

    /// Runs passes on a module of a text.
    pub(crate) fn run(&self, pipeline: &str, module: &mut Module<'_>, text: &str) -> Result<(), MlirError> {
        let mut managers = self.managers.borrow_mut();
        let known = managers.iter().position(|m| m.0 == pipeline);
        let at = match known {
            Some(at) => at,
            None => {
                let manager = PassManager::new(&self.context);
                // What a pass makes of a module that was verified is verified at the end, by LLVM.
                manager.enable_verifier(cfg!(debug_assertions));
                parse_pass_pipeline(manager.as_operation_pass_manager(), pipeline)
                    .map_err(|error| MlirError::new(Stage::Passes, error.to_string()))?;
                managers.push((pipeline.to_string(), manager));
                managers.len() - 1
            }
        };
        managers[at].1.run(module).map_err(|_| self.error(Stage::Passes, text))
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
        let message = match &first.origin {
            Some(origin) if place.is_none() => format!("{} (from {origin})", first.message),
            _ => first.message,
        };
        MlirError { stage, message, place, notes: notes.collect() }
    }
}

/// A module as MLIR prints it.
pub(crate) fn printed(module: &Module<'_>) -> String {
    // SAFETY: the module is alive.
    unsafe { raw::print_operation(module.as_operation().to_raw()) }
}

/// Takes a diagnostic: errors and notes are filed, warnings and remarks dropped.
unsafe extern "C" fn handle(diagnostic: MlirDiagnostic, data: *mut c_void) -> MlirLogicalResult {
    // SAFETY: MLIR passes a live diagnostic and the data that `Session::new` gave it.
    unsafe { collect(diagnostic, &mut (*data.cast::<RefCell<Vec<Collected>>>()).borrow_mut()) };
    MlirLogicalResult { value: 1 }
}

/// # Safety
/// The diagnostic is alive.
#[allow(non_upper_case_globals)]
unsafe fn collect(diagnostic: MlirDiagnostic, into: &mut Vec<Collected>) {
    // SAFETY: the caller's promise; notes live as long as their diagnostic.
    unsafe {
        if let MlirDiagnosticSeverity_MlirDiagnosticError | MlirDiagnosticSeverity_MlirDiagnosticNote =
            mlirDiagnosticGetSeverity(diagnostic)
        {
            let location = Location::from_raw(mlirDiagnosticGetLocation(diagnostic));
            let message = raw::print_diagnostic(diagnostic);
            into.push(Collected { message, position: position(location, 8), origin: origin(location) });
            for note in 0..mlirDiagnosticGetNumNotes(diagnostic) {
                collect(mlirDiagnosticGetNote(diagnostic, note), into);
            }
        }
    }
}

/// `FILE:LINE:COLUMN` of a location that names a file: what a statement came from.
pub(crate) fn origin(location: Location<'_>) -> Option<String> {
    if !location.is_file_line_col_range() {
        return None;
    }
    // SAFETY: the location is alive, and so is its name.
    let file = unsafe { raw::text(mlirIdentifierStr(location.file_line_col_range_filename().to_raw())) };
    let (line, column) =
        (location.file_line_col_range_start_line(), location.file_line_col_range_start_column());
    (!file.is_empty() && file != "-").then(|| format!("{file}:{line}:{column}"))
}

/// The line and column of a location, looking at most `depth` levels into named, fused and call-site locations.
pub(crate) fn position(location: Location<'_>, depth: u32) -> Option<(usize, usize)> {
    let depth = depth.checked_sub(1)?;
    if location.is_file_line_col_range() {
        // A location that the text itself gives speaks of another file; that of the text has no name.
        // SAFETY: the location is alive, and so is its name.
        let file = unsafe { raw::text(mlirIdentifierStr(location.file_line_col_range_filename().to_raw())) };
        (file.is_empty() || file == "-").then_some((
            location.file_line_col_range_start_line(),
            location.file_line_col_range_start_column(),
        ))
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
