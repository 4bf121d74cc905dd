//! What was measured, as a table and as JSON.

use super::work::Work;
use std::fmt;
use std::fmt::Write;

/// Order statistics of the samples of one side, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
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
    fn of(samples: &[f64]) -> Times {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            sorted.get((sorted.len().saturating_sub(1) as f64 * share) as usize).copied().unwrap_or(0.0)
        };
        Times { min: at(0.0), median: at(0.5), ninth: at(0.9), count: sorted.len() }
    }
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
    /// The same of the peer.
    pub peer_compile_ms: Option<f64>,
    ours: Times,
    theirs: Option<Times>,
    /// The share of the measured ceiling that the least time reaches, and whether it is that of arithmetic.
    ceiling: (f64, bool),
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

    /// Takes our samples.
    pub fn ours(&mut self, samples: &[f64], work: &Work, flops: f64, bandwidth: f64) {
        self.ours = Times::of(samples);
        let (compute, memory) = (work.flops / flops, work.bytes / bandwidth);
        self.ceiling = (compute.max(memory) * 1e3 / self.ours.min, compute > memory);
    }

    /// Takes the peer's samples.
    pub fn theirs(&mut self, samples: &[f64]) {
        self.theirs = Some(Times::of(samples));
    }

    /// The peer's least time over ours.
    fn ratio(&self) -> Option<f64> {
        self.theirs.filter(|_| self.error.is_none()).map(|t| t.min / self.ours.min)
    }
}

/// The lines above the table.
pub fn head(threads: usize, flops: f64) -> String {
    format!(
        "{threads} threads, f32 multiply-add ceiling {:.1} Gflop/s; ratios are the peer's time over ours; spread: nine of \
         ten samples over the least\n{:<32} {:>10} {:>10} {:>7} {:>10} {:>10} {:>7} {:>7} {:>7} {:>8} {:>8}\n",
        flops / 1e9,
        "program",
        "min ms",
        "median",
        "spread",
        "peer min",
        "median",
        "ratio",
        "median",
        "ceiling",
        "compile",
        "ratio"
    )
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(error) = &self.error {
            return write!(f, "{:<32} NOT TIMED: {}", self.name, error.lines().next().unwrap_or_default());
        }
        let o = &self.ours;
        write!(f, "{:<32} {:>10.4} {:>10.4} {:>7.2}", self.name, o.min, o.median, o.ninth / o.min)?;
        if let Some(t) = &self.theirs {
            let ratio = t.min / o.min;
            write!(f, " {:>10.4} {:>10.4} {ratio:>7.2} {:>7.2}", t.min, t.median, t.median / o.median)?;
        }
        let kind = if self.ceiling.1 { 'f' } else { 'b' };
        write!(f, " {:>6.2}{kind} {:>8.1}", self.ceiling.0, self.compile_ms)?;
        if let Some(peer) = self.peer_compile_ms {
            write!(f, " {:>8.2}", peer / self.compile_ms)?;
        }
        Ok(())
    }
}

/// The lines below the table.
pub fn summary(rows: &[Row]) -> String {
    let ratios: Vec<(f64, &str)> = rows.iter().filter_map(|r| Some((r.ratio()?, r.name.as_str()))).collect();
    if ratios.is_empty() {
        return String::new();
    }
    let mean = (ratios.iter().map(|r| r.0.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let mut text = format!("geometric mean of {} ratios of minima: {mean:.2}\n", ratios.len());
    let mut low: Vec<_> = ratios.into_iter().filter(|r| r.0 < 0.95).collect();
    low.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (ratio, name) in low {
        let _ = writeln!(text, "below 0.95: {name} {ratio:.2}");
    }
    text
}

fn quoted(text: &str) -> String {
    let mut result = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                result.push('\\');
                result.push(c);
            }
            c if c.is_control() => {
                let _ = write!(result, "\\u{:04x}", c as u32);
            }
            c => result.push(c),
        }
    }
    result.push('"');
    result
}

/// All rows as a JSON array.
pub fn json(rows: &[Row]) -> String {
    let times = |t: &Times| {
        format!(
            "{{\"min_ms\": {:.6}, \"median_ms\": {:.6}, \"ninth_decile_ms\": {:.6}, \"samples\": {}}}",
            t.min, t.median, t.ninth, t.count
        )
    };
    let mut lines = Vec::new();
    for row in rows {
        let mut parts = vec![format!("\"name\": {}", quoted(&row.name))];
        if let Some(error) = &row.error {
            parts.push(format!("\"error\": {}", quoted(error)));
        } else {
            parts.push(format!("\"compile_ms\": {:.3}, \"surject\": {}", row.compile_ms, times(&row.ours)));
            let kind = if row.ceiling.1 { "multiply-add" } else { "copy" };
            parts.push(format!("\"ceiling\": {{\"kind\": \"{kind}\", \"share\": {:.4}}}", row.ceiling.0));
            if let (Some(t), Some(compile), Some(ratio)) = (&row.theirs, row.peer_compile_ms, row.ratio()) {
                parts.push(format!(
                    "\"peer\": {}, \"peer_compile_ms\": {compile:.3}, \"ratio_min\": {ratio:.4}, \"ratio_median\": {:.4}, \
                     \"ratio_compile\": {:.4}",
                    times(t),
                    t.median / row.ours.median,
                    compile / row.compile_ms
                ));
            }
        }
        lines.push(format!("  {{{}}}", parts.join(", ")));
    }
    format!("[\n{}\n]\n", lines.join(",\n"))
}
