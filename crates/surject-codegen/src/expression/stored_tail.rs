//! Tails of tensors in memory, as the graph keeps them: [`tail`](super::tail) finds and reads them.

use surject_ir::Scalar;

/// The end of a loop at which a tail lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    /// The first positions.
    Before,
    /// The last positions.
    After,
}

impl Side {
    pub(crate) const BOTH: [Side; 2] = [Side::Before, Side::After];
}

/// The tail of a tensor in memory, in terms of its row-major digits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoredTail {
    pub(super) side: Side,
    /// Stride and extent of every digit, the largest stride first.
    pub(super) digits: Vec<(i64, i64)>,
    /// The digit along which the tail lies, and the factors of the others.
    pub(super) along: usize,
    pub(super) terms: Vec<(usize, i64)>,
    pub(super) offset: i64,
    pub(super) value: Option<Scalar>,
}
