//! Places in the arena: tensors that live at different times share memory.

mod apart;

use crate::{Place, Plan, PlanError, Step, TensorId};
use apart::Apart;
use std::ops::Range;

/// Where tensors begin: what the kernels' widest accesses and copies like, and what may be read behind an end.
const ALIGN: u64 = 256;

/// From when to when a tensor holds something, by the numbers of steps; both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Life {
    first: u32,
    last: u32,
}

impl Life {
    fn meets(self, other: Life) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// What several streams may cost in memory: this much, or a quarter where that is more.
const MORE: u64 = 64 << 20;

/// Gives every tensor of the arena a place, and the arena its size. Results live to the end; what a loop finds when it
/// begins lives as long as the loop. Larger tensors choose first, each the lowest place that is free while it lives.
///
/// Where a plan has several streams, tensors share memory only if that makes no step wait for another, unless that
/// takes much more memory.
pub fn place(plan: &mut Plan) -> Result<(), PlanError> {
    let mut found = places(plan, None)?;
    if plan.streams > 1 {
        let apart = places(plan, Some(&Apart::of(plan)));
        let most = found.bytes.saturating_add(MORE.max(found.bytes / 4));
        if let Ok(apart) = apart
            && apart.bytes <= most
        {
            found = apart;
        }
    }
    for (tensor, place) in plan.tensors.iter_mut().zip(found.places) {
        if let Some(at) = place {
            tensor.place = Place::Arena(at);
        }
    }
    plan.arena_bytes = found.bytes;
    Ok(())
}

/// Places in an arena of so many bytes.
struct Places {
    /// Of each tensor of the arena.
    places: Vec<Option<u64>>,
    bytes: u64,
}

fn places(plan: &Plan, apart: Option<&Apart>) -> Result<Places, PlanError> {
    let lives = lives(plan);
    let mut places = vec![None; plan.tensors.len()];
    let mut order: Vec<(u64, usize)> = Vec::new();
    for (i, tensor) in plan.tensors.iter().enumerate() {
        if let Place::Arena(_) = tensor.place {
            let bytes = tensor.bytes().and_then(|b| b.checked_next_multiple_of(ALIGN));
            let bytes = bytes.ok_or_else(|| PlanError(format!("`{}` is too large", tensor.name)))?;
            order.push((bytes, i));
        }
    }
    // Of one size, the first in the plan is the first to choose.
    order.sort_by_key(|&(bytes, i)| (std::cmp::Reverse(bytes), i));
    let mut placed: Vec<(Range<u64>, usize, Life)> = Vec::new();
    let mut arena = 0;
    for (bytes, i) in order {
        // What no step touches needs no memory, and gets a place of its own kind: the beginning.
        let at = match lives.all[i].filter(|_| bytes > 0) {
            None => 0,
            Some(life) => {
                let mut taken: Vec<(u64, u64)> = placed
                    .iter()
                    .filter(|(_, j, other)| other.meets(life) || apart.is_some_and(|a| !a.ordered(i, *j)))
                    .map(|(range, ..)| (range.start, range.end))
                    .collect();
                taken.sort_unstable();
                let mut at = 0u64;
                for (from, to) in taken {
                    if from.checked_sub(at).is_some_and(|room| room >= bytes) {
                        break;
                    }
                    at = at.max(to);
                }
                let end = at.checked_add(bytes).ok_or_else(|| PlanError("the arena is too large".into()))?;
                placed.push((at..end, i, life));
                end.max(arena).clone_into(&mut arena);
                at
            }
        };
        // A tensor that is never touched still lies inside of the arena.
        arena = arena.max(at.saturating_add(bytes));
        places[i] = Some(at);
    }
    Ok(Places { places, bytes: arena })
}

/// The lives of the tensors of a plan.
fn lives(plan: &Plan) -> Lives {
    let mut lives = Lives { now: 0, all: vec![None; plan.tensors.len()] };
    lives.steps(&plan.init);
    // What is there before the first run is there in all of them.
    let first = lives.all.clone();
    lives.steps(&plan.steps);
    lives.now += 1;
    plan.results.iter().for_each(|&r| lives.touch(r));
    for (life, first) in lives.all.iter_mut().zip(first) {
        if first.is_some() {
            *life = Some(Life { first: 0, last: lives.now });
        }
    }
    lives
}

/// The lives of the tensors, step by step.
struct Lives {
    now: u32,
    all: Vec<Option<Life>>,
}

impl Lives {
    fn touch(&mut self, id: TensorId) {
        let now = self.now;
        let life = self.all[id.0 as usize].get_or_insert(Life { first: now, last: now });
        life.last = now;
    }

