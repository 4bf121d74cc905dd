//! Sums of products by tiles: blocks bring tiles of both values into shared memory, and threads sum the products of some
//! rows and columns in registers ([`threads`]), or the matrix units of warps do ([`warps`]).
//!
//! While a tile is summed, the next ones are under way: there are several stages of shared memory, which take turns.

mod bring;
mod threads;
mod warps;

use super::super::contraction::{Bring, Contraction, Share, WARP, WIDEST};
use super::{Lowered, Lowering};
use crate::CodegenError;
use crate::expression::address::LoopId;
use crate::expression::dag::{Node, NodeId};
use surject_ir::{BinaryOp, DType};
use surject_kernel::{Affine, Level, LoopKind, Mem, Space, Type, Value};

/// A value that is brought into shared memory.
struct Side {
    node: NodeId,
    mem: Mem,
    /// Its own loop, and the first row or column of the tile.
    own: LoopId,
    first: Affine,
    how: Bring,
    /// How many elements apart the rows or columns are, where their terms lie next to each other; else the terms.
    pitch: i64,
    /// Elements of a stage.
    stage: i64,
}

impl Side {
    /// The element of a row or column and a term, of a stage.
    fn element(&self, own: &Affine, term: &Affine, stage: &Affine) -> Option<Affine> {
        let element = if self.how.by_terms { term.plus(own, self.pitch) } else { own.plus(term, self.pitch) };
        element?.plus(stage, self.stage)
    }
}

/// Who brings tiles: a thread of a warp.
struct Agents {
    warp: Value,
    thread: Value,
    warps: i64,
}

/// The tiles of a sum, one after the other: those of the loop that is cut, inside of the other loops of the sum.
struct Turns {
    /// The other loops, the outermost first, with their iterations.
    around: Vec<(LoopId, i64)>,
    /// Tiles of the loop that is cut.
    tiles: i64,
    /// All tiles.
    count: i64,
}

fn overflow() -> CodegenError {
    CodegenError::overflow("a tile")
}

