//! Kernels that run together, a few rows at a time.

use crate::harness::*;
use surject_codegen::{Target, Thresholds};
use surject_ir::{Function, Program};

fn parsed(text: &str) -> Function {
    let program: Program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    surject_ir::verify(&program).unwrap();
    program.functions.into_iter().next().unwrap()
}

/// Compares with the interpreter, and gives the plan of the eager target.
fn checked(text: &str) -> String {
    let function = parsed(text);
    check_with(function.clone(), 1e-4, None);
    let program = Program { name: String::new(), functions: vec![function] };
    let target = Target { thresholds: Thresholds::least(), ..Target::wide() };
    lowered(&program, "main", &target).plan.to_string()
}

/// Scores, their softmax and what it weighs, each stored.
fn attention(b: u64, h: u64, q: u64, k: u64, d: u64) -> String {
    format!(
        "func main(x: f32[{b},{q},{h},{d}], y: f32[{b},{k},{h},{d}], z: f32[{b},{k},{h},{d}]) -> (o) {{
  s : f32[{b},{h},{q},{k}] =:+ over b<{b}, h<{h}, q<{q}, k<{k}, d<{d} at [b,h,q,k]: x[b,q,h,d] * y[b,k,h,d]
  let m : f32[{b},{h},{q}] =:max over b<{b}, h<{h}, q<{q}, k<{k} at [b,h,q]: s[b,h,q,k]
  let e : f32[{b},{h},{q},{k}] =: over b<{b}, h<{h}, q<{q}, k<{k}: exp(s[b,h,q,k] - m[b,h,q])
  let n : f32[{b},{h},{q}] =:+ over b<{b}, h<{h}, q<{q}, k<{k} at [b,h,q]: e[b,h,q,k]
  p : f32[{b},{h},{q},{k}] =: over b<{b}, h<{h}, q<{q}, k<{k}: e[b,h,q,k] / n[b,h,q]
  o : f32[{b},{q},{h},{d}] =:+ over b<{b}, q<{q}, h<{h}, d<{d}, k<{k} at [b,q,h,d]: p[b,h,q,k] * z[b,k,h,d]
}}
"
    )
}

#[test]
fn attention_keeps_its_scores_in_the_cache_of_a_task() {
    for (b, h, q, k, d) in [(2, 3, 16, 20, 8), (1, 2, 37, 41, 17), (3, 1, 8, 64, 32), (2, 2, 33, 16, 16)] {
        checked(&attention(b, h, q, k, d));
    }
    // Neither the scores nor their softmax exist as tensors.
    let program = Program { name: String::new(), functions: vec![parsed(&attention(1, 8, 1024, 1024, 64))] };
    let module = lowered(&program, "main", &Target::wide());
    assert!(module.arena_bytes < 8 * 1024 * 1024 * 4 / 2, "{}", module.plan);
    insta::assert_snapshot!(module.plan);
}

#[test]
fn layers_row_by_row() {
    for (n, a, b, c) in [(64, 24, 40, 16), (50, 33, 17, 70), (32, 64, 128, 10), (9, 12, 8, 8)] {
        let text = format!(
            "func main(x: f32[{n},{a}], v: f32[{a},{b}], w: f32[{b},{c}], u: f32[{c}]) -> (z, g) {{
  y : f32[{n},{b}] =: over i<{n}, j<{b}: tanh((+ over i<{n}, j<{b}, k<{a} at [i,j]: x[i,k] * v[k,j]) * 1.0f32)
  z : f32[{n},{c}] =: over i<{n}, j<{c}: (+ over i<{n}, j<{c}, k<{b} at [i,j]: y[i,k] * w[k,j]) + u[j]
  m : f32[{n}] =:max over i<{n}, j<{c} at [i]: z[i,j]
  g : f32[{n},{b}] =: over i<{n}, j<{b}: (+ over i<{n}, j<{b}, k<{c} at [i,j]: z[i,k] * w[j,k]) * (1.0f32 - y[i,j]) - m[i]
}}
"
        );
        checked(&text);
    }
}

