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

/// Optimises a program with these rules, sound or not.
fn with_rules(text: &str, rules: &str) -> surject_egraph::Optimised {
    let program = surject_ir::parse(text).unwrap();
    let rules = vec![surject_rules::parse("mine.rules", rules).unwrap()];
    let options = Options { rules, verify_rules: false, exactness: Exactness::Rounds, ..Options::default() };
    optimise(&program, &options).unwrap()
}

fn listed(o: &surject_egraph::Optimised) -> Vec<String> {
    o.report.ledger().into_iter().map(|entry| entry.0).collect()
}

/// The ledger lists what the result rests on. A rule that fired for a term that was not chosen is not in it.
#[test]
fn the_ledger_lists_what_is_in_the_result() {
    let text = "func main(a: f32[8], b: f32[8], c: f32[8]) -> (y) {
  y : f32[8] =: over i<8: a[i] * b[i] + c[i] / 4.0f32
}
";
    let rules = "rule dearer rounds\n  (* ?x ?y) => (/ ?x (/ 3 ?y))\nrule cheaper rounds\n  (/ ?x 4) => (* ?x 0.25)\n";
    let o = with_rules(text, rules);
    assert!(o.report.firings().contains_key("dearer"), "{}", o.report);
    assert_eq!(listed(&o), ["cheaper"], "{}", o.report);
}

/// What a rule matched may itself be there by a rule; an operand may be another one by a rule.
#[test]
fn the_ledger_lists_what_rules_rest_on() {
    let text = "func main(x: f32[8]) -> (y) {\n  y : f32[8] =: over i<8: tanh(x[i])\n}\n";
    let rules =
        "rule first rounds\n  (tanh ?x) => (neg (exp ?x))\nrule then exact\n  (neg (exp ?x)) => (abs ?x)\n";
    let o = with_rules(text, rules);
    assert!(surject_ir::print(&o.program).contains("abs"), "{}", surject_ir::print(&o.program));
    assert_eq!(listed(&o), ["first"], "{}", o.report);

    let text = "func main(x: f32[8]) -> (y, z) {
  t : f32[8] =: over i<8: floor(x[i])
  y : f32[8] =: over i<8: exp(t[i])
  z : f32[8] =: over i<8: exp(x[i])
}
";
    let o = with_rules(text, "rule whole rounds\n  (floor ?x) => ?x\n");
    assert_eq!(listed(&o), ["whole"], "{}", o.report);

    // A constant that is known by a rule.
    let text = "func main(x: f32[8]) -> (y) {\n  y : f32[8] =: over i<8: exp(x[i] * 0.0f32)\n}\n";
    let o = with_rules(text, "rule nothing rounds finite\n  (* ?x 0) => 0\n");
    assert_eq!(listed(&o), ["nothing"], "{}", o.report);
}

/// Figures are those of the program that is returned, with what the passes after extraction have made of it, and what
/// these did is not said of laws.
#[test]
fn figures_are_of_the_result() {
    let text = "func main(y: f32[2,41,40,17]) -> (t) {
  t : f32[2,41,40,17] =:+ over i<2, j<41, k<40, l<17, m<5, n<5 at [i,j,k,l]: (y[i,j + m - 2,k + n - 2,l] where 0 <= j + m - 2 < 41 and 0 <= k + n - 2 < 40 else 0.0f32)
}
";
    let program = surject_ir::parse(text).unwrap();
    let o = optimise(&program, &Options::default()).unwrap();
    assert!(o.report.taken_apart > 0, "{}", o.report);
    let again = optimise(&o.program, &Options::default()).unwrap();
    let (found, told) = (&again.report.blocks[0], &o.report.blocks[0]);
    assert_eq!(found.stores_before, told.plan.stores);
    let ratio = told.plan.flops / found.flops_before;
    assert!((0.9..1.1).contains(&ratio), "{} told, {} found", told.plan.flops, found.flops_before);
    assert!(told.plan.flops < told.flops_before / 2.0, "{}", o.report);
    assert!(!o.report.firings().contains_key("acc-acc"), "{}", o.report);
    assert!(o.report.to_string().contains("windows axis by axis"), "{}", o.report);
}

/// A rule of the user that may not run is named with the flag that lets it.
#[test]
fn refused_rules_are_named_with_the_flag() {
    let text = "rule tenth rounds\n  (/ ?x 10) => (* ?x 0.1)\n";
    let rules = vec![surject_rules::parse("mine.rules", text).unwrap()];
    let o = optimise(&softmax(3, 4), &Options { rules, ..Options::default() }).unwrap();
    let [(rule, why)] = &o.report.refused[..] else { panic!("{}", o.report) };
    assert!(rule == "tenth" && why.contains("--exactness rounds"), "{why}");
}
