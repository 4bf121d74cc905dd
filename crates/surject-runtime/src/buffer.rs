//! Dense row-major tensors in host memory.

use crate::memory::{ALIGN, Block};
use crate::{DType, Scalar};
use std::alloc::{Layout, handle_alloc_error};
use std::fmt;

/// A dense tensor: element type, sizes of the axes, and the elements in row-major order.
///
/// Invariant: the memory is 64-byte aligned and holds at least `len() * dtype().size()` bytes.
///
/// The memory of a buffer that is dropped waits for the next buffer of its size ([`crate::memory`]).
pub struct Buffer {
    dtype: DType,
    shape: Vec<usize>,
    len: usize,
    memory: Block,
}

impl Buffer {
    /// A tensor of zeros (false, +0.0).
    ///
    /// # Panics
    /// If the size in bytes does not fit in `isize`; sizes from a file are checked where they are read.
    pub fn zeros(dtype: DType, shape: &[usize]) -> Buffer {
        Buffer::with(dtype, shape, Block::zeroed)
    }

    /// A tensor whose elements are not known, to be written: valid ones of the type, except that an `i1` may be any
    /// byte.
    ///
    /// # Panics
    /// As [`Buffer::zeros`].
    pub fn unwritten(dtype: DType, shape: &[usize]) -> Buffer {
        Buffer::with(dtype, shape, Block::unwritten)
    }

    /// As [`Buffer::zeros`]; `None` where there is not so much memory.
    pub fn try_zeros(dtype: DType, shape: &[usize]) -> Option<Buffer> {
        Buffer::in_memory(dtype, shape, Block::zeroed).ok()
    }

    /// As [`Buffer::unwritten`]; `None` where there is not so much memory.
    pub fn try_unwritten(dtype: DType, shape: &[usize]) -> Option<Buffer> {
        Buffer::in_memory(dtype, shape, Block::unwritten).ok()
    }

    fn with(dtype: DType, shape: &[usize], memory: fn(usize) -> Option<Block>) -> Buffer {
        Buffer::in_memory(dtype, shape, memory).unwrap_or_else(|bytes| {
            let bytes = bytes.expect("the size of a buffer fits in memory");
            let layout = Layout::from_size_align(bytes, ALIGN);
            handle_alloc_error(layout.unwrap_or_else(|_| Layout::new::<u8>()))
        })
    }

    /// A tensor in memory that is asked for; the bytes that there are not, if that is a number.
    fn in_memory(
        dtype: DType,
        shape: &[usize],
        memory: fn(usize) -> Option<Block>,
    ) -> Result<Buffer, Option<usize>> {
        let len = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).ok_or(None)?;
        let bytes = len.checked_mul(dtype.size()).filter(|&b| b < isize::MAX as usize).ok_or(None)?;
        let memory = memory(bytes).ok_or(Some(bytes))?;
        Ok(Buffer { dtype, shape: shape.to_vec(), len, memory })
    }

    /// A tensor with these little-endian bytes; `None` if their number is not `len * dtype.size()`.
    pub fn from_bytes(dtype: DType, shape: &[usize], bytes: &[u8]) -> Option<Buffer> {
        let len = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d))?;
        if len.checked_mul(dtype.size())? != bytes.len() {
            return None;
        }
        let mut buffer = Buffer::unwritten(dtype, shape);
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
        // SAFETY: by the invariant the block holds at least this many initialised bytes.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr(), self.len * self.dtype.size()) }
    }

    /// The elements as bytes, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; the borrow of `self` is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr(), self.len * self.dtype.size()) }
    }

    /// The address of the first element, for compiled code.
    pub fn as_ptr(&self) -> *const u8 {
        self.memory.as_ptr()
    }

    /// The address of the first element, for compiled code that writes.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.memory.as_mut_ptr()
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

impl Buffer {
    /// The same memory as a tensor of another type, whose elements are then not known; `None` if its size in bytes
    /// is another.
    pub fn recast(mut self, dtype: DType, shape: &[usize]) -> Option<Buffer> {
        let len = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d))?;
        if len.checked_mul(dtype.size()) != Some(self.len * self.dtype.size()) {
            return None;
        }
        (self.dtype, self.len) = (dtype, len);
        self.shape.clear();
        self.shape.extend_from_slice(shape);
        Some(self)
    }
}

impl Clone for Buffer {
    fn clone(&self) -> Buffer {
        let mut copy = Buffer::unwritten(self.dtype, &self.shape);
        copy.bytes_mut().copy_from_slice(self.bytes());
        copy
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
