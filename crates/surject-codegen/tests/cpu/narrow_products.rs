//! Products of narrow integers and of 16-bit floats.

use crate::contractions::{contract, eager};
use crate::harness::*;
use surject_codegen::Target;
use surject_ir::{BinaryOp, DType, FieldId, Function, Program, Scalar};
use surject_runtime::tiles::Tiles;

/// A product of 8-bit integers, converted to 32 bits, with zero points subtracted or not.
pub fn narrow(sizes: [u64; 3], types: [DType; 2], zero: Option<i128>, turned: bool) -> Function {
    let [m, k, n] = sizes;
    let of_y: &[u64] = if turned { &[n, k] } else { &[k, n] };
    let (mut f, p) = function(&[(types[0], &[m, k]), (types[1], of_y)]);
    let factors: Vec<FieldId> = p
        .iter()
        .map(|&x| {
            let wide = f.fields.convert(DType::I32, x);
            let Some(zero) = zero else { return wide };
            let space = f.fields[wide].space.clone();
            let zero = f.fields.constant(&space, Scalar::from_i128(DType::I32, zero));
            f.fields.binary(BinaryOp::Sub, wide, zero).unwrap()
        })
        .collect();
    let y: &[usize] = if turned { &[1, 2] } else { &[2, 1] };
    let c = contract(&mut f, &[m, n, k], &[0, 1], (factors[0], &[0, 2]), (factors[1], y));
    result(&mut f, c);
    f
}

#[test]
fn products_of_narrow_integers() {
    use DType::{I8, I16, U8, U16};
    for types in [[I8, I8], [U8, I8], [I8, U8], [U8, U8], [I16, U8], [I16, I16], [U16, I8]] {
        for (sizes, turned) in [
            ([33, 64, 50], false),
            ([40, 37, 48], true),
            ([20, 71, 40], false),
            ([17, 66, 33], true),
            ([70, 259, 90], false),
        ] {
            for zero in [None, Some(-7)] {
                let function = narrow(sizes, types, zero, turned);
                // The extremes among them: products of the smallest numbers overflow where they are added.
                let args = function.params.iter().enumerate().map(|(i, &p)| {
                    let mut buffer = values(function.ty(p), i as u64 + 3);
                    let low = Scalar::from_i128(
                        types[i],
                        if types[i].is_unsigned_int() { 0 } else { i16::MIN.into() },
                    );
                    let low = if types[i] == I8 { Scalar::from_i128(I8, i8::MIN.into()) } else { low };
                    (0..buffer.len()).step_by(3).for_each(|e| buffer.set(e, low));
                    (0..buffer.len()).step_by(7).for_each(|e| buffer.set(e, low));
                    buffer
                });
                let args = args.collect();
                check_with(function, 0.0, Some(args));
            }
        }
    }
}

/// A product of halves, or of integers that are halves too, in `f32`.
pub fn halves([m, k, n]: [u64; 3], types: [DType; 2], turned: bool) -> Function {
    let of_y: &[u64] = if turned { &[n, k] } else { &[k, n] };
    let (mut f, p) = function(&[(types[0], &[m, k]), (types[1], of_y)]);
    let factors: Vec<FieldId> = p.iter().map(|&x| f.fields.convert(DType::F32, x)).collect();
    let y: &[usize] = if turned { &[1, 2] } else { &[2, 1] };
    let c = contract(&mut f, &[m, n, k], &[0, 1], (factors[0], &[0, 2]), (factors[1], y));
    result(&mut f, c);
    f
}

#[test]
fn products_of_halves() {
    use DType::{BF16, I8, U8};
    for types in [[BF16, BF16], [BF16, U8], [I8, BF16]] {
        for (sizes, turned) in
            [([33, 64, 50], false), ([40, 37, 48], true), ([20, 71, 40], false), ([70, 66, 33], true)]
        {
            check_with(halves(sizes, types, turned), 1e-5, None);
        }
    }
}

