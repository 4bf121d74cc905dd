//! Sums of products as tiles: which expressions are ones, and how they are cut.

use super::expression::Expression;
use super::schedule::WARP;
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Node, NodeId};
use surject_ir::{AccOp, BinaryOp};

/// A sum of products of a left and a right value: with loops over points that only one of them depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// Loops of the left value.
    pub rows: Vec<String>,
    /// Loops of the right value.
    pub columns: Vec<String>,
    /// Loops of the sum.
    pub terms: Vec<String>,
}

/// The parts of a sum of products.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(crate) sum: NodeId,
    pub(crate) left: NodeId,
    pub(crate) right: NodeId,
}

/// How a sum of products is cut into tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// The loop over rows, that over columns, and that over terms which are cut.
    pub loops: [String; 3],
    /// Rows, columns and terms of a tile, which a block brings into shared memory.
    pub tile: [i64; 3],
    /// The rows of a thread, and its columns that lie next to each other.
    pub thread: [i64; 2],
}

impl Tiles {
    /// The warps of a block: each has some rows of the tile.
    pub fn warps(&self) -> i64 {
        self.tile[0] / self.thread[0].max(1)
    }

    /// How often the columns of a thread repeat: those of the threads of a warp lie between.
    pub(crate) fn groups(&self) -> i64 {
        self.tile[1] / (WARP * self.thread[1].max(1))
    }
}

/// Tiles that fit an expression.
#[derive(Clone, Debug)]
pub(crate) struct Contraction {
    pub(crate) parts: Parts,
    pub(crate) loops: [LoopId; 3],
    pub(crate) tiles: Tiles,
}

impl Expression {
    /// The parts of the only reduction, if that is a sum of products.
    pub(crate) fn parts(&self) -> Option<Parts> {
        let mut reductions =
            self.nodes().into_iter().filter(|&n| matches!(self.dag[n].node, Node::Reduce { .. }));
        let (sum, None) = (reductions.next()?, reductions.next()) else { return None };
        let Node::Reduce { op: AccOp::Add, body, .. } = self.dag[sum].node else { return None };
        let Node::Binary(BinaryOp::Mul, left, right) = self.dag[body].node else { return None };
        // One output that is stored, each element once.
        let [output] = &self.outputs[..] else { return None };
        let all: LoopSet = self.loops.iter().copied().collect();
        let once = self.loops.iter().all(|&l| self.free.contains(l));
        let reads_itself = self.nodes().into_iter().any(|n| match self.dag[n].node {
            Node::Load { buf, .. } => buf == output.to,
            _ => false,
        });
        (output.join.is_none()
            && once
            && !reads_itself
            && self.dag[sum].deps.minus(all) == LoopSet::default())
        .then_some(Parts { sum, left, right })
    }

    /// The expression as a sum of products, if it is one.
    pub fn product(&self) -> Option<Product> {
        let parts = self.parts()?;
        let (left, right) = (self.dag[parts.left].deps, self.dag[parts.right].deps);
        let names = |of: LoopSet, not: LoopSet| -> Vec<String> {
            let own = self.loops.iter().filter(|&&l| of.contains(l) && !not.contains(l));
            own.map(|&l| self.name(l)).collect()
        };
        let Node::Reduce { loops, .. } = &self.dag[parts.sum].node else { return None };
        let terms = loops.iter().filter(|&&l| left.contains(l) && right.contains(l));
        let terms = terms.map(|&l| self.name(l)).collect();
        Some(Product { rows: names(left, right), columns: names(right, left), terms })
    }
}

/// Checks tiles against an expression; an error says what does not fit.
pub(crate) fn fit(expression: &Expression, tiles: &Tiles) -> Result<Contraction, String> {
    let parts = expression.parts().ok_or("the expression is no sum of products over independent points")?;
    let product = expression.product().ok_or("the expression is no sum of products")?;
    for (name, all, what) in [
        (&tiles.loops[0], &product.rows, "only the left value depends on"),
        (&tiles.loops[1], &product.columns, "only the right value depends on"),
        (&tiles.loops[2], &product.terms, "the sum runs over"),
    ] {
        if !all.contains(name) {
            return Err(format!("`{name}` is no loop that {what}; there are {}", all.join(", ")));
        }
    }
    let [m, n, k] = tiles.tile;
    let [rows, columns] = tiles.thread;
    if [m, n, k, rows, columns].iter().any(|&x| x < 1) {
        return Err("a tile has rows, columns and terms".into());
    }
    if m % rows != 0 || !(1..=WARP).contains(&tiles.warps()) {
        return Err(format!("{m} rows are not those of 1 to {WARP} warps with {rows} each"));
    }
    if n % (WARP * columns) != 0 || m % WARP != 0 || k % WARP != 0 || k % tiles.warps() != 0 {
        return Err(format!(
            "a tile of {m} by {n} by {k}: the columns are multiples of {}, rows and terms of {WARP}",
            WARP * columns
        ));
    }
    let id = |name: &String| expression.id(name).ok_or_else(|| format!("there is no loop `{name}`"));
    let loops = [id(&tiles.loops[0])?, id(&tiles.loops[1])?, id(&tiles.loops[2])?];
    Ok(Contraction { parts, loops, tiles: tiles.clone() })
}
