//! The parser and the static checks on any input: an answer or an error, never a panic; and printing is parsing
//! backwards.

use proptest::prelude::*;
use surject_rules::{RuleFile, check_static, parse};

const FILES: [&str; 3] = [
    include_str!("../../surject-egraph/laws/laws.rules"),
    include_str!("user.rules"),
    include_str!("wrong.rules"),
];

/// The rules without their places.
fn without_spans(file: &RuleFile) -> String {
    let text = format!("{:?}", file.rules);
    let mut parts = text.split("Span { start: ");
    let mut result = parts.next().unwrap_or_default().to_string();
    for part in parts {
        result += part.split_once('}').map_or(part, |(_, rest)| rest);
    }
    result
}

fn round_trip(file: &RuleFile) {
    let printed = file.to_string();
    let again = parse("printed.rules", &printed)
        .unwrap_or_else(|e| panic!("{}", e.render("printed.rules", &printed)));
    assert_eq!(without_spans(file), without_spans(&again), "{printed}");
    assert_eq!(printed, again.to_string());
}

#[test]
fn printing_is_parsing_backwards() {
    for source in FILES {
        round_trip(&parse("a.rules", source).expect("the files are right"));
    }
    let all = "rule every exact zero-sign finite no-overflow phase last
      (stablehlo.dot [dims = 3, of = x] ?x (sum [k, j] (prod [i] (- ?y[i, j, k]))) -0.0 1e300 -inf nan 0.1)
      <=> (acc set (compose ?N (inverse ?M (neutral ?o))) (read (inverse ?K -0.5) (read (identity #k) ?x[])))
      where not constant ?x -1, distributes + ?o, dtype ?x bf16 where maps-fill max ?M
      let ?a, ?b = fibre ?N ?M let ?c = unread ?x ?M let ?d = through ?N ?M let ?e, ?f, #g = drop ?M ?x";
    let file = parse("all.rules", all).unwrap_or_else(|e| panic!("{}", e.render("all.rules", all)));
    round_trip(&file);
    insta::assert_snapshot!(file.to_string());
}

/// Parses and checks, and renders what is said.
fn run(source: &str) {
    if let Err(error) = parse("a.rules", source).and_then(|file| check_static(&file)) {
        assert!(!error.render("a.rules", source).is_empty());
    }
}

#[test]
fn large_and_deep() {
    let deep = |open: &str, n: usize| format!("rule r exact {} ?x => ?x", open.repeat(n));
    for open in [
        "(exp ",
        "(read ?M ",
        "(sum [k] ",
        "(read (inverse ",
        "(read (identity ",
        "(stablehlo.f ",
        "((",
        "[",
        "(read (compose ",
    ] {
        let source = deep(open, 100_000 / open.len());
        let error = parse("a.rules", &source).expect_err("too deep or malformed");
        assert!(["SJ0201", "SJ0204", "SJ0205"].contains(&error.code), "{error}");
        assert!(error.render("a.rules", &source).len() > 10);
    }
    let closed = |n: usize| format!("rule r exact {}?x{} => (exp ?x)", "(exp ".repeat(n), ")".repeat(n));
    run(&closed(64));
    assert!(parse("a.rules", &closed(63)).is_ok());
    assert_eq!(parse("a.rules", &closed(100)).expect_err("deep").code, "SJ0204");
    let mut tree = "?x".to_string();
    (0..10).for_each(|_| tree = format!("(+ {tree} {tree})"));
    let file = parse("a.rules", &format!("rule r exact {tree} => (exp ?x)")).expect("the grammar allows it");
    assert_eq!(check_static(&file).expect_err("long").code, "SJ0204");
    let many: String = (0..1500)
        .map(|i| format!("rule r{i} exact (exp (exp ?x)) => (exp (exp ?x)) where dtype ?x f32\n"))
        .collect();
    assert!(many.len() > 100_000);
    run(&many);
    let wide = format!("rule r exact (stablehlo.f {}) => ?x", "?x ".repeat(40_000));
    run(&wide);
    let axes = format!(
        "rule r exact (sum [{}] ?x) => ?x",
        (0..20_000).map(|i| format!("k{i}")).collect::<Vec<_>>().join(",")
    );
    run(&axes);
    run(&"#\n".repeat(50_000));
    run(&"é".repeat(50_000));
    run(&format!("rule r exact (exp {}) => ?x", "9".repeat(100_000)));
}

const WORDS: [&str; 30] = [
    "(", ")", "[", "]", ",", "=>", "<=>", "=", "?x", "?M", "?x[k]", "#k", "#", "1", "-inf", "-0.0", "1e",
    "exp", "+", "select", "acc", "read", "set", "where", "not", "let", "compose", "sum [k]", "?f", "\u{e9}",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn mutated_files_do_not_panic(
        which in 0..FILES.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..4, any::<prop::sample::Index>()), 1..6),
        part in any::<prop::sample::Index>(),
    ) {
        // One rule of the file is enough, and leaves time for more of them.
        let rules: Vec<&str> = FILES[which].split("\nrule ").collect();
        let mut source: Vec<char> = format!("rule {}", rules[part.index(rules.len())].trim_start_matches("rule ")).chars().collect();
        for (at, kind, word) in edits {
            let at = at.index(source.len() + 1);
            let end = (at + word.index(6)).min(source.len());
            match kind {
                0 => drop(source.drain(at..end)),
                1 => drop(source.splice(at..end, WORDS[word.index(WORDS.len())].chars())),
                2 => drop(source.splice(at..at, WORDS[word.index(WORDS.len())].chars())),
                _ => {
                    let copy: Vec<char> = source[at..end].to_vec();
                    let to = word.index(source.len() + 1);
                    drop(source.splice(to..to, copy));
                }
            }
        }
        run(&source.into_iter().collect::<String>());
    }

    #[test]
    fn word_salad_does_not_panic(words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..40)) {
        run(&format!("rule r exact {}", words.join(" ")));
    }

    #[test]
    fn any_text_does_not_panic(text in any::<String>()) {
        run(&text);
    }
}
