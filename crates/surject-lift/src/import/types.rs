//! Types, constants and lists of axes of StableHLO as those of programs.

use super::state::Result;
use crate::error::LiftError;
use std::sync::Arc;
use surject_index::Space;
use surject_ir::{Buffer, DType, Scalar, TensorType};
use surject_stablehlo::{DenseElements, ElementType, Op, Type};

/// The element type, if programs have it.
pub(crate) fn dtype(element: &ElementType) -> Option<DType> {
    Some(match element {
        ElementType::I1 => DType::I1,
        ElementType::I8 => DType::I8,
        ElementType::I16 => DType::I16,
        ElementType::I32 => DType::I32,
        ElementType::I64 => DType::I64,
        ElementType::U8 => DType::U8,
        ElementType::U16 => DType::U16,
        ElementType::U32 => DType::U32,
        ElementType::U64 => DType::U64,
        ElementType::F16 => DType::F16,
        ElementType::BF16 => DType::BF16,
        ElementType::F32 => DType::F32,
        ElementType::F64 => DType::F64,
        ElementType::C64 => DType::C64,
        ElementType::C128 => DType::C128,
        _ => return None,
    })
}

/// The type of a tensor that `op` uses or makes.
pub(crate) fn tensor(op: &Op, ty: &Type) -> Result<TensorType> {
    let Some(tensor) = ty.as_tensor() else {
        return Err(LiftError::unsupported(op, format!("the type {ty} where a tensor is needed")));
    };
    let Some(dtype) = dtype(&tensor.element) else {
        return Err(LiftError::unsupported(op, format!("the element type {} (in {ty})", tensor.element)));
    };
    let Some(shape) = tensor.static_shape() else {
        return Err(LiftError::unsupported(op, format!("the dynamic shape of {ty}")));
    };
    if let Some(encoding) = &tensor.encoding {
        return Err(LiftError::unsupported(op, format!("the encoding {encoding} of {ty}")));
    }
    let sizes = shape.iter().map(|&n| u64::try_from(n)).collect::<std::result::Result<Vec<_>, _>>();
    let sizes = sizes.map_err(|_| LiftError::invalid(op, format!("a negative extent in {ty}")))?;
    // Beyond this no buffer can hold the tensor, and index arithmetic in 64 bits would be in doubt.
    let bytes = tensor.num_elements().and_then(|n| n.checked_mul(dtype.size() as u64));
    if bytes.is_none_or(|b| b > 1 << 46) {
        return Err(LiftError::unsupported(op, format!("a tensor as large as {ty}")));
    }
    Ok(TensorType::new(dtype, Space::of(&sizes)))
}

/// The element type of a tensor whose shape may have a `?`. Its encoding may give bounds.
pub(crate) fn dynamic(op: &Op, tensor: &surject_stablehlo::TensorType) -> Result<DType> {
    let Some(dtype) = dtype(&tensor.element) else {
        return Err(LiftError::unsupported(op, format!("the element type {} (in {tensor})", tensor.element)));
    };
    match &tensor.encoding {
        Some(encoding) if tensor.bounds().iter().all(Option::is_none) => {
            Err(LiftError::unsupported(op, format!("the encoding {encoding} of {tensor}")))
        }
        _ => Ok(dtype),
    }
}

/// Dense elements as one scalar or a buffer.
pub(crate) enum Literal {
    /// All elements equal this one.
    Splat(Scalar),
    /// The elements.
    Dense(Arc<Buffer>),
}

/// The elements of a literal, which has type `ty`.
pub(crate) fn literal(op: &Op, value: &DenseElements, ty: &TensorType) -> Result<Literal> {
    let declared = tensor(op, &Type::Tensor(value.ty.clone()))?;
    if declared != *ty {
        return Err(LiftError::invalid(
            op,
            format!("a value of type {} for a result of type {ty}", value.ty),
        ));
    }
    if value.is_empty() {
        return Ok(Literal::Splat(Scalar::zero(ty.dtype)));
    }
    let invalid = || LiftError::invalid(op, "the bytes of the value do not fit its type");
    if value.is_splat() || value.len() == 1 {
        let bytes = value.element(0).filter(|b| b.len() == ty.dtype.size()).ok_or_else(invalid)?;
        return Ok(Literal::Splat(Scalar::from_bytes(ty.dtype, bytes)));
    }
    let bytes = value.to_bytes(usize::MAX).ok_or_else(invalid)?;
    let sizes = ty.space.sizes().ok_or_else(invalid)?;
    let shape: Vec<usize> = sizes.iter().map(|&n| n as usize).collect();
    Ok(Literal::Dense(Arc::new(Buffer::from_bytes(ty.dtype, &shape, &bytes).ok_or_else(invalid)?)))
}

/// Positions of axes below `rank`, distinct if `distinct`.
pub(crate) fn axes(op: &Op, list: &[i64], rank: usize, what: &str) -> Result<Vec<usize>> {
    let axes = list.iter().map(|&a| axis(op, a, rank, what)).collect::<Result<Vec<usize>>>()?;
    match (1..axes.len()).find(|&i| axes[..i].contains(&axes[i])) {
        Some(i) => Err(LiftError::invalid(op, format!("{what} names dimension {} twice", axes[i]))),
        None => Ok(axes),
    }
}

/// The position of an axis below `rank`.
pub(crate) fn axis(op: &Op, axis: i64, rank: usize, what: &str) -> Result<usize> {
    usize::try_from(axis).ok().filter(|&a| a < rank).ok_or_else(|| {
        LiftError::invalid(op, format!("{what} names dimension {axis} of a tensor of rank {rank}"))
    })
}

/// A list of numbers that must have `count` entries.
pub(crate) fn counted<T>(op: &Op, list: Vec<T>, count: usize, what: &str) -> Result<Vec<T>> {
    if list.len() == count {
        return Ok(list);
    }
    Err(LiftError::invalid(op, format!("{what} has {} entries where {count} are needed", list.len())))
}

/// Numbers that must be at least `least`.
pub(crate) fn at_least(op: &Op, list: &[i64], least: i64, what: &str) -> Result<()> {
    match list.iter().find(|&&n| n < least) {
        Some(n) => Err(LiftError::invalid(op, format!("{what} has the entry {n}, which is below {least}"))),
        None => Ok(()),
    }
}
