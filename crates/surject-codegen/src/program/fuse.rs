//! Several kernels as one: a task takes a few rows through all of them.
//!
//! Kernels that follow each other often agree on the outermost indices of what they write and read: row `i` of a
//! product becomes row `i` of a softmax, which row `i` of the next product needs. Where the maps say so
//! (`recipe`), a task computes some rows of the first, the same rows of the second, and so on. What lies between
//! never leaves the cache of its thread: the scores of attention, say, exist for some rows at a time and not as a
//! tensor. And the threads meet once instead of once a kernel.
//!
//! Whether that pays is estimated in cycles ([`Estimate`]): the bytes that need not be moved and the meetings that
//! are saved, against packed columns that are run through more often because a task has fewer rows at once. What several
//! kernels of a chain read comes from memory once if the rows are so few that the cache of the thread holds them.
//!
//! Rows of a chain come from the kernel IR where the machine takes them (`part_of_ir`): a task for each part, of which a call runs
//! a range. So do many products, of which a task is a range of rows.
//!
//! A chain may end with reductions down the columns of its rows (`columns`): every task joins its rows to a target of
//! its own, and one more kernel joins the targets.
//!
//! A kernel of one element a row, such as a root of a variance, is done in lanes; it goes from row to row like the others
//! where passes over rows that come from memory stand before and behind it.
//!
//! A reduction down columns that no chain has may become two kernels (`parts`).
//!
//! Kernels over the same points become one of several outputs before (`outputs`).
//!
//! A part of a kernel is given its rows by pointers that are moved back by the rows before them, so the
//! addresses in it are those of the whole tensor.

pub(crate) mod chain;
pub(crate) mod outputs;
mod part_of_ir;
pub(crate) mod parts;
mod settle;

use crate::expression::dag::{Buf, buf};
use crate::kernels::native::Scheduled;
use crate::planned::kernel::Kernel;
use crate::planned::recipe::{Access, Cut, Recipe};
use crate::program::fuse::settle::settle;
use crate::program::lowered::{Lowered, Step, root};
use crate::schedule::BYTES_A_CYCLE;
use crate::schedule::prefetch::When;
use crate::{CodegenError, Target};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use surject_ir::Function;
use surject_ir::TensorType;

/// What fusing needs to know of a function, and what it adds to it.
pub struct World<'a> {
    /// The machine.
    pub target: &'a Target,
    /// Whose kernels of the kernel IR are parts of chains.
    pub scheduled: Option<&'a Scheduled>,
    /// How many variables the function has; buffers behind them are temporaries.
    pub variables: usize,
    /// The kernels; more are added.
    pub kernels: &'a mut Vec<Kernel>,
    /// The types of the buffers; scratch memory is added.
    pub types: &'a mut Vec<TensorType>,
    /// The buffer whose memory each buffer has.
    pub memory: &'a dyn Fn(Buf) -> Buf,
    /// Memory that is read or written otherwise than by a kernel: results, conditions, copies.
    pub kept: HashSet<Buf>,
    /// How many runs of kernels touch each memory.
    pub touched: HashMap<Buf, usize>,
    /// Kernels with which no chain goes on.
    pub ends_chains: &'a HashSet<usize>,
    /// The chains that were made.
    pub chains: Vec<Fused>,
}

/// A chain that was made.
#[derive(Clone, Debug)]
pub struct Fused {
    /// Its kernels, with the memory that each writes and that is there after it.
    pub members: Vec<(usize, Vec<Buf>)>,
    /// The cycles it saves.
    pub saved: f64,
}

/// The memory that a step reads (`false`) and writes (`true`).
type Touch = Vec<(Buf, bool)>;

/// Cycles of one core that the threads need to meet after a kernel: about two microseconds.
const MEETING: f64 = 6_000.0;

/// Bytes a cycle from memory, from a cache that the threads share, and from a thread's own cache.
const MEMORY: f64 = FAR / 2.0;

const FAR: f64 = BYTES_A_CYCLE;

const NEAR: f64 = 32.0;

