//! The text form of addresses, guards, and places in memory.

use super::lexer::Token;
use super::{Parsed, Parser};
use crate::{Affine, Guard, Place, Temporality, Term, Tile};

impl Parser {
    /// `4*%1*%2 + lane - 3`
    pub(super) fn affine(&mut self) -> Parsed<Affine> {
        let at = self.lexed.at();
        let mut sum = Affine::default();
        let mut sign = if self.lexed.take(&Token::Minus) { -1 } else { 1 };
        loop {
            let product = self.product(sign)?;
            sum = match sum.plus(&product, 1) {
                Some(sum) => sum,
                None => return self.lexed.fault(at, "a number of this expression does not fit in 64 bits"),
            };
            sign = match () {
                () if self.lexed.take(&Token::Plus) => 1,
                () if self.lexed.take(&Token::Minus) => -1,
                () => return Ok(sum),
            };
        }
    }

    /// `4*%1*%2`, with the sign that stands before it: only with it the smallest number of 64 bits fits.
    fn product(&mut self, sign: i128) -> Parsed<Affine> {
        let at = self.lexed.at();
        let (mut factor, mut values, mut lanes) = (Some(sign), Vec::new(), 0);
        loop {
            if self.lexed.peeks_value() {
                values.push(self.value()?);
            } else if self.lexed.keyword("lane") {
                lanes += 1;
            } else {
                let number = self.lexed.integer("a number, a value or `lane`")?;
                factor = factor.and_then(|factor| factor.checked_mul(number.into()));
            }
            if !self.lexed.take(&Token::Star) {
                break;
            }
        }
        let factor = factor.and_then(|factor| i64::try_from(factor).ok());
        values.sort_unstable();
        match (factor, lanes, values.is_empty()) {
            (Some(factor), 0, true) => Ok(Affine::from(factor)),
            (Some(factor), 1, true) => Ok(Affine::lane(factor)),
            (Some(0), 0, false) => Ok(Affine::default()),
            (Some(factor), 0, false) => {
                Ok(Affine { terms: vec![Term { values, factor }], ..Affine::default() })
            }
            _ => self.lexed.fault(at, "this is no product of numbers and values that fits"),
        }
    }

    /// `0 <= %1 < 4 and 0 <= …`
    pub(super) fn guards(&mut self) -> Parsed<Vec<Guard>> {
        let mut guards = Vec::new();
        loop {
            let at = self.lexed.at();
            if self.lexed.integer("`0 <=`")? != 0 {
                return self.lexed.fault(at, "a guard begins with `0 <=`");
            }
            self.lexed.need(Token::AtMost)?;
            let expr = self.affine()?;
            self.lexed.need(Token::Less)?;
            guards.push(Guard { expr, bound: self.affine()? });
            if !self.lexed.keyword("and") {
                return Ok(guards);
            }
        }
    }

    /// `[4*%1]`
    pub(super) fn index(&mut self) -> Parsed<Affine> {
        self.lexed.need(Token::OpenBracket)?;
        let at = self.affine()?;
        self.lexed.need(Token::CloseBracket)?;
        Ok(at)
    }

    pub(super) fn place(&mut self) -> Parsed<Place> {
        let mem = self.mem()?;
        let at = self.index()?;
        let mut place = Place::new(mem, at);
        if self.lexed.keyword("offset") {
            place.offset = Some(self.value()?);
        }
        if self.lexed.keyword("where") {
            place.guards = self.guards()?;
        }
        if self.lexed.keyword("mask") {
            place.mask = Some(self.value()?);
        }
        Ok(place)
    }

    pub(super) fn tile(&mut self) -> Parsed<Tile> {
        let mem = self.mem()?;
        let at = self.index()?;
        self.lexed.keyword_or("by", "`by`")?;
        self.lexed.need(Token::Open)?;
        let row = self.signed("an integer")?;
        self.lexed.need(Token::Comma)?;
        let column = self.signed("an integer")?;
        self.lexed.need(Token::Close)?;
        let interleaved = if self.lexed.keyword("interleaved") { self.count("a number of rows")? } else { 1 };
        Ok(Tile { mem, at, row, column, interleaved })
    }

    pub(super) fn temporality(&mut self) -> Temporality {
        match self.lexed.keyword("nontemporal") {
            true => Temporality::NonTemporal,
            false => Temporality::Normal,
        }
    }
}
