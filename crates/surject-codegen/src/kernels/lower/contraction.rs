//! Sums of products by tiles: blocks bring tiles of both values into shared memory, and threads sum the products of some
//! rows and columns in registers ([`threads`]), or the matrix units of warps do ([`warps`], [`boxes`]).
//!
//! While a tile is summed, the next ones are under way: there are several stages of shared memory, which take turns.

mod boxes;
mod bring;
mod threads;
pub(super) mod warps;

use super::super::contraction::{Bring, Condition, Contraction, Feed, Share, WARP, WIDEST};
use super::{Lowered, Lowering};
use crate::CodegenError;
use crate::expression::address::LoopId;
use crate::expression::dag::{Node, NodeId};
use surject_ir::{AccOp, BinaryOp, DType, Scalar, UnaryOp};
use surject_kernel::{Affine, Guard, Level, LoopKind, Mem, Op, Place, Source, Space, Type, Value};

/// A value that is brought into shared memory.
#[derive(Clone)]
pub(super) struct Side {
    pub(super) node: NodeId,
    pub(super) mem: Mem,
    /// Its own loop, and the first row or column of the tile.
    pub(super) own: LoopId,
    pub(super) first: Affine,
    /// Loops that run as one with it, their extents, the slowest first; none where it runs alone.
    pub(super) group: Vec<(LoopId, i64)>,
    pub(super) how: Bring,
    /// How many elements apart the rows or columns are, where their terms lie next to each other; else the terms.
    pub(super) pitch: i64,
    /// Elements of a stage.
    pub(super) stage: i64,
}

impl Side {
    /// The element of a row or column and a term, of a stage.
    pub(super) fn element(&self, own: &Affine, term: &Affine, stage: &Affine) -> Option<Affine> {
        let element = if self.how.by_terms { term.plus(own, self.pitch) } else { own.plus(term, self.pitch) };
        element?.plus(stage, self.stage)
    }
}

/// Who brings tiles: a thread of a warp.
pub(super) struct Agents {
    pub(super) warp: Value,
    pub(super) thread: Value,
    pub(super) warps: i64,
}

/// The tiles of a sum, one after the other: those of the loop that is cut, inside of the other loops of the sum.
pub(super) struct Turns {
    /// The other loops, the outermost first, with their iterations.
    around: Vec<(LoopId, i64)>,
    /// Tiles of the loop that is cut.
    tiles: i64,
    /// All tiles.
    pub(super) count: i64,
    /// Which of them are summed.
    pub(super) picked: Picked,
}

/// Which tiles of a sum are summed.
pub(super) enum Picked {
    /// All of them.
    All,
    /// All of them where one of so many elements of shared memory is not zero, else none.
    Where(Mem, Affine, i64),
    /// Those of a list.
    Listed(Listed),
}

/// A list of tiles in shared memory; the first element of an empty list is a tile too.
#[derive(Clone, Copy)]
pub(super) struct Listed {
    pub(super) numbers: Mem,
    /// How many there are.
    pub(super) count: Mem,
}

/// Where a value is brought to.
pub(super) struct SideMemory {
    pub(super) mem: Mem,
    pub(super) pitch: i64,
    pub(super) stage: i64,
}

/// Both values, and where their tiles begin.
fn sides(
    c: &Contraction,
    memory: &[SideMemory; 2],
    (row, column): (Affine, Affine),
    extent: &dyn Fn(LoopId) -> i64,
) -> (Side, Side) {
    let side = |number: usize, node: NodeId, own: LoopId, first: Affine| {
        let SideMemory { mem, pitch, stage } = memory[number];
        let group = match (number, c.rows.len() > 1) {
            (0, true) => c.rows.iter().map(|&l| (l, extent(l))).collect(),
            _ => Vec::new(),
        };
        Side { node, mem, own, first, group, how: c.bring[number], pitch, stage }
    };
    (side(0, c.parts.left, c.loops[0], row), side(1, c.parts.right, c.loops[1], column))
}

fn overflow() -> CodegenError {
    CodegenError::overflow("a tile")
}

/// Elements by which rows in shared memory are longer than what they hold.
pub(super) fn padding(dtype: DType) -> i64 {
    (WIDEST / dtype.size().max(1) as i64).max(1)
}

