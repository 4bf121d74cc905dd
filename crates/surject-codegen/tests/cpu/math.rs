//! The accuracy of the transcendental functions, in units of the last place over the whole range.

use crate::harness::*;
use crate::pointwise::special;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_4, PI, SQRT_2};
use surject_codegen::Target;
use surject_ir::{BinaryOp, Buffer, DType, Function, Program, Scalar, UnaryOp, eval};

/// Every exponent of a type with so many mantissas, of both signs, and what is special.
pub fn whole_range(dtype: DType, mantissas: u64) -> Vec<f64> {
    let (bits, last) = if dtype == DType::F64 { (52, 2047u64) } else { (23, 255) };
    let mut list: Vec<f64> = special(dtype).iter().map(|s| s.as_f64()).collect();
    let mut next = states(1);
    let mut sizes = Vec::new();
    for exponent in 0..last {
        for k in 0..mantissas {
            let state = next();
            let mantissa = match k {
                0 => 0,
                1 => (1 << bits) - 1,
                _ => (state >> 11) & ((1 << bits) - 1),
            };
            let raw = u128::from(exponent << bits | mantissa);
            sizes.push(Scalar::from_bits(dtype, raw).as_f64());
        }
    }
    // The negative ones by themselves: where one needs what is rarely needed, its neighbours are given it too.
    list.extend(&sizes);
    list.extend(sizes.iter().map(|value| -value));
    list
}

/// So many values between two bounds.
fn between(low: f64, high: f64, count: usize) -> impl Iterator<Item = f64> {
    (0..=count).map(move |i| low + (high - low) * (i as f64 / count as f64))
}

/// Values around the places where formulas change, and where functions are used.
pub fn switch_points() -> Vec<f64> {
    let mut list = Vec::new();
    for centre in [
        0.0,
        0.25,
        0.3466,
        0.5,
        0.625,
        FRAC_1_SQRT_2,
        FRAC_PI_4,
        0.925,
        1.0,
        1.125,
        SQRT_2,
        FRAC_PI_2,
        2.3562,
        PI,
        4.0,
        5.0,
        9.2,
        9.4,
        10.05,
        17.33,
        20.0,
        40.0,
        44.0,
        87.3,
        88.0,
        88.72,
        89.4,
        103.3,
        103.97,
        710.0,
        745.0,
    ] {
        for x in between(-1e-2, 1e-2, 120).chain(between(-1e-6, 1e-6, 60)) {
            list.extend([centre + x, -centre - x]);
        }
    }
    list.extend(between(-12.0, 12.0, 6000));
    list.extend(between(-120.0, 120.0, 6000));
    list.extend(between(0.0, 2.0, 4000).map(|x| x - 1.0));
    // The multiples of π/2.
    list.extend((1..2000).map(|k| f64::from(k) * FRAC_PI_2));
    list.extend((1..200).map(|k| f64::from(k * k * k) * 77.0 * FRAC_PI_2));
    list
}

pub fn line(dtype: DType, values: &[f64]) -> Buffer {
    let values: Vec<Scalar> = values.iter().map(|&v| Scalar::from_f64(dtype, v)).collect();
    Buffer::from_scalars(dtype, &[values.len()], &values).unwrap()
}

pub fn run(function: Function, args: &[Buffer], target: &Target) -> Vec<Buffer> {
    let program = Program { name: String::new(), functions: vec![function] };
    surject_ir::verify(&program).unwrap();
    execute(&lower(&program, "main", target).unwrap(), args)
}

