//! Values that a kernel would compute again and again: what depends on an inner loop alone, inside a loop that it does
//! not depend on. Stored first, they are computed once.

use crate::Target;
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::schedule::refused::{Fit, Refused};
use crate::schedule::{RowSchedule, node_cost};
use std::collections::HashSet;

/// How often a value is computed for every time that it must be.
const TIMES: f64 = 4.0;

/// Cycles of scalar code that a load is not worth.
const CHEAP: f64 = 6.0;

/// The part of a cycle that an element costs which is picked out of others, and how many of them are stored.
const STRIDED: f64 = 0.25;

const MOST_STRIDED: f64 = 65_536.0;

/// A value that is better stored first, the topmost one, if there is any, and the loop that its lanes are along. What is
/// loaded from `first` on was stored so.
pub fn find(
    dag: &Dag,
    outputs: &[Output],
    schedule: &RowSchedule,
    target: &Target,
    first: Buf,
) -> Fit<(NodeId, Option<LoopId>)> {
    let limits = &target.thresholds;
    let mut seen: HashSet<(NodeId, Vec<LoopId>)> = HashSet::new();
    let own = schedule.order.last().copied().filter(|_| schedule.lanes > 1);
    let mut stack: Vec<(NodeId, Vec<LoopId>, Option<LoopId>)> =
        outputs.iter().map(|o| (o.root, schedule.order.clone(), own)).collect();
    while let Some((n, around, lane)) = stack.pop() {
        if !seen.insert((n, around.clone())) {
            continue;
        }
        let deps = dag[n].deps;
        let (times, needed) = (runs(dag, deps, &around), dag.points(deps));
        if times >= TIMES * needed && !dag.all_reachable(&[n]).iter().any(|&n| outside(dag, n)) {
            let work = work(dag, n, &around, schedule);
            if work >= CHEAP * times && (1.0 - needed / times) * work >= limits.recomputed_cycles {
                return Ok((n, lane));
            }
            let strided = lane.is_some_and(|l| is_strided(dag, n, schedule, l, first));
            if strided && needed <= MOST_STRIDED && STRIDED * times >= limits.recomputed_lane_cycles {
                return Ok((n, lane));
            }
        }
        let plan = schedule.reductions.get(&n).filter(|plan| plan.lanes > 1);
        let lane = plan.and_then(|plan| plan.order.last().copied()).or(lane);
        let inside = inside(dag, n, &around, schedule);
        stack.extend(dag[n].node.children().map(|c| (c, inside.clone(), lane)));
    }
    Err(Refused("no value is computed so often that storing it is worth it"))
}

/// Is it an element of which neighbours in the lanes lie apart?
fn is_strided(dag: &Dag, n: NodeId, schedule: &RowSchedule, lane: LoopId, first: Buf) -> bool {
    let Node::Load { buf, address, guards } = &dag[n].node else { return false };
    !schedule.is_transposition && guards.is_empty() && address.coeff(lane).abs() > 1 && *buf < first
}

/// Is it a value that only the surroundings of a kernel have?
fn outside(dag: &Dag, n: NodeId) -> bool {
    matches!(dag[n].node, Node::Param(..))
}

/// The loops around the operands of a node, which stands inside others.
fn inside(dag: &Dag, n: NodeId, around: &[LoopId], schedule: &RowSchedule) -> Vec<LoopId> {
    let Node::Reduce { loops, .. } = &dag[n].node else { return around.to_vec() };
    let mut inside = around[..dag[n].deps.depth(around)].to_vec();
    inside.extend(schedule.reductions.get(&n).map_or(loops, |plan| &plan.order));
    inside
}

/// How often a value is computed.
fn runs(dag: &Dag, deps: LoopSet, around: &[LoopId]) -> f64 {
    around[..deps.depth(around)].iter().map(|&l| dag.extent(l) as f64).product()
}

/// The cycles of scalar code in a value, as often as it is computed.
fn work(dag: &Dag, n: NodeId, around: &[LoopId], schedule: &RowSchedule) -> f64 {
    let own = |n: NodeId| node_cost(dag, n) * runs(dag, dag[n].deps, around);
    let direct = dag.reachable(&[n]);
    let bodies = direct.iter().filter(|&&r| matches!(dag[r].node, Node::Reduce { .. })).map(|&r| {
        let inside = inside(dag, r, around, schedule);
        let body = dag[r].node.children().next();
        // The operator joins once a point.
        let joins = dag.points(inside.iter().copied().collect());
        joins + body.map_or(0.0, |b| work(dag, b, &inside, schedule))
    });
    direct.iter().map(|&n| own(n)).sum::<f64>() + bodies.sum::<f64>()
}
