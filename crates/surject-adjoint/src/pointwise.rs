//! The derivatives of the pointwise operations: one row an operation.
//!
//! With `x` and `y` the operands, `z` the result and `c` its cotangent, a row gives the cotangent of an operand.
//! Cotangents of complex numbers are transposed, not conjugated, so the rows of analytic functions hold for them
//! as they stand.

use crate::options::Ties;
use crate::sweep::{Result, Sweep};
use std::f64::consts::PI;
use surject_ir::{BinaryOp, FieldId, FieldKind, UnaryOp};

impl Sweep {
    /// The cotangent of the operand of a unary operation; `None` where the derivative is zero.
    pub(crate) fn unary_rule(
        &mut self,
        op: UnaryOp,
        x: FieldId,
        z: FieldId,
        c: FieldId,
    ) -> Result<Option<FieldId>> {
        use UnaryOp::*;
        let complex = self.dtype(x).is_complex();
        let one = self.number(x, 1.0);
        let term = match op {
            Neg => self.neg(c)?,
            Abs if complex => self.modulus(x, z, c)?,
            Abs if self.ties == Ties::Jax => {
                let (zero, minus) = (self.number(x, 0.0), self.neg(c)?);
                let above = self.binary(BinaryOp::Ge, x, zero)?;
                self.select(above, c, minus)?
            }
            Abs => self.times(c, |s| s.unary(Sign, x))?,
            Sign if complex => return Err(self.unsupported_op("sign", "of a complex number")),
            Exp => self.times(c, |_| Ok(z))?,
            Expm1 => self.times(c, |s| s.add(z, one))?,
            Log => self.div(c, x)?,
            Log1p => self.over(c, |s| s.add(one, x))?,
            Logistic => self.times(c, |s| {
                let rest = s.sub(one, z)?;
                s.mul(z, rest)
            })?,
            Sqrt => {
                let half = self.scale(0.5, c)?;
                self.div(half, z)?
            }
            Rsqrt => {
                let half = self.scale(-0.5, c)?;
                self.times(half, |s| s.div(z, x))?
            }
            Cbrt => self.over(c, |s| {
                let square = s.mul(z, z)?;
                s.scale(3.0, square)
            })?,
            Sin => self.times(c, |s| s.unary(Cos, x))?,
            Cos => self.times(c, |s| {
                let sin = s.unary(Sin, x)?;
                s.neg(sin)
            })?,
            Tan => self.times(c, |s| {
                let square = s.mul(z, z)?;
                s.add(one, square)
            })?,
            Tanh => self.times(c, |s| {
                // Both factors keep their digits where the function saturates.
                let (above, below) = (s.add(one, z)?, s.sub(one, z)?);
                s.mul(above, below)
            })?,
            Asin => self.times(c, |s| s.inverse_root(x))?,
            Acos => {
                let minus = self.neg(c)?;
                self.times(minus, |s| s.inverse_root(x))?
            }
            Acosh => self.times(c, |s| {
                let (below, above) = (s.sub(x, one)?, s.add(x, one)?);
                let (a, b) = (s.unary(Rsqrt, below)?, s.unary(Rsqrt, above)?);
                s.mul(a, b)
            })?,
            Asinh => self.times(c, |s| {
                let square = s.mul(x, x)?;
                let sum = s.add(square, one)?;
                s.unary(Rsqrt, sum)
            })?,
            Atan => self.over(c, |s| {
                let square = s.mul(x, x)?;
                s.add(one, square)
            })?,
            Atanh => self.over(c, |s| s.one_minus_square(x))?,
            Cosh => self.times(c, |s| s.unary(Sinh, x))?,
            Sinh => self.times(c, |s| s.unary(Cosh, x))?,
            Erf => self.times(c, |s| s.gauss(x, 2.0 / PI.sqrt()))?,
            Erfc => self.times(c, |s| s.gauss(x, -2.0 / PI.sqrt()))?,
            ErfInv => self.times(c, |s| {
                let square = s.mul(z, z)?;
                let exp = s.unary(Exp, square)?;
                s.scale(PI.sqrt() / 2.0, exp)
            })?,
            Lgamma => self.times(c, |s| s.unary(Digamma, x))?,
            Digamma => self.times(c, |s| s.trigamma(x))?,
            Real if complex => {
                let zero = self.number(c, 0.0);
                self.binary(BinaryOp::Complex, c, zero)?
            }
            Real => c,
            Imag if complex => {
                let (zero, minus) = (self.number(c, 0.0), self.neg(c)?);
                self.binary(BinaryOp::Complex, zero, minus)?
            }
            Imag | Sign | Floor | Ceil | RoundEven | RoundAway | IsFinite | Not | Popcount
            | CountLeadingZeros => return Ok(None),
        };
        Ok(Some(term))
    }

