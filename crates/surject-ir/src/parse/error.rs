//! Errors with their place in the text.

use std::fmt;

/// Why a text is not a program, or not one of another text form, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The line itself.
    pub text: String,
    /// What is wrong or was expected.
    pub message: String,
}

/// An error at a byte of the text.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) message: String,
}

impl Fault {
    /// Finds line and column.
    pub(super) fn in_text(self, text: &str) -> ParseError {
        ParseError::at(text, self.at, self.message)
    }
}

impl ParseError {
    /// An error at a byte of a text, with the line and the column of it.
    pub fn at(text: &str, at: usize, message: impl Into<String>) -> ParseError {
        let at = (0..=at.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
        let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
        let end = text[at..].find('\n').map_or(text.len(), |i| at + i);
        ParseError {
            line: text[..start].matches('\n').count() + 1,
            column: text[start..at].chars().count() + 1,
            text: text[start..end].trim_end_matches('\r').to_string(),
            message: message.into(),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:{}: {}", self.line, self.column, self.message)?;
        writeln!(f, "  {}", self.text)?;
        // Tabs stay tabs, so that the caret stands below its place.
        let blank = |c| if c == '\t' { '\t' } else { ' ' };
        let indent: String = self.text.chars().take(self.column - 1).map(blank).collect();
        write!(f, "  {indent}^")
    }
}

impl std::error::Error for ParseError {}
