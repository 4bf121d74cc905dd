//! Declarations and statements.

use super::function::{Callable, Closure, Function, Stage};
use super::{MAX_NESTING, Session, capture};
use crate::error::{TensorError, TensorErrorKind};
use crate::operator::Operator;
use crate::value::Value;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use surject_notation::Span;
use surject_notation::source::{self, Item, ItemKind};

impl Session {
    /// Evaluates an item; `all` are the items it stands among.
    pub(super) fn item(&mut self, item: &Item, all: &[Item]) -> Result<(), TensorError> {
        let result = self.item_of(item);
        result.map_err(|error| match error.kind {
            TensorErrorKind::Unknown => self.later(error, all),
            _ => self.placed(error, item.span),
        })
    }

    fn item_of(&mut self, item: &Item) -> Result<(), TensorError> {
        match &item.kind {
            ItemKind::Input { name, shape, .. } => {
                shape.iter().try_for_each(|shape| self.check_letters(shape))?;
                let site = self.site(name.span, None);
                let tensor = self
                    .graph
                    .input(&name.text, shape.as_ref(), site)
                    .map_err(|error| self.placed(error, item.span))?;
                self.define(&name.text, tensor.into());
            }
            ItemKind::Index { name, range } => {
                let site = self.site(name.span, None);
                let tensor = self.graph.index(&name.text, *range, site);
                self.define(&name.text, tensor.into());
            }
            // Taken before anything else.
            ItemKind::Sizes(_) | ItemKind::Where(_) => {}
            ItemKind::Let { name, value } if name.text == "_" => {
                self.expr(value, None)?;
            }
            ItemKind::Let { name, value } => {
                let path = self.frame().owner.path_of(&name.text);
                let value = self.expr(value, Some(&path))?;
                self.define(&name.text, value);
            }
            ItemKind::Cut { names, value } => self.cut(names, value)?,
            ItemKind::Function(function) => {
                let value = self.closure(function)?;
                self.define(&function.name.text, Value::Function(value));
            }
            ItemKind::Operation(operation) => {
                let operator = Operator::of_item(operation)?.shared();
                self.define(&operation.name.text, Value::Function(Function::of_operator(operator)));
            }
            ItemKind::Output(names) => {
                for name in names {
                    let value = self.named(&name.text, name.span)?;
                    let tensor = self.tensor_of(value, name.span)?;
                    self.graph.output(&tensor);
                }
            }
            ItemKind::Assign(assignment) => self.assign(assignment)?,
            ItemKind::Expr(expr) => {
                self.expr(expr, None)?;
            }
        }
        Ok(())
    }

    /// A function with what it names.
    fn closure(&mut self, function: &source::Function) -> Result<Function, TensorError> {
        let place = self.owned_at(function.name.span, String::new());
        let owner = self.frame().owner.clone();
        let owner = owner.child(place, || self.free_path(&owner.path_of(&function.name.text)));
        let closure = Callable::Closure(Closure {
            captured: self.capture(capture::of_function(function)),
            function: Arc::new(function.clone()),
            text: self.frame().text.clone(),
            stage: Stage::Defined { owner: Some(owner) },
        });
        self.function(closure, function.name.span)
    }

    /// A function, if it is not made of too many within each other.
    pub(super) fn function(&self, callable: Callable, span: Span) -> Result<Function, TensorError> {
        let function = Function::of(callable);
        match function.nesting() > MAX_NESTING {
            true => Err(self.too_deep(span)),
            false => Ok(function),
        }
    }

    /// The values of names that are mentioned, as far as something has them here.
    pub(super) fn capture(&self, names: BTreeSet<String>) -> super::frame::Captured {
        let frame = self.frame();
        let known = names.into_iter().filter_map(|name| {
            let value = frame.value(&name)?.clone();
            Some((name, value))
        });
        Rc::new(known.collect())
    }

    /// The path, or with a number where it is taken.
    pub(super) fn free_path(&mut self, path: &str) -> String {
        let mut free = path.to_string();
        let mut number = 2;
        while !self.taken.insert(free.clone()) {
            free = format!("{path}{number}");
            number += 1;
        }
        free
    }

    /// A name that nothing has, where an item further down defines it.
    fn later(&self, error: TensorError, all: &[Item]) -> TensorError {
        let named = |item: &Item| match &item.kind {
            ItemKind::Input { name, .. } | ItemKind::Index { name, .. } | ItemKind::Let { name, .. } => {
                vec![name.clone()]
            }
            ItemKind::Cut { names, .. } => names.clone(),
            ItemKind::Function(function) => vec![function.name.clone()],
            ItemKind::Operation(operation) => vec![operation.name.clone()],
            _ => Vec::new(),
        };
        let defined = all.iter().flat_map(named).find(|n| error.message.contains(&format!("`{}`", n.text)));
        match defined.and_then(|name| self.frame().text.place(name.span)) {
            Some(place) => TensorError {
                help: Some(format!("it is defined further down, at line {}", place.line)),
                ..error
            },
            None => error,
        }
    }
}
