//! Keeps MLIR and LLVM from running out of stack, which would end the process: both recurse over what they read.

use crate::{MlirError, Place, Stage};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The stack that MLIR and LLVM work on. Only what is used of it becomes memory.
const STACK: usize = 512 << 20;

/// Brackets may be nested this deep. Regions of programs are nested 200 deep at most, with few brackets each.
const MAX_DEPTH: usize = 2_000;

/// An affine expression may have this many operators: the parser recurses over them.
const MAX_OPERATORS: usize = 10_000;

/// Runs a function on a large stack; on the one at hand where the system refuses the memory. (A thread with such a stack takes
/// 75 µs more to start and to end.)
pub(crate) fn on_large_stack<T>(function: impl FnOnce() -> T) -> T {
    let mut waiting = Some(function);
    let mut run = || waiting.take().map(|function| function());
    let outcome = catch_unwind(AssertUnwindSafe(|| stacker::grow(STACK, &mut run)));
    match (outcome, waiting) {
        (Ok(Some(value)), _) => value,
        // `stacker` panics where it gets no memory, and the function still waits.
        (_, Some(function)) => function(),
        (Err(panic), None) => resume_unwind(panic),
        (Ok(None), None) => unreachable!("a function that was taken has a value"),
    }
}

/// Refuses a text that is nested too deeply for the recursive parser of MLIR.
pub(crate) fn check(text: &str) -> Result<(), MlirError> {
    let bytes = text.as_bytes();
    let (mut depth, mut operators) = (0usize, 0usize);
    let mut at = 0;
    while at < bytes.len() {
        let next = bytes.get(at + 1).copied();
        match bytes[at] {
            // MLIR reads up to a null byte.
            0 => return Err(error(text, at, "the text holds a null byte")),
            b'"' => at = string_end(bytes, at),
            b'/' if next == Some(b'/') => {
                at += bytes[at..].iter().position(|&b| b == b'\n').unwrap_or(bytes.len() - at);
            }
            b'-' if next == Some(b'>') => at += 1,
            b'>' if next == Some(b'=') => {}
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
            b',' => operators = 0,
            b'+' | b'-' | b'*' => operators += 1,
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(error(text, at, &format!("brackets are nested more than {MAX_DEPTH} deep")));
        }
        if operators > MAX_OPERATORS {
            return Err(error(text, at, &format!("an expression has more than {MAX_OPERATORS} operators")));
        }
        at += 1;
    }
    Ok(())
}

/// The closing quote of the string that begins at `start`, or the end of the line that it is not closed on.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' && bytes[at] != b'\n' {
        // A null byte ends the text for MLIR: let the caller see it.
        if bytes[at] == 0 {
            return at - 1;
        }
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at
}

fn error(text: &str, at: usize, message: &str) -> MlirError {
    let before = &text.as_bytes()[..at];
    let line = 1 + before.iter().filter(|&&b| b == b'\n').count();
    let column = 1 + before.iter().rev().take_while(|&&b| b != b'\n').count();
    let mut error = MlirError::new(Stage::Parse, message);
    error.place = Place::of(text, line, column);
    error
}
