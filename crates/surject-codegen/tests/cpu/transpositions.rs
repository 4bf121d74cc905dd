//! Transpositions, and other moves across the axes of a tensor.

use crate::harness::*;
use crate::rows::total;
use surject_codegen::Target;
use surject_index::{Affine, IndexMap};
use surject_ir::{BinaryOp, DType, Function, Program};

/// A machine without caches worth the name: what is loaded next is prefetched, and results go past the caches.
fn far(target: Target) -> Target {
    let has_non_temporal_stores = Target::host().has_non_temporal_stores;
    Target { l2_share_bytes: 32, llc_bytes: 64, has_non_temporal_stores, ..target }
}

/// Runs a function whose transpositions the strategies of some machines take, and gives the plans.
fn turned(function: Function) -> Vec<String> {
    let half = Target { threads: 1, ..half_lines() };
    let targets = [Target::host(), Target::generic(), Target::wide(), far(Target::wide()), half, far(half)];
    check_on(function, 1e-5, None, &targets)
}

/// Does the kernel IR transpose tiles in a program?
fn is_turned(program: &Program, target: &Target) -> bool {
    let plan = lowered(program, "main", target).plan.to_string();
    plan.contains("transposition [")
}

/// Rows begin with a line or anywhere in one, and so do results that go past the caches.
#[test]
fn transpositions_of_all_orders() {
    for dtype in [DType::F32, DType::BF16, DType::I8, DType::F64, DType::I32] {
        for (sizes, order) in [
            (&[70, 53][..], &[1, 0][..]),
            (&[133, 101], &[1, 0]),
            (&[64, 96], &[1, 0]),
            (&[19, 203], &[1, 0]),
            (&[203, 19], &[1, 0]),
            (&[3, 67, 41], &[0, 2, 1]),
            (&[2, 9, 11, 37], &[0, 3, 1, 2]),
            (&[2, 37, 9, 11], &[0, 2, 3, 1]),
            // Rows that are too long to be one sequence of a tile.
            (&[431, 70], &[1, 0]),
            (&[2, 421, 3, 23], &[0, 2, 3, 1]),
            // Short rows that another loop goes on with.
            (&[2, 37, 41], &[2, 1, 0]),
            (&[5, 9, 70], &[2, 1, 0]),
            (&[3, 4, 5, 64], &[3, 2, 1, 0]),
            (&[2, 3, 515], &[2, 1, 0]),
            (&[3, 2, 7, 33], &[1, 3, 2, 0]),
        ] {
            let (mut f, p) = function(&[(dtype, sizes)]);
            let image: Vec<u64> = order.iter().map(|&axis| sizes[axis]).collect();
            let mut axes = vec![0; order.len()];
            order.iter().enumerate().for_each(|(to, &from)| axes[from] = to);
            let read = f.fields.read(IndexMap::projection(&space(&image), &axes), p[0]).unwrap();
            result(&mut f, read);
            turned(f);
        }
    }
    let (mut f, p) = function(&[(DType::F32, &[70, 53]), (DType::F32, &[53, 70])]);
    let turned_one = f.fields.read(IndexMap::projection(&space(&[53, 70]), &[1, 0]), p[0]).unwrap();
    let sum = f.fields.binary(BinaryOp::Add, turned_one, p[1]).unwrap();
    result(&mut f, sum);
    let program = Program { name: String::new(), functions: vec![f.clone()] };
    let text = lowered(&program, "main", &far(Target::wide())).text;
    assert!(text.contains("nontemporal") && text.contains("llvm.alloca"), "{text}");
    turned(f);
}

