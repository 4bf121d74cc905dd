//! Blocks: loads along one loop, stores along another, with a transposition in registers between.
//!
//! `find` decides what is transposed and how large blocks are, `along` makes several loops one, `square` transposes what is
//! loaded, `strips` writes the loops over blocks, `tile` holds blocks until they leave, and `groups` has the next columns come.
//!
//! What goes past the caches goes there in whole lines. Where rows begin anywhere in a line, the blocks of a tile meet in
//! memory of the task, which its cache holds, and leave it row by row; what a row has of its last line waits for the next
//! tile. They do so elsewhere too if a vector that lies across two lines is stored twice; Zen 5 does not mind
//! ([`Target::split_store_bytes`]) and would take 1.1 to 1.7 times as long. And they do where the lines of a block would all go
//! through one place of a cache: a transposition of 1536 x 1536 `f32` takes half the time (Sapphire Rapids, one thread).
//!
//! Where the last axis is short, a block leaves a few bytes in each of its lines. The loop that goes on behind them comes
//! next, inside a block of rows, so that lines are filled before they leave the cache: `f32[2,764,480]` to `[480,764,2]`
//! takes a ninth of the time (Zen 4, one thread).
//!
//! Where the axis that memory has last is too short for a block, the block runs along the axes before it as well, as if they
//! were one: `f32[3368,3,32,4]` to `[4,3,32,3368]` takes a thirteenth of the time of reading element by element (Zen 3).
//!
//! Where registers are half a line, blocks are as wide as a line ([`find`]), and a line is stored once: `f32[256,256]` takes
//! half the time, `[64,64,56,56]` to `[64,56,56,64]` 0.65 to 0.75, `f64[256,64,1024]` to `[64,1024,256]` 0.4 (Zen 3).

pub(crate) mod along;
pub(crate) mod groups;
pub(crate) mod square;
pub(crate) mod strips;
pub(crate) mod tile;

use crate::code::Value;
use crate::expression::address::{Lin, LoopId, LoopSet};
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::lower::emit::{At, Emitter, ScopeId, Val};
use crate::lower::kernel::{Kernel, bind_pointers, finish, written};
use crate::lower::prefetch::prefetch;
use crate::lower::row::{Row, summary};
use crate::lower::transpose::along::{Along, joined};
use crate::lower::transpose::groups::PrefetchedLine;
use crate::lower::transpose::strips::{Strips, TileMemory};
use crate::lower::transpose::tile::{Tile, tile};
use crate::lower::units::{TaskRange, close_all, open_outer};
use crate::machine::elem::Elem;
use crate::schedule::Schedule;
use crate::schedule::non_temporal::LINE;
use crate::schedule::prefetch::PrefetchHint;
use crate::schedule::transpose::{BlockTranspose, FAR, FEW, PAGE, STRIP, meet};
use crate::schedule::units::{Grain, units};
use crate::{CodegenError, Target};

/// How fine blocks are divided: they gain nothing from what the task before left in a cache, so that a thread which is
/// held up may leave small pieces to the others. But no piece is shorter than a strip.
fn grain(lanes: i64, strip: i64, target: &Target) -> Grain {
    let limits = &target.thresholds;
    Grain {
        tasks: 8,
        cycles: limits.transpose_task_cycles,
        piece: strip.min(limits.transpose_piece_blocks) * lanes,
    }
}

/// Writes a kernel of blocks. Tasks may only be cut along the loops of `free`.
pub(crate) fn emit(
    dag: &Dag,
    outputs: &[Output],
    schedule: &Schedule,
    transposed: &BlockTranspose,
    (free, target): (LoopSet, &Target),
) -> Result<Kernel, CodegenError> {
    let roots = |outputs: &[Output]| -> Vec<NodeId> { outputs.iter().map(|o| o.root).collect() };
    let summarised = |tasks: i64| summary(dag, &roots(outputs), schedule, tasks);
    let (mut dag, mut outputs, mut schedule, mut free) =
        (dag.clone(), outputs.to_vec(), schedule.clone(), free);
    let along = match transposed.along[..] {
        [all] => Along { all, digits: Vec::new(), loads: transposed.loads.clone(), block: transposed.rows },
        _ => {
            let whole = transposed.along.iter().all(|&l| free.contains(l));
            let along;
            (along, dag, outputs) = joined(&dag, &outputs, transposed)?;
            schedule.order.retain(|l| !transposed.along.contains(l));
            schedule.order.insert(schedule.order.len() - 1, along.all);
            free = if whole { free.union(std::iter::once(along.all).collect()) } else { free };
            along
        }
    };
    let tile = tile(&dag, &outputs, &schedule, &along, target);
    let mut em = Emitter::new(tile.as_ref().map_or(&dag, |t| &t.dag));
    (em.tables, em.streams) = (schedule.tables, schedule.streams);
    let buffers = bind_pointers(&mut em, &written(&outputs), &roots(&outputs));
    let row = Row { outputs: &outputs, schedule: &schedule };
    let tasks = row.in_blocks(&mut em, &along, target, (free, tile.as_ref()))?;
    finish(em, buffers, tasks, written(&outputs), summarised(tasks))
}

