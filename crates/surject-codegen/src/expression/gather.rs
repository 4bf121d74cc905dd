//! Gathers as expressions: an element of the result is one of the operand, at a position of which the loops say a part and
//! the indices the rest.
//!
//! A gather is a kernel like others, which computes its indices where they are needed. One that is read once, by what goes
//! through its elements once, is evaluated there and never stored; one that moves lines is where the reader computes along
//! the same lines, and any other reader may take some lines at a time with it.

use crate::CodegenError;
use crate::expression::address::{Lin, Point};
use crate::expression::compose::sizes;
use crate::expression::dag::{Dag, Node, NodeId, buf};
use std::collections::HashMap;
use surject_ir::{BinaryOp, DType, FieldId, Function, GatherDims, LibOp, Scalar, StatementKind, Var};

/// A gather whose elements can be expressions.
#[derive(Clone, Debug)]
pub struct Gathered {
    pub(crate) operand: Var,
    /// The tensor of the indices, where it is in memory.
    pub indices: Var,
    pub(crate) rank: usize,
    /// The indices, where they are computed.
    pub computed: Option<FieldId>,
    pub(crate) dims: GatherDims,
    pub(crate) slice: Vec<i64>,
    pub(crate) shape: Vec<i64>,
    /// The axes of the result that are not those of slices.
    pub(crate) batch: Vec<usize>,
    /// The axis of the result along which neighbours are neighbours in the operand whatever the indices are.
    pub(crate) line: Option<usize>,
}

/// An axis of the operand that slices have.
#[derive(Clone, Copy)]
struct SlicedAxis {
    /// Its number in the operand.
    operand: usize,
    /// The axis of the result that it becomes.
    result: usize,
}

/// A component of an index.
#[derive(Clone, Copy)]
pub(crate) struct StartAxis {
    /// The axis of the operand that it moves along.
    pub(crate) axis: usize,
    /// The last start there.
    pub(crate) last: i64,
}

impl Gathered {
    /// The gather of a statement, but for complex numbers.
    pub(crate) fn of(function: &Function, kind: &StatementKind) -> Option<Gathered> {
        let StatementKind::Call { op: LibOp::Gather { dims, slice_sizes, .. }, targets, args, .. } = kind
        else {
            return None;
        };
        let (&[target], &[operand, indices]) = (&targets[..], &args[..]) else { return None };
        let (ty, from) = (function.ty(target), function.ty(operand));
        let (shape, result) = (sizes(&from.space).ok()?, sizes(&ty.space).ok()?);
        let (dtype, rank) = (function.ty(indices).dtype, function.ty(indices).space.rank());
        if ty.dtype.is_complex() || !dtype.is_int() || result.contains(&0) || shape.contains(&0) {
            return None;
        }
        let slice: Vec<i64> = slice_sizes.iter().map(|&n| n as i64).collect();
        let batch: Vec<usize> = (0..result.len()).filter(|d| !dims.offset_dims.contains(d)).collect();
        let line = None;
        let gathered = Gathered {
            operand,
            indices,
            rank,
            computed: None,
            dims: dims.clone(),
            slice,
            shape,
            batch,
            line,
        };
        let last = (0..result.len()).rev().find(|&d| result[d] != 1);
        let line = last.filter(|&d| {
            let unit = |axis: usize| gathered.shape[axis + 1..].iter().all(|&n| n == 1);
            gathered.sliced().any(|axis| axis.result == d && unit(axis.operand))
        });
        Some(Gathered { line, ..gathered })
    }

    /// The same, with its indices computed where these say so.
    pub fn computing(self, indices: &HashMap<Var, FieldId>) -> Gathered {
        Gathered { computed: indices.get(&self.indices).copied(), ..self }
    }

    /// The axes of the operand that slices have, and the axes of the result that they become.
    fn sliced(&self) -> impl Iterator<Item = SlicedAxis> {
        let is_sliced = |d: &usize| {
            !self.dims.collapsed_slice_dims.contains(d) && !self.dims.operand_batching_dims.contains(d)
        };
        let axes = (0..self.shape.len()).filter(is_sliced).zip(self.dims.offset_dims.iter().copied());
        axes.map(|(operand, result)| SlicedAxis { operand, result })
    }

