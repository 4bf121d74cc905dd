//! Pointwise operations as `arith` and `math` operations, with the semantics of [`surject_ir::eval`].

use crate::CodegenError;
use crate::code::{Declaration, Op, Saturation, Symbol, Value};
use crate::lower::emit::{At, Emitter};
use crate::lower::halves::Payload;
use crate::lower::math;
use crate::machine::elem::{Elem, Type};
use surject_ir::{BinaryOp, DType, UnaryOp};

/// Is it a float of 16 bits, computed in `f32` and rounded?
fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}

impl Emitter<'_> {
    /// `name a, b : type`
    pub fn bin(&mut self, at: At, name: &'static str, a: Value, b: Value, elem: Elem) -> Value {
        self.op(at.scope, Op::same(name, [a, b], elem.ty(at.lanes)))
    }

    /// `name a : type`
    pub fn un(&mut self, at: At, name: &'static str, a: Value, elem: Elem) -> Value {
        self.op(at.scope, Op::same(name, [a], elem.ty(at.lanes)))
    }

    /// `arith.select`
    pub fn select(&mut self, at: At, c: Value, a: Value, b: Value, elem: Elem) -> Value {
        let (condition, ty) = ((c, Elem::I1.ty(at.lanes)), elem.ty(at.lanes));
        self.op(at.scope, Op::Select { condition, values: [a, b], ty })
    }

    /// A comparison of integers.
    pub fn cmpi(&mut self, at: At, predicate: &'static str, a: Value, b: Value, elem: Elem) -> Value {
        self.op(at.scope, Op::Compare { name: "arith.cmpi", predicate, sides: [a, b], ty: elem.ty(at.lanes) })
    }

    /// The larger or the smaller of two single floats; of equal ones, which may be zeros of both signs, the sign that both
    /// have or one. LLVM's own way takes signs through other registers, and an element that many updates go to waits for
    /// that: a `scatter` of maxima takes 1.3 to 1.8 times as long (Zen 4).
    fn largest(&mut self, at: At, op: BinaryOp, (x, y): (Value, Value), e: Elem) -> Value {
        let (order, join) = if op == BinaryOp::Max { ("ogt", "arith.andi") } else { ("olt", "arith.ori") };
        let bits = if e == Elem::F64 { Elem::I64 } else { Elem::I32 };
        let [first, second] = [(x, y), (y, x)].map(|(a, b)| {
            let larger = self.cmpf(at, order, a, b, e);
            let value = self.select(at, larger, a, b, e);
            self.cast(at, "arith.bitcast", value, e, bits)
        });
        let both = self.bin(at, join, first, second, bits);
        let both = self.cast(at, "arith.bitcast", both, bits, e);
        let unordered = self.cmpf(at, "uno", x, y, e);
        let none = self.bin(at, "arith.addf", x, y, e);
        self.select(at, unordered, none, both, e)
    }

    /// A comparison of floats.
    pub fn cmpf(&mut self, at: At, predicate: &'static str, a: Value, b: Value, elem: Elem) -> Value {
        self.op(at.scope, Op::Compare { name: "arith.cmpf", predicate, sides: [a, b], ty: elem.ty(at.lanes) })
    }

    /// A conversion operation between register types.
    pub fn cast(&mut self, at: At, name: &'static str, x: Value, from: Elem, to: Elem) -> Value {
        self.op(at.scope, Op::cast(name, x, from.ty(at.lanes), to.ty(at.lanes)))
    }

    /// A float constant.
    pub fn float(&mut self, at: At, elem: Elem, value: f64) -> Value {
        let bits = if elem == Elem::F64 { value.to_bits() } else { (value as f32).to_bits().into() };
        self.constant(elem, bits, at.lanes)
    }

    /// An integer constant.
    pub fn integer(&mut self, at: At, elem: Elem, value: i64) -> Value {
        self.constant(elem, value as u64, at.lanes)
    }

    /// Calls a function on every lane.
    pub fn call(&mut self, at: At, function: &str, args: &[Value], elem: Elem) -> Value {
        let one = elem.ty(1);
        let (name, parameters) = (function.to_string(), vec![one; args.len()]);
        self.declarations.insert(Declaration { name, parameters, result: Some(one) });
        let call = |em: &mut Self, args: &[Value]| {
            let args: Vec<(Value, Type)> = args.iter().map(|&a| (a, one)).collect();
            em.op(at.scope, Op::call(Symbol::Named(function.to_string()), args, Some(one)))
        };
        if at.lanes == 1 {
            let args: Vec<Value> = args.to_vec();
            return call(self, &args);
        }
        let ty = elem.ty(at.lanes);
        let mut result = self.constant(elem, 0, at.lanes);
        for lane in 0..at.lanes {
            let args: Vec<Value> =
                args.iter().map(|&vector| self.op(at.scope, Op::Extract { vector, lane, ty })).collect();
            let value = call(self, &args);
            result = self.op(at.scope, Op::Insert { value, vector: result, lane, ty });
        }
        result
    }

    /// A unary operation on a value of `dtype`.
    pub fn unary(&mut self, at: At, op: UnaryOp, dtype: DType, x: Value) -> Result<Value, CodegenError> {
        use UnaryOp::*;
        let e = Elem::of(dtype);
        if !dtype.is_float() {
            return self.integer_unary(at, op, dtype, x);
        }
        let exact = |name: &'static str| Some(name);
        let direct = match op {
            Neg => exact("arith.negf"),
            Abs => exact("math.absf"),
            Floor => exact("math.floor"),
            Ceil => exact("math.ceil"),
            RoundEven => exact("math.roundeven"),
            RoundAway => exact("math.round"),
            _ => None,
        };
        if let Some(name) = direct {
            return Ok(self.un(at, name, x, e));
        }
        let value = match op {
            Real => return Ok(x),
            IsFinite => {
                let size = self.un(at, "math.absf", x, e);
                let infinity = self.float(at, e, f64::INFINITY);
                return Ok(self.cmpf(at, "olt", size, infinity, e));
            }
            Sign => {
                let (zero, one) = (self.float(at, e, 0.0), self.float(at, e, 1.0));
                let unit = self.bin(at, "math.copysign", one, x, e);
                let other = self.cmpf(at, "one", x, zero, e);
                return Ok(self.select(at, other, unit, x, e));
            }
            Sqrt => self.un(at, "math.sqrt", x, e),
            _ => math::unary(self, at, op, e, x)?,
        };
        let payload = match op {
            Sqrt | Rsqrt | Exp | Expm1 | Log | Log1p | Logistic | Tanh | Erf | Sin | Cos => Payload::Upper,
            _ => Payload::Any,
        };
        Ok(self.round_half_of(at, dtype, value, payload))
    }

    fn integer_unary(&mut self, at: At, op: UnaryOp, dtype: DType, x: Value) -> Result<Value, CodegenError> {
        let e = Elem::of(dtype);
        Ok(match op {
            UnaryOp::Neg => {
                let zero = self.integer(at, e, 0);
                self.bin(at, "arith.subi", zero, x, e)
            }
            UnaryOp::Abs => {
                let zero = self.integer(at, e, 0);
                let negated = self.bin(at, "arith.subi", zero, x, e);
                let negative = self.cmpi(at, "slt", x, zero, e);
                self.select(at, negative, negated, x, e)
            }
            UnaryOp::Sign => {
                let (zero, one) = (self.integer(at, e, 0), self.integer(at, e, 1));
                if dtype.is_unsigned_int() {
                    return Ok(self.bin(at, "arith.minui", x, one, e));
                }
                let minus = self.integer(at, e, -1);
                let low = self.bin(at, "arith.minsi", x, one, e);
                let _ = zero;
                self.bin(at, "arith.maxsi", low, minus, e)
            }
            UnaryOp::Not => {
                let ones = self.integer(at, e, -1);
                self.bin(at, "arith.xori", x, ones, e)
            }
            UnaryOp::Popcount => self.un(at, "math.ctpop", x, e),
            UnaryOp::CountLeadingZeros => self.un(at, "math.ctlz", x, e),
            _ => return Err(CodegenError::malformed(format!("`{op}` of {dtype}"))),
        })
    }

    /// A binary operation on values of `dtype`.
    pub fn binary(
        &mut self,
        at: At,
        op: BinaryOp,
        dtype: DType,
        x: Value,
        y: Value,
    ) -> Result<Value, CodegenError> {
        use BinaryOp::*;
        let e = Elem::of(dtype);
        if !dtype.is_float() {
            return self.integer_binary(at, op, dtype, x, y);
        }
        let comparison = match op {
            Eq => Some("oeq"),
            Ne => Some("une"),
            Lt => Some("olt"),
            Le => Some("ole"),
            Gt => Some("ogt"),
            Ge => Some("oge"),
            _ => None,
        };
        if let Some(predicate) = comparison {
            return Ok(self.cmpf(at, predicate, x, y, e));
        }
        let value = match op {
            Add => self.bin(at, "arith.addf", x, y, e),
            Sub => self.bin(at, "arith.subf", x, y, e),
            Mul => self.bin(at, "arith.mulf", x, y, e),
            Div => self.bin(at, "arith.divf", x, y, e),
            Max | Min if at.lanes == 1 && matches!(e, Elem::F32 | Elem::F64) => {
                return Ok(self.largest(at, op, (x, y), e));
            }
            Max => return Ok(self.bin(at, "arith.maximumf", x, y, e)),
            Min => return Ok(self.bin(at, "arith.minimumf", x, y, e)),
            Rem => crate::lower::math::remainder(self, at, e, x, y),
            Pow | Atan2 => math::binary(self, at, op, e, x, y),
            NextAfter => return Ok(math::next_after(self, at, dtype, x, y)),
            _ => return Err(CodegenError::malformed(format!("`{op}` of {dtype}"))),
        };
        let payload = match op {
            Add | Sub | Mul | Div => Payload::Upper,
            _ => Payload::Any,
        };
        Ok(self.round_half_of(at, dtype, value, payload))
    }

    fn integer_binary(
        &mut self,
        at: At,
        op: BinaryOp,
        dtype: DType,
        x: Value,
        y: Value,
    ) -> Result<Value, CodegenError> {
        use BinaryOp::*;
        let e = Elem::of(dtype);
        let logical = dtype.is_bool();
        let signed = dtype.is_signed_int();
        let pick = |s: &'static str, u: &'static str| if signed { s } else { u };
        let comparison = match op {
            Eq => Some("eq"),
            Ne => Some("ne"),
            Lt => Some(pick("slt", "ult")),
            Le => Some(pick("sle", "ule")),
            Gt => Some(pick("sgt", "ugt")),
            Ge => Some(pick("sge", "uge")),
            _ => None,
        };
        if let Some(predicate) = comparison {
            return Ok(self.cmpi(at, predicate, x, y, e));
        }
        let simple = match op {
            Add | Max if logical => Some("arith.ori"),
            Mul | Min if logical => Some("arith.andi"),
            Add => Some("arith.addi"),
            Sub => Some("arith.subi"),
            Mul => Some("arith.muli"),
            And => Some("arith.andi"),
            Or => Some("arith.ori"),
            Xor => Some("arith.xori"),
            Max => Some(pick("arith.maxsi", "arith.maxui")),
            Min => Some(pick("arith.minsi", "arith.minui")),
            _ => None,
        };
        if let Some(name) = simple {
            return Ok(self.bin(at, name, x, y, e));
        }
        // Constants are named in the order in which they are first asked for.
        let (zero, _) = (self.integer(at, e, 0), self.integer(at, e, 1));
        Ok(match op {
            Div | Rem => self.integer_division(at, op, dtype, (x, y)),
            Shl | ShrArith | ShrLogical => {
                let width = self.integer(at, e, e.bits().into());
                let last = self.integer(at, e, i64::from(e.bits()) - 1);
                let inside = self.cmpi(at, "ult", y, width, e);
                let other = if op == ShrArith { &last } else { &zero };
                let amount = self.select(at, inside, y, *other, e);
                match op {
                    // The highest bit counts as the sign, of unsigned numbers as well.
                    ShrArith => self.bin(at, "arith.shrsi", x, amount, e),
                    _ => {
                        let name = if op == Shl { "arith.shli" } else { "arith.shrui" };
                        let shifted = self.bin(at, name, x, amount, e);
                        self.select(at, inside, shifted, zero, e)
                    }
                }
            }
            Pow => self.integer_power(at, dtype, x, y),
            _ => return Err(CodegenError::malformed(format!("`{op}` of {dtype}"))),
        })
    }

    /// A quotient or a remainder of integers, of every two numbers: the quotient by 0 has all bits, the remainder is the number
    /// itself. The divisor 1 stands in where dividing would be undefined.
    fn integer_division(&mut self, at: At, op: BinaryOp, dtype: DType, (x, y): (Value, Value)) -> Value {
        let (e, signed) = (Elem::of(dtype), dtype.is_signed_int());
        let (zero, one) = (self.integer(at, e, 0), self.integer(at, e, 1));
        // Compilers divide by constants without dividing.
        let in_lanes = at.lanes > 1 && !self.is_constant(y);
        let by_zero = self.cmpi(at, "eq", y, zero, e);
        let mut undefined = by_zero;
        if signed && (!in_lanes || e == Elem::I64) {
            let (minus, least) = (self.integer(at, e, -1), self.integer(at, e, 1i64 << (e.bits() - 1)));
            let (a, b) = (self.cmpi(at, "eq", x, least, e), self.cmpi(at, "eq", y, minus, e));
            let both = self.bin(at, "arith.andi", a, b, Elem::I1);
            undefined = self.bin(at, "arith.ori", undefined, both, Elem::I1);
        }
        let safe = self.select(at, undefined, one, y, e);
        let result = if in_lanes {
            self.divide_lanes(at, op, dtype, x, safe)
        } else {
            let name = match (op, signed) {
                (BinaryOp::Div, true) => "arith.divsi",
                (BinaryOp::Div, false) => "arith.divui",
                (_, true) => "arith.remsi",
                (_, false) => "arith.remui",
            };
            self.bin(at, name, x, safe, e)
        };
        // The most negative integer divided by 1 is itself, as it is by −1.
        let ones = self.integer(at, e, -1);
        let of_zero = if op == BinaryOp::Div { ones } else { x };
        self.select(at, by_zero, of_zero, result, e)
    }

    /// Powers by squaring, over the bits of the exponent.
    fn integer_power(&mut self, at: At, dtype: DType, x: Value, y: Value) -> Value {
        let e = Elem::of(dtype);
        let (zero, one) = (self.integer(at, e, 0), self.integer(at, e, 1));
        let (low, high, step) = (self.int(0), self.int(e.bits().into()), self.int(1));
        let scope = self.open(at.scope, Vec::new(), None);
        let iv = self.name();
        let inner = At { scope, lanes: at.lanes };
        let carried: Vec<Value> = (0..3).map(|_| self.name()).collect();
        let odd = self.bin(inner, "arith.andi", carried[2], one, e);
        let is_odd = self.cmpi(inner, "ne", odd, zero, e);
        let product = self.bin(inner, "arith.muli", carried[0], carried[1], e);
        let result = self.select(inner, is_odd, product, carried[0], e);
        let square = self.bin(inner, "arith.muli", carried[1], carried[1], e);
        let rest = self.bin(inner, "arith.shrui", carried[2], one, e);
        let ty = e.ty(at.lanes);
        let inits = [one, x, y];
        let carried: Vec<crate::lower::emit::Carried> = carried
            .into_iter()
            .zip(inits)
            .zip([result, square, rest])
            .map(|((name, init), next)| crate::lower::emit::Carried { name, init, ty, next })
            .collect();
        let bounds = crate::lower::emit::Bounds { low, high, step };
        let power = self.close_loop(scope, iv, &bounds, &carried)[0];
        if !dtype.is_signed_int() {
            return power;
        }
        // A negative exponent: ±1 for the bases ±1, else 0.
        let minus = self.integer(at, e, -1);
        let negative = self.cmpi(at, "slt", y, zero, e);
        let odd = self.bin(at, "arith.andi", y, one, e);
        let is_odd = self.cmpi(at, "ne", odd, zero, e);
        let sign = self.select(at, is_odd, minus, one, e);
        let is_minus = self.cmpi(at, "eq", x, minus, e);
        let is_one = self.cmpi(at, "eq", x, one, e);
        let of_minus = self.select(at, is_minus, sign, zero, e);
        let inverse = self.select(at, is_one, one, of_minus, e);
        self.select(at, negative, inverse, power, e)
    }

    /// A conversion.
    pub fn convert(&mut self, at: At, from: DType, to: DType, x: Value) -> Value {
        let (a, b) = (Elem::of(from), Elem::of(to));
        if to.is_bool() {
            return if from.is_float() {
                let zero = self.float(at, a, 0.0);
                self.cmpf(at, "une", x, zero, a)
            } else if from.is_bool() {
                x
            } else {
                let zero = self.integer(at, a, 0);
                self.cmpi(at, "ne", x, zero, a)
            };
        }
        match (from.is_float(), to.is_float()) {
            (true, true) => match (a, b) {
                (Elem::F64, Elem::F32) if is_half(to) => {
                    let odd = self.round_to_odd(at, x);
                    self.round_half(at, to, odd)
                }
                (Elem::F64, Elem::F32) => self.cast(at, "arith.truncf", x, a, b),
                (Elem::F32, Elem::F64) => self.cast(at, "arith.extf", x, a, b),
                _ => self.round_half(at, to, x),
            },
            (true, false) => self.integer_of(at, (a, b), to, x),
            (false, true) if from.is_bool() => {
                let (one, zero) = (self.float(at, b, 1.0), self.float(at, b, 0.0));
                self.select(at, x, one, zero, b)
            }
            (false, true) => {
                let name = if from.is_signed_int() { "arith.sitofp" } else { "arith.uitofp" };
                if is_half(to) && a.bits() <= 16 {
                    // What has 16 bits is a float, and what has 8 is a half.
                    let value = self.cast(at, name, x, a, Elem::F32);
                    return if a.bits() <= 8 {
                        value
                    } else {
                        self.round_half_of(at, to, value, Payload::Upper)
                    };
                }
                if to == DType::F16 {
                    // What is no float exactly is far beyond the largest half.
                    let value = self.cast(at, name, x, a, Elem::F32);
                    return self.round_half(at, to, value);
                }
                if is_half(to) {
                    // Rounded once: what does not fit in `f64` is far beyond the precision of a half.
                    let wide = self.cast(at, name, x, a, Elem::F64);
                    let odd = self.round_to_odd(at, wide);
                    return self.round_half(at, to, odd);
                }
                self.cast(at, name, x, a, b)
            }
            (false, false) => {
                if a.bits() > b.bits() {
                    self.cast(at, "arith.trunci", x, a, b)
                } else if a.bits() < b.bits() {
                    let name = if from.is_signed_int() { "arith.extsi" } else { "arith.extui" };
                    self.cast(at, name, x, a, b)
                } else {
                    x
                }
            }
        }
    }

    /// A float as an integer: towards zero, the nearest integer there is, and 0 for what is not a number. The argument
    /// is brought to where the machine's own conversion says the same.
    fn integer_of(&mut self, at: At, (a, b): (Elem, Elem), to: DType, x: Value) -> Value {
        let signed = to.is_signed_int();
        let Saturation { low, last, end, is_coarse, largest } = Saturation::of(a, b, signed);
        // Where the least integer is 0, the comparison with it does this for what is not a number.
        let mut value = x;
        if signed {
            let number = self.cmpf(at, "ord", x, x, a);
            let zero = self.float(at, a, 0.0);
            value = self.select(at, number, x, zero, a);
        }
        for (predicate, bound) in [("ogt", low), ("olt", last)] {
            let bound = self.float(at, a, bound);
            let inside = self.cmpf(at, predicate, value, bound, a);
            value = self.select(at, inside, value, bound, a);
        }
        // Narrow integers by way of wider ones that machines convert to.
        let wide = if b.bits() < 32 { Elem::I32 } else { b };
        let name = if signed || b.bits() < 32 { "arith.fptosi" } else { "arith.fptoui" };
        let mut result = self.cast(at, name, value, a, wide);
        if wide != b {
            result = self.cast(at, "arith.trunci", result, wide, b);
        }
        if !is_coarse {
            return result;
        }
        let end = self.float(at, a, end);
        let beyond = self.cmpf(at, "oge", x, end, a);
        let largest = self.constant(b, largest, at.lanes);
        self.select(at, beyond, largest, result, b)
    }

    /// Rounds `f64` to `f32` so that rounding again, to fewer bits, gives what rounding once would have.
    fn round_to_odd(&mut self, at: At, x: Value) -> Value {
        let (f, d, i) = (Elem::F32, Elem::F64, Elem::I32);
        let near = self.cast(at, "arith.truncf", x, d, f);
        let back = self.cast(at, "arith.extf", near, f, d);
        let (size, near_size) = (self.un(at, "math.absf", x, d), self.un(at, "math.absf", back, d));
        let beyond = self.cmpf(at, "ogt", near_size, size, d);
        let bits = self.cast(at, "arith.bitcast", near, f, i);
        let one = self.integer(at, i, 1);
        let lower = self.bin(at, "arith.subi", bits, one, i);
        let truncated = self.select(at, beyond, lower, bits, i);
        let odd = self.bin(at, "arith.ori", truncated, one, i);
        let inexact = self.cmpf(at, "one", x, back, d);
        let chosen = self.select(at, inexact, odd, bits, i);
        self.cast(at, "arith.bitcast", chosen, i, f)
    }

    /// The bits as another type of the same width.
    pub fn bitcast(&mut self, at: At, from: DType, to: DType, x: Value) -> Value {
        let raw = self.narrow(from, x, at);
        let (a, b) = (Elem::in_memory(from), Elem::in_memory(to));
        let raw = if a == b { raw } else { self.cast(at, "arith.bitcast", raw, a, b) };
        self.widen(to, raw, at)
    }

    /// Rounds to fewer exponent and mantissa bits.
    pub fn reduce_precision(
        &mut self,
        at: At,
        dtype: DType,
        exponent: u32,
        mantissa: u32,
        x: Value,
    ) -> Value {
        // A half is rounded as the `f32` that holds it; its own range and precision are no wider.
        let (exponent_bits, mantissa_bits) = if dtype == DType::F64 { (11, 52) } else { (8, 23) };
        let (own_exponent, own_mantissa) = match dtype {
            DType::F16 => (5, 10),
            DType::BF16 => (8, 7),
            _ => (exponent_bits, mantissa_bits),
        };
        let e = Elem::of(dtype);
        let i = e.int();
        let raw = self.cast(at, "arith.bitcast", x, e, i);
        let sign_mask = self.integer(at, i, 1i64 << (e.bits() - 1));
        let sign = self.bin(at, "arith.andi", raw, sign_mask, i);
        let infinity = self.integer(at, i, ((1i64 << exponent_bits) - 1) << mantissa_bits);
        let original = self.bin(at, "arith.xori", raw, sign, i);
        let is_nan = self.cmpi(at, "ugt", original, infinity, i);
        let mut bits = original;
        if mantissa < own_mantissa {
            let shift = mantissa_bits - mantissa;
            let last = 1i64 << shift;
            let amount = self.integer(at, i, shift.into());
            let one = self.integer(at, i, 1);
            let high = self.bin(at, "arith.shrui", bits, amount, i);
            let odd = self.bin(at, "arith.andi", high, one, i);
            let bias = self.integer(at, i, (last >> 1) - 1);
            let sum = self.bin(at, "arith.addi", bits, bias, i);
            let sum = self.bin(at, "arith.addi", sum, odd, i);
            let mask = self.integer(at, i, !(last - 1));
            bits = self.bin(at, "arith.andi", sum, mask, i);
        }
        if exponent < own_exponent {
            let bias = (1i64 << (exponent_bits - 1)) - 1;
            let reach = (1i64 << (exponent - 1)) - 1;
            let amount = self.integer(at, i, mantissa_bits.into());
            let power = self.bin(at, "arith.shrui", bits, amount, i);
            let (high, low) = (self.integer(at, i, bias + reach), self.integer(at, i, bias - reach));
            let zero = self.integer(at, i, 0);
            let (above, below) = (self.cmpi(at, "sgt", power, high, i), self.cmpi(at, "sle", power, low, i));
            let small = self.select(at, below, zero, bits, i);
            bits = self.select(at, above, infinity, small, i);
        }
        let signed = self.bin(at, "arith.ori", bits, sign, i);
        let value = self.cast(at, "arith.bitcast", signed, i, e);
        let result = self.select(at, is_nan, x, value, e);
        self.round_half(at, dtype, result)
    }
}
