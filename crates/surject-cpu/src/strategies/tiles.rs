//! Sums of several rows and vectors of results in registers.

use super::{Nest, fused, row, work};
use crate::Cpu;
use surject_codegen::kernels::expression::{AccessInfo, Expression, LoopInfo, Reduction};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::schedule::{Directive, Schedule, fits};

/// Results that are summed together: rows run in step, each in vectors of neighbours. What rows need in common is loaded
/// once for all of them, from a panel where that pays.
pub struct Tiles(pub Cpu);

/// What is known of an expression, whatever its tiles are.
struct Facts {
    /// The loops over points, and those of reductions.
    loops: Vec<LoopInfo>,
    summed: Vec<LoopInfo>,
    reductions: Vec<Reduction>,
    accesses: Vec<AccessInfo>,
    work: f64,
    fused: Vec<Directive>,
}

impl Facts {
    fn find(&self, name: &str) -> Option<&LoopInfo> {
        self.loops.iter().chain(&self.summed).find(|l| l.name == name)
    }

    /// What rows read with guards, and the loops at which panels of it are: from these it is read without guards.
    fn guarded_rows(&self, rows: &str, column: &str, directives: &[Directive]) -> Vec<(String, String)> {
        /// The bytes of rows that a panel has at most, what windows have in common counted for each of them.
        const SHARED: f64 = 262_144.0;
        let inner = format!("{rows}.o");
        let inner = if order_has(directives, &format!("{inner}.i")) { format!("{inner}.i") } else { inner };
        let around = around(directives, &inner);
        let guarded = |a: &&AccessInfo| !a.stored && a.guarded && depends(a, rows) && !depends(a, column);
        let panel = |access: &AccessInfo| {
            // All rows of the loop share what their windows have in common, where a panel of them stays near.
            let extent = |name: &str| self.find(name).map_or(1.0, |l| l.extent as f64);
            let terms = self.reductions.iter().flat_map(|r| &r.loops).filter(|name| depends(access, name));
            let elements = extent(rows) * terms.map(|name| extent(name)).product::<f64>();
            let near = elements * access.bytes as f64 <= SHARED;
            let at = around.as_ref().filter(|_| near).unwrap_or(&inner);
            (access.tensor.to_string(), at.clone())
        };
        self.accesses.iter().filter(guarded).map(panel).collect()
    }
}

/// Where panels are read.
#[derive(Clone, Copy, PartialEq)]
enum Panels {
    Packed,
    InPlace,
}

/// What runs outside of the other: blocks of columns, or of rows.
#[derive(Clone, Copy, PartialEq)]
enum Outermost {
    Columns,
    Rows,
}

/// What a schedule of tiles says.
struct Form<'a> {
    rows: &'a Rows,
    /// The columns of a tile.
    by: i64,
    panels: Panels,
    outermost: Outermost,
}

/// The loop of rows that are summed together, and how many are.
struct Rows {
    name: String,
    together: i64,
}

/// The size of a tile.
struct TileSize {
    columns: i64,
    rows: i64,
}

impl Tiles {
    /// Sizes of tiles: sums, a vector of each column and an element of a row are in registers.
    fn sizes(&self, lanes: i64, rows: i64, columns: i64, sums: i64) -> Vec<TileSize> {
        /// Sums that hide the latency of an addition, and some more.
        const ENOUGH: i64 = 14;
        let registers = self.0.vector_registers;
        let fits = |&v: &i64| v == 1 || v * lanes <= columns;
        let of = |vectors: i64| {
            let most = ((registers - vectors - 2) / (vectors * sums)).clamp(1, ENOUGH).min(rows);
            ((most - most / 3)..=most).rev().map(move |rows| TileSize { columns: vectors * lanes, rows })
        };
        [registers / 8, registers / 16, 1].into_iter().filter(fits).flat_map(of).collect()
    }
}

/// Does an access depend on a loop?
fn depends(access: &AccessInfo, name: &str) -> bool {
    access.stride(name) != 0
}

