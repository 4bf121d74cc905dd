//! The grammar of attributes.

use std::borrow::Cow;

use super::Parser;
use super::cursor::{Number, Result, parse_int};
use crate::attr::{Attribute, Attributes};
use crate::diagnostic::{Diagnostic, Span, codes};
use crate::float;
use crate::types::{ElementType, Type};

impl<'s> Parser<'s> {
    /// Any attribute.
    pub(super) fn attribute(&mut self) -> Result<Attribute> {
        self.enter()?;
        let attribute = self.attribute_inner()?;
        self.leave();
        Ok(attribute)
    }

    fn attribute_inner(&mut self) -> Result<Attribute> {
        match self.c.peek() {
            b'"' => self.string_attribute(),
            b'[' => self.array_attribute(),
            b'{' => self.dictionary().map(Attribute::Dict),
            b'@' => self.symbol_path().map(Attribute::Symbol),
            b'#' => self.dialect_attribute(),
            b'-' | b'0'..=b'9' => self.number_attribute(),
            b'!' | b'(' => self.ty().map(Attribute::Type),
            _ => self.keyword_attribute(),
        }
    }

    fn string_attribute(&mut self) -> Result<Attribute> {
        let bytes = self.c.string()?.into_owned();
        let attribute =
            String::from_utf8(bytes).map_or_else(|e| Attribute::Bytes(e.into_bytes()), Attribute::String);
        // A typed string is a string: no operation here looks at the type.
        if self.c.peek() == b':' && self.c.byte_at(self.c.pos + 1) != b':' {
            self.c.pos += 1;
            self.ty()?;
        }
        Ok(attribute)
    }

    fn array_attribute(&mut self) -> Result<Attribute> {
        self.c.expect("[")?;
        let mut items = Vec::new();
        if self.c.eat("]") {
            return Ok(Attribute::Array(items));
        }
        loop {
            items.push(self.attribute()?);
            if !self.c.eat(",") {
                break;
            }
        }
        if !self.c.eat("]") {
            return Err(self.c.unexpected("',' or ']'"));
        }
        Ok(Attribute::Array(items))
    }

    /// `{a = 1, "odd key" = 2, unit}`
    pub(super) fn dictionary(&mut self) -> Result<Attributes> {
        let mut entries = Vec::new();
        self.c.ws();
        let start = self.c.pos;
        self.c.expect("{")?;
        if self.c.eat("}") {
            return Ok(Attributes::new());
        }
        loop {
            let name = self.attribute_name()?;
            let value = if self.c.eat("=") { self.attribute()? } else { Attribute::Unit };
            entries.push((Cow::Owned(name), value));
            if !self.c.eat(",") {
                break;
            }
        }
        if !self.c.eat("}") {
            return Err(self.c.unexpected("',' or '}'"));
        }
        Attributes::from_entries(entries).map_err(|name| {
            let span = Span::new(start, self.c.pos);
            Diagnostic::new(codes::ATTRIBUTE, span, format!("attribute '{name}' is given twice"))
        })
    }

    fn attribute_name(&mut self) -> Result<String> {
        if self.c.peek() == b'"' {
            return Ok(String::from_utf8_lossy(&self.c.string()?).into_owned());
        }
        self.c.word("the name of an attribute").map(str::to_string)
    }

    pub(super) fn symbol_path(&mut self) -> Result<Vec<String>> {
        let mut path = vec![self.c.symbol()?];
        while self.c.looking_at("::@") {
            self.c.pos += 2;
            path.push(self.c.symbol()?);
        }
        Ok(path)
    }

    fn number_attribute(&mut self) -> Result<Attribute> {
        let number = self.c.number()?;
        let ty = if self.c.peek() == b':' {
            self.c.pos += 1;
            let start = self.c.pos;
            match self.ty()? {
                Type::Scalar(element) => element,
                other => {
                    let span = Span::new(start, self.c.pos);
                    return Err(Diagnostic::new(codes::ATTRIBUTE, span, format!("a number of type {other}"))
                        .expected("an integer or float type"));
                }
            }
        } else if number.is_float {
            ElementType::F64
        } else {
            ElementType::I64
        };
        number_of_type(&number, ty)
    }

