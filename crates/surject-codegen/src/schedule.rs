//! Decisions about the loops of a kernel: which are one, in which order they run, which of them is done in lanes.

pub(crate) mod columns;
pub(crate) mod cuts;
pub(crate) mod halo;
mod points;
pub(crate) mod prefetch;
pub(crate) mod product;
pub(crate) mod refused;
pub(crate) mod scan;
pub(crate) mod split_reduction;
pub(crate) mod transpose;
pub(crate) mod units;
pub(crate) mod written;

use crate::Target;
use crate::expression::address::{Lin, LoopId, LoopSet};
use crate::expression::dag::{Dag, Node, NodeData, NodeId};
use crate::expression::output::Output;
use crate::machine::elem::Elem;
use crate::schedule::points::Points;
use std::collections::{HashMap, HashSet};
use surject_ir::{BinaryOp, DType, UnaryOp};

/// How a reduction is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReducePlan {
    /// Its loops, outermost first.
    pub order: Vec<LoopId>,
    /// The lanes in which its last loop is done; 1: none.
    pub lanes: usize,
}

/// Elements that lie at most so far apart are taken from vectors that hold all that is between them.
pub(crate) const NEAR: i64 = 8;

/// How a kernel would run as rows, element by element or in lanes along the last loop: what planning estimates and compares.
/// (The schedules by which code is made are those of [`crate::kernels::schedule`].)
#[derive(Clone, Debug)]
pub struct RowSchedule {
    /// The loops over the output, outermost first.
    pub order: Vec<LoopId>,
    /// The lanes in which the last loop is done; 1: none.
    pub lanes: usize,
    /// Do loads lie along another loop than results? A machine's strategies transpose them; rows load them one by one.
    pub is_transposition: bool,
    /// How each reduction is done.
    pub reductions: HashMap<NodeId, ReducePlan>,
    /// An estimate of the work, in cycles of one core.
    pub cycles: f64,
}

impl RowSchedule {
    /// Is every loop over the output one of `order`, and the last one done element by element or in lanes, which are loaded as
    /// they lie?
    pub fn is_plain(&self) -> bool {
        !self.is_transposition
    }
}

/// What a node takes.
struct Cost {
    /// Cycles per element of scalar code.
    cycles: f64,
    /// Does vector code do it lane by lane?
    by_lane: bool,
}

fn cost(dag: &Dag, data: &NodeData, operand: Option<Elem>) -> Cost {
    use UnaryOp::*;
    // Dividing by a constant is multiplying.
    if let Node::Binary(BinaryOp::Div | BinaryOp::Rem, _, by) = data.node
        && matches!(dag[by].node, Node::Const(value) if value.dtype().is_int())
    {
        return Cost { cycles: 6.0, by_lane: false };
    }
    let single = operand == Some(Elem::F32);
    let double = operand == Some(Elem::F64);
    let (cycles, by_lane) = match &data.node {
        Node::Const(_) | Node::Param(..) | Node::Bitcast(_) | Node::Reduce { .. } => (0.0, false),
        Node::Unary(op, _) => match op {
            Exp | Logistic | Expm1 | Log | Tanh | Sin | Cos if single => (18.0, false),
            Log1p | Erf | Cbrt | Atan if single => (25.0, false),
            ErfInv if single => (45.0, false),
            Erfc | Asin | Acos if single => (50.0, false),
            Exp | Logistic | Expm1 | Log | Log1p | Tanh if double => (30.0, false),
            Erf | Erfc if double => (60.0, false),
            Lgamma | Digamma if single => (120.0, false),
            Cbrt | Atan | Asin | Acos if double => (40.0, false),
            Sin | Cos | Tan | Sinh | Cosh | Asinh | Acosh | Atanh if single || double => (50.0, false),
            Sqrt | Rsqrt => (6.0, false),
            Neg | Abs | Sign | Floor | Ceil | RoundEven | RoundAway | Not | IsFinite | Popcount
            | CountLeadingZeros => (1.0, false),
            _ => (25.0, true),
        },
        Node::Binary(BinaryOp::Div | BinaryOp::Rem, ..) if operand.is_some_and(|e| e == e.int()) => {
            (20.0, false)
        }
        Node::Binary(BinaryOp::Div, ..) => (5.0, false),
        Node::Binary(BinaryOp::Pow, ..) if single || double => (70.0, false),
        Node::Binary(BinaryOp::Atan2, ..) if single => (35.0, false),
        Node::Binary(BinaryOp::Atan2, ..) if double => (60.0, false),
        Node::Binary(BinaryOp::Rem, ..) if single || double => (15.0, false),
        Node::Binary(BinaryOp::Rem | BinaryOp::Pow | BinaryOp::Atan2, ..) => (30.0, true),
        Node::Gather { .. } => (2.0, false),
        _ => (1.0, false),
    };
    Cost { cycles, by_lane }
}

