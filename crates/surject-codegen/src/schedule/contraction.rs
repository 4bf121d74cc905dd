//! The contraction emitter: a sum of products of two factors, or another reduction of other arithmetic on two
//! values, with packed operands and register tiles.
//!
//! The loops over the output that only one factor depends on are its rows, or its columns; those that both depend
//! on are the batch. One loop of the column side is done in lanes. Both factors are evaluated into *panels*: for
//! every value of the summed loops, in order, the values at the rows or columns of one tile. Evaluating is what
//! the row emitter does for any value, so convolution windows, padding, transpositions and whatever stands before
//! the product need nothing special. A tile is then the same loop for every contraction: a few vectors of the
//! column panel, a broadcast of each element of the row panel, multiply and add into registers. What the stored
//! field does with the sum (bias, activation, residual) is evaluated on the tile when it is stored.
//!
//! Panels are always full: rows and columns beyond the end repeat the last one, and are not stored. Columns are packed by a
//! kernel of their own; those that one block of rows needs may be packed panel by panel, as they are needed ([`emit_fresh`]).
//!
//! `analyse` finds contractions and their tiles, `cost` weighs what one form packs against another, `dots` those that are better sums in lanes, `sizes` cuts them, `pairs`
//! takes factors of few bits two at a time, `matrix` has tiles in registers for them, `windows` finds rows that need no panel, `packing` packs
//! columns, `triangle` finds what a mask cuts off, `panels` runs through columns and rows, `tile` writes the innermost loops, `direct` stores what needs no more.

pub(crate) mod analyse;
pub(crate) mod cost;
pub(crate) mod dots;
pub(crate) mod matrix;
pub(crate) mod pack;
pub(crate) mod pairs;
pub(crate) mod sizes;
pub(crate) mod terms;
pub(crate) mod triangle;
pub(crate) mod windows;

use crate::Target;
use crate::expression::address::LoopId;
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::output::{Output, buffers};
use crate::machine::elem::Elem;
use crate::schedule::contraction::pack::{Pack, Packing};
use crate::schedule::contraction::sizes::{Sizes, in_place};
use crate::schedule::contraction::triangle::Triangle;
use crate::schedule::contraction::windows::Windows;

/// The size of a tile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TileSize {
    /// Lanes of a vector of columns, and vectors of a row.
    pub(crate) lanes: usize,
    pub(crate) vectors: usize,
    /// Rows.
    pub(crate) high: usize,
}

/// A contraction that is worth tiles.
#[derive(Clone, Debug)]
pub struct Contraction {
    /// The reduction.
    pub node: NodeId,
    /// The factor of the rows and that of the columns.
    pub factors: [NodeId; 2],
    /// Loops that both factors depend on.
    pub batch: Vec<LoopId>,
    /// Loops of the row side.
    pub rows: Vec<LoopId>,
    /// Loops of the column side but the last.
    pub columns: Vec<LoopId>,
    /// The loop of the column side that is done in lanes.
    pub lane: LoopId,
    /// The summed loops.
    pub sum: Vec<LoopId>,
    /// The tile that registers hold.
    pub(crate) tile: TileSize,
    /// The rows of a tile where there are many.
    pub(crate) usual: usize,
    /// A summed loop whose points are taken some at a time.
    pub(crate) pairs: Option<pairs::Pairs>,
    /// Are tiles in registers of their own ([`matrix`])?
    pub(crate) matrix: bool,
    /// The columns are read in their order in memory, some terms of all tiles at a time.
    pub(crate) streams: bool,
    /// The part of full vectors' products that tiles do.
    pub(crate) share: f64,
    /// May a vector hold the columns of several terms ([`terms`])?
    pub(crate) grouped: bool,
    /// The extent to which the last loop of the rows is filled up, so that the rows of a tile differ in it alone.
    pub(crate) filled: Option<i64>,
    /// What no tile visits.
    pub(crate) triangle: Triangle,
}

impl Contraction {
    /// The terms of all rows.
    pub(crate) fn points(&self, dag: &Dag) -> f64 {
        [&self.batch, &self.rows, &self.sum].into_iter().flatten().map(|&l| dag.extent(l) as f64).product()
    }

    /// The factor of the rows and the form of its panels.
    pub(crate) fn row_pack(&self, dag: &Dag) -> Pack<'_> {
        Pack {
            value: self.factors[0],
            sum: &self.sum,
            width: self.tile.high,
            lanes: self.tile.lanes,
            elem: Elem::of(dag[self.node].dtype),
            pairs: self.pairs,
            terms: self.terms(dag),
            transposed: self.matrix,
            tight: false,
        }
    }
}

pub(crate) fn product(dag: &Dag, loops: &[LoopId]) -> i64 {
    loops.iter().map(|&l| dag.extent(l)).product()
}

/// What the contraction writes and the scratch it needs.
pub struct Scratch {
    /// Bytes of the packed columns.
    pub columns: i64,
    /// Bytes of the packed rows of all workers.
    pub rows: i64,
}

