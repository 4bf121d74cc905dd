//! Plans of the programs that the measured prototype reports.
mod support;
use support::*;
use surject_egraph::{Options, optimise};
use surject_rules::Exactness;

fn show(name: &str, p: &surject_ir::Program, tol: f64) -> surject_egraph::Optimised {
    let o = optimise(p, &Options::default()).unwrap();
    eprintln!("== {name}\n{}", o.report);
    eprintln!("{}", dump(&o.program));
    agree(p, &o.program, tol);
    o
}

#[test]
fn mlp_is_two_kernels() {
    let o = show("mlp", &mlp(8, 16, 12, 5), 1e-5);
    assert_eq!(o.report.stores().1, 2);
}

#[test]
fn softmax_is_small() {
    let o = show("softmax", &softmax(8, 16), 1e-5);
    assert_eq!(o.report.stores().1, 1);
}

#[test]
fn layernorm_is_small() {
    let o = show("layernorm", &layernorm(8, 16), 1e-5);
    assert_eq!(o.report.stores().1, 1);
}

#[test]
fn attention_stores_no_transpose() {
    let o = show("attention", &attention(2, 6, 8, 2), 1e-5);
    assert_eq!(o.report.stores().1, 7);
}

/// The mean of a product that is stored anyway is a sum of what is stored, in another order of its axes, and not the
/// product again.
#[test]
fn a_product_and_its_mean() {
    let text = "func main(x: f32[2,7,6,12], w: f32[3,3,12,8]) -> (y) {
  p : f32[2,7,6,8] =:+ over i<2, j<7, k<6, l<8, m<3, n<3, o<12 at [i,j,k,l]: (x[i,j + m - 1,k + n - 1,o] where 0 <= k + n - 1 < 6 and 0 <= j + m - 1 < 7 else 0.0f32) * w[m,n,o,l]
  s : f32[8] =:+ over i<2, j<7, k<6, l<8 at [l]: p[i,j,k,l]
  y : f32[2,7,6,8] =: over i<2, j<7, k<6, l<8: p[i,j,k,l] - s[l] / 84.0f32
}
";
    let p = surject_ir::parse(text).unwrap();
    let o = show("product and mean", &p, 1e-5);
    insta::assert_snapshot!(surject_ir::print(&o.program));
}

/// What every token gets of every expert is stored with the long axis last, although its reader sums over the short one.
#[test]
fn the_long_axis_is_stored_last() {
    let text = "func main(x: f32[40,24], w: f32[8,24,32], g: f32[40,8]) -> (y) {
  t : f32[40,8,32] =:+ over i<40, j<8, k<32, l<24 at [i,j,k]: x[i,l] * w[j,l,k]
  y : f32[40,32] =:+ over i<40, j<32, k<8 at [i,j]: g[i,k] * t[i,k,j]
}
";
    let p = surject_ir::parse(text).unwrap();
    let o = show("experts", &p, 1e-5);
    insta::assert_snapshot!(surject_ir::print(&o.program));
}

/// Inside another sum a short one is neither done in lanes nor shared: from five terms on it is stored, if there are many.
/// So is a product of a vector by a matrix that is needed twice, as another kernel takes less than doing it again.
#[test]
fn sums_inside_sums() {
    let sums = |n: usize, terms: usize| {
        format!(
            "func main(x: f32[{n},33,{terms}], y: f32[{n},33]) -> (z) {{
  t : f32[{n},33] =:+ over i<{n}, j<33, k<{terms} at [i,j]: x[i,j,k]
  z : f32[33] =:+ over i<{n}, j<33 at [j]: t[i,j] * y[i,j]
}}
"
        )
    };
    let twice = "func main(a: f32[67,67], x: f32[67]) -> (z) {
  y : f32[67] =:+ over i<67, j<67 at [i]: a[i,j] * x[j]
  s : f32[] =:+ over i<67 at []: y[i] * y[i]
  z : f32[67] =: over i<67: y[i] / sqrt(s[])
}
";
    for (text, stores) in
        [(sums(20, 12), 2), (sums(20, 5), 2), (sums(20, 3), 1), (sums(5, 5), 1), (twice.to_string(), 2)]
    {
        let p = surject_ir::parse(&text).unwrap();
        let o = show("sums inside sums", &p, 1e-4);
        assert_eq!(o.report.stores().1, stores, "{text}");
    }
}

