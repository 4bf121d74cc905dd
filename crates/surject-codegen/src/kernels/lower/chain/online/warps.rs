//! Matrix units sum products in registers of a warp. Its threads get scores through shared memory, and put weights there.

use super::{FLOAT, Online, Round};
use crate::kernels::contraction::WARP;
use crate::kernels::lower::Lowered;
use crate::kernels::lower::chain::overflow;
use crate::kernels::lower::contraction::warps::PAIR;
use crate::kernels::lower::contraction::{Agents, padding};
use surject_ir::{AccOp, BinaryOp, Scalar};
use surject_kernel::{Affine, Builder, Guard, Level, LoopKind, Mem, Op, Place, Space, Type, Value};

/// Rows of a warp that are looked at together.
const TOGETHER: i64 = 4;

/// What a warp has of its rows.
struct Warp {
    /// Rows of a warp, and columns of a tile of scores and of the sums.
    rows: i64,
    columns: [i64; 2],
    /// Sums of products: the scores, and the results.
    sums: [Mem; 2],
    /// Scores in shared memory, and how many elements apart their rows are.
    scores: Mem,
    pitch: i64,
    /// Of each row of the block: the highest score before a tile and with it, the sum of exponentials, that of a tile,
    /// and by what sums are scaled.
    highest: Mem,
    higher: Mem,
    total: Mem,
    part: Mem,
    scale: Mem,
    agents: Agents,
    /// The first row in the block.
    row: Affine,
}

impl Warp {
    fn row(&self, row: &Affine) -> Lowered<Affine> {
        self.row.plus(row, 1).ok_or_else(overflow)
    }

    fn score(&self, row: &Affine, column: &Affine) -> Lowered<Affine> {
        column.plus(&self.row(row)?, self.pitch).ok_or_else(overflow)
    }
}

