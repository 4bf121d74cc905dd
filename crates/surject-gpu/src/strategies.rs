//! The strategies of a GPU.

mod contractions;

pub use contractions::{By, Contractions};

use crate::Gpu;
use crate::model::model;
use surject_codegen::kernels::expression::{Expression, LoopInfo, Reduction};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::running::{Running, Scanned, Scanners};
use surject_codegen::kernels::schedule::{Directive, Schedule};
use surject_codegen::kernels::transpose::{TransposeTile, Transposers};
use surject_kernel::Level;

/// The most blocks in the second and third dimension of a grid.
const GRID: i64 = 65_535;
/// The bytes that a thread accesses at once.
const WIDEST: i64 = 16;
/// Iterations of a thread that are written out: what it loads in one pass is still in registers in the next.
const WRITTEN_OUT: i64 = 8;
/// The warps of a block whose warps have rows of their own.
const ROWS: i64 = 4;
/// The threads of a block that has one row.
const BLOCK: i64 = 256;

/// Loops in an order: those whose iterations are independent outside, the longest first.
fn ordered(loops: &[LoopInfo], except: Option<&LoopInfo>) -> Vec<LoopInfo> {
    let mut order = loops.to_vec();
    order.retain(|l| except.is_none_or(|row| row.name != l.name));
    order.sort_by_key(|l| (!l.parallel, std::cmp::Reverse(l.extent)));
    order
}

/// A part of a split loop whose iterations are independent, `NAME.o` or `NAME.i`.
fn part(name: &str, which: &str, extent: i64) -> LoopInfo {
    LoopInfo { name: format!("{name}.{which}"), extent, parallel: true }
}

/// A schedule with its time by the model, in cycles.
fn proposal(gpu: &Gpu, expression: &Expression, directives: Vec<Directive>) -> Proposal {
    let schedule = Schedule { directives };
    let cost = model(gpu, expression, &schedule).seconds * gpu.clock;
    Proposal { schedule, cost }
}

/// Blocks share the outermost loops up to one that warps share, three at most: those whose iterations are independent.
fn blocks(order: &[LoopInfo], warps: Option<&String>, directives: &mut Vec<Directive>) -> Result<(), String> {
    match order.first() {
        Some(first) if first.parallel => {
            // The second and the third dimension of a grid have fewer blocks.
            let fits =
                |i: usize, l: &LoopInfo| l.parallel && (i == 0 || l.extent <= GRID) && warps != Some(&l.name);
            let mut count = (0..order.len().min(3)).take_while(|&i| fits(i, &order[i])).count();
            // The innermost one is the first dimension.
            while count > 1 && order[0].extent > GRID {
                count -= 1;
            }
            for l in &order[..count] {
                directives.push(Directive::Parallel(l.name.clone(), Level::Block));
            }
            Ok(())
        }
        Some(first) => Err(format!("iterations of the outermost loop `{}` meet", first.name)),
        None => Err("there is one point, and nothing for blocks to share".into()),
    }
}

/// The loop along which results lie next to each other; else the innermost one whose iterations are independent.
fn row(loops: &[LoopInfo], expression: &Expression) -> Option<LoopInfo> {
    let free = || loops.iter().filter(|l| l.parallel && l.extent > 1);
    let next = |l: &&LoopInfo| expression.strides(&l.name).iter().any(|s| s.stored && s.elements == 1);
    free().find(next).or_else(|| free().next_back()).cloned()
}

/// How many neighbours along a loop a thread accesses at once, at most 16 bytes of the widest type; 1 where they do not
/// lie next to each other everywhere, or rows do not begin at multiples of them.
fn lanes(expression: &Expression, name: &str, extent: i64) -> i64 {
    let strides = expression.strides(name);
    let next = !strides.is_empty() && strides.iter().all(|s| s.elements == 1);
    let most = WIDEST / (expression.element_bytes() as i64).max(1);
    if next && most > 1 && extent % most == 0 { most } else { 1 }
}

