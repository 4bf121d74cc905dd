//! Sums whose terms are the lanes.

use super::{JOIN, Nest, SHARED, cost, fused, is_chosen, row, values, width, work};
use crate::Cpu;
use surject_codegen::kernels::expression::{Expression, LoopInfo, Reduction};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::schedule::{Ahead, Directive, Schedule, fits};

/// The terms of reductions along memory are the lanes, and results too where they lie next to each other.
pub struct Dots(pub Cpu);

impl Strategy for Dots {
    fn name(&self) -> &'static str {
        "dots"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let lanes = self.0.lanes(expression)?;
        let reductions = expression.reductions();
        if reductions.is_empty() {
            return Err("there is no reduction".into());
        }
        let along = |name: &&String| {
            let strides = expression.strides(name);
            strides.iter().all(|s| s.elements == 1)
                && expression.find(name).is_some_and(|l| l.extent >= lanes)
        };
        let (mut terms, mut inverses): (Vec<Directive>, Vec<Directive>) = (Vec::new(), Vec::new());
        for reduction in &reductions {
            let found = reduction.loops.iter().find(along).and_then(|name| expression.find(name));
            let found =
                found.ok_or_else(|| format!("no {lanes} terms of a reduction lie next to each other"))?;
            let name = &found.name;
            if terms.iter().any(|d| matches!(d, Directive::Split(split, _) if split == name)) {
                continue;
            }
            // A loop of several reductions has the lanes of that with the most values.
            let sharing = reductions.iter().filter(|r| r.loops.contains(name)).map(|r| r.registers);
            let registers = sharing.max_by_key(|r| r.values).unwrap_or(reduction.registers);
            let by = width(&self.0, registers, found.extent);
            let split = Directive::Split(name.clone(), by);
            if found.extent >= SHARED * by && expression.divides_along(name) {
                inverses.push(Directive::Inverse(name.clone()));
            }
            let mut order: Vec<String> = reduction.loops.iter().filter(|l| *l != name).cloned().collect();
            order.extend([format!("{name}.o"), format!("{name}.i")]);
            terms.extend([split, Directive::Order(order), Directive::Vectorise(format!("{name}.i"))]);
        }
        let loops = expression.loops();
        let row = row(&loops, expression, lanes);
        let schedule = |row: Option<&LoopInfo>| {
            let mut nest = Nest::new(&loops);
            let vector = row.map(|row| (row, width(&self.0, expression.registers(&row.name), row.extent)));
            vector.iter().for_each(|(row, by)| nest.vectorise(&row.name, *by));
            nest.share(&self.0, work(expression));
            let mut directives = nest.directives();
            directives.extend(terms.iter().cloned());
            directives.extend(values(&self.0, expression, vector));
            directives.extend(inverses.iter().cloned());
            directives.extend(self.ahead(expression, &reductions));
            let mut schedule = Schedule { directives };
            for (reduced, at) in expression.keepable() {
                schedule.directives.push(Directive::Keep { reduced, at });
                if fits(expression, &schedule).is_err() {
                    schedule.directives.pop();
                }
            }
            // Rows with terms that are kept are in the caches.
            if schedule.directives.iter().any(|d| matches!(d, Directive::Keep { .. })) {
                schedule.directives.retain(|d| *d != Directive::NonTemporal);
            }
            schedule
        };
        if let Some(proposal) = self.in_step(expression) {
            return Ok(proposal);
        }
        let fitting = [row.as_ref(), None].map(schedule).into_iter().find(|s| fits(expression, s).is_ok());
        let schedule = fitting.ok_or("reductions stand inside of each other, whose lanes would meet")?;
        // In the end the lanes of each reduction are joined, one after the other.
        let extent = |name: &String| expression.find(name).map_or(1, |l| l.extent) as f64;
        let values = reductions.iter().map(|r| r.outer.iter().map(extent).product::<f64>());
        let joins = JOIN * (lanes as f64).log2() * values.sum::<f64>();
        Ok(Proposal { schedule, cost: cost(work(expression), lanes, 0, 1) + joins })
    }
}

/// A product of few columns: the sums of some rows and all columns run in step, so that what is loaded serves all of them.
struct Few {
    /// The loop of rows that run in step, and that of columns.
    row: LoopInfo,
    column: LoopInfo,
    /// The terms that lie next to each other in rows.
    term: String,
}

/// The terms of a product with few columns that are better the lanes than these are: they lie next to each other in its rows.
pub(crate) fn term(cpu: &Cpu, expression: &Expression) -> Option<String> {
    Some(few(cpu, expression)?.term)
}

