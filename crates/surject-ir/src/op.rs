//! Scalar operations and accumulation operators, with their type rules and neutral elements.
//!
//! The scalar semantics is that of the StableHLO specification for the element type at hand; where XLA and the
//! specification leave a choice, the doc comment of the variant says what Surject does.

use crate::named;
use surject_runtime::{DType, Scalar};

named! {
    /// An operation on one element. Unless the variant says otherwise it keeps the element type and is defined
    /// for floats and complex numbers.
    UnaryOp {
        /// Two's complement negation of integers, sign flip of floats.
        Neg = "neg",
        /// Absolute value; the modulus of a complex number, a real. The most negative integer stays.
        Abs = "abs",
        /// −1, 0 or 1; NaN for NaN, −0 for −0; `z / |z|` for complex numbers.
        Sign = "sign",
        /// `eˣ`
        Exp = "exp",
        /// `eˣ − 1`
        Expm1 = "expm1",
        /// The natural logarithm.
        Log = "log",
        /// `ln(1 + x)`
        Log1p = "log1p",
        /// `1 / (1 + e⁻ˣ)`
        Logistic = "logistic",
        /// The square root.
        Sqrt = "sqrt",
        /// `1 / √x`
        Rsqrt = "rsqrt",
        /// The real cube root (floats only).
        Cbrt = "cbrt",
        /// Sine.
        Sin = "sin",
        /// Cosine.
        Cos = "cos",
        /// Tangent.
        Tan = "tan",
        /// Hyperbolic tangent.
        Tanh = "tanh",
        /// Arc cosine (floats only, as all that follow up to `IsFinite`).
        Acos = "acos",
        /// Inverse hyperbolic cosine.
        Acosh = "acosh",
        /// Arc sine.
        Asin = "asin",
        /// Inverse hyperbolic sine.
        Asinh = "asinh",
        /// Arc tangent.
        Atan = "atan",
        /// Inverse hyperbolic tangent.
        Atanh = "atanh",
        /// Hyperbolic cosine.
        Cosh = "cosh",
        /// Hyperbolic sine.
        Sinh = "sinh",
        /// The error function.
        Erf = "erf",
        /// `1 − erf x`
        Erfc = "erfc",
        /// The inverse of the error function.
        ErfInv = "erf_inv",
        /// The logarithm of the absolute value of the gamma function.
        Lgamma = "lgamma",
        /// The derivative of `lgamma`.
        Digamma = "digamma",
        /// The largest integer not above.
        Floor = "floor",
        /// The smallest integer not below.
        Ceil = "ceil",
        /// To the nearest integer, ties to even.
        RoundEven = "round_even",
        /// To the nearest integer, ties away from zero.
        RoundAway = "round_away",
        /// Neither infinite nor NaN; the result is `i1`.
        IsFinite = "is_finite",
        /// Bitwise complement of integers, logical of `i1`.
        Not = "not",
        /// Number of bits set (integers).
        Popcount = "popcount",
        /// Number of leading zero bits (integers).
        CountLeadingZeros = "clz",
        /// The real part of a complex number; a float is its own.
        Real = "real",
        /// The imaginary part of a complex number; 0 for a float.
        Imag = "imag",
    }
}

