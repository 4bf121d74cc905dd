//! What MLIR and LLVM have to say, as values.

use std::fmt;
use thiserror::Error;

/// The step of a compilation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// What the Surject dialect demands beyond its definition, or cannot express.
    Dialect,
    /// Reading and verifying the module text.
    Parse,
    /// The passes that lower the module to the `llvm` dialect.
    Passes,
    /// Translation to LLVM IR.
    Translate,
    /// Optimisation and machine code.
    Codegen,
    /// Linking into this process.
    Link,
}

/// A diagnostic of MLIR or LLVM, at a place of the module text where one is known.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct MlirError {
    /// The step that failed.
    pub stage: Stage,
    /// What is wrong.
    pub message: String,
    /// Where, in the module text.
    pub place: Option<Place>,
    /// Further diagnostics of the same failure, each on a line of its own.
    pub notes: Vec<String>,
}

/// A place of a module text; line and column count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
    /// The text of the line.
    pub text: String,
}

impl MlirError {
    /// An error without a place.
    pub fn new(stage: Stage, message: impl Into<String>) -> MlirError {
        MlirError { stage, message: message.into(), place: None, notes: Vec::new() }
    }
}

impl Place {
    /// The place at this line and column of a text; `None` if the text has no such line.
    pub(crate) fn of(source: &str, line: usize, column: usize) -> Option<Place> {
        let text = source.lines().nth(line.checked_sub(1)?)?.replace('\0', "\u{2400}");
        Some(Place { line, column, text })
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Dialect => "the Surject dialect",
            Stage::Parse => "parsing the module",
            Stage::Passes => "lowering the module",
            Stage::Translate => "translating to LLVM IR",
            Stage::Codegen => "generating machine code",
            Stage::Link => "linking",
        })
    }
}

impl fmt::Display for MlirError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.stage, self.message)?;
        if let Some(Place { line, column, text }) = &self.place {
            let caret = " ".repeat(column.saturating_sub(1));
            write!(f, "\n  at line {line}, column {column}:\n  | {text}\n  | {caret}^")?;
        }
        for note in &self.notes {
            write!(f, "\n  note: {note}")?;
        }
        Ok(())
    }
}
