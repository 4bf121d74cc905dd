//! Scans whose lines run in order.

use super::super::contraction::WARP;
use super::super::running::{LineScan, RunningScan, Scanners};
use super::keys::Keys;
use super::tasks::Tasks;
use super::{Lowered, Lowering, joined_in};
use crate::CodegenError;
use crate::expression::address::{Lin, LoopId};
use crate::expression::compose::joining;
use surject_ir::{BinaryOp, DType, Scalar};
use surject_kernel::{Affine, Builder, Guard, Level, LoopKind, Op, Place, Source, Space, Type, Value};

/// Steps up to so many are written out, so that loads do not wait for the steps before them.
const WRITTEN_OUT: i64 = 32;

fn overflow() -> CodegenError {
    CodegenError::overflow("a scan")
}

/// How terms are joined.
#[derive(Clone, Copy)]
struct Join {
    op: BinaryOp,
    /// The type in which terms are joined, but for keys.
    dtype: DType,
    /// What is joined before the first term.
    neutral: Scalar,
    /// The integers as which floats are compared.
    keys: Option<Keys>,
}

impl Join {
    fn of(scan: &RunningScan, keys: bool) -> Lowered<Join> {
        let op = scan.scan.op;
        let dtype = joined_in(scan.expression.dag[scan.scan.node].dtype, op);
        let keys = Keys::of(op, dtype).filter(|_| keys);
        let neutral = keys.map_or_else(|| op.neutral(dtype), Keys::neutral);
        Ok(Join { op: joining(op)?, dtype, neutral, keys })
    }

    /// A term as it is joined.
    fn term(&self, b: &mut Builder, term: Value) -> Value {
        let term = b.convert(term, self.dtype);
        self.keys.map_or(term, |keys| keys.key(b, term))
    }

    /// The value of what is joined.
    fn value(&self, b: &mut Builder, joined: Value) -> Value {
        self.keys.map_or(joined, |keys| keys.value(b, joined))
    }
}

/// What comes before a step of a line.
#[derive(Clone, Copy)]
struct Before {
    /// The blocks before, if the line has several.
    blocks: Option<Value>,
    /// The steps before in the same block.
    own: Value,
}

impl Before {
    /// With what comes before its block.
    fn all(&self, b: &mut Builder, join: &Join, own: Value) -> Value {
        self.blocks.map_or(own, |blocks| b.binary(join.op, blocks, own))
    }
}

