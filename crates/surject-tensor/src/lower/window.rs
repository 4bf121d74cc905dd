//! Parts of tensors: slices at positions of a run, and the windows through which components of a concatenation are accessed that
//! start at a symbolic position.

use super::Builder;
use super::fetch::internal;
use crate::error::TensorError;
use surject_index::{Extent, IndexMap, Space};
use surject_ir::{AccOp, BinaryOp, DType, FieldId, GatherDims, LibOp, Scalar, TensorType, Var};
use surject_projection::Access;

impl Builder<'_> {
    /// The part of a tensor of these sizes that starts at these positions.
    pub(super) fn slice_at(&mut self, var: Var, cut: &Space, starts: Vec<Var>) -> Result<Var, TensorError> {
        let dtype = self.function.ty(var).dtype;
        let slice = self.function.var("slice", TensorType::new(dtype, cut.clone()));
        let sizes: Option<Vec<u64>> = cut.extents().iter().map(Extent::as_const).collect();
        if let Some(sizes) = sizes {
            let args = std::iter::once(var).chain(starts).collect();
            self.call(LibOp::DynamicSlice { sizes }, args, slice);
            return Ok(slice);
        }
        let rank = cut.rank();
        // The positions as one vector.
        let line = Space::of(&[rank as u64]);
        let mut all = self.function.fields.constant(&line, Scalar::zero(DType::I64));
        for (axis, start) in starts.into_iter().enumerate() {
            let tensor = self.function.tensor(start);
            let fields = &mut self.function.fields;
            let start = fields.convert(DType::I64, tensor);
            let start = fields.read(IndexMap::projection(&line, &[]), start).map_err(internal)?;
            let which = fields.index(&line, 0, DType::I64).map_err(internal)?;
            let here = fields.constant(&line, Scalar::from_i128(DType::I64, axis as i128));
            let here = fields.binary(BinaryOp::Eq, which, here).map_err(internal)?;
            all = fields.select(here, start, all).map_err(internal)?;
        }
        let positions = self.plain_store("positions", all);
        let dims = GatherDims {
            offset_dims: (0..rank).collect(),
            start_index_map: (0..rank).collect(),
            ..GatherDims::default()
        };
        let op = LibOp::gather(dims, cut.extents().to_vec(), false);
        self.call(op, vec![var, positions], slice);
        Ok(slice)
    }

    /// The part of a tensor that an access reads.
    pub(super) fn window_of(&mut self, var: Var, access: &Access) -> Result<Var, TensorError> {
        let Some(window) = access.window() else { return Ok(var) };
        let starts = window.starts.iter().map(|s| self.size_var(s)).collect::<Result<Vec<_>, _>>()?;
        self.slice_at(var, &Space::new(access.extents().iter().cloned()), starts)
    }

    /// The part that an access writes as a part of the whole tensor, which has the neutral element elsewhere.
    pub(super) fn in_window(
        &mut self,
        part: FieldId,
        access: &Access,
        op: AccOp,
    ) -> Result<FieldId, TensorError> {
        let Some(window) = access.window() else { return Ok(part) };
        let space = Space::new(window.whole.iter().cloned());
        let dtype = self.function.fields[part].dtype;
        let neutral = self.function.fields.constant(&space, op.neutral(dtype));
        let whole = self.plain_store("whole", neutral);
        let part = self.plain_store("part", part);
        let mut args = vec![whole, part];
        for start in &window.starts {
            args.push(self.size_var(start)?);
        }
        let result = self.function.var("placed", TensorType::new(dtype, space));
        self.call(LibOp::DynamicUpdateSlice, args, result);
        Ok(self.function.tensor(result))
    }
}
