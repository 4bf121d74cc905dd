//! The Surject dialect: a [`Program`] as an MLIR module, and back.
//!
//! The dialect is defined in IRDL (`dialects/surject.irdl.mlir`, described in `dialects/README.md`), so that stock
//! `mlir-opt --irdl-file` accepts the same modules. [`print()`] and [`parse()`] are inverse to each other: a program comes
//! back with the same functions, statements, fields and names. What IRDL cannot say (a map's arity and range, guards
//! without a fill, operand and result types of an operation) is checked by [`parse()`], with the place of the operation.
//!
//! How a program maps to a module:
//!
//! | program | module |
//! |---|---|
//! | function | `func.func`; names of parameters in `surject.name` |
//! | variable | the result of `surject.store`, `surject.literal`, a library operation, `scf.while`, `scf.index_switch` |
//! | field | any other value; a field over `P` is a tensor of `P`'s extents |
//! | pointwise operation | `arith`, `math` where they mean the same for the element type, else `surject.unary`, … |
//! | library operation | an operation from a tuple to a tuple, because an IRDL variadic has one type |
//! | its scalar function | a private `func.func` with `surject.region`: an IRDL operation cannot be a terminator |
//! | `While`, `If` | `scf.while`, `scf.index_switch` |

mod affine;
mod build;
mod interned;
mod library;
mod literals;
mod ops;
mod read;
mod reader;
mod value;

use crate::guard::on_large_stack;
use crate::idle::Idle;
use crate::session::{Session, printed};
use crate::{MlirError, Stage};
use literals::SharedLiterals;
use melior::ir::Module;
use melior::utility::load_irdl_dialects;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use surject_ir::Program;

/// The definition of the dialect.
pub const DEFINITION: &str = include_str!("../../../../dialects/surject.irdl.mlir");

/// Marks a function as the scalar function of a library operation.
const REGION: &str = "surject.region";
/// The name of a parameter, on a function argument.
const NAME: &str = "surject.name";
/// The names of the variables an operation defines.
const NAMES: &str = "surject.names";
/// The names of the parameters of the regions of a loop.
const PARAMS: &str = "surject.params";
/// Where a statement came from.
const ORIGIN: &str = "surject.origin";

/// The module text of a program, as MLIR prints it. Programs with symbolic extents have none.
pub fn print(program: &Program) -> Result<String, MlirError> {
    check(program)?;
    in_session(size(program), |session| {
        let module = build::module(session.context(), program, None)?;
        session.verify(&module)?;
        Ok(printed(&module))
    })
}

/// The program of a module text.
pub fn parse(text: &str) -> Result<Program, MlirError> {
    in_session(text.len(), |session| {
        let module = session.parse(text)?;
        let program = read::program(&module, text, &SharedLiterals::default())?;
        check(&program)?;
        Ok(program)
    })
}

/// The program that passes make of the module of another: the module is built, MLIR verifies it, runs the passes on it, and
/// what comes out is read back. They are named as in `--pass-pipeline`, without an anchor: `canonicalize,cse`; no name is
/// no pass, and the program that comes back is the one that went in.
///
/// Errors: a program with symbolic extents, a pass that is not known or fails, an operation that passes have left and that
/// has no meaning in a program.
pub fn through(program: &Program, passes: &str) -> Result<Program, MlirError> {
    check(program)?;
    let mut literals = SharedLiterals::default();
    let there_and_back = |session: &Session, literals: &mut SharedLiterals| {
        let mut module = build::module(session.context(), program, Some(&mut *literals))?;
        session.verify(&module)?;
        if !passes.is_empty() {
            session.run(&format!("builtin.module({passes})"), &mut module, "")?;
        }
        let program = read::program(&module, "", literals)?;
        check(&program)?;
        Ok(program)
    };
    on_large_stack(|| {
        let session = session()?;
        let program = there_and_back(&session, &mut literals)?;
        // A context that holds literals would hold them for as long as it lives.
        if literals.is_empty() {
            session.keep_in(&SESSIONS, size(&program));
        }
        Ok(program)
    })
}

/// Has a program a module? Its extents are constant, and a run has nothing to check of them.
pub fn has_module(program: &Program) -> bool {
    program.functions.iter().all(|f| {
        let mut spaces =
            f.fields.iter().map(|(_, field)| &field.space).chain(f.vars.iter().map(|v| &v.ty.space));
        f.guards.is_empty() && spaces.all(|space| space.sizes().is_some())
    })
}

/// About as many bytes as what a module of this program leaves in its context.
fn size(program: &Program) -> usize {
    program.functions.iter().map(|f| 64 * (f.fields.len() + f.vars.len())).sum()
}

/// The verifier of programs.
fn check(program: &Program) -> Result<(), MlirError> {
    surject_ir::verify(program).map_err(|error| MlirError::new(Stage::Dialect, error.to_string()))?;
    match program.functions.iter().flat_map(|f| &f.guards).next() {
        Some(guard) => {
            let message =
                format!("the guard `{}` has no form; the dialect has constant extents only", guard.fact);
            Err(MlirError::new(Stage::Dialect, message))
        }
        None => Ok(()),
    }
}

/// Checks a module text of the dialect as `mlir-opt --irdl-file` does, and prints it as MLIR does.
pub fn format(text: &str) -> Result<String, MlirError> {
    in_session(text.len(), |session| Ok(printed(&session.parse(text)?)))
}

/// Contexts that know the dialect, and that no compilation uses.
static SESSIONS: Idle<Session> = Idle::new();

/// Does something in a context that knows the dialect, on a large stack. Where it goes well, the context is kept, and it has
/// read so many bytes more.
fn in_session<T: Send>(
    bytes: usize,
    work: impl FnOnce(&Session) -> Result<T, MlirError> + Send,
) -> Result<T, MlirError> {
    on_large_stack(|| {
        let session = session()?;
        let done = work(&session)?;
        session.keep_in(&SESSIONS, bytes);
        Ok(done)
    })
}

/// Makes a context for the dialect on a thread of its own, while the caller reads a program: that takes some
/// milliseconds, as long as a small program compiles. Where the system refuses a thread, the context is made when it is
/// needed. The caller holds on to what comes back until it ends: MLIR may not be at work when the process ends.
#[must_use]
pub fn prepare() -> Prepared {
    let thread = std::thread::Builder::new().name("surject-dialect".into()).spawn(new_session).ok();
    *lock(&PREPARED) = thread;
    Prepared(())
}

/// What [`prepare`] has begun; dropped, it waits for the end.
pub struct Prepared(());

impl Drop for Prepared {
    fn drop(&mut self) {
        drop(prepared());
    }
}

static PREPARED: Mutex<Option<JoinHandle<Result<Session, MlirError>>>> = Mutex::new(None);

/// The context that [`prepare`] has made, for its first caller.
fn prepared() -> Option<Result<Session, MlirError>> {
    let thread = lock(&PREPARED).take()?;
    thread.join().ok()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A session that knows the dialect.
fn session() -> Result<Session, MlirError> {
    match SESSIONS.take(|_| true) {
        Some(kept) => Ok(kept),
        None => prepared().unwrap_or_else(new_session),
    }
}

fn new_session() -> Result<Session, MlirError> {
    let session = Session::new();
    let definition: Module<'_> = session.parse(DEFINITION)?;
    if !load_irdl_dialects(&definition) {
        return Err(session.error(Stage::Dialect, DEFINITION));
    }
    drop(definition);
    // The parser loads what it reads of; the builder does not.
    for dialect in ["arith", "func", "math", "scf", "tensor"] {
        session.context().get_or_load_dialect(dialect);
    }
    Ok(session)
}
