//! Reading what `Display` writes: extents, spaces, affine expressions and index maps.
//!
//! ```text
//! map    := "(" [ axis { "," axis } ] ")" "->" "[" [ affine { "," affine } ] "]" "in" space
//!           [ "where" guard { "and" guard } "else" HEX ]
//! axis   := NAME "<" extent                 guard := "0" "<=" affine "<" extent
//! space  := "[" [ extent { "," extent } ] "]"
//! affine := [ "-" ] term { ( "+" | "-" ) term }     term := NUMBER [ "*" NAME ] | NAME
//! ```
//!
//! [`extent`] has the grammar of extents and facts.

mod extent;

use crate::decide::ENUMERATED;
use crate::{Affine, Extent, Fill, Guard, IndexMap, MapError, Space, UnsatisfiableFacts};
use std::str::FromStr;
use thiserror::Error;

/// Why a text is not an extent, a space or a map.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParseError {
    /// Something else stands there.
    #[error("expected {expected} at byte {at}")]
    Expected {
        /// What was needed.
        expected: &'static str,
        /// Where, in bytes from the start.
        at: usize,
    },
    /// A number does not fit.
    #[error("the number at byte {at} does not fit")]
    Number {
        /// Where, in bytes from the start.
        at: usize,
    },
    /// A name that no axis has.
    #[error("no axis is called `{name}`")]
    UnknownAxis {
        /// The name.
        name: String,
    },
    /// Two axes of one name.
    #[error("two axes are called `{name}`")]
    RepeatedAxis {
        /// The name.
        name: String,
    },
    /// Parentheses nested too deeply.
    #[error("the expression at byte {at} is nested too deeply")]
    TooDeep {
        /// Where, in bytes from the start.
        at: usize,
    },
    /// The parts do not form a map.
    #[error(transparent)]
    Map(#[from] MapError),
    /// Facts that contradict each other.
    #[error(transparent)]
    Facts(#[from] UnsatisfiableFacts),
}

impl ParseError {
    /// Where the text is wrong, in bytes from its start, if it is at one place.
    pub fn at(&self) -> Option<usize> {
        match self {
            ParseError::Expected { at, .. } | ParseError::Number { at } | ParseError::TooDeep { at } => {
                Some(*at)
            }
            _ => None,
        }
    }

    /// The message without the place.
    pub fn expectation(&self) -> String {
        match self {
            ParseError::Expected { expected, .. } => format!("expected {expected}"),
            ParseError::Number { .. } => "the number does not fit".to_string(),
            ParseError::TooDeep { .. } => "the expression is nested too deeply".to_string(),
            other => other.to_string(),
        }
    }

    /// The message, the line of the text and a caret below the place.
    pub fn in_text(&self, text: &str) -> String {
        let Some(at) = self.at().filter(|&at| text.is_char_boundary(at)) else { return self.to_string() };
        let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
        let line = text[start..].lines().next().unwrap_or_default();
        let column = text[start..at].chars().count();
        let number = text[..start].matches('\n').count() + 1;
        format!("{number}:{}: {self}\n  {line}\n  {:column$}^", column + 1, "")
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

type Parsed<T> = Result<T, ParseError>;

/// Nesting beyond this is refused, so that no text exhausts the stack.
const MAX_DEPTH: usize = 200;

/// Reads all of a text.
fn whole<'a, T>(text: &'a str, read: impl FnOnce(&mut Parser<'a>) -> Parsed<T>) -> Parsed<T> {
    let mut parser = Parser::new(text);
    let found = read(&mut parser)?;
    parser.end()?;
    Ok(found)
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Parser<'a> {
        Parser { text, at: 0, depth: 0 }
    }

    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn error<T>(&mut self, expected: &'static str) -> Parsed<T> {
        self.rest();
        Err(ParseError::Expected { expected, at: self.at })
    }

    /// Takes a word or a sign, if it is next. A word must end where a name could not go on.
    fn take(&mut self, token: &str) -> bool {
        let Some(after) = self.rest().strip_prefix(token) else { return false };
        let word = token.ends_with(|c: char| c.is_alphanumeric());
        if word && after.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            return false;
        }
        self.at += token.len();
        true
    }

    fn need(&mut self, token: &'static str) -> Parsed<()> {
        if self.take(token) { Ok(()) } else { self.error(token) }
    }

    fn end(&mut self) -> Parsed<()> {
        if self.rest().is_empty() { Ok(()) } else { self.error("the end") }
    }

    fn span(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let span = &rest[..rest.find(|c| !accept(c)).unwrap_or(rest.len())];
        self.at += span.len();
        span
    }

    fn number(&mut self) -> Parsed<Option<u64>> {
        let start = self.at;
        let digits = self.span(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Ok(None);
        }
        digits.parse().map(Some).map_err(|_| ParseError::Number { at: start })
    }

    fn index(&mut self) -> Parsed<usize> {
        let at = self.at;
        match self.number()? {
            Some(n) => usize::try_from(n).map_err(|_| ParseError::Number { at }),
            None => self.error("a number"),
        }
    }

    fn name(&mut self) -> Option<&'a str> {
        if !self.rest().starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return None;
        }
        Some(self.span(|c| c.is_alphanumeric() || c == '_'))
    }

    /// Items between brackets, separated by commas.
    fn list<T>(
        &mut self,
        open: &'static str,
        close: &'static str,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        self.need(open)?;
        let mut items = Vec::new();
        if self.take(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.take(close) {
                return Ok(items);
            }
            self.need(",")?;
        }
    }

    fn space(&mut self) -> Parsed<Space> {
        Ok(Space::new(self.list("[", "]", Self::extent)?))
    }

    fn affine(&mut self, names: &[String]) -> Parsed<Affine> {
        let mut result = Affine::fixed(names.len(), 0);
        let mut negative = self.take("-");
        loop {
            self.rest();
            let at = self.at;
            let number = self.number()?;
            let name = match number {
                Some(_) if !self.take("*") => None,
                _ => match self.name() {
                    Some(name) => Some(name),
                    None => return self.error("an axis or a number"),
                },
            };
            let value = i128::from(number.unwrap_or(1)) * if negative { -1 } else { 1 };
            let slot = match name {
                None => &mut result.offset,
                Some(name) => match names.iter().position(|n| n == name) {
                    Some(axis) => &mut result.coeffs[axis],
                    None => return Err(ParseError::UnknownAxis { name: name.to_string() }),
                },
            };
            let sum = i128::from(*slot) + value;
            *slot = i64::try_from(sum).map_err(|_| ParseError::Number { at })?;
            negative = if self.take("+") {
                false
            } else if self.take("-") {
                true
            } else {
                return Ok(result);
            };
        }
    }

    fn map(&mut self) -> Parsed<IndexMap> {
        let axes = self.list("(", ")", |p| {
            let Some(name) = p.name() else { return p.error("the name of an axis") };
            p.need("<")?;
            Ok((name.to_string(), p.extent()?))
        })?;
        let (names, extents): (Vec<String>, Vec<Extent>) = axes.into_iter().unzip();
        if let Some(name) = (1..names.len()).find(|&i| names[..i].contains(&names[i])) {
            return Err(ParseError::RepeatedAxis { name: names[name].clone() });
        }
        let domain = Space::new(extents);
        self.need("->")?;
        let components = self.list("[", "]", |p| p.affine(&names))?;
        self.need("in")?;
        let codomain = self.space()?;
        if !self.take("where") {
            return Ok(IndexMap::total(domain, codomain, components)?);
        }
        let mut guards = Vec::new();
        loop {
            self.need("0")?;
            self.need("<=")?;
            let expr = self.affine(&names)?;
            self.need("<")?;
            guards.push(Guard { expr, bound: self.extent()? });
            if !self.take("and") {
                break;
            }
        }
        self.need("else")?;
        // The prefix runs into the digits, so it is no word of its own.
        if !self.rest().starts_with("0x") {
            return self.error("a fill (`0x…`)");
        }
        self.at += "0x".len();
        let at = self.at;
        let digits = self.span(|c| c.is_ascii_hexdigit());
        let fill = u128::from_str_radix(digits, 16).map_err(|_| ParseError::Number { at })?;
        // What `Display` writes is a map whose guards keep the components inside: it needs no more guards. That
        // is checked; where it is not proven (or not so), the map is made safe like any other.
        let more = guards.clone();
        let safe = IndexMap::partial(domain, codomain, components, guards, Fill(fill))?;
        let parts = (safe.domain().clone(), safe.codomain().clone(), safe.components().to_vec());
        let written = IndexMap::assemble(parts.0, parts.1, parts.2, more, safe.fill());
        Ok(if written.stays_inside() { written } else { safe })
    }
}