named! {
    /// An operation on two elements of one type.
    BinaryOp {
        /// Sum; wraps in integers; *or* on `i1`.
        Add = "add",
        /// Difference; wraps in integers.
        Sub = "sub",
        /// Product; wraps in integers; *and* on `i1`.
        Mul = "mul",
        /// Quotient; truncates in integers; integer division by zero gives −1 (all bits set), the most
        /// negative integer divided by −1 gives itself.
        Div = "div",
        /// Remainder with the sign of the dividend; integer remainder by zero gives the dividend.
        Rem = "rem",
        /// The larger one; NaN if either is NaN; −0 < +0; *or* on `i1`; lexicographic on complex numbers.
        Max = "max",
        /// The smaller one; NaN if either is NaN; −0 < +0; *and* on `i1`; lexicographic on complex numbers.
        Min = "min",
        /// Power. Integers: wraps; a negative exponent gives 0, or ±1 for the bases ±1.
        Pow = "pow",
        /// The angle of the point (y, x): `atan2(y, x)` (floats).
        Atan2 = "atan2",
        /// The next float after the first in the direction of the second.
        NextAfter = "next_after",
        /// Bitwise *and* (integers, `i1`).
        And = "and",
        /// Bitwise *or* (integers, `i1`).
        Or = "or",
        /// Bitwise exclusive *or* (integers, `i1`).
        Xor = "xor",
        /// Shift left; 0 when the amount is negative or at least the width.
        Shl = "shl",
        /// Shift right, filling with the sign; all sign bits when the amount is out of range.
        ShrArith = "shr_arith",
        /// Shift right, filling with zeros; 0 when the amount is out of range.
        ShrLogical = "shr_logical",
        /// A complex number from its real and imaginary parts.
        Complex = "complex",
        /// Equal (IEEE on floats); the result is `i1`, as for the five that follow.
        Eq = "eq",
        /// Not equal (true for NaN).
        Ne = "ne",
        /// Less; signed or unsigned by the element type.
        Lt = "lt",
        /// Less or equal.
        Le = "le",
        /// Greater.
        Gt = "gt",
        /// Greater or equal.
        Ge = "ge",
    }
}

named! {
    /// The operator `⊕` of an accumulation: associative, commutative, with a typed neutral element.
    AccOp {
        /// Sum; *or* on `i1`.
        Add = "+",
        /// Product; *and* on `i1`.
        Mul = "*",
        /// Maximum.
        Max = "max",
        /// Minimum.
        Min = "min",
        /// Bitwise *and*.
        And = "and",
        /// Bitwise *or*.
        Or = "or",
        /// Bitwise exclusive *or*.
        Xor = "xor",
        /// Moves elements along a bijective map; nothing is accumulated.
        Set = "set",
    }
}

impl UnaryOp {
    /// The element type of the result, or `None` where the operation is not defined for the operand's type.
    pub fn result(self, x: DType) -> Option<DType> {
        use UnaryOp::*;
        let defined = match self {
            Neg | Abs | Sign => {
                x.is_float() || x.is_complex() || x.is_int() && !(self == Abs && x.is_unsigned_int())
            }
            Exp | Expm1 | Log | Log1p | Logistic | Sqrt | Rsqrt | Sin | Cos | Tan | Tanh | Real | Imag => {
                x.is_float() || x.is_complex()
            }
            Not => x.is_int() || x.is_bool(),
            Popcount | CountLeadingZeros => x.is_int(),
            _ => x.is_float(),
        };
        defined.then_some(match self {
            Abs | Real | Imag => x.part(),
            IsFinite => DType::I1,
            _ => x,
        })
    }
}

impl BinaryOp {
    /// The element type of the result, or `None` where the operation is not defined for the operands' types.
    pub fn result(self, x: DType, y: DType) -> Option<DType> {
        use BinaryOp::*;
        let number = x.is_float() || x.is_complex() || x.is_int();
        let defined = x == y
            && match self {
                Add | Mul | Max | Min => true,
                Sub | Div | Pow => number,
                Rem => x.is_float() || x.is_int(),
                Atan2 => x.is_float() || x.is_complex(),
                NextAfter => x.is_float(),
                And | Or | Xor => x.is_int() || x.is_bool(),
                Shl | ShrArith | ShrLogical => x.is_int(),
                Complex => matches!(x, DType::F32 | DType::F64),
                Eq | Ne => true,
                Lt | Le | Gt | Ge => !x.is_complex(),
            };
        defined.then_some(match self {
            Eq | Ne | Lt | Le | Gt | Ge => DType::I1,
            Complex if x == DType::F32 => DType::C64,
            Complex => DType::C128,
            _ => x,
        })
    }

    /// Does `x ∘ y = y ∘ x` hold bit for bit (up to the payload of a NaN)?
    pub fn is_commutative(self) -> bool {
        use BinaryOp::*;
        matches!(self, Add | Mul | Max | Min | And | Or | Xor | Eq | Ne)
    }

    /// Is it a comparison?
    pub fn is_comparison(self) -> bool {
        use BinaryOp::*;
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge)
    }
}

