//! Boxes of tensors that are copied in the background, and barriers with phases, at which what arrives is counted.

use crate::{Affine, Mem, Value};
use surject_ir::DType;

/// A barrier with phases: an element of shared `i64` memory that nothing else uses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PhaseBarrier {
    /// The memory.
    pub mem: Mem,
    /// The number of the barrier in it.
    pub at: Affine,
}

/// What is done at a barrier with phases.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Phasing {
    /// Its first phase begins; every phase waits for so many arrivals.
    Init(u32),
    /// One arrives.
    Arrive,
    /// One arrives, and the phase waits for so many more bytes.
    Expect(u32),
    /// Waits until a phase whose number has this lowest bit is over: the one that runs, or the one before it.
    Wait(Value),
}

/// A tensor of global memory, and the boxes of it that are copied.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorMap {
    /// Its elements along each dimension, that of neighbours in memory first.
    pub extents: Vec<i64>,
    /// Elements from one to the next along each dimension.
    pub strides: Vec<i64>,
    /// Elements of a box along each dimension.
    pub sizes: Vec<i64>,
}

impl TensorMap {
    /// The most dimensions, and elements of a box along one (CUDA driver API, `cuTensorMapEncodeTiled`).
    pub const DIMENSIONS: usize = 5;
    /// The most elements of a box along a dimension.
    pub const LONGEST: i64 = 256;
    /// The most elements of a tensor along a dimension. A map may have 2^32, but where a box begins is a number of 32 bits
    /// with a sign.
    pub const EXTENT: i64 = i32::MAX as i64;
    /// Bytes of which strides are multiples, and the first dimension of a box.
    pub const BYTES: i64 = 16;

    /// Bytes of a box: as many as a phase of a barrier counts (PTX ISA, "mbarrier").
    pub const MOST: i64 = (1 << 20) - 1;

    /// Elements of a box.
    pub fn elements(&self) -> usize {
        self.sizes.iter().map(|&size| size.max(0) as usize).product()
    }

    /// Can a machine copy boxes of elements of a type like this? The conditions are those of `cuTensorMapEncodeTiled`.
    pub fn check(&self, dtype: DType) -> Result<(), String> {
        let size = dtype.size() as i64;
        let rank = self.extents.len();
        if self.strides.len() != rank
            || self.sizes.len() != rank
            || !(1..=TensorMap::DIMENSIONS).contains(&rank)
        {
            return Err(format!(
                "a box has 1 to {} dimensions, with an extent and a stride each",
                TensorMap::DIMENSIONS
            ));
        }
        if self.strides[0] != 1 {
            return Err("the elements of a box along its first dimension are neighbours in memory".into());
        }
        if let Some(long) = self.extents.iter().find(|&&e| !(1..=TensorMap::EXTENT).contains(&e)) {
            return Err(format!("a tensor with {long} elements along a dimension"));
        }
        if let Some(long) = self.sizes.iter().find(|&&s| !(1..=TensorMap::LONGEST).contains(&s)) {
            return Err(format!(
                "a box of {long} elements along a dimension, not 1 to {}",
                TensorMap::LONGEST
            ));
        }
        if self.sizes.iter().product::<i64>() * size > TensorMap::MOST {
            return Err(format!("a box of more than {} bytes", TensorMap::MOST));
        }
        let bytes = |elements: i64| elements.checked_mul(size).filter(|b| (1..1i64 << 40).contains(b));
        for &stride in self.strides.iter().skip(1) {
            if bytes(stride).is_none_or(|b| b % TensorMap::BYTES != 0) {
                return Err(format!(
                    "a stride of {stride} elements of {dtype} is no multiple of {} bytes",
                    TensorMap::BYTES
                ));
            }
        }
        if bytes(self.sizes[0]).is_none_or(|b| b % TensorMap::BYTES != 0) {
            return Err(format!(
                "a box of {} neighbours of {dtype}, which are no multiple of {} bytes",
                self.sizes[0],
                TensorMap::BYTES
            ));
        }
        Ok(())
    }
}

/// A box that is copied to shared memory in the background.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BoxCopy {
    /// The tensor.
    pub from: Mem,
    /// How it lies, and the size of the box.
    pub map: TensorMap,
    /// Where the box begins, along each dimension. What is outside of the tensor is zero.
    pub at: Vec<Affine>,
    /// The shared memory.
    pub to: Mem,
    /// The first element there.
    pub to_at: Affine,
    /// Elements there from one line of the first dimension to the next; lines follow each other dimension by dimension.
    pub pitch: i64,
    /// Where its bytes arrive.
    pub arrives: PhaseBarrier,
}
