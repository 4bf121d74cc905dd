//! The accuracy of the transcendental functions of `f64`, against a library of arbitrary precision.

use crate::harness::*;
use crate::math::{line, pairs, run, switch_points, whole_range, worst};
use astro_float::{BigFloat, Consts, RoundingMode::ToEven, Sign};
use surject_codegen::Target;
use surject_ir::{BinaryOp, DType, UnaryOp};

/// Bits of the reference.
const P: usize = 256;

/// Through a normal number: the library misreads subnormal ones.
fn big(x: f64) -> BigFloat {
    let scale = 2f64.powi(100);
    if x.abs() >= f64::MIN_POSITIVE || x == 0.0 {
        return BigFloat::from_f64(x, P);
    }
    BigFloat::from_f64(x * scale, P).div(&BigFloat::from_f64(scale, P), P, ToEven)
}

/// The exact value of a function at a finite argument where it is finite and not zero; `None`: there is no such value.
fn exact(op: UnaryOp, value: f64, c: &mut Consts) -> Option<BigFloat> {
    let (x, one) = (big(value), big(1.0));
    // Below this the functions with the tangent y = x are x + a x², for what counts.
    let tiny = value.abs() < 2f64.powi(-60);
    let tangent = |a: f64| x.add(&x.mul(&x, P, ToEven).mul(&big(a), P, ToEven), P, ToEven);
    Some(match op {
        UnaryOp::Exp => x.exp(P, ToEven, c),
        UnaryOp::Expm1 if tiny => tangent(0.5),
        UnaryOp::Expm1 => x.exp(P, ToEven, c).sub(&one, P, ToEven),
        UnaryOp::Log if value > 0.0 => x.ln(P, ToEven, c),
        UnaryOp::Log1p if tiny => tangent(-0.5),
        UnaryOp::Log1p if value > -1.0 => x.add(&one, P, ToEven).ln(P, ToEven, c),
        UnaryOp::Logistic => one.div(&x.neg().exp(P, ToEven, c).add(&one, P, ToEven), P, ToEven),
        UnaryOp::Tanh
        | UnaryOp::Sin
        | UnaryOp::Tan
        | UnaryOp::Sinh
        | UnaryOp::Asinh
        | UnaryOp::Atanh
        | UnaryOp::Asin
        | UnaryOp::Atan
            if tiny =>
        {
            tangent(0.0)
        }
        UnaryOp::Tanh if value.abs() > 50.0 => big(value.signum()),
        UnaryOp::Tanh => x.tanh(P, ToEven, c),
        UnaryOp::Sin => x.sin(P, ToEven, c),
        UnaryOp::Cos => x.cos(P, ToEven, c),
        UnaryOp::Tan => x.tan(P, ToEven, c),
        UnaryOp::Sinh => x.sinh(P, ToEven, c),
        UnaryOp::Cosh => x.cosh(P, ToEven, c),
        UnaryOp::Asinh => x.asinh(P, ToEven, c),
        UnaryOp::Acosh if value >= 1.0 => x.acosh(P, ToEven, c),
        UnaryOp::Atanh if value.abs() < 1.0 => x.atanh(P, ToEven, c),
        UnaryOp::Asin if value.abs() <= 1.0 => x.asin(P, ToEven, c),
        UnaryOp::Acos if value.abs() < 1.0 => x.acos(P, ToEven, c),
        UnaryOp::Atan => x.atan(P, ToEven, c),
        UnaryOp::Cbrt => x.cbrt(P, ToEven),
        _ => return None,
    })
}

/// The distance of an `f64` from the exact value in units of the last place.
fn units(found: f64, exact: &BigFloat) -> f64 {
    if exact.is_zero() {
        return if found == 0.0 { 0.0 } else { f64::INFINITY };
    }
    let Some((_, _, sign, exponent, _)) = exact.as_raw_parts() else {
        // The reference overflows or underflows.
        let expected = if exact.is_inf_pos() { f64::INFINITY } else { f64::NEG_INFINITY };
        return if found == expected { 0.0 } else { f64::INFINITY };
    };
    if exponent > 1024 {
        let expected = if sign == Sign::Pos { f64::INFINITY } else { f64::NEG_INFINITY };
        return if found == expected || found.abs() == f64::MAX { 0.0 } else { f64::INFINITY };
    }
    if found.is_infinite() {
        // The largest number rounded up.
        return if exponent == 1024 { 1.0 } else { f64::INFINITY };
    }
    let place = (exponent - 1).max(-1022) - 52;
    let difference = big(found).sub(exact, P, ToEven);
    let Some((words, _, _, exponent, _)) = difference.as_raw_parts() else { return 0.0 };
    if difference.is_zero() {
        return 0.0;
    }
    let top = words.last().copied().unwrap_or(0) as f64 / 2f64.powi(64);
    top * 2f64.powi((exponent - place).clamp(-1000, 1000))
}

const BOUNDS: &[(UnaryOp, f64)] = &[
    (UnaryOp::Exp, 1.5),
    (UnaryOp::Expm1, 2.0),
    (UnaryOp::Log, 1.0),
    (UnaryOp::Log1p, 1.5),
    (UnaryOp::Logistic, 2.0),
    (UnaryOp::Tanh, 2.0),
    (UnaryOp::Sin, 1.0),
    (UnaryOp::Cos, 1.0),
    (UnaryOp::Tan, 2.5),
    (UnaryOp::Sinh, 3.0),
    (UnaryOp::Cosh, 3.0),
    (UnaryOp::Asinh, 3.0),
    (UnaryOp::Acosh, 3.0),
    (UnaryOp::Atanh, 3.0),
    (UnaryOp::Asin, 2.0),
    (UnaryOp::Acos, 2.0),
    (UnaryOp::Atan, 2.0),
    (UnaryOp::Cbrt, 1.5),
];

