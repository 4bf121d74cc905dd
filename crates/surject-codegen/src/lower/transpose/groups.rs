//! Columns of a transposition in groups: while one is moved, the next one comes.
//!
//! Blocks read a line of many columns, one after the other, and no processor foresees that. So while a group of columns is
//! moved, the next group is prefetched into the second cache, column by column of a strip, in the order in which memory has
//! it; each block prefetches as many lines as it moves. And since the blocks of a group are done one after the other, what
//! they store past the caches lies side by side, several lines of it.
//!
//! Tiles prefetch the next tile while they leave.
//!
//! `f32[4096,4096]` takes 0.69 of the time on one thread and 0.75 on two, where it has 0.93 of the speed of a copy; through
//! tiles, `f32[4003,4205]` takes 0.64 and 0.56 (Zen 4). It is the order that matters: prefetched in the order of the
//! blocks, the same lines gain little. And they have to be prefetched in between: all for a row of blocks at once takes
//! longer.

use crate::code::Value;
use crate::expression::address::LoopId;
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::lower::emit::{Bounds, Emitter, ScopeId};
use crate::lower::prefetch::prefetch;
use crate::lower::row::Row;
use crate::lower::transpose::along::Along;
use crate::machine::elem::Elem;
use crate::schedule::non_temporal::LINE;
use crate::schedule::prefetch::PrefetchHint;
use crate::schedule::transpose::{bytes_apart, places};
use crate::{CodegenError, Target};

/// Rows are written by few parts of memory if they begin a multiple of so many bytes apart, and by very few if of so many.
const APART: [i64; 2] = [256, 1024];

/// Columns so many bytes apart are read as one sequence already.
const NEAR: i64 = 2048;

/// Places of a cache that columns meet in are few if they are less.
const PLACES: i64 = 8;

/// A line that will be read, by its address and how many elements lie between.
pub(super) type PrefetchedLine = (Value, i64, Elem);

/// Moves the block at a row and a column, and prefetches lines meanwhile.
pub(super) type Moves<'a> =
    &'a dyn Fn(&mut Emitter<'_>, ScopeId, (Value, Value), Vec<PrefetchedLine>) -> Result<(), CodegenError>;

/// Writes what is done for the rows from one to another.
pub(super) type Rows<'a> = &'a dyn Fn(&mut Emitter<'_>, ScopeId, (Value, Value)) -> Result<(), CodegenError>;

/// A strip of rows `first..end`, and what is loaded of it: along a row of memory for each position of `last`.
pub(super) struct Strip<'a> {
    pub(super) rows_of: &'a Along,
    pub(super) last: LoopId,
    pub(super) first: Value,
    pub(super) end: Value,
    /// As many as it has, or more where it is the last one.
    pub(super) rows: i64,
}

