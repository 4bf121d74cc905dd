//! Products of which others run some rows at a time.

use super::non_temporal::LINE;
use super::tiles::{Facts, TileSize, is_far, panel_bytes, panel_cost};
use super::{Nest, even, parts};
use crate::Cpu;
use surject_codegen::kernels::contraction::Factor;
use surject_codegen::kernels::expression::{AccessInfo, Expression, LoopInfo, Tensor};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::schedule::{Directive, Schedule, fits};

/// A product whose factor of rows is computed: each task has a range of rows, and a panel of their factor for all columns.
pub struct Ranges(pub Cpu);

/// Ranges that there are to be for each thread, where there are several.
const RANGES: i64 = 4;

impl Strategy for Ranges {
    fn name(&self) -> &'static str {
        "ranges"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let cpu = &self.0;
        if cpu.task_operations.is_infinite() {
            return Err("its tasks would be ranges of rows".into());
        }
        let product = expression.product().ok_or("it is no sum of products")?;
        let extent = |name: &String| expression.find(name).map_or(1, |l| l.extent);
        let mut of_rows = product.rows.iter().filter(|name| extent(name) > 1);
        let rows = of_rows.next().filter(|_| of_rows.next().is_none()).ok_or("rows are not one loop")?;
        let (facts, size) = tile(cpu, expression, rows)?;
        let [left, _] = expression.factors().ok_or("it does not multiply two values")?;
        if left.operations == 0 {
            return Err("rows are read where they lie".into());
        }
        let is_next = |l: &LoopInfo| left.access.stride(&l.name) == 1;
        if !facts.summed.iter().any(is_next) {
            return Err("terms of a row do not lie next to each other".into());
        }
        let is_batch = |name: &String| name != rows && !product.columns.contains(name) && extent(name) > 1;
        let mut loops: Vec<String> =
            expression.loops().into_iter().map(|l| l.name).filter(is_batch).collect();
        let products = loops.iter().map(extent).product::<i64>();
        loops.push(rows.clone());
        let terms = facts.summed.iter().map(|l| l.extent).product::<i64>().max(1);
        let tiles = parts(facts.rows.extent, size.rows);
        // A panel stays in the second cache, and threads share ranges evenly.
        let near = 2 * panel_bytes(cpu) / (terms * left.bytes.max(4) as i64 * size.rows);
        let shared = if cpu.threads > 1 { tiles * products / (RANGES * cpu.threads as i64) } else { tiles };
        let schedule = schedule(cpu, expression, &loops, even(tiles, near.min(shared)) * size.rows)?;
        fits(expression, &schedule).map_err(|error| error.message)?;
        let cost = facts.of_sums(&size) + panel_cost(&left.access, left.operations, facts.lanes);
        Ok(Proposal { schedule, cost })
    }
}

/// The terms of a panel of rows, which lies on the stack.
const MOST_TERMS: i64 = 1 << 12;

/// The rows of a tile, if a range of rows can be made by itself.
pub(crate) fn rows_of_tile(cpu: &Cpu, expression: &Expression, rows: &str) -> Result<i64, &'static str> {
    Ok(tile(cpu, expression, rows)?.1.rows)
}

