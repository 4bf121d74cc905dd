//! A run: the table's head and its summary, and all of it as JSON.
//!
//! The JSON of a run is one object; times are milliseconds, sizes bytes, ratios a peer's figure over ours:
//!
//! ```text
//! schema       1
//! date         of the start, UTC          revision   of the repository, if it is one
//! machine      { processor, processors, memory_gib, system }
//! device       the GPU of our side, or null where that is the processor
//! load         [before, after]: how many processes wanted a processor over a minute
//! threads, rounds, seconds                as they were asked for
//! flops        f32 multiply-adds that all threads reach in registers, two operations each, per second
//! versions     { surject, and a text for every peer }
//! subnormals   what our side does with subnormal numbers: "keep" or "flush", as the peers do
//! heap         the settings of the heap that every side has, where peers are timed
//! programs     [ { name, error }                           a program that was not timed, and why
//!              | { name, surject: TIMES + { compile_ms, memory: { arguments, results, arena, constants } },
//!                  ceiling: { kind: "multiply-add" | "copy", share },
//!                  peers: { NAME: { error }                a peer that refused the program, or computed something else
//!                               | TIMES + { compile_ms, setting, memory, ratio: RATIO, ratio_compile, ratio_memory,
//!                                           busy: TIMES, ratio_busy: RATIO } },
//!                  best: RATIO                             to the faster peer, where there are several
//!                  busy: TIMES                             with one processor kept busy by another process
//!                  launches: [[kernel, us] …] } ]          on a GPU: what every launch takes by itself
//! TIMES        { min_ms, median_ms, ninth_decile_ms, samples }
//! RATIO        { min, median }                             of the least times and of the medians
//! summary      { NAME or best: { count, mean_min, mean_median, compile_median, busy_min, low: [[name, ratio] …] } }
//! starts       [ { name, cold_ms, warm_ms, ratio } ]       from text to runnable in a fresh process, disk cache empty and full
//! ```

use super::machine;
use super::report::{Ratio, Row, Times, rounded};
use serde_json::{Map, Value, json};
use std::fmt::{self, Display, Write};
use surject_runtime::Subnormals;

/// A ratio to XLA below this is listed; to the better of several peers, below the next.
const LOW: f64 = 0.95;
const LOW_BEST: f64 = 0.9;

/// From text to runnable in a fresh process.
#[derive(Clone, Debug)]
pub struct Start {
    /// The program.
    pub name: String,
    /// With an empty disk cache.
    pub cold_ms: f64,
    /// With what the cold start left there.
    pub warm_ms: f64,
}

impl Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ratio = self.cold_ms / self.warm_ms;
        writeln!(f, "{:<34} {:>10.2} {:>10.2} {ratio:>7.2}", self.name, self.cold_ms, self.warm_ms)
    }
}

/// The line above a table of starts.
pub fn starts_head() -> String {
    format!("{:<34} {:>10} {:>10} {:>7}\n", "from text to runnable", "cold ms", "warm ms", "ratio")
}

/// A run: what it was, and its programs.
#[derive(Clone, Debug)]
pub struct Run {
    threads: usize,
    rounds: usize,
    seconds: f64,
    /// Operations a second of multiply-adds, the most that was measured.
    pub flops: f64,
    date: String,
    load: [Option<f64>; 2],
    /// What our side does with subnormal numbers.
    pub subnormals: Subnormals,
    /// The GPU of our side.
    pub device: Option<String>,
    /// The peers and their versions.
    pub versions: Vec<(String, String)>,
    /// The programs.
    pub rows: Vec<Row>,
    /// Starts in fresh processes.
    pub starts: Vec<Start>,
}

impl Run {
    /// A run that begins now.
    pub fn new(threads: usize, rounds: usize, seconds: f64, flops: f64) -> Run {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let load = [machine::load(); 2];
        let (device, versions, rows, starts, subnormals) = Default::default();
        Run {
            threads,
            rounds,
            seconds,
            flops,
            date: machine::date(now.as_secs()),
            load,
            subnormals,
            device,
            versions,
            rows,
            starts,
        }
    }

    /// Notes how many processes want a processor now.
    pub fn note_load(&mut self) {
        self.load[1] = machine::load();
    }

    /// All of it; see the documentation of this module.
    pub fn json(&self) -> String {
        let (processor, memory, system) = machine::describe();
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let mut versions = Map::new();
        versions.insert("surject".into(), env!("CARGO_PKG_VERSION").into());
        versions.extend(self.versions.iter().map(|(k, v)| (k.clone(), Value::from(v.clone()))));
        let names: Vec<&str> = self.versions.iter().map(|(name, _)| name.as_str()).collect();
        let mut run = json!({
            "schema": 1,
            "date": self.date,
            "revision": machine::revision(),
            "machine": {
                "processor": processor,
                "processors": processors,
                "memory_gib": rounded(memory),
                "system": system,
            },
            "device": self.device,
            "load": self.load,
            "threads": self.threads,
            "rounds": self.rounds,
            "seconds": self.seconds,
            "flops": rounded(self.flops),
            "subnormals": self.subnormals.to_string(),
            "versions": versions,
            "summary": summaries(&self.rows, &names),
        });
        if !names.is_empty() {
            run["heap"] = machine::HEAP.map(|(name, value)| format!("{name}={value}")).join(" ").into();
        }
        let mut text = run.to_string();
        // One line a program, so that a stored run can be read and compared.
        let list = |values: Vec<Value>| {
            let lines: Vec<String> = values.iter().map(Value::to_string).collect();
            if lines.is_empty() { "[]".to_string() } else { format!("[\n{}\n]", lines.join(",\n")) }
        };
        let programs = list(self.rows.iter().map(Row::json).collect());
        let starts = list(
            self.starts
                .iter()
                .map(|s| {
                    json!({ "name": s.name, "cold_ms": rounded(s.cold_ms), "warm_ms": rounded(s.warm_ms),
                            "ratio": rounded(s.cold_ms / s.warm_ms) })
                })
                .collect(),
        );
        text.pop();
        let _ = writeln!(text, ",\n\"programs\": {programs},\n\"starts\": {starts}}}");
        text
    }
}

