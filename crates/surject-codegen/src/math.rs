//! Transcendental functions.
//!
//! `f32` has vector code of its own for the functions of neural networks: the argument is reduced, a polynomial
//! of Cephes (S. Moshier; of M. Giles for the inverse error function) is evaluated with fused multiply-adds, and what lies outside the range of the reduction
//! is put right by selects. NaN gives NaN, infinities their limits, subnormal arguments and results are kept.
//! Everything else calls the functions of [`surject_runtime::math`], lane by lane.

use crate::CodegenError;
use crate::emit::{At, Elem, Emitter};
use surject_ir::UnaryOp;

/// A transcendental function of a float.
pub fn unary(em: &mut Emitter<'_>, at: At, op: UnaryOp, e: Elem, x: &str) -> Result<String, CodegenError> {
    use UnaryOp::*;
    if e == Elem::F32 {
        let own = match op {
            Exp => Some(exp(em, at, x)),
            Expm1 => Some(expm1(em, at, x)),
            Log => Some(log(em, at, x)),
            Log1p => Some(log1p(em, at, x)),
            Logistic => Some(logistic(em, at, x)),
            Tanh => Some(tanh(em, at, x)),
            ErfInv => Some(erf_inv(em, at, x)),
            _ => None,
        };
        if let Some(value) = own {
            return Ok(value);
        }
    }
    let name = match op {
        Exp | Expm1 | Log | Log1p | Logistic | Cbrt | Sin | Cos | Tan | Tanh | Acos | Acosh | Asin
        | Asinh | Atan | Atanh | Cosh | Sinh | Erf | Erfc | ErfInv | Lgamma | Digamma => op.name(),
        _ => return Err(CodegenError::malformed(format!("`{op}` of a float"))),
    };
    let suffix = if e == Elem::F64 { "f64" } else { "f32" };
    Ok(em.call(at, &format!("surject_{name}_{suffix}"), &[x], e))
}

const F: Elem = Elem::F32;
const I: Elem = Elem::I32;

impl Emitter<'_> {
    fn fma(&mut self, at: At, a: &str, b: &str, c: &str) -> String {
        self.op(at.scope, &format!("math.fma {a}, {b}, {c} : {}", F.ty(at.lanes)))
    }

    /// A polynomial, highest coefficient first.
    fn horner(&mut self, at: At, x: &str, coefficients: &[f64]) -> String {
        let mut sum = self.float(at, F, coefficients[0]);
        for &c in &coefficients[1..] {
            let c = self.float(at, F, c);
            sum = self.fma(at, &sum, x, &c);
        }
        sum
    }

    /// `2^n` for an integer of at least −126 and at most 127.
    fn power_of_two(&mut self, at: At, n: &str) -> String {
        let (bias, shift) = (self.integer(at, I, 127), self.integer(at, I, 23));
        let biased = self.bin(at, "arith.addi", n, &bias, I);
        let bits = self.bin(at, "arith.shli", &biased, &shift, I);
        self.cast(at, "arith.bitcast", &bits, I, F)
    }
}

const EXP: [f64; 6] = [
    1.987_569_15e-4,
    1.398_199_950_7e-3,
    8.333_451_907_3e-3,
    4.166_579_589_4e-2,
    1.666_666_545_9e-1,
    5.000_000_120_1e-1,
];

/// `n` as an integer and as a float, and `r` with `x = n ln 2 + r` and `|r| ≤ ln 2 / 2`, for `|x| < 2^20`.
fn reduce_by_ln2(em: &mut Emitter<'_>, at: At, x: &str) -> (String, String) {
    // Adding 1.5·2^23 leaves the rounded integer in the low bits, for NaN as well without anything undefined.
    let magic = 12_582_912.0;
    let (log2e, shift) = (em.float(at, F, std::f64::consts::LOG2_E), em.float(at, F, magic));
    let shifted = em.fma(at, x, &log2e, &shift);
    let n = em.bin(at, "arith.subf", &shifted, &shift, F);
    let bits = em.cast(at, "arith.bitcast", &shifted, F, I);
    let base = em.integer(at, I, i64::from((magic as f32).to_bits()));
    let integer = em.bin(at, "arith.subi", &bits, &base, I);
    let (high, low) = (em.float(at, F, -0.693_359_375), em.float(at, F, 2.121_944_400_546_905_8e-4));
    let r = em.fma(at, &n, &high, x);
    let r = em.fma(at, &n, &low, &r);
    (integer, r)
}

