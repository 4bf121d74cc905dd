//! The symbolic sizes that a source declares: by `size`, in the shapes of its inputs, and by facts about their labels.

use super::{Item, ItemKind, Name};
use crate::spec::AxisKind;
use crate::{ShapeSpec, Span};
use std::collections::HashSet;

impl Item {
    /// The facts about sizes that the item states.
    pub fn facts(&self) -> &[Name] {
        match &self.kind {
            ItemKind::Where(facts) | ItemKind::Input { facts, .. } => facts,
            _ => &[],
        }
    }

    fn shape(&self) -> Option<&ShapeSpec> {
        match &self.kind {
            ItemKind::Input { shape, .. } => shape.as_ref(),
            _ => None,
        }
    }
}

/// The sizes that shapes and facts declare, each once; those that a `size` declares are not among them.
///
/// A fact declares no more than the labels of inputs that it names: any other name in it is a mistake.
pub fn implied_sizes(items: &[Item]) -> Vec<Name> {
    let mut seen: HashSet<&str> = items
        .iter()
        .filter_map(|item| match &item.kind {
            ItemKind::Sizes(names) => Some(names),
            _ => None,
        })
        .flatten()
        .map(|name| name.text.as_str())
        .collect();
    let facts: HashSet<&str> =
        items.iter().flat_map(Item::facts).flat_map(|fact| names_in(&fact.text)).collect();
    let mut sizes = Vec::new();
    for shape in items.iter().filter_map(Item::shape) {
        let declared = shape.declared_sizes();
        let stated = bare_labels(shape).filter(|(name, _)| facts.contains(name));
        for (name, span) in declared.into_iter().chain(stated) {
            if seen.insert(name) {
                sizes.push(Name { text: name.to_string(), span });
            }
        }
    }
    sizes
}

/// The labels of a shape that it gives no size.
fn bare_labels(shape: &ShapeSpec) -> impl Iterator<Item = (&str, Span)> {
    let sized = |name: &str| {
        shape.axes().any(|axis| matches!(&axis.kind, AxisKind::Labelled(label, _) if label.name == name))
    };
    shape.axes().filter_map(move |axis| match &axis.kind {
        AxisKind::Label(name) if !sized(name) => Some((name.as_str(), axis.span)),
        _ => None,
    })
}

/// The names in a fact; those of functions are none.
fn names_in(fact: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = Vec::new();
    let mut rest = fact;
    while let Some(start) = rest.find(is_part) {
        let word = &rest[start..];
        let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
        let called = word[end..].trim_start().starts_with('(');
        if !called && !word.starts_with(|c: char| c.is_ascii_digit()) {
            names.push(&word[..end]);
        }
        rest = &word[end..];
    }
    names
}
