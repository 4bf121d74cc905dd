//! Which tensors would make steps wait for each other if they shared memory.
//!
//! Steps of a list that have nothing to do with each other can go to several streams. Where one takes the memory of a
//! tensor that is dead by then in the order of the list, it has to wait for the steps that used that. So on several
//! streams a tensor takes the memory of another one only if its first step comes after all steps of the other anyway, by
//! the values that they pass on.

use crate::call::Use;
use crate::order::{lists, uses};
use crate::{Plan, Step, TensorId};
use std::collections::{BTreeSet, HashMap};

/// Lists of more steps are left in order.
const STEPS: usize = 4096;

/// A list of steps.
struct List {
    /// The list that it stands in, and in which step.
    parent: Option<(usize, usize)>,
    /// For each step the steps before it that it comes after, as bits; `None` where the list is too long.
    before: Option<Vec<Vec<u64>>>,
}

/// A list, and steps of it.
type Home = (usize, BTreeSet<usize>);

/// The lists of a plan, and in which steps of them each tensor is.
pub(super) struct Apart {
    lists: Vec<List>,
    /// The innermost list that has all steps of a tensor, and these steps.
    homes: Vec<Option<Home>>,
}

impl Apart {
    pub(super) fn of(plan: &Plan) -> Apart {
        let mut apart = Apart { lists: Vec::new(), homes: vec![None; plan.tensors.len()] };
        apart.list(plan, &plan.steps, None);
        apart
    }

    fn list(&mut self, plan: &Plan, steps: &[Step], parent: Option<(usize, usize)>) {
        let number = self.lists.len();
        self.lists.push(List { parent, before: None });
        let mut before: Vec<Vec<u64>> = Vec::new();
        // Who wrote a tensor last, and who has read it since.
        let mut touched: HashMap<TensorId, (Option<usize>, Vec<usize>)> = HashMap::new();
        for (at, step) in steps.iter().enumerate() {
            for list in lists(step) {
                self.list(plan, list, Some((number, at)));
            }
            let mut own = vec![0u64; at.div_ceil(64)];
            let mut all = Vec::new();
            uses(plan, std::slice::from_ref(step), &mut |id, usage| all.push((id, usage)));
            direct(step, &mut |id| self.seen(id, number, at));
            for &(id, usage) in &all {
                let (writer, readers) = touched.entry(id).or_default();
                let others = writer.iter().chain(readers.iter().filter(|_| usage != Use::Read));
                for &other in others.filter(|&&other| other < at && steps.len() <= STEPS) {
                    own[other / 64] |= 1 << (other % 64);
                    own.iter_mut().zip(&before[other]).for_each(|(own, other)| *own |= other);
                }
            }
            for &(id, usage) in &all {
                let (writer, readers) = touched.entry(id).or_default();
                match usage {
                    Use::Read => readers.push(at),
                    Use::Written | Use::Changed => {
                        *writer = Some(at);
                        readers.clear();
                    }
                }
            }
            if steps.len() <= STEPS {
                before.push(own);
            }
        }
        if steps.len() <= STEPS {
            self.lists[number].before = Some(before);
        }
    }

    /// A tensor is in a step of a list, not in a list inside of that step.
    fn seen(&mut self, id: TensorId, list: usize, at: usize) {
        let new = (list, BTreeSet::from([at]));
        let home = match self.homes[id.0 as usize].take() {
            None => new,
            Some(old) => match self.common(&old, &new) {
                Some((list, [mut steps, more])) => {
                    steps.extend(more);
                    (list, steps)
                }
                None => old,
            },
        };
        self.homes[id.0 as usize] = Some(home);
    }

    /// The innermost list that steps of two lists stand in, and in which of its steps.
    fn common(&self, a: &Home, b: &Home) -> Option<(usize, [BTreeSet<usize>; 2])> {
        let mut list = a.0;
        loop {
            if let (Some(first), Some(second)) = (self.lifted(a, list), self.lifted(b, list)) {
                return Some((list, [first, second]));
            }
            list = self.lists[list].parent?.0;
        }
    }

    /// The steps of a list that steps stand in; `None` where they stand in none of its steps.
    fn lifted(&self, (own, steps): &Home, list: usize) -> Option<BTreeSet<usize>> {
        if *own == list {
            return Some(steps.clone());
        }
        let mut at = *own;
        while let Some((parent, step)) = self.lists[at].parent {
            if parent == list {
                return Some(BTreeSet::from([step]));
            }
            at = parent;
        }
        None
    }

    /// Do all steps of one of two tensors come before all of the other, whatever the streams?
    pub(super) fn ordered(&self, a: usize, b: usize) -> bool {
        let (Some(a), Some(b)) = (&self.homes[a], &self.homes[b]) else { return true };
        let Some((list, [first, second])) = self.common(a, b) else { return true };
        let Some(before) = &self.lists[list].before else { return true };
        let is_before =
            |x: usize, y: usize| before[y].get(x / 64).is_some_and(|bits| bits >> (x % 64) & 1 == 1);
        let all_before = |first: &BTreeSet<usize>, second: &BTreeSet<usize>| {
            first.iter().all(|&x| second.iter().all(|&y| is_before(x, y)))
        };
        all_before(&first, &second) || all_before(&second, &first)
    }
}

/// The tensors that a step has itself, and not steps inside of it.
fn direct(step: &Step, f: &mut dyn FnMut(TensorId)) {
    match step {
        Step::Launch { tensors, .. } | Step::Call { tensors, .. } => tensors.iter().for_each(|&id| f(id)),
        Step::Copy { from, to } => [*from, *to].into_iter().for_each(f),
        Step::Host { inputs, outputs, .. } => inputs.iter().chain(outputs).for_each(|&id| f(id)),
        Step::While { test: id, .. } | Step::Choose { index: id, .. } => f(*id),
        Step::Repeat { .. } | Step::Either { .. } => {}
    }
}
