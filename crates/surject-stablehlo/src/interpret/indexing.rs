//! Elements at positions that tensors hold: `gather` moves a slice that would begin outside, `scatter` leaves out an
//! element that would land outside.

use super::body::Body;
use super::error::{Error, Result};
use super::machine::{Call, Values, one};
use super::movement::{Strided, clamped, dims, sizes};
use super::number::{Elements, Scalar};
use super::value::{Tensor, Value, count, each_index, strides};
use crate::attr::GatherDims;
use crate::types::ElementType;

/// A tensor of index vectors.
struct Indices {
    values: Vec<i64>,
    unsigned: bool,
    strides: Vec<usize>,
    /// The dimension that holds a vector; the rank for vectors of one number.
    vector_dim: usize,
    /// The shape without that dimension.
    batch: Vec<usize>,
    /// Numbers in a vector.
    length: usize,
}

impl Indices {
    fn new(tensor: &Tensor, vector_dim: i64) -> Result<Indices> {
        let vector_dim = usize::try_from(vector_dim).unwrap_or(usize::MAX);
        let mut batch = tensor.shape.clone();
        let length = match vector_dim.cmp(&batch.len()) {
            std::cmp::Ordering::Less => batch.remove(vector_dim),
            std::cmp::Ordering::Equal => 1,
            std::cmp::Ordering::Greater => {
                return Err(Error::invalid(format!("index vectors along dimension {vector_dim} of {}", tensor.ty())));
            }
        };
        Ok(Indices {
            values: tensor.int_elements()?,
            unsigned: tensor.element == ElementType::U64,
            strides: strides(&tensor.shape),
            vector_dim,
            batch,
            length,
        })
    }

    /// Position in `batch` of a dimension of the tensor.
    fn batch_dim(&self, dim: usize) -> usize {
        if dim < self.vector_dim { dim } else { dim - 1 }
    }

    /// A number of the vector at an index of the batch.
    fn number(&self, batch: &[usize], component: usize) -> i64 {
        let at: usize = (0..batch.len())
            .map(|b| {
                let dim = if b < self.vector_dim { b } else { b + 1 };
                self.strides[dim] * batch[b]
            })
            .sum();
        let along = self.strides.get(self.vector_dim).map_or(0, |s| s * component);
        self.values[at + along]
    }
}

/// The dimensions of a tensor that are not in the lists.
fn others(rank: usize, lists: &[&[usize]]) -> Vec<usize> {
    (0..rank).filter(|d| !lists.iter().any(|list| list.contains(d))).collect()
}

fn gather(
    operand: &Tensor,
    indices: &Tensor,
    numbers: &GatherDims,
    slice: &[usize],
    element: &ElementType,
) -> Result<Tensor> {
    let rank = operand.rank();
    let map = dims(&numbers.start_index_map, rank, "start_index_map")?;
    let collapsed = dims(&numbers.collapsed_slice_dims, rank, "collapsed_slice_dims")?;
    let batching = dims(&numbers.operand_batching_dims, rank, "operand_batching_dims")?;
    let index_batching =
        dims(&numbers.start_indices_batching_dims, indices.rank(), "start_indices_batching_dims")?;
    let indices = Indices::new(indices, numbers.index_vector_dim)?;
    if slice.len() != rank || map.len() != indices.length || batching.len() != index_batching.len() {
        return Err(Error::invalid(format!("slices {slice:?} at {} numbers of {}", map.len(), operand.ty())));
    }
    if let Some(d) = (0..rank).find(|d| slice[*d] > operand.shape[*d]) {
        return Err(Error::invalid(format!("slices of size {} in dimension {d} of {}", slice[d], operand.ty())));
    }
    let window = others(rank, &[&collapsed, &batching]);
    let result_rank = indices.batch.len() + window.len();
    let offset = dims(&numbers.offset_dims, result_rank, "offset_dims")?;
    if offset.len() != window.len() {
        return Err(Error::invalid(format!("{} offset dimensions for {}", offset.len(), window.len())));
    }
    let batch_dims = others(result_rank, &[&offset]);
    let mut shape = vec![0; result_rank];
    offset.iter().zip(&window).for_each(|(o, d)| shape[*o] = slice[*d]);
    batch_dims.iter().zip(&indices.batch).for_each(|(b, n)| shape[*b] = *n);
    // One run of windows after the other, in the order of the batch; then to its place.
    let own = strides(&operand.shape);
    let to = strides(&shape);
    let wide = operand.width();
    let mut bytes = vec![0u8; count(&shape, element)? * wide];
    let window_sizes: Vec<usize> = window.iter().map(|d| slice[*d]).collect();
    let read_steps: Vec<isize> = window.iter().map(|d| own[*d] as isize).collect();
    let write_steps: Vec<isize> = offset.iter().map(|d| to[*d] as isize).collect();
    let mut places = Vec::new();
    Strided { shape: window_sizes.clone(), start: 0, steps: write_steps }.each(|p| places.push(p));
    if !bytes.is_empty() {
        each_index(&indices.batch, |batch| {
            let mut from = 0;
            for (component, d) in map.iter().enumerate() {
                let number = indices.number(batch, component);
                from += own[*d] * clamped(number, indices.unsigned, operand.shape[*d] - slice[*d]);
            }
            for (d, i) in batching.iter().zip(&index_batching) {
                let at = batch[indices.batch_dim(*i)];
                if at >= operand.shape[*d] {
                    return Err(Error::invalid("batching dimensions of different sizes"));
                }
                from += own[*d] * at;
            }
            let base: usize = batch_dims.iter().zip(batch).map(|(d, i)| to[*d] * i).sum();
            let mut i = 0;
            Strided { shape: window_sizes.clone(), start: from as isize, steps: read_steps.clone() }.each(|p| {
                let at = (base + places[i]) * wide;
                bytes[at..at + wide].copy_from_slice(&operand.bytes()[p * wide..(p + 1) * wide]);
                i += 1;
            });
            Ok(())
        })?;
    }
    Ok(Tensor::raw(element.clone(), shape, bytes))
}

