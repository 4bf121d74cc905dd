//! Operations in arithmetic: on the interpreter of kernels they give what the operations themselves give.

use surject_codegen::kernels::legal::legal;
use surject_ir::testing::Rng;
use surject_ir::{BinaryOp, DType, Scalar, UnaryOp, eval};
use surject_kernel::interpret::{self, Options, Tensor};
use surject_kernel::{Access, Affine, Builder, Kernel, LoopKind, Op, Place, Type, Value, verify};

/// Lanes of the kernels: formulas of vectors have branches that scalars lack.
const LANES: usize = 4;

/// A kernel that does something with each element of some tensors, in lanes.
fn each(
    types: &[DType],
    count: usize,
    lanes: usize,
    f: impl FnOnce(&mut Builder, &[Value]) -> Value,
) -> Kernel {
    let mut b = Builder::new("k");
    let inputs: Vec<_> = types
        .iter()
        .enumerate()
        .map(|(i, &dtype)| b.parameter(format!("x{i}"), dtype, count as i64, Access::Read))
        .collect();
    // The type of the result is known when the value is.
    let (i, _) = b.open_for(0, count as i64, lanes as i64, LoopKind::Serial, &[]);
    let at = || if lanes == 1 { Affine::from(i) } else { Affine { lane: 1, ..Affine::from(i) } };
    let values: Vec<Value> = inputs
        .iter()
        .zip(types)
        .map(|(&mem, &dtype)| b.load(Place::new(mem, at()), Type::vector(dtype, lanes)))
        .collect();
    let value = f(&mut b, &values);
    let dtype = b.ty(value).dtype;
    let y = b.parameter("y", dtype, count as i64, Access::Write);
    b.store(Place::new(y, at()), value);
    b.close_for(&[]);
    b.finish()
}

/// What a kernel gives.
fn results(kernel: &Kernel, inputs: &[Vec<Scalar>]) -> Vec<Scalar> {
    verify(kernel).unwrap_or_else(|error| panic!("{error}"));
    let mut tensors: Vec<Tensor> = inputs.iter().map(|x| Tensor::of(x)).collect();
    let y = kernel.mem(*kernel.params.last().unwrap());
    tensors.push(Tensor::unwritten(y.dtype, inputs[0].len()));
    interpret::run(kernel, &[], &mut tensors, &Options::default()).unwrap_or_else(|fault| panic!("{fault}"));
    let last = tensors.pop().unwrap();
    (0..last.len()).map(|i| last.get(i).unwrap()).collect()
}

/// Values of a type: ends, neighbours of ends, and any bits.
fn values(rng: &mut Rng, dtype: DType, count: usize) -> Vec<Scalar> {
    let mut found = Vec::new();
    let bits = dtype.bits();
    for i in 0..count {
        let any = (rng.next() as u128) << 64 | rng.next() as u128;
        let value = match i % 4 {
            // Small whole numbers, of both signs.
            0 if dtype.is_float() => Scalar::from_f64(dtype, (any % 33) as f64 / 4.0 - 4.0),
            0 => Scalar::from_i128(dtype, (any % 17) as i128 - 8),
            // Near powers of two, and their negatives: ends, infinities, subnormal numbers.
            1 => {
                let power = 1u128 << (any % u128::from(bits));
                let more = (any >> 8) % 3;
                let sign = if any >> 16 & 1 == 1 { 1u128 << (bits - 1) } else { 0 };
                Scalar::from_bits(dtype, (power.wrapping_add(more).wrapping_sub(1)) ^ sign)
            }
            _ => Scalar::from_bits(dtype, any),
        };
        found.push(value);
    }
    found
}

/// Equal bits, or no number both.
fn same(a: Scalar, b: Scalar) -> bool {
    let nan = |x: Scalar| x.dtype().is_float() && x.as_f64().is_nan();
    a.bits() == b.bits() || nan(a) && nan(b)
}

const TYPES: [DType; 13] = [
    DType::I1,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
];

/// Operations that are not functions: rounded once, or exact.
const EXACT: [UnaryOp; 15] = [
    UnaryOp::Neg,
    UnaryOp::Abs,
    UnaryOp::Sign,
    UnaryOp::Sqrt,
    UnaryOp::Rsqrt,
    UnaryOp::Floor,
    UnaryOp::Ceil,
    UnaryOp::RoundEven,
    UnaryOp::RoundAway,
    UnaryOp::IsFinite,
    UnaryOp::Not,
    UnaryOp::Popcount,
    UnaryOp::CountLeadingZeros,
    UnaryOp::Real,
    UnaryOp::Imag,
];

