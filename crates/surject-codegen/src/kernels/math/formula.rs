//! Formulas over the lanes of a vector: arithmetic on Rust values that writes operations.
//!
//! A [`Pen`] writes at one place. Its values are [`F`] (floats of either width), [`N`] (integers of the same width) and
//! [`B`] (truths); `a * b + 1.0` writes a product, a constant and a sum. Values of one formula belong to one pen.

use crate::code::{Op, Value};
use crate::machine::elem::{Elem, Type};
use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// What a pen writes to.
pub trait Paper {
    /// Writes an operation: its value.
    fn write(&mut self, operation: Op) -> Value;
    /// The same bits in so many lanes.
    fn literal(&mut self, elem: Elem, bits: u64, lanes: usize) -> Value;
    /// A table.
    fn list(&mut self, values: &[f32]) -> Value;
    /// So many of all lanes of a value, from the first one on.
    fn part(&mut self, value: Value, all: usize, first: usize, lanes: usize) -> Value;
    /// The lanes of values one after the other.
    fn join(&mut self, parts: Vec<Value>) -> Value;
}

/// Writes a formula.
pub struct Pen<'p> {
    paper: RefCell<&'p mut dyn Paper>,
    lanes: usize,
    /// Entries of the tables that the machine has instructions for ([`crate::Target::lane_permute_width`]).
    tables: usize,
}

/// Floats, one a lane.
#[derive(Clone, Copy)]
pub struct F<'p> {
    pen: &'p Pen<'p>,
    value: Value,
    e: Elem,
}

/// Integers, one a lane.
#[derive(Clone, Copy)]
pub struct N<'p> {
    pen: &'p Pen<'p>,
    value: Value,
    e: Elem,
}

/// Truths, one a lane.
#[derive(Clone, Copy)]
pub struct B<'p> {
    pen: &'p Pen<'p>,
    value: Value,
}

impl<'p> Pen<'p> {
    /// A pen that writes values of so many lanes on this paper, for a machine with tables of so many entries.
    pub fn on(paper: &'p mut dyn Paper, lanes: usize, tables: usize) -> Pen<'p> {
        Pen { paper: RefCell::new(paper), lanes, tables }
    }

    /// A value that is there.
    pub fn value(&'p self, value: Value, e: Elem) -> F<'p> {
        F { pen: self, value, e }
    }

    fn write(&self, operation: Op) -> Value {
        self.paper.borrow_mut().write(operation)
    }

    fn literal(&self, e: Elem, bits: u64) -> Value {
        self.paper.borrow_mut().literal(e, bits, self.lanes)
    }

    fn list(&self, values: &[f32]) -> Value {
        self.paper.borrow_mut().list(values)
    }

    fn ty(&self, e: Elem) -> Type {
        e.ty(self.lanes)
    }

    fn two(&self, operation: &'static str, a: Value, b: Value, e: Elem) -> Value {
        self.write(Op::same(operation, [a, b], self.ty(e)))
    }

    fn one(&self, operation: &'static str, a: Value, e: Elem) -> Value {
        self.write(Op::same(operation, [a], self.ty(e)))
    }

    fn cast(&self, operation: &'static str, a: Value, from: Elem, to: Elem) -> Value {
        self.write(Op::cast(operation, a, self.ty(from), self.ty(to)))
    }

    fn compare(&self, name: &'static str, predicate: &'static str, sides: [Value; 2], e: Elem) -> Value {
        self.write(Op::Compare { name, predicate, sides, ty: self.ty(e) })
    }

    fn select(&self, c: Value, a: Value, b: Value, e: Elem) -> Value {
        self.write(Op::Select { condition: (c, self.ty(Elem::I1)), values: [a, b], ty: self.ty(e) })
    }
}

/// An operand: a value or a number.
pub trait Arg<'p> {
    /// The value, with the type of the other operand.
    fn beside(self, other: F<'p>) -> F<'p>;
}

impl<'p> Arg<'p> for F<'p> {
    fn beside(self, _: F<'p>) -> F<'p> {
        self
    }
}

impl<'p> Arg<'p> for f64 {
    fn beside(self, other: F<'p>) -> F<'p> {
        other.number(self)
    }
}

impl<'p> F<'p> {
    fn of(self, value: Value) -> F<'p> {
        F { value, ..self }
    }

    /// The name of the value.
    pub fn ssa(self) -> Value {
        self.value
    }

    /// Is it an `f64`?
    pub fn is_double(self) -> bool {
        self.e == Elem::F64
    }

    /// A number in every lane.
    pub fn number(self, value: f64) -> F<'p> {
        let bits = if self.is_double() { value.to_bits() } else { (value as f32).to_bits().into() };
        self.of(self.pen.literal(self.e, bits))
    }

    /// `self · b + c`, rounded once.
    pub fn fma(self, b: impl Arg<'p>, c: impl Arg<'p>) -> F<'p> {
        let (b, c, pen) = (b.beside(self), c.beside(self), self.pen);
        self.of(pen.write(Op::same("math.fma", [self.value, b.value, c.value], pen.ty(self.e))))
    }

