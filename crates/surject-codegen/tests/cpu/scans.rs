//! Windows that grow with their position, which are scans.

use crate::assignments::check_text;
use crate::harness::check_with;
use surject_ir::{Buffer, DType, Scalar};

/// Checks a program, one of whose kernels is a scan.
fn check_scan(text: &str) {
    check_text(text, &["kernel `scan`"]);
}

#[test]
fn growing_windows_are_scans() {
    for (op, fill) in [("+", "-0.0f32"), ("max", "bits(0xff800000)f32"), ("*", "1.0f32")] {
        // Along the last axis, the first, and a middle one, with sizes that are no multiples of lanes.
        check_scan(&format!(
            "func main(x: f32[5,37]) -> (y) {{\n  y : f32[5,37] =:{op} over i<5, j<37, k<37 at [i,j]: \
             (x[i,j + k - 36] where 0 <= j + k - 36 < 37 else {fill})\n}}\n"
        ));
        check_scan(&format!(
            "func main(x: f32[29,83]) -> (y) {{\n  y : f32[29,83] =:{op} over i<29, j<83, k<29 at [i,j]: \
             (x[i + k,j] where 0 <= i + k < 29 else {fill})\n}}\n"
        ));
        check_scan(&format!(
            "func main(x: f32[3,70,21]) -> (y) {{\n  y : f32[3,70,21] =: over i<3, j<70, l<21: 2.0f32 * \
             ({op} over i<3, j<70, l<21, k<70 at [i,j,l]: \
             (x[i,j + k - 69,l] where 0 <= j + k - 69 < 70 else {fill})) + x[i,j,l]\n}}\n"
        ));
    }
}

/// Sums of few terms are scans as well, along rows and down columns.
#[test]
fn short_scans() {
    for n in [3, 5, 12] {
        for position in [format!("j + k - {}", n - 1), "j + k".to_string()] {
            check_text(
                &format!(
                    "func main(x: f32[37,{n}], y: f32[{n},37]) -> (a, b) {{
  a : f32[37,{n}] =:+ over i<37, j<{n}, k<{n} at [i,j]: (x[i,{position}] where 0 <= {position} < {n} else -0.0f32)
  b : f32[{n},37] =:+ over i<37, j<{n}, k<{n} at [j,i]: (y[{position},i] where 0 <= {position} < {n} else -0.0f32)
}}
"
                ),
                &["kernel `scan`"],
            );
        }
    }
}

/// Lines and columns of every element type, in vectors that are whole and that are not, and in blocks.
#[test]
fn scans_of_all_types() {
    for (dtype, op) in [
        ("f64", "+"),
        ("f64", "min"),
        ("f16", "+"),
        ("bf16", "+"),
        ("bf16", "max"),
        ("f16", "min"),
        ("i8", "+"),
        ("u16", "max"),
        ("i64", "*"),
        ("i32", "min"),
        ("i1", "or"),
    ] {
        // Long sums of floats are made in blocks.
        let lengths = if op == "+" && dtype.contains('f') { vec![64, 300] } else { vec![67] };
        for n in lengths {
            let (dtype, fill) = match (dtype, op) {
                ("i1", _) => ("i1", "false".to_string()),
                (_, "+") if dtype.contains('f') => (dtype, format!("-0.0{dtype}")),
                (_, "+") => (dtype, format!("0{dtype}")),
                (_, "*") => (dtype, format!("1{dtype}")),
                ("u16", _) => (dtype, format!("0{dtype}")),
                ("i32", _) => (dtype, format!("2147483647{dtype}")),
                (_, "max") => (dtype, format!("-inf_{dtype}")),
                _ => (dtype, format!("inf_{dtype}")),
            };
            check_scan(&format!(
                "func main(x: {dtype}[3,{n}], y: {dtype}[{n},43]) -> (a, b) {{
  a : {dtype}[3,{n}] =:{op} over i<3, j<{n}, k<{n} at [i,j]: (x[i,j + k] where 0 <= j + k < {n} else {fill})
  b : {dtype}[{n},43] =:{op} over i<43, j<{n}, k<{n} at [j,i]: (y[j + k - {last},i] where 0 <= j + k - {last} < {n} else {fill})
}}
",
                last = n - 1
            ));
        }
    }
}

