//! Boxes that are copied in the background, and barriers with phases.

use super::{Checked, Verifier, need};
use crate::{BoxCopy, Level, Mem, Op, PhaseBarrier, Phasing, Region, Space};
use std::collections::HashSet;
use surject_ir::DType;

/// The most arrivals and bytes that a phase waits for (PTX ISA, "mbarrier").
const MOST: u32 = (1 << 20) - 1;

/// The memory of barriers with phases.
pub(super) fn phases(region: &Region) -> HashSet<Mem> {
    let mut found = HashSet::new();
    for statement in &region.body {
        match &statement.op {
            Op::Phase(barrier, _) => _ = found.insert(barrier.mem),
            Op::BoxCopy(copy) => _ = found.insert(copy.arrives.mem),
            op => op.regions().for_each(|region| found.extend(phases(region))),
        }
    }
    found
}

impl Verifier<'_> {
    pub(super) fn no_barrier(&self, mem: Mem) -> Checked {
        need(!self.phases.contains(&mem), || {
            format!("`{}` has barriers with phases, which nothing else uses", self.kernel.mem(mem).name)
        })
    }

    fn phase_barrier(&self, barrier: &PhaseBarrier) -> Checked {
        self.visible(barrier.mem)?;
        self.affine(&barrier.at, 1)?;
        let memory = self.kernel.mem(barrier.mem);
        need(memory.space == Space::Shared && memory.dtype == DType::I64, || {
            format!("a barrier with phases is shared memory of i64, which `{}` is not", memory.name)
        })
    }

    pub(super) fn phase(&self, barrier: &PhaseBarrier, how: &Phasing) -> Checked {
        self.phase_barrier(barrier)?;
        let level = match how {
            Phasing::Init(_) => Level::Block,
            _ => Level::Warp,
        };
        need(self.levels.last() == Some(&level), || {
            format!("this is done at a barrier with phases by a {level}, inside of no further parallel loop")
        })?;
        match how {
            Phasing::Init(count) | Phasing::Expect(count) => {
                need((1..=MOST).contains(count), || format!("a phase waits for 1 to {MOST}, not {count}"))
            }
            Phasing::Arrive => Ok(()),
            Phasing::Wait(parity) => {
                let ty = self.ty(*parity)?;
                need(ty.lanes == 1 && ty.dtype.is_int(), || format!("the parity of a phase is {ty}"))
            }
        }
    }

    pub(super) fn box_copy(&self, copy: &BoxCopy) -> Checked {
        need(self.levels.last() == Some(&Level::Warp), || "a warp copies boxes".into())?;
        self.phase_barrier(&copy.arrives)?;
        self.readable(copy.from)?;
        self.writable(copy.to)?;
        let (from, to) = (self.kernel.mem(copy.from), self.kernel.mem(copy.to));
        need(from.space == Space::Global && to.space == Space::Shared, || {
            format!("a box is copied from {} to {} memory", from.space, to.space)
        })?;
        need(from.dtype == to.dtype, || format!("a copy from {} to {}", from.dtype, to.dtype))?;
        copy.at.iter().chain([&copy.to_at]).try_for_each(|at| self.affine(at, 1))?;
        copy.map.check(from.dtype).or_else(super::fault)?;
        need(copy.at.len() == copy.map.sizes.len(), || {
            format!("a place of {} dimensions in a tensor of {}", copy.at.len(), copy.map.sizes.len())
        })?;
        need(copy.pitch >= copy.map.sizes[0], || {
            format!("lines of {} elements that are {} apart", copy.map.sizes[0], copy.pitch)
        })?;
        Ok(())
    }
}