    /// `self · 2^n` for a whole `n`, rounded once, whatever becomes of it: one instruction of machines with tables of
    /// sixteen ([`crate::Target::lane_permute_width`]), `None` elsewhere.
    pub fn scaled(self, n: F<'p>) -> Option<F<'p>> {
        let (pen, e, lanes) = (self.pen, self.e, self.pen.lanes);
        let (widest, name) = if self.is_double() { (8, "pd") } else { (16, "ps") };
        let part = lanes.min(widest);
        if pen.tables < 16 || !lanes.is_power_of_two() || part < widest / 4 {
            return None;
        }
        let (bits, ty) = (part * if self.is_double() { 64 } else { 32 }, e.ty(part));
        // All lanes; and rounded as everything is, which the widest form has to be told.
        let mut given = vec![if part == 16 { (Elem::I16, 0xffff) } else { (Elem::I8, 0xff) }];
        if bits == 512 {
            given.push((Elem::I32, 4));
        }
        let given: Vec<(Value, Type)> = (given.iter())
            .map(|&(e, value)| (pen.paper.borrow_mut().literal(e, value, 1), e.ty(1)))
            .collect();
        let mut parts = Vec::new();
        for first in (0..lanes).step_by(part) {
            let take = |f: F<'p>| (pen.paper.borrow_mut().part(f.value, lanes, first, part), ty);
            let (y, n) = (take(self), take(n));
            let operands = [&[y, n, y], &given[..]].concat();
            let scaled = format!("llvm.x86.avx512.mask.scalef.{name}.{bits}");
            parts.push(pen.write(Op::intrinsic(scaled, operands, Some(ty))));
        }
        let whole = pen.paper.borrow_mut().join(parts);
        Some(self.of(whole))
    }

    /// The inverse of the square root to 2^-14, its ends included: one instruction of machines with tables of sixteen
    /// ([`crate::Target::lane_permute_width`]), of as many lanes.
    pub fn near_inverse_root(self) -> F<'p> {
        let (pen, ty) = (self.pen, Elem::F32.ty(16));
        let all = pen.paper.borrow_mut().literal(Elem::I16, 0xffff, 1);
        let operands = [(self.value, ty), (self.value, ty), (all, Elem::I16.ty(1))];
        self.of(pen.write(Op::intrinsic("llvm.x86.avx512.rsqrt14.ps.512", operands, Some(ty))))
    }

