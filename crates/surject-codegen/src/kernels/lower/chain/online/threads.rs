//! The threads of a warp have whole rows of scores in registers, and what is summed of them.

use super::{FLOAT, Online, Round};
use crate::CodegenError;
use crate::kernels::contraction::{SubTile, WARP};
use crate::kernels::lower::chain::overflow;
use crate::kernels::lower::contraction::Agents;
use crate::kernels::lower::{Lowered, joined_in};
use surject_ir::{AccOp, BinaryOp, UnaryOp};
use surject_kernel::{Affine, Builder, Guard, Level, LoopKind, Mem, Op, Place, Space, Type, Value};

/// What a thread has of its rows.
#[derive(Clone)]
struct State {
    /// What is summed of products, group by group of columns, row by row.
    sums: Vec<Value>,
    /// The highest scores.
    highest: Vec<Value>,
    /// The sums of exponentials of the thread's own columns; none between rounds.
    totals: Vec<Value>,
}

impl State {
    fn all(&self) -> Vec<Value> {
        [&self.sums[..], &self.highest, &self.totals].concat()
    }

    /// The same values at another place.
    fn at(&self, values: &[Value]) -> State {
        let (sums, rest) = values.split_at(self.sums.len());
        let (highest, totals) = rest.split_at(self.highest.len());
        State { sums: sums.to_vec(), highest: highest.to_vec(), totals: totals.to_vec() }
    }
}

/// Who has which scores.
struct Own {
    rows: i64,
    /// Columns that lie next to each other.
    lanes: i64,
    /// The first row in the block.
    row: Affine,
    thread: Affine,
    /// The sums of exponentials of whole rows, between rounds and in the last one.
    totals: Mem,
}

impl Own {
    fn row(&self, row: i64) -> Lowered<Affine> {
        self.row.plus(&row.into(), 1).ok_or_else(overflow)
    }

    fn total(&self, row: usize) -> Lowered<Place> {
        Ok(Place::new(self.totals, self.row(row as i64)?))
    }

    /// The same for the first thread alone.
    fn total_of_first(&self, row: usize) -> Lowered<Place> {
        let guards = vec![Guard { expr: self.thread.clone(), bound: 1.into() }];
        Ok(Place { guards, ..self.total(row)? })
    }

    /// The first column of a group in its tile.
    fn column(&self, group: i64) -> Lowered<Affine> {
        let own = self.thread.times(self.lanes);
        own.and_then(|own| own.plus(&(group * WARP * self.lanes).into(), 1)).ok_or_else(overflow)
    }
}

