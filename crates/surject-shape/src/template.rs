//! Specs as constraints: the axes that a spec names alike are one axis.
//!
//! A [`Template`] is what a spec says, without its notation. Each use of a spec instantiates it with new variables, which
//! is what makes one operator serve many shapes.

use crate::constraint::{Constraint, Kernel};
use crate::dim::{DimTerm, DimVar};
use crate::error::{ShapeError, ShapeErrorKind};
use crate::origin::Origin;
use crate::row::{Row, RowVar};
use crate::shape::Shape;
use crate::solver::Solver;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One axis of a spec.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Axis {
    /// A named axis; `_` names nothing and is another axis each time.
    Label(String),
    /// A fixed position: the axis is larger than it.
    Fixed(u64),
    /// Read at `stride·over + dilation·kernel + offset`.
    Affine {
        /// The stride.
        stride: u64,
        /// The label of the axis that iterates.
        over: String,
        /// Label and dilation of the kernel, and whether the axis is padded.
        kernel: Option<(String, u64, bool)>,
        /// Below the stride.
        offset: u64,
    },
    /// The labels of the components, in order.
    Concat(Vec<String>),
}

/// One row of a spec.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TemplateRow {
    /// The axes before the row variable.
    pub lead: Vec<Axis>,
    /// The name of the row variable; `None` is a closed row.
    pub var: Option<String>,
    /// The axes after it.
    pub trail: Vec<Axis>,
}

/// One shape of a spec. A kind that is left out has no axes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TemplateShape {
    /// The batch axes.
    pub batch: TemplateRow,
    /// The input axes.
    pub input: TemplateRow,
    /// The output axes.
    pub output: TemplateRow,
}

impl TemplateShape {
    fn axes(&self) -> impl Iterator<Item = &Axis> {
        [&self.batch, &self.input, &self.output].into_iter().flat_map(|r| r.lead.iter().chain(&r.trail))
    }
}

/// What a spec says: the shapes of its operands and of its result.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Template {
    /// The operands.
    pub operands: Vec<TemplateShape>,
    /// The result.
    pub result: TemplateShape,
}

/// The variables that one use of a spec made for its names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Instance {
    /// The named axes.
    pub dims: BTreeMap<String, DimVar>,
    /// The row variables.
    pub rows: BTreeMap<String, RowVar>,
    /// The shapes of the operands, in terms of these variables.
    pub operands: Vec<Shape>,
    /// The shape of the result.
    pub result: Shape,
}

impl Template {
    /// The names whose axes may be empty: a component of a concatenation that the other side does not take.
    ///
    /// A component is one of them when in each shape of the other side there is an axis all of whose components meet the
    /// rest of the concatenation.
    pub fn discardable(&self) -> BTreeSet<String> {
        let result = std::slice::from_ref(&self.result);
        let mut found = BTreeSet::new();
        for (here, there) in [(self.operands.as_slice(), result), (result, self.operands.as_slice())] {
            for axis in here.iter().flat_map(TemplateShape::axes) {
                let Axis::Concat(labels) = axis else { continue };
                for (i, label) in labels.iter().enumerate() {
                    let rest: Vec<&String> =
                        labels.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, l)| l).collect();
                    let taken = |axis: &Axis| {
                        let parts = components(axis);
                        !parts.is_empty() && parts.iter().all(|part| part.iter().any(|l| rest.contains(l)))
                    };
                    if !there.is_empty() && there.iter().all(|shape| shape.axes().any(taken)) {
                        found.insert(label.clone());
                    }
                }
            }
        }
        found
    }
}

/// The names in each component of an axis.
fn components(axis: &Axis) -> Vec<Vec<&String>> {
    match axis {
        Axis::Label(label) => vec![vec![label]],
        Axis::Fixed(_) => Vec::new(),
        Axis::Affine { over, kernel, .. } => {
            vec![std::iter::once(over).chain(kernel.as_ref().map(|k| &k.0)).collect()]
        }
        Axis::Concat(labels) => labels.iter().map(|l| vec![l]).collect(),
    }
}

struct Maker<'a> {
    solver: &'a mut Solver,
    origin: &'a Arc<Origin>,
    instance: Instance,
}

