//! Operations that move elements, whatever their type: each result element is that of an operand at an index, or a
//! padding value. They work on bytes.

use super::error::{Error, Result};
use super::machine::{Call, Values, one};
use super::number::{C, Class, Elements, class};
use super::value::{Tensor, count, strides};
use crate::attr::Attribute;
use crate::types::ElementType;

/// Where elements of a result come from: at index `i` of the result, from `start + Σ steps[d] · i[d]`.
pub(crate) struct Strided {
    pub(crate) shape: Vec<usize>,
    pub(crate) start: isize,
    pub(crate) steps: Vec<isize>,
}

impl Strided {
    /// The positions in row-major order.
    pub(crate) fn each(&self, mut visit: impl FnMut(usize)) {
        if self.shape.contains(&0) {
            return;
        }
        let Some((inner, outer)) = self.shape.split_last() else {
            visit(self.start as usize);
            return;
        };
        let step = self.steps[outer.len()];
        let mut index = vec![0usize; outer.len()];
        let mut at = self.start;
        loop {
            for i in 0..*inner as isize {
                visit((at + i * step) as usize);
            }
            let mut d = outer.len();
            loop {
                if d == 0 {
                    return;
                }
                d -= 1;
                index[d] += 1;
                at += self.steps[d];
                if index[d] < outer[d] {
                    break;
                }
                at -= self.steps[d] * outer[d] as isize;
                index[d] = 0;
            }
        }
    }

    /// The elements at the positions, which the caller knows to be inside the tensor.
    pub(crate) fn read(&self, tensor: &Tensor, element: &ElementType) -> Result<Tensor> {
        let n = count(&self.shape, element)?;
        let wide = tensor.width();
        let bytes = tensor.bytes();
        let mut out = Vec::with_capacity(n * wide);
        macro_rules! copy {
            ($n:literal) => {{
                let from = bytes.as_chunks::<$n>().0;
                self.each(|at| out.extend_from_slice(&from[at]));
            }};
        }
        match wide {
            1 => copy!(1),
            2 => copy!(2),
            4 => copy!(4),
            8 => copy!(8),
            _ => self.each(|at| out.extend_from_slice(&bytes[at * wide..(at + 1) * wide])),
        }
        Ok(Tensor::raw(element.clone(), self.shape.clone(), out))
    }
}

/// The integers of an attribute as sizes.
pub(crate) fn sizes(values: &[i64], what: &str) -> Result<Vec<usize>> {
    let sizes = values.iter().map(|v| usize::try_from(*v).ok()).collect::<Option<_>>();
    sizes.ok_or_else(|| Error::invalid(format!("{what} {values:?}")))
}

/// The integers as dimensions of a tensor.
pub(crate) fn dims(values: &[i64], rank: usize, what: &str) -> Result<Vec<usize>> {
    let dims = sizes(values, what)?;
    if dims.iter().any(|d| *d >= rank) {
        return Err(Error::invalid(format!("{what} {values:?} of a tensor of rank {rank}")));
    }
    Ok(dims)
}

/// The elements of a tensor where the result's index takes the dimensions `dims` of the result.
pub(crate) fn broadcast(tensor: &Tensor, dims: &[usize], shape: &[usize], element: &ElementType) -> Result<Tensor> {
    let own = strides(&tensor.shape);
    let mut steps = vec![0isize; shape.len()];
    if dims.len() != tensor.rank() {
        return Err(Error::invalid(format!("dimensions {dims:?} for {}", tensor.ty())));
    }
    for (i, d) in dims.iter().enumerate() {
        let size = tensor.shape[i];
        match shape.get(*d) {
            Some(n) if *n == size => steps[*d] += own[i] as isize,
            Some(_) if size == 1 => {}
            _ => return Err(Error::invalid(format!("{} does not broadcast to {shape:?}", tensor.ty()))),
        }
    }
    Strided { shape: shape.to_vec(), start: 0, steps }.read(tensor, element)
}

pub(crate) fn transpose(tensor: &Tensor, permutation: &[usize], element: &ElementType) -> Result<Tensor> {
    let own = strides(&tensor.shape);
    let mut seen = permutation.to_vec();
    seen.sort_unstable();
    if !seen.into_iter().eq(0..tensor.rank()) {
        return Err(Error::invalid(format!("the permutation {permutation:?} of {}", tensor.ty())));
    }
    let shape = permutation.iter().map(|d| tensor.shape[*d]).collect();
    let steps = permutation.iter().map(|d| own[*d] as isize).collect();
    Strided { shape, start: 0, steps }.read(tensor, element)
}

