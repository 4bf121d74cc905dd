//! Neighbours in vectors, on machines of tasks.

use super::points::Maker;
use super::{Kernels, Lowered};
use crate::CodegenError;
use crate::kernels::machine::Spread;
use surject_ir::DType;
use surject_kernel::{Affine, Mem, Op, Value, Wanted};

/// The bytes of a line of the caches.
const CACHE_LINE: i64 = 64;

pub(super) fn overflow() -> CodegenError {
    CodegenError::overflow("a position")
}

/// Do pieces that lie so many bytes apart meet in one set of a cache?
pub(super) fn are_pages(bytes: i64) -> bool {
    const PAGE: i64 = 4096;
    bytes % PAGE == 0
}

/// Neighbours in vectors of one width.
#[derive(Clone, Copy)]
pub(super) struct Vectors {
    /// The lanes of each.
    pub(super) lanes: i64,
    /// The first neighbour.
    pub(super) first: i64,
    /// How many vectors there are.
    pub(super) count: i64,
}

/// So many neighbours in vectors.
pub(super) fn pieces(count: i64, widest: i64) -> Vec<Vectors> {
    let mut found = Vec::new();
    let (mut first, mut lanes) = (0, widest.max(1));
    while lanes > 0 {
        let vectors = (count - first) / lanes;
        if vectors > 0 {
            found.push(Vectors { lanes, first, count: vectors });
            first += vectors * lanes;
        }
        lanes /= 2;
    }
    found
}

/// The number of the element at a position, where neighbours along the axes lie so far apart.
pub(super) fn element_at(position: &[Affine], strides: &[i64]) -> Lowered<Affine> {
    let mut axes = position.iter().zip(strides);
    axes.try_fold(Affine::from(0), |sum, (at, &stride)| sum.plus(at, stride)).ok_or_else(overflow)
}

/// The elements of a vector, from its first one on.
pub(super) fn vector_at(first: Affine, lanes: i64) -> Lowered<Affine> {
    if lanes == 1 { Ok(first) } else { first.plus(&Affine::lane(1), 1).ok_or_else(overflow) }
}

impl Kernels<'_> {
    /// Has the machine tasks, each of which does many points one after the other?
    pub(super) fn has_tasks(&self) -> bool {
        matches!(self.machine.spread(), Spread::Tasks { .. })
    }

    /// The lanes in which elements of the results are computed.
    pub(super) fn widest(&self) -> i64 {
        let sizes = self.call.targets.iter().map(|&t| self.call.function.ty(t).dtype.size());
        let bytes = sizes.max().unwrap_or(1).max(4);
        (self.machine.vector_bytes() / bytes).max(1) as i64
    }
}

impl Maker<'_> {
    /// A position as a part of an address.
    pub(super) fn wide_position(&mut self, at: Value) -> Affine {
        self.b.convert(at, DType::I64).into()
    }

    /// Prefetches the lines of the caches with these neighbours, from the first one on.
    pub(super) fn prefetch(
        &mut self,
        mem: Mem,
        first: &Affine,
        elements: i64,
        wanted: Wanted,
    ) -> Lowered<()> {
        let size = self.b.memory_type(mem).size() as i64;
        let bytes = elements * size;
        // Lines that begin anywhere may have their last element in one more line of the caches.
        let ends = bytes % CACHE_LINE != 0 && CACHE_LINE % bytes != 0;
        let last = ends.then_some(elements - 1);
        for element in (0..elements).step_by((CACHE_LINE / size) as usize).chain(last) {
            let at = first.plus(&element.into(), 1).ok_or_else(overflow)?;
            self.b.effect(Op::Prefetch { mem, at, wanted });
        }
        Ok(())
    }
}
