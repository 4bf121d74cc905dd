//! Loops with triangular bounds: what a mask or a guard cuts off is not visited, and results are what they were.

use crate::harness::*;
use surject_codegen::{Target, Thresholds};
use surject_ir::{Buffer, Function, Program, Scalar};

fn parsed(text: &str) -> Function {
    let program: Program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    surject_ir::verify(&program).unwrap();
    program.functions.into_iter().next().unwrap()
}

fn targets() -> [Target; 3] {
    let eager = Target { thresholds: Thresholds::least(), ..Target::wide() };
    [half_lines(), Target::generic(), eager]
}

/// Compares with the interpreter on arguments that are changed before, and gives the plan of the first target.
fn checked(text: &str, change: &dyn Fn(usize, &mut Buffer)) -> String {
    let function = parsed(text);
    let params = function.params.iter().enumerate();
    let args = params.map(|(i, &p)| {
        let mut values = values(function.ty(p), i as u64 + 3);
        change(i, &mut values);
        values
    });
    let args: Vec<Buffer> = args.collect();
    check_on(function.clone(), 1e-4, Some(args.clone()), &targets());
    let program = Program { name: String::new(), functions: vec![function] };
    // The plan is that of a machine whose caches are known.
    let known = Target { vector_bytes: 32, masks_are_vectors: true, ..Target::generic() };
    lowered(&program, "main", &known).plan.to_string()
}

/// Masked attention of `n` positions that attend to `m`, under a condition on `l` and `q`.
fn attention((heads, n, m, d): (u64, u64, u64, u64), condition: &str, fill: &str) -> String {
    format!(
        "func main(x: f32[{heads},{n},{d}], y: f32[{heads},{m},{d}], z: f32[{heads},{m},{d}]) -> (o) {{
  s : f32[{heads},{n},{m}] =: over h<{heads}, q<{n}, l<{m}: select({condition}, (+ over h<{heads}, q<{n}, l<{m}, k<{d} at [h,q,l]: x[h,q,k] * y[h,l,k]) / 8.0f32, {fill})
  let t : f32[{heads},{n}] =:max over h<{heads}, q<{n}, l<{m} at [h,q]: s[h,q,l]
  let e : f32[{heads},{n},{m}] =: over h<{heads}, q<{n}, l<{m}: exp(s[h,q,l] - t[h,q])
  let c : f32[{heads},{n}] =:+ over h<{heads}, q<{n}, l<{m} at [h,q]: e[h,q,l]
  p : f32[{heads},{n},{m}] =: over h<{heads}, q<{n}, l<{m}: e[h,q,l] / c[h,q]
  o : f32[{heads},{n},{d}] =:+ over h<{heads}, q<{n}, k<{d}, l<{m} at [h,q,k]: p[h,q,l] * z[h,l,k]
}}
"
    )
}

const CAUSAL: &str = "index(l)i32 <= index(q)i32";

/// Sets some elements of a buffer.
fn set(buffer: &mut Buffer, elements: impl IntoIterator<Item = (usize, f64)>) {
    let dtype = buffer.dtype();
    elements.into_iter().for_each(|(i, x)| buffer.set(i, Scalar::from_f64(dtype, x)));
}

#[test]
fn causal_attention_visits_what_its_mask_leaves() {
    for (sizes, fill) in
        [((2, 192, 192, 64), "-1e30f32"), ((1, 160, 160, 80), "-inf_f32"), ((3, 193, 261, 72), "-1e9f32")]
    {
        let plan = checked(&attention(sizes, CAUSAL, fill), &|_, _| {});
        assert!(plan.matches("triangular").count() == 3, "{plan}");
    }
}

