//! Chains whose blocks have a tile of scores at a time: sums of products are scaled as the highest score of a row grows.
//!
//! The tiles of columns run in rounds. In the first one are those that a mask leaves something of, or whose values are not
//! finite. In a second one are the others, where the weight of what stands for their scores is not zero in some row; no
//! round where it is −∞, which has no weight. The last round is for blocks with results that are not finite: it
//! makes them again, with the weights that the expression of the rows has ([`softmax`](crate::kernels::chain::softmax)).
//!
//! Tiles of keys are copied while values are multiplied, and tiles of values while scores are summed.

mod threads;
mod warps;

use super::listed::{Flags, for_each_tile, put_in_order};
use super::{Block, Shared, overflow, parameters};
use crate::CodegenError;
use crate::expression::address::LoopId;
use crate::expression::dag::Buf;
use crate::kernels::chain::softmax::Softmax;
use crate::kernels::chain::{Chain, ChainTiles, Phase, RowDigit};
use crate::kernels::contraction::{Bring, Contraction, Share, Tiles, WARP};
use crate::kernels::expression::Expression;
use crate::kernels::lower::contraction::{Agents, Side, SideMemory, padding};
use crate::kernels::lower::{Launch, LowerError, Lowered, Lowering, joined_in};
use crate::kernels::schedule::{Directive, Resolved, Schedule, resolve};
use std::collections::BTreeMap;
use surject_ir::{AccOp, BinaryOp, DType, Scalar, UnaryOp};
use surject_kernel::{Affine, Builder, Guard, Level, Mem, Op, Place, Source, Space, Type, Value};

/// Scores, their sums and what is scaled.
const FLOAT: DType = DType::F32;

/// The kernel of a chain by tiles of scores; with what says which values are finite.
pub(crate) fn lower_online(
    name: &str,
    chain: &Chain,
    tiles: &ChainTiles,
    finite: Option<&Expression>,
) -> Result<Launch, LowerError> {
    let missing = || CodegenError::malformed("a chain without last sums or tiles");
    let softmax = chain.softmax().map_err(CodegenError::malformed)?;
    let of_last = chain.last.as_ref().ok_or_else(missing)?;
    let cut = chain.tiles(tiles).map_err(CodegenError::malformed)?;
    let resolved = |phase: &Phase, tiles: &Tiles| {
        resolve(&phase.expression, &Schedule { directives: vec![Directive::Contract(tiles.clone())] })
    };
    let [first_tiles, last_tiles] = &cut[..] else { return Err(missing().into()) };
    let (first, last) = (resolved(&chain.first, first_tiles)?, resolved(of_last, last_tiles)?);
    let is_cut = chain.columns % tiles.tiles[0][0] != 0;
    let middle = Resolved::form(if is_cut { vec![chain.middle.along] } else { Vec::new() });
    let (Some(of_scores), Some(of_sums)) = (&first.contraction, &last.contraction) else {
        return Err(missing().into());
    };
    if joined_in(of_last.expression.dag[of_sums.parts.sum].dtype, AccOp::Add) != FLOAT {
        return Err(CodegenError::unsupported("sums that are scaled in another type than f32").into());
    }
    let mut b = Builder::new(name);
    let shared = parameters(&mut b, chain, finite);
    let memory = |expression: &Expression| parameters_of(expression, &shared);
    let mut w = Lowering::new(&chain.first.expression, &first, b, memory(&chain.first.expression));
    let digits = open_balanced(&mut w, chain, tiles.rows)?;
    let block = Block { chain, tiles, digits, shared: &shared };
    let idle = || Builder::new("");
    let of_rows = Lowering::new(&chain.middle.expression, &middle, idle(), memory(&chain.middle.expression));
    let of_products = Lowering::new(&of_last.expression, &last, idle(), memory(&of_last.expression));
    let mut online = Online::new(block, softmax, [w, of_rows, of_products], ([of_scores, of_sums], of_last))?;
    online.order = online.order(finite)?;
    let b = match tiles.shares {
        [Share::Thread(first), Share::Thread(last)] => online.by_threads([first, last])?,
        [Share::Warp(rows), Share::Warp(_)] => online.by_warps(rows)?,
        _ => return Err(CodegenError::unsupported("matrix units for one product of a chain alone").into()),
    };
    Ok(Launch { kernel: b.finish(), tensors: shared.tensors })
}

