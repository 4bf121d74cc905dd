//! Rules of operations whose indices are data: slices at run-time offsets, gather, scatter.

use super::window::promotes;
use super::{Checked, Result, compatible, scalar};
use crate::attr::GatherDims;
use crate::diagnostic::codes;
use crate::types::{Dim, TensorType, Type, TypeList};

impl<'a> Checked<'a> {
    /// Checks that the operands from `first` on are one integer scalar for each dimension.
    fn start_indices(&self, first: usize, rank: usize) -> Result<()> {
        let count = self.op.operands.len() - first;
        if count != rank {
            return Err(self
                .error(codes::ARITY, format!("{count} start indices for a tensor of rank {rank}"))
                .expected(format!("{rank} scalars")));
        }
        for i in first..self.op.operands.len() {
            let index = self.operand(i)?;
            let what = format!("start index {}", i - first);
            self.expect_scalar(&what, index)?;
            self.expect_integer(&what, index)?;
            self.expect_element(&what, index, &self.operand(first)?.element)?;
        }
        Ok(())
    }

    pub(super) fn dynamic_slice(&self) -> Result<()> {
        let operand = self.operand(0)?;
        self.start_indices(1, operand.rank())?;
        let sizes = self.op.ints("slice_sizes")?;
        self.expect_len("slice_sizes", sizes.len(), operand.rank(), "dimensions of the operand")?;
        for (i, (size, dim)) in sizes.iter().zip(&operand.shape).enumerate() {
            if *size < 0 || dim.known().is_some_and(|d| *size > d) {
                return Err(self
                    .attr_error(format!(
                        "'slice_sizes' = {sizes:?} takes {size} of dimension {i} of {operand}"
                    ))
                    .expected("sizes that fit the operand"));
            }
        }
        let shape: Vec<Dim> = sizes.iter().map(|s| Dim::Static(*s)).collect();
        self.expect_result(0, &shape, &operand.element)
    }

    pub(super) fn dynamic_update_slice(&self) -> Result<()> {
        let (operand, update) = (self.operand(0)?, self.operand(1)?);
        self.expect_element("the update", update, &operand.element)?;
        let fits = |(u, d): (&Dim, &Dim)| match (u.known(), d.known()) {
            (Some(u), Some(d)) => u <= d,
            _ => true,
        };
        if update.rank() != operand.rank() || !update.shape.iter().zip(&operand.shape).all(fits) {
            return Err(self
                .type_error(format!("the update has type {update}, the operand {operand}"))
                .expected("an update of the same rank that fits the operand"));
        }
        self.start_indices(2, operand.rank())?;
        self.expect_result(0, &operand.shape, &operand.element)
    }

    pub(super) fn gather(&self) -> Result<()> {
        let sizes: Vec<Dim> = self.op.ints("slice_sizes")?.iter().map(|s| Dim::Static(*s)).collect();
        self.gather_with(&sizes)
    }

    pub(super) fn dynamic_gather(&self) -> Result<()> {
        let rank = self.operand(0)?.rank();
        let sizes = self.operand(2)?;
        if sizes.rank() != 1
            || !sizes.shape[0].compatible(Dim::Static(rank as i64))
            || !sizes.element.is_integer()
        {
            return Err(self
                .type_error(format!("the slice sizes have type {sizes}"))
                .expected(format!("tensor<{rank}xi32> or another integer type")));
        }
        self.gather_with(&vec![Dim::Dynamic; rank])
    }

