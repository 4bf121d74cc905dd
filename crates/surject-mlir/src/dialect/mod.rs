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
mod emit;
mod library;
mod ops;
mod read;
mod reader;
mod value;

use crate::guard::on_large_stack;
use crate::session::{Session, printed};
use crate::{MlirError, Stage};
use melior::ir::Module;
use melior::utility::load_irdl_dialects;
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
    format(&emit::module(program)?)
}

/// The program of a module text.
pub fn parse(text: &str) -> Result<Program, MlirError> {
    on_large_stack(|| {
        let session = session()?;
        let module = session.parse(text)?;
        let program = read::program(&module, text)?;
        check(&program)?;
        Ok(program)
    })
}

/// The program that passes make of the module of another: MLIR verifies the module, runs the passes on it, and what comes
/// out is read back. They are named as in `--pass-pipeline`, without an anchor: `canonicalize,cse`.
///
/// Errors: a program with symbolic extents, a pass that is not known or fails, an operation that passes have left and that
/// has no meaning in a program.
pub fn through(program: &Program, passes: &str) -> Result<Program, MlirError> {
    check(program)?;
    let text = emit::module(program)?;
    on_large_stack(|| {
        let session = session()?;
        let mut module = session.parse(&text)?;
        session.run(&format!("builtin.module({passes})"), &mut module, &text)?;
        let program = read::program(&module, &text)?;
        check(&program)?;
        Ok(program)
    })
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
    on_large_stack(|| {
        let session = session()?;
        let module = session.parse(text)?;
        Ok(printed(&module))
    })
}

/// A session that knows the dialect.
fn session() -> Result<Session, MlirError> {
    let session = Session::new();
    load(&session)?;
    Ok(session)
}

fn load(session: &Session) -> Result<(), MlirError> {
    let definition: Module<'_> = session.parse(DEFINITION)?;
    if load_irdl_dialects(&definition) { Ok(()) } else { Err(session.error(Stage::Dialect, DEFINITION)) }
}
