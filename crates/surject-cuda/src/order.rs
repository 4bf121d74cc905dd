//! Which steps of a plan are done on which stream, and which of them wait for which.
//!
//! A list of steps is cut into *items*: launches, copies, calls that can be recorded, and loops of nothing else that stand next to each other are one,
//! a *section*, which can be recorded; every other step is one. An item comes after those before it that write what it
//! touches, or touch what it writes: the ranges of the arena count, not the tensors, since tensors that live at different
//! times share memory. An item is done on the stream on which it begins first by the times of the machine model; where it
//! comes after an item of another stream, it waits for an event behind that. The steps of a section, and those inside of
//! loops and choices, have orders of their own in the same way.
//!
//! A list begins and ends on the stream of the item that it stands in: other streams wait for an event of its begin, and
//! that stream waits for them at the end. So a recording forks and joins, as captures of CUDA's streams have to.
//!
//! Arguments come by streams of their own, and results go: the first item of a stream that reads an argument waits for it,
//! and there is an event behind the item that writes a result last.

mod place;
mod print;
mod ranges;

use crate::call::Use;
use crate::{Place, Plan, Step, TensorId};
use place::{Cost, Part};
pub(crate) use print::{Notes, lists, notes};
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

/// An event of a plan, by number.
pub(crate) type EventNumber = usize;

/// The most launches and copies of a section.
pub(crate) const SECTION: u64 = 4096;

/// What a step does to bytes of the arena, as part of a tensor.
#[derive(Clone, Debug)]
pub(crate) struct Touch {
    pub(crate) range: Range<u64>,
    pub(crate) tensor: TensorId,
    pub(crate) usage: Use,
}

/// Why an item waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// It reads what the other writes.
    Reads,
    /// It writes where the other reads.
    OverwritesRead,
    /// It writes where the other writes.
    OverwritesWritten,
}

/// Another item that one waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct After {
    /// Its number in the list.
    pub(crate) item: usize,
    /// What waits touches this tensor,
    pub(crate) tensor: TensorId,
    /// and the other this one.
    pub(crate) other: TensorId,
    pub(crate) why: Why,
}

/// A part of a list.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) what: What,
    /// Its stream, counted from that of the list.
    pub(crate) stream: u32,
    /// Items of other streams that it waits for.
    pub(crate) after: Vec<After>,
    /// Does it wait for the begin of the list?
    pub(crate) start: Start,
    /// What stands behind it where others wait for it.
    pub(crate) event: Option<EventNumber>,
    /// The arguments that it waits for.
    pub(crate) arguments: Vec<u32>,
    /// The results that are there when it is done.
    pub(crate) results: Vec<u32>,
}

/// What an item comes after beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// Its stream has begun already, or an item that it waits for has.
    Begun,
    /// It waits for the begin of the list.
    Waits,
}

/// What an item is, by the numbers of steps in the list.
#[derive(Debug)]
pub(crate) enum What {
    /// A step without others in it.
    Step(usize),
    /// A loop or a choice, with the orders of its lists.
    Nested(usize, Vec<Order>),
    /// A loop whose round is a section.
    Rounds(usize, Section),
    /// Steps next to each other that can be recorded.
    Section(Range<usize>, Section),
}

/// Launches, copies and calls that can be recorded.
#[derive(Debug)]
pub(crate) struct Section {
    /// Its number in the plan.
    pub(crate) number: usize,
    pub(crate) order: Order,
    /// Launches, copies and calls.
    pub(crate) nodes: u64,
}

/// The order of a list.
#[derive(Debug, Default)]
pub(crate) struct Order {
    pub(crate) items: Vec<Item>,
    /// The event of its begin, where an item waits for that.
    pub(crate) start: Option<EventNumber>,
    /// The items that its stream waits for at the end.
    pub(crate) joins: Vec<usize>,
    /// Arguments that its stream waits for at the end, as no item has.
    pub(crate) arguments: Vec<u32>,
    /// Results that are there at the end.
    pub(crate) results: Vec<u32>,
    /// The streams that it and those in it use.
    pub(crate) streams: u32,
    /// Modelled microseconds, and those of one stream.
    pub(crate) us: f64,
    pub(crate) serial_us: f64,
    /// Are these sums of what the machine model says, with nothing guessed?
    pub(crate) times: Times,
}

