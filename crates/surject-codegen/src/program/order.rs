//! The order of steps that do not depend on each other, so that little memory is in use at any time.
//!
//! A step that reads a large tensor for the last time goes before one that makes another, and what is only needed
//! later is made later. Both are done greedily, from the first step on and from the last one back, and what they come
//! to is kept where the memory plan is smaller for it; otherwise the order stays as it was, for what is made is then
//! still in a cache when it is read.

use crate::expression::dag::Buf;
use crate::program::coalesce;
use crate::program::lowered::{Lowered, Step};
use crate::program::memory::{self, bytes};
use crate::{CodegenError, Target};
use std::collections::{BTreeSet, HashMap, HashSet};
use surject_ir::Function;

/// How often the steps are gone through, forwards and backwards in turn.
const PASSES: usize = 4;

/// The share of the arena that another order must save.
const GAIN: u64 = 32;

/// Orders the steps of a function anew, if that saves memory.
pub fn order(function: &Function, lowered: &mut Lowered, target: &Target) -> Result<(), CodegenError> {
    let steps = std::mem::take(&mut lowered.steps);
    let graph = Graph::new(function, lowered, &steps)?;
    let arranged = |order: &[usize]| order.iter().map(|&i| steps[i].clone()).collect::<Vec<Step>>();
    let mut order: Vec<usize> = (0..steps.len()).collect();
    // Without the text of kernels, which is long and of no account here.
    let kernels = std::mem::take(&mut lowered.kernels);
    let needed = |lowered: &Lowered, order: &[usize], most: u64| -> Result<Option<u64>, CodegenError> {
        let mut trial = lowered.clone();
        trial.steps = arranged(order);
        coalesce::coalesce(function, &mut trial, target)?;
        Ok(memory::plan_below(function, &trial, most)?.map(|m| m.arena_bytes))
    };
    let before = needed(lowered, &order, u64::MAX)?.unwrap_or(u64::MAX);
    if before == 0 {
        (lowered.kernels, lowered.steps) = (kernels, steps);
        return Ok(());
    }
    let mut best = (before - before / GAIN, None);
    // At first only what frees memory is done early; then, from the order of the text again, all that takes none.
    for limit in [-1, 0] {
        order.sort_unstable();
        for pass in 0..PASSES {
            let next = match pass % 2 {
                0 => graph.forwards(&order, limit),
                _ => graph.backwards(&order, limit),
            };
            if next == order {
                continue;
            }
            order = next;
            if let Some(bytes) = needed(lowered, &order, best.0)? {
                best = (bytes, Some(order.clone()));
            }
        }
    }
    lowered.kernels = kernels;
    lowered.steps = match best.1 {
        Some(order) => arranged(&order),
        None => steps,
    };
    Ok(())
}

/// Is a step the first that touches a memory, and the last?
struct FirstOrLast {
    is_first: bool,
    is_last: bool,
}

/// Does a memory come into use with a step, and does it go out of use?
struct Use {
    begins: bool,
    ends: bool,
}

/// What the steps need of each other, and the memory they touch.
struct Graph {
    /// The steps that must come before each, and after it.
    earlier: Vec<Vec<usize>>,
    later: Vec<Vec<usize>>,
    /// The memories that each touches, those of arguments and literals left out.
    touched: Vec<Vec<Buf>>,
    sizes: HashMap<Buf, u64>,
    results: HashSet<Buf>,
}

impl Graph {
    fn new(function: &Function, lowered: &Lowered, steps: &[Step]) -> Result<Graph, CodegenError> {
        let memory = |b: Buf| lowered.memory(b);
        let mut fixed: HashSet<Buf> = function.params.iter().map(|&p| memory(Buf(p.0))).collect();
        fixed.extend(lowered.constants.iter().map(|c| memory(c.0)));
        for step in &lowered.init {
            if let Step::Run { writes, .. } = step {
                fixed.extend(writes.iter().map(|&w| memory(w)));
            }
        }
        let mut graph = Graph {
            earlier: vec![Vec::new(); steps.len()],
            later: vec![Vec::new(); steps.len()],
            touched: Vec::new(),
            sizes: HashMap::new(),
            results: function.body.results.iter().map(|&r| memory(Buf(r.0))).collect(),
        };
        // Who wrote a memory last, and who has read it since.
        let mut last: HashMap<Buf, (Option<usize>, Vec<usize>)> = HashMap::new();
        for (number, step) in steps.iter().enumerate() {
            let mut all: HashMap<Buf, bool> = HashMap::new();
            step.touch(&mut |buf, write| *all.entry(memory(buf)).or_default() |= write);
            let mut before: HashSet<usize> = HashSet::new();
            for (&buf, &write) in &all {
                let (writer, readers) = last.entry(buf).or_default();
                before.extend(*writer);
                if write {
                    before.extend(readers.drain(..));
                    *writer = Some(number);
                } else {
                    readers.push(number);
                }
            }
            before.iter().for_each(|&b| graph.later[b].push(number));
            graph.earlier[number] = before.into_iter().collect();
            let mut touched: Vec<Buf> = all.into_keys().filter(|b| !fixed.contains(b)).collect();
            touched.sort_unstable();
            for &buf in &touched {
                graph.sizes.insert(buf, bytes(&lowered.types[buf.0 as usize])?);
            }
            graph.touched.push(touched);
        }
        Ok(graph)
    }

