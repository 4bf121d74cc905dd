//! Specs as constraints: the axes that a spec names alike are one axis.
//!
//! A [`Template`] is what a spec says, without its notation. Each use of a spec instantiates it with new variables, which
//! is what makes one operator serve many shapes.

use crate::constraint::{Constraint, Kernel};
use crate::dim::{DimTerm, DimVar};
use crate::error::{ShapeError, ShapeErrorKind};
use crate::operation::{Elaboration, arguments};
use crate::row::{Row, RowVar};
use crate::shape::Shape;
use crate::solver::Solver;
use std::collections::{BTreeMap, BTreeSet};

/// One axis of a spec.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Axis {
    /// A named axis; `_` names nothing and is another axis each time.
    Label(String),
    /// A fixed position: the axis is larger than it.
    Fixed(u64),
    /// Read at `stride·over + dilation·kernel + offset`, with any number of kernels.
    Affine {
        /// The stride.
        stride: u64,
        /// The label of the axis that iterates.
        over: String,
        /// Label and dilation of each kernel, and whether it is padded.
        kernels: Vec<(String, u64, bool)>,
        /// Below the stride.
        offset: u64,
    },
    /// The components, in order: each a label, or a number, which is the size of a component without a name.
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
    /// Components that other results of the same cut take, so that they are not empty.
    pub kept: BTreeSet<String>,
}

/// The variables that one use of an operation made: those for the names of its spec, if it has one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Instance {
    /// The named axes.
    pub dims: BTreeMap<String, DimVar>,
    /// The row variables.
    pub rows: BTreeMap<String, RowVar>,
    /// The shapes of the operands, in terms of these variables; none without a spec.
    pub operands: Vec<Shape>,
    /// The shape of the result; empty without a spec.
    pub result: Shape,
    /// The axes with a fixed index, and the index.
    pub pins: Vec<(DimVar, u64)>,
    /// The axes whose position is given from outside: that of a slice.
    pub external: Vec<DimVar>,
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
                    if size_of(label).is_some() {
                        continue;
                    }
                    let others = labels.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, l)| l);
                    let rest: Vec<&String> = others.filter(|l| size_of(l).is_none()).collect();
                    let taken = |axis: &Axis| {
                        let parts = components(axis);
                        !parts.is_empty() && parts.iter().all(|part| part.iter().any(|l| rest.contains(l)))
                    };
                    let everywhere = there.iter().all(|shape| shape.axes().any(taken));
                    if !there.is_empty() && everywhere && !self.kept.contains(label) {
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
        Axis::Affine { over, kernels, .. } => {
            vec![std::iter::once(over).chain(kernels.iter().map(|k| &k.0)).collect()]
        }
        Axis::Concat(labels) => {
            labels.iter().map(|l| if size_of(l).is_none() { vec![l] } else { Vec::new() }).collect()
        }
    }
}

/// The size that a component of a concatenation is, if it is not a label.
fn size_of(component: &str) -> Option<u64> {
    component.parse().ok()
}

struct Maker<'a> {
    solver: &'a mut Solver,
    constraints: Vec<Constraint>,
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

    fn axis(&mut self, axis: &Axis) -> DimTerm {
        match axis {
            Axis::Label(name) => self.label(name),
            Axis::Fixed(position) => {
                let var = self.solver.fresh_dim();
                self.instance.pins.push((var, *position));
                self.constraints.push(Constraint::AtLeast(var.into(), position.saturating_add(1)));
                var.into()
            }
            Axis::Affine { stride, over, kernels, offset } => self.affine(*stride, over, kernels, *offset),
            Axis::Concat(components) => {
                let target = DimTerm::Var(self.solver.fresh_dim());
                let parts = components.iter().map(|component| match size_of(component) {
                    Some(size) => DimTerm::from(size),
                    None => self.label(component),
                });
                let parts = parts.collect();
                self.constraints.push(Constraint::Concat { target, parts });
                target
            }
        }
    }

    /// An affine axis. Each kernel after the first makes a larger axis from the one before it: the sum of all terms is
    /// the sum of two, one of which is a sum itself, and so are the sizes.
    fn affine(&mut self, stride: u64, over: &str, kernels: &[(String, u64, bool)], offset: u64) -> DimTerm {
        let mut step = (stride, self.label(over), offset);
        let mut kernels = kernels.iter();
        let mut next = kernels.next();
        loop {
            let (stride, over, offset) = step;
            let input = DimTerm::Var(self.solver.fresh_dim());
            let kernel = next.map(|(label, dilation, padded)| Kernel {
                dilation: *dilation,
                size: self.label(label),
                padded: *padded,
            });
            self.constraints.push(Constraint::Affine { input, stride, over, kernel, offset });
            next = kernels.next();
            if next.is_none() {
                return input;
            }
            step = (1, input, 0);
        }
    }

    fn row(&mut self, row: &TemplateRow) -> Row {
        let lead = row.lead.iter().map(|a| self.axis(a)).collect();
        let trail = row.trail.iter().map(|a| self.axis(a)).collect();
        let var = row.var.as_ref().map(|name| match self.instance.rows.get(name) {
            Some(var) => *var,
            None => {
                let var = self.solver.fresh_row();
                self.instance.rows.insert(name.clone(), var);
                var
            }
        });
        Row::new(lead, var, trail)
    }

    fn shape(&mut self, shape: &TemplateShape) -> Shape {
        Shape {
            batch: self.row(&shape.batch),
            input: self.row(&shape.input),
            output: self.row(&shape.output),
        }
    }
}

impl Template {
    /// New variables for the names of the spec, the relations within it, and the equations with the shapes.
    ///
    /// # Errors
    /// Another number of operands; a name that is used for an axis and for a row.
    pub(crate) fn elaborate(
        &self,
        solver: &mut Solver,
        operands: &[&Shape],
        result: &Shape,
    ) -> Result<Elaboration, ShapeError> {
        let wrong = |message: String| Err(ShapeError::new(ShapeErrorKind::Spec, message));
        if self.operands.len() != operands.len() {
            return wrong(format!("Invalid einsum spec (expected {})", arguments(operands.len())));
        }
        let mut maker = Maker { solver, constraints: Vec::new(), instance: Instance::default() };
        for operand in &self.operands {
            let shape = maker.shape(operand);
            maker.instance.operands.push(shape);
        }
        maker.instance.result = maker.shape(&self.result);
        let Maker { mut constraints, instance, .. } = maker;
        if let Some(name) = instance.rows.keys().find(|name| instance.dims.contains_key(*name)) {
            return wrong(format!("`{name}` is used as both a dimension variable and a row variable"));
        }
        // What may be empty comes first: it decides what the others say.
        let discardable = self.discardable();
        let empty =
            discardable.iter().filter_map(|name| Some(Constraint::Discardable(*instance.dims.get(name)?)));
        constraints.splice(0..0, empty.collect::<Vec<_>>());
        let sides =
            instance.operands.iter().zip(operands.iter().copied()).chain([(&instance.result, result)]);
        for (side, shape) in sides {
            for (a, b) in side.in_memory_order().into_iter().zip(shape.in_memory_order()) {
                constraints.push(Constraint::RowEq(a.clone(), b.clone()));
            }
        }
        Ok(Elaboration { constraints, instance })
    }
}