/// A kernel among those that are fused.
struct Member {
    /// Its number among the steps.
    at: usize,
    kernel: usize,
    buffers: Vec<Buf>,
    /// What is cut, and how.
    recipe: Arc<Recipe>,
    cut: Cut,
    /// Cycles that it takes longer than the kernel alone.
    lost: f64,
    /// How it touches memory.
    accesses: Vec<Access>,
}

impl Member {
    fn touches(&self, memory: Buf) -> bool {
        self.accesses.iter().any(|a| a.buf == memory)
    }

    /// The memory that it reads in parts, and the bytes of all of them.
    fn parts_read(&self) -> impl Iterator<Item = (Buf, i64)> {
        self.accesses.iter().filter(|a| !a.write).filter_map(|a| self.all_parts(a))
    }

    /// The memory that it writes in parts, and the bytes of all of them.
    fn parts_written(&self) -> impl Iterator<Item = (Buf, i64)> {
        self.accesses.iter().filter(|a| a.write).filter_map(|a| self.all_parts(a))
    }

    fn all_parts(&self, access: &Access) -> Option<(Buf, i64)> {
        Some((access.buf, access.share?.saturating_mul(self.cut.parts)))
    }

    /// The memory of a tensor of the kernel, which was made for buffers of its own.
    fn memory_of(&self, buf: Buf, world: &World<'_>) -> Option<Buf> {
        let place = world.kernels[self.kernel].buffers.iter().position(|&b| b == buf)?;
        Some((world.memory)(self.buffers[place]))
    }

    /// The tensors of the kernel that have such memory.
    fn tensors_in(&self, world: &World<'_>, such: impl Fn(Buf) -> bool) -> Vec<Buf> {
        let pairs = world.kernels[self.kernel].buffers.iter().zip(&self.buffers);
        pairs.filter(|p| such((world.memory)(*p.1))).map(|p| *p.0).collect()
    }
}

/// Pairs of what lies between members of which the first is written in place of the second: by the member that reads that
/// last, which allows it.
fn in_place_between(members: &[Member], between: &[(Buf, i64)], world: &World<'_>) -> Vec<(Buf, Buf)> {
    let mut pairs: Vec<(Buf, Buf)> = Vec::new();
    for &(to, share) in between {
        let Some(member) = members.iter().find(|m| m.touches(to)) else { continue };
        let kernel = &world.kernels[member.kernel];
        let output = kernel.writes.first().and_then(|&b| member.memory_of(b, world));
        let reads = kernel.in_place.iter().filter_map(|&b| member.memory_of(b, world));
        let last = |from: Buf| members.iter().rev().find(|m| m.touches(from)).map(|m| m.at);
        let own = |&from: &Buf| {
            let there = from != to && between.contains(&(from, share));
            there && last(from) == Some(member.at) && pairs.iter().all(|p| p.1 != from && p.0 != from)
        };
        let from = reads.filter(|_| output == Some(to)).find(own);
        pairs.extend(from.map(|from| (to, from)));
    }
    pairs
}

/// Kernels to fuse, and how.
struct Chain {
    members: Vec<Member>,
    /// Steps that go before and after it.
    before: Vec<usize>,
    after: Vec<usize>,
    /// What lies between, with the bytes of a part.
    between: Vec<(Buf, i64)>,
    /// Parts that are done at once; ranges do not cross multiples of the other number.
    most: i64,
    segment: i64,
    tasks: i64,
    estimate: Estimate,
}