    fn gather_with(&self, sizes: &[Dim]) -> Result<()> {
        let (operand, indices) = (self.operand(0)?, self.operand(1)?);
        let dims = self.op.gather_dims()?;
        self.expect_integer("the start indices", indices)?;
        self.expect_len("slice_sizes", sizes.len(), operand.rank(), "dimensions of the operand")?;
        let batch = self.index_batch(indices, dims.index_vector_dim, &dims.start_index_map)?;
        self.expect_dims("start_index_map", &dims.start_index_map, operand.rank())?;
        self.expect_unique("start_index_map", &dims.start_index_map)?;
        let dropped = self.dropped_dims(operand, dims)?;
        for (i, (size, dim)) in sizes.iter().zip(&operand.shape).enumerate() {
            let (Some(size), known) = (size.known(), dim.known()) else { continue };
            let limit = if dropped.contains(&(i as i64)) { Some(1) } else { known };
            if size < 0 || limit.is_some_and(|l| size > l) {
                return Err(self
                    .attr_error(format!("the slice takes {size} of dimension {i} of {operand}"))
                    .expected(if limit == Some(1) {
                        "0 or 1 of it".into()
                    } else {
                        "a size that fits".to_string()
                    }));
            }
        }
        self.batching_pairs(
            operand,
            indices,
            &dims.operand_batching_dims,
            &dims.start_indices_batching_dims,
        )?;
        let offsets: Vec<Dim> = sizes
            .iter()
            .enumerate()
            .filter(|(i, _)| !dropped.contains(&(*i as i64)))
            .map(|(_, s)| *s)
            .collect();
        let shape = self.interleave("offset_dims", &dims.offset_dims, &offsets, &batch)?;
        self.expect_result(0, &shape, &operand.element)
    }

    /// Operand dimensions that the slice of a gather does not keep.
    fn dropped_dims(&self, operand: &TensorType, dims: &GatherDims) -> Result<Vec<i64>> {
        let dropped = [dims.collapsed_slice_dims.as_slice(), &dims.operand_batching_dims].concat();
        self.expect_dims("collapsed_slice_dims and operand_batching_dims", &dropped, operand.rank())?;
        self.expect_unique("collapsed_slice_dims and operand_batching_dims", &dropped)?;
        Ok(dropped)
    }

