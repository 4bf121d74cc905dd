//! Kernels of the contraction emitter.

use crate::harness::*;
use crate::rows::matmul;
use surject_codegen::{Target, Thresholds, lower};
use surject_index::{Affine, Fill, IndexMap};
use surject_ir::{AccOp, BinaryOp, DType, FieldId, Function, Program, Scalar, UnaryOp};
use surject_runtime::tiles::Tiles;

/// `acc + at output axes (x * y)` over a space, with the factors read along these axes.
fn contract(
    f: &mut Function,
    sizes: &[u64],
    out: &[usize],
    x: (FieldId, &[usize]),
    y: (FieldId, &[usize]),
) -> FieldId {
    let all = space(sizes);
    let x = f.fields.read(IndexMap::projection(&all, x.1), x.0).unwrap();
    let y = f.fields.read(IndexMap::projection(&all, y.1), y.0).unwrap();
    let product = f.fields.binary(BinaryOp::Mul, x, y).unwrap();
    f.fields.acc(AccOp::Add, IndexMap::projection(&all, out), product).unwrap()
}

#[test]
fn products_of_every_type() {
    for dtype in [DType::F32, DType::F64, DType::I32, DType::U64] {
        check_with(matmul(33, 40, 50, dtype), 1e-4, None);
    }
    // The interpreter rounds every product of halves, the tile only the sum.
    check_with(matmul(33, 40, 50, DType::BF16), 0.3, None);
    check_with(matmul(33, 40, 50, DType::F16), 0.05, None);
    check_with(matmul(64, 64, 64, DType::F32), 1e-4, None);
    check_with(matmul(7, 130, 257, DType::F32), 1e-4, None);
    check_with(matmul(200, 31, 17, DType::F32), 1e-4, None);
    // The last vector of a row of columns has all lanes, a half, a quarter.
    for columns in [20, 24, 36, 40, 52, 57] {
        for dtype in [DType::F32, DType::F64, DType::I32, DType::BF16] {
            check_with(matmul(40, 37, columns, dtype), if dtype == DType::BF16 { 0.3 } else { 1e-4 }, None);
        }
    }
}

#[test]
fn columns_in_place() {
    // Few row tiles, small columns, columns as wide as a panel: for every width a target may choose.
    for (m, k, n) in [(9, 70, 128), (30, 41, 64), (200, 20, 32), (100, 60, 16), (90, 60, 8), (33, 1, 64)] {
        for dtype in [DType::F32, DType::F64, DType::I32, DType::I64, DType::BF16] {
            check_with(matmul(m, k, n, dtype), if dtype == DType::BF16 { 0.3 } else { 1e-4 }, None);
        }
    }
    // A part of a tensor, per batch, repeated along the sum or not: x[b,i,k] y[k + 3, b, j + 5].
    let (mut f, p) = function(&[(DType::F32, &[3, 20, 40]), (DType::F32, &[50, 3, 80])]);
    let all = space(&[3, 64, 40]);
    let axis = |axis: usize, offset: i64| {
        let mut coeffs = vec![0; 3];
        coeffs[axis] = 1;
        Affine { coeffs, offset }
    };
    let map = IndexMap::total(all, space(&[50, 3, 80]), vec![axis(2, 3), axis(0, 0), axis(1, 5)]).unwrap();
    let y = f.fields.read(map, p[1]).unwrap();
    let c = contract(&mut f, &[3, 20, 64, 40], &[0, 1, 2], (p[0], &[0, 1, 3]), (y, &[0, 2, 3]));
    let shifted = f.fields.unary(UnaryOp::Neg, c).unwrap();
    result(&mut f, shifted);
    check_with(f, 1e-4, None);
}

#[test]
fn transposed_operands_and_batches() {
    // q[b,q,h,d] k[b,k,h,d] -> [b,h,q,k]
    let (mut f, p) = function(&[(DType::F32, &[2, 20, 3, 24]), (DType::F32, &[2, 37, 3, 24])]);
    let sizes = [2, 3, 20, 37, 24];
    let c = contract(&mut f, &sizes, &[0, 1, 2, 3], (p[0], &[0, 2, 1, 4]), (p[1], &[0, 3, 1, 4]));
    result(&mut f, c);
    check_with(f, 1e-4, None);
    // a[k,m] b[n,k] -> [n,m]
    let (mut f, p) = function(&[(DType::F32, &[40, 50]), (DType::F32, &[60, 40])]);
    let c = contract(&mut f, &[60, 50, 40], &[0, 1], (p[0], &[2, 1]), (p[1], &[0, 2]));
    result(&mut f, c);
    check_with(f, 1e-4, None);
}

#[test]
fn epilogues() {
    let (mut f, p) = function(&[
        (DType::F32, &[40, 48]),
        (DType::F32, &[48, 70]),
        (DType::F32, &[70]),
        (DType::F32, &[40, 70]),
    ]);
    let c = contract(&mut f, &[40, 70, 48], &[0, 1], (p[0], &[0, 2]), (p[1], &[2, 1]));
    let bias = f.fields.read(IndexMap::projection(&space(&[40, 70]), &[1]), p[2]).unwrap();
    let sum = f.fields.binary(BinaryOp::Add, c, bias).unwrap();
    let y = f.fields.unary(UnaryOp::Tanh, sum).unwrap();
    let y = f.fields.binary(BinaryOp::Add, y, p[3]).unwrap();
    result(&mut f, y);
    check_with(f, 1e-4, None);
}

