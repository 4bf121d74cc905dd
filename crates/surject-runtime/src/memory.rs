//! Memory for tensors: blocks of whole cache lines that are used again.
//!
//! Fresh pages of the system cost more than most kernels: each is cleared by the system where it is touched first.
//! So a block that is dropped waits for the next one of its size, up to [`set_kept_bytes`] in all, the oldest giving
//! way; and large blocks ask for large pages, before any of theirs is touched. Sizes are rounded up by an eighth at
//! most, so that blocks of similar sizes serve each other. Small blocks come from the allocator of the process, which
//! keeps its own.

use memmap2::MmapMut;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::{BTreeMap, VecDeque};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The alignment of every block: a cache line, enough for any vector.
pub const ALIGN: usize = 64;

/// Smaller blocks are not kept.
const SMALL: usize = 4096;

/// Smaller blocks come from the allocator of the process, others from the system: their pages are zeros without
/// having been touched.
const MAPPED: usize = 128 << 10;

/// The size of a large page, and the alignment of blocks that have one.
const PAGE: usize = 2 << 20;

/// A block of memory, all of it initialised.
pub struct Block {
    /// Taken out only when the block is dropped.
    memory: ManuallyDrop<Memory>,
}

/// Memory of a size that [`size`] gives.
struct Memory {
    start: NonNull<u8>,
    size: usize,
    /// What it lies in, if that is not the allocator's.
    map: Option<MmapMut>,
}

// SAFETY: the memory is owned.
unsafe impl Send for Memory {}
// SAFETY: what is shared can only be read.
unsafe impl Sync for Memory {}

impl Block {
    /// A block of so many bytes, and up to an eighth more, of zeros; `None` if there is not so much memory.
    pub fn zeroed(bytes: usize) -> Option<Block> {
        let size = size(bytes)?;
        let memory = match take(size) {
            Some(memory) => {
                // SAFETY: it has that size and is owned.
                unsafe { memory.start.write_bytes(0, bytes) };
                memory
            }
            None => Memory::fresh(size)?,
        };
        Some(Block { memory: ManuallyDrop::new(memory) })
    }

    /// A block of so many bytes, and up to an eighth more, that hold anything; `None` if there is not so much memory.
    pub fn unwritten(bytes: usize) -> Option<Block> {
        let size = size(bytes)?;
        let memory = take(size).or_else(|| Memory::fresh(size))?;
        Some(Block { memory: ManuallyDrop::new(memory) })
    }

    /// The address of the first byte.
    pub fn as_ptr(&self) -> *const u8 {
        self.memory.start.as_ptr()
    }

    /// The address of the first byte, to write.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.memory.start.as_ptr()
    }

    /// How many bytes there are.
    pub fn bytes(&self) -> usize {
        self.memory.size
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: it is taken out once, here.
        give(unsafe { ManuallyDrop::take(&mut self.memory) });
    }
}

/// The size of a block: whole lines, and of large ones one of eight sizes between powers of two.
fn size(bytes: usize) -> Option<usize> {
    let lines = bytes.max(1).checked_next_multiple_of(ALIGN)?;
    let size =
        if lines < SMALL { lines } else { lines.checked_next_multiple_of(1 << (lines.ilog2() - 3))? };
    Layout::from_size_align(size, PAGE).ok().map(|layout| layout.size())
}

impl Memory {
    /// New memory of zeros.
    fn fresh(size: usize) -> Option<Memory> {
        if size < MAPPED {
            // SAFETY: the size is not zero.
            let start = NonNull::new(unsafe { alloc_zeroed(Memory::layout(size)?) })?;
            return Some(Memory { start, size, map: None });
        }
        // Before the first whole large page there may be up to one.
        let ahead = if size < PAGE { 0 } else { PAGE };
        let mut map = MmapMut::map_anon(size.checked_add(ahead)?).ok()?;
        let place = if ahead == 0 { 0 } else { map.as_ptr().align_offset(PAGE) };
        // Where there are no large pages the memory is as good, only slower.
        #[cfg(target_os = "linux")]
        if ahead > 0 {
            let _ = map.advise_range(memmap2::Advice::HugePage, place, size);
        }
        let start = NonNull::from(map.get_mut(place..)?).cast();
        Some(Memory { start, size, map: Some(map) })
    }

    fn layout(size: usize) -> Option<Layout> {
        Layout::from_size_align(size, ALIGN).ok()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let (None, Some(layout)) = (&self.map, Memory::layout(self.size)) {
            // SAFETY: it was allocated with this layout.
            unsafe { dealloc(self.start.as_ptr(), layout) }
        }
    }
}

/// Memory that waits.
struct Kept {
    /// By size; each list is in the order in which it came.
    blocks: BTreeMap<usize, VecDeque<(u64, Memory)>>,
    bytes: usize,
    most: usize,
    time: u64,
}

static KEPT: Mutex<Kept> = Mutex::new(Kept { blocks: BTreeMap::new(), bytes: 0, most: 256 << 20, time: 0 });

fn kept() -> MutexGuard<'static, Kept> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets how many bytes of dropped blocks are kept for the next ones, 256 MiB unless said, and frees what is too
/// much; 0 frees all and keeps nothing.
pub fn set_kept_bytes(most: usize) {
    let freed = {
        let mut kept = kept();
        kept.most = most;
        kept.shrink(most)
    };
    drop(freed);
}

