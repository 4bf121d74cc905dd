//! Loops with triangular bounds: what lies in a tail is left out.
//!
//! A mask or a guard cuts the space of a nest ([`crate::expression::tail`]): above the diagonal of causal attention scores are
//! the fill of the mask, whatever the products are, and the weights made of them are zero. `triangular L` ends a loop there.
//!
//! * Of a loop over points: results of a tail are stored without the reductions that they do not depend on.
//! * Of the loop of a maximum, a minimum, a conjunction or a disjunction: one term of the tail is joined, which is as good as all.
//! * Of the loop of a sum: the terms have to be zero there, or a factor of theirs while the other one is finite. Unless that is known
//!   before anything runs, the kernel looks.

use super::{Axis, AxisKind, Nest, Panel, Schedule, fits};
use crate::expression::address::{Lin, LoopId, LoopSet};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::stored_tail::Side;
use crate::expression::tail::{Edge, Tail, tail};
use crate::kernels::expression::Expression;
use crate::kernels::fault::Fault;
use crate::kernels::schedule::{Accumulation, Directive};
use surject_ir::{AccOp, BinaryOp, Scalar};
use surject_kernel::Level;

/// A loop with triangular bounds.
#[derive(Clone, Debug)]
pub(crate) struct Triangle {
    /// The loop, which is one over points or of a reduction.
    pub(crate) name: String,
    pub(crate) reduction: Option<NodeId>,
    /// What is left out: at most one tail at each side.
    pub(crate) tails: Vec<Tail>,
    pub(crate) terms: TailTerms,
    /// How much further the loops over points reach of which edges count positions, from what is known of them where this loop is
    /// opened.
    pub(crate) reach: Vec<(LoopId, i64)>,
}

/// When the terms of a tail may be left out.
#[derive(Clone, Debug)]
pub(crate) enum TailTerms {
    /// Always: they are points.
    Points,
    /// If one of them is joined.
    OfOne,
    /// If this value is zero there, and the mark is.
    Zero { value: NodeId, finite: Option<Mark> },
}

/// An element that is zero where a factor is finite.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub(crate) memory: Buf,
    pub(crate) address: Lin,
}

/// The loops of a name, which are triangular now.
pub(super) fn triangles(
    expression: &Expression,
    (nests, accumulations): (&[Nest], &[Accumulation]),
    name: &str,
) -> Result<Vec<Triangle>, Fault> {
    let mut found = Vec::new();
    for nest in nests {
        if let Some(at) = nest.1.iter().position(|a| a.name == name) {
            found.push(
                triangle(expression, (nests, accumulations), (nest, at)).map_err(|m| Fault::of(name, m))?,
            );
        }
    }
    match found.is_empty() {
        true => Err(Fault::of(name, format!("there is no loop `{name}` here"))),
        false => Ok(found),
    }
}

fn triangle(
    expression: &Expression,
    (nests, accumulations): (&[Nest], &[Accumulation]),
    ((reduction, axes), at): (&Nest, usize),
) -> Result<Triangle, String> {
    let (dag, axis) = (&expression.dag, &axes[at]);
    let name = &axis.name;
    let is_whole = axis.factor.saturating_mul(axis.extent) >= dag.extent(axis.of);
    if axis.kind != AxisKind::Serial || !is_whole || axes[..at].iter().any(|a| a.of == axis.of) {
        return Err(format!("`{name}` is not all of a loop whose iterations run one after the other"));
    }
    let of_gpu = |a: &Axis| matches!(a.kind, AxisKind::Parallel(level) if level != Level::Task);
    if nests.iter().flat_map(|n| &n.1).any(of_gpu) {
        return Err("agents of a GPU run the same iterations".into());
    }
    if reduction.is_none() && !accumulations.is_empty() {
        return Err("blocks of terms are accumulated for all points".into());
    }
    let accumulation =
        reduction.and_then(|r| accumulations.iter().find(|a| a.sums.iter().any(|s| s.reduction == r)));
    if accumulation.is_some_and(|a| a.sums.len() > 1) {
        return Err(format!("several reductions are accumulated in the blocks of `{name}`"));
    }
    let place = Place { reduction: *reduction, at, accumulation };
    let (tails, terms) = match reduction {
        None => (tails_of_results(expression, axis.of), TailTerms::Points),
        Some(reduction) => tails_of_terms(expression, *reduction, axis.of)?,
    };
    if tails.is_empty() {
        return Err(format!(
            "nothing along `{name}` is the same from some place on that depends on other loops"
        ));
    }
    if let TailTerms::Zero { value, .. } = terms
        && !tails.iter().all(|t| is_zero(t.value))
    {
        if accumulation.is_some() {
            return Err(format!(
                "nobody looks whether terms along `{name}` are zero for all points together"
            ));
        }
        let lanes = |a: &&Axis| a.kind == AxisKind::Lanes && dag[value].deps.contains(a.of);
        if let Some(lanes) = nests[0].1.iter().find(lanes) {
            return Err(format!("terms along `{name}` may be zero in some lanes of `{}` alone", lanes.name));
        }
    }
    let mut reach = Vec::new();
    for l in tails.iter().flat_map(|t| t.edge.digits.iter().map(|d| d.l)) {
        if !reach.iter().any(|r: &(LoopId, i64)| r.0 == l) {
            reach.push((l, reach_of(expression, nests, &place, l)?));
        }
    }
    let rounded = |edge: &Edge| {
        edge.digits.iter().any(|d| d.modulus < dag.extent(d.l) && reach.iter().any(|r| r.0 == d.l && r.1 > 0))
    };
    if tails.iter().any(|t| rounded(&t.edge)) {
        return Err(format!("rows that run together inside of `{name}` may be of several blocks"));
    }
    Ok(Triangle { name: name.clone(), reduction: *reduction, tails, terms, reach })
}

