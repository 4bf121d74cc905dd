//! Errors of projection inference.

use std::fmt;
use surject_index::{Extent, Fact};
use surject_shape::ShapeError;

/// A tensor of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Slot {
    /// The result.
    Result,
    /// An operand, counted from 0.
    Operand(usize),
}

/// `the result`, `operand 2` (counted from 1).
impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slot::Result => f.write_str("the result"),
            Slot::Operand(n) => write!(f, "operand {}", n + 1),
        }
    }
}

/// The kinds of axes, in memory order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Batch axes.
    Batch,
    /// Output axes.
    Output,
    /// Input axes.
    Input,
}

/// `batch`, `output`, `input`.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Batch => "batch",
            Kind::Output => "output",
            Kind::Input => "input",
        })
    }
}

/// What a projection identity stands for.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Place {
    /// One axis of one tensor.
    Axis {
        /// The tensor.
        slot: Slot,
        /// The kind.
        kind: Kind,
        /// Its position within the kind, counted from 0.
        position: usize,
    },
    /// A label of the spec.
    Label(String),
    /// A component without a name, or an axis that a placeholder stands for.
    Unnamed,
}

/// `output axis 2 of operand 1` (both counted from 1), ``the label `i` ``.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Axis { slot, kind, position } => write!(f, "{kind} axis {} of {slot}", position + 1),
            Place::Label(name) => write!(f, "the label `{name}`"),
            Place::Unnamed => f.write_str("an axis without a name"),
        }
    }
}

/// Why an operation has no index maps. Projection inference decides nothing: it succeeds or reports a conflict.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ProjectionError {
    /// The operation does not fit its shapes: a wrong number of operands, rows that do not align.
    #[error("{0}")]
    Shape(Box<ShapeError>),
    /// An axis is pinned to two positions.
    #[error(
        "error[SJ0430]: conflicting indices: {first_place} is at {first}, and {second_place} is at {second}, but the two are one axis of the product space\n  help: write one of them as an axis of its own"
    )]
    TwoPins {
        /// The one axis.
        first_place: Place,
        /// Its position.
        first: String,
        /// The other.
        second_place: Place,
        /// Its position.
        second: String,
    },
    /// Two axes that share a loop have two sizes.
    #[error(
        "error[SJ0431]: {first_place} has {first} positions and {second_place} has {second}, but one loop has to drive both\n  help: make the two sizes equal; only an axis of size one broadcasts, and only where the operation allows it"
    )]
    Sizes {
        /// The one axis.
        first_place: Place,
        /// Its size.
        first: Extent,
        /// The other.
        second_place: Place,
        /// Its size.
        second: Extent,
    },
    /// A derived axis does not have the size that its parts give it.
    #[error(
        "error[SJ0431]: {place} has {found} positions, but {law} gives {expected}\n  help: make the sizes agree"
    )]
    Extent {
        /// The axis.
        place: Place,
        /// Its size.
        found: String,
        /// What its size follows from.
        law: String,
        /// The size that follows, or why there is none.
        expected: String,
    },
    /// Nothing says how many positions a label has.
    #[error(
        "error[SJ0432]: the size of {place} is not determined\n  help: set it, such as by a capture of the label; no axis of the operation shows it"
    )]
    UnknownSize {
        /// The label.
        place: Place,
    },
    /// An axis would be read at two different indices.
    #[error(
        "error[SJ0433]: {place} is at `{first}` and at `{second}`\n  help: the two have to be one index; write one of them as an axis of its own"
    )]
    TwoIndices {
        /// The axis.
        place: Place,
        /// One index.
        first: String,
        /// The other.
        second: String,
    },
    /// More than one operand has elements for a piece of a concatenation.
    #[error(
        "error[SJ0434]: ambiguous block: {first} and {second} both have elements where {active}\n  help: give each operand a component of its own"
    )]
    Ambiguous {
        /// One operand.
        first: Slot,
        /// The other.
        second: Slot,
        /// Which components are active.
        active: String,
    },
    /// A label is two components of one concatenation.
    #[error(
        "error[SJ0435]: {component} is two components of the concatenation at {place}\n  help: give every component a label of its own"
    )]
    RepeatedComponent {
        /// The axis.
        place: Place,
        /// The component.
        component: Place,
    },
    /// A strided or concatenated axis is made of something that is no loop.
    #[error(
        "error[SJ0436]: {place} is made of {part}, which is no loop: it is {why}\n  help: give that axis a label of its own"
    )]
    NotALoop {
        /// The axis.
        place: Place,
        /// Its part.
        part: Place,
        /// What the part is.
        why: &'static str,
    },
    /// A size or a position does not fit.
    #[error("error[SJ0437]: too large to index: {0}\n  help: make the axes smaller")]
    TooLarge(String),
    /// A fixed index is not below the size of its axis.
    #[error(
        "error[SJ0438]: {place} has {size} positions and is indexed at {position}\n  help: make the axis as large as its largest fixed index plus one"
    )]
    Beyond {
        /// The axis.
        place: Place,
        /// The index.
        position: u64,
        /// The size.
        size: Extent,
    },
    /// Something depends on symbolic sizes, and the facts about them do not decide it.
    #[error(
        "error[SJ0439]: {what} depends on sizes: it needs `{missing}`\n  help: declare the fact with `where {missing};`"
    )]
    Undecided {
        /// What is asked.
        what: String,
        /// The fact that would decide it.
        missing: Fact,
    },
    /// A part of an index map would be a symbolic size, and it has to be a number.
    #[error(
        "error[SJ0440]: {field} of {place} would depend on the size `{size}`, which is symbolic\n  help: `{size} == …` with a number decides it: declare it with `where`, or write the number"
    )]
    Dynamic {
        /// The axis.
        place: Place,
        /// The part of its index.
        field: &'static str,
        /// The size.
        size: Extent,
    },
}

impl ProjectionError {
    /// The code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            ProjectionError::Shape(error) => error.code(),
            ProjectionError::TwoPins { .. } => "SJ0430",
            ProjectionError::Sizes { .. } | ProjectionError::Extent { .. } => "SJ0431",
            ProjectionError::UnknownSize { .. } => "SJ0432",
            ProjectionError::TwoIndices { .. } => "SJ0433",
            ProjectionError::Ambiguous { .. } => "SJ0434",
            ProjectionError::RepeatedComponent { .. } => "SJ0435",
            ProjectionError::NotALoop { .. } => "SJ0436",
            ProjectionError::TooLarge(_) => "SJ0437",
            ProjectionError::Beyond { .. } => "SJ0438",
            ProjectionError::Undecided { .. } => "SJ0439",
            ProjectionError::Dynamic { .. } => "SJ0440",
        }
    }
}

impl From<ShapeError> for ProjectionError {
    fn from(error: ShapeError) -> ProjectionError {
        ProjectionError::Shape(Box::new(error))
    }
}
