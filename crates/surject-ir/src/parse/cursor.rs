//! The place in the text, and what is read without knowing any names.

use super::error::Fault;
use crate::library::Attr;
use surject_index::{Affine, Extent, Fact};

pub(super) type Parsed<T> = Result<T, Fault>;

pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    /// What is left, without white space and comments (from `//` to the end of a line) in front.
    fn rest(&mut self) -> &'a str {
        loop {
            let rest = self.text[self.at..].trim_start();
            self.at = self.text.len() - rest.len();
            if !rest.starts_with("//") {
                return rest;
            }
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// The byte at which the next token starts.
    pub(super) fn position(&mut self) -> usize {
        self.rest();
        self.at
    }

    /// Goes back to a position that [`Cursor::position`] gave.
    pub(super) fn go_back(&mut self, at: usize) {
        self.at = at;
    }

    pub(super) fn end(&mut self) -> bool {
        self.rest().is_empty()
    }

    pub(super) fn fault<T>(&self, at: usize, message: String) -> Parsed<T> {
        Err(Fault { at, message })
    }

    /// The error that something else stands here.
    pub(super) fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        let rest = self.rest();
        let word = word_length(rest);
        let found = match rest.chars().next() {
            None => "the end".to_string(),
            Some(_) if word > 0 => format!("`{}`", &rest[..word]),
            Some(c) => format!("`{c}`"),
        };
        self.fault(self.at, format!("expected {what}, found {found}"))
    }

    pub(super) fn looks_at(&mut self, sign: char) -> bool {
        self.rest().starts_with(sign)
    }

    /// Takes a sign, if it is next.
    pub(super) fn sign(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len();
        }
        found
    }

    pub(super) fn need(&mut self, sign: &'static str) -> Parsed<()> {
        if self.sign(sign) { Ok(()) } else { self.expected(&format!("`{sign}`")) }
    }

    /// The next word, if one is next: letters, digits and underscores, not starting with a digit.
    pub(super) fn peek_word(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let length = word_length(rest);
        (length > 0 && !rest.starts_with(|c: char| c.is_ascii_digit())).then(|| &rest[..length])
    }

    pub(super) fn word(&mut self) -> Option<&'a str> {
        let word = self.peek_word()?;
        self.at += word.len();
        Some(word)
    }

    /// Takes this word, if it is next.
    pub(super) fn keyword(&mut self, word: &str) -> bool {
        let found = self.peek_word() == Some(word);
        if found {
            self.at += word.len();
        }
        found
    }

    /// A text between quotation marks.
    pub(super) fn quoted(&mut self, mark: char) -> Parsed<String> {
        let start = self.position();
        if !self.looks_at(mark) {
            return self.expected(&format!("`{mark}`"));
        }
        let mut text = String::new();
        let mut chars = self.text[start..].char_indices().skip(1);
        while let Some((i, c)) = chars.next() {
            if c == mark {
                self.at = start + i + c.len_utf8();
                return Ok(text);
            }
            text.push(match c {
                '\\' => match chars.next() {
                    Some((_, 'n')) => '\n',
                    Some((_, 'r')) => '\r',
                    Some((_, 't')) => '\t',
                    Some((_, c)) => c,
                    None => break,
                },
                c => c,
            });
        }
        self.fault(start, format!("the {mark} that starts here is never closed"))
    }

    /// A number without its type suffix: the text of digits with sign, point and exponent.
    pub(super) fn number(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let digits =
            |from: usize| bytes[from.min(bytes.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut end = usize::from(rest.starts_with('-'));
        let whole = digits(end);
        if whole == 0 {
            return None;
        }
        end += whole;
        if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
            let exponent = digits(end + 1 + sign);
            if exponent > 0 {
                end += 1 + sign + exponent;
            }
        }
        self.at += end;
        Some(&rest[..end])
    }

    /// A number that fits in a type.
    pub(super) fn integer<T: std::str::FromStr>(&mut self) -> Parsed<T> {
        let at = self.position();
        match self.number().map(str::parse) {
            Some(Ok(value)) => Ok(value),
            Some(Err(_)) => self.fault(at, "this number is not an integer that fits here".into()),
            None => self.expected("an integer"),
        }
    }

    /// The digits after `0x`, as bits.
    pub(super) fn hexadecimal(&mut self) -> Parsed<u128> {
        let at = self.position();
        self.need("0x")?;
        let rest = &self.text[self.at..];
        let length = word_length(rest);
        self.at += length;
        u128::from_str_radix(&rest[..length], 16)
            .or_else(|_| self.fault(at, "expected hexadecimal digits of at most 128 bits".into()))
    }

    /// An extent, as far as one goes.
    pub(super) fn extent(&mut self) -> Parsed<Extent> {
        self.prefix(Extent::parse_prefix)
    }

    /// A fact about sizes, as far as one goes.
    pub(super) fn fact(&mut self) -> Parsed<Fact> {
        self.prefix(Fact::parse_prefix)
    }

    fn prefix<T>(
        &mut self,
        parse: impl Fn(&'a str) -> Result<(T, &'a str), surject_index::ParseError>,
    ) -> Parsed<T> {
        let at = self.position();
        let rest = self.rest();
        match parse(rest) {
            Ok((item, after)) => {
                self.at += rest.len() - after.len();
                Ok(item)
            }
            Err(error) => self.fault(at + error.at().unwrap_or(0), error.expectation()),
        }
    }

    /// An affine form over axes with these names: up to a sign that does not occur in one.
    pub(super) fn affine(&mut self, names: &[String]) -> Parsed<Affine> {
        let at = self.position();
        let rest = self.rest();
        let inside = |c: char| c.is_ascii_alphanumeric() || "_+-* \t".contains(c);
        let end = rest.find(|c| !inside(c)).unwrap_or(rest.len());
        self.at += end;
        match Affine::parse(rest[..end].trim_end(), names) {
            Ok(form) => Ok(form),
            Err(error) => {
                let known = if names.is_empty() { "none".to_string() } else { names.join(", ") };
                self.fault(at, format!("expected an affine form of the axes here ({known}): {error}"))
            }
        }
    }

    /// The value of an attribute.
    pub(super) fn attribute(&mut self, depth: usize) -> Parsed<Attr> {
        if self.sign("[") {
            if depth > 4 {
                return self.expected("a list that is nested less deeply");
            }
            let mut items = Vec::new();
            while !self.sign("]") {
                if !items.is_empty() {
                    self.need(",")?;
                }
                items.push(self.attribute(depth + 1)?);
            }
            return Ok(Attr::List(items));
        }
        let at = self.position();
        if self.looks_at('"') {
            let text = self.quoted('"')?;
            return match text.parse() {
                Ok(size) => Ok(Attr::Size(size)),
                Err(error) => self.fault(at, format!("expected a size between the quotation marks: {error}")),
            };
        }
        if self.looks_at('\'') {
            return self.quoted('\'').map(Attr::Text);
        }
        match self.peek_word() {
            Some(word) => {
                self.at += word.len();
                Ok(match word {
                    "true" => Attr::Bool(true),
                    "false" => Attr::Bool(false),
                    _ => Attr::Word(word.to_string()),
                })
            }
            None => self.integer().map(Attr::Int),
        }
    }
}

/// The number of bytes of the word at the start of a text; it may start with a digit.
fn word_length(text: &str) -> usize {
    text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count()
}
