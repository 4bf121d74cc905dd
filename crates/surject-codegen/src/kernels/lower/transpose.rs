//! Points by tiles whose loads go through shared memory, or are transposed in registers.

mod pieces;

use super::super::contraction::WARP;
use super::super::transpose::{Transpose, Transposers};
use super::{Lowered, Lowering};
use crate::CodegenError;
use crate::expression::address::LoopId;
use surject_ir::{BinaryOp, DType, Scalar};
use surject_kernel::{Affine, Guard, Level, LoopKind, Op, Place, Space, Type, Value};

/// A loop of tiles.
#[derive(Clone, Copy)]
struct Side {
    extent: i64,
    /// Iterations of a tile.
    tile: i64,
    /// Tiles of a piece.
    piece: i64,
}

impl Side {
    /// The tiles that are whole.
    fn whole(&self) -> i64 {
        self.extent / self.tile
    }

    /// The iterations of the last one, if it is not.
    fn left(&self) -> i64 {
        self.extent % self.tile
    }

    fn tiles(&self) -> i64 {
        (self.extent + self.tile - 1) / self.tile
    }

    fn pieces(&self) -> i64 {
        (self.tiles() + self.piece - 1) / self.piece
    }

    /// The iterations of a piece.
    fn step(&self) -> Lowered<i64> {
        self.piece.checked_mul(self.tile).ok_or_else(|| CodegenError::overflow("a tile"))
    }
}

