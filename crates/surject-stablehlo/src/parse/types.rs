//! The grammar of types.

use std::sync::Arc;

use smallvec::smallvec;

use super::cursor::{Result, is_word_start};
use super::{Parser, TypeVec};
use crate::diagnostic::{Diagnostic, Span, codes};
use crate::quantized::QuantizedType;
use crate::types::{Dim, ElementType, FunctionType, TensorType, Type, bounds_text};

/// Texts of tensor types of more bytes are read each time.
const MAX_KNOWN: usize = 96;

/// No program has tensors of nearly so many dimensions.
const MAX_RANK: usize = 256;

impl<'s> Parser<'s> {
    /// Any type.
    pub(super) fn ty(&mut self) -> Result<Type> {
        match self.c.peek() {
            b't' if self.c.looking_at("tensor<") => self.known_tensor_type(),
            b'(' => self.function_type().map(|f| Type::Function(Arc::new(f))),
            b'!' => self.dialect_type(),
            byte if is_word_start(byte) => self.builtin_type(),
            _ => Err(self.c.unexpected("a type, for example 'tensor<2x3xf32>'")),
        }
    }

    /// A tensor type, read once for each text that it has.
    fn known_tensor_type(&mut self) -> Result<Type> {
        let start = self.c.pos;
        let text = self.c.through(b'>', MAX_KNOWN);
        if let Some(ty) = self.tensors.get(text) {
            self.c.pos += text.len();
            return Ok(ty.clone());
        }
        self.c.pos += "tensor".len();
        let ty = self.tensor_type(start)?;
        // Where the first bracket does not close the type, the text is only a part of it.
        if self.c.pos == start + text.len() {
            self.tensors.insert(text, ty.clone());
        }
        Ok(ty)
    }

    /// `(A, B) -> C` or `(A, B) -> (C, D)`
    pub(super) fn function_type(&mut self) -> Result<FunctionType> {
        let (inputs, results) = self.signature()?;
        Ok(FunctionType { inputs: inputs.into_vec(), results: results.into_vec() })
    }

    /// As [`Parser::function_type`]: inputs and results.
    pub(super) fn signature(&mut self) -> Result<(TypeVec, TypeVec)> {
        self.enter()?;
        let inputs = self.type_list_in_parens()?;
        self.c.expect("->")?;
        let results = self.result_types()?;
        self.leave();
        Ok((inputs, results))
    }

    /// What follows `->`: one type, or several in parentheses.
    pub(super) fn result_types(&mut self) -> Result<TypeVec> {
        if self.c.peek() == b'(' { self.type_list_in_parens() } else { Ok(smallvec![self.ty()?]) }
    }

    fn type_list_in_parens(&mut self) -> Result<TypeVec> {
        self.c.expect("(")?;
        let mut types = TypeVec::new();
        if self.c.eat(")") {
            return Ok(types);
        }
        loop {
            types.push(self.ty()?);
            if !self.c.eat(",") {
                break;
            }
        }
        if !self.c.eat(")") {
            return Err(self.c.unexpected("',' or ')'"));
        }
        Ok(types)
    }

    /// Types separated by commas, at least one.
    pub(super) fn type_list(&mut self) -> Result<TypeVec> {
        let mut types: TypeVec = smallvec![self.ty()?];
        while self.c.eat(",") {
            types.push(self.ty()?);
        }
        Ok(types)
    }

    fn builtin_type(&mut self) -> Result<Type> {
        let start = self.c.pos;
        let word = self.c.word("a type")?;
        match word {
            "none" => Ok(Type::None),
            "complex" => self.complex(start).map(Type::Scalar),
            "tuple" => self.tuple_type(),
            // A blank before the bracket; the short way is above.
            "tensor" => self.tensor_type(start),
            "memref" | "vector" if self.c.byte() == b'<' => {
                self.c.balanced()?;
                Ok(Type::Opaque(self.c.slice(start, self.c.pos).into()))
            }
            _ => match ElementType::from_keyword(word) {
                Some(element) => Ok(Type::Scalar(element)),
                None if is_odd_integer(word) => Ok(Type::Scalar(ElementType::Other(word.to_string()))),
                None => Err(unknown_type(word, start)),
            },
        }
    }

    fn tuple_type(&mut self) -> Result<Type> {
        self.parts().map(|parts| Type::Tuple(parts.into_vec().into()))
    }

    /// `<T, U>`
    fn parts(&mut self) -> Result<TypeVec> {
        self.enter()?;
        self.c.expect("<")?;
        let parts = if self.c.peek() == b'>' { TypeVec::new() } else { self.type_list()? };
        self.c.expect(">")?;
        self.leave();
        Ok(parts)
    }

