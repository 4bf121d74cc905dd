//! In which loops an expression is computed: directives, their text form, and what they mean for an expression.
//!
//! ```text
//! split i0 by 8          // i0 becomes i0.o and, inside of it, i0.i, which runs 8 times
//! order i1 i0.o i0.i     // all loops over the points, or all of a reduction, outermost first
//! parallel i1 task       // its iterations run at the same time, by agents of a level
//! vectorise i0.i         // its iterations are the lanes of vectors
//! unroll k0              // its iterations are written out, so that what they have in common is computed once
//! jam i1.i               // its iterations run in step: reductions inside run once, for all of them
//! peel i0.o              // its iterations in which all guards hold are a loop by themselves, without these guards
//! triangular k0          // a loop ends where a mask or a guard makes the rest the same, which depends on other loops
//! partial k0.o by 128    // so many iterations of a sum's loop are a block, which begins anew and is added to what is so far (blocks of
//!                        // blocks: `by 4096 128`); without `by` the loop itself begins anew for each iteration around it
//! fma k0                 // the products that a reduction sums are added without being rounded
//! pack v1 at i0.o        // what the loops inside read of a tensor is copied when an iteration begins
//! accumulate k0.o at i0.o // the loops of a reduction down to this one run when an iteration of the other begins, outside
//!                        // of the loops inside of it: what is joined so far is in memory
//! keep k0 at i1          // the terms of a reduction, which results along a loop need again, are stored and loaded
//! keys k0                // the floats of which a reduction wants the largest or smallest are compared as integers
//! inverse i1             // quotients by what does not depend on a loop are products with the inverse
//! nontemporal            // results go past the caches: they would fetch lines that are stored as a whole
//! prefetch v0 by 2048    // the elements of a tensor so far behind those that are loaded in lanes are prefetched, line by line;
//!                        // `in k0`: those that the reduction over a loop loads; `soon`: into the second cache; `along i0 by 8`:
//!                        // the lines that indices choose so many iterations of a loop later
//! ```
//!
//! `contract i0 i1 k0 tile 64 128 32 thread 8 4` is a schedule by itself, for a sum of products: of the loops over its
//! rows, its columns and its terms a block takes tiles of so many into shared memory, and a thread computes 8 rows and, as
//! often as there are 32 · 4 columns, 4 columns that lie next to each other. With `grid 8 4 across 8` in the place of
//! `thread 8 4` eight threads of a warp stand along the columns and four along the rows, and tiles are copied in the background
//! where they can be; with `warp 32` the matrix units of each warp sum 32 rows; with `group` those of four warps 64 rows
//! together (`wgmma`), and with `group tma` another warp has boxes of both values copied for them.
//!
//! `contract i0 i1 k0 tile 32 32 by tiles task 256 128 each 1` is the same for the matrix unit of a CPU: registers for tiles (AMX),
//! or, with `by dots`, instructions that sum products of neighbours. A task copies 128 columns into panels, then 32 rows at
//! once of its 256, and sums tiles of 32 rows and columns.
//!
//! `transpose i1 i0 tile 32 32 warps 8` is one for points without reductions: results lie along `i1`, and what is loaded
//! along `i0` goes through a tile of so many of both in shared memory, so that loads and stores are coalesced.
//!
//! `transpose i1 i0 tile 16 8 task 32 128 group 4 each 1` is the same on a CPU, in registers: a task has pieces of 32 tiles along
//! `i0` and 128 along `i1`, so many `each`, and of a piece 4 tiles along `i1` come before the next ones along `i0`. With `staged`
//! the results of such a group meet in memory of the task and leave it in whole lines; with `ahead` what the next group loads is
//! prefetched meanwhile; with `past` results go past the caches.
//!
//! `scan i0 threads 256 each 4` is one for scans: the threads of a block share a line along `i0`, of which each has so many
//! neighbours. With `across i1` threads are neighbours along `i1` instead, and each runs through lines of its own. `scan i0 lanes 16
//! lines 128 block 32 keys` is one for a CPU: a task has 128 lines, whose vectors of 16 lanes are scanned one after the other, in
//! blocks of 32 vectors that begin anew, and floats are compared as integers; with `across i1` lanes are neighbours along `i1`.
//!
//! `range i0` makes a kernel of a range: it has two sizes, between which the iterations of its outermost loop are that it runs, one
//! after the other.
//!
//! Threads and warps share loops over the points, and reductions: every loop that is `parallel … thread` is shared by the
//! same threads, every loop that is `parallel … warp` by the same warps of a block. They stand directly inside of the
//! blocks and run all other loops each. Several loops over the points may be `parallel … thread`, where one has few
//! iterations: a thread has one iteration of each, and neighbours differ in the innermost one. Several of the outermost loops
//! may be `parallel … task`: a task has one iteration of each.
//!
//! Without directives the loops run one after the other, in the order of the expression.

