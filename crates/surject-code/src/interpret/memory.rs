//! Memory: pieces that know their bounds, what has been written, and by whom.

use super::{Done, FaultKind, Options, RacingLoads, Random};
use std::collections::BTreeMap;

/// An address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pointer(pub(super) u64);

/// Bytes around each piece that are no memory, so that an access beyond one does not reach another. A multiple of 64.
const GUARD: usize = 4096;

/// The number of a worker in marks of bytes that several have read.
const SEVERAL: u32 = 63;

/// Who touched a byte last in a parallel call: the number of the call, and of a worker. 0 is nobody.
type Mark = u32;

struct Region {
    name: String,
    /// The address of its first byte.
    start: u64,
    length: usize,
    /// Its bytes, between guards.
    bytes: Vec<u128>,
    written: Vec<bool>,
    writers: Vec<Mark>,
    readers: Vec<Mark>,
    /// Does it end with the function that made it?
    on_stack: bool,
}

impl Region {
    /// Where its first byte is among those of `bytes`.
    fn offset(&self) -> usize {
        (self.start - self.bytes.as_ptr() as u64) as usize
    }

    fn all(&self) -> &[u8] {
        let (at, pointer) = (self.offset(), self.bytes.as_ptr().cast::<u8>());
        // SAFETY: `bytes` has the guards and `length` bytes, all initialised.
        unsafe { std::slice::from_raw_parts(pointer.add(at), self.length) }
    }

    fn all_mut(&mut self) -> &mut [u8] {
        let (at, length, pointer) = (self.offset(), self.length, self.bytes.as_mut_ptr().cast::<u8>());
        // SAFETY: as above, and it is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(pointer.add(at), length) }
    }
}

/// All memory.
pub(super) struct Memory {
    regions: Vec<Region>,
    by_start: BTreeMap<u64, usize>,
    random: Random,
    racing_loads: RacingLoads,
    /// The number of the parallel call that runs, and the worker.
    call: u32,
    worker: Option<u32>,
}

impl Memory {
    pub(super) fn new(Options { seed, racing_loads }: Options) -> Memory {
        let (regions, by_start, random) = (Vec::new(), BTreeMap::new(), Random(seed ^ 0x5eed));
        Memory { regions, by_start, random, racing_loads, call: 0, worker: None }
    }

    pub(super) fn allocate(&mut self, name: String, length: usize) -> Pointer {
        self.region(name, length, false)
    }

    pub(super) fn on_stack(&mut self, length: usize) -> Pointer {
        self.region("memory on the stack".into(), length, true)
    }

    fn region(&mut self, name: String, length: usize, on_stack: bool) -> Pointer {
        let words = (length + 2 * GUARD + 64).div_ceil(16);
        let mut bytes = vec![0u128; words];
        for word in &mut bytes {
            *word = u128::from(self.random.next()) << 64 | u128::from(self.random.next());
        }
        let start = (bytes.as_ptr() as u64 + GUARD as u64).next_multiple_of(64);
        let marks = |n| vec![0; n];
        let region = Region {
            name,
            start,
            length,
            bytes,
            written: vec![false; length],
            writers: marks(length),
            readers: marks(length),
            on_stack,
        };
        self.by_start.insert(start, self.regions.len());
        self.regions.push(region);
        Pointer(start)
    }

    /// How many pieces there are: where the stack is.
    pub(super) fn stack(&self) -> usize {
        self.regions.len()
    }

    /// Takes away what functions have put on the stack since.
    pub(super) fn unwind(&mut self, to: usize) {
        while self.regions.len() > to && self.regions.last().is_some_and(|r| r.on_stack) {
            if let Some(region) = self.regions.pop() {
                self.by_start.remove(&region.start);
            }
        }
    }

    /// The tasks of a parallel call begin.
    pub(super) fn begin_call(&mut self) {
        self.call += 1;
    }

    /// Who touches memory from now on; `None`: nobody does at the same time.
    pub(super) fn set_worker(&mut self, worker: Option<u32>) {
        self.worker = worker.map(|w| w % SEVERAL);
    }

    /// The piece with these bytes, and where they are in it.
    fn find(&self, at: u64, bytes: usize) -> Option<(usize, usize)> {
        let (&start, &region) = self.by_start.range(..=at).next_back()?;
        let offset = usize::try_from(at - start).ok()?;
        let end = offset.checked_add(bytes)?;
        (end <= self.regions[region].length).then_some((region, offset))
    }

