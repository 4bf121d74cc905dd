//! Products.

use crate::harness::*;
use crate::narrow_products::{halves, narrow};
use crate::rows::matmul;
use surject_codegen::{Target, Thresholds};
use surject_index::{Affine, IndexMap};
use surject_ir::{AccOp, BinaryOp, DType, FieldId, Function, Scalar, UnaryOp};

/// `acc + at output axes (x * y)` over a space, with the factors read along these axes.
pub fn contract(
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

/// For a machine with vectors of 16 lanes.
pub fn lowered(function: Function) -> surject_codegen::LoweredModule {
    let program = surject_ir::Program { name: String::new(), functions: vec![function] };
    crate::harness::lowered(&program, "main", &surject_codegen::Target::wide())
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
        check_on(product(sizes, dtype), 1e-4, None, &eager());
    }
}

/// Targets that pack panels side by side wherever that is possible: one without registers for tiles, and this machine.
pub fn eager() -> [Target; 2] {
    [Target::wide(), Target::host()].map(|target| Target { thresholds: Thresholds::least(), ..target })
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

/// Few columns, many rows, or the other way around.
#[test]
fn products_with_very_few_columns() {
    let check = |f: Function| check_on(f, 1e-4, None, &[Target::host(), Target::wide(), Target::generic()]);
    for (n, dtype) in [(2, DType::F32), (3, DType::F32), (3, DType::F64)] {
        check(matmul(300, 131, n, dtype));
        check(by_transposed([1, 300, n, 131], dtype));
    }
    // Rows that are left behind whole blocks, a last vector that is not full, and few rows.
    for (m, k, n, dtype) in [(301, 513, 5, DType::F32), (37, 700, 3, DType::F32), (102, 300, 3, DType::F64)] {
        check(matmul(m, k, n, dtype));
        check(by_transposed([1, m, n, k], dtype));
        check(by_transposed([1, n, m, k], dtype));
    }
    // Rows of a page each.
    check(by_transposed([1, 6, 60, 1024], DType::F32));
    for (m, k, n) in [(300, 60, 5), (15, 131, 3), (1000, 60, 3), (3, 70, 300), (300, 131, 40)] {
        check(matmul(m, k, n, DType::F32));
    }
}

/// Rows that share what they are multiplied with.
#[test]
fn rows_of_a_vector() {
    for (m, k) in [(64, 200), (33, 70), (34, 70), (67, 300)] {
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
        check_on(program.functions[0].clone(), 1e-4, None, &targets);
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
    check_on(program.functions[0].clone(), 1e-4, None, &targets);
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
    check_on(program.functions[0].clone(), 1e-4, None, &targets);
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
    let plan = crate::harness::lowered(&program, "main", &Target::wide()).plan.to_string();
    let kernels: Vec<&str> = plan.lines().filter(|line| line.starts_with("kernel")).collect();
    let sums = kernels.iter().position(|k| k.contains("+ [128"));
    let tiles = kernels.iter().position(|k| k.contains("kernel `product`"));
    assert!(sums.is_some() && sums < tiles, "{plan}");
}