fn clamp(em: &mut Emitter<'_>, at: At, x: &str, low: f64, high: f64) -> String {
    let (low, high) = (em.float(at, F, low), em.float(at, F, high));
    // Comparisons with NaN are false, so that NaN passes.
    let below = em.cmpf(at, "olt", x, &low, F);
    let x = em.select(at, &below, &low, x, F);
    let above = em.cmpf(at, "ogt", &x, &high, F);
    em.select(at, &above, &high, &x, F)
}

fn exp(em: &mut Emitter<'_>, at: At, x: &str) -> String {
    // Beyond these bounds the result is infinite or zero, and the scaling below gives that.
    let x = clamp(em, at, x, -105.0, 90.0);
    let (n, r) = reduce_by_ln2(em, at, &x);
    let p = em.horner(at, &r, &EXP);
    let square = em.bin(at, "arith.mulf", &r, &r, F);
    let one = em.float(at, F, 1.0);
    let sum = em.bin(at, "arith.addf", &r, &one, F);
    let y = em.fma(at, &p, &square, &sum);
    // Two factors, because 2^n alone may be subnormal or too large.
    let half = em.integer(at, I, 1);
    let first = em.bin(at, "arith.shrsi", &n, &half, I);
    let second = em.bin(at, "arith.subi", &n, &first, I);
    let (a, b) = (em.power_of_two(at, &first), em.power_of_two(at, &second));
    let y = em.bin(at, "arith.mulf", &y, &a, F);
    em.bin(at, "arith.mulf", &y, &b, F)
}

fn expm1(em: &mut Emitter<'_>, at: At, original: &str) -> String {
    // Beyond the upper bound the result is infinite; at the bound 2^n stays finite.
    let x = clamp(em, at, original, -20.0, 88.8);
    let (n, r) = reduce_by_ln2(em, at, &x);
    let p = em.horner(at, &r, &EXP);
    let square = em.bin(at, "arith.mulf", &r, &r, F);
    let q = em.fma(at, &p, &square, &r);
    // 2^n q + (2^n − 1), halved on the way so that 2^128 does not occur.
    let (one, half) = (em.integer(at, I, 1), em.float(at, F, -0.5));
    let n = em.bin(at, "arith.subi", &n, &one, I);
    let s = em.power_of_two(at, &n);
    let rest = em.bin(at, "arith.addf", &s, &half, F);
    let y = em.fma(at, &s, &q, &rest);
    let y = em.bin(at, "arith.addf", &y, &y, F);
    // Keeps −0.
    let zero = em.float(at, F, 0.0);
    let at_zero = em.cmpf(at, "oeq", original, &zero, F);
    em.select(at, &at_zero, original, &y, F)
}

const LOG: [f64; 9] = [
    7.037_683_629_2e-2,
    -1.151_461_031_0e-1,
    1.167_699_874_0e-1,
    -1.242_014_084_6e-1,
    1.424_932_278_7e-1,
    -1.666_805_766_5e-1,
    2.000_071_476_5e-1,
    -2.499_999_399_3e-1,
    3.333_333_117_4e-1,
];

