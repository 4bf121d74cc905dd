//! Special functions as formulas: the high half of products, the Hurwitz zeta function, polygamma and the scaled
//! Bessel function I₁.

use super::cx::{Cx, accumulator};
use super::state::Result;
use surject_ir::{BinaryOp, DType, FieldId, Scalar, UnaryOp};

/// A function of floats computed in `f32` where the operands are narrower, in their own type otherwise.
pub(super) fn in_f32(
    cx: &mut Cx<'_, '_>,
    args: &[FieldId],
    function: impl Fn(&mut Cx<'_, '_>, &[FieldId]) -> Result<FieldId>,
) -> Result<FieldId> {
    let dtype = cx.dtype(args[0]);
    if !dtype.is_float() {
        return Err(cx.unsupported(format!("operands of type {dtype}")));
    }
    let wide: Vec<FieldId> = args.iter().map(|&x| cx.convert(accumulator(dtype), x)).collect();
    let result = function(cx, &wide)?;
    Ok(cx.convert(dtype, result))
}

/// The high half of the product of two integers.
pub(super) fn mulhi(cx: &mut Cx<'_, '_>, x: FieldId, y: FieldId) -> Result<FieldId> {
    let dtype = cx.dtype(x);
    if !dtype.is_int() {
        return Err(cx.unsupported(format!("operands of type {dtype}")));
    }
    let (wide, shift) = match dtype.is_signed_int() {
        true => (DType::I64, BinaryOp::ShrArith),
        false => (DType::U64, BinaryOp::ShrLogical),
    };
    if dtype.bits() < 64 {
        let space = cx.space(x);
        let (x, y) = (cx.convert(wide, x), cx.convert(wide, y));
        let product = cx.binary(BinaryOp::Mul, x, y)?;
        let bits = cx.constant(&space, Scalar::from_i128(wide, i128::from(dtype.bits())));
        let high = cx.binary(shift, product, bits)?;
        return Ok(cx.convert(dtype, high));
    }
    let (ux, uy) = (cx.bitcast(DType::U64, x)?, cx.bitcast(DType::U64, y)?);
    let high = mulhi_u64(cx, ux, uy)?;
    if dtype == DType::U64 {
        return Ok(high);
    }
    // As signed numbers, a negative factor has counted 2⁶⁴ too much.
    let mut high = cx.bitcast(DType::I64, high)?;
    let zero = cx.number(x, 0.0);
    for (sign, other) in [(x, y), (y, x)] {
        let negative = cx.binary(BinaryOp::Lt, sign, zero)?;
        let excess = cx.select(negative, other, zero)?;
        high = cx.binary(BinaryOp::Sub, high, excess)?;
    }
    Ok(high)
}

fn mulhi_u64(cx: &mut Cx<'_, '_>, x: FieldId, y: FieldId) -> Result<FieldId> {
    let space = cx.space(x);
    let half = cx.constant(&space, Scalar::from_i128(DType::U64, 32));
    let mask = cx.constant(&space, Scalar::from_i128(DType::U64, 0xFFFF_FFFF));
    let low = |cx: &mut Cx<'_, '_>, v| cx.binary(BinaryOp::And, v, mask);
    let high = |cx: &mut Cx<'_, '_>, v| cx.binary(BinaryOp::ShrLogical, v, half);
    let (xl, xh, yl, yh) = (low(cx, x)?, high(cx, x)?, low(cx, y)?, high(cx, y)?);
    let ll = cx.binary(BinaryOp::Mul, xl, yl)?;
    let carry = high(cx, ll)?;
    let hl = cx.binary(BinaryOp::Mul, xh, yl)?;
    let middle = cx.binary(BinaryOp::Add, hl, carry)?;
    let lh = cx.binary(BinaryOp::Mul, xl, yh)?;
    let rest = low(cx, middle)?;
    let other = cx.binary(BinaryOp::Add, lh, rest)?;
    let hh = cx.binary(BinaryOp::Mul, xh, yh)?;
    let (a, b) = (high(cx, middle)?, high(cx, other)?);
    let sum = cx.binary(BinaryOp::Add, hh, a)?;
    cx.binary(BinaryOp::Add, sum, b)
}

