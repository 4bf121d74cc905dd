//! Which operands of a kernel may have the memory of its output.

use crate::expression::address::{Lin, LoopId, LoopSet};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::output::Output;
use std::collections::{BTreeMap, HashSet};

/// The tensors of which a kernel reads, for each element of the output, the element at the same address and no
/// other, unconditionally. Where a kernel evaluates every point once, and all that the point reads before it stores,
/// such a tensor may have the memory of the output. What is read inside of `separate`, a reduction that is evaluated
/// elsewhere, does not count as read at the point.
///
/// `row` is a loop that is run through as a whole once all reductions that do not depend on it are there: what these
/// read of the same row of the output, they have read before any of it is written.
pub fn operands(dag: &Dag, outputs: &[Output], separate: Option<NodeId>, row: Option<LoopId>) -> Vec<Buf> {
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    let before_row = row.map(|row| BeforeRow::new(dag, &roots, row));
    let mut found: BTreeMap<Buf, bool> = BTreeMap::new();
    let mut look = |nodes: Vec<NodeId>, inside: bool| {
        for id in nodes {
            match &dag[id].node {
                // What a row keeps for itself is no tensor.
                Node::Load { buf: Buf::OWN, .. } => {}
                Node::Load { buf, address, guards } => {
                    let same = guards.is_empty() && outputs.iter().any(|o| o.address == *address);
                    let before = || match (&before_row, outputs) {
                        (Some(before_row), [output]) => before_row.reads_row(dag, id, &output.address),
                        _ => false,
                    };
                    *found.entry(*buf).or_insert(true) &= !inside && (same || before());
                }
                Node::Gather { buf, .. } => {
                    found.insert(*buf, false);
                }
                _ => {}
            }
        }
    };
    look(dag.all_reachable(&roots), false);
    if let Some(separate) = separate {
        look(dag.all_reachable(&[separate]), true);
    }
    found.into_iter().filter(|f| f.1).map(|f| f.0).collect()
}

/// What is evaluated before the loop along a row begins.
struct BeforeRow {
    row: LoopId,
    /// The loops of the reductions that do not depend on it.
    summed: LoopSet,
    /// What is evaluated inside of a reduction that does.
    late: HashSet<NodeId>,
}

impl BeforeRow {
    fn new(dag: &Dag, roots: &[NodeId], row: LoopId) -> BeforeRow {
        let mut before_row = BeforeRow { row, summed: LoopSet::default(), late: HashSet::new() };
        for id in dag.all_reachable(roots) {
            let Node::Reduce { loops, body, .. } = &dag[id].node else { continue };
            if dag[id].deps.contains(row) {
                before_row.late.extend(dag.all_reachable(&[*body]));
            } else {
                before_row.summed = before_row.summed.union(loops.iter().copied().collect());
            }
        }
        before_row
    }

    /// Does a load run through the row of the output, which has this address, in place of the loop along it?
    fn reads_row(&self, dag: &Dag, load: NodeId, output: &Lin) -> bool {
        let Node::Load { address, .. } = &dag[load].node else { return false };
        let along = address.terms.iter().map(|t| t.0).find(|&l| output.coeff(l) == 0);
        along.is_some_and(|l| {
            self.summed.contains(l)
                && !self.late.contains(&load)
                && address.coeff(self.row) == 0
                && dag.extent(l) <= dag.extent(self.row)
                && address.substitute(l, &Lin::var(self.row)).as_ref() == Some(output)
        })
    }
}

/// Is every output a load at its own address, so that the kernel copies a tensor?
pub fn copies(dag: &Dag, outputs: &[Output]) -> bool {
    let mut from: Option<Buf> = None;
    outputs.iter().all(|o| match &dag[o.root].node {
        Node::Load { buf, address, guards } => {
            guards.is_empty()
                && o.join.is_none()
                && *address == o.address
                && *from.get_or_insert(*buf) == *buf
        }
        _ => false,
    })
}