/// What is in registers for tiles is the same for every machine that has them, and nothing is where there are none.
#[test]
fn registers_for_tiles() {
    use DType::{BF16, I8, U8};
    let bytes = |types| narrow([40, 96, 33], types, None, false);
    let products = [
        (bytes([I8, I8]), "tdpbssd"),
        (bytes([I8, U8]), "tdpbsud"),
        (bytes([U8, I8]), "tdpbusd"),
        (bytes([U8, U8]), "tdpbuud"),
        (halves([40, 96, 33], [BF16, BF16], true), "tdpbf16ps"),
    ];
    for (function, product) in products {
        let program = Program { name: String::new(), functions: vec![function] };
        for has in [true, false] {
            let tiles = Tiles { bytes: has, halves: has };
            let target = Target { tiles, has_pmaddwd: true, has_bf16_dot: true, ..Target::wide() };
            let module = crate::harness::lowered(&program, "main", &target);
            assert_eq!(module.text.contains(&format!("llvm.x86.{product}")), has, "{product}");
        }
    }
}

/// Rows that lie next to each other are turned: whole panels in blocks, the last one value by value.
#[test]
fn columns_by_columns() {
    for (from, to) in [(DType::I8, DType::I32), (DType::U8, DType::I32), (DType::BF16, DType::F32)] {
        for [k, m, n] in [[96, 64, 40], [71, 70, 50], [33, 32, 16], [131, 33, 90], [64, 100, 33]] {
            let (mut f, p) = function(&[(from, &[k, m]), (from, &[k, n])]);
            let [x, y] = [p[0], p[1]].map(|x| f.fields.convert(to, x));
            let c = contract(&mut f, &[m, n, k], &[0, 1], (x, &[2, 0]), (y, &[2, 1]));
            result(&mut f, c);
            check_with(f, 1e-5, None);
        }
    }
}

/// Of two summed loops the longer one has several points in an element, wherever it is.
#[test]
fn sums_over_two_loops_of_narrow_factors() {
    for (from, to) in [(DType::I8, DType::I32), (DType::BF16, DType::F32)] {
        for [m, n, k, l] in [[40, 33, 64, 3], [33, 16, 3, 71], [64, 40, 67, 5]] {
            for (x_order, y_order) in [([0, 2, 3], [3, 2, 1]), ([2, 3, 0], [1, 2, 3]), ([3, 2, 0], [2, 1, 3])]
            {
                let sizes = [m, n, k, l];
                let of = |order: [usize; 3]| order.map(|axis| sizes[axis]);
                let (mut f, p) = function(&[(from, &of(x_order)), (from, &of(y_order))]);
                let [x, y] = [p[0], p[1]].map(|x| f.fields.convert(to, x));
                let c = contract(&mut f, &sizes, &[0, 1], (x, &x_order), (y, &y_order));
                result(&mut f, c);
                check_with(f, 1e-5, None);
            }
        }
    }
}

#[test]
fn subnormal_halves_are_no_zeros() {
    // One of the summed points: a subnormal number in a few rows, zero in the others, times a large number.
    for (sizes, turned) in [([50, 64, 40], false), ([50, 35, 40], true), ([17, 64, 70], true)] {
        for at in [6, 7, sizes[1] as usize - 1] {
            let function = halves(sizes, [DType::BF16, DType::BF16], turned);
            let [m, k, n] = sizes.map(|s| s as usize);
            let mut args: Vec<_> = function
                .params
                .iter()
                .enumerate()
                .map(|(i, &p)| values(function.ty(p), i as u64 + 3))
                .collect();
            for row in 0..m {
                let bits = if row % 9 == 2 { 1 << (row % 7) } else { 0 };
                args[0].set(row * k + at, Scalar::from_bits(DType::BF16, bits));
            }
            for column in 0..n {
                let place = if turned { column * k + at } else { at * n + column };
                args[1].set(place, Scalar::from_f64(DType::BF16, 1e38));
            }
            check_with(function, 1e-5, Some(args));
        }
    }
}

/// The subnormal factors of some panels, among their first terms or their last.
#[test]
fn subnormal_halves_in_panels_side_by_side() {
    for at in [0, 17, 74] {
        let (function, [m, k, n]) = (halves([40, 75, 700], [DType::BF16, DType::BF16], false), [40, 75, 700]);
        let mut args: Vec<_> =
            function.params.iter().enumerate().map(|(i, &p)| values(function.ty(p), i as u64 + 3)).collect();
        for row in 0..m {
            args[0].set(row * k + at, Scalar::from_f64(DType::BF16, 1e38));
        }
        for column in 0..n {
            let bits = if column % 90 == 2 { 1 << (column % 7) } else { 0 };
            args[1].set(at * n + column, Scalar::from_bits(DType::BF16, bits));
        }
        check_on(function, 1e-5, Some(args), &eager());
    }
}
