//! What the rows of blocks are: one loop, or several that memory has as one.

use crate::CodegenError;
use crate::code::Value;
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Dag, NodeId};
use crate::expression::output::Output;
use crate::lower::emit::{Emitter, ScopeId};
use crate::lower::units::decode;
use crate::schedule::transpose::BlockTranspose;

/// What the rows of blocks are.
pub(super) struct Along {
    /// The loop over them.
    pub(super) all: LoopId,
    /// The loops that its numbers are made of, if it is none of the kernel's own.
    pub(super) digits: Vec<LoopId>,
    pub(super) loads: Vec<NodeId>,
    /// How many a block has.
    pub(super) block: usize,
}

impl Along {
    /// How far apart rows are that follow each other, if all are.
    pub(super) fn distance(&self, address: &Lin) -> Option<i64> {
        self.digits.is_empty().then(|| address.coeff(self.all))
    }

    /// Gives the loops of the kernel their values in the scope of a row.
    pub(super) fn bind(&self, em: &mut Emitter<'_>, scope: ScopeId, row: Value) {
        decode(em, scope, &self.digits, row);
    }
}

/// The kernel with one loop for those that loads run along.
pub(super) fn joined(
    dag: &Dag,
    outputs: &[Output],
    transposed: &BlockTranspose,
) -> Result<(Along, Dag, Vec<Output>), CodegenError> {
    let unsupported = || CodegenError::unsupported("a transposition of more than 128 loops");
    let mut result = dag.clone();
    let all =
        result.add_loop(transposed.along.iter().map(|&l| dag.extent(l)).product()).ok_or_else(unsupported)?;
    let (mut outputs, mut loads) = (outputs.to_vec(), Vec::new());
    for &load in &transposed.loads {
        let one = |lin: &Lin| {
            let mut lin = lin.clone();
            lin.terms.retain(|t| !transposed.along.contains(&t.0));
            lin.plus(&Lin::var(all), 1)
        };
        let node = dag[load].node.mapped(&|x| x, &one).ok_or_else(unsupported)?;
        let node = result.add(node, dag[load].dtype);
        for output in &mut outputs {
            output.root = result.replaced(output.root, load, node).ok_or_else(unsupported)?;
        }
        loads.push(node);
    }
    Ok((Along { all, digits: transposed.along.clone(), loads, block: transposed.rows }, result, outputs))
}
