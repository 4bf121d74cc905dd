//! Arithmetic on positions: sums and differences of positions and constants are positions again, which costs nothing
//! inside a loop, and positions are compared as narrow integers where these hold them.

use crate::address::Lin;
use crate::dag::{Dag, Node, NodeId};
use surject_ir::{BinaryOp, DType, Scalar};

/// The result of an operation on two positions, one of which may be a constant, if it is something simpler.
pub(crate) fn binary(dag: &mut Dag, op: BinaryOp, x: NodeId, y: NodeId) -> Option<NodeId> {
    let dtype = dag[x].dtype;
    if !dtype.is_int() || [x, y].iter().all(|&n| matches!(dag[n].node, Node::Const(_))) {
        return None;
    }
    let (a, b) = (position(dag, x)?, position(dag, y)?);
    match op {
        BinaryOp::Add | BinaryOp::Sub => {
            let sum = a.plus(&b, if op == BinaryOp::Add { 1 } else { -1 })?;
            // Nothing wraps.
            let (low, high) = sum.range(&dag.extents)?;
            (holds(dtype, low) && holds(dtype, high)).then(|| index(dag, sum, dtype))
        }
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne => {
            let narrow = |lin: &Lin| {
                let range = lin.range(&dag.extents);
                range.is_some_and(|(low, high)| holds(DType::I16, low) && holds(DType::I16, high))
            };
            if dtype.size() <= 2 || !narrow(&a) || !narrow(&b) {
                return None;
            }
            let [a, b] = [a, b].map(|lin| index(dag, lin, DType::I16));
            Some(dag.binary(op, a, b))
        }
        _ => None,
    }
}

/// The position that a node is, which its type holds.
fn position(dag: &Dag, node: NodeId) -> Option<Lin> {
    let lin = match &dag[node].node {
        Node::Index(lin) => lin.clone(),
        Node::Const(value) => Lin::constant(i64::try_from(value.as_i128()?).ok()?),
        _ => return None,
    };
    let (low, high) = lin.range(&dag.extents)?;
    (holds(dag[node].dtype, low) && holds(dag[node].dtype, high)).then_some(lin)
}

fn index(dag: &mut Dag, lin: Lin, dtype: DType) -> NodeId {
    if lin.terms.is_empty() {
        return dag.constant(Scalar::from_i128(dtype, lin.offset.into()));
    }
    dag.add(Node::Index(lin), dtype)
}

/// Is a number one of an integer type?
fn holds(dtype: DType, value: i64) -> bool {
    Scalar::from_i128(dtype, value.into()).as_i128() == Some(value.into())
}
