//! Rewrites of a kernel before it is emitted: what a reduction computes on its way is kept for the output, and a
//! long reduction into few elements is cut into parts.

use crate::address::{Guard, GuardFact, Lin, LoopId};
use crate::dag::{Buf, Dag, Node, NodeId};
use crate::schedule::{Output, Schedule};
use std::collections::HashMap;
use surject_ir::{DType, UnaryOp};

/// Values that a reduction stores while it runs through a row of the output.
#[derive(Clone, Debug)]
pub struct Stash {
    /// The body of the reduction.
    pub body: NodeId,
    /// Where its value goes: the position in the output, over the loop of the reduction.
    pub address: Lin,
    /// The output.
    pub to: Buf,
    /// Its element type.
    pub dtype: DType,
}

/// Copies of nodes with changed operands or addresses.
pub(crate) struct Rewriter<'a> {
    pub(crate) dag: &'a mut Dag,
    pub(crate) ids: HashMap<NodeId, NodeId>,
}

impl Rewriter<'_> {
    /// Copies a node, its addresses changed by `f`; operands that were copied are replaced, and guards that always
    /// hold are dropped.
    pub(crate) fn copy(&mut self, id: NodeId, f: &dyn Fn(&Lin) -> Option<Lin>) -> Option<NodeId> {
        let data = self.dag[id].clone();
        let at = |x: &NodeId| self.ids.get(x).copied().unwrap_or(*x);
        let extents = &self.dag.extents;
        let guards = |all: &[Guard]| -> Option<Vec<Guard>> {
            let mut left = Vec::new();
            for guard in all {
                let guard = Guard { expr: f(&guard.expr)?, bound: guard.bound };
                if guard.fact(extents) != GuardFact::Always {
                    left.push(guard);
                }
            }
            Some(left)
        };
        let node = match &data.node {
            Node::Load { buf, address, guards: g } => {
                Node::Load { buf: *buf, address: f(address)?, guards: guards(g)? }
            }
            Node::Index(lin) => Node::Index(f(lin)?),
            Node::Guarded { guards: g, fill, inner } => {
                let (left, inner) = (guards(g)?, at(inner));
                if left.is_empty() {
                    self.ids.insert(id, inner);
                    return Some(inner);
                }
                Node::Guarded { guards: left, fill: *fill, inner }
            }
            Node::Unary(op, x) => Node::Unary(*op, at(x)),
            Node::Binary(op, x, y) => Node::Binary(*op, at(x), at(y)),
            Node::Select(c, x, y) => Node::Select(at(c), at(x), at(y)),
            Node::Convert(x) => Node::Convert(at(x)),
            Node::Bitcast(x) => Node::Bitcast(at(x)),
            Node::ReducePrecision(e, m, x) => Node::ReducePrecision(*e, *m, at(x)),
            // A reduction that does not depend on what changes stays the same node.
            leaf @ (Node::Reduce { .. } | Node::Const(_) | Node::Param(..)) => leaf.clone(),
        };
        let new = self.dag.add(node, data.dtype);
        self.ids.insert(id, new);
        Some(new)
    }
}

/// Is the value worth a store and a load?
fn costly(dag: &Dag, body: NodeId) -> bool {
    use UnaryOp::*;
    dag.reachable(&[body], false).iter().any(|&n| match &dag[n].node {
        Node::Unary(op, _) => {
            !matches!(op, Neg | Abs | Sign | Not | Floor | Ceil | IsFinite | RoundEven | RoundAway | Sqrt)
        }
        _ => false,
    })
}

/// Finds a reduction along the rows of the output whose terms the output needs again, element by element: the terms
/// are stored into the output while they are summed, and loaded when the output is made.
pub fn stash(dag: &mut Dag, outputs: &mut [Output], schedule: &Schedule, to: (Buf, DType)) -> Option<Stash> {
    let [output] = outputs else { return None };
    let (&last, outer) = schedule.order.split_last()?;
    let float = matches!(to.1, DType::F32 | DType::F64);
    if output.join.is_some() || schedule.turned.is_some() || !float || output.address.coeff(last) != 1 {
        return None;
    }
    let around = outer.iter().copied().collect();
    let direct = dag.reachable(&[output.root], false);
    for &id in &direct {
        let Node::Reduce { loops, body, .. } = &dag[id].node else { continue };
        let (&[l], body) = (&loops[..], *body) else { continue };
        let fits = dag.extent(l) == dag.extent(last) && dag[id].deps == around && dag[body].dtype == to.1;
        // Reductions inside must not run through the loop of the output.
        if !fits || l == last || !costly(dag, body) || schedule.order.contains(&l) {
            continue;
        }
        // The term at the loop of the output.
        let swap = Lin::var(last);
        let inside = dag.reachable(&[body], false);
        if inside.iter().any(|&n| matches!(dag[n].node, Node::Reduce { .. }) && dag[n].deps.contains(l)) {
            continue;
        }
        let mut rewriter = Rewriter { dag, ids: HashMap::new() };
        let copied: Option<Vec<NodeId>> =
            inside.iter().map(|&n| rewriter.copy(n, &|lin| lin.substitute(l, &swap))).collect();
        let Some(&again) = copied.as_deref().and_then(<[NodeId]>::last) else { continue };
        if !direct.contains(&again) || again == output.root {
            continue;
        }
        let kept = Node::Load { buf: to.0, address: output.address.clone(), guards: Vec::new() };
        let kept = dag.add(kept, to.1);
        let mut rewriter = Rewriter { dag, ids: HashMap::from([(again, kept)]) };
        for &n in &direct {
            let changes = rewriter.dag[n].node.children().any(|c| rewriter.ids.contains_key(&c));
            if changes && !matches!(rewriter.dag[n].node, Node::Reduce { .. }) {
                rewriter.copy(n, &|lin| Some(lin.clone()))?;
            }
        }
        let root = *rewriter.ids.get(&output.root)?;
        let address = output.address.substitute(last, &Lin::var(l))?;
        output.root = root;
        return Some(Stash { body, address, to: to.0, dtype: to.1 });
    }
    None
}

