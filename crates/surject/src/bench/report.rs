//! What was measured: one row a program, its line in the table, and its object in the JSON of a [run](super::run).

use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Order statistics of the samples of one side, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// The least.
    pub min: f64,
    /// The middle one.
    pub median: f64,
    /// Nine of ten are not above it.
    pub ninth: f64,
    /// How many samples there are.
    pub count: usize,
}

impl Times {
    /// Of samples in any order.
    pub fn of(samples: &[f64]) -> Times {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            sorted.get((sorted.len().saturating_sub(1) as f64 * share) as usize).copied().unwrap_or(0.0)
        };
        Times { min: at(0.0), median: at(0.5), ninth: at(0.9), count: sorted.len() }
    }

    fn json(&self) -> Map<String, Value> {
        let mut map = Map::new();
        map.insert("min_ms".into(), rounded(self.min));
        map.insert("median_ms".into(), rounded(self.median));
        map.insert("ninth_decile_ms".into(), rounded(self.ninth));
        map.insert("samples".into(), self.count.into());
        map
    }
}

/// A peer's figure over ours, for the least times and for the medians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Of the least times.
    pub min: f64,
    /// Of the medians.
    pub median: f64,
}

impl Ratio {
    /// Theirs over ours.
    pub fn of(theirs: &Times, ours: &Times) -> Ratio {
        Ratio { min: theirs.min / ours.min, median: theirs.median / ours.median }
    }

    fn json(&self) -> Value {
        json!({ "min": rounded(self.min), "median": rounded(self.median) })
    }
}

/// Bytes that a run of ours holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// Of the arguments.
    pub arguments: u64,
    /// Of the results.
    pub results: u64,
    /// For intermediate tensors.
    pub arena: u64,
    /// Of literal tensors.
    pub constants: u64,
}

impl Memory {
    /// All of it.
    pub fn total(&self) -> u64 {
        self.arguments + self.results + self.arena + self.constants
    }
}

/// What a peer did with a program.
#[derive(Clone, Debug, Default)]
pub struct PeerTimes {
    /// The peer.
    pub name: String,
    /// Why it was not timed.
    pub error: Option<String>,
    /// Samples that are not summed up yet, in milliseconds.
    pub samples: Vec<f64>,
    /// One run takes so long that it is the only sample.
    pub slow: bool,
    /// With nothing else on the machine.
    pub times: Times,
    /// While another process keeps a processor busy.
    pub busy: Option<Times>,
    /// From text to runnable.
    pub compile_ms: f64,
    /// How it was compiled, where there is a choice.
    pub setting: String,
    /// Bytes of arguments, results and temporaries.
    pub memory: Option<u64>,
}

/// One program.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// The program.
    pub name: String,
    /// Why it was not timed.
    pub error: Option<String>,
    /// From text to runnable.
    pub compile_ms: f64,
    /// The bytes that a run holds.
    pub memory: Memory,
    /// Our times.
    pub times: Times,
    /// Our times while another process keeps a processor busy.
    pub busy: Option<Times>,
    /// The least seconds that the work takes at the measured ceilings: its arithmetic, and its bytes.
    pub least: [f64; 2],
    /// On a GPU: the kernels in the order of their launches, and the microseconds of each launch by itself.
    pub launches: Vec<(String, f64)>,
    /// The peers, in the order in which they were named.
    pub peers: Vec<PeerTimes>,
}

impl Row {
    /// A program that compiled in so many milliseconds.
    pub fn new(name: &str, compile_ms: f64) -> Row {
        Row { name: name.to_string(), compile_ms, ..Row::default() }
    }

    /// A program that could not be timed.
    pub fn failed(name: String, error: String) -> Row {
        Row { name, error: Some(error), ..Row::default() }
    }

    /// The share of the measured ceiling that the least time reaches, and whether it is that of arithmetic.
    pub fn ceiling(&self) -> (f64, bool) {
        let [compute, memory] = self.least;
        (compute.max(memory) * 1e3 / self.times.min, compute > memory)
    }

    /// A peer that was timed.
    pub fn timed(&self, peer: &str) -> Option<&PeerTimes> {
        self.peers.iter().find(|p| p.name == peer && p.error.is_none() && self.error.is_none())
    }

    /// The times of a peer over ours; for `best`, of the peer that was the fastest.
    pub fn ratio(&self, peer: &str) -> Option<Ratio> {
        let all = self.peers.iter().filter_map(|p| Some(Ratio::of(&self.timed(&p.name)?.times, &self.times)));
        if peer == "best" {
            return all.reduce(|a, b| Ratio { min: a.min.min(b.min), median: a.median.min(b.median) });
        }
        self.timed(peer).map(|p| Ratio::of(&p.times, &self.times))
    }

