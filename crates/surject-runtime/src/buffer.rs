//! Dense row-major tensors in host memory.

use crate::{DType, Scalar};
use std::fmt;

/// A dense tensor: element type, sizes of the axes, and the elements in row-major order.
///
/// Invariant: the memory is 64-byte aligned and holds at least `len() * dtype().size()` bytes.
#[derive(Clone)]
pub struct Buffer {
    dtype: DType,
    shape: Vec<usize>,
    len: usize,
    memory: Vec<Line>,
}

/// A cache line: the unit of allocation, so that every buffer is aligned for any vector.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

impl Buffer {
    /// A tensor of zeros (false, +0.0).
    ///
    /// # Panics
    /// If the size in bytes does not fit in `isize`; sizes from a file are checked where they are read.
    pub fn zeros(dtype: DType, shape: &[usize]) -> Buffer {
        let len = shape
            .iter()
            .try_fold(1usize, |n, &d| n.checked_mul(d))
            .filter(|n| n.checked_mul(dtype.size()).is_some_and(|b| b < isize::MAX as usize))
            .expect("the size of a buffer fits in memory");
        let lines = (len * dtype.size()).div_ceil(64).max(1);
        Buffer { dtype, shape: shape.to_vec(), len, memory: vec![Line([0; 64]); lines] }
    }

    /// A tensor with these little-endian bytes; `None` if their number is not `len * dtype.size()`.
    pub fn from_bytes(dtype: DType, shape: &[usize], bytes: &[u8]) -> Option<Buffer> {
        let len = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d))?;
        if len.checked_mul(dtype.size())? != bytes.len() {
            return None;
        }
        let mut buffer = Buffer::zeros(dtype, shape);
        buffer.bytes_mut().copy_from_slice(bytes);
        Some(buffer)
    }

    /// A tensor with every element equal to `value`.
    pub fn splat(value: Scalar, shape: &[usize]) -> Buffer {
        let mut buffer = Buffer::zeros(value.dtype(), shape);
        let size = value.dtype().size();
        if value.bits() != 0 {
            for chunk in buffer.bytes_mut().chunks_exact_mut(size) {
                chunk.copy_from_slice(&value.to_bytes()[..size]);
            }
        }
        buffer
    }

    /// A tensor from its elements in row-major order; `None` if their number is not the product of `shape`
    /// or one has another type.
    pub fn from_scalars(dtype: DType, shape: &[usize], values: &[Scalar]) -> Option<Buffer> {
        let mut buffer = Buffer::zeros(dtype, shape);
        if buffer.len != values.len() || values.iter().any(|v| v.dtype() != dtype) {
            return None;
        }
        for (i, &v) in values.iter().enumerate() {
            buffer.set(i, v);
        }
        Some(buffer)
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The sizes of the axes.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Has it no element?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements as bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: by the invariant the lines hold at least this many initialised bytes.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast(), self.len * self.dtype.size()) }
    }

    /// The elements as bytes, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; the borrow of `self` is exclusive.
        unsafe {
            std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), self.len * self.dtype.size())
        }
    }

    /// The address of the first element, for compiled code.
    pub fn as_ptr(&self) -> *const u8 {
        self.memory.as_ptr().cast()
    }

    /// The address of the first element, for compiled code that writes.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.memory.as_mut_ptr().cast()
    }

    /// The element at row-major position `i`. Panics beyond the end, as indexing does.
    pub fn get(&self, i: usize) -> Scalar {
        let size = self.dtype.size();
        Scalar::from_bytes(self.dtype, &self.bytes()[i * size..(i + 1) * size])
    }

    /// Writes the element at row-major position `i`; the value has the buffer's element type.
    pub fn set(&mut self, i: usize, value: Scalar) {
        debug_assert_eq!(value.dtype(), self.dtype);
        let size = self.dtype.size();
        self.bytes_mut()[i * size..(i + 1) * size].copy_from_slice(&value.to_bytes()[..size]);
    }

    /// The same elements under other sizes with the same product; `None` if the product differs.
    pub fn reshaped(mut self, shape: &[usize]) -> Option<Buffer> {
        (shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)) == Some(self.len)).then(|| {
            self.shape = shape.to_vec();
            self
        })
    }
}

impl PartialEq for Buffer {
    /// Bit for bit.
    fn eq(&self, other: &Buffer) -> bool {
        self.dtype == other.dtype && self.shape == other.shape && self.bytes() == other.bytes()
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.dtype, self.shape)?;
        f.debug_list().entries((0..self.len.min(16)).map(|i| self.get(i))).finish()
    }
}
