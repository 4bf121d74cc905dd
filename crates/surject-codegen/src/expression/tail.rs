//! Tails of loops: positions beyond which a value is the same at all of them.
//!
//! A guard or a mask that compares positions cuts the space of a nest of loops. Above the diagonal of causal attention, or
//! outside the band of a banded matrix, a value does not depend on the position along the row: it is the fill of the mask,
//! or what is made of it. Loops need not visit such a tail point by point; they become loops with triangular bounds.
//!
//! A tail says only that there is one value, and which one if that is known. What may be left out because of it is the
//! business of whoever asks: a sum needs a value of zero, which may be looked at when the kernel runs.
//!
//! Tensors in memory have tails too ([`StoredTail`]). They are found where a tensor is written, and kept with the graph of
//! every kernel that reads it ([`Dag::known`]).

use crate::expression::address::{Guard, Lin, LoopId};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::expression::positions::position;
use crate::expression::stored_tail::{Side, StoredTail};
use std::collections::HashMap;
use surject_ir::{BinaryOp, Scalar, UnaryOp, eval};

/// A digit of the position along a loop, times a factor: `coeff · (l mod modulus)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digit {
    pub(crate) l: LoopId,
    pub(crate) modulus: i64,
    pub(crate) coeff: i64,
}

/// Where a tail meets the rest of its loop, by the positions along other loops: the sum of these and of `offset`, divided and
/// rounded up. The tail has the positions from there on ([`Side::After`]) or those before ([`Side::Before`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) digits: Vec<Digit>,
    pub(crate) offset: i64,
    /// Larger than 1 where the loop runs in steps of several positions.
    pub(crate) divisor: i64,
}

impl Edge {
    fn of(lin: &Lin, divisor: i64, dag: &Dag) -> Edge {
        let digits = lin.terms.iter().map(|&(l, coeff)| Digit { l, modulus: dag.extent(l), coeff });
        Edge { digits: digits.collect(), offset: lin.offset, divisor }
    }

    /// Do both differ in the offset at most?
    fn is_parallel(&self, other: &Edge) -> bool {
        self.digits == other.digits && self.divisor == other.divisor
    }

    /// Where the tail of both begins, if that is one expression.
    pub(crate) fn joined(self, other: &Edge, side: Side) -> Option<Edge> {
        let offset = match side {
            Side::After => self.offset.max(other.offset),
            Side::Before => self.offset.min(other.offset),
        };
        self.is_parallel(other).then_some(Edge { offset, ..self })
    }

    /// The part of a loop of this extent that lies in the tail, of all positions of the other loops together: an estimate.
    fn share(&self, extent: i64, side: Side) -> f64 {
        const SAMPLES: i64 = 16;
        let at = |sample: i64| {
            let inside =
                |d: &Digit| d.coeff as f64 * ((d.modulus - 1) as f64 * sample as f64 / SAMPLES as f64);
            let edge = self.offset as f64 + self.digits.iter().map(inside).sum::<f64>();
            let inside = (edge / (extent.max(1) * self.divisor) as f64).clamp(0.0, 1.0);
            if side == Side::After { 1.0 - inside } else { inside }
        };
        (0..=SAMPLES).map(at).sum::<f64>() / (SAMPLES + 1) as f64
    }
}

/// A tail of a loop.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tail {
    pub(crate) side: Side,
    pub(crate) edge: Edge,
    /// The value in the tail, where it is the same for all positions of the other loops too.
    pub(crate) value: Option<Scalar>,
}

/// How a value depends on the position along a loop.
#[derive(Clone, Debug)]
enum Along {
    /// Not at all; the value, if it is known.
    Constant(Option<Scalar>),
    /// Not in a tail; the value there, if it is known.
    Tail(Edge, Option<Scalar>),
    /// Anyhow.
    Varies,
}

impl Along {
    /// What is made of both.
    fn with(self, other: &Along, side: Side) -> Along {
        match (self, other) {
            (Along::Constant(_), Along::Constant(_)) => Along::Constant(None),
            (Along::Tail(edge, _), Along::Constant(_)) => Along::Tail(edge, None),
            (Along::Constant(_), Along::Tail(edge, _)) => Along::Tail(edge.clone(), None),
            (Along::Tail(a, _), Along::Tail(b, _)) => {
                a.joined(b, side).map_or(Along::Varies, |e| Along::Tail(e, None))
            }
            _ => Along::Varies,
        }
    }

    /// The same beyond an edge, where only what is there counts.
    fn beyond(&self, edge: &Edge, side: Side) -> Along {
        match self {
            Along::Constant(value) => Along::Tail(edge.clone(), *value),
            Along::Tail(own, value) => {
                edge.clone().joined(own, side).map_or(Along::Varies, |e| Along::Tail(e, *value))
            }
            Along::Varies => Along::Varies,
        }
    }

