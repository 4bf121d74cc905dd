//! The static memory plan: where every buffer lies.
//!
//! Buffers that are never alive at the same time (`live`) share memory. What is made when the module is loaded has its
//! own for good. Before a result is written its memory is lent to what fits there: a training step holds no more than
//! its parameters, old and new, for most of its run.

use crate::CodegenError;
use crate::expression::dag::Buf;
use crate::machine::ALIGN;
use crate::program::live::{Span, lives};
use crate::program::lowered::{Lowered, Step};
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
    /// At an offset in memory that a result lends: which of [`Memory::lent`], and the offset.
    Lent(usize, u64),
}

/// Memory that a result lends before it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lent {
    /// The result with this number.
    pub result: usize,
    /// The bytes that are used, from its start on.
    pub bytes: u64,
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
    /// The results whose memory is lent.
    pub lent: Vec<Lent>,
}

/// Bytes of a tensor.
pub fn bytes(ty: &TensorType) -> Result<u64, CodegenError> {
    let size = ty.space.points().and_then(|n| n.checked_mul(ty.dtype.size() as u64));
    size.filter(|&n| n < i64::MAX as u64 / 2)
        .ok_or_else(|| CodegenError::overflow(format!("a tensor of type {ty}")))
}

/// Plans the memory of a function.
pub fn plan(function: &Function, lowered: &Lowered) -> Result<Memory, CodegenError> {
    let full = || CodegenError::overflow("the arena");
    plan_below(function, lowered, u64::MAX)?.ok_or_else(full)
}

/// As [`plan`]; `None` where the arena would not be smaller than so many bytes, which is mostly known long before all
/// has its place.
pub fn plan_below(function: &Function, lowered: &Lowered, most: u64) -> Result<Option<Memory>, CodegenError> {
    let mut places: HashMap<Buf, Place> = HashMap::new();
    for (i, &param) in function.params.iter().enumerate() {
        places.insert(Buf(param.0), Place::Arg(i));
    }
    for (i, (buf, _)) in lowered.constants.iter().enumerate() {
        places.insert(*buf, Place::Constant(i));
    }
    let mut copies = Vec::new();
    // The memory of each result, where it is not written last of all by a copy.
    let mut written: Vec<Option<Buf>> = Vec::new();
    for (i, &result) in function.body.results.iter().enumerate() {
        let memory = lowered.memory(Buf(result.0));
        let copied = places.contains_key(&memory);
        if copied {
            copies.push((memory, i));
        } else {
            places.insert(memory, Place::Result(i));
        }
        written.push((!copied).then_some(memory));
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
        lives.entry(buf).or_default().ranges = vec![Span { first: 0, last: usize::MAX }];
    }
    let mut lenders = Vec::new();
    for (memory, &result) in written.iter().zip(&function.body.results) {
        let life = memory.and_then(|m| lives.get(&m));
        let mut ranges = life.map_or_else(Vec::new, |l| spans(&l.ranges));
        // What is kept for good is not put there.
        ranges.push(Span { first: usize::MAX, last: usize::MAX });
        lenders.push(Lender { bytes: bytes(&lowered.types[result.0 as usize])?, ranges });
    }
    let mut needs = Vec::new();
    for (buf, life) in lives {
        if !places.contains_key(&buf) {
            let bytes = bytes(&lowered.types[buf.0 as usize])?;
            needs.push(Need { buf, bytes, ranges: spans(&life.ranges) });
        }
    }
    let sizes: HashMap<Buf, u64> = needs.iter().map(|n| (n.buf, n.bytes)).collect();
    // What `assign` counts ends with a whole line.
    let Some((_, spots)) = assign_below(needs, &lenders, most.saturating_add(ALIGN))? else {
        return Ok(None);
    };
    let size = |buf: &Buf| sizes.get(buf).copied().unwrap_or(0);
    let ends = spots.iter().filter(|s| s.1.lender.is_none()).map(|(buf, spot)| match size(buf) {
        0 => 0,
        bytes => spot.offset + bytes,
    });
    let arena_bytes = ends.max().unwrap_or(0);
    if arena_bytes >= most {
        return Ok(None);
    }
    let mut lent: Vec<Lent> = Vec::new();
    for &(buf, spot) in spots.iter().filter(|s| size(&s.0) > 0) {
        let Some(result) = spot.lender else { continue };
        let end = spot.offset + size(&buf);
        match lent.iter_mut().find(|l| l.result == result) {
            Some(lent) => lent.bytes = lent.bytes.max(end),
            None => lent.push(Lent { result, bytes: end }),
        }
    }
    lent.sort_by_key(|l| l.result);
    for (buf, spot) in spots {
        let lender = spot.lender.and_then(|r| lent.iter().position(|l| l.result == r));
        let place = lender.map_or(Place::Arena(spot.offset), |l| Place::Lent(l, spot.offset));
        places.insert(buf, place);
    }
    Ok(Some(Memory { places, copies, arena_bytes, lent }))
}

/// When memory is in use: what a step writes is written while it reads.
fn spans(ranges: &[Span]) -> Vec<Span> {
    ranges.iter().map(|r| Span { first: r.first / 2 * 2, ..*r }).collect()
}

