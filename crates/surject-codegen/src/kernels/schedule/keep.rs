//! Terms of a reduction that results need again: they are stored where the results go while they are joined, and loaded where
//! these are computed.

use super::{Axis, AxisKind, Nest};
use crate::expression::address::{Lin, LoopId, LoopSet};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::rewrite::Rewriter;
use crate::kernels::expression::Expression;
use crate::kernels::fault::Fault;
use std::collections::HashMap;
use surject_ir::{DType, UnaryOp};

/// Terms that are kept.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    /// The expression that loads them again.
    pub(crate) expression: Expression,
    /// The term.
    pub(crate) body: NodeId,
    /// Where it is stored.
    pub(crate) to: Buf,
    pub(crate) address: Lin,
    /// The loop over points along which results need it.
    along: LoopId,
}

impl Kept {
    /// May a tensor whose elements the expression reads at the addresses of its results alone, and in reductions along the row,
    /// have the memory of the results? Where a term is stored, its elements are read at once or before, and not again.
    pub(crate) fn allows(&self, expression: &Expression, buf: Buf) -> bool {
        let loads = |dag: &Dag, n: NodeId| matches!(dag[n].node, Node::Load { buf: from, .. } if from == buf);
        let roots: Vec<NodeId> = self.expression.outputs.iter().map(|o| o.root).collect();
        let dag = &self.expression.dag;
        if dag.reachable(&roots).into_iter().any(|n| loads(dag, n)) {
            return false;
        }
        let dag = &expression.dag;
        let here = |n: NodeId| match &dag[n].node {
            Node::Load { buf: from, address, .. } => *from != buf || *address == self.address,
            _ => true,
        };
        let before = dag.all_reachable(&[self.body]);
        expression.nodes().into_iter().all(|n| match &dag[n].node {
            Node::Reduce { body, .. } if *body == self.body => dag.reachable(&[*body]).into_iter().all(here),
            Node::Reduce { body, .. } => {
                before.contains(&n) || !dag.all_reachable(&[*body]).into_iter().any(|n| loads(dag, n))
            }
            _ => true,
        })
    }

    /// Can the loops over points run as they stand? What is kept of a row is loaded before another row is, and by nobody else.
    pub(super) fn check(&self, points: &Nest) -> Result<(), Fault> {
        let own = |a: &&Axis| a.of == self.along;
        let name = |a: &Axis| a.name.clone();
        let axes = &points.1;
        if let Some(shared) = axes.iter().filter(own).find(|a| matches!(a.kind, AxisKind::Parallel(_))) {
            return Err(Fault::of(
                &name(shared),
                format!("agents share `{}`, and each of them would keep all terms", name(shared)),
            ));
        }
        let of_gpu =
            |a: &&Axis| matches!(a.kind, AxisKind::Parallel(level) if level != surject_kernel::Level::Task);
        if let Some(shared) = axes.iter().find(of_gpu) {
            return Err(Fault::of(&name(shared), format!("agents of a GPU share `{}`", name(shared))));
        }
        if let Some(jammed) = axes.iter().find(|a| a.kind == AxisKind::Jammed) {
            return Err(Fault::of(
                &name(jammed),
                format!("`{}` is jammed, and terms of one row are kept at a time", name(jammed)),
            ));
        }
        let first = axes.iter().position(|a| own(&a)).unwrap_or(0);
        match axes[first..].iter().find(|a| !own(a)) {
            Some(inner) => Err(Fault::of(
                &name(inner),
                format!(
                    "`{}` stands inside of `{}`, where terms would be stored again over results",
                    name(inner),
                    name(&axes[first])
                ),
            )),
            None => Ok(()),
        }
    }
}