/// The loop whose iterations need elements in common that depend on the columns.
fn rows(facts: &Facts, column: &LoopInfo, sums: &[&Reduction]) -> Option<LoopInfo> {
    let terms = |a: &&AccessInfo| sums.iter().any(|r| r.loops.iter().any(|l| depends(a, l)));
    let loads: Vec<&AccessInfo> = facts.accesses.iter().filter(|a| !a.stored).filter(terms).collect();
    let shares = |l: &&LoopInfo| {
        let of_columns = loads.iter().filter(|a| depends(a, &column.name));
        let summed = sums.iter().all(|r| r.outer.contains(&l.name));
        let common = of_columns.clone().any(|a| !depends(a, &l.name));
        let of_rows = loads.iter().any(|a| depends(a, &l.name) && !depends(a, &column.name));
        l.parallel && l.extent > 1 && l.name != column.name && summed && common && of_rows
    };
    facts.loops.iter().rev().find(shares).cloned()
}

impl Strategy for Tiles {
    fn name(&self) -> &'static str {
        "tiles"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let lanes = self.0.lanes(expression)?;
        let loops = expression.loops();
        let column = row(&loops, expression, lanes);
        let column = column.ok_or_else(|| format!("no {lanes} results lie next to each other"))?;
        let reductions = expression.reductions();
        let facts = Facts {
            loops,
            summed: reductions.iter().flat_map(|r| &r.loops).filter_map(|l| expression.find(l)).collect(),
            reductions,
            accesses: expression.accesses(),
            work: work(expression),
            fused: fused(&self.0, expression),
        };
        let sums: Vec<&Reduction> =
            facts.reductions.iter().filter(|r| r.outer.contains(&column.name)).collect();
        if sums.is_empty() {
            return Err(format!("no reduction depends on `{}`", column.name));
        }
        let rows = rows(&facts, &column, &sums).ok_or("no rows need the same elements")?;
        let mut best: Option<(Schedule, f64)> = None;
        for TileSize { columns: by, rows: together } in
            self.sizes(lanes, rows.extent, column.extent, sums.len() as i64)
        {
            let rows = Rows { name: rows.name.clone(), together };
            for (panels, outermost) in [
                (Panels::Packed, Outermost::Columns),
                (Panels::InPlace, Outermost::Columns),
                (Panels::InPlace, Outermost::Rows),
            ] {
                let form = Form { rows: &rows, by, panels, outermost };
                let (schedule, cost) = self.schedule(&facts, &column, lanes, &form);
                let cheaper = best.as_ref().is_none_or(|b| cost < b.1);
                if cheaper && fits(expression, &schedule).is_ok() {
                    best = Some((schedule, cost));
                }
            }
        }
        let (schedule, cost) = best.ok_or("panels that are too large")?;
        Ok(Proposal { schedule, cost })
    }
}

