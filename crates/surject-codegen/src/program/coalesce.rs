//! Buffers that share memory because one becomes the other: the ends of copies, and an operand that dies where a
//! kernel writes what it makes of it, element by element.
//!
//! Two memories may become one unless one is written while the other holds a value that is still read; a copy of one
//! to the other does not count, because both then hold the same. So what a loop only carries along stays where it
//! came from, and a value that is made once its predecessor is not read any more takes over its memory.

use crate::expression::dag::Buf;
use crate::program::live::{Life, Write, lives};
use crate::program::lowered::{Lowered, Step};
use crate::program::memory::bytes;
use crate::program::swap;
use crate::{CodegenError, Target};
use std::collections::{HashMap, HashSet};
use surject_ir::Function;

/// Joins memories of `lowered`, and gives the argument whose memory each result may take over.
pub fn coalesce(
    function: &Function,
    lowered: &mut Lowered,
    target: &Target,
) -> Result<Vec<Option<usize>>, CodegenError> {
    let results: Vec<Buf> = function.body.results.iter().map(|&r| Buf(r.0)).collect();
    let mut fixed: HashSet<Buf> = lowered.constants.iter().map(|c| lowered.memory(c.0)).collect();
    fixed.extend(function.params.iter().map(|p| lowered.memory(Buf(p.0))));
    for step in &lowered.init {
        if let Step::Run { writes, .. } = step {
            fixed.extend(writes.iter().map(|&w| lowered.memory(w)));
        }
    }
    let mut pairs = Vec::new();
    candidates(lowered, &lowered.steps, 0, &mut pairs)?;
    // Copies in the innermost loops first, then what is largest.
    pairs.sort_by_key(|p| (!p.copy, std::cmp::Reverse((p.depth, p.bytes))));
    let lives = lives(lowered, &lowered.steps, &results);
    let returned = results.iter().map(|&r| lowered.memory(r)).collect();
    let mut classes = Classes { lowered, lives, fixed, returned };
    for pair in pairs {
        classes.try_join(pair.from, pair.to);
    }
    let donations = classes.donations(function, &results);
    let mut steps = std::mem::take(&mut classes.lowered.steps);
    drop_copies(classes.lowered, &mut steps);
    classes.lowered.steps = steps;
    let kept: HashSet<Buf> = classes.fixed.union(&classes.returned).copied().collect();
    swap::swap(classes.lowered, &kept, target)?;
    Ok(donations)
}

/// Removes copies of memory to itself.
fn drop_copies(lowered: &Lowered, steps: &mut Vec<Step>) {
    steps.retain_mut(|step| match step {
        Step::Run { in_place, copies, .. } => {
            !*copies || in_place.iter().any(|p| lowered.memory(p.0) != lowered.memory(p.1))
        }
        Step::Copy { from, to } => lowered.memory(*from) != lowered.memory(*to),
        Step::While { condition, body, .. } => {
            drop_copies(lowered, condition);
            drop_copies(lowered, body);
            true
        }
        Step::If { branches, .. } => {
            branches.iter_mut().for_each(|b| drop_copies(lowered, b));
            true
        }
    });
}

/// Memories that may become one.
struct Pair {
    from: Buf,
    to: Buf,
    copy: bool,
    depth: usize,
    bytes: u64,
}

fn candidates(
    lowered: &Lowered,
    steps: &[Step],
    depth: usize,
    pairs: &mut Vec<Pair>,
) -> Result<(), CodegenError> {
    let size = |b: Buf| bytes(&lowered.types[lowered.memory(b).0 as usize]);
    for step in steps {
        match step {
            Step::Run { in_place, copies, .. } => {
                for &(from, to) in in_place {
                    let depth = if *copies { depth } else { 0 };
                    pairs.push(Pair { from, to, copy: *copies, depth, bytes: size(from)? });
                }
            }
            Step::Copy { from, to } => {
                pairs.push(Pair { from: *from, to: *to, copy: true, depth, bytes: size(*from)? });
            }
            Step::While { condition, body, .. } => {
                candidates(lowered, condition, depth + 1, pairs)?;
                candidates(lowered, body, depth + 1, pairs)?;
            }
            Step::If { branches, .. } => {
                for branch in branches {
                    candidates(lowered, branch, depth, pairs)?;
                }
            }
        }
    }
    Ok(())
}

