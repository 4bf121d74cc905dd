//! Scans whose lines run in order: every result takes one step from the one before it.
//!
//! Where results lie next to each other along another loop, threads are neighbours there, and each runs through lines of
//! its own. Else the threads of a block share a line: each scans a few neighbours, threads join theirs in the order of the line, by exchanges
//! inside of a warp and through shared memory between warps, and join what comes before to their own.

use super::contraction::WARP;
use super::expression::Expression;
use super::scan::only_scan;
use crate::expression::address::LoopId;
use crate::schedule::scan::Scan;
use std::fmt;

/// How lines are shared by threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// The loop that is scanned.
    pub along: String,
    /// The loop along which threads are neighbours, if it is another one.
    pub across: Option<String>,
    /// The threads of a block.
    pub threads: i64,
    /// The neighbours that a thread computes.
    pub each: i64,
}

impl fmt::Display for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "scan {}", self.along)?;
        if let Some(across) = &self.across {
            write!(f, " across {across}")?;
        }
        write!(f, " threads {} each {}", self.threads, self.each)
    }
}

impl Running {
    /// Reads what stands behind `scan`.
    pub(crate) fn read(words: &[&str]) -> Result<Running, String> {
        let number = |word: &str| word.parse().map_err(|_| format!("`{word}` is no number"));
        let (along, across, threads, each) = match words {
            [along, "threads", threads, "each", each] => (along, None, threads, each),
            [along, "across", across, "threads", threads, "each", each] => {
                (along, Some(across.to_string()), threads, each)
            }
            _ => return Err("a scan is `scan ALONG [across ACROSS] threads N each N`".into()),
        };
        Ok(Running { along: along.to_string(), across, threads: number(threads)?, each: number(each)? })
    }
}

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
        let whole = self.running.threads * self.running.each;
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

/// Checks a scan against an expression; an error says what does not fit.
pub(crate) fn fit(expression: &Expression, running: &Running) -> Result<RunningScan, String> {
    /// The most neighbours of a thread, which are in its registers.
    const EACH: i64 = 16;
    let mut own = expression.clone();
    let found = only_scan(expression, &mut own.dag);
    let Some((scan, _)) = found.filter(|(scan, _)| expression.name(scan.along) == running.along) else {
        return Err(format!("the expression is no scan along `{}` alone", running.along));
    };
    if let Some(meet) = expression.loops.iter().find(|&&l| !expression.free.contains(l)) {
        let name = expression.name(*meet);
        return Err(format!("iterations of `{name}` store the same elements: they run one after the other"));
    }
    let Running { threads, each, .. } = *running;
    if !(1..=EACH).contains(&each) || !(WARP..=32 * WARP).contains(&threads) || threads % WARP != 0 {
        return Err(format!("a block has 1 to 32 whole warps, and a thread 1 to {EACH} neighbours"));
    }
    let across = match &running.across {
        None => {
            let length = expression.dag.extent(scan.along);
            if length > threads * each {
                return Err(format!("a line has {length} elements, and a block {}", threads * each));
            }
            None
        }
        Some(name) => {
            let l = expression.id(name).filter(|l| expression.loops.contains(l) && *l != scan.along);
            Some(l.ok_or_else(|| format!("`{name}` is no other loop over points"))?)
        }
    };
    Ok(RunningScan { expression: own, scan, across, running: running.clone() })
}
