//! Few rows times a large matrix, which is read in its order in memory.

use super::{Nest, cost, fused, parts, row, strided, work};
use crate::Cpu;
use surject_codegen::kernels::expression::{Expression, LoopInfo};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::schedule::{Ahead, Directive, Schedule, fits};

/// Some terms of all columns of a task are summed before the next ones: the sums are in memory meanwhile.
pub struct Streams(pub Cpu);

/// Terms that are summed at once: so many rows of the matrix are read side by side. Of 16 the processor prefetches few, which takes
/// twice as long (Zen 3).
const TERMS: i64 = 8;

/// The same of several rows in wide vectors, where the terms that come next are prefetched meanwhile. (A Zen 4 takes 0.8 of the time.)
const WIDE_TERMS: i64 = 16;

/// The most elements of the sums of a task of several rows there: a cache near by has them.
const WIDE_SUMS: i64 = 1 << 14;

/// The most columns of a task: the first cache has their sums. And the fewest where threads share them: those of a row of the matrix
/// are a page of memory.
const COLUMNS: i64 = 4096;
const FEWEST: i64 = 1024;

/// The most rows; more fill tiles.
const ROWS: i64 = 32;

/// Bytes of a matrix that no cache near by has.
const LARGE: f64 = 4e6;

impl Streams {
    pub(crate) const NAME: &'static str = "streams";

    /// How many rows run in step, each in two vectors.
    fn together(&self, rows: i64) -> i64 {
        let most = (self.0.vector_registers / 2 - 3).clamp(1, rows);
        let with_idle = |by: &i64| parts(rows, *by) * by;
        ((most - most / 3)..=most).rev().min_by_key(with_idle).unwrap_or(1)
    }
}

impl Strategy for Streams {
    fn name(&self) -> &'static str {
        Streams::NAME
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        /// The part of the operations' time that is left where nothing waits for pages.
        const IN_ORDER: f64 = 0.6;
        let lanes = self.0.lanes(expression)?;
        let loops = expression.loops();
        let column = row(&loops, expression, lanes);
        let column = column.ok_or_else(|| format!("no {lanes} results lie next to each other"))?;
        let [sum] = &expression.reductions()[..] else { return Err("there is not one reduction".into()) };
        let [term] = &sum.loops[..] else { return Err("the reduction has not one loop".into()) };
        let terms = expression.find(term).map_or(1, |l| l.extent);
        let accesses = expression.accesses();
        let matrix = accesses.iter().find(|a| {
            let by_rows = a.stride(term).unsigned_abs() >= column.extent.unsigned_abs();
            !a.stored && a.stride(&column.name) == 1 && by_rows && a.elements * a.bytes as f64 >= LARGE
        });
        let matrix = matrix.filter(|_| terms >= 2 * TERMS).ok_or_else(|| {
            format!("no large matrix has its columns along `{}` and its rows along `{term}`", column.name)
        })?;
        let others: Vec<&LoopInfo> = loops.iter().filter(|l| l.name != column.name && l.extent > 1).collect();
        let (rows, vectors) = match others[..] {
            [] => (None, 4),
            [rows] if rows.parallel && rows.extent <= ROWS => (Some(rows), 2),
            _ => return Err("there are rows enough for tiles".into()),
        };
        let is_wide = rows.is_some() && !self.0.has_narrow_vectors() && terms >= 2 * WIDE_TERMS;
        let together = if is_wide { WIDE_TERMS } else { TERMS };
        let most = rows.filter(|_| is_wide).map_or(COLUMNS, |rows| (WIDE_SUMS / rows.extent).min(COLUMNS));
        let by = vectors * lanes;
        let blocks = parts(column.extent, by);
        let columns = blocks.min(most / by).min(parts(blocks, self.0.threads as i64).max(FEWEST / by));
        // Tasks of about the same size.
        let columns = parts(blocks, parts(blocks, columns.max(1)));
        let mut order = vec![column.clone()];
        order.extend(loops.iter().filter(|l| l.name != column.name).cloned());
        let mut nest = Nest::new(&order);
        if let Some(rows) = rows {
            nest.jam(&rows.name, self.together(rows.extent));
        }
        nest.vectorise(&column.name, by);
        nest.split(0, columns);
        let at = nest.first().to_string();
        let mut directives = nest.directives();
        if columns * by < column.extent {
            directives.push(Directive::Parallel(at.clone(), surject_kernel::Level::Task));
        }
        directives.insert(0, Directive::Split(term.clone(), together));
        directives.extend(fused(&self.0, expression));
        directives.push(Directive::Accumulate { blocks: format!("{term}.o"), at });
        if is_wide {
            let (tensor, by) = (matrix.tensor.to_string(), together * matrix.stride(term));
            let within = Some(term.clone());
            directives.push(Directive::Prefetch(Ahead { tensor, by, along: None, within, soon: false }));
        }
        let schedule = Schedule { directives };
        fits(expression, &schedule).map_err(|error| error.to_string())?;
        let strides = expression.strides(&column.name);
        let cost = IN_ORDER * cost(work(expression), lanes, strided(&strides), strides.len());
        Ok(Proposal { schedule, cost })
    }
}
