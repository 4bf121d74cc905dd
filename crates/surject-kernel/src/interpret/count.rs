//! What a run counts.

use crate::Space;
use rustc_hash::FxHashMap;

/// Bytes that go to and from a level of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes loaded.
    pub loaded: u64,
    /// Bytes stored; those of atomic operations count here and as loaded.
    pub stored: u64,
}

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Traffic with global memory.
    pub global: Traffic,
    /// Traffic with the scratch memory of workers.
    pub worker: Traffic,
    /// Traffic with shared memory.
    pub shared: Traffic,
    /// Traffic with stacks.
    pub stack: Traffic,
    /// Operations on floats: each lane of an operation counts once, a fused multiplication and addition twice,
    /// comparisons and conversions not.
    pub flops: u64,
    /// Sectors of global memory that are accessed, each once for all threads of a warp that access it with one
    /// statement, or for the lanes of a vector.
    pub sectors: u64,
    /// How many times shared memory is accessed once more because threads of a warp need several words of a bank, beyond
    /// what their number alone asks for: each access gives one word of every bank.
    pub bank_conflicts: u64,
    /// Barriers that blocks and warps went through.
    pub barriers: u64,
    /// Statements that ran.
    pub statements: u64,
}

impl Counts {
    /// Adds what another run did.
    pub fn add(&mut self, other: &Counts) {
        let sum = |own: &mut Traffic, other: Traffic| {
            own.loaded += other.loaded;
            own.stored += other.stored;
        };
        sum(&mut self.global, other.global);
        sum(&mut self.worker, other.worker);
        sum(&mut self.shared, other.shared);
        sum(&mut self.stack, other.stack);
        self.flops += other.flops;
        self.sectors += other.sectors;
        self.bank_conflicts += other.bank_conflicts;
        self.barriers += other.barriers;
        self.statements += other.statements;
    }

    /// The traffic with a level of memory; registers have none.
    pub fn traffic(&mut self, space: Space) -> Option<&mut Traffic> {
        match space {
            Space::Global => Some(&mut self.global),
            Space::Worker => Some(&mut self.worker),
            Space::Shared => Some(&mut self.shared),
            Space::Stack => Some(&mut self.stack),
            Space::Register => None,
        }
    }
}

/// One access of all threads of a warp: who they are, the statement, and which time they come there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Event {
    pub(super) warp: (u64, i64),
    pub(super) statement: usize,
    pub(super) time: u32,
}

/// Accesses that are still to be counted: another thread of the warp may add to them.
#[derive(Debug, Default)]
pub(super) struct Open {
    sectors: FxHashMap<Event, Vec<(usize, usize)>>,
    words: FxHashMap<Event, Vec<(usize, usize)>>,
}

impl Open {
    /// Notes an access to a sector of global memory, or to a word of shared memory, of an object.
    pub(super) fn note(&mut self, space: Space, event: Event, object: usize, number: usize) {
        let noted = match space {
            Space::Global => self.sectors.entry(event).or_default(),
            Space::Shared => self.words.entry(event).or_default(),
            Space::Worker | Space::Stack | Space::Register => return,
        };
        // Neighbours mostly access the same one.
        if noted.last() != Some(&(object, number)) {
            noted.push((object, number));
        }
    }

    /// Counts them.
    pub(super) fn close(&mut self, banks: usize, counts: &mut Counts) {
        counts.sectors +=
            self.sectors.drain().map(|(_, sectors)| distinct(sectors).len() as u64).sum::<u64>();
        let mut of_bank = vec![0u64; banks.max(1)];
        for (_, words) in self.words.drain() {
            let words = distinct(words);
            of_bank.fill(0);
            words.iter().for_each(|(_, word)| of_bank[word % banks.max(1)] += 1);
            let least = words.len().div_ceil(banks.max(1)) as u64;
            counts.bank_conflicts += of_bank.iter().max().map_or(0, |most| most.saturating_sub(least));
        }
    }
}

/// Each place once.
fn distinct(mut places: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    places.sort_unstable();
    places.dedup();
    places
}
