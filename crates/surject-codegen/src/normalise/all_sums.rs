//! Sums of which each phase has some, of elements that lie apart.
//!
//! Holes in a tensor are zeros, but nothing follows from that for what they are multiplied with: an infinite factor makes
//! a sum of holes NaN. So a strided convolution's input gradient needs, for every channel, the sum over all other channels
//! and some taps of zero times the filter, and each phase has other taps. What the taps of a filter and their channel lie
//! in is one piece of memory for every other channel: these pieces are summed element by element, in the order of memory
//! and once for all phases, and each phase adds up elements of that. (Zen 4: the gradient of two 7 x 7 images with 128
//! channels takes half the time.)

use crate::Target;
use crate::expression::address::{Interval, Lin, LoopId};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::normalise::pulled::Pulled;
use std::collections::HashMap;
use surject_ir::{AccOp, DType, FieldId};

/// What tells sums of pieces apart: the expression over the elements and the pieces, and how many pieces there are.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    expression: Vec<(Node, DType)>,
    op: AccOp,
    pieces: i64,
    /// Where the first one lies, in lengths from one to the next.
    first: i64,
}

/// The elements of a piece that somebody reads, and the memory of their sums, once there is some.
pub(crate) struct Sums {
    low: i64,
    high: i64,
    pub(crate) memory: Option<Buf>,
}

/// Those of a function.
pub(crate) type AllSums = HashMap<Key, Sums>;

/// A reduction that can be made of sums of pieces.
pub(crate) struct Pieces {
    pub(crate) key: Key,
    dtype: DType,
    field: FieldId,
    /// Where in a piece a term lies, and the loops over those.
    address: Lin,
    loops: Vec<LoopId>,
    /// The first and the last element it reads.
    range: (i64, i64),
}

impl Pieces {
    /// `None` where the terms lie side by side, or are more than elements of one tensor.
    pub(crate) fn find(dag: &Dag, reduction: NodeId, target: &Target) -> Option<Pieces> {
        let Node::Reduce { op, loops, body, field } = &dag[reduction].node else { return None };
        let dtype = dag[reduction].dtype;
        let inside = dag.all_reachable(&[*body]);
        let simple = |n: &NodeId| {
            matches!(
                dag[*n].node,
                Node::Load { .. } | Node::Const(_) | Node::Unary(..) | Node::Binary(..) | Node::Convert(_)
            )
        };
        let mut loads = inside.iter().filter_map(|&n| match &dag[n].node {
            Node::Load { address, guards, .. } if guards.is_empty() => Some(address),
            _ => None,
        });
        let address = loads.next().filter(|_| loads.next().is_none())?;
        // Sums of 16 bits would be rounded in between.
        let exact = matches!(dtype, DType::F32 | DType::F64) || dtype.is_int();
        if !exact || !inside.iter().all(simple) || dag[*body].deps != address.loops() {
            return None;
        }
        // The loop from one piece to the next, and the elements of a piece.
        let far = loops.iter().copied().max_by_key(|&l| address.coeff(l).abs())?;
        let (by, pieces) = (address.coeff(far), dag.extent(far));
        let mut rest = address.clone();
        rest.terms.retain(|t| t.0 != far);
        let Interval { low, high } = rest.range(&dag.extents)?;
        let count = high.checked_sub(low)?.checked_add(1)?;
        let needed = dag.points(rest.loops());
        let limits = &target.thresholds;
        let contiguous = |t: &(LoopId, i64)| t.1.abs() == 1 && dag.extent(t.0) >= limits.contiguous_sum_terms;
        let worth = needed * pieces as f64 >= limits.shared_sum_terms
            && count as f64 <= limits.shared_sum_waste * needed
            && !rest.terms.iter().any(contiguous);
        if by.abs() < count.max(2) || !worth {
            return None;
        }
        let mut sums = Dag::default();
        let (each, piece) = (sums.add_loop(count)?, sums.add_loop(pieces)?);
        let term = sums.import(dag, *body, &|_| Lin::var(each).plus(&Lin::var(piece), by))?;
        let expression = sums.all_reachable(&[term]);
        let expression = expression.into_iter().map(|n| (sums[n].node.clone(), sums[n].dtype)).collect();
        Some(Pieces {
            key: Key { expression, op: *op, pieces, first: low.div_euclid(by.abs()) },
            dtype,
            field: *field,
            address: rest,
            loops: loops.iter().copied().filter(|&l| l != far).collect(),
            range: (low, high),
        })
    }

    /// Says which elements it reads. All between two that are read are elements of the tensor.
    pub(crate) fn note(&self, all: &mut AllSums) {
        let (low, high) = self.range;
        let sums = all.entry(self.key.clone()).or_insert(Sums { low, high, memory: None });
        (sums.low, sums.high) = (sums.low.min(low), sums.high.max(high));
    }

    /// What stores the sums of all pieces, in memory of this name.
    pub(crate) fn sums(&self, all: &AllSums, to: Buf) -> Option<(Pulled, i64)> {
        let &Sums { low, high, .. } = all.get(&self.key)?;
        let (mut dag, count) = (Dag::default(), high.checked_sub(low)?.checked_add(1)?);
        let (each, piece) = (dag.add_loop(count)?, dag.add_loop(self.key.pieces)?);
        let mut body = None;
        // One element has no loop.
        let first = if count > 1 { Lin::var(each) } else { Lin::default() };
        let first = first.plus(&Lin::constant(low), 1)?;
        for (node, dtype) in &self.key.expression {
            let node = node.mapped(&|n| n, &|lin| lin.substitute(each, &first))?;
            body = Some(dag.add(node, *dtype));
        }
        let node = Node::Reduce { op: self.key.op, loops: vec![piece], body: body?, field: self.field };
        let root = dag.add(node, self.dtype);
        let address = first.plus(&Lin::constant(low), -1)?;
        let outputs = vec![Output { to, address, root, join: None }];
        Some((Pulled { dag, outer: vec![each], outputs }, count))
    }

    /// The reduction as one of those sums, which are in this memory.
    pub(crate) fn read(&self, dag: &mut Dag, all: &AllSums, from: Buf) -> Option<NodeId> {
        let address = self.address.plus(&Lin::constant(all.get(&self.key)?.low), -1)?;
        let body = dag.add(Node::Load { buf: from, address, guards: Vec::new() }, self.dtype);
        Some(match &self.loops[..] {
            [] => body,
            loops => {
                let node = Node::Reduce { op: self.key.op, loops: loops.to_vec(), body, field: self.field };
                dag.add(node, self.dtype)
            }
        })
    }
}
