//! A reader of specs and shapes for the tests. The notation proper belongs to a crate above this one.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::collections::BTreeMap;
use std::sync::Arc;
use surject_projection::{ProjectionError, Projections, derive};
use surject_shape::{Axis, Dim, GroundRow, GroundShape, Logic, Template, TemplateRow, TemplateShape};

/// `2,3|4->5`; `1:*` is the claim-free unit, `2,<>,3` a row with its marker between the axes.
pub fn shape(text: &str) -> GroundShape {
    let (batch, input, output) = kinds(text);
    GroundShape { batch: ground(batch), input: ground(input), output: ground(output) }
}

fn ground(text: &str) -> GroundRow {
    let dims = |t: &str| {
        t.split(',')
            .map(str::trim)
            .filter(|p| !p.is_empty())
            .map(|p| match p.split_once(':') {
                Some(("1", "*")) => Dim::Unit,
                Some((n, b)) => Dim::with_basis(n.parse().unwrap(), b),
                None => Dim::new(p.parse().unwrap()),
            })
            .collect()
    };
    match text.split_once("<>") {
        Some((lead, trail)) => GroundRow { lead: dims(lead), trail: dims(trail) },
        None => GroundRow { lead: Vec::new(), trail: dims(text) },
    }
}

fn kinds(text: &str) -> (&str, &str, &str) {
    let (batch, rest) = text.split_once('|').unwrap_or(("", text));
    let (input, output) = rest.split_once("->").unwrap_or(("", rest));
    (batch, input, output)
}

/// The projections of an operation. `shapes` are the operands and, last, the result.
pub fn projections(
    logic: &Logic,
    shapes: &[&str],
    sizes: &[(&str, u64)],
) -> Result<Projections, ProjectionError> {
    let (result, operands) = shapes.split_last().unwrap();
    let operands: Vec<GroundShape> = operands.iter().map(|s| shape(s)).collect();
    let sizes: BTreeMap<String, u64> = sizes.iter().map(|(n, s)| (n.to_string(), *s)).collect();
    derive(logic, &operands, &shape(result), &sizes)
}

/// The projections of an operation with a spec.
pub fn einsum(text: &str, shapes: &[&str]) -> Result<Projections, ProjectionError> {
    projections(&spec(text), shapes, &[])
}

/// The same with the sizes of some labels.
pub fn sized(text: &str, shapes: &[&str], sizes: &[(&str, u64)]) -> Result<Projections, ProjectionError> {
    projections(&spec(text), shapes, sizes)
}

/// `ij;jk=>ik`.
pub fn spec(text: &str) -> Logic {
    let (operands, result) = text.split_once("=>").unwrap();
    let multi = text.replace("=>", "").contains([',', '*', '+', '^']);
    let operands = match operands.trim() {
        "" => Vec::new(),
        operands => operands.split(';').map(|t| template_shape(t, multi)).collect(),
    };
    Logic::Spec(Arc::new(Template { operands, result: template_shape(result, multi), ..Template::default() }))
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
    if multi {
        return text.split(',').flat_map(str::split_whitespace).map(axis).collect();
    }
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
    axes
}

/// `2*oh=+1+3*kh`: padded with `=`, valid otherwise.
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
    let (stride, label) = scaled(over.trim_end_matches(['=', '<']));
    let (mut offset, mut kernels) = (0, Vec::new());
    for term in terms {
        match term.parse() {
            Ok(n) => offset = n,
            Err(_) => {
                let (dilation, label) = scaled(term);
                kernels.push((label, dilation, over.ends_with('=')));
            }
        }
    }
    Axis::Affine { stride, over: label, kernels, offset }
}