/// A convolution and a product of what it gives.
#[test]
fn products_of_a_convolution() {
    for (a, b, channels, filters, heads) in [
        (40, 40, 3, 14, 4),
        (28, 28, 5, 16, 70),
        (20, 20, 4, 40, 48),
        (23, 23, 3, 33, 200),
        (56, 56, 2, 14, 3),
        (17, 3, 12, 128, 30),
    ] {
        let image = format!("i<{a}, j<{b}");
        let text = format!(
            "func main(x: f32[{a},{b},{channels}], w: f32[3,3,{channels},{filters}], v: f32[{filters},{heads}]) -> (z) {{
  y : f32[{a},{b},{filters}] =: over {image}, f<{filters}: max((+ over {image}, f<{filters}, k<3, l<3, c<{channels} at [i,j,f]: (x[i + k - 1,j + l - 1,c] where 0 <= i + k - 1 < {a} and 0 <= j + l - 1 < {b} else 0.0f32) * w[k,l,c,f]), 0.0f32)
  z : f32[{a},{b},{heads}] =:+ over {image}, h<{heads}, f<{filters} at [i,j,h]: y[i,j,f] * v[f,h]
}}
"
        );
        checked(&text);
    }
}

/// A state is read by one kernel and written by a later one, in place.
#[test]
fn a_loop_that_updates_its_state() {
    for (n, d) in [(16, 24), (33, 16), (8, 40)] {
        let text = format!(
            "func main(h0: f32[{n},{d}], w: f32[{d},{d}]) -> (h, i) {{
  zero : i32[] =: 0i32
  h : f32[{n},{d}], i : i32[] = while (h0, zero) {{
    cond(ch: f32[{n},{d}], ci: i32[]) -> (more) {{
      more : i1[] =: ci < 3i32
    }}
    body(bh: f32[{n},{d}], bi: i32[]) -> (next, step) {{
      p : f32[{n},{d}] =: over i<{n}, j<{d}: (+ over i<{n}, j<{d}, k<{d} at [i,j]: bh[i,k] * w[k,j]) * 0.1f32
      next : f32[{n},{d}] =: over i<{n}, j<{d}: tanh(p[i,j]) + p[i,{d} - 1 - j]
      step : i32[] =: bi + 1i32
    }}
  }}
}}
"
        );
        checked(&text);
    }
}

/// Rows that need other rows are not taken apart.
#[test]
fn what_crosses_rows_is_not_fused() {
    let text = "func main(x: f32[40,16], w: f32[16,16]) -> (z) {
  y : f32[40,16] =:+ over i<40, j<16, k<16 at [i,j]: x[i,k] * w[k,j]
  z : f32[40,16] =: over i<40, j<16: y[39 - i,j] + exp(y[i,j])
}
";
    let plan = checked(text);
    assert!(!plan.contains("fused"), "{plan}");
    let text = "func main(x: f32[40,16], w: f32[16,16]) -> (z) {
  y : f32[40,16] =:+ over i<40, j<16, k<16 at [i,j]: x[i,k] * w[k,j]
  let s : f32[16] =:+ over i<40, j<16 at [j]: y[i,j]
  z : f32[40,16] =: over i<40, j<16: y[i,j] - s[j]
}
";
    let plan = checked(text);
    assert!(!plan.contains("fused"), "{plan}");
}

