//! Reductions along columns, and sums that tasks share.

use crate::harness::*;
use surject_codegen::Target;
use surject_index::IndexMap;
use surject_ir::{AccOp, BinaryOp, DType};

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

/// Rows that are put together of columns, of which each lies by itself, and one of several.
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

/// Columns of several loops that each lie by themselves.
#[test]
fn columns_of_several_loops() {
    for rows in [300, 307] {
        let text = format!(
            "func main(x: f32[5,{rows},3,2]) -> (y) {{
  y : f32[3,5,2,{rows}] =: over i<3, j<5, k<2, l<{rows}: x[j,l,i,k]
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        check(program.functions[0].clone());
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
        !last.contains("tasks 1 ") && [", min", ", max", ", +"].iter().all(|r| !last.contains(r)),
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
    }
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
            let parts = plans[0].matches("row [4 ").count();
            assert!(rows < 1024 || parts == cut, "{}", plans[0]);
            let halved = plans[0].contains(" 4]");
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
        assert_eq!(plan.contains(" 8]"), joined, "{plan}");
    }
}