/// A product as one of few columns.
fn few(cpu: &Cpu, expression: &Expression) -> Option<Few> {
    /// Vectors of terms that are worth joining their lanes, and rows that are many.
    const VECTORS: i64 = 4;
    const ROWS: i64 = 16;
    let lanes = cpu.lanes(expression).ok()?;
    let [sum] = &expression.reductions()[..] else { return None };
    let ([left, _], product) = (expression.factors()?, expression.product()?);
    let wide = |names: &[String]| -> Vec<LoopInfo> {
        names.iter().filter_map(|name| expression.find(name)).filter(|l| l.extent > 1).collect()
    };
    let (rows, columns, terms) = (wide(&product.rows), wide(&product.columns), wide(&sum.loops));
    let [column] = &columns[..] else { return None };
    let row = rows.last()?;
    let next = terms.iter().find(|l| left.access.stride(&l.name) == 1 && l.extent >= lanes)?;
    let all = |loops: &[LoopInfo]| loops.iter().map(|l| l.extent).product::<i64>();
    let is_many = all(&terms) >= VECTORS * lanes && all(&rows) >= ROWS;
    let is_plain = left.operations == 0 && !left.access.guarded && row.parallel && column.parallel;
    (2 * column.extent <= lanes && is_many && is_plain && sum.sums_products).then(|| Few {
        row: row.clone(),
        column: column.clone(),
        term: next.name.clone(),
    })
}

impl Dots {
    /// Terms that no cache of a thread holds are prefetched, which goes on where a page of memory ends.
    fn ahead(&self, expression: &Expression, reductions: &[Reduction]) -> Vec<Directive> {
        /// Elements of 4 bytes of two pages.
        const BYTES: usize = 8192;
        if !self.0.prefetches_terms {
            return Vec::new();
        }
        let accesses = expression.accesses();
        let far = accesses.iter().filter(|a| {
            !a.stored
                && !a.guarded
                && !is_chosen(a)
                && a.elements * a.bytes as f64 > self.0.second_cache as f64
        });
        let along = far.filter_map(|a| {
            let loops = reductions.iter().flat_map(|r| &r.loops);
            let name = loops.into_iter().find(|name| a.stride(name) == 1)?;
            let (tensor, by) = (a.tensor.to_string(), (BYTES / a.bytes) as i64);
            Some(Directive::Prefetch(Ahead {
                tensor,
                by,
                along: None,
                within: Some(name.clone()),
                soon: false,
            }))
        });
        let mut all: Vec<Directive> = Vec::new();
        along.for_each(|directive| {
            if !all.contains(&directive) {
                all.push(directive)
            }
        });
        all
    }

    /// The sums of some rows and all columns in step.
    fn in_step(&self, expression: &Expression) -> Option<Proposal> {
        /// Rows in step, at most.
        const ROWS: i64 = 4;
        let (cpu, lanes) = (&self.0, self.0.lanes(expression).ok()?);
        let Few { row, column, term } = few(cpu, expression)?;
        if expression.strides(&term).iter().any(|s| s.elements != 1) {
            return None;
        }
        // A register for each sum, for the terms of each column, and for those of a row.
        let few = column.extent;
        let rows = ((cpu.vector_registers - 1) / (few + 1)).clamp(1, ROWS.min(row.extent));
        let mut nest = Nest::new(&expression.loops());
        nest.jam(&row.name, rows);
        nest.jam_all(&column.name);
        nest.share(cpu, work(expression));
        let mut directives = nest.directives();
        let [sum] = &expression.reductions()[..] else { return None };
        let mut order: Vec<String> = sum.loops.iter().filter(|l| **l != term).cloned().collect();
        order.extend([format!("{term}.o"), format!("{term}.i")]);
        directives.extend([
            Directive::Split(term.clone(), lanes),
            Directive::Order(order),
            Directive::Vectorise(format!("{term}.i")),
        ]);
        directives.extend(fused(cpu, expression));
        let schedule = Schedule { directives };
        fits(expression, &schedule).ok()?;
        let loads = (rows + few) as f64 / (rows * few) as f64;
        let joins: f64 = expression.loops().iter().map(|l| l.extent as f64).product();
        let joins = JOIN * (lanes as f64).log2() * joins;
        Some(Proposal { schedule, cost: work(expression) / lanes as f64 * (0.3 + 0.4 * loads) + joins })
    }
}