impl Lowering<'_> {
    /// The kernel of a scan.
    pub(super) fn running(&mut self, scan: &RunningScan) -> Lowered<()> {
        match (scan.running.by, scan.across) {
            (Scanners::Threads { threads, each }, Some(across)) => {
                self.lines_of_threads(scan, across, threads, each)
            }
            (Scanners::Threads { threads, each }, None) => self.line_of_a_block(scan, threads, each),
            (Scanners::Lanes(lines), Some(across)) => self.lines_of_lanes(scan, across, lines),
            (Scanners::Lanes(lines), None) => self.lines_in_lanes(scan, lines),
        }
    }

    /// The iteration of the loop along a line at a distance from where it begins.
    fn at_distance(&self, scan: &RunningScan, distance: Affine) -> Lowered<Affine> {
        if !scan.scan.backwards {
            return Ok(distance);
        }
        let last = self.expression.dag.extent(scan.scan.along) - 1;
        Affine::from(last).plus(&distance, -1).ok_or_else(overflow)
    }

    /// Opens the blocks, as many as the loops beside these have iterations and, behind them, so many parts: the part.
    fn open_lines(&mut self, beside: &[LoopId], parts: i64) -> Lowered<Affine> {
        let expression = self.expression;
        let others: Vec<LoopId> = expression.loops.iter().copied().filter(|l| !beside.contains(l)).collect();
        let mut sizes: Vec<i64> = others.iter().map(|&l| expression.dag.extent(l)).collect();
        sizes.push(parts);
        let mut digits = self.open_grid(&sizes)?;
        let part = digits.pop().unwrap_or_default();
        others.into_iter().zip(digits).for_each(|(l, digit)| self.set(l, digit));
        Ok(part)
    }

    /// Stores the results here, where the scan has this value.
    fn store_scanned(&mut self, scan: &RunningScan, join: &Join, value: Value) -> Lowered<()> {
        let value = join.value(&mut self.b, value);
        let value = self.b.convert(value, self.expression.dag[scan.scan.node].dtype);
        if let Some(frame) = self.frames.last_mut() {
            frame.values.insert(scan.scan.node, value);
        }
        self.store()
    }

    /// Threads are neighbours along another loop; each has lines of its own.
    fn lines_of_threads(
        &mut self,
        scan: &RunningScan,
        across: LoopId,
        threads: i64,
        lanes: i64,
    ) -> Lowered<()> {
        let along = scan.scan.along;
        let parts = (self.expression.dag.extent(across) + threads * lanes - 1) / (threads * lanes);
        let part = self.open_lines(&[along, across], parts)?;
        let (thread, _) = self.b.open_for(0, threads, 1, LoopKind::Parallel(Level::Thread), &[]);
        let first =
            Affine::from(thread).plus(&part, threads).and_then(|t| t.times(lanes)).ok_or_else(overflow)?;
        self.lines_across(scan, (across, first), LineScan { lanes, lines: 1, block: None, keys: false })?;
        (0..2).for_each(|_| _ = self.b.close_for(&[]));
        Ok(())
    }

    /// Lanes are neighbours along another loop; each has lines of its own. The last vector is as short as what is left.
    fn lines_of_lanes(&mut self, scan: &RunningScan, across: LoopId, line: LineScan) -> Lowered<()> {
        let (lanes, extent) = (line.lanes, self.expression.dag.extent(across));
        let (whole, left) = (extent / lanes, extent % lanes);
        let parts = whole + i64::from(left > 0);
        let (tasks, part) = self.open_tasks_of_lines(&[scan.scan.along, across], parts, line.lines)?;
        let is_whole = (whole > 0 && left > 0).then(|| {
            let guard = Guard { expr: part.clone(), bound: whole.into() };
            self.b.holds(vec![guard], 1)
        });
        let outside = self.outside();
        if let Some(is_whole) = is_whole {
            self.b.open_if(is_whole);
        }
        if whole > 0 {
            self.whole = self.whole.union(std::iter::once(across).collect());
            let first = part.times(lanes).ok_or_else(overflow)?;
            self.lines_across(scan, (across, first), line)?;
            self.return_to(&outside);
        }
        if is_whole.is_some() {
            self.b.open_else(&[]);
        }
        if left > 0 {
            let short = (left as u64).next_power_of_two() as i64;
            let lanes = short.min(lanes);
            if lanes == left {
                self.whole = self.whole.union(std::iter::once(across).collect());
            }
            let first = Affine::from(whole * line.lanes);
            self.lines_across(scan, (across, first), LineScan { lanes, ..line })?;
            self.return_to(&outside);
        }
        if is_whole.is_some() {
            self.b.close_if(&[]);
        }
        self.close_tasks(tasks);
        Ok(())
    }

    /// Opens tasks of so many lines of the loops beside these and, behind them, of parts: the part.
    fn open_tasks_of_lines(&mut self, beside: &[LoopId], parts: i64, lines: i64) -> Lowered<(Tasks, Affine)> {
        let expression = self.expression;
        let others: Vec<LoopId> = expression.loops.iter().copied().filter(|l| !beside.contains(l)).collect();
        let mut sizes: Vec<i64> = others.iter().map(|&l| expression.dag.extent(l)).collect();
        sizes.push(parts);
        let mut tasks = self.open_tasks(&sizes, lines)?;
        let part = tasks.digits.pop().unwrap_or_default();
        others.into_iter().zip(tasks.digits.clone()).for_each(|(l, digit)| self.set(l, digit));
        Ok((tasks, part))
    }

    /// The steps of a line, in order, each begun with what comes before it; what comes behind the last one.
    fn steps(
        &mut self,
        join: &Join,
        (count, block): (i64, Option<i64>),
        before: Value,
        step: &mut dyn FnMut(&mut Self, Affine, Before) -> Lowered<Value>,
    ) -> Lowered<Value> {
        let outside = self.outside();
        let Some(block) = block.filter(|&block| block < count) else {
            if count == 1 {
                let next = step(self, 0.into(), Before { blocks: None, own: before })?;
                self.return_to(&outside);
                return Ok(next);
            }
            let kind = if count <= WRITTEN_OUT { LoopKind::Unrolled } else { LoopKind::Serial };
            let (number, own) = self.b.open_for(0, count, 1, kind, &[before]);
            let next = step(self, number.into(), Before { blocks: None, own: own[0] })?;
            self.return_to(&outside);
            return Ok(self.b.close_for(&[next])[0]);
        };
        let neutral = self.b.splat(join.neutral, self.b.ty(before).lanes);
        let blocks = (count - 1) / block + 1;
        let (of, all) = self.b.open_for(0, blocks, 1, LoopKind::Serial, &[before]);
        let first = Affine::from(of).times(block).ok_or_else(overflow)?;
        let size = match count % block {
            0 => block.into(),
            _ => self.at_most(block, (&first, count))?,
        };
        let (number, own) = self.b.open_for(0, size, 1, LoopKind::Serial, &[neutral]);
        let number = first.plus(&number.into(), 1).ok_or_else(overflow)?;
        let next = step(self, number, Before { blocks: Some(all[0]), own: own[0] })?;
        self.return_to(&outside);
        let own = self.b.close_for(&[next])[0];
        let next = self.b.binary(join.op, all[0], own);
        Ok(self.b.close_for(&[next])[0])
    }

    /// Each line is scanned a vector after the other. Lanes are in the order of memory.
    fn lines_in_lanes(&mut self, scan: &RunningScan, line: LineScan) -> Lowered<()> {
        let join = Join::of(scan, line.keys)?;
        let (along, lanes) = (scan.scan.along, line.lanes);
        let extent = self.expression.dag.extent(along);
        let (tasks, _) = self.open_tasks_of_lines(&[along], 1, line.lines)?;
        // The vector that is not whole is where a line ends in memory: a scan ends there, or begins.
        let (vectors, left) = (extent / lanes, extent % lanes);
        let mut parts = [(0, vectors, true), (vectors, i64::from(left > 0), false)];
        if scan.scan.backwards {
            parts.reverse();
        }
        let mut before = self.b.splat(join.neutral, lanes as usize);
        let outside = self.outside();
        for (first, count, whole) in parts.into_iter().filter(|part| part.1 > 0) {
            if whole {
                self.whole = self.whole.union(std::iter::once(along).collect());
            }
            before = self.steps(&join, (count, line.block), before, &mut |this, number, before| {
                let vector = match scan.scan.backwards {
                    false => Affine::from(first).plus(&number, 1),
                    true => Affine::from(first + count - 1).plus(&number, -1),
                };
                let first = vector.and_then(|v| v.times(lanes)).ok_or_else(overflow)?;
                this.vector_of_line(scan, &join, (first, lanes), before)
            })?;
            self.return_to(&outside);
        }
        self.close_tasks(tasks);
        Ok(())
    }

    /// A vector of a line: joins what comes before it, in every lane, and stores; gives what comes before the next one of its
    /// block.
    fn vector_of_line(
        &mut self,
        scan: &RunningScan,
        join: &Join,
        (first, lanes): (Affine, i64),
        before: Before,
    ) -> Lowered<Value> {
        let (along, size) = (scan.scan.along, lanes as usize);
        let lane = if lanes == 1 { Affine::from(0) } else { Affine::lane(1) };
        self.lanes = (lanes > 1).then_some((along, size));
        self.set(along, first.plus(&lane, 1).ok_or_else(overflow)?);
        let terms = self.operand(scan.scan.step, size)?;
        let mut terms = join.term(&mut self.b, terms);
        let guards = self.cut(std::iter::once(along).collect())?;
        if !guards.is_empty() && scan.scan.backwards {
            let exist = self.b.holds(guards, size);
            let neutral = self.b.splat(join.neutral, size);
            terms = self.b.select(exist, terms, neutral);
        }
        let earlier = before.all(&mut self.b, join, before.own);
        let own = self.lanes_scanned(join, terms, scan.scan.backwards);
        let value = self.b.binary(join.op, earlier, own);
        let end = if scan.scan.backwards { 0 } else { size - 1 };
        let ty = self.b.ty(own);
        let last = if size == 1 { own } else { self.b.pure(Op::Shuffle(own, own, vec![end; size]), ty) };
        let next = self.b.binary(join.op, before.own, last);
        self.store_scanned(scan, join, value)?;
        Ok(next)
    }

    /// The scan of the lanes of a vector, from the first one or from the last.
    fn lanes_scanned(&mut self, join: &Join, vector: Value, backwards: bool) -> Value {
        let ty = self.b.ty(vector);
        let (lanes, neutral) = (ty.lanes, self.b.splat(join.neutral, ty.lanes));
        let place = |lane: usize| if backwards { lanes - 1 - lane } else { lane };
        let mut own = vector;
        for by in (0..lanes.ilog2()).map(|bit| 1usize << bit) {
            // The second half of every block of twice as many lanes joins what the first half has: the first steps stay inside
            // of 128 bits, where lanes move in less time.
            let before = |lane: usize| (lane & by != 0).then(|| place((lane & !(by - 1)) - 1));
            let from = |lane: usize| before(place(lane)).unwrap_or(lanes + lane);
            let moved = self.b.pure(Op::Shuffle(own, neutral, (0..lanes).map(from).collect()), ty);
            own = self.b.binary(join.op, moved, own);
        }
        own
    }

    /// Lines that are neighbours along another loop from one on, each in a lane.
    fn lines_across(
        &mut self,
        scan: &RunningScan,
        (across, first): (LoopId, Affine),
        line: LineScan,
    ) -> Lowered<()> {
        let (join, lanes) = (Join::of(scan, line.keys)?, line.lanes as usize);
        let (along, extent) = (scan.scan.along, self.expression.dag.extent(scan.scan.along));
        if lanes > 1 {
            self.lanes = Some((across, lanes));
            self.set(across, first.plus(&Affine::lane(1), 1).ok_or_else(overflow)?);
        } else {
            self.set(across, first);
        }
        let none = self.b.splat(join.neutral, lanes);
        self.steps(&join, (extent, line.block), none, &mut |this, number, before| {
            let at = this.at_distance(scan, number)?;
            this.set(along, at);
            let term = this.operand(scan.scan.step, lanes)?;
            let term = join.term(&mut this.b, term);
            let next = this.b.binary(join.op, before.own, term);
            let value = before.all(&mut this.b, &join, next);
            this.store_scanned(scan, &join, value)?;
            Ok(next)
        })?;
        Ok(())
    }

    /// The threads of a block share a line.
    fn line_of_a_block(&mut self, scan: &RunningScan, threads: i64, each: i64) -> Lowered<()> {
        let how = Join::of(scan, false)?;
        let (joined, join) = (how.dtype, how.op);
        let (ty, none) = (Type::scalar(joined), self.b.splat(scan.scan.op.neutral(joined), 1));
        let along = scan.scan.along;
        let warps = threads / WARP;
        self.open_lines(&[along], 1)?;
        let sums = self.b.alloc("sums", joined, warps, Space::Shared);
        let (warp, _) = self.b.open_for(0, warps, 1, LoopKind::Parallel(Level::Warp), &[]);
        let (thread, _) = self.b.open_for(0, WARP, 1, LoopKind::Parallel(Level::Thread), &[]);
        let number = Affine::from(thread).plus(&warp.into(), WARP).ok_or_else(overflow)?;
        let lanes = each as usize;
        let first = number.times(each).ok_or_else(overflow)?;
        let distance = match each {
            1 => first,
            _ => first.plus(&Affine::lane(1), 1).ok_or_else(overflow)?,
        };
        self.lanes = (each > 1).then_some((along, lanes));
        let at = self.at_distance(scan, distance)?;
        self.set(along, at);
        let terms = self.operand(scan.scan.step, lanes)?;
        let mut terms = self.b.convert(terms, joined);
        if !scan.cut().is_empty() {
            let bound = self.expression.dag.extent(along).into();
            let exist = self.b.holds(vec![Guard { expr: self.affine(&Lin::var(along))?, bound }], lanes);
            let others = self.b.broadcast(none, lanes);
            terms = self.b.select(exist, terms, others);
        }
        // What a thread has of its own, up to each of its elements.
        let (mut own, mut whole) = (terms, none);
        for lane in 0..lanes {
            let term = if lanes == 1 { terms } else { self.b.pure(Op::Extract(terms, lane), ty) };
            whole = if lane == 0 { term } else { self.b.binary(join, whole, term) };
            own = match lanes {
                1 => whole,
                _ => self.b.pure(Op::Insert(own, lane, whole), Type::vector(joined, lanes)),
            };
        }
        // That of the threads of a warp, and what comes before each.
        let mut distance = 1;
        while distance < WARP {
            let other = self.b.statement(Op::Exchange(Source::Up(distance as usize), whole), &[ty])[0];
            let next = self.b.binary(join, other, whole);
            whole = self.from(thread, distance, next, whole)?;
            distance *= 2;
        }
        let before = self.b.statement(Op::Exchange(Source::Up(1), whole), &[ty])[0];
        let mut before = self.from(thread, 1, before, none)?;
        // That of the warps before.
        if warps > 1 {
            let last = self.b.holds(vec![at_least(thread, WARP - 1)?], 1);
            self.b.open_if(last);
            self.b.store(Place::new(sums, warp), whole);
            self.b.close_if(&[]);
            self.b.effect(Op::Barrier(Level::Block));
            let mut earlier = none;
            for other in 0..warps - 1 {
                let sum = self.b.load(Place::new(sums, other), ty);
                let next = self.b.binary(join, earlier, sum);
                earlier = self.from(warp, other + 1, next, earlier)?;
            }
            before = self.b.binary(join, earlier, before);
        }
        let before = self.b.broadcast(before, lanes);
        let value = self.b.binary(join, before, own);
        self.store_scanned(scan, &how, value)?;
        (0..3).for_each(|_| _ = self.b.close_for(&[]));
        Ok(())
    }

    /// The first value for agents from a number on, and the other one for those below it.
    fn from(&mut self, agent: Value, least: i64, value: Value, other: Value) -> Lowered<Value> {
        let holds = self.b.holds(vec![at_least(agent, least)?], 1);
        Ok(self.b.select(holds, value, other))
    }
}

/// Is an agent at least the one of this number? There are no more than 32.
fn at_least(agent: Value, number: i64) -> Lowered<Guard> {
    let expr = Affine::from(agent).plus(&Affine::from(number), -1).ok_or_else(overflow)?;
    Ok(Guard { expr, bound: WARP.into() })
}