/// A loop in parts: iterations of a thread, threads, and lanes; gives the names of the first and of the last ones.
fn shared(
    name: &str,
    extent: i64,
    threads: i64,
    lanes: i64,
    directives: &mut Vec<Directive>,
) -> (String, Vec<String>) {
    directives.push(Directive::Split(name.into(), threads * lanes));
    let (outer, inner) = (format!("{name}.o"), format!("{name}.i"));
    let mut names = vec![inner.clone()];
    if lanes > 1 {
        directives.push(Directive::Split(inner.clone(), lanes));
        names = vec![format!("{inner}.o"), format!("{inner}.i")];
        directives.push(Directive::Vectorise(names[1].clone()));
    }
    directives.push(Directive::Parallel(names[0].clone(), Level::Thread));
    let iterations = (extent + threads * lanes - 1) / (threads * lanes);
    if iterations <= WRITTEN_OUT {
        directives.push(Directive::Unroll(outer.clone()));
    }
    (outer, names)
}

/// Points of their own for every thread: one, or as many as lie in 16 bytes.
pub struct Points {
    pub gpu: Gpu,
    pub vectors: bool,
}

impl Strategy for Points {
    fn name(&self) -> &'static str {
        if self.vectors { "vectors" } else { "points" }
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let loops = expression.loops();
        let row = row(&loops, expression).ok_or("no iterations are independent")?;
        let lanes = if self.vectors { lanes(expression, &row.name, row.extent) } else { 1 };
        if self.vectors && lanes == 1 {
            return Err(format!("along `{}` no {WIDEST} bytes lie next to each other", row.name));
        }
        if self.vectors && expression.reductions().iter().any(|r| r.outer.contains(&row.name)) {
            return Err(format!("a reduction depends on `{}`", row.name));
        }
        let threads = self.gpu.block.min((row.extent / lanes).max(1));
        let grouped = self.groups(expression, &loops, &row, threads);
        let cut = Cut { row: &row, threads, lanes, grouped: &grouped, own: None };
        let mut best = proposal(&self.gpu, expression, self.schedule(&loops, &cut)?);
        if expression.reductions().is_empty() {
            return Ok(best);
        }
        // What neighbours along another loop load too, the nearest cache still holds where a block computes them.
        for l in loops.iter().filter(|l| l.parallel && l.name != row.name) {
            for by in [2, 4, 8] {
                let of_group = grouped.iter().find(|g| g.0 == l.name).map_or(1, |g| g.1);
                if l.extent % (by * of_group) != 0 || l.extent / of_group < 2 * by {
                    continue;
                }
                let own = Some((l.name.as_str(), by));
                let found = proposal(&self.gpu, expression, self.schedule(&loops, &Cut { own, ..cut })?);
                if found.cost < best.cost {
                    best = found;
                }
            }
        }
        Ok(best)
    }
}

/// How points are cut.
#[derive(Clone, Copy)]
struct Cut<'a> {
    /// The loop along which threads are neighbours, how many there are, and the lanes of each.
    row: &'a LoopInfo,
    threads: i64,
    lanes: i64,
    /// Loops whose iterations share a block with a row.
    grouped: &'a [(String, i64)],
    /// A loop of which a thread has so many iterations, one after the other.
    own: Option<(&'a str, i64)>,
}

impl Points {
    /// The loops whose iterations share a block with a row that is shorter than a block, and how many of each: the nearest
    /// in memory first.
    fn groups(
        &self,
        expression: &Expression,
        loops: &[LoopInfo],
        row: &LoopInfo,
        threads: i64,
    ) -> Vec<(String, i64)> {
        let stored = |l: &LoopInfo| {
            let strides = expression.strides(&l.name);
            strides.iter().filter(|s| s.stored).map(|s| s.elements.abs()).min().unwrap_or(i64::MAX)
        };
        let free = |l: &&LoopInfo| l.parallel && l.extent > 1 && l.name != row.name;
        let mut others: Vec<&LoopInfo> = loops.iter().filter(free).collect();
        others.sort_by_key(|l| stored(l));
        let (mut grouped, mut together) = (Vec::new(), threads);
        for l in others {
            if 2 * together > self.gpu.block {
                break;
            }
            let wanted = (self.gpu.block + together - 1) / together;
            // A whole number of groups, where that is about as many.
            let fits = |n: &i64| l.extent % n == 0;
            let by = (wanted..2 * wanted).find(fits).or_else(|| (wanted / 2 + 1..wanted).rev().find(fits));
            let by = by.unwrap_or(wanted).min(l.extent);
            grouped.push((l.name.clone(), by));
            together *= by;
        }
        grouped
    }

