//! Tiles in registers for tiles: sixteen rows of sixteen elements each (AMX).
//!
//! One instruction takes sixteen elements of every row of a register and as many terms of every column, bytes or pairs of
//! `bf16`, and adds the products to a third register. A tile of a contraction is four of those, or two. The columns lie as
//! in any panel of elements that hold several points; rows lie one behind the other, each with its terms in their order.

use crate::Target;
use crate::expression::dag::{Dag, Node};
use crate::schedule::contraction::pairs::{self, Kind, Pairs};
use crate::schedule::contraction::{Contraction, TileSize, product};

/// Rows of a register, and elements of a row.
pub(crate) const SIDE: usize = 16;

/// Rows of a tile.
pub(crate) const HIGH: usize = 2 * SIDE;

/// Vectors that would be multiplied in the time of a term of a register: half of what there is to it.
pub(crate) const VECTORS: f64 = 8.0;

/// The least number of columns that fill registers well enough. Few rows leave them mostly empty, and are still multiplied
/// in less time than it takes to fetch the columns.
const LEAST: i64 = 12;

/// So many terms as whole registers.
pub(crate) fn whole(terms: i64) -> i64 {
    (terms as u64).next_multiple_of(SIDE as u64) as i64
}

/// A contraction with tiles in these registers, if the machine has them and its factors fit.
pub(crate) fn in_tiles(dag: &Dag, c: Contraction, target: &Target) -> Contraction {
    let Some(pairs) = c.pairs.and_then(|pairs| of_tiles(dag, &c, pairs, target)) else { return c };
    // The elements of a row lie one behind the other along the innermost loop.
    let outer = c.sum.iter().copied().filter(|&l| l != pairs.along);
    let changed = Contraction {
        sum: outer.chain([pairs.along]).collect(),
        pairs: Some(pairs),
        matrix: true,
        filled: None,
        tile: TileSize { high: HIGH, ..c.tile },
        usual: HIGH,
        ..c.clone()
    };
    let wide = c.tile.lanes == SIDE && product(dag, &c.rows) > 1 && dag.extent(c.lane) >= LEAST;
    if wide && !c.streams && changed.row_pack(dag).may_be_transposed(dag, &c.rows) { changed } else { c }
}

/// What the elements of registers for tiles hold.
fn of_tiles(dag: &Dag, c: &Contraction, pairs: Pairs, target: &Target) -> Option<Pairs> {
    let Node::Reduce { body, .. } = dag[c.node].node else { return None };
    let Node::Binary(_, x, y) = dag[body].node else { return None };
    // The terms are products of the factors and nothing more.
    if ![[x, y], [y, x]].contains(&c.factors) {
        return None;
    }
    let kind = match pairs.kind {
        Kind::Halves if target.tiles.halves => Kind::Halves,
        Kind::Integers if target.tiles.bytes => pairs::bytes(dag, c.factors)?,
        _ => return None,
    };
    Some(Pairs { kind, ..pairs })
}
