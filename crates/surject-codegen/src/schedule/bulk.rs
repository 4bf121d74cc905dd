//! Long runs of one byte, and of the elements of a tensor as they lie, are left to functions of the C library.
//!
//! A store into a line that no cache has fetches the line first; these functions know instructions that claim a line
//! without. On a Zen 5 zeros that leave the caches of a core take 0.35 to 0.9 of the time of vectors that are stored, copies
//! that stay in the last cache 0.45 to 0.95; what stays nearer takes up to twice as long.

use crate::Target;
use crate::expression::dag::Dag;
use crate::expression::output::Output;
use crate::schedule::Schedule;
use crate::schedule::non_temporal::written;

/// How long a run must be to be left to the library, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    /// One byte again and again.
    pub(crate) filled: Option<i64>,
    /// Elements of a tensor.
    pub(crate) moved: Option<i64>,
}

impl Runs {
    /// Those of a kernel with this schedule.
    pub(crate) fn of(dag: &Dag, outputs: &[Output], schedule: &Schedule, target: &Target) -> Runs {
        let (Some(&last), [output]) = (schedule.order.last().filter(|_| schedule.is_plain()), outputs) else {
            return Runs::default();
        };
        if output.join.is_some() || output.address.coeff(last) != 1 {
            return Runs::default();
        }
        let (limits, bytes, near) = (&target.thresholds, written(dag, outputs), target.l2_bytes() as f64);
        let filled = bytes >= limits.filled_l2_caches * near;
        let moved = bytes >= limits.moved_l2_caches * near
            && bytes <= limits.moved_llcs * target.llc_bytes as f64
            && target.has_fast_memcpy;
        Runs {
            filled: filled.then_some(limits.filled_run_bytes),
            moved: moved.then_some(limits.moved_run_bytes),
        }
    }
}
