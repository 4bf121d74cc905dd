//! Pointwise operations on ordinary and on special values.

use crate::harness::*;
use surject_codegen::Target;
use surject_ir::{BinaryOp, Buffer, DType, Function, Scalar, UnaryOp, eval};

/// Values where something happens.
pub fn special(dtype: DType) -> Vec<Scalar> {
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

pub fn line(values: &[Scalar]) -> Buffer {
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
            if op == BinaryOp::Complex || op.result(dtype, dtype).is_none() {
                continue;
            }
            let field = f.fields.binary(op, p[0], p[1]).unwrap();
            result(&mut f, field);
        }
        check_bits(f, vec![line(&x), line(&y)]);
    }
}

/// Remainders are exact, of quotients of all sizes: beside integers, beyond what a float holds, and of subnormal numbers.
#[test]
fn remainders() {
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let mut states = states(0x9e37_79b9_7f4a_7c15);
        let mut next = || {
            let state = states();
            state ^ (state >> 31)
        };
        let (mut xs, mut ys) = (Vec::new(), Vec::new());
        for i in 0..40_000 {
            let y = Scalar::from_bits(dtype, u128::from(next()) & ((1 << dtype.bits()) - 1));
            let near = y.as_f64() * (next() % 1000) as f64 * (1.0 + f64::from(i % 5 - 2) * f64::EPSILON);
            let x = match i % 3 {
                0 => Scalar::from_bits(dtype, u128::from(next()) & ((1 << dtype.bits()) - 1)),
                1 => Scalar::from_f64(dtype, near),
                _ => Scalar::from_f64(dtype, y.as_f64() * (next() as f64 / 2f64.powi((next() % 70) as i32))),
            };
            xs.push(x);
            ys.push(y);
        }
        let n = xs.len() as u64;
        for target in [Target::host(), Target::generic()] {
            let (mut f, p) = function(&[(dtype, &[n]), (dtype, &[n])]);
            let field = f.fields.binary(BinaryOp::Rem, p[0], p[1]).unwrap();
            result(&mut f, field);
            let found = crate::math::run(f, &[line(&xs), line(&ys)], &target).swap_remove(0);
            for (i, (&x, &y)) in xs.iter().zip(&ys).enumerate() {
                let (z, expected) = (found.get(i), eval::binary(BinaryOp::Rem, x, y).unwrap());
                let same = z.bits() == expected.bits() || (z.as_f64().is_nan() && expected.as_f64().is_nan());
                assert!(same, "{dtype}: {x:?} over {y:?} leaves {z:?}, expected {expected:?}");
            }
        }
    }
}

/// The neighbours of every float of 16 bits, and of many others, above and below, towards zero and towards themselves.
#[test]
fn neighbours() {
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let wide = dtype.bits() - 16;
        let all = (0..1u128 << 16).map(|bits| Scalar::from_bits(dtype, (bits << wide) | (bits & 1)));
        let all: Vec<Scalar> = all.collect();
        let ends =
            [f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, f64::NAN].map(|y| Scalar::from_f64(dtype, y));
        let to = ends.iter().map(|&y| vec![y; all.len()]).chain([all.clone()]);
        for y in to {
            let (mut f, p) = function(&[(dtype, &[all.len() as u64]), (dtype, &[all.len() as u64])]);
            let field = f.fields.binary(BinaryOp::NextAfter, p[0], p[1]).unwrap();
            result(&mut f, field);
            let found = crate::math::run(f, &[line(&all), line(&y)], &Target::host()).swap_remove(0);
            for (i, (&x, &y)) in all.iter().zip(&y).enumerate() {
                let (z, expected) = (found.get(i), eval::binary(BinaryOp::NextAfter, x, y).unwrap());
                let same = z.bits() == expected.bits() || (z.as_f64().is_nan() && expected.as_f64().is_nan());
                assert!(same, "{dtype} {x:?} to {y:?}: {z:?}, not {expected:?}");
            }
        }
    }
}

