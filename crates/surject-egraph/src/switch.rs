//! Other terms for the classes of a plan, one class at a time: the first choice is made class by class and does not see
//! what a kernel makes of a term. Here a term is taken for what the kernels with it cost.

use crate::plan::Search;
use crate::terms::Class;
use rustc_hash::FxHashSet as HashSet;
use std::collections::{BTreeSet, VecDeque};

/// How often every class is looked at.
const PASSES: usize = 3;
/// Classes that a search for a cycle may meet.
const MAX_CONE: usize = 4000;
/// Kernels that a change may touch, and offenders it may store.
const MAX_KERNELS: usize = 64;

impl Search<'_> {
    /// Gives classes other terms while that makes the plan cheaper and the budget lasts.
    pub(crate) fn switch_terms(&mut self, order: &[Class]) {
        let several = |c: &&Class| self.terms.classes[**c].terms.len() > 1;
        let mut classes: Vec<Class> = order.iter().rev().filter(several).copied().collect();
        for _ in 0..PASSES {
            let mut changed = false;
            let mut next: Vec<Class> = Vec::new();
            for &class in &classes {
                for place in 0..self.terms.classes[class].terms.len() {
                    if self.budget.is_spent() {
                        return;
                    }
                    if self.plan.choice[class] != Some(place) && self.try_term(class, place) {
                        changed = true;
                        next.extend(self.terms.classes[class].terms[place].children());
                    }
                }
            }
            if !changed {
                return;
            }
            // What has become part of the plan is looked at as well.
            next.retain(|&c| self.terms.classes[c].terms.len() > 1 && !classes.contains(&c));
            next.sort_unstable();
            next.dedup();
            classes.extend(next);
        }
    }

    /// Gives a class a term, if that is cheaper.
    fn try_term(&mut self, class: Class, place: usize) -> bool {
        let mut affected: BTreeSet<Class> = self.users[class].clone();
        if self.plan.kernels.contains_key(&class) {
            affected.insert(class);
        }
        if affected.is_empty() || affected.len() > MAX_KERNELS || !self.may_take(class, place) {
            return false;
        }
        let before = self.plan.choice[class].replace(place);
        self.undo = Some(Vec::new());
        let settled = self.redo(affected.into_iter().collect());
        if settled && self.is_cheaper() {
            self.undo = None;
            for &child in self.terms.classes[class].terms[place].children() {
                self.parents[child].push(class);
            }
            return true;
        }
        self.roll_back();
        self.plan.choice[class] = before;
        false
    }

    /// Has every operand of a term a term, and does none of them lead back to the class?
    fn may_take(&mut self, class: Class, place: usize) -> bool {
        let terms = self.terms;
        let mut stack: Vec<Class> = terms.classes[class].terms[place].children().to_vec();
        let mut seen: HashSet<Class> = stack.iter().copied().collect();
        let mut fits = true;
        while let Some(top) = stack.pop() {
            let Some(term) = terms.term(&self.plan.choice, top) else {
                fits = false;
                break;
            };
            if top == class || seen.len() > MAX_CONE {
                fits = false;
                break;
            }
            stack.extend(term.children().iter().copied().filter(|&c| seen.insert(c)));
        }
        self.budget.spend(seen.len() / 8 + 1);
        fits
    }

    /// Evaluates kernels again, those they need that are not there, and drops those that nobody reads any more. No where
    /// that touches too many.
    fn redo(&mut self, affected: Vec<Class>) -> bool {
        affected.iter().for_each(|&c| self.remove(c));
        let mut queue: VecDeque<Class> = affected.into();
        let mut count = 0;
        while let Some(class) = queue.pop_front() {
            if self.plan.kernels.contains_key(&class) || !self.plan.stored[class] {
                continue;
            }
            count += 1;
            if count > MAX_KERNELS || self.budget.is_spent() {
                return false;
            }
            let kernel = self.kernel(class);
            if let Some(offender) = kernel.offender {
                self.spill(offender, &mut queue);
                queue.push_front(class);
                // Should the trial fail, the flag goes back with the kernels.
                self.note(offender);
                continue;
            }
            let missing = kernel.reads.iter().map(|r| r.0).filter(|r| !self.plan.kernels.contains_key(r));
            queue.extend(missing.collect::<Vec<_>>());
            self.insert(class, kernel);
        }
        self.drop_unread();
        true
    }

    /// Notes that a class had no kernel when the trial began.
    fn note(&mut self, class: Class) {
        if !self.plan.kernels.contains_key(&class)
            && let Some(undo) = &mut self.undo
        {
            undo.push((class, None));
        }
    }

    /// Drops the kernels that the trial has left without a reader.
    fn drop_unread(&mut self) {
        let removed = self.undo.iter().flatten().filter_map(|(_, old)| old.as_ref());
        let mut queue: Vec<Class> = removed.flat_map(|k| k.reads.iter().map(|r| r.0)).collect();
        while let Some(class) = queue.pop() {
            let unread = self.readers[class].is_empty() && !self.root[class];
            if !unread {
                continue;
            }
            if let Some(kernel) = self.plan.kernels.get(&class) {
                queue.extend(kernel.reads.iter().map(|r| r.0));
                self.remove(class);
            }
            self.plan.stored[class] = false;
        }
    }
}
