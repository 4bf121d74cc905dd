//! The JSON of `surject bench`, read.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The runs of a comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// On all processors, with one kept busy at the end.
    pub all: Run,
    /// On one thread.
    pub one: Run,
    /// Programs that no cache holds, on all processors.
    pub large: Option<Run>,
    /// Starts in fresh processes.
    pub starts: Option<Run>,
}

impl Comparison {
    /// Reads `all.json`, `one.json` and, if they are there, `large.json` and `starts.json` of a folder.
    pub fn read(folder: &Path) -> Result<Comparison, String> {
        let read = |name: &str| {
            let path = folder.join(name);
            let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            Run::parse(&text).map_err(|e| format!("{}: {e}", path.display()))
        };
        let there = |name: &str| folder.join(name).exists().then(|| read(name)).transpose();
        let (large, starts) = (there("large.json")?, there("starts.json")?);
        Ok(Comparison { all: read("all.json")?, one: read("one.json")?, large, starts })
    }

    /// The two runs against peers.
    pub fn runs(&self) -> [&Run; 2] {
        [&self.all, &self.one]
    }
}

/// One run.
#[derive(Clone, Debug, Deserialize)]
pub struct Run {
    /// The version of the format.
    pub schema: u32,
    /// The day of its start.
    pub date: String,
    /// The revision of the repository.
    pub revision: Option<String>,
    /// Where it ran.
    pub machine: Machine,
    /// How many processes wanted a processor, before and after.
    pub load: [Option<f64>; 2],
    /// The threads of every side.
    pub threads: usize,
    /// Alternating rounds.
    pub rounds: usize,
    /// Seconds of each side in a round.
    pub seconds: f64,
    /// Operations a second of multiply-adds in registers.
    pub flops: f64,
    /// The versions of all sides.
    pub versions: BTreeMap<String, String>,
    /// What our side did with subnormal numbers; runs of before do not say it, and kept them.
    pub subnormals: Option<String>,
    /// The settings of the heap that every side has.
    pub heap: Option<String>,
    /// The programs.
    pub programs: Vec<Program>,
    /// Starts in fresh processes.
    #[serde(default)]
    pub starts: Vec<Start>,
}

/// A machine.
#[derive(Clone, Debug, Deserialize)]
pub struct Machine {
    /// Its processor.
    pub processor: String,
    /// How many of them.
    pub processors: usize,
    /// Its memory.
    pub memory_gib: f64,
    /// The operating system.
    pub system: String,
}

/// A program.
#[derive(Clone, Debug, Deserialize)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// Why it was not timed.
    pub error: Option<String>,
    /// Our side; there unless there is an error.
    pub surject: Option<Own>,
    /// What the machine could do.
    pub ceiling: Option<Ceiling>,
    /// The other sides.
    #[serde(default)]
    pub peers: BTreeMap<String, Peer>,
    /// The ratio to the faster peer.
    pub best: Option<Ratio>,
}

/// Our side of a program.
#[derive(Clone, Debug, Deserialize)]
pub struct Own {
    /// The least time.
    pub min_ms: f64,
    /// The middle one.
    pub median_ms: f64,
    /// From text to runnable.
    pub compile_ms: f64,
    /// The memory of a run.
    pub memory: Memory,
}

/// Bytes of a run.
#[derive(Clone, Debug, Deserialize)]
pub struct Memory {
    /// Of the arguments.
    pub arguments: f64,
    /// Of the results.
    pub results: f64,
    /// Of intermediate tensors.
    pub arena: f64,
    /// Of literal tensors.
    pub constants: f64,
}

impl Memory {
    /// All of it.
    pub fn total(&self) -> f64 {
        self.arguments + self.results + self.arena + self.constants
    }
}

/// The share of a ceiling.
#[derive(Clone, Debug, Deserialize)]
pub struct Ceiling {
    /// `multiply-add` or `copy`.
    pub kind: String,
    /// The share that the least time reaches.
    pub share: f64,
}

/// A peer on a program.
#[derive(Clone, Debug, Deserialize)]
pub struct Peer {
    /// Why it was not timed.
    pub error: Option<String>,
    /// The least time.
    pub min_ms: Option<f64>,
    /// From text to runnable, over ours.
    pub ratio_compile: Option<f64>,
    /// How it was compiled.
    pub setting: Option<String>,
    /// Bytes of a run.
    pub memory: Option<f64>,
    /// Those over ours.
    pub ratio_memory: Option<f64>,
    /// Its times over ours.
    pub ratio: Option<Ratio>,
    /// The same with a busy processor.
    pub ratio_busy: Option<Ratio>,
}

/// A peer's times over ours.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Ratio {
    /// Of the least times.
    pub min: f64,
    /// Of the medians.
    pub median: f64,
}

/// From text to runnable in a fresh process.
#[derive(Clone, Debug, Deserialize)]
pub struct Start {
    /// The program.
    pub name: String,
    /// With an empty disk cache.
    pub cold_ms: f64,
    /// With a full one.
    pub warm_ms: f64,
    /// The first over the second.
    pub ratio: f64,
}

impl Run {
    /// Reads the text of a run.
    pub fn parse(text: &str) -> Result<Run, String> {
        let run: Run = serde_json::from_str(text).map_err(|e| e.to_string())?;
        if run.schema != 1 {
            return Err(format!("schema {}, where 1 is known", run.schema));
        }
        Ok(run)
    }

    /// The names of the peers: XLA first, where it is there.
    pub fn peers(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.versions.keys().map(String::as_str).filter(|n| *n != "surject").collect();
        names.sort_by_key(|n| (*n != "xla", *n));
        names
    }

    /// Programs and a figure that some of them have.
    pub fn figures(&self, of: impl Fn(&Program) -> Option<f64>) -> Vec<(&str, f64)> {
        let list = self.programs.iter().filter_map(|p| Some((p.name.as_str(), of(p)?)));
        list.filter(|(_, v)| v.is_finite()).collect()
    }
}

impl Program {
    /// The ratio to a peer; to the faster one for `best`, which is the only one where there are not two.
    pub fn ratio(&self, peer: &str) -> Option<Ratio> {
        if peer == "best" {
            return self.best.or_else(|| self.peers.values().find_map(|p| p.ratio));
        }
        self.peers.get(peer)?.ratio
    }

    /// The same while another process keeps a processor busy.
    pub fn busy(&self, peer: &str) -> Option<Ratio> {
        if peer != "best" {
            return self.peers.get(peer)?.ratio_busy;
        }
        let all = self.peers.values().filter_map(|p| p.ratio_busy);
        all.reduce(|a, b| Ratio { min: a.min.min(b.min), median: a.median.min(b.median) })
    }

    /// Is it a step of training?
    pub fn is_step(&self) -> bool {
        self.name.split('_').any(|word| word == "step")
    }
}

/// The geometric mean; 1 of nothing.
pub fn geometric_mean(values: &[(&str, f64)]) -> f64 {
    (values.iter().map(|(_, v)| v.ln()).sum::<f64>() / values.len().max(1) as f64).exp()
}

/// The middle one; 0 of nothing.
pub fn median(values: &[(&str, f64)]) -> f64 {
    let mut sorted: Vec<f64> = values.iter().map(|(_, v)| *v).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

/// Those below a bar, the lowest first.
pub fn below<'a>(values: &[(&'a str, f64)], bar: f64) -> Vec<(&'a str, f64)> {
    let mut low: Vec<_> = values.iter().copied().filter(|(_, v)| *v < bar).collect();
    low.sort_by(|a, b| a.1.total_cmp(&b.1));
    low
}
