//! A tile: what a task makes of blocks in memory of its own before it leaves for where it belongs.

use crate::code::{Op, Value};
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Buf, Dag, Node};
use crate::expression::output::Output;
use crate::lower::emit::{Bounds, Emitter, ScopeId};
use crate::lower::row::Ends;
use crate::lower::row::Row;
use crate::lower::transpose::along::Along;
use crate::lower::transpose::behind;
use crate::lower::units::TaskRange;
use crate::machine::elem::Elem;
use crate::schedule::Schedule;
use crate::schedule::non_temporal::{LINE, begin_alike, leaves};
use crate::schedule::transpose::{STRIP, meet};
use crate::{CodegenError, Target};

/// Memory for some rows of some columns, of which a task makes the blocks before it stores them.
pub(super) struct Tile {
    /// The nodes of the kernel, and the load of an element of the tile.
    pub(super) dag: Dag,
    /// The element as it is put into the tile, and as it goes from there to where it belongs.
    pub(super) outputs: [Vec<Output>; 2],
    /// Over the elements of whole rows, where these lie one behind the other both in the tile and where they belong.
    pub(super) flat: Option<LoopId>,
    pub(super) rows: i64,
    pub(super) columns: i64,
    /// From row to row, in elements.
    pub(super) pitch: i64,
}

/// The tile of a schedule whose results leave the nearest caches though their rows do not begin alike.
pub(super) fn tile(
    dag: &Dag,
    outputs: &[Output],
    schedule: &Schedule,
    along: &Along,
    target: &Target,
) -> Option<Tile> {
    let ([output], Some(&last)) = (outputs, schedule.order.last()) else { return None };
    let (lanes, dtype) = (schedule.lanes as i64, dag[output.root].dtype);
    let size = Elem::in_memory(dtype).size() as i64;
    let distance = along.distance(&output.address);
    let meet = !schedule.streams && distance.is_some_and(|distance| meet(distance.saturating_mul(size)));
    let across = target.split_store_bytes.is_some_and(|least| size as usize >= least) && !schedule.streams;
    let whole = begin_alike(dag, outputs, last) || across;
    // Past the caches each part of a line would go to memory by itself.
    let parts = schedule.streams && lanes * size < LINE;
    let direct = whole && !meet && !parts;
    if direct
        || behind(dag, outputs, schedule).is_some()
        || !(schedule.streams || leaves(dag, outputs, target))
    {
        return None;
    }
    let (mut dag, along, high) = (dag.clone(), along.all, along.block as i64);
    let length = dag.extent(last);
    // Whole rows that are one sequence, where the nearest cache holds a block of them.
    let block = length.checked_mul(size * high)?;
    let behind = (output.address.coeff(last), distance) == (1, Some(length));
    let flat = match behind && 2 * block <= target.l1_bytes as i64 {
        true => Some(dag.add_loop(length.checked_mul(dag.extent(along))?)?),
        false => None,
    };
    // Whole blocks, and whole lines.
    let lines = lanes.max(LINE / size);
    let limits = &target.thresholds;
    let most = (limits.transpose_tile_blocks, limits.transpose_tile_lines.saturating_mul(lines));
    let (rows, columns) = match flat {
        Some(_) => ((target.l1_bytes as i64 / 3 / block).clamp(1, limits.transpose_row_blocks), length),
        None if schedule.streams => (most.0.min(2 * STRIP), most.1.min(4 * lines)),
        None => {
            let near = target.l2_share_bytes as i64 / 2 / (STRIP / 2 * high * size * lanes);
            (most.0.min(STRIP / 2), most.1.min(near.max(2) * lanes))
        }
    };
    let pitch = if flat.is_some() { length } else { columns + LINE / size };
    let into = Lin::var(last).plus(&Lin::var(along), pitch)?;
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
    Some(Tile { dag, outputs, flat, rows: rows * high, columns, pitch })
}

impl Row<'_> {
    /// A row of a tile leaves for where it belongs. Past the caches it does so in whole lines: what it has of its last line
    /// stays in front of the row, for the next tile to complete.
    pub(super) fn leave(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        last: LoopId,
        tile: &[Output],
        (from, to, all): (Value, Value, &Bounds),
    ) -> Result<(), CodegenError> {
        let columns = em.dag.extent(last);
        let ends = if em.streams { Ends::Whole } else { Ends::Prefetched };
        if !em.streams || begin_alike(em.dag, self.outputs, last) {
            let range = TaskRange { low: Some(from), high: Some(to) };
            return self.shifted(em, scope, last, &range, (0..columns, ends));
        }
        let ([stored], [output]) = (tile, self.outputs) else {
            return Err(CodegenError::malformed("a tile of several outputs"));
        };
        let elem = Elem::in_memory(em.dag[output.root].dtype);
        let line = LINE / elem.size() as i64;
        let at = |em: &mut Emitter<'_>, output: &Output, column: Value| -> Result<Value, CodegenError> {
            let pointer = em.pointer(output.to)?;
            Ok(em.corner(pointer, (&output.address, elem), vec![(last, column)], scope))
        };
        // Tiles are whole lines wide: where in a line one begins the next one does.
        let begin = at(em, output, from)?;
        let [size, count] = [elem.size() as i64, line].map(|n| em.int(n));
        let within = em.within_line(begin, LINE, scope);
        let within = em.arith(scope, "arith.divui", within, size);
        let mut back = |column: Value, end: Value, is: &'static str| {
            let there = em.compare(scope, is, column, end);
            let back = em.arith(scope, "arith.subi", column, within);
            em.pick_number(scope, there, back, column)
        };
        let (low, high) = (back(from, all.low, "sgt"), back(to, all.high, "slt"));
        let range = TaskRange { low: Some(low), high: Some(high) };
        self.shifted(em, scope, last, &range, (0..columns, ends))?;
        let [ahead, behind] = [to, from].map(|column| em.arith(scope, "arith.subi", column, count));
        let (ahead, behind) = (at(em, stored, ahead)?, at(em, stored, behind)?);
        let (ty, bytes) = (elem.ty(line as usize), elem.size());
        let kept = em.op(scope, Op::aligned_load(ahead, ty, bytes));
        em.run(scope, Op::aligned_store(kept, behind, ty, bytes));
        Ok(())
    }
}
