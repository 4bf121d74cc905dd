//! What an expression computes and how much of it: work, traffic, registers.

use super::{Expression, LoopInfo, Tensor};
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Buf, Node, NodeId};
use crate::expression::tail::may_have_tails;
use std::collections::{BTreeMap, HashMap};
use surject_ir::{AccOp, BinaryOp, DType, UnaryOp};

/// What is in registers where a loop is done in lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// How many values there are, with loads and constants.
    pub values: usize,
    /// The bytes of an element of most of them.
    pub bytes: usize,
}

/// What an expression moves of a tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    /// The tensor.
    pub tensor: Tensor,
    /// Bytes.
    pub bytes: f64,
    /// Are they stored, or loaded?
    pub stored: bool,
}

impl Expression {
    /// May a mask or a guard make values the same from some position of a loop on that depends on other loops? No more than a look.
    pub fn may_have_tails(&self) -> bool {
        may_have_tails(&self.dag, &self.nodes())
    }

    /// Is it a sum of products whose factors all depend on a loop over points?
    pub fn is_batched(&self) -> bool {
        self.product().is_some_and(|product| {
            let of_one = |l: &LoopInfo| product.rows.contains(&l.name) || product.columns.contains(&l.name);
            self.loops().iter().any(|l| l.extent > 1 && !of_one(l))
        })
    }

    /// Does it compute functions that are formulas of many operations?
    pub fn has_formulas(&self) -> bool {
        use UnaryOp::{Abs, Ceil, Floor, Neg, Not, RoundEven, Rsqrt, Sign, Sqrt};
        self.nodes().into_iter().any(|n| match self.dag[n].node {
            Node::Unary(op, _) => {
                !matches!(op, Abs | Ceil | Floor | Neg | Not | RoundEven | Rsqrt | Sign | Sqrt)
            }
            Node::Binary(op, ..) => matches!(op, BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Rem),
            _ => false,
        })
    }

    /// Are positions along a loop values that it computes with?
    pub fn has_positions(&self) -> bool {
        self.nodes().into_iter().any(|n| matches!(self.dag[n].node, Node::Index(_)))
    }

    /// Does it gather?
    pub fn gathers(&self) -> bool {
        self.nodes().into_iter().any(|n| matches!(self.dag[n].node, Node::Gather { .. }))
    }

    /// The scalar operations of the whole expression, each as often as its loops run.
    pub fn operations(&self) -> f64 {
        let mut around: HashMap<NodeId, LoopSet> = HashMap::new();
        let points: LoopSet = self.loops.iter().copied().collect();
        self.outputs.iter().for_each(|o| _ = around.insert(o.root, points));
        let mut operations = 0.0;
        for n in self.nodes().into_iter().rev() {
            let data = &self.dag[n];
            let mut inside = around.get(&n).copied().unwrap_or(points);
            if let Node::Reduce { loops, .. } = &data.node {
                inside = inside.union(loops.iter().copied().collect());
            }
            data.node.children().for_each(|c| {
                let all = around.entry(c).or_default();
                *all = all.union(inside);
            });
            if !matches!(data.node, Node::Const(_) | Node::Load { .. } | Node::Index(_)) {
                let own = match &data.node {
                    Node::Reduce { loops, body, .. } => {
                        self.dag[*body].deps.union(loops.iter().copied().collect())
                    }
                    _ => data.deps,
                };
                operations += self.dag.points(own);
            }
        }
        operations
    }

    /// The bytes of the widest element that is computed or stored.
    pub fn element_bytes(&self) -> usize {
        self.nodes().into_iter().map(|n| self.dag[n].dtype.size()).max().unwrap_or(1)
    }

    /// What the expression needs of each tensor at least: every element that it accesses once.
    pub fn traffic(&self) -> Vec<Traffic> {
        let mut found: BTreeMap<(Buf, bool), f64> = BTreeMap::new();
        let loads = self.nodes().into_iter().filter_map(|n| match &self.dag[n].node {
            Node::Load { buf, address, .. } => Some((*buf, address.loops(), false)),
            Node::Gather { buf, .. } => Some((*buf, self.dag[n].deps, false)),
            _ => None,
        });
        let stores = self.outputs.iter().map(|o| (o.to, o.address.loops(), true));
        for (buf, loops, stored) in loads.chain(stores) {
            let Some(&(_, dtype, elements)) = self.memory.get(&buf) else { continue };
            let points = self.dag.points(loops).min(elements as f64);
            let all = found.entry((buf, stored)).or_default();
            *all = (*all + points * dtype.size() as f64).min(elements as f64 * dtype.size() as f64);
        }
        let tensor = |buf: Buf| self.memory.get(&buf).map(|m| m.0);
        let traffic = |((buf, stored), bytes)| Some(Traffic { tensor: tensor(buf)?, bytes, stored });
        found.into_iter().filter_map(traffic).collect()
    }

    /// Is a reduction a sum of products of floats that are summed in their own type?
    pub(crate) fn sums_products(&self, reduction: NodeId) -> bool {
        match self.dag[reduction].node {
            Node::Reduce { op: AccOp::Add, body, .. } => {
                let of_floats = matches!(self.dag[body].dtype, DType::F32 | DType::F64);
                of_floats && matches!(self.dag[body].node, Node::Binary(BinaryOp::Mul, ..))
            }
            _ => false,
        }
    }

    /// Does a reduction want the largest or the smallest of floats?
    pub(crate) fn compares_floats(&self, reduction: NodeId) -> bool {
        matches!(self.dag[reduction].node, Node::Reduce { op: AccOp::Max | AccOp::Min, body, .. } if self.dag[body].dtype.is_float())
    }

    /// The bytes of the values, among nodes, that depend on a loop: a quarter of them may be wider, as positions are.
    pub(super) fn width(&self, nodes: &[NodeId], along: LoopId) -> usize {
        let own = nodes.iter().filter(|n| self.dag[**n].deps.contains(along));
        let mut sizes: Vec<usize> = own.map(|n| self.dag[*n].dtype.size()).collect();
        sizes.sort_unstable_by_key(|&size| std::cmp::Reverse(size));
        sizes.get(sizes.len() / 4).copied().unwrap_or(4)
    }

    /// Are floats divided by what does not depend on a loop that they depend on?
    pub fn divides_along(&self, name: &str) -> bool {
        let Some(l) = self.id(name) else { return false };
        self.nodes().into_iter().any(|n| match self.dag[n].node {
            Node::Binary(BinaryOp::Div, _, by) => {
                let float = matches!(self.dag[n].dtype, DType::F32 | DType::F64);
                float && self.dag[n].deps.contains(l) && !self.dag[by].deps.contains(l)
            }
            _ => false,
        })
    }

    /// Does it depend on a loop whether elements exist that are loaded?
    pub fn has_edges_along(&self, name: &str) -> bool {
        let Some(l) = self.id(name) else { return false };
        self.nodes().into_iter().any(|n| match &self.dag[n].node {
            Node::Load { guards, .. } | Node::Gather { guards, .. } => {
                guards.iter().any(|g| g.expr.coeff(l) != 0)
            }
            _ => false,
        })
    }

    /// What a machine has in its registers while the iterations of a loop are lanes.
    pub fn registers(&self, name: &str) -> Registers {
        let nodes = self.nodes();
        let bytes = self.id(name).map_or(4, |along| self.width(&nodes, along));
        Registers { values: nodes.len(), bytes }
    }
}
