//! Where names are looked up, and how places of errors are found.

use super::function::Function;
use super::owner::Owner;
use super::text::Text;
use super::{Session, builtin, library};
use crate::error::{TensorError, TensorErrorKind};
use crate::graph;
use crate::prelude;
use crate::value::Value;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use surject_notation::Span;
use surject_shape::Place;

/// The values of names that a function took along.
pub(super) type Captured = Rc<HashMap<String, Value>>;

/// A function being applied, or the whole text.
pub(super) struct Frame {
    /// The text that is evaluated.
    pub(super) text: Arc<Text>,
    /// The name of the function.
    pub(super) name: Option<String>,
    /// Where it was called, in the text of the frame below.
    pub(super) call: Span,
    /// What was defined here.
    pub(super) names: HashMap<String, Value>,
    /// What the function took along.
    pub(super) captured: Captured,
    /// Who owns the parameters.
    pub(super) owner: Rc<Owner>,
}

impl Frame {
    pub(super) fn of_text(text: Arc<Text>) -> Frame {
        Frame {
            text,
            name: None,
            call: Span::default(),
            names: HashMap::new(),
            captured: Captured::default(),
            owner: Rc::new(Owner::new(String::new())),
        }
    }

    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.names.get(name).or_else(|| self.captured.get(name))
    }
}

impl Session {
    /// The innermost frame. There always is one: the first is never taken away.
    pub(super) fn frame(&self) -> &Frame {
        &self.frames[self.frames.len() - 1]
    }

    /// Gives a name to a value in the innermost frame.
    pub(super) fn define(&mut self, name: &str, value: Value) {
        if let Some(frame) = self.frames.last_mut() {
            frame.names.insert(name.to_string(), value);
        }
    }

    /// The value of a name, if something has it.
    pub(super) fn lookup(&self, name: &str) -> Result<Option<Value>, TensorError> {
        if let Some(value) = self.frame().value(name) {
            return Ok(Some(value.clone()));
        }
        if let Some(function) = library::function(name)? {
            return Ok(Some(Value::Function(Function::of_library(function))));
        }
        if let Some(value) = builtin::value(name) {
            return Ok(Some(value));
        }
        Ok(prelude::operator(name).ok().map(|operator| Value::Function(Function::of_operator(operator))))
    }

    /// The value of a name.
    pub(super) fn named(&self, name: &str, span: Span) -> Result<Value, TensorError> {
        match self.lookup(name)? {
            Some(value) => Ok(value),
            None => Err(self.unknown(name, span)),
        }
    }

    fn unknown(&self, name: &str, span: Span) -> TensorError {
        let error = self.wrong(TensorErrorKind::Unknown, span, format!("nothing has the name `{name}`"));
        let frame = self.frame();
        let own = frame.names.keys().chain(frame.captured.keys()).cloned();
        let known = own.chain(library::names().chain(builtin::names()).map(str::to_string));
        let near = known
            .map(|other| (distance(name, &other), other))
            .filter(|(steps, other)| {
                *steps <= (name.len().max(other.len()) / 3).max(1) && *steps < name.len()
            })
            .min();
        match near {
            Some((_, other)) => error.with_help(format!("did you mean `{other}`?")),
            None => error.with_help(
                "names are `input`s, `let`s and functions above this place, parameters that were defined inline, sizes \
                 that a spec captures, and the library",
            ),
        }
    }

    /// An error at a span of the text that is evaluated.
    pub(super) fn wrong(&self, kind: TensorErrorKind, span: Span, message: impl Into<String>) -> TensorError {
        self.placed(TensorError::new(kind, message).spanning(span), span)
    }

    /// An error with its place, if it has none: that of its own span, or the given one.
    pub(super) fn placed(&self, mut error: TensorError, span: Span) -> TensorError {
        if error.calls().is_empty() && self.frames.len() > 1 {
            error.context_mut().calls = self.calls();
        }
        if error.place.is_some() {
            return error;
        }
        let (frame, visible) = self.visible(error.span.unwrap_or(span));
        error.place = frame.text.place(visible);
        error.span = Some(visible);
        error
    }

    /// An error whose span is all there is.
    pub(super) fn located(&self, error: TensorError) -> TensorError {
        let span = error.span.unwrap_or_default();
        self.placed(error, span)
    }

    /// The place of a span as the user sees it: in the library that is where the library was called.
    pub(super) fn place(&self, span: Span) -> Option<Place> {
        let (frame, span) = self.visible(span);
        frame.text.place(span)
    }

    fn visible(&self, mut span: Span) -> (&Frame, Span) {
        for frame in self.frames.iter().rev() {
            if !frame.text.library {
                return (frame, span);
            }
            span = frame.call;
        }
        (&self.frames[0], span)
    }

    /// The functions being applied, innermost first, with the places of their calls in the user's texts.
    fn calls(&self) -> Vec<(String, Option<Place>)> {
        let pairs = self.frames.iter().zip(self.frames.iter().skip(1));
        let calls = pairs
            .filter(|(below, _)| !below.text.library)
            .map(|(below, frame)| (frame.name.clone().unwrap_or_default(), below.text.place(frame.call)));
        let mut calls: Vec<_> = calls.collect();
        calls.reverse();
        calls
    }

    /// Where an operation is written, and what it is called.
    pub(super) fn site(&self, span: Span, label: Option<&str>) -> graph::Site {
        let frame = self.frame();
        let slice = frame.text.slice(span);
        let text = match (&frame.name, frame.text.library) {
            (Some(name), true) if !name.starts_with('|') => format!("{name}: {slice}"),
            _ => slice,
        };
        graph::Site {
            label: label.map(str::to_string),
            text: Some(text),
            spec: None,
            place: self.place(span),
        }
    }
}

/// How many letters are to be changed, added or taken away.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let next = (diagonal + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], next);
        }
    }
    row[b.len()]
}
