//! The static memory plan: where every buffer lies.
//!
//! Buffers that are never alive at the same time share memory. A buffer is alive from the first step that touches it
//! to the last one; one that is touched inside a loop but not first there is alive until the loop ends.

use crate::CodegenError;
use crate::dag::Buf;
use crate::steps::{Lowered, Step};
use std::collections::HashMap;
use surject_ir::{Function, TensorType};

/// Where a buffer lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The argument with this number.
    Arg(usize),
    /// The result with this number.
    Result(usize),
    /// The constant with this number.
    Constant(usize),
    /// At this offset in the arena.
    Arena(u64),
}

/// Where everything lies.
#[derive(Debug)]
pub struct Memory {
    /// The places of the buffers that own memory and are touched.
    pub places: HashMap<Buf, Place>,
    /// Results that must be copied at the end: from a buffer, to the result with this number.
    pub copies: Vec<(Buf, usize)>,
    /// The size of the arena.
    pub arena_bytes: u64,
}

/// Every offset is a multiple of this: the alignment of any vector, and no line is shared by two buffers.
const ALIGN: u64 = 64;

/// Bytes of a tensor.
pub fn bytes(ty: &TensorType) -> Result<u64, CodegenError> {
    let size = ty.space.points().and_then(|n| n.checked_mul(ty.dtype.size() as u64));
    size.filter(|&n| n < i64::MAX as u64 / 2)
        .ok_or_else(|| CodegenError::overflow(format!("a tensor of type {ty}")))
}

/// Plans the memory of a function.
pub fn plan(function: &Function, lowered: &Lowered) -> Result<Memory, CodegenError> {
    let mut places: HashMap<Buf, Place> = HashMap::new();
    for (i, &param) in function.params.iter().enumerate() {
        places.insert(Buf(param.0), Place::Arg(i));
    }
    for (i, (buf, _)) in lowered.constants.iter().enumerate() {
        places.insert(*buf, Place::Constant(i));
    }
    let mut copies = Vec::new();
    for (i, &result) in function.body.results.iter().enumerate() {
        let memory = lowered.memory(Buf(result.0));
        match places.get(&memory) {
            None => {
                places.insert(memory, Place::Result(i));
            }
            Some(_) => copies.push((memory, i)),
        }
    }
    let mut spans = Spans { lowered, spans: HashMap::new(), time: 0 };
    spans.walk(&lowered.steps);
    let mut intervals: Vec<(u64, (usize, usize), Buf)> = Vec::new();
    for (buf, span) in spans.spans {
        if !places.contains_key(&buf) {
            intervals.push((bytes(&lowered.types[buf.0 as usize])?.div_ceil(ALIGN) * ALIGN, span, buf));
        }
    }
    // The largest first; the rest makes the order the same in every run.
    intervals.sort_by_key(|&(size, span, buf)| (std::cmp::Reverse(size), span, buf));
    let mut arena_bytes = 0u64;
    let mut placed: Vec<(u64, u64, (usize, usize))> = Vec::new();
    for (size, span, buf) in intervals {
        let meets = |other: &(usize, usize)| span.0 <= other.1 && other.0 <= span.1;
        let mut busy: Vec<(u64, u64)> = placed.iter().filter(|p| meets(&p.2)).map(|p| (p.0, p.1)).collect();
        busy.sort_unstable();
        // The smallest gap that is large enough, else the end.
        let (mut end, mut best) = (0u64, None);
        for (low, high) in busy {
            let gap = low.saturating_sub(end);
            if low >= end && gap >= size && best.is_none_or(|(g, _)| gap < g) && size > 0 {
                best = Some((gap, end));
            }
            end = end.max(high);
        }
        let offset = best.map_or(end, |b| b.1);
        let high = offset.checked_add(size).ok_or_else(|| CodegenError::overflow("the arena"))?;
        placed.push((offset, high, span));
        arena_bytes = arena_bytes.max(high);
        places.insert(buf, Place::Arena(offset));
    }
    Ok(Memory { places, copies, arena_bytes })
}

struct Spans<'a> {
    lowered: &'a Lowered,
    spans: HashMap<Buf, (usize, usize)>,
    time: usize,
}

impl Spans<'_> {
    fn touch(&mut self, buf: Buf) {
        let (memory, time) = (self.lowered.memory(buf), self.time);
        self.spans.entry(memory).or_insert((time, time)).1 = time;
    }

    fn walk(&mut self, steps: &[Step]) {
        for step in steps {
            self.time += 1;
            match step {
                Step::Run { buffers, .. } => buffers.iter().for_each(|&b| self.touch(b)),
                Step::Copy { from, to } => {
                    self.touch(*from);
                    self.touch(*to);
                }
                Step::While { condition, flag, body } => {
                    let start = self.time;
                    self.walk(condition);
                    self.time += 1;
                    self.touch(*flag);
                    self.walk(body);
                    self.time += 1;
                    let end = self.time;
                    for span in self.spans.values_mut() {
                        if span.0 < start && span.1 >= start {
                            span.1 = end;
                        }
                    }
                }
                Step::If { index, branches } => {
                    self.touch(*index);
                    for branch in branches {
                        self.walk(branch);
                        self.time += 1;
                    }
                }
            }
        }
    }
}
