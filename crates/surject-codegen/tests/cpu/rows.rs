//! Kernels of the row emitter.

use crate::assignments::check_text;
use crate::harness::*;
use crate::pointwise::special;
use surject_codegen::{Target, Thresholds, lower};
use surject_index::{Affine, Fill, IndexMap};
use surject_ir::{AccOp, BinaryOp, Buffer, DType, FieldId, Function, Program, Scalar, UnaryOp};

fn total(domain: &[u64], codomain: &[u64], components: Vec<Affine>) -> IndexMap {
    IndexMap::total(space(domain), space(codomain), components).unwrap()
}

/// `acc op` over the last axis, read back along it.
pub fn row(f: &mut Function, op: AccOp, x: FieldId) -> FieldId {
    let domain = f.fields[x].space.clone();
    let map = IndexMap::projection(&domain, &(0..domain.rank() - 1).collect::<Vec<_>>());
    let acc = f.fields.acc(op, map.clone(), x).unwrap();
    f.fields.read(map, acc).unwrap()
}

pub fn softmax(sizes: &[u64], dtype: DType) -> Function {
    let (mut f, p) = function(&[(dtype, sizes)]);
    let max = row(&mut f, AccOp::Max, p[0]);
    let shifted = f.fields.binary(BinaryOp::Sub, p[0], max).unwrap();
    let e = f.fields.unary(UnaryOp::Exp, shifted).unwrap();
    let sum = row(&mut f, AccOp::Add, e);
    let y = f.fields.binary(BinaryOp::Div, e, sum).unwrap();
    result(&mut f, y);
    f
}

#[test]
fn softmax_in_one_kernel() {
    for sizes in [&[4, 7][..], &[3, 64], &[2, 3, 100], &[1, 1], &[37, 130], &[5]] {
        check(softmax(sizes, DType::F32));
    }
    check(softmax(&[6, 33], DType::F64));
    check(softmax(&[6, 33], DType::BF16));
    check(softmax(&[6, 33], DType::F16));
}

