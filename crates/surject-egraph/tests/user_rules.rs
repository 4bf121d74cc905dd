//! User rules in index notation, on programs they are for.
mod support;
use support::*;
use surject_egraph::{Exactness, Optimised, Options, optimise};
use surject_ir::{AccOp, BinaryOp, Program, UnaryOp};

fn run(p: &Program, rules: &str) -> Optimised {
    let file = surject_rules::parse("user.rules", rules).unwrap();
    let options = Options { rules: vec![file], exactness: Exactness::Rounds, ..Options::default() };
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