/// A long reduction into few elements, in two kernels: the parts, and what is made of them.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The number of parts.
    pub count: i64,
    /// The element type of the parts.
    pub dtype: DType,
    /// The kernel of the parts: its graph, output and loops.
    pub first: (Dag, Output, Vec<LoopId>),
    /// The graph of the second kernel.
    pub second: Dag,
    /// Its output.
    pub output: Output,
}

/// Cuts the only reduction of a kernel, where its output has too few elements to keep the threads busy. The parts
/// are the tensor `buf` of `count` rows of as many elements as the reduction has values.
pub fn cut(dag: &Dag, outputs: &[Output], outer: &[LoopId], threads: usize, buf: Buf) -> Option<Parts> {
    let [output] = outputs else { return None };
    let points: i64 = outer.iter().map(|&l| dag.extent(l)).product();
    let all = dag.reachable(&[output.root], true);
    let reductions: Vec<NodeId> =
        all.into_iter().filter(|&n| matches!(dag[n].node, Node::Reduce { .. })).collect();
    let [id] = reductions[..] else { return None };
    let Node::Reduce { op, loops, body, field } = dag[id].node.clone() else { return None };
    let work: i64 = loops.iter().map(|&l| dag.extent(l)).product();
    let dtype = dag[id].dtype;
    let exact = dtype.is_int() || dtype.is_bool() || matches!(dtype, DType::F32 | DType::F64);
    if threads < 2 || points >= 2 * threads as i64 || work < 1 << 17 || !exact {
        return None;
    }
    // The longest loop, and the divisor of its extent nearest to four parts a thread.
    let &l = loops.iter().max_by_key(|&&l| dag.extent(l))?;
    let wanted = 4 * threads as i64;
    let count = (2..=2 * wanted).filter(|c| dag.extent(l) % c == 0).min_by_key(|c| (c - wanted).abs())?;
    if count < threads as i64 {
        return None;
    }
    let inner = dag.extent(l) / count;
    let mut first = dag.clone();
    let part = first.add_loop(count)?;
    first.extents[l.0 as usize] = inner;
    let number = Lin::var(part).times(inner)?.plus(&Lin::var(l), 1)?;
    let mut rewriter = Rewriter { dag: &mut first, ids: HashMap::new() };
    let mut root = body;
    for n in dag.reachable(&[body], true) {
        root = rewriter.copy(n, &|lin| lin.substitute(l, &number))?;
    }
    let root = first.add(Node::Reduce { op, loops, body: root, field }, dtype);
    // The values of the reduction in the order of its own loops.
    let own: Vec<LoopId> = outer.iter().copied().filter(|&l| dag[id].deps.contains(l)).collect();
    let mut place = Lin::default();
    let mut stride = 1;
    for &l in own.iter().rev() {
        place = place.plus(&Lin::var(l), stride)?;
        stride *= dag.extent(l);
    }
    let address = place.plus(&Lin::var(part), stride)?;
    let mut first_loops = vec![part];
    first_loops.extend(&own);

    let mut second = dag.clone();
    let over = second.add_loop(count)?;
    let load = Node::Load { buf, address: place.plus(&Lin::var(over), stride)?, guards: Vec::new() };
    let load = second.add(load, dtype);
    let joined = second.add(Node::Reduce { op, loops: vec![over], body: load, field }, dtype);
    let mut rewriter = Rewriter { dag: &mut second, ids: HashMap::from([(id, joined)]) };
    for n in dag.reachable(&[output.root], false) {
        if n != id && dag[n].node.children().any(|c| rewriter.ids.contains_key(&c)) {
            rewriter.copy(n, &|lin| Some(lin.clone()))?;
        }
    }
    let root_second = *rewriter.ids.get(&output.root)?;
    Some(Parts {
        count: count * stride,
        dtype,
        first: (first, Output { address, root, join: None }, first_loops),
        second,
        output: Output { address: output.address.clone(), root: root_second, join: None },
    })
}