impl Lowering<'_> {
    /// The kernel of a sum of products.
    pub(super) fn contraction(&mut self, c: &Contraction) -> Lowered<()> {
        let expression = self.expression;
        let [m, n, _] = c.loops;
        let [rows, columns, terms] = c.tiles.tile;
        let extent = |l: LoopId| expression.dag.extent(l);
        let tiles = |l: LoopId, by: i64| (extent(l) + by - 1) / by;
        // Blocks: further loops over points, tiles of rows, tiles of columns.
        let mut others: Vec<LoopId> =
            expression.loops.iter().copied().filter(|l| ![m, n].contains(l)).collect();
        others.sort_by_key(|&l| std::cmp::Reverse(extent(l)));
        let blocks =
            |b: &mut Self, count: i64| b.b.open_for(0, count, 1, LoopKind::Parallel(Level::Block), &[]).0;
        for &l in &others {
            let number = blocks(self, extent(l));
            self.set(l, number.into());
        }
        let (row_tile, column_tile) = (blocks(self, tiles(m, rows)), blocks(self, tiles(n, columns)));
        let turns = self.turns(c)?;
        let asynchronous = matches!(c.tiles.share, Share::Warp(_)) && self.copies(c);
        let stages = match c.tiles.share {
            Share::Thread(_) => 2,
            Share::Warp(_) if asynchronous => warps::STAGES,
            Share::Warp(_) => 1,
        };
        let stages = stages.min(turns.count);
        let dtype = |n: NodeId| expression.dag[n].dtype;
        let side = |b: &mut Self, number: usize, node: NodeId, (own, tile, size): (LoopId, Value, i64)| {
            let how = c.bring[number];
            let (long, next) = if how.by_terms { (size, terms) } else { (terms, size) };
            // Rows begin in other banks, at multiples of what is accessed at once.
            let pad = WIDEST / dtype(node).size().max(1) as i64;
            let pitch = next + pad.max(1);
            let stage = long * pitch;
            let name = ["left", "right"][number];
            let mem = b.b.alloc(name, dtype(node), stages * stage, Space::Shared);
            let first = Affine::from(tile).times(size).ok_or_else(overflow)?;
            Ok::<Side, CodegenError>(Side { node, mem, own, first, how, pitch, stage })
        };
        let left = side(self, 0, c.parts.left, (m, row_tile, rows))?;
        let right = side(self, 1, c.parts.right, (n, column_tile, columns))?;
        match c.tiles.share {
            Share::Thread(share) => self.by_threads(c, share, (&left, &right), &turns)?,
            Share::Warp(rows) => {
                self.by_warps(c, rows, (&left, &right), &turns, asynchronous.then_some(stages))?;
            }
        }
        (0..others.len() + 2).for_each(|_| _ = self.b.close_for(&[]));
        Ok(())
    }

    fn turns(&self, c: &Contraction) -> Lowered<Turns> {
        let dag = &self.expression.dag;
        let Node::Reduce { loops, .. } = &dag[c.parts.sum].node else {
            return Err(CodegenError::malformed("a sum that is none"));
        };
        let (k, terms) = (c.loops[2], c.tiles.tile[2]);
        let around: Vec<(LoopId, i64)> =
            loops.iter().filter(|&&l| l != k).map(|&l| (l, dag.extent(l))).collect();
        let tiles = (dag.extent(k) + terms - 1) / terms;
        let count = around.iter().try_fold(tiles, |all, l| all.checked_mul(l.1)).ok_or_else(overflow)?;
        Ok(Turns { around, tiles, count })
    }

    /// Says which loops of the sum a tile has: where the others are, and its first term.
    fn turn(&mut self, c: &Contraction, turns: &Turns, number: &Affine) -> Lowered<Affine> {
        let tile = if turns.around.is_empty() {
            number.clone()
        } else {
            let mut rest = self.number(number);
            let mut places = Vec::new();
            let inner = std::iter::once((None, turns.tiles));
            let loops: Vec<_> =
                inner.chain(turns.around.iter().rev().map(|&(l, extent)| (Some(l), extent))).collect();
            for (i, &(l, extent)) in loops.iter().enumerate() {
                let (place, further) = match (extent, i + 1 == loops.len()) {
                    (1, _) => (0.into(), rest),
                    (_, true) => (rest.into(), rest),
                    _ => {
                        let by = self.integer(extent);
                        let place = self.b.binary(BinaryOp::Rem, rest, by);
                        (place.into(), self.b.binary(BinaryOp::Div, rest, by))
                    }
                };
                rest = further;
                places.push((l, place));
            }
            let mut tile = Affine::from(0);
            for (l, place) in places {
                match l {
                    Some(l) => self.set(l, place),
                    None => tile = place,
                }
            }
            tile
        };
        tile.times(c.tiles.tile[2]).ok_or_else(overflow)
    }

    fn integer(&mut self, number: i64) -> Value {
        self.number(&number.into())
    }

    /// A number as a value.
    fn number(&mut self, number: &Affine) -> Value {
        self.b.index(number.clone(), Type::scalar(DType::I64))
    }

    /// The number of the turn so many further on, or of the last one.
    fn further(&mut self, turns: &Turns, number: &Affine, by: i64) -> Lowered<Value> {
        let next = number.plus(&by.into(), 1).ok_or_else(overflow)?;
        let (next, last) = (self.number(&next), self.integer(turns.count - 1));
        Ok(self.b.binary(BinaryOp::Min, next, last))
    }

    /// The stage after one, of so many.
    fn next_stage(&mut self, stage: Value, stages: i64) -> Lowered<Value> {
        let next = Affine::from(stage).plus(&1.into(), 1).ok_or_else(overflow)?;
        let (next, zero) = (self.number(&next), self.integer(0));
        let all = self.integer(stages);
        let inside = self.b.binary(BinaryOp::Lt, next, all);
        Ok(self.b.select(inside, next, zero))
    }
}