/// `B₂ⱼ / (2j)!` for j = 1, 2, …: the coefficients of the Euler–Maclaurin formula.
const BERNOULLI: [f64; 12] = [
    1.0 / 12.0,
    -1.0 / 720.0,
    1.0 / 30240.0,
    -1.0 / 1_209_600.0,
    1.0 / 47_900_160.0,
    -691.0 / 1_307_674_368_000.0,
    1.0 / 74_724_249_600.0,
    -3617.0 / 10_670_622_842_880_000.0,
    43867.0 / 5_109_094_217_170_944_000.0,
    -174_611.0 / 802_857_662_698_291_200_000.0,
    77683.0 / 14_101_100_039_391_805_440_000.0,
    -236_364_091.0 / 1_693_824_136_731_743_669_452_800_000.0,
];

/// The Hurwitz zeta function `ζ(x, q) = Σ (q + k)⁻ˣ`: ten terms of the sum, then the Euler–Maclaurin formula for the
/// rest. Infinite at `x = 1`, NaN below it; for `q ≤ 0` a pole at the integers and NaN where `x` is no integer.
pub(super) fn zeta(cx: &mut Cx<'_, '_>, x: FieldId, q: FieldId) -> Result<FieldId> {
    let (zero, one, half) = (cx.number(x, 0.0), cx.number(x, 1.0), cx.number(x, 0.5));
    let minus_x = cx.unary(UnaryOp::Neg, x)?;
    let mut sum = cx.binary(BinaryOp::Pow, q, minus_x)?;
    let mut a = q;
    for _ in 1..10 {
        a = cx.binary(BinaryOp::Add, a, one)?;
        let term = cx.binary(BinaryOp::Pow, a, minus_x)?;
        sum = cx.binary(BinaryOp::Add, sum, term)?;
    }
    a = cx.binary(BinaryOp::Add, a, one)?;
    let power = cx.binary(BinaryOp::Pow, a, minus_x)?;
    let x1 = cx.binary(BinaryOp::Sub, x, one)?;
    let ratio = cx.binary(BinaryOp::Div, a, x1)?;
    let mut factor = cx.binary(BinaryOp::Add, ratio, half)?;
    // x (x+1) … (x+2j-2) a^(1-2j), term by term.
    let mut rising = cx.binary(BinaryOp::Div, x, a)?;
    let square = cx.binary(BinaryOp::Mul, a, a)?;
    for (j, &coefficient) in BERNOULLI.iter().enumerate() {
        let coefficient = cx.number(x, coefficient);
        let term = cx.binary(BinaryOp::Mul, coefficient, rising)?;
        factor = cx.binary(BinaryOp::Add, factor, term)?;
        for step in [2 * j + 1, 2 * j + 2] {
            let step = cx.number(x, step as f64);
            let next = cx.binary(BinaryOp::Add, x, step)?;
            rising = cx.binary(BinaryOp::Mul, rising, next)?;
        }
        rising = cx.binary(BinaryOp::Div, rising, square)?;
    }
    let tail = cx.binary(BinaryOp::Mul, power, factor)?;
    let value = cx.binary(BinaryOp::Add, sum, tail)?;

    let (nan, infinity) = (cx.number(x, f64::NAN), cx.number(x, f64::INFINITY));
    let (x_floor, q_floor) = (cx.unary(UnaryOp::Floor, x)?, cx.unary(UnaryOp::Floor, q)?);
    let x_broken = cx.binary(BinaryOp::Ne, x, x_floor)?;
    let q_whole = cx.binary(BinaryOp::Eq, q, q_floor)?;
    let two = cx.number(x, 2.0);
    let rest = cx.binary(BinaryOp::Rem, x, two)?;
    let x_even = cx.binary(BinaryOp::Eq, rest, zero)?;
    let pole = cx.select(x_even, infinity, nan)?;
    let left = cx.select(x_broken, nan, value)?;
    let left = cx.select(q_whole, pole, left)?;
    let q_left = cx.binary(BinaryOp::Le, q, zero)?;
    let value = cx.select(q_left, left, value)?;
    let below = cx.binary(BinaryOp::Lt, x, one)?;
    let value = cx.select(below, nan, value)?;
    let at = cx.binary(BinaryOp::Eq, x, one)?;
    cx.select(at, infinity, value)
}

