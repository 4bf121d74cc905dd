//! Chains: a sum of products, rows that are computed of it, and a sum of products of those, in one kernel that stores
//! neither the first sums nor the rows in global memory. Attention is one: scores, their softmax, and its product with
//! the values.
//!
//! A block has some rows. It sums their products into a window of shared memory, computes the rows there, and
//! multiplies them from there. So every value is what three kernels would give, but for the order of sums.
//!
//! Or a block has a tile of its scores at a time ([`Scores::Tile`]): where the rows are a softmax (`softmax` finds that), what it has
//! summed so far is scaled as the highest score grows.
//!
//! What a mask throws away is not computed: where a condition picks a constant in the place of every sum of a tile, its
//! products are left out. Where all weights of a tile are zero and what they would be multiplied with is finite, that
//! product is left out too: it would add zeros. Both are found at run time, of the values of the mask and of the weights.

pub(crate) mod softmax;

use super::contraction::{Condition, Product, Share, Tiles};
use super::expression::{Expression, Tensor};
use crate::expression::address::{Guard, Lin, LoopId};
use crate::expression::dag::{Buf, Node, NodeId};
use crate::kernels::contraction::SubTile;
use std::collections::BTreeSet;
use std::fmt;
use surject_ir::Var;

/// Expressions that follow each other by rows. Each of the first ones is used by the next one alone.
#[derive(Clone, Debug)]
pub struct Chain {
    pub(crate) first: Phase,
    pub(crate) middle: Phase,
    pub(crate) last: Option<Phase>,
    /// The variables that the first and the middle expression define.
    pub(crate) between: [Var; 2],
    /// The columns of the first sums.
    pub(crate) columns: i64,
    /// How the rows of all expressions are numbered, the fastest digit
    /// first.
    pub(crate) digits: Vec<RowDigit>,
    /// What says which of the first sums are needed.
    pub(crate) condition: Option<Condition>,
}

/// An expression of a chain.
#[derive(Clone, Debug)]
pub(crate) struct Phase {
    pub(crate) expression: Expression,
    /// The loops over rows, with their steps in the number of a row.
    pub(crate) rows: Vec<(LoopId, i64)>,
    /// The loop over rows that runs fastest.
    pub(crate) row: LoopId,
    /// The loop along the columns of the first sums: over columns, or over terms in the last expression.
    pub(crate) along: LoopId,
}

/// How a chain is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainTiles {
    /// Rows of a block.
    pub rows: i64,
    /// Columns and terms of a tile of the first sums and of the last ones.
    pub tiles: [[i64; 2]; 2],
    /// Who sums what of a tile of each; both have as many warps.
    pub shares: [Share; 2],
    /// Which of its scores a block has at once.
    pub scores: Scores,
}

/// Which scores of its rows a block has at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scores {
    /// Those of all columns.
    All,
    /// Those of a tile of columns: the rows are a softmax. A tile of the first sums has all of their terms, one of the last
    /// sums all of their columns, and the columns of the one are the terms of the other.
    Tile,
}

impl fmt::Display for ChainTiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scores {
            Scores::All => write!(f, "chain rows {}", self.rows)?,
            Scores::Tile => write!(f, "chain by tiles rows {}", self.rows)?,
        }
        for ([columns, terms], share) in self.tiles.iter().zip(self.shares) {
            write!(f, " tile {columns} {terms} ")?;
            match share {
                Share::Thread(SubTile { rows, columns }) => write!(f, "thread {rows} {columns}")?,
                Share::Grid { own: SubTile { rows, columns }, across } => {
                    write!(f, "grid {rows} {columns} across {across}")?
                }
                Share::Warp(rows) => write!(f, "warp {rows}")?,
                Share::Warps(SubTile { rows, columns }) => write!(f, "warp {rows} {columns}")?,
                Share::Group(feed) => write!(f, "group{}", feed.text())?,
            }
        }
        Ok(())
    }
}

/// A digit of the numbers of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowDigit {
    /// How many rows are from one of its values to the next.
    pub(crate) step: i64,
    /// How many values it has.
    pub(crate) values: i64,
}

/// How large the first sums of a chain are.
#[derive(Clone, Copy, Debug)]
pub struct ScoreSize {
    /// The rows of all blocks.
    pub rows: i64,
    /// The columns.
    pub columns: i64,
}

