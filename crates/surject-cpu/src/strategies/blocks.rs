//! Long sums of few results: tiles whose terms are taken in blocks, and whose sums are in memory meanwhile.

use super::tiles::{FAR_BYTE, Facts, NEAR, NEAR_BYTE, TileSize, depends};
use super::{Nest, PointLoop};
use crate::Cpu;
use surject_codegen::kernels::expression::{AccessInfo, Expression, LoopInfo};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::schedule::{Directive, Schedule, fits};
use surject_kernel::Level;

/// All results that a task has get the terms of a block before those of the next one are looked at: a block stays in a cache
/// near by for all of them.
pub struct Blocks(pub Cpu);

/// Rows that fit two tiles.
const ROWS: i64 = 16;

/// The fewest terms of a block, and the most bytes of the sums of a task.
const TERMS: i64 = 96;
const SUMS: i64 = 1 << 17;

/// Tasks that there are to be, where there is enough to do.
const TASKS: i64 = 8;

/// How the loops of a reduction become blocks.
struct Terms {
    directives: Vec<Directive>,
    /// The innermost loop over blocks, and how many blocks there are.
    blocks: String,
    count: f64,
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
        let columns = facts.accesses.iter().find(of_columns).ok_or("no factor depends on columns alone")?;
        if columns.elements * (columns.bytes as f64) < NEAR {
            return Err("a cache near by has all factors of the columns".into());
        }
        let again = facts.loops.iter().filter(|l| !depends(columns, &l.name)).map(|l| l.extent);
        if again.product::<i64>() <= ROWS {
            return Err("rows in one tile or two read them once or twice".into());
        }
        if columns.stride(&facts.column.name) != 1 {
            return Err("the factors of neighbours do not lie next to each other".into());
        }
        if facts.loops.iter().any(|l| l.extent > 1 && !sum.outer.contains(&l.name)) {
            return Err("a sum is there for several results".into());
        }
        let terms = terms(&facts, columns).ok_or("the sums are short")?;
        let mut best: Option<Proposal> = None;
        let mut refused = "more results than a task has sums in memory".to_string();
        for size in facts.sizes(&self.0) {
            let Some(proposal) = self.schedule(&facts, &size, &terms) else { continue };
            if best.as_ref().is_some_and(|b| b.cost <= proposal.cost) {
                continue;
            }
            match fits(expression, &proposal.schedule) {
                Ok(()) => best = Some(proposal),
                Err(error) => refused = error.message,
            }
        }
        best.ok_or(refused)
    }
}

/// The loops of a sum, as the factors of the columns lie in memory, and blocks of them.
fn terms(facts: &Facts, columns: &AccessInfo) -> Option<Terms> {
    let mut loops: Vec<LoopInfo> = facts.summed.clone();
    loops.sort_by_key(|l| std::cmp::Reverse(columns.stride(&l.name).unsigned_abs()));
    let mut order: Vec<String> = loops.iter().map(|l| l.name.clone()).collect();
    // Whole loops are inside of a block, and so many iterations of the one around them.
    let mut inside = 1i64;
    while let Some(l) = loops.pop() {
        let by = (TERMS + inside - 1) / inside;
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
            return Some(Terms { directives, blocks, count: (around * ((l.extent + by - 1) / by)) as f64 });
        }
        inside *= l.extent;
    }
    None
}

impl Blocks {
    /// A schedule of tiles of a size, and its cost, if a task has memory for its sums.
    fn schedule(&self, facts: &Facts, size: &TileSize, terms: &Terms) -> Option<Proposal> {
        /// What an element costs that goes to a panel and back.
        const PACKED: f64 = 0.25;
        let Facts { column, rows, loops, accesses, .. } = facts;
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
        directives.extend_from_slice(&facts.fused);
        directives.push(Directive::Accumulate { blocks: terms.blocks.clone(), at });
        let mut cost = facts.of_sums(size) + all as f64 * bytes as f64 * 2.0 * terms.count * NEAR_BYTE;
        for access in accesses.iter().filter(|a| !a.stored) {
            let read = access.elements * access.bytes as f64;
            if !depends(access, &rows.name) {
                cost += read * (tasks - 1) as f64 * FAR_BYTE;
            } else if access.guarded {
                directives
                    .push(Directive::Pack { tensor: access.tensor.to_string(), at: terms.blocks.clone() });
                cost += access.elements * PACKED;
            }
        }
        directives.dedup();
        Some(Proposal { schedule: Schedule { directives }, cost })
    }
}