/// Softmax of scores times values, all in one field: the planner takes it apart.
pub fn attention(q: u64, k: u64, d: u64) -> Function {
    let (mut f, p) = function(&[(DType::F32, &[q, d]), (DType::F32, &[k, d]), (DType::F32, &[k, 32])]);
    let s = contract(&mut f, &[q, k, d], &[0, 1], (p[0], &[0, 2]), (p[1], &[1, 2]));
    let rows = IndexMap::projection(&space(&[q, k]), &[0]);
    let max = f.fields.acc(AccOp::Max, rows.clone(), s).unwrap();
    let max = f.fields.read(rows.clone(), max).unwrap();
    let e = f.fields.binary(BinaryOp::Sub, s, max).unwrap();
    let e = f.fields.unary(UnaryOp::Exp, e).unwrap();
    let sum = f.fields.acc(AccOp::Add, rows.clone(), e).unwrap();
    let sum = f.fields.read(rows, sum).unwrap();
    let weights = f.fields.binary(BinaryOp::Div, e, sum).unwrap();
    let o = contract(&mut f, &[q, 32, k], &[0, 1], (weights, &[0, 2]), (p[2], &[2, 1]));
    result(&mut f, o);
    f
}

#[test]
fn attention_as_one_field() {
    check_with(attention(30, 50, 40), 1e-4, None);
}

/// A convolution with padding and stride, as its own im2col.
pub fn convolution(n: u64, size: u64, channels: u64, filters: u64, stride: i64) -> Function {
    let (mut f, p) =
        function(&[(DType::F32, &[n, size, size, channels]), (DType::F32, &[3, 3, channels, filters])]);
    let out = (size - 1) / stride as u64 + 1;
    let all = space(&[n, out, out, filters, 3, 3, channels]);
    let at = |o: usize, w: usize| {
        let mut a = Affine::strided(7, o, stride, -1);
        a.coeffs[w] = 1;
        a
    };
    let components = vec![Affine::axis(7, 0), at(1, 4), at(2, 5), Affine::axis(7, 6)];
    let zero = Fill(Scalar::zero(DType::F32).bits());
    let map =
        IndexMap::partial(all.clone(), space(&[n, size, size, channels]), components, vec![], zero).unwrap();
    let x = f.fields.read(map, p[0]).unwrap();
    let w = f.fields.read(IndexMap::projection(&all, &[4, 5, 6, 3]), p[1]).unwrap();
    let product = f.fields.binary(BinaryOp::Mul, x, w).unwrap();
    let y = f.fields.acc(AccOp::Add, IndexMap::projection(&all, &[0, 1, 2, 3]), product).unwrap();
    result(&mut f, y);
    f
}

/// For a machine with vectors of 16 lanes.
fn lowered(function: Function) -> surject_codegen::LoweredModule {
    let program = surject_ir::Program { name: String::new(), functions: vec![function] };
    surject_codegen::lower(&program, "main", &surject_codegen::Target::wide()).unwrap()
}

#[test]
fn convolutions() {
    check_with(convolution(2, 9, 5, 20, 1), 1e-4, None);
    check_with(convolution(1, 12, 16, 33, 2), 1e-4, None);
    // Rows of a panel apart in memory, and a last loop of the rows that is no multiple of a tile.
    check_with(convolution(2, 16, 3, 20, 2), 1e-4, None);
    check_with(convolution(2, 15, 3, 20, 1), 1e-4, None);
    check_with(convolution(1, 30, 3, 9, 2), 1e-4, None);
    // Tiles inside, at a border, and across the end of a row.
    for (batch, size, channels, filters, stride) in
        [(1, 40, 4, 20, 1), (2, 27, 7, 64, 1), (1, 49, 5, 33, 2), (1, 33, 17, 16, 1), (2, 20, 3, 130, 1)]
    {
        check_with(convolution(batch, size, channels, filters, stride), 1e-4, None);
    }
}

#[test]
fn rows_at_a_border_are_copied() {
    // Whole vectors of channels, and a last one that begins earlier; tiles that go on in the next row of the image.
    for (batch, size, channels, filters, stride) in
        [(1, 26, 32, 33, 1), (2, 25, 16, 40, 1), (1, 33, 19, 40, 1), (1, 49, 19, 40, 2)]
    {
        let module = lowered(convolution(batch, size, channels, filters, stride));
        assert!(module.text.contains("_dense("), "{}", module.plan);
        check_with(convolution(batch, size, channels, filters, stride), 1e-4, None);
    }
}

#[test]
fn tensors_have_a_frame() {
    // The rows of a tile in one loop, cut off at its end, and in two; windows that step over elements.
    for (batch, size, channels, filters, stride) in [
        (1, 20, 16, 40, 1),
        (2, 13, 19, 40, 1),
        (2, 16, 35, 70, 2),
        (1, 21, 12, 40, 1),
        (2, 16, 24, 16, 1),
        (4, 8, 16, 64, 1),
        (6, 31, 3, 8, 2),
    ] {
        let module = lowered(convolution(batch, size, channels, filters, stride));
        let plan = module.plan.to_string();
        assert!(plan.contains("in place columns"), "{plan}");
        check_with(convolution(batch, size, channels, filters, stride), 1e-4, None);
    }
}