    fn schedule(&self, loops: &[LoopInfo], cut: &Cut<'_>) -> Result<Vec<Directive>, String> {
        let &Cut { row, threads, lanes, grouped, own } = cut;
        let mut directives = vec![Directive::Split(row.name.clone(), threads * lanes)];
        let mut inner = vec![format!("{}.i", row.name)];
        if lanes > 1 {
            directives.push(Directive::Split(inner[0].clone(), lanes));
            inner = vec![format!("{}.i.o", row.name), format!("{}.i.i", row.name)];
        }
        // Independent loops stand outside, those over elements that meet inside.
        let mut order = ordered(loops, Some(row));
        let mut together = Vec::new();
        for (name, by) in grouped {
            directives.push(Directive::Split(name.clone(), *by));
            if let Some(l) = order.iter_mut().find(|l| l.name == *name) {
                *l = part(name, "o", (l.extent + by - 1) / by);
            }
            together.insert(0, format!("{name}.i"));
        }
        let mut own_loop = None;
        if let Some((name, by)) = own
            && let Some(l) = order.iter_mut().find(|l| l.name.strip_suffix(".o").unwrap_or(&l.name) == name)
        {
            directives.push(Directive::Split(l.name.clone(), by));
            own_loop = Some(format!("{}.i", l.name));
            *l = part(&l.name, "o", l.extent / by);
        }
        order.push(part(&row.name, "o", (row.extent + threads * lanes - 1) / (threads * lanes)));
        order.sort_by_key(|l| (!l.parallel, std::cmp::Reverse(l.extent)));
        let names = order.iter().map(|l| &l.name).chain(&own_loop).chain(&together).chain(&inner);
        directives.push(Directive::Order(names.cloned().collect()));
        blocks(&order, None, &mut directives)?;
        directives.extend(together.into_iter().map(|name| Directive::Parallel(name, Level::Thread)));
        directives.push(Directive::Parallel(inner[0].clone(), Level::Thread));
        if lanes > 1 {
            directives.push(Directive::Vectorise(inner[1].clone()));
        }
        Ok(directives)
    }
}

/// Each thread has a short row: it loads it once, reduces it, and computes all of its points.
pub struct Lines(pub Gpu);

impl Strategy for Lines {
    fn name(&self) -> &'static str {
        "lines"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        /// Iterations that are written out.
        const LONGEST: i64 = 32;
        let (loops, reductions) = (expression.loops(), expression.reductions());
        let row = row(&loops, expression).ok_or("no iterations are independent")?;
        if reductions.is_empty() || reductions.iter().any(|r| r.outer.contains(&row.name)) {
            return Err(format!("no reduction is the same along `{}`", row.name));
        }
        let reduced: Vec<&String> = reductions.iter().flat_map(|r| &r.loops).collect();
        let extent = |name: &String| expression.find(name).map_or(i64::MAX, |l| l.extent);
        let terms = |r: &Reduction| r.loops.iter().map(extent).fold(1, i64::saturating_mul);
        if row.extent > LONGEST || reductions.iter().any(|r| terms(r) > LONGEST) {
            return Err(format!("a row is longer than {LONGEST}"));
        }
        // What is reduced for each term of another reduction would be written out as often.
        if reductions.iter().any(|r| r.outer.iter().any(|l| reduced.contains(&l))) {
            return Err("a reduction depends on the terms of another".into());
        }
        let order = ordered(&loops, Some(&row));
        let Some(LoopInfo { name, extent, parallel: true }) = order.first().cloned() else {
            return Err("there is one row".into());
        };
        let threads = self.0.block.min(extent);
        let mut directives = vec![Directive::Split(name.clone(), threads)];
        let mut grid = order;
        grid[0] = part(&name, "o", (extent + threads - 1) / threads);
        let inner = [format!("{name}.i"), row.name.clone()];
        directives.push(Directive::Order(grid.iter().map(|l| &l.name).chain(&inner).cloned().collect()));
        blocks(&grid, None, &mut directives)?;
        directives.push(Directive::Parallel(inner[0].clone(), Level::Thread));
        let mut written: Vec<String> = reduced.into_iter().cloned().collect();
        written.push(row.name);
        written.sort();
        written.dedup();
        directives.extend(written.into_iter().map(Directive::Unroll));
        let found = proposal(&self.0, expression, directives);
        found.schedule.check(expression).map_err(|error| error.to_string())?;
        Ok(found)
    }
}