/// A processor that reads ahead by itself is asked for nothing but rows that are read from their ends, of at least 512
/// bytes and with another row behind them; all rows from the last to the first are one row.
#[test]
fn turned_rows_are_asked_for() {
    let reads = Target { thresholds: Thresholds::least(), prefetches: false, ..Target::wide() };
    for (rows, length, at, asked) in [
        (40, 300, "[i, 299 - j]", true),
        (40, 300, "[39 - i, 299 - j]", false),
        (40, 300, "[39 - i, j]", false),
        (40, 300, "[i, j]", false),
        (300, 40, "[i, 39 - j]", false),
        (1, 5000, "[i, 4999 - j]", false),
        (4, 5000, "[i, 4999 - j]", true),
    ] {
        let text = format!(
            "func main(x: f32[{rows},{length}], y: f32[{rows},{length}]) -> (z) {{
  z : f32[{rows},{length}] =: over i<{rows}, j<{length}: x{at} * y[i, j]
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let lowered = lower(&program, "main", &reads).unwrap();
        let prefetches = lowered.text.contains("hint = 3 : i32, rw = 0 : i32");
        assert_eq!(prefetches, asked, "{text}{}", lowered.plan);
        check_text(&text, &[]);
    }
}

/// Rows that begin anywhere in a line, and elements of all sizes in one kernel, stored past the caches.
#[test]
fn rows_from_line_to_line() {
    for sizes in
        [&[3, 1][..], &[5, 15], &[4, 16], &[3, 17], &[2, 3, 63], &[5, 67], &[3, 200], &[4, 1021], &[4099]]
    {
        let (mut f, p) = function(&[(DType::F32, sizes), (DType::I8, sizes), (DType::F64, sizes)]);
        let double = f.fields.binary(BinaryOp::Add, p[0], p[0]).unwrap();
        let wide = f.fields.convert(DType::BF16, double);
        let narrow = f.fields.binary(BinaryOp::Mul, p[1], p[1]).unwrap();
        let square = f.fields.binary(BinaryOp::Mul, p[2], p[2]).unwrap();
        for field in [double, wide, narrow, square] {
            result(&mut f, field);
        }
        check(f);
    }
    // Parts of rows: a row of another tensor between elements of its own.
    let (mut f, p) = function(&[(DType::F32, &[7, 100]), (DType::F32, &[7, 41])]);
    let mut fields = Vec::new();
    for (x, length, first) in [(p[0], 100, 0i64), (p[1], 41, 100)] {
        let at = vec![Affine::axis(2, 0), Affine::strided(2, 1, 1, -first)];
        let none = Fill(Scalar::from_f64(DType::F32, -0.0).bits());
        let map = IndexMap::partial(space(&[7, 141]), space(&[7, length]), at, vec![], none).unwrap();
        fields.push(f.fields.read(map, x).unwrap());
    }
    let both = f.fields.binary(BinaryOp::Add, fields[0], fields[1]).unwrap();
    result(&mut f, both);
    check(f.clone());
    // What the caches hold does not go past them.
    let program = Program { name: String::new(), functions: vec![f] };
    for (thresholds, past_caches) in [(Thresholds::least(), true), (Thresholds::measured(), false)] {
        let module =
            lower(&program, "main", &Target { thresholds, has_non_temporal_stores: true, ..Target::wide() })
                .unwrap();
        assert_eq!(module.text.contains("nontemporal"), past_caches);
    }
}

/// Rows that are so long that they are read in several places at once, and what is left of them.
#[test]
fn rows_in_parts() {
    let eager = Target { thresholds: Thresholds::least(), ..Target::wide() };
    for (dtype, length) in
        [(DType::F32, 4096), (DType::F32, 5003), (DType::F64, 2600), (DType::I32, 4500), (DType::BF16, 9000)]
    {
        let (mut f, p) = function(&[(dtype, &[3, length])]);
        for op in [AccOp::Add, AccOp::Max, AccOp::Min] {
            let joined = row(&mut f, op, p[0]);
            result(&mut f, joined);
        }
        check_on(f, 1e-4, None, &[eager, Target::host()]);
    }
}

/// Rows that meet in one place of a cache are stored tile by tile as well.
#[test]
fn rows_that_meet() {
    let eager = Target { thresholds: Thresholds::least(), ..Target::wide() };
    for (rows, columns, tiles) in [(128, 40, true), (256, 70, true), (128, 203, true), (112, 40, false)] {
        let (mut f, p) = function(&[(DType::F32, &[rows, columns])]);
        let map = IndexMap::projection(&space(&[columns, rows]), &[1, 0]);
        let turned = f.fields.read(map, p[0]).unwrap();
        result(&mut f, turned);
        let program = Program { name: String::new(), functions: vec![f.clone()] };
        let text = lower(&program, "main", &eager).unwrap().text;
        assert_eq!(text.contains("x f32 {alignment = 64 : i64}"), tiles, "{text}");
        check_on(f, 0.0, None, &[eager]);
    }
}

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

pub fn matmul(m: u64, k: u64, n: u64, dtype: DType) -> Function {
    let (mut f, p) = function(&[(dtype, &[m, k]), (dtype, &[k, n])]);
    let all = space(&[m, n, k]);
    let a = f.fields.read(IndexMap::projection(&all, &[0, 2]), p[0]).unwrap();
    let b = f.fields.read(IndexMap::projection(&all, &[2, 1]), p[1]).unwrap();
    let product = f.fields.binary(BinaryOp::Mul, a, b).unwrap();
    let c = f.fields.acc(AccOp::Add, IndexMap::projection(&all, &[0, 1]), product).unwrap();
    result(&mut f, c);
    f
}

#[test]
fn naive_products() {
    for dtype in [DType::F32, DType::F64, DType::I32, DType::U8, DType::I64, DType::BF16, DType::C64] {
        check(matmul(5, 7, 3, dtype));
        check(matmul(4, 16, 33, dtype));
    }
    check(matmul(3, 0, 2, DType::F32));
    check(matmul(0, 2, 2, DType::F32));
}

#[test]
fn reductions_of_every_operator() {
    for dtype in DType::ALL {
        let (mut f, p) = function(&[(dtype, &[6, 70, 3])]);
        for &op in AccOp::ALL {
            if op == AccOp::Set || !op.is_defined(dtype) || (dtype.is_complex() && op != AccOp::Add) {
                continue;
            }
            for axes in [&[0, 1][..], &[2, 1], &[]] {
                let map = IndexMap::projection(&space(&[6, 70, 3]), axes);
                let acc = f.fields.acc(op, map, p[0]).unwrap();
                result(&mut f, acc);
            }
        }
        check_with(f, 1e-4, None);
    }
}

#[test]
fn guards_windows_and_fills() {
    let (mut f, p) = function(&[(DType::F32, &[9, 21])]);
    // Padding on all sides.
    let domain = [12, 25];
    let components = vec![Affine::strided(2, 0, 1, -1), Affine::strided(2, 1, 1, -2)];
    let fill = Fill(Scalar::from_f64(DType::F32, 3.5).bits());
    let pad = IndexMap::partial(space(&domain), space(&[9, 21]), components, vec![], fill).unwrap();
    let padded = f.fields.read(pad, p[0]).unwrap();
    result(&mut f, padded);
    // A strided window with padding: max pooling.
    let window = space(&[5, 11, 3, 3]);
    let at = |o: usize, w: usize| {
        let mut a = Affine::strided(4, o, 2, -1);
        a.coeffs[w] = 1;
        a
    };
    let lowest = Fill(AccOp::Max.neutral(DType::F32).bits());
    let read =
        IndexMap::partial(window.clone(), space(&[9, 21]), vec![at(0, 2), at(1, 3)], vec![], lowest).unwrap();
    let terms = f.fields.read(read, p[0]).unwrap();
    let pooled = f.fields.acc(AccOp::Max, IndexMap::projection(&window, &[0, 1]), terms).unwrap();
    result(&mut f, pooled);
    // Reversal, diagonal, column broadcast, index.
    let reversed = f.fields.read(IndexMap::reverse(&space(&[9, 21]), &[0, 1]).unwrap(), p[0]).unwrap();
    result(&mut f, reversed);
    let diagonal = total(&[9], &[9, 21], vec![Affine::axis(1, 0), Affine::strided(1, 0, 2, 1)]);
    let diagonal = f.fields.read(diagonal, p[0]).unwrap();
    result(&mut f, diagonal);
    let index = f.fields.index(&space(&[9, 21]), 1, DType::F32).unwrap();
    let sum = f.fields.binary(BinaryOp::Add, index, reversed).unwrap();
    result(&mut f, sum);
    let transposed = f.fields.read(IndexMap::projection(&space(&[21, 9]), &[1, 0]), p[0]).unwrap();
    result(&mut f, transposed);
    check(f);
}

#[test]
fn pushes() {
    let (mut f, p) = function(&[(DType::F32, &[6, 5]), (DType::I32, &[6, 5])]);
    for x in p {
        let domain = [6, 5];
        // Interior padding, overlapping windows, a merge of axes, an embedding of a diagonal.
        let dilate = total(&domain, &[16, 5], vec![Affine::strided(2, 0, 3, 0), Affine::axis(2, 1)]);
        let mut sum = Affine::strided(2, 0, 1, 0);
        sum.coeffs[1] = 1;
        let overlap = total(&domain, &[10], vec![sum.clone()]);
        sum.coeffs[0] = 2;
        let strided = total(&domain, &[15], vec![sum.clone()]);
        sum.coeffs[0] = 5;
        let merge = total(&domain, &[30], vec![sum]);
        let embed =
            total(&domain, &[6, 6, 5], vec![Affine::axis(2, 0), Affine::axis(2, 0), Affine::axis(2, 1)]);
        for map in [dilate, overlap, strided, merge.clone(), embed] {
            let acc = f.fields.acc(AccOp::Add, map, x).unwrap();
            result(&mut f, acc);
            let double = f.fields.binary(BinaryOp::Add, acc, acc).unwrap();
            result(&mut f, double);
        }
        let set = f.fields.acc(AccOp::Set, merge, x).unwrap();
        result(&mut f, set);
        // A reshape into another shape: a merge that is read with other digits.
        let mut split = Affine::strided(2, 0, 10, 0);
        split.coeffs[1] = 1;
        let split = f.fields.read(total(&[3, 10], &[30], vec![split]), set).unwrap();
        result(&mut f, split);
    }
    check(f);
}

#[test]
fn column_statistics_are_stored_first() {
    // Batch normalisation over rows.
    let (mut f, p) = function(&[(DType::F32, &[50, 40])]);
    let columns = IndexMap::projection(&space(&[50, 40]), &[1]);
    let sum = f.fields.acc(AccOp::Add, columns.clone(), p[0]).unwrap();
    let sum = f.fields.read(columns, sum).unwrap();
    let y = f.fields.binary(BinaryOp::Sub, p[0], sum).unwrap();
    result(&mut f, y);
    check(f);
}

#[test]
fn nothing_at_all() {
    let (mut f, p) = function(&[(DType::F32, &[0, 4]), (DType::F32, &[]), (DType::F32, &[3])]);
    result(&mut f, p[0]);
    let sum = f.fields.acc(AccOp::Add, IndexMap::projection(&space(&[0, 4]), &[1]), p[0]).unwrap();
    result(&mut f, sum);
    let twice = f.fields.binary(BinaryOp::Add, p[1], p[1]).unwrap();
    result(&mut f, twice);
    let (a, b) = (f.params[2], f.params[2]);
    f.body.results.extend([a, b]);
    check(f);
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

/// Windows that are inside but at the edges of one axis, of several, and along the lanes; some run backwards.
#[test]
fn windows_inside_and_at_the_edges() {
    for (stride, size, pad, back) in [(2, 3, 1, false), (1, 3, 1, true), (1, 2, 1, false), (3, 5, 2, true)] {
        let shape = [2u64, 23, 21, 61];
        let out: Vec<u64> =
            shape[1..].iter().map(|n| (n + 2 * pad as u64 - size) / stride as u64 + 1).collect();
        for lanes in [false, true] {
            let last = if lanes { out[2] } else { shape[3] };
            let mut window = vec![shape[0], out[0], out[1], last, size, size];
            let over = if lanes { [2, 3] } else { [1, 2] };
            if lanes {
                window[1] = shape[1];
            }
            let window = space(&window);
            let mut components: Vec<Affine> = (0..4).map(|axis| Affine::axis(6, axis)).collect();
            for (k, &axis) in over.iter().enumerate() {
                let mut at = Affine::strided(6, axis, stride, -pad);
                at.coeffs[4 + k] = if back { -1 } else { 1 };
                at.offset += if back { size as i64 - 1 } else { 0 };
                components[axis] = at;
            }
            let (mut f, p) = function(&[(DType::F32, &shape)]);
            for op in [AccOp::Max, AccOp::Add] {
                let fill = Fill(op.neutral(DType::F32).bits());
                let read = IndexMap::partial(window.clone(), space(&shape), components.clone(), vec![], fill)
                    .unwrap();
                let terms = f.fields.read(read, p[0]).unwrap();
                let pooled = f.fields.acc(op, IndexMap::projection(&window, &[0, 1, 2, 3]), terms).unwrap();
                result(&mut f, pooled);
            }
            check(f);
        }
    }
}

#[test]
fn long_reductions() {
    for sizes in [[300, 1000], [2703, 61], [2000, 70], [3, 100_000], [499, 521], [4001, 67]] {
        let (mut f, p) = function(&[(DType::F32, &sizes)]);
        let all = space(&sizes);
        for axes in [&[][..], &[0], &[1]] {
            let map = IndexMap::projection(&all, axes);
            let sum = f.fields.acc(AccOp::Add, map.clone(), p[0]).unwrap();
            result(&mut f, sum);
            let max = f.fields.acc(AccOp::Max, map, p[0]).unwrap();
            let both = f.fields.binary(BinaryOp::Sub, sum, max).unwrap();
            let root = f.fields.unary(UnaryOp::Neg, both).unwrap();
            result(&mut f, root);
        }
        check_with(f, 1e-3, None);
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

/// Each row of a concatenation comes from one operand; columns are cut as well.
#[test]
fn rows_of_a_concatenation() {
    for (a, b, n) in [(5, 7, 33), (1, 12, 64), (40, 3, 17), (64, 64, 70)] {
        let all = a + b + 4;
        let text = format!(
            "func main(x: f32[{a},{n}], y: f32[{b},{n}]) -> (z) {{
  z : f32[{all},{n}] =: over i<{all}, j<{n}: (x[i,j] where 0 <= i < {a} else -0.0f32) + (y[i - {a},-j + {n} - 1] where 0 <= i - {a} < {b} else -0.0f32) + (x[0,j - 3] where 0 <= i - {a} - {b} < 4 and 0 <= j - 3 < {n} else -0.0f32)
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        check(program.functions[0].clone());
    }
}

/// Long columns of less than two blocks of rows are read side by side, those of more block by block; nothing is joined to
/// a target row by row.
#[test]
fn columns_of_some_rows() {
    for (rows, joined) in [(9, false), (15, false), (16, true), (17, true), (31, true)] {
        for (dtype, op) in [("f32", "+"), ("i64", "max")] {
            let text = format!(
                "func main(x: {dtype}[{rows},9001]) -> (y) {{
  y : {dtype}[9001] =:{op} over i<{rows}, j<9001 at [j]: x[i,j]
}}
"
            );
            let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            check_with(program.functions[0].clone(), 1e-5, None);
            let plan = lower(&program, "main", &Target::wide()).unwrap().plan.to_string();
            let (one, whole) = (plan.matches("kernel_").count() == 1, format!("{op} [{rows}]"));
            assert!(one && plan.contains(&whole) != joined, "{plan}");
        }
    }
}

/// Rows that are put together of columns, of which each lies by itself, and one of several: rows are done in lanes.
#[test]
fn rows_of_columns() {
    for (columns, rows) in [(3, 300), (17, 257), (25, 256), (37, 270), (64, 259), (70, 256)] {
        let last = columns - 2;
        let column = |k: u64| format!("(x[{k},i] where 0 <= j - {k} < 1 else -0.0f32)");
        let parts: Vec<String> = (0..last).map(column).collect();
        let text = format!(
            "func main(x: f32[{columns},{rows}], y: f32[{rows},2]) -> (z) {{
  z : f32[{rows},{columns}] =: over i<{rows}, j<{columns}: {} + (y[i,j - {last}] where 0 <= j - {last} < 2 else -0.0f32)
}}
",
            parts.join(" + ")
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        check(program.functions[0].clone());
    }
}

/// Columns of several loops that each lie by themselves: rows are gone through for all of them while a cache holds them, and
/// otherwise in the order of the result.
#[test]
fn columns_of_several_loops() {
    for (rows, cache_bytes, plan) in
        [(300, 256 * 1024, "row [5 3 300/"), (300, 1024, "row [3 5 300/"), (307, 256 * 1024, "row [5 3 307/")]
    {
        let text = format!(
            "func main(x: f32[5,{rows},3,2]) -> (y) {{
  y : f32[3,5,2,{rows}] =: over i<3, j<5, k<2, l<{rows}: x[j,l,i,k]
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let target = Target { l2_share_bytes: cache_bytes, ..half_lines() };
        let plans = check_on(program.functions[0].clone(), 0.0, None, &[target]);
        assert!(plans[0].contains(plan), "{}", plans[0]);
    }
}

/// Terms that are summed and needed again, element by element; a product is summed by a fused multiply-add elsewhere.
#[test]
fn terms_that_are_kept() {
    for n in [3, 16, 67] {
        let text = format!(
            "func main(x: f32[5,{n}], w: f32[{n}]) -> (y) {{
  let t : f32[5,{n}] =: over i<5, j<{n}: tanh(x[i,j]) * w[j]
  let s : f32[5] =:+ over i<5, j<{n} at [i]: t[i,j]
  y : f32[5,{n}] =: over i<5, j<{n}: t[i,j] - s[i]
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        check(program.functions[0].clone());
    }
}

/// Terms that are kept aside, for the output has too few bits for them: of rows of every length, one after the other.
#[test]
fn terms_that_are_kept_aside() {
    for (n, half) in [(3, "bf16"), (40, "bf16"), (67, "f16"), (8192, "bf16"), (8193, "f16")] {
        let text = format!(
            "func main(x: {half}[5,{n}]) -> (y) {{
  let m : f32[5] =:max over i<5, j<{n} at [i]: f32(x[i,j])
  let t : f32[5,{n}] =: over i<5, j<{n}: exp(f32(x[i,j]) - m[i])
  let s : f32[5] =:+ over i<5, j<{n} at [i]: t[i,j]
  y : {half}[5,{n}] =: over i<5, j<{n}: {half}(t[i,j] / s[i])
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        check_with(program.functions[0].clone(), 2e-2, None);
    }
}

/// Sums, largest and smallest elements of short rows, and a softmax of them.
fn short_rows(rows: u64, length: u64, dtype: DType) -> Function {
    let mut f = softmax(&[rows, length], dtype);
    let x = f.tensor(f.params[0]);
    for op in [AccOp::Max, AccOp::Min, AccOp::Add] {
        let map = IndexMap::projection(&space(&[rows, length]), &[0]);
        let acc = f.fields.acc(op, map, x).unwrap();
        result(&mut f, acc);
    }
    f
}

#[test]
fn short_rows_in_lanes() {
    for length in [2, 3, 5, 8, 9, 13, 16, 17, 21, 24] {
        check_with(short_rows(300 + length, length, DType::F32), 1e-4, None);
    }
    for dtype in [DType::F64, DType::BF16, DType::F16] {
        check_with(short_rows(517, 11, dtype), 1e-4, None);
    }
    let program = Program { name: String::new(), functions: vec![short_rows(517, 11, DType::F32)] };
    let module = lower(&program, "main", &Target::wide()).unwrap();
    insta::assert_snapshot!(module.plan);
}

/// Rows of which a function is evaluated once are done in lanes where they are longer, too.
#[test]
fn short_rows_with_a_function() {
    let rows = |length: u64, dtype: &str| {
        let text = format!(
            "func main(x: {dtype}[300,{length}]) -> (y) {{
  let m : {dtype}[300] =:max over i<300, j<{length} at [i]: x[i,j]
  let s : {dtype}[300] =:+ over i<300, j<{length} at [i]: exp(x[i,j] - m[i])
  y : {dtype}[300,{length}] =: over i<300, j<{length}: tanh(x[i,j] - m[i] - log(s[i]))
}}
"
        );
        surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}")).functions[0].clone()
    };
    for length in [25, 33, 50, 64, 65] {
        check_with(rows(length, "f32"), 1e-4, None);
    }
    check_with(rows(37, "f64"), 1e-4, None);
    let program = Program { name: String::new(), functions: vec![rows(50, "f32")] };
    let module = lower(&program, "main", &Target::wide()).unwrap();
    insta::assert_snapshot!(module.plan);
}

/// Windows along short rows and sums that grow along them, of all lengths and from both sides: rows lie in lanes, whose
/// windows are written out, and what would be outside of a row is not read.
#[test]
fn windows_along_short_rows() {
    let text = |length: u64, (op, dtype): (&str, &str), (reach, first): (u64, i64)| {
        let back = -first;
        let fill = match (op, dtype) {
            ("max", "i8") => "-128i8".to_string(),
            ("max", _) => format!("-inf_{dtype}"),
            (_, "i8") => "0i8".to_string(),
            _ => format!("-0.0{dtype}"),
        };
        format!(
            "func main(x: {dtype}[301,{length}]) -> (y) {{
  y : {dtype}[301,{length}] =:{op} over i<301, j<{length}, k<{reach} at [i,j]: (x[i,j + k - {back}] where 0 <= j + k - {back} < {length} else {fill})
}}
"
        )
    };
    let parsed = |text: String| {
        surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}")).functions[0].clone()
    };
    for length in [2u64, 3, 5, 8, 13, 16, 24, 31, 36] {
        let n = length as i64;
        for window in [(3, -1), (length, 1 - n), (length, 0), (2, -1)] {
            check_with(parsed(text(length, ("+", "f32"), window)), 1e-5, None);
        }
        check_with(parsed(text(length, ("max", "f32"), (3, -1))), 0.0, None);
    }
    for dtype in ["f64", "bf16", "i8"] {
        check_with(parsed(text(7, ("max", dtype), (3, -2))), 0.0, None);
        check_with(parsed(text(7, ("+", dtype), (7, -6))), 1e-2, None);
    }
    let lanes = |length: u64| {
        let function = parsed(text(length, ("+", "f32"), (length, 1 - length as i64)));
        let program = Program { name: String::new(), functions: vec![function] };
        lower(&program, "main", &Target::wide()).unwrap().plan.to_string().contains("row [301/16]")
    };
    assert_eq!([2, 36, 37].map(lanes), [true, true, false]);
}