    /// The cotangent of the left operand of a binary operation; `None` where the derivative is zero.
    pub(crate) fn left_rule(
        &mut self,
        op: BinaryOp,
        x: FieldId,
        y: FieldId,
        z: FieldId,
        c: FieldId,
    ) -> Result<Option<FieldId>> {
        use BinaryOp::*;
        let term = match op {
            Add | Sub | Rem => c,
            Mul => self.mul(c, y)?,
            Div => self.div(c, y)?,
            Max | Min => self.chosen(op, x, y, z, c, true)?,
            Pow => self.times(c, |s| {
                // y · x^(y−1), and zero for y = 0, where x^(y−1) may be infinite.
                let (zero, one) = (s.number(y, 0.0), s.number(y, 1.0));
                let constant = s.binary(Eq, y, zero)?;
                let below = s.sub(y, one)?;
                let exponent = s.select(constant, one, below)?;
                let power = s.binary(Pow, x, exponent)?;
                let slope = s.mul(y, power)?;
                s.select(constant, zero, slope)
            })?,
            // z = atan2(x, y)
            Atan2 => self.times(c, |s| {
                let square = s.radius(x, y)?;
                s.div(y, square)
            })?,
            Complex => self.unary(UnaryOp::Real, c)?,
            NextAfter | And | Or | Xor | Shl | ShrArith | ShrLogical | Eq | Ne | Lt | Le | Gt | Ge => {
                return Ok(None);
            }
        };
        Ok(Some(term))
    }

    /// The cotangent of the right operand of a binary operation; `None` where the derivative is zero.
    pub(crate) fn right_rule(
        &mut self,
        op: BinaryOp,
        x: FieldId,
        y: FieldId,
        z: FieldId,
        c: FieldId,
    ) -> Result<Option<FieldId>> {
        use BinaryOp::*;
        let term = match op {
            Add => c,
            Sub => self.neg(c)?,
            Mul => self.mul(c, x)?,
            Div => {
                let minus = self.neg(c)?;
                self.times(minus, |s| s.div(z, y))?
            }
            Rem => {
                // x − y · trunc(x / y)
                let minus = self.neg(c)?;
                self.times(minus, |s| {
                    let quotient = s.div(x, y)?;
                    let sign = s.unary(UnaryOp::Sign, quotient)?;
                    let size = s.unary(UnaryOp::Abs, quotient)?;
                    let whole = s.unary(UnaryOp::Floor, size)?;
                    s.mul(sign, whole)
                })?
            }
            Max | Min => self.chosen(op, y, x, z, c, false)?,
            Pow => self.times(c, |s| {
                // ln x · xʸ, and zero for x = 0 and where xʸ vanishes.
                let (zero, one) = (s.number(x, 0.0), s.number(x, 1.0));
                let is_zero = s.binary(Eq, x, zero)?;
                let vanishes = s.binary(Eq, z, zero)?;
                let is_zero = s.binary(Or, is_zero, vanishes)?;
                let base = s.select(is_zero, one, x)?;
                let log = s.unary(UnaryOp::Log, base)?;
                s.mul(log, z)
            })?,
            Atan2 => {
                let minus = self.neg(c)?;
                self.times(minus, |s| {
                    let square = s.radius(x, y)?;
                    s.div(x, square)
                })?
            }
            Complex => {
                // z = x + iy is transposed: the part of c is multiplied by i.
                let imag = self.unary(UnaryOp::Imag, c)?;
                self.neg(imag)?
            }
            NextAfter | And | Or | Xor | Shl | ShrArith | ShrLogical | Eq | Ne | Lt | Le | Gt | Ge => {
                return Ok(None);
            }
        };
        Ok(Some(term))
    }

    /// `c · slope`
    fn times(&mut self, c: FieldId, slope: impl FnOnce(&mut Sweep) -> Result<FieldId>) -> Result<FieldId> {
        let slope = slope(self)?;
        self.mul(c, slope)
    }