impl Row<'_> {
    /// How many blocks of columns make a group.
    ///
    /// Memory has parts that work at the same time, and which of them has a line is in its address: rows that are a
    /// multiple of 256 bytes or more apart are written by few of them, unless each is written in several lines. But larger
    /// groups leave the cache before they are read: at once, where columns are a multiple of a large power of two apart and
    /// meet in one place of it, or between two blocks that share a line.
    pub(super) fn group(&self, dag: &Dag, (rows_of, last): (&Along, LoopId), target: &Target) -> i64 {
        let cache = target.l2_bytes() as i64;
        let small = |&load: &NodeId| match &dag[load].node {
            Node::Load { address, .. } => {
                let distance = bytes_apart(dag, load, address, last);
                distance % LINE != 0 || distance.saturating_abs() <= NEAR || places(cache, distance) < PLACES
            }
            _ => true,
        };
        let written = |o: &Output| bytes_apart(dag, o.root, &o.address, rows_of.all);
        let meet = |bytes: i64| self.outputs.iter().all(|o| written(o) % bytes == 0);
        match APART.map(meet) {
            [false, _] => 1,
            [true, true] if !rows_of.loads.iter().any(small) => 4,
            _ => 2,
        }
    }

    /// The columns of a group, which begins at a column, for each block of rows of a strip; meanwhile the next group comes.
    pub(super) fn grouped(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        strip: &Strip<'_>,
        (column, all, group): (Value, &Bounds, i64),
        block: Moves<'_>,
    ) -> Result<(), CodegenError> {
        let (block_rows, lanes) = (strip.rows_of.block as i64, self.schedule.lanes as i64);
        let to = em.arith(scope, "arith.addi", column, all.step);
        let to = em.arith(scope, "arith.minsi", to, all.high);
        let next = strip.next(em, scope, (to, all));
        let inner = em.open(scope, Vec::new(), None);
        let row = em.name();
        let across = em.open(inner, Vec::new(), None);
        let at = em.name();
        let begun = steps(em, across, (row, strip.first), block_rows);
        let (group, turn) = (em.int(group), steps(em, across, (at, column), lanes));
        let begun = em.arith(across, "arith.muli", begun, group);
        let turn = em.arith(across, "arith.addi", begun, turn);
        let lines = self.to_prefetch(em, across, strip, turn, &next)?;
        block(em, across, (row, at), lines)?;
        let [rows, columns] = [block_rows, lanes].map(|step| em.int(step));
        let columns = Bounds { low: column, high: to, step: columns };
        em.close_loop(across, at, &columns, &[]);
        em.close_loop(inner, row, &strip.by(rows), &[]);
        Ok(())
    }

    /// The rows of a strip of a tile whose columns end at `to`, so many at a time; meanwhile the next tile comes.
    pub(super) fn meanwhile(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        strip: &Strip<'_>,
        (to, all, step): (Value, &Bounds, i64),
        rows: Rows<'_>,
    ) -> Result<(), CodegenError> {
        let next = strip.next(em, scope, (to, all));
        let some = em.open(scope, Vec::new(), None);
        let begin = em.name();
        let turn = steps(em, some, (begin, strip.first), step);
        for (base, offset, elem) in self.to_prefetch(em, some, strip, turn, &next)? {
            prefetch(em, some, (base, offset), elem, PrefetchHint::Soon);
        }
        let step = em.int(step);
        let stop = em.arith(some, "arith.addi", begin, step);
        let stop = em.arith(some, "arith.minsi", stop, strip.end);
        rows(em, some, (begin, stop))?;
        em.close_loop(some, begin, &strip.by(step), &[]);
        Ok(())
    }

    /// What is prefetched of the columns that are next, whose first element is at `next`, at a turn of these: as many lines
    /// of each load as a block has, column by column of a strip, as they lie in memory.
    fn to_prefetch(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        strip: &Strip<'_>,
        turn: Value,
        next: &(Value, Value),
    ) -> Result<Vec<PrefetchedLine>, CodegenError> {
        let malformed = || CodegenError::malformed("a block of something that is not loaded");
        let elements = strip.rows_of.block as i64 * self.schedule.lanes as i64;
        let mut prefetched = Vec::new();
        for &load in &strip.rows_of.loads {
            let Node::Load { buf, address, .. } = em.dag[load].node.clone() else { return Err(malformed()) };
            let (pointer, elem) = (em.pointer(buf)?, Elem::in_memory(em.dag[load].dtype));
            let (size, distance) = (elem.size() as i64, address.coeff(strip.last));
            let whole = distance.checked_mul(size).is_some_and(|bytes| bytes % LINE == 0);
            let lines = (strip.rows * size + LINE - 1) / LINE + i64::from(!whole);
            // A column takes some turns, or a turn some columns.
            let block = (elements * size / LINE).max(1);
            let turns = (lines / block).max(1);
            let (share, columns) = ((lines + turns - 1) / turns, (block + lines - 1) / lines);
            let [all, taken, past] = [turns, columns, share * LINE / size].map(|n| em.int(n));
            let column = em.arith(scope, "arith.divui", turn, all);
            let column = em.arith(scope, "arith.muli", column, taken);
            let column = em.arith(scope, "arith.addi", next.1, column);
            let row = em.arith(scope, "arith.remui", turn, all);
            let row = em.arith(scope, "arith.muli", row, past);
            let row = em.arith(scope, "arith.addi", next.0, row);
            let at = vec![(strip.rows_of.all, row), (strip.last, column)];
            let base = em.corner(pointer, (&address, elem), at, scope);
            for column in 0..columns {
                let column = column.checked_mul(distance).ok_or_else(malformed)?;
                prefetched.extend((0..share).map(|line| (base, column + line * LINE / size, elem)));
            }
        }
        Ok(prefetched)
    }
}

impl Strip<'_> {
    /// Where the columns begin that come after those that end at `to`, by row and column: in this strip, or where all have
    /// been, in the next one.
    fn next(&self, em: &mut Emitter<'_>, scope: ScopeId, (to, all): (Value, &Bounds)) -> (Value, Value) {
        let done = em.compare(scope, "sge", to, all.high);
        let row = em.pick_number(scope, done, self.end, self.first);
        let column = em.pick_number(scope, done, all.low, to);
        (row, column)
    }

    /// All of its rows, so many at a time.
    fn by(&self, step: Value) -> Bounds {
        Bounds { low: self.first, high: self.end, step }
    }
}

/// How many steps lie between a position of a loop and where it began.
fn steps(em: &mut Emitter<'_>, scope: ScopeId, (at, from): (Value, Value), step: i64) -> Value {
    let (past, step) = (em.arith(scope, "arith.subi", at, from), em.int(step));
    em.arith(scope, "arith.divui", past, step)
}