/// `ψ⁽ⁿ⁾(x) = (-1)ⁿ⁺¹ n! ζ(n + 1, x)`, and digamma for n = 0; NaN where n is negative or no integer.
pub(super) fn polygamma(cx: &mut Cx<'_, '_>, n: FieldId, x: FieldId) -> Result<FieldId> {
    let (zero, one, two) = (cx.number(n, 0.0), cx.number(n, 1.0), cx.number(n, 2.0));
    let next = cx.binary(BinaryOp::Add, n, one)?;
    let log_factorial = cx.unary(UnaryOp::Lgamma, next)?;
    let factorial = cx.unary(UnaryOp::Exp, log_factorial)?;
    let series = zeta(cx, next, x)?;
    let magnitude = cx.binary(BinaryOp::Mul, factorial, series)?;
    let minus = cx.unary(UnaryOp::Neg, magnitude)?;
    let rest = cx.binary(BinaryOp::Rem, n, two)?;
    let even = cx.binary(BinaryOp::Eq, rest, zero)?;
    let value = cx.select(even, minus, magnitude)?;
    let digamma = cx.unary(UnaryOp::Digamma, x)?;
    let is_zero = cx.binary(BinaryOp::Eq, n, zero)?;
    let value = cx.select(is_zero, digamma, value)?;
    let floor = cx.unary(UnaryOp::Floor, n)?;
    let whole = cx.binary(BinaryOp::Eq, n, floor)?;
    let positive = cx.binary(BinaryOp::Ge, n, zero)?;
    let defined = cx.binary(BinaryOp::And, whole, positive)?;
    let nan = cx.number(n, f64::NAN);
    cx.select(defined, value, nan)
}

/// `e^-|x| I₁(x)`: the power series (all of whose terms have one sign) up to |x| = 30, the asymptotic series beyond.
pub(super) fn bessel_i1e(cx: &mut Cx<'_, '_>, x: FieldId) -> Result<FieldId> {
    const LIMIT: f64 = 30.0;
    let magnitude = cx.unary(UnaryOp::Abs, x)?;
    let half = cx.number(x, 0.5);
    let half_x = cx.binary(BinaryOp::Mul, x, half)?;
    let quarter = cx.binary(BinaryOp::Mul, half_x, half_x)?;
    // Horner from the innermost: 1 + z/(1·2) (1 + z/(2·3) (1 + …)).
    let one = cx.number(x, 1.0);
    let mut series = one;
    for k in (1..=75).rev() {
        let inverse = cx.number(x, 1.0 / (f64::from(k) * f64::from(k + 1)));
        let step = cx.binary(BinaryOp::Mul, quarter, inverse)?;
        let product = cx.binary(BinaryOp::Mul, step, series)?;
        series = cx.binary(BinaryOp::Add, one, product)?;
    }
    let minus = cx.unary(UnaryOp::Neg, magnitude)?;
    let decay = cx.unary(UnaryOp::Exp, minus)?;
    let near = cx.binary(BinaryOp::Mul, half_x, series)?;
    let near = cx.binary(BinaryOp::Mul, near, decay)?;

    let inverse = cx.binary(BinaryOp::Div, one, magnitude)?;
    let mut tail = one;
    for k in (1..=22).rev() {
        let odd = f64::from(2 * k - 1);
        let coefficient = cx.number(x, -(4.0 - odd * odd) / (8.0 * f64::from(k)));
        let step = cx.binary(BinaryOp::Mul, coefficient, inverse)?;
        let product = cx.binary(BinaryOp::Mul, step, tail)?;
        tail = cx.binary(BinaryOp::Add, one, product)?;
    }
    let circle = cx.number(x, std::f64::consts::TAU);
    let area = cx.binary(BinaryOp::Mul, circle, magnitude)?;
    let scale = cx.unary(UnaryOp::Rsqrt, area)?;
    let sign = cx.unary(UnaryOp::Sign, x)?;
    let far = cx.binary(BinaryOp::Mul, scale, tail)?;
    let far = cx.binary(BinaryOp::Mul, sign, far)?;

    let limit = cx.number(x, LIMIT);
    let is_near = cx.binary(BinaryOp::Le, magnitude, limit)?;
    cx.select(is_near, near, far)
}