    /// The inverse of the square root of what is no subnormal number, to 3 · 2^-13, its ends included: one instruction of
    /// machines with tables of eight, of as many lanes.
    pub fn near_inverse_root_of_eight(self) -> F<'p> {
        let ty = Elem::F32.ty(8);
        self.of(self.pen.write(Op::intrinsic("llvm.x86.avx.rsqrt.ps.256", [(self.value, ty)], Some(ty))))
    }

    /// A polynomial, highest coefficient first.
    pub fn poly(self, coefficients: &[f64]) -> F<'p> {
        let mut sum = self.number(coefficients[0]);
        for &c in &coefficients[1..] {
            sum = sum.fma(self, c);
        }
        sum
    }

    /// The absolute value.
    pub fn abs(self) -> F<'p> {
        self.of(self.pen.one("math.absf", self.value, self.e))
    }

    /// The square root.
    pub fn sqrt(self) -> F<'p> {
        self.of(self.pen.one("math.sqrt", self.value, self.e))
    }

    /// The largest integer not above.
    pub fn floor(self) -> F<'p> {
        self.of(self.pen.one("math.floor", self.value, self.e))
    }

    /// With the sign of another.
    pub fn with_sign(self, sign: F<'p>) -> F<'p> {
        self.of(self.pen.two("math.copysign", self.value, sign.value, self.e))
    }

    /// As `f64`.
    #[cfg(test)]
    pub fn widen(self) -> F<'p> {
        if self.is_double() {
            return self;
        }
        F {
            pen: self.pen,
            value: self.pen.cast("arith.extf", self.value, Elem::F32, Elem::F64),
            e: Elem::F64,
        }
    }

    /// As `f32`.
    #[cfg(test)]
    pub fn narrow(self) -> F<'p> {
        F {
            pen: self.pen,
            value: self.pen.cast("arith.truncf", self.value, Elem::F64, Elem::F32),
            e: Elem::F32,
        }
    }

    /// Towards zero, of what an integer of the same width can be.
    pub fn to_integer(self) -> N<'p> {
        let e = self.e.int();
        N { pen: self.pen, value: self.pen.cast("arith.fptosi", self.value, self.e, e), e }
    }

    /// The bits.
    pub fn bits(self) -> N<'p> {
        let e = self.e.int();
        N { pen: self.pen, value: self.pen.cast("arith.bitcast", self.value, self.e, e), e }
    }

    fn compare(self, predicate: &'static str, other: impl Arg<'p>) -> B<'p> {
        let sides = [self.value, other.beside(self).value];
        B { pen: self.pen, value: self.pen.compare("arith.cmpf", predicate, sides, self.e) }
    }

    /// Less; false for NaN.
    pub fn lt(self, other: impl Arg<'p>) -> B<'p> {
        self.compare("olt", other)
    }

    /// Greater; false for NaN.
    pub fn gt(self, other: impl Arg<'p>) -> B<'p> {
        self.compare("ogt", other)
    }

    /// Not greater; false for NaN.
    pub fn at_most(self, other: impl Arg<'p>) -> B<'p> {
        self.compare("ole", other)
    }

    /// Equal; false for NaN.
    pub fn equal(self, other: impl Arg<'p>) -> B<'p> {
        self.compare("oeq", other)
    }

    /// Not equal; true for NaN.
    pub fn unequal(self, other: impl Arg<'p>) -> B<'p> {
        self.compare("une", other)
    }

    /// Is either NaN?
    pub fn unordered(self, other: F<'p>) -> B<'p> {
        self.compare("uno", other)
    }

    /// Not below `low` and not above `high`; NaN stays.
    pub fn clamp(self, low: f64, high: f64) -> F<'p> {
        self.not_below(low).not_above(high)
    }

    /// Not below a number; NaN stays.
    pub fn not_below(self, low: f64) -> F<'p> {
        self.lt(low).pick(self.number(low), self)
    }

    /// Not above a number; NaN stays.
    pub fn not_above(self, high: f64) -> F<'p> {
        self.gt(high).pick(self.number(high), self)
    }

    /// The nearest integer to `self · factor`, for products below 2^21 (2^50 for `f64`), as a float and as an integer.
    /// What is not finite gives NaN and any integer.
    pub fn nearest(self, factor: f64) -> (F<'p>, N<'p>) {
        let n = self.nearest_and(factor, 0);
        (n.float, n.integer())
    }

    /// The same, of what is about to be an exponent.
    pub fn exponent(self, factor: f64) -> Exponent<'p> {
        self.nearest_and(factor, 2 * bias(self.e))
    }

    fn nearest_and(self, factor: f64, more: i64) -> Exponent<'p> {
        // The sum with 1.5 · 2^mantissa leaves the rounded integer in the low bits.
        let magic = more as f64 + if self.is_double() { 6_755_399_441_055_744.0 } else { 12_582_912.0 };
        let base = if self.is_double() { magic.to_bits() as i64 } else { (magic as f32).to_bits().into() };
        let shifted = self.fma(factor, magic);
        Exponent { float: shifted - magic, bits: shifted.bits(), base }
    }

    /// The nearest integer to `self · factor`, which chooses an entry of a table by its last bits.
    pub fn piece(self, factor: f64) -> (F<'p>, Piece<'p>) {
        let magic = self.number(12_582_912.0);
        let shifted = self.fma(factor, magic);
        (shifted - magic, Piece(shifted.bits()))
    }
}