/// The lanes in which elements are loaded one by one.
const ONE_BY_ONE: usize = 8;

/// The most lanes of what a loop hands on. Where masks are vectors, more truths than a register has bytes are handed on one
/// by one.
fn handed_on(dag: &Dag, n: NodeId, target: &Target) -> usize {
    let truths = matches!(dag[n].node, Node::Reduce { .. }) && dag[n].dtype == DType::I1;
    if truths && target.masks_are_vectors { target.vector_bytes } else { usize::MAX }
}

/// The most lanes for what depends on a loop. Of mixed widths that counts which a quarter of the values have: a few wider
/// ones, such as positions, take two registers each.
fn widest(dag: &Dag, nodes: &[NodeId], l: LoopId, target: &Target, copies: usize) -> usize {
    let sizes = nodes.iter().filter(|n| dag[**n].deps.contains(l)).map(|n| Elem::of(dag[*n].dtype).size());
    let mut sizes: Vec<usize> = sizes.collect();
    sizes.sort_unstable_by_key(|&s| std::cmp::Reverse(s));
    let size = sizes.get(sizes.len() / 4).map_or(4, |&s| s.max(2));
    // Calls lane by lane are long code; wider vectors gain nothing there.
    let operand = |n: NodeId| dag[n].node.children().next().map(|c| Elem::of(dag[c].dtype));
    let by_lane = nodes.iter().any(|&n| dag[n].deps.contains(l) && cost(dag, &dag[n], operand(n)).by_lane);
    // So are elements that are loaded one by one.
    let gathered =
        |n: NodeId| matches!(dag[n].node, Node::Gather { offset, .. } if dag[offset].deps.contains(l));
    let most = if nodes.iter().any(|&n| gathered(n)) { ONE_BY_ONE } else { usize::MAX };
    let most = nodes.iter().map(|&n| handed_on(dag, n, target)).fold(most, usize::min);
    (target.vector_bytes / size * if by_lane { 1 } else { copies }).clamp(1, most)
}

/// The largest power of two that is not above either.
pub(crate) fn fit(lanes: usize, extent: i64) -> usize {
    let limit = usize::try_from(extent).unwrap_or(1).min(lanes).max(1);
    1 << limit.ilog2()
}

/// As [`fit`], but a loop that one vector can hold is one vector, of which a part of the last register is missing.
fn cover(lanes: usize, extent: i64, native: usize) -> usize {
    /// Fewer are a part of a register.
    const LEAST: usize = 9;
    let all = usize::try_from(extent).unwrap_or(usize::MAX);
    match all.checked_next_power_of_two() {
        Some(whole) if all >= LEAST && whole <= lanes && whole - all < native => whole,
        _ => fit(lanes, extent),
    }
}

