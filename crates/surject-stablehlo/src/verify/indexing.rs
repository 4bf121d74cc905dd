//! Rules of operations whose indices are data: slices at run-time offsets, gather, scatter.

use super::infer::Want;
use super::shape::{Ext, extents, tensor};
use super::window::promotes;
use super::{Checked, Result, scalar};
use crate::attr::{GatherDims, ScatterDims};
use crate::diagnostic::codes;
use crate::types::{ElementType, TensorType, Type, TypeList};

/// Names of the lists of `gather` or `scatter`, for messages.
struct Batching<'a> {
    operand_name: &'static str,
    operand: &'a [i64],
    indices_name: &'static str,
    indices: &'a [i64],
    /// Constraints: sorted, range in the operand, unique and range in the indices, without the vector, pairs, sizes.
    rules: [u8; 7],
}

impl<'a> Checked<'a> {
    /// Checks that the operands from `first` on are one integer scalar for each dimension.
    fn start_indices(&self, first: usize, rank: usize, count_rule: u8, type_rule: u8) -> Result<()> {
        let count = self.op.operands.len() - first;
        if count != rank {
            return Err(self
                .error(codes::ARITY, format!("{count} start indices for a tensor of rank {rank}"))
                .expected(format!("{rank} scalars"))
                .constraint(count_rule));
        }
        for i in first..self.op.operands.len() {
            let index = self.operand(i)?;
            let what = format!("start index {}", i - first);
            self.scalar(0, &what, index)?;
            self.integer(&what, index)?;
            self.same_element(type_rule, &what, index, &self.operand(first)?.element)?;
        }
        Ok(())
    }

    pub(super) fn dynamic_slice(&self) -> Result<Vec<Want>> {
        let operand = self.operand(0)?;
        self.start_indices(1, operand.rank(), 2, 3)?;
        let sizes = self.op.ints("slice_sizes")?;
        self.length(2, "slice_sizes", sizes.len(), operand.rank(), "dimensions of the operand")?;
        self.sizes_fit(4, operand, sizes)?;
        let shape: Vec<Ext> = sizes.iter().map(|s| Ext::known(*s)).collect();
        Ok(vec![Want::tensor(shape, &operand.element, 5, 1)])
    }

    /// Checks that a slice of the sizes fits an operand of as many dimensions.
    fn sizes_fit(&self, rule: u8, operand: &TensorType, sizes: &[i64]) -> Result<()> {
        for (i, (size, ext)) in sizes.iter().zip(extents(operand)).enumerate() {
            if *size < 0 || ext.limit().is_some_and(|d| *size > d) {
                return Err(self
                    .attr_error(format!(
                        "'slice_sizes' = {sizes:?} takes {size} of dimension {i} of {operand}"
                    ))
                    .expected("sizes of 0 or more that fit the operand")
                    .constraint(rule));
            }
        }
        Ok(())
    }

    pub(super) fn dynamic_update_slice(&self) -> Result<Vec<Want>> {
        let (operand, update) = (self.operand(0)?, self.operand(1)?);
        self.same_element(2, "the update", update, &operand.element)?;
        let wrong = |rule: u8, expected: &str| {
            Err(self
                .type_error(format!("the update has type {update}, the operand {operand}"))
                .expected(expected)
                .constraint(rule))
        };
        if update.rank() != operand.rank() {
            return wrong(3, "an update of the same rank");
        }
        self.start_indices(2, operand.rank(), 4, 5)?;
        let fit = |(u, d): (Ext, Ext)| match (u.size, d.limit()) {
            (Some(u), Some(d)) => u <= d,
            _ => true,
        };
        if !extents(update).into_iter().zip(extents(operand)).all(fit) {
            return wrong(6, "an update that fits the operand");
        }
        Ok(vec![Want::tensor(extents(operand), &operand.element, 1, 1)])
    }

    pub(super) fn gather(&self) -> Result<Vec<Want>> {
        let sizes = self.op.ints("slice_sizes")?;
        self.gather_with(Some(sizes), false)
    }

