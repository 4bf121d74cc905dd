//! Tiles on their way into shared memory: by registers of threads, or copied in the background.

use super::{Agents, Contraction, Lowered, Lowering, Side, WARP, overflow};
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Node, NodeId};
use surject_ir::{BinaryOp, DType, Scalar};
use surject_kernel::{Affine, Guard, Op, Place, Type, Value};

/// What a thread brings at once: its row or column and its term in the tile, the first of them where there are several.
struct Slot {
    own: Affine,
    term: Affine,
}

impl Lowering<'_> {
    /// Copies a tile in the background where it can be copied as it is, else brings it by way of registers.
    pub(in crate::kernels::lower) fn bring_tile(
        &mut self,
        c: &Contraction,
        side: &Side,
        first: &Affine,
        agents: &Agents,
    ) -> Lowered<()> {
        let depth = self.frames.len();
        if self.expression.copies_side(c, side.node, side.how) {
            self.copy(side, (c.loops[2], first), &0.into(), agents)?;
            self.b.effect(Op::AsyncCommit);
        } else {
            let values = self.fetch(side, (c.loops[2], first), c.tiles.tile[2], agents)?;
            self.put(side, &values, &0.into(), agents)?;
        }
        self.frames.truncate(depth);
        Ok(())
    }

    /// What a thread brings of a tile.
    fn slots(&mut self, side: &Side, agents: &Agents) -> Lowered<Vec<Slot>> {
        let how = side.how;
        let across = WARP / how.along;
        let (along_thread, across_thread) = match how.along {
            WARP => (Affine::from(agents.thread), Affine::from(0)),
            _ => {
                let last = self.integer(how.along - 1);
                let bits = self.integer(i64::from(how.along.trailing_zeros()));
                let along = self.b.binary(BinaryOp::And, agents.thread, last);
                (along.into(), self.b.binary(BinaryOp::ShrLogical, agents.thread, bits).into())
            }
        };
        let mut slots = Vec::new();
        for s in 0..how.across_steps {
            for t in 0..how.along_steps {
                let warp = Affine::from(agents.warp).plus(&Affine::from(s * agents.warps), 1);
                let other = warp.and_then(|w| across_thread.plus(&w, across)).ok_or_else(overflow)?;
                let next = along_thread.plus(&Affine::from(t * how.along), 1);
                let next = next.and_then(|n| n.times(how.lanes)).ok_or_else(overflow)?;
                let (own, term) = if how.by_terms { (other, next) } else { (next, other) };
                slots.push(Slot { own, term });
            }
        }
        Ok(slots)
    }

    /// A slot with its lanes.
    fn lanes_of_slot(&self, side: &Side, slot: &Slot) -> Lowered<Slot> {
        let lane = |at: &Affine, has: bool| match has && side.how.lanes > 1 {
            true => at.plus(&Affine::lane(1), 1).ok_or_else(overflow),
            false => Ok(at.clone()),
        };
        Ok(Slot { own: lane(&slot.own, !side.how.by_terms)?, term: lane(&slot.term, side.how.by_terms)? })
    }

    /// Loads what a thread brings: terms of the loop `k` from the first on.
    pub(in crate::kernels::lower) fn fetch(
        &mut self,
        side: &Side,
        (k, first): (LoopId, &Affine),
        terms: i64,
        agents: &Agents,
    ) -> Lowered<Vec<Value>> {
        let dag = &self.expression.dag;
        let (dtype, total, lanes) = (dag[side.node].dtype, dag.extent(k), side.how.lanes);
        let mut values = Vec::new();
        for slot in self.slots(side, agents)? {
            let (depth, outside) = (self.frames.len(), self.lanes);
            let slot = self.lanes_of_slot(side, &slot)?;
            if lanes > 1 {
                self.lanes = Some((if side.how.by_terms { k } else { side.own }, lanes as usize));
            }
            self.set_own(side, side.first.plus(&slot.own, 1).ok_or_else(overflow)?);
            self.set(k, first.plus(&slot.term, 1).ok_or_else(overflow)?);
            let value = self.value(side.node)?;
            let mut value = self.b.broadcast(value, lanes as usize);
            if total % terms != 0 && !self.is_zero_beyond(side.node, k) {
                // Terms that do not exist are zero on both sides.
                let guard = Guard { expr: self.affine(&Lin::var(k))?, bound: total.into() };
                let exists = self.b.holds(vec![guard], lanes as usize);
                let zero = self.b.splat(Scalar::zero(dtype), lanes as usize);
                value = self.b.select(exists, value, zero);
            }
            values.push(value);
            self.frames.truncate(depth);
            self.lanes = outside;
        }
        Ok(values)
    }

    /// Is a value zero where a loop is beyond its end: a load, which has no element there?
    fn is_zero_beyond(&self, node: NodeId, k: LoopId) -> bool {
        let data = &self.expression.dag[node];
        match data.node {
            Node::Load { .. } => data.deps.contains(k) && self.resolved.cut.contains(&k),
            Node::Convert(x) => self.is_zero_beyond(x, k),
            _ => false,
        }
    }

    /// Stores in a stage what was loaded.
    pub(in crate::kernels::lower) fn put(
        &mut self,
        side: &Side,
        values: &[Value],
        stage: &Affine,
        agents: &Agents,
    ) -> Lowered<()> {
        for (slot, &value) in self.slots(side, agents)?.iter().zip(values) {
            let slot = self.lanes_of_slot(side, slot)?;
            let to = side.element(&slot.own, &slot.term, stage).ok_or_else(overflow)?;
            self.b.store(Place::new(side.mem, to), value);
        }
        Ok(())
    }

    /// Copies a tile into a stage in the background.
    pub(in crate::kernels::lower) fn copy(
        &mut self,
        side: &Side,
        (k, first): (LoopId, &Affine),
        stage: &Affine,
        agents: &Agents,
    ) -> Lowered<()> {
        let dag = &self.expression.dag;
        let Node::Load { buf, address, guards } = &dag[side.node].node else {
            return Err(crate::CodegenError::malformed("a copy of what is computed"));
        };
        for slot in self.slots(side, agents)? {
            let depth = self.frames.len();
            self.set_own(side, side.first.plus(&slot.own, 1).ok_or_else(overflow)?);
            self.set(k, first.plus(&slot.term, 1).ok_or_else(overflow)?);
            let from = self.place(*buf, address, guards, dag[side.node].deps)?;
            let to = side.element(&slot.own, &slot.term, stage).ok_or_else(overflow)?;
            let to = Place::new(side.mem, to);
            self.b.effect(Op::AsyncCopy { from, to, elements: side.how.lanes as usize });
            self.frames.truncate(depth);
        }
        Ok(())
    }

    /// Loads elements of a tile that lie next to each other, as scalars.
    pub(super) fn neighbours(
        &mut self,
        side: &Side,
        at: Affine,
        dtype: DType,
        count: i64,
    ) -> Lowered<Vec<Value>> {
        let at = if count > 1 { at.plus(&Affine::lane(1), 1).ok_or_else(overflow)? } else { at };
        let all = self.b.load(Place::new(side.mem, at), Type::vector(dtype, count as usize));
        if count == 1 {
            return Ok(vec![all]);
        }
        let extract = |lane: i64| self.b.pure(Op::Extract(all, lane as usize), Type::scalar(dtype));
        Ok((0..count).map(extract).collect())
    }
}
