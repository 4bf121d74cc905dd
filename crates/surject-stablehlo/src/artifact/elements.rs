//! Elements of tensors between the bytes of an artifact and those of [`DenseElements`].
//!
//! An artifact holds elements as MLIR does: one element for a splat, else all of them; a byte for an element of less
//! than 8 bits, without the bits of its sign; booleans packed, 8 a byte, a splat of them as 0x00 or 0xFF.

use std::borrow::Cow;
use std::sync::Arc;

use crate::dense::{DenseData, DenseElements};
use crate::types::{ElementClass, ElementType, TensorType};

/// The elements whose bytes an artifact holds; what is wrong with their number otherwise.
pub(super) fn unpack(ty: Arc<TensorType>, blob: &[u8]) -> Result<DenseElements, String> {
    let Some(count) = ty.num_elements() else { return Err(format!("elements of type {ty}")) };
    let Some(width) = ty.element.bytes() else {
        return Err(format!("elements of type {ty}, whose bytes are not known"));
    };
    let ty = match ty.encoding {
        Some(_) => Arc::new(TensorType { encoding: None, ..(*ty).clone() }),
        None => ty,
    };
    let data = match ty.element {
        ElementType::I1 => booleans(count, blob),
        _ if count.checked_mul(width as u64) == Some(blob.len() as u64) => {
            Some(DenseData::Raw(widened(&ty.element, blob)))
        }
        _ if blob.len() == width => Some(DenseData::Splat(widened(&ty.element, blob))),
        _ => None,
    };
    match data {
        Some(data) => Ok(DenseElements { ty, data }.canonical()),
        None => Err(format!("{} bytes of elements for {ty}", blob.len())),
    }
}

/// Booleans, packed or (of early writers) one a byte.
fn booleans(count: u64, blob: &[u8]) -> Option<DenseData> {
    let packed = count.div_ceil(8);
    let found = blob.len() as u64;
    if found == 1 && blob[0] == 0xFF && count > 0 {
        return Some(DenseData::Splat(Arc::from([1u8])));
    }
    if found == packed && found != count {
        let bit = |i: u64| blob[(i / 8) as usize] >> (i % 8) & 1;
        return Some(DenseData::Raw((0..count).map(bit).collect()));
    }
    let whole = || blob.iter().map(|b| u8::from(*b != 0)).collect();
    if found == count {
        return Some(DenseData::Raw(whole()));
    }
    (found == 1 && count > 0).then(|| DenseData::Splat(whole()))
}

/// Signed integers below 8 bits with the bits of their sign, everything else as it is.
fn widened(element: &ElementType, bytes: &[u8]) -> Arc<[u8]> {
    match element.bits() {
        Some(bits) if bits < 8 && element.class() == ElementClass::Signed => {
            let shift = 8 - bits;
            bytes.iter().map(|b| ((b << shift) as i8 >> shift) as u8).collect()
        }
        Some(bits) if bits < 8 => bytes.iter().map(|b| b & ((1 << bits) - 1)).collect(),
        _ => Arc::from(bytes),
    }
}

/// The bytes of the elements as an artifact holds them.
pub(super) fn pack(elements: &DenseElements) -> Cow<'_, [u8]> {
    let (bytes, splat) = match &elements.data {
        DenseData::Splat(bytes) => (bytes, true),
        DenseData::Raw(bytes) => (bytes, false),
    };
    if elements.ty.element == ElementType::I1 {
        if splat && elements.len() > 1 {
            let all = bytes.iter().any(|b| *b != 0);
            return Cow::Owned(vec![if all { 0xFF } else { 0x00 }]);
        }
        let packed = bytes
            .chunks(8)
            .map(|chunk| chunk.iter().enumerate().fold(0u8, |byte, (i, b)| byte | u8::from(*b != 0) << i));
        return Cow::Owned(packed.collect());
    }
    match elements.ty.element.bits() {
        Some(bits) if bits < 8 => Cow::Owned(bytes.iter().map(|b| b & ((1 << bits) - 1)).collect()),
        _ => Cow::Borrowed(bytes),
    }
}
