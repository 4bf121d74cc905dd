//! Phases: an output taken apart by the remainders of its positions.
//!
//! A window that runs over a tensor with holes (`acc + at 2*i`, read at `j + m`) meets an element only where
//! `j + m` is even. With `j = 2 j' + p` and `m = 2 m' + r` that is a matter of `p` and `r` alone: a kernel for every
//! `p` sums over the `m'` of the one `r` that fits, and stores every other element of the output. Strides of any
//! number along any axes are the same, and so are coefficients on both sides: what [`solve`](crate::solve) asks
//! for are remainders of loops and of summed axes.
//!
//! The terms of the other remainders are not left out: a hole has a value, and times an infinity it is a NaN. But
//! they no longer depend on the position, so they are summed once for a phase ([`fixed`]).

use crate::CodegenError;
use crate::expression::address::{Guard, Lin, LoopId, LoopSet};
use crate::expression::compose::joining;
use crate::expression::dag::{Dag, Node, NodeData, NodeId};
use crate::expression::facts;
use crate::expression::narrow::narrowed;
use crate::expression::rewrite::Rewriter;
use crate::expression::stop::Residues;
use std::collections::HashMap;
use surject_ir::{AccOp, BinaryOp, DType, FieldId, Scalar, eval};

/// A change of the loops over the output.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// The loop becomes an outer loop and an inner one of this extent, which gets the next number.
    Split(LoopId, i64),
    /// Only positions with some remainder modulo this number are left.
    Phase(LoopId, i64),
}

/// How the loops over an output are changed before its field has an expression.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// The changes, in order.
    pub changes: Vec<Change>,
    /// Axes of accumulations that are taken apart.
    pub residues: HashMap<(FieldId, usize), i64>,
    /// What is stored on its own where phases have no kernels.
    pub instead: Option<FieldId>,
}

/// More phases would be more code than they are worth.
const PHASES: i64 = 16;

/// More choices of remainders of summed axes are not looked at.
const CHOICES: i64 = 64;

impl Shape {
    /// Takes loops and axes apart. `false`: into too many phases.
    pub fn refine(&mut self, residues: &Residues, instead: FieldId) -> bool {
        self.changes.extend(residues.outer.iter().map(|&(l, m)| Change::Phase(l, m)));
        for &(axis, modulus) in &residues.axes {
            let all = self.residues.entry(axis).or_insert(1);
            *all = all.saturating_mul(modulus);
        }
        self.instead.get_or_insert(instead);
        let phases = self.moduli().iter().fold(1i64, |n, m| n.saturating_mul(*m));
        let choices = self.residues.values().fold(1i64, |n, m| n.saturating_mul(*m));
        phases <= PHASES && choices <= CHOICES
    }

    /// The numbers whose remainders tell the phases apart.
    pub fn moduli(&self) -> Vec<i64> {
        let modulus = |c: &Change| match c {
            Change::Phase(_, modulus) => Some(*modulus),
            Change::Split(..) => None,
        };
        self.changes.iter().filter_map(modulus).collect()
    }

    /// The remainders of every phase.
    pub fn phases(&self) -> Vec<Vec<i64>> {
        let mut all: Vec<Vec<i64>> = vec![Vec::new()];
        for modulus in self.moduli() {
            all = all.iter().flat_map(|p| (0..modulus).map(move |r| [p.as_slice(), &[r]].concat())).collect();
        }
        all
    }
}

