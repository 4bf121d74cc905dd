//! Printing specs and shapes. What is printed reads back as the same tree.

use super::{
    Affine, Axis, AxisKind, Basis, Coefficient, Component, Kind, Mode, Padding, RowSpec, ShapeSpec, Spec,
};
use std::fmt;

/// What of the sizes of a shape is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Style {
    /// Sizes, with their basis where it is not `default`: `1|784->10,5`, `3:rgb`.
    #[default]
    Sizes,
    /// Bases only: `default|default->default,default`. The claim-free unit prints as `*`.
    Bases,
    /// The number of each axis in memory order (batch, output, input) before its size: `0:2|3:4->1:5,2:6`.
    NumberedSizes,
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let single = self.shapes().all(is_single);
        let (separator, semicolon, arrow) = if single { ("", ";", "=>") } else { (", ", "; ", " => ") };
        let whole = |close: &str| {
            let text = |shape: &ShapeSpec| written(shape, separator, close, |_, axis| axis.to_string());
            let operands: Vec<String> = self.operands.iter().map(text).collect();
            let results: Vec<String> = self.results().map(text).collect();
            format!("{}{arrow}{}", operands.join(semicolon), results.join(semicolon))
        };
        f.write_str(&in_mode(single, whole))
    }
}

impl ShapeSpec {
    /// The shape in a style. Only [`Style::Sizes`] reads back.
    pub fn print(&self, style: Style) -> String {
        // Memory order is batch, output, input; the notation has input in the middle.
        let count = |kind| self.row(kind).axes().count();
        let (batch, output) = (count(Kind::Batch), count(Kind::Output));
        let first = |kind| match kind {
            Kind::Batch => 0,
            Kind::Output => batch,
            Kind::Input => batch + output,
        };
        let entry = |(kind, at), axis: &Axis| match (style, &axis.kind) {
            (Style::Bases, AxisKind::Size(_, basis) | AxisKind::Extent(_, basis)) => basis_alone(basis),
            (Style::Bases, AxisKind::Labelled(_, size)) => match &size.kind {
                AxisKind::Size(_, basis) | AxisKind::Extent(_, basis) => basis_alone(basis),
                _ => size.to_string(),
            },
            (Style::NumberedSizes, _) => format!("{}:{axis}", first(kind) + at),
            _ => axis.to_string(),
        };
        match style {
            Style::Sizes => in_mode(is_single(self), |close: &str| written(self, ",", close, entry)),
            _ => written(self, ",", "", entry),
        }
    }
}

impl fmt::Display for ShapeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.print(Style::Sizes))
    }
}

/// A basis where nothing else of a size is printed.
fn basis_alone(basis: &Basis) -> String {
    match basis {
        Basis::Default => "default".to_string(),
        Basis::Free => "*".to_string(),
        Basis::Named(name) => name.clone(),
    }
}

/// Whether an expression over sizes is one name, which is read as a size where only sizes stand.
pub(super) fn is_size_name(text: &str) -> bool {
    text.starts_with(char::is_alphabetic)
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
        && text != "unit"
}

/// Whether the marker of a closed row has to be written.
fn is_marked(row: &RowSpec) -> bool {
    row.variable.is_none() && !row.leading.is_empty()
}

/// Whether a shape can be written in single-character mode.
fn is_single(shape: &ShapeSpec) -> bool {
    let marked = shape.rows().any(|(_, row)| is_marked(row));
    !marked
        && shape.axes().all(|axis| match &axis.kind {
            AxisKind::Label(name) => name.chars().count() == 1,
            AxisKind::Placeholder | AxisKind::Index(_) => true,
            AxisKind::Size(_, basis) => *basis == Basis::Default,
            AxisKind::Extent(..) | AxisKind::Labelled(..) | AxisKind::Affine(_) | AxisKind::Concat(_) => {
                false
            }
        })
}

/// A text whose rows close with nothing, or with a comma if it would be read in single-character mode and must
/// not be.
fn in_mode(single: bool, text: impl Fn(&str) -> String) -> String {
    let plain = text("");
    if single || Mode::of(&plain) == Mode::MultiChar { plain } else { text(",") }
}

