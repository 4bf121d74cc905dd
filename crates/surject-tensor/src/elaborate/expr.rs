//! Expressions.

use super::function::{Callable, Lambda};
use super::owner::{Known, Owner};
use super::{MAX_DEPTH, MAX_EVALUATED, MAX_STACK, Session, capture, stack_pointer};
use crate::error::{TensorError, TensorErrorKind};
use crate::graph::{Action, NodeKind, Sizes};
use crate::prelude;
use crate::tensor::Tensor;
use crate::value::{Number, Value};
use std::rc::Rc;
use surject_notation::Span;
use surject_notation::source::{
    self, BinaryOp, Define, Expr, ExprKind, Name, Part, SpecArgument, SpecOp, UnaryOp,
};

impl Session {
    /// The value of an expression. A tensor that it makes gets the label.
    pub(super) fn expr(&mut self, expr: &Expr, label: Option<&str>) -> Result<Value, TensorError> {
        if self.depth >= MAX_DEPTH || self.stack.abs_diff(stack_pointer()) > MAX_STACK {
            return Err(self.too_deep(expr.span));
        }
        if self.evaluated >= MAX_EVALUATED {
            let message = format!("the program is larger than {MAX_EVALUATED} expressions here");
            let error = self.wrong(TensorErrorKind::TooDeep, expr.span, message);
            return Err(error.with_help(
                "functions that apply functions twice multiply: give intermediate results a name",
            ));
        }
        self.evaluated += 1;
        self.depth += 1;
        let result = self.expr_of(expr, label);
        self.depth -= 1;
        result.map_err(|error| self.placed(error, expr.span))
    }

    pub(super) fn too_deep(&self, span: Span) -> TensorError {
        self.wrong(TensorErrorKind::TooDeep, span, "calls and expressions nest too deep here")
            .with_help("a function cannot apply itself: nothing would end it")
    }

