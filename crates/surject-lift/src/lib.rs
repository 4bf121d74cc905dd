//! StableHLO to [`Program`](surject_ir::Program) and back.
//!
//! [`import`] turns every operation of a module into assignments, library calls and control flow, with the
//! semantics of the StableHLO specification; [`import_checks`] does the same for files that check themselves
//! with `check.expect_*` operations. It optimises nothing beyond constants and identities: one StableHLO
//! operation becomes one statement (a few where an accumulation must be stored first), and fusion is the business
//! of the e-graph.

mod check;
mod error;
mod import;

pub use check::{Check, CheckKind, CheckOutcome, CheckedFunction, CheckedFunctions, import_checks};
pub use error::{LiftError, Place, codes};
pub use import::{ImportOptions, import};