use super::contraction::units::{self, UnitProduct};
use super::contraction::{Contraction, Tiles, UnitTiles, fit};
use super::expression::Expression;
use super::fault::Fault;
use super::running::{self, Running, RunningScan};
use super::transpose::{self, Transpose, TransposeTile};
use crate::expression::address::LoopId;
use crate::expression::dag::{Node, NodeId};
use std::collections::HashMap;
use std::fmt;
use surject_kernel::Level;

mod accumulate;
mod by_parts;
mod check;
mod describe;
mod keep;
mod pack;
pub(crate) mod partial;
mod place;
mod prefetch;
mod text;
mod triangle;
mod values;
pub(crate) use accumulate::{Accumulation, Sums};
pub use by_parts::PartLoop;
pub(crate) use check::Nest;
use check::{Sharing, Unfit, check};
pub(crate) use keep::Kept;
pub(crate) use pack::{Panel, PanelLoop};
use place::Misfit;
pub use place::{ScheduleError, Span};
pub use prefetch::Ahead;
pub(crate) use prefetch::Prefetched;
pub use text::Schedules;
pub(crate) use triangle::{TailTerms, Triangle, Unmarked, is_zero};
pub(crate) use values::Values;
use values::{kept, values};

/// A directive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directive {
    /// A loop becomes two: that over blocks, and that inside of a block, which runs so many times.
    Split(String, i64),
    /// The order of all loops over the points, or of all loops of a reduction.
    Order(Vec<String>),
    /// The iterations run at the same time.
    Parallel(String, Level),
    /// The iterations are those from one size of the kernel on to the other.
    Range(String),
    /// The iterations are lanes.
    Vectorise(String),
    /// The iterations are written out.
    Unroll(String),
    /// The iterations run in step: reductions inside of them run once.
    Jam(String),
    /// The iterations in which all guards hold are a loop by themselves, without these guards.
    Peel(String),
    /// What lies in a tail of the loop is left out: it has triangular bounds.
    Triangular(String),
    /// A loop of a sum of floats in blocks, each of which begins anew; those of a loop over blocks of sums in memory
    /// ([`Directive::Accumulate`]) have memory of their own.
    Partial {
        /// The loop.
        name: String,
        /// So many of its iterations are a block, the largest first; without any the loop as a whole is one.
        blocks: Vec<i64>,
    },
    /// The products that the reductions over this loop sum are added without being rounded.
    Fma(String),
    /// What the loops inside of one read of a tensor, or need of a factor of products, is copied or computed when an iteration
    /// of it begins.
    Pack {
        /// The name of the tensor, or `left` or `right`.
        tensor: String,
        /// The loop.
        at: String,
    },
    /// The reductions over a loop take their terms in blocks, whose loops run outside of those inside of a loop over points.
    Accumulate {
        /// The innermost of the loops over blocks.
        blocks: String,
        /// The loop over points.
        at: String,
    },
    /// The terms of a reduction, which results need again, are stored and loaded.
    Keep {
        /// The loop of the reduction.
        reduced: String,
        /// The loop over points along which results need them.
        at: String,
    },
    /// The floats of which the reductions over this loop want the largest or the smallest are compared as integers.
    Keys(String),
    /// Quotients by what does not depend on this loop are products with the inverse, which all of its iterations share.
    Inverse(String),
    /// Results go past the caches, in whole lines.
    NonTemporal,
    /// What is computed from the sums of iterations that run in step is computed in a loop over them.
    SerialEpilogue,
    /// Elements that lie further on than those that are loaded are prefetched.
    Prefetch(Ahead),
    /// A sum of products by tiles. It is the whole schedule.
    Contract(Tiles),
    /// The same by the matrix unit of a CPU.
    Multiply(UnitTiles),
    /// Points whose loads go through a tile in shared memory. It is the whole schedule.
    Transpose(TransposeTile),
    /// A scan whose lines run in order. It is the whole schedule.
    Scan(Running),
}

