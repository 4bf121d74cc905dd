//! The text under the parser: blanks, words, numbers, strings and signs, each where it is asked for.

use super::{MAX_NESTING, Name, Number};
use crate::{NotationError, NotationErrorKind as Wrong, Span};

/// A place in a text, moving forward.
pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// The end of the last token.
    pub(super) end: usize,
    /// How many brackets are open.
    nesting: usize,
    /// The number of operands of the operation whose assignments are read.
    pub(super) operands: Option<usize>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Result<Parser<'a>, NotationError> {
        let mut parser = Parser { text, at: 0, end: 0, nesting: 0, operands: None };
        parser.blanks()?;
        Ok(parser)
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Takes so many bytes and the blanks after them.
    pub(super) fn advance(&mut self, length: usize) -> Result<Span, NotationError> {
        let span = Span::new(self.at, self.at + length);
        self.at += length;
        self.end = self.at;
        self.blanks()?;
        Ok(span)
    }

    fn blanks(&mut self) -> Result<(), NotationError> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if trimmed.starts_with("//") {
                self.at += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if trimmed.starts_with("/*") {
                let Some(length) = trimmed.find("*/") else {
                    let span = Span::new(self.at, self.at + 2);
                    return Err(NotationError::new(Wrong::EndsTooEarly, span, "a comment does not end")
                        .expecting(&["`*/`"]));
                };
                self.at += length + 2;
            } else {
                return Ok(());
            }
        }
    }

    /// The place of what comes next: a word, or one character.
    pub(super) fn here(&self) -> Span {
        let length = match self.word() {
            Some(word) => word.len(),
            None => self.rest().chars().next().map_or(0, char::len_utf8),
        };
        Span::new(self.at, self.at + length)
    }

    /// From a place to the end of the last token.
    pub(super) fn since(&self, start: usize) -> Span {
        Span::new(start, self.end)
    }

    pub(super) fn unexpected(&self, message: impl Into<String>, expected: &[&'static str]) -> NotationError {
        let kind = match self.rest().chars().next() {
            None => Wrong::EndsTooEarly,
            Some(c) if c.is_control() || (!c.is_ascii() && !c.is_alphabetic()) || "\\#$`'".contains(c) => {
                let message = format!("the notation has no `{}`", c.escape_debug());
                let error =
                    NotationError::new(Wrong::UnknownCharacter, self.here(), message).expecting(expected);
                return if c == '#' { error.with_help("comments start with `//`") } else { error };
            }
            Some(_) => Wrong::Unexpected,
        };
        NotationError::new(kind, self.here(), message).expecting(expected)
    }

    pub(super) fn sees(&self, sign: &str) -> bool {
        self.rest().starts_with(sign)
    }

    pub(super) fn eat(&mut self, sign: &str) -> Result<bool, NotationError> {
        let found = self.sees(sign);
        if found {
            self.advance(sign.len())?;
        }
        Ok(found)
    }

    pub(super) fn expect(&mut self, sign: &'static str, message: &str) -> Result<(), NotationError> {
        if self.eat(sign)? { Ok(()) } else { Err(self.unexpected(message, &[quoted(sign)])) }
    }

    /// The word that comes next, if one does.
    pub(super) fn word(&self) -> Option<&'a str> {
        let rest = self.rest();
        if !rest.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return None;
        }
        Some(&rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())])
    }

    /// Takes a word if it is this one.
    pub(super) fn eat_word(&mut self, word: &str) -> Result<bool, NotationError> {
        let found = self.word() == Some(word);
        if found {
            self.advance(word.len())?;
        }
        Ok(found)
    }

    /// Takes a name; `let` and `fn` are none.
    pub(super) fn name(&mut self, what: &str) -> Result<Name, NotationError> {
        match self.word() {
            Some(word) if word != "let" && word != "fn" => {
                let span = self.advance(word.len())?;
                Ok(Name { text: word.to_string(), span })
            }
            Some(word) => {
                let message = format!("{what} is missing; `{word}` is a keyword");
                Err(self.unexpected(message, &["a name"]))
            }
            None => Err(self.unexpected(format!("{what} is missing"), &["a name"])),
        }
    }

    /// Takes a string: its text and its place between the quotes.
    pub(super) fn string(&mut self) -> Result<Option<(&'a str, Span)>, NotationError> {
        let Some(inside) = self.rest().strip_prefix('"') else { return Ok(None) };
        let Some(length) = inside.find('"') else {
            let span = Span::new(self.at, self.at + 1);
            let error = NotationError::new(Wrong::EndsTooEarly, span, "a string does not end");
            return Err(error.expecting(&["`\"`"]));
        };
        let start = self.at + 1;
        self.advance(length + 2)?;
        Ok(Some((&inside[..length], Span::new(start, start + length))))
    }

    /// Takes a number.
    pub(super) fn number(&mut self) -> Result<Option<Number>, NotationError> {
        let bytes = self.rest().as_bytes();
        let digits = |from: usize| {
            let run = bytes[from..].iter().take_while(|b| b.is_ascii_digit() || **b == b'_').count();
            from + run
        };
        if !bytes.first().is_some_and(u8::is_ascii_digit) {
            return Ok(None);
        }
        let mut length = digits(0);
        let mut whole = true;
        let follows = |at: usize| self.rest()[at..].chars().next();
        if bytes.get(length) == Some(&b'.')
            && !follows(length + 1).is_some_and(|c| c == '.' || c == '_' || c.is_alphabetic())
        {
            whole = false;
            length = digits(length + 1);
        }
        if matches!(bytes.get(length), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
            let end = digits(length + 1 + sign);
            if bytes.get(length + 1 + sign).is_some_and(u8::is_ascii_digit) {
                whole = false;
                length = end;
            }
        }
        if follows(length).is_some_and(|c| c.is_alphabetic() || c == '_') {
            let at = Span::new(self.at, self.at + length);
            let error = NotationError::new(Wrong::Unexpected, at, "a number runs into a name");
            return Err(error.with_help("put a blank or an operator between them"));
        }
        let text: String = self.rest()[..length].chars().filter(|c| *c != '_').collect();
        let span = Span::new(self.at, self.at + length);
        let too_large = |what| NotationError::new(Wrong::Number, span, what);
        let number = if whole {
            let value = text.parse::<i64>().map_err(|_| too_large("the number does not fit in 63 bits"))?;
            Number::Int(value.unsigned_abs())
        } else {
            match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Number::Float(value),
                _ => return Err(too_large("the number is too large for 64 bits")),
            }
        };
        self.advance(length)?;
        Ok(Some(number))
    }

    /// Reads something one level deeper.
    pub(super) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, NotationError>,
    ) -> Result<T, NotationError> {
        if self.nesting == MAX_NESTING {
            let message = format!("nested deeper than {MAX_NESTING}");
            let error = NotationError::new(Wrong::TooDeep, self.here(), message);
            return Err(error.with_help("give inner parts names with `let`"));
        }
        self.nesting += 1;
        let answer = read(self);
        self.nesting -= 1;
        answer
    }
}

/// A sign as messages show it.
fn quoted(sign: &'static str) -> &'static str {
    match sign {
        ";" => "`;`",
        "=" => "`=`",
        "(" => "`(`",
        ")" => "`)`",
        "{" => "`{`",
        "}" => "`}`",
        "]" => "`]`",
        "|]" => "`|]`",
        "|" => "`|`",
        "<" => "`<`",
        "\"" => "a string",
        other => other,
    }
}
