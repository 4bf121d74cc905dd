//! The encodings of attributes: those of MLIR's own (`builtin`), of VHLO and of CHLO.
//!
//! Sources: `BuiltinDialectBytecode.td` of MLIR, `VhloBytecode.cpp` and `ChloBytecode.cpp` of StableHLO.

use std::borrow::Cow;

use super::bytes::{Bytes, Result, malformed};
use super::decode::{Decoder, Reference, unknown};
use super::{elements, enums};
use crate::attr::{Attribute, Attributes, OutputOperandAlias, ResultAccuracy};
use crate::types::{ElementType, Type};

impl<'b> Decoder<'b> {
    pub(super) fn builtin_attribute(&mut self, bytes: &mut Bytes<'b>) -> Result<Attribute> {
        let at = bytes.offset();
        Ok(match bytes.varint("an attribute")? {
            0 => Attribute::Array(self.attributes(bytes)?),
            1 => self.dictionary(bytes)?,
            2 => text(self.string(bytes)?),
            3 => {
                let value = text(self.string(bytes)?);
                self.ty(Reference::read(bytes, "the type of a string")?)?;
                value
            }
            4 => Attribute::Symbol(vec![self.name(bytes)?]),
            5 => {
                let mut path = vec![self.name(bytes)?];
                for nested in self.attributes(bytes)? {
                    match nested {
                        Attribute::Symbol(names) => path.extend(names),
                        other => return Err(malformed(at, format!("a symbol in {}", other.describe()))),
                    }
                }
                Attribute::Symbol(path)
            }
            6 => Attribute::Type(self.ty(Reference::read(bytes, "a type")?)?),
            7 => Attribute::Unit,
            8 => self.integer(bytes)?,
            9 => self.float(bytes)?,
            // Locations, of which the innermost or first is kept.
            10 => {
                let callee = self.attribute(Reference::read(bytes, "a location")?)?;
                Reference::read(bytes, "a location")?;
                callee
            }
            11 => {
                let file = self.quoted_name(bytes)?;
                let (line, column) = (bytes.varint("a line")?, bytes.varint("a column")?);
                Attribute::Opaque(format!("{file}:{line}:{column}"))
            }
            code @ (12 | 13) => {
                let count = bytes.count(1, "locations")?;
                let mut first = Attribute::Opaque(String::new());
                for i in 0..count {
                    let location = Reference::read(bytes, "a location")?;
                    if i == 0 {
                        first = self.attribute(location)?;
                    }
                }
                if code == 13 {
                    Reference::read(bytes, "what is said of a location")?;
                }
                first
            }
            14 => {
                let name = self.quoted_name(bytes)?;
                match self.attribute(Reference::read(bytes, "a location")?)? {
                    Attribute::Opaque(child) if !child.is_empty() => {
                        self.spend(child.len() as u64 / 32, at)?;
                        Attribute::Opaque(format!("{name}({child})"))
                    }
                    _ => Attribute::Opaque(name),
                }
            }
            15 => Attribute::Opaque(String::new()),
            16 => return Err(unknown(at, "resources of an artifact")),
            17 => self.dense_array(bytes)?,
            18 => self.tensor(bytes)?,
            22 => {
                let file = self.quoted_name(bytes)?;
                let count = bytes.count(1, "numbers of a location")?;
                let mut numbers = Vec::new();
                for _ in 0..count {
                    numbers.push(bytes.varint("a number of a location")?);
                }
                Attribute::Opaque(match numbers.as_slice() {
                    [line, column] => format!("{file}:{line}:{column}"),
                    [line, column, end] => format!("{file}:{line}:{column} to :{end}"),
                    [line, column, last, end] => format!("{file}:{line}:{column} to {last}:{end}"),
                    [line] => format!("{file}:{line}:0"),
                    _ => format!("{file}:0:0"),
                })
            }
            code => return Err(unknown(at, &format!("attributes with code {code} of MLIR"))),
        })
    }

