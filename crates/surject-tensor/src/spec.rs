//! From the notation of specs and shapes to the templates and rows of shape inference.

use crate::declared::Declared;
use crate::error::{TensorError, TensorErrorKind};
use std::collections::BTreeMap;
use surject_notation::spec::{
    Affine, Axis, AxisKind, Basis, Coefficient, Component, Label, Padding, RowSpec,
};
use surject_notation::{NotationError, NotationErrorKind, ShapeSpec, Spec};
use surject_shape as shape;
use surject_shape::{Dim, DimTerm, Row, RowVar, Shape, Solver, Template, TemplateRow, TemplateShape};

/// The number of a name, if it has one.
pub type Numbers<'a> = dyn Fn(&str) -> Option<u64> + 'a;

/// What the surroundings of a spec decide.
#[derive(Default)]
pub struct Surroundings<'a> {
    /// The numbers that names of coefficients stand for.
    pub numbers: Option<&'a Numbers<'a>>,
    /// Whether convolved axes without a mark are padded.
    pub padding: Option<bool>,
}

/// A spec as shape inference takes it, and the sizes that it writes out (components of concatenations).
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// The template.
    pub template: Template,
    /// Labels with a size.
    pub sizes: Vec<(String, u64)>,
}

/// Prepares a spec for inference.
///
/// # Errors
/// A coefficient without a number; a convolved axis whose padding nothing decides.
pub fn prepare(spec: &Spec, surroundings: &Surroundings<'_>) -> Result<Prepared, TensorError> {
    let mut maker = Maker { surroundings, sizes: Vec::new() };
    let operands = spec.operands.iter().map(|s| maker.shape(s)).collect::<Result<_, _>>()?;
    let result = maker.shape(&spec.result)?;
    let template = Template { operands, result, ..Template::default() };
    Ok(Prepared { template, sizes: maker.sizes })
}

struct Maker<'a> {
    surroundings: &'a Surroundings<'a>,
    sizes: Vec<(String, u64)>,
}

impl Maker<'_> {
    fn shape(&mut self, s: &ShapeSpec) -> Result<TemplateShape, TensorError> {
        Ok(TemplateShape {
            batch: self.row(&s.batch)?,
            input: self.row(&s.input)?,
            output: self.row(&s.output)?,
        })
    }

    fn row(&mut self, row: &RowSpec) -> Result<TemplateRow, TensorError> {
        let lead = row.leading.iter().map(|a| self.axis(a)).collect::<Result<_, _>>()?;
        let trail = row.trailing.iter().map(|a| self.axis(a)).collect::<Result<_, _>>()?;
        Ok(TemplateRow { lead, var: row.variable.as_ref().map(|v| v.name.clone()), trail })
    }

    fn axis(&mut self, axis: &Axis) -> Result<shape::Axis, TensorError> {
        Ok(match &axis.kind {
            AxisKind::Label(name) => shape::Axis::Label(name.clone()),
            AxisKind::Placeholder => shape::Axis::Label("_".to_string()),
            AxisKind::Index(i) => shape::Axis::Fixed(*i),
            AxisKind::Size(..) | AxisKind::Extent(..) | AxisKind::Labelled(..) => {
                let kind = TensorErrorKind::Size;
                return Err(TensorError::new(kind, "a spec has no sizes, only indices").spanning(axis.span));
            }
            AxisKind::Affine(a) => self.affine(a, axis)?,
            AxisKind::Concat(parts) => {
                shape::Axis::Concat(parts.iter().map(|part| self.component(part)).collect())
            }
        })
    }

    fn affine(&mut self, a: &Affine, axis: &Axis) -> Result<shape::Axis, TensorError> {
        let mut kernels = Vec::with_capacity(a.kernels.len());
        for k in &a.kernels {
            let padded = match (k.padding, self.surroundings.padding) {
                (Padding::Padded, _) => true,
                (Padding::Valid, _) => false,
                (Padding::Unspecified, Some(padded)) => padded,
                (Padding::Unspecified, None) => {
                    let message = "nothing says whether this convolved axis is padded";
                    let error = NotationError::new(NotationErrorKind::Padding, axis.span, message);
                    return Err(error
                        .with_help("write `=` (padded) or `<` (valid) after the first label")
                        .into());
                }
            };
            kernels.push((k.label.name.clone(), self.number(&k.dilation, axis)?, padded));
        }
        let stride = self.number(&a.stride, axis)?;
        Ok(shape::Axis::Affine { stride, over: a.over.name.clone(), kernels, offset: a.offset })
    }

    /// A component that is a size is a label of its own with that size.
    fn component(&mut self, part: &Component) -> String {
        match part {
            Component::Label(label) => label.name.clone(),
            Component::Size(size, _) => {
                // No label starts with a digit.
                let name = format!("{size}@{}", self.sizes.len());
                self.sizes.push((name.clone(), *size));
                name
            }
        }
    }

    fn number(&self, coefficient: &Coefficient, axis: &Axis) -> Result<u64, TensorError> {
        match coefficient {
            Coefficient::Number(n) => Ok(*n),
            Coefficient::Name(name) => match self.surroundings.numbers.and_then(|numbers| numbers(name)) {
                Some(n) if n > 0 => Ok(n),
                Some(_) => Err(TensorError::new(
                    TensorErrorKind::Size,
                    format!("the coefficient `{name}` of an axis is zero"),
                )
                .spanning(axis.span)),
                None => Err(TensorError::new(
                    TensorErrorKind::Unknown,
                    format!("the coefficient `{name}` of an axis has no value"),
                )
                .with_help("pass a whole number of that name to the function, or write the number")
                .spanning(axis.span)),
            },
        }
    }
}