/// The threads of a warp, or of a block, share the terms of reductions and the points of a row.
pub struct Rows {
    pub gpu: Gpu,
    pub block: bool,
}

impl Rows {
    /// The loop of a reduction that threads share: its terms lie next to each other, or, where the alternative is that one
    /// thread computes the only point, it is the longest one.
    fn along(&self, expression: &Expression, reduction: &Reduction, threads: i64) -> Result<String, String> {
        let along = |name: &&String| {
            let strides = expression.strides(name);
            let next = !strides.is_empty() && strides.iter().all(|s| s.elements == 1);
            next && expression.find(name).is_some_and(|l| l.extent >= threads)
        };
        let length = |name: &&String| expression.find(name).map_or(0, |l| l.extent);
        let only_point = expression.loops().iter().all(|l| l.extent == 1);
        let longest = || {
            let long = reduction.loops.iter().filter(|name| only_point && length(name) >= threads);
            long.max_by_key(length)
        };
        let found = reduction.loops.iter().find(along).or_else(longest);
        found.cloned().ok_or_else(|| format!("no {threads} terms of a reduction lie next to each other"))
    }
}

impl Strategy for Rows {
    fn name(&self) -> &'static str {
        if self.block { "blocks" } else { "warps" }
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let (loops, reductions) = (expression.loops(), expression.reductions());
        let threads = if self.block { BLOCK } else { self.gpu.warp };
        if reductions.is_empty() {
            return Err("there is no reduction".into());
        }
        let mut directives = Vec::new();
        let mut along: Vec<String> = Vec::new();
        // What is reduced for each term of another reduction, the thread of that term reduces alone.
        let mut shared_loops: Vec<String> = Vec::new();
        let mut own = Vec::new();
        for reduction in reductions.iter().rev() {
            if reduction.outer.iter().any(|l| shared_loops.contains(l)) {
                continue;
            }
            let name = self.along(expression, reduction, threads)?;
            shared_loops.push(name.clone());
            own.push((reduction, name));
        }
        for (reduction, name) in own.into_iter().rev() {
            if along.contains(&name) {
                continue;
            }
            let extent = expression.find(&name).map_or(0, |l| l.extent);
            let lanes = lanes(expression, &name, extent);
            let (outer, inner) = shared(&name, extent, threads, lanes, &mut directives);
            // Lanes are innermost.
            let mut order: Vec<String> = reduction.loops.iter().filter(|l| **l != name).cloned().collect();
            // An order is that of every reduction that has its first loop.
            let is_shared = |l: &String| reductions.iter().any(|r| r != reduction && r.loops.contains(l));
            let at = if order.first().is_some_and(is_shared) { 0 } else { order.len() };
            order.insert(at, outer);
            order.extend(inner);
            directives.push(Directive::Order(order));
            along.push(name);
        }
        // Points that no reduction depends on are those of the row that is reduced.
        let row = row(&loops, expression)
            .filter(|row| row.extent >= threads && reductions.iter().all(|r| !r.outer.contains(&row.name)));
        let mut order = ordered(&loops, row.as_ref());
        let own = match order.first() {
            // Each warp of a block has rows of its own.
            Some(LoopInfo { name, extent, parallel: true }) if !self.block && extent % ROWS == 0 => {
                let (name, extent) = (name.clone(), *extent);
                directives.push(Directive::Split(name.clone(), ROWS));
                order.splice(0..1, [part(&name, "o", extent / ROWS), part(&name, "i", ROWS)]);
                Some(format!("{name}.i"))
            }
            _ => None,
        };
        let mut names: Vec<String> = order.iter().map(|l| l.name.clone()).collect();
        if let Some(row) = &row {
            let lanes = lanes(expression, &row.name, row.extent);
            let (outer, inner) = shared(&row.name, row.extent, threads, lanes, &mut directives);
            names.push(outer);
            names.extend(inner);
        }
        if !names.is_empty() {
            directives.push(Directive::Order(names));
        }
        blocks(&order, own.as_ref(), &mut directives)?;
        if let Some(own) = own {
            directives.push(Directive::Parallel(own, Level::Warp));
        }
        Ok(proposal(&self.gpu, expression, directives))
    }
}

