//! What a kernel takes, as a roofline says: the time that its traffic or its operations need at least, and how much of
//! the machine it keeps busy.
//!
//! The figures of machines are NVIDIA's (A100 and H100 data sheets and tuning guides), and what `papers/gpu` measured.

pub(crate) mod chain;
pub(crate) mod contraction;
mod loops;
mod scan;
mod transpose;
mod weights;

use crate::Gpu;
use std::fmt;
use surject_codegen::kernels::expression::Expression;
use surject_codegen::kernels::schedule::{Directive, Schedule};

/// What a kernel takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// The time, in seconds.
    pub seconds: f64,
    /// The time of the traffic that is needed, at the full bandwidth.
    pub memory: f64,
    /// The time of the operations, at the full rate.
    pub arithmetic: f64,
    /// Bytes that are needed over bytes of the sectors that are touched.
    pub coalescing: f64,
    /// The part of the threads that the machine needs to be busy.
    pub busy: f64,
}

impl Model {
    /// The time that the machine needs at least, over the time of the kernel: 1 is the roof.
    pub fn share(&self) -> f64 {
        self.memory.max(self.arithmetic) / self.seconds
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.2} us, of which traffic needs {:.2} and operations {:.2}; coalescing {:.2}; {:.0} % of the roof",
            self.seconds * 1e6,
            self.memory * 1e6,
            self.arithmetic * 1e6,
            self.coalescing,
            self.share() * 100.0
        )
    }
}

/// The time from the launch of a kernel to its first instruction, and from its last one to the next launch: of the
/// smallest kernels of a recording (`papers/gpu`).
const LAUNCH: f64 = 1e-6;
/// Bytes that a multiprocessor gets from the caches in a cycle, where all of them do.
const CACHE: f64 = 20.0;

/// Bytes that all multiprocessors get from the caches in a cycle: what memory gives comes this way.
fn from_caches(gpu: &Gpu) -> f64 {
    (CACHE * gpu.multiprocessors as f64).max(gpu.bandwidth / gpu.clock)
}

/// The time of an expression by a schedule.
pub fn model(gpu: &Gpu, expression: &Expression, schedule: &Schedule) -> Model {
    match &schedule.directives[..] {
        [Directive::Contract(tiles)] => contraction::model(gpu, expression, tiles),
        [Directive::Scan(running)] => scan::model(gpu, expression, running),
        [Directive::Transpose(tile)] => transpose::model(gpu, expression, tile),
        _ => loops::model(gpu, expression, schedule),
    }
}
