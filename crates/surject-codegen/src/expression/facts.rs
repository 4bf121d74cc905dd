//! What is known of the value of a node.

use crate::expression::dag::{Dag, Node, NodeId};
use std::collections::HashMap;
use surject_ir::BinaryOp;
use surject_ir::range::Range;

/// Expressions of more nodes are not looked at.
const NODES: usize = 2000;

/// May a value be `-0.0`? Where it is not known it may.
pub(crate) fn may_be_negative_zero(dag: &Dag, x: NodeId) -> bool {
    let reachable = dag.all_reachable(&[x]);
    if reachable.len() > NODES {
        return true;
    }
    let mut ranges: HashMap<NodeId, Range> = HashMap::with_capacity(reachable.len());
    for id in reachable {
        let (node, dtype) = (&dag[id].node, dag[id].dtype);
        let of = |n: &NodeId| ranges.get(n).copied().unwrap_or(Range::any(dag[*n].dtype));
        let range = match node {
            Node::Const(value) => Range::of(*value),
            Node::Guarded { fill, inner, .. } => of(inner).or(Range::of(*fill)),
            Node::Unary(op, x) => Range::unary(*op, dag[*x].dtype, of(x)),
            Node::Binary(BinaryOp::Mul, x, y) if x == y => Range::square(dtype, of(x)),
            Node::Binary(op, x, y) => Range::binary(*op, dag[*x].dtype, of(x), of(y)),
            Node::Select(_, x, y) => of(x).or(of(y)),
            Node::Convert(x) => Range::convert(dag[*x].dtype, dtype, of(x)),
            Node::Reduce { op, body, .. } => Range::acc(*op, dtype, of(body), None, false),
            Node::Index(_) => Range { negative_zero: false, ..Range::any(dtype) },
            Node::Load { .. }
            | Node::Gather { .. }
            | Node::Bitcast(_)
            | Node::ReducePrecision(..)
            | Node::Param(..) => Range::any(dtype),
        };
        ranges.insert(id, range);
    }
    ranges.get(&x).is_none_or(|range| range.negative_zero)
}
