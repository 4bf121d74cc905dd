//! Sums of several rows and vectors of results in registers.

use super::{Nest, fused, row, work};
use crate::Cpu;
use surject_codegen::kernels::contraction::Factor;
use surject_codegen::kernels::expression::{AccessInfo, Expression, LoopInfo, Reduction};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::schedule::{Directive, Schedule, fits};

/// Results that are summed together: rows run in step, each in vectors of neighbours. What rows need in common is loaded
/// once for all of them, from a panel where that pays.
pub struct Tiles(pub Cpu);

/// What is known of an expression, whatever its tiles are.
pub(super) struct Facts {
    pub(super) lanes: i64,
    /// The loops of columns, and of rows that need the same elements.
    pub(super) column: LoopInfo,
    pub(super) rows: LoopInfo,
    /// How many reductions depend on the columns.
    sums: i64,
    /// The loops over points, and those of reductions.
    pub(super) loops: Vec<LoopInfo>,
    pub(super) summed: Vec<LoopInfo>,
    pub(super) reductions: Vec<Reduction>,
    pub(super) accesses: Vec<AccessInfo>,
    /// Of a product, its factors of rows and of columns, where there are panels of their values.
    pub(super) left: Option<Factor>,
    pub(super) right: Option<Factor>,
    /// The operations of all products; those of factors that panels have do not count.
    pub(super) work: f64,
    /// How values are computed.
    pub(super) values: Vec<Directive>,
    /// [`Cpu::has_narrow_vectors`]
    pub(super) has_narrow_vectors: bool,
}

/// Do the terms of a row lie so far apart that tiles would read a page for each?
pub(crate) fn is_far(rows: &AccessInfo, terms: &[LoopInfo]) -> bool {
    /// The bytes between terms.
    const FAR: i64 = 1024;
    let apart = terms.iter().filter(|l| l.extent > 1).map(|l| rows.stride(&l.name).abs()).min();
    apart.is_some_and(|by| by * rows.bytes as i64 > FAR)
}

impl Facts {
    pub(super) fn of(cpu: &Cpu, expression: &Expression) -> Result<Facts, String> {
        let loops = expression.loops();
        let lanes = fitting(cpu, expression, &loops)?;
        // A vector of which more than half exists is as fast as a whole one.
        let fewest = lanes / 2 + 1;
        let column = row(&loops, expression, fewest);
        let column = column.ok_or_else(|| format!("no {fewest} results lie next to each other"))?;
        let reductions = expression.reductions();
        let accesses = expression.accesses();
        let sums: Vec<&Reduction> = reductions.iter().filter(|r| r.outer.contains(&column.name)).collect();
        if sums.is_empty() {
            return Err(format!("no reduction depends on `{}`", column.name));
        }
        let rows = rows((&loops, &accesses), &column, &sums).ok_or("no rows need the same elements")?;
        let summed: Vec<LoopInfo> =
            reductions.iter().flat_map(|r| &r.loops).filter_map(|l| expression.find(l)).collect();
        let (mut left, mut right) = (None, None);
        if let Some([of_rows, of_columns]) = expression.factors() {
            left = Some(of_rows).filter(|f| {
                f.access.stride(&rows.name) != 0 && (is_far(&f.access, &summed) || f.operations > 0)
            });
            right = Some(of_columns).filter(|f| f.access.stride(&column.name) != 0 && f.operations > 0);
        }
        let computed: usize = [&left, &right].into_iter().flatten().map(|f| f.operations).sum();
        let mut work = work(expression);
        if computed > 0 {
            let products = loops.iter().chain(&summed).map(|l| l.extent as f64).product::<f64>();
            work = (work - products * computed as f64).max(products);
        }
        Ok(Facts {
            lanes,
            column,
            rows,
            sums: sums.len() as i64,
            loops,
            summed,
            reductions,
            accesses,
            left,
            right,
            work,
            values: values(cpu, expression),
            has_narrow_vectors: cpu.has_narrow_vectors(),
        })
    }

