//! Scans whose lines run in order: every result takes one step from the one before it.
//!
//! Where results lie next to each other along another loop, threads are neighbours there, and each runs through lines of
//! its own. Else the threads of a block share a line: each scans a few neighbours, threads join theirs in the order of the line, by exchanges
//! inside of a warp and through shared memory between warps, and join what comes before to their own.
//!
//! On a CPU lanes take the place of threads: they are neighbours along another loop, or else each vector of a line is scanned
//! in registers, and joined to what comes before it.

use super::contraction::WARP;
use super::expression::Expression;
use super::fault::Fault;
use super::scan::only_scan;
use crate::expression::address::LoopId;
use crate::schedule::scan::Scan;
use std::fmt;

/// How lines are shared by threads, or done in lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// The loop that is scanned.
    pub along: String,
    /// The loop along which threads or lanes are neighbours, if it is another one.
    pub across: Option<String>,
    /// By whom.
    pub by: Scanners,
}

/// Who scans lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scanners {
    /// The threads of a block.
    Threads {
        /// How many a block has.
        threads: i64,
        /// The neighbours that a thread computes.
        each: i64,
    },
    /// Tasks, in vectors.
    Lanes {
        /// The lanes of a vector.
        lanes: i64,
        /// The lines of a task, or as many vectors across lines; it divides all of them.
        lines: i64,
    },
}

impl fmt::Display for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "scan {}", self.along)?;
        if let Some(across) = &self.across {
            write!(f, " across {across}")?;
        }
        match self.by {
            Scanners::Threads { threads, each } => write!(f, " threads {threads} each {each}"),
            Scanners::Lanes { lanes, lines } => write!(f, " lanes {lanes} lines {lines}"),
        }
    }
}

impl Running {
    const FORM: &str = "a scan is `scan ALONG [across ACROSS] threads N each N` or `… lanes N lines N`";

    /// Reads what stands behind `scan`.
    pub(crate) fn read(words: &[&str]) -> Result<Running, Fault> {
        let number = |word: &str| word.parse().map_err(|_| Fault::of(word, format!("`{word}` is no number")));
        let (along, across, by) = match words {
            [along, "across", across, by @ ..] => (along, Some(across.to_string()), by),
            [along, by @ ..] => (along, None, by),
            [] => return Err(Self::FORM.into()),
        };
        let by = match by {
            ["threads", threads, "each", each] => {
                Scanners::Threads { threads: number(threads)?, each: number(each)? }
            }
            ["lanes", lanes, "lines", lines] => {
                Scanners::Lanes { lanes: number(lanes)?, lines: number(lines)? }
            }
            _ => return Err(Self::FORM.into()),
        };
        Ok(Running { along: along.to_string(), across, by })
    }
}

/// The most lanes of a vector.
const MAX_LANES: i64 = 64;

/// A scan that fits an expression.
#[derive(Clone, Debug)]
pub(crate) struct RunningScan {
    /// The expression, with the term of a step.
    pub(crate) expression: Expression,
    pub(crate) scan: Scan,
    pub(crate) across: Option<LoopId>,
    pub(crate) running: Running,
}

impl RunningScan {
    /// The loops whose last part is not whole.
    pub(crate) fn cut(&self) -> Vec<LoopId> {
        let shared = self.across.unwrap_or(self.scan.along);
        let whole = match self.running.by {
            Scanners::Threads { threads, each } => threads * each,
            Scanners::Lanes { lanes, .. } => lanes,
        };
        if self.expression.dag.extent(shared) % whole == 0 { Vec::new() } else { vec![shared] }
    }
}

impl Expression {
    /// The loop that the expression scans, if that is all that it reduces, and how often it runs.
    pub fn scanned(&self) -> Option<(String, i64)> {
        let mut dag = self.dag.clone();
        let scan = only_scan(self, &mut dag)?.0;
        Some((self.name(scan.along), dag.extent(scan.along)))
    }
}

/// The lines of a scan, or how many vectors are across them.
fn lines_of(expression: &Expression, scan: &Scan, across: Option<LoopId>, lanes: i64) -> Option<i64> {
    let beside = |l: &&LoopId| **l != scan.along && Some(**l) != across;
    let vectors = across.map_or(1, |l| (expression.dag.extent(l) + lanes - 1) / lanes);
    let loops = expression.loops.iter().filter(beside);
    loops.map(|&l| expression.dag.extent(l)).try_fold(vectors, i64::checked_mul)
}

/// Checks a scan against an expression; an error says what does not fit.
pub(crate) fn fit(expression: &Expression, running: &Running) -> Result<RunningScan, Fault> {
    /// The most neighbours of a thread, which are in its registers.
    const EACH: i64 = 16;
    let mut own = expression.clone();
    let found = only_scan(expression, &mut own.dag);
    let Some((scan, _)) = found.filter(|(scan, _)| expression.name(scan.along) == running.along) else {
        return Err(Fault::of(
            &running.along,
            format!("the expression is no scan along `{}` alone", running.along),
        ));
    };
    if let Some(meet) = expression.loops.iter().find(|&&l| !expression.free.contains(l)) {
        let name = expression.name(*meet);
        return Err(Fault::of(
            &name,
            format!("iterations of `{name}` store the same elements: they run one after the other"),
        ));
    }
    let across = match &running.across {
        None => None,
        Some(name) => {
            let l = expression.id(name).filter(|l| expression.loops.contains(l) && *l != scan.along);
            Some(l.ok_or_else(|| Fault::of(name, format!("`{name}` is no other loop over points")))?)
        }
    };
    match running.by {
        Scanners::Threads { threads, each } => {
            if !(1..=EACH).contains(&each) || !(WARP..=32 * WARP).contains(&threads) || threads % WARP != 0 {
                return Err(
                    format!("a block has 1 to 32 whole warps, and a thread 1 to {EACH} neighbours").into()
                );
            }
            let length = expression.dag.extent(scan.along);
            if across.is_none() && length > threads * each {
                return Err(format!("a line has {length} elements, and a block {}", threads * each).into());
            }
        }
        Scanners::Lanes { lanes, lines } => {
            if !(1..=MAX_LANES).contains(&lanes) || across.is_none() && !(lanes as u64).is_power_of_two() {
                return Err(format!(
                    "a vector has 1 to {MAX_LANES} lanes, along a line a power of two of them, not {lanes}"
                )
                .into());
            }
            let all = lines_of(expression, &scan, across, lanes).ok_or("more lines than numbers")?;
            if lines < 1 || all % lines != 0 {
                return Err(format!("{lines} lines of a task do not divide {all}").into());
            }
        }
    }
    Ok(RunningScan { expression: own, scan, across, running: running.clone() })
}
