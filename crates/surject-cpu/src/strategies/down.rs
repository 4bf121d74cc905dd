//! Reductions down long columns: rows are read in the order of memory, and joined to sums that are in memory meanwhile.

use super::{Nest, cost, row, values, work};
use crate::Cpu;
use surject_codegen::kernels::expression::{AccessInfo, Expression, LoopInfo, Reduction};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::schedule::{Directive, Schedule, fits};

/// Some rows at a time, from as many places of the tensors, are joined to the sums of all columns: what walks down a column takes one
/// piece of every row, and every row lies in another page. The expression has a loop over places inside of one over the rows of a
/// place.
pub struct Down(pub Cpu);

/// The rows that are joined at a time, at most.
const PLACES: i64 = 8;

/// The vectors of a row that are joined at a time.
const VECTORS: i64 = 4;

/// What walking down columns takes longer.
const WALK: f64 = 0.75;

impl Strategy for Down {
    fn name(&self) -> &'static str {
        "down"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let lanes = self.0.lanes(expression)?;
        let reductions = expression.reductions();
        let sum = reductions.iter().find(|r| is_in_places(expression, r));
        let sum = sum.ok_or("no reduction goes down columns in several places")?;
        let loops = expression.loops();
        let row = row(&loops, expression, lanes).ok_or("no results lie next to each other")?;
        if loops.iter().any(|l| l.extent > 1 && !sum.outer.contains(&l.name)) {
            return Err("a sum is there for several results".into());
        }
        let [rows, places] = &sum.loops[..] else { return Err("the reduction has not two loops".into()) };
        let by = (VECTORS * lanes).min(super::parts(row.extent, lanes) * lanes);
        let mut nest = Nest::new(&loops);
        // All columns are inside of the loop where the sums begin.
        nest.split(
            nest.position(&row.name).ok_or("no loop over columns")?,
            super::parts(row.extent, by) * by,
        );
        let [all, inner] = ["o", "i"].map(|end| format!("{}.{end}", row.name));
        nest.vectorise(&inner, by);
        if let Some(position) = nest.position(&format!("{inner}.o")) {
            let inside = nest.loops.remove(position);
            let last = nest.loops.len() - 1;
            nest.loops.insert(last, inside);
        }
        // One thread reads whole rows.
        if self.0.threads > 1 || nest.first() != all {
            nest.share(&self.0, work(expression));
        }
        let mut directives = nest.directives();
        directives.push(Directive::Unroll(places.clone()));
        directives.extend(values(&self.0, expression, None));
        directives.push(Directive::Accumulate { blocks: rows.clone(), at: all });
        let schedule = Schedule { directives };
        fits(expression, &schedule).map_err(|error| error.message)?;
        Ok(Proposal { schedule, cost: WALK * cost(work(expression), lanes, 0, 1) })
    }
}

/// Has a reduction a loop over places of the tensors inside of one over the rows of a place?
fn is_in_places(expression: &Expression, reduction: &Reduction) -> bool {
    let loops: Vec<LoopInfo> = reduction.loops.iter().filter_map(|name| expression.find(name)).collect();
    let [rows, places] = &loops[..] else { return false };
    let of_rows = |a: &AccessInfo| {
        let stride = a.stride(&rows.name);
        !a.stored && stride != 0 && a.stride(&places.name) == stride.saturating_mul(rows.extent)
    };
    let accesses = expression.accesses();
    let depends = |a: &&AccessInfo| a.stride(&places.name) != 0;
    (2..=PLACES).contains(&places.extent)
        && accesses.iter().any(|a| depends(&a))
        && accesses.iter().filter(depends).all(of_rows)
}
