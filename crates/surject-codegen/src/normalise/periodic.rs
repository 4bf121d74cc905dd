//! Short rows beside values that repeat with every row: `x[i, k] - mean[k]` with three channels.
//!
//! Done row by row such rows fill a vector in part, done column by column they are loaded and stored apart. With the
//! values that repeat written out for many rows, in memory that stays in a cache, all of it runs through memory as one
//! loop.

use crate::Target;
use crate::expression::address::{Guard, Lin, LoopId, LoopSet};
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::normalise::pulled::{Blocked, Pulled};

/// Rows that fill three quarters of their vectors are not short, nor are longer ones.
const VECTOR: u64 = 16;

const LONG: i64 = 64;

/// How many elements values are written out for, at most: of several values all stay in the innermost cache.
const MOST: i64 = 1024;

/// The least of them where they are all rows: their loops become one.
const WHOLE: i64 = 32;

/// How many values are written out.
const VALUES: usize = 4;

/// Short rows, and what repeats beside them.
pub(crate) struct Periodic {
    /// The loop over the rows of a block, and that along a row.
    pub rows: LoopId,
    pub row: LoopId,
    /// The values that repeat.
    pub values: Vec<NodeId>,
}

/// The expression with its rows in blocks, and what repeats in a block; `None` where rows are not short or nothing
/// repeats.
pub(crate) fn find(pulled: &Pulled, target: &Target) -> Option<(Pulled, Periodic)> {
    let Pulled { dag, outer, outputs } = pulled;
    let over = |l: &LoopId| dag.extent(*l) > 1;
    let every = |l: LoopId, c: i64| outputs.iter().all(|o| o.address.coeff(l) == c && o.join.is_none());
    let row = outer.iter().copied().filter(over).find(|&l| every(l, 1))?;
    let length = dag.extent(row);
    if length >= LONG || 4 * length >= 3 * (length as u64).next_multiple_of(VECTOR) as i64 {
        return None;
    }
    let rows = outer.iter().copied().filter(over).find(|&l| every(l, length))?;
    let values = repeating(dag, outputs, rows, row)?;
    // The most rows a block may have that leave no rest.
    let count = dag.extent(rows);
    let fits = |&n: &i64| {
        let least = target.thresholds.repeated_elements;
        let least = if n == count { least.min(WHOLE) } else { least };
        count % n == 0 && (least..=MOST).contains(&(n * length))
    };
    let block = (1..=count.min(MOST / length)).rev().find(fits)?;
    let points = outer.iter().try_fold(1i64, |p, &l| p.checked_mul(dag.extent(l)))?;
    if points / (block * length) < target.thresholds.repeated_uses {
        return None;
    }
    if block == count {
        let whole = Pulled { dag: dag.clone(), outer: outer.clone(), outputs: outputs.clone() };
        return Some((whole, Periodic { rows, row, values }));
    }
    // The loop over rows becomes one over blocks and one over the rows of a block.
    let Blocked { whole, inner, ids } = pulled.in_blocks(rows, block)?;
    let values = values.iter().map(|v| ids.get(v).copied()).collect::<Option<Vec<_>>>()?;
    Some((whole, Periodic { rows: inner, row, values }))
}

/// The values that depend on the position in the row, and on no other loop, if all others run through rows and the
/// positions in them as through one loop.
fn repeating(dag: &Dag, outputs: &[Output], rows: LoopId, row: LoopId) -> Option<Vec<NodeId>> {
    let own: LoopSet = std::iter::once(row).collect();
    let one = |lin: &Lin| lin.coeff(rows) == lin.coeff(row).saturating_mul(dag.extent(row));
    let all = |guards: &[Guard]| guards.iter().all(|g| one(&g.expr));
    let mut values: Vec<NodeId> = Vec::new();
    let mut seen = vec![false; dag.len()];
    let mut stack: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    while let Some(n) = stack.pop() {
        if std::mem::replace(&mut seen[n.0 as usize], true) {
            continue;
        }
        if dag[n].deps == own {
            values.push(n);
            continue;
        }
        let through = match &dag[n].node {
            Node::Load { address, guards, .. } => one(address) && all(guards),
            Node::Index(lin) => one(lin),
            Node::Guarded { guards, .. } => all(guards),
            Node::Reduce { .. } | Node::Gather { .. } | Node::Param(..) => false,
            _ => true,
        };
        // What depends on neither is the same all along.
        if !through && (dag[n].deps.contains(rows) || dag[n].deps.contains(row)) {
            return None;
        }
        stack.extend(dag[n].node.children());
    }
    (!values.is_empty() && values.len() <= VALUES).then_some(values)
}
