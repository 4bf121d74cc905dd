//! Who runs: agents, what they know, and what orders them.

use super::memory::Tensor;
use super::phases::Barrier;
use crate::{Level, Value};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;
use std::rc::Rc;
use surject_ir::Scalar;

/// The lanes of a value.
#[derive(Clone, Debug)]
pub(super) enum Lanes {
    One(Scalar),
    Many(Rc<[Scalar]>),
}

impl Lanes {
    pub(super) fn of(lanes: Vec<Scalar>) -> Lanes {
        match lanes[..] {
            [one] => Lanes::One(one),
            _ => Lanes::Many(lanes.into()),
        }
    }

    pub(super) fn as_slice(&self) -> &[Scalar] {
        match self {
            Lanes::One(one) => std::slice::from_ref(one),
            Lanes::Many(many) => many,
        }
    }
}

/// What is known to have happened: of agents, all that they did up to their arrivals so far at barriers with phases; and
/// copies of boxes, which have numbers like agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Known(Option<Rc<BTreeMap<u64, u64>>>);

impl Known {
    /// Notes what an agent did up to so many arrivals.
    pub(super) fn note(&mut self, agent: u64, arrivals: u64) {
        let known = Rc::make_mut(self.0.get_or_insert_with(Rc::default)).entry(agent).or_default();
        *known = arrivals.max(*known);
    }

    pub(super) fn join(&mut self, other: &Known) {
        match (&self.0, &other.0) {
            (_, None) => {}
            (None, _) => *self = other.clone(),
            (Some(own), Some(others)) if Rc::ptr_eq(own, others) => {}
            (_, Some(others)) => others.iter().for_each(|(&agent, &arrivals)| self.note(agent, arrivals)),
        }
    }

    fn covers(&self, agent: u64, arrivals: u64) -> bool {
        self.0.as_ref().and_then(|known| known.get(&agent)).is_some_and(|&known| known >= arrivals)
    }
}

/// One agent on the way to another, at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Link {
    agent: u64,
    /// Which run of a parallel loop it is an iteration of.
    instance: u64,
    level: Option<Level>,
    iteration: i64,
    /// How many barriers of it there were.
    epoch: u64,
    /// How often it arrived at barriers with phases.
    arrivals: u64,
}

/// Who does something, and when: all agents around it with their barriers so far, and what came before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    links: Rc<[Link]>,
    known: Known,
    /// Is it a copy of a box? It ends for those alone that have waited for it.
    copy: bool,
}

impl Stamp {
    /// May this, which comes first here, happen at the same time as another thing?
    pub(super) fn runs_beside(&self, other: &Stamp) -> bool {
        if let (true, Some(own)) = (self.copy, self.links.last()) {
            return !other.known.covers(own.agent, 0);
        }
        for (a, b) in self.links.iter().zip(other.links.iter()) {
            if a.agent != b.agent {
                // Iterations of one run of a loop; two runs come one after the other.
                return a.instance == b.instance && !other.known.covers(a.agent, a.arrivals);
            }
            if a.epoch != b.epoch {
                return false;
            }
        }
        // One of them runs the other, and waits for it.
        false
    }

    /// Do others run beside both of these, or one of these alone: are they iterations of one run of a loop, at one time?
    pub(super) fn is_like(&self, other: &Stamp) -> bool {
        let ends = (self.links.split_last(), other.links.split_last());
        let (Some((own, around)), Some((last, others))) = ends else { return false };
        own.instance == last.instance && around == others
    }

    /// Are these of different tasks or blocks, which run one after the other here?
    pub(super) fn is_of_another_block(&self, other: &Stamp) -> bool {
        let first = self.links.iter().zip(other.links.iter()).find(|(a, b)| a.agent != b.agent);
        first.is_some_and(|(a, _)| matches!(a.level, Some(Level::Task | Level::Block)))
    }

    /// Is it of the same agent as another one?
    pub(super) fn is_same_agent(&self, other: &Stamp) -> bool {
        let agent = |stamp: &Stamp| stamp.links.last().map(|link| link.agent);
        agent(self) == agent(other)
    }

    /// A copy with a number of its own, which this agent begins now, and what comes before it.
    pub(super) fn copy(&self, number: u64) -> (Stamp, Known) {
        let (mut links, mut known) = (self.links.to_vec(), self.known.clone());
        if let Some(last) = links.last_mut() {
            known.note(last.agent, last.arrivals);
            (last.agent, last.arrivals, last.epoch) = (number, 0, 0);
        }
        (Stamp { links: links.into(), known: known.clone(), copy: true }, known)
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = self.links.iter().filter_map(|l| Some(format!("{} {}", l.level?, l.iteration)));
        f.write_str(if self.copy { "a copy of " } else { "" })?;
        f.write_str(&named.collect::<Vec<_>>().join(", "))
    }
}

/// What an agent waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    /// The iterations of a parallel loop: so many are left of those that run at once.
    Children {
        left: usize,
        all: usize,
    },
    /// The other threads of its block or warp.
    Barrier(Level),
    /// The other threads of its warp, for a value.
    Exchange,
    /// The end of a phase with this lowest bit.
    Phase(Barrier, bool),
}

/// A loop that an agent runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) next: i64,
    pub(super) high: i64,
}

/// Elements on their way in the background.
#[derive(Clone, Debug)]
pub(super) struct Copy {
    pub(super) object: usize,
    pub(super) first: usize,
    pub(super) elements: Tensor,
}

/// The values that an agent defined, and those of the agents around it, which wait for it.
#[derive(Clone, Debug)]
struct Values {
    /// The number of the first one of its own.
    first: usize,
    own: Vec<Option<Lanes>>,
    outer: Option<Rc<Values>>,
}

