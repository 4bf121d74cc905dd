//! The text form of sizes and facts.

use crate::brute::{Sizes, holds, integer};
use crate::random::Rng;
use surject_index::{Extent, Fact, Facts, ParseError, Relation};

fn extent(text: &str) -> Extent {
    text.parse().unwrap_or_else(|e: ParseError| panic!("{}", e.in_text(text)))
}

#[test]
fn sizes_print_as_they_are_written() {
    for text in [
        "4*n + m - 1",
        "floordiv(n, 2)",
        "max(a, b)",
        "mod(n, 8)",
        "n - (m - 1)",
        "n - (m + 1) + 2",
        "(n + 1)*(m - 1)*2",
        "n*(m*k)",
        "min(in0.1, truncate_size(in2))",
        "size(in1)",
        "floordiv(n - 1, 2) + 1",
        "0 - n",
    ] {
        assert_eq!(extent(text).to_string(), text);
    }
}

#[test]
fn other_ways_to_write_the_same() {
    for (text, printed) in [
        ("n / 2", "floordiv(n, 2)"),
        ("n % 2 + 1", "mod(n, 2) + 1"),
        ("ceildiv(n, 4)", "floordiv(n + 3, 4)"),
        ("ceildiv(n, m)", "floordiv(n + m - 1, m)"),
        ("max(a, b, c)", "max(max(a, b), c)"),
        ("((n)) + (2*3)", "n + 6"),
        ("-n + 5", "0 - n + 5"),
        ("7 % 4", "3"),
    ] {
        assert_eq!(extent(text).to_string(), printed);
    }
    for (text, printed) in [
        ("n >= 4", "n >= 4"),
        ("4 < n", "n > 4"),
        ("n % 2 == 0", "mod(n, 2) == 0"),
        ("mod(n + 1, m) == 0", "mod(n + 1, m) == 0"),
        ("a!=b", "a != b"),
        ("a == 2*b", "a == 2*b"),
    ] {
        assert_eq!(text.parse::<Fact>().unwrap().to_string(), printed);
    }
    let divides = Fact::new(Extent::Const(2), Relation::Divides, extent("n"));
    assert_eq!("mod(n, 2) == 0".parse::<Fact>(), Ok(divides));
}

#[test]
fn what_is_printed_is_read_back() {
    let mut rng = Rng(5);
    let names = ["n", "m", "batch_size"];
    for _ in 0..4000 {
        let extent = rng.extent(&names, 4);
        assert_eq!(extent.to_string().parse(), Ok(extent.clone()), "{extent}");
        let fact = rng.fact(&names);
        assert_eq!(fact.to_string().parse(), Ok(fact.clone()), "{fact}");
        let claim = rng.claim(&names);
        // A remainder of constants is folded as it is read.
        if [&claim.left, &claim.right].iter().all(|side| side.as_const().is_some()) {
            continue;
        }
        assert_eq!(claim.to_string().parse(), Ok(claim.clone()), "{claim}");
    }
}

/// A normal form has the value of the expression wherever both are defined.
#[test]
fn normal_forms_have_the_value_of_the_expression() {
    let mut rng = Rng(6);
    let names = ["n", "m", "k"];
    for round in 0..3000 {
        let known: Facts =
            if round % 2 == 0 { "" } else { "n >= 1, m >= 2, mod(k, 2) == 0" }.parse().unwrap();
        let extent = rng.extent(&names, 4);
        let Some(normal) = known.normal(&extent) else { continue };
        // What a divisibility fact brings in has no text.
        let Some(written) = normal.to_extent() else { continue };
        for number in 0..64u64 {
            let values = [number % 4, number / 4 % 4, number / 16];
            let sizes = Sizes(names.iter().zip(values).map(|(n, v)| (n.to_string(), v)).collect());
            if known.iter().any(|fact| holds(fact, &sizes) != Some(true)) {
                continue;
            }
            if let (Some(value), Some(same)) = (integer(&extent, &sizes), integer(&written, &sizes)) {
                assert_eq!(value, same, "{extent} is {written} at {sizes:?}");
            }
        }
    }
}

#[test]
fn errors_show_the_place() {
    let error = |text: &str| text.parse::<Extent>().unwrap_err().in_text(text);
    insta(&error("4*n + "), "1:7: expected an extent at byte 6\n  4*n + \n        ^");
    insta(&error("max(a, b"), "1:9: expected , at byte 8\n  max(a, b\n          ^");
    insta(&error("floordiv(a)"), "1:1: expected two operands at byte 0\n  floordiv(a)\n  ^");
    insta(&error("n m"), "1:3: expected the end at byte 2\n  n m\n    ^");
    insta(&error("in0"), "1:4: expected . at byte 3\n  in0\n     ^");
    let facts = "n >= 1,\nm = 2";
    let error = facts.parse::<Facts>().unwrap_err().in_text(facts);
    insta(&error, "2:3: expected `==`, `!=`, `<=`, `<`, `>=` or `>` at byte 10\n  m = 2\n    ^");
    assert_eq!(
        "a >= b + 1, b >= a".parse::<Facts>().unwrap_err().to_string(),
        "no sizes satisfy all of: a <= b, b + 1 <= a"
    );
}

fn insta(found: &str, expected: &str) {
    assert_eq!(found, expected, "\n{found}");
}

#[test]
fn nothing_panics_on_any_text() {
    let mut rng = Rng(8);
    let pieces = [
        "n",
        "m",
        "in0",
        ".",
        "1",
        "size",
        "(",
        ")",
        "min",
        "mod",
        "floordiv",
        ",",
        "+",
        "-",
        "*",
        "/",
        "%",
        "==",
        "<=",
        "<",
        "!=",
        "\n",
        " ",
        "ß",
        "∀",
        "99999999999999999999",
        "18446744073709551615",
        "in0.1",
        "0",
    ];
    for _ in 0..20_000 {
        let text: String =
            (0..rng.below(12)).map(|_| pieces[rng.below(pieces.len() as u64) as usize]).collect();
        let show = |error: ParseError| error.in_text(&text).len();
        let _ = text.parse::<Extent>().map_err(show);
        let _ = text.parse::<Fact>().map_err(show);
        let _ = text.parse::<Facts>().map_err(show);
        let _ = Extent::parse_prefix(&text).map_err(show);
    }
    assert!(matches!("-".repeat(9).parse::<Extent>(), Err(ParseError::Expected { at: 1, .. })));
    assert!(matches!("(1+n)".repeat(5000).parse::<Extent>(), Err(ParseError::Expected { .. })));
    assert!(matches!("n+".repeat(5000).parse::<Extent>(), Err(ParseError::TooDeep { .. })));
    assert!(matches!("max(".repeat(5000).parse::<Extent>(), Err(ParseError::TooDeep { .. })));
}