/// How an expression is computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The directives, in order.
    pub directives: Vec<Directive>,
}

impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Directive::Split(name, by) => write!(f, "split {name} by {by}"),
            Directive::Order(names) => write!(f, "order {}", names.join(" ")),
            Directive::Parallel(name, level) => write!(f, "parallel {name} {level}"),
            Directive::Range(name) => write!(f, "range {name}"),
            Directive::Vectorise(name) => write!(f, "vectorise {name}"),
            Directive::Unroll(name) => write!(f, "unroll {name}"),
            Directive::Jam(name) => write!(f, "jam {name}"),
            Directive::Peel(name) => write!(f, "peel {name}"),
            Directive::Triangular(name) => write!(f, "triangular {name}"),
            Directive::Partial { name, blocks } if blocks.is_empty() => write!(f, "partial {name}"),
            Directive::Partial { name, blocks } => {
                let blocks: Vec<String> = blocks.iter().map(i64::to_string).collect();
                write!(f, "partial {name} by {}", blocks.join(" "))
            }
            Directive::Fma(name) => write!(f, "fma {name}"),
            Directive::Pack { tensor, at } => write!(f, "pack {tensor} at {at}"),
            Directive::Accumulate { blocks, at } => write!(f, "accumulate {blocks} at {at}"),
            Directive::Keep { reduced, at } => write!(f, "keep {reduced} at {at}"),
            Directive::Keys(name) => write!(f, "keys {name}"),
            Directive::Inverse(name) => write!(f, "inverse {name}"),
            Directive::NonTemporal => write!(f, "nontemporal"),
            Directive::SerialEpilogue => write!(f, "epilogue serial"),
            Directive::Prefetch(ahead) => write!(f, "{ahead}"),
            Directive::Contract(tiles) => write!(f, "{tiles}"),
            Directive::Multiply(tiles) => write!(f, "{tiles}"),
            Directive::Transpose(tile) => write!(f, "{tile}"),
            Directive::Scan(running) => write!(f, "{running}"),
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.directives.iter().try_for_each(|directive| writeln!(f, "{directive}"))
    }
}

impl Schedule {
    /// Does it fit an expression? An error says what does not.
    pub fn check(&self, expression: &Expression) -> Result<(), ScheduleError> {
        resolve(expression, self).map(|_| ())
    }

    /// The error of a directive in the schedule as it prints.
    pub(crate) fn error(&self, directive: usize, fault: Fault) -> ScheduleError {
        fault.at(directive).in_directives(&self.directives)
    }
}

/// What a loop of a schedule becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AxisKind {
    Serial,
    Unrolled,
    Jammed,
    Parallel(Level),
    Ranged,
    Lanes,
}

/// A loop of a schedule: a loop of the expression, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    pub(crate) name: String,
    pub(crate) of: LoopId,
    pub(crate) extent: i64,
    /// How far one step goes in the loop of the expression.
    pub(crate) factor: i64,
    pub(crate) kind: AxisKind,
}