#[test]
fn operations_that_are_exact_are_so_in_arithmetic() {
    let (count, mut rng) = (400, Rng::new(1));
    for dtype in TYPES {
        let (x, y) = (values(&mut rng, dtype, count), values(&mut rng, dtype, count));
        for op in EXACT {
            if op.result(dtype).is_none() {
                continue;
            }
            let kernel = legal(&each(&[dtype], count, LANES, |b, v| b.unary(op, v[0]))).unwrap();
            for (found, &x) in results(&kernel, std::slice::from_ref(&x)).into_iter().zip(&x) {
                let expected = eval::unary(op, x).unwrap();
                assert!(same(found, expected), "{op} {x:?}: {found:?}, not {expected:?}");
            }
        }
        for &op in BinaryOp::ALL {
            let function = matches!(op, BinaryOp::Pow | BinaryOp::Atan2) && dtype.is_float();
            if op.result(dtype, dtype).is_none_or(|d| d.is_complex()) || function {
                continue;
            }
            let kernel = legal(&each(&[dtype; 2], count, LANES, |b, v| b.binary(op, v[0], v[1]))).unwrap();
            for (i, found) in results(&kernel, &[x.clone(), y.clone()]).into_iter().enumerate() {
                let (x, y) = (x[i], y[i]);
                let expected = eval::binary(op, x, y).unwrap();
                assert!(same(found, expected), "{op} {x:?} {y:?}: {found:?}, not {expected:?}");
            }
        }
        for to in TYPES {
            let kernel = legal(&each(&[dtype], count, LANES, |b, v| b.convert(v[0], to))).unwrap();
            for (found, &x) in results(&kernel, std::slice::from_ref(&x)).into_iter().zip(&x) {
                let expected = eval::convert(to, x);
                assert!(same(found, expected), "{x:?} as {to}: {found:?}, not {expected:?}");
            }
        }
        if dtype.is_float() {
            for (exponent, mantissa) in [(5, 10), (8, 7), (4, 3), (2, 0), (8, 23), (11, 52)] {
                let op = |b: &mut Builder, v: &[Value]| {
                    let ty = b.ty(v[0]);
                    b.pure(Op::ReducePrecision(exponent, mantissa, v[0]), ty)
                };
                let kernel = legal(&each(&[dtype], count, LANES, op)).unwrap();
                for (found, &x) in results(&kernel, std::slice::from_ref(&x)).into_iter().zip(&x) {
                    let expected = eval::reduce_precision(exponent, mantissa, x).unwrap();
                    assert!(
                        same(found, expected),
                        "{exponent}, {mantissa} of {x:?}: {found:?}, not {expected:?}"
                    );
                }
            }
        }
    }
}

/// How many floats lie between two, by their bits; `None` where one is a limit that the other is not.
fn apart(a: Scalar, b: Scalar) -> Option<u128> {
    if same(a, b) {
        return Some(0);
    }
    let (x, y) = (a.as_f64(), b.as_f64());
    if x.is_nan() || y.is_nan() || x.is_infinite() || y.is_infinite() {
        return None;
    }
    let sign = 1u128 << (a.dtype().bits() - 1);
    let number = |s: Scalar| {
        let size = (s.bits() & !sign) as i128;
        if s.bits() & sign == 0 { size } else { -size }
    };
    // Zeros of other signs are limits too.
    if x == 0.0 && y == 0.0 { None } else { Some((number(a) - number(b)).unsigned_abs()) }
}

/// Arguments of functions: the whole range by bits, small and usual numbers, and limits.
fn arguments(dtype: DType, count: usize) -> Vec<Scalar> {
    let mut all: Vec<Scalar> = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -2.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1e-300,
        88.0,
        -88.0,
        710.0,
        -745.0,
        1e5,
        -1e6,
        1e9,
        3e38,
        1e22,
        -1e300,
    ]
    .iter()
    .map(|&x| Scalar::from_f64(dtype, x))
    .collect();
    let bits = dtype.bits();
    let step = (1u128 << bits) / (count as u128);
    for i in 0..count {
        all.push(Scalar::from_bits(dtype, step * i as u128 + 12_345));
        all.push(Scalar::from_f64(dtype, (i as f64 / count as f64 - 0.5) * 40.0));
        all.push(Scalar::from_f64(dtype, (i as f64 / count as f64 - 0.5) * 2.0));
    }
    while !all.len().is_multiple_of(LANES) {
        all.push(Scalar::from_f64(dtype, 0.25));
    }
    all
}

/// The functions, and how far they may be from the interpreter's, in units of the last place: of `f32`, and of `f64`
/// where they have a formula.
const FUNCTIONS: [(UnaryOp, u128, Option<u128>); 23] = [
    (UnaryOp::Exp, 2, Some(2)),
    (UnaryOp::Expm1, 3, Some(3)),
    (UnaryOp::Log, 3, Some(2)),
    (UnaryOp::Log1p, 3, Some(3)),
    (UnaryOp::Logistic, 3, Some(3)),
    (UnaryOp::Cbrt, 2, Some(2)),
    (UnaryOp::Sin, 3, Some(2)),
    (UnaryOp::Cos, 3, Some(2)),
    (UnaryOp::Tan, 2, Some(4)),
    (UnaryOp::Tanh, 3, Some(4)),
    (UnaryOp::Acos, 1, Some(2)),
    (UnaryOp::Acosh, 1, Some(4)),
    (UnaryOp::Asin, 1, Some(2)),
    (UnaryOp::Asinh, 1, Some(4)),
    (UnaryOp::Atan, 3, Some(2)),
    (UnaryOp::Atanh, 1, Some(4)),
    (UnaryOp::Cosh, 3, Some(4)),
    (UnaryOp::Sinh, 1, Some(4)),
    (UnaryOp::Erf, 3, Some(2)),
    (UnaryOp::Erfc, 4, Some(5)),
    (UnaryOp::ErfInv, 8, None),
    (UnaryOp::Lgamma, 2, None),
    (UnaryOp::Digamma, 2, None),
];