/// The parameters that an expression accesses.
fn parameters_of(expression: &Expression, shared: &Shared) -> BTreeMap<Buf, Mem> {
    let found = expression.memory.iter().map(|(&buf, m)| Some((buf, *shared.parameters.get(&m.0)?)));
    found.flatten().collect()
}

/// Opens the loop over blocks: the digits of the first row of each. Where a mask leaves more of some rows than of others,
/// the last rows come first, and the first ones after half of all, the shortest first: so the blocks that a
/// multiprocessor gets take about as long together as those of any other.
fn open_balanced(w: &mut Lowering<'_>, chain: &Chain, rows: i64) -> Lowered<Vec<Affine>> {
    let missing = || CodegenError::malformed("a chain without rows");
    let (&RowDigit { values: fastest, .. }, others) = chain.digits.split_first().ok_or_else(missing)?;
    let (count, half) = (fastest / rows, fastest / rows / 2);
    let mut sizes = vec![count];
    sizes.extend(others.iter().rev().map(|d| d.values));
    let mut digits = w.open_grid(&sizes)?;
    let mut own = digits.remove(0);
    if chain.is_masked() && count > 1 {
        let place = |at: Option<Affine>| at.ok_or_else(overflow);
        let long = place(Affine::from(count - 1).plus(&own, -1))?;
        let short = place(own.plus(&half.into(), -1))?;
        let (at, half) = (w.number(&own), w.integer(half));
        let is_long = w.b.binary(BinaryOp::Lt, at, half);
        let (long, short) = (w.number(&long), w.number(&short));
        own = w.b.select(is_long, long, short).into();
    }
    digits.reverse();
    digits.insert(0, own.times(rows).ok_or_else(overflow)?);
    Ok(digits)
}

/// Which tiles of columns run when.
struct Order {
    /// The numbers of tiles in their order, and how many the first round has; `None`: all in theirs.
    listed: Option<(Mem, Value)>,
    /// All tiles.
    total: i64,
    /// What stands for the scores of tiles that are not in the first round, where it may have a weight.
    fill: Option<Scalar>,
}

impl Order {
    /// The rounds: the last one is for results that are not finite.
    fn rounds(&self) -> i64 {
        if self.fill.is_some() { 3 } else { 2 }
    }
}

/// A chain that is being written. The expressions have the builder by turns; between them it is that of the first.
struct Online<'a> {
    block: Block<'a>,
    softmax: Softmax,
    first: Lowering<'a>,
    middle: Lowering<'a>,
    last: Lowering<'a>,
    of_last: &'a Phase,
    /// The scores, and what is summed of their weights.
    products: [&'a Contraction; 2],
    /// What is multiplied: the first two for scores, the others for the sums.
    queries: Side,
    keys: Side,
    weights: Side,
    values: Side,
    order: Order,
    /// What the warps of a block say.
    said: Mem,
}

/// A loop over rounds.
struct Round {
    number: Value,
    /// The first of its tiles in their order, and how many it has.
    begin: Value,
    count: Value,
    /// Is it the last one (`i1`)?
    is_exact: Value,
}

