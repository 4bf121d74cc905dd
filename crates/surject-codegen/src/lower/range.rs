//! The kernels of ranges of parts.

use crate::expression::dag::Buf;
use crate::lower::kernel::Kernel;
use crate::lower::recipe::{Cut, Recipe};
use crate::lower::rows;
use crate::schedule::Schedule;
use crate::schedule::prefetch::PrefetchWhen;
use crate::schedule::units::{Share, Units};
use crate::{CodegenError, Target};

impl Recipe {
    /// The kernel of a range of parts: its body uses `%low`, `%high` and `%ptrs`. `when` says how it prefetches what it reads, `alone`
    /// which tensors nothing else touches in the range.
    pub fn range(
        &self,
        cut: &Cut,
        target: &Target,
        (when, alone): (PrefetchWhen<'_>, &dyn Fn(Buf) -> bool),
    ) -> Result<Kernel, CodegenError> {
        match self {
            Recipe::Row { dag, outputs, schedule, term_cache, .. } => {
                let streams = schedule.streams && outputs.iter().all(|o| alone(o.to));
                let schedule = &Schedule { streams, ..schedule.clone() };
                let (pieces, piece) = cut.piece.map_or((1, 0), |(l, steps)| (dag.extent(l) / steps, steps));
                let prefix = cut.weights.iter().map(|w| w.0).collect();
                let units = Units { prefix, pieces, piece, tasks: 1, total: cut.parts, share: Share::Range };
                rows::emit_units(dag, outputs, schedule, (units, target), term_cache.clone(), when)
            }
            Recipe::Columns(columns) => columns.range(target, when),
            Recipe::Product(_) => Err(CodegenError::malformed("a product of the kernel IR without a kernel")),
        }
    }
}