impl Lowering<'_> {
    /// The kernel of a sum of products.
    pub(super) fn contraction(&mut self, c: &Contraction) -> Lowered<()> {
        let expression = self.expression;
        let n = c.loops[1];
        let [rows, columns, _] = c.tiles.tile;
        let extent = |l: LoopId| expression.dag.extent(l);
        let tiles = |l: LoopId, by: i64| (extent(l) + by - 1) / by;
        // Blocks: further loops over points, tiles of rows, tiles of columns.
        let is_tiled = |l: &LoopId| *l == n || c.rows.contains(l);
        let mut others: Vec<LoopId> = expression.loops.iter().copied().filter(|l| !is_tiled(l)).collect();
        others.sort_by_key(|&l| std::cmp::Reverse(extent(l)));
        let blocks =
            |b: &mut Self, count: i64| b.b.open_for(0, count, 1, LoopKind::Parallel(Level::Block), &[]).0;
        for &l in &others {
            let number = blocks(self, extent(l));
            self.set(l, number.into());
        }
        let all_rows = c.rows.iter().try_fold(1i64, |all, &l| all.checked_mul(extent(l)));
        let row_tiles = (all_rows.ok_or_else(overflow)? + rows - 1) / rows;
        let (row_tile, column_tile) = (blocks(self, row_tiles), blocks(self, tiles(n, columns)));
        let mut turns = self.turns(c)?;
        if let Some(condition) = &c.condition {
            let first = |tile: Value, size: i64| Affine::from(tile).times(size).ok_or_else(overflow);
            let firsts = (first(row_tile, rows)?, first(column_tile, columns)?);
            let needed = self.needed(c, condition, firsts)?;
            turns.picked = Picked::Where(needed, 0.into(), c.tiles.warps());
        }
        let row = Affine::from(row_tile).times(rows).ok_or_else(overflow)?;
        self.tile(c, (row, column_tile.into()), &turns)?;
        (0..others.len() + 2).for_each(|_| _ = self.b.close_for(&[]));
        Ok(())
    }

    /// The tile that begins at a row, and is so many tiles along the columns, of a block.
    pub(super) fn tile(
        &mut self,
        c: &Contraction,
        (row, column): (Affine, Affine),
        turns: &Turns,
    ) -> Lowered<()> {
        let in_background = match c.tiles.share {
            Share::Thread(_) => false,
            // The first tiles are copied before it is known that there are any.
            Share::Grid { .. } => !matches!(turns.picked, Picked::Listed(_)),
            Share::Warp(_) | Share::Warps(_) | Share::Group(_) => true,
        };
        let asynchronous = in_background && self.expression.copies(c);
        let stages = match c.tiles.share {
            Share::Thread(_) => 2,
            Share::Grid { .. } if asynchronous => warps::STAGES,
            Share::Grid { .. } => 2,
            Share::Warp(_) | Share::Warps(_) if asynchronous => warps::STAGES,
            Share::Warp(_) | Share::Warps(_) => 1,
            Share::Group(_) => warps::GROUP_STAGES,
        };
        let stages = stages.min(turns.count);
        let memory = self.side_memory(c, stages)?;
        let column = column.times(c.tiles.tile[1]).ok_or_else(overflow)?;
        let (left, right) = sides(c, &memory, (row, column), &|l| self.expression.dag.extent(l));
        match c.tiles.share {
            Share::Thread(own) => self.by_threads(c, own, (&left, &right), turns, None),
            Share::Grid { own, .. } => {
                self.by_threads(c, own, (&left, &right), turns, asynchronous.then_some(stages))
            }
            Share::Warp(_) | Share::Warps(_) => {
                self.by_warps(c, (&left, &right), turns, asynchronous.then_some(stages))
            }
            Share::Group(Feed::Boxes) => self.by_boxes(c, (&left, &right), turns, stages),
            Share::Group(Feed::Threads) => self.by_warps(c, (&left, &right), turns, Some(stages)),
        }
    }

    /// The tile of a chain that begins at a row, and is so many tiles along the columns.
    pub(super) fn tile_of_chain(
        &mut self,
        c: &Contraction,
        memory: &[SideMemory; 2],
        (row, column): (Affine, Affine),
        turns: &Turns,
    ) -> Lowered<()> {
        let column = column.times(c.tiles.tile[1]).ok_or_else(overflow)?;
        let (left, right) = sides(c, memory, (row, column), &|l| self.expression.dag.extent(l));
        match c.tiles.share {
            Share::Thread(own) | Share::Grid { own, .. } => {
                self.by_threads(c, own, (&left, &right), turns, None)
            }
            Share::Warp(_) | Share::Warps(_) => self.by_warps(c, (&left, &right), turns, None),
            Share::Group(_) => Err(CodegenError::malformed("a chain by four warps together")),
        }
    }

    /// Says where the loops over the rows or columns of a side are.
    pub(super) fn set_own(&mut self, side: &Side, at: Affine) {
        self.set_rows((side.own, &side.group), at);
    }

    /// The same of a loop, or of several that run as one.
    pub(super) fn set_rows(&mut self, (own, group): (LoopId, &[(LoopId, i64)]), at: Affine) {
        if group.len() < 2 {
            return self.set(own, at);
        }
        let sizes: Vec<i64> = group.iter().map(|l| l.1).collect();
        let digits = self.digits(&at, &sizes);
        group.iter().zip(digits).for_each(|(l, digit)| self.set(l.0, digit));
    }

    /// Memory for both values, in so many stages.
    pub(super) fn side_memory(&mut self, c: &Contraction, stages: i64) -> Lowered<[SideMemory; 2]> {
        Ok([self.memory_of_side(c, 0, stages), self.memory_of_side(c, 1, stages)])
    }

    /// Memory for the left or the right value.
    pub(super) fn memory_of_side(&mut self, c: &Contraction, number: usize, stages: i64) -> SideMemory {
        let [rows, columns, terms] = c.tiles.tile;
        let (node, size) = [(c.parts.left, rows), (c.parts.right, columns)][number];
        let (how, dtype) = (c.bring[number], self.expression.dag[node].dtype);
        let (long, next) = if how.by_terms { (size, terms) } else { (terms, size) };
        // Rows begin in other banks, at multiples of what is accessed at once.
        let pad = match c.tiles.share {
            // Its writer exchanges parts of lines instead.
            Share::Group(_) => 0,
            _ => padding(dtype),
        };
        let pitch = next + pad;
        let stage = long * pitch;
        let name = ["left", "right"][number];
        SideMemory { mem: self.b.alloc(name, dtype, stages * stage, Space::Shared), pitch, stage }
    }

    pub(super) fn turns(&self, c: &Contraction) -> Lowered<Turns> {
        let dag = &self.expression.dag;
        let Node::Reduce { loops, .. } = &dag[c.parts.sum].node else {
            return Err(CodegenError::malformed("a sum that is none"));
        };
        let (k, terms) = (c.loops[2], c.tiles.tile[2]);
        let around: Vec<(LoopId, i64)> =
            loops.iter().filter(|&&l| l != k).map(|&l| (l, dag.extent(l))).collect();
        let tiles = (dag.extent(k) + terms - 1) / terms;
        let count = around.iter().try_fold(tiles, |all, l| all.checked_mul(l.1)).ok_or_else(overflow)?;
        Ok(Turns { around, tiles, count, picked: Picked::All })
    }

    /// Says which loops of the sum a tile has: where the others are, and its first term.
    fn turn(&mut self, c: &Contraction, turns: &Turns, number: &Affine) -> Lowered<Affine> {
        let number = &match &turns.picked {
            Picked::Listed(listed) => {
                let place = Place::new(listed.numbers, number.clone());
                self.b.load(place, Type::scalar(DType::I64)).into()
            }
            _ => number.clone(),
        };
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

    pub(super) fn integer(&mut self, number: i64) -> Value {
        self.number(&number.into())
    }

    /// A number as a value.
    pub(super) fn number(&mut self, number: &Affine) -> Value {
        self.b.index(number.clone(), Type::scalar(DType::I64))
    }

    /// The number of the turn so many further on, or of the last one.
    fn further(&mut self, turns: &Turns, number: &Affine, by: i64) -> Lowered<Value> {
        let next = number.plus(&by.into(), 1).ok_or_else(overflow)?;
        let last = self.end_of_turns(turns)?.plus(&1.into(), -1).ok_or_else(overflow)?;
        let (next, last) = (self.number(&next), self.number(&last));
        Ok(self.b.binary(BinaryOp::Min, next, last))
    }

    /// Does any warp find that a sum of its rows of a tile is needed?
    fn needed(
        &mut self,
        c: &Contraction,
        condition: &Condition,
        (first_row, first_column): (Affine, Affine),
    ) -> Lowered<Mem> {
        let (warps, depth) = (c.tiles.warps(), self.frames.len());
        let each = c.tiles.tile[0] / warps;
        let needed = self.b.alloc("needed", DType::I64, warps, Space::Shared);
        let (warp, _) = self.b.open_for(0, warps, 1, LoopKind::Parallel(Level::Warp), &[]);
        let (thread, _) = self.b.open_for(0, WARP, 1, LoopKind::Parallel(Level::Thread), &[]);
        let first = Affine::from(warp).times(each).and_then(|own| first_row.plus(&own, 1));
        let extent = |l: LoopId| self.expression.dag.extent(l);
        let group: Vec<(LoopId, i64)> = c.rows.iter().map(|&l| (l, extent(l))).collect();
        let columns = (c.loops[1], c.tiles.tile[1]);
        let rows = (c.loops[0], &group[..], first.ok_or_else(overflow)?, each);
        let any = self.any_needed(condition, rows, columns, (&first_column, thread))?;
        self.frames.truncate(depth);
        let any = self.any_of_warp(any);
        let any = self.b.convert(any, DType::I64);
        let guards = vec![Guard { expr: thread.into(), bound: 1.into() }];
        self.b.store(Place { guards, ..Place::new(needed, warp) }, any);
        (0..2).for_each(|_| _ = self.b.close_for(&[]));
        Ok(needed)
    }

    /// Is any sum of some rows needed, in the columns of a tile that a thread looks at (`i32`)? Several rows are looked at
    /// before the next ones are asked for.
    pub(super) fn any_needed(
        &mut self,
        condition: &Condition,
        (row, group, first, count): (LoopId, &[(LoopId, i64)], Affine, i64),
        columns: (LoopId, i64),
        (first_column, thread): (&Affine, Value),
    ) -> Lowered<Value> {
        let at_once = [16, 8, 4, 2].into_iter().find(|n| count % n == 0).unwrap_or(1);
        let none = self.b.splat(Scalar::from_i128(DType::I32, 0), 1);
        let (number, carried) = self.b.open_for(0, count, at_once, LoopKind::Serial, &[none]);
        let mut any = carried[0];
        for further in 0..at_once {
            let depth = self.frames.len();
            let own = first.plus(&number.into(), 1).and_then(|own| own.plus(&further.into(), 1));
            self.set_rows((row, group), own.ok_or_else(overflow)?);
            any = self.any_needed_of_row(condition, columns, (first_column, thread), any)?;
            self.frames.truncate(depth);
        }
        Ok(self.b.close_for(&[any])[0])
    }

    /// The same of one row, joined with those before.
    fn any_needed_of_row(
        &mut self,
        condition: &Condition,
        (along, columns): (LoopId, i64),
        (first_column, thread): (&Affine, Value),
        mut any: Value,
    ) -> Lowered<Value> {
        let lanes = if columns % (4 * WARP) == 0 { 4 } else { 1 };
        for step in 0..columns / (WARP * lanes) {
            let own = Affine::from(thread).plus(&(step * WARP).into(), 1).and_then(|a| a.times(lanes));
            let own = own.and_then(|own| first_column.plus(&own, 1)).ok_or_else(overflow)?;
            let (depth, outside) = (self.frames.len(), self.lanes);
            if lanes > 1 {
                self.lanes = Some((along, lanes as usize));
                self.set(along, own.plus(&Affine::lane(1), 1).ok_or_else(overflow)?);
            } else {
                self.set(along, own);
            }
            let holds = match condition {
                Condition::Value(node, picked) => {
                    let value = self.operand(*node, lanes as usize)?;
                    if *picked { value } else { self.b.unary(UnaryOp::Not, value) }
                }
                Condition::Guards(guards) => {
                    let guards = self.guards(guards)?;
                    self.b.holds(guards, lanes as usize)
                }
            };
            let holds = self.b.reduce_lanes(AccOp::Or, holds);
            let holds = self.b.convert(holds, DType::I32);
            any = self.b.binary(BinaryOp::Or, any, holds);
            self.frames.truncate(depth);
            self.lanes = outside;
        }
        Ok(any)
    }

    /// The bits (`i32`) that any thread of a warp has.
    pub(super) fn any_of_warp(&mut self, own: Value) -> Value {
        let (mut any, mut distance) = (own, 1usize);
        while distance < WARP as usize {
            let other = Op::Exchange(Source::Xor(distance), any);
            let other = self.b.statement(other, &[Type::scalar(DType::I32)])[0];
            any = self.b.binary(BinaryOp::Or, any, other);
            distance *= 2;
        }
        any
    }

    /// Is any of so many elements not zero?
    pub(super) fn any_element(&mut self, mem: Mem, at: &Affine, count: i64) -> Lowered<Value> {
        let mut any: Option<Value> = None;
        for number in 0..count {
            let at = at.plus(&number.into(), 1).ok_or_else(overflow)?;
            let one = self.b.load(Place::new(mem, at), Type::scalar(DType::I64));
            any = Some(any.map_or(one, |any| self.b.binary(BinaryOp::Or, any, one)));
        }
        let zero = self.integer(0);
        let any = any.unwrap_or(zero);
        Ok(self.b.binary(BinaryOp::Ne, any, zero))
    }

    /// How many tiles are summed, where any are.
    fn end_of_turns(&mut self, turns: &Turns) -> Lowered<Affine> {
        Ok(match &turns.picked {
            Picked::Listed(listed) => {
                self.b.load(Place::new(listed.count, 0), Type::scalar(DType::I64)).into()
            }
            _ => turns.count.into(),
        })
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
