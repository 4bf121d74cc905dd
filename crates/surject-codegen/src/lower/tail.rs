//! Reductions along rows that end where the tail of their terms begins ([`crate::expression::tail`]).
//!
//! A row of masked scores needs one look at its tail: a maximum joins the one value that is there, and a sum whose terms are
//! zero there ends. The terms of a softmax are such: `exp(fill - maximum)`, which is zero unless the whole row is masked.

use crate::CodegenError;
use crate::code::Value;
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::NodeId;
use crate::expression::stored_tail::Side;
use crate::expression::tail::{Digit, Edge, tail};
use crate::lower::emit::{At, Emitter, ScopeId, Val};
use crate::lower::reduce::{Term, Vectors};
use crate::machine::elem::Elem;
use surject_ir::{AccOp, Scalar};

/// Fewer vectors than these are not worth bounds of their own.
const LEAST: i64 = 8;

/// Where a loop in lanes ends, and what the terms behind it are.
pub(crate) struct End {
    pub(crate) until: Value,
    /// The values in the tail, of terms that were looked at.
    values: Vec<(NodeId, Value)>,
}

impl Emitter<'_> {
    /// A digit of a loop that has a value in a scope.
    pub(crate) fn digit(&mut self, scope: ScopeId, digit: &Digit) -> Value {
        let at = self.lin(&Lin::var(digit.l), scope);
        if digit.modulus == self.dag.extent(digit.l) {
            return at;
        }
        let modulus = self.int(digit.modulus);
        self.arith(scope, "arith.remui", at, modulus)
    }

    /// The edge of a tail, where all its loops have values: not below zero.
    fn edge(&mut self, scope: ScopeId, edge: &Edge) -> Value {
        let (mut sum, zero) = (self.int(edge.offset), self.int(0));
        for digit in &edge.digits {
            let (at, coeff) = (self.digit(scope, digit), self.int(digit.coeff));
            let term = self.arith(scope, "arith.muli", at, coeff);
            sum = self.arith(scope, "arith.addi", sum, term);
        }
        self.arith(scope, "arith.maxsi", sum, zero)
    }

    /// Where a loop over terms in lanes ends; `None`: with the last whole vector. One vector of the tail is inside.
    pub(crate) fn end_of_terms(
        &mut self,
        terms: &[Term],
        Vectors { l: last, main, lanes }: Vectors,
        scope: ScopeId,
    ) -> Result<Option<End>, CodegenError> {
        let lanes_i64 = lanes as i64;
        let Some(edge) = self.shared_edge(terms, last).filter(|_| main >= LEAST * lanes_i64) else {
            return Ok(None);
        };
        let edge = self.edge(scope, &edge);
        let (width, up, most) = (self.int(lanes_i64), self.int(lanes_i64 - 1), self.int(main - lanes_i64));
        let first = self.arith(scope, "arith.addi", edge, up);
        let first = self.arith(scope, "arith.divui", first, width);
        let first = self.arith(scope, "arith.muli", first, width);
        let at = self.arith(scope, "arith.minsi", first, most);
        let mut ends = self.compare(scope, "eq", first, at);
        let own = self.open(scope, vec![(last, at)], Some((last, lanes)));
        let mut values = Vec::new();
        for term in terms.iter().filter(|t| t.op == AccOp::Add) {
            let (elem, at) = (Elem::of(term.dtype), At { scope: own, lanes });
            let value = self.operand(term.body, at)?;
            // All lanes have the same.
            let one = self.some_lanes(own, value, (elem, lanes), 0, 1);
            let zero = self.scalar(Scalar::zero(term.dtype), 1);
            let holds = self.equal(own, one, zero, elem);
            ends = self.bin(At { scope: own, lanes: 1 }, "arith.andi", ends, holds, Elem::I1);
            values.push((term.body, value));
        }
        self.close_plain(own);
        let behind = self.arith(scope, "arith.addi", at, width);
        let all = self.int(main);
        let until = self.pick_number(scope, ends, behind, all);
        Ok(Some(End { until, values }))
    }

    /// The edge of the tail that all terms have, which may be left out of what they are joined to.
    fn shared_edge(&self, terms: &[Term], last: LoopId) -> Option<Edge> {
        let mut edges = terms.iter().map(|term| {
            let kept = self.term_cache.as_ref().is_some_and(|c| c.0.body == term.body);
            let joins = match term.op {
                AccOp::Add => true,
                AccOp::Max | AccOp::Min | AccOp::And | AccOp::Or => !kept,
                _ => false,
            };
            tail(self.dag, term.body, last, Side::After)
                .filter(|t| joins && t.edge.divisor == 1)
                .map(|t| t.edge)
        });
        let first = edges.next()??;
        edges.try_fold(first, |all, more| all.joined(&more?, Side::After))
    }

    /// Keeps the terms of a tail that a loop did not reach, where all terms are kept.
    pub(crate) fn keep_tail(&mut self, end: &End, Vectors { l: last, main, lanes }: Vectors, scope: ScopeId) {
        let Some((cache, pointer)) = self.term_cache.clone() else { return };
        let Some((_, value)) = end.values.iter().find(|v| v.0 == cache.body) else { return };
        let mut bounds = self.whole(0, main, lanes as i64);
        bounds.low.clone_from(&end.until);
        let (rest, iv) = self.open_loop(scope, last, lanes);
        let value = Val { ssa: *value, lanes };
        let streams = std::mem::take(&mut self.streams);
        self.store(pointer, cache.dtype, &cache.address, &value, At { scope: rest, lanes });
        self.streams = streams;
        self.close_loop(rest, iv, &bounds, &[]);
    }
}