/// The schedule whose tasks are ranges of rows. The tiles of a block of columns follow each other: the first cache has their columns.
/// But where results of rows begin inside of lines, and the second cache has all columns, tiles go along rows, so that both parts of a
/// line are stored soon after each other.
pub(crate) fn schedule(
    cpu: &Cpu,
    expression: &Expression,
    loops: &[String],
    most: i64,
) -> Result<Schedule, &'static str> {
    let (rows, batch) = loops.split_last().ok_or("no loop of rows")?;
    let (facts, size) = tile(cpu, expression, rows)?;
    // A range has whole tiles: one of all rows is longer, others have as many rows as they are asked for.
    let (most, high) = match most >= facts.rows.extent {
        true => (parts(most, size.rows) * size.rows, size.rows),
        false => (most, (1..=size.rows).rev().find(|high| most % high == 0).unwrap_or(1)),
    };
    let inside = |name: &String| *name == facts.column.name || loops.contains(name);
    let others = facts.loops.iter().map(|l| &l.name).filter(|name| !inside(name));
    let order = loops.iter().chain(others).chain([&facts.column.name]);
    let mut nest = Nest::new(&order.filter_map(|name| expression.find(name)).collect::<Vec<_>>());
    let (range, tiles) = (format!("{rows}.o"), format!("{rows}.i"));
    nest.split_where_it_stands(rows, most);
    nest.jam(&tiles, high);
    nest.vectorise(&facts.column.name, size.columns);
    let begins_lines = |a: &AccessInfo| !a.stored || a.stride(rows) * a.bytes as i64 % LINE == 0;
    if facts.accesses.iter().all(begins_lines) || !has_near_columns(cpu, expression, batch) {
        nest.move_inside(&format!("{tiles}.o"), &format!("{}.o", facts.column.name));
    }
    nest.share_loops(batch.iter().chain([&range]));
    let mut directives = nest.directives();
    directives.extend_from_slice(&facts.values);
    let column = &facts.column.name;
    directives.extend(expression.divides_along(column).then(|| Directive::Inverse(column.clone())));
    if needs_panel(expression) {
        directives.push(Directive::Pack { tensor: "left".into(), at: range });
    }
    Ok(Schedule { directives }.with_partial_sums_of_tiles(expression).with_triangles(expression))
}

/// Is the factor of rows computed or guarded, so that a range has a panel of it?
fn needs_panel(expression: &Expression) -> bool {
    let left = expression.factors().map(|[left, _]| left);
    left.is_some_and(|l| l.operations > 0 || l.access.guarded)
}

/// The columns of a tile, if they divide all columns: then the factor of columns is stored in panels, which are read in order.
pub(crate) fn panel(cpu: &Cpu, expression: &Expression) -> Option<i64> {
    let facts = Facts::of(cpu, expression).ok()?;
    let columns = smallest(cpu, &facts)?.columns;
    (facts.column.extent > columns && facts.column.extent % columns == 0).then_some(columns)
}

/// The tile whose sums take least.
fn smallest(cpu: &Cpu, facts: &Facts) -> Option<TileSize> {
    facts.sizes(cpu).into_iter().min_by(|a, b| facts.of_sums(a).total_cmp(&facts.of_sums(b)))
}

/// Does a share of the second cache have all columns of a product?
fn has_near_columns(cpu: &Cpu, expression: &Expression, batch: &[String]) -> bool {
    let Some([_, Factor { bytes, access, .. }]) = expression.factors() else { return false };
    let products =
        batch.iter().filter(|name| access.stride(name) != 0).filter_map(|name| expression.find(name));
    let products = products.map(|l| l.extent as f64).product::<f64>();
    access.elements * bytes as f64 / products <= cpu.second_cache as f64 / 4.0
}

/// What is known of the product, and the tile whose sums take least.
fn tile(cpu: &Cpu, expression: &Expression, rows: &str) -> Result<(Facts, TileSize), &'static str> {
    let facts = Facts::of(cpu, expression).map_err(|_| "it has no tiles")?;
    if facts.rows.name != rows {
        return Err("rows of tiles are not rows of the product");
    }
    let [left, columns] = expression.factors().ok_or("it does not multiply two values")?;
    // A range would read a part of a page for each term.
    if is_far(&left.access, &facts.summed) {
        return Err("the terms of a row lie far from each other");
    }
    if columns.operations > 0 || columns.access.guarded {
        return Err("a factor of columns that is computed would be computed for every range of rows");
    }
    // What was stored for it lies as well as it can.
    let is_stored = matches!(columns.access.tensor, Tensor::Temporary(_));
    if columns.access.stride(&facts.column.name) != 1 || !is_stored && is_far(&columns.access, &facts.summed)
    {
        return Err("the factor of columns does not lie as tiles read it");
    }
    let terms: i64 = facts.summed.iter().map(|l| l.extent).product();
    if needs_panel(expression) && terms > MOST_TERMS {
        return Err("a panel of rows has too many terms");
    }
    let size = smallest(cpu, &facts).ok_or("it has no tiles")?;
    Ok((facts, size))
}
