//! The strategies of a CPU.

use crate::Cpu;
use surject_codegen::kernels::expression::{
    ANYWHERE, AccessInfo, Expression, LoopInfo, Reduction, Registers, Stride,
};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::schedule::{Ahead, Directive, Schedule, fits};
use surject_kernel::Level;

mod blocks;
mod columns;
pub(crate) mod dots;
mod down;
mod forms;
pub(crate) mod non_temporal;
pub(crate) mod ranges;
mod streams;
mod tiles;
mod transposes;
mod units;
mod windows;

pub use blocks::Blocks;
pub use columns::Columns;
pub use dots::Dots;
pub use down::Down;
pub use forms::Scans;
pub use ranges::Ranges;
pub use streams::Streams;
use tiles::PAGE;
pub use tiles::Tiles;
pub(crate) use tiles::is_far;
pub use transposes::Transposes;
pub use units::Units;
pub use windows::Windows;

/// A strided access of a vector costs as much as one of this many elements that lie next to each other.
const STRIDED: f64 = 2.0;

/// An operation on an element by itself, which may wait for the one before it, or be a formula of many: it costs as much as
/// so many of those that have lanes.
const SCALAR: f64 = 4.0;

/// Operations that join half of the lanes of a vector to the other half: each waits for the one before it.
const JOIN: f64 = 2.0;

/// The most lanes that choose an element each.
const ONE_BY_ONE: i64 = 8;

/// Vectors of results that are worth an inverse which they share.
const SHARED: i64 = 8;

/// How well a loop can be done in lanes: the accesses along it that are not next to each other.
fn strided(strides: &[Stride]) -> usize {
    strides.iter().filter(|s| s.elements != 1).count()
}

/// The cost of operations in so many lanes, of which some accesses are strided.
fn cost(operations: f64, lanes: i64, strided: usize, strides: usize) -> f64 {
    let share = strided as f64 / strides.max(1) as f64;
    operations / lanes as f64 * (1.0 + share * (STRIDED * lanes as f64 - 1.0))
}

/// The operations of an expression, and its loads and stores.
fn work(expression: &Expression) -> f64 {
    expression.operations() + expression.accesses().iter().map(|a| a.elements).sum::<f64>()
}

/// The elements of a vector along a loop of so many iterations: of several registers where few values leave room for them, as
/// then operations wait less for each other, but not where most of the last vector would be missing.
fn width(cpu: &Cpu, registers: Registers, extent: i64) -> i64 {
    let lanes = (cpu.vector_bytes / registers.bytes.max(2)).max(1) as i64;
    let is_narrow = cpu.vector_registers <= 16;
    let most = match registers.values {
        0..=8 => 4,
        9..=40 if is_narrow => 4,
        9..=40 => 2,
        _ if is_narrow => 2,
        _ => 1,
    };
    let work = |copies: i64| (extent + copies * lanes - 1) / (copies * lanes) * copies;
    let fits = |&copies: &i64| copies <= most && copies * lanes <= 64 && copies * lanes < extent + lanes;
    // A tenth more work is worth fewer iterations.
    let good = |&copies: &i64| 10 * work(copies) <= 11 * work(1);
    [4, 2].into_iter().filter(fits).find(good).unwrap_or(1) * lanes
}

/// The elements of a vector for a whole row, where rows are joined and the results of all columns fit registers: rows are read once,
/// in the order of memory, and not in pieces that share lines.
fn whole_row(cpu: &Cpu, expression: &Expression, row: &LoopInfo) -> Option<i64> {
    /// Fewer rows than these are not worth a vector that is not full.
    const ROWS: i64 = 64;
    /// The elements of the widest vector.
    const MOST: i64 = 64;
    let reductions = expression.reductions();
    let down: Vec<&Reduction> = reductions.iter().filter(|r| r.outer.contains(&row.name)).collect();
    let rows = |r: &&Reduction| {
        r.loops.iter().filter_map(|name| expression.find(name)).map(|l| l.extent).product::<i64>()
    };
    let is_beside = |a: &AccessInfo| !a.guarded && [0, 1].contains(&a.stride(&row.name));
    if down.is_empty()
        || expression.has_formulas()
        || !down.iter().all(|r| rows(r) >= ROWS)
        || !expression.accesses().iter().all(is_beside)
    {
        return None;
    }
    let lanes = (cpu.vector_bytes / expression.registers(&row.name).bytes.max(4)) as i64;
    let all = row.extent.unsigned_abs().next_power_of_two() as i64;
    let registers = parts(row.extent, lanes) * down.len() as i64;
    // Long terms need more registers besides.
    let few = if cpu.has_narrow_vectors() { 4 } else { 2 };
    let most = 3 * cpu.vector_registers / 16 * few;
    (1 < registers && registers <= most && all <= MOST && all > lanes).then_some(all)
}