/// The lanes of a vector for a whole row, where rows are summed, or otherwise joined, and the results of all columns fit in
/// registers: rows are read once, in the order of memory, and not in pieces that share lines.
fn whole_row(
    dag: &Dag,
    outputs: &[Output],
    reductions: &[NodeId],
    l: LoopId,
    target: &Target,
) -> Option<usize> {
    /// Fewer rows than these are not worth a vector that is not full.
    const ROWS: f64 = 64.0;
    /// Cycles of scalar code from which on an operation needs registers of its own, or is a call for each lane.
    const LONG: f64 = 8.0;
    let down: Vec<NodeId> = reductions.iter().copied().filter(|&r| dag[r].deps.contains(l)).collect();
    let rows = |&r: &NodeId| match &dag[r].node {
        Node::Reduce { loops, body, .. } if dag.reachable(&[*body]).iter().all(|&n| is_beside(dag, n, l)) => {
            dag.points(loops.iter().copied().collect())
        }
        _ => 0.0,
    };
    let all = usize::try_from(dag.extent(l)).ok()?;
    let size = outputs.iter().map(|o| Elem::of(dag[o.root].dtype).size()).max()?.max(4);
    let registers = all.div_ceil(target.vector_bytes / size) * down.len();
    // Long terms need more registers besides.
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    let nodes = dag.all_reachable(&roots);
    let most = 3 * target.vector_registers / 16 * copies(nodes.len(), target);
    let short = down.iter().all(|r| {
        let body = dag[*r].node.children().flat_map(|b| dag.reachable(&[b]));
        body.into_iter().all(|n| node_cost(dag, n) < LONG)
    });
    let fits = registers <= most && short;
    let several = registers > 1 && outputs.iter().all(|o| o.join.is_none());
    (fits && several && down.iter().all(|r| rows(r) >= ROWS)).then(|| all.next_power_of_two())
}

/// Is it no tensor, or one whose elements along a loop lie side by side?
fn is_beside(dag: &Dag, n: NodeId, l: LoopId) -> bool {
    match &dag[n].node {
        Node::Load { address, guards, .. } => guards.is_empty() && [0, 1].contains(&address.coeff(l)),
        Node::Gather { .. } | Node::Guarded { .. } | Node::Reduce { .. } | Node::Param(..) => false,
        _ => true,
    }
}

/// The share of the scalar work that is left when a loop is done in lanes, of which a register holds `native`.
fn share(extent: i64, lanes: usize, native: usize) -> f64 {
    let registers = lanes.div_ceil(native.max(1)) as i64;
    let lanes = lanes as i64;
    let rest = (extent % lanes) as usize;
    let last = if rest == 0 { 0 } else { rest.next_power_of_two().div_ceil(native.max(1)) as i64 };
    (extent / lanes * registers + last) as f64 / extent.max(1) as f64
}

/// How many elements of vector registers a reduction or a kernel may use per value, by its number of nodes: narrow
/// registers are worth more of them. (Zen 3: of 9 to 40 nodes four take 0.8 to 0.95 of the time of two; of normal numbers
/// from random bits two take 0.75 of the time of one.)
fn copies(nodes: usize, target: &Target) -> usize {
    let narrow = target.has_half_line_vectors();
    match nodes {
        0..=8 => 4,
        9..=40 if narrow => 4,
        9..=40 => 2,
        _ if narrow => 2,
        _ => 1,
    }
}

/// The cost of a node per element, in cycles of scalar code.
pub(crate) fn node_cost(dag: &Dag, n: NodeId) -> f64 {
    let data = &dag[n];
    cost(dag, data, data.node.children().next().map(|c| Elem::of(dag[c].dtype))).cycles
}

/// How far apart, at most, what nodes load lies from one position of a loop to the next, in elements.
pub(crate) fn stride(dag: &Dag, nodes: &[NodeId], l: LoopId) -> i64 {
    let strides = nodes.iter().map(|&n| match &dag[n].node {
        Node::Load { address, .. } => address.coeff(l).abs(),
        _ => 0,
    });
    strides.max().unwrap_or(0)
}

struct Chooser<'a> {
    dag: &'a Dag,
    target: &'a Target,
}

