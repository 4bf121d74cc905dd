//! Long sums of few results: tiles whose terms are taken in blocks, and whose sums are in memory meanwhile.

use super::non_temporal::LINE;
use super::tiles::{Facts, NEAR, NEAR_BYTE, PACKED, PAGE, TileSize, depends, panel_bytes, panel_cost};
use super::{Nest, PointLoop, even, parts};
use crate::Cpu;
use surject_codegen::kernels::expression::{AccessInfo, Expression, LoopInfo};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::schedule::{Directive, Schedule, fits};
use surject_kernel::Level;

/// All results that a task has get the terms of a block before those of the next one are looked at: a block stays in a cache
/// near by for all of them, where it lies or as a panel.
pub struct Blocks(pub Cpu);

/// Rows that fit two tiles.
const ROWS: i64 = 16;

/// The fewest terms of a block, and the most bytes of the sums of a task.
const TERMS: i64 = 96;
const SUMS: i64 = 1 << 17;

/// The same of a panel, and the fewest rows for which one is filled.
const PANEL_TERMS: i64 = 256;
const PANEL_ROWS: i64 = 96;

/// Elements that are transposed at once.
const SQUARE: i64 = 8;

/// Panels of columns that are as large as one of rows.
const PANELS_OF_ROWS: i64 = 3;

/// Tasks that there are to be, where there is enough to do.
const TASKS: i64 = 8;

/// How the loops of a reduction become blocks.
struct Terms {
    directives: Vec<Directive>,
    /// The innermost loop over blocks, how many blocks there are, and the terms of each.
    blocks: String,
    count: f64,
    each: i64,
}

impl Strategy for Blocks {
    fn name(&self) -> &'static str {
        "blocks"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let facts = Facts::of(&self.0, expression)?;
        let [sum] = &facts.reductions[..] else { return Err("there is not one reduction".into()) };
        let of_columns =
            |a: &&AccessInfo| !a.stored && depends(a, &facts.column.name) && !depends(a, &facts.rows.name);
        let of_terms = |a: &&AccessInfo| sum.loops.iter().any(|term| depends(a, term));
        let columns = facts.accesses.iter().filter(of_terms).find(of_columns);
        let columns = columns.ok_or("no factor depends on columns alone")?;
        if columns.elements * (columns.bytes as f64) < NEAR && facts.left.is_none() {
            return Err("a cache near by has all factors of the columns".into());
        }
        let again = facts.loops.iter().filter(|l| !depends(columns, &l.name)).map(|l| l.extent);
        if again.product::<i64>() <= ROWS {
            return Err("rows in one tile or two read them once or twice".into());
        }
        if facts.loops.iter().any(|l| l.extent > 1 && !sum.outer.contains(&l.name)) {
            return Err("a sum is there for several results".into());
        }
        let in_place = terms(&facts, columns, |_| TERMS).ok_or("the sums are short")?;
        // Panels of rows are filled for a block, so there are two at least.
        let most = |all: i64| if facts.left.is_some() { PANEL_TERMS.min(parts(all, 2)) } else { PANEL_TERMS };
        let has_neighbours = columns.stride(&facts.column.name) == 1;
        let of_panel = terms(&facts, columns, |all| parts(even(all, most(all)), SQUARE) * SQUARE);
        let mut best: Option<Proposal> = None;
        let mut refused = "more results than a task has sums in memory".to_string();
        let sizes = facts.sizes(&self.0);
        let proposals = sizes.iter().flat_map(|size| {
            let packed = of_panel.as_ref().and_then(|terms| self.with_panel(&facts, size, (terms, columns)));
            [has_neighbours.then(|| self.schedule(&facts, size, &in_place)).flatten(), packed]
        });
        for proposal in proposals.flatten() {
            if best.as_ref().is_some_and(|b| b.cost <= proposal.cost) {
                continue;
            }
            match fits(expression, &proposal.schedule) {
                Ok(()) => best = Some(proposal),
                Err(error) => refused = error.message,
            }
        }
        let no_neighbours = || "the factors of neighbours do not lie next to each other".to_string();
        best.ok_or_else(|| if has_neighbours { refused } else { no_neighbours() })
    }
}

