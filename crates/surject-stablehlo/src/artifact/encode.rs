//! Attributes and types as VHLO, or as MLIR itself, encodes them: the other direction of `attributes` and `types`.

use std::borrow::Cow;
use std::sync::Arc;

use super::pool::{Piece, Pieces, Pool};
use super::types::SCALARS;
use super::{elements, enums};
use crate::attr::{Attribute, Attributes};
use crate::dense::DenseElements;
use crate::quantized::QuantizedType;
use crate::types::{Dim, ElementClass, ElementType, FunctionType, TensorType, Type, bounds_text};

/// Whose encoding is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Vhlo,
    Builtin,
}

/// An attribute or type that cannot be written: what it is.
pub(super) type Result<T> = std::result::Result<T, String>;

/// The number of an attribute or type, in a list or on its own.
fn attribute(pieces: &mut Pieces, id: usize) {
    pieces.push(Piece::Attribute(id));
}

impl Pool {
    /// An attribute in the encoding of VHLO; as MLIR's own where VHLO has none.
    pub fn vhlo(&mut self, value: &Attribute) -> Result<usize> {
        let mut p = Pieces::default();
        match value {
            Attribute::Bool(value) => {
                p.varint(2);
                p.varint(u64::from(*value));
            }
            Attribute::Int { value, ty: ElementType::I1 } => return self.vhlo(&Attribute::Bool(*value != 0)),
            Attribute::Int { value, ty } => self.number(&mut p, 9, ty, *value as u64, Dialect::Vhlo)?,
            Attribute::Float { bits, ty } => self.number(&mut p, 8, ty, *bits, Dialect::Vhlo)?,
            Attribute::String(text) => {
                p.varint(14);
                p.varint(self.string(text.as_bytes()));
            }
            Attribute::Bytes(bytes) => {
                p.varint(14);
                p.varint(self.string(bytes));
            }
            // A symbol is a string in VHLO.
            Attribute::Symbol(path) if path.len() == 1 => {
                p.varint(14);
                p.varint(self.string(path[0].as_bytes()));
            }
            Attribute::Array(items) => {
                p.varint(1);
                p.varint(items.len() as u64);
                for item in items {
                    attribute(&mut p, self.vhlo(item)?);
                }
            }
            Attribute::Dict(entries) => {
                p.varint(6);
                p.varint(entries.len() as u64);
                for (name, value) in entries.iter() {
                    attribute(&mut p, self.vhlo(&Attribute::String(name.to_string()))?);
                    attribute(&mut p, self.vhlo(value)?);
                }
            }
            Attribute::I64s(values) => {
                if let Some(known) = self.known.lists.get(values) {
                    let known = *known;
                    return Ok(self.again(known));
                }
                let id = self.vhlo(&Attribute::Dense(DenseElements::i64s(values).canonical()))?;
                self.known.lists.insert(values.clone(), id);
                return Ok(id);
            }
            Attribute::Bools(values) => return self.vhlo(&Attribute::Dense(booleans(values))),
            Attribute::Dense(elements) => self.tensor(&mut p, 15, elements, Dialect::Vhlo)?,
            Attribute::Type(ty) => {
                p.varint(17);
                p.push(Piece::Type(self.ty_of(ty, Dialect::Vhlo)?));
            }
            Attribute::Enum { kind, value } => {
                let numbers = enums::by_kind(kind);
                let number = numbers.and_then(|n| Some((n.code, n.number(value)?)));
                let (code, number) = number.ok_or_else(|| format!("{kind} {value}"))?;
                p.varint(code);
                p.varint(number);
            }
            Attribute::OutputOperandAlias(alias) => {
                p.varint(10);
                p.signed_list(&alias.output_tuple_indices);
                p.signed(alias.operand_index);
                p.signed_list(&alias.operand_tuple_indices);
            }
            Attribute::ResultAccuracy(accuracy) => {
                p.varint(20);
                p.signed(accuracy.atol.to_bits() as i64);
                p.signed(accuracy.rtol.to_bits() as i64);
                p.signed(accuracy.ulps);
                let mode = Attribute::enumeration("result_accuracy_mode", accuracy.mode.clone());
                attribute(&mut p, self.vhlo(&mode)?);
            }
            Attribute::Opaque(text) if bounds_text(text).is_some() => {
                p.varint(18);
                p.signed_list(&bounds(text).ok_or_else(|| text.clone())?);
            }
            Attribute::Opaque(text) if text.starts_with("#stablehlo") => {
                let id = super::mesh::encode(self, text)?;
                return id.ok_or_else(|| text.clone());
            }
            Attribute::Unit
            | Attribute::Symbol(_)
            | Attribute::DenseArray { .. }
            | Attribute::Opaque(_)
            | Attribute::ChannelHandle(_)
            | Attribute::Dot(_)
            | Attribute::Conv(_)
            | Attribute::Gather(_)
            | Attribute::Scatter(_)
            | Attribute::DotAlgorithm(_) => return self.builtin(value),
        }
        Ok(self.attribute("vhlo", p))
    }

