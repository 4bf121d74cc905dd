//! What a scan takes whose lines run in order: its traffic, or the steps of a thread, which wait for each other.

use super::{LAUNCH, Model};
use crate::Gpu;
use surject_codegen::kernels::expression::Expression;
use surject_codegen::kernels::running::{Running, Scanners};

/// Elements under way that keep memory busy.
const UNDER_WAY: f64 = 65_536.0;
/// The cycles of a step that waits for the one before it, and the steps in which the threads of a block join.
const STEP: f64 = 30.0;
const JOINS: f64 = 20.0;

/// The time of a scan.
pub(super) fn model(gpu: &Gpu, expression: &Expression, running: &Running) -> Model {
    let length = expression.find(&running.along).map_or(1.0, |l| l.extent as f64);
    let points: f64 = expression.loops().iter().map(|l| l.extent as f64).product();
    let bytes: f64 = expression.traffic().iter().map(|t| t.bytes).sum();
    let each = match running.by {
        Scanners::Threads { each, .. } => each,
        Scanners::Lanes(lines) => lines.lanes,
    } as f64;
    // Threads of a line each load their neighbours at once; the others a step after the other, of which some are under way.
    let (elements, steps) = match running.across {
        None => (points, each + JOINS),
        Some(_) => (points / length * each, length),
    };
    let (memory, arithmetic) = (bytes / gpu.bandwidth, points / gpu.rate);
    let busy = (elements / UNDER_WAY).min(1.0);
    let seconds = LAUNCH + (memory / busy).max(steps * STEP / gpu.clock);
    Model { seconds, memory, arithmetic, coalescing: 1.0, busy }
}