impl Tiles {
    /// A schedule with or without panels, and its cost.
    fn schedule(
        &self,
        facts: &Facts,
        column: &LoopInfo,
        lanes: i64,
        &Form { rows, by, panels: how, outermost }: &Form<'_>,
    ) -> (Schedule, f64) {
        /// What a strided access costs, one that goes to a panel and back, and a line that lies in another page than the one
        /// before it.
        const STRIDED: f64 = 1.5;
        const PACKED: f64 = 0.25;
        const PAGE: f64 = 4.0;
        let Facts { loops, reductions, accesses, work, fused, .. } = facts;
        let of_columns = |a: &&AccessInfo| !a.stored && depends(a, &column.name) && !depends(a, &rows.name);
        let panels: Vec<&AccessInfo> = accesses.iter().filter(of_columns).collect();
        // What panels depend on stands outside, then the blocks of columns, then what they do not depend on.
        let outside = |l: &&LoopInfo| panels.iter().any(|a| depends(a, &l.name)) && l.name != column.name;
        let mut order: Vec<LoopInfo> = loops.iter().filter(outside).cloned().collect();
        let of_rows: Vec<LoopInfo> =
            loops.iter().filter(|l| !outside(l) && l.name != column.name).cloned().collect();
        match outermost {
            Outermost::Columns => order.extend([std::slice::from_ref(column), &of_rows[..]].concat()),
            Outermost::Rows => order.extend([&of_rows[..], std::slice::from_ref(column)].concat()),
        }
        let mut nest = Nest::new(&order);
        nest.jam(&rows.name, rows.together);
        nest.vectorise(&column.name, by);
        nest.share(&self.0, *work);
        let at = format!("{}.o", column.name);
        let at = if nest.position(&format!("{at}.i")).is_some() { format!("{at}.i") } else { at };
        let others: f64 =
            loops.iter().filter(|l| !outside(l) && l.name != column.name).map(|l| l.extent as f64).product();
        // Loads of a step beside its products.
        let (vectors, together) = ((by / lanes) as f64, rows.together as f64);
        let loads = (vectors + together) / (vectors * together);
        let extent = facts.find(&rows.name).map_or(1.0, |l| l.extent as f64);
        let idle = (extent / together).ceil() * together / extent;
        let mut cost = work / lanes as f64 * idle * (0.3 + 0.4 * loads);
        let runs = match outermost {
            Outermost::Columns => Again::Rows((column.extent as f64 / by as f64).ceil()),
            Outermost::Rows => Again::Columns((others / together).max(1.0)),
        };
        cost += from_memory(accesses, &column.name, runs);
        let mut directives = nest.directives();
        directives.extend_from_slice(fused);
        let mut packed: Vec<(String, String)> = Vec::new();
        for access in &panels {
            let next = access.stride(&column.name).abs() == 1;
            let each = if next { 1.0 / lanes as f64 } else { STRIDED };
            // How often an element is loaded.
            let uses = others / together;
            let in_terms = reductions.iter().any(|r| r.loops.iter().any(|name| depends(access, name)));
            if how == Panels::Packed && in_terms {
                packed.push((access.tensor.to_string(), at.clone()));
                cost += access.elements * (each + PACKED);
            } else if !next {
                cost += access.elements * each * uses;
            } else if by < column.extent {
                cost += access.elements / by as f64 * PAGE * uses;
            }
        }
        packed.extend(facts.guarded_rows(&rows.name, &column.name, &directives));
        packed.sort();
        packed.dedup();
        directives.extend(packed.into_iter().map(|(tensor, at)| Directive::Pack { tensor, at }));
        (Schedule { directives }, cost)
    }
}

/// What is loaded again and again, and how often.
enum Again {
    /// What does not depend on the columns.
    Rows(f64),
    /// What does.
    Columns(f64),
}

/// The cycles of what comes from memory more than once.
fn from_memory(accesses: &[AccessInfo], column: &str, again: Again) -> f64 {
    /// The bytes that a cache near by has, and the cycles that a byte takes from it, or from further away.
    const NEAR: f64 = 1e6;
    const NEAR_BYTE: f64 = 0.02;
    const FAR_BYTE: f64 = 0.12;
    let cycles = accesses.iter().filter(|a| !a.stored).map(|access| {
        let times = match (&again, depends(access, column)) {
            (Again::Rows(times), false) | (Again::Columns(times), true) => *times,
            _ => 1.0,
        };
        let bytes = access.elements * access.bytes as f64;
        bytes * (times - 1.0) * if bytes > NEAR { FAR_BYTE } else { NEAR_BYTE }
    });
    cycles.sum()
}

/// The loop that stands directly around one of this name.
fn around(directives: &[Directive], name: &str) -> Option<String> {
    directives.iter().find_map(|d| match d {
        Directive::Order(order) => {
            let at = order.iter().position(|l| l == name)?;
            order.get(at.checked_sub(1)?).cloned()
        }
        _ => None,
    })
}

/// Does an order of loops have one of this name?
fn order_has(directives: &[Directive], name: &str) -> bool {
    directives.iter().any(|d| matches!(d, Directive::Order(order) if order.iter().any(|l| l == name)))
}