/// The exponent of 1, as it stands in the bits of a float of this width.
fn bias(e: Elem) -> i64 {
    if matches!(e, Elem::F64 | Elem::I64) { 1023 } else { 127 }
}

/// The bits of its mantissa.
fn mantissa(e: Elem) -> i64 {
    if matches!(e, Elem::F64 | Elem::I64) { 52 } else { 23 }
}

/// An integer `n`, as a float and above a base: for [`F::exponent`] with twice the exponent of 1 in the low bits, so that
/// powers of two come from shifts.
#[derive(Clone, Copy)]
pub struct Exponent<'p> {
    pub float: F<'p>,
    bits: N<'p>,
    base: i64,
}

impl<'p> Exponent<'p> {
    /// As an integer.
    pub fn integer(self) -> N<'p> {
        self.bits - self.base
    }

    /// Two powers of two whose product is `2^n`, which alone may be subnormal or too large: from -254 on (-2046 for `f64`),
    /// where both are zero.
    pub fn powers(self) -> [F<'p>; 2] {
        let mantissa = mantissa(self.float.e);
        let half = self.bits.shr(1).shl(mantissa);
        [half.as_bits(), (self.bits.shl(mantissa) - half).as_bits()]
    }
}

/// The number of an entry of a table, or of two side by side, one a lane, of as many lanes as a table has entries.
#[derive(Clone, Copy)]
pub struct Piece<'p>(N<'p>);

impl<'p> Piece<'p> {
    /// The entries, by as many bits as number them: one instruction of machines with tables of sixteen
    /// ([`crate::Target::lane_permute_width`]).
    pub fn take(self, entries: &[f32; 16]) -> F<'p> {
        let pen = self.0.pen;
        let table = pen.list(entries);
        let (floats, numbers) = (Elem::F32.ty(16), Elem::I32.ty(16));
        let operands = [(table, floats), (self.0.value, numbers)];
        let value = pen.write(Op::intrinsic("llvm.x86.avx512.permvar.sf.512", operands, Some(floats)));
        F { pen, value, e: Elem::F32 }
    }

    /// As [`Piece::take`], of two tables of sixteen side by side, by the last five bits.
    pub fn take_of_two(self, entries: &[f32; 32]) -> F<'p> {
        let pen = self.0.pen;
        let [low, high] = [&entries[..16], &entries[16..]].map(|half| pen.list(half));
        let (floats, numbers) = (Elem::F32.ty(16), Elem::I32.ty(16));
        let operands = [(low, floats), (self.0.value, numbers), (high, floats)];
        let value = pen.write(Op::intrinsic("llvm.x86.avx512.vpermi2var.ps.512", operands, Some(floats)));
        F { pen, value, e: Elem::F32 }
    }
}

