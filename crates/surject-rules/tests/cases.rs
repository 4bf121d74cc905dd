//! Files of rules, each of them sound or each of them wrong.

use surject_rules::{check, parse};

/// The text of a file beside this one.
fn text(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// What is wrong with the verdicts on the rules of a text.
fn surprises(source: &str, sound: bool) -> Vec<String> {
    let file = parse("cases.rules", source).unwrap_or_else(|e| panic!("{}", e.render("cases.rules", source)));
    let mut surprises = Vec::new();
    for rule in &file.rules {
        let mut alone = file.clone();
        alone.rules = vec![rule.clone()];
        let start = std::time::Instant::now();
        let verdict = check(&mut alone);
        if std::env::var_os("SURJECT_VERBOSE").is_some() {
            eprintln!("{} {:?}", rule.name, start.elapsed());
        }
        match verdict {
            Ok(()) if !sound => surprises.push(format!("{} is accepted", rule.name)),
            Err(error) if sound => surprises.push(error.render("cases.rules", source)),
            Err(error) if error.code != "SJ0220" => surprises.push(error.render("cases.rules", source)),
            Err(error) if std::env::var_os("SURJECT_VERBOSE").is_some() => {
                eprintln!("{}", error.render("cases.rules", source));
            }
            _ => {}
        }
    }
    surprises
}

#[test]
fn sound() {
    let surprises = surprises(&text("sound.rules"), true);
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

#[test]
fn unsound() {
    let surprises = surprises(&text("unsound.rules"), false);
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

/// Sound rules whose right side is changed a little, at one value, beyond a bound, or by a small part: none is left
/// sound. The right sides take every value, so that each change shows.
#[test]
fn changed_rules_are_refused() {
    let bases = [
        ("reassociates finite", "(+ (sum [k] ?x[k]) (sum [k] ?y[k]))", "(sum [k] (+ ?x[k] ?y[k]))"),
        ("rounds finite", "(* ?x (/ 1 (+ 1 (exp (neg ?y)))))", "(* ?x (logistic ?y))"),
        ("reassociates finite", "(sum [k] (* ?c ?x[k]))", "(* ?c (sum [k] ?x[k]))"),
        ("rounds finite", "(- (* ?x ?x) (* ?y ?y))", "(* (- ?x ?y) (+ ?x ?y))"),
        ("exact", "(- ?x ?y)", "(+ ?x (neg ?y))"),
        ("rounds finite", "(log (exp ?x))", "?x"),
    ];
    let mut state = 0x5u64;
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut accepted = Vec::new();
    for (class, left, right) in bases {
        for change in 0..7 {
            let log = left.starts_with("(log");
            // The logarithm of an exponential has a small range.
            let bound = if log { (random() * 70.0).ceil() } else { 10f64.powi((random() * 12.0) as i32 - 2) };
            let little = 10f64.powi(-(random() * 14.0) as i32);
            let changed = match change {
                0 => format!("(min {right} {bound})"),
                1 => format!("(max {right} {})", -bound),
                2 => format!("(+ {right} {little})"),
                3 => format!("(* {right} {})", 1.0 + little.max(1e-14)),
                4 => format!("(select (eq ?x {}) 0 {right})", (bound * 7.0).ceil()),
                5 => format!("(select (gt {right} {bound}) (neg {right}) {right})"),
                _ => format!("(+ {right} (* {little} (abs {right})))"),
            };
            if change == 4 && left.contains("?x[k]") {
                continue;
            }
            let source = format!("rule changed {class} {left} => {changed}");
            let mut file = parse("changed.rules", &source).unwrap_or_else(|e| panic!("{e}: {source}"));
            match check(&mut file) {
                Err(error) if error.code == "SJ0220" => {}
                Err(error) => panic!("{}", error.render("changed.rules", &source)),
                Ok(()) => accepted.push(source),
            }
        }
    }
    assert!(accepted.is_empty(), "{}", accepted.join("\n"));
}

/// A class and flags that a message advises are those of a rule that is accepted.
#[test]
fn advice_holds() {
    let source = text("wrong.rules");
    let file = parse("wrong.rules", &source).expect("it can be read");
    let mut advised = 0;
    for rule in &file.rules {
        let Err(error) = surject_rules::verify(rule) else { continue };
        let Some(help) = error.help else { continue };
        let words = help.split('`').nth(1).unwrap_or_default();
        let whole = rule.to_string();
        let body = whole.split_once('\n').map_or("", |(_, body)| body);
        let mut better =
            parse("better.rules", &format!("rule {} {words}\n{body}", rule.name)).expect("it can be read");
        assert_eq!(check(&mut better), Ok(()), "{} as {words}", rule.name);
        advised += 1;
    }
    assert!(advised >= 5, "{advised}");
}
