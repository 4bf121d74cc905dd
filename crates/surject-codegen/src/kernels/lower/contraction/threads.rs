//! Each thread sums products in registers.
//!
//! A warp has some rows of the tile, which all of its threads read at once; the threads are neighbours along the columns.
//! In a grid some of them are along the rows, and a warp reads less for as many products. What the next turn needs is loaded
//! before the products of a turn, and stored into the other stage after them; or copied in the background.

use super::super::super::contraction::Share;
use super::super::{Frame, joined_in};
use super::{Agents, Contraction, Lowered, Lowering, Picked, Side, Turns, WARP, WIDEST, overflow};
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Node, NodeId};
use crate::kernels::contraction::SubTile;
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
        share: SubTile,
        (left, right): (&Side, &Side),
        turns: &Turns,
        stages: Option<i64>,
    ) -> Lowered<()> {
        let warps = c.tiles.warps();
        let (warp, _) = self.b.open_for(0, warps, 1, LoopKind::Parallel(Level::Warp), &[]);
        let (thread, _) = self.b.open_for(0, WARP, 1, LoopKind::Parallel(Level::Thread), &[]);
        let agents = Agents { warp, thread, warps };
        let sums_of = |w: &mut Self| match stages {
            Some(stages) => w.sums_in_background(c, share, (left, right), turns, (&agents, stages)),
            None => w.sums_of_threads(c, share, (left, right), turns, &agents),
        };
        let sums = match &turns.picked {
            Picked::Where(mem, at, count) => {
                let needed = self.any_element(*mem, at, *count)?;
                let none = self.no_sums(c, share);
                self.b.open_if(needed);
                let sums = sums_of(self)?;
                self.b.open_else(&sums);
                self.b.close_if(&none)
            }
            _ => sums_of(self)?,
        };
        self.results((share, c), (left, right), &agents, sums)?;
        (0..2).for_each(|_| _ = self.b.close_for(&[]));
        Ok(())
    }

    /// The sums of a thread before the first product, row by row.
    pub(in crate::kernels::lower) fn no_sums(
        &mut self,
        c: &Contraction,
        SubTile { rows, columns: lanes }: SubTile,
    ) -> Vec<Value> {
        let joined = joined_in(self.expression.dag[c.parts.sum].dtype, AccOp::Add);
        let zero = self.b.splat(Scalar::zero(joined), lanes as usize);
        vec![zero; (rows * groups(c, lanes)) as usize]
    }

    /// The sums of a thread over all turns.
    fn sums_of_threads(
        &mut self,
        c: &Contraction,
        share: SubTile,
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

    /// The same, where copies run ahead of the products by all stages but one.
    fn sums_in_background(
        &mut self,
        c: &Contraction,
        share: SubTile,
        (left, right): (&Side, &Side),
        turns: &Turns,
        (agents, stages): (&Agents, i64),
    ) -> Lowered<Vec<Value>> {
        let joined = joined_in(self.expression.dag[c.parts.sum].dtype, AccOp::Add);
        let copy = |w: &mut Self, number: &Affine, stage: &Affine| {
            let depth = w.frames.len();
            let first = w.turn(c, turns, number)?;
            for side in [left, right] {
                w.copy(side, (c.loops[2], &first), stage, agents)?;
            }
            w.b.effect(Op::AsyncCommit);
            w.frames.truncate(depth);
            Ok::<_, crate::CodegenError>(())
        };
        let in_flight = stages - 1;
        for number in 0..in_flight.max(1) {
            copy(self, &number.into(), &number.into())?;
        }
        let mut carried = self.no_sums(c, share);
        if stages == 1 {
            self.b.effect(Op::AsyncWait(0));
            self.b.effect(Op::Barrier(Level::Block));
            return self.products((share, c), (left, right), joined, agents, (&0.into(), carried));
        }
        carried.extend([self.integer(0), self.integer(in_flight)]);
        let end = self.end_of_turns(turns)?;
        let (number, mut carried) = self.b.open_for(0, end, 1, LoopKind::Serial, &carried);
        let free = carried.pop().ok_or_else(overflow)?;
        let stage = carried.pop().ok_or_else(overflow)?;
        let next = self.further(turns, &number.into(), in_flight)?;
        // After the barrier every copy of this turn is there, and nobody reads the stage before.
        self.b.effect(Op::AsyncWait(in_flight as usize - 1));
        self.b.effect(Op::Barrier(Level::Block));
        copy(self, &next.into(), &free.into())?;
        let mut sums = self.products((share, c), (left, right), joined, agents, (&stage.into(), carried))?;
        sums.extend([self.next_stage(stage, stages)?, self.next_stage(free, stages)?]);
        let mut sums = self.b.close_for(&sums);
        sums.truncate(sums.len() - 2);
        self.b.effect(Op::AsyncWait(0));
        Ok(sums)
    }

    /// Adds the products of a stage to the sums.
    pub(in crate::kernels::lower) fn products(
        &mut self,
        (own, c): (SubTile, &Contraction),
        (left, right): (&Side, &Side),
        joined: DType,
        agents: &Agents,
        (stage, sums): (&Affine, Vec<Value>),
    ) -> Lowered<Vec<Value>> {
        let written = if c.tiles.tile[2] % WRITTEN == 0 { WRITTEN } else { TERMS };
        let (number, sums) = self.b.open_for(0, c.tiles.tile[2], written, LoopKind::Serial, &sums);
        let spot = self.spot(c, own, left, agents)?;
        let SubTile { rows, columns: lanes } = own;
        let mut products =
            Products { rows, lanes, groups: groups(c, lanes), joined, spot, stage: stage.clone(), sums };
        let of_both =
            c.parts.term.map(|term| Term { term, left: left.node, right: right.node, column: right.own });
        for chunk in (0..written).step_by(TERMS as usize) {
            let first = Affine::from(number).plus(&chunk.into(), 1).ok_or_else(overflow)?;
            let columns = self.columns(right, &products, &first)?;
            match left.how.by_terms {
                true => self.row_by_row(left, &mut products, (&first, of_both), &columns)?,
                false => self.term_by_term(left, &mut products, (&first, of_both), &columns)?,
            }
        }
        Ok(self.b.close_for(&products.sums))
    }

    /// Where the rows and columns of a thread are. Threads along the rows have chunks of them in turn, whose banks differ.
    fn spot(
        &mut self,
        c: &Contraction,
        SubTile { rows, columns: lanes }: SubTile,
        left: &Side,
        agents: &Agents,
    ) -> Lowered<Spot> {
        let across = across(c);
        let along = WARP / across;
        let dtype = self.expression.dag[left.node].dtype;
        let chunk = match (along, left.how.by_terms) {
            (1, _) => rows,
            (_, true) => 1,
            (_, false) => at_once(dtype, rows),
        };
        let (row, column) = if along == 1 {
            (Affine::from(0), Affine::from(agents.thread))
        } else {
            let last = self.integer(across - 1);
            let bits = self.integer(i64::from(across.trailing_zeros()));
            let column = self.b.binary(BinaryOp::And, agents.thread, last);
            (self.b.binary(BinaryOp::ShrLogical, agents.thread, bits).into(), column.into())
        };
        let first_row = Affine::from(agents.warp).times(rows * along);
        let first_row = first_row.and_then(|first| first.plus(&row, chunk)).ok_or_else(overflow)?;
        let first_column = column.times(lanes).ok_or_else(overflow)?;
        let (next_chunk, next_group) = (chunk * along, across * lanes);
        Ok(Spot { first_row, first_column, chunk, next_chunk, next_group })
    }

    /// The columns of a thread from a term on: those of each term, group by group.
    fn columns(&mut self, right: &Side, p: &Products, first: &Affine) -> Lowered<Vec<Vec<Value>>> {
        let dtype = self.expression.dag[right.node].dtype;
        let mut columns: Vec<Vec<Value>> = vec![Vec::new(); TERMS as usize];
        for group in 0..p.groups {
            let column = p.spot.column(group).ok_or_else(overflow)?;
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
        (first, of_both): (&Affine, Option<Term>),
        columns: &[Vec<Value>],
    ) -> Lowered<()> {
        let step = at_once(self.expression.dag[left.node].dtype, TERMS);
        for row in 0..p.rows {
            for from in (0..TERMS).step_by(step as usize) {
                let found = self.rows(left, p, (row, first), from, step)?;
                for (value, columns) in found.into_iter().zip(&columns[from as usize..]) {
                    self.add_row(p, (row, of_both), value, columns)?;
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
        (first, of_both): (&Affine, Option<Term>),
        columns: &[Vec<Value>],
    ) -> Lowered<()> {
        let step = at_once(self.expression.dag[left.node].dtype, p.rows);
        for (term, columns) in (0..).zip(columns) {
            let mut values = Vec::new();
            for row in (0..p.rows).step_by(step as usize) {
                values.extend(self.rows(left, p, (row, first), term, step)?);
            }
            for (row, value) in (0..).zip(values) {
                self.add_row(p, (row, of_both), value, columns)?;
            }
        }
        Ok(())
    }

    /// So many neighbours of the left value, from a row of the thread and a term behind the first on.
    fn rows(
        &mut self,
        left: &Side,
        p: &Products,
        (row, first): (i64, &Affine),
        term: i64,
        count: i64,
    ) -> Lowered<Vec<Value>> {
        let row = p.spot.row(row).ok_or_else(overflow)?;
        let term = first.plus(&term.into(), 1).ok_or_else(overflow)?;
        let place = left.element(&row, &term, &p.stage).ok_or_else(overflow)?;
        self.neighbours(left, place, self.expression.dag[left.node].dtype, count)
    }

    /// Adds the products of a row's value and the columns of a term to the sums.
    fn add_row(
        &mut self,
        p: &mut Products,
        (row, of_both): (i64, Option<Term>),
        value: Value,
        columns: &[Value],
    ) -> Lowered<()> {
        if let Some(term) = of_both {
            return self.add_terms(p, (row, term), value, columns);
        }
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
        Ok(())
    }

    /// Adds what is computed of a row's value and the columns of a term to the sums.
    fn add_terms(
        &mut self,
        p: &mut Products,
        (row, of_both): (i64, Term),
        value: Value,
        columns: &[Value],
    ) -> Lowered<()> {
        for (group, &column) in columns.iter().enumerate() {
            let (depth, outside) = (self.frames.len(), self.lanes);
            self.lanes = (p.lanes > 1).then_some((of_both.column, p.lanes as usize));
            let values = [(of_both.left, value), (of_both.right, column)].into_iter().collect();
            self.frames.push(Frame { binds: LoopSet::default(), values });
            let sum = &mut p.sums[group * p.rows as usize + row as usize];
            let dtype = self.expression.dag[of_both.term].dtype;
            *sum = match self.expression.dag[of_both.term].node {
                Node::Binary(BinaryOp::Mul, x, y)
                    if dtype == p.joined && matches!(dtype, DType::F32 | DType::F64) =>
                {
                    let lanes = p.lanes as usize;
                    let (x, y) = (self.operand(x, lanes)?, self.operand(y, lanes)?);
                    let ty = self.b.ty(*sum);
                    self.b.pure(Op::Fma(x, y, *sum), ty)
                }
                _ => {
                    let term = self.operand(of_both.term, p.lanes as usize)?;
                    let term = self.b.convert(term, p.joined);
                    self.b.binary(BinaryOp::Add, *sum, term)
                }
            };
            self.frames.truncate(depth);
            self.lanes = outside;
        }
        Ok(())
    }

    /// Computes and stores what depends on the sums.
    pub(in crate::kernels::lower) fn results(
        &mut self,
        (own, c): (SubTile, &Contraction),
        (left, right): (&Side, &Side),
        agents: &Agents,
        sums: Vec<Value>,
    ) -> Lowered<()> {
        let dtype = self.expression.dag[c.parts.sum].dtype;
        let spot = self.spot(c, own, left, agents)?;
        let SubTile { rows, columns: lanes } = own;
        for (i, sum) in sums.into_iter().enumerate() {
            let (group, row) = (i as i64 / rows, i as i64 % rows);
            let row = spot.row(row).and_then(|own| left.first.plus(&own, 1)).ok_or_else(overflow)?;
            let column = spot.column(group).and_then(|own| right.first.plus(&own, 1)).ok_or_else(overflow)?;
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

/// What is summed of two values, where that is not their product, and the loop over columns.
#[derive(Clone, Copy)]
struct Term {
    term: NodeId,
    left: NodeId,
    right: NodeId,
    column: LoopId,
}

/// Where the rows and columns of a thread are in a tile.
struct Spot {
    first_row: Affine,
    first_column: Affine,
    /// Rows that it has next to each other, and how far apart the next ones are.
    chunk: i64,
    next_chunk: i64,
    /// How far apart its groups of columns are.
    next_group: i64,
}

impl Spot {
    fn row(&self, number: i64) -> Option<Affine> {
        self.first_row.plus(&(number / self.chunk * self.next_chunk + number % self.chunk).into(), 1)
    }

    fn column(&self, group: i64) -> Option<Affine> {
        self.first_column.plus(&(group * self.next_group).into(), 1)
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
    spot: Spot,
    stage: Affine,
    /// Row by row of every group.
    sums: Vec<Value>,
}

/// How many elements are loaded at once, of so many that lie next to each other.
fn at_once(dtype: DType, most: i64) -> i64 {
    let all = (WIDEST / dtype.size().max(1) as i64).min(most);
    if most % all == 0 { all } else { 1 }
}

/// The threads of a warp along the columns.
fn across(c: &Contraction) -> i64 {
    match c.tiles.share {
        Share::Grid { across, .. } => across,
        _ => WARP,
    }
}

/// How often the columns of a thread repeat: those of the other threads of its warp lie between.
fn groups(c: &Contraction, lanes: i64) -> i64 {
    c.tiles.tile[1] / (across(c) * lanes)
}