/// Geometric means and what is low, for one peer or for `best`.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// How many programs have a ratio.
    pub count: usize,
    /// The geometric mean of the ratios of least times.
    pub mean_min: f64,
    /// The same of medians.
    pub mean_median: f64,
    /// The median of the ratios of compilation; not for `best`.
    pub compile_median: Option<f64>,
    /// The least ratio of medians, and its program, while another process keeps a processor busy.
    pub busy_min: Option<(String, f64)>,
    /// The programs whose ratio of least times is below what it must be, the lowest first.
    pub low: Vec<(String, f64)>,
}

impl Summary {
    /// Of rows.
    pub fn of(rows: &[Row], peer: &str) -> Summary {
        let ratios: Vec<(&Row, Ratio)> = rows.iter().filter_map(|r| Some((r, r.ratio(peer)?))).collect();
        let bar = if peer == "best" { LOW_BEST } else { LOW };
        let mut low: Vec<(String, f64)> = ratios
            .iter()
            .filter(|(_, ratio)| ratio.min < bar)
            .map(|(row, ratio)| (row.name.clone(), ratio.min))
            .collect();
        low.sort_by(|a, b| a.1.total_cmp(&b.1));
        let compile: Vec<f64> =
            rows.iter().filter_map(|r| Some(r.timed(peer)?.compile_ms / r.compile_ms)).collect();
        let busy = rows.iter().filter_map(|r| Some((r.name.clone(), r.busy_ratio(peer)?.median)));
        Summary {
            count: ratios.len(),
            mean_min: geometric_mean(ratios.iter().map(|(_, r)| r.min)),
            mean_median: geometric_mean(ratios.iter().map(|(_, r)| r.median)),
            compile_median: Some(Times::of(&compile).median).filter(|_| !compile.is_empty()),
            busy_min: busy.min_by(|a, b| a.1.total_cmp(&b.1)),
            low,
        }
    }

    fn json(&self) -> Value {
        let pair = |(name, ratio): &(String, f64)| json!([name, rounded(*ratio)]);
        json!({
            "count": self.count,
            "mean_min": rounded(self.mean_min),
            "mean_median": rounded(self.mean_median),
            "compile_median": self.compile_median.map(rounded),
            "busy_min": self.busy_min.as_ref().map(pair),
            "low": self.low.iter().map(pair).collect::<Vec<_>>(),
        })
    }
}

/// The peers, and `best` where there are several.
fn subjects<'a>(peers: &[&'a str]) -> Vec<&'a str> {
    let best = (peers.len() > 1).then_some("best");
    peers.iter().copied().chain(best).collect()
}

fn summaries(rows: &[Row], peers: &[&str]) -> Value {
    let list = subjects(peers).into_iter().map(|p| (p.to_string(), Summary::of(rows, p).json()));
    Value::Object(list.collect())
}

/// The geometric mean of positive numbers; 1 of none.
pub fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for value in values {
        sum += value.ln();
        count += 1;
    }
    (sum / f64::from(count.max(1))).exp()
}

/// The lines above the table.
pub fn head(run: &Run, peers: &[&str], busy: bool) -> String {
    let mut text = format!(
        "{} threads, f32 multiply-add ceiling {:.1} Gflop/s; ratios are the peer's time over ours, of least times and of \
         medians; spread: nine of ten samples over the least\n",
        run.threads,
        run.flops / 1e9
    );
    for (name, version) in &run.versions {
        let _ = writeln!(text, "{name}: {version}");
    }
    let _ = write!(text, "{:<34} {:>10} {:>10} {:>6}", "program", "min ms", "median", "spread");
    for peer in peers {
        let _ = write!(text, " | {:>10} {:>6} {:>6}", format!("{peer} min"), "ratio", "median");
    }
    if peers.len() > 1 {
        let _ = write!(text, " | {:>6} {:>6}", "best", "median");
    }
    if busy && !peers.is_empty() {
        let _ = write!(text, " | {:>6} {:>6}", "busy", "median");
    }
    let _ = write!(text, " | {:>6} {:>8}", "ceil", "compile");
    for _ in peers {
        let _ = write!(text, " {:>6}", "ratio");
    }
    text.push('\n');
    text
}

/// The lines below the table.
pub fn summary(rows: &[Row], peers: &[&str]) -> String {
    let mut text = String::new();
    for peer in subjects(peers) {
        let s = Summary::of(rows, peer);
        let name = if peer == "best" { "the better peer" } else { peer };
        let _ = writeln!(
            text,
            "{name}: geometric mean of {} ratios of least times {:.2}, of medians {:.2}",
            s.count, s.mean_min, s.mean_median
        );
        if let Some(compile) = s.compile_median.filter(|_| peer != "best") {
            let _ = writeln!(text, "{name}: median ratio of compilation {compile:.2}");
        }
        if let Some((program, ratio)) = &s.busy_min {
            let _ = writeln!(text, "{name}: with a busy processor at least {ratio:.2} ({program}), medians");
        }
        let bar = if peer == "best" { LOW_BEST } else { LOW };
        for (program, ratio) in &s.low {
            let _ = writeln!(text, "{name}: below {bar}: {program} {ratio:.2}");
        }
    }
    text
}