impl Chooser<'_> {
    /// The cost of nodes in a nest of loops, outermost first, of which this one is done in so many lanes.
    fn cost(&self, nodes: &[NodeId], nest: &[LoopId], vector: Option<Vectors>) -> f64 {
        nodes.iter().map(|&n| self.node_cost(n, nest, vector)).sum()
    }

    fn node_cost(&self, n: NodeId, nest: &[LoopId], vector: Option<Vectors>) -> f64 {
        let data = &self.dag[n];
        let operand = data.node.children().next().map(|c| Elem::of(self.dag[c].dtype));
        let Cost { cycles: scalar, by_lane } = cost(self.dag, data, operand);
        // A value is computed inside the last loop that it depends on, as often as all loops around that run.
        let depth = data.deps.depth(nest);
        let runs = |&l: &LoopId| match vector {
            Some((v, lanes)) if v == l && !data.deps.contains(l) => {
                (self.dag.extent(l) as f64 / lanes as f64).ceil()
            }
            _ => self.dag.extent(l) as f64,
        };
        let points: f64 = nest[..depth].iter().map(runs).product();
        let Some((l, lanes)) = vector.filter(|v| data.deps.contains(v.0)) else { return points * scalar };
        let native = self.target.vector_bytes / Elem::of(data.dtype).size();
        let share = share(self.dag.extent(l), lanes, native);
        let factor = match &data.node {
            _ if by_lane => 1.1,
            // A vector of elements that lie anywhere is loaded one by one.
            Node::Gather { offset, .. } if self.dag[*offset].deps.contains(l) => 1.0,
            Node::Load { address, guards, .. } | Node::Gather { address, guards, .. } => {
                match address.coeff(l) {
                    0 if guards.is_empty() => share,
                    1 => share,
                    -1 => 1.5 * share,
                    c if c.abs() <= NEAR => (share * c.abs() as f64).min(1.5),
                    _ => 1.5,
                }
            }
            _ => share,
        };
        points * scalar * factor
    }

    /// The loops around the terms of a reduction: those that it depends on and all around them, then its own.
    fn nest(&self, id: NodeId, around: &[LoopId], own: &[LoopId]) -> Vec<LoopId> {
        let deps = self.dag[id].deps;
        let depth = deps.depth(around);
        // A reduction inside of another one stands in the loops of that, too.
        let (mut nest, inside): (Vec<LoopId>, _) = (around[..depth].to_vec(), deps.loops());
        nest.extend(inside.filter(|l| !around.contains(l)));
        nest.extend(own);
        nest
    }

    /// The loops of a reduction, those outside along which terms lie furthest apart.
    fn in_memory_order(&self, loops: &[LoopId], nodes: &[NodeId]) -> Vec<LoopId> {
        let mut order = loops.to_vec();
        order.sort_by_key(|&l| (std::cmp::Reverse(stride(self.dag, nodes, l)), l));
        order
    }

    /// The loop order and the lanes of a reduction that is not inside a vector.
    fn reduction(&self, id: NodeId, around: &[LoopId]) -> ReducePlan {
        let Node::Reduce { loops, body, .. } = &self.dag[id].node else { return ReducePlan::default() };
        let nodes = self.dag.reachable(&[*body]);
        let order = self.in_memory_order(loops, &nodes);
        let mut best = (self.cost(&nodes, &self.nest(id, around, &order), None), None);
        for &l in loops {
            let inside: Vec<LoopId> = order.iter().copied().filter(|&k| k != l).chain([l]).collect();
            let nest = self.nest(id, around, &inside);
            let wide = widest(self.dag, &nodes, l, self.target, copies(nodes.len(), self.target));
            let lanes = fit(wide.min(handed_on(self.dag, id, self.target)), self.dag.extent(l));
            if lanes < 4 {
                continue;
            }
            let cost = self.cost(&nodes, &nest, Some((l, lanes)))
                + self.dag.points(self.dag[id].deps) * lanes as f64 / 4.0;
            if cost < best.0 {
                best = (cost, Some((l, lanes)));
            }
        }
        let mut plan = ReducePlan { order, lanes: 1 };
        if let Some((l, lanes)) = best.1 {
            plan.order.retain(|&k| k != l);
            plan.order.push(l);
            plan.lanes = lanes;
        }
        plan
    }
}