impl Maker<'_> {
    fn label(&mut self, name: &str) -> DimTerm {
        if name == "_" {
            return self.solver.fresh_dim().into();
        }
        if let Some(var) = self.instance.dims.get(name) {
            return (*var).into();
        }
        let var = self.solver.fresh_dim();
        self.instance.dims.insert(name.to_string(), var);
        var.into()
    }

    fn axis(&mut self, axis: &Axis) -> Result<DimTerm, ShapeError> {
        match axis {
            Axis::Label(name) => Ok(self.label(name)),
            Axis::Fixed(position) => {
                let term = DimTerm::Var(self.solver.fresh_dim());
                self.solver.add(Constraint::AtLeast(term, position.saturating_add(1)), self.origin)?;
                Ok(term)
            }
            Axis::Affine { stride, over, kernel, offset } => {
                let input = DimTerm::Var(self.solver.fresh_dim());
                let over = self.label(over);
                let kernel = kernel.as_ref().map(|(label, dilation, padded)| Kernel {
                    dilation: *dilation,
                    size: self.label(label),
                    padded: *padded,
                });
                let law = Constraint::Affine { input, stride: *stride, over, kernel, offset: *offset };
                self.solver.add(law, self.origin)?;
                Ok(input)
            }
            Axis::Concat(labels) => {
                let target = DimTerm::Var(self.solver.fresh_dim());
                let parts = labels.iter().map(|l| self.label(l)).collect();
                self.solver.add(Constraint::Concat { target, parts }, self.origin)?;
                Ok(target)
            }
        }
    }

    fn row(&mut self, row: &TemplateRow) -> Result<Row, ShapeError> {
        let lead = row.lead.iter().map(|a| self.axis(a)).collect::<Result<_, _>>()?;
        let trail = row.trail.iter().map(|a| self.axis(a)).collect::<Result<_, _>>()?;
        let var = row.var.as_ref().map(|name| match self.instance.rows.get(name) {
            Some(var) => *var,
            None => {
                let var = self.solver.fresh_row();
                self.instance.rows.insert(name.clone(), var);
                var
            }
        });
        Ok(Row::new(lead, var, trail))
    }

    fn shape(&mut self, shape: &TemplateShape) -> Result<Shape, ShapeError> {
        Ok(Shape {
            batch: self.row(&shape.batch)?,
            input: self.row(&shape.input)?,
            output: self.row(&shape.output)?,
        })
    }
}

impl Solver {
    /// New variables for the names of a spec, and the relations within it.
    ///
    /// # Errors
    /// A name that is used for an axis and for a row; a contradiction within the spec.
    pub fn instantiate(&mut self, template: &Template, origin: &Arc<Origin>) -> Result<Instance, ShapeError> {
        let discardable = template.discardable();
        let mut maker = Maker { solver: self, origin, instance: Instance::default() };
        for operand in &template.operands {
            let shape = maker.shape(operand)?;
            maker.instance.operands.push(shape);
        }
        maker.instance.result = maker.shape(&template.result)?;
        let instance = maker.instance;
        for name in instance.rows.keys() {
            if instance.dims.contains_key(name) {
                return Err(ShapeError {
                    labels: vec![origin.clone()],
                    ..ShapeError::new(
                        ShapeErrorKind::Spec,
                        format!("`{name}` is used as both a dimension variable and a row variable"),
                    )
                });
            }
        }
        for name in discardable {
            if let Some(var) = instance.dims.get(&name) {
                self.add(Constraint::Discardable(*var), origin)?;
            }
        }
        Ok(instance)
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
        if template.operands.len() != operands.len() {
            let count = ["no arguments", "one argument", "two arguments", "three arguments"];
            let expected =
                count.get(operands.len()).map_or(format!("{} arguments", operands.len()), |c| c.to_string());
            return Err(ShapeError {
                labels: vec![origin.clone()],
                ..ShapeError::new(ShapeErrorKind::Spec, format!("Invalid einsum spec (expected {expected})"))
            });
        }
        let instance = self.instantiate(template, origin)?;
        let sides =
            instance.operands.iter().zip(operands.iter().copied()).chain([(&instance.result, result)]);
        for (side, shape) in sides {
            for (a, b) in side.in_memory_order().into_iter().zip(shape.in_memory_order()) {
                self.add(Constraint::RowEq(a.clone(), b.clone()), origin)?;
            }
        }
        Ok(instance)
    }
}
