//! Library operations: what is not an assignment.
//!
//! Each variant has the semantics of the StableHLO operation of the same name. Sizes and positions are in
//! elements; axes are numbered from 0.

mod infer;
mod text;

use crate::{DeviceOp, Sharding};
pub use infer::LibOpError;
pub(crate) use infer::scalar_of;
use surject_index::{Extent, ScalarSemantics};
pub use surject_runtime::library::routines::Routine;
pub use text::Attr;

/// A library operation of a `Call` statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LibOp {
    /// Arguments: operand, start indices. Start indices are clamped into range.
    Gather {
        /// Which axes mean what.
        dims: GatherDims,
        /// The size of the slice along every axis of the operand.
        slice_sizes: Vec<u64>,
        /// Does the program promise that the indices are sorted?
        indices_are_sorted: bool,
    },
    /// A gather whose slices have sizes that a call gives (seed 002). A bound function has a [`LibOp::Gather`] in its place.
    GatherDynamicSliceSizes {
        /// Which axes mean what.
        dims: GatherDims,
        /// The size of the slice along every axis of the operand.
        slice_sizes: Vec<Extent>,
        /// Does the program promise that the indices are sorted?
        indices_are_sorted: bool,
    },
    /// Arguments: operand, a scalar. The first elements along an axis: as many as the scalar says, at most all (seed 002).
    /// A bound function has a read in its place.
    DynamicTruncate {
        /// The axis.
        axis: usize,
        /// How the scalar becomes a size, which also says of what types it may be.
        semantics: ScalarSemantics,
        /// The size of the axis of the result. Where the scalar is a parameter, that is an expression over it:
        /// `min(truncate_size(in1), n)`. Else it is a size that this operation declares, of which a program knows
        /// only that it is at most that of the operand.
        size: Extent,
    },
    /// Arguments: n inputs, scatter indices, n updates; one region that joins n old and n new elements.
    /// Updates that fall outside are dropped. Updates are applied in row-major order.
    Scatter {
        /// Which axes mean what.
        dims: ScatterDims,
        /// Does the program promise that the indices are sorted?
        indices_are_sorted: bool,
        /// Does the program promise that the indices are unique?
        unique_indices: bool,
    },
    /// Arguments: operand, one scalar start per axis (clamped so that the slice lies inside).
    DynamicSlice {
        /// The size of the slice along every axis.
        sizes: Vec<u64>,
    },
    /// Arguments: operand, update, one scalar start per axis (clamped so that the update lies inside).
    DynamicUpdateSlice,
    /// Arguments: n tensors of one shape, sorted together; one region, the comparator *less*, that takes the
    /// elements `a0, b0, a1, b1, …` and yields `i1`.
    Sort {
        /// The axis along which lines are sorted.
        axis: usize,
        /// Must equal elements keep their order?
        stable: bool,
    },
    /// Arguments: n tensors of one shape, n initial scalars; one region that joins n accumulators with n
    /// elements. Elements are taken in row-major order.
    Reduce {
        /// The axes that are reduced, in increasing order.
        axes: Vec<usize>,
    },
    /// Arguments: n tensors of one shape, n initial scalars; one region as for `Reduce`.
    ReduceWindow {
        /// The window.
        window: Window,
    },
    /// Arguments: operand, source, initial scalar; two regions: *select* (takes two elements, yields `i1`) and
    /// *scatter* (joins two elements).
    SelectAndScatter {
        /// The window; its dilations are 1.
        window: Window,
    },
    /// Reads the bits of a tensor as a type of another width: a wider type takes the last axis away, a narrower
    /// one appends it. (The same width is a field.)
    BitcastReshape {
        /// The element type of the result.
        to: surject_runtime::DType,
    },
    /// The fast Fourier transform over the last axes.
    Fft {
        /// Which transform.
        kind: FftKind,
        /// Its lengths, one per transformed axis.
        lengths: Vec<u64>,
    },
    /// The Cholesky factor of the matrices in the last two axes. NaN where a matrix is not positive definite.
    Cholesky {
        /// The lower factor (else the upper one).
        lower: bool,
    },
    /// Arguments: a, b. Solves `op(a) x = b`, or `x op(a) = b`, for the triangular matrices in the last two axes.
    TriangularSolve {
        /// Does `a` stand to the left of `x`?
        left_side: bool,
        /// Is `a` lower triangular?
        lower: bool,
        /// Are the diagonal elements taken as 1?
        unit_diagonal: bool,
        /// The transposition of `a`.
        transpose: Transpose,
    },
    /// A routine of LAPACK on the matrices (and vectors) in the last axes of its arguments; their element types are one of
    /// f32, f64, c64, c128. The results are those of the routine.
    Lapack {
        /// Which, with its flags.
        routine: Routine,
    },
    /// The argument, and where its parts lie on a mesh of devices. On one device nothing; no rule crosses it.
    Constraint {
        /// Where they lie.
        sharding: Sharding,
    },
    /// What the devices of a mesh do together, kept for a program that is written again; nothing here runs it, and no rule
    /// crosses it.
    Devices {
        /// The operation, whose operands are the arguments.
        op: DeviceOp,
    },
}