impl Online<'_> {
    pub(super) fn by_warps(mut self, rows: i64) -> Lowered<Builder> {
        let [of_scores, of_sums] = self.products;
        let warps = of_scores.tiles.warps();
        let columns = [of_scores.tiles.tile[1], of_sums.tiles.tile[1]];
        let all = self.block.tiles.rows;
        let first_count = self.first_count();
        let pitch = columns[0].max(columns[1]) + padding(FLOAT);
        let mut shared = |name: &str, elements: i64| self.first.b.alloc(name, FLOAT, elements, Space::Shared);
        let scores = shared("scores", all * pitch);
        let [highest, higher, total, part, scale] =
            ["highest", "higher", "total", "part", "scale"].map(|name| shared(name, all));
        let (warp, _) = self.b().open_for(0, warps, 1, LoopKind::Parallel(Level::Warp), &[]);
        let sums = [("scores", columns[0]), ("sums", columns[1])]
            .map(|(name, columns)| self.first.b.alloc(name, FLOAT, rows * columns, Space::Register));
        let (thread, agents) = self.open_agents_of_warp(warp, warps);
        let row = Affine::from(warp).times(rows).ok_or_else(overflow)?;
        let w = Warp { rows, columns, sums, scores, pitch, highest, higher, total, part, scale, agents, row };
        let (lowest, none) = (self.float(f64::NEG_INFINITY), self.float(0.0));
        for (mem, value) in [(highest, lowest), (total, none)] {
            let place = self.of_thread(&w, mem, thread)?;
            self.b().store(place, value);
        }
        self.bring_queries(&w.agents)?;
        self.b().close_for(&[]);
        self.fill(w.sums[1], rows * columns[1]);
        let inits = [self.first.integer(0), first_count];
        let rounds = self.order.rounds();
        let (number, carried) = self.b().open_for(0, rounds, 1, LoopKind::Serial, &inits);
        let round = self.round(number, carried[0], carried[1]);
        let w = self.turns_of_warp(&round, w)?;
        let (next, w) = self.judged_by_warp(&round, w)?;
        let last = self.b().close_for(&next);
        let w = self.open_again(w);
        self.b().effect(Op::AsyncWait(0));
        self.b().close_for(&[]);
        self.results_of_chain(&w, last[1])?;
        (0..2).for_each(|_| _ = self.b().close_for(&[]));
        Ok(self.first.b)
    }

    /// Opens the loop over the threads of a warp.
    fn open_agents_of_warp(&mut self, warp: Value, warps: i64) -> (Value, Agents) {
        let thread = self.first.open_threads();
        (thread, Agents { warp, thread, warps })
    }

    /// Opens it again.
    fn open_again(&mut self, w: Warp) -> Warp {
        let (_, agents) = self.open_agents_of_warp(w.agents.warp, w.agents.warps);
        Warp { agents, ..w }
    }

    /// The element of a row that is a thread's own, where there is one.
    fn of_thread(&mut self, w: &Warp, mem: Mem, thread: Value) -> Lowered<Place> {
        let guards = vec![Guard { expr: thread.into(), bound: w.rows.into() }];
        Ok(Place { guards, ..Place::new(mem, w.row(&thread.into())?) })
    }

    /// Fills sums with zeros.
    fn fill(&mut self, mem: Mem, elements: i64) {
        let zero = self.float(0.0);
        let (element, _) = self.b().open_for(0, elements, 1, LoopKind::Serial, &[]);
        self.b().store(Place::new(mem, element), zero);
        self.b().close_for(&[]);
    }

    /// The tiles of a round.
    fn turns_of_warp(&mut self, round: &Round, w: Warp) -> Lowered<Warp> {
        let [of_scores, of_sums] = self.products;
        let w = self.open_again(w);
        // Nobody reads what was brought before.
        self.meet();
        let tile = self.tile(&round.begin.into());
        self.bring_keys(tile, &w.agents)?;
        self.b().close_for(&[]);
        let (turn, _) = self.b().open_for(0, round.count, 1, LoopKind::Serial, &[]);
        let at = Affine::from(round.begin).plus(&turn.into(), 1).ok_or_else(overflow)?;
        let tile = self.tile(&at);
        self.fill(w.sums[0], w.rows * w.columns[0]);
        let w = self.open_again(w);
        self.meet();
        self.bring_values(tile, &w.agents)?;
        self.b().close_for(&[]);
        let (queries, keys) = (self.queries.clone(), self.keys.clone());
        let zero = Affine::from(0);
        self.first.multiply(of_scores, w.sums[0], (&queries, &keys), (w.agents.warp, &zero))?;
        let first_column = Affine::from(tile).times(w.columns[0]).ok_or_else(overflow)?;
        self.put_scores(&w, &first_column)?;
        let w = self.open_again(w);
        self.weigh_rows(&w, &first_column, round)?;
        self.b().effect(Op::Barrier(Level::Warp));
        self.settle_rows(&w, round)?;
        self.meet();
        let next = self.tile(&at.plus(&1.into(), 1).ok_or_else(overflow)?);
        self.bring_keys(next, &w.agents)?;
        self.b().close_for(&[]);
        self.scale_sums(&w)?;
        let (weights, values) = (self.weights.clone(), self.values.clone());
        self.in_last(|l| l.multiply(of_sums, w.sums[1], (&weights, &values), (w.agents.warp, &zero)))?;
        self.b().close_for(&[]);
        Ok(w)
    }

    /// Puts scores where the threads of a warp find those of other threads.
    fn put_scores(&mut self, w: &Warp, first_column: &Affine) -> Lowered<()> {
        let (row, _) = self.b().open_for(0, w.rows, 1, LoopKind::Serial, &[]);
        let (column, _) = self.b().open_for(0, w.columns[0], PAIR, LoopKind::Serial, &[]);
        let own = Affine::from(column);
        let lane = own.plus(&Affine::lane(1), 1).ok_or_else(overflow)?;
        let from = lane.plus(&row.into(), w.columns[0]).ok_or_else(overflow)?;
        let sum = self.b().load(Place::new(w.sums[0], from), Type::vector(FLOAT, PAIR as usize));
        let absolute = own.plus(first_column, 1).ok_or_else(overflow)?;
        let score = self.stored_score(sum, &w.row(&row.into())?, (&absolute, PAIR))?;
        // Of a narrower type it is kept as what it is there.
        let score = self.b().convert(score, FLOAT);
        self.b().store(Place::new(w.scores, w.score(&row.into(), &lane)?), score);
        (0..2).for_each(|_| _ = self.b().close_for(&[]));
        Ok(())
    }

    /// The weights of the rows of a warp, several rows together.
    fn weigh_rows(&mut self, w: &Warp, first_column: &Affine, round: &Round) -> Lowered<()> {
        let lanes = [4, 2, 1].into_iter().find(|l| w.columns[0] % (WARP * l) == 0).unwrap_or(1);
        let groups = w.columns[0] / (WARP * lanes);
        let (number, _) = self.b().open_for(0, w.rows, TOGETHER, LoopKind::Serial, &[]);
        let rows: Vec<Affine> = (0..TOGETHER)
            .map(|more| Affine::from(number).plus(&more.into(), 1).ok_or_else(overflow))
            .collect::<Lowered<_>>()?;
        let mut columns = Vec::new();
        for group in 0..groups {
            let own =
                Affine::from(w.agents.thread).plus(&(group * WARP).into(), 1).and_then(|c| c.times(lanes));
            columns.push(own.ok_or_else(overflow)?);
        }
        let (mut scores, mut highest) = (Vec::new(), Vec::new());
        for row in &rows {
            let mut of_row = Vec::new();
            for column in &columns {
                of_row.push(self.score_of_thread(w, row, (column, lanes), first_column)?);
            }
            let most = of_row.iter().copied().reduce(|a, b| self.first.b.binary(BinaryOp::Max, a, b));
            let most = most.ok_or_else(overflow)?;
            highest.push(self.b().reduce_lanes(AccOp::Max, most));
            scores.push(of_row);
        }
        self.join(&mut highest, BinaryOp::Max);
        let mut totals = Vec::new();
        for ((row, scores), most) in rows.iter().zip(scores).zip(&mut highest) {
            let at = w.row(row)?;
            let before = self.b().load(Place::new(w.highest, at.clone()), Type::scalar(FLOAT));
            *most = self.b().binary(BinaryOp::Max, before, *most);
            let total = self.b().load(Place::new(w.total, at), Type::scalar(FLOAT));
            let subtracted = self.subtracted(*most, round.is_exact);
            let mut weights: Vec<Value> =
                scores.iter().map(|&score| self.exponential(score, subtracted)).collect();
            let sum = weights.iter().copied().reduce(|a, b| self.first.b.binary(BinaryOp::Add, a, b));
            totals.push(self.first.b.reduce_lanes(AccOp::Add, sum.ok_or_else(overflow)?));
            self.b().open_if(round.is_exact);
            let by = self.b().broadcast(total, lanes as usize);
            let exact: Vec<Value> =
                weights.iter().map(|&weight| self.first.b.binary(BinaryOp::Div, weight, by)).collect();
            self.b().open_else(&exact);
            weights = self.b().close_if(&weights);
            for (column, weight) in columns.iter().zip(weights) {
                let column = if lanes > 1 { column.plus(&Affine::lane(1), 1) } else { Some(column.clone()) };
                let column = column.ok_or_else(overflow)?;
                let to = self.weights.element(&w.row(row)?, &column, &0.into()).ok_or_else(overflow)?;
                let (factor, mem) = (self.factor(weight), self.weights.mem);
                self.b().store(Place::new(mem, to), factor);
            }
        }
        self.join(&mut totals, BinaryOp::Add);
        for ((row, most), total) in rows.iter().zip(highest).zip(totals) {
            let guards = vec![Guard { expr: w.agents.thread.into(), bound: 1.into() }];
            for (mem, value) in [(w.higher, most), (w.part, total)] {
                self.b().store(Place { guards: guards.clone(), ..Place::new(mem, w.row(row)?) }, value);
            }
        }
        self.b().close_for(&[]);
        Ok(())
    }

    /// The scores that a thread looks at, of a row from a column of the tile on.
    fn score_of_thread(
        &mut self,
        w: &Warp,
        row: &Affine,
        (column, lanes): (&Affine, i64),
        first_column: &Affine,
    ) -> Lowered<Value> {
        let chain = self.block.chain;
        let absolute = column.plus(first_column, 1).ok_or_else(overflow)?;
        let [with_lane, lane] = [column, &absolute].map(|c| match lanes {
            1 => Some(c.clone()),
            _ => c.plus(&Affine::lane(1), 1),
        });
        let (with_lane, lane) = (with_lane.ok_or_else(overflow)?, lane.ok_or_else(overflow)?);
        let mut place = Place::new(w.scores, w.score(row, &with_lane)?);
        if chain.columns % w.columns[0] != 0 {
            place.guards.push(Guard { expr: lane, bound: chain.columns.into() });
        }
        let sum = self.b().load(place, Type::vector(FLOAT, lanes as usize));
        let own = self.middle.expression.dag[self.softmax.load].dtype;
        let sum = self.b().convert(sum, own);
        self.score(sum, &w.row(row)?, (&absolute, lanes))
    }

    /// The highest scores, the sums and the scales of rows after a tile: a thread has a row.
    fn settle_rows(&mut self, w: &Warp, round: &Round) -> Lowered<()> {
        let thread = w.agents.thread;
        let mut load = |mem: Mem| {
            let place = self.of_thread(w, mem, thread)?;
            Ok::<_, crate::CodegenError>(self.first.b.load(place, Type::scalar(FLOAT)))
        };
        let [before, most, total, part] = [load(w.highest)?, load(w.higher)?, load(w.total)?, load(w.part)?];
        let subtracted = self.subtracted(most, round.is_exact);
        let scale = self.exponential(before, subtracted);
        let one = self.float(1.0);
        let b = self.b();
        let scale = b.select(round.is_exact, one, scale);
        let scaled = b.binary(BinaryOp::Mul, total, scale);
        let sum = b.binary(BinaryOp::Add, scaled, part);
        let sum = b.select(round.is_exact, total, sum);
        for (mem, value) in [(w.highest, most), (w.total, sum), (w.scale, scale)] {
            let place = self.of_thread(w, mem, thread)?;
            self.b().store(place, value);
        }
        Ok(())
    }

    /// Scales the sums of a warp, row by row.
    fn scale_sums(&mut self, w: &Warp) -> Lowered<()> {
        let (row, _) = self.b().open_for(0, w.rows, 1, LoopKind::Serial, &[]);
        let scale = self.b().load(Place::new(w.scale, w.row(&row.into())?), Type::scalar(FLOAT));
        let (column, _) = self.b().open_for(0, w.columns[1], PAIR, LoopKind::Serial, &[]);
        let lane = Affine::from(column).plus(&Affine::lane(1), 1).ok_or_else(overflow)?;
        let at = lane.plus(&row.into(), w.columns[1]).ok_or_else(overflow)?;
        let sum = self.b().load(Place::new(w.sums[1], at.clone()), Type::vector(FLOAT, PAIR as usize));
        let scale = self.b().broadcast(scale, PAIR as usize);
        let scaled = self.b().binary(BinaryOp::Mul, sum, scale);
        self.b().store(Place::new(w.sums[1], at), scaled);
        (0..2).for_each(|_| _ = self.b().close_for(&[]));
        Ok(())
    }

    /// The next round, and its sums.
    fn judged_by_warp(&mut self, round: &Round, w: Warp) -> Lowered<([Value; 2], Warp)> {
        // Zero times the sums: threads look at those of others.
        let (row, _) = self.b().open_for(0, w.rows, 1, LoopKind::Serial, &[]);
        let (column, _) = self.b().open_for(0, w.columns[1], PAIR, LoopKind::Serial, &[]);
        let lane = Affine::from(column).plus(&Affine::lane(1), 1).ok_or_else(overflow)?;
        let at = lane.plus(&row.into(), w.columns[1]).ok_or_else(overflow)?;
        let sum = self.b().load(Place::new(w.sums[1], at), Type::vector(FLOAT, PAIR as usize));
        let zero = self.b().splat(Scalar::zero(FLOAT), PAIR as usize);
        let own = self.b().binary(BinaryOp::Mul, sum, zero);
        self.b().store(Place::new(w.scores, w.score(&row.into(), &lane)?), own);
        (0..2).for_each(|_| _ = self.b().close_for(&[]));
        let w = self.open_again(w);
        let none = self.float(0.0);
        let (row, carried) = self.b().open_for(0, w.rows, 1, LoopKind::Serial, &[none]);
        let mut zeros = carried[0];
        for step in 0..w.columns[1] / WARP {
            let column = Affine::from(w.agents.thread).plus(&(step * WARP).into(), 1).ok_or_else(overflow)?;
            let place = Place::new(w.scores, w.score(&row.into(), &column)?);
            let own = self.b().load(place, Type::scalar(FLOAT));
            zeros = self.b().binary(BinaryOp::Add, zeros, own);
        }
        let zeros = self.b().close_for(&[zeros])[0];
        let place = self.of_thread(&w, w.highest, w.agents.thread)?;
        let exists = self.b().holds(place.guards.clone(), 1);
        let highest = self.b().load(place, Type::scalar(FLOAT));
        let own = self.b().binary(BinaryOp::Mul, highest, none);
        let zeros = self.b().binary(BinaryOp::Add, zeros, own);
        let bad = self.is_bad(zeros);
        let weighs = self.weighs(highest).map(|weighs| self.first.b.binary(BinaryOp::And, weighs, exists));
        let found = self.found(round, (weighs, bad));
        self.say(found, &w.agents);
        self.b().close_for(&[]);
        let [begin, count, again] = self.next_round(round, weighs.is_some(), w.agents.warps)?;
        self.b().open_if(again);
        self.fill(w.sums[1], w.rows * w.columns[1]);
        self.b().close_if(&[]);
        Ok(([begin, count], w))
    }

    /// Stores the results: sums by those of exponentials, or as they are where weights were divided.
    fn results_of_chain(&mut self, w: &Warp, count_of_last: Value) -> Lowered<()> {
        let c = self.products[1];
        let (zero, one) = (self.first.integer(0), self.float(1.0));
        let is_exact = self.b().binary(BinaryOp::Ne, count_of_last, zero);
        let (row, _) = self.b().open_for(0, w.rows, 1, LoopKind::Serial, &[]);
        let total = self.b().load(Place::new(w.total, w.row(&row.into())?), Type::scalar(FLOAT));
        let total = self.b().select(is_exact, one, total);
        let (column, _) = self.b().open_for(0, w.columns[1], PAIR, LoopKind::Serial, &[]);
        let own = Affine::from(column);
        let lane = own.plus(&Affine::lane(1), 1).ok_or_else(overflow)?;
        let at = lane.plus(&row.into(), w.columns[1]).ok_or_else(overflow)?;
        let sum = self.b().load(Place::new(w.sums[1], at), Type::vector(FLOAT, PAIR as usize));
        let total = self.b().broadcast(total, PAIR as usize);
        let value = self.b().binary(BinaryOp::Div, sum, total);
        let row = w.row(&row.into())?.plus(&self.weights.first, 1).ok_or_else(overflow)?;
        let weights = self.weights.clone();
        self.in_last(|l| {
            let depth = l.frames.len();
            l.set_own(&weights, row);
            Online::set_columns(l, c.loops[1], &own, PAIR)?;
            let value = l.b.convert(value, l.expression.dag[c.parts.sum].dtype);
            if let Some(frame) = l.frames.last_mut() {
                frame.values.insert(c.parts.sum, value);
            }
            l.store()?;
            l.frames.truncate(depth);
            l.lanes = None;
            Ok(())
        })?;
        (0..2).for_each(|_| _ = self.b().close_for(&[]));
        Ok(())
    }
}