/// A schedule that fits its expression.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    /// The loops over the points, outermost first.
    pub(crate) points: Vec<Axis>,
    /// Those of each reduction.
    pub(crate) reductions: HashMap<NodeId, Vec<Axis>>,
    /// The loops whose last block is not whole.
    pub(crate) cut: Vec<LoopId>,
    /// How many threads share the loops over threads, if there are any.
    pub(crate) threads: Option<i64>,
    /// How many warps share the loops over warps.
    pub(crate) warps: Option<i64>,
    /// The tiles of a sum of products, which has no other loops then.
    pub(crate) contraction: Option<Contraction>,
    /// The same by the matrix unit of a CPU.
    pub(crate) multiply: Option<UnitProduct>,
    /// The tile of a transposition, which has no other loops either.
    pub(crate) transpose: Option<Transpose>,
    /// The scan, which has none either.
    pub(crate) scan: Option<RunningScan>,
    /// How values are computed and where they are.
    pub(crate) values: Values,
}

impl Resolved {
    /// A form with loops of its own, some of which are not cut into whole tiles.
    pub(crate) fn form(cut: Vec<LoopId>) -> Resolved {
        let (points, reductions) = (Vec::new(), HashMap::new());
        Resolved {
            points,
            reductions,
            cut,
            threads: None,
            warps: None,
            contraction: None,
            multiply: None,
            transpose: None,
            scan: None,
            values: Values::default(),
        }
    }
}

/// The most threads of a block.
const BLOCK: i64 = 1024;

/// The most lanes of a vector.
const MAX_LANES: i64 = 64;

/// The most iterations of loops over points that run in step.
const MAX_JAMMED: i64 = 64;

/// Does a schedule fit an expression? The error says why it does not.
pub fn fits(expression: &Expression, schedule: &Schedule) -> Result<(), ScheduleError> {
    resolve(expression, schedule).map(drop)
}

/// Checks a schedule against an expression.
pub(crate) fn resolve(expression: &Expression, schedule: &Schedule) -> Result<Resolved, ScheduleError> {
    resolved(expression, schedule).map_err(|misfit| misfit.in_directives(&schedule.directives))
}

fn resolved(expression: &Expression, schedule: &Schedule) -> Result<Resolved, Misfit> {
    let kept = kept(expression, schedule)?;
    let expression = kept.as_ref().map_or(expression, |kept| &kept.expression);
    let axes = |loops: &[LoopId]| -> Vec<Axis> {
        let axis = |&of: &LoopId| Axis {
            name: expression.name(of),
            of,
            extent: expression.dag.extent(of),
            factor: 1,
            kind: AxisKind::Serial,
        };
        loops.iter().map(axis).collect()
    };
    let is_form = |d: &Directive| {
        use Directive::{Contract, Multiply, Scan, Transpose};
        matches!(d, Contract(_) | Multiply(_) | Transpose(_) | Scan(_))
    };
    if let Some(i) = schedule.directives.iter().position(is_form) {
        let fault = |fault: Fault| fault.at(i);
        return match &schedule.directives[..] {
            [Directive::Contract(tiles)] => {
                let contraction = fit(expression, tiles).map_err(fault)?;
                let cut = contraction.cut(expression);
                Ok(Resolved { contraction: Some(contraction), ..Resolved::form(cut) })
            }
            [Directive::Multiply(tiles)] => {
                let multiply = units::fit(expression, tiles).map_err(fault)?;
                let cut = multiply.cut(expression);
                Ok(Resolved { multiply: Some(multiply), ..Resolved::form(cut) })
            }
            [Directive::Transpose(tile)] => {
                let transpose = transpose::fit(expression, tile).map_err(fault)?;
                let cut = transpose.cut(expression);
                Ok(Resolved { transpose: Some(transpose), ..Resolved::form(cut) })
            }
            [Directive::Scan(running)] => {
                let scan = running::fit(expression, running).map_err(fault)?;
                let cut = scan.cut();
                Ok(Resolved { scan: Some(scan), ..Resolved::form(cut) })
            }
            _ => Err(fault("`contract`, `transpose` and `scan` are whole schedules".into())),
        };
    }
    // The first nest is that of the points.
    let mut nests: Vec<Nest> = vec![(None, axes(&expression.loops))];
    for n in expression.nodes() {
        if let Node::Reduce { loops, .. } = &expression.dag[n].node {
            nests.push((Some(n), axes(loops)));
        }
    }
    let mut cut = Vec::new();
    for (i, directive) in schedule.directives.iter().enumerate() {
        apply(expression, directive, &mut nests, &mut cut).map_err(|fault| fault.at(i))?;
    }
    let sharing = check(expression, &nests).map_err(|Unfit { name, message }| {
        let says = |d: &Directive| match d {
            Directive::Parallel(n, _)
            | Directive::Range(n)
            | Directive::Vectorise(n)
            | Directive::Unroll(n)
            | Directive::Jam(n) => *n == name,
            _ => false,
        };
        let directive = schedule.directives.iter().rposition(says);
        Misfit { directive, fault: Fault::of(&name, message) }
    })?;
    let mut values = values(expression, schedule, (&nests, &cut))?;
    if let Some(kept) = &kept {
        let of = schedule.directives.iter().position(|d| matches!(d, Directive::Keep { .. }));
        kept.check(&nests[0]).map_err(|fault| Misfit { directive: of, fault })?;
    }
    values.kept = kept;
    let points = std::mem::take(&mut nests[0].1);
    let reductions = nests.into_iter().filter_map(|(n, axes)| Some((n?, axes))).collect();
    let Sharing { threads, warps } = sharing;
    Ok(Resolved { points, reductions, threads, warps, values, ..Resolved::form(cut) })
}