impl Chain {
    /// How a member prefetches what it reads: one does for all that read the same. That is the first, or one that has so
    /// much to compute that memory brings what the next range reads meanwhile. On other processors the prefetches come
    /// after the results, while they are on their way to memory.
    fn when(&self, member: &Member, world: &World<'_>) -> impl Fn(Buf) -> Option<When> {
        const MUCH: f64 = 1.5;
        let cycles = |m: &Member| world.kernels[m.kernel].cycles;
        let near = |m: &Member, memory: Buf| {
            let part = m.accesses.iter().find(|a| a.buf == memory).and_then(|a| a.share);
            part.is_some_and(|part| part.saturating_mul(self.most) <= world.target.l1_bytes as i64)
        };
        // Results that no cache of a thread holds.
        let leaves = |m: &Member| {
            let inside = |memory: Buf| self.between.iter().any(|b| b.0 == memory);
            m.parts_written().any(|(to, bytes)| !inside(to) && bytes > world.target.l2_share_bytes as i64)
        };
        let left = self.members.iter().find(|m| leaves(m)).map_or(usize::MAX, |m| m.at);
        let prefetches = |memory: Buf| {
            let mut touching = self.members.iter().filter(|m| m.touches(memory));
            let first = touching.next()?;
            let most = if world.target.prefetches_next_row() {
                let most = touching.max_by(|a, b| cycles(a).total_cmp(&cycles(b)));
                most.filter(|m| cycles(m) >= MUCH * cycles(first))
            } else {
                touching.rfind(|m| m.at > left && !leaves(m))
            };
            let written = self.members.iter().any(|m| m.accesses.iter().any(|a| a.buf == memory && a.write));
            match most.filter(|m| near(m, memory)) {
                _ if written => None,
                Some(most) => (most.at == member.at).then_some(When::Rows(self.most)),
                None => (first.at == member.at).then_some(When::Soon),
            }
        };
        let pairs = world.kernels[member.kernel].buffers.iter().zip(&member.buffers);
        let all: Vec<(Buf, When)> =
            pairs.filter_map(|(&buf, &tensor)| Some((buf, prefetches((world.memory)(tensor))?))).collect();
        move |buf| all.iter().find(|a| a.0 == buf).map(|a| a.1)
    }

    /// Is a tensor of a member touched by no other?
    fn is_alone(&self, member: &Member, world: &World<'_>) -> impl Fn(Buf) -> bool {
        let touching = |buf: Buf| self.members.iter().filter(|m| m.touches(buf)).count();
        let alone = member.tensors_in(world, |memory| touching(memory) == 1);
        move |buf| alone.contains(&buf)
    }

    fn fused(&self) -> Fused {
        let inside = |buf: Buf| self.between.iter().any(|b| b.0 == buf);
        let left =
            |m: &Member| m.accesses.iter().filter(|a| a.write && !inside(a.buf)).map(|a| a.buf).collect();
        Fused {
            members: self.members.iter().map(|m| (m.kernel, left(m))).collect(),
            saved: self.estimate.saved - self.estimate.lost,
        }
    }
}

/// What fusing saves, in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Estimate {
    /// Bytes that stay in a cache, and meetings.
    saved: f64,
    /// Columns that are run through once more.
    lost: f64,
}

/// Fuses kernels of these steps, and of those inside.
pub fn fuse(steps: Vec<Step>, world: &mut World<'_>) -> Result<Vec<Step>, CodegenError> {
    let mut steps = steps;
    for step in &mut steps {
        match step {
            Step::While { condition, body, .. } => {
                *condition = fuse(std::mem::take(condition), world)?;
                *body = fuse(std::mem::take(body), world)?;
            }
            Step::If { branches, .. } => {
                for branch in branches {
                    *branch = fuse(std::mem::take(branch), world)?;
                }
            }
            Step::Run { .. } | Step::Copy { .. } => {}
        }
    }
    steps = outputs::join(steps, world)?;
    let mut result = Vec::new();
    let mut start = 0;
    while start < steps.len() {
        let Some(chain) = best(&steps, start, world)? else {
            result.push(steps[start].clone());
            start += 1;
            continue;
        };
        let end = chain.members.last().map_or(start, |m| m.at) + 1;
        result.extend(chain.before.iter().map(|&i| steps[i].clone()));
        result.extend(chain::emit(&chain, &steps, world)?);
        world.chains.push(chain.fused());
        // What was put off may start a chain of its own.
        let mut rest: Vec<Step> = chain.after.iter().map(|&i| steps[i].clone()).collect();
        rest.extend_from_slice(&steps[end..]);
        steps = rest;
        start = 0;
    }
    parts::cut(result, world)
}

