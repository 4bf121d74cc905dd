//! Complex numbers as pairs of real nodes.

use crate::CodegenError;
use crate::expression::dag::{Dag, Node, NodeId, Parts};
use surject_ir::{AccOp, BinaryOp, DType, Scalar, UnaryOp};

/// Only sums of complex numbers are sums of their parts; every other accumulation would need both at once.
pub fn accumulates_by_parts(op: AccOp) -> Result<(), CodegenError> {
    match op {
        AccOp::Add | AccOp::Set => Ok(()),
        _ => Err(CodegenError::unsupported(format!("an accumulation with `{op}` of complex numbers"))),
    }
}

/// A value that an accumulation joins to its neutral element and to nothing else. It is the value, but for sums, which are
/// never `-0.0`, and for products: those of complex numbers mix the parts, and `(1 + 0i) · (∞ + 0i)` is not a number.
pub fn once(dag: &mut Dag, op: AccOp, x: Parts) -> Result<Parts, CodegenError> {
    let Some(im) = x.im.filter(|_| op == AccOp::Mul) else {
        return Ok(map(dag, x, |dag, x| crate::expression::polyphase::started(dag, op, x)));
    };
    let one = Field::of(dag, im).one();
    binary(dag, BinaryOp::Mul, Parts { re: one.re, im: Some(one.im) }, x)
}

/// Applies a function to each part.
pub fn map(dag: &mut Dag, x: Parts, f: impl Fn(&mut Dag, NodeId) -> NodeId) -> Parts {
    let re = f(dag, x.re);
    Parts { re, im: x.im.map(|im| f(dag, im)) }
}

/// Applies a function to the pairs of parts.
pub fn zip(dag: &mut Dag, x: Parts, y: Parts, f: impl Fn(&mut Dag, NodeId, NodeId) -> NodeId) -> Parts {
    let re = f(dag, x.re, y.re);
    let im = x.im.zip(y.im).map(|(a, b)| f(dag, a, b));
    Parts { re, im }
}

/// A constant.
pub fn constant(dag: &mut Dag, value: Scalar) -> Parts {
    let dtype = value.dtype();
    if !dtype.is_complex() {
        return Parts { re: dag.constant(value), im: None };
    }
    let part = dtype.part();
    let re = dag.constant(Scalar::from_bits(part, value.bits()));
    let im = dag.constant(Scalar::from_bits(part, value.bits() >> part.bits()));
    Parts { re, im: Some(im) }
}

/// A real value as a value of `dtype`, which may be complex.
pub fn real(dag: &mut Dag, x: NodeId, dtype: DType) -> Parts {
    let im = dtype.is_complex().then(|| dag.constant(Scalar::zero(dtype.part())));
    Parts { re: x, im }
}

/// A conversion.
pub fn convert(dag: &mut Dag, x: Parts, to: DType) -> Parts {
    let cast = |dag: &mut Dag, x: NodeId| {
        if dag[x].dtype == to.part() { x } else { dag.add(Node::Convert(x), to.part()) }
    };
    match x.im {
        None => {
            let re = cast(dag, x.re);
            real(dag, re, to)
        }
        Some(_) if to.is_complex() => map(dag, x, cast),
        Some(im) if to.is_bool() => {
            let (a, b) = (cast(dag, x.re), cast(dag, im));
            Parts { re: dag.binary(BinaryOp::Or, a, b), im: None }
        }
        Some(_) => Parts { re: cast(dag, x.re), im: None },
    }
}

/// A unary operation with a result of `dtype`.
pub fn unary(dag: &mut Dag, op: UnaryOp, x: Parts, dtype: DType) -> Result<Parts, CodegenError> {
    use UnaryOp::*;
    let Some(im) = x.im else {
        return Ok(Parts {
            re: match op {
                Real => x.re,
                Imag => dag.constant(Scalar::zero(dtype)),
                _ => dag.add(Node::Unary(op, x.re), dtype),
            },
            im: None,
        });
    };
    let alone = |re| Parts { re, im: None };
    Ok(match op {
        Real => alone(x.re),
        Imag => alone(im),
        Neg => map(dag, x, |dag, x| dag.unary(Neg, x)),
        Abs => alone(Field::of(dag, x.re).modulus(Z { re: x.re, im })),
        _ => {
            let z = widened(dag, x.re, im);
            let f = &mut Field { double: dtype == DType::C128, ..Field::of(dag, z.re) };
            let z = match op {
                Sign => f.sign(z),
                Exp => f.exp(z),
                Expm1 => f.expm1(z),
                Log => f.log(z),
                Log1p => f.log1p(z),
                Logistic => f.logistic(z),
                Sqrt => f.sqrt(z),
                Rsqrt => f.rsqrt(z),
                Sin => f.sin(z),
                Cos => f.cos(z),
                Tan => f.tan(z),
                Tanh => f.tanh(z),
                _ => return Err(CodegenError::unsupported(format!("`{op}` of complex numbers"))),
            };
            narrowed(dag, z, dtype)
        }
    })
}