/// The directives that add products to sums in one operation, where the CPU does that.
fn fused(cpu: &Cpu, expression: &Expression) -> Vec<Directive> {
    let with_fma = |r: &Reduction| cpu.has_fma && r.sums_products;
    of_reductions(expression, with_fma).into_iter().map(Directive::Fma).collect()
}

/// The first loop of each reduction of a kind, once.
fn of_reductions(expression: &Expression, is_of: impl Fn(&Reduction) -> bool) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for reduction in expression.reductions().iter().filter(|r| is_of(r)) {
        names.extend(reduction.loops.first().filter(|name| !names.contains(name)).cloned());
    }
    names
}

/// The directives that say how values are computed, where vectors of so many elements of a loop are inside of all others.
pub(crate) fn values(cpu: &Cpu, expression: &Expression, vector: Option<(&LoopInfo, i64)>) -> Vec<Directive> {
    let mut directives = fused(cpu, expression);
    let compares = |r: &Reduction| r.compares_floats && cpu.compares_as_integers(r.registers.bytes);
    directives.extend(of_reductions(expression, compares).into_iter().map(Directive::Keys));
    let innermost = expression.loops().pop();
    let shares = |(row, by): &(&LoopInfo, i64)| {
        row.extent >= SHARED * by
            && innermost.is_some_and(|l| l.name == row.name)
            && expression.divides_along(&row.name)
    };
    directives.extend(vector.filter(shares).map(|(row, _)| Directive::Inverse(row.name.clone())));
    let lines = |(row, by): (&LoopInfo, i64)| non_temporal::fills_lines(expression, &[&row.name], by);
    if vector.is_some_and(lines) && non_temporal::is_worth(cpu, expression) {
        directives.push(Directive::NonTemporal);
    }
    directives
}

/// Do indices choose what is accessed?
fn is_chosen(access: &AccessInfo) -> bool {
    access.strides.iter().any(|s| s.1 == ANYWHERE)
}

/// The directives that prefetch lines which indices choose from what is far away: nothing but the indices says where memory is read
/// next. A line is prefetched so early that a page is under way. On a Zen 4 lines of 64 bytes to 16 KiB take 0.4 to 0.8 of the time
/// that they take if the next 512 bytes are prefetched.
fn chosen_lines(cpu: &Cpu, expression: &Expression, row: &LoopInfo) -> Vec<Directive> {
    /// Bytes that are under way, the most lines of them, and iterations that are worth it.
    const PAGE: i64 = 4096;
    const LINES: i64 = 128;
    const LONG: i64 = 8;
    let loops = expression.loops();
    let accesses = expression.accesses();
    let lines = accesses.iter().filter(|a| !a.stored && is_chosen(a) && a.stride(&row.name) == 1);
    let far = lines.filter(|a| a.elements * a.bytes as f64 > cpu.second_cache as f64);
    let directive = far.filter_map(|a| {
        let turn = loops.iter().rev().find(|l| a.stride(&l.name) == ANYWHERE)?;
        let bytes = row.extent.saturating_mul(a.bytes as i64).max(1);
        let by = parts(PAGE, bytes).min(LINES);
        let tensor = a.tensor.to_string();
        let soon = bytes < non_temporal::LINE
            || a.elements * a.bytes as f64 * 2.0 > non_temporal::PAST * cpu.last_cache as f64;
        (turn.extent >= LONG * by).then(|| {
            Directive::Prefetch(Ahead { tensor, by, along: Some(turn.name.clone()), within: None, soon })
        })
    });
    let mut all: Vec<Directive> = directive.collect();
    all.dedup();
    all
}

/// How many parts of a size all are.
fn parts(all: i64, by: i64) -> i64 {
    all / by + i64::from(all % by != 0)
}

/// The size of parts of at most a size that are as large as each other.
fn even(all: i64, most: i64) -> i64 {
    parts(all, parts(all, most.max(1)))
}

