//! The expression of a kernel: a graph of scalar operations over named loops.
//!
//! It is what a field becomes once every read has been composed into the addresses of the loads below it and
//! every accumulation has become a reduction over loops of its own. Nodes are hash-consed, so that each pair of
//! field and address is evaluated once, and children stand before parents.

use crate::expression::address::{Guard, Lin, LoopId, LoopSet};
use crate::expression::finite_marks::FiniteMarks;
use crate::expression::stored_tail::StoredTail;
use crate::machine::elem::Elem;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use surject_ir::{AccOp, BinaryOp, DType, FieldId, Scalar, UnaryOp, Var};

/// The variable as memory.
pub fn buf(var: Var) -> Buf {
    Buf(var.0)
}

/// A node of a [`Dag`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A value of a field: one node, or two for a complex number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The value, or its real part.
    pub re: NodeId,
    /// The imaginary part of a complex number.
    pub im: Option<NodeId>,
}

/// A tensor in memory: a variable of the function, or a temporary of the code generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Buf(pub u32);

impl Buf {
    /// Memory of whoever runs a kernel, for a row at a time: it is no tensor of the function.
    pub const OWN: Buf = Buf(u32::MAX);
}

/// A scalar operation. No node has a complex type: complex numbers are pairs of nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// An element of a tensor (`address` counts elements of this node's type); undefined where a guard fails.
    Load {
        /// The tensor.
        buf: Buf,
        /// The row-major position.
        address: Lin,
        /// Where the position lies inside the tensor.
        guards: Vec<Guard>,
    },
    /// An element of a tensor so many elements after an address: a position that is in part known at run time only.
    Gather {
        /// The tensor.
        buf: Buf,
        /// What the loops say of the row-major position.
        address: Lin,
        /// The rest of it, an `i32` or `i64`, which is the address of an element of the tensor by itself.
        offset: NodeId,
        /// Where together they lie inside the tensor.
        guards: Vec<Guard>,
    },
    /// An affine expression of the loops as a value.
    Index(Lin),
    /// A constant.
    Const(Scalar),
    /// `inner` where all guards hold, else `fill`.
    Guarded {
        /// The guards.
        guards: Vec<Guard>,
        /// The value where one fails.
        fill: Scalar,
        /// The value where all hold.
        inner: NodeId,
    },
    /// A unary operation.
    Unary(UnaryOp, NodeId),
    /// A binary operation.
    Binary(BinaryOp, NodeId, NodeId),
    /// Condition, value if it holds, value if not.
    Select(NodeId, NodeId, NodeId),
    /// The value in another element type.
    Convert(NodeId),
    /// The bits as another element type of the same width.
    Bitcast(NodeId),
    /// Exponent bits, mantissa bits, value.
    ReducePrecision(u32, u32, NodeId),
    /// The joined values of `body` over the points of `loops`.
    Reduce {
        /// The operator; never `set`.
        op: AccOp,
        /// The loops, which occur in no guard or address outside `body`.
        loops: Vec<LoopId>,
        /// What is joined.
        body: NodeId,
        /// The accumulation it comes from.
        field: FieldId,
    },
    /// A value that the surroundings provide; it counts as depending on the loop given.
    Param(u32, LoopId),
}

/// A node with what every pass asks of it.
#[derive(Clone, Debug)]
pub struct NodeData {
    /// The operation.
    pub node: Node,
    /// The element type.
    pub dtype: DType,
    /// The loops the value depends on, those of reductions inside not counted.
    pub deps: LoopSet,
}

/// What is known of tensors in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) tails: HashMap<Buf, Vec<StoredTail>>,
    pub(crate) finite: HashMap<Buf, FiniteMarks>,
    /// Tensors that the loop of the program around an expression leaves as they are.
    pub(crate) invariant: HashSet<Buf>,
}

/// The graph.
#[derive(Clone, Debug, Default)]
pub struct Dag {
    nodes: Vec<NodeData>,
    ids: HashMap<(Node, DType), NodeId>,
    /// The extent of every loop.
    pub extents: Vec<i64>,
    /// What is known of tensors in memory.
    pub(crate) known: Arc<Known>,
}

impl std::ops::Index<NodeId> for Dag {
    type Output = NodeData;

    fn index(&self, id: NodeId) -> &NodeData {
        &self.nodes[id.0 as usize]
    }
}

impl Node {
    /// The operands, in order.
    pub fn children(&self) -> impl Iterator<Item = NodeId> + use<> {
        let (a, b, c) = match *self {
            Node::Load { .. } | Node::Index(_) | Node::Const(_) | Node::Param(..) => (None, None, None),
            Node::Guarded { inner: x, .. }
            | Node::Gather { offset: x, .. }
            | Node::Unary(_, x)
            | Node::Convert(x)
            | Node::Bitcast(x)
            | Node::ReducePrecision(_, _, x)
            | Node::Reduce { body: x, .. } => (Some(x), None, None),
            Node::Binary(_, x, y) => (Some(x), Some(y), None),
            Node::Select(x, y, z) => (Some(x), Some(y), Some(z)),
        };
        [a, b, c].into_iter().flatten()
    }

