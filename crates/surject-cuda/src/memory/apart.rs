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
#[derive(Default)]
struct List {
    /// For each step the steps before it that it comes after, as bits; `None` where the list is too long.
    before: Option<Vec<Vec<u64>>>,
    /// The lists in each step.
    inside: HashMap<usize, Vec<usize>>,
}

/// The lists of a plan, the whole one first, and in which steps of them each tensor is.
pub(super) struct Apart {
    lists: Vec<List>,
    /// The steps that have a tensor, in them or in lists in them, by list.
    steps: Vec<HashMap<usize, BTreeSet<usize>>>,
}

impl Apart {
    pub(super) fn of(plan: &Plan) -> Apart {
        let mut apart = Apart { lists: Vec::new(), steps: vec![HashMap::new(); plan.tensors.len()] };
        apart.list(plan, &plan.steps);
        apart
    }

    /// Adds a list, and those in it; its number.
    fn list(&mut self, plan: &Plan, steps: &[Step]) -> usize {
        let number = self.lists.len();
        self.lists.push(List::default());
        let mut before: Vec<Vec<u64>> = Vec::new();
        // Who wrote a tensor last, and who has read it since.
        let mut touched: HashMap<TensorId, (Option<usize>, Vec<usize>)> = HashMap::new();
        for (at, step) in steps.iter().enumerate() {
            let inside = lists(step).into_iter().map(|list| self.list(plan, list)).collect();
            self.lists[number].inside.insert(at, inside);
            let mut all = Vec::new();
            uses(plan, std::slice::from_ref(step), &mut |id, usage| all.push((id, usage)));
            let mut own = vec![0u64; at.div_ceil(64)];
            for &(id, usage) in &all {
                self.steps[id.0 as usize].entry(number).or_default().insert(at);
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
        number
    }

    /// Does each step of one of two tensors come before or after each of the other, whatever the streams?
    pub(super) fn ordered(&self, a: usize, b: usize) -> bool {
        self.ordered_in(0, a, b)
    }

    fn ordered_in(&self, list: usize, a: usize, b: usize) -> bool {
        let (Some(first), Some(second)) = (self.steps[a].get(&list), self.steps[b].get(&list)) else {
            return true;
        };
        let List { before, inside } = &self.lists[list];
        let is_before = |x: usize, y: usize| {
            before.as_ref().is_none_or(|b| b[y].get(x / 64).is_some_and(|bits| bits >> (x % 64) & 1 == 1))
        };
        // Lists in one step are done one after the other, or only one of them is.
        let in_one = |step: usize| {
            inside.get(&step).is_none_or(|all| all.iter().all(|&list| self.ordered_in(list, a, b)))
        };
        first
            .iter()
            .all(|&x| second.iter().all(|&y| if x == y { in_one(x) } else { is_before(x.min(y), x.max(y)) }))
    }
}
