//! Gathers and slices at run time: what is read at an index gets its cotangent back there.

use crate::sizes::Component;
use crate::sweep::{Result, Sweep};
use surject_index::{Affine, Extent, IndexMap, Space};
use surject_ir::{BinaryOp, DType, FieldId, GatherDims, LibOp, Scalar, ScatterDims, UnaryOp, Var};

impl Sweep {
    /// The cotangent of a gather is added back at the positions that were read. A gather clamps its indices and a
    /// scatter drops what is outside, so the indices are clamped first.
    pub(crate) fn reverse_gather(
        &mut self,
        (dims, slice_sizes): (&GatherDims, &[Extent]),
        indices_are_sorted: bool,
        args: &[Var],
        c: FieldId,
    ) -> Result<()> {
        let (operand, indices) = (args[0], args[1]);
        if !self.smooth(operand) {
            return Ok(());
        }
        let space = self.f.ty(operand).space.clone();
        let last = |&axis: &usize| Extent::difference(space.extent(axis).clone(), slice_sizes[axis].clone());
        let last: Vec<Component> = dims.start_index_map.iter().map(|a| last(a).into()).collect();
        let zeros = vec![Component::Number(0); last.len()];
        let clamped = self.clamped(indices, dims.index_vector_dim, &zeros, &last)?;
        let clamped = self.stored("indices", clamped);
        let scatter = LibOp::Scatter { dims: scatter_dims(dims), indices_are_sorted, unique_indices: false };
        self.scatter_add(operand, scatter, clamped, c)
    }

    /// Adds updates to the cotangent of a tensor.
    pub(crate) fn scatter_add(
        &mut self,
        operand: Var,
        op: LibOp,
        indices: Var,
        updates: FieldId,
    ) -> Result<()> {
        let base = self.so_far(operand)?;
        let updates = self.stored(&self.part_name(), updates);
        let join = self.join(self.f.ty(operand).dtype, Some(BinaryOp::Add))?;
        let name = self.cotangent_name(operand);
        let sum = self.call_one(&name, op, vec![base, indices, updates], vec![join])?;
        let sum = self.f.tensor(sum);
        self.contribute(operand, sum);
        Ok(())
    }

    /// An index tensor with every component between its bounds; one component for each entry of the index vectors.
    pub(crate) fn clamped(
        &mut self,
        indices: Var,
        vector_axis: usize,
        low: &[Component],
        high: &[Component],
    ) -> Result<FieldId> {
        let x = self.f.tensor(indices);
        if low.iter().chain(high).any(Component::is_size) {
            let x = self.wide(x)?;
            let high = self.components(x, vector_axis, high)?;
            let x = self.binary(BinaryOp::Min, x, high)?;
            let low = self.components(x, vector_axis, low)?;
            return self.binary(BinaryOp::Max, x, low);
        }
        let dtype = self.dtype(x);
        let high = self.bounds(x, vector_axis, high, |bound| dtype.holds(bound))?;
        let x = match high {
            Some(high) => self.binary(BinaryOp::Min, x, high)?,
            None => x,
        };
        let not_above_zero = |bound: &Component| matches!(bound, Component::Number(value) if *value <= 0);
        if dtype.is_unsigned_int() && low.iter().all(not_above_zero) {
            return Ok(x);
        }
        match self.bounds(x, vector_axis, low, |bound| dtype.holds(bound))? {
            Some(low) => self.binary(BinaryOp::Max, x, low),
            None => Ok(x),
        }
    }

    /// Bounds of the components of index vectors as a field like `x`; `None` where no element can pass them. A bound
    /// that the type cannot hold is not reached by any element: the nearest value it has stands for it.
    fn bounds(
        &mut self,
        x: FieldId,
        vector_axis: usize,
        bounds: &[Component],
        fits: impl Fn(i128) -> bool,
    ) -> Result<Option<FieldId>> {
        let number = |bound: &Component| match bound {
            Component::Number(value) => *value,
            Component::Size(_) => 0,
        };
        if bounds.is_empty() || !bounds.iter().any(|b| fits(number(b))) {
            return Ok(None);
        }
        let dtype = self.dtype(x);
        let nearest = |bound: i128| {
            let largest = (0..128).map(|k| (1i128 << k.min(126)) - 1).filter(|&v| fits(v)).max().unwrap_or(0);
            if fits(bound) {
                bound
            } else if bound > 0 {
                largest
            } else if dtype.is_unsigned_int() {
                0
            } else {
                -largest - 1
            }
        };
        let bounds: Vec<Component> = bounds.iter().map(|b| Component::Number(nearest(number(b)))).collect();
        self.components(x, vector_axis, &bounds).map(Some)
    }

