//! The streams of a simulated device: what waits in them, what it has to wait for, and what was done without waiting.
//!
//! What is asked for has a *clock*: how much of each queue is done for certain before it begins. A queue goes on from what
//! it did before, a wait adds what was done before the event, and the host adds what it has waited for to all that it asks
//! for afterwards. Two accesses to a byte, one of which writes, are ordered if one of them has the other in its clock.

use super::Command;
use crate::{DeviceError, Scope};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// How much of each queue is done, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock(Vec<u64>);

impl Clock {
    pub(super) fn get(&self, queue: usize) -> u64 {
        self.0.get(queue).copied().unwrap_or(0)
    }

    pub(super) fn raise(&mut self, queue: usize, count: u64) {
        if self.0.len() <= queue {
            self.0.resize(queue + 1, 0);
        }
        self.0[queue] = self.0[queue].max(count);
    }

    pub(super) fn join(&mut self, other: &Clock) {
        other.0.iter().enumerate().for_each(|(queue, &count)| self.raise(queue, count));
    }
}

/// When something is done: its number in a queue, and what is done for certain before it.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    queue: usize,
    number: u64,
    clock: Clock,
}

/// What waits in a queue.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) command: Command,
    pub(super) moment: Moment,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Pending>,
    clock: Clock,
    asked: u64,
}

/// An event: how often it was signalled, and how often that is done.
#[derive(Debug)]
struct Signals {
    scope: Scope,
    asked: u64,
    done: u64,
    clock: Clock,
}

/// When what waits is done.
#[derive(Clone, Copy, Debug)]
enum When {
    /// As soon as it is asked for.
    AtOnce,
    /// When somebody waits for it, or by chance before; in an order that the numbers decide.
    Late { state: u64, seed: u64 },
}

/// The queue of the host, in which nothing waits.
const HOST: usize = 0;

/// Queues and events.
#[derive(Debug)]
pub(super) struct Queues {
    all: Vec<Queue>,
    events: HashMap<u64, Signals>,
    /// What the host has waited for, and how often it has read.
    host: Clock,
    reads: u64,
    when: When,
}

impl Queues {
    /// Queues whose commands are done at once, or in an order that a seed decides.
    pub(super) fn new(seed: Option<u64>) -> Queues {
        let when = seed.map_or(When::AtOnce, |seed| When::Late { state: seed, seed });
        Queues { all: vec![Queue::default()], events: HashMap::new(), host: Clock::default(), reads: 0, when }
    }

    /// A new queue.
    pub(super) fn add(&mut self) -> usize {
        self.all.push(Queue::default());
        self.all.len() - 1
    }

    pub(super) fn add_event(&mut self, number: u64, scope: Scope) {
        self.events.insert(number, Signals { scope, asked: 0, done: 0, clock: Clock::default() });
    }

    pub(super) fn remove_event(&mut self, number: u64) {
        self.events.remove(&number);
    }

    pub(super) fn scope(&self, event: u64) -> Result<Scope, DeviceError> {
        let found = self.events.get(&event).map(|signals| signals.scope);
        found.ok_or_else(|| DeviceError::Lost(format!("there is no event {event}")))
    }

    /// How many events there are.
    pub(super) fn events(&self) -> usize {
        self.events.len()
    }

    /// What is asked for in a queue has to wait for this.
    pub(super) fn ask(&mut self, queue: usize, mut command: Command) -> Result<(), DeviceError> {
        let none = |event: u64| DeviceError::Lost(format!("there is no event {event}"));
        let own = &mut self.all[queue];
        own.asked += 1;
        own.clock.raise(queue, own.asked);
        own.clock.join(&self.host);
        match &mut command {
            Command::Signal(event, count) => {
                let signals = self.events.get_mut(event).ok_or_else(|| none(*event))?;
                signals.asked += 1;
                signals.clock = own.clock.clone();
                *count = signals.asked;
            }
            Command::Wait(event, count) => {
                let signals = self.events.get(event).ok_or_else(|| none(*event))?;
                own.clock.join(&signals.clock);
                *count = signals.asked;
            }
            _ => {}
        }
        let moment = Moment { queue, number: own.asked, clock: own.clock.clone() };
        own.waiting.push_back(Pending { command, moment });
        Ok(())
    }

    /// Can the first of a queue be done?
    fn is_ready(&self, queue: usize) -> bool {
        match self.all[queue].waiting.front().map(|pending| &pending.command) {
            None => false,
            // What was forgotten was done before.
            Some(Command::Wait(event, count)) => self.events.get(event).is_none_or(|s| s.done >= *count),
            Some(_) => true,
        }
    }

