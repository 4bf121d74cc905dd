//! On which stream each item of a list is done: where it begins first, by the times of the machine model.

use super::ranges::Ranges;
use super::{Arguments, Item, Maker, Order, Start, Times, Touch, What, uses};
use crate::Step;
use std::collections::BTreeSet;

/// Microseconds by which an item begins later that waits for one of another stream.
const EVENT: f64 = 2.0;
/// Microseconds of a launch or a copy without a model, and the bytes that are touched in each more.
const LAUNCH: f64 = 2.5;
const BYTES: f64 = 2e6;
/// Several streams take at most so much of the time of one, or are not worth their events.
const WORTH: f64 = 0.9;
/// Kernels with so many blocks leave nothing of a GPU to others.
const BLOCKS: u64 = 128;

/// What an item takes, by the model or by a guess.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    us: f64,
    serial_us: f64,
    times: Times,
    /// Does it leave nothing of the device to others?
    share: Share,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    Part,
    All,
}

/// An item before it has a stream.
pub(super) struct Part {
    pub(super) what: What,
    pub(super) touches: Vec<Touch>,
    pub(super) arguments: BTreeSet<u32>,
    pub(super) cost: Cost,
}

/// The streams of items, and when all of them are done.
struct Streams {
    of_items: Vec<usize>,
    us: f64,
}

/// A stream while items get what they wait for.
#[derive(Clone, Debug, Default)]
struct Lane {
    last: Option<usize>,
    /// How many of the items, by stream, are known to be done when it goes on.
    known: Vec<usize>,
    /// The arguments that it has waited for.
    arguments: BTreeSet<u32>,
}

