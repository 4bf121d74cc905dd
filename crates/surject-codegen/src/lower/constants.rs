//! Constants, values that are repeated over lanes, and affine expressions.

use crate::code::{Elements, Literal, Op, Value};
use crate::lower::emit::{At, Bounds, Emitter, Scope, ScopeId, Val};
use crate::machine::elem::Elem;
use surject_ir::{DType, Scalar};

impl<'a> Emitter<'a> {
    /// An `i1` for each lane: does it count among the first?
    pub fn first_lanes(&mut self, count: usize, lanes: usize) -> Value {
        let lanes: Vec<u64> = (0..lanes).map(|i| u64::from(i < count)).collect();
        self.literal(Elem::I1, Elements::Each(lanes))
    }

    /// A constant, splat over the lanes. `bits` are those of the register type.
    pub fn constant(&mut self, elem: Elem, bits: u64, lanes: usize) -> Value {
        self.literal(elem, Elements::Splat(bits, lanes))
    }

    /// Is a value a constant?
    pub fn is_constant(&self, value: Value) -> bool {
        let known = |value: Value| self.scopes[0].constants.values().any(|name| *name == value);
        let spread = |scope: &Scope| scope.broadcasts.iter().any(|(from, to)| *to == value && known(from.0));
        known(value) || self.scopes.iter().any(spread)
    }

    /// A constant with these elements, which are bits of the register type.
    pub(crate) fn literal(&mut self, elem: Elem, elements: Elements) -> Value {
        let literal = Literal::new(elem, elements);
        if let Some(&known) = self.scopes[0].constants.get(&literal) {
            return known;
        }
        let value = self.op(ScopeId(0), Op::Constant(literal.clone()));
        self.scopes[0].constants.insert(literal, value);
        value
    }

    /// The bounds of a loop from one number to another.
    pub(crate) fn whole(&mut self, low: i64, high: i64, step: i64) -> Bounds {
        Bounds { low: self.int(low), high: self.int(high), step: self.int(step) }
    }

    /// An `i64` constant.
    pub fn int(&mut self, value: i64) -> Value {
        self.constant(Elem::I64, value as u64, 1)
    }

    /// A scalar as a constant in its register type.
    pub fn scalar(&mut self, value: Scalar, lanes: usize) -> Value {
        let elem = Elem::of(value.dtype());
        let bits = match value.dtype() {
            DType::F16 | DType::BF16 => (value.as_f64() as f32).to_bits() as u64,
            _ => value.bits() as u64,
        };
        self.constant(elem, bits, lanes)
    }

    /// `0, c, 2c, …` over the lanes.
    pub fn steps(&mut self, elem: Elem, c: i64, lanes: usize) -> Value {
        let steps: Vec<i64> = (0..lanes as i64).map(|i| c.wrapping_mul(i)).collect();
        self.numbers(elem, &steps)
    }

    /// An integer for each lane; narrow ones wrap.
    pub fn numbers(&mut self, elem: Elem, numbers: &[i64]) -> Value {
        self.literal(elem, Elements::Each(numbers.iter().map(|&n| n as u64).collect()))
    }

    /// A value with these lanes: itself, or a scalar repeated.
    pub fn spread(&mut self, value: &Val, elem: Elem, at: At) -> Value {
        if value.lanes == at.lanes {
            return value.ssa;
        }
        let key = (value.ssa, at.lanes);
        let mut scope = at.scope;
        loop {
            if let Some(name) = self.scopes[scope.0].broadcasts.get(&key) {
                return *name;
            }
            match self.scopes[scope.0].parent {
                Some(parent) => scope = parent,
                None => break,
            }
        }
        let (from, to) = (elem.ty(1), elem.ty(at.lanes));
        let name = self.op(at.scope, Op::cast("vector.broadcast", value.ssa, from, to));
        self.scopes[at.scope.0].broadcasts.insert(key, name);
        name
    }
}
