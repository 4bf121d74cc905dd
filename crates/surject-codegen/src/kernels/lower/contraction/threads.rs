//! Each thread sums products in registers.
//!
//! A warp has some rows of the tile, which all of its threads read at once; the threads are neighbours along the columns.
//! What the next turn needs is loaded before the products of a turn, and stored into the other stage after them.

use super::super::joined_in;
use super::{Agents, Contraction, Lowered, Lowering, Picked, Side, Turns, WARP, WIDEST, overflow};
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
        let warps = c.tiles.warps();
        let (warp, _) = self.b.open_for(0, warps, 1, LoopKind::Parallel(Level::Warp), &[]);
        let (thread, _) = self.b.open_for(0, WARP, 1, LoopKind::Parallel(Level::Thread), &[]);
        let agents = Agents { warp, thread, warps };
        let sums = match &turns.picked {
            Picked::Where(mem, at, count) => {
                let needed = self.any_element(*mem, at, *count)?;
                let none = self.no_sums(c, share);
                self.b.open_if(needed);
                let sums = self.sums_of_threads(c, share, (left, right), turns, &agents)?;
                self.b.open_else(&sums);
                self.b.close_if(&none)
            }
            _ => self.sums_of_threads(c, share, (left, right), turns, &agents)?,
        };
        self.results((share, c), (left, right), &agents, sums)?;
        (0..2).for_each(|_| _ = self.b.close_for(&[]));
        Ok(())
    }

    /// The sums of a thread before the first product, row by row.
    pub(in crate::kernels::lower) fn no_sums(
        &mut self,
        c: &Contraction,
        [rows, lanes]: [i64; 2],
    ) -> Vec<Value> {
        let joined = joined_in(self.expression.dag[c.parts.sum].dtype, AccOp::Add);
        let zero = self.b.splat(Scalar::zero(joined), lanes as usize);
        vec![zero; (rows * groups(c, lanes)) as usize]
    }

    /// The sums of a thread over all turns.
    fn sums_of_threads(
        &mut self,
        c: &Contraction,
        share: [i64; 2],
        (left, right): (&Side, &Side),
        turns: &Turns,
        agents: &Agents,
    ) -> Lowered<Vec<Value>> {
        let (k, terms) = (c.loops[2], c.tiles.tile[2]);
        let joined = joined_in(self.expression.dag[c.parts.sum].dtype, AccOp::Add);
        let sums = self.no_sums(c, share);
        let fetch = |w: &mut Self, number: &Affine| {
            let depth = w.frames.len();
            let first = w.turn(c, turns, number)?;
            let values =
                [w.fetch(left, (k, &first), terms, agents)?, w.fetch(right, (k, &first), terms, agents)?];
            w.frames.truncate(depth);
            Ok::<_, crate::CodegenError>(values)
        };
        let put = |w: &mut Self, values: &[Vec<Value>; 2], stage: &Affine| {
            w.put(left, &values[0], stage, agents)?;
            w.put(right, &values[1], stage, agents)?;
            w.b.effect(Op::Barrier(Level::Block));
            Ok::<_, crate::CodegenError>(())
        };
        let values = fetch(self, &0.into())?;
        put(self, &values, &0.into())?;
        if turns.count == 1 && !matches!(turns.picked, Picked::Listed(_)) {
            return self.products((share, c), (left, right), joined, agents, (&0.into(), sums));
        }
        let mut carried = sums;
        carried.push(self.integer(0));
        let end = self.end_of_turns(turns)?;
        let (number, mut carried) = self.b.open_for(0, end, 1, LoopKind::Serial, &carried);
        let stage = carried.pop().ok_or_else(overflow)?;
        let next = self.further(turns, &number.into(), 1)?;
        let values = fetch(self, &next.into())?;
        let mut sums = self.products((share, c), (left, right), joined, agents, (&stage.into(), carried))?;
        // Of one tile that may be left out there is one stage.
        let other = match turns.count {
            1 => stage.into(),
            _ => Affine::from(1).plus(&Affine::from(stage), -1).ok_or_else(overflow)?,
        };
        if turns.count == 1 {
            self.b.effect(Op::Barrier(Level::Block));
        }
        put(self, &values, &other)?;
        sums.push(self.number(&other));
        let mut sums = self.b.close_for(&sums);
        sums.pop();
        Ok(sums)
    }

    /// Adds the products of a stage to the sums.
    pub(in crate::kernels::lower) fn products(
        &mut self,
        ([rows, lanes], c): ([i64; 2], &Contraction),
        (left, right): (&Side, &Side),
        joined: DType,
        agents: &Agents,
        (stage, sums): (&Affine, Vec<Value>),
    ) -> Lowered<Vec<Value>> {
        let written = if c.tiles.tile[2] % WRITTEN == 0 { WRITTEN } else { TERMS };
        let (number, sums) = self.b.open_for(0, c.tiles.tile[2], written, LoopKind::Serial, &sums);
        let mut products = Products {
            rows,
            lanes,
            groups: groups(c, lanes),
            joined,
            first_row: Affine::from(agents.warp).times(rows).ok_or_else(overflow)?,
            first_column: Affine::from(agents.thread).times(lanes).ok_or_else(overflow)?,
            stage: stage.clone(),
            sums,
        };
        for chunk in (0..written).step_by(TERMS as usize) {
            let term = Affine::from(number).plus(&chunk.into(), 1).ok_or_else(overflow)?;
            let columns = self.columns(right, &products, &term)?;
            match left.how.by_terms {
                true => self.row_by_row(left, &mut products, &term, &columns)?,
                false => self.term_by_term(left, &mut products, &term, &columns)?,
            }
        }
        Ok(self.b.close_for(&products.sums))
    }

    /// The columns of a thread from a term on: those of each term, group by group.
    fn columns(&mut self, right: &Side, p: &Products, first: &Affine) -> Lowered<Vec<Vec<Value>>> {
        let dtype = self.expression.dag[right.node].dtype;
        let mut columns: Vec<Vec<Value>> = vec![Vec::new(); TERMS as usize];
        for group in 0..p.groups {
            let column = p.first_column.plus(&(group * WARP * p.lanes).into(), 1).ok_or_else(overflow)?;
            let place = |term: i64| {
                let term = first.plus(&term.into(), 1).ok_or_else(overflow)?;
                right.element(&column, &term, &p.stage).ok_or_else(overflow)
            };
            if right.how.by_terms {
                let step = at_once(dtype, TERMS);
                for term in (0..TERMS).step_by(step as usize) {
                    let found = self.neighbours(right, place(term)?, dtype, step)?;
                    (term..).zip(found).for_each(|(t, value)| columns[t as usize].push(value));
                }
                continue;
            }
            for (term, found) in (0..).zip(&mut columns) {
                let lane = if p.lanes > 1 { Affine::lane(1) } else { 0.into() };
                let place = place(term)?.plus(&lane, 1).ok_or_else(overflow)?;
                let ty = Type::vector(dtype, p.lanes as usize);
                found.push(self.b.load(Place::new(right.mem, place), ty));
            }
        }
        Ok(columns)
    }

    /// Multiplies where the terms of a row lie next to each other.
    fn row_by_row(
        &mut self,
        left: &Side,
        p: &mut Products,
        first: &Affine,
        columns: &[Vec<Value>],
    ) -> Lowered<()> {
        let step = at_once(self.expression.dag[left.node].dtype, TERMS);
        for row in 0..p.rows {
            for from in (0..TERMS).step_by(step as usize) {
                let found = self.rows(left, p, (row, first, from), step)?;
                for (value, columns) in found.into_iter().zip(&columns[from as usize..]) {
                    self.add_row(p, row, value, columns);
                }
            }
        }
        Ok(())
    }

    /// Multiplies where the rows of a term lie next to each other.
    fn term_by_term(
        &mut self,
        left: &Side,
        p: &mut Products,
        first: &Affine,
        columns: &[Vec<Value>],
    ) -> Lowered<()> {
        let step = at_once(self.expression.dag[left.node].dtype, p.rows);
        for (term, columns) in (0..).zip(columns) {
            let mut values = Vec::new();
            for row in (0..p.rows).step_by(step as usize) {
                values.extend(self.rows(left, p, (row, first, term), step)?);
            }
            for (row, value) in (0..).zip(values) {
                self.add_row(p, row, value, columns);
            }
        }
        Ok(())
    }

    /// So many neighbours of the left value, from a row of the thread and a term behind the first on.
    fn rows(
        &mut self,
        left: &Side,
        p: &Products,
        (row, first, term): (i64, &Affine, i64),
        count: i64,
    ) -> Lowered<Vec<Value>> {
        let row = p.first_row.plus(&row.into(), 1).ok_or_else(overflow)?;
        let term = first.plus(&term.into(), 1).ok_or_else(overflow)?;
        let place = left.element(&row, &term, &p.stage).ok_or_else(overflow)?;
        self.neighbours(left, place, self.expression.dag[left.node].dtype, count)
    }

    /// Adds the products of a row's value and the columns of a term to the sums.
    fn add_row(&mut self, p: &mut Products, row: i64, value: Value, columns: &[Value]) {
        let dtype = self.b.ty(value).dtype;
        let value = self.b.broadcast(value, p.lanes as usize);
        for (group, &column) in columns.iter().enumerate() {
            let sum = &mut p.sums[group * p.rows as usize + row as usize];
            *sum = if dtype == p.joined && matches!(dtype, DType::F32 | DType::F64) {
                let ty = self.b.ty(*sum);
                self.b.pure(Op::Fma(value, column, *sum), ty)
            } else {
                let product = self.b.binary(BinaryOp::Mul, value, column);
                let product = self.b.convert(product, p.joined);
                self.b.binary(BinaryOp::Add, *sum, product)
            };
        }
    }

    /// Computes and stores what depends on the sums.
    pub(in crate::kernels::lower) fn results(
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
            self.set_own(left, row);
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

/// The sums of a thread, and where what it multiplies is.
struct Products {
    rows: i64,
    /// Columns that lie next to each other, and how often those of a warp repeat.
    lanes: i64,
    groups: i64,
    /// The type of the sums.
    joined: DType,
    first_row: Affine,
    first_column: Affine,
    stage: Affine,
    /// Row by row of every group.
    sums: Vec<Value>,
}

/// How many elements are loaded at once, of so many that lie next to each other.
fn at_once(dtype: DType, most: i64) -> i64 {
    let all = (WIDEST / dtype.size().max(1) as i64).min(most);
    if most % all == 0 { all } else { 1 }
}

/// How often the columns of a thread repeat: those of the other threads of its warp lie between.
fn groups(c: &Contraction, lanes: i64) -> i64 {
    c.tiles.tile[1] / (WARP * lanes)
}
