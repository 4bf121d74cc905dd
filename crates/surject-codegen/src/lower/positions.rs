//! Arithmetic on positions and addresses: integers of 64 bits.

use crate::code::{Op, Value};
use crate::lower::emit::{At, Emitter, ScopeId};
use crate::machine::elem::{Elem, Type};

impl Emitter<'_> {
    /// An operation on two numbers, such as `arith.addi`.
    pub(crate) fn arith(&mut self, scope: ScopeId, name: &'static str, a: Value, b: Value) -> Value {
        self.op(scope, Op::same(name, [a, b], Type::I64))
    }

    /// A comparison of two numbers, such as `slt`.
    pub(crate) fn compare(&mut self, scope: ScopeId, predicate: &'static str, a: Value, b: Value) -> Value {
        self.cmpi(At { scope, lanes: 1 }, predicate, a, b, Elem::I64)
    }

    /// The first number where a condition holds, else the second.
    pub(crate) fn pick_number(&mut self, scope: ScopeId, condition: Value, a: Value, b: Value) -> Value {
        self.select(At { scope, lanes: 1 }, condition, a, b, Elem::I64)
    }
}
