//! The search for a plan: more rules never end with a dearer plan, and the same program always has the same.
mod support;
use support::*;
use surject_egraph::{Exactness, Optimised, Options, laws, optimise};
use surject_ir::Program;

/// A step of an LSTM: two products, four gates that are slices of their sum.
fn lstm(batch: u64, inputs: u64, cells: u64) -> Program {
    let gates = 4 * cells;
    let gate = |name: &str, at: u64| {
        format!("  {name} : f32[{batch},{cells}] =: over i<{batch}, j<{cells}: z[i,j + {}]\n", at * cells)
    };
    let (input, forget, cell, output) = (gate("gi", 0), gate("gf", 1), gate("gg", 2), gate("go", 3));
    let text = format!(
        "func main(x: f32[{batch},{inputs}], h: f32[{batch},{cells}], c: f32[{batch},{cells}], wi: f32[{inputs},{gates}], wh: f32[{cells},{gates}], b: f32[{gates}]) -> (hn, cn) {{
  p : f32[{batch},{gates}] =:+ over i<{batch}, j<{gates}, k<{inputs} at [i,j]: x[i,k] * wi[k,j]
  q : f32[{batch},{gates}] =:+ over i<{batch}, j<{gates}, k<{cells} at [i,j]: h[i,k] * wh[k,j]
  s : f32[{batch},{gates}] =: over i<{batch}, j<{gates}: p[i,j] + q[i,j]
  z : f32[{batch},{gates}] =: over i<{batch}, j<{gates}: s[i,j] + b[j]
{input}{forget}{cell}{output}  si : f32[{batch},{cells}] =: over i<{batch}, j<{cells}: logistic(gi[i,j])
  sf : f32[{batch},{cells}] =: over i<{batch}, j<{cells}: logistic(gf[i,j])
  so : f32[{batch},{cells}] =: over i<{batch}, j<{cells}: logistic(go[i,j])
  tg : f32[{batch},{cells}] =: over i<{batch}, j<{cells}: tanh(gg[i,j])
  cn : f32[{batch},{cells}] =: over i<{batch}, j<{cells}: sf[i,j] * c[i,j] + si[i,j] * tg[i,j]
  hn : f32[{batch},{cells}] =: over i<{batch}, j<{cells}: so[i,j] * tanh(cn[i,j])
}}
"
    );
    surject_ir::parse(&text).unwrap()
}

/// What the extracted plans cost.
fn cost(o: &Optimised) -> f64 {
    o.report.blocks.iter().map(|b| b.planned).sum()
}

#[test]
fn more_laws_end_no_dearer() {
    let programs = [
        ("lstm", lstm(32, 64, 128)),
        ("mlp", mlp(32, 64, 48, 10)),
        ("softmax", softmax(64, 128)),
        ("layernorm", layernorm(64, 128)),
        ("attention", attention(2, 32, 64, 4)),
    ];
    let names: Vec<String> = laws().unwrap().rules.into_iter().map(|r| r.name).collect();
    for (name, program) in &programs {
        let all = cost(&optimise(program, &Options::default()).unwrap());
        for law in &names {
            let options = Options { without: vec![law.clone()], ..Options::default() };
            let fewer = cost(&optimise(program, &options).unwrap());
            assert!(all <= fewer * (1.0 + 1e-6), "{name}: {all:.4e}, without `{law}` {fewer:.4e}");
        }
    }
}

const RULES: &str = "
rule div-to-mul rounds finite no-overflow
  (/ ?x[k] ?c) => (* ?x[k] (/ 1 ?c))
rule sum-of-scaled reassociates finite
  (sum [k] (* ?c ?x[k])) => (* ?c (sum [k] ?x[k]))
rule matmul-over-add reassociates finite
  (sum [k] (* ?a[k] (+ ?b[k] ?c[k]))) <=> (+ (sum [k] (* ?a[k] ?b[k])) (sum [k] (* ?a[k] ?c[k])))
rule div-out-of-sum reassociates finite
  (sum [k] (/ ?x[k] ?c)) => (/ (sum [k] ?x[k]) ?c)
rule mul-div reassociates
  (* ?a (/ ?b ?c)) => (/ (* ?a ?b) ?c)
rule max-of-shifted exact finite no-overflow
  (max [k] (+ ?x[k] ?c)) => (+ (max [k] ?x[k]) ?c)
rule square rounds finite
  (sum [k] (* (- ?x[k] ?m) (- ?x[k] ?m))) => (sum [k] (+ (* ?x[k] ?x[k]) (- (* ?m ?m) (* 2 (* ?m ?x[k])))))
";

/// What one rule gains alone all together gain.
#[test]
fn more_rules_end_no_dearer() {
    let all = surject_rules::parse("all.rules", RULES).unwrap();
    let with = |rules: Vec<surject_rules::RuleFile>| Options {
        rules,
        verify_rules: false,
        exactness: Exactness::Rounds,
        ..Options::default()
    };
    for (name, program) in [
        ("softmax", softmax(64, 128)),
        ("layernorm", layernorm(64, 128)),
        ("attention", attention(2, 32, 64, 4)),
        ("lstm", lstm(32, 64, 128)),
    ] {
        let together = cost(&optimise(&program, &with(vec![all.clone()])).unwrap());
        let none = cost(&optimise(&program, &with(Vec::new())).unwrap());
        assert!(together <= none * (1.0 + 1e-6), "{name}: {together:.4e}, without rules {none:.4e}");
        for rule in &all.rules {
            let file = surject_rules::RuleFile { rules: vec![rule.clone()], ..all.clone() };
            let alone = cost(&optimise(&program, &with(vec![file])).unwrap());
            let rule = &rule.name;
            assert!(together <= alone * (1.0 + 1e-6), "{name}: {together:.4e}, `{rule}` alone {alone:.4e}");
        }
    }
}