/// How often all loops of a nest run at most where splits make some longer. Sizes and addresses are far from 64 bits then.
const MOST: i64 = 1 << 40;

/// Changes a nest, at the place of a loop.
type Change<'a> = &'a mut dyn FnMut(&mut Vec<Axis>, usize) -> Result<(), Fault>;

fn apply(
    expression: &Expression,
    directive: &Directive,
    nests: &mut [Nest],
    cut: &mut Vec<LoopId>,
) -> Result<(), Fault> {
    let names = |nests: &[Nest]| -> String {
        let mut all: Vec<&str> = Vec::new();
        for axis in nests.iter().flat_map(|n| &n.1) {
            // A loop may be one of several reductions.
            if !all.contains(&axis.name.as_str()) {
                all.push(&axis.name);
            }
        }
        all.join(", ")
    };
    let unknown = |name: &str, nests: &[Nest]| {
        Fault::of(name, format!("there is no loop `{name}` here; there are {}", names(nests)))
    };
    // A loop of a reduction may be one of several reductions: all of them are meant.
    let mut each = |name: &str, f: Change<'_>| {
        let mut found = false;
        for (_, axes) in nests.iter_mut() {
            if let Some(at) = axes.iter().position(|a| a.name == name) {
                found = true;
                f(axes, at)?;
            }
        }
        if found { Ok(()) } else { Err(unknown(name, nests)) }
    };
    match directive {
        Directive::Split(name, by) => each(name, &mut |axes, at| split(expression, axes, at, *by, cut)),
        Directive::Order(order) => {
            let first = order.first().map_or("", String::as_str);
            each(first, &mut |axes, _| put_in_order(axes, order))
        }
        Directive::Parallel(name, level) => {
            each(name, &mut |axes, at| become_kind(axes, at, AxisKind::Parallel(*level)))
        }
        Directive::Range(name) => each(name, &mut |axes, at| become_kind(axes, at, AxisKind::Ranged)),
        Directive::Vectorise(name) => each(name, &mut |axes, at| become_kind(axes, at, AxisKind::Lanes)),
        Directive::Unroll(name) => each(name, &mut |axes, at| become_kind(axes, at, AxisKind::Unrolled)),
        Directive::Jam(name) => each(name, &mut |axes, at| become_kind(axes, at, AxisKind::Jammed)),
        Directive::Peel(_)
        | Directive::Triangular(_)
        | Directive::Partial { .. }
        | Directive::Fma(_)
        | Directive::Pack { .. }
        | Directive::Accumulate { .. }
        | Directive::Keep { .. }
        | Directive::Keys(_)
        | Directive::Inverse(_)
        | Directive::NonTemporal
        | Directive::SerialEpilogue
        | Directive::Prefetch(_) => Ok(()),
        Directive::Contract(_) | Directive::Multiply(_) | Directive::Transpose(_) | Directive::Scan(_) => {
            Err("this is a whole schedule".into())
        }
    }
}