impl<'m> Call<'_, 'm> {
    pub(crate) fn gather(&mut self) -> Values {
        let slice = sizes(self.op.ints("slice_sizes")?, "slice_sizes")?;
        let numbers = self.op.gather_dims()?;
        one(gather(self.tensor(0)?, self.tensor(1)?, numbers, &slice, self.result_element(0)?)?)
    }

    pub(crate) fn dynamic_gather(&mut self) -> Values {
        let slice = sizes(&self.tensor(2)?.int_elements()?, "slice sizes")?;
        let numbers = self.op.gather_dims()?;
        one(gather(self.tensor(0)?, self.tensor(1)?, numbers, &slice, self.result_element(0)?)?)
    }

    /// For each index of `index`, the slice of the operand along `dim`; the first `batch_dims` dimensions go together.
    pub(crate) fn torch_index_select(&mut self) -> Values {
        let (operand, index) = (self.tensor(0)?, self.tensor(1)?);
        let rank = operand.rank();
        let dim = self.op.int("dim")?;
        let batch = self.op.int("batch_dims")?;
        let dim = usize::try_from(if dim < 0 { dim + rank as i64 } else { dim }).unwrap_or(rank);
        let batch = usize::try_from(if batch < 0 { batch + index.rank() as i64 } else { batch });
        let batch = batch.unwrap_or(usize::MAX);
        if dim >= rank || batch > dim || batch > index.rank() {
            return Err(Error::invalid(format!("dim = {dim} and batch_dims = {batch} for {}", operand.ty())));
        }
        let extra = index.rank() - batch;
        let mut slice = operand.shape.clone();
        slice[dim] = 1;
        slice[..batch].fill(1);
        let all = |range: std::ops::Range<usize>| range.map(|d| d as i64).collect::<Vec<i64>>();
        let offset = all(batch..dim).into_iter().chain(all(dim + extra..rank - 1 + extra)).collect();
        let numbers = GatherDims {
            offset_dims: offset,
            collapsed_slice_dims: vec![dim as i64],
            operand_batching_dims: all(0..batch),
            start_indices_batching_dims: all(0..batch),
            start_index_map: vec![dim as i64],
            index_vector_dim: index.rank() as i64,
        };
        // The batch of a gather stands where no offset stands: the batch first, then at the place of `dim`.
        one(gather(operand, index, &numbers, &slice, self.result_element(0)?)?)
    }

    /// Updates in row-major order; the region combines what stands at an index with the update.
    pub(crate) fn scatter(&mut self) -> Values {
        let n = self.op.results.len();
        if self.args.len() != 2 * n + 1 {
            return Err(Error::invalid(format!("{} operands for {n} results", self.args.len())));
        }
        let mut inputs = Vec::new();
        for i in 0..n {
            inputs.push(self.take(i)?);
        }
        let indices_tensor = self.tensor(n)?.clone();
        let updates = self.tensors(n + 1..2 * n + 1)?;
        let numbers = self.op.scatter_dims()?;
        let shape = inputs[0].shape.clone();
        let rank = shape.len();
        let map = dims(&numbers.scatter_dims_to_operand_dims, rank, "scatter_dims_to_operand_dims")?;
        let inserted = dims(&numbers.inserted_window_dims, rank, "inserted_window_dims")?;
        let batching = dims(&numbers.input_batching_dims, rank, "input_batching_dims")?;
        let index_batching = dims(
            &numbers.scatter_indices_batching_dims,
            indices_tensor.rank(),
            "scatter_indices_batching_dims",
        )?;
        let indices = Indices::new(&indices_tensor, numbers.index_vector_dim)?;
        let window = others(rank, &[&inserted, &batching]);
        let update_shape = updates[0].shape.clone();
        let update_window = dims(&numbers.update_window_dims, update_shape.len(), "update_window_dims")?;
        let update_batch = others(update_shape.len(), &[&update_window]);
        let agree = update_window.len() == window.len()
            && map.len() == indices.length
            && batching.len() == index_batching.len()
            && update_batch.iter().map(|d| update_shape[*d]).eq(indices.batch.iter().copied())
            && updates.iter().all(|u| u.shape == update_shape)
            && inputs.iter().all(|t| t.shape == shape);
        if !agree {
            return Err(Error::invalid(format!(
                "updates of shape {update_shape:?} at {} for shape {shape:?}",
                indices_tensor.ty()
            )));
        }
        let own = strides(&shape);
        // Where each update lands; none outside.
        let mut places: Vec<Option<usize>> = Vec::with_capacity(updates[0].len());
        let mut batch = vec![0; update_batch.len()];
        each_index(&update_shape, |index| {
            batch.iter_mut().zip(&update_batch).for_each(|(b, d)| *b = index[*d]);
            let mut full = vec![0i128; rank];
            for (component, d) in map.iter().enumerate() {
                let number = indices.number(&batch, component);
                full[*d] += if indices.unsigned { i128::from(number as u64) } else { i128::from(number) };
            }
            for (d, i) in batching.iter().zip(&index_batching) {
                full[*d] += batch[indices.batch_dim(*i)] as i128;
            }
            for (d, u) in window.iter().zip(&update_window) {
                full[*d] += index[*u] as i128;
            }
            let inside = full.iter().zip(&shape).all(|(i, n)| (0..*n as i128).contains(i));
            places.push(inside.then(|| full.iter().zip(&own).map(|(i, s)| *i as usize * s).sum()));
            Ok(())
        })?;
        self.combine(inputs, &updates, &places)
    }

    fn combine(&mut self, mut inputs: Vec<Tensor>, updates: &[Tensor], places: &[Option<usize>]) -> Values {
        let region = self.region(0)?;
        let mut body = Body::new(self.machine, self.frame, region)?;
        let n = inputs.len();
        let (wide, same) = (inputs[0].width(), n == 1 && inputs[0].element == updates[0].element);
        let element = self.result_element(0)?.clone();
        if same && body.replaces() && body.params[0] == element {
            let from = updates[0].bytes();
            let to = inputs[0].bytes_mut();
            for (i, place) in places.iter().enumerate() {
                if let Some(at) = place {
                    to[at * wide..(at + 1) * wide].copy_from_slice(&from[i * wide..(i + 1) * wide]);
                }
            }
            return Ok(inputs.into_iter().map(Value::Tensor).collect());
        }
        // The types of the region's arguments, to which both are converted.
        if body.params.len() != 2 * n {
            return Err(Error::invalid(format!("a region of {} arguments for {n} results", body.params.len())));
        }
        let mut state = Vec::new();
        let mut news = Vec::new();
        for i in 0..n {
            state.push(super::reduce::promote(&inputs[i], &body.params[i])?.elements()?.into_scalars());
            news.push(super::reduce::promote(&updates[i], &body.params[n + i])?.elements()?);
        }
        let mut row = vec![Scalar::I(0); 2 * n];
        for (i, place) in places.iter().enumerate() {
            let Some(at) = *place else { continue };
            for k in 0..n {
                row[k] = state[k][at];
                row[n + k] = news[k].at(i);
            }
            let results = body.call(self.machine, self.frame, &row)?;
            if results.len() != n {
                return Err(Error::invalid(format!("a region of {} results for {n} operands", results.len())));
            }
            for k in 0..n {
                state[k][at] = results[k];
            }
        }
        let mut out = Vec::new();
        for (k, input) in inputs.iter().enumerate() {
            let element = self.result_element(k)?.clone();
            let elements = Elements::from_scalars(&body.params[k], &state[k])?;
            let tensor = Tensor::of(&body.params[k], &input.shape, &elements)?;
            out.push(Value::Tensor(super::reduce::promote(&tensor, &element)?));
        }
        Ok(out)
    }
}
