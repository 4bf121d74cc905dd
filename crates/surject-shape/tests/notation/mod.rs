//! A reader of specs and shapes for the tests. The notation proper belongs to a crate above this one.

use surject_shape::{Axis, Dim, Shape, Template, TemplateRow, TemplateShape};

/// `2,3|4->5:rgb` as a closed shape.
pub fn shape(text: &str) -> Shape {
    let (batch, input, output) = kinds(text);
    let dims = |t: &str| {
        t.split(',')
            .map(str::trim)
            .filter(|p| !p.is_empty())
            .map(|p| match p.split_once(':') {
                Some(("1", "*")) => Dim::Unit,
                Some((n, b)) => Dim::with_basis(n.parse().unwrap(), b),
                None => Dim::new(p.parse().unwrap()),
            })
            .collect::<Vec<_>>()
    };
    Shape::closed(&dims(batch), &dims(input), &dims(output))
}

fn kinds(text: &str) -> (&str, &str, &str) {
    let (batch, rest) = text.split_once('|').unwrap_or(("", text));
    let (input, output) = rest.split_once("->").unwrap_or(("", rest));
    (batch, input, output)
}

/// `ij;jk=>ik`.
pub fn spec(text: &str) -> Template {
    let (operands, result) = text.split_once("=>").unwrap();
    let multi = text.replace("=>", "").contains([',', '*', '+', '^']);
    Template {
        operands: operands.split(';').map(|t| template_shape(t, multi)).collect(),
        result: template_shape(result, multi),
        ..Template::default()
    }
}

fn template_shape(text: &str, multi: bool) -> TemplateShape {
    let (batch, input, output) = kinds(text);
    TemplateShape {
        batch: row(batch, multi, "batch"),
        input: row(input, multi, "input"),
        output: row(output, multi, "output"),
    }
}

fn row(text: &str, multi: bool, kind: &str) -> TemplateRow {
    let mut row = TemplateRow::default();
    let (before, after) = match text.find("..") {
        None => ("", text),
        Some(at) => {
            let rest = &text[at + 2..];
            if let Some(after) = rest.strip_prefix('.') {
                row.var = Some(kind.to_string());
                (&text[..at], after)
            } else {
                let end = rest.find("..").unwrap();
                row.var = Some(rest[..end].to_string());
                (&text[..at], &rest[end + 2..])
            }
        }
    };
    row.lead = axes(before, multi);
    row.trail = axes(after, multi);
    row
}

fn axes(text: &str, multi: bool) -> Vec<Axis> {
    if !multi {
        let mut axes = Vec::new();
        let mut chars = text.chars().filter(|c| !c.is_whitespace()).peekable();
        while let Some(c) = chars.next() {
            if c.is_ascii_digit() {
                let mut n = c.to_string();
                while let Some(d) = chars.next_if(char::is_ascii_digit) {
                    n.push(d);
                }
                axes.push(Axis::Fixed(n.parse().unwrap()));
            } else {
                axes.push(Axis::Label(c.to_string()));
            }
        }
        return axes;
    }
    text.split(',').flat_map(str::split_whitespace).map(axis).collect()
}

fn axis(text: &str) -> Axis {
    if let Ok(n) = text.parse() {
        return Axis::Fixed(n);
    }
    if text.contains('^') {
        return Axis::Concat(text.split('^').map(str::to_string).collect());
    }
    if !text.contains(['*', '+']) {
        return Axis::Label(text.to_string());
    }
    let scaled = |t: &str| match t.split_once('*') {
        Some((n, label)) => (n.parse().unwrap(), label.to_string()),
        None => (1, t.to_string()),
    };
    let mut terms = text.split('+');
    let over = terms.next().unwrap();
    let kernels = terms.map(scaled).map(|(dilation, label)| (label, dilation, over.ends_with('='))).collect();
    let (stride, over) = scaled(over.trim_end_matches(['=', '<']));
    Axis::Affine { stride, over, kernels, offset: 0 }
}
