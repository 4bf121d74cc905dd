//! Operations: what a tensor operation says about the shapes of its operands and of its result.
//!
//! A [`Logic`] is *elaborated* into constraints, once; there are two readings of them. Shape inference solves them in the
//! one [`Solver`] of the program ([`Solver::operation`]) and finds sizes. Projection inference elaborates the same logic
//! again on the shapes that were found, in a solver of its own, and finds loops.
//!
//! Pointwise operations, composition and transposition broadcast: they give inequalities, operand below result. Specs
//! and slices give equations: nothing broadcasts.

use crate::constraint::{Constraint, Elems, Role};
use crate::dim::DimTerm;
use crate::error::{ShapeError, ShapeErrorKind};
use crate::origin::Origin;
use crate::row::Row;
use crate::shape::Shape;
use crate::solver::Solver;
use crate::template::{Instance, Template};
use std::sync::Arc;

/// How the axes of the operands of an operation relate to those of its result.
#[derive(Clone, PartialEq, Debug)]
pub enum Logic {
    /// Each operand broadcasts to the result, each kind of axes on its own. Any number of operands.
    Pointwise,
    /// `a * b`, the function `a` after `b`: the inputs of `a` meet the outputs of `b`.
    Compose,
    /// `a * b + c`.
    ComposeAccumulate,
    /// Inputs and outputs change places.
    Transpose,
    /// The leftmost batch axis of the operand is taken away; the position is given from outside.
    BatchSlice {
        /// The size of that axis, where it is known.
        range: Option<u64>,
    },
    /// Words of random bits to numbers of fewer bits: the operand has one axis, and the result `coefficient` times as many
    /// elements, in whatever shape.
    Uint4x32ToPrec {
        /// How many numbers a word gives.
        coefficient: u64,
    },
    /// As a spec says.
    Spec(Arc<Template>),
    /// No operands: a tensor that is filled, drawn or given.
    Terminal(Role),
}

/// What an operation says.
#[derive(Clone, PartialEq, Debug)]
pub struct Elaboration {
    /// The constraints on its shapes.
    pub constraints: Vec<Constraint>,
    /// The variables that were made for it.
    pub instance: Instance,
}

impl Logic {
    /// The number of operands; `None` is any number.
    pub fn arity(&self) -> Option<usize> {
        match self {
            Logic::Pointwise => None,
            Logic::Compose => Some(2),
            Logic::ComposeAccumulate => Some(3),
            Logic::Transpose | Logic::BatchSlice { .. } | Logic::Uint4x32ToPrec { .. } => Some(1),
            Logic::Spec(template) => Some(template.operands.len()),
            Logic::Terminal(_) => Some(0),
        }
    }

