//! Square blocks: loads along one loop, stores along another, with a transposition in registers between.
//!
//! What goes past the caches goes there in whole lines. Where rows begin anywhere in a line, the blocks of a tile meet in
//! memory of the task, which its cache holds, and leave it row by row; what a row has of its last line waits for the next
//! tile. They do so elsewhere too if a vector that lies across two lines is stored twice; Zen 5 does not mind
//! ([`Target::across`]) and would take 1.1 to 1.7 times as long. And they do where the lines of a block would all go
//! through one place of a cache: a transposition of 1536 x 1536 `f32` takes half the time (Sapphire Rapids, one thread).
//!
//! Where the last axis is short, a block leaves a few bytes in each of its lines. The loop that goes on behind them comes
//! next, inside a block of rows, so that lines are filled before they leave the cache: `f32[2,764,480]` to `[480,764,2]`
//! takes a ninth of the time (Zen 4, one thread).
//!
//! Where the axis that memory has last is too short for a block, the block runs along the axes before it as well, as if they
//! were one: `f32[3368,3,32,4]` to `[4,3,32,3368]` takes a thirteenth of the time of reading element by element (Zen 3).

use crate::CodegenError;
use crate::Target;
use crate::address::{Lin, LoopId, LoopSet};
use crate::ahead::{Ask, prefetch};
use crate::dag::{Buf, Dag, Node, NodeId};
use crate::emit::{At, Bounds, Elem, Emitter, ScopeId, Val};
use crate::groups::{Ahead, Strip};
use crate::row::{Kernel, Row, bind_pointers, finish, summary, written};
use crate::schedule::{Output, Schedule, Turned};
use crate::short::CHUNK;
use crate::stream::{Ends, LINE, begin_alike, leaves};
use crate::units::{Grain, clip, decode, open_outer, units};

/// Blocks of rows that are done one after the other before the next columns, at most.
const STRIP: i64 = 16;

/// How fine blocks are divided: they gain nothing from what the task before left in a cache, so that a thread which is
/// held up may leave small pieces to the others. But no piece is shorter than a strip.
fn grain(lanes: i64, strip: i64, target: &Target) -> Grain {
    Grain { tasks: 8, cycles: 30_000.0, piece: if target.eager { lanes } else { strip * lanes } }
}

/// Rows are few where there are more than so many times as many.
const FEW: i64 = 32;

/// What moves from and to tensors of more than so many times the cache of a thread comes from far away: it is asked for
/// a block ahead, as no machine foresees the lines of a block.
const FAR: i64 = 8;

/// Rows that are written further apart than this, in bytes, to a tensor that is far away: no machine foresees their next
/// lines either.
const PAGE: i64 = 4096;

/// Lines of memory so far apart, or a multiple of it, meet in one place of a cache.
const ALIAS: i64 = 512;

/// Do rows so many bytes apart meet in one place of a cache?
fn meet(apart: i64) -> bool {
    apart % ALIAS == 0
}

/// What the rows of blocks are.
struct Along {
    /// The loop over them.
    all: LoopId,
    /// The loops that its numbers are made of, if it is none of the kernel's own.
    digits: Vec<LoopId>,
    loads: Vec<NodeId>,
}

impl Along {
    /// How far apart rows are that follow each other, if all are.
    fn apart(&self, address: &Lin) -> Option<i64> {
        self.digits.is_empty().then(|| address.coeff(self.all))
    }

    /// Gives the loops of the kernel their values in the scope of a row.
    fn bind(&self, em: &mut Emitter<'_>, scope: ScopeId, row: &str) {
        decode(em, scope, &self.digits, row.to_string());
    }
}