/// The bytes of an element of what lies between the expressions of a chain; 0 for what needs no memory of its own.
#[derive(Clone, Copy, Debug)]
pub struct WindowBytes {
    /// The first sums.
    pub scores: usize,
    /// The rows that are made of them.
    pub weights: usize,
}

/// What an attention head has at once: the longest loops of its products.
#[derive(Clone, Copy, Debug)]
pub struct HeadSize {
    /// The terms of the first sums.
    pub terms: i64,
    /// The columns of the last sums.
    pub columns: i64,
}

impl Chain {
    /// Expressions as a chain: the first two with the variables that they define. An error says why they are none.
    pub fn new(
        (first, scores): (Expression, Var),
        (middle, weights): (Expression, Var),
        last: Option<Expression>,
    ) -> Result<Chain, String> {
        let product = first.product().ok_or("the first expression is no sum of products")?;
        let [column] = &product.columns[..] else { return Err("the columns are not one loop".into()) };
        let along = first.id(column).ok_or("the columns are no loop")?;
        let columns = first.dag.extent(along);
        let [output] = &first.outputs[..] else {
            return Err("the first expression has several results".into());
        };
        let address = output.address.clone();
        let first = Phase::new(first, &address, columns, along)?;
        if !product.rows.contains(&first.expression.name(first.row)) {
            return Err("the rows of the first sums are not those of its left value".into());
        }
        let middle = Phase::of_rows(middle, scores, columns)?;
        let last = last.map(|last| Phase::of_product(last, weights, columns)).transpose()?;
        let all = || [&first, &middle].into_iter().chain(&last);
        let digits = digits(all())?;
        let loads =
            |phase: &Phase, var: Var| phase.expression.memory.values().any(|m| m.0 == Tensor::Var(var));
        if last.as_ref().is_some_and(|last| loads(last, scores)) || loads(&first, scores) {
            return Err("the first sums are used elsewhere".into());
        }
        let condition = first.expression.condition();
        Ok(Chain { first, middle, last, between: [scores, weights], columns, digits, condition })
    }

    /// The first and the last sums of products as expressions.
    pub fn products(&self) -> [Option<&Expression>; 2] {
        [Some(&self.first.expression), self.last.as_ref().map(|last| &last.expression)]
    }

    /// The expressions, in order.
    pub fn expressions(&self) -> Vec<&Expression> {
        let last = self.last.as_ref().map(|last| &last.expression);
        [&self.first.expression, &self.middle.expression].into_iter().chain(last).collect()
    }

    /// The tensors of which the mask is made that throws some of the first sums away; `None`: there is none.
    pub fn mask(&self) -> Option<Vec<Tensor>> {
        self.first.expression.mask()
    }

    /// Does a mask throw some of the first sums away?
    pub fn is_masked(&self) -> bool {
        self.condition.is_some()
    }

    /// The variables between the expressions.
    pub fn between(&self) -> [Var; 2] {
        self.between
    }

    /// How large the first sums are.
    pub fn scores(&self) -> ScoreSize {
        ScoreSize { rows: self.digits.iter().map(|d| d.values).product(), columns: self.columns }
    }

    /// The bytes of what lies between the expressions.
    pub fn window_bytes(&self) -> WindowBytes {
        let dtype = |phase: &Phase| phase.expression.dag[phase.expression.outputs[0].root].dtype;
        let [scores, weights] = [dtype(&self.first), dtype(&self.middle)];
        let has_weights = self.last.is_some() && scores != weights;
        WindowBytes { scores: scores.size(), weights: if has_weights { weights.size() } else { 0 } }
    }

    /// The tiles of the first sums and of the last ones.
    pub fn tiles(&self, tiles: &ChainTiles) -> Result<Vec<Tiles>, String> {
        let mut all = Vec::new();
        for (number, phase) in [Some(&self.first), self.last.as_ref()].into_iter().enumerate() {
            let Some(phase) = phase else { continue };
            let name = |l: LoopId| phase.expression.name(l);
            let [columns, terms] = tiles.tiles[number];
            let product = phase.expression.product().ok_or("a sum of products that is none")?;
            let longest = |names: &[String]| {
                let extent = |n: &&String| phase.expression.find(n).map_or(0, |l| l.extent);
                names.iter().max_by_key(extent).cloned().ok_or("a product without a loop")
            };
            let Product { columns: of_columns, terms: of_terms, .. } = &product;
            let loops = match number {
                0 => [name(phase.row), name(phase.along), longest(of_terms)?],
                _ => [name(phase.row), longest(of_columns)?, name(phase.along)],
            };
            let tile = [tiles.rows, columns, terms];
            all.push(Tiles { loops, tile, share: tiles.shares[number], masked: false });
        }
        Ok(all)
    }
}

