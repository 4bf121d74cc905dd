//! At the default no finite result becomes infinite, NaN or zero, and no zero changes its sign: programs with values at the
//! ends of their types, before and after.

use surject_egraph::{Exactness, Options, optimise};
use surject_ir::testing::Rng;
use surject_ir::{Buffer, Program, Scalar, interp, parse};

fn program(text: &str) -> Program {
    parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn run(program: &Program, args: &[Buffer]) -> Vec<Vec<f64>> {
    let results = interp::run(program, "main", args).unwrap();
    results.iter().map(|r| (0..r.len()).map(|i| r.get(i).as_f64()).collect()).collect()
}

fn optimised(program: &Program, exactness: Exactness) -> Program {
    optimise(program, &Options { exactness, ..Options::default() }).unwrap().program
}

/// Arguments of these values, one list for each parameter.
fn arguments(program: &Program, values: &[Vec<f64>]) -> Vec<Buffer> {
    let main = program.main().unwrap();
    let buffer = |(&param, values): (&surject_ir::Var, &Vec<f64>)| {
        let ty = main.ty(param);
        let shape: Vec<usize> = ty.space.extents().iter().map(|e| e.as_const().unwrap() as usize).collect();
        let scalars: Vec<Scalar> = values.iter().map(|&x| Scalar::from_f64(ty.dtype, x)).collect();
        Buffer::from_scalars(ty.dtype, &shape, &scalars).unwrap()
    };
    main.params.iter().zip(values).map(buffer).collect()
}

/// The results before and after, bit for bit but for what another order of sums rounds.
fn same(text: &str, values: &[Vec<f64>]) {
    let program = program(text);
    let args = arguments(&program, values);
    let before = run(&program, &args);
    let after = optimised(&program, Exactness::Reassociates);
    let now = run(&after, &args);
    for (x, y) in before.iter().flatten().zip(now.iter().flatten()) {
        let close = (x - y).abs() <= 1e-5 * x.abs() && x.is_sign_negative() == y.is_sign_negative();
        assert!(
            close || x.is_nan() && y.is_nan() || x == y && *x != 0.0,
            "{x:e} {y:e}\n{}",
            surject_ir::print(&after)
        );
    }
}

/// The scaled norm, a factor that makes a sum finite, means of huge values.
#[test]
fn sums_that_a_factor_keeps_finite() {
    let norm = "func main(x: f32[3]) -> (y) {
  m : f32[] =:max over i<3 at []: abs(x[i])
  s : f32[] =:+ over i<3 at []: x[i] / m[] * (x[i] / m[])
  y : f32[] =: m[] * sqrt(s[])
}
";
    same(norm, &[vec![3e30, 4e30, 1e29]]);
    same(norm, &[vec![3e-30, -4e-30, 1e-31]]);
    let flag = "func main(x: f32[2], s: f32[]) -> (y) {\n  y : f32[] =:+ over i<2 at []: x[i] * s[]\n}\n";
    same(flag, &[vec![3e38, 3e38], vec![1e-10]]);
    let mean = "func main(x: f32[64]) -> (y, z) {
  y : f32[] =:+ over i<64 at []: x[i] / 64.0f32
  z : f32[] =:+ over i<64 at []: x[i] * 0.015625f32
}
";
    same(mean, &[vec![2e37; 64]]);
}

