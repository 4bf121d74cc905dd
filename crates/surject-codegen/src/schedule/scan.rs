//! Scans: reductions over windows that grow by one term from one output to the next.
//!
//! A reduction over `w` at the output `i` whose terms depend on `i + w` alone, and are the neutral element wherever
//! a term leaves the window, is `y[i] = y[i - 1] ⊕ term`, or from the other end `y[i] = y[i + 1] ⊕ term`: one step
//! an output instead of one a term. Nothing is subtracted.
//!
//! Kernels of the kernel IR do that ([`crate::kernels::running`]).

use crate::expression::address::{Guard, GuardFact, Lin, LoopId, LoopSet};
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::expression::rewrite;
use crate::schedule::node_cost;
use crate::schedule::refused::{Fit, Refused, need};
use std::ops::RangeInclusive;
use surject_ir::{AccOp, FieldId};

/// A scan.
#[derive(Clone, Debug)]
pub struct Scan {
    /// The reduction.
    pub node: NodeId,
    /// The term that an output adds to that before it.
    pub step: NodeId,
    /// The operator.
    pub op: AccOp,
    /// The loop that is run through in order.
    pub along: LoopId,
    /// From the last output to the first?
    pub backwards: bool,
}

/// Windows shorter than this are not worth a loop in order.
const SHORT: i64 = 3;

/// Lines of so many elements are scanned in lanes.
const LONG: i64 = 8;

/// Cycles of scalar code that are better done in lanes, at the price of a store and a load.
const COSTLY: f64 = 12.0;

/// What a kernel with a scan becomes.
pub enum Found {
    /// The kernel of the scan, and of what is computed from it point by point.
    Scan,
    /// The scan is stored first: it is read in another order, more than once, or beside other reductions.
    First(FieldId),
}

/// Finds a reduction that is a scan; the term of its step is added to the graph. `top` is the field of the kernel.
pub fn find(dag: &mut Dag, outputs: &[Output], outer: &[LoopId], top: FieldId) -> Fit<Found> {
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    let reduces = |node: &Node| matches!(node, Node::Reduce { .. });
    need(dag.iter().any(|(_, data)| reduces(&data.node)), "there is no reduction")?;
    let all = dag.all_reachable(&roots);
    let reductions: Vec<NodeId> = all.into_iter().filter(|&n| reduces(&dag[n].node)).collect();
    let alone = matches!((outputs, &reductions[..]), ([Output { join: None, .. }], [_]));
    let over: LoopSet = outer.iter().copied().filter(|&l| dag.extent(l) > 1).collect();
    for node in reductions {
        let Some((scan, field)) = scan(dag, node) else { continue };
        let own = alone && dag[node].deps == over;
        if own && (field == top || !is_apart(dag, outputs, outer, &scan)) {
            return Ok(Found::Scan);
        }
        if field != top {
            return Ok(Found::First(field));
        }
    }
    Err(Refused("no window of a reduction grows by a term"))
}

/// Is what is computed from a scan better computed by a kernel of its own? It is no part of a scan where positions are
/// gathered, and not in lanes where no results lie next to each other.
fn is_apart(dag: &Dag, outputs: &[Output], order: &[LoopId], scan: &Scan) -> bool {
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    let gathers = |&n: &NodeId| matches!(dag[n].node, Node::Gather { .. } | Node::Param(..));
    if dag.all_reachable(&roots).iter().any(gathers) {
        return true;
    }
    let next = |&l: &LoopId| outputs.iter().all(|o| o.address.coeff(l) == 1);
    let in_lanes = order.iter().copied().find(next).is_some_and(|l| l != scan.along || dag.extent(l) >= LONG);
    let after = dag.reachable(&roots).into_iter().filter(|&n| n != scan.node);
    !in_lanes && after.map(|n| node_cost(dag, n)).sum::<f64>() >= COSTLY
}

/// A reduction as a scan along a loop that it depends on, and its field.
pub(crate) fn scan(dag: &mut Dag, node: NodeId) -> Option<(Scan, FieldId)> {
    let Node::Reduce { op, loops, body, field } = dag[node].node.clone() else { return None };
    let &[w] = &loops[..] else { return None };
    if dag.extent(w) < SHORT {
        return None;
    }
    let deps = dag[node].deps;
    let along = (0..dag.extents.len()).map(|l| LoopId(l as u8)).filter(|&l| deps.contains(l));
    let along: Vec<LoopId> = along.filter(|&l| dag.extent(l) > 1).collect();
    // Terms that vanish nowhere leave no window.
    if along.is_empty() || !matches!(dag[body].node, Node::Guarded { .. }) {
        return None;
    }
    // Where the output runs against the window, the window is run through from its end.
    let end = Lin::var(w).times(-1)?.plus(&Lin::constant(dag.extent(w) - 1), 1)?;
    for flipped in [false, true] {
        let body = if flipped { rewrite::substituted(dag, body, w, &end)? } else { body };
        for &along in along.iter().filter(|&&l| slides(dag, body, l, w)) {
            let (length, window) = (dag.extent(along), dag.extent(w));
            // Positions `t = i + w`: what is dropped, and what the first output has beside its own term.
            let forwards = 0..=(window - 2).max(length - 2);
            let backwards = window.min(length)..=length + window - 2;
            for (span, backwards) in [(forwards, false), (backwards, true)] {
                if vanishes(dag, body, along, op, &span) {
                    let at = Lin::constant(if backwards { 0 } else { window - 1 });
                    let step = rewrite::substituted(dag, body, w, &at)?;
                    return Some((Scan { node, step, op, along, backwards }, field));
                }
            }
        }
    }
    None
}

/// Do the terms depend on `along + w` alone?
fn slides(dag: &Dag, body: NodeId, along: LoopId, w: LoopId) -> bool {
    let same = |lin: &Lin| lin.coeff(along) == lin.coeff(w);
    let all = |guards: &[Guard]| guards.iter().all(|g| same(&g.expr));
    dag.all_reachable(&[body]).iter().all(|&n| match &dag[n].node {
        Node::Load { address, guards, .. } => same(address) && all(guards),
        Node::Index(lin) => same(lin),
        Node::Guarded { guards, .. } => all(guards),
        Node::Reduce { .. } | Node::Gather { .. } | Node::Param(..) => false,
        _ => true,
    })
}

/// Does the term change nothing wherever `along + w` lies in a span?
fn vanishes(dag: &Dag, body: NodeId, along: LoopId, op: AccOp, span: &RangeInclusive<i64>) -> bool {
    let Node::Guarded { guards, fill, .. } = &dag[body].node else { return false };
    if span.start() > span.end() || !op.absorbs(*fill) {
        return false;
    }
    // The loop `along` alone runs through the span.
    let mut extents = dag.extents.clone();
    extents[along.0 as usize] = span.end() - span.start() + 1;
    guards.iter().any(|g| {
        let (c, mut expr) = (g.expr.coeff(along), g.expr.clone());
        expr.terms.retain(|t| t.0 == along || t.1 != c || dag.extent(t.0) == 1);
        // Another loop with the same coefficient is the window; a guard with any other loop says nothing here.
        let only = g.expr.terms.iter().all(|t| t.0 == along || t.1 == c) && g.expr.terms.len() <= 2;
        let moved = c.checked_mul(*span.start()).and_then(|m| expr.offset.checked_add(m));
        match moved {
            Some(offset) if only => {
                expr.offset = offset;
                Guard { expr, bound: g.bound }.fact(&extents) == GuardFact::Never
            }
            _ => false,
        }
    })
}