/// A binary operation.
pub fn binary(dag: &mut Dag, op: BinaryOp, x: Parts, y: Parts) -> Result<Parts, CodegenError> {
    use BinaryOp::*;
    if op == Complex {
        return Ok(Parts { re: x.re, im: Some(y.re) });
    }
    let (Some(xi), Some(yi)) = (x.im, y.im) else {
        return Ok(Parts { re: dag.binary(op, x.re, y.re), im: None });
    };
    Ok(match op {
        Add | Sub => zip(dag, x, y, |dag, x, y| dag.binary(op, x, y)),
        Mul => {
            let z = Field::of(dag, x.re).multiply(Z { re: x.re, im: xi }, Z { re: y.re, im: yi });
            Parts { re: z.re, im: Some(z.im) }
        }
        Eq | Ne => {
            let (a, b) = (dag.binary(op, x.re, y.re), dag.binary(op, xi, yi));
            Parts { re: dag.binary(if op == Eq { And } else { Or }, a, b), im: None }
        }
        Max | Min => {
            let first = Field::of(dag, x.re).first_wins(op, Z { re: x.re, im: xi }, Z { re: y.re, im: yi });
            zip(dag, x, y, |dag, x, y| {
                let dtype = dag[x].dtype;
                dag.add(Node::Select(first, x, y), dtype)
            })
        }
        Div | Pow | Atan2 => {
            let dtype = if dag[x.re].dtype == DType::F32 { DType::C64 } else { DType::C128 };
            let (x, y) = (widened(dag, x.re, xi), widened(dag, y.re, yi));
            let f = &mut Field::of(dag, x.re);
            let z = match op {
                Div => f.divide(x, y),
                Pow => f.pow(x, y),
                _ => f.atan2(x, y),
            };
            narrowed(dag, z, dtype)
        }
        _ => return Err(CodegenError::unsupported(format!("`{op}` of complex numbers"))),
    })
}

/// A complex number with both parts.
#[derive(Clone, Copy)]
pub(crate) struct Z {
    pub(crate) re: NodeId,
    pub(crate) im: NodeId,
}

/// A number whose functions are computed in `f64`: rounded once, and no square of an `f32` overflows.
fn widened(dag: &mut Dag, re: NodeId, im: NodeId) -> Z {
    let mut wide = |x| if dag[x].dtype == DType::F64 { x } else { dag.add(Node::Convert(x), DType::F64) };
    Z { re: wide(re), im: wide(im) }
}

/// A result as a complex number of type `dtype`.
fn narrowed(dag: &mut Dag, z: Z, dtype: DType) -> Parts {
    convert(dag, Parts { re: z.re, im: Some(z.im) }, dtype)
}

/// Writes functions of complex numbers with parts of one float type. They are those of the interpreter, with its
/// infinities and zeros.
pub(crate) struct Field<'d> {
    pub(crate) dag: &'d mut Dag,
    pub(crate) part: DType,
    /// Are the results rounded to `f64`, and not to `f32`?
    pub(crate) double: bool,
}

