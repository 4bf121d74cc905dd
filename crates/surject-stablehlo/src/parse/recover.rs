//! Going on after a mistake: at the next operation, so that one run reports several.

use std::collections::HashSet;

use super::Parser;
use super::cursor::Result;
use crate::diagnostic::Diagnostic;

/// Mistakes after which reading stops: those that follow say little new.
const MAX_MISTAKES: usize = 100;

/// What is known of the mistakes so far.
#[derive(Default)]
pub(super) struct Recovery<'s> {
    /// The mistakes, without those that only follow from others.
    pub errors: Vec<Diagnostic>,
    /// Functions whose body is not whole.
    pub broken: HashSet<String>,
    /// Whether a function or another operation at module level is missing.
    pub lost_symbol: bool,
    /// Operations that were left out, those included that only follow.
    pub skipped: usize,
    /// Results of operations that were left out.
    poisoned: HashSet<&'s str>,
    /// Whether the error under way only follows from an earlier one.
    follows: bool,
}

/// Where reading can go on after an operation.
pub(super) struct Mark {
    pos: usize,
    depth: usize,
    names: usize,
}

impl<'s> Parser<'s> {
    /// The state before an operation.
    pub(super) fn mark(&mut self) -> Mark {
        self.c.ws();
        Mark { pos: self.c.pos, depth: self.depth, names: self.names.scope() }
    }

    /// Whether the name is that of a result of an operation with a mistake; its use is none.
    pub(super) fn is_poisoned(&mut self, name: &str) -> bool {
        match &mut self.recovery {
            Some(recovery) if recovery.poisoned.contains(name) => {
                recovery.follows = true;
                true
            }
            _ => false,
        }
    }

    /// Notes the mistake and moves behind the operation that starts at the mark; gives it back where nothing is to be
    /// gained from going on.
    pub(super) fn recover(&mut self, mark: &Mark, error: Diagnostic) -> Result<()> {
        if self.recovery.is_none() {
            return Err(error);
        }
        let end = self.end_of_op(mark.pos);
        let targets = self.targets_at(mark.pos);
        let Some(recovery) = &mut self.recovery else { return Err(error) };
        recovery.skipped += 1;
        recovery.poisoned.extend(targets);
        if !std::mem::take(&mut recovery.follows) {
            recovery.errors.push(error.clone());
        }
        if end >= self.c.text().len() || recovery.errors.len() >= MAX_MISTAKES {
            // What is left is part of the mistake.
            recovery.lost_symbol = true;
            recovery.follows = true;
            return Err(error);
        }
        self.depth = mark.depth;
        self.names.close(mark.names);
        self.aliases.forget_active();
        self.c.pos = end;
        Ok(())
    }

    /// Notes an error that ended the reading.
    pub(super) fn note(&mut self, error: Diagnostic) {
        if let Some(recovery) = &mut self.recovery
            && !std::mem::take(&mut recovery.follows)
        {
            recovery.errors.push(error);
        }
    }

    /// The names on the left of `=`, as far as they can be read.
    fn targets_at(&self, start: usize) -> Vec<&'s str> {
        let text = self.c.slice(start, self.c.text().len());
        let line = text.lines().next().unwrap_or("");
        let Some((left, _)) = line.split_once('=') else { return Vec::new() };
        if !left.trim_start().starts_with('%') {
            return Vec::new();
        }
        let name =
            |part: &'s str| part.trim().strip_prefix('%').map(|n| n.split(':').next().unwrap_or(n).trim());
        left.split(',').filter_map(name).collect()
    }

    /// The end of the operation at an offset: before a line that starts another one, or before the bracket that closes
    /// the region around it.
    fn end_of_op(&self, start: usize) -> usize {
        let bytes = self.c.text().as_bytes();
        let (mut at, mut depth) = (start, 0usize);
        while at < bytes.len() {
            match bytes[at] {
                b'"' => {
                    at += 1;
                    while at < bytes.len() && !matches!(bytes[at], b'"' | b'\n') {
                        at += 1 + usize::from(bytes[at] == b'\\');
                    }
                }
                b'/' if bytes.get(at + 1) == Some(&b'/') => {
                    while at < bytes.len() && bytes[at] != b'\n' {
                        at += 1;
                    }
                    continue;
                }
                b'(' | b'[' | b'{' => depth += 1,
                b'}' if depth == 0 => return at,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                b'\n' if depth == 0 && self.starts_op(at + 1) => return at,
                _ => {}
            }
            at += 1;
        }
        bytes.len()
    }

    /// Whether an operation can start at the line at an offset.
    fn starts_op(&self, at: usize) -> bool {
        let line = self.c.slice(at, self.c.text().len()).lines().next().unwrap_or("").trim_start();
        if line.starts_with(['%', '"', '^', '}']) {
            return true;
        }
        let end = line.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_' | '-'));
        let word = &line[..end.unwrap_or(line.len())];
        word.contains('.') && word.starts_with(|c: char| c.is_ascii_alphabetic())
            || matches!(word, "return" | "call" | "func" | "module")
    }
}
