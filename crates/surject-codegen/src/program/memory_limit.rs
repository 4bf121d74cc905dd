//! Chains that end early, where what comes after needs too much memory.
//!
//! Kernels that run together are in use together: all that they leave behind is there at the same time. Where a chain
//! leaves large tensors behind, what it saves in time is weighed against what it costs in memory.

use crate::kernels::native::Scheduled;
use crate::program::fuse::Fused;
use crate::program::lowered::{Lowered, Step};
use crate::program::memory::{self, Memory, bytes};
use crate::program::steps;
use crate::program::{coalesce, order, rows_of_ir};
use crate::schedule::BYTES_A_CYCLE;
use crate::{CodegenError, Target};
use std::collections::HashSet;
use surject_ir::Function;

/// The least share of all memory that is worth time.
const GAIN: f64 = 0.05;

/// The largest share of the time that memory is worth.
const LOSS: f64 = 0.02;

/// So much larger must the share of memory be.
const RATE: f64 = 4.0;

/// More ends than these are not tried.
const TRIALS: usize = 6;

/// A function whose kernels run together, with its memory.
pub struct Settled {
    /// The steps, in their order.
    pub lowered: Lowered,
    /// For each result, an argument whose memory it may have.
    pub donations: Vec<Option<usize>>,
    /// Where everything lies.
    pub memory: Memory,
    chains: Vec<Fused>,
}

/// Lowers a function, and decides what runs together and in which order.
pub(crate) fn settle(
    function: &Function,
    target: &Target,
    scheduled: Option<&Scheduled>,
) -> Result<Settled, CodegenError> {
    let alone = steps::lower(function, target, scheduled)?;
    let mut ends: HashSet<usize> = HashSet::new();
    let mut best = together(function, (target, scheduled), alone.clone(), &ends)?;
    let mut outside = 0;
    for &var in function.params.iter().chain(&function.body.results) {
        outside += bytes(function.ty(var))?;
    }
    let share = |bytes: u64| bytes as f64 / (outside + best.memory.arena_bytes).max(1) as f64;
    if best.memory.arena_bytes < target.thresholds.searched_bytes || share(best.memory.arena_bytes) < GAIN {
        return Ok(best);
    }
    // Kernels that go on with others where what is left behind is large.
    let mut large: Vec<(u64, usize)> = Vec::new();
    for chain in &best.chains {
        let mut most = 0;
        for &buf in chain.members.iter().flat_map(|m| &m.1) {
            most = most.max(bytes(&best.lowered.types[buf.0 as usize])?);
        }
        large.extend(chain.members.iter().skip(1).map(|m| (most, m.0)));
    }
    large.retain(|l| share(l.0) >= GAIN);
    large.sort_unstable_by_key(|l| (std::cmp::Reverse(l.0), l.1));
    let cycles = cycles(&best.lowered, &best.lowered.steps, target)?;
    for (_, kernel) in large.into_iter().take(TRIALS) {
        let mut more = ends.clone();
        more.insert(kernel);
        let found = together(function, (target, scheduled), alone.clone(), &more)?;
        let all = (outside + best.memory.arena_bytes) as f64;
        let gain = best.memory.arena_bytes.saturating_sub(found.memory.arena_bytes) as f64 / all;
        let saved = |s: &Settled| s.chains.iter().map(|c| c.saved).sum::<f64>();
        let loss = (saved(&best) - saved(&found)).max(0.0) / cycles.max(1.0);
        if gain >= GAIN && loss <= LOSS && gain >= RATE * loss {
            (best, ends) = (found, more);
        }
    }
    Ok(best)
}

/// Fuses kernels, orders steps, joins memories.
fn together(
    function: &Function,
    (target, scheduled): (&Target, Option<&Scheduled>),
    mut lowered: Lowered,
    ends: &HashSet<usize>,
) -> Result<Settled, CodegenError> {
    let chains = lowered.fuse(function, (target, scheduled), ends)?;
    rows_of_ir::make(function, &mut lowered, scheduled)?;
    order::order(function, &mut lowered, target)?;
    let donations = coalesce::coalesce(function, &mut lowered, target)?;
    let memory = memory::plan(function, &lowered)?;
    Ok(Settled { lowered, donations, memory, chains })
}

/// An estimate of the cycles of all steps, those of loops once.
fn cycles(lowered: &Lowered, steps: &[Step], target: &Target) -> Result<f64, CodegenError> {
    let mut all = 0.0;
    for step in steps {
        match step {
            Step::Run { kernel, buffers, .. } => {
                let kernel = &lowered.kernels[*kernel];
                let mut moved = 0;
                for buf in buffers {
                    moved += bytes(&lowered.types[buf.0 as usize])?;
                }
                let own = if kernel.cycles > 0.0 { kernel.cycles } else { moved as f64 / BYTES_A_CYCLE };
                all += own / kernel.tasks.min(target.threads as i64).max(1) as f64;
            }
            Step::Copy { .. } => {}
            Step::While { condition, body, .. } => {
                all += cycles(lowered, condition, target)? + cycles(lowered, body, target)?;
            }
            Step::If { branches, .. } => {
                for branch in branches {
                    all += cycles(lowered, branch, target)?;
                }
            }
        }
    }
    Ok(all)
}
