//! The names that every text has.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use surject_notation::source::{ItemKind, Source};

/// The texts of the library: the same that evaluation reads.
const TEXTS: [&str; 3] = [
    include_str!("../../surject-tensor/prelude/operators.sj"),
    include_str!("../../surject-tensor/prelude/nn.sj"),
    include_str!("../../surject-tensor/prelude/optim.sj"),
];

/// What no text of the library defines. A test holds the list against evaluation.
const BUILTIN: &[&str] = &[
    "dim",
    "file",
    "fill",
    "infinity",
    "false",
    "pi",
    "range",
    "rebatch",
    "repeat",
    "reshape",
    "set_dim",
    "set_equal",
    "set_scale",
    "slice",
    "true",
    "uniform",
    "uniform_at",
    "update",
    "wrap",
];

/// Whether a name has a meaning in every text.
pub fn has(name: &str) -> bool {
    static NAMES: OnceLock<BTreeSet<String>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let mut names: BTreeSet<String> = BUILTIN.iter().map(|name| name.to_string()).collect();
        for item in TEXTS.into_iter().filter_map(|text| Source::parse(text).ok()).flat_map(|s| s.items) {
            match item.kind {
                ItemKind::Function(function) => names.insert(function.name.text),
                ItemKind::Operation(operation) => names.insert(operation.name.text),
                _ => false,
            };
        }
        names
    });
    names.contains(name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn the_names_are_those_of_evaluation() {
        let known: BTreeSet<&str> = surject_tensor::elaborate::library_names().collect();
        let missing: Vec<&&str> = known.iter().filter(|name| !super::has(name)).collect();
        assert!(missing.is_empty(), "not known to the macros: {missing:?}");
        let made_up: Vec<&&str> = super::BUILTIN.iter().filter(|name| !known.contains(**name)).collect();
        assert!(made_up.is_empty(), "known to the macros only: {made_up:?}");
    }
}