    fn value(&self) -> Option<Scalar> {
        match self {
            Along::Constant(value) | Along::Tail(_, value) => *value,
            Along::Varies => None,
        }
    }

    fn with_value(self, value: Option<Scalar>) -> Along {
        match self {
            Along::Constant(_) => Along::Constant(value),
            Along::Tail(edge, _) => Along::Tail(edge, value),
            Along::Varies => Along::Varies,
        }
    }
}

/// The least part of a loop that is worth bounds of its own.
const SHARE: f64 = 0.1;

/// Expressions of more nodes are not looked at.
const NODES: usize = 400;

/// Can an expression have a tail that depends on other loops? No more than a look at its nodes.
pub(crate) fn may_have_tails(dag: &Dag, nodes: &[NodeId]) -> bool {
    let triangular = |lin: &Lin| {
        let signs = |positive: bool| lin.terms.iter().any(|t| (t.1 > 0) == positive);
        signs(true) && signs(false)
    };
    nodes.iter().any(|&n| match &dag[n].node {
        Node::Load { buf, .. } => dag.known.tails.contains_key(buf),
        Node::Binary(op, x, y) if op.is_comparison() => {
            let positions = position(dag, *x).zip(position(dag, *y));
            positions.and_then(|(x, y)| x.plus(&y, -1)).is_some_and(|lin| triangular(&lin))
        }
        Node::Guarded { guards, .. } => guards.iter().any(|g| triangular(&g.expr)),
        _ => false,
    })
}

/// The tail of an expression along a loop, where its edge depends on other loops and it is worth bounds of its own.
/// Reductions are values like others, which vary if they depend on the loop.
pub(crate) fn tail(dag: &Dag, root: NodeId, l: LoopId, side: Side) -> Option<Tail> {
    if !dag[root].deps.contains(l) {
        return None;
    }
    let nodes = dag.reachable(&[root]);
    if nodes.len() > NODES || !may_have_tails(dag, &nodes) {
        return None;
    }
    let mut known: HashMap<NodeId, Along> = HashMap::with_capacity(nodes.len());
    for n in nodes {
        let along = Analysis { dag, l, side, known: &known }.node(n);
        known.insert(n, along);
    }
    match known.remove(&root)? {
        Along::Tail(edge, value) if edge.share(dag.extent(l), side) >= SHARE => {
            Some(Tail { side, edge, value })
        }
        _ => None,
    }
}

/// The value that decides a connective: `false` an and, `true` an or.
#[derive(Clone, Copy)]
struct Decides(bool);

struct Analysis<'a> {
    dag: &'a Dag,
    l: LoopId,
    side: Side,
    known: &'a HashMap<NodeId, Along>,
}