/// The other factor is not finite where weights are zero; whole rows are as low as the fill, or lower, or infinite, or
/// undefined: then the weights of masked positions are no zeros.
#[test]
fn masked_positions_count_where_their_weights_do() {
    let (n, d) = (128, 72);
    // Of several heads all is made by the kernel IR.
    let cases = ["-1e30f32", "-inf_f32", "1.0f32", "bits(0x7fc00000)f32"];
    for (fill, heads) in cases.into_iter().flat_map(|fill| [(fill, 1), (fill, 2)]) {
        let text = attention((heads, n, n, d), CAUSAL, fill);
        let (n, d) = (n as usize, d as usize);
        for special in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            // In the values, at the end and at the start of a sum, each in a column of its own; and in a row of the scores, by
            // what is asked.
            checked(&text, &|i, buffer| match i {
                0 => set(buffer, (0..d).map(|k| (40 * d + k, special))),
                2 => set(buffer, [(n - 1) * d + 3, 5 * d, (n / 2) * d + 1].map(|at| (at, special))),
                _ => {}
            });
        }
        // Scores of one row are -1e32, below the fill.
        checked(&text, &|i, buffer| match i {
            0 => set(buffer, (0..d).map(|k| (70 * d + k, if k == 0 { -1e32 } else { 0.0 }))),
            1 => set(buffer, (0..n).map(|l| (l * d, 8.0))),
            _ => {}
        });
    }
}

/// Windows, shifted diagonals, masks that leave the other side, several conditions.
#[test]
fn masks_of_other_forms() {
    let conditions = [
        "index(q)i32 > index(l)i32",
        "index(l)i32 < index(q)i32 + 20i32",
        "index(l)i32 + 30i32 <= index(q)i32",
        "index(l)i32 >= index(q)i32",
        "not(index(l)i32 > index(q)i32)",
        "and(index(l)i32 <= index(q)i32, index(l)i32 > index(q)i32 - 24i32)",
        "or(index(l)i32 > index(q)i32, index(l)i32 < 7i32)",
        "index(l)i32 == index(q)i32",
        "index(l)i32 != index(q)i32",
        "index(l)i32 <= 127i32 - index(q)i32",
    ];
    for condition in conditions {
        for fill in ["-inf_f32", "-1e9f32"] {
            checked(&attention((2, 128, 128, 16), condition, fill), &|_, _| {});
        }
    }
}

/// Products with a triangle or a band of a matrix, from either side, of several types; zero times what is not finite counts.
#[test]
fn products_of_triangles_and_bands() {
    let conditions = [
        "index(k)i32 <= index(i)i32",
        "index(k)i32 >= index(i)i32",
        "and(index(k)i32 <= index(i)i32 + 8i32, index(k)i32 >= index(i)i32 - 8i32)",
    ];
    for condition in conditions {
        for (dtype, zero) in [("f32", "0.0f32"), ("f64", "0.0f64"), ("i32", "0i32")] {
            let text = format!(
                "func main(a: {dtype}[130,150], b: {dtype}[150,96]) -> (o) {{
  t : {dtype}[130,150] =: over i<130, k<150: select({condition}, a[i,k], {zero})
  o : {dtype}[130,96] =:+ over i<130, j<96, k<150 at [i,j]: t[i,k] * b[k,j]
}}
"
            );
            let plan = checked(&text, &|_, _| {});
            assert!(plan.contains("`product` by its schedule, triangular"), "{condition} {dtype}: {plan}");
            if dtype != "i32" {
                for special in [f64::INFINITY, f64::NAN] {
                    checked(&text, &|i, buffer| {
                        if i == 1 {
                            set(buffer, [(40 * 96 + 5, special), (149 * 96 + 90, special)]);
                        }
                    });
                }
            }
        }
    }
}

/// Only a triangle of a product is kept.
#[test]
fn triangles_of_products() {
    for condition in ["index(j)i32 <= index(i)i32", "index(j)i32 > index(i)i32 + 5i32"] {
        let text = format!(
            "func main(a: f32[200,40], b: f32[40,170]) -> (o) {{
  o : f32[200,170] =: over i<200, j<170: select({condition}, (+ over i<200, j<170, k<40 at [i,j]: a[i,k] * b[k,j]), 0.0f32)
}}
"
        );
        checked(&text, &|i, buffer| {
            if i == 0 {
                set(buffer, [(3 * 40, f64::NAN), (150 * 40 + 2, f64::INFINITY)]);
            }
        });
    }
}