/// Where it is asked for, any factor leaves a sum; and by default one that cannot make it larger, or a sum that is small.
#[test]
fn what_still_leaves_a_sum() {
    let sum = |term: &str| {
        format!(
            "func main(x: f32[300,200], g: f32[300]) -> (y) {{\n  y : f32[300] =:+ over i<300, j<200 at [i]: {term}\n}}\n"
        )
    };
    let moved = |term: &str, exactness| {
        let after = surject_ir::print(&optimised(&program(&sum(term)), exactness));
        // A product or quotient that stands after the sum.
        !after.contains(&format!("at [i]: {term}"))
    };
    for term in ["x[i,j] * 3.0f32", "x[i,j] * 0.25f32", "tanh(x[i,j]) * tanh(g[i])", "x[i,j] * g[i]"] {
        assert!(moved(term, Exactness::Overflows), "{term}");
    }
    assert!(moved("x[i,j] * 3.0f32", Exactness::Reassociates));
    assert!(moved("tanh(x[i,j]) * tanh(g[i])", Exactness::Reassociates));
    assert!(moved("x[i,j] * (1.0f32 + logistic(g[i]))", Exactness::Reassociates));
    // 0 · inf among the terms is NaN, and is NaN afterwards.
    assert!(!moved("tanh(x[i,j]) * g[i]", Exactness::Reassociates));
    assert!(!moved("x[i,j] * 0.25f32", Exactness::Reassociates));
    assert!(!moved("x[i,j] * g[i]", Exactness::Reassociates));
}

/// A sum starts from +0.0, as read or as it stands, over one term, none or several.
#[test]
fn zeros_keep_their_signs() {
    let texts = [
        // Along injective maps, with positions that nothing reaches.
        "func main(x: f32[3]) -> (y) {\n  y : f32[5] =:+ over i<3 at [i + 1]: x[i]\n}\n",
        "func main(x: f32[3]) -> (y) {\n  y : f32[7] =:+ over i<3 at [3*i]: x[i]\n}\n",
        // Bijective, an axis of one, nothing at all.
        "func main(x: f32[3]) -> (y) {\n  y : f32[3] =:+ over i<3 at [2 - i]: x[i]\n}\n",
        "func main(x: f32[3]) -> (y) {\n  y : f32[3] =:+ over i<3, j<1 at [i]: x[i]\n}\n",
        "func main(x: f32[3]) -> (y) {\n  y : f32[3] =:+ over i<3, j<0 at [i]: x[i]\n}\n",
        // Read again, and added to zeros.
        "func main(x: f32[3]) -> (y) {\n  s : f32[] =:+ over i<3 at []: x[i]\n  y : f32[] =: 1.0f32 / s[]\n}\n",
        "func main(x: f32[3]) -> (y) {\n  y : f32[3] =: over i<3: x[i] + 0.0f32\n}\n",
        "func main(x: f32[3]) -> (y) {\n  y : f32[3] =: over i<3: exp(x[i]) * 0.0f32 + 0.0f32\n}\n",
        "func main(x: f32[3]) -> (y) {\n  s : f32[3] =:+ over i<3 at [2 - i]: x[i]\n  y : f32[] =:+ over i<3 at []: (s[i] + 0.0f32) * x[i]\n}\n",
        // What moves is not added to anything.
        "func main(x: f32[3]) -> (y) {\n  y : f32[5] =: over i<5: (x[i - 1] where 0 <= i - 1 < 3 else 0.0f32)\n}\n",
        "func main(x: f32[3]) -> (y) {\n  y : f32[3] =:max over i<3 at [2 - i]: x[i]\n}\n",
        // Factors of both signs.
        "func main(x: f32[3]) -> (y) {\n  y : f32[] =:+ over i<3 at []: x[i] * -2.0f32\n}\n",
        "func main(x: f32[3]) -> (y) {\n  y : f32[] =:+ over i<3 at []: neg(x[i]) * 2.0f32\n}\n",
    ];
    for text in texts {
        for x in
            [[-0.0, -0.0, -0.0], [-0.0, 0.0, -0.0], [0.0, 0.0, 0.0], [1.0, -1.0, -0.0], [-0.0, 2.0, -2.0]]
        {
            let program = program(text);
            let args = arguments(&program, &[x.to_vec()]);
            for exactness in [Exactness::Exact, Exactness::Reassociates, Exactness::Rounds] {
                let after = optimised(&program, exactness);
                let bits = |p: &Program| -> Vec<u64> {
                    run(p, &args).concat().iter().map(|x| x.to_bits()).collect()
                };
                assert_eq!(bits(&program), bits(&after), "{x:?}\n{text}\n{}", surject_ir::print(&after));
            }
        }
    }
    let empty = program(texts[4]);
    assert_eq!(run(&empty, &arguments(&empty, &[vec![-0.0; 3]]))[0][0].to_bits(), 0);
}

