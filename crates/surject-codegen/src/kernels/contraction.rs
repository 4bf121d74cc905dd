//! Sums of products as tiles: which expressions are ones, and how they are cut.

use super::expression::Expression;
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Node, NodeId};
use std::fmt;
use surject_ir::{AccOp, BinaryOp, DType};

/// The threads of a warp.
pub(crate) const WARP: i64 = 32;

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
    /// Who sums what of it.
    pub share: Share,
}

/// Who sums what of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Each thread so many rows, and columns that lie next to each other.
    Thread([i64; 2]),
    /// The matrix units of a warp so many rows and all columns; products of `f16` or `bf16` are not rounded before they
    /// are summed.
    Warp(i64),
}

impl Tiles {
    /// The warps of a block: each has some rows of the tile.
    pub fn warps(&self) -> i64 {
        match self.share {
            Share::Thread([rows, _]) | Share::Warp(rows) => self.tile[0] / rows.max(1),
        }
    }

    /// Reads what stands behind `contract`.
    pub(crate) fn read(words: &[&str]) -> Result<Tiles, String> {
        let number = |word: &str| word.parse().map_err(|_| format!("`{word}` is no number"));
        let [rows, columns, terms, "tile", m, n, k, share @ ..] = words else {
            return Err("a product is `contract ROWS COLUMNS TERMS tile M N K thread M N|warp M`".into());
        };
        let share = match share {
            ["thread", own, lanes] => Share::Thread([number(own)?, number(lanes)?]),
            ["warp", own] => Share::Warp(number(own)?),
            _ => return Err("a tile is shared by `thread ROWS COLUMNS` or `warp ROWS`".into()),
        };
        let loops = [rows, columns, terms].map(|l| l.to_string());
        Ok(Tiles { loops, tile: [number(m)?, number(n)?, number(k)?], share })
    }
}

impl fmt::Display for Tiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [m, n, k] = self.tile;
        write!(f, "contract {} tile {m} {n} {k} ", self.loops.join(" "))?;
        match self.share {
            Share::Thread([rows, columns]) => write!(f, "thread {rows} {columns}"),
            Share::Warp(rows) => write!(f, "warp {rows}"),
        }
    }
}

/// Tiles that fit an expression.
#[derive(Clone, Debug)]
pub(crate) struct Contraction {
    pub(crate) parts: Parts,
    pub(crate) loops: [LoopId; 3],
    pub(crate) tiles: Tiles,
}

impl Contraction {
    /// The loops whose last tile is not whole.
    pub(crate) fn cut(&self, expression: &Expression) -> Vec<LoopId> {
        let cut = self.loops.iter().zip(self.tiles.tile);
        cut.filter(|&(&l, by)| expression.dag.extent(l) % by != 0).map(|(&l, _)| l).collect()
    }
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

    /// The type of a product that matrix units do not have.
    fn matrix_type(&self, parts: &Parts) -> Option<DType> {
        let (left, right) = (self.dag[parts.left].dtype, self.dag[parts.right].dtype);
        let has = left == right && matches!(left, DType::F16 | DType::BF16);
        (!has).then_some(if left == right { left } else { right })
    }

    /// Do matrix units have the types of this sum of products?
    pub fn suits_matrix_units(&self) -> bool {
        self.parts().is_some_and(|parts| self.matrix_type(&parts).is_none())
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
    let (rows, columns) = match tiles.share {
        Share::Thread([rows, columns]) => (rows, columns),
        Share::Warp(rows) => (rows, 1),
    };
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
    if matches!(tiles.share, Share::Warp(_)) {
        if let Some(dtype) = expression.matrix_type(&parts) {
            return Err(format!("matrix units multiply f16 or bf16 of one type here, not {dtype}"));
        }
        if rows % 16 != 0 || n > 8 * WARP || m % tiles.warps() != 0 {
            return Err(format!(
                "the rows of a warp are multiples of 16, not {rows}, and the columns at most 256"
            ));
        }
    }
    let id = |name: &String| expression.id(name).ok_or_else(|| format!("there is no loop `{name}`"));
    let loops = [id(&tiles.loops[0])?, id(&tiles.loops[1])?, id(&tiles.loops[2])?];
    Ok(Contraction { parts, loops, tiles: tiles.clone() })
}
