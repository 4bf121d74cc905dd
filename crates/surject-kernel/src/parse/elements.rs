//! The text form of numbers and of elements.

use super::lexer::Token;
use super::{Parsed, Parser};
use surject_ir::{DType, Scalar, literal};

impl Parser {
    /// The text of an element; its type is known later.
    pub(super) fn element(&mut self) -> Parsed<(usize, String)> {
        let at = self.lexed.at();
        let negative = self.lexed.take(&Token::Minus);
        if !negative && self.lexed.keyword("bits") {
            self.lexed.need(Token::Open)?;
            let bits = self.lexed.hexadecimal()?;
            self.lexed.need(Token::Close)?;
            return Ok((at, format!("bits({bits:#x})")));
        }
        let text = match self.lexed.number_text() {
            Some(text) => text,
            None => self.lexed.identifier("an element")?,
        };
        Ok((at, if negative { format!("-{text}") } else { text }))
    }

    /// An element of a type.
    pub(super) fn scalar(&self, dtype: DType, (at, text): &(usize, String)) -> Parsed<Scalar> {
        let scalar = match text.as_str() {
            "true" | "false" if dtype == DType::I1 => Some(Scalar::bool(text == "true")),
            "inf" | "-inf" if dtype.is_float() => {
                Some(Scalar::from_f64(dtype, text.parse().unwrap_or(f64::INFINITY)))
            }
            _ => match text.strip_prefix("bits(0x") {
                Some(bits) => {
                    let bits = u128::from_str_radix(bits.trim_end_matches(')'), 16).ok();
                    let element = bits.map(|bits| Scalar::from_bits(dtype, bits));
                    element.filter(|element| Some(element.bits()) == bits)
                }
                None => literal::number(dtype, text),
            },
        };
        scalar.map_or_else(|| self.lexed.fault(*at, format!("`{text}` is no element of type {dtype}")), Ok)
    }

    /// An integer of 64 bits.
    pub(super) fn signed(&mut self, what: &str) -> Parsed<i64> {
        let at = self.lexed.at();
        let negative = self.lexed.take(&Token::Minus);
        let number = i128::from(self.lexed.integer(what)?);
        let number = i64::try_from(if negative { -number } else { number });
        number.or_else(|_| self.lexed.fault(at, "this number does not fit in 64 bits"))
    }

    /// A number of 32 bits without a sign.
    pub(super) fn word(&mut self, what: &str) -> Parsed<u32> {
        let at = self.lexed.at();
        let number = self.lexed.integer(what)?;
        u32::try_from(number)
            .or_else(|_| self.lexed.fault(at, format!("expected {what} that fits in 32 bits")))
    }

    /// How many there are of something.
    pub(super) fn count(&mut self, what: &str) -> Parsed<usize> {
        let at = self.lexed.at();
        let number = self.lexed.integer(what)?;
        usize::try_from(number).or_else(|_| self.lexed.fault(at, format!("expected {what}")))
    }
}