/// The loops of a sum, as the factors of the columns lie in memory, and blocks of them: `most` says of how many terms, or a few
/// less, where there are so many.
fn terms(facts: &Facts, columns: &AccessInfo, most: impl Fn(i64) -> i64) -> Option<Terms> {
    let mut loops: Vec<LoopInfo> = facts.summed.clone();
    loops.sort_by_key(|l| std::cmp::Reverse(columns.stride(&l.name).unsigned_abs()));
    let mut order: Vec<String> = loops.iter().map(|l| l.name.clone()).collect();
    // Whole loops are inside of a block, and so many iterations of the one around them.
    let mut inside = 1i64;
    while let Some(l) = loops.pop() {
        let by = parts(most(l.extent.saturating_mul(inside)), inside);
        let mut directives = Vec::new();
        if by < l.extent {
            let mut blocks = l.name.clone();
            if by > 1 {
                let at = order.iter().position(|name| *name == l.name)?;
                directives.push(Directive::Split(l.name.clone(), by));
                order.splice(at..=at, [format!("{}.o", l.name), format!("{}.i", l.name)]);
                blocks = format!("{}.o", l.name);
            }
            let around: i64 = loops.iter().map(|l| l.extent).product();
            directives.extend((order.len() > 1).then_some(Directive::Order(order)));
            let count = (around * ((l.extent + by - 1) / by)) as f64;
            return Some(Terms { directives, blocks, count, each: by * inside });
        }
        inside *= l.extent;
    }
    None
}

impl Blocks {
    /// A schedule of tiles of a size, and its cost, if a task has memory for its sums.
    fn schedule(&self, facts: &Facts, size: &TileSize, terms: &Terms) -> Option<Proposal> {
        let Facts { column, rows, loops, accesses, .. } = facts;
        if facts.left.is_some() || facts.right.is_some() {
            return None;
        }
        let mut order = vec![rows.clone()];
        order.extend(loops.iter().filter(|l| l.name != rows.name && l.name != column.name).cloned());
        order.push(column.clone());
        let mut nest = Nest::new(&order);
        nest.jam(&rows.name, size.rows);
        nest.vectorise(&column.name, size.columns);
        // Each task has some blocks of rows, of which all else is inside.
        let all = nest.loops.iter().map(|l| l.extent).product::<i64>();
        let (blocks, bytes) = (nest.loops[0].extent, accesses.iter().find(|a| a.stored)?.bytes as i64);
        let of_block = (all / blocks).saturating_mul(bytes.max(4));
        let most = (SUMS / of_block.max(1)).min((blocks + TASKS - 1) / TASKS);
        let each = (1..=most).rev().find(|each| blocks % each == 0)?;
        nest.split(0, each);
        let PointLoop { name: at, extent: tasks, .. } = nest.loops[0].clone();
        let mut directives = terms.directives.clone();
        directives.extend(nest.directives());
        if tasks > 1 {
            directives.push(Directive::Parallel(at.clone(), Level::Task));
        }
        directives.extend_from_slice(&facts.values);
        directives.push(Directive::Accumulate { blocks: terms.blocks.clone(), at });
        let mut cost = facts.of_sums(size) + all as f64 * bytes as f64 * 2.0 * terms.count * NEAR_BYTE;
        for access in accesses.iter().filter(|a| !a.stored) {
            let read = access.elements * access.bytes as f64;
            if !depends(access, &rows.name) {
                cost += read * (tasks - 1) as f64 * facts.far_byte(access);
                // Each line that a tile reads lies in another page.
                if facts.has_narrow_vectors && size.columns * (access.bytes as i64) <= LINE {
                    let tiles = rows.extent as f64 / size.rows as f64;
                    cost += access.elements / size.columns as f64 * tiles * PAGE;
                }
            } else if access.guarded {
                directives
                    .push(Directive::Pack { tensor: access.tensor.to_string(), at: terms.blocks.clone() });
                cost += access.elements * PACKED;
            }
        }
        directives.dedup();
        Some(Proposal { schedule: Schedule { directives }, cost })
    }