/// How far a kernel's values are from those that are expected, where most.
fn worst(
    found: &[Scalar],
    expected: impl Iterator<Item = Scalar>,
    what: &str,
    x: impl Fn(usize) -> String,
) -> u128 {
    let mut most = 0;
    for (i, (&found, expected)) in found.iter().zip(expected).enumerate() {
        let Some(distance) = apart(found, expected) else {
            panic!("{what} of {}: {found:?}, not {expected:?}", x(i));
        };
        most = most.max(distance);
    }
    most
}

#[test]
fn functions_in_arithmetic_are_as_near_as_compiled_ones() {
    let mut far = Vec::new();
    for (op, single, double) in FUNCTIONS {
        for (dtype, bound) in [(DType::F32, Some(single)), (DType::F64, double)] {
            let x = arguments(dtype, 250);
            let kernel = legal(&each(&[dtype], x.len(), LANES, |b, v| b.unary(op, v[0])));
            let Some(bound) = bound else {
                let error = kernel.expect_err("it has no formula").to_string();
                assert!(error.contains(&format!("`{op}` of {dtype} has no formula")), "{error}");
                continue;
            };
            let found = results(&kernel.unwrap(), std::slice::from_ref(&x));
            let expected = x.iter().map(|&x| eval::unary(op, x).unwrap());
            let most = worst(&found, expected, &format!("{op}"), |i| format!("{:?}", x[i]));
            if most > bound {
                far.push(format!("{op} of {dtype}: {most} units, not {bound}"));
            }
        }
    }
    for (op, dtype, bound) in [
        (BinaryOp::Pow, DType::F32, 1),
        (BinaryOp::Pow, DType::F64, 2),
        (BinaryOp::Atan2, DType::F32, 3),
        (BinaryOp::Atan2, DType::F64, 3),
    ] {
        let x = arguments(dtype, 250);
        let mut y = x.clone();
        y.rotate_left(357);
        let kernel = legal(&each(&[dtype; 2], x.len(), LANES, |b, v| b.binary(op, v[0], v[1]))).unwrap();
        let found = results(&kernel, &[x.clone(), y.clone()]);
        let expected = x.iter().zip(&y).map(|(&x, &y)| eval::binary(op, x, y).unwrap());
        let most = worst(&found, expected, &format!("{op}"), |i| format!("{:?}, {:?}", x[i], y[i]));
        if most > bound {
            far.push(format!("{op} of {dtype}: {most} units, not {bound}"));
        }
    }
    assert!(far.is_empty(), "{}", far.join("\n"));
}

/// A remainder is exact however large the quotient is, and angles are reduced however large they are.
#[test]
fn large_quotients_and_angles_keep_all_digits() {
    let mut rng = Rng::new(3);
    for dtype in [DType::F32, DType::F64] {
        let (x, y) = (values(&mut rng, dtype, 600), values(&mut rng, dtype, 600));
        let kernel = legal(&each(&[dtype; 2], 600, 1, |b, v| b.binary(BinaryOp::Rem, v[0], v[1]))).unwrap();
        for (i, found) in results(&kernel, &[x.clone(), y.clone()]).into_iter().enumerate() {
            let expected = eval::binary(BinaryOp::Rem, x[i], y[i]).unwrap();
            assert!(same(found, expected), "{:?} rem {:?}: {found:?}, not {expected:?}", x[i], y[i]);
        }
        let exponents = if dtype == DType::F32 { 20..127 } else { 20..1023 };
        let x: Vec<Scalar> = (0..800)
            .map(|_| {
                let power = exponents.start + (rng.next() % (exponents.end - exponents.start) as u64) as i32;
                let part = 1.0 + (rng.next() >> 12) as f64 / (1u64 << 52) as f64;
                let sign = if rng.next().is_multiple_of(2) { 1.0 } else { -1.0 };
                Scalar::from_f64(dtype, sign * part * f64::from(power).exp2())
            })
            .collect();
        for (op, bound) in [(UnaryOp::Sin, 2), (UnaryOp::Cos, 2), (UnaryOp::Tan, 3)] {
            let kernel = legal(&each(&[dtype], x.len(), 1, |b, v| b.unary(op, v[0]))).unwrap();
            let found = results(&kernel, std::slice::from_ref(&x));
            let expected = x.iter().map(|&x| eval::unary(op, x).unwrap());
            let most = worst(&found, expected, &format!("{op}"), |i| format!("{:?}", x[i]));
            assert!(most <= bound, "{op} of {dtype}: {most} units");
        }
    }
}
