//! StableHLO to [`Program`](surject_ir::Program) and back.
//!
//! [`import`] turns every operation of a module into assignments, library calls and control flow, with the
//! semantics of the StableHLO specification; [`import_checks`] does the same for files that check themselves
//! with `check.expect_*` operations. It optimises nothing beyond constants and identities: one StableHLO
//! operation becomes one statement (a few where an accumulation must be stored first), and fusion is the business
//! of the e-graph. [`export()`] writes a program as StableHLO again, also one that the e-graph has rewritten.
//!
//! ```
//! use surject_ir::{Buffer, DType, Scalar, interp};
//! use surject_lift::{ImportOptions, import};
//!
//! let text = "func.func @main(%x: tensor<2x3xf32>) -> tensor<2xf32> {
//!   %zero = stablehlo.constant dense<0.0> : tensor<f32>
//!   %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
//!     : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
//!   return %sum : tensor<2xf32>
//! }";
//! let module = surject_stablehlo::parse(text)?;
//! let options = ImportOptions { file: "sum.mlir", source: text.as_bytes(), ..ImportOptions::default() };
//! let program = import(&module, &options)?;
//! let statement = &program.functions[0].body.statements[0];
//! assert_eq!(statement.origin.as_deref(), Some("sum.mlir:3:10"));
//!
//! let ones = Buffer::splat(Scalar::from_f64(DType::F32, 1.0), &[2, 3]);
//! let results = interp::run(&program, "main", &[ones])?;
//! assert_eq!(results[0], Buffer::splat(Scalar::from_f64(DType::F32, 3.0), &[2]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod error;
mod export;
mod import;

pub use check::{Check, CheckKind, CheckOutcome, CheckedFunction, CheckedFunctions, import_checks};
pub use error::{LiftError, Place, codes};
pub use export::{ExportError, ExportPlace, element, export, export_module};
pub use import::{ImportOptions, import, import_for, import_sharded, is_dynamic};

/// How the origin of a guard starts that a bound in the type of a parameter gives.
pub(crate) const BY_TYPE: &str = "the type of ";
