//! User rules in index notation, on programs they are for.
mod support;
use support::*;
use surject_egraph::{Exactness, Optimised, Options, optimise};
use surject_ir::{AccOp, BinaryOp, Program, UnaryOp};

fn run(p: &Program, rules: &str) -> Optimised {
    let file = surject_rules::parse("user.rules", rules).unwrap();
    let options = Options { rules: vec![file], exactness: Exactness::Overflows, ..Options::default() };
    let o = optimise(p, &options).unwrap();
    agree(p, &o.program, 1e-3);
    o
}

fn fired(o: &Optimised, rule: &str) -> usize {
    o.report.firings().get(rule).copied().unwrap_or(0)
}

const ALL: &str = "
rule sum-of-scaled reassociates finite
  (sum [k] (* ?c ?x[k])) => (* ?c (sum [k] ?x[k]))
rule softmax-shift rounds finite no-overflow
  (/ (exp (- ?x[k] ?m)) (sum [k] (exp (- ?x[k] ?m)))) => (/ (exp ?x[k]) (sum [k] (exp ?x[k])))
rule matmul-over-add reassociates finite
  (sum [k] (* ?a[k] (+ ?b[k] ?c[k]))) <=> (+ (sum [k] (* ?a[k] ?b[k])) (sum [k] (* ?a[k] ?c[k])))
rule matmul-assoc reassociates finite
  (sum [k] (* (sum [j] (* ?a[j] ?b[j,k])) ?c[k])) <=> (sum [j] (* ?a[j] (sum [k] (* ?b[j,k] ?c[k]))))
rule log-sum-exp rounds finite
  (log (sum [k] (exp ?x[k]))) => (+ (max [k] ?x[k]) (log (sum [k] (exp (- ?x[k] (max [k] ?x[k]))))))
rule div-out-of-sum reassociates finite
  (sum [k] (/ ?x[k] ?c)) => (/ (sum [k] ?x[k]) ?c)
rule mul-div reassociates
  (* ?a (/ ?b ?c)) => (/ (* ?a ?b) ?c)
rule max-of-shifted exact finite no-overflow
  (max [k] (+ ?x[k] ?c)) => (+ (max [k] ?x[k]) ?c)
rule sum-of-squared-difference rounds finite
  (sum [k] (* (- ?x[k] ?m) (- ?x[k] ?m))) => (sum [k] (+ (* ?x[k] ?x[k]) (- (* ?m ?m) (* 2 (* ?m ?x[k])))))
";

#[test]
fn sum_of_scaled_moves_the_factor_out() {
    let mut p = Builder::new();
    let x = p.param("x", &[4, 6]);
    let c = p.param("c", &[4]);
    let cb = p.broadcast(c, &[4, 6], &[0]);
    let y = p.bin(BinaryOp::Mul, x, cb);
    let s = p.reduce(AccOp::Add, y, &[1]);
    let o = run(&p.finish(&[s]), ALL);
    assert!(fired(&o, "sum-of-scaled") + fired(&o, "factor") > 0, "{}", o.report);
}

#[test]
fn softmax_shift_fires_on_softmax() {
    let o = run(&softmax(4, 6), ALL);
    assert!(fired(&o, "softmax-shift") > 0, "{}", o.report);
}

#[test]
fn softmax_shift_fires_on_attention() {
    let o = run(&attention(2, 6, 8, 2), ALL);
    assert!(fired(&o, "softmax-shift") > 0, "{}", o.report);
    assert!(fired(&o, "mul-div") > 0, "{}", o.report);
}

#[test]
fn chain_takes_the_best_order() {
    let sizes = [100, 5, 80, 2, 120];
    let mut p = Builder::new();
    let m: Vec<_> = (0..4).map(|i| p.param(&format!("m{i}"), &[sizes[i], sizes[i + 1]])).collect();
    let mut y = m[0];
    for &x in &m[1..] {
        y = p.dot(y, x, &[], &[(1, 0)]);
    }
    let program = p.finish(&[y]);
    let plain = optimise(&program, &Options::default()).unwrap();
    let o = run(&program, ALL);
    eprintln!("{}\n{}", o.report, dump(&o.program));
    assert!(fired(&o, "matmul-assoc") > 0, "{}", o.report);
    let flops = |o: &Optimised| o.report.blocks[0].plan.flops;
    // m0·(m1·m2) first: 5·80·2 + 100·5·2 + 100·2·120 products, against 100·5·80 + 100·80·2 + 100·2·120.
    assert!(flops(&o) <= 2.0 * (800.0 + 1000.0 + 24000.0), "{} of {}", flops(&o), flops(&plain));
    assert_eq!(o.report.stores().1, 3);
}

#[test]
fn log_sum_exp_and_squares() {
    let mut p = Builder::new();
    let x = p.param("x", &[4, 6]);
    let e = p.un(UnaryOp::Exp, x);
    let s = p.reduce(AccOp::Add, e, &[1]);
    let l = p.un(UnaryOp::Log, s);
    let o = run(&p.finish(&[l]), ALL);
    assert!(fired(&o, "log-sum-exp") > 0, "{}", o.report);
    let o = run(&layernorm(4, 6), ALL);
    assert!(fired(&o, "sum-of-squared-difference") > 0, "{}", o.report);
}