    /// The positions of the components of the index vector of an element of the result.
    pub(crate) fn components(&self, position: &[Lin]) -> Vec<Vec<Lin>> {
        let batch: Vec<Lin> = self.batch.iter().map(|&d| position[d].clone()).collect();
        let component = |d: usize| {
            let mut all = batch.clone();
            // Indices without an axis for components have one of them.
            if self.dims.index_vector_dim < self.rank {
                all.insert(self.dims.index_vector_dim, Lin::constant(d as i64));
            }
            all
        };
        (0..self.dims.start_index_map.len()).map(component).collect()
    }

    /// What the loops say of the position in the operand.
    pub(crate) fn known(&self, position: &[Lin]) -> Vec<Lin> {
        let mut known = vec![Lin::default(); self.shape.len()];
        for SlicedAxis { operand, result } in self.sliced() {
            known[operand] = position[result].clone();
        }
        let dims = &self.dims;
        for (&axis, &d) in dims.operand_batching_dims.iter().zip(&dims.start_indices_batching_dims) {
            known[axis] = position[self.batch[d - usize::from(d >= dims.index_vector_dim)]].clone();
        }
        known
    }

    /// What each component of an index says.
    pub(crate) fn ends(&self) -> impl Iterator<Item = StartAxis> {
        let last = |axis: usize| self.shape[axis] - self.slice[axis];
        self.dims.start_index_map.iter().map(move |&axis| StartAxis { axis, last: last(axis) })
    }

    /// The element of the operand that is the element of the result at a position, from the components of its index.
    pub(crate) fn node(
        &self,
        dag: &mut Dag,
        dtype: DType,
        position: &[Lin],
        starts: &[NodeId],
    ) -> Result<NodeId, CodegenError> {
        let overflow = || CodegenError::overflow("a gather");
        let strides = strides(&self.shape).ok_or_else(overflow)?;
        let mut address = Lin::default();
        for (lin, &stride) in self.known(position).iter().zip(&strides) {
            address = address.plus(lin, stride).ok_or_else(overflow)?;
        }
        let points = self.shape.iter().try_fold(1i64, |p, &n| p.checked_mul(n)).ok_or_else(overflow)?;
        let wide = if points < 1 << 31 { DType::I32 } else { DType::I64 };
        let mut offset: Option<NodeId> = None;
        for (&start, StartAxis { axis, last }) in starts.iter().zip(self.ends()) {
            let mut at = clamped(dag, start, last, wide);
            if strides[axis] != 1 {
                let stride = dag.constant(Scalar::from_i128(wide, strides[axis].into()));
                at = dag.binary(BinaryOp::Mul, at, stride);
            }
            offset = Some(match offset {
                Some(sum) => dag.binary(BinaryOp::Add, sum, at),
                None => at,
            });
        }
        let buf = buf(self.operand);
        Ok(match offset {
            Some(offset) => dag.add(Node::Gather { buf, address, offset, guards: Vec::new() }, dtype),
            None => dag.add(Node::Load { buf, address, guards: Vec::new() }, dtype),
        })
    }

    /// The tensors that it reads, but what its indices are made of.
    pub fn reads(&self) -> [Var; 2] {
        [self.operand, self.indices]
    }
}

/// A start moved into `0..=most`, as a number of another type that has all of these.
pub(crate) fn clamped(dag: &mut Dag, start: NodeId, most: i64, to: DType) -> NodeId {
    let own = dag[start].dtype;
    let mut at = start;
    if own.is_signed_int() {
        let zero = dag.constant(Scalar::zero(own));
        at = dag.binary(BinaryOp::Max, at, zero);
    }
    let bits = own.size() as u32 * 8 - u32::from(own.is_signed_int());
    // A narrow type may have no number that is too large.
    if bits >= 63 || most < (1 << bits) - 1 {
        let most = dag.constant(Scalar::from_i128(own, most.into()));
        at = dag.binary(BinaryOp::Min, at, most);
    }
    if own == to { at } else { dag.add(Node::Convert(at), to) }
}

/// The row-major strides of a shape.
pub(crate) fn strides(shape: &[i64]) -> Option<Vec<i64>> {
    let mut strides = vec![1i64; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].checked_mul(shape[axis])?;
    }
    Some(strides)
}

/// A component of an index.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start {
    /// It is computed.
    Computed(Point),
    /// It is in memory.
    Stored(usize),
}
