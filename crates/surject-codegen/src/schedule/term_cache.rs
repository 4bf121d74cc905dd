//! The terms of a reduction along a row that the output needs again, kept while they are summed.

use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::expression::rewrite::Rewriter;
use crate::schedule::Schedule;
use std::collections::HashMap;
use surject_ir::{DType, UnaryOp};

/// Values that a reduction stores while it runs through a row of the output.
#[derive(Clone, Debug)]
pub struct TermCache {
    /// The body of the reduction.
    pub body: NodeId,
    /// Where its value goes: the position in the output, or in the row, over the loop of the reduction.
    pub address: Lin,
    /// The output; or memory for a row, where elements of the output have no room for the value or are not read again.
    pub to: Buf,
    /// Its element type.
    pub dtype: DType,
    /// The output, made of terms that are not kept.
    pub(crate) uncached: NodeId,
}

impl TermCache {
    /// The elements of a row that is kept.
    pub(crate) fn points(&self, dag: &Dag) -> i64 {
        self.address.terms.iter().map(|t| dag.extent(t.0)).product()
    }
}

/// The elements of a row that is kept on the stack.
const OWN_POINTS: i64 = 8192;

/// Is it a function that takes longer than a store and a load of its value?
pub(crate) fn is_function(op: UnaryOp) -> bool {
    use UnaryOp::*;
    !matches!(op, Neg | Abs | Sign | Not | Floor | Ceil | IsFinite | RoundEven | RoundAway | Sqrt)
}

/// Is the value worth a store and a load, when what does not depend on the loop `l` is computed once?
fn costly(dag: &Dag, body: NodeId, l: LoopId) -> bool {
    let is_function = |n: NodeId| matches!(dag[n].node, Node::Unary(op, _) if is_function(op));
    dag.reachable(&[body]).into_iter().any(|n| dag[n].deps.contains(l) && is_function(n))
}

/// Finds a reduction along the rows of the output whose terms the output needs again, element by element: the terms
/// are stored into the output while they are summed, and loaded when the output is made. Where the output is rounded to
/// half as many bits, or goes past the caches, they are stored aside, a row at a time.
pub fn term_cache(dag: &mut Dag, outputs: &mut [Output], schedule: &Schedule) -> Option<TermCache> {
    let [output] = outputs else { return None };
    let (&last, outer) = schedule.order.split_last()?;
    let dtype = dag[output.root].dtype;
    let float = matches!(dtype, DType::F32 | DType::F64);
    let half = matches!(dtype, DType::F16 | DType::BF16);
    let aside = (half || float && schedule.streams) && dag.extent(last) <= OWN_POINTS;
    if output.join.is_some() || !schedule.is_plain() || !(float || aside) || output.address.coeff(last) != 1 {
        return None;
    }
    let around = outer.iter().copied().collect();
    let direct = dag.reachable(&[output.root]);
    for &id in &direct {
        let Node::Reduce { loops, body, .. } = &dag[id].node else { continue };
        let (&[l], body) = (&loops[..], *body) else { continue };
        let kept = if half { DType::F32 } else { dtype };
        let fits = dag.extent(l) == dag.extent(last) && dag[id].deps == around && dag[body].dtype == kept;
        // Reductions inside must not run through the loop of the output.
        if !fits || l == last || !costly(dag, body, l) || schedule.order.contains(&l) {
            continue;
        }
        // The term at the loop of the output.
        let swap = Lin::var(last);
        let inside = dag.reachable(&[body]);
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
        let (to, place) =
            if aside { (Buf::OWN, Lin::var(last)) } else { (output.to, output.address.clone()) };
        let dtype = kept;
        let kept = dag.add(Node::Load { buf: to, address: place.clone(), guards: Vec::new() }, dtype);
        let mut rewriter = Rewriter { dag, ids: HashMap::from([(again, kept)]) };
        for &n in &direct {
            let changes = rewriter.dag[n].node.children().any(|c| rewriter.ids.contains_key(&c));
            if changes && !matches!(rewriter.dag[n].node, Node::Reduce { .. }) {
                rewriter.copy(n, &|lin| Some(lin.clone()))?;
            }
        }
        let root = *rewriter.ids.get(&output.root)?;
        let address = place.substitute(last, &Lin::var(l))?;
        let uncached = std::mem::replace(&mut output.root, root);
        return Some(TermCache { body, address, to, dtype, uncached });
    }
    None
}