/// Where registers are half a line, tiles of whole lines, in the caches and past them.
#[test]
fn tiles_of_whole_lines() {
    for (dtype, sizes) in [
        (DType::F32, [48, 40]),
        (DType::F32, [112, 37]),
        (DType::F32, [1024, 24]),
        (DType::F32, [32, 1024]),
        (DType::F32, [50, 40]),
        (DType::F64, [40, 21]),
        (DType::F64, [24, 512]),
        (DType::BF16, [96, 40]),
        (DType::I8, [192, 70]),
    ] {
        let (mut f, p) = function(&[(dtype, &sizes), (dtype, &[sizes[1], sizes[0]])]);
        let all = space(&[sizes[1], sizes[0]]);
        let x = f.fields.read(IndexMap::projection(&all, &[1, 0]), p[0]).unwrap();
        let sum = f.fields.binary(BinaryOp::Add, x, p[1]).unwrap();
        result(&mut f, sum);
        turned(f);
    }
}

/// Functions without strategies transpose as rows do.
#[test]
fn transpositions_without_strategies() {
    for dtype in [DType::F32, DType::F64, DType::BF16, DType::I8] {
        let (mut f, p) = function(&[(dtype, &[3, 37, 41])]);
        let x = f.fields.read(IndexMap::projection(&space(&[3, 41, 37]), &[0, 2, 1]), p[0]).unwrap();
        result(&mut f, x);
        check(f);
    }
}

/// Beside what is transposed some is gathered by conditions: elements outside of a tensor.
#[test]
fn transpositions_beside_a_border() {
    for (dtype, fill) in [("f32", "0.5f32"), ("i8", "3i8"), ("f64", "1.0f64")] {
        for [rows, columns] in [[40, 33], [7, 60], [64, 64]] {
            let text = format!(
                "func main(x: {dtype}[{columns},{rows}], y: {dtype}[{rows},{columns}]) -> (z) {{
  z : {dtype}[{rows},{columns}] =: over i<{rows}, j<{columns}: x[j,i] + (y[i,j - 2] where 0 <= j - 2 < {columns} else {fill})
}}
"
            );
            let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            // Seven rows are no tile with vectors of 512 bits.
            assert!(rows == 7 || is_turned(&program, &Target::wide()), "{text}");
            turned(program.functions[0].clone());
        }
    }
}

#[test]
fn transpositions_of_matrices() {
    for dtype in [DType::F32, DType::F64, DType::BF16, DType::I8, DType::I1] {
        for sizes in [[32, 48], [37, 65], [16, 300], [70, 33], [47, 34], [600, 19]] {
            let (mut f, p) = function(&[(dtype, &[3, sizes[0], sizes[1]]), (dtype, &[sizes[1], sizes[0]])]);
            let all = space(&[3, sizes[1], sizes[0]]);
            let x = f.fields.read(IndexMap::projection(&all, &[0, 2, 1]), p[0]).unwrap();
            let y = f.fields.read(IndexMap::projection(&all, &[1, 2]), p[1]).unwrap();
            let sum = f.fields.binary(BinaryOp::Add, x, y).unwrap();
            result(&mut f, sum);
            turned(f);
        }
    }
}

/// The axis that memory has last is too short for a tile, which goes on along the axes before it; and something else varies
/// along one of them.
#[test]
fn transpositions_along_short_axes() {
    for dtype in [DType::F32, DType::F64, DType::BF16, DType::I8] {
        for (sizes, order) in [
            (&[37, 3, 5, 4][..], &[3, 1, 2, 0][..]),
            (&[128, 3, 16, 4], &[3, 1, 2, 0]),
            (&[40, 33, 2], &[2, 1, 0]),
            (&[19, 30, 7, 2], &[3, 1, 2, 0]),
            (&[3, 40, 5, 7, 2], &[4, 0, 2, 3, 1]),
            (&[50, 2, 2, 4], &[3, 2, 1, 0]),
            (&[33, 3, 2, 5, 3], &[2, 4, 3, 1, 0]),
            (&[2, 70, 9, 6], &[3, 0, 2, 1]),
        ] {
            let (mut f, p) = function(&[(dtype, sizes), (dtype, &[sizes[order[0]]])]);
            let image: Vec<u64> = order.iter().map(|&axis| sizes[axis]).collect();
            let mut axes = vec![0; order.len()];
            order.iter().enumerate().for_each(|(to, &from)| axes[from] = to);
            let all = space(&image);
            let read = f.fields.read(IndexMap::projection(&all, &axes), p[0]).unwrap();
            let beside = f.fields.read(IndexMap::projection(&all, &[0]), p[1]).unwrap();
            let sum = f.fields.binary(BinaryOp::Add, read, beside).unwrap();
            result(&mut f, sum);
            if dtype == DType::F32 {
                let program = Program { name: String::new(), functions: vec![f.clone()] };
                assert!(is_turned(&program, &Target::wide()), "{sizes:?} by {order:?}");
            }
            turned(f);
        }
    }
}