/// Changes the loops of a position. `None`: too many loops, an overflow, or a loop that is not whole ones of those that it is
/// split into; an extent may become 0.
pub fn apply(
    shape: &Shape,
    remainders: &[i64],
    dag: &mut Dag,
    outer: &mut Vec<LoopId>,
    position: &mut [Lin],
) -> Option<()> {
    let mut remainders = remainders.iter();
    for &change in &shape.changes {
        let (l, by) = match change {
            Change::Split(l, inner) => {
                // Of phases that are not as long as each other only some may consist of whole inner loops.
                if dag.extent(l) % inner != 0 {
                    return None;
                }
                let new = dag.add_loop(inner)?;
                dag.extents[l.0 as usize] /= inner;
                outer.push(new);
                (l, Lin::var(l).times(inner)?.plus(&Lin::var(new), 1)?)
            }
            Change::Phase(l, modulus) => {
                let remainder = remainders.next().copied().unwrap_or(0);
                let extent = &mut dag.extents[l.0 as usize];
                *extent = (*extent - remainder + modulus - 1) / modulus;
                let scaled = if *extent == 1 { Lin::default() } else { Lin::var(l).times(modulus)? };
                (l, scaled.plus(&Lin::constant(remainder), 1)?)
            }
        };
        for lin in position.iter_mut() {
            *lin = lin.substitute(l, &by)?;
        }
    }
    Some(())
}

/// A reduction of a body in which constants are folded: most choices of remainders leave little of it.
pub fn part(
    dag: &mut Dag,
    (op, loops, field): (AccOp, &[LoopId], FieldId),
    body: NodeId,
) -> Result<NodeId, CodegenError> {
    let body = fold(dag, body)?;
    if loops.is_empty() {
        return Ok(started(dag, op, body));
    }
    let points = loops.iter().all(|&l| dag.extent(l) > 0);
    if let Node::Const(value) = dag[body].node
        && points
    {
        let zeros = op == AccOp::Add && is_zero(value);
        let same = eval::acc(op, value, value).is_some_and(|v| v == value);
        if zeros {
            return Ok(dag.constant(op.neutral(value.dtype())));
        }
        if same {
            return Ok(body);
        }
    }
    Ok(reduced(dag, (op, loops, field), body))
}

/// How deep the products of a term are looked at.
const DEEP: usize = 6;

/// A reduction, over what its windows meet.
pub fn reduced(dag: &mut Dag, (op, loops, field): (AccOp, &[LoopId], FieldId), body: NodeId) -> NodeId {
    let dtype = dag[body].dtype;
    // Without terms it is what it starts from. What the terms read may be nowhere.
    if loops.iter().any(|&l| dag.extent(l) == 0) {
        return dag.constant(op.neutral(dtype));
    }
    let body = if op == AccOp::Add { unsigned(dag, body, DEEP) } else { body };
    let body = converted_inside(dag, body);
    let Some(narrow) = narrowed(dag, op, loops, body) else {
        return dag.add(Node::Reduce { op, loops: loops.to_vec(), body, field }, dtype);
    };
    let whole = match narrow.loops.is_empty() {
        true => started(dag, op, narrow.body),
        false => dag.add(Node::Reduce { op, loops: narrow.loops, body: narrow.body, field }, dtype),
    };
    match narrow.join {
        Some((join, fill)) => {
            let fill = dag.constant(fill);
            dag.binary(join, whole, fill)
        }
        None => whole,
    }
}

/// A value that an accumulation joins to what it starts from and to nothing else: the value, but for a sum of floats that may
/// be `-0.0`, which is `+0.0`.
pub fn started(dag: &mut Dag, op: AccOp, x: NodeId) -> NodeId {
    let dtype = dag[x].dtype;
    if op != AccOp::Add || !dtype.is_float() || !facts::may_be_negative_zero(dag, x) {
        return x;
    }
    // What stands outside of conditions is such a zero already.
    if let Node::Guarded { guards, fill, inner } = dag[x].node.clone()
        && op.absorbs(fill)
    {
        let (fill, inner) = (op.neutral(dtype), started(dag, op, inner));
        return dag.add(Node::Guarded { guards, fill, inner }, dtype);
    }
    let zero = dag.constant(op.neutral(dtype));
    dag.binary(BinaryOp::Add, x, zero)
}