impl<'a> Online<'a> {
    fn new(
        block: Block<'a>,
        softmax: Softmax,
        [mut first, middle, mut last]: [Lowering<'a>; 3],
        (products, of_last): ([&'a Contraction; 2], &'a Phase),
    ) -> Lowered<Online<'a>> {
        let missing = || CodegenError::malformed("a product without rows");
        let [of_scores, of_sums] = products;
        let (columns, total) = (of_scores.tiles.tile[1], block.chain.columns);
        block.place_rows(&mut first, &block.chain.first, &0.into())?;
        block.place_rows(&mut last, of_last, &0.into())?;
        let row = first.places.get(&block.chain.first.row).cloned().ok_or_else(missing)?;
        let last_row = last.places.get(&of_last.row).cloned().ok_or_else(missing)?;
        let side =
            |c: &Contraction, number: usize, SideMemory { mem, pitch, .. }: SideMemory, first: Affine| {
                let node = [c.parts.left, c.parts.right][number];
                Side {
                    node,
                    mem,
                    own: c.loops[number],
                    first,
                    group: Vec::new(),
                    how: c.bring[number],
                    pitch,
                    stage: 0,
                }
            };
        let memory = [0, 1].map(|number| first.memory_of_side(of_scores, number, 1));
        let [of_queries, of_keys] = memory;
        let queries = side(of_scores, 0, of_queries, row);
        let keys = side(of_scores, 1, of_keys, 0.into());
        std::mem::swap(&mut first.b, &mut last.b);
        let of_values = last.memory_of_side(of_sums, 1, 1);
        let values = side(of_sums, 1, of_values, 0.into());
        let dtype = last.expression.dag[of_sums.parts.left].dtype;
        let pitch = columns + padding(dtype);
        let mem = last.b.alloc("weights", dtype, block.tiles.rows * pitch, Space::Shared);
        let warps = of_scores.tiles.warps();
        let said = last.b.alloc("said", DType::I64, warps, Space::Shared);
        std::mem::swap(&mut first.b, &mut last.b);
        let how = Bring { by_terms: true, ..of_sums.bring[0] };
        let weights = Side { how, ..side(of_sums, 0, SideMemory { mem, pitch, stage: 0 }, last_row) };
        let order = Order { listed: None, total: (total + columns - 1) / columns, fill: None };
        Ok(Online {
            block,
            softmax,
            first,
            middle,
            last,
            of_last,
            products,
            queries,
            keys,
            weights,
            values,
            order,
            said,
        })
    }

    fn in_middle<R>(&mut self, f: impl FnOnce(&mut Lowering<'a>, &Block<'a>) -> Lowered<R>) -> Lowered<R> {
        std::mem::swap(&mut self.first.b, &mut self.middle.b);
        let result = f(&mut self.middle, &self.block);
        std::mem::swap(&mut self.first.b, &mut self.middle.b);
        result
    }

    fn in_last<R>(&mut self, f: impl FnOnce(&mut Lowering<'a>) -> Lowered<R>) -> Lowered<R> {
        std::mem::swap(&mut self.first.b, &mut self.last.b);
        let result = f(&mut self.last);
        std::mem::swap(&mut self.first.b, &mut self.last.b);
        result
    }

    /// The builder.
    fn b(&mut self) -> &mut Builder {
        &mut self.first.b
    }

    fn float(&mut self, value: f64) -> Value {
        self.b().splat(Scalar::from_f64(FLOAT, value), 1)
    }

    /// Which tiles run when: those of which a score is needed or a value is not finite before the others, where anything
    /// can be left out.
    fn order(&mut self, finite: Option<&Expression>) -> Lowered<Order> {
        let all = Order { listed: None, total: self.order.total, fill: None };
        let chain = self.block.chain;
        let (Some(finite), Some(fill), Some(condition)) = (finite, chain.left_out(), &chain.condition) else {
            return Ok(all);
        };
        let [of_scores, of_sums] = self.products;
        let turns = self.last.turns(of_sums)?;
        let flags = Flags::of(&self.last, (self.of_last, of_sums), &turns, (finite, self.block.shared))?;
        let (warps, [rows, columns, _]) = (of_scores.tiles.warps(), of_scores.tiles.tile);
        let (row, first, total) = (chain.first.row, self.queries.first.clone(), all.total);
        let used = self.b().alloc("used", DType::I64, total, Space::Shared);
        for_each_tile(&mut self.first, warps, total, |w, tile, thread| {
            let first_column = tile.times(columns).ok_or_else(overflow)?;
            let rows = (row, &[][..], first, rows);
            let any = w.any_needed(condition, rows, (chain.first.along, columns), (&first_column, thread))?;
            let is_other = flags.is_not_finite(w, &tile)?;
            Ok((used, any, Some(is_other)))
        })?;
        let listed = put_in_order(&mut self.first, (used, total), warps)?;
        let count = self.b().load(Place::new(listed.count, 0), Type::scalar(DType::I64));
        // What is −∞ has no weight in any row that has a finite score, and in the others there are no numbers.
        let fill = (fill.as_f64() > f64::NEG_INFINITY).then_some(fill);
        Ok(Order { listed: Some((listed.numbers, count)), fill, ..all })
    }

    /// How many tiles the first round has.
    fn first_count(&mut self) -> Value {
        match self.order.listed {
            Some((_, count)) => count,
            None => self.first.integer(self.order.total),
        }
    }

    /// The tile at a place of the order, or at its end.
    fn tile(&mut self, at: &Affine) -> Value {
        let (at, last) = (self.first.number(at), self.first.integer(self.order.total - 1));
        let at = self.b().binary(BinaryOp::Min, at, last);
        match self.order.listed {
            Some((numbers, _)) => {
                let place = Place::new(numbers, at);
                self.b().load(place, Type::scalar(DType::I64))
            }
            None => at,
        }
    }

    /// Says which round it is.
    fn round(&mut self, number: Value, begin: Value, count: Value) -> Round {
        let (at, exact) = (self.first.number(&number.into()), self.first.integer(self.order.rounds() - 1));
        let is_exact = self.b().binary(BinaryOp::Eq, at, exact);
        Round { number: at, begin, count, is_exact }
    }

    /// Does a thread find that the next round has tiles? `weighs`: what was left out has a weight in some row. `bad`: a
    /// result is not finite.
    fn found(&mut self, round: &Round, (weighs, bad): (Option<Value>, Value)) -> Value {
        let zero = self.first.integer(0);
        match weighs {
            Some(weighs) => {
                let is_first = self.b().binary(BinaryOp::Eq, round.number, zero);
                self.b().select(is_first, weighs, bad)
            }
            None => bad,
        }
    }

    /// Tells the other warps what any thread of this one finds (`i1`), and waits for them.
    fn say(&mut self, found: Value, agents: &Agents) {
        let (w, said) = (&mut self.first, self.said);
        let own = w.b.convert(found, DType::I32);
        let any = w.any_of_warp(own);
        let any = w.b.convert(any, DType::I64);
        let guards = vec![Guard { expr: agents.thread.into(), bound: 1.into() }];
        w.b.store(Place { guards, ..Place::new(said, agents.warp) }, any);
        w.b.effect(Op::Barrier(Level::Block));
    }

    /// The first tile of the next round and how many it has, as the warps have said; and whether it makes the results
    /// again (`i1`).
    fn next_round(&mut self, round: &Round, may_weigh: bool, warps: i64) -> Lowered<[Value; 3]> {
        let said = self.said;
        let any = self.first.any_element(said, &0.into(), warps)?;
        let [zero, total] = [0, self.order.total].map(|n| self.first.integer(n));
        let (mut begin, mut count) = (zero, total);
        let before = self.first.integer(self.order.rounds() - 2);
        if may_weigh {
            let is_first = self.b().binary(BinaryOp::Eq, round.number, zero);
            let used = self.first_count();
            let rest = Affine::from(total).plus(&used.into(), -1).ok_or_else(overflow)?;
            let rest = self.first.number(&rest);
            begin = self.b().select(is_first, used, zero);
            count = self.b().select(is_first, rest, total);
        }
        let count = self.b().select(any, count, zero);
        let count = self.b().select(round.is_exact, round.count, count);
        let is_before = self.b().binary(BinaryOp::Eq, round.number, before);
        let again = self.b().binary(BinaryOp::And, is_before, any);
        Ok([begin, count, again])
    }

    /// What all threads of a warp have, joined: each of them gets it.
    fn join(&mut self, values: &mut [Value], join: BinaryOp) {
        let mut distance = 1;
        while distance < WARP as usize {
            for value in values.iter_mut() {
                let other = Op::Exchange(Source::Xor(distance), *value);
                let other = self.b().statement(other, &[Type::scalar(FLOAT)])[0];
                *value = self.b().binary(join, *value, other);
            }
            distance *= 2;
        }
    }

    /// Everything under way is there, and all warps are here.
    fn meet(&mut self) {
        self.b().effect(Op::AsyncWait(0));
        self.b().effect(Op::Barrier(Level::Block));
    }

    fn bring_queries(&mut self, agents: &Agents) -> Lowered<()> {
        let (c, side) = (self.products[0], self.queries.clone());
        self.first.bring_tile(c, &side, &0.into(), agents)
    }

    fn bring_keys(&mut self, tile: Value, agents: &Agents) -> Lowered<()> {
        let c = self.products[0];
        let first = Affine::from(tile).times(c.tiles.tile[1]).ok_or_else(overflow)?;
        let side = Side { first, ..self.keys.clone() };
        self.first.bring_tile(c, &side, &0.into(), agents)
    }

    fn bring_values(&mut self, tile: Value, agents: &Agents) -> Lowered<()> {
        let (c, side) = (self.products[1], self.values.clone());
        let first = Affine::from(tile).times(c.tiles.tile[2]).ok_or_else(overflow)?;
        self.in_last(|w| w.bring_tile(c, &side, &first, agents))
    }

    /// What is subtracted from scores: the highest one, or zero where all are −∞, so that they weigh nothing; in the last
    /// round it is what the expression of the rows subtracts.
    fn subtracted(&mut self, highest: Value, is_exact: Value) -> Value {
        let (lowest, zero) = (self.float(f64::NEG_INFINITY), self.float(0.0));
        let b = self.b();
        let is_lowest = b.binary(BinaryOp::Eq, highest, lowest);
        let is_other = b.unary(UnaryOp::Not, is_exact);
        let is_none = b.binary(BinaryOp::And, is_lowest, is_other);
        b.select(is_none, zero, highest)
    }

    /// `exp(x - y)`, in the lanes of the first.
    fn exponential(&mut self, x: Value, y: Value) -> Value {
        let b = self.b();
        let y = b.broadcast(y, b.ty(x).lanes);
        let difference = b.binary(BinaryOp::Sub, x, y);
        b.unary(UnaryOp::Exp, difference)
    }

    /// Does what stands for scores that are thrown away weigh something beside the highest score (`i1`)?
    fn weighs(&mut self, highest: Value) -> Option<Value> {
        let fill = self.order.fill?;
        let fill = self.float(fill.as_f64());
        let (weight, zero) = (self.exponential(fill, highest), self.float(0.0));
        Some(self.b().binary(BinaryOp::Ne, weight, zero))
    }

    /// Is a value zero times whatever it is: is it finite (`false`: `i1`)?
    fn is_bad(&mut self, zeros: Value) -> Value {
        let zero = self.float(0.0);
        self.b().binary(BinaryOp::Ne, zeros, zero)
    }

    /// The weight of scores as the last expression multiplies it.
    fn factor(&mut self, weight: Value) -> Value {
        let middle = &self.block.chain.middle.expression;
        let own = middle.dag[middle.outputs[0].root].dtype;
        let factor = self.last.expression.dag[self.weights.node].dtype;
        let weight = self.b().convert(weight, own);
        self.b().convert(weight, factor)
    }

    /// Says in a lowering where the loop along the columns is, in lanes or not.
    fn set_columns(w: &mut Lowering<'_>, along: LoopId, column: &Affine, lanes: i64) -> Lowered<()> {
        if lanes > 1 {
            w.lanes = Some((along, lanes as usize));
            w.set(along, column.plus(&Affine::lane(1), 1).ok_or_else(overflow)?);
        } else {
            w.lanes = None;
            w.set(along, column.clone());
        }
        Ok(())
    }

    /// The scores of a row of the block from a column on, of what was summed there; −∞ beyond the last column.
    fn score(&mut self, sum: Value, row: &Affine, (column, lanes): (&Affine, i64)) -> Lowered<Value> {
        let (softmax, along) = (self.softmax, self.block.chain.middle.along);
        let lowest = self.float(f64::NEG_INFINITY);
        self.in_middle(|m, block| {
            let (depth, outside) = (m.frames.len(), m.lanes);
            block.place_rows(m, &block.chain.middle, row)?;
            Online::set_columns(m, along, column, lanes)?;
            if let Some(frame) = m.frames.last_mut() {
                frame.values.insert(softmax.load, sum);
            }
            let mut score = m.operand(softmax.score, lanes as usize)?;
            let guards = m.cut(std::iter::once(along).collect())?;
            if !guards.is_empty() {
                let exists = m.b.holds(guards, lanes as usize);
                let none = m.b.broadcast(lowest, lanes as usize);
                score = m.b.select(exists, score, none);
            }
            m.frames.truncate(depth);
            m.lanes = outside;
            Ok(score)
        })
    }

    /// What was summed as the first expression has it, of a row of the block from a column on.
    fn stored_score(&mut self, sum: Value, row: &Affine, (column, lanes): (&Affine, i64)) -> Lowered<Value> {
        let c = self.products[0];
        let (w, queries) = (&mut self.first, &self.queries);
        let (depth, outside) = (w.frames.len(), w.lanes);
        w.set_own(queries, queries.first.plus(row, 1).ok_or_else(overflow)?);
        Online::set_columns(w, c.loops[1], column, lanes)?;
        let sum = w.b.convert(sum, w.expression.dag[c.parts.sum].dtype);
        if let Some(frame) = w.frames.last_mut() {
            frame.values.insert(c.parts.sum, sum);
        }
        let score = w.operand(w.expression.outputs[0].root, lanes as usize)?;
        w.frames.truncate(depth);
        w.lanes = outside;
        Ok(score)
    }
}