/// Conditions in every form: on one axis alone, backwards, wider than the tensor, on both sides of it, twice on one axis;
/// and those that do not belong to an address, which keep their conditions. A value outside need not be zero.
#[test]
fn frames_of_every_form() {
    let cases = [
        // Along one axis alone; the windows of the other one overlap.
        ("8,24,40", "x[i + m,j + n - 1,o]", "0 <= j + n - 1 < 24", true),
        ("6,26,40", "x[i + m - 1,j + n,o]", "0 <= i + m - 1 < 6", true),
        // Backwards, and with steps.
        ("6,24,40", "x[i + m - 1,24 - j - n,o]", "0 <= 24 - j - n < 24 and 0 <= i + m - 1 < 6", true),
        ("6,24,40", "x[i - 2*m + 2,j + 2*n - 2,o]", "0 <= j + 2*n - 2 < 24 and 0 <= i - 2*m + 2 < 6", true),
        // The tensor is smaller than what is read, or lies in it from an offset on.
        ("4,9,40", "x[i + m - 2,j + n - 7,o]", "0 <= j + n - 7 < 9 and 0 <= i + m - 2 < 4", true),
        // Not all of the tensor.
        (
            "6,24,40",
            "x[i + m - 1,j + n - 1,o]",
            "0 <= j + n - 1 < 22 and 0 <= i + m - 1 < 6 and 0 <= j + n - 3 < 23",
            true,
        ),
        // A loop in two conditions.
        (
            "6,24,40",
            "x[i + m - 1,j + n - 1,o]",
            "0 <= j + n - 1 < 24 and 0 <= i + m - 1 < 6 and 0 <= 25 - i - j < 26",
            false,
        ),
    ];
    for (shape, read, holds, framed) in cases {
        for fill in ["0.0f32", "2.5f32"] {
            let text = format!(
                "func main(x: f32[{shape}], w: f32[3,3,40,20]) -> (y) {{
  y : f32[6,24,20] =:+ over i<6, j<24, l<20, m<3, n<3, o<40 at [i,j,l]: ({read} where {holds} else {fill}) * w[m,n,o,l]
}}
"
            );
            let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            // Where it is tried, whether it pays or not.
            let target = surject_codegen::Target {
                thresholds: Thresholds::least(),
                ..surject_codegen::Target::wide()
            };
            let plan = surject_codegen::lower(&program, "main", &target).unwrap().plan.to_string();
            assert_eq!(plan.contains("in place columns"), framed, "{text}{plan}");
            check_with(program.functions[0].clone(), 1e-4, None);
        }
    }
}