/// Where the times of an order come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Times {
    /// All from the machine model.
    #[default]
    Modelled,
    /// Some are guessed.
    Guessed,
}

/// The orders of a plan.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    pub(crate) init: Order,
    pub(crate) steps: Order,
    /// How many events there are.
    pub(crate) events: usize,
}

impl Orders {
    /// The orders of the lists of a plan, on so many streams as it says.
    pub(crate) fn of(plan: &Plan) -> Orders {
        let mut maker = Maker { plan, streams: plan.streams.max(1), events: 0, sections: 0 };
        let init = maker.list(&plan.init, &Ports::default());
        let ports = Ports {
            arguments: Arguments::Awaited,
            results: (0..).zip(plan.results.iter().copied()).collect(),
        };
        let mut steps = maker.list(&plan.steps, &ports);
        let mut awaited = HashSet::new();
        steps.awaited(&mut awaited);
        steps.arguments = (0..plan.params.len() as u32).filter(|n| !awaited.contains(n)).collect();
        Orders { init, steps, events: maker.events }
    }
}

impl Order {
    /// The arguments that items wait for.
    fn awaited(&self, all: &mut HashSet<u32>) {
        for item in &self.items {
            all.extend(&item.arguments);
            if let What::Section(_, section) = &item.what {
                section.order.awaited(all);
            }
        }
    }
}

/// Does a list wait for the arguments that it reads?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Arguments {
    /// They are there.
    #[default]
    There,
    /// It waits for them.
    Awaited,
}

/// What of a list has to do with arguments and results.
#[derive(Debug, Default)]
struct Ports {
    arguments: Arguments,
    /// The results that the list writes last, by number.
    results: Vec<(u32, TensorId)>,
}

/// How many launches, copies and calls steps are, all rounds of their loops; `None` where the host has a part in them, or
/// a call of a library that cannot be recorded.
fn straight(plan: &Plan, steps: &[Step]) -> Option<u64> {
    steps.iter().try_fold(0u64, |sum, step| {
        let here = match step {
            Step::Launch { .. } | Step::Copy { .. } => 1,
            Step::Repeat { count, body } => count.saturating_mul(straight(plan, body)?),
            Step::Call { call, .. } => {
                let call = &plan.calls.get(*call as usize)?.call;
                call.is_recordable().then(|| call.times())?
            }
            Step::Either { .. } | Step::Host { .. } | Step::While { .. } | Step::Choose { .. } => {
                return None;
            }
        };
        Some(sum.saturating_add(here))
    })
}

struct Maker<'p> {
    plan: &'p Plan,
    streams: u32,
    events: usize,
    sections: usize,
}

