//! Scans whose lines run in order.

use super::super::contraction::WARP;
use super::super::running::{RunningScan, Scanners};
use super::tasks::Tasks;
use super::{Lowered, Lowering, joined_in};
use crate::CodegenError;
use crate::expression::address::{Lin, LoopId};
use crate::expression::compose::joining;
use surject_ir::{BinaryOp, DType};
use surject_kernel::{Affine, Guard, Level, LoopKind, Op, Place, Source, Space, Type, Value};

/// Steps up to so many are written out, so that loads do not wait for the steps before them.
const WRITTEN_OUT: i64 = 32;

fn overflow() -> CodegenError {
    CodegenError::overflow("a scan")
}

impl Lowering<'_> {
    /// The kernel of a scan.
    pub(super) fn running(&mut self, scan: &RunningScan) -> Lowered<()> {
        match (scan.running.by, scan.across) {
            (Scanners::Threads { threads, each }, Some(across)) => {
                self.lines_of_threads(scan, across, threads, each)
            }
            (Scanners::Threads { threads, each }, None) => self.line_of_a_block(scan, threads, each),
            (Scanners::Lanes { lanes, lines }, Some(across)) => {
                self.lines_of_lanes(scan, across, lanes, lines)
            }
            (Scanners::Lanes { lanes, lines }, None) => self.line_in_lanes(scan, lanes, lines),
        }
    }

    /// The type in which terms are joined, and how.
    fn joint(&self, scan: &RunningScan) -> Lowered<(DType, BinaryOp)> {
        Ok((joined_in(self.expression.dag[scan.scan.node].dtype, scan.scan.op), joining(scan.scan.op)?))
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
    fn store_scanned(&mut self, scan: &RunningScan, value: Value) -> Lowered<()> {
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
        self.lines_across(scan, across, (first, lanes))?;
        (0..2).for_each(|_| _ = self.b.close_for(&[]));
        Ok(())
    }

    /// Lanes are neighbours along another loop; each has lines of its own.
    fn lines_of_lanes(&mut self, scan: &RunningScan, across: LoopId, lanes: i64, lines: i64) -> Lowered<()> {
        let parts = (self.expression.dag.extent(across) + lanes - 1) / lanes;
        let (tasks, part) = self.open_tasks_of_lines(&[scan.scan.along, across], parts, lines)?;
        self.lines_across(scan, across, (part.times(lanes).ok_or_else(overflow)?, lanes))?;
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

    /// Each line is scanned a vector after the other.
    fn line_in_lanes(&mut self, scan: &RunningScan, lanes: i64, lines: i64) -> Lowered<()> {
        let (joined, join) = self.joint(scan)?;
        let (along, extent) = (scan.scan.along, self.expression.dag.extent(scan.scan.along));
        let (tasks, _) = self.open_tasks_of_lines(&[along], 1, lines)?;
        let neutral = self.b.splat(scan.scan.op.neutral(joined), lanes as usize);
        let (vectors, outside) = (extent / lanes, self.outside());
        let mut before = neutral;
        if vectors > 0 {
            let (number, carried) = self.b.open_for(0, vectors, 1, LoopKind::Serial, &[before]);
            self.whole = self.whole.union(std::iter::once(along).collect());
            let first = Affine::from(number).times(lanes).ok_or_else(overflow)?;
            let next = self.vector_of_line(scan, (first, lanes), (join, carried[0]))?;
            before = self.b.close_for(&[next])[0];
            self.return_to(&outside);
        }
        if extent % lanes > 0 {
            let first = Affine::from(vectors * lanes);
            self.vector_of_line(scan, (first, lanes), (join, before))?;
            self.return_to(&outside);
        }
        self.close_tasks(tasks);
        Ok(())
    }

    /// A vector of a line: joins what comes before it, in every lane, and stores; gives what comes before the next one.
    fn vector_of_line(
        &mut self,
        scan: &RunningScan,
        (first, lanes): (Affine, i64),
        (join, before): (BinaryOp, Value),
    ) -> Lowered<Value> {
        let (joined, _) = self.joint(scan)?;
        let (along, ty) = (scan.scan.along, Type::vector(joined, lanes as usize));
        let neutral = self.b.splat(scan.scan.op.neutral(joined), lanes as usize);
        let lane = if lanes == 1 { Affine::from(0) } else { Affine::lane(1) };
        self.lanes = (lanes > 1).then_some((along, lanes as usize));
        let at = self.at_distance(scan, first.plus(&lane, 1).ok_or_else(overflow)?)?;
        self.set(along, at);
        let terms = self.operand(scan.scan.step, lanes as usize)?;
        let mut own = self.b.convert(terms, joined);
        let guards = self.cut(std::iter::once(along).collect())?;
        if !guards.is_empty() {
            let exist = self.b.holds(guards, lanes as usize);
            own = self.b.select(exist, own, neutral);
        }
        // Each lane joins those before it, of which there are twice as many after every step.
        let size = lanes as usize;
        let mut distance = 1;
        while distance < size {
            let order = (0..size).map(|l| if l < distance { l } else { size + l - distance }).collect();
            let earlier = self.b.pure(Op::Shuffle(neutral, own, order), ty);
            own = self.b.binary(join, earlier, own);
            distance *= 2;
        }
        let value = self.b.binary(join, before, own);
        let last = if size == 1 { own } else { self.b.pure(Op::Shuffle(own, own, vec![size - 1; size]), ty) };
        let next = self.b.binary(join, before, last);
        self.store_scanned(scan, value)?;
        Ok(next)
    }

    /// Lines that are neighbours along another loop from one on, each in a lane.
    fn lines_across(
        &mut self,
        scan: &RunningScan,
        across: LoopId,
        (first, lanes): (Affine, i64),
    ) -> Lowered<()> {
        let (joined, join) = self.joint(scan)?;
        let (along, extent) = (scan.scan.along, self.expression.dag.extent(scan.scan.along));
        if lanes > 1 {
            self.lanes = Some((across, lanes as usize));
            self.set(across, first.plus(&Affine::lane(1), 1).ok_or_else(overflow)?);
        } else {
            self.set(across, first);
        }
        let none = self.b.splat(scan.scan.op.neutral(joined), lanes as usize);
        let kind = if extent <= WRITTEN_OUT { LoopKind::Unrolled } else { LoopKind::Serial };
        let (step, carried) = self.b.open_for(0, extent, 1, kind, &[none]);
        let at = self.at_distance(scan, step.into())?;
        self.set(along, at);
        let term = self.operand(scan.scan.step, lanes as usize)?;
        let term = self.b.convert(term, joined);
        let next = self.b.binary(join, carried[0], term);
        self.store_scanned(scan, next)?;
        self.b.close_for(&[next]);
        Ok(())
    }

    /// The threads of a block share a line.
    fn line_of_a_block(&mut self, scan: &RunningScan, threads: i64, each: i64) -> Lowered<()> {
        let (joined, join) = self.joint(scan)?;
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
        self.store_scanned(scan, value)?;
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
