//! What is prefetched beside loads.

use super::{Lowered, Lowering};
use crate::CodegenError;
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Buf, Node};
use crate::kernels::schedule::{Axis, Prefetched};
use crate::schedule::written::LINE;
use surject_ir::{BinaryOp, DType};
use surject_kernel::{Op, Place, Type};

impl Lowering<'_> {
    /// Prefetches what lies ahead of neighbours that are about to be loaded, each of its lines once.
    pub(super) fn prefetch(&mut self, buf: Buf, place: &Place, ty: Type) {
        let size = ty.dtype.size().max(1) as i64;
        if ty.lanes == 1 || place.at.lane != 1 || !place.guards.is_empty() {
            return;
        }
        let reduced = self.resolved.reductions.values().flatten().map(|a| a.of);
        let reduced: LoopSet = reduced.filter(|of| self.places.contains_key(of)).collect();
        let here = self.resolved.values.prefetched.iter().filter(|p| {
            let pass = p.within.map_or(reduced == LoopSet::default(), |l| reduced.contains(l));
            p.buf == buf && p.along.is_none() && pass
        });
        let first = surject_kernel::Affine { lane: 0, ..place.at.clone() };
        for ahead in here {
            let bytes = ty.lanes as i64 * size;
            for line in 0..(bytes + LINE - 1) / LINE {
                let offset = ahead.by.saturating_add(line * LINE / size);
                let Some(at) = first.plus(&offset.into(), 1) else { continue };
                self.b.effect(Op::Prefetch { mem: place.mem, at, wanted: ahead.wanted });
            }
        }
    }

    /// Prefetches the lines that indices choose some iterations of a loop later, where an iteration of it begins.
    pub(super) fn prefetch_chosen(&mut self, axis: &Axis) -> Lowered<()> {
        /// The most bytes of a line that are prefetched.
        const MOST: i64 = 4096;
        let overflow = || CodegenError::overflow("an address that is prefetched");
        let resolved = self.resolved;
        let is_here = |p: &&Prefetched| p.along == Some(axis.of) && axis.factor == 1;
        for ahead in resolved.values.prefetched.iter().filter(is_here) {
            for node in self.expression.nodes() {
                let Node::Gather { buf, address, offset, .. } = &self.expression.dag[node].node else {
                    continue;
                };
                let dag = &self.expression.dag;
                let deps = dag[*offset].deps;
                let is_open = |l: LoopId| self.places.contains_key(&l) && self.lanes.is_none_or(|v| v.0 != l);
                if *buf != ahead.buf || !deps.contains(axis.of) || !deps.loops().all(is_open) {
                    continue;
                }
                let (mut begin, mut line) = (address.clone(), address.clone());
                begin.terms.retain(|t| is_open(t.0));
                line.terms.retain(|t| !is_open(t.0));
                line.offset = 0;
                let Some(span) = line.range(&dag.extents).filter(|r| r.low >= 0) else { continue };
                let (size, last) = (dag[node].dtype.size() as i64, dag.extent(axis.of) - 1);
                let mem = self.memory.get(buf).copied();
                let mem = mem.ok_or_else(|| CodegenError::malformed("a tensor without memory"))?;
                let here = self.places.get(&axis.of).ok_or_else(overflow)?;
                let later = here.plus(&ahead.by.into(), 1).ok_or_else(overflow)?;
                let (later, last) = (self.number(&later), self.integer(last));
                let later = self.b.binary(BinaryOp::Min, later, last);
                let outside = self.outside();
                self.set(axis.of, later.into());
                // What is known of the iterations here is not known of that one.
                _ = (self.pieces.remove(&axis.of), self.rest.remove(&axis.of), self.short.remove(&axis.of));
                self.tails.retain(|t| t.0 != axis.of);
                let place = self.value(*offset)?;
                let place = self.b.convert(place, DType::I64);
                let first = self.affine(&begin)?.plus(&place.into(), 1).ok_or_else(overflow)?;
                let bytes = (span.high + 1).saturating_mul(size).min(MOST);
                for byte in (0..bytes).step_by(LINE as usize) {
                    let at = first.plus(&(byte / size).into(), 1).ok_or_else(overflow)?;
                    self.b.effect(Op::Prefetch { mem, at, wanted: ahead.wanted });
                }
                self.return_to(&outside);
            }
        }
        Ok(())
    }
}
