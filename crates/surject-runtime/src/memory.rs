//! Memory for tensors: blocks of whole cache lines that are used again.
//!
//! Fresh pages of the system cost more than most kernels: each is cleared by the system where it is touched first.
//! So a block that is dropped waits for the next one of its size, up to [`set_kept_bytes`] in all, the oldest giving
//! way; and large blocks ask for large pages. Sizes are rounded up by an eighth at most, so that blocks of similar
//! sizes serve each other. Small blocks come from the allocator of the process, which keeps its own.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::{BTreeMap, VecDeque};
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The alignment of every block: a cache line, enough for any vector.
pub const ALIGN: usize = 64;

/// Smaller blocks are not kept.
const SMALL: usize = 4096;

/// The size of a large page, and the alignment of blocks that have one.
const PAGE: usize = 2 << 20;

/// A block of memory, all of it initialised.
pub struct Block {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the memory is owned.
unsafe impl Send for Block {}
// SAFETY: a shared block can only be read.
unsafe impl Sync for Block {}

impl Block {
    /// A block of so many bytes, and up to an eighth more, of zeros; `None` if there is not so much memory.
    pub fn zeroed(bytes: usize) -> Option<Block> {
        let layout = layout(bytes)?;
        match take(layout) {
            Some(block) => {
                // SAFETY: the block has that size and is owned.
                unsafe { block.start.write_bytes(0, bytes) };
                Some(block)
            }
            None => fresh(layout),
        }
    }

    /// A block of so many bytes, and up to an eighth more, that hold anything; `None` if there is not so much memory.
    pub fn unwritten(bytes: usize) -> Option<Block> {
        let layout = layout(bytes)?;
        take(layout).or_else(|| fresh(layout))
    }

    /// The address of the first byte.
    pub fn as_ptr(&self) -> *const u8 {
        self.start.as_ptr()
    }

    /// The address of the first byte, to write.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// How many bytes there are.
    pub fn bytes(&self) -> usize {
        self.layout.size()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.layout.size() < SMALL || !give(self.start, self.layout) {
            // SAFETY: allocated with this layout, and not kept.
            unsafe { dealloc(self.start.as_ptr(), self.layout) }
        }
    }
}

/// The layout of a block: whole lines, and of large ones one of eight sizes between powers of two.
fn layout(bytes: usize) -> Option<Layout> {
    let lines = bytes.max(1).checked_next_multiple_of(ALIGN)?;
    let size =
        if lines < SMALL { lines } else { lines.checked_next_multiple_of(1 << (lines.ilog2() - 3))? };
    Layout::from_size_align(size, if size < PAGE { ALIGN } else { PAGE }).ok()
}

fn fresh(layout: Layout) -> Option<Block> {
    // SAFETY: the size is not zero.
    let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
    if layout.size() >= PAGE {
        large_pages(start, layout.size() / PAGE * PAGE);
    }
    Some(Block { start, layout })
}

/// Asks for large pages. Where there are none the memory is as good, only slower.
#[cfg(target_os = "linux")]
fn large_pages(start: NonNull<u8>, bytes: usize) {
    unsafe extern "C" {
        fn madvise(start: *mut u8, bytes: usize, advice: i32) -> i32;
    }
    const HUGE_PAGE: i32 = 14;
    // SAFETY: the range is owned and aligned to a page; this advice changes nothing of what it holds.
    unsafe { madvise(start.as_ptr(), bytes, HUGE_PAGE) };
}

#[cfg(not(target_os = "linux"))]
fn large_pages(_: NonNull<u8>, _: usize) {}

/// Blocks that wait.
struct Kept {
    /// By size; each list is in the order in which they came.
    blocks: BTreeMap<usize, VecDeque<(u64, Address)>>,
    bytes: usize,
    most: usize,
    time: u64,
}

struct Address(NonNull<u8>);

// SAFETY: the memory there is owned.
unsafe impl Send for Address {}

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
    freed.into_iter().for_each(free);
}

/// How many bytes of dropped blocks are kept at the moment.
pub fn kept_bytes() -> usize {
    kept().bytes
}

fn take(layout: Layout) -> Option<Block> {
    if layout.size() < SMALL {
        return None;
    }
    let mut kept = kept();
    let (_, Address(start)) = kept.blocks.get_mut(&layout.size())?.pop_back()?;
    kept.bytes -= layout.size();
    Some(Block { start, layout })
}

/// Keeps a block; `false` if it is too large.
fn give(start: NonNull<u8>, layout: Layout) -> bool {
    let freed = {
        let mut kept = kept();
        if layout.size() > kept.most / 2 {
            return false;
        }
        let most = kept.most - layout.size();
        let freed = kept.shrink(most);
        kept.time += 1;
        let time = kept.time;
        kept.bytes += layout.size();
        kept.blocks.entry(layout.size()).or_default().push_back((time, Address(start)));
        freed
    };
    freed.into_iter().for_each(free);
    true
}

impl Kept {
    /// Takes the oldest blocks out until no more than `most` bytes are left.
    fn shrink(&mut self, most: usize) -> Vec<(usize, Address)> {
        let mut out = Vec::new();
        while self.bytes > most {
            let oldest = self.blocks.iter_mut().filter(|(_, list)| !list.is_empty());
            let oldest = oldest.min_by_key(|(_, list)| list.front().map_or(u64::MAX, |b| b.0));
            let Some((&size, list)) = oldest else { break };
            if let Some((_, address)) = list.pop_front() {
                self.bytes -= size;
                out.push((size, address));
            }
        }
        self.blocks.retain(|_, list| !list.is_empty());
        out
    }
}

fn free((size, Address(start)): (usize, Address)) {
    if let Some(layout) = layout(size) {
        // SAFETY: the block was allocated with the layout of its size, which is rounded already.
        unsafe { dealloc(start.as_ptr(), layout) }
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
            let size = layout(bytes).unwrap().size();
            assert!(size >= bytes && size.is_multiple_of(ALIGN), "{bytes}");
            assert!(size <= (bytes + ALIGN).max(bytes + bytes / 8 + ALIGN), "{bytes} {size}");
            assert_eq!(layout(size).unwrap().size(), size, "{bytes}");
        }
        assert!(layout(usize::MAX).is_none() && layout(isize::MAX as usize).is_none());
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
