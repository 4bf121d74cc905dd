//! Lines and elements of a tensor that indices choose are prefetched.
//!
//! Nothing but the indices says where memory is read next. So where a line of something far away is chosen, the line of some
//! positions further is prefetched: whole, as far as a page goes, and so early that a page is under way. What goes past the
//! caches waits in the second one meanwhile. On a Zen 4 lines of 64 bytes to 16 KiB take 0.4 to 0.8 of the time that they take
//! if the next 512 bytes are prefetched, and 0.6 to 0.9 of it where results go through the caches.
//!
//! Elements of what the last cache does not hold take 0.5 to 0.75 of the time if those of 128 positions further are prefetched,
//! and updates of such elements 0.4 to 0.75. In sorted order and from few places they would take up to 1.9 times as long, so
//! it is looked at whether they are near to those at hand.

use crate::Target;

/// Bytes that are under way, and the most that is prefetched of a line.
pub(crate) const AHEAD: i64 = 4096;

/// So many positions ahead at most: elements that lie anywhere are prefetched that early.
pub(crate) const ELEMENTS: i64 = 128;

/// A tensor of more bytes is far away.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FarBytes {
    /// One of which lines are chosen.
    pub(crate) of_lines: i64,
    /// One of which elements are chosen.
    pub(crate) of_elements: i64,
}

impl FarBytes {
    pub(crate) fn of(target: &Target) -> FarBytes {
        let limits = &target.thresholds;
        FarBytes {
            of_lines: target.l2_shares(limits.chosen_line_l2_shares),
            of_elements: (limits.chosen_element_llcs * target.llc_bytes as f64) as i64,
        }
    }
}

/// How many lines of so many bytes are a page; of elements, as many as are prefetched.
pub(crate) fn later(bytes: i64) -> i64 {
    ((AHEAD + bytes - 1) / bytes.max(1)).min(ELEMENTS)
}
