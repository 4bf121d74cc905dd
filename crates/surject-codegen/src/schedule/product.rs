//! Which reductions are products: two factors whose values several rows and several columns of results share.
//!
//! Loops of the output that only one factor depends on are rows, those of the other are columns, and those that both depend on
//! are a batch. A product has a kernel of its own: what other kernels need of it is stored first.

use crate::Target;
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::machine::elem::Elem;
use crate::schedule::refused::{Fit, Refused, need};
use surject_ir::{AccOp, BinaryOp, DType};

/// The share of products that storing results apart leaves, at most.
const APART: f64 = 0.6;

/// Sums that are added to at the same time: two in a cycle, four cycles each.
const SUMS: f64 = 8.0;

/// Vectors of a row that are added to at the same time, at most.
const VECTORS: i64 = 2;

/// Smaller vectors than these cost no less.
const LEAST_LANES: i64 = 4;

/// The loops of the output that only one factor depends on, and their iterations.
struct Side {
    loops: Vec<LoopId>,
    count: i64,
}

/// The factors of a reduction that is a product worth a kernel of its own. Refused where it has no two factors, or where vectors
/// of results would be mostly empty.
pub(crate) fn factors(dag: &Dag, outputs: &[Output], node: NodeId, target: &Target) -> Fit<[NodeId; 2]> {
    let Node::Reduce { op, loops, body, .. } = &dag[node].node else {
        return Err(Refused("there is no reduction"));
    };
    let dtype = dag[node].dtype;
    let suitable = dtype.is_float() || matches!(dtype, DType::I32 | DType::I64 | DType::U32 | DType::U64);
    let (x, y) = match dag[*body].node {
        Node::Binary(BinaryOp::Mul, x, y) if *op == AccOp::Add && dag[x].deps != dag[y].deps => (x, y),
        _ => values_of_terms(dag, node, *body).ok_or(Refused("the terms are not made of two factors"))?,
    };
    let (of_x, of_y, results) = (dag[x].deps, dag[y].deps, dag[node].deps);
    need(suitable, "the element type has no tiles")?;
    let read = loops.iter().all(|&l| of_x.union(of_y).contains(l));
    need(read, "terms along a loop are all the same")?;
    let extents = |loops: &[LoopId]| loops.iter().map(|&l| dag.extent(l)).product::<i64>();
    let least = match dtype {
        DType::F16 | DType::BF16 => target.thresholds.half_tiles,
        _ => target.thresholds.tiles,
    };
    let all: Vec<LoopId> = results.loops().collect();
    let products = extents(&all) as f64 * extents(loops) as f64;
    need(products >= least.products && extents(loops) >= 4, "there are too few products for tiles")?;
    let side = |own: LoopSet, other: LoopSet| {
        let is_own = |l: &LoopId| own.contains(*l) && !other.contains(*l) && dag.extent(*l) > 1;
        let loops: Vec<LoopId> = all.iter().copied().filter(is_own).collect();
        Side { count: extents(&loops), loops }
    };
    let sides = [side(of_x, of_y), side(of_y, of_x)];
    let lanes = (target.vector_bytes / Elem::of(dtype).size()).max(1) as i64;
    let windows = loops.iter().filter(|&&l| dag.extent(l) > 1).count() > 1;
    let fills = |rows: &Side, columns: &Side, factor: NodeId| {
        columns.loops.iter().any(|&lane| {
            let beside = outputs.iter().all(|o| o.address.coeff(lane).abs() <= 1);
            let score = share(rows.count, dag.extent(lane), lanes) * if beside { 1.0 } else { APART };
            let is_window = windows && rows.count == 1 && is_contiguous(dag, factor, lane);
            score > if is_window { least.window_score } else { least.score }
        })
    };
    let [first, second] = &sides;
    need(fills(first, second, y) || fills(second, first, x), "tiles would be mostly empty")?;
    Ok([x, y])
}

/// Are neighbours along a loop next to each other in all that a factor reads, or the same?
fn is_contiguous(dag: &Dag, factor: NodeId, l: LoopId) -> bool {
    dag.all_reachable(&[factor]).into_iter().all(|n| match &dag[n].node {
        Node::Load { address, .. } => matches!(address.coeff(l), 0 | 1),
        _ => true,
    })
}

/// The share of the products of full vectors that tiles of so many rows and columns do, of which a vector has so many lanes.
fn share(rows: i64, columns: i64, lanes: i64) -> f64 {
    let mut fitting = lanes;
    while fitting > LEAST_LANES && columns <= fitting / 2 {
        fitting /= 2;
    }
    // A vector of half the lanes takes about half the time, a smaller one no less.
    let pace = (2.0 * fitting as f64 / lanes as f64).min(1.0);
    let step = if columns > fitting { (fitting / 2).max(1) } else { fitting };
    let used = columns as f64 / (columns as u64).next_multiple_of(step as u64) as f64;
    let sums = rows.saturating_mul(((columns as u64).div_ceil(fitting as u64) as i64).min(VECTORS));
    used * pace * (sums as f64 / SUMS).min(1.0)
}

/// The two values that a term is made of, where one depends on some loops of the output and the other on others: all
/// that depends on both is arithmetic on them.
fn values_of_terms(dag: &Dag, node: NodeId, body: NodeId) -> Option<(NodeId, NodeId)> {
    const CORE: usize = 8;
    let plain = |n: NodeId| matches!(dag[n].dtype, DType::F32 | DType::F64 | DType::I32 | DType::I64);
    let nodes = dag.reachable(&[body]);
    let own = |n: NodeId| dag[n].deps.only(dag[node].deps);
    // The loops of the output that the leaves read together, joined where they meet in a leaf.
    let mut groups: Vec<LoopSet> = Vec::new();
    for &n in nodes.iter().filter(|&&n| dag[n].node.children().next().is_none()) {
        if own(n) != LoopSet::default() && !groups.contains(&own(n)) {
            groups.push(own(n));
        }
    }
    let &[a, b] = &groups[..] else { return None };
    if a.minus(b) == LoopSet::default() || b.minus(a) == LoopSet::default() {
        return None;
    }
    let mixed = |n: NodeId| own(n).minus(a) != LoopSet::default() && own(n).minus(b) != LoopSet::default();
    let (mut of_a, mut of_b, mut core) = (Vec::new(), Vec::new(), 0);
    for &n in nodes.iter().filter(|&&n| mixed(n)) {
        core += 1;
        let arithmetic =
            matches!(dag[n].node, Node::Unary(..) | Node::Binary(..) | Node::Select(..) | Node::Convert(_));
        if !arithmetic {
            return None;
        }
        for child in dag[n].node.children().filter(|&c| !mixed(c) && dag[c].deps != LoopSet::default()) {
            // What depends on the loops of both, or on summed ones alone, goes with the first.
            let side = if own(child).minus(a) == LoopSet::default() { &mut of_a } else { &mut of_b };
            if !side.contains(&child) {
                side.push(child);
            }
        }
    }
    match (&of_a[..], &of_b[..]) {
        (&[x], &[y])
            if core <= CORE
                && plain(x)
                && dag[x].dtype == dag[y].dtype
                && dag[x].dtype == dag[node].dtype =>
        {
            Some((x, y))
        }
        _ => None,
    }
}