/// The warps of a block that share terms, where there are terms for all of them.
const WARPS: i64 = 8;

/// Threads are neighbours across reductions: each has columns of its own, and the warps of a block share the terms.
pub struct Columns(pub Gpu);

impl Strategy for Columns {
    fn name(&self) -> &'static str {
        "columns"
    }

    /// Blocks of few warps, or where these are too few blocks, of more warps and fewer columns.
    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let first = self.schedule(expression, WARPS, true)?;
        let mut best = proposal(&self.0, expression, first);
        for warps in [WARPS, 2 * WARPS, 4 * WARPS] {
            let Ok(directives) = self.schedule(expression, warps, false) else { continue };
            let found = proposal(&self.0, expression, directives);
            if found.cost < best.cost {
                best = found;
            }
        }
        Ok(best)
    }
}

impl Columns {
    /// By so many warps; with as many columns for each thread as lie in 16 bytes, or one.
    fn schedule(&self, expression: &Expression, warps: i64, wide: bool) -> Result<Vec<Directive>, String> {
        let (loops, reductions) = (expression.loops(), expression.reductions());
        if reductions.is_empty() {
            return Err("there is no reduction".into());
        }
        let row = row(&loops, expression).ok_or("no iterations are independent")?;
        if !reductions.iter().all(|r| r.outer.contains(&row.name)) {
            return Err(format!("a reduction does not depend on `{}`", row.name));
        }
        // Points that no reduction depends on are shared by the warps too.
        let independent = |l: &&LoopInfo| reductions.iter().all(|r| !r.outer.contains(&l.name));
        let beside = loops.iter().filter(|l| l.parallel).filter(independent).max_by_key(|l| l.extent);
        let beside = beside.filter(|l| l.extent >= warps);
        // The columns of a warp, as many for each thread as lie in 16 bytes. Lanes are innermost, and what is reduced in
        // them cannot be used again by further loops.
        let widest = lanes(expression, &row.name, row.extent);
        let again = loops.iter().any(|l| independent(&l));
        let lanes = if wide && !again && row.extent >= self.0.warp * widest { widest } else { 1 };
        let threads = self.0.warp;
        let mut directives = Vec::new();
        let mut shared: Vec<String> = Vec::new();
        for reduction in &reductions {
            let extent = |name: &String| expression.find(name).map_or(0, |l| l.extent);
            let longest = reduction.loops.iter().max_by_key(|name| extent(name));
            let longest = longest.filter(|name| extent(name) >= 2 * warps);
            let name = longest.ok_or_else(|| format!("a reduction has fewer than {} terms", 2 * warps))?;
            if !shared.contains(name) {
                directives.push(Directive::Split(name.clone(), warps));
                directives.push(Directive::Parallel(format!("{name}.i"), Level::Warp));
                shared.push(name.clone());
            }
        }
        directives.push(Directive::Split(row.name.clone(), threads * lanes));
        let mut inner = vec![format!("{}.i", row.name)];
        if lanes > 1 {
            directives.push(Directive::Split(inner[0].clone(), lanes));
            inner = vec![format!("{}.i.o", row.name), format!("{}.i.i", row.name)];
        }
        let mut order = ordered(&loops, Some(&row));
        order.retain(|l| beside.is_none_or(|b| b.name != l.name));
        let blocks_of_row = (row.extent + threads * lanes - 1) / (threads * lanes);
        order.push(part(&row.name, "o", blocks_of_row));
        // Loops that no reduction depends on stand inside, so that each is reduced once.
        let outer = |name: &String| {
            *name == format!("{}.o", row.name) || reductions.iter().any(|r| r.outer.contains(name))
        };
        order.sort_by_key(|l| (!l.parallel, !outer(&l.name), std::cmp::Reverse(l.extent)));
        let grid: Vec<LoopInfo> = order.iter().filter(|l| outer(&l.name)).cloned().collect();
        let mut names: Vec<String> = grid.iter().map(|l| l.name.clone()).collect();
        names.push(inner[0].clone());
        names.extend(order.iter().filter(|l| !outer(&l.name)).map(|l| l.name.clone()));
        if let Some(beside) = beside {
            directives.push(Directive::Split(beside.name.clone(), warps));
            names.extend([format!("{}.o", beside.name), format!("{}.i", beside.name)]);
        }
        names.extend(inner.get(1).cloned());
        directives.push(Directive::Order(names));
        blocks(&grid, None, &mut directives)?;
        if let Some(beside) = beside {
            directives.push(Directive::Parallel(format!("{}.i", beside.name), Level::Warp));
        }
        directives.push(Directive::Parallel(inner[0].clone(), Level::Thread));
        if lanes > 1 {
            directives.push(Directive::Vectorise(inner[1].clone()));
        }
        Ok(directives)
    }
}

