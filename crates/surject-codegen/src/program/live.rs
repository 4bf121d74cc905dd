//! When the memory of each buffer holds a value that is still read.
//!
//! Steps are numbered in the order of the text. Step `n` reads at position `2 n` and has written at `2 n + 1`; memory
//! is alive over ranges of positions, both ends included. In a loop a value is alive where a later iteration reads it.

use crate::expression::dag::Buf;
use crate::program::lowered::{Lowered, Step};
use std::collections::{HashMap, HashSet};

/// Where the memory of a buffer is written.
#[derive(Clone, Debug)]
pub enum Write {
    /// By a kernel: what it reads, and whether it may have the memory of the output.
    Run(Vec<(Buf, bool)>),
    /// By a copy of this buffer.
    Copy(Buf),
}

/// Positions from a first one to a last one, both among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The first.
    pub first: usize,
    /// The last.
    pub last: usize,
}

/// The life of the memory of a buffer.
#[derive(Clone, Debug, Default)]
pub struct Life {
    /// The steps that write it.
    pub writes: Vec<(usize, Write)>,
    /// The ranges of positions, in order; they neither meet nor touch.
    pub ranges: Vec<Span>,
}

impl Life {
    /// Is it alive at a position?
    pub fn at(&self, position: usize) -> bool {
        let after = self.ranges.partition_point(|r| r.first <= position);
        self.ranges[..after].last().is_some_and(|r| r.last >= position)
    }

    /// Joins another life to this one.
    pub fn join(&mut self, other: Life) {
        self.writes.extend(other.writes);
        let mut all = std::mem::take(&mut self.ranges);
        all.extend(other.ranges);
        all.sort_unstable();
        for span in all {
            match self.ranges.last_mut() {
                Some(before) if before.last + 1 >= span.first => before.last = before.last.max(span.last),
                _ => self.ranges.push(span),
            }
        }
    }
}

/// The lives of all memory that `steps` touch, by the buffers that own it. `results` are read after the last step.
pub fn lives(lowered: &Lowered, steps: &[Step], results: &[Buf]) -> HashMap<Buf, Life> {
    let mut walk =
        Walk { lowered, first: HashMap::new(), lives: HashMap::new(), swapped: HashSet::new(), time: 0 };
    walk.first_writes(steps);
    let end = 2 * walk.time + 2;
    let mut live: Live = results.iter().map(|&r| (lowered.memory(r), end)).collect();
    walk.block(steps, &mut live);
    walk.close(&live, 0);
    let mut lives = walk.lives;
    lives.values_mut().for_each(|life| life.join(Life::default()));
    lives
}

/// What is alive, and up to which position from here.
type Live = HashMap<Buf, usize>;

struct Walk<'a> {
    lowered: &'a Lowered,
    /// The step that is the first to write some memory: it gives it its value as a whole.
    first: HashMap<Buf, *const Step>,
    lives: HashMap<Buf, Life>,
    /// What changes places in the loops around: it is not given a value as a whole where it is written, for both places
    /// hold something until the loop ends.
    swapped: HashSet<Buf>,
    /// The number of steps, and on the way back that of the step at hand.
    time: usize,
}

