//! Columns of a transposition in groups: while one is moved, the next one comes.
//!
//! Blocks read a line of many columns, one after the other, and no processor foresees that. So while a group of columns is
//! moved, the next group is asked for into the second cache, column by column of a strip, in the order in which memory has
//! it; each block asks for as many lines as it moves. And since the blocks of a group are done one after the other, what
//! they store past the caches lies side by side, several lines of it.
//!
//! Tiles ask for the next tile while they leave.
//!
//! `f32[4096,4096]` takes 0.68 of the time on one thread and 0.74 on two, where it is as fast as a copy; through tiles,
//! `f32[4003,4205]` takes 0.63 and 0.6 (Zen 4). It is the order that matters: asked for in the order of the blocks, the same
//! lines gain little. And they have to be asked for in between: all for a row of blocks at once takes longer.

use crate::CodegenError;
use crate::Target;
use crate::address::LoopId;
use crate::dag::{Dag, Node, NodeId};
use crate::emit::{Bounds, Elem, Emitter, ScopeId};
use crate::row::Row;
use crate::schedule::Output;
use crate::stream::{LINE, size};

/// Rows are written by few parts of memory if they begin a multiple of so many bytes apart, and by very few if of so many.
const APART: [i64; 2] = [256, 1024];

/// Columns so many bytes apart are read as one sequence already.
const NEAR: i64 = 2048;

/// Places of a cache that columns meet in are few if they are less.
const PLACES: i64 = 8;

/// A line that will be read, by its address and how many elements lie between.
pub(crate) type Ahead = (String, i64, Elem);

impl Row<'_> {
    /// How many blocks of columns make a group.
    ///
    /// Memory has parts that work at the same time, and which of them has a line is in its address: rows that are a
    /// multiple of 256 bytes or more apart are written by few of them, unless each is written in several lines. But larger
    /// groups leave the cache before they are read: at once, where columns are a multiple of a large power of two apart and
    /// meet in one place of it, or between two blocks that share a line.
    pub(crate) fn group(
        &self,
        dag: &Dag,
        (along, last): (LoopId, LoopId),
        loads: &[NodeId],
        target: &Target,
    ) -> i64 {
        let cache = (Target::CACHE_SHARE * target.cache_bytes) as i64;
        let small = |&load: &NodeId| match &dag[load].node {
            Node::Load { address, .. } => {
                let apart =
                    address.coeff(last).saturating_mul(Elem::in_memory(dag[load].dtype).size() as i64);
                let places = cache.checked_shr(apart.trailing_zeros()).unwrap_or(0);
                apart % LINE != 0 || apart.saturating_abs() <= NEAR || places < PLACES
            }
            _ => true,
        };
        let written = |o: &Output| o.address.coeff(along).saturating_mul(size(dag, o));
        let meet = |bytes: i64| self.outputs.iter().all(|o| written(o) % bytes == 0);
        match APART.map(meet) {
            [false, _] => 1,
            [true, true] if !loads.iter().any(small) => 4,
            _ => 2,
        }
    }

    /// What is asked for of the group of columns that is next, which begins at `corner`, at a turn of this one: as many
    /// lines as a block has, column by column of a strip of so many rows, as they lie in memory.
    pub(crate) fn ask_group(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (along, last): (LoopId, LoopId),
        load: NodeId,
        (turn, strip): (&str, i64),
        corner: &(String, String),
    ) -> Result<Vec<Ahead>, CodegenError> {
        let malformed = || CodegenError::malformed("a block of something that is not loaded");
        let Node::Load { buf, address, .. } = em.dag[load].node.clone() else { return Err(malformed()) };
        let pointer = em.pointers.get(&buf).cloned().ok_or_else(malformed)?;
        let elem = Elem::in_memory(em.dag[load].dtype);
        let (lanes, size, apart) = (self.schedule.lanes as i64, elem.size() as i64, address.coeff(last));
        let whole = apart.checked_mul(size).is_some_and(|bytes| bytes % LINE == 0);
        let lines = (strip * size + LINE - 1) / LINE + i64::from(!whole);
        // A column takes some turns, or a turn some columns.
        let turns = (lines / lanes).max(1);
        let (share, columns) = ((lines + turns - 1) / turns, (lanes + lines - 1) / lines);
        let [all, taken, past] = [turns, columns, share * LINE / size].map(|n| em.int(n));
        let column = em.op(scope, &format!("arith.divui {turn}, {all} : i64"));
        let column = em.op(scope, &format!("arith.muli {column}, {taken} : i64"));
        let column = em.op(scope, &format!("arith.addi {}, {column} : i64", corner.1));
        let row = em.op(scope, &format!("arith.remui {turn}, {all} : i64"));
        let row = em.op(scope, &format!("arith.muli {row}, {past} : i64"));
        let row = em.op(scope, &format!("arith.addi {}, {row} : i64", corner.0));
        let at = em.open(scope, vec![(along, row), (last, column)], None);
        let place = em.lin(&address, at);
        let base = em.element(&pointer, &place, elem, at);
        em.close_plain(at);
        let mut asked = Vec::new();
        for column in 0..columns {
            let column = column.checked_mul(apart).ok_or_else(malformed)?;
            asked.extend((0..share).map(|line| (base.clone(), column + line * LINE / size, elem)));
        }
        Ok(asked)
    }
}

/// Where the group of columns begins that comes after the one that ends at `to`, by row and column: in the same strip of
/// rows, which is `strip.0..strip.1`, or where all columns have been, in the next one.
pub(crate) fn next_corner(
    em: &mut Emitter<'_>,
    scope: ScopeId,
    strip: (&str, &str),
    (to, all): (&str, &Bounds),
) -> (String, String) {
    let done = em.op(scope, &format!("arith.cmpi sge, {to}, {} : i64", all.high));
    let row = em.op(scope, &format!("arith.select {done}, {}, {} : i64", strip.1, strip.0));
    let column = em.op(scope, &format!("arith.select {done}, {}, {to} : i64", all.low));
    (row, column)
}

/// How many steps lie between a position of a loop and where it began.
pub(crate) fn steps(em: &mut Emitter<'_>, scope: ScopeId, (at, from): (&str, &str), step: i64) -> String {
    let (past, step) = (em.op(scope, &format!("arith.subi {at}, {from} : i64")), em.int(step));
    em.op(scope, &format!("arith.divui {past}, {step} : i64"))
}