/// The loops over the points of a schedule, in order, and what makes them.
struct Nest {
    /// Their names and how often they run, outermost first.
    loops: Vec<PointLoop>,
    directives: Vec<Directive>,
    /// The loops that run in step, and the one that is done in lanes.
    jammed: Vec<String>,
    lanes: Option<String>,
}

/// A loop over points, or a part of one.
#[derive(Clone)]
struct PointLoop {
    name: String,
    extent: i64,
    parallel: bool,
    /// Is it the outer loop of a split that does not divide?
    cut: bool,
}

impl Nest {
    fn new(loops: &[LoopInfo]) -> Nest {
        let point = |l: &LoopInfo| PointLoop {
            name: l.name.clone(),
            extent: l.extent,
            parallel: l.parallel,
            cut: false,
        };
        let loops = loops.iter().map(point).collect();
        Nest { loops, directives: Vec::new(), jammed: Vec::new(), lanes: None }
    }

    fn split(&mut self, at: usize, by: i64) {
        let PointLoop { name, extent, parallel, cut } = self.loops[at].clone();
        self.directives.push(Directive::Split(name.clone(), by));
        let part =
            |end: &str, extent, cut| PointLoop { name: format!("{name}.{end}"), extent, parallel, cut };
        self.loops[at] = part("o", (extent + by - 1) / by, cut || extent % by != 0);
        self.loops.insert(at + 1, part("i", by, cut));
    }

    /// The outermost loop.
    fn first(&self) -> &str {
        self.loops.first().map_or("", |l| &l.name)
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.loops.iter().position(|l| l.name == name)
    }

    /// The inner part of a loop that is split, else the loop.
    fn inner(&self, name: String) -> String {
        let inner = format!("{name}.i");
        if self.position(&inner).is_some() { inner } else { name }
    }

    /// Blocks of a loop stand where the loop stood, its lanes inside of everything.
    fn vectorise(&mut self, name: &str, by: i64) {
        if let Some(lanes) = self.innermost(name, by) {
            self.lanes = Some(lanes);
        }
    }

    /// Splits a loop; the inner part stands inside of all others but those that run in step and lanes.
    fn split_inside(&mut self, name: &str, by: i64) {
        let Some(at) = self.position(name) else { return };
        self.split(at, by);
        let inner = self.loops.remove(at + 1);
        let in_step = |l: &PointLoop| self.jammed.contains(&l.name) || self.lanes.as_ref() == Some(&l.name);
        let to = self.loops.iter().position(in_step).unwrap_or(self.loops.len());
        self.loops.insert(to, inner);
    }

    /// So many iterations of a loop run in step.
    fn jam(&mut self, name: &str, by: i64) {
        if let Some(inner) = self.innermost(name, by) {
            self.jammed.push(inner);
        }
    }

    /// All iterations of a loop run in step.
    fn jam_all(&mut self, name: &str) {
        if let Some(at) = self.position(name) {
            let inner = self.loops.remove(at);
            self.jammed.push(inner.name.clone());
            self.loops.push(inner);
        }
    }

    /// Splits a loop; both parts stand where it stood.
    fn split_where_it_stands(&mut self, name: &str, by: i64) {
        if let Some(at) = self.position(name) {
            self.split(at, by);
        }
    }

    /// A loop stands directly inside of another, outside of which it stood.
    fn move_inside(&mut self, name: &str, outer: &str) {
        if let (Some(at), Some(to)) = (self.position(name), self.position(outer)) {
            let moved = self.loops.remove(at);
            self.loops.insert(to, moved);
        }
    }

