//! Processes that run side by side, each in a thread: what they exchange, and that they do not wait for ever.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::error::{Error, ErrorKind, Result};
use super::value::Value;

/// The processes of a run: replicas times partitions.
pub(crate) struct World {
    pub(crate) replicas: usize,
    pub(crate) partitions: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Processes that have not ended.
    running: usize,
    /// Those among them that wait for something that is not there.
    waiting: usize,
    failed: bool,
    meetings: HashMap<Meeting, Gathering>,
    channels: HashMap<Channel, Queue>,
    infeed: VecDeque<Feed>,
    outfeed: Vec<Vec<Value>>,
    probes: BTreeMap<String, Vec<Value>>,
    printed: Vec<String>,
}

/// What the next `infeed` gives.
#[derive(Clone, Debug)]
pub(crate) enum Feed {
    /// These values.
    Values(Vec<Value>),
    /// What the function of this name gives.
    Function(String),
}

/// Which processes exchange what, and for which time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Meeting {
    pub(crate) operation: String,
    pub(crate) channel: i64,
    pub(crate) group: Vec<usize>,
    time: u64,
}

/// What processes bring to a meeting, by process.
type Brought = BTreeMap<usize, Arc<Vec<Value>>>;

#[derive(Default)]
struct Gathering {
    brought: Brought,
    waiting: usize,
    taken: usize,
}

/// A channel, and the process that receives where the program says it.
pub(crate) type Channel = (i64, Option<usize>);

#[derive(Default)]
struct Queue {
    items: VecDeque<Vec<Value>>,
    waiting: usize,
    /// Items that belong to receivers that have waited for them.
    granted: usize,
}

