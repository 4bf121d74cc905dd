//! The encodings of types: those of MLIR's own (`builtin`), of VHLO and of StableHLO.
//!
//! Sources: `BuiltinDialectBytecode.td` of MLIR, `VhloBytecode.cpp` and `StablehloBytecode.cpp` of StableHLO.

use std::sync::Arc;

use super::attributes::printed;
use super::bytes::{Bytes, Result, malformed};
use super::decode::{Decoder, Reference, unknown};
use crate::attr::Attribute;
use crate::float;
use crate::quantized::QuantizedType;
use crate::types::{Dim, ElementType, FunctionType, TensorType, Type};

/// The codes of VHLO for types without parts, with the version of StableHLO that introduced each (1.0 or earlier as
/// the numbers that stand there).
pub(super) const SCALARS: &[(u64, ElementType, (u32, u32))] = {
    use ElementType::*;
    &[
        (0, I1, (0, 9)),
        (2, BF16, (0, 9)),
        (3, F16, (0, 9)),
        (4, F32, (0, 9)),
        (5, F64, (0, 9)),
        (6, F8E4M3FN, (0, 9)),
        (7, F8E5M2, (0, 9)),
        (9, Index, (0, 9)),
        (10, I4, (0, 9)),
        (11, I8, (0, 9)),
        (12, I16, (0, 9)),
        (13, I32, (0, 9)),
        (14, I64, (0, 9)),
        (15, U4, (0, 9)),
        (16, U8, (0, 9)),
        (17, U16, (0, 9)),
        (18, U32, (0, 9)),
        (19, U64, (0, 9)),
        (27, F8E4M3FNUZ, (0, 10)),
        (28, F8E5M2FNUZ, (0, 10)),
        (29, F8E4M3B11FNUZ, (0, 11)),
        (31, I2, (1, 2)),
        (32, U2, (1, 2)),
        (34, TF32, (1, 6)),
        (35, F8E4M3, (1, 7)),
        (36, F8E3M4, (1, 7)),
        (37, F4E2M1FN, (1, 8)),
        (38, F6E2M3FN, (1, 8)),
        (39, F6E3M2FN, (1, 8)),
        (40, F8E8M0FNU, (1, 8)),
    ]
};

/// No program has tensors of nearly so many dimensions.
const MAX_RANK: usize = 256;

impl<'b> Decoder<'b> {
    pub(super) fn vhlo_type(&mut self, bytes: &mut Bytes<'b>) -> Result<Type> {
        let at = bytes.offset();
        let code = bytes.varint("a type")?;
        if let Some((_, element, _)) = SCALARS.iter().find(|row| row.0 == code) {
            return Ok(Type::Scalar(element.clone()));
        }
        Ok(match code {
            1 => self.complex_type(bytes)?,
            8 => self.function_type(bytes)?,
            20 => self.tensor_type(bytes, None)?,
            21 => {
                let encoding = self.encoding(bytes)?;
                self.tensor_type(bytes, encoding)?
            }
            22 => Type::Token,
            23 => Type::Tuple(self.types(bytes)?.into()),
            24 | 30 => self.quantized_type(bytes, code == 30)?,
            25 => self.unranked_type(bytes)?,
            26 => Type::Opaque("!shape.witness".to_string().into()),
            33 => Type::None,
            41 => match self.tensor_type(bytes, None)? {
                Type::Tensor(tensor) => {
                    let text = tensor.to_string();
                    Type::Opaque(format!("memref{}", &text["tensor".len()..]).into())
                }
                other => other,
            },
            42 => Type::Future(self.types(bytes)?.into()),
            code => return Err(unknown(at, &format!("types with code {code} of VHLO"))),
        })
    }

    pub(super) fn builtin_type(&mut self, bytes: &mut Bytes<'b>) -> Result<Type> {
        let at = bytes.offset();
        Ok(match bytes.varint("a type")? {
            0 => {
                let packed = bytes.varint("the width of an integer type")?;
                let prefix = if packed & 3 == 2 { "ui" } else { "i" };
                let keyword = format!("{prefix}{}", packed >> 2);
                if packed >> 2 > 1 << 24 {
                    return Err(malformed(at, format!("an integer type of {} bits", packed >> 2)));
                }
                let known = ElementType::from_keyword(&keyword);
                Type::Scalar(known.unwrap_or(ElementType::Other(keyword)))
            }
            1 => Type::Scalar(ElementType::Index),
            2 => self.function_type(bytes)?,
            3 => Type::Scalar(ElementType::BF16),
            4 => Type::Scalar(ElementType::F16),
            5 => Type::Scalar(ElementType::F32),
            6 => Type::Scalar(ElementType::F64),
            9 => self.complex_type(bytes)?,
            12 => Type::None,
            13 => self.tensor_type(bytes, None)?,
            14 => {
                let encoding = self.encoding(bytes)?;
                self.tensor_type(bytes, encoding)?
            }
            15 => Type::Tuple(self.types(bytes)?.into()),
            18 => self.unranked_type(bytes)?,
            code => return Err(unknown(at, &format!("types with code {code} of MLIR"))),
        })
    }

    pub(super) fn stablehlo_type(&mut self, bytes: &mut Bytes<'b>) -> Result<Type> {
        let at = bytes.offset();
        match bytes.varint("a type")? {
            0 => Ok(Type::Token),
            code => Err(unknown(at, &format!("types with code {code} of StableHLO"))),
        }
    }