/// A term of a sum without additions of `+0.0`: whether a zero among the terms has a sign is not seen in the sum, nor whether
/// one among their factors has.
fn unsigned(dag: &mut Dag, x: NodeId, depth: usize) -> NodeId {
    let NodeData { node, dtype, .. } = dag[x].clone();
    if !dtype.is_float() || depth == 0 {
        return x;
    }
    let is_start = |dag: &Dag, n: NodeId| matches!(dag[n].node, Node::Const(value) if value == AccOp::Add.neutral(dtype));
    let new = match node {
        Node::Binary(BinaryOp::Add, y, zero) if is_start(dag, zero) => return unsigned(dag, y, depth - 1),
        Node::Binary(BinaryOp::Mul, y, z) => {
            Node::Binary(BinaryOp::Mul, unsigned(dag, y, depth - 1), unsigned(dag, z, depth - 1))
        }
        Node::Guarded { guards, fill, inner } => {
            let inner = unsigned(dag, inner, depth - 1);
            Node::Guarded { guards, fill, inner }
        }
        Node::Convert(y) => Node::Convert(unsigned(dag, y, depth - 1)),
        _ => return x,
    };
    dag.add(new, dtype)
}

/// A value under conditions, of which it is converted, as converted values under them: what reads the conditions of a
/// term finds them there, as in a sum of 16-bit floats that is done in 32 bits.
fn converted_inside(dag: &mut Dag, body: NodeId) -> NodeId {
    let NodeData { node: Node::Convert(x), dtype, .. } = dag[body] else { return body };
    let x = converted_inside(dag, x);
    let Node::Guarded { guards, fill, inner } = dag[x].node.clone() else { return body };
    let inner = dag.add(Node::Convert(inner), dtype);
    dag.add(Node::Guarded { guards, fill: eval::convert(dtype, fill), inner }, dtype)
}

/// The parts joined: those that depend on the same loops first.
pub fn joined(dag: &mut Dag, op: AccOp, dtype: DType, parts: &[NodeId]) -> Result<NodeId, CodegenError> {
    let (neutral, join) = (op.neutral(dtype), joining(op)?);
    let mut groups: Vec<(LoopSet, NodeId)> = Vec::new();
    for &part in parts {
        if matches!(dag[part].node, Node::Const(value) if op.absorbs(value)) {
            continue;
        }
        let deps = dag[part].deps;
        match groups.iter_mut().find(|g| g.0 == deps) {
            Some(group) => group.1 = dag.binary(join, group.1, part),
            None => groups.push((deps, part)),
        }
    }
    groups.sort_by_key(|g| {
        std::cmp::Reverse((0..dag.extents.len()).filter(|&l| g.0.contains(LoopId(l as u8))).count())
    });
    let whole = groups.into_iter().map(|g| g.1).reduce(|a, b| dag.binary(join, a, b));
    Ok(whole.unwrap_or_else(|| dag.constant(neutral)))
}

fn is_zero(value: Scalar) -> bool {
    !value.dtype().is_complex() && value.as_f64() == 0.0
}

/// The body with constants folded, and conditions in their simplest form.
fn fold(dag: &mut Dag, body: NodeId) -> Result<NodeId, CodegenError> {
    let mut rewriter = Rewriter { dag, ids: HashMap::new() };
    for id in rewriter.dag.reachable(&[body]) {
        let copied = rewriter.copy(id, &|lin| Some(lin.clone()));
        let copied = copied.ok_or_else(|| CodegenError::overflow("an address"))?;
        let new = simpler(rewriter.dag, copied);
        rewriter.ids.insert(id, new);
    }
    Ok(rewriter.ids.get(&body).copied().unwrap_or(body))
}