/// A mean of the logarithms of sums of rows: the rows are summed by a kernel of their own, which threads share.
#[test]
fn a_mean_of_rows() {
    let text = "func main(x: f32[512,128]) -> (y) {
  m : f32[512] =:max over i<512, j<128 at [i]: x[i,j]
  s : f32[512] =:+ over i<512, j<128 at [i]: exp(x[i,j] - m[i])
  y : f32[] =:+ over i<512 at []: log(s[i]) + m[i]
}
";
    let p = surject_ir::parse(text).unwrap();
    let o = show("mean of rows", &p, 1e-3);
    insta::assert_snapshot!(surject_ir::print(&o.program));
}

/// Steps of a grid of which each reads all neighbours: too much for one kernel, so each step is one.
#[test]
fn steps_of_a_grid() {
    let mut text = String::from("func main(x0: f32[12,12]) -> (x6) {\n");
    for step in 1..=6 {
        let (old, part) = (format!("x{}", step - 1), format!("p{step}"));
        text += &format!(
            "  {part} : f32[12,12] =: over i<12, j<12: {old}[i,j] + ({old}[i - 1,j] where 0 <= i - 1 < 12 else 0.0f32) + ({old}[i + 1,j] where 0 <= i + 1 < 12 else 0.0f32)
  x{step} : f32[12,12] =: over i<12, j<12: tanh({part}[i,j] + ({part}[i,j - 1] where 0 <= j - 1 < 12 else 0.0f32) + ({part}[i,j + 1] where 0 <= j + 1 < 12 else 0.0f32)) * 2.0f32
"
        );
    }
    text += "}\n";
    let p = surject_ir::parse(&text).unwrap();
    let o = show("grid", &p, 1e-5);
    assert_eq!(o.report.stores(), (12, 6));
}

/// The plan of twelve blocks is twelve times the plan of one, and so is the time to find it, about.
#[test]
fn blocks_scale() {
    let mut kernels = Vec::new();
    for layers in [1, 2, 12, 36] {
        let p = blocks(layers, 2, 256, 512, 8);
        let o = optimise(&p, &Options::default()).unwrap();
        let (before, after) = o.report.stores();
        eprintln!("{layers} blocks: {before} -> {after} stores, {:.1} ms", o.report.time.as_secs_f64() * 1e3);
        kernels.push(after);
    }
    assert_eq!(kernels, [11, 22, 132, 396]);
}

/// A layer of a training step takes a kernel forwards and three backwards: the gradients of what it reads, of its
/// weights and of its biases.
#[test]
fn training_steps_scale() {
    let small = train(3, 4, 5);
    let o = optimise(&small, &Options::default()).unwrap();
    agree(&small, &o.program, 1e-4);
    for layers in [2, 48] {
        let o = optimise(&train(layers, 64, 256), &Options::default()).unwrap();
        let (before, after) = o.report.stores();
        eprintln!("{layers} layers: {before} -> {after} stores, {:.1} ms", o.report.time.as_secs_f64() * 1e3);
        if layers == 2 {
            eprintln!("{}", dump(&o.program));
        }
        assert!(after <= 4 * layers, "{after} kernels for {layers} layers");
    }
}

/// Of a value that is widened the narrow one is stored: a quantised factor in bytes.
#[test]
fn narrow_values_are_stored() {
    let text = "func main(x: f32[64,32], w: i8[48,32], s: f32[]) -> (y) {
  t : i8[64,32] =: over i<64, k<32: i8(min(127.0f32, max(-127.0f32, round_even(x[i,k] / s[]))))
  u : i32[64,32] =: over i<64, k<32: i32(t[i,k])
  y : i32[64,48] =:+ over i<64, j<48, k<32 at [i,j]: u[i,k] * i32(w[j,k])
}
";
    let p = surject_ir::parse(text).unwrap();
    let o = show("quantised product", &p, 1e-5);
    let printed = surject_ir::print(&o.program);
    let stored = |l: &str| !l.trim_start().starts_with("let") && l.contains(": i8[64,32] =:");
    assert!(printed.lines().any(stored), "{printed}");
}

