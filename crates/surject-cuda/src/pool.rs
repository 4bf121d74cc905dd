//! A device that keeps memory that was given back.

use crate::device::forward;
use crate::{
    Call, Device, DeviceError, DeviceInfo, Event, Mark, Memory, Module, Recording, Scope, Shape, Stream, View,
};
use std::collections::{BTreeMap, HashMap};

/// A device whose memory waits for the next one who asks: asking a driver takes longer than most kernels, and giving
/// back waits for all. Sizes are rounded up by an eighth at most, so that similar ones serve each other. Where the
/// device has no more, all that waits is given back first. Who gives back has waited for the streams that use it.
#[derive(Debug)]
pub struct Pooled<D: Device> {
    device: D,
    /// What waits, by size.
    waiting: BTreeMap<u64, Vec<Memory>>,
    /// The sizes of what is in use.
    sizes: HashMap<Memory, u64>,
}

/// Smaller sizes are this one.
const LEAST: u64 = 512;

fn rounded(bytes: u64) -> Option<u64> {
    let bytes = bytes.max(LEAST);
    bytes.checked_next_multiple_of(1 << (bytes.ilog2() - 3))
}

impl<D: Device> Pooled<D> {
    /// A device and nothing that waits.
    pub fn new(device: D) -> Pooled<D> {
        Pooled { device, waiting: BTreeMap::new(), sizes: HashMap::new() }
    }

    /// The device.
    pub fn device(&mut self) -> &mut D {
        &mut self.device
    }

    /// Bytes in use and bytes that wait.
    pub fn bytes(&self) -> (u64, u64) {
        let waiting = self.waiting.iter().map(|(size, all)| size * all.len() as u64).sum();
        (self.sizes.values().sum(), waiting)
    }

    /// Gives all that waits back to the device.
    pub fn trim(&mut self) {
        for memory in std::mem::take(&mut self.waiting).into_values().flatten() {
            self.device.free(memory);
        }
    }
}

impl<D: Device> Drop for Pooled<D> {
    fn drop(&mut self) {
        self.trim();
    }
}

impl<D: Device> Device for Pooled<D> {
    fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    fn allocate(&mut self, bytes: u64) -> Result<Memory, DeviceError> {
        let size = rounded(bytes).ok_or(DeviceError::OutOfMemory { bytes, free: None })?;
        let waiting = self.waiting.get_mut(&size).and_then(Vec::pop);
        let memory = match waiting {
            Some(memory) => memory,
            None => match self.device.allocate(size) {
                Err(DeviceError::OutOfMemory { .. }) if self.bytes().1 > 0 => {
                    self.trim();
                    self.device.allocate(size)?
                }
                other => other?,
            },
        };
        self.sizes.insert(memory, size);
        Ok(memory)
    }

    fn free(&mut self, memory: Memory) {
        if let Some(size) = self.sizes.remove(&memory) {
            self.waiting.entry(size).or_default().push(memory);
        }
    }

    forward!(self => self.device);
}
