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
mod contexts;
mod interned;
mod library;
mod literals;
mod ops;
mod read;
mod reader;
mod value;

use crate::session::printed;
use crate::{MlirError, Stage};
use contexts::{Done, Scope};
use literals::SharedLiterals;
use surject_ir::{Block, Program, StatementKind};

pub use contexts::{Prepared, prepare};

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
    Scope::Programs.enter(|session| {
        let module = build::module(session.context(), program, None)?;
        session.verify(&module)?;
        Ok(Done { value: printed(&module), bytes: Some(size(program)) })
    })
}

/// Builds the module of a program, and lets MLIR verify it.
pub fn verify(program: &Program) -> Result<(), MlirError> {
    check(program)?;
    Scope::Programs.enter(|session| {
        let mut literals = SharedLiterals::default();
        let module = build::module(session.context(), program, Some(&mut literals))?;
        session.verify(&module)?;
        Ok(Done { value: (), bytes: literals.is_empty().then(|| size(program)) })
    })
}

/// The program of a module text.
pub fn parse(text: &str) -> Result<Program, MlirError> {
    Scope::Everything.enter(|session| {
        let module = session.parse(text)?;
        let program = read::program(&module, text, &SharedLiterals::default())?;
        check(&program)?;
        Ok(Done { value: program, bytes: Some(text.len()) })
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
    let scope = if passes.is_empty() { Scope::Programs } else { Scope::Everything };
    scope.enter(|session| {
        let mut literals = SharedLiterals::default();
        let mut module = build::module(session.context(), program, Some(&mut literals))?;
        session.verify(&module)?;
        if !passes.is_empty() {
            session.run(&format!("builtin.module({passes})"), &mut module, "")?;
        }
        let program = read::program(&module, "", &literals)?;
        check(&program)?;
        // A context that holds literals would hold them for as long as it lives.
        let bytes = literals.is_empty().then(|| size(&program));
        Ok(Done { value: program, bytes })
    })
}

/// Has a program a module? Its extents are constant, and a run has nothing to check of them.
pub fn has_module(program: &Program) -> bool {
    program.functions.iter().all(|f| {
        let mut spaces =
            f.fields.iter().map(|(_, field)| &field.space).chain(f.vars.iter().map(|v| &v.ty.space));
        f.guards.is_empty() && spaces.all(|space| space.sizes().is_some()) && has_operations(&f.body)
    })
}

/// Has the dialect every library operation of a block?
fn has_operations(block: &Block) -> bool {
    block.statements.iter().all(|statement| {
        let has = match &statement.kind {
            StatementKind::Call { op, .. } => library::encode(op).is_some(),
            _ => true,
        };
        has && statement.regions().iter().all(|region| has_operations(&region.body))
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
    Scope::Everything
        .enter(|session| Ok(Done { value: printed(&session.parse(text)?), bytes: Some(text.len()) }))
}
