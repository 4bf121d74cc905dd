//! Every kind of mistake in a rule file, with its message.

use surject_rules::{RuleFile, check_static, parse};

fn error(source: &str) -> String {
    let result = parse("mine.rules", source).and_then(|file: RuleFile| check_static(&file));
    match result {
        Ok(()) => format!("accepted: {source}\n"),
        Err(error) => error.render("mine.rules", source),
    }
}

/// The messages for all of these, one after the other.
fn errors(sources: &[&str]) -> String {
    sources.iter().map(|s| error(s)).collect::<Vec<_>>().join("\n")
}

#[test]
fn grammar() {
    insta::assert_snapshot!(errors(&[
        "rule r exact (exp ?x) => (exp ?x) where sunny ?x",
        "rule r exact (frobnicate ?x) => ?x",
        "rule r perhaps (exp ?x) => (exp ?x)",
        "rule r exact hasty (exp ?x) => (exp ?x)",
        "rule r exact (exp (log ?x) => ?x",
        "rule r exact (exp ?x) =>",
        "rule r exact (exp ?x) => (exp ?x) where dtype ?x",
        "rule r exact (exp ?x) => 1.2.3",
        "rule r exact (mean [k] ?x[k]) => ?x",
        "rule r exact (acc plus ?M ?x) => ?x",
        "rule r exact (read (rotate ?M) ?x) => ?x",
        "rule r exact (read ?M ?x) => (read ?K ?x) let ?K = fibre ?M ?M",
        "rule r exact (exp ?x) => (exp ?x)\nrule r exact (log ?x) => (log ?x)",
        "rule r exact (exp ?x) = (exp ?x)",
        "rule r exact (exp ?ä) => 1",
    ]));
}

#[test]
fn names() {
    insta::assert_snapshot!(errors(&[
        "rule r exact (exp ?x) => (exp ?y)",
        "rule r exact (exp ?x) => (read ?M ?x)",
        "rule r exact (exp ?x) => (?f ?x)",
        "rule r exact (acc + ?M ?x) => (acc ?o ?M ?x)",
        "rule r exact (acc + ?M ?x) => (mul #k ?x)",
        "rule r exact (read ?x ?x) => ?x",
        "rule r exact (?f ?x ?y) => (?f ?x)",
        "rule r exact (?f ?x ?y ?z) => ?x",
        "rule r exact (acc ?o ?M ?x) => (?o ?x)",
    ]));
}

#[test]
fn axes() {
    insta::assert_snapshot!(errors(&[
        "rule r rounds (sum [k] ?x[k]) => (exp ?x[k])",
        "rule r rounds (+ (sum [k] ?x[k]) ?y) => (+ (sum [k] (+ ?x[k] ?y)) ?x[k])",
        "rule r rounds (sum [k] ?x[k]) => (sum [j] ?x[k])",
        "rule r rounds (sum [k, j] (* ?x[k] ?y[j])) => (sum [k, j] (* ?x[j] ?y[j]))",
        "rule r rounds (sum [k] (* ?x[k] ?x)) => (sum [k] ?x[k])",
        "rule r rounds (sum [k, k] ?x[k]) => (sum [k] ?x[k])",
        "rule r rounds (sum [] ?x) => ?x",
    ]));
}

#[test]
fn directions() {
    insta::assert_snapshot!(errors(&[
        "rule r exact (+ ?x (- ?y ?y)) <=> ?x",
        "rule r exact (neg (neg ?x)) <=> ?x",
        "rule r exact (+ ?x ?y) <=> (+ ?x ?z)",
        "rule r exact (+ ?x (- ?y ?y)) <=> (+ ?x 0)",
        "rule r exact (read ?M (read ?N ?x)) <=> (read (compose ?N ?M) ?x)",
        "rule r exact (acc set ?M (read ?N ?x)) <=> (read ?K ?x) let ?K = through ?N ?M",
        "rule r exact (+ ?x[k] 0) <=> (+ (sum [k] ?x[k]) 0)",
    ]));
}

#[test]
fn forms() {
    insta::assert_snapshot!(errors(&[
        "rule r exact (read (identity ?x) ?x) => ?x",
        "rule r exact (mul #k ?x) => ?x",
        "rule r exact ?x => (neg (neg ?x))",
        "rule r exact 1 => (exp 0)",
        "rule r exact (sum [k] (read ?M ?x[k])) => (read ?M (sum [k] ?x[k]))",
        "rule r exact (stablehlo.sine ?x) => (sin ?x)",
    ]));
}