/// Writes a kernel of blocks. Tasks may only be cut along the loops of `free`.
pub(crate) fn emit(
    dag: &Dag,
    outputs: &[Output],
    schedule: &Schedule,
    turned: &Turned,
    (free, target): (LoopSet, &Target),
) -> Result<Kernel, CodegenError> {
    let roots = |outputs: &[Output]| -> Vec<NodeId> { outputs.iter().map(|o| o.root).collect() };
    let summarised = |tasks: i64| summary(dag, &roots(outputs), schedule, tasks);
    let (mut dag, mut outputs, mut schedule, mut free) =
        (dag.clone(), outputs.to_vec(), schedule.clone(), free);
    let mut along = Along { all: LoopId(0), digits: Vec::new(), loads: turned.loads.clone() };
    match turned.along[..] {
        [l] => along.all = l,
        _ => {
            let whole = turned.along.iter().all(|&l| free.contains(l));
            (along, dag, outputs) = joined(&dag, &outputs, turned)?;
            schedule.order.retain(|l| !turned.along.contains(l));
            schedule.order.insert(schedule.order.len() - 1, along.all);
            free = if whole { free.union(std::iter::once(along.all).collect()) } else { free };
        }
    }
    let tile = tile(&dag, &outputs, &schedule, &along, target);
    let mut em = Emitter::new(tile.as_ref().map_or(&dag, |t| &t.dag));
    (em.tables, em.streams) = (schedule.tables, schedule.streams);
    let buffers = bind_pointers(&mut em, &written(&outputs), &roots(&outputs));
    let row = Row { outputs: &outputs, schedule: &schedule, braided: None };
    let tasks = row.turned(&mut em, &along, target, (free, tile.as_ref()))?;
    finish(em, buffers, tasks, written(&outputs), summarised(tasks))
}

/// The kernel with one loop for those that loads run along.
fn joined(dag: &Dag, outputs: &[Output], turned: &Turned) -> Result<(Along, Dag, Vec<Output>), CodegenError> {
    let unsupported = || CodegenError::unsupported("a transposition of more than 128 loops");
    let mut result = dag.clone();
    let all =
        result.add_loop(turned.along.iter().map(|&l| dag.extent(l)).product()).ok_or_else(unsupported)?;
    let (mut outputs, mut loads) = (outputs.to_vec(), Vec::new());
    for &load in &turned.loads {
        let one = |lin: &Lin| {
            let mut lin = lin.clone();
            lin.terms.retain(|t| !turned.along.contains(&t.0));
            lin.plus(&Lin::var(all), 1)
        };
        let node = dag[load].node.mapped(&|x| x, &one).ok_or_else(unsupported)?;
        let node = result.add(node, dag[load].dtype);
        for output in &mut outputs {
            output.root = result.replaced(output.root, load, node).ok_or_else(unsupported)?;
        }
        loads.push(node);
    }
    Ok((Along { all, digits: turned.along.clone(), loads }, result, outputs))
}

/// Memory for some rows of some columns, of which a task makes the blocks before it stores them.
pub(crate) struct Tile {
    /// The nodes of the kernel, and the load of an element of the tile.
    pub(crate) dag: Dag,
    /// The element as it is put into the tile, and as it goes from there to where it belongs.
    outputs: [Vec<Output>; 2],
    /// Over the elements of whole rows, where these lie one behind the other both in the tile and where they belong.
    flat: Option<LoopId>,
    rows: i64,
    columns: i64,
    /// From row to row, in elements.
    apart: i64,
}