    /// The iterations of these loops are tasks.
    fn share_loops<'a>(&mut self, names: impl Iterator<Item = &'a String>) {
        self.directives.extend(names.map(|name| Directive::Parallel(name.clone(), Level::Task)));
    }

    /// Splits a loop; the inner part stands inside of everything.
    fn innermost(&mut self, name: &str, by: i64) -> Option<String> {
        let at = self.position(name)?;
        self.split(at, by);
        let inner = self.loops.remove(at + 1);
        self.loops.push(inner.clone());
        Some(inner.name)
    }

    /// Tasks share the outermost loop, if its iterations are independent and there is enough to do for several: each
    /// gets some iterations one after the other. Where it has too few of them, a loop further inside is shared, and stands
    /// outside of all. `operations` are those of all iterations.
    fn share(&mut self, cpu: &Cpu, operations: f64) {
        self.share_beside(cpu, operations, &|_| 0.0, &|_| 0.0);
    }

    /// The same, where each task that has some iterations of a loop does a part of all work by itself: `own` says which. Where
    /// it takes longer if a loop is the one that is shared, `longer` says by which part.
    fn share_beside(
        &mut self,
        cpu: &Cpu,
        operations: f64,
        own: &dyn Fn(&str) -> f64,
        longer: &dyn Fn(&str) -> f64,
    ) {
        /// The fewest operations of a task, where that shares the loop better.
        const LEAST: f64 = 4096.0;
        /// More tasks of a thread than these share nothing better.
        const MOST: i64 = 8;
        /// How much longer a loop may take whose last task has less to do than others, or whose tasks are smaller than needed.
        const CUT: f64 = 0.02;
        /// The same of blocks of rows in step, of which the last task has fewer, and of the next loop inside.
        const FEWER: f64 = 0.05;
        const INSIDE: f64 = 0.15;
        /// The part of the time of a task that threads wait in the end: one may be held up.
        const WAIT: f64 = 0.05;
        /// The part of the time that one thread may fill panels again.
        const REFILLED: f64 = 0.03;
        if cpu.task_operations.is_infinite() {
            return;
        }
        let threads = cpu.threads as i64;
        let inside = |l: &PointLoop| Some(&l.name) == self.lanes.as_ref() || self.jammed.contains(&l.name);
        let candidates = self.loops.iter().take_while(|l| l.parallel && !inside(l));
        let over = |n: i64, by: i64| (n + by - 1) / by;
        let chunk = |l: &PointLoop| {
            let of_one = (operations / l.extent.max(1) as f64).max(1.0);
            let needed =
                (cpu.task_operations / of_one).ceil().max(over(l.extent, MOST * threads) as f64) as i64;
            let enough = operations >= 2.0 * cpu.task_operations;
            let least = ((LEAST / of_one).ceil() as i64).max(over(needed, 4));
            let least = if enough { least.min(needed) } else { needed }.max(1);
            let whole = l.name.contains('.') && !self.jammed.is_empty();
            let most = (l.extent / least).min(4 * MOST * threads);
            let chunks = (2..=most).rev().map(|tasks| over(l.extent, tasks));
            let fitting = chunks.filter(|chunk| l.extent % chunk == 0 || *chunk >= needed);
            // What the thread with the most tasks does, as a share of what it would do if all did as much.
            let longest = |chunk: i64| {
                let turns = over(over(l.extent, chunk), threads);
                (turns * chunk * threads) as f64 / l.extent as f64
            };
            let cost = |&chunk: &i64| {
                let (cut, small) = (l.extent % chunk != 0, chunk < needed);
                let fewer = if cut && whole { FEWER } else { 0.0 };
                let tasks = over(l.extent, chunk) as f64;
                let wait = if small { WAIT } else { WAIT * threads as f64 / tasks };
                let more = (tasks - 1.0) * own(&l.name) + wait;
                longest(chunk) + CUT * f64::from(cut as u8 + small as u8) + fewer + more
            };
            let best = fitting.map(|chunk| (chunk, cost(&chunk)));
            best.min_by(|a, b| a.1.total_cmp(&b.1))
        };
        // Nothing is better than all threads at work until the end.
        let found = candidates.enumerate().filter_map(|(at, l)| Some((at, chunk(l)?)));
        let cost =
            |&(at, (_, cost)): &(usize, (i64, f64))| cost + INSIDE * at as f64 + longer(&self.loops[at].name);
        let found = found.min_by(|a, b| cost(a).total_cmp(&cost(b)));
        let Some((at, (chunk, _))) = found else { return };
        let PointLoop { name, extent, .. } = &self.loops[at];
        // One thread gains nothing by it.
        if threads == 1 && (over(*extent, chunk) - 1) as f64 * own(name) > REFILLED {
            return;
        }
        let mut shared = self.loops[at].name.clone();
        if chunk > 1 || self.loops[at].cut {
            self.split(at, chunk);
            shared = format!("{shared}.o");
        }
        let outermost = self.loops.remove(at);
        self.loops.insert(0, outermost);
        self.directives.push(Directive::Parallel(shared, Level::Task));
    }

    /// Tasks share all loops from the outermost on to one of this name, where their iterations are independent.
    fn share_all(&mut self, cpu: &Cpu, last: &str) {
        if cpu.task_operations.is_infinite() {
            return;
        }
        let outer = self.position(last).map_or(0, |at| at + 1);
        let names: Vec<String> =
            self.loops[..outer].iter().take_while(|l| l.parallel).map(|l| l.name.clone()).collect();
        for (number, name) in names.into_iter().enumerate() {
            let Some(at) = self.position(&name) else { continue };
            // What is left of a loop that is cut is done by itself, inside of a task.
            if self.loops[at].cut {
                self.split(at, 1);
            }
            let shared = self.loops.remove(at);
            self.directives.push(Directive::Parallel(shared.name.clone(), Level::Task));
            self.loops.insert(number, shared);
        }
    }

    /// The directives; the order of the loops stands before what is said of them.
    fn directives(self) -> Vec<Directive> {
        let is_split = |d: &Directive| matches!(d, Directive::Split(..));
        let (mut all, rest): (Vec<_>, Vec<_>) = self.directives.into_iter().partition(is_split);
        let shared = rest.iter().any(|d| matches!(d, Directive::Parallel(..)));
        if !all.is_empty() || shared {
            all.push(Directive::Order(self.loops.into_iter().map(|l| l.name).collect()));
        }
        all.extend(rest);
        all.extend(self.jammed.into_iter().map(Directive::Jam));
        all.extend(self.lanes.map(Directive::Vectorise));
        all
    }
}