fn simpler(dag: &mut Dag, id: NodeId) -> NodeId {
    let data = dag[id].clone();
    let value = |dag: &Dag, id: NodeId| match dag[id].node {
        Node::Const(value) => Some(value),
        _ => None,
    };
    let folded = match &data.node {
        Node::Guarded { guards, fill, inner } => match &dag[*inner].node {
            Node::Const(c) if c == fill => Some(*fill),
            Node::Guarded { guards: more, fill: other, inner } if other == fill => {
                let (inner, fill) = (*inner, *fill);
                let all = simplest(dag, guards.iter().chain(more));
                return dag.add(Node::Guarded { guards: all, fill, inner }, data.dtype);
            }
            _ => {
                let (inner, fill) = (*inner, *fill);
                let all = simplest(dag, guards.iter());
                return dag.add(Node::Guarded { guards: all, fill, inner }, data.dtype);
            }
        },
        Node::Load { buf, address, guards } => {
            let all = simplest(dag, guards.iter());
            return dag.add(Node::Load { buf: *buf, address: address.clone(), guards: all }, data.dtype);
        }
        Node::Select(c, x, y) => match value(dag, *c) {
            Some(c) => return if c.is_true() { *x } else { *y },
            None => return if x == y { *x } else { id },
        },
        Node::Convert(x) => value(dag, *x).map(|x| eval::convert(data.dtype, x)),
        Node::Unary(op, x) => value(dag, *x).and_then(|x| eval::unary(*op, x)),
        Node::Binary(op, x, y) => match (value(dag, *x), value(dag, *y)) {
            (Some(x), Some(y)) => eval::binary(*op, x, y),
            (Some(c), None) | (None, Some(c)) => {
                // 0 times an infinity is not 0.
                let whole = data.dtype.is_int() && *op == BinaryOp::Mul;
                (whole && is_zero(c)).then(|| Scalar::zero(data.dtype))
            }
            _ => None,
        },
        _ => None,
    };
    match folded {
        Some(value) if value.dtype() == data.dtype => dag.constant(value),
        _ => id,
    }
}

/// The conditions, each once and divided by what its coefficients have in common.
fn simplest<'a>(dag: &Dag, guards: impl Iterator<Item = &'a Guard>) -> Vec<Guard> {
    let mut all: Vec<Guard> = Vec::new();
    for guard in guards {
        let guard = divided(guard).unwrap_or_else(|| guard.clone());
        let known = guard.fact(&dag.extents) == crate::expression::address::GuardFact::Always;
        if !known && !all.contains(&guard) {
            all.push(guard);
        }
    }
    all.sort();
    all
}

/// `0 ≤ m e + c < bound` as a condition on `e`.
fn divided(guard: &Guard) -> Option<Guard> {
    let m = guard.expr.terms.iter().try_fold(0i64, |m, t| Some(crate::expression::solve::gcd(m, t.1)))?;
    if m <= 1 {
        return None;
    }
    let c = guard.expr.offset;
    let low = c.checked_neg()?.div_euclid(m) + i64::from(c.checked_neg()?.rem_euclid(m) != 0);
    let high = guard.bound.checked_sub(1)?.checked_sub(c)?.div_euclid(m);
    let terms = guard.expr.terms.iter().map(|&(l, f)| (l, f / m)).collect();
    let bound = high.checked_sub(low)?.checked_add(1)?;
    (bound > 0).then_some(Guard { expr: Lin { terms, offset: low.checked_neg()? }, bound })
}

/// The values that reductions give to many points of the output alike: each is worth storing first.
pub fn fixed(dag: &Dag, root: NodeId, outer: &[LoopId]) -> Vec<NodeId> {
    const REPEATED: i64 = 4;
    let reachable = dag.reachable(&[root]);
    let repeats = |n: NodeId| -> i64 {
        outer.iter().filter(|&&l| !dag[n].deps.contains(l)).map(|&l| dag.extent(l)).product()
    };
    let reduces = |n: NodeId| dag.reachable(&[n]).iter().any(|&n| matches!(dag[n].node, Node::Reduce { .. }));
    let is_fixed = |n: NodeId| repeats(n) >= REPEATED && reduces(n);
    let mut found: Vec<NodeId> = Vec::new();
    for &n in reachable.iter().rev() {
        let inside = n == root && is_fixed(n);
        let below = !is_fixed(n) && !matches!(dag[n].node, Node::Reduce { .. });
        let children = dag[n].node.children().filter(|&c| below && is_fixed(c));
        for c in children.chain(inside.then_some(n)) {
            if !found.contains(&c) {
                found.push(c);
            }
        }
    }
    found
}
