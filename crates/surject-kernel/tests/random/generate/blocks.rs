//! Products of matrices, boxes that are copied in the background, and barriers with phases.

use super::Generator;
use surject_ir::{DType, Scalar};
use surject_kernel::{
    Access, Affine, BoxCopy, Factors, Level, LoopKind, MatMulSizes, Mem, Op, PhaseBarrier, Phasing, Region,
    Space, Statement, Team, TensorMap, Tile, Type,
};

impl Generator<'_> {
    pub(super) fn matmul(&mut self) -> Option<()> {
        if self.levels.last() == Some(&Level::Thread) {
            return None;
        }
        let group = self.levels.last() == Some(&Level::Warp) && self.choices.once_in(2);
        let byte = |d: DType| matches!(d, DType::I8 | DType::U8);
        let a = self.mem(|m| m.access.reads())?;
        let dtype = self.kernel.mem(a).dtype;
        let b = self.mem(|m| m.access.reads() && (m.dtype == dtype || byte(m.dtype) && byte(dtype)))?;
        let acc = self.mem(|m| m.access == Access::ReadWrite)?;
        let fits =
            |f: &Factors| *f != Factors::Tf32 || [dtype, self.kernel.mem(acc).dtype] == [DType::F32; 2];
        let factors: Vec<Factors> = Factors::ALL.iter().copied().filter(fits).collect();
        let factors = self.choices.of(&factors)?;
        let [m, n, k] = [0; 3].map(|_| 1 + self.choices.below(3));
        let sizes = MatMulSizes { m: if group { 16 } else { m }, n: if group { 1 } else { n }, k };
        let mut tile = |mem: Mem, columns: usize| {
            let interleaved = [1, 1, 2, 3][self.choices.below(4)];
            let apart = [1, 1, 1, -1, 0][self.choices.below(5)];
            let (row, column) = ((columns * interleaved) as i64 * apart, interleaved as i64);
            Tile { mem, at: Affine::from(self.choices.below(3) as i64), row, column, interleaved }
        };
        let [acc, a, b] = [tile(acc, sizes.n), tile(a, k), tile(b, sizes.n)];
        let team = if group { Team::Group } else { Team::One };
        self.effect(Op::MatMul { sizes, factors, team, acc, a, b });
        Some(())
    }

    /// Something at a barrier with phases.
    pub(super) fn phase(&mut self) -> Option<()> {
        let barrier = self.barrier()?;
        let how = match (self.levels.last(), self.choices.below(3)) {
            (Some(Level::Block), by) => Phasing::Init(1 + by as u32),
            (Some(Level::Warp), 0) => Phasing::Arrive,
            (Some(Level::Warp), 1) => Phasing::Expect(1 + self.choices.below(64) as u32),
            (Some(Level::Warp), _) => {
                let parity = self.choices.of(&[DType::I64, DType::U32, DType::I8])?;
                Phasing::Wait(self.value(Type::scalar(parity)))
            }
            _ => return None,
        };
        self.effect(Op::Phase(barrier, how));
        Some(())
    }

    fn barrier(&mut self) -> Option<PhaseBarrier> {
        let made = |mem: &Mem| self.made.iter().any(|m| m.0 == *mem);
        let all: Vec<Mem> = self.barriers.iter().copied().filter(made).collect();
        let mem = self.choices.of(&all)?;
        Some(PhaseBarrier { mem, at: Affine::from(self.choices.below(2) as i64) })
    }

    /// A box of a tensor, and the shared memory that it goes to.
    pub(super) fn box_copy(&mut self) -> Option<()> {
        if self.levels.last() != Some(&Level::Warp) {
            return None;
        }
        let arrives = self.barrier()?;
        let from = self.mem(|m| m.space == Space::Global && m.access.reads())?;
        let dtype = self.kernel.mem(from).dtype;
        let to = self.mem(|m| m.space == Space::Shared && m.dtype == dtype)?;
        let copy = self.copy_of(from, to, arrives);
        copy.map.check(dtype).ok()?;
        self.effect(Op::BoxCopy(Box::new(copy)));
        Some(())
    }

    fn copy_of(&mut self, from: Mem, to: Mem, arrives: PhaseBarrier) -> BoxCopy {
        let line = 16 / self.kernel.mem(from).dtype.size() as i64;
        let rank = 1 + self.choices.below(2);
        let extents = [line, 2][..rank].to_vec();
        let map =
            TensorMap { extents, strides: [1, line][..rank].to_vec(), sizes: [line, 2][..rank].to_vec() };
        let at = (0..rank).map(|_| Affine::from(self.choices.below(3) as i64 - 1)).collect();
        BoxCopy { from, map, at, to, to_at: 0.into(), pitch: line, arrives }
    }

    /// A box that a warp copies and waits for, in a loop over blocks.
    pub(super) fn pipeline(&mut self) {
        let Some(from) = self.mem(|m| m.space == Space::Global && m.access.reads()) else { return };
        let dtype = self.kernel.mem(from).dtype;
        let mem = self.memory(DType::I64, 2.into(), Space::Shared, Access::ReadWrite);
        self.barriers.push(mem);
        self.made.push((mem, self.levels.len()));
        self.effect(Op::Alloc(mem));
        let barrier = PhaseBarrier { mem, at: 0.into() };
        self.effect(Op::Phase(barrier.clone(), Phasing::Init(1)));
        let to = self.memory(dtype, 40.into(), Space::Shared, Access::ReadWrite);
        self.made.push((to, self.levels.len()));
        self.effect(Op::Alloc(to));
        let copy = self.copy_of(from, to, barrier.clone());
        let bytes = copy.map.elements() * dtype.size();
        let parity = self.emit(Op::Splat(Scalar::zero(DType::I64)), Type::index());
        let warp = self.kernel.value(Type::index());
        let ops = [
            Op::Phase(barrier.clone(), Phasing::Expect(bytes as u32)),
            Op::BoxCopy(Box::new(copy)),
            Op::Phase(barrier, Phasing::Wait(parity)),
        ];
        let body = ops.map(|op| Statement { results: Vec::new(), op }).to_vec();
        let body = Region { params: vec![warp], body, yields: Vec::new() };
        let (kind, inits) = (LoopKind::Parallel(Level::Warp), Vec::new());
        self.effect(Op::For { low: 0.into(), high: 1.into(), step: 1, kind, inits, body });
    }
}
