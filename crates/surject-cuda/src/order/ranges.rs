//! Who has touched which bytes of the arena last.

use super::{After, Touch, Why};
use crate::{TensorId, call::Use};
use std::collections::BTreeMap;
use std::ops::Range;

/// An item that has touched bytes as part of a tensor.
#[derive(Clone, Copy, Debug)]
struct Toucher {
    item: usize,
    stream: u32,
    tensor: TensorId,
}

/// Bytes up to an end that the same items have touched.
#[derive(Clone, Debug)]
struct Part {
    to: u64,
    writer: Option<Toucher>,
    /// Since it was written; the last one of each stream is enough.
    readers: Vec<Toucher>,
}

/// The parts of the arena, by their first byte.
#[derive(Debug, Default)]
pub(super) struct Ranges(BTreeMap<u64, Part>);

impl Ranges {
    /// Makes parts begin and end where a range does, without a gap in it.
    fn cut(&mut self, range: &Range<u64>) {
        for at in [range.start, range.end] {
            let Some((_, part)) = self.0.range_mut(..at).next_back() else { continue };
            if part.to > at {
                let behind = part.clone();
                part.to = at;
                self.0.insert(at, behind);
            }
        }
        let (mut at, mut gaps) = (range.start, Vec::new());
        for (&from, part) in self.0.range(range.clone()) {
            if from > at {
                gaps.push((at, from));
            }
            at = part.to;
        }
        if at < range.end {
            gaps.push((at, range.end));
        }
        self.0.extend(gaps.into_iter().map(|(at, to)| (at, Part { to, writer: None, readers: Vec::new() })));
    }

    /// The items that one with these touches must come after, the latest first, with a reason for each.
    pub(super) fn conflicts(&mut self, touches: &[Touch]) -> Vec<After> {
        let mut found: BTreeMap<usize, After> = BTreeMap::new();
        for touch in touches {
            self.cut(&touch.range);
            for part in self.0.range(touch.range.clone()).map(|(_, part)| part) {
                let mut add = |toucher: &Toucher, why| {
                    let after =
                        After { item: toucher.item, tensor: touch.tensor, other: toucher.tensor, why };
                    let known = found.entry(toucher.item).or_insert(after);
                    // A value that is needed says more than one that is overwritten, and that more than shared memory.
                    let says = |after: &After| (after.why == Why::Reads, after.tensor == after.other);
                    if says(&after) > says(known) {
                        *known = after;
                    }
                };
                let why = if touch.usage == Use::Written { Why::OverwritesWritten } else { Why::Reads };
                part.writer.iter().for_each(|writer| add(writer, why));
                if touch.usage != Use::Read {
                    part.readers.iter().for_each(|reader| add(reader, Why::OverwritesRead));
                }
            }
        }
        found.into_values().rev().collect()
    }

    /// An item on a stream has these touches, whose conflicts were asked for.
    pub(super) fn touch(&mut self, item: usize, stream: u32, touches: &[Touch]) {
        // What it writes is written when all is done, whatever else of it reads that.
        let (reads, writes): (Vec<&Touch>, Vec<&Touch>) = touches.iter().partition(|t| t.usage == Use::Read);
        for touch in reads {
            let own = Toucher { item, stream, tensor: touch.tensor };
            for (_, part) in self.0.range_mut(touch.range.clone()) {
                part.readers.retain(|reader| reader.stream != stream);
                part.readers.push(own);
            }
        }
        for touch in writes {
            let own = Toucher { item, stream, tensor: touch.tensor };
            for (_, part) in self.0.range_mut(touch.range.clone()) {
                part.writer = Some(own);
                part.readers.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a list of who touched each byte.
    #[test]
    fn conflicts_are_those_of_the_bytes() {
        let mut state = 11u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        for _ in 0..300 {
            let mut ranges = Ranges::default();
            let mut bytes: Vec<(Option<usize>, Vec<usize>)> = vec![(None, Vec::new()); 40];
            for item in 0..20 {
                let mut touch = |tensor| {
                    let from = random(39);
                    let usage = [Use::Read, Use::Written, Use::Changed][random(3) as usize];
                    Touch { range: from..from + 1 + random(40 - from), tensor: TensorId(tensor), usage }
                };
                let touches: Vec<Touch> = (0..3).map(&mut touch).collect();
                let mut expected = std::collections::BTreeSet::new();
                for touch in &touches {
                    for (writer, readers) in &bytes[touch.range.start as usize..touch.range.end as usize] {
                        expected.extend(*writer);
                        if touch.usage != Use::Read {
                            expected.extend(readers);
                        }
                    }
                }
                let found: Vec<usize> = ranges.conflicts(&touches).iter().map(|after| after.item).collect();
                assert_eq!(found, expected.into_iter().rev().collect::<Vec<usize>>());
                // Each on a stream of its own, so that none stands for another.
                ranges.touch(item, item as u32, &touches);
                for touch in touches.iter().filter(|t| t.usage == Use::Read) {
                    for byte in touch.range.clone() {
                        bytes[byte as usize].1.push(item);
                    }
                }
                for touch in touches.iter().filter(|t| t.usage != Use::Read) {
                    for byte in touch.range.clone() {
                        bytes[byte as usize] = (Some(item), Vec::new());
                    }
                }
            }
        }
    }
}