pub(crate) fn reshape(tensor: Tensor, shape: Vec<usize>, element: &ElementType) -> Result<Tensor> {
    if count(&shape, element)? != tensor.len() {
        return Err(Error::invalid(format!("{} as a tensor of shape {shape:?}", tensor.ty())));
    }
    Ok(tensor.with(element.clone(), shape))
}

/// The elements at `start`, `start + stride`, … below `limit`.
pub(crate) fn slice(
    tensor: &Tensor,
    start: &[i64],
    limit: &[i64],
    stride: &[i64],
    element: &ElementType,
) -> Result<Tensor> {
    let rank = tensor.rank();
    if [start, limit, stride].iter().any(|list| list.len() != rank) {
        return Err(Error::invalid(format!("bounds for another rank than that of {}", tensor.ty())));
    }
    let own = strides(&tensor.shape);
    let (mut shape, mut steps, mut first) = (Vec::new(), Vec::new(), 0isize);
    for d in 0..rank {
        let (from, to, by) = (start[d], limit[d], stride[d]);
        if from < 0 || to < from || to > tensor.shape[d] as i64 || by < 1 {
            return Err(Error::invalid(format!("the slice {from}:{to}:{by} of dimension {d} of {}", tensor.ty())));
        }
        shape.push(((to - from) as u64).div_ceil(by as u64) as usize);
        steps.push((own[d] as isize).wrapping_mul(by as isize));
        first += own[d] as isize * from as isize;
    }
    Strided { shape, start: first, steps }.read(tensor, element)
}

/// Writes `update` over the elements of `tensor` from an index on.
pub(crate) fn update(tensor: &mut Tensor, update: &Tensor, start: &[usize]) -> Result<()> {
    let own = strides(&tensor.shape);
    let first: usize = own.iter().zip(start).map(|(s, i)| s * i).sum();
    let steps = own.iter().map(|s| *s as isize).collect();
    let wide = tensor.width();
    let places = Strided { shape: update.shape.clone(), start: first as isize, steps };
    let from = update.bytes();
    let to = tensor.bytes_mut();
    let mut i = 0;
    places.each(|at| {
        to[at * wide..(at + 1) * wide].copy_from_slice(&from[i..i + wide]);
        i += wide;
    });
    Ok(())
}

/// Elements at distances of `interior + 1`, with `low` before and `high` behind them; negative numbers cut.
pub(crate) fn pad(
    tensor: &Tensor,
    value: &Tensor,
    low: &[i64],
    high: &[i64],
    interior: &[i64],
    element: &ElementType,
) -> Result<Tensor> {
    let rank = tensor.rank();
    if [low, high, interior].iter().any(|list| list.len() != rank) || value.len() != 1 {
        return Err(Error::invalid(format!("padding for another rank than that of {}", tensor.ty())));
    }
    let wide = tensor.width();
    let mut shape = Vec::new();
    for d in 0..rank {
        let (n, between) = (tensor.shape[d] as i128, i128::from(interior[d]));
        if between < 0 {
            return Err(Error::invalid(format!("interior padding {between}")));
        }
        let size = i128::from(low[d]) + i128::from(high[d]) + n + (n - 1).max(0) * between;
        let size = usize::try_from(size);
        shape.push(size.map_err(|_| Error::invalid(format!("padding that leaves dimension {d} a negative size")))?);
    }
    let n = count(&shape, element)?;
    let mut bytes = Vec::with_capacity(n * wide);
    (0..n).for_each(|_| bytes.extend_from_slice(value.bytes()));
    // Of each dimension the elements that land inside, and where.
    let to = strides(&shape);
    let own = strides(&tensor.shape);
    let (mut kept, mut from, mut at) = (Vec::new(), 0usize, 0usize);
    let (mut read_steps, mut write_steps) = (Vec::new(), Vec::new());
    for d in 0..rank {
        let step = i128::from(interior[d]) + 1;
        let first = if low[d] >= 0 { 0 } else { (-i128::from(low[d]) + step - 1) / step };
        let last = (shape[d] as i128 - 1 - i128::from(low[d])).div_euclid(step).min(tensor.shape[d] as i128 - 1);
        let size = (last - first + 1).max(0) as usize;
        if size == 0 {
            return Ok(Tensor::raw(element.clone(), shape, bytes));
        }
        from += own[d] * first as usize;
        at += to[d] * (i128::from(low[d]) + first * step) as usize;
        kept.push(size);
        read_steps.push(own[d] as isize);
        write_steps.push((to[d] as i128).wrapping_mul(step) as isize);
    }
    let mut places = Vec::new();
    Strided { shape: kept.clone(), start: at as isize, steps: write_steps }.each(|p| places.push(p));
    let mut i = 0;
    Strided { shape: kept, start: from as isize, steps: read_steps }.each(|p| {
        bytes[places[i] * wide..(places[i] + 1) * wide].copy_from_slice(&tensor.bytes()[p * wide..(p + 1) * wide]);
        i += 1;
    });
    Ok(Tensor::raw(element.clone(), shape, bytes))
}

