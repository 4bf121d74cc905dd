//! Elements of `dense<…>`: raw little-endian bytes, or one element repeated.

use std::sync::Arc;

use crate::types::{Dim, ElementType, TensorType};

/// The value of a `dense<…>` attribute.
///
/// Invariant: the type has a static shape whose element count is known, and the data holds exactly one element
/// (splat) or that many, each [`ElementType::bytes`] wide. `i1` is one byte, 0 or 1; integers below 8 bits take one
/// byte, sign- or zero-extended; floats below 8 bits one byte; complex numbers are pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenseElements {
    /// Shape and element type.
    pub ty: Arc<TensorType>,
    /// The elements.
    pub data: DenseData,
}

/// How the elements are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DenseData {
    /// The bytes of the one element that all elements equal.
    Splat(Arc<[u8]>),
    /// The bytes of all elements in row-major order.
    Raw(Arc<[u8]>),
}

impl DenseElements {
    /// All elements equal to the one whose little-endian bytes are given; `None` if their number is not that of
    /// an element or the shape is not static.
    pub fn splat(ty: impl Into<Arc<TensorType>>, element: &[u8]) -> Option<DenseElements> {
        let ty = ty.into();
        (ty.element.bytes()? == element.len() && ty.num_elements().is_some())
            .then(|| DenseElements { ty, data: DenseData::Splat(Arc::from(element)) })
    }

    /// Elements from little-endian bytes in row-major order; `None` if the number of bytes is wrong.
    pub fn raw(ty: impl Into<Arc<TensorType>>, bytes: impl Into<Arc<[u8]>>) -> Option<DenseElements> {
        let (ty, bytes) = (ty.into(), bytes.into());
        let wanted = ty.num_elements()?.checked_mul(ty.element.bytes()? as u64)?;
        (wanted == bytes.len() as u64).then_some(DenseElements { ty, data: DenseData::Raw(bytes) })
    }

    /// A one-dimensional tensor of `i64`.
    pub fn i64s(values: &[i64]) -> DenseElements {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let ty = TensorType::new(&[values.len() as i64], ElementType::I64);
        DenseElements { ty: ty.into(), data: DenseData::Raw(bytes.into()) }
    }

    /// Pairs (low and high padding) as a tensor of `n x 2` integers.
    pub fn pairs(values: &[(i64, i64)]) -> DenseElements {
        let bytes: Vec<u8> = values.iter().flat_map(|v| [v.0, v.1]).flat_map(i64::to_le_bytes).collect();
        let ty = TensorType::new(&[values.len() as i64, 2], ElementType::I64);
        DenseElements { ty: ty.into(), data: DenseData::Raw(bytes.into()) }.canonical()
    }

    /// Number of elements.
    pub fn len(&self) -> u64 {
        self.ty.num_elements().unwrap_or(0)
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether one element stands for all.
    pub fn is_splat(&self) -> bool {
        matches!(self.data, DenseData::Splat(_))
    }

    /// Bytes of one element.
    pub fn element_bytes(&self) -> usize {
        self.ty.element.bytes().unwrap_or(1)
    }

    /// Little-endian bytes of the element at a row-major position; `None` past the end.
    pub fn element(&self, index: u64) -> Option<&[u8]> {
        if index >= self.len() {
            return None;
        }
        match &self.data {
            DenseData::Splat(bytes) => Some(bytes),
            DenseData::Raw(bytes) => {
                let width = self.element_bytes();
                let at = usize::try_from(index).ok()?.checked_mul(width)?;
                bytes.get(at..at + width)
            }
        }
    }

    /// An element as an integer: integers and booleans (`ui64` wraps); `None` for other types.
    pub fn get_i64(&self, index: u64) -> Option<i64> {
        self.get_i128(index).map(|v| v as i64)
    }

    /// An element as an integer; `None` for other types.
    pub fn get_i128(&self, index: u64) -> Option<i128> {
        let bytes = self.element(index)?;
        if !self.ty.element.is_integer() {
            return None;
        }
        let mut wide = [0u8; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let unsigned = u64::from_le_bytes(wide);
        if matches!(self.ty.element.class(), crate::types::ElementClass::Signed) {
            let shift = 64 - 8 * bytes.len() as u32;
            return Some(i128::from((unsigned << shift) as i64 >> shift));
        }
        Some(i128::from(unsigned))
    }

    /// An element as a float: real floats, and integers rounded; `None` for complex and unknown types.
    pub fn get_f64(&self, index: u64) -> Option<f64> {
        if self.ty.element.is_integer() {
            return self.get_i128(index).map(|v| v as f64);
        }
        decode(&self.ty.element, self.element(index)?)
    }

    /// An element as a complex number (real and imaginary part; the latter is zero for real types).
    pub fn get_complex(&self, index: u64) -> Option<(f64, f64)> {
        if !self.ty.element.is_complex() {
            return self.get_f64(index).map(|re| (re, 0.0));
        }
        let bytes = self.element(index)?;
        let part = self.ty.element.real_part();
        let (re, im) = bytes.split_at(bytes.len() / 2);
        Some((decode(&part, re)?, decode(&part, im)?))
    }

    /// All elements as integers; `None` for other types. Allocates them all: for small attributes such as
    /// paddings and shapes (`None` beyond 2^24 elements).
    pub fn to_i64s(&self) -> Option<Vec<i64>> {
        if self.len() > 1 << 24 {
            return None;
        }
        (0..self.len()).map(|i| self.get_i64(i)).collect()
    }

    /// The bytes of all elements, splat expanded; `None` beyond `limit` bytes.
    pub fn to_bytes(&self, limit: usize) -> Option<Arc<[u8]>> {
        match &self.data {
            DenseData::Raw(bytes) => (bytes.len() <= limit).then(|| bytes.clone()),
            DenseData::Splat(element) => {
                let total = self.len().checked_mul(element.len() as u64)?;
                let total = usize::try_from(total).ok().filter(|n| *n <= limit)?;
                Some(element.iter().copied().cycle().take(total).collect())
            }
        }
    }

    /// The one form of these elements: a splat where all elements are equal (as MLIR stores them), raw otherwise.
    pub fn canonical(self) -> DenseElements {
        let width = self.element_bytes();
        match &self.data {
            DenseData::Raw(bytes) if bytes.len() >= width && width > 0 => {
                let first = &bytes[..width];
                if bytes.chunks_exact(width).all(|element| element == first) {
                    let first: Arc<[u8]> = Arc::from(first);
                    return DenseElements { ty: self.ty, data: DenseData::Splat(first) };
                }
                self
            }
            DenseData::Splat(_) if self.is_empty() => {
                DenseElements { ty: self.ty, data: DenseData::Raw(Arc::from([])) }
            }
            _ => self,
        }
    }

    /// The same elements in another shape of as many elements.
    pub fn reshaped(&self, shape: Vec<Dim>) -> Option<DenseElements> {
        let ty = TensorType { shape, element: self.ty.element.clone(), encoding: None };
        (ty.num_elements()? == self.len()).then(|| DenseElements { ty: ty.into(), data: self.data.clone() })
    }
}

/// Value of the bytes of a real float.
fn decode(element: &ElementType, bytes: &[u8]) -> Option<f64> {
    let mut wide = [0u8; 8];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    crate::float::decode(element, u64::from_le_bytes(wide))
}