impl Analysis<'_> {
    fn of(&self, n: NodeId) -> Along {
        self.known.get(&n).cloned().unwrap_or(Along::Varies)
    }

    fn node(&self, n: NodeId) -> Along {
        let data = &self.dag[n];
        match &data.node {
            Node::Const(value) => Along::Constant(Some(*value)),
            _ if !data.deps.contains(self.l) => Along::Constant(None),
            Node::Load { buf, address, .. } => self.load(*buf, address),
            Node::Gather { .. } | Node::Index(_) | Node::Reduce { .. } | Node::Param(..) => Along::Varies,
            Node::Guarded { guards, fill, inner } => self.guarded(guards, *fill, *inner),
            Node::Unary(UnaryOp::Not, x) if data.dtype.is_bool() => {
                let x = self.of(*x);
                let value = x.value().map(|value| Scalar::bool(!value.is_true()));
                x.with_value(value)
            }
            Node::Binary(op, x, y) if op.is_comparison() => match self.comparison(*op, *x, *y) {
                Along::Varies => self.of(*x).with(&self.of(*y), self.side),
                cut => cut,
            },
            Node::Binary(op @ (BinaryOp::And | BinaryOp::Or), x, y) if data.dtype.is_bool() => {
                self.connective(Decides(*op == BinaryOp::Or), &self.of(*x), &self.of(*y))
            }
            Node::Select(c, x, y) => self.select(&self.of(*c), &self.of(*x), &self.of(*y)),
            node => {
                let value = self.folded(node);
                let mut children = node.children().map(|c| self.of(c));
                let first = children.next().unwrap_or(Along::Varies).with_value(None);
                children.fold(first, |all, child| all.with(&child, self.side)).with_value(value)
            }
        }
    }

    /// The value of an operation on known values, which every machine computes alike.
    fn folded(&self, node: &Node) -> Option<Scalar> {
        use BinaryOp::{Add, Div, Max, Min, Mul, Sub};
        let of = |n: &NodeId| self.of(*n).value();
        match node {
            Node::Unary(op @ (UnaryOp::Neg | UnaryOp::Abs), x) => eval::unary(*op, of(x)?),
            Node::Binary(op @ (Add | Sub | Mul | Div | Max | Min), x, y) => eval::binary(*op, of(x)?, of(y)?),
            _ => None,
        }
    }

    /// A condition `lin ≥ 0`: the tail in which it is known, and what it is there.
    fn bound(&self, lin: &Lin) -> Along {
        let mut rest = lin.clone();
        rest.terms.retain(|t| t.0 != self.l);
        let by = lin.coeff(self.l);
        let (edge, after) = match by.signum() {
            // From `-rest` on, in steps, it holds.
            1 => (rest.times(-1), true),
            // From `rest + 1` on it does not.
            -1 => (rest.plus(&Lin::constant(1), 1), false),
            _ => return Along::Varies,
        };
        let holds = if self.side == Side::After { after } else { !after };
        let (Some(edge), Some(divisor)) = (edge, by.checked_abs()) else { return Along::Varies };
        Along::Tail(Edge::of(&edge, divisor, self.dag), Some(Scalar::bool(holds)))
    }

    fn comparison(&self, op: BinaryOp, x: NodeId, y: NodeId) -> Along {
        let positions = position(self.dag, x).zip(position(self.dag, y));
        let Some((x, y)) = positions else { return Along::Varies };
        let difference = |a: &Lin, b: &Lin, by: i64| a.plus(b, -1)?.plus(&Lin::constant(by), -1);
        let bound = |lin: Option<Lin>| lin.map_or(Along::Varies, |lin| self.bound(&lin));
        match op {
            BinaryOp::Ge => bound(difference(&x, &y, 0)),
            BinaryOp::Gt => bound(difference(&x, &y, 1)),
            BinaryOp::Le => bound(difference(&y, &x, 0)),
            BinaryOp::Lt => bound(difference(&y, &x, 1)),
            // Equal is what is neither less nor greater.
            BinaryOp::Eq | BinaryOp::Ne => {
                let sides = [bound(difference(&x, &y, 0)), bound(difference(&y, &x, 0))];
                let equal = self.connective(Decides(false), &sides[0], &sides[1]);
                match (op, equal.value()) {
                    (BinaryOp::Ne, Some(value)) => equal.with_value(Some(Scalar::bool(!value.is_true()))),
                    _ => equal,
                }
            }
            _ => Along::Varies,
        }
    }

    /// `x ∧ y`, or `x ∨ y`. One that decides needs nothing of the other.
    fn connective(&self, Decides(decisive): Decides, x: &Along, y: &Along) -> Along {
        let decides = |a: &Along| a.value().is_some_and(|v| v.is_true() == decisive);
        match (decides(x), decides(y)) {
            (true, true) => match (x, y) {
                (Along::Tail(a, _), Along::Tail(b, _)) if a.is_parallel(b) => {
                    // The longer tail.
                    let longer = (a.offset <= b.offset) == (self.side == Side::After);
                    if longer { x.clone() } else { y.clone() }
                }
                (Along::Constant(_), _) => x.clone(),
                (_, Along::Constant(_)) => y.clone(),
                _ => x.clone(),
            },
            (true, false) => x.clone(),
            (false, true) => y.clone(),
            (false, false) => {
                let value = x.value().and(y.value()).map(|_| Scalar::bool(!decisive));
                x.clone().with(y, self.side).with_value(value)
            }
        }
    }

    fn select(&self, c: &Along, x: &Along, y: &Along) -> Along {
        match (c, c.value()) {
            (Along::Constant(_), Some(c)) => if c.is_true() { x } else { y }.clone(),
            (Along::Tail(edge, _), Some(c)) => if c.is_true() { x } else { y }.beyond(edge, self.side),
            _ => {
                let value = x.value().filter(|x| y.value() == Some(*x));
                c.clone().with(x, self.side).with(y, self.side).with_value(value)
            }
        }
    }

    /// The fill where a guard fails.
    fn guarded(&self, guards: &[Guard], fill: Scalar, inner: NodeId) -> Along {
        if guards.iter().all(|g| g.expr.coeff(self.l) == 0) {
            let value = Along::Constant(Some(fill));
            return value.with(&self.of(inner), self.side);
        }
        let fails = |guard: &Guard| {
            let least = self.bound(&guard.expr);
            let most = guard.expr.times(-1).and_then(|lin| lin.plus(&Lin::constant(guard.bound - 1), 1));
            let most = most.map_or(Along::Varies, |lin| self.bound(&lin));
            self.connective(Decides(false), &least, &most)
        };
        let all = guards.iter().map(fails).reduce(|all, more| self.connective(Decides(false), &all, &more));
        match all {
            Some(Along::Tail(edge, Some(holds))) if !holds.is_true() => Along::Tail(edge, Some(fill)),
            _ => Along::Varies,
        }
    }

    /// What is known of a tensor in memory.
    fn load(&self, buf: Buf, address: &Lin) -> Along {
        let Some(stored) = self.dag.known.tails.get(&buf) else { return Along::Varies };
        let here = stored.iter().filter(|s| s.side == self.side);
        let mut found = here.filter_map(|s| Some((s.edge(self.dag, self.l, address)?, s.value)));
        found.next().map_or(Along::Varies, |(edge, value)| Along::Tail(edge, value))
    }
}