impl Maker<'_> {
    fn event(&mut self) -> EventNumber {
        self.events += 1;
        self.events - 1
    }

    /// The order of a list: sections, and other steps.
    fn list(&mut self, steps: &[Step], ports: &Ports) -> Order {
        let mut ranges: Vec<(Range<usize>, Option<u64>)> = Vec::new();
        // Calls are recorded where the whole list is: beside what cannot be, they are done on streams of their own.
        let is_straight = straight(self.plan, steps).is_some();
        for (at, step) in steps.iter().enumerate() {
            let nodes = match step {
                Step::Call { .. } if !is_straight => None,
                _ => straight(self.plan, std::slice::from_ref(step)).filter(|&nodes| nodes <= SECTION),
            };
            match (ranges.last_mut(), nodes) {
                (Some((range, Some(before))), Some(nodes)) if *before + nodes <= SECTION => {
                    range.end = at + 1;
                    *before += nodes;
                }
                _ => ranges.push((at..at + 1, nodes)),
            }
        }
        // Which of them writes a result last decides where the result is waited for.
        let writers = self.last_writers(steps, ranges.iter().map(|(range, _)| range.clone()), &ports.results);
        let mut parts = Vec::new();
        let mut made = vec![Vec::new(); ranges.len()];
        let mut late = Vec::new();
        for (&port, writer) in ports.results.iter().zip(writers) {
            match writer {
                Some(writer) => made[writer].push(port),
                None => late.push(port.0),
            }
        }
        for (n, (range, nodes)) in ranges.into_iter().enumerate() {
            parts.push(match nodes {
                Some(nodes) => {
                    let own = Ports { arguments: ports.arguments, results: std::mem::take(&mut made[n]) };
                    let order = self.section(&steps[range.clone()], &own);
                    let section = self.numbered(order, nodes);
                    let cost = section.order.cost();
                    let what = What::Section(range.clone(), section);
                    // It waits for the arguments itself.
                    Part { arguments: BTreeSet::new(), ..self.part(what, &steps[range], cost) }
                }
                None => self.single(range.start, &steps[range.start]),
            });
        }
        let results = made.into_iter().map(|all| all.into_iter().map(|(n, _)| n).collect()).collect();
        let mut order = self.placed(parts, results, ports.arguments);
        order.results = late;
        order
    }

    fn numbered(&mut self, order: Order, nodes: u64) -> Section {
        self.sections += 1;
        Section { number: self.sections - 1, order, nodes }
    }

    /// The order inside of a section: every step is an item.
    fn section(&mut self, steps: &[Step], ports: &Ports) -> Order {
        let writers = self.last_writers(steps, (0..steps.len()).map(|at| at..at + 1), &ports.results);
        let mut results = vec![Vec::new(); steps.len()];
        let mut late = Vec::new();
        for (&(number, _), writer) in ports.results.iter().zip(writers) {
            match writer {
                Some(writer) => results[writer].push(number),
                None => late.push(number),
            }
        }
        let mut parts = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            parts.push(match step {
                Step::Repeat { count, body } => {
                    let order = self.section(body, &Ports::default());
                    let cost = order.cost().times(*count);
                    self.part(What::Nested(at, vec![order]), std::slice::from_ref(step), cost)
                }
                _ => self.single(at, step),
            });
        }
        let mut order = self.placed(parts, results, ports.arguments);
        order.results = late;
        order
    }

    /// The items that write the whole of results last, and nothing after them a part of their memory.
    fn last_writers(
        &self,
        steps: &[Step],
        items: impl Iterator<Item = Range<usize>>,
        results: &[(u32, TensorId)],
    ) -> Vec<Option<usize>> {
        if results.is_empty() {
            return Vec::new();
        }
        let touches = items.enumerate().flat_map(|(n, range)| {
            let touches = self.touches(&steps[range]).into_iter();
            touches.filter(|t| t.usage != Use::Read).map(move |t| (n, t.range))
        });
        let written: Vec<(usize, Range<u64>)> = touches.collect();
        let writer = |&(_, id): &(u32, TensorId)| {
            let own = self.arena(id)?;
            let meets = |(_, range): &&(usize, Range<u64>)| range.start < own.end && own.start < range.end;
            written.iter().rev().find(meets).filter(|(_, range)| *range == own).map(|(n, _)| *n)
        };
        results.iter().map(writer).collect()
    }

    /// The item of a step by itself.
    fn single(&mut self, at: usize, step: &Step) -> Part {
        let own = |maker: &mut Self, list: &[Step]| maker.list(list, &Ports::default());
        let (what, cost) = match step {
            Step::Launch { .. } | Step::Copy { .. } | Step::Call { .. } | Step::Host { .. } => {
                (What::Step(at), self.cost(step))
            }
            // Plans that run are settled; printed, both forms are one item.
            Step::Either { device, host } => {
                let orders = vec![own(self, device), own(self, host)];
                let cost = orders[0].cost();
                (What::Nested(at, orders), cost.guessed())
            }
            Step::Repeat { count, body } => match straight(self.plan, body).filter(|&nodes| nodes <= SECTION)
            {
                Some(nodes) => {
                    let order = self.section(body, &Ports::default());
                    let section = self.numbered(order, nodes);
                    let cost = section.order.cost().times(*count);
                    (What::Rounds(at, section), cost)
                }
                None => {
                    let order = own(self, body);
                    let cost = order.cost().times(*count);
                    (What::Nested(at, vec![order]), cost)
                }
            },
            Step::While { condition, body, .. } => {
                let orders = vec![own(self, condition), own(self, body)];
                let cost = orders[0].cost().and(orders[1].cost());
                (What::Nested(at, orders), cost.guessed())
            }
            Step::Choose { branches, .. } => {
                let orders: Vec<Order> = branches.iter().map(|branch| own(self, branch)).collect();
                let cost = orders[0].cost();
                (What::Nested(at, orders), cost.guessed())
            }
        };
        self.part(what, std::slice::from_ref(step), cost)
    }

    fn part(&self, what: What, steps: &[Step], cost: Cost) -> Part {
        let mut arguments = BTreeSet::new();
        uses(self.plan, steps, &mut |id, _| {
            if let Place::Argument(number) = self.plan.tensor(id).place {
                arguments.insert(number);
            }
        });
        Part { what, touches: self.touches(steps), arguments, cost }
    }

    /// The bytes of the arena that a tensor has; `None` where it has none there.
    fn arena(&self, id: TensorId) -> Option<Range<u64>> {
        let tensor = self.plan.tensor(id);
        let bytes = tensor.bytes().filter(|&bytes| bytes > 0)?;
        match tensor.place {
            Place::Arena(at) => Some(at..at.saturating_add(bytes)),
            Place::Argument(_) | Place::Constant(_) => None,
        }
    }

    /// What steps do to the arena, those inside of them included.
    fn touches(&self, steps: &[Step]) -> Vec<Touch> {
        let mut all: Vec<Touch> = Vec::new();
        let mut known = HashSet::new();
        uses(self.plan, steps, &mut |tensor, usage| {
            if let Some(range) = self.arena(tensor).filter(|_| known.insert((tensor, usage == Use::Read))) {
                all.push(Touch { range, tensor, usage });
            }
        });
        all
    }
}