/// The best chain that starts with a step.
fn best(steps: &[Step], start: usize, world: &World<'_>) -> Result<Option<Chain>, CodegenError> {
    const AHEAD: usize = 3;
    let mut counts: Vec<i64> = Vec::new();
    if recipe(&steps[start], world).is_none() {
        return Ok(None);
    }
    for step in steps[start..].iter().take(AHEAD) {
        for count in recipe(step, world).map(|r| r.counts()).unwrap_or_default() {
            if !counts.contains(&count) {
                counts.push(count);
            }
        }
    }
    let mut best: Option<Chain> = None;
    for count in counts {
        let Some(chain) = grow(steps, start, count, world)? else { continue };
        let net = |c: &Chain| c.estimate.saved - c.estimate.lost;
        if best.as_ref().is_none_or(|b| net(&chain) > net(b)) {
            best = Some(chain);
        }
    }
    Ok(best)
}

fn recipe<'w>(step: &Step, world: &'w World<'_>) -> Option<&'w Arc<Recipe>> {
    match step {
        Step::Run { kernel, .. } => world.kernels[*kernel].recipe.as_ref(),
        _ => None,
    }
}

/// The most bytes that a member reads of a tensor that is cut into parts.
fn most_read(members: &[Member]) -> i64 {
    members.iter().flat_map(Member::parts_read).map(|(_, bytes)| bytes).max().unwrap_or(0)
}

/// The longest chain of kernels that can all be cut into so many parts, if one pays.
fn grow(steps: &[Step], start: usize, parts: i64, world: &World<'_>) -> Result<Option<Chain>, CodegenError> {
    /// More kernels than these are one function too long to compile.
    const MOST: usize = 12;
    /// How far ahead a kernel is looked for.
    const WINDOW: usize = 24;
    // What is done element by element joins kernels of what comes from memory.
    let least = world.target.thresholds.chained_llc_shares * world.target.llc_share_bytes as f64;
    let mut members: Vec<Member> = Vec::new();
    let mut chosen = None;
    let (mut before, mut after): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for (at, step) in steps.iter().enumerate().skip(start).take(WINDOW) {
        let Some(touch) = touch(step, world) else { break };
        let clear = |others: &[usize]| {
            others.iter().all(|&o| {
                crate::program::fuse::touch(&steps[o], world).is_some_and(|other| !conflict(&touch, &other))
            })
        };
        let joins = member(step, at, parts, world).filter(|m| {
            let segments = || members.iter().filter_map(|o| o.cut.segment);
            let goes_on = members.is_empty() || !world.ends_chains.contains(&m.kernel);
            goes_on
                && (m.lost == 0.0 || most_read(&members) as f64 > least)
                && m.cut.segment.is_none_or(|s| segments().all(|o| o == s))
                && members.iter().all(|o| are_disjoint(o, m))
                && clear(&after)
        });
        if let Some(member) = joins {
            members.push(member);
            if members.len() > 1
                && let Some(chain) = settle(&members, &before, &after, parts, world)?
            {
                chosen = Some((chain, members.len()));
            }
            if members.len() == MOST {
                break;
            }
        } else if members.is_empty() {
            return Ok(None);
        } else {
            let of_members: Vec<usize> = members.iter().map(|m| m.at).collect();
            if clear(&of_members) && clear(&after) {
                before.push(at);
            } else {
                after.push(at);
            }
        }
    }
    Ok(chosen.map(|(chain, count)| {
        members.truncate(count);
        Chain { members, ..chain }
    }))
}

/// What a step touches; `None` for control flow.
fn touch(step: &Step, world: &World<'_>) -> Option<Touch> {
    match step {
        Step::Run { buffers, writes, .. } => {
            Some(buffers.iter().map(|b| ((world.memory)(*b), writes.contains(b))).collect())
        }
        Step::Copy { from, to } => Some(vec![((world.memory)(*from), false), ((world.memory)(*to), true)]),
        Step::While { .. } | Step::If { .. } => None,
    }
}

