//! Names for tensors and for what is still open, and shapes in the notation of the user.

use super::AxisReport;
use crate::graph::{Data, NodeId, NodeKind};
use std::collections::{HashMap, HashSet};
use surject_shape::{Dim, DimTerm, DimVar, GroundRow, Row, RowVar, Shape, Solver};

/// One name for each tensor.
pub(super) struct Names(Vec<String>);

impl Names {
    pub(super) fn new(data: &Data) -> Names {
        let mut taken: HashSet<String> = data.nodes.iter().map(|n| n.label.clone()).collect();
        let mut seen = HashSet::new();
        let mut unnamed = 0;
        let mut fresh = |stem: &str, from: &mut usize| loop {
            *from += 1;
            let name = format!("{stem}{from}");
            if taken.insert(name.clone()) {
                return name;
            }
        };
        let mut repeats: HashMap<String, usize> = HashMap::new();
        let names = data.nodes.iter().map(|node| match &node.kind {
            NodeKind::Number(_) => node.label.clone(),
            _ if !is_name(&node.label) => fresh("t", &mut unnamed),
            _ if seen.insert(node.label.clone()) => node.label.clone(),
            _ => {
                let from = repeats.entry(node.label.clone()).or_insert(1);
                fresh(&format!("{}_", node.label), from)
            }
        });
        Names(names.collect())
    }

    pub(super) fn of(&self, node: NodeId) -> &str {
        self.of_number(node.0 as usize)
    }

    pub(super) fn of_number(&self, number: usize) -> &str {
        self.0.get(number).map_or("?", String::as_str)
    }
}

/// `x`, `layer.w`, `w.grad`.
fn is_name(label: &str) -> bool {
    label.split('.').all(|part| {
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    })
}

/// Letters for the variables that are open, in the order in which they are met.
#[derive(Default)]
struct Letters {
    dims: HashMap<DimVar, String>,
    rows: HashMap<RowVar, String>,
}

/// The number-th of `letters`, then the letters with a number.
fn letter(number: usize, letters: &str) -> String {
    let round = number / letters.len();
    let letter = letters.as_bytes().get(number % letters.len()).map_or('_', |b| char::from(*b));
    if round == 0 { letter.to_string() } else { format!("{letter}{round}") }
}

impl Letters {
    fn dim(&mut self, dim: DimTerm) -> String {
        match dim {
            DimTerm::Known(dim) => dim.to_string(),
            DimTerm::Var(var) => {
                let number = self.dims.len();
                self.dims.entry(var).or_insert_with(|| letter(number, "abcdefghijklmnopq")).clone()
            }
        }
    }

    /// The axes of a row that is resolved; nothing for a row without axes.
    fn row(&mut self, row: &Row) -> String {
        let mut parts: Vec<String> = row.lead.iter().map(|d| self.dim(*d)).collect();
        if let Some(var) = row.var {
            let number = self.rows.len();
            let name = self.rows.entry(var).or_insert_with(|| letter(number, "rstuvwxyz"));
            parts.push(format!("..{name}.."));
        }
        parts.extend(row.trail.iter().map(|d| self.dim(*d)));
        parts.join(",")
    }
}

/// `batch|input->output`; rows without axes are left out.
fn shape_text(batch: &str, input: &str, output: &str) -> String {
    let mut text = String::new();
    if !batch.is_empty() {
        text += &format!("{batch}|");
    }
    if !input.is_empty() {
        text += &format!("{input}->");
    }
    text + output
}

/// The shapes of all tensors as far as they are known. The tensors in `last` get the last letters.
pub(super) fn open_shapes(data: &Data, last: &HashSet<NodeId>) -> Vec<String> {
    let mut letters = Letters::default();
    let mut text = |shape: &Shape| {
        let mut row = |row: &Row| letters.row(&data.solver.row(row));
        let (batch, input, output) = (row(&shape.batch), row(&shape.input), row(&shape.output));
        shape_text(&batch, &input, &output)
    };
    let mut shapes = vec![String::new(); data.nodes.len()];
    for turn in [false, true] {
        for (number, node) in data.nodes.iter().enumerate() {
            // Numbers are shown nowhere.
            let late = last.contains(&NodeId(number as u32)) || matches!(node.kind, NodeKind::Number(_));
            if late == turn {
                shapes[number] = text(&node.shape);
            }
        }
    }
    shapes
}

/// The axes of a row that is closed, without its marker.
pub(super) fn closed_row(solver: &Solver, row: &Row) -> String {
    let list = |row: &GroundRow| row.flat().iter().map(Dim::to_string).collect::<Vec<_>>().join(",");
    match solver.ground_row(row) {
        Some(row) => list(&row),
        // Only what nothing uses stays open.
        None => Letters::default().row(&solver.row(row)),
    }
}

pub(super) fn closed_shape(data: &Data, shape: &Shape) -> String {
    let row = |row: &Row| closed_row(&data.solver, row);
    shape_text(&row(&shape.batch), &row(&shape.input), &row(&shape.output))
}

pub(super) fn axes(data: &Data, shape: &Shape) -> Vec<AxisReport> {
    let rows = [("batch", &shape.batch), ("output", &shape.output), ("input", &shape.input)];
    let mut axes = Vec::new();
    for (row, term) in rows {
        let dims = data.solver.ground_row(term).map(|r| r.flat()).unwrap_or_default();
        axes.extend(dims.into_iter().map(|d| AxisReport {
            row,
            size: d.extent(),
            basis: d.basis().map(|b| b.name()),
        }));
    }
    axes
}