/// Elements that lie a few elements apart, forwards and backwards, and the parts of complex numbers.
#[test]
fn strided_moves() {
    for dtype in [DType::F32, DType::BF16, DType::I8, DType::F64, DType::C64, DType::C128] {
        for (count, apart) in [(70u64, 2u64), (33, 3), (64, 7), (5, 8), (40, 9)] {
            let (mut f, p) = function(&[(dtype, &[3, count * apart]), (dtype, &[3, count])]);
            for (first, step) in [(1, apart as i64), ((count * apart) as i64 - 1, -(apart as i64))] {
                let along = Affine { coeffs: vec![0, step], offset: first };
                let rows = Affine { coeffs: vec![1, 0], offset: 0 };
                let map = total(&[3, count], &[3, count * apart], vec![rows, along]);
                let x = f.fields.read(map, p[0]).unwrap();
                let both = f.fields.binary(BinaryOp::Mul, x, p[1]).unwrap();
                result(&mut f, both);
            }
            check(f);
        }
        for sizes in [[50u64, 3], [3, 50], [100, 10], [10, 100], [67, 17]] {
            let (mut f, p) = function(&[(dtype, &[2, sizes[0], sizes[1]])]);
            let turned = IndexMap::projection(&space(&[2, sizes[1], sizes[0]]), &[0, 2, 1]);
            let x = f.fields.read(turned, p[0]).unwrap();
            result(&mut f, x);
            check(f);
        }
    }
}

/// The same where not all of them exist: windows with steps over padded rows, backwards as well.
#[test]
fn strided_moves_over_the_edge() {
    for (dtype, out) in [("f32", "0.5f32"), ("bf16", "2bf16"), ("i8", "3i8"), ("f64", "1.0f64")] {
        for (n, count, step) in [(56, 28, 2), (55, 28, 2), (99, 33, 3), (70, 9, 8), (20, 20, 1), (23, 70, 2)]
        {
            let end = step * count - 2;
            let text = format!(
                "func main(x: {dtype}[3,{n}]) -> (y, z) {{
  y : {dtype}[3,{count}] =:max over i<3, j<{count}, w<3 at [i,j]: (x[i,{step}*j + w - 1] where 0 <= {step}*j + w - 1 < {n} else {out})
  z : {dtype}[3,{count}] =: over i<3, j<{count}: (x[i,-{step}*j + {end}] where 0 <= -{step}*j + {end} < {n} else {out})
}}
"
            );
            let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            check(program.functions[0].clone());
        }
    }
}

/// The longer loop is cut into pieces, and the last of them ends inside a tile or a group.
#[test]
fn transpositions_in_pieces() {
    for (batch, rows, columns) in
        [(3, 40, 700), (3, 700, 40), (2, 37, 611), (2, 611, 37), (1, 530, 545), (2, 40, 6007)]
    {
        let text = format!(
            "func main(x: f32[{batch},{columns},{rows}]) -> (y) {{\n  \
             y : f32[{batch},{rows},{columns}] =: over i<{batch}, j<{rows}, k<{columns}: x[i,k,j] * 2.0f32\n}}\n"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert!(is_turned(&program, &Target::wide()), "{text}");
        for function in program.functions {
            turned(function);
        }
    }
}
