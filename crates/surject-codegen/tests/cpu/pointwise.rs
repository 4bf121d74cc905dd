//! Pointwise operations on ordinary and on special values, and the accuracy of the vector functions.

use crate::harness::*;
use surject_ir::{BinaryOp, Buffer, DType, Function, Scalar, UnaryOp};

/// Values where something happens.
fn special(dtype: DType) -> Vec<Scalar> {
    if dtype.is_bool() {
        return vec![Scalar::bool(false), Scalar::bool(true)];
    }
    if dtype.is_int() {
        let bits = dtype.bits();
        let raw = [
            0,
            1,
            2,
            3,
            7,
            31,
            63,
            64,
            100,
            u128::MAX,
            u128::MAX - 1,
            1 << (bits - 1),
            (1 << (bits - 1)) - 1,
        ];
        return raw.iter().map(|&b| Scalar::from_bits(dtype, b)).collect();
    }
    let values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -2.5,
        1.5,
        3.0,
        1e-3,
        -7.25,
        88.0,
        -100.0,
        1e5,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let mut list: Vec<Scalar> = values.iter().map(|&v| Scalar::from_f64(dtype, v)).collect();
    // The smallest subnormal, the smallest normal and the largest number.
    list.push(Scalar::from_bits(dtype, 1));
    let mantissa = match dtype {
        DType::F16 => 10,
        DType::BF16 => 7,
        DType::F32 => 23,
        _ => 52,
    };
    list.push(Scalar::from_bits(dtype, 1 << mantissa));
    let infinity = Scalar::from_f64(dtype, f64::INFINITY).bits();
    list.push(Scalar::from_bits(dtype, infinity - 1));
    list
}

fn line(values: &[Scalar]) -> Buffer {
    Buffer::from_scalars(values[0].dtype(), &[values.len()], values).unwrap()
}

/// Can the operation differ from the interpreter in the last bits, or in more where libraries differ?
fn check_bits(f: Function, args: Vec<Buffer>) {
    check_with(f, 1e-6, Some(args));
}

#[test]
fn binary_operations() {
    for dtype in DType::ALL.into_iter().filter(|d| !d.is_complex()) {
        let list = special(dtype);
        let pairs: Vec<(Scalar, Scalar)> =
            list.iter().flat_map(|&x| list.iter().map(move |&y| (x, y))).collect();
        let (x, y): (Vec<Scalar>, Vec<Scalar>) = pairs.into_iter().unzip();
        let n = x.len() as u64;
        let (mut f, p) = function(&[(dtype, &[n]), (dtype, &[n])]);
        for &op in BinaryOp::ALL {
            let half = dtype.size() == 2 && dtype.is_float() && op == BinaryOp::NextAfter;
            if op == BinaryOp::Complex || op.result(dtype, dtype).is_none() || half {
                continue;
            }
            let field = f.fields.binary(op, p[0], p[1]).unwrap();
            result(&mut f, field);
        }
        check_bits(f, vec![line(&x), line(&y)]);
    }
}

#[test]
fn conversions_and_exact_operations() {
    for dtype in DType::ALL.into_iter().filter(|d| !d.is_complex()) {
        let list = special(dtype);
        let (mut f, p) = function(&[(dtype, &[list.len() as u64])]);
        for to in DType::ALL {
            if to != dtype {
                let field = f.fields.convert(to, p[0]);
                result(&mut f, field);
                if to.bits() == dtype.bits() && !to.is_complex() {
                    let field = f.fields.bitcast(to, p[0]).unwrap();
                    result(&mut f, field);
                }
            }
        }
        use UnaryOp::*;
        for op in [
            Neg,
            Abs,
            Sign,
            Floor,
            Ceil,
            RoundEven,
            RoundAway,
            IsFinite,
            Not,
            Popcount,
            CountLeadingZeros,
            Sqrt,
        ] {
            if op.result(dtype).is_some() {
                let field = f.fields.unary(op, p[0]).unwrap();
                result(&mut f, field);
            }
        }
        if dtype.is_float() {
            for (e, m) in [(5, 10), (8, 7), (4, 3), (5, 0), (11, 52)] {
                let field = f.fields.reduce_precision(e, m, p[0]).unwrap();
                result(&mut f, field);
            }
        }
        check_bits(f, vec![line(&list)]);
    }
}

