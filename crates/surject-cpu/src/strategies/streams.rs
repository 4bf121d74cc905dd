//! Few rows times a large matrix, which is read in its order in memory.

use super::{Nest, cost, fused, row, strided, work};
use crate::Cpu;
use surject_codegen::kernels::expression::{Expression, LoopInfo};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::schedule::{Directive, Schedule, fits};

/// Some terms of all columns of a task are summed before the next ones: the sums are in memory meanwhile.
pub struct Streams(pub Cpu);

/// Terms that are summed at once.
const TERMS: i64 = 16;

/// Columns of a task, as far as they divide all: those of a row of the matrix are two pages of memory, or some.
const COLUMNS: i64 = 2048;

/// Bytes of a matrix that no cache near by has.
const LARGE: f64 = 4e6;

impl Strategy for Streams {
    fn name(&self) -> &'static str {
        "streams"
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
        let is_large = expression.accesses().iter().any(|a| {
            let by_rows = a.stride(term).unsigned_abs() >= column.extent.unsigned_abs();
            !a.stored && a.stride(&column.name) == 1 && by_rows && a.elements * a.bytes as f64 >= LARGE
        });
        if !is_large || terms < 2 * TERMS {
            return Err(format!(
                "no large matrix has its columns along `{}` and its rows along `{term}`",
                column.name
            ));
        }
        let others: Vec<&LoopInfo> = loops.iter().filter(|l| l.name != column.name && l.extent > 1).collect();
        let (rows, vectors) = match others[..] {
            [] => (None, 4),
            [rows] if rows.parallel && rows.extent <= self.0.vector_registers / 2 - 3 => (Some(rows), 2),
            _ => return Err("there are rows enough for tiles".into()),
        };
        let by = vectors * lanes;
        let blocks = (column.extent + by - 1) / by;
        let columns = blocks.min(COLUMNS / by);
        let columns = (1..=columns).rev().find(|n| blocks % n == 0).unwrap_or(1);
        let mut order = vec![column.clone()];
        order.extend(loops.iter().filter(|l| l.name != column.name).cloned());
        let mut nest = Nest::new(&order);
        if let Some(rows) = rows {
            nest.jam(&rows.name, rows.extent);
        }
        nest.vectorise(&column.name, by);
        nest.split(0, columns);
        let at = nest.first().to_string();
        let mut directives = nest.directives();
        if columns * by < column.extent {
            directives.push(Directive::Parallel(at.clone(), surject_kernel::Level::Task));
        }
        directives.insert(0, Directive::Split(term.clone(), TERMS));
        directives.extend(fused(&self.0, expression));
        directives.push(Directive::Accumulate { blocks: format!("{term}.o"), at });
        let schedule = Schedule { directives };
        fits(expression, &schedule).map_err(|error| error.to_string())?;
        let strides = expression.strides(&column.name);
        let cost = IN_ORDER * cost(work(expression), lanes, strided(&strides), strides.len());
        Ok(Proposal { schedule, cost })
    }
}
