//! Text of a value: the nodes of an expression, reductions included.

use crate::CodegenError;
use crate::address::{Guard, GuardFact, LoopId};
use crate::build::joining;
use crate::dag::{Node, NodeId};
use crate::emit::{At, Bounds, Carried, Elem, Emitter, ReducePlan, ScopeId, Val};
use crate::keys;
use std::collections::BTreeSet;
use surject_ir::{AccOp, BinaryOp, DType};

impl Emitter<'_> {
    /// The value of a node at a scope. Everything it needs is written where it is first known.
    pub fn value(&mut self, node: NodeId, scope: ScopeId) -> Result<Val, CodegenError> {
        if let Some(value) = self.cached(node, scope) {
            return Ok(value);
        }
        // Children before parents; the bodies of reductions are evaluated inside their loops, and nothing below a
        // value that is known.
        let (mut open, mut missing) = (vec![node], BTreeSet::new());
        while let Some(id) = open.pop() {
            if self.cached(id, scope).is_none()
                && missing.insert(id)
                && !matches!(self.dag[id].node, Node::Reduce { .. })
            {
                open.extend(self.dag[id].node.children());
            }
        }
        for id in missing {
            if self.cached(id, scope).is_none() {
                let home = self.home(scope, self.dag[id].deps);
                let lanes = self.lanes(home, self.dag[id].deps);
                let ssa = self.node(id, At { scope: home, lanes })?;
                self.seed(home, id, Val { ssa, lanes });
            }
        }
        self.cached(node, scope).ok_or_else(|| CodegenError::malformed("a value without a scope"))
    }

    /// A value in as many lanes as asked for.
    fn operand(&mut self, node: NodeId, at: At) -> Result<String, CodegenError> {
        let value = self.value(node, at.scope)?;
        let home = self.home(at.scope, self.dag[node].deps);
        Ok(self.spread(&value, Elem::of(self.dag[node].dtype), At { scope: home, lanes: at.lanes }))
    }

    fn node(&mut self, id: NodeId, at: At) -> Result<String, CodegenError> {
        let data = &self.dag[id];
        let dtype = data.dtype;
        Ok(match &data.node {
            Node::Load { buf, address, guards } => {
                let pointer = self.pointer(*buf)?;
                self.load(&pointer, dtype, address, guards, at)
            }
            Node::Gather { buf, address, offset } => {
                let pointer = self.pointer(*buf)?;
                let offset = (self.value(*offset, at.scope)?, Elem::of(self.dag[*offset].dtype));
                self.gather(&pointer, id, address, offset, at)
            }
            // Narrow integers wrap as a conversion does.
            Node::Index(lin) if dtype.is_int() && dtype.size() <= 4 => {
                self.lin_vector(lin, Elem::of(dtype), at)
            }
            Node::Index(lin) => {
                // Positions fit in `i64`; narrower integers wrap as a conversion does.
                let range = lin.range(&self.dag.extents);
                let small =
                    range.is_some_and(|(low, high)| low >= i32::MIN.into() && high <= i32::MAX.into());
                let from = if small { DType::I32 } else { DType::I64 };
                let index = self.lin_vector(lin, Elem::of(from), at);
                self.convert(at, from, dtype, &index)
            }
            Node::Const(value) => self.scalar(*value, at.lanes),
            Node::Guarded { guards, fill, inner } => {
                let e = Elem::of(dtype);
                let facts: Vec<GuardFact> = guards.iter().map(|g| self.fact(g, at.scope)).collect();
                if facts.contains(&GuardFact::Never) {
                    return Ok(self.scalar(*fill, at.lanes));
                }
                let value = self.operand(*inner, at)?;
                if facts.iter().all(|f| *f == GuardFact::Always) {
                    return Ok(value);
                }
                let inside = self.predicate(guards, at);
                let inside = self.spread(&inside, Elem::I1, at);
                let fill = self.scalar(*fill, at.lanes);
                self.select(at, &inside, &value, &fill, e)
            }
            Node::Unary(op, x) => {
                let from = self.dag[*x].dtype;
                let x = self.operand(*x, at)?;
                self.unary(at, *op, from, &x)?
            }
            Node::Binary(op, x, y) => {
                let from = self.dag[*x].dtype;
                let (left, right) = (self.operand(*x, at)?, self.operand(*y, at)?);
                if let (Node::Convert(integer), &Node::Const(by), BinaryOp::Div, DType::F32) =
                    (&self.dag[*x].node, &self.dag[*y].node, op, dtype)
                    && let Some(quotient) = self.divide_by(at, self.dag[*integer].dtype, &left, by)
                {
                    return Ok(quotient);
                }
                self.binary(at, *op, from, &left, &right)?
            }
            Node::Select(c, x, y) => {
                let (c, x, y) = (self.operand(*c, at)?, self.operand(*x, at)?, self.operand(*y, at)?);
                self.select(at, &c, &x, &y, Elem::of(dtype))
            }
            Node::Convert(x) => {
                let from = self.dag[*x].dtype;
                let x = self.operand(*x, at)?;
                self.convert(at, from, dtype, &x)
            }
            Node::Bitcast(x) => {
                let from = self.dag[*x].dtype;
                let x = self.operand(*x, at)?;
                self.bitcast(at, from, dtype, &x)
            }
            Node::ReducePrecision(exponent, mantissa, x) => {
                let x = self.operand(*x, at)?;
                self.reduce_precision(at, dtype, *exponent, *mantissa, &x)
            }
            Node::Reduce { op, loops, body, .. } => {
                let plan = self.reductions.get(&id).cloned();
                let plan = plan.unwrap_or_else(|| ReducePlan { order: loops.clone(), lanes: 1 });
                let written_out = self.is_written_out(id) || self.few_terms(loops, *body, at.scope);
                let value = if written_out && at.lanes > 1 {
                    let accumulator = Accumulator::new(self, *op, dtype, at.lanes);
                    let mut joined = accumulator.init;
                    for values in self.every(loops) {
                        let inner = self.open_at(at.scope, &values);
                        joined = self.accumulate(
                            *op,
                            *body,
                            dtype,
                            &joined,
                            At { scope: inner, lanes: at.lanes },
                        )?;
                        self.close_plain(inner);
                    }
                    self.accumulated(*op, dtype, joined, at)
                } else if at.lanes == 1 && plan.lanes > 1 {
                    self.reduce_lanes(*op, *body, dtype, &plan, at)?
                } else {
                    let scopes = self.open_nest(at.scope, &plan.order);
                    let accumulator = Accumulator::new(self, *op, dtype, at.lanes);
                    let joined = self.reduce_nest(*op, *body, dtype, scopes, accumulator)?;
                    self.accumulated(*op, dtype, joined, at)
                };
                self.round_half(at, dtype, value)
            }
            Node::Param(..) => return Err(CodegenError::malformed("a parameter without a value")),
        })
    }

    /// Has a reduction so few and so short terms, all of them there, that a loop over them would be most of the work?
    fn few_terms(&self, loops: &[LoopId], body: NodeId, scope: ScopeId) -> bool {
        const TERMS: i64 = 9;
        const NODES: usize = 8;
        let terms: i64 = loops.iter().map(|&l| self.dag.extent(l)).product();
        let nodes = self.dag.reachable(&[body], false);
        let there = |guards: &[Guard]| guards.iter().all(|g| self.fact(g, scope) == GuardFact::Always);
        (2..=TERMS).contains(&terms)
            && nodes.len() <= NODES
            && nodes.iter().all(|&n| match &self.dag[n].node {
                Node::Load { guards, .. } | Node::Guarded { guards, .. } => there(guards),
                Node::Reduce { .. } | Node::Gather { .. } => false,
                _ => true,
            })
    }

    fn open_nest(&mut self, scope: ScopeId, order: &[LoopId]) -> Vec<OpenLoop> {
        let mut scopes: Vec<OpenLoop> = Vec::new();
        for &l in order {
            let outer = scopes.last().map_or(scope, |s| s.scope);
            let (scope, iv) = self.open_loop(outer, l, 1);
            scopes.push(OpenLoop { scope, iv, bounds: self.whole(0, self.dag.extent(l), 1) });
        }
        scopes
    }

    fn whole(&mut self, low: i64, high: i64, step: i64) -> Bounds {
        Bounds { low: self.int(low), high: self.int(high), step: self.int(step) }
    }

    /// The innermost iteration of a reduction, then the loops around it.
    fn reduce_nest(
        &mut self,
        op: AccOp,
        body: NodeId,
        dtype: DType,
        scopes: Vec<OpenLoop>,
        accumulator: Accumulator,
    ) -> Result<String, CodegenError> {
        let inner = scopes.last().map_or(self.root(), |s| s.scope);
        let mut levels = Vec::new();
        for _ in &scopes {
            levels.push(self.name());
        }
        let Accumulator { init, lanes, elem } = accumulator;
        let last = levels.last().cloned().unwrap_or_else(|| init.clone());
        let mut next = self.accumulate(op, body, dtype, &last, At { scope: inner, lanes })?;
        let ty = elem.ty(lanes);
        for (depth, open) in scopes.iter().enumerate().rev() {
            let before = if depth == 0 { init.clone() } else { levels[depth - 1].clone() };
            let carried = [Carried { name: levels[depth].clone(), init: before, ty: ty.clone(), next }];
            next = self.close_loop(open.scope, &open.iv, &open.bounds, &carried).swap_remove(0);
        }
        Ok(next)
    }

    /// A reduction whose last loop is done in lanes: a vector of partial results.
    fn reduce_lanes(
        &mut self,
        op: AccOp,
        body: NodeId,
        dtype: DType,
        plan: &ReducePlan,
        at: At,
    ) -> Result<String, CodegenError> {
        let Some((&last, outer)) = plan.order.split_last() else {
            return Err(CodegenError::malformed("a reduction without a loop"));
        };
        let (extent, lanes) = (self.dag.extent(last), plan.lanes);
        let main = extent - extent % lanes as i64;
        let scopes = self.open_nest(at.scope, outer);
        let inner = scopes.last().map_or(at.scope, |s| s.scope);
        let wide = Accumulator::new(self, op, dtype, lanes);
        let e = wide.elem;
        let ty = e.ty(lanes);
        let levels: Vec<String> = scopes.iter().map(|_| self.name()).collect();
        let mut next = levels.last().unwrap_or(&wide.init).clone();
        // Whole vectors, then what is left: lanes beyond the end keep what they have.
        for (low, high) in [(0, main), (main, extent)] {
            if low == high {
                continue;
            }
            let bounds = self.whole(low, high, lanes as i64);
            let (scope, iv) = self.open_loop(inner, last, lanes);
            self.activate(scope, (high - low) as usize, lanes);
            if low == 0 && main > 0 && self.reads_pairs(op, body, dtype, last) {
                self.set_pairs(scope);
            }
            let name = self.name();
            let at = At { scope, lanes };
            let mut joined = self.accumulate(op, body, dtype, &name, at)?;
            if let Some(mask) = self.mask(scope, std::iter::once(last).collect()) {
                joined = self.select(at, &mask, &joined, &name, e);
            }
            let carried = [Carried { name, init: next, ty: ty.clone(), next: joined }];
            next = self.close_loop(scope, &iv, &bounds, &carried).swap_remove(0);
        }
        for (depth, open) in scopes.iter().enumerate().rev() {
            let init = if depth == 0 { wide.init.clone() } else { levels[depth - 1].clone() };
            let carried = [Carried { name: levels[depth].clone(), init, ty: ty.clone(), next }];
            next = self.close_loop(open.scope, &open.iv, &open.bounds, &carried).swap_remove(0);
        }
        self.horizontal(op, dtype, &next, At { scope: at.scope, lanes })
    }

    /// Can the lanes of a reduction be in any order, and is what it reads along its last loop all `bf16`, side by side?
    /// Then pairs of elements are read as words.
    fn reads_pairs(&self, op: AccOp, body: NodeId, dtype: DType, last: LoopId) -> bool {
        let stashed = self.stash.as_ref().is_some_and(|s| s.0.body == body);
        // Keys of `bf16` are made of what lies side by side.
        if stashed || keys::of(op, dtype).is_some() || cfg!(target_endian = "big") {
            return false;
        }
        let mut loads = 0;
        let fits = self.dag.reachable(&[body], false).into_iter().all(|n| match &self.dag[n].node {
            _ if !self.dag[n].deps.contains(last) => true,
            Node::Load { address, guards, .. } => {
                loads += 1;
                guards.is_empty() && address.coeff(last) == 1 && self.dag[n].dtype == DType::BF16
            }
            Node::Unary(..) | Node::Binary(..) | Node::Select(..) | Node::Convert(_) => true,
            _ => false,
        });
        fits && loads > 0
    }

    /// Joins the lanes, halves first, so that the order is always the same.
    fn horizontal(&mut self, op: AccOp, dtype: DType, x: &str, at: At) -> Result<String, CodegenError> {
        let e = keys::of(op, dtype).map_or(Elem::of(dtype), |k| k.elem());
        let (mut lanes, mut value) = (at.lanes, x.to_string());
        while lanes > 1 {
            let half = lanes / 2;
            let [a, b] = [0, half].map(|first| self.some_lanes(at.scope, &value, (e, lanes), (first, half)));
            if half == 1 {
                let at = At { scope: at.scope, lanes: 1 };
                let joined = self.join_accumulators(op, dtype, &a, &b, at)?;
                return Ok(self.accumulated(op, dtype, joined, at));
            }
            value = self.join_accumulators(op, dtype, &a, &b, At { scope: at.scope, lanes: half })?;
            lanes = half;
        }
        Ok(self.accumulated(op, dtype, value, At { scope: at.scope, lanes }))
    }

    /// Joins two accumulators.
    fn join_accumulators(
        &mut self,
        op: AccOp,
        dtype: DType,
        x: &str,
        y: &str,
        at: At,
    ) -> Result<String, CodegenError> {
        match keys::of(op, dtype) {
            Some(kind) => Ok(kind.join(self, x, y, at)),
            None => self.join_values(op, dtype, x, y, at),
        }
    }

    /// The value of an accumulator.
    fn accumulated(&mut self, op: AccOp, dtype: DType, x: String, at: At) -> String {
        match keys::of(op, dtype) {
            Some(kind) => kind.value(self, &x, at),
            None => x,
        }
    }

    /// Joins the value of the body of a tile to an accumulator: products of every float are fused, as halves are
    /// computed in `f32`.
    pub(crate) fn join_term(
        &mut self,
        op: AccOp,
        body: NodeId,
        dtype: DType,
        into: &str,
        at: At,
    ) -> Result<String, CodegenError> {
        let wide = if dtype.is_float() && dtype != DType::F64 { DType::F32 } else { dtype };
        self.join(op, body, wide, into, at)
    }

    /// Joins the value of the body to the accumulator of a reduction.
    fn accumulate(
        &mut self,
        op: AccOp,
        body: NodeId,
        dtype: DType,
        into: &str,
        at: At,
    ) -> Result<String, CodegenError> {
        let Some(kind) = keys::of(op, dtype) else { return self.join(op, body, dtype, into, at) };
        let value = self.term(body, at)?;
        let key = kind.key(self, &value, at);
        Ok(kind.join(self, into, &key, at))
    }

    /// The value of the body, which is kept where it is needed again.
    fn term(&mut self, body: NodeId, at: At) -> Result<String, CodegenError> {
        let value = self.operand(body, at)?;
        if let Some((stash, pointer)) = self.stash.clone().filter(|s| s.0.body == body) {
            let kept = Val { ssa: value.clone(), lanes: at.lanes };
            self.store(&pointer, stash.dtype, &stash.address, &kept, at);
        }
        Ok(value)
    }

    /// Joins the value of the body to an accumulator. A product that is summed is fused.
    fn join(
        &mut self,
        op: AccOp,
        body: NodeId,
        dtype: DType,
        into: &str,
        at: At,
    ) -> Result<String, CodegenError> {
        // A product that is kept is needed by itself.
        let kept = self.stash.as_ref().is_some_and(|s| s.0.body == body);
        let fused = matches!(dtype, DType::F32 | DType::F64) && !kept;
        if let (AccOp::Add, true, &Node::Binary(BinaryOp::Mul, x, y)) = (op, fused, &self.dag[body].node) {
            let (x, y) = (self.operand(x, at)?, self.operand(y, at)?);
            return Ok(
                self.op(at.scope, &format!("math.fma {x}, {y}, {into} : {}", Elem::of(dtype).ty(at.lanes)))
            );
        }
        let value = self.term(body, at)?;
        self.join_values(op, dtype, into, &value, at)
    }

    /// Joins two partial results. Sums of halves are kept in `f32`.
    pub fn join_values(
        &mut self,
        op: AccOp,
        dtype: DType,
        x: &str,
        y: &str,
        at: At,
    ) -> Result<String, CodegenError> {
        let wide = if dtype.is_float() && dtype != DType::F64 { DType::F32 } else { dtype };
        self.binary(at, joining(op)?, wide, x, y)
    }
}

struct OpenLoop {
    scope: ScopeId,
    iv: String,
    bounds: Bounds,
}

struct Accumulator {
    init: String,
    lanes: usize,
    /// The type of a lane: that of keys, where there are keys.
    elem: Elem,
}

impl Accumulator {
    fn new(em: &mut Emitter<'_>, op: AccOp, dtype: DType, lanes: usize) -> Accumulator {
        match keys::of(op, dtype) {
            Some(kind) => Accumulator { init: kind.neutral(em, lanes), lanes, elem: kind.elem() },
            None => Accumulator { init: em.scalar(op.neutral(dtype), lanes), lanes, elem: Elem::of(dtype) },
        }
    }
}