/// The rows of a written shape. Labels and row variables are unknown, one for each name, but for labels with a size.
///
/// # Errors
/// Sizes that are no expressions over declared ones; others are checked where the shape is used.
pub(crate) fn shape_of(
    spec: &ShapeSpec,
    solver: &mut Solver,
    declared: &Declared,
) -> Result<Shape, TensorError> {
    let mut rows: BTreeMap<String, RowVar> = BTreeMap::new();
    let mut dims = labelled(spec, declared)?;
    let mut row = |r: &RowSpec| -> Result<Row, TensorError> {
        let mut flank = |axes: &[Axis]| -> Result<Vec<DimTerm>, TensorError> {
            axes.iter()
                .map(|axis| match &axis.kind {
                    AxisKind::Label(name) | AxisKind::Labelled(Label { name, .. }, _) => {
                        match (dims.get(name), declared.has(name)) {
                            (Some(known), _) => Ok(*known),
                            (None, true) => known_size(axis, declared),
                            (None, false) => {
                                Ok(*dims.entry(name.clone()).or_insert_with(|| solver.fresh_dim().into()))
                            }
                        }
                    }
                    AxisKind::Placeholder => Ok(solver.fresh_dim().into()),
                    _ => known_size(axis, declared),
                })
                .collect()
        };
        let (lead, trail) = (flank(&r.leading)?, flank(&r.trailing)?);
        let var =
            r.variable.as_ref().map(|v| *rows.entry(v.name.clone()).or_insert_with(|| solver.fresh_row()));
        Ok(Row::new(lead, var, trail))
    };
    let (batch, input, output) = (row(&spec.batch)?, row(&spec.input)?, row(&spec.output)?);
    Ok(Shape { batch, input, output })
}

/// The labels of a shape that it gives sizes.
fn labelled(spec: &ShapeSpec, declared: &Declared) -> Result<BTreeMap<String, DimTerm>, TensorError> {
    let mut dims = BTreeMap::new();
    for axis in spec.axes() {
        let AxisKind::Labelled(label, size) = &axis.kind else { continue };
        let dim = known_size(size, declared)?;
        if declared.has(&label.name) && dim != declared.dim(&label.name, None)?.into() {
            let message = format!("`{}` is a size, and here a label of another size", label.name);
            let error = TensorError::new(TensorErrorKind::Size, message).spanning(label.span);
            return Err(error.with_help("give the label another name"));
        }
        dims.insert(label.name.clone(), dim);
    }
    Ok(dims)
}

/// The size of an axis that says what it is.
fn known_size(axis: &Axis, declared: &Declared) -> Result<DimTerm, TensorError> {
    let (text, basis) = match &axis.kind {
        AxisKind::Size(n, Basis::Default) => return Ok(Dim::new(*n).into()),
        AxisKind::Size(1, Basis::Free) => return Ok(Dim::Unit.into()),
        AxisKind::Size(n, Basis::Free) => return Ok(Dim::with_basis(*n, "*").into()),
        AxisKind::Size(n, Basis::Named(basis)) => return Ok(Dim::with_basis(*n, basis).into()),
        AxisKind::Label(name) => (name, None),
        AxisKind::Extent(text, Basis::Default) => (text, None),
        AxisKind::Extent(text, Basis::Free) => (text, Some("*")),
        AxisKind::Extent(text, Basis::Named(basis)) => (text, Some(basis.as_str())),
        AxisKind::Placeholder
        | AxisKind::Index(_)
        | AxisKind::Labelled(..)
        | AxisKind::Affine(_)
        | AxisKind::Concat(_) => {
            let message = "a shape has sizes and labels, nothing computed";
            return Err(TensorError::new(TensorErrorKind::Size, message).spanning(axis.span));
        }
    };
    declared.dim(text, basis).map(DimTerm::from).map_err(|error| error.spanning(axis.span))
}