/// Every operation of complex numbers, with each part zero, infinite, not a number, or at the end of a range.
#[test]
fn complex_operations() {
    for (dtype, tolerance) in [(DType::C64, 2e-6), (DType::C128, 1e-12)] {
        let far = if dtype == DType::C64 { [1e-30, -3e18] } else { [1e-305, -1e301] };
        let near = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-3, 25.0, -100.0];
        let rare = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let all = |parts: &[f64]| -> Vec<Scalar> {
            let pair = |&re| parts.iter().map(move |&im| num_complex::Complex::new(re, im));
            parts.iter().flat_map(pair).map(|z| Scalar::from_complex(dtype, z)).collect()
        };
        let list = all(&[&near[..], &rare, &far].concat());
        let (mut f, p) = function(&[(dtype, &[list.len() as u64])]);
        let parts = |f: &mut Function, of| {
            for part in [UnaryOp::Real, UnaryOp::Imag] {
                let field = f.fields.unary(part, of).unwrap();
                result(f, field);
            }
        };
        for &op in UnaryOp::ALL {
            match op.result(dtype) {
                Some(d) if d == dtype => {
                    let field = f.fields.unary(op, p[0]).unwrap();
                    parts(&mut f, field);
                }
                Some(_) => {
                    let field = f.fields.unary(op, p[0]).unwrap();
                    result(&mut f, field);
                }
                None => {}
            }
        }
        check_with(f, tolerance, Some(vec![line(&list)]));
        let list = all(&[&near[3..7], &near[..2], &rare].concat());
        let pairs: Vec<(Scalar, Scalar)> =
            list.iter().flat_map(|&x| list.iter().map(move |&y| (x, y))).collect();
        let (x, y): (Vec<Scalar>, Vec<Scalar>) = pairs.into_iter().unzip();
        let (mut f, p) = function(&[(dtype, &[x.len() as u64]), (dtype, &[x.len() as u64])]);
        for &op in BinaryOp::ALL {
            match op.result(dtype, dtype) {
                Some(d) if d == dtype => {
                    let field = f.fields.binary(op, p[0], p[1]).unwrap();
                    parts(&mut f, field);
                }
                Some(_) => {
                    let field = f.fields.binary(op, p[0], p[1]).unwrap();
                    result(&mut f, field);
                }
                None => {}
            }
        }
        check_with(f, tolerance, Some(vec![line(&x), line(&y)]));
    }
}

/// A product of one complex number is that number times one, which mixes its parts.
#[test]
fn complex_products_of_one() {
    let text = "func main(x: c64[3], z: c128[3]) -> (y, w, s) {
  y : c64[4] =:* over i<3 at [i + 1]: x[i]
  w : c128[3] =:* over i<3 at [i]: z[i]
  s : c128[3] =:+ over i<3 at [2 - i]: z[i]
}
";
    let program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}"));
    let infinite = |dtype| {
        let all = [(f64::INFINITY, 0.0), (1.0, f64::NEG_INFINITY), (2.0, -3.0)];
        let all = all.map(|(re, im)| Scalar::from_complex(dtype, num_complex::Complex::new(re, im)));
        line(&all)
    };
    let args = vec![infinite(DType::C64), infinite(DType::C128)];
    check_with(program.functions[0].clone(), 0.0, Some(args));
}

/// Products and sums of halves round to nearest, ties to even, in every bit; and where lanes hold pairs of them they come
/// back to their places.
#[test]
fn halves_round_to_nearest() {
    let all: Vec<Scalar> = (0..=u16::MAX)
        .map(|bits| Scalar::from_bits(DType::BF16, bits.into()))
        .filter(|x| !x.as_f64().is_nan())
        .collect();
    let n = all.len();
    let text = format!(
        "func main(x: bf16[{n}]) -> (y, z, w) {{
  y : i16[{n}] =: over i<{n}: bitcast i16(x[i] * 1.296875bf16)
  z : i16[{n}] =: over i<{n}: bitcast i16(x[i] + 0.03515625bf16)
  w : bf16[{n}] =: over i<{n}: x[i] * 0.9765625bf16 + x[i]
}}
"
    );
    let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    check_with(program.functions[0].clone(), 0.0, Some(vec![line(&all)]));
    // A line that does not fill its last vector, a row of values beside it, and one that is the same for all.
    for n in [1, 31, 64, 333] {
        let text = format!(
            "func main(x: bf16[3,{n}], b: bf16[{n}], c: bf16[3]) -> (y) {{
  y : bf16[3,{n}] =: over i<3, j<{n}: select(x[i,j] < c[i], x[i,j] * b[j], x[i,j] + c[i])
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        check_with(program.functions[0].clone(), 1e-3, None);
    }
}

