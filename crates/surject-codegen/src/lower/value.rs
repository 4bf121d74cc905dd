//! The operations of a value: arithmetic on the arguments of a scalar function.

use crate::CodegenError;
use crate::code::{Op, Value};
use crate::expression::dag::{Node, NodeId};
use crate::lower::emit::{At, Emitter, ScopeId, Val};
use crate::machine::elem::Elem;
use std::collections::BTreeSet;
use surject_ir::{BinaryOp, DType};

impl Emitter<'_> {
    /// The value of a node at a scope. Everything it needs is written where it is first known.
    pub fn value(&mut self, node: NodeId, scope: ScopeId) -> Result<Val, CodegenError> {
        if let Some(value) = self.cached(node, scope) {
            return Ok(value);
        }
        self.values(&[node], scope).map(|mut values| values.swap_remove(0))
    }

    /// The values of nodes at a scope.
    pub fn values(&mut self, nodes: &[NodeId], scope: ScopeId) -> Result<Vec<Val>, CodegenError> {
        // Children before parents, and nothing below a value that is known.
        let (mut open, mut missing) = (nodes.to_vec(), BTreeSet::new());
        while let Some(id) = open.pop() {
            if self.cached(id, scope).is_none() && missing.insert(id) {
                open.extend(self.dag[id].node.children());
            }
        }
        for &id in &missing {
            if self.cached(id, scope).is_none() {
                let home = self.home(scope, self.dag[id].deps);
                let at = At { scope: home, lanes: self.lanes(home, self.dag[id].deps) };
                let ssa = self.node(id, at)?;
                self.seed(home, id, Val { ssa, lanes: at.lanes });
            }
        }
        let found = nodes.iter().map(|&n| {
            self.cached(n, scope).ok_or_else(|| CodegenError::malformed("a value without a scope"))
        });
        found.collect()
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
            // A scalar from outside.
            Node::Load { buf, address, guards } if guards.is_empty() && address.terms.is_empty() => {
                let (pointer, memory, place) =
                    (self.pointer(*buf)?, Elem::in_memory(dtype), self.int(address.offset));
                let from = self.element(pointer, place, memory, at.scope);
                let raw = self.op(at.scope, Op::load(from, memory.ty(1)));
                let value = self.widen(dtype, raw, At { scope: at.scope, lanes: 1 });
                self.spread(&Val { ssa: value, lanes: 1 }, Elem::of(dtype), at)
            }
            Node::Const(value) => self.scalar(*value, at.lanes),
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
            Node::Load { .. }
            | Node::Gather { .. }
            | Node::Index(_)
            | Node::Guarded { .. }
            | Node::Reduce { .. }
            | Node::Param(..) => {
                return Err(CodegenError::malformed(
                    "a scalar function that is no arithmetic on its arguments",
                ));
            }
        })
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
        self.binary(at, op, from, left, right)
    }
}