    pub(super) fn dynamic_gather(&self) -> Result<Vec<Want>> {
        let rank = self.operand(0)?.rank();
        self.integer_vector(11, "operand 2", self.operand(2)?, Some(rank))?;
        let sizes = self.constant_operand(2);
        self.gather_with(sizes.as_deref(), true)
    }

    fn gather_with(&self, sizes: Option<&[i64]>, dynamic: bool) -> Result<Vec<Want>> {
        let rule = |gather: u8, dynamic_gather: u8| if dynamic { dynamic_gather } else { gather };
        let (operand, indices) = (self.operand(0)?, self.operand(1)?);
        let dims = self.op.gather_dims()?;
        self.integer("the start indices", indices)?;
        let rank = operand.rank();
        let GatherDims { offset_dims, collapsed_slice_dims, operand_batching_dims, .. } = dims;
        if offset_dims.len() + collapsed_slice_dims.len() + operand_batching_dims.len() != rank {
            return Err(self
                .attr_error(format!(
                    "{} offset, {} collapsed and {} batching dimensions for {operand}",
                    offset_dims.len(),
                    collapsed_slice_dims.len(),
                    operand_batching_dims.len()
                ))
                .expected(format!("{rank} of them together"))
                .constraint(1));
        }
        let batch = self.index_batch(indices, dims.index_vector_dim, &dims.start_index_map, 2, 3)?;
        self.unique(4, "offset_dims", offset_dims)?;
        self.sorted(4, "offset_dims", offset_dims)?;
        let whole = batch.len() + offset_dims.len();
        self.dims(5, "offset_dims", offset_dims, whole)?;
        let dropped = [collapsed_slice_dims.as_slice(), operand_batching_dims].concat();
        self.unique(6, "collapsed_slice_dims and operand_batching_dims", &dropped)?;
        self.sorted(rule(7, 6), "collapsed_slice_dims", collapsed_slice_dims)?;
        self.dims(rule(8, 7), "collapsed_slice_dims", collapsed_slice_dims, rank)?;
        self.batching(
            operand,
            indices,
            dims.index_vector_dim,
            &Batching {
                operand_name: "operand_batching_dims",
                operand: operand_batching_dims,
                indices_name: "start_indices_batching_dims",
                indices: &dims.start_indices_batching_dims,
                rules: if dynamic { [0; 7] } else { [10, 11, 13, 14, 15, 16, 17] },
            },
        )?;
        let mapped = [dims.start_index_map.as_slice(), operand_batching_dims].concat();
        self.unique(rule(18, 9), "start_index_map and operand_batching_dims", &mapped)?;
        self.dims(rule(19, 10), "start_index_map", &dims.start_index_map, rank)?;
        if let Some(sizes) = sizes {
            self.length(rule(20, 11), "slice_sizes", sizes.len(), rank, "dimensions of the operand")?;
            self.sizes_fit(rule(21, 12), operand, sizes)?;
            for (list, number) in [(collapsed_slice_dims, rule(9, 8)), (operand_batching_dims, rule(12, 0))] {
                if let Some(bad) = list.iter().find(|d| sizes[**d as usize] > 1) {
                    return Err(self
                        .attr_error(format!("the slice takes {} of dimension {bad}", sizes[*bad as usize]))
                        .expected("0 or 1 of dimensions that the result does not have")
                        .constraint(number));
                }
            }
        }
        let size = |i: usize| sizes.map_or(Ext::ANY, |s| Ext::known(s[i]));
        let offsets: Vec<Ext> = (0..rank).filter(|i| !dropped.contains(&(*i as i64))).map(size).collect();
        let shape = interleave(offset_dims, &offsets, &batch);
        Ok(vec![Want::tensor(shape, &operand.element, rule(22, 13), rule(23, 14))])
    }