    pub(super) fn vhlo_attribute(&mut self, bytes: &mut Bytes<'b>) -> Result<Attribute> {
        let at = bytes.offset();
        let code = bytes.varint("an attribute")?;
        if let Some(numbers) = enums::by_code(code) {
            let number = bytes.varint("the number of a value")?;
            let value = numbers.value(number).ok_or_else(|| {
                malformed(at, format!("value {number} of {}", numbers.kind.replace('_', " ")))
                    .help("a newer version of StableHLO may have it; write the artifact for an older one")
            })?;
            return Ok(match numbers.kind {
                enums::API_VERSION => Attribute::i32(number as i32),
                kind => Attribute::enumeration(kind, value),
            });
        }
        Ok(match code {
            1 => Attribute::Array(self.attributes(bytes)?),
            2 => Attribute::Bool(bytes.varint("a boolean")? != 0),
            6 => self.dictionary(bytes)?,
            8 => self.float(bytes)?,
            9 => self.integer(bytes)?,
            10 => Attribute::OutputOperandAlias(Box::new(OutputOperandAlias {
                output_tuple_indices: bytes.signed_list("indices")?,
                operand_index: bytes.signed("an index")?,
                operand_tuple_indices: bytes.signed_list("indices")?,
            })),
            14 => text(self.string(bytes)?),
            15 => self.tensor(bytes)?,
            17 => Attribute::Type(self.ty(Reference::read(bytes, "a type")?)?),
            18 => {
                let bound = |b: i64| if b == i64::MIN { "?".to_string() } else { b.to_string() };
                let bounds: Vec<String> = bytes.signed_list("bounds")?.into_iter().map(bound).collect();
                self.spend(bounds.len() as u64, at)?;
                Attribute::Opaque(format!("#stablehlo.bounds<{}>", bounds.join(", ")))
            }
            20 => {
                let (atol, rtol) = (bytes.signed("a tolerance")? as u64, bytes.signed("a tolerance")? as u64);
                let ulps = bytes.signed("a tolerance")?;
                let mode = self.attribute(Reference::read(bytes, "the mode of an accuracy")?)?;
                let mode = mode.as_enum().ok_or_else(|| malformed(at, "an accuracy without its mode"))?;
                Attribute::ResultAccuracy(Box::new(ResultAccuracy {
                    atol: f64::from_bits(atol),
                    rtol: f64::from_bits(rtol),
                    ulps,
                    mode: mode.to_string(),
                }))
            }
            // The groups of a collective by the axes of a mesh, which are kept as text.
            21 => {
                let (before, size) = (bytes.signed("a size")?, bytes.signed("a size")?);
                Attribute::Opaque(format!("({before}){size}"))
            }
            22 => {
                let name = self.attribute_text(bytes)?;
                let part = match bytes.varint("a flag")? {
                    0 => String::new(),
                    _ => format!(", sub_axis_info = {}", self.attribute_text(bytes)?),
                };
                Attribute::Opaque(format!("#stablehlo.axis_ref<name = {name}{part}>"))
            }
            23 => {
                let mesh = match self.attribute(Reference::read(bytes, "a mesh")?)? {
                    Attribute::String(name) => printed(&Attribute::symbol(name)),
                    other => printed(&other),
                };
                let axes = self.attribute_text(bytes)?;
                Attribute::Opaque(format!("#stablehlo.replica_group_mesh_axes<mesh = {mesh}, axes = {axes}>"))
            }
            24 => {
                let name = self.attribute_text(bytes)?;
                let size = bytes.signed("a size")?;
                Attribute::Opaque(format!("<name = {name}, size = {size}>"))
            }
            25 => {
                let axes = self.attribute_text(bytes)?;
                let devices = match Reference::optional(bytes, "the devices of a mesh")? {
                    Some(devices) => format!(", device_ids={}", printed(&self.attribute(devices)?)),
                    None => String::new(),
                };
                Attribute::Opaque(format!("#stablehlo.mesh<axes={axes}{devices}>"))
            }
            code => return Err(unknown(at, &format!("attributes with code {code} of VHLO"))),
        })
    }

    pub(super) fn chlo_attribute(&mut self, bytes: &mut Bytes<'b>) -> Result<Attribute> {
        let at = bytes.offset();
        let code = bytes.varint("an attribute")?;
        // The first two enumerations are numbered as those of VHLO.
        let numbers = enums::by_code(code.saturating_add(3)).filter(|_| code < 2);
        let numbers = numbers.ok_or_else(|| unknown(at, &format!("attributes with code {code} of CHLO")))?;
        let number = bytes.varint("the number of a value")?;
        let value = numbers.value(number).ok_or_else(|| malformed(at, format!("value {number}")))?;
        Ok(Attribute::enumeration(numbers.kind, value))
    }

    /// The text of an attribute that is part of another one's text.
    fn attribute_text(&mut self, bytes: &mut Bytes<'b>) -> Result<String> {
        let reference = Reference::read(bytes, "an attribute")?;
        let text = printed(&self.attribute(reference)?);
        self.spend(text.len() as u64 / 32, reference.at)?;
        Ok(text)
    }