struct Classes<'a> {
    lowered: &'a mut Lowered,
    lives: HashMap<Buf, Life>,
    /// What no step may write: arguments, literals, what is made of literals alone.
    fixed: HashSet<Buf>,
    /// What holds a result.
    returned: HashSet<Buf>,
}

impl Classes<'_> {
    fn try_join(&mut self, from: Buf, to: Buf) {
        let (a, b) = (self.lowered.memory(from), self.lowered.memory(to));
        let fixed = [a, b].map(|m| self.fixed.contains(&m));
        let returned = [a, b].map(|m| self.returned.contains(&m));
        if a == b || fixed == [true; 2] || returned == [true; 2] || !self.same_size(a, b) {
            return;
        }
        // A result that is an argument is copied in any case; it may as well be written where it belongs.
        if (fixed[0] && returned[1]) || (fixed[1] && returned[0]) {
            return;
        }
        if (fixed[0] && self.written(b, a)) || (fixed[1] && self.written(a, b)) || self.meet(a, b) {
            return;
        }
        let (keep, drop) = if fixed[1] { (b, a) } else { (a, b) };
        self.lowered.join(drop, keep);
        if self.returned.remove(&drop) {
            self.returned.insert(keep);
        }
        let other = self.lives.remove(&drop).unwrap_or_default();
        self.lives.entry(keep).or_default().join(other);
    }

    fn same_size(&self, a: Buf, b: Buf) -> bool {
        let [a, b] = [a, b].map(|m| &self.lowered.types[m.0 as usize]);
        let size = a.dtype.part().size();
        size == b.dtype.part().size() && matches!((bytes(a), bytes(b)), (Ok(m), Ok(n)) if m == n && n > 0)
    }

    /// Is memory written otherwise than by copies of `from`?
    fn written(&self, memory: Buf, from: Buf) -> bool {
        self.lives.get(&memory).is_some_and(|life| life.writes.iter().any(|(_, w)| !self.copies(w, from)))
    }

    fn copies(&self, write: &Write, of: Buf) -> bool {
        matches!(write, Write::Copy(from) if self.lowered.memory(*from) == of)
    }

    /// Is one of them written while the other is alive?
    fn meet(&self, a: Buf, b: Buf) -> bool {
        let empty = Life::default();
        let [x, y] = [a, b].map(|m| self.lives.get(&m).unwrap_or(&empty));
        self.hurts(x, b, y) || self.hurts(y, a, x)
    }

    /// Does a write to some memory destroy what `other`, whose life is `life`, holds?
    fn hurts(&self, written: &Life, other: Buf, life: &Life) -> bool {
        written.writes.iter().any(|(step, write)| {
            if self.copies(write, other) {
                return false;
            }
            if life.at(2 * step + 1) {
                return true;
            }
            let Write::Run(reads) = write else { return life.at(2 * step) };
            let mut read = reads.iter().filter(|(b, _)| self.lowered.memory(*b) == other).peekable();
            // Alive before the step and not after it: the step reads it.
            life.at(2 * step) && (read.peek().is_none() || read.any(|(_, in_place)| !in_place))
        })
    }

    /// For each result, an argument whose memory it may take over.
    fn donations(&self, function: &Function, results: &[Buf]) -> Vec<Option<usize>> {
        let mut taken = HashSet::new();
        let mut owned: HashSet<Buf> = HashSet::new();
        let mut donations = Vec::new();
        let params: Vec<Buf> = function.params.iter().map(|&p| Buf(p.0)).collect();
        for &result in results {
            let memory = self.lowered.memory(result);
            // Results that share memory are copies of one of them.
            let first = owned.insert(memory);
            let ty = |b: Buf| &self.lowered.types[b.0 as usize];
            let mut fit = (0..params.len()).filter(|i| !taken.contains(i));
            let found = if self.fixed.contains(&memory) {
                fit.find(|&i| params[i] == memory && first)
            } else {
                let mut fits: Vec<usize> = fit
                    .filter(|&i| first && self.same_size(params[i], memory) && !self.meet(params[i], memory))
                    .collect();
                // One of the same type is what a caller means.
                fits.sort_by_key(|&i| ty(params[i]) != ty(result));
                fits.first().copied()
            };
            taken.extend(found);
            donations.push(found);
        }
        donations
    }
}
