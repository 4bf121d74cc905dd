//! Maps of tensors, of which kernels copy boxes (TMA): what the driver encodes when a kernel is launched.

use crate::stored::dtype;
use serde::{Deserialize, Serialize};
use surject_ir::DType;

/// A tensor of a launch, and the boxes that its kernel copies of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorMap {
    /// Which tensor of the launch.
    pub tensor: u32,
    /// The type of its elements.
    #[serde(with = "dtype")]
    pub dtype: DType,
    /// Elements along each dimension, that of neighbours in memory first.
    pub extents: Vec<u64>,
    /// Bytes from one element to the next along each dimension.
    pub strides: Vec<u64>,
    /// Elements of a box along each dimension.
    pub sizes: Vec<u32>,
    /// Are parts of 16 bytes exchanged in lines of 128 bytes of shared memory?
    pub swizzled: bool,
}

impl TensorMap {
    /// Bytes at multiples of which tensors and their dimensions begin (CUDA driver API, `cuTensorMapEncodeTiled`).
    pub const ALIGNMENT: u64 = 16;

    /// The most elements along a dimension: where a box begins is a number of 32 bits with a sign.
    pub const EXTENT: u64 = i32::MAX as u64;

    /// What `cuTensorMapEncodeTiled` asks for, and that the tensor, of so many bytes, has all elements.
    pub fn check(&self, bytes: u64) -> Result<(), String> {
        let (rank, size) = (self.extents.len(), self.dtype.size() as u64);
        if !(1..=5).contains(&rank) || self.strides.len() != rank || self.sizes.len() != rank {
            return Err(format!("a map of {rank} dimensions"));
        }
        let aligned = self.strides[0] == size
            && self.strides[1..].iter().all(|s| s % TensorMap::ALIGNMENT == 0 && (1..1 << 40).contains(s));
        let line = u64::from(self.sizes[0]) * size;
        let fits = self.sizes.iter().all(|size| (1..=256).contains(size))
            && line.is_multiple_of(TensorMap::ALIGNMENT)
            && (!self.swizzled || line <= 128);
        if !aligned || !fits || self.extents.iter().any(|e| !(1..=TensorMap::EXTENT).contains(e)) {
            return Err("a map with sizes or strides that no device takes".into());
        }
        let mut along = self.extents.iter().zip(&self.strides);
        let end =
            along.try_fold(size, |end, (extent, stride)| (extent - 1).checked_mul(*stride)?.checked_add(end));
        match end.is_some_and(|end| end <= bytes) {
            true => Ok(()),
            false => Err(format!("a map of more than the {bytes} bytes of its tensor")),
        }
    }
}
