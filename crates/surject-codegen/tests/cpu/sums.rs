//! How far long sums are from those in twice as many bits.

use crate::harness::*;
use surject_codegen::{Target, Thresholds};
use surject_ir::{Buffer, DType, Program, Scalar};

/// Numbers between 1 and 2: their sums grow, and so does what each addition is rounded by.
fn positive(dtype: DType, shape: &[usize], seed: u64) -> Buffer {
    let (mut buffer, mut next) = (Buffer::zeros(dtype, shape), states(seed));
    for i in 0..buffer.len() {
        let value = 1.0 + (next() >> 41) as f64 / f64::from(1 << 23);
        buffer.set(i, Scalar::from_f64(dtype, value));
    }
    buffer
}

/// What a program gives in `f64`.
type Exact<'a> = &'a dyn Fn(&[Buffer]) -> Vec<Vec<f64>>;

fn all(buffer: &Buffer) -> Vec<f64> {
    (0..buffer.len()).map(|i| buffer.get(i).as_f64()).collect()
}

fn parsed(text: &str) -> Program {
    surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Checks that no result of a program in `f32` is further off than so many units in the last place of its largest value,
/// and that one of its plans has a word.
fn check_error(text: &str, most: f64, word: &str) {
    let wide = parsed(&text.replace("f32", "f64"));
    let exact = |args: &[Buffer]| {
        let results = surject_ir::interp::run(&wide, "main", args).unwrap();
        results.iter().map(all).collect()
    };
    check_error_to(text, most, word, &exact);
}

fn check_error_to(text: &str, most: f64, word: &str, exact: Exact<'_>) {
    let program = parsed(text);
    let function = &program.functions[0];
    let args = |dtype| -> Vec<Buffer> {
        let shape = |p| function.ty(p).space.sizes().unwrap().iter().map(|&n| n as usize).collect::<Vec<_>>();
        let params = function.params.iter().enumerate();
        params.map(|(i, &p)| positive(dtype, &shape(p), i as u64 + 3)).collect()
    };
    let (exact, args) = (exact(&args(DType::F64)), args(DType::F32));
    let small = |target: Target| Target {
        l2_share_bytes: 8192,
        llc_share_bytes: 32_768,
        llc_bytes: 65_536,
        threads: 2,
        ..target
    };
    let eager = Target { thresholds: Thresholds::least(), ..Target::wide() };
    let mut plans = String::new();
    for target in [Target::host(), small(Target::host()), small(half_lines()), eager] {
        let module = lowered(&program, "main", &target);
        for (found, exact) in execute(&module, &args).iter().map(all).zip(&exact) {
            let largest = exact.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
            let unit = f64::from(f32::EPSILON) * largest.log2().floor().exp2();
            let error = found.iter().zip(exact).map(|(a, b)| (a - b).abs() / unit).fold(0.0, f64::max);
            assert!(error <= most, "{error}\n{}", module.plan);
        }
        plans.push_str(&module.plan.to_string());
    }
    assert!(plans.contains(word), "no `{word}` in\n{plans}");
}

#[test]
fn along_rows() {
    let text = "func main(x: f32[1048576], y: f32[40,20000]) -> (a, b) {
  a : f32[] =:+ over i<1048576 at []: x[i]
  b : f32[40] =:+ over i<40, j<20000 at [i]: x[j] * y[i,j]
}
";
    check_error(text, 3.0, "+ [");
}

#[test]
fn down_columns() {
    for columns in [8, 64] {
        let text = "func main(x: f32[12000,COLUMNS], a: f32[12000]) -> (s, t) {
  s : f32[COLUMNS] =:+ over i<12000, j<COLUMNS at [j]: x[i,j] * x[i,j]
  t : f32[COLUMNS] =: over j<COLUMNS: 1.0f32 + (+ over i<12000, j<COLUMNS at [j]: a[i] * x[i,j])
}
";
        check_error(&text.replace("COLUMNS", &columns.to_string()), 6.0, "row [");
    }
}

