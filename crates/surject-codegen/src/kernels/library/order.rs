//! What scalar functions do with their arguments: which of two they choose, and by which key they compare.

use super::scalar::{ScalarFunction, flat};
pub(super) use crate::expression::dag::NodeId;
use crate::expression::dag::{Dag, Node, Parts};
use std::collections::HashSet;
use surject_ir::{BinaryOp, DType, Scalar};

/// A comparator as a comparison of one whole number of either side.
pub(crate) struct Key {
    /// The number, from the arguments of the comparator; it uses those of the left sides only.
    pub(crate) function: ScalarFunction,
    /// Its type.
    pub(crate) dtype: DType,
    /// Does the larger one come first?
    pub(crate) descending: bool,
}

/// A key as a whole number: of floats one that has their order, the two zeros the same, and each NaN a place of its own.
fn whole(dag: &mut Dag, key: NodeId) -> NodeId {
    let dtype = dag[key].dtype;
    let (whole, most) = match dtype {
        DType::F32 => (DType::I32, i128::from(i32::MAX)),
        DType::F64 => (DType::I64, i128::from(i64::MAX)),
        _ => return key,
    };
    let zero = dag.constant(Scalar::from_f64(dtype, 0.0));
    let key = dag.binary(BinaryOp::Add, key, zero);
    let bits = dag.add(Node::Bitcast(key), whole);
    let (none, most) =
        (dag.constant(Scalar::from_i128(whole, 0)), dag.constant(Scalar::from_i128(whole, most)));
    let below = dag.binary(BinaryOp::Lt, bits, none);
    let flipped = dag.binary(BinaryOp::Xor, bits, most);
    dag.add(Node::Select(below, flipped, bits), whole)
}

impl ScalarFunction {
    /// Takes apart a comparator of the form `key(left sides) < key(right sides)`; the arguments are a pair for each
    /// operand.
    pub(crate) fn key(&self) -> Option<Key> {
        let [Parts { re, im: None }] = self.results[..] else { return None };
        let &Node::Binary(op, x, y) = &self.dag[re].node else { return None };
        let descending = match op {
            BinaryOp::Lt => false,
            BinaryOp::Gt => true,
            _ => return None,
        };
        let (root, dtype) = (x, self.dag[x].dtype);
        // Halves are computed in a wider type than they have.
        let known = dtype.is_int() || matches!(dtype, DType::F32 | DType::F64);
        let places = |side: usize| -> Vec<NodeId> {
            flat(&self.params.iter().skip(side).step_by(2).copied().collect::<Vec<_>>())
        };
        let (left, right) = (places(0), places(1));
        let mut pairs = vec![(x, y)];
        let mut seen = HashSet::new();
        while let Some((x, y)) = pairs.pop() {
            if !seen.insert((x, y)) {
                continue;
            }
            if let Some(i) = left.iter().position(|&p| p == x) {
                if right.get(i) != Some(&y) {
                    return None;
                }
                continue;
            }
            let (a, b) = (&self.dag[x], &self.dag[y]);
            let same = match (&a.node, &b.node) {
                (Node::Unary(f, _), Node::Unary(g, _)) => f == g,
                (Node::Binary(f, ..), Node::Binary(g, ..)) => f == g,
                (Node::Select(..), Node::Select(..))
                | (Node::Convert(_), Node::Convert(_))
                | (Node::Bitcast(_), Node::Bitcast(_)) => true,
                (Node::Const(_), Node::Const(_)) => x == y,
                _ => false,
            };
            if !same || a.dtype != b.dtype {
                return None;
            }
            pairs.extend(a.node.children().zip(b.node.children()));
        }
        if !known {
            return None;
        }
        let mut function = self.clone();
        let re = whole(&mut function.dag, root);
        let dtype = function.dag[re].dtype;
        function.results = vec![Parts { re, im: None }];
        Some(Key { function, dtype, descending })
    }

    /// Number `i` of the carried values, which are the first half of the parameters, and the element that is joined to it,
    /// if the function only ever chooses between the two.
    fn chosen(&self, i: usize) -> Option<(NodeId, NodeId)> {
        let (own, element) = (self.params.get(i)?.re, self.params.get(self.params.len() / 2 + i)?.re);
        let mut open = vec![self.results.get(i)?.re];
        while let Some(n) = open.pop() {
            match self.dag[n].node {
                _ if n == own || n == element => {}
                Node::Select(_, x, y) | Node::Binary(BinaryOp::Max | BinaryOp::Min, x, y) => {
                    open.extend([x, y])
                }
                _ => return None,
            }
        }
        Some((own, element))
    }

    /// Does the function only ever choose one of two tuples, or between their parts?
    pub(super) fn chooses(&self) -> bool {
        (0..self.results.len()).all(|i| self.chosen(i).is_some())
    }

    /// What is carried value number `i`, its element, or chosen between the two, if the function does nothing with these but
    /// compare them with each other and choose: they may have any type that holds them.
    pub(super) fn only_ordered(&self, i: usize) -> Option<HashSet<NodeId>> {
        let (own, element) = self.chosen(i)?;
        let mut values = HashSet::from([own, element]);
        for n in self.dag.all_reachable(&self.roots()) {
            let node = &self.dag[n].node;
            match *node {
                Node::Select(c, x, y)
                    if values.contains(&x) && values.contains(&y) && !values.contains(&c) =>
                {
                    values.insert(n);
                }
                Node::Binary(op, x, y) if values.contains(&x) && values.contains(&y) => match op {
                    BinaryOp::Max | BinaryOp::Min => {
                        values.insert(n);
                    }
                    op if op.is_comparison() => {}
                    _ => return None,
                },
                _ if node.children().any(|c| values.contains(&c)) => return None,
                _ => {}
            }
        }
        let alone = |(j, parts): (usize, &Parts)| (j == i) == values.contains(&parts.re);
        self.results.iter().enumerate().all(alone).then_some(values)
    }

    /// The comparisons of a carried value with the element that is joined to it, and what they are while every carried
    /// value is less than every element: this is about number `i` of them, if the function only ever chooses between it
    /// and its element. The next step does not wait for a comparison that is known.
    pub(super) fn while_ascending(&self, i: usize) -> Vec<(NodeId, bool)> {
        let Some((own, element)) = self.chosen(i) else { return Vec::new() };
        let comparisons = self.dag.iter().filter_map(|(id, data)| {
            let &Node::Binary(op, x, y) = &data.node else { return None };
            let less = match (x, y) {
                _ if (x, y) == (own, element) => true,
                _ if (y, x) == (own, element) => false,
                _ => return None,
            };
            match op {
                BinaryOp::Lt | BinaryOp::Le => Some((id, less)),
                BinaryOp::Gt | BinaryOp::Ge => Some((id, !less)),
                BinaryOp::Eq => Some((id, false)),
                BinaryOp::Ne => Some((id, true)),
                _ => None,
            }
        });
        comparisons.collect()
    }
}
