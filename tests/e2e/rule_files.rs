//! Rule files: what users write, and every kind of mistake.

use crate::support::{own_case, surject};
use surject::Status;

fn with_rules(name: &str, rules: &str) -> Result<String, surject::Failure> {
    let file = std::env::temp_dir().join(format!("surject-{}-{name}.rules", std::process::id()));
    std::fs::write(&file, rules).expect("the temporary folder is writable");
    let path = file.to_str().expect("paths are text");
    let result =
        surject(&["opt", &own_case("softmax").program, "--rules", path, "--exactness", "rounds", "--stats"]);
    std::fs::remove_file(&file).expect("the file is ours");
    result.map_err(|mut f| {
        f.message = f.message.replace(path, "mine.rules");
        f
    })
}

#[test]
fn a_user_rule_fires() {
    let rule = "rule softmax-shift rounds finite no-overflow
      (/ (exp (- ?x[k] ?m)) (sum [k] (exp (- ?x[k] ?m)))) => (/ (exp ?x[k]) (sum [k] (exp ?x[k])))";
    let text = with_rules("fires", rule).expect("the rule is sound");
    assert!(text.contains("softmax-shift"), "{text}");
}

#[test]
fn mistakes_are_refused() {
    let wrong = [
        ("unbound", "rule r exact (exp ?x) => (exp ?y)"),
        ("out_of_scope", "rule r rounds (sum [k] ?x[k]) => (exp ?x[k])"),
        ("other_axes", "rule r rounds (sum [k] ?x[k]) => (sum [j] ?x[k])"),
        ("two_ways", "rule r exact (+ ?x (- ?y ?y)) <=> ?x"),
        ("types_differ", "rule r exact (lt ?x ?y) => (- ?x ?y)"),
        ("spaces_differ", "rule r exact (read ?M ?x) => ?x"),
        ("unknown_condition", "rule r exact (exp ?x) => (exp ?x) where sunny ?x"),
        ("unknown_operation", "rule r exact (frobnicate ?x) => ?x"),
        ("unknown_class", "rule r perhaps (exp ?x) => (exp ?x)"),
        ("unclosed", "rule r exact (exp (log ?x) => ?x"),
        ("wrong", "rule max-scale exact (max [k] (* ?c ?x[k])) => (* ?c (max [k] ?x[k]))"),
        ("wrong_class", "rule assoc exact (+ (+ ?a ?b) ?c) => (+ ?a (+ ?b ?c))"),
        (
            "softmax_shift",
            "rule softmax-shift rounds finite
  (/ (exp (- ?x[k] ?m)) (sum [k] (exp (- ?x[k] ?m)))) => (/ (exp ?x[k]) (sum [k] (exp ?x[k])))",
        ),
    ];
    for (name, rule) in wrong {
        let failure = with_rules(name, rule).expect_err(name);
        assert_eq!(failure.status, Status::BadInput, "{name}: {failure}");
        insta::assert_snapshot!(format!("rule__{name}"), failure.message);
    }
}
