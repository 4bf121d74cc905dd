//! Transpositions, and other moves across the axes of a tensor.

use crate::harness::*;
use crate::rows::total;
use surject_codegen::{Target, Thresholds, lower};
use surject_index::{Affine, IndexMap};
use surject_ir::{BinaryOp, DType, Program};

/// Blocks that are transposed and stored past the caches, of which the rows begin anywhere in a line: tile by tile.
#[test]
fn tiles_of_blocks() {
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
            let turned = f.fields.read(IndexMap::projection(&space(&image), &axes), p[0]).unwrap();
            result(&mut f, turned);
            check(f);
        }
    }
    let (mut f, p) = function(&[(DType::F32, &[70, 53]), (DType::F32, &[53, 70])]);
    let turned = f.fields.read(IndexMap::projection(&space(&[53, 70]), &[1, 0]), p[0]).unwrap();
    let sum = f.fields.binary(BinaryOp::Add, turned, p[1]).unwrap();
    result(&mut f, sum);
    let program = Program { name: String::new(), functions: vec![f.clone()] };
    let eager = Target { thresholds: Thresholds::least(), has_non_temporal_stores: true, ..Target::wide() };
    let module = lower(&program, "main", &eager).unwrap();
    assert!(module.text.contains("nontemporal") && has_tile(&module.text), "{}", module.text);
    check(f);
}

/// Has a kernel memory of its own? The pointers that it is given are not aligned so.
fn has_tile(text: &str) -> bool {
    text.lines().any(|l| l.contains("llvm.alloca") && l.contains("alignment = 64"))
}

/// Rows that begin anywhere in a line are made in a tile first, but for elements that a machine stores across lines.
#[test]
fn vectors_across_lines() {
    let target = Target { thresholds: Thresholds::least(), split_store_bytes: Some(8), ..Target::wide() };
    for (dtype, direct) in [(DType::F32, false), (DType::F64, true)] {
        let (mut f, p) = function(&[(dtype, &[70, 53])]);
        let turned = f.fields.read(IndexMap::projection(&space(&[53, 70]), &[1, 0]), p[0]).unwrap();
        result(&mut f, turned);
        let program = Program { name: String::new(), functions: vec![f.clone()] };
        let text = lower(&program, "main", &target).unwrap().text;
        assert_eq!(has_tile(&text), !direct, "{text}");
        check_on(f, 0.0, None, &[target]);
    }
}

/// Where registers are half a line, blocks of whole lines: what registers hold is read in whole lines, too, and so are columns
/// that are pages apart.
#[test]
fn blocks_of_whole_lines() {
    let near = Target {
        vector_bytes: 32,
        masks_are_vectors: true,
        lane_permute_width: 8,
        threads: 1,
        ..Target::generic()
    };
    let past = Target {
        thresholds: Thresholds::least(),
        has_non_temporal_stores: Target::host().has_non_temporal_stores,
        ..near
    };
    for (dtype, sizes, [within, beyond]) in [
        (DType::F32, [48, 40], ["blocks of 8 rows [40 48/16]"; 2]),
        (DType::F32, [112, 37], ["blocks of 8 rows [37 112/16]"; 2]),
        (DType::F32, [1024, 24], ["blocks of 8 rows [24 1024/16]", "blocks [24 1024/8]"]),
        (DType::F32, [32, 1024], ["blocks [1024 32/8]", "blocks [1024 32/16]"]),
        (DType::F32, [1024, 1024], ["blocks [1024 1024/16]", "blocks [1024 1024/8]"]),
        (DType::F32, [50, 40], ["blocks [40 50/8]"; 2]),
        (DType::F64, [40, 21], ["blocks [21 40/8]"; 2]),
        (DType::F64, [24, 512], ["blocks [512 24/8]"; 2]),
        (DType::BF16, [96, 40], ["blocks of 16 rows [40 96/32]"; 2]),
        (DType::I8, [192, 70], ["blocks of 32 rows [70 192/64]"; 2]),
    ] {
        let (mut f, p) = function(&[(dtype, &sizes), (dtype, &[sizes[1], sizes[0]])]);
        let all = space(&[sizes[1], sizes[0]]);
        let turned = f.fields.read(IndexMap::projection(&all, &[1, 0]), p[0]).unwrap();
        let sum = f.fields.binary(BinaryOp::Add, turned, p[1]).unwrap();
        result(&mut f, sum);
        let plans = check_on(f, 0.0, None, &[near, past]);
        for (plan, shape) in plans.iter().zip([within, beyond]) {
            assert!(plan.contains(shape), "{shape}: {plan}");
        }
    }
}