/// Windows over 8-bit integers: the pairs of few channels are vectors of fewer lanes, whether that is a whole number or not.
#[test]
fn windows_over_narrow_integers() {
    for channels in [8, 11, 24, 35] {
        let text = format!(
            "func main(x: i8[1,12,13,{channels}], w: i8[3,3,{channels},20]) -> (y) {{
  t : i32[1,12,13,{channels}] =: over i<1, j<12, k<13, l<{channels}: i32(x[i,j,k,l])
  y : i32[1,12,13,20] =:+ over i<1, j<12, k<13, l<20, m<3, n<3, o<{channels} at [i,j,k,l]: (t[i,j + m - 1,k + n - 1,o] \
             where 0 <= k + n - 1 < 13 and 0 <= j + m - 1 < 12 else 0i32) * i32(w[m,n,o,l])
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let module = lowered(program.functions[0].clone());
        assert!(!module.plan.to_string().contains("t@"), "{}", module.plan);
        check_with(program.functions[0].clone(), 0.0, None);
    }
}

#[test]
fn rows_in_place() {
    // Few columns, and rows of every number; x is read as it lies, turned, and backwards.
    for dtype in [DType::F32, DType::F64, DType::I32] {
        for (m, k, n) in [(16, 40, 20), (37, 33, 64), (130, 20, 48), (8, 90, 100), (23, 64, 16)] {
            check_with(matmul(m, k, n, dtype), 1e-4, None);
            for step in [1, -1] {
                let (mut f, p) = function(&[(dtype, &[k, m]), (dtype, &[k, n])]);
                let all = space(&[m, n, k]);
                let row =
                    Affine { coeffs: vec![step, 0, 0], offset: if step < 0 { m as i64 - 1 } else { 0 } };
                let map = IndexMap::total(all, space(&[k, m]), vec![Affine::axis(3, 2), row]).unwrap();
                let x = f.fields.read(map, p[0]).unwrap();
                let c = contract(&mut f, &[m, n, k], &[0, 1], (x, &[0, 1, 2]), (p[1], &[2, 1]));
                result(&mut f, c);
                check_with(f, 1e-4, None);
            }
        }
        // c[b,i,j,n] = x[b,j,i,k] y[b,k,n]: rows of two loops, of which the last one fills tiles or does not.
        for (i, j) in [(5, 8), (3, 29), (20, 3), (4, 16)] {
            let (mut f, p) = function(&[(dtype, &[2, j, i, 36]), (dtype, &[2, 36, 40])]);
            let c = contract(
                &mut f,
                &[2, i, j, 40, 36],
                &[0, 1, 2, 3],
                (p[0], &[0, 2, 1, 4]),
                (p[1], &[0, 4, 3]),
            );
            result(&mut f, c);
            check_with(f, 1e-4, None);
        }
    }
}

/// A product of 8-bit integers, converted to 32 bits, with zero points subtracted or not.
fn narrow(sizes: [u64; 3], types: [DType; 2], zero: Option<i128>, turned: bool) -> Function {
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
fn halves([m, k, n]: [u64; 3], types: [DType; 2], turned: bool) -> Function {
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
            let module = lower(&program, "main", &target).unwrap();
            assert_eq!(module.text.contains(&format!("llvm.x86.{product}")), has, "{product}");
            assert_eq!(module.plan.to_string().contains("tile 32x32 in registers for tiles"), has);
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

#[test]
fn few_rows_by_long_rows_of_columns() {
    // Read in passes: with an end of a panel, an end of a pass, more than one tile of rows, several groups.
    for (m, k, n) in
        [(1, 130, 2100), (7, 257, 1030), (3, 300, 1024), (12, 129, 1100), (16, 64, 4096), (50, 261, 1100)]
    {
        for dtype in [DType::F32, DType::F64, DType::I32] {
            check_with(matmul(m, k, n, dtype), 1e-4, None);
        }
    }
}

#[test]
fn panels_that_are_packed_side_by_side() {
    // Rows of a page or so: ends of panels, of their terms and of the panels that a task has; with few rows as needed.
    use DType::{BF16, F32, F64, I8};
    let product = |sizes: [u64; 3], dtype: DType| match dtype {
        I8 => narrow(sizes, [I8, I8], None, false),
        BF16 => halves(sizes, [BF16, BF16], false),
        _ => matmul(sizes[0], sizes[1], sizes[2], dtype),
    };
    for (sizes, dtype) in [
        ([160, 141, 530], F32),
        ([160, 64, 2100], F32),
        ([150, 70, 300], F64),
        ([200, 75, 1030], BF16),
        ([33, 131, 700], BF16),
        ([150, 135, 1100], I8),
        ([20, 200, 1050], I8),
    ] {
        for plan in check_on(product(sizes, dtype), 1e-4, None, &eager()) {
            assert!(plan.contains("side by side"), "{plan}");
        }
    }
}

/// Targets that pack panels side by side wherever that is possible: one without registers for tiles, and this machine.
fn eager() -> [Target; 2] {
    [Target::wide(), Target::host()].map(|target| Target { thresholds: Thresholds::least(), ..target })
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
        for plan in check_on(function, 1e-5, Some(args), &eager()) {
            assert!(plan.contains("side by side"), "{plan}");
        }
    }
}

/// c[b,i,j] = sum over n of x[b,i,n] y[b,j,n]
fn by_transposed([batch, m, n, k]: [u64; 4], dtype: DType) -> Function {
    let (mut f, p) = function(&[(dtype, &[batch, m, k]), (dtype, &[batch, n, k])]);
    let c = contract(&mut f, &[batch, m, n, k], &[0, 1, 2], (p[0], &[0, 1, 3]), (p[1], &[0, 2, 3]));
    result(&mut f, c);
    f
}

#[test]
fn columns_that_are_packed_as_needed() {
    // One block of rows: with an end of a panel, several groups, batches, more than one tile of rows.
    for sizes in [[1, 40, 700, 130], [1, 39, 330, 67], [3, 20, 150, 64], [1, 64, 1030, 33], [1, 33, 260, 300]]
    {
        for dtype in [DType::F32, DType::F64, DType::I32, DType::BF16] {
            let plan = lowered(by_transposed(sizes, dtype)).plan.to_string();
            assert!(plan.contains("packed as needed"), "{plan}");
            check_with(by_transposed(sizes, dtype), if dtype == DType::BF16 { 0.3 } else { 1e-4 }, None);
        }
    }
    // What two products need is packed once.
    let (mut f, p) = function(&[(DType::F32, &[30, 90]), (DType::F32, &[20, 90]), (DType::F32, &[300, 90])]);
    for (rows, m) in [(p[0], 30), (p[1], 20)] {
        let c = contract(&mut f, &[m, 300, 90], &[0, 1], (rows, &[0, 2]), (p[2], &[1, 2]));
        result(&mut f, c);
    }
    check_with(f, 1e-4, None);
    // z + x z^T, as z + 1: what is packed is read until the last tile is stored, and does not give its memory away.
    let (mut f, p) = function(&[(DType::F32, &[64, 64]), (DType::F32, &[64, 64])]);
    let all = space(&[64, 64]);
    let one = f.fields.constant(&all, Scalar::from_f64(DType::F32, 1.0));
    let z = f.fields.binary(BinaryOp::Add, p[1], one).unwrap();
    let z = store(&mut f, z);
    let z = f.tensor(z);
    let c = contract(&mut f, &[64, 64, 64], &[0, 1], (p[0], &[0, 2]), (z, &[1, 2]));
    let c = store(&mut f, c);
    let c = f.tensor(c);
    let sum = f.fields.binary(BinaryOp::Add, c, z).unwrap();
    result(&mut f, sum);
    check_with(f, 1e-4, None);
}

#[test]
fn gradients_of_weights() {
    // dw[i,j,c,f] = sum over n, y, x of x[n,y+i-1,x+j-1,c] dy[n,y,x,f], with channels that do not fill a tile.
    for (size, channels, filters, dtype) in [
        (9, 7, 20, DType::F32),
        (6, 15, 33, DType::F32),
        (5, 29, 16, DType::F64),
        (7, 23, 24, DType::I32),
        (8, 20, 36, DType::F32),
    ] {
        let (mut f, p) = function(&[(dtype, &[2, size, size, channels]), (dtype, &[2, size, size, filters])]);
        let all = space(&[3, 3, channels, filters, 2, size, size]);
        let at = |o: usize, w: usize| {
            let mut a = Affine::strided(7, o, 1, -1);
            a.coeffs[w] = 1;
            a
        };
        let components = vec![Affine::axis(7, 4), at(5, 0), at(6, 1), Affine::axis(7, 2)];
        let zero = Fill(Scalar::zero(dtype).bits());
        let map = IndexMap::partial(all.clone(), space(&[2, size, size, channels]), components, vec![], zero)
            .unwrap();
        let x = f.fields.read(map, p[0]).unwrap();
        let y = f.fields.read(IndexMap::projection(&all, &[4, 5, 6, 3]), p[1]).unwrap();
        let product = f.fields.binary(BinaryOp::Mul, x, y).unwrap();
        let w = f.fields.acc(AccOp::Add, IndexMap::projection(&all, &[0, 1, 2, 3]), product).unwrap();
        result(&mut f, w);
        check_with(f, 1e-4, None);
    }
}

/// c[i,j] = sum over a few n of x[n,i] y[n,j]
fn few_terms(m: u64, k: u64, n: u64, dtype: DType) -> Function {
    let (mut f, p) = function(&[(dtype, &[k, m]), (dtype, &[k, n])]);
    let c = contract(&mut f, &[m, n, k], &[0, 1], (p[0], &[2, 0]), (p[1], &[2, 1]));
    result(&mut f, c);
    f
}

#[test]
fn rows_side_by_side_for_a_few_terms() {
    for (m, k, n, dtype) in [
        (100, 31, 200, DType::F32),
        (83, 32, 330, DType::F32),
        (9, 5, 260, DType::F32),
        (37, 17, 161, DType::F64),
        (44, 8, 190, DType::I32),
        (64, 32, 200, DType::F32),
    ] {
        check_with(few_terms(m, k, n, dtype), 1e-4, None);
    }
    // Terms that share sets of the cache are worth packed rows.
    for (m, k, there) in [(784, 32, true), (781, 40, true), (784, 300, true), (1024, 32, false)] {
        let program =
            surject_ir::Program { name: String::new(), functions: vec![few_terms(m, k, 512, DType::F32)] };
        let target = surject_codegen::Target { threads: 2, ..surject_codegen::Target::wide() };
        let plan = surject_codegen::lower(&program, "main", &target).unwrap().plan.to_string();
        assert_eq!(plan.contains(&format!("rows {m} in place")), there, "{plan}");
    }
}

#[test]
fn rows_one_behind_the_other() {
    // Rows of a tensor are read where they lie, for any number of columns, also where the last tile begins earlier.
    for (m, k, n) in [(100, 31, 200), (83, 16, 330), (41, 100, 260), (17, 17, 700)] {
        for dtype in [DType::F32, DType::F64, DType::I32] {
            check_with(matmul(m, k, n, dtype), 1e-4, None);
        }
    }
    // In a range of rows of a chain too, if the tensor is there as a whole.
    let (mut f, p) =
        function(&[(DType::F32, &[131, 40]), (DType::F32, &[40, 200]), (DType::F32, &[200, 33])]);
    let a = contract(&mut f, &[131, 200, 40], &[0, 1], (p[0], &[0, 2]), (p[1], &[2, 1]));
    let a = store(&mut f, a);
    let a = f.tensor(a);
    let b = contract(&mut f, &[131, 33, 200], &[0, 1], (a, &[0, 2]), (p[2], &[2, 1]));
    result(&mut f, b);
    check_with(f, 1e-4, None);
}

#[test]
fn edges_are_as_small_as_they_can_be() {
    // A last panel of columns in one vector instead of two; tiles as high as few rows need; small vectors for few columns.
    for (m, k, n) in [
        (50, 40, 33),
        (70, 33, 48),
        (60, 50, 80),
        (3, 900, 11),
        (5, 300, 40),
        (17, 60, 13),
        (20, 30, 9),
        (64, 20, 3),
        (40, 30, 7),
        (33, 45, 37),
        (50, 17, 66),
    ] {
        for dtype in [DType::F32, DType::F64, DType::I64] {
            check_with(matmul(m, k, n, dtype), 1e-4, None);
        }
    }
    // A last panel in which only the columns that exist have memory, with a factor that is computed.
    for (k, n) in [(600, 130), (515, 141), (700, 127), (2300, 29), (530, 133)] {
        check_with(matmul(21, k, n, DType::F32), 1e-4, None);
        let (mut f, p) = function(&[(DType::F32, &[21, k]), (DType::F32, &[k, n])]);
        let y = f.fields.unary(UnaryOp::Abs, p[1]).unwrap();
        let c = contract(&mut f, &[21, n, k], &[0, 1], (p[0], &[0, 2]), (y, &[2, 1]));
        result(&mut f, c);
        check_with(f, 1e-4, None);
    }
    let module = lowered(matmul(300, 700, 127, DType::F32));
    assert_eq!(module.arena_bytes, 700 * 127 * 4, "{}", module.plan);
    let module = lowered(matmul(300, 50, 3, DType::F32));
    assert!(module.plan.to_string().contains("tile 16x4"), "{}", module.plan);
}

/// What is left of a kernel whose tiles are functions is compiled with the least effort, and so is a kernel that takes
/// next to no time; what takes time is not.
#[test]
fn cold_parts() {
    let functions = |f: Function, cold: bool| -> Vec<String> {
        let module = lowered(f);
        let parts = module.parts.iter().filter(|p| p.cold == cold);
        let heads =
            parts.flat_map(|p| p.text.lines().filter(|l| l.starts_with("llvm.func ") && l.ends_with('{')));
        let mut names: Vec<String> =
            heads.map(|l| l.split(['@', '(', '_']).nth(1).unwrap_or_default().to_string()).collect();
        names.sort();
        names.dedup();
        names
    };
    let product = || matmul(512, 600, 512, DType::F32);
    assert_eq!(functions(product(), true), ["entry", "kernel"]);
    assert!(functions(product(), false).contains(&"tile".to_string()));
    // Rows at a border, and tiles that are cut off, are copied and stored by functions.
    let windows = || convolution(2, 26, 32, 70, 1);
    assert_eq!(functions(windows(), true), ["entry", "kernel"]);
    assert!(["rows", "store", "tile"].iter().all(|f| functions(windows(), false).iter().any(|g| g == f)));
    // Columns that are packed as needed are packed by a function.
    let fresh = || by_transposed([1, 64, 1030, 130], DType::F32);
    assert_eq!(functions(fresh(), true), ["entry", "kernel"]);
    assert!(functions(fresh(), false).contains(&"columns".to_string()));
    // Short sums: the way from tile to tile takes time.
    let short = || matmul(300, 12, 300, DType::F32);
    assert!(functions(short(), true).is_empty());
    for function in [product(), windows(), fresh(), short()] {
        check_with(function, 1e-3, None);
    }
}

/// dw[f,c,i,j] = sum over n, y, x of x[n,c,y+i-1,x+j-1] dy[n,f,y,x]: long sums are not cut along the elements that lie side
/// by side, so that the rows of a tile are read where they lie.
#[test]
fn gradients_of_weights_of_planes() {
    let (size, channels, filters) = (28, 8, 16);
    let text = format!(
        "func main(x: f32[16,{channels},{size},{size}], y: f32[16,{filters},{size},{size}]) -> (w) {{
  w : f32[{filters},{channels},3,3] =:+ over f<{filters}, c<{channels}, i<3, j<3, y<{size}, x<{size}, n<16 at [f,c,i,j]: \
(x[n,c,y + i - 1,x + j - 1] where 0 <= y + i - 1 < {size} and 0 <= x + j - 1 < {size} else 0.0f32) * y[n,f,y,x]
}}
"
    );
    let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let plan = lowered(program.functions[0].clone()).plan.to_string();
    assert!(plan.contains("rows 16 in place columns 9 x 8"), "{plan}");
    check_with(program.functions[0].clone(), 1e-4, None);
}