/// A roll along short rows: what is read one element before its row would be before the tensor in the first one.
#[test]
fn a_roll_along_short_rows_stays_inside() {
    let text = "func main(x: f32[2000,8]) -> (y) {
  y : f32[2000] =:+ over i<2000, j<8 at [i]: x[i,j] * (x[i,j - 1] where 0 <= j - 1 < 7 else 1.0f32)
}
";
    let program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}"));
    let module = lower(&program, "main", &Target::wide()).unwrap();
    assert!(module.plan.to_string().contains("row [2000/16]"), "{}", module.plan);
    check_with(program.functions[0].clone(), 1e-5, None);
}

/// A softmax of rows that fill a few vectors, and of those that fill them badly: a row is one lane.
#[test]
fn softmax_of_short_rows() {
    let lanes = |length: u64| {
        let program = Program { name: String::new(), functions: vec![softmax(&[300, length], DType::F32)] };
        lower(&program, "main", &Target::wide()).unwrap().plan.to_string().contains("row [300/16]")
    };
    assert_eq!([24, 32, 40, 48, 50, 64, 65].map(lanes), [true, true, true, false, true, false, false]);
    for length in [31, 40, 50] {
        check_with(softmax(&[37, length], DType::F32), 1e-5, None);
    }
}

/// A reshape of what is turned around: no loop of the result says by itself where its elements come from.
#[test]
fn digits_that_run_backwards() {
    for (x, read) in
        [("f32[2,7]", "x[i,j]"), ("f32[1,7]", "x[0,j] * 2.0f32"), ("f32[2,7]", "x[i,j] + x[-i + 1,j]")]
    {
        for at in ["-7*i - j + 13", "7*i - j + 6", "-7*i + j + 7", "2*j - i + 1"] {
            let text = format!(
                "func main(x: {x}) -> (y, z) {{
  y : f32[14] =:set over i<2, j<7 at [{at}]: {read}
  z : f32[14] =: over i<14: exp(y[i]) + y[-i + 13]
}}
"
            );
            let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            check(program.functions[0].clone());
            let alone = text.replace("(y, z)", "(z)").replace("  y :", "  let y :");
            let program = surject_ir::parse(&alone).unwrap_or_else(|e| panic!("{e}\n{alone}"));
            check(program.functions[0].clone());
        }
    }
}

