//! A text with its lines.

use std::sync::Arc;
use surject_notation::Span;
use surject_shape::Place;

/// A text that is evaluated.
pub(crate) struct Text {
    file: Arc<str>,
    text: Arc<str>,
    /// Where the lines begin.
    lines: Vec<usize>,
    /// Whether it belongs to the library, which errors do not show.
    pub(super) library: bool,
}

/// How much of an expression an error shows.
const SHOWN: usize = 60;

impl Text {
    pub(super) fn new(file: &str, text: &str, library: bool) -> Text {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Text { file: file.into(), text: text.into(), lines: [0].into_iter().chain(breaks).collect(), library }
    }

    /// A number that no other text has that lives at the same time.
    pub(super) fn id(&self) -> usize {
        self.lines.as_ptr() as usize
    }

    pub(super) fn file(&self) -> &str {
        &self.file
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The place of a span; none where the span is not of this text.
    pub(super) fn place(&self, span: Span) -> Option<Place> {
        let line = self.lines.partition_point(|start| *start <= span.start);
        let start = *self.lines.get(line.checked_sub(1)?)?;
        let column = self.text.get(start..span.start)?.chars().count() + 1;
        Some(Place { file: self.file.clone(), line: line as u32, column: column as u32 })
    }

    /// What stands at a span, in one line and not too long.
    pub(super) fn slice(&self, span: Span) -> String {
        let words: Vec<&str> = span.of(&self.text).split_whitespace().collect();
        let text = words.join(" ");
        match text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }
}
