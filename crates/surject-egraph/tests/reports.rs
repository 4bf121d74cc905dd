//! Explanations, pictures, options and errors.
mod support;
use support::*;
use surject_egraph::{CostModel, EgraphError, Exactness, Options, optimise};

#[test]
fn every_step_of_an_explanation_is_replayed() {
    for program in
        [mlp(4, 5, 3, 2), softmax(3, 4), layernorm(3, 4), attention(2, 3, 4, 2), blocks(1, 2, 3, 4, 2)]
    {
        let options = Options { explain: true, ..Options::default() };
        let o = optimise(&program, &options).unwrap();
        agree(&program, &o.program, 1e-4);
        for text in o.report.blocks.iter().flat_map(|b| &b.explanations) {
            eprintln!("{text}");
            assert!(!text.contains("WRONG"), "{text}");
            assert!(text.contains(" 0 too large to check"), "{text}");
        }
    }
}

#[test]
fn the_picture_is_dot_text() {
    let options = Options { dot: true, ..Options::default() };
    let o = optimise(&softmax(3, 4), &options).unwrap();
    let dot = o.report.blocks[0].dot.clone().unwrap();
    assert!(dot.starts_with("digraph egraph {") && dot.ends_with("}\n"));
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
}

#[test]
fn laws_can_be_taken_away() {
    let options = Options { without: vec!["add-zero".into()], ..Options::default() };
    let o = optimise(&softmax(3, 4), &options).unwrap();
    assert!(!o.report.firings().contains_key("add-zero"));
    let options = Options { without: vec!["no-such-law".into()], ..Options::default() };
    assert!(matches!(optimise(&softmax(3, 4), &options), Err(EgraphError::UnknownLaw { .. })));
    let options = Options { without: vec!["read-poinwise".into()], ..Options::default() };
    let error = optimise(&softmax(3, 4), &options).unwrap_err();
    assert!(error.to_string().contains("is it `read-pointwise`"), "{error}");
}

#[test]
fn an_exact_run_has_an_empty_ledger() {
    let options = Options { exactness: Exactness::Exact, waived: Default::default(), ..Options::default() };
    let o = optimise(&attention(2, 3, 4, 2), &options).unwrap();
    assert_eq!(o.report.ledger(), vec![]);
}

#[test]
fn a_wrong_rule_is_refused_with_its_name() {
    let text = "rule bad reassociates finite\n  (max [k] (* ?c ?x[k])) => (* ?c (max [k] ?x[k]))\n";
    let file = surject_rules::parse("bad.rules", text).unwrap();
    let options = Options { rules: vec![file], ..Options::default() };
    let error = optimise(&softmax(3, 4), &options).unwrap_err();
    assert!(matches!(&error, EgraphError::Rules { file, .. } if file == "bad.rules"), "{error}");
}

#[test]
fn the_cost_model_round_trips() {
    let model = CostModel { byte: 1.5, fma: 0.25, launch: 12345.0, ..CostModel::default() };
    assert_eq!(CostModel::parse(&model.to_string()).unwrap(), model);
    assert!(matches!(CostModel::parse("byte 2\nbite 3\n"), Err(EgraphError::CostModel { line: 2, .. })));
    assert!(matches!(CostModel::parse("byte -2\n"), Err(EgraphError::CostModel { line: 1, .. })));
}

#[test]
fn the_report_reads() {
    let o = optimise(&mlp(8, 16, 12, 5), &Options::default()).unwrap();
    let text = o.report.to_string();
    // Times differ from run to run.
    let kept: Vec<&str> = text.lines().filter(|l| !l.contains(" ms")).collect();
    insta::assert_snapshot!(kept.join("\n"));
}

#[test]
fn rules_that_did_nothing_are_named() {
    let text = "rule too-much rounds finite
  (log (sum [k] (exp ?x[k]))) => (+ (max [k] ?x[k]) (log (sum [k] (exp (- ?x[k] (max [k] ?x[k]))))))
rule no-such-term exact
  (neg (abs (neg ?x))) => (neg (abs ?x))
";
    let file = surject_rules::parse("mine.rules", text).unwrap();
    let o = optimise(&softmax(3, 4), &Options { rules: vec![file], ..Options::default() }).unwrap();
    let text = o.report.to_string();
    assert!(text.contains("its class `rounds` is above the ceiling `reassociates`"), "{text}");
    assert!(text.contains("its left side never matched"), "{text}");
}

/// `a * (b / c) = (a * b) / c` holds for floats; an integer division rounds.
#[test]
fn rules_about_real_numbers_leave_integers_alone() {
    let rule = "rule mul-div reassociates\n  (* ?a (/ ?b ?c)) => (/ (* ?a ?b) ?c)\n";
    for (dtype, times) in [("f32", 1), ("i32", 0)] {
        let text = format!(
            "func main(a: {dtype}[4], b: {dtype}[4], c: {dtype}[4]) -> (r) {{\n  r : {dtype}[4] =: over i<4: a[i] * (b[i] / c[i])\n}}\n"
        );
        let program = surject_ir::parse(&text).unwrap();
        let rules = vec![surject_rules::parse("mine.rules", rule).unwrap()];
        let o = optimise(&program, &Options { rules, ..Options::default() }).unwrap();
        assert_eq!(o.report.firings().get("mul-div").copied().unwrap_or(0), times, "{}", o.report);
    }
}

/// A product of one complex factor is `1 · z`, which has a NaN where `z` is infinite; a sum of one term is the term, but `+0.0` for `-0.0`.
#[test]
fn products_of_one_complex_factor_stay() {
    let text = "func main(z: c64[3]) -> (p, s) {
  p : c64[3] =:* over i<3 at [-i + 2]: z[i]
  s : c64[3] =:+ over i<3 at [-i + 2]: z[i]
}
";
    let program = surject_ir::parse(text).unwrap();
    let mut z = surject_ir::Buffer::zeros(surject_ir::DType::C64, &[3]);
    for (i, re) in [f64::INFINITY, -0.0, 2.5].into_iter().enumerate() {
        z.set(i, surject_ir::Scalar::from_f64(surject_ir::DType::C64, re));
    }
    let options = Options { exactness: Exactness::Exact, waived: Default::default(), ..Options::default() };
    let o = optimise(&program, &options).unwrap();
    let run = |p: &surject_ir::Program| surject_ir::interp::run(p, "main", std::slice::from_ref(&z)).unwrap();
    for (before, after) in run(&program).iter().zip(&run(&o.program)) {
        assert_eq!(format!("{before:?}"), format!("{after:?}"));
        assert_eq!(before.bytes(), after.bytes());
    }
    let text = surject_ir::print(&o.program);
    assert!(text.contains(":* over") && !text.contains(":+ over"), "{text}");
}