    /// The constraints that the operation gives. The solver is asked for fresh variables only, nothing is added to it.
    ///
    /// # Errors
    /// Another number of operands; a spec with one name for an axis and a row.
    pub fn elaborate(
        &self,
        solver: &mut Solver,
        operands: &[&Shape],
        result: &Shape,
    ) -> Result<Elaboration, ShapeError> {
        if let Logic::Spec(template) = self {
            return template.elaborate(solver, operands, result);
        }
        let mut constraints = Vec::with_capacity(3 * operands.len());
        let mut instance = Instance::default();
        match (self, operands) {
            (Logic::Pointwise, operands) => {
                for operand in operands {
                    pointwise(&mut constraints, operand, result);
                }
            }
            (Logic::Compose, [a, b]) => compose(&mut constraints, a, b, result),
            (Logic::ComposeAccumulate, [a, b, c]) => {
                compose(&mut constraints, a, b, result);
                pointwise(&mut constraints, c, result);
            }
            (Logic::Transpose, [operand]) => {
                constraints.push(Constraint::RowLe(operand.batch.clone(), result.batch.clone()));
                constraints.push(Constraint::RowLe(operand.output.clone(), result.input.clone()));
                constraints.push(Constraint::RowLe(operand.input.clone(), result.output.clone()));
            }
            (Logic::BatchSlice { range }, [operand]) => {
                let axis = solver.fresh_dim();
                instance.external.push(axis);
                if let Some(size) = range {
                    constraints.push(Constraint::DimEq(axis.into(), (*size).into()));
                }
                let mut whole = result.batch.clone();
                whole.lead.insert(0, axis.into());
                constraints.push(Constraint::RowEq(whole, operand.batch.clone()));
                constraints.push(Constraint::RowEq(result.input.clone(), operand.input.clone()));
                constraints.push(Constraint::RowEq(result.output.clone(), operand.output.clone()));
            }
            (Logic::Uint4x32ToPrec { coefficient }, [operand]) => {
                let var = solver.fresh_dim();
                let rows: Vec<Row> = operand.in_memory_order().into_iter().cloned().collect();
                // No loop of the result goes over the words: an element is a part of the word at its own place.
                if let [DimTerm::Var(axis)] = rows.iter().flat_map(Row::dims).collect::<Vec<_>>()[..] {
                    instance.external.push(axis);
                }
                constraints.push(Constraint::Exact { dims: vec![var.into()], rows });
                constraints.push(Constraint::Total {
                    elems: Elems::Strided { coefficient: *coefficient, var: var.into() },
                    // The row that takes what is left stands last.
                    rows: vec![result.input.clone(), result.batch.clone(), result.output.clone()],
                    divided_by: Vec::new(),
                });
                // Numbers come in the shape that their use asks for, like those of a leaf.
                for row in [&result.batch, &result.input, &result.output] {
                    constraints.push(Constraint::Terminal(row.clone(), Role::Leaf));
                }
            }
            (Logic::Terminal(role), []) => {
                // Of a parameter, the output axes have to be determined by its use; its batch and input rows may close
                // to nothing, but no axis of them may be without a size.
                let other = if *role == Role::Param { Role::ParamRest } else { *role };
                constraints.push(Constraint::Terminal(result.batch.clone(), other));
                constraints.push(Constraint::Terminal(result.input.clone(), other));
                constraints.push(Constraint::Terminal(result.output.clone(), *role));
            }
            (logic, operands) => {
                let expected = logic.arity().unwrap_or_default();
                return Err(ShapeError::new(
                    ShapeErrorKind::Spec,
                    format!(
                        "{} has {}, not {}",
                        logic.describe(),
                        arguments(expected),
                        arguments(operands.len())
                    ),
                ));
            }
        }
        Ok(Elaboration { constraints, instance })
    }

    fn describe(&self) -> &'static str {
        match self {
            Logic::Pointwise => "a pointwise operation",
            Logic::Compose => "a composition",
            Logic::ComposeAccumulate => "a composition with an addend",
            Logic::Transpose => "a transposition",
            Logic::BatchSlice { .. } => "a slice",
            Logic::Uint4x32ToPrec { .. } => "a conversion of random words",
            Logic::Spec(_) => "a spec",
            Logic::Terminal(_) => "a terminal tensor",
        }
    }
}

/// `two arguments`.
pub(crate) fn arguments(count: usize) -> String {
    let words = ["no arguments", "one argument", "two arguments", "three arguments"];
    words.get(count).map_or_else(|| format!("{count} arguments"), |w| w.to_string())
}

fn pointwise(constraints: &mut Vec<Constraint>, operand: &Shape, result: &Shape) {
    constraints.push(Constraint::RowLe(operand.batch.clone(), result.batch.clone()));
    constraints.push(Constraint::RowLe(operand.input.clone(), result.input.clone()));
    constraints.push(Constraint::RowLe(operand.output.clone(), result.output.clone()));
}

fn compose(constraints: &mut Vec<Constraint>, a: &Shape, b: &Shape, result: &Shape) {
    constraints.push(Constraint::RowLe(b.output.clone(), a.input.clone()));
    constraints.push(Constraint::RowLe(a.batch.clone(), result.batch.clone()));
    constraints.push(Constraint::RowLe(b.batch.clone(), result.batch.clone()));
    constraints.push(Constraint::RowLe(b.input.clone(), result.input.clone()));
    constraints.push(Constraint::RowLe(a.output.clone(), result.output.clone()));
}

