//! The grammar of `dense<…>` and `dense_resource<…>`.

use std::sync::Arc;

use super::Parser;
use super::attrs::{fits_integer, float_bits};
use super::cursor::{Number, Result, parse_int};
use crate::attr::Attribute;
use crate::dense::{DenseData, DenseElements};
use crate::diagnostic::{Diagnostic, Span, codes};
use crate::types::{ElementType, TensorType, Type};

impl<'s> Parser<'s> {
    /// `dense<…> : T` or `dense_resource<…> : T`, with its type. Elements of types whose layout is not known
    /// (strings, odd integers) are kept as text.
    pub(super) fn elements(&mut self) -> Result<(Attribute, Type)> {
        self.c.ws();
        let start = self.c.pos;
        let word = self.c.word("'dense<…>'")?;
        if word == "dense_resource" {
            return self.resource_elements(start);
        }
        if word != "dense" {
            self.c.pos = start;
            return Err(self.c.unexpected("'dense<…>'"));
        }
        // The type, which says how to read the elements, comes after them.
        self.c.expect("<")?;
        let body = self.c.pos;
        self.skip_elements()?;
        let body_end = self.c.pos;
        self.c.expect(">")?;
        self.c.expect(":")?;
        self.c.ws();
        let type_start = self.c.pos;
        let ty = self.ty()?;
        let end = self.c.pos;
        let Type::Tensor(tensor) = &ty else {
            if matches!(ty, Type::Opaque(_)) && !self.c.slice(type_start, end).starts_with("tensor<*") {
                return Ok((Attribute::Opaque(self.c.slice(start, end).to_string()), ty));
            }
            return Err(Diagnostic::new(
                codes::DENSE,
                Span::new(type_start, end),
                format!("dense elements of type {ty}"),
            )
            .expected("a tensor type"));
        };
        let count = countable(tensor, Span::new(type_start, end))?;
        if tensor.element.bytes().is_none() {
            // Elements of a type of another dialect are strings.
            let first =
                self.c.slice(body, body_end).trim_start_matches(|c: char| c == '[' || c.is_whitespace());
            if tensor.element.keyword().starts_with('!') && !(first.is_empty() || first.starts_with('"')) {
                let span = Span::new(body, body_end);
                return Err(Diagnostic::new(
                    codes::DENSE,
                    span,
                    format!("elements that are no strings for {ty}"),
                )
                .expected("elements of an integer, float or complex type, or strings"));
            }
            return Ok((Attribute::Opaque(self.c.slice(start, end).to_string()), ty));
        }
        self.c.pos = body;
        let data = self.elements_of(tensor, count, body_end)?;
        self.c.pos = end;
        let elements = DenseElements { ty: TensorType { encoding: None, ..(**tensor).clone() }.into(), data }
            .canonical();
        Ok((Attribute::Dense(elements), ty))
    }

    /// Moves past the elements to the closing `>`, which no element holds outside strings.
    fn skip_elements(&mut self) -> Result<()> {
        let start = self.c.pos;
        loop {
            match self.c.byte() {
                b'"' => {
                    self.c.raw_string()?;
                }
                b'>' => return Ok(()),
                0 if self.c.at_end() => {
                    return Err(Diagnostic::new(
                        codes::TRUNCATED,
                        Span::new(start, start),
                        "elements that do not end",
                    )
                    .expected("'>' after the elements"));
                }
                _ => self.c.pos += 1,
            }
        }
    }

    fn elements_of(&mut self, ty: &TensorType, count: u64, end: usize) -> Result<DenseData> {
        match self.c.peek() {
            b'"' => {
                let start = self.c.pos;
                let hex = self.c.raw_string()?;
                if self.c.peek() != b'>' {
                    return Err(self.c.unexpected("'>'"));
                }
                blob(hex, ty, count, Span::new(start, start + 1))
            }
            b'[' => self.element_list(ty, count, end),
            b'>' if count == 0 => Ok(DenseData::Raw(Arc::from([]))),
            b'>' => Err(Diagnostic::new(
                codes::DENSE,
                Span::new(self.c.pos, end),
                format!("no elements for {ty}"),
            )
            .expected(format!("{count} elements"))),
            _ => {
                let mut bytes = Vec::with_capacity(16);
                self.element(ty, &mut bytes)?;
                if self.c.peek() != b'>' {
                    return Err(self.c.unexpected("'>'"));
                }
                Ok(DenseData::Splat(bytes.into()))
            }
        }
    }