/// Must two steps stay in their order?
fn conflict(a: &Touch, b: &Touch) -> bool {
    a.iter().any(|x| b.iter().any(|y| x.0 == y.0 && (x.1 || y.1)))
}

/// A step as a member of a chain of so many parts.
fn member(step: &Step, at: usize, parts: i64, world: &World<'_>) -> Option<Member> {
    let Step::Run { kernel, buffers, .. } = step else { return None };
    let data = &world.kernels[*kernel];
    let whole = data.recipe.as_ref()?;
    let (recipe, cut, lost) = match whole.cut(parts) {
        Some(cut) => (Arc::clone(whole), cut, 0.0),
        None => {
            let (recipe, lost) = whole.by_element(parts, world.target)?;
            let cut = recipe.cut(parts)?;
            (Arc::new(recipe), cut, lost)
        }
    };
    // The kernel was made for buffers of its own.
    let here = |buf: Buf| {
        let place = data.buffers.iter().position(|&b| b == buf)?;
        Some((world.memory)(buffers[place]))
    };
    let accesses = recipe.accesses(&cut).into_iter();
    let accesses: Option<Vec<_>> = accesses.map(|a| Some(Access { buf: here(a.buf)?, ..a })).collect();
    Some(Member { at, kernel: *kernel, buffers: buffers.clone(), recipe, cut, lost, accesses: accesses? })
}

/// Do the same parts of two kernels need nothing of each other's other parts?
fn are_disjoint(a: &Member, b: &Member) -> bool {
    let aside = |x: &Access, y: &Access| {
        x.buf != y.buf || !(x.write || y.write) || (x.share.is_some() && x.share == y.share)
    };
    a.accesses.iter().all(|x| b.accesses.iter().all(|y| aside(x, y)))
}

impl Lowered {
    /// Runs kernels together where that pays; no chain goes on with those of `ends_chains`. Gives what runs together.
    pub fn fuse(
        &mut self,
        function: &Function,
        (target, scheduled): (&Target, Option<&Scheduled>),
        ends_chains: &HashSet<usize>,
    ) -> Result<Vec<Fused>, CodegenError> {
        let alias = std::mem::take(&mut self.alias);
        let memory = |of: Buf| root(&alias, of);
        let mut kept: HashSet<Buf> = function.body.results.iter().map(|&r| memory(buf(r))).collect();
        kept.extend(function.params.iter().map(|&p| memory(buf(p))));
        kept.extend(self.constants.iter().map(|c| memory(c.0)));
        let mut touched: HashMap<Buf, usize> = HashMap::new();
        let mut work: Vec<&[Step]> = vec![&self.steps];
        while let Some(steps) = work.pop() {
            for step in steps {
                match step {
                    Step::Run { buffers, .. } => {
                        let all: HashSet<Buf> = buffers.iter().map(|&b| memory(b)).collect();
                        all.into_iter().for_each(|b| *touched.entry(b).or_default() += 1);
                    }
                    Step::Copy { from, to } => kept.extend([memory(*from), memory(*to)]),
                    Step::While { condition, flag, body, .. } => {
                        kept.insert(memory(*flag));
                        work.extend([condition.as_slice(), body]);
                    }
                    Step::If { index, branches } => {
                        kept.insert(memory(*index));
                        work.extend(branches.iter().map(Vec::as_slice));
                    }
                }
            }
        }
        let steps = std::mem::take(&mut self.steps);
        let (kernels, types) = (&mut self.kernels, &mut self.types);
        let (memory, chains) = (&memory, Vec::new());
        let variables = function.vars.len();
        let mut world = World {
            target,
            scheduled,
            variables,
            kernels,
            types,
            memory,
            kept,
            touched,
            ends_chains,
            chains,
        };
        self.steps = fuse(steps, &mut world)?;
        let chains = world.chains;
        self.alias = alias;
        self.alias.extend((self.alias.len()..self.types.len()).map(|b| Buf(b as u32)));
        Ok(chains)
    }
}