/// Where a module is compiled in parts, what kernels share is in one of them, and the others name it.
#[test]
fn parts_share_tiles() {
    let text = "func main(x: f32[96,200], y: f32[200,160], z: f32[160,160]) -> (v, w) {\n  \
         v : f32[96,160] =:+ over i<96, j<160, k<200 at [i,j]: x[i,k] * y[k,j]\n  \
         w : f32[96,160] =:+ over i<96, j<160, k<160 at [i,j]: v[i,k] * z[k,j]\n}\n";
    let program = surject_ir::parse(text).unwrap();
    let module = surject_codegen::lower(&program, "main", &surject_codegen::Target::wide()).unwrap();
    assert!(module.parts.len() > 1);
    let parts: String = module.parts.iter().map(|p| p.text.as_str()).collect();
    let names = module.text.split("llvm.func internal @tile").skip(1).map(|t| t.split('(').next().unwrap());
    for name in names {
        let heads: Vec<&str> = parts.lines().filter(|l| l.contains(&format!("func @tile{name}("))).collect();
        assert_eq!(heads.iter().filter(|l| l.ends_with('{')).count(), 1, "{heads:?}");
    }
    for function in program.functions {
        check(function);
    }
}

/// The groups of a row lie beside each other, so that tasks have all of them.
#[test]
fn groups_of_a_convolution() {
    for (groups, rows, columns) in [(4, 300, 16), (3, 301, 15), (4, 37, 33)] {
        let text = format!(
            "func main(x: f32[{rows},{groups},20], y: f32[{groups},20,{columns}]) -> (z) {{\n  \
             z : f32[{rows},{groups},{columns}] =:+ over i<{rows}, g<{groups}, j<{columns}, k<20 at [i,g,j]: \
             x[i,g,k] * y[g,k,j]\n}}\n"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let target =
            surject_codegen::Target { thresholds: Thresholds::least(), ..surject_codegen::Target::wide() };
        let plan = surject_codegen::lower(&program, "main", &target).unwrap().plan.to_string();
        assert!(plan.contains(&format!("batch {groups}")), "{plan}");
        for function in program.functions {
            check(function);
        }
    }
}

/// The rows, and the columns, of a product summed; and products of few terms whose columns lie apart.
#[test]
fn thin_products() {
    for (n, k, m) in [(300, 64, 20), (37, 65, 33), (17, 300, 16)] {
        let text = format!(
            "func main(a: f32[{n},{k}], b: f32[{k},{m}]) -> (r, c) {{
  r : f32[{m}] =:+ over j<{m}, i<{n}, k<{k} at [j]: a[i,k] * b[k,j]
  c : f32[{n}] =:+ over i<{n}, j<{m}, k<{k} at [i]: a[i,k] * b[k,j]
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        check_with(program.functions[0].clone(), 1e-3, None);
    }
    for (n, m, k) in [(900, 64, 3), (700, 37, 2), (1300, 130, 5)] {
        let text = format!(
            "func main(g: f32[{n},{k}], w: f32[{m},{k}]) -> (d, s) {{
  d : f32[{n},{m}] =:+ over i<{n}, j<{m}, k<{k} at [i,j]: g[i,k] * w[j,k]
  s : f32[{n},{m}] =: over i<{n}, j<{m}: g[i,0] + w[-j + {},1] * w[j,0]
}}
",
            m - 1
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        check(program.functions[0].clone());
    }
}

/// Packing rows is a function of its own, which calls others: it may be compiled apart from the kernel that has it.
#[test]
fn functions_that_call_others() {
    let text = "func main(x: f64[40,64], y: f64[64,48]) -> (z, v) {
  z : f64[40,48] =:+ over i<40, j<48, k<64 at [i,j]: sin(x[i,k]) * y[k,j]
  v : f64[48,40] =:+ over j<48, i<40, k<64 at [j,i]: cos(y[k,j]) * x[i,k]
}
";
    let program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}\\n{text}"));
    let target = Target { threads: 8, thresholds: Thresholds::least(), ..Target::wide() };
    let module = lower(&program, "main", &target).unwrap();
    assert!(module.parts.len() > 2);
    let apart = |p: &surject_codegen::Part| p.text.contains("@rows_") && !p.text.contains("@kernel_");
    assert!(module.parts.iter().any(apart), "{}", module.plan);
    let args: Vec<_> = (7u64..)
        .zip(&program.functions[0].params)
        .map(|(seed, &p)| values(program.functions[0].ty(p), seed))
        .collect();
    let found = execute(&module, &args);
    let expected = surject_ir::interp::run(&program, "main", &args).unwrap();
    for (a, b) in found.iter().zip(&expected) {
        compare(a, b, 1e-9).unwrap();
    }
}

