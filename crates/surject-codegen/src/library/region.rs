//! The scalar functions of library operations, inlined.

use crate::CodegenError;
use crate::code::Value;
use crate::expression::address::LoopId;
use crate::expression::build::Builder;
use crate::expression::dag::Parts;
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::stop::Stop;
use crate::library::{Call, Writer};
use crate::lower::emit::{At, ScopeId, Val};
use crate::machine::elem::Elem;
use std::collections::{HashMap, HashSet};
use surject_ir::{BinaryOp, DType, Region, Scalar, StatementKind, Var};

/// A scalar function in a graph: its parameters are [`Node::Param`]s that depend on a loop of their own, which the
/// scope binds in which they have values.
pub struct Inlined {
    here: LoopId,
    params: Vec<Parts>,
    results: Vec<Parts>,
}

/// Adds the body of a region to a graph.
pub fn inline(call: &Call<'_>, region: &Region, dag: Dag) -> Result<(Dag, Inlined), CodegenError> {
    let unsupported = || CodegenError::unsupported("a scalar function of more than 128 loops");
    let mut dag = dag;
    let here = dag.add_loop(1).ok_or_else(unsupported)?;
    let mut params = Vec::new();
    let mut bound: HashMap<Var, Parts> = HashMap::new();
    // Parameters of different regions have different numbers.
    let first = u32::from(here.0) * 1024;
    for (i, &param) in region.params.iter().enumerate() {
        let dtype = call.dtype(param);
        let number = first + 2 * i as u32;
        let re = dag.add(Node::Param(number, here), dtype.part());
        let im = dtype.is_complex().then(|| dag.add(Node::Param(number + 1, here), dtype.part()));
        params.push(Parts { re, im });
        bound.insert(param, Parts { re, im });
    }
    let none = HashMap::new();
    for statement in &region.body.statements {
        match &statement.kind {
            StatementKind::Store { target, field } => {
                let mut builder = Builder::new(call.function, &none, &bound, dag);
                let value = builder.value(*field, Vec::new());
                dag = builder.dag;
                let value = value.map_err(|stop| match stop {
                    Stop::Error(error) => error,
                    Stop::Spill(_) | Stop::Split(..) | Stop::Phase(..) => unsupported(),
                })?;
                bound.insert(*target, value);
            }
            StatementKind::Constant { target, value } if value.len() == 1 => {
                let parts = crate::expression::complex::constant(&mut dag, value.get(0));
                bound.insert(*target, parts);
            }
            _ => {
                let what = "control flow or a library call inside the scalar function of a library call";
                return Err(CodegenError::unsupported(what).at(statement.origin.as_deref()));
            }
        }
    }
    let mut results = Vec::new();
    for &var in &region.body.results {
        let parts = match bound.get(&var) {
            Some(&parts) => parts,
            None => {
                // A variable from outside.
                let field = call.function.fields.iter().find_map(|(id, f)| {
                    matches!(f.kind, surject_ir::FieldKind::Tensor(v) if v == var).then_some(id)
                });
                let field = field.ok_or_else(|| CodegenError::undefined(var))?;
                let mut builder = Builder::new(call.function, &none, &bound, dag);
                let value = builder.value(field, Vec::new());
                dag = builder.dag;
                value.map_err(|_| unsupported())?
            }
        };
        results.push(parts);
    }
    let roots: Vec<NodeId> = results.iter().flat_map(|p: &Parts| [Some(p.re), p.im]).flatten().collect();
    let is_scalar = |n: &NodeId| match &dag[*n].node {
        Node::Load { address, guards, .. } => guards.is_empty() && address.terms.is_empty(),
        Node::Gather { .. } | Node::Index(_) | Node::Guarded { .. } | Node::Reduce { .. } => false,
        _ => true,
    };
    if !dag.all_reachable(&roots).iter().all(is_scalar) {
        return Err(CodegenError::unsupported("a loop inside the scalar function of a library call"));
    }
    Ok((dag, Inlined { here, params, results }))
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

/// A comparator as a comparison of one whole number of either side.
pub struct Key {
    /// The number, from the arguments of the comparator; it uses those of the left sides only.
    pub function: Inlined,
    /// Its type.
    pub dtype: DType,
    /// Does the larger one come first?
    pub descending: bool,
}

impl Inlined {
    /// Takes apart a comparator of the form `key(left sides) < key(right sides)`; the arguments are a pair for each
    /// operand.
    pub fn key(&self, mut dag: Dag) -> Option<(Dag, Key)> {
        let [Parts { re, im: None }] = self.results[..] else { return None };
        let &Node::Binary(op, x, y) = &dag[re].node else { return None };
        let descending = match op {
            BinaryOp::Lt => false,
            BinaryOp::Gt => true,
            _ => return None,
        };
        let (root, dtype) = (x, dag[x].dtype);
        // Halves are computed in a wider type than they have.
        let known = dtype.is_int() || matches!(dtype, DType::F32 | DType::F64);
        let places = |side: usize| -> Vec<NodeId> {
            self.params.iter().skip(side).step_by(2).flat_map(|p| [Some(p.re), p.im]).flatten().collect()
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
            let (a, b) = (&dag[x], &dag[y]);
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
        let re = whole(&mut dag, root);
        let dtype = dag[re].dtype;
        let function =
            Inlined { here: self.here, params: self.params.clone(), results: vec![Parts { re, im: None }] };
        Some((dag, Key { function, dtype, descending }))
    }

    /// Number `i` of the carried values, which are the first half of the parameters, and the element that is joined to it,
    /// if the function only ever chooses between the two.
    fn chosen(&self, dag: &Dag, i: usize) -> Option<(NodeId, NodeId)> {
        let (own, element) = (self.params.get(i)?.re, self.params.get(self.params.len() / 2 + i)?.re);
        let mut open = vec![self.results.get(i)?.re];
        while let Some(n) = open.pop() {
            match dag[n].node {
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
    pub fn chooses(&self, dag: &Dag) -> bool {
        (0..self.results.len()).all(|i| self.chosen(dag, i).is_some())
    }

    /// What is carried value number `i`, its element, or chosen between the two, if the function does nothing with these but
    /// compare them with each other and choose: they may have any type that holds them.
    pub fn only_ordered(&self, dag: &Dag, i: usize) -> Option<HashSet<NodeId>> {
        let (own, element) = self.chosen(dag, i)?;
        let results: Vec<NodeId> = self.results.iter().flat_map(|p| [Some(p.re), p.im]).flatten().collect();
        let mut values = HashSet::from([own, element]);
        for n in dag.all_reachable(&results) {
            let node = &dag[n].node;
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
    /// and its element. A comparison that is known is none that the next step waits for.
    pub fn while_ascending(&self, dag: &Dag, i: usize) -> Vec<(NodeId, bool)> {
        let Some((own, element)) = self.chosen(dag, i) else { return Vec::new() };
        let comparisons = dag.iter().filter_map(|(id, data)| {
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

    /// Does the function read tensors from outside?
    pub fn reads_memory(&self, dag: &Dag) -> bool {
        let roots: Vec<NodeId> = self.results.iter().flat_map(|p| [Some(p.re), p.im]).flatten().collect();
        dag.all_reachable(&roots)
            .iter()
            .any(|&n| matches!(dag[n].node, Node::Load { .. } | Node::Gather { .. }))
    }

    /// The first result, added to another graph, of these nodes as arguments. None is complex, and the function reads no
    /// tensor.
    pub fn added(&self, from: &Dag, to: &mut Dag, args: &[NodeId]) -> Result<NodeId, CodegenError> {
        let malformed =
            || CodegenError::malformed("a scalar function that is no expression of its arguments");
        let root = self.results.first().ok_or_else(malformed)?.re;
        let known = self.params.iter().map(|p| p.re).zip(args.iter().copied()).collect();
        to.import_knowing(from, root, known, &|lin| Some(lin.clone())).ok_or_else(malformed)
    }

    /// The results for these arguments (each as its parts), in a scope of their own inside `scope`, which is
    /// closed with [`crate::lower::emit::Emitter::close_plain`] or as the body of an operation.
    pub fn apply(
        &self,
        writer: &mut Writer<'_>,
        scope: ScopeId,
        args: &[Vec<Value>],
    ) -> Result<Vec<Vec<Value>>, CodegenError> {
        writer.em.bind(scope, self.here, Value::NONE);
        self.results_at(writer, At { scope, lanes: 1 }, args)
    }

    /// The results in the lanes of a scope of their own inside `scope`, which is closed here.
    pub fn apply_lanes(
        &self,
        writer: &mut Writer<'_>,
        scope: ScopeId,
        args: &[Vec<Value>],
        lanes: usize,
    ) -> Result<Vec<Vec<Value>>, CodegenError> {
        self.apply_knowing(writer, scope, args, lanes, &[])
    }

    /// As [`Inlined::apply_lanes`], where some conditions are known.
    pub fn apply_knowing(
        &self,
        writer: &mut Writer<'_>,
        scope: ScopeId,
        args: &[Vec<Value>],
        lanes: usize,
        known: &[(NodeId, bool)],
    ) -> Result<Vec<Vec<Value>>, CodegenError> {
        let vector = (lanes > 1).then_some((self.here, lanes));
        let inner = writer.em.open(scope, vec![(self.here, Value::NONE)], vector);
        for &(node, holds) in known {
            let ssa = writer.em.constant(Elem::I1, holds.into(), lanes);
            writer.em.seed(inner, node, Val { ssa, lanes });
        }
        let results = self.results_at(writer, At { scope: inner, lanes }, args)?;
        writer.em.close_plain(inner);
        Ok(results)
    }

    fn results_at(
        &self,
        writer: &mut Writer<'_>,
        at: At,
        args: &[Vec<Value>],
    ) -> Result<Vec<Vec<Value>>, CodegenError> {
        for (param, values) in self.params.iter().zip(args) {
            for (node, value) in [Some(param.re), param.im].into_iter().flatten().zip(values) {
                writer.em.seed(at.scope, node, Val { ssa: *value, lanes: at.lanes });
            }
        }
        let mut results = Vec::new();
        for parts in &self.results {
            let mut values = Vec::new();
            for node in [Some(parts.re), parts.im].into_iter().flatten() {
                let value = writer.em.value(node, at.scope)?;
                let elem = Elem::of(writer.em.dag[node].dtype);
                values.push(writer.em.spread(&value, elem, at));
            }
            results.push(values);
        }
        Ok(results)
    }
}