/// A block of a kernel: rows from `row` on, columns from `column` on.
struct Block {
    row: Value,
    column: Value,
    /// The first of its rows that is stored; those before it were.
    first: usize,
    /// The lanes of a row, and how many of them exist.
    lanes: usize,
    active: usize,
    reach: Reach,
    /// What is prefetched meanwhile.
    next: Vec<PrefetchedLine>,
}

/// How blocks reach memory.
#[derive(Clone, Copy)]
struct Reach {
    /// Is what is read, and what is written, far away?
    far: bool,
    /// Is what is written prefetched ahead?
    prefetched: bool,
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
fn open_behind(em: &mut Emitter<'_>, scope: ScopeId, behind: Option<LoopId>) -> (ScopeId, Value) {
    match behind {
        Some(l) => em.open_loop(scope, l, 1),
        None => (em.open(scope, Vec::new(), None), Value::NONE),
    }
}

fn close_behind(em: &mut Emitter<'_>, (scope, iv): (ScopeId, Value), behind: Option<LoopId>) {
    match behind {
        Some(l) => {
            let all = em.whole(0, em.dag.extent(l), 1);
            em.close_loop(scope, iv, &all, &[]);
        }
        None => em.close_plain(scope),
    }
}

/// Rows of a strip. Strips of a piece are about as long as each other: a short one touches as many lines of memory. `most`
/// is how many blocks a strip has at most, `rows` how many rows a piece has.
fn rows_of_strip(rows: i64, most: i64, block_rows: i64) -> i64 {
    let blocks = rows / block_rows;
    let strips = ((blocks + most - 1) / most).max(1);
    ((blocks + strips - 1) / strips).max(1) * block_rows
}

impl Row<'_> {
    /// Writes the loops of a schedule whose last loop but one is the one that loads run along. Gives the number of
    /// tasks.
    fn in_blocks(
        &self,
        em: &mut Emitter<'_>,
        rows_of: &Along,
        target: &Target,
        (free, tile): (LoopSet, Option<&Tile>),
    ) -> Result<i64, CodegenError> {
        let along = rows_of.all;
        let [outer @ .., _, last] = self.schedule.order.as_slice() else {
            return Err(CodegenError::malformed("a block with less than two loops"));
        };
        let behind = behind(em.dag, self.outputs, self.schedule);
        let outer: Vec<LoopId> = outer.iter().copied().filter(|&l| Some(l) != behind).collect();
        let (lanes, block_rows) = (self.schedule.lanes as i64, rows_of.block as i64);
        let mut reach = self.reach(em, rows_of, target);
        if tile.is_some() {
            (reach.prefetched, reach.meet) = (false, false);
        }
        if behind.is_some() {
            (reach.far, reach.prefetched) = (false, false);
        }
        let group = match tile {
            None if em.streams && reach.far => Some(self.group(em.dag, (rows_of, *last), target)),
            _ => None,
        };
        reach.meet &= group.is_none();
        let strip = match (behind, group) {
            (Some(_), _) => 1,
            (None, Some(_)) => 2 * STRIP,
            (None, None) => STRIP,
        };
        let (rows, columns) = (em.dag.extent(along), em.dag.extent(*last));
        // The longer loop is cut into pieces; rows that are one sequence stay whole.
        let flat = tile.and_then(|t| t.flat);
        let wide = columns > rows && !outer.is_empty() && flat.is_none() && behind.is_none();
        let cut: Vec<LoopId> = outer.iter().copied().chain([if wide { *last } else { along }]).collect();
        let step = if wide { lanes } else { block_rows };
        let units = units(em.dag, &cut, self.schedule, target, (free, &grain(step, strip, target)));
        let (closing, range) = open_outer(em, &units, &outer);
        let (range, piece) = match wide {
            true => (TaskRange::default(), range),
            false => (range, TaskRange::default()),
        };
        let scope = closing.last().map_or(em.root(), |c| c.scope);
        let rows_of_piece = if !wide && units.pieces > 1 { units.piece } else { rows };
        let strip = tile.map_or(strip, |t| t.rows / block_rows);
        let strip_rows = rows_of_strip(rows_of_piece, strip, block_rows);
        let memory = tile.map(|t| TileMemory::reserve(em, t));
        let strips = Strips {
            row: self,
            rows_of,
            last: *last,
            behind,
            reach,
            group,
            rows,
            columns,
            strip_rows,
            piece,
            memory,
        };
        // Whole blocks of rows; then the last rows, as a block that ends with them. A piece of the rows is whole
        // blocks, so that one task has all of the last rows.
        let main_rows = rows - rows % block_rows;
        for (low, high) in [(0, main_rows), (main_rows, rows)] {
            if low == high {
                continue;
            }
            // A few rows among many are done line by line, which is less code.
            if low > 0 && (rows - main_rows) * FEW < rows {
                strips.lines(em, scope, &range, low..high)?;
            } else {
                strips.write(em, scope, &range, low..high)?;
            }
        }
        close_all(em, closing);
        Ok(units.tasks)
    }