impl Walk<'_> {
    fn memory(&self, buf: Buf) -> Buf {
        self.lowered.memory(buf)
    }

    fn first_writes(&mut self, steps: &[Step]) {
        for step in steps {
            self.time += 1;
            match step {
                Step::Run { writes, .. } => {
                    for &w in writes {
                        self.first.entry(self.memory(w)).or_insert(step);
                    }
                }
                Step::Copy { to, .. } => {
                    self.first.entry(self.memory(*to)).or_insert(step);
                }
                Step::While { condition, body, .. } => {
                    self.first_writes(condition);
                    self.first_writes(body);
                    self.time += 2;
                }
                Step::If { branches, .. } => {
                    for branch in branches {
                        self.first_writes(branch);
                        self.time += 1;
                    }
                }
            }
        }
    }

    /// Everything that is alive begins at this position.
    fn close(&mut self, live: &Live, start: usize) {
        for (&buf, &end) in live {
            self.lives.entry(buf).or_default().ranges.push(Span { first: start, last: end });
        }
    }

    fn begins(&self, step: &Step, memory: Buf) -> bool {
        let first = || self.first.get(&memory).is_some_and(|&s| std::ptr::eq(s, step));
        matches!(step, Step::Copy { .. }) || (!self.swapped.contains(&memory) && first())
    }

    /// Goes back over steps.
    fn block(&mut self, steps: &[Step], live: &mut Live) {
        for step in steps.iter().rev() {
            match step {
                Step::Run { buffers, writes, in_place, copies, .. } => {
                    let at = 2 * self.time;
                    let reads: Vec<Buf> = buffers.iter().copied().filter(|b| !writes.contains(b)).collect();
                    let written: HashSet<Buf> = writes.iter().map(|&w| self.memory(w)).collect();
                    for memory in written {
                        let end = live.remove(&memory).unwrap_or(at + 1);
                        let may = |b: Buf| in_place.iter().any(|p| p.0 == b && self.memory(p.1) == memory);
                        let write = match reads[..] {
                            [from] if *copies => Write::Copy(self.memory(from)),
                            _ => Write::Run(reads.iter().map(|&b| (b, may(b))).collect()),
                        };
                        self.lives.entry(memory).or_default().writes.push((self.time, write));
                        if self.begins(step, memory) {
                            self.lives
                                .entry(memory)
                                .or_default()
                                .ranges
                                .push(Span { first: at + 1, last: end });
                        } else {
                            live.insert(memory, end);
                        }
                    }
                    for buf in reads {
                        live.entry(self.memory(buf)).or_insert(at);
                    }
                }
                Step::Copy { from, to } => {
                    let (from, to, at) = (self.memory(*from), self.memory(*to), 2 * self.time);
                    if from != to {
                        let end = live.remove(&to).unwrap_or(at + 1);
                        let life = self.lives.entry(to).or_default();
                        life.writes.push((self.time, Write::Copy(from)));
                        life.ranges.push(Span { first: at + 1, last: end });
                        live.entry(from).or_insert(at);
                    }
                }
                Step::While { condition, flag, body, swaps } => {
                    let pairs: Vec<[Buf; 2]> =
                        swaps.iter().map(|&(a, b)| [self.memory(a), self.memory(b)]).collect();
                    self.swapped.extend(pairs.iter().flatten());
                    self.repeat(condition, *flag, body, live);
                    for [value, next] in pairs {
                        [value, next].iter().for_each(|b| _ = self.swapped.remove(b));
                        if let Some(end) = live.remove(&next) {
                            let span = Span { first: 2 * self.time + 2, last: end };
                            self.lives.entry(next).or_default().ranges.push(span);
                        }
                    }
                }
                Step::If { index, branches } => {
                    self.close(live, 2 * self.time + 1);
                    let after: Vec<Buf> = live.keys().copied().collect();
                    let mut before: HashSet<Buf> = HashSet::new();
                    for branch in branches.iter().rev() {
                        let mut inside: Live = after.iter().map(|&b| (b, 2 * self.time)).collect();
                        self.time -= 1;
                        self.block(branch, &mut inside);
                        self.close(&inside, 2 * self.time + 1);
                        before.extend(inside.into_keys());
                    }
                    before.insert(self.memory(*index));
                    *live = before.into_iter().map(|b| (b, 2 * self.time)).collect();
                }
            }
            self.time -= 1;
        }
    }

    fn repeat(&mut self, condition: &[Step], flag: Buf, body: &[Step], live: &mut Live) {
        self.close(live, 2 * self.time + 1);
        let after: HashSet<Buf> = live.keys().copied().collect();
        // What the next iteration may read, or what follows the loop.
        let (mut needed, mut ended) = (HashSet::new(), HashSet::new());
        self.needs(condition, &mut needed, &mut ended);
        if !ended.contains(&self.memory(flag)) {
            needed.insert(self.memory(flag));
        }
        let mut body_needs = HashSet::new();
        self.needs(body, &mut body_needs, &mut HashSet::new());
        needed.extend(after.iter().chain(&body_needs).filter(|b| !ended.contains(b)));
        needed.extend(&self.swapped);
        let mut inside: Live = needed.iter().map(|&b| (b, 2 * self.time)).collect();
        self.time -= 1;
        self.block(body, &mut inside);
        self.close(&inside, 2 * self.time + 1);
        let before: HashSet<Buf> = inside.into_keys().chain(after).chain([self.memory(flag)]).collect();
        *live = before.into_iter().map(|b| (b, 2 * self.time)).collect();
        self.time -= 1;
        self.block(condition, live);
    }

    /// Adds what steps read before they write it, and what they give a value as a whole.
    fn needs(&self, steps: &[Step], needed: &mut HashSet<Buf>, ended: &mut HashSet<Buf>) {
        let read = |buf: Buf, needed: &mut HashSet<Buf>, ended: &HashSet<Buf>| {
            let memory = self.memory(buf);
            if !ended.contains(&memory) {
                needed.insert(memory);
            }
        };
        for step in steps {
            match step {
                Step::Run { buffers, writes, .. } => {
                    buffers.iter().filter(|b| !writes.contains(b)).for_each(|&b| read(b, needed, ended));
                    for &w in writes {
                        if self.begins(step, self.memory(w)) {
                            ended.insert(self.memory(w));
                        } else {
                            read(w, needed, ended);
                        }
                    }
                }
                Step::Copy { from, to } => {
                    if self.memory(*from) != self.memory(*to) {
                        read(*from, needed, ended);
                        ended.insert(self.memory(*to));
                    }
                }
                Step::While { condition, flag, body, .. } => {
                    self.needs(condition, needed, ended);
                    read(*flag, needed, ended);
                    // The body may not run: what it ends is not ended.
                    self.needs(body, needed, &mut ended.clone());
                }
                Step::If { index, branches } => {
                    read(*index, needed, ended);
                    let mut all: Option<HashSet<Buf>> = None;
                    for branch in branches {
                        let mut own = ended.clone();
                        self.needs(branch, needed, &mut own);
                        all = Some(match all {
                            None => own,
                            Some(all) => all.intersection(&own).copied().collect(),
                        });
                    }
                    *ended = all.unwrap_or_default();
                }
            }
        }
    }
}