/// Keeps the terms of the reductions over a loop, which results need again along a loop over points.
pub(crate) fn keep(expression: &Expression, reduced: &str, at: &str) -> Result<Kept, Fault> {
    let id = |name: &str| expression.called(name).map_err(|message| Fault::of(name, message));
    let (over, along) = (id(reduced)?, id(at)?);
    if !expression.loops.contains(&along) {
        return Err(Fault::of(at, format!("`{at}` is no loop over points")));
    }
    let [output] = &expression.outputs[..] else { return Err("there are several results".into()) };
    let dag = &expression.dag;
    if output.join.is_some() || output.address.coeff(along) == 0 {
        return Err(Fault::of(at, format!("results along `{at}` meet")));
    }
    let around: LoopSet =
        expression.loops.iter().copied().filter(|&l| l != along && dag.extent(l) > 1).collect();
    if dag.extent(over) != dag.extent(along) || over == along {
        return Err(Fault::of(reduced, format!("`{reduced}` and `{at}` do not run as often")));
    }
    let body = |n: &NodeId| match &dag[*n].node {
        Node::Reduce { loops, body, .. } if loops[..] == [over] => {
            let fits = around.minus(dag[*n].deps).loops().next().is_none() && !dag[*n].deps.contains(along);
            (fits && dag[*body].dtype == dag[output.root].dtype).then_some(*body)
        }
        _ => None,
    };
    // Of reductions inside of each other the outer one has the longer terms.
    let bodies: Vec<NodeId> = expression.nodes().iter().rev().filter_map(body).collect();
    if bodies.is_empty() {
        return Err(Fault::of(
            reduced,
            format!(
                "no reduction over `{reduced}` alone has a value for every row along `{at}`, and terms of the type of results"
            ),
        ));
    }
    let kept = bodies.into_iter().find_map(|body| rewritten(expression, body, over, along));
    let unneeded = || format!("results along `{at}` do not need the terms over `{reduced}`");
    kept.ok_or_else(|| Fault::of(at, unneeded()))
}

/// The expression that loads the terms of a reduction over a loop again.
fn rewritten(expression: &Expression, body: NodeId, over: LoopId, along: LoopId) -> Option<Kept> {
    let mut all = expression.clone();
    let output = all.outputs[0].clone();
    let dag = &mut all.dag;
    let inside = dag.reachable(&[body]);
    let runs = |n: &NodeId| matches!(dag[*n].node, Node::Reduce { .. }) && dag[*n].deps.contains(over);
    if inside.iter().any(runs) {
        return None;
    }
    // The term where the results are.
    let swap = Lin::var(along);
    let direct = dag.reachable(&[output.root]);
    let mut rewriter = Rewriter { dag, ids: HashMap::new() };
    let mut again = body;
    for &n in &inside {
        again = rewriter.copy(n, &|lin| lin.substitute(over, &swap))?;
    }
    if !direct.contains(&again) || again == output.root {
        return None;
    }
    let dtype = dag[body].dtype;
    let load = Node::Load { buf: output.to, address: output.address.clone(), guards: Vec::new() };
    let load = dag.add(load, dtype);
    all.outputs[0].root = dag.replaced(output.root, again, load)?;
    let address = output.address.substitute(along, &Lin::var(over))?;
    let needed = all
        .nodes()
        .into_iter()
        .any(|n| matches!(&all.dag[n].node, Node::Reduce { body: b, .. } if *b == body));
    needed.then_some(Kept { expression: all, body, to: output.to, address, along })
}

impl Expression {
    /// Loops of reductions, and loops over points, along which results need terms again that are functions of floats: worth a
    /// store and a load.
    pub fn keepable(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for n in self.nodes() {
            let Node::Reduce { loops, body, .. } = &self.dag[n].node else { continue };
            let &[over] = &loops[..] else { continue };
            let costly = |n: &NodeId| match &self.dag[*n].node {
                Node::Unary(op, x) => {
                    is_function(*op) && self.dag[*x].dtype.is_float() && self.dag[*n].deps.contains(over)
                }
                _ => false,
            };
            let float = matches!(self.dag[*body].dtype, DType::F32 | DType::F64);
            if !float || !self.dag.reachable(&[*body]).iter().any(costly) {
                continue;
            }
            let along = self.loops.iter().filter(|&&l| self.dag.extent(l) == self.dag.extent(over));
            found.extend(along.map(|&l| (self.name(over), self.name(l))));
        }
        found.retain(|(over, along)| keep(self, over, along).is_ok());
        found
    }
}

/// Is it a function that takes longer than a store and a load of its value?
fn is_function(op: UnaryOp) -> bool {
    use UnaryOp::*;
    !matches!(op, Neg | Abs | Sign | Not | Floor | Ceil | IsFinite | RoundEven | RoundAway | Sqrt)
}
