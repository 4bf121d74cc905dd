//! Scans whose lines run in order: every result takes one step from the one before it.
//!
//! Where results lie next to each other along another loop, threads are neighbours there, and each runs through lines of
//! its own. Else the threads of a block share a line: each scans a few neighbours, threads join theirs in the order of the line, by exchanges
//! inside of a warp and through shared memory between warps, and join what comes before to their own.
//!
//! On a CPU lanes take the place of threads: they are neighbours along another loop, or else each vector of a line is scanned
//! in registers, and joined to what comes before it. Long sums of floats are made in blocks of so many steps, which keeps their
//! error small: each begins anew, and what came before it is added to all of its results.

use super::contraction::WARP;
use super::expression::Expression;
use super::expression::joined_in;
use super::fault::Fault;
use super::scan::only_scan;
use crate::expression::address::LoopId;
use crate::expression::dag::NodeId;
use crate::expression::partial_sums;
use crate::schedule::scan::Scan;
use std::fmt;
use surject_ir::AccOp;

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
    Lanes(LineScan),
}

/// How the lines of tasks are scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineScan {
    /// The lanes of a vector.
    pub lanes: i64,
    /// The lines of a task, or as many vectors across lines; the last task may have fewer.
    pub lines: i64,
    /// The steps of a block of a line, if it has several: elements, or vectors of a line in lanes.
    pub block: Option<i64>,
    /// Are floats compared as integers?
    pub keys: bool,
}

/// What is scanned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scanned {
    /// The loop along a line.
    pub along: String,
    /// How often it runs.
    pub length: i64,
    /// The bytes of the widest value that is computed with, of the line and of the results.
    pub bytes: usize,
    /// How many values are computed with for a result.
    pub values: usize,
    /// Is it a sum of floats, whose error grows along a line?
    pub sums_floats: bool,
    /// Is it the largest or the smallest float?
    pub compares_floats: bool,
}

impl Scanned {
    /// The steps of a block that keep the error of so many small, where they are worth blocks.
    pub fn block(&self, steps: i64) -> Option<i64> {
        /// Fewer steps are no block.
        const LEAST: i64 = 32;
        partial_sums::halfway(steps, LEAST).filter(|_| self.sums_floats)
    }
}

impl fmt::Display for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "scan {}", self.along)?;
        if let Some(across) = &self.across {
            write!(f, " across {across}")?;
        }
        match self.by {
            Scanners::Threads { threads, each } => write!(f, " threads {threads} each {each}"),
            Scanners::Lanes(LineScan { lanes, lines, block, keys }) => {
                write!(f, " lanes {lanes} lines {lines}")?;
                block.map_or(Ok(()), |block| write!(f, " block {block}"))?;
                if keys { write!(f, " keys") } else { Ok(()) }
            }
        }
    }
}

impl Running {
    const FORM: &str =
        "a scan is `scan ALONG [across ACROSS] threads N each N` or `… lanes N lines N [block N] [keys]`";

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
            ["lanes", lanes, "lines", lines, rest @ ..] => {
                let (lanes, lines) = (number(lanes)?, number(lines)?);
                let (block, rest) = match rest {
                    ["block", block, rest @ ..] => (Some(number(block)?), rest),
                    _ => (None, rest),
                };
                let keys = match rest {
                    [] => false,
                    ["keys"] => true,
                    _ => return Err(Self::FORM.into()),
                };
                Scanners::Lanes(LineScan { lanes, lines, block, keys })
            }
            _ => return Err(Self::FORM.into()),
        };
        Ok(Running { along: along.to_string(), across, by })
    }
}

/// The most lanes of a vector.
const MAX_LANES: i64 = 256;

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
            Scanners::Lanes(LineScan { lanes, .. }) => lanes,
        };
        if self.expression.dag.extent(shared) % whole == 0 { Vec::new() } else { vec![shared] }
    }
}

impl Expression {
    /// The scan of the expression, if that is all that it reduces.
    pub fn scanned(&self) -> Option<Scanned> {
        let mut dag = self.dag.clone();
        let scan = only_scan(self, &mut dag)?.0;
        let dtype = dag[scan.node].dtype;
        let roots: Vec<NodeId> = self.outputs.iter().map(|o| o.root).chain([scan.step]).collect();
        let sizes = self.outputs.iter().map(|o| dag[o.root].dtype).chain([dtype]);
        Some(Scanned {
            along: self.name(scan.along),
            length: dag.extent(scan.along),
            bytes: sizes.map(|dtype| joined_in(dtype, scan.op).size()).max().unwrap_or(1),
            values: dag.all_reachable(&roots).len(),
            sums_floats: partial_sums::round(scan.op, dtype),
            compares_floats: dtype.is_float() && matches!(scan.op, AccOp::Max | AccOp::Min),
        })
    }
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
        Scanners::Lanes(LineScan { lanes, lines, block, keys }) => {
            if !(1..=MAX_LANES).contains(&lanes) || across.is_none() && !(lanes as u64).is_power_of_two() {
                return Err(format!(
                    "a vector has 1 to {MAX_LANES} lanes, along a line a power of two of them, not {lanes}"
                )
                .into());
            }
            if lines < 1 || block.is_some_and(|block| block < 1) {
                return Err("a task has one line or more, and a block one step or more".into());
            }
            let dtype = own.dag[scan.node].dtype;
            if keys && !(dtype.is_float() && matches!(scan.op, AccOp::Max | AccOp::Min)) {
                return Err(Fault::of("keys", "it wants no largest or smallest float"));
            }
        }
    }
    Ok(RunningScan { expression: own, scan, across, running: running.clone() })
}