impl Maker<'_> {
    /// What a step without others in it takes.
    pub(super) fn cost(&self, step: &Step) -> Cost {
        let mut bytes = 0;
        uses(self.plan, std::slice::from_ref(step), &mut |id, _| {
            bytes += self.plan.tensor(id).bytes().unwrap_or(0);
        });
        let guess = LAUNCH + bytes as f64 / BYTES;
        let (us, times, share) = match step {
            Step::Launch { kernel, .. } => {
                let kernel = &self.plan.kernels[*kernel as usize];
                let blocks: u64 = kernel.shape.blocks.iter().map(|&n| u64::from(n)).product();
                let share = if blocks < BLOCKS { Share::Part } else { Share::All };
                match kernel.us {
                    Some(us) => (us, Times::Modelled, share),
                    None => (guess, Times::Guessed, share),
                }
            }
            Step::Copy { .. } => (guess, Times::Guessed, Share::Part),
            // By far not launches: what does not depend on them goes on beside them.
            _ => (20.0 * guess, Times::Guessed, Share::Part),
        };
        Cost { us, serial_us: us, times, share }
    }

    /// Gives each item a stream, and says what it waits for there.
    pub(super) fn placed(&mut self, parts: Vec<Part>, results: Vec<Vec<u32>>, arguments: Arguments) -> Order {
        let Streams { of_items, us } = self.streams_of(&parts);
        let lane = Lane { known: vec![0; self.streams as usize], ..Lane::default() };
        let mut lanes = vec![lane; self.streams as usize];
        let mut order = Order { streams: 1, us, ..Order::default() };
        let mut ranges = Ranges::default();
        // What is known to be done when each item is.
        let mut known: Vec<Vec<usize>> = Vec::new();
        for (n, ((part, results), stream)) in parts.into_iter().zip(results).zip(of_items).enumerate() {
            let conflicts = ranges.conflicts(&part.touches);
            ranges.touch(n, stream as u32, &part.touches);
            // Those that are known to be done need no event; the latest say the most.
            let mut after = Vec::new();
            for conflict in conflicts {
                let other = order.items[conflict.item].stream as usize;
                if other == stream || lanes[stream].known[other] > conflict.item {
                    continue;
                }
                let all = lanes[stream].known.iter_mut().zip(&known[conflict.item]);
                all.for_each(|(own, other)| *own = (*own).max(*other));
                after.push(conflict);
            }
            let first = stream > 0 && lanes[stream].last.is_none() && after.is_empty();
            for conflict in &after {
                if order.items[conflict.item].event.is_none() {
                    order.items[conflict.item].event = Some(self.event());
                }
            }
            if first && order.start.is_none() {
                order.start = Some(self.event());
            }
            let lane = &mut lanes[stream];
            let new = part.arguments.iter().filter(|_| arguments == Arguments::Awaited);
            let arguments = new.copied().filter(|&argument| lane.arguments.insert(argument)).collect();
            lane.last = Some(n);
            lane.known[stream] = n + 1;
            known.push(lane.known.clone());
            order.add(&part, stream as u32);
            let start = if first { Start::Waits } else { Start::Begun };
            let stream = stream as u32;
            order.items.push(Item { what: part.what, stream, after, start, event: None, arguments, results });
        }
        self.join(&mut order, &lanes, &known);
        order
    }

    /// The stream on which each item begins first; that of the list for all of them, where others save too little.
    fn streams_of(&self, parts: &[Part]) -> Streams {
        let (mut free, mut used) = (vec![0f64; self.streams as usize], vec![false; self.streams as usize]);
        let (mut ranges, mut device_free) = (Ranges::default(), 0f64);
        let (mut of_items, mut done): (Vec<usize>, Vec<f64>) = (Vec::new(), Vec::new());
        for (n, part) in parts.iter().enumerate() {
            let conflicts = ranges.conflicts(&part.touches);
            let begin = |stream: usize| {
                let fork = if stream > 0 && !used[stream] { EVENT } else { 0.0 };
                let ready = conflicts.iter().map(|after| {
                    let far = of_items[after.item] != stream;
                    done[after.item] + if far { EVENT } else { 0.0 }
                });
                let own = free[stream];
                let free = if part.cost.share == Share::All { own.max(device_free) } else { own };
                ready.fold(free.max(fork), f64::max)
            };
            let chosen = (0..free.len()).map(|s| (begin(s), s)).min_by(|a, b| a.0.total_cmp(&b.0));
            let (begin, stream) = chosen.unwrap_or_default();
            ranges.touch(n, stream as u32, &part.touches);
            (free[stream], used[stream]) = (begin + part.cost.us, true);
            if part.cost.share == Share::All {
                device_free = free[stream];
            }
            of_items.push(stream);
            done.push(free[stream]);
        }
        // The stream of the list waits for the others at the end.
        let ends = of_items.iter().zip(&done).map(|(&s, &us)| if s > 0 { us + EVENT } else { us });
        let us = ends.fold(0.0, f64::max);
        let one: f64 = parts.iter().map(|part| part.cost.us).sum();
        match us <= WORTH * one {
            true => Streams { of_items, us },
            false => Streams { of_items: vec![0; parts.len()], us: one },
        }
    }

    /// The stream of the list waits for the last items of the others.
    fn join(&mut self, order: &mut Order, lanes: &[Lane], known: &[Vec<usize>]) {
        let Some(own) = lanes.first() else { return };
        let mut there = own.known.clone();
        let mut ends: Vec<usize> = lanes[1..].iter().filter_map(|lane| lane.last).collect();
        ends.sort_unstable_by(|a, b| b.cmp(a));
        for end in ends {
            if there[order.items[end].stream as usize] > end {
                continue;
            }
            there.iter_mut().zip(&known[end]).for_each(|(own, other)| *own = (*own).max(*other));
            order.joins.push(end);
            if order.items[end].event.is_none() {
                order.items[end].event = Some(self.event());
            }
        }
    }
}

impl Order {
    /// Counts an item on a stream.
    fn add(&mut self, part: &Part, stream: u32) {
        self.serial_us += part.cost.serial_us;
        if part.cost.times == Times::Guessed {
            self.times = Times::Guessed;
        }
        let inside: u32 = match &part.what {
            What::Step(_) => 1,
            What::Nested(_, orders) => orders.iter().map(|order| order.streams).max().unwrap_or(1),
            What::Rounds(_, section) | What::Section(_, section) => section.order.streams,
        };
        self.streams = self.streams.max(stream + 1).max(inside);
    }

    pub(super) fn cost(&self) -> Cost {
        Cost { us: self.us, serial_us: self.serial_us, times: self.times, share: Share::Part }
    }
}

impl Cost {
    pub(super) fn times(self, count: u64) -> Cost {
        let count = count as f64;
        Cost { us: count * self.us, serial_us: count * self.serial_us, ..self }
    }

    /// Of what nobody knows how often it is done.
    pub(super) fn guessed(self) -> Cost {
        Cost { times: Times::Guessed, ..self }
    }

    pub(super) fn and(self, other: Cost) -> Cost {
        Cost { us: self.us + other.us, serial_us: self.serial_us + other.serial_us, ..self }
    }
}