/// Points by tiles whose loads go through shared memory.
pub struct Transposes(pub Gpu);

impl Strategy for Transposes {
    fn name(&self) -> &'static str {
        "transposes"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        /// Elements of a tile, and the warps that bring them.
        const ELEMENTS: i64 = 1024;
        const WARPS: i64 = 8;
        if !expression.reductions().is_empty() {
            return Err("there is a reduction".into());
        }
        let extent = |name: &String| expression.find(name).map_or(1, |l| l.extent);
        let mut best: Option<Proposal> = None;
        for loops in expression.transpositions() {
            let warp = self.0.warp;
            let [a, b] = loops.each_ref().map(extent);
            // Where one of the loops is short, there are more iterations of the other.
            let tile = match (a < warp, b < warp) {
                (false, false) => [warp, warp],
                (true, false) => [a, (ELEMENTS / a / warp).max(1) * warp],
                (false, true) => [(ELEMENTS / b / warp).max(1) * warp, b],
                (true, true) => [a, b],
            };
            let tile = TransposeTile { loops, tile, by: Transposers::Warps(WARPS) };
            let found = proposal(&self.0, expression, vec![Directive::Transpose(tile)]);
            if found.schedule.check(expression).is_err() {
                continue;
            }
            best = Some(best.filter(|b| b.cost <= found.cost).unwrap_or(found));
        }
        best.ok_or_else(|| "no loads lie along another loop than results, or points meet".into())
    }
}

/// Scans whose lines run in order.
pub struct Scans(pub Gpu);

impl Scans {
    /// Elements of a line that a block scans at once, and the most of them.
    pub const LINE: i64 = 1024;
    pub const LONGEST: i64 = 4096;
    /// Threads that keep memory busy.
    pub const THREADS: f64 = 65536.0;

    /// Do results lie next to each other along the loop?
    pub fn is_next(expression: &Expression, along: &str) -> bool {
        expression.strides(along).iter().any(|s| s.stored && s.elements.abs() == 1)
    }
}

impl Strategy for Scans {
    fn name(&self) -> &'static str {
        "scans"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        /// The threads of a block that have lines of their own.
        const ACROSS: i64 = 64;
        let Scanned { along, length, .. } = expression.scanned().ok_or("the expression is no scan")?;
        let loops = expression.loops();
        let warp = self.0.warp;
        let running = if Scans::is_next(expression, &along) {
            let each = [4, 8, 16].into_iter().find(|each| length <= Scans::LINE * each);
            let each = each.ok_or_else(|| format!("a line of {length} elements is more than a block has"))?;
            let threads = ((length + each - 1) / each + warp - 1) / warp * warp;
            Running { along, across: None, by: Scanners::Threads { threads, each } }
        } else {
            let next = |l: &&LoopInfo| {
                l.parallel && expression.strides(&l.name).iter().any(|s| s.stored && s.elements == 1)
            };
            let across = loops.iter().find(next).ok_or("results lie next to each other along no loop")?;
            let lines = loops.iter().map(|l| l.extent as f64).product::<f64>() / length as f64;
            let lanes = lanes(expression, &across.name, across.extent);
            let each = if lines / lanes as f64 >= Scans::THREADS / 8.0 { lanes } else { 1 };
            let threads = ((across.extent / each + warp - 1) / warp * warp).clamp(warp, ACROSS);
            Running { along, across: Some(across.name.clone()), by: Scanners::Threads { threads, each } }
        };
        let found = proposal(&self.0, expression, vec![Directive::Scan(running)]);
        found.schedule.check(expression).map_err(|error| error.to_string())?;
        Ok(found)
    }
}

/// One thread.
pub struct Serial(pub Gpu);

impl Strategy for Serial {
    fn name(&self) -> &'static str {
        "serial"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        Ok(proposal(&self.0, expression, Vec::new()))
    }
}
