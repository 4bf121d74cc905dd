//! Steps that need not run again: those of a loop that read nothing the loop writes run before it, and those that
//! depend on literals alone run when the module is loaded.

use crate::CodegenError;
use crate::expression::dag::{Buf, buf};
use crate::program::lowered::{Lowered, Step};
use crate::program::memory::bytes;
use std::collections::{HashMap, HashSet, VecDeque};
use surject_ir::{Function, Region, Var, uses};

/// A larger tensor is not kept between runs.
const LARGE: u64 = 16 << 20;

/// Moves steps of `lowered` out of loops, and those that depend on literals alone to [`Lowered::init`].
pub fn hoist(lowered: &mut Lowered, results: &[Var]) -> Result<(), CodegenError> {
    let mut counts = Counts::default();
    let steps = std::mem::take(&mut lowered.steps);
    counts.count(lowered, &steps);
    let steps = out_of_loops(lowered, &counts, steps);
    let mut known: HashSet<Buf> = lowered.constants.iter().map(|c| lowered.memory(c.0)).collect();
    let results: HashSet<Buf> = results.iter().map(|&r| lowered.memory(buf(r))).collect();
    let (mut init, mut rest) = (Vec::new(), Vec::new());
    let mut steps = VecDeque::from(steps);
    while let Some(step) = steps.front() {
        let written = written(lowered, step);
        let mut size = 0u64;
        for &w in &written {
            size = size.saturating_add(bytes(&lowered.types[w.0 as usize])?);
        }
        // What is cleared before it is accumulated to is written by steps that follow each other.
        let run = steps.iter().take_while(|step| fills(lowered, step, &written, &known)).count();
        let own = written.iter().all(|w| {
            counts.writes.get(w) == Some(&run) && !counts.copied.contains(w) && !results.contains(w)
        });
        if run > 0 && own && size <= LARGE {
            known.extend(written);
            init.extend(steps.drain(..run));
        } else {
            rest.extend(steps.pop_front());
        }
    }
    (lowered.init, lowered.steps) = (init, rest);
    Ok(())
}

/// The tensors that the body of a loop leaves as they are: those from around it, and those that it yields as they come.
pub(crate) fn invariant_tensors(function: &Function, body: &Region) -> HashSet<Buf> {
    let carried = body.params.iter().zip(&body.body.results);
    let same = carried.filter(|(param, next)| param == next).map(|(&param, _)| param);
    uses::free(&function.fields, body).into_iter().chain(same).map(buf).collect()
}

/// The memory that a step writes which runs a kernel.
fn written(lowered: &Lowered, step: &Step) -> HashSet<Buf> {
    match step {
        Step::Run { writes, .. } => writes.iter().map(|&w| lowered.memory(w)).collect(),
        _ => HashSet::new(),
    }
}

/// Does a step run a kernel that writes this memory alone, and reads nothing but that and what is known?
fn fills(lowered: &Lowered, step: &Step, memory: &HashSet<Buf>, known: &HashSet<Buf>) -> bool {
    let Step::Run { buffers, .. } = step else { return false };
    let reads = |&b: &Buf| known.contains(&lowered.memory(b)) || memory.contains(&lowered.memory(b));
    written(lowered, step) == *memory && buffers.iter().all(reads)
}

/// How memory is written.
#[derive(Default)]
struct Counts {
    /// How many steps write it.
    writes: HashMap<Buf, usize>,
    /// Memory that is copied from.
    copied: HashSet<Buf>,
}

impl Counts {
    fn count(&mut self, lowered: &Lowered, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Run { writes, .. } => {
                    let written: HashSet<Buf> = writes.iter().map(|&w| lowered.memory(w)).collect();
                    written.into_iter().for_each(|w| *self.writes.entry(w).or_default() += 1);
                }
                Step::Copy { from, to } => {
                    *self.writes.entry(lowered.memory(*to)).or_default() += 1;
                    self.copied.insert(lowered.memory(*from));
                }
                Step::While { condition, body, .. } => {
                    self.count(lowered, condition);
                    self.count(lowered, body);
                }
                Step::If { branches, .. } => branches.iter().for_each(|b| self.count(lowered, b)),
            }
        }
    }
}

/// The steps, with those that a loop repeats in vain before it.
fn out_of_loops(lowered: &Lowered, counts: &Counts, steps: Vec<Step>) -> Vec<Step> {
    let mut out = Vec::new();
    for step in steps {
        match step {
            Step::While { condition, flag, body, swaps } => {
                let [mut condition, mut body] = [condition, body].map(|b| out_of_loops(lowered, counts, b));
                let mut inside = Counts::default();
                inside.count(lowered, &condition);
                inside.count(lowered, &body);
                for block in [&mut condition, &mut body] {
                    for step in std::mem::take(block) {
                        if invariant(lowered, counts, &inside, &step) {
                            if let Step::Run { writes, .. } = &step {
                                writes.iter().for_each(|&w| {
                                    inside.writes.remove(&lowered.memory(w));
                                });
                            }
                            out.push(step);
                        } else {
                            block.push(step);
                        }
                    }
                }
                out.push(Step::While { condition, flag, body, swaps });
            }
            Step::If { index, branches } => {
                let branches = branches.into_iter().map(|b| out_of_loops(lowered, counts, b)).collect();
                out.push(Step::If { index, branches });
            }
            step => out.push(step),
        }
    }
    out
}

/// Does a step of a loop do the same in every iteration? Kernels have no effect but what they write, so it may also
/// run where the loop does not.
fn invariant(lowered: &Lowered, counts: &Counts, inside: &Counts, step: &Step) -> bool {
    let Step::Run { buffers, writes, .. } = step else { return false };
    let mut reads = buffers.iter().filter(|b| !writes.contains(b));
    writes.iter().all(|&w| counts.writes.get(&lowered.memory(w)) == Some(&1))
        && reads.all(|&b| !inside.writes.contains_key(&lowered.memory(b)))
}
