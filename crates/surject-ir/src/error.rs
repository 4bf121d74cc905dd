//! Typed errors of fields and programs.

use surject_index::{Fact, Space};
use surject_runtime::DType;
use thiserror::Error;

/// Why a field cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TypeError {
    /// Two spaces that must agree do not.
    #[error("{what}: the space is {found} where {expected} is needed")]
    Spaces {
        /// Where.
        what: &'static str,
        /// The space found.
        found: Space,
        /// The space needed.
        expected: Space,
    },
    /// Two spaces that must agree may differ.
    #[error(
        "{what}: the space is {found} where {expected} is needed; `{missing}` would decide it: state it after `where`"
    )]
    Undecided {
        /// Where.
        what: &'static str,
        /// The space found.
        found: Space,
        /// The space needed.
        expected: Space,
        /// The fact about sizes that is missing.
        missing: Box<Fact>,
    },
    /// The operation is not defined for these element types.
    #[error("`{op}` is not defined for {}", dtypes.iter().map(|d| d.name()).collect::<Vec<_>>().join(", "))]
    Undefined {
        /// The operation.
        op: &'static str,
        /// The element types of its operands.
        dtypes: Vec<DType>,
    },
    /// An axis that the space does not have.
    #[error("there is no axis {axis} in the space {space}")]
    Axis {
        /// The axis.
        axis: usize,
        /// The space.
        space: Space,
    },
    /// The map of an accumulation has guards.
    #[error(
        "the map of an accumulation must be total; put the guard into the field as a read with the neutral fill"
    )]
    PartialAcc,
    /// The map of a `set` is not proven bijective.
    #[error("`set` needs a bijective map, and {0} is not proven to be one")]
    SetNeedsBijection(String),
}