impl Solver {
    /// Adds what an operation says about its shapes.
    ///
    /// # Errors
    /// Another number of operands; a spec with one name for an axis and a row; a contradiction.
    pub fn operation(
        &mut self,
        logic: &Logic,
        operands: &[&Shape],
        result: &Shape,
        origin: &Arc<Origin>,
    ) -> Result<Instance, ShapeError> {
        let elaboration = logic.elaborate(self, operands, result);
        self.add_elaboration(elaboration, origin)
    }

    fn add_elaboration(
        &mut self,
        elaboration: Result<Elaboration, ShapeError>,
        origin: &Arc<Origin>,
    ) -> Result<Instance, ShapeError> {
        let elaboration =
            elaboration.map_err(|error| ShapeError { labels: vec![origin.clone()], ..error })?;
        for (label, var) in &elaboration.instance.dims {
            // Labels that no user can write are those of front ends.
            if label.starts_with(|c: char| c.is_alphabetic()) {
                self.name_axis(*var, label);
            }
        }
        for constraint in elaboration.constraints {
            self.add(constraint, origin)?;
        }
        Ok(elaboration.instance)
    }

    /// A terminal tensor: [`Logic::Terminal`].
    ///
    /// # Errors
    /// A contradiction.
    pub fn terminal(&mut self, shape: &Shape, role: Role, origin: &Arc<Origin>) -> Result<(), ShapeError> {
        self.operation(&Logic::Terminal(role), &[], shape, origin).map(drop)
    }

    /// `result = f(operands…)`: [`Logic::Pointwise`].
    ///
    /// # Errors
    /// A contradiction.
    pub fn pointwise(
        &mut self,
        operands: &[&Shape],
        result: &Shape,
        origin: &Arc<Origin>,
    ) -> Result<(), ShapeError> {
        self.operation(&Logic::Pointwise, operands, result, origin).map(drop)
    }

    /// `result = a * b`: [`Logic::Compose`].
    ///
    /// # Errors
    /// A contradiction.
    pub fn compose(
        &mut self,
        a: &Shape,
        b: &Shape,
        result: &Shape,
        origin: &Arc<Origin>,
    ) -> Result<(), ShapeError> {
        self.operation(&Logic::Compose, &[a, b], result, origin).map(drop)
    }

    /// `result = a * b + c`: [`Logic::ComposeAccumulate`].
    ///
    /// # Errors
    /// A contradiction.
    pub fn compose_accumulate(
        &mut self,
        a: &Shape,
        b: &Shape,
        c: &Shape,
        result: &Shape,
        origin: &Arc<Origin>,
    ) -> Result<(), ShapeError> {
        self.operation(&Logic::ComposeAccumulate, &[a, b, c], result, origin).map(drop)
    }

    /// Swaps inputs and outputs: [`Logic::Transpose`].
    ///
    /// # Errors
    /// A contradiction.
    pub fn transpose(
        &mut self,
        operand: &Shape,
        result: &Shape,
        origin: &Arc<Origin>,
    ) -> Result<(), ShapeError> {
        self.operation(&Logic::Transpose, &[operand], result, origin).map(drop)
    }

    /// Takes the leftmost batch axis away: [`Logic::BatchSlice`]. `range` is its size, where it is known.
    ///
    /// # Errors
    /// A contradiction.
    pub fn batch_slice(
        &mut self,
        operand: &Shape,
        range: Option<u64>,
        result: &Shape,
        origin: &Arc<Origin>,
    ) -> Result<(), ShapeError> {
        self.operation(&Logic::BatchSlice { range }, &[operand], result, origin).map(drop)
    }

    /// An operation with a spec: equations only, nothing broadcasts.
    ///
    /// # Errors
    /// A spec for another number of operands; a name for an axis and a row; a contradiction.
    pub fn einsum(
        &mut self,
        template: &Template,
        operands: &[&Shape],
        result: &Shape,
        origin: &Arc<Origin>,
    ) -> Result<Instance, ShapeError> {
        let elaboration = template.elaborate(self, operands, result);
        self.add_elaboration(elaboration, origin)
    }
}