    fn keyword_attribute(&mut self) -> Result<Attribute> {
        let start = self.c.pos;
        let word = self.c.peek_word();
        let take = |p: &mut Self| p.c.pos += word.len();
        match word {
            "true" | "false" => {
                take(self);
                Ok(Attribute::Bool(word == "true"))
            }
            "unit" => {
                take(self);
                Ok(Attribute::Unit)
            }
            "array" => self.dense_array(),
            "dense" => Ok(self.elements()?.0),
            "dense_resource" => Ok(self.elements()?.0),
            "affine_map" | "affine_set" | "loc" | "sparse" | "strided" | "distinct" => {
                take(self);
                if matches!(self.c.byte(), b'<' | b'(' | b'[') {
                    self.c.balanced()?;
                }
                if matches!(self.c.byte(), b'<') {
                    self.c.balanced()?;
                }
                let end = self.c.pos;
                if word == "sparse" && self.c.eat(":") {
                    self.ty()?;
                    return Ok(Attribute::Opaque(self.c.slice(start, self.c.pos).to_string()));
                }
                Ok(Attribute::Opaque(self.c.slice(start, end).to_string()))
            }
            "" => Err(self.c.unexpected("an attribute")),
            _ => self.ty().map(Attribute::Type).map_err(|e| match e.code {
                codes::TYPE if e.span.start == start => {
                    Diagnostic::new(codes::ATTRIBUTE, e.span, format!("unknown attribute '{word}'")).expected(
                        "an attribute, for example '1 : i64', 'true', '\"text\"' or 'array<i64: 1, 2>'",
                    )
                }
                _ => e,
            }),
        }
    }

    /// `array<i64: 1, 2>`
    fn dense_array(&mut self) -> Result<Attribute> {
        self.c.expect_word("array")?;
        self.c.expect("<")?;
        let start = self.c.pos;
        let Type::Scalar(element) = self.ty()? else {
            let span = Span::new(start, self.c.pos);
            return Err(Diagnostic::new(codes::ATTRIBUTE, span, "an array of something else than numbers")
                .expected("an integer or float type, for example 'array<i64: 1, 2>'"));
        };
        let mut values = Vec::new();
        if self.c.eat(":") {
            loop {
                values.push(self.array_item(&element)?);
                if !self.c.eat(",") {
                    break;
                }
            }
        }
        if !self.c.eat(">") {
            return Err(self.c.unexpected("',' or '>'"));
        }
        Ok(match element {
            ElementType::I64 => Attribute::I64s(values),
            ElementType::I1 => Attribute::Bools(values.into_iter().map(|v| v != 0).collect()),
            element => Attribute::DenseArray { element, values: values.into() },
        })
    }

    fn array_item(&mut self, element: &ElementType) -> Result<i64> {
        if *element == ElementType::I1 {
            return match self.c.peek_word() {
                "true" if self.c.eat_word("true") => Ok(1),
                "false" if self.c.eat_word("false") => Ok(0),
                _ => Err(self.c.unexpected("'true' or 'false'")),
            };
        }
        let number = self.c.number()?;
        match number_of_type(&number, element.clone())? {
            Attribute::Int { value, .. } => Ok(value as i64),
            Attribute::Float { bits, .. } => Ok(bits as i64),
            _ => Err(Diagnostic::new(
                codes::ATTRIBUTE,
                number.span,
                format!("'{}' is no {element}", number.text),
            )),
        }
    }

    /// Everything that starts with `#`.
    fn dialect_attribute(&mut self) -> Result<Attribute> {
        let start = self.c.pos;
        self.c.expect("#")?;
        let name = self.c.suffix("the name of an attribute or alias")?;
        let structured = name.strip_prefix("stablehlo").or_else(|| name.strip_prefix("chlo"));
        if let Some(rest) = structured.filter(|rest| rest.is_empty() || rest.starts_with('.'))
            && self.c.byte() == b'<'
            && let Some(attribute) = self.stablehlo_attribute(rest.trim_start_matches('.'), start)?
        {
            if matches!(&attribute, Attribute::Enum { kind, .. } if kind.starts_with("comparison_")) {
                self.comparisons
                    .push((Span::new(start, self.c.pos), structured != name.strip_prefix("stablehlo")));
            }
            return Ok(attribute);
        }
        if self.c.byte() == b'<' {
            self.c.balanced()?;
        } else if !name.contains('.') {
            return self.attribute_alias(self.c.slice(start, self.c.pos), Span::new(start, self.c.pos));
        }
        Ok(Attribute::Opaque(self.c.slice(start, self.c.pos).to_string()))
    }