#[test]
fn conditions_and_bindings() {
    insta::assert_snapshot!(errors(&[
        "rule r exact (exp ?x) => (exp ?x) where injective ?x",
        "rule r exact (exp ?x) => (exp ?x) where injective ?M",
        "rule r exact (exp ?x) => (exp ?x) where dtype ?x sunny",
        "rule r exact (exp ?x) => (exp ?x) where constant ?x one",
        "rule r exact (exp ?x) => (exp ?x) where commutative plus",
        "rule r exact (exp ?x) => (exp ?x) where commutative 1",
        "rule r exact (exp ?x) => (exp ?x) where dtype ?x ?x",
        "rule r exact (read ?N (acc set ?M ?x)) => (acc set ?A (read ?B ?x)) where injective ?A let ?A, ?B = fibre ?N ?M",
        "rule r exact (read ?N (acc set ?M ?x)) => (acc set ?A (read ?B ?x)) let ?A, ?B = fibre ?K ?M",
        "rule r exact (read ?N (acc set ?M ?x)) => (acc set ?M (read ?B ?x)) let ?M, ?B = fibre ?N ?M",
        "rule r exact (acc + ?M ?x) => (mul #k (acc + ?N ?y)) let ?N, ?y, #k = drop ?M ?x let ?P, ?z, #k = drop ?M ?x",
        "rule r exact (acc + ?M ?x) => (acc + ?M ?h) let ?h = unread ?M ?M",
    ]));
}

#[test]
fn types() {
    insta::assert_snapshot!(errors(&[
        "rule r exact (lt ?x ?y) => (- ?x ?y)",
        "rule r exact (exp (lt ?x ?y)) => ?x",
        "rule r exact (select (exp ?c) ?x ?y) => ?x",
        "rule r exact (and (real ?x) ?y) => (real ?x)",
        "rule r exact (exp ?x) => (popcount ?x)",
        "rule r exact (exp ?x) => (exp ?x) where dtype ?x int",
        "rule r exact (neg ?x) => (neg ?x) where dtype ?x int, dtype ?x float",
        "rule r exact (real ?x) => ?x where dtype ?x complex",
        "rule r rounds (sum [k] (exp ?x[k])) => (or [k] ?x[k])",
    ]));
}

#[test]
fn spaces() {
    insta::assert_snapshot!(errors(&[
        "rule r exact (read ?M ?x) => ?x",
        "rule r exact (read ?M (read ?N ?x)) => (read (compose ?M ?N) ?x)",
        "rule r exact (acc + ?M ?x) => (+ (acc + ?M ?x) ?x)",
        "rule r exact (acc + ?M ?x) => (read ?M ?x)",
        "rule r exact (acc set ?M (read ?N ?x)) => (read ?K ?x) let ?K = through ?M ?N",
        "rule r exact (acc set ?M (read ?N ?x)) => (acc set ?A (read ?B ?x)) let ?A, ?B = fibre ?N ?M",
        "rule r exact (acc + ?M (* ?f ?g)) => (* (acc + ?M ?f) ?h) let ?h = unread ?f ?M let ?i = unread ?h ?M",
        "rule r exact (read ?M ?x) => (read (identity ?x) ?x)",
    ]));
}

/// What is right is accepted.
#[test]
fn accepted() {
    let right = [
        "rule r exact (read ?M ?x) => ?x where identity ?M",
        "rule r exact (- ?x[k] ?x[k]) => 0 where dtype ?x int",
        "rule r exact (select ?c ?x ?x) => ?x",
        "rule r exact (lt ?x ?y) <=> (gt ?y ?x)",
        "rule r rounds (sum [k] (sum [j] ?x[j,k])) => (sum [j] (sum [k] ?x[k,j]))",
        "rule r exact (acc + ?M ?x) => (acc + ?M (read (identity ?x) ?x))",
        "rule r exact (real ?x) => ?x where dtype ?x float",
        "rule r exact (?o ?x ?x) => ?x where idempotent ?o, not dtype ?x bool phase",
    ];
    for source in &right[..right.len() - 1] {
        let file = parse("mine.rules", source).unwrap_or_else(|e| panic!("{e}"));
        check_static(&file).unwrap_or_else(|e| panic!("{}", e.render("mine.rules", source)));
    }
    assert!(error(right[right.len() - 1]).contains("SJ0201"));
}