    /// Nested lists that match the shape.
    fn element_list(&mut self, ty: &TensorType, count: u64, end: usize) -> Result<DenseData> {
        let rank = ty.rank();
        let width = ty.element.bytes().unwrap_or(1);
        // The text bounds the elements, whatever the type claims.
        let room = (count as usize).min(end.saturating_sub(self.c.pos)).saturating_mul(width);
        let mut bytes = Vec::with_capacity(room);
        let mut counts: Vec<i64> = Vec::with_capacity(rank);
        loop {
            if self.c.peek() == b'[' {
                if counts.len() == rank {
                    return Err(
                        self.shape_error(ty, format!("lists nested deeper than the {rank} dimensions"))
                    );
                }
                counts.push(0);
                self.c.pos += 1;
                if self.c.peek() != b']' {
                    continue;
                }
            } else if counts.len() < rank {
                return Err(self.shape_error(ty, format!("an element in a list of depth {}", counts.len())));
            } else {
                self.element(ty, &mut bytes)?;
                if let Some(last) = counts.last_mut() {
                    *last += 1;
                }
            }
            // Close as many lists as end here.
            loop {
                if self.c.peek() == b',' {
                    self.c.pos += 1;
                    break;
                }
                if self.c.byte() != b']' {
                    return Err(self.c.unexpected("',' or ']'"));
                }
                let depth = counts.len() - 1;
                let (found, wanted) = (counts[depth], ty.shape[depth].known().unwrap_or(0));
                if found != wanted {
                    return Err(self
                        .shape_error(ty, format!("{found} entries in dimension {depth} of size {wanted}")));
                }
                // An empty list says nothing of the dimensions inside: no elements of rank 2 are `<>`.
                if found == 0 && depth + 1 < rank {
                    return Err(self.shape_error(ty, format!("an empty list of depth {depth}")));
                }
                self.c.pos += 1;
                counts.pop();
                match counts.last_mut() {
                    Some(outer) => *outer += 1,
                    None if self.c.peek() == b'>' => return Ok(DenseData::Raw(bytes.into())),
                    None => return Err(self.c.unexpected("'>'")),
                }
            }
        }
    }

    fn shape_error(&mut self, ty: &TensorType, message: String) -> Diagnostic {
        self.c.ws();
        Diagnostic::new(codes::DENSE, Span::new(self.c.pos, self.c.pos + 1), message)
            .expected(format!("nested lists of the shape of {ty}"))
    }

    /// One element as little-endian bytes.
    fn element(&mut self, ty: &TensorType, out: &mut Vec<u8>) -> Result<()> {
        let element = &ty.element;
        if element.is_complex() {
            let part = TensorType { shape: Vec::new(), element: element.real_part(), encoding: None };
            self.c.expect("(")?;
            self.element(&part, out)?;
            self.c.expect(",")?;
            self.element(&part, out)?;
            return self.c.expect(")");
        }
        let width = element.bytes().unwrap_or(1);
        let value: u64 = match self.c.peek() {
            b't' if *element == ElementType::I1 && self.c.eat_word("true") => 1,
            b'f' if *element == ElementType::I1 && self.c.eat_word("false") => 0,
            _ => {
                let number =
                    self.c.number().map_err(|e| e.expected(format!("an element of type {element}")))?;
                number_bits(&number, element)?
            }
        };
        out.extend_from_slice(&value.to_le_bytes()[..width]);
        Ok(())
    }

    /// `dense_resource<key> : T`
    fn resource_elements(&mut self, start: usize) -> Result<(Attribute, Type)> {
        self.c.expect("<")?;
        let key_start = self.c.pos;
        let key = self.resource_key()?;
        let key_span = Span::new(key_start, self.c.pos);
        self.c.expect(">")?;
        self.c.expect(":")?;
        let ty = self.ty()?;
        let end = self.c.pos;
        let Type::Tensor(tensor) = &ty else {
            return Ok((Attribute::Opaque(self.c.slice(start, end).to_string()), ty));
        };
        let count = countable(tensor, Span::new(start, end))?;
        let hex = self.resource(&key, key_span)?;
        // The first four bytes are the alignment.
        let data = hex.strip_prefix("0x").and_then(|digits| digits.get(8..)).unwrap_or("");
        let data = blob(&format!("0x{data}"), tensor, count, key_span)?;
        let elements = DenseElements { ty: TensorType { encoding: None, ..(**tensor).clone() }.into(), data }
            .canonical();
        Ok((Attribute::Dense(elements), ty))
    }
}