/// Rows of a few elements that are put together of tensors, taken apart, and changed by a short one.
#[test]
fn short_rows_put_together_and_taken_apart() {
    for (n, dtype) in [(517u64, "f32"), (530, "i8"), (300, "f64"), (601, "bf16")] {
        let text = format!(
            "func main(x: {dtype}[3,{n}], w: {dtype}[3], z: {dtype}[{n},5]) -> (a, b, c) {{
  a : {dtype}[{n},3] =: over i<{n}, j<3: x[j,i]
  b : {dtype}[5,{n}] =: over j<5, i<{n}: z[i,j] + z[i,0]
  c : {dtype}[{n},3] =: over i<{n}, j<3: x[j,i] * w[j] + z[i,j + 1]
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        check(program.functions[0].clone());
    }
}

/// The largest and the smallest of each row, where there are numbers of every kind.
#[test]
fn extremes_of_special_values() {
    for dtype in [DType::BF16, DType::F16, DType::F32, DType::F64] {
        let list = special(dtype);
        // Each value last among others that are finite, in rows that are no multiple of a vector.
        let n = 70;
        let rows: Vec<Scalar> =
            (0..list.len() * n)
                .map(|i| {
                    if i % n == n - 1 {
                        list[i / n]
                    } else {
                        Scalar::from_f64(dtype, -0.5 * ((i % 3) as f64))
                    }
                })
                .collect();
        let shape = [list.len(), n];
        let args = Buffer::from_scalars(dtype, &shape, &rows).unwrap();
        let (mut f, p) = function(&[(dtype, &[list.len() as u64, n as u64])]);
        for op in [AccOp::Max, AccOp::Min] {
            let map = IndexMap::projection(&space(&[list.len() as u64, n as u64]), &[0]);
            let field = f.fields.acc(op, map, p[0]).unwrap();
            result(&mut f, field);
        }
        check_with(f, 0.0, Some(vec![args]));
    }
}

/// Sums of halves, whose elements may be read in any order, and with them what is the same along the row.
#[test]
fn sums_of_pairs() {
    for sizes in [[3u64, 1000], [5, 67], [1, 4096]] {
        for wide in [DType::BF16, DType::F32] {
            let (mut f, p) =
                function(&[(DType::BF16, &sizes), (DType::BF16, &sizes), (DType::F32, &sizes[..1])]);
            let [x, y] = [p[0], p[1]].map(|x| f.fields.convert(wide, x));
            let rows = IndexMap::projection(&space(&sizes), &[0]);
            let scale = f.fields.read(rows.clone(), p[2]).unwrap();
            let scale = f.fields.convert(wide, scale);
            let less = f.fields.binary(BinaryOp::Lt, x, scale).unwrap();
            let product = f.fields.binary(BinaryOp::Mul, x, y).unwrap();
            let chosen = f.fields.select(less, product, scale).unwrap();
            let size = f.fields.unary(UnaryOp::Abs, y).unwrap();
            for (op, term) in
                [(AccOp::Add, x), (AccOp::Add, product), (AccOp::Add, chosen), (AccOp::Max, size)]
            {
                let sum = f.fields.acc(op, rows.clone(), term).unwrap();
                result(&mut f, sum);
            }
            check(f);
        }
    }
}

/// What does not depend on the position chooses once, whatever it chooses.
#[test]
fn a_choice_for_all_points() {
    for (value, count) in [
        ("select(c[], tanh(x[i,j]), y[i,-j + 99] * 2.0f32)", 1),
        (
            "select(s[] < 0.5f32, x[i,j], select(c[], y[i,j], 1.0f32)) + select(s[] < 0.5f32, y[i,j], x[i,j])",
            1,
        ),
        ("x[i,j] - (+ over i<200, j<100, k<100 at [i,j]: select(c[], x[i,k], exp(y[i,k] * 0.1f32)))", 1),
        ("select(c[], 1.0f32, 2.0f32) * x[i,j]", 0),
    ] {
        let text = format!(
            "func main(x: f32[200,100], y: f32[200,100], c: i1[], s: f32[]) -> (z) {{\n  \
             z : f32[200,100] =: over i<200, j<100: {value}\n}}\n"
        );
        let text = text.replace("c[]", "b[i,j]").replace("s[]", "t[i,j]").replace(
            ") -> (z) {\n",
            ") -> (z) {\n  let b : i1[200,100] =: over i<200, j<100: c[]\n  let t : f32[200,100] =: over i<200, j<100: s[]\n",
        );
        let text = text.replace(
            "over i<200, j<100, k<100 at [i,j]: select(b[i,j]",
            "over i<200, j<100, k<100 at [i,j]: select(b[i,k]",
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let module = lower(&program, "main", &Target::wide()).unwrap();
        let written: String = module.parts.iter().map(|p| p.text.as_str()).collect();
        assert_eq!(written.matches("} else {").count().min(1), count, "{text}\n{written}");
        for function in program.functions {
            check_with(function, 1e-4, None);
        }
    }
}

/// Rows of a few channels beside values of the channels run through memory as one loop.
#[test]
fn short_rows_with_values_that_repeat() {
    for (rows, length, blocks) in
        [(6400, 3, true), (1280, 10, true), (2003, 7, false), (6400, 16, false), (200, 3, false)]
    {
        let text = format!(
            "func main(x: u8[5,{rows},{length}], m: f32[{length}], s: f32[{length}]) -> (z) {{\n  \
             let t : f32[5,{rows},{length}] =: over i<5, j<{rows}, k<{length}: f32(x[i,j,k]) - m[k]\n  \
             z : f32[5,{rows},{length}] =: over i<5, j<{rows}, k<{length}: \
             select(index(k)i32 == 1i32, t[i,j,k] / (s[-k + {}] + 9.0f32), tanh(t[i,j,k]))\n}}\n",
            length - 1
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let plan = lower(&program, "main", &Target::wide()).unwrap().plan.to_string();
        assert_eq!(plan.contains("temporary"), blocks, "{plan}");
        for function in program.functions {
            check_with(function, 1e-4, None);
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

/// A tensor with other axes is no other tensor, however often it is read.
#[test]
fn tensors_with_other_axes() {
    let text = "func main(x: f32[50,16,6], on: i1[]) -> (y, z) {
  let t : f32[4800] =:set over i<50, j<16, k<6 at [96*i + 6*j + k]: x[i,j,k]
  y : f32[30,160] =: over i<30, j<160: select(on[], t[160*i + j], t[160*i - j + 159])
  z : f32[160] =:+ over j<160, i<30 at [j]: t[160*i + j]
}
";
    let program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    check(program.functions[0].clone());
    let module = lower(&program, "main", &Target::wide()).unwrap();
    insta::assert_snapshot!(module.plan);
}

/// What is one value for all tasks is not computed by each of them.
#[test]
fn tasks_share_what_is_summed_over_everything() {
    let text = "func main(x: f32[1000,300]) -> (y, z) {
  let a : f32[1] =:max over i<1000, j<300 at [0]: x[i,j]
  let b : f32[1] =:min over i<1000, j<300 at [0]: x[i,j]
  y : f32[1000,300] =: over i<1000, j<300: (x[i,j] - b[0]) / (a[0] - b[0])
  let m : f32[1] =: over o<1: (+ over i<1000, j<300 at [0]: x[i,j]) / 300000.0f32
  let d : f32[1000,300] =: over i<1000, j<300: x[i,j] - m[0]
  let v : f32[1] =: over o<1: sqrt((+ over i<1000, j<300 at [0]: d[i,j] * d[i,j]) / 300000.0f32)
  z : f32[1000,300] =: over i<1000, j<300: d[i,j] / v[0]
}
";
    let program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}"));
    check_with(program.functions[0].clone(), 1e-4, None);
    let plan = lower(&program, "main", &Target::wide()).unwrap().plan.to_string();
    let last = plan.lines().find(|l| l.contains("y@result0, z@result1")).unwrap_or_else(|| panic!("{plan}"));
    assert!(
        last.contains("tasks 8") && [", min", ", max", ", +"].iter().all(|r| !last.contains(r)),
        "{plan}"
    );
}

/// An element that is made of several long sums: tasks share each of them.
#[test]
fn tasks_share_several_sums() {
    let text = "func main(x: f32[1000,300]) -> (v, w) {
  let m : f32[1] =: over o<1: (+ over i<1000, j<300 at [0]: x[i,j]) / 300000.0f32
  let d : f32[1000,300] =: over i<1000, j<300: x[i,j] - m[0]
  v : f32[] =: sqrt((+ over i<1000, j<300 at []: d[i,j] * d[i,j]) / 300000.0f32)
  w : f32[] =: (max over i<1000, j<300 at []: x[i,j]) - (min over i<1000, j<300 at []: x[i,j])
}
";
    let program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}"));
    check_with(program.functions[0].clone(), 1e-4, None);
    let plan = lower(&program, "main", &Target::wide()).unwrap().plan.to_string();
    let long: Vec<&str> = plan.lines().filter(|l| l.contains("[37500/")).collect();
    assert!(long.len() == 2 && long.iter().all(|l| !l.contains("tasks 1,")), "{plan}");
}

/// Many columns, each from somewhere else: where each is written out, one of the conditions holds.
#[test]
fn columns_side_by_side() {
    for (rows, count) in [(600, 9), (521, 13), (515, 16), (530, 20)] {
        let column = |k: usize| format!("(x[i + {k}] where 0 <= k - {k} < 1 else -0.0f32)");
        let sum = (0..count).map(column).collect::<Vec<_>>().join(" + ");
        let text = format!(
            "func main(x: f32[{}]) -> (y) {{\n  y : f32[{rows},{count}] =: over i<{rows}, k<{count}: {sum}\n}}\n",
            rows + count
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        check_with(program.functions[0].clone(), 0.0, None);
        let plan = lower(&program, "main", &Target::wide()).unwrap().plan.to_string();
        assert!(plan.contains(&format!("row [{rows}/16]")), "{plan}");
    }
}

/// A reduction inside another may run through a loop whose lanes are a vector further out.
#[test]
fn reductions_share_loops() {
    let text = "func main(x: u8[6,3,3]) -> (v, w) {
  let t : u8[3] =:* over i<6, j<3, k<3 at [k]: x[i,j,k]
  let u : u8[6,3] =:min over i<3, j<6, k<3 at [j,k]: t[i] * x[j,i,k]
  v : u8[3] =:max over i<6, j<3, k<3 at [k]: u[i,j] + x[i,j,k]
  w : u8[6,3] =: over i<6, j<3: u[i,j]
}
";
    let program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    check(program.functions[0].clone());
}

/// The last row of a block is one lane of numbers that are cut short: what lies behind it stays.
#[test]
fn one_lane_at_the_end_of_a_block() {
    for (from, to) in [("u64", "u8"), ("i32", "i8"), ("i64", "i16"), ("u32", "u16")] {
        let text = format!(
            "func main(x: {from}[3,2,5]) -> (y) {{
  y : {to}[2,5,3] =:set over i<3, j<2, k<5 at [j,k,-i + 2]: {to}(x[i,j,k])
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}"));
        check(program.functions[0].clone());
    }
}

/// Long columns as if no cache held them: rows far apart, parts of their own for each thread with rows left over, a
/// reduction inside another one, and a vector times a matrix. Where rows are short, those with a value beside them lie in
/// half as many places.
#[test]
fn columns_of_what_is_far_away() {
    const INNER: &str = "let t : f32[COLUMNS] =:+ over i<ROWS, j<COLUMNS at [j]: x[i,j]";
    let bodies = [
        ("+", "", "x[i,j]", "", 1),
        ("max", "", "x[i,j] * x[i,j]", "", 1),
        ("+", INNER, "(x[i,j] - t[j] * 0.001f32) * (x[i,j] - t[j] * 0.001f32)", "", 2),
        ("+", "", "a[i] * x[i,j]", "", 1),
        ("+", "", "a[i] * x[i,j]", " + 1.0f32", 1),
    ];
    for (rows, columns) in [(1024, 256), (1037, 260), (520, 300), (1301, 104), (2600, 56), (2103, 33)] {
        for (op, inner, body, after, cut) in bodies {
            let text = format!(
                "func main(x: f32[ROWS,COLUMNS], a: f32[ROWS]) -> (y) {{
  {inner}
  let s : f32[COLUMNS] =:{op} over i<ROWS, j<COLUMNS at [j]: {body}
  y : f32[COLUMNS] =: over j<COLUMNS: s[j]{after}
}}
"
            );
            let text = text.replace("ROWS", &rows.to_string()).replace("COLUMNS", &columns.to_string());
            let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let far = |target: Target| Target {
                l2_share_bytes: 8192,
                llc_share_bytes: 32_768,
                llc_bytes: 65_536,
                ..target
            };
            let host = far(Target { threads: 2, ..Target::host() });
            let targets = [host, far(Target::generic()), far(Target { threads: 1, ..Target::wide() })];
            // What sums lose by rounding grows with their length, and these nearly cancel.
            let tolerance = if rows > 1200 { 1e-4 } else { 1e-5 };
            let plans = check_on(program.functions[0].clone(), tolerance, None, &targets);
            let parts = plans[0].matches(&format!("row [4 {} ", rows / 4 / 8)).count();
            assert!(rows < 1024 || parts == cut, "{}", plans[0]);
            let halved = plans[0].contains("+ [4 2]");
            assert_eq!(halved, columns <= 64 && body.starts_with('a'), "{}", plans[0]);
        }
    }
}