    /// The sizes that tiles may have.
    pub(super) fn sizes(&self, cpu: &Cpu) -> Vec<TileSize> {
        /// Sums that hide the latency of an addition, and some more.
        const ENOUGH: i64 = 14;
        /// The most rows for which a tile is wider.
        const WIDE_ROWS: i64 = 2;
        let registers = cpu.vector_registers;
        let Facts { lanes, sums, .. } = *self;
        let fits = |&v: &i64| (v - 1) * lanes < self.column.extent;
        let of = |vectors: i64| {
            let most = ((registers - vectors - 2) / (vectors * sums)).clamp(1, ENOUGH).min(self.rows.extent);
            ((most - most / 3)..=most).rev().map(move |rows| TileSize { columns: vectors * lanes, rows })
        };
        // Few rows leave registers for more columns.
        let wide = (self.has_narrow_vectors && self.rows.extent <= WIDE_ROWS).then_some(registers / 4);
        let all = wide.into_iter().chain([registers / 8, registers / 16, 1]);
        all.filter(fits).flat_map(of).collect()
    }

    /// The cycles of the sums alone, in tiles of a size.
    pub(super) fn of_sums(&self, size: &TileSize) -> f64 {
        // Loads of a step beside its products.
        let (vectors, together) = ((size.columns / self.lanes) as f64, size.rows as f64);
        let loads = (vectors + together) / (vectors * together);
        let extent = self.rows.extent as f64;
        let idle = (extent / together).ceil() * together / extent;
        // Fewer sums than multiplications that are under way at a time wait for each other (Zen 3: two begin in a cycle, and take four;
        // eight sums take 1.1 times as long as twelve).
        const UNDER_WAY: f64 = 9.0;
        let waits = (UNDER_WAY / (vectors * together * self.sums as f64)).max(1.0);
        let idle = if self.has_narrow_vectors { idle * waits } else { idle };
        // The last vectors of a row are a power of two.
        let (columns, by) = (self.column.extent, size.columns);
        let last = (columns % by + self.lanes - 1) / self.lanes;
        let last = if last == 0 { 0 } else { (last as u64).next_power_of_two() as i64 * self.lanes };
        let idle = idle * (columns / by * by + last.min(by)) as f64 / columns as f64;
        self.work / self.lanes as f64 * idle * (0.3 + 0.4 * loads)
    }

    /// The cycles that a byte takes from further away than [`NEAR`]: more where the rows of a tile lie in pages of their own (Zen 3;
    /// wider vectors have not been measured).
    pub(super) fn far_byte(&self, access: &AccessInfo) -> f64 {
        const PAGE_BYTES: i64 = 2048;
        let apart = access.stride(&self.rows.name).abs() * access.bytes as i64;
        if self.has_narrow_vectors && apart >= PAGE_BYTES { 0.5 } else { 0.12 }
    }

    fn find(&self, name: &str) -> Option<&LoopInfo> {
        self.loops.iter().chain(&self.summed).find(|l| l.name == name)
    }

    /// The elements of panels of what rows read with guards, where a panel has all rows of their loop.
    fn of_guarded_rows(&self) -> f64 {
        /// Windows that a term of one is away from the same of another, where both are in one panel.
        const NEIGHBOURS: i64 = 8;
        let (rows, column) = (&self.rows, &self.column);
        let guarded =
            |a: &&AccessInfo| !a.stored && a.guarded && depends(a, &rows.name) && !depends(a, &column.name);
        let elements = |access: &AccessInfo| {
            let step = access.stride(&rows.name);
            let mut row = rows.extent as f64;
            let mut others = 1.0;
            for l in self.summed.iter().filter(|l| depends(access, &l.name)) {
                // What windows have in common is there once.
                let by = access.stride(&l.name).checked_div(step).unwrap_or(0);
                match (1..=NEIGHBOURS).contains(&by) && access.stride(&l.name) % step == 0 {
                    true => row += (by * l.extent) as f64,
                    false => others *= l.extent as f64,
                }
            }
            let points = self.loops.iter().filter(|l| l.name != rows.name && l.name != column.name);
            row * others * points.map(|l| l.extent as f64).product::<f64>()
        };
        self.accesses.iter().filter(guarded).map(elements).sum()
    }

