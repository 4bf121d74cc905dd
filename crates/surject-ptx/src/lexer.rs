//! Words of PTX.

use crate::PtxError;
use logos::Logos;

/// A word.
#[derive(Logos, Clone, Debug, PartialEq)]
#[logos(skip r"[ \t\r\n]+")]
#[logos(skip r"//[^\n]*")]
pub(crate) enum Token {
    /// A name with what is joined to it by points: an instruction, a register, a label.
    #[regex(r"[a-zA-Z_$%][a-zA-Z0-9_$]*(\.[a-zA-Z0-9_]+(::[a-zA-Z0-9_]+)*)*", |lex| lex.slice().to_string())]
    Name(String),
    /// A word that begins with a point.
    #[regex(r"\.[a-zA-Z_][a-zA-Z0-9_]*", |lex| lex.slice().to_string())]
    Directive(String),
    /// A number by its bits.
    #[regex(r"0[fF][0-9a-fA-F]{8}", |lex| u64::from_str_radix(&lex.slice()[2..], 16).ok(), priority = 20)]
    #[regex(r"0[dD][0-9a-fA-F]{16}", |lex| u64::from_str_radix(&lex.slice()[2..], 16).ok(), priority = 20)]
    #[regex(r"0[xX][0-9a-fA-F]+U?", |lex| hexadecimal(lex.slice()), priority = 10)]
    #[regex(r"[0-9]+U?", |lex| lex.slice().trim_end_matches('U').parse::<u64>().ok())]
    #[regex(r"-[0-9]+", |lex| lex.slice().parse::<i64>().ok().map(|v| v as u64))]
    Number(u64),
    /// A version.
    #[regex(r"[0-9]+\.[0-9]+")]
    Version,
    #[regex(r#""[^"]*""#)]
    Text,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token("{")]
    Open,
    #[token("}")]
    Close,
    #[token("[")]
    OpenAddress,
    #[token("]")]
    CloseAddress,
    #[token("(")]
    OpenList,
    #[token(")")]
    CloseList,
    #[token("|")]
    Bar,
    #[token("@")]
    At,
    #[token("!")]
    Not,
    #[token("+")]
    Plus,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token("=")]
    Equal,
}

/// `0x…`, with or without a mark that it has no sign.
fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text[2..].trim_end_matches('U'), 16).ok()
}

/// The words of a text, each with its line.
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, usize)>, PtxError> {
    let starts: Vec<usize> =
        std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
    let line_of = |at: usize| starts.partition_point(|&s| s <= at);
    let mut found = Vec::new();
    for (token, span) in Token::lexer(text).spanned() {
        let line = line_of(span.start);
        match token {
            Ok(token) => found.push((token, line)),
            Err(()) => {
                let message = format!("`{}` is no word of PTX", &text[span]);
                return Err(error(text, line, message));
            }
        }
    }
    Ok(found)
}

/// An error at a line.
pub(crate) fn error(text: &str, line: usize, message: impl Into<String>) -> PtxError {
    let own = text.lines().nth(line.wrapping_sub(1)).unwrap_or("").trim().to_string();
    PtxError::Text { line, message: message.into(), text: own }
}
