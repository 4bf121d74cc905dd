//! Values of nodes, by interpretation: what the checker and the replay of explanations compare.

use crate::algebra::Graph;
use crate::build::{field, space_of};
use crate::lang::{Node, Op};
use egg::Id;
use std::collections::HashMap;
use std::rc::Rc;
use surject_index::{IndexMap, Space};
use surject_ir::{DType, Scalar, eval};

/// Spaces with more points are not evaluated.
const MAX_POINTS: u64 = 1 << 16;

/// The values of a field at the points of its space, in row-major order.
pub type Values = Rc<Vec<Scalar>>;

/// Gives inputs their values.
pub type Inputs<'a> = dyn Fn(u32, DType, u64) -> Vec<Scalar> + 'a;

/// The row-major position of a point.
fn position(space: &Space, point: &[i64]) -> Option<usize> {
    let sizes = space.sizes()?;
    Some(sizes.iter().zip(point).fold(0usize, |at, (&n, &p)| at * n as usize + p as usize))
}

/// The value of a node of these children; `None` when an extent is symbolic or a space is too large.
pub fn node_value(
    egraph: &Graph,
    id: Id,
    node: &Node,
    child: &dyn Fn(Id) -> Option<Values>,
    inputs: &Inputs<'_>,
) -> Option<Vec<Scalar>> {
    let data = field(egraph, id)?;
    let space = egraph.analysis.space(data.space);
    let count = space.points().filter(|&n| n <= MAX_POINTS)?;
    let op = |o: Id| egraph[o].data.op();
    match node {
        Node::Input(i) => Some(inputs(*i, data.dtype, count)),
        Node::Const(_, dtype, bits) => Some(vec![Scalar::from_bits(*dtype, *bits); count as usize]),
        Node::Index(_, axis, dtype) => {
            Some(space.iter_points()?.map(|p| Scalar::from_i128(*dtype, p[*axis as usize].into())).collect())
        }
        Node::Un([o, x]) => {
            let (o, x) = (op(*o)?, child(*x)?);
            x.iter().map(|&x| o.eval_unary(x)).collect()
        }
        Node::Bin([o, x, y]) => {
            let (Op::Binary(o), x, y) = (op(*o)?, child(*x)?, child(*y)?) else { return None };
            x.iter().zip(y.iter()).map(|(&x, &y)| eval::binary(o, x, y)).collect()
        }
        Node::Sel([c, t, f]) => {
            let (c, t, f) = (child(*c)?, child(*t)?, child(*f)?);
            Some((0..c.len()).map(|i| if c[i].is_true() { t[i] } else { f[i] }).collect())
        }
        Node::Read([m, x]) => {
            let map = egraph.analysis.map(egraph[*m].data.map()?);
            let x = child(*x)?;
            let at = |p: Vec<i64>| match map.apply(&p) {
                Some(q) => x.get(position(map.codomain(), &q)?).copied(),
                None => Some(Scalar::from_bits(data.dtype, map.fill()?.0)),
            };
            space.iter_points()?.map(at).collect()
        }
        Node::Acc([o, m, x]) => {
            let (o, map) = (op(*o)?.as_acc()?, egraph.analysis.map(egraph[*m].data.map()?));
            accumulate(o, map, &child(*x)?, data.dtype, count as usize)
        }
        Node::Map(_) | Node::Op(_) => None,
    }
}

fn accumulate(
    op: surject_ir::AccOp,
    map: &IndexMap,
    x: &[Scalar],
    dtype: DType,
    count: usize,
) -> Option<Vec<Scalar>> {
    let mut result = vec![op.neutral(dtype); count];
    map.domain().points().filter(|&n| n <= MAX_POINTS)?;
    for (point, &value) in map.domain().iter_points()?.zip(x) {
        let at = position(map.codomain(), &map.apply(&point)?)?;
        let slot = result.get_mut(at)?;
        *slot = if op == surject_ir::AccOp::Set { value } else { eval::acc(op, *slot, value)? };
    }
    Some(result)
}

/// The values of every class, each from one of its nodes that is well founded.
pub fn class_values(egraph: &Graph, inputs: &Inputs<'_>) -> HashMap<Id, Values> {
    let mut values: HashMap<Id, Values> = HashMap::new();
    let mut ids: Vec<Id> = egraph.classes().filter(|c| c.data.field().is_some()).map(|c| c.id).collect();
    ids.sort_unstable();
    // Each round evaluates what the round before made possible, so every class takes a node of the least depth.
    loop {
        let mut round = Vec::new();
        for &id in ids.iter().filter(|id| !values.contains_key(id)) {
            let child = |c: Id| values.get(&egraph.find(c)).cloned();
            let found = egraph[id].nodes.iter().find_map(|n| node_value(egraph, id, n, &child, inputs));
            if let Some(found) = found {
                round.push((id, Rc::new(found)));
            }
        }
        if round.is_empty() {
            return values;
        }
        values.extend(round);
    }
}

/// How closely two values must agree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// The relative difference of floats that is let through; 0 is bit for bit, where any NaN equals any NaN.
    pub tolerance: f64,
    /// Zeros of both signs are equal.
    pub zero_sign: bool,
}

/// The first position where two values differ.
pub fn differ(a: &[Scalar], b: &[Scalar], agreement: Agreement) -> Option<usize> {
    let scale =
        a.iter().chain(b).map(|s| s.as_complex().norm()).filter(|n| n.is_finite()).fold(1.0, f64::max);
    let nan = |s: &Scalar| {
        let z = s.as_complex();
        (s.dtype().is_float() || s.dtype().is_complex()) && (z.re.is_nan() || z.im.is_nan())
    };
    (0..a.len().max(b.len())).find(|&i| {
        let (Some(x), Some(y)) = (a.get(i), b.get(i)) else { return true };
        if x == y || nan(x) && nan(y) {
            return false;
        }
        let inexact = x.dtype().is_float() || x.dtype().is_complex();
        if !inexact {
            return true;
        }
        let (p, q) = (x.as_complex(), y.as_complex());
        if agreement.zero_sign && p == q {
            return false;
        }
        let distance = (p - q).norm();
        distance.is_nan() || distance > agreement.tolerance * scale
    })
}

/// The space and the type of a class, for messages.
pub fn describe(egraph: &Graph, id: Id) -> String {
    match (field(egraph, id), space_of(egraph, id)) {
        (Some(f), Some(space)) => format!("{}{space}", f.dtype),
        _ => "not a field".to_string(),
    }
}
