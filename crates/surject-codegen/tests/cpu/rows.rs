//! Kernels of rows.

use crate::assignments::check_text;
use crate::harness::*;
use crate::pointwise::special;
use surject_codegen::{Target, Thresholds};
use surject_index::{Affine, Fill, IndexMap};
use surject_ir::{AccOp, BinaryOp, Buffer, DType, FieldId, Function, Scalar, UnaryOp};

pub fn total(domain: &[u64], codomain: &[u64], components: Vec<Affine>) -> IndexMap {
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

/// Rows that are read from their ends.
#[test]
fn turned_rows() {
    for (rows, length, at) in [
        (40, 300, "[i, 299 - j]"),
        (40, 300, "[39 - i, 299 - j]"),
        (40, 300, "[39 - i, j]"),
        (300, 40, "[i, 39 - j]"),
        (4, 5000, "[i, 4999 - j]"),
    ] {
        let text = format!(
            "func main(x: f32[{rows},{length}], y: f32[{rows},{length}]) -> (z) {{
  z : f32[{rows},{length}] =: over i<{rows}, j<{length}: x{at} * y[i, j]
}}
"
        );
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
    check(f);
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

/// What does not depend on the position chooses, whatever it chooses.
#[test]
fn a_choice_for_all_points() {
    for value in [
        "select(c[], tanh(x[i,j]), y[i,-j + 99] * 2.0f32)",
        "select(s[] < 0.5f32, x[i,j], select(c[], y[i,j], 1.0f32)) + select(s[] < 0.5f32, y[i,j], x[i,j])",
        "x[i,j] - (+ over i<200, j<100, k<100 at [i,j]: select(c[], x[i,k], exp(y[i,k] * 0.1f32)))",
        "select(c[], 1.0f32, 2.0f32) * x[i,j]",
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
        for function in program.functions {
            check_with(function, 1e-4, None);
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
            assert!(last.contains(&format!("row [{rows}/")), "{plan}");
            check_with(program.functions[0].clone(), 1e-3, None);
        }
    }
}
