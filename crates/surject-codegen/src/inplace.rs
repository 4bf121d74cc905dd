//! Which operands of a kernel may have the memory of its output.

use crate::dag::{Buf, Dag, Node, NodeId};
use crate::schedule::Output;
use std::collections::BTreeMap;

/// The tensors of which a kernel reads, for each element of the output, the element at the same address and no
/// other, unconditionally. Where a kernel evaluates every point once, and all that the point reads before it stores,
/// such a tensor may have the memory of the output. What is read inside of `apart`, a reduction that is evaluated
/// elsewhere, does not count as read at the point.
pub fn operands(dag: &Dag, outputs: &[Output], apart: Option<NodeId>) -> Vec<Buf> {
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    let mut found: BTreeMap<Buf, bool> = BTreeMap::new();
    let mut look = |nodes: Vec<NodeId>, inside: bool| {
        for id in nodes {
            if let Node::Load { buf, address, guards } = &dag[id].node {
                let same = guards.is_empty() && outputs.iter().any(|o| o.address == *address);
                *found.entry(*buf).or_insert(true) &= same && !inside;
            }
        }
    };
    look(dag.reachable(&roots, true), false);
    if let Some(apart) = apart {
        look(dag.reachable(&[apart], true), true);
    }
    found.into_iter().filter(|f| f.1).map(|f| f.0).collect()
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
