//! Barriers with phases and boxes of tensors that are copied in the background (PTX ISA, "mbarrier", "cp.async.bulk.tensor").
//!
//! A box is read when it is asked for, and arrives as late as it can: when no other thread can go on and one waits for a
//! phase. So what is read before it is waited for is a read of memory that nothing has written. A thread that tries a phase
//! waits until it is over.

use crate::code::{Operand, Space};
use crate::machine::{Block, State};

/// A tensor, and boxes of it that kernels copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// The buffer.
    pub buffer: usize,
    /// Elements along each dimension, that of neighbours first.
    pub extents: Vec<u64>,
    /// Bytes from one element to the next along each dimension: the first are those of an element.
    pub strides: Vec<u64>,
    /// Elements of a box along each dimension.
    pub sizes: Vec<u32>,
    /// Are parts of 16 bytes exchanged in lines of 128?
    pub swizzled: bool,
}

/// A barrier: what its phase still waits for.
#[derive(Clone, Debug)]
pub(crate) struct Phase {
    count: u32,
    number: u64,
    arrivals: u32,
    bytes: u32,
}

impl Phase {
    fn is_over(&self, parity: u64) -> bool {
        self.number & 1 != parity & 1
    }

    fn advance(&mut self) {
        if (self.arrivals, self.bytes) == (0, 0) {
            self.number += 1;
            self.arrivals = self.count;
        }
    }
}

/// A box on its way: bytes of shared memory, and what comes there.
#[derive(Clone, Debug)]
pub(crate) struct Flight {
    to: u64,
    bytes: Vec<u8>,
    swizzled: bool,
    barrier: u64,
}

/// What an instruction does at a barrier with phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phasing {
    Init,
    Arrive,
    Expect,
    Wait,
}

/// Bytes that are copied at once where parts are exchanged, and bytes of a line and of eight.
const PART: usize = 16;
const LINE: u64 = 128;
const LINES: u64 = 1024;

/// Where a byte of a box is whose parts are exchanged.
fn exchanged(address: u64) -> u64 {
    address ^ ((address / LINE % 8) * PART as u64)
}

