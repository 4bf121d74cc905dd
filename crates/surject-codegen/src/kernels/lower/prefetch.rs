//! What is prefetched beside loads.

use super::Lowering;
use crate::expression::address::LoopSet;
use crate::expression::dag::Buf;
use crate::schedule::non_temporal::LINE;
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
            p.buf == buf && pass
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
}
