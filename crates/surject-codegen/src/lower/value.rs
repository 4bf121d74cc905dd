//! Text of a value: the nodes of an expression, reductions included.

use crate::CodegenError;
use crate::code::Value;
use crate::expression::address::{Guard, GuardFact, Interval, LoopId};
use crate::expression::dag::{Dag, Node, NodeId};
use crate::lower::emit::{At, Emitter, ScopeId, Val};
use crate::lower::reduce::Accumulator;
use crate::machine::elem::Elem;
use crate::schedule::ReducePlan;
use std::collections::BTreeSet;
use surject_ir::{AccOp, BinaryOp, DType, Scalar};

impl Emitter<'_> {
    /// The value of a node at a scope. Everything it needs is written where it is first known.
    pub fn value(&mut self, node: NodeId, scope: ScopeId) -> Result<Val, CodegenError> {
        if let Some(value) = self.cached(node, scope) {
            return Ok(value);
        }
        self.values(&[node], scope).map(|mut values| values.swap_remove(0))
    }

    /// The values of nodes at a scope. Reductions along the same loops that need nothing of each other run together.
    pub fn values(&mut self, nodes: &[NodeId], scope: ScopeId) -> Result<Vec<Val>, CodegenError> {
        // Children before parents; the bodies of reductions are evaluated inside their loops, and nothing below a
        // value that is known.
        let (mut open, mut missing) = (nodes.to_vec(), BTreeSet::new());
        while let Some(id) = open.pop() {
            if self.cached(id, scope).is_none()
                && missing.insert(id)
                && !matches!(self.dag[id].node, Node::Reduce { .. })
            {
                open.extend(self.dag[id].node.children());
            }
        }
        for &id in &missing {
            if self.cached(id, scope).is_none() {
                let home = self.home(scope, self.dag[id].deps);
                let at = At { scope: home, lanes: self.lanes(home, self.dag[id].deps) };
                let group = self.together(id, &missing, (scope, at));
                let values = match group.len() {
                    1 => vec![self.node(id, at)?],
                    _ => self.reduce(&group, at)?,
                };
                for (id, ssa) in group.into_iter().zip(values) {
                    self.seed(home, id, Val { ssa, lanes: at.lanes });
                }
            }
        }
        let found = nodes.iter().map(|&n| {
            self.cached(n, scope).ok_or_else(|| CodegenError::malformed("a value without a scope"))
        });
        found.collect()
    }

    /// The reductions among these that can run with one of them: along the same loops, in the same lanes, and none
    /// of them needs another. They are needed at `scope`, and the one is evaluated at `at`.
    fn together(&self, id: NodeId, missing: &BTreeSet<NodeId>, (scope, at): (ScopeId, At)) -> Vec<NodeId> {
        /// Lanes of the values of all of them.
        const LANES: usize = 512;
        let mut group = vec![id];
        let Node::Reduce { loops, .. } = &self.dag[id].node else { return group };
        if self.term_cache.is_some() || self.written_out(id, at) {
            return group;
        }
        let plan = self.plan(id);
        let each = if at.lanes > 1 { at.lanes } else { plan.lanes };
        for &other in missing.range(id..).skip(1) {
            let Node::Reduce { loops: along, body, .. } = &self.dag[other].node else { continue };
            let deps = self.dag[other].deps;
            let home = self.home(scope, deps);
            let inside = || self.dag.all_reachable(&[*body]);
            let fits = along == loops
                && home == at.scope
                && self.lanes(home, deps) == at.lanes
                && self.plan(other) == plan
                && self.cached(other, at.scope).is_none()
                && !self.written_out(other, at)
                && (group.len() + 1) * each <= LANES
                && inside().iter().all(|n| !group.contains(n));
            if fits {
                group.push(other);
            }
        }
        group
    }

    /// How a reduction is done.
    pub(crate) fn plan(&self, id: NodeId) -> ReducePlan {
        let loops = || match &self.dag[id].node {
            Node::Reduce { loops, .. } => loops.clone(),
            _ => Vec::new(),
        };
        self.reductions.get(&id).cloned().unwrap_or_else(|| ReducePlan { order: loops(), lanes: 1 })
    }

    /// Are the terms of a reduction written one after the other?
    fn written_out(&self, id: NodeId, at: At) -> bool {
        let Node::Reduce { loops, body, .. } = &self.dag[id].node else { return false };
        at.lanes > 1 && self.few_terms(loops, *body, at.scope)
    }

    /// A value in as many lanes as asked for.
    pub(crate) fn operand(&mut self, node: NodeId, at: At) -> Result<Value, CodegenError> {
        let value = self.value(node, at.scope)?;
        let home = self.home(at.scope, self.dag[node].deps);
        Ok(self.spread(&value, Elem::of(self.dag[node].dtype), At { scope: home, lanes: at.lanes }))
    }

    /// The value of a node, whose operands are written where they are first known: an arm for every kind of node.
    fn node(&mut self, id: NodeId, at: At) -> Result<Value, CodegenError> {
        let data = &self.dag[id];
        let dtype = data.dtype;
        Ok(match &data.node {
            Node::Load { buf, address, guards } => {
                let pointer = self.pointer(*buf)?;
                self.prefetch_load((*buf, pointer), (address, guards), Elem::in_memory(dtype), at);
                self.load(pointer, dtype, address, guards, at)
            }
            Node::Gather { buf, address, offset, guards } => {
                let pointer = self.pointer(*buf)?;
                self.prefetch_line((*buf, pointer), (address, *offset), Elem::in_memory(dtype), at)?;
                let offset = (self.value(*offset, at.scope)?, Elem::of(self.dag[*offset].dtype));
                self.gather(pointer, id, (address, guards), offset, at)
            }
            // Narrow integers wrap as a conversion does.
            Node::Index(lin) if dtype.is_int() && dtype.size() <= 4 => {
                self.lin_vector(lin, Elem::of(dtype), at)
            }
            Node::Index(lin) => {
                // Positions fit in `i64`; narrower integers wrap as a conversion does.
                let small = lin.range(&self.dag.extents).is_some_and(Interval::is_of_i32);
                let from = if small { DType::I32 } else { DType::I64 };
                let index = self.lin_vector(lin, Elem::of(from), at);
                self.convert(at, from, dtype, index)
            }
            Node::Const(value) => self.scalar(*value, at.lanes),
            Node::Guarded { guards, fill, inner } => self.guarded(guards, *fill, *inner, at)?,
            Node::Unary(op, x) => {
                let from = self.dag[*x].dtype;
                let x = self.operand(*x, at)?;
                self.unary(at, *op, from, x)?
            }
            Node::Binary(op, x, y) => self.binary_node(id, *op, (*x, *y), at)?,
            Node::Select(c, x, y) => {
                let (x, y) = (self.operand(*x, at)?, self.operand(*y, at)?);
                self.choose(at, *c, (x, y), Elem::of(dtype))?
            }
            Node::Convert(x) => {
                let from = self.dag[*x].dtype;
                let x = self.operand(*x, at)?;
                self.convert(at, from, dtype, x)
            }
            Node::Bitcast(x) => {
                let from = self.dag[*x].dtype;
                let x = self.operand(*x, at)?;
                self.bitcast(at, from, dtype, x)
            }
            Node::ReducePrecision(exponent, mantissa, x) => {
                let x = self.operand(*x, at)?;
                self.reduce_precision(at, dtype, *exponent, *mantissa, x)
            }
            Node::Reduce { .. } if self.written_out(id, at) => self.reduce_written_out(id, at)?,
            Node::Reduce { .. } => self.reduce(&[id], at)?.swap_remove(0),
            Node::Param(..) => return Err(CodegenError::malformed("a parameter without a value")),
        })
    }

    /// A value where guards hold, and elsewhere another. What is known of the guards here is not asked again.
    fn guarded(
        &mut self,
        guards: &[Guard],
        fill: Scalar,
        inner: NodeId,
        at: At,
    ) -> Result<Value, CodegenError> {
        let facts: Vec<GuardFact> = guards.iter().map(|g| self.fact(g, at.scope)).collect();
        if facts.contains(&GuardFact::Never) {
            return Ok(self.scalar(fill, at.lanes));
        }
        let value = self.operand(inner, at)?;
        if facts.iter().all(|f| *f == GuardFact::Always) {
            return Ok(value);
        }
        let open = guards.iter().zip(facts).filter(|(_, fact)| *fact == GuardFact::Sometimes);
        let open: Vec<Guard> = open.map(|(guard, _)| guard.clone()).collect();
        let inside = self.predicate(&open, at);
        let inside = self.spread(&inside, Elem::I1, at);
        let elem = Elem::of(self.dag[inner].dtype);
        let fill = self.scalar(fill, at.lanes);
        Ok(self.select(at, inside, value, fill, elem))
    }

    /// An operation on two values. Some quotients are had without dividing.
    fn binary_node(
        &mut self,
        id: NodeId,
        op: BinaryOp,
        (x, y): (NodeId, NodeId),
        at: At,
    ) -> Result<Value, CodegenError> {
        let from = self.dag[x].dtype;
        let (left, right) = (self.operand(x, at)?, self.operand(y, at)?);
        if let (Node::Convert(integer), &Node::Const(by), BinaryOp::Div, DType::F32) =
            (&self.dag[x].node, &self.dag[y].node, op, self.dag[id].dtype)
            && let Some(quotient) = self.divide_by(at, self.dag[*integer].dtype, left, by)
        {
            return Ok(quotient);
        }
        if op == BinaryOp::Div
            && let Some(quotient) = self.divide_again(at, id, y, left)?
        {
            return Ok(quotient);
        }
        self.binary(at, op, from, left, right)
    }

    /// A reduction whose terms are written one after the other.
    fn reduce_written_out(&mut self, id: NodeId, at: At) -> Result<Value, CodegenError> {
        let dag = self.dag;
        let Node::Reduce { op, ref loops, body, .. } = dag[id].node else {
            return Err(CodegenError::malformed("terms of no reduction"));
        };
        let dtype = dag[id].dtype;
        let accumulator = Accumulator::new(self, op, dtype, at.lanes);
        let terms = every(dag, loops);
        let around = std::mem::replace(&mut self.passes, vec![id]);
        // Every addition waits for the one before it: sums of more terms are made in parts.
        let partial_sums = match terms.len() {
            _ if !dtype.is_float() || op != AccOp::Add => 1,
            12.. => 4,
            8.. => 2,
            _ => 1,
        };
        let mut parts = vec![accumulator.init; partial_sums];
        for (term, values) in terms.into_iter().enumerate() {
            let inner = self.open_at(at.scope, &values);
            let part = At { scope: inner, lanes: at.lanes };
            let into = &mut parts[term % partial_sums];
            *into = self.accumulate(op, body, dtype, *into, part)?;
            self.close_plain(inner);
        }
        while parts.len() > 1 {
            let last = parts.split_off(parts.len() / 2 + parts.len() % 2);
            for (a, b) in parts.iter_mut().zip(last) {
                *a = self.join_accumulators(op, dtype, *a, b, at)?;
            }
        }
        self.passes = around;
        let value = self.accumulated(op, dtype, parts.swap_remove(0), at);
        Ok(self.round_half(at, dtype, value))
    }
}

/// All positions of some loops, the last running fastest.
fn every(dag: &Dag, loops: &[LoopId]) -> Vec<Vec<(LoopId, i64)>> {
    let mut all: Vec<Vec<(LoopId, i64)>> = vec![Vec::new()];
    for &l in loops {
        let values = 0..dag.extent(l);
        all = all
            .iter()
            .flat_map(|before| values.clone().map(move |v| before.iter().copied().chain([(l, v)]).collect()))
            .collect();
    }
    all
}
