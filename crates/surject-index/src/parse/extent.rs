//! Reading extents and facts.
//!
//! ```text
//! extent := [ "-" ] term { ( "+" | "-" ) term }       term := factor { ( "*" | "/" | "%" ) factor }
//! factor := NUMBER | NAME | "in" N "." N | "size(in" N ")" | "truncate_size(in" N ")" | "(" extent ")"
//!         | ( "min" | "max" ) "(" extent { "," extent } ")" | ( "floordiv" | "ceildiv" | "mod" ) "(" extent "," extent ")"
//! fact   := extent ( "==" | "!=" | "<=" | "<" | ">=" | ">" ) extent       facts := [ fact { "," fact } ]
//! ```
//!
//! `a / b` is `floordiv(a, b)` and `a % b` is `mod(a, b)`. The statement that a remainder is 0 is a divisibility.

use super::{MAX_DEPTH, ParseError, Parsed, Parser, whole};
use crate::{Extent, ExtentExpr, Fact, Facts, Relation, ScalarSemantics};
use std::str::FromStr;
use std::sync::Arc;

type Build = fn(Extent, Extent) -> Extent;

const FUNCTIONS: [(&str, Build); 5] = [
    ("min", Extent::min),
    ("max", Extent::max),
    ("floordiv", Extent::floor_div),
    ("ceildiv", Extent::ceil_div),
    ("mod", Extent::modulo),
];

/// An expression with more operations is refused, so that no text exhausts the stack.
const MAX_OPERATIONS: usize = 1000;

/// Words that are no names of sizes.
fn is_reserved(name: &str) -> bool {
    let is_input =
        name.strip_prefix("in").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    is_input || ["size", "truncate_size"].contains(&name) || FUNCTIONS.iter().any(|(word, _)| *word == name)
}

impl Parser<'_> {
    pub(super) fn extent(&mut self) -> Parsed<Extent> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ParseError::TooDeep { at: self.at });
        }
        let mut sum =
            if self.take("-") { Extent::difference(Extent::Const(0), self.term()?) } else { self.term()? };
        for operations in 0.. {
            let build: Build = if self.take("+") {
                Extent::sum
            } else if self.take("-") {
                Extent::difference
            } else {
                break;
            };
            if operations > MAX_OPERATIONS {
                return Err(ParseError::TooDeep { at: self.at });
            }
            sum = build(sum, self.term()?);
        }
        self.depth -= 1;
        Ok(sum)
    }

    fn term(&mut self) -> Parsed<Extent> {
        let mut product = self.factor()?;
        for operations in 0.. {
            let build: Build = if self.take("*") {
                Extent::product
            } else if self.take("/") {
                Extent::floor_div
            } else if self.take("%") {
                Extent::modulo
            } else {
                break;
            };
            if operations > MAX_OPERATIONS {
                return Err(ParseError::TooDeep { at: self.at });
            }
            product = build(product, self.factor()?);
        }
        Ok(product)
    }

    fn factor(&mut self) -> Parsed<Extent> {
        if let Some(value) = self.number()? {
            return Ok(Extent::Const(value));
        }
        if self.take("(") {
            let extent = self.extent()?;
            self.need(")")?;
            return Ok(extent);
        }
        self.rest();
        let at = self.at;
        let Some(name) = self.name() else { return self.error("an extent") };
        if let Some((_, build)) = FUNCTIONS.iter().find(|(word, _)| *word == name) {
            let operands = self.list("(", ")", Self::extent)?;
            let is_fold = ["min", "max"].contains(&name);
            if operands.is_empty() || !is_fold && operands.len() != 2 {
                let expected = if is_fold { "at least one operand" } else { "two operands" };
                return Err(ParseError::Expected { expected, at });
            }
            if operands.len() > MAX_DEPTH {
                return Err(ParseError::TooDeep { at });
            }
            return operands
                .into_iter()
                .reduce(build)
                .ok_or(ParseError::Expected { expected: "an operand", at });
        }
        let semantics = match name {
            "size" => Some(ScalarSemantics::IntegerSize),
            "truncate_size" => Some(ScalarSemantics::DynamicTruncateSize),
            _ => None,
        };
        if let Some(semantics) = semantics {
            self.need("(")?;
            let input = self.input()?;
            self.need(")")?;
            return Ok(Extent::Expr(Arc::new(ExtentExpr::RuntimeScalar { input, semantics })));
        }
        if is_reserved(name) {
            self.at = at;
            let input = self.input()?;
            self.need(".")?;
            return Ok(Extent::input_axis(input, self.index()?));
        }
        Ok(Extent::symbol(name))
    }

    fn input(&mut self) -> Parsed<usize> {
        match self.rest().strip_prefix("in") {
            Some(after) if after.starts_with(|c: char| c.is_ascii_digit()) => {
                self.at += "in".len();
                self.index()
            }
            _ => self.error("an input (`in0`)"),
        }
    }

    fn fact(&mut self) -> Parsed<Fact> {
        let left = self.extent()?;
        let relations = [
            ("==", Relation::Eq, false),
            ("!=", Relation::Ne, false),
            ("<=", Relation::Le, false),
            (">=", Relation::Le, true),
            ("<", Relation::Lt, false),
            (">", Relation::Lt, true),
        ];
        let Some((_, relation, turned)) = relations.into_iter().find(|(sign, ..)| self.take(sign)) else {
            return self.error("`==`, `!=`, `<=`, `<`, `>=` or `>`");
        };
        let right = self.extent()?;
        let (left, right) = if turned { (right, left) } else { (left, right) };
        Ok(Fact::new(left, relation, right))
    }
}

impl Extent {
    /// The extent at the start of a text, and the rest of the text.
    ///
    /// # Errors
    /// The text does not start with an extent.
    pub fn parse_prefix(text: &str) -> Result<(Extent, &str), ParseError> {
        let mut parser = Parser::new(text);
        let extent = parser.extent()?;
        Ok((extent, &text[parser.at..]))
    }
}

impl Fact {
    /// The fact at the start of a text, and the rest of the text.
    ///
    /// # Errors
    /// The text does not start with a fact.
    pub fn parse_prefix(text: &str) -> Result<(Fact, &str), ParseError> {
        let mut parser = Parser::new(text);
        let fact = parser.fact()?;
        Ok((fact, &text[parser.at..]))
    }
}

impl FromStr for Extent {
    type Err = ParseError;

    fn from_str(text: &str) -> Parsed<Extent> {
        whole(text, Parser::extent)
    }
}

impl FromStr for Fact {
    type Err = ParseError;

    fn from_str(text: &str) -> Parsed<Fact> {
        whole(text, Parser::fact)
    }
}

/// Facts separated by commas; none for the empty text.
impl FromStr for Facts {
    type Err = ParseError;

    fn from_str(text: &str) -> Parsed<Facts> {
        let mut parser = Parser::new(text);
        let mut facts = Vec::new();
        while !parser.rest().is_empty() {
            if !facts.is_empty() {
                parser.need(",")?;
            }
            facts.push(parser.fact()?);
        }
        Ok(Facts::of(facts)?)
    }
}