    /// An address in words.
    fn describe(&self, at: u64) -> String {
        let near = self.by_start.range(..=at.wrapping_add(GUARD as u64)).next_back();
        match near.map(|(_, &region)| &self.regions[region]) {
            Some(region) => {
                let offset = at.wrapping_sub(region.start) as i64;
                format!("byte {offset} of {} ({} bytes)", region.name, region.length)
            }
            None => "no memory at all".to_string(),
        }
    }

    fn bounded(&self, at: u64, bytes: usize) -> Done<(usize, usize)> {
        let place = || FaultKind::OutOfBounds { place: self.describe(at), bytes };
        self.find(at, bytes).ok_or_else(place)
    }

    /// Refuses an address that is not aligned.
    pub(super) fn aligned(&self, at: u64, alignment: usize) -> Done<()> {
        match at.is_multiple_of(alignment as u64) {
            true => Ok(()),
            false => Err(FaultKind::Misaligned { place: self.describe(at), alignment }),
        }
    }

    /// Reads bytes as code does.
    pub(super) fn read(&mut self, at: u64, bytes: usize) -> Done<Vec<u8>> {
        let (region, offset) = self.bounded(at, bytes)?;
        let mut found = self.regions[region].all()[offset..offset + bytes].to_vec();
        let Some(worker) = self.worker else { return Ok(found) };
        let (own, call) = (self.call * 64 + worker, self.call);
        let Region { writers, readers, .. } = &mut self.regions[region];
        for (i, byte) in (offset..).zip(&mut found) {
            if writers[i] / 64 == call && writers[i] != own {
                if self.racing_loads == RacingLoads::Fault {
                    let place = self.describe(at + (i - offset) as u64);
                    return Err(FaultKind::Race { place });
                }
                *byte = self.random.next() as u8;
            }
            let several = readers[i] / 64 == call && readers[i] != own;
            readers[i] = if several { call * 64 + SEVERAL } else { own };
        }
        Ok(found)
    }

    /// Writes bytes as code does.
    pub(super) fn write(&mut self, at: u64, bytes: &[u8]) -> Done<()> {
        let (region, offset) = self.bounded(at, bytes.len())?;
        let range = offset..offset + bytes.len();
        if let Some(worker) = self.worker {
            let (own, call) = (self.call * 64 + worker, self.call);
            let Region { writers, readers, .. } = &mut self.regions[region];
            for i in range.clone() {
                let other = |mark: Mark| mark / 64 == call && mark != own;
                let read = self.racing_loads == RacingLoads::Fault && other(readers[i]);
                if other(writers[i]) || read {
                    let place = self.describe(at + (i - offset) as u64);
                    return Err(FaultKind::Race { place });
                }
                writers[i] = own;
            }
        }
        let region = &mut self.regions[region];
        region.written[range.clone()].fill(true);
        region.all_mut()[range].copy_from_slice(bytes);
        Ok(())
    }

    /// What a function of the runtime may have written: all from an address on.
    pub(super) fn written_from(&mut self, at: u64) {
        if let Some((region, offset)) = self.find(at, 0) {
            self.regions[region].written[offset..].fill(true);
        }
    }

    /// The same of the addresses in an array.
    pub(super) fn written_through(&mut self, at: u64) {
        let Some((region, offset)) = self.find(at, 0) else { return };
        let words = self.regions[region].all()[offset..].chunks_exact(8);
        let inside: Vec<u64> = words.map_while(|w| w.try_into().ok().map(u64::from_le_bytes)).collect();
        inside.into_iter().for_each(|at| self.written_from(at));
    }

    pub(super) fn set(&mut self, at: Pointer, bytes: &[u8]) {
        if let Some((region, offset)) = self.find(at.0, bytes.len()) {
            let region = &mut self.regions[region];
            region.written[offset..offset + bytes.len()].fill(true);
            region.all_mut()[offset..offset + bytes.len()].copy_from_slice(bytes);
        }
    }

    pub(super) fn get(&self, at: Pointer, bytes: usize) -> Option<&[u8]> {
        let (region, offset) = self.find(at.0, bytes)?;
        Some(&self.regions[region].all()[offset..offset + bytes])
    }

    pub(super) fn is_written(&self, at: Pointer, bytes: usize) -> bool {
        let found = self.find(at.0, bytes);
        found.is_some_and(|(region, offset)| {
            self.regions[region].written[offset..offset + bytes].iter().all(|&w| w)
        })
    }
}
