//! Arithmetic on positions: sums and differences of positions and constants are positions again, which costs nothing
//! inside a loop, and positions are compared as narrow integers where these hold them.

use crate::expression::address::{Interval, Lin};
use crate::expression::dag::{Dag, Node, NodeId};
use surject_ir::{BinaryOp, DType, Scalar};

/// The result of an operation on two positions, one of which may be a constant, if it is something simpler.
pub(crate) fn binary(dag: &mut Dag, op: BinaryOp, x: NodeId, y: NodeId) -> Option<NodeId> {
    let dtype = dag[x].dtype;
    if !dtype.is_int() || [x, y].iter().all(|&n| matches!(dag[n].node, Node::Const(_))) {
        return None;
    }
    // What was narrow is compared so.
    if let (Node::Convert(narrow), Node::Const(value)) = (dag[x].node.clone(), &dag[y].node)
        && op.is_comparison()
    {
        let (own, value) = (dag[narrow].dtype, i64::try_from(value.as_i128()?).ok()?);
        // Every number of the narrow type is one of the wide type.
        let widens =
            own.is_int() && own.size() < dtype.size() && (own.is_unsigned_int() || dtype.is_signed_int());
        if !widens || !own.holds(value) {
            return None;
        }
        let value = dag.constant(Scalar::from_i128(own, value.into()));
        return Some(dag.binary(op, narrow, value));
    }
    let (a, b) = (position(dag, x)?, position(dag, y)?);
    match op {
        BinaryOp::Add | BinaryOp::Sub => {
            let sum = a.plus(&b, if op == BinaryOp::Add { 1 } else { -1 })?;
            // Nothing wraps.
            let Interval { low, high } = sum.range(&dag.extents)?;
            (dtype.holds(low) && dtype.holds(high)).then(|| index(dag, sum, dtype))
        }
        op if op.is_comparison() => {
            let narrow = |lin: &Lin| {
                let range = lin.range(&dag.extents);
                range.is_some_and(|r| DType::I16.holds(r.low) && DType::I16.holds(r.high))
            };
            if dtype.size() <= 2 || !narrow(&a) || !narrow(&b) {
                return None;
            }
            let [a, b] = [a, b].map(|lin| index(dag, lin, DType::I16));
            Some(dag.binary(op, a, b))
        }
        // Of numbers that are not negative, by one that is not zero.
        BinaryOp::Div | BinaryOp::Rem if b.terms.is_empty() && b.offset > 0 => {
            let Interval { low, high } = a.range(&dag.extents)?;
            if dtype.size() <= 2 || low < 0 || !DType::I16.holds(high) || !DType::I16.holds(b.offset) {
                return None;
            }
            let [a, b] = [a, b].map(|lin| index(dag, lin, DType::U16));
            let narrow = dag.binary(op, a, b);
            Some(dag.add(Node::Convert(narrow), dtype))
        }
        _ => None,
    }
}

/// The position that a node is, which its type holds.
pub(crate) fn position(dag: &Dag, node: NodeId) -> Option<Lin> {
    let lin = match &dag[node].node {
        Node::Index(lin) => lin.clone(),
        Node::Const(value) => Lin::constant(i64::try_from(value.as_i128()?).ok()?),
        _ => return None,
    };
    let Interval { low, high } = lin.range(&dag.extents)?;
    (dag[node].dtype.holds(low) && dag[node].dtype.holds(high)).then_some(lin)
}

fn index(dag: &mut Dag, lin: Lin, dtype: DType) -> NodeId {
    if lin.terms.is_empty() {
        return dag.constant(Scalar::from_i128(dtype, lin.offset.into()));
    }
    dag.add(Node::Index(lin), dtype)
}
