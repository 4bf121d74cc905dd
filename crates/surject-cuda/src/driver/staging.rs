//! Bytes of the host on their way to the device.
//!
//! The device copies by itself only from memory that the system leaves in its place. So bytes go through blocks of such
//! memory: who asks goes on when they are there, and the copies to the device run behind each other in their stream,
//! beside what other streams do.

use super::failed;
use crate::DeviceError;
use cudarc::driver::result;
use cudarc::driver::sys::{self, CUdeviceptr, CUstream};

/// Bytes of a block, and how many there are at most.
const BLOCK: usize = 4 << 20;
const BLOCKS: usize = 4;

/// A block, and the event behind the copy that reads it.
struct Block {
    memory: *mut u8,
    event: sys::CUevent,
}

/// Blocks, used by turns.
#[derive(Default)]
pub(super) struct Staging {
    blocks: Vec<Block>,
    next: usize,
}

impl Staging {
    /// Copies bytes to the device, in a stream; they may be changed afterwards.
    pub(super) fn upload(
        &mut self,
        to: CUdeviceptr,
        bytes: &[u8],
        stream: CUstream,
    ) -> Result<(), DeviceError> {
        for (n, part) in bytes.chunks(BLOCK).enumerate() {
            let Block { memory, event } = *self.block()?;
            // SAFETY: the block has room for the part, and no copy reads it any more; it stays until `close`. The view that
            // begins at this address has as many bytes as there are.
            unsafe {
                std::ptr::copy_nonoverlapping(part.as_ptr(), memory, part.len());
                let staged = std::slice::from_raw_parts(memory, part.len());
                let at = to + (n * BLOCK) as u64;
                result::memcpy_htod_async(at, staged, stream).map_err(|e| failed("cuMemcpyHtoD", e))?;
                result::event::record(event, stream).map_err(|e| failed("cuEventRecord", e))?;
            }
        }
        Ok(())
    }

    /// A block that no copy reads.
    fn block(&mut self) -> Result<&Block, DeviceError> {
        if self.blocks.len() < BLOCKS {
            // SAFETY: the context is current; what is made here is given back in `close`.
            let memory = unsafe { result::malloc_host(BLOCK, 0) }.map_err(|e| failed("cuMemHostAlloc", e))?;
            let event = result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING).map_err(|e| {
                // SAFETY: it was made above, and nothing else knows it.
                let _ = unsafe { result::free_host(memory) };
                failed("cuEventCreate", e)
            })?;
            self.blocks.push(Block { memory: memory.cast(), event });
            return Ok(&self.blocks[self.blocks.len() - 1]);
        }
        let block = &self.blocks[self.next];
        self.next = (self.next + 1) % BLOCKS;
        // SAFETY: the event is of this context, and was recorded behind the last copy that reads the block.
        unsafe { result::event::synchronize(block.event) }.map_err(|e| failed("cuEventSynchronize", e))?;
        Ok(block)
    }

    /// Gives all blocks back, when the streams have been waited for.
    ///
    /// # Safety
    /// The context is current, and no copy is under way.
    pub(super) unsafe fn close(&mut self) {
        for Block { memory, event } in self.blocks.drain(..) {
            // SAFETY: both were made in `block`, and are given back once.
            unsafe {
                let _ = result::event::destroy(event);
                let _ = result::free_host(memory.cast());
            }
        }
    }
}