    /// The same while another process keeps a processor busy.
    pub fn busy_ratio(&self, peer: &str) -> Option<Ratio> {
        let busy = self.busy.as_ref()?;
        let of = |p: &PeerTimes| Some(Ratio::of(self.timed(&p.name)?.busy.as_ref()?, busy));
        if peer == "best" {
            return self
                .peers
                .iter()
                .filter_map(of)
                .reduce(|a, b| Ratio { min: a.min.min(b.min), median: a.median.min(b.median) });
        }
        of(self.timed(peer)?)
    }

    /// The line of the table.
    pub fn line(&self, peers: &[&str]) -> String {
        let mut text = format!("{:<34}", self.name);
        if let Some(error) = &self.error {
            let _ = writeln!(text, " NOT TIMED: {}", error.lines().next().unwrap_or_default());
            return text;
        }
        let t = &self.times;
        let _ = write!(text, " {:>10.4} {:>10.4} {:>6.2}", t.min, t.median, t.ninth / t.min);
        for peer in peers {
            match (self.timed(peer), self.ratio(peer)) {
                (Some(p), Some(r)) => {
                    let _ = write!(text, " | {:>10.4} {:>6.2} {:>6.2}", p.times.min, r.min, r.median);
                }
                _ => text.push_str(" |          -      -      -"),
            }
        }
        if let Some(best) = self.ratio("best").filter(|_| peers.len() > 1) {
            let _ = write!(text, " | {:>6.2} {:>6.2}", best.min, best.median);
        }
        if let Some(busy) = self.busy_ratio("best") {
            let _ = write!(text, " | {:>6.2} {:>6.2}", busy.min, busy.median);
        }
        let (share, compute) = self.ceiling();
        let kind = if compute { 'f' } else { 'b' };
        let _ = write!(text, " | {share:>5.2}{kind} {:>8.1}", self.compile_ms);
        for peer in peers {
            match self.timed(peer) {
                Some(p) => drop(write!(text, " {:>6.2}", p.compile_ms / self.compile_ms)),
                None => text.push_str("      -"),
            }
        }
        text.push('\n');
        for peer in &self.peers {
            if let Some(error) = &peer.error {
                let _ = writeln!(
                    text,
                    "    {} not timed: {}",
                    peer.name,
                    error.lines().next().unwrap_or_default()
                );
            }
        }
        text
    }

    /// Its object.
    pub fn json(&self) -> Value {
        if let Some(error) = &self.error {
            return json!({ "name": self.name, "error": error });
        }
        let mut own = self.times.json();
        let m = &self.memory;
        own.insert("compile_ms".into(), rounded(self.compile_ms));
        own.insert(
            "memory".into(),
            json!({ "arguments": m.arguments, "results": m.results, "arena": m.arena, "constants": m.constants }),
        );
        let mut peers = Map::new();
        for peer in &self.peers {
            peers.insert(peer.name.clone(), self.peer_json(peer));
        }
        let (share, compute) = self.ceiling();
        let kind = if compute { "multiply-add" } else { "copy" };
        let mut row = json!({
            "name": self.name,
            "surject": own,
            "ceiling": { "kind": kind, "share": rounded(share) },
            "peers": peers,
        });
        if let Some(best) = self.ratio("best").filter(|_| self.peers.len() > 1) {
            row["best"] = best.json();
        }
        if let Some(busy) = &self.busy {
            row["busy"] = busy.json().into();
        }
        if !self.launches.is_empty() {
            row["launches"] = self.launches.iter().map(|(name, us)| json!([name, rounded(*us)])).collect();
        }
        row
    }

    fn peer_json(&self, peer: &PeerTimes) -> Value {
        if let Some(error) = &peer.error {
            return json!({ "error": error });
        }
        let mut map = peer.times.json();
        map.insert("compile_ms".into(), rounded(peer.compile_ms));
        map.insert("ratio_compile".into(), rounded(peer.compile_ms / self.compile_ms));
        map.insert("setting".into(), peer.setting.clone().into());
        map.insert("memory".into(), peer.memory.into());
        if let Some(memory) = peer.memory {
            map.insert("ratio_memory".into(), rounded(memory as f64 / self.memory.total().max(1) as f64));
        }
        map.insert("ratio".into(), Ratio::of(&peer.times, &self.times).json());
        if let (Some(busy), Some(ratio)) = (&peer.busy, self.busy_ratio(&peer.name)) {
            map.insert("busy".into(), busy.json().into());
            map.insert("ratio_busy".into(), ratio.json());
        }
        map.into()
    }
}

/// A number with six digits.
pub fn rounded(value: f64) -> Value {
    if !value.is_finite() {
        return Value::Null;
    }
    format!("{value:.5e}").parse::<f64>().unwrap_or(value).into()
}