    /// The next to be done of all that can be.
    fn any(&mut self) -> Option<Pending> {
        let ready: Vec<usize> = (0..self.all.len()).filter(|&queue| self.is_ready(queue)).collect();
        let chosen = match &mut self.when {
            When::AtOnce => *ready.first()?,
            When::Late { state, seed } => {
                *state =
                    state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let random = (*state >> 33) as usize;
                match (*seed % 3, random % 8) {
                    (0, _) | (_, 0) => *ready.get(random / 8 % ready.len().max(1))?,
                    (1, _) => *ready.last()?,
                    _ => *ready.first()?,
                }
            }
        };
        self.all[chosen].waiting.pop_front()
    }

    /// What is to be done after something was asked for, before the host goes on.
    pub(super) fn at_once(&mut self) -> Option<Pending> {
        match &mut self.when {
            When::AtOnce => self.any(),
            When::Late { state, .. } if *state >> 40 & 3 == 0 => {
                *state ^= 1 << 40;
                self.any()
            }
            When::Late { .. } => None,
        }
    }

    /// The next to be done until a queue, or all of them, have nothing left.
    pub(super) fn until(&mut self, queue: Option<usize>) -> Result<Option<Pending>, DeviceError> {
        let waits = |q: &Queue| !q.waiting.is_empty();
        let is_done = match queue {
            Some(queue) => !waits(&self.all[queue]),
            None => !self.all.iter().any(waits),
        };
        if is_done {
            return Ok(None);
        }
        match self.any() {
            Some(pending) => Ok(Some(pending)),
            None => Err(DeviceError::Lost("streams wait for each other".into())),
        }
    }

    /// An event was reached.
    pub(super) fn reached(&mut self, event: u64, count: u64) {
        if let Some(signals) = self.events.get_mut(&event) {
            signals.done = signals.done.max(count);
        }
    }

    /// The host has waited for a queue, or for all.
    pub(super) fn waited(&mut self, queue: Option<usize>) {
        let all = self.all.iter().enumerate();
        let done = all.filter(|(n, _)| queue.is_none_or(|queue| queue == *n));
        done.for_each(|(_, q)| self.host.join(&q.clock));
    }

    /// The host reads, behind what it has waited for: the first of the queues is its own, so that what was asked for and is
    /// not done yet is found to come too late.
    pub(super) fn host_reads(&mut self) -> Moment {
        self.reads += 1;
        self.host.raise(HOST, self.reads);
        Moment { queue: HOST, number: self.reads, clock: self.host.clone() }
    }

    /// After a failure nothing that was asked for is done.
    pub(super) fn clear(&mut self) {
        self.all.iter_mut().for_each(|queue| queue.waiting.clear());
        self.events.values_mut().for_each(|signals| signals.done = signals.asked);
    }
}

/// An access to bytes of a memory.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) range: Range<usize>,
    pub(super) kind: Kind,
    queue: usize,
    number: u64,
    what: String,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Reads,
    Writes,
}

/// The accesses to a memory that later ones have to be ordered with.
#[derive(Debug, Default)]
pub(super) struct Accesses(Vec<Access>);

impl Accesses {
    /// Adds an access, which has to be ordered with all before it.
    pub(super) fn add(
        &mut self,
        what: &str,
        range: Range<usize>,
        kind: Kind,
        at: &Moment,
    ) -> Result<(), DeviceError> {
        let is_before = |old: &Access| at.clock.get(old.queue) >= old.number;
        let conflicts = |old: &&Access| {
            old.range.start < range.end
                && range.start < old.range.end
                && (old.kind == Kind::Writes || kind == Kind::Writes)
                && !is_before(old)
        };
        if let Some(old) = self.0.iter().find(conflicts) {
            let verb = |kind| if kind == Kind::Writes { "writes" } else { "reads" };
            let (from, to) = (range.start.max(old.range.start), range.end.min(old.range.end));
            return Err(DeviceError::Lost(format!(
                "{what} {} bytes {from} to {to}, which {} {}: nothing orders the two",
                verb(kind),
                old.what,
                verb(old.kind)
            )));
        }
        // What comes after this one comes after all that this one comes after.
        self.0.retain(|old| {
            let is_inside = range.start <= old.range.start && old.range.end <= range.end;
            let is_covered = kind == Kind::Writes || old.kind == Kind::Reads && old.queue == at.queue;
            !(is_inside && is_before(old) && is_covered)
        });
        let what = what.to_string();
        self.0.push(Access { range, kind, queue: at.queue, number: at.number, what });
        Ok(())
    }
}