/// The tile of a schedule whose results leave the nearest caches though their rows do not begin alike.
fn tile(dag: &Dag, outputs: &[Output], schedule: &Schedule, along: &Along, target: &Target) -> Option<Tile> {
    let ([output], Some(&last)) = (outputs, schedule.order.last()) else { return None };
    let (lanes, dtype) = (schedule.lanes as i64, dag[output.root].dtype);
    let size = Elem::in_memory(dtype).size() as i64;
    let apart = along.apart(&output.address);
    let meet = !schedule.streams && apart.is_some_and(|apart| meet(apart.saturating_mul(size)));
    let whole = begin_alike(dag, outputs, last) || target.across && !schedule.streams;
    // Past the caches each part of a line would go to memory by itself.
    let parts = schedule.streams && lanes * size < LINE;
    let direct = whole && !meet && !parts;
    if direct
        || behind(dag, outputs, schedule).is_some()
        || !(schedule.streams || leaves(dag, outputs, target))
    {
        return None;
    }
    let (mut dag, along) = (dag.clone(), along.all);
    let length = dag.extent(last);
    // Whole rows that are one sequence, where the nearest cache holds a block of them.
    let block = length.checked_mul(size * lanes)?;
    let behind = (output.address.coeff(last), apart) == (1, Some(length));
    let flat = match behind && 2 * block <= target.nearest_bytes as i64 {
        true => Some(dag.add_loop(length.checked_mul(dag.extent(along))?)?),
        false => None,
    };
    // Whole blocks, and whole lines.
    let lines = lanes.max(LINE / size);
    let (rows, columns) = match (flat, target.eager) {
        (Some(_), true) => (1, length),
        (Some(_), false) => ((target.nearest_bytes as i64 / 3 / block).clamp(1, STRIP / 2), length),
        (None, true) => (2, 2 * lines),
        (None, false) if schedule.streams => (2 * STRIP, 4 * lines),
        (None, false) => {
            let rows = STRIP / 2;
            (rows, (target.cache_bytes as i64 / 2 / (rows * lanes * size * lanes)).max(2) * lanes)
        }
    };
    let apart = if flat.is_some() { length } else { columns + LINE / size };
    let into = Lin::var(last).plus(&Lin::var(along), apart)?;
    let (from, to) = match flat {
        Some(flat) => {
            let start = [along, last]
                .iter()
                .try_fold(output.address.clone(), |to, &l| to.substitute(l, &Lin::default()));
            (Lin::var(flat), start?.plus(&Lin::var(flat), 1)?)
        }
        None => (into.clone(), output.address.clone()),
    };
    let root = dag.add(Node::Load { buf: Buf::OWN, address: from, guards: Vec::new() }, dtype);
    let outputs = [
        vec![Output { to: Buf::OWN, address: into, ..output.clone() }],
        vec![Output { root, address: to, ..output.clone() }],
    ];
    Some(Tile { dag, outputs, flat, rows: rows * lanes, columns, apart })
}

/// A block of a kernel: rows from `row` on, columns from `column` on.
struct Block<'a> {
    row: &'a str,
    column: &'a str,
    /// The first of its rows that is stored; those before it were.
    first: usize,
    /// The lanes of a row, and how many of them exist.
    lanes: usize,
    active: usize,
    reach: Reach,
    /// What is asked for meanwhile.
    next: Vec<Ahead>,
}

/// How blocks reach memory.
#[derive(Clone, Copy)]
struct Reach {
    /// Is what is read, and what is written, far away?
    far: bool,
    /// Is what is written asked for ahead?
    ahead: bool,
    /// Do the rows that are written meet in one place of a cache? Then it has no room for what is yet to be written.
    meet: bool,
}

/// The loop that goes on where the last one ends, if that is shorter than a line of memory.
fn behind(dag: &Dag, outputs: &[Output], schedule: &Schedule) -> Option<LoopId> {
    let ([output], [outer @ .., _, last]) = (outputs, schedule.order.as_slice()) else { return None };
    let length = dag.extent(*last);
    let bytes = length.checked_mul(Elem::in_memory(dag[output.root].dtype).size() as i64)?;
    let goes_on = |l: &LoopId| output.address.coeff(*l) == length && dag.extent(*l) > 1;
    outer.iter().copied().find(goes_on).filter(|_| bytes < LINE)
}

/// Opens that loop, if there is one, and otherwise a scope.
fn open_behind(em: &mut Emitter<'_>, scope: ScopeId, behind: Option<LoopId>) -> (ScopeId, String) {
    match behind {
        Some(l) => em.open_loop(scope, l, 1),
        None => (em.open(scope, Vec::new(), None), String::new()),
    }
}

fn close_behind(em: &mut Emitter<'_>, (scope, iv): (ScopeId, String), behind: Option<LoopId>) {
    match behind {
        Some(l) => {
            let all = em.whole(0, em.dag.extent(l), 1);
            em.close_loop(scope, &iv, &all, &[]);
        }
        None => em.close_plain(scope),
    }
}

