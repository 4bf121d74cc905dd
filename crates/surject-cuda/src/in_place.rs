//! Tensors that need not be: what is made only to be copied is made where the copy goes.
//!
//! Loops carry values in tensors of their own, updates write into a copy of what they change, choices give their results
//! to one tensor. Planned one by one these are copies; most of them go here, before tensors get their places.

use crate::alternate::alternate;
use crate::{Place, Plan, Step, TensorId};

/// Makes tensors in the place of those that they are copied to, where nothing can tell the difference, and drops tensors
/// that no step has any more.
pub fn in_place(plan: &mut Plan) {
    let mut steps = std::mem::take(&mut plan.steps);
    let mut uses = vec![0; plan.tensors.len()];
    count(&plan.init, &mut uses);
    count(&steps, &mut uses);
    for &id in plan.params.iter().chain(&plan.results) {
        uses[id.0 as usize] += 1;
    }
    list(plan, &mut steps, &mut uses);
    alternate(plan, &mut steps, &mut uses);
    plan.steps = steps;
    drop_unused(plan, &uses);
}

fn each(step: &Step, f: &mut dyn FnMut(TensorId)) {
    match step {
        Step::Launch { tensors, .. } => tensors.iter().for_each(|&t| f(t)),
        Step::Call { tensors, .. } => tensors.iter().for_each(|&t| f(t)),
        Step::Either { device, host } => device.iter().chain(host).for_each(|s| each(s, f)),
        Step::Copy { from, to } => [*from, *to].into_iter().for_each(f),
        Step::Host { inputs, outputs, .. } => inputs.iter().chain(outputs).for_each(|&t| f(t)),
        Step::While { condition, test, body } => {
            f(*test);
            condition.iter().chain(body).for_each(|s| each(s, f));
        }
        Step::Repeat { body, .. } => body.iter().for_each(|s| each(s, f)),
        Step::Choose { index, branches } => {
            f(*index);
            branches.iter().flatten().for_each(|s| each(s, f));
        }
    }
}

pub(crate) fn each_mut(step: &mut Step, f: &mut dyn FnMut(&mut TensorId)) {
    match step {
        Step::Launch { tensors, .. } => tensors.iter_mut().for_each(f),
        Step::Call { tensors, .. } => tensors.iter_mut().for_each(f),
        Step::Either { device, host } => device.iter_mut().chain(host).for_each(|s| each_mut(s, f)),
        Step::Copy { from, to } => [from, to].into_iter().for_each(f),
        Step::Host { inputs, outputs, .. } => inputs.iter_mut().chain(outputs).for_each(f),
        Step::While { condition, test, body } => {
            f(test);
            condition.iter_mut().chain(body).for_each(|s| each_mut(s, f));
        }
        Step::Repeat { body, .. } => body.iter_mut().for_each(|s| each_mut(s, f)),
        Step::Choose { index, branches } => {
            f(index);
            branches.iter_mut().flatten().for_each(|s| each_mut(s, f));
        }
    }
}

pub(crate) fn count(steps: &[Step], uses: &mut [usize]) {
    steps.iter().for_each(|step| each(step, &mut |t| uses[t.0 as usize] += 1));
}

pub(crate) fn has(step: &Step, id: TensorId) -> bool {
    let mut found = false;
    each(step, &mut |t| found |= t == id);
    found
}