/// A digit of the addresses of a tensor, which is a loop.
#[derive(Clone, Copy)]
struct LoopDigit {
    l: LoopId,
    stride: i64,
    extent: i64,
}

impl StoredTail {
    /// The tails of a tensor that an output fills over these loops.
    pub(crate) fn of(dag: &Dag, output: &Output, outer: &[LoopId]) -> Vec<StoredTail> {
        let mut found = Vec::new();
        let wide = outer.iter().copied().filter(|&l| dag.extent(l) > 1);
        let digit = |l| LoopDigit { l, stride: output.address.coeff(l), extent: dag.extent(l) };
        let mut digits: Vec<LoopDigit> = wide.map(digit).collect();
        digits.sort_by_key(|d| std::cmp::Reverse(d.stride));
        // Every position once, and each digit below the stride of the one before.
        let dense = digits.windows(2).all(|d| d[0].stride == d[1].stride.saturating_mul(d[1].extent));
        if output.join.is_some()
            || output.address.offset != 0
            || !dense
            || digits.last().is_none_or(|d| d.stride != 1)
        {
            return found;
        }
        for &LoopDigit { l, .. } in &digits {
            for side in Side::BOTH {
                let tail = tail(dag, output.root, l, side);
                found.extend(tail.and_then(|tail| StoredTail::along(&digits, l, tail)));
            }
        }
        found
    }

    /// A tail along a loop of a tensor whose digits are loops of these strides and extents. Where only the remainder of a loop
    /// counts, it is two digits.
    fn along(loops: &[LoopDigit], l: LoopId, tail: Tail) -> Option<StoredTail> {
        let (mut digits, mut along, mut terms) = (Vec::new(), None, Vec::new());
        for &LoopDigit { l: own, stride, extent } in loops {
            let digit = tail.edge.digits.iter().find(|d| d.l == own);
            let modulus = digit.map_or(extent, |d| d.modulus);
            if modulus < extent {
                if extent % modulus != 0 {
                    return None;
                }
                digits.push((stride.checked_mul(modulus)?, extent / modulus));
            }
            terms.extend(digit.map(|d| (digits.len(), d.coeff)));
            along = along.or((own == l).then_some(digits.len()));
            digits.push((stride, modulus));
        }
        let known = terms.len() == tail.edge.digits.len() && tail.edge.divisor == 1;
        let Tail { side, edge, value } = tail;
        along.filter(|_| known).map(|along| StoredTail {
            side,
            digits,
            along,
            terms,
            offset: edge.offset,
            value,
        })
    }

    /// The edge of the tail of a load along a loop, if the digits of its address are those of the tensor.
    fn edge(&self, dag: &Dag, l: LoopId, address: &Lin) -> Option<Edge> {
        if address.offset != 0 {
            return None;
        }
        // The loop that runs through each digit, and the loops that each alone runs through.
        let mut loops: Vec<Option<LoopId>> = vec![None; self.digits.len()];
        for &(own, coeff) in &address.terms {
            let mut at = self.digits.iter().position(|d| d.0 == coeff)?;
            let mut left = dag.extent(own);
            loop {
                if loops[at].replace(own).is_some() {
                    return None;
                }
                let extent = self.digits[at].1;
                if left <= extent {
                    break;
                }
                // It goes on through the next digit.
                if left % extent != 0 {
                    return None;
                }
                left /= extent;
                at = at.checked_sub(1)?;
            }
        }
        // The loop runs through the digit of the tail alone.
        let (stride, extent) = self.digits[self.along];
        let alone = loops.iter().filter(|&&own| own == Some(l)).count() == 1;
        if loops[self.along] != Some(l) || !alone || address.coeff(l) != stride || dag.extent(l) != extent {
            return None;
        }
        let mut digits = Vec::new();
        for &(at, coeff) in &self.terms {
            let (stride, extent) = self.digits[at];
            match loops[at] {
                // It is zero there.
                None => {}
                // The lowest digit of a loop is its remainder.
                Some(own) if address.coeff(own) == stride => {
                    digits.push(Digit { l: own, modulus: extent.min(dag.extent(own)), coeff });
                }
                Some(_) => return None,
            }
        }
        digits.sort_by_key(|d| d.l);
        Some(Edge { digits, offset: self.offset, divisor: 1 })
    }
}

#[cfg(test)]
mod tests;