/// The distance of two `f32` in units of the last place.
fn ulps(a: f32, b: f32) -> u64 {
    if a == b || (a.is_nan() && b.is_nan()) {
        return 0;
    }
    if a.is_nan() || b.is_nan() {
        return u64::MAX;
    }
    let key = |v: f32| {
        let bits = i64::from(v.to_bits() as i32);
        if bits < 0 { i64::from(i32::MIN) - bits } else { bits }
    };
    key(a).abs_diff(key(b))
}

#[test]
fn vector_functions_within_four_units() {
    use UnaryOp::*;
    let mut list: Vec<Scalar> = special(DType::F32);
    for i in 0..4000 {
        let t = i as f64 / 4000.0;
        for value in
            [20.0 * t - 10.0, 220.0 * t - 110.0, (60.0 * t - 30.0).exp(), -(40.0 * t - 30.0).exp(), 1e-38 * t]
        {
            list.push(Scalar::from_f64(DType::F32, value));
        }
    }
    let (mut f, p) = function(&[(DType::F32, &[list.len() as u64])]);
    let ops = [Exp, Expm1, Log, Log1p, Logistic, Tanh, Rsqrt, Sqrt, Sin, Cos, Erf];
    for op in ops {
        let field = f.fields.unary(op, p[0]).unwrap();
        result(&mut f, field);
    }
    let program = surject_ir::Program { name: String::new(), functions: vec![f] };
    let args = [line(&list)];
    let module = surject_codegen::lower(&program, "main", &surject_codegen::Target::host()).unwrap();
    let found = execute(&module, &args);
    // The reference: the same operations in `f64`, rounded once.
    let wide: Vec<Scalar> = list.iter().map(|v| Scalar::from_f64(DType::F64, v.as_f64())).collect();
    for (op, values) in ops.iter().zip(&found) {
        let mut worst = (0, 0.0, 0.0, 0.0);
        for (i, x) in wide.iter().enumerate() {
            let exact = surject_ir::eval::unary(*op, *x).unwrap().as_f64() as f32;
            let distance = ulps(values.get(i).as_f64() as f32, exact);
            if distance > worst.0 {
                worst = (distance, x.as_f64(), values.get(i).as_f64(), f64::from(exact));
            }
        }
        eprintln!("{op}: {} ulp at {:e}: {:e}, exactly {:e}", worst.0, worst.1, worst.2, worst.3);
        assert!(worst.0 <= 4, "{op}: {} ulp at {:e}: {:e}, exactly {:e}", worst.0, worst.1, worst.2, worst.3);
    }
}

/// The inverse error function, against the error function in `f64`.
#[test]
fn the_inverse_error_function() {
    let mut list: Vec<Scalar> =
        (-2000..=2000).map(|i| Scalar::from_f64(DType::F32, f64::from(i) / 2000.0)).collect();
    list.extend((1..90).map(|i| Scalar::from_f64(DType::F32, 2f64.powi(-i))));
    list.extend((2..24).map(|i| Scalar::from_f64(DType::F32, 2f64.powi(-i) - 1.0)));
    list.extend([1.5, f64::NAN].map(|v| Scalar::from_f64(DType::F32, v)));
    let (mut f, p) = function(&[(DType::F32, &[list.len() as u64])]);
    let field = f.fields.unary(UnaryOp::ErfInv, p[0]).unwrap();
    result(&mut f, field);
    let program = surject_ir::Program { name: String::new(), functions: vec![f] };
    let module = surject_codegen::lower(&program, "main", &surject_codegen::Target::host()).unwrap();
    let found = execute(&module, &[line(&list)]);
    for (i, x) in list.iter().enumerate() {
        let (x, y) = (x.as_f64(), found[0].get(i).as_f64());
        if x.abs() > 1.0 || x.is_nan() {
            assert!(y.is_nan(), "{x}: {y}");
        } else if x.abs() == 1.0 {
            assert_eq!(y, x * f64::INFINITY);
        } else {
            let exact =
                surject_ir::eval::unary(UnaryOp::ErfInv, Scalar::from_f64(DType::F64, x)).unwrap().as_f64();
            assert!((y - exact).abs() <= 1e-6 * exact.abs() + 1e-45, "{x}: {y}, exactly {exact}");
        }
    }
}