    /// Dimensions of indices without the one that holds index vectors, whose length must fit the map.
    fn index_batch(&self, indices: &TensorType, vector_dim: i64, map: &[i64]) -> Result<Vec<Dim>> {
        let rank = indices.rank();
        if vector_dim < 0 || vector_dim as u64 > rank as u64 {
            return Err(self
                .attr_error(format!("'index_vector_dim' = {vector_dim} for indices of type {indices}"))
                .expected(format!("0 to {rank}")));
        }
        let at = vector_dim as usize;
        let length = indices.shape.get(at).copied().unwrap_or(Dim::Static(1));
        if !length.compatible(Dim::Static(map.len() as i64)) {
            return Err(self
                .attr_error(format!(
                    "{} index components are mapped, {indices} has others in dimension {at}",
                    map.len()
                ))
                .expected(format!("size {} in dimension {at}", map.len())));
        }
        Ok(indices.shape.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, d)| *d).collect())
    }

    fn batching_pairs(&self, operand: &TensorType, indices: &TensorType, a: &[i64], b: &[i64]) -> Result<()> {
        if a.len() != b.len() {
            return Err(self.attr_error(format!("the batching dimensions {a:?} and {b:?} are not pairs")));
        }
        self.expect_dims("batching dimensions of the operand", a, operand.rank())?;
        self.expect_dims("batching dimensions of the indices", b, indices.rank())?;
        self.expect_unique("batching dimensions of the indices", b)?;
        for (x, y) in a.iter().zip(b) {
            if !operand.shape[*x as usize].compatible(indices.shape[*y as usize]) {
                return Err(self
                    .type_error(format!("batching dimension {x} of {operand} meets {y} of {indices}"))
                    .expected("equal sizes"));
            }
        }
        Ok(())
    }

    /// A shape with `window` at the positions `at` and `batch` at the others.
    fn interleave(&self, name: &str, at: &[i64], window: &[Dim], batch: &[Dim]) -> Result<Vec<Dim>> {
        let rank = window.len() + batch.len();
        self.expect_len(name, at.len(), window.len(), "dimensions that the window keeps")?;
        self.expect_dims(name, at, rank)?;
        self.expect_unique(name, at)?;
        if !at.is_sorted() {
            return Err(self.attr_error(format!("'{name}' = {at:?} is not sorted")));
        }
        let (mut window, mut batch) = (window.iter(), batch.iter());
        let next = |i: usize| if at.contains(&(i as i64)) { window.next() } else { batch.next() };
        Ok((0..rank).map(next).map(|d| d.copied().unwrap_or(Dim::Dynamic)).collect())
    }

    pub(super) fn scatter(&self) -> Result<()> {
        let count = self.op.results.len();
        if self.op.operands.len() != 2 * count + 1 {
            return Err(self
                .error(codes::ARITY, format!("{} operands for {count} results", self.op.operands.len()))
                .expected(format!("{count} inputs, the indices and {count} updates")));
        }
        let inputs: Vec<&TensorType> = (0..count).map(|i| self.operand(i)).collect::<Result<_>>()?;
        let indices = self.operand(count)?;
        let updates: Vec<&TensorType> =
            (count + 1..2 * count + 1).map(|i| self.operand(i)).collect::<Result<_>>()?;
        let input = inputs[0];
        for i in 0..count {
            self.expect_shape(&format!("input {i}"), inputs[i], &input.shape)?;
            self.expect_shape(&format!("update {i}"), updates[i], &updates[0].shape)?;
        }
        let dims = self.op.scatter_dims()?;
        self.expect_integer("the scatter indices", indices)?;
        let map = &dims.scatter_dims_to_operand_dims;
        let batch = self.index_batch(indices, dims.index_vector_dim, map)?;
        self.expect_dims("scatter_dims_to_operand_dims", map, input.rank())?;
        self.expect_unique("scatter_dims_to_operand_dims", map)?;
        let dropped = [dims.inserted_window_dims.as_slice(), &dims.input_batching_dims].concat();
        self.expect_dims("inserted_window_dims and input_batching_dims", &dropped, input.rank())?;
        self.expect_unique("inserted_window_dims and input_batching_dims", &dropped)?;
        self.batching_pairs(input, indices, &dims.input_batching_dims, &dims.scatter_indices_batching_dims)?;
        self.update_shape(input, updates[0], &dims.update_window_dims, &dropped, &batch)?;
        self.scatter_body(&inputs, &updates)
    }

    /// Checks that the updates are a batch of windows, each within the input.
    fn update_shape(
        &self,
        input: &TensorType,
        update: &TensorType,
        window_dims: &[i64],
        dropped: &[i64],
        batch: &[Dim],
    ) -> Result<()> {
        let bounds: Vec<Dim> =
            (0..input.rank()).filter(|i| !dropped.contains(&(*i as i64))).map(|i| input.shape[i]).collect();
        self.expect_dims("update_window_dims", window_dims, update.rank())?;
        let whole = self.interleave("update_window_dims", window_dims, &bounds, batch)?;
        let mut wanted = whole.clone();
        for dim in window_dims {
            let at = *dim as usize;
            // A window may be smaller than the input.
            if let (Some(Dim::Static(size)), Some(found)) =
                (whole.get(at), update.shape.get(at).and_then(|d| d.known()))
                && found <= *size
            {
                wanted[at] = Dim::Static(found);
            }
        }
        if compatible(&update.shape, &wanted) {
            return Ok(());
        }
        Err(self.type_error(format!("the updates have type {update}")).expected(format!(
            "{}, or smaller windows in dimensions {window_dims:?}",
            TensorType::of(whole, update.element.clone())
        )))
    }

    /// The body combines the old elements with the updates, both promoted to its types.
    fn scatter_body(&self, inputs: &[&TensorType], updates: &[&TensorType]) -> Result<()> {
        let region = &self.op.regions[0];
        let count = inputs.len();
        let params: Vec<Type> = region.params.iter().map(|p| p.1.clone()).collect();
        let plain: Vec<Type> = inputs.iter().map(|t| scalar(&t.element)).collect();
        let wanted = [plain.clone(), plain].concat();
        let promoted = params.len() == 2 * count
            && (0..count).all(|i| {
                let (Some(a), Some(b)) = (params[i].as_tensor(), params[count + i].as_tensor()) else {
                    return false;
                };
                a == b
                    && a.rank() == 0
                    && promotes(&inputs[i].element, &a.element)
                    && promotes(&updates[i].element, &a.element)
            });
        if !promoted {
            self.expect_params(region, &wanted)?;
            // Its arguments fit the inputs: the updates do not.
            let list = updates.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
            return Err(self
                .type_error(format!("the updates have type {list}"))
                .expected(format!("element types that ({}) hold", TypeList(&params[count..]))));
        }
        self.expect_returned(region, &params[..count])?;
        for (i, (input, ty)) in inputs.iter().zip(&params).enumerate() {
            let element = ty.as_tensor().map_or(&input.element, |t| &t.element);
            self.expect_result(i, &input.shape, element)?;
        }
        Ok(())
    }
}