    /// An attribute in MLIR's own encoding.
    pub fn builtin(&mut self, value: &Attribute) -> Result<usize> {
        let mut p = Pieces::default();
        match value {
            Attribute::Array(items) => {
                p.varint(0);
                p.varint(items.len() as u64);
                for item in items {
                    attribute(&mut p, self.builtin(item)?);
                }
            }
            Attribute::Dict(entries) => return self.dictionary(entries, Dialect::Builtin),
            Attribute::String(text) => {
                p.varint(2);
                p.varint(self.string(text.as_bytes()));
            }
            Attribute::Bytes(bytes) => {
                p.varint(2);
                p.varint(self.string(bytes));
            }
            Attribute::Symbol(path) => {
                let (root, nested) = path.split_first().ok_or("an empty symbol")?;
                p.varint(if nested.is_empty() { 4 } else { 5 });
                attribute(&mut p, self.builtin(&Attribute::String(root.clone()))?);
                if !nested.is_empty() {
                    p.varint(nested.len() as u64);
                    for name in nested {
                        attribute(&mut p, self.builtin(&Attribute::symbol(name.clone()))?);
                    }
                }
            }
            Attribute::Type(ty) => {
                p.varint(6);
                p.push(Piece::Type(self.ty_of(ty, Dialect::Builtin)?));
            }
            Attribute::Unit => p.varint(7),
            Attribute::Bool(value) => {
                self.number(&mut p, 8, &ElementType::I1, u64::from(*value), Dialect::Builtin)?;
            }
            Attribute::Int { value, ty } => self.number(&mut p, 8, ty, *value as u64, Dialect::Builtin)?,
            Attribute::Float { bits, ty } => self.number(&mut p, 9, ty, *bits, Dialect::Builtin)?,
            Attribute::I64s(values) => self.array(&mut p, &ElementType::I64, values)?,
            Attribute::Bools(values) => {
                let values: Vec<i64> = values.iter().map(|v| i64::from(*v)).collect();
                self.array(&mut p, &ElementType::I1, &values)?;
            }
            Attribute::DenseArray { element, values } => self.array(&mut p, element, values)?,
            Attribute::Dense(elements) => self.tensor(&mut p, 18, elements, Dialect::Builtin)?,
            other => {
                // Everything else is text, which the dialect of its name reads.
                let text = super::attributes::printed(other);
                let name = text.strip_prefix('#').and_then(|t| t.split(['.', '<']).next());
                return match name {
                    Some(dialect) if !dialect.is_empty() => Ok(self.text_attribute(dialect, &text)),
                    _ => Err(text),
                };
            }
        }
        Ok(self.attribute("builtin", p))
    }

    /// The dictionary of an operation: names as MLIR's strings, values in the given encoding.
    pub fn dictionary(&mut self, entries: &Attributes, dialect: Dialect) -> Result<usize> {
        let mut p = Pieces::default();
        p.varint(1);
        p.varint(entries.len() as u64);
        for (name, value) in entries.iter() {
            attribute(&mut p, self.builtin(&Attribute::String(name.to_string()))?);
            let value = match dialect {
                Dialect::Vhlo => self.vhlo(value),
                Dialect::Builtin => self.builtin(value),
            };
            attribute(&mut p, value.map_err(|what| format!("attribute '{name}', {what}"))?);
        }
        Ok(self.attribute("builtin", p))
    }

    fn number(
        &mut self,
        p: &mut Pieces,
        code: u64,
        ty: &ElementType,
        value: u64,
        dialect: Dialect,
    ) -> Result<()> {
        let bits = ty.bits().ok_or_else(|| format!("a number of type {ty}"))?;
        p.varint(code);
        p.push(Piece::Type(self.element(ty, dialect)?));
        p.known_width(bits, value);
        Ok(())
    }