    /// `<f32>` after `complex`, whose offset is given.
    fn complex(&mut self, start: usize) -> Result<ElementType> {
        self.c.expect("<")?;
        let part = self.element_type()?;
        self.c.expect(">")?;
        // MLIR has more complex types than StableHLO, whose operations refuse them.
        let known = match &part {
            ElementType::Other(name) => is_odd_integer(name),
            ElementType::Index => false,
            part => part.is_float() || part.is_integer(),
        };
        let other = known.then(|| ElementType::Other(format!("complex<{part}>")));
        part.complex_of().or(other).ok_or_else(|| {
            let span = Span::new(start, self.c.pos);
            Diagnostic::new(codes::TYPE, span, format!("complex numbers of {part}"))
                .expected("complex numbers of integers or floats")
        })
    }

    /// `!alias`, `!stablehlo.token` or the text of a type of another dialect.
    fn dialect_type(&mut self) -> Result<Type> {
        let start = self.c.pos;
        self.c.expect("!")?;
        let name = self.c.suffix("the name of a type or type alias")?;
        if name == "stablehlo.token" {
            return Ok(Type::Token);
        }
        if name == "stablehlo.future" && self.c.byte() == b'<' {
            return self.parts().map(|parts| Type::Future(parts.into_vec().into()));
        }
        if name.starts_with("stablehlo.") || name.starts_with("chlo.") {
            let span = Span::new(start, self.c.pos);
            return Err(Diagnostic::new(codes::TYPE, span, format!("unknown type '!{name}'"))
                .expected("!stablehlo.token or !stablehlo.future<…>"));
        }
        if self.c.byte() == b'<' {
            self.c.balanced()?;
        } else if !name.contains('.') {
            return self.type_alias(self.c.slice(start, self.c.pos), Span::new(start, self.c.pos));
        }
        Ok(Type::Opaque(self.c.slice(start, self.c.pos).into()))
    }

    /// Type of an element of a tensor.
    fn element_type(&mut self) -> Result<ElementType> {
        self.c.ws();
        let start = self.c.pos;
        if self.c.byte() == b'!' {
            let text = match self.dialect_type()? {
                Type::Scalar(element) => return Ok(element),
                other => other.to_string(),
            };
            return match QuantizedType::parse(&text) {
                Ok(Some(quantized)) => Ok(ElementType::Quantized(Arc::new(quantized))),
                Ok(None) => Ok(ElementType::Other(text)),
                Err(message) => {
                    let span = Span::new(start, self.c.pos);
                    Err(Diagnostic::new(codes::TYPE, span, format!("a quantized type: {message}")).expected(
                        "for example '!quant.uniform<i8:f32, 0.5:-3>' or '!quant.uniform<i8:f32:1, {0.5, 2.0:7}>'",
                    ))
                }
            };
        }
        let word = self.c.word("an element type, for example 'f32'")?;
        match word {
            "f32" => Ok(ElementType::F32),
            "i32" => Ok(ElementType::I32),
            "i1" => Ok(ElementType::I1),
            "complex" => {
                self.enter()?;
                let complex = self.complex(start)?;
                self.leave();
                Ok(complex)
            }
            _ => match ElementType::from_keyword(word) {
                Some(element) => Ok(element),
                None if is_odd_integer(word) => Ok(ElementType::Other(word.to_string())),
                None => Err(unknown_type(word, start)),
            },
        }
    }

    /// The rest of a tensor type, whose keyword at the offset `start` is read.
    fn tensor_type(&mut self, start: usize) -> Result<Type> {
        self.c.expect("<")?;
        let open = self.c.pos - 1;
        let mut shape = Vec::new();
        loop {
            match self.c.peek() {
                b'?' => {
                    self.c.pos += 1;
                    shape.push(Dim::Dynamic);
                }
                b'0'..=b'9' => shape.push(Dim::Static(self.extent()?)),
                b'*' => {
                    // Unranked: no operation takes it, so its text is all that is kept.
                    self.c.pos = open;
                    self.c.balanced()?;
                    return Ok(Type::Opaque(self.c.slice(start, self.c.pos).into()));
                }
                _ => break,
            }
            self.c.ws();
            if self.c.byte() != b'x' {
                return Err(self.c.unexpected("'x' between extents"));
            }
            self.c.pos += 1;
            if shape.len() > MAX_RANK {
                let span = Span::new(start, self.c.pos);
                return Err(Diagnostic::new(
                    codes::HUGE,
                    span,
                    format!("a tensor of more than {MAX_RANK} dimensions"),
                ));
            }
        }
        let element = self.element_type()?;
        // A comma may stand without an encoding.
        let encoding = match self.c.eat(",") && self.c.peek() != b'>' {
            true => Some(self.encoding(&shape)?),
            false => None,
        };
        if !self.c.eat(">") {
            return Err(self.c.unexpected("'>' to close the tensor type"));
        }
        shape.shrink_to_fit();
        let ty = TensorType { shape, element, encoding };
        if ty.num_elements().is_none() && ty.static_shape().is_some() {
            let span = Span::new(start, self.c.pos);
            return Err(Diagnostic::new(
                codes::HUGE,
                span,
                format!("the number of elements of {ty} exceeds 64 bits"),
            ));
        }
        Ok(ty.into())
    }

