//! Positions in a text.

/// A half-open range of bytes of a text.
///
/// Two spans are always equal: a tree is what it says, wherever it stands in the text, so trees of this crate
/// compare by meaning. Compare `start` and `end` to compare places.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl Span {
    /// The range `start..end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end: end.max(start) }
    }

    /// An empty range at a place.
    pub fn at(place: usize) -> Span {
        Span { start: place, end: place }
    }

    /// The smallest range with both in it.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The same range of a text that stands `by` bytes into another.
    pub fn shifted(self, by: usize) -> Span {
        Span { start: self.start + by, end: self.end + by }
    }

    /// The text in the range; empty where the range is not one of this text.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

impl Eq for Span {}