    /// What holds where there is a value.
    pub fn guards(&self) -> &[Guard] {
        match self {
            Node::Load { guards, .. } | Node::Gather { guards, .. } | Node::Guarded { guards, .. } => guards,
            _ => &[],
        }
    }

    /// Its conditions.
    pub fn guards_mut(&mut self) -> &mut [Guard] {
        match self {
            Node::Load { guards, .. } | Node::Gather { guards, .. } | Node::Guarded { guards, .. } => guards,
            _ => &mut [],
        }
    }

    /// The node with other operands, and other expressions of the loops, those of a reduction included; `None` where
    /// there is none of these.
    pub fn mapped(&self, at: &dyn Fn(NodeId) -> NodeId, lin: &dyn Fn(&Lin) -> Option<Lin>) -> Option<Node> {
        let all = |guards: &[Guard]| -> Option<Vec<Guard>> {
            guards.iter().map(|g| Some(Guard { expr: lin(&g.expr)?, bound: g.bound })).collect()
        };
        Some(match self {
            Node::Load { buf, address, guards } => {
                Node::Load { buf: *buf, address: lin(address)?, guards: all(guards)? }
            }
            Node::Gather { buf, address, offset, guards } => {
                let (address, offset, guards) = (lin(address)?, at(*offset), all(guards)?);
                Node::Gather { buf: *buf, address, offset, guards }
            }
            Node::Index(position) => Node::Index(lin(position)?),
            Node::Guarded { guards, fill, inner } => {
                Node::Guarded { guards: all(guards)?, fill: *fill, inner: at(*inner) }
            }
            Node::Unary(op, x) => Node::Unary(*op, at(*x)),
            Node::Binary(op, x, y) => Node::Binary(*op, at(*x), at(*y)),
            Node::Select(c, x, y) => Node::Select(at(*c), at(*x), at(*y)),
            Node::Convert(x) => Node::Convert(at(*x)),
            Node::Bitcast(x) => Node::Bitcast(at(*x)),
            Node::ReducePrecision(e, m, x) => Node::ReducePrecision(*e, *m, at(*x)),
            Node::Reduce { op, loops, body, field } => {
                let mut own = Vec::new();
                for &l in loops {
                    own.extend(lin(&Lin::var(l))?.loops().loops());
                }
                Node::Reduce { op: *op, loops: own, body: at(*body), field: *field }
            }
            leaf @ (Node::Const(_) | Node::Param(..)) => leaf.clone(),
        })
    }
}

impl Dag {
    /// A new loop; `None` beyond [`LoopSet::LIMIT`].
    pub fn add_loop(&mut self, extent: i64) -> Option<LoopId> {
        (self.extents.len() < LoopSet::LIMIT).then(|| {
            self.extents.push(extent);
            LoopId(self.extents.len() as u8 - 1)
        })
    }

    /// Adds what a node of another graph reaches, with other expressions of the loops.
    pub fn import(&mut self, from: &Dag, root: NodeId, lin: &dyn Fn(&Lin) -> Option<Lin>) -> Option<NodeId> {
        self.import_knowing(from, root, HashMap::new(), lin)
    }

    /// As [`Dag::import`], where some of its nodes have others here in their place.
    pub fn import_knowing(
        &mut self,
        from: &Dag,
        root: NodeId,
        mut ids: HashMap<NodeId, NodeId>,
        lin: &dyn Fn(&Lin) -> Option<Lin>,
    ) -> Option<NodeId> {
        self.import_into(from, root, &mut ids, lin)
    }

    /// As [`Dag::import`], where it is kept what nodes become.
    pub fn import_into(
        &mut self,
        from: &Dag,
        root: NodeId,
        ids: &mut HashMap<NodeId, NodeId>,
        lin: &dyn Fn(&Lin) -> Option<Lin>,
    ) -> Option<NodeId> {
        for id in from.all_reachable(&[root]) {
            if !ids.contains_key(&id) {
                let data = &from[id];
                let node = data.node.mapped(&|x| ids.get(&x).copied().unwrap_or(x), lin)?;
                ids.insert(id, self.add(node, data.dtype));
            }
        }
        ids.get(&root).copied()
    }

    /// The root with a node replaced, in the bodies of reductions too; `None` on overflow.
    pub fn replaced(&mut self, root: NodeId, from: NodeId, to: NodeId) -> Option<NodeId> {
        let mut ids = HashMap::from([(from, to)]);
        for id in self.all_reachable(&[root]) {
            let data = self[id].clone();
            if id != from && data.node.children().any(|c| ids.contains_key(&c)) {
                let at = |x: NodeId| ids.get(&x).copied().unwrap_or(x);
                let new = self.add(data.node.mapped(&at, &|lin| Some(lin.clone()))?, data.dtype);
                ids.insert(id, new);
            }
        }
        Some(ids.get(&root).copied().unwrap_or(root))
    }