/// The kinds of Fourier transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum FftKind {
    Fft,
    Ifft,
    Rfft,
    Irfft,
}

/// The transposition of a matrix operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Transpose {
    No,
    Transpose,
    Adjoint,
}

/// Which axes of a gather mean what (StableHLO specification, `gather`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub struct GatherDims {
    pub offset_dims: Vec<usize>,
    pub collapsed_slice_dims: Vec<usize>,
    pub operand_batching_dims: Vec<usize>,
    pub start_indices_batching_dims: Vec<usize>,
    pub start_index_map: Vec<usize>,
    pub index_vector_dim: usize,
}

/// Which axes of a scatter mean what (StableHLO specification, `scatter`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub struct ScatterDims {
    pub update_window_dims: Vec<usize>,
    pub inserted_window_dims: Vec<usize>,
    pub input_batching_dims: Vec<usize>,
    pub scatter_indices_batching_dims: Vec<usize>,
    pub scatter_dims_to_operand_dims: Vec<usize>,
    pub index_vector_dim: usize,
}

/// A sliding window, one entry per axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// The size of the window.
    pub sizes: Vec<u64>,
    /// The step between windows.
    pub strides: Vec<u64>,
    /// The step between the elements of the operand (holes hold the initial value).
    pub base_dilations: Vec<u64>,
    /// The step between the elements of the window.
    pub window_dilations: Vec<u64>,
    /// Elements added before and after (negative: removed).
    pub padding: Vec<(i64, i64)>,
}

impl LibOp {
    /// The sizes of the attributes, where they may be symbolic.
    pub fn extents(&self) -> &[Extent] {
        match self {
            LibOp::GatherDynamicSliceSizes { slice_sizes, .. } => slice_sizes,
            LibOp::DynamicTruncate { size, .. } => std::slice::from_ref(size),
            _ => &[],
        }
    }

    /// The name of the size that the operation declares, which other statements may use where they do not use its result: a
    /// pass keeps such an operation.
    pub fn declares(&self) -> Option<&std::sync::Arc<str>> {
        match self {
            LibOp::DynamicTruncate { size, .. } => crate::truncate::name_of(size),
            _ => None,
        }
    }

    /// The same operation with other sizes in place of [`LibOp::extents`].
    pub fn with_extents<E>(&self, of: &mut dyn FnMut(&Extent) -> Result<Extent, E>) -> Result<LibOp, E> {
        let mut op = self.clone();
        match &mut op {
            LibOp::GatherDynamicSliceSizes { slice_sizes, .. } => {
                for size in slice_sizes {
                    *size = of(size)?;
                }
            }
            LibOp::DynamicTruncate { size, .. } => *size = of(size)?,
            _ => {}
        }
        Ok(op)
    }

    /// A gather with slices of these sizes: the plain one where they are constants.
    pub fn gather(dims: GatherDims, slice_sizes: Vec<Extent>, indices_are_sorted: bool) -> LibOp {
        match slice_sizes.iter().map(Extent::as_const).collect() {
            Some(slice_sizes) => LibOp::Gather { dims, slice_sizes, indices_are_sorted },
            None => LibOp::GatherDynamicSliceSizes { dims, slice_sizes, indices_are_sorted },
        }
    }
}

impl Window {
    /// Is there a window of one element around each element, and nothing else?
    pub fn is_point(&self) -> bool {
        let mut factors = self.sizes.iter().chain(&self.strides).chain(&self.base_dilations);
        factors.all(|&n| n == 1) && self.padding.iter().all(|&p| p == (0, 0))
    }
}
