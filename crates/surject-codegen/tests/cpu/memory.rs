//! What shares memory, what runs once, and what a result may take over.

use crate::harness::*;
use surject_codegen::{LoweredModule, Target, Thresholds};
use surject_ir::{DType, Program, Scalar};

/// Lowers a program, runs it against the interpreter, and gives its module for a fixed machine.
fn module(text: &str) -> LoweredModule {
    let program: Program = surject_ir::parse(text).expect("the program is well formed");
    check_with(program.functions[0].clone(), 1e-5, None);
    lowered(&program, "main", &Target::wide())
}

/// The plan, without what depends on the machine.
fn plan(text: &str) -> String {
    module(text).plan.to_string()
}

#[test]
fn a_scan_carries_nothing_along() {
    let plan = plan(
        "func main(xs: f32[7,64], w: f32[64], h0: f32[64]) -> (h, ys) {
           zero : i32[] =: 0i32
           start : f32[7,64] =: over i<7, j<64: 0.0f32
           n : i32[], v : f32[64], h : f32[64], ys : f32[7,64] = while (zero, w, h0, start) {
             cond(i: i32[], a: f32[64], c: f32[64], o: f32[7,64]) -> (more) { more : i1[] =: i < 7i32 }
             body(j: i32[], b: f32[64], d: f32[64], p: f32[7,64]) -> (next, b, e, q) {
               none : i32[] =: 0i32
               x : f32[1,64] = call dynamic_slice{sizes=[1,64]}(xs, j, none)
               e : f32[64] =: over k<64: tanh(d[k] * b[k] + x[0,k])
               y : f32[1,64] =: over i<1, k<64: e[k]
               q : f32[7,64] = call dynamic_update_slice(p, y, j, none)
               next : i32[] =: j + 1i32
             }
           }
         }",
    );
    insta::assert_snapshot!(plan);
}

/// A recurrence of one number: all that an iteration runs is inlined, in every part, and what it carries has memory of
/// its own.
#[test]
fn small_kernels_of_loops_are_inlined() {
    let found = module(
        "func main(xs: f32[300], w: f32[300]) -> (ys, z) {
           zero : i32[] =: 0i32
           first : f32[] =: 0.5f32
           start : f32[300] =: over i<300: 0.0f32
           n : i32[], c : f32[], ys : f32[300] = while (zero, first, start) {
             cond(i: i32[], b: f32[], o: f32[300]) -> (more) { more : i1[] =: i < 300i32 }
             body(j: i32[], d: f32[], p: f32[300]) -> (next, e, q) {
               x : f32[1] = call dynamic_slice{sizes=[1]}(xs, j)
               e : f32[] =: max(d * 0.5f32, x[0])
               y : f32[1] =: over i<1: e[]
               q : f32[300] = call dynamic_update_slice(p, y, j)
               next : i32[] =: j + 1i32
             }
           }
           z : f32[300] =: over i<300: tanh(w[i]) + c[]
         }",
    );
    let inlined = found.text.matches("alwaysinline").count();
    assert!(inlined >= 4, "{}", found.text);
    let entry = found.parts.iter().find(|p| p.text.contains("@entry(")).unwrap();
    assert_eq!(entry.text.matches("alwaysinline").count(), inlined);
    assert!(entry.text.matches(" x i8 {alignment = 8 : i64}").count() >= 2, "{}", entry.text);
}

#[test]
fn values_that_change_places_are_copied() {
    let plan = plan(
        "func main(a0: f32[8], b0: f32[8], c0: f32[8]) -> (a, b, c) {
           zero : i32[] =: 0i32
           n : i32[], a : f32[8], b : f32[8], c : f32[8] = while (zero, a0, b0, c0) {
             cond(i: i32[], a1: f32[8], b1: f32[8], c1: f32[8]) -> (more) { more : i1[] =: i < 5i32 }
             body(j: i32[], a2: f32[8], b2: f32[8], c2: f32[8]) -> (next, b2, c2, sum) {
               sum : f32[8] =: over k<8: a2[k] + b2[k] * c2[7 - k]
               next : i32[] =: j + 1i32
             }
           }
         }",
    );
    insta::assert_snapshot!(plan);
}