/// An iteration of a run of a parallel loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spawned {
    pub(super) level: Level,
    pub(super) instance: u64,
    pub(super) iteration: i64,
    pub(super) number: i64,
}

/// Someone who runs statements one after the other.
#[derive(Clone, Debug)]
pub(super) struct Agent {
    pub(super) id: u64,
    pub(super) parent: Option<u64>,
    pub(super) level: Option<Level>,
    pub(super) instance: u64,
    /// The variable of its loop, and the number of the iteration, from 0 on: that of a thread, or of a warp.
    pub(super) iteration: i64,
    pub(super) number: i64,
    pub(super) epoch: u64,
    /// How often it arrived at barriers with phases, and what it knows by those that it waited for.
    arrivals: u64,
    pub(super) known: Known,
    pub(super) state: State,
    /// The next statement.
    pub(super) at: usize,
    values: Rc<Values>,
    /// The objects of memories.
    pub(super) memory: Vec<Option<usize>>,
    pub(super) turns: Vec<Turn>,
    /// The numbers of iterations that have not begun, where they run one after the other; the next one last.
    pub(super) waiting: Vec<i64>,
    pub(super) copies: Vec<Copy>,
    pub(super) groups: Vec<Vec<Copy>>,
    /// The groups of the iterations of its last loop over threads, by their numbers, for those of the next one.
    pub(super) handed: HashMap<i64, Vec<Vec<Copy>>>,
    /// How often it came to a statement that accesses memory.
    pub(super) visits: FxHashMap<usize, u32>,
    stamp: Option<Stamp>,
}

impl Agent {
    /// The one that runs the kernel.
    pub(super) fn root(values: usize, memory: usize) -> Agent {
        Agent {
            id: 0,
            parent: None,
            level: None,
            instance: 0,
            iteration: 0,
            number: 0,
            epoch: 0,
            arrivals: 0,
            known: Known::default(),
            state: State::Ready,
            at: 0,
            values: Rc::new(Values { first: 0, own: vec![None; values], outer: None }),
            memory: vec![None; memory],
            turns: Vec::new(),
            waiting: Vec::new(),
            copies: Vec::new(),
            groups: Vec::new(),
            handed: HashMap::new(),
            visits: FxHashMap::default(),
            stamp: None,
        }
    }

    /// One that runs an iteration of a parallel loop of this one, whose body defines values among some.
    pub(super) fn child(&self, id: u64, spawned: Spawned, defines: &Range<usize>) -> Agent {
        let own = vec![None; defines.len()];
        Agent {
            id,
            parent: Some(self.id),
            level: Some(spawned.level),
            instance: spawned.instance,
            iteration: spawned.iteration,
            number: spawned.number,
            at: self.at + 1,
            values: Rc::new(Values { first: defines.start, own, outer: Some(self.values.clone()) }),
            memory: self.memory.clone(),
            known: self.known.clone(),
            ..Agent::root(0, 0)
        }
    }

    pub(super) fn value(&self, value: Value) -> Option<&[Scalar]> {
        self.known(value).map(Lanes::as_slice)
    }

    pub(super) fn known(&self, value: Value) -> Option<&Lanes> {
        let number = value.0 as usize;
        let mut values = &*self.values;
        loop {
            let own = number.checked_sub(values.first).and_then(|at| values.own.get(at));
            match (own, &values.outer) {
                (Some(Some(lanes)), _) => return Some(lanes),
                (_, Some(outer)) => values = outer,
                _ => return None,
            }
        }
    }

    /// The lanes of a value that the verifier knows to be defined.
    pub(super) fn lanes(&self, value: Value) -> &[Scalar] {
        self.value(value).unwrap_or_default()
    }

    pub(super) fn set(&mut self, value: Value, lanes: Lanes) {
        // Those that run inside have ended, so nobody else has these.
        let values = Rc::make_mut(&mut self.values);
        let at = (value.0 as usize).checked_sub(values.first);
        if let Some(place) = at.and_then(|at| values.own.get_mut(at)) {
            *place = Some(lanes);
        }
    }

    /// The value of an index.
    pub(super) fn index(&self, value: Value) -> Option<i64> {
        i64::try_from(self.value(value)?.first()?.as_i128()?).ok()
    }

    /// Forgets when it is: a barrier has passed.
    pub(super) fn forget_stamp(&mut self) {
        self.stamp = None;
    }

    /// It arrives: what it did so far, and knew.
    pub(super) fn release(&mut self) -> Known {
        let mut released = self.known.clone();
        released.note(self.id, self.arrivals);
        self.arrivals += 1;
        self.forget_stamp();
        released
    }

    /// It has waited for something.
    pub(super) fn learn(&mut self, known: &Known) {
        self.known.join(known);
        self.forget_stamp();
    }

    pub(super) fn known_stamp(&self) -> Option<Stamp> {
        self.stamp.clone()
    }

    /// The agents around it and itself, from the outside, at this time.
    pub(super) fn stamp(&mut self, around: &[&Agent]) -> Stamp {
        let link = |a: &Agent| Link {
            agent: a.id,
            instance: a.instance,
            level: a.level,
            iteration: a.iteration,
            epoch: a.epoch,
            arrivals: a.arrivals,
        };
        let links: Vec<Link> = around.iter().map(|a| link(a)).chain([link(self)]).collect();
        let stamp = Stamp { links: links.into(), known: self.known.clone(), copy: false };
        self.stamp = Some(stamp.clone());
        stamp
    }
}