/// Few columns, many rows, or the other way around: a sum in lanes for each element, those of a block together. What
/// lies across the sum, or in the same lines of a cache, is stored along it first. And what has tiles nevertheless.
#[test]
fn products_with_very_few_columns() {
    let plans = |f: Function| check_on(f, 1e-4, None, &[Target::host(), Target::wide(), Target::generic()]);
    let none =
        |plans: Vec<String>| assert!(plans.iter().all(|plan| !plan.contains("contraction")), "{plans:#?}");
    for (n, dtype) in [(2, DType::F32), (3, DType::F32), (3, DType::F64)] {
        none(plans(matmul(300, 131, n, dtype)));
        none(plans(by_transposed([1, 300, n, 131], dtype)));
    }
    // Rows that are left behind whole blocks, a last vector that is not full, and few rows.
    for (m, k, n, dtype) in [(301, 513, 5, DType::F32), (37, 700, 3, DType::F32), (102, 300, 3, DType::F64)] {
        none(plans(matmul(m, k, n, dtype)));
        none(plans(by_transposed([1, m, n, k], dtype)));
        none(plans(by_transposed([1, n, m, k], dtype)));
    }
    // Rows of a page each.
    let paged = plans(by_transposed([1, 6, 60, 1024], DType::F32));
    assert!(paged[1].starts_with("kernel_0: temporary"), "{paged:#?}");
    for (m, k, n) in [(300, 60, 5), (15, 131, 3), (1000, 60, 3), (3, 70, 300), (300, 131, 40)] {
        let tiles = plans(matmul(m, k, n, DType::F32));
        assert!(tiles.iter().any(|plan| plan.contains("contraction")), "{tiles:#?}");
    }
}

