//! `sort`: by any comparator, always stably, so that a comparator without an order cannot make it fail.

use super::body::Body;
use super::error::{Error, Result};
use super::machine::{Call, Values};
use super::movement::transpose;
use super::number::Scalar;
use super::value::{Tensor, Value};

/// A stable order of `0..n`; `before` says whether one goes before another.
pub(crate) fn order(n: usize, mut before: impl FnMut(usize, usize) -> Result<bool>) -> Result<Vec<usize>> {
    let mut from: Vec<usize> = (0..n).collect();
    let mut to = vec![0; n];
    let mut run = 1;
    while run < n {
        for start in (0..n).step_by(2 * run) {
            let (middle, end) = ((start + run).min(n), (start + 2 * run).min(n));
            let (mut a, mut b) = (start, middle);
            for slot in &mut to[start..end] {
                // The right one goes first only where it is before the left one.
                let right = b < end && (a == middle || before(from[b], from[a])?);
                *slot = if right { from[b] } else { from[a] };
                *(if right { &mut b } else { &mut a }) += 1;
            }
        }
        std::mem::swap(&mut from, &mut to);
        run *= 2;
    }
    Ok(from)
}

/// The tensors as lines along a dimension.
struct Lines {
    /// The permutation that puts the dimension last.
    last: Vec<usize>,
    length: usize,
    count: usize,
}

impl Lines {
    fn new(shape: &[usize], dim: usize) -> Lines {
        let mut last: Vec<usize> = (0..shape.len()).filter(|d| *d != dim).collect();
        last.push(dim);
        let length = shape[dim];
        let count = shape.iter().enumerate().filter(|(d, _)| *d != dim).map(|(_, n)| n).product();
        Lines { last, length, count }
    }

    fn back(&self) -> Vec<usize> {
        let mut back = vec![0; self.last.len()];
        self.last.iter().enumerate().for_each(|(i, d)| back[*d] = i);
        back
    }
}

/// The tensors, each line along a dimension in the order that `before` gives to the elements of all.
pub(crate) fn sorted(
    tensors: &[Tensor],
    dim: usize,
    mut before: impl FnMut(&[Vec<Scalar>], usize, usize) -> Result<bool>,
) -> Result<Vec<Tensor>> {
    let shape = &tensors[0].shape;
    let lines = Lines::new(shape, dim);
    let along = tensors
        .iter()
        .map(|t| transpose(t, &lines.last, &t.element))
        .collect::<Result<Vec<Tensor>>>()?;
    let keys = along.iter().map(Tensor::scalars).collect::<Result<Vec<_>>>()?;
    let mut orders = Vec::with_capacity(lines.count * lines.length);
    for line in 0..lines.count {
        let base = line * lines.length;
        let order = order(lines.length, |a, b| before(&keys, base + a, base + b))?;
        orders.extend(order.into_iter().map(|i| base + i));
    }
    let mut out = Vec::new();
    for tensor in along {
        let wide = tensor.width();
        let mut bytes = Vec::with_capacity(tensor.bytes().len());
        orders.iter().for_each(|p| bytes.extend_from_slice(&tensor.bytes()[p * wide..(p + 1) * wide]));
        let sorted = Tensor::raw(tensor.element.clone(), tensor.shape.clone(), bytes);
        out.push(transpose(&sorted, &lines.back(), &tensor.element)?);
    }
    Ok(out)
}

impl Call<'_, '_> {
    pub(crate) fn sort(&mut self) -> Values {
        let region = self.region(0)?;
        let mut body = Body::new(self.machine, self.frame, region)?;
        let tensors = self.tensors(0..self.args.len())?;
        let shape = tensors.first().map(|t| t.shape.clone()).unwrap_or_default();
        let rank = shape.len() as i64;
        let dim = self.op.int("dimension")?;
        let dim = if dim < 0 { dim + rank } else { dim };
        if !(0..rank).contains(&dim) || tensors.iter().any(|t| t.shape != shape) {
            return Err(Error::invalid(format!("a sort along dimension {dim} of shape {shape:?}")));
        }
        let mut row = vec![Scalar::I(0); 2 * tensors.len()];
        let sorted = sorted(&tensors, dim as usize, |keys, a, b| {
            for (i, key) in keys.iter().enumerate() {
                (row[2 * i], row[2 * i + 1]) = (key[a], key[b]);
            }
            let answer = body.call(self.machine, self.frame, &row)?;
            Ok(answer.first().is_some_and(|v| v.int() != 0))
        })?;
        Ok(sorted.into_iter().map(Value::Tensor).collect())
    }
}
