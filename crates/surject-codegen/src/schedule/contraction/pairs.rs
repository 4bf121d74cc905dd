//! Products of values of few bits: several terms at once.
//!
//! Where the machine multiplies pairs of 16-bit values and adds the two products, panels hold two consecutive points
//! of a summed loop in one element; where it does so with bytes, four.
//!
//! *Integers and bytes.* What comes of 8 bits, with a zero point subtracted or not, fits into 16 bits. The sum wraps as
//! a sum of 32-bit products does, so it is the same for all values.
//!
//! *Halves.* Values that are those of a `bf16`, as such or converted to `f32`. A product of two is exact in `f32`, and
//! sums are rounded to nearest as those of `f32` are. But the instruction takes subnormal factors for zeros (so does
//! XLA), and one times a large number is not small. Panels say whether there are such factors ([`Least`]); tiles that
//! meet one multiply in `f32`. What it does with subnormal sums stays: they become zeros, an error of no more than
//! 2⁻¹²⁶ a term.

use crate::Target;
use crate::expression::address::{Interval, LoopId};
use crate::expression::dag::{Dag, Node, NodeId};
use crate::machine::elem::Elem;
use std::collections::HashMap;
use surject_ir::{AccOp, BinaryOp, DType, Scalar, UnaryOp, eval};

/// What an element of a panel holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 16-bit integers.
    Integers,
    /// Values of `bf16`.
    Halves,
    /// Integers of 8 bits: are those of the rows signed, and those of the columns?
    Bytes([bool; 2]),
}

/// A summed loop whose points are taken some at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairs {
    /// The loop.
    pub along: LoopId,
    /// What an element holds.
    pub kind: Kind,
}

/// Are all values of two factors bytes, signed or not?
pub(crate) fn bytes(dag: &Dag, factors: [NodeId; 2]) -> Option<Kind> {
    let [rows, columns] = factors.map(|n| {
        let Interval { low, high } = range(dag, n)?;
        let signed = low >= i8::MIN.into() && high <= i8::MAX.into();
        (signed || low >= 0 && high <= u8::MAX.into()).then_some(signed)
    });
    Some(Kind::Bytes([rows?, columns?]))
}

/// The summed loop whose points are taken in pairs, if the terms allow it.
pub(crate) fn find(
    dag: &Dag,
    (op, body): (AccOp, NodeId),
    loops: &[LoopId],
    target: &Target,
) -> Option<Pairs> {
    let Node::Binary(BinaryOp::Mul, x, y) = dag[body].node else { return None };
    let small =
        |n: NodeId| range(dag, n).is_some_and(|r| r.low >= i16::MIN.into() && r.high <= i16::MAX.into());
    let kind = match dag[body].dtype {
        _ if op != AccOp::Add => return None,
        DType::I32 | DType::U32 if target.has_pmaddwd && small(x) && small(y) => Kind::Integers,
        DType::BF16 | DType::F32 if target.has_bf16_dot && is_half(dag, x) && is_half(dag, y) => Kind::Halves,
        _ => return None,
    };
    // The longest loop leaves the least over; of those that are alike, one that both factors have next to each other.
    let near = |l: LoopId| {
        let nodes = dag.all_reachable(&[x, y]);
        let near = nodes.iter().filter(|&&n| match &dag[n].node {
            Node::Load { address, .. } => address.coeff(l).abs() == 1,
            _ => false,
        });
        near.count()
    };
    let along =
        loops.iter().copied().filter(|&l| dag.extent(l) > 1).max_by_key(|&l| (dag.extent(l), near(l), l))?;
    Some(Pairs { along, kind })
}

