//! Scatters. Where no two updates can meet, every update is a point; else every element of the result is one, which joins
//! its updates in their order: no atomics, and the same result in every run. Few updates it looks for among all; many are
//! sorted by their windows first, where two windows are the same or have no element in common. A machine of few tasks joins them
//! in their order ([`in_order`]).

mod copies;
mod in_order;
mod lines;

use super::moves::{all, batch_axis, start_index};
use super::points::{Maker, elements};
use super::sort::Lines;
use super::{Kernels, Lowered};
use crate::kernels::expression::Tensor;
use surject_index::Space;
use surject_ir::{BinaryOp, DType, Region, ScatterDims, TensorType, Var};
use surject_kernel::{Access, Place, Value};

/// The operands and the axes of a scatter.
pub(super) struct Scatter<'a> {
    dims: &'a ScatterDims,
    inputs: &'a [Var],
    indices: Tensor,
    updates: &'a [Var],
    join: &'a Region,
    /// The sizes of an input.
    shape: Vec<i64>,
    /// The sizes of an update.
    update_shape: Vec<i64>,
    /// The axes of an update that are no window.
    batch_dims: Vec<usize>,
    /// The axes of an input that a window has.
    window_dims: Vec<usize>,
}

/// Updates that are sorted: fewer are found sooner without.
const MANY: i64 = 64;

impl Scatter<'_> {
    /// How many windows are updated.
    fn batches(&self) -> Lowered<i64> {
        elements(&self.batch_dims.iter().map(|&d| self.update_shape[d]).collect::<Vec<i64>>())
    }

    /// The places where a window can be, as a box with sizes of the input where windows differ and 1 elsewhere; `None`
    /// where two windows may overlap in parts.
    fn places(&self) -> Option<Vec<i64>> {
        let indexed = |axis: usize| {
            let dims = self.dims;
            dims.scatter_dims_to_operand_dims.contains(&axis) || dims.input_batching_dims.contains(&axis)
        };
        // A window is one place along an axis that indices name, and all of another axis.
        let place = |(axis, &size): (usize, &i64)| match (indexed(axis), self.window(axis)) {
            (true, 1) => Some(size),
            (false, window) if window == size => Some(1),
            _ => None,
        };
        self.shape.iter().enumerate().map(place).collect()
    }

    /// The size of the window along an axis of an input.
    fn window(&self, axis: usize) -> i64 {
        let at = self.window_dims.iter().position(|&d| d == axis);
        at.map_or(1, |i| self.update_shape[self.dims.update_window_dims[i]])
    }

    /// Where the window of a batch position begins. What lies outside stays outside, however far.
    fn start(&self, maker: &mut Maker<'_>, batch: &[Value]) -> Lowered<Vec<Value>> {
        let dims = self.dims;
        let zero = maker.int(0);
        let mut position = vec![zero; self.shape.len()];
        for (d, &axis) in dims.scatter_dims_to_operand_dims.iter().enumerate() {
            let (low, high, along) = (-self.window(axis), self.shape[axis], dims.index_vector_dim);
            position[axis] = start_index(maker, self.indices, batch, along, d, low, high)?;
        }
        for (&axis, &d) in dims.input_batching_dims.iter().zip(&dims.scatter_indices_batching_dims) {
            position[axis] = batch[batch_axis(d, dims.index_vector_dim)];
        }
        Ok(position)
    }
}