impl World {
    pub(crate) fn new(replicas: usize, partitions: usize) -> World {
        let state = State { running: replicas * partitions, ..State::default() };
        World { replicas, partitions, state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(crate) fn processes(&self) -> usize {
        self.replicas * self.partitions
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // What a process that panicked held is still consistent: every change is one statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A process has ended.
    pub(crate) fn ended(&self, failed: bool) {
        let mut state = self.lock();
        state.running -= 1;
        state.failed |= failed || (state.running > 0 && state.waiting == state.running);
        drop(state);
        self.changed.notify_all();
    }

    /// Waits until `ready`; an error where nothing can change that.
    fn wait<'s>(
        &'s self,
        mut state: MutexGuard<'s, State>,
        what: &str,
        mut ready: impl FnMut(&mut State) -> bool,
    ) -> Result<MutexGuard<'s, State>> {
        state.waiting += 1;
        if state.waiting == state.running {
            state.failed = true;
            self.changed.notify_all();
        }
        loop {
            if ready(&mut state) {
                return Ok(state);
            }
            if state.failed {
                return Err(Error::new(ErrorKind::Deadlock, format!("{what} that no process can bring any more")));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Brings values to a meeting and takes what all brought, in the order of the group.
    fn meet(&self, meeting: Meeting, process: usize, values: Vec<Value>) -> Result<Vec<Arc<Vec<Value>>>> {
        let size = meeting.group.len();
        let mut state = self.lock();
        let state_ref = &mut *state;
        let gathering = state_ref.meetings.entry(meeting.clone()).or_default();
        gathering.brought.insert(process, Arc::new(values));
        if gathering.brought.len() == size {
            state_ref.waiting -= gathering.waiting;
            gathering.waiting = 0;
            self.changed.notify_all();
        } else {
            gathering.waiting += 1;
            let what = format!("it waits for processes {:?}", meeting.group);
            state = self.wait(state, &what, |state| {
                state.meetings.get(&meeting).is_some_and(|g| g.brought.len() == size)
            })?;
        }
        let Some(gathering) = state.meetings.get_mut(&meeting) else {
            return Err(Error::invalid("a process takes part twice"));
        };
        gathering.taken += 1;
        let all = meeting.group.iter().filter_map(|p| gathering.brought.get(p).cloned()).collect();
        if gathering.taken == size {
            state.meetings.remove(&meeting);
        }
        Ok(all)
    }

    pub(crate) fn send(&self, channel: Channel, values: Vec<Value>) {
        let mut state = self.lock();
        let state = &mut *state;
        let queue = state.channels.entry(channel).or_default();
        queue.items.push_back(values);
        if queue.waiting > 0 {
            queue.waiting -= 1;
            queue.granted += 1;
            state.waiting -= 1;
            self.changed.notify_all();
        }
    }

    pub(crate) fn receive(&self, channel: Channel) -> Result<Vec<Value>> {
        let mut state = self.lock();
        let queue = state.channels.entry(channel).or_default();
        if queue.items.len() <= queue.granted {
            queue.waiting += 1;
            let what = format!("it waits for a value of channel {}", channel.0);
            state = self.wait(state, &what, |state| {
                let Some(queue) = state.channels.get_mut(&channel).filter(|q| q.granted > 0) else { return false };
                queue.granted -= 1;
                true
            })?;
        }
        let item = state.channels.get_mut(&channel).and_then(|queue| queue.items.pop_front());
        item.ok_or_else(|| Error::new(ErrorKind::Deadlock, format!("channel {} is empty", channel.0)))
    }

    pub(crate) fn feed(&self, feed: impl IntoIterator<Item = Feed>) {
        self.lock().infeed.extend(feed);
    }

    pub(crate) fn fed(&self) -> Result<Feed> {
        let feed = self.lock().infeed.pop_front();
        feed.ok_or_else(|| Error::new(ErrorKind::Deadlock, "the infeed queue is empty"))
    }

    pub(crate) fn put_out(&self, values: Vec<Value>) {
        self.lock().outfeed.push(values);
    }

    pub(crate) fn probe(&self, id: &str, value: Value) {
        self.lock().probes.entry(id.to_string()).or_default().push(value);
    }

    pub(crate) fn probed(&self, id: &str, iteration: usize) -> Option<Value> {
        self.lock().probes.get(id)?.get(iteration).cloned()
    }

    pub(crate) fn print(&self, line: String) {
        self.lock().printed.push(line);
    }

    /// What is left for the caller.
    pub(crate) fn outcome(&self) -> (Vec<Vec<Value>>, BTreeMap<String, Vec<Value>>, Vec<String>) {
        let mut state = self.lock();
        let state = &mut *state;
        (
            std::mem::take(&mut state.outfeed),
            std::mem::take(&mut state.probes),
            std::mem::take(&mut state.printed),
        )
    }

    /// Adds what a run inside this one left.
    pub(crate) fn absorb(&self, other: &World) {
        let (outfeed, probes, printed) = other.outcome();
        let mut state = self.lock();
        state.outfeed.extend(outfeed);
        state.printed.extend(printed);
        for (id, values) in probes {
            state.probes.entry(id).or_default().extend(values);
        }
    }
}

/// One process of a world.
pub(crate) struct Process<'w> {
    pub(crate) world: &'w World,
    pub(crate) replica: usize,
    pub(crate) partition: usize,
    /// How often it has met each group.
    times: HashMap<(String, i64, Vec<usize>), u64>,
}

impl<'w> Process<'w> {
    pub(crate) fn new(world: &'w World, replica: usize, partition: usize) -> Process<'w> {
        Process { world, replica, partition, times: HashMap::new() }
    }

    /// Number of the process: row by row of replicas.
    pub(crate) fn id(&self) -> usize {
        self.replica * self.world.partitions + self.partition
    }

    /// Brings values to the other processes of a group; what all brought, in the order of the group.
    pub(crate) fn meet(
        &mut self,
        operation: &str,
        channel: i64,
        group: &[usize],
        values: Vec<Value>,
    ) -> Result<Vec<Arc<Vec<Value>>>> {
        if let Some(stranger) = group.iter().find(|p| **p >= self.world.processes()) {
            return Err(Error::invalid(format!(
                "process {stranger} in a group, where there are {} processes",
                self.world.processes()
            )));
        }
        let key = (operation.to_string(), channel, group.to_vec());
        let time = self.times.entry(key).and_modify(|t| *t += 1).or_insert(0);
        let meeting =
            Meeting { operation: operation.to_string(), channel, group: group.to_vec(), time: *time };
        self.world.meet(meeting, self.id(), values)
    }
}