impl<'p> N<'p> {
    fn of(self, value: Value) -> N<'p> {
        N { value, ..self }
    }

    /// A number in every lane.
    pub fn number(self, value: i64) -> N<'p> {
        self.of(self.pen.literal(self.e, value as u64))
    }

    fn with(self, operation: &'static str, other: N<'p>) -> N<'p> {
        self.of(self.pen.two(operation, self.value, other.value, self.e))
    }

    /// Does it lie below a bound, as a number without a sign?
    pub fn below(self, bound: i64) -> B<'p> {
        let bound = self.number(bound);
        B { pen: self.pen, value: self.pen.compare("arith.cmpi", "ult", [self.value, bound.value], self.e) }
    }

    /// Chooses an entry of a table by its last bits.
    pub fn piece(self) -> Piece<'p> {
        Piece(self)
    }

    /// Shifted left.
    pub fn shl(self, by: i64) -> N<'p> {
        self.with("arith.shli", self.number(by))
    }

    /// Shifted right, filled with zeros.
    pub fn shr(self, by: i64) -> N<'p> {
        self.with("arith.shrui", self.number(by))
    }

    /// Shifted right, filled with the sign.
    pub fn halve(self, by: i64) -> N<'p> {
        self.with("arith.shrsi", self.number(by))
    }

    /// The float with these bits.
    pub fn as_bits(self) -> F<'p> {
        let e = if self.e == Elem::I64 { Elem::F64 } else { Elem::F32 };
        F { pen: self.pen, value: self.pen.cast("arith.bitcast", self.value, self.e, e), e }
    }

    /// The same number as a float.
    pub fn to_float(self) -> F<'p> {
        let e = if self.e == Elem::I64 { Elem::F64 } else { Elem::F32 };
        F { pen: self.pen, value: self.pen.cast("arith.sitofp", self.value, self.e, e), e }
    }

    /// `2^self` for what is a normal number.
    pub fn power_of_two(self) -> F<'p> {
        (self + bias(self.e)).shl(mantissa(self.e)).as_bits()
    }

    /// Is it zero?
    pub fn is_zero(self) -> B<'p> {
        let zero = self.number(0);
        B { pen: self.pen, value: self.pen.compare("arith.cmpi", "eq", [self.value, zero.value], self.e) }
    }
}

impl<'p> B<'p> {
    /// The first where it holds, else the second.
    pub fn pick(self, x: F<'p>, y: impl Arg<'p>) -> F<'p> {
        let y = y.beside(x);
        x.of(self.pen.select(self.value, x.value, y.value, x.e))
    }

    /// The name of the value.
    pub fn ssa(self) -> Value {
        self.value
    }

    fn with(self, operation: &'static str, other: B<'p>) -> B<'p> {
        B { pen: self.pen, value: self.pen.two(operation, self.value, other.value, Elem::I1) }
    }
}

macro_rules! arithmetic {
    ($($trait:ident $method:ident $operation:literal)*) => { $(
        impl<'p, A: Arg<'p>> $trait<A> for F<'p> {
            type Output = F<'p>;
            fn $method(self, other: A) -> F<'p> {
                let other = other.beside(self);
                self.of(self.pen.two($operation, self.value, other.value, self.e))
            }
        }
    )* };
}

arithmetic! { Add add "arith.addf" Sub sub "arith.subf" Mul mul "arith.mulf" Div div "arith.divf" }

impl<'p> Neg for F<'p> {
    type Output = F<'p>;
    fn neg(self) -> F<'p> {
        self.of(self.pen.one("arith.negf", self.value, self.e))
    }
}

macro_rules! bitwise {
    ($($trait:ident $method:ident $operation:literal)*) => { $(
        impl<'p> $trait<N<'p>> for N<'p> {
            type Output = N<'p>;
            fn $method(self, other: N<'p>) -> N<'p> {
                self.with($operation, other)
            }
        }

        impl<'p> $trait<i64> for N<'p> {
            type Output = N<'p>;
            fn $method(self, other: i64) -> N<'p> {
                self.with($operation, self.number(other))
            }
        }
    )* };
}

bitwise! {
    Add add "arith.addi" Sub sub "arith.subi" BitAnd bitand "arith.andi" BitOr bitor "arith.ori" BitXor bitxor "arith.xori"
}

impl<'p> Not for B<'p> {
    type Output = B<'p>;
    fn not(self) -> B<'p> {
        let yes = self.pen.literal(Elem::I1, 1);
        self.with("arith.xori", B { value: yes, ..self })
    }
}

impl<'p> BitAnd for B<'p> {
    type Output = B<'p>;
    fn bitand(self, other: B<'p>) -> B<'p> {
        self.with("arith.andi", other)
    }
}

impl<'p> BitOr for B<'p> {
    type Output = B<'p>;
    fn bitor(self, other: B<'p>) -> B<'p> {
        self.with("arith.ori", other)
    }
}
