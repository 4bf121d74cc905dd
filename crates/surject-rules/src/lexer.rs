//! The words of a rule file.

use crate::ast::Span;
use crate::error::RuleError;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name: letters, digits, `_`, `-`, `.` and `'` after a letter.
    Word,
    /// `?name`
    Var,
    /// `#name`
    Count,
    /// A number, `inf`, `-inf` or `nan`.
    Number,
    /// `+`, `-`, `*` or `/`.
    Operator,
    /// A parenthesis, bracket, comma, `=`, `=>` or `<=>`.
    Symbol,
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// Splits a rule file into tokens.
pub(crate) fn tokenize(source: &str) -> Result<Vec<Token>, RuleError> {
    let bytes = source.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut line_start = true;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        let next = bytes.get(at + 1).copied().unwrap_or(b'\n');
        let kind = match byte {
            b'\n' => {
                line_start = true;
                at += 1;
                continue;
            }
            b' ' | b'\t' | b'\r' => {
                at += 1;
                continue;
            }
            b'#' if line_start || !next.is_ascii_alphabetic() => {
                at = source[at..].find('\n').map_or(bytes.len(), |n| at + n);
                continue;
            }
            b'#' | b'?' if next.is_ascii_alphabetic() || next == b'_' => {
                at = word_end(bytes, at + 1);
                if byte == b'?' { TokenKind::Var } else { TokenKind::Count }
            }
            b'(' | b')' | b'[' | b']' | b',' => {
                at += 1;
                TokenKind::Symbol
            }
            b'=' | b'<' => {
                let symbol = ["<=>", "=>", "="].into_iter().find(|s| source[at..].starts_with(s));
                let Some(symbol) = symbol else { return Err(stray(source, at)) };
                at += symbol.len();
                TokenKind::Symbol
            }
            b'0'..=b'9' => {
                at = number_end(bytes, at);
                TokenKind::Number
            }
            b'-' | b'+' if next.is_ascii_digit() => {
                at = number_end(bytes, at + 1);
                TokenKind::Number
            }
            b'-' if &source[at + 1..word_end(bytes, at + 1)] == "inf" => {
                at += 4;
                TokenKind::Number
            }
            b'+' | b'-' | b'*' | b'/' => {
                at += 1;
                TokenKind::Operator
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                at = word_end(bytes, at);
                let number = matches!(&source[start..at], "inf" | "nan");
                if number { TokenKind::Number } else { TokenKind::Word }
            }
            _ => return Err(stray(source, at)),
        };
        line_start = false;
        tokens.push(Token { kind, span: Span { start, end: at } });
    }
    Ok(tokens)
}

fn word_end(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'\''))
    {
        at += 1;
    }
    at
}

fn number_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b) = bytes.get(at) {
        let sign = matches!(b, b'+' | b'-') && matches!(bytes[at - 1], b'e' | b'E');
        if !(b.is_ascii_alphanumeric() || *b == b'.' || sign) {
            break;
        }
        at += 1;
    }
    at
}

fn stray(source: &str, at: usize) -> RuleError {
    let character = source[at..].chars().next().unwrap_or(' ');
    let span = Span { start: at, end: at + character.len_utf8() };
    RuleError::new("SJ0201", span, format!("`{character}` does not belong in a rule file"))
}