impl AccOp {
    /// The pointwise operation that joins two partial results; `None` for `set`.
    pub fn binary(self) -> Option<BinaryOp> {
        Some(match self {
            AccOp::Add => BinaryOp::Add,
            AccOp::Mul => BinaryOp::Mul,
            AccOp::Max => BinaryOp::Max,
            AccOp::Min => BinaryOp::Min,
            AccOp::And => BinaryOp::And,
            AccOp::Or => BinaryOp::Or,
            AccOp::Xor => BinaryOp::Xor,
            AccOp::Set => return None,
        })
    }

    /// The operator whose pointwise form is `op`.
    pub fn from_binary(op: BinaryOp) -> Option<AccOp> {
        AccOp::ALL.iter().copied().find(|a| a.binary() == Some(op))
    }

    /// Is the accumulation defined for this element type?
    pub fn is_defined(self, dtype: DType) -> bool {
        self.binary().is_none_or(|op| op.result(dtype, dtype).is_some())
    }

    /// The value that an accumulation starts from, `e` with `e ⊕ x = x`: 0 for sums, 1 for products, the smallest value of
    /// the type for max (−∞ for floats), the largest for min, all bits set for *and*, 0 for *or* and *xor*. Zero for `set`,
    /// where it is never seen.
    ///
    /// The equation holds bit for bit (a NaN stays a NaN) but for two cases. A sum of floats starts from +0.0, as programs
    /// state it: +0.0 + −0.0 is +0.0, so a sum is never −0.0 and a sum of one term is not always the term. What is joined to
    /// a value that may be −0.0 and must keep it is [`AccOp::exact_neutral`]. And for products of complex numbers
    /// `1 · z = z` holds only up to the signs of zeros, and not at all where `z` is infinite: `(1 + 0i) · (∞ + 0i)` has an
    /// imaginary part `0 · ∞`, a NaN. [`crate::range::Range::starts_as`] says for which values a join with it may be left
    /// out.
    pub fn neutral(self, dtype: DType) -> Scalar {
        let all_ones = Scalar::from_bits(dtype, u128::MAX);
        match self {
            AccOp::Add | AccOp::Or | AccOp::Xor | AccOp::Set => Scalar::zero(dtype),
            AccOp::Mul => Scalar::one(dtype),
            AccOp::And => all_ones,
            AccOp::Max | AccOp::Min => {
                let largest = self == AccOp::Min;
                match dtype {
                    d if d.is_complex() => {
                        let end = if largest { f64::INFINITY } else { f64::NEG_INFINITY };
                        Scalar::from_complex(d, num_complex::Complex::new(end, end))
                    }
                    d if d.is_float() => {
                        Scalar::from_f64(d, if largest { f64::INFINITY } else { f64::NEG_INFINITY })
                    }
                    d if d.is_signed_int() => {
                        let half = 1u128 << (d.bits() - 1);
                        Scalar::from_bits(d, if largest { half - 1 } else { half })
                    }
                    d if largest => Scalar::from_bits(d, u128::MAX),
                    d => Scalar::zero(d),
                }
            }
        }
    }

    /// The element `e` with `e ⊕ x = x` bit for bit for every `x` (a NaN stays a NaN): −0.0 for sums of floats and of complex
    /// numbers, where an accumulation starts from +0.0. What puts pieces side by side by adding them is this where the other
    /// pieces are.
    pub fn exact_neutral(self, dtype: DType) -> Scalar {
        match self {
            AccOp::Add if dtype.is_float() => Scalar::from_f64(dtype, -0.0),
            AccOp::Add if dtype.is_complex() => {
                Scalar::from_complex(dtype, num_complex::Complex::new(-0.0, -0.0))
            }
            _ => self.neutral(dtype),
        }
    }

    /// Does a term of this value change nothing in any accumulation? Zeros of both signs in sums, else the neutral element.
    pub fn absorbs(self, value: Scalar) -> bool {
        let (dtype, start) = (value.dtype(), self.neutral(value.dtype()));
        value == start
            || self == AccOp::Add
                && (dtype.is_float() || dtype.is_complex())
                && value.as_complex() == start.as_complex()
    }
}