/// Columns that stay near, as those of each row of a batch, are walked down by the task that goes on with what it read, and
/// rows that one vector holds are read in order; longer columns are joined block by block.
#[test]
fn columns_that_stay_near() {
    for (batch, rows, columns, joined) in
        [(40, 30, 90, false), (2, 700, 104, true), (1, 1500, 104, true), (1, 9000, 24, false)]
    {
        let text = format!(
            "func main(x: f32[{batch},{rows},{columns}]) -> (y) {{
  y : f32[{batch},{columns}] =:max over b<{batch}, i<{rows}, j<{columns} at [b, j]: x[b,i,j]
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        check_with(program.functions[0].clone(), 1e-5, None);
        let plan = lower(&program, "main", &Target::generic()).unwrap().plan.to_string();
        assert_eq!(plan.contains("max [8]"), joined, "{plan}");
    }
}

/// What the sums of rows go through is done in lanes: they are stored first. Of one sum, a product with a vector, of
/// several, and of one that needs another.
#[test]
fn what_comes_of_sums_is_done_in_lanes() {
    for (rows, columns, dtype) in
        [(200, 50, "f32"), (64, 60, "f32"), (133, 40, "f32"), (130, 70, "bf16"), (40, 90, "f64")]
    {
        for rest in [
            "exp(s[i]) / (1.0T + exp(s[i]))",
            "y[i] * tanh(s[i]) + 0.5T",
            "log(1.0T + exp(neg(abs(m[i])))) * sqrt(abs(q[i]))",
            "m[i] + log(e[i])",
        ] {
            let text = format!(
                "func main(x: T[{rows},{columns}], w: T[{columns}], y: T[{rows}]) -> (z) {{
  let s : T[{rows}] =:+ over i<{rows}, j<{columns} at [i]: x[i,j] * w[j] * 0.01T
  let m : T[{rows}] =:max over i<{rows}, j<{columns} at [i]: x[i,j]
  let q : T[{rows}] =:+ over i<{rows}, j<{columns} at [i]: x[i,j] * 0.125T
  let e : T[{rows}] =:+ over i<{rows}, j<{columns} at [i]: exp(x[i,j] - m[i])
  z : T[{rows}] =: over i<{rows}: {rest}
}}
"
            )
            .replace('T', dtype);
            let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let target = Target { threads: 1, ..Target::wide() };
            let plan = lower(&program, "main", &target).unwrap().plan.to_string();
            let last = plan.lines().find(|l| l.contains("z@result0")).unwrap_or_else(|| panic!("{plan}"));
            assert!(last.contains(&format!("row [{rows}/")) && !last.contains("], "), "{plan}");
            check_with(program.functions[0].clone(), 1e-3, None);
        }
    }
}
