//! The order of steps that do not depend on each other, so that little memory is in use at any time.
//!
//! A step that reads a large tensor for the last time goes before one that makes another, and what is only needed
//! later is made later. Both are done greedily, from the first step on and from the last one back, and what they come
//! to is kept where the memory plan is smaller for it; otherwise the order stays as it was, for what is made is then
//! still in a cache when it is read.

use crate::dag::Buf;
use crate::memory::{self, bytes};
use crate::steps::{Lowered, Step};
use crate::{CodegenError, Target, coalesce};
use std::collections::{HashMap, HashSet};
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
    let needed = |lowered: &Lowered, order: &[usize]| -> Result<u64, CodegenError> {
        let mut trial = lowered.clone();
        trial.steps = arranged(order);
        coalesce::coalesce(function, &mut trial, target)?;
        Ok(memory::plan(function, &trial)?.arena_bytes)
    };
    let before = needed(lowered, &order)?;
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
            let bytes = needed(lowered, &order)?;
            if bytes < best.0 {
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
        self.greedy(order, limit, &self.earlier, &self.later, |buf, first, last| {
            let ends = last && !self.results.contains(&buf);
            (first, ends)
        })
    }

    /// As [`Graph::forwards`], from the last step back: a step frees what it is the first to touch.
    fn backwards(&self, order: &[usize], limit: i128) -> Vec<usize> {
        let back: Vec<usize> = order.iter().rev().copied().collect();
        let mut found = self.greedy(&back, limit, &self.later, &self.earlier, |buf, first, last| {
            let begins = first && !self.results.contains(&buf);
            (begins, last)
        });
        found.reverse();
        found
    }

    /// Steps in an order in which every step comes after those of `before`: the first of `order`, unless others take
    /// at most `limit` bytes more than they free: then the one of them that takes the least. `change` says whether a memory comes into use and whether it goes out of use with
    /// a step that is the first, or the last, to touch it.
    fn greedy(
        &self,
        order: &[usize],
        limit: i128,
        before: &[Vec<usize>],
        after: &[Vec<usize>],
        change: impl Fn(Buf, bool, bool) -> (bool, bool),
    ) -> Vec<usize> {
        let mut missing: Vec<usize> = before.iter().map(Vec::len).collect();
        let mut left: HashMap<Buf, usize> = HashMap::new();
        self.touched.iter().flatten().for_each(|&b| *left.entry(b).or_default() += 1);
        let mut begun: HashSet<Buf> = HashSet::new();
        let mut rest: Vec<usize> = order.to_vec();
        let mut found = Vec::new();
        while !rest.is_empty() {
            let growth = |step: usize| -> i128 {
                let each = self.touched[step].iter().map(|b| {
                    let (begins, ends) = change(*b, !begun.contains(b), left.get(b) == Some(&1));
                    let size = i128::from(self.sizes.get(b).copied().unwrap_or(0));
                    size * (i128::from(begins) - i128::from(ends))
                });
                each.sum()
            };
            let ready = rest.iter().enumerate().filter(|(_, s)| missing[**s] == 0);
            let frees = ready.map(|(at, &s)| (growth(s), at)).filter(|g| g.0 <= limit).min();
            // The first is always ready: the order was one that may be.
            let step = rest.remove(frees.map_or(0, |g| g.1));
            for buf in &self.touched[step] {
                begun.insert(*buf);
                *left.entry(*buf).or_default() -= 1;
            }
            after[step].iter().for_each(|&a| missing[a] -= 1);
            found.push(step);
        }
        found
    }
}
