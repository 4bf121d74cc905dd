//! Reductions over the same loops that are computed in one pass: what both load is loaded once.

use super::{Lowered, Lowering};
use crate::expression::dag::{Node, NodeId};
use crate::expression::partial_sums;
use crate::kernels::schedule::{Axis, AxisKind};
use surject_kernel::Level;

/// The most reductions of a pass: more do not fit registers.
const MOST: usize = 3;

impl Lowering<'_> {
    /// Those of some reductions that run through the same loops as a first one, for the same points, where none needs
    /// another: one pass computes all.
    pub(super) fn in_one_pass(&self, first: NodeId, others: &[NodeId]) -> Vec<NodeId> {
        let dag = &self.expression.dag;
        let own = self.axes_of(first);
        let simple = |axis: &Axis| {
            let serial = matches!(axis.kind, AxisKind::Serial | AxisKind::Unrolled | AxisKind::Lanes);
            serial || axis.kind == AxisKind::Parallel(Level::Task)
        };
        if own.is_empty() || !own.iter().all(simple) || self.is_apart(first) {
            return Vec::new();
        }
        let mut found: Vec<NodeId> = Vec::new();
        for &other in others {
            let needed = dag.all_reachable(&[other]);
            let needs = needed.contains(&first) || found.iter().any(|n| needed.contains(n));
            // Sums in blocks begin anew, and others do not.
            let alike = !self.has_partial_sums(own) || self.is_rounded(other) == self.is_rounded(first);
            let same = alike && dag[other].deps == dag[first].deps && self.axes_of(other) == own;
            if same && !needs && !self.is_apart(other) && self.cached(other).is_none() {
                found.push(other);
            }
            if found.len() + 1 == MOST {
                break;
            }
        }
        found
    }

    /// Are the sums of a reduction in memory, or its terms kept there, or does it end at a tail?
    fn is_apart(&self, reduction: NodeId) -> bool {
        let Node::Reduce { body, .. } = self.expression.dag[reduction].node else { return true };
        let kept = self.resolved.values.kept.as_ref().is_some_and(|kept| kept.body == body);
        let is_triangular = self.resolved.values.triangles.iter().any(|t| t.reduction == Some(reduction));
        kept || is_triangular || self.sums.contains_key(&reduction)
    }

    /// Is a reduction a sum of floats?
    fn is_rounded(&self, reduction: NodeId) -> bool {
        let data = &self.expression.dag[reduction];
        matches!(data.node, Node::Reduce { op, .. } if partial_sums::round(op, data.dtype))
    }

    fn axes_of(&self, reduction: NodeId) -> &[Axis] {
        self.resolved.reductions.get(&reduction).map_or(&[], Vec::as_slice)
    }

    /// Computes reductions in one pass.
    pub(super) fn reduce_together(&mut self, first: NodeId, others: &[NodeId]) -> Lowered<()> {
        let resolved = self.resolved;
        let axes = resolved.reductions.get(&first).map_or(&[][..], Vec::as_slice);
        let all: Vec<NodeId> = std::iter::once(first).chain(others.iter().copied()).collect();
        let lanes = self.lanes_of(self.expression.dag[first].deps);
        let reduction = |&n: &NodeId| match self.expression.dag[n].node {
            Node::Reduce { op, body, .. } => Some(self.reduction(n, (op, body), axes, lanes)),
            _ => None,
        };
        let reductions: Vec<_> = all.iter().filter_map(reduction).collect();
        let sums = self.all_terms(axes, &reductions)?;
        for ((&n, reduction), sum) in all.iter().zip(&reductions).zip(sums) {
            let value = self.whole_reduction(n, reduction, axes, lanes, sum)?;
            if let Some(frame) = self.frames.last_mut() {
                frame.values.insert(n, value);
            }
        }
        Ok(())
    }
}
