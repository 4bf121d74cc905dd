//! The constraint language.

use crate::dim::{DimTerm, DimVar};
use crate::row::Row;

/// How a terminal shape closes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A leaf: it closes upwards to its bound; where it has none, to the least shape.
    Leaf,
    /// A parameter: a leaf for which having no bound is an error.
    Param,
    /// A row of a parameter that may close to no axes; an axis without a size is an error all the same.
    ParamRest,
}

/// The kernel of a convolution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// The distance between two positions of the kernel, at least 1.
    pub dilation: u64,
    /// The size of the kernel.
    pub size: DimTerm,
    /// With padding the kernel does not change the size.
    pub padded: bool,
}

/// The left side of a [`Constraint::Total`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Elems {
    /// A number of elements.
    Number(u64),
    /// A multiple of a dimension: `coefficient · var`.
    ///
    /// The coefficient is a number and not something to be forced later. It comes from the sizes of element types, which
    /// do not depend on shapes; a front end that infers them knows them before it closes shapes, and since the order of
    /// constraints does not matter it adds this one when it does.
    Strided {
        /// The coefficient.
        coefficient: u64,
        /// The dimension.
        var: DimTerm,
    },
}

/// A constraint. Inequalities read "the left side broadcasts to the right side".
#[derive(Clone, PartialEq, Debug)]
pub enum Constraint {
    /// Two dimensions are the same.
    DimEq(DimTerm, DimTerm),
    /// `sub ⊑ sup`.
    DimLe(DimTerm, DimTerm),
    /// Two rows have the same axes, wherever their markers are.
    RowEq(Row, Row),
    /// `sub ⊑ sup`, flank by flank.
    RowLe(Row, Row),
    /// The axis is as large as at least so many positions.
    AtLeast(DimTerm, u64),
    /// A concatenated axis: its size is the sum of the sizes of its components and its basis theirs, a named one before
    /// `default`. If all components but one are empty it is that component.
    Concat {
        /// The concatenated axis.
        target: DimTerm,
        /// Its components, in order.
        parts: Vec<DimTerm>,
    },
    /// An axis that is read at `stride·o + dilation·k + offset`. Its size is `stride·over` without a kernel or with
    /// padding, else `stride·(over-1) + 1 + dilation·(kernel-1)`. The offset selects within a stride and does not
    /// change the size; what a kernel without padding reads past the end by it is padding.
    Affine {
        /// The axis that is read.
        input: DimTerm,
        /// At least 1.
        stride: u64,
        /// The axis that iterates.
        over: DimTerm,
        /// The kernel.
        kernel: Option<Kernel>,
        /// Below the stride.
        offset: u64,
    },
    /// The elements of the rows together are the left side divided by the divisors.
    Total {
        /// The left side.
        elems: Elems,
        /// The rows, in memory order.
        rows: Vec<Row>,
        /// The divisors.
        divided_by: Vec<DimTerm>,
    },
    /// The rows, one after the other, have these axes.
    Exact {
        /// The axes.
        dims: Vec<DimTerm>,
        /// The rows, in memory order.
        rows: Vec<Row>,
    },
    /// The row belongs to a terminal shape.
    Terminal(Row, Role),
    /// The dimension belongs to a terminal shape.
    TerminalDim(DimTerm, Role),
    /// The dimension may be zero: a component of a concatenation that is projected away.
    Discardable(DimVar),
}
