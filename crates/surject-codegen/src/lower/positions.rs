//! Arithmetic on positions and addresses: integers of 64 bits.

use crate::code::{Op, Value};
use crate::lower::emit::{Emitter, ScopeId};
use crate::machine::elem::Type;

impl Emitter<'_> {
    /// An operation on two numbers, such as `arith.addi`.
    pub(crate) fn arith(&mut self, scope: ScopeId, name: &'static str, a: Value, b: Value) -> Value {
        self.op(scope, Op::same(name, [a, b], Type::I64))
    }
}
