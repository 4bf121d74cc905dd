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
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::machine::elem::Elem;
use crate::schedule::prefetch::{PrefetchHint, PrefetchWhen};
use std::collections::HashMap;
use surject_ir::BinaryOp;

/// Bytes that are under way, and the most that is prefetched of a line.
pub(crate) const AHEAD: i64 = 4096;

/// A loop is long if it has so many times the positions that are skipped.
pub(crate) const LONG: i64 = 8;

/// So many positions ahead at most: elements that lie anywhere are prefetched that early.
pub(crate) const ELEMENTS: i64 = 128;

/// Lines of a tensor that are chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen {
    /// Into which cache they come.
    pub(crate) what: PrefetchHint,
    /// Where neighbours are chosen apart: from how many elements further on one is prefetched, if they lie in more than the
    /// last cache has for them.
    pub(crate) distance: Option<i64>,
}

/// What is chosen of tensors that are far away, by tensor and place of the line.
pub(crate) type Lines = HashMap<(Buf, NodeId), Chosen>;

/// The lines that a kernel chooses from what is far away.
pub(crate) fn far(dag: &Dag, roots: &[NodeId], target: &Target, when: PrefetchWhen<'_>) -> Lines {
    let limits = &target.thresholds;
    let (stays, least) = (limits.llc_part * target.llc_bytes as f64, FarBytes::of(target));
    let far = dag.all_reachable(roots).into_iter().filter_map(|n| {
        let Node::Gather { buf, address, offset, .. } = &dag[n].node else { return None };
        let (most, chosen_by) = (most(dag, *offset)?, dag.all_reachable(&[*offset]));
        let end = most.checked_add(address.range(&dag.extents)?.high)?;
        let size = Elem::in_memory(dag[n].dtype).size() as i64;
        let what = if 2.0 * dag.bytes(n) < stays { PrefetchHint::Now } else { PrefetchHint::Soon };
        let wide = most.saturating_mul(size) > least.of_elements;
        // Coordinates that are computed are seldom far from the one before, and are not worth computing twice.
        let computed = chosen_by.iter().any(|&n| dag[n].dtype.is_float());
        let step = (target.l2_shares(limits.chosen_step_l2_shares) / size).max(1);
        let distance = (wide && !computed).then_some(step);
        // Of what a chain has between its kernels no more is there than the part at hand.
        let there = chosen_by.iter().chain([&n]).all(|&n| match dag[n].node {
            Node::Load { buf, .. } | Node::Gather { buf, .. } => when(buf).is_some(),
            _ => true,
        });
        let chosen = Chosen { what, distance };
        (end.saturating_mul(size) > least.of_lines && there).then_some(((*buf, *offset), chosen))
    });
    far.collect()
}

/// The largest value of the place of a line: a sum of products of numbers that are moved to where a tensor has elements.
fn most(dag: &Dag, n: NodeId) -> Option<i64> {
    match &dag[n].node {
        Node::Const(value) => value.as_i128().and_then(|value| i64::try_from(value).ok()),
        Node::Convert(x) => most(dag, *x),
        Node::Binary(BinaryOp::Min, x, y) => most(dag, *y).or_else(|| most(dag, *x)),
        Node::Binary(BinaryOp::Add, x, y) => most(dag, *x)?.checked_add(most(dag, *y)?),
        Node::Binary(BinaryOp::Mul, x, y) => most(dag, *x)?.checked_mul(most(dag, *y)?),
        _ => None,
    }
}

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