    /// `loc(…)`, if it is next; its text without the brackets. `loc(unknown)` says nothing, like no location.
    pub(super) fn location(&mut self) -> Result<Option<std::sync::Arc<str>>> {
        if self.c.peek() != b'l' || !self.c.looking_at("loc(") {
            return Ok(None);
        }
        self.c.pos += "loc".len();
        let text = match self.c.alias_in_parens() {
            Some(text) => text,
            None => self.c.balanced()?,
        };
        Ok(self.location_text(&text[1..text.len() - 1]))
    }
}

/// A number as an attribute of a type; hexadecimal digits of a float type are its bits.
pub(super) fn number_of_type(number: &Number<'_>, ty: ElementType) -> Result<Attribute> {
    let wrong = |message: String| Diagnostic::new(codes::NUMBER, number.span, message);
    if ty.is_float() {
        return Ok(Attribute::Float { bits: float_bits(number, &ty)?, ty });
    }
    if number.is_float {
        return Err(wrong(format!("'{}' is no {ty}", number.text)).expected("an integer"));
    }
    let value = parse_int(number.text).filter(|v| fits_integer(*v, &ty));
    let value = value.ok_or_else(|| wrong(format!("'{}' does not fit {ty}", number.text)))?;
    Ok(Attribute::Int { value, ty })
}

/// Bits of a number as a float. Decimal numbers have a point (MLIR reads no other); hexadecimal ones are the bits.
pub(super) fn float_bits(number: &Number<'_>, ty: &ElementType) -> Result<u64> {
    let wrong =
        |what: &str| Diagnostic::new(codes::NUMBER, number.span, format!("'{}' {what} {ty}", number.text));
    if number.is_hex {
        let bits = parse_int(number.text).and_then(|v| u64::try_from(v).ok());
        return bits.filter(|v| fits_bits(*v, ty)).ok_or_else(|| wrong("has more bits than"));
    }
    if !number.is_float {
        return Err(wrong("is an integer, not").expected(format!("'{}.0'", number.text)));
    }
    float::parse(ty, number.text).ok_or_else(|| wrong("is no"))
}

/// Whether an integer fits a type; signless types take both readings of their bits.
pub(super) fn fits_integer(value: i128, ty: &ElementType) -> bool {
    let bits = ty.bits().unwrap_or(64).min(64);
    let unsigned = value >= 0 && value < 1i128 << bits;
    match ty.class() {
        crate::types::ElementClass::Unsigned => unsigned,
        crate::types::ElementClass::Bool => unsigned || value == -1,
        _ => unsigned || (value < 0 && value >= -(1i128 << (bits - 1))),
    }
}

pub(super) fn fits_bits(value: u64, ty: &ElementType) -> bool {
    match ty.bits() {
        Some(bits) if bits < 64 => value >> bits == 0,
        _ => true,
    }
}

/// An enumeration value from the text.
pub(super) fn enumeration(kind: &str, value: &str, span: Span) -> Result<Attribute> {
    let Some(values) = crate::table::enum_values(kind) else {
        return Ok(Attribute::Enum {
            kind: Cow::Owned(kind.to_string()),
            value: Cow::Owned(value.to_string()),
        });
    };
    match values.iter().find(|v| **v == value) {
        Some(known) => Ok(Attribute::Enum { kind: static_kind(kind), value: Cow::Borrowed(known) }),
        None => Err(Diagnostic::new(
            codes::ATTRIBUTE,
            span,
            format!("'{value}' is no {}", kind.replace('_', " ")),
        )
        .expected(format!("one of {}", values.join(", ")))),
    }
}

fn static_kind(kind: &str) -> Cow<'static, str> {
    Cow::Borrowed(match kind {
        "precision" => "precision",
        "comparison_direction" => "comparison_direction",
        "comparison_type" => "comparison_type",
        "fft_type" => "fft_type",
        other => return Cow::Owned(other.to_string()),
    })
}
