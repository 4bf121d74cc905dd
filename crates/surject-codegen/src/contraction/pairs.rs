//! Products of integers of few bits: two terms at once, as pairs of 16-bit integers.
//!
//! What comes of 8 bits, with a zero point subtracted or not, fits into 16 bits. Where the machine multiplies pairs
//! of them and adds the two products to 32 bits, panels hold two consecutive points of a summed loop in one
//! element. The sum wraps as a sum of 32-bit products does, so it is the same for all values.

use crate::Target;
use crate::address::LoopId;
use crate::dag::{Dag, Node, NodeId};
use crate::emit::{Elem, Emitter, ScopeId};
use std::collections::HashMap;
use surject_ir::{AccOp, BinaryOp, DType, UnaryOp};

/// The summed loop whose points are taken in pairs, if the terms allow it.
pub(super) fn find(
    dag: &Dag,
    (op, body): (AccOp, NodeId),
    loops: &[LoopId],
    target: &Target,
) -> Option<LoopId> {
    let Node::Binary(BinaryOp::Mul, x, y) = dag[body].node else { return None };
    let wide = matches!(dag[body].dtype, DType::I32 | DType::U32);
    let small = |n: NodeId| {
        range(dag, n).is_some_and(|(low, high)| low >= i16::MIN.into() && high <= i16::MAX.into())
    };
    if !target.pairs || op != AccOp::Add || !wide || !small(x) || !small(y) {
        return None;
    }
    // The longest loop leaves the least over; of those that are alike, one that both factors have next to each other.
    let near = |l: LoopId| {
        let nodes = dag.reachable(&[x, y], true);
        let near = nodes.iter().filter(|&&n| match &dag[n].node {
            Node::Load { address, .. } => address.coeff(l).abs() == 1,
            _ => false,
        });
        near.count()
    };
    loops.iter().copied().filter(|&l| dag.extent(l) > 1).max_by_key(|&l| (dag.extent(l), near(l), l))
}

/// The smallest and the largest value of an integer.
fn range(dag: &Dag, root: NodeId) -> Option<(i64, i64)> {
    let mut ranges: HashMap<NodeId, (i64, i64)> = HashMap::new();
    for id in dag.reachable(&[root], false) {
        let own = of_type(dag[id].dtype);
        let at = |n: &NodeId| ranges.get(n).copied();
        let both = |x: &NodeId, y: &NodeId| Some((at(x)?, at(y)?));
        let join = |(a, b): ((i64, i64), (i64, i64))| (a.0.min(b.0), a.1.max(b.1));
        let found = match &dag[id].node {
            Node::Const(value) => value.as_i128().and_then(|v| i64::try_from(v).ok()).map(|v| (v, v)),
            Node::Index(lin) => lin.range(&dag.extents),
            Node::Convert(x) => at(x),
            Node::Guarded { fill, inner, .. } => {
                let fill = fill.as_i128().and_then(|v| i64::try_from(v).ok());
                fill.and_then(|v| Some(join(((v, v), at(inner)?))))
            }
            Node::Select(_, x, y) => both(x, y).map(join),
            Node::Unary(UnaryOp::Neg, x) => at(x).map(|(low, high)| (-high, -low)),
            Node::Binary(BinaryOp::Add, x, y) => both(x, y).map(|(a, b)| (a.0 + b.0, a.1 + b.1)),
            Node::Binary(BinaryOp::Sub, x, y) => both(x, y).map(|(a, b)| (a.0 - b.1, a.1 - b.0)),
            Node::Binary(BinaryOp::Min, x, y) => both(x, y).map(|(a, b)| (a.0.min(b.0), a.1.min(b.1))),
            Node::Binary(BinaryOp::Max, x, y) => both(x, y).map(|(a, b)| (a.0.max(b.0), a.1.max(b.1))),
            _ => None,
        };
        // A value that may leave its type wraps, so nothing is known of it but the type.
        let inside = |r: &(i64, i64)| own.is_some_and(|(low, high)| r.0 >= low && r.1 <= high);
        if let Some(known) = found.filter(inside).or(own) {
            ranges.insert(id, known);
        }
    }
    ranges.get(&root).copied()
}

/// The range of a type of at most 32 bits: sums of two such values are far from overflow.
fn of_type(dtype: DType) -> Option<(i64, i64)> {
    Some(match dtype {
        DType::I1 => (0, 1),
        DType::I8 => (i8::MIN.into(), i8::MAX.into()),
        DType::U8 => (0, u8::MAX.into()),
        DType::I16 => (i16::MIN.into(), i16::MAX.into()),
        DType::U16 => (0, u16::MAX.into()),
        DType::I32 => (i32::MIN.into(), i32::MAX.into()),
        DType::U32 => (0, u32::MAX.into()),
        _ => return None,
    })
}

/// The pair of two values, the first one low.
pub fn pair(em: &mut Emitter<'_>, scope: ScopeId, (first, second): (&str, &str), lanes: usize) -> String {
    let ty = Elem::I32.ty(lanes);
    let (mask, sixteen) = (em.constant(Elem::I32, 0xffff, lanes), em.constant(Elem::I32, 16, lanes));
    let low = em.op(scope, &format!("arith.andi {first}, {mask} : {ty}"));
    let high = em.op(scope, &format!("arith.shli {second}, {sixteen} : {ty}"));
    em.op(scope, &format!("arith.ori {low}, {high} : {ty}"))
}

/// Pairs of neighbours in a vector of twice as many lanes.
pub fn neighbours(em: &mut Emitter<'_>, scope: ScopeId, value: &str, lanes: usize) -> String {
    let (wide, halves) = (Elem::I32.ty(2 * lanes), Elem::I16.ty(2 * lanes));
    let narrow = em.op(scope, &format!("arith.trunci {value} : {wide} to {halves}"));
    em.op(scope, &format!("vector.bitcast {narrow} : {halves} to {}", Elem::I32.ty(lanes)))
}

/// `into` and the sums of the products of pairs.
pub(super) fn multiply_add(
    em: &mut Emitter<'_>,
    scope: ScopeId,
    (x, y): (&str, &str),
    into: &str,
    lanes: usize,
) -> String {
    let (ty, halves) = (Elem::I32.ty(lanes), Elem::I16.ty(2 * lanes));
    let [x, y] = [x, y].map(|v| em.op(scope, &format!("vector.bitcast {v} : {ty} to {halves}")));
    let name = match lanes {
        16 => "avx512.pmaddw.d.512",
        8 => "avx2.pmadd.wd",
        _ => "sse2.pmadd.wd",
    };
    let sum = em.op(
        scope,
        &format!("llvm.call_intrinsic \"llvm.x86.{name}\"({x}, {y}) : ({halves}, {halves}) -> {ty}"),
    );
    em.op(scope, &format!("arith.addi {into}, {sum} : {ty}"))
}