    /// A schedule of tiles of a size that read panels, and its cost. A task has blocks of rows and of columns. For each block of
    /// terms it fills a panel of columns, which all of its rows need before the next one is filled. Where rows have a panel too, a
    /// task has several panels of columns for one of rows. (K. Goto and R. van de Geijn, "Anatomy of High-Performance Matrix
    /// Multiplication", 2008.) Wide vectors read columns where they lie as fast, unless rows have a panel.
    /// It is long because the directives depend on each other: each needs the loops that the ones before have made.
    fn with_panel(
        &self,
        facts: &Facts,
        size: &TileSize,
        (terms, columns): (&Terms, &AccessInfo),
    ) -> Option<Proposal> {
        let Facts { column, rows, loops, accesses, left, .. } = facts;
        let bytes = columns.bytes as i64;
        // The usual tile has an eighth of the registers for columns.
        let usual = self.0.vector_registers / 8 * self.0.vector_bytes as i64;
        let most = match left {
            Some(_) => usual,
            None if facts.has_narrow_vectors => LINE,
            None => 0,
        };
        if size.columns * bytes > most || rows.extent < PANEL_ROWS || accesses.iter().any(|a| a.guarded) {
            return None;
        }
        let others = loops.iter().filter(|l| l.name != rows.name && l.name != column.name);
        let order: Vec<LoopInfo> = others.chain([rows, column]).cloned().collect();
        let mut nest = Nest::new(&order);
        nest.jam(&rows.name, size.rows);
        nest.vectorise(&column.name, size.columns);
        let tiles = [parts(rows.extent, size.rows), parts(column.extent, size.columns)];
        let wide = even(tiles[1], panel_bytes(&self.0) / (terms.each * size.columns * bytes));
        let panels = parts(tiles[1], wide);
        let row = size.rows * bytes.max(4);
        // A panel of rows stays in the second cache for all columns of a task, beside one of columns.
        let high = match left {
            Some(_) => PANELS_OF_ROWS * panel_bytes(&self.0) / (terms.each * row),
            None => SUMS / (wide * size.columns * row),
        };
        let shared = parts(tiles[0] * panels, self.0.threads as i64);
        let high = even(tiles[0], high.min(shared.max(PANEL_ROWS / size.rows)));
        let [down, across] = [&rows.name, &column.name].map(|name| format!("{name}.o"));
        nest.split_inside(&down, high);
        nest.split_inside(&across, wide);
        let (mut around, inside) = (format!("{down}.o"), format!("{across}.o"));
        let mut right_at = terms.blocks.clone();
        let mut columns_apart = panels;
        if left.is_some() {
            let together = even(panels, 2 * SUMS / (high * wide * size.columns * row));
            columns_apart = parts(panels, together);
            if together < panels {
                nest.split(nest.position(&inside)?, together);
                let outer = nest.loops.remove(nest.position(&format!("{inside}.o"))?);
                nest.loops.insert(nest.position(&around)?, outer);
                right_at = format!("{inside}.i");
            } else {
                right_at = inside;
            }
        } else {
            around = inside;
        }
        nest.share_all(&self.0, &around);
        let (at, right_at) = (nest.inner(around), nest.inner(right_at));
        // How often a panel is filled, and a row is read.
        let again =
            loops.iter().filter(|l| l.name != rows.name && !depends(columns, &l.name)).map(|l| l.extent);
        let filled = (again.product::<i64>() * parts(tiles[0], high)) as f64;
        let all = loops.iter().map(|l| l.extent as f64).product::<f64>();
        let mut cost = facts.of_sums(size) + all * bytes as f64 * 2.0 * terms.count * NEAR_BYTE;
        let operations = facts.right.as_ref().map_or(0, |right| right.operations);
        cost += filled * panel_cost(columns, operations, facts.lanes);
        cost += columns.elements * bytes as f64 * (filled - 1.0) * facts.far_byte(columns);
        let of_rows = accesses.iter().filter(|a| !a.stored && depends(a, &rows.name));
        cost += of_rows
            .map(|a| a.elements * a.bytes as f64 * (columns_apart - 1) as f64 * NEAR_BYTE)
            .sum::<f64>();
        let mut directives = terms.directives.clone();
        directives.extend(nest.directives());
        directives.extend_from_slice(&facts.values);
        directives.push(Directive::Accumulate { blocks: terms.blocks.clone(), at });
        if let Some(left) = left {
            directives.push(Directive::Pack { tensor: "left".to_string(), at: terms.blocks.clone() });
            cost += panel_cost(&left.access, left.operations, facts.lanes) * columns_apart as f64;
        }
        let right = if facts.right.is_some() { "right".to_string() } else { columns.tensor.to_string() };
        directives.push(Directive::Pack { tensor: right, at: right_at });
        Some(Proposal { schedule: Schedule { directives }, cost })
    }
}
