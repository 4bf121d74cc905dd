//! The tables of attributes and types of an artifact, read when they are asked for.
//!
//! Entries refer to each other by number. They may not go round in circles, nest deeper than text may, or unfold to
//! much more than the file holds: an entry is one object here however often it is referred to, and each use is a copy,
//! so copies are counted against a budget that grows with the file.

use std::sync::Arc;

use super::bytes::{Bytes, Result, malformed};
use super::container::{Container, Entry, string};
use crate::attr::Attribute;
use crate::diagnostic::{Diagnostic, Span, codes};
use crate::parse::MAX_NESTING;
use crate::types::Type;

/// Attributes, list entries and extents that any file may hold once unfolded, and how many more for each of its bytes.
const BUDGET: u64 = 1 << 18;
const BUDGET_PER_BYTE: u64 = 64;

/// An entry that has been read, is being read, or neither.
#[derive(Clone, Debug)]
enum Slot<T> {
    Unread,
    Reading,
    /// The value, and what a copy of it costs.
    Read(T, u64),
}

/// A number of an attribute or type, and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Reference {
    pub index: u64,
    pub at: usize,
}

impl Reference {
    pub fn read(bytes: &mut Bytes<'_>, what: &str) -> Result<Reference> {
        let at = bytes.offset();
        Ok(Reference { index: bytes.varint(what)?, at })
    }

    /// A reference that may be missing.
    pub fn optional(bytes: &mut Bytes<'_>, what: &str) -> Result<Option<Reference>> {
        let at = bytes.offset();
        let (index, present) = bytes.flagged(what)?;
        Ok(present.then_some(Reference { index, at }))
    }
}

/// Reads attributes and types.
pub(super) struct Decoder<'b> {
    pub container: &'b Container<'b>,
    attributes: Vec<Slot<Attribute>>,
    types: Vec<Slot<Type>>,
    locations: Vec<Option<Option<Arc<str>>>>,
    budget: u64,
    /// What the entry that is being read has cost so far.
    cost: u64,
    depth: usize,
}