/// The distance of an `f32` from the exact value in units of the last place; subnormal numbers have the unit of the
/// smallest normal one. Where only one of both is NaN, or infinite, or a zero of that sign, it is infinite.
fn units(found: f64, exact: f64) -> f64 {
    let rounded = f64::from(exact as f32);
    if exact.is_nan() || found.is_nan() {
        return if exact.is_nan() && found.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if exact == 0.0 && found == 0.0 {
        return if exact.is_sign_negative() == found.is_sign_negative() { 0.0 } else { f64::INFINITY };
    }
    if found.is_infinite() || rounded.is_infinite() {
        // Off by one at the largest number.
        let near = |v: f64| v.is_infinite() || v.abs() == f64::from(f32::MAX);
        return match found == rounded {
            true => 0.0,
            false if near(found) && near(rounded) && found.signum() == rounded.signum() => 1.0,
            false => f64::INFINITY,
        };
    }
    let exponent = (exact.abs().max(f64::MIN_POSITIVE).log2().floor() as i32).max(-126);
    (found - exact).abs() / 2f64.powi(exponent - 23)
}

const F32_BOUNDS: &[(UnaryOp, f64)] = &[
    (UnaryOp::Exp, 2.0),
    (UnaryOp::Log, 2.0),
    (UnaryOp::Log1p, 2.0),
    (UnaryOp::Expm1, 2.0),
    (UnaryOp::Tanh, 2.0),
    (UnaryOp::Logistic, 2.0),
    (UnaryOp::Erf, 2.0),
    (UnaryOp::Sin, 2.0),
    (UnaryOp::Cos, 2.0),
    (UnaryOp::Tan, 1.0),
    (UnaryOp::Sqrt, 0.501),
    (UnaryOp::Rsqrt, 2.0),
    (UnaryOp::Cbrt, 2.0),
    (UnaryOp::Erfc, 2.0),
    (UnaryOp::Asin, 1.0),
    (UnaryOp::Acos, 1.0),
    (UnaryOp::Atan, 2.0),
    (UnaryOp::Sinh, 1.0),
    (UnaryOp::Cosh, 2.0),
    (UnaryOp::Asinh, 1.0),
    (UnaryOp::Acosh, 1.0),
    (UnaryOp::Atanh, 1.0),
    (UnaryOp::ErfInv, 4.0),
    (UnaryOp::Lgamma, 2.0),
    (UnaryOp::Digamma, 2.0),
];

/// Runs functions of one argument and gives the worst distance of each from the exact value, by a function of the
/// operation, the argument and the result, with what is there.
pub fn worst(
    dtype: DType,
    list: &[f64],
    ops: &[UnaryOp],
    target: &Target,
    mut distance: impl FnMut(UnaryOp, f64, f64) -> f64,
) -> Vec<(f64, f64, f64)> {
    let args = [line(dtype, list)];
    ops.iter()
        .map(|&op| {
            let (mut f, p) = function(&[(dtype, &[list.len() as u64])]);
            let field = f.fields.unary(op, p[0]).unwrap();
            result(&mut f, field);
            let found = run(f, &args, target).swap_remove(0);
            let mut worst = (0.0, 0.0, 0.0);
            for i in 0..found.len() {
                let (x, y) = (args[0].get(i).as_f64(), found.get(i).as_f64());
                let distance = distance(op, x, y);
                if distance > worst.0 {
                    worst = (distance, x, y);
                }
            }
            worst
        })
        .collect()
}

#[test]
fn single_precision() {
    let mut list = whole_range(DType::F32, 40);
    list.extend(switch_points());
    check_single(&list);
}

/// Every so many-th number of the type.
#[test]
#[ignore = "takes minutes"]
fn single_precision_densely() {
    for start in 0..8 {
        let list: Vec<f64> = (start * 521..=u32::MAX - 4999)
            .step_by(8 * 521)
            .map(|bits| f64::from(f32::from_bits(bits)))
            .collect();
        check_single(&list);
    }
}

fn check_single(list: &[f64]) {
    let ops: Vec<UnaryOp> = F32_BOUNDS.iter().map(|b| b.0).collect();
    let distance = |op, x, y| {
        let exact = eval::unary(op, Scalar::from_f64(DType::F64, x)).unwrap().as_f64();
        units(y, exact)
    };
    let mut failed = String::new();
    let targets = [(Target::host(), "host"), (half_lines(), "half lines"), (Target::generic(), "generic")];
    for (target, name) in targets {
        for (&(op, bound), (units, x, y)) in
            F32_BOUNDS.iter().zip(worst(DType::F32, list, &ops, &target, distance))
        {
            let line = format!("{op} ({name}): {units:.2} units at {x:e}: {y:e}\n");
            eprint!("{line}");
            // Without tables of sixteen the complement is a quotient, of which more is lost.
            let bound = match op {
                UnaryOp::Erfc if target.lane_permute_width < 16 => 4.0,
                // 2.46 units over all numbers (`kernels::math::tests`).
                UnaryOp::Erf if target.lane_permute_width >= 16 => 2.5,
                _ => bound,
            };
            if units > bound {
                failed.push_str(&line);
            }
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

/// Against a library whose own results are within a unit.
#[test]
fn error_functions_in_double_precision() {
    let mut list = whole_range(DType::F64, 4);
    list.extend(switch_points());
    list.extend(between(-28.0, 28.0, 20_000));
    let distance = |op, x: f64, y: f64| {
        let exact = eval::unary(op, Scalar::from_f64(DType::F64, x)).unwrap().as_f64();
        match exact == y || (exact.is_nan() && y.is_nan()) {
            true => 0.0,
            false => (y - exact).abs() / (exact.abs() * f64::EPSILON).max(f64::MIN_POSITIVE * f64::EPSILON),
        }
    };
    let ops = [UnaryOp::Erf, UnaryOp::Erfc];
    for target in [Target::host(), Target::generic()] {
        for (op, (units, x, y)) in ops.iter().zip(worst(DType::F64, &list, &ops, &target, distance)) {
            eprintln!("{op}: {units:.2} units at {x:e}: {y:e}");
            assert!(units <= 4.0, "{op}: {units:.2} units at {x:e}: {y:e}");
        }
    }
}

/// Pairs of values where something happens and of random ones.
pub fn pairs(dtype: DType) -> (Vec<f64>, Vec<f64>) {
    let values: Vec<f64> = special(dtype)
        .iter()
        .map(|s| s.as_f64())
        .chain([2.0, -2.0, -3.0, 0.25, 1.0 + 1e-6, 1.0 - 1e-6, -1e9, 16_777_217.0, 0.1, -0.5, 40.0, 2.5])
        .collect();
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for &x in &values {
        for &y in &values {
            xs.push(x);
            ys.push(y);
        }
    }
    let mut next = states(7);
    let mut unit = || (next() >> 11) as f64 / 2f64.powi(53);
    let reach = if dtype == DType::F64 { 700.0 } else { 88.0 };
    for i in 0..60_000 {
        // Powers over all of the range of results.
        let x = (unit() * 2.0 - 1.0) * if i % 2 == 0 { 1.0 } else { 80.0 };
        let y = (unit() * 2.0 - 1.0) * reach / x.abs().max(1e-6);
        xs.push(x.exp());
        ys.push(y);
    }
    // By themselves: what is done to one is done to its neighbours.
    for _ in 0..60_000 {
        xs.push(-((unit() * 20.0).floor()));
        ys.push((unit() * 30.0 - 15.0).floor());
    }
    (xs, ys)
}

#[test]
fn powers_and_angles_in_single_precision() {
    let (xs, ys) = pairs(DType::F32);
    let args = [line(DType::F32, &xs), line(DType::F32, &ys)];
    for target in [Target::host(), half_lines(), Target::generic()] {
        for (op, bound) in [(BinaryOp::Pow, 2.0), (BinaryOp::Atan2, 2.0)] {
            let (mut f, p) = function(&[(DType::F32, &[xs.len() as u64]), (DType::F32, &[xs.len() as u64])]);
            let field = f.fields.binary(op, p[0], p[1]).unwrap();
            result(&mut f, field);
            let found = run(f, &args, &target).swap_remove(0);
            let mut worst = (0.0, 0.0, 0.0, 0.0);
            for i in 0..found.len() {
                let [x, y] = [0, 1].map(|k| args[k].get(i).as_f64());
                let wide = |v| Scalar::from_f64(DType::F64, v);
                let exact = eval::binary(op, wide(x), wide(y)).unwrap().as_f64();
                let z = found.get(i).as_f64();
                let distance = units(z, exact);
                if distance > worst.0 {
                    worst = (distance, x, y, z);
                }
            }
            let line =
                format!("{op}: {:.2} units at {:e} and {:e}: {:e}", worst.0, worst.1, worst.2, worst.3);
            eprintln!("{line}");
            assert!(worst.0 <= bound, "{line}");
        }
    }
}
