//! Calls: the stages of functions, operators, and what binds arguments to parameters.

use super::frame::Frame;
use super::function::{Callable, Closure, Function, Lambda, Stage};
use super::owner::{Owner, Place};
use super::{MAX_CALLS, Session};
use crate::error::{TensorError, TensorErrorKind};
use crate::operator::Operator;
use crate::tensor::Tensor;
use crate::value::{SpecValue, Value};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use surject_notation::Span;
use surject_notation::source::{Argument, Body, Expr, ExprKind};

/// An argument of a call.
#[derive(Clone)]
pub(super) struct Given {
    pub(super) key: Option<String>,
    pub(super) value: Value,
    pub(super) span: Span,
}

impl Given {
    pub(super) fn plain(value: &Value) -> Given {
        Given { key: None, value: value.clone(), span: Span::default() }
    }
}

/// Where a call stands, and the label of what it gives.
#[derive(Clone, Copy, Default)]
pub(super) struct Site<'a> {
    pub(super) span: Span,
    pub(super) label: Option<&'a str>,
}

type Configuration = HashMap<String, Value>;

impl Session {
    #[inline(never)]
    pub(super) fn call_expr(
        &mut self,
        callee: &Expr,
        arguments: &[Argument],
        span: Span,
        label: Option<&str>,
    ) -> Result<Value, TensorError> {
        let function = match self.expr(callee, None)? {
            Value::Function(function) => function,
            other => {
                let what = self.frame().text.slice(callee.span);
                let message = format!("`{what}` is {}, and only functions can be applied", other.sort());
                let error = self.wrong(TensorErrorKind::Sort, callee.span, message);
                return Err(match &callee.kind {
                    ExprKind::Name(_) if matches!(other, Value::Tensor(_)) => {
                        error.with_help("`*` composes two tensors, `*.` multiplies them pointwise")
                    }
                    _ => error,
                });
            }
        };
        if let Callable::Builtin(name) = &*function.0 {
            return self.builtin(name, arguments, Site { span, label });
        }
        // Configuration is given by sizes; of tensors a literal is a literal.
        let host = matches!(&*function.0, Callable::Closure(c) if matches!(c.stage, Stage::Defined { .. }) && c.function.unit);
        let given = arguments.iter().map(|argument| {
            let value = match host {
                true => self.host(&argument.value, None)?,
                false => self.expr(&argument.value, None)?,
            };
            let key = argument.key.as_ref().map(|key| key.text.clone());
            Ok(Given { key, value, span: argument.value.span })
        });
        let given = given.collect::<Result<Vec<_>, TensorError>>()?;
        self.apply(&function, given, Site { span, label })
    }

    /// A function applied to arguments.
    pub(super) fn apply(
        &mut self,
        function: &Function,
        given: Vec<Given>,
        site: Site<'_>,
    ) -> Result<Value, TensorError> {
        match &*function.0 {
            Callable::Closure(closure) => self.apply_closure(closure, given, site),
            Callable::Lambda(lambda) => self.apply_lambda(lambda, given, site),
            Callable::Operator(operator) => self.apply_operator(operator, given, site),
            Callable::Builtin(name) => self.apply_builtin(name, given, site),
            Callable::Repeat(layers) => self.apply_repeat(layers, &given, site),
            Callable::Chain(layers) => self.apply_chain(layers, given, site),
            Callable::Host(name, host) => {
                self.positional(name, &given)?;
                let values: Vec<Value> = given.into_iter().map(|g| g.value).collect();
                host(&values).map_err(|error| self.placed(error, site.span))
            }
        }
    }

