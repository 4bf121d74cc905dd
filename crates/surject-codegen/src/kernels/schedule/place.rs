//! Where a schedule is wrong: the words of its text.

use super::Directive;
use crate::kernels::fault::Fault;
use std::fmt;
use std::ops::Range;

/// Words of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The line of the text, counted from 1; of a schedule without text, which is as it prints, the number of the directive.
    pub line: usize,
    /// The columns in characters, counted from 1.
    pub columns: Range<usize>,
}

/// Why a schedule is none, or does not fit its expression or its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleError {
    /// The words that are wrong.
    pub span: Option<Span>,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.span.as_ref().map_or(Ok(()), |span| write!(f, "line {}: ", span.line))?;
        f.write_str(&self.message)
    }
}

impl std::error::Error for ScheduleError {}

impl Fault {
    /// The error of a directive with this fault, which stands on a line.
    pub(super) fn on(self, line: &Line) -> ScheduleError {
        ScheduleError { span: line.span(self.word.as_deref()), message: self.message }
    }

    /// The same, of the directive with this number.
    pub(super) fn at(self, directive: usize) -> Misfit {
        Misfit { directive: Some(directive), fault: self }
    }
}

/// What is wrong with a schedule, and with which of its directives.
#[derive(Clone, Debug)]
pub(super) struct Misfit {
    pub(super) directive: Option<usize>,
    pub(super) fault: Fault,
}

impl Misfit {
    /// The error in a schedule without text.
    pub(super) fn in_directives(self, directives: &[Directive]) -> ScheduleError {
        let found = self.directive.and_then(|i| Some((i, directives.get(i)?)));
        match found {
            Some((i, directive)) => self.fault.on(&Line::read(i + 1, &directive.to_string())),
            None => ScheduleError { span: None, message: self.fault.message },
        }
    }
}

/// The words of a line of a text, each with the column at which it begins, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    number: usize,
    words: Vec<(String, usize)>,
}

impl Line {
    /// The words of a line before a comment.
    pub(super) fn read(number: usize, text: &str) -> Line {
        let text = text.split("//").next().unwrap_or("");
        let mut words: Vec<(String, usize)> = Vec::new();
        let mut inside = false;
        for (i, c) in text.chars().enumerate() {
            match words.last_mut() {
                _ if c.is_whitespace() => {}
                Some((word, _)) if inside => word.push(c),
                _ => words.push((c.to_string(), i + 1)),
            }
            inside = !c.is_whitespace();
        }
        Line { number, words }
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }

    pub(super) fn words(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.0.as_str()).collect()
    }

    /// The place of a word, which may be one of several with commas between; of all words, where there is no such word.
    fn span(&self, wanted: Option<&str>) -> Option<Span> {
        let columns = |at: usize, text: &str| at..at + text.chars().count();
        let inside = |(word, at): &(String, usize), wanted: &str| {
            let mut at = *at;
            word.split(',').find_map(|part| {
                let found = columns(at, part);
                at = found.end + 1;
                (part == wanted).then_some(found)
            })
        };
        let found = wanted.and_then(|wanted| self.words.iter().find_map(|word| inside(word, wanted)));
        let all = || {
            let ((_, first), (last, at)) = (self.words.first()?, self.words.last()?);
            Some(*first..columns(*at, last).end)
        };
        Some(Span { line: self.number, columns: found.or_else(all)? })
    }
}