fn log(em: &mut Emitter<'_>, at: At, x: &str) -> String {
    let (zero, one) = (em.float(at, F, 0.0), em.float(at, F, 1.0));
    // Subnormal arguments are scaled up by 2^23.
    let smallest = em.float(at, F, f64::from(f32::MIN_POSITIVE));
    let scale = em.float(at, F, 8_388_608.0);
    let tiny = em.cmpf(at, "olt", x, &smallest, F);
    let scaled = em.bin(at, "arith.mulf", x, &scale, F);
    let y = em.select(at, &tiny, &scaled, x, F);
    let (small_bias, bias) = (em.integer(at, I, 126 + 23), em.integer(at, I, 126));
    let bias = em.select(at, &tiny, &small_bias, &bias, I);
    let bits = em.cast(at, "arith.bitcast", &y, F, I);
    let shift = em.integer(at, I, 23);
    let power = em.bin(at, "arith.shrui", &bits, &shift, I);
    let power = em.bin(at, "arith.subi", &power, &bias, I);
    let (mantissa_mask, half_bits) = (em.integer(at, I, 0x7f_ffff), em.integer(at, I, 0x3f00_0000));
    let mantissa = em.bin(at, "arith.andi", &bits, &mantissa_mask, I);
    let mantissa = em.bin(at, "arith.ori", &mantissa, &half_bits, I);
    let m = em.cast(at, "arith.bitcast", &mantissa, I, F);
    // m in [√½, √2)
    let root = em.float(at, F, std::f64::consts::FRAC_1_SQRT_2);
    let low = em.cmpf(at, "olt", &m, &root, F);
    let doubled = em.bin(at, "arith.addf", &m, &m, F);
    let m = em.select(at, &low, &doubled, &m, F);
    let m = em.bin(at, "arith.subf", &m, &one, F);
    let power = em.cast(at, "arith.sitofp", &power, I, F);
    let less = em.bin(at, "arith.subf", &power, &one, F);
    let power = em.select(at, &low, &less, &power, F);
    let z = em.bin(at, "arith.mulf", &m, &m, F);
    let p = em.horner(at, &m, &LOG);
    let p = em.bin(at, "arith.mulf", &p, &m, F);
    let p = em.bin(at, "arith.mulf", &p, &z, F);
    let (low_part, high_part, half) =
        (em.float(at, F, -2.121_944_400_546_905_8e-4), em.float(at, F, 0.693_359_375), em.float(at, F, -0.5));
    let p = em.fma(at, &power, &low_part, &p);
    let p = em.fma(at, &z, &half, &p);
    let p = em.bin(at, "arith.addf", &m, &p, F);
    let p = em.fma(at, &power, &high_part, &p);
    // 0 → −∞, negative → NaN, +∞ and NaN → themselves.
    let infinity = em.float(at, F, f64::INFINITY);
    let finite = em.cmpf(at, "olt", x, &infinity, F);
    let p = em.select(at, &finite, &p, x, F);
    let (minus_infinity, nan) = (em.float(at, F, f64::NEG_INFINITY), em.float(at, F, f64::NAN));
    let at_zero = em.cmpf(at, "oeq", x, &zero, F);
    let p = em.select(at, &at_zero, &minus_infinity, &p, F);
    let negative = em.cmpf(at, "olt", x, &zero, F);
    em.select(at, &negative, &nan, &p, F)
}

/// `log(1 + x)`, corrected for what `1 + x` lost (W. Kahan).
fn log1p(em: &mut Emitter<'_>, at: At, x: &str) -> String {
    let one = em.float(at, F, 1.0);
    let u = em.bin(at, "arith.addf", &one, x, F);
    let l = log(em, at, &u);
    let back = em.bin(at, "arith.subf", &u, &one, F);
    let quotient = em.bin(at, "arith.divf", x, &back, F);
    let y = em.bin(at, "arith.mulf", &l, &quotient, F);
    let infinity = em.float(at, F, f64::INFINITY);
    let (small, large) = (em.cmpf(at, "oeq", &u, &one, F), em.cmpf(at, "oeq", x, &infinity, F));
    let itself = em.bin(at, "arith.ori", &small, &large, Elem::I1);
    em.select(at, &itself, x, &y, F)
}

/// `1 / (1 + e^-x)`, as `e^x / (1 + e^x)` for negative `x`: the exponential is never infinite.
fn logistic(em: &mut Emitter<'_>, at: At, x: &str) -> String {
    let size = em.un(at, "math.absf", x, F);
    let size = em.un(at, "arith.negf", &size, F);
    let e = exp(em, at, &size);
    let (zero, one) = (em.float(at, F, 0.0), em.float(at, F, 1.0));
    let negative = em.cmpf(at, "olt", x, &zero, F);
    let top = em.select(at, &negative, &e, &one, F);
    let sum = em.bin(at, "arith.addf", &one, &e, F);
    em.bin(at, "arith.divf", &top, &sum, F)
}

