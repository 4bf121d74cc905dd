//! Locations of operations, from their text to their encoding.

use std::sync::Arc;

use super::pool::{Piece, Pieces, Pool};
use crate::attr::Attribute;

/// How deep names nest around a place in a file; deeper, nothing is said.
const DEPTH: usize = 32;

impl Pool {
    /// The number of a location: a name with what it stands for (`"jit(f)/add"("f.py":3:4)`), a place in a file
    /// (`"f.py":3:4`), or, for all else, one that says nothing.
    pub fn location(&mut self, text: Option<&Arc<str>>) -> Piece {
        let Some(text) = text else { return Piece::Attribute(self.unknown_location()) };
        if let Some(known) = self.known.locations.get(text) {
            let known = *known;
            return Piece::Attribute(self.again(known));
        }
        let found = self.place(text.trim(), DEPTH);
        let id = found.unwrap_or_else(|| self.unknown_location());
        self.known.locations.insert(text.clone(), id);
        Piece::Attribute(id)
    }

    fn unknown_location(&mut self) -> usize {
        let mut pieces = Pieces::default();
        pieces.varint(15);
        self.attribute("builtin", pieces)
    }

    fn place(&mut self, text: &str, depth: usize) -> Option<usize> {
        let (quoted, rest) = text.split_at(end_of_string(text)?);
        let Ok(name @ Attribute::String(_)) = crate::parse::parse_attribute(quoted) else { return None };
        let mut pieces = Pieces::default();
        let numbers = rest.strip_prefix(':').and_then(|rest| rest.split_once(':'));
        if let Some((line, column)) = numbers {
            // Of a range the start is kept.
            let column = column.split_once(' ').map_or(column, |(first, _)| first);
            let (line, column) = (line.parse::<u32>().ok()?, column.parse::<u32>().ok()?);
            pieces.varint(11);
            pieces.push(Piece::Attribute(self.builtin(&name).ok()?));
            pieces.varint(u64::from(line));
            pieces.varint(u64::from(column));
            return Some(self.attribute("builtin", pieces));
        }
        let inner = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        if inner.is_none() && !rest.is_empty() {
            return None;
        }
        let known = match depth {
            0 => None,
            _ => inner.and_then(|inner| self.place(inner.trim(), depth - 1)),
        };
        let child = known.unwrap_or_else(|| self.unknown_location());
        pieces.varint(14);
        pieces.push(Piece::Attribute(self.builtin(&name).ok()?));
        pieces.push(Piece::Attribute(child));
        Some(self.attribute("builtin", pieces))
    }
}

/// Where the string at the start of a text ends.
fn end_of_string(text: &str) -> Option<usize> {
    let body = text.strip_prefix('"')?;
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(at + 2),
            _ => {}
        }
    }
    None
}
