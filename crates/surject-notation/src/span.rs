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

    /// The line and the column where it begins, both from one, the column in characters.
    pub fn position(self, source: &str) -> (usize, usize) {
        let start = floor(source, self.start);
        let line_start = source[..start].rfind('\n').map_or(0, |p| p + 1);
        (source[..start].matches('\n').count() + 1, source[line_start..start].chars().count() + 1)
    }

    /// A message about the range: file, line and column, the message, the line itself with carets under the range,
    /// and notes. Every error of a text is shown by this.
    pub fn excerpt(self, file: &str, source: &str, message: &str, notes: &[String]) -> String {
        let (number, column) = self.position(source);
        let start = floor(source, self.start);
        let line_start = source[..start].rfind('\n').map_or(0, |p| p + 1);
        let line = source[line_start..].lines().next().unwrap_or("");
        let end = floor(source, self.end).clamp(start, start.max(line_start + line.len()));
        let width = source[start..end].chars().count().max(1);
        let gutter = " ".repeat(number.to_string().len());
        let mut text = format!(
            "{file}:{number}:{column}: {message}\n{gutter} |\n{number} | {line}\n{gutter} | {}{}\n",
            " ".repeat(column - 1),
            "^".repeat(width)
        );
        for note in notes {
            text += &format!("{gutter} = {note}\n");
        }
        text
    }
}

/// The last character boundary at or before a place.
fn floor(source: &str, at: usize) -> usize {
    let mut at = at.min(source.len());
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

impl Eq for Span {}
