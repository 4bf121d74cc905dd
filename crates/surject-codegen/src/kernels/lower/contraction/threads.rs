//! Each thread sums products in registers.
//!
//! A warp has some rows of the tile, which all of its threads read at once; the threads are neighbours along the columns.
//! What the next turn needs is loaded before the products of a turn, and stored into the other stage after them.

use super::super::super::contraction::WIDEST;
use super::super::joined_in;
use super::{Agents, Contraction, Lowered, Lowering, Side, Turns, WARP, overflow};
use surject_ir::{AccOp, BinaryOp, DType, Scalar};
use surject_kernel::{Affine, Level, LoopKind, Op, Place, Type, Value};

/// Terms that are loaded at once.
const TERMS: i64 = 4;
/// Terms that are written out, so that what the next ones need is loaded before the products of those before.
const WRITTEN: i64 = 16;

impl Lowering<'_> {
    pub(super) fn by_threads(
        &mut self,
        c: &Contraction,
        share: [i64; 2],
        (left, right): (&Side, &Side),
        turns: &Turns,
    ) -> Lowered<()> {
        let (k, terms, warps) = (c.loops[2], c.tiles.tile[2], c.tiles.warps());
        let (warp, _) = self.b.open_for(0, warps, 1, LoopKind::Parallel(Level::Warp), &[]);
        let (thread, _) = self.b.open_for(0, WARP, 1, LoopKind::Parallel(Level::Thread), &[]);
        let agents = Agents { warp, thread, warps };
        // The sums, row by row.
        let joined = joined_in(self.expression.dag[c.parts.sum].dtype, AccOp::Add);
        let [rows, lanes] = share;
        let zero = self.b.splat(Scalar::zero(joined), lanes as usize);
        let sums = vec![zero; (rows * groups(c, lanes)) as usize];
        let fetch = |w: &mut Self, number: &Affine| {
            let depth = w.frames.len();
            let first = w.turn(c, turns, number)?;
            let values =
                [w.fetch(left, (k, &first), terms, &agents)?, w.fetch(right, (k, &first), terms, &agents)?];
            w.frames.truncate(depth);
            Ok::<_, crate::CodegenError>(values)
        };
        let put = |w: &mut Self, values: &[Vec<Value>; 2], stage: &Affine| {
            w.put(left, &values[0], stage, &agents)?;
            w.put(right, &values[1], stage, &agents)?;
            w.b.effect(Op::Barrier(Level::Block));
            Ok::<_, crate::CodegenError>(())
        };
        let values = fetch(self, &0.into())?;
        put(self, &values, &0.into())?;
        let sums = if turns.count == 1 {
            self.products((share, c), (left, right), joined, &agents, (&0.into(), sums))?
        } else {
            let mut carried = sums;
            carried.push(self.integer(0));
            let (number, mut carried) = self.b.open_for(0, turns.count, 1, LoopKind::Serial, &carried);
            let stage = carried.pop().ok_or_else(overflow)?;
            let next = self.further(turns, &number.into(), 1)?;
            let values = fetch(self, &next.into())?;
            let mut sums =
                self.products((share, c), (left, right), joined, &agents, (&stage.into(), carried))?;
            let other = Affine::from(1).plus(&Affine::from(stage), -1).ok_or_else(overflow)?;
            put(self, &values, &other)?;
            sums.push(self.number(&other));
            let mut sums = self.b.close_for(&sums);
            sums.pop();
            sums
        };
        self.results((share, c), (left, right), &agents, sums)?;
        (0..2).for_each(|_| _ = self.b.close_for(&[]));
        Ok(())
    }

    /// Adds the products of a stage to the sums.
    fn products(
        &mut self,
        ([rows, lanes], c): ([i64; 2], &Contraction),
        (left, right): (&Side, &Side),
        joined: DType,
        agents: &Agents,
        (stage, sums): (&Affine, Vec<Value>),
    ) -> Lowered<Vec<Value>> {
        let written = if c.tiles.tile[2] % WRITTEN == 0 { WRITTEN } else { TERMS };
        let dtype = |side: &Side| self.expression.dag[side.node].dtype;
        let (left_type, right_type) = (dtype(left), dtype(right));
        let (number, mut sums) = self.b.open_for(0, c.tiles.tile[2], written, LoopKind::Serial, &sums);
        let first = Affine::from(agents.warp).times(rows).ok_or_else(overflow)?;
        let row_at = |row: i64| first.plus(&row.into(), 1).ok_or_else(overflow);
        let own = Affine::from(agents.thread).times(lanes).ok_or_else(overflow)?;
        let column_at = |group: i64| own.plus(&Affine::from(group * WARP * lanes), 1).ok_or_else(overflow);
        let groups = groups(c, lanes);
        let at_once = |dtype: DType, most: i64| {
            let all = (WIDEST / dtype.size().max(1) as i64).min(most);
            if most % all == 0 { all } else { 1 }
        };
        let add = |w: &mut Self, sum: &mut Value, value: Value, other: Value| {
            let value = w.b.broadcast(value, lanes as usize);
            *sum = if left_type == joined && matches!(joined, DType::F32 | DType::F64) {
                let ty = w.b.ty(*sum);
                w.b.pure(Op::Fma(value, other, *sum), ty)
            } else {
                let product = w.b.binary(BinaryOp::Mul, value, other);
                let product = w.b.convert(product, joined);
                w.b.binary(BinaryOp::Add, *sum, product)
            };
        };
        for chunk in (0..written).step_by(TERMS as usize) {
            let at =
                |term: i64| Affine::from(number).plus(&Affine::from(chunk + term), 1).ok_or_else(overflow);
            // The columns of each term and group.
            let mut columns: Vec<Vec<Value>> = vec![Vec::new(); TERMS as usize];
            for group in 0..groups {
                if right.how.by_terms {
                    let step = at_once(right_type, TERMS);
                    for term in (0..TERMS).step_by(step as usize) {
                        let place =
                            right.element(&column_at(group)?, &at(term)?, stage).ok_or_else(overflow)?;
                        let found = self.neighbours(right, place, right_type, step)?;
                        (term..).zip(found).for_each(|(t, value)| columns[t as usize].push(value));
                    }
                    continue;
                }
                for term in 0..TERMS {
                    let place = right.element(&column_at(group)?, &at(term)?, stage).ok_or_else(overflow)?;
                    let place =
                        if lanes > 1 { place.plus(&Affine::lane(1), 1).ok_or_else(overflow)? } else { place };
                    let ty = Type::vector(right_type, lanes as usize);
                    columns[term as usize].push(self.b.load(Place::new(right.mem, place), ty));
                }
            }
            if left.how.by_terms {
                let step = at_once(left_type, TERMS);
                for row in 0..rows {
                    for from in (0..TERMS).step_by(step as usize) {
                        let place = left.element(&row_at(row)?, &at(from)?, stage).ok_or_else(overflow)?;
                        let found = self.neighbours(left, place, left_type, step)?;
                        for (term, value) in (from..).zip(found) {
                            for group in 0..groups as usize {
                                let sum = &mut sums[group * rows as usize + row as usize];
                                add(self, sum, value, columns[term as usize][group]);
                            }
                        }
                    }
                }
            } else {
                let step = at_once(left_type, rows);
                for term in 0..TERMS {
                    let mut values = Vec::new();
                    for row in (0..rows).step_by(step as usize) {
                        let place = left.element(&row_at(row)?, &at(term)?, stage).ok_or_else(overflow)?;
                        values.extend(self.neighbours(left, place, left_type, step)?);
                    }
                    for group in 0..groups as usize {
                        for (row, &value) in values.iter().enumerate() {
                            let sum = &mut sums[group * rows as usize + row];
                            add(self, sum, value, columns[term as usize][group]);
                        }
                    }
                }
            }
        }
        Ok(self.b.close_for(&sums))
    }

    /// Computes and stores what depends on the sums.
    fn results(
        &mut self,
        ([rows, lanes], c): ([i64; 2], &Contraction),
        (left, right): (&Side, &Side),
        agents: &Agents,
        sums: Vec<Value>,
    ) -> Lowered<()> {
        let dtype = self.expression.dag[c.parts.sum].dtype;
        for (i, sum) in sums.into_iter().enumerate() {
            let (group, row) = (i as i64 / rows, i as i64 % rows);
            let own = Affine::from(agents.warp).times(rows).and_then(|a| a.plus(&row.into(), 1));
            let row = own.and_then(|own| left.first.plus(&own, 1)).ok_or_else(overflow)?;
            let own = Affine::from(agents.thread).times(lanes);
            let own = own.and_then(|a| a.plus(&Affine::from(group * WARP * lanes), 1));
            let column = own.and_then(|own| right.first.plus(&own, 1)).ok_or_else(overflow)?;
            let (depth, outside) = (self.frames.len(), self.lanes);
            self.set(left.own, row);
            if lanes > 1 {
                self.lanes = Some((right.own, lanes as usize));
                self.set(right.own, column.plus(&Affine::lane(1), 1).ok_or_else(overflow)?);
            } else {
                self.set(right.own, column);
            }
            let value = self.b.convert(sum, dtype);
            if let Some(frame) = self.frames.last_mut() {
                frame.values.insert(c.parts.sum, value);
            }
            self.store()?;
            self.frames.truncate(depth);
            self.lanes = outside;
        }
        Ok(())
    }
}

/// How often the columns of a thread repeat: those of the other threads of its warp lie between.
fn groups(c: &Contraction, lanes: i64) -> i64 {
    c.tiles.tile[1] / (WARP * lanes)
}
