//! Errors with the line they are about.

use crate::error::{TensorError, TensorErrorKind};
use surject_notation::Span;

/// How many calls an error shows.
const CALLS: usize = 6;

impl TensorError {
    /// The message with file, line, column, the line itself, carets, where it comes from, and advice. `source` is the text
    /// of the file that the place names.
    pub fn render(&self, file: &str, source: &str) -> String {
        let mut notes: Vec<String> = Vec::new();
        let mut shape_help = None;
        let message = match &self.kind {
            TensorErrorKind::Notation(e) => {
                if !e.expected.is_empty() {
                    notes.push(format!("expected: {}", e.expected.join(", ")));
                }
                notes.extend(e.help.iter().map(|help| format!("help: {help}")));
                e.to_string()
            }
            TensorErrorKind::Shape(e) => {
                for (k, origin) in e.labels.iter().enumerate() {
                    notes.push(format!("{} {origin}", if k == 0 { "from" } else { " and" }));
                }
                notes.extend(e.choice.iter().map(|choice| format!("note: {choice}")));
                shape_help = Some(format!("help: {}", e.help()));
                format!("error[{}]: {}", e.code(), e.message)
            }
            TensorErrorKind::Projection(e) => {
                let text = e.to_string();
                let mut lines = text.lines().map(str::trim);
                let message = lines.next().unwrap_or_default().to_string();
                shape_help = lines.next().map(str::to_string);
                message
            }
            kind => format!("error[{}]: {}", kind.code(), self.message),
        };
        notes.extend(self.notes().iter().cloned());
        for (function, place) in self.calls().iter().take(CALLS) {
            notes.push(match place {
                Some(place) => format!("in `{function}`, called at {place}"),
                None => format!("in `{function}`"),
            });
        }
        if self.calls().len() > CALLS {
            notes.push(format!("in {} more calls", self.calls().len() - CALLS));
        }
        let help = self.help.as_ref().map(|help| format!("help: {help}"));
        notes.extend(help.or(shape_help));
        match self.span_in(source) {
            Some(span) => span.excerpt(file, source, &message, &notes),
            None => {
                notes.iter().fold(format!("{file}: {message}\n"), |text, note| text + "  = " + note + "\n")
            }
        }
    }

    /// The range of the text: the span, or where the place is.
    fn span_in(&self, source: &str) -> Option<Span> {
        let Some(place) = &self.place else { return self.span };
        if let Some(span) = self.span
            && span.position(source) == (place.line as usize, place.column as usize)
        {
            return Some(span);
        }
        let mut start = 0;
        for _ in 1..place.line {
            start += source[start..].find('\n')? + 1;
        }
        let line = source[start..].lines().next().unwrap_or_default();
        let column =
            line.char_indices().nth(place.column.checked_sub(1)? as usize).map_or(line.len(), |(at, _)| at);
        let at = start + column;
        // An error that is found when shapes are closed knows the operations it comes from.
        let operations: Vec<&str> = match &self.kind {
            TensorErrorKind::Shape(e) => {
                let here = e.labels.iter().filter(|origin| origin.place.as_ref() == Some(place));
                here.map(|origin| origin.operation.as_str()).collect()
            }
            _ => {
                let from = format!("from {place}: `");
                let here = self.notes().iter().filter_map(|note| note.strip_prefix(&from));
                here.filter_map(|rest| rest.split('`').next()).collect()
            }
        };
        let written = operations.iter().find(|operation| source[at..].starts_with(**operation));
        Some(Span::new(at, at + written.map_or(0, |operation| operation.len())))
    }
}
