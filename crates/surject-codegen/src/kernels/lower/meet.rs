//! Threads and warps of a block that share reductions: how they stand, and how they meet.

use super::super::contraction::WARP;
use super::super::schedule::AxisKind;
use super::{Lowered, Lowering, joined_in};
use crate::CodegenError;
use crate::expression::dag::{Node, NodeId};
use surject_ir::{BinaryOp, DType, Scalar};
use surject_kernel::{Affine, Level, LoopKind, Op, Place, Source, Space, Type, Value};

impl Lowering<'_> {
    /// Opens the loops over warps and threads, and before them makes the memory in which they join what they reduce.
    pub(super) fn open_agents(&mut self) {
        let resolved = self.resolved;
        let mut shared: Vec<(NodeId, i64)> = Vec::new();
        for (&n, axes) in &resolved.reductions {
            let of = |level: Level| axes.iter().find(|a| a.kind == AxisKind::Parallel(level));
            let of_block = of(Level::Thread).filter(|a| a.extent > WARP).map(|a| a.extent / WARP);
            // Every thread of each warp has values of its own.
            let all = resolved.reductions.values().flatten().chain(&resolved.points);
            let lanes =
                all.filter(|a| a.kind == AxisKind::Lanes && self.expression.dag[n].deps.contains(a.of));
            let lanes = lanes.map(|a| a.extent).max().unwrap_or(1);
            let of_warps = of(Level::Warp).map(|a| a.extent * resolved.threads.unwrap_or(1) * lanes);
            shared.extend(of_block.or(of_warps).map(|elements| (n, elements)));
        }
        shared.sort_unstable();
        for (number, (n, elements)) in shared.into_iter().enumerate() {
            if let Node::Reduce { op, .. } = &self.expression.dag[n].node {
                let dtype = joined_in(self.expression.dag[n].dtype, *op);
                let mem = self.b.alloc(format!("part{number}"), dtype, elements, Space::Shared);
                self.shared.insert(n, mem);
            }
        }
        let mut open =
            |count: i64, level: Level| self.b.open_for(0, count, 1, LoopKind::Parallel(level), &[]).0;
        let warp = resolved.warps.map(|warps| open(warps, Level::Warp));
        let thread = resolved.threads.map(|threads| open(threads, Level::Thread));
        (self.warp, self.thread) = (warp, thread);
    }

    /// A barrier where what was joined before in the memory of a reduction may still have to be read.
    fn wait_for_readers(&mut self, id: NodeId) {
        let repeats = |k: &LoopKind| matches!(k, LoopKind::Serial | LoopKind::Unrolled);
        if !self.joined.insert(id) || self.opened.iter().any(repeats) {
            self.b.effect(Op::Barrier(Level::Block));
        }
    }

    /// What all warps have, joined in the order of the warps: each of them gets it, each thread its own.
    pub(super) fn join_warps(&mut self, id: NodeId, join: BinaryOp, own: Value) -> Lowered<Value> {
        let overflow = || CodegenError::overflow("what warps join");
        let missing = || CodegenError::malformed("warps without a place to meet");
        let (Some(warps), Some(threads)) = (self.resolved.warps, self.resolved.threads) else {
            return Err(missing());
        };
        let (Some(&mem), Some(warp), Some(thread)) = (self.shared.get(&id), self.warp, self.thread) else {
            return Err(missing());
        };
        let ty = self.b.ty(own);
        let lanes = ty.lanes as i64;
        let place = |warp: Affine| {
            let number = Affine::from(thread).plus(&warp, threads)?;
            let at = number.times(lanes)?;
            if lanes > 1 { at.plus(&Affine::lane(1), 1) } else { Some(at) }
        };
        self.wait_for_readers(id);
        self.b.store(Place::new(mem, place(warp.into()).ok_or_else(overflow)?), own);
        self.b.effect(Op::Barrier(Level::Block));
        let mut whole: Option<Value> = None;
        for other in 0..warps {
            let next = self.b.load(Place::new(mem, place(other.into()).ok_or_else(overflow)?), ty);
            whole = Some(match whole {
                Some(whole) => self.b.binary(join, whole, next),
                None => next,
            });
        }
        whole.ok_or_else(missing)
    }

    /// What all threads have, joined: each of them gets it. In a warp every step joins twice as many; those of several
    /// warps are joined in shared memory, in the order of the warps.
    pub(super) fn join_threads(
        &mut self,
        id: NodeId,
        join: BinaryOp,
        own: Value,
        threads: i64,
    ) -> Lowered<Value> {
        let (mut whole, mut distance) = (own, 1);
        let ty = self.b.ty(own);
        while distance < threads.min(WARP) {
            let other = Op::Exchange(Source::Xor(distance as usize), whole);
            let other = self.b.statement(other, &[ty])[0];
            whole = self.b.binary(join, whole, other);
            distance *= 2;
        }
        if threads <= WARP {
            return Ok(whole);
        }
        let missing = || CodegenError::malformed("threads without a place to meet");
        let (mem, thread) = (*self.shared.get(&id).ok_or_else(missing)?, self.thread.ok_or_else(missing)?);
        let number = self.b.index(Affine::from(thread), Type::index());
        let [five, last, zero] = [WARP.trailing_zeros() as i64, WARP - 1, 0]
            .map(|n| self.b.splat(Scalar::from_i128(DType::I64, n.into()), 1));
        let warp = self.b.binary(BinaryOp::ShrLogical, number, five);
        let lane = self.b.binary(BinaryOp::And, number, last);
        let first = self.b.binary(BinaryOp::Eq, lane, zero);
        self.wait_for_readers(id);
        self.b.store(Place { offset: Some(warp), mask: Some(first), ..Place::new(mem, 0) }, whole);
        self.b.effect(Op::Barrier(Level::Block));
        let mut sum = self.b.load(Place::new(mem, 0), ty);
        for warp in 1..threads / WARP {
            let next = self.b.load(Place::new(mem, warp), ty);
            sum = self.b.binary(join, sum, next);
        }
        Ok(sum)
    }
}