#[test]
fn down_columns_of_what_is_computed_row_by_row() {
    let text = "func main(x: f32[9000,48], m: f32[48]) -> (y, s, t) {
  y : f32[9000,48] =: over i<9000, j<48: x[i,j] * m[j] + 1.0f32
  s : f32[48] =:+ over i<9000, j<48 at [j]: y[i,j]
  t : f32[48] =:+ over i<9000, j<48 at [j]: y[i,j] * x[i,j]
}
";
    // How many rows are summed before the sums of others join them depends on the caches of the machine.
    check_error(text, 8.0, "fused");
}

#[test]
fn of_products() {
    let text = "func main(a: f32[ROWS,9000], b: f32[9000,COLUMNS]) -> (c) {
  c : f32[ROWS,COLUMNS] =:+ over i<ROWS, j<COLUMNS, k<9000 at [i,j]: a[i,k] * b[k,j]
}
";
    for (rows, columns) in [(9, 24), (1, 90), (3, 50), (40, 2)] {
        let text = text.replace("ROWS", &rows.to_string()).replace("COLUMNS", &columns.to_string());
        check_error(&text, 10.0, "");
    }
}

/// The gradients of the weights of convolutions: with all features, in groups, and with one of each.
#[test]
fn of_windows() {
    let all = "func main(x: f32[1,130,130,2], d: f32[1,128,128,4]) -> (w) {
  w : f32[3,3,2,4] =:+ over m<3, n<3, l<2, o<4, i<128, j<128 at [m,n,l,o]: x[0,i + m,j + n,l] * d[0,i,j,o]
}
";
    let groups = "func main(x: f32[2,66,66,2,2], d: f32[2,64,64,2,4]) -> (w) {
  w : f32[3,3,2,2,4] =:+ over m<3, n<3, g<2, l<2, o<4, b<2, i<64, j<64 at [m,n,g,l,o]: x[b,i + m,j + n,g,l] * d[b,i,j,g,o]
}
";
    let depthwise = "func main(x: f32[2,64,64,16], d: f32[2,64,64,16]) -> (w) {
  w : f32[3,3,16] =:+ over m<3, n<3, l<16, b<2, i<64, j<64 at [m,n,l]: \
  (x[b,i + m - 1,j + n - 1,l] where 0 <= i + m - 1 < 64 and 0 <= j + n - 1 < 64 else 0.0f32) * d[b,i,j,l]
}
";
    for text in [all, groups, depthwise] {
        check_error(&text.replace("\\\n", ""), 6.0, "");
    }
}

#[test]
fn of_growing_windows() {
    for (columns, backwards) in [(1, false), (1, true), (3, false), (40, false), (40, true)] {
        check_growing((6000, columns), backwards, "scan");
    }
}

/// One long line is cut into blocks for threads, the last of which is not whole.
#[test]
fn of_one_growing_line() {
    for backwards in [false, true] {
        check_growing((300_001, 1), backwards, "kernel `scan_before`");
    }
}

/// Sums that grow along columns.
fn check_growing((length, columns): (usize, usize), backwards: bool, word: &str) {
    let step = if backwards { "i + k".to_string() } else { format!("i + k - {}", length - 1) };
    let text = format!(
        "func main(x: f32[{length},{columns}]) -> (y) {{
  y : f32[{length},{columns}] =:+ over i<{length}, j<{columns}, k<{length} at [i,j]: \
         (x[{step},j] where 0 <= {step} < {length} else -0.0f32)
}}
"
    );
    let exact = |args: &[Buffer]| {
        let (mut y, x) = (all(&args[0]), all(&args[0]));
        for at in columns..x.len() {
            let (at, before) = match backwards {
                true => (x.len() - 1 - at, x.len() - 1 - at + columns),
                false => (at, at - columns),
            };
            y[at] = y[before] + x[at];
        }
        vec![y]
    };
    check_error_to(&text, 8.0, word, &exact);
}

/// Elements of few bits are summed in 32.
#[test]
fn of_halves() {
    for dtype in ["f16", "bf16"] {
        let text = "func main(x: f32[12000,8]) -> (s) {
  let h : HALF[12000,8] =: over i<12000, j<8: HALF(x[i,j])
  s : f32[8] =:+ over i<12000, j<8 at [j]: f32(h[i,j])
}
";
        check_error(&text.replace("HALF", dtype), 5.0, "");
    }
}
