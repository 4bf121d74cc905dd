//! Memory of a launch: tensors, and what blocks and threads have.

use crate::code::Space;
use std::ops::Range;

/// Bytes that a kernel gets a pointer to, and which of them anything has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    bytes: Vec<u8>,
    written: Vec<bool>,
    loaded: Range<usize>,
    stored: Range<usize>,
}

/// The least range around two, of which an empty one counts nothing.
fn around(own: &mut Range<usize>, other: Range<usize>) {
    *own = match (Range::is_empty(own), Range::is_empty(&other)) {
        (_, true) => return,
        (true, false) => other,
        (false, false) => own.start.min(other.start)..own.end.max(other.end),
    };
}

impl Buffer {
    /// These bytes.
    pub fn of(bytes: &[u8]) -> Buffer {
        Buffer::new(bytes.to_vec(), vec![true; bytes.len()])
    }

    /// So many bytes that nothing has written.
    pub fn unwritten(bytes: usize) -> Buffer {
        Buffer::new(vec![0; bytes], vec![false; bytes])
    }

    /// Bytes of which those are written that are said to be; there are as many truths as bytes.
    ///
    /// # Panics
    /// Where there are not.
    pub fn partly(bytes: &[u8], written: &[bool]) -> Buffer {
        assert_eq!(bytes.len(), written.len(), "a truth for every byte");
        Buffer::new(bytes.to_vec(), written.to_vec())
    }

    fn new(bytes: Vec<u8>, written: Vec<bool>) -> Buffer {
        Buffer { bytes, written, loaded: 0..0, stored: 0..0 }
    }

    /// The least range that has all bytes which kernels have read; empty where they have read none.
    pub fn loaded(&self) -> Range<usize> {
        self.loaded.clone()
    }

    /// The same of bytes which they have written.
    pub fn stored(&self) -> Range<usize> {
        self.stored.clone()
    }

    /// The bytes; those that nothing has written are those that they were.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Which bytes are written.
    pub fn written(&self) -> &[bool] {
        &self.written
    }

    /// Is everything written?
    pub fn is_written(&self) -> bool {
        self.written.iter().all(|&w| w)
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes as a number, the first one the lowest. Those behind the end are any, here always the same.
    pub(crate) fn load(&mut self, at: usize, bytes: usize) -> Result<u64, String> {
        around(&mut self.loaded, at..(at + bytes).min(self.bytes.len()).max(at));
        let inside = self.bytes.get(at..at + bytes).zip(self.written.get(at..at + bytes));
        if let Some((own, written)) = inside
            && bytes <= 8
            && written.iter().all(|&w| w)
        {
            let mut value = [0; 8];
            value[..bytes].copy_from_slice(own);
            return Ok(u64::from_le_bytes(value));
        }
        let end = (at + bytes).min(self.len());
        if let Some(i) = self.written[at.min(end)..end].iter().position(|w| !w) {
            return Err(format!("byte {} is read before anything is written there", at + i));
        }
        let byte = |i: usize| self.bytes.get(i).copied().unwrap_or(BEHIND);
        Ok((at..at + bytes).rev().fold(0, |value, i| value << 8 | u64::from(byte(i))))
    }

    pub(crate) fn store(&mut self, at: usize, bytes: usize, value: u64) {
        self.write(at, &value.to_le_bytes()[..bytes]);
    }

    pub(crate) fn write(&mut self, at: usize, bytes: &[u8]) {
        around(&mut self.stored, at..at + bytes.len());
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self.written[at..at + bytes.len()].fill(true);
    }

    pub(crate) fn forget(&mut self, at: usize, bytes: usize) {
        self.written[at..at + bytes].fill(false);
    }
}

/// What lies behind the end of a tensor.
const BEHIND: u8 = 0xa5;

/// Tensors lie at multiples of this, so that an aligned load of as many bytes at most may read behind their end: LLVM
/// makes one load of several.
pub(crate) const GRANULE: usize = 16;

/// Where each tensor begins, and how far the windows of the other spaces are from each other, in generic addresses.
const BUFFER: u64 = 1 << 40;
const SHARED: u64 = 1 << 36;
const LOCAL: u64 = 1 << 37;

/// The bytes that a tensor has room for.
pub(crate) const MOST: u64 = BUFFER;

/// The address of the beginning of a tensor.
pub(crate) fn pointer(buffer: usize) -> u64 {
    (buffer as u64 + 1) * BUFFER
}

/// The generic address of one in a space.
pub(crate) fn generic(space: Space, address: u64) -> u64 {
    match space {
        Space::Shared => SHARED + address,
        Space::Local => LOCAL + address,
        _ => address,
    }
}

/// The address in a space of a generic one.
pub(crate) fn specific(space: Space, address: u64) -> u64 {
    match space {
        Space::Shared => address.wrapping_sub(SHARED),
        Space::Local => address.wrapping_sub(LOCAL),
        _ => address,
    }
}

/// The address in shared memory of one that may be generic.
pub(crate) fn inside(address: u64) -> u64 {
    if (SHARED..LOCAL).contains(&address) { address - SHARED } else { address }
}

/// What an address names: a tensor, or memory of the block or of the thread; and the byte in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Buffer(usize, u64),
    Shared(u64),
    Local(u64),
}

pub(crate) fn place(space: Space, address: u64) -> Result<Place, String> {
    match space {
        Space::Shared => Ok(Place::Shared(address)),
        Space::Local => Ok(Place::Local(address)),
        Space::Global | Space::Generic if address >= BUFFER => {
            Ok(Place::Buffer((address / BUFFER) as usize - 1, address % BUFFER))
        }
        Space::Generic if address >= LOCAL => Ok(Place::Local(address - LOCAL)),
        Space::Generic if address >= SHARED => Ok(Place::Shared(address - SHARED)),
        _ => Err(format!("the address {address:#x} is that of nothing")),
    }
}
