//! The page of error codes: each example gives the code of its section, and each code has a section.

use surject_notation::source::Source;
use surject_notation::{NotationErrorKind, Spec};

#[test]
fn every_example_gives_its_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors/notation.md");
    let page = std::fs::read_to_string(path).unwrap();
    let mut sections = Vec::new();
    for section in page.split("\n## ").skip(1) {
        let code = section.split_whitespace().next().unwrap();
        sections.push(code.to_string());
        let Some((kind, example)) = section.split_once("```").and_then(|(_, b)| b.split_once('\n')) else {
            continue;
        };
        let example = example.split("\n```").next().unwrap();
        let error = match kind {
            "spec" => Spec::parse(example).unwrap_err(),
            "sj" => Source::parse(example).unwrap_err(),
            other => panic!("{code}: {other}"),
        };
        assert_eq!(error.code(), code, "{example}");
    }
    let last = NotationErrorKind::NoSuchPart.code()[2..].parse::<u32>().unwrap();
    let expected: Vec<String> = (501..=last).map(|n| format!("SJ{n:04}")).collect();
    assert_eq!(sections, expected);
}