    fn tensor(
        &mut self,
        p: &mut Pieces,
        code: u64,
        elements: &DenseElements,
        dialect: Dialect,
    ) -> Result<()> {
        p.varint(code);
        p.push(Piece::Type(self.tensor_type(&elements.ty, dialect)?));
        match elements::pack(elements) {
            Cow::Owned(bytes) => p.blob(bytes.into()),
            Cow::Borrowed(bytes) => p.blob(Arc::from(bytes)),
        }
        Ok(())
    }

    /// `array<T: …>`
    fn array(&mut self, p: &mut Pieces, element: &ElementType, values: &[i64]) -> Result<()> {
        let width = element.bytes().filter(|w| *w <= 8).ok_or_else(|| format!("an array of {element}"))?;
        p.varint(17);
        p.push(Piece::Type(self.element(element, Dialect::Builtin)?));
        p.varint(values.len() as u64);
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes().into_iter().take(width)).collect();
        p.blob(bytes.into());
        Ok(())
    }

    /// A type.
    pub fn ty_of(&mut self, ty: &Type, dialect: Dialect) -> Result<usize> {
        let vhlo = dialect == Dialect::Vhlo;
        let mut p = Pieces::default();
        match ty {
            Type::Tensor(tensor) => {
                if let Some(known) = self.known.tensors(dialect).get(tensor) {
                    let known = *known;
                    return Ok(self.type_again(known));
                }
                let id = self.tensor_type(tensor, dialect)?;
                self.known.tensors(dialect).insert(tensor.clone(), id);
                return Ok(id);
            }
            Type::Scalar(element) => return self.element(element, dialect),
            Type::Tuple(parts) => {
                p.varint(if vhlo { 23 } else { 15 });
                self.type_list(&mut p, parts, dialect)?;
            }
            Type::Function(function) => {
                let FunctionType { inputs, results } = function.as_ref();
                p.varint(if vhlo { 8 } else { 2 });
                self.type_list(&mut p, inputs, dialect)?;
                self.type_list(&mut p, results, dialect)?;
            }
            Type::None => p.varint(if vhlo { 33 } else { 12 }),
            Type::Token if vhlo => p.varint(22),
            Type::Token => {
                p.varint(0);
                return Ok(self.ty("stablehlo", p));
            }
            Type::Future(parts) if vhlo => {
                p.varint(42);
                self.type_list(&mut p, parts, dialect)?;
            }
            Type::Opaque(text) => return self.opaque_type(text, dialect),
            other => return Err(format!("the type {other}")),
        }
        Ok(self.ty(if vhlo { "vhlo" } else { "builtin" }, p))
    }

    /// A list of types.
    pub fn type_list(&mut self, p: &mut Pieces, types: &[Type], dialect: Dialect) -> Result<()> {
        p.varint(types.len() as u64);
        for ty in types {
            p.push(Piece::Type(self.ty_of(ty, dialect)?));
        }
        Ok(())
    }

    fn opaque_type(&mut self, text: &str, dialect: Dialect) -> Result<usize> {
        let vhlo = dialect == Dialect::Vhlo;
        let wrong = || format!("the type {text}");
        let mut p = Pieces::default();
        if let Some(element) = text.strip_prefix("tensor<*x").and_then(|t| t.strip_suffix('>')) {
            let element = ElementType::from_keyword(element).ok_or_else(wrong)?;
            p.varint(if vhlo { 25 } else { 18 });
            p.push(Piece::Type(self.element(&element, dialect)?));
        } else if let Some(inside) = text.strip_prefix("memref<").filter(|_| vhlo) {
            let ty = crate::parse::parse_type(&format!("tensor<{inside}")).map_err(|_| wrong())?;
            let Type::Tensor(tensor) = ty else { return Err(wrong()) };
            p.varint(41);
            p.signed_list(&extents(&tensor));
            p.push(Piece::Type(self.element(&tensor.element, dialect)?));
        } else if text == "!shape.witness" && vhlo {
            p.varint(26);
        } else {
            return Err(wrong());
        }
        Ok(self.ty(if vhlo { "vhlo" } else { "builtin" }, p))
    }

    pub fn tensor_type(&mut self, tensor: &TensorType, dialect: Dialect) -> Result<usize> {
        let vhlo = dialect == Dialect::Vhlo;
        let mut p = Pieces::default();
        match &tensor.encoding {
            None => p.varint(if vhlo { 20 } else { 13 }),
            Some(text) => {
                p.varint(if vhlo { 21 } else { 14 });
                let encoding = Attribute::Opaque(text.clone());
                attribute(&mut p, if vhlo { self.vhlo(&encoding)? } else { self.builtin(&encoding)? });
            }
        }
        p.signed_list(&extents(tensor));
        p.push(Piece::Type(self.element(&tensor.element, dialect)?));
        Ok(self.ty(if vhlo { "vhlo" } else { "builtin" }, p))
    }

    fn element(&mut self, element: &ElementType, dialect: Dialect) -> Result<usize> {
        let mut p = Pieces::default();
        if let Some(part) = element.is_complex().then(|| element.real_part()) {
            p.varint(if dialect == Dialect::Vhlo { 1 } else { 9 });
            p.push(Piece::Type(self.element(&part, dialect)?));
        } else if dialect == Dialect::Vhlo {
            match (SCALARS.iter().find(|row| row.1 == *element), element) {
                (Some((code, ..)), _) => p.varint(*code),
                (None, ElementType::Quantized(quantized)) => self.quantized(&mut p, quantized)?,
                _ => return Err(format!("the type {element}")),
            }
        } else {
            let code = match element {
                ElementType::Index => 1,
                ElementType::BF16 => 3,
                ElementType::F16 => 4,
                ElementType::F32 => 5,
                ElementType::F64 => 6,
                other => {
                    let bits = other.bits().filter(|_| other.is_integer());
                    let bits = bits.ok_or_else(|| format!("the type {element}"))?;
                    let sign = if other.class() == ElementClass::Unsigned { 2 } else { 0 };
                    p.varint(0);
                    p.varint(u64::from(bits) << 2 | sign);
                    return Ok(self.ty("builtin", p));
                }
            };
            p.varint(code);
        }
        Ok(self.ty(if dialect == Dialect::Vhlo { "vhlo" } else { "builtin" }, p))
    }

    fn quantized(&mut self, p: &mut Pieces, quantized: &QuantizedType) -> Result<()> {
        p.varint(if quantized.is_per_axis() { 30 } else { 24 });
        // The only flag says that the storage type is signed.
        p.varint(u64::from(quantized.storage.class() != ElementClass::Unsigned));
        p.push(Piece::Type(self.element(&signless(&quantized.storage), Dialect::Vhlo)?));
        p.push(Piece::Type(self.element(&quantized.expressed, Dialect::Vhlo)?));
        let scale = |p: &mut Pieces, scale: &f64| p.signed(scale.to_bits() as i64);
        match quantized.dimension {
            Some(axis) => {
                p.varint(axis as u64);
                p.signed(quantized.storage_min);
                p.signed(quantized.storage_max);
                p.varint(quantized.scales.len() as u64);
                quantized.scales.iter().for_each(|s| scale(p, s));
                p.signed_list(&quantized.zero_points);
            }
            None => {
                quantized.scales.iter().take(1).for_each(|s| scale(p, s));
                quantized.zero_points.iter().take(1).for_each(|z| p.signed(*z));
                p.signed(quantized.storage_min);
                p.signed(quantized.storage_max);
            }
        }
        Ok(())
    }
}

