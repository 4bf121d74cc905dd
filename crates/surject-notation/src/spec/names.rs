//! What follows from the names of a spec: captures, arity, padding, components that may be empty.

use super::{Axis, AxisKind, Component, Padding, RowSpec, ShapeSpec, Spec};
use crate::{NotationError, NotationErrorKind, Span};
use std::collections::{BTreeMap, BTreeSet};

/// A name that a spec binds to a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The name, which the spec has too.
    pub name: String,
    /// What is bound.
    pub target: CaptureTarget,
    /// Where the capture stands.
    pub span: Span,
}

/// What a capture binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CaptureTarget {
    /// The size of the axes of a label.
    Dimension,
    /// The product of the sizes of a row variable's axes; one for no axes.
    RowProduct,
}

/// The labels of an axis; of an affine axis both, of a concatenation those of its components.
fn labels(axis: &Axis) -> Vec<(&str, Span)> {
    match &axis.kind {
        AxisKind::Label(name) => vec![(name, axis.span)],
        AxisKind::Labelled(label, _) => vec![(&label.name, label.span)],
        AxisKind::Placeholder | AxisKind::Index(_) | AxisKind::Size(..) | AxisKind::Extent(..) => Vec::new(),
        AxisKind::Affine(a) => {
            let kernels = a.kernels.iter().map(|k| &k.label);
            [&a.over].into_iter().chain(kernels).map(|l| (l.name.as_str(), l.span)).collect()
        }
        AxisKind::Concat(parts) => parts.iter().filter_map(component_label).collect(),
    }
}

fn component_label(part: &Component) -> Option<(&str, Span)> {
    match part {
        Component::Label(label) => Some((&label.name, label.span)),
        Component::Size(..) => None,
    }
}

fn rows(shape: &ShapeSpec) -> impl Iterator<Item = &RowSpec> {
    shape.rows().map(|(_, row)| row)
}

/// Refuses a name that is both a dimension variable and a row variable.
pub(super) fn check<'a>(shapes: impl Iterator<Item = &'a ShapeSpec>) -> Result<(), NotationError> {
    let shapes: Vec<&ShapeSpec> = shapes.collect();
    let row_names: BTreeMap<&str, Span> = shapes
        .iter()
        .flat_map(|s| rows(s))
        .filter_map(|row| row.variable.as_ref().map(|v| (v.name.as_str(), v.span)))
        .collect();
    for (name, span) in shapes.iter().flat_map(|s| s.axes()).flat_map(labels) {
        let Some(row) = row_names.get(name) else { continue };
        let error = NotationError::new(
            NotationErrorKind::DimAndRow,
            span,
            format!("`{name}` is used as both a dimension variable and a row variable"),
        );
        let dots = row.end - row.start == 3;
        return Err(error.with_help(if dots {
            format!("`...` in the {name} row is the row variable `..{name}..`; rename the label")
        } else {
            format!("rename the label, or the row variable `..{name}..`")
        }));
    }
    Ok(())
}

/// Refuses a label with two sizes.
pub(super) fn check_sizes(shape: &ShapeSpec) -> Result<(), NotationError> {
    let mut known: BTreeMap<&str, &AxisKind> = BTreeMap::new();
    for axis in shape.axes() {
        let AxisKind::Labelled(label, size) = &axis.kind else { continue };
        match known.get(label.name.as_str()) {
            Some(first) if **first != size.kind => {
                let message = format!("the label `{}` has two sizes", label.name);
                let error = NotationError::new(NotationErrorKind::Twice, axis.span, message);
                return Err(error.with_help("the axes of one label have one size; give them two labels"));
            }
            _ => known.insert(&label.name, &size.kind),
        };
    }
    Ok(())
}

impl ShapeSpec {
    /// The names of sizes that the shape declares: those behind a `label=`, and in a shape that has one of these all bare
    /// names that are none of its labels.
    pub fn declared_sizes(&self) -> Vec<(&str, Span)> {
        let labels: BTreeSet<&str> = self
            .axes()
            .filter_map(|axis| match &axis.kind {
                AxisKind::Labelled(label, _) => Some(label.name.as_str()),
                _ => None,
            })
            .collect();
        if labels.is_empty() {
            return Vec::new();
        }
        let sizes = self.axes().filter_map(|axis| match &axis.kind {
            AxisKind::Label(name) if !labels.contains(name.as_str()) => Some((name.as_str(), axis.span)),
            AxisKind::Labelled(_, size) => size_name(size),
            _ => size_name(axis),
        });
        let mut seen = BTreeSet::new();
        sizes.filter(|(name, _)| seen.insert(*name)).collect()
    }
}

/// The name of a size, if an axis is one.
fn size_name(axis: &Axis) -> Option<(&str, Span)> {
    match &axis.kind {
        AxisKind::Extent(text, _) if super::print::is_size_name(text) => Some((text.as_str(), axis.span)),
        _ => None,
    }
}

impl Spec {
    /// The names of the dimension variables, in order of appearance, operands first.
    pub fn dimension_names(&self) -> Vec<&str> {
        first_appearances(self.shapes().flat_map(ShapeSpec::axes).flat_map(labels).map(|(name, _)| name))
    }

    /// The names of the row variables, in order of appearance, operands first.
    pub fn row_names(&self) -> Vec<&str> {
        let variables = self.shapes().flat_map(rows).filter_map(|row| row.variable.as_ref());
        first_appearances(variables.map(|v| v.name.as_str()))
    }

