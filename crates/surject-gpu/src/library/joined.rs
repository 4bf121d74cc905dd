//! Reductions and scatters whose elements a region joins, in the order that the program says: results are the same in every
//! run, whatever the region is.
//!
//! * `reduce`: a thread for each element of the results goes through what it joins;
//! * `scatter`: a thread for each element of the window goes through the updates. Positions must not move windows along
//!   their own axes, or two threads could meet in one element.
//!
//! Where one thread would have too much to do, there is no kernel: the host is faster.

use super::region::region;
use super::{Call, Points, Shape, param, strides, sum};
use surject_ir::{DType, ScatterDims};
use surject_kernel::{Access, Affine, Builder, Guard, Kernel, LoopKind, Place, Type, Value};

/// The most elements that a thread goes through where there are few threads, and where there are many.
const MOST: [i64; 2] = [2048, 1 << 16];
/// Many threads.
const MANY: i64 = 32;

/// Is so much work for so many threads worth a kernel?
fn is_worth(serial: i64, threads: i64) -> bool {
    serial <= MOST[usize::from(threads >= MANY)]
}

fn product(sizes: &[i64]) -> Option<i64> {
    sizes.iter().try_fold(1i64, |n, &size| n.checked_mul(size))
}

/// What stands inside of loops: it gets their variables and what they carry, and gives what they carry on.
type Body<'a> = dyn FnMut(&mut Points, &[Affine], Vec<Value>) -> Option<Vec<Value>> + 'a;

/// Serial loops over these sizes, the first one outermost.
fn nest(
    points: &mut Points,
    sizes: &[i64],
    variables: &mut Vec<Affine>,
    carried: Vec<Value>,
    body: &mut Body<'_>,
) -> Option<Vec<Value>> {
    let Some((&size, inner)) = sizes.split_first() else { return body(points, variables, carried) };
    let (variable, carried) = points.b.open_for(0, size, 1, LoopKind::Serial, &carried);
    variables.push(variable.into());
    let next = nest(points, inner, variables, carried, body)?;
    variables.pop();
    Some(points.b.close_for(&next))
}

/// `results[i] = region(… region(init, operands[i, 0]) …, operands[i, n])`.
pub fn reduce(call: &Call<'_>, axes: &[usize], name: &str) -> Option<Kernel> {
    let count = call.results.len();
    let (operands, inits) = call.args.split_at_checked(count)?;
    let first = operands.first()?;
    if inits.len() != count || call.args.iter().any(|a| a.dtype.is_complex()) {
        return None;
    }
    let reduced: Vec<i64> = axes.iter().map(|&a| first.sizes.get(a).copied()).collect::<Option<_>>()?;
    let result = call.results.first()?;
    if !is_worth(product(&reduced)?, product(&result.sizes)?) {
        return None;
    }
    let mut b = Builder::new(name);
    let mut params = |prefix: &str, shapes: &[Shape], access: Access| {
        let all = shapes.iter().enumerate();
        all.map(|(i, shape)| param(&mut b, &format!("{prefix}{i}"), shape, access))
            .collect::<Option<Vec<_>>>()
    };
    let from = params("operand", operands, Access::Read)?;
    let start = params("init", inits, Access::Read)?;
    let to = params("out", call.results, Access::Write)?;
    let mut points = Points::of(b, result)?;
    let carried: Vec<Value> = start
        .iter()
        .zip(inits)
        .map(|(&mem, shape)| points.b.load(Place::new(mem, 0), Type::scalar(shape.dtype)))
        .collect();
    let strides = strides(first)?;
    let kept: Vec<usize> = (0..first.sizes.len()).filter(|axis| !axes.contains(axis)).collect();
    let outer = sum(points.at.clone().into_iter().zip(kept.iter().map(|&axis| strides[axis])))?;
    let joined = nest(&mut points, &reduced, &mut Vec::new(), carried, &mut |points, variables, carried| {
        let inner = variables.iter().cloned().zip(axes.iter().map(|&axis| strides[axis]));
        let at = outer.plus(&sum(inner)?, 1)?;
        let mut all = carried;
        for (&mem, shape) in from.iter().zip(operands) {
            let place = points.place(mem, at.clone(), &Affine::default());
            all.push(points.b.load(place, Type::scalar(shape.dtype)));
        }
        region(&mut points.b, call.function, call.regions.first()?, &all)
    })?;
    for (&mem, value) in to.iter().zip(joined) {
        let place = points.place(mem, points.number.clone(), &Affine::default());
        points.b.store(place, value);
    }
    Some(points.b.finish())
}

