//! Tiles that one warp has copied in boxes (TMA), while groups of four other warps multiply them.
//!
//! The stages of shared memory are a ring. Each has two barriers with phases: the bytes of its tile arrive at `full`, and the
//! warps that have multiplied it at `empty`. So nobody waits for all threads of the block, and a group that waits for its
//! products leaves the matrix units to another one.

use super::super::super::contraction::boxes::{SideMap, side_map};
use super::super::super::contraction::{GROUP_ROWS, GROUP_TERMS};
use super::{Contraction, Lowered, Lowering, Side, Turns, overflow};
use crate::CodegenError;
use crate::expression::address::Lin;
use crate::expression::dag::Node;
use surject_ir::{BinaryOp, DType, Scalar};
use surject_kernel::{
    Affine, BoxCopy, Guard, Level, LoopKind, Mem, Op, PhaseBarrier, Phasing, Place, Space, Value,
};

/// The barriers of the stages, and how many there are.
struct Ring {
    full: Mem,
    empty: Mem,
    stages: i64,
}

impl Lowering<'_> {
    pub(super) fn by_boxes(
        &mut self,
        c: &Contraction,
        (left, right): (&Side, &Side),
        turns: &Turns,
        stages: i64,
    ) -> Lowered<()> {
        let warps = c.tiles.warps();
        let barriers = |w: &mut Self, name: &str| w.b.alloc(name, DType::I64, stages, Space::Shared);
        let ring = Ring { full: barriers(self, "full"), empty: barriers(self, "empty"), stages };
        for stage in 0..stages {
            for (mem, arrivals) in [(ring.full, 1), (ring.empty, warps as u32)] {
                let barrier = PhaseBarrier { mem, at: stage.into() };
                self.b.effect(Op::Phase(barrier, Phasing::Init(arrivals)));
            }
        }
        let beside = c.tiles.warps_beside();
        let (warp, _) = self.b.open_for(0, warps + beside, 1, LoopKind::Parallel(Level::Warp), &[]);
        let sums = self.b.holds(vec![Guard { expr: warp.into(), bound: warps.into() }], 1);
        self.b.open_if(sums);
        self.sum_stages(c, (left, right), turns, (warp, &ring))?;
        self.b.open_else(&[]);
        if beside > 1 {
            // The first of them.
            let fills = self.b.holds(vec![Guard { expr: warp.into(), bound: (warps + 1).into() }], 1);
            self.b.open_if(fills);
        }
        self.fill_stages(c, (left, right), turns, &ring)?;
        if beside > 1 {
            self.b.close_if(&[]);
        }
        self.b.close_if(&[]);
        self.b.close_for(&[]);
        Ok(())
    }

    /// What a warp of four does that sum together.
    fn sum_stages(
        &mut self,
        c: &Contraction,
        (left, right): (&Side, &Side),
        turns: &Turns,
        (warp, ring): (Value, &Ring),
    ) -> Lowered<()> {
        let elements = GROUP_ROWS * c.tiles.tile[1];
        let acc = self.b.alloc("acc", DType::F32, elements, Space::Register);
        let zero = self.b.splat(Scalar::zero(DType::F32), 1);
        let (element, _) = self.b.open_for(0, elements, 1, LoopKind::Serial, &[]);
        self.b.store(Place::new(acc, element), zero);
        self.b.close_for(&[]);
        let start = [self.integer(0), self.integer(0)];
        let (_, carried) = self.b.open_for(0, turns.count, 1, LoopKind::Serial, &start);
        let (stage, parity) = (carried[0], carried[1]);
        let barrier = |mem| PhaseBarrier { mem, at: stage.into() };
        self.b.effect(Op::Phase(barrier(ring.full), Phasing::Wait(parity)));
        self.multiply(c, acc, (left, right), (warp, &stage.into()))?;
        self.b.effect(Op::Phase(barrier(ring.empty), Phasing::Arrive));
        let next = self.next_turn((stage, parity), ring)?;
        self.b.close_for(&next);
        self.results_of_warp(c, acc, (left, right), warp)
    }

    /// What the last warp does. Before a stage is filled anew, all have multiplied what is in it; at first nothing is.
    fn fill_stages(
        &mut self,
        c: &Contraction,
        (left, right): (&Side, &Side),
        turns: &Turns,
        ring: &Ring,
    ) -> Lowered<()> {
        let maps = [0, 1].map(|number| side_map(self.expression, c, number).map_err(CodegenError::malformed));
        let [left_map, right_map] = maps;
        let sides = [(left, left_map?), (right, right_map?)];
        let bytes =
            sides.iter().map(|(side, _)| side.stage * self.expression.dag[side.node].dtype.size() as i64);
        let bytes = u32::try_from(bytes.sum::<i64>()).map_err(|_| overflow())?;
        let start = [self.integer(0), self.integer(1)];
        let (number, carried) = self.b.open_for(0, turns.count, 1, LoopKind::Serial, &start);
        let (stage, parity) = (carried[0], carried[1]);
        let barrier = |mem| PhaseBarrier { mem, at: stage.into() };
        self.b.effect(Op::Phase(barrier(ring.empty), Phasing::Wait(parity)));
        self.b.effect(Op::Phase(barrier(ring.full), Phasing::Expect(bytes)));
        let depth = self.frames.len();
        let first = self.turn(c, turns, &number.into())?;
        for (side, map) in &sides {
            self.boxes_of_side(side, map, &first, (stage, ring.full))?;
        }
        self.frames.truncate(depth);
        let next = self.next_turn((stage, parity), ring)?;
        self.b.close_for(&next);
        Ok(())
    }

    /// The boxes of a tile of a value: one, or one for every 64 rows or columns where these are neighbours.
    fn boxes_of_side(
        &mut self,
        side: &Side,
        SideMap { loops, map }: &SideMap,
        first: &Affine,
        (stage, full): (Value, Mem),
    ) -> Lowered<()> {
        let Node::Load { buf, .. } = &self.expression.dag[side.node].node else {
            return Err(CodegenError::malformed("a box of what is computed"));
        };
        let from = self.memory.get(buf).copied();
        let from = from.ok_or_else(|| CodegenError::malformed("a tensor without memory"))?;
        let mut others = Vec::new();
        for &l in loops.iter().skip(2) {
            others.push(self.affine(&Lin::var(l))?);
        }
        let boxes = if side.how.by_terms { 1 } else { side.pitch / GROUP_TERMS };
        for number in 0..boxes {
            let further = Affine::from(number * GROUP_TERMS);
            let own = side.first.plus(&further, 1).ok_or_else(overflow)?;
            let mut at = if side.how.by_terms { vec![first.clone(), own] } else { vec![own, first.clone()] };
            at.extend(others.iter().cloned());
            let to_at = side.element(&further, &0.into(), &stage.into());
            self.b.effect(Op::BoxCopy(Box::new(BoxCopy {
                from,
                map: map.clone(),
                at,
                to: side.mem,
                to_at: to_at.ok_or_else(overflow)?,
                pitch: side.pitch,
                arrives: PhaseBarrier { mem: full, at: stage.into() },
            })));
        }
        Ok(())
    }

    /// The stage of the next turn, and the parity of the phase that is waited for there: the other one when the ring begins
    /// again.
    fn next_turn(&mut self, (stage, parity): (Value, Value), ring: &Ring) -> Lowered<[Value; 2]> {
        let next = self.next_stage(stage, ring.stages)?;
        let (zero, one) = (self.integer(0), self.integer(1));
        let again = self.b.binary(BinaryOp::Eq, next, zero);
        let other = self.b.binary(BinaryOp::Xor, parity, one);
        Ok([next, self.b.select(again, other, parity)])
    }
}
