//! Joins loops that every address runs through as if they were one.

use crate::expression::address::{Guard, Lin, LoopId, LoopSet};
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::output::Output;

/// Joins loops that every address runs through as if they were one. Gives the graph, the outputs and the loops
/// over the output that are left.
pub fn merge(dag: Dag, outputs: Vec<Output>, outer: &[LoopId]) -> (Dag, Vec<Output>, Vec<LoopId>) {
    let (mut dag, mut outputs, mut outer) = (dag, outputs, outer.to_vec());
    while let Some((a, b)) = mergeable(&dag, &outputs, &outer) {
        let drop = |lin: &Lin| Lin {
            terms: lin.terms.iter().copied().filter(|t| t.0 != a).collect(),
            offset: lin.offset,
        };
        let mut result = Dag::default();
        result.extents.clone_from(&dag.extents);
        result.known.clone_from(&dag.known);
        result.extents[b.0 as usize] *= result.extents[a.0 as usize];
        result.extents[a.0 as usize] = 1;
        let mut ids: Vec<NodeId> = Vec::with_capacity(dag.len());
        for (_, data) in dag.iter() {
            let at = |id: NodeId| ids[id.0 as usize];
            let mut node = data.node.clone();
            for guard in node.guards_mut() {
                *guard = joined(guard, (a, b), dag.extent(b)).unwrap_or_else(|| guard.clone());
            }
            let node = node.mapped(&at, &|lin| Some(drop(lin))).unwrap_or(node);
            ids.push(result.add(node, data.dtype));
        }
        for output in &mut outputs {
            *output = Output {
                address: drop(&output.address),
                root: ids[output.root.0 as usize],
                ..output.clone()
            };
        }
        outer.retain(|&l| l != a);
        dag = result;
    }
    (dag, outputs, outer)
}

/// Summed loops of fewer points do not fill a vector: they are joined with the one around even where a guard asks for
/// that alone.
const SHORT: i64 = 16;

/// A guard that has `extent` times the coefficient of `b` for `a`, and holds where this one holds: `0 ≤ a + e < n` is
/// `0 ≤ extent·(a + e) + b < extent·n`, as `b` never reaches the next `a`. Backwards `b` counts from its last point.
pub(crate) fn joined(guard: &Guard, (a, b): (LoopId, LoopId), extent: i64) -> Option<Guard> {
    let (around, inside) = (guard.expr.coeff(a), guard.expr.coeff(b));
    if inside.checked_mul(extent) == Some(around) {
        return Some(guard.clone());
    }
    if inside != 0 || around.abs() != 1 {
        return None;
    }
    let offset = if around < 0 { extent - 1 } else { 0 };
    let step = Lin { terms: vec![(b, around)], offset };
    Some(Guard { expr: step.plus(&guard.expr, extent)?, bound: guard.bound.checked_mul(extent)? })
}

/// Two loops of one kind such that every expression has `extent(b)` times the coefficient of `b` for `a`, or can have.
fn mergeable(dag: &Dag, outputs: &[Output], outer: &[LoopId]) -> Option<(LoopId, LoopId)> {
    let mut lins: Vec<&Lin> = outputs.iter().map(|o| &o.address).collect();
    let mut conditions: Vec<&Guard> = Vec::new();
    let mut groups: Vec<&[LoopId]> = vec![outer];
    let mut fixed = LoopSet::default();
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    for id in dag.all_reachable(&roots) {
        conditions.extend(dag[id].node.guards());
        match &dag[id].node {
            Node::Load { address, .. } | Node::Gather { address, .. } => lins.push(address),
            Node::Index(lin) => lins.push(lin),
            Node::Reduce { loops, .. } => groups.push(loops),
            Node::Param(_, l) => fixed = fixed.union(std::iter::once(*l).collect()),
            _ => {}
        }
    }
    let together = |a: LoopId, b: LoopId| groups.iter().all(|g| g.contains(&a) == g.contains(&b));
    let uniform = |a: LoopId, b: LoopId| {
        lins.iter().all(|lin| lin.coeff(b).checked_mul(dag.extent(b)) == Some(lin.coeff(a)))
    };
    let guarded = |a: LoopId, b: LoopId| {
        let short = !outer.contains(&b) && dag.extent(b) < SHORT;
        conditions.iter().all(|guard| match joined(guard, (a, b), dag.extent(b)) {
            Some(joined) => joined == **guard || short,
            None => false,
        })
    };
    for group in &groups {
        for (i, &a) in group.iter().enumerate() {
            for (j, &b) in group.iter().enumerate() {
                let free = !fixed.contains(a) && !fixed.contains(b);
                if i != j && free && together(a, b) && uniform(a, b) && guarded(a, b) && used(dag, outputs, b)
                {
                    return Some((a, b));
                }
            }
        }
    }
    None
}

/// Does a loop count at all? One that no expression uses only repeats.
fn used(dag: &Dag, outputs: &[Output], l: LoopId) -> bool {
    outputs.iter().any(|o| o.address.coeff(l) != 0) || dag.iter().any(|(_, d)| d.deps.contains(l))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_guards_hold_at_the_same_points() {
        let (a, b) = (LoopId(0), LoopId(1));
        let value = |lin: &Lin, at: [i64; 2]| lin.offset + lin.coeff(a) * at[0] + lin.coeff(b) * at[1];
        let holds = |g: &Guard, at| (0..g.bound).contains(&value(&g.expr, at));
        for extent in 1..4 {
            for (around, offset, bound) in
                [-1, 1].iter().flat_map(|&c| (-6..6).flat_map(move |o| (0..6).map(move |n| (c, o, n))))
            {
                let guard = Guard { expr: Lin { terms: vec![(a, around)], offset }, bound };
                let joined = joined(&guard, (a, b), extent).unwrap();
                assert_eq!(joined.expr.coeff(a), joined.expr.coeff(b) * extent);
                for at in (0..7).flat_map(|x| (0..extent).map(move |y| [x, y])) {
                    assert_eq!(holds(&guard, at), holds(&joined, at), "{guard:?} {joined:?} {at:?}");
                }
            }
        }
        let twice = Guard { expr: Lin { terms: vec![(a, 2)], offset: 0 }, bound: 9 };
        assert_eq!(joined(&twice, (a, b), 3), None);
    }
}