    fn expr_of(&mut self, expr: &Expr, label: Option<&str>) -> Result<Value, TensorError> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Number(number, basis) => Ok(Value::Number(self::number(*number, basis.clone()))),
            ExprKind::Text(text) => Ok(Value::from(text.as_str())),
            ExprKind::Spec(spec) => Ok(Value::Spec(self.spec_value(spec)?)),
            ExprKind::Name(name) => self.named(name, span),
            ExprKind::Literal { kind, items, basis } => {
                self.literal(expr, *kind, items, basis.as_deref(), label)
            }
            ExprKind::Define(define) => Ok(self.define_parameter(define, span)?.into()),
            ExprKind::Unary(op, a) => self.unary(*op, a, span, label),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, span, label),
            ExprKind::Einsum(op, operands, spec) => self.einsum(*op, operands, spec, span, label),
            ExprKind::Call(f, arguments) => self.call_expr(f, arguments, span, label),
            ExprKind::Part(of, part) => self.part(of, *part, span),
            ExprKind::Lambda(parameters, body) => self.lambda(parameters, body, span, label),
        }
    }

    /// The tensor of an expression.
    pub(super) fn tensor_expr(&mut self, expr: &Expr) -> Result<Tensor, TensorError> {
        let value = self.expr(expr, None)?;
        self.tensor_of(value, expr.span)
    }

    /// A value as a tensor.
    pub(super) fn tensor_of(&mut self, value: Value, span: Span) -> Result<Tensor, TensorError> {
        match value {
            Value::Tensor(tensor) if tensor.graph().same(&self.graph) => Ok(tensor),
            Value::Tensor(tensor) => {
                let message = format!("`{}` belongs to another graph", tensor.label());
                Err(self.wrong(TensorErrorKind::Sort, span, message))
            }
            Value::Number(number) => {
                let site = self.site(span, None);
                Ok(self.graph.number(number.value, number.basis.as_deref(), site))
            }
            Value::Size(size) => {
                let site = self.site(span, Some(&size.name));
                Ok(self.graph.size(size.size, site))
            }
            Value::Sizes(values) => self.sizes_tensor(&values, span),
            other => {
                let message = format!("a tensor is needed here, and this is {}", other.sort());
                let error = self.wrong(TensorErrorKind::Sort, span, message);
                Err(match &other {
                    Value::Function(f) => error.with_help(format!("apply it: `{}(…)`", f.name())),
                    _ => error,
                })
            }
        }
    }

    #[inline(never)]
    fn unary(
        &mut self,
        op: UnaryOp,
        a: &Expr,
        span: Span,
        label: Option<&str>,
    ) -> Result<Value, TensorError> {
        let value = self.expr(a, None)?;
        match (op, value) {
            (UnaryOp::Neg, Value::Number(n)) => Ok(Value::Number(Number { value: -n.value, ..n })),
            (UnaryOp::Neg, value) => {
                let operand = self.tensor_of(value, a.span)?;
                self.operator("neg", &[&operand], span, label)
            }
            // A tensor for a number: a learning rate that changes, say.
            (UnaryOp::EmbedFloat, value @ (Value::Number(_) | Value::Size(_) | Value::Tensor(_))) => {
                Ok(value)
            }
            (UnaryOp::EmbedInt, Value::Number(n)) if n.whole => Ok(Value::Number(n)),
            (UnaryOp::EmbedInt, value @ Value::Size(_)) => Ok(value),
            (UnaryOp::EmbedIndex, Value::Tensor(tensor)) if self.is_index(&tensor) => Ok(tensor.into()),
            (op, value) => {
                let needed = match op {
                    UnaryOp::EmbedIndex => "a static index",
                    UnaryOp::EmbedInt => "a whole number",
                    _ => "a number",
                };
                let message = format!("{needed} is needed here, and this is {}", value.sort());
                Err(self.wrong(TensorErrorKind::Sort, span, message))
            }
        }
    }

    #[inline(never)]
    fn binary(
        &mut self,
        op: BinaryOp,
        a: &Expr,
        b: &Expr,
        span: Span,
        label: Option<&str>,
    ) -> Result<Value, TensorError> {
        let (x, y) = (self.expr(a, None)?, self.expr(b, None)?);
        self.joined(op, (x, a.span), (y, b.span), span, label)
    }

    /// What a sign between two values gives.
    pub(super) fn joined(
        &mut self,
        op: BinaryOp,
        (x, x_span): (Value, Span),
        (y, y_span): (Value, Span),
        span: Span,
        label: Option<&str>,
    ) -> Result<Value, TensorError> {
        if let Some(value) = self.host_arithmetic(op, &x, &y, span)? {
            return Ok(value);
        }
        let (x, y) = (self.tensor_of(x, x_span)?, self.tensor_of(y, y_span)?);
        let name = match op {
            BinaryOp::Slice => {
                let site = self.site(span, label);
                let sliced = self.graph.slice(&x, &y, site);
                return Ok(sliced.map_err(|error| self.here(error, span))?.into());
            }
            BinaryOp::Compose => "matmul",
            other => other.primitive().unwrap_or("add"),
        };
        self.operator(name, &[&x, &y], span, label)
    }

    fn is_index(&self, tensor: &Tensor) -> bool {
        matches!(self.graph.node(tensor.id()).kind, NodeKind::Index { .. })
    }

    /// An operator of the library with its own logic.
    pub(super) fn operator(
        &mut self,
        name: &str,
        operands: &[&Tensor],
        span: Span,
        label: Option<&str>,
    ) -> Result<Value, TensorError> {
        let operator = prelude::operator(name)?;
        let site = self.site(span, label);
        let applied = self.graph.apply(&operator, None, operands, site);
        Ok(applied.map_err(|error| self.here(error, span))?.0.into())
    }

    /// What goes wrong in the graph goes wrong at the operation that is being added.
    pub(super) fn here(&self, error: TensorError, span: Span) -> TensorError {
        self.placed(TensorError { place: None, span: None, ..error }, span)
    }

    #[inline(never)]
    fn einsum(
        &mut self,
        op: SpecOp,
        operands: &[Expr],
        spec: &SpecArgument,
        span: Span,
        label: Option<&str>,
    ) -> Result<Value, TensorError> {
        let tensors = operands.iter().map(|e| self.tensor_expr(e)).collect::<Result<Vec<_>, _>>()?;
        let tensors: Vec<&Tensor> = tensors.iter().collect();
        let spec = self.spec_value(spec)?;
        let name = match op {
            SpecOp::Einsum => "mul",
            SpecOp::OuterSum => "add",
            SpecOp::Tropical => "tropical",
            SpecOp::Einsum1 => "sum",
            SpecOp::Max => "max_reduce",
            SpecOp::Concat => {
                let prepared = self.prepare(&spec, "block", tensors.len(), span)?;
                let site = crate::graph::Site { spec: Some(spec.text.clone()), ..self.site(span, label) };
                let made = self.graph.concat(&tensors, prepared.template, &prepared.sizes, site);
                let (tensor, instance) = made.map_err(|error| self.here(error, span))?;
                self.bind_captures(&spec, &instance, span)?;
                return Ok(tensor.into());
            }
        };
        let operator = prelude::operator(name)?;
        self.apply_spec(&operator, &spec, &tensors, span, label)
    }

    #[inline(never)]
    fn part(&mut self, of: &Expr, part: Part, span: Span) -> Result<Value, TensorError> {
        let tensor = self.tensor_expr(of)?;
        let action = match part {
            Part::Grad => return Ok(tensor.grad().into()),
            Part::Value => return Ok(tensor.into()),
            Part::Merge => {
                let message = format!("`{}` has no merge buffer: there is one device", tensor.label());
                return Err(self.wrong(TensorErrorKind::Unsupported, span, message));
            }
            Part::Forward => Action::Forward(tensor.id()),
            Part::Backprop => Action::Backprop(tensor.id()),
            Part::ZeroGrads => Action::ZeroGrads(tensor.id()),
        };
        self.graph.act(action);
        Ok(Value::Unit)
    }

    fn lambda(
        &mut self,
        parameters: &[Name],
        body: &Expr,
        span: Span,
        label: Option<&str>,
    ) -> Result<Value, TensorError> {
        let place = self.owned_at(span, String::new());
        let around = self.frame().owner.clone();
        let owner = around.child(place, || match label {
            Some(label) if label != around.path => self.free_path(label),
            _ => around.path.clone(),
        });
        let lambda = Callable::Lambda(Lambda {
            parameters: parameters.to_vec(),
            body: body.clone(),
            span,
            text: self.frame().text.clone(),
            captured: self.capture(capture::of_expr(body)),
            owner,
        });
        Ok(self.function(lambda, span)?.into())
    }

    /// The parameter of an inline definition, made where it is needed first.
    #[inline(never)]
    fn define_parameter(&mut self, define: &Define, span: Span) -> Result<Tensor, TensorError> {
        let name = &define.name;
        let owner: Rc<Owner> = self.frame().owner.clone();
        let tensor = match owner.known(&name.text, name.span.start) {
            Known::Here(tensor) => tensor,
            Known::Elsewhere => return Err(self.defined_twice(name)),
            Known::No => {
                let label = self.free_path(&owner.path_of(&name.text));
                let sizes = self.row_sizes(&define.rows)?;
                let init = match &define.init {
                    Some(init) => {
                        let value = self.expr(init, Some(&format!("{label}.init")))?;
                        self.tensor_of(value, init.span)?
                    }
                    None => self.default_init(&label, span)?,
                };
                let site = self.site(span, None);
                let made = self.graph.parameter(&label, &init, &sizes, site);
                let tensor = made.map_err(|error| self.here(error, span))?;
                self.shaped_by_file(&tensor, &init, &sizes, span)?;
                owner.define(&name.text, name.span.start, &tensor);
                tensor
            }
        };
        self.define(&name.text, tensor.clone().into());
        Ok(tensor)
    }

    pub(super) fn defined_twice(&self, name: &Name) -> TensorError {
        self.wrong(TensorErrorKind::Twice, name.span, format!("`{}` is defined twice", name.text)).with_help(
            format!(
                "`{{ {name} }}` makes a tensor; write `{name}` for the one there is, or take another name",
                name = name.text
            ),
        )
    }

    /// Uniform in `[-0.25, 0.25)`.
    fn default_init(&mut self, label: &str, span: Span) -> Result<Tensor, TensorError> {
        let random =
            self.graph.uniform(&Sizes::default(), None, self.site(span, Some(&format!("{label}.uniform"))));
        let half = self.graph.number(0.5, None, self.site(span, Some("0.5")));
        let site = |what: &str| crate::graph::Site {
            label: Some(format!("{label}.{what}")),
            text: Some(format!("the first value of {label}")),
            ..self.site(span, None)
        };
        let centred =
            self.graph.apply(&prelude::operator("sub")?, None, &[&random, &half], site("centred"))?.0;
        Ok(self.graph.apply(&prelude::operator("mul")?, None, &[&half, &centred], site("init"))?.0)
    }
}

/// A number as it is written.
pub(super) fn number(number: source::Number, basis: Option<String>) -> Number {
    match number {
        source::Number::Int(n) => Number { value: n as f64, whole: true, basis },
        source::Number::Float(value) => Number { value, whole: false, basis },
    }
}