    /// What frees memory goes first.
    fn forwards(&self, order: &[usize], limit: i128) -> Vec<usize> {
        self.greedy(order, limit, &self.earlier, &self.later, |buf, touch| Use {
            begins: touch.is_first,
            ends: touch.is_last && !self.results.contains(&buf),
        })
    }

    /// As [`Graph::forwards`], from the last step back: a step frees what it is the first to touch.
    fn backwards(&self, order: &[usize], limit: i128) -> Vec<usize> {
        let back: Vec<usize> = order.iter().rev().copied().collect();
        let mut found = self.greedy(&back, limit, &self.later, &self.earlier, |buf, touch| Use {
            begins: touch.is_first && !self.results.contains(&buf),
            ends: touch.is_last,
        });
        found.reverse();
        found
    }

    /// Steps in an order in which every step comes after those of `before`: the first of `order`, unless others take
    /// at most `limit` bytes more than they free: then the one of them that takes the least. `change` says what becomes of a
    /// memory with a step.
    fn greedy(
        &self,
        order: &[usize],
        limit: i128,
        before: &[Vec<usize>],
        after: &[Vec<usize>],
        change: impl Fn(Buf, FirstOrLast) -> Use,
    ) -> Vec<usize> {
        let mut missing: Vec<usize> = before.iter().map(Vec::len).collect();
        let mut users: HashMap<Buf, Vec<usize>> = HashMap::new();
        for (step, touched) in self.touched.iter().enumerate() {
            touched.iter().for_each(|&b| users.entry(b).or_default().push(step));
        }
        let mut left: HashMap<Buf, usize> = users.iter().map(|(&b, all)| (b, all.len())).collect();
        let mut begun: HashSet<Buf> = HashSet::new();
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &step)| places[step] = at);
        let growth = |step: usize, begun: &HashSet<Buf>, left: &HashMap<Buf, usize>| -> i128 {
            let each = self.touched[step].iter().map(|b| {
                let touch = FirstOrLast { is_first: !begun.contains(b), is_last: left.get(b) == Some(&1) };
                let Use { begins, ends } = change(*b, touch);
                let size = i128::from(self.sizes.get(b).copied().unwrap_or(0));
                size * (i128::from(begins) - i128::from(ends))
            });
            each.sum()
        };
        // The steps that may be next, what takes least first; and what each of them takes.
        let mut ready: BTreeSet<(i128, usize)> = BTreeSet::new();
        let mut takes: Vec<Option<i128>> = vec![None; order.len()];
        for &step in order.iter().filter(|&&s| missing[s] == 0) {
            let bytes = growth(step, &begun, &left);
            ready.insert((bytes, places[step]));
            takes[step] = Some(bytes);
        }
        let (mut found, mut done, mut first) = (Vec::with_capacity(order.len()), vec![false; order.len()], 0);
        while found.len() < order.len() {
            while done[order[first]] {
                first += 1;
            }
            // The first that is left is always ready: the order was one that may be.
            let frees = ready.first().filter(|g| g.0 <= limit);
            let step = order[frees.map_or(first, |g| g.1)];
            if let Some(bytes) = takes[step].take() {
                ready.remove(&(bytes, places[step]));
            }
            done[step] = true;
            found.push(step);
            // What other steps take changes with the first step that touches a memory, and with the last but one.
            let mut changed: Vec<usize> = Vec::new();
            for buf in &self.touched[step] {
                let left = left.entry(*buf).or_default();
                *left = left.saturating_sub(1);
                if begun.insert(*buf) || *left == 1 {
                    let others = users.get(buf).into_iter().flatten().copied();
                    changed.extend(others.filter(|&s| takes[s].is_some()));
                }
            }
            for &next in &after[step] {
                missing[next] -= 1;
                if missing[next] == 0 {
                    changed.push(next);
                }
            }
            for step in changed {
                let bytes = growth(step, &begun, &left);
                if let Some(before) = takes[step].replace(bytes) {
                    ready.remove(&(before, places[step]));
                }
                ready.insert((bytes, places[step]));
            }
        }
        found
    }
}
