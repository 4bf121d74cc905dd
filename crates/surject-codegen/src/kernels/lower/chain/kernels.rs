//! The kernels of a chain: those of its products and rows, and the one that says which values are finite.

use super::{lower_chain, lower_listed, lower_online};
use crate::CodegenError;
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::Node;
use crate::expression::output::Output;
use crate::kernels::chain::{Chain, ChainTiles, FLAGS, Phase, Scores};
use crate::kernels::contraction::{Tiles, WARP};
use crate::kernels::expression::{Expression, Tensor};
use crate::kernels::lower::Launch;
use crate::kernels::schedule::{Directive, Schedule, resolve};
use std::collections::BTreeMap;
use surject_index::Space;
use surject_ir::{BinaryOp, DType, Scalar, TensorType};

/// The kernels of a chain, in order, and the types of its temporaries.
#[derive(Clone, Debug)]
pub struct ChainKernels {
    /// What says which values are finite, where products are left out.
    pub finite: Option<Expression>,
    /// The chain.
    pub chain: Launch,
    /// The types of the temporaries.
    pub temporaries: Vec<TensorType>,
}

impl Chain {
    /// The kernels by some tiles. An error says what does not fit.
    pub fn kernels(&self, name: &str, tiles: &ChainTiles) -> Result<ChainKernels, String> {
        for (cut, expression) in self.tiles(tiles)?.into_iter().zip(self.products().into_iter().flatten()) {
            let schedule = Schedule { directives: vec![Directive::Contract(cut)] };
            resolve(expression, &schedule).map_err(|error| error.to_string())?;
        }
        let fastest = self.digits.first().map_or(1, |d| d.values);
        if fastest % tiles.rows != 0 {
            return Err(format!("{} rows do not divide {fastest}", tiles.rows));
        }
        let leaves_out = match tiles.scores {
            Scores::All => self.condition.is_some(),
            Scores::Tile => {
                self.fit_by_tiles(tiles)?;
                self.left_out().is_some()
            }
        };
        let mut temporaries = Vec::new();
        let mut finite = None;
        if let (Some(last), true) = (&self.last, leaves_out) {
            let flags = self.finite(last, tiles.tiles[1][1]).map_err(|error| error.to_string())?;
            if let Some((flags, ty)) = flags {
                temporaries.push(ty);
                finite = Some(flags);
            }
        }
        let lower = match tiles.scores {
            Scores::All => lower_chain,
            Scores::Tile => lower_online,
        };
        let chain = lower(name, self, tiles, finite.as_ref()).map_err(|error| error.to_string())?;
        surject_kernel::verify(&chain.kernel).map_err(|error| error.to_string())?;
        Ok(ChainKernels { finite, chain, temporaries })
    }

    /// The last sums of products by kernels of their own, which leave out tiles that a mask made zero. An error says what
    /// does not fit.
    pub fn listed(&self, name: &str, tiles: &Tiles) -> Result<ChainKernels, String> {
        let last = self.last.as_ref().ok_or("the chain has no last sums")?;
        if self.condition.is_none() || !self.middle.depends_on_scores(self.between[0]) {
            return Err("what a mask throws away has no weight of its own".into());
        }
        let fill = self.first.expression.thrown_away();
        fill.ok_or("what stands in the place of sums is no constant")?;
        let names = |l: LoopId| last.expression.name(l);
        if tiles.loops[0] != names(last.row) || tiles.loops[2] != names(last.along) {
            return Err("the tiles are those of other loops".into());
        }
        if tiles.tile[2] % WARP != 0 {
            return Err(format!("{} terms are not looked at by whole warps", tiles.tile[2]));
        }
        let fastest = self.digits.first().map_or(1, |d| d.values);
        if fastest % tiles.tile[0] != 0 {
            return Err(format!("{} rows do not divide {fastest}", tiles.tile[0]));
        }
        let finite = self.finite(last, tiles.tile[2]).map_err(|error| error.to_string())?;
        let (finite, ty) = finite.ok_or("the terms are not whole tiles")?;
        let chain = lower_listed(name, self, tiles, &finite).map_err(|error| error.to_string())?;
        surject_kernel::verify(&chain.kernel).map_err(|error| error.to_string())?;
        Ok(ChainKernels { finite: Some(finite), chain, temporaries: vec![ty] })
    }

    /// For every tile of terms, and every row that its right value depends on: zero where all of that value is finite,
    /// else a number that is none.
    fn finite(&self, last: &Phase, terms: i64) -> Result<Option<(Expression, TensorType)>, CodegenError> {
        let overflow = || CodegenError::overflow("a tensor of tiles");
        let expression = &last.expression;
        let Some(parts) = expression.parts() else { return Ok(None) };
        let Node::Reduce { op, field, .. } = expression.dag[parts.sum].node.clone() else { return Ok(None) };
        let extent = expression.dag.extent(last.along);
        if extent % terms != 0 {
            return Ok(None);
        }
        let tiles = extent / terms;
        let mut dag = expression.dag.clone();
        let many = || CodegenError::malformed("more loops than a kernel has");
        let tile = dag.add_loop(tiles).ok_or_else(many)?;
        let term = dag.add_loop(terms).ok_or_else(many)?;
        let place =
            Lin::var(tile).times(terms).and_then(|a| a.plus(&Lin::var(term), 1)).ok_or_else(overflow)?;
        let own = dag
            .import(&expression.dag, parts.right, &|lin| lin.substitute(last.along, &place))
            .ok_or_else(overflow)?;
        let dtype = DType::F32;
        let own = if dag[own].dtype == dtype { own } else { dag.add(Node::Convert(own), dtype) };
        let zero = dag.add(Node::Const(Scalar::zero(dtype)), dtype);
        let body = dag.add(Node::Binary(BinaryOp::Mul, own, zero), dtype);
        let depends = dag[own].deps;
        let rows = last.flag_rows(expression.dag[parts.right].deps);
        let mut inner: Vec<LoopId> = expression
            .loops
            .iter()
            .copied()
            .filter(|&l| depends.contains(l) && !rows.iter().any(|r| r.0 == l))
            .collect();
        inner.push(term);
        let root = dag.add(Node::Reduce { op, loops: inner, body, field }, dtype);
        let count = rows.last().map_or(1, |r| r.1.saturating_mul(dag.extent(r.0)));
        let elements = count.checked_mul(tiles).ok_or_else(overflow)?;
        let mut address = Lin::var(tile);
        for &(l, step) in &rows {
            let by = step.checked_mul(tiles).ok_or_else(overflow)?;
            address = address.plus(&Lin::var(l), by).ok_or_else(overflow)?;
        }
        let to = FLAGS;
        let mut loops: Vec<LoopId> = rows.iter().rev().map(|r| r.0).collect();
        loops.push(tile);
        let free = loops.iter().copied().collect();
        let memory = BTreeMap::from([(to, (Tensor::Temporary(0), dtype, elements))]);
        let outputs = vec![Output { to, address, root, join: None }];
        let mut flags = Expression { dag, loops, outputs, free, memory };
        flags.remember(&expression.memory);
        let size = u64::try_from(elements).map_err(|_| overflow())?;
        Ok(Some((flags, TensorType::new(dtype, Space::of(&[size])))))
    }
}
