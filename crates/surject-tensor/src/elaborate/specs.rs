//! Specs: as values, prepared for inference, and what they capture.

use super::Session;
use super::capture::{PADDING, coefficients};
use crate::error::{TensorError, TensorErrorKind};
use crate::graph::{Site, SizeRef, composition};
use crate::operator::Operator;
use crate::spec::{self, Prepared, Surroundings};
use crate::tensor::Tensor;
use crate::value::{Size, SpecValue, Value};
use std::rc::Rc;
use std::sync::Arc;
use surject_notation::Span;
use surject_notation::source::{self, SpecArgument};
use surject_notation::spec::CaptureTarget;
use surject_shape::{Instance, Logic};

/// The logic of an assignment: with the sizes of its labels, and the spec by which it captures.
pub(super) type AssignmentLogic = (Logic, Vec<(String, u64)>, Option<Rc<SpecValue>>);

impl Session {
    /// A spec with what its surroundings say.
    pub(super) fn spec_value(&mut self, argument: &SpecArgument) -> Result<Rc<SpecValue>, TensorError> {
        match argument {
            SpecArgument::Literal(spec, captures) => {
                let names = coefficients(spec);
                let numbers = names.into_iter().filter_map(|name| Some((self.number_of(&name)?, name)));
                Ok(Rc::new(SpecValue {
                    numbers: numbers.map(|(number, name)| (name, number)).collect(),
                    padding: self.padding(),
                    text: self.frame().text.slice(spec.span),
                    spec: spec.as_ref().clone(),
                    captures: captures.clone(),
                }))
            }
            SpecArgument::Name(name) => match self.named(&name.text, name.span)? {
                Value::Spec(spec) => Ok(spec),
                other => {
                    let message = format!("`{}` is {}, and a spec is needed", name.text, other.sort());
                    let error = self.wrong(TensorErrorKind::Sort, name.span, message);
                    Err(match other {
                        Value::Text(_) => error.with_help("a spec has a `=>`"),
                        _ => error,
                    })
                }
            },
        }
    }

    /// The whole number of a name, if it is one.
    fn number_of(&self, name: &str) -> Option<u64> {
        match self.lookup(name).ok()?? {
            Value::Number(number) => number.size(),
            Value::Size(size) => self.graph.size_of(size.size),
            _ => None,
        }
    }

    /// What the surroundings say of padding.
    fn padding(&self) -> Option<bool> {
        match self.frame().value(PADDING)? {
            Value::Number(number) => Some(number.value != 0.0),
            _ => None,
        }
    }

    /// A spec as inference takes it.
    pub(super) fn prepare(
        &mut self,
        value: &SpecValue,
        operation: &str,
        arity: usize,
        span: Span,
    ) -> Result<Prepared, TensorError> {
        let placed = |error: TensorError| self.here(error, span);
        let spec = value.spec.clone().with_arity(operation, arity).map_err(|e| placed(e.into()))?;
        let known = |name: &str| value.numbers.iter().find(|(n, _)| n == name).map(|(_, number)| *number);
        let numbers = |name: &str| known(name).or_else(|| self.number_of(name));
        let surroundings =
            Surroundings { numbers: Some(&numbers), padding: value.padding.or_else(|| self.padding()) };
        spec::prepare(&spec, &surroundings).map_err(placed)
    }

    /// An operator with a spec.
    pub(super) fn apply_spec(
        &mut self,
        operator: &Arc<Operator>,
        spec: &SpecValue,
        operands: &[&Tensor],
        span: Span,
        label: Option<&str>,
    ) -> Result<Value, TensorError> {
        let prepared = self.prepare(spec, "einsum", operands.len(), span)?;
        let logic = Logic::Spec(Arc::new(prepared.template));
        let site = Site { spec: Some(spec.text.clone()), ..self.site(span, label) };
        let applied = self.graph.apply_sized(operator, Some(logic), operands, &prepared.sizes, site);
        let (tensor, instance) = applied.map_err(|error| self.here(error, span))?;
        self.bind_captures(spec, &instance, span)?;
        Ok(tensor.into())
    }

    /// Gives the captured names their sizes.
    pub(super) fn bind_captures(
        &mut self,
        spec: &SpecValue,
        instance: &Instance,
        span: Span,
    ) -> Result<(), TensorError> {
        for capture in &spec.captures {
            let size = match capture.target {
                CaptureTarget::Dimension => instance.dims.get(&capture.name).copied().map(SizeRef::Dim),
                CaptureTarget::RowProduct => instance.rows.get(&capture.name).copied().map(SizeRef::Row),
            };
            let Some(size) = size else {
                let message = format!("the spec has neither a label nor a row variable `{}`", capture.name);
                return Err(self.wrong(TensorErrorKind::Size, span, message));
            };
            self.define(&capture.name, Value::Size(Size { name: capture.name.clone(), size }));
        }
        Ok(())
    }

    /// The logic of an assignment, its sizes, and the spec it captures by.
    pub(super) fn logic(
        &mut self,
        logic: Option<&source::Logic>,
        arity: usize,
        span: Span,
    ) -> Result<AssignmentLogic, TensorError> {
        let argument = match logic {
            None | Some(source::Logic::Pointwise) => return Ok((Logic::Pointwise, Vec::new(), None)),
            Some(source::Logic::Compose) => return Ok((composition(arity), Vec::new(), None)),
            Some(source::Logic::Transpose) => return Ok((Logic::Transpose, Vec::new(), None)),
            Some(source::Logic::Spec(argument)) => argument,
        };
        if let SpecArgument::Name(name) = argument
            && let Value::Text(text) = self.named(&name.text, name.span)?
        {
            let plain = match text.trim() {
                "." => Some(Logic::Pointwise),
                "@" => Some(composition(arity)),
                "T" => Some(Logic::Transpose),
                _ => None,
            };
            if let Some(logic) = plain {
                return Ok((logic, Vec::new(), None));
            }
        }
        let spec = self.spec_value(argument)?;
        let prepared = self.prepare(&spec, "assignment", arity, span)?;
        Ok((Logic::Spec(Arc::new(prepared.template)), prepared.sizes, Some(spec)))
    }
}
