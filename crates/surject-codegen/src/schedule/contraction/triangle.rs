//! The parts of a contraction that tiles need not visit, where a mask or a guard cuts its space (triangular loops).
//!
//! Causal attention has both: scores above the diagonal are the fill of the mask whatever the product is, and the weights
//! made of them are zeros, so the sum over the values ends at the diagonal. The first is known before anything runs. The
//! second needs two looks at run time: the weights of the rows at hand have to be zero beyond the edge, and the other
//! factor has to be finite, for zero times infinity is no zero. Packed panels of columns say behind their end whether all
//! they hold is finite.

use crate::expression::dag::Dag;
use crate::expression::output::Output;
use crate::expression::stored_tail::Side;
use crate::expression::tail::{Digit, Edge, Tail, tail};
use crate::schedule::contraction::{Contraction, product};
use surject_ir::{AccOp, DType};

/// What no tile visits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Triangle {
    /// Positions along the columns where what is stored does not depend on the sum.
    pub(crate) columns: Vec<Tail>,
    /// Positions along the sum where the factor of the rows has one value for each row, which may be zero.
    pub(crate) terms: Vec<Tail>,
}

impl Triangle {
    /// Does a panel of columns say whether all of it is finite?
    pub(crate) fn has_marks(&self, dtype: DType) -> bool {
        dtype.is_float() && !self.terms.is_empty()
    }
}

/// Fewer terms, or columns, than these are not worth bounds of their own.
const LEAST: i64 = 64;

/// The part of an edge that the rows of a tile decide: a digit of the last loop of the rows.
pub(crate) fn row_digit(c: &Contraction, edge: &Edge) -> Option<Digit> {
    edge.digits.iter().copied().find(|d| c.rows.last() == Some(&d.l))
}

/// Is an edge known where the rows of a tile and its batch are?
fn is_of_rows(c: &Contraction, edge: &Edge) -> bool {
    let own = |d: &Digit| c.rows.last() == Some(&d.l) || c.batch.contains(&d.l);
    c.filled.is_none() && edge.divisor == 1 && edge.digits.iter().all(own)
}

/// What tiles of a contraction need not visit.
pub(crate) fn triangle(dag: &Dag, outputs: &[Output], c: &Contraction, op: Option<AccOp>) -> Triangle {
    let [output] = outputs else { return Triangle::default() };
    if c.pairs.is_some() || c.matrix || c.streams || c.grouped {
        return Triangle::default();
    }
    let along = |root, l| {
        let found = Side::BOTH.into_iter().filter_map(move |side| tail(dag, root, l, side));
        found.filter(|t| is_of_rows(c, &t.edge)).collect::<Vec<_>>()
    };
    let columns = if dag.extent(c.lane) < LEAST { Vec::new() } else { along(output.root, c.lane) };
    let sum: Vec<_> = c.sum.iter().copied().filter(|&l| dag.extent(l) > 1).collect();
    let terms = match (&sum[..], op) {
        (&[l], Some(AccOp::Add)) if product(dag, &sum) >= LEAST => along(c.factors[0], l),
        _ => Vec::new(),
    };
    Triangle { columns, terms }
}
