//! Tails of random expressions against the values at all points.

use super::*;
use crate::expression::dag::Known;
use surject_ir::{DType, eval};

const EXTENTS: [i64; 3] = [5, 6, 24];
const ROW: LoopId = LoopId(1);
const COLUMN: LoopId = LoopId(2);

fn next(state: &mut u64, below: i64) -> i64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as i64 % below
}

fn empty() -> Dag {
    let mut dag = Dag::default();
    EXTENTS.iter().for_each(|&n| assert!(dag.add_loop(n).is_some()));
    dag
}

fn random_lin(state: &mut u64) -> Lin {
    let mut lin = Lin::constant(next(state, 13) - 6);
    for l in [ROW, COLUMN, LoopId(0)] {
        let factor = [0, 1, -1, 1, 2][next(state, 5) as usize];
        lin = lin.plus(&Lin::var(l), factor).unwrap();
    }
    lin
}

fn random_condition(dag: &mut Dag, state: &mut u64, depth: i64) -> NodeId {
    if depth > 0 && next(state, 3) == 0 {
        let [x, y] = [0, 1].map(|_| random_condition(dag, state, depth - 1));
        return match next(state, 3) {
            0 => dag.binary(BinaryOp::And, x, y),
            1 => dag.binary(BinaryOp::Or, x, y),
            _ => dag.unary(UnaryOp::Not, x),
        };
    }
    use BinaryOp::*;
    let op = [Eq, Ne, Lt, Le, Gt, Ge][next(state, 6) as usize];
    let [x, y] = [0, 1].map(|_| dag.add(Node::Index(random_lin(state)), DType::I32));
    dag.binary(op, x, y)
}

/// Numbers below a depth; the leaves are tensors, in memory or of which a tail is known.
fn random_value(dag: &mut Dag, state: &mut u64, depth: i64) -> NodeId {
    let dtype = DType::I32;
    if depth == 0 {
        return match next(state, 3) {
            0 => dag.constant(Scalar::from_i128(dtype, next(state, 4).into())),
            1 => dag.add(Node::Load { buf: Buf(0), address: Lin::var(ROW), guards: Vec::new() }, dtype),
            _ => {
                let address = Lin { terms: vec![(LoopId(0), 144), (ROW, 24), (COLUMN, 1)], offset: 0 };
                dag.add(Node::Load { buf: Buf(1), address, guards: Vec::new() }, dtype)
            }
        };
    }
    let x = random_value(dag, state, depth - 1);
    match next(state, 4) {
        0 => {
            let y = random_value(dag, state, depth - 1);
            dag.binary(BinaryOp::Add, x, y)
        }
        1 => {
            let guards = vec![Guard { expr: random_lin(state), bound: 1 + next(state, 20) }];
            let fill = Scalar::from_i128(dtype, next(state, 4).into());
            dag.add(Node::Guarded { guards, fill, inner: x }, dtype)
        }
        _ => {
            let (c, y) = (random_condition(dag, state, 2), random_value(dag, state, depth - 1));
            dag.add(Node::Select(c, x, y), dtype)
        }
    }
}

fn lin_at(lin: &Lin, at: [i64; 3]) -> i64 {
    lin.offset + lin.terms.iter().map(|t| t.1 * at[t.0.0 as usize]).sum::<i64>()
}

fn value(dag: &Dag, n: NodeId, at: [i64; 3], memory: &dyn Fn(Buf, i64) -> Scalar) -> Scalar {
    let of = |n| value(dag, n, at, memory);
    match &dag[n].node {
        Node::Const(value) => *value,
        Node::Index(lin) => Scalar::from_i128(dag[n].dtype, lin_at(lin, at).into()),
        Node::Load { buf, address, .. } => memory(*buf, lin_at(address, at)),
        Node::Guarded { guards, fill, inner } => {
            let holds = guards.iter().all(|g| (0..g.bound).contains(&lin_at(&g.expr, at)));
            if holds { of(*inner) } else { *fill }
        }
        Node::Unary(op, x) => eval::unary(*op, of(*x)).unwrap(),
        Node::Binary(op, x, y) => eval::binary(*op, of(*x), of(*y)).unwrap(),
        Node::Select(c, x, y) => {
            if of(*c).is_true() {
                of(*x)
            } else {
                of(*y)
            }
        }
        other => panic!("{other:?}"),
    }
}

fn edge_at(edge: &Edge, at: [i64; 3]) -> i64 {
    let digits = edge.digits.iter().map(|d| d.coeff * (at[d.l.0 as usize] % d.modulus)).sum::<i64>();
    (edge.offset + digits + edge.divisor - 1).div_euclid(edge.divisor)
}

