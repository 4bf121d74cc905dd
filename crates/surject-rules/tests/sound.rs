//! Soundness by interpretation: the laws and the rules of users hold, wrong rules do not.

use surject_rules::{RuleFile, TypeClass, check, parse, verify};

fn file(source: &str) -> RuleFile {
    let file = parse("mine.rules", source).unwrap_or_else(|e| panic!("{}", e.render("mine.rules", source)));
    surject_rules::check_static(&file).unwrap_or_else(|e| panic!("{}", e.render("mine.rules", source)));
    file
}

/// What is said of each rule.
fn outcomes(source: &str) -> String {
    let file = file(source);
    let words = |classes: &[TypeClass]| classes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let outcome = |rule| match verify(rule) {
        Ok(found) if found.unsound.is_empty() => format!("{}: {}\n", rule.name, words(&found.sound)),
        Ok(found) => format!("{}: {}; not for {}\n", rule.name, words(&found.sound), words(&found.unsound)),
        Err(error) => format!("{}\n", error.render("mine.rules", source)),
    };
    file.rules.iter().map(outcome).collect()
}

#[test]
fn rules_of_users() {
    let source = include_str!("user.rules");
    assert_eq!(check(&mut file(source)), Ok(()));
    insta::assert_snapshot!(outcomes(source));
}

#[test]
fn wrong_rules() {
    insta::assert_snapshot!(outcomes(include_str!("wrong.rules")));
}

/// Every law holds for every kind of element type it can have.
#[test]
fn laws() {
    let source = include_str!("../../surject-egraph/laws/laws.rules");
    for rule in &file(source).rules {
        match verify(rule) {
            Ok(found) => assert_eq!(found.unsound, [], "{}", rule.name),
            Err(error) => panic!("{}", error.render("laws.rules", source)),
        }
    }
}

#[test]
fn nothing_to_check() {
    let source = "rule never exact (read ?M ?x) => (read ?M ?x) where injective ?M, not injective ?M";
    let error = check(&mut file(source)).expect_err("no map is both");
    insta::assert_snapshot!(error.render("mine.rules", source));
}

/// The same seeds give the same answer.
#[test]
fn deterministic() {
    let source = "rule r exact (+ (+ ?a ?b) ?c) => (+ ?a (+ ?b ?c))";
    let rule = &file(source).rules[0];
    assert_eq!(verify(rule), verify(rule));
}

/// A long rule is checked on fewer instances, in the same time.
#[test]
fn long_rules() {
    let mut tree = "(* ?x[k] ?y)".to_string();
    (0..6).for_each(|_| tree = format!("(max {tree} {tree})"));
    let source = format!("rule long exact (sum [k] {tree}) => (sum [k] (* ?x[k] ?y))");
    assert_eq!(check(&mut file(&source)), Ok(()));
}