pub(crate) fn concatenate(tensors: &[Tensor], dim: usize, element: &ElementType) -> Result<Tensor> {
    let first = tensors.first().ok_or_else(|| Error::invalid("nothing to concatenate"))?;
    let mut shape = first.shape.clone();
    if dim >= shape.len() {
        return Err(Error::invalid(format!("dimension {dim} of {}", first.ty())));
    }
    shape[dim] = 0;
    for tensor in tensors {
        let fits = tensor.rank() == shape.len()
            && (0..shape.len()).all(|d| d == dim || tensor.shape[d] == shape[d])
            && tensor.width() == first.width();
        if !fits {
            return Err(Error::invalid(format!("{} beside {} along {dim}", tensor.ty(), first.ty())));
        }
        shape[dim] += tensor.shape[dim];
    }
    let n = count(&shape, element)?;
    let mut bytes = Vec::with_capacity(n * first.width());
    let outer: usize = shape[..dim].iter().product();
    for i in 0..outer {
        for tensor in tensors {
            let run = tensor.bytes().len() / outer;
            bytes.extend_from_slice(&tensor.bytes()[i * run..(i + 1) * run]);
        }
    }
    Ok(Tensor::raw(element.clone(), shape, bytes))
}

/// Numbers along a dimension.
pub(crate) fn iota(shape: &[usize], dim: usize, element: &ElementType) -> Result<Tensor> {
    if dim >= shape.len() {
        return Err(Error::invalid(format!("iota along dimension {dim} of shape {shape:?}")));
    }
    let n = shape[dim];
    let mut line = vec![1; shape.len()];
    line[dim] = n;
    let numbers = match class(element)? {
        Class::I => Elements::I((0..n as i64).collect()),
        Class::F => Elements::F((0..n).map(|i| i as f64).collect()),
        Class::C => Elements::C((0..n).map(|i| C::new(i as f64, 0.0)).collect()),
    };
    let line = Tensor::of(element, &line, &numbers)?;
    let all: Vec<usize> = (0..shape.len()).collect();
    broadcast(&line, &all, shape, element)
}

impl Call<'_, '_> {
    pub(crate) fn constant(&mut self) -> Values {
        let Attribute::Dense(dense) = self.op.attribute("value")? else {
            let found = self.op.attribute("value")?.describe();
            return Err(Error::unsupported(format!("a value that is {found}")));
        };
        let tensor = Tensor::from_dense(dense);
        let tensor = tensor.ok_or_else(|| Error::unsupported(format!("elements of type {}", dense.ty.element)))?;
        // Quantized constants are given by what is stored.
        let element = self.result_element(0)?.clone();
        if super::value::width(&element)? != tensor.width() {
            return Err(Error::invalid(format!("{} as elements of type {element}", tensor.ty())));
        }
        let shape = tensor.shape.clone();
        one(tensor.with(element, shape))
    }

    pub(crate) fn iota(&mut self) -> Values {
        let shape = self.result_shape(0)?;
        one(iota(&shape, self.dim("iota_dimension")?, self.result_element(0)?)?)
    }

    /// An integer attribute that is a dimension.
    pub(crate) fn dim(&self, name: &str) -> Result<usize> {
        let dim = self.op.int(name)?;
        usize::try_from(dim).map_err(|_| Error::invalid(format!("'{name}' = {dim}")))
    }

    pub(crate) fn broadcast_in_dim(&mut self) -> Values {
        let shape = self.result_shape(0)?;
        let dims = dims(self.op.ints("broadcast_dimensions")?, shape.len(), "broadcast_dimensions")?;
        one(broadcast(self.tensor(0)?, &dims, &shape, self.result_element(0)?)?)
    }

