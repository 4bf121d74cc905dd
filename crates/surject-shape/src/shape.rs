//! Shapes of three rows, and the constraints that tensor operations give.
//!
//! Pointwise operations, composition and transposition broadcast: they give inequalities, operand below result.
//! Operations with a spec and slices give equations: nothing broadcasts.

use crate::constraint::{Constraint, Elems, Role};
use crate::dim::{Dim, DimTerm};
use crate::error::ShapeError;
use crate::origin::Origin;
use crate::row::{GroundRow, Row};
use crate::solver::Solver;
use std::fmt;
use std::sync::Arc;

/// The shape of a tensor: `batch|input->output`. In memory the order is batch, output, input.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shape {
    /// The batch axes.
    pub batch: Row,
    /// The input axes.
    pub input: Row,
    /// The output axes.
    pub output: Row,
}

/// A shape without variables.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GroundShape {
    /// The batch axes.
    pub batch: GroundRow,
    /// The input axes.
    pub input: GroundRow,
    /// The output axes.
    pub output: GroundRow,
}

impl Shape {
    /// A closed shape with the axes of the three rows.
    pub fn closed(batch: &[Dim], input: &[Dim], output: &[Dim]) -> Shape {
        let row = |dims: &[Dim]| Row::closed(dims.iter().copied());
        Shape { batch: row(batch), input: row(input), output: row(output) }
    }

    /// The rows in memory order: batch, output, input.
    pub fn in_memory_order(&self) -> [&Row; 3] {
        [&self.batch, &self.output, &self.input]
    }
}

impl GroundShape {
    /// The axes in memory order: batch, output, input.
    pub fn in_memory_order(&self) -> Vec<Dim> {
        [&self.batch, &self.output, &self.input].into_iter().flat_map(GroundRow::flat).collect()
    }
}

/// `2|3->4,5`; kinds without axes are left out.
impl fmt::Display for GroundShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |row: &GroundRow| row.flat().iter().map(Dim::to_string).collect::<Vec<_>>().join(",");
        if self.batch.rank() > 0 {
            write!(f, "{}|", list(&self.batch))?;
        }
        if self.input.rank() > 0 {
            write!(f, "{}->", list(&self.input))?;
        }
        f.write_str(&list(&self.output))
    }
}

/// What the elements of a terminal tensor say about its shape.
#[derive(Clone, PartialEq, Debug)]
pub enum Data {
    /// So many elements, in whatever shape.
    Elements(u64),
    /// Exactly these axes, batch then output then input.
    Axes(Vec<Dim>),
}

impl Solver {
    /// A shape of three open rows.
    pub fn fresh_shape(&mut self) -> Shape {
        Shape {
            batch: Row::open(self.fresh_row()),
            input: Row::open(self.fresh_row()),
            output: Row::open(self.fresh_row()),
        }
    }

    /// The shape of a parameter that is declared without sizes: it has no batch axes.
    pub fn fresh_parameter(&mut self) -> Shape {
        Shape { batch: Row::empty(), ..self.fresh_shape() }
    }

    /// A shape without variables, if it is one.
    pub fn ground_shape(&self, shape: &Shape) -> Option<GroundShape> {
        Some(GroundShape {
            batch: self.ground_row(&shape.batch)?,
            input: self.ground_row(&shape.input)?,
            output: self.ground_row(&shape.output)?,
        })
    }

    /// A terminal tensor. Of a parameter, the output axes have to be determined by its use; its batch and input rows may
    /// close to nothing, but no axis of them may be without a size.
    ///
    /// # Errors
    /// A contradiction.
    pub fn terminal(&mut self, shape: &Shape, role: Role, origin: &Arc<Origin>) -> Result<(), ShapeError> {
        let other = if role == Role::Param { Role::ParamRest } else { role };
        self.add(Constraint::Terminal(shape.batch.clone(), other), origin)?;
        self.add(Constraint::Terminal(shape.input.clone(), other), origin)?;
        self.add(Constraint::Terminal(shape.output.clone(), role), origin)
    }

