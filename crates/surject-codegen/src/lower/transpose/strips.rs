//! The loops over the blocks of a transposition: strips of rows, in each the columns, and of these block after block.
//!
//! A strip is some blocks of rows at once: loads then run on along a few rows of memory instead of touching all of them line
//! by line. Where blocks meet in a tile before they go to memory ([`super::tile`]), a strip has a loop over tiles of columns,
//! and each tile leaves when its blocks are there.

use crate::CodegenError;
use crate::code::{Op, Value};
use crate::expression::address::LoopId;
use crate::expression::dag::Buf;
use crate::lower::emit::{Bounds, Emitter, ScopeId};
use crate::lower::row::Ends;
use crate::lower::row::{Conditions, Row};
use crate::lower::transpose::along::Along;
use crate::lower::transpose::groups::Strip;
use crate::lower::transpose::tile::Tile;
use crate::lower::transpose::{Block, Reach, close_behind, open_behind};
use crate::lower::units::{TaskRange, clip};
use crate::lower::vectors::Lanes;
use crate::machine::elem::Elem;
use crate::schedule::non_temporal::LINE;
use std::ops::Range;

/// A tile and its memory, which is the task's own.
pub(super) struct TileMemory<'a> {
    tile: &'a Tile,
    elem: Elem,
    pointer: Value,
}

impl<'a> TileMemory<'a> {
    /// Reserves memory for a tile, with room for what a row has of its last line.
    pub(super) fn reserve(em: &mut Emitter<'_>, tile: &'a Tile) -> TileMemory<'a> {
        let elem = Elem::in_memory(em.dag[tile.outputs[1][0].root].dtype);
        let (root, count) = (em.root(), em.int(tile.rows * tile.pitch + LINE / elem.size() as i64));
        let alloca = Op::Alloca { count, of: elem.ty(1), alignment: Some(64) };
        TileMemory { tile, elem, pointer: em.op(root, alloca) }
    }
}

/// What is transposed, inside of the outer loops.
pub(super) struct Strips<'a> {
    pub(super) row: &'a Row<'a>,
    /// The loop that loads run along.
    pub(super) rows_of: &'a Along,
    /// The loop in lanes.
    pub(super) last: LoopId,
    /// The loop that goes on where `last` ends, if there is one ([`super::behind`]).
    pub(super) behind: Option<LoopId>,
    pub(super) reach: Reach,
    /// Vectors of a group of columns, where the next group comes meanwhile ([`super::groups`]).
    pub(super) group: Option<i64>,
    /// All rows and columns, and the rows of a strip.
    pub(super) rows: i64,
    pub(super) columns: i64,
    pub(super) strip_rows: i64,
    /// The columns of a task.
    pub(super) piece: TaskRange,
    /// Where blocks meet before they go to memory.
    pub(super) memory: Option<TileMemory<'a>>,
}

/// A strip while it is written.
struct OpenStrip<'a> {
    strip: Strip<'a>,
    /// The first row of the only block, where that ends with the last row. Else there is a block wherever a block begins.
    single: Option<i64>,
}