impl<'d> Field<'d> {
    /// Functions of numbers with parts like this one.
    fn of(dag: &'d mut Dag, like: NodeId) -> Field<'d> {
        let part = dag[like].dtype;
        Field { dag, part, double: part == DType::F64 }
    }

    pub(crate) fn constant(&mut self, value: f64) -> NodeId {
        self.dag.constant(Scalar::from_f64(self.part, value))
    }

    pub(crate) fn un(&mut self, op: UnaryOp, x: NodeId) -> NodeId {
        self.dag.unary(op, x)
    }

    pub(crate) fn op(&mut self, op: BinaryOp, x: NodeId, y: NodeId) -> NodeId {
        self.dag.binary(op, x, y)
    }

    pub(crate) fn add(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.op(BinaryOp::Add, x, y)
    }

    pub(crate) fn sub(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.op(BinaryOp::Sub, x, y)
    }

    pub(crate) fn mul(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.op(BinaryOp::Mul, x, y)
    }

    pub(crate) fn div(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.op(BinaryOp::Div, x, y)
    }

    pub(crate) fn and(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.op(BinaryOp::And, x, y)
    }

    pub(crate) fn or(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.op(BinaryOp::Or, x, y)
    }

    pub(crate) fn not(&mut self, x: NodeId) -> NodeId {
        self.un(UnaryOp::Not, x)
    }

    pub(crate) fn scaled(&mut self, x: NodeId, factor: f64) -> NodeId {
        let factor = self.constant(factor);
        self.mul(x, factor)
    }

    /// Does `x` compare so with a constant?
    pub(crate) fn is(&mut self, op: BinaryOp, x: NodeId, value: f64) -> NodeId {
        let value = self.constant(value);
        self.op(op, x, value)
    }

    pub(crate) fn is_zero(&mut self, x: NodeId) -> NodeId {
        self.is(BinaryOp::Eq, x, 0.0)
    }

    pub(crate) fn is_nan(&mut self, x: NodeId) -> NodeId {
        self.op(BinaryOp::Ne, x, x)
    }

    pub(crate) fn is_infinite(&mut self, x: NodeId) -> NodeId {
        let size = self.un(UnaryOp::Abs, x);
        self.is(BinaryOp::Eq, size, f64::INFINITY)
    }

    pub(crate) fn is_finite(&mut self, x: NodeId) -> NodeId {
        self.dag.add(Node::Unary(UnaryOp::IsFinite, x), DType::I1)
    }

    /// Does this hold of a part?
    pub(crate) fn any(&mut self, z: Z, holds: fn(&mut Self, NodeId) -> NodeId) -> NodeId {
        let (a, b) = (holds(self, z.re), holds(self, z.im));
        self.or(a, b)
    }

    /// Does this hold of both parts?
    pub(crate) fn both(&mut self, z: Z, holds: fn(&mut Self, NodeId) -> NodeId) -> NodeId {
        let (a, b) = (holds(self, z.re), holds(self, z.im));
        self.and(a, b)
    }

    pub(crate) fn select(&mut self, condition: NodeId, x: NodeId, y: NodeId) -> NodeId {
        self.dag.add(Node::Select(condition, x, y), self.part)
    }

    pub(crate) fn select_both(&mut self, condition: NodeId, x: Z, y: Z) -> Z {
        Z { re: self.select(condition, x.re, y.re), im: self.select(condition, x.im, y.im) }
    }

    /// The absolute value of `x` with the sign of `sign`, also of a zero.
    pub(crate) fn with_sign(&mut self, x: NodeId, sign: NodeId) -> NodeId {
        let bits = if self.part == DType::F64 { DType::U64 } else { DType::U32 };
        let top = self.dag.constant(Scalar::from_bits(bits, 1 << (bits.bits() - 1)));
        let x = self.un(UnaryOp::Abs, x);
        let (x, sign) = (self.dag.add(Node::Bitcast(x), bits), self.dag.add(Node::Bitcast(sign), bits));
        let sign = self.and(sign, top);
        let signed = self.or(x, sign);
        self.dag.add(Node::Bitcast(signed), self.part)
    }

    pub(crate) fn one(&mut self) -> Z {
        Z { re: self.constant(1.0), im: self.constant(0.0) }
    }

    pub(crate) fn sum(&mut self, x: Z, y: Z) -> Z {
        Z { re: self.add(x.re, y.re), im: self.add(x.im, y.im) }
    }

    /// `x` times *i*.
    pub(crate) fn turned(&mut self, x: Z) -> Z {
        Z { re: self.un(UnaryOp::Neg, x.im), im: x.re }
    }

    /// `x` times −*i*.
    pub(crate) fn turned_back(&mut self, x: Z) -> Z {
        Z { re: x.im, im: self.un(UnaryOp::Neg, x.re) }
    }

    pub(crate) fn multiply(&mut self, x: Z, y: Z) -> Z {
        let (rr, ii) = (self.mul(x.re, y.re), self.mul(x.im, y.im));
        let (ri, ir) = (self.mul(x.re, y.im), self.mul(x.im, y.re));
        Z { re: self.sub(rr, ii), im: self.add(ri, ir) }
    }

    /// Is `x` the maximum (or minimum), in lexicographic order? One with a NaN part wins.
    fn first_wins(&mut self, op: BinaryOp, x: Z, y: Z) -> NodeId {
        let (strict, weak) =
            if op == BinaryOp::Max { (BinaryOp::Gt, BinaryOp::Ge) } else { (BinaryOp::Lt, BinaryOp::Le) };
        let beyond = self.op(strict, x.re, y.re);
        let (level, weakly) = (self.op(BinaryOp::Eq, x.re, y.re), self.op(weak, x.im, y.im));
        let level = self.and(level, weakly);
        let wins = self.or(beyond, level);
        let (first, second) = (self.any(x, Self::is_nan), self.any(y, Self::is_nan));
        let numbers = self.not(second);
        let wins = self.and(wins, numbers);
        self.or(first, wins)
    }

    /// Division by Smith's method, by the larger part of the divisor first, with the infinities and zeros of C's
    /// Annex G.
    pub(crate) fn divide(&mut self, x: Z, y: Z) -> Z {
        let (size_re, size_im) = (self.un(UnaryOp::Abs, y.re), self.un(UnaryOp::Abs, y.im));
        let by_real = self.op(BinaryOp::Ge, size_re, size_im);
        let (large, small) = (self.select(by_real, y.re, y.im), self.select(by_real, y.im, y.re));
        let ratio = self.div(small, large);
        let part = self.mul(small, ratio);
        let den = self.add(large, part);
        // by the real part: (a + b r) + i (b − a r); by the imaginary part: (a r + b) + i (b r − a)
        let (p, q) = (self.select(by_real, x.re, x.im), self.select(by_real, x.im, x.re));
        let (pr, qr) = (self.mul(p, ratio), self.mul(q, ratio));
        let re = self.add(p, qr);
        let (a, b) = (self.sub(q, pr), self.sub(pr, q));
        let im = self.select(by_real, a, b);
        let quotient = Z { re: self.div(re, den), im: self.div(im, den) };
        // Where that is not a number, an infinite part counts as ±1 and a finite one as ±0.
        let unit = |f: &mut Self, x| {
            let (infinite, one, zero) = (f.is_infinite(x), f.constant(1.0), f.constant(0.0));
            let size = f.select(infinite, one, zero);
            f.with_sign(size, x)
        };
        // (a c + b d) + i (b c − a d), which is the direction of the quotient.
        let direction = |f: &mut Self, x: Z, y: Z, factor: f64| {
            let conjugate = Z { re: y.re, im: f.un(UnaryOp::Neg, y.im) };
            let product = f.multiply(x, conjugate);
            Z { re: f.scaled(product.re, factor), im: f.scaled(product.im, factor) }
        };
        let units = Z { re: unit(self, x.re), im: unit(self, x.im) };
        let far = direction(self, units, y, f64::INFINITY);
        let units = Z { re: unit(self, y.re), im: unit(self, y.im) };
        let near = direction(self, x, units, 0.0);
        let infinity = self.constant(f64::INFINITY);
        let signed = self.with_sign(infinity, y.re);
        let by_zero = Z { re: self.mul(signed, x.re), im: self.mul(signed, x.im) };
        let (infinite, finite) = (self.any(x, Self::is_infinite), self.both(y, Self::is_finite));
        let is_far = self.and(infinite, finite);
        let (infinite, finite) = (self.any(y, Self::is_infinite), self.both(x, Self::is_finite));
        let is_near = self.and(infinite, finite);
        let (is_zero, unknown) = (self.both(y, Self::is_zero), self.both(x, Self::is_nan));
        let known = self.not(unknown);
        let is_by_zero = self.and(is_zero, known);
        let limit = self.select_both(is_near, near, quotient);
        let limit = self.select_both(is_far, far, limit);
        let limit = self.select_both(is_by_zero, by_zero, limit);
        let lost = self.both(quotient, Self::is_nan);
        self.select_both(lost, limit, quotient)
    }
}
