//! The library of the notation: every text reads, prints and reads back, and every operator is one.

use surject_notation::source::{ItemKind, Source};
use surject_tensor::{Operator, prelude};

#[test]
fn every_text_reads_prints_and_reads_back() {
    for (name, text) in prelude::TEXTS {
        let source = Source::parse(text).unwrap_or_else(|e| panic!("{}", e.render(name, text)));
        let printed = source.to_string();
        let again = Source::parse(&printed).unwrap_or_else(|e| panic!("{}", e.render(name, &printed)));
        assert_eq!(source, again, "{name}");
    }
}

#[test]
fn every_operator_is_one() {
    for (name, text) in prelude::TEXTS {
        for item in Source::parse(text).unwrap().items {
            if let ItemKind::Operation(operation) = item.kind {
                let operator = Operator::of_item(&operation).unwrap_or_else(|e| panic!("{name}: {e}"));
                assert!(!operator.forward.is_empty(), "{}", operator.name);
                assert!(prelude::operator(&operator.name).is_ok());
            }
        }
    }
}