impl Strips<'_> {
    /// Some rows line by line.
    pub(super) fn lines(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        range: &TaskRange,
        rows: Range<i64>,
    ) -> Result<(), CodegenError> {
        let bounds = clip(em, scope, range, rows, 1);
        let (inner, iv) = em.open_loop(scope, self.rows_of.all, 1);
        self.rows_of.bind(em, inner, iv);
        let part = open_behind(em, inner, self.behind);
        self.row.line(em, part.0, self.last, self.piece.clone(), Conditions::CutApart)?;
        close_behind(em, part, self.behind);
        em.close_loop(inner, iv, &bounds, &[]);
        Ok(())
    }

    /// Some rows, strip by strip. From another row than the first on there is one block, which ends with
    /// the last row.
    pub(super) fn write(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        range: &TaskRange,
        rows: Range<i64>,
    ) -> Result<(), CodegenError> {
        let block_rows = self.rows_of.block as i64;
        let bounds = clip(em, scope, range, rows.clone(), block_rows);
        let strip = em.open(scope, Vec::new(), None);
        let first = em.name();
        let length = em.int(self.strip_rows);
        let end = em.arith(strip, "arith.addi", first, length);
        let end = em.arith(strip, "arith.minsi", end, bounds.high);
        let open = OpenStrip {
            strip: Strip { rows_of: self.rows_of, last: self.last, first, end, rows: self.strip_rows },
            single: (rows.start > 0).then_some(self.rows - block_rows),
        };
        let (part, iv) = open_behind(em, strip, self.behind);
        match &self.memory {
            None => {
                self.columns_of(em, part, &open, &self.piece)?;
                close_behind(em, (part, iv), self.behind);
            }
            Some(memory) => self.tiles(em, (strip, part), &open, memory)?,
        }
        let strips = Bounds { step: length, ..bounds };
        em.close_loop(strip, first, &strips, &[]);
        Ok(())
    }

    /// The columns of a strip, tile by tile: its blocks, and then the tile leaves. `part` is the scope of the loop, inside
    /// that of the strip.
    fn tiles(
        &self,
        em: &mut Emitter<'_>,
        (strip, part): (ScopeId, ScopeId),
        open: &OpenStrip<'_>,
        memory: &TileMemory<'_>,
    ) -> Result<(), CodegenError> {
        let TileMemory { tile, elem, pointer } = memory;
        let bounds = clip(em, strip, &self.piece, 0..self.columns, tile.columns);
        let from = em.name();
        let to = em.arith(part, "arith.addi", from, bounds.step);
        let to = em.arith(part, "arith.minsi", to, bounds.high);
        // Rows and columns count from those of the tensor.
        let pitch = em.int(tile.pitch);
        let before = em.arith(part, "arith.muli", open.strip.first, pitch);
        let before = em.arith(part, "arith.addi", before, from);
        let line = em.int(LINE / elem.size() as i64);
        let before = em.arith(part, "arith.subi", line, before);
        let moved = em.element(*pointer, before, *elem, part);
        em.pointers.insert(Buf::OWN, moved);
        self.columns_of(em, part, open, &TaskRange { low: Some(from), high: Some(to) })?;
        self.leave_tile(em, part, open, (from, to, &bounds), tile)?;
        em.close_loop(part, from, &bounds, &[]);
        Ok(())
    }

    /// The columns of a part of a strip: whole vectors of them, and then those that are left, once, in the piece that ends
    /// with them.
    fn columns_of(
        &self,
        em: &mut Emitter<'_>,
        part: ScopeId,
        open: &OpenStrip<'_>,
        within: &TaskRange,
    ) -> Result<(), CodegenError> {
        let full = self.row.schedule.lanes;
        let lanes = full as i64;
        let main = self.columns - self.columns % lanes;
        let rest = (self.columns - main).unsigned_abs() as usize;
        if main > 0 {
            let group = self.group.filter(|_| open.single.is_none());
            let step = group.map_or(lanes, |group| group * lanes);
            let inner = clip(em, part, within, 0..main, step);
            let scope = em.open(part, Vec::new(), None);
            let column = em.name();
            match group {
                None => self.blocks(em, scope, open, column, Lanes::all(full))?,
                Some(group) => self.row.grouped(
                    em,
                    scope,
                    &open.strip,
                    (column, &inner, group),
                    &|em, scope, (row, column), next| {
                        let reach = self.reach;
                        let block = Block { row, column, first: 0, lanes: full, active: full, reach, next };
                        self.row.block(em, scope, self.rows_of, self.last, &block)
                    },
                )?,
            }
            em.close_loop(scope, column, &inner, &[]);
        }
        if rest > 0 {
            let scope = em.open(part, Vec::new(), None);
            let column = em.name();
            self.blocks(em, scope, open, column, Lanes::holding(rest))?;
            let inner = clip(em, part, within, main..self.columns, lanes);
            em.close_loop(scope, column, &inner, &[]);
        }
        Ok(())
    }

    /// The blocks of a strip at a column, of which those in active lanes exist.
    fn blocks(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        open: &OpenStrip<'_>,
        column: Value,
        Lanes { active, lanes }: Lanes,
    ) -> Result<(), CodegenError> {
        let block_rows = self.rows_of.block as i64;
        let inner = em.open(scope, Vec::new(), None);
        let iv = em.name();
        let row = open.single.map_or_else(|| iv, |row| em.int(row));
        // The rows of a block that ends with the last row which belong to the block before it are not stored again.
        let first = open.single.map_or(0, |_| (block_rows - self.rows % block_rows) as usize);
        let block = Block { row, column, first, lanes, active, reach: self.reach, next: Vec::new() };
        match &self.memory {
            None => self.row.block(em, inner, self.rows_of, self.last, &block)?,
            Some(memory) => {
                let streams = std::mem::take(&mut em.streams);
                let row = Row { outputs: &memory.tile.outputs[0], ..*self.row };
                row.block(em, inner, self.rows_of, self.last, &block)?;
                em.streams = streams;
            }
        }
        let (low, high) = (open.strip.first, open.strip.end);
        let steps = Bounds { low, high, step: em.int(block_rows) };
        em.close_loop(inner, iv, &steps, &[]);
        Ok(())
    }

    /// A tile leaves its memory, whose columns go from one to another: as one sequence, or row by row, and then the next tile
    /// may come meanwhile.
    fn leave_tile(
        &self,
        em: &mut Emitter<'_>,
        part: ScopeId,
        open: &OpenStrip<'_>,
        (from, to, bounds): (Value, Value, &Bounds),
        tile: &Tile,
    ) -> Result<(), CodegenError> {
        let (first, end) = (open.strip.first, open.strip.end);
        let row = Row { outputs: &tile.outputs[1], ..*self.row };
        if let Some(flat) = tile.flat {
            let length = em.int(self.columns);
            let [low, high] = [first, end].map(|row| Some(em.arith(part, "arith.muli", row, length)));
            return row.shifted(
                em,
                part,
                flat,
                &TaskRange { low, high },
                (0..self.rows * self.columns, Ends::Prefetched),
            );
        }
        let rows = |em: &mut Emitter<'_>, scope: ScopeId, (low, high): (Value, Value)| {
            let (inner, iv) = em.open_loop(scope, self.rows_of.all, 1);
            self.rows_of.bind(em, inner, iv);
            row.leave(em, inner, self.last, &tile.outputs[0], (from, to, bounds))?;
            let rows = Bounds { low, high, step: em.int(1) };
            em.close_loop(inner, iv, &rows, &[]);
            Ok::<(), CodegenError>(())
        };
        if em.streams && self.reach.far && open.single.is_none() {
            // As many as have the elements of a block.
            let elements = self.rows_of.block as i64 * self.row.schedule.lanes as i64;
            let step = (elements / tile.columns).max(1);
            return self.row.meanwhile(em, part, &open.strip, (to, bounds, step), &rows);
        }
        rows(em, part, (first, end))
    }
}
