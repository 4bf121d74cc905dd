//! Loops that end where a mask makes the rest the same.

use crate::{random, results};
use surject_codegen::kernels::run::{assignments, expressions, kernels};
use surject_codegen::kernels::schedule::Schedule;
use surject_ir::testing::{Rng, random_args};
use surject_ir::{interp, parse};

/// A comparison of the positions `i` and `j`, whose loops have these extents.
fn mask(rng: &mut Rng, i: &str, j: &str) -> String {
    let op = *rng.pick(&["<", "<=", ">", ">="]);
    let of = |rng: &mut Rng, name: &str| match *rng.pick(&[1, 1, 1, 2]) {
        1 => format!("index({name})i32"),
        by => format!("index({name})i32 * {by}i32"),
    };
    let (x, y, by) = (of(rng, i), of(rng, j), rng.below(5) as i64 - 2);
    format!("{x} {op} {y} + {by}i32")
}

/// Scores under a mask, reductions of their rows, and a product with them: attention in integers, or in floats.
fn program(rng: &mut Rng) -> String {
    let dtype = *rng.pick(&["f32", "i32"]);
    let (b, n, m) = (1 + rng.below(3), 5 + rng.below(25), 5 + rng.below(25));
    let (k, c) = (1 + rng.below(9), 1 + rng.below(20));
    let (outer, inner) = (mask(rng, "i", "j"), mask(rng, "i", "j"));
    let mask = if rng.chance(1, 3) { format!("and({outer}, {inner})") } else { outer };
    let fill = *rng.pick(&["0", "0", "3", "-7"]);
    let fill = if dtype == "f32" { format!("{fill}.0f32") } else { format!("{fill}i32") };
    let reduce = *rng.pick(&["+", "max", "min"]);
    format!(
        "program p

func main(x: {dtype}[{b},{n},{k}], z: {dtype}[{b},{m},{k}], w: {dtype}[{b},{m},{c}]) -> (s, r, y) {{
  let p : {dtype}[{b},{n},{m}] =:+ over h<{b}, i<{n}, j<{m}, k<{k} at [h,i,j]: x[h,i,k] * z[h,j,k]
  s : {dtype}[{b},{n},{m}] =: over h<{b}, i<{n}, j<{m}: select({mask}, p[h,i,j], {fill})
  r : {dtype}[{b},{n}] =:{reduce} over h<{b}, i<{n}, j<{m} at [h,i]: s[h,i,j]
  y : {dtype}[{b},{n},{c}] =:+ over h<{b}, i<{n}, c<{c}, j<{m} at [h,i,c]: s[h,i,j] * w[h,j,c]
}}
"
    )
}

/// Whatever stands around them, they change no result: exactly none of integers.
#[test]
fn what_lies_in_tails_is_left_out() {
    let (mut compared, mut ending) = (0, 0);
    for seed in 0..800u64 {
        let text = program(&mut Rng::new(seed));
        let program = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let args = random_args(program.function("main").unwrap(), seed);
        let expected = interp::run(&program, "main", &args).unwrap();
        let machine = random::Random::new(seed);
        let Some(found) = results(&program, &args, &machine, &|| machine.log()) else { continue };
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let tolerance = if text.contains("f32") { 1e-5 } else { 0.0 };
            let report = surject_runtime::compare::compare(found, expected, tolerance, tolerance);
            assert!(report.passed(), "result {i} of seed {seed}: {report}\n{text}\n{}", machine.log());
            compared += 1;
        }
        ending += machine.log().matches("triangular").count();
    }
    assert!(compared > 2000 && ending > 100, "{compared} compared, {ending} loops that end at tails");
}

const CAUSAL: &str = "program p

func main(x: f32[24,4], z: f32[24,4]) -> (s) {
  let p : f32[24,24] =:+ over i<24, j<24, k<4 at [i,j]: x[i,k] * z[j,k]
  s : f32[24,24] =: over i<24, j<24: select(index(i)i32 >= index(j)i32, p[i,j], -1.0f32)
}
";

/// Products above the diagonal are not computed: the fill of the mask is stored there.
#[test]
fn scores_end_at_the_diagonal() {
    let program = parse(CAUSAL).unwrap();
    let function = program.function("main").unwrap();
    let field = assignments(function).last().unwrap().1;
    let text = "kernel s_0\nsplit i0 by 4\nsplit i1 by 8\norder i0.o i1.o i0.i i1.i\njam i0.i\nvectorise i1.i\ntriangular i1.o\nfma k0\n";
    let made = kernels(function, field, &super::schedules::Whole, "s", &text.parse().unwrap()).unwrap();
    insta::assert_snapshot!(made.kernels[0].launch.kernel);
}

/// Why a loop does not end.
#[test]
fn loops_that_end_nowhere_are_refused() {
    let refused = |program: &str, schedule: &str| -> String {
        let program = parse(program).unwrap();
        let all = expressions(program.function("main").unwrap()).unwrap();
        let schedule: Schedule = schedule.parse().unwrap();
        schedule.check(&all.last().unwrap().1).unwrap_err().to_string()
    };
    let floats = CAUSAL.replace("s : f32[24,24] =: over i<24, j<24: select(index(i)i32 >= index(j)i32, p[i,j], -1.0f32)",
        "s : f32[24,4] =:+ over i<24, c<4, j<24 at [i,c]: select(index(i)i32 >= index(j)i32, p[i,j], 0.0f32) * z[j,c]").replace("let p", "p").replace("-> (s)", "-> (p, s)");
    let all = [
        refused(CAUSAL, "triangular i0.o"),
        refused(CAUSAL, "triangular k0"),
        refused(CAUSAL, "parallel i1 task\ntriangular i1"),
        refused(CAUSAL, "triangular i1\ntriangular i1"),
        refused(CAUSAL, "split k0 by 2\naccumulate k0.o at i0\ntriangular i1"),
        refused(&floats, "triangular k0"),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

/// Where all positions of a row lie in a tail, and the tail would go on behind them, a minimum has one of them.
#[test]
fn tails_that_reach_beyond_the_last_position_count() {
    let program = "func main(x: i16[3,3]) -> (y) {
  y : i16[7,4] =:min over i<3, j<3 at [3*i,i + 1]: (x[-2*i + j - 2,i] where 0 <= 2*i - j + 2 < 1 else 3i16)
}
";
    for by in [1, 2, 3] {
        let schedule = format!("split k0 by {by}\norder k0.o k0.i\ntriangular k0.o");
        let kernel = crate::parts::checked(program, &schedule);
        assert!(kernel.contains("min "), "{kernel}");
    }
}
