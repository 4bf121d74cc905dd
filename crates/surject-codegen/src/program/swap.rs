//! Loops that carry a large value without copying it: its memory and that of its successor change places.
//!
//! What an iteration makes of the value of the one before, reading all of it, cannot be written where that lies. It
//! is written elsewhere, and would be copied back before the next iteration. Here the two memories change names
//! instead; only the last value is copied, where it is needed after the loop and an odd number of iterations left it in
//! the other place.

use crate::expression::dag::Buf;
use crate::program::lowered::{Lowered, Step};
use crate::program::memory::bytes;
use crate::{CodegenError, Target};
use std::collections::{HashMap, HashSet};

/// Replaces copies at the end of loop bodies. `kept` is memory that belongs to others: arguments, literals, results,
/// what is made when the module is loaded.
pub fn swap(lowered: &mut Lowered, kept: &HashSet<Buf>, target: &Target) -> Result<(), CodegenError> {
    let touched = count(lowered, &lowered.steps);
    let mut steps = std::mem::take(&mut lowered.steps);
    let done = block(lowered, &mut steps, (kept, target.thresholds.swapped_bytes), &touched);
    lowered.steps = steps;
    done
}

/// How many times each memory is read or written.
type Touched = HashMap<Buf, usize>;

fn count(lowered: &Lowered, steps: &[Step]) -> Touched {
    let mut touched = HashMap::new();
    for step in steps {
        step.touch(&mut |buf, _| *touched.entry(lowered.memory(buf)).or_default() += 1);
    }
    touched
}

fn block(
    lowered: &Lowered,
    steps: &mut [Step],
    (kept, least): (&HashSet<Buf>, u64),
    touched: &Touched,
) -> Result<(), CodegenError> {
    for step in steps {
        match step {
            Step::While { condition, body, swaps, .. } => {
                block(lowered, condition, (kept, least), touched)?;
                block(lowered, body, (kept, least), touched)?;
                let inside = count(lowered, body);
                let copies = body.iter().rev().take_while(|s| matches!(s, Step::Copy { .. })).count();
                let first = body.len() - copies;
                let mut at = first;
                while at < body.len() {
                    let Step::Copy { from, to } = &body[at] else { break };
                    let pair = (lowered.memory(*to), lowered.memory(*from));
                    let own = |buf: Buf| !kept.contains(&buf) && touched.get(&buf) == inside.get(&buf);
                    if bytes(&lowered.types[pair.0.0 as usize])? >= least
                        && own(pair.1)
                        && made(lowered, &body[..first], pair.1)
                        && !copied(lowered, body, at, pair)
                    {
                        swaps.push(pair);
                        body.remove(at);
                    } else {
                        at += 1;
                    }
                }
            }
            Step::If { branches, .. } => {
                for branch in branches {
                    block(lowered, branch, (kept, least), touched)?;
                }
            }
            Step::Run { .. } | Step::Copy { .. } => {}
        }
    }
    Ok(())
}

/// Is the first of these steps that touches some memory a kernel that writes it, and does not read it?
fn made(lowered: &Lowered, steps: &[Step], memory: Buf) -> bool {
    let touches = |step: &&Step| {
        let mut found = false;
        step.touch(&mut |buf, _| found |= lowered.memory(buf) == memory);
        found
    };
    match steps.iter().find(touches) {
        Some(Step::Run { buffers, writes, .. }) => {
            let here = |all: &[Buf]| all.iter().filter(|b| lowered.memory(**b) == memory).count();
            here(buffers) == here(writes)
        }
        _ => false,
    }
}

/// Does another copy of the body touch one of two memories?
fn copied(lowered: &Lowered, body: &[Step], but: usize, pair: (Buf, Buf)) -> bool {
    body.iter().enumerate().any(|(at, step)| match step {
        Step::Copy { from, to } => {
            at != but && [*from, *to].iter().any(|&b| [pair.0, pair.1].contains(&lowered.memory(b)))
        }
        _ => false,
    })
}