#[test]
fn transpositions_in_blocks() {
    for dtype in [DType::F32, DType::F64, DType::BF16, DType::I8, DType::I1] {
        for sizes in [[32, 48], [37, 65], [16, 300], [70, 33], [47, 34], [600, 19]] {
            let (mut f, p) = function(&[(dtype, &[3, sizes[0], sizes[1]]), (dtype, &[sizes[1], sizes[0]])]);
            let all = space(&[3, sizes[1], sizes[0]]);
            let x = f.fields.read(IndexMap::projection(&all, &[0, 2, 1]), p[0]).unwrap();
            let y = f.fields.read(IndexMap::projection(&all, &[1, 2]), p[1]).unwrap();
            let sum = f.fields.binary(BinaryOp::Add, x, y).unwrap();
            result(&mut f, sum);
            check(f);
        }
    }
}

/// The axis that memory has last is too short for a block, which goes on along the axes before it; and something else varies
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
            let turned = f.fields.read(IndexMap::projection(&all, &axes), p[0]).unwrap();
            let beside = f.fields.read(IndexMap::projection(&all, &[0]), p[1]).unwrap();
            let sum = f.fields.binary(BinaryOp::Add, turned, beside).unwrap();
            result(&mut f, sum);
            if dtype == DType::F32 {
                let program = Program { name: String::new(), functions: vec![f.clone()] };
                let plan = lower(&program, "main", &Target::generic()).unwrap().plan.to_string();
                assert!(plan.contains("blocks"), "{plan}");
            }
            check(f);
        }
    }
}

/// As if all memory were far away: blocks ask for what the next ones need, also behind the ends of tensors.
#[test]
fn transpositions_of_what_is_far_away() {
    for (dtype, sizes) in
        [(DType::F32, [70, 33]), (DType::BF16, [47, 512]), (DType::F32, [512, 40]), (DType::F64, [64, 90])]
    {
        let (mut f, p) = function(&[(dtype, &sizes)]);
        let turned = IndexMap::projection(&space(&[sizes[1], sizes[0]]), &[1, 0]);
        let x = f.fields.read(turned, p[0]).unwrap();
        result(&mut f, x);
        let args = [values(f.ty(f.params[0]), 5)];
        let program = Program { name: String::new(), functions: vec![f] };
        let expected = surject_ir::interp::run(&program, "main", &args).unwrap();
        for target in [Target::host(), Target::generic(), Target::wide()] {
            let module = lower(&program, "main", &Target { l2_share_bytes: 32, ..target }).unwrap();
            assert_eq!(execute(&module, &args), expected, "{}", module.text);
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

/// Blocks that are turned: the longer loop is cut into pieces, and the last of them ends inside a block or a strip.
#[test]
fn turned_blocks_in_pieces() {
    for (batch, rows, columns) in
        [(3, 40, 700), (3, 700, 40), (2, 37, 611), (2, 611, 37), (1, 530, 545), (2, 40, 6007)]
    {
        let text = format!(
            "func main(x: f32[{batch},{columns},{rows}]) -> (y) {{\n  \
             y : f32[{batch},{rows},{columns}] =: over i<{batch}, j<{rows}, k<{columns}: x[i,k,j] * 2.0f32\n}}\n"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let plan = lower(&program, "main", &Target::wide()).unwrap().plan.to_string();
        assert!(plan.contains("blocks"), "{plan}");
        for function in program.functions {
            check(function);
        }
    }
}