    /// `c / slope`
    fn over(&mut self, c: FieldId, slope: impl FnOnce(&mut Sweep) -> Result<FieldId>) -> Result<FieldId> {
        let slope = slope(self)?;
        self.div(c, slope)
    }

    /// `(1 − x)(1 + x)`
    fn one_minus_square(&mut self, x: FieldId) -> Result<FieldId> {
        let one = self.number(x, 1.0);
        let (below, above) = (self.sub(one, x)?, self.add(one, x)?);
        self.mul(below, above)
    }

    /// `1 / √(1 − x²)`
    fn inverse_root(&mut self, x: FieldId) -> Result<FieldId> {
        let inside = self.one_minus_square(x)?;
        self.unary(UnaryOp::Rsqrt, inside)
    }

    /// `factor · e^(−x²)`
    fn gauss(&mut self, x: FieldId, factor: f64) -> Result<FieldId> {
        let square = self.mul(x, x)?;
        let minus = self.neg(square)?;
        let exp = self.unary(UnaryOp::Exp, minus)?;
        self.scale(factor, exp)
    }

    /// `x² + y²`
    fn radius(&mut self, x: FieldId, y: FieldId) -> Result<FieldId> {
        let (xx, yy) = (self.mul(x, x)?, self.mul(y, y)?);
        self.add(xx, yy)
    }

    /// The complex conjugate.
    pub(crate) fn conj(&mut self, x: FieldId) -> Result<FieldId> {
        let (re, im) = (self.unary(UnaryOp::Real, x)?, self.unary(UnaryOp::Imag, x)?);
        let im = self.neg(im)?;
        self.binary(BinaryOp::Complex, re, im)
    }

    /// The cotangent of `x` for the modulus `z = |x|` of a complex number: `c · x̄ / z`, and zero for zero.
    fn modulus(&mut self, x: FieldId, z: FieldId, c: FieldId) -> Result<FieldId> {
        let (zero, one) = (self.number(z, 0.0), self.number(z, 1.0));
        let vanishes = self.binary(BinaryOp::Eq, z, zero)?;
        let safe = self.select(vanishes, one, z)?;
        let ratio = self.div(c, safe)?;
        let dtype = self.dtype(x);
        let ratio = self.convert(dtype, ratio);
        let conjugate = self.conj(x)?;
        self.mul(ratio, conjugate)
    }

    /// The cotangent of one operand of a maximum or minimum `z` of `own` and `other`.
    fn chosen(
        &mut self,
        op: BinaryOp,
        own: FieldId,
        other: FieldId,
        z: FieldId,
        c: FieldId,
        first: bool,
    ) -> Result<FieldId> {
        if self.dtype(own).is_complex() {
            return Err(self.unsupported_op(op.name(), "of complex numbers"));
        }
        let tie = self.binary(BinaryOp::Eq, own, other)?;
        let neither = self.ties == Ties::Jax && {
            let (x, y) = if first { (own, other) } else { (other, own) };
            self.gives_up_ties(op, x, y)?
        };
        let share = match self.ties {
            Ties::All => c,
            Ties::Jax if neither => {
                let zero = self.number(c, 0.0);
                self.select(tie, zero, c)?
            }
            Ties::Split | Ties::Jax => {
                let half = self.scale(0.5, c)?;
                self.select(tie, half, c)?
            }
            Ties::First if first => c,
            Ties::First => {
                let zero = self.number(c, 0.0);
                self.select(tie, zero, c)?
            }
        };
        let chosen = self.binary(BinaryOp::Eq, own, z)?;
        self.masked(chosen, share)
    }

    /// Does JAX give the gradient of this maximum or minimum to neither operand where they are equal? So it does for
    /// `clamp`, which is a minimum of a maximum in one statement, and for `relu` and `relu6`.
    fn gives_up_ties(&mut self, op: BinaryOp, x: FieldId, y: FieldId) -> Result<bool> {
        let id = self.binary(op, x, y)?;
        let named = self.origin.as_deref().is_some_and(|o| o.ends_with("@relu") || o.ends_with("@relu6"));
        Ok(named || self.clamps.contains(&id))
    }

    /// Notes the extrema of a stored field that are a `clamp`.
    pub(crate) fn note_clamp(&mut self, root: FieldId) {
        if let FieldKind::Binary { op: BinaryOp::Min, x, .. } = self.f.fields[root].kind
            && let FieldKind::Binary { op: BinaryOp::Max, .. } = self.f.fields[x].kind
        {
            self.clamps.extend([root, x]);
        }
    }
}