/// Goes through a list of steps, those inside of them first.
fn list(plan: &Plan, steps: &mut Vec<Step>, uses: &mut [usize]) {
    for step in steps.iter_mut() {
        match step {
            Step::While { condition, body, .. } => {
                list(plan, condition, uses);
                list(plan, body, uses);
            }
            Step::Repeat { body, .. } => list(plan, body, uses),
            Step::Choose { branches, .. } => branches.iter_mut().for_each(|branch| list(plan, branch, uses)),
            // Its two lists have their copies because calls overwrite operands; they stay.
            Step::Either { .. } => {}
            Step::Launch { .. } | Step::Copy { .. } | Step::Call { .. } | Step::Host { .. } => {}
        }
    }
    let mut at = 0;
    while at < steps.len() {
        let Step::Copy { from, to } = steps[at] else {
            at += 1;
            continue;
        };
        let [source, target] = [from, to].map(|id| plan.tensor(id));
        let free = from != to && source.is_of_arena() && target.is_of_arena();
        // Kernels and copies do not see the type, the others do.
        let alike = source.dtype == target.dtype && source.shape == target.shape;
        let blind = |first: usize| {
            let sees = |step: &Step| !matches!(step, Step::Launch { .. } | Step::Copy { .. });
            !steps[first..=at].iter().any(|step| sees(step) && has(step, from))
        };
        let first = begin(&steps[..=at], uses, (from, to));
        match first.filter(|&first| free && (alike || blind(first))) {
            None => at += 1,
            Some(first) => {
                let mut renamed = 0;
                for step in &mut steps[first..=at] {
                    each_mut(step, &mut |t| {
                        if *t == from {
                            *t = to;
                            renamed += 1;
                        }
                    });
                }
                uses[from.0 as usize] -= renamed;
                uses[to.0 as usize] += renamed;
                // The copy goes, and the first step too where it was one of the target.
                let own = |step: &Step| matches!(step, Step::Copy { from, to } if from == to);
                let gone: Vec<usize> = (first..=at).filter(|&i| own(&steps[i])).collect();
                for &i in gone.iter().rev() {
                    if let Step::Copy { to, .. } = steps.remove(i) {
                        uses[to.0 as usize] -= 2;
                    }
                }
                at = (at + 1).saturating_sub(gone.len());
            }
        }
    }
}

/// The step that makes what the last of these steps copies, if from there on the target can stand in its place: the tensor is
/// in these steps only, and between its first step and the copy nothing has the target.
fn begin(steps: &[Step], uses: &[usize], (from, to): (TensorId, TensorId)) -> Option<usize> {
    let first = steps.iter().position(|step| has(step, from))?;
    let (last, between) = steps[first..].split_last()?;
    let mut here = 0;
    steps[first..].iter().for_each(|step| each(step, &mut |t| here += usize::from(t == from)));
    if here != uses[from.0 as usize] || !matches!(last, Step::Copy { .. }) {
        return None;
    }
    // The first step must make it whole: what a loop or a choice has inside may be of another round or branch.
    let (maker, rest) = between.split_first()?;
    let copied_from_target = matches!(maker, Step::Copy { from: source, .. } if *source == to);
    let clear = !rest.iter().any(|step| has(step, to)) && (copied_from_target || !has(maker, to));
    (makes(maker, from) && clear).then_some(first)
}

/// Does the first step that has a tensor make it whole?
pub(crate) fn makes(first: &Step, id: TensorId) -> bool {
    match first {
        Step::Copy { to, .. } => *to == id,
        Step::Launch { .. } => true,
        Step::Host { outputs, .. } => outputs.contains(&id),
        Step::Either { device, host } => [device, host]
            .into_iter()
            .all(|list| list.iter().find(|step| has(step, id)).is_some_and(|step| makes(step, id))),
        // Which operands it writes is a matter of the call: a copy more, and never one too few.
        Step::Call { .. } | Step::While { .. } | Step::Repeat { .. } | Step::Choose { .. } => false,
    }
}

/// Drops tensors of the arena that no step has any more.
pub(crate) fn drop_unseen(plan: &mut Plan) {
    let mut uses = vec![0; plan.tensors.len()];
    count(&plan.init, &mut uses);
    count(&plan.steps, &mut uses);
    for &id in plan.params.iter().chain(&plan.results) {
        uses[id.0 as usize] += 1;
    }
    drop_unused(plan, &uses);
}

