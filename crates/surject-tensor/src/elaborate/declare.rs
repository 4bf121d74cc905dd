//! Declared sizes and facts about them, which hold for the whole text, wherever they stand in it.

use super::Session;
use crate::error::{TensorError, TensorErrorKind};
use crate::value::{Size, Value};
use surject_index::Fact;
use surject_notation::source::{Item, ItemKind, Name, implied_sizes};
use surject_notation::spec::{Axis, AxisKind, Mode};
use surject_notation::{ShapeSpec, Span};

impl Session {
    /// Takes the declarations of sizes and the facts among items.
    pub(super) fn declarations(&mut self, items: &[Item]) -> Result<(), TensorError> {
        let sizes: Vec<&Name> = items
            .iter()
            .filter_map(|item| match &item.kind {
                ItemKind::Sizes(names) => Some(names),
                _ => None,
            })
            .flatten()
            .collect();
        for name in &sizes {
            let declared = self.graph.declare_size(&name.text, self.place(name.span));
            declared.map_err(|error| self.here(error.spanning(name.span), name.span))?;
        }
        let implied = implied_sizes(items);
        for name in &implied {
            let declared = self.graph.imply_size(&name.text, self.place(name.span));
            declared.map_err(|error| self.here(error.spanning(name.span), name.span))?;
        }
        items.iter().flat_map(Item::facts).try_for_each(|fact| self.fact(fact))?;
        for name in sizes.into_iter().chain(&implied) {
            let site = self.site(name.span, None);
            let size = self.graph.declared_size(&name.text, &site);
            let size = size.map_err(|error| self.placed(error, name.span))?;
            self.define(&name.text, Value::Size(Size { name: name.text.clone(), size }));
        }
        Ok(())
    }

    /// Refuses a shape that reads the name of a declared size as one axis a letter.
    pub(super) fn check_letters(&self, shape: &ShapeSpec) -> Result<(), TensorError> {
        let text = shape.span.of(self.frame().text.text());
        let is_letter = |axis: &Axis| matches!(&axis.kind, AxisKind::Label(l) if l.chars().count() == 1);
        if Mode::of(text) == Mode::MultiChar || !shape.axes().any(is_letter) {
            return Ok(());
        }
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let mut long = words.filter(|word| word.chars().count() > 1);
        let Some(name) = long.find(|word| self.graph.declares(word)) else { return Ok(()) };
        let message =
            format!("without a `,` every letter of a shape is an axis, and `{name}` is a declared size");
        let help = format!("write a `,` after it: `{}`", text.replacen(name, &format!("{name},"), 1));
        Err(self.wrong(TensorErrorKind::Size, shape.span, message).with_help(help))
    }

    fn fact(&mut self, written: &Name) -> Result<(), TensorError> {
        let fact = Fact::parse_prefix(&written.text).map_err(|error| (error.at(), error.expectation()));
        let fact = match fact {
            Ok((fact, rest)) if rest.trim().is_empty() => Ok(fact),
            Ok((_, rest)) => Err((
                Some(written.text.len() - rest.trim_start().len()),
                "expected the end of the fact".to_string(),
            )),
            Err(error) => Err(error),
        };
        let fact = fact.map_err(|(at, message)| {
            let start = written.span.start + at.unwrap_or(0).min(written.text.len());
            let length = written.text[start - written.span.start..].chars().next().map_or(0, char::len_utf8);
            let span = Span::new(start, start + length);
            self.wrong(TensorErrorKind::Size, span, message)
                .with_help("a fact compares two sizes: `n >= 4`, `n % 2 == 0`, `2*n <= m`")
        })?;
        let stated = self.graph.state_fact(fact, self.place(written.span));
        stated.map_err(|error| {
            // The name that is not declared, where that is what is wrong.
            let name = error.message.split('`').nth(1).filter(|_| error.kind == TensorErrorKind::Unknown);
            let at = name.and_then(|name| Some((written.text.find(name)?, name.len())));
            let span = at.map_or(written.span, |(at, length)| {
                Span::new(written.span.start + at, written.span.start + at + length)
            });
            self.here(error.spanning(span), span)
        })
    }
}