/// How many bytes of dropped blocks are kept at the moment.
pub fn kept_bytes() -> usize {
    kept().bytes
}

fn take(size: usize) -> Option<Memory> {
    if size < SMALL {
        return None;
    }
    let mut kept = kept();
    let (_, memory) = kept.blocks.get_mut(&size)?.pop_back()?;
    kept.bytes -= size;
    Some(memory)
}

/// Keeps memory for the next block of its size, if it is neither too small nor too large for that.
fn give(memory: Memory) {
    let size = memory.size;
    if size < SMALL {
        return;
    }
    let freed = {
        let mut kept = kept();
        if size > kept.most / 2 {
            return;
        }
        let most = kept.most - size;
        let freed = kept.shrink(most);
        kept.time += 1;
        let time = kept.time;
        kept.bytes += size;
        kept.blocks.entry(size).or_default().push_back((time, memory));
        freed
    };
    // Not while others wait.
    drop(freed);
}

impl Kept {
    /// Takes the oldest out until no more than `most` bytes are left.
    fn shrink(&mut self, most: usize) -> Vec<Memory> {
        let mut out = Vec::new();
        while self.bytes > most {
            let oldest = self.blocks.iter_mut().filter(|(_, list)| !list.is_empty());
            let oldest = oldest.min_by_key(|(_, list)| list.front().map_or(u64::MAX, |b| b.0));
            let Some((&size, list)) = oldest else { break };
            if let Some((_, memory)) = list.pop_front() {
                self.bytes -= size;
                out.push(memory);
            }
        }
        self.blocks.retain(|_, list| !list.is_empty());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kept blocks are those of the process: one test at a time.
    static TURN: Mutex<()> = Mutex::new(());

    #[test]
    fn sizes_are_rounded_by_an_eighth_at_most_and_only_once() {
        for bytes in (0..200_000).step_by(7).chain([PAGE - 1, PAGE, PAGE + 1, 77 << 20]) {
            let size = size(bytes).unwrap();
            assert!(size >= bytes && size.is_multiple_of(ALIGN), "{bytes}");
            assert!(size <= (bytes + ALIGN).max(bytes + bytes / 8 + ALIGN), "{bytes} {size}");
            assert_eq!(super::size(size).unwrap(), size, "{bytes}");
        }
        assert!(size(usize::MAX).is_none() && size(isize::MAX as usize).is_none());
    }

    #[test]
    fn blocks_are_used_again() {
        let _turn = TURN.lock();
        // A size that no other test uses.
        let bytes = 123 << 10;
        let mut block = Block::zeroed(bytes).unwrap();
        // SAFETY: the block has that size.
        unsafe { block.as_mut_ptr().write_bytes(7, bytes) };
        let address = block.as_ptr();
        drop(block);
        let block = Block::unwritten(bytes - 1000).unwrap();
        assert_eq!(block.as_ptr(), address);
        assert!(address.addr().is_multiple_of(ALIGN));
        drop(block);
        let block = Block::zeroed(bytes).unwrap();
        // SAFETY: as above.
        let bytes = unsafe { std::slice::from_raw_parts(block.as_ptr(), bytes) };
        assert!(bytes.iter().all(|&b| b == 0));
    }

    #[test]
    fn fresh_blocks_are_zeros_from_end_to_end() {
        for bytes in [1, SMALL, MAPPED - 1, MAPPED, PAGE - ALIGN, PAGE, 5 * PAGE + 7] {
            let mut memory = Memory::fresh(size(bytes).unwrap()).unwrap();
            let place = memory.start.addr().get();
            assert!(place.is_multiple_of(if bytes < PAGE { ALIGN } else { PAGE }), "{bytes}");
            // SAFETY: it has that size.
            let all = unsafe { std::slice::from_raw_parts_mut(memory.start.as_mut(), memory.size) };
            assert!(all.len() >= bytes && all.iter().all(|&b| b == 0), "{bytes}");
            all.fill(7);
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let _turn = TURN.lock();
        set_kept_bytes(1 << 20);
        for i in 0..40usize {
            drop(Block::unwritten((20 + 20 * (i % 7)) << 10));
        }
        let many: Vec<Block> = (0..40).filter_map(|_| Block::unwritten(100 << 10)).collect();
        drop(many);
        assert!(kept_bytes() <= 1 << 20);
        drop(Block::unwritten(3 << 20));
        set_kept_bytes(0);
        assert_eq!(kept_bytes(), 0);
        set_kept_bytes(256 << 20);
    }

    #[test]
    fn threads_share_them() {
        let _turn = TURN.lock();
        std::thread::scope(|scope| {
            for seed in 1..5u8 {
                scope.spawn(move || {
                    for round in 0..500usize {
                        let bytes = 5000 + 777 * (round % 13);
                        let mut block = Block::unwritten(bytes).unwrap();
                        // SAFETY: the block has that size, and no other thread has it.
                        unsafe {
                            block.as_mut_ptr().write_bytes(seed, bytes);
                            let all = std::slice::from_raw_parts(block.as_ptr(), bytes);
                            assert!(all.iter().all(|&b| b == seed));
                        }
                    }
                });
            }
        });
    }
}
