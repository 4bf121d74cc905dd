//! What an error of shapes is about: the tensors that its operations relate, with what is known of their shapes.

use crate::error::{TensorError, TensorErrorKind};
use crate::graph::{Data, NodeId, SaidEqual, Side, Step};
use std::collections::BTreeSet;
use std::sync::Arc;
use surject_shape::{Dim, DimTerm, Logic, Origin, Row, Shape, ShapeError, ShapeErrorKind, Solver, Subject};

/// How many tensors an error shows.
const SHOWN: usize = 8;

impl Data {
    /// An error with the shapes of the tensors it is about.
    pub(crate) fn explained(&self, mut error: TensorError) -> TensorError {
        if let TensorErrorKind::Shape(shape_error) = &mut error.kind
            && let Some((said, message)) = self.unequal(shape_error)
        {
            shape_error.message = message;
            shape_error.kind = ShapeErrorKind::SizeMismatch;
            // What was said comes first.
            shape_error.labels.sort_by_key(|label| !Arc::ptr_eq(label, &said));
            if error.span.is_none() {
                error.place = said.place.clone();
            }
        }
        let TensorErrorKind::Shape(shape_error) = &error.kind else { return error };
        if !error.notes().is_empty() {
            return error;
        }
        let named = shape_error.labels.iter().flat_map(|origin| &origin.tensors);
        let mut seen = BTreeSet::new();
        let mut notes = Vec::new();
        for named in named {
            if let Subject::Shape(shape) = &named.subject
                && seen.len() < SHOWN
                && seen.insert(named.name.clone())
            {
                notes.push(format!("`{}` is {}", named.name, shape_text(&self.solver, shape)));
            }
        }
        error.context_mut().notes = notes;
        error
    }
}

impl Data {
    /// Sizes that a user said are equal, where a contradiction follows from that and they are known to differ.
    fn unequal(&self, error: &ShapeError) -> Option<(Arc<Origin>, String)> {
        let said = |said: &&SaidEqual| error.labels.iter().any(|label| Arc::ptr_eq(label, &said.origin));
        self.said_equal.iter().filter(said).find_map(|said| {
            let [a, b] = &said.sides;
            let known = |side: &Side| match side.size {
                // What its factors make, not what it was said to be.
                Ok(size) => self.factors_of(size).or_else(|| self.size_of(size)),
                Err(number) => Some(number),
            };
            let (x, y) = (known(a)?, known(b)?);
            (x != y).then(|| (said.origin.clone(), format!("{} is {x}, but {} is {y}", a.name, b.name)))
        })
    }
}

/// How many compositions of a contradiction are tried as pointwise products.
const TRIED: usize = 4;

impl Data {
    /// The contradiction that an operation met, with advice where the pointwise product would have fitted.
    pub(crate) fn refused(
        &self,
        error: ShapeError,
        logic: &Logic,
        operands: &[&Shape],
        result: &Shape,
        origin: &Arc<Origin>,
    ) -> TensorError {
        match self.fits_pointwise(logic, operands, result, origin, false) {
            true => TensorError::from(error).with_help(pointwise(origin)),
            false => error.into(),
        }
    }

    /// The contradiction that closing met, with its tensors, and advice where a pointwise product would have fitted.
    pub(crate) fn refuted(&self, error: ShapeError) -> TensorError {
        let named = |step: &&Step| error.labels.iter().any(|label| Arc::ptr_eq(label, &step.origin));
        let composed = self.steps.iter().filter(|s| s.logic == Logic::Compose).filter(named);
        let shape = |id: &NodeId| &self.nodes[id.0 as usize].shape;
        use ShapeErrorKind::{BasisClash, RankMismatch, SizeMismatch};
        let clashes = matches!(error.kind, SizeMismatch | BasisClash | RankMismatch);
        let fitting = composed.take(if clashes { TRIED } else { 0 }).find(|step| {
            let operands: Vec<&Shape> = step.operands.iter().map(shape).collect();
            self.fits_pointwise(&step.logic, &operands, shape(&step.result), &step.origin, true)
        });
        let help = fitting.map(|step| pointwise(&step.origin));
        let error = self.explained(error.into());
        match help {
            Some(help) => error.with_help(help),
            None => error,
        }
    }

    /// Whether the program would have no contradiction if a composition were pointwise.
    fn fits_pointwise(
        &self,
        logic: &Logic,
        operands: &[&Shape],
        result: &Shape,
        origin: &Arc<Origin>,
        close: bool,
    ) -> bool {
        if *logic != Logic::Compose {
            return false;
        }
        // Pointwise operations make no variables.
        let pointwise = Logic::Pointwise.elaborate(&mut Solver::new(), operands, result);
        pointwise.is_ok_and(|e| self.solver.holds_instead(origin, &e.constraints, close))
    }
}

/// The advice to write a pointwise product.
fn pointwise(origin: &Origin) -> String {
    let name = |k: usize| origin.tensors.get(k).map_or("", |named| named.name.as_str());
    format!(
        "a composition joins the inputs of `{a}` with the outputs of `{b}`; the pointwise product fits: write `*.` (in \
         an assignment `~logic:\".\"`)",
        a = name(1),
        b = name(2)
    )
}

impl Data {
    /// An error of the loops of a step, with the names of its tensors.
    pub(crate) fn explained_step(&self, mut error: TensorError, step: &Step) -> TensorError {
        let named = |id: &NodeId| {
            let node = &self.nodes[id.0 as usize];
            format!("`{}`, which is {}", node.label, shape_text(&self.solver, &node.shape))
        };
        let notes = &mut error.context_mut().notes;
        notes.push(format!("from {}", step.origin));
        for (k, operand) in step.operands.iter().enumerate() {
            notes.push(format!("operand {} is {}", k + 1, named(operand)));
        }
        notes.push(format!("the result is {}", named(&step.result)));
        error.at(step.origin.place.clone())
    }
}

/// A shape as far as it is known: `?` is an axis without a size, `...` a row that may grow.
fn shape_text(solver: &Solver, shape: &Shape) -> String {
    let mut text = String::new();
    for (row, mark) in [(&shape.batch, "|"), (&shape.input, "->"), (&shape.output, "")] {
        let row = solver.row(row.clone());
        if row.var.is_some() || row.explicit() > 0 {
            text += &row_text(&row);
            text += mark;
        }
    }
    match text.as_str() {
        "" => "a scalar".to_string(),
        "...|...->..." => "of an unknown shape".to_string(),
        _ => format!("\"{text}\""),
    }
}

fn row_text(row: &Row) -> String {
    let axis = |dim: &DimTerm| match dim {
        DimTerm::Known(Dim::Unit) => "1:*".to_string(),
        DimTerm::Known(dim) => dim.to_string(),
        DimTerm::Var(_) => "?".to_string(),
    };
    let marker = row.var.map(|_| "...".to_string());
    row.lead.iter().map(axis).chain(marker).chain(row.trail.iter().map(axis)).collect::<Vec<_>>().join(",")
}
