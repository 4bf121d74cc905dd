//! Windows that are wider than what they run over: sums over the elements that a window meets, in place of the places
//! that it has.
//!
//! The gradient of a mean over a whole image sends one element everywhere: said as a window, it has as many places as
//! the image, all but one of which are outside of that one element. Where `0 ≤ ±n + rest < bound` must hold for a term
//! that is not the fill, and the bound is smaller than the extent of `n`, the sum runs over `e = ±n + rest`.

use crate::expression::address::{Guard, GuardFact, Lin, LoopId};
use crate::expression::dag::{Dag, Node, NodeId};
use std::collections::HashMap;
use surject_ir::{AccOp, BinaryOp, Scalar};

/// A reduction over what its windows meet: its loops, its body, and what is joined to it once.
pub(crate) struct Narrowed {
    pub loops: Vec<LoopId>,
    pub body: NodeId,
    pub join: Option<(BinaryOp, Scalar)>,
}

/// The reduction, if one of its loops runs through many more places than what it meets.
pub(crate) fn narrowed(dag: &mut Dag, op: AccOp, loops: &[LoopId], body: NodeId) -> Option<Narrowed> {
    let (mut loops, mut body, mut join) = (loops.to_vec(), body, None);
    if loops.iter().any(|&l| dag.extent(l) < 1) {
        return None;
    }
    while let Some((l, guard, fill)) = wide(dag, &loops, body) {
        let outside = once(op, fill)?;
        if *join.get_or_insert(outside) != outside {
            break;
        }
        (loops, body) = over_elements(dag, &loops, body, (l, &guard))?;
    }
    let join = join?;
    Some(Narrowed { loops, body, join })
}

/// A loop of a reduction, the condition on it, and what its terms are where that does not hold.
fn wide(dag: &Dag, loops: &[LoopId], body: NodeId) -> Option<(LoopId, Guard, Scalar)> {
    /// So many places for every element are worth another condition.
    const TIMES: i64 = 2;
    let Node::Guarded { guards, fill, .. } = &dag[body].node else { return None };
    guards.iter().find_map(|guard| {
        let wide = |l: LoopId| guard.bound.checked_mul(TIMES).is_some_and(|n| n <= dag.extent(l));
        let l = loops.iter().copied().find(|&l| guard.expr.coeff(l).abs() == 1 && wide(l))?;
        (guard.bound > 0).then(|| (l, guard.clone(), *fill))
    })
}

/// What the terms outside come to, of which there is one at least. `None`: that depends on how many there are.
fn once(op: AccOp, fill: Scalar) -> Option<Option<(BinaryOp, Scalar)>> {
    if op.absorbs(fill) {
        return Some(None);
    }
    let same = surject_ir::eval::acc(op, fill, fill) == Some(fill);
    same.then_some(()).and_then(|()| op.binary()).map(|join| Some((join, fill)))
}

/// The reduction with the element in place of the place of a window.
fn over_elements(
    dag: &mut Dag,
    loops: &[LoopId],
    body: NodeId,
    (l, guard): (LoopId, &Guard),
) -> Option<(Vec<LoopId>, NodeId)> {
    let mut left: Vec<LoopId> = loops.iter().copied().filter(|&k| k != l).collect();
    let element = match guard.bound {
        1 => Lin::default(),
        bound => {
            let new = dag.add_loop(bound)?;
            left.push(new);
            Lin::var(new)
        }
    };
    let mut rest = guard.expr.clone();
    rest.terms.retain(|t| t.0 != l);
    let place = element.plus(&rest, -1)?.times(guard.expr.coeff(l))?;
    // What a window meets may lie outside of its places: such terms are the fill, and nothing is loaded for them.
    let inside = Guard { expr: place.clone(), bound: dag.extent(l) };
    let inside = Some(inside).filter(|inside| inside.fact(&dag.extents) != GuardFact::Always);
    let mut ids: HashMap<NodeId, NodeId> = HashMap::new();
    for id in dag.all_reachable(&[body]) {
        let data = dag[id].clone();
        let loads = matches!(data.node, Node::Load { .. } | Node::Gather { .. }) && data.deps.contains(l);
        let at = |x: NodeId| ids.get(&x).copied().unwrap_or(x);
        let mut node = data.node.mapped(&at, &|lin| lin.substitute(l, &place))?;
        if let Node::Load { guards, .. } | Node::Gather { guards, .. } | Node::Guarded { guards, .. } =
            &mut node
        {
            guards.retain(|g| g.fact(&dag.extents) != GuardFact::Always);
            if id == body || loads {
                let more = inside.iter().filter(|inside| !guards.contains(inside)).cloned();
                guards.extend(more.collect::<Vec<_>>());
            }
            guards.sort();
        }
        let new = match node {
            Node::Guarded { guards, inner, .. } if guards.is_empty() => inner,
            node => dag.add(node, data.dtype),
        };
        ids.insert(id, new);
    }
    Some((left, *ids.get(&body)?))
}
