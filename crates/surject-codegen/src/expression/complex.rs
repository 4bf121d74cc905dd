//! Complex numbers as pairs of real nodes.

use crate::CodegenError;
use crate::expression::build::Parts;
use crate::expression::dag::{Dag, Node, NodeId};
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
struct Z {
    re: NodeId,
    im: NodeId,
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
struct Field<'d> {
    dag: &'d mut Dag,
    part: DType,
    /// Are the results rounded to `f64`, and not to `f32`?
    double: bool,
}

impl<'d> Field<'d> {
    /// Functions of numbers with parts like this one.
    fn of(dag: &'d mut Dag, like: NodeId) -> Field<'d> {
        let part = dag[like].dtype;
        Field { dag, part, double: part == DType::F64 }
    }

    fn constant(&mut self, value: f64) -> NodeId {
        self.dag.constant(Scalar::from_f64(self.part, value))
    }

    fn un(&mut self, op: UnaryOp, x: NodeId) -> NodeId {
        self.dag.unary(op, x)
    }

    fn op(&mut self, op: BinaryOp, x: NodeId, y: NodeId) -> NodeId {
        self.dag.binary(op, x, y)
    }

    fn add(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.op(BinaryOp::Add, x, y)
    }

    fn sub(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.op(BinaryOp::Sub, x, y)
    }

    fn mul(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.op(BinaryOp::Mul, x, y)
    }

    fn div(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.op(BinaryOp::Div, x, y)
    }

    fn and(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.op(BinaryOp::And, x, y)
    }

    fn or(&mut self, x: NodeId, y: NodeId) -> NodeId {
        self.op(BinaryOp::Or, x, y)
    }

    fn not(&mut self, x: NodeId) -> NodeId {
        self.un(UnaryOp::Not, x)
    }

    fn scaled(&mut self, x: NodeId, factor: f64) -> NodeId {
        let factor = self.constant(factor);
        self.mul(x, factor)
    }

    /// Does `x` compare so with a constant?
    fn is(&mut self, op: BinaryOp, x: NodeId, value: f64) -> NodeId {
        let value = self.constant(value);
        self.op(op, x, value)
    }

    fn is_zero(&mut self, x: NodeId) -> NodeId {
        self.is(BinaryOp::Eq, x, 0.0)
    }

    fn is_nan(&mut self, x: NodeId) -> NodeId {
        self.op(BinaryOp::Ne, x, x)
    }

    fn is_infinite(&mut self, x: NodeId) -> NodeId {
        let size = self.un(UnaryOp::Abs, x);
        self.is(BinaryOp::Eq, size, f64::INFINITY)
    }

    fn is_finite(&mut self, x: NodeId) -> NodeId {
        self.dag.add(Node::Unary(UnaryOp::IsFinite, x), DType::I1)
    }

    /// Does this hold of a part?
    fn any(&mut self, z: Z, holds: fn(&mut Self, NodeId) -> NodeId) -> NodeId {
        let (a, b) = (holds(self, z.re), holds(self, z.im));
        self.or(a, b)
    }

    /// Does this hold of both parts?
    fn both(&mut self, z: Z, holds: fn(&mut Self, NodeId) -> NodeId) -> NodeId {
        let (a, b) = (holds(self, z.re), holds(self, z.im));
        self.and(a, b)
    }

    fn select(&mut self, condition: NodeId, x: NodeId, y: NodeId) -> NodeId {
        self.dag.add(Node::Select(condition, x, y), self.part)
    }

    fn select_both(&mut self, condition: NodeId, x: Z, y: Z) -> Z {
        Z { re: self.select(condition, x.re, y.re), im: self.select(condition, x.im, y.im) }
    }

    /// The absolute value of `x` with the sign of `sign`, also of a zero.
    fn with_sign(&mut self, x: NodeId, sign: NodeId) -> NodeId {
        let bits = if self.part == DType::F64 { DType::U64 } else { DType::U32 };
        let top = self.dag.constant(Scalar::from_bits(bits, 1 << (bits.bits() - 1)));
        let x = self.un(UnaryOp::Abs, x);
        let (x, sign) = (self.dag.add(Node::Bitcast(x), bits), self.dag.add(Node::Bitcast(sign), bits));
        let sign = self.and(sign, top);
        let signed = self.or(x, sign);
        self.dag.add(Node::Bitcast(signed), self.part)
    }

    fn one(&mut self) -> Z {
        Z { re: self.constant(1.0), im: self.constant(0.0) }
    }

    fn sum(&mut self, x: Z, y: Z) -> Z {
        Z { re: self.add(x.re, y.re), im: self.add(x.im, y.im) }
    }

    /// `x` times *i*.
    fn turned(&mut self, x: Z) -> Z {
        Z { re: self.un(UnaryOp::Neg, x.im), im: x.re }
    }

    /// `x` times −*i*.
    fn turned_back(&mut self, x: Z) -> Z {
        Z { re: x.im, im: self.un(UnaryOp::Neg, x.re) }
    }

    fn multiply(&mut self, x: Z, y: Z) -> Z {
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
    fn divide(&mut self, x: Z, y: Z) -> Z {
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

    /// The modulus, scaled so that no square overflows.
    fn modulus(&mut self, z: Z) -> NodeId {
        let (a, b) = (self.un(UnaryOp::Abs, z.re), self.un(UnaryOp::Abs, z.im));
        let (large, small) = (self.op(BinaryOp::Max, a, b), self.op(BinaryOp::Min, a, b));
        let ratio = self.div(small, large);
        let (square, one) = (self.mul(ratio, ratio), self.constant(1.0));
        let sum = self.add(one, square);
        let root = self.un(UnaryOp::Sqrt, sum);
        let scaled = self.mul(large, root);
        // Zero and infinite parts, where the ratio is not a number.
        let (zero, infinity) = (self.constant(0.0), self.constant(f64::INFINITY));
        let at_zero = self.is_zero(large);
        let infinite = self.any(z, Self::is_infinite);
        let finite = self.select(at_zero, zero, scaled);
        self.select(infinite, infinity, finite)
    }

    /// The number divided by its modulus; zero stays as it is.
    fn sign(&mut self, z: Z) -> Z {
        // Not so large that the modulus overflows.
        let (a, b) = (self.un(UnaryOp::Abs, z.re), self.un(UnaryOp::Abs, z.im));
        let size = self.op(BinaryOp::Max, a, b);
        let (large, quarter, one) =
            (self.is(BinaryOp::Gt, size, 1e300), self.constant(0.25), self.constant(1.0));
        let scale = self.select(large, quarter, one);
        let z = Z { re: self.mul(z.re, scale), im: self.mul(z.im, scale) };
        let r = self.modulus(z);
        let (at_zero, nan) = (self.is_zero(r), self.is_nan(r));
        let quotient = Z { re: self.div(z.re, r), im: self.div(z.im, r) };
        let result = self.select_both(at_zero, z, quotient);
        self.select_both(nan, Z { re: r, im: r }, result)
    }

    fn exp(&mut self, z: Z) -> Z {
        // Half the exponent twice where e^re alone would overflow while the product does not.
        let (above, below) = (self.is(BinaryOp::Gt, z.re, 709.0), self.is(BinaryOp::Lt, z.re, 1420.0));
        let high = self.and(above, below);
        let half = self.scaled(z.re, 0.5);
        let exponent = self.select(high, half, z.re);
        let r = self.un(UnaryOp::Exp, exponent);
        let (c, s) = (self.un(UnaryOp::Cos, z.im), self.un(UnaryOp::Sin, z.im));
        let (re, im) = (self.mul(r, c), self.mul(r, s));
        // A real argument stays real.
        let straight = self.is_zero(z.im);
        let re = self.select(straight, r, re);
        let again = self.mul(re, r);
        let re = self.select(high, again, re);
        let again = self.mul(im, r);
        let im = self.select(high, again, im);
        let im = self.select(straight, z.im, im);
        // An infinite exponent in no direction: zero, or infinite with an unknown imaginary part.
        let (infinite, finite) = (self.is_infinite(z.re), self.is_finite(z.im));
        let endless = self.not(finite);
        let lost = self.and(infinite, endless);
        let (zero, nan) = (self.constant(0.0), self.constant(f64::NAN));
        let vanishes = self.is(BinaryOp::Lt, z.re, 0.0);
        let unknown = self.select(vanishes, zero, nan);
        self.select_both(lost, Z { re: r, im: unknown }, Z { re, im })
    }

    fn expm1(&mut self, z: Z) -> Z {
        // e^a cos b − 1 = (e^a − 1) cos b − 2 sin²(b/2)
        let half = self.scaled(z.im, 0.5);
        let s = self.un(UnaryOp::Sin, half);
        let (square, m, c) = (self.mul(s, s), self.un(UnaryOp::Expm1, z.re), self.un(UnaryOp::Cos, z.im));
        let (product, twice) = (self.mul(m, c), self.scaled(square, 2.0));
        let re = self.sub(product, twice);
        let e = self.exp(z);
        // Where 1 or the exponential is nothing beside the other.
        let (size, one) = (self.un(UnaryOp::Abs, z.re), self.constant(1.0));
        let (apart, less) = (self.is(BinaryOp::Gt, size, 40.0), self.sub(e.re, one));
        let re = self.select(apart, less, re);
        let straight = self.is_zero(z.im);
        Z { re: self.select(straight, m, re), im: self.select(straight, z.im, e.im) }
    }

    /// The logarithm of the modulus.
    fn log_modulus(&mut self, z: Z) -> NodeId {
        let (a, b) = (self.un(UnaryOp::Abs, z.re), self.un(UnaryOp::Abs, z.im));
        let (x, y) = (self.op(BinaryOp::Max, a, b), self.op(BinaryOp::Min, a, b));
        // Near the unit circle it is a difference of near numbers.
        let (least, below) = (self.is(BinaryOp::Ge, x, 0.5), self.is(BinaryOp::Lt, x, 2.0));
        let near = self.and(least, below);
        let (one, zero, infinity) = (self.constant(1.0), self.constant(0.0), self.constant(f64::INFINITY));
        let (less, more) = (self.sub(x, one), self.add(x, one));
        let (product, square) = (self.mul(less, more), self.mul(y, y));
        let excess = self.add(product, square);
        // The modulus of what is nearly the largest number is none.
        let (ratio, at_zero) = (self.div(y, x), self.is_zero(x));
        let ratio = self.select(at_zero, zero, ratio);
        let square = self.mul(ratio, ratio);
        let excess = self.select(near, excess, square);
        let half = self.un(UnaryOp::Log1p, excess);
        let (half, size) = (self.scaled(half, 0.5), self.un(UnaryOp::Log, x));
        let far = self.add(size, half);
        let value = self.select(near, half, far);
        let infinite = self.any(z, Self::is_infinite);
        self.select(infinite, infinity, value)
    }

    fn log(&mut self, z: Z) -> Z {
        Z { re: self.log_modulus(z), im: self.op(BinaryOp::Atan2, z.im, z.re) }
    }

    fn log1p(&mut self, z: Z) -> Z {
        let (a, b) = (self.un(UnaryOp::Abs, z.re), self.un(UnaryOp::Abs, z.im));
        let (a, b) = (self.is(BinaryOp::Lt, a, 0.5), self.is(BinaryOp::Lt, b, 1.0));
        let near = self.and(a, b);
        let (one, two) = (self.constant(1.0), self.constant(2.0));
        let more = self.add(two, z.re);
        let (product, square) = (self.mul(z.re, more), self.mul(z.im, z.im));
        let excess = self.add(product, square);
        let close = self.un(UnaryOp::Log1p, excess);
        let re = self.scaled(close, 0.5);
        let shifted = Z { re: self.add(one, z.re), im: z.im };
        let far = self.log(shifted);
        Z { re: self.select(near, re, far.re), im: far.im }
    }

    /// By an exponential that is at most 1, so that nothing overflows.
    fn logistic(&mut self, z: Z) -> Z {
        let left = self.is(BinaryOp::Lt, z.re, 0.0);
        let negated = Z { re: self.un(UnaryOp::Neg, z.re), im: self.un(UnaryOp::Neg, z.im) };
        let exponent = self.select_both(left, z, negated);
        let (one, e) = (self.one(), self.exp(exponent));
        let (dividend, divisor) = (self.select_both(left, e, one), self.sum(one, e));
        let quotient = self.divide(dividend, divisor);
        let (straight, real) = (self.is_zero(z.im), self.un(UnaryOp::Logistic, z.re));
        self.select_both(straight, Z { re: real, im: z.im }, quotient)
    }

    /// The root with a real part that is not negative.
    fn sqrt(&mut self, z: Z) -> Z {
        // Scaled by a power of 4 so that the modulus neither overflows nor loses bits.
        let (a, b) = (self.un(UnaryOp::Abs, z.re), self.un(UnaryOp::Abs, z.im));
        let size = self.op(BinaryOp::Max, a, b);
        let (high, low) = (self.is(BinaryOp::Gt, size, 1e300), self.is(BinaryOp::Lt, size, 1e-290));
        let pick = |f: &mut Self, [at_high, at_low, else_]: [f64; 3]| {
            let (a, b, c) = (f.constant(at_high), f.constant(at_low), f.constant(else_));
            let rest = f.select(low, b, c);
            f.select(high, a, rest)
        };
        let scale = pick(self, [0.0625, 2f64.powi(108), 1.0]);
        let unscale = pick(self, [4.0, 2f64.powi(-54), 1.0]);
        let (a, b) = (self.mul(a, scale), self.mul(b, scale));
        let r = self.modulus(Z { re: a, im: b });
        // root = √((|z| + |re|) / 2), the other part is |im| / (2 root)
        let (r, a) = (self.scaled(r, 0.5), self.scaled(a, 0.5));
        let sum = self.add(r, a);
        let root = self.un(UnaryOp::Sqrt, sum);
        let twice = self.scaled(root, 2.0);
        let other = self.div(b, twice);
        let (root_, other) = (self.mul(root, unscale), self.mul(other, unscale));
        let (at_zero, zero) = (self.is_zero(root), self.constant(0.0));
        let other = self.select(at_zero, zero, other);
        let (endless, infinity) = (self.is_infinite(z.im), self.constant(f64::INFINITY));
        let (root, other) = (self.select(endless, infinity, root_), self.select(endless, infinity, other));
        let right = self.is(BinaryOp::Ge, z.re, 0.0);
        let im = self.select(right, other, root);
        Z { re: self.select(right, root, other), im: self.with_sign(im, z.im) }
    }

    fn rsqrt(&mut self, z: Z) -> Z {
        // 1 − 0i: the root of what lies above the axis has its inverse below it.
        let (one, root) = (Z { im: self.constant(-0.0), ..self.one() }, self.sqrt(z));
        self.divide(one, root)
    }

    /// `a cosh y` and `b sinh y`. Where these functions overflow a product may not.
    fn grown(&mut self, a: NodeId, b: NodeId, y: NodeId) -> [NodeId; 2] {
        let [c, s] = [UnaryOp::Cosh, UnaryOp::Sinh].map(|op| self.un(op, y));
        let plain = [self.mul(a, c), self.mul(b, s)];
        if !self.double {
            // No `f32` is so small that the product of it is one again.
            return plain;
        }
        let size = self.un(UnaryOp::Abs, y);
        let (low, half) = (self.is(BinaryOp::Lt, size, 709.0), self.scaled(size, 0.5));
        let e = self.un(UnaryOp::Exp, half);
        let (half, one) = (self.scaled(e, 0.5), self.constant(1.0));
        let sign = self.with_sign(one, y);
        let [a, b] = [a, b].map(|x| self.mul(x, half)).map(|x| self.mul(x, e));
        let signed = self.mul(b, sign);
        // NaN goes either way.
        [self.select(low, plain[0], a), self.select(low, plain[1], signed)]
    }

    /// A part is zero where the argument makes it so, whatever the other factor is; of an angle that is no number an
    /// infinite modulus leads to an infinite part (C's Annex G).
    fn sin(&mut self, z: Z) -> Z {
        let (s, c) = (self.un(UnaryOp::Sin, z.re), self.un(UnaryOp::Cos, z.re));
        let [re, im] = self.grown(s, c, z.im);
        let (upright, finite) = (self.is_zero(z.re), self.is_finite(z.re));
        let (straight, infinite, endless) = (self.is_zero(z.im), self.is_infinite(z.im), self.not(finite));
        let end = self.or(straight, infinite);
        let keeps = self.and(endless, end);
        Z { re: self.select(upright, z.re, re), im: self.select(keeps, z.im, im) }
    }

    fn cos(&mut self, z: Z) -> Z {
        let (s, c) = (self.un(UnaryOp::Sin, z.re), self.un(UnaryOp::Cos, z.re));
        let [re, im] = self.grown(c, s, z.im);
        let (upright, finite) = (self.is_zero(z.re), self.is_finite(z.re));
        let (straight, infinite, endless) = (self.is_zero(z.im), self.is_infinite(z.im), self.not(finite));
        let (zero, one, infinity) = (self.constant(0.0), self.constant(1.0), self.constant(f64::INFINITY));
        let (zero, one) = (self.with_sign(zero, z.re), self.with_sign(one, z.im));
        let (far, flat) = (self.and(endless, infinite), self.and(endless, straight));
        let (vanishes, signed) = (self.or(upright, flat), self.mul(zero, one));
        let im = self.select(vanishes, signed, im);
        Z { re: self.select(far, infinity, re), im: self.un(UnaryOp::Neg, im) }
    }

    /// tan z = −i tanh iz
    fn tan(&mut self, z: Z) -> Z {
        let turned = self.turned(z);
        let t = self.tanh(turned);
        self.turned_back(t)
    }

    fn tanh(&mut self, z: Z) -> Z {
        // With t = tan b and s = sinh a: (s·√(1+s²)·(1+t²) + i t) / (1 + (1+t²) s²)
        let (t, s, one) = (self.un(UnaryOp::Tan, z.im), self.un(UnaryOp::Sinh, z.re), self.constant(1.0));
        let (tt, ss) = (self.mul(t, t), self.mul(s, s));
        let (beta, sum) = (self.add(one, tt), self.add(one, ss));
        let root = self.un(UnaryOp::Sqrt, sum);
        let scaled = self.mul(beta, ss);
        let den = self.add(one, scaled);
        let product = self.mul(beta, root);
        let product = self.mul(product, s);
        let inner = Z { re: self.div(product, den), im: self.div(t, den) };
        let vanishes = self.is_zero(t);
        let inner = Z { re: inner.re, im: self.select(vanishes, t, inner.im) };
        // Within half an ulp of ±1 the imaginary part is 4 sin b cos b e^(−2|a|).
        let size = self.un(UnaryOp::Abs, z.re);
        let far = self.is(BinaryOp::Gt, size, 22.0);
        let exponent = self.scaled(size, -2.0);
        let (e, sine, cosine) =
            (self.un(UnaryOp::Exp, exponent), self.un(UnaryOp::Sin, z.im), self.un(UnaryOp::Cos, z.im));
        let sine = self.scaled(sine, 4.0);
        let product = self.mul(sine, cosine);
        let im = self.mul(product, e);
        let outer = Z { re: self.with_sign(one, z.re), im };
        let value = self.select_both(far, outer, inner);
        // In no direction it is ±1 at infinity, and unknown elsewhere, but for the real part on the imaginary axis.
        let (finite, infinite, upright) = (self.is_finite(z.im), self.is_infinite(z.re), self.is_zero(z.re));
        let (nan, zero) = (self.constant(f64::NAN), self.constant(0.0));
        let zero = self.with_sign(zero, z.im);
        let unknown = Z { re: self.select(upright, z.re, nan), im: nan };
        let lost = self.select_both(infinite, Z { re: outer.re, im: zero }, unknown);
        self.select_both(finite, value, lost)
    }

    /// What XLA says of zeros and infinities; powers of other numbers that are not finite, and by such, are not known.
    fn pow(&mut self, x: Z, y: Z) -> Z {
        let l = self.log(x);
        let product = self.multiply(y, l);
        let power = self.exp(product);
        let (zero, nan) = (self.constant(0.0), self.constant(f64::NAN));
        let known = (self.both(x, Self::is_finite), self.both(y, Self::is_finite));
        let (known, at_zero) = (self.and(known.0, known.1), self.both(x, Self::is_zero));
        let elsewhere = self.not(at_zero);
        let known = self.and(known, elsewhere);
        let power = self.select_both(known, power, Z { re: nan, im: nan });
        // The limit on the real axis, but for the pole at zero, of which no direction is known.
        let (right, left) = (self.is(BinaryOp::Gt, y.re, 0.0), self.is(BinaryOp::Lt, y.re, 0.0));
        let straight = (self.is_zero(x.im), self.is_zero(y.im));
        let infinite = self.is(BinaryOp::Eq, x.re, f64::INFINITY);
        let end = self.or(at_zero, infinite);
        let (real, size) = (self.and(straight.0, straight.1), self.un(UnaryOp::Abs, x.re));
        let (end, falls) = (self.and(end, real), self.and(left, infinite));
        let (grows, falls) = (self.and(end, right), self.and(end, falls));
        let power = self.select_both(grows, Z { re: size, im: zero }, power);
        let power = self.select_both(falls, Z { re: zero, im: zero }, power);
        // Powers by zero, and of 1.
        let (to_zero, one) = (self.both(y, Self::is_zero), self.one());
        let of_one = self.is(BinaryOp::Eq, x.re, 1.0);
        let of_one = self.and(of_one, straight.0);
        let unit = self.or(to_zero, of_one);
        self.select_both(unit, one, power)
    }

    /// atan2(y, x) = −i ln((x + iy) / √(x² + y²)), with the first operand as y.
    fn atan2(&mut self, y: Z, x: Z) -> Z {
        let turned = self.turned(y);
        let sum = self.sum(x, turned);
        let (yy, xx) = (self.multiply(y, y), self.multiply(x, x));
        let squares = self.sum(yy, xx);
        let root = self.sqrt(squares);
        let quotient = self.divide(sum, root);
        let l = self.log(quotient);
        self.turned_back(l)
    }
}