    /// What the data of a terminal tensor say.
    ///
    /// # Errors
    /// A contradiction.
    pub fn data(&mut self, shape: &Shape, data: &Data, origin: &Arc<Origin>) -> Result<(), ShapeError> {
        let constraint = match data {
            // The row that may take what is left stands last.
            Data::Elements(n) => Constraint::Total {
                elems: Elems::Number(*n),
                rows: vec![shape.input.clone(), shape.output.clone(), shape.batch.clone()],
                divided_by: Vec::new(),
            },
            Data::Axes(dims) => Constraint::Exact {
                dims: dims.iter().map(|d| DimTerm::Known(*d)).collect(),
                rows: shape.in_memory_order().into_iter().cloned().collect(),
            },
        };
        self.add(constraint, origin)
    }

    /// `result = f(operands…)`, each kind of axes on its own.
    ///
    /// # Errors
    /// A contradiction.
    pub fn pointwise(
        &mut self,
        operands: &[&Shape],
        result: &Shape,
        origin: &Arc<Origin>,
    ) -> Result<(), ShapeError> {
        for operand in operands {
            self.below(&operand.batch, &result.batch, origin)?;
            self.below(&operand.input, &result.input, origin)?;
            self.below(&operand.output, &result.output, origin)?;
        }
        Ok(())
    }

    /// `result = a * b`, the function `a` after `b`: the inputs of `a` meet the outputs of `b`.
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
        self.below(&b.output, &a.input, origin)?;
        self.below(&a.batch, &result.batch, origin)?;
        self.below(&b.batch, &result.batch, origin)?;
        self.below(&b.input, &result.input, origin)?;
        self.below(&a.output, &result.output, origin)
    }

    /// `result = a * b + c`.
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
        self.compose(a, b, result, origin)?;
        self.pointwise(&[c], result, origin)
    }

    /// Swaps inputs and outputs.
    ///
    /// # Errors
    /// A contradiction.
    pub fn transpose(
        &mut self,
        operand: &Shape,
        result: &Shape,
        origin: &Arc<Origin>,
    ) -> Result<(), ShapeError> {
        self.below(&operand.batch, &result.batch, origin)?;
        self.below(&operand.output, &result.input, origin)?;
        self.below(&operand.input, &result.output, origin)
    }

    /// Takes the leftmost batch axis away. `range` is its size, where it is known.
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
        let axis = match range {
            Some(size) => DimTerm::from(size),
            None => self.fresh_dim().into(),
        };
        let mut whole = result.batch.clone();
        whole.lead.insert(0, axis);
        self.add(Constraint::RowEq(whole, operand.batch.clone()), origin)?;
        self.add(Constraint::RowEq(result.input.clone(), operand.input.clone()), origin)?;
        self.add(Constraint::RowEq(result.output.clone(), operand.output.clone()), origin)
    }

    /// `coefficient` times the elements of the operand are the elements of the result: the conversion of words of random
    /// bits to a narrower type. The operand has one axis.
    ///
    /// # Errors
    /// A contradiction.
    pub fn widen(
        &mut self,
        operand: &Shape,
        coefficient: u64,
        result: &Shape,
        origin: &Arc<Origin>,
    ) -> Result<(), ShapeError> {
        let var = DimTerm::Var(self.fresh_dim());
        let rows = |s: &Shape| s.in_memory_order().into_iter().cloned().collect::<Vec<_>>();
        self.add(Constraint::Exact { dims: vec![var], rows: rows(operand) }, origin)?;
        let elems = Elems::Strided { coefficient, var };
        let rows = vec![result.batch.clone(), result.input.clone(), result.output.clone()];
        self.add(Constraint::Total { elems, rows, divided_by: Vec::new() }, origin)
    }

    fn below(&mut self, sub: &Row, sup: &Row, origin: &Arc<Origin>) -> Result<(), ShapeError> {
        self.add(Constraint::RowLe(sub.clone(), sup.clone()), origin)
    }
}