/// Sums down the same rows and extremes along them, of tensors that they share: one kernel, one loop over the terms. One
/// that needs another comes after it.
#[test]
fn reductions_of_the_same_terms_run_together() {
    for (rows, columns, dtype) in
        [(300, 61, "f32"), (517, 64, "f32"), (70, 130, "f64"), (90, 33, "bf16"), (64, 200, "i32")]
    {
        let text = format!(
            "func main(x: {dtype}[{rows},{columns}], g: {dtype}[{rows},{columns}]) -> (a, b, c, l, m, n) {{
  a : {dtype}[{columns}] =:+ over j<{columns}, i<{rows} at [j]: x[i,j] * g[i,j]
  b : {dtype}[{columns}] =:max over j<{columns}, i<{rows} at [j]: g[i,j]
  c : {dtype}[{columns}] =:+ over j<{columns}, i<{rows} at [j]: max(x[i,j], b[j])
  l : {dtype}[{rows}] =:min over i<{rows}, j<{columns} at [i]: x[i,j]
  m : {dtype}[{rows}] =:max over i<{rows}, j<{columns} at [i]: x[i,j]
  n : {dtype}[{rows}] =:max over i<{rows}, j<{columns} at [i]: min(x[i,j], m[i]) + l[i]
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        check_with(program.functions[0].clone(), 1e-3, None);
        let module = lower(&program, "main", &Target::wide()).unwrap();
        let plan = module.plan.to_string();
        let together = plan.lines().filter(|l| l.contains(", min [") && l.contains(", max [")).count();
        assert_eq!(together, 1, "{plan}");
    }
}

/// Reductions down columns end a chain that their rows go through: every task has a target of its own, and the targets
/// are joined.
#[test]
fn columns_of_rows_that_are_at_hand() {
    for (rows, columns, dtype) in
        [(300, 260, "f32"), (517, 256, "f32"), (41, 2051, "f32"), (130, 514, "f64"), (256, 300, "i32")]
    {
        let text = format!(
            "func main(x: {dtype}[{rows},{columns}], g: {dtype}[{rows},{columns}]) -> (y, a, b) {{
  let m : {dtype}[{rows}] =:max over i<{rows}, j<{columns} at [i]: x[i,j]
  let n : {dtype}[{rows}] =:+ over i<{rows}, j<{columns} at [i]: g[i,j] - m[i]
  y : {dtype}[{rows},{columns}] =: over i<{rows}, j<{columns}: max(x[i,j], n[i]) - g[i,j]
  a : {dtype}[{columns}] =:+ over j<{columns}, i<{rows} at [j]: y[i,j] * g[i,j]
  b : {dtype}[{columns}] =:max over j<{columns}, i<{rows} at [j]: g[i,j]
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        check_with(program.functions[0].clone(), 1e-3, None);
        let target = Target { thresholds: Thresholds::least(), ..Target::wide() };
        let plan = lower(&program, "main", &target).unwrap().plan.to_string();
        let fused = plan.lines().find(|l| l.contains("fused")).unwrap_or_else(|| panic!("{plan}"));
        assert!(fused.contains("y@") && !fused.contains("a@") && !fused.contains("b@"), "{plan}");
        let totals = plan.lines().filter(|l| l.starts_with("kernel_") && !l.contains("fused"));
        assert_eq!(totals.count(), 2, "{plan}");
    }
}

/// Long sums down few columns are made in parts; those of the same tensors, not all of them of one form, are one kernel.
#[test]
fn parts_of_sums_run_together() {
    for (rows, columns) in [(9000, 16), (8197, 24)] {
        let text = format!(
            "func main(x: f32[{rows},{columns}], g: f32[{rows},{columns}], m: f32[{columns}]) -> (a, b, c) {{
  a : f32[{columns}] =:+ over j<{columns}, i<{rows} at [j]: (x[i,j] - m[j]) * (x[i,j] - m[j])
  b : f32[{columns}] =: over j<{columns}: (+ over j<{columns}, i<{rows} at [j]: (x[i,j] - m[j]) * g[i,j]) * m[j]
  c : f32[{columns}] =:+ over j<{columns}, i<{rows} at [j]: x[i,j] - m[j]
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        check_with(program.functions[0].clone(), 1e-3, None);
        let plan = lower(&program, "main", &Target::wide()).unwrap().plan.to_string();
        assert!(plan.contains(", 3 x + ["), "{plan}");
    }
}

/// The gradient of a norm of rows: what each has one of stands between passes over its elements.
fn gradient_of_a_norm(rows: u64, columns: u64, dtype: &str) -> String {
    let last = columns - 1;
    format!(
        "func main(x: {dtype}[{rows},{columns}], w: {dtype}[{columns}], g: {dtype}[{rows},{columns}]) -> (y, v) {{
  s : {dtype}[{rows}] =: over i<{rows}: (+ over i<{rows}, j<{columns} at [i]: x[i,j] * x[i,j]) + 1{dtype}
  r : {dtype}[{rows}] =: over i<{rows}: rsqrt(s[i]) + x[i,{last}] * 0.125{dtype}
  let t : {dtype}[{rows}] =: over i<{rows}: (+ over i<{rows}, j<{columns} at [i]: x[i,j] * g[i,j] * w[j]) * r[i] / s[i]
  y : {dtype}[{rows},{columns}] =: over i<{rows}, j<{columns}: g[i,j] * w[j] * r[i] - x[i,j] * t[i]
  v : {dtype}[{columns}] =:+ over j<{columns}, i<{rows} at [j]: x[i,j] * r[i] * g[i,j]
}}
"
    )
}

/// What is one element for every row is done row by row with the rest, where the rows come from memory; on a processor
/// that reads ahead by itself what comes after the results asks for the next rows, or what computes them.
#[test]
fn statistics_of_rows_between_passes_over_them() {
    for (rows, columns, dtype) in [(300, 260, "f32"), (41, 2051, "f32"), (130, 514, "f64"), (517, 37, "f32")]
    {
        let plan = checked(&gradient_of_a_norm(rows, columns, dtype));
        let fused = plan.lines().find(|l| l.contains("fused")).unwrap_or_else(|| panic!("{plan}"));
        assert!(fused.contains(&format!("row [{rows}] tasks 1; ")), "{plan}");
    }
    let on = |rows: u64, target: &Target| {
        let function = parsed(&gradient_of_a_norm(rows, 1024, "f32"));
        let program = Program { name: String::new(), functions: vec![function] };
        lower(&program, "main", target).unwrap()
    };
    let silent = Target { prefetches: false, ..Target::wide() };
    let lowered = |rows: u64| on(rows, &silent);
    let far = lowered(16384);
    let fused = far.plan.to_string().lines().filter(|l| l.contains("fused")).count();
    assert_eq!((fused, far.plan.to_string().lines().count()), (1, 3), "{}", far.plan);
    // Four lines of each of two tensors, into the second cache.
    assert_eq!(far.text.matches("hint = 2").count(), 8);
    let asks_where_it_stores = |asks_rows: bool| {
        let text =
            on(16384, &Target { prefetches_rows: asks_rows, has_non_temporal_stores: true, ..silent }).text;
        let stores = text.split("llvm.func").find(|f| f.contains("nontemporal")).map(str::to_string);
        stores.unwrap_or_else(|| panic!("{text}")).contains("hint = 2")
    };
    assert_eq!([false, true].map(asks_where_it_stores), [false, true]);
    // Those that the last cache holds are no reason.
    let near = lowered(1024);
    assert!(near.plan.to_string().contains("row [1024/64]"), "{}", near.plan);
    // Parts prefetch what their chain says, into the second cache, and nothing that an earlier one has read.
    let mut parts = near.text.split("llvm.func").filter(|f| f.contains("_part"));
    assert!(parts.all(|f| !f.contains("hint = 3")), "{}", near.text);
}

/// The sum of everything is one of rows first, where they come from memory: those are summed with what else they are
/// needed for.
#[test]
fn a_sum_of_everything_goes_row_by_row_with_others() {
    let text = |rows: u64, columns: u64| {
        format!(
            "func main(x: f32[{rows},{columns}], t: f32[{rows},{columns}]) -> (a, y) {{
  let m : f32[{rows}] =:max over i<{rows}, j<{columns} at [i]: x[i,j]
  n : f32[{rows}] =:+ over i<{rows}, j<{columns} at [i]: exp(x[i,j] - m[i])
  a : f32[] =:+ over i<{rows}, j<{columns} at []: (x[i,j] - m[i] - log(n[i])) * t[i,j]
  y : f32[{rows},{columns}] =: over i<{rows}, j<{columns}: exp(x[i,j] - m[i]) / n[i] - t[i,j]
}}
"
        )
    };
    checked(&text(130, 300));
    for threads in [1, 2] {
        let target = Target { threads, ..Target::wide() };
        let program = Program { name: String::new(), functions: vec![parsed(&text(16_001, 1000))] };
        let plan = lower(&program, "main", &target).unwrap().plan.to_string();
        let kernels: Vec<&str> = plan.lines().filter(|l| l.starts_with("kernel_")).collect();
        assert_eq!(kernels.len(), 2, "{plan}");
        assert!(kernels[0].contains("fused") && kernels[1].contains("+ [16001"), "{plan}");
    }
}
