//! A kernel as a list of steps with jumps, so that an agent can stop anywhere and go on later.

use crate::{Kernel, Level, LoopKind, Op, Region, Statement, Value};
use std::ops::Range;

/// A step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'k> {
    /// A statement without regions.
    Do(&'k Statement),
    /// A serial loop begins; it goes on at `exit` when it is done.
    Loop { statement: &'k Statement, exit: usize },
    /// An iteration of the loop that began at `start` ends.
    Next { start: usize },
    /// A parallel loop: its iterations begin behind this step, and it goes on at `exit`.
    Spawn { statement: &'k Statement, level: Level, exit: usize },
    /// An iteration of a parallel loop ends, or the kernel.
    End,
    /// Goes on behind this step where the condition holds, else at `otherwise`.
    Branch { statement: &'k Statement, condition: Value, otherwise: usize },
    /// A side of an `if` ends.
    Leave { yields: &'k [Value], results: &'k [Value], to: usize },
}

/// The numbers among which those of the values are that a region defines, of which there are some.
pub(super) fn defined(region: &Region) -> Range<usize> {
    let (mut low, mut high) = (usize::MAX, 0);
    let mut work = vec![region];
    while let Some(region) = work.pop() {
        let results = region.body.iter().flat_map(|statement| &statement.results);
        for value in region.params.iter().chain(results) {
            low = low.min(value.0 as usize);
            high = high.max(value.0 as usize + 1);
        }
        for statement in &region.body {
            match &statement.op {
                Op::For { body, .. } => work.push(body),
                Op::If { then, otherwise, .. } => work.extend([then, otherwise]),
                _ => {}
            }
        }
    }
    low.min(high)..high
}

/// The steps of a kernel.
pub(super) fn steps(kernel: &Kernel) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    region(&kernel.body, &mut steps);
    steps.push(Step::End);
    steps
}

fn region<'k>(region_of: &'k Region, steps: &mut Vec<Step<'k>>) {
    for statement in &region_of.body {
        match &statement.op {
            Op::For { kind: LoopKind::Parallel(level), body, .. } => {
                let start = steps.len();
                steps.push(Step::End);
                region(body, steps);
                steps.push(Step::End);
                steps[start] = Step::Spawn { statement, level: *level, exit: steps.len() };
            }
            Op::For { body, .. } => {
                let start = steps.len();
                steps.push(Step::End);
                region(body, steps);
                steps.push(Step::Next { start });
                steps[start] = Step::Loop { statement, exit: steps.len() };
            }
            Op::If { condition, then, otherwise } => {
                let start = steps.len();
                steps.push(Step::End);
                region(then, steps);
                let middle = steps.len();
                steps.push(Step::End);
                region(otherwise, steps);
                let (results, to) = (statement.results.as_slice(), steps.len() + 1);
                steps.push(Step::Leave { yields: &otherwise.yields, results, to });
                steps[middle] = Step::Leave { yields: &then.yields, results, to };
                steps[start] = Step::Branch { statement, condition: *condition, otherwise: middle + 1 };
            }
            _ => steps.push(Step::Do(statement)),
        }
    }
}