/// The loop along which all results lie next to each other.
fn row(loops: &[LoopInfo], expression: &Expression, lanes: i64) -> Option<LoopInfo> {
    let along = |l: &&LoopInfo| {
        let strides = expression.strides(&l.name);
        let mut stored = strides.iter().filter(|s| s.stored).peekable();
        stored.peek().is_some() && stored.all(|s| s.elements == 1)
    };
    loops.iter().filter(|l| l.parallel && l.extent >= lanes).find(along).cloned()
}

/// A strategy to whose schedules something is added.
pub(crate) struct Refined {
    pub(crate) strategy: Box<dyn Strategy>,
    pub(crate) refine: fn(Schedule, &Expression) -> Schedule,
}

impl Strategy for Refined {
    fn name(&self) -> &'static str {
        self.strategy.name()
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let Proposal { schedule, cost } = self.strategy.propose(expression)?;
        Ok(Proposal { schedule: (self.refine)(schedule, expression), cost })
    }
}

/// How much longer it counts if tasks share a loop along which windows have edges: it is not peeled then, and every element is
/// asked whether it is there. (Zen 3: maxima of 3 x 3 take twice as long. Half of that counts, so that the loop is shared where
/// others have too few iterations.)
const EDGES: f64 = 0.5;

/// Results that lie next to each other are the lanes.
pub struct Rows(pub Cpu);

impl Strategy for Rows {
    fn name(&self) -> &'static str {
        "rows"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        self.0.lanes(expression)?;
        let loops = expression.loops();
        let found = loops.iter().filter(|l| l.parallel).filter_map(|row| self.along(expression, row));
        let best = found.min_by(|a, b| a.cost.total_cmp(&b.cost));
        best.ok_or_else(|| "no loop over independent points fills a vector".into())
    }
}

