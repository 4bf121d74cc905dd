//! Quotients by what many of them share: products with the inverse, in two parts.
//!
//! They are rounded once but for what is smaller by as many bits as a float has: each is the quotient, or in rare cases its
//! neighbour. The parts have the same sign, so zeros and infinities stay what they are.

use super::{Lowered, Lowering};
use crate::expression::dag::{Node, NodeId};
use crate::kernels::inverses::inverse_of_constant;
use crate::machine::elem::Elem;
use surject_ir::{AccOp, BinaryOp, DType, Scalar, UnaryOp};
use surject_kernel::{Op, Value};

impl Lowering<'_> {
    /// The quotient of a node by one that does not depend on a loop whose quotients share inverses.
    pub(super) fn shared_quotient(
        &mut self,
        id: NodeId,
        [x, y]: [NodeId; 2],
        lanes: usize,
    ) -> Lowered<Option<Value>> {
        let (dag, dtype) = (&self.expression.dag, self.expression.dag[id].dtype);
        let shared = self.resolved.values.inverses.minus(dag[y].deps);
        if !matches!(dtype, DType::F32 | DType::F64) || !dag[id].deps.meets(shared) {
            return Ok(None);
        }
        if let Node::Const(by) = dag[y].node {
            let x = self.operand(x, lanes)?;
            return Ok(self.quotient_by(x, by));
        }
        let divisor = self.value(y)?;
        let inverse = self.inverse(divisor);
        let x = self.operand(x, lanes)?;
        let [high, low, by] = [inverse.high, inverse.low, divisor].map(|v| self.b.broadcast(v, lanes));
        let near = self.times_parts(x, high, low);
        let ty = self.b.ty(x);
        self.b.open_if(inverse.unusual);
        let exact = self.b.statement(Op::Binary(BinaryOp::Div, x, by), &[ty]);
        self.b.open_else(&exact);
        Ok(self.b.close_if(&[near]).first().copied())
    }

    /// The product with an inverse in two parts, the larger first.
    fn times_parts(&mut self, x: Value, high: Value, low: Value) -> Value {
        let less = self.b.binary(BinaryOp::Mul, x, low);
        let ty = self.b.ty(x);
        self.b.pure(Op::Fma(x, high, less), ty)
    }

    /// The quotient by a constant that is not far from 1. The inverse of a power of two has one part.
    fn quotient_by(&mut self, x: Value, by: Scalar) -> Option<Value> {
        let ty = self.b.ty(x);
        let [high, low] = inverse_of_constant(by.as_f64(), Elem::of(ty.dtype))?;
        let [high, rest] = [high, low].map(|part| self.b.splat(Scalar::from_f64(ty.dtype, part), ty.lanes));
        Some(if low == 0.0 { self.b.binary(BinaryOp::Mul, x, high) } else { self.times_parts(x, high, rest) })
    }

    /// The inverse of a divisor: rounded towards zero, and what is missing to it, which is never zero so that an infinity times
    /// it is one. Divisors that are far from 1 are unusual: no part may underflow.
    fn inverse(&mut self, y: Value) -> Inverse {
        let ty = self.b.ty(y);
        let b = &mut self.b;
        let (far, little, bits) = match ty.dtype {
            DType::F64 => (400, -120, DType::I64),
            _ => (60, -60, DType::I32),
        };
        let [one, zero, least, most, little] = [1.0, 0.0, 2f64.powi(-far), 2f64.powi(far), 2f64.powi(little)]
            .map(|value| b.splat(Scalar::from_f64(ty.dtype, value), ty.lanes));
        let nearest = b.binary(BinaryOp::Div, one, y);
        // What an inverse leaves of 1 is a float.
        let minus = b.unary(UnaryOp::Neg, nearest);
        let left = b.pure(Op::Fma(minus, y, one), ty);
        let above = b.binary(BinaryOp::Lt, left, zero);
        let number = b.pure(Op::Bitcast(nearest), ty.with(bits));
        let unit = b.splat(Scalar::one(bits), ty.lanes);
        let below = b.binary(BinaryOp::Sub, number, unit);
        let below = b.pure(Op::Bitcast(below), ty);
        let high = b.select(above, below, nearest);
        let minus = b.unary(UnaryOp::Neg, high);
        let left = b.pure(Op::Fma(minus, y, one), ty);
        let lost = b.binary(BinaryOp::Lt, left, little);
        let left = b.select(lost, little, left);
        let low = b.binary(BinaryOp::Mul, left, high);
        let size = b.unary(UnaryOp::Abs, y);
        // No number is neither less nor more, but it is unusual.
        let near = [b.binary(BinaryOp::Ge, size, least), b.binary(BinaryOp::Le, size, most)];
        let usual = b.binary(BinaryOp::And, near[0], near[1]);
        let yes = b.splat(Scalar::bool(true), ty.lanes);
        let unusual = b.binary(BinaryOp::Xor, usual, yes);
        Inverse { high, low, unusual: b.reduce_lanes(AccOp::Or, unusual) }
    }
}

/// The inverse of a divisor, as a sum of two floats of one sign.
struct Inverse {
    high: Value,
    low: Value,
    /// Is any of these divisors one for which that does not hold?
    unusual: Value,
}
