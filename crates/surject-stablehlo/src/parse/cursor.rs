//! The lexer: a cursor over the source that reads one token where the grammar asks for it.
//!
//! What a token is depends on the place (`0x3xf32` in a tensor type is no hexadecimal number), so there is no
//! token list: the parser asks for what may stand here.

use std::borrow::Cow;

use crate::diagnostic::{Diagnostic, Span, codes};

pub(crate) type Result<T> = std::result::Result<T, Diagnostic>;

/// A position in the source.
pub(crate) struct Cursor<'s> {
    text: &'s str,
    bytes: &'s [u8],
    /// Offset of the next byte; always on a character boundary.
    pub pos: usize,
}

/// A number as the source writes it.
pub(crate) struct Number<'s> {
    pub text: &'s str,
    /// Whether it has a fraction or an exponent.
    pub is_float: bool,
    pub is_hex: bool,
    pub span: Span,
}

pub(crate) fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn is_word(byte: u8) -> bool {
    WORD[usize::from(byte)]
}

/// Which bytes words are made of.
const WORD: [bool; 256] = {
    let mut word = [false; 256];
    let mut byte = 0u8;
    while byte < 128 {
        word[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.');
        byte += 1;
    }
    word
};

impl<'s> Cursor<'s> {
    pub fn new(text: &'s str) -> Cursor<'s> {
        Cursor { text, bytes: text.as_bytes(), pos: 0 }
    }

    #[inline]
    pub fn text(&self) -> &'s str {
        self.text
    }

    /// The source between two offsets.
    #[inline]
    pub fn slice(&self, start: usize, end: usize) -> &'s str {
        self.text.get(start..end).unwrap_or("")
    }

    /// The byte at the position, without skipping space; 0 at the end.
    #[inline]
    pub fn byte(&self) -> u8 {
        self.byte_at(self.pos)
    }

    /// The byte at an offset; 0 at the end.
    #[inline]
    pub fn byte_at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    #[inline]
    pub fn at_end(&self) -> bool {
        self.pos >= self.bytes.len()
    }

    /// Skips white space and comments.
    #[inline]
    pub fn ws(&mut self) {
        loop {
            match self.byte() {
                b' ' | b'\n' | b'\t' | b'\r' => self.pos += 1,
                b'/' if self.byte_at(self.pos + 1) == b'/' => {
                    let rest = &self.bytes[self.pos..];
                    self.pos += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// The next byte that is not space; 0 at the end.
    #[inline]
    pub fn peek(&mut self) -> u8 {
        self.ws();
        self.byte()
    }

    /// Whether the text here, after space, starts so.
    #[inline]
    pub fn looking_at(&mut self, token: &str) -> bool {
        self.ws();
        self.bytes[self.pos..].starts_with(token.as_bytes())
    }

    /// Takes the punctuation if it is next.
    #[inline]
    pub fn eat(&mut self, token: &str) -> bool {
        let found = self.looking_at(token);
        if found {
            self.pos += token.len();
        }
        found
    }

    /// Takes the punctuation or fails.
    #[inline]
    pub fn expect(&mut self, token: &str) -> Result<()> {
        if self.eat(token) { Ok(()) } else { Err(self.unexpected(format!("'{token}'"))) }
    }

    /// The word at the position, without taking it.
    #[inline]
    pub fn peek_word(&mut self) -> &'s str {
        self.ws();
        if !is_word_start(self.byte()) {
            return "";
        }
        let rest = &self.bytes[self.pos..];
        let length = rest.iter().position(|b| !is_word(*b)).unwrap_or(rest.len());
        self.slice(self.pos, self.pos + length)
    }

    /// Takes the keyword if it is next as a whole word.
    #[inline]
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        if found {
            self.pos += word.len();
        }
        found
    }

    pub fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected(format!("'{word}'"))) }
    }

    /// Takes a word.
    pub fn word(&mut self, what: &str) -> Result<&'s str> {
        let word = self.peek_word();
        if word.is_empty() {
            return Err(self.unexpected(what));
        }
        self.pos += word.len();
        Ok(word)
    }

    /// Takes the rest of a `%`, `^`, `#`, `!` or `@` name after its sigil: digits, or letters, digits and `$._-`.
    pub fn suffix(&mut self, what: &str) -> Result<&'s str> {
        let rest = &self.bytes[self.pos..];
        let accepted = |b: u8| is_word(b) || b == b'-';
        let mut length = if rest.first().is_some_and(u8::is_ascii_digit) {
            rest.iter().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len())
        } else {
            rest.iter().position(|b| !accepted(*b)).unwrap_or(rest.len())
        };
        // `%a->` is a name and an arrow.
        while length > 0 && rest[length - 1] == b'-' {
            length -= 1;
        }
        if length == 0 {
            return Err(self.unexpected(what));
        }
        let name = self.slice(self.pos, self.pos + length);
        self.pos += length;
        Ok(name)
    }

    /// `@name` or `@"any name"`, without the `@`.
    pub fn symbol(&mut self) -> Result<String> {
        self.expect("@").map_err(|e| e.expected("a symbol, for example '@main'"))?;
        if self.byte() != b'"' {
            return self.suffix("a symbol name").map(str::to_string);
        }
        let start = self.pos;
        String::from_utf8(self.string()?.into_owned()).map_err(|_| {
            Diagnostic::new(codes::SYNTAX, Span::new(start, self.pos), "a symbol name that is not UTF-8")
        })
    }

    /// The text between quotes as it stands, escapes unread.
    pub fn raw_string(&mut self) -> Result<&'s str> {
        self.ws();
        let start = self.pos;
        if self.byte() != b'"' {
            return Err(self.unexpected("a string"));
        }
        let mut at = start + 1;
        loop {
            let rest = &self.bytes[at..];
            let Some(stop) = memchr::memchr3(b'"', b'\\', b'\n', rest) else {
                self.pos = self.bytes.len();
                return Err(Diagnostic::new(
                    codes::TRUNCATED,
                    Span::new(start, start + 1),
                    "a string that does not end",
                )
                .expected("a closing '\"'"));
            };
            at += stop;
            match self.bytes[at] {
                b'"' => break,
                b'\n' => {
                    return Err(Diagnostic::new(
                        codes::SYNTAX,
                        Span::new(start, start + 1),
                        "a string that does not end on its line",
                    )
                    .expected("a closing '\"'")
                    .help("write a line break in a string as \\0A"));
                }
                // The escaped byte may be a quote; at the end of the text the loop above finds nothing.
                _ => at = (at + 2).min(self.bytes.len()),
            }
        }
        self.pos = at + 1;
        self.text.get(start + 1..at).ok_or_else(|| {
            Diagnostic::new(codes::SYNTAX, Span::new(start, at), "an escape that cuts a character in two")
        })
    }

    /// A string with its escapes resolved: `\\`, `\"`, `\n`, `\t`, and two hexadecimal digits.
    pub fn string(&mut self) -> Result<Cow<'s, [u8]>> {
        let raw = self.raw_string()?;
        if !raw.contains('\\') {
            return Ok(Cow::Borrowed(raw.as_bytes()));
        }
        let base = self.pos - 1 - raw.len();
        let raw = raw.as_bytes();
        let mut out = Vec::with_capacity(raw.len());
        let mut at = 0;
        while at < raw.len() {
            if raw[at] != b'\\' {
                out.push(raw[at]);
                at += 1;
                continue;
            }
            let hex = |i: usize| raw.get(i).and_then(|b| (*b as char).to_digit(16)).map(|d| d as u8);
            let (byte, length) = match (raw.get(at + 1), hex(at + 1), hex(at + 2)) {
                (Some(b'n'), ..) => (b'\n', 2),
                (Some(b't'), ..) => (b'\t', 2),
                (Some(b @ (b'"' | b'\\')), ..) => (*b, 2),
                (_, Some(high), Some(low)) => (high * 16 + low, 3),
                _ => {
                    let span = Span::new(base + at, base + at + 2);
                    return Err(Diagnostic::new(codes::SYNTAX, span, "an unknown escape in a string")
                        .expected("\\\\, \\\", \\n, \\t or two hexadecimal digits after the backslash"));
                }
            };
            out.push(byte);
            at += length;
        }
        Ok(Cow::Owned(out))
    }

    /// Whether a number starts here.
    pub fn at_number(&mut self) -> bool {
        let first = self.peek();
        first.is_ascii_digit() || (first == b'-' && self.byte_at(self.pos + 1).is_ascii_digit())
    }

    /// An integer, hexadecimal integer or float.
    pub fn number(&mut self) -> Result<Number<'s>> {
        if !self.at_number() {
            return Err(self.unexpected("a number"));
        }
        let start = self.pos;
        let mut at = start + usize::from(self.byte() == b'-');
        let digits = |mut at: usize, hex: bool| {
            while self.bytes.get(at).is_some_and(|b| b.is_ascii_digit() || (hex && b.is_ascii_hexdigit())) {
                at += 1;
            }
            at
        };
        let is_hex = self.byte_at(at) == b'0'
            && self.byte_at(at + 1) == b'x'
            && self.byte_at(at + 2).is_ascii_hexdigit();
        let mut is_float = false;
        if is_hex {
            at = digits(at + 2, true);
        } else {
            at = digits(at, false);
            // Without a point there is no exponent: MLIR reads `1e3` as `1` and a word.
            is_float = self.byte_at(at) == b'.';
            if is_float {
                at = digits(at + 1, false);
            }
            if is_float && matches!(self.byte_at(at), b'e' | b'E') {
                let sign = usize::from(matches!(self.byte_at(at + 1), b'+' | b'-'));
                if self.byte_at(at + 1 + sign).is_ascii_digit() {
                    at = digits(at + 1 + sign, false);
                }
            }
        }
        self.pos = at;
        Ok(Number { text: self.slice(start, at), is_float, is_hex, span: Span::new(start, at) })
    }

    /// An integer that fits 64 bits.
    pub fn int(&mut self) -> Result<i64> {
        let number = self.number()?;
        let parsed = if number.is_float { None } else { parse_int(number.text) };
        parsed.and_then(|v| i64::try_from(v).ok()).ok_or_else(|| {
            Diagnostic::new(codes::NUMBER, number.span, format!("'{}' is no 64-bit integer", number.text))
        })
    }

    /// `[1, 2, 3]`
    pub fn int_list(&mut self) -> Result<Vec<i64>> {
        self.list("[", "]", |c| c.int())
    }

    /// Items between brackets, separated by commas.
    pub fn list<T>(
        &mut self,
        open: &str,
        close: &str,
        mut item: impl FnMut(&mut Cursor<'s>) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.expect(open)?;
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if !self.eat(",") {
                break;
            }
        }
        if !self.eat(close) {
            return Err(self.unexpected(format!("',' or '{close}'")));
        }
        Ok(items)
    }

    /// The text from the position through the first such byte, looked for in `most` bytes; empty where it is not there.
    pub fn through(&self, byte: u8, most: usize) -> &'s str {
        let rest = &self.bytes[self.pos..];
        let found = memchr::memchr(byte, &rest[..rest.len().min(most)]);
        found.map_or("", |at| self.slice(self.pos, self.pos + at + 1))
    }

    /// Takes `(#name)` if it is here.
    pub fn alias_in_parens(&mut self) -> Option<&'s str> {
        let name = self.bytes[self.pos..].strip_prefix(b"(#")?;
        let length = name.iter().position(|b| !is_word(*b))?;
        if name[length] != b')' {
            return None;
        }
        let start = self.pos;
        self.pos += "(#".len() + length + ")".len();
        Some(self.slice(start, self.pos))
    }

    /// Takes text up to and including the bracket that closes the one at the position. Strings and `->` are
    /// passed over.
    pub fn balanced(&mut self) -> Result<&'s str> {
        let start = self.pos;
        let mut open: Vec<u8> = Vec::new();
        loop {
            let byte = self.byte();
            match byte {
                b'(' | b'[' | b'{' | b'<' => open.push(byte),
                b')' | b']' | b'}' | b'>' => {
                    let wanted = match byte {
                        b')' => b'(',
                        b']' => b'[',
                        b'}' => b'{',
                        _ => b'<',
                    };
                    if open.pop() != Some(wanted) {
                        return Err(self.unexpected("balanced brackets"));
                    }
                }
                b'"' => {
                    self.raw_string()?;
                    continue;
                }
                b'-' if self.byte_at(self.pos + 1) == b'>' => self.pos += 1,
                // Of the conditions of a set: `affine_set<(d0) : (d0 >= 0)>`.
                b' ' if self.bytes[self.pos..].starts_with(b" >=") => self.pos += 1,
                0 if self.at_end() => {
                    return Err(Diagnostic::new(
                        codes::TRUNCATED,
                        Span::new(start, start + 1),
                        "a bracket that is never closed",
                    ));
                }
                _ => {}
            }
            self.pos += 1;
            if open.is_empty() {
                // Only ASCII bytes close a bracket, so the position is on a character boundary.
                return Ok(self.slice(start, self.pos));
            }
        }
    }

    /// The error that something else stands here than what was expected.
    pub fn unexpected(&mut self, expected: impl Into<String>) -> Diagnostic {
        self.ws();
        if self.at_end() {
            let span = Span::new(self.pos, self.pos);
            return Diagnostic::new(codes::TRUNCATED, span, "the text ends here").expected(expected);
        }
        let length = self.token_length();
        let span = Span::new(self.pos, self.pos + length);
        let token = self.slice(self.pos, self.pos + length);
        Diagnostic::new(codes::SYNTAX, span, format!("unexpected '{}'", token.escape_debug()))
            .expected(expected)
    }

    /// Length in bytes of what to show of the text here as a token.
    fn token_length(&self) -> usize {
        let rest = &self.bytes[self.pos..];
        let sigil = usize::from(matches!(rest[0], b'%' | b'@' | b'#' | b'!' | b'^'));
        let word = rest[sigil..].iter().take(40).take_while(|b| is_word(**b)).count();
        if word > 0 {
            return sigil + word;
        }
        self.slice(self.pos, self.bytes.len()).chars().next().map_or(1, char::len_utf8)
    }
}

/// The value of a decimal or hexadecimal integer.
pub(crate) fn parse_int(text: &str) -> Option<i128> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let value = match digits.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative { -value } else { value })
}