    #[inline(never)]
    fn apply_closure(
        &mut self,
        closure: &Closure,
        given: Vec<Given>,
        site: Site<'_>,
    ) -> Result<Value, TensorError> {
        let function = closure.function.clone();
        let name = &function.name.text;
        match &closure.stage {
            Stage::Defined { owner } if !function.unit => {
                let owner = match owner {
                    Some(owner) => owner.clone(),
                    None => {
                        let place = Place {
                            text: closure.text.id(),
                            at: function.name.span.start,
                            configuration: String::new(),
                        };
                        let library = self.library.clone();
                        library.child(place, || self.free_path(name))
                    }
                };
                self.apply_tensors(closure, &Configuration::new(), owner, given, site)
            }
            Stage::Defined { .. } => {
                // A positional argument that is a tensor is none of the configuration.
                let (tensors, config): (Vec<Given>, Vec<Given>) =
                    given.into_iter().partition(|g| match &g.key {
                        None => matches!(g.value, Value::Tensor(_)),
                        Some(key) => function.tensors.iter().any(|t| t.text == *key),
                    });
                let unit = tensors.is_empty() && function.config.is_empty();
                let configuration = Rc::new(self.configure(closure, config, site)?);
                if unit {
                    return self.instantiate(closure, configuration, site);
                }
                let configured = closure.at(Stage::Configured(configuration.clone()));
                if tensors.is_empty() {
                    return Ok(self.function(configured, site.span)?.into());
                }
                if function.tensors.is_empty() {
                    let message = format!("`{name}` takes no tensor before its `()`");
                    return Err(self.wrong(TensorErrorKind::Arguments, tensors[0].span, message));
                }
                let owner = self.instance(&function.name.text, &configuration, Site { label: None, ..site });
                self.apply_tensors(closure, &configuration, owner, tensors, site)
            }
            Stage::Configured(configuration) => {
                if let Some(first) = given.first() {
                    let message = format!("`{name}` has its configuration, and `()` comes next");
                    return Err(self.wrong(TensorErrorKind::Arguments, first.span, message).with_help(
                        format!("`()` makes the parameters: `let layer = {name}(…)();`, then `layer(x)`"),
                    ));
                }
                self.instantiate(closure, configuration.clone(), site)
            }
            Stage::Instance(configuration, owner) => {
                self.apply_tensors(closure, configuration, owner.clone(), given, site)
            }
        }
    }

    /// Applies `()`.
    fn instantiate(
        &mut self,
        closure: &Closure,
        configuration: Rc<Configuration>,
        site: Site<'_>,
    ) -> Result<Value, TensorError> {
        let owner = self.instance(&closure.function.name.text, &configuration, site);
        if closure.function.tensors.is_empty() {
            return self.body(closure, (*configuration).clone(), owner, site);
        }
        Ok(self.function(closure.at(Stage::Instance(configuration, owner)), site.span)?.into())
    }

    /// The instance of a layer at a place: within one owner and for one configuration it is always the same.
    fn instance(&mut self, name: &str, configuration: &Configuration, site: Site<'_>) -> Rc<Owner> {
        let around = self.frame().owner.clone();
        let place = self.owned_at(site.span, format!("{name}{}", configuration_text(configuration)));
        around.child(place, || match site.label {
            Some(label) if label == around.path => around.path.clone(),
            Some(label) => self.free_path(label),
            None => self.free_path(&around.path_of(name)),
        })
    }

    /// A place of the text that is evaluated, for an owner.
    pub(super) fn owned_at(&self, span: Span, configuration: String) -> Place {
        Place { text: self.frame().text.id(), at: span.start, configuration }
    }

    /// Binds the configuration of a function.
    fn configure(
        &mut self,
        closure: &Closure,
        given: Vec<Given>,
        site: Site<'_>,
    ) -> Result<Configuration, TensorError> {
        let function = &closure.function;
        let names: Vec<&str> = function.config.iter().map(|p| p.name.text.as_str()).collect();
        let mut bound =
            self.bind_arguments(&function.name.text, "configuration", &names, given, site.span)?;
        for parameter in &function.config {
            let name = &parameter.name.text;
            if bound.contains_key(name) {
                continue;
            }
            let Some(default) = &parameter.default else {
                let message = format!("`{}` needs its configuration `{name}`", function.name.text);
                return Err(self
                    .wrong(TensorErrorKind::Arguments, site.span, message)
                    .with_help(format!("give it by place or by key: `{}({name}: …)`", function.name.text)));
            };
            let owner = self.frame().owner.clone();
            let frame = self.frame_of(closure, bound.clone(), owner, site.span);
            let value = self.within(frame, site.span, |session| session.host(default, None))?;
            bound.insert(name.clone(), value);
        }
        Ok(bound)
    }