/// Windows with many channels and few features: sums in lanes along the channels, of several pixels together, whose
/// weights are stored along the channels first where they lie otherwise; and what is still in tiles.
#[test]
fn windows_with_few_features() {
    let text = |[height, channels, features]: [u64; 3], stride: u64, weights: &str| {
        let sizes = match weights {
            "w[l,m,n,o]" => format!("3,3,{channels},{features}"),
            _ => format!("{features},{channels},3,3"),
        };
        let out = height.div_ceil(stride);
        format!(
            "func main(x: f32[2,{height},9,{channels}], w: f32[{sizes}]) -> (y) {{
  y : f32[2,{out},9,{features}] =:+ over i<2, j<{out}, k<9, o<{features}, l<3, m<3, n<{channels} at [i,j,k,o]: (x[i,{stride}*j + l - 1,k + m - 1,n] where 0 <= {stride}*j + l - 1 < {height} and 0 <= k + m - 1 < 9 else 0.0f32) * {weights}
}}
"
        )
    };
    let parsed = |text: String| surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    for (sizes, stride) in [([11, 20, 1], 1), ([10, 40, 3], 1), ([11, 16, 2], 2), ([9, 33, 7], 3)] {
        for weights in ["w[l,m,n,o]", "w[o,n,l,m]"] {
            check_with(parsed(text(sizes, stride, weights)).functions[0].clone(), 1e-4, None);
        }
    }
    let lanes = |channels: u64, features: u64| {
        let program = parsed(text([40, channels, features], 1, "w[l,m,n,o]"));
        !lower(&program, "main", &Target::wide()).unwrap().plan.to_string().contains("contraction")
    };
    let all = [(64, 1), (64, 6), (40, 12), (64, 16)];
    assert_eq!(all.map(|(channels, features)| lanes(channels, features)), [true, true, false, false]);
}