impl Triangle {
    /// Do results in the tail of a loop over points need nothing of panels that an iteration has to itself?
    pub(super) fn check(
        &self,
        expression: &Expression,
        points: &[Axis],
        panels: &[Panel],
    ) -> Result<(), Fault> {
        let position = |name: &str| points.iter().position(|a| a.name == name);
        let (Some(at), None) = (position(&self.name), self.reduction) else { return Ok(()) };
        let dag = &expression.dag;
        let is_left_out =
            |n: NodeId| matches!(dag[n].node, Node::Reduce { .. }) && dag[n].deps.contains(points[at].of);
        let roots: Vec<NodeId> = expression.outputs.iter().map(|o| o.root).collect();
        let needed = dag.reachable_but(&roots, is_left_out);
        let own = |p: &&Panel| position(&p.at).is_some_and(|of| of >= at) && needed.contains(&p.value);
        match panels.iter().find(own) {
            Some(panel) => Err(Fault::of(
                &self.name,
                format!("results in the tail of `{}` would need what is packed at `{}`", self.name, panel.at),
            )),
            None => Ok(()),
        }
    }
}

/// Where a triangular loop stands.
struct Place<'a> {
    reduction: Option<NodeId>,
    /// The number of a loop over points.
    at: usize,
    /// Where its terms are taken in blocks.
    accumulation: Option<&'a Accumulation>,
}

/// How far the parts of a loop over points reach that are opened inside of a triangular one.
fn reach_of(
    expression: &Expression,
    nests: &[Nest],
    &Place { reduction, at, accumulation }: &Place<'_>,
    l: LoopId,
) -> Result<i64, String> {
    let name = expression.name(l);
    if !expression.loops.contains(&l) {
        return Err(format!("its end depends on `{name}`, which is a loop of a reduction"));
    }
    let points = &nests[0].1;
    let of_blocks = accumulation.and_then(|a| points.iter().position(|p| p.name == a.at));
    let outside = if reduction.is_none() { Some(at) } else { of_blocks };
    let inside = |(i, axis): &(usize, &Axis)| match outside {
        Some(at) => *i > at,
        // Reductions run for all iterations that are in step.
        None => axis.kind == AxisKind::Jammed,
    };
    let lanes = |axis: &Axis| outside.is_none() && axis.kind == AxisKind::Lanes;
    if points.iter().any(|a| a.of == l && lanes(a)) {
        return Err(format!("it ends elsewhere in each lane along `{name}`"));
    }
    let parts = points.iter().enumerate().filter(|(_, a)| a.of == l).filter(inside);
    let reach: i64 = parts.map(|(_, a)| (a.extent - 1) * a.factor).sum();
    match reach + 1 < expression.dag.extent(l) {
        true => Ok(reach),
        false => Err(format!("it ends elsewhere for each iteration of `{name}`, which runs inside of it")),
    }
}

/// The tails that all results share.
fn tails_of_results(expression: &Expression, l: LoopId) -> Vec<Tail> {
    if expression.outputs.iter().any(|o| o.join.is_some()) {
        return Vec::new();
    }
    let shared = |side: Side| {
        let mut tails = expression.outputs.iter().map(|o| tail(&expression.dag, o.root, l, side));
        let first = tails.next()??;
        tails.try_fold(first, |all, more| {
            let edge = all.edge.joined(&more?.edge, side)?;
            Some(Tail { side, edge, value: None })
        })
    };
    Side::BOTH.into_iter().filter_map(shared).collect()
}

