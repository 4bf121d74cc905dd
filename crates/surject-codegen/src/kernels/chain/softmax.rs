//! Rows that are a softmax of their scores, which need not be there all at once.
//!
//! With the highest score so far `m`, and the sum so far `l` of `exp(s - m)`, a tile of further scores gives `m'` and
//! `l' = exp(m - m') l + Σ exp(s - m')`; what is summed of products is scaled like `l`, and divided by it in the end. No
//! other expression of rows may be taken for one, so the form is checked operation by operation.
//!
//! Infinities and values that are no numbers follow the expression: a row whose scores are all −∞ has the sum 0 and is
//! 0/0 in the end; ∞ or a NaN among the scores of a row makes its sum one. Where a result is not finite, the sums
//! are made again with `exp(s - m) / l` as the expression has it, so that a product that overflows before it is divided,
//! or of a weight that is zero and a value that is infinite, is what it is there.

use super::{Chain, ChainTiles, Phase};
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Dag, Node, NodeId};
use crate::kernels::chain::HeadSize;
use surject_ir::{AccOp, BinaryOp, DType, Scalar, UnaryOp, Var};

/// What a softmax is of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Softmax {
    /// The load of what was summed.
    pub(crate) load: NodeId,
    /// What is computed of it, of which the exponential is.
    pub(crate) score: NodeId,
}

/// The most columns of a tile of matrix units, and of threads.
const COLUMNS: i64 = 256;

impl Chain {
    /// The rows as a softmax. An error says why they are none.
    pub(crate) fn softmax(&self) -> Result<Softmax, String> {
        self.middle.softmax(self.between[0], self.columns)
    }

    /// May the scores of a block be made a tile at a time? An error says why not.
    pub fn by_tiles(&self) -> Result<(), String> {
        self.softmax()?;
        self.last.as_ref().ok_or("the rows are not multiplied").map(drop)?;
        Ok(())
    }

    /// How large a head is, if it has one loop over terms.
    pub fn head(&self) -> Option<HeadSize> {
        let last = self.last.as_ref()?;
        let first = self.first.expression.product()?;
        let [term] = &first.terms[..] else { return None };
        let product = last.expression.product()?;
        let longest = product.columns.iter().filter_map(|name| last.expression.find(name)).map(|l| l.extent);
        Some(HeadSize { terms: self.first.expression.find(term)?.extent, columns: longest.max()? })
    }

    /// Do tiles fit a chain whose scores are made a tile at a time?
    pub(crate) fn fit_by_tiles(&self, tiles: &ChainTiles) -> Result<(), String> {
        self.by_tiles()?;
        let head = self.head().ok_or("the first sums have several loops")?;
        let [[columns, terms], [last_columns, last_terms]] = tiles.tiles;
        if terms < head.terms || last_columns < head.columns {
            return Err(format!(
                "a tile of {terms} terms and {last_columns} columns, where there are {} and {}",
                head.terms, head.columns
            ));
        }
        if columns != last_terms || columns > COLUMNS {
            return Err(format!("tiles of {columns} columns, which are {last_terms} terms then"));
        }
        Ok(())
    }

    /// The score that stands in the place of what a mask throws away, where tiles of nothing else can be left out: their
    /// weights are zero as soon as `exp` of it less the highest score is.
    pub fn left_out(&self) -> Option<Scalar> {
        let softmax = self.softmax().ok()?;
        let fill = self.condition.as_ref().and(self.first.expression.thrown_away())?;
        let value = fill.as_f64();
        (softmax.load == softmax.score && !value.is_nan() && value < f64::INFINITY).then_some(fill)
    }
}

impl Phase {
    fn softmax(&self, scores: Var, columns: i64) -> Result<Softmax, String> {
        let dag = &self.expression.dag;
        let root = match dag[self.expression.outputs[0].root].node {
            Node::Convert(x) => x,
            _ => self.expression.outputs[0].root,
        };
        let Node::Binary(BinaryOp::Div, weight, sum) = dag[root].node else {
            return Err("the rows are no quotients".into());
        };
        let (score, highest) = self.exponential(weight).ok_or("no exponential of a difference is divided")?;
        if dag[root].dtype != DType::F32 || dag[score].dtype != DType::F32 {
            return Err("a softmax is computed in f32".into());
        }
        self.is_highest(highest, score, columns)?;
        let (along, body) = self.reduction(sum, AccOp::Add, columns).ok_or("what divides is no sum")?;
        let (term, of_term) = self.exponential(body).ok_or("what divides is no sum of exponentials")?;
        if !self.is_same(term, along, score) {
            return Err("what divides is a sum of other exponentials".into());
        }
        if of_term != highest {
            self.is_highest(of_term, score, columns)?;
        }
        let mut loads = Vec::new();
        for n in dag.all_reachable(&[score]) {
            match &dag[n].node {
                Node::Load { buf, address, .. } if self.is(*buf, scores) => {
                    loads.push(n);
                    if address.coeff(self.along) != 1 {
                        return Err("a score of another column".into());
                    }
                }
                Node::Reduce { .. } | Node::Gather { .. } | Node::Param(..) => {
                    return Err("a score is computed of others".into());
                }
                _ => {}
            }
        }
        let [load] = loads[..] else { return Err("the scores are not computed of the sums".into()) };
        Ok(Softmax { load, score })
    }

    /// The operands of the difference whose exponential a value is.
    fn exponential(&self, value: NodeId) -> Option<(NodeId, NodeId)> {
        let dag = &self.expression.dag;
        let Node::Unary(UnaryOp::Exp, difference) = dag[value].node else { return None };
        match dag[difference].node {
            Node::Binary(BinaryOp::Sub, score, highest) => Some((score, highest)),
            _ => None,
        }
    }

    /// The loop of a reduction along all columns, and what is joined.
    fn reduction(&self, value: NodeId, wanted: AccOp, columns: i64) -> Option<(LoopId, NodeId)> {
        let dag = &self.expression.dag;
        let Node::Reduce { op, loops, body, .. } = &dag[value].node else { return None };
        let [along] = loops[..] else { return None };
        (*op == wanted && dag.extent(along) == columns && dag[value].dtype == DType::F32)
            .then_some((along, *body))
    }

    fn is_highest(&self, value: NodeId, score: NodeId, columns: i64) -> Result<(), String> {
        let found = self.reduction(value, AccOp::Max, columns);
        let (along, body) = found.ok_or("what is subtracted is no maximum of the row")?;
        if self.is_same(body, along, score) { Ok(()) } else { Err("a maximum of other scores".into()) }
    }

    /// Is a value, where one loop is that along the columns, another one?
    fn is_same(&self, value: NodeId, along: LoopId, other: NodeId) -> bool {
        let mut dag: Dag = self.expression.dag.clone();
        let place = Lin::var(self.along);
        dag.import(&self.expression.dag, value, &|lin| lin.substitute(along, &place)) == Some(other)
    }
}
