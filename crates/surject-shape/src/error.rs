//! Errors of shape inference.

use crate::origin::Origin;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// What kind of contradiction was met. Each kind has a code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ShapeErrorKind {
    /// Two sizes that have to be the same are not.
    SizeMismatch,
    /// Two bases that have to be the same are not.
    BasisClash,
    /// A row has too many or too few axes.
    RankMismatch,
    /// Rows that would need ever more axes.
    RankCycle,
    /// A parameter whose shape nothing determines.
    MissingHidden,
    /// A stride or a kernel that does not fit.
    Stride,
    /// Components of a concatenation that do not add up.
    Concat,
    /// A number of elements that cannot be met.
    TotalElems,
    /// An axis that is accessed beyond its size.
    AtLeast,
    /// A dimension that is defined by itself.
    Occurs,
    /// A spec that cannot be read or does not fit its operation.
    Spec,
    /// No contradiction is known, but no solution was found either.
    Undecided,
    /// Whether symbolic sizes are as they have to be depends on a fact that is not known.
    UndecidedSize,
}

impl ShapeErrorKind {
    /// The code of the kind.
    pub fn code(self) -> &'static str {
        match self {
            ShapeErrorKind::SizeMismatch => "SJ0401",
            ShapeErrorKind::BasisClash => "SJ0402",
            ShapeErrorKind::RankMismatch => "SJ0403",
            ShapeErrorKind::RankCycle => "SJ0404",
            ShapeErrorKind::MissingHidden => "SJ0405",
            ShapeErrorKind::Stride => "SJ0406",
            ShapeErrorKind::Concat => "SJ0407",
            ShapeErrorKind::TotalElems => "SJ0408",
            ShapeErrorKind::AtLeast => "SJ0409",
            ShapeErrorKind::Occurs => "SJ0410",
            ShapeErrorKind::Spec => "SJ0411",
            ShapeErrorKind::Undecided => "SJ0412",
            ShapeErrorKind::UndecidedSize => "SJ0413",
        }
    }

    /// One concrete way out.
    pub fn help(self) -> &'static str {
        match self {
            ShapeErrorKind::SizeMismatch => {
                "make the two sizes equal; only the claim-free unit broadcasts, a written `1` does not"
            }
            ShapeErrorKind::BasisClash => {
                "give both axes the same basis; an axis written without one has the basis `default`"
            }
            ShapeErrorKind::RankMismatch => {
                "remove the extra axes, or write a row variable where the shorter row may grow"
            }
            ShapeErrorKind::RankCycle => {
                "break the cycle: one of these rows has to be written without the row variable"
            }
            ShapeErrorKind::MissingHidden => {
                "you forgot to specify the hidden dimension: give the parameter a size or use it where its size is known"
            }
            ShapeErrorKind::Stride => "choose a size that the stride divides, or another kernel",
            ShapeErrorKind::Concat => "make the sizes of the components add up to the concatenated axis",
            ShapeErrorKind::TotalElems => "choose sizes whose product is the number of elements",
            ShapeErrorKind::AtLeast => "make the axis as large as its largest fixed index plus one",
            ShapeErrorKind::Occurs => "use two different variables",
            ShapeErrorKind::Spec => {
                "see the notation: `batch|input->output`, operands before `=>`, the result after it"
            }
            ShapeErrorKind::Undecided => "write some of the sizes out",
            ShapeErrorKind::UndecidedSize => "declare the fact with `where`, or use one size for both",
        }
    }
}

/// A shape error: what clashed, and the constraints it follows from.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{}", self.render())]
pub struct ShapeError {
    /// What kind of contradiction.
    pub kind: ShapeErrorKind,
    /// What clashed, with both sides.
    pub message: String,
    /// The constraints it follows from, nearest first.
    pub labels: Vec<Arc<Origin>>,
    /// How many constraints between the last label and the one before it are not listed.
    pub omitted: usize,
    /// Whether the contradiction depends on a choice that closing made. Where it does not, no solution exists.
    pub guessed: bool,
    /// What closing chose, in words, and what became of the search for another choice.
    pub choice: Option<String>,
}

impl ShapeError {
    /// Keeps each label once, and of these so many: the nearest ones and the farthest. One place in the text may have
    /// made several constraints, such as an expression of a function that is called several times.
    pub(crate) fn shorten(&mut self, most: usize) {
        let mut seen = HashSet::new();
        self.labels.retain(|label| seen.insert(label.to_string()));
        if self.labels.len() > most {
            self.omitted += self.labels.len() - most;
            self.labels.drain(most - 1..self.labels.len() - 1);
        }
    }

    /// An error without provenance.
    pub fn new(kind: ShapeErrorKind, message: impl Into<String>) -> ShapeError {
        ShapeError {
            kind,
            message: message.into(),
            labels: Vec::new(),
            omitted: 0,
            guessed: false,
            choice: None,
        }
    }

    /// The code.
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// One concrete fix.
    pub fn help(&self) -> &'static str {
        self.kind.help()
    }

    /// The lines of the constraints it follows from, in order.
    pub fn lines(&self) -> Vec<u32> {
        let mut lines: Vec<u32> = self.labels.iter().filter_map(|o| Some(o.place.as_ref()?.line)).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// The error as JSON.
    pub fn to_json(&self) -> Value {
        let mut json = json!({
            "code": self.code(),
            "message": self.message,
            "lines": self.lines(),
            "omitted": self.omitted,
            "labels": self.labels.iter().map(|o| o.to_string()).collect::<Vec<_>>(),
            "help": self.help(),
        });
        if let Some(choice) = &self.choice {
            json["choice"] = json!(choice);
        }
        json
    }

    fn render(&self) -> String {
        use fmt::Write;
        let mut text = format!("error[{}]: {}", self.code(), self.message);
        for (i, label) in self.labels.iter().enumerate() {
            // Writing to a string cannot fail.
            if self.omitted > 0 && i + 1 == self.labels.len() {
                let _ = write!(text, "\n   and {} more", self.omitted);
            }
            let _ = write!(text, "\n  {} {label}", if i == 0 { "from" } else { " and" });
        }
        if let Some(choice) = &self.choice {
            let _ = write!(text, "\n  note: {choice}");
        }
        let _ = write!(text, "\n  help: {}", self.help());
        text
    }
}