/// A product of factors that depend on the axes of a sum or not, in a random order, with quotients and signs.
fn term(rng: &mut Rng, depth: usize) -> String {
    if depth == 0 || rng.chance(1, 6) {
        let leaves = [
            "x[i,j]",
            "x[i,j]",
            "w[j]",
            "g[i]",
            "h[]",
            "3.0f32",
            "0.25f32",
            "-1.0f32",
            "exp(neg(abs(x[i,j])))",
            "tanh(w[j])",
        ];
        return rng.pick(&leaves).to_string();
    }
    let (x, y) = (term(rng, depth - 1), term(rng, depth - 1));
    match rng.below(7) {
        0 => format!("neg({x})"),
        1 | 2 => format!("({x} / {y})"),
        _ => format!("({x} * {y})"),
    }
}

#[test]
fn random_sums_stay_what_they_are() {
    let values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        3.0,
        -2.5,
        1e30,
        -1e30,
        3e36,
        -3e36,
        3e38,
        -3e38,
        1e-30,
        -1e-30,
        1e-20,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let (mut finite, mut moved) = (0, 0);
    for seed in 0..250 {
        let mut rng = Rng::new(seed);
        let (inner, outer) = (term(&mut rng, 3), ["s[i]", "s[i] * g[i]", "s[i] / h[]", "h[] / s[i]"]);
        let outer = rng.pick(&outer);
        let text = format!(
            "func main(x: f32[3,4], w: f32[4], g: f32[3], h: f32[]) -> (s, y) {{\n  s : f32[3] =:+ over i<3, j<4 at [i]: {inner}\n  y : f32[3] =: over i<3: {outer}\n}}\n"
        );
        let program = program(&text);
        let after = optimised(&program, Exactness::Reassociates);
        moved += usize::from(surject_ir::print(&after) != surject_ir::print(&program));
        for _ in 0..20 {
            let one = *rng.pick(&values);
            let all = |rng: &mut Rng, n: usize, few: bool| -> Vec<f64> {
                (0..n).map(|_| if few { one } else { *rng.pick(&values) }).collect()
            };
            let few = rng.chance(1, 2);
            let lists = [
                all(&mut rng, 12, few),
                all(&mut rng, 4, false),
                all(&mut rng, 3, false),
                all(&mut rng, 1, false),
            ];
            let args = arguments(&program, &lists);
            // The sizes of sums: those of their terms, all of one sign.
            let sizes = lists.map(|list| list.iter().map(|x: &f64| x.abs()).collect());
            let scale = run(&program, &arguments(&program, &sizes));
            let (before, now) = (run(&program, &args), run(&after, &args));
            let shown = || format!("seed {seed}\n{text}\n{}\n{args:?}", surject_ir::print(&after));
            for i in 0..3 {
                let (s, t, size) = (before[0][i], now[0][i], scale[0][i]);
                if !s.is_finite() {
                    continue;
                }
                finite += 1;
                let rounded = 1e-4 * size.abs() + 1e-43;
                let signed = s != 0.0 || t != 0.0 || s.is_sign_negative() == t.is_sign_negative();
                let close = rounded.is_nan() || (s - t).abs() <= rounded;
                assert!(t.is_finite() && close && signed, "{s:e} is {t:e}, {}", shown());
                // What is left of a sum that cancels, or is subnormal, is rounding; it may be anything once it is divided by.
                let (x, y) = (before[1][i], now[1][i]);
                let clear = s == 0.0 && t == 0.0 || s.abs() > 1e-3 * size && s.abs() > 1e-30;
                if x.is_finite() && clear {
                    let signed = x != 0.0 || y != 0.0 || x.is_sign_negative() == y.is_sign_negative();
                    let close = (x - y).abs() <= 0.3 * x.abs() + 1e-43;
                    assert!(y.is_finite() && close && signed, "{x:e} is {y:e}, {}", shown());
                }
            }
        }
    }
    assert!(finite > 5000 && moved > 20, "{finite} {moved}");
}