    fn reach(&self, em: &Emitter<'_>, along: &Along, target: &Target) -> Reach {
        let far = |address: &Lin, size: usize| {
            let range = address.range(&em.dag.extents);
            let least = target.l2_shares(target.thresholds.transpose_l2_shares) / size as i64;
            range.is_none_or(|r| (r.high - r.low) / FAR >= least)
        };
        let read = along.loads.iter().all(|&n| match &em.dag[n].node {
            Node::Load { address, .. } => far(address, Elem::in_memory(em.dag[n].dtype).size()),
            _ => false,
        });
        let [output] = self.outputs else { return Reach { far: false, prefetched: false, meet: false } };
        let size = Elem::in_memory(em.dag[output.root].dtype).size();
        let to = far(&output.address, size);
        let Some(distance) = along.distance(&output.address) else {
            return Reach { far: read && to, prefetched: false, meet: false };
        };
        let distance = distance.saturating_mul(size as i64).saturating_abs();
        Reach { far: read && to, prefetched: to && (read || distance >= PAGE), meet: meet(distance) }
    }

    /// One block: the loads along the rows, transposed; then row by row in lanes along the columns.
    fn block(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        rows_of: &Along,
        last: LoopId,
        block: &Block,
    ) -> Result<(), CodegenError> {
        let &Block { row, column, first, lanes, active, reach, ref next } = block;
        let along = rows_of.all;
        let mut transposed: Vec<(NodeId, Vec<Value>)> = Vec::new();
        for &load in &rows_of.loads {
            transposed.push((load, self.transposed(em, scope, rows_of, last, load, block)?));
        }
        if let ([output], true, false) = (self.outputs, reach.prefetched && !em.streams, reach.meet) {
            // The lines that the next block of the row ends in.
            let binds = vec![(last, column), (along, row)];
            let elem = Elem::in_memory(em.dag[output.root].dtype);
            let pointer = em.pointer(output.to)?;
            let base = em.corner(pointer, (&output.address, elem), binds, scope);
            let distance = output.address.coeff(along);
            for i in first..rows_of.block {
                prefetch(
                    em,
                    scope,
                    (base, i as i64 * distance + 2 * lanes as i64 - 1),
                    elem,
                    PrefetchHint::Write,
                );
            }
        }
        for i in first..rows_of.block {
            let offset = em.int(i as i64);
            let position = em.arith(scope, "arith.addi", row, offset);
            let part = em.open(scope, vec![(along, position)], None);
            rows_of.bind(em, part, position);
            let inner = em.open(part, vec![(last, column)], Some((last, lanes)));
            em.activate(inner, active, lanes);
            for (load, rows) in &transposed {
                let (dtype, raw) = (em.dag[*load].dtype, rows[i]);
                let ssa = em.widen(dtype, raw, At { scope: inner, lanes });
                em.seed(inner, *load, Val { ssa, lanes });
            }
            for (base, offset, elem) in next.iter().skip(i).step_by(rows_of.block) {
                prefetch(em, inner, (*base, *offset), *elem, PrefetchHint::Soon);
            }
            self.point(em, inner)?;
            em.close_plain(inner);
            em.close_plain(part);
        }
        Ok(())
    }
}
