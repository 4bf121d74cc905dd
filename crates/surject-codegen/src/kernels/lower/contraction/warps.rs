//! The matrix units of each warp sum products of some rows. What depends on a sum, the thread computes that has it.
//!
//! Where both values can be copied as they are, the copies of the next turns run in the background.

use super::super::super::contraction::{Share, factors_of_units, sum_of_units};
use super::{Agents, Contraction, Lowered, Lowering, Picked, Side, Turns, WARP, overflow};
use crate::kernels::contraction::SubTile;
use surject_ir::{BinaryOp, Scalar};
use surject_kernel::{Affine, Level, LoopKind, MatMulSizes, Mem, Op, Place, Space, Team, Tile, Type, Value};

/// Stages of shared memory for copies in the background.
pub(super) const STAGES: i64 = 3;
/// The same where four warps sum together.
pub(super) const GROUP_STAGES: i64 = 4;
/// Neighbours in a row that a thread has of the sums of a warp.
pub(in crate::kernels::lower) const PAIR: i64 = 2;

impl Lowering<'_> {
    /// The kernel; with so many stages for copies in the background, or one that is filled between barriers.
    pub(super) fn by_warps(
        &mut self,
        c: &Contraction,
        sides: (&Side, &Side),
        turns: &Turns,
        stages: Option<i64>,
    ) -> Lowered<()> {
        let (SubTile { rows, columns }, warps) = (c.tiles.of_warp(), c.tiles.warps());
        let joined = sum_of_units(self.expression.dag[c.parts.left].dtype);
        let (warp, _) = self.b.open_for(0, warps, 1, LoopKind::Parallel(Level::Warp), &[]);
        let acc = self.b.alloc("acc", joined, rows * columns, Space::Register);
        let zero = self.b.splat(Scalar::zero(joined), 1);
        let (element, _) = self.b.open_for(0, rows * columns, 1, LoopKind::Serial, &[]);
        self.b.store(Place::new(acc, element), zero);
        self.b.close_for(&[]);
        let needed = match &turns.picked {
            Picked::Where(mem, at, count) => Some(self.any_element(*mem, at, *count)?),
            _ => None,
        };
        if let Some(needed) = needed {
            self.b.open_if(needed);
        }
        match stages {
            Some(stages) => self.turns_in_background(c, acc, sides, turns, (warp, stages))?,
            None => {
                let end = self.end_of_turns(turns)?;
                let (number, _) = self.b.open_for(0, end, 1, LoopKind::Serial, &[]);
                let thread = self.open_threads();
                let (depth, agents) = (self.frames.len(), Agents { warp, thread, warps });
                self.b.effect(Op::Barrier(Level::Block));
                let first = self.turn(c, turns, &number.into())?;
                for side in [sides.0, sides.1] {
                    let values = self.fetch(side, (c.loops[2], &first), c.tiles.tile[2], &agents)?;
                    self.put(side, &values, &0.into(), &agents)?;
                }
                self.b.effect(Op::Barrier(Level::Block));
                self.frames.truncate(depth);
                self.b.close_for(&[]);
                self.multiply(c, acc, sides, (warp, &0.into()))?;
                self.b.close_for(&[]);
            }
        }
        if needed.is_some() {
            self.b.close_if(&[]);
        }
        self.results_of_warp(c, acc, sides, warp)?;
        self.b.close_for(&[]);
        Ok(())
    }

    pub(in crate::kernels::lower) fn open_threads(&mut self) -> Value {
        self.b.open_for(0, WARP, 1, LoopKind::Parallel(Level::Thread), &[]).0
    }

    /// Copies run ahead of the products by all stages but one.
    fn turns_in_background(
        &mut self,
        c: &Contraction,
        acc: Mem,
        sides: (&Side, &Side),
        turns: &Turns,
        (warp, stages): (Value, i64),
    ) -> Lowered<()> {
        let in_flight = stages - 1;
        let warps = c.tiles.warps();
        let copy = |w: &mut Self, number: &Affine, stage: &Affine, thread: Value| {
            let (depth, agents) = (w.frames.len(), Agents { warp, thread, warps });
            let first = w.turn(c, turns, number)?;
            for side in [sides.0, sides.1] {
                w.copy(side, (c.loops[2], &first), stage, &agents)?;
            }
            w.b.effect(Op::AsyncCommit);
            w.frames.truncate(depth);
            Ok::<_, crate::CodegenError>(())
        };
        let thread = self.open_threads();
        for number in 0..in_flight.max(1) {
            copy(self, &number.into(), &number.into(), thread)?;
        }
        if stages == 1 {
            self.b.effect(Op::AsyncWait(0));
            self.b.effect(Op::Barrier(Level::Block));
            self.b.close_for(&[]);
            return self.multiply(c, acc, sides, (warp, &0.into()));
        }
        self.b.close_for(&[]);
        let carried = [self.integer(0), self.integer(in_flight)];
        let end = self.end_of_turns(turns)?;
        let (number, carried) = self.b.open_for(0, end, 1, LoopKind::Serial, &carried);
        let (&[stage, free], next) = (&carried[..], self.further(turns, &number.into(), in_flight)?) else {
            return Err(overflow());
        };
        let thread = self.open_threads();
        // After the barrier every copy of this turn is there, and nobody reads the stage before.
        self.b.effect(Op::AsyncWait(in_flight as usize - 1));
        self.b.effect(Op::Barrier(Level::Block));
        copy(self, &next.into(), &free.into(), thread)?;
        self.b.close_for(&[]);
        self.multiply(c, acc, sides, (warp, &stage.into()))?;
        let (stage, free) = (self.next_stage(stage, stages)?, self.next_stage(free, stages)?);
        self.b.close_for(&[stage, free]);
        let _ = self.open_threads();
        self.b.effect(Op::AsyncWait(0));
        self.b.close_for(&[]);
        Ok(())
    }

    /// The first row and the first column of the tile that a warp sums. Warps that are neighbours have the same rows.
    fn first_of_warp(&mut self, c: &Contraction, warp: Value) -> Lowered<[Affine; 2]> {
        let (SubTile { rows, columns }, across) = (c.tiles.of_warp(), c.tiles.warps_across());
        let times = |number: Value, by: i64| Affine::from(number).times(by).ok_or_else(overflow);
        if across == 1 {
            return Ok([times(warp, rows)?, 0.into()]);
        }
        let (last, bits) = (self.integer(across - 1), self.integer(i64::from(across.trailing_zeros())));
        let down = self.b.binary(BinaryOp::ShrLogical, warp, bits);
        let right = self.b.binary(BinaryOp::And, warp, last);
        Ok([times(down, rows)?, times(right, columns)?])
    }

    /// Adds the products of a stage to the sums of a warp.
    pub(in crate::kernels::lower) fn multiply(
        &mut self,
        c: &Contraction,
        acc: Mem,
        (left, right): (&Side, &Side),
        (warp, stage): (Value, &Affine),
    ) -> Lowered<()> {
        let (SubTile { rows, columns }, terms) = (c.tiles.of_warp(), c.tiles.tile[2]);
        let [first_row, first_column] = self.first_of_warp(c, warp)?;
        let operand = |side: &Side, own: &Affine| side.element(own, &0.into(), stage).ok_or_else(overflow);
        let strides = |side: &Side| if side.how.by_terms { (side.pitch, 1) } else { (1, side.pitch) };
        let ((row, left_term), (column, right_term)) = (strides(left), strides(right));
        let team = if matches!(c.tiles.share, Share::Group(_)) { Team::Group } else { Team::One };
        self.b.effect(Op::MatMul {
            team,
            factors: factors_of_units(self.expression.dag[c.parts.left].dtype),
            sizes: MatMulSizes { m: rows as usize, n: columns as usize, k: terms as usize },
            acc: Tile { mem: acc, at: 0.into(), row: columns, column: 1, interleaved: 1 },
            a: Tile { mem: left.mem, at: operand(left, &first_row)?, row, column: left_term, interleaved: 1 },
            b: Tile {
                mem: right.mem,
                at: operand(right, &first_column)?,
                row: right_term,
                column,
                interleaved: 1,
            },
        });
        Ok(())
    }

    /// Computes and stores what depends on the sums of a warp, two neighbours at once, as threads have them.
    pub(super) fn results_of_warp(
        &mut self,
        c: &Contraction,
        acc: Mem,
        (left, right): (&Side, &Side),
        warp: Value,
    ) -> Lowered<()> {
        let SubTile { rows, columns } = c.tiles.of_warp();
        let [own, first_column] = self.first_of_warp(c, warp)?;
        let (row, _) = self.b.open_for(0, rows, 1, LoopKind::Serial, &[]);
        let line = own.plus(&Affine::from(row), 1).ok_or_else(overflow)?;
        self.set_own(left, left.first.plus(&line, 1).ok_or_else(overflow)?);
        let (column, _) = self.b.open_for(0, columns, PAIR, LoopKind::Serial, &[]);
        let column = Affine::from(column).plus(&Affine::lane(1), 1).ok_or_else(overflow)?;
        self.lanes = Some((right.own, PAIR as usize));
        let at = right.first.plus(&first_column, 1).and_then(|first| first.plus(&column, 1));
        self.set(right.own, at.ok_or_else(overflow)?);
        let from = column.plus(&Affine::from(row), columns).ok_or_else(overflow)?;
        let joined = sum_of_units(self.expression.dag[c.parts.left].dtype);
        let value = self.b.load(Place::new(acc, from), Type::vector(joined, PAIR as usize));
        let value = self.b.convert(value, self.expression.dag[c.parts.sum].dtype);
        if let Some(frame) = self.frames.last_mut() {
            frame.values.insert(c.parts.sum, value);
        }
        self.store()?;
        self.lanes = None;
        (0..2).for_each(|_| _ = self.b.close_for(&[]));
        Ok(())
    }
}
