//! Wrong programs, and what is said about them: the whole message.

use surject_notation::source::Source;

/// A name of the snapshot, the code, and a program that is refused.
const WRONG: [(&str, &str, &str); 41] = [
    ("missing_value", "SJ0502", "let x = ;"),
    ("missing_semicolon", "SJ0502", "let x = a\nlet y = b;"),
    ("end_of_text", "SJ0501", "let x = a +"),
    ("unclosed_string", "SJ0501", "let x = a ++ \"ij=>i;"),
    ("unclosed_comment", "SJ0501", "let x = a; /* and so on"),
    ("hash_comment", "SJ0503", "# a network\nlet x = a;"),
    ("unclosed_bracket", "SJ0502", "let x = [1, 2;\nlet y = 3;"),
    ("keyword_as_name", "SJ0502", "let let = 3;"),
    ("number_into_name", "SJ0502", "let x = 3w;"),
    ("large_number", "SJ0505", "let x = 1e999;"),
    ("size_zero", "SJ0505", "input x: \"4|0->3\";"),
    ("two_markers", "SJ0507", "input x: \"3,<>,4,<>\";"),
    ("several_results", "SJ0502", "let y = x ++ \"ij => i; j\";"),
    ("cut_of_a_sum", "SJ0502", "let [p, q] = x + y;"),
    ("cut_into_too_many", "SJ0509", "let [p, q, r] = x ++^ \"a^b => a; b\";"),
    ("cut_name_twice", "SJ0519", "let [p, _, p, _] = x ++^ \"a^b^c^d => a; b; c; d\";"),
    ("where_composes", "SJ0515", "{ v } =:+ where(a, b, c) ~logic:\"@\";"),
    ("slice_of_a_sum", "SJ0516", "(a + b) @| i =: c;"),
    ("slice_at_a_number", "SJ0516", "a @| 3 =: c;"),
    ("index_range", "SJ0505", "index i < 0;"),
    ("spec_inside", "SJ0507", "let y = x ++ \"... a ... => a\";"),
    ("spec_name_twice", "SJ0508", "let y = a +* b \"..d.., d; d, e => ..d.., e\";"),
    ("spec_arity", "SJ0509", "let y = a +* b \"ij=>i\";"),
    ("block_arity", "SJ0509", "let y = [a, b, c] ++^ \"a; b => a^b\";"),
    ("capture", "SJ0512", "let y = x ++ \"...|hd => ...|h\" [\"h\", \"k\"];"),
    ("missing_spec", "SJ0502", "let y = a +* b + c;"),
    ("spec_then_tighter", "SJ0520", "let y = a ++ \"ij=>i\" *. b;"),
    ("comparisons_chain", "SJ0520", "let y = a < b < c;"),
    ("exponent", "SJ0520", "let y = a **. (b + c);"),
    ("primitive_power", "SJ0520", "let y = a ** 2;"),
    ("product_without_logic", "SJ0514", "p =- rate * delta;"),
    ("quotient_composes", "SJ0515", "p =- rate / delta ~logic:\"@\";"),
    ("transposed_sum", "SJ0515", "p =+ a + b ~logic:\"T\";"),
    ("plain_equals", "SJ0502", "p = q;"),
    ("assigned_sum", "SJ0516", "a + b =: c;"),
    ("ragged", "SJ0517", "let x = [[1, 2, 3], [4, 5]];"),
    ("memory_order", "SJ0517", "let x = ([1, 2], [3, 4]);"),
    ("inline_key", "SJ0518", "let y = { w = 0., rows = [3] } * x;"),
    ("parameter_twice", "SJ0519", "fn f(a, a) = a;"),
    ("slot_beyond_arity", "SJ0521", "op f(x) {\n  v =: relu(v1)\n} grad {\n  g2 =+ g\n}"),
    ("unknown_part", "SJ0521", "let y = x.gradient;"),
];

#[test]
fn wrong_programs_are_refused_with_a_pointed_message() {
    let mut all = String::new();
    for (name, code, text) in WRONG {
        let error = match Source::parse(text) {
            Err(error) => error,
            Ok(source) => panic!("{name} is accepted: {source}"),
        };
        assert_eq!(error.code(), code, "{}", error.render(name, text));
        all += &error.render(&format!("{name}.sj"), text);
        all.push('\n');
    }
    insta::assert_snapshot!("wrong_programs", all);
}

#[test]
fn groups_of_parameters() {
    let text = "fn f(a)(b) = a;";
    let error = Source::parse(text).unwrap_err();
    assert_eq!(error.span.of(text), "(b)");
    assert!(error.help.is_some_and(|h| h.contains("f(config)()(tensors)")));
}
