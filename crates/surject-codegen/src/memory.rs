//! The static memory plan: where every buffer lies.
//!
//! Buffers that are never alive at the same time (`live`) share memory. What is made when the module is loaded has its
//! own for good.

use crate::CodegenError;
use crate::dag::Buf;
use crate::live::lives;
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
pub const ALIGN: u64 = 64;

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
    let mut kept: Vec<Buf> = Vec::new();
    for step in &lowered.init {
        if let Step::Run { writes, .. } = step {
            kept.extend(writes.iter().map(|&w| lowered.memory(w)));
        }
    }
    let results: Vec<Buf> = function.body.results.iter().map(|&r| Buf(r.0)).collect();
    let mut lives = lives(lowered, &lowered.steps, &results);
    for buf in kept {
        lives.entry(buf).or_default().ranges = vec![(0, usize::MAX)];
    }
    let mut needs = Vec::new();
    for (buf, life) in lives {
        if !places.contains_key(&buf) {
            let size = bytes(&lowered.types[buf.0 as usize])?;
            let size =
                size.checked_next_multiple_of(ALIGN).ok_or_else(|| CodegenError::overflow("the arena"))?;
            // What a step writes is written while it reads.
            let ranges = life.ranges.iter().map(|r| (r.0 / 2 * 2, r.1)).collect();
            needs.push(Need { buf, size, ranges });
        }
    }
    let (arena_bytes, offsets) = assign(needs)?;
    places.extend(offsets.into_iter().map(|(buf, offset)| (buf, Place::Arena(offset))));
    Ok(Memory { places, copies, arena_bytes })
}

/// What comes first, by the largest number.
type Order<'a, K> = dyn Fn(&Need<K>) -> (u128, u128) + 'a;

/// Memory in the arena, or in a part of it.
pub struct Need<K> {
    /// What lies there.
    pub buf: K,
    /// Bytes.
    pub size: u64,
    /// When it is in use.
    pub ranges: Vec<(usize, usize)>,
}

impl<K> Need<K> {
    /// Are both in use at some time?
    fn meets(&self, other: &Need<K>) -> bool {
        let (mut a, mut b) = (self.ranges.iter().peekable(), other.ranges.iter().peekable());
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            if x.0 <= y.1 && y.0 <= x.1 {
                return true;
            }
            if x.1 < y.1 {
                a.next();
            } else {
                b.next();
            }
        }
        false
    }
}

/// The size of an arena, and where everything lies.
type Places<K> = (u64, Vec<(K, u64)>);

/// Puts memories into an arena so that those that are in use at the same time lie apart.
pub fn assign<K: Copy + Ord>(mut needs: Vec<Need<K>>) -> Result<Places<K>, CodegenError> {
    // Of some orders, the one that needs the least; the number of the buffer makes it the same in every run.
    let start = |n: &Need<K>| n.ranges.first().map_or(0, |r| r.0);
    let length = |n: &Need<K>| n.ranges.iter().map(|r| (r.1 - r.0) as u128).sum::<u128>();
    let orders: [&Order<'_, K>; 3] = [
        &|n| (u128::from(n.size), length(n)),
        &|n| (u128::from(n.size).saturating_mul(length(n)), 0),
        &|n| (u128::MAX - start(n) as u128, u128::from(n.size)),
    ];
    let mut best: Option<Places<K>> = None;
    for order in orders {
        needs.sort_by_key(|n| (std::cmp::Reverse(order(n)), n.buf));
        let found = in_order(&needs)?;
        if best.as_ref().is_none_or(|b| found.0 < b.0) {
            best = Some(found);
        }
    }
    Ok(best.unwrap_or((0, Vec::new())))
}

/// Puts memories into the arena in their order, each into the smallest gap that is large enough.
fn in_order<K: Copy>(needs: &[Need<K>]) -> Result<Places<K>, CodegenError> {
    let mut arena_bytes = 0u64;
    let mut placed: Vec<(u64, u64, &Need<K>)> = Vec::new();
    for need in needs {
        let mut busy: Vec<(u64, u64)> =
            placed.iter().filter(|p| p.1 > p.0 && p.2.meets(need)).map(|p| (p.0, p.1)).collect();
        busy.sort_unstable();
        let (mut end, mut best) = (0u64, None);
        for (low, high) in busy {
            let gap = low.saturating_sub(end);
            if low >= end && gap >= need.size && best.is_none_or(|(g, _)| gap < g) && need.size > 0 {
                best = Some((gap, end));
            }
            end = end.max(high);
        }
        let offset = best.map_or(end, |b| b.1);
        let high = offset.checked_add(need.size).ok_or_else(|| CodegenError::overflow("the arena"))?;
        placed.push((offset, high, need));
        arena_bytes = arena_bytes.max(high);
    }
    Ok((arena_bytes, placed.into_iter().map(|p| (p.2.buf, p.0)).collect()))
}