const TANH: [f64; 5] = [
    -5.704_988_727_45e-3,
    2.063_908_879_54e-2,
    -5.373_971_555_31e-2,
    1.333_144_220_36e-1,
    -3.333_328_194_22e-1,
];

fn tanh(em: &mut Emitter<'_>, at: At, x: &str) -> String {
    let size = em.un(at, "math.absf", x, F);
    // Near zero a polynomial, elsewhere 1 − 2 / (e^2|x| + 1).
    let z = em.bin(at, "arith.mulf", x, x, F);
    let p = em.horner(at, &z, &TANH);
    let p = em.bin(at, "arith.mulf", &p, &z, F);
    let near = em.fma(at, &p, x, x);
    let twice = em.bin(at, "arith.addf", &size, &size, F);
    let e = exp(em, at, &twice);
    let (one, minus_two) = (em.float(at, F, 1.0), em.float(at, F, -2.0));
    let sum = em.bin(at, "arith.addf", &e, &one, F);
    let quotient = em.bin(at, "arith.divf", &minus_two, &sum, F);
    let far = em.bin(at, "arith.addf", &one, &quotient, F);
    let far = em.bin(at, "math.copysign", &far, x, F);
    let limit = em.float(at, F, 0.625);
    let is_near = em.cmpf(at, "olt", &size, &limit, F);
    em.select(at, &is_near, &near, &far, F)
}

/// The polynomials of M. Giles, "Approximating the erfinv function": near zero, and towards the ends.
const ERF_INV: [[f64; 9]; 2] = [
    [
        2.810_226_36e-8,
        3.432_739_39e-7,
        -3.523_387_7e-6,
        -4.391_506_54e-6,
        2.185_808_7e-4,
        -1.253_725_03e-3,
        -4.177_681_64e-3,
        2.466_407_27e-1,
        1.501_409_41,
    ],
    [
        -2.002_142_57e-4,
        1.009_505_58e-4,
        1.349_343_22e-3,
        -3.673_428_44e-3,
        5.739_507_73e-3,
        -7.622_461_3e-3,
        9.438_870_47e-3,
        1.001_674_06,
        2.832_976_82,
    ],
];

fn erf_inv(em: &mut Emitter<'_>, at: At, x: &str) -> String {
    // (1 − |x|) (1 + |x|): near the ends 1 − x² would have lost what counts.
    let (size, one) = (em.un(at, "math.absf", x, F), em.float(at, F, 1.0));
    let (less, more) = (em.bin(at, "arith.subf", &one, &size, F), em.bin(at, "arith.addf", &one, &size, F));
    let u = em.bin(at, "arith.mulf", &less, &more, F);
    let w = log(em, at, &u);
    let w = em.un(at, "arith.negf", &w, F);
    let (five, half, three) = (em.float(at, F, 5.0), em.float(at, F, 2.5), em.float(at, F, 3.0));
    let near = em.cmpf(at, "olt", &w, &five, F);
    let inner = em.bin(at, "arith.subf", &w, &half, F);
    let root = em.un(at, "math.sqrt", &w, F);
    let outer = em.bin(at, "arith.subf", &root, &three, F);
    let (a, b) = (em.horner(at, &inner, &ERF_INV[0]), em.horner(at, &outer, &ERF_INV[1]));
    let p = em.select(at, &near, &a, &b, F);
    let y = em.bin(at, "arith.mulf", &p, x, F);
    // At the ends the polynomial is not infinite.
    let end = em.cmpf(at, "oeq", &size, &one, F);
    let infinity = em.float(at, F, f64::INFINITY);
    let infinite = em.bin(at, "arith.mulf", x, &infinity, F);
    em.select(at, &end, &infinite, &y, F)
}