/// The scratch memory of a contraction; `None` where it would be out of proportion.
pub fn scratch(dag: &Dag, c: &Contraction, target: &Target) -> Option<Scratch> {
    let s = Sizes::new(dag, c, target);
    let size = s.elem.size() as i64;
    let panel = s.sum.checked_mul(s.width)?.checked_add(s.mark)?;
    let packed = s.batch.checked_mul(s.all_panels)?.checked_mul(panel)?.checked_mul(size)?;
    let packed = packed - s.left_out(dag.extent(c.lane)) * size;
    let columns = if packed < 1 << 32 && in_place(dag, c, &s).is_some() { 0 } else { packed };
    s.block.checked_mul(s.sum)?.checked_add(s.block.checked_mul(s.mark)?)?;
    let rows = match windows::windows(dag, c, &s) {
        // No tile is packed, and none is kept in memory: there are no passes.
        Some(windows) if windows.always => 0,
        _ => s.workers.checked_mul(s.own())?.checked_mul(size)?,
    };
    (columns < 1 << 32 && rows < 1 << 32).then_some(Scratch { columns, rows })
}

/// The tensors of the kernel that packs the columns, in its order.
pub(crate) fn packed_tensors(dag: &Dag, c: &Contraction, columns: Buf) -> Vec<Buf> {
    buffers(dag, &[columns], &[c.factors[1]])
}

/// Do the tiles read the column factor where it lies?
pub(crate) fn reads_columns_in_place(dag: &Dag, c: &Contraction, target: &Target) -> bool {
    in_place(dag, c, &Sizes::new(dag, c, target)).is_some()
}

/// Do all tiles read their rows where they lie?
pub(crate) fn reads_rows_in_place(dag: &Dag, c: &Contraction, target: &Target) -> bool {
    windows::windows(dag, c, &Sizes::new(dag, c, target)).is_some_and(|w| w.always)
}

/// Would they read columns there, if these were this factor?
pub(crate) fn reads_columns_as(dag: &Dag, c: &Contraction, columns: NodeId, target: &Target) -> bool {
    let c = Contraction { factors: [c.factors[0], columns], ..c.clone() };
    reads_columns_in_place(dag, &c, target)
}

/// Are rows, if they are packed, packed many elements at a time?
pub(crate) fn packs_blocks(dag: &Dag, c: &Contraction) -> bool {
    matches!(cost::packing_of_rows(dag, c), Packing::Along | Packing::Transposed)
}

/// The elements of the panels of columns, if these are packed; 0 if they are not.
pub(crate) fn packed_columns(dag: &Dag, c: &Contraction, target: &Target) -> f64 {
    let s = Sizes::new(dag, c, target);
    let packed = in_place(dag, c, &s).is_none();
    if packed { s.batch as f64 * (s.all_panels * s.column_panel()) as f64 } else { 0.0 }
}

/// Is the column factor read once, in its order, by as many tasks as there are threads?
pub(crate) fn is_shared_by_columns(dag: &Dag, c: &Contraction, target: &Target) -> bool {
    let s = Sizes::new(dag, c, target);
    s.pass > 0 && s.batch * s.groups >= target.threads as i64
}

/// What a block of rows goes through.
#[derive(Clone, Copy)]
pub(crate) struct BlockColumns {
    /// The bytes of columns that it is multiplied with.
    pub(crate) bytes: i64,
    /// The rows of a block.
    pub(crate) rows: i64,
}

/// The columns that a block of rows is multiplied with.
pub(crate) fn columns(dag: &Dag, c: &Contraction, target: &Target) -> BlockColumns {
    let s = Sizes::new(dag, c, target);
    BlockColumns { bytes: s.all_panels * s.width * s.sum * s.elem.size() as i64, rows: s.block }
}

/// Bytes of packed rows for a range of so many rows.
pub(crate) fn row_bytes(dag: &Dag, c: &Contraction, target: &Target, most: i64) -> i64 {
    let c = &c.by_rows();
    let s = Sizes::new(dag, c, target).for_range(most);
    let packed = windows_of_range(dag, c, &s).is_none();
    if packed { s.rows_in_panels() * s.elem.size() as i64 } else { 0 }
}

/// The cycles of one core that ranges of rows take longer than all rows: they are numbered one by one, and packed
/// where the kernel of all would read them where they lie.
pub(crate) fn lost_in_ranges(dag: &Dag, c: &Contraction, target: &Target) -> f64 {
    let s = Sizes::new(dag, c, target);
    let all = cost::rows(dag, c, &s, windows::windows(dag, c, &s).as_ref());
    let c = &c.by_rows();
    let s = Sizes::new(dag, c, target).for_range(1);
    (cost::rows(dag, c, &s, windows_of_range(dag, c, &s).as_ref()) - all).max(0.0)
}

/// Rows that a range reads where they lie: those of a tensor that is there as a whole, for a tile may begin before
/// the range.
pub(crate) fn windows_of_range(dag: &Dag, c: &Contraction, s: &Sizes) -> Option<Windows> {
    windows::windows(dag, c, s).filter(|w| w.always)
}

/// The share of the tiles whose rows are packed because not all of what they read lies inside the tensor, less those
/// that would be packed anyway; `None` where no tile reads rows where they lie.
pub(crate) fn packed_share(dag: &Dag, c: &Contraction, target: &Target) -> Option<f64> {
    let s = Sizes::new(dag, c, target);
    let windows = windows::windows(dag, c, &s)?;
    (!windows.is_plain()).then(|| windows.share_at_borders(dag, c, &s))
}

/// Where the tiles read: the row factor and the rest of the stored field, but not what only the column factor reads.
pub(crate) fn read_by_tiles(dag: &Dag, output: &Output, c: &Contraction) -> Vec<NodeId> {
    let mut roots = vec![c.factors[0]];
    for id in dag.reachable(&[output.root]) {
        match &dag[id].node {
            Node::Load { .. } => roots.push(id),
            Node::Reduce { body, .. } if id != c.node => roots.push(*body),
            _ => {}
        }
    }
    roots
}