impl Row<'_> {
    /// Writes the loops of a schedule whose last loop but one is the one that loads run along. Gives the number of
    /// tasks.
    fn turned(
        &self,
        em: &mut Emitter<'_>,
        rows_of: &Along,
        target: &Target,
        (free, tile): (LoopSet, Option<&Tile>),
    ) -> Result<i64, CodegenError> {
        let (along, loads) = (rows_of.all, &rows_of.loads[..]);
        let [outer @ .., _, last] = self.schedule.order.as_slice() else {
            return Err(CodegenError::malformed("a block with less than two loops"));
        };
        let behind = behind(em.dag, self.outputs, self.schedule);
        let outer: Vec<LoopId> = outer.iter().copied().filter(|&l| Some(l) != behind).collect();
        let (lanes, full) = (self.schedule.lanes as i64, self.schedule.lanes);
        let mut reach = self.reach(em, rows_of, target);
        if tile.is_some() {
            (reach.ahead, reach.meet) = (false, false);
        }
        if behind.is_some() {
            (reach.far, reach.ahead) = (false, false);
        }
        let (rows, columns) = (em.dag.extent(along), em.dag.extent(*last));
        let flat = tile.and_then(|t| t.flat);
        // The longer loop is cut into pieces; rows that are one sequence stay whole.
        let wide = columns > rows && !outer.is_empty() && flat.is_none() && behind.is_none();
        let cut: Vec<LoopId> = outer.iter().copied().chain([if wide { *last } else { along }]).collect();
        let group = match tile {
            None if em.streams && reach.far => Some(self.group(em.dag, (along, *last), loads, target)),
            _ => None,
        };
        reach.meet &= group.is_none();
        let strip = match (behind, group) {
            (Some(_), _) => 1,
            (None, Some(_)) => 2 * STRIP,
            (None, None) => STRIP,
        };
        let units = units(em.dag, &cut, self.schedule, target, (free, &grain(lanes, strip, target)));
        let (mut closing, range) = open_outer(em, &units, &outer);
        let (range, piece) = if wide { ((None, None), range) } else { (range, (None, None)) };
        let scope = closing.last().map_or(em.root(), |c| c.0);
        // Strips of a piece are about as long as each other: a short one touches as many lines of memory.
        let blocks = if !wide && units.pieces > 1 { units.piece } else { rows } / lanes;
        let strip = tile.map_or(strip, |t| t.rows / lanes);
        let strips = ((blocks + strip - 1) / strip).max(1);
        let strip_rows = ((blocks + strips - 1) / strips).max(1) * lanes;
        let memory = tile.map(|t| {
            let elem = Elem::in_memory(em.dag[t.outputs[1][0].root].dtype);
            let (root, count) = (em.root(), em.int(t.rows * t.apart + LINE / elem.size() as i64));
            let alloca = format!(
                "llvm.alloca {count} x {} {{alignment = 64 : i64}} : (i64) -> !llvm.ptr",
                elem.name()
            );
            (t, elem, em.op(root, &alloca))
        });
        let (main_rows, main_columns) = (rows - rows % lanes, columns - columns % lanes);
        let rest = (columns - main_columns).unsigned_abs() as usize;
        // Whole blocks of rows; then the last rows, as a block that ends with them. A piece of the rows is whole
        // blocks, so that one task has all of the last rows.
        for (low, high) in [(0, main_rows), (main_rows, rows)] {
            if low == high {
                continue;
            }
            // A few rows among many are done line by line, which is less code.
            if low > 0 && (rows - main_rows) * FEW < rows {
                let bounds = clip(em, scope, &range, (low, high), 1);
                let (inner, iv) = em.open_loop(scope, along, 1);
                rows_of.bind(em, inner, &iv);
                let part = open_behind(em, inner, behind);
                self.line(em, part.0, *last, piece.clone(), true)?;
                close_behind(em, part, behind);
                em.close_loop(inner, &iv, &bounds, &[]);
                continue;
            }
            let bounds = clip(em, scope, &range, (low, high), lanes);
            // Some blocks of rows at once: loads then run on along a few rows of memory instead of touching all of
            // them line by line.
            let strip = em.open(scope, Vec::new(), None);
            let first = em.name();
            let length = em.int(strip_rows);
            let end = em.op(strip, &format!("arith.addi {first}, {length} : i64"));
            let end = em.op(strip, &format!("arith.minsi {end}, {} : i64", bounds.high));
            let skipped = if low == 0 { 0 } else { (lanes - (rows - main_rows)) as usize };
            let blocks = |em: &mut Emitter<'_>, scope: ScopeId, column: &str, lanes: usize, active: usize| {
                let inner = em.open(scope, Vec::new(), None);
                let iv = em.name();
                let row = if low == 0 { iv.clone() } else { em.int(rows - full as i64) };
                let block =
                    Block { row: &row, column, first: skipped, lanes, active, reach, next: Vec::new() };
                match tile {
                    None => self.block(em, inner, rows_of, *last, &block)?,
                    Some(t) => {
                        let streams = std::mem::take(&mut em.streams);
                        Row { outputs: &t.outputs[0], ..*self }.block(em, inner, rows_of, *last, &block)?;
                        em.streams = streams;
                    }
                }
                let steps = Bounds { low: first.clone(), high: end.clone(), step: em.int(full as i64) };
                em.close_loop(inner, &iv, &steps, &[]);
                Ok::<(), CodegenError>(())
            };
            let ahead = Strip { along, last: *last, loads, first: &first, end: &end, rows: strip_rows };
            // The columns of a strip, or of a tile of it.
            let (part, at) = open_behind(em, strip, behind);
            let mut within = piece.clone();
            let mut tiles = None;
            if let Some((tile, elem, memory)) = &memory {
                let bounds = clip(em, strip, &piece, (0, columns), tile.columns);
                let from = em.name();
                let to = em.op(part, &format!("arith.addi {from}, {} : i64", bounds.step));
                let to = em.op(part, &format!("arith.minsi {to}, {} : i64", bounds.high));
                // Rows and columns count from those of the tensor.
                let apart = em.int(tile.apart);
                let before = em.op(part, &format!("arith.muli {first}, {apart} : i64"));
                let before = em.op(part, &format!("arith.addi {before}, {from} : i64"));
                let line = em.int(LINE / elem.size() as i64);
                let before = em.op(part, &format!("arith.subi {line}, {before} : i64"));
                let moved = em.element(memory, &before, *elem, part);
                em.pointers.insert(Buf::OWN, moved);
                within = (Some(from.clone()), Some(to.clone()));
                tiles = Some((from, to, bounds));
            }
            if main_columns > 0 {
                let group = group.filter(|_| low == 0);
                let step = group.map_or(lanes, |group| group * lanes);
                let inner = clip(em, part, &within, (0, main_columns), step);
                let column_scope = em.open(part, Vec::new(), None);
                let column = em.name();
                match group {
                    None => blocks(em, column_scope, &column, full, full)?,
                    Some(group) => self.grouped(
                        em,
                        column_scope,
                        &ahead,
                        (&column, &inner, group),
                        &|em, scope, (row, column), next| {
                            let block =
                                Block { row, column, first: 0, lanes: full, active: full, reach, next };
                            self.block(em, scope, rows_of, *last, &block)
                        },
                    )?,
                }
                em.close_loop(column_scope, &column, &inner, &[]);
            }
            if rest > 0 {
                // Once, in the piece that ends with them.
                let column_scope = em.open(part, Vec::new(), None);
                let column = em.name();
                blocks(em, column_scope, &column, rest.next_power_of_two().max(2), rest)?;
                let inner = clip(em, part, &within, (main_columns, columns), lanes);
                em.close_loop(column_scope, &column, &inner, &[]);
            }
            match (&memory, tiles) {
                (Some((tile, elem, _)), Some((from, to, bounds))) => {
                    let row = Row { outputs: &tile.outputs[1], ..*self };
                    if let Some(flat) = flat {
                        let length = em.int(columns);
                        let [low, high] = [&first, &end]
                            .map(|row| Some(em.op(part, &format!("arith.muli {row}, {length} : i64"))));
                        row.shifted(em, part, flat, &(low, high), (0, rows * columns, Ends::Asked))?;
                    } else {
                        let rows = |em: &mut Emitter<'_>, scope: ScopeId, (low, high): (&str, &str)| {
                            let (inner, iv) = em.open_loop(scope, along, 1);
                            rows_of.bind(em, inner, &iv);
                            row.leave(em, inner, *last, &tile.outputs[0], (&from, &to, &bounds))?;
                            let rows =
                                Bounds { low: low.to_string(), high: high.to_string(), step: em.int(1) };
                            em.close_loop(inner, &iv, &rows, &[]);
                            Ok::<(), CodegenError>(())
                        };
                        if em.streams && reach.far && low == 0 {
                            // For so many rows as many lines as a block has.
                            let step = (lanes * LINE / (tile.columns * elem.size() as i64)).max(1);
                            self.meanwhile(em, part, &ahead, (&to, &bounds, step), &rows)?;
                        } else {
                            rows(em, part, (&first, &end))?;
                        }
                    }
                    em.close_loop(part, &from, &bounds, &[]);
                }
                _ => close_behind(em, (part, at), behind),
            }
            let strips = Bounds { step: length, ..bounds };
            em.close_loop(strip, &first, &strips, &[]);
        }
        while let Some((scope, iv, bounds)) = closing.pop() {
            em.close_loop(scope, &iv, &bounds, &[]);
        }
        Ok(units.tasks)
    }

    /// A row of a tile leaves for where it belongs. Past the caches it does so in whole lines: what it has of its last line
    /// stays in front of the row, for the next tile to complete.
    fn leave(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        last: LoopId,
        tile: &[Output],
        (from, to, all): (&str, &str, &Bounds),
    ) -> Result<(), CodegenError> {
        let columns = em.dag.extent(last);
        let ends = if em.streams { Ends::Whole } else { Ends::Asked };
        if !em.streams || begin_alike(em.dag, self.outputs, last) {
            let range = (Some(from.to_string()), Some(to.to_string()));
            return self.shifted(em, scope, last, &range, (0, columns, ends));
        }
        let ([stored], [output]) = (tile, self.outputs) else {
            return Err(CodegenError::malformed("a tile of several outputs"));
        };
        let elem = Elem::in_memory(em.dag[output.root].dtype);
        let line = LINE / elem.size() as i64;
        let at = |em: &mut Emitter<'_>, output: &Output, column: &str| -> Result<String, CodegenError> {
            let pointer = em.pointer(output.to)?;
            Ok(em.corner(&pointer, (&output.address, elem), vec![(last, column.to_string())], scope))
        };
        // Tiles are whole lines wide: where in a line one begins the next one does.
        let begin = at(em, output, from)?;
        let [size, count] = [elem.size() as i64, line].map(|n| em.int(n));
        let within = em.within_line(&begin, LINE, scope);
        let within = em.op(scope, &format!("arith.divui {within}, {size} : i64"));
        let mut back = |column: &str, end: &str, is: &str| {
            let there = em.op(scope, &format!("arith.cmpi {is}, {column}, {end} : i64"));
            let back = em.op(scope, &format!("arith.subi {column}, {within} : i64"));
            em.op(scope, &format!("arith.select {there}, {back}, {column} : i64"))
        };
        let range = (Some(back(from, &all.low, "sgt")), Some(back(to, &all.high, "slt")));
        self.shifted(em, scope, last, &range, (0, columns, ends))?;
        let [ahead, behind] =
            [to, from].map(|column| em.op(scope, &format!("arith.subi {column}, {count} : i64")));
        let (ahead, behind) = (at(em, stored, &ahead)?, at(em, stored, &behind)?);
        let (ty, bytes) = (elem.ty(line as usize), elem.size());
        let kept =
            em.op(scope, &format!("llvm.load {ahead} {{alignment = {bytes} : i64}} : !llvm.ptr -> {ty}"));
        em.line(
            scope,
            &format!("llvm.store {kept}, {behind} {{alignment = {bytes} : i64}} : {ty}, !llvm.ptr"),
        );
        Ok(())
    }

    fn reach(&self, em: &Emitter<'_>, along: &Along, target: &Target) -> Reach {
        let far = |address: &Lin, size: usize| {
            let range = address.range(&em.dag.extents);
            let least = if target.eager { 0 } else { target.cache_bytes as i64 / size as i64 };
            range.is_none_or(|(low, high)| (high - low) / FAR >= least)
        };
        let read = along.loads.iter().all(|&n| match &em.dag[n].node {
            Node::Load { address, .. } => far(address, Elem::in_memory(em.dag[n].dtype).size()),
            _ => false,
        });
        let [output] = self.outputs else { return Reach { far: false, ahead: false, meet: false } };
        let size = Elem::in_memory(em.dag[output.root].dtype).size();
        let to = far(&output.address, size);
        let Some(apart) = along.apart(&output.address) else {
            return Reach { far: read && to, ahead: false, meet: false };
        };
        let apart = apart.saturating_mul(size as i64).saturating_abs();
        Reach { far: read && to, ahead: to && (read || apart >= PAGE), meet: meet(apart) }
    }

    /// One block: the loads along the rows, transposed; then row by row in lanes along the columns.
    fn block(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        rows_of: &Along,
        last: LoopId,
        block: &Block<'_>,
    ) -> Result<(), CodegenError> {
        let &Block { row, column, first, lanes, active, reach, ref next } = block;
        let along = rows_of.all;
        let mut turned: Vec<(NodeId, Vec<String>)> = Vec::new();
        for &load in &rows_of.loads {
            turned.push((load, self.transposed(em, scope, along, last, load, block)?));
        }
        if let ([output], true, false) = (self.outputs, reach.ahead && !em.streams, reach.meet) {
            // The lines that the next block of the row ends in.
            let binds = vec![(last, column.to_string()), (along, row.to_string())];
            let elem = Elem::in_memory(em.dag[output.root].dtype);
            let pointer = em.pointer(output.to)?;
            let base = em.corner(&pointer, (&output.address, elem), binds, scope);
            let apart = output.address.coeff(along);
            for i in first..self.schedule.lanes {
                prefetch(em, scope, (&base, i as i64 * apart + 2 * lanes as i64 - 1), elem, Ask::Write);
            }
        }
        for i in first..self.schedule.lanes {
            let ahead = em.int(i as i64);
            let position = em.op(scope, &format!("arith.addi {row}, {ahead} : i64"));
            let part = em.open(scope, vec![(along, position.clone())], None);
            rows_of.bind(em, part, &position);
            let inner = em.open(part, vec![(last, column.to_string())], Some((last, lanes)));
            em.activate(inner, active, lanes);
            for (load, rows) in &turned {
                let (dtype, raw) = (em.dag[*load].dtype, rows[i].clone());
                let ssa = em.widen(dtype, raw, At { scope: inner, lanes });
                em.seed(inner, *load, Val { ssa, lanes });
            }
            for (base, ahead, elem) in next.iter().skip(i).step_by(self.schedule.lanes) {
                prefetch(em, inner, (base, *ahead), *elem, Ask::Soon);
            }
            self.point(em, inner)?;
            em.close_plain(inner);
            em.close_plain(part);
        }
        Ok(())
    }

    /// The rows of a block of a load whose elements lie next to each other along the columns of memory: each a
    /// vector of memory type along the last loop. Those before the first that is stored may be missing.
    ///
    /// A vector of `lanes` elements is put together from chunks of `size` elements of so many lines; `size` such
    /// vectors are transposed chunk by chunk, and are then `size` rows.
    fn transposed(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        along: LoopId,
        last: LoopId,
        load: NodeId,
        block: &Block<'_>,
    ) -> Result<Vec<String>, CodegenError> {
        let malformed = || CodegenError::malformed("a block of something that is not loaded");
        let Node::Load { buf, address, .. } = em.dag[load].node.clone() else { return Err(malformed()) };
        let pointer = em.pointers.get(&buf).cloned().ok_or_else(malformed)?;
        let elem = Elem::in_memory(em.dag[load].dtype);
        let (rows, lanes) = (self.schedule.lanes, block.lanes);
        let size = (CHUNK / elem.size()).min(lanes).min(rows);
        let zero = match elem {
            Elem::F16 | Elem::F32 | Elem::F64 => "dense<0.0>",
            _ => "dense<0>",
        };
        // Line by line, so that a line of memory is read at once.
        let mut chunks: Vec<Vec<String>> = vec![Vec::new(); rows / size];
        let binds = vec![(last, block.column.to_string()), (along, block.row.to_string())];
        let base = em.corner(&pointer, (&address, elem), binds, scope);
        // The next block; and where memory is touched in a way that LLVM cannot analyse, it does not compare every
        // load of a block with every store, which takes longer than all else.
        prefetch(em, scope, (&base, rows as i64), elem, Ask::Now);
        let apart = address.coeff(last);
        if block.reach.far {
            for line in (0..lanes as i64).filter(|line| *line < block.active as i64) {
                let ahead = (lanes as i64 + line).checked_mul(apart).ok_or_else(malformed)?;
                prefetch(em, scope, (&base, ahead), elem, Ask::Soon);
            }
        }
        if !block.reach.meet && (block.first, lanes, block.active) == (0, rows, rows) {
            let lines: Option<Vec<i64>> = (0..lanes as i64).map(|line| line.checked_mul(apart)).collect();
            let lines = lines.ok_or_else(malformed)?;
            let lines = lines.iter().map(|&ahead| {
                let ahead = em.int(ahead);
                let from = em.element(&base, &ahead, elem, scope);
                em.neighbours(&from, None, (elem, rows), scope)
            });
            let lines: Vec<String> = lines.collect();
            return Ok(square(em, scope, &lines, size, elem));
        }
        for line in 0..lanes {
            for (k, chunk) in chunks.iter_mut().enumerate() {
                if line >= block.active || (k + 1) * size <= block.first {
                    chunk.push(em.literal(zero, &elem.ty(size)));
                    continue;
                }
                let ahead = (line as i64).checked_mul(apart).ok_or_else(malformed)?;
                let ahead = em.int(ahead.checked_add((k * size) as i64).ok_or_else(malformed)?);
                let from = em.element(&base, &ahead, elem, scope);
                let (ty, bytes) = (elem.ty(size), elem.size());
                let load = format!("llvm.load {from} {{alignment = {bytes} : i64}} : !llvm.ptr -> {ty}");
                chunk.push(em.op(scope, &load));
            }
        }
        let mut result = Vec::with_capacity(rows);
        for (k, chunk) in chunks.into_iter().enumerate() {
            if (k + 1) * size <= block.first {
                result.extend(std::iter::repeat_n(String::new(), size));
                continue;
            }
            result.extend(em.turned_chunks(chunk, (size, lanes), elem, scope));
        }
        Ok(result)
    }
}

