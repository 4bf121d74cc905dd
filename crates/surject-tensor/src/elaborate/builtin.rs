//! What no operator says: sizes, leaves, and what is put together from pieces.

use super::Session;
use super::call::{Given, Site};
use super::function::{Callable, Function};
use super::sizes::row_of;
use crate::error::{TensorError, TensorErrorKind};
use crate::graph::{NodeKind, RowSizes, SizeRef, Sizes};
use crate::tensor::Tensor;
use crate::value::{Number, Value};
use surject_notation::Span;
use surject_notation::source::{Argument, ExprKind};
use surject_notation::spec::Kind;
use surject_shape::{Constraint, Elems};

/// The functions with how they are called.
const FUNCTIONS: [(&str, &str); 15] = [
    ("dim", "dim(size)"),
    ("file", "file(\"values.npy\")"),
    ("fill", "fill(number, i: …, o: …, b: …)"),
    ("range", "range(n, …)"),
    ("rebatch", "rebatch(values, i: …, o: …)"),
    ("repeat", "repeat(layer, n)` or `repeat(layer, [a, b])"),
    ("reshape", "reshape(values, i: …, o: …, b: …)"),
    ("set_dim", "set_dim(size, n)"),
    ("set_equal", "set_equal(a, b)"),
    ("set_scale", "set_scale(a, b, factor)"),
    ("slice", "slice(x, index)"),
    ("uniform", "uniform(i: …, o: …, b: …)"),
    ("uniform_at", "uniform_at(number, i: …, o: …, b: …)"),
    ("update", "update(loss, optimiser)"),
    ("wrap", "wrap(values, i: …, o: …, b: …)"),
];

/// Numbers with names.
const NUMBERS: [(&str, f64, bool); 4] = [
    ("true", 1.0, true),
    ("false", 0.0, true),
    ("pi", std::f64::consts::PI, false),
    ("infinity", f64::INFINITY, false),
];

/// What a name stands for without being defined.
pub(super) fn value(name: &str) -> Option<Value> {
    if let Some((name, _)) = FUNCTIONS.iter().find(|(n, _)| *n == name) {
        return Some(Value::Function(Function::of(Callable::Builtin(name))));
    }
    let (_, value, whole) = *NUMBERS.iter().find(|(n, ..)| *n == name)?;
    Some(Value::Number(Number { value, whole, basis: None }))
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(name, _)| *name).chain(NUMBERS.iter().map(|(name, ..)| *name))
}

/// The row of a key.
fn kind_of(key: &str) -> Option<Kind> {
    match key {
        "i" | "input" => Some(Kind::Input),
        "o" | "output" => Some(Kind::Output),
        "b" | "batch" => Some(Kind::Batch),
        _ => None,
    }
}