/// The memory that says which values are finite: no variable of a function.
pub(crate) const FLAGS: Buf = Buf(u32::MAX - 1);

impl Phase {
    /// An expression whose rows and columns an address names: columns next to each other, rows behind each other.
    fn new(expression: Expression, address: &Lin, columns: i64, along: LoopId) -> Result<Phase, String> {
        if address.offset != 0 || address.coeff(along) != 1 || expression.dag.extent(along) != columns {
            return Err("columns do not lie next to each other".into());
        }
        let mut rows = Vec::new();
        for &(l, by) in &address.terms {
            if l == along || expression.dag.extent(l) == 1 {
                continue;
            }
            if by <= 0 || by % columns != 0 {
                return Err("rows do not lie behind each other".into());
            }
            rows.push((l, by / columns));
        }
        rows.sort_by_key(|r| r.1);
        let mut next = 1;
        for &(l, step) in &rows {
            if step != next {
                return Err("rows are not numbered through".into());
            }
            next = step.checked_mul(expression.dag.extent(l)).ok_or("more rows than there are numbers")?;
        }
        let row = rows.first().map(|r| r.0).ok_or("there is one row")?;
        Ok(Phase { expression, rows, row, along })
    }

    /// How many rows there are.
    fn count(&self) -> i64 {
        self.rows.iter().map(|r| self.expression.dag.extent(r.0)).product()
    }

    /// Rows that are computed of those of a variable: each of its own row.
    fn of_rows(expression: Expression, scores: Var, columns: i64) -> Result<Phase, String> {
        let [output] = &expression.outputs[..] else { return Err("rows have several results".into()) };
        if output.join.is_some() || !expression.loops.iter().all(|&l| expression.free.contains(l)) {
            return Err("rows are joined".into());
        }
        let address = output.address.clone();
        let along = expression
            .loops
            .iter()
            .copied()
            .find(|&l| address.coeff(l) == 1 && expression.dag.extent(l) == columns);
        let along = along.ok_or("results of rows do not lie next to each other")?;
        if expression.loops.iter().any(|&l| expression.dag.extent(l) > 1 && address.coeff(l) == 0) {
            return Err("rows are computed more than once".into());
        }
        let phase = Phase::new(expression, &address, columns, along)?;
        let mut found = false;
        for n in phase.expression.nodes() {
            match &phase.expression.dag[n].node {
                Node::Load { buf, address, guards } if phase.is(*buf, scores) => {
                    found = true;
                    phase.is_own_row(address, guards)?;
                }
                Node::Reduce { loops, .. } => {
                    let outside = phase.expression.dag[n].deps;
                    let of_row = |l: LoopId| {
                        phase.rows.iter().any(|r| r.0 == l) || phase.expression.dag.extent(l) == 1
                    };
                    if loops.len() != 1 || !outside.loops().all(of_row) {
                        return Err("a reduction of rows is not along them".into());
                    }
                }
                Node::Gather { .. } | Node::Param(..) => return Err("rows are gathered".into()),
                _ => {}
            }
        }
        if !found {
            return Err("rows are not computed of the sums".into());
        }
        Ok(phase)
    }

    fn is(&self, buf: Buf, var: Var) -> bool {
        self.expression.memory.get(&buf).is_some_and(|m| m.0 == Tensor::Var(var))
    }

    /// Is an address one of the own row?
    fn is_own_row(&self, address: &Lin, guards: &[Guard]) -> Result<(), String> {
        let columns = self.expression.dag.extent(self.along);
        let mut own: BTreeSet<(LoopId, i64)> = self.rows.iter().map(|r| (r.0, r.1 * columns)).collect();
        let mut along = 0;
        for &(l, by) in &address.terms {
            if self.expression.dag.extent(l) == 1 || own.remove(&(l, by)) {
                continue;
            }
            if by != 1 || self.expression.dag.extent(l) != columns {
                return Err("rows are computed of others".into());
            }
            along += 1;
        }
        match own.is_empty() && along == 1 && address.offset == 0 && guards.is_empty() {
            true => Ok(()),
            false => Err("rows are computed of others".into()),
        }
    }