/// Sums of a normalisation's gradient: what does not change along them is taken out, sums that differ in nothing else are
/// one, and where two assignments have it, it is stored. A contraction keeps its factors. That a sum without a factor
/// overflows where the sum with it does not has to be accepted for it.
#[test]
fn factors_of_sums() {
    let text =
        "func main(x: f32[32,24], g: f32[32,24], w: f32[24], r: f32[32], a: f32[24,8]) -> (y, u, v, p) {
  d : f32[32,24] =: over i<32, j<24: g[i,j] * w[j] / r[i]
  s : f32[32] =:+ over i<32, j<24 at [i]: neg(d[i,j]) * (2.0f32 * x[i,j])
  t : f32[32] =:+ over i<32, j<24 at [i]: x[i,j] * (r[i] * (w[j] * g[i,j]))
  y : f32[32,24] =: over i<32, j<24: d[i,j] + s[i] * t[i]
  u : f32[24] =:+ over j<24, i<32 at [j]: w[j] * x[i,j] * g[i,j]
  v : f32[24] =: over j<24: exp(u[j]) * (+ over j<24, i<32 at [j]: g[i,j] * x[i,j] / w[j])
  p : f32[32,8] =:+ over i<32, k<8, j<24 at [i,k]: x[i,j] * r[i] * a[j,k]
}
";
    let p = surject_ir::parse(text).unwrap();
    let overflows = Options { exactness: Exactness::Overflows, ..Options::default() };
    let o = optimise(&p, &overflows).unwrap();
    agree(&p, &o.program, 1e-3);
    insta::assert_snapshot!(surject_ir::print(&o.program));
    assert!(o.report.ledger().iter().any(|(rule, class, ..)| {
        rule == "factors out of sums (factor-any)" && *class == Exactness::Overflows
    }));
    // Nothing is known of the values here, so nothing is taken out by default; nor is it without the law.
    let without = Options { without: vec!["factor".to_string()], ..overflows };
    for options in [Options::default(), without] {
        let kept = optimise(&p, &options).unwrap();
        agree(&p, &kept.program, 1e-3);
        assert_eq!(kept.report.taken_out, 0);
    }
}

/// Windows along several axes are joined along one after the other where that is less: not where they do not overlap and
/// vectors run beside them, nor where a sum counts what lies outside.
#[test]
fn windows_axis_by_axis() {
    let text = "func main(x: f32[2,61,63,3], y: f32[2,41,40,17], z: f32[3,17,18,40], b: bf16[2,41,40,16]) -> (s, t, u, v, k, m, n) {
  s : f32[2,31,32,3] =:max over i<2, j<31, k<32, l<3, m<3, n<3 at [i,j,k,l]: (x[i,2*j + m - 1,2*k + n - 1,l] where 0 <= 2*j + m - 1 < 61 and 0 <= 2*k + n - 1 < 63 else -inf_f32)
  t : f32[2,41,40,17] =: over i<2, j<41, k<40, l<17: (+ over i<2, j<41, k<40, l<17, m<5, n<5 at [i,j,k,l]: (y[i,j + m - 2,k + n - 2,l] where 0 <= j + m - 2 < 41 and 0 <= k + n - 2 < 40 else 0.0f32)) / 25.0f32
  u : f32[3,8,9,19] =:min over i<3, j<8, k<9, l<19, m<3, n<2, o<4 at [i,j,k,l]: z[i,2*j + m,2*k + n,2*l + o]
  v : f32[2,17,39,36] =:+ over j<39, i<2, k<36, l<17, m<3, n<5 at [i,l,j,k]: (y[i,j + m,k + n,l] where 0 <= j + m < 40 else 0.0f32)
  k : f32[2,20,20,17] =:max over i<2, j<20, k<20, l<17, m<2, n<2 at [i,j,k,l]: y[i,2*j + m,2*k + n,l]
  m : f32[2,41,40,17] =:+ over i<2, j<41, k<40, l<17, m<5, n<5 at [i,j,k,l]: (y[i,j + m - 2,k + n - 2,l] where 0 <= j + m - 2 < 41 and 0 <= k + n - 2 < 40 else 1.0f32)
  n : bf16[2,41,40,16] =:+ over i<2, j<41, k<40, l<16, m<5, n<5 at [i,j,k,l]: (b[i,j + m - 2,k + n - 2,l] where 0 <= j + m - 2 < 41 and 0 <= k + n - 2 < 40 else 0bf16)
}
";
    let p = surject_ir::parse(text).unwrap();
    let o = show("windows", &p, 1e-3);
    insta::assert_snapshot!(surject_ir::print(&o.program));
    // Sums of floats in another order are the law's; the largest and the smallest are the same in any.
    assert!(o.report.taken_apart > 0);
    let options = Options { without: vec!["acc-acc".to_string()], ..Options::default() };
    let kept = optimise(&p, &options).unwrap();
    agree(&p, &kept.program, 1e-4);
    assert_eq!(kept.report.taken_apart, 0);
    let windows = |p: &surject_ir::Program| surject_ir::print(p).matches("  window").count();
    assert!((1..windows(&o.program)).contains(&windows(&kept.program)));
}
