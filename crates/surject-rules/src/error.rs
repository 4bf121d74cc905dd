//! Messages that point at a place of a rule file.

use crate::Span;
use std::fmt;

/// A mistake in a rule file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// The stable code, `SJ02xx`.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub span: Span,
    /// Facts that show it, such as a counterexample; each may have several lines.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl RuleError {
    /// A mistake at a place.
    pub fn new(code: &'static str, span: Span, message: impl Into<String>) -> RuleError {
        RuleError { code, message: message.into(), span, notes: Vec::new(), help: None }
    }

    /// The same with a fact that shows it.
    pub fn with_note(mut self, note: impl Into<String>) -> RuleError {
        self.notes.push(note.into());
        self
    }

    /// The same with advice.
    pub fn with_help(mut self, help: impl Into<String>) -> RuleError {
        self.help = Some(help.into());
        self
    }

    /// The message with file, line, column, the line itself and a caret.
    pub fn render(&self, file: &str, source: &str) -> String {
        let start = floor_boundary(source, self.span.start.min(source.len()));
        let line_start = source[..start].rfind('\n').map_or(0, |p| p + 1);
        let line = source[line_start..].lines().next().unwrap_or("");
        let number = source[..start].matches('\n').count() + 1;
        let column = source[line_start..start].chars().count() + 1;
        let end = floor_boundary(
            source,
            self.span.end.clamp(start, line_start + line.len().max(start - line_start)),
        );
        let width = source[start..end].chars().count().max(1);
        let gutter = " ".repeat(number.to_string().len());
        let mut text = format!(
            "{file}:{number}:{column}: error[{}]: {}\n{gutter} |\n{number} | {line}\n{gutter} | {}{}\n",
            self.code,
            self.message,
            " ".repeat(column - 1),
            "^".repeat(width)
        );
        for note in &self.notes {
            let lines: Vec<&str> = note.lines().collect();
            text += &format!("{gutter} = note: {}\n", lines.join(&format!("\n{gutter}         ")));
        }
        if let Some(help) = &self.help {
            text += &format!("{gutter} = help: {help}\n");
        }
        text
    }
}

fn floor_boundary(source: &str, mut at: usize) -> usize {
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: {}", self.code, self.message)
    }
}

impl std::error::Error for RuleError {}