/// The tails of the terms of a reduction that has one loop, and when they may be left out.
fn tails_of_terms(
    expression: &Expression,
    reduction: NodeId,
    l: LoopId,
) -> Result<(Vec<Tail>, TailTerms), String> {
    let dag = &expression.dag;
    let Node::Reduce { op, loops, body, .. } = &dag[reduction].node else {
        return Err("no reduction".into());
    };
    if loops.iter().any(|&other| other != l && dag.extent(other) > 1) {
        return Err("the reduction has several loops".into());
    }
    match op {
        AccOp::Max | AccOp::Min | AccOp::And | AccOp::Or => {
            Ok((tails_along(dag, *body, l), TailTerms::OfOne))
        }
        AccOp::Add => {
            let own = tails_along(dag, *body, l);
            if !own.is_empty() {
                return Ok((own, TailTerms::Zero { value: *body, finite: None }));
            }
            let Some(Product { value, tails, other }) = product(dag, *body, l) else {
                return Ok((Vec::new(), TailTerms::OfOne));
            };
            let is_exact = !dag[*body].dtype.is_float();
            let mark = mark(expression, other, l);
            if !is_exact && mark.is_none() {
                return Err("nobody says whether the other factor is finite where one is zero".into());
            }
            Ok((tails, TailTerms::Zero { value, finite: mark.filter(|_| !is_exact) }))
        }
        _ => Err(format!("terms of `{op}` are not left out")),
    }
}

/// A product one of whose factors has a tail.
struct Product {
    value: NodeId,
    tails: Vec<Tail>,
    other: NodeId,
}

fn product(dag: &Dag, body: NodeId, l: LoopId) -> Option<Product> {
    let Node::Binary(BinaryOp::Mul, x, y) = dag[body].node else { return None };
    let product = |(value, other)| Product { value, tails: tails_along(dag, value, l), other };
    [(x, y), (y, x)].into_iter().map(product).find(|p| !p.tails.is_empty())
}

/// The tails of a value along a loop.
fn tails_along(dag: &Dag, n: NodeId, l: LoopId) -> Vec<Tail> {
    Side::BOTH.into_iter().filter_map(|side| tail(dag, n, l, side)).collect()
}

/// The mark of a factor, for all terms along a loop and all results that share them.
fn mark(expression: &Expression, factor: NodeId, l: LoopId) -> Option<Mark> {
    let dag = &expression.dag;
    let Node::Load { buf, address, guards } = &dag[factor].node else { return None };
    let marks = dag.known.finite.get(buf).filter(|_| guards.is_empty())?;
    let address = marks.place(dag, address, std::iter::once(l).collect())?;
    Some(Mark { memory: marks.memory, address })
}

/// A factor that has to be finite for terms to be left out.
pub(crate) struct Unmarked {
    /// The sum.
    pub(crate) sum: NodeId,
    /// What is loaded.
    pub(crate) factor: NodeId,
    /// The loops that the other factor does not depend on, and that of the terms.
    pub(crate) inside: LoopSet,
}

impl Expression {
    /// The factor of a sum of products of floats of which somebody has to say where it is finite, so that the terms of a tail may be
    /// left out.
    pub(crate) fn unmarked(&self) -> Option<Unmarked> {
        let dag = &self.dag;
        self.nodes().into_iter().find_map(|n| {
            let Node::Reduce { op: AccOp::Add, loops, body, .. } = &dag[n].node else { return None };
            let mut wide = loops.iter().copied().filter(|&l| dag.extent(l) > 1);
            let l = wide.next().filter(|_| wide.next().is_none() && dag[*body].dtype.is_float())?;
            if !tails_along(dag, *body, l).is_empty() {
                return None;
            }
            let Product { value, other, .. } = product(dag, *body, l)?;
            let Node::Load { guards, .. } = &dag[other].node else { return None };
            let inside = dag[other].deps.minus(dag[value].deps).union(std::iter::once(l).collect());
            (guards.is_empty() && mark(self, other, l).is_none()).then_some(Unmarked {
                sum: n,
                factor: other,
                inside,
            })
        })
    }
}

/// Is a value zero?
pub(crate) fn is_zero(value: Option<Scalar>) -> bool {
    value.is_some_and(|value| value == Scalar::zero(value.dtype()))
}

impl Schedule {
    /// The same, where all loops that may end at a tail do.
    pub fn with_triangles(mut self, expression: &Expression) -> Schedule {
        if !expression.may_have_tails() {
            return self;
        }
        for name in self.outer_loops(expression) {
            self.directives.push(Directive::Triangular(name));
            if fits(expression, &self).is_err() {
                self.directives.pop();
            }
        }
        self
    }

    /// The loops over blocks, or all of a loop that is not split, by their names.
    fn outer_loops(&self, expression: &Expression) -> Vec<String> {
        let reductions = expression.reductions();
        let points = expression.loops();
        let all = points.iter().map(|l| &l.name).chain(reductions.iter().flat_map(|r| &r.loops));
        let mut names: Vec<String> = Vec::new();
        for name in all {
            let mut name = name.clone();
            while self.directives.iter().any(|d| matches!(d, Directive::Split(of, _) if *of == name)) {
                name.push_str(".o");
            }
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}
