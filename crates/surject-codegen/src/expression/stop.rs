//! Why a field is not one expression, and what must be done first.

use crate::CodegenError;
use crate::expression::address::LoopId;
use surject_ir::FieldId;

/// Why a field is not one expression over the loops at hand.
#[derive(Clone, Debug)]
pub enum Stop {
    /// This accumulation must be stored on its own first.
    Spill(FieldId),
    /// This loop must be split into an outer loop and an inner one of this extent.
    Split(LoopId, i64),
    /// These loops and these axes of accumulations must be taken apart by their remainders, or this accumulation
    /// must be stored on its own first.
    Phase(Residues, FieldId),
    /// It cannot be compiled.
    Error(CodegenError),
}

impl From<CodegenError> for Stop {
    fn from(error: CodegenError) -> Stop {
        Stop::Error(error)
    }
}

/// Loops over the output and axes of accumulations, with the number that their remainders are of.
#[derive(Clone, Debug, Default)]
pub struct Residues {
    /// Loops over the output.
    pub outer: Vec<(LoopId, i64)>,
    /// Axes of the product spaces of accumulations.
    pub axes: Vec<((FieldId, usize), i64)>,
}
