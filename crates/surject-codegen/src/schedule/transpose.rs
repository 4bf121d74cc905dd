//! What is transposed: loads that lie along another loop than results.

use crate::Target;
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::machine::elem::Elem;
use crate::schedule::NEAR;

/// Runs of fewer elements are not worth it where a register has more.
const FEW: usize = 8;

/// Do loads of a kernel lie along another loop than its results, so that rows would load them element by element? The strategies
/// of a machine transpose them in registers, if the kernel runs by itself.
pub(crate) fn is_transposition(dag: &Dag, outputs: &[Output], order: &[LoopId], target: &Target) -> bool {
    let [output] = outputs else { return false };
    let nodes = dag.reachable(&[output.root]);
    let unit = order.iter().copied().find(|&l| output.address.coeff(l) == 1 && dag.extent(l) > 1);
    let lanes = lanes(dag, output, &nodes, target);
    let Some(last) = unit.filter(|_| lanes > 1 && output.join.is_none()) else { return false };
    // A kernel with reductions is not about moving elements.
    if nodes.iter().any(|&n| matches!(dag[n].node, Node::Reduce { .. })) {
        return false;
    }
    let least = lanes.min(FEW) as i64;
    let is_across = |address: &Lin| {
        run(dag, address, order, last) >= least && !(0..=NEAR).contains(&address.coeff(last).abs())
    };
    nodes.iter().any(|&n| match &dag[n].node {
        Node::Load { address, guards, .. } => guards.is_empty() && is_across(address),
        _ => false,
    })
}

/// How many elements lie one behind the other along some loops but one.
fn run(dag: &Dag, address: &Lin, order: &[LoopId], but: LoopId) -> i64 {
    let mut length = 1;
    let goes_on = |&l: &LoopId, length| l != but && dag.extent(l) > 1 && address.coeff(l) == length;
    while let Some(&l) = order.iter().find(|l| goes_on(l, length)) {
        length *= dag.extent(l);
    }
    length
}

/// How many elements of a row a register has, those of the widest that is read or written.
fn lanes(dag: &Dag, output: &Output, nodes: &[NodeId], target: &Target) -> usize {
    let moved = nodes.iter().filter(|&&n| n == output.root || matches!(dag[n].node, Node::Load { .. }));
    let bytes = moved.map(|&n| Elem::in_memory(dag[n].dtype).size()).max().unwrap_or(4);
    target.vector_bytes / bytes
}
