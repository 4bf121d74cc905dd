//! Loops that carry values in two tensors by turns.
//!
//! A round that makes a tensor and copies it to the one that the next round begins with is written twice, where the number
//! of rounds is known: the second of two rounds reads what the first has made, and makes what the first reads. No copy is left.

use crate::in_place::{count, each_mut, has, makes};
use crate::{Plan, Step, TensorId};

/// The most steps of a round that is written twice, those inside of it included.
const STEPS: usize = 256;

/// Writes rounds twice where that saves copies.
pub(crate) fn alternate(plan: &mut Plan, steps: &mut Vec<Step>, uses: &mut [usize]) {
    let mut at = 0;
    while at < steps.len() {
        match &mut steps[at] {
            Step::While { condition, body, .. } => {
                alternate(plan, condition, uses);
                alternate(plan, body, uses);
            }
            Step::Repeat { body, .. } => alternate(plan, body, uses),
            Step::Choose { branches, .. } => branches.iter_mut().for_each(|b| alternate(plan, b, uses)),
            Step::Launch { .. }
            | Step::Copy { .. }
            | Step::Call { .. }
            | Step::Either { .. }
            | Step::Host { .. } => {}
        }
        let twice = match &steps[at] {
            Step::Repeat { count, body } => in_twos(plan, *count, body, uses),
            _ => None,
        };
        match twice {
            None => at += 1,
            Some(twice) => {
                let (mut old, mut new) = (vec![0; uses.len()], vec![0; uses.len()]);
                count(&steps[at..=at], &mut old);
                count(&twice, &mut new);
                for ((all, old), new) in uses.iter_mut().zip(old).zip(new) {
                    *all = *all + new - old;
                }
                let length = twice.len();
                steps.splice(at..=at, twice);
                at += length;
            }
        }
    }
}

/// The rounds of a loop by twos, an odd one first.
fn in_twos(plan: &Plan, rounds: u64, body: &[Step], uses: &[usize]) -> Option<Vec<Step>> {
    let pairs = pairs(plan, body, uses);
    if pairs.is_empty() || rounds < 2 || length(body) > STEPS {
        return None;
    }
    let is_copied = |step: &Step| matches!(step, Step::Copy { from, to } if pairs.contains(&(*from, *to)));
    let mut two: Vec<Step> = body.iter().filter(|step| !is_copied(step)).cloned().collect();
    let mut second = two.clone();
    let exchange = &mut |id: &mut TensorId| {
        let pair = pairs.iter().find(|(from, to)| *id == *from || *id == *to);
        if let Some(&(from, to)) = pair {
            *id = if *id == from { to } else { from };
        }
    };
    second.iter_mut().for_each(|step| each_mut(step, exchange));
    two.extend(second);
    let mut all = if rounds % 2 == 1 { body.to_vec() } else { Vec::new() };
    match rounds / 2 {
        1 => all.extend(two),
        count => all.push(Step::Repeat { count, body: two }),
    }
    Some(all)
}

/// What the end of a round copies, from where and to where, if the two tensors can change places.
fn pairs(plan: &Plan, body: &[Step], uses: &[usize]) -> Vec<(TensorId, TensorId)> {
    let mut found: Vec<(TensorId, TensorId)> = Vec::new();
    let copies = body.iter().rev().take_while(|step| matches!(step, Step::Copy { .. })).count();
    for i in body.len() - copies..body.len() {
        let Step::Copy { from, to } = body[i] else { continue };
        let alike = |a: TensorId, b: TensorId| {
            let (a, b) = (plan.tensor(a), plan.tensor(b));
            a.is_of_arena() && b.is_of_arena() && a.dtype == b.dtype && a.shape == b.shape
        };
        let mut here = vec![0; uses.len()];
        count(body, &mut here);
        // What is copied belongs to the round: every round makes it anew before it is read.
        let first = body.iter().position(|step| has(step, from)).unwrap_or(i);
        let own = here[from.0 as usize] == uses[from.0 as usize] && first < i && makes(&body[first], from);
        let apart = !body[i + 1..].iter().any(|step| has(step, from) || has(step, to))
            && found.iter().all(|&(a, b)| [a, b].iter().all(|t| *t != from && *t != to));
        if from != to && alike(from, to) && own && apart {
            found.push((from, to));
        }
    }
    found
}

/// All steps, those inside of others included.
fn length(steps: &[Step]) -> usize {
    let inside = |step: &Step| match step {
        Step::While { condition, body, .. } => length(condition) + length(body),
        Step::Repeat { body, .. } => length(body),
        Step::Choose { branches, .. } => branches.iter().map(|b| length(b)).sum(),
        Step::Either { device, host } => length(device) + length(host),
        Step::Launch { .. } | Step::Copy { .. } | Step::Call { .. } | Step::Host { .. } => 0,
    };
    steps.iter().map(|step| 1 + inside(step)).sum()
}

#[cfg(test)]
mod tests {
    use crate::{Kernel, Place, Plan, Shape, Step, Tensor, TensorId, Use, in_place};
    use surject_ir::DType;

    fn launch(tensors: &[u32]) -> Step {
        Step::Launch { kernel: 0, tensors: tensors.iter().map(|&t| TensorId(t)).collect() }
    }

    fn copy(from: u32, to: u32) -> Step {
        Step::Copy { from: TensorId(from), to: TensorId(to) }
    }

    /// What is left of a loop that makes tensor 1 of tensor 0 and copies it back.
    fn rounds(count: u64) -> Vec<Step> {
        let tensor = |i: u32| Tensor {
            name: format!("t{i}"),
            dtype: DType::U8,
            shape: vec![8],
            place: Place::Arena(0),
        };
        let kernel = Kernel {
            name: "k".into(),
            assignment: "k".into(),
            shape: Shape { blocks: [1; 3], threads: 1, shared: 0, maps: Vec::new() },
            tensors: vec![Use::Changed; 2],
            us: None,
        };
        let mut plan = Plan {
            name: "p".into(),
            architecture: "sm_80".into(),
            tensors: (0..2).map(tensor).collect(),
            params: vec![],
            results: vec![TensorId(0)],
            kernels: vec![kernel],
            calls: vec![],
            host: vec![],
            init: vec![],
            steps: vec![launch(&[0]), Step::Repeat { count, body: vec![launch(&[0, 1]), copy(1, 0)] }],
            constants: vec![],
            arena_bytes: 0,
            streams: 1,
            ptx: String::new(),
        };
        in_place(&mut plan);
        plan.steps.split_off(1)
    }

    #[test]
    fn rounds_by_twos_copy_once_at_most() {
        let two = vec![launch(&[0, 1]), launch(&[1, 0])];
        assert_eq!(rounds(2), two);
        assert_eq!(rounds(8), [Step::Repeat { count: 4, body: two.clone() }]);
        let first = [launch(&[0, 1]), copy(1, 0)];
        let all: Vec<Step> = first.into_iter().chain([Step::Repeat { count: 3, body: two }]).collect();
        assert_eq!(rounds(7), all);
        assert_eq!(rounds(1).len(), 1);
    }
}
