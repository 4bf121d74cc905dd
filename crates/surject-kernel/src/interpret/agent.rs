//! Who runs: agents, what they know, and what orders them.

use super::memory::Tensor;
use crate::{Level, Value};
use rustc_hash::FxHashMap;
use std::collections::HashMap;
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
}

/// Who does something, and when: all agents around it with their barriers so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp(Rc<[Link]>);

impl Stamp {
    /// May both happen at the same time?
    pub(super) fn runs_beside(&self, other: &Stamp) -> bool {
        for (a, b) in self.0.iter().zip(other.0.iter()) {
            if a.agent != b.agent {
                // Iterations of one run of a loop; two runs come one after the other.
                return a.instance == b.instance;
            }
            if a.epoch != b.epoch {
                return false;
            }
        }
        // One of them runs the other, and waits for it.
        false
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = self.0.iter().filter_map(|l| Some(format!("{} {}", l.level?, l.iteration)));
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

/// A run of a parallel loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spawned {
    pub(super) level: Level,
    pub(super) instance: u64,
}

/// Someone who runs statements one after the other.
#[derive(Clone, Debug)]
pub(super) struct Agent {
    pub(super) id: u64,
    pub(super) parent: Option<u64>,
    pub(super) level: Option<Level>,
    pub(super) instance: u64,
    pub(super) iteration: i64,
    pub(super) epoch: u64,
    pub(super) state: State,
    /// The next statement.
    pub(super) at: usize,
    values: Rc<Values>,
    /// The objects of memories.
    pub(super) memory: Vec<Option<usize>>,
    pub(super) turns: Vec<Turn>,
    /// Iterations that have not begun, where they run one after the other; the next one last.
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
            epoch: 0,
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
    pub(super) fn child(&self, id: u64, spawned: Spawned, iteration: i64, defines: &Range<usize>) -> Agent {
        let own = vec![None; defines.len()];
        Agent {
            id,
            parent: Some(self.id),
            level: Some(spawned.level),
            instance: spawned.instance,
            iteration,
            at: self.at + 1,
            values: Rc::new(Values { first: defines.start, own, outer: Some(self.values.clone()) }),
            memory: self.memory.clone(),
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
        };
        let links: Vec<Link> = around.iter().map(|a| link(a)).chain([link(self)]).collect();
        let stamp = Stamp(links.into());
        self.stamp = Some(stamp.clone());
        stamp
    }
}