/// The storage type of a quantized type says nothing of its sign: the flag does.
fn signless(element: &ElementType) -> ElementType {
    let keyword = element.keyword();
    let signless = keyword.strip_prefix('u').and_then(ElementType::from_keyword);
    signless.unwrap_or_else(|| element.clone())
}

fn extents(tensor: &TensorType) -> Vec<i64> {
    let extent = |dim: &Dim| match dim {
        Dim::Static(n) => *n,
        Dim::Dynamic => i64::MIN,
    };
    tensor.shape.iter().map(extent).collect()
}

/// The numbers of `#stablehlo.bounds<4, ?>`.
fn bounds(text: &str) -> Option<Vec<i64>> {
    let inside = bounds_text(text)?.trim();
    if inside.is_empty() {
        return Some(Vec::new());
    }
    let bound = |item: &str| match item.trim() {
        "?" => Some(i64::MIN),
        number => number.parse().ok(),
    };
    inside.split(',').map(bound).collect()
}

/// Booleans as elements.
fn booleans(values: &[bool]) -> DenseElements {
    let bytes: Vec<u8> = values.iter().map(|v| u8::from(*v)).collect();
    let ty = TensorType::new(&[values.len() as i64], ElementType::I1);
    DenseElements { ty: ty.into(), data: crate::dense::DenseData::Raw(bytes.into()) }.canonical()
}
