//! Products that tiles are not for. A vector times a large matrix is a reduction down long columns: no tile reads the
//! matrix in the order of memory. With very few columns, or rows, tiles would have vectors of few lanes, and each row
//! of one a load for every term: sums of the terms in lanes, one for each element, are left to the row emitter.

use super::{Contraction, product};
use crate::Target;
use crate::address::LoopId;
use crate::dag::{Dag, Node, NodeId};
use crate::schedule::Output;
use surject_ir::{DType, FieldId};

/// More columns are worth tiles.
const MOST: i64 = 4;
/// Shorter sums are not worth joining the lanes of one for every element.
const TERMS: i64 = 128;
/// Fewer rows are not worth storing the columns along the sum first.
const ROWS: i64 = 256;

/// What is to be done before the terms of both factors lie side by side.
pub(crate) enum Dots {
    /// Nothing.
    Ready,
    /// This factor is stored over these loops.
    Stored(NodeId, Vec<LoopId>),
}

impl Contraction {
    /// The accumulation, if it is one row times a matrix that does not stay in a cache and lies in memory row by row.
    pub(crate) fn vector_by_matrix(&self, dag: &Dag, target: &Target) -> Option<FieldId> {
        let Node::Reduce { field, .. } = dag[self.node].node else { return None };
        let Node::Load { address, guards, .. } = &dag[self.factors[1]].node else { return None };
        let float = matches!(dag[self.node].dtype, DType::F32 | DType::F64);
        let alone = [&self.rows, &self.batch].into_iter().all(|loops| product(dag, loops) == 1);
        let far = 2.0 * dag.bytes(self.factors[1]) > target.cache_bytes as f64;
        (float && alone && far && guards.is_empty() && address.coeff(self.lane) == 1).then_some(field)
    }

    /// Is it a sum in lanes for each element? `None`: it has tiles.
    pub(crate) fn dots(&self, dag: &Dag, output: &Output) -> Option<Dots> {
        let &[sum] = &self.sum[..] else { return None };
        let float = matches!(dag[self.node].dtype, DType::F32 | DType::F64);
        if !float || self.pairs.is_some() || !self.batch.is_empty() || dag.extent(sum) < TERMS {
            return None;
        }
        let columns: Vec<LoopId> = self.columns.iter().copied().chain([self.lane]).collect();
        let sides = [(&self.rows, self.factors[0]), (&columns, self.factors[1])];
        let lies_along = |factor: NodeId| match &dag[factor].node {
            Node::Load { address, guards, .. } => address.coeff(sum) == 1 && guards.is_empty(),
            _ => false,
        };
        let apart = |l: &LoopId| output.address.coeff(*l).abs();
        for ((few, own), (many, other)) in [(sides[0], sides[1]), (sides[1], sides[0])] {
            // The terms of a row are read again at once, for the next of the few.
            let inside = few.iter().map(apart).max() < many.iter().map(apart).min();
            let worth = product(dag, few) <= MOST && product(dag, many) >= ROWS;
            if !inside || !worth || !lies_along(other) {
                continue;
            }
            if lies_along(own) {
                return Some(Dots::Ready);
            }
            let loops: Vec<LoopId> = few.iter().copied().chain([sum]).collect();
            let others = dag[own].deps.minus(loops.iter().copied().collect());
            return others.loops().all(|l| dag.extent(l) <= 1).then_some(Dots::Stored(own, loops));
        }
        None
    }
}