/// Is the value one in the tail, for every position of the other loops, and the one that is said?
fn check(dag: &Dag, root: NodeId, tail: &Tail, memory: &dyn Fn(Buf, i64) -> Scalar) {
    for (i, j) in (0..EXTENTS[0]).flat_map(|i| (0..EXTENTS[1]).map(move |j| (i, j))) {
        let edge = edge_at(&tail.edge, [i, j, 0]);
        let inside = (0..EXTENTS[2]).filter(|&k| (k >= edge) == (tail.side == Side::After));
        let values: Vec<Scalar> = inside.map(|k| value(dag, root, [i, j, k], memory)).collect();
        let expected = tail.value.or(values.first().copied());
        assert!(values.iter().all(|v| Some(*v) == expected), "{tail:?} at {i}, {j}: {values:?}");
    }
}

#[test]
fn values_in_tails_are_one() {
    let (mut found, mut through_memory) = (0, 0);
    for seed in 0..6000u64 {
        let (mut state, mut dag) = (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), empty());
        let root = random_value(&mut dag, &mut state, 3);
        let number = |at: i64| Scalar::from_i128(DType::I32, (at * 7919 % 1009).into());
        for side in Side::BOTH {
            if let Some(tail) = tail(&dag, root, COLUMN, side) {
                check(&dag, root, &tail, &|_, at| number(at));
                found += 1;
            }
        }
        // What one kernel stores another reads, over the same loops or with the outer two as one.
        let address = Lin { terms: vec![(LoopId(0), 144), (ROW, 24), (COLUMN, 1)], offset: 0 };
        let output = Output { to: Buf(1), address: address.clone(), root, join: None };
        let tails = StoredTail::of(&dag, &output, &[LoopId(0), ROW, COLUMN]);
        let stored =
            |_: Buf, at: i64| value(&dag, root, [at / 144, at / 24 % 6, at % 24], &|_, at| number(at));
        let mut reader = empty();
        reader.known = Known { tails: [(Buf(1), tails)].into(), ..Known::default() }.into();
        let load = reader.add(Node::Load { buf: Buf(1), address, guards: Vec::new() }, DType::I32);
        for side in Side::BOTH {
            if let Some(tail) = tail(&reader, load, COLUMN, side) {
                check(&reader, load, &tail, &stored);
                through_memory += 1;
            }
        }
    }
    assert!(found > 300 && through_memory > 300, "{found} {through_memory}");
}

#[test]
fn a_loop_over_two_digits_counts_by_its_remainder() {
    let mut dag = empty();
    let [x, y] = [COLUMN, ROW].map(|l| dag.add(Node::Index(Lin::var(l)), DType::I32));
    let (c, zero) = (dag.binary(BinaryOp::Le, x, y), dag.constant(Scalar::zero(DType::I32)));
    let address = Lin { terms: vec![(LoopId(0), 144), (ROW, 24), (COLUMN, 1)], offset: 0 };
    let one = dag.add(Node::Load { buf: Buf(0), address: address.clone(), guards: Vec::new() }, DType::I32);
    let root = dag.add(Node::Select(c, one, zero), DType::I32);
    let output = Output { to: Buf(1), address, root, join: None };
    let tails = StoredTail::of(&dag, &output, &[LoopId(0), ROW, COLUMN]);
    let mut reader = Dag::default();
    let (rows, column) = (reader.add_loop(30).unwrap(), reader.add_loop(24).unwrap());
    reader.known = Known { tails: [(Buf(1), tails)].into(), ..Known::default() }.into();
    let address = Lin { terms: vec![(rows, 24), (column, 1)], offset: 0 };
    let load = reader.add(Node::Load { buf: Buf(1), address, guards: Vec::new() }, DType::I32);
    let found = tail(&reader, load, column, Side::After).unwrap();
    assert_eq!(
        found.edge,
        Edge { digits: vec![Digit { l: rows, modulus: 6, coeff: 1 }], offset: 1, divisor: 1 }
    );
    assert_eq!(found.value, Some(Scalar::zero(DType::I32)));
    // Half of the rows, or every second column, are other digits.
    for address in [vec![(rows, 12), (column, 1)], vec![(rows, 24), (column, 2)]] {
        let address = Lin { terms: address, offset: 0 };
        let load = reader.add(Node::Load { buf: Buf(1), address, guards: Vec::new() }, DType::I32);
        assert_eq!(tail(&reader, load, column, Side::After), None);
    }
}