    fn extent(&mut self) -> Result<i64> {
        let start = self.c.pos;
        let mut value: i64 = 0;
        while self.c.byte().is_ascii_digit() {
            let digit = i64::from(self.c.byte() - b'0');
            self.c.pos += 1;
            let Some(next) = value.checked_mul(10).and_then(|v| v.checked_add(digit)) else {
                return Err(Diagnostic::new(
                    codes::HUGE,
                    Span::new(start, self.c.pos),
                    "an extent beyond 64 bits",
                ));
            };
            value = next;
        }
        Ok(value)
    }

    /// The encoding of a tensor type as text, an alias replaced by what it stands for. Bounds fit the shape.
    fn encoding(&mut self, shape: &[Dim]) -> Result<String> {
        self.c.ws();
        let start = self.c.pos;
        let text = self.encoding_text()?;
        if !is_bounds(&text) {
            return Ok(text);
        }
        match wrong_bounds(bounds_text(&text), shape) {
            Some(message) => {
                let span = Span::new(start, self.c.pos);
                Err(Diagnostic::new(codes::ATTRIBUTE, span, message)
                    .help("a bound for each dimension: a number where it is '?', and '?' everywhere else"))
            }
            // One spelling for one type.
            None if text.starts_with("#stablehlo.bounds") => {
                let bounds: Vec<&str> = bounds_text(&text).unwrap_or("").split(',').map(str::trim).collect();
                Ok(format!("#stablehlo.bounds<{}>", bounds.join(", ")))
            }
            None => Ok(text),
        }
    }

    fn encoding_text(&mut self) -> Result<String> {
        self.c.ws();
        let start = self.c.pos;
        if self.c.byte() != b'#' {
            // Any attribute may be an encoding; what it means is not known here.
            self.attribute()
                .map_err(|e| e.expected("an encoding attribute, for example '#stablehlo.bounds<4, ?>'"))?;
            return Ok(self.c.slice(start, self.c.pos).to_string());
        }
        self.c.pos += 1;
        let name = self.c.suffix("the name of an attribute")?;
        if self.c.byte() == b'<' {
            self.c.balanced()?;
        } else if !name.contains('.') {
            return self
                .alias_text(self.c.slice(start, self.c.pos), Span::new(start, self.c.pos))
                .map(str::to_string);
        }
        Ok(self.c.slice(start, self.c.pos).to_string())
    }
}

/// Whether an encoding is one that gives bounds.
fn is_bounds(encoding: &str) -> bool {
    ["#stablehlo.bounds", "#stablehlo.type_extensions"].iter().any(|name| {
        encoding.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['<', ' ']))
    })
}

/// What is wrong with the bounds `4, ?` of a shape.
fn wrong_bounds(bounds: Option<&str>, shape: &[Dim]) -> Option<String> {
    let Some(inside) = bounds.map(str::trim) else { return Some("the bounds are missing".to_string()) };
    let bounds: Vec<&str> = match inside {
        "" => Vec::new(),
        list => list.split(',').map(str::trim).collect(),
    };
    if bounds.len() != shape.len() {
        return Some(format!("{} bounds for a tensor of rank {}", bounds.len(), shape.len()));
    }
    bounds.iter().zip(shape).enumerate().find_map(|(axis, (bound, dim))| match (*bound, dim) {
        ("?", _) => None,
        (bound, _) if bound.parse::<i64>().is_err() => Some(format!("'{bound}' is no bound")),
        (bound, Dim::Static(size)) => {
            Some(format!("dimension {axis} is {size} and cannot have the bound {bound}"))
        }
        (_, Dim::Dynamic) => None,
    })
}

/// Integers of widths without a variant of their own: `i17`, `ui3`.
fn is_odd_integer(word: &str) -> bool {
    let digits =
        word.strip_prefix("ui").or_else(|| word.strip_prefix("si")).or_else(|| word.strip_prefix('i'));
    digits.is_some_and(|d| !d.is_empty() && d.len() < 8 && d.bytes().all(|b| b.is_ascii_digit()))
}

fn unknown_type(word: &str, start: usize) -> Diagnostic {
    let span = Span::new(start, start + word.len());
    Diagnostic::new(codes::TYPE, span, format!("unknown type '{word}'"))
        .expected("a type, for example 'tensor<2x3xf32>' or 'i64'")
        .help("element types are i1, i2 … i64, ui2 … ui64, f16, bf16, f32, f64, the f8/f6/f4 types and complex<f32|f64>")
}