    fn function_type(&mut self, bytes: &mut Bytes<'b>) -> Result<Type> {
        let inputs = self.types(bytes)?;
        let results = self.types(bytes)?;
        Ok(Type::Function(Arc::new(FunctionType { inputs, results })))
    }

    fn complex_type(&mut self, bytes: &mut Bytes<'b>) -> Result<Type> {
        let (part, at) = self.element_type(bytes)?;
        let complex = part.complex_of().ok_or_else(|| malformed(at, format!("complex numbers of {part}")))?;
        Ok(Type::Scalar(complex))
    }

    fn element_type(&mut self, bytes: &mut Bytes<'b>) -> Result<(ElementType, usize)> {
        let reference = Reference::read(bytes, "the type of an element")?;
        match self.ty(reference)? {
            Type::Scalar(element) => Ok((element, reference.at)),
            other => Err(malformed(reference.at, format!("elements of type {other}"))),
        }
    }

    fn encoding(&mut self, bytes: &mut Bytes<'b>) -> Result<Option<String>> {
        let reference = Reference::read(bytes, "an encoding")?;
        let text = match self.attribute(reference)? {
            Attribute::Opaque(text) => text,
            other => printed(&other),
        };
        self.spend(text.len() as u64 / 32, reference.at)?;
        Ok(Some(text))
    }

    fn tensor_type(&mut self, bytes: &mut Bytes<'b>, encoding: Option<String>) -> Result<Type> {
        let at = bytes.offset();
        let extents = bytes.signed_list("extents")?;
        if extents.len() > MAX_RANK {
            return Err(malformed(at, format!("a tensor of {} dimensions", extents.len())));
        }
        self.spend(extents.len() as u64, at)?;
        let extent = |n: i64| match n {
            i64::MIN => Ok(Dim::Dynamic),
            0.. => Ok(Dim::Static(n)),
            _ => Err(malformed(at, format!("an extent of {n}"))),
        };
        let shape: Vec<Dim> = extents.into_iter().map(extent).collect::<Result<_>>()?;
        let element = self.element_type(bytes)?.0;
        Ok(Type::Tensor(TensorType { shape, element, encoding }.into()))
    }

    fn unranked_type(&mut self, bytes: &mut Bytes<'b>) -> Result<Type> {
        Ok(Type::Opaque(format!("tensor<*x{}>", self.element_type(bytes)?.0).into()))
    }

    /// `!quant.uniform<…>`, with a scale and zero point for the tensor or for each index of a dimension.
    fn quantized_type(&mut self, bytes: &mut Bytes<'b>, per_axis: bool) -> Result<Type> {
        let at = bytes.offset();
        let signed = bytes.varint("the flags of a quantized type")? & 1 == 1;
        let storage = self.element_type(bytes)?.0;
        let expressed = self.element_type(bytes)?.0;
        let scale = |bytes: &mut Bytes<'b>| {
            let bits = bytes.signed("a scale")? as u64;
            Ok(float::print(&ElementType::F64, bits))
        };
        let (dimension, min, max, scales, zeros);
        if per_axis {
            dimension = Some(bytes.varint("a dimension")?);
            (min, max) = (bytes.signed("a storage bound")?, bytes.signed("a storage bound")?);
            let count = bytes.count(1, "scales")?;
            scales = (0..count).map(|_| scale(bytes)).collect::<Result<Vec<_>>>()?;
            zeros = bytes.signed_list("zero points")?;
        } else {
            dimension = None;
            scales = vec![scale(bytes)?];
            zeros = vec![bytes.signed("a zero point")?];
            (min, max) = (bytes.signed("a storage bound")?, bytes.signed("a storage bound")?);
        }
        if scales.len() != zeros.len() || scales.is_empty() {
            return Err(malformed(at, format!("{} scales, {} zero points", scales.len(), zeros.len())));
        }
        self.spend(2 * scales.len() as u64, at)?;
        let text = quantized_text((&storage, signed), &expressed, dimension, (min, max), &scales, &zeros);
        match QuantizedType::parse(&text) {
            Ok(Some(quantized)) => Ok(Type::Scalar(ElementType::Quantized(Arc::new(quantized)))),
            Ok(None) => Ok(Type::Scalar(ElementType::Other(text))),
            Err(message) => Err(malformed(at, format!("a quantized type in which {message}"))),
        }
    }
}

/// The text of a quantized type, with its storage bounds where they are not those of the storage type.
fn quantized_text(
    (storage, signed): (&ElementType, bool),
    expressed: &ElementType,
    dimension: Option<u64>,
    (min, max): (i64, i64),
    scales: &[String],
    zeros: &[i64],
) -> String {
    let bits = storage.bits().unwrap_or(8);
    let name = format!("{}{bits}", if signed { "i" } else { "u" });
    let bits = bits.min(62);
    let whole = match signed {
        true => (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1),
        false => (0, (1i64 << bits) - 1),
    };
    let bounds = if (min, max) == whole { String::new() } else { format!("<{min}:{max}>") };
    let parameter = |(scale, zero): (&String, &i64)| match zero {
        0 => scale.clone(),
        zero => format!("{scale}:{zero}"),
    };
    let parameters: Vec<String> = scales.iter().zip(zeros).map(parameter).collect();
    match dimension {
        Some(axis) => {
            format!("!quant.uniform<{name}{bounds}:{expressed}:{axis}, {{{}}}>", parameters.join(","))
        }
        None => format!("!quant.uniform<{name}{bounds}:{expressed}, {}>", parameters.join(",")),
    }
}
