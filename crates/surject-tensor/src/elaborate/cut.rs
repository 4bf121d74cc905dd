//! Cuts: one tensor into several, each with the components that its result names.
//!
//! Every result is a step of its own, which goes over the pieces that it takes and no others. The labels of the spec are
//! the same axes in all of them.

use super::Session;
use crate::error::{TensorError, TensorErrorKind};
use crate::graph::Site;
use crate::value::SpecValue;
use surject_notation::source::{Expr, ExprKind, Name, SpecOp};
use surject_notation::{ShapeSpec, Spec};
use surject_shape::{Constraint, Instance, Row};

impl Session {
    /// `let [p, q] = x ++^ "a^b => a; b";`
    pub(super) fn cut(&mut self, names: &[Name], value: &Expr) -> Result<(), TensorError> {
        let span = value.span;
        let ExprKind::Einsum(SpecOp::Concat, operands, spec) = &value.kind else {
            return Err(self.wrong(TensorErrorKind::Sort, span, "only a cut has several results"));
        };
        let [operand] = &operands[..] else {
            return Err(self.wrong(TensorErrorKind::Arguments, span, "a cut has one operand"));
        };
        let operand = self.tensor_expr(operand)?;
        let spec = self.spec_value(spec)?;
        let results: Vec<ShapeSpec> = spec.spec.results().cloned().collect();
        if results.len() != names.len() {
            let message = format!("{} names for the {} results of the spec", names.len(), results.len());
            return Err(self.wrong(TensorErrorKind::Arguments, span, message));
        }
        let empty = spec.spec.discardable();
        let mut all: Option<Instance> = None;
        for (name, result) in names.iter().zip(results) {
            let one = Spec { result, further: Vec::new(), ..spec.spec.clone() };
            let kept = one.dimension_names().into_iter().map(str::to_string);
            let kept = kept.filter(|name| !empty.contains(name)).collect();
            let mut prepared = self.prepare(&SpecValue { spec: one, ..(*spec).clone() }, "block", 1, span)?;
            prepared.template.kept = kept;
            let path = (name.text != "_").then(|| self.frame().owner.path_of(&name.text));
            let site = Site { spec: Some(spec.text.clone()), ..self.site(span, path.as_deref()) };
            let made = self.graph.concat(&[&operand], prepared.template, &prepared.sizes, site.clone());
            let (tensor, instance) = made.map_err(|error| self.here(error, span))?;
            match &mut all {
                None => all = Some(instance),
                Some(all) => {
                    let same = join(all, instance);
                    for constraint in same {
                        let added = self.graph.constrain(constraint, &site);
                        added.map_err(|error| self.here(error, span))?;
                    }
                }
            }
            if name.text != "_" {
                self.define(&name.text, tensor.into());
            }
        }
        match all {
            Some(all) => self.bind_captures(&spec, &all, span),
            None => Ok(()),
        }
    }
}

/// Adds the names of another use of the spec; what both have is the same.
fn join(all: &mut Instance, other: Instance) -> Vec<Constraint> {
    let mut same = Vec::new();
    for (name, dim) in other.dims {
        let known = *all.dims.entry(name).or_insert(dim);
        if known != dim {
            same.push(Constraint::DimEq(known.into(), dim.into()));
        }
    }
    for (name, row) in other.rows {
        let known = *all.rows.entry(name).or_insert(row);
        if known != row {
            same.push(Constraint::RowEq(Row::open(known), Row::open(row)));
        }
    }
    same
}