impl Online<'_> {
    pub(super) fn by_threads(mut self, shares: [SubTile; 2]) -> Lowered<Builder> {
        let [of_scores, of_sums] = self.products;
        let warps = of_scores.tiles.warps();
        let first_count = self.first_count();
        let totals = self.first.b.alloc("totals", FLOAT, self.block.tiles.rows, Space::Shared);
        let (warp, _) = self.b().open_for(0, warps, 1, LoopKind::Parallel(Level::Warp), &[]);
        let (thread, _) = self.b().open_for(0, WARP, 1, LoopKind::Parallel(Level::Thread), &[]);
        let agents = Agents { warp, thread, warps };
        let SubTile { rows, columns: lanes } = shares[0];
        let own = Own {
            rows,
            lanes,
            row: Affine::from(warp).times(rows).ok_or_else(overflow)?,
            thread: thread.into(),
            totals,
        };
        self.bring_queries(&agents)?;
        let sums = self.in_last(|w| Ok(w.no_sums(of_sums, shares[1])))?;
        let (lowest, none) = (self.float(f64::NEG_INFINITY), self.float(0.0));
        for row in 0..rows as usize {
            let place = own.total_of_first(row)?;
            self.b().store(place, none);
        }
        let state = State { sums, highest: vec![lowest; rows as usize], totals: Vec::new() };
        let mut inits = state.all();
        inits.extend([self.first.integer(0), first_count]);
        let rounds = self.order.rounds();
        let (number, mut carried) = self.b().open_for(0, rounds, 1, LoopKind::Serial, &inits);
        let (Some(count), Some(begin)) = (carried.pop(), carried.pop()) else { return Err(overflow()) };
        let round = self.round(number, begin, count);
        let before = state.at(&carried);
        let after = self.turns_of_threads((shares, &own), &round, &before, &agents)?;
        let after = self.whole_rows(&round, after, &own)?;
        let (weighs, bad) = self.judged(&after);
        let found = self.found(&round, (weighs, bad));
        self.say(found, &agents);
        let [begin, count, again] = self.next_round(&round, weighs.is_some(), agents.warps)?;
        let mut yields = after.clone();
        for sum in &mut yields.sums {
            let lanes = self.first.b.ty(*sum).lanes;
            let (again, zero) = (self.b().broadcast(again, lanes), self.b().broadcast(none, lanes));
            *sum = self.b().select(again, zero, *sum);
        }
        let mut yields = yields.all();
        yields.extend([begin, count]);
        let mut last = self.b().close_for(&yields);
        let (Some(count), Some(_)) = (last.pop(), last.pop()) else { return Err(overflow()) };
        self.b().effect(Op::AsyncWait(0));
        let state = state.at(&last);
        let sums = self.divided(&state, count, &own)?;
        let (left, right) = (self.weights.clone(), self.values.clone());
        self.in_last(|w| w.results((shares[1], of_sums), (&left, &right), &agents, sums))?;
        (0..3).for_each(|_| _ = self.b().close_for(&[]));
        Ok(self.first.b)
    }

    /// The tiles of a round: what a thread has after them.
    fn turns_of_threads(
        &mut self,
        (shares, own): ([SubTile; 2], &Own),
        round: &Round,
        before: &State,
        agents: &Agents,
    ) -> Lowered<State> {
        let [of_scores, of_sums] = self.products;
        let mut state = before.clone();
        for row in 0..own.rows as usize {
            // The first thread goes on with the sum of the row.
            let place = own.total_of_first(row)?;
            state.totals.push(self.b().load(place, Type::scalar(FLOAT)));
        }
        // Nobody reads what was brought before.
        self.meet();
        let tile = self.tile(&round.begin.into());
        self.bring_keys(tile, agents)?;
        let (turn, carried) = self.b().open_for(0, round.count, 1, LoopKind::Serial, &state.all());
        let mut state = state.at(&carried);
        let at = Affine::from(round.begin).plus(&turn.into(), 1).ok_or_else(overflow)?;
        let tile = self.tile(&at);
        self.meet();
        self.bring_values(tile, agents)?;
        let (queries, keys) = (self.queries.clone(), self.keys.clone());
        let joined = joined_in(self.first.expression.dag[of_scores.parts.sum].dtype, AccOp::Add);
        let none = self.first.no_sums(of_scores, shares[0]);
        let scores = self.first.products(
            (shares[0], of_scores),
            (&queries, &keys),
            joined,
            agents,
            (&0.into(), none),
        )?;
        let first_column = Affine::from(tile).times(of_scores.tiles.tile[1]).ok_or_else(overflow)?;
        let scores = self.scores_of_threads(scores, own, &first_column)?;
        self.weigh(&scores, own, &mut state, round)?;
        self.meet();
        let next = self.tile(&at.plus(&1.into(), 1).ok_or_else(overflow)?);
        self.bring_keys(next, agents)?;
        let (weights, values) = (self.weights.clone(), self.values.clone());
        let sums = std::mem::take(&mut state.sums);
        state.sums = self.in_last(|w| {
            w.products((shares[1], of_sums), (&weights, &values), FLOAT, agents, (&0.into(), sums))
        })?;
        let last = self.b().close_for(&state.all());
        Ok(state.at(&last))
    }

    /// The scores of a thread's sums, group by group, row by row.
    fn scores_of_threads(
        &mut self,
        sums: Vec<Value>,
        own: &Own,
        first_column: &Affine,
    ) -> Lowered<Vec<Value>> {
        let mut scores = Vec::new();
        for (i, sum) in sums.into_iter().enumerate() {
            let (group, row) = (i as i64 / own.rows, own.row(i as i64 % own.rows)?);
            let column = own.column(group)?.plus(first_column, 1).ok_or_else(overflow)?;
            let columns = (&column, own.lanes);
            let sum = self.stored_score(sum, &row, columns)?;
            scores.push(self.score(sum, &row, columns)?);
        }
        Ok(scores)
    }

    /// Stores the weights of scores, and scales what was summed where the highest score of a row is another one now.
    fn weigh(&mut self, scores: &[Value], own: &Own, state: &mut State, round: &Round) -> Lowered<()> {
        let of_row = |row: usize| (row..scores.len()).step_by(own.rows as usize);
        let mut highest = Vec::new();
        for row in 0..own.rows as usize {
            let mut most: Option<Value> = None;
            for i in of_row(row) {
                most =
                    Some(most.map_or(scores[i], |most| self.first.b.binary(BinaryOp::Max, most, scores[i])));
            }
            let most = most.ok_or_else(|| CodegenError::malformed("a row without columns"))?;
            highest.push(self.b().reduce_lanes(AccOp::Max, most));
        }
        self.join(&mut highest, BinaryOp::Max);
        for (most, &before) in highest.iter_mut().zip(&state.highest) {
            *most = self.b().binary(BinaryOp::Max, before, *most);
        }
        let subtracted: Vec<Value> = highest.iter().map(|&h| self.subtracted(h, round.is_exact)).collect();
        self.scale(state, &highest, &subtracted, own);
        let mut weights = Vec::new();
        for (i, &score) in scores.iter().enumerate() {
            weights.push(self.exponential(score, subtracted[i % own.rows as usize]));
        }
        for (row, total) in state.totals.iter_mut().enumerate() {
            for i in of_row(row) {
                let own = self.b().reduce_lanes(AccOp::Add, weights[i]);
                *total = self.b().binary(BinaryOp::Add, *total, own);
            }
        }
        self.b().open_if(round.is_exact);
        let (mut exact, mut totals) = (Vec::new(), Vec::new());
        for row in 0..own.rows as usize {
            totals.push(self.first.b.load(own.total(row)?, Type::scalar(FLOAT)));
        }
        for (i, &weight) in weights.iter().enumerate() {
            let lanes = self.first.b.ty(weight).lanes;
            let total = self.b().broadcast(totals[i % own.rows as usize], lanes);
            exact.push(self.b().binary(BinaryOp::Div, weight, total));
        }
        self.b().open_else(&exact);
        let weights = self.b().close_if(&weights);
        for (i, weight) in weights.into_iter().enumerate() {
            let (group, row) = (i as i64 / own.rows, own.row(i as i64 % own.rows)?);
            let lane = if own.lanes > 1 { Affine::lane(1) } else { 0.into() };
            let column = own.column(group)?.plus(&lane, 1).ok_or_else(overflow)?;
            let at = self.weights.element(&row, &column, &0.into()).ok_or_else(overflow)?;
            let (factor, mem) = (self.factor(weight), self.weights.mem);
            self.b().store(Place::new(mem, at), factor);
        }
        state.highest = highest;
        Ok(())
    }

    /// Scales sums where a highest score has changed: a warp has whole rows, so all of its threads do or none.
    fn scale(&mut self, state: &mut State, highest: &[Value], subtracted: &[Value], own: &Own) {
        let mut changed: Option<Value> = None;
        for (&before, &now) in state.highest.iter().zip(highest) {
            let one = self.b().binary(BinaryOp::Ne, before, now);
            changed = Some(changed.map_or(one, |all| self.first.b.binary(BinaryOp::Or, all, one)));
        }
        let Some(changed) = changed else { return };
        let before = [&state.sums[..], &state.totals].concat();
        self.b().open_if(changed);
        let scales: Vec<Value> = state
            .highest
            .iter()
            .zip(subtracted)
            .map(|(&before, &now)| self.exponential(before, now))
            .collect();
        let mut scaled = Vec::new();
        for (i, &value) in before.iter().enumerate() {
            let lanes = self.first.b.ty(value).lanes;
            let by = self.b().broadcast(scales[i % own.rows as usize], lanes);
            scaled.push(self.b().binary(BinaryOp::Mul, value, by));
        }
        self.b().open_else(&scaled);
        let after = self.b().close_if(&before);
        let (sums, totals) = after.split_at(state.sums.len());
        (state.sums, state.totals) = (sums.to_vec(), totals.to_vec());
    }

    /// Keeps the sums of whole rows; in the last round they are what they were.
    fn whole_rows(&mut self, round: &Round, mut after: State, own: &Own) -> Lowered<State> {
        let mut totals = std::mem::take(&mut after.totals);
        self.join(&mut totals, BinaryOp::Add);
        let is_other = self.b().unary(UnaryOp::Not, round.is_exact);
        for (row, total) in totals.into_iter().enumerate() {
            let place = Place { mask: Some(is_other), ..own.total_of_first(row)? };
            self.b().store(place, total);
        }
        Ok(after)
    }

    /// Does what was left out weigh something in a row, and is a result not finite?
    fn judged(&mut self, state: &State) -> (Option<Value>, Value) {
        let mut weighs: Option<Value> = None;
        let mut zeros = self.float(0.0);
        for &highest in &state.highest {
            if let Some(one) = self.weighs(highest) {
                weighs = Some(weighs.map_or(one, |all| self.first.b.binary(BinaryOp::Or, all, one)));
            }
        }
        let nothing = self.float(0.0);
        for &value in state.sums.iter().chain(&state.highest) {
            let lanes = self.first.b.ty(value).lanes;
            let zero = self.b().broadcast(nothing, lanes);
            let own = self.b().binary(BinaryOp::Mul, value, zero);
            let own = self.b().reduce_lanes(AccOp::Add, own);
            zeros = self.b().binary(BinaryOp::Add, zeros, own);
        }
        (weighs, self.is_bad(zeros))
    }

    /// The results: sums by those of exponentials, or as they are where weights were divided.
    fn divided(&mut self, state: &State, count_of_last: Value, own: &Own) -> Lowered<Vec<Value>> {
        let (zero, one) = (self.first.integer(0), self.float(1.0));
        let is_exact = self.b().binary(BinaryOp::Ne, count_of_last, zero);
        let mut by = Vec::new();
        for row in 0..own.rows as usize {
            let total = self.first.b.load(own.total(row)?, Type::scalar(FLOAT));
            by.push(self.b().select(is_exact, one, total));
        }
        let mut results = Vec::new();
        for (i, &sum) in state.sums.iter().enumerate() {
            let lanes = self.first.b.ty(sum).lanes;
            let by = self.b().broadcast(by[i % by.len()], lanes);
            results.push(self.b().binary(BinaryOp::Div, sum, by));
        }
        Ok(results)
    }
}