    /// What was there when a loop began is there in each of its rounds.
    fn keep(&mut self, start: u32) {
        for life in self.all.iter_mut().flatten() {
            if life.first < start && life.last >= start {
                life.last = self.now;
            }
        }
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            self.now += 1;
            match step {
                Step::Launch { tensors, .. } => tensors.iter().for_each(|&t| self.touch(t)),
                Step::Copy { from, to } => [from, to].into_iter().for_each(|&t| self.touch(t)),
                Step::Call { tensors, .. } => tensors.iter().for_each(|&t| self.touch(t)),
                Step::Either { device, host } => {
                    self.steps(device);
                    self.steps(host);
                }
                Step::Host { inputs, outputs, .. } => {
                    inputs.iter().chain(outputs).for_each(|&t| self.touch(t));
                }
                Step::While { condition, test, body } => {
                    let start = self.now;
                    self.steps(condition);
                    self.now += 1;
                    self.touch(*test);
                    self.steps(body);
                    self.now += 1;
                    self.keep(start);
                }
                Step::Repeat { body, .. } => {
                    let start = self.now;
                    self.steps(body);
                    self.now += 1;
                    self.keep(start);
                }
                Step::Choose { index, branches } => {
                    self.touch(*index);
                    branches.iter().for_each(|branch| self.steps(branch));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kernel, Shape, Tensor, Use};
    use surject_ir::DType;

    /// A plan of launches of kernels with these tensors, all of the arena and of these sizes.
    fn plan(sizes: &[usize], steps: Vec<Step>, results: &[u32]) -> Plan {
        let tensor = |(i, &size): (usize, &usize)| Tensor {
            name: format!("t{i}"),
            dtype: DType::U8,
            shape: vec![size],
            place: Place::Arena(0),
        };
        let kernel = |tensors| Kernel {
            name: "k".into(),
            assignment: "k".into(),
            shape: Shape { blocks: [1; 3], threads: 1, shared: 0, maps: Vec::new() },
            tensors: vec![Use::Changed; tensors],
            us: None,
        };
        Plan {
            name: "p".into(),
            architecture: "sm_80".into(),
            tensors: sizes.iter().enumerate().map(tensor).collect(),
            params: vec![],
            results: results.iter().map(|&r| TensorId(r)).collect(),
            kernels: (0..4).map(kernel).collect(),
            calls: vec![],
            host: vec![],
            init: vec![],
            steps,
            constants: vec![],
            arena_bytes: 0,
            streams: 1,
            ptx: String::new(),
        }
    }

    fn launch(tensors: &[u32]) -> Step {
        Step::Launch { kernel: tensors.len() as u32, tensors: tensors.iter().map(|&t| TensorId(t)).collect() }
    }

    /// The place of each tensor, in units of the alignment.
    fn places(plan: &Plan) -> Vec<u64> {
        let at = |t: &Tensor| match t.place {
            Place::Arena(at) => at / ALIGN,
            _ => panic!("no place"),
        };
        plan.tensors.iter().map(at).collect()
    }

    #[test]
    fn a_chain_needs_two_places() {
        let steps = (0..6).map(|i| launch(&[i, i + 1])).collect();
        let mut plan = plan(&[256; 7], steps, &[6]);
        place(&mut plan).unwrap();
        assert_eq!(places(&plan), [0, 1, 0, 1, 0, 1, 0]);
        assert_eq!(plan.arena_bytes, 512);
        plan.check().unwrap();
    }

    #[test]
    fn what_a_loop_finds_lives_as_long_as_the_loop() {
        // 0 is read in the first step of the body; 2 is written behind it, and must not take its memory.
        let body = vec![launch(&[0, 1]), launch(&[1, 2]), launch(&[2, 3])];
        let steps = vec![
            launch(&[0]),
            Step::While { condition: vec![launch(&[4])], test: TensorId(4), body },
            launch(&[5]),
        ];
        let mut plan = plan(&[256, 256, 256, 256, 1, 256], steps, &[5]);
        place(&mut plan).unwrap();
        let at = places(&plan);
        assert!([1, 2, 3, 4].iter().all(|&i| at[i] != at[0]), "{at:?}");
        assert_eq!(at[5], 0);
    }

    #[test]
    fn tensors_that_live_together_never_share() {
        // Random straight lines: what meets in time is apart in memory.
        let mut state = 7u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        for _ in 0..200 {
            let count = 2 + random(12) as usize;
            let sizes: Vec<usize> = (0..count).map(|_| random(2000) as usize).collect();
            let steps: Vec<Step> = (0..random(20))
                .map(|_| launch(&[random(count as u64) as u32, random(count as u64) as u32]))
                .collect();
            let mut plan = plan(&sizes, steps, &[0]);
            place(&mut plan).unwrap();
            plan.check().unwrap();
            let lives = lives(&plan);
            let at = places(&plan);
            for a in 0..count {
                for b in 0..a {
                    let (Some(x), Some(y)) = (lives.all[a], lives.all[b]) else { continue };
                    let (from, to) = (at[a] * ALIGN, at[b] * ALIGN);
                    let apart = from + sizes[a] as u64 <= to || to + sizes[b] as u64 <= from;
                    assert!(!x.meets(y) || apart || sizes[a] == 0 || sizes[b] == 0);
                }
            }
        }
    }
}