/// Number of elements of a type that elements may have.
fn countable(ty: &TensorType, span: Span) -> Result<u64> {
    ty.num_elements().ok_or_else(|| match ty.static_shape() {
        None => Diagnostic::new(codes::DENSE, span, format!("dense elements of the dynamic type {ty}"))
            .expected("a static shape"),
        Some(_) => {
            Diagnostic::new(codes::HUGE, span, format!("the number of elements of {ty} exceeds 64 bits"))
        }
    })
}

/// Bit pattern of a number as an element of a type.
fn number_bits(number: &Number<'_>, element: &ElementType) -> Result<u64> {
    let wrong = |what: &str| {
        Diagnostic::new(codes::NUMBER, number.span, format!("'{}' {what} {element}", number.text))
    };
    if element.is_float() {
        return float_bits(number, element);
    }
    if number.is_float {
        return Err(wrong("is no").expected("an integer"));
    }
    let value =
        parse_int(number.text).filter(|v| fits_integer(*v, element)).ok_or_else(|| wrong("does not fit"))?;
    if *element == ElementType::I1 {
        return Ok(u64::from(value != 0));
    }
    Ok(extend(value as u64, element))
}

/// Integers below 8 bits are sign-extended in memory where the type is signed.
fn extend(bits: u64, element: &ElementType) -> u64 {
    match element {
        ElementType::I2 | ElementType::I4 => {
            let shift = 64 - element.bits().unwrap_or(64);
            ((bits << shift) as i64 >> shift) as u64
        }
        ElementType::U2 => bits & 0x3,
        ElementType::U4 => bits & 0xF,
        _ => bits,
    }
}

/// Elements from a string `0x…` of little-endian bytes; one element is a splat, `i1` may be packed.
fn blob(hex: &str, ty: &TensorType, count: u64, span: Span) -> Result<DenseData> {
    let malformed = || {
        Diagnostic::new(codes::DENSE, span, "a blob that is not hexadecimal")
            .expected("\"0x\" and an even number of hexadecimal digits")
    };
    let digits = hex.strip_prefix("0x").ok_or_else(malformed)?.as_bytes();
    let mut bytes = decode_hex(digits).ok_or_else(malformed)?;
    let width = ty.element.bytes().unwrap_or(1);
    let packed = count.div_ceil(8);
    if ty.element == ElementType::I1 {
        if bytes.len() as u64 == count {
            bytes.iter_mut().for_each(|b| *b = u8::from(*b != 0));
        } else if bytes.len() == 1 && count > 8 {
            return Ok(DenseData::Splat(Arc::from([u8::from(bytes[0] != 0)])));
        } else if bytes.len() as u64 == packed {
            bytes = (0..count as usize).map(|i| bytes[i / 8] >> (i % 8) & 1).collect();
        }
    } else if ty.element.bits().is_some_and(|bits| bits < 8) && ty.element.is_integer() {
        bytes.iter_mut().for_each(|b| *b = extend(u64::from(*b), &ty.element) as u8);
    }
    if bytes.len() == width && count > 1 {
        return Ok(DenseData::Splat(bytes.into()));
    }
    if Some(bytes.len() as u64) != count.checked_mul(width as u64) {
        return Err(Diagnostic::new(codes::DENSE, span, format!("a blob of {} bytes for {ty}", bytes.len()))
            .expected(format!("{count} elements of {width} bytes, or one element for all")));
    }
    Ok(DenseData::Raw(bytes.into()))
}

fn decode_hex(digits: &[u8]) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let mut out = Vec::with_capacity(digits.len() / 2);
    // The high nibble of an entry is set for bytes that are no digit, so that one test at the end suffices.
    let mut wrong = 0u8;
    for pair in digits.chunks_exact(2) {
        let (high, low) = (NIBBLE[pair[0] as usize], NIBBLE[pair[1] as usize]);
        wrong |= high | low;
        out.push(high << 4 | (low & 0xF));
    }
    (wrong & 0xF0 == 0).then_some(out)
}

const NIBBLE: [u8; 256] = {
    let mut table = [0xF0; 256];
    let mut i = 0;
    while i < 16 {
        table[b"0123456789abcdef"[i] as usize] = i as u8;
        table[b"0123456789ABCDEF"[i] as usize] = i as u8;
        i += 1;
    }
    table
};
