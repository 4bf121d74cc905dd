//! Hyperbolic functions of complex numbers and their inverses, after W. Kahan, *Branch cuts for complex elementary
//! functions* (1987), in `f64`: no formula subtracts near numbers, signed zeros say on which side of a cut an argument lies.
//! The values are those of `surject_stablehlo::interpret`.

use super::cx::Cx;
use super::state::Result;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LN_2};
use surject_ir::{BinaryOp, DType, FieldId, Scalar, UnaryOp};

/// Past this the formulas of large arguments are exact.
const LARGE: f64 = 1e150;

/// A complex number by its parts.
#[derive(Clone, Copy)]
struct Z {
    re: FieldId,
    im: FieldId,
}

/// The function of this name; none for names that are not here.
pub(super) fn function(cx: &mut Cx<'_, '_>, name: &str, z: FieldId) -> Result<Option<FieldId>> {
    let own = cx.dtype(z);
    match name {
        // -i sin iz
        "sinh" => {
            let turned = turned(cx, z)?;
            let sine = cx.unary(UnaryOp::Sin, turned)?;
            let (re, im) = (cx.unary(UnaryOp::Imag, sine)?, cx.unary(UnaryOp::Real, sine)?);
            let im = cx.unary(UnaryOp::Neg, im)?;
            return cx.binary(BinaryOp::Complex, re, im).map(Some);
        }
        "cosh" => {
            let turned = turned(cx, z)?;
            return cx.unary(UnaryOp::Cos, turned).map(Some);
        }
        "asin" | "acos" | "_asin_acos_kernel" | "asinh" | "acosh" | "atan" | "atanh" => {}
        _ => return Ok(None),
    }
    let (re, im) = (cx.unary(UnaryOp::Real, z)?, cx.unary(UnaryOp::Imag, z)?);
    let z = Z { re: cx.convert(DType::F64, re), im: cx.convert(DType::F64, im) };
    let mut f = Formulas { cx };
    let w = match name {
        "asin" => f.asin(z)?,
        "acos" => f.acos(z)?,
        "_asin_acos_kernel" => f.asin_acos_kernel(z)?,
        "acosh" => f.acosh(z)?,
        "atanh" => f.atanh(z)?,
        // -i f(iz)
        _ => {
            let turned = Z { re: f.neg(z.im)?, im: z.re };
            let w = if name == "asinh" { f.asin(turned)? } else { f.atanh(turned)? };
            Z { re: w.im, im: f.neg(w.re)? }
        }
    };
    let (re, im) = (cx.convert(own.part(), w.re), cx.convert(own.part(), w.im));
    cx.binary(BinaryOp::Complex, re, im).map(Some)
}

/// `iz`
fn turned(cx: &mut Cx<'_, '_>, z: FieldId) -> Result<FieldId> {
    let (re, im) = (cx.unary(UnaryOp::Real, z)?, cx.unary(UnaryOp::Imag, z)?);
    let im = cx.unary(UnaryOp::Neg, im)?;
    cx.binary(BinaryOp::Complex, im, re)
}

struct Formulas<'c, 'a, 'm> {
    cx: &'c mut Cx<'a, 'm>,
}