/// All rules together grow the graph of a transformer block; the bounds hold it, and what comes out is right.
#[test]
fn all_rules_on_a_block() {
    let o = run(&blocks(1, 2, 3, 4, 2), ALL);
    for phase in &o.report.blocks[0].phases {
        eprintln!(
            "{} {} nodes {} rounds {:?} {:?}",
            phase.name, phase.nodes, phase.iterations, phase.stop, phase.time
        );
    }
    eprintln!("{:?} {:?}", o.report.time, o.report.stores());
    assert!(fired(&o, "softmax-shift") > 0);
}

const LOG_SOFTMAX: &str = "
rule log-softmax rounds finite no-overflow
  (- ?x[k] (log (sum [k] (exp ?x[k])))) => (- (- ?x[k] (max [k] ?x[k])) (log (sum [k] (exp (- ?x[k] (max [k] ?x[k]))))))
";

/// `x - log(sum(exp(x)))`, reduced over some axes.
fn log_softmax(sizes: &[u64], axes: &[usize]) -> Program {
    let mut p = Builder::new();
    let x = p.param("x", sizes);
    let e = p.un(UnaryOp::Exp, x);
    let s = p.reduce(AccOp::Add, e, axes);
    let l = p.un(UnaryOp::Log, s);
    let kept: Vec<usize> = (0..sizes.len()).filter(|a| !axes.contains(a)).collect();
    let l = p.broadcast(l, sizes, &kept);
    let y = p.bin(BinaryOp::Sub, x, l);
    p.finish(&[y])
}

/// Outside of the sum the name is the last axis of the result, inside it is the axis that is summed; the axis that both
/// depend on is a batch axis. So it is with several axes under one name, and where extents are equal.
#[test]
fn a_name_outside_and_inside_of_a_reduction() {
    for (sizes, axes) in [
        (vec![6, 9], vec![1]),
        (vec![8, 8], vec![1]),
        (vec![8, 8], vec![0]),
        (vec![3, 4, 5], vec![1, 2]),
        (vec![3, 4, 5], vec![0, 2]),
        (vec![4, 4, 4], vec![0, 1]),
        (vec![7], vec![0]),
    ] {
        let o = run(&log_softmax(&sizes, &axes), LOG_SOFTMAX);
        assert!(fired(&o, "log-softmax") > 0, "{sizes:?} {axes:?}\n{}", o.report);
    }
}

/// `?x[k]` of the whole and `?y[k]` of a vector that all rows share: the axis of the rows is a batch axis, although only
/// `?x` depends on it.
#[test]
fn a_batch_axis_that_one_operand_has() {
    let text = "func main(x: f32[6,9], y: f32[9]) -> (z) {
  s : f32[] =:+ over k<9 at []: y[k]
  z : f32[6,9] =: over i<6, k<9: x[i,k] * s[]
}
";
    let rule = "rule twice-negated rounds finite\n  (* ?x[k] (sum [k] ?y[k])) => (neg (* (neg ?x[k]) (sum [k] ?y[k])))\n";
    let program = surject_ir::parse(text).unwrap();
    let o = run(&program, rule);
    assert!(fired(&o, "twice-negated") > 0, "{}", o.report);
}

/// A number of a rule is its value rounded to the element type.
#[test]
fn numbers_that_are_not_exact() {
    let rule = "rule tenth rounds no-overflow finite\n  (* ?x 0.1) => (/ ?x 10)\n";
    for (dtype, times) in [("f32", 1), ("f64", 1), ("bf16", 1), ("i32", 0)] {
        let constant = if dtype == "i32" { "0i32".to_string() } else { format!("0.1{dtype}") };
        let text = format!(
            "func main(a: {dtype}[4]) -> (r) {{\n  r : {dtype}[4] =: over i<4: a[i] * {constant}\n}}\n"
        );
        let program = surject_ir::parse(&text).unwrap();
        let file = surject_rules::parse("user.rules", rule).unwrap();
        let options = Options { rules: vec![file], exactness: Exactness::Rounds, ..Options::default() };
        let o = optimise(&program, &options).unwrap();
        assert_eq!(fired(&o, "tenth"), times, "{dtype}\n{}", o.report);
    }
}

/// A variable that only the left side mentions is the same field wherever it occurs.
#[test]
fn variables_of_the_left_side_alone_agree() {
    let rule = "rule nothing exact\n  (- (sum [k] ?x[k]) (sum [k] ?x[k])) => 0\n  where dtype ?x int\n";
    for (other, times) in [("x", 1), ("y", 0)] {
        let text = format!(
            "func main(x: i32[5], y: i32[5]) -> (r) {{
  s : i32[] =:+ over k<5 at []: x[k]
  t : i32[] =:+ over k<5 at []: {other}[k]
  r : i32[] =: s[] - t[]
}}
"
        );
        let program = surject_ir::parse(&text).unwrap();
        let file = surject_rules::parse("user.rules", rule).unwrap();
        // `sub-self` finds the same.
        let without = vec!["sub-self".to_string()];
        let options = Options { rules: vec![file], without, verify_rules: false, ..Options::default() };
        let o = optimise(&program, &options).unwrap();
        assert_eq!(fired(&o, "nothing"), times, "{}", o.report);
    }
}