    fn apply_tensors(
        &mut self,
        closure: &Closure,
        configuration: &Configuration,
        owner: Rc<Owner>,
        given: Vec<Given>,
        site: Site<'_>,
    ) -> Result<Value, TensorError> {
        let function = &closure.function;
        let names: Vec<&str> = function.tensors.iter().map(|n| n.text.as_str()).collect();
        let bound = self.bind_all(&function.name.text, &names, given, site.span)?;
        let mut names = configuration.clone();
        names.extend(bound);
        self.body(closure, names, owner, site)
    }

    fn body(
        &mut self,
        closure: &Closure,
        names: Configuration,
        owner: Rc<Owner>,
        site: Site<'_>,
    ) -> Result<Value, TensorError> {
        let frame = self.frame_of(closure, names, owner, site.span);
        let Body { items, result } = &closure.function.body;
        self.within(frame, site.span, |session| {
            items.iter().try_for_each(|item| session.item(item, items))?;
            match result {
                Some(result) => session.expr(result, site.label),
                None => Ok(Value::Unit),
            }
        })
    }

    fn frame_of(&self, closure: &Closure, names: Configuration, owner: Rc<Owner>, call: Span) -> Frame {
        Frame {
            text: closure.text.clone(),
            name: Some(closure.function.name.text.clone()),
            call,
            names,
            captured: closure.captured.clone(),
            owner,
        }
    }

    fn apply_lambda(
        &mut self,
        lambda: &Lambda,
        given: Vec<Given>,
        site: Site<'_>,
    ) -> Result<Value, TensorError> {
        let names: Vec<&str> = lambda.parameters.iter().map(|n| n.text.as_str()).collect();
        let what = format!("|{}| …", names.join(", "));
        let names = self.bind_all(&what, &names, given, site.span)?;
        let frame = Frame {
            text: lambda.text.clone(),
            name: Some(what),
            call: site.span,
            names,
            captured: lambda.captured.clone(),
            owner: lambda.owner.clone(),
        };
        self.within(frame, site.span, |session| session.expr(&lambda.body, site.label))
    }

    /// Evaluates within another frame.
    pub(super) fn within<T>(
        &mut self,
        frame: Frame,
        call: Span,
        evaluate: impl FnOnce(&mut Session) -> Result<T, TensorError>,
    ) -> Result<T, TensorError> {
        if self.frames.len() > MAX_CALLS {
            return Err(self.too_deep(call));
        }
        self.texts.entry(frame.text.file().into()).or_insert_with(|| frame.text.clone());
        self.frames.push(frame);
        let result = evaluate(self);
        self.frames.pop();
        result
    }

    #[inline(never)]
    fn apply_operator(
        &mut self,
        operator: &Arc<Operator>,
        mut given: Vec<Given>,
        site: Site<'_>,
    ) -> Result<Value, TensorError> {
        let is_spec = |g: &Given| {
            matches!(g.value, Value::Spec(_)) && g.key.as_deref().is_none_or(|k| k == "spec" || k == "logic")
        };
        let spec: Option<Rc<SpecValue>> = match given.last() {
            Some(last) if is_spec(last) => match given.pop() {
                Some(Given { value: Value::Spec(spec), .. }) => Some(spec),
                _ => None,
            },
            _ => None,
        };
        self.positional(&operator.name, &given)?;
        let arity = operator.arity.unwrap_or(given.len());
        if arity != given.len() {
            let (takes, has) = (operands(arity), given.len());
            let message = format!(
                "`{}` takes {takes}, and here {} {has}",
                operator.name,
                if has == 1 { "is" } else { "are" }
            );
            return Err(self.wrong(TensorErrorKind::Arguments, site.span, message));
        }
        let tensors =
            given.into_iter().map(|g| self.tensor_of(g.value, g.span)).collect::<Result<Vec<Tensor>, _>>()?;
        let tensors: Vec<&Tensor> = tensors.iter().collect();
        match spec {
            Some(spec) => self.apply_spec(operator, &spec, &tensors, site.span, site.label),
            None => {
                let graph_site = self.site(site.span, site.label);
                let applied = self.graph.apply(operator, None, &tensors, graph_site);
                Ok(applied.map_err(|error| self.here(error, site.span))?.0.into())
            }
        }
    }