/// Makes two loops of one, the inner of which runs so many times; a last part that is not whole is cut off, where the loop is
/// one of the expression.
fn split(
    expression: &Expression,
    axes: &mut Vec<Axis>,
    at: usize,
    by: i64,
    cut: &mut Vec<LoopId>,
) -> Result<(), Fault> {
    let axis = axes[at].clone();
    let name = &axis.name;
    if axis.kind != AxisKind::Serial {
        return Err(Fault::of(
            name,
            format!("`{name}` is split before it is vectorised, unrolled or made parallel"),
        ));
    }
    if axis.extent % by != 0 {
        // Of other loops the last part would lie in the middle.
        let covers =
            axis.factor.checked_mul(axis.extent).is_some_and(|n| n >= expression.dag.extent(axis.of));
        if !covers {
            return Err(Fault::of(
                name,
                format!("`{name}` runs {} times, which {by} does not divide", axis.extent),
            ));
        }
        if !cut.contains(&axis.of) {
            cut.push(axis.of);
        }
    }
    let times = axis.extent / by + i64::from(axis.extent % by != 0);
    let others = axes.iter().enumerate().filter(|&(i, _)| i != at).map(|(_, a)| a.extent.max(1));
    let all = others.chain([times.max(1), by]).try_fold(1i64, i64::checked_mul);
    if axis.extent % by != 0 && all.is_none_or(|all| all > MOST) {
        return Err(Fault::of(
            name,
            format!("the loop `{name}` runs {} times; {by} are too many for it", axis.extent),
        ));
    }
    let factor = axis.factor * by;
    let outer = Axis { name: format!("{name}.o"), extent: times, factor, ..axis.clone() };
    let inner = Axis { name: format!("{name}.i"), extent: by, ..axis };
    axes.splice(at..=at, [outer, inner]);
    Ok(())
}

/// Puts the loops of a nest in an order.
fn put_in_order(axes: &mut Vec<Axis>, order: &[String]) -> Result<(), Fault> {
    let mut sorted = Vec::new();
    for name in order {
        match axes.iter().find(|a| a.name == *name) {
            Some(axis) if !sorted.iter().any(|s: &Axis| s.name == *name) => sorted.push(axis.clone()),
            Some(_) => return Err(Fault::of(name, format!("`{name}` stands twice in this order"))),
            None => {
                return Err(Fault::of(
                    name,
                    format!("`{name}` is no loop of the same nest as `{}`", order[0]),
                ));
            }
        }
    }
    match axes.iter().find(|a| !order.contains(&a.name)) {
        Some(missing) => Err(Fault::of(&missing.name, format!("the order lacks `{}`", missing.name))),
        None => {
            *axes = sorted;
            Ok(())
        }
    }
}

fn become_kind(axes: &mut [Axis], at: usize, kind: AxisKind) -> Result<(), Fault> {
    let axis = &mut axes[at];
    let already = match axis.kind {
        AxisKind::Serial => None,
        AxisKind::Unrolled => Some("unrolled"),
        AxisKind::Jammed => Some("jammed"),
        AxisKind::Parallel(_) => Some("parallel"),
        AxisKind::Ranged => Some("that of a range"),
        AxisKind::Lanes => Some("vectorised"),
    };
    if let Some(already) = already {
        return Err(Fault::of(&axis.name, format!("`{}` is {already} already", axis.name)));
    }
    axis.kind = kind;
    Ok(())
}
