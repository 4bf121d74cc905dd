//! Functions of complex numbers as expressions of their parts.

use crate::expression::complex::{Field, Z};
use crate::expression::dag::NodeId;
use surject_ir::{BinaryOp, UnaryOp};

impl<'d> Field<'d> {
    /// The modulus, scaled so that no square overflows.
    pub(crate) fn modulus(&mut self, z: Z) -> NodeId {
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
    pub(crate) fn sign(&mut self, z: Z) -> Z {
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

    pub(crate) fn exp(&mut self, z: Z) -> Z {
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

    pub(crate) fn expm1(&mut self, z: Z) -> Z {
        // e^a cos b − 1 = (e^a − 1) cos b − 2 sin²(b/2)
        let half = self.scaled(z.im, 0.5);
        let s = self.un(UnaryOp::Sin, half);
        let (square, m, c) = (self.mul(s, s), self.un(UnaryOp::Expm1, z.re), self.un(UnaryOp::Cos, z.im));
        let (product, twice) = (self.mul(m, c), self.scaled(square, 2.0));
        let re = self.sub(product, twice);
        let e = self.exp(z);
        // Where 1 or the exponential is nothing beside the other.
        let (size, one) = (self.un(UnaryOp::Abs, z.re), self.constant(1.0));
        let (is_large, less) = (self.is(BinaryOp::Gt, size, 40.0), self.sub(e.re, one));
        let re = self.select(is_large, less, re);
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

    pub(crate) fn log(&mut self, z: Z) -> Z {
        Z { re: self.log_modulus(z), im: self.op(BinaryOp::Atan2, z.im, z.re) }
    }

    pub(crate) fn log1p(&mut self, z: Z) -> Z {
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
    pub(crate) fn logistic(&mut self, z: Z) -> Z {
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
    pub(crate) fn sqrt(&mut self, z: Z) -> Z {
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

    pub(crate) fn rsqrt(&mut self, z: Z) -> Z {
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
    pub(crate) fn sin(&mut self, z: Z) -> Z {
        let (s, c) = (self.un(UnaryOp::Sin, z.re), self.un(UnaryOp::Cos, z.re));
        let [re, im] = self.grown(s, c, z.im);
        let (upright, finite) = (self.is_zero(z.re), self.is_finite(z.re));
        let (straight, infinite, endless) = (self.is_zero(z.im), self.is_infinite(z.im), self.not(finite));
        let end = self.or(straight, infinite);
        let keeps = self.and(endless, end);
        Z { re: self.select(upright, z.re, re), im: self.select(keeps, z.im, im) }
    }

    pub(crate) fn cos(&mut self, z: Z) -> Z {
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
    pub(crate) fn tan(&mut self, z: Z) -> Z {
        let turned = self.turned(z);
        let t = self.tanh(turned);
        self.turned_back(t)
    }

    pub(crate) fn tanh(&mut self, z: Z) -> Z {
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
    pub(crate) fn pow(&mut self, x: Z, y: Z) -> Z {
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
    pub(crate) fn atan2(&mut self, y: Z, x: Z) -> Z {
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
