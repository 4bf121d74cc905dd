//! Stored values: where they go and what they are.

use crate::CodegenError;
use crate::expression::address::Lin;
use crate::expression::dag::{Buf, Dag, Node, NodeId, Parts};
use crate::expression::stop::Stop;
use surject_ir::AccOp;

/// The outputs of a value: one, or the two parts of a complex number.
pub fn outputs(to: Buf, address: Lin, parts: Parts, join: Option<AccOp>) -> Result<Vec<Output>, Stop> {
    let Some(im) = parts.im else { return Ok(vec![Output { to, address, root: parts.re, join }]) };
    if let Some(op) = join {
        crate::expression::complex::accumulates_by_parts(op)?;
    }
    let overflow = || CodegenError::overflow("a complex tensor");
    let re = address.times(2).ok_or_else(overflow)?;
    let next = re.plus(&Lin::constant(1), 1).ok_or_else(overflow)?;
    Ok(vec![Output { to, address: re, root: parts.re, join }, Output { to, address: next, root: im, join }])
}

/// A stored value: where it goes and what it is.
#[derive(Clone, Debug)]
pub struct Output {
    /// The tensor that is written.
    pub to: Buf,
    /// The row-major position that is written, in elements of the type of the node.
    pub address: Lin,
    /// What is written.
    pub root: NodeId,
    /// What joins it to the element that is there.
    pub join: Option<AccOp>,
}

/// The tensors of a kernel: some, then those that nodes load.
pub fn buffers(dag: &Dag, first: &[Buf], roots: &[NodeId]) -> Vec<Buf> {
    let mut buffers = first.to_vec();
    for id in dag.all_reachable(roots) {
        if let Node::Load { buf, .. } | Node::Gather { buf, .. } = dag[id].node
            && buf != Buf::OWN
            && !buffers.contains(&buf)
        {
            buffers.push(buf);
        }
    }
    buffers
}