/// Statistics of rows of which a mask leaves the start: some of them end where it does.
#[test]
fn reductions_of_masked_rows() {
    for (op, fill) in
        [("max", "-inf_f32"), ("min", "7.0f32"), ("+", "0.0f32"), ("+", "0.25f32"), ("*", "1.0f32")]
    {
        for n in [512, 700] {
            let text = format!(
                "func main(x: f32[64,{n}]) -> (o) {{
  o : f32[64] =:{op} over i<64, j<{n} at [i]: select(index(j)i32 <= index(i)i32 * 3i32 + 9i32, x[i,j] * 0.1f32, {fill})
}}
"
            );
            checked(&text, &|_, buffer| set(buffer, [(5, f64::NAN), (20 * n as usize + 3, f64::INFINITY)]));
        }
    }
}

/// Attention of several heads is a chain of kernels of the kernel IR, all of which end at the diagonal.
#[test]
fn causal_chains_end_at_the_diagonal() {
    for sizes in [(3, 192, 192, 64), (2, 193, 193, 65)] {
        let function = parsed(&attention(sizes, CAUSAL, "-1e30f32"));
        let program = Program { name: String::new(), functions: vec![function] };
        let module = lowered(&program, "main", &half_lines());
        let plan = module.plan.to_string();
        let chain = plan.lines().find(|l| l.contains("fused")).unwrap_or_else(|| panic!("{plan}"));
        assert_eq!(
            (chain.matches("kernel `product`").count(), chain.matches("row [").count()),
            (2, 1),
            "{plan}"
        );
        assert!(!chain.contains("contraction"), "{plan}");
        assert_eq!(chain.matches(", triangular").count(), 3, "{plan}");
    }
}

/// Terms may have the memory of the scores, and results that of their operand: what a tail holds is read before it is written.
#[test]
fn tails_are_read_before_they_are_written() {
    for condition in [CAUSAL, "index(l)i32 >= index(q)i32", "index(l)i32 + 5i32 > index(q)i32"] {
        {
            let text = attention((2, 161, 203, 24), condition, "-1e9f32");
            // Weights, and what they are made of.
            for result in ["e", "p"] {
                let text = text.replace("-> (o)", &format!("-> ({result})"));
                let text: String = text
                    .lines()
                    .filter(|l| {
                        !l.trim_start().starts_with("o :")
                            && (result == "p" || !l.contains("let c") && !l.trim_start().starts_with("p :"))
                    })
                    .map(|l| l.replace(&format!("let {result} :"), &format!("{result} :")) + "\n")
                    .collect();
                checked(&text, &|_, _| {});
            }
        }
    }
}

/// Whether a factor is finite is found out where it counts, not in a branch that may not have run.
#[test]
fn branches_find_out_by_themselves() {
    let (n, d) = (128, 64);
    let of = |name: &str, from: &str| {
        format!(
            "{name} : f32[2,{n},{d}] =:+ over h<2, i<{n}, j<{d}, k<{n} at [h,i,j]: {from}[h,i,k] * z[h,k,j]"
        )
    };
    let weights = |name: &str, by: &str| {
        format!(
            "{name} : f32[2,{n},{n}] =: over h<2, i<{n}, k<{n}: select(index(k)i32 <= index(i)i32, x[h,i,k] * {by}, 0.0f32)"
        )
    };
    let text = format!(
        "func main(c: i32[], x: f32[2,{n},{n}], z: f32[2,{n},{d}]) -> (a, b) {{
  a : f32[2,{n},{d}] = if c {{
    branch() -> (p) {{
      {}
      {}
    }}
    branch() -> (q) {{
      q : f32[2,{n},{d}] =: over h<2, i<{n}, j<{d}: z[h,i,j]
    }}
  }}
  {}
  {}
}}
",
        weights("t", "2.0f32"),
        of("p", "t"),
        weights("u", "3.0f32"),
        of("b", "u"),
    );
    for branch in [0.0, 1.0] {
        checked(&text, &|i, buffer| match i {
            0 => set(buffer, [(0, branch)]),
            2 => set(buffer, [((n - 1) * d + 3, f64::INFINITY), ((2 * n - 2) * d, f64::NAN)]),
            _ => {}
        });
    }
    let program = Program { name: String::new(), functions: vec![parsed(&text)] };
    let plan = lowered(&program, "main", &half_lines()).plan.to_string();
    let marks = plan.lines().filter(|l| l.contains("+ [")).count();
    assert_eq!((plan.matches("kernel `product`").count(), marks), (2, 2), "{plan}");
}