/// Gives reductions that can run together as many lanes as the one of them with the fewest: those along the same loops
/// that have as many reductions inside, one in another, so that none of them needs another. They have so few that all fit
/// in registers together, if half of the registers are enough for them.
fn keep_step(dag: &Dag, reductions: &[NodeId], plans: &mut HashMap<NodeId, ReducePlan>, target: &Target) {
    let mut depths: HashMap<NodeId, usize> = HashMap::new();
    let mut fewest: HashMap<(usize, LoopSet, Vec<LoopId>), (usize, usize)> = HashMap::new();
    // Reductions come after those inside of them.
    for &r in reductions {
        let inside = dag.all_reachable(&dag[r].node.children().collect::<Vec<_>>());
        let depth = inside.iter().filter_map(|n| depths.get(n)).max().map_or(0, |d| d + 1);
        depths.insert(r, depth);
        if let Some(plan) = plans.get(&r).filter(|p| p.lanes > 1) {
            let all = fewest.entry((depth, dag[r].deps, plan.order.clone())).or_insert((plan.lanes, 0));
            *all = (plan.lanes.min(all.0), all.1 + 1);
        }
    }
    for (r, plan) in plans.iter_mut().filter(|p| p.1.lanes > 1) {
        let key = depths.get(r).map(|&depth| (depth, dag[*r].deps, plan.order.clone()));
        let Some(&(lanes, together)) = key.and_then(|key| fewest.get(&key)) else { continue };
        let native = target.vector_bytes / Elem::of(dag[*r].dtype).size();
        let fitting = target.vector_registers / 2 * native / together;
        plan.lanes = lanes.min(1 << fitting.max(native).ilog2());
    }
}

/// The most nodes that reductions along the same loops have together.
pub(crate) fn together(bodies: &[(NodeId, Vec<NodeId>)], plans: &HashMap<NodeId, ReducePlan>) -> usize {
    let mut groups: HashMap<&[LoopId], HashSet<NodeId>> = HashMap::new();
    for (r, nodes) in bodies {
        groups.entry(&plans[r].order).or_default().extend(nodes);
    }
    groups.values().map(HashSet::len).max().unwrap_or(0)
}

/// The order of the loops over the output: large strides outside.
pub fn output_order(outer: &[LoopId], dag: &Dag, outputs: &[Output]) -> Vec<LoopId> {
    let stride = |l: LoopId| outputs.iter().map(|o| o.address.coeff(l).abs()).max().unwrap_or(0);
    let mut order: Vec<LoopId> = outer.iter().copied().filter(|&l| dag.extent(l) != 1).collect();
    order.sort_by_key(|&l| (std::cmp::Reverse(stride(l)), l));
    order
}

/// A loop that is done in so many lanes.
type Vectors = (LoopId, usize);

/// Chooses the schedule of a kernel that evaluates its outputs point by point: the loop that is best done in lanes is.
pub fn choose(dag: &Dag, outputs: &[Output], outer: &[LoopId], target: &Target) -> RowSchedule {
    let kernel = Points::of(dag, outputs, outer, target);
    let (cycles, vector) = kernel.vectors();
    let moved = traffic(dag, outputs) / BYTES_A_CYCLE;
    let mut schedule = kernel.scalar(cycles.max(moved));
    if let Some(vector) = vector {
        kernel.vectorise(&mut schedule, vector);
    }
    schedule.is_transposition = transpose::is_transposition(dag, outputs, &schedule.order, target);
    schedule
}

/// Bytes that one core moves in a cycle where they do not lie in its own caches.
pub(crate) const BYTES_A_CYCLE: f64 = 8.0;

/// The bytes of the elements that a kernel writes and reads, each element once for every loop its address uses.
fn traffic(dag: &Dag, outputs: &[Output]) -> f64 {
    let points = |lin: &Lin| lin.terms.iter().map(|t| dag.extent(t.0) as f64).product::<f64>();
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    let read = dag.all_reachable(&roots).into_iter().map(|n| match &dag[n].node {
        Node::Load { address, .. } => {
            // A window reads an element more than once, from a cache.
            let reach = address.range(&dag.extents).map_or(f64::INFINITY, |r| (r.high - r.low + 1) as f64);
            points(address).min(reach) * Elem::of(dag[n].dtype).size() as f64
        }
        Node::Gather { .. } => {
            let points: f64 = dag[n].deps.loops().map(|l| dag.extent(l) as f64).product();
            points * Elem::of(dag[n].dtype).size() as f64
        }
        _ => 0.0,
    });
    read.sum::<f64>() + written::written(dag, outputs)
}