impl Formulas<'_, '_, '_> {
    fn number(&mut self, like: FieldId, value: f64) -> FieldId {
        self.cx.number(like, value)
    }

    fn neg(&mut self, x: FieldId) -> Result<FieldId> {
        self.cx.unary(UnaryOp::Neg, x)
    }

    fn abs(&mut self, x: FieldId) -> Result<FieldId> {
        self.cx.unary(UnaryOp::Abs, x)
    }

    fn bin(&mut self, op: BinaryOp, x: FieldId, y: FieldId) -> Result<FieldId> {
        self.cx.binary(op, x, y)
    }

    fn add(&mut self, x: FieldId, y: FieldId) -> Result<FieldId> {
        self.bin(BinaryOp::Add, x, y)
    }

    fn sub(&mut self, x: FieldId, y: FieldId) -> Result<FieldId> {
        self.bin(BinaryOp::Sub, x, y)
    }

    fn mul(&mut self, x: FieldId, y: FieldId) -> Result<FieldId> {
        self.bin(BinaryOp::Mul, x, y)
    }

    fn div(&mut self, x: FieldId, y: FieldId) -> Result<FieldId> {
        self.bin(BinaryOp::Div, x, y)
    }

    fn scaled(&mut self, factor: f64, x: FieldId) -> Result<FieldId> {
        let factor = self.number(x, factor);
        self.mul(factor, x)
    }

    /// `x op value`, a number or a comparison.
    fn with(&mut self, op: BinaryOp, x: FieldId, value: f64) -> Result<FieldId> {
        let value = self.number(x, value);
        self.bin(op, x, value)
    }

    fn select(&mut self, condition: FieldId, x: FieldId, y: FieldId) -> Result<FieldId> {
        self.cx.select(condition, x, y)
    }

    fn choose(&mut self, condition: FieldId, a: Z, b: Z) -> Result<Z> {
        Ok(Z { re: self.select(condition, a.re, b.re)?, im: self.select(condition, a.im, b.im)? })
    }

    fn atan2(&mut self, y: FieldId, x: FieldId) -> Result<FieldId> {
        self.bin(BinaryOp::Atan2, y, x)
    }

    /// The magnitude of one number with the sign of another.
    fn copysign(&mut self, x: FieldId, sign: FieldId) -> Result<FieldId> {
        let space = self.cx.space(x);
        let mask = |v: i64| Scalar::from_i128(DType::I64, i128::from(v));
        let (magnitude, top) =
            (self.cx.constant(&space, mask(i64::MAX)), self.cx.constant(&space, mask(i64::MIN)));
        let (x, sign) = (self.cx.bitcast(DType::I64, x)?, self.cx.bitcast(DType::I64, sign)?);
        let x = self.bin(BinaryOp::And, x, magnitude)?;
        let sign = self.bin(BinaryOp::And, sign, top)?;
        let bits = self.bin(BinaryOp::Or, x, sign)?;
        self.cx.bitcast(DType::F64, bits)
    }

    fn is_nan(&mut self, z: Z) -> Result<FieldId> {
        let re = self.bin(BinaryOp::Ne, z.re, z.re)?;
        let im = self.bin(BinaryOp::Ne, z.im, z.im)?;
        self.bin(BinaryOp::Or, re, im)
    }

    fn infinite(&mut self, x: FieldId) -> Result<FieldId> {
        let x = self.abs(x)?;
        self.with(BinaryOp::Eq, x, f64::INFINITY)
    }

    /// Is a part beyond a bound?
    fn beyond(&mut self, z: Z, bound: f64) -> Result<FieldId> {
        let (x, y) = (self.abs(z.re)?, self.abs(z.im)?);
        let (x, y) = (self.with(BinaryOp::Gt, x, bound)?, self.with(BinaryOp::Gt, y, bound)?);
        self.bin(BinaryOp::Or, x, y)
    }

    /// The root of a number whose parts are at most [`LARGE`].
    fn sqrt(&mut self, z: Z) -> Result<Z> {
        let (x, y) = (self.abs(z.re)?, self.abs(z.im)?);
        let (large, small) = (self.bin(BinaryOp::Max, x, y)?, self.bin(BinaryOp::Min, x, y)?);
        let ratio = self.div(small, large)?;
        let square = self.mul(ratio, ratio)?;
        let above = self.with(BinaryOp::Add, square, 1.0)?;
        let factor = self.cx.unary(UnaryOp::Sqrt, above)?;
        let modulus = self.mul(large, factor)?;
        let sum = self.add(modulus, x)?;
        let half = self.scaled(0.5, sum)?;
        let root = self.cx.unary(UnaryOp::Sqrt, half)?;
        let double = self.scaled(2.0, root)?;
        let other = self.div(y, double)?;
        let right = self.with(BinaryOp::Ge, z.re, 0.0)?;
        let (re, im) = (self.select(right, root, other)?, self.select(right, other, root)?);
        let root = Z { re, im: self.copysign(im, z.im)? };
        let zero = self.with(BinaryOp::Eq, large, 0.0)?;
        let none = Z { re: self.number(large, 0.0), im: z.im };
        self.choose(zero, none, root)
    }

    /// The roots of `1 - z` and `1 + z`.
    fn roots(&mut self, z: Z) -> Result<(Z, Z)> {
        let one = self.number(z.re, 1.0);
        let below = Z { re: self.sub(one, z.re)?, im: self.neg(z.im)? };
        let above = Z { re: self.add(one, z.re)?, im: z.im };
        Ok((self.sqrt(below)?, self.sqrt(above)?))
    }

    /// `a b + c d`, or their difference.
    fn products(&mut self, op: BinaryOp, a: FieldId, b: FieldId, c: FieldId, d: FieldId) -> Result<FieldId> {
        let (x, y) = (self.mul(a, b)?, self.mul(c, d)?);
        self.bin(op, x, y)
    }

    /// The logarithm of twice the modulus: what the real parts of inverses grow like.
    fn growth(&mut self, z: Z) -> Result<FieldId> {
        let (x, y) = (self.abs(z.re)?, self.abs(z.im)?);
        let (large, small) = (self.bin(BinaryOp::Max, x, y)?, self.bin(BinaryOp::Min, x, y)?);
        let ratio = self.div(small, large)?;
        let square = self.mul(ratio, ratio)?;
        let rest = self.cx.unary(UnaryOp::Log1p, square)?;
        let rest = self.scaled(0.5, rest)?;
        let log = self.cx.unary(UnaryOp::Log, large)?;
        let log = self.with(BinaryOp::Add, log, LN_2)?;
        let growth = self.add(log, rest)?;
        let infinite = self.with(BinaryOp::Eq, large, f64::INFINITY)?;
        let infinity = self.number(large, f64::INFINITY);
        self.select(infinite, infinity, growth)
    }

    /// `x` where it is infinite, else `y` where that is, else NaN.
    fn infinite_of(&mut self, x: FieldId, y: FieldId) -> Result<FieldId> {
        let nan = self.number(x, f64::NAN);
        let (a, b) = (self.infinite(x)?, self.infinite(y)?);
        let y = self.select(b, y, nan)?;
        self.select(a, x, y)
    }

    fn asin(&mut self, z: Z) -> Result<Z> {
        let (s, t) = self.roots(z)?;
        let product = self.products(BinaryOp::Sub, s.re, t.re, s.im, t.im)?;
        let re = self.atan2(z.re, product)?;
        // The imaginary part of the conjugate of s, times t.
        let grown = self.products(BinaryOp::Sub, s.re, t.im, s.im, t.re)?;
        let im = self.cx.unary(UnaryOp::Asinh, grown)?;
        let small = Z { re: self.copysign(re, z.re)?, im: self.copysign(im, z.im)? };
        let (x, y) = (self.abs(z.re)?, self.abs(z.im)?);
        let (re, im) = (self.atan2(x, y)?, self.growth(z)?);
        let large = Z { re: self.copysign(re, z.re)?, im: self.copysign(im, z.im)? };
        // C's Annex G for `asinh` turned by a quarter.
        let zero = self.with(BinaryOp::Eq, z.re, 0.0)?;
        let none = self.number(z.re, f64::NAN);
        let nan = Z { re: self.select(zero, z.re, none)?, im: self.infinite_of(z.im, z.re)? };
        self.cases(z, small, large, nan)
    }

    /// What `asin` and `acos` are made of: `asin z` has the real part `atan2(x, u)` and the imaginary part `v` with the sign of
    /// `y`, for `u + iv` of `x + iy`.
    fn asin_acos_kernel(&mut self, z: Z) -> Result<Z> {
        let (s, t) = self.roots(z)?;
        let re = self.products(BinaryOp::Sub, s.re, t.re, s.im, t.im)?;
        let grown = self.asin(z)?.im;
        let im = self.abs(grown)?;
        let (small, large) = (Z { re, im }, Z { re: self.abs(z.im)?, im });
        let nan = self.number(z.re, f64::NAN);
        self.cases(z, small, large, Z { re: nan, im })
    }

    fn acos(&mut self, z: Z) -> Result<Z> {
        let (s, t) = self.roots(z)?;
        let below = self.neg(z.im)?;
        let angle = self.atan2(s.re, t.re)?;
        let grown = self.products(BinaryOp::Sub, t.re, s.im, t.im, s.re)?;
        let im = self.cx.unary(UnaryOp::Asinh, grown)?;
        let small = Z { re: self.scaled(2.0, angle)?, im: self.copysign(im, below)? };
        let y = self.abs(z.im)?;
        let (re, im) = (self.atan2(y, z.re)?, self.growth(z)?);
        let large = Z { re, im: self.copysign(im, below)? };
        let zero = self.with(BinaryOp::Eq, z.re, 0.0)?;
        let (quarter, none) = (self.number(z.re, FRAC_PI_2), self.number(z.re, f64::NAN));
        let left = self.neg(z.re)?;
        let nan = Z { re: self.select(zero, quarter, none)?, im: self.infinite_of(left, below)? };
        self.cases(z, small, large, nan)
    }

    fn acosh(&mut self, z: Z) -> Result<Z> {
        let one = self.number(z.re, 1.0);
        let below = Z { re: self.sub(z.re, one)?, im: z.im };
        let above = Z { re: self.add(z.re, one)?, im: z.im };
        let (s, t) = (self.sqrt(below)?, self.sqrt(above)?);
        // The real part of the conjugate of s, times t.
        let grown = self.products(BinaryOp::Add, s.re, t.re, s.im, t.im)?;
        let angle = self.atan2(s.im, t.re)?;
        let small = Z { re: self.cx.unary(UnaryOp::Asinh, grown)?, im: self.scaled(2.0, angle)? };
        let large = Z { re: self.growth(z)?, im: self.atan2(z.im, z.re)? };
        let part = self.infinite_of(z.re, z.im)?;
        let zero = self.with(BinaryOp::Eq, z.re, 0.0)?;
        let (quarter, none) = (self.number(z.re, FRAC_PI_2), self.number(z.re, f64::NAN));
        let nan = Z { re: self.abs(part)?, im: self.select(zero, quarter, none)? };
        self.cases(z, small, large, nan)
    }

    /// What holds for small arguments, for large ones and for NaN.
    fn cases(&mut self, z: Z, small: Z, large: Z, nan: Z) -> Result<Z> {
        let beyond = self.beyond(z, LARGE)?;
        let number = self.choose(beyond, large, small)?;
        let is_nan = self.is_nan(z)?;
        self.choose(is_nan, nan, number)
    }

    fn atanh(&mut self, z: Z) -> Result<Z> {
        let (x, y) = (self.abs(z.re)?, self.abs(z.im)?);
        let one = self.number(x, 1.0);
        // Between the singularities at ±1 and large arguments.
        let little = self.with(BinaryOp::Lt, y, 1e-150)?;
        let square = self.mul(y, y)?;
        let none = self.number(y, 0.0);
        let square = self.select(little, none, square)?;
        let (below, above) = (self.sub(one, x)?, self.add(one, x)?);
        let distance = self.mul(below, below)?;
        let distance = self.add(distance, square)?;
        let four = self.scaled(4.0, x)?;
        let ratio = self.div(four, distance)?;
        let log = self.cx.unary(UnaryOp::Log1p, ratio)?;
        let product = self.mul(below, above)?;
        let across = self.sub(product, square)?;
        let double = self.scaled(2.0, y)?;
        let angle = self.atan2(double, across)?;
        let between = Z { re: self.scaled(0.25, log)?, im: self.scaled(0.5, angle)? };
        // The distance to ±1 is y alone: ln(sqrt(2 / y)), and an angle of a quarter of pi, where y is little.
        let log = self.cx.unary(UnaryOp::Log, y)?;
        let negative = self.neg(log)?;
        let log = self.with(BinaryOp::Add, negative, LN_2)?;
        let near = Z { re: self.scaled(0.5, log)?, im: self.number(y, FRAC_PI_4) };
        let fourth = self.number(y, 4.0);
        let ratio = self.div(fourth, y)?;
        let ratio = self.div(ratio, y)?;
        let log = self.cx.unary(UnaryOp::Log1p, ratio)?;
        let (two, minus) = (self.number(y, 2.0), self.neg(y)?);
        let angle = self.atan2(two, minus)?;
        let beside = Z { re: self.scaled(0.25, log)?, im: self.scaled(0.5, angle)? };
        let beside = self.choose(little, near, beside)?;
        let on_axis = self.with(BinaryOp::Eq, y, 0.0)?;
        let pole = Z { re: self.number(y, f64::INFINITY), im: none };
        let beside = self.choose(on_axis, pole, beside)?;
        let at_one = self.bin(BinaryOp::Eq, x, one)?;
        let small = self.choose(at_one, beside, between)?;
        // The real part of the inverse, by its larger part.
        let (by_x, by_y) = (self.div(y, x)?, self.div(x, y)?);
        let flat = self.inverse_square(by_x)?;
        let first = self.div(one, x)?;
        let first = self.div(first, flat)?;
        let flat = self.inverse_square(by_y)?;
        let second = self.div(by_y, y)?;
        let second = self.div(second, flat)?;
        let wide = self.bin(BinaryOp::Gt, x, y)?;
        let inverse = self.select(wide, first, second)?;
        let quarter = self.number(y, FRAC_PI_2);
        let beyond = self.beyond(z, LARGE)?;
        let value = self.choose(beyond, Z { re: inverse, im: quarter }, small)?;
        let (a, b) = (self.infinite(z.re)?, self.infinite(z.im)?);
        let infinite = self.bin(BinaryOp::Or, a, b)?;
        let value = self.choose(infinite, Z { re: none, im: quarter }, value)?;
        // NaN: the real part is known where the imaginary part is infinite, or the real part infinite or zero.
        let zero = self.with(BinaryOp::Eq, x, 0.0)?;
        let known = self.bin(BinaryOp::Or, infinite, zero)?;
        let nothing = self.number(y, f64::NAN);
        let nan = Z { re: self.select(known, none, nothing)?, im: self.select(b, quarter, nothing)? };
        let is_nan = self.is_nan(z)?;
        let value = self.choose(is_nan, nan, value)?;
        Ok(Z { re: self.copysign(value.re, z.re)?, im: self.copysign(value.im, z.im)? })
    }

    /// `1 + r²`
    fn inverse_square(&mut self, ratio: FieldId) -> Result<FieldId> {
        let square = self.mul(ratio, ratio)?;
        self.with(BinaryOp::Add, square, 1.0)
    }
}