#[test]
fn what_a_loop_repeats_runs_before_it() {
    let plan = plan(
        "func main(w: f32[16,16], h0: f32[16]) -> (h, u) {
           zero : i32[] =: 0i32
           n : i32[], h : f32[16], u : f32[16] = while (zero, h0, h0) {
             cond(i: i32[], c: f32[16], o: f32[16]) -> (more) {
               limit : i32[] =: 3i32
               more : i1[] =: i < limit
             }
             body(j: i32[], d: f32[16], p: f32[16]) -> (next, e, d) {
               r : f32[16] =:+ over i<16, k<16 at [i]: w[k,i]
               m : i32[], g : f32[16] = while (zero, d) {
                 cond(a: i32[], b: f32[16]) -> (less) { less : i1[] =: a < 2i32 }
                 body(s: i32[], t: f32[16]) -> (s2, t2) {
                   q : f32[16] =: over k<16: exp(r[k]) + w[0,k]
                   t2 : f32[16] =: over k<16: t[15 - k] * 0.5f32 + q[k]
                   s2 : i32[] =: s + 1i32
                 }
               }
               e : f32[16] =: over k<16: tanh(g[k])
               next : i32[] =: j + 1i32
             }
           }
         }",
    );
    insta::assert_snapshot!(plan);
}

#[test]
fn what_depends_on_literals_alone_runs_once() {
    let literal: Vec<String> = (0..48).map(|i| format!("{}.5", i % 7)).collect();
    let plan = plan(&format!(
        "func main(x: f32[4,6]) -> (y, z) {{
           w : f32[6,8] = constant [{}]
           t : f32[8,6] =: over i<8, j<6: exp(w[j,i])
           s : f32[8] =:+ over i<8, j<6 at [i]: t[i,j]
           y : f32[4,8] =:+ over i<4, j<8, k<6 at [i,j]: x[i,k] * t[j,k]
           z : f32[8] =: over i<8: s[i] * x[0,0]
         }}",
        literal.join(", ")
    ));
    insta::assert_snapshot!(plan);
}

#[test]
fn results_take_over_arguments() {
    // The gradient step reads a parameter where it writes it; `y` reads `x` backwards; `z` is an argument.
    let found = module(
        "func main(w: f32[40], g: f32[40], x: f32[40], v: f32[40]) -> (w2, y, z, s) {
           w2 : f32[40] =: over i<40: w[i] - 0.1f32 * g[i]
           y : f32[40] =: over i<40: x[39 - i] + 1.0f32
           z : f32[40] =: over i<40: v[i]
           s : f32[40] =: over i<40: x[i] * y[i]
         }",
    );
    insta::assert_snapshot!(format!("{:?}\n{}", found.donations, found.plan));
    // One that is read after the result is written keeps its memory.
    let found = module(
        "func main(w: f32[40]) -> (a, b) {
           a : f32[40] =: over i<40: exp(w[i])
           b : f32[40] =: over i<40: w[39 - i] * a[i]
         }",
    );
    assert_eq!(found.donations, [None, None]);
    let found = module("func main(w: f32[40]) -> (w, w) {\n}\n");
    assert_eq!(found.donations, [Some(0), None]);
}

/// A large result that is an argument, a literal or another result is stored by every processor.
#[test]
fn large_results_that_nothing_stores() {
    let found = module(
        "func main(x: f32[600,600], v: f32[40]) -> (x, y, y, v, x) {
           y : f32[600,600] =: over i<600, j<600: x[j,i] + 1.0f32
         }",
    );
    insta::assert_snapshot!(format!("{:?}\n{}", found.donations, found.plan));
    // Where one has the memory of the argument nothing is moved.
    assert_eq!(found.text.matches("llvm.icmp \"ne\"").count(), 2, "{}", found.text);
}