    /// What rows read with guards, and the loops at which panels of it are: from these it is read without guards.
    fn guarded_rows(&self, rows: &str, column: &str, directives: &[Directive]) -> Vec<(String, String)> {
        /// The bytes of rows that a panel has at most, what windows have in common counted for each of them.
        const SHARED: f64 = 262_144.0;
        let inner = innermost_rows(rows, directives);
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

/// What an element costs that goes to a panel and back, and a line that lies in another page than the one before it.
pub(super) const PACKED: f64 = 0.25;
pub(super) const PAGE: f64 = 4.0;

/// What runs outside of the other: blocks of columns, or of rows.
#[derive(Clone, Copy, PartialEq)]
enum Outermost {
    Columns,
    Rows,
    /// Some blocks of columns, then rows, then these blocks.
    Both(i64),
}

/// The columns of several blocks that have one panel, at most, the panels that there are then, where vectors are lines, and the rows
/// of their tiles, each of which is in a page of its own.
const WIDE: i64 = 1024;
const FEW: i64 = 4;
const ROWS: i64 = 8;

/// The vectors of a row of such tiles.
const NARROW: i64 = 2;

/// Tasks that threads share evenly.
const TASKS: i64 = 8;

/// Rows that are more pages than a processor knows at a time.
const PAGES: i64 = 2048;

/// What a schedule of tiles says.
struct Form<'a> {
    size: &'a TileSize,
    panels: Panels,
    outermost: Outermost,
}

/// The size of a tile: its sums, a vector of each column and an element of a row are in registers.
pub(super) struct TileSize {
    pub(super) columns: i64,
    pub(super) rows: i64,
}

/// The elements of the smallest vector, of 128 bits at least, that holds all results next to each other, or of the largest there
/// is.
pub(super) fn fitting(cpu: &Cpu, expression: &Expression, loops: &[LoopInfo]) -> Result<i64, String> {
    const LEAST_BYTES: usize = 16;
    let mut lanes = cpu.lanes(expression)?;
    let least = (LEAST_BYTES / expression.element_bytes().max(1)).max(2) as i64;
    if let Some(next) = row(loops, expression, 1) {
        while lanes > least && next.extent <= lanes / 2 {
            lanes /= 2;
        }
    }
    Ok(lanes)
}

/// The columns of a panel of all terms that leaves most of the second cache to what else is read. Wider vectors have been
/// measured with as many as there are.
fn panel_columns(cpu: &Cpu, facts: &Facts) -> i64 {
    if !facts.has_narrow_vectors {
        return WIDE;
    }
    let terms: i64 = facts.summed.iter().map(|l| l.extent).fold(1, i64::saturating_mul);
    let bytes = facts.accesses.iter().filter(|a| !a.stored).map(|a| a.bytes).max().unwrap_or(1) as i64;
    panel_bytes(cpu) / terms.saturating_mul(bytes).max(1)
}

/// The bytes of a panel that stays in the second cache beside what else is read.
pub(super) fn panel_bytes(cpu: &Cpu) -> i64 {
    cpu.second_cache as i64 / 8
}

/// Does an access depend on a loop?
pub(super) fn depends(access: &AccessInfo, name: &str) -> bool {
    access.stride(name) != 0
}

/// How values of tiles are computed: formulas are not written for every row.
fn values(cpu: &Cpu, expression: &Expression) -> Vec<Directive> {
    let mut directives = fused(cpu, expression);
    directives.extend(expression.has_formulas().then_some(Directive::SerialEpilogue));
    directives
}

/// The loop whose iterations need elements in common that depend on the columns.
fn rows(
    (loops, accesses): (&[LoopInfo], &[AccessInfo]),
    column: &LoopInfo,
    sums: &[&Reduction],
) -> Option<LoopInfo> {
    let terms = |a: &&AccessInfo| sums.iter().any(|r| r.loops.iter().any(|l| depends(a, l)));
    let loads: Vec<&AccessInfo> = accesses.iter().filter(|a| !a.stored).filter(terms).collect();
    let shares = |l: &&LoopInfo| {
        let of_columns = loads.iter().filter(|a| depends(a, &column.name));
        let summed = sums.iter().all(|r| r.outer.contains(&l.name));
        let common = of_columns.clone().any(|a| !depends(a, &l.name));
        let of_rows = loads.iter().any(|a| depends(a, &l.name) && !depends(a, &column.name));
        l.parallel && l.extent > 1 && l.name != column.name && summed && common && of_rows
    };
    loops.iter().rev().find(shares).cloned()
}

impl Strategy for Tiles {
    fn name(&self) -> &'static str {
        "tiles"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let facts = Facts::of(&self.0, expression)?;
        let mut best: Option<(Schedule, f64)> = None;
        let mut sizes = facts.sizes(&self.0);
        let narrow = NARROW * facts.lanes;
        if facts.rows.extent > PAGES {
            let rows = ROWS.min((self.0.vector_registers - NARROW - 2) / NARROW);
            sizes.push(TileSize { columns: narrow, rows });
        }
        for size in sizes {
            let blocks = (facts.column.extent + size.columns - 1) / size.columns;
            let near = panel_columns(&self.0, &facts) / size.columns;
            let few = if facts.has_narrow_vectors { 1 } else { FEW };
            let some =
                (2..=(WIDE / size.columns).min(near).min(blocks / few)).rev().find(|n| blocks % n == 0);
            let both = some
                .filter(|_| size.rows <= ROWS && size.columns <= narrow)
                .map(|n| (Panels::Packed, Outermost::Both(n)));
            let forms = [
                (Panels::Packed, Outermost::Columns),
                (Panels::InPlace, Outermost::Columns),
                (Panels::InPlace, Outermost::Rows),
            ];
            // What rows read with guards is copied once for all blocks of columns.
            let copied = facts.of_guarded_rows() > 0.0 && blocks > 1 && blocks * size.columns <= WIDE;
            let all = copied.then_some((Panels::Packed, Outermost::Both(blocks)));
            for (panels, outermost) in forms.into_iter().chain(both).chain(all) {
                let form = Form { size: &size, panels, outermost };
                let (schedule, cost) = self.schedule(&facts, &form);
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
    /// It is long because the directives depend on each other: each needs the loops that the ones before have made.
    fn schedule(&self, facts: &Facts, &Form { size, panels: how, outermost }: &Form<'_>) -> (Schedule, f64) {
        /// What a strided access costs.
        const STRIDED: f64 = 1.5;
        /// What a vector costs that lies across two lines.
        const ACROSS: f64 = 0.5;
        let Facts { column, rows, loops, reductions, accesses, work, values, .. } = facts;
        let (by, lanes, together) = (size.columns, facts.lanes, size.rows as f64);
        let of_columns = |a: &&AccessInfo| !a.stored && depends(a, &column.name) && !depends(a, &rows.name);
        let panels: Vec<&AccessInfo> = accesses.iter().filter(of_columns).collect();
        // What panels depend on stands outside, then the blocks of columns, then what they do not depend on.
        let outside = |l: &&LoopInfo| panels.iter().any(|a| depends(a, &l.name)) && l.name != column.name;
        let mut order: Vec<LoopInfo> = loops.iter().filter(outside).cloned().collect();
        let mut of_rows: Vec<LoopInfo> =
            loops.iter().filter(|l| !outside(l) && l.name != column.name).cloned().collect();
        // Tasks share the first one: threads get as much of one that has many iterations.
        let longest = of_rows.iter().enumerate().filter(|(_, l)| l.parallel && l.name != rows.name);
        if let Some((at, _)) = longest.max_by_key(|(i, l)| (l.extent, std::cmp::Reverse(*i)))
            && of_rows[0].extent < TASKS
        {
            of_rows[..=at].rotate_right(1);
        }
        match outermost {
            Outermost::Columns | Outermost::Both(_) => {
                order.extend([std::slice::from_ref(column), &of_rows[..]].concat());
            }
            Outermost::Rows => order.extend([&of_rows[..], std::slice::from_ref(column)].concat()),
        }
        let mut nest = Nest::new(&order);
        nest.jam(&rows.name, size.rows);
        nest.vectorise(&column.name, by);
        let mut at = format!("{}.o", column.name);
        if let Outermost::Both(blocks) = outermost {
            nest.split_inside(&at, blocks);
            at = format!("{at}.o");
        }
        let cost = facts.of_sums(size);
        // Tasks that share rows fill panels of their own.
        let panel = match how {
            Panels::Packed => panels.iter().map(|a| panel_cost(a, 0, lanes)).sum::<f64>() / cost,
            Panels::InPlace => 0.0,
        };
        let is_outside = |name: &str| order.iter().take_while(|l| outside(l)).any(|l| l.name == name);
        let own = |name: &str| {
            let of_columns = name.starts_with(&format!("{}.", column.name)) || name == column.name;
            if of_columns || is_outside(name) { 0.0 } else { panel }
        };
        nest.share_beside(&self.0, *work, &own, &|_| 0.0);
        let at = nest.inner(at);
        let others: f64 =
            loops.iter().filter(|l| !outside(l) && l.name != column.name).map(|l| l.extent as f64).product();
        let mut cost = cost + traffic(facts, (size, outermost), others);
        let mut directives = nest.directives();
        directives.extend_from_slice(values);
        let mut packed: Vec<(String, String)> = Vec::new();
        for access in &panels {
            let next = access.stride(&column.name).abs() == 1;
            let each = if next { 1.0 / lanes as f64 } else { STRIDED };
            // How often an element is loaded.
            let uses = others / together;
            let in_terms = reductions.iter().any(|r| r.loops.iter().any(|name| depends(access, name)));
            if how == Panels::Packed && in_terms {
                let name = if facts.right.is_some() { "right".into() } else { access.tensor.to_string() };
                packed.push((name, at.clone()));
                cost += access.elements * (each + PACKED);
            } else if !next {
                cost += access.elements * each * uses;
            } else if by < column.extent {
                cost += access.elements / by as f64 * PAGE * uses;
            }
            if how == Panels::InPlace && next && column.extent % lanes != 0 {
                cost += access.elements / lanes as f64 * ACROSS * uses;
            }
            if how == Panels::InPlace && outermost == Outermost::Columns {
                cost += again_for_rows(facts, access, by, uses);
            }
        }
        packed.extend(facts.guarded_rows(&rows.name, &column.name, &directives));
        if let Some(left) = &facts.left {
            let inner = innermost_rows(&rows.name, &directives);
            packed.push(("left".to_string(), inner));
            // Tiles have too few rows to be transposed.
            let lanes = if left.access.stride(&rows.name) == 1 { 1 } else { facts.lanes };
            let once = STRIDED * panel_cost(&left.access, left.operations, lanes);
            cost += once * blocks_of_columns(facts, (size, outermost)) as f64;
        }
        packed.sort();
        packed.dedup();
        directives.extend(packed.into_iter().map(|(tensor, at)| Directive::Pack { tensor, at }));
        (Schedule { directives }, cost)
    }
}

/// The bytes that a cache near by has, and the cycles that a byte takes from it.
pub(super) const NEAR: f64 = 1e6;
pub(super) const NEAR_BYTE: f64 = 0.02;

/// The cycles of the factors of a block of columns that no cache near by has for all of its rows.
fn again_for_rows(facts: &Facts, access: &AccessInfo, by: i64, uses: f64) -> f64 {
    let blocks = facts.loops.iter().filter(|l| depends(access, &l.name)).map(|l| l.extent as f64);
    let bytes = access.elements * access.bytes as f64;
    let of_block = bytes * by as f64 / blocks.product::<f64>();
    if of_block > NEAR { bytes * (uses - 1.0).max(0.0) * facts.far_byte(access) } else { 0.0 }
}

/// How often rows are gone through.
fn blocks_of_columns(facts: &Facts, (size, outermost): (&TileSize, Outermost)) -> i64 {
    let of = |by: i64| (facts.column.extent + by - 1) / by;
    match outermost {
        Outermost::Columns => of(size.columns),
        Outermost::Both(blocks) => of(size.columns * blocks),
        Outermost::Rows => 1,
    }
}

/// The cycles of a panel of all elements of a factor, each of which takes so many operations.
pub(super) fn panel_cost(factor: &AccessInfo, operations: usize, lanes: i64) -> f64 {
    factor.elements * (PACKED + (1.0 + operations as f64) / lanes as f64)
}

/// The loop whose iterations are tiles of rows.
fn innermost_rows(rows: &str, directives: &[Directive]) -> String {
    let outer = format!("{rows}.o");
    let inner = format!("{outer}.i");
    if order_has(directives, &inner) { inner } else { outer }
}

/// The cycles of what comes from memory more than once, is stored far apart, or is copied for rows, of which there are so many
/// beside those of a tile.
fn traffic(facts: &Facts, (size, outermost): (&TileSize, Outermost), others: f64) -> f64 {
    /// What it costs to store a row of a tile, where so many rows are pages of their own: a processor does not know as many.
    const STORED: f64 = 64.0;
    const PAGE_BYTES: i64 = 4096;
    /// What it costs to go on in another row of what no cache near by has: the processor prefetches little of a block of columns.
    /// It counts where sums have few terms.
    const GOES_ON: f64 = 12.0;
    /// Operations for a vector that goes to a panel.
    const COPIED: f64 = 2.0;
    let Facts { column, rows, accesses, .. } = facts;
    let by = size.columns;
    let blocks = blocks_of_columns(facts, (size, outermost));
    let again = match outermost {
        Outermost::Columns | Outermost::Both(_) => Again::Rows(blocks as f64),
        Outermost::Rows => Again::Columns((others / size.rows as f64).max(1.0)),
    };
    let copied = blocks as f64 * facts.of_guarded_rows() * COPIED / facts.lanes as f64;
    let mut stored = 0.0;
    if outermost == Outermost::Columns && by < column.extent && rows.extent > PAGES {
        let far = |a: &&AccessInfo| a.stored && a.stride(&rows.name) * a.bytes as i64 >= PAGE_BYTES;
        stored = accesses.iter().filter(far).map(|a| a.elements / by as f64 * STORED).sum::<f64>();
    }
    let in_rows = |a: &&AccessInfo| depends(a, &rows.name) && a.stride(&column.name) == 1;
    let far = accesses.iter().filter(in_rows).filter(|a| a.elements * a.bytes as f64 > NEAR);
    let goes_on = far.map(|a| a.elements / column.extent as f64 * blocks as f64 * GOES_ON).sum::<f64>();
    from_memory(facts, again) + copied + stored + goes_on
}

/// What is loaded again and again, and how often.
enum Again {
    /// What does not depend on the columns.
    Rows(f64),
    /// What does.
    Columns(f64),
}

/// The cycles of what comes from memory more than once.
fn from_memory(facts: &Facts, again: Again) -> f64 {
    let cycles = facts.accesses.iter().filter(|a| !a.stored).map(|access| {
        let times = match (&again, depends(access, &facts.column.name)) {
            (Again::Rows(times), false) | (Again::Columns(times), true) => *times,
            _ => 1.0,
        };
        let bytes = access.elements * access.bytes as f64;
        bytes * (times - 1.0) * if bytes > NEAR { facts.far_byte(access) } else { NEAR_BYTE }
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
