//! Functions where they reach their limits: what is missing from 1 is as right as the function is, in compiled code.
//!
//! The formulas of every kind of machine are tested one by one in `src/math/tests`; these are those of this machine.

use crate::harness::*;
use crate::math::{line, run};
use surject_codegen::Target;
use surject_ir::{BinaryOp, DType, Scalar, UnaryOp, eval};

/// What is missing from 1, in `f64`.
fn missing(op: UnaryOp, x: f64) -> f64 {
    let of = |op, x| eval::unary(op, Scalar::from_f64(DType::F64, x)).unwrap().as_f64();
    match op {
        UnaryOp::Tanh => 2.0 * of(UnaryOp::Logistic, -2.0 * x),
        UnaryOp::Erf => of(UnaryOp::Erfc, x),
        _ => of(UnaryOp::Logistic, -x),
    }
}

/// `1 - f`, `log(1 - f)` and `x (1 - f)`, up to where `f` is 1 and beyond.
#[test]
fn what_is_missing_from_one() {
    let mut list: Vec<f32> = (0..40_000).map(|i| i as f32 * 5e-4).collect();
    list.extend([1e2, 1e4, 3e8, 1e38, f32::MAX, f32::INFINITY, f32::MIN_POSITIVE, f32::from_bits(1)]);
    // The last numbers of which the functions are not 1, and the first others.
    for last in [9.010913f32, 3.9192057, 17.32868] {
        list.extend((0..400).map(|i| f32::from_bits(last.to_bits() - 200 + i)));
    }
    let values: Vec<f64> = list.iter().map(|&x| x.into()).collect();
    for target in [Target::host(), half_lines(), Target::generic()] {
        for op in [UnaryOp::Tanh, UnaryOp::Erf, UnaryOp::Logistic] {
            let (mut f, p) = function(&[(DType::F32, &[list.len() as u64])]);
            let one = f.fields.constant(&space(&[list.len() as u64]), Scalar::from_f64(DType::F32, 1.0));
            let y = f.fields.unary(op, p[0]).unwrap();
            let rest = f.fields.binary(BinaryOp::Sub, one, y).unwrap();
            let log = f.fields.unary(UnaryOp::Log, rest).unwrap();
            let product = f.fields.binary(BinaryOp::Mul, p[0], rest).unwrap();
            for field in [rest, log, product] {
                result(&mut f, field);
            }
            let found = run(f, &[line(DType::F32, &values)], &target);
            for (i, &x) in list.iter().enumerate() {
                let [rest, log, product] = [0, 1, 2].map(|k| found[k].get(i).as_f64());
                let exact = missing(op, x.into());
                // Half a unit of the function, where it is near 1; two elsewhere.
                let units = if exact < 2f64.powi(-16) { 0.502 } else { 2.0 };
                assert!(
                    (rest - exact).abs() <= units * 2f64.powi(-24),
                    "1 - {op}({x:e}) is {rest:e}, exactly {exact:e}"
                );
                let expected = rest.ln();
                assert!(
                    log == expected
                        || (log - expected).abs() <= 2.0 * f64::from(f32::EPSILON) * expected.abs(),
                    "log(1 - {op}({x:e})) is {log:e}, of {rest:e} it is {expected:e}"
                );
                let expected = f64::from(x * rest as f32);
                let same = product == expected || (product.is_nan() && expected.is_nan());
                assert!(same, "{x:e} (1 - {op}({x:e})) is {product:e}, expected {expected:e}");
            }
        }
    }
}

/// All numbers of 16 bits: limits are those of the interpreter, other values next to its at most.
#[test]
fn halves() {
    let ops = [
        UnaryOp::Exp,
        UnaryOp::Expm1,
        UnaryOp::Log,
        UnaryOp::Log1p,
        UnaryOp::Logistic,
        UnaryOp::Tanh,
        UnaryOp::Erf,
        UnaryOp::Erfc,
        UnaryOp::ErfInv,
        UnaryOp::Atan,
        UnaryOp::Sinh,
        UnaryOp::Cosh,
        UnaryOp::Asinh,
        UnaryOp::Acosh,
        UnaryOp::Atanh,
        UnaryOp::Rsqrt,
        UnaryOp::Cbrt,
        UnaryOp::Sin,
        UnaryOp::Tan,
        UnaryOp::Asin,
        UnaryOp::Acos,
    ];
    for dtype in [DType::F16, DType::BF16] {
        let all: Vec<Scalar> = (0..1u128 << 16).map(|bits| Scalar::from_bits(dtype, bits)).collect();
        let (mut f, p) = function(&[(dtype, &[all.len() as u64])]);
        for op in ops {
            let field = f.fields.unary(op, p[0]).unwrap();
            result(&mut f, field);
        }
        let found = run(f, &[crate::pointwise::line(&all)], &Target::host());
        for (&op, found) in ops.iter().zip(&found) {
            for (i, &x) in all.iter().enumerate() {
                let (y, expected) = (found.get(i), eval::unary(op, x).unwrap());
                let (a, b) = (y.as_f64(), expected.as_f64());
                if y.bits() == expected.bits() || (a.is_nan() && b.is_nan()) {
                    continue;
                }
                let limit = b.is_nan() || b.is_infinite() || [0.0, 1.0, 2.0].contains(&b.abs());
                let near = y.bits().abs_diff(expected.bits()) <= 1;
                assert!(near && !limit, "{op}({x:?}) is {y:?}, expected {expected:?}");
            }
        }
    }
}