/// What comes first, by the largest number.
type Order<'a, K> = dyn Fn(&Need<K>) -> (u128, u128) + 'a;

/// Memory that is needed.
pub struct Need<K> {
    /// What lies there.
    pub buf: K,
    /// How much.
    pub bytes: u64,
    /// When it is in use.
    pub ranges: Vec<Span>,
}

/// Memory that is there in any case.
pub struct Lender {
    /// How much.
    pub bytes: u64,
    /// When its owner uses it.
    pub ranges: Vec<Span>,
}

/// Where something lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// In the memory of this lender, or in the arena.
    pub lender: Option<usize>,
    /// How far from its start.
    pub offset: u64,
}

/// Are both in use at some time?
fn meet(a: &[Span], b: &[Span]) -> bool {
    let (Some(first), Some(last)) = (a.first().zip(b.first()), a.last().zip(b.last())) else { return false };
    if last.0.last < first.1.first || last.1.last < first.0.first {
        return false;
    }
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        if x.first <= y.last && y.first <= x.last {
            return true;
        }
        if x.last < y.last {
            a.next();
        } else {
            b.next();
        }
    }
    false
}

/// The size of an arena, and where everything lies.
type Spots<K> = (u64, Vec<(K, Spot)>);

/// Puts memories into an arena, and into what is lent, so that those that are in use at the same time lie apart.
pub fn assign<K: Copy + Ord>(needs: Vec<Need<K>>, lenders: &[Lender]) -> Result<Spots<K>, CodegenError> {
    assign_below(needs, lenders, u64::MAX)?.ok_or_else(|| CodegenError::overflow("the arena"))
}

/// As [`assign`], into an arena of less than so many bytes.
fn assign_below<K: Copy + Ord>(
    mut needs: Vec<Need<K>>,
    lenders: &[Lender],
    mut most: u64,
) -> Result<Option<Spots<K>>, CodegenError> {
    // Of some orders, the one that needs the least; the number of the buffer makes it the same in every run.
    let start = |n: &Need<K>| n.ranges.first().map_or(0, |r| r.first);
    let length = |n: &Need<K>| n.ranges.iter().map(|r| (r.last - r.first) as u128).sum::<u128>();
    let orders: [&Order<'_, K>; 3] = [
        &|n| (u128::from(n.bytes), length(n)),
        &|n| (u128::from(n.bytes).saturating_mul(length(n)), 0),
        &|n| (u128::MAX - start(n) as u128, u128::from(n.bytes)),
    ];
    let mut best: Option<Spots<K>> = None;
    for order in orders {
        needs.sort_by_key(|n| (std::cmp::Reverse(order(n)), n.buf));
        if let Some(found) = in_order(&needs, lenders, most)? {
            most = found.0;
            best = Some(found);
        }
    }
    Ok(best)
}

/// Puts memories in their order, each into the smallest gap that is large enough; where there is none, at the end of
/// the arena. `None`: the arena is not smaller than so many bytes.
fn in_order<K: Copy>(
    needs: &[Need<K>],
    lenders: &[Lender],
    most: u64,
) -> Result<Option<Spots<K>>, CodegenError> {
    let mut arena_bytes = 0u64;
    // What lies in the arena, and in the memory of each lender: from where, and to where.
    let mut placed: Vec<Vec<(u64, u64, &Need<K>)>> = (0..=lenders.len()).map(|_| Vec::new()).collect();
    let mut spots = Vec::new();
    let place = |lender: Option<usize>| lender.map_or(0, |number| number + 1);
    for need in needs {
        // The gaps between what is in use at the same time in some place.
        let gaps = |lender: Option<usize>| {
            let there = placed[place(lender)].iter().filter(|p| p.1 > p.0);
            let mut busy: Vec<(u64, u64)> =
                there.filter(|p| meet(&p.2.ranges, &need.ranges)).map(|p| (p.0, p.1)).collect();
            busy.sort_unstable();
            let (mut end, mut gaps) = (0u64, Vec::new());
            for (low, high) in busy {
                if low > end {
                    gaps.push((low - end, Spot { lender, offset: end }));
                }
                end = end.max(high);
            }
            (gaps, end)
        };
        let (mut all, end) = gaps(None);
        for (number, lender) in lenders.iter().enumerate() {
            if need.bytes <= lender.bytes && !meet(&lender.ranges, &need.ranges) {
                let (inside, end) = gaps(Some(number));
                all.extend(inside);
                let left = lender.bytes.saturating_sub(end);
                all.push((left, Spot { lender: Some(number), offset: end }));
            }
        }
        let fits = all.into_iter().filter(|gap| need.bytes > 0 && gap.0 >= need.bytes);
        let spot = fits.min_by_key(|gap| gap.0).map_or(Spot { lender: None, offset: end }, |gap| gap.1);
        let high = spot.offset.checked_add(need.bytes).and_then(|end| end.checked_next_multiple_of(ALIGN));
        let high = high.ok_or_else(|| CodegenError::overflow("the arena"))?;
        if spot.lender.is_none() {
            arena_bytes = arena_bytes.max(high);
        }
        if arena_bytes >= most {
            return Ok(None);
        }
        placed[place(spot.lender)].push((spot.offset, high, need));
        spots.push((need.buf, spot));
    }
    Ok(Some((arena_bytes, spots)))
}