impl IndexMap {
    /// Is every component inside the codomain where the guards hold? By the box that the single-axis guards leave,
    /// or by enumeration.
    fn stays_inside(&self) -> bool {
        let (Some(guarded), Some(sizes)) = (self.guarded_box(), self.codomain().sizes()) else {
            return false;
        };
        if guarded.is_empty() {
            return true;
        }
        let in_box = self.components().iter().zip(&sizes).all(|(c, &size)| {
            guarded.range(&c.coeffs, c.offset).is_some_and(|(low, high)| low >= 0 && high < i128::from(size))
        });
        let inside = |d: Vec<i64>| d.iter().zip(&sizes).all(|(&x, &n)| (0..n).contains(&x));
        in_box
            || guarded.points().is_some_and(|n| n <= ENUMERATED)
                && guarded.iter().all(|p| self.apply(&p).is_none_or(inside))
    }
}

impl FromStr for Space {
    type Err = ParseError;

    fn from_str(text: &str) -> Parsed<Space> {
        whole(text, Parser::space)
    }
}

/// The inverse of `Display`: the map written is the map read, except that a guard is added where it is not proven
/// (symbolic sizes, or more than 2^20 points) that the written ones keep the components inside the codomain.
impl FromStr for IndexMap {
    type Err = ParseError;

    fn from_str(text: &str) -> Parsed<IndexMap> {
        whole(text, Parser::map)
    }
}

impl Affine {
    /// Reads an expression over axes with these names.
    pub fn parse(text: &str, names: &[String]) -> Result<Affine, ParseError> {
        let mut parser = Parser::new(text);
        let expr = parser.affine(names)?;
        parser.end()?;
        Ok(expr)
    }
}