/// The search is bounded by counts: the same program has the same plan, also where the bound cuts the search short.
#[test]
fn the_same_program_has_the_same_plan() {
    for program in [lstm(4, 6, 8), blocks(2, 2, 4, 8, 2)] {
        for search_steps in [20_000_000, 3_000, 50] {
            let options = Options { search_steps, ..Options::default() };
            let plans: Vec<String> = (0..3)
                .map(|_| {
                    let o = optimise(&program, &options).unwrap();
                    agree(&program, &o.program, 1e-4);
                    surject_ir::print(&o.program)
                })
                .collect();
            assert!(plans.windows(2).all(|p| p[0] == p[1]), "{search_steps} steps");
        }
    }
}

/// The steps of a long chain of rounds, as random numbers are made: linear in its length.
#[test]
fn chains_take_steps_in_their_length() {
    let chain = |rounds: usize| {
        let mut text = String::from("func main(a0: u32[64], b0: u32[64], k: u32[]) -> (a, b) {\n");
        for i in 0..rounds {
            let (n, r) = (i + 1, 5 + 3 * (i % 7));
            text += &format!(
                "  a{n} : u32[64] =: over i<64: a{i}[i] + b{i}[i]
  l{n} : u32[64] =: over i<64: shl(b{i}[i], {r}u32)
  r{n} : u32[64] =: over i<64: shr_logical(b{i}[i], {}u32)
  o{n} : u32[64] =: over i<64: or(l{n}[i], r{n}[i])
  b{n} : u32[64] =: over i<64: xor(a{n}[i], o{n}[i]) + k[]
",
                32 - r
            );
        }
        text += &format!(
            "  a : u32[64] =: over i<64: a{rounds}[i]\n  b : u32[64] =: over i<64: b{rounds}[i]\n}}\n"
        );
        surject_ir::parse(&text).unwrap()
    };
    let kernels = |rounds: usize| {
        let o = optimise(&chain(rounds), &Options::default()).unwrap();
        o.report.blocks.iter().map(|b| b.kernels_tried).sum::<usize>()
    };
    let (short, long) = (kernels(20), kernels(80));
    assert!(long <= 8 * short.max(16), "{short} kernels tried for 20 rounds, {long} for 80");
}

/// Loops that differ in nothing but the variables they use are optimised once; one of them uses a table that is known to
/// be one value everywhere, and is another.
#[test]
fn loops_that_are_the_same_are_optimised_once() {
    let over = |n: usize, table: &str| {
        format!(
            "  zero{n} : i32[] =: 0i32
  a{n} : f32[6], n{n} : i32[] = while (x{n}, zero{n}) {{
    cond(p{n}: f32[6], c{n}: i32[]) -> (less{n}) {{
      less{n} : i1[] =: c{n} < k[]
    }}
    body(q{n}: f32[6], j{n}: i32[]) -> (next{n}, more{n}) {{
      s{n} : f32[6] =: over i<6: q{n}[i] * {table}[i]
      e{n} : f32[6] =: over i<6: tanh(s{n}[i])
      m{n} : f32[] =:+ over i<6 at []: e{n}[i]
      next{n} : f32[6] =: over i<6: e{n}[i] - m{n}[] / 6.0f32
      more{n} : i32[] =: j{n} + 1i32
    }}
  }}
"
        )
    };
    let text = format!(
        "func main(x0: f32[6], x1: f32[6], x2: f32[6], x3: f32[6], t: f32[6], u: f32[6], k: i32[]) -> (a0, a1, a2, a3) {{
  one : f32[6] =: over i<6: 1.0f32
{}{}{}{}}}
",
        over(0, "t"),
        over(1, "u"),
        over(2, "one"),
        over(3, "t")
    );
    let program = surject_ir::parse(&text).unwrap();
    let o = optimise(&program, &Options::default()).unwrap();
    let bodies: Vec<_> = o.report.blocks.iter().filter(|b| b.place.ends_with("while body")).collect();
    assert_eq!(bodies.len(), 4, "{}", o.report);
    let floats = |seed: u64| {
        let values: Vec<surject_ir::Scalar> = (0..6)
            .map(|i| {
                surject_ir::Scalar::from_f64(surject_ir::DType::F32, ((seed * 7 + i * 3) % 11) as f64 / 5.0)
            })
            .collect();
        surject_ir::Buffer::from_scalars(surject_ir::DType::F32, &[6], &values).unwrap()
    };
    let mut args: Vec<surject_ir::Buffer> = (0..6).map(floats).collect();
    let three = surject_ir::Scalar::from_i128(surject_ir::DType::I32, 3);
    args.push(surject_ir::Buffer::from_scalars(surject_ir::DType::I32, &[], &[three]).unwrap());
    let run = |p: &Program| surject_ir::interp::run(p, "main", &args).unwrap();
    for (e, f) in run(&program).iter().zip(&run(&o.program)) {
        assert!(difference(e, f) <= 1e-5, "{e:?} {f:?}");
    }
    // The product with ones is gone from one body and stays in the others.
    let text = surject_ir::print(&o.program);
    assert_eq!(text.matches(" * t[").count() + text.matches("t[i] *").count(), 2, "{text}");
    assert_eq!(text.matches(" * u[").count() + text.matches("u[i] *").count(), 1, "{text}");
    assert!(!text.contains("one["), "{text}");
}
