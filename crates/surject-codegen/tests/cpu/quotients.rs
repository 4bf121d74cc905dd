//! Division by other means than the instruction for it.

use crate::harness::*;
use crate::pointwise::line;
use surject_index::IndexMap;
use surject_ir::{BinaryOp, Buffer, DType, Scalar, UnaryOp};

/// Every pair of bytes, and words of every length.
#[test]
fn quotients_and_remainders() {
    for dtype in DType::ALL.into_iter().filter(|d| d.is_int() && !d.is_bool()) {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        let mut next = states(5);
        for i in 0..65_536u64 {
            let state = next();
            let (a, b) = if dtype.bits() == 8 {
                (i, i >> 8)
            } else {
                // Multiples of the divisor and their neighbours, of every size.
                let b = (state >> 20 >> (i % 32)) | 1;
                let quotient = state >> (i / 64 % 64);
                (b.wrapping_mul(quotient).wrapping_add(i % 3).wrapping_sub(1), b)
            };
            x.push(Scalar::from_bits(dtype, u128::from(a) & (u128::MAX >> (128 - dtype.bits()))));
            y.push(Scalar::from_bits(dtype, u128::from(b) & (u128::MAX >> (128 - dtype.bits()))));
        }
        let n = x.len() as u64;
        let (mut f, p) = function(&[(dtype, &[n]), (dtype, &[n])]);
        for op in [BinaryOp::Div, BinaryOp::Rem] {
            let field = f.fields.binary(op, p[0], p[1]).unwrap();
            result(&mut f, field);
        }
        check_with(f, 0.0, Some(vec![line(&x), line(&y)]));
    }
}

/// Integers as floats, divided by constants: the same floats.
#[test]
fn quotients_by_constants() {
    for dtype in [DType::U8, DType::I8, DType::I16, DType::U16] {
        let x: Vec<Scalar> = (0..1u128 << dtype.bits()).map(|bits| Scalar::from_bits(dtype, bits)).collect();
        let (mut f, p) = function(&[(dtype, &[x.len() as u64])]);
        for by in [255.0, 3.0, 127.5, -7.0, 0.1, 65_535.0, 0.0, f64::INFINITY, 1e-40] {
            let float = f.fields.convert(DType::F32, p[0]);
            let space = f.fields[float].space.clone();
            let by = f.fields.constant(&space, Scalar::from_f64(DType::F32, by));
            let field = f.fields.binary(BinaryOp::Div, float, by).unwrap();
            let bits = f.fields.bitcast(DType::I32, field).unwrap();
            // What is not a number may be any.
            let zero = f.fields.constant(&space, Scalar::from_i128(DType::I32, 0));
            let number = f.fields.binary(BinaryOp::Eq, field, field).unwrap();
            let bits = f.fields.select(number, bits, zero).unwrap();
            result(&mut f, bits);
        }
        check_with(f, 0.0, Some(vec![line(&x)]));
    }
}

/// Rows divided by a number each: the quotients, or their neighbours, whatever the numbers.
#[test]
fn quotients_by_a_number_a_row() {
    for dtype in [DType::F32, DType::F64] {
        let bits = if dtype == DType::F32 { DType::I32 } else { DType::I64 };
        let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-40, -3e38, 1e300, 1.0, -1.5];
        let far = [61.0, 60.0, -60.0, -61.0, 401.0, -401.0, 126.0, -126.0].map(f64::exp2);
        let odd = (1..40).map(|i| (1.0 + f64::from(i) * 0.0371) * (f64::from(i % 7) - 3.5).exp2());
        let divisors: Vec<f64> = special.into_iter().chain(far).chain(odd).collect();
        let mut next = states(9);
        let mut number = || {
            let state = next();
            (1.0 + (state >> 12) as f64 / 2f64.powi(52)) * f64::from((state % 200) as i32 - 100).exp2()
        };
        let count = 1027;
        let dividends = (0..count * divisors.len()).map(|i| match special.get(i % count) {
            Some(&x) => x,
            None if i % 3 == 0 => -number(),
            None => number(),
        });
        let dividends: Vec<Scalar> = dividends.map(|x| Scalar::from_f64(dtype, x)).collect();
        let by: Vec<Scalar> = divisors.iter().map(|&y| Scalar::from_f64(dtype, y)).collect();
        let every: Vec<Scalar> = by.iter().flat_map(|&y| vec![y; count]).collect();
        let (rows, columns) = (by.len() as u64, count as u64);
        let (mut f, p) = function(&[(dtype, &[rows, columns]), (dtype, &[rows]), (dtype, &[rows, columns])]);
        let space = f.fields[p[0]].space.clone();
        let row = IndexMap::projection(&space, &[0]);
        let y = f.fields.read(row, p[1]).unwrap();
        let [a, b] = [y, p[2]].map(|y| f.fields.binary(BinaryOp::Div, p[0], y).unwrap());
        let [m, n] = [a, b].map(|q| f.fields.bitcast(bits, q).unwrap());
        let apart = f.fields.binary(BinaryOp::Sub, m, n).unwrap();
        let apart = f.fields.unary(UnaryOp::Abs, apart).unwrap();
        let one = f.fields.constant(&space, Scalar::from_i128(bits, 1));
        let next = f.fields.binary(BinaryOp::Le, apart, one).unwrap();
        // What is not a number may be any.
        let [a, b] = [a, b].map(|q| f.fields.binary(BinaryOp::Ne, q, q).unwrap());
        let neither = f.fields.binary(BinaryOp::And, a, b).unwrap();
        let field = f.fields.binary(BinaryOp::Or, next, neither).unwrap();
        result(&mut f, field);
        let shaped = |v: &[Scalar]| Buffer::from_scalars(dtype, &[by.len(), count], v).unwrap();
        check_with(f, 0.0, Some(vec![shaped(&dividends), line(&by), shaped(&every)]));
    }
}