impl Session {
    /// A call of a function of this file as it is written.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        arguments: &[Argument],
        site: Site<'_>,
    ) -> Result<Value, TensorError> {
        if matches!(name, "set_equal" | "set_scale") {
            self.check_bound(name, arguments, site.span)?;
        }
        let mut given = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let key = argument.key.as_ref().map(|key| key.text.clone());
            let host = key.is_some()
                || matches!(name, "range" | "set_dim" | "set_equal" | "set_scale" | "dim" | "repeat");
            let value = match host {
                true => self.host(&argument.value, None)?,
                false => self.expr(&argument.value, None)?,
            };
            given.push(Given { key, value, span: argument.value.span });
        }
        self.apply_builtin(name, given, site)
    }

    #[inline(never)]
    pub(super) fn apply_builtin(
        &mut self,
        name: &str,
        given: Vec<Given>,
        site: Site<'_>,
    ) -> Result<Value, TensorError> {
        let (sizes, mut plain) = self.split_sizes(name, given)?;
        let span = site.span;
        let spans: Vec<Span> = plain.iter().map(|g| g.span).collect();
        let given = plain.len();
        let mut values: Vec<Value> = plain.drain(..).map(|g| g.value).collect();
        let at = |k: usize| spans.get(k).copied().unwrap_or(span);
        let graph_site = self.site(span, site.label);
        match (name, values.as_mut_slice()) {
            ("dim", [value @ (Value::Number(_) | Value::Size(_))]) => {
                let value = value.clone();
                Ok(match value {
                    Value::Number(number) => Value::Number(number),
                    size => self.tensor_of(size, span)?.into(),
                })
            }
            ("set_dim", [Value::Size(size), Value::Number(number)]) => {
                let Some(n) = number.size() else {
                    let message = format!("a size is a whole number, and this is {}", number.value);
                    return Err(self.wrong(TensorErrorKind::Size, at(1), message));
                };
                let n = self.positive(n, at(1))?;
                if let (SizeRef::Dim(_), true) = (size.size, self.graph.is_product(size.size)) {
                    let (size, number) = (Value::Size(size.clone()), Value::Number(number.clone()));
                    self.set_equal(&size, &number, [at(0), at(1)], span)?;
                    return Ok(Value::Unit);
                }
                let set = self.graph.set_size(size.size, n, &graph_site);
                set.map_err(|error| self.here(error, span))?;
                Ok(Value::Unit)
            }
            ("set_equal", [a, b]) => {
                let (a, b) = (a.clone(), b.clone());
                self.set_equal(&a, &b, [at(0), at(1)], span)?;
                Ok(Value::Unit)
            }
            ("set_scale", [a, b, Value::Number(factor)]) => {
                let (a, b, factor) = (a.clone(), b.clone(), factor.clone());
                self.set_scale(&a, &b, &factor, span)?;
                Ok(Value::Unit)
            }
            ("range", _) => {
                let mut sizes = sizes;
                if !values.is_empty() {
                    let mut dims = Vec::new();
                    for (k, value) in values.iter().enumerate() {
                        self.dims_of(value, at(k), &mut dims)?;
                    }
                    sizes.output = RowSizes::Sizes(dims);
                }
                if let RowSizes::Free = sizes.output {
                    sizes.output = RowSizes::Sizes(vec![self.graph.fresh_dim().into()]);
                }
                for row in [&mut sizes.batch, &mut sizes.input] {
                    if let RowSizes::Free = row {
                        *row = RowSizes::Sizes(Vec::new());
                    }
                }
                Ok(self.graph.range(&sizes, graph_site).into())
            }
            ("file", [Value::Text(path)]) => {
                let path = path.clone();
                Ok(self.file(&path, at(0), site)?.into())
            }
            ("fill", [Value::Number(number)]) => {
                let kind = NodeKind::Number(number.value);
                Ok(self.graph.terminal(kind, &sizes, graph_site).into())
            }
            ("uniform", []) => Ok(self.graph.uniform(&sizes, None, graph_site).into()),
            ("uniform_at", [value]) => {
                let at = self.tensor_of(value.clone(), at(0))?;
                Ok(self.graph.uniform(&sizes, Some(&at), graph_site).into())
            }
            ("reshape" | "rebatch" | "wrap", [values]) => {
                let values = self.tensor_of(values.clone(), at(0))?;
                Ok(self.reshaped(name, &values, sizes, at(0), site)?.into())
            }
            ("slice", [operand, index]) => {
                let (operand, index) = (operand.clone(), index.clone());
                let (operand, index) = (self.tensor_of(operand, at(0))?, self.tensor_of(index, at(1))?);
                let sliced = self.graph.slice(&operand, &index, graph_site);
                Ok(sliced.map_err(|error| self.here(error, span))?.into())
            }
            ("repeat", [Value::Function(layer), count]) => {
                let (layer, count) = (layer.clone(), count.clone());
                Ok(self.repeat(&layer, &count, at(1), site)?.into())
            }
            ("update", [loss, Value::Function(optimiser)]) => {
                let (loss, optimiser) = (loss.clone(), optimiser.clone());
                let loss = self.tensor_of(loss, at(0))?;
                self.update(&loss, &optimiser, site)?;
                Ok(Value::Unit)
            }
            _ => {
                let form = FUNCTIONS.iter().find(|(n, _)| *n == name).map_or(name, |(_, form)| form);
                let sorts: Vec<&str> = values.iter().map(Value::sort).collect();
                let message = match given {
                    0 => format!("`{name}` is not applied to nothing"),
                    _ => format!("`{name}` does not take {}", sorts.join(", ")),
                };
                Err(self
                    .wrong(TensorErrorKind::Arguments, span, message)
                    .with_help(format!("write `{form}`")))
            }
        }
    }

    /// Takes the sizes of rows out of arguments.
    fn split_sizes(&mut self, name: &str, given: Vec<Given>) -> Result<(Sizes, Vec<Given>), TensorError> {
        let takes =
            matches!(name, "range" | "fill" | "uniform" | "uniform_at" | "reshape" | "rebatch" | "wrap");
        let mut sizes = Sizes::default();
        let mut plain = Vec::new();
        for g in given {
            let Some(key) = &g.key else {
                plain.push(g);
                continue;
            };
            match kind_of(key).filter(|_| takes) {
                Some(kind) => {
                    let mut dims = Vec::new();
                    self.dims_of(&g.value, g.span, &mut dims)?;
                    *row_of(&mut sizes, kind) = RowSizes::Sizes(dims);
                }
                None => {
                    let message = format!("`{name}` has no argument `{key}`");
                    let form = FUNCTIONS.iter().find(|(n, _)| *n == name).map_or(name, |(_, form)| form);
                    return Err(self
                        .wrong(TensorErrorKind::Arguments, g.span, message)
                        .with_help(format!("write `{form}`")));
                }
            }
        }
        Ok((sizes, plain))
    }

    /// The same values in another shape: `wrap` keeps the axes and deals them to the rows, the others keep the number
    /// of values.
    fn reshaped(
        &mut self,
        name: &str,
        values: &Tensor,
        mut sizes: Sizes,
        at: Span,
        site: Site<'_>,
    ) -> Result<Tensor, TensorError> {
        let kind = self.graph.node(values.id()).kind;
        let shape = self.graph.shape(values);
        let (NodeKind::Data(_) | NodeKind::Range, Some(shape)) = (&kind, shape) else {
            let message = format!("`{}` is no constant, and only constants are reshaped", values.label());
            return Err(self
                .wrong(TensorErrorKind::Sort, at, message)
                .with_help("a tensor gets another shape by a spec: `x ++ \"a,b => b,a\"`"));
        };
        if let (RowSizes::Free, true) = (&sizes.input, name == "rebatch") {
            sizes.input = RowSizes::Sizes(Vec::new());
        }
        let graph_site = self.site(site.span, site.label);
        let tensor = self.graph.terminal(kind, &sizes, graph_site.clone());
        let new = self.graph.node(tensor.id()).shape;
        let axes = shape.in_memory_order();
        let Some(count) = axes.iter().map(|d| d.size()).product::<Option<u64>>() else {
            return Err(self.wrong(TensorErrorKind::Size, at, "the number of values is symbolic"));
        };
        let constraint = match name {
            "wrap" => Constraint::Exact {
                dims: axes.into_iter().map(Into::into).collect(),
                rows: vec![new.batch, new.output, new.input],
            },
            _ => Constraint::Total {
                elems: Elems::Number(count),
                // The row that takes what is left stands last: the output axes, for more of the same the batch axes.
                rows: match name {
                    "rebatch" => vec![new.input, new.output, new.batch],
                    _ => vec![new.input, new.batch, new.output],
                },
                divided_by: Vec::new(),
            },
        };
        let constrained = self.graph.constrain(constraint, &graph_site);
        constrained.map_err(|error| self.here(error, site.span))?;
        if name == "wrap" && self.files.contains(&values.id()) {
            self.files.insert(tensor.id());
        }
        Ok(tensor)
    }

    /// Refuses names of which no spec has captured any.
    fn check_bound(&self, name: &str, arguments: &[Argument], span: Span) -> Result<(), TensorError> {
        let names: Vec<&str> = arguments
            .iter()
            .take(2)
            .filter_map(|argument| match &argument.value.kind {
                ExprKind::Name(name) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        if let [a, b] = names[..]
            && self.lookup(a)?.is_none()
            && self.lookup(b)?.is_none()
        {
            let message =
                format!("insufficient information: no spec has captured `{a}` or `{b}` before `{name}`");
            let error = self.wrong(TensorErrorKind::Size, span, message);
            return Err(error.with_help(format!("capture them: `x ++ \"… => …\" [\"{a}\", \"{b}\"]`")));
        }
        Ok(())
    }
}