/// `result[start(u), w] = region(result[start(u), w], updates[u, w])`, one `u` after the other, in a copy of the operand.
pub fn scatter(call: &Call<'_>, dims: &ScatterDims, name: &str) -> Option<Kernel> {
    let ([operand, indices, updates], [_]) = (call.args, call.results) else { return None };
    // A position that moves a window along an axis of it would let windows overlap.
    let moves = |axis: &usize| !dims.inserted_window_dims.contains(axis);
    if operand.dtype.is_complex() || dims.scatter_dims_to_operand_dims.iter().any(moves) {
        return None;
    }
    let vector = dims.index_vector_dim;
    let batch_axes: Vec<usize> = (0..indices.sizes.len()).filter(|&axis| axis != vector).collect();
    let scatter_axes: Vec<usize> =
        (0..updates.sizes.len()).filter(|axis| !dims.update_window_dims.contains(axis)).collect();
    // Which of the axes of updates are batches that positions have in common with the operand.
    let shared: Vec<usize> = dims
        .scatter_indices_batching_dims
        .iter()
        .map(|&d| scatter_axes.get(d - usize::from(d >= vector)).copied())
        .collect::<Option<_>>()?;
    let parallel: Vec<usize> = dims.update_window_dims.iter().chain(&shared).copied().collect();
    let serial: Vec<usize> = scatter_axes.iter().copied().filter(|axis| !shared.contains(axis)).collect();
    let sizes = |axes: &[usize]| axes.iter().map(|&axis| updates.sizes[axis]).collect::<Vec<i64>>();
    let threads = Shape { dtype: DType::I8, sizes: sizes(&parallel) };
    if !is_worth(product(&sizes(&serial))?, product(&threads.sizes)?) {
        return None;
    }
    let mut b = Builder::new(name);
    let positions = param(&mut b, "indices", indices, Access::Read)?;
    let from = param(&mut b, "updates", updates, Access::Read)?;
    let to = param(&mut b, "out", operand, Access::ReadWrite)?;
    let mut points = Points::of(b, &threads)?;
    let window_dims: Vec<usize> = (0..operand.sizes.len())
        .filter(|d| !dims.inserted_window_dims.contains(d) && !dims.input_batching_dims.contains(d))
        .collect();
    let [of_operand, of_indices, of_updates] = [strides(operand)?, strides(indices)?, strides(updates)?];
    let fixed = window_dims.iter().chain(&dims.input_batching_dims).map(|&d| of_operand[d]);
    let fixed = sum(points.at.clone().into_iter().zip(fixed))?;
    nest(&mut points, &sizes(&serial), &mut Vec::new(), Vec::new(), &mut |points, variables, _| {
        // The coordinates of the update, by axis.
        let coordinate = |axis: usize| -> Option<Affine> {
            match parallel.iter().position(|&a| a == axis) {
                Some(i) => points.at.get(i).cloned(),
                None => variables.get(serial.iter().position(|&a| a == axis)?).cloned(),
            }
        };
        let update: Vec<Affine> = (0..updates.sizes.len()).map(coordinate).collect::<Option<_>>()?;
        let batch = scatter_axes.iter().zip(&batch_axes);
        let batch = sum(batch.map(|(&u, &i)| (update[u].clone(), of_indices[i])))?;
        let (mut starts, mut guards) = (Vec::new(), points.inside.clone());
        for (d, &axis) in dims.scatter_dims_to_operand_dims.iter().enumerate() {
            let mut at = batch.clone();
            if vector < indices.sizes.len() {
                at = at.plus(&Affine::from(i64::try_from(d).ok()?), of_indices[vector])?;
            }
            // What is outside stays so, and near enough for addresses to be numbers.
            let (size, inside) = (operand.sizes[axis], points.inside.clone());
            let start = points.start(positions, at, indices.dtype, (-1, size), inside);
            guards.push(Guard { expr: start.into(), bound: size.into() });
            starts.push((start.into(), of_operand[axis]));
        }
        let target = Place { guards, ..points.place(to, fixed.clone(), &sum(starts)?) };
        let from = points.place(from, sum(update.into_iter().zip(of_updates.clone()))?, &Affine::default());
        let old = points.b.load(target.clone(), Type::scalar(operand.dtype));
        let new = points.b.load(from, Type::scalar(updates.dtype));
        let joined = region(&mut points.b, call.function, call.regions.first()?, &[old, new])?;
        points.b.store(target, *joined.first()?);
        Some(Vec::new())
    })?;
    Some(points.b.finish())
}
