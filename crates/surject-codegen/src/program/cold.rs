//! Kernels that are compiled with the least effort.
//!
//! Optimising machine code takes longer than everything else between a program and its first run. Where a kernel takes
//! next to nothing of the time of a run, or all of its time is that of functions it calls, it runs as well without.

use crate::planned::kernel::Kernel;
use crate::program::lowered::{Lowered, Step};

/// The share of the time of a run that may be lost.
const LOST: f64 = 0.005;

/// Code that nothing is known of takes up to so many times as long.
const SLOWER: f64 = 3.0;

/// Marks the kernels of which [`Kernel::cold`] holds.
pub(crate) fn mark(lowered: &mut Lowered) {
    let mut cold = vec![true; lowered.kernels.len()];
    let mut runs = vec![false; lowered.kernels.len()];
    // What runs how often is not known across blocks: each has its own measure.
    let mut blocks: Vec<&[Step]> = vec![&lowered.init, &lowered.steps];
    while let Some(steps) = blocks.pop() {
        let (mut total, mut losses) = (0.0, Vec::new());
        for step in steps {
            match step {
                Step::Run { kernel, .. } => {
                    let made = &lowered.kernels[*kernel];
                    total += made.cycles;
                    losses.push((loss(made), *kernel));
                }
                Step::Copy { .. } => {}
                Step::While { condition, body, .. } => blocks.extend([condition.as_slice(), body]),
                Step::If { branches, .. } => blocks.extend(branches.iter().map(Vec::as_slice)),
            }
        }
        losses.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut lost = 0.0;
        for (loss, kernel) in losses {
            lost += loss;
            runs[kernel] = true;
            cold[kernel] &= lost <= LOST * total;
        }
    }
    for (kernel, (cold, runs)) in lowered.kernels.iter_mut().zip(cold.into_iter().zip(runs)) {
        kernel.cold = cold && runs;
    }
}

/// The cycles that a kernel takes longer, at most.
fn loss(kernel: &Kernel) -> f64 {
    match kernel.loss {
        Some(loss) => loss,
        None if kernel.cycles > 0.0 => (SLOWER - 1.0) * kernel.cycles,
        None => f64::INFINITY,
    }
}