impl Rows {
    /// The lanes are neighbours along a loop, if they fill a vector.
    fn along(&self, expression: &Expression, row: &LoopInfo) -> Option<Proposal> {
        let registers = expression.registers(&row.name);
        let lanes = (self.0.vector_bytes / registers.bytes.max(2)) as i64;
        if row.extent < lanes || lanes < 2 {
            return None;
        }
        let strides = expression.strides(&row.name);
        let reductions = expression.reductions();
        // Next to long sums the rest does not count.
        let sums = reductions.iter().filter(|r| r.outer.contains(&row.name));
        let long = sums.max_by_key(|r| r.registers.values).map(|r| r.registers);
        let by = whole_row(&self.0, expression, row)
            .unwrap_or_else(|| width(&self.0, long.unwrap_or(registers), row.extent));
        // Elements that lanes choose are loaded one by one.
        let gathers = strides.iter().any(|s| s.elements == ANYWHERE);
        let by = if gathers { by.min(lanes.max(ONE_BY_ONE)) } else { by };
        // What does not depend on the row is computed term by term.
        let scalar = reductions.iter().filter(|r| !r.outer.contains(&row.name)).map(|r| r.operations);
        let scalar = scalar.fold(0.0, f64::max);
        let loops = expression.loops();
        let mut nest = Nest::new(&loops);
        nest.vectorise(&row.name, by);
        let window = SmallWindow::of(expression);
        let edges = window.as_ref().map_or(&[][..], |window| &window.edges);
        let longer = |name: &str| if edges.iter().any(|edge| edge == name) { EDGES } else { 0.0 };
        nest.share_beside(&self.0, work(expression), &|_| 0.0, &longer);
        // Lanes are inside of all other loops: there what depends on them is computed again, even if it does not change.
        let again = |r: &Reduction| -> f64 {
            let other = |l: &&LoopInfo| l.name != row.name && !r.outer.contains(&l.name);
            let times = loops.iter().filter(other).map(|l| l.extent as f64).product::<f64>();
            if r.outer.contains(&row.name) { r.operations * (times - 1.0) } else { 0.0 }
        };
        let again: f64 = reductions.iter().map(again).sum();
        let lanewise = (work(expression) - scalar).max(0.0) + again;
        // What all lanes need of a term lies in a page of its own, and the second cache does not hold all of them.
        let terms: Vec<LoopInfo> =
            reductions.iter().flat_map(|r| &r.loops).filter_map(|name| expression.find(name)).collect();
        let is_paged = |a: &&AccessInfo| {
            let is_large = a.elements * a.bytes as f64 > self.0.second_cache as f64 / 2.0;
            self.0.has_narrow_vectors() && is_large && a.stride(&row.name) == 0 && is_far(a, &terms)
        };
        let paged: f64 = expression.accesses().iter().filter(is_paged).map(|a| a.elements * PAGE).sum();
        let cost = SCALAR * scalar + cost(lanewise, lanes, strided(&strides), strides.len()) + paged;
        let whole: Vec<String> = nest.loops.iter().map(|l| l.name.clone()).collect();
        let mut schedule = Schedule { directives: nest.directives() };
        schedule.directives.extend(values(&self.0, expression, Some((row, by))));
        schedule.directives.extend(chosen_lines(&self.0, expression, row));
        let schedule = match window {
            Some(window) => window.written_out(schedule, expression, &whole),
            None => schedule,
        };
        Some(Proposal { schedule, cost })
    }
}

/// Windows with few terms.
struct SmallWindow {
    terms: Vec<String>,
    /// The loops along which they have edges: their first and last iterations are by themselves where they run one after the other.
    edges: Vec<String>,
}

impl SmallWindow {
    fn of(expression: &Expression) -> Option<SmallWindow> {
        /// The most terms.
        const TERMS: i64 = 16;
        let reductions = expression.reductions();
        let [window] = &reductions[..] else { return None };
        let terms: Vec<LoopInfo> = window.loops.iter().filter_map(|name| expression.find(name)).collect();
        if terms.iter().map(|l| l.extent).product::<i64>() > TERMS || window.operations <= 0.0 {
            return None;
        }
        let terms: Vec<String> = terms.into_iter().map(|l| l.name).collect();
        let mut edges = Vec::new();
        if terms.iter().any(|name| expression.has_edges_along(name)) {
            let points = expression.loops().into_iter().map(|l| l.name);
            edges.extend(points.filter(|name| expression.has_edges_along(name)));
        }
        Some(SmallWindow { terms, edges })
    }

    /// The same schedule, in which all terms are written out, and windows without edges are by themselves along loops over points.
    fn written_out(self, mut schedule: Schedule, expression: &Expression, points: &[String]) -> Schedule {
        /// The axes along which windows without edges are by themselves.
        const AXES: usize = 2;
        schedule.directives.extend(self.terms.into_iter().map(Directive::Unroll));
        let mut peeled = 0;
        for name in points.iter().rev().filter(|name| self.edges.contains(name)) {
            schedule.directives.push(Directive::Peel(name.clone()));
            match peeled < AXES && fits(expression, &schedule).is_ok() {
                true => peeled += 1,
                false => _ = schedule.directives.pop(),
            }
        }
        schedule
    }
}

/// Element by element.
pub struct Scalar(pub Cpu);

impl Strategy for Scalar {
    fn name(&self) -> &'static str {
        "scalar"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let loops = expression.loops();
        let mut nest = Nest::new(&loops);
        nest.share(&self.0, work(expression));
        let mut directives = nest.directives();
        directives.extend(values(&self.0, expression, None));
        Ok(Proposal { schedule: Schedule { directives }, cost: SCALAR * work(expression) })
    }
}
