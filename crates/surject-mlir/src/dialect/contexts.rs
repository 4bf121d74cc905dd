//! Contexts of MLIR that know the dialect.

use super::DEFINITION;
use crate::guard::on_large_stack;
use crate::idle::Idle;
use crate::session::Session;
use crate::{MlirError, Stage};
use melior::ir::Module;
use melior::utility::load_irdl_dialects;
use mlir_sys::{
    mlirGetDialectHandle__arith__, mlirGetDialectHandle__func__, mlirGetDialectHandle__irdl__,
    mlirGetDialectHandle__math__, mlirGetDialectHandle__scf__, mlirGetDialectHandle__tensor__,
};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// What a context can be asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Modules that are built of programs: the few dialects that these use, and no passes. Made in less than half of the time.
    Programs,
    /// Every dialect and pass of MLIR: texts and passes are the user's.
    Everything,
}

impl Scope {
    /// Does something in a context of this scope, on a large stack. A context is kept for others where the work went well,
    /// and says how many bytes it has left in the context.
    pub(super) fn enter<T: Send>(
        self,
        work: impl FnOnce(&Session) -> Result<Done<T>, MlirError> + Send,
    ) -> Result<T, MlirError> {
        on_large_stack(|| {
            let session = self.session()?;
            let done = work(&session)?;
            if let Some(bytes) = done.bytes {
                session.keep_in(self.idle(), bytes);
            }
            Ok(done.value)
        })
    }

    fn idle(self) -> &'static Idle<Session> {
        static PROGRAMS: Idle<Session> = Idle::new();
        static EVERYTHING: Idle<Session> = Idle::new();
        match self {
            Scope::Programs => &PROGRAMS,
            Scope::Everything => &EVERYTHING,
        }
    }

    fn session(self) -> Result<Session, MlirError> {
        match self.idle().take(|_| true) {
            Some(kept) => Ok(kept),
            None if self == Scope::Programs => prepared().unwrap_or_else(|| self.make()),
            None => self.make(),
        }
    }

    fn make(self) -> Result<Session, MlirError> {
        let session = match self {
            // SAFETY: these give constants of MLIR.
            Scope::Programs => Session::of_dialects(&unsafe {
                [
                    mlirGetDialectHandle__arith__(),
                    mlirGetDialectHandle__func__(),
                    mlirGetDialectHandle__irdl__(),
                    mlirGetDialectHandle__math__(),
                    mlirGetDialectHandle__scf__(),
                    mlirGetDialectHandle__tensor__(),
                ]
            }),
            Scope::Everything => Session::new(),
        };
        let definition: Module<'_> = session.parse(DEFINITION)?;
        if !load_irdl_dialects(&definition) {
            return Err(session.error(Stage::Dialect, DEFINITION));
        }
        drop(definition);
        if self == Scope::Everything {
            // The parser loads what it reads of; the builder does not.
            for dialect in ["arith", "func", "math", "scf", "tensor"] {
                session.context().get_or_load_dialect(dialect);
            }
        }
        Ok(session)
    }
}

/// What work in a context has given.
pub(super) struct Done<T> {
    pub(super) value: T,
    /// About how many bytes it has left in the context; `None` if the context is not to be kept.
    pub(super) bytes: Option<usize>,
}

/// Makes the contexts of a compilation on a thread of its own while the caller reads a program: first the one for the
/// dialect, then one for code. Each takes some milliseconds, which is as long as the rest of a small program. Where an
/// earlier compilation has left its contexts there is nothing to make; where the system refuses a thread, they are made
/// when they are needed.
///
/// The caller holds on to what comes back until it ends: MLIR may not be at work when the process ends.
pub fn prepare() -> Prepared {
    if !Scope::Programs.idle().is_empty() {
        return Prepared(None);
    }
    let (sender, receiver) = mpsc::channel();
    let make = move || {
        // Nobody may be waiting any more.
        let _ = sender.send(Scope::Programs.make());
        Session::kept().keep(0);
    };
    let thread = std::thread::Builder::new().name("surject-contexts".into()).spawn(make).ok();
    *lock(&PREPARED) = thread.is_some().then_some(receiver);
    Prepared(thread)
}

/// What [`prepare`] has begun; dropped, it waits for the end.
#[must_use]
pub struct Prepared(Option<JoinHandle<()>>);

impl Drop for Prepared {
    fn drop(&mut self) {
        // A thread that has ended by a panic has printed it; the contexts are made where they are needed.
        let _ = self.0.take().map(JoinHandle::join);
    }
}

/// Where the context for the dialect arrives that [`prepare`] makes.
static PREPARED: Mutex<Option<Receiver<Result<Session, MlirError>>>> = Mutex::new(None);

/// The context that [`prepare`] makes, for its first caller.
fn prepared() -> Option<Result<Session, MlirError>> {
    let receiver = lock(&PREPARED).take()?;
    receiver.recv().ok()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