#[test]
fn a_chain_needs_one_buffer() {
    let found = module(
        "func main(x: f32[300,70]) -> (y) {
           a : f32[300,70] =: over i<300, j<70: exp(x[i,j])
           s : f32[300] =:max over i<300, j<70 at [i]: a[i,j]
           b : f32[300,70] =: over i<300, j<70: a[i,j] - s[i]
           m : f32[300] =:+ over i<300, j<70 at [i]: b[i,j]
           c : f32[300,70] =: over i<300, j<70: b[i,j] * m[i]
           y : f32[70] =:+ over i<300, j<70 at [j]: c[i,j]
         }",
    );
    let matrix = 300 * 70 * 4;
    assert!(found.arena_bytes < matrix * 3 / 2, "{}", found.plan);
}

#[test]
fn results_lend_their_memory() {
    let plan = plan(
        "func main(x: f32[64,64]) -> (s, r) {
           a : f32[64,64] =: + over i<64, j<64, k<64 at [i,j]: x[i,k] * x[k,j]
           s : f32[] =: + over i<64, j<64 at []: a[i,j] * a[j,i]
           r : f32[64,64] =: over i<64, j<64: x[j,i] * 2.0f32 + s[]
         }",
    );
    insta::assert_snapshot!(plan);
}

#[test]
fn a_large_tensor_is_read_before_the_next_is_made() {
    let module = module(
        "func main(x: f32[64,96]) -> (s, t) {
           a : f32[64,64] =: + over i<64, j<64, k<96 at [i,j]: x[i,k] * x[j,k]
           b : f32[64,64] =: + over i<64, j<64, k<96 at [i,j]: tanh(x[i,k]) * x[j,k]
           s : f32[] =: + over i<64, j<64 at []: a[i,j] * a[j,i]
           t : f32[] =: + over i<64, j<64 at []: b[i,j] * b[j,i]
         }",
    );
    // The two are never there at the same time.
    assert!(module.arena_bytes < 64 * (64 + 96 + 64) * 4, "{}", module.plan);
    insta::assert_snapshot!(module.plan);
}

#[test]
fn a_row_is_written_where_its_sum_was_read() {
    // The gradient of a softmax: every row of `e` is summed, and then overwritten.
    let plan = plan(
        "func main(x: f32[90,70], g: f32[90,70]) -> (s, y) {
           e : f32[90,70] =: over i<90, j<70: exp(x[i,j])
           s : f32[70,70] =: + over j<70, k<70, i<90 at [j,k]: e[i,j] * e[i,k]
           let t : f32[90] =: + over i<90, k<70 at [i]: e[i,k] * g[i,k]
           d : f32[90,70] =: over i<90, j<70: (g[i,j] - t[i]) * e[i,j]
           y : f32[70] =: + over i<90, j<70 at [j]: d[i,j]
         }",
    );
    insta::assert_snapshot!(plan);
    // Not where the sum is that of a column.
    let found = module(
        "func main(x: f32[70,70]) -> (s, y) {
           e : f32[70,70] =: over i<70, j<70: exp(x[i,j])
           s : f32[70,70] =: + over j<70, k<70, i<70 at [j,k]: e[i,j] * e[i,k]
           let t : f32[70] =: + over i<70, k<70 at [i]: e[k,i] * x[k,i]
           d : f32[70,70] =: over i<70, j<70: t[i] * e[i,j]
           y : f32[70] =: + over i<70, j<70 at [j]: d[i,j]
         }",
    );
    assert!(found.plan.to_string().contains("d@result0+0 <- x@arg0, e@0"), "{}", found.plan);
}