impl Kernels<'_> {
    pub(super) fn scatter(&mut self, dims: &ScatterDims, unique: bool) -> Lowered<()> {
        let n = self.call.args.len() / 2;
        let (inputs, updates) = (&self.call.args[..n], &self.call.args[n + 1..]);
        let indices = Tensor::Var(self.call.args[n]);
        let function = self.call.function;
        let sizes = |var: Var| {
            let sizes = function.ty(var).space.sizes();
            sizes.ok_or_else(|| crate::CodegenError::unsupported("a scatter of symbolic sizes"))
        };
        let (shape, update_shape) = (sizes(inputs[0])?, sizes(updates[0])?);
        let batch_dims = (0..update_shape.len()).filter(|d| !dims.update_window_dims.contains(d)).collect();
        let window_dims = (0..shape.len())
            .filter(|d| !dims.inserted_window_dims.contains(d) && !dims.input_batching_dims.contains(d))
            .collect();
        let join = &self.call.regions[0];
        let scatter =
            Scatter { dims, inputs, indices, updates, join, shape, update_shape, batch_dims, window_dims };
        match scatter.places() {
            _ if self.has_tasks() => self.scatter_in_order(&scatter),
            _ if unique => self.scatter_updates(&scatter),
            Some(places) if scatter.batches()? >= MANY => self.scatter_sorted(&scatter, &places),
            _ => self.scatter_elements(&scatter),
        }
    }

    /// Copies the inputs, and then joins every update with the element that it names alone.
    fn scatter_updates(&mut self, scatter: &Scatter<'_>) -> Lowered<()> {
        let targets = self.call.targets;
        self.kernel(elements(&scatter.shape)?, |maker, point| {
            let values = maker.read_all(scatter.inputs, point)?;
            maker.write_all(targets, point, &values)
        })?;
        if elements(&scatter.shape)? == 0 {
            return Ok(());
        }
        self.kernel(elements(&scatter.update_shape)?, |maker, point| {
            let at = maker.unravel(point, &scatter.update_shape);
            let batch: Vec<Value> = scatter.batch_dims.iter().map(|&d| at[d]).collect();
            let mut position = scatter.start(maker, &batch)?;
            for (&axis, &d) in scatter.window_dims.iter().zip(&scatter.dims.update_window_dims) {
                position[axis] = maker.add(position[axis], at[d]);
            }
            let zero = maker.int(0);
            let mut inside = Vec::new();
            for (&p, &size) in position.iter().zip(&scatter.shape) {
                let size = maker.int(size);
                inside.push(maker.within(p, zero, size));
            }
            let number = maker.ravel(&position, &scatter.shape);
            let inside = all(maker, inside);
            let join = |maker: &mut Maker<'_>| -> Lowered<Vec<Value>> {
                let mut places = Vec::new();
                let mut arguments = Vec::new();
                for &target in targets {
                    let mem = maker.memory(Tensor::Var(target), Access::ReadWrite)?;
                    for part in maker.parts(target) {
                        let number = maker.part(number, part);
                        let place = Place { offset: Some(number), ..Place::new(mem, 0) };
                        arguments.push(maker.b.load(place.clone(), surject_kernel::Type::scalar(part.dtype)));
                        places.push(place);
                    }
                }
                arguments.extend(maker.read_all(scatter.updates, point)?);
                let joined = maker.apply(scatter.join, &arguments)?;
                places.into_iter().zip(joined).for_each(|(place, value)| maker.b.store(place, value));
                Ok(Vec::new())
            };
            match inside {
                Some(inside) => maker.when(inside, &[], join).map(|_| ()),
                None => join(maker).map(|_| ()),
            }
        })
    }

    /// Sorts the updates by the places of their windows; then every element of the result joins those of its place.
    /// It is long because its three kernels share what they are made of.
    fn scatter_sorted(&mut self, scatter: &Scatter<'_>, places: &[i64]) -> Lowered<()> {
        let (batches, count) = (scatter.batches()?, elements(places)?);
        if elements(&scatter.shape)? == 0 {
            return Ok(());
        }
        let narrow = i32::try_from(count.max(batches)).is_ok();
        let integer = if narrow { DType::I32 } else { DType::I64 };
        let mut numbers = |size: i64| {
            let size = u64::try_from(size).map_err(|_| crate::CodegenError::overflow("a scatter"))?;
            Ok::<Tensor, crate::CodegenError>(self.temporary(TensorType::new(integer, Space::of(&[size]))))
        };
        let given = [numbers(batches)?, numbers(batches)?];
        let sorted = [numbers(batches)?, numbers(batches)?];
        let between = [numbers(batches)?, numbers(batches)?];
        let firsts = numbers(count + 1)?;
        let batch_shape: Vec<i64> = scatter.batch_dims.iter().map(|&d| scatter.update_shape[d]).collect();
        // The place of every update; behind all places where it has none.
        self.kernel(batches, |maker, number| {
            let batch = maker.unravel(number, &batch_shape);
            let start = scatter.start(maker, &batch)?;
            let (zero, nowhere) = (maker.int(0), maker.int(count));
            let mut inside = Vec::new();
            for (axis, &size) in scatter.shape.iter().enumerate() {
                let last = maker.int(size - scatter.window(axis) + 1);
                inside.push(maker.within(start[axis], zero, last));
            }
            let mut place = maker.ravel(&start, places);
            if let Some(inside) = all(maker, inside) {
                place = maker.b.select(inside, place, nowhere);
            }
            for (tensor, value) in given.into_iter().zip([place, number]) {
                let value = maker.b.convert(value, integer);
                maker.write(tensor, number, value)?;
            }
            Ok(())
        })?;
        let lines = Lines { count: batches, step: 1, total: batches };
        self.sort_lines(&lines, [&given, &sorted, &between], &|maker, places| {
            Ok(maker.compare(BinaryOp::Lt, places[0], places[1]))
        })?;
        // The first of the sorted updates that is not before a place.
        self.kernel(count + 1, |maker, place| {
            let own = maker.b.convert(place, integer);
            let bounds = [maker.int(0), maker.int(batches)];
            let first = maker.search(batches, bounds, |maker, probe| {
                let other = maker.read(sorted[0], probe)?;
                Ok(maker.compare(BinaryOp::Lt, other, own))
            })?;
            let first = maker.b.convert(first, integer);
            maker.write(firsts, place, first)
        })?;
        let targets = self.call.targets;
        self.kernel(elements(&scatter.shape)?, |maker, point| {
            let at = maker.unravel(point, &scatter.shape);
            let values = maker.read_all(scatter.inputs, point)?;
            let zero = maker.int(0);
            let own = at.iter().zip(places).map(|(&at, &size)| if size == 1 { zero } else { at });
            let own: Vec<Value> = own.collect();
            let place = maker.ravel(&own, places);
            let one = maker.int(1);
            let next = maker.add(place, one);
            let (from, to) = (maker.read(firsts, place)?, maker.read(firsts, next)?);
            let values = maker.fold_between([from, to], &values, |maker, turn, old| {
                let number = maker.read(sorted[1], turn)?;
                let number = maker.position_of(number);
                let batch = maker.unravel(number, &batch_shape);
                let mut element = vec![number; scatter.update_shape.len()];
                scatter.batch_dims.iter().zip(&batch).for_each(|(&d, &b)| element[d] = b);
                for (&axis, &d) in scatter.window_dims.iter().zip(&scatter.dims.update_window_dims) {
                    element[d] = if places[axis] == 1 { at[axis] } else { zero };
                }
                let element = maker.ravel(&element, &scatter.update_shape);
                let mut arguments = old.to_vec();
                arguments.extend(maker.read_all(scatter.updates, element)?);
                maker.apply(scatter.join, &arguments)
            })?;
            maker.write_all(targets, point, &values)
        })
    }

    /// Every element of the result joins the updates that name it, in their order.
    fn scatter_elements(&mut self, scatter: &Scatter<'_>) -> Lowered<()> {
        let targets = self.call.targets;
        let batch_shape: Vec<i64> = scatter.batch_dims.iter().map(|&d| scatter.update_shape[d]).collect();
        let batches = elements(&batch_shape)?;
        let has_updates = elements(&scatter.update_shape)? > 0;
        self.kernel(elements(&scatter.shape)?, |maker, point| {
            let at = maker.unravel(point, &scatter.shape);
            let mut values = maker.read_all(scatter.inputs, point)?;
            if has_updates {
                values = maker.fold(batches, &values, |maker, number, old| {
                    let batch = maker.unravel(number, &batch_shape);
                    let start = scatter.start(maker, &batch)?;
                    // The element of this update that lies here.
                    let mut inside = Vec::new();
                    let mut element = vec![number; scatter.update_shape.len()];
                    scatter.batch_dims.iter().zip(&batch).for_each(|(&d, &b)| element[d] = b);
                    let zero = maker.int(0);
                    for (axis, (&here, &first)) in at.iter().zip(&start).enumerate() {
                        let within = scatter.window_dims.iter().position(|&d| d == axis);
                        match within {
                            Some(i) => {
                                let d = scatter.dims.update_window_dims[i];
                                element[d] = maker.sub(here, first);
                                let size = maker.int(scatter.update_shape[d]);
                                inside.push(maker.within(element[d], zero, size));
                            }
                            None => inside.push(maker.compare(BinaryOp::Eq, here, first)),
                        }
                    }
                    let element = maker.ravel(&element, &scatter.update_shape);
                    let join = |maker: &mut Maker<'_>| {
                        let mut arguments = old.to_vec();
                        arguments.extend(maker.read_all(scatter.updates, element)?);
                        maker.apply(scatter.join, &arguments)
                    };
                    match all(maker, inside) {
                        Some(inside) => maker.when(inside, old, join),
                        None => join(maker),
                    }
                })?;
            }
            maker.write_all(targets, point, &values)
        })
    }
}
