//! Shapes of three rows, and what the elements of a tensor say about its shape. What operations say is in
//! [`crate::operation`].

use crate::constraint::{Constraint, Elems};
use crate::dim::{Dim, DimTerm};
use crate::error::ShapeError;
use crate::operation::Logic;
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
        self.operation(&Logic::Uint4x32ToPrec { coefficient }, &[operand], result, origin).map(drop)
    }
}
