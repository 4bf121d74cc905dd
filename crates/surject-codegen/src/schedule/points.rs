//! Which loop of a kernel that evaluates its outputs point by point is done in lanes, by what all nodes cost.

use crate::Target;
use crate::expression::address::LoopId;
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::machine::elem::Elem;
use crate::schedule::{
    Chooser, ReducePlan, RowSchedule, Vectors, copies, cover, keep_step, output_order, share, together,
    whole_row, widest,
};
use std::collections::HashMap;

/// So much more work must the terms of reductions be than all that is beside them, to be all that counts.
const MOST: f64 = 4.0;

/// Cycles of what a kernel computes: beside the terms of reductions, and for these.
#[derive(Clone, Copy)]
struct Work {
    beside: f64,
    terms: f64,
}

/// What a kernel evaluates point by point, while its schedule is chosen.
pub(super) struct Points<'a> {
    chooser: Chooser<'a>,
    outputs: &'a [Output],
    /// The loops over the output, and how many points they have.
    order: Vec<LoopId>,
    points: f64,
    /// All nodes, and those beside the terms of reductions.
    pub(super) all: Vec<NodeId>,
    outside: Vec<NodeId>,
    /// The reductions with the nodes of their terms, and how each is done by itself.
    bodies: Vec<(NodeId, Vec<NodeId>)>,
    plans: HashMap<NodeId, ReducePlan>,
}

impl<'a> Points<'a> {
    pub(super) fn of(
        dag: &'a Dag,
        outputs: &'a [Output],
        outer: &[LoopId],
        target: &'a Target,
    ) -> Points<'a> {
        let chooser = Chooser { dag, target };
        let order = output_order(outer, dag, outputs);
        let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
        let all = dag.all_reachable(&roots);
        let reductions: Vec<NodeId> =
            all.iter().copied().filter(|n| matches!(dag[*n].node, Node::Reduce { .. })).collect();
        let mut plans: HashMap<NodeId, ReducePlan> =
            reductions.iter().map(|&r| (r, chooser.reduction(r, &order))).collect();
        keep_step(dag, &reductions, &mut plans, target);
        let terms = |r: NodeId| dag[r].node.children().flat_map(|b| dag.reachable(&[b])).collect();
        let bodies = reductions.iter().map(|&r| (r, terms(r))).collect();
        let points = dag.points(order.iter().copied().collect());
        let outside = dag.reachable(&roots);
        Points { chooser, outputs, order, points, all, outside, bodies, plans }
    }

    /// The work with a loop in lanes. What a node costs depends on the reduction it is in: its body is done in the lanes of the
    /// reduction, unless the whole reduction is inside the vector of the output.
    fn work(&self, vector: Option<Vectors>) -> Work {
        let (dag, chooser) = (self.chooser.dag, &self.chooser);
        let mut around = self.order.clone();
        if let Some((l, _)) = vector {
            around.retain(|&k| k != l);
            around.push(l);
        }
        let terms = self.bodies.iter().map(|(r, nodes)| {
            let inside = vector.filter(|v| dag[*r].deps.contains(v.0));
            let plan = &self.plans[r];
            let own = plan.order.last().filter(|_| plan.lanes > 1).map(|&l| (l, plan.lanes));
            chooser.cost(nodes, &chooser.nest(*r, &around, &plan.order), inside.or(own))
        });
        Work { beside: chooser.cost(&self.outside, &around, vector), terms: terms.sum() }
    }

    /// All that work and storing the outputs takes.
    fn total(&self, work: Work, vector: Option<Vectors>) -> f64 {
        let (dag, target) = (self.chooser.dag, self.chooser.target);
        let mut sum = work.beside + work.terms;
        for output in self.outputs {
            sum += self.points
                * match vector {
                    Some((l, lanes)) if output.address.coeff(l) == 1 => {
                        share(dag.extent(l), lanes, target.vector_bytes / 4)
                    }
                    // The two parts of complex numbers are stored together.
                    Some((l, lanes)) if self.outputs.len() == 2 && output.address.coeff(l) == 2 => {
                        2.0 * share(dag.extent(l), lanes, target.vector_bytes / 4)
                    }
                    Some(_) => 1.5,
                    None => 1.0,
                };
        }
        sum
    }

    /// The loop that is best done in lanes, if one is, and the cycles it takes then.
    pub(super) fn vectors(&self) -> (f64, Option<Vectors>) {
        let (dag, outputs, target) = (self.chooser.dag, self.outputs, self.chooser.target);
        // Next to long sums it does not count that the rest needs more registers than there are.
        let scalar = self.work(None);
        let long = scalar.terms > MOST * scalar.beside;
        let busy = if long { together(&self.bodies, &self.plans) } else { self.all.len() };
        let mut best = (self.total(scalar, None), None);
        let store = outputs.iter().map(|o| Elem::of(dag[o.root].dtype).size()).max().unwrap_or(4).max(2);
        for &l in self.order.iter().rev() {
            let wide = widest(dag, &self.all, l, target, copies(busy, target));
            let lanes =
                cover(wide.min(target.vector_bytes / store * 4), dag.extent(l), target.vector_bytes / store);
            // The lanes of a vector must not meet at one element.
            let meets = outputs.iter().any(|o| o.join.is_some() && o.address.coeff(l) == 0);
            let vector = Some((l, lanes));
            let cost = if lanes < 2 || meets { f64::INFINITY } else { self.total(self.work(vector), vector) };
            if cost < best.0 {
                best = (cost, vector);
            }
        }
        best
    }

    /// A schedule of loops element by element.
    pub(super) fn scalar(&self, cycles: f64) -> RowSchedule {
        RowSchedule {
            order: self.order.clone(),
            lanes: 1,
            is_transposition: false,
            reductions: self.plans.clone(),
            cycles,
        }
    }

    /// Does a loop of a schedule in lanes.
    pub(super) fn vectorise(&self, schedule: &mut RowSchedule, (l, lanes): Vectors) {
        let (dag, target) = (self.chooser.dag, self.chooser.target);
        let reductions: Vec<NodeId> = self.bodies.iter().map(|b| b.0).collect();
        schedule.order.retain(|&k| k != l);
        schedule.order.push(l);
        schedule.lanes = whole_row(dag, self.outputs, &reductions, l, target).unwrap_or(lanes);
        // A reduction inside of the vector has no lanes of its own, whose loop would be the last.
        for (r, nodes) in self.bodies.iter().filter(|(r, _)| dag[*r].deps.contains(l)) {
            if let (Node::Reduce { loops, .. }, Some(plan)) = (&dag[*r].node, schedule.reductions.get_mut(r))
            {
                plan.order = self.chooser.in_memory_order(loops, nodes);
            }
        }
    }
}
