//! Short rows: as many at a time as there are lanes, a row in each.

use super::{Nest, non_temporal, values, work};
use crate::Cpu;
use surject_codegen::kernels::expression::{AccessInfo, Expression, LoopInfo};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::schedule::{Directive, Schedule, fits};

/// The longest row, all loops along it counted as one: terms along memory are in lanes otherwise. With rows in lanes a function
/// has as many arguments as there are lanes.
const LONGEST: i64 = 24;
const LONGEST_WITH_FUNCTION: i64 = 64;

/// Elements of rows that lie at most so far apart are picked from vectors that hold all that is between them.
const NEAR: i64 = 8;

/// The most terms that are written out, of all columns of a row.
const WRITTEN: i64 = 256;

/// What an element of a row costs beside its load or store: its part of the shuffles that put columns together.
const SHUFFLES: f64 = 2.0;

/// An operation of a task counts as this part of one.
const TASK: f64 = 2.0;

/// Rows lie in lanes; the loops along them are written out, so that what is loaded and stored of a block of rows are runs of
/// neighbours, which shuffles make columns of ([`surject_codegen::kernels::strided`]).
pub struct Columns(pub Cpu);

impl Columns {
    pub(crate) const NAME: &'static str = "columns";
}

impl Strategy for Columns {
    fn name(&self) -> &'static str {
        Columns::NAME
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let lanes = self.0.lanes(expression)?;
        if lanes < 4 {
            return Err("a vector has fewer than four lanes".into());
        }
        let loops = expression.loops();
        let long = |l: &&LoopInfo| l.parallel && l.extent >= lanes;
        let found = loops.iter().filter(long).filter_map(|row| self.along(expression, row, lanes));
        let best = found.min_by(|a, b| a.cost.total_cmp(&b.cost));
        best.ok_or_else(|| "no short rows lie one behind the other".into())
    }
}

impl Columns {
    /// The lanes are the rows of a loop, if something lies along rows that are short.
    fn along(&self, expression: &Expression, row: &LoopInfo, lanes: i64) -> Option<Proposal> {
        let accesses = expression.accesses();
        let stride = |a: &AccessInfo, name: &str| a.stride(name).abs();
        let strided: Vec<&AccessInfo> = accesses.iter().filter(|a| stride(a, &row.name) > 1).collect();
        let inside = |a: &AccessInfo, name: &str| (1..stride(a, &row.name)).contains(&stride(a, name));
        let is_along = |name: &str| strided.iter().any(|a| inside(a, name));
        // What lies further apart otherwise would be gathered.
        let along = |a: &AccessInfo| a.strides.iter().any(|(name, _)| inside(a, name));
        let near = |a: &AccessInfo| !a.stored && stride(a, &row.name) <= NEAR;
        if !strided.iter().all(|a| along(a) || near(a)) {
            return None;
        }
        let longest = if expression.has_formulas() { LONGEST_WITH_FUNCTION } else { LONGEST };
        let loops = expression.loops();
        let columns = loops.iter().filter(|l| l.name != row.name && l.parallel && is_along(&l.name));
        let columns: Vec<&LoopInfo> = columns.filter(|l| l.extent > 1).collect();
        // Reductions along rows: all of their loops are written out.
        let mut terms: Vec<LoopInfo> = Vec::new();
        for reduction in expression.reductions() {
            let own: Vec<LoopInfo> =
                reduction.loops.iter().filter_map(|name| expression.find(name)).collect();
            if !own.iter().any(|l| is_along(&l.name)) {
                continue;
            }
            let repeated = columns.iter().filter(|l| reduction.outer.contains(&l.name));
            let mut all = own.iter().chain(repeated.copied()).map(|l| l.extent);
            if all.try_fold(1, i64::checked_mul).is_none_or(|all| all > WRITTEN) {
                return None;
            }
            if own.iter().map(|l| l.extent).product::<i64>() > longest {
                return None;
            }
            let new = own.into_iter().filter(|l| !terms.contains(l)).collect::<Vec<_>>();
            terms.extend(new);
        }
        let jammed = columns.iter().map(|l| l.extent).try_fold(1, i64::checked_mul)?;
        if jammed > longest || jammed == 1 && terms.is_empty() {
            return None;
        }
        // What is stored is written in order.
        let apart = |l: &LoopInfo| {
            let stores = accesses.iter().filter(|a| a.stored);
            stores.map(|a| stride(a, &l.name)).max().unwrap_or(0)
        };
        let mut ordered = loops.clone();
        ordered.sort_by_key(|l| std::cmp::Reverse(apart(l)));
        let mut nest = Nest::new(&ordered);
        columns.iter().for_each(|l| nest.jam_all(&l.name));
        nest.vectorise(&row.name, lanes);
        // A task has as many operations as another one of so many elements, most of them in lanes.
        nest.share(&self.0, work(expression) / TASK);
        let mut directives = nest.directives();
        directives.extend(terms.iter().map(|l| Directive::Unroll(l.name.clone())));
        directives.extend(values(&self.0, expression, Some((row, lanes))));
        let inside: Vec<&str> = columns.iter().map(|l| l.name.as_str()).chain([row.name.as_str()]).collect();
        let past = non_temporal::is_worth(&self.0, expression);
        let lacks = !directives.contains(&Directive::NonTemporal);
        // What blocks of rows store goes on from block to block: the lines that they share are put together before they leave.
        let goes_on = accesses.iter().filter(|a| a.stored).all(|a| a.stride(&row.name) == jammed);
        let run = if goes_on { row.extent } else { lanes };
        if lacks && past && non_temporal::fills_lines(expression, &inside, run * jammed) {
            directives.push(Directive::NonTemporal);
        }
        // The quotients of a row by the same value share its inverse.
        let shares = |l: &&&LoopInfo| jammed >= super::SHARED && expression.divides_along(&l.name);
        directives.extend(columns.iter().find(shares).map(|l| Directive::Inverse(l.name.clone())));
        let schedule = Schedule { directives };
        fits(expression, &schedule).ok()?;
        let cost = |a: &AccessInfo| match stride(a, &row.name) {
            0 | 1 => a.elements,
            _ => a.elements * (1.0 + SHUFFLES),
        };
        let cost = (expression.operations() + accesses.iter().map(cost).sum::<f64>()) / lanes as f64;
        Some(Proposal { schedule, cost })
    }
}