/// What is not a number stays so when it is rounded to a half: of those that arithmetic on halves makes or is given the lower half
/// is empty, of other `f32` values it may be all there is.
#[test]
fn halves_that_are_no_numbers_stay_so() {
    let halves: Vec<Scalar> = (0..=u16::MAX)
        .map(|bits| Scalar::from_bits(DType::BF16, bits.into()))
        .filter(|x| x.as_f64().is_nan() || x.as_f64().is_infinite() || x.bits() % 0x100 == 0)
        .collect();
    let n = halves.len();
    let words: Vec<Scalar> = (0..n as u128)
        .map(|k| match k % 4 {
            0 => 0x7f80_0001 + k,
            1 => 0xffff_ffff - k,
            2 => 0xff80_0000 + (k << 14) % 0x80_0000,
            _ => 0x3f80_7fff + k,
        })
        .map(|bits| Scalar::from_bits(DType::F32, bits))
        .collect();
    let text = format!(
        "func main(x: bf16[{n}], w: f32[{n}]) -> (a, b, c, d, e, f) {{
  a : bf16[{n}] =: over i<{n}: x[i] * 1.296875bf16 + x[{last} - i]
  b : bf16[{n}] =: over i<{n}: max(x[i], x[{last} - i]) - min(x[i], 0.0bf16)
  c : bf16[{n}] =: over i<{n}: sqrt(x[i]) / x[{last} - i]
  d : bf16[{n}] =: over i<{n}: select(x[i] < 2.0bf16, neg(x[i]), abs(x[i]) + inf_bf16)
  e : bf16[{n}] =: over i<{n}: bf16(w[i])
  f : bf16[{n}] =: over i<{n}: bf16(w[i] + f32(x[i]))
}}
",
        last = n - 1
    );
    let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    check_with(program.functions[0].clone(), 0.0, Some(vec![line(&halves), line(&words)]));
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

/// Sums, remainders and comparisons of positions, which narrow and unsigned integers do not all hold.
#[test]
fn arithmetic_on_positions() {
    for d in ["i8", "u8", "i16", "i32", "u32", "i64", "u64"] {
        for (n, m) in [(3, 70), (300, 33), (1, 40_000)] {
            let text = format!(
                "func main(x: f32[{n},{m}]) -> (y, z) {{
  y : f32[{n},{m}] =: over i<{n}, j<{m}: select(rem(index(i){d} + index(j){d}, 3{d}) == 1{d}, x[i,j], 0.5f32)
  z : {d}[{n},{m}] =: over i<{n}, j<{m}: select(index(i){d} - index(j){d} < 2{d}, (index(j){d} + 7{d}) / 5{d}, index(i){d} - 9{d})
}}
"
            );
            let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            check(program.functions[0].clone());
        }
    }
}

/// Single numbers: zeros of both signs, infinities, and what is no number.
#[test]
fn largest_and_smallest_of_two() {
    for (ty, dtype) in [("f32", DType::F32), ("f64", DType::F64)] {
        let text = format!(
            "func main(x: {ty}[], y: {ty}[]) -> (a, b) {{
  a : {ty}[] =: max(x[], y[])
  b : {ty}[] =: min(x[], y[])
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let module = lower(&program, "main", &surject_codegen::Target::host()).unwrap();
        let numbers = [0.0, -0.0, 1.5, -2.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        for x in numbers {
            for y in numbers {
                let args = [x, y].map(|v| {
                    let mut buffer = Buffer::zeros(dtype, &[]);
                    buffer.set(0, Scalar::from_f64(dtype, v));
                    buffer
                });
                let found: Vec<f64> = execute(&module, &args).iter().map(|b| b.get(0).as_f64()).collect();
                let expected = surject_ir::interp::run(&program, "main", &args).unwrap();
                for (found, expected) in found.iter().zip(&expected) {
                    let expected = expected.get(0).as_f64();
                    let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
                    assert!(same, "{x} {y}: {found}, not {expected}");
                }
            }
        }
    }
}

/// Choices by several comparisons, joined in every way; of vectors of one register and of several.
#[test]
fn choices_by_several_comparisons() {
    for ty in ["f32", "f64", "bf16", "i32", "i64", "i8"] {
        for condition in [
            "or(or(x < y, y > 1), x == y)",
            "and(or(x != x, x < y), or(y == 1, x > y))",
            "xor(and(x <= y, y >= 0), and(x == x, x >= 1))",
            "or(and(x < 0, not(y < x)), b)",
            "and(or(index(i)i32 < 500i32, x < y), or(x > y, index(i)i64 > 3i64))",
        ] {
            let mut condition = condition.to_string();
            for number in ["0", "1"] {
                for end in [",", ")"] {
                    condition = condition.replace(&format!(" {number}{end}"), &format!(" {number}{ty}{end}"));
                }
            }
            let text = format!(
                "func main(x: {ty}[1003], y: {ty}[1003], b: i1[1003]) -> (z) {{
  z : {ty}[1003] =: over i<1003: select({condition}, x, y)
}}
"
            );
            let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            check_on(
                program.functions[0].clone(),
                0.0,
                None,
                &[Target::host(), half_lines(), Target::generic()],
            );
        }
    }
}