/// Rows that share what they are multiplied with are summed together; four at a time, or as many as divide them.
#[test]
fn rows_of_a_vector_are_summed_together() {
    for (m, k, together) in [(64, 200, " 4 x "), (33, 70, " 3 x "), (34, 70, " 2 x "), (67, 300, " 4 x ")] {
        let text = format!(
            "func main(x: f32[{m},{k}], w: f32[{k}], b: f32[{m}]) -> (z, d) {{
  y : f32[{m}] =:+ over i<{m}, l<{k} at [i]: x[i,l] * w[l]
  z : f32[{m}] =: over i<{m}: tanh(y[i]) + b[i]
  d : f32[{m}] =:max over i<{m}, l<{k} at [i]: abs(x[i,l] - w[l])
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let targets = [
            Target::host(),
            Target::wide(),
            Target { thresholds: Thresholds::least(), threads: 4, ..Target::wide() },
        ];
        let plans = check_on(program.functions[0].clone(), 1e-4, None, &targets);
        assert!(plans.iter().take(2).all(|plan| plan.matches(together).count() >= 2), "{plans:#?}");
    }
}

/// The rows that are left behind whole blocks read what they need of a tensor that is needed no more.
#[test]
fn rows_that_are_left_behind_read_in_place() {
    let text = "func main(x: f32[67,300], w: f32[300,3], b: f32[67,3]) -> (z) {
  t : f32[67,3] =: over i<67, j<3: tanh(b[i,j])
  y : f32[67,3] =: over i<67, j<3: (+ over i<67, j<3, l<300 at [i,j]: x[i,l] * w[l,j]) * t[i,j] + t[i,j]
  u : f32[67] =: over i<67: abs(y[i,1])
  z : f32[67] =: over i<67: (+ over i<67, l<300 at [i]: x[i,l] * w[l,2]) - u[i]
}
";
    let program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let targets = [
        Target::host(),
        Target::wide(),
        Target { thresholds: Thresholds::least(), threads: 4, ..Target::wide() },
    ];
    let plans = check_on(program.functions[0].clone(), 1e-4, None, &targets);
    assert!(plans.iter().all(|plan| !plan.contains("contraction")), "{plans:#?}");
}

/// What stands behind a sum in lanes, and around it, is that of its own element.
#[test]
fn sums_in_lanes_with_more_behind_them() {
    let text = "func main(x: f32[90,3,200], w: f32[200,5], b: f32[5], r: f32[90,3,5]) -> (z, s) {
  y : f32[90,3,5] =:+ over i<90, j<3, k<5, l<200 at [i,j,k]: x[i,j,l] * w[l,k]
  z : f32[90,3,5] =: over i<90, j<3, k<5: max(y[i,j,k] + b[k], 0.0f32) + r[i,j,k] * b[0]
  s : f32[5,90] =:+ over k<5, i<90, l<200 at [k,i]: w[l,k] * x[i,2,l]
}
";
    let program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let targets = [
        Target::host(),
        Target::wide(),
        Target { thresholds: Thresholds::least(), threads: 4, ..Target::wide() },
    ];
    let plans = check_on(program.functions[0].clone(), 1e-4, None, &targets);
    assert!(plans.iter().all(|plan| !plan.contains("contraction")), "{plans:#?}");
}

/// Products of the same form that read packed columns are the same text, whatever packs these: as it lies, or turned.
/// Each packs its own.
#[test]
fn products_alike_with_other_columns() {
    for (rows, sum, columns, packed) in [(8, 8, 72, true), (48, 9, 130, true), (8, 9, 130, false)] {
        let text = format!(
            "func main(a: f32[{rows},{sum}], b: f32[{rows},{sum}], w: f32[{sum},{columns}], v: f32[{columns},{sum}]) -> (y, z) {{
  y : f32[{rows},{columns}] =:+ over i<{rows}, j<{columns}, k<{sum} at [i,j]: a[i,k] * (w[k,j] * 0.5f32)
  z : f32[{rows},{columns}] =:+ over i<{rows}, j<{columns}, k<{sum} at [i,j]: b[i,k] * (v[j,k] * 0.5f32)
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let target = surject_codegen::Target { threads: 1, ..surject_codegen::Target::wide() };
        let plan = surject_codegen::lower(&program, "main", &target).unwrap().plan.to_string();
        assert!(!packed || plan.matches("packed as needed").count() == 2, "{plan}");
        check_with(program.functions[0].clone(), 1e-4, None);
    }
}

/// What stands behind a product and is a sum itself, such as the mean of a row, is there before: tiles would sum it again.
#[test]
fn sums_behind_a_product_come_first() {
    let text = "func main(x: f32[16,128], w: f32[96,128]) -> (y) {
  let m : f32[16] =:+ over i<16, k<128 at [i]: x[i,k]
  y : f32[16,96] =: over i<16, j<96: (x[i,j] - m[i] / 128.0f32) * (+ over i<16, j<96, k<128 at [i,j]: x[i,k] * w[j,k])
}
";
    let program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}"));
    check_with(program.functions[0].clone(), 1e-4, None);
    let plan = lower(&program, "main", &Target::wide()).unwrap().plan.to_string();
    let kernels: Vec<&str> = plan.lines().filter(|line| line.starts_with("kernel")).collect();
    let sums = kernels.iter().position(|k| k.contains("+ [128"));
    let tiles = kernels.iter().position(|k| k.contains("contraction"));
    assert!(sums.is_some() && sums < tiles, "{plan}");
}