/// A shape with each axis written by `axis`, and each row that is not empty closed by `close`.
fn written(
    shape: &ShapeSpec,
    separator: &str,
    close: &str,
    axis: impl Fn((Kind, usize), &Axis) -> String,
) -> String {
    let row = |kind| {
        let marked = is_marked(shape.row(kind)).then(|| "<>".to_string());
        let RowSpec { leading, variable, trailing } = shape.row(kind);
        let mut entries: Vec<String> = leading.iter().enumerate().map(|(i, a)| axis((kind, i), a)).collect();
        entries.extend(variable.as_ref().map(|v| match v.name == kind.name() {
            true => "...".to_string(),
            false => format!("..{}..", v.name),
        }));
        entries.extend(marked);
        let after = leading.len();
        entries.extend(trailing.iter().enumerate().map(|(i, a)| axis((kind, after + i), a)));
        joined(&entries, separator) + if entries.is_empty() { "" } else { close }
    };
    let mut text = String::new();
    if !shape.batch.is_empty() {
        text += &row(Kind::Batch);
        text.push('|');
    }
    if !shape.input.is_empty() {
        text += &row(Kind::Input);
        text += "->";
    }
    text + &row(Kind::Output)
}

/// Entries one after the other; two numbers are never joined without a blank between them.
fn joined(entries: &[String], separator: &str) -> String {
    let mut text = String::new();
    for entry in entries {
        if !text.is_empty() {
            text += separator;
        }
        let touches = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        if separator.is_empty() && touches(text.chars().last()) && touches(entry.chars().next()) {
            text.push(' ');
        }
        text += entry;
    }
    text
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            AxisKind::Label(name) => f.write_str(name),
            AxisKind::Placeholder => f.write_str("_"),
            AxisKind::Index(at) => write!(f, "{at}"),
            AxisKind::Size(size, basis) => match basis {
                Basis::Default => write!(f, "{size}"),
                Basis::Free => write!(f, "{size}:*"),
                Basis::Named(name) => write!(f, "{size}:{name}"),
            },
            AxisKind::Extent(name, Basis::Named(basis)) if is_size_name(name) => {
                write!(f, "{name}:{basis}")
            }
            AxisKind::Extent(text, basis) => match basis {
                Basis::Default => write!(f, "{{{text}}}"),
                Basis::Free => write!(f, "{{{text}}}:*"),
                Basis::Named(name) => write!(f, "{{{text}}}:{name}"),
            },
            AxisKind::Labelled(label, size) => match &size.kind {
                // After a `=` a name is a size, with or without braces.
                AxisKind::Extent(name, Basis::Default) if is_size_name(name) => {
                    write!(f, "{}={name}", label.name)
                }
                _ => write!(f, "{}={size}", label.name),
            },
            AxisKind::Affine(affine) => affine.fmt(f),
            AxisKind::Concat(parts) => {
                let parts: Vec<String> = parts.iter().map(Component::to_string).collect();
                f.write_str(&parts.join("^"))
            }
        }
    }
}

impl fmt::Display for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An affine axis without any other part is written with its stride, so that it is not a label.
        let plain = self.offset == 0 && self.kernels.is_empty();
        if plain || self.stride != Coefficient::Number(1) {
            write!(f, "{}*", self.stride)?;
        }
        f.write_str(&self.over.name)?;
        f.write_str(match self.kernels.first().map(|kernel| kernel.padding) {
            Some(Padding::Padded) => "=",
            Some(Padding::Valid) => "<",
            Some(Padding::Unspecified) | None => "",
        })?;
        if self.offset != 0 {
            write!(f, "+{}", self.offset)?;
        }
        for kernel in &self.kernels {
            f.write_str("+")?;
            if kernel.dilation != Coefficient::Number(1) {
                write!(f, "{}*", kernel.dilation)?;
            }
            f.write_str(&kernel.label.name)?;
        }
        Ok(())
    }
}

impl fmt::Display for Coefficient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Coefficient::Number(n) => write!(f, "{n}"),
            Coefficient::Name(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Component::Label(label) => f.write_str(&label.name),
            Component::Size(size, _) => write!(f, "{size}"),
        }
    }
}
