//! Division by other means than the instruction for it.

use crate::harness::*;
use crate::pointwise::line;
use surject_ir::{BinaryOp, DType, Scalar};

/// Every pair of bytes, and words of every length.
#[test]
fn quotients_and_remainders() {
    for dtype in DType::ALL.into_iter().filter(|d| d.is_int() && !d.is_bool()) {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        let mut state = 5u64;
        for i in 0..65_536u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
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
