//! Copies of nodes with changes.

use crate::expression::address::{GuardFact, Lin, LoopId};
use crate::expression::dag::{Dag, Node, NodeId};
use std::collections::HashMap;

/// Copies of nodes with changed operands or addresses.
pub(crate) struct Rewriter<'a> {
    pub(crate) dag: &'a mut Dag,
    pub(crate) ids: HashMap<NodeId, NodeId>,
}

impl Rewriter<'_> {
    /// Copies a node, its addresses changed by `f`; operands that were copied are replaced, and guards that always
    /// hold are dropped.
    pub(crate) fn copy(&mut self, id: NodeId, f: &dyn Fn(&Lin) -> Option<Lin>) -> Option<NodeId> {
        let data = self.dag[id].clone();
        let at = |x: NodeId| self.ids.get(&x).copied().unwrap_or(x);
        // A reduction that does not depend on what changes stays the same node.
        let mut node = match &data.node {
            leaf @ Node::Reduce { .. } => leaf.clone(),
            node => node.mapped(&at, f)?,
        };
        if let Node::Load { guards, .. } | Node::Guarded { guards, .. } = &mut node {
            guards.retain(|guard| guard.fact(&self.dag.extents) != GuardFact::Always);
        }
        if let Node::Guarded { guards, inner, .. } = &node
            && guards.is_empty()
        {
            self.ids.insert(id, *inner);
            return Some(*inner);
        }
        let new = self.dag.add(node, data.dtype);
        self.ids.insert(id, new);
        Some(new)
    }
}

/// A term with something else in the place of a loop.
pub(crate) fn substituted(dag: &mut Dag, body: NodeId, l: LoopId, by: &Lin) -> Option<NodeId> {
    let inside = dag.all_reachable(&[body]);
    let mut rewriter = Rewriter { dag, ids: HashMap::new() };
    let mut new = body;
    for n in inside {
        new = rewriter.copy(n, &|lin| lin.substitute(l, by))?;
    }
    Some(new)
}