    /// The spec, if it has as many operands as its operation and one result.
    pub fn with_arity(self, operation: &str, arity: usize) -> Result<Spec, NotationError> {
        if let Some(second) = self.further.first() {
            let message = "this operation has one result";
            let error = NotationError::new(NotationErrorKind::Unexpected, second.span, message);
            return Err(error
                .expecting(&["the end of the spec"])
                .with_help("only a cut gives several: `let [p, q] = x ++^ \"a^b => a; b\";`"));
        }
        self.with_operands(operation, arity)
    }

    /// The spec, if it has as many operands as its operation.
    pub fn with_operands(self, operation: &str, arity: usize) -> Result<Spec, NotationError> {
        if self.operands.len() == arity {
            return Ok(self);
        }
        let counted = match arity {
            1 => "one argument".to_string(),
            2 => "two arguments".to_string(),
            3 => "three arguments".to_string(),
            n => format!("{n} arguments"),
        };
        let message = format!("Invalid {operation} spec (expected {counted})");
        let help = format!("the spec has {} before `=>`, separated by `;`", self.operands.len());
        Err(NotationError::new(NotationErrorKind::Arity, self.span, message).with_help(help))
    }

    /// What the captured names bind.
    pub fn captures(&self, names: &[(String, Span)]) -> Result<Vec<Capture>, NotationError> {
        let dimensions: BTreeSet<&str> = self.dimension_names().into_iter().collect();
        let rows: BTreeSet<&str> = self.row_names().into_iter().collect();
        let mut seen = BTreeSet::new();
        let resolve = |(name, span): &(String, Span)| {
            if !seen.insert(name.clone()) {
                let message = format!("`{name}` is captured twice");
                return Err(NotationError::new(NotationErrorKind::Twice, *span, message));
            }
            let target = match (dimensions.contains(name.as_str()), rows.contains(name.as_str())) {
                (true, _) => CaptureTarget::Dimension,
                (_, true) => CaptureTarget::RowProduct,
                _ => {
                    let message = format!("the spec has neither a label nor a row variable `{name}`");
                    let known: Vec<String> =
                        dimensions.iter().chain(&rows).map(|n| format!("`{n}`")).collect();
                    let error = NotationError::new(NotationErrorKind::Capture, *span, message);
                    return Err(error.with_help(format!("it has {}", known.join(", "))));
                }
            };
            Ok(Capture { name: name.clone(), target, span: *span })
        };
        names.iter().map(resolve).collect()
    }

    /// Gives every convolved axis without a mark the padding of its surroundings. Without any (`None`) such an
    /// axis is an error.
    pub fn resolve_padding(&mut self, ambient: Option<bool>) -> Result<(), NotationError> {
        for shape in self.operands.iter_mut().chain([&mut self.result]).chain(&mut self.further) {
            for row in [&mut shape.batch, &mut shape.input, &mut shape.output] {
                for axis in row.leading.iter_mut().chain(&mut row.trailing) {
                    let AxisKind::Affine(affine) = &mut axis.kind else { continue };
                    for kernel in &mut affine.kernels {
                        if kernel.padding != Padding::Unspecified {
                            continue;
                        }
                        kernel.padding = match ambient {
                            Some(true) => Padding::Padded,
                            Some(false) => Padding::Valid,
                            None => {
                                let message = "nothing says whether this axis is padded";
                                let error =
                                    NotationError::new(NotationErrorKind::Padding, axis.span, message);
                                return Err(error.with_help(format!(
                                    "write `{over}=+{k}` for padded or `{over}<+{k}` for valid",
                                    over = affine.over.name,
                                    k = kernel.label.name
                                )));
                            }
                        };
                    }
                }
            }
        }
        Ok(())
    }

    /// The *discardable* dimension variables, which may turn out to have size zero: parts of a concatenation that
    /// the other side projects away. `a^b=>a` discards `b`; `a;b=>a^c` discards nothing.
    ///
    /// A variable is discardable if it stands in a component of a concatenation, and every shape of the other side
    /// has an axis all of whose components share a variable with the *other* components of that concatenation.
    pub fn discardable(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let operands: Vec<&ShapeSpec> = self.operands.iter().collect();
        let results: Vec<&ShapeSpec> = self.results().collect();
        for (side, others) in [(&operands, &results), (&results, &operands)] {
            let concats = side.iter().flat_map(|s| s.axes()).filter_map(|axis| match &axis.kind {
                AxisKind::Concat(parts) => Some(parts),
                _ => None,
            });
            for parts in concats {
                for (at, part) in parts.iter().enumerate() {
                    let Some((name, _)) = component_label(part) else { continue };
                    let rest = parts.iter().enumerate().filter(|(other, _)| *other != at);
                    let complement: BTreeSet<&str> =
                        rest.filter_map(|(_, p)| component_label(p)).map(|(n, _)| n).collect();
                    if others.iter().all(|shape| shape.axes().any(|axis| covered(axis, &complement))) {
                        found.insert(name.to_string());
                    }
                }
            }
        }
        found
    }
}

/// Whether every component of an axis shares a variable with a set.
fn covered(axis: &Axis, set: &BTreeSet<&str>) -> bool {
    match &axis.kind {
        AxisKind::Concat(parts) => {
            parts.iter().all(|part| component_label(part).is_some_and(|(name, _)| set.contains(name)))
        }
        _ => labels(axis).iter().any(|(name, _)| set.contains(name)),
    }
}

fn first_appearances<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}
