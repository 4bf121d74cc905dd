//! Rows that do not fill a vector.

use crate::harness::*;
use crate::rows::softmax;
use surject_codegen::Target;
use surject_index::IndexMap;
use surject_ir::{AccOp, DType, Function};

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
fn sums_of_short_rows() {
    for length in [2, 3, 5, 8, 9, 13, 16, 17, 21, 24] {
        check_with(short_rows(300 + length, length, DType::F32), 1e-4, None);
    }
    for dtype in [DType::F64, DType::BF16, DType::F16] {
        check_with(short_rows(517, 11, dtype), 1e-4, None);
    }
}

/// Rows of which functions are evaluated, of each element and of its sums.
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
}

/// Windows along short rows and sums that grow along them, of all lengths and from both sides: what would be outside of a row is
/// not read.
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
}

/// A roll along short rows: what is read one element before its row would be before the tensor in the first one.
#[test]
fn a_roll_along_short_rows_stays_inside() {
    let text = "func main(x: f32[2000,8]) -> (y) {
  y : f32[2000] =:+ over i<2000, j<8 at [i]: x[i,j] * (x[i,j - 1] where 0 <= j - 1 < 7 else 1.0f32)
}
";
    let program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}"));
    check_with(program.functions[0].clone(), 1e-5, None);
}

/// A softmax of rows that fill a few vectors, and of those that fill them badly.
#[test]
fn softmax_of_short_rows() {
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