#[test]
fn a_chain_ends_where_it_leaves_too_much_behind() {
    // Two layers of a network and the gradient of the first: `b` could follow `a` row by row, but then both are there
    // together.
    let text = "func main(x: f32[512,700], w: f32[700,512], v: f32[512,12]) -> (r, s) {
       a : f32[512,512] =: over i<512, j<512: tanh((+ over i<512, j<512, k<700 at [i,j]: x[i,k] * w[k,j]))
       c : f32[512,12] =: + over i<512, j<12, k<512 at [i,j]: a[i,k] * v[k,j]
       b : f32[512,512] =: over i<512, j<512: (+ over i<512, j<512, k<12 at [i,j]: c[i,k] * v[j,k]) * a[i,j]
       r : f32[700,512] =: + over i<700, j<512, k<512 at [i,j]: x[k,i] * b[k,j]
       s : f32[512,12] =: + over i<512, j<12, k<512 at [i,j]: a[k,i] * c[k,j]
     }";
    let program = surject_ir::parse(text).expect("the program is well formed");
    let found = lowered(&program, "main", &Target::wide());
    // Beside one of them there is the copy of a factor.
    assert!(found.arena_bytes < 512 * 512 * 4 * 19 / 8, "{}", found.plan);
}

/// What an iteration makes of all of the value before has a place of its own, and the two change places: after an even
/// and an odd number of iterations, and after none, the value is where it belongs.
#[test]
fn large_values_of_loops_change_places() {
    let text = |rounds: usize| {
        format!(
            "func main(x: f32[64,40], w: f32[64,40]) -> (a, b, s) {{
               zero : i32[] =: 0i32
               n : i32[], a : f32[64,40], b : f32[64,40] = while (zero, x, w) {{
                 cond(i: i32[], a1: f32[64,40], b1: f32[64,40]) -> (more) {{ more : i1[] =: i < {rounds}i32 }}
                 body(j: i32[], a2: f32[64,40], b2: f32[64,40]) -> (next, a3, b3) {{
                   a3 : f32[64,40] =: over p<64, q<40: a2[63 - p,q] + 0.5f32 * b2[p,39 - q]
                   b3 : f32[64,40] =: over p<64, q<40: b2[63 - p,39 - q] * 0.75f32
                   next : i32[] =: j + 1i32
                 }}
               }}
               s : f32[64,40] =: over p<64, q<40: a[p,q] - b[63 - p,q]
             }}"
        )
    };
    let plans = [0, 1, 2, 5].map(|rounds| plan(&text(rounds)));
    insta::assert_snapshot!(plans[3]);
}

/// The weights of a recurrence lie in panels, which are filled before the loop; those that an iteration changes do not.
#[test]
fn factors_that_loops_leave_alone_are_stored_before_them() {
    let text = |weights: &str| {
        format!(
            "func main(h0: f32[32,128], w: f32[128,512]) -> (h) {{
               zero : i32[] =: 0i32
               n : i32[], h : f32[32,128], last : f32[128,512] = while (zero, h0, w) {{
                 cond(i: i32[], h1: f32[32,128], w1: f32[128,512]) -> (more) {{ more : i1[] =: i < 5i32 }}
                 body(j: i32[], h2: f32[32,128], w2: f32[128,512]) -> (next, h3, {weights}) {{
                   y : f32[32,512] =:+ over p<32, q<512, k<128 at [p,q]: h2[p,k] * w2[k,q]
                   h3 : f32[32,128] =: over p<32, q<128: min(4.0f32, max(-4.0f32, 0.01f32 * (y[p,q] - y[p,q + 384])))
                   w3 : f32[128,512] =: over k<128, q<512: w2[k,q] * 0.5f32
                   next : i32[] =: j + 1i32
                 }}
               }}
             }}"
        )
    };
    let [same, changed] = ["w2", "w3"].map(|weights| plan(&text(weights)));
    let before = |plan: &str| plan.split("while").next().is_some_and(|before| before.contains("<- w2@"));
    assert!(before(&same) && !before(&changed), "{same}\n{changed}");
}