/// Is every value that of a `bf16`?
fn is_half(dag: &Dag, root: NodeId) -> bool {
    let exact = |c: Scalar| eval::convert(c.dtype(), eval::convert(DType::BF16, c)) == c;
    let mut known: HashMap<NodeId, bool> = HashMap::new();
    for id in dag.reachable(&[root]) {
        let at = |n: &NodeId| known.get(n).copied().unwrap_or(false);
        let half = match &dag[id].node {
            _ if dag[id].dtype == DType::BF16 => true,
            _ if dag[id].dtype != DType::F32 => false,
            Node::Const(c) => exact(*c),
            // Eight bits are as many as a `bf16` has.
            Node::Convert(x) => {
                matches!(dag[*x].dtype, DType::BF16 | DType::I1 | DType::I8 | DType::U8)
            }
            Node::Guarded { fill, inner, .. } => exact(*fill) && at(inner),
            Node::Select(_, x, y) => at(x) && at(y),
            Node::Unary(UnaryOp::Neg | UnaryOp::Abs, x) => at(x),
            Node::Binary(BinaryOp::Min | BinaryOp::Max, x, y) => at(x) && at(y),
            _ => false,
        };
        known.insert(id, half);
    }
    known.get(&root).copied().unwrap_or(false)
}

/// The smallest and the largest value of an integer.
fn range(dag: &Dag, root: NodeId) -> Option<Interval> {
    let mut ranges: HashMap<NodeId, Interval> = HashMap::new();
    let of = |value: &Scalar| value.as_i128().and_then(|value| i64::try_from(value).ok()).map(Interval::one);
    for id in dag.reachable(&[root]) {
        let own = of_type(dag[id].dtype);
        let at = |n: &NodeId| ranges.get(n).copied();
        let both = |x: &NodeId, y: &NodeId| Some((at(x)?, at(y)?));
        let found = match &dag[id].node {
            Node::Const(value) => of(value),
            Node::Index(lin) => lin.range(&dag.extents),
            Node::Convert(x) => at(x),
            Node::Guarded { fill, inner, .. } => of(fill).and_then(|fill| Some(fill.union(at(inner)?))),
            Node::Select(_, x, y) => both(x, y).map(|(a, b)| a.union(b)),
            Node::Unary(UnaryOp::Neg, x) => at(x).map(|a| Interval { low: -a.high, high: -a.low }),
            Node::Binary(op, x, y) => both(x, y).and_then(|(a, b)| {
                Some(match op {
                    BinaryOp::Add => Interval { low: a.low + b.low, high: a.high + b.high },
                    BinaryOp::Sub => Interval { low: a.low - b.high, high: a.high - b.low },
                    BinaryOp::Min => Interval { low: a.low.min(b.low), high: a.high.min(b.high) },
                    BinaryOp::Max => Interval { low: a.low.max(b.low), high: a.high.max(b.high) },
                    _ => return None,
                })
            }),
            _ => None,
        };
        // A value that may leave its type wraps, so nothing is known of it but the type.
        let inside = |r: &Interval| own.is_some_and(|own| r.is_inside(own));
        if let Some(known) = found.filter(inside).or(own) {
            ranges.insert(id, known);
        }
    }
    ranges.get(&root).copied()
}

/// The range of a type of at most 32 bits: sums of two such values are far from overflow.
fn of_type(dtype: DType) -> Option<Interval> {
    let (low, high): (i64, i64) = match dtype {
        DType::I1 => (0, 1),
        DType::I8 => (i8::MIN.into(), i8::MAX.into()),
        DType::U8 => (0, u8::MAX.into()),
        DType::I16 => (i16::MIN.into(), i16::MAX.into()),
        DType::U16 => (0, u16::MAX.into()),
        DType::I32 => (i32::MIN.into(), i32::MAX.into()),
        DType::U32 => (0, u32::MAX.into()),
        _ => return None,
    };
    Some(Interval { low, high })
}

impl Pairs {
    /// The points that an element holds.
    pub fn points(self) -> usize {
        if let Kind::Bytes(_) = self.kind { 4 } else { 2 }
    }

    /// The type of the elements of a panel.
    pub(crate) fn elem(self) -> Elem {
        match self.kind {
            Kind::Integers | Kind::Bytes(_) => Elem::I32,
            Kind::Halves => Elem::F32,
        }
    }
}

/// Elements behind a panel: the mark.
pub(crate) const MARK: i64 = 16;
