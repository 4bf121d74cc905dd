//! Layers one after the other, and what is done for every parameter.

use super::Session;
use super::call::{Given, Site};
use super::frame::{Captured, Frame};
use super::function::{Callable, Function};
use super::owner::Owner;
use crate::error::{TensorError, TensorErrorKind};
use crate::graph::{NodeId, NodeKind};
use crate::tensor::Tensor;
use crate::value::Value;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use surject_notation::Span;

/// How many layers one `repeat` may make.
const MAX_REPEAT: u64 = 10_000;

impl Session {
    /// `repeat(layer, n)`: n times the layer. `repeat(layer, [a, b])`: `layer(a)` and then `layer(b)`.
    pub(super) fn repeat(
        &mut self,
        layer: &Function,
        count: &Value,
        at: Span,
        site: Site<'_>,
    ) -> Result<Function, TensorError> {
        let layers = match count {
            Value::Number(n) => match n.size().filter(|n| (1..=MAX_REPEAT).contains(n)) {
                Some(n) => (0..n).map(|_| layer.clone()).collect(),
                None => {
                    let message = format!("a layer is repeated 1 to {MAX_REPEAT} times, and not {}", n.value);
                    return Err(self.wrong(TensorErrorKind::Size, at, message));
                }
            },
            Value::Sizes(values) if !values.is_empty() => {
                let mut layers = Vec::with_capacity(values.len());
                for value in values.iter() {
                    let given = vec![Given { key: None, value: value.clone(), span: at }];
                    match self.apply(layer, given, Site { label: None, ..site })? {
                        Value::Function(layer) => layers.push(layer),
                        other => {
                            let message =
                                format!("`{}` gives {}, and a layer is needed", layer.name(), other.sort());
                            return Err(self.wrong(TensorErrorKind::Sort, site.span, message));
                        }
                    }
                }
                layers
            }
            other => {
                let message = format!(
                    "a number of layers or a list of sizes is needed here, and this is {}",
                    other.sort()
                );
                return Err(self.wrong(TensorErrorKind::Sort, at, message));
            }
        };
        self.function(Callable::Repeat(layers), site.span)
    }

    /// `()` for every layer.
    pub(super) fn apply_repeat(
        &mut self,
        layers: &[Function],
        given: &[Given],
        site: Site<'_>,
    ) -> Result<Value, TensorError> {
        if let Some(first) = given.first() {
            let message = "repeated layers have their configuration, and `()` comes next";
            return Err(self.wrong(TensorErrorKind::Arguments, first.span, message));
        }
        let around = self.frame().owner.clone();
        let base = site.label.map_or_else(|| around.path_of("repeat"), str::to_string);
        let mut made = Vec::with_capacity(layers.len());
        for (k, layer) in layers.iter().enumerate() {
            let place = self.owned_at(site.span, format!("repeat {k}"));
            let owner = around.child(place, || self.free_path(&format!("{base}.{}", k + 1)));
            let path = owner.path.clone();
            let instance = self.as_owner("repeat", owner, site.span, |session| {
                session.apply(layer, Vec::new(), Site { label: Some(&path), ..site })
            })?;
            match instance {
                Value::Function(function) => made.push(function),
                other => {
                    let message =
                        format!("`{}()` gives {}, and a layer is needed", layer.name(), other.sort());
                    return Err(self.wrong(TensorErrorKind::Sort, site.span, message));
                }
            }
        }
        Ok(self.function(Callable::Chain(made), site.span)?.into())
    }

    /// The first argument goes through all functions; the others are given to each.
    pub(super) fn apply_chain(
        &mut self,
        functions: &[Function],
        given: Vec<Given>,
        site: Site<'_>,
    ) -> Result<Value, TensorError> {
        let mut given = given;
        for (k, function) in functions.iter().enumerate() {
            let label = site.label.filter(|_| k + 1 == functions.len());
            let value = self.apply(function, given.clone(), Site { label, ..site })?;
            match given.first_mut() {
                Some(first) => first.value = value,
                None => return Ok(value),
            }
        }
        match given.into_iter().next() {
            Some(first) => Ok(first.value),
            None => Ok(Value::Unit),
        }
    }

    /// `update(loss, optimiser)`: the optimiser with a `()` of its own for every parameter that the loss depends on.
    pub(super) fn update(
        &mut self,
        loss: &Tensor,
        optimiser: &Function,
        site: Site<'_>,
    ) -> Result<(), TensorError> {
        let parameters = self.parameters_of(loss);
        if parameters.is_empty() {
            let message = format!("`{}` depends on no parameter", loss.label());
            return Err(self.wrong(TensorErrorKind::Arguments, site.span, message));
        }
        for parameter in parameters {
            let place = self.owned_at(site.span, format!("update #{}", parameter.id().0));
            let owner = self.frame().owner.child(place, || parameter.label());
            let path = owner.path.clone();
            self.as_owner("update", owner, site.span, |session| {
                let site = Site { label: Some(&path), ..site };
                match session.apply(optimiser, Vec::new(), site)? {
                    Value::Function(update) => {
                        let given =
                            vec![Given { key: None, value: parameter.clone().into(), span: site.span }];
                        session.apply(&update, given, Site { label: None, ..site })
                    }
                    other => {
                        let message = format!(
                            "`{}()` gives {}, and a function of a parameter is needed",
                            optimiser.name(),
                            other.sort()
                        );
                        Err(session.wrong(TensorErrorKind::Sort, site.span, message))
                    }
                }
            })?;
        }
        Ok(())
    }

    /// The parameters that a tensor depends on, in the order in which they were made.
    fn parameters_of(&self, tensor: &Tensor) -> Vec<Tensor> {
        let steps = self.graph.steps();
        let mut seen: BTreeSet<NodeId> = BTreeSet::new();
        let mut found: BTreeSet<NodeId> = BTreeSet::new();
        let mut waiting = vec![tensor.id()];
        while let Some(id) = waiting.pop() {
            if !seen.insert(id) {
                continue;
            }
            match self.graph.node(id).kind {
                NodeKind::Parameter { .. } => {
                    found.insert(id);
                }
                NodeKind::Result(step) | NodeKind::Local(step) => {
                    waiting.extend(steps.get(step.0 as usize).iter().flat_map(|step| &step.operands));
                }
                _ => {}
            }
        }
        found.into_iter().map(|id| self.graph.tensor(id)).collect()
    }

    /// Evaluates at the same place of the text, with another owner of what is made.
    fn as_owner<T>(
        &mut self,
        what: &str,
        owner: Rc<Owner>,
        span: Span,
        evaluate: impl FnOnce(&mut Session) -> Result<T, TensorError>,
    ) -> Result<T, TensorError> {
        let frame = self.frame();
        let frame = Frame {
            text: frame.text.clone(),
            name: Some(frame.name.clone().unwrap_or_else(|| what.to_string())),
            call: span,
            names: HashMap::new(),
            captured: Captured::default(),
            owner,
        };
        self.within(frame, span, evaluate)
    }
}