/// What steps do with tensors, those inside of them included.
pub(crate) fn uses(plan: &Plan, steps: &[Step], f: &mut dyn FnMut(TensorId, Use)) {
    for step in steps {
        match step {
            Step::Launch { kernel, tensors } => {
                let usages = &plan.kernels[*kernel as usize].tensors;
                tensors.iter().zip(usages).for_each(|(&id, &usage)| f(id, usage));
            }
            Step::Copy { from, to } => {
                f(*from, Use::Read);
                f(*to, Use::Written);
            }
            Step::Call { call, tensors } => {
                // Behind the operands is the workspace, which is written.
                let operands = plan.calls[*call as usize].call.operands().unwrap_or_default();
                let usages = operands.iter().map(|o| o.usage).chain(std::iter::repeat(Use::Changed));
                tensors.iter().zip(usages).for_each(|(&id, usage)| f(id, usage));
            }
            Step::Either { device, host } => {
                uses(plan, device, f);
                uses(plan, host, f);
            }
            Step::Host { inputs, outputs, .. } => {
                inputs.iter().for_each(|&id| f(id, Use::Read));
                outputs.iter().for_each(|&id| f(id, Use::Written));
            }
            Step::While { condition, test, body } => {
                uses(plan, condition, f);
                f(*test, Use::Read);
                uses(plan, body, f);
            }
            Step::Repeat { body, .. } => uses(plan, body, f),
            Step::Choose { index, branches } => {
                f(*index, Use::Read);
                branches.iter().for_each(|branch| uses(plan, branch, f));
            }
        }
    }
}