/// The columns of as many whole lines as each has elements: transposed in chunks of so many elements, and chunk by chunk.
fn square(em: &mut Emitter<'_>, scope: ScopeId, lines: &[String], size: usize, elem: Elem) -> Vec<String> {
    let lanes = lines.len();
    let at = At { scope, lanes };
    // Of each group of lines the columns of a chunk: in the vector `t` of a group, chunk `q` has column `q · size + t`.
    let groups: Vec<Vec<String>> =
        lines.chunks(size).map(|group| em.interleaved(group.to_vec(), (size, lanes), elem, at)).collect();
    let mut columns = vec![String::new(); lanes];
    for t in 0..size {
        let mut vectors: Vec<String> = groups.iter().map(|group| group[t].clone()).collect();
        // The bits of the group and of the chunk change places, one after the other.
        let mut bit = 1;
        while bit < vectors.len() {
            let (chunks, mut next) = (vectors.len(), vectors.clone());
            for i in (0..chunks).filter(|i| i & bit == 0) {
                let pick = |half: usize| -> Vec<usize> {
                    let of = |q: usize| if q & bit == 0 { q | half } else { chunks + (q & !bit | half) };
                    (0..chunks).map(of).flat_map(|q| (0..size).map(move |e| q * size + e)).collect()
                };
                for half in [0, bit] {
                    let pair = (vectors[i].as_str(), vectors[i | bit].as_str());
                    next[i | half] = em.pick(pair, lanes, &pick(half), elem, at);
                }
            }
            vectors = next;
            bit *= 2;
        }
        for (q, vector) in vectors.into_iter().enumerate() {
            columns[q * size + t] = vector;
        }
    }
    columns
}
