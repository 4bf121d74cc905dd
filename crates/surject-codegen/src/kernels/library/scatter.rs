//! Scatters. Where no two updates can meet, every update is a point; else every element of the result is one, which looks
//! for its updates in their order: no atomics, and the same result in every run.

use super::moves::{all, batch_axis, start_index};
use super::points::{Maker, elements};
use super::{Kernels, Lowered};
use crate::kernels::expression::Tensor;
use surject_ir::{BinaryOp, Region, ScatterDims, Var};
use surject_kernel::{Access, Place, Value};

/// The operands and the axes of a scatter.
struct Scatter<'a> {
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

impl Scatter<'_> {
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
            let bounds = (-self.window(axis), self.shape[axis]);
            position[axis] = start_index(maker, self.indices, batch, (dims.index_vector_dim, d), bounds)?;
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
        if unique { self.scatter_updates(&scatter) } else { self.scatter_elements(&scatter) }
    }

    /// Copies the inputs, and then joins every update with the element that it names alone.
    fn scatter_updates(&mut self, scatter: &Scatter<'_>) -> Lowered<()> {
        let targets = self.call.targets;
        self.kernel(elements(&scatter.shape)?, |maker, point| {
            scatter.inputs.iter().zip(targets).try_for_each(|(&input, &target)| {
                let value = maker.read(Tensor::Var(input), point)?;
                maker.write(Tensor::Var(target), point, value)
            })
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
                    let place = Place { offset: Some(number), ..Place::new(mem, 0) };
                    let ty = surject_kernel::Type::scalar(maker.call.function.ty(target).dtype);
                    arguments.push(maker.b.load(place.clone(), ty));
                    places.push(place);
                }
                for &update in scatter.updates {
                    arguments.push(maker.read(Tensor::Var(update), point)?);
                }
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

    /// Every element of the result joins the updates that name it, in their order.
    fn scatter_elements(&mut self, scatter: &Scatter<'_>) -> Lowered<()> {
        let targets = self.call.targets;
        let batch_shape: Vec<i64> = scatter.batch_dims.iter().map(|&d| scatter.update_shape[d]).collect();
        let batches = elements(&batch_shape)?;
        let has_updates = elements(&scatter.update_shape)? > 0;
        self.kernel(elements(&scatter.shape)?, |maker, point| {
            let at = maker.unravel(point, &scatter.shape);
            let mut values = Vec::new();
            for &input in scatter.inputs {
                values.push(maker.read(Tensor::Var(input), point)?);
            }
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
                        for &update in scatter.updates {
                            arguments.push(maker.read(Tensor::Var(update), element)?);
                        }
                        maker.apply(scatter.join, &arguments)
                    };
                    match all(maker, inside) {
                        Some(inside) => maker.when(inside, old, join),
                        None => join(maker),
                    }
                })?;
            }
            targets
                .iter()
                .zip(values)
                .try_for_each(|(&target, value)| maker.write(Tensor::Var(target), point, value))
        })
    }
}