/// Weights of a transposed convolution have a condition that asks about positions. They are stored without it, once for all of
/// these, and what it leaves out has no part in a sum, infinite weights included.
#[test]
fn stored_factors_have_no_conditions_on_other_loops() {
    let inside = "where 0 <= k - n + 1 < 20 and 0 <= j - m + 1 < 20 else 0.0f32";
    let text = format!(
        "func main(x: f32[2,20,20,64], w: f32[3,3,64,64]) -> (y) {{
           y : f32[2,20,20,64] =:+ over i<2, j<20, k<20, l<64, m<3, n<3, o<64 at [i,j,k,l]:
             (w[m,n,l,o] {inside}) * (x[i,j - m + 1,k - n + 1,o] {inside})
         }}"
    );
    let plan = plan(&text);
    assert!(plan.contains("transposition [3 3 64 64]"), "{plan}");
    let program: Program = surject_ir::parse(&text).expect("the program is well formed");
    let f = program.functions[0].clone();
    let [x, mut w] = [0, 1].map(|param| values(f.ty(f.params[param]), 7 + param as u64));
    // The first of the nine places: no row of the image but the last has it outside.
    w.set(5, Scalar::from_f64(DType::F32, f64::INFINITY));
    check_with(f, 1e-5, Some(vec![x, w]));
}

/// What is one byte again and again, of elements of all sizes, in one piece and by several tasks.
#[test]
fn what_is_filled_in() {
    for dtype in [DType::I1, DType::I8, DType::BF16, DType::F32, DType::I64, DType::F64] {
        for sizes in [&[0u64][..], &[1], &[63, 5], &[700, 300]] {
            for value in [0, -1] {
                let (mut f, _) = function(&[]);
                let all = f.fields.constant(&space(sizes), Scalar::from_i128(dtype, value));
                result(&mut f, all);
                check(f);
            }
        }
    }
}

/// Rows that come from tensors as they lie, side by side and one behind the other, with what is filled in around them; and
/// what no run is: turned around, or too short.
#[test]
fn what_is_moved_in_runs() {
    let eager = Target { thresholds: Thresholds::least(), ..Target::wide() };
    let targets = [eager, Target { has_non_temporal_stores: true, ..eager }, Target { threads: 1, ..eager }];
    for (dtype, neutral, zero) in [
        ("f32", "-0.0f32", "0.0f32"),
        ("bf16", "-0.0bf16", "0.0bf16"),
        ("i8", "0i8", "0i8"),
        ("f64", "-0.0f64", "0.0f64"),
    ] {
        let beside = format!(
            "(x[i,j] where 0 <= j < 800 else {neutral}) + (x[-i + 6,j - 800] where 0 <= j - 800 < 800 else {neutral})"
        );
        let framed = format!("(x[i - 1,j - 400] where 0 <= i - 1 < 7 and 0 <= j - 400 < 800 else {zero})");
        for (rows, length, value) in [
            (7, 700, "x[i,j + 100]"),
            (7, 1600, beside.as_str()),
            (9, 1300, framed.as_str()),
            (7, 800, "x[i,-j + 799]"),
            (7, 20, "x[i,j]"),
        ] {
            let text = format!(
                "func main(x: {dtype}[7,800]) -> (y) {{
  y : {dtype}[{rows},{length}] =: over i<{rows}, j<{length}: {value}
}}
"
            );
            let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            check_on(program.functions[0].clone(), 0.0, None, &targets);
        }
    }
}

/// An argument that is a result is copied, a large one in chunks, of which the last is not full.
#[test]
fn an_argument_that_is_a_result() {
    for (length, chunks) in [(1000, false), (300_001, true)] {
        let module = module(&format!("func main(x: f32[{length}]) -> (x) {{\n}}\n"));
        assert_eq!(module.text.contains("scf.for"), chunks, "{}", module.text);
    }
}
