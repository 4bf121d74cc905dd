//! Types and constants: element types, tensor types, dense elements, strings.

use crate::{MlirError, Stage, raw};
use melior::ir::r#type::TypeLike;
use melior::ir::{Attribute, AttributeLike, Type};
use mlir_sys::{
    mlirAttributeGetType, mlirAttributeIsADenseElements, mlirDenseElementsAttrGetBoolSplatValue,
    mlirDenseElementsAttrGetBoolValue, mlirDenseElementsAttrGetRawData, mlirDenseElementsAttrIsSplat,
    mlirRankedTensorTypeGetEncoding, mlirShapedTypeGetDimSize, mlirShapedTypeGetElementType,
    mlirShapedTypeGetRank, mlirShapedTypeHasStaticShape, mlirTypeIsARankedTensor,
};
use surject_index::Space;
use surject_ir::{Buffer, DType, Scalar, TensorType};

/// The MLIR name of an element type. Signed integers are signless, unsigned ones keep their sign in the type.
pub(super) fn element(dtype: DType) -> &'static str {
    match dtype {
        DType::U8 => "ui8",
        DType::U16 => "ui16",
        DType::U32 => "ui32",
        DType::U64 => "ui64",
        DType::C64 => "complex<f32>",
        DType::C128 => "complex<f64>",
        other => other.name(),
    }
}

/// The element type of this MLIR name.
pub(super) fn element_of(name: &str) -> Option<DType> {
    DType::ALL.into_iter().find(|&dtype| element(dtype) == name)
}

/// What is said of a space that the dialect has no type for.
pub(super) fn symbolic(space: &Space) -> MlirError {
    let message = format!("the space {space} is not constant; the dialect has constant extents only");
    MlirError::new(Stage::Dialect, message)
}

/// The type of a tensor of constant extents; `None` for any other type.
pub(super) fn tensor_type(ty: Type<'_>) -> Option<TensorType> {
    let ty = ty.to_raw();
    // SAFETY: the type lives in a live context; shaped-type queries come after the check that it is one.
    unsafe {
        if !mlirTypeIsARankedTensor(ty)
            || !mlirShapedTypeHasStaticShape(ty)
            || !mlirRankedTensorTypeGetEncoding(ty).ptr.is_null()
        {
            return None;
        }
        let dtype = element_of(&raw::print_type(mlirShapedTypeGetElementType(ty)))?;
        let sizes = (0..mlirShapedTypeGetRank(ty))
            .map(|axis| u64::try_from(mlirShapedTypeGetDimSize(ty, axis as isize)).ok())
            .collect::<Option<Vec<u64>>>()?;
        // The number of bytes must fit in memory for a buffer of this type to exist.
        sizes
            .iter()
            .filter(|&&n| n > 0)
            .try_fold(16u64, |bytes, &n| bytes.checked_mul(n))
            .filter(|&b| b >> 62 == 0)?;
        Some(TensorType::new(dtype, Space::of(&sizes)))
    }
}

/// `dense<value> : tensor<T>`
pub(super) fn scalar(value: Scalar) -> String {
    format!("dense<{}> : tensor<{}>", scalar_literal(value), element(value.dtype()))
}

/// An element as it stands in `dense<…>`.
fn scalar_literal(value: Scalar) -> String {
    match value.dtype() {
        DType::I1 => value.is_true().to_string(),
        dtype if dtype.is_complex() => {
            let width = dtype.part().bits();
            let part = |bits| float_literal(Scalar::from_bits(dtype.part(), bits));
            format!("({}, {})", part(value.bits()), part(value.bits() >> width))
        }
        dtype if dtype.is_float() => float_literal(value),
        _ => value.as_i128().unwrap_or_default().to_string(),
    }
}

/// A decimal where MLIR reads exactly this float from it (by way of `f64`), else the bits.
fn float_literal(value: Scalar) -> String {
    let dtype = value.dtype();
    let decimal = format!("{:?}", value.as_f64());
    let exact = decimal.contains('.') && decimal.parse().is_ok_and(|v| Scalar::from_f64(dtype, v) == value);
    if exact && value.as_f64().is_finite() && decimal.len() < 24 {
        decimal
    } else {
        format!("0x{:0width$X}", value.bits(), width = dtype.size() * 2)
    }
}

/// Splats beyond this many bytes are not spelled out: `surject.constant` says the same.
const MAX_SPLAT: usize = 1 << 30;

/// The elements of a dense attribute; `None` if it is not one, has another element type, or is a huge splat.
pub(super) fn dense(attribute: Attribute<'_>) -> Option<Buffer> {
    let attribute = attribute.to_raw();
    // SAFETY: the attribute lives in a live context; elements are asked after the check that it has some.
    unsafe {
        if !mlirAttributeIsADenseElements(attribute) {
            return None;
        }
        let ty = tensor_type(Type::from_raw(mlirAttributeGetType(attribute)))?;
        let shape = ty.space.sizes()?.iter().map(|&n| usize::try_from(n).ok()).collect::<Option<Vec<_>>>()?;
        let splat = mlirDenseElementsAttrIsSplat(attribute);
        let bytes = shape.iter().try_fold(ty.dtype.size(), |n, &d| n.checked_mul(d))?;
        if splat && bytes > MAX_SPLAT {
            return None;
        }
        let mut buffer = Buffer::zeros(ty.dtype, &shape);
        if buffer.is_empty() {
            return Some(buffer);
        }
        if ty.dtype.is_bool() {
            for i in 0..buffer.len() {
                let value = if splat {
                    mlirDenseElementsAttrGetBoolSplatValue(attribute) != 0
                } else {
                    mlirDenseElementsAttrGetBoolValue(attribute, i as isize)
                };
                buffer.set(i, Scalar::bool(value));
            }
            return Some(buffer);
        }
        let count = if splat { 1 } else { buffer.len() };
        let raw = mlirDenseElementsAttrGetRawData(attribute).cast::<u8>();
        let bytes = std::slice::from_raw_parts(raw, count * ty.dtype.size());
        if splat {
            buffer = Buffer::splat(Scalar::from_bytes(ty.dtype, bytes), &shape);
        } else {
            buffer.bytes_mut().copy_from_slice(bytes);
        }
        Some(buffer)
    }
}

/// The one value of dense elements that are all the same; `None` if they are not, or have another element type.
pub(super) fn splat(attribute: Attribute<'_>) -> Option<Scalar> {
    let attribute = attribute.to_raw();
    // SAFETY: the attribute lives in a live context; its value is asked after the check that there is one.
    unsafe {
        if !mlirAttributeIsADenseElements(attribute) || !mlirDenseElementsAttrIsSplat(attribute) {
            return None;
        }
        let dtype = tensor_type(Type::from_raw(mlirAttributeGetType(attribute)))?.dtype;
        if dtype.is_bool() {
            return Some(Scalar::bool(mlirDenseElementsAttrGetBoolSplatValue(attribute) != 0));
        }
        let raw = mlirDenseElementsAttrGetRawData(attribute).cast::<u8>();
        Some(Scalar::from_bytes(dtype, std::slice::from_raw_parts(raw, dtype.size())))
    }
}

/// A string literal of MLIR.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' | 0..0x20 | 0x7f.. => quoted += &format!("\\{byte:02X}"),
            _ => quoted.push(byte as char),
        }
    }
    quoted + "\""
}