/// Drops tensors of the arena that nothing uses, and numbers the others anew.
fn drop_unused(plan: &mut Plan, uses: &[usize]) {
    let mut numbers = Vec::with_capacity(uses.len());
    let mut next = 0;
    for (tensor, &count) in plan.tensors.iter().zip(uses) {
        let kept = count > 0 || !matches!(tensor.place, Place::Arena(_));
        numbers.push(kept.then_some(TensorId(next)));
        next += u32::from(kept);
    }
    let mut kept = numbers.iter();
    plan.tensors.retain(|_| kept.next().is_some_and(Option::is_some));
    let rename = &mut |id: &mut TensorId| {
        if let Some(number) = numbers[id.0 as usize] {
            *id = number;
        }
    };
    plan.params.iter_mut().chain(&mut plan.results).for_each(&mut *rename);
    plan.init.iter_mut().chain(&mut plan.steps).for_each(|step| each_mut(step, rename));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kernel, Shape, Tensor, Use, memory};
    use std::collections::HashMap;
    use surject_ir::DType;

    /// Plans as a planner makes them: every tensor is made once, loops carry values in tensors of their own.
    struct Maker {
        state: u64,
        plan: Plan,
    }

    impl Maker {
        fn below(&mut self, n: usize) -> usize {
            self.state =
                self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.state >> 33) as usize % n.max(1)
        }

        fn fresh(&mut self) -> TensorId {
            self.plan.tensors.push(Tensor {
                name: "t".into(),
                dtype: DType::U8,
                shape: vec![256],
                place: Place::Arena(0),
            });
            TensorId(self.plan.tensors.len() as u32 - 1)
        }

        fn pick(&mut self, known: &[TensorId]) -> TensorId {
            known[self.below(known.len())]
        }

        /// A kernel of so many inputs and an output.
        fn launch(&mut self, inputs: &[TensorId], output: TensorId) -> Step {
            let tensors: Vec<TensorId> = inputs.iter().copied().chain([output]).collect();
            Step::Launch { kernel: tensors.len() as u32, tensors }
        }

        fn list(&mut self, known: &mut Vec<TensorId>, depth: usize) -> Vec<Step> {
            let mut steps = Vec::new();
            for _ in 0..1 + self.below(5) {
                let new = self.fresh();
                match self.below(if depth < 2 { 9 } else { 6 }) {
                    0..=3 => {
                        let inputs: Vec<TensorId> = (0..self.below(3)).map(|_| self.pick(known)).collect();
                        steps.push(self.launch(&inputs, new));
                    }
                    4 => steps.push(Step::Copy { from: self.pick(known), to: new }),
                    5 => {
                        // A call that changes a copy of its operand, or a step of the host.
                        let (input, own, work) = (self.pick(known), self.fresh(), self.fresh());
                        let device = vec![
                            Step::Copy { from: input, to: own },
                            Step::Call { call: 0, tensors: vec![own, work] },
                            match self.below(2) {
                                0 => self.launch(&[own], new),
                                _ => Step::Copy { from: own, to: new },
                            },
                        ];
                        let host = vec![self.launch(&[input], new)];
                        steps.push(Step::Either { device, host });
                    }
                    6 => {
                        // A choice between two lists, which gives one value.
                        let index = self.pick(known);
                        let branches = (0..2)
                            .map(|_| {
                                let mut inner = known.clone();
                                let mut steps = self.list(&mut inner, depth + 1);
                                steps.push(Step::Copy { from: self.pick(&inner), to: new });
                                steps
                            })
                            .collect();
                        steps.push(Step::Choose { index, branches });
                    }
                    _ => {
                        let carried: Vec<TensorId> = (0..1 + self.below(3)).map(|_| self.fresh()).collect();
                        steps.extend(carried.iter().map(|&to| Step::Copy { from: self.pick(known), to }));
                        let mut inner = known.clone();
                        inner.extend(&carried);
                        let test = self.fresh();
                        let input = self.pick(&inner);
                        let condition = vec![self.launch(&[input], test)];
                        let mut body = self.list(&mut inner, depth + 1);
                        let (mut first, mut late) = (Vec::new(), Vec::new());
                        for &to in &carried {
                            let from = self.pick(&inner);
                            let next = self.fresh();
                            first.push(Step::Copy { from, to: next });
                            late.push(Step::Copy { from: next, to });
                        }
                        body.extend(first.into_iter().chain(late));
                        steps.push(match self.below(2) {
                            0 => Step::While { condition, test, body },
                            _ => Step::Repeat { count: 1 + self.below(4) as u64, body },
                        });
                        let value = self.pick(&carried);
                        known.extend(carried);
                        steps.push(Step::Copy { from: value, to: new });
                    }
                }
                known.push(new);
            }
            steps
        }
    }

    /// What a plan computes, with a number for what lies at each place.
    struct Machine<'p> {
        plan: &'p Plan,
        memory: HashMap<Place, u64>,
        rounds: usize,
        /// Does the device have what steps call?
        calls: bool,
    }

    impl Machine<'_> {
        fn get(&self, id: TensorId) -> u64 {
            *self.memory.get(&self.plan.tensor(id).place).expect("it was written")
        }

        fn set(&mut self, id: TensorId, value: u64) {
            self.memory.insert(self.plan.tensor(id).place, value);
        }

        fn run(&mut self, steps: &[Step]) {
            for step in steps {
                match step {
                    Step::Launch { tensors, .. } => {
                        let (output, inputs) = tensors.split_last().expect("an output");
                        let mix = |sum: u64, &id: &TensorId| {
                            (sum ^ self.get(id)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
                        };
                        let value = inputs.iter().fold(tensors.len() as u64, mix);
                        self.set(*output, value);
                    }
                    Step::Copy { from, to } => self.set(*to, self.get(*from)),
                    Step::While { condition, test, body } => loop {
                        self.run(condition);
                        self.rounds += 1;
                        if self.get(*test).is_multiple_of(4) || self.rounds > 40 {
                            break;
                        }
                        self.run(body);
                    },
                    Step::Repeat { count, body } => (0..*count).for_each(|_| self.run(body)),
                    Step::Choose { index, branches } => self.run(&branches[self.get(*index) as usize % 2]),
                    Step::Call { tensors, .. } => {
                        let value = self.get(tensors[0]).wrapping_mul(0x2545_f491_4f6c_dd1d);
                        self.set(tensors[0], value);
                        self.set(tensors[1], 12345);
                    }
                    Step::Either { device, host } => self.run(if self.calls { device } else { host }),
                    Step::Host { .. } => unreachable!("there is none"),
                }
            }
        }

        /// The results on a device with libraries, and on one without.
        fn results(plan: &Plan) -> [Vec<u64>; 2] {
            [true, false].map(|calls| {
                let mut machine = Machine { plan, memory: HashMap::new(), rounds: 0, calls };
                plan.params.iter().enumerate().for_each(|(i, &p)| machine.set(p, i as u64 + 100));
                machine.run(&plan.steps);
                plan.results.iter().map(|&r| machine.get(r)).collect()
            })
        }
    }

    /// The copies of a run in which every condition holds once.
    fn copies(steps: &[Step]) -> u64 {
        let here = |step: &Step| match step {
            Step::Copy { .. } => 1,
            Step::While { condition, body, .. } => copies(condition) + copies(body),
            Step::Repeat { count, body } => count * copies(body),
            Step::Choose { branches, .. } => branches.iter().map(|b| copies(b)).sum(),
            Step::Either { device, host } => copies(device) + copies(host),
            Step::Launch { .. } | Step::Call { .. } | Step::Host { .. } => 0,
        };
        steps.iter().map(here).sum()
    }

    #[test]
    fn nothing_can_tell_the_difference() {
        let (mut before, mut after) = (0, 0);
        for seed in 0..600 {
            let kernel = |i: usize| Kernel {
                name: "k".into(),
                assignment: "k".into(),
                shape: Shape { blocks: [1; 3], threads: 1, shared: 0, maps: Vec::new() },
                tensors: vec![Use::Changed; i],
                us: None,
            };
            let plan = Plan {
                name: "p".into(),
                architecture: "sm_80".into(),
                tensors: Vec::new(),
                params: Vec::new(),
                results: Vec::new(),
                kernels: (0..8).map(kernel).collect(),
                calls: Vec::new(),
                host: Vec::new(),
                init: Vec::new(),
                steps: Vec::new(),
                constants: Vec::new(),
                arena_bytes: 0,
                streams: 1,
                ptx: String::new(),
            };
            let mut maker = Maker { state: seed * 7919 + 1, plan };
            let mut known: Vec<TensorId> = (0..2).map(|_| maker.fresh()).collect();
            for (i, &param) in known.iter().enumerate() {
                maker.plan.tensors[param.0 as usize].place = Place::Argument(i as u32);
            }
            maker.plan.params = known.clone();
            maker.plan.steps = maker.list(&mut known, 0);
            maker.plan.results = (0..3).map(|_| maker.pick(&known)).collect();
            let mut plan = maker.plan;
            // Each tensor in a place of its own is what is meant.
            let apart = |plan: &mut Plan| {
                for (i, tensor) in plan.tensors.iter_mut().enumerate() {
                    if let Place::Arena(at) = &mut tensor.place {
                        *at = 256 * i as u64;
                    }
                }
            };
            apart(&mut plan);
            let expected = Machine::results(&plan);
            before += copies(&plan.steps);
            in_place(&mut plan);
            after += copies(&plan.steps);
            apart(&mut plan);
            assert_eq!(Machine::results(&plan), expected, "{seed}, in place");
            memory::place(&mut plan).unwrap();
            assert_eq!(Machine::results(&plan), expected, "{seed}, with shared memory\n{plan}");
        }
        assert!(after * 3 < before * 2, "{after} of {before} copies are left");
    }
}
