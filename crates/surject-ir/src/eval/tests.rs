use super::*;
use crate::{AccOp, BinaryOp, UnaryOp};
use num_complex::Complex;

fn f32s(x: f32) -> Scalar {
    of_f32(x)
}

fn int(dtype: DType, value: i128) -> Scalar {
    Scalar::from_i128(dtype, value)
}

fn f(dtype: DType, value: f64) -> Scalar {
    Scalar::from_f64(dtype, value)
}

/// One value of each kind for every type.
fn samples(dtype: DType) -> Vec<Scalar> {
    let floats =
        [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -2.5, 1e30, -1e-30, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    if dtype.is_complex() {
        let parts = floats.iter().flat_map(|&re| floats.map(|im| Complex::new(re, im)));
        return parts.map(|z| Scalar::from_complex(dtype, z)).collect();
    }
    if dtype.is_float() {
        return floats.iter().map(|&v| f(dtype, v)).collect();
    }
    [0, 1, 2, 3, -1, -2, 7, i64::MIN as i128, i64::MAX as i128, u64::MAX as i128, 0x80, 0x8000, 0x8000_0000]
        .iter()
        .map(|&v| int(dtype, v))
        .collect()
}

#[test]
fn defined_exactly_where_the_type_rules_say_so() {
    for d in DType::ALL {
        for x in samples(d) {
            for &op in UnaryOp::ALL {
                assert_eq!(unary(op, x).map(Scalar::dtype), op.result(d), "{op} {x:?}");
            }
            for e in DType::ALL {
                assert_eq!(convert(e, x).dtype(), e);
                assert_eq!(bitcast(e, x).is_some(), d.bits() == e.bits());
            }
            for (exponent, mantissa) in [(0, 3), (1, 0), (5, 10), (8, 7), (40, 90)] {
                let result = reduce_precision(exponent, mantissa, x);
                assert_eq!(result.is_some(), d.is_float() && exponent > 0);
            }
        }
        for e in DType::ALL {
            for (x, y) in samples(d).into_iter().flat_map(|x| samples(e).into_iter().map(move |y| (x, y))) {
                for &op in BinaryOp::ALL {
                    assert_eq!(binary(op, x, y).map(Scalar::dtype), op.result(d, e), "{op} {x:?} {y:?}");
                }
            }
        }
    }
}

#[test]
fn neutral_elements_are_neutral() {
    for d in DType::ALL {
        for &op in AccOp::ALL.iter().filter(|o| o.is_defined(d) && **o != AccOp::Set) {
            for x in samples(d) {
                // NaN times one may change the payload, and complex products mix the parts.
                let nan = x.as_complex().re.is_nan() || x.as_complex().im.is_nan();
                if nan || (d.is_complex() && op == AccOp::Mul) {
                    continue;
                }
                let neutral = op.exact_neutral(d);
                assert_eq!(acc(op, neutral, x), Some(x), "{op} {d}");
                assert_eq!(acc(op, x, neutral), Some(x), "{op} {d}");
                // What an accumulation starts from is, but for the sign of a zero in a sum; and a sum is never -0.0.
                let started = acc(op, op.neutral(d), x).unwrap();
                assert!(
                    started == x || op == AccOp::Add && started.as_complex() == x.as_complex(),
                    "{op} {d} {x:?}"
                );
                let starts = crate::range::Range::of(x).starts_as(op, d);
                assert!(!starts || started == x, "{op} {d} {x:?}");
                assert!(op.absorbs(neutral) && op.absorbs(op.neutral(d)));
            }
        }
    }
}

#[test]
fn integers() {
    use BinaryOp::*;
    let i8 = |v| int(DType::I8, v);
    let b = |op, x, y| binary(op, i8(x), i8(y)).unwrap().as_i128().unwrap();
    assert_eq!(b(Add, 127, 1), -128);
    assert_eq!(b(Mul, 100, 3), 44);
    assert_eq!((b(Div, 5, 0), b(Rem, 5, 0)), (-1, 5));
    assert_eq!((b(Div, -128, -1), b(Rem, -128, -1)), (-128, 0));
    assert_eq!((b(Div, -7, 2), b(Rem, -7, 2)), (-3, -1));
    assert_eq!(
        (b(Pow, 2, 7), b(Pow, 3, 5), b(Pow, 2, -1), b(Pow, -1, -3), b(Pow, 1, -9)),
        (-128, -13, 0, -1, 1)
    );
    assert_eq!((b(Shl, 1, 7), b(Shl, 1, 8), b(Shl, 1, -1)), (-128, 0, 0));
    assert_eq!((b(ShrArith, -128, 3), b(ShrArith, -128, 9), b(ShrArith, -5, -1)), (-16, -1, -1));
    assert_eq!((b(ShrLogical, -128, 3), b(ShrLogical, -128, 8)), (16, 0));
    let u8 = |v| int(DType::U8, v);
    assert_eq!(binary(ShrArith, u8(0b1011_1011), u8(2)), Some(u8(0b1110_1110)));
    assert_eq!(binary(ShrArith, u8(0b0011_1011), u8(9)), Some(u8(0)));
    assert_eq!(binary(Div, u8(5), u8(0)), Some(u8(255)));
    assert_eq!(unary(UnaryOp::CountLeadingZeros, u8(1)), Some(u8(7)));
    assert_eq!(unary(UnaryOp::CountLeadingZeros, int(DType::I64, 0)), Some(int(DType::I64, 64)));
    assert_eq!(unary(UnaryOp::Popcount, i8(-1)), Some(i8(8)));
    assert_eq!(unary(UnaryOp::Abs, i8(-128)), Some(i8(-128)));
    let max = int(DType::U64, u64::MAX as i128);
    assert_eq!(binary(Mul, max, max), Some(int(DType::U64, 1)));
    assert_eq!(binary(Add, Scalar::bool(true), Scalar::bool(true)), Some(Scalar::bool(true)));
    assert_eq!(binary(Mul, Scalar::bool(true), Scalar::bool(false)), Some(Scalar::bool(false)));
}

#[test]
fn floats() {
    use BinaryOp::*;
    let b = |op, x: f32, y: f32| f32_of(binary(op, f32s(x), f32s(y)).unwrap());
    assert_eq!(b(Max, -0.0, 0.0).to_bits(), 0);
    assert_eq!(b(Min, 0.0, -0.0).to_bits(), 0x8000_0000);
    assert!(b(Max, f32::NAN, 1.0).is_nan() && b(Min, 1.0, f32::NAN).is_nan());
    assert_eq!(b(Rem, -7.5, 2.0), -1.5);
    assert_eq!(b(NextAfter, 0.0, -1.0).to_bits(), 0x8000_0001);
    assert_eq!(b(NextAfter, 1.0, 2.0), 1.0 + f32::EPSILON);
    assert_eq!(b(NextAfter, f32::MAX, f32::INFINITY), f32::INFINITY);
    let u = |op, x: f32| f32_of(unary(op, f32s(x)).unwrap());
    assert_eq!(u(UnaryOp::Sign, -0.0).to_bits(), 0x8000_0000);
    assert_eq!(
        (u(UnaryOp::RoundEven, 2.5), u(UnaryOp::RoundAway, 2.5), u(UnaryOp::RoundAway, -0.5)),
        (2.0, 3.0, -1.0)
    );
    assert_eq!(u(UnaryOp::Rsqrt, -0.0), f32::NEG_INFINITY);
    assert_eq!(u(UnaryOp::Logistic, -1000.0), 0.0);
    assert_eq!(binary(Lt, f32s(f32::NAN), f32s(1.0)), Some(Scalar::bool(false)));
    assert_eq!(binary(Ne, f32s(f32::NAN), f32s(f32::NAN)), Some(Scalar::bool(true)));
    // bf16 rounds to nearest even after every operation.
    assert_eq!(binary(Add, f(DType::BF16, 256.0), f(DType::BF16, 1.0)), Some(f(DType::BF16, 256.0)));
    assert_eq!(
        binary(Add, f(DType::F16, 65504.0), f(DType::F16, 65504.0)),
        Some(f(DType::F16, f64::INFINITY))
    );
}

#[test]
fn conversions() {
    let nan = f32s(f32::NAN);
    assert_eq!(convert(DType::I32, nan), int(DType::I32, 0));
    assert_eq!(convert(DType::I8, f32s(300.7)), int(DType::I8, 127));
    assert_eq!(convert(DType::U8, f32s(-3.0)), int(DType::U8, 0));
    assert_eq!(convert(DType::I32, f32s(-2.9)), int(DType::I32, -2));
    assert_eq!(convert(DType::I1, nan), Scalar::bool(true));
    assert_eq!(convert(DType::I1, f32s(-0.0)), Scalar::bool(false));
    assert_eq!(convert(DType::I1, int(DType::I32, 256)), Scalar::bool(true));
    assert_eq!(convert(DType::I8, int(DType::I32, 300)), int(DType::I8, 44));
    assert_eq!(convert(DType::F32, int(DType::U64, u64::MAX as i128)), f32s(18446744073709551615.0));
    let z = Scalar::from_complex(DType::C64, Complex::new(1.5, 2.0));
    assert_eq!(convert(DType::F32, z), f32s(1.5));
    assert_eq!(convert(DType::C128, f32s(1.5)), Scalar::from_complex(DType::C128, Complex::new(1.5, 0.0)));
    assert_eq!(
        convert(DType::I1, Scalar::from_complex(DType::C64, Complex::new(0.0, 2.0))),
        Scalar::bool(true)
    );
    assert_eq!(
        convert(DType::BF16, int(DType::I64, (1 << 40) + (1 << 32) + 1)).as_f64(),
        ((1u64 << 40) + (1 << 33)) as f64
    );
    assert_eq!(convert(DType::F16, f(DType::F64, -1e300)), f(DType::F16, f64::NEG_INFINITY));
    // Directly from f64 to bf16: one rounding.
    assert_eq!(
        convert(DType::BF16, f(DType::F64, 1.0 + 1.0 / 256.0 + 1e-12)),
        f(DType::BF16, 1.0 + 1.0 / 128.0)
    );
}

#[test]
fn fewer_bits() {
    let r = |e, m, x| f32_of(reduce_precision(e, m, f32s(x)).unwrap());
    for x in [0.0, -0.0, 1.0, 1.5, 3.3333333, 1e-3, -65519.0, 65520.0, 1e30] {
        let half = half::f16::from_f32(x).to_f32();
        if half == 0.0 || half.abs() >= 6.2e-5 {
            assert_eq!(r(5, 10, x).to_bits(), half.to_bits(), "{x}");
        }
        assert_eq!(r(8, 7, x), half::bf16::from_f32(x).to_f32());
        assert_eq!(r(8, 23, x).to_bits(), x.to_bits());
    }
    assert_eq!(r(5, 10, 1e-7), 0.0);
    assert!(r(5, 10, f32::NAN).is_nan());
    assert!(r(5, 0, f32::NAN).is_nan());
    assert_eq!(r(5, 10, f32::NEG_INFINITY), f32::NEG_INFINITY);
}

#[test]
fn complex_functions() {
    use UnaryOp::*;
    let c = |re, im| Scalar::from_complex(DType::C128, Complex::new(re, im));
    let close = |a: Scalar, re: f64, im: f64| {
        let a = a.as_complex();
        assert!((a.re - re).abs() < 1e-14 * re.abs().max(1.0), "{a} {re} {im}");
        assert!((a.im - im).abs() < 1e-14 * im.abs().max(1.0), "{a} {re} {im}");
    };
    let z = c(0.7, -1.3);
    // Reference values from the definitions in exponentials.
    let e = |s: Complex<f64>| (s * Complex::new(0.7, -1.3)).exp();
    let i = Complex::i();
    let sin = (e(i) - e(-i)) / (2.0 * i);
    let cos = (e(i) + e(-i)) / 2.0;
    let tanh = (e(Complex::new(2.0, 0.0)) - 1.0) / (e(Complex::new(2.0, 0.0)) + 1.0);
    for (op, v) in [(Sin, sin), (Cos, cos), (Tan, sin / cos), (Tanh, tanh), (Expm1, e(1.0.into()) - 1.0)] {
        close(unary(op, z).unwrap(), v.re, v.im);
    }
    let root = unary(Sqrt, z).unwrap();
    close(binary(BinaryOp::Mul, root, root).unwrap(), 0.7, -1.3);
    close(unary(Exp, unary(Log, z).unwrap()).unwrap(), 0.7, -1.3);
    close(unary(Log1p, z).unwrap(), (1.7f64.powi(2) + 1.69).sqrt().ln(), (-1.3f64).atan2(1.7));
    close(binary(BinaryOp::Pow, z, c(2.0, 0.0)).unwrap(), 0.49 - 1.69, -1.82);
    close(binary(BinaryOp::Div, c(1.0, 1.0), c(0.0, 2.0)).unwrap(), 0.5, -0.5);
    close(binary(BinaryOp::Atan2, c(1.0, 0.0), c(-1.0, 0.0)).unwrap(), 1f64.atan2(-1.0), 0.0);
    assert_eq!(unary(Sqrt, c(-4.0, 0.0)), Some(c(0.0, 2.0)));
    assert_eq!(unary(Sqrt, c(-4.0, -0.0)), Some(c(0.0, -2.0)));
    close(unary(Tanh, c(400.0, 1.0)).unwrap(), 1.0, 0.0);
    close(unary(Logistic, c(-1000.0, 1.0)).unwrap(), 0.0, 0.0);
    assert_eq!(binary(BinaryOp::Div, c(1.0, 0.0), c(0.0, 0.0)).unwrap().as_complex().re, f64::INFINITY);
    assert_eq!(unary(Abs, c(3.0, 4.0)), Some(f(DType::F64, 5.0)));
}

/// NaN, infinities and zeros of functions of complex numbers are those of C's Annex G, and of XLA for powers; other values
/// are those of mpmath.
#[test]
fn complex_functions_at_special_points() {
    let mut faults = Vec::new();
    for value in crate::testing::complex_values() {
        for dtype in [DType::C64, DType::C128] {
            let Some(args) = value.args(dtype) else { continue };
            let found = match (value.unary(), value.binary()) {
                (Some(op), _) => unary(op, args[0]),
                (_, Some(op)) => binary(op, args[0], args[1]),
                _ => panic!("no operation `{}`", value.name),
            };
            faults.extend(value.fault(found.unwrap()));
        }
    }
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults[..faults.len().min(400)].join("\n"));
}
