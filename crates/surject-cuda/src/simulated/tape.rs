//! What a simulated device records: commands by their streams, which fork and join as captures of CUDA do.

use super::Command;
use super::queues::{Clock, Queues};
use crate::{DeviceError, Scope};
use std::collections::{BTreeMap, HashMap};

/// A recording that goes on.
#[derive(Debug)]
pub(super) struct Tape {
    /// The stream that began it.
    origin: u32,
    commands: Vec<(u32, Command)>,
    /// How much of every stream comes before what is recorded next on a stream, of those that take part.
    clocks: BTreeMap<u32, Clock>,
    /// How much came before an event.
    events: HashMap<u64, Clock>,
    /// How much was recorded of each stream.
    counts: HashMap<u32, u64>,
}

/// A recording: the queues of its streams, and its own events in place of those that it was made with.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) commands: Vec<(usize, Command)>,
    /// The queue of each stream, and the event of its end.
    pub(super) queues: Vec<(usize, u64)>,
    /// The event of its begin.
    pub(super) start: u64,
    /// All its events.
    pub(super) events: Vec<u64>,
}

fn lost<T>(what: String) -> Result<T, DeviceError> {
    Err(DeviceError::Lost(what))
}

impl Tape {
    pub(super) fn new(origin: u32) -> Tape {
        let clocks = BTreeMap::from([(origin, Clock::default())]);
        Tape { origin, commands: Vec::new(), clocks, events: HashMap::new(), counts: HashMap::new() }
    }

    /// Records a command of a stream.
    pub(super) fn record(
        &mut self,
        stream: u32,
        command: Command,
        scope: Option<Scope>,
    ) -> Result<(), DeviceError> {
        if let (Command::Wait(event, _), Some(Scope::Inside)) = (&command, scope) {
            let Some(before) = self.events.get(event) else {
                return lost(format!("a recording waits for event {event}, which is not recorded"));
            };
            self.clocks.entry(stream).or_default().join(before);
        }
        let Some(clock) = self.clocks.get_mut(&stream) else {
            return lost(format!(
                "stream {stream} has no part in the recording: it waits for no event of it"
            ));
        };
        let count = self.counts.entry(stream).or_default();
        *count += 1;
        clock.raise(stream as usize, *count);
        if let (Command::Signal(event, _), Some(Scope::Inside)) = (&command, scope) {
            self.events.insert(*event, clock.clone());
        }
        self.commands.push((stream, command));
        Ok(())
    }

    /// The recording, with queues and events of its own.
    pub(super) fn end(
        self,
        queues: &mut Queues,
        mut number: impl FnMut() -> u64,
    ) -> Result<Recorded, DeviceError> {
        let all = &self.clocks[&self.origin];
        if let Some((stream, _)) = self.counts.iter().find(|(s, count)| all.get(**s as usize) < **count) {
            return lost(format!("stream {stream} does not join the stream that records"));
        }
        let mut events = Vec::new();
        let mut event = |queues: &mut Queues| {
            let new = number();
            queues.add_event(new, Scope::Inside);
            events.push(new);
            new
        };
        let start = event(queues);
        let mut streams: BTreeMap<u32, usize> = BTreeMap::new();
        let mut own: HashMap<u64, u64> = HashMap::new();
        let mut commands = Vec::new();
        for (stream, mut command) in self.commands {
            let queue = *streams.entry(stream).or_insert_with(|| queues.add());
            if let Command::Signal(of, _) | Command::Wait(of, _) = &mut command
                && self.events.contains_key(of)
            {
                *of = *own.entry(*of).or_insert_with(|| event(queues));
            }
            commands.push((queue, command));
        }
        let ends = streams.into_values().map(|queue| (queue, event(queues))).collect();
        Ok(Recorded { commands, queues: ends, start, events })
    }
}