/// What is not a number stays so in all that comes behind it, and zeros keep their sign.
#[test]
fn scans_of_values_that_are_not_finite() {
    let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, -f64::NAN, 1.0, -0.0];
    for (op, fill) in [("+", "-0.0f32"), ("max", "-inf_f32"), ("min", "inf_f32")] {
        for (position, n) in [("j + k - 100", 101), ("j + k", 101)] {
            let text = format!(
                "func main(x: f32[16,{n}]) -> (a) {{
  a : f32[16,{n}] =:{op} over i<16, j<{n}, k<{n} at [i,j]: (x[i,{position}] where 0 <= {position} < {n} else {fill})
}}
"
            );
            let mut x = Buffer::zeros(DType::F32, &[16, n]);
            for at in 0..x.len() {
                // Each row has one of them, here and there.
                let (row, column) = (at / n, at % n);
                let value = if (column + row) % 13 == row % 7 { special[row % 8] } else { -0.0 };
                x.set(at, Scalar::from_f64(DType::F32, value));
            }
            let program = surject_ir::parse(&text).unwrap();
            check_with(program.functions[0].clone(), 0.0, Some(vec![x]));
        }
    }
}

#[test]
fn scans_beside_and_inside_of_others() {
    for (op, fill) in [("+", "-0.0f32"), ("min", "inf_f32")] {
        let sum = |at: &str, term: &str, position: &str| {
            format!(
                "({op} over i<7, j<41, k<41 at {at}: ({term}[i,{position}] where 0 <= {position} < 41 else {fill}))"
            )
        };
        let forwards = sum("[i,j]", "x", "j + k - 40");
        let reversed = sum("[i,-j + 40]", "x", "j + k - 40");
        let backwards = sum("[i,j]", "y", "j + k");
        for value in [
            // Read from the other end: one kernel.
            format!("tanh({reversed} * 0.1f32)"),
            // Two of them: both are stored, or one of them is the kernel's own.
            format!("{forwards} - {backwards} * 0.5f32"),
            format!("{reversed} + y[i,j] * {forwards}"),
            // What is computed before and after it is done in lanes.
            format!("tanh({forwards})"),
            forwards.replace("(x[i,j + k - 40] where", "(t[i,j + k - 40] where"),
            // Inside of another reduction, and beside one.
            "x[i,j] + (max over i<7, j<41, l<41 at [i,j]: s[i,l])".to_string(),
            format!("{forwards} * (+ over i<7, j<41, l<41 at [i,j]: y[i,l])"),
        ] {
            check_scan(&format!(
                "func main(x: f32[7,41], y: f32[7,41]) -> (z) {{
  let t : f32[7,41] =: over i<7, j<41: exp(y[i,j] * 0.1f32)
  let s : f32[7,41] =: over i<7, j<41: {forwards}
  z : f32[7,41] =: over i<7, j<41: {value}
}}
"
            ));
        }
    }
}

/// Positions are terms of a line, and functions are computed before and after it.
#[test]
fn scans_of_functions_and_positions() {
    check_scan(
        "func main(x: f32[9,41]) -> (y) {
  let t : f32[9,41] =: over i<9, j<41: exp(x[i,j]) * index(j)f32
  y : f32[9,41] =: over i<9, j<41: tanh(0.01f32 * (+ over i<9, j<41, k<41 at [i,j]: \
         (t[i,j + k - 40] where 0 <= j + k - 40 < 41 else -0.0f32)))
}
",
    );
}

#[test]
fn other_windows_are_not() {
    // The window is shorter than the line, or starts earlier, or its terms depend on the output.
    for (window, first) in [(20, 19), (37, 30), (50, 49)] {
        check_text(
            &format!(
                "func main(x: f32[37]) -> (y) {{\n  y : f32[37] =:+ over j<37, k<{window} at [j]: \
                 (x[j + k - {first}] where 0 <= j + k - {first} < 37 else -0.0f32)\n}}\n"
            ),
            &[],
        );
    }
    check_text(
        "func main(x: f32[37], y: f32[37]) -> (z) {\n  z : f32[37] =:+ over j<37, k<37 at [j]: \
         (x[j + k - 36] where 0 <= j + k - 36 < 37 else -0.0f32) * y[k]\n}\n",
        &[],
    );
}