    /// New dimensions stand before those of the operand.
    pub(crate) fn broadcast(&mut self) -> Values {
        let tensor = self.tensor(0)?;
        let mut shape = sizes(self.op.ints("broadcast_sizes")?, "broadcast_sizes")?;
        let dims: Vec<usize> = (shape.len()..shape.len() + tensor.rank()).collect();
        shape.extend(&tensor.shape);
        one(broadcast(tensor, &dims, &shape, self.result_element(0)?)?)
    }

    pub(crate) fn reshape(&mut self) -> Values {
        let (shape, element) = (self.result_shape(0)?, self.result_element(0)?);
        one(reshape(self.take(0)?, shape, element)?)
    }

    pub(crate) fn transpose(&mut self) -> Values {
        let tensor = self.tensor(0)?;
        let permutation = dims(self.op.ints("permutation")?, tensor.rank(), "permutation")?;
        one(transpose(tensor, &permutation, self.result_element(0)?)?)
    }

    pub(crate) fn reverse(&mut self) -> Values {
        let tensor = self.tensor(0)?;
        let reversed = dims(self.op.ints("dimensions")?, tensor.rank(), "dimensions")?;
        let own = strides(&tensor.shape);
        let mut start = 0;
        let steps = own.iter().enumerate().map(|(d, s)| {
            let step = *s as isize;
            if reversed.contains(&d) {
                start += step * (tensor.shape[d] as isize - 1);
                -step
            } else {
                step
            }
        });
        let steps = steps.collect();
        one(Strided { shape: tensor.shape.clone(), start, steps }.read(tensor, self.result_element(0)?)?)
    }

    pub(crate) fn slice(&mut self) -> Values {
        let (start, limit) = (self.op.ints("start_indices")?, self.op.ints("limit_indices")?);
        one(slice(self.tensor(0)?, start, limit, self.op.ints("strides")?, self.result_element(0)?)?)
    }

    pub(crate) fn pad(&mut self) -> Values {
        let (low, high) = (self.op.ints("edge_padding_low")?, self.op.ints("edge_padding_high")?);
        let interior = self.op.ints("interior_padding")?;
        one(pad(self.tensor(0)?, self.tensor(1)?, low, high, interior, self.result_element(0)?)?)
    }

    pub(crate) fn concatenate(&mut self) -> Values {
        let tensors = self.tensors(0..self.args.len())?;
        one(concatenate(&tensors, self.dim("dimension")?, self.result_element(0)?)?)
    }

    /// Starts of slices, moved so that these lie inside.
    fn starts(&self, from: usize, shape: &[usize], sizes: &[usize]) -> Result<Vec<usize>> {
        if sizes.len() != shape.len() || self.args.len() != from + shape.len() {
            return Err(Error::invalid(format!("{} indices for rank {}", self.args.len() - from, shape.len())));
        }
        let mut starts = Vec::new();
        for (d, (n, size)) in shape.iter().zip(sizes).enumerate() {
            let tensor = self.tensor(from + d)?;
            let Some(room) = n.checked_sub(*size) else {
                return Err(Error::invalid(format!("a slice of size {size} of dimension {d} of size {n}")));
            };
            starts.push(clamped(tensor.int()?, tensor.element == ElementType::U64, room));
        }
        Ok(starts)
    }

    pub(crate) fn dynamic_slice(&mut self) -> Values {
        let tensor = self.tensor(0)?;
        let sizes = sizes(self.op.ints("slice_sizes")?, "slice_sizes")?;
        let starts = self.starts(1, &tensor.shape, &sizes)?;
        let own = strides(&tensor.shape);
        let start = own.iter().zip(&starts).map(|(s, i)| (s * i) as isize).sum();
        let steps = own.iter().map(|s| *s as isize).collect();
        one(Strided { shape: sizes, start, steps }.read(tensor, self.result_element(0)?)?)
    }

    pub(crate) fn dynamic_update_slice(&mut self) -> Values {
        let new = self.tensor(1)?.clone();
        let starts = self.starts(2, &self.tensor(0)?.shape, &new.shape)?;
        let mut tensor = self.take(0)?;
        update(&mut tensor, &new, &starts)?;
        let (element, shape) = (self.result_element(0)?.clone(), tensor.shape.clone());
        one(tensor.with(element, shape))
    }
}

/// An index moved into `0..=room`.
pub(crate) fn clamped(index: i64, unsigned: bool, room: usize) -> usize {
    match usize::try_from(index) {
        Ok(index) => index.min(room),
        Err(_) if unsigned => room,
        Err(_) => 0,
    }
}