    /// Does a value depend on its column by the scores alone?
    pub(crate) fn depends_on_scores(&self, scores: Var) -> bool {
        let root = self.expression.outputs[0].root;
        let mut work = vec![root];
        while let Some(n) = work.pop() {
            let data = &self.expression.dag[n];
            if !data.deps.contains(self.along) {
                continue;
            }
            match &data.node {
                Node::Load { buf, .. } if self.is(*buf, scores) => {}
                Node::Load { .. } | Node::Gather { .. } | Node::Index(_) | Node::Guarded { .. } => {
                    return false;
                }
                Node::Reduce { .. } | Node::Param(..) => return false,
                node => work.extend(node.children()),
            }
        }
        true
    }

    /// A sum of products whose left value is rows of a variable.
    fn of_product(expression: Expression, weights: Var, columns: i64) -> Result<Phase, String> {
        let parts = expression.parts().ok_or("the last expression is no sum of products")?;
        if !expression.dag[parts.sum].dtype.is_float() {
            return Err("the last sums are no floats".into());
        }
        let loads = expression.nodes().into_iter().filter(|&n| match expression.dag[n].node {
            Node::Load { buf, .. } => {
                expression.memory.get(&buf).is_some_and(|m| m.0 == Tensor::Var(weights))
            }
            _ => false,
        });
        let loads: Vec<NodeId> = loads.collect();
        let left = match expression.dag[parts.left].node {
            Node::Convert(x) => x,
            _ => parts.left,
        };
        let [load] = loads[..] else { return Err("the rows are used more than once".into()) };
        let Node::Load { address, guards, .. } = expression.dag[load].node.clone() else {
            return Err("the rows are not loaded".into());
        };
        if left != load || !guards.is_empty() || !expression.dag[load].dtype.is_float() {
            return Err("the rows are not what is multiplied".into());
        }
        let Node::Reduce { loops, .. } = &expression.dag[parts.sum].node else {
            return Err("a sum that is none".into());
        };
        let [along] = loops[..] else { return Err("the last sums have several loops".into()) };
        let phase = Phase::new(expression, &address, columns, along)?;
        let product = phase.expression.product().ok_or("the last expression is no sum of products")?;
        if !product.rows.contains(&phase.expression.name(phase.row)) {
            return Err("the rows are not those of the left value".into());
        }
        let others = phase
            .expression
            .loops
            .iter()
            .filter(|&&l| phase.expression.dag.extent(l) > 1 && !phase.rows.iter().any(|r| r.0 == l));
        let others: Vec<String> = others.map(|&l| phase.expression.name(l)).collect();
        match &others[..] {
            [one] if product.columns.contains(one) => Ok(phase),
            _ => Err("the last sums have other loops than rows and columns".into()),
        }
    }

    /// The loops over rows among some, with steps in a numbering of their own.
    pub(crate) fn flag_rows(&self, among: crate::expression::address::LoopSet) -> Vec<(LoopId, i64)> {
        let mut step = 1i64;
        let own = self.rows.iter().filter(|r| among.contains(r.0));
        own.map(|&(l, _)| {
            let here = step;
            step = step.saturating_mul(self.expression.dag.extent(l));
            (l, here)
        })
        .collect()
    }
}

/// Digits in which the rows of all expressions are numbered.
fn digits<'a>(phases: impl Iterator<Item = &'a Phase> + Clone) -> Result<Vec<RowDigit>, String> {
    let mut steps = BTreeSet::new();
    let mut all = None;
    for phase in phases {
        if *all.get_or_insert(phase.count()) != phase.count() {
            return Err("the expressions have other rows".into());
        }
        steps.extend(phase.rows.iter().map(|r| r.1));
    }
    let all = all.ok_or("there are no rows")?;
    let steps: Vec<i64> = steps.into_iter().chain([all]).collect();
    let pairs = steps.windows(2).map(|pair| {
        let whole = pair[1] % pair[0] == 0;
        if !whole {
            return Err("rows are cut elsewhere".to_string());
        }
        Ok(RowDigit { step: pair[0], values: pair[1] / pair[0] })
    });
    pairs.collect()
}