    /// The extent of a loop.
    pub fn extent(&self, l: LoopId) -> i64 {
        self.extents[l.0 as usize]
    }

    /// How many points some loops run through.
    pub fn points(&self, loops: LoopSet) -> f64 {
        loops.loops().map(|l| self.extent(l) as f64).product()
    }

    /// The bytes of all values of a node, as they lie in memory.
    pub fn bytes(&self, node: NodeId) -> f64 {
        self.points(self[node].deps) * Elem::in_memory(self[node].dtype).size() as f64
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Every node with its id, children before parents.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &NodeData)> {
        self.nodes.iter().enumerate().map(|(i, n)| (NodeId(i as u32), n))
    }

    /// Adds a node.
    pub fn add(&mut self, node: Node, dtype: DType) -> NodeId {
        let key = (node, dtype);
        if let Some(&id) = self.ids.get(&key) {
            return id;
        }
        let id = NodeId(self.nodes.len() as u32);
        let guards = |g: &[Guard]| g.iter().fold(LoopSet::default(), |s, g| s.union(g.expr.loops()));
        let children = key.0.children().fold(LoopSet::default(), |s, c| s.union(self[c].deps));
        let deps = match &key.0 {
            Node::Load { address, guards: g, .. } => address.loops().union(guards(g)),
            Node::Gather { address, guards: g, .. } => children.union(address.loops()).union(guards(g)),
            Node::Index(lin) => lin.loops(),
            Node::Guarded { guards: g, .. } => children.union(guards(g)),
            Node::Reduce { loops, .. } => children.minus(loops.iter().copied().collect()),
            Node::Param(_, l) => std::iter::once(*l).collect(),
            _ => children,
        };
        self.nodes.push(NodeData { node: key.0.clone(), dtype, deps });
        self.ids.insert(key, id);
        id
    }

    /// Gives a node another type, in which its operation means the same.
    pub fn retype(&mut self, node: NodeId, dtype: DType) {
        let data = &mut self.nodes[node.0 as usize];
        // What is added later as it was before is another node.
        self.ids.remove(&(data.node.clone(), data.dtype));
        data.dtype = dtype;
    }

    /// A constant.
    pub fn constant(&mut self, value: Scalar) -> NodeId {
        self.add(Node::Const(value), value.dtype())
    }

    /// A unary operation that keeps the type.
    pub fn unary(&mut self, op: UnaryOp, x: NodeId) -> NodeId {
        let dtype = op.result(self[x].dtype).unwrap_or(self[x].dtype);
        self.add(Node::Unary(op, x), dtype)
    }

    /// A binary operation.
    pub fn binary(&mut self, op: BinaryOp, x: NodeId, y: NodeId) -> NodeId {
        let dtype = op.result(self[x].dtype, self[y].dtype).unwrap_or(self[x].dtype);
        self.add(Node::Binary(op, x, y), dtype)
    }

    /// The nodes that some nodes reach without entering the body of a reduction, children before parents.
    pub fn reachable(&self, roots: &[NodeId]) -> Vec<NodeId> {
        self.reached(roots, |id| !matches!(self[id].node, Node::Reduce { .. }))
    }

    /// The same, without entering what is known.
    pub fn reachable_but(&self, roots: &[NodeId], is_known: impl Fn(NodeId) -> bool) -> Vec<NodeId> {
        self.reached(roots, |id| !matches!(self[id].node, Node::Reduce { .. }) && !is_known(id))
    }

    /// The nodes that some nodes reach, those in the bodies of reductions included, children before parents.
    pub fn all_reachable(&self, roots: &[NodeId]) -> Vec<NodeId> {
        self.reached(roots, |_| true)
    }

    /// The same, without entering what is known.
    pub fn all_reachable_but(&self, roots: &[NodeId], is_known: impl Fn(NodeId) -> bool) -> Vec<NodeId> {
        self.reached(roots, |id| !is_known(id))
    }

    /// The nodes that some nodes reach through those that are entered.
    fn reached(&self, roots: &[NodeId], enters: impl Fn(NodeId) -> bool) -> Vec<NodeId> {
        let Some(last) = roots.iter().max() else { return Vec::new() };
        let mut seen = vec![false; last.0 as usize + 1];
        roots.iter().for_each(|r| seen[r.0 as usize] = true);
        for id in (0..seen.len()).rev() {
            if seen[id] && enters(NodeId(id as u32)) {
                self.nodes[id].node.children().for_each(|c| seen[c.0 as usize] = true);
            }
        }
        (0..seen.len()).filter(|&i| seen[i]).map(|i| NodeId(i as u32)).collect()
    }
}