    fn positional(&self, name: &str, given: &[Given]) -> Result<(), TensorError> {
        match given.iter().find(|g| g.key.is_some()) {
            Some(g) => {
                let key = g.key.clone().unwrap_or_default();
                let message = format!("`{name}` takes no argument by key, and here is `{key}:`");
                Err(self.wrong(TensorErrorKind::Arguments, g.span, message))
            }
            None => Ok(()),
        }
    }

    /// Binds arguments to names, all of them.
    fn bind_all(
        &self,
        function: &str,
        names: &[&str],
        given: Vec<Given>,
        span: Span,
    ) -> Result<Configuration, TensorError> {
        let bound = self.bind_arguments(function, "arguments", names, given, span)?;
        match names.iter().find(|name| !bound.contains_key(**name)) {
            Some(missing) => {
                let message = format!("`{function}` takes {}, and `{missing}` is missing", takes(names));
                Err(self.wrong(TensorErrorKind::Arguments, span, message))
            }
            None => Ok(bound),
        }
    }

    /// Binds arguments to names, by key and then by place.
    pub(super) fn bind_arguments(
        &self,
        function: &str,
        what: &str,
        names: &[&str],
        given: Vec<Given>,
        span: Span,
    ) -> Result<Configuration, TensorError> {
        let mut bound = Configuration::new();
        let count = given.len();
        let (keyed, placed): (Vec<Given>, Vec<Given>) = given.into_iter().partition(|g| g.key.is_some());
        for g in keyed {
            let key = g.key.unwrap_or_default();
            if !names.contains(&key.as_str()) {
                let message = format!("`{function}` has no `{key}` among its {what}");
                let error = self.wrong(TensorErrorKind::Arguments, g.span, message);
                return Err(error.with_help(format!("it takes {}", takes(names))));
            }
            bound.insert(key, g.value);
        }
        for g in placed {
            let Some(name) = names.iter().find(|name| !bound.contains_key(**name)) else {
                let message =
                    format!("`{function}` takes {} as its {what}, and here are {count}", takes(names));
                return Err(self.wrong(TensorErrorKind::Arguments, span, message));
            };
            bound.insert(name.to_string(), g.value);
        }
        Ok(bound)
    }
}

impl Closure {
    fn at(&self, stage: Stage) -> Callable {
        Callable::Closure(Closure { stage, ..self.clone() })
    }
}

/// `one operand`.
fn operands(count: usize) -> String {
    match count {
        1 => "one operand".to_string(),
        2 => "two operands".to_string(),
        3 => "three operands".to_string(),
        n => format!("{n} operands"),
    }
}

/// The names of parameters, or nothing.
fn takes(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_string(),
        names => names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "),
    }
}

/// What tells configurations apart.
pub(super) fn fingerprint(value: &Value) -> String {
    match value {
        Value::Tensor(tensor) => format!("#{}", tensor.id().0),
        Value::Sizes(values) => values.iter().map(fingerprint).collect::<Vec<_>>().join(" "),
        Value::Function(function) => match &*function.0 {
            Callable::Closure(closure) => {
                let stage = match &closure.stage {
                    Stage::Defined { .. } => String::new(),
                    Stage::Configured(names) => configuration_text(names),
                    Stage::Instance(names, owner) => {
                        format!("{}{:p}", configuration_text(names), Rc::as_ptr(owner))
                    }
                };
                format!("{}@{}{stage}", closure.function.name.text, closure.text.id())
            }
            Callable::Lambda(lambda) => {
                format!("|{}|{}@{:p}", lambda.span.start, lambda.text.id(), Rc::as_ptr(&lambda.owner))
            }
            Callable::Repeat(layers) | Callable::Chain(layers) => {
                layers.iter().map(|f| fingerprint(&Value::Function(f.clone()))).collect::<Vec<_>>().join(" ")
            }
            Callable::Operator(_) | Callable::Builtin(_) => function.name().to_string(),
            Callable::Host(..) => format!("{:p}", Rc::as_ptr(&function.0)),
        },
        other => format!("{other:?}"),
    }
}

fn configuration_text(names: &Configuration) -> String {
    let mut parts: Vec<String> =
        names.iter().map(|(key, value)| format!("{key}={}", fingerprint(value))).collect();
    parts.sort();
    format!("({})", parts.join(","))
}