    /// A list of names with attributes.
    fn dictionary(&mut self, bytes: &mut Bytes<'b>) -> Result<Attribute> {
        let at = bytes.offset();
        let count = bytes.count(2, "entries of a dictionary")?;
        let mut entries: Vec<(Cow<'static, str>, Attribute)> = Vec::with_capacity(count);
        for _ in 0..count {
            let name = self.name(bytes)?;
            let value = self.attribute(Reference::read(bytes, "an attribute")?)?;
            entries.push((Cow::Owned(name), value));
        }
        Attributes::from_entries(entries)
            .map(Attribute::Dict)
            .map_err(|name| malformed(at, format!("attribute '{name}' is given twice")))
    }

    /// A reference to an attribute that is a string.
    fn name(&mut self, bytes: &mut Bytes<'b>) -> Result<String> {
        let reference = Reference::read(bytes, "a name")?;
        match self.attribute(reference)? {
            Attribute::String(name) => Ok(name),
            Attribute::Bytes(name) => Ok(String::from_utf8_lossy(&name).into_owned()),
            other => Err(malformed(reference.at, format!("a name that is {}", other.describe()))),
        }
    }

    fn quoted_name(&mut self, bytes: &mut Bytes<'b>) -> Result<String> {
        self.name(bytes).map(|name| printed(&Attribute::String(name)))
    }

    fn integer(&mut self, bytes: &mut Bytes<'b>) -> Result<Attribute> {
        let (ty, at) = self.number_type(bytes)?;
        let Some(bits) = ty.bits().filter(|_| ty.is_integer()) else {
            return Err(malformed(at, format!("an integer of type {ty}")));
        };
        let value = bytes.known_width(bits, "an integer")?;
        if ty == ElementType::I1 {
            return Ok(Attribute::Bool(value != 0));
        }
        let signed = ty.class() == crate::types::ElementClass::Signed;
        let shift = 64 - bits;
        let value = if signed { i128::from((value << shift) as i64 >> shift) } else { i128::from(value) };
        Ok(Attribute::Int { value, ty })
    }

    fn float(&mut self, bytes: &mut Bytes<'b>) -> Result<Attribute> {
        let (ty, at) = self.number_type(bytes)?;
        let Some(bits) = ty.bits().filter(|_| ty.is_float()) else {
            return Err(malformed(at, format!("a float of type {ty}")));
        };
        let bits = bytes.known_width(bits, "a float")?;
        Ok(Attribute::Float { bits, ty })
    }

    fn number_type(&mut self, bytes: &mut Bytes<'b>) -> Result<(ElementType, usize)> {
        let reference = Reference::read(bytes, "the type of a number")?;
        match self.ty(reference)? {
            Type::Scalar(element) => Ok((element, reference.at)),
            other => Err(malformed(reference.at, format!("a number of type {other}"))),
        }
    }

    fn tensor(&mut self, bytes: &mut Bytes<'b>) -> Result<Attribute> {
        let reference = Reference::read(bytes, "the type of elements")?;
        let ty = self.ty(reference)?;
        let size = bytes.count(1, "bytes of elements")?;
        let blob = bytes.take(size, "elements")?;
        let Type::Tensor(ty) = ty else {
            return Err(malformed(reference.at, format!("elements of type {ty}")));
        };
        let elements = elements::unpack(ty, blob).map_err(|message| malformed(reference.at, message))?;
        Ok(Attribute::Dense(elements))
    }

    /// `array<i32: 1, 2>`
    fn dense_array(&mut self, bytes: &mut Bytes<'b>) -> Result<Attribute> {
        let (element, at) = self.number_type(bytes)?;
        let count = bytes.varint("the number of elements")?;
        let size = bytes.count(1, "bytes of elements")?;
        let blob = bytes.take(size, "elements")?;
        let width = element.bytes().filter(|w| *w <= 8).unwrap_or(0);
        if width == 0 || count.checked_mul(width as u64) != Some(size as u64) {
            return Err(malformed(at, format!("{size} bytes for {count} elements of type {element}")));
        }
        let signed = element.class() == crate::types::ElementClass::Signed;
        let value = |chunk: &[u8]| {
            let mut wide = [0u8; 8];
            wide[..width].copy_from_slice(chunk);
            let (bits, shift) = (u64::from_le_bytes(wide), 64 - 8 * width as u32);
            if signed { (bits << shift) as i64 >> shift } else { bits as i64 }
        };
        let values: Vec<i64> = blob.chunks_exact(width).map(value).collect();
        Ok(match element {
            ElementType::I64 => Attribute::I64s(values),
            ElementType::I1 => Attribute::Bools(values.into_iter().map(|v| v != 0).collect()),
            element => Attribute::DenseArray { element, values: values.into() },
        })
    }
}

/// A string attribute of bytes.
fn text(bytes: &[u8]) -> Attribute {
    match std::str::from_utf8(bytes) {
        Ok(text) => Attribute::String(text.to_string()),
        Err(_) => Attribute::Bytes(bytes.to_vec()),
    }
}

/// The text of an attribute.
pub(super) fn printed(attribute: &Attribute) -> String {
    crate::print::attribute_text(attribute)
}