impl<'b> Decoder<'b> {
    pub fn new(container: &'b Container<'b>, bytes: usize) -> Decoder<'b> {
        Decoder {
            container,
            attributes: vec![Slot::Unread; container.attributes.len()],
            types: vec![Slot::Unread; container.types.len()],
            locations: vec![None; container.attributes.len()],
            budget: BUDGET + BUDGET_PER_BYTE * bytes as u64,
            cost: 0,
            depth: 0,
        }
    }

    /// Counts copies of `cost` parts.
    pub fn spend(&mut self, cost: u64, at: usize) -> Result<()> {
        self.cost = self.cost.saturating_add(cost);
        match self.budget.checked_sub(cost) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => Err(Diagnostic::new(
                codes::HUGE,
                Span::new(at, at + 1),
                "attributes and types that refer to each other unfold to far more than the file holds",
            )
            .help("is this file what it should be?")),
        }
    }

    /// The attribute that a reference names.
    pub fn attribute(&mut self, reference: Reference) -> Result<Attribute> {
        let count = self.attributes.len();
        let index = place(reference, count, "attribute")?;
        if let Slot::Unread = self.attributes[index] {
            self.attributes[index] = Slot::Reading;
            let entry = self.container.attributes[index];
            let (value, cost) = self.nested(reference, |d| d.read_attribute(entry))?;
            self.attributes[index] = Slot::Read(value, cost);
        }
        let Slot::Read(value, cost) = &self.attributes[index] else { return Err(circle(reference)) };
        let (value, cost) = (value.clone(), *cost);
        self.spend(cost, reference.at)?;
        Ok(value)
    }

    /// The type that a reference names.
    pub fn ty(&mut self, reference: Reference) -> Result<Type> {
        let count = self.types.len();
        let index = place(reference, count, "type")?;
        if let Slot::Unread = self.types[index] {
            self.types[index] = Slot::Reading;
            let entry = self.container.types[index];
            let (value, cost) = self.nested(reference, |d| d.read_type(entry))?;
            self.types[index] = Slot::Read(value, cost);
        }
        let Slot::Read(value, cost) = &self.types[index] else { return Err(circle(reference)) };
        let (value, cost) = (value.clone(), *cost);
        self.spend(cost, reference.at)?;
        Ok(value)
    }

    /// What a reading gives, one level deeper, and what it cost.
    fn nested<T>(
        &mut self,
        reference: Reference,
        read: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(T, u64)> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            let span = Span::new(reference.at, reference.at + 1);
            return Err(Diagnostic::new(
                codes::NESTING,
                span,
                format!("nested more than {MAX_NESTING} levels deep"),
            )
            .help("programs nest a few levels; is this file what it should be?"));
        }
        let outer = std::mem::replace(&mut self.cost, 1);
        let value = read(self)?;
        let cost = std::mem::replace(&mut self.cost, outer);
        self.depth -= 1;
        Ok((value, cost))
    }

    /// The text of the location that a reference names; none where it says nothing. Of a location within a call that
    /// was inlined, and of one that is several, the innermost and the first.
    pub fn location(&mut self, reference: Reference) -> Result<Option<Arc<str>>> {
        let index = place(reference, self.locations.len(), "attribute")?;
        if self.locations[index].is_none() {
            let text = match self.attribute(reference)? {
                Attribute::Opaque(text) if !text.is_empty() => Some(Arc::from(text)),
                _ => None,
            };
            self.locations[index] = Some(text);
        }
        Ok(self.locations[index].clone().flatten())
    }

    /// A string by its number in the table.
    pub fn string(&mut self, bytes: &mut Bytes<'b>) -> Result<&'b [u8]> {
        let at = *bytes;
        let index = bytes.varint("a string")?;
        let found = string(&self.container.strings, &at, index)?;
        // A copy takes up as much as a few attributes do for each of these bytes.
        self.spend(found.len() as u64 / 32, at.offset())?;
        Ok(found)
    }

    /// A list of attributes.
    pub fn attributes(&mut self, bytes: &mut Bytes<'b>) -> Result<Vec<Attribute>> {
        let count = bytes.count(1, "attributes")?;
        (0..count).map(|_| self.attribute(Reference::read(bytes, "an attribute")?)).collect()
    }

    /// A list of types.
    pub fn types(&mut self, bytes: &mut Bytes<'b>) -> Result<Vec<Type>> {
        let count = bytes.count(1, "types")?;
        (0..count).map(|_| self.ty(Reference::read(bytes, "a type")?)).collect()
    }

    fn read_attribute(&mut self, entry: Entry<'b>) -> Result<Attribute> {
        let mut bytes = entry.bytes;
        let at = bytes.offset();
        if !entry.custom {
            return self.text(entry, |text| crate::parse::parse_attribute(text));
        }
        let attribute = match entry.dialect {
            "builtin" => self.builtin_attribute(&mut bytes),
            "vhlo" => self.vhlo_attribute(&mut bytes),
            "chlo" => self.chlo_attribute(&mut bytes),
            "sdy" => self.sdy_attribute(&mut bytes).map(Attribute::Opaque),
            other => Err(unknown(at, &format!("attributes of the dialect '{other}'"))),
        }?;
        finished(&bytes)?;
        Ok(attribute)
    }

    fn read_type(&mut self, entry: Entry<'b>) -> Result<Type> {
        let mut bytes = entry.bytes;
        let at = bytes.offset();
        if !entry.custom {
            return self.text(entry, |text| crate::parse::parse_type(text));
        }
        let ty = match entry.dialect {
            "builtin" => self.builtin_type(&mut bytes),
            "vhlo" => self.vhlo_type(&mut bytes),
            "stablehlo" => self.stablehlo_type(&mut bytes),
            other => Err(unknown(at, &format!("types of the dialect '{other}'"))),
        }?;
        finished(&bytes)?;
        Ok(ty)
    }

    /// An entry that is text, up to a zero byte.
    fn text<T>(&mut self, entry: Entry<'b>, parse: impl FnOnce(&str) -> Result<T>) -> Result<T> {
        let mut bytes = entry.bytes;
        let at = bytes.offset();
        let text = bytes.take(bytes.left(), "an attribute or type")?;
        let text = text.strip_suffix(&[0]).unwrap_or(text);
        self.spend(text.len() as u64, at)?;
        let text = std::str::from_utf8(text).map_err(|_| malformed(at, "text that is not UTF-8"))?;
        parse(text).map_err(|mut error| {
            error.span = Span::new(at + error.span.start, at + error.span.end);
            error
        })
    }
}

/// Where in a table a reference points.
fn place(reference: Reference, count: usize, what: &str) -> Result<usize> {
    match usize::try_from(reference.index) {
        Ok(index) if index < count => Ok(index),
        _ => Err(malformed(reference.at, format!("{what} {} of {count}", reference.index))),
    }
}

fn circle(reference: Reference) -> Diagnostic {
    malformed(reference.at, format!("entry {} refers to itself", reference.index))
}

/// An error about something that this reader does not know.
pub(super) fn unknown(at: usize, what: &str) -> Diagnostic {
    Diagnostic::new(codes::UNSUPPORTED, Span::new(at, at + 1), format!("{what} are not known here"))
        .help("write the artifact for an older version of StableHLO, or send the text of the program")
}

/// An error unless every byte of an entry was read.
fn finished(bytes: &Bytes<'_>) -> Result<()> {
    match bytes.left() {
        0 => Ok(()),
        left => Err(bytes.error(format!("{left} bytes behind an attribute or type"))),
    }
}
