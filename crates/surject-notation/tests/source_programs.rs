//! Programs read, print and read back as the same tree; no text makes the parser fall over.

use proptest::prelude::*;
use surject_notation::source::{ItemKind, Logic, PRIMITIVES, Slot, Source};
use surject_notation::{ShapeSpec, Spec};

const PROGRAMS: [(&str, &str); 4] = [
    ("mlp", include_str!("programs/mlp.sj")),
    ("attention", include_str!("programs/attention.sj")),
    ("operations", include_str!("programs/operations.sj")),
    ("literals", include_str!("programs/literals.sj")),
];

fn parse(name: &str, text: &str) -> Source {
    Source::parse(text).unwrap_or_else(|e| panic!("{}", e.render(name, text)))
}

#[test]
fn programs_print_as_they_should_and_read_back() {
    for (name, text) in PROGRAMS {
        let source = parse(name, text);
        let printed = source.to_string();
        insta::assert_snapshot!(name, printed);
        assert_eq!(parse(name, &printed), source, "{printed}");
    }
}

#[test]
fn the_outermost_operator_of_an_assignment_is_its_primitive() {
    let source =
        parse("sgd", "p =- rate *. delta; p =- rate * delta ~logic:\".\"; { d } =: p.grad + (a *. p);");
    let found: Vec<(String, usize, bool)> = source
        .items
        .iter()
        .map(|item| match &item.kind {
            ItemKind::Assign(a) => (a.primitive.name.to_string(), a.arguments.len(), a.reset),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [("identity", 1, false), ("mul", 2, false), ("add", 2, true)];
    assert_eq!(found, expected.map(|(name, n, reset)| (name.to_string(), n, reset)));
}

#[test]
fn the_logic_of_operations_and_assignments() {
    let source = parse("op", "op f(a, b) ~logic:\"ij;jk=>ik\" { v =:+ v1 * v2; v =+ v1 * v2 ~logic:\"@\" }");
    let ItemKind::Operation(operation) = &source.items[0].kind else { panic!() };
    assert!(matches!(operation.logic, Some(Logic::Spec(_))));
    assert_eq!(operation.forward[0].logic, None);
    assert_eq!(operation.forward[1].logic, Some(Logic::Compose));
}

#[test]
fn names_claim_slots() {
    let claims = [
        ("v", Some(Slot::Lhs)),
        ("t", Some(Slot::Lhs)),
        ("g2", Some(Slot::Rhs(2))),
        ("rhs3", Some(Slot::Rhs(3))),
        ("lhs_sum", Some(Slot::Lhs)),
        ("sum_lhs", Some(Slot::Lhs)),
        ("mask_rhs", Some(Slot::Rhs(1))),
        ("mask_rhs2", Some(Slot::Rhs(2))),
        ("value", None),
        ("v4", None),
        ("learning_rate", None),
    ];
    for (name, slot) in claims {
        assert_eq!(Slot::of_name(name), slot, "{name}");
    }
}

#[test]
fn primitives_have_one_name_each() {
    for (at, p) in PRIMITIVES.iter().enumerate() {
        assert!(PRIMITIVES[..at].iter().all(|q| q.name != p.name), "{}", p.name);
        assert!((1..=3).contains(&p.arity));
    }
}

#[test]
fn places_inside_specs_are_places_of_the_source() {
    let text = "let y = x ++ \"ij=>ik&\";";
    let error = Source::parse(text).unwrap_err();
    assert_eq!(error.span.of(text), "&");
}

/// PA17 in a source: an operation of three operands with a spec of two.
#[test]
fn a_spec_has_as_many_operands_as_the_primitive_it_is_for() {
    for call in ["einsum3(a, b, c, \"ij;jk=>im\")", "where(a, b, c, \"ij;jk=>im\")"] {
        let error = Source::parse(&format!("let y = {call};")).unwrap_err();
        assert_eq!(error.message, "Invalid einsum spec (expected three arguments)");
        assert_eq!(error.code(), "SJ0509");
    }
    parse("mine", "let y = mine(a, b, c, \"ij;jk=>im\");");
}

#[test]
fn deep_texts_are_errors_or_trees() {
    let deep = |open: &str, close: &str| format!("let x = {}1{};", open.repeat(5000), close.repeat(5000));
    for (open, close) in
        [("(", ")"), ("[", "]"), ("-", ""), ("1 + ", ""), ("f(", ")"), ("|x| ", ""), ("{ a = ", "}")]
    {
        assert_eq!(Source::parse(&deep(open, close)).unwrap_err().code(), "SJ0504", "{open}");
    }
    assert_eq!(Source::parse(&format!("x{}", ".grad".repeat(5000))).unwrap_err().code(), "SJ0504");
    assert_eq!(Source::parse(&"fn f(x) {".repeat(5000)).unwrap_err().code(), "SJ0504");
    // Twenty brackets and a chain of 400 sums are no depth.
    assert!(Source::parse(&format!("let x = {}1{};", "(a + ".repeat(20), ")".repeat(20))).is_ok());
    let sum = format!("let x = 1{};", " + 1".repeat(400));
    let source = parse("sum", &sum);
    assert_eq!(parse("sum", &source.to_string()), source);
}

/// Reads, and where that succeeds prints and reads back.
fn survives(text: &str) {
    match Source::parse(text) {
        Ok(source) => {
            let printed = source.to_string();
            match Source::parse(&printed) {
                Ok(again) => assert_eq!(again, source, "{text}\n{printed}"),
                Err(error) => panic!("{text}\n{}", error.render("printed", &printed)),
            }
        }
        Err(error) => {
            assert!(error.span.start <= error.span.end && error.span.end <= text.len(), "{error:?}");
            let _ = error.render("text", text);
        }
    }
}

const PIECES: [&str; 60] = [
    "a",
    "b",
    "v1",
    "input",
    "index",
    "op",
    "let",
    "fn",
    "grad",
    "x",
    "1",
    "2.5",
    ".",
    ",",
    ";",
    ":",
    "(",
    ")",
    "[",
    "]",
    "[|",
    "|]",
    "{",
    "}",
    "|",
    "+",
    "-",
    "*",
    "*.",
    "/",
    "/.",
    "**",
    "**.",
    "+*",
    "++",
    "+++",
    "++^",
    "@|",
    "@^+",
    "@^^",
    "<",
    "==",
    "!=",
    "&&",
    "||",
    "!.",
    "!..",
    "!@",
    "=",
    "=:",
    "=+",
    "=:+",
    "~logic:\".\"",
    "\"ij=>i\"",
    "\"i;j=>ij\"",
    "[\"i\"]",
    "relu",
    "// c\n",
    "/* c */",
    "é",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn mutated_programs_survive(
        program in 0..PROGRAMS.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..PIECES.len(), 0..3u8), 1..5),
    ) {
        let mut text = PROGRAMS[program].1.to_string();
        for (at, piece, change) in changes {
            let mut at = at.index(text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let length = text[at..].chars().next().map_or(0, char::len_utf8);
            match change {
                0 => text.insert_str(at, PIECES[piece]),
                1 => text.replace_range(at..at + length, ""),
                _ => text.replace_range(at..at + length, PIECES[piece]),
            }
        }
        survives(&text);
    }

    #[test]
    fn soups_of_tokens_survive(pieces in prop::collection::vec(0..PIECES.len(), 0..30), blank in any::<bool>()) {
        let pieces: Vec<&str> = pieces.into_iter().map(|p| PIECES[p]).collect();
        survives(&pieces.join(if blank { " " } else { "" }));
    }

    #[test]
    fn any_text_survives(text in "\\PC{0,40}") {
        survives(&text);
        for answer in [Spec::parse(&text).err(), ShapeSpec::parse(&text).err()] {
            let _ = answer.map(|e| e.render("text", &text));
        }
    }
}
