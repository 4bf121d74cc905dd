//! Constants, values that are repeated over lanes, and affine expressions.

use crate::code::{Elements, Literal, Op, Value};
use crate::expression::address::{Lin, LoopId};
use crate::lower::emit::{At, Bounds, Emitter, Scope, ScopeId, Val};
use crate::machine::elem::{Elem, Type};
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

    /// An affine expression as an `i64`; that of lane 0 where a loop is a vector.
    pub fn lin(&mut self, lin: &Lin, scope: ScopeId) -> Value {
        if lin.terms.is_empty() {
            return self.int(lin.offset);
        }
        let home = self.home(scope, lin.loops());
        if let Some(name) = self.scopes[home.0].lins.get(lin) {
            return *name;
        }
        let inner: Vec<(LoopId, Value)> = self.scopes[home.0].binds.clone();
        let (mine, rest): (Vec<_>, Vec<_>) = lin.terms.iter().partition(|t| inner.iter().any(|b| b.0 == t.0));
        if mine.is_empty() {
            // A defect of the schedule, which the caller reports: no scope binds the loops that are left.
            self.unbound = true;
            return self.int(lin.offset);
        }
        let rest = Lin { terms: rest, offset: lin.offset };
        let mut sum = (rest != Lin::default()).then(|| {
            let outer = self.parent(home);
            self.lin(&rest, outer)
        });
        for (l, c) in mine {
            let Some((_, iv)) = inner.iter().find(|b| b.0 == l) else { continue };
            let term = if c == 1 {
                *iv
            } else {
                let c = self.int(c);
                self.arith(home, "arith.muli", *iv, c)
            };
            sum = Some(match sum {
                None => term,
                Some(sum) => self.arith(home, "arith.addi", sum, term),
            });
        }
        let name = sum.unwrap_or_else(|| self.int(0));
        self.scopes[home.0].lins.insert(lin.clone(), name);
        name
    }

    /// An affine expression over the lanes as integers of this type.
    pub fn lin_vector(&mut self, lin: &Lin, elem: Elem, at: At) -> Value {
        let base = self.lin(lin, at.scope);
        let home = self.home(at.scope, lin.loops());
        let narrow = if elem == Elem::I64 {
            base
        } else {
            self.op(home, Op::cast("arith.trunci", base, Type::I64, elem.ty(1)))
        };
        if at.lanes == 1 {
            return narrow;
        }
        let at = At { scope: home, lanes: at.lanes };
        let spread = self.spread(&Val { ssa: narrow, lanes: 1 }, elem, at);
        match self.vector_loop(home, lin.loops()) {
            None => spread,
            Some((l, _)) => {
                let steps = self.steps(elem, lin.coeff(l), at.lanes);
                self.op(home, Op::same("arith.addi", [spread, steps], elem.ty(at.lanes)))
            }
        }
    }
}