impl Lowering<'_> {
    /// The kernel of a transposition.
    pub(super) fn transpose(&mut self, t: &Transpose) -> Lowered<()> {
        match t.tile.by {
            Transposers::Warps(warps) => self.transpose_by_warps(t, warps),
            Transposers::Tasks(pieces) => self.transpose_in_registers(t, &pieces),
        }
    }

    /// Transposes a square of vectors, whose elements are so many neighbours: blocks of elements change places, of one first,
    /// then of twice as many.
    pub(super) fn transpose_square(&mut self, rows: &mut [Value], unit: usize) {
        let size = rows.len();
        let all = size * unit;
        let mut block = 1;
        while block < size {
            for i in (0..size).filter(|i| i & block == 0) {
                let (upper, lower) = (rows[i], rows[i + block]);
                let ty = self.b.ty(upper);
                let by = block * unit;
                // Lanes of the second value count on from those of the first.
                let lanes = |from: usize| -> Vec<usize> {
                    (0..all).map(|l| if l & by == 0 { l + from } else { l - by + from + all }).collect()
                };
                rows[i] = self.b.pure(Op::Shuffle(upper, lower, lanes(0)), ty);
                rows[i + block] = self.b.pure(Op::Shuffle(upper, lower, lanes(by)), ty);
            }
            block *= 2;
        }
    }

    /// The kernel of a transposition by the warps of blocks.
    fn transpose_by_warps(&mut self, t: &Transpose, warps: i64) -> Lowered<()> {
        let overflow = || CodegenError::overflow("a tile");
        let expression = self.expression;
        let extent = |l: LoopId| expression.dag.extent(l);
        let [a, b] = t.tile.tile;
        let others: Vec<LoopId> =
            expression.loops.iter().copied().filter(|l| ![t.along, t.across].contains(l)).collect();
        let mut sizes: Vec<i64> = others.iter().map(|&l| extent(l)).collect();
        sizes.extend([(extent(t.across) + b - 1) / b, (extent(t.along) + a - 1) / a]);
        let mut digits = self.open_grid(&sizes)?;
        let tiles = digits.split_off(others.len());
        others.iter().zip(digits).for_each(|(&l, digit)| self.set(l, digit));
        let mut tiles = tiles.into_iter();
        let (Some(across), Some(along)) = (tiles.next(), tiles.next()) else {
            return Err(CodegenError::malformed("a grid without tiles"));
        };
        let (across, along) = (across.times(b).ok_or_else(overflow)?, along.times(a).ok_or_else(overflow)?);
        let mut memory = Vec::new();
        for (number, &load) in t.loads.iter().enumerate() {
            let dtype = expression.dag[load].dtype;
            let pitch = t.tile.pitch(dtype.size());
            memory.push((self.b.alloc(format!("tile{number}"), dtype, a * pitch, Space::Shared), pitch));
        }
        let (warp, _) = self.b.open_for(0, warps, 1, LoopKind::Parallel(Level::Warp), &[]);
        let (thread, _) = self.b.open_for(0, WARP, 1, LoopKind::Parallel(Level::Thread), &[]);
        let steps = (a * b + warps * WARP - 1) / (warps * WARP);
        for stage in [false, true] {
            for step in 0..steps {
                // The points of a tile, numbered through along the loads, then along the results.
                let row = if stage { a } else { b };
                let (outer, inner, exists) = self.tile_point((warp, thread), step, warps, row, a * b)?;
                let (in_along, in_across) = if stage { (inner, outer) } else { (outer, inner) };
                let depth = self.frames.len();
                if let Some(exists) = exists {
                    self.b.open_if(exists);
                }
                self.set(t.along, along.plus(&in_along, 1).ok_or_else(overflow)?);
                self.set(t.across, across.plus(&in_across, 1).ok_or_else(overflow)?);
                for (&load, &(mem, pitch)) in t.loads.iter().zip(&memory) {
                    let at = in_across.plus(&in_along, pitch).ok_or_else(overflow)?;
                    if stage {
                        let ty = Type::scalar(expression.dag[load].dtype);
                        let value = self.b.load(Place::new(mem, at), ty);
                        if let Some(frame) = self.frames.last_mut() {
                            frame.values.insert(load, value);
                        }
                    } else {
                        let value = self.value(load)?;
                        self.b.store(Place::new(mem, at), value);
                    }
                }
                if stage {
                    self.store()?;
                }
                self.frames.truncate(depth);
                if exists.is_some() {
                    self.b.close_if(&[]);
                }
            }
            if !stage {
                self.b.effect(Op::Barrier(Level::Block));
            }
        }
        (0..3).for_each(|_| _ = self.b.close_for(&[]));
        Ok(())
    }

    /// A point of a tile, by its number: the row, the place in it, and whether there is such a point where not all steps
    /// have one.
    fn tile_point(
        &mut self,
        (warp, thread): (Value, Value),
        step: i64,
        warps: i64,
        row: i64,
        all: i64,
    ) -> Lowered<(Affine, Affine, Option<Value>)> {
        let overflow = || CodegenError::overflow("a tile");
        let first = Affine::from(warp).plus(&Affine::from(step * warps), 1).ok_or_else(overflow)?;
        let number = Affine::from(thread).plus(&first, WARP).ok_or_else(overflow)?;
        let exists = (all % (warps * WARP) != 0).then(|| {
            let guard = Guard { expr: number.clone(), bound: all.into() };
            self.b.holds(vec![guard], 1)
        });
        if row == WARP {
            return Ok((first, thread.into(), exists));
        }
        let mut digits = self.digits(&number, &[all / row, row]).into_iter();
        match (digits.next(), digits.next()) {
            (Some(outer), Some(inner)) => Ok((outer, inner, exists)),
            _ => Err(CodegenError::malformed("a point without a place")),
        }
    }

    /// Opens one loop over blocks, as many as there are places in a box of these sizes: the place of a block, the last size
    /// running fastest.
    pub(super) fn open_grid(&mut self, sizes: &[i64]) -> Lowered<Vec<Affine>> {
        let count = sizes.iter().try_fold(1i64, |n, &s| n.checked_mul(s));
        let count = count.ok_or_else(|| CodegenError::overflow("a grid"))?;
        let (number, _) = self.b.open_for(0, count, 1, LoopKind::Parallel(Level::Block), &[]);
        Ok(self.digits(&number.into(), sizes))
    }

    /// The place in a box of these sizes, by a number that is not negative: the last size runs fastest. Where the number
    /// goes beyond the box, so does the place in the first size that is not one.
    pub(super) fn digits(&mut self, number: &Affine, sizes: &[i64]) -> Vec<Affine> {
        let mut digits = vec![Affine::from(0); sizes.len()];
        let mut left: Vec<usize> = (0..sizes.len()).filter(|&i| sizes[i] != 1).collect();
        if left.is_empty() {
            left.extend((!sizes.is_empty()).then_some(0));
        }
        // Divisions of 32 bits are the cheaper ones; no number is as large as twice the box.
        let all = sizes.iter().fold(1i64, |n, &s| n.saturating_mul(s));
        let dtype = if all < 1 << 30 { DType::U32 } else { DType::I64 };
        let mut rest = number.clone();
        while let Some(i) = left.pop() {
            if left.is_empty() {
                digits[i] = rest;
                break;
            }
            let value = self.b.index(rest, Type::scalar(dtype));
            let by = |b: &mut surject_kernel::Builder, n: i64| b.splat(Scalar::from_i128(dtype, n.into()), 1);
            let size = sizes[i];
            let [place, next] = if size > 0 && size.count_ones() == 1 {
                let (last, bits) = (by(&mut self.b, size - 1), by(&mut self.b, size.trailing_zeros().into()));
                [self.b.binary(BinaryOp::And, value, last), self.b.binary(BinaryOp::ShrLogical, value, bits)]
            } else {
                let size = by(&mut self.b, size);
                [self.b.binary(BinaryOp::Rem, value, size), self.b.binary(BinaryOp::Div, value, size)]
            };
            digits[i] = self.b.convert(place, DType::I64).into();
            rest = self.b.convert(next, DType::I64).into();
        }
        digits
    }
}