    /// Extents of indices without the one that holds index vectors, whose length must fit the map.
    fn index_batch(
        &self,
        indices: &TensorType,
        vector_dim: i64,
        map: &[i64],
        range_rule: u8,
        length_rule: u8,
    ) -> Result<Vec<Ext>> {
        let rank = indices.rank();
        if vector_dim < 0 || vector_dim as u64 > rank as u64 {
            return Err(self
                .attr_error(format!("'index_vector_dim' = {vector_dim} for indices of type {indices}"))
                .expected(format!("0 to {rank}"))
                .constraint(range_rule));
        }
        let at = vector_dim as usize;
        let all = extents(indices);
        let length = all.get(at).copied().unwrap_or(Ext::known(1));
        if !length.fits(Ext::known(map.len() as i64)) {
            return Err(self
                .attr_error(format!(
                    "{} index components are mapped, {indices} has others in dimension {at}",
                    map.len()
                ))
                .expected(format!("size {} in dimension {at}", map.len()))
                .constraint(length_rule));
        }
        Ok(all.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, d)| *d).collect())
    }

    fn batching(
        &self,
        operand: &TensorType,
        indices: &TensorType,
        vector_dim: i64,
        b: &Batching<'_>,
    ) -> Result<()> {
        let [sorted, range, unique, indices_range, vector, pairs, sizes] = b.rules;
        self.sorted(sorted, b.operand_name, b.operand)?;
        self.dims(range, b.operand_name, b.operand, operand.rank())?;
        self.unique(unique, b.indices_name, b.indices)?;
        self.dims(indices_range, b.indices_name, b.indices, indices.rank())?;
        if b.indices.contains(&vector_dim) {
            return Err(self
                .attr_error(format!("'{}' = {:?} holds 'index_vector_dim'", b.indices_name, b.indices))
                .constraint(vector));
        }
        if b.operand.len() != b.indices.len() {
            return Err(self
                .attr_error(format!(
                    "the batching dimensions {:?} and {:?} are not pairs",
                    b.operand, b.indices
                ))
                .constraint(pairs));
        }
        let (from, at) = (extents(operand), extents(indices));
        for (x, y) in b.operand.iter().zip(b.indices) {
            if !from[*x as usize].fits(at[*y as usize]) {
                return Err(self
                    .type_error(format!("batching dimension {x} of {operand} meets {y} of {indices}"))
                    .expected("equal sizes")
                    .constraint(sizes));
            }
        }
        Ok(())
    }

    pub(super) fn scatter(&self) -> Result<Vec<Want>> {
        let total = self.op.operands.len();
        let count = total / 2;
        if total.is_multiple_of(2) || count == 0 || (self.counts_results() && self.op.results.len() != count)
        {
            return Err(self
                .error(codes::ARITY, format!("{total} operands for {} results", self.op.results.len()))
                .expected("as many inputs as updates and results, and the indices")
                .constraint(5));
        }
        let (inputs, indices) = (self.operands(0..count)?, self.operand(count)?);
        let updates = self.operands(count + 1..total)?;
        let (input, update) = (inputs[0], updates[0]);
        let rank = input.rank();
        for i in 0..count {
            self.same_shape(1, format_args!("input {i}"), inputs[i], &extents(input))?;
            self.same_shape(3, format_args!("update {i}"), updates[i], &extents(update))?;
        }
        let dims = self.op.scatter_dims()?;
        self.integer("the scatter indices", indices)?;
        let ScatterDims { update_window_dims, inserted_window_dims, input_batching_dims, .. } = dims;
        if update_window_dims.len() + inserted_window_dims.len() + input_batching_dims.len() != rank {
            return Err(self
                .attr_error(format!(
                    "{} window, {} inserted and {} batching dimensions for {input}",
                    update_window_dims.len(),
                    inserted_window_dims.len(),
                    input_batching_dims.len()
                ))
                .expected(format!("{rank} of them together"))
                .constraint(2));
        }
        let map = &dims.scatter_dims_to_operand_dims;
        let batch = self.index_batch(indices, dims.index_vector_dim, map, 22, 19)?;
        self.unique(7, "update_window_dims", update_window_dims)?;
        self.sorted(7, "update_window_dims", update_window_dims)?;
        self.dims(8, "update_window_dims", update_window_dims, update.rank())?;
        let dropped = [inserted_window_dims.as_slice(), input_batching_dims].concat();
        self.unique(9, "inserted_window_dims and input_batching_dims", &dropped)?;
        self.sorted(10, "inserted_window_dims", inserted_window_dims)?;
        self.dims(11, "inserted_window_dims", inserted_window_dims, rank)?;
        self.batching(
            input,
            indices,
            dims.index_vector_dim,
            &Batching {
                operand_name: "input_batching_dims",
                operand: input_batching_dims,
                indices_name: "scatter_indices_batching_dims",
                indices: &dims.scatter_indices_batching_dims,
                rules: [12, 13, 14, 15, 16, 17, 18],
            },
        )?;
        let mapped = [map.as_slice(), input_batching_dims].concat();
        self.unique(20, "scatter_dims_to_operand_dims and input_batching_dims", &mapped)?;
        self.dims(21, "scatter_dims_to_operand_dims", map, rank)?;
        self.update_shape(input, update, update_window_dims, &dropped, &batch)?;
        let elements = self.scatter_body(&inputs, &updates)?;
        let wants = inputs.iter().zip(&elements);
        Ok(wants.map(|(input, e)| Want::tensor(extents(input), e, 24, 25)).collect())
    }

    /// Checks that the updates are a batch of windows, each within the input.
    fn update_shape(
        &self,
        input: &TensorType,
        update: &TensorType,
        window_dims: &[i64],
        dropped: &[i64],
        batch: &[Ext],
    ) -> Result<()> {
        let all = extents(input);
        let bounds: Vec<Ext> =
            (0..input.rank()).filter(|i| !dropped.contains(&(*i as i64))).map(|i| all[i]).collect();
        let whole = interleave(window_dims, &bounds, batch);
        let found = extents(update);
        let fit = found.len() == whole.len()
            && found.iter().zip(&whole).enumerate().all(|(i, (found, whole))| {
                // A window may be smaller than the input.
                let smaller = window_dims.contains(&(i as i64))
                    && match (found.size, whole.limit()) {
                        (Some(found), Some(whole)) => found <= whole,
                        _ => true,
                    };
                smaller || (!window_dims.contains(&(i as i64)) && found.fits(*whole))
            });
        if fit {
            return Ok(());
        }
        let whole = tensor(&whole, update.element.clone());
        Err(self
            .type_error(format!("the updates have type {update}"))
            .expected(format!("{whole}, or smaller windows in dimensions {window_dims:?}"))
            .constraint(4))
    }

    /// The body combines the old elements with the updates, both promoted to its types, which are given back.
    fn scatter_body(&self, inputs: &[&TensorType], updates: &[&TensorType]) -> Result<Vec<ElementType>> {
        let region = &self.op.regions[0];
        let count = inputs.len();
        let params: Vec<Type> = region.params.iter().map(|p| p.1.clone()).collect();
        let plain: Vec<Type> = inputs.iter().map(|t| scalar(&t.element)).collect();
        let wanted = [plain.clone(), plain].concat();
        let mut elements = Vec::new();
        for i in 0..count {
            let pair = (params.get(i), params.get(count + i));
            let (Some(Type::Tensor(a)), Some(Type::Tensor(b))) = pair else {
                self.params(23, region, &wanted)?;
                continue;
            };
            if params.len() != 2 * count
                || a != b
                || a.rank() != 0
                || !promotes(&inputs[i].element, &a.element)
            {
                self.params(23, region, &wanted)?;
            }
            if !promotes(&updates[i].element, &a.element) {
                // Its arguments fit the inputs: the updates do not.
                let list = updates.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
                return Err(self
                    .type_error(format!("the updates have type {list}"))
                    .expected(format!("element types that ({}) hold", TypeList(&params[count..])))
                    .constraint(6));
            }
            elements.push(a.element.clone());
        }
        self.returns(23, region, &params[..count.min(params.len())])?;
        Ok(elements)
    }
}

/// A shape with `window` at the positions `at` and `batch` at the others.
fn interleave(at: &[i64], window: &[Ext], batch: &[Ext]) -> Vec<Ext> {
    let rank = at.len() + batch.len();
    let (mut window, mut batch) = (window.iter(), batch.iter());
    let next = |i: usize| if at.contains(&(i as i64)) { window.next() } else { batch.next() };
    (0..rank).map(next).map(|d| d.copied().unwrap_or(Ext::ANY)).collect()
}