impl Block<'_> {
    fn phase(&mut self, address: u64) -> Result<&mut Phase, String> {
        self.phases.get_mut(&address).ok_or_else(|| "a barrier that nothing has initialised".to_string())
    }

    /// An instruction at a barrier; gives whether the thread goes on.
    pub(crate) fn phasing(
        &mut self,
        thread: usize,
        how: Phasing,
        operands: &[Operand],
    ) -> Result<bool, String> {
        let results = usize::from(how != Phasing::Init);
        let operand = |i: usize| operands.get(i).ok_or("an operand is missing");
        let address = self.address(thread, operand(results)?)?;
        let number = |block: &Self| block.value(thread, operand(results + 1)?);
        match how {
            Phasing::Init => {
                let count = number(self)? as u32;
                self.touch(thread, address, 8)?;
                let phase = Phase { count, number: 0, arrivals: count, bytes: 0 };
                if count == 0 || self.phases.insert(address, phase).is_some() {
                    return Err("a barrier that waits for nothing, or is initialised twice".into());
                }
            }
            Phasing::Arrive | Phasing::Expect => {
                let bytes = if how == Phasing::Expect { number(self)? as u32 } else { 0 };
                let phase = self.phase(address)?;
                let more = "a barrier that gets more arrivals than it waits for";
                phase.arrivals = phase.arrivals.checked_sub(1).ok_or(more)?;
                phase.bytes =
                    phase.bytes.checked_add(bytes).ok_or("a barrier that waits for too many bytes")?;
                phase.advance();
            }
            Phasing::Wait => {
                let parity = number(self)?;
                if !self.phase(address)?.is_over(parity) {
                    self.threads[thread].state = State::Phase(address, parity);
                    return Ok(false);
                }
                self.set_register(thread, operand(0)?, 1)?;
            }
        }
        Ok(true)
    }

    /// `[to], [map, {place}], [barrier]`
    pub(crate) fn box_begins(&mut self, thread: usize, operands: &[Operand]) -> Result<(), String> {
        let [to, Operand::Box(map, place), barrier] = operands else {
            return Err("a box with other operands".into());
        };
        let (to, barrier) = (self.shared_address(thread, to)?, self.shared_address(thread, barrier)?);
        let number = self.address(thread, map)? / 8;
        let map =
            self.maps.get(number as usize).cloned().flatten().ok_or("a map of a tensor that is none")?;
        let place: Vec<i64> = place
            .iter()
            .map(|p| self.value(thread, p).map(|v| i64::from(v as u32 as i32)))
            .collect::<Result<_, String>>()?;
        let rank = map.sizes.len();
        if !(1..=5).contains(&rank)
            || place.len() != rank
            || map.extents.len() != rank
            || map.strides.len() != rank
        {
            return Err("a box with other dimensions than its tensor".into());
        }
        if ![1, 2, 4, 8].contains(&map.strides[0]) {
            return Err("a box of elements that no machine copies".into());
        }
        let element = map.strides[0] as usize;
        let line = u64::from(map.sizes[0]) * map.strides[0];
        let aligned = map.strides[1..].iter().all(|s| s % 16 == 0) && line.is_multiple_of(16);
        let most = if map.swizzled { LINE } else { u64::MAX };
        if !aligned || line > most || map.sizes.iter().any(|&s| !(1..=256).contains(&s)) {
            return Err("a box that no machine copies".into());
        }
        if !to.is_multiple_of(if map.swizzled { LINES } else { LINE }) {
            return Err(format!("a box at byte {to} of shared memory, which is not aligned"));
        }
        let count: usize = map.sizes.iter().map(|&s| s as usize).product();
        self.phase(barrier)?;
        self.touch(thread, to, count * element)?;
        let mut bytes = Vec::with_capacity(count * element);
        for i in 0..count {
            let (mut rest, mut at) = (i as i64, Some(0u64));
            let along = place.iter().zip(&map.sizes).zip(map.extents.iter().zip(&map.strides));
            for ((first, &size), (&extent, &stride)) in along {
                let own = first + rest % i64::from(size);
                rest /= i64::from(size);
                let exists = own >= 0 && (own as u64) < extent;
                let further = (own as u64).checked_mul(stride);
                at = match (at, exists) {
                    (Some(at), true) => {
                        let at = further.and_then(|further| further.checked_add(at));
                        Some(at.filter(|at| *at < crate::memory::MOST).ok_or("a box far away")?)
                    }
                    _ => None,
                };
            }
            let value = match at {
                Some(at) => {
                    self.load(thread, Space::Global, crate::memory::pointer(map.buffer) + at, element)?
                }
                None => 0,
            };
            bytes.extend_from_slice(&value.to_le_bytes()[..element]);
        }
        self.counts.accesses += 1;
        self.counts.bytes += bytes.len() as u64;
        self.flights.push(Flight { to, bytes, swizzled: map.swizzled, barrier });
        Ok(())
    }

    /// An address in shared memory, which may be one of all blocks of a cluster: there is one.
    fn shared_address(&self, thread: usize, operand: &Operand) -> Result<u64, String> {
        let address = self.address(thread, operand)?;
        Ok(crate::memory::inside(address))
    }

    /// Bytes of shared memory become those that nothing has written.
    fn touch(&mut self, thread: usize, address: u64, bytes: usize) -> Result<(), String> {
        for at in (0..bytes as u64).step_by(8) {
            let part = (bytes as u64 - at).min(8) as usize;
            let (memory, at) = self.memory(thread, Space::Shared, address + at, part)?;
            memory.forget(at, part);
        }
        Ok(())
    }

    /// Lets threads go on whose phase is over, after boxes that have to come before; gives whether any does.
    pub(crate) fn boxes_arrive(&mut self) -> Result<bool, (usize, String)> {
        loop {
            let mut woken = false;
            for thread in &mut self.threads {
                if let State::Phase(address, parity) = thread.state
                    && self.phases.get(&address).is_some_and(|p| p.is_over(parity))
                {
                    thread.state = State::Ready;
                    woken = true;
                }
            }
            let waits = self.threads.iter().position(|t| matches!(t.state, State::Phase(..)));
            let (false, Some(waits), false) = (woken, waits, self.flights.is_empty()) else {
                return Ok(woken);
            };
            self.box_arrives(waits).map_err(|message| (waits, message))?;
        }
    }

    fn box_arrives(&mut self, thread: usize) -> Result<(), String> {
        let Flight { to, bytes, swizzled, barrier } = self.flights.remove(0);
        for (i, part) in bytes.chunks(PART).enumerate() {
            let at = to + (i * PART) as u64;
            let at = if swizzled { exchanged(at) } else { at };
            for (j, byte) in part.iter().enumerate() {
                let (memory, at) = self.memory(thread, Space::Shared, at + j as u64, 1)?;
                memory.write(at, &[*byte]);
            }
        }
        let phase = self.phase(barrier)?;
        phase.bytes = phase.bytes.checked_sub(bytes.len() as u32).ok_or_else(|| {
            format!("a barrier gets {} bytes, which are more than it waits for", bytes.len())
        })?;
        phase.advance();
        Ok(())
    }

    /// Who waits for a phase that nothing ends, and what is missing.
    pub(crate) fn never_over(&self) -> Option<(usize, String)> {
        self.threads.iter().enumerate().find_map(|(number, thread)| {
            let State::Phase(address, _) = thread.state else { return None };
            let phase = self.phases.get(&address)?;
            let Phase { number: own, arrivals, bytes, .. } = phase;
            let what =
                format!("{arrivals} arrivals and {bytes} bytes are missing at phase {own} of its barrier");
            Some((number, format!("it waits for what never comes: {what}")))
        })
    }
}