#[test]
fn double_precision() {
    let mut list = whole_range(DType::F64, 1);
    list.retain(|x| x.is_finite());
    list.extend(switch_points().iter().step_by(8));
    let ops: Vec<UnaryOp> = BOUNDS.iter().map(|b| b.0).collect();
    let mut constants = Consts::new().unwrap();
    let distance = |op, x: f64, y: f64| match exact(op, x, &mut constants) {
        Some(exact) => units(y, &exact),
        // Where the function has no finite value, the functions of the interpreter know.
        None => {
            let expected =
                surject_ir::eval::unary(op, surject_ir::Scalar::from_f64(DType::F64, x)).unwrap().as_f64();
            if y == expected || (y.is_nan() && expected.is_nan()) { 0.0 } else { f64::INFINITY }
        }
    };
    let mut failed = String::new();
    for (&(op, bound), (units, x, y)) in
        BOUNDS.iter().zip(worst(DType::F64, &list, &ops, &Target::host(), distance))
    {
        let line = format!("{op}: {units:.2} units at {x:e}: {y:e}\n");
        eprint!("{line}");
        if units > bound {
            failed.push_str(&line);
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

/// Ends, limits and zeros of both signs are those of the functions of the interpreter.
#[test]
fn ends_in_double_precision() {
    let list = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0, -1.0, 2.0, -3.0];
    for &(op, _) in BOUNDS {
        let (mut f, p) = function(&[(DType::F64, &[list.len() as u64])]);
        let field = f.fields.unary(op, p[0]).unwrap();
        result(&mut f, field);
        let found = run(f, &[line(DType::F64, &list)], &Target::host()).swap_remove(0);
        for (i, &x) in list.iter().enumerate() {
            let expected =
                surject_ir::eval::unary(op, surject_ir::Scalar::from_f64(DType::F64, x)).unwrap().as_f64();
            let y = found.get(i).as_f64();
            let close = (y - expected).abs() <= 1e-15 * expected.abs()
                && y.is_sign_negative() == expected.is_sign_negative();
            assert!(
                y.to_bits() == expected.to_bits() || close || (y.is_nan() && expected.is_nan()),
                "{op} {x}: {y}, {expected}"
            );
        }
    }
}

/// Both values finite and not zero: the absolute value of the power or of the angle.
fn exact_of_two(op: BinaryOp, x: f64, y: f64, c: &mut Consts) -> BigFloat {
    if op == BinaryOp::Pow {
        return big(x.abs()).ln(P, ToEven, c).mul(&big(y), P, ToEven).exp(P, ToEven, c);
    }
    let angle = big(x).div(&big(y), P, ToEven).abs().atan(P, ToEven, c);
    if y < 0.0 { c.pi(P, ToEven).sub(&angle, P, ToEven) } else { angle }
}

#[test]
fn powers_and_angles_in_double_precision() {
    let (mut xs, mut ys) = pairs(DType::F64);
    xs.truncate(20_000);
    ys.truncate(20_000);
    // Points near the axes and the diagonals, and those whose sums or quotients are out of range.
    for (i, k) in (-8..9).flat_map(|i| (-8..9).map(move |k| (i, k))) {
        let near = |k: i32| f64::from(k).abs() * f64::EPSILON + 1.0;
        for (a, b) in [(near(i), near(k)), (near(i), near(k) * 2.0), (1e-3 * near(i), near(k))] {
            for scale in
                [1.0, -1.0, f64::MAX / 4.0, f64::MIN_POSITIVE, f64::MIN_POSITIVE * f64::EPSILON * 8.0]
            {
                xs.extend([a * scale, b * scale]);
                ys.extend([b * scale, -a * scale]);
            }
        }
    }
    for op in [BinaryOp::Pow, BinaryOp::Atan2] {
        worst_of_two(op, &xs, &ys, if op == BinaryOp::Pow { 4.0 } else { 2.0 });
    }
}

fn worst_of_two(op: BinaryOp, xs: &[f64], ys: &[f64], bound: f64) {
    let args = [line(DType::F64, xs), line(DType::F64, ys)];
    let n = xs.len() as u64;
    let (mut f, p) = function(&[(DType::F64, &[n]), (DType::F64, &[n])]);
    let field = f.fields.binary(op, p[0], p[1]).unwrap();
    result(&mut f, field);
    let found = run(f, &args, &Target::host()).swap_remove(0);
    let mut constants = Consts::new().unwrap();
    let mut worst = (0.0, 0.0, 0.0, 0.0);
    for i in 0..found.len() {
        let (x, y, z) = (xs[i], ys[i], found.get(i).as_f64());
        let wide = |v| surject_ir::Scalar::from_f64(DType::F64, v);
        let expected = surject_ir::eval::binary(op, wide(x), wide(y)).unwrap().as_f64();
        let finite = x.is_finite() && y.is_finite() && x != 0.0 && !expected.is_nan();
        let distance = if finite && (op == BinaryOp::Pow || y != 0.0) {
            let exact = exact_of_two(op, x, y, &mut constants);
            if expected != 0.0 && z != 0.0 && z.is_sign_negative() != expected.is_sign_negative() {
                f64::INFINITY
            } else {
                units(z.abs(), &exact)
            }
        } else if z.to_bits() == expected.to_bits() || (z.is_nan() && expected.is_nan()) {
            0.0
        } else {
            f64::INFINITY
        };
        if distance > worst.0 {
            worst = (distance, x, y, z);
        }
    }
    let line = format!("{op}: {:.2} units at {:e} and {:e}: {:e}", worst.0, worst.1, worst.2, worst.3);
    eprintln!("{line}");
    assert!(worst.0 <= bound, "{line}");
}
