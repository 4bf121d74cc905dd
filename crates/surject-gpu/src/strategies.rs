//! The strategies of a GPU.

use crate::Gpu;
use crate::model::model;
use surject_codegen::kernels::contraction::Tiles;
use surject_codegen::kernels::expression::{Expression, LoopInfo, Reduction};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::schedule::{Directive, Schedule};
use surject_kernel::Level;

/// Rows, columns and terms from which on there are tiles.
const TILED: i64 = 24;
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
fn ordered(loops: &[LoopInfo], except: Option<&LoopInfo>) -> Vec<(String, i64, bool)> {
    let mut order: Vec<(String, i64, bool)> = Vec::new();
    for l in loops.iter().filter(|l| except.is_none_or(|row| row.name != l.name)) {
        order.push((l.name.clone(), l.extent, l.parallel));
    }
    order.sort_by_key(|l| (!l.2, std::cmp::Reverse(l.1)));
    order
}

/// A schedule with its time by the model, in cycles.
fn proposal(gpu: &Gpu, expression: &Expression, directives: Vec<Directive>) -> Proposal {
    let schedule = Schedule { directives };
    let cost = model(gpu, expression, &schedule).seconds * gpu.clock;
    Proposal { schedule, cost }
}

/// Blocks share the outermost loops up to one that warps share, three at most: those whose iterations are independent.
fn blocks(
    order: &[(String, i64, bool)],
    warps: Option<&String>,
    directives: &mut Vec<Directive>,
) -> Result<(), String> {
    match order.first() {
        Some((_, _, true)) => {
            // The second and the third dimension of a grid have fewer blocks.
            let fits = |i: usize, l: &(String, i64, bool)| l.2 && (i == 0 || l.1 <= GRID) && warps != Some(&l.0);
            let mut count = (0..order.len().min(3)).take_while(|&i| fits(i, &order[i])).count();
            // The innermost one is the first dimension.
            while count > 1 && order[0].1 > GRID {
                count -= 1;
            }
            for l in &order[..count] {
                directives.push(Directive::Parallel(l.0.clone(), Level::Block));
            }
            Ok(())
        }
        Some((name, ..)) => Err(format!("iterations of the outermost loop `{name}` meet")),
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
    (threads, lanes): (i64, i64),
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
        let mut directives = vec![Directive::Split(row.name.clone(), threads * lanes)];
        let mut inner = vec![format!("{}.i", row.name)];
        if lanes > 1 {
            directives.push(Directive::Split(inner[0].clone(), lanes));
            inner = vec![format!("{}.i.o", row.name), format!("{}.i.i", row.name)];
        }
        // Independent loops stand outside, those over elements that meet inside.
        let mut order = ordered(&loops, Some(&row));
        order.push((format!("{}.o", row.name), (row.extent + threads * lanes - 1) / (threads * lanes), true));
        order.sort_by_key(|l| (!l.2, std::cmp::Reverse(l.1)));
        directives.push(Directive::Order(order.iter().map(|l| l.0.clone()).chain(inner.clone()).collect()));
        blocks(&order, None, &mut directives)?;
        directives.push(Directive::Parallel(inner[0].clone(), Level::Thread));
        if lanes > 1 {
            directives.push(Directive::Vectorise(inner[1].clone()));
        }
        Ok(proposal(&self.gpu, expression, directives))
    }
}

/// The threads of a warp, or of a block, share the terms of reductions and the points of a row.
pub struct Rows {
    pub gpu: Gpu,
    pub block: bool,
}

impl Rows {
    /// The loop of a reduction that threads share: its terms lie next to each other.
    fn along(&self, expression: &Expression, reduction: &Reduction, threads: i64) -> Result<String, String> {
        let along = |name: &&String| {
            let strides = expression.strides(name);
            let next = !strides.is_empty() && strides.iter().all(|s| s.elements == 1);
            next && expression.find(name).is_some_and(|l| l.extent >= threads)
        };
        let found = reduction.loops.iter().find(along);
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
        for reduction in &reductions {
            let name = self.along(expression, reduction, threads)?;
            if along.contains(&name) {
                continue;
            }
            let extent = expression.find(&name).map_or(0, |l| l.extent);
            let lanes = lanes(expression, &name, extent);
            let (outer, inner) = shared(&name, extent, (threads, lanes), &mut directives);
            // Lanes are innermost.
            let others = reduction.loops.iter().filter(|l| **l != name).cloned();
            let order: Vec<String> = others.chain([outer]).chain(inner).collect();
            directives.push(Directive::Order(order));
            along.push(name);
        }
        // Points that no reduction depends on are those of the row that is reduced.
        let row = row(&loops, expression)
            .filter(|row| row.extent >= threads && reductions.iter().all(|r| !r.outer.contains(&row.name)));
        let mut order = ordered(&loops, row.as_ref());
        let own = match order.first() {
            // Each warp of a block has rows of its own.
            Some((name, extent, true)) if !self.block && extent % ROWS == 0 => {
                let (name, extent) = (name.clone(), *extent);
                directives.push(Directive::Split(name.clone(), ROWS));
                order.splice(0..1, [
                    (format!("{name}.o"), extent / ROWS, true),
                    (format!("{name}.i"), ROWS, true),
                ]);
                Some(format!("{name}.i"))
            }
            _ => None,
        };
        let mut names: Vec<String> = order.iter().map(|l| l.0.clone()).collect();
        if let Some(row) = &row {
            let lanes = lanes(expression, &row.name, row.extent);
            let (outer, inner) = shared(&row.name, row.extent, (threads, lanes), &mut directives);
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

/// Tiles of sums of products, in shared memory and in registers.
pub struct Contractions(pub Gpu);

impl Strategy for Contractions {
    fn name(&self) -> &'static str {
        "tiles"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let product = expression.product().ok_or("the expression is no sum of products")?;
        let longest = |names: &[String]| {
            let loops = names.iter().filter_map(|name| expression.find(name));
            loops.max_by_key(|l| l.extent).filter(|l| l.extent >= TILED)
        };
        let missing = |what: &str| format!("fewer than {TILED} {what}");
        let rows = longest(&product.rows).ok_or_else(|| missing("rows"))?;
        let columns = longest(&product.columns).ok_or_else(|| missing("columns"))?;
        let terms = longest(&product.terms).ok_or_else(|| missing("terms"))?;
        let lanes = (WIDEST / expression.element_bytes() as i64).clamp(1, 4);
        // Half as many rows where tiles would not keep all multiprocessors busy.
        let tiles = |m: i64| ((rows.extent + m - 1) / m) * ((columns.extent + 31) / (32 * lanes));
        let warps = if tiles(64) >= self.0.multiprocessors || rows.extent > 256 { 8 } else { 4 };
        let tiles = Tiles {
            loops: [rows.name, columns.name, terms.name],
            tile: [8 * warps, 32 * lanes, 32],
            thread: [8, lanes],
        };
        Ok(proposal(&self.0, expression, vec![Directive::Contract(tiles)]))
    }
}