    /// The cotangent of a slice is added back where it was cut. The starts are clamped alike.
    pub(crate) fn reverse_dynamic_slice(&mut self, args: &[Var], c: FieldId) -> Result<()> {
        let (operand, starts) = (args[0], &args[1..]);
        if !self.smooth(operand) {
            return Ok(());
        }
        let sizes = self.space(c);
        let fresh = !self.cotangents.contains_key(&operand);
        let base = self.so_far(operand)?;
        let with = |first: &[Var]| first.iter().chain(starts).copied().collect::<Vec<_>>();
        let update = if fresh {
            self.stored(&self.part_name(), c)
        } else {
            let before = self.slice_at("slice", base, &sizes, starts)?;
            let before = self.f.tensor(before);
            let sum = self.add(before, c)?;
            self.stored(&self.part_name(), sum)
        };
        let name = self.cotangent_name(operand);
        let sum = self.call_one(&name, LibOp::DynamicUpdateSlice, with(&[base, update]), Vec::new())?;
        let sum = self.f.tensor(sum);
        self.contribute(operand, sum);
        Ok(())
    }

    /// What was overwritten gets nothing, the update gets what is cut out there.
    pub(crate) fn reverse_dynamic_update_slice(&mut self, args: &[Var], c: FieldId) -> Result<()> {
        let (operand, update, starts) = (args[0], args[1], &args[2..]);
        let c = self.stored(&self.part_name(), c);
        let with = |first: &[Var]| first.iter().chain(starts).copied().collect::<Vec<_>>();
        if self.smooth(update) {
            let sizes = self.f.ty(update).space.clone();
            let name = self.cotangent_name(update);
            let cut = self.slice_at(&name, c, &sizes, starts)?;
            let cut = self.f.tensor(cut);
            self.contribute(update, cut);
        }
        if self.smooth(operand) {
            let nothing = self.zeros_like("nothing", update);
            let name = self.cotangent_name(operand);
            let rest = self.call_one(&name, LibOp::DynamicUpdateSlice, with(&[c, nothing]), Vec::new())?;
            let rest = self.f.tensor(rest);
            self.contribute(operand, rest);
        }
        Ok(())
    }

    /// The first elements of the operand get the cotangent of the truncated tensor, the others nothing. The scalar gives a
    /// size, which has no derivative.
    pub(crate) fn reverse_truncate(&mut self, args: &[Var], c: FieldId) -> Result<()> {
        let space = self.f.ty(args[0]).space.clone();
        let axes = (0..space.rank()).map(|a| Affine::axis(space.rank(), a)).collect();
        let map = IndexMap::partial(space, self.space(c), axes, Vec::new(), self.nothing(self.dtype(c)));
        let map = self.mapped(map)?;
        let term = self.read(map, c)?;
        self.contribute(args[0], term);
        Ok(())
    }

    /// Zeros over a space.
    pub(crate) fn zeros(&mut self, name: &str, dtype: DType, space: &Space) -> Var {
        self.splat(name, space, Scalar::zero(dtype))
    }

    /// The part of a cotangent that belongs to a real number.
    pub(crate) fn real_part(&mut self, c: FieldId) -> Result<FieldId> {
        self.unary(UnaryOp::Real, c)
    }
}

/// The scatter that writes where a gather reads.
pub(crate) fn scatter_dims(dims: &GatherDims) -> ScatterDims {
    ScatterDims {
        update_window_dims: dims.offset_dims.clone(),
        inserted_window_dims: dims.collapsed_slice_dims.clone(),
        input_batching_dims: dims.operand_batching_dims.clone(),
        scatter_indices_batching_dims: dims.start_indices_batching_dims.clone(),
        scatter_dims_to_operand_dims: dims.start_index_map.clone(),
        index_vector_dim: dims.index_vector_dim,
    }
}

/// The gather that reads where a scatter writes.
pub(crate) fn gather_dims(dims: &ScatterDims) -> GatherDims {
    GatherDims {
        offset_dims: dims.update_window_dims.clone(),
        collapsed_slice_dims: dims.inserted_window_dims.clone(),
        operand_batching_dims: dims.input_batching_dims.clone(),
        start_indices_batching_dims: dims.scatter_indices_batching_dims.clone(),
        start_index_map: dims.scatter_dims_to_operand_dims.clone(),
        index_vector_dim: dims.index_vector_dim,
    }
}
